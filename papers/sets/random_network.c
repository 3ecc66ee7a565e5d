/*
 * random_network.c: networks whose inputs are components of their own kernel.
 */
#include "random_network.h"
#include "okra/more/features.h"
#include "okra/more/link.h"
#include "okra/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = RANDOM_NETWORK_NODES };

static okra_status draw(uint64_t seed, const random_law *s, okra_data **nodes,
                        network *net)
{
    okra_link *edges = NULL;
    okra_int count = 0;
    okra_status st =
        okra_synthetic_network(seed, NODES, s->classes, s->intra, s->inter, nodes);
    if (st == OKRA_OK) {
        st = okra_link_edges(*nodes, &edges, &count);
    }
    if (st == OKRA_OK) {
        net->edges = malloc((size_t)(count + 1) * sizeof *net->edges);
        if (net->edges) {
            memcpy(net->edges, edges, (size_t)count * sizeof *edges);
            net->edge_count = count;
            net->nodes = NODES;
        } else {
            st = okra_fail(OKRA_EMEM, "no memory for a network");
        }
    }
    okra_link_list_free(edges);
    return st;
}

/* The scores of all nodes on all components of the diffusion kernel of the whole network:
 * the inputs. What is to be predicted comes from the edges of the labelled nodes alone.
 */
static okra_status describe(paper_run *run, const okra_data *nodes, double beta,
                            okra_data **scores)
{
    char text[80];
    okra_kernel *kernel = NULL;
    snprintf(text, sizeof text, "diffusion(beta=%.17g) | center", beta);
    okra_status st = okra_kernel_parse(text, &kernel);
    if (st == OKRA_OK) {
        st = okra_kernel_inputs(paper_context(run), kernel, nodes, 1, scores);
    }
    okra_kernel_free(kernel);
    return st;
}

/* The diffusion kernel of the whole network. */
static okra_status whole_kernel(paper_run *run, const okra_data *nodes, double beta,
                                double **out)
{
    char text[80];
    okra_kernel *kernel = NULL;
    snprintf(text, sizeof text, "diffusion(beta=%.17g)", beta);
    *out = malloc(sizeof **out * NODES * NODES);
    okra_status st = *out ? okra_kernel_parse(text, &kernel)
                          : okra_fail(OKRA_EMEM, "no memory for a network");
    if (st == OKRA_OK) {
        st = okra_gram(paper_context(run), kernel, nodes, NULL, *out, NODES);
    }
    okra_kernel_free(kernel);
    return st;
}

void random_network_outputs(random_network *r, bool whole)
{
    r->net.kernel = whole ? r->whole : NULL;
    if (whole) {
        snprintf(r->ky, sizeof r->ky, "ky=precomputed");
    } else {
        snprintf(r->ky, sizeof r->ky, "ky=diffusion(beta=%.17g)", r->beta);
    }
}

okra_status random_network_truncate(random_network *r, double inertia)
{
    okra_data *scores = r->scores;
    okra_int ld, width = okra_data_width(scores), count = 0;
    const double *v = okra_data_values(scores, &ld);
    double *square = calloc((size_t)width, sizeof *square), total = 0, held = 0;
    if (!square) {
        return okra_fail(OKRA_EMEM, "no memory for components");
    }
    for (okra_int j = 0; j < width; j++) {
        for (okra_int i = 0; i < NODES; i++) {
            square[j] += v[i * ld + j] * v[i * ld + j];
        }
        total += square[j];
    }
    while (count < width && (inertia >= 1 || held < inertia * total)) {
        held += square[count++];
    }
    free(square);
    okra_data_free(r->net.x);
    r->net.x = NULL;
    return paper_columns(scores, NODES, 0, count, 1, &r->net.x);
}

/* Again while the first `labelled` nodes have no edge. */
static okra_status choose_nodes(uint64_t seed, const network *net, okra_int labelled,
                                okra_int **order)
{
    okra_status st = OKRA_OK;
    okra_int count = 0;
    for (int t = 0; st == OKRA_OK && count == 0 && t < 100; t++) {
        okra_link *edges = NULL;
        free(*order);
        *order = NULL;
        st = network_shuffle(seed + 1000 * (uint64_t)t, NODES, order);
        if (st == OKRA_OK) {
            st = network_known(net, *order, labelled, &edges, &count);
        }
        free(edges);
    }
    return st;
}

okra_status random_network_again(random_network *r, uint64_t choice, okra_int labelled)
{
    return choose_nodes(choice, &r->net, labelled, &r->order);
}

void random_network_clear(random_network *r)
{
    r->net.kernel = NULL; /* borrowed */
    network_clear(&r->net);
    free(r->whole);
    okra_data_free(r->scores);
    free(r->order);
    *r = (random_network){.order = NULL};
}

okra_status random_network_make(paper_run *run, const random_law *law, uint64_t seed,
                                uint64_t choice, okra_int labelled, random_network *out)
{
    random_network r = {.order = NULL};
    okra_data *nodes = NULL;
    r.beta = law->beta;
    random_network_outputs(&r, false);
    okra_status st = draw(seed, law, &nodes, &r.net);
    if (st == OKRA_OK) {
        st = describe(run, nodes, law->beta, &r.scores);
    }
    if (st == OKRA_OK) {
        st = whole_kernel(run, nodes, law->beta, &r.whole);
    }
    if (st == OKRA_OK) {
        st = choose_nodes(choice, &r.net, labelled, &r.order);
    }
    okra_data_free(nodes);
    if (st == OKRA_OK) {
        *out = r;
    } else {
        random_network_clear(&r);
    }
    return st;
}

/* ---- selection ---- */

double random_network_scale(const random_network *r)
{
    const okra_data *x = r->net.x;
    okra_int ld, n = okra_data_count(x), d = okra_data_width(x);
    const double *v = okra_data_values(x, &ld);
    double sum = 0;
    for (okra_int j = 0; j < d; j++) {
        double mean = 0, square = 0;
        for (okra_int i = 0; i < n; i++) {
            mean += v[i * ld + j] / (double)n;
            square += v[i * ld + j] * v[i * ld + j] / (double)n;
        }
        sum += 2 * (square - mean * mean);
    }
    return sqrt(sum);
}

void random_network_say(random_choice *c, double sigma, double lambda, double lambda2)
{
    snprintf(c->kx, sizeof c->kx, "kx=rbf(sigma=%.10g)", sigma);
    snprintf(c->lambda, sizeof c->lambda, "lambda=%.10g", lambda);
    snprintf(c->lambda2, sizeof c->lambda2, "lambda2=%.10g", lambda2);
}

/* The widths of okra's own rule (docs/selection.md). The widest kernel first: it wins
 * ties, of which few edges make many. */
static const double sigma_factors[] = {4, 2, 1, 0.5, 0.25};
static const double lambdas[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
enum { SIGMAS = sizeof sigma_factors / sizeof *sigma_factors };
enum { LAMBDAS = sizeof lambdas / sizeof *lambdas };

bool random_network_cell(const random_network *r, int k, random_choice *c)
{
    if (k < SIGMAS * LAMBDAS) {
        random_network_say(c, random_network_scale(r) * sigma_factors[k / LAMBDAS],
                           lambdas[k % LAMBDAS], 0);
    }
    return k < SIGMAS * LAMBDAS;
}

okra_status random_network_choose(paper_run *run, const random_network *r,
                                  okra_int labelled, random_choice *c)
{
    double best = -1, scale = random_network_scale(r);
    okra_status st = OKRA_OK;
    for (int s = 0; st == OKRA_OK && s < SIGMAS; s++) {
        double roc[LAMBDAS];
        random_choice now;
        random_network_say(&now, scale * sigma_factors[s], 1, 0);
        const char *const options[] = {now.kx, r->ky, NULL};
        st = network_leave(run, &r->net, r->order, labelled, options, lambdas, LAMBDAS,
                           roc, NULL);
        for (int l = 0; st == OKRA_OK && l < LAMBDAS; l++) {
            if (roc[l] > best) {
                best = roc[l];
                random_network_say(c, scale * sigma_factors[s], lambdas[l], 0);
            }
        }
    }
    return st;
}
