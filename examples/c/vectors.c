/*
 * vectors.c: from vectors to vectors. Learns the lower half of small pictures from the
 * upper half, chooses lambda by leave-one-out, saves the model and predicts.
 *
 *     cc vectors.c $(pkg-config --cflags --libs okra) -lm -o vectors && ./vectors
 */
#include <okra/okra.h>

#include <math.h>
#include <stdio.h>

enum { PICTURES = 200, SIDE = 16, HALF = SIDE * SIDE / 2 };
static double upper[PICTURES][HALF], lower[PICTURES][HALF];

/* Waves of several directions and lengths, cut in two. */
static void draw(void)
{
    for (int i = 0; i < PICTURES; i++) {
        double angle = 0.7 * i, length = 1.5 + (i * 37 % 100) / 100.0, at = 0.3 * i;
        for (int j = 0; j < SIDE * SIDE; j++) {
            double u = (double)(j % SIDE) / SIDE, v = (double)(j / SIDE) / SIDE;
            double value = sin(6 * (u * cos(angle) + v * sin(angle)) / length + at);
            *(j < HALF ? &upper[i][j] : &lower[i][j - HALF]) = value;
        }
    }
}

int main(void)
{
    okra_data *x = NULL, *y = NULL, *train_x = NULL, *train_y = NULL, *new_x = NULL;
    okra_data *new_y = NULL;
    okra_options *options = NULL, *best = NULL;
    okra_model *model = NULL;
    okra_selection *selection = NULL;
    okra_prediction *prediction = NULL;
    okra_int first[150], last[50], rows, columns;
    double error = 0;

    for (int i = 0; i < 200; i++) {
        *(i < 150 ? &first[i] : &last[i - 150]) = i;
    }
    /* Every function that can fail returns a status; okra_message() tells what happened.
     */
    draw();
    okra_status st = okra_data_dense(upper[0], PICTURES, HALF, HALF, &x);
    st = st ? st : okra_data_dense(lower[0], PICTURES, HALF, HALF, &y);
    st = st ? st : okra_data_take(x, first, 150, &train_x);
    st = st ? st : okra_data_take(y, first, 150, &train_y);
    st = st ? st : okra_data_take(x, last, 50, &new_x);
    st = st ? st : okra_data_take(y, last, 50, &new_y);

    st = st ? st : okra_select_options(&options);
    st = st ? st : okra_options_set(options, "kx", "rbf(sigma={2,4,8})");
    st = st ? st : okra_options_set(options, "lambda", "1e-4..1e0");
    st = st ? st : okra_options_set(options, "cv", "loo");
    st = st ? st : okra_select(NULL, train_x, train_y, options, NULL, &selection);

    /* the options of the best cell of the grid are those of a fit */
    st = st ? st
            : okra_selection_options(selection, okra_selection_best(selection), &best,
                                     NULL);
    st = st ? st : okra_fit(NULL, train_x, train_y, best, &model);
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .embedding = true};
    st = st ? st : okra_predict(NULL, model, new_x, NULL, &request, &prediction);
    st = st ? st : okra_model_save(NULL, model, NULL, "vectors.okra");
    if (st) {
        fprintf(stderr, "%s\n", okra_message());
    } else {
        const double *found = okra_prediction_embedding(prediction, &rows, &columns);
        const double *wanted = okra_data_values(new_y, NULL);
        for (okra_int i = 0; i < rows * columns; i++) {
            error += (found[i] - wanted[i]) * (found[i] - wanted[i]);
        }
        printf("%lld pictures of %lld values, mean squared error %.4f\n", (long long)rows,
               (long long)columns, error / (double)(rows * columns));
    }
    okra_prediction_free(prediction);
    okra_model_free(model);
    okra_options_free(best);
    okra_selection_free(selection);
    okra_options_free(options);
    okra_data_free(new_y);
    okra_data_free(new_x);
    okra_data_free(train_y);
    okra_data_free(train_x);
    okra_data_free(y);
    okra_data_free(x);
    return st ? 1 : 0;
}
