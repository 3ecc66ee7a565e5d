/*
 * molecules.c: from molecules to numbers. Boiling points of alcohols and amines from
 * their SMILES, by the labelled paths that molecules have in common.
 *
 *     cc molecules.c $(pkg-config --cflags --libs okra) -o molecules && ./molecules
 */
#include <okra/okra.h>

#include <stdio.h>

static const char *const known[] = {"CO", "CCO", "CCCO", "CCCCCO",
                                    "CN", "CCN", "CCCN", "CCCCCN"};
/* degrees Celsius, above 50 */
static const double boiling[] = {15, 28, 47, 88, -56, -33, -2, 54};
static const char *const unknown[] = {"CCCCO butanol", "CCCCN butylamine"};

int main(void)
{
    okra_context *context = NULL;
    okra_data *x = NULL, *y = NULL, *asked = NULL;
    okra_options *options = NULL;
    okra_model *model = NULL;
    okra_prediction *prediction = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .embedding = true};
    okra_int rows, columns, length;

    okra_status st = okra_context_create(&context);
    st = st ? st : okra_context_set_threads(context, 1);
    st = st ? st : okra_data_smiles(context, known, 8, &x);
    st = st ? st : okra_data_dense(boiling, 8, 1, 1, &y);
    st = st ? st : okra_data_smiles(context, unknown, 2, &asked);
    st = st ? st : okra_fit_options(&options);
    st = st ? st : okra_options_set(options, "kx", "paths(m=6,count=1) | tanimoto");
    st = st ? st : okra_options_set(options, "lambda", "0.01");
    st = st ? st : okra_fit(context, x, y, options, &model);
    st = st ? st : okra_predict(context, model, asked, NULL, &request, &prediction);
    if (st) {
        fprintf(stderr, "%s\n", okra_message());
    } else {
        const double *found = okra_prediction_embedding(prediction, &rows, &columns);
        for (okra_int i = 0; i < rows; i++) {
            const char *name = okra_data_text(asked, i, &length);
            printf("%.*s: %.0f\n", (int)length, name, 50 + found[i]);
        }
    }
    okra_prediction_free(prediction);
    okra_model_free(model);
    okra_options_free(options);
    okra_data_free(asked);
    okra_data_free(y);
    okra_data_free(x);
    okra_context_free(context);
    return st ? 1 : 0;
}
