/*
 * test_graph_kernels.c: kernels of labelled graphs against features written out as texts.
 *
 * Every feature of every graph is enumerated as a text straight from its definition, and
 * texts are compared with one another; sums of whole numbers must agree exactly.
 */
#include "data/graphs.h"
#include "grams.h"

enum { NODES = 7, FEATURES = 20000, TEXT = 160, GRAPHS = 14 };

typedef struct graph {
    int n;
    int label[NODES];
    int edge[NODES][NODES]; /* 0: none; else label + 1 */
} graph;

static const char *const names[] = {"0", "7", "C", "NO", "10"};
static const char *const edge_names[] = {"1", "2", "ar"};

static graph random_graph(okra_random_ *r, int n)
{
    graph g = {.n = n};
    for (int i = 0; i < n; i++) {
        g.label[i] = (int)okra_random_below_(r, 5);
        for (int j = 0; j < i; j++) {
            if (okra_random_uniform_(r) < 0.4) {
                g.edge[i][j] = g.edge[j][i] = 1 + (int)okra_random_below_(r, 3);
            }
        }
    }
    return g;
}

static graph relabelled(okra_random_ *r, const graph *g)
{
    okra_int order[NODES];
    graph out = {.n = g->n};
    for (int i = 0; i < g->n; i++) {
        order[i] = i;
    }
    okra_random_shuffle_(r, g->n, order);
    for (int i = 0; i < g->n; i++) {
        out.label[i] = g->label[order[i]];
        for (int j = 0; j < g->n; j++) {
            out.edge[i][j] = g->edge[order[i]][order[j]];
        }
    }
    return out;
}

static okra_status make_data(const graph *g, int count, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_graphs_builder_ b = {0};
    TRY(okra_graphs_begin_(&b, false));
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < g[k].n; i++) {
            int32_t label = 0;
            const char *name = names[g[k].label[i]];
            TRY(okra_graphs_label_(&b, name, strlen(name), &label));
            TRY(okra_graphs_node_(&b, label));
        }
        for (int i = 0; i < g[k].n; i++) {
            for (int j = 0; j < i; j++) {
                int32_t label = 0;
                if (g[k].edge[i][j]) {
                    const char *name = edge_names[g[k].edge[i][j] - 1];
                    TRY(okra_graphs_label_(&b, name, strlen(name), &label));
                    TRY(okra_graphs_edge_(&b, i, j, label));
                }
            }
        }
        TRY(okra_graphs_close_(&b, "g", 1));
    }
    TRY(okra_graphs_finish_(&b, "test", out));
done:
    okra_graphs_abandon_(&b);
    return st;
}

/* ---- features as texts ---- */

typedef struct store {
    int count;
    char (*text)[TEXT];
} store;

static void add(store *b, const char *text)
{
    if (b->count < FEATURES) {
        snprintf(b->text[b->count++], TEXT, "%s", text);
    } else {
        CHECK(b->count < FEATURES);
    }
}

static void path_text(const graph *g, const int *nodes, int length, bool back, char *text)
{
    size_t at = 0;
    text[0] = '\0';
    for (int k = 0; k < length; k++) {
        int i = nodes[back ? length - 1 - k : k];
        int j = k + 1 < length ? nodes[back ? length - 2 - k : k + 1] : -1;
        at += (size_t)snprintf(text + at, TEXT - at, "(%s)", names[g->label[i]]);
        if (j >= 0) {
            at += (size_t)snprintf(text + at, TEXT - at, "%s",
                                   edge_names[g->edge[i][j] - 1]);
        }
    }
}

/* Every path is found from both ends: only those that begin at the smaller node stay. */
static int path[64];
static bool on_path[NODES];

static void all_paths(const graph *g, int length, int m, store *b)
{
    char ahead[TEXT], back[TEXT];
    if (path[0] <= path[length - 1]) {
        path_text(g, path, length, false, ahead);
        path_text(g, path, length, true, back);
        add(b, strcmp(ahead, back) <= 0 ? ahead : back);
    }
    for (int v = 0; length <= m && length < NODES && v < g->n; v++) {
        if (!on_path[v] && g->edge[path[length - 1]][v]) {
            path[length] = v;
            on_path[v] = true;
            all_paths(g, length + 1, m, b);
            on_path[v] = false;
        }
    }
}

static void paths_of(const graph *g, int m, store *b)
{
    for (int i = 0; i < g->n; i++) {
        path[0] = i;
        on_path[i] = true;
        all_paths(g, 1, m, b);
        on_path[i] = false;
    }
}

/* Shortest distances by repeated relaxation (Floyd). */
static void shortest_of(const graph *g, int unused, store *b)
{
    int d[NODES][NODES];
    (void)unused;
    for (int i = 0; i < g->n; i++) {
        for (int j = 0; j < g->n; j++) {
            d[i][j] = i == j ? 0 : g->edge[i][j] ? 1 : 1000;
        }
    }
    for (int k = 0; k < g->n; k++) {
        for (int i = 0; i < g->n; i++) {
            for (int j = 0; j < g->n; j++) {
                d[i][j] = OKRA_MIN_(d[i][j], d[i][k] + d[k][j]);
            }
        }
    }
    for (int i = 0; i < g->n; i++) {
        for (int j = 0; j < i; j++) {
            const char *x = names[g->label[i]], *y = names[g->label[j]];
            char text[TEXT];
            if (d[i][j] < 1000) {
                bool swap = strcmp(x, y) > 0;
                snprintf(text, sizeof text, "%s|%s|%d", swap ? y : x, swap ? x : y,
                         d[i][j]);
                add(b, text);
            }
        }
    }
}

/* Two nodes have the same label in a round if they had in the round before and their
 * neighbours can be paired off: decided by recursion on pairs of nodes of two graphs. */
static bool same_tree(const graph *g, int i, const graph *h, int j, int rounds)
{
    if (g->label[i] != h->label[j]) {
        return false;
    }
    if (rounds == 0) {
        return true;
    }
    bool taken[NODES] = {false};
    int left = 0;
    for (int v = 0; v < h->n; v++) {
        left += h->edge[j][v] != 0;
    }
    for (int u = 0; u < g->n; u++) {
        bool found = false;
        if (!g->edge[i][u]) {
            continue;
        }
        for (int v = 0; v < h->n && !found; v++) {
            if (!taken[v] && h->edge[j][v] == g->edge[i][u] &&
                same_tree(g, u, h, v, rounds - 1)) {
                found = taken[v] = true;
                left--;
            }
        }
        if (!found) {
            return false;
        }
    }
    return left == 0;
}

static double wl_value(const graph *g, const graph *h, int rounds)
{
    double sum = 0;
    for (int round = 0; round <= rounds; round++) {
        for (int i = 0; i < g->n; i++) {
            for (int j = 0; j < h->n; j++) {
                sum += same_tree(g, i, h, j, round);
            }
        }
    }
    return sum;
}

/* sum over pairs of equal texts: counts multiply; without counts each text once. */
static double meet(const store *a, const store *b, bool count)
{
    double sum = 0;
    for (int i = 0; i < a->count; i++) {
        bool repeated = false;
        for (int k = 0; k < i && !count; k++) {
            repeated |= strcmp(a->text[i], a->text[k]) == 0;
        }
        for (int j = 0; j < b->count && !repeated; j++) {
            if (strcmp(a->text[i], b->text[j]) == 0) {
                sum += 1;
                if (!count) {
                    break;
                }
            }
        }
    }
    return sum;
}

typedef void (*lister)(const graph *g, int parameter, store *b);

static void compare(const char *expression, lister list, int parameter, bool count)
{
    okra_random_ r = okra_random_create_(11, 3);
    graph g[GRAPHS];
    store stores[GRAPHS];
    double K[GRAPHS * GRAPHS], cross[4 * GRAPHS];
    okra_data *all = NULL, *some = NULL;
    for (int k = 0; k < GRAPHS; k++) {
        g[k] = k == 13 ? relabelled(&r, &g[12]) : random_graph(&r, k % (NODES + 1));
        stores[k] = (store){0, malloc(sizeof *stores[k].text * FEATURES)};
        list(&g[k], parameter, &stores[k]);
    }
    CHECK_OK(make_data(g, GRAPHS, &all));
    gram(expression, all, NULL, K);
    for (int i = 0; i < GRAPHS; i++) {
        for (int j = 0; j < GRAPHS; j++) {
            CHECK_NEAR(K[i * GRAPHS + j], meet(&stores[i], &stores[j], count), 0);
        }
    }
    /* Test graphs against a training set that lacks some of their features. */
    CHECK_OK(make_data(g, 4, &some));
    gram(expression, all, some, cross);
    for (int i = 0; i < GRAPHS; i++) {
        for (int j = 0; j < 4; j++) {
            CHECK_NEAR(cross[i * 4 + j], K[i * GRAPHS + j], 0);
        }
    }
    okra_data_free(all);
    okra_data_free(some);
    for (int k = 0; k < GRAPHS; k++) {
        free(stores[k].text);
    }
}

TEST(paths_equal_their_enumeration)
{
    compare("paths(m=0)", paths_of, 0, false);
    compare("paths(m=2)", paths_of, 2, false);
    compare("paths(m=3,count=1)", paths_of, 3, true);
    compare("paths", paths_of, 6, false);
    /* 2^20 places hold these few features apart. */
    compare("paths(m=3,bits=1048576)", paths_of, 3, false);
    compare("paths(m=3,count=1,bits=1048576)", paths_of, 3, true);
}

TEST(shortest_paths_equal_their_enumeration)
{
    compare("shortest-path", shortest_of, 0, true);
    compare("shortest-path(count=0)", shortest_of, 0, false);
}

TEST(wl_equals_pairs_of_equal_trees)
{
    okra_random_ r = okra_random_create_(5, 1);
    graph g[GRAPHS];
    okra_data *all = NULL, *some = NULL;
    double K[GRAPHS * GRAPHS], cross[GRAPHS * 3];
    for (int k = 0; k < GRAPHS; k++) {
        g[k] = random_graph(&r, k % (NODES + 1));
        for (int i = 0; i < g[k].n; i++) {
            g[k].label[i] %= 2; /* more trees that are equal */
        }
    }
    CHECK_OK(make_data(g, GRAPHS, &all));
    CHECK_OK(make_data(g + 4, 3, &some));
    for (int h = 0; h <= 3; h++) {
        char text[32];
        snprintf(text, sizeof text, "wl(h=%d)", h);
        gram(text, all, NULL, K);
        gram(text, all, some, cross);
        for (int i = 0; i < GRAPHS; i++) {
            for (int j = 0; j < GRAPHS; j++) {
                CHECK_NEAR(K[i * GRAPHS + j], wl_value(&g[i], &g[j], h), 0);
            }
            for (int j = 0; j < 3; j++) {
                CHECK_NEAR(cross[i * 3 + j], K[i * GRAPHS + 4 + j], 0);
            }
        }
    }
    okra_data_free(all);
    okra_data_free(some);
}

/* Symmetric, positive semi-definite, the same for any order of the objects. */
TEST(gram_matrices_are_psd_and_follow_the_order)
{
    static const char *const kernels[] = {"paths(m=4)",    "paths(m=4) | tanimoto",
                                          "wl(h=3)",       "shortest-path",
                                          "ecfp(count=1)", "paths(m=3,bits=32)"};
    enum { N = 30 };
    okra_random_ r = okra_random_create_(1, 9);
    static graph g[N], turned[N];
    static double K[N * N], T[N * N];
    double w[N];
    okra_data *data = NULL, *reversed = NULL;
    for (int k = 0; k < N; k++) {
        g[k] = random_graph(&r, 1 + k % NODES);
        turned[N - 1 - k] = relabelled(&r, &g[k]);
    }
    CHECK_OK(make_data(g, N, &data));
    CHECK_OK(make_data(turned, N, &reversed));
    for (int k = 0; k < 6; k++) {
        gram(kernels[k], data, NULL, K);
        gram(kernels[k], reversed, NULL, T);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                CHECK(K[i * N + j] == K[j * N + i]);
                CHECK(K[i * N + j] == T[(N - 1 - i) * N + N - 1 - j]);
            }
        }
        CHECK_OK(okra_eigh_(NULL, okra_mat_of_(K, N, N), w));
        /* rounding of the decomposition: about n eps */
        CHECK(w[0] > -2e-14 * w[N - 1]);
    }
    okra_data_free(data);
    okra_data_free(reversed);
}

TEST(broken_objects_are_refused)
{
    okra_random_ r = okra_random_create_(2, 2);
    graph g = random_graph(&r, 5);
    okra_data *data = NULL;
    okra_kernel *kernel = NULL;
    double K;
    g.edge[1][0] = g.edge[0][1] = 3;
    g.label[0] = 2;
    CHECK_OK(make_data(&g, 1, &data));
    CHECK_OK(okra_kernel_parse("wl", &kernel));
    int32_t *ends = data->groups[1].fields[0].values,
            *label = data->groups[0].fields[0].values;
    int32_t kept = ends[0];
    ends[0] = 5;
    CHECK_FAILS(okra_gram(NULL, kernel, data, NULL, &K, 1), OKRA_EFORMAT, "node 5 of 5");
    ends[0] = kept;
    label[0] = -1000;
    CHECK_FAILS(okra_gram(NULL, kernel, data, NULL, &K, 1), OKRA_EFORMAT, "-1000");
    okra_kernel_free(kernel);
    okra_data_free(data);
}

static okra_status whole_gram(const char *text, const okra_data *data, double *K)
{
    okra_kernel *kernel = NULL;
    okra_context *ctx = NULL;
    okra_status st = OKRA_OK;
    TRY(okra_context_create(&ctx));
    TRY(okra_context_set_threads(ctx, 1));
    TRY(okra_kernel_parse(text, &kernel));
    TRY(okra_gram(ctx, kernel, data, NULL, K, data->n));
done:
    okra_kernel_free(kernel);
    okra_context_free(ctx);
    return st;
}

TEST(allocations_may_fail)
{
    okra_random_ r = okra_random_create_(3, 3);
    graph g[2] = {random_graph(&r, 4), random_graph(&r, 5)};
    okra_data *data = NULL, *made = NULL;
    double K[4];
    CHECK_OK(make_data(g, 2, &data));
    CHECK_ALLOCATIONS(whole_gram("paths(m=2)", data, K), (void)0);
    CHECK_ALLOCATIONS(whole_gram("wl(count=0)", data, K), (void)0);
    CHECK_ALLOCATIONS(whole_gram("ecfp(bits=64)", data, K), (void)0);
    CHECK_ALLOCATIONS(whole_gram("shortest-path", data, K), (void)0);
    CHECK_ALLOCATIONS(make_data(g, 2, &made), okra_data_free(made));
    okra_data_free(data);
}

MAIN(RUN(paths_equal_their_enumeration), RUN(shortest_paths_equal_their_enumeration),
     RUN(wl_equals_pairs_of_equal_trees), RUN(gram_matrices_are_psd_and_follow_the_order),
     RUN(broken_objects_are_refused), RUN(allocations_may_fail))
