"""A pool of processes, of which one task is longer than all others.

    parallax measure -c 1,2,4 -i '16 4' -i '32 4' -o pool.json -- python3 pool.py

`pool.py 16 4` computes 16 tasks, of which the last takes as long as 4 others: on p free cores the
time is at least that of the last task, however many there are.
"""

from __future__ import annotations

import os
import sys
from multiprocessing import Pool

from parallax.regions import region

STEPS = 400_000


def task(size: int) -> int:
    """Some arithmetic, so many times as long as the shortest task."""
    x = size
    with region(2):
        for _ in range(size * STEPS):
            x = (x * 6364136223846793005 + 1442695040888963407) % (1 << 64)
    return x


def main() -> int:
    if len(sys.argv) != 3:
        print(f"usage: {sys.argv[0]} TASKS LENGTH_OF_THE_LAST", file=sys.stderr)
        return 2
    tasks, last = int(sys.argv[1]), int(sys.argv[2])
    # `parallax measure` says how many cores are to be used.
    workers = int(os.environ.get("OMP_NUM_THREADS", "1"))
    sizes = [1] * (tasks - 1) + [last]
    with region(1), Pool(workers) as pool:
        done = pool.map(task, sizes, chunksize=1)
    print(f"{workers} workers, {len(done)} tasks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
