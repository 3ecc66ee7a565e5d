/*
 * Margin of full rank in factored form equals the dense form, with all outputs and with
 * inputs that have none.
 */
#include "low.h"

/* Margin, decoded and explicit. Ten times the worst over 900 models, 1.0e-12. */
static const double MARGIN = 1e-11;

TEST(margin_of_full_rank_equals_dense)
{
    static const char *const outputs[] = {"linear", "0.5*linear", "rbf(sigma=1)"};
    files_make("Q.csv", "2,0.5\n0.5,1\n", 12);
    for (int c = 0; c < 3 * 3 * RANKS * 2; c++) {
        int rest = c, output = pick(&rest, 3), variant = pick(&rest, 3);
        bool linear = output < 2;
        pairs p;
        char dense[700], matrix[600];
        pairs_make((uint64_t)c, &p);
        snprintf(matrix, sizeof matrix, " operator=matrix:%s", files_path("Q.csv"));
        snprintf(dense, sizeof dense,
                 "method=margin kx=rbf(sigma=1) ky=%s lambda=%s tolerance=1e-14%s",
                 outputs[output], variant > 0 ? "0.05" : "2",
                 linear && variant == 2 ? matrix : "");
        okra_model *a = pairs_fit(p.train_x, p.train_y, dense);
        okra_model *b =
            fit_of_rank(p.train_x, p.train_y, dense, ranks[pick(&rest, RANKS)]);
        check_same(a, b, &p, linear ? "decode=explicit" : "", MARGIN);
        check_same(a, b, &p, "", MARGIN);
        okra_model_free(a);
        okra_model_free(b);
        pairs_free(&p);
    }
}

/* Margin with inputs without outputs. Ten times the worst over 1,080 models, 2.8e-8: the
 * root of the gap over lambda. */
static const double SEMI_MARGIN = 2.8e-7;

TEST(semi_supervised_margin_of_full_rank_equals_dense)
{
    static const char *const outputs[] = {"linear", "0.5*linear", "rbf(sigma=1)"};
    static const char *const losses[] = {"hinge", "huber", "epsilon"};
    static const char *const graphs[] = {"gram", "gram|normalized", "knn(k=3)"};
    for (int c = 0; c < 3 * 3 * 3 * RANKS; c++) {
        int rest = c, output = pick(&rest, 3), loss = pick(&rest, 3);
        pairs p;
        char dense[400];
        okra_data *labelled = NULL;
        okra_int index[8];
        pairs_make((uint64_t)c, &p);
        for (okra_int i = 0; i < 8; i++) {
            index[i] = i;
        }
        CHECK_OK(okra_data_take(p.train_y, index, 8, &labelled));
        snprintf(dense, sizeof dense,
                 "method=margin loss=%s kx=rbf(sigma=1) ky=%s lambda=0.05 lambda2=0.1 "
                 "graph=%s tolerance=1e-14",
                 losses[loss], outputs[output], graphs[pick(&rest, 3)]);
        okra_model *a = pairs_fit(p.train_x, labelled, dense);
        okra_model *b =
            fit_of_rank(p.train_x, labelled, dense, ranks[pick(&rest, RANKS)]);
        CHECK(okra_model_form_(b) == OKRA_FORM_EMBEDDING);
        check_same(a, b, &p, "", SEMI_MARGIN);
        okra_model_free(a);
        okra_model_free(b);
        okra_data_free(labelled);
        pairs_free(&p);
    }
}

/* More waves than pairs make the n x n form the smaller one: it is the model of the
 * kernel written out, coefficient by coefficient; up to n the features are used. */
TEST(more_waves_than_pairs_are_a_kernel)
{
    pairs p;
    okra_int rows, cols;
    pairs_make(3, &p);
    okra_model *many = pairs_fit(p.train_x, p.train_y,
                                 "method=margin kx=rbf(sigma=1) low-rank-x=rff(rank=14)");
    okra_model *kernel =
        pairs_fit(p.train_x, p.train_y, "method=margin kx=rbf(sigma=1)|rff(rank=14)");
    okra_model *few = pairs_fit(p.train_x, p.train_y,
                                "method=margin kx=rbf(sigma=1) low-rank-x=rff(rank=12)");
    check_same(many, kernel, &p, "decode=explicit", 0);
    CHECK(!okra_store_get_(many->store, "coefficients", &rows, &cols) || rows == N);
    CHECK(okra_store_get_(few->store, "coefficients", &rows, &cols) && rows == 12);
    okra_model_free(many);
    okra_model_free(kernel);
    okra_model_free(few);
    pairs_free(&p);
}

MAIN(RUN(more_waves_than_pairs_are_a_kernel), RUN(margin_of_full_rank_equals_dense),
     RUN(semi_supervised_margin_of_full_rank_equals_dense))
