/*
 * normalize.c: transforms that compare a value with the self-similarities.
 *
 *   normalize   k / sqrt(k(a,a) k(b,b)), the cosine in feature space
 *   dice        2k / (k(a,a) + k(b,b)), the F1 of two label sets (for 0/1 vectors)
 *   tanimoto    k / (k(a,a) + k(b,b) - k), shared over united features (for 0/1 vectors)
 *   center      k - m_a - m_b + g, inner products about the training mean: m_a is the
 * mean of k(a, .) over the training set, g the mean of all its pairs (H K H)
 *
 * Degenerate objects, k(a,a) <= 0 (no features at all): `normalize` leaves them at the
 * zero vector, so 0 against everything, themselves included; `tanimoto` gives 0 against
 * the others and 1 among themselves (equal sets). The diagonal of all other objects is
 * exactly 1: equal self-similarities are divided by as they are, and x / (x + x - x) = 1.
 * Roots are taken one by one, so that their product neither overflows nor underflows.
 * Error: a few roundings for normalize and tanimoto; center cancels, its absolute error
 * is a few eps times the largest |k|, which for inner products of dense vectors is seen
 * from the middle of the training set.
 */
#include "core/simd.h"
#include "kernel/kernel.h"

static inline OKRA_INLINE_ void normalize_body(double a, const double *restrict db,
                                               okra_int nj, double *restrict row,
                                               bool fused)
{
    double root = sqrt(a);
    for (okra_int j = 0; j < nj; j++) {
        double b = db[j], norms = a == b ? a : root * sqrt(b), value = row[j] / norms;
        bool valid = (a > 0) & (b > 0);
        row[j] = valid ? value : 0;
    }
}

static inline OKRA_INLINE_ void tanimoto_body(double a, const double *restrict db,
                                              okra_int nj, double *restrict row,
                                              bool fused)
{
    for (okra_int j = 0; j < nj; j++) {
        double either = a + db[j] - row[j], value = row[j] / either;
        row[j] = either <= 0 ? 1 : value; /* a NaN stays one, to be reported */
    }
}

OKRA_VARIANTS_(normalize_row, normalize_body,
               (double a, const double *db, okra_int nj, double *row), (a, db, nj, row))
OKRA_VARIANTS_(tanimoto_row, tanimoto_body,
               (double a, const double *db, okra_int nj, double *row), (a, db, nj, row))

static void normalize(const void *params, const double *da, const double *db, okra_int ni,
                      okra_int nj, double *tile, okra_int ld)
{
    for (okra_int i = 0; i < ni; i++) {
        normalize_row(da[i], db, nj, tile + i * ld);
    }
}

static void tanimoto(const void *params, const double *da, const double *db, okra_int ni,
                     okra_int nj, double *tile, okra_int ld)
{
    for (okra_int i = 0; i < ni; i++) {
        tanimoto_row(da[i], db, nj, tile + i * ld);
    }
}

/* d(k / sqrt(a b)) = dk / sqrt(a b) - k/(2 a sqrt(a b)) da */
static void normalize_derive(const void *params, double self, const double *db,
                             okra_int n, double *k, double *by_k, double *by_self)
{
    normalize(params, &self, db, 1, n, k, n);
    for (okra_int j = 0; j < n; j++) {
        bool valid = self > 0 && db[j] > 0;
        by_k[j] = valid ? 1 / (sqrt(self) * sqrt(db[j])) : 0;
        by_self[j] = valid ? -0.5 * k[j] / self : 0;
    }
}

/* da and db are m - g/2, so that the two subtractions give - m_a - m_b + g. */
static void center(const void *params, const double *da, const double *db, okra_int ni,
                   okra_int nj, double *tile, okra_int ld)
{
    for (okra_int i = 0; i < ni; i++) {
        double *row = tile + i * ld, a = da[i];
        for (okra_int j = 0; j < nj; j++) {
            row[j] -= a + db[j];
        }
    }
}

const okra_transform_class_ okra_normalize_ = {
    .name = "normalize",
    .help = "k/sqrt(k(a,a) k(b,b)); 0 where a self-similarity is 0",
    .params = {"normalize", okra_no_params_, 0},
    .uses = OKRA_USES_SELF_,
    .degenerate = "normalized they stay the zero vector, 0 against every object",
    .apply = normalize,
    .derive = normalize_derive,
    .bounds = true,
    .code = OKRA_CODE_NORMALIZE_};

static void dice(const void *params, const double *da, const double *db, okra_int ni,
                 okra_int nj, double *tile, okra_int ld)
{
    for (okra_int i = 0; i < ni; i++) {
        double *row = tile + i * ld;
        for (okra_int j = 0; j < nj; j++) {
            double sum = da[i] + db[j];
            row[j] = sum <= 0 ? 1 : 2 * row[j] / sum;
        }
    }
}

const okra_transform_class_ okra_dice_ = {
    .name = "dice",
    .help = "2k/(k(a,a) + k(b,b)), the F1 of two sets; 1 for two without features",
    .params = {"dice", okra_no_params_, 0},
    .uses = OKRA_USES_SELF_,
    .degenerate = "they get 1 among themselves and 0 against the others",
    .apply = dice};

const okra_transform_class_ okra_tanimoto_ = {
    .name = "tanimoto",
    .help = "k/(k(a,a) + k(b,b) - k); 1 for two objects without features",
    .params = {"tanimoto", okra_no_params_, 0},
    .uses = OKRA_USES_SELF_,
    .degenerate = "they get 1 among themselves and 0 against the others",
    .apply = tanimoto,
    .code = OKRA_CODE_TANIMOTO_};

const okra_transform_class_ okra_center_ = {
    .name = "center",
    .help = "inner products about the mean of the training set",
    .params = {"center", okra_no_params_, 0},
    .uses = OKRA_USES_MEANS_,
    .apply = center,
    .code = OKRA_CODE_CENTER_};
