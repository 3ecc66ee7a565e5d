/*
 * shard.c: one file of candidates, sorted by mass, mapped.
 *
 * A head (index.h) of HEAD bytes, then the arrays mass, key, formula, place, end, bits or
 * ends and counts of each leaf, columns, low, text, each at a multiple of 64 bytes.
 * Nothing in a file is believed: sizes are checked against its length when it is opened,
 * ends of texts and places of counts when one is asked for.
 */
#include "candidates/index.h"

#include <zlib.h>

enum { HEAD = 1024, ALIGN = 64, FIXED = OKRA_SHARD_FIXED_, ARRAYS = OKRA_SHARD_ARRAYS_ };
static const char magic[8] = {'O', 'K', 'R', 'A', 'S', 'H', 'R', 'D'};
_Static_assert(sizeof(okra_shard_head_) <= HEAD, "the head fits");

static uint32_t head_crc(const okra_shard_head_ *h)
{
    return (uint32_t)crc32_z(0, (const void *)h, offsetof(okra_shard_head_, self));
}

/* Bytes of each array, in file order; false: more than a file can have. */
static bool sizes_of(const okra_shard_head_ *h, uint64_t size[ARRAYS])
{
    const uint64_t most = UINT64_C(1) << 46;
    bool good = h->rows < UINT64_C(1) << 40 && h->rank < 1 << 20 && h->texts < most &&
                h->leaves <= OKRA_LEAVES_MOST_ && h->columns <= OKRA_COLUMNS_MOST_;
    memset(size, 0, ARRAYS * sizeof *size);
    good = good && h->lines < UINT64_C(1) << 40;
    for (int k = 0; good && k < FIXED; k++) {
        size[k] = 8 * (k < FIXED - 1 ? h->rows : h->lines);
    }
    for (uint32_t leaf = 0; good && leaf < h->leaves; leaf++) {
        bool counts = h->words[leaf] == 0;
        good = h->words[leaf] <= 1 << 18 && h->pairs[leaf] < most / 8;
        size[FIXED + 2 * leaf] = good ? 8 * h->rows * (counts ? 1 : h->words[leaf]) : 0;
        size[FIXED + 2 * leaf + 1] = good && counts ? 8 * h->pairs[leaf] : 0;
        good = good && size[FIXED + 2 * leaf] < most;
    }
    size[ARRAYS - 3] = good ? 8 * h->rows * h->columns : 0;
    size[ARRAYS - 2] =
        good ? 4 * h->rows * (uint64_t)okra_low_width_((okra_int)h->rank) : 0;
    size[ARRAYS - 1] = h->texts;
    return good && size[ARRAYS - 2] < most;
}

/* Where the shard keeps each array, in file order. */
static void arrays_of(okra_shard_ *s, const void **array[ARRAYS])
{
    const void **fixed[] = {(const void **)&s->mass,    (const void **)&s->key,
                            (const void **)&s->formula, (const void **)&s->place,
                            (const void **)&s->end,     (const void **)&s->row,
                            (const void **)&s->where};
    memcpy(array, fixed, sizeof fixed);
    for (int leaf = 0; leaf < OKRA_LEAVES_MOST_; leaf++) {
        array[FIXED + 2 * leaf] = (const void **)&s->bits[leaf];
        array[FIXED + 2 * leaf + 1] = (const void **)&s->counts[leaf];
    }
    array[ARRAYS - 3] = (const void **)&s->values;
    array[ARRAYS - 2] = (const void **)&s->low;
    array[ARRAYS - 1] = (const void **)&s->text;
}

static uint64_t padded(uint64_t size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

okra_status okra_file_crc_(const okra_context *ctx, const char *path, uint32_t *out)
{
    FREED_BY(okra_bytes_close_) okra_bytes_ bytes = {0};
    CHK(okra_bytes_map_(ctx, path, 1, &bytes));
    *out = (uint32_t)crc32_z(0, bytes.p, (size_t)bytes.size);
    return okra_guard_settle_();
}

/* Is what stands behind the head all 0, as it was written? */
static bool is_bare(const unsigned char *p)
{
    size_t k = sizeof(okra_shard_head_);
    while (k < HEAD && p[k] == 0) {
        k++;
    }
    return k == HEAD;
}

okra_status okra_shard_open_(const okra_context *ctx, const char *path, okra_shard_ *out)
{
    FREED_BY(okra_shard_close_) okra_shard_ s = {.mass = NULL};
    const void **array[ARRAYS];
    uint64_t size[ARRAYS], at = HEAD;
    CHK(okra_bytes_map_(ctx, path, 1, &s.bytes));
    REFUSE_IF(s.bytes.size < HEAD, OKRA_EFORMAT,
              "%s is too short for a shard of an index", path);
    memcpy(&s.head, s.bytes.p, sizeof s.head);
    REFUSE_IF(memcmp(s.head.magic, magic, sizeof magic) != 0 ||
                  s.head.version != OKRA_INDEX_VERSION_,
              OKRA_EFORMAT, "%s is not a shard of an index of this version of okra",
              path);
    REFUSE_IF(s.head.self != head_crc(&s.head) || !is_bare(s.bytes.p), OKRA_EFORMAT,
              "%s: the checksum of its head is wrong", path);
    bool good = sizes_of(&s.head, size);
    arrays_of(&s, array);
    for (int k = 0; good && k < ARRAYS; k++) {
        *array[k] = s.bytes.p + at;
        at += padded(size[k]);
    }
    REFUSE_IF(!good || at != (uint64_t)s.bytes.size, OKRA_EFORMAT,
              "%s has %lld bytes, which are not those of %llu candidates", path,
              (long long)s.bytes.size, (unsigned long long)s.head.rows);
    *out = TAKE(s);
    return OKRA_OK;
}

void okra_shard_close_(okra_shard_ *shard)
{
    okra_bytes_close_(&shard->bytes);
    *shard = (okra_shard_){.mass = NULL};
}

static okra_status put_padded(okra_writer_ *w, const void *bytes, uint64_t size)
{
    static const char zeros[ALIGN] = {0};
    if (size > 0) {
        CHK(okra_writer_put_(w, bytes, (size_t)size));
        CHK(okra_writer_put_(w, zeros, (size_t)(padded(size) - size)));
    }
    return OKRA_OK;
}

okra_status okra_shard_write_(const char *path, okra_shard_ *shard)
{
    FREED_BY(okra_writer_drop_) okra_writer_ *w = NULL;
    const void **array[ARRAYS];
    uint64_t size[ARRAYS];
    char head[HEAD] = {0};
    arrays_of(shard, array);
    memcpy(shard->head.magic, magic, sizeof magic);
    shard->head.version = OKRA_INDEX_VERSION_;
    REFUSE_IF(!sizes_of(&shard->head, size), OKRA_EINTERNAL,
              "%s: a shard of impossible sizes", path);
    for (int k = 0; k < ARRAYS; k++) {
        shard->head.crc[k] =
            size[k] > 0 ? (uint32_t)crc32_z(0, *array[k], (size_t)size[k]) : 0;
    }
    shard->head.self = head_crc(&shard->head);
    memcpy(head, &shard->head, sizeof shard->head);
    CHK(okra_writer_open_(path, &w));
    CHK(okra_writer_put_(w, head, HEAD));
    for (int k = 0; k < ARRAYS; k++) {
        CHK(put_padded(w, *array[k], size[k]));
    }
    return okra_writer_commit_(TAKE(w));
}

okra_status okra_shard_check_(const okra_shard_ *shard, const char *path)
{
    okra_shard_ s = *shard;
    const void **array[ARRAYS];
    uint64_t size[ARRAYS];
    arrays_of(&s, array);
    bool good = sizes_of(&s.head, size);
    for (int k = 0; good && k < ARRAYS; k++) {
        uint32_t crc = size[k] > 0 ? (uint32_t)crc32_z(0, *array[k], (size_t)size[k]) : 0;
        good = crc == s.head.crc[k];
    }
    return good ? OKRA_OK : okra_fail_(OKRA_EFORMAT, "%s: a checksum is wrong", path);
}

const char *okra_shard_text_(const okra_shard_ *s, okra_int row, okra_int *length)
{
    /* Read once: another process may change them. */
    const volatile uint64_t *ends = s->end;
    uint64_t begin = row > 0 ? ends[row - 1] : 0, end = ends[row];
    bool good = begin <= end && end <= s->head.texts;
    *length = good ? (okra_int)(end - begin) : 0;
    return good ? s->text + begin : "";
}
