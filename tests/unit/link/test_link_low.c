/*
 * Scores of links with kernels of low rank: equal to those of the same method on Gram
 * matrices Phi Phi' that are written out, new nodes by features of the labelled ones.
 */
#include "../model/lowrank_naive.h"
#include "toy.h"
#include "okra/more/link.h"
#include "okra/more/ranking.h"

static const char *const methods[] = {
    "ridge operator=identity", "knn", "naive", "kcca", "kml", "local", "em", "pkmr",
    "ok3 features=1"};
enum { METHODS = sizeof methods / sizeof *methods, SEEDS = 6 };

/* Scores of all pairs, or of those with a labelled node, where they lie in S. */
static void score(const toy *t, const char *method, const char *kernels, bool all,
                  double *S)
{
    okra_links *links = NULL;
    okra_link *list = NULL;
    okra_int count = 0;
    char text[5][64], *at = NULL, both[200];
    const char *texts[8] = {NULL};
    int k = 0;
    snprintf(both, sizeof both, "method=%s %s", method, kernels);
    for (char *word = strtok_r(both, " ", &at); word; word = strtok_r(NULL, " ", &at)) {
        snprintf(text[k], sizeof text[k], "%s", word);
        texts[k] = text[k];
        k++;
    }
    okra_options *o = toy_options(texts);
    CHECK_OK(okra_link_fit(NULL, &t->task, o, NULL, &links));
    okra_options_free(o);
    CHECK_OK(okra_link_rank(NULL, links, all ? OKRA_LINK_ALL : OKRA_LINK_LABELLED_NEW, 0,
                            -(double)INFINITY, &list, &count));
    memset(S, 0, SQUARE * sizeof *S);
    for (okra_int i = 0; i < count; i++) {
        S[list[i].a * NODES + list[i].b] = S[list[i].b * NODES + list[i].a] =
            list[i].value;
    }
    okra_link_list_free(list);
    okra_links_free(links);
}

/* Support vectors stop where a last digit sends them: values against labelled nodes as
 * the kernel has them. */
static void own_values(const toy *t, const char *kernel, double *G)
{
    okra_kernel *k = NULL;
    okra_data *labelled = NULL, *fresh = NULL;
    double square[SQUARE], cross[SQUARE];
    CHECK_OK(okra_kernel_parse(kernel, &k));
    CHECK_OK(okra_data_take(t->data, t->labelled, t->n, &labelled));
    CHECK_OK(okra_data_take(t->data, t->fresh, t->m, &fresh));
    CHECK_OK(okra_gram(NULL, k, labelled, NULL, square, t->n));
    CHECK_OK(okra_gram(NULL, k, fresh, labelled, cross, t->n));
    for (okra_int i = 0; i < NODES * t->n; i++) {
        okra_int u = i / t->n, a = u < t->n ? t->labelled[u] : t->fresh[u - t->n];
        okra_int b = t->labelled[i % t->n];
        double value = u < t->n ? square[i] : cross[i - t->n * t->n];
        G[a * NODES + b] = G[b * NODES + a] = value;
    }
    okra_data_free(labelled);
    okra_data_free(fresh);
    okra_kernel_free(k);
}

/* Ten times the worst over 100 seeds, which was 9.8e-13 (em). */
static const double tolerance = 1e-11;

TEST(inputs_of_low_rank)
{
    for (int c = 0; c < METHODS * SEEDS; c++) {
        const char *method = methods[c % METHODS];
        toy t;
        double low[SQUARE], given[SQUARE], G[SQUARE];
        char text[80];
        okra_data *gram = NULL;
        bool local =
            strncmp(method, "local", 5) == 0; /* has no scores of two new nodes */
        int round = c / METHODS, rank = round % 2 ? 3 : 8;
        toy_make(&t, (uint64_t)c, 8, 0.4);
        lowrank_naive(NODES, t.K, t.labelled, t.n, rank, G);
        snprintf(text, sizeof text, "%s|chol(rank=%d,tol=0)", TOY_KX, rank);
        if (local) {
            own_values(&t, text, G);
        }
        snprintf(text, sizeof text, "kx=%s%schol(rank=%d,tol=0)", TOY_KX,
                 round % 3 ? " low-rank-x=" : "|", rank);
        score(&t, method, text, !local, low);
        CHECK_OK(okra_data_gram(G, NODES, NODES, NODES, NULL, &gram));
        t.task.x = gram;
        score(&t, method, "kx=precomputed", !local, given);
        CHECK_NEAR(harness_relative(SQUARE, low, given), 0, tolerance);
        okra_data_free(gram);
        toy_free(&t);
    }
}

/* Outputs: of the kernel of the known network. */
TEST(outputs_of_low_rank)
{
    for (int c = 0; c < METHODS * SEEDS; c++) {
        const char *method = methods[c % METHODS];
        toy t;
        double low[SQUARE], given[SQUARE], L[SQUARE], G[SQUARE];
        okra_int among[NODES];
        okra_data *gram = NULL;
        bool local = strncmp(method, "local", 5) == 0;
        if (local || strcmp(method, "kml") == 0) {
            continue; /* they learn from the edges, not from their kernel */
        }
        toy_make(&t, (uint64_t)c, 8, 0.4);
        toy_diffusion(&t, 1, L);
        for (okra_int i = 0; i < t.n; i++) {
            among[i] = i;
        }
        lowrank_naive(t.n, L, among, t.n, 4, G);
        score(&t, method, "kx=" TOY_KX " ky=diffusion(beta=1) low-rank-y=chol(rank=4)",
              !local, low);
        CHECK_OK(okra_data_gram(G, t.n, t.n, t.n, NULL, &gram));
        t.task.gram = gram;
        score(&t, method, "kx=" TOY_KX " ky=precomputed", !local, given);
        CHECK_NEAR(harness_relative(SQUARE, low, given), 0, tolerance);
        okra_data_free(gram);
        toy_free(&t);
    }
}

/* Left-out scores of training pairs: the option is the kernel, both sides at once. */
TEST(left_out_pairs)
{
    static const char *const low[] = {"kx=" TOY_KX, "ky=diffusion(beta=1)",
                                      "low-rank=chol(rank=4)", NULL};
    static const char *const kernels[] = {"kx=" TOY_KX "|chol(rank=4)",
                                          "ky=diffusion(beta=1)|chol(rank=4)", NULL};
    toy t;
    double lambda[] = {0.1, 1}, roc[2][2], pr[2][2];
    toy_make(&t, 1, 9, 0.4);
    for (int k = 0; k < 2; k++) {
        okra_options *o = toy_options(k ? kernels : low);
        okra_links *links = NULL;
        okra_ranking *ranking = NULL;
        bool left_out = false;
        CHECK_OK(okra_link_leave(NULL, &t.task, o, NULL, lambda, 2, roc[k], pr[k]));
        CHECK_OK(okra_link_fit(NULL, &t.task, o, NULL, &links));
        CHECK_OK(okra_link_training(NULL, links, &ranking, &left_out));
        CHECK(left_out && okra_ranking_auc_roc(ranking) == roc[k][0]);
        okra_ranking_free(ranking);
        okra_links_free(links);
        okra_options_free(o);
    }
    CHECK(memcmp(roc[0], roc[1], sizeof *roc) == 0);
    CHECK(memcmp(pr[0], pr[1], sizeof *pr) == 0);
    toy_free(&t);
}

TEST(refused)
{
    static const char *const bad[][3] = {
        {"low-rank=chol(rank=3)", "low-rank-y=chol(rank=3)", "either it"},
        {"low-rank-x=chul(rank=3)", "kx=" TOY_KX, "low-rank-x: "},
        {"low-rank-y=chol", "kx=" TOY_KX, "low-rank-y: "}};
    toy t;
    toy_make(&t, 1, 9, 0.4);
    for (int k = 0; k < 3; k++) {
        const char *const texts[] = {bad[k][0], bad[k][1], NULL};
        okra_options *o = toy_options(texts);
        okra_links *links = NULL;
        CHECK_FAILS(okra_link_fit(NULL, &t.task, o, NULL, &links), OKRA_EARG, bad[k][2]);
        okra_options_free(o);
    }
    toy_free(&t);
}

static okra_status fit_and_rank(const toy *t, const okra_options *o)
{
    okra_links *links = NULL;
    okra_link *list = NULL;
    okra_int count;
    okra_status st = okra_link_fit(NULL, &t->task, o, NULL, &links);
    st = st ? st : okra_link_rank(NULL, links, OKRA_LINK_ALL, 0, 0, &list, &count);
    okra_link_list_free(list);
    okra_links_free(links);
    return st;
}

TEST(allocations)
{
    static const char *const texts[] = {"kx=" TOY_KX, "method=naive",
                                        "low-rank=nystrom(rank=3)", NULL};
    toy t;
    toy_make(&t, 1, 5, 0.4);
    okra_options *o = toy_options(texts);
    CHECK_ALLOCATIONS(fit_and_rank(&t, o), (void)0);
    okra_options_free(o);
    toy_free(&t);
}

MAIN(RUN(left_out_pairs), RUN(refused), RUN(allocations), RUN(inputs_of_low_rank),
     RUN(outputs_of_low_rank))
