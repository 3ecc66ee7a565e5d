/*
 * random.c: xoshiro256** (Blackman and Vigna 2018), its state filled by splitmix64.
 * Only integer arithmetic and exact conversions, so the same on every machine; normal
 * deviates by the polar method, which uses log and sqrt of the C library.
 */
#include "core/core.h"

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

okra_random_ okra_random_create_(uint64_t seed, uint64_t stream)
{
    okra_random_ r = {{0, 0, 0, 0}, 0, false};
    uint64_t mixed = stream;
    uint64_t x = seed ^ (stream ? splitmix(&mixed) : 0);
    for (int i = 0; i < 4; i++) {
        r.s[i] = splitmix(&x);
    }
    return r;
}

uint64_t okra_random_bits_(okra_random_ *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double okra_random_uniform_(okra_random_ *r)
{
    return (double)(okra_random_bits_(r) >> 11) * 0x1p-53;
}

okra_int okra_random_below_(okra_random_ *r, okra_int n)
{
    if (n <= 1) {
        return 0;
    }
    /* Refuse the incomplete last interval, so that every value is equally likely. */
    uint64_t limit = (uint64_t)n, least = (0 - limit) % limit, bits;
    do {
        bits = okra_random_bits_(r);
    } while (bits < least);
    return (okra_int)(bits % limit);
}

double okra_random_normal_(okra_random_ *r)
{
    if (r->has_spare) {
        r->has_spare = false;
        return r->spare;
    }
    double u, v, s;
    do {
        u = 2 * okra_random_uniform_(r) - 1;
        v = 2 * okra_random_uniform_(r) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    double scale = sqrt(-2 * log(s) / s);
    r->spare = v * scale;
    r->has_spare = true;
    return u * scale;
}

void okra_random_shuffle_(okra_random_ *r, okra_int n, okra_int *items)
{
    for (okra_int i = n - 1; i > 0; i--) {
        okra_int j = okra_random_below_(r, i + 1), t = items[i];
        items[i] = items[j];
        items[j] = t;
    }
}
