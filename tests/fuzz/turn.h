/*
 * turn.h: what is done with an input, where there is a choice, and what is kept.
 */
#ifndef OKRA_FUZZ_TURN_H
#define OKRA_FUZZ_TURN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether turn k of so many is that of an input: in a replay each, in the fuzzer one that
 * hangs on the length of the input, so that it gets through that many more inputs. */
static inline bool fuzz_turn(size_t size, int k, int turns)
{
#ifdef OKRA_FUZZ
    return size % (size_t)turns == (size_t)k;
#else
    (void)size;
    return k < turns;
#endif
}

/* What is made from here on is kept to the end. The leak checker takes okra's blocks of
 * no bytes for lost ones: their address is that of their end. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));
static inline void fuzz_keep(bool begin)
{
    void (*call)(void) = begin ? __lsan_disable : __lsan_enable;
    if (call) {
        call();
    }
}

#endif
