/*
 * popcount.c: how many 64-bit words this core can count the common bits of in a second,
 * everything in registers: the bound of bit kernels. bench_index.py compiles it for the
 * machine at hand.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#ifdef __AVX512VPOPCNTDQ__
#include <immintrin.h>
#endif

enum { LANES = 8, ROUNDS = 20000000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Words counted; the sum keeps the compiler from leaving it out. */
static double count(uint64_t seed, uint64_t *sum)
{
#ifdef __AVX512VPOPCNTDQ__
    __m512i a[LANES], total[LANES];
    for (int k = 0; k < LANES; k++) {
        a[k] = _mm512_set1_epi64((long long)(seed + (uint64_t)k));
        total[k] = _mm512_setzero_si512();
    }
    for (int i = 0; i < ROUNDS; i++) {
        __m512i b = _mm512_set1_epi64(i);
        for (int k = 0; k < LANES; k++) {
            total[k] = _mm512_add_epi64(total[k],
                                        _mm512_popcnt_epi64(_mm512_and_si512(a[k], b)));
        }
    }
    for (int k = 0; k < LANES; k++) {
        *sum += (uint64_t)_mm512_reduce_add_epi64(total[k]);
    }
    return 8.0 * LANES * ROUNDS;
#else
    uint64_t a[LANES], total[LANES] = {0};
    for (int k = 0; k < LANES; k++) {
        a[k] = seed + (uint64_t)k;
    }
    for (uint64_t i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < LANES; k++) {
            total[k] += (uint64_t)__builtin_popcountll(a[k] & i);
        }
    }
    for (int k = 0; k < LANES; k++) {
        *sum += total[k];
    }
    return 1.0 * LANES * ROUNDS;
#endif
}

int main(int argc, char **argv)
{
    double best = 0;
    uint64_t sum = 0;
    (void)argv;
    for (int turn = 0; turn < 7; turn++) {
        double begin = now(), words = count((uint64_t)argc + 77, &sum);
        double rate = words / (now() - begin);
        best = rate > best ? rate : best;
    }
    printf("%.17g %llu\n", best, (unsigned long long)sum);
    return 0;
}
