/*
 * alter.h: a programme of alterations of a model's parts: arrays, shapes, numbers, texts,
 * kernels, kinds, JSON.
 */
#ifndef OKRA_FUZZ_ALTER_H
#define OKRA_FUZZ_ALTER_H

#include "zoo.h"

/* ---- the programme ---- */

typedef struct tape {
    const uint8_t *p, *end;
} tape;

static inline unsigned next(tape *t, unsigned below)
{
    unsigned value = t->p < t->end ? *t->p++ : 0;
    if (below > 256) {
        value = value << 8 | (t->p < t->end ? *t->p++ : 0);
    }
    return below ? value % below : 0;
}

#define PICK(t, list) (list)[next(t, sizeof(list) / sizeof *(list))]

static inline double odd_value(tape *t)
{
    static const double values[] = {0,
                                    -1,
                                    1,
                                    0.5,
                                    2,
                                    3,
                                    7,
                                    8,
                                    9,
                                    1e300,
                                    -1e300,
                                    1e-300,
                                    1e9,
                                    1e18,
                                    9.3e18,
                                    -9.3e18,
                                    INFINITY,
                                    -INFINITY,
                                    NAN,
                                    1e4,
                                    -0.0,
                                    1e6,
                                    100,
                                    -2,
                                    4294967296.0,
                                    2147483648.0,
                                    1e15,
                                    64,
                                    16,
                                    11};
    return PICK(t, values);
}

static inline int64_t odd_integer(tape *t)
{
    static const int64_t values[] = {0,
                                     -1,
                                     1,
                                     2,
                                     3,
                                     7,
                                     8,
                                     9,
                                     16,
                                     64,
                                     INT32_MAX,
                                     INT32_MIN,
                                     INT64_MAX,
                                     -2,
                                     5,
                                     4,
                                     (int64_t)1 << 40,
                                     0x10ffff,
                                     0x110000,
                                     INT64_MIN};
    return PICK(t, values);
}

static inline okra_int odd_size(tape *t, okra_int was)
{
    const okra_int sizes[] = {0,     1, was + 1, was - 1, 2 * was, was,
                              ZOO_N, 2, 3,       300,     5,       4};
    okra_int size = PICK(t, sizes);
    return size < 0 ? 0 : size;
}

/* ---- the zoo, made once ---- */

static parts kept[ZOO_COUNT];
static char path[80];

static inline parts *animal(size_t i)
{
    if (!kept[i].about) {
        okra_model *model = zoo_fit(&zoo[i]);
        PARTS_CHECK(
            okra_model_save(NULL, model,
                            (&(okra_save_request){OKRA_SIZED(okra_save_request),
                                                  .compact = zoo_compact(&zoo[i])}),
                            path) == OKRA_OK);
        parts_read(path, &kept[i]);
        okra_model_free(model);
    }
    return &kept[i];
}

/* ---- alterations ---- */

/* clang-format off */
static const char *const names[] = {
    "bag/coefficients", "bag/B", "bag/factor", "bag/mean", "bag/slope", "bag/scale",
    "bag/axes", "bag/scores", "bag/variances", "bag/offset", "bag/K", "bag/sums",
    "bag/outputs", "bag/start", "bag/moments", "bag/directions", "bag/tail",
    "bag/pairs", "bag/nodes", "bag/roots", "bag/items", "bag/means", "bag/coordinates",
    "bag/output", "bag/classifiers", "bag/bias", "bag/groups", "bag/shares",
    "bag/transitions", "bag/elements", "bag/alphabet", "bag/y.basis", "bag/y.factor",
    "bag/y.waves", "bag/y.centres", "bag/y.sketch", "bag/y.start", "bag/y.column",
    "bag/y.value", "bag/kx.center1", "bag/kx.leaf0", "bag/ky.leaf0",
    "bag/representatives", "x/values", "y/values", "x/names", "y/names", "x/codes",
    "y/codes", "x/diagonal", "x/characters/code", "x/characters/offsets",
    "bag/kx.leaf0.features", "bag/factor.half", "bag/output-lambda",
    "bag/sample-weight", "bag/operator.A", "bag/moments.A", "bag/moments.C"};
static const char *const numbers[] = {
    "x.rank", "x.waves", "y.rank", "lambda", "center", "k", "neighbours", "lambda-y",
    "rank", "width", "steps", "sweeps", "settle", "product", "longest", "y.scale",
    "jitter(sigma=1,width=2)", "kx.center1", "reach", "kx.leaf0.scale", OKRA_RECOMPUTED_};
static const char *const kernels[] = {
    "linear", "rbf(sigma=1)", "linear | center", "rbf(sigma=1) | chol(rank=3)",
    "zero-one", "precomputed", "position(linear)", "position(zero-one)",
    "spectrum(k=2)", "edit", "wl", "ecfp", "tanimoto", "metric(file=/etc/hostname)",
    "tasks(mu=0.5)", "position(metric(file=/etc/hostname))", "cost(file=/etc/hostname)",
    "diffusion(beta=1)", "patches(linear,width=2,patch=2,overlap=0)",
    "linear | rff(rank=3)", "0.5*linear", "rbf(sigma=1e-300)",
    "linear | poly(degree=1000)", "ssk(length=3)", "ssk(length=100000)",
    "spectrum(k=1000000)", "mismatch(k=3,m=1)", "wl(h=100000)", "paths(m=1000)",
    "linear@1", "spectrum(k=1)@2", "linear@64", "weighted-degree(k=1000000)",
    "linear | normalize", "shortest-path", "p-step(p=1000000,a=2)", "1e300*linear",
    "commute-time", "linear + zero-one", "linear * linear | center | center",
    "jitter(sigma=1,width=2)", "rbf(sigma=1) | sketch(rank=3) | center",
    "laplacian(gamma=1)", "kendall", "spearman", "composition(bits=100)"};
static const char *const texts[] = {"operator", "graph", "associate", "kernel", "decode",
                                    "align.kernels", "align.weights"};
/* clang-format on */

static inline part *some_part(parts *m, tape *t)
{
    return m->count ? &m->p[next(t, (unsigned)m->count)] : NULL;
}

static inline void reshape(parts *m, tape *t)
{
    part *a = some_part(m, t);
    unsigned how = next(t, 4);
    okra_int rows = how != 1 ? odd_size(t, a->rows) : a->rows;
    okra_int cols = a->cols < 0 ? a->cols : how != 0 ? odd_size(t, a->cols) : a->cols;
    if (how == 3 && a->cols >= 0) {
        rows = a->cols;
        cols = a->rows;
    }
    part_reshape(a, rows, cols);
    /* half of the time the rest of the model agrees */
    const char *side = a->name[0] == 'x' ? "x" : "y";
    if (next(t, 2) && a->name[0] != 'b' && a->name[1] == '/') {
        parts_about(m, side, "count", rows);
        if (cols >= 0) {
            parts_about(m, side, "width", cols);
        }
    }
}

static inline void set_element(parts *m, tape *t)
{
    part *a = some_part(m, t);
    size_t width = part_element(a->dtype), count = a->size / width;
    if (count == 0) {
        return;
    }
    size_t at = next(t, 65536) % count;
    double value = odd_value(t);
    int64_t whole = odd_integer(t);
    if (a->dtype[1] == 'f') {
        memcpy(a->bytes + at * width, &value, width);
    } else {
        memcpy(a->bytes + at * width, &whole, width);
    }
}

static inline void add_part(parts *m, tape *t)
{
    const char *name = PICK(t, names);
    part *from = some_part(m, t);
    okra_int rows = odd_size(t, from->rows), cols = odd_size(t, from->cols);
    if (!parts_find(m, name) && m->count < PARTS_MOST) {
        parts_add(m, name, rows, cols, odd_value(t));
    }
}

static inline void rename_part(parts *m, tape *t)
{
    part *a = some_part(m, t);
    const char *name = PICK(t, names);
    if (!parts_find(m, name)) {
        snprintf(a->name, sizeof a->name, "%s", name);
    }
}

/* The same elements as another type. */
static inline void retype(parts *m, tape *t)
{
    static const char *const types[] = {"<f8", "<i8", "<i4", "|u1", "<u8"};
    part *a = some_part(m, t);
    const char *type = PICK(t, types);
    size_t row = part_element(type) * (size_t)(a->cols < 0 ? 1 : a->cols);
    snprintf(a->dtype, sizeof a->dtype, "%s", type);
    a->rows = row ? (okra_int)(a->size / row) : 0;
    a->size = row * (size_t)a->rows;
}

/* A part, or a member of model.json, of another model. */
static inline void transplant(parts *m, tape *t)
{
    static const char *const members[] = {"x",       "y",     "kernels",
                                          "numbers", "texts", "method"};
    parts *other = animal(next(t, ZOO_COUNT));
    const part *from = some_part(other, t);
    if (next(t, 2)) {
        const char *member = PICK(t, members);
        json_object_set_new(m->about, member,
                            json_deep_copy(json_object_get(other->about, member)));
        return;
    }
    part *a = parts_find(m, from->name);
    if (!a && m->count < PARTS_MOST) {
        a = &m->p[m->count++];
        a->bytes = NULL;
    }
    if (a) {
        free(a->bytes);
        *a = *from;
        a->bytes = malloc(from->size + 1);
        PARTS_CHECK(a->bytes);
        memcpy(a->bytes, from->bytes, from->size);
    }
}

static inline json_t *odd_json(tape *t)
{
    switch (next(t, 8)) {
    case 0:
        return json_null();
    case 1:
        return json_true();
    case 2:
        return json_string(PICK(t, kernels));
    case 3:
        return json_array();
    case 4:
        return json_object();
    case 5:
        return json_string("\033[31m\a\n");
    case 6:
        return json_integer(odd_integer(t));
    default:
        return json_real(fmin(fmax(-1e308, odd_value(t)), 1e308));
    }
}

static inline void alter_json(parts *m, tape *t)
{
    static const char *const tops[] = {"x",       "y",       "kernels", "numbers",
                                       "texts",   "options", "method",  "okra",
                                       "version", "format"};
    static const char *const keys[] = {"kind", "count", "width",  "missing", "parts",
                                       "x",    "y",     "lambda", "kx"};
    const char *top = PICK(t, tops);
    json_t *object = json_object_get(m->about, top);
    if (next(t, 3) && json_is_object(object)) {
        json_object_set_new(object, PICK(t, keys), odd_json(t));
    } else {
        json_object_set_new(m->about, top, odd_json(t));
    }
}

static inline void alter_about(parts *m, tape *t)
{
    static const okra_kind kinds[] = {
        OKRA_DENSE,     OKRA_SPARSE, OKRA_BITS,  OKRA_LABELS, OKRA_GRAM,   OKRA_STRINGS,
        OKRA_SEQUENCES, OKRA_GRAPHS, OKRA_NODES, OKRA_TUPLE,  OKRA_SPECTRA};
    const char *side = next(t, 2) ? "x" : "y";
    json_t *about = json_object_get(m->about, side);
    switch (next(t, 4)) {
    case 0:
        json_object_set_new(about, "kind", json_string(okra_kind_name(PICK(t, kinds))));
        break;
    case 1:
        json_object_set_new(about, "count", json_integer(odd_integer(t)));
        break;
    case 2:
        json_object_set_new(about, "width", json_integer(odd_integer(t)));
        break;
    default:
        json_object_set_new(about, "missing", json_true());
    }
}

/* Elements in another order: repeats and reversals of what was valid. */
static inline void shuffle(parts *m, tape *t)
{
    part *a = some_part(m, t);
    size_t width = part_element(a->dtype), count = a->size / width;
    unsigned char swap[8];
    if (count < 2) {
        return;
    }
    size_t i = next(t, 65536) % count, j = next(t, 65536) % count;
    memcpy(swap, a->bytes + i * width, width);
    memcpy(a->bytes + i * width, a->bytes + j * width, width);
    memcpy(a->bytes + j * width, swap, width);
}

static inline void alter(parts *m, tape *t)
{
    double value;
    size_t count = 0;
    switch (next(t, 16)) {
    case 0:
    case 1:
        reshape(m, t);
        break;
    case 2:
    case 3:
        set_element(m, t);
        break;
    case 4:
        some_part(m, t)->name[0] = '\0';
        break;
    case 5:
        add_part(m, t);
        break;
    case 6:
        rename_part(m, t);
        break;
    case 7:
        value = odd_value(t);
        parts_number(m, PICK(t, numbers), isfinite(value) ? value : 1e308);
        break;
    case 8:
        json_object_del(json_object_get(m->about, "numbers"), PICK(t, numbers));
        break;
    case 9:
        parts_text(m, PICK(t, texts), PICK(t, kernels));
        break;
    case 10:
        parts_kernel(m, next(t, 2) ? "x" : "y", PICK(t, kernels));
        break;
    case 11:
        alter_about(m, t);
        break;
    case 12:
        while (okra_methods_[count]) {
            count++;
        }
        json_object_set_new(m->about, "method",
                            json_string(okra_methods_[next(t, (unsigned)count)]->name));
        break;
    case 13:
        transplant(m, t);
        break;
    case 14:
        next(t, 2) ? retype(m, t) : alter_json(m, t);
        break;
    default:
        shuffle(m, t);
    }
}

#endif
