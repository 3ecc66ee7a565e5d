/*
 * set.c: candidates panel by panel: a list, whose kernel values may stay in memory, or
 * the shards of an index, of which only rows that fit a test point are read.
 *
 * A value l(y_i, c) serves every test point of a block. Of an index the kernel is taken
 * over the bits that it keeps where these are of the model's kernel, else over molecules
 * that are read again. Same bits whatever the number of threads.
 */
#include "candidates/set.h"

/* A character of a SMILES may become this many bytes. */
enum { ATOM_BYTES = 128 };

void okra_set_free_(okra_set_ *s)
{
    if (s) {
        okra_panels_free_(s->panels);
        okra_windows_close_(&s->windows);
        okra_trained_kernel_free_(s->own);
        okra_data_free(s->outputs);
        okra_bit_kernel_close_(&s->kernel);
        okra_data_free(s->data);
        FREE(s->mass, s->formula, s->first, s->row, s->fits, s->C, s);
    }
}

/* ---- opening ---- */

static okra_status check_index(const okra_output_ *o, const okra_index *index)
{
    char text[96];
    REFUSE_IF(index->width > 0 && (o->y->kind != OKRA_DENSE || o->y->d != index->width),
              OKRA_EARG,
              "the model's outputs are %s, the candidates dense vectors of length %lld",
              okra_data_describe_(o->y, text, sizeof text), (long long)index->width);
    REFUSE_IF(index->width == 0 && o->y->kind != OKRA_GRAPHS, OKRA_EARG,
              "the model's outputs are %s, candidates molecules",
              okra_kind_name(o->y->kind));
    REFUSE_IF(o->map || o->components || o->criterion, OKRA_EUNSUPPORTED,
              "an index is ranked by distances to weighted sums of training outputs; "
              "this model has another measure: give its candidates as a list");
    return OKRA_OK;
}

/* The kernel over bits where the index has those of this model's kernel, else over
 * molecules or vectors. */
static okra_status bind_kernel(okra_context *ctx, okra_set_ *s)
{
    const okra_output_ *o = &s->output;
    const okra_index *x = s->index;
    bool same = strcmp(x->kernel, o->kernel->text) == 0, yes = false;
    const char *why;
    s->bound = o->ky;
    if (x->bits && same) {
        CHK(okra_bit_kernel_open_(o->kernel->text, &s->kernel, &yes, &why));
        CHK(okra_bit_molecules_(ctx, &s->kernel, o->y, &s->outputs));
        CHK(okra_trained_kernel_create_(ctx, s->kernel.of_bits, s->outputs, &s->own));
        s->bits = true;
        s->bound = s->own;
    } else if (x->width == 0 && !same) {
        okra_warn_(ctx,
                   "the index holds features of %s, the model's output kernel is "
                   "%s: candidates are read again",
                   x->kernel, o->kernel->text);
    }
    return OKRA_OK;
}

static okra_status open_index(okra_context *ctx, okra_set_ *s)
{
    const okra_index *x = s->index;
    CHK(check_index(&s->output, x));
    s->count = x->count;
    MAKE(s->first, x->shards + 1);
    s->first[0] = 0;
    for (int k = 0; k < x->shards; k++) {
        s->first[k + 1] = s->first[k] + okra_panels_of_((okra_int)x->shard[k].head.rows);
    }
    if (!s->vectors) {
        okra_int n = okra_data_count(s->output.y);
        CHK(bind_kernel(ctx, s));
        CHK(okra_doubles_(ctx, n, OKRA_PANEL_, "kernel values of candidates", &s->C));
    }
    return OKRA_OK;
}

/* What windows ask of the molecules of a list. */
static okra_status open_facts(okra_set_ *s)
{
    const okra_data *list = s->list;
    REFUSE_IF(list->kind != OKRA_GRAPHS || !okra_ragged_field_(&list->groups[0], "atom"),
              OKRA_EARG, "a window is for molecules, or for an index; candidates are %s",
              okra_kind_name(list->kind));
    MAKE(s->mass, list->n);
    MAKE(s->formula, list->n);
    for (okra_int i = 0; i < list->n; i++) {
        okra_atom_counts_ atoms;
        okra_atoms_(list, i, &atoms);
        s->mass[i] = atoms.mass;
        s->formula[i] = okra_atoms_key_(&atoms);
    }
    s->facts.mass = s->mass;
    s->facts.formula = s->formula;
    return OKRA_OK;
}

okra_status okra_set_open_(okra_context *ctx, const okra_output_ *output,
                           const okra_set_request_ *request, okra_set_ **out)
{
    FREED_BY(okra_set_drop_) okra_set_ *s = NULL;
    okra_window window = {OKRA_SIZED(okra_window)};
    if (request->window) {
        SIZED(request->window, &window);
    }
    ZMAKE(s, 1);
    s->output = *output;
    s->index = request->index;
    s->list = request->list ? request->list : output->y;
    s->vectors = request->vectors;
    s->empty = request->empty;
    s->shortlist = window.shortlist;
    s->exact = window.exact;
    if (s->index) {
        s->list = NULL;
        CHK(open_index(ctx, s));
    } else {
        s->count = okra_data_count(s->list);
        CHK(s->vectors ? OKRA_OK : okra_panels_create_(ctx, output, s->list, &s->panels));
    }
    if (request->x) {
        CHK(okra_windows_open_(ctx, s->index, request->x, &window, &s->windows));
    }
    CHK(s->windows.used && s->list ? open_facts(s) : OKRA_OK);
    *out = TAKE(s);
    return OKRA_OK;
}

/* ---- panels ---- */

okra_int okra_set_panels_(const okra_set_ *s)
{
    return s->index ? s->first[s->index->shards] : okra_panels_of_(s->count);
}

/* Which rows of the block may choose among rows begin..end-1 of the shard, or of the
 * list; how many. */
static okra_int rows_of(const okra_set_ *s, const okra_block_ *block,
                        const okra_nearest_ *nearest, okra_int begin, okra_int end)
{
    okra_int m = 0;
    for (okra_int r = 0; r < block->m; r++) {
        okra_int test = block->first + r, low = begin, high = end;
        if (nearest->ranges) {
            low = nearest->ranges[test].begin;
            high = nearest->ranges[test].end;
        } else if (s->index) {
            okra_windows_rows_(&s->windows, test, s->shard, &low, &high);
        }
        s->row[m] = r;
        m += low < end && high > begin;
    }
    return m;
}

/* Candidates of the panel that fit one of the rows stay; how many. fits: m x that. */
static okra_int narrow(okra_set_ *s, const okra_block_ *block, okra_nearest_ *nearest,
                       okra_int m, okra_int begin, okra_int end)
{
    const okra_shard_ *facts = s->index ? s->shard : &s->facts;
    okra_int count = 0, used = s->index ? 0 : end - begin;
    for (okra_int c = begin; c < end; c++) {
        bool any = false;
        for (okra_int k = 0; k < m && !any; k++) {
            any = okra_windows_fits_(&s->windows, block->first + s->row[k], facts, c);
        }
        s->place[count] = c;
        count += any || !s->index; /* a list computes whole panels */
        used += any && s->index;
    }
    for (okra_int k = 0; k < m; k++) {
        okra_int test = block->first + s->row[k];
        for (okra_int c = 0; c < used; c++) {
            bool fits = okra_windows_fits_(&s->windows, test, facts, s->place[c]);
            s->fits[k * used + c] = fits;
            nearest->compared[test] += fits;
        }
    }
    return used;
}

/* The numbers of what was placed. */
static okra_status number(okra_set_ *s, okra_int count)
{
    const okra_shard_head_ *h = s->shard ? &s->shard->head : NULL;
    for (okra_int k = 0; k < count; k++) {
        uint64_t row = s->shard->row[s->place[k]];
        REFUSE_IF(row < h->first || row - h->first >= h->lines, OKRA_EFORMAT,
                  "the index is broken: a candidate has the row %llu",
                  (unsigned long long)row);
        s->number[k] = (okra_int)row;
    }
    return OKRA_OK;
}

okra_status okra_set_part_(okra_context *ctx, okra_set_ *s, okra_int p,
                           const okra_block_ *block, okra_nearest_ *nearest,
                           okra_part_ *out)
{
    okra_int begin = p * OKRA_PANEL_, all = s->count;
    int shard = 0;
    *out = (okra_part_){.first = begin};
    CHK(okra_cancelled_(ctx));
    if (s->rows < block->m) {
        FREE(s->row, s->fits);
        s->fits = NULL;
        MAKE(s->row, block->m);
        if (s->windows.used) {
            MAKE(s->fits, block->m * OKRA_PANEL_);
        }
        s->rows = block->m;
    }
    if (s->index) {
        while (s->first[shard + 1] <= p) {
            shard++;
        }
        s->shard = &s->index->shard[shard];
        begin = (p - s->first[shard]) * OKRA_PANEL_;
        all = (okra_int)s->shard->head.rows;
    }
    okra_int end = OKRA_MIN_(begin + OKRA_PANEL_, all);
    okra_int m = rows_of(s, block, nearest, begin, end), count = end - begin;
    if (m == 0) {
        return OKRA_OK;
    }
    if (s->windows.used) {
        count = narrow(s, block, nearest, m, begin, end);
        out->fits = s->fits;
    } else if (s->index) {
        okra_iota_(count, s->place);
        for (okra_int k = 0; k < count; k++) {
            s->place[k] += begin;
        }
        for (okra_int k = 0; k < m; k++) {
            nearest->compared[block->first + s->row[k]] += count;
        }
    }
    CHK(number(s, s->index ? count : 0));
    out->m = m;
    out->row = m < block->m ? s->row : NULL;
    out->count = count;
    out->number = s->index ? s->number : NULL;
    return OKRA_OK;
}

okra_status okra_set_values_(okra_context *ctx, okra_set_ *s, bool again,
                             okra_part_ *part)
{
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    okra_int ld = 0, count = part->count;
    if (s->panels) {
        okra_int p = part->first / OKRA_PANEL_;
        part->self = okra_panels_self_(s->panels) + part->first;
        return okra_panels_get_(ctx, s->panels, p, again, &part->C);
    }
    if (s->list) {
        const double *y = okra_data_values(s->list, &ld);
        part->Y = okra_mat_view_(y + part->first * ld, count, s->list->d, ld);
        return OKRA_OK;
    }
    okra_int first = s->place[0];
    bool run = s->place[count - 1] - first == count - 1;
    okra_data_free(s->data);
    s->data = NULL;
    CHK(okra_shard_data_(ctx, s->bits ? &s->kernel : NULL, s->index->width > 0, s->shard,
                         run ? NULL : s->place, first, count, &s->data));
    if (s->vectors) {
        part->Y = okra_mat_view_(s->data->values, count, s->data->d, s->data->ld);
        return OKRA_OK;
    }
    part->featured = !s->empty;
    part->self = s->self;
    part->C = okra_mat_of_(s->C, s->bound->train.n, count);
    CHK(okra_test_side_create_(ctx, s->bound, s->data, &other));
    CHK(okra_test_side_diagonal_(ctx, s->bound, other, s->self));
    return okra_test_side_cross_t_(ctx, s->bound, other, 0, part->C);
}

okra_status okra_part_rows_(okra_context *ctx, const okra_part_ *part, okra_mat_ A,
                            double **copy, okra_mat_ *out)
{
    OWNED double *rows = NULL;
    okra_int m = part->m;
    if (!part->row || part->row[m - 1] - part->row[0] == m - 1) {
        *out = okra_mat_part_(A, part->row ? part->row[0] : 0, m, 0, A.cols);
        return OKRA_OK;
    }
    CHK(okra_doubles_(ctx, m, A.cols, "predictions that choose", &rows));
    for (okra_int k = 0; k < m; k++) {
        memcpy(rows + k * A.cols, A.p + part->row[k] * A.ld,
               (size_t)A.cols * sizeof *rows);
    }
    *out = okra_mat_of_(rows, m, A.cols);
    okra_free_(*copy);
    *copy = TAKE(rows);
    return OKRA_OK;
}

/* ---- rows of a shard as data ---- */

okra_status okra_shard_molecules_(okra_context *ctx, const okra_shard_ *s,
                                  const okra_int *rows, okra_int first, okra_int count,
                                  okra_data **out)
{
    OWNED char *all = NULL; /* the texts, each ended by NUL */
    OWNED const char **texts = NULL;
    okra_int length = 0, size = 0;
    for (okra_int k = 0; k < count; k++) { /* ends of rows may tell of the same bytes */
        (void)okra_shard_text_(s, rows ? rows[k] : first + k, &length);
        size += length + 1;
    }
    CHK(okra_budget_ask_(ctx, ATOM_BYTES * (double)size, "%lld candidates",
                         (long long)count));
    MAKE(texts, count);
    MAKE(all, size);
    char *at = all;
    for (okra_int k = 0; k < count; k++, at += length + 1) {
        const char *text = okra_shard_text_(s, rows ? rows[k] : first + k, &length);
        REFUSE_IF(length >= all + size - at, OKRA_EIO,
                  "the index changed while it was read");
        memcpy(at, text, (size_t)length);
        at[length] = '\0';
        texts[k] = at;
    }
    return okra_data_smiles(ctx, texts, count, out);
}

static okra_status shard_vectors(const okra_shard_ *s, const okra_int *rows,
                                 okra_int first, okra_int count, okra_data **out)
{
    okra_int width = (okra_int)s->head.words[0];
    const double *all = (const double *)(const void *)s->bits[0];
    OWNED double *chosen = NULL;
    okra_data *data = NULL;
    if (rows) {
        MAKE(chosen, count * width);
        for (okra_int i = 0; i < count; i++) {
            memcpy(chosen + i * width, all + rows[i] * width,
                   (size_t)width * sizeof *chosen);
        }
    }
    const double *values = rows ? chosen : all + first * width;
    REFUSE_IF(okra_finite_(values, count, width, width) != OKRA_OK, OKRA_EFORMAT,
              "the index is broken: a candidate has a value that is no finite number");
    CHK(okra_data_new_(OKRA_DENSE, count, width, "index", &data));
    data->values = values;
    data->ld = width;
    data->borrowed = !rows;
    if (rows) {
        okra_data_own_(data, chosen);
        chosen = NULL;
    }
    *out = data;
    return OKRA_OK;
}

okra_status okra_shard_data_(okra_context *ctx, const okra_bit_kernel_ *bits,
                             bool vectors, const okra_shard_ *s, const okra_int *rows,
                             okra_int first, okra_int count, okra_data **out)
{
    return bits      ? okra_shard_features_(ctx, bits, s, rows, first, count, out)
           : vectors ? shard_vectors(s, rows, first, count, out)
                     : okra_shard_molecules_(ctx, s, rows, first, count, out);
}

/* ---- all of them by low rank first ---- */

bool okra_set_scans_(const okra_set_ *s)
{
    const okra_index *x = s->index;
    return x && x->rank > 0 && !s->windows.used && !s->exact && !s->vectors &&
           x->model == okra_index_outputs_(&s->output) &&
           x->outputs == okra_data_count(s->output.y);
}

okra_status okra_set_rows_(okra_context *ctx, okra_set_ *s, int shard,
                           const okra_int *place, okra_int count, okra_part_ *out)
{
    s->shard = &s->index->shard[shard];
    memcpy(s->place, place, (size_t)count * sizeof *place);
    CHK(number(s, count));
    out->count = count;
    out->number = s->number;
    return okra_set_values_(ctx, s, false, out);
}
