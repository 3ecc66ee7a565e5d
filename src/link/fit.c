/*
 * fit.c: from known edges and descriptions of nodes to fitted links.
 *
 * The known network of the n labelled nodes gives the output kernel L (n x n), its
 * diffusion kernel exp(-beta Laplacian) if nothing else is asked for; a method then
 * learns from the descriptions of the labelled nodes to the nodes of that network, like
 * any other mapping.
 */
#include "link/link.h"
#include "okra/more/traits.h"
#include "kernel/networks/network.h"

/* ---- how long to diffuse.
 *
 * For small beta exp(-beta L) is the identity, for large beta all nodes of a component
 * look the same: neither tells anything of the network. Between them the similarities
 *     c_ij = k_ij / sqrt(k_ii k_jj),  i < j,
 * take many different values. beta is chosen so that the entropy of their histogram (50
 * equal bins from the smallest to the largest) is greatest. Brouard et al. 2016 (sec.
 * 6.1.2) take "an information criterion" without its formula: this one is ours.
 *
 * One eigendecomposition, L = V' diag(x) V; then 2 s n^2 a value of beta for the rows of
 * s <= 400 nodes. Candidates are 1/d times 41 values from 0.1 to 1000, log-spaced, d the
 * mean degree.
 */

enum { ROWS = 400, CANDIDATES = 41 };

/* V' diag(x) V in the place of the Laplacian. */
static okra_status laplacian(okra_context *ctx, const okra_network_ *network, okra_mat_ A,
                             double *x)
{
    const okra_csr_ *w = &network->adjacency;
    okra_mat_fill_(A, 0);
    for (okra_int i = 0; i < network->nodes; i++) {
        for (okra_int k = w->indptr[i]; k < w->indptr[i + 1]; k++) {
            A.p[i * A.ld + w->indices[k]] = -w->values[k];
            A.p[i * A.ld + i] += w->values[k];
        }
    }
    return okra_engine_eigh_(ctx, A, x);
}

/* Rows i0.. of the kernel: a row of V holds an eigenvector. self[j] = k_jj. */
static okra_status kernel_rows(okra_context *ctx, okra_mat_ V, const double *x,
                               double beta, okra_mat_ scaled, okra_mat_ K, double *self)
{
    okra_int n = V.rows;
    okra_fill_(n, 0, self);
    for (okra_int r = 0; r < n; r++) {
        double e = exp(-beta * fmax(x[r], 0));
        const double *v = V.p + r * V.ld;
        for (okra_int j = 0; j < n; j++) {
            scaled.p[r * scaled.ld + j] = e * v[j];
            self[j] += e * v[j] * v[j];
        }
    }
    return okra_engine_gemm_(ctx, true, false, 1, okra_mat_part_(V, 0, n, 0, K.rows),
                             scaled, 0, K);
}

okra_status okra_link_beta(okra_context *context, okra_int nodes, const okra_link *edges,
                           okra_int edge_count, double *beta)
{
    if (edge_count > 0) {
        NOT_NULL(edges);
    }
    NOT_NULL(beta);
    FREED_BY(okra_network_drop_) okra_network_ *network = NULL;
    OWNED okra_link_ *list = NULL;
    OWNED double *x = NULL, *self = NULL;
    FREED_BY(okra_mat_drop_) okra_mat_ V = {0}, scaled = {0}, K = {0};
    double degree = 0;
    double best = -1, chosen = 0;
    REFUSE_IF(edge_count < 1, OKRA_EARG, "there is no edge to choose beta by");
    MAKE(list, edge_count);
    for (okra_int k = 0; k < edge_count; k++) {
        list[k] = (okra_link_){edges[k].a, edges[k].b, edges[k].value};
        degree += 2 * edges[k].value / (double)nodes;
    }
    CHK(okra_network_create_(nodes, list, edge_count, NULL, NULL, &network));
    okra_int rows = OKRA_MIN_(nodes, ROWS);
    CHK(okra_mat_room_(context, nodes, nodes, "the Laplacian of the network", &V));
    CHK(okra_mat_room_(context, nodes, nodes, "scaled eigenvectors", &scaled));
    CHK(okra_mat_room_(context, rows, nodes, "rows of the kernel", &K));
    MAKE(x, nodes);
    MAKE(self, nodes);
    CHK(laplacian(context, network, V, x));
    for (int c = 0; c < CANDIDATES; c++) {
        double candidate = pow(10, -1 + 0.1 * c) / degree;
        CHK(okra_cancelled_(context));
        CHK(kernel_rows(context, V, x, candidate, scaled, K, self));
        double information = okra_similarity_entropy_(K, self);
        if (information > best) {
            best = information;
            chosen = candidate;
        }
        okra_progress_(context, "choose beta", c + 1, CANDIDATES);
    }
    *beta = chosen;
    return OKRA_OK;
}

/* ---- the task ---- */

static okra_status place_nodes(const okra_link_task *task, okra_link_parts_ *p)
{
    okra_int nodes = task->x->n, n = task->labelled_count;
    MAKE(p->place, nodes);
    MAKE(p->labelled, n);
    MAKE(p->fresh, OKRA_MAX_(nodes - n, 0));
    for (okra_int i = 0; i < nodes; i++) {
        p->place[i] = -1;
    }
    for (okra_int k = 0; k < n; k++) {
        okra_int node = task->labelled[k];
        REFUSE_IF(node < 0 || node >= nodes, OKRA_EARG,
                  "labelled node %lld; there are %lld nodes, counted from 0",
                  (long long)node, (long long)nodes);
        REFUSE_IF(p->place[node] >= 0, OKRA_EARG,
                  "node %lld is among the labelled ones twice", (long long)node);
        p->place[node] = k;
        p->labelled[k] = node;
    }
    for (okra_int i = 0; i < nodes; i++) {
        if (p->place[i] < 0) {
            p->place[i] = -1 - p->fresh_count;
            p->fresh[p->fresh_count++] = i;
        }
    }
    return OKRA_OK;
}

static okra_status make_network(const okra_link_task *task, okra_link_parts_ *p)
{
    OWNED okra_link_ *edges = NULL;
    okra_int bad = 0;
    REFUSE_IF(task->edge_count < 1, OKRA_EARG,
              "there is no known edge: links are learned from known ones");
    MAKE(edges, task->edge_count);
    for (okra_int k = 0; k < task->edge_count; k++) {
        const okra_link *e = &task->edges[k];
        const okra_int ends[] = {e->a, e->b};
        for (int side = 0; side < 2; side++) {
            REFUSE_IF(
                ends[side] < 0 || ends[side] >= task->x->n || p->place[ends[side]] < 0,
                OKRA_EARG,
                "edge %lld (nodes %lld and %lld): node %lld is not a "
                "labelled node",
                (long long)k, (long long)e->a, (long long)e->b, (long long)ends[side]);
        }
        edges[k] = (okra_link_){p->place[e->a], p->place[e->b], e->value};
    }
    okra_status st = okra_network_create_(task->labelled_count, edges, task->edge_count,
                                          NULL, &bad, &p->network);
    if (st == OKRA_EFORMAT) {
        okra_message_prefix_("edge %lld (nodes %lld and %lld)", (long long)bad,
                             (long long)task->edges[bad].a,
                             (long long)task->edges[bad].b);
        st = OKRA_EARG;
    }
    return st;
}

/* ky: as set, else the diffusion kernel of the known network. */
static okra_status output_kernel(okra_context *ctx, const okra_link_task *task,
                                 const okra_link_settings *s, okra_link_parts_ *p)
{
    bool set = okra_options_is_set(p->fit, "ky");
    OWNED okra_link *local = NULL;
    if (task->gram) {
        REFUSE_IF(set &&
                      !okra_kernel_has(okra_options_get(p->fit, "ky"), OKRA_KERNEL_GIVEN),
                  OKRA_EARG,
                  "ky is '%s', but the Gram matrix of the labelled nodes is given: "
                  "expected precomputed",
                  okra_options_get(p->fit, "ky"));
        REFUSE_IF(task->gram->n != task->labelled_count, OKRA_ESHAPE,
                  "the Gram matrix of the labelled nodes has %lld rows, there are %lld "
                  "labelled nodes",
                  (long long)task->gram->n, (long long)task->labelled_count);
        p->y = okra_data_retain(task->gram);
        return set ? OKRA_OK : okra_options_set(p->fit, "ky", "precomputed");
    }
    CHK(okra_nodes_create_(p->network, NULL, p->network->nodes, "the labelled nodes",
                           &p->y));
    if (!set) {
        char text[64];
        double beta = s->beta;
        if (beta == 0) {
            MAKE(local, task->edge_count);
            for (okra_int k = 0; k < task->edge_count; k++) {
                const okra_link *e = &task->edges[k];
                local[k] = (okra_link){p->place[e->a], p->place[e->b], e->value};
            }
            CHK(okra_link_beta(ctx, task->labelled_count, local, task->edge_count,
                               &beta));
        }
        const okra_method_ *method =
            okra_method_find_(okra_options_get(p->fit, "method"));
        bool alike = s->norm > 0 && method && !method->linker;
        snprintf(text, sizeof text, "diffusion(beta=%.17g)%s", beta,
                 alike ? " | normalize" : "");
        CHK(okra_options_set(p->fit, "ky", text));
    }
    return OKRA_OK;
}

/* The labelled nodes; with lambda2 > 0 also the new ones, or those of them that are named
 * (each once). */
static okra_status choose_inputs(const okra_link_settings *s, okra_int nodes, okra_int n,
                                 okra_link_parts_ *p)
{
    const char *lambda2 = okra_options_get(p->fit, "lambda2");
    OWNED bool *named = NULL;
    bool semi = lambda2 && okra_strtod_(lambda2, NULL) > 0;
    const okra_int *help = s->unlabelled ? s->unlabelled : p->fresh;
    okra_int count = s->unlabelled ? s->unlabelled_count : p->fresh_count;
    ZMAKE(named, nodes);
    for (okra_int i = 0; i < count; i++) {
        REFUSE_IF(help[i] < 0 || help[i] >= nodes || p->place[help[i]] >= 0 ||
                      named[help[i]],
                  OKRA_EARG, "unlabelled node %lld: expected new nodes, each once",
                  (long long)help[i]);
        named[help[i]] = true;
    }
    p->input_count = n + (semi ? count : 0);
    MAKE(p->inputs, p->input_count);
    for (okra_int i = 0; i < p->input_count; i++) {
        p->inputs[i] = i < n ? p->labelled[i] : help[i - n];
    }
    return OKRA_OK;
}

/* The kernel of one side becomes EXPR | SPEC where low rank is asked for. */
static okra_status follow(okra_options *fit, const char *kernel, const char *option)
{
    const char *both = okra_options_get(fit, "low-rank"),
               *one = okra_options_get(fit, option), *spec = *both ? both : one;
    OWNED char *text = NULL;
    okra_low_ low;
    REFUSE_IF(*both && *one, OKRA_EARG,
              "low-rank stands for low-rank-x and low-rank-y: give either it or these");
    if (*spec) {
        CHK(okra_low_read_(option, spec, &low));
        GOT(text = okra_format_("%s | %s", okra_options_get(fit, kernel), spec));
        CHK(okra_options_set(fit, kernel, text));
        CHK(okra_options_set(fit, option, ""));
    }
    return OKRA_OK;
}

okra_status okra_link_parts_create_(okra_context *ctx, const okra_link_task *task,
                                    const okra_options *options,
                                    const okra_link_settings *s, okra_link_parts_ *out)
{
    FREED_BY(okra_link_parts_clear_) okra_link_parts_ p = {0};
    NOT_NULL(task->x, task->labelled);
    if (task->edge_count > 0) {
        NOT_NULL(task->edges);
    }
    REFUSE_IF(!(s->beta >= 0 && s->beta <= 1e300), OKRA_EARG,
              "beta is %g, expected a number that is not negative", s->beta);
    REFUSE_IF(!(s->norm >= 0 && s->norm <= 1), OKRA_EARG,
              "norm is %g, expected a number from 0 to 1", s->norm);
    REFUSE_IF(task->x->kind == OKRA_GRAM && task->x->n != task->x->d, OKRA_ESHAPE,
              "%s is a Gram matrix of %lld x %lld, expected nodes x nodes",
              task->x->source, (long long)task->x->n, (long long)task->x->d);
    CHK(place_nodes(task, &p));
    CHK(make_network(task, &p));
    CHK(options ? okra_options_copy(options, &p.fit) : okra_fit_options(&p.fit));
    CHK(choose_inputs(s, task->x->n, task->labelled_count, &p));
    CHK(output_kernel(ctx, task, s, &p));
    /* Scores need the weights of every method, which a factored form may not have. */
    CHK(follow(p.fit, "kx", "low-rank-x"));
    CHK(follow(p.fit, "ky", "low-rank-y"));
    CHK(okra_options_set(p.fit, "low-rank", ""));
    *out = TAKE(p);
    return OKRA_OK;
}

void okra_link_parts_clear_(okra_link_parts_ *p)
{
    FREE(p->place, p->labelled, p->fresh, p->inputs);
    okra_network_free_(p->network);
    okra_data_free(p->y);
    okra_options_free(p->fit);
    *p = (okra_link_parts_){0};
}

/* ---- collections of nodes ---- */

okra_status okra_link_take_(okra_context *ctx, const okra_data *x, const okra_int *rows,
                            okra_int row_count, const okra_int *cols, okra_int col_count,
                            okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *taken = NULL;
    double *values = NULL, *diagonal = NULL;
    if (x->kind != OKRA_GRAM) {
        return okra_data_take(x, rows, row_count, out);
    }
    CHK(okra_data_new_(OKRA_GRAM, row_count, col_count, x->source, &taken));
    CHK(okra_doubles_(ctx, row_count, col_count, "a part of the Gram matrix", &values));
    okra_data_own_(taken, values);
    MAKE(diagonal, row_count);
    okra_data_own_(taken, diagonal);
    for (okra_int r = 0; r < row_count; r++) {
        const double *row = x->values + rows[r] * x->ld;
        diagonal[r] = row[rows[r]];
        for (okra_int c = 0; c < col_count; c++) {
            values[r * col_count + c] = row[cols[c]];
        }
    }
    taken->values = values;
    taken->ld = col_count;
    taken->diagonal = diagonal;
    CHK(okra_weights_take_(&x, 1, rows, row_count, taken));
    *out = TAKE(taken);
    return OKRA_OK;
}

OKRA_DROPS_(drop_links, okra_links, okra_links_free)

okra_status okra_link_fit(okra_context *context, const okra_link_task *task,
                          const okra_options *options, const okra_link_settings *settings,
                          okra_links **out)
{
    FREED_BY(okra_link_parts_clear_) okra_link_parts_ p = {0};
    FREED_BY(drop_links) okra_links *l = NULL;
    FREED_BY(okra_data_drop_) okra_data *x = NULL;
    okra_link_settings known = {OKRA_SIZED(okra_link_settings), .beta = 1};
    NOT_NULL(task, out);
    SIZED(settings, &known);
    okra_int n = task->labelled_count;
    CHK(okra_link_parts_create_(context, task, options, &known, &p));
    CHK(okra_link_take_(context, task->x, p.inputs, p.input_count, p.inputs,
                        p.input_count, &x));
    ZMAKE(l, 1);
    l->nodes = task->x->n;
    l->known = known.known;
    CHK(okra_fit(context, x, p.y, p.fit, &l->model));
    okra_group_ *group = l->group;
    group[OKRA_LABELLED_].count = n;
    group[OKRA_NEW_].count = p.fresh_count;
    group[OKRA_LABELLED_].node = p.labelled;
    group[OKRA_NEW_].node = p.fresh;
    l->place = p.place;
    l->network = p.network;
    l->options = p.fit;
    p.labelled = p.fresh = p.place = NULL;
    p.network = NULL;
    p.fit = NULL;
    for (int g = 0; g < OKRA_GROUPS_; g++) {
        CHK(okra_link_take_(context, task->x, group[g].node, group[g].count, p.inputs,
                            p.input_count, &group[g].x));
    }
    const okra_linker_ *linker = l->model->method->linker;
    l->width = linker ? linker->width(l->model->store) : n;
    l->norm = linker ? 0 : known.norm;
    REFUSE_IF(linker && l->known, OKRA_EARG,
              "method %s has no use for known: it has no h(u) to replace",
              l->model->method->name);
    REFUSE_IF(linker && known.norm > 0, OKRA_EARG,
              "method %s has a score of its own: norm has no use",
              l->model->method->name);
    if (linker && linker->kernel != OKRA_LINKER_NO_KERNEL_) {
        CHK(okra_data_copy(task->x, &l->all));
    }
    *out = TAKE(l);
    return OKRA_OK;
}

void okra_links_free(okra_links *l)
{
    if (l) {
        for (int g = 0; g < OKRA_GROUPS_; g++) {
            okra_free_(l->group[g].node);
            okra_data_free(l->group[g].x);
            FREE(l->group[g].P, l->group[g].Q, l->group[g].size);
            okra_trained_kernel_free_(l->group[g].bound);
            okra_data_free(l->group[g].columns);
        }
        okra_model_free(l->model);
        okra_options_free(l->options);
        okra_data_free(l->all);
        okra_network_free_(l->network);
        FREE(l->place, l);
    }
}

const char *okra_links_json(const okra_links *links)
{
    return links ? okra_model_json(links->model) : NULL;
}

okra_status okra_link_edges(const okra_data *nodes, okra_link **edges, okra_int *count)
{
    NOT_NULL(nodes, edges, count);
    okra_int found = 0;
    REFUSE_IF(nodes->kind != OKRA_NODES, OKRA_EARG,
              "%s holds %s, expected nodes of a network", nodes->source,
              okra_kind_name(nodes->kind));
    const okra_csr_ *w = &nodes->network->adjacency;
    okra_int all = nodes->network->nodes;
    MAKE(*edges, w->indptr[all] / 2);
    for (okra_int i = 0; i < all; i++) {
        for (okra_int k = w->indptr[i]; k < w->indptr[i + 1]; k++) {
            if (w->indices[k] > i) {
                (*edges)[found++] = (okra_link){i, w->indices[k], w->values[k]};
            }
        }
    }
    *count = found;
    return OKRA_OK;
}
