/*
 * simd.h: one plain-C loop compiled for several instruction sets, chosen at run time.
 *
 * Write the loop as `static inline OKRA_INLINE_ void body(..., bool fused)`; then
 *     OKRA_VARIANTS_(name, body, (parameters), (arguments))
 * defines `static void name(parameters)` that runs body(arguments, fused) in the best
 * variant of this machine; `fused` is a constant in each, true where a fused
 * multiply-add is one instruction. Plain functions and a branch rather than the loader's
 * indirect functions, which sanitizers do not survive.
 */
#ifndef OKRA_SIMD_H_
#define OKRA_SIMD_H_

#include <stdbool.h>

/* Eight numbers side by side, where the compiler has to be told. */
enum { OKRA_LANES_ = 8 };
typedef double okra_lane_ __attribute__((vector_size(OKRA_LANES_ * sizeof(double))));

#define OKRA_ARGS_(...) __VA_ARGS__
#if defined(__x86_64__) && defined(__GNUC__)
#define OKRA_INLINE_ __attribute__((always_inline))
#define OKRA_AVX2_ "avx2,fma,popcnt"
#define OKRA_AVX512_ "avx512f,avx512dq,avx512vl,avx512bw,avx512vpopcntdq,fma,popcnt"

#define OKRA_VARIANTS_(name, body, parameters, arguments)                               \
    __attribute__((target(OKRA_AVX512_))) static void name##_avx512 parameters          \
    {                                                                                   \
        body(OKRA_ARGS_ arguments, true);                                               \
    }                                                                                   \
    __attribute__((target(OKRA_AVX2_))) static void name##_avx2 parameters              \
    {                                                                                   \
        body(OKRA_ARGS_ arguments, true);                                               \
    }                                                                                   \
    static void name##_plain parameters                                                 \
    {                                                                                   \
        body(OKRA_ARGS_ arguments, false);                                              \
    }                                                                                   \
    static void name parameters                                                         \
    {                                                                                   \
        if (__builtin_cpu_supports("avx512vpopcntdq") &&                                \
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) { \
            name##_avx512 arguments;                                                    \
        } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {   \
            name##_avx2 arguments;                                                      \
        } else {                                                                        \
            name##_plain arguments;                                                     \
        }                                                                               \
    }

#else
#if defined(__aarch64__) /* each has NEON and the fused multiply-add */
enum { OKRA_FUSED_ = true };
#else
enum { OKRA_FUSED_ = false };
#endif
#define OKRA_INLINE_
#define OKRA_VARIANTS_(name, body, parameters, arguments) \
    static void name parameters                           \
    {                                                     \
        body(OKRA_ARGS_ arguments, OKRA_FUSED_);          \
    }
#endif
#endif
