/* A kernel of which a given share holds a lock.
 *
 *     cc -O2 -fopenmp -I../../crates/measure/include lock.c -o lock
 *     ./lock 400 30               # 400 million steps, 30 % of them in a critical section
 *
 * On p free cores the time is at least that of the steps in the critical section, one thread after
 * the other: with 30 %, no more than 3.3 cores are of use. */

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "pascalops.h"

/* A chain of steps, each of which needs the one before: nothing in it can be vectorised. */
static unsigned long long steps(long count, unsigned long long x) {
    for (long i = 0; i < count; i++) {
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        x ^= x >> 29;
    }
    return x;
}

int main(int argc, char **argv) {
    enum { ROUNDS = 200 };
    if (argc != 3) {
        fprintf(stderr, "usage: %s MILLION_STEPS LOCKED_PERCENT\n", argv[0]);
        return 2;
    }
    const long all = atol(argv[1]) * 1000000L;
    const long percent = atol(argv[2]);
    if (all <= 0 || percent < 0 || percent > 100) {
        fprintf(stderr, "%s: steps above 0 and a share of 0 to 100\n", argv[0]);
        return 2;
    }
    unsigned long long shared = 1, sum = 0;
#pragma omp parallel reduction(^ : sum)
    {
        const long share = all / omp_get_num_threads() / ROUNDS;
        const long locked = share / 100 * percent;
        for (int round = 0; round < ROUNDS; round++) {
            pascal_start(1);
            sum ^= steps(share - locked, (unsigned long long)round + 2);
            pascal_stop(1);
            pascal_start(2);
#pragma omp critical
            shared = steps(locked, shared);
            pascal_stop(2);
        }
    }
    /* The sums are used, so that no step is left out. */
    return (sum ^ shared) == 42;
}
