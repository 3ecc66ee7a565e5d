/*
 * methods.c: the table of methods, and what is the same for those in it.
 */
#include "method/method.h"

/* A method more is one line here: X(name) for okra_method_<name>_. */
/* clang-format off */
#define METHODS(X) \
    X(ridge) \
    X(margin) \
    X(knn) \
    X(kpca) \
    X(tgp_kl) \
    X(tgp_hsic) \
    X(soar) \
    X(ok3) \
    X(blend) \
    X(naive) \
    X(kcca) \
    X(kml) \
    X(local) \
    X(em) \
    X(pkmr) \
    X(svm) \
    X(svr) \
    X(hopfield) \
    X(jkm) \
    X(m3n) \
    X(constrained)
/* clang-format on */
#define DECLARE(name) extern const okra_method_ okra_method_##name##_;
#define PLACE(name) &okra_method_##name##_,

METHODS(DECLARE)
const okra_method_ *const okra_methods_[] = {METHODS(PLACE) NULL};

const okra_method_ *okra_method_find_(const char *name)
{
    for (size_t i = 0; okra_methods_[i]; i++) {
        if (strcmp(okra_methods_[i]->name, name) == 0) {
            return okra_methods_[i];
        }
    }
    return NULL;
}

okra_status okra_method_fit_(okra_context *ctx, const okra_method_ *method,
                             const okra_problem_ *problem, const okra_options *options,
                             okra_store_ *store)
{
    if (method->fit) {
        return method->fit(ctx, problem, options, store);
    }
    double lambda;
    okra_option rows[] = {*okra_option_find_(&method->options, "lambda", 6), {0}};
    rows[0].offset = 0;
    okra_option_table table = {method->options.owner, rows, sizeof lambda};
    okra_status st = okra_options_read(options, &table, &lambda);
    return st == OKRA_OK ? method->path(ctx, problem, options, &lambda, 1, &store) : st;
}

bool okra_method_factored_(const okra_method_ *method, const okra_problem_ *problem,
                           const okra_options *options)
{
    return method->low_rank && method->low_rank(problem, options);
}

const okra_auto_ *okra_method_auto_(const okra_method_ *method)
{
    static const okra_auto_ none = {0};
    return method->automatic ? method->automatic : &none;
}

okra_coupling_ okra_method_coupling_(const okra_method_ *method,
                                     const okra_options *options)
{
    const okra_auto_ *a = okra_method_auto_(method);
    return a->coupling ? a->coupling(options) : OKRA_OUTPUTS_BOUND_;
}

okra_status okra_linker_network_(const char *who, const okra_problem_ *p,
                                 const okra_network_ **out)
{
    REFUSE_IF(p->y->kind != OKRA_NODES, OKRA_EUNSUPPORTED,
              "%s learns from the edges of a network, the outputs are %s", who,
              okra_kind_name(p->y->kind));
    *out = p->y->network;
    return OKRA_OK;
}

bool okra_method_always_(const okra_problem_ *problem, const okra_options *options)
{
    return true;
}

okra_form_ okra_method_form_(const okra_method_ *method, const okra_store_ *store)
{
    return method->form     ? method->form(store)
           : method->linker ? OKRA_FORM_LINKS
           : method->width  ? OKRA_FORM_EMBEDDING
                            : OKRA_FORM_WEIGHTS;
}

bool okra_method_takes_(const okra_method_ *method, okra_takes_ what)
{
    return (method->takes & what) != 0;
}

bool okra_method_embeds_(const okra_method_ *method, const okra_store_ *store)
{
    return method->embed && method->width(store) > 0;
}

const okra_compares_ *okra_method_compares_(const okra_method_ *method)
{
    static const okra_compares_ none = {0};
    return method->compares ? method->compares : &none;
}
