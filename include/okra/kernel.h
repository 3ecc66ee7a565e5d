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

/* The same into a file, by the engine: .npy, .csv or .tsv, "-" as in okra_data_write. Of
 * several processes none holds the whole matrix. */
OKRA_API okra_status okra_gram_write(okra_context *context, const okra_kernel *kernel,
                                     const okra_data *a, const okra_data *b,
                                     const char *path) OKRA_CHECK;

/* Names and help of kernels and of transformations: pass index 0, 1, ... until NULL. */
OKRA_API const char *okra_kernel_name(size_t index, const char **help,
                                      const okra_option_table **parameters);
OKRA_API const char *okra_transform_name(size_t index, const char **help,
                                         const okra_option_table **parameters);

/* What a kernel is, written by its name or as name(param=value, ...); false for an
 * unknown one, and for an expression of several. */
typedef enum okra_kernel_trait {
    OKRA_KERNEL_GIVEN,    /* its objects are rows of a Gram matrix: precomputed         */
    OKRA_KERNEL_LINEAR,   /* the inner product of the vectors themselves                */
    OKRA_KERNEL_EQUALITY, /* 1 of equal objects, else 0                                 */
} okra_kernel_trait;
OKRA_API bool okra_kernel_has(const char *kernel, okra_kernel_trait trait);

/* ---- synthetic networks: same seed, same network, on every machine ---- */

/* All n nodes of a random network: an edge between two nodes of one class has probability
 * p_intra, of two classes p_inter; the classes are equally large runs of nodes. One
 * class: the Erdos-Renyi law. */
OKRA_API okra_status okra_synthetic_network(uint64_t seed, okra_int n, okra_int classes,
                                            double p_intra, double p_inter,
                                            okra_data **out) OKRA_CHECK;
/* Inputs of all nodes of a network: the scores of the leading components of kernel PCA of
 * exp(-beta L) that hold the share `inertia` (0..1] of the variance. *beta <= 0 on entry:
 * chosen so that the entropy of the kernel's values is largest, and told. */
OKRA_API okra_status okra_network_inputs(okra_context *context, const okra_data *nodes,
                                         double *beta, double inertia,
                                         okra_data **out) OKRA_CHECK;
/* The same for any kernel and objects; the kernel is centred only if it says so ("...
 * | center"). Components come in descending order of their variance. */
OKRA_API okra_status okra_kernel_inputs(okra_context *context, const okra_kernel *kernel,
                                        const okra_data *objects, double inertia,
                                        okra_data **out) OKRA_CHECK;

/* ---- graphs between tasks ---- */

/* M (d x d, row-major) of the coordinates of n dense outputs: M_ij = exp(-gamma |Y^i -
 * Y^j|^2) with Y^i the values of coordinate i; where some are NaN, over the outputs in
 * which both are known, scaled to all. gamma == 0: the one whose M carries most
 * information (kernel/networks/tasks.c). The kernel `tasks` and the operator
 * `graph:estimate` take this M. Cost: n d^2. */
OKRA_API okra_status okra_task_graph(okra_context *context, const okra_data *y,
                                     double gamma, double *M) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
