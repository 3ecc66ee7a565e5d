/*
 * Scores of links against W L W' written out, the ways to ask for them against one
 * another, and tasks that cannot be done.
 */
#include "toy.h"
#include "okra/more/link.h"
#include "okra/more/ranking.h"
#include "okra/program.h"

static const char *const ridge[] = {"kx=" TOY_KX, "lambda=0.1", NULL};

/* Worst over these seeds: 6.4e-14 of the largest score (or of 1), most of it from the ten
 * squarings of the reference. */
static const double tolerance = 6e-13;

TEST(scores_equal_the_formula)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        toy t;
        double L[SQUARE], W[SQUARE], S[SQUARE];
        toy_make(&t, seed, 2 + (okra_int)(seed % (NODES - 1)), seed % 4 ? 0.3 : 0);
        okra_link_settings settings = {OKRA_SIZED(okra_link_settings), .beta = 0.7};
        toy_diffusion(&t, 0.7, L);
        toy_weights(&t, 0.1, W);
        toy_scores(&t, W, L, S);
        okra_links *links = toy_fit(&t, ridge, &settings);
        CHECK(toy_compare(links, OKRA_LINK_LABELLED_NEW, S, tolerance) == t.n * t.m);
        CHECK(toy_compare(links, OKRA_LINK_NEW_NEW, S, tolerance) == t.m * (t.m - 1) / 2);
        toy_compare(links, OKRA_LINK_ALL, S, tolerance);
        /* any pair, in any order */
        for (okra_int u = 0; u < NODES; u++) {
            for (okra_int v = 0; v < u; v++) {
                okra_link two[] = {{u, v, 0}, {v, u, 0}};
                CHECK_OK(okra_link_score(NULL, links, two, 2));
                CHECK_NEAR(two[0].value, S[u * NODES + v], tolerance * 3);
                CHECK_NEAR(two[1].value, S[u * NODES + v], tolerance * 3);
            }
        }
        okra_links_free(links);
        /* labelled nodes stand for themselves */
        for (okra_int i = 0; i < t.n * t.n; i++) {
            W[t.labelled[i / t.n] * t.n + i % t.n] = i / t.n == i % t.n;
        }
        toy_scores(&t, W, L, S);
        settings.known = true;
        links = toy_fit(&t, ridge, &settings);
        toy_compare(links, OKRA_LINK_ALL, S, tolerance);
        okra_links_free(links);
        toy_free(&t);
    }
}

TEST(scores_over_sizes)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        toy t;
        double L[SQUARE], W[SQUARE], S[SQUARE], C[SQUARE];
        toy_make(&t, seed, 3 + (okra_int)(seed % (NODES - 3)), 0.3);
        okra_link_settings settings = {OKRA_SIZED(okra_link_settings), .beta = 0.7,
                                       .norm = seed % 2 ? 1 : 0.75};
        toy_diffusion(&t, 0.7, L);
        toy_normalize(&t, L);
        toy_weights(&t, 0.1, W);
        for (int known = 0; known < 2; known++) {
            for (okra_int i = 0; known && i < t.n * t.n; i++) {
                W[t.labelled[i / t.n] * t.n + i % t.n] = i / t.n == i % t.n;
            }
            toy_scores(&t, W, L, S);
            for (okra_int k = 0; k < SQUARE; k++) {
                double sizes = S[k / NODES * (NODES + 1)] * S[k % NODES * (NODES + 1)];
                C[k] = S[k] / pow(sizes, settings.norm / 2);
            }
            settings.known = known;
            okra_links *links = toy_fit(&t, ridge, &settings);
            toy_compare(links, OKRA_LINK_ALL, C, 1e-11);
            okra_links_free(links);
        }
        settings.norm = 2;
        okra_links *none = NULL;
        okra_options *o = toy_options(ridge);
        CHECK_FAILS(okra_link_fit(NULL, &t.task, o, &settings, &none), OKRA_EARG,
                    "norm is 2, expected a number from 0 to 1");
        settings.norm = 1;
        settings.known = false;
        okra_options_free(o);
        o = toy_options((const char *[]){"kx=" TOY_KX, "method=naive", NULL});
        CHECK_FAILS(okra_link_fit(NULL, &t.task, o, &settings, &none), OKRA_EARG,
                    "method naive has a score of its own: norm has no use");
        okra_options_free(o);
        toy_free(&t);
    }
}

/* By the links and by the mean similarities of the labelled ends; the mean of a new one.
 */
TEST(baselines_know_the_labelled_ends_alone)
{
    toy t;
    double L[SQUARE], value[2][NODES], mean[2] = {0};
    toy_make(&t, 4, 8, 0.4);
    const okra_link_settings settings = {OKRA_SIZED(okra_link_settings), .beta = 1,
                                         .norm = 1};
    toy_diffusion(&t, 1, L);
    toy_normalize(&t, L);
    for (okra_int i = 0; i < t.n; i++) {
        value[0][i] = value[1][i] = 0;
        for (okra_int j = 0; j < t.n; j++) {
            value[0][i] += t.A[i * t.n + j] > 0;
            value[1][i] += L[i * t.n + j] / (double)t.n;
        }
        mean[0] += value[0][i] / (double)t.n;
        mean[1] += value[1][i] / (double)t.n;
    }
    okra_links *links = toy_fit(&t, ridge, &settings);
    for (int b = 0; b < 2; b++) {
        double score[SQUARE];
        unsigned char positive[SQUARE];
        okra_int count = 0;
        okra_ranking *want = NULL, *got = NULL;
        for (okra_int u = 0; u < t.m; u++) {
            for (okra_int v = 0; v < t.n + u; v++) {
                okra_int other = v < t.n ? t.labelled[v] : t.fresh[v - t.n];
                positive[count] = 0;
                for (okra_int k = 0; k < t.truth_count; k++) {
                    const okra_link *e = &t.truth[k];
                    positive[count] |= (e->a == other && e->b == t.fresh[u]) ||
                                       (e->b == other && e->a == t.fresh[u]);
                }
                score[count++] = mean[b] + (v < t.n ? value[b][v] : mean[b]);
            }
        }
        CHECK_OK(okra_ranking_create(count, score, positive, &want));
        CHECK_OK(okra_link_evaluate_baseline(NULL, links, OKRA_LINK_ALL,
                                             (okra_link_baseline)b, t.truth,
                                             t.truth_count, &got));
        CHECK_NEAR(okra_ranking_auc_roc(got), okra_ranking_auc_roc(want), 1e-12);
        CHECK_NEAR(okra_ranking_auc_pr(got), okra_ranking_auc_pr(want), 1e-12);
        okra_ranking_free(want);
        okra_ranking_free(got);
    }
    okra_links_free(links);
    toy_free(&t);
}

TEST(gram_matrices_in_place_of_kernels)
{
    toy t;
    double L[SQUARE], W[SQUARE], S[SQUARE];
    okra_data *K = NULL, *G = NULL;
    toy_make(&t, 5, 9, 0.3);
    for (okra_int i = 0; i < t.n * t.n; i++) {
        L[i] = (i % (t.n + 1) == 0) + t.A[i] * 0.1;
    }
    toy_weights(&t, 0.5, W);
    toy_scores(&t, W, L, S);
    CHECK_OK(okra_data_gram(t.K, NODES, NODES, NODES, NULL, &K));
    CHECK_OK(okra_data_gram(L, t.n, t.n, t.n, NULL, &G));
    t.task.x = K;
    t.task.gram = G;
    const char *const texts[] = {"kx=precomputed", "ky=precomputed", "lambda=0.5", NULL};
    okra_links *links = toy_fit(&t, texts, NULL);
    toy_compare(links, OKRA_LINK_ALL, S, tolerance);
    okra_links_free(links);
    okra_data_free(K);
    okra_data_free(G);
    toy_free(&t);
}

/* lambda2 = 0 with every node as an input is plain ridge; lambda2 > 0 is not. */
TEST(new_nodes_serve_as_unlabelled_inputs)
{
    toy t;
    double L[SQUARE], W[SQUARE], S[SQUARE];
    toy_make(&t, 6, 8, 0.4);
    toy_diffusion(&t, 1, L);
    toy_weights(&t, 0.1, W);
    toy_scores(&t, W, L, S);
    const char *const tiny[] = {"kx=" TOY_KX, "lambda=0.1", "lambda2=1e-13", NULL};
    okra_links *links = toy_fit(&t, tiny, NULL);
    toy_compare(links, OKRA_LINK_ALL, S, 1e-9);
    okra_links_free(links);
    const char *const strong[] = {"kx=" TOY_KX, "lambda=0.1", "lambda2=1",
                                  "graph=knn(k=3)", NULL};
    links = toy_fit(&t, strong, NULL);
    okra_link pair = {t.fresh[0], t.labelled[0], 0};
    CHECK_OK(okra_link_score(NULL, links, &pair, 1));
    CHECK(fabs(pair.value - S[t.fresh[0] * NODES + t.labelled[0]]) > 1e-4);
    okra_links_free(links);
    toy_free(&t);
}

/* W: NODES x n, w(u) = J (lambda I + K (J'J + 2 lambda2 M))^-1 k_u over the inputs: n
 * labelled nodes, then `help` new ones; M the Laplacian of K (Brouard eq. 9). */
static void semi_weights(const toy *t, const okra_int *input, okra_int N, double lambda,
                         double lambda2, double *W)
{
    double A[SQUARE], B[SQUARE], X[SQUARE], G[SQUARE] = {0};
    for (okra_int i = 0; i < N; i++) {
        for (okra_int j = 0; j < N; j++) {
            double k = j == i ? 0 : t->K[input[i] * NODES + input[j]];
            G[i * N + j] -= 2 * lambda2 * k;
            G[i * N + i] += 2 * lambda2 * k;
        }
        G[i * N + i] += i < t->n;
    }
    for (okra_int i = 0; i < N; i++) {
        for (okra_int j = 0; j < N; j++) {
            double sum = i == j ? lambda : 0;
            for (okra_int k = 0; k < N; k++) {
                sum += t->K[input[i] * NODES + input[k]] * G[k * N + j];
            }
            A[i * N + j] = sum;
        }
        for (okra_int u = 0; u < NODES; u++) {
            B[i * NODES + u] = t->K[input[i] * NODES + u];
        }
    }
    solve(N, A, NODES, B, X);
    for (okra_int i = 0; i < t->n * NODES; i++) {
        W[i % NODES * t->n + i / NODES] = X[i];
    }
}

/* Nodes that do not help are predicted as by a model that has never seen them. */
TEST(some_new_nodes_help_and_others_are_unseen)
{
    double worst = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        toy t;
        okra_int input[NODES], help = (okra_int)(seed % 7);
        double L[SQUARE], W[SQUARE], S[SQUARE];
        toy_make(&t, seed, 8, 0.4);
        toy_diffusion(&t, 1, L);
        for (okra_int i = 0; i < t.n + help; i++) {
            input[i] = i < t.n ? t.labelled[i] : t.fresh[t.m - 1 - (i - t.n)];
        }
        semi_weights(&t, input, t.n + help, 0.1, 0.3, W);
        toy_scores(&t, W, L, S);
        const char *const texts[] = {"kx=" TOY_KX, "lambda=0.1", "lambda2=0.3", NULL};
        okra_link_settings settings = {OKRA_SIZED(okra_link_settings), .beta = 1,
                                       .unlabelled = input + t.n,
                                       .unlabelled_count = help};
        okra_links *links = toy_fit(&t, texts, &settings);
        for (okra_int u = 0; u < NODES; u++) {
            for (okra_int v = 0; v < u; v++) {
                okra_link pair = {u, v, 0};
                CHECK_OK(okra_link_score(NULL, links, &pair, 1));
                worst = fmax(worst, fabs(pair.value - S[u * NODES + v]));
            }
        }
        okra_links_free(links);
        toy_free(&t);
    }
    CHECK_NEAR(worst, 0, tolerance);
}

TEST(the_best_come_first)
{
    toy t;
    okra_link *all = NULL, *some = NULL;
    okra_int count = 0, few = 0;
    toy_make(&t, 7, 7, 0.3);
    okra_links *links = toy_fit(&t, ridge, NULL);
    CHECK_OK(
        okra_link_rank(NULL, links, OKRA_LINK_ALL, 0, -(double)INFINITY, &all, &count));
    for (okra_int top = 1; top <= count + 2; top++) {
        CHECK_OK(okra_link_rank(NULL, links, OKRA_LINK_ALL, top, -(double)INFINITY, &some,
                                &few));
        CHECK(few == (top < count ? top : count));
        CHECK(memcmp(all, some, (size_t)few * sizeof *all) == 0);
        okra_link_list_free(some);
    }
    CHECK_OK(okra_link_rank(NULL, links, OKRA_LINK_ALL, 0, all[4].value, &some, &few));
    CHECK(few == 5);
    okra_link_list_free(some);
    CHECK_FAILS(okra_link_rank(NULL, links, OKRA_LINK_ALL, -1, 0, &some, &few), OKRA_EARG,
                "top is -1");
    okra_link_list_free(all);
    okra_links_free(links);
    toy_free(&t);
}

TEST(evaluation_is_the_ranking_of_the_scores)
{
    toy t;
    okra_link *all = NULL;
    okra_int count = 0;
    double score[EDGES];
    unsigned char positive[EDGES];
    okra_ranking *got = NULL, *want = NULL;
    toy_make(&t, 8, 7, 0.4);
    okra_links *links = toy_fit(&t, ridge, NULL);
    CHECK_OK(okra_link_rank(NULL, links, OKRA_LINK_LABELLED_NEW, 0, -(double)INFINITY,
                            &all, &count));
    for (okra_int k = 0; k < count; k++) {
        score[k] = all[k].value;
        positive[k] = 0;
        for (okra_int e = 0; e < t.truth_count; e++) {
            const okra_link *x = &t.truth[e];
            positive[k] |= (x->a == all[k].a && x->b == all[k].b) ||
                           (x->b == all[k].a && x->a == all[k].b);
        }
    }
    CHECK_OK(okra_ranking_create(count, score, positive, &want));
    CHECK_OK(okra_link_evaluate(NULL, links, OKRA_LINK_LABELLED_NEW, t.truth,
                                t.truth_count, &got));
    CHECK(okra_ranking_auc_roc(got) == okra_ranking_auc_roc(want));
    CHECK(okra_ranking_auc_pr(got) == okra_ranking_auc_pr(want));
    okra_ranking_free(got);
    okra_ranking_free(want);
    t.truth[2].b = NODES;
    CHECK_FAILS(
        okra_link_evaluate(NULL, links, OKRA_LINK_ALL, t.truth, t.truth_count, &got),
        OKRA_EARG, "true edge 2");
    CHECK_FAILS(okra_link_evaluate(NULL, links, OKRA_LINK_ALL, NULL, 0, &got), OKRA_EARG,
                "0 of them positive");
    okra_link_list_free(all);
    okra_links_free(links);
    toy_free(&t);
}

/* The chosen beta has the greatest entropy among times ten times as long and short. */
TEST(beta_by_information)
{
    toy t;
    double beta = 0, longer;
    okra_links *links = NULL;
    okra_link local[EDGES];
    toy_make(&t, 2, NODES, 0.3);
    CHECK_OK(okra_link_beta(NULL, NODES, t.edges, t.edge_count, &beta));
    CHECK(beta > 0.01 && beta < 100);
    /* twice the weights: half the time */
    for (okra_int k = 0; k < t.edge_count; k++) {
        local[k] = t.edges[k];
        local[k].value *= 2;
    }
    CHECK_OK(okra_link_beta(NULL, NODES, local, t.edge_count, &longer));
    CHECK_NEAR(longer, beta / 2, 1e-12 * beta);
    CHECK_FAILS(okra_link_beta(NULL, NODES, local, 0, &beta), OKRA_EARG, "no edge");
    toy_free(&t);
    /* beta 0 in the settings: chosen on the labelled nodes */
    toy_make(&t, 2, 9, 0.4);
    okra_link_settings by_itself = {OKRA_SIZED(okra_link_settings), .beta = 0};
    links = toy_fit(&t, ridge, &by_itself);
    CHECK(strstr(okra_links_json(links), "diffusion(beta="));
    okra_links_free(links);
    toy_free(&t);
}

TEST(edges_of_a_network)
{
    okra_data *nodes = NULL;
    okra_link *edges = NULL;
    okra_int count = 0;
    CHECK_OK(okra_synthetic_network(3, 20, 2, 0.5, 0.1, &nodes));
    CHECK_OK(okra_link_edges(nodes, &edges, &count));
    CHECK(count > 20);
    /* the kernel of a short time is 1 - beta L: its values are the edges */
    double K[400];
    okra_kernel *kernel = NULL;
    CHECK_OK(okra_kernel_parse("diffusion(beta=1e-9)", &kernel));
    CHECK_OK(okra_gram(NULL, kernel, nodes, NULL, K, 20));
    double sum = 0;
    for (okra_int i = 0; i < 400; i++) {
        sum += i % 21 == 0 ? 0 : K[i];
    }
    CHECK_NEAR(sum / 2e-9, (double)count, 1e-3);
    for (okra_int k = 0; k < count; k++) {
        CHECK(edges[k].a < edges[k].b && edges[k].value == 1);
        CHECK_NEAR(K[edges[k].a * 20 + edges[k].b], 1e-9, 1e-12);
    }
    okra_kernel_free(kernel);
    okra_link_list_free(edges);
    okra_data_free(nodes);
    CHECK_OK(okra_data_dense(K, 2, 2, 2, &nodes));
    CHECK_FAILS(okra_link_edges(nodes, &edges, &count), OKRA_EARG,
                "expected nodes of a network");
    okra_data_free(nodes);
}

static void refused(const okra_link_task *task, const char *const *texts,
                    const okra_link_settings *settings, okra_status status,
                    const char *text)
{
    okra_links *links = NULL;
    okra_options *o = toy_options(texts);
    CHECK_FAILS(okra_link_fit(NULL, task, o, settings, &links), status, text);
    CHECK(!links);
    okra_options_free(o);
}

TEST(refusals)
{
    toy t;
    toy_make(&t, 1, 5, 0.5);
    okra_link edges[2] = {t.edges[0], t.edges[0]};
    okra_int twice[5];
    memcpy(twice, t.labelled, sizeof twice);
    okra_link_task bad = t.task;
    bad.edge_count = 0;
    refused(&bad, ridge, NULL, OKRA_EARG, "there is no known edge");
    bad = t.task;
    bad.edges = edges;
    bad.edge_count = 2;
    refused(&bad, ridge, NULL, OKRA_EARG, "comes twice");
    edges[1].b = edges[1].a;
    refused(&bad, ridge, NULL, OKRA_EARG, "an edge from a node to itself");
    edges[1].b = t.fresh[0];
    refused(&bad, ridge, NULL, OKRA_EARG, "is not a labelled node");
    edges[1].b = NODES;
    refused(&bad, ridge, NULL, OKRA_EARG, "node 14 is not a labelled node");
    edges[1] = (okra_link){t.edges[0].a, t.edges[0].b, -1};
    bad.edges = edges + 1;
    bad.edge_count = 1;
    refused(&bad, ridge, NULL, OKRA_EARG, "the weight -1 of an edge");
    bad = t.task;
    bad.labelled = twice;
    twice[3] = twice[1];
    refused(&bad, ridge, NULL, OKRA_EARG, "is among the labelled ones twice");
    twice[3] = -4;
    refused(&bad, ridge, NULL, OKRA_EARG, "labelled node -4; there are 14 nodes");

    okra_link_settings settings = {OKRA_SIZED(okra_link_settings), .beta = -1};
    refused(&t.task, ridge, &settings, OKRA_EARG, "beta is -1");
    okra_data *G = NULL, *K = NULL;
    CHECK_OK(okra_data_gram(t.K, 4, 4, NODES, NULL, &G));
    bad = t.task;
    bad.gram = G;
    refused(&bad, ridge, NULL, OKRA_ESHAPE, "has 4 rows, there are 5 labelled nodes");
    const char *const other[] = {"ky=diffusion", NULL};
    refused(&bad, other, NULL, OKRA_EARG, "expected precomputed");
    CHECK_OK(okra_data_gram(t.K, NODES, 4, NODES, NULL, &K));
    bad = t.task;
    bad.x = K;
    refused(&bad, ridge, NULL, OKRA_ESHAPE, "expected nodes x nodes");
    const char *const far[] = {"method=knn", "k=6", NULL};
    refused(&t.task, far, NULL, OKRA_EARG, "k is 6, expected at most 5");
    okra_data_free(G);
    okra_data_free(K);

    okra_links *links = toy_fit(&t, ridge, NULL);
    okra_link same = {3, 3, 0}, out = {3, NODES, 0};
    CHECK_FAILS(okra_link_score(NULL, links, &same, 1), OKRA_EARG, "two different ones");
    CHECK_FAILS(okra_link_score(NULL, links, &out, 1), OKRA_EARG, "of the 14 nodes");
    okra_links_free(links);
    okra_links_free(NULL);
    toy_free(&t);
}

static okra_status everything(okra_context *one, const toy *t, const okra_options *o)
{
    okra_status st = OKRA_OK;
    okra_links *links = NULL;
    okra_link *list = NULL;
    okra_int count;
    okra_ranking *a = NULL, *b = NULL;
    bool left_out;
    okra_link_settings settings = {OKRA_SIZED(okra_link_settings), .beta = 0};
    TRY(okra_link_fit(one, &t->task, o, &settings, &links));
    TRY(okra_link_rank(one, links, OKRA_LINK_ALL, 3, 0, &list, &count));
    TRY(okra_link_evaluate(one, links, OKRA_LINK_ALL, t->truth, t->truth_count, &a));
    TRY(okra_link_training(one, links, &b, &left_out));
done:
    okra_links_free(links);
    okra_link_list_free(list);
    okra_ranking_free(a);
    okra_ranking_free(b);
    return st;
}

TEST(failing_allocations)
{
    toy t;
    okra_context *one = NULL;
    double lambda = 0.1, roc;
    CHECK_OK(okra_context_create(&one));
    CHECK_OK(okra_context_set_threads(one, 1));
    toy_make(&t, 4, 6, 0.5);
    okra_options *o = toy_options(ridge);
    CHECK_ALLOCATIONS(everything(one, &t, o), (void)0);
    CHECK_ALLOCATIONS(okra_link_leave(one, &t.task, o, NULL, &lambda, 1, &roc, NULL),
                      (void)0);
    okra_options_free(o);
    toy_free(&t);
    okra_context_free(one);
}

MAIN(RUN(scores_equal_the_formula), RUN(scores_over_sizes),
     RUN(baselines_know_the_labelled_ends_alone), RUN(gram_matrices_in_place_of_kernels),
     RUN(new_nodes_serve_as_unlabelled_inputs),
     RUN(some_new_nodes_help_and_others_are_unseen), RUN(the_best_come_first),
     RUN(evaluation_is_the_ranking_of_the_scores), RUN(beta_by_information),
     RUN(edges_of_a_network), RUN(refusals), RUN(failing_allocations))
