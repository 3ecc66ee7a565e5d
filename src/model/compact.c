/*
 * compact.c: models that keep less of a factor.
 *
 * The Cholesky factor of K + lambda I (n x n) is most of a model of ridge. Where there
 * are coefficients, predictions need no factor: a compact model keeps the coefficients
 * alone, and gives embeddings in place of weights. Elsewhere it keeps the lower triangle,
 * row after row, under the name factor.half: n (n + 1) / 2 numbers, which loading spreads
 * out again, so that predictions have the same bits. Or it keeps nothing of it, and
 * loading computes it again from the training inputs, their kernel and lambda.
 */
#include "model/model.h"

#include "engine/engine.h"
#include "okra/more/update.h"

#include <string.h>

static bool whole_factor(const char *name)
{
    return strcmp(name, "factor") == 0;
}

/* ... or one of several (update.c). */
static bool any_factor(const char *name)
{
    return whole_factor(name) || strncmp(name, "factor.", 7) == 0;
}

/* Is "factor" that of K + lambda I? */
static bool has_own_factor(const okra_method_ *method)
{
    bool found = false;
    for (size_t k = 0; method->solution && method->kept[k]; k++) {
        found = found || strcmp(method->kept[k][0].name, "factor") == 0;
    }
    return found;
}

bool okra_compact_recomputes_(const okra_model *model, okra_compact how)
{
    okra_solution_ fitted;
    okra_model_solution_(model, &fitted);
    return how == OKRA_COMPACT_RECOMPUTE && fitted.has_factor && fitted.lambda >= 0 &&
           !fitted.weights; /* else its factor is that of weighted pairs */
}

bool okra_compact_drops_(const okra_model *model, const char *name, okra_compact how)
{
    if (whole_factor(name) && okra_compact_recomputes_(model, how)) {
        return true;
    }
    return how != OKRA_COMPACT_NO && (any_factor(name) || strcmp(name, "B") == 0) &&
           okra_bag_has_(model->bag, "coefficients");
}

okra_status okra_compact_promise_(okra_context *ctx, const okra_method_ *method,
                                  okra_int n, okra_bag_ *bag, double **out)
{
    OWNED double *factor = NULL;
    REFUSE_IF(
        !has_own_factor(method) || n < 1 || n > INT32_MAX || okra_bag_has_(bag, "factor"),
        OKRA_EFORMAT,
        "a factor is to be computed again for %lld training pairs of method %s, which %s",
        (long long)n, method->name,
        has_own_factor(method) ? "has none or has it already" : "has no such factor");
    CHK(okra_doubles_(ctx, n, n, "the factor of a compact model", &factor));
    okra_mat_fill_(okra_mat_of_(factor, n, n), 0);
    okra_mat_add_diagonal_(okra_mat_of_(factor, n, n), 1);
    double *kept = factor;
    CHK(okra_bag_put_(bag, "factor", &factor, n, n));
    *out = kept;
    return OKRA_OK;
}

/* K + lambda I = G G', as the methods do it (with jitter where they added some), in the
 * place of the factor that was promised. */
okra_status okra_compact_recompute_(okra_context *ctx, const okra_model *model,
                                    double *factor)
{
    okra_int n = model->training->y->n;
    okra_mat_ G = okra_mat_of_(factor, n, n);
    double jitter = 0;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    FREED_BY(okra_large_drop_) okra_large_ *K = NULL;
    okra_solution_ fitted;
    okra_model_solution_(model, &fitted);
    REFUSE_IF(fitted.lambda < 0 || fitted.weights, OKRA_EFORMAT,
              "the factor of this model cannot be computed again: it has no lambda, or "
              "weights of its pairs");
    CHK(okra_entries_create_(ctx, model->training->bound_x, NULL, &entries));
    CHK(okra_large_begin_(ctx, false, G, &K));
    CHK(okra_large_gram_(ctx, entries, 0, K));
    CHK(okra_large_add_diagonal_(ctx, fitted.lambda, K));
    CHK(okra_large_cholesky_(ctx, K, &jitter));
    CHK(okra_large_end_(ctx, K, G));
    for (okra_int i = 0; i < n; i++) {
        okra_mat_fill_(okra_mat_part_(G, i, 1, i + 1, n - i - 1), 0);
    }
    return OKRA_OK;
}

bool okra_compact_halves_(const char *name, okra_mat_ A, okra_compact how)
{
    return how != OKRA_COMPACT_NO && whole_factor(name) && A.rows == A.cols && A.rows > 1;
}

okra_int okra_compact_count_(okra_int n)
{
    return n % 2 ? n * ((n + 1) / 2) : n / 2 * (n + 1);
}

okra_status okra_compact_spread_(okra_context *ctx, const double *half, okra_int count,
                                 okra_int n, okra_bag_ *bag)
{
    OWNED double *whole = NULL;
    REFUSE_IF(n < 1 || n > INT32_MAX || count != okra_compact_count_(n), OKRA_EFORMAT,
              "half of a factor has %lld numbers, which is not n (n + 1) / 2 of n = %lld "
              "training pairs",
              (long long)count, (long long)n);
    CHK(okra_doubles_(ctx, n, n, "the factor of a compact model", &whole));
    for (okra_int i = 0; i < n; i++) {
        memcpy(whole + i * n, half, (size_t)(i + 1) * sizeof *half);
        memset(whole + i * n + i + 1, 0, (size_t)(n - i - 1) * sizeof *half);
        half += i + 1;
    }
    return okra_bag_put_(bag, "factor", &whole, n, n);
}

/* ---- sizes ---- */

static double data_bytes(const okra_data *data)
{
    double n = (double)data->n, sum = 0;
    switch (data->kind) {
    case OKRA_DENSE:
    case OKRA_GRAM:
        return 8 * n * (double)data->d;
    case OKRA_SPARSE:
        return 8 * n + 16 * (double)data->csr.indptr[data->n];
    case OKRA_BITS:
        return 8 * n * (double)data->words;
    case OKRA_LABELS:
    case OKRA_NODES:
    case OKRA_STRINGS:
    case OKRA_SEQUENCES:
    case OKRA_GRAPHS:
    case OKRA_SPECTRA:
    case OKRA_TUPLE:
        break;
    }
    sum = data->codes ? 8 * n : 0;
    if (data->network) {
        sum += 16 * (double)data->network->adjacency.indptr[data->network->nodes];
    }
    for (int g = 0; g < data->group_count; g++) {
        const okra_ragged_ *group = &data->groups[g];
        for (int f = 0; f < group->field_count; f++) {
            sum += (double)group->offsets[data->n] * (double)group->fields[f].width *
                   (double)okra_field_size_(group->fields[f].type);
        }
        sum += 8 * n;
    }
    for (int k = 0; k < data->component_count; k++) {
        sum += data_bytes(data->components[k]);
    }
    return sum;
}

double okra_model_bytes(const okra_model *model, okra_compact how)
{
    if (!model) {
        return 0;
    }
    double sum = data_bytes(model->training->x) + data_bytes(model->training->y);
    sum += model->calibration_x ? data_bytes(model->calibration_x) : 0;
    sum += model->calibration_y ? data_bytes(model->calibration_y) : 0;
    const char *name;
    okra_mat_ A = {0};
    for (size_t i = 0; (name = okra_bag_each_(model->bag, i, &A)); i++) {
        double bytes = 8 * (double)A.rows * (double)A.cols;
        bool drops = okra_compact_drops_(model, name, how);
        bool half = how != OKRA_COMPACT_NO && whole_factor(name);
        sum += drops ? 0 : half ? bytes / 2 : bytes;
    }
    return sum;
}
