/*
 * Indexes of candidates (NAME.okx) whose files are altered and sealed again: heads of
 * shards, arrays, lengths, the description, the basis. Each is refused with a message, or
 * its candidates are ranked, found and told within memory and time, in numbers that are
 * no NaN, the same twice.
 *
 * The input is a programme: which index, then one alteration after the other.
 */
#include "alter.h"
#include "turn.h"

#include "candidates/index.h"
#include "ranking.h"
#include "okra/more/index.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUDGET = 64 << 20, MORE = 64 << 20, SECONDS_MOST = 10, FILES = 4, HEAD = 1024 };
enum { VECTORS = 7 }; /* as the table has lines */

/* ---- indexes, made once ---- */

/* clang-format off */
static const struct {
    const char *ky;
    okra_int rank;
    bool vectors;
} made[] = {
    {"ecfp(bits=70) | tanimoto", 3, false},
    {"(ecfp(bits=64) | tanimoto) + (composition(bits=100) | normalize)", 0, false},
    {"wl", 0, false},
    {"(ecfp(bits=64,count=1) | tanimoto) + (wl(bits=50) | normalize)", 2, false},
    {"rbf(sigma=1)", 3, true},
    {"linear", 0, true},
    {"cosine", 2, true},
};
static const char *const other_kernels[] = {
    "ecfp(bits=70) | tanimoto", "wl", "ecfp(bits=128) | tanimoto", "linear",
    "ecfp(bits=64,count=1)", "ecfp(bits=16777216)", "metric(file=/etc/hostname)",
    "(ecfp(bits=1) | tanimoto) + (wl(bits=1,count=0) | tanimoto)"};
static const char *const members[] = {"okra", "version", "kernel", "bits", "count",
                                      "shards", "rank", "outputs", "source", "columns",
                                      "width"};
static const char *const windows[] = {NULL, NULL, "mass=20Da", "mass=1000000ppm",
                                      "mass=0Da", "formula", "x=1", "x=0..2,mass=70Da"};
/* clang-format on */
enum { MADE = sizeof made / sizeof *made };
static const char *const names_of_files[FILES] = {"index.json", "shard-00000",
                                                  "shard-00001", "basis.npy"};

typedef struct blob {
    unsigned char *bytes;
    size_t size; /* there is no such file: bytes == NULL */
} blob;

static blob originals[MADE][FILES];
static okra_model *models[MADE];
static char folder[80];

static void name_file(char *to, size_t size, const char *file)
{
    snprintf(to, size, "%s/%s", folder, file);
}

static blob slurp(const char *file)
{
    blob b = {NULL, 0};
    char name[160];
    name_file(name, sizeof name, file);
    FILE *f = fopen(name, "rb");
    if (f) {
        b.bytes = malloc(1 << 16);
        PARTS_CHECK(b.bytes);
        b.size = fread(b.bytes, 1, 1 << 16, f);
        fclose(f);
    }
    return b;
}

static void clean(void)
{
    char name[160];
    for (int k = 0; k < FILES; k++) {
        name_file(name, sizeof name, names_of_files[k]);
        unlink(name);
    }
    rmdir(folder);
}

static okra_model *fit(size_t which)
{
    okra_data *x = zoo_data(ZOO_DENSE, ZOO_N);
    okra_data *y = zoo_data(made[which].vectors ? ZOO_DENSE : ZOO_SMILES, ZOO_N);
    okra_options *options = NULL;
    okra_model *model = NULL;
    PARTS_CHECK(okra_fit_options(&options) == OKRA_OK);
    PARTS_CHECK(okra_options_set(options, "kx", "rbf(sigma=1)") == OKRA_OK);
    PARTS_CHECK(okra_options_set(options, "ky", made[which].ky) == OKRA_OK);
    PARTS_CHECK(okra_options_set(options, "lambda", "0.1") == OKRA_OK);
    PARTS_CHECK(okra_fit(NULL, x, y, options, &model) == OKRA_OK);
    okra_options_free(options);
    okra_data_free(x);
    okra_data_free(y);
    return model;
}

static void make(size_t which)
{
    char source[100], vectors[100];
    bool apart = made[which].vectors;
    snprintf(source, sizeof source, "%s.tsv", folder);
    snprintf(vectors, sizeof vectors, "%s.npy", folder);
    FILE *f = fopen(source, "w");
    PARTS_CHECK(f);
    fputs("smiles\tname\tx\tmass\nCCO\tethanol\t1\t46\nOCC\tagain\t2\t46\nCC="
          "O\t\t\nc1ccccc1\tbenzene\t0.5\t78\n"
          "CN\n[Na+].[Cl-]\tsalt\t-1\n*C\tstar\t2\n",
          f);
    fclose(f);
    okra_data *rows = zoo_data(ZOO_DENSE, VECTORS);
    PARTS_CHECK(okra_data_write(NULL, rows, vectors) == OKRA_OK);
    okra_model *model = models[which] = fit(which);
    okra_index_request request = {OKRA_SIZED(okra_index_request),
                                  .source = apart ? vectors : source,
                                  .path = folder,
                                  .model = model,
                                  .rank = made[which].rank,
                                  .shard = 4,
                                  .columns = apart ? "x,mass" : "x",
                                  .table = apart ? source : NULL};
    PARTS_CHECK(okra_index_build(NULL, &request, NULL) == OKRA_OK);
    for (int k = 0; k < FILES; k++) {
        originals[which][k] = slurp(names_of_files[k]);
    }
    unlink(source);
    unlink(vectors);
    okra_data_free(rows);
    clean();
}

/* ---- alterations ---- */

static void seal(blob *b)
{
    okra_shard_head_ head;
    if (b->bytes && b->size >= HEAD) {
        memcpy(&head, b->bytes, sizeof head);
        head.self =
            (uint32_t)crc32_z(0, (const void *)&head, offsetof(okra_shard_head_, self));
        memcpy(b->bytes, &head, sizeof head);
    }
}

static void resize(blob *b, size_t size);

/* The description again as if okra had written it, with the checksum of the basis. */
static void seal_about(blob *about_file, const blob *basis)
{
    json_t *about = about_file->bytes ? json_loadb((const char *)about_file->bytes,
                                                   about_file->size, 0, NULL)
                                      : NULL;
    uint32_t crc = 0;
    if (json_is_object(about)) {
        if (basis->bytes) {
            crc = (uint32_t)crc32_z(0, basis->bytes, basis->size);
        }
        json_object_set_new(about, "basis", json_integer((json_int_t)crc));
        PARTS_CHECK(okra_index_seal_(about, &crc) == OKRA_OK);
        json_object_set_new(about, "seal", json_integer((json_int_t)crc));
        char *text = json_dumps(about, 0);
        PARTS_CHECK(text);
        resize(about_file, strlen(text));
        memcpy(about_file->bytes, text, about_file->size);
        free(text);
    }
    json_decref(about);
}

static void resize(blob *b, size_t size)
{
    unsigned char *bytes = realloc(b->bytes, size + 1);
    PARTS_CHECK(bytes);
    if (size > b->size) {
        memset(bytes + b->size, 0, size - b->size);
    }
    *b = (blob){bytes, size};
}

/* Eight bytes at a multiple of eight of the head (or behind it) become another number. */
static void set_number(blob *b, tape *t, bool head)
{
    size_t begin = head ? 8 : HEAD,
           end = head ? offsetof(okra_shard_head_, self) : b->size;
    if (b->bytes && b->size >= HEAD && end >= begin + 8) {
        size_t at = begin + 8 * (next(t, 65536) % ((end - begin) / 8));
        int64_t whole = odd_integer(t);
        double value = odd_value(t);
        memcpy(b->bytes + at, next(t, 2) && !head ? (void *)&value : (void *)&whole, 8);
    }
}

static void alter_about_index(blob *b, tape *t)
{
    json_t *about =
        b->bytes ? json_loadb((const char *)b->bytes, b->size, 0, NULL) : NULL;
    const char *member = PICK(t, members);
    json_t *value =
        strcmp(member, "kernel") == 0 ? json_string(PICK(t, other_kernels)) : odd_json(t);
    if (about) {
        json_object_set(about, member, value);
        char *text = json_dumps(about, 0);
        PARTS_CHECK(text);
        resize(b, strlen(text));
        memcpy(b->bytes, text, b->size);
        free(text);
    }
    json_decref(value);
    json_decref(about);
}

static void alter_file(blob *files, tape *t)
{
    blob *b = &files[next(t, FILES)], *other = &files[next(t, FILES)];
    switch (next(t, 8)) {
    case 0:
        if (b->bytes && b->size > 0) {
            b->bytes[next(t, 65536) % b->size] ^= (unsigned char)(1 + next(t, 255));
        }
        break;
    case 1:
        if (b->bytes) {
            resize(b, b->size > 200 ? b->size - 64 * (1 + next(t, 3)) : next(t, 200));
        }
        break;
    case 2:
        resize(b, b->size + 64 * (size_t)(1 + next(t, 4)));
        break;
    case 3:
        set_number(&files[1 + next(t, 2)], t, true);
        break;
    case 4:
        set_number(&files[1 + next(t, 2)], t, false);
        break;
    case 5:
        alter_about_index(&files[0], t);
        break;
    case 6:
        if (other->bytes) {
            resize(b, other->size);
            memcpy(b->bytes, other->bytes, other->size);
        }
        break;
    default:
        free(b->bytes);
        *b = (blob){NULL, 0};
    }
}

/* ---- use ---- */

static void told_well(okra_status st)
{
    PARTS_CHECK(st == OKRA_OK || okra_message()[0]);
    PARTS_CHECK(st != OKRA_EINTERNAL);
}

static void rank(okra_context *ctx, const okra_index *index, const okra_model *model,
                 const okra_data *x, tape *t)
{
    static const double masses[ZOO_M] = {46.04, 78.05, 1e300};
    static const char *const formulas[ZOO_M] = {"C2H6O", "C6H6", "no formula"};
    static const double values[ZOO_M * OKRA_COLUMNS_MOST_] = {1, 0.5, -1e300};
    rank_request request = {OKRA_SIZED(rank_request),
                            .within = PICK(t, windows),
                            .masses = masses,
                            .top = 1 + (okra_int)next(t, 8),
                            .shortlist = (okra_int)next(t, 4),
                            .exact = next(t, 2),
                            .formulas = formulas,
                            .values = values};
    okra_prediction *ranked[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        okra_status st = rank_all(ctx, index, model, x, &request, &ranked[k]);
        told_well(st);
        PARTS_CHECK(k == 0 || (st == OKRA_OK) == (ranked[0] != NULL));
    }
    okra_int tests = 0, top = 0;
    const okra_int *a = ranked_index(ranked[0], &tests, &top);
    const okra_int *b = ranked_index(ranked[1], &tests, &top);
    const double *distance = ranked_distance(ranked[0]);
    for (okra_int k = 0; k < tests * top; k++) {
        PARTS_CHECK(a[k] == b[k] && a[k] >= -1 && a[k] < okra_index_lines(index));
        PARTS_CHECK(distance[k] >= 0);
        PARTS_CHECK(k % top == 0 || distance[k] >= distance[k - 1]);
    }
    okra_prediction_free(ranked[0]);
    okra_prediction_free(ranked[1]);
}

static void look(okra_context *ctx, const okra_index *index)
{
    okra_data *some =
        zoo_data(okra_index_width(index) > 0 ? ZOO_DENSE : ZOO_SMILES, ZOO_M);
    okra_int number[ZOO_M] = {0}, length = 0, sum = 0;
    okra_int rows = okra_index_lines(index) < 100 ? okra_index_lines(index) : 100;
    for (okra_int i = 0; i < rows; i++) {
        const char *text = okra_index_text(index, i, &length);
        PARTS_CHECK(!text || length >= 0);
        for (okra_int k = 0; text && k < length; k++) {
            sum += text[k]; /* it can be read */
        }
        PARTS_CHECK(okra_index_mass(index, i) >= 0 && sum < INT64_MAX);
    }
    told_well(okra_index_find(ctx, index, some, number));
    told_well(okra_index_check(ctx, index));
    okra_data_free(some);
}

static void use(const blob *files, unsigned which, tape *t)
{
    okra_context *ctx = NULL;
    okra_index *index = NULL;
    okra_data *x = zoo_data(ZOO_DENSE, ZOO_M);
    PARTS_CHECK(okra_context_create(&ctx) == OKRA_OK);
    PARTS_CHECK(okra_context_set_memory(ctx, BUDGET) == OKRA_OK);
    PARTS_CHECK(okra_context_set_threads(ctx, 1) == OKRA_OK);
    PARTS_CHECK(mkdir(folder, 0700) == 0);
    for (int k = 0; k < FILES; k++) {
        char name[160];
        name_file(name, sizeof name, names_of_files[k]);
        FILE *f = files[k].bytes ? fopen(name, "wb") : NULL;
        if (f) {
            PARTS_CHECK(fwrite(files[k].bytes, 1, files[k].size, f) == files[k].size);
            fclose(f);
        }
    }
    okra_alloc_reset_peak_();
    okra_status st = okra_index_open(ctx, folder, &index);
    told_well(st);
    if (st == OKRA_OK) {
        for (int k = 0; k < 2; k++) { /* its own model, and any */
            rank(ctx, index, models[k ? next(t, MADE) : which], x, t);
        }
        look(ctx, index);
    }
    PARTS_CHECK(okra_alloc_peak_bytes_() <= (okra_int)BUDGET + MORE);
    okra_index_free(index);
    okra_data_free(x);
    okra_context_free(ctx);
    clean();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tape t = {data, data + size};
    blob files[FILES];
    struct timespec begin, end;
    snprintf(folder, sizeof folder, "%s/okra-fuzz-index-%ld.okx",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
    fuzz_keep(true);
    for (size_t i = 0; i < MADE && !originals[MADE - 1][0].bytes; i++) {
        make(i);
    }
    fuzz_keep(false);
    okra_int live = okra_alloc_live_blocks_();
    unsigned which = next(&t, MADE);
    unsigned count = next(&t, 4);
    for (int k = 0; k < FILES; k++) {
        blob b = originals[which][k];
        files[k] = (blob){NULL, 0};
        if (b.bytes) {
            resize(&files[k], b.size);
            memcpy(files[k].bytes, b.bytes, b.size);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        alter_file(files, &t);
    }
    seal(&files[1]);
    seal(&files[2]);
    if (next(&t, 8)) {
        seal_about(&files[0], &files[3]);
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    tape again = t;
    use(files, which, &t);
    if (okra_alloc_live_blocks_() > live) { /* models keep some of what they compute */
        live = okra_alloc_live_blocks_();
        use(files, which, &again);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    PARTS_CHECK(end.tv_sec - begin.tv_sec <= SECONDS_MOST);
    for (int k = 0; k < FILES; k++) {
        free(files[k].bytes);
    }
    PARTS_CHECK(okra_alloc_live_blocks_() == live);
    return 0;
}
