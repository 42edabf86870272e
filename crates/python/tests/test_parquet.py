"""Tables as Parquet files, which DuckDB, Dask and Polars read."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import dask.dataframe
import duckdb
import polars
import pytest

import parallax

TOOL = Path(sysconfig.get_path("scripts")) / "parallax"


@pytest.fixture
def tables(fixtures: Path, tmp_path: Path) -> Path:
    """The tables of a database, in parts of ten locations."""
    to = tmp_path / "tables"
    database = fixtures / "reactor/n1024-p8"
    words = [TOOL, "convert", "--to", "parquet", database, to, "--part-locations", "10"]
    run = subprocess.run(words, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return to


SUMS = """
    SELECT name, sum(value) AS total FROM {values} JOIN {contexts} USING (context_id)
    JOIN {metrics} USING (metric_id) WHERE metric = 'REALTIME' AND scope = 'function'
    GROUP BY name ORDER BY total DESC, name LIMIT 10
"""


def test_duckdb_gives_what_sql_gives(tables: Path, reactor: parallax.Experiment) -> None:
    own = SUMS.format(values="values", contexts="contexts", metrics="metrics")
    there = SUMS.format(
        values=f"'{tables}/values/*.parquet'",
        contexts=f"'{tables}/contexts.parquet'",
        metrics=f"'{tables}/metrics.parquet'",
    )
    expected, found = reactor.sql(own), duckdb.sql(there).fetchall()
    assert [name for name, _ in found] == expected["name"]
    assert [total for _, total in found] == pytest.approx(expected["total"])
    first = f"SELECT count(*) FROM '{tables}/values/part-01-10.parquet'"
    counted = reactor.sql("SELECT count(*) AS n FROM values WHERE profile_id <= 10")["n"]
    assert duckdb.sql(first).fetchall() == [(counted[0],)]


def test_dask_gives_what_sql_gives(tables: Path, reactor: parallax.Experiment) -> None:
    values = dask.dataframe.read_parquet(tables / "values")
    assert values.npartitions > 1
    metrics = dask.dataframe.read_parquet(tables / "metrics.parquet")
    metrics = metrics[(metrics.metric == "REALTIME") & (metrics.scope == "function")]
    contexts = dask.dataframe.read_parquet(tables / "contexts.parquet")
    joined = values.merge(metrics, on="metric_id").merge(contexts, on="context_id")
    sums = joined.groupby("name").value.sum().compute()
    own = SUMS.replace("LIMIT 10", "").format(
        values="values", contexts="contexts", metrics="metrics"
    )
    expected = reactor.sql(own)
    found = {name: total for name, total in sums.items()}
    assert found == pytest.approx(dict(zip(expected["name"], expected["total"], strict=True)))


def test_polars_reads_the_columns_of_sql(tables: Path, reactor: parallax.Experiment) -> None:
    for name in ("contexts", "locations", "metrics", "values/*", "samples/*"):
        frame = polars.read_parquet(tables / f"{name}.parquet")
        table = reactor.sql(f"SELECT * FROM {name.removesuffix('/*')}")
        assert (frame.columns, frame.height) == (table.columns, len(table)), name
    samples = polars.scan_parquet(tables / "samples/*.parquet")
    busy = samples.filter(polars.col("context_id") != 0).group_by("profile_id").agg(
        (polars.col("end_ns") - polars.col("start_ns")).sum().alias("busy")
    )
    expected = reactor.sql(
        "SELECT profile_id, sum(end_ns - start_ns) AS busy FROM samples "
        "WHERE context_id <> 0 GROUP BY profile_id ORDER BY profile_id"
    )
    assert busy.collect().sort("profile_id")["busy"].to_list() == expected["busy"]
