/*
 * formats.c: the table of file formats, and what a spec such as "labels:file.csv" means.
 *
 *     spec = {prefix ":"} path [":" part]
 *
 * A prefix is the name of a format or a word for how to take the values; any number in
 * any order. A part is an array of .npz files, or a column of tables, or several (A,B;
 * !A,B: all but these).
 */
#include "data/files/formats.h"
#include "okra/program.h"

#include <locale.h>
#include <strings.h>

#define FORMATS(X)                                                                    \
    X(npy, ".npy", "\x93NUMPY", okra_write_npy_, "NumPy array (read and written)")    \
    X(npz, ".npz", "PK", NULL, "NumPy archive, file.npz:name (read)")                 \
    X(csv, ".csv", NULL, okra_write_csv_, "comma-separated table (read and written)") \
    X(tsv, ".tsv", NULL, okra_write_tsv_, "tab-separated table (read and written)")   \
    X(svm, ".svm .libsvm", NULL, NULL, "LIBSVM text (read)")                          \
    X(svm0, "", NULL, NULL, "LIBSVM text with indices from 0 (read)")                 \
    X(mtx, ".mtx", "%%MatrixMarket", okra_write_mtx_,                                 \
      "Matrix Market (read; sparse vectors and bits written)")                        \
    X(smiles, ".smi .smiles", NULL, okra_write_smiles_,                               \
      "molecules, a SMILES and a name per line; smiles:table.tsv:column (read "       \
      "and written)")                                                                 \
    X(sdf, ".sdf .mol", NULL, okra_write_sdf_,                                        \
      "molecules, MDL V2000 (read and written)")                                      \
    X(mgf, ".mgf", "BEGIN IONS", okra_write_mgf_,                                     \
      "tandem mass spectra; file.mgf:smiles for a field (read and written)")          \
    X(msp, ".msp", NULL, NULL,                                                        \
      "tandem mass spectra; file.msp:smiles for a field (read)")                      \
    X(txt, ".txt .txt.gz", NULL, okra_write_txt_,                                     \
      "strings, one per line, UTF-8 (read and written)")                              \
    X(fasta, ".fasta .fa .fna .faa .fasta.gz .fa.gz .fna.gz .faa.gz", ">",            \
      okra_write_fasta_, "FASTA records (read, gzipped too; written)")                \
    X(letters, ".data", NULL, NULL,                                                   \
      "handwritten words as in letter.data: sequences of images (read)")              \
    X(graphml, ".graphml", NULL, okra_write_graphml_,                                 \
      "graphs in GraphML (read and written)")                                         \
    X(edges, ".edges", NULL, okra_write_nodes_,                                       \
      "network, one edge per line (read; chosen nodes written)")

static const okra_file_format_ formats[] = {
#define ROW(name, extensions, magic, write, help) \
    {#name, extensions, magic, okra_read_##name##_, write},
    FORMATS(ROW)
#undef ROW
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static const char *const hows[] = {"",
#define ROW(symbol, word, help) word,
                                   OKRA_HOW_LIST_(ROW)
#undef ROW
};
enum { HOW_COUNT = sizeof hows / sizeof *hows };

const char *okra_how_name_(okra_how_ how)
{
    return hows[how];
}

const char *okra_data_formats(void)
{
    return
#define ROW(name, extensions, magic, write, help) #name ": " help "\n"
        FORMATS(ROW)
#undef ROW
#define ROW(symbol, word, help) word ": " help "\n"
            OKRA_HOW_LIST_(ROW)
#undef ROW
                "shards: files whose objects follow one another, shards:'x-*.npy'\n"
                "list: the same, named by the lines of a file, list:FILE\n";
}

const okra_file_format_ *okra_format_find_(const char *name, size_t length)
{
    for (size_t k = 0; k < FORMAT_COUNT; k++) {
        if (strlen(formats[k].name) == length &&
            strncasecmp(formats[k].name, name, length) == 0) {
            return &formats[k];
        }
    }
    return NULL;
}

okra_how_ okra_how_find_(const char *word, size_t length)
{
    for (size_t k = 1; k < HOW_COUNT; k++) {
        if (strlen(hows[k]) == length && strncasecmp(hows[k], word, length) == 0) {
            return (okra_how_)k;
        }
    }
    return OKRA_HOW_FOUND_;
}

/* The format whose extension p..end ends with. */
static const okra_file_format_ *by_extension(const char *p, const char *end)
{
    for (size_t k = 0; k < FORMAT_COUNT; k++) {
        const char *list = formats[k].extensions, *word, *close;
        while (okra_word_(&list, list + strlen(list), &word, &close)) {
            if (end - p > close - word &&
                strncasecmp(end - (close - word), word, (size_t)(close - word)) == 0) {
                return &formats[k];
            }
        }
    }
    return NULL;
}

typedef struct spec {
    const okra_file_format_ *format; /* NULL: to be found out */
    okra_how_ how;
    char *path, *part; /* owned; part may be NULL */
} spec;

/* Where the part of "file.npz:name" begins (at the colon), or the end of the text: the
 * last colon, if a known extension or (with the format known by prefix) anything is
 * before it. */
static const char *find_part(const char *path, bool known)
{
    const char *colon = strrchr(path, ':');
    if (colon && colon > path && colon[1] &&
        ((known && !strchr(colon, '/')) || by_extension(path, colon))) {
        return colon;
    }
    return path + strlen(path);
}

#define FORMAT_NAME(name, extensions, magic, write, help) " " #name
#define HOW_NAME(symbol, word, help) " " word

static okra_status parse_spec(const char *text, spec *s)
{
    *s = (spec){0};
    for (const char *colon; (colon = strchr(text, ':')) != NULL; text = colon + 1) {
        size_t length = (size_t)(colon - text);
        okra_how_ how = okra_how_find_(text, length);
        const okra_file_format_ *format = okra_format_find_(text, length);
        if (how == OKRA_HOW_FOUND_ && !format) {
            break;
        }
        REFUSE_IF((how && s->how) || (format && s->format), OKRA_EARG,
                  "'%.*s:' after '%s:'", (int)length, text,
                  format ? s->format->name : hows[s->how]);
        s->how = how ? how : s->how;
        s->format = format ? format : s->format;
    }
    const char *end = find_part(text, s->format != NULL);
    s->path = okra_strndup_(text, (size_t)(end - text));
    s->part = s->path && *end ? okra_strdup_(end + 1) : NULL;
    if (!s->path || (*end && !s->part)) {
        return OKRA_EMEM;
    }
    REFUSE_IF(!*s->path, OKRA_EARG, "the name of the file is empty");
    if (!s->format && s->how == OKRA_HOW_STRINGS_ &&
        !by_extension(s->path, s->path + strlen(s->path))) {
        s->format = okra_format_find_("txt", 3);
    }
    if (!s->format && strcmp(s->path, "-") != 0) {
        s->format = by_extension(s->path, s->path + strlen(s->path));
        if (!s->format) {
            static const char sheets[] = ".xlsx .xls .ods .parquet .feather .json .pkl";
            const char *dot = strrchr(s->path, '.');
            REFUSE_IF(dot && strlen(dot) > 3 && strstr(sheets, dot), OKRA_EARG,
                      "okra does not read %s files; save the table as .csv", dot);
            return okra_fail_(
                OKRA_EARG,
                "the extension tells no format; put one before it, such as "
                "csv:FILE (.gz: unpack all but txt and fasta; formats:" FORMATS(
                    FORMAT_NAME) ")");
        }
    }
    return OKRA_OK;
}

OKRA_CLEARS_(free_spec, spec, it->path, it->part)

/* The format of standard input by its first bytes, csv if they are not known. */
static const okra_file_format_ *by_magic(const okra_bytes_ *bytes)
{
    for (size_t k = 0; k < FORMAT_COUNT; k++) {
        const char *magic = formats[k].magic;
        if (magic && bytes->size >= (okra_int)strlen(magic) &&
            memcmp(bytes->p, magic, strlen(magic)) == 0) {
            return &formats[k];
        }
    }
    return okra_format_find_("csv", 3);
}

static bool can_have_part(const okra_file_format_ *format, okra_how_ how)
{
    return format->read == okra_read_mgf_ || format->read == okra_read_msp_ ||
           format->read == okra_read_npz_ || format->read == okra_read_smiles_ ||
           how == OKRA_HOW_SEQUENCES_ || how == OKRA_HOW_NODES_ ||
           format->read == okra_read_edges_ || format->read == okra_read_csv_ ||
           format->read == okra_read_tsv_;
}

okra_status okra_format_read_(const okra_file_format_ *format, okra_source_ *source,
                              okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    const char *text = (const char *)source->bytes.p;
    size_t size = (size_t)source->bytes.size;
    bool lines = format->read != okra_read_npy_ && format->read != okra_read_npz_ &&
                 format->read != okra_read_graphml_ && size && *text != '\x1f'; /* gzip */
    REFUSE_IF(lines && memchr(text, '\r', size - 1) && !memchr(text, '\n', size),
              OKRA_EFORMAT,
              "its lines end in a carriage return alone; tr '\\r' '\\n' <FILE >NEW makes "
              "lines of them");
    if (source->bag) {
        return okra_read_bags_(format, source, out);
    }
    REFUSE_IF(source->part && !can_have_part(format, source->how), OKRA_EARG,
              "'%s' cannot be chosen from a file of format %s", source->part,
              format->name);
    REFUSE_IF(source->how == OKRA_HOW_TARGETS_ && format->read != okra_read_svm_ &&
                  format->read != okra_read_svm0_,
              OKRA_EARG, "targets: is for LIBSVM files, not for %s", format->name);
    CHK(source->how == OKRA_HOW_SEQUENCES_ ? okra_read_sequences_(format, source, &data)
        : source->how == OKRA_HOW_NODES_   ? okra_read_nodes_(format, source, &data)
                                           : format->read(source, &data));
    CHK(okra_take_as_(source->ctx, source->how, &data));
    *out = TAKE(data);
    return OKRA_OK;
}

/* ---- large files ---- */

typedef struct reading {
    const okra_file_format_ *format;
    okra_source_ *source;
    locale_t locale; /* belongs to a thread */
    okra_data **out;
} reading;

static okra_status run_read(void *arg)
{
    reading *r = arg;
    locale_t before = uselocale(r->locale);
    okra_status st = okra_format_read_(r->format, r->source, r->out);
    uselocale(before);
    return st;
}

/* Files of molecules and spectra warn, and report by themselves. Others are watched; what
 * they take comes from the rate of the last one. */
static okra_status read_watched(const okra_file_format_ *format, okra_source_ *source,
                                okra_data **out)
{
    static _Atomic double rate = 5e7; /* bytes per second; corrected by the first file */
    reading r = {format, source, uselocale((locale_t)0), out};
    double size = (double)source->bytes.size;
    if (size < 1e6 || format->read == okra_read_smiles_ ||
        format->read == okra_read_sdf_ || format->read == okra_read_mgf_ ||
        format->read == okra_read_msp_) {
        return okra_format_read_(format, source, out);
    }
    return okra_watched_rate_(source->ctx, "read", size, &rate, run_read, &r);
}

/* Files that the Python package reads and converts: what they are, the prefix and the
 * extension that tell them, the format that they become. */
static const struct foreign {
    const char *what, *prefix, *extension, *to;
} foreigns[] = {{"MATLAB files", "mat:", ".mat", "npz"},
                {"ARFF files", "arff:", ".arff", "csv"},
                {"mzML files", "mzml:", ".mzml", "mgf"},
                {"records of MassBank", "massbank:", "", "mgf"},
                {"folders of the TU collection", "tu:", "", "graphml"}};

/* Refuses such a file with the line that converts it. */
static okra_status refuse_foreign(const char *text)
{
    for (const char *colon; (colon = strchr(text, ':')); text = colon + 1) {
        size_t length = (size_t)(colon - text);
        if (okra_format_find_(text, length)) {
            return OKRA_OK;
        } else if (!okra_how_find_(text, length)) {
            break;
        }
    }
    for (size_t k = 0; k < sizeof foreigns / sizeof *foreigns; k++) {
        const struct foreign *f = &foreigns[k];
        bool named = strncasecmp(text, f->prefix, strlen(f->prefix)) == 0;
        size_t tail = strlen(f->extension);
        const char *path = text + (named ? strlen(f->prefix) : 0);
        const char *colon = tail ? strrchr(path, ':') : NULL;
        const char *end = colon ? colon : path + strlen(path), *stem = end;
        if (tail && end - path > (ptrdiff_t)tail &&
            strncasecmp(end - tail, f->extension, tail) == 0) {
            stem = end - tail;
        }
        if (named || stem < end) {
            while (!tail && stem > path + 1 && stem[-1] == '/') {
                stem--;
            }
            const char *quote = strpbrk(path, " \t\"$&();<>|*?`\\#~") ? "'" : "";
            return okra_fail_(OKRA_EUNSUPPORTED,
                              "only the Python package reads %s; convert it: python -m "
                              "okra convert %s%s%.*s%s -o %s%.*s.%s%s",
                              f->what, quote, stem < end && tail ? "" : f->prefix,
                              (int)(end - path), path, quote, quote, (int)(stem - path),
                              path, f->to, quote);
        }
    }
    return OKRA_OK;
}

static okra_status read_spec(okra_context *context, const char *text,
                             const okra_data *like, bool inputs, const char *bag,
                             okra_data **out);

okra_status okra_data_read(okra_context *context, const char *text, okra_data **out)
{
    return okra_data_read_like(context, text, NULL, out);
}

okra_status okra_data_read_like(okra_context *context, const char *text,
                                const okra_data *like, okra_data **out)
{
    return read_spec(context, text, like, false, NULL, out);
}

okra_status okra_data_read_inputs(okra_context *context, const char *text,
                                  const okra_data *like, okra_data **out)
{
    return read_spec(context, text, like, true, NULL, out);
}

okra_status okra_data_read_bags(okra_context *context, const char *text,
                                const char *field, const okra_data *like, okra_data **out)
{
    NOT_NULL(field);
    return read_spec(context, text, like, true, field, out);
}

static void restore(const locale_t *before)
{
    uselocale(*before);
}

/* Numbers have a point whatever the program's locale is. */
static locale_t use_points(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void close_source(okra_source_ *source)
{
    okra_bytes_close_(&source->bytes);
}

/* A file that cannot be opened, perhaps for a word before it that is no prefix. */
static okra_status not_opened(okra_status st, const char *path)
{
    static const char known[] = FORMATS(FORMAT_NAME), ways[] = OKRA_HOW_LIST_(HOW_NAME);
    size_t length = strspn(path, "abcdefghijklmnopqrstuvwxyz");
    REFUSE_IF(st == OKRA_EIO && length > 1 && path[length] == ':', OKRA_EARG,
              "%s: there is no such file, and '%.*s:' is no prefix%s; expected a format "
              "(%s) or how to take values (%s)",
              path, (int)length, path,
              strncmp(path, "mol", 3) == 0
                  ? ": molecules are smiles:FILE, smiles:TABLE:COLUMN or sdf:FILE"
                  : "",
              known + 1, ways + 1);
    return st;
}

okra_status okra_too_few_parts_(const okra_data *like)
{
    return okra_fail_(OKRA_ESHAPE,
                      "the model has %d inputs, the first of them %s: give a file or "
                      "column for each, in the order of the fit",
                      like->component_count, okra_kind_name(like->components[0]->kind));
}

static okra_status read_spec(okra_context *context, const char *text,
                             const okra_data *like, bool inputs, const char *bag,
                             okra_data **out)
{
    FREED_BY(free_spec) spec s = {0};
    FREED_BY(close_source)
    okra_source_ source = {.ctx = context, .like = like, .inputs = inputs, .bag = bag};
    NOT_NULL(out);
    okra_account_use_(context);
    if (okra_shards_named_(text)) {
        REFUSE_IF(bag, OKRA_EUNSUPPORTED, "%s: bags are read from one file", text);
        return okra_shards_read_(context, text, out);
    }
    FREED_BY(restore) locale_t before = use_points();
    (void)before;
    REFUSE_IF(!text, OKRA_EARG, "the file to read is NULL");
    CHK(okra_at_(refuse_foreign(text), "%s", text));
    CHK(okra_at_(parse_spec(text, &s), "%s", text));
    bool standard = strcmp(s.path, "-") == 0;
    bool array = s.format && s.format->read == okra_read_npy_;
    okra_status st =
        okra_bytes_map_(context, s.path, array ? 0 : INT64_MAX, &source.bytes);
    if (st != OKRA_OK) {
        return not_opened(st, s.path);
    }
    source.name = standard ? "standard input" : s.path;
    const unsigned char *head = (const unsigned char *)source.bytes.p;
    REFUSE_IF(source.bytes.size > 1 && head[0] + head[1] == 0xff + 0xfe &&
                  (head[0] == 0xff || head[1] == 0xff),
              OKRA_EFORMAT,
              "%s: text in UTF-16; expected UTF-8: iconv -f UTF-16 -t UTF-8 makes it",
              source.name);
    source.path = s.path;
    source.part = s.part;
    source.how = s.how;
    const okra_file_format_ *format = s.format ? s.format : by_magic(&source.bytes);
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    CHK(okra_at_(read_watched(format, &source, &data), "%s", source.name));
    if (inputs && like && like->kind == OKRA_TUPLE && data->kind != OKRA_TUPLE) {
        return okra_at_(okra_too_few_parts_(like), "%s", source.name);
    }
    *out = TAKE(data);
    return OKRA_OK;
}

okra_status okra_data_parse(okra_context *context, const char *format, const char *text,
                            size_t size, okra_data **out)
{
    NOT_NULL(out, format, text);
    FREED_BY(close_source)
    okra_source_ source = {.ctx = context, .name = "text", .path = "-"};
    FREED_BY(restore) locale_t before = use_points();
    (void)before;
    unsigned char *copy = NULL;
    okra_account_use_(context);
    const okra_file_format_ *found = okra_format_find_(format, strlen(format));
    REFUSE_IF(!found || size > INT64_MAX / 2, OKRA_EARG,
              "there is no format '%s' of text in memory", format);
    MAKE(copy, (okra_int)size + 1);
    memcpy(copy, text, size);
    copy[size] = '\0';
    source.bytes = (okra_bytes_){.p = copy, .size = (okra_int)size, .base = copy};
    return okra_format_read_(found, &source, out);
}

static okra_status not_written(const char *name)
{
    char list[256] = "";
    for (size_t k = 0; k < FORMAT_COUNT; k++) {
        if (formats[k].write) {
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, " %s", formats[k].name);
        }
    }
    return okra_fail_(OKRA_EUNSUPPORTED, "format %s is not written; expected one of%s",
                      name, list);
}

/* What a stream without a name gets. */
static const okra_file_format_ *format_of(const okra_data *data)
{
    const char *name = data->kind == OKRA_GRAPHS    ? "smiles"
                       : data->kind == OKRA_STRINGS ? "txt"
                       : data->kind == OKRA_SPARSE  ? "svm"
                                                    : "csv";
    const okra_file_format_ *format = okra_format_find_(name, strlen(name));
    return format && format->write ? format : okra_format_find_("csv", 3);
}

/* `all` has room for some rows; they come one block after the other. */
static okra_status write_blocks(okra_context *ctx, const okra_file_format_ *format,
                                okra_writer_ *w, const okra_rows_ *source,
                                const okra_data *all, okra_int height)
{
    char header[OKRA_NPY_HEADER_];
    bool array = format->write == okra_write_npy_;
    if (array) {
        size_t size = okra_npy_header_("<f8", all->n, all->d, header);
        CHK(okra_writer_put_(w, header, size));
    }
    for (okra_int first = 0; first < all->n; first += height) {
        okra_data some = *all;
        some.n = OKRA_MIN_(height, all->n - first);
        CHK(okra_cancelled_(ctx));
        CHK(source->get(ctx, source->self, first,
                        okra_mat_view_(all->values, some.n, all->d, all->ld)));
        CHK(array ? okra_write_npy_rows_(w, &some) : format->write(w, &some));
    }
    return OKRA_OK;
}

/* All of the data, or (height > 0) the rows of `source` in blocks of that height. */
static okra_status write_data(okra_context *context, const okra_data *data,
                              const okra_rows_ *source, okra_int height, const char *path)
{
    FREED_BY(free_spec) spec s = {0};
    FREED_BY(okra_writer_drop_) okra_writer_ *w = NULL;
    FREED_BY(restore) locale_t before = use_points();
    (void)before;
    CHK(okra_cancelled_(context));
    CHK(okra_at_(parse_spec(path, &s), "%s", path));
    const okra_file_format_ *format = s.format ? s.format : format_of(data);
    if (!format->write || s.how || s.part) {
        return okra_at_(not_written(s.how ? hows[s.how] : format->name), "%s", path);
    }
    CHK(okra_writer_join_(context, s.path, &w));
    okra_status st = source ? write_blocks(context, format, w, source, data, height)
                            : format->write(w, data);
    CHK(st == OKRA_EUNSUPPORTED ? okra_at_(st, "%s", path) : st);
    return okra_writer_commit_(TAKE(w));
}

okra_status okra_data_write(okra_context *context, const okra_data *data,
                            const char *path)
{
    REFUSE_IF(!data || !path, OKRA_EARG, "the %s to write is NULL",
              data ? "file" : "data");
    return write_data(context, data, NULL, 0, path);
}

okra_status okra_rows_write_(okra_context *ctx, const okra_rows_ *source, okra_int rows,
                             okra_int cols, const char *path)
{
    enum { BLOCK = 1 << 18 }; /* doubles */
    okra_int height = OKRA_MAX_(1, OKRA_MIN_(rows, BLOCK / OKRA_MAX_(1, cols)));
    OWNED double *values = NULL;
    FREED_BY(okra_data_drop_) okra_data *all = NULL;
    CHK(okra_doubles_(ctx, height, cols, "a block of rows", &values));
    CHK(okra_data_new_(OKRA_DENSE, rows, cols, path, &all));
    all->values = values;
    all->borrowed = true;
    return write_data(ctx, all, source, height, path);
}
