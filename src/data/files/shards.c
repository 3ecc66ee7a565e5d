/*
 * shards.c: files whose objects follow one another, as one collection.
 *
 *     shards:PATTERN   the files that a pattern of the shell names, x-2 before x-10
 *     list:FILE        the files that the lines of FILE name
 *
 * Words of a spec may come between: shards:labels:y-*.csv. All shards have objects, of
 * one kind and width, and arrays of NumPy one type of elements.
 *
 * Rows are brought together in memory, or (okra_shards_open_) stay where the files are
 * mapped: then only what is asked for is read, and checked then.
 */
#include "data/files/formats.h"

#include <glob.h>

static const char BY_PATTERN[] = "shards:", BY_LIST[] = "list:";

bool okra_shards_named_(const char *text)
{
    return text && (strncmp(text, BY_PATTERN, sizeof BY_PATTERN - 1) == 0 ||
                    strncmp(text, BY_LIST, sizeof BY_LIST - 1) == 0);
}

/* ---- names ---- */

static int by_number(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* The words before the path, "labels:" or nothing. */
static size_t words_of(const char *text)
{
    const char *path = text;
    for (const char *colon; (colon = strchr(path, ':')) != NULL; path = colon + 1) {
        size_t length = (size_t)(colon - path);
        if (!okra_format_find_(path, length) && !okra_how_find_(path, length)) {
            break;
        }
    }
    return (size_t)(path - text);
}

static okra_status add_name(okra_texts_ *names, const char *words, size_t length,
                            const char *path, const char *end)
{
    OWNED char *spec =
        okra_format_("%.*s%.*s", (int)length, words, (int)(end - path), path);
    return spec ? okra_texts_add_(names, spec, spec + strlen(spec)) : OKRA_EMEM;
}

static okra_status match(const char *text, okra_texts_ *names)
{
    size_t words = words_of(text);
    FREED_BY(globfree) glob_t found = {0};
    int failed = glob(text + words, GLOB_NOSORT | GLOB_BRACE | GLOB_TILDE, NULL, &found);
    REFUSE_IF(failed, failed == GLOB_NOSPACE ? OKRA_EMEM : OKRA_EIO,
              "%s%s: there is no file of such a name", BY_PATTERN, text);
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_number);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        CHK(add_name(names, text, words, path, path + strlen(path)));
    }
    return OKRA_OK;
}

static okra_status list(const okra_context *ctx, const char *text, okra_texts_ *names)
{
    size_t words = words_of(text);
    FREED_BY(okra_bytes_close_) okra_bytes_ bytes = {0};
    CHK(okra_bytes_open_(ctx, text + words, &bytes));
    okra_lines_ lines = okra_lines_begin_(&bytes);
    while (okra_lines_next_(&lines)) {
        REFUSE_IF(memchr(lines.begin, 0, (size_t)(lines.close - lines.begin)),
                  OKRA_EFORMAT, "%s: line %lld has a byte 0; expected the name of a file",
                  text + words, (long long)lines.number);
        if (lines.close > lines.begin) {
            CHK(add_name(names, text, words, lines.begin, lines.close));
        }
    }
    REFUSE_IF(names->count == 0, OKRA_EFORMAT, "%s: it names no file", text + words);
    return OKRA_OK;
}

static okra_status find_names(const okra_context *ctx, const char *text,
                              okra_texts_ *names)
{
    CHK(*text == *BY_LIST ? list(ctx, text + sizeof BY_LIST - 1, names)
                          : match(text + sizeof BY_PATTERN - 1, names));
    return okra_texts_done_(names);
}

/* ---- the files ---- */

typedef struct shards {
    okra_context *ctx;
    okra_texts_ names;
    okra_int count; /* that were read */
    okra_data **part;
    char type; /* of elements of NumPy's arrays, and their size; 0: none was read */
    int size;
    bool mapped; /* all lie in their files as okra wants them */
} shards;

static void clear(shards *s)
{
    for (okra_int i = 0; i < s->count; i++) {
        okra_data_free(s->part[i]);
    }
    okra_free_(s->part);
    okra_texts_free_(&s->names);
}

/* An array of NumPy, whose rows are not looked at yet where `lazy`. */
static okra_status read_array(shards *s, const char *path, bool lazy, okra_data **out)
{
    FREED_BY(okra_bytes_close_) okra_bytes_ bytes = {0};
    okra_npy_ npy = {0};
    CHK(okra_bytes_map_(s->ctx, path, lazy ? 1 : 0, &bytes));
    CHK(okra_at_(okra_npy_parse_(bytes.p, bytes.size, &npy), "%s", path));
    REFUSE_IF(s->size && (npy.type != s->type || npy.size != s->size), OKRA_EFORMAT,
              "%s: its elements are %c%d; expected %c%d, as in %s", path, npy.type,
              npy.size, s->type, s->size, s->names.pointers[0]);
    s->type = npy.type;
    s->size = npy.size;
    bool plain = npy.type == 'f' && npy.size == 8;
    CHK(okra_at_(
        okra_npy_data_(s->ctx, bytes.p, bytes.size, &bytes, lazy && plain, path, out),
        "%s", path));
    s->mapped = s->mapped && plain && (*out)->release;
    return OKRA_OK;
}

static okra_status check(const shards *s, const okra_data *part)
{
    const okra_data *first = s->part[0];
    char here[96], there[96];
    bool any_width = first->kind == OKRA_SPARSE || first->kind == OKRA_LABELS;
    REFUSE_IF(part->n == 0, OKRA_EFORMAT, "%s: a shard without rows", part->source);
    REFUSE_IF(part->kind != first->kind || (part->d != first->d && !any_width),
              OKRA_ESHAPE, "%s: %s; expected the kind and width of %s, %s", part->source,
              okra_data_describe_(part, here, sizeof here), first->source,
              okra_data_describe_(first, there, sizeof there));
    return OKRA_OK;
}

static okra_status read_all(okra_context *ctx, const char *text, bool lazy, shards *s)
{
    *s = (shards){.ctx = ctx, .mapped = lazy};
    CHK(find_names(ctx, text, &s->names));
    ZMAKE(s->part, s->names.count);
    for (okra_int i = 0; i < s->names.count; i++) {
        const char *spec = s->names.pointers[i], *end = spec + strlen(spec);
        CHK(okra_cancelled_(ctx));
        REFUSE_IF(okra_shards_named_(spec), OKRA_EARG, "%s: shards hold no shards", spec);
        bool array = end - spec > 4 && strcmp(end - 4, ".npy") == 0 && !words_of(spec);
        s->mapped = s->mapped && array;
        CHK(array ? read_array(s, spec, s->mapped, &s->part[i])
                  : okra_data_read(ctx, spec, &s->part[i]));
        s->count = i + 1;
        CHK(check(s, s->part[i]));
    }
    return OKRA_OK;
}

/* ---- together ---- */

static okra_status join(okra_context *ctx, okra_int count, okra_data *const *part,
                        const char *source, okra_data **out)
{
    double rows = 0;
    for (okra_int i = 0; part[0]->kind == OKRA_DENSE && i < count; i++) {
        rows += (double)part[i]->n;
    }
    CHK(okra_budget_ask_(ctx, 8 * rows * (double)part[0]->d, "the rows of all shards"));
    CHK(okra_data_join_((const okra_data *const *)part, count, out));
    return okra_data_rename_(out, source);
}

okra_status okra_shards_read_(okra_context *ctx, const char *text, okra_data **out)
{
    FREED_BY(clear) shards s = {0};
    CHK(read_all(ctx, text, false, &s));
    return join(ctx, s.count, s.part, text, out);
}

/* ---- where they lie ---- */

static void free_pieces(void *arg)
{
    okra_stack_ *p = arg;
    for (okra_int i = 0; i < p->count; i++) {
        okra_data_free(p->part[i]);
    }
    FREE(p->part, p->first, p);
}

okra_status okra_shards_open_(okra_context *ctx, const char *text, okra_data **out)
{
    FREED_BY(clear) shards s = {0};
    OWNED okra_stack_ *p = NULL;
    OWNED okra_int *first = NULL;
    okra_data *data = NULL;
    CHK(read_all(ctx, text, true, &s));
    if (!s.mapped) {
        clear(&s);
        s = (shards){0};
        return okra_shards_read_(ctx, text, out);
    }
    MAKE(p, 1);
    MAKE(first, s.count + 1);
    first[0] = 0;
    for (okra_int i = 0; i < s.count; i++) {
        first[i + 1] = first[i] + s.part[i]->n;
    }
    CHK(okra_data_new_(OKRA_DENSE, first[s.count], s.part[0]->d, text, &data));
    *p = (okra_stack_){s.count, first, s.part};
    data->values = s.part[0]->values; /* of its first rows; it is not NULL */
    data->pieces = p;
    data->release = free_pieces;
    data->release_arg = p;
    s.part = NULL;
    s.count = 0;
    first = NULL;
    p = NULL;
    *out = data;
    return OKRA_OK;
}

/* Rows of one piece, looked at for the first time; a message counts from its begin. */
static okra_status look(const okra_data *part, okra_int first, okra_int count)
{
    okra_status st =
        okra_finite_(part->values + first * part->ld, count, part->d, part->ld);
    if (st != OKRA_OK) {
        st = okra_finite_(part->values, first + count, part->d, part->ld);
        okra_message_prefix_("%s", part->source);
    }
    return st;
}

okra_status okra_stack_copy_(const okra_data *data, okra_int first, okra_int count,
                             double *to)
{
    const okra_stack_ *p = data->pieces;
    okra_int d = data->d;
    for (okra_int done = 0, some = 0; done < count; done += some) {
        okra_int k = okra_run_of_(p->first, sizeof *p->first, p->count, first + done),
                 at = first + done - p->first[k];
        const okra_data *part = p->part[k];
        some = OKRA_MIN_(count - done, part->n - at);
        CHK(look(part, at, some));
        CHK(okra_mat_copy_(
            okra_mat_view_(part->values + at * part->ld, some, d, part->ld),
            okra_mat_of_(to + done * d, some, d)));
    }
    return OKRA_OK;
}

okra_status okra_stack_slice_(const okra_data *data, okra_int first, okra_int count,
                              okra_data **out)
{
    const okra_stack_ *p = data->pieces;
    okra_int k = okra_run_of_(p->first, sizeof *p->first, p->count, first),
             at = first - p->first[k];
    const okra_data *part = p->part[k];
    OWNED double *copy = NULL;
    if (count > part->n - at) {
        MAKE(copy, count * data->d);
        CHK(okra_stack_copy_(data, first, count, copy));
        return okra_data_adopt_dense_(&copy, count, data->d, data->source, out);
    }
    CHK(look(part, at, count));
    CHK(okra_data_new_(OKRA_DENSE, count, data->d, part->source, out));
    (*out)->values = part->values + at * part->ld;
    (*out)->ld = part->ld;
    (*out)->borrowed = true;
    return OKRA_OK;
}

okra_status okra_stack_join_(okra_context *ctx, okra_data **data)
{
    okra_data *whole = NULL;
    const okra_stack_ *p = (*data)->pieces;
    if (!p) {
        return OKRA_OK;
    }
    for (okra_int k = 0; k < p->count; k++) {
        CHK(look(p->part[k], 0, p->part[k]->n));
    }
    CHK(join(ctx, p->count, p->part, (*data)->source, &whole));
    okra_data_free(*data);
    *data = whole;
    return OKRA_OK;
}
