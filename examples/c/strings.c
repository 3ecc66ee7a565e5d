/*
 * strings.c: from strings to strings. Learns plural forms and predicts those of new
 * words, among candidates.
 *
 *     cc strings.c $(pkg-config --cflags --libs okra) -o strings && ./strings
 */
#include <okra/okra.h>
#include <okra/more/objects.h>

#include <stdio.h>

static const char *const words[] = {"cat",  "dog",   "box",  "fox",  "bird", "tree",
                                    "dish", "brush", "star", "lamp", "tax",  "wish"};
static const char *const plurals[] = {"cats",  "dogs",  "boxes",  "foxes",
                                      "birds", "trees", "dishes", "brushes",
                                      "stars", "lamps", "taxes",  "wishes"};
static const char *const new_words[] = {"car", "mix"};
static const char *const candidates[] = {"cars", "cares", "mixs", "mixes"};

/* The best candidate of each new word. */
static void print(const okra_prediction *prediction)
{
    const okra_data *found = okra_prediction_objects(prediction);
    for (okra_int i = 0; i < okra_data_count(found); i++) {
        okra_int length = 0;
        const int32_t *letters = okra_data_characters(found, i, &length);
        printf("%s -> ", new_words[i]);
        for (okra_int j = 0; j < length; j++) {
            putchar((char)letters[j]); /* code points; these are ASCII */
        }
        putchar('\n');
    }
}

int main(void)
{
    okra_data *x = NULL, *y = NULL, *asked = NULL, *among = NULL;
    okra_options *options = NULL;
    okra_model *model = NULL;
    okra_prediction *prediction = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request)};

    okra_status st = okra_data_strings(words, 12, &x);
    st = st ? st : okra_data_strings(plurals, 12, &y);
    st = st ? st : okra_data_strings(new_words, 2, &asked);
    st = st ? st : okra_data_strings(candidates, 4, &among);
    st = st ? st : okra_fit_options(&options);
    st = st ? st : okra_options_set(options, "kx", "spectrum(k=1) | normalize");
    st = st ? st : okra_options_set(options, "ky", "spectrum(k=2) | normalize");
    st = st ? st : okra_options_set(options, "lambda", "0.01");
    st = st ? st : okra_fit(NULL, x, y, options, &model);
    request.candidates = among;
    st = st ? st : okra_predict(NULL, model, asked, NULL, &request, &prediction);
    if (st) {
        fprintf(stderr, "%s\n", okra_message());
    } else {
        print(prediction);
    }
    okra_prediction_free(prediction);
    okra_model_free(model);
    okra_options_free(options);
    okra_data_free(among);
    okra_data_free(asked);
    okra_data_free(y);
    okra_data_free(x);
    return st ? 1 : 0;
}
