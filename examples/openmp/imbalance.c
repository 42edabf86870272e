/* A kernel in which one thread has more to do than the others.
 *
 *     cc -O2 -fopenmp -I../../crates/measure/include imbalance.c -o imbalance
 *     ./imbalance 400 100         # 400 million steps, thread 0 has 100 % more than the mean
 *
 * The time of p threads on p free cores is that of thread 0, whose share of the work is
 * (1 + EXTRA / 100) / p: with 100 % extra, two threads take as long as one. */

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
    if (argc != 3) {
        fprintf(stderr, "usage: %s MILLION_STEPS EXTRA_PERCENT\n", argv[0]);
        return 2;
    }
    const long all = atol(argv[1]) * 1000000L;
    const long extra = atol(argv[2]);
    if (all <= 0 || extra < 0) {
        fprintf(stderr, "%s: steps above 0 and extra work of at least 0 %%\n", argv[0]);
        return 2;
    }
    unsigned long long sum = 0;
#pragma omp parallel reduction(^ : sum)
    {
        const long threads = omp_get_num_threads();
        const long rank = omp_get_thread_num();
        /* Thread 0 has so much more than the mean, at most all; the others share the rest. */
        long first = all / threads / 100 * (100 + extra);
        if (first > all || threads == 1) first = all;
        const long rest = threads > 1 ? (all - first) / (threads - 1) : 0;
        pascal_start(1);
        sum ^= steps(rank == 0 ? first : rest, (unsigned long long)rank + 2);
        pascal_stop(1);
#pragma omp barrier
    }
    /* The sum is used, so that no step is left out. */
    return sum == 42;
}
