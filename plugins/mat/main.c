/*
 * main.c: okra-mat MEMORY SECONDS [NAME]: the MATLAB file on standard input, read inside
 * a sandbox. The library starts it (data/files/mat.c); it is no program for people.
 */
#include "mat.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4) {
        fputs("okra-mat belongs to okra, which starts it to read MATLAB files\n", stderr);
        return 2;
    }
    if (!sandbox_enter(strtoll(argv[1], NULL, 10), strtoll(argv[2], NULL, 10))) {
        return 3;
    }
    return mat_answer("/proc/self/fd/0", argc > 3 ? argv[3] : NULL,
                      strtoll(argv[1], NULL, 10), sandbox_close, 1);
}
