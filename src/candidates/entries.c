/*
 * entries.c: from lines of a file, or vectors, to masses, keys and bits, and which of
 * them are repeats.
 *
 * Candidates are lines, a SMILES and a name behind a blank, or a table. A table,
 * NAME.tsv, begins with a header. The column smiles (or canonical_smiles) is the
 * molecule, the column name (title, id) what it is called; columns that are asked for
 * hold numbers, or nothing where they are not known.
 *
 * Or candidates are vectors: rows of a file of numbers. A shard holds them as they are,
 * so that every kernel of vectors can rank them. A table with a header may tell about
 * them, line by line: what they are called, and numbers for windows. Equal vectors stay:
 * they may stand for different things.
 */
#include "candidates/index.h"
#include "kernel/graphs/graph_features.h"

#include <strings.h>

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcasecmp(text + length - size, end) == 0;
}

/* The column of the header that has one of the names, between commas; -1: none. */
static okra_int find_column(const okra_lines_ *header, const char *names)
{
    for (const char *at = names; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        const char *begin, *close;
        for (okra_int k = 0; okra_line_field_(header, '\t', k, &begin, &close); k++) {
            if ((size_t)(close - begin) == length &&
                strncasecmp(begin, at, length) == 0) {
                return k;
            }
        }
        at += length;
    }
    return -1;
}

static const char *table_of(const okra_build_ *b)
{
    return b->vectors && b->request->table ? b->request->table : b->request->source;
}

/* One name of the list of columns. */
static okra_status want_column(okra_build_ *b, const okra_lines_ *header,
                               const char *name, size_t length)
{
    OWNED char *copy = okra_strndup_(name, length);
    GOT(copy);
    bool mass = strcasecmp(copy, "mass") == 0;
    REFUSE_IF(length == 0 || length > 63 || strpbrk(copy, "=. \t") ||
                  (mass && !b->vectors) || strcasecmp(copy, "formula") == 0,
              OKRA_EARG,
              "a column of numbers is called '%s': expected 1 to 63 characters without "
              "blanks, '=' and '.', and neither mass nor formula, which are known anyway",
              copy);
    REFUSE_IF(b->columns == OKRA_COLUMNS_MOST_, OKRA_EARG,
              "there are more than %d columns", OKRA_COLUMNS_MOST_);
    b->column[b->columns] = find_column(header, copy);
    REFUSE_IF(b->column[b->columns] < 0, OKRA_EFORMAT,
              "%s: line %" PRId64 ": no column is called '%s'", table_of(b),
              header->number, copy);
    b->mass = mass ? b->columns : b->mass;
    b->names[b->columns++] = TAKE(copy);
    return OKRA_OK;
}

okra_status okra_build_header_(okra_build_ *b, okra_lines_ *lines)
{
    const char *source = table_of(b), *at = b->request->columns;
    bool given = b->request->table && *b->request->table;
    REFUSE_IF(given && !b->vectors, OKRA_EARG,
              "%s: a table apart is for vectors, NAME.npy", b->request->source);
    b->table = b->vectors ? given : ends_in(source, ".tsv");
    REFUSE_IF(given && !ends_in(source, ".tsv"), OKRA_EARG,
              "%s: expected a table with tabs, NAME.tsv", source);
    REFUSE_IF(!b->vectors && ends_in(source, ".csv"), OKRA_EARG,
              "%s: a table of candidates has tabs between columns: NAME.tsv", source);
    REFUSE_IF(!b->table && at && *at, OKRA_EARG,
              "%s: columns need a table with a header, NAME.tsv%s", source,
              b->vectors ? ", beside the vectors" : "");
    if (!b->table) {
        return OKRA_OK;
    }
    REFUSE_IF(!okra_lines_next_(lines), OKRA_EFORMAT,
              "%s: the file is empty; expected a header", source);
    b->smiles = find_column(lines, "smiles,canonical_smiles");
    b->name = find_column(lines, "name,title,id");
    REFUSE_IF(b->smiles < 0 && !b->vectors, OKRA_EFORMAT,
              "%s: line %" PRId64 ": no column is called 'smiles'", source,
              lines->number);
    for (; at && *at; at += strcspn(at, ","), at += *at == ',') {
        CHK(want_column(b, lines, at, strcspn(at, ",")));
    }
    return OKRA_OK;
}

/* A blank-free SMILES of a field, or of a line, and what stands behind it. */
static void split(const okra_build_ *b, const char *begin, const char *close,
                  okra_entry_ *e)
{
    const char *p = begin, *word = begin, *end = begin;
    const char *base = (const char *)b->source.p;
    (void)okra_word_(&p, close, &word, &end);
    e->place = (uint64_t)(word - base);
    e->smiles = (int32_t)OKRA_MIN_(end - word, INT32_MAX);
    while (end < close && (*end == ' ' || *end == '\t')) {
        end++;
    }
    e->name = (uint64_t)(end - base);
    e->named = (int32_t)OKRA_MIN_(close - end, INT32_MAX);
}

static void take_row(const okra_build_ *b, const okra_lines_ *line, okra_entry_ *e,
                     double *values)
{
    const char *begin = line->begin, *close = line->begin;
    if (!b->vectors) {
        (void)okra_line_field_(line, '\t', b->smiles, &begin, &close);
        split(b, begin, close, e);
    }
    if (b->name >= 0 && okra_line_field_(line, '\t', b->name, &begin, &close)) {
        e->name = (uint64_t)(begin - (const char *)b->source.p);
        e->named = (int32_t)OKRA_MIN_(close - begin, INT32_MAX);
    }
    for (int k = 0; k < b->columns; k++) {
        values[k] = (double)NAN;
        begin = close = line->close;
        (void)okra_line_field_(line, '\t', b->column[k], &begin, &close);
        okra_token_ token = okra_number_(begin, close, &values[k]);
        bool good = token == OKRA_TOKEN_NUMBER_ || token == OKRA_TOKEN_MISSING_;
        e->wrong = good || e->wrong ? e->wrong : k + 1;
        values[k] = token == OKRA_TOKEN_NUMBER_ ? values[k] : (double)NAN;
    }
}

static bool next_line(okra_lines_ *lines)
{
    do {
        if (!okra_lines_next_(lines)) {
            return false;
        }
    } while (lines->begin == lines->close); /* an empty line is none */
    return true;
}

static void next_vectors(okra_build_ *b, okra_lines_ *lines)
{
    for (; b->count < b->shard && b->next < b->vectors->n; b->next++) {
        okra_entry_ e = {.place = (uint64_t)b->next};
        if (b->table && next_line(lines)) {
            e.line = lines->number;
            take_row(b, lines, &e, b->values + b->count * b->columns);
        }
        b->entry[b->count++] = e;
    }
}

void okra_build_lines_(okra_build_ *b, okra_lines_ *lines)
{
    b->count = 0;
    if (b->vectors) {
        next_vectors(b, lines);
        return;
    }
    while (b->count < b->shard && next_line(lines)) {
        okra_entry_ e = {.line = lines->number};
        if (b->table) {
            take_row(b, lines, &e, b->values + b->count * b->columns);
        } else {
            split(b, lines->begin, lines->close, &e);
        }
        b->entry[b->count++] = e;
    }
}

/* ---- vectors ---- */

enum { WIDTH_MOST = 1 << 18, SHARD_BYTES = 1 << 28 };
static const char prefix[] = "dense:";
enum { PREFIX = sizeof prefix - 1 };

bool okra_build_of_vectors_(const char *source)
{
    size_t length = strlen(source);
    return strncasecmp(source, prefix, PREFIX) == 0 ||
           (length > 4 && strcasecmp(source + length - 4, ".npy") == 0);
}

/* Is the kernel one of such vectors? That of a model is there already: a file that it
 * names is not read. */
static okra_status check_kernel(const okra_build_ *b)
{
    FREED_BY(okra_data_drop_) okra_data *zero = NULL;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    const okra_output_ *o = b->output;
    okra_trained_kernel_ *bound = NULL;
    OWNED double *values = NULL;
    ZMAKE(values, b->vectors->d);
    CHK(okra_data_dense(values, 1, b->vectors->d, b->vectors->d, &zero));
    CHK(okra_data_name(zero, b->request->source));
    if (o) { /* another length: who needs the same one refuses */
        bool other_length = o->y->kind == OKRA_DENSE && o->y->d != b->vectors->d;
        return o->ky && !other_length
                   ? okra_test_side_create_(b->ctx, o->ky, zero, &other)
                   : OKRA_OK;
    }
    CHK(okra_trained_kernel_create_(b->ctx, b->kernel.kernel, zero, &bound));
    okra_trained_kernel_free_(bound);
    return OKRA_OK;
}

static okra_status check_table(const okra_build_ *b)
{
    okra_lines_ lines = okra_lines_begin_(&b->source);
    okra_int count = -1; /* the header */
    while (okra_lines_next_(&lines)) {
        count += lines.begin < lines.close;
    }
    REFUSE_IF(count != b->vectors->n, OKRA_EFORMAT,
              "%s: %" PRId64 " lines below the header, expected %" PRId64
              ", one for each vector of %s",
              b->request->table, OKRA_MAX_(count, 0), b->vectors->n, b->request->source);
    return OKRA_OK;
}

/* The |y|^2 that all vectors have which stay, as the search among a list looks for it. */
static okra_status find_level(okra_build_ *b)
{
    const okra_data *v = b->vectors;
    OWNED double *norm = NULL;
    MAKE(norm, v->n);
    for (okra_int i = 0; i < v->n; i++) {
        const double *row = v->values + i * v->ld;
        norm[i] = okra_dot_(v->d, row, row);
        norm[i] = isfinite(norm[i]) ? norm[i] : (double)NAN;
    }
    b->level = okra_self_constant_(norm, v->n, false);
    return OKRA_OK;
}

okra_status okra_build_vectors_(okra_build_ *b)
{
    const char *source = b->request->source, *table = b->request->table;
    okra_int skip = strncasecmp(source, prefix, PREFIX) == 0 ? PREFIX : 0;
    OWNED char *spec = okra_format_("missing:%s", source + skip);
    GOT(spec);
    CHK(okra_data_read(b->ctx, spec, &b->vectors));
    okra_int width = b->vectors->d;
    REFUSE_IF(width < 1 || width > WIDTH_MOST, OKRA_EFORMAT,
              "%s: vectors of %" PRId64 " numbers, expected 1 to %d", source, width,
              WIDTH_MOST);
    CHK(check_kernel(b));
    CHK(find_level(b));
    okra_int most = OKRA_MAX_(1, SHARD_BYTES / (8 * width));
    b->shard = OKRA_MIN_(b->shard, most);
    if (table && *table) {
        CHK(okra_bytes_open_(b->ctx, table, &b->source));
        CHK(check_table(b));
    }
    return OKRA_OK;
}

uint64_t okra_vector_key_(const double *row, okra_int width)
{
    uint64_t h = OKRA_MIX_START_;
    for (okra_int j = 0; j < width; j++) {
        double value = row[j] + 0.0;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        h = (h ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

/* The first value that is no number or too large to compute with; width: none is. */
static okra_int first_gap(const double *row, okra_int width)
{
    double sum = 0;
    for (okra_int j = 0; j < width; j++) {
        sum += row[j] * row[j];
        if (!isfinite(sum)) {
            return j;
        }
    }
    return width;
}

/* Is what stands there a text? */
static okra_status check_text(const okra_build_ *b, uint64_t place, int32_t length,
                              okra_int line)
{
    const char *text = (const char *)b->source.p + place;
    okra_lines_ part = {.begin = text, .close = text + length, .number = line};
    return length > 0 ? okra_line_check_(&part) : OKRA_OK;
}

/* Key and mass of entries begin..end-1; one with a value that is no number is broken. */
static okra_status some_vectors(void *build, okra_int begin, okra_int end, int worker)
{
    okra_build_ *b = build;
    const okra_data *v = b->vectors;
    for (okra_int k = begin; k < end; k++) {
        okra_entry_ *e = &b->entry[k];
        const double *row = v->values + (okra_int)e->place * v->ld;
        double mass = b->mass < 0 ? 0 : b->values[k * b->columns + b->mass];
        e->broken = e->wrong || first_gap(row, v->d) < v->d ||
                    check_text(b, e->name, e->named, e->line);
        e->key = okra_vector_key_(row, v->d);
        e->mass = mass > 0 ? mass : 0;
    }
    return OKRA_OK;
}

/* OKRA_EFORMAT: what is wrong with a broken one. */
static okra_status vector_fault(const okra_build_ *b, const okra_entry_ *e)
{
    const okra_data *v = b->vectors;
    const double *row = v->values + (okra_int)e->place * v->ld;
    okra_int gap = first_gap(row, v->d);
    okra_status st = check_text(b, e->name, e->named, e->line);
    REFUSE_IF(gap < v->d, OKRA_EFORMAT,
              "row %" PRIu64 ", column %" PRId64
              " (counted from 0) is %g, expected a number whose square is one",
              e->place, gap, row[gap]);
    if (st == OKRA_OK) {
        st = okra_fail_(OKRA_EFORMAT, "line %" PRId64 ": column %s holds no number",
                        e->line, b->names[e->wrong - 1]);
    }
    okra_message_prefix_("row %" PRIu64 " (counted from 0), %s", e->place,
                         b->request->table);
    return st;
}

/* ---- molecules ---- */

enum { CHUNK = 256, SEEN_FIRST = 1 << 16 };

static const char *line_at(const okra_build_ *b, uint64_t place)
{
    return (const char *)b->source.p + place;
}

/* One SMILES into the builder; OKRA_EFORMAT: it is broken. */
static okra_status add_one(const okra_build_ *b, const okra_entry_ *e, okra_molecule_ *m,
                           okra_graphs_builder_ *g)
{
    CHK(check_text(b, e->place, e->smiles, e->line));
    CHK(check_text(b, e->name, e->named, e->line));
    REFUSE_IF(e->smiles == 0, OKRA_EFORMAT,
              "line %" PRId64 ": expected a SMILES, found nothing", e->line);
    REFUSE_IF(e->wrong, OKRA_EFORMAT, "line %" PRId64 ": column %s holds no number",
              e->line, b->names[e->wrong - 1]);
    CHK(okra_at_(okra_smiles_read_(line_at(b, e->place), (size_t)e->smiles, 1, m, NULL),
                 "line %" PRId64, e->line));
    return okra_graphs_molecule_(g, m, "", 0);
}

static okra_status add_carbon(okra_molecule_ *m, okra_graphs_builder_ *g)
{
    CHK(okra_smiles_read_("C", 1, 1, m, NULL));
    return okra_graphs_molecule_(g, m, "", 0);
}

/* Parses the molecules of entries first..first+count-1 into *out; a broken one is marked
 * and stands as a lone carbon. */
static okra_status molecules_of(const okra_build_ *b, okra_int first, okra_int count,
                                okra_data **out)
{
    FREED_BY(okra_graphs_abandon_) okra_graphs_builder_ g = {0};
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    CHK(okra_graphs_begin_(&g, true));
    for (okra_int k = first; k < first + count; k++) {
        okra_status st = add_one(b, &b->entry[k], &m, &g);
        b->entry[k].broken = st == OKRA_EFORMAT;
        CHK(b->entry[k].broken ? add_carbon(&m, &g) : st);
    }
    return okra_graphs_finish_(&g, "index", out);
}

static okra_status chunk(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_build_ *b = arg;
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    OWNED uint64_t *keys = NULL;
    MAKE(keys, end - begin);
    CHK(molecules_of(b, begin, end - begin, &data));
    CHK(okra_molecule_keys_(data, keys));
    for (okra_int k = begin; k < end; k++) {
        okra_atom_counts_ atoms;
        okra_atoms_(data, k - begin, &atoms);
        b->entry[k].mass = atoms.mass;
        b->entry[k].formula = okra_atoms_key_(&atoms);
        b->entry[k].key = keys[k - begin];
        b->entry[k].lists = (int32_t)begin;
    }
    for (int leaf = 0; b->bits && leaf < b->kernel.leaves; leaf++) {
        const okra_kernel_class_ *class = b->kernel.class[leaf];
        const void *params = b->kernel.params[leaf];
        CHK(b->kernel.counts[leaf]
                ? okra_features_counts_(NULL, class, params, data, &b->lists[leaf][begin])
                : okra_features_bits_(b->ctx, class, params, data,
                                      b->rows[leaf] +
                                          begin * okra_bit_words_(&b->kernel, leaf)));
    }
    return OKRA_OK;
}

void okra_build_drop_lists_(okra_build_ *b)
{
    for (int leaf = 0; leaf < OKRA_LEAVES_MOST_; leaf++) {
        for (okra_int k = 0; b->lists[leaf] && k < b->count; k++) {
            okra_csr_free_(&b->lists[leaf][k]);
        }
    }
}

/* What is wrong with a line. */
static okra_status line_fault(const okra_build_ *b, const okra_entry_ *e)
{
    FREED_BY(okra_graphs_abandon_) okra_graphs_builder_ g = {0};
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    CHK(okra_graphs_begin_(&g, true));
    return add_one(b, e, &m, &g);
}

okra_status okra_build_features_(okra_build_ *b)
{
    okra_status st = OKRA_OK;
    CHK(okra_parallel_(b->ctx, b->count, CHUNK, "candidates",
                       b->vectors ? some_vectors : chunk, b));
    for (okra_int k = 0; k < b->count; k++) {
        if (b->entry[k].broken) { /* again, for its message */
            st = b->vectors ? vector_fault(b, &b->entry[k]) : line_fault(b, &b->entry[k]);
            st = okra_fault_(b->faults, st);
            if (st == OKRA_EFORMAT) {
                okra_message_prefix_("%s", b->request->source);
            }
            CHK(st);
        }
    }
    return OKRA_OK;
}

/* ---- repeats ---- */

okra_status okra_build_remember_(okra_build_ *b, uint64_t key, uint64_t place)
{
    okra_hashed_ *s = &b->seen;
    if (2 * (s->used + 1) > s->room) {
        okra_int room = OKRA_MAX_(SEEN_FIRST, 2 * s->room);
        okra_status st =
            okra_budget_ask_(b->ctx, (double)sizeof *s->slots * (double)room,
                             "a table of %lld candidates", (long long)room / 2);
        if (st == OKRA_EBUDGET && s->room > 0) { /* begin anew: this shard alone */
            memset(s->slots, 0, (size_t)s->room * sizeof *s->slots);
            s->used = 0;
            b->report.whole = false;
            st = OKRA_OK;
        }
        CHK(st);
    }
    return okra_hashed_put_(s, key, (okra_int)place);
}

/* The molecule that stands at a place of the source. */
static okra_status molecule_at(const okra_build_ *b, uint64_t place, okra_data **out)
{
    const char *text = line_at(b, place);
    const char *end = (const char *)b->source.p + b->source.size;
    size_t length = 0;
    while (text + length < end && !strchr(" \t\r\n", text[length])) {
        length++;
    }
    OWNED char *copy = okra_strndup_(text, length);
    GOT(copy);
    return okra_data_smiles(NULL, (const char *const[]){copy}, 1, out);
}

/* Is entry k the molecule at that place? */
static okra_status is_same(const okra_build_ *b, okra_int k, uint64_t place, bool *same,
                           bool *sure)
{
    FREED_BY(okra_data_drop_) okra_data *one = NULL, *two = NULL;
    CHK(molecule_at(b, b->entry[k].place, &one));
    CHK(molecule_at(b, place, &two));
    return okra_molecules_same_(one, 0, two, 0, same, sure);
}

okra_status okra_build_repeats_(okra_build_ *b, uint64_t *repeated, uint64_t *apart)
{
    for (okra_int k = 0; k < b->count; k++) {
        okra_entry_ *e = &b->entry[k];
        bool same = false, sure = true;
        int near = 0;
        if (k % CHUNK == 0) {
            CHK(okra_cancelled_(b->ctx));
        }
        okra_int at = 0, place = b->vectors || e->broken ? -1 : 0;
        while (place >= 0 && !same &&
               (place = okra_hashed_next_(&b->seen, e->key, &at)) >= 0) {
            if (near++ < OKRA_ALIKE_MOST_) {
                CHK(is_same(b, k, (uint64_t)place, &same, &sure));
            }
        }
        e->dropped = e->broken || same;
        *repeated += same;
        *apart += near > 0 && !same;
        if (!e->dropped && !b->vectors) {
            CHK(okra_build_remember_(b, e->key, e->place));
        }
    }
    return OKRA_OK;
}
