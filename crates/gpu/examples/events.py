"""The operations of `events.rs` with pandas and Polars, on the same events.

    events.py TRACES...
"""

import sys
import time

import numpy as np
import pandas as pd

try:
    import polars as pl
except ImportError:
    pl = None

EVENTS_OF_A_TRACE = 1300
CONTEXTS = 1000
LONG = 1_500_000


def mixed(i):
    x = i * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def events(traces):
    i = np.arange(traces * EVENTS_OF_A_TRACE, dtype=np.uint64)
    h = mixed(i)
    context = (h % np.uint64(CONTEXTS)) * ((h >> np.uint64(32)) % np.uint64(CONTEXTS))
    context //= np.uint64(CONTEXTS)
    start = (i % np.uint64(EVENTS_OF_A_TRACE)) * np.uint64(4_000_000)
    start += (h >> np.uint64(12)) & np.uint64(0xFFFFF)
    end = start + np.uint64(1000) + ((h >> np.uint64(20)) & np.uint64(0x1FFFFF))
    return {
        "location": (i // np.uint64(EVENTS_OF_A_TRACE)).astype(np.uint32),
        "context": context.astype(np.uint32) + np.uint32(17),
        "start": start,
        "end": end,
    }


def table():
    keys = np.arange(CONTEXTS + 17, dtype=np.uint32)[::-1].copy()
    return {"context": keys, "value": keys.astype(np.uint64) * np.uint64(3)}


ROUNDS = 7


def timed(who, traces, length, operation, work, check):
    """The median of seven, after as much work as `events.rs` does first; one round where that takes long."""
    begin = time.perf_counter()
    result = work()
    times = [time.perf_counter() - begin]
    if times[0] <= 5:
        while time.perf_counter() - begin < 0.3:
            result = work()
        times, everything = [], time.perf_counter()
        while not times or len(times) < ROUNDS and time.perf_counter() - everything < 5:
            begin = time.perf_counter()
            result = work()
            times.append(time.perf_counter() - begin)
    seconds = sorted(times)[len(times) // 2]
    print(f"{who}\t{traces}\t{length}\t{operation}\t{seconds:.6f}\t{int(check(result)) % 2**64:016x}", flush=True)


AGGREGATES = ["count", "sum", "min", "max", "mean", "var"]


def weighted(values):
    values = np.asarray(values).astype(np.uint64)
    return int((np.arange(1, len(values) + 1, dtype=np.uint64) * values).sum(dtype=np.uint64))


def with_pandas(traces):
    df = pd.DataFrame(events(traces))
    names = pd.DataFrame(table())
    n = len(df)

    def group(keys):
        return lambda: df.assign(d=df["end"] - df["start"]).groupby(keys)["d"].agg(AGGREGATES)

    def grouped(result):
        key = result.index.get_level_values("context").to_numpy().astype(np.uint64)
        return (key * result["sum"].to_numpy().astype(np.uint64)).sum(dtype=np.uint64)

    timed("pandas", traces, n, "group", group("context"), grouped)
    timed("pandas", traces, n, "group2", group(["location", "context"]), grouped)
    timed("pandas", traces, n, "sort", lambda: df.sort_values("start", kind="stable"), lambda r: weighted(r.index))
    timed("pandas", traces, n, "filter", lambda: df[df["end"] - df["start"] >= LONG], lambda r: weighted(r.index))
    timed("pandas", traces, n, "merge", lambda: df.merge(names, on="context"), lambda r: weighted(r["value"]))


def with_polars(traces):
    df = pl.DataFrame(events(traces))
    names = pl.DataFrame(table())
    n = len(df)
    d = pl.col("end") - pl.col("start")
    aggregates = [d.count().alias("count"), d.sum().alias("sum"), d.min().alias("min"), d.max().alias("max"),
                  d.mean().alias("mean"), d.var().alias("var")]

    def group(keys):
        return lambda: df.group_by(keys).agg(aggregates).sort(keys)

    def grouped(result):
        return (result["context"].to_numpy().astype(np.uint64) * result["sum"].to_numpy()).sum(dtype=np.uint64)

    timed("polars", traces, n, "group", group(["context"]), grouped)
    timed("polars", traces, n, "group2", group(["location", "context"]), grouped)
    timed("polars", traces, n, "sort", lambda: df.sort("start", maintain_order=True), lambda r: len(r))
    timed("polars", traces, n, "filter", lambda: df.filter(d >= LONG), lambda r: len(r))
    timed("polars", traces, n, "merge", lambda: df.join(names, on="context", how="inner"), lambda r: weighted(r["value"]))


for arguments in sys.argv[1:]:
    with_pandas(int(arguments))
    if pl is not None:
        with_polars(int(arguments))
