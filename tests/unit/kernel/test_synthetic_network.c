/* Random networks and inputs made from them: laws, repeatability, definitions, refusals.
 */
#include "data/graphs.h"
#include "harness.h"
#include "kernel/kernel.h"
#include "okra/more/features.h"
#include "okra/program.h"

static okra_int edges_of(const okra_data *nodes)
{
    return nodes->network->adjacency.indptr[nodes->network->nodes] / 2;
}

TEST(edges_follow_the_law)
{
    okra_data *a = NULL, *b = NULL;
    enum { n = 300 };
    CHECK_OK(okra_synthetic_network(1, n, 1, 0.02, 0, &a));
    CHECK_OK(okra_synthetic_network(1, n, 1, 0.02, 0, &b));
    CHECK(okra_data_count(a) == n && okra_network_equal_(a->network, b->network));
    /* 44850 pairs: 897 expected, standard deviation 30 */
    CHECK_NEAR((double)edges_of(a), 897, 4 * 30);
    okra_data_free(a);
    CHECK_OK(okra_synthetic_network(2, n, 3, 1, 0, &a));
    CHECK(edges_of(a) == 3 * (100 * 99 / 2)); /* three cliques */
    okra_data_free(a);
    CHECK_OK(okra_synthetic_network(2, n, 3, 0, 1, &a));
    CHECK(edges_of(a) == 3 * 100 * 100); /* all that is between */
    okra_data_free(a);
    okra_data_free(b);
    CHECK_OK(okra_synthetic_network(0, 1, 1, 1, 1, &a));
    CHECK(edges_of(a) == 0);
    okra_data_free(a);
    CHECK_FAILS(okra_synthetic_network(0, 0, 1, 0, 0, &a), OKRA_EARG, "0 nodes");
    CHECK_FAILS(okra_synthetic_network(0, 5, 0, 0, 0, &a), OKRA_EARG, "0 classes");
    CHECK_FAILS(okra_synthetic_network(0, 5, 1, 1.5, 0, &a), OKRA_EARG, "0 to 1");
    CHECK_FAILS(okra_synthetic_network(0, 5, 1, 0, NAN, &a), OKRA_EARG, "0 to 1");
    CHECK_ALLOCATIONS(okra_synthetic_network(0, 9, 1, 0.5, 0, &a), okra_data_free(a));
}

/* X X' is the centred diffusion kernel when every component is kept; fewer hold the share
 * that was asked for, and no more than needed. */
TEST(inputs_are_kernel_pca)
{
    enum { n = 40 };
    okra_data *nodes = NULL, *x = NULL, *part = NULL;
    okra_kernel *kernel = NULL;
    static double K[n * n];
    double beta = 0.7, trace = 0, held = 0, last = 0;
    CHECK_OK(okra_synthetic_network(3, n, 1, 0.1, 0, &nodes));
    CHECK_OK(okra_network_inputs(NULL, nodes, &beta, 1, &x));
    CHECK(beta == 0.7);
    CHECK_OK(okra_kernel_parse("diffusion(beta=0.7) | center", &kernel));
    CHECK_OK(okra_gram(NULL, kernel, nodes, NULL, K, n));
    for (okra_int i = 0; i < n; i++) {
        trace += K[i * n + i];
        for (okra_int j = 0; j < n; j++) {
            double inner = okra_dot_(x->d, x->values + i * x->ld, x->values + j * x->ld);
            CHECK_NEAR(inner, K[i * n + j], 2e-14); /* worst 1.2e-15 */
        }
    }
    CHECK_OK(okra_network_inputs(NULL, nodes, &beta, 0.8, &part));
    for (okra_int i = 0; i < n; i++) {
        const double *row = part->values + i * part->ld;
        held += okra_dot_(part->d, row, row);
        last += row[part->d - 1] * row[part->d - 1];
    }
    CHECK(held >= 0.8 * trace && held - last < 0.8 * trace && part->d < x->d);
    okra_data_free(part);
    CHECK_ALLOCATIONS(okra_network_inputs(NULL, nodes, &beta, 0.8, &part),
                      okra_data_free(part));
    double chosen = 0;
    CHECK_OK(okra_network_inputs(NULL, nodes, &chosen, 0.95, &part));
    CHECK(chosen > 0.01 && chosen < 20);
    CHECK_FAILS(okra_network_inputs(NULL, x, &beta, 0.8, &part), OKRA_EARG, "nodes");
    CHECK_FAILS(okra_network_inputs(NULL, nodes, &beta, 1.1, &part), OKRA_EARG,
                "inertia");
    okra_data_free(part);
    okra_data_free(x);
    okra_data_free(nodes);
    okra_kernel_free(kernel);
    CHECK_OK(okra_synthetic_network(3, 5, 1, 0, 0, &nodes));
    chosen = 0;
    CHECK_FAILS(okra_network_inputs(NULL, nodes, &chosen, 1, &x), OKRA_EARG, "no edge");
    CHECK_OK(okra_network_inputs(NULL, nodes, &beta, 1, &x));
    CHECK(x->n == 5);
    okra_data_free(x);
    okra_data_free(nodes);
}

/* Of any kernel: as it is, and centred where it says so. */
TEST(inputs_of_any_kernel)
{
    enum { n = 30 };
    okra_data *nodes = NULL, *x = NULL, *same = NULL, *none = NULL;
    okra_kernel *plain = NULL, *centred = NULL;
    static double K[n * n];
    double beta = 0.7, previous = INFINITY;
    CHECK_OK(okra_synthetic_network(4, n, 1, 0.1, 0, &nodes));
    CHECK_OK(okra_kernel_parse("diffusion(beta=0.7) | normalize", &plain));
    CHECK_OK(okra_kernel_inputs(NULL, plain, nodes, 1, &x));
    CHECK_OK(okra_gram(NULL, plain, nodes, NULL, K, n));
    for (okra_int i = 0; i < n * n; i++) {
        const double *a = x->values + i / n * x->ld, *b = x->values + i % n * x->ld;
        CHECK_NEAR(okra_dot_(x->d, a, b), K[i], 2e-14);
    }
    for (okra_int k = 0; k < x->d; k++) {
        double square = 0;
        for (okra_int i = 0; i < n; i++) {
            square += x->values[i * x->ld + k] * x->values[i * x->ld + k];
        }
        CHECK(square <= previous + 1e-14);
        previous = square;
    }
    okra_data_free(x);
    CHECK_OK(okra_kernel_parse("diffusion(beta=0.7) | center", &centred));
    CHECK_OK(okra_kernel_inputs(NULL, centred, nodes, 0.9, &x));
    CHECK_OK(okra_network_inputs(NULL, nodes, &beta, 0.9, &same));
    CHECK(x->d == same->d);
    CHECK_FAILS(okra_kernel_inputs(NULL, plain, nodes, 0, &none), OKRA_EARG, "inertia");
    CHECK_FAILS(okra_kernel_inputs(NULL, NULL, nodes, 1, &none), OKRA_EARG, "a kernel");
    CHECK_ALLOCATIONS(okra_kernel_inputs(NULL, plain, nodes, 0.8, &none),
                      okra_data_free(none));
    okra_kernel_free(plain);
    okra_kernel_free(centred);
    okra_data_free(x);
    okra_data_free(same);
    okra_data_free(nodes);
}

/* Many nodes without an edge share an eigenvalue; rounding must not choose their basis.
 */
TEST(equal_eigenvalues_give_one_basis)
{
    enum { n = 40 };
    static double K[n * n];
    okra_data *nodes = NULL, *gram = NULL, *x = NULL, *y = NULL;
    okra_kernel *kernel = NULL, *own = NULL;
    double most = 0;
    okra_int zeros = 0;
    okra_random_ r = okra_random_create_(9, 1);
    CHECK_OK(okra_synthetic_network(5, n, 1, 0.04, 0, &nodes));
    CHECK_OK(okra_kernel_parse("diffusion(beta=0.7)", &kernel));
    CHECK_OK(okra_kernel_parse("precomputed", &own));
    CHECK_OK(okra_kernel_inputs(NULL, kernel, nodes, 1, &x));
    CHECK_OK(okra_gram(NULL, kernel, nodes, NULL, K, n));
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j <= i; j++) {
            K[i * n + j] += 1e-15 * (okra_random_uniform_(&r) - 0.5);
            K[j * n + i] = K[i * n + j];
        }
    }
    CHECK_OK(okra_data_gram(K, n, n, n, NULL, &gram));
    CHECK_OK(okra_kernel_inputs(NULL, own, gram, 1, &y));
    CHECK(x->d == y->d);
    for (okra_int i = 0; i < n * OKRA_MIN_(x->d, y->d); i++) {
        okra_int at = i / x->d, k = i % x->d;
        double a = x->values[at * x->ld + k], b = y->values[at * y->ld + k];
        most = fmax(most, fabs(a - b));
        CHECK((a == 0) == (b == 0));
        zeros += a == 0;
    }
    CHECK(most < 1e-9); /* 1.5e-14; 1.2 before the basis was settled */
    CHECK(zeros > n);   /* in other components of the network */
    okra_data_free(nodes);
    okra_data_free(gram);
    okra_data_free(x);
    okra_data_free(y);
    okra_kernel_free(kernel);
    okra_kernel_free(own);
}

MAIN(RUN(edges_follow_the_law), RUN(inputs_are_kernel_pca), RUN(inputs_of_any_kernel),
     RUN(equal_eigenvalues_give_one_basis))
