/*
 * coder.c: codes of sequences: a dictionary of steps, or a hash.
 *
 * A sequence is known by the code of all but its last step and that step, so a dictionary
 * of triples (code, a, b) holds any set of sequences exactly, sharing their beginnings.
 * Open addressing, at most half full. A coder on a base looks there first and never
 * changes it: many collections can be coded against one training set.
 */
#include "kernel/graphs/graph_features.h"

typedef struct triple {
    uint64_t code, a, b;
} triple;

struct okra_coder_ {
    const okra_coder_ *base;
    bool hash;
    uint64_t first;  /* code of entries[0]          */
    triple *entries; /*                             */
    okra_int count, room;
    uint32_t *table; /* place of an entry plus 1; 0: empty */
    uint64_t mask;
};

/* The finaliser of splitmix64: every input bit reaches every output bit. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t hash_of(uint64_t code, uint64_t a, uint64_t b)
{
    /* Odd constants keep (a, b) apart from (b, a). */
    uint64_t h = mix(code + UINT64_C(0x9e3779b97f4a7c15));
    h = mix(h ^ (a * UINT64_C(0xd1342543de82ef95) + 1));
    return mix(h + (b * UINT64_C(0xaf251af3b0f025b5) + 2));
}

okra_status okra_coder_create_(const okra_coder_ *base, bool hash, okra_coder_ **out)
{
    FREED_BY(okra_coder_drop_) okra_coder_ *c = NULL;
    ZMAKE(c, 1);
    c->base = base;
    c->hash = hash;
    c->first = base ? okra_coder_size_(base) : 1; /* 0 is the empty sequence */
    if (!hash) {
        c->mask = 1023;
        ZMAKE(c->table, 1024);
    }
    *out = TAKE(c);
    return OKRA_OK;
}

OKRA_SHARED_FREES_(okra_coder_free_, okra_coder_, it->entries, it->table)

uint64_t okra_coder_size_(const okra_coder_ *coder)
{
    return coder->hash ? 0 : coder->first + (uint64_t)coder->count;
}

/* The place in the table of a triple, or of the hole where it belongs. */
static uint64_t seek(const okra_coder_ *c, const triple *t, uint64_t h)
{
    uint64_t k = h & c->mask;
    while (c->table[k]) {
        const triple *e = &c->entries[c->table[k] - 1];
        if (e->code == t->code && e->a == t->a && e->b == t->b) {
            break;
        }
        k = (k + 1) & c->mask;
    }
    return k;
}

static okra_status grow(okra_coder_ *c)
{
    uint32_t *table = NULL;
    EXTEND(c->entries, c->count, c->room, 512);
    if (2 * (uint64_t)(c->count + 1) <= c->mask + 1) {
        return OKRA_OK;
    }
    REFUSE_IF(c->count >= INT32_MAX, OKRA_EUNSUPPORTED,
              "more than 2^31 distinct features; give bits=2048 or so");
    uint64_t mask = 2 * c->mask + 1;
    ZMAKE(table, (okra_int)mask + 1);
    for (okra_int i = 0; i < c->count; i++) {
        const triple *e = &c->entries[i];
        uint64_t k = hash_of(e->code, e->a, e->b) & mask;
        while (table[k]) {
            k = (k + 1) & mask;
        }
        table[k] = (uint32_t)(i + 1);
    }
    okra_free_(c->table);
    c->table = table;
    c->mask = mask;
    return OKRA_OK;
}

okra_status okra_coder_fold_(okra_coder_ *c, uint64_t code, uint64_t a, uint64_t b,
                             uint64_t *out)
{
    const triple t = {code, a, b};
    uint64_t h = hash_of(code, a, b);
    if (c->hash) {
        *out = h;
        return OKRA_OK;
    }
    for (const okra_coder_ *d = c; d; d = d->base) {
        uint64_t k = seek(d, &t, h);
        if (d->table[k]) {
            *out = d->first + d->table[k] - 1;
            return OKRA_OK;
        }
    }
    CHK(grow(c));
    c->table[seek(c, &t, h)] = (uint32_t)(c->count + 1);
    c->entries[c->count] = t;
    *out = c->first + (uint64_t)c->count++;
    return OKRA_OK;
}
