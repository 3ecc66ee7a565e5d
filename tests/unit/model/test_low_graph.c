/*
 * Inputs without outputs under low rank, with every graph: equal to the dense form at
 * full rank.
 */
#include "pairs.h"

enum { LABELLED = 8 };

/* A ring with two chords and an input without neighbours, all weights different; a loop
 * counts for nothing. */
static void write_graph(void)
{
    static const int ends[][2] = {{0, 1},  {1, 2},  {2, 3}, {3, 4}, {4, 5},
                                  {5, 6},  {6, 7},  {7, 8}, {8, 9}, {9, 0},
                                  {2, 10}, {4, 10}, {3, 3}};
    enum { EDGES = sizeof ends / sizeof *ends };
    double W[N * N] = {0};
    FILE *sparse = fopen(files_path("W.mtx"), "w");
    fprintf(sparse, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n", N, N,
            EDGES);
    for (int e = 0; e < EDGES; e++) {
        double w = 0.3 + 0.1 * e;
        int a = ends[e][0], b = ends[e][1];
        fprintf(sparse, "%d %d %.17g\n", (a > b ? a : b) + 1, (a > b ? b : a) + 1, w);
        W[a * N + b] = W[b * N + a] = w;
    }
    fclose(sparse);
    FILE *dense = fopen(files_path("W.csv"), "w");
    for (int i = 0; i < N * N; i++) {
        fprintf(dense, "%.17g%s", W[i], (i + 1) % N ? "," : "\n");
    }
    fclose(dense);
}

static void predictions(const okra_model *model, const pairs *p, double *out)
{
    okra_prediction *q = pairs_predict(model, p->test_x, "decode=explicit", false, false);
    okra_int ld = 0;
    const double *y = okra_data_values(okra_prediction_objects(q), &ld);
    memcpy(out, y, M * D * sizeof *out);
    okra_prediction_free(q);
}

static const char *const graphs[] = {"gram",
                                     "gram|normalized",
                                     "knn(k=2)",
                                     "knn(k=3)|normalized",
                                     "knn(share=0.3)|normalized|power(p=2)",
                                     "knn(k=2)|power(p=3)",
                                     "file(W.mtx)|normalized",
                                     "file(W.csv)|power(p=2)|power(p=2)"};
enum { GRAPHS = sizeof graphs / sizeof *graphs };

/* graphs[k] with the file where it is */
static void graph_text(int k, char *text, size_t size)
{
    const char *open = strstr(graphs[k], "(W."), *close = open ? strchr(open, ')') : NULL;
    if (!open) {
        snprintf(text, size, "%s", graphs[k]);
        return;
    }
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)(close - open - 1), open + 1);
    snprintf(text, size, "file(%s%s", files_path(name), close);
}

/* The settings of case c, with low rank or without; what the graph weighs differs by
 * powers, so that lambda2 does too. */
static okra_model *fit_case(int c, const pairs *p, const okra_data *y, bool low)
{
    static const char *const ranks[] = {"chol(rank=12,tol=0)", "nystrom(rank=12)",
                                        "nystrom(rank=12,pivots=centres)"};
    char settings[1400], graph[600], matrix[600] = "";
    int rest = c;
    graph_text(pick(&rest, GRAPHS), graph, sizeof graph);
    if (pick(&rest, 2)) {
        snprintf(matrix, sizeof matrix, " operator=matrix:%s", files_path("S.csv"));
    }
    const char *center = pick(&rest, 2) ? "yes" : "no", *rank = ranks[pick(&rest, 3)];
    snprintf(settings, sizeof settings,
             "kx=rbf(sigma=1) lambda=0.05 lambda2=0.1 graph=%s center-output=%s%s%s%s",
             graph, center, matrix, low ? " low-rank-x=" : "", low ? rank : "");
    return pairs_fit(p->train_x, y, settings);
}

/* Ten times the worst over 10 rounds of other seeds, which was 7.2e-12. */
TEST(every_graph_of_full_rank_equals_dense)
{
    write_graph();
    files_make("S.csv", "2,0.5\n0.5,1\n", 12);
    for (int c = 0; c < GRAPHS * 2 * 2 * 3; c++) {
        pairs p;
        double want[M * D], got[M * D];
        okra_data *labelled = NULL;
        okra_int index[LABELLED];
        pairs_make((uint64_t)c, &p);
        for (okra_int i = 0; i < LABELLED; i++) {
            index[i] = i;
        }
        CHECK_OK(okra_data_take(p.train_y, index, LABELLED, &labelled));
        okra_model *a = fit_case(c, &p, labelled, false);
        okra_model *b = fit_case(c, &p, labelled, true);
        predictions(a, &p, want);
        predictions(b, &p, got);
        CHECK_NEAR(harness_relative(M * D, got, want), 0, 7e-11);
        okra_model_free(a);
        okra_model_free(b);
        okra_data_free(labelled);
        pairs_free(&p);
    }
    files_clean();
}

MAIN(RUN(every_graph_of_full_rank_equals_dense))
