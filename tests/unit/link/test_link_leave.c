/*
 * Labelled pairs scored by models that have not seen them: against refits written out.
 */
#include "toy.h"
#include "okra/more/link.h"
#include "okra/more/ranking.h"

static const char *const ridge[] = {"kx=" TOY_KX, "lambda=0.1", NULL};

/* w: the weights at node i of the model of all labelled nodes but i and `other`. */
static void left_out_row(const toy *t, double lambda, okra_int i, okra_int other,
                         double *w)
{
    okra_int n = t->n, rest[NODES], r = 0;
    double A[SQUARE], B[SQUARE], X[SQUARE];
    for (okra_int j = 0; j < n; j++) {
        w[j] = 0;
        if (j != i && j != other) {
            rest[r++] = j;
        }
    }
    for (okra_int j = 0; j < r; j++) {
        const double *row = t->K + t->labelled[rest[j]] * NODES;
        B[j] = row[t->labelled[i]];
        for (okra_int k = 0; k < r; k++) {
            A[j * r + k] = row[t->labelled[rest[k]]] + (j == k ? lambda : 0);
        }
    }
    solve(r, A, 1, B, X);
    for (okra_int j = 0; j < r; j++) {
        w[rest[j]] = X[j];
    }
}

/* Scores of labelled pairs, each end left out by itself or both together; over the sizes
 * of both to the power of norm. */
static void left_out_scores(const toy *t, double lambda, bool together, double norm,
                            const double *L, double *S)
{
    okra_int n = t->n;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            double wi[NODES], wj[NODES], ii = 0, jj = 0;
            left_out_row(t, lambda, i, together ? j : i, wi);
            left_out_row(t, lambda, j, together ? i : j, wj);
            S[i * n + j] = 0;
            for (okra_int k = 0; k < n * n; k++) {
                S[i * n + j] += wi[k / n] * L[k] * wj[k % n];
                ii += wi[k / n] * L[k] * wi[k % n];
                jj += wj[k / n] * L[k] * wj[k % n];
            }
            S[i * n + j] /= pow(sqrt(ii) * sqrt(jj), norm);
        }
    }
}

static okra_ranking *rank_left_out(const toy *t, double lambda, bool together,
                                   double norm, const double *L)
{
    double S[SQUARE], score[SQUARE];
    unsigned char positive[SQUARE];
    okra_int count = 0;
    okra_ranking *out = NULL;
    left_out_scores(t, lambda, together, norm, L, S);
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int j = 0; j < i; j++) {
            positive[count] = t->A[i * t->n + j] > 0;
            score[count++] = S[i * t->n + j];
        }
    }
    CHECK_OK(okra_ranking_create(count, score, positive, &out));
    return out;
}

TEST(both_ends_left_out_equals_refits)
{
    const double lambda[] = {0.01, 0.3};
    const okra_link_settings settings = {OKRA_SIZED(okra_link_settings), .beta = 1,
                                         .together = true};
    int apart = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        toy t;
        double L[SQUARE], roc[2], pr[2], single[2];
        toy_make(&t, seed, 6 + (okra_int)(seed % 7), 0.3);
        toy_diffusion(&t, 1, L);
        okra_options *o = toy_options(ridge);
        CHECK_OK(okra_link_leave(NULL, &t.task, o, &settings, lambda, 2, roc, pr));
        CHECK_OK(okra_link_leave(NULL, &t.task, o, NULL, lambda, 2, single, NULL));
        for (int l = 0; l < 2; l++) {
            okra_ranking *want = rank_left_out(&t, lambda[l], true, 0, L);
            CHECK_NEAR(roc[l], okra_ranking_auc_roc(want), 1e-12);
            CHECK_NEAR(pr[l], okra_ranking_auc_pr(want), 1e-12);
            okra_ranking_free(want);
            apart += roc[l] != single[l];
        }
        CHECK_OK(okra_options_set(o, "center-output", "yes"));
        CHECK_FAILS(okra_link_leave(NULL, &t.task, o, &settings, lambda, 2, roc, pr),
                    OKRA_EUNSUPPORTED, "center-output");
        okra_options_free(o);
        toy_free(&t);
    }
    CHECK(apart > 5); /* or the two would be one */
}

TEST(leave_one_out_equals_refits)
{
    const double lambda[] = {0.01, 0.3};
    for (uint64_t seed = 0; seed < 10; seed++) {
        toy t;
        double L[SQUARE], roc[2], pr[2];
        toy_make(&t, seed, 6 + (okra_int)(seed % 7), 0.3);
        toy_diffusion(&t, 1, L);
        okra_options *o = toy_options(ridge);
        CHECK_OK(okra_link_leave(NULL, &t.task, o, NULL, lambda, 2, roc, pr));
        for (int l = 0; l < 2; l++) {
            okra_ranking *want = rank_left_out(&t, lambda[l], false, 0, L), *got = NULL;
            bool left_out = false;
            CHECK_NEAR(roc[l], okra_ranking_auc_roc(want), 1e-12);
            CHECK_NEAR(pr[l], okra_ranking_auc_pr(want), 1e-12);
            CHECK_OK(okra_options_set_number(o, "lambda", lambda[l]));
            okra_links *links = NULL;
            CHECK_OK(okra_link_fit(NULL, &t.task, o, NULL, &links));
            CHECK_OK(okra_link_training(NULL, links, &got, &left_out));
            CHECK(left_out);
            double f1, want_f1;
            CHECK_NEAR(okra_ranking_threshold(got, &f1),
                       okra_ranking_threshold(want, &want_f1), 1e-10);
            CHECK_NEAR(f1, want_f1, 1e-12);
            okra_ranking_free(want);
            okra_ranking_free(got);
            okra_links_free(links);
        }
        okra_options_free(o);
        toy_free(&t);
    }
}

TEST(scores_over_sizes_equal_refits)
{
    const double lambda = 0.3;
    int differ = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        toy t;
        double L[SQUARE], roc, pr, norm = 0, best = -1, want_norm = 0;
        toy_make(&t, seed, 7 + (okra_int)(seed % 6), 0.3);
        toy_diffusion(&t, 1, L);
        toy_normalize(&t, L);
        okra_options *o = toy_options(ridge);
        CHECK_OK(okra_options_set_number(o, "lambda", lambda));
        static const double tried[] = {0.75, 0.5, 1};
        for (int k = 0; k < 6; k++) {
            okra_link_settings settings = {OKRA_SIZED(okra_link_settings), .beta = 1,
                                           .together = k >= 3, .norm = tried[k % 3]};
            okra_ranking *want = rank_left_out(&t, lambda, k >= 3, tried[k % 3], L);
            CHECK_OK(okra_link_leave(NULL, &t.task, o, &settings, &lambda, 1, &roc, &pr));
            CHECK_NEAR(roc, okra_ranking_auc_roc(want), 1e-12);
            CHECK_NEAR(pr, okra_ranking_auc_pr(want), 1e-12);
            if (k < 3 && okra_ranking_auc_pr(want) > best) {
                best = okra_ranking_auc_pr(want);
                want_norm = tried[k];
            }
            okra_ranking_free(want);
        }
        CHECK_OK(okra_link_norm(NULL, &t.task, o, NULL, &norm));
        CHECK(norm == want_norm);
        differ += norm != 0.75;
        okra_options_free(o);
        toy_free(&t);
    }
    CHECK(differ > 1);
}

TEST(training_pairs_as_fitted_where_there_is_no_closed_form)
{
    toy t;
    okra_ranking *r = NULL;
    bool left_out = true;
    toy_make(&t, 3, 8, 0.4);
    const char *const knn[] = {"kx=" TOY_KX, "method=knn", "k=2", NULL};
    okra_links *links = toy_fit(&t, knn, NULL);
    CHECK_OK(okra_link_training(NULL, links, &r, &left_out));
    CHECK(!left_out);
    okra_ranking_free(r);
    okra_links_free(links);
    okra_options *o = toy_options(knn);
    double lambda = 1, roc;
    CHECK_FAILS(okra_link_leave(NULL, &t.task, o, NULL, &lambda, 1, &roc, NULL),
                OKRA_EUNSUPPORTED, "method knn has no closed form of leave-one-out");
    CHECK_OK(okra_options_set(o, "method", "none"));
    CHECK_FAILS(okra_link_leave(NULL, &t.task, o, NULL, &lambda, 1, &roc, NULL),
                OKRA_EARG, "there is no method 'none'");
    okra_options_free(o);
    toy_free(&t);
}

MAIN(RUN(scores_over_sizes_equal_refits), RUN(both_ends_left_out_equals_refits),
     RUN(leave_one_out_equals_refits),
     RUN(training_pairs_as_fitted_where_there_is_no_closed_form))
