/*
 * okra/kernel.h: kernels written as expressions, and their Gram matrices.
 *
 *   name(param=value, ...)      a kernel:  rbf(sigma=4)  linear  poly(degree=3,coef0=1)
 *   0.5*A + 0.5*B,  A * B       sums, products, scalings; ( ) groups
 *   A | normalize | rbf(...)    a pipe transforms the values of the Gram matrix
 *
 * rbf takes sigma, exp(-d^2/(2 sigma^2)), or gamma, exp(-gamma d^2).
 */
#ifndef OKRA_KERNEL_H
#define OKRA_KERNEL_H

#include "okra/data.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct okra_kernel okra_kernel;

/* A syntax error points at the character: the message has the text and a caret line. A
 * grid ({a,b} or lo..hi) is refused here: it belongs to selection. */
OKRA_API okra_status okra_kernel_parse(const char *text, okra_kernel **out) OKRA_CHECK;
/* The same with numbers chosen from the data where `auto` stands: sigma or gamma of rbf
 * by the median distance (auto) or by kernel alignment with K clusters (auto-align,
 * auto-align/K), gamma of laplacian by the median, beta of diffusion and sigma2 of
 * regularized-laplacian by the entropy of the similarities. */
OKRA_API okra_status okra_kernel_choose(okra_context *context, const char *text,
                                        const okra_data *data,
                                        okra_kernel **out) OKRA_CHECK;
OKRA_API void okra_kernel_free(okra_kernel *kernel);
/* The expression in canonical form, every parameter written; owned by the kernel. */
OKRA_API const char *okra_kernel_text(const okra_kernel *kernel);

/* The Gram matrix K_ij = k(a_i, b_j), rows(a) x rows(b), row stride ld, into `out`.
 * b == NULL: of a with itself (half the work). With `center` or `normalize` in the
 * expression, b is the training set whose statistics are used. */
OKRA_API okra_status okra_gram(okra_context *context, const okra_kernel *kernel,
                               const okra_data *a, const okra_data *b, double *out,
                               okra_int ld) OKRA_CHECK;

/* Names and help of kernels and of transformations: pass index 0, 1, ... until NULL. */
OKRA_API const char *okra_kernel_name(size_t index, const char **help,
                                      const okra_option_table **parameters);
OKRA_API const char *okra_transform_name(size_t index, const char **help,
                                         const okra_option_table **parameters);

/* ---- synthetic networks: same seed, same network, on every machine ---- */

/* ---- graphs between tasks ---- */

#ifdef __cplusplus
}
#endif
#endif
