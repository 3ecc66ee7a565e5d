/*
 * Methods that score links alone, and trees: what they refuse, leaks, weights.
 */
#include "method/method.h"
#include "toy.h"
#include "okra/more/leave.h"
#include "okra/more/link.h"
#include "okra/more/ranking.h"

static const char *const all[] = {"naive", "kcca", "kml", "local", "em", "pkmr", "ok3"};
enum { ALL = sizeof all / sizeof *all };

static okra_options *options_of(const char *method)
{
    char text[32];
    snprintf(text, sizeof text, "method=%s", method);
    const char *const texts[] = {"kx=" TOY_KX, text, NULL};
    return toy_options(texts);
}

static okra_links *fit(const toy *t, const char *method)
{
    okra_links *links = NULL;
    okra_options *o = options_of(method);
    CHECK_OK(okra_link_fit(NULL, &t->task, o, NULL, &links));
    okra_options_free(o);
    return links;
}

/* Every way to ask for a pair gives the same score, whatever the order of the nodes. */
TEST(ways_to_ask_agree)
{
    for (int k = 0; k < ALL; k++) {
        toy t;
        toy_make(&t, 3, 8, 0.4);
        bool local = strcmp(all[k], "local") == 0;
        okra_link_pairs which = local ? OKRA_LINK_LABELLED_NEW : OKRA_LINK_ALL;
        okra_links *links = fit(&t, all[k]);
        okra_link *list = NULL;
        okra_int count = 0;
        CHECK_OK(okra_link_rank(NULL, links, which, 0, -(double)INFINITY, &list, &count));
        CHECK(count == okra_link_count(links, which));
        for (okra_int i = 0; i < count; i++) {
            okra_link turned = {list[i].b, list[i].a, 0};
            CHECK_OK(okra_link_score(NULL, links, &turned, 1));
            CHECK_NEAR(turned.value, list[i].value, 1e-12 * fmax(1, fabs(turned.value)));
        }
        okra_ranking *r = NULL;
        bool left_out = true;
        CHECK_OK(okra_link_training(NULL, links, &r, &left_out));
        CHECK(!left_out);
        okra_ranking_free(r);
        okra_link_list_free(list);
        okra_links_free(links);
        toy_free(&t);
    }
}

/* The known scores of labelled pairs are those of the completed matrix: L itself. */
TEST(completion_keeps_what_is_known)
{
    toy t;
    double L[SQUARE];
    toy_make(&t, 5, 7, 0.4);
    toy_diffusion(&t, 1, L);
    okra_links *links = fit(&t, "em");
    for (okra_int i = 0; i < t.n; i++) {
        for (okra_int j = 0; j < i; j++) {
            okra_link pair = {t.labelled[i], t.labelled[j], 0};
            CHECK_OK(okra_link_score(NULL, links, &pair, 1));
            CHECK_NEAR(pair.value, L[i * t.n + j], 1e-12);
        }
    }
    okra_links_free(links);
    toy_free(&t);
}

/* Both ends by W = (K + ridge I)^-1 k of B, a labelled node as itself; `own`: with what W
 * leaves of k(u, v) between two new nodes (em). */
static void check_completion(const toy *t, const char *const *texts, double ridge,
                             const double *B, bool own)
{
    double W[SQUARE], S[SQUARE];
    okra_links *links = NULL;
    okra_options *o = toy_options(texts);
    toy_weights(t, ridge, W);
    double rest[SQUARE];
    for (okra_int u = 0; u < NODES; u++) {
        for (okra_int v = 0; v < NODES; v++) {
            rest[u * NODES + v] = t->K[u * NODES + v];
            for (okra_int i = 0; i < t->n; i++) {
                rest[u * NODES + v] -= W[u * t->n + i] * t->K[t->labelled[i] * NODES + v];
            }
        }
    }
    for (okra_int i = 0; i < t->n * t->n; i++) {
        W[t->labelled[i / t->n] * t->n + i % t->n] = i / t->n == i % t->n;
    }
    toy_scores(t, W, B, S);
    for (okra_int i = 0; own && i < t->m * t->m; i++) {
        okra_int at = t->fresh[i / t->m] * NODES + t->fresh[i % t->m];
        S[at] += rest[at];
    }
    CHECK_OK(okra_link_fit(NULL, &t->task, o, NULL, &links));
    toy_compare(links, OKRA_LINK_ALL, S, 1e-12); /* worst over these seeds: 8.4e-14 */
    okra_links_free(links);
    okra_options_free(o);
}

/* e-step and m-step in turn, the slow way: D of all nodes from M = b (K + 0.2 I), then b
 * = tr((K + 0.2 I)^-1 D) / N, until b stands still. The scores are those of D / b. */
static void check_m_step(const toy *t, const double *L)
{
    static const char *const texts[] = {"kx=" TOY_KX, "method=em", "lambda=0.2",
                                        "m-step=yes", NULL};
    double W[SQUARE], M[SQUARE], eye[SQUARE], inverse[SQUARE], D[SQUARE], b = 1,
                                                                          B[SQUARE];
    toy_weights(t, 0.2, W);
    for (okra_int i = 0; i < SQUARE; i++) {
        eye[i] = i % (NODES + 1) == 0;
        M[i] = t->K[i] + 0.2 * eye[i];
    }
    for (okra_int i = 0; i < t->n * t->n; i++) {
        W[t->labelled[i / t->n] * t->n + i % t->n] = i / t->n == i % t->n;
    }
    memcpy(D, M, sizeof D);
    solve(NODES, D, NODES, eye, inverse); /* D is destroyed, and made below */
    for (okra_int round = 0; round < 400; round++) {
        double trace = 0;
        for (okra_int u = 0; u < NODES; u++) {
            for (okra_int v = 0; v < NODES; v++) {
                /* b times the part of M that the labelled nodes do not tell */
                double d = 0, rest = M[u * NODES + v];
                for (okra_int i = 0; i < t->n; i++) {
                    rest -= W[u * t->n + i] * M[t->labelled[i] * NODES + v];
                    for (okra_int j = 0; j < t->n; j++) {
                        d += W[u * t->n + i] * L[i * t->n + j] * W[v * t->n + j];
                    }
                }
                D[u * NODES + v] = d + b * rest;
                trace += inverse[v * NODES + u] * D[u * NODES + v];
            }
        }
        b = trace / NODES;
    }
    for (okra_int i = 0; i < t->n * t->n; i++) {
        B[i] = L[i] / b;
    }
    check_completion(t, texts, 0.2, B, true);
}

/* em: the e-step of Tsuda et al. 2003; pkmr with a penalty so weak that nothing of
 * L - lambda/2 (K + epsilon I)^-1 is negative (the projection: tests/peer). */
TEST(completion_equals_the_formulas)
{
    static const char *const em[] = {"kx=" TOY_KX, "method=em", "lambda=0.2", NULL};
    static const char *const pkmr[] = {"kx=" TOY_KX, "method=pkmr", "lambda=2e-6",
                                       "epsilon=0.5", NULL};
    for (uint64_t seed = 0; seed < 10; seed++) {
        toy t;
        double L[SQUARE], A[SQUARE], eye[SQUARE], inverse[SQUARE];
        toy_make(&t, seed, 4 + (okra_int)(seed % 7), 0.2);
        toy_diffusion(&t, 1, L);
        check_completion(&t, em, 0.2, L, true);
        check_m_step(&t, L);
        toy_ridge(&t, 0.5, A);
        for (okra_int i = 0; i < t.n * t.n; i++) {
            eye[i] = i % (t.n + 1) == 0;
        }
        solve(t.n, A, t.n, eye, inverse);
        for (okra_int i = 0; i < t.n * t.n; i++) {
            L[i] -= 1e-6 * inverse[i];
        }
        check_completion(&t, pkmr, 0.5, L, false);
        toy_free(&t);
    }
}

TEST(refusals)
{
    toy t;
    okra_links *links = NULL;
    okra_link *list = NULL;
    okra_int count;
    okra_data *G = NULL;
    okra_link_settings known = {OKRA_SIZED(okra_link_settings), .beta = 1, .known = true};
    toy_make(&t, 4, 6, 0.5);
    links = fit(&t, "local");
    CHECK_FAILS(okra_link_rank(NULL, links, OKRA_LINK_NEW_NEW, 0, 0, &list, &count),
                OKRA_EUNSUPPORTED, "local has a model of each labelled node");
    okra_links_free(links);
    links = NULL;
    okra_options *o = options_of("kcca");
    CHECK_FAILS(okra_link_fit(NULL, &t.task, o, &known, &links), OKRA_EARG,
                "method kcca has no use for known");
    okra_options_free(o);
    CHECK_OK(okra_data_gram(t.K, t.n, t.n, NODES, NULL, &G));
    t.task.gram = G;
    static const char *const edges[] = {"kml", "local"};
    for (int k = 0; k < 2; k++) {
        o = options_of(edges[k]);
        CHECK_FAILS(okra_link_fit(NULL, &t.task, o, NULL, &links), OKRA_EUNSUPPORTED,
                    "learns from the edges of a network");
        okra_options_free(o);
    }
    okra_data_free(G);
    /* every description is the same */
    t.task.gram = NULL;
    for (okra_int i = 0; i < NODES * FEATURES; i++) {
        t.x[i] = 1;
    }
    o = options_of("kml");
    CHECK_FAILS(okra_link_fit(NULL, &t.task, o, NULL, &links), OKRA_ENUMERIC,
                "look the same");
    okra_options_free(o);
    toy_free(&t);
}

TEST(links_predict_no_outputs)
{
    const double x[] = {0, 1, 2, 3}, y[] = {1, 0, 1, 1};
    okra_data *dx = NULL, *dy = NULL;
    okra_model *model = NULL;
    okra_prediction *prediction = NULL;
    double loss;
    CHECK_OK(okra_data_dense(x, 4, 1, 1, &dx));
    CHECK_OK(okra_data_dense(y, 4, 1, 1, &dy));
    okra_options *o = options_of("em"), *p = NULL;
    CHECK_OK(okra_predict_options(&p));
    CHECK_OK(okra_fit(NULL, dx, dy, o, &model));
    CHECK_FAILS(okra_predict(NULL, model, dx, p, NULL, &prediction), OKRA_EUNSUPPORTED,
                "method em scores links between nodes and predicts no outputs");
    CHECK_FAILS(okra_model_loss(NULL, model, dx, dy, &loss, NULL), OKRA_EUNSUPPORTED,
                "predicts no outputs");
    okra_model_free(model);
    okra_options_free(o);
    okra_options_free(p);
    okra_data_free(dx);
    okra_data_free(dy);
}

/* ---- trees ---- */

enum { TREE_N = 40, TREE_D = 2 };

typedef struct grove {
    double x[TREE_N * TREE_D], y[TREE_N];
    okra_data *dx, *dy;
} grove;

static void plant(grove *g)
{
    okra_random_ r = okra_random_create_(11, 0);
    harness_normals(&r, TREE_N * TREE_D, g->x);
    for (int i = 0; i < TREE_N; i++) {
        g->y[i] = g->x[i * TREE_D] > 0 ? 1 : -1;
    }
    CHECK_OK(okra_data_dense(g->x, TREE_N, TREE_D, TREE_D, &g->dx));
    CHECK_OK(okra_data_dense(g->y, TREE_N, 1, 1, &g->dy));
}

/* W: TREE_N x TREE_N weights at the training inputs. */
static void weigh(const grove *g, okra_context *ctx, const char *leaf, double *W)
{
    char text[32];
    snprintf(text, sizeof text, "leaf=%s", leaf);
    const char *const texts[] = {"kx=" TOY_KX, "method=ok3", "trees=7", text, NULL};
    okra_options *o = toy_options(texts), *p = NULL;
    okra_model *model = NULL;
    okra_prediction *prediction = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .weights = true};
    okra_int rows, cols;
    CHECK_OK(okra_predict_options(&p));
    CHECK_OK(okra_options_set(p, "decode", "none"));
    CHECK_OK(okra_fit(ctx, g->dx, g->dy, o, &model));
    CHECK_OK(okra_predict(ctx, model, g->dx, p, &request, &prediction));
    memcpy(W, okra_prediction_weights(prediction, &rows, &cols),
           TREE_N * TREE_N * sizeof *W);
    okra_prediction_free(prediction);
    okra_model_free(model);
    okra_options_free(o);
    okra_options_free(p);
}

TEST(weights_of_trees)
{
    grove g;
    static double W[TREE_N * TREE_N];
    plant(&g);
    /* fully grown: every training input is alone in its leaf */
    weigh(&g, NULL, "1", W);
    for (int i = 0; i < TREE_N * TREE_N; i++) {
        CHECK_NEAR(W[i], i / TREE_N == i % TREE_N, 1e-15);
    }
    /* leaves of at least 5: weights are shares of leaves, none above 1/5 */
    weigh(&g, NULL, "5", W);
    double right = 0;
    for (int i = 0; i < TREE_N; i++) {
        double sum = 0, value = 0;
        for (int j = 0; j < TREE_N; j++) {
            double w = W[i * TREE_N + j];
            CHECK(w >= 0 && w <= 0.2 + 1e-15);
            CHECK_NEAR(w, W[j * TREE_N + i], 1e-15); /* one leaf: one share */
            sum += w;
            value += w * g.y[j];
        }
        CHECK_NEAR(sum, 1, 1e-14);
        right += value * g.y[i] > 0;
    }
    CHECK(right >= 0.9 * TREE_N); /* 40 of 40 here */
    /* one leaf: the mean of all */
    weigh(&g, NULL, "40", W);
    for (int i = 0; i < TREE_N * TREE_N; i++) {
        CHECK_NEAR(W[i], 1.0 / TREE_N, 1e-15);
    }
    okra_data_free(g.dx);
    okra_data_free(g.dy);
}

/* A model file that was altered: one tree over two inputs, each of its numbers broken. */
TEST(broken_trees_are_refused)
{
    enum { NODE_NUMBERS = 7 };
    const double good[] = {1, 0.5, 1, 2,  0, 2, 0, -1, 0, 0, 0,
                           0, 1,   0, -1, 0, 0, 0, 1,  2, 0};
    const struct {
        int place;
        double value;
    } bad[] = {{-1, 0}, {0, 2}, {2, 0}, {2, 3}, {3, 0}, {3, 3}, {4, -1}, {5, 3}, {5, 0}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        okra_store_ *store = NULL;
        double root = 0, items[] = {1, 0}, nodes[3 * NODE_NUMBERS], W[2],
               k_x[] = {0.2, 0.7};
        okra_query_ q = {.m = 1, .n = 2, .Kx = okra_mat_of_(k_x, 1, 2)};
        memcpy(nodes, good, sizeof nodes);
        if (bad[k].place >= 0) {
            nodes[bad[k].place] = bad[k].value;
        }
        CHECK_OK(okra_store_create_(&store));
        CHECK_OK(
            okra_store_add_(store, "nodes",
                            (okra_store_item_){.A = okra_mat_view_(nodes, 3, NODE_NUMBERS,
                                                                   NODE_NUMBERS)}));
        CHECK_OK(okra_store_add_(
            store, "roots", (okra_store_item_){.A = okra_mat_view_(&root, 1, 1, 1)}));
        CHECK_OK(okra_store_add_(
            store, "items", (okra_store_item_){.A = okra_mat_view_(items, 1, 2, 2)}));
        okra_status st =
            okra_method_find_("ok3")->predict(NULL, store, &q, okra_mat_of_(W, 1, 2));
        CHECK(st == (k == 0 ? OKRA_OK : OKRA_EFORMAT));
        CHECK(k > 0 || (W[0] == 1 && W[1] == 0)); /* 0.7 goes right: item 0 */
        okra_store_free_(store);
    }
}

TEST(same_trees_on_any_number_of_threads)
{
    grove g;
    static double W[3][TREE_N * TREE_N];
    okra_context *ctx = NULL;
    plant(&g);
    CHECK_OK(okra_context_create(&ctx));
    for (int threads = 1; threads <= 2; threads++) {
        CHECK_OK(okra_context_set_threads(ctx, threads));
        weigh(&g, ctx, "3", W[threads - 1]);
    }
    CHECK(memcmp(W[0], W[1], sizeof W[0]) == 0);
    okra_context_set_seed(ctx, 5);
    weigh(&g, ctx, "3", W[2]);
    CHECK(memcmp(W[0], W[2], sizeof W[0]) != 0);
    okra_context_free(ctx);
    okra_data_free(g.dx);
    okra_data_free(g.dy);
}

static okra_status everything(okra_context *one, const toy *t, const okra_options *o)
{
    okra_status st = OKRA_OK;
    okra_links *links = NULL;
    okra_link *list = NULL;
    okra_int count;
    okra_ranking *r = NULL;
    bool left_out;
    TRY(okra_link_fit(one, &t->task, o, NULL, &links));
    bool local = strcmp(okra_options_get(o, "method"), "local") == 0;
    TRY(okra_link_rank(one, links, local ? OKRA_LINK_LABELLED_NEW : OKRA_LINK_ALL, 3,
                       -(double)INFINITY, &list, &count));
    TRY(okra_link_training(one, links, &r, &left_out));
done:
    okra_links_free(links);
    okra_link_list_free(list);
    okra_ranking_free(r);
    return st;
}

TEST(failing_allocations)
{
    toy t;
    okra_context *one = NULL;
    CHECK_OK(okra_context_create(&one));
    CHECK_OK(okra_context_set_threads(one, 1));
    toy_make(&t, 4, 6, 0.5);
    for (int k = 0; k < ALL; k++) {
        okra_options *o = options_of(all[k]);
        CHECK_ALLOCATIONS(everything(one, &t, o), (void)0);
        okra_options_free(o);
    }
    toy_free(&t);
    okra_context_free(one);
}

MAIN(RUN(ways_to_ask_agree), RUN(completion_keeps_what_is_known),
     RUN(completion_equals_the_formulas), RUN(refusals), RUN(links_predict_no_outputs),
     RUN(weights_of_trees), RUN(broken_trees_are_refused),
     RUN(same_trees_on_any_number_of_threads), RUN(failing_allocations))
