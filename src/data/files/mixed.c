/*
 * mixed.c: a table of inputs whose columns are of several kinds, as vectors.
 *
 *     numbers       as they are
 *     dates         days since 1970
 *     texts         that mostly repeat: NAME=TEXT is 1 where it is that text, else 0, of
 *                   each text that at least one row in RARE has; others are left out
 *     gaps          the mean of what is known, and 1 in a column "NAME missing"
 *     SMILES        molecules, a description of their own beside the vectors
 *
 * The names of the columns say all of it, and a mean is that of the filled column: a
 * table for a model is read by the names and means of the model's own inputs. Molecules
 * keep no name: they are the columns called smiles, then others that read as SMILES.
 */
#include "data/files/formats.h"
#include "data/molecules/molecule.h"
#include "okra/program.h"

enum { RARE = 20, MOST = 4096, MOLECULES = 8 };
static const char GAP[] = " missing";

typedef struct table {
    okra_int n, columns;
    okra_texts_ *texts; /* of each column, its name first */
} table;

typedef struct feature {
    okra_int column;
    const char *text; /* NULL: the number; GAP: is it missing? else: is it that text? */
    double fill;
} feature;

typedef struct features {
    feature *of;
    okra_texts_ names;
    okra_int count, room;
    bool dates, classes, gaps;     /* are there any? */
    okra_int molecules[MOLECULES]; /* columns */
    int found;
} features;

static void free_table(table *t)
{
    for (okra_int j = 0; t->texts && j < t->columns; j++) {
        okra_texts_free_(&t->texts[j]);
    }
    okra_free_(t->texts);
}

static void free_features(features *f)
{
    okra_texts_free_(&f->names);
    okra_free_(f->of);
}

/* A number or date; NaN: a gap. False: a text. */
static bool value_of(const char *text, double *value)
{
    const char *end = text + strlen(text);
    okra_token_ token = okra_number_(text, end, value);
    if (token == OKRA_TOKEN_MISSING_ ||
        (token == OKRA_TOKEN_NONFINITE_ && isnan(*value))) {
        *value = (double)NAN;
        return true;
    }
    return token == OKRA_TOKEN_NUMBER_ || okra_date_(text, end, value);
}

static bool is_date(const char *text)
{
    double value;
    const char *end = text + strlen(text);
    return okra_number_(text, end, &value) != OKRA_TOKEN_NUMBER_ &&
           okra_date_(text, end, &value);
}

static const char *at(const table *t, okra_int j, okra_int i)
{
    return t->texts[j].pointers[1 + i];
}

static okra_status add(features *f, const table *t, okra_int column, const char *text,
                       double fill)
{
    char name[512];
    const char *of = t->texts[column].pointers[0];
    bool gap = text == GAP;
    snprintf(name, sizeof name, "%s%s%s", of, !text || gap ? "" : "=", text ? text : "");
    REFUSE_IF(f->count == f->room, OKRA_ESHAPE, "more than %d columns", MOST);
    f->of[f->count++] = (feature){column, text, fill};
    return okra_texts_add_(&f->names, name, name + strlen(name));
}

/* The texts of a column that are not too rare; *classes: they mostly repeat. */
static okra_status add_texts(features *f, const table *t, okra_int j, bool *classes)
{
    OWNED const char **known = NULL;
    okra_int count = 0;
    double value;
    MAKE(known, t->n);
    for (okra_int i = 0; i < t->n; i++) {
        if (!value_of(at(t, j, i), &value) || !isnan(value)) {
            known[count++] = at(t, j, i);
        }
    }
    CHK(okra_texts_are_classes(known, count, classes));
    qsort(known, (size_t)count, sizeof *known, okra_by_text_);
    for (okra_int i = 0, next; *classes && i < count; i = next) {
        for (next = i; next < count && strcmp(known[i], known[next]) == 0; next++) {
        }
        CHK((next - i) * RARE >= t->n ? add(f, t, j, known[i], 0) : OKRA_OK);
    }
    return OKRA_OK;
}

okra_status okra_texts_are_molecules_(const char *const *texts, okra_int n, bool called,
                                      bool *out)
{
    enum { FEW = 10 };
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    okra_int good = 0, bad = 0;
    bool more = false; /* than letters, which may be a word */
    *out = false;
    for (okra_int i = 0; i < n && (called || bad * FEW <= n); i++) {
        okra_status st = okra_smiles_parse_(texts[i], strlen(texts[i]), 1, &m);
        CHK(st == OKRA_EMEM ? st : OKRA_OK);
        more = more || (st == OKRA_OK && strpbrk(texts[i], "0123456789()[]=#"));
        good += st == OKRA_OK;
        bad += st != OKRA_OK;
    }
    *out = good > 0 && (called ? good >= bad : more && bad * FEW <= n);
    return OKRA_OK;
}

/* Columns of SMILES that no feature takes, those called so first; `known`: a model has
 * so many. Of others okra asks that their texts mostly differ. */
static okra_status find_molecules(const table *t, features *f, int known)
{
    for (int called = 1; called >= 0; called--) {
        for (okra_int j = 0; j < t->columns; j++) {
            const char *const *texts = (const char *const *)t->texts[j].pointers;
            bool is = (strcasestr(texts[0], "smiles") != NULL) == called, classes = false;
            for (okra_int k = 0; k < f->count; k++) {
                is = is && f->of[k].column != j;
            }
            if (is && !called && known == 0) {
                CHK(okra_texts_are_classes(texts + 1, t->n, &classes));
            }
            if (is && !(called && known > 0)) {
                CHK(okra_texts_are_molecules_(texts + 1, t->n, called, &is));
            }
            if (is && !classes && f->found < (known ? known : MOLECULES)) {
                f->molecules[f->found++] = j;
            }
        }
    }
    REFUSE_IF(f->found < known, OKRA_EARG,
              "columns of molecules (SMILES): %d in the model, found %d", known,
              f->found);
    return OKRA_OK;
}

static bool is_molecule(const features *f, okra_int j)
{
    int k = 0;
    while (k < f->found && f->molecules[k] != j) {
        k++;
    }
    return k < f->found;
}

/* What a table says of itself; *left lists the columns that are left out. */
static okra_status choose(const table *t, features *f, char *left, size_t size)
{
    CHK(find_molecules(t, f, 0));
    for (okra_int j = 0; j < t->columns; j++) {
        if (is_molecule(f, j)) {
            continue;
        }
        okra_int gaps = 0, texts = 0, before = f->count;
        double sum = 0, value;
        bool classes = true;
        for (okra_int i = 0; i < t->n; i++) {
            bool number = value_of(at(t, j, i), &value);
            texts += !number;
            f->dates = f->dates || (number && is_date(at(t, j, i)));
            gaps += number && isnan(value);
            sum += number && !isnan(value) ? value : 0;
        }
        if (texts > 0) {
            CHK(add_texts(f, t, j, &classes));
            f->classes = f->classes || classes;
        }
        if (texts == 0 && gaps < t->n) {
            CHK(add(f, t, j, NULL, sum / (double)(t->n - gaps)));
        }
        if (gaps > 0 && gaps < t->n && classes && f->count > before) {
            CHK(add(f, t, j, GAP, 0));
            f->gaps = true;
        }
        if (f->count == before) {
            size_t used = strlen(left);
            snprintf(left + used, size - used, "%s%s%s", used ? ", " : "",
                     t->texts[j].pointers[0],
                     !classes    ? ""
                     : texts > 0 ? " (each text is rare)"
                                 : " (empty)");
        }
    }
    return OKRA_OK;
}

static okra_int column_named(const table *t, const char *name, size_t length)
{
    for (okra_int j = 0; j < t->columns; j++) {
        const char *own = t->texts[j].pointers[0];
        if (strlen(own) == length && memcmp(own, name, length) == 0) {
            return j;
        }
    }
    return -1;
}

/* The vectors of inputs; NULL: there are none. */
static const okra_data *vectors_of(const okra_data *like)
{
    const okra_data *first =
        like && like->kind == OKRA_TUPLE ? like->components[0] : like;
    return first && first->kind == OKRA_DENSE && okra_data_column(first, 0) ? first
                                                                            : NULL;
}

bool okra_mixed_like_(const okra_data *like)
{
    const okra_data *first = vectors_of(like);
    bool mixed = like && (like->kind == OKRA_TUPLE || like->kind == OKRA_GRAPHS);
    for (okra_int k = 0; first && k < first->d; k++) {
        const char *name = okra_data_column(first, k);
        mixed = mixed || strchr(name, '=') || strstr(name, GAP);
    }
    return mixed;
}

/* The features that the names of `like` say. */
static okra_status repeat(const table *t, const okra_data *like, features *f)
{
    for (okra_int k = 0; k < like->d; k++) {
        const char *name = okra_data_column(like, k), *text = NULL, *is = name;
        size_t length = strlen(name), tail = strlen(GAP);
        okra_int j = column_named(t, name, length);
        if (j < 0 && length > tail && strcmp(name + length - tail, GAP) == 0) {
            j = column_named(t, name, length - tail);
            text = GAP;
        }
        while (j < 0 && (is = strchr(is, '='))) {
            j = column_named(t, name, (size_t)(is - name));
            text = ++is;
        }
        is = strstr(name, GAP) ? strstr(name, GAP) : strchr(name, '=');
        REFUSE_IF(j < 0, OKRA_EARG, "there is no column '%.*s', which the model has",
                  (int)(is ? is - name : (ptrdiff_t)length), name);
        double sum = 0;
        for (okra_int i = 0; i < like->n; i++) {
            sum += like->values[i * like->ld + k];
        }
        CHK(add(f, t, j, text, like->n ? sum / (double)like->n : 0));
    }
    return OKRA_OK;
}

static okra_status fill(const okra_source_ *source, const table *t, const features *f,
                        okra_data **out)
{
    OWNED double *values = NULL;
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    okra_int d = f->count;
    double value;
    CHK(okra_doubles_(source->ctx, t->n, d, "a table", &values));
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int k = 0; k < d; k++) {
            const feature *of = &f->of[k];
            const char *text = at(t, of->column, i);
            bool number = value_of(text, &value), gap = number && isnan(value);
            REFUSE_IF(!of->text && !number, OKRA_EFORMAT,
                      "row %lld: '%.40s' is not a number, as the column '%s' has them",
                      (long long)i, text, t->texts[of->column].pointers[0]);
            values[i * d + k] = !of->text         ? (gap ? of->fill : value)
                                : of->text == GAP ? gap
                                                  : strcmp(text, of->text) == 0;
        }
    }
    CHK(okra_data_adopt_dense_(&values, t->n, d, source->name, &data));
    CHK(okra_columns_read_(data, (const char *const *)f->names.pointers));
    *out = TAKE(data);
    return OKRA_OK;
}

/* Warns where most texts of a column are none of those that the model knows. */
static void tell_strange(const okra_source_ *source, const table *t, const features *f)
{
    double value;
    for (okra_int k = 0, next; k < f->count; k = next) {
        okra_int strange = 0, first = 0, j = f->of[k].column;
        for (next = k + 1; next < f->count && f->of[next].column == j; next++) {
        }
        for (okra_int i = 0; i < t->n; i++) {
            bool known = value_of(at(t, j, i), &value) && isnan(value);
            for (okra_int l = k; l < next; l++) {
                known =
                    known || !f->of[l].text || strcmp(f->of[l].text, at(t, j, i)) == 0;
            }
            first = !known && strange == 0 ? i : first;
            strange += !known;
        }
        if (2 * strange > t->n) {
            okra_warn_(source->ctx,
                       "%s: column '%s': %" PRId64 " of %" PRId64
                       " texts are none of the "
                       "model's, such as '%.40s' of row %" PRId64 " (from 0)",
                       source->name, t->texts[j].pointers[0], strange, t->n,
                       at(t, j, first), first);
        }
    }
}

/* The vectors, and molecules beside them. */
static okra_status gather(const okra_source_ *source, const table *t, const features *f,
                          okra_data **out)
{
    okra_data *parts[1 + MOLECULES] = {NULL};
    okra_status st = f->count > 0 ? fill(source, t, f, &parts[0]) : OKRA_OK;
    int count = f->count > 0;
    for (int k = 0; k < f->found && st == OKRA_OK; k++) {
        const okra_texts_ *texts = &t->texts[f->molecules[k]];
        st = okra_data_smiles(source->ctx, (const char *const *)texts->pointers + 1, t->n,
                              &parts[count]);
        if (st != OKRA_OK) {
            okra_message_prefix_("column '%s'", texts->pointers[0]);
        } else {
            st = okra_data_rename_(&parts[count++], source->name);
        }
    }
    if (st == OKRA_OK && count > 1) {
        st = okra_data_tuple(parts, count, out);
    } else if (st == OKRA_OK) {
        *out = parts[0];
        count = 0;
    }
    while (count > 0) {
        okra_data_free(parts[--count]);
    }
    return st;
}

/* Fields as texts, one list a column; a name first, "column 2" where there is none. */
static okra_status collect(okra_table_ t, const okra_table_shape_ *s,
                           const okra_columns_choice_ *c, table *all)
{
    bool more = true;
    char text[OKRA_NUMBER_TEXT_];
    for (okra_int k = 0, j = 0; k < s->records * s->columns; k++) {
        CHK(okra_table_next_(&t, &more));
        j = t.column == 1 ? 0 : j;
        if (c->taken && !c->taken[t.column - 1]) {
            continue;
        }
        okra_texts_ *texts = &all->texts[j++];
        double value;
        bool name = c->header && k < s->columns;
        if (!c->header && k < s->columns) {
            snprintf(text, sizeof text, "column %" PRId64, t.column);
            CHK(okra_texts_add_(texts, text, text + strlen(text)));
        }
        if (!name && okra_table_number_(&t, &value) == OKRA_TOKEN_NUMBER_) {
            okra_double_text_(value, text); /* decimal commas */
            CHK(okra_texts_add_(texts, text, text + strlen(text)));
        } else {
            CHK(okra_texts_add_(texts, t.begin, t.close));
        }
    }
    for (okra_int j = 0; j < all->columns; j++) {
        CHK(okra_texts_done_(&all->texts[j]));
    }
    return OKRA_OK;
}

okra_status okra_read_mixed_(const okra_source_ *source, okra_table_ t,
                             const okra_table_shape_ *s, const okra_columns_choice_ *c,
                             okra_data **out)
{
    FREED_BY(free_table) table all = {s->records - c->header, c->count, NULL};
    FREED_BY(free_features) features f = {.room = MOST};
    const okra_data *like = source->like, *vectors = vectors_of(like);
    char left[400] = "", molecules[80] = "";
    ZMAKE(all.texts, all.columns);
    MAKE(f.of, f.room);
    CHK(collect(t, s, c, &all));
    if (like && like->kind == OKRA_TUPLE &&
        (like->components[like->component_count - 1]->kind != OKRA_GRAPHS ||
         (!vectors && like->components[0]->kind != OKRA_GRAPHS))) {
        return okra_too_few_parts_(like);
    }
    if (vectors || (like && like->kind == OKRA_GRAPHS)) {
        CHK(vectors ? repeat(&all, vectors, &f) : OKRA_OK);
        CHK(find_molecules(&all, &f,
                           like->kind == OKRA_TUPLE ? (int)like->component_count - 1
                                                    : !vectors));
    } else {
        CHK(choose(&all, &f, left, sizeof left));
        REFUSE_IF(f.count + f.found == 0, OKRA_EFORMAT,
                  "no column has numbers, dates, classes or molecules (found: %s); "
                  "FILE:COLUMN reads a column of other texts as strings",
                  left);
    }
    CHK(okra_texts_done_(&f.names));
    CHK(gather(source, &all, &f, out));
    if (like) {
        tell_strange(source, &all, &f);
    } else {
        snprintf(molecules, sizeof molecules, "; %.60s: molecules",
                 f.found ? all.texts[f.molecules[0]].pointers[0] : "");
        okra_warn_(source->ctx, "note: %s: %lld columns become %lld numbers%s%s%s%s",
                   source->name, (long long)all.columns, (long long)f.count,
                   f.dates ? "; dates are days" : "",
                   f.classes ? "; a class is 0 or 1 for each of its texts" : "",
                   f.gaps ? "; gaps are the mean, and 1 in a column of their own" : "",
                   f.found ? molecules : "");
    }
    if (*left) {
        okra_warn_(source->ctx,
                   "%s: left out: %s, whose texts mostly differ; FILE:COLUMN beside it "
                   "reads a column of texts as strings",
                   source->name, left);
    }
    return OKRA_OK;
}
