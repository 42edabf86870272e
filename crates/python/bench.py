"""How long the package takes: to import, to open, to slice, and to hand over.

    python crates/python/bench.py DATABASE [PATH OF THE TOOL parallax]
    python crates/python/bench.py --devices DATABASE

Medians of several runs, in milliseconds. The database should be large: `cargo xtask generate
hpctoolkit --ranks 1000 --contexts 2500 OUT` makes one with millions of values. Build the wheel for
this (`cargo xtask wheel`); a development build is several times slower.

`--devices` has operations on the samples of a trace instead, on each device and by pandas, for a
wheel with the feature `gpu`.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

RUNS = 5


def median(work: Callable[[], object], runs: int = RUNS) -> float:
    """Milliseconds that some work takes; what it gives is dropped after the clock is read."""
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        made = work()
        times.append((time.perf_counter() - begin) * 1e3)
        del made
    return statistics.median(times)


def imported() -> float:
    """Milliseconds that `import parallax` takes in a new process, less what Python itself takes."""
    program = (
        "import time; begin = time.perf_counter(); import parallax; "
        "print((time.perf_counter() - begin) * 1e3)"
    )

    def once() -> float:
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
        return float(run.stdout)

    once()
    return statistics.median(once() for _ in range(RUNS))


def on_devices(database: str) -> None:
    """Copies of a trace to each device, and operations there, which bring nothing back but groups."""
    import pandas

    import parallax

    experiment = parallax.open(database)
    assert isinstance(experiment, parallax.Experiment)
    table = experiment.trace(is_raw=True).rows
    frame = table.to_pandas()
    least = int((frame["end_ns"] - frame["start_ns"]).quantile(0.7))
    print(f"{len(table):,} samples; {least:,} ns or longer are kept")

    def by_pandas(frame: pandas.DataFrame) -> object:
        long = frame.assign(duration_ns=frame["end_ns"] - frame["start_ns"])
        long = long[long["duration_ns"] >= least].sort_values("start_ns", kind="stable")
        by_context = long.groupby("context_id")["duration_ns"]
        return by_context.agg(["count", "sum", "min", "max", "mean", "var"])

    def by_device(there: parallax.DeviceTable) -> object:
        long = there.with_durations().filter("duration_ns", least).sort("start_ns")
        return long.group("context_id", of="duration_ns")

    def copied(device: str) -> object:
        # What comes back has waited for the copy.
        return table.to_device(device).head(1).to_table()

    print(f"pandas: filter, sort, group  {median(lambda: by_pandas(frame)):10.1f} ms")
    for device in parallax.devices():
        print(f"{device.device} ({device.name}, {device.kind})")
        there = table.to_device(device.device)
        # Once for the kernels to be compiled.
        by_device(there)
        print(f"  copied there               {median(lambda at=device.device: copied(at)):10.1f} ms")
        print(f"  filter, sort, group        {median(lambda there=there: by_device(there)):10.1f} ms")
        print(f"  copied back                {median(there.to_table):10.1f} ms")


def main() -> None:
    if sys.argv[1] == "--devices":
        on_devices(sys.argv[2])
        return
    database = sys.argv[1]
    print(f"import parallax              {imported():10.1f} ms")

    import parallax

    print(f"open                         {median(lambda: parallax.open(database)):10.1f} ms")
    experiment = parallax.open(database)
    assert isinstance(experiment, parallax.Experiment)

    def everything() -> parallax.Answer:
        return experiment.query(profiles="!summary")

    print(f"slice: all values            {median(everything):10.1f} ms")
    values = everything()
    print(f"  rows                       {len(values):10}")
    try:
        import pandas  # noqa: F401
        import polars  # noqa: F401

        values.to_pandas()
        print(f"  to pandas                  {median(values.to_pandas):10.1f} ms")
        print(f"  to Polars                  {median(values.to_polars):10.1f} ms")
        print(f"  to pyarrow                 {median(values.to_arrow):10.1f} ms")
    except ImportError as error:
        print(f"  {error.name} is not installed")

    def ranks() -> parallax.Answer:
        return experiment.query(profiles="rank", contexts="application", is_raw=True)

    one = median(ranks)
    print(f"slice: one context, all ranks{one:10.1f} ms ({len(ranks())} rows)")
    if len(sys.argv) > 2:
        words = [sys.argv[2], "query", database, "--profiles", "rank", "--raw"]
        words += ["--contexts", "application", "--format", "arrow", "--output", "/dev/null"]
        tool = median(lambda: subprocess.run(words, capture_output=True, check=True))
        print(f"  the tool, opening included {tool:10.1f} ms")

        def whole() -> object:
            opened = parallax.open(database)
            assert isinstance(opened, parallax.Experiment)
            return opened.query(profiles="rank", contexts="application", is_raw=True)

        print(f"  Python, opening included   {median(whole):10.1f} ms")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = sum(file.stat().st_size for file in Path(database).rglob("*") if file.is_file()) / 1e6
    print(f"peak memory                  {peak:10.0f} MiB (files: {size:.0f} MB)")


if __name__ == "__main__":
    main()
