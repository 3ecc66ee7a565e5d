/*
 * check.c: a whole model against what its method, kernels and maps declare, once, before
 * anything of a file is used. Nothing after this trusts the file again.
 */
#include "model/model.h"

/* What any model may keep beside what its method declares. */
static const okra_schema_ common[] = {
    OKRA_KEEPS_NUMBER_("x.rank", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "1e15"),
    OKRA_KEEPS_TOLD_("y.rank"),
    OKRA_KEEPS_TOLD_("x.trace-error"),
    OKRA_KEEPS_TOLD_("y.trace-error"),
    OKRA_KEEPS_NUMBER_("x.waves", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "0", "1"),
    OKRA_KEEPS_TOLD_("twin.hsic-before"),
    OKRA_KEEPS_TOLD_("twin.hsic-after"),
    OKRA_KEEPS_TEXT_("decode", OKRA_KEPT_OPTIONAL_),
    OKRA_KEEPS_TEXT_("align.kernels", OKRA_KEPT_OPTIONAL_),
    OKRA_KEEPS_TEXT_("align.weights", OKRA_KEPT_OPTIONAL_),
    OKRA_KEEPS_TOLD_("align.value"),
    OKRA_KEEPS_NUMBER_("weights.seen", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "1"),
    OKRA_KEPT_END_};
static const okra_schema_ weights[] = {
    OKRA_KEEPS_VALUES_("sample-weight", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_POSITIVE_, "1",
                       "n", "0", "1e300"),
    OKRA_KEPT_END_};

/* Inputs and outputs go together: pairs, pairs and inputs without outputs, or a basis in
 * place of the inputs. */
static okra_status check_pairs(const okra_method_ *method, const okra_facts_ *f,
                               const okra_store_ *store, bool waves)
{
    double rank = 0;
    okra_int n = f->y->n, N = f->x->n;
    bool low = okra_store_get_number_(store, "x.rank", &rank) && !okra_kernel_low_(f->kx);
    REFUSE_IF(n == 0 || (low && N == 0) || (!low && N < n) ||
                  (!low && N > n && !okra_method_takes_(method, OKRA_TAKES_UNLABELLED_)),
              OKRA_EFORMAT, "there are %lld training inputs and %lld outputs",
              (long long)N, (long long)n);
    REFUSE_IF((low || waves) && !method->low_rank, OKRA_EFORMAT,
              "the model keeps a basis of low rank, which method %s does not use",
              method->name);
    REFUSE_IF(waves && (!low || f->x->kind != OKRA_DENSE), OKRA_EFORMAT,
              "the model says that it keeps waves, which it does not");
    REFUSE_IF(f->x->missing ||
                  (f->y->missing && !okra_method_takes_(method, OKRA_TAKES_MISSING_)),
              OKRA_EFORMAT, "%s has missing values, which method %s does not use",
              f->x->missing ? "x" : "y", method->name);
    return OKRA_OK;
}

/* What both kernels keep; *d: the width of explicit features of the outputs, or -1. */
static okra_status check_kernels(const okra_facts_ *f, okra_store_ *store, okra_int *d)
{
    double scale;
    *d = f->y->kind == OKRA_DENSE && okra_kernel_is_linear_(f->ky, &scale) ? f->y->d : -1;
    CHK(okra_trained_kernel_check_kept_(f->kx, f->x, f->x->n, "kx", store));
    CHK(okra_map_saved_(store, "y")
            ? okra_map_check_kept_(f->ky, f->y, f->y->n, store, "y", d)
            : okra_trained_kernel_check_kept_(f->ky, f->y, f->y->n, "ky", store));
    return OKRA_OK;
}

okra_status okra_model_check_(const okra_method_ *method, const okra_data *x,
                              const okra_data *y, const okra_kernel *kx,
                              const okra_kernel *ky, okra_store_ *store)
{
    okra_sizes_ sizes = {0};
    okra_facts_ facts = {x, y, kx, ky, &sizes};
    double waves = 0;
    okra_int d = -1;
    REFUSE_IF(!method->kept, OKRA_EINTERNAL, "method %s does not declare what it keeps",
              method->name);
    CHK(okra_schema_check_(common, NULL, store, &sizes));
    okra_store_get_number_(store, "x.waves", &waves);
    const char *decode = okra_store_get_text_(store, "decode");
    REFUSE_IF(decode && !okra_decoder_find_(decode), OKRA_EFORMAT,
              "there is no decoder '%s'", decode);
    CHK(check_pairs(method, &facts, store, waves != 0));
    CHK(check_kernels(&facts, store, &d));
    okra_sizes_set_(&sizes, "n", y->n);
    okra_sizes_set_(&sizes, "N", x->n);
    okra_sizes_set_(&sizes, "c", waves != 0 ? 2 * x->n : x->n);
    okra_sizes_set_(&sizes, "x", x->d);
    okra_sizes_set_(&sizes, "y", y->d);
    okra_sizes_set_(&sizes, "d", d);
    CHK(okra_schema_check_(weights, NULL, store, &sizes));
    CHK(okra_schema_check_forms_(method->kept, NULL, store, &sizes));
    CHK(okra_schema_check_all_(store));
    REFUSE_IF(okra_map_saved_(store, "y") && method->form(store) != OKRA_FORM_EMBEDDING,
              OKRA_EFORMAT,
              "the model has outputs of low rank and weights over all of them, expected "
              "coefficients");
    if (method->check) {
        CHK(method->check(store, &facts));
    }
    return OKRA_OK;
}
