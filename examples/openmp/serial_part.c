/* A kernel of which a given share cannot run in parallel.
 *
 *     cc -O2 -fopenmp serial_part.c -o serial_part
 *     ./serial_part 400 20        # 400 million steps, 20 % of them serial
 *
 * Each step is the same arithmetic, so the time of p threads on p free cores is
 * (0.2 + 0.8 / p) of that of one: what Amdahl's law says for a serial fraction of 20 %. */

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

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
        fprintf(stderr, "usage: %s MILLION_STEPS SERIAL_PERCENT\n", argv[0]);
        return 2;
    }
    const long all = atol(argv[1]) * 1000000L;
    const long serial = all / 100 * atol(argv[2]);
    const long parallel = all - serial;
    if (all <= 0 || serial < 0 || parallel < 0) {
        fprintf(stderr, "%s: steps above 0 and a share of 0 to 100\n", argv[0]);
        return 2;
    }
    unsigned long long sum = steps(serial, 1);
    int threads = 1;
#pragma omp parallel reduction(^ : sum)
    {
        const long count = omp_get_num_threads();
        const long rank = omp_get_thread_num();
        const long share = parallel / count + (rank < parallel % count);
        sum ^= steps(share, (unsigned long long)rank + 2);
#pragma omp single
        threads = (int)count;
    }
    printf("%d threads, %ld serial and %ld parallel steps\n", threads, serial, parallel);
    /* The sum is used, so that no step is left out. */
    return sum == 42;
}
