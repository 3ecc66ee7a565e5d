/*
 * features.c: from lines of a file to masses, keys and bits, and which of them are
 * repeats.
 */
#include "data/molecules/mass.h"
#include "candidates/build.h"
#include "kernel/graphs/graph_features.h"

#include <inttypes.h>
#include <string.h>

enum { CHUNK = 256, SEEN_FIRST = 1 << 16 };

static const char *line_at(const okra_build_ *b, uint64_t place)
{
    return (const char *)b->source.p + place;
}

static okra_status check_text(const okra_build_ *b, uint64_t place, int32_t length,
                              okra_int line)
{
    const char *text = line_at(b, place);
    okra_lines_ part = {.begin = text, .close = text + length, .number = line};
    return okra_line_check_(&part);
}

/* One SMILES into the builder; OKRA_EFORMAT: it is broken. */
static okra_status add_one(const okra_build_ *b, const okra_entry_ *e, okra_molecule_ *m,
                           okra_graphs_builder_ *g)
{
    bool kekule;
    CHK(check_text(b, e->place, e->smiles, e->line));
    CHK(check_text(b, e->name, e->named, e->line));
    REFUSE_IF(e->smiles == 0, OKRA_EFORMAT,
              "line %" PRId64 ": expected a SMILES, found nothing", e->line);
    REFUSE_IF(e->wrong, OKRA_EFORMAT, "line %" PRId64 ": column %s holds no number",
              e->line, b->names[e->wrong - 1]);
    okra_status st = okra_smiles_parse_(line_at(b, e->place), (size_t)e->smiles, 1, m);
    st = st == OKRA_OK ? okra_molecule_perceive_(m, &kekule) : st;
    if (st == OKRA_EFORMAT) {
        okra_message_prefix_("line %" PRId64, e->line);
    }
    CHK(st);
    return okra_graphs_molecule_(g, m, "", 0);
}

static okra_status add_carbon(okra_molecule_ *m, okra_graphs_builder_ *g)
{
    CHK(okra_smiles_parse_("C", 1, 1, m));
    CHK(okra_molecule_perceive_(m, NULL));
    return okra_graphs_molecule_(g, m, "", 0);
}

/* Parses the molecules of entries first..first+count-1 into *out; a broken one is marked
 * and stands as a lone carbon. */
static okra_status molecules_of(const okra_build_ *b, okra_int first, okra_int count,
                                okra_data **out)
{
    okra_status st = OKRA_OK;
    FREED_BY(okra_graphs_abandon_) okra_graphs_builder_ g = {0};
    FREED_BY(okra_molecule_clear_) okra_molecule_ m = {0};
    CHK(okra_graphs_begin_(&g, true));
    for (okra_int k = first; k < first + count; k++) {
        st = add_one(b, &b->entry[k], &m, &g);
        b->entry[k].broken = st == OKRA_EFORMAT;
        CHK(b->entry[k].broken ? add_carbon(&m, &g) : st);
    }
    return okra_graphs_finish_(&g, "index", out);
}

static okra_status chunk(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_build_ *b = arg;
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    OWNED uint64_t *keys = NULL;
    (void)worker;
    MAKE(keys, end - begin);
    CHK(molecules_of(b, begin, end - begin, &data));
    CHK(okra_molecule_keys_(data, keys));
    for (okra_int k = begin; k < end; k++) {
        okra_atom_counts_ atoms;
        okra_atoms_(data, k - begin, &atoms);
        b->entry[k].mass = atoms.mass;
        b->entry[k].formula = okra_atoms_key_(&atoms);
        b->entry[k].key = keys[k - begin];
        b->entry[k].lists = (int32_t)begin;
    }
    for (int leaf = 0; b->bits && leaf < b->kernel.leaves; leaf++) {
        const okra_kernel_class_ *class = b->kernel.class[leaf];
        const void *params = b->kernel.params[leaf];
        CHK(b->kernel.counts[leaf]
                ? okra_features_counts_(NULL, class, params, data, &b->lists[leaf][begin])
                : okra_features_bits_(b->ctx, class, params, data,
                                      b->rows[leaf] +
                                          begin * okra_bit_words_(&b->kernel, leaf)));
    }
    return OKRA_OK;
}

void okra_build_drop_lists_(okra_build_ *b)
{
    for (int leaf = 0; leaf < OKRA_LEAVES_MOST_; leaf++) {
        for (okra_int k = 0; b->lists[leaf] && k < b->count; k++) {
            okra_csr_free_(&b->lists[leaf][k]);
        }
    }
}

/* What is wrong with a line. */
static okra_status line_fault(const okra_build_ *b, const okra_entry_ *e)
{
    okra_graphs_builder_ g = {0};
    okra_molecule_ m = {0};
    okra_status st = okra_graphs_begin_(&g, true);
    st = st == OKRA_OK ? add_one(b, e, &m, &g) : st;
    okra_graphs_abandon_(&g);
    okra_molecule_clear_(&m);
    return st;
}

okra_status okra_build_features_(okra_build_ *b)
{
    okra_status st = OKRA_OK;
    CHK(okra_parallel_(b->ctx, b->count, CHUNK, "candidates",
                       b->vectors ? okra_build_rows_ : chunk, b));
    for (okra_int k = 0; k < b->count; k++) {
        if (b->entry[k].broken) { /* again, for its message */
            st = b->vectors ? okra_build_row_fault_(b, &b->entry[k])
                            : line_fault(b, &b->entry[k]);
            st = okra_fault_(b->faults, st);
            if (st == OKRA_EFORMAT) {
                okra_message_prefix_("%s", b->request->source);
            }
            CHK(st);
        }
    }
    return OKRA_OK;
}

/* ---- repeats ---- */

static okra_status grow(okra_build_ *b)
{
    okra_seen_ *s = &b->seen, more = {.room = s->room ? 2 * s->room : SEEN_FIRST};
    CHK(okra_budget_ask_(b->ctx, 16.0 * (double)more.room, "a table of %llu candidates",
                         (unsigned long long)more.room / 2));
    ZMAKE(more.slots, (okra_int)more.room);
    for (uint64_t k = 0; k < s->room; k++) {
        if (s->slots[k].place) {
            uint64_t at = s->slots[k].key & (more.room - 1);
            while (more.slots[at].place) {
                at = (at + 1) & (more.room - 1);
            }
            more.slots[at] = s->slots[k];
        }
    }
    more.used = s->used;
    okra_free_(s->slots);
    *s = more;
    return OKRA_OK;
}

okra_status okra_build_remember_(okra_build_ *b, uint64_t key, uint64_t place)
{
    okra_status st = OKRA_OK;
    okra_seen_ *s = &b->seen;
    if (2 * (s->used + 1) > s->room) {
        st = grow(b);
        if (st == OKRA_EBUDGET && s->room > 0) { /* begin anew: this shard alone */
            memset(s->slots, 0, (size_t)s->room * sizeof *s->slots);
            s->used = 0;
            b->report.whole = false;
            st = OKRA_OK;
        }
        CHK(st);
    }
    uint64_t at = key & (s->room - 1);
    while (s->slots[at].place) {
        at = (at + 1) & (s->room - 1);
    }
    s->slots[at].key = key;
    s->slots[at].place = place + 1;
    s->used++;
    return OKRA_OK;
}

/* The molecule that stands at a place of the source. */
static okra_status molecule_at(const okra_build_ *b, uint64_t place, okra_data **out)
{
    const char *text = line_at(b, place);
    const char *end = (const char *)b->source.p + b->source.size;
    size_t length = 0;
    while (text + length < end && !strchr(" \t\r\n", text[length])) {
        length++;
    }
    char *copy = okra_strndup_(text, length);
    GOT(copy);
    const char *const texts[] = {copy};
    okra_status st = okra_data_smiles(NULL, texts, 1, out);
    okra_free_(copy);
    return st;
}

/* Is entry k the molecule at that place? */
static okra_status is_same(const okra_build_ *b, okra_int k, uint64_t place, bool *same,
                           bool *sure)
{
    FREED_BY(okra_data_drop_) okra_data *one = NULL, *two = NULL;
    CHK(molecule_at(b, b->entry[k].place, &one));
    CHK(molecule_at(b, place, &two));
    return okra_molecules_same_(one, 0, two, 0, same, sure);
}

okra_status okra_build_repeats_(okra_build_ *b, uint64_t *repeated, uint64_t *apart)
{
    for (okra_int k = 0; k < b->count; k++) {
        okra_entry_ *e = &b->entry[k];
        okra_seen_ *s = &b->seen;
        bool same = false, sure = true;
        int near = 0;
        if (k % CHUNK == 0) {
            CHK(okra_cancelled_(b->ctx));
        }
        for (uint64_t at = s->room ? e->key & (s->room - 1) : 0;
             !b->vectors && !e->broken && !same && s->room && s->slots[at].place;
             at = (at + 1) & (s->room - 1)) {
            if (s->slots[at].key == e->key && near++ < OKRA_ALIKE_MOST_) {
                CHK(is_same(b, k, s->slots[at].place - 1, &same, &sure));
            }
        }
        e->dropped = e->broken || same;
        *repeated += same;
        *apart += near > 0 && !same;
        if (!e->dropped && !b->vectors) {
            CHK(okra_build_remember_(b, e->key, e->place));
        }
    }
    return OKRA_OK;
}
