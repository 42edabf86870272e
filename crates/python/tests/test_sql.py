"""Statements in SQL: the numbers of the questions, limits, and what is refused."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars
import pytest

import parallax
from parallax import _open


def test_a_statement_gives_the_numbers_of_the_questions(reactor: parallax.Experiment) -> None:
    values = reactor.query(metrics="realtime (i)", is_raw=True).rows.to_pandas()
    sums = reactor.sql(
        """
        SELECT profile_id, sum(value) AS total FROM values JOIN metrics USING (metric_id)
        WHERE metric = 'REALTIME' AND scope = 'execution' AND context_id <> 0
        GROUP BY profile_id ORDER BY profile_id
        """
    )
    of_locations = values[values["profile_id"] > 0]
    expected = of_locations.groupby("profile_id")["value"].sum()
    assert sums["profile_id"] == list(expected.index)
    assert sums["total"] == pytest.approx(list(expected))
    by_module = reactor.sql("SELECT * FROM flat(by => 'module')")
    assert by_module.to_dicts() == reactor.flat(by="module").rows.to_dicts()


def test_results_are_tables_like_others(reactor: parallax.Experiment) -> None:
    table = reactor.sql("SELECT start_ns, context_id FROM samples WHERE profile_id = 1")
    assert table.units == {"start_ns": "ns"}
    assert polars.DataFrame(table).height == table.to_pandas().shape[0] == len(table) > 0
    assert duckdb.sql('select count(*) from "table"').fetchall() == [(len(table),)]
    subtree = reactor.sql("SELECT count(*) AS n FROM subtree(0)")["n"]
    assert subtree == reactor.sql("SELECT count(*) AS n FROM contexts")["n"]


def test_ensembles_answer_statements(fixtures: Path) -> None:
    runs = [fixtures / f"reactor/n1024-p{ranks}" for ranks in (1, 2, 4, 8)]
    ensemble = parallax.open(runs, parameters=["cores=ranks"])
    assert isinstance(ensemble, parallax.Ensemble)
    rows = ensemble.sql(
        "SELECT cores, time FROM runs JOIN regions USING (region_id) "
        "WHERE region = '0' ORDER BY cores"
    )
    assert rows["cores"] == [1, 2, 4, 8]
    maps = ensemble.scaling_table(table="maps", regions=["0"]).rows
    assert rows["time"] == pytest.approx(maps["time"])


def test_mistakes_and_limits_say_what_to_do(reactor: parallax.Experiment) -> None:
    with pytest.raises(parallax.MisuseError, match="nam"):
        reactor.sql("SELECT nam FROM contexts")
    with pytest.raises(parallax.MisuseError, match="only read"):
        reactor.sql("DROP TABLE contexts")
    with pytest.raises(parallax.MisuseError, match="several statements"):
        reactor.sql("SELECT 1; SELECT 2")
    with pytest.raises(parallax.MisuseError, match="memory_limit: lots is not a size"):
        reactor.sql("SELECT 1", memory_limit="lots")
    endless = (
        "SELECT count(*) FROM contexts a, contexts b, contexts c, contexts d "
        "WHERE a.depth + b.depth + c.depth > d.depth * 7"
    )
    with pytest.raises(parallax.ReadError, match="longer than 0.2 s"):
        reactor.sql(endless, time_limit=0.2)
    large = "SELECT array_agg(a.name || b.name || c.name) FROM contexts a, contexts b, contexts c"
    with pytest.raises(parallax.ReadError, match="more memory"):
        reactor.sql(large, memory_limit=2_000_000)
    with pytest.warns(parallax.ParallaxWarning, match="rank"):
        reactor.sql("SELECT count(*) FROM query(profiles => 'rank(9999)')")


def test_tables_stay_in_memory_for_the_next_statements(reactor: parallax.Experiment) -> None:
    group = "SELECT context_id, count(*) AS n FROM samples GROUP BY context_id ORDER BY context_id"
    found = [reactor.sql(group).to_dicts() for _ in range(3)]
    assert found[0] == found[1] == found[2]
    plan = "\n".join(reactor.sql(f"EXPLAIN {group}")["plan"])
    assert "InMemory: group of samples" in plan and "in_memory=true" in plan
    # A statement with other limits has memory of its own.
    plan = "\n".join(reactor.sql(f"EXPLAIN {group}", memory_limit="1GB")["plan"])
    assert "in_memory=true" not in plan


def test_a_package_without_sql_says_so(
    reactor: parallax.Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_open, "_the_engine", object)
    with pytest.raises(parallax.MissingLibraryError, match="--features sql"):
        reactor.sql("SELECT 1")
