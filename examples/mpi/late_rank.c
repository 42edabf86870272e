/* Ranks that compute and meet in a reduction, of which the last has more to do.
 *
 *     mpicc -O2 -I../../crates/measure/include late_rank.c -o late_rank
 *     parallax measure -c 1,2,4 --mpi 'mpirun -n {p}' -i '400 50' -o late.json -- ./late_rank
 *
 * `late_rank 400 50` does 400 million steps in all; the last rank has 50 % more than the mean, and
 * the others wait for it in MPI_Allreduce. */

#include <mpi.h>
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
    enum { ITERATIONS = 20 };
    int rank = 0, ranks = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long all = argc == 3 ? atol(argv[1]) * 1000000L : 0;
    const long extra = argc == 3 ? atol(argv[2]) : -1;
    if (all <= 0 || extra < 0) {
        if (rank == 0) fprintf(stderr, "usage: %s MILLION_STEPS EXTRA_PERCENT\n", argv[0]);
        MPI_Finalize();
        return 2;
    }
    const long in_iteration = all / ITERATIONS;
    long last = in_iteration / ranks / 100 * (100 + extra);
    if (last > in_iteration || ranks == 1) last = in_iteration;
    const long others = ranks > 1 ? (in_iteration - last) / (ranks - 1) : 0;
    const long own = rank == ranks - 1 ? last : others;
    unsigned long long sum = 0, total = 0;
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        pascal_start(1);
        sum ^= steps(own, (unsigned long long)(rank + iteration) + 2);
        pascal_stop(1);
        pascal_start(2);
        MPI_Allreduce(&sum, &total, 1, MPI_UNSIGNED_LONG_LONG, MPI_BXOR, MPI_COMM_WORLD);
        pascal_stop(2);
    }
    if (rank == 0) printf("%d ranks, the last with %ld of %ld steps\n", ranks, last, in_iteration);
    MPI_Finalize();
    /* The sum is used, so that no step is left out. */
    return total == 42;
}
