/*
 * A program compiled with an older header against the present library. The bytes behind
 * its structs, where fields of today would be, are all ones: a library that read them
 * would see pointers to nowhere and flags that were never set. And a program of the
 * future, whose struct is longer: understood while what is new is 0, refused otherwise.
 */
#include "older.h"

#include <stdio.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            failures++;                                                                \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, okra_message()); \
        }                                                                              \
    } while (0)

enum { N = 6, BEHIND = 256 };

int main(void)
{
    double values[2 * N] = {0.1, 0.9, 0.4, 0.2, 0.8, 0.5, 0.7, 0.3, 0.6, 0.1, 0.2, 0.4};
    okra_int labelled[] = {0, 1, 2, 3}, rows = 0, cols = 0;
    okra_link edges[] = {{0, 1, 1}, {1, 2, 1}};
    okra_data *x = NULL;
    okra_model *model = NULL;
    okra_prediction *prediction = NULL;
    okra_selection *selection = NULL;
    okra_links *links = NULL;
    struct {
        union {
            okra_predict_request predict;
            okra_select_request select;
            okra_link_settings link;
            unsigned char bytes[BEHIND];
        };
    } s;

    CHECK(okra_data_dense(values, N, 2, 2, &x) == OKRA_OK);
    CHECK(okra_fit(NULL, x, x, NULL, &model) == OKRA_OK);

    memset(&s, 0xff, sizeof s);
    s.predict = (okra_predict_request){.size = sizeof s.predict, .candidates = x};
    CHECK(okra_predict(NULL, model, x, NULL, &s.predict, &prediction) == OKRA_OK);
    CHECK(!okra_prediction_weights(prediction, &rows, &cols)); /* was not asked for */
    CHECK(!okra_prediction_confidence(prediction, &rows));
    okra_prediction_free(prediction);
    prediction = NULL;

    memset(&s, 0xff, sizeof s);
    s.select = (okra_select_request){.size = sizeof s.select};
    CHECK(okra_select(NULL, x, x, NULL, &s.select, &selection) == OKRA_OK);
    okra_selection_free(selection);

    memset(&s, 0xff, sizeof s);
    s.link = (okra_link_settings){.size = sizeof s.link, .beta = 1};
    okra_link_task task = {x, labelled, 4, edges, 2, NULL};
    CHECK(okra_link_fit(NULL, &task, NULL, &s.link, &links) == OKRA_OK);
    okra_links_free(links);

    /* of the future */
    memset(&s, 0, sizeof s);
    s.predict.size = BEHIND;
    CHECK(okra_predict(NULL, model, x, NULL, &s.predict, &prediction) == OKRA_OK);
    okra_prediction_free(prediction);
    s.bytes[BEHIND - 1] = 1;
    CHECK(okra_predict(NULL, model, x, NULL, &s.predict, &prediction) != OKRA_OK);
    CHECK(strstr(okra_message(), "does not know") != NULL);
    /* and one that forgot its size */
    memset(&s, 0, sizeof s);
    CHECK(okra_predict(NULL, model, x, NULL, &s.predict, &prediction) != OKRA_OK);
    CHECK(strstr(okra_message(), "OKRA_SIZED") != NULL);

    okra_model_free(model);
    okra_data_free(x);
    return failures > 0;
}
