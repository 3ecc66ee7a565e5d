/*
 * names.c: texts and their numbers, by a table of hashes at most half full.
 */
#include "data/files/formats.h"

static uint64_t hash_text(const char *p, const char *end)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; p < end; p++) {
        h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
    }
    return h ^ h >> 29;
}

static okra_int seek(const okra_names_ *n, const char *p, const char *end)
{
    okra_int k = (okra_int)(hash_text(p, end) & (uint64_t)n->mask);
    while (n->table[k]) {
        const char *known = okra_name_(n, n->table[k] - 1);
        if (strlen(known) == (size_t)(end - p) &&
            memcmp(known, p, (size_t)(end - p)) == 0) {
            break;
        }
        k = (k + 1) & n->mask;
    }
    return k;
}

static okra_status grow_names(okra_names_ *n)
{
    okra_int *old = n->table;
    okra_int mask = n->mask ? 2 * n->mask + 1 : 1023;
    if (n->table && 2 * (n->texts.count + 1) <= n->mask) {
        return OKRA_OK;
    }
    okra_int *table = NULL;
    ZMAKE(table, mask + 1);
    n->table = table;
    n->mask = mask;
    for (okra_int i = 0; i < n->texts.count; i++) {
        const char *text = okra_name_(n, i);
        n->table[seek(n, text, text + strlen(text))] = i + 1;
    }
    okra_free_(old);
    return OKRA_OK;
}

okra_int okra_names_find_(const okra_names_ *n, const char *p, const char *end)
{
    return n->table ? n->table[seek(n, p, end)] - 1 : -1;
}

okra_status okra_names_add_(okra_names_ *n, const char *p, const char *end,
                            okra_int *code)
{
    CHK(grow_names(n));
    okra_int k = seek(n, p, end);
    if (!n->table[k]) {
        CHK(okra_texts_add_(&n->texts, p, end));
        n->table[k] = n->texts.count;
    }
    *code = n->table[k] - 1;
    return OKRA_OK;
}

void okra_names_free_(okra_names_ *n)
{
    okra_texts_free_(&n->texts);
    okra_free_(n->table);
}
