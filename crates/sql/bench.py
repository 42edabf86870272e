"""Group, sort, filter and merge of the samples of a trace, in SQL and with pandas, Polars and DuckDB.

    python crates/sql/bench.py TOOL DATABASE
    python crates/sql/bench.py TOOL DATABASE --device gpu:0

TOOL is a released `parallax` with SQL and DATABASE one of HPCToolkit with a trace: `cargo xtask
generate hpctoolkit --ranks 1000 --contexts 1000 --values-per-rank 50 --samples 1300 OUT`. Seconds,
medians, from the question until the result is in memory. The first statement of a process reads the
database; from the second on the tool has the columns in memory, and the third and later ones are
compared. The others have the columns in memory; DuckDB and Polars also read Parquet files of the same
tables each time, to be compared with the first statement. Last is the smallest number of bytes that
an operation reads and writes, by the time of the tool from memory, as a part of what copying an array
reaches.

With --device, the tool alone is asked for what it does on a device (group, count, first rows; and sort
and filter, of which a device finds the numbers of the rows), on a build with the feature `gpu`: from
memory on the processor; the first time on the device, with kernels that are compiled and columns that
are copied; with columns that are copied each time, because there is no room for all of them; and with
columns that stay on the device. `--device auto` says what it chooses and why.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy
import pandas
import polars

RUNS = 7
KEPT = 0.29
COLUMNS = ("parent_id", "depth", "position")
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def median(work: Callable[[], object]) -> float:
    """Seconds that some work takes; what it gives is dropped after the clock is read."""
    times = []
    for _ in range(RUNS + 1):
        begin = time.perf_counter()
        made = work()
        times.append(time.perf_counter() - begin)
        del made
    return statistics.median(times[1:])


def told(
    tool: str, database: str, statement: str, runs: int, *options: str, before: str = ""
) -> tuple[list[float], str]:
    """Seconds that the tool takes for a statement, each time that it is asked in one process, and what
    it says in the end."""
    statements = before + f"{statement};\n" * runs
    run = subprocess.run(
        [tool, "sql", database, "--stats", "--rows", "5", *options],
        input=statements,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    times = re.findall(r"of [\d.,]+ \w+ in ([\d.]+) (\w+)", run.stderr)
    times = times[statements.count(";") - runs :]
    assert len(times) == runs, run.stderr
    steps = [line for line in run.stderr.splitlines() if " of samples on " in line]
    return [float(number) * SECONDS[unit] for number, unit in times], (steps or [""])[-1]


def asked(tool: str, database: str, statement: str, runs: int) -> list[float]:
    """Seconds that the tool takes for a statement, each time that it is asked in one process."""
    return told(tool, database, statement, runs, "--device", "cpu")[0]


def copied() -> float:
    """Bytes per second, read and written, that copying an array reaches on one core."""
    one = numpy.ones(1 << 25)
    other = numpy.zeros_like(one)
    return 2 * one.nbytes / median(lambda: numpy.copyto(other, one))


def statements(samples: str, contexts: str, least: int) -> dict[str, str]:
    columns = ", ".join(f"c.{name}" for name in COLUMNS)
    return {
        "group": "SELECT context_id, count(*), sum(d), min(d), max(d), avg(d), var_pop(d) FROM "
        f"(SELECT context_id, end_ns - start_ns AS d FROM {samples}) AS s GROUP BY context_id",
        "sort": f"SELECT * FROM {samples} ORDER BY start_ns",
        "filter": f"SELECT * FROM {samples} WHERE end_ns - start_ns >= {least}",
        "merge": f"SELECT s.*, {columns} FROM {samples} AS s JOIN {contexts} AS c "
        "ON s.context_id = c.context_id",
    }


def of_pandas(samples: pandas.DataFrame, contexts: pandas.DataFrame, least: int):
    def group() -> object:
        length = (samples["end_ns"] - samples["start_ns"]).astype("int64")
        by_context = length.groupby(samples["context_id"])
        return by_context.agg(["count", "sum", "min", "max", "mean", "var"])

    return {
        "group": group,
        "sort": lambda: samples.sort_values("start_ns"),
        "filter": lambda: samples[samples["end_ns"] - samples["start_ns"] >= least],
        "merge": lambda: samples.merge(contexts, on="context_id"),
    }


def of_polars(samples, contexts, least: int):
    length = (polars.col("end_ns") - polars.col("start_ns")).cast(polars.Int64)
    name = length.alias("d")
    of = polars.col("d")
    sums = [polars.len(), of.sum().alias("sum"), of.min().alias("min"), of.max().alias("max")]
    means = [of.mean().alias("mean"), of.var(0).alias("variance")]
    return {
        "group": lambda: samples()
        .select("context_id", name)
        .group_by("context_id")
        .agg(*sums, *means)
        .collect(),
        "sort": lambda: samples().sort("start_ns").collect(),
        "filter": lambda: samples().filter(length >= least).collect(),
        "merge": lambda: samples().join(contexts(), on="context_id").collect(),
    }


def on_device(tool: str, database: str, device: str) -> None:
    """What a device does, by whether columns are copied."""
    # The second statement about a table brings it to memory.
    before = "SELECT min(start_ns), max(end_ns) FROM samples;\n" * 2
    words = [tool, "sql", database, "--format", "csv"]
    length = "end_ns - start_ns"
    quantile = f"approx_percentile_cont({1 - KEPT}) WITHIN GROUP (ORDER BY {length})"
    count = [*words, f"SELECT count(*), CAST({quantile} AS BIGINT) FROM samples"]
    line = subprocess.run(count, capture_output=True, text=True, check=True).stdout.split()[-1]
    rows, least = (int(number) for number in line.split(","))
    print(f"{rows} samples", flush=True)
    ours = {
        "group": (statements("samples", "contexts", least)["group"], 20),
        "count": (f"SELECT count(*) FROM samples WHERE {length} >= {least}", 16),
        "first": (f"SELECT * FROM samples ORDER BY {length} DESC LIMIT 10", 16),
        "sort": ("SELECT * FROM samples ORDER BY start_ns", 8),
        "filter": (f"SELECT * FROM samples WHERE {length} >= {least}", 16),
    }
    print("| | processor | device, first | copied each time | on the device | processor/device |")
    print("|---" * 6 + "|")
    runs = RUNS + 2
    for operation, (statement, width) in ours.items():
        own, _ = told(tool, database, statement, runs, "--device", "cpu", before=before)
        there, why = told(tool, database, statement, runs, "--device", device, before=before)
        # Without room for the last bytes, halves of the table take turns.
        keep = ("--device", device, "--keep-on-device", f"{rows * width - 1}B")
        copied, how = told(tool, database, statement, runs, *keep, before=before)
        times = [statistics.median(own[2:]), there[0]]
        times += [statistics.median(copied[2:]), statistics.median(there[2:])]
        shown = [f"{seconds:.5f}" for seconds in times]
        # A sort of all rows cannot be done in halves.
        if " on cpu: " in how:
            shown[2] = "–"
        columns = " | ".join(shown)
        print(f"| {operation} | {columns} | {times[0] / times[3]:.2f} |", flush=True)
        print(f"  {why}", flush=True)


def main(tool: str, database: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables"
        subprocess.run([tool, "convert", "--to", "parquet", database, tables], check=True)
        samples = polars.read_parquet(tables / "samples/*.parquet")
        contexts = polars.read_parquet(tables / "contexts.parquet", columns=["context_id", *COLUMNS])
        length = (samples["end_ns"] - samples["start_ns"]).to_numpy()
        least = int(numpy.quantile(length, 1 - KEPT))
        kept = int((length >= least).sum())
        rows, groups = len(samples), samples["context_id"].n_unique()
        print(f"{rows} samples, {groups} contexts, {kept} kept", flush=True)

        connection = duckdb.connect()
        connection.execute("CREATE TABLE samples AS SELECT * FROM samples")
        connection.execute("CREATE TABLE contexts AS SELECT * FROM contexts")
        files = (f"'{tables}/samples/*.parquet'", f"'{tables}/contexts.parquet'")
        scanned = polars.scan_parquet(tables / "samples/*.parquet")
        few = polars.scan_parquet(tables / "contexts.parquet").select("context_id", *COLUMNS)

        def by_duckdb(statement: str) -> Callable[[], object]:
            return lambda: connection.sql(statement).to_arrow_table()

        ours = statements("samples", "contexts", least)
        works = {
            "pandas": of_pandas(samples.to_pandas(), contexts.to_pandas(), least),
            "Polars": of_polars(samples.lazy, contexts.lazy, least),
            "DuckDB": {name: by_duckdb(one) for name, one in ours.items()},
            "Polars, Parquet": of_polars(lambda: scanned, lambda: few, least),
            "DuckDB, Parquet": {
                name: by_duckdb(one) for name, one in statements(*files, least).items()
            },
        }
        for operation, expected in (("group", groups), ("sort", rows), ("filter", kept), ("merge", rows)):
            for who, work in works.items():
                assert len(work[operation]()) == expected, (who, operation)
            count = f"SELECT count(*) AS n FROM ({ours[operation]}) AS found"
            words = [tool, "sql", database, count, "--format", "csv"]
            told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
            assert told.split() == ["n", str(expected)], (operation, told)

        row, wide = 24, 24 + 4 * len(COLUMNS)
        moved = {
            "group": 20 * rows + 56 * groups,
            "sort": 2 * row * rows,
            "filter": row * (rows + kept),
            "merge": (row + wide) * rows,
        }
        speed = copied()
        print(f"copying moves {speed / 1e9:.1f} GB/s", flush=True)
        print("| | SQL, first | SQL, from memory |", " | ".join(works), "| of copying |")
        print("|---" * (len(works) + 4) + "|")
        for operation, statement in ours.items():
            first = [asked(tool, database, statement, 1)[0] for _ in range(RUNS)]
            own = statistics.median(asked(tool, database, statement, RUNS + 2)[2:])
            others = " | ".join(f"{median(work[operation]):.4f}" for work in works.values())
            part = moved[operation] / own / speed
            times = f"{statistics.median(first):.4f} | {own:.4f} | {others}"
            print(f"| {operation} | {times} | {100 * part:.1f} % |", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [tool, database, "--device", device]:
            on_device(tool, database, device)
        case arguments:
            main(*arguments)
