/*
 * naive.h: small problems, and the textbook solutions that ridge must agree with: every
 * system is written out in full and solved by Gaussian elimination.
 */
#ifndef OKRA_TEST_NAIVE_H
#define OKRA_TEST_NAIVE_H

#include "eliminate.h"
#include "harness.h"
#include "method/method.h"

enum { N = 9, D = 3, M = 5, LD = D + 2, BIG = N * N };

/* Row-major, all with stride `n` (Y: LD, so that strides are not widths). */
typedef struct toy {
    okra_int n, d, m;
    double K[N * N], L[N * N], Y[N * LD], Kx[M * N], self[M];
} toy;

enum { RANDOM, RANK_DEFICIENT, DUPLICATED, SHAPES };

static inline double inner(okra_int p, const double *a, const double *b)
{
    double sum = 0;
    for (okra_int j = 0; j < p; j++) {
        sum += a[j] * b[j];
    }
    return sum;
}

/* linear kernel for RANK_DEFICIENT, RBF else */
static inline double kernel_of(int s, okra_int p, const double *a, const double *b)
{
    if (s == RANK_DEFICIENT) {
        return inner(p, a, b);
    }
    double d2 = inner(p, a, a) + inner(p, b, b) - 2 * inner(p, a, b);
    return exp(-0.3 * d2);
}

/* linear_output: L = Y Y', so that explicit features exist */
static inline toy make_toy(int s, okra_int n, uint64_t seed, bool linear_output)
{
    enum { P = 2 };
    toy t = {.n = n, .d = D, .m = M};
    double X[N * P], Q[M * P];
    okra_random_ r = okra_random_create_(seed, (uint64_t)s);
    harness_normals(&r, n * P, X);
    harness_normals(&r, M * P, Q);
    harness_normals(&r, n * LD, t.Y);
    for (okra_int i = n / 2; s == DUPLICATED && i < n; i++) {
        memcpy(X + i * P, X + (i - n / 2) * P, sizeof(double) * P);
        memcpy(t.Y + i * LD, t.Y + (i - n / 2) * LD, sizeof(double) * LD);
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            const double *a = t.Y + i * LD, *b = t.Y + j * LD;
            t.K[i * n + j] = kernel_of(s, P, X + i * P, X + j * P);
            t.L[i * n + j] = linear_output ? inner(D, a, b) : kernel_of(s, D, a, b);
        }
    }
    for (okra_int i = 0; i < M; i++) {
        t.self[i] = kernel_of(s, P, Q + i * P, Q + i * P);
        for (okra_int j = 0; j < n; j++) {
            t.Kx[i * n + j] = kernel_of(s, P, Q + i * P, X + j * P);
        }
    }
    return t;
}

static inline okra_problem_ problem_of(const toy *t, bool features)
{
    okra_problem_ p = {.n = t->n,
                       .given_K = t->K,
                       .given_L = t->L,
                       .given_K_ld = t->n,
                       .given_L_ld = t->n,
                       .feature_scale = 1};
    if (features) {
        p.features = t->Y;
        p.d = t->d;
        p.features_ld = LD;
    }
    return p;
}

/* C <- A B, A: n x k, B: k x m */
static inline void times(okra_int n, okra_int k, okra_int m, const double *A,
                         const double *B, double *C)
{
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < m; j++) {
            C[i * m + j] = 0;
            for (okra_int l = 0; l < k; l++) {
                C[i * m + j] += A[i * k + l] * B[l * m + j];
            }
        }
    }
}

static inline void identity(okra_int n, double *A)
{
    for (okra_int i = 0; i < n * n; i++) {
        A[i] = i % (n + 1) == 0;
    }
}

/* B = (K + lambda I)^-1 */
static inline void naive_identity(const toy *t, double lambda, double *B)
{
    double A[N * N];
    for (okra_int i = 0; i < t->n * t->n; i++) {
        A[i] = t->K[i] + (i % (t->n + 1) == 0 ? lambda : 0);
    }
    identity(t->n, B);
    eliminate(t->n, A, t->n, B);
}

/* H L H, by two products */
static inline void naive_center(okra_int n, const double *L, double *out)
{
    double H[N * N], HL[N * N];
    identity(n, H);
    for (okra_int i = 0; i < n * n; i++) {
        H[i] -= 1 / (double)n;
    }
    times(n, n, n, H, L, HL);
    times(n, n, n, HL, H, out);
}

/* B = T a, (K (x) T + n lambda I) vec(a) = vec(I), columns stacked: unknown a_ij stands
 * at j n + i. T = L, or L - (K + n eps I)^-1 K L when epsilon > 0. */
static inline void naive_covariance(const toy *t, double lambda, double epsilon,
                                    bool center, double *B)
{
    static double A[BIG * BIG], a[BIG];
    double T[N * N], L[N * N], KL[N * N], S[N * N], alpha[N * N];
    okra_int n = t->n;
    memcpy(L, t->L, sizeof L);
    if (center) {
        naive_center(n, t->L, L);
    }
    memcpy(T, L, sizeof T);
    if (epsilon > 0) {
        times(n, n, n, t->K, L, KL);
        for (okra_int i = 0; i < n * n; i++) {
            S[i] = t->K[i] + (i % (n + 1) == 0 ? (double)n * epsilon : 0);
        }
        eliminate(n, S, n, KL);
        for (okra_int i = 0; i < n * n; i++) {
            T[i] -= KL[i];
        }
    }
    for (okra_int j = 0; j < n; j++) {
        for (okra_int i = 0; i < n; i++) {
            for (okra_int l = 0; l < n; l++) {
                for (okra_int k = 0; k < n; k++) {
                    bool same = j == l && i == k;
                    A[(j * n + i) * n * n + l * n + k] =
                        t->K[j * n + l] * T[i * n + k] + (same ? (double)n * lambda : 0);
                }
            }
            a[j * n + i] = i == j;
        }
    }
    eliminate(n * n, A, 1, a);
    for (okra_int i = 0; i < n * n; i++) {
        alpha[i] = a[(i % n) * n + i / n];
    }
    times(n, n, n, T, alpha, B);
}

/* H (m x d) with h(x) = A C k_x, (K (x) A + lambda I) vec(C) = vec(Y'), C: d x n with
 * columns stacked. */
static inline void naive_matrix(const toy *t, const double *A, double lambda, double *H)
{
    static double S[N * D * N * D];
    double c[N * D];
    okra_int n = t->n, d = t->d;
    for (okra_int j = 0; j < n; j++) {
        for (okra_int i = 0; i < d; i++) {
            for (okra_int l = 0; l < n; l++) {
                for (okra_int k = 0; k < d; k++) {
                    bool same = j == l && i == k;
                    S[(j * d + i) * n * d + l * d + k] =
                        t->K[j * n + l] * A[i * d + k] + (same ? lambda : 0);
                }
            }
            c[j * d + i] = t->Y[j * LD + i];
        }
    }
    eliminate(n * d, S, 1, c);
    for (okra_int q = 0; q < t->m; q++) {
        for (okra_int i = 0; i < d; i++) {
            H[q * d + i] = 0;
            for (okra_int j = 0; j < n; j++) {
                H[q * d + i] += t->Kx[q * n + j] * inner(d, A + i * d, c + j * d);
            }
        }
    }
}

/* W (m x n): w = B k_x; centred: w_i + (1 - sum w) / n */
static inline void naive_weights(const toy *t, const double *B, bool center, double *W)
{
    okra_int n = t->n;
    for (okra_int q = 0; q < t->m; q++) {
        double sum = 0;
        for (okra_int i = 0; i < n; i++) {
            W[q * n + i] = inner(n, B + i * n, t->Kx + q * n);
            sum += W[q * n + i];
        }
        for (okra_int i = 0; center && i < n; i++) {
            W[q * n + i] += (1 - sum) / (double)n;
        }
    }
}

#endif
