/*
 * view.c: a part of the training set as a training set of its own, and the pairs left
 * out as test pairs.
 *
 * Gram matrices are slices of those of the whole set, made once for each kernel, where it
 * does not depend on the other training objects (`center`); else the method computes its
 * own. Where only values of the output kernel are needed (distances to training outputs,
 * losses in feature space) the outputs are the rows of the sliced Gram matrix under the
 * kernel `precomputed`: costly kernels are evaluated once for all folds and lambdas.
 */
#include "select/select.h"

/* ---- Gram matrices of the whole ---- */

/* Two kernels of each side: cells run through ky within kx. */
enum { KEPT = 4 };

typedef struct okra_gram_ {
    char which;
    char *text; /* canonical */
    double *G;
    okra_int used; /* when last asked for */
} okra_gram_;

static void drop(okra_pairs_ *s, int k)
{
    FREE(s->grams[k].text, s->grams[k].G);
    s->grams[k] = s->grams[--s->count];
}

/* The one asked for longest ago gives way when there are enough or memory is short. */
static void make_room(const okra_context *ctx, okra_pairs_ *s, double bytes)
{
    while (s->count > 0 && (s->count == KEPT || okra_budget_ask_(ctx, 3 * bytes,
                                                                 "a Gram "
                                                                 "matrix") != OKRA_OK)) {
        int oldest = 0;
        for (int k = 1; k < s->count; k++) {
            oldest = s->grams[k].used < s->grams[oldest].used ? k : oldest;
        }
        drop(s, oldest);
    }
}

/* The Gram matrix of all x (which == 'x') or y; NULL where the kernel centers, since its
 * values then depend on the training set. Valid until two other kernels were asked for.
 */
static okra_status source_gram(okra_context *ctx, okra_pairs_ *source, char which,
                               const okra_kernel *kernel, const double **out)
{
    FREED_BY(okra_trained_kernel_drop_) okra_trained_kernel_ *bound = NULL;
    okra_gram_ g = {.which = which};
    OWNS(&g.G);
    okra_int latest = 0;
    const okra_data *data = which == 'x' ? source->x : source->y;
    okra_int n = okra_data_count(data);
    *out = NULL;
    if (okra_kernel_centers_(kernel)) {
        return OKRA_OK;
    }
    for (int k = 0; k < source->count; k++) {
        latest = OKRA_MAX_(latest, source->grams[k].used);
    }
    for (int k = 0; k < source->count; k++) {
        okra_gram_ *known = &source->grams[k];
        if (known->which == which && strcmp(known->text, okra_kernel_text(kernel)) == 0) {
            known->used = latest + 1;
            *out = known->G;
            return OKRA_OK;
        }
    }
    if (!source->grams) {
        ZMAKE(source->grams, KEPT);
    }
    make_room(ctx, source, 8.0 * (double)n * (double)n);
    CHK(okra_at_(okra_trained_kernel_create_(ctx, kernel, data, &bound), "k%c", which));
    CHK(okra_doubles_(ctx, n, n, "the Gram matrix of the training set", &g.G));
    CHK(okra_at_(okra_trained_kernel_gram_(ctx, bound, okra_mat_of_(g.G, n, n)), "k%c",
                 which));
    GOT(g.text = okra_strdup_(okra_kernel_text(kernel)));
    g.used = latest + 1;
    source->grams[source->count++] = g;
    *out = TAKE(g.G);
    return OKRA_OK;
}

void okra_source_clear_(okra_pairs_ *source)
{
    while (source->count > 0) {
        drop(source, source->count - 1);
    }
    FREE(source->grams, source->same, source->of);
    source->grams = NULL;
    source->same = source->of = NULL;
}

/* ---- views ---- */

/* Rows and columns of the Gram matrix G, which has `all` columns. */
static okra_status slice(okra_context *ctx, const double *G, okra_int all,
                         const okra_int *rows, okra_int m, const okra_int *cols,
                         okra_int n, double **out)
{
    okra_status st = okra_doubles_(ctx, m, n, "a part of a Gram matrix", out);
    for (okra_int i = 0; st == OKRA_OK && i < m; i++) {
        for (okra_int j = 0; j < n; j++) {
            (*out)[i * n + j] = G[rows[i] * all + cols[j]];
        }
    }
    return st;
}

/* The inputs in the order of the problem: trained on, kept without output, unlabelled. */
static okra_status order_inputs(const okra_pairs_ *s, const okra_view_request_ *r,
                                okra_int **out, okra_int *count)
{
    okra_int *inputs = NULL, k = 0;
    MAKE(inputs, r->n + r->m + s->inputs - s->n);
    for (okra_int i = 0; i < r->n; i++) {
        inputs[k++] = r->train[i];
    }
    for (okra_int i = 0; r->keep_inputs && i < r->m; i++) {
        inputs[k++] = r->test[i];
    }
    for (okra_int i = s->n; i < s->inputs; i++) {
        inputs[k++] = i;
    }
    *out = inputs;
    *count = k;
    return OKRA_OK;
}

static okra_status train(okra_context *ctx, const okra_view_request_ *r, okra_view_ *v)
{
    FREED_BY(okra_kernel_drop_) okra_kernel *kx = NULL, *ky = NULL;
    CHK(okra_kernel_parse(r->kx, &kx));
    CHK(okra_kernel_parse(r->ky, &ky));
    CHK(okra_training_create_(ctx, v->train_x, v->train_y, kx, ky, NULL, &v->training));
    kx = ky = NULL;
    v->output = v->training->output;
    v->problem = okra_training_problem_(v->training, v->training->x, NULL);
    return OKRA_OK;
}

/* Another engine than the host, and an expression that it computes by itself: it makes a
 * Gram matrix sooner than slices of one would reach it. */
static okra_status made_there(okra_context *ctx, const okra_trained_kernel_ *kx,
                              bool *yes)
{
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    *yes = false;
    if (!okra_engine_is_host_(ctx)) {
        CHK(okra_entries_create_(ctx, kx, NULL, &entries));
        *yes = entries->steps != NULL;
    }
    return OKRA_OK;
}

/* K of the training inputs and between left-out and training inputs. */
static okra_status slice_inputs(okra_context *ctx, okra_pairs_ *s,
                                const okra_view_request_ *r, okra_int *inputs,
                                okra_int count, okra_view_ *v)
{
    const double *G = NULL;
    bool there = false;
    CHK(made_there(ctx, v->problem.kx, &there));
    if (!there) {
        CHK(source_gram(ctx, s, 'x', v->training->kx, &G));
    }
    if (!G) {
        return OKRA_OK;
    }
    CHK(slice(ctx, G, s->inputs, inputs, count, inputs, count, &v->K));
    CHK(slice(ctx, G, s->inputs, r->test, r->m, inputs, count, &v->Kx));
    v->problem.given_K = v->K;
    v->problem.given_K_ld = count;
    if (okra_method_takes_(r->method, OKRA_TAKES_SELF_)) {
        MAKE(v->self, r->m);
        MAKE(v->train_self, count);
        for (okra_int i = 0; i < r->m; i++) {
            v->self[i] = G[r->test[i] * (s->inputs + 1)];
        }
        for (okra_int i = 0; i < count; i++) {
            v->train_self[i] = G[inputs[i] * (s->inputs + 1)];
        }
    }
    return OKRA_OK;
}

/* Gram data of rows x cols of G that owns its memory. */
static okra_status gram_rows(okra_context *ctx, const double *G, okra_int all,
                             const okra_int *rows, okra_int m, const okra_int *cols,
                             okra_int n, okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *whole = NULL;
    CHK(okra_data_gram(G, all, all, all, NULL, &whole));
    return okra_link_take_(ctx, whole, rows, m, cols, n, out);
}

static okra_status slice_outputs(okra_context *ctx, okra_pairs_ *s,
                                 const okra_view_request_ *r, okra_view_ *v)
{
    const double *G = NULL;
    bool rows = r->rows && !v->output.features;
    if (v->output.features) {
        return OKRA_OK; /* nothing is gained, and L may never be asked for */
    }
    CHK(source_gram(ctx, s, 'y', v->training->ky, &G));
    if (!G) {
        return OKRA_OK;
    }
    CHK(slice(ctx, G, s->n, r->train, r->n, r->train, r->n, &v->L));
    v->problem.given_L = v->L;
    v->problem.given_L_ld = r->n;
    if (rows) {
        CHK(gram_rows(ctx, G, s->n, r->train, r->n, r->train, r->n, &v->gram_y));
        CHK(gram_rows(ctx, G, s->n, r->test, r->m, r->train, r->n, &v->truth_rows));
        CHK(okra_kernel_parse("precomputed", &v->gram_kernel));
        CHK(okra_trained_kernel_create_(ctx, v->gram_kernel, v->gram_y, &v->gram_bound));
        v->output =
            (okra_output_){.y = v->gram_y, .ky = v->gram_bound, .feature_scale = 1};
    }
    return OKRA_OK;
}

/* The numbers of the outputs left out, or of all. */
static okra_status number(const okra_pairs_ *source, const okra_view_request_ *request,
                          okra_view_ *v)
{
    okra_int count = v->m ? v->m : v->n;
    const okra_int *index = v->m ? request->test : request->train;
    if (source->same) {
        MAKE(v->number, count);
        for (okra_int i = 0; i < count; i++) {
            v->number[i] = source->same[index[i]];
        }
    }
    return OKRA_OK;
}

okra_status okra_view_create_(okra_context *ctx, okra_pairs_ *source,
                              const okra_view_request_ *request, okra_view_ **out)
{
    OWNED okra_int *inputs = NULL;
    FREED_BY(okra_view_drop_) okra_view_ *v = NULL;
    okra_int count = 0;
    ZMAKE(v, 1);
    v->n = request->n;
    v->m = request->m;
    CHK(order_inputs(source, request, &inputs, &count));
    CHK(okra_link_take_(ctx, source->x, inputs, count, inputs, count, &v->train_x));
    CHK(okra_link_take_(ctx, source->y, request->train, v->n, request->train, v->n,
                        &v->train_y));
    CHK(okra_link_take_(ctx, source->x, request->test, v->m, inputs, count, &v->test_x));
    CHK(okra_link_take_(ctx, source->y, request->test, v->m, request->train, v->n,
                        &v->truth));
    CHK(number(source, request, v));
    if (!request->objects) {
        CHK(train(ctx, request, v));
        CHK(slice_inputs(ctx, source, request, inputs, count, v));
        CHK(slice_outputs(ctx, source, request, v));
    }
    if (!v->truth_rows) {
        v->truth_rows = okra_data_retain(v->truth);
    }
    *out = TAKE(v);
    return OKRA_OK;
}

okra_status okra_view_low_(okra_context *ctx, const okra_method_ *method,
                           const okra_options *fit, okra_view_ *v)
{
    okra_fit_fields_ f;
    FREED_BY(okra_kernel_drop_) okra_kernel *kx = NULL, *ky = NULL;
    FREED_BY(okra_map_drop_) okra_map_ *map_x = NULL, *map_y = NULL;
    CHK(okra_options_read(fit, &okra_fit_table_, &f));
    CHK(okra_kernel_choose(ctx, f.kx, v->train_x, &kx));
    CHK(okra_kernel_choose(ctx, f.ky, v->train_y, &ky));
    CHK(okra_fit_low_(ctx, &f, method, fit, v->train_x, v->train_y, &kx, &ky, &map_x,
                      &map_y));
    if (map_x->kernel) { /* random Fourier features */
        okra_kernel_drop_(&kx);
        CHK(okra_kernel_parse("linear", &kx));
    }
    CHK(okra_training_low_(ctx, map_x->objects, v->train_y, kx, ky, NULL, NULL, map_y,
                           &v->training));
    kx = ky = NULL;
    map_y = NULL;
    v->map_x = TAKE(map_x);
    const okra_training_ *t = v->training;
    v->output = t->output;
    v->problem = okra_training_problem_(t, v->train_x, v->map_x);
    return OKRA_OK;
}

void okra_view_free_(okra_view_ *v)
{
    if (v) {
        okra_map_free_(v->map_x); /* before the kernel that it sees through */
        okra_trained_kernel_free_(v->gram_bound);
        okra_kernel_free(v->gram_kernel);
        okra_data_free(v->gram_y);
        okra_training_free_(v->training);
        okra_data_free(v->test_x);
        okra_data_free(v->train_x);
        okra_data_free(v->train_y);
        okra_data_free(v->truth);
        okra_data_free(v->truth_rows);
        FREE(v->K, v->L, v->Kx, v->self, v->train_self, v->number, v);
    }
}

/* The left-out inputs as queries; the copy of K may be destroyed by the method. */
static okra_status query(okra_context *ctx, const okra_view_ *v, bool self, double *K,
                         okra_int inputs, double **selves, okra_query_ *q)
{
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    *q = (okra_query_){.m = v->m,
                       .n = v->n,
                       .Kx = okra_mat_of_(K, v->m, inputs),
                       .self = v->self,
                       .train_self = v->train_self,
                       .x = v->test_x,
                       .kx = v->training->bound_x};
    if (v->Kx) {
        CHK(okra_mat_copy_(okra_mat_of_(v->Kx, v->m, inputs), q->Kx));
        return OKRA_OK;
    }
    const okra_trained_kernel_ *bound = v->training->bound_x;
    CHK(okra_test_side_create_(ctx, bound, v->test_x, &other));
    CHK(okra_entries_create_(ctx, bound, other, &entries));
    CHK(okra_matrix_gram_host_(ctx, entries, 0, q->Kx));
    if (self) {
        MAKE(*selves, v->m + inputs);
        CHK(okra_test_side_diagonal_(ctx, bound, other, *selves));
        CHK(okra_trained_kernel_diagonal_(ctx, bound, *selves + v->m));
        q->self = *selves;
        q->train_self = *selves + v->m;
    }
    return OKRA_OK;
}

okra_status okra_view_predict_(okra_context *ctx, const okra_view_ *v,
                               const okra_method_ *method, const okra_store_ *store,
                               double **out, okra_block_ *block)
{
    okra_int inputs = v->problem.n + v->problem.unlabelled;
    OWNED double *K = NULL, *P = NULL, *selves = NULL;
    okra_query_ q;
    bool embeds = okra_method_form_(method, store) == OKRA_FORM_EMBEDDING;
    okra_int d = embeds ? method->width(store) : v->output.d;
    *block = (okra_block_){.first = 0, .m = v->m};
    CHK(okra_doubles_(ctx, v->m, inputs, "left-out inputs against the others", &K));
    CHK(okra_doubles_(ctx, v->m, OKRA_MAX_(v->n, d), "left-out predictions", &P));
    CHK(query(ctx, v, okra_method_takes_(method, OKRA_TAKES_SELF_), K, inputs, &selves,
              &q));
    okra_status st = OKRA_EUNSUPPORTED;
    if (!embeds && v->output.features && okra_method_embeds_(method, store)) {
        st = method->embed(ctx, store, &q, okra_mat_of_(P, v->m, d));
        block->H = okra_mat_of_(P, v->m, d);
    }
    if (st == OKRA_EUNSUPPORTED) {
        okra_mat_ to = okra_mat_of_(P, v->m, embeds ? d : v->n), none = {0};
        st = method->predict(ctx, store, &q, to);
        block->H = embeds ? to : none;
        block->W = embeds ? none : to;
    }
    CHK(st);
    *out = TAKE(P);
    return OKRA_OK;
}
