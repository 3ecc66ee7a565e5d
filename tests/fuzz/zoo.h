/*
 * zoo.h: small models of every method, kind of object and form of low rank, and test
 * inputs for each: what fuzz_sealed.c alters.
 */
#ifndef OKRA_FUZZ_ZOO_H
#define OKRA_FUZZ_ZOO_H

#include "parts.h"

#include "okra/more/conformal.h"
#include "okra/more/objects.h"

#include <math.h>

enum { ZOO_N = 8, ZOO_M = 3 };

typedef enum zoo_kind {
    ZOO_DENSE,  /* 3 coordinates                    */
    ZOO_PLANE,  /* 2 coordinates                    */
    ZOO_SIGNS,  /* 3 coordinates, -1 or 1           */
    ZOO_IMAGES, /* 4 x 4                            */
    ZOO_GAPS,   /* 2 coordinates, some missing      */
    ZOO_HEAVY,  /* 2 coordinates, with weights      */
    ZOO_RANKS,  /* 3 ranks                          */
    ZOO_SPARSE,
    ZOO_BITS,
    ZOO_LABELS,
    ZOO_STRINGS,
    ZOO_SEQUENCES, /* of the strings' lengths       */
    ZOO_SMILES,
    ZOO_NODES,
    ZOO_GRAM,
    ZOO_TUPLE, /* dense, strings                    */
    ZOO_SPECTRA,
    ZOO_KINDS,
} zoo_kind;

typedef struct zoo_entry {
    zoo_kind x, y;
    int more; /* inputs without outputs */
    const char *settings;
} zoo_entry;

/* clang-format off */
static const zoo_entry zoo[] = {
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1)|center ky=rbf(sigma=1)|center operator=cov"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1) operator=ccov center-output=yes"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=linear|normalize center-output=yes operator=cov"},
    {ZOO_DENSE, ZOO_DENSE, 0, "operator=diagonal(t=0.5)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) operator=graph:estimate(gamma=1),mu=0.5 keep=weights"},
    {ZOO_DENSE, ZOO_HEAVY, 0, "kx=rbf(sigma=1) operator=graph:estimate(gamma=1),mu=0.5 center-output=yes"},
    {ZOO_DENSE, ZOO_GAPS, 0, "kx=rbf(sigma=1)"},
    {ZOO_DENSE, ZOO_PLANE, 3, "kx=rbf(sigma=1) lambda2=0.1 graph=knn(k=2)"},
    {ZOO_DENSE, ZOO_PLANE, 3, "kx=rbf(sigma=1) ky=rbf(sigma=1) lambda2=0.1"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) low-rank-x=chol(rank=4)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) low-rank-x=rff(rank=4)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) low-rank-x=nystrom(rank=4,pivots=centres)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) low-rank-x=sketch(rank=4)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) low-rank-x=chol(rank=4) solver=cg"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) low-rank-x=chol(rank=4) keep-moments=yes"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) low-rank-x=rff(rank=4) keep-moments=yes center-output=yes"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) low-rank-x=sketch(rank=3,kind=sparse,p=0.5) keep-moments=yes"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=rff(rank=3) keep-moments=yes operator=cov"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=chol(rank=4)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=rff(rank=3)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=sketch(rank=3,kind=sparse,p=0.5)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank-y=nystrom(rank=3,pivots=centres) low-rank-x=chol(rank=3)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank-x=chol(rank=4)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=chol(rank=3) operator=cov"},
    {ZOO_DENSE, ZOO_DENSE, 0, "kx=rbf(sigma=1) low-rank-x=chol(rank=3) operator=diagonal(t=0.5)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) twin=2,2"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=margin kx=rbf(sigma=1)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=margin kx=rbf(sigma=1) ky=rbf(sigma=1) loss=epsilon"},
    {ZOO_DENSE, ZOO_PLANE, 2, "method=margin kx=rbf(sigma=1) lambda2=0.1"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=margin kx=rbf(sigma=1) low-rank-x=chol(rank=3)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=margin kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=chol(rank=3) loss=huber"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=kpca kx=rbf(sigma=1) ky=rbf(sigma=1) components=2"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=kpca kx=rbf(sigma=1) low-rank-x=chol(rank=3) components=1"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=kpca kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=rff(rank=3) components=2"},
    {ZOO_DENSE, ZOO_HEAVY, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1) center-output=yes"},
    {ZOO_DENSE, ZOO_HEAVY, 0, "method=kpca kx=rbf(sigma=1) ky=rbf(sigma=1) components=2"},
    {ZOO_DENSE, ZOO_HEAVY, 0, "method=knn k=2"},
    {ZOO_DENSE, ZOO_HEAVY, 0, "method=svr kx=rbf(sigma=1)"},
    {ZOO_DENSE, ZOO_LABELS, 0, "method=knn k=2 ky=zero-one"},
    {ZOO_SPARSE, ZOO_LABELS, 0, "method=knn k=2 ky=zero-one kx=linear|chol(rank=2)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=tgp-kl kx=rbf(sigma=1) ky=rbf(sigma=1)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=tgp-kl kx=rbf(sigma=1) ky=rbf(sigma=1) neighbours=3"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=tgp-hsic kx=rbf(sigma=1) ky=rbf(sigma=1)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=tgp-hsic kx=rbf(sigma=1) ky=rbf(sigma=1) neighbours=3"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=soar kx=rbf(sigma=1) associate=rbf(sigma=1)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=ok3 trees=3 ky=rbf(sigma=1)"},
    {ZOO_DENSE, ZOO_LABELS, 0, "method=ok3 trees=2 ky=zero-one low-rank-x=chol(rank=2)"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=ok3 trees=3 splits=columns parts=2"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=blend trees=3 kx=rbf(sigma=1)"},
    {ZOO_DENSE, ZOO_LABELS, 0, "method=blend trees=2 kx=rbf(sigma=1) ky=zero-one lambda=0"},
    {ZOO_DENSE, ZOO_LABELS, 0, "method=svm kx=rbf(sigma=1) ky=zero-one"},
    {ZOO_DENSE, ZOO_PLANE, 0, "method=svr kx=rbf(sigma=1)"},
    {ZOO_SIGNS, ZOO_SIGNS, 0, "method=hopfield"},
    {ZOO_SIGNS, ZOO_SIGNS, 0, "method=hopfield recall=pair"},
    {ZOO_IMAGES, ZOO_IMAGES, 0, "method=jkm kx=patches(rbf(sigma=1),width=4,patch=2,overlap=1)"},
    {ZOO_IMAGES, ZOO_IMAGES, 0, "method=jkm kx=patches(rbf(sigma=1),width=4,patch=2,overlap=1) tube=0.1"},
    {ZOO_SEQUENCES, ZOO_STRINGS, 0, "method=m3n kx=position(linear) ky=position(zero-one)"},
    {ZOO_SEQUENCES, ZOO_STRINGS, 0, "method=constrained kx=position(linear) ky=position(zero-one)"},
    {ZOO_STRINGS, ZOO_STRINGS, 0, "kx=spectrum(k=2) ky=position(zero-one)"},
    {ZOO_STRINGS, ZOO_STRINGS, 0, "kx=ssk(length=2)|normalize ky=edit low-rank=chol(rank=3)"},
    {ZOO_STRINGS, ZOO_SEQUENCES, 0, "kx=mismatch(k=2,m=1) ky=position(linear)+position(zero-one)"},
    {ZOO_STRINGS, ZOO_BITS, 0, "kx=spectrum(k=1) ky=tanimoto"},
    {ZOO_STRINGS, ZOO_STRINGS, 0, "kx=ends ky=ssk(length=2,upto=1)"},
    {ZOO_STRINGS, ZOO_PLANE, 0, "kx=alignment(anchors=3)|normalize ky=linear"},
    {ZOO_TUPLE, ZOO_STRINGS, 0, "kx=rbf(sigma=1)@1+ends(start=1)@2 ky=ends"},
    {ZOO_SMILES, ZOO_PLANE, 0, "kx=wl"},
    {ZOO_SMILES, ZOO_SMILES, 0, "kx=ecfp|tanimoto ky=shortest-path low-rank-x=chol(rank=3)"},
    {ZOO_SMILES, ZOO_SPARSE, 0, "kx=paths ky=rbf(sigma=1)"},
    {ZOO_BITS, ZOO_BITS, 0, "kx=tanimoto ky=tanimoto"},
    {ZOO_GRAM, ZOO_PLANE, 0, "kx=precomputed"},
    {ZOO_TUPLE, ZOO_PLANE, 0, "kx=rbf(sigma=1)@1+spectrum(k=1)@2"},
    {ZOO_DENSE, ZOO_TUPLE, 0, "ky=linear@1+spectrum(k=1)@2"},
    {ZOO_PLANE, ZOO_PLANE, 0, "ky=tasks(mu=0.5)"},
    {ZOO_DENSE, ZOO_NODES, 0, "kx=rbf(sigma=1) ky=diffusion(beta=1)"},
    {ZOO_DENSE, ZOO_NODES, 0, "method=naive kx=rbf(sigma=1) ky=diffusion(beta=1)"},
    {ZOO_DENSE, ZOO_NODES, 0, "method=kcca kx=rbf(sigma=1) ky=diffusion(beta=1) dimensions=2"},
    {ZOO_DENSE, ZOO_NODES, 0, "method=kml kx=rbf(sigma=1) ky=diffusion(beta=1) dimensions=2"},
    {ZOO_DENSE, ZOO_NODES, 0, "method=local kx=rbf(sigma=1) ky=diffusion(beta=1)"},
    {ZOO_DENSE, ZOO_NODES, 0, "method=em kx=rbf(sigma=1) ky=diffusion(beta=1)"},
    {ZOO_DENSE, ZOO_NODES, 0, "method=pkmr kx=rbf(sigma=1) ky=diffusion(beta=1)"},
    {ZOO_DENSE, ZOO_LABELS, 0, "kx=rbf(sigma=1) ky=zero-one method=ridge low-rank-y=chol(rank=2)"},
    {ZOO_DENSE, ZOO_STRINGS, 0, "kx=rbf(sigma=1) ky=spectrum(k=1) low-rank=nystrom(rank=3)"},
    {ZOO_SPECTRA, ZOO_SMILES, 0, "kx=ppk|normalize ky=ecfp|tanimoto"},
    {ZOO_SPECTRA, ZOO_BITS, 0, "kx=ppk(of=losses)+mz-bins+precursor+field(name=PEPMASS,sigma=9) ky=tanimoto low-rank-x=chol(rank=3)"},
    {ZOO_SPECTRA, ZOO_PLANE, 0, "method=knn k=2 kx=mz-match"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=standardize|rbf(sigma=1) center-output=yes calibration=yes"},
    {ZOO_STRINGS, ZOO_LABELS, 0, "kx=spectrum(k=2) ky=zero-one calibration=yes"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) compact=half"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1) compact=half"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) ky=rbf(sigma=1) compact=again"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=rbf(sigma=1) output-lambda=0.1,0.5"},
    {ZOO_DENSE, ZOO_PLANE, 0, "kx=align(rbf(sigma=1),linear)"},
    {ZOO_DENSE, ZOO_RANKS, 0, "kx=rbf(sigma=1) ky=kendall"},
    {ZOO_RANKS, ZOO_RANKS, 0, "kx=spearman ky=spearman low-rank-x=chol(rank=3)"},
    {ZOO_DENSE, ZOO_STRINGS, 0, "method=kpca kx=rbf(sigma=1) ky=spectrum(k=1) rank-output=2"},
    {ZOO_SMILES, ZOO_SMILES, 0, "kx=ecfp(count=1,bits=64)|tanimoto ky=composition"},
    {ZOO_STRINGS, ZOO_HEAVY, 0, "kx=ends|center ky=standardize"},
    {ZOO_TUPLE, ZOO_HEAVY, 0, "kx=ic@1+position(zero-one,map=1)@2 ky=tasks(mu=0.5)"},
};
/* clang-format on */
enum { ZOO_COUNT = sizeof zoo / sizeof *zoo };

/* A few values without any order; the same ones every time. */
static inline double zoo_value(int i)
{
    return (double)((i * 37 + i * i * 11 + 5) % 23) / 11 - 1;
}

static inline okra_data *zoo_strings(int n)
{
    static const char *const texts[] = {"abba", "ab", "bca", "a", "cab", "bb",
                                        "acb",  "ca", "abc", "b", "aab"};
    okra_data *data = NULL;
    PARTS_CHECK(okra_data_strings(texts, n, &data) == OKRA_OK);
    return data;
}

static inline okra_data *zoo_sequences(int n)
{
    okra_data *strings = zoo_strings(n), *data = NULL;
    okra_int offsets[16] = {0}, length;
    int32_t labels[64];
    double vectors[128];
    for (int i = 0; i < n; i++) {
        const int32_t *codes = okra_data_characters(strings, i, &length);
        for (okra_int k = 0; k < length; k++) {
            labels[offsets[i] + k] = codes[k];
        }
        offsets[i + 1] = offsets[i] + length;
    }
    for (int k = 0; k < 128; k++) {
        vectors[k] = zoo_value(k);
    }
    PARTS_CHECK(okra_data_sequences(offsets, vectors, labels, n, 2, &data) == OKRA_OK);
    okra_data_free(strings);
    return data;
}

static inline okra_data *zoo_vectors(zoo_kind kind, int n)
{
    static double values[8][16 * 16];
    int d = kind == ZOO_IMAGES                                           ? 16
            : kind == ZOO_PLANE || kind == ZOO_GAPS || kind == ZOO_HEAVY ? 2
                                                                         : 3;
    double *v = values[kind];
    okra_data *data = NULL;
    for (int i = 0; i < n * d; i++) {
        v[i] = kind == ZOO_SIGNS   ? zoo_value(i) > 0 ? 1 : -1
               : kind == ZOO_RANKS ? 1 + (i + i / d * (1 + i / d % 2)) % 3
                                   : zoo_value(i);
    }
    if (kind == ZOO_GAPS) {
        v[3] = v[4] = (double)NAN;
        PARTS_CHECK(okra_data_missing(v, n, d, d, &data) == OKRA_OK);
    } else {
        PARTS_CHECK(okra_data_dense(v, n, d, d, &data) == OKRA_OK);
    }
    if (kind == ZOO_DENSE || kind == ZOO_HEAVY) {
        static const char *const names[] = {"age",
                                            ("gr\xc3\xb6\xc3\x9f"
                                             "e"),
                                            "w w"};
        PARTS_CHECK(okra_data_set_columns(data, names) == OKRA_OK);
    }
    if (kind == ZOO_HEAVY) {
        double weights[16] = {0};
        okra_data *with = NULL;
        for (int i = 0; i < n; i++) {
            weights[i] = 0.5 + i;
        }
        PARTS_CHECK(okra_data_weigh(data, weights, n, &with) == OKRA_OK);
        okra_data_free(data);
        data = with;
    }
    return data;
}

static inline okra_data *zoo_nodes(int n)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f",
                                        "g", "h", "i", "j", "k"};
    okra_data *data = NULL;
    okra_int ends[2 * ZOO_N];
    for (int i = 0; i < n; i++) {
        ends[2 * i] = i;
        ends[2 * i + 1] = (i + 1 + i % 2) % n;
    }
    PARTS_CHECK(okra_data_nodes(n, names, ends, NULL, n, NULL, n, &data) == OKRA_OK);
    return data;
}

static inline okra_data *zoo_spectra(int n)
{
    okra_data *data = NULL;
    okra_int offsets[16] = {0};
    double mz[48], height[48];
    const char *about[16];
    for (int i = 0; i < n; i++) {
        about[i] = i % 2 ? "TITLE=a\nPEPMASS=120\nADDUCT=[M+H]+\n" : "PEPMASS=130\n";
        offsets[i + 1] = offsets[i] + 1 + i % 3;
        for (okra_int k = offsets[i]; k < offsets[i + 1]; k++) {
            mz[k] = 50 + 20 * (double)(k - offsets[i]) + i % 2;
            height[k] = 2 + zoo_value((int)k);
        }
    }
    PARTS_CHECK(okra_data_spectra(offsets, mz, height, about, n, &data) == OKRA_OK);
    return data;
}

static inline okra_data *zoo_data(zoo_kind kind, int n)
{
    static const char *const smiles[] = {"CCO", "C=C",     "c1ccccc1", "CN",
                                         "C#N", "CC(=O)O", "[Na+]",    "CCl",
                                         "OCC", "NCC",     "CCC"};
    static const char *const classes[] = {"red", "green", "blue"};
    static double gram[16 * ZOO_N];
    okra_int codes[16], indptr[17] = {0}, indices[48];
    double values[48];
    unsigned char bits[32];
    okra_data *data = NULL;
    for (int i = 0; i < n; i++) {
        codes[i] = i % 3;
        indptr[i + 1] = indptr[i] + 1 + i % 2;
        bits[2 * i] = (unsigned char)(i * 29 + 7);
        bits[2 * i + 1] = (unsigned char)(i & 3);
        for (int j = 0; j < ZOO_N; j++) {
            gram[i * ZOO_N + j] = (i == j) + 0.25 * (i % 2 == j % 2);
        }
        for (okra_int k = indptr[i]; k < indptr[i + 1]; k++) {
            indices[k] = 2 * (k - indptr[i]) + i % 2;
            values[k] = zoo_value((int)k);
        }
    }
    okra_data *both[2] = {NULL, NULL};
    switch ((int)kind) {
    case ZOO_SPARSE:
        PARTS_CHECK(okra_data_sparse(indptr, indices, values, n, 5, &data) == OKRA_OK);
        break;
    case ZOO_BITS:
        PARTS_CHECK(okra_data_bits(bits, n, 10, 2, &data) == OKRA_OK);
        break;
    case ZOO_LABELS:
        PARTS_CHECK(okra_data_labels(codes, n, classes, 3, &data) == OKRA_OK);
        break;
    case ZOO_STRINGS:
        data = zoo_strings(n);
        break;
    case ZOO_SEQUENCES:
        data = zoo_sequences(n);
        break;
    case ZOO_SMILES:
        PARTS_CHECK(okra_data_smiles(NULL, smiles, n, &data) == OKRA_OK);
        break;
    case ZOO_NODES:
        data = zoo_nodes(n);
        break;
    case ZOO_GRAM:
        PARTS_CHECK(okra_data_gram(gram, n, ZOO_N, ZOO_N, NULL, &data) == OKRA_OK);
        break;
    case ZOO_SPECTRA:
        data = zoo_spectra(n);
        break;
    case ZOO_TUPLE:
        both[0] = zoo_vectors(ZOO_DENSE, n);
        both[1] = zoo_strings(n);
        PARTS_CHECK(okra_data_tuple(both, 2, &data) == OKRA_OK);
        okra_data_free(both[0]);
        okra_data_free(both[1]);
        break;
    default:
        data = zoo_vectors(kind, n);
    }
    return data;
}

/* How the file of a model is written. */
static inline okra_compact zoo_compact(const zoo_entry *e)
{
    return strstr(e->settings, "compact=half")    ? OKRA_COMPACT_YES
           : strstr(e->settings, "compact=again") ? OKRA_COMPACT_RECOMPUTE
                                                  : OKRA_COMPACT_NO;
}

static inline okra_model *zoo_fit(const zoo_entry *e)
{
    okra_data *x = zoo_data(e->x, ZOO_N + e->more), *y = zoo_data(e->y, ZOO_N);
    okra_options *options = NULL;
    okra_model *model = NULL;
    const char *settings = e->settings;
    bool calibrated = false; /* the model keeps pairs to calibrate with */
    PARTS_CHECK(okra_fit_options(&options) == OKRA_OK);
    while (*settings) {
        char name[40], value[160];
        size_t length = strcspn(settings, " "), equals = strcspn(settings, "=");
        snprintf(name, sizeof name, "%.*s", (int)equals, settings);
        snprintf(value, sizeof value, "%.*s", (int)(length - equals - 1),
                 settings + equals + 1);
        if (strcmp(name, "calibration") == 0) {
            calibrated = true;
        } else if (strcmp(name, "compact") != 0) {
            PARTS_CHECK(okra_options_set(options, name, value) == OKRA_OK);
        }
        settings += length + strspn(settings + length, " ");
    }
    if (okra_fit(NULL, x, y, options, &model) != OKRA_OK) {
        fprintf(stderr, "%s: %s\n", e->settings, okra_message());
        abort();
    }
    if (calibrated) {
        PARTS_CHECK(okra_model_set_calibration(model, x, y) == OKRA_OK);
    }
    okra_options_free(options);
    okra_data_free(x);
    okra_data_free(y);
    return model;
}

#endif
