"""Tables: values, units, and that other libraries take them without a copy."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest

import parallax


@pytest.fixture
def table(reactor: parallax.Experiment) -> parallax.Table:
    return reactor.query(profiles="rank", contexts="function").rows


def address(array: pyarrow.ChunkedArray, buffer: int = 1) -> int:
    assert array.num_chunks == 1
    return array.chunk(0).buffers()[buffer].address


def test_columns_say_what_they_are(reactor: parallax.Experiment) -> None:
    flat = reactor.flat(metric="realtime (i)").rows
    value = next(field for field in flat.fields if field.name == "exclusive")
    assert (value.type, value.unit, value.head) == ("f64", "s", "Exclusive")
    assert "cost" in value.doc.lower()
    assert flat.units["inclusive_percent"] == "%"
    schema = flat.to_arrow().schema
    assert schema.field("exclusive").metadata[b"unit"] == b"s"
    assert pyarrow.schema(flat) == schema


def test_arrow_has_the_same_memory_each_time(table: parallax.Table) -> None:
    one, other = pyarrow.table(table), table.to_arrow()
    assert one.num_rows == len(table) > 1000
    for name in ("profile_id", "context_id", "metric_id", "value", "context"):
        assert address(one[name]) == address(other[name]), name


def test_polars_and_numpy_take_numbers_where_they_are(table: parallax.Table) -> None:
    arrow, frame = table.to_arrow(), table.to_polars()
    for name in ("profile_id", "context_id", "value"):
        values = frame[name].to_numpy(allow_copy=False)
        assert values.ctypes.data == address(arrow[name]), name
    assert frame["context"].dtype == polars.Categorical
    assert frame.equals(polars.DataFrame(table))


def test_pandas_takes_numbers_where_they_are(table: parallax.Table) -> None:
    arrow, frame = table.to_arrow(), table.to_pandas()
    for name in ("profile_id", "context_id", "value"):
        assert frame[name].to_numpy().ctypes.data == address(arrow[name]), name
    assert frame.attrs["units"] == table.units
    assert isinstance(frame["context"].dtype, pandas.CategoricalDtype)
    # Contexts of one name are one category.
    assert frame["context"].cat.categories.is_unique
    assert frame["context"].tolist() == table["context"]
    by_context = frame.groupby("context", observed=True)["value"].sum()
    assert numpy.isclose(by_context.sum(), sum(table["value"]))


def test_duckdb_queries_a_table_as_often_as_asked(table: parallax.Table) -> None:
    for _ in range(2):
        relation = table.to_duckdb()
        ((number, total),) = relation.aggregate("count(*), sum(value)").fetchall()
        assert number == len(table) and numpy.isclose(total, sum(table["value"]))
    answers = table  # DuckDB finds it by this name.
    assert duckdb.sql("select count(*) from answers").fetchall() == [(len(answers),)]


def test_values_outlive_the_table(reactor: parallax.Experiment) -> None:
    answer = reactor.query(profiles="rank", contexts="function")
    expected = answer["value"]
    arrow = answer.to_arrow()
    del answer
    assert arrow["value"].to_pylist() == expected


def test_without_libraries_there_are_lists_and_dictionaries(reactor: parallax.Experiment) -> None:
    table = reactor.query(profiles="rank(0)", contexts="function(MPI_*)").rows
    assert "value" in table and "nothing" not in table
    rows = table.to_dicts()
    assert len(rows) == len(table) == table.shape[0]
    assert rows[0]["value"] == table["value"][0]
    assert all("MPI_" in row["context"] for row in rows)
    with pytest.raises(KeyError):
        table["nothing"]


def test_tables_are_shown(table: parallax.Table, reactor: parallax.Experiment) -> None:
    lines = repr(table).splitlines()
    assert lines[0].split()[:3] == ["profile_id", "context_id", "metric_id"]
    assert len(lines) == 13 and lines[-1].startswith(f"… {len(table)} rows")
    html = reactor.flat()._repr_html_()
    assert "<th title=" in html and "<summary>rows</summary>" in html
    empty = reactor.query(contexts="function(MPI_Nothing*)")
    assert len(empty.rows) == 0 and empty.notes and "value" in repr(empty.rows)


def test_an_absent_library_is_named(
    table: parallax.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "cudf", None)
    with pytest.raises(parallax.MissingLibraryError, match="cudf is not installed") as caught:
        table.to_cudf()
    assert isinstance(caught.value, ImportError) and caught.value.hint


def test_a_library_that_does_not_load_says_why(
    table: parallax.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "duckdb.py").write_text('raise ImportError("duckdb requires NumPy 9")')
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "duckdb")
    with pytest.raises(ImportError, match="requires NumPy 9") as caught:
        table.to_duckdb()
    assert not isinstance(caught.value, parallax.MissingLibraryError)


def test_the_types_of_answers_can_be_imported() -> None:
    import parallax.types

    assert issubclass(parallax.types.FlatAnswer, parallax.Answer)


def test_parts_together_are_the_whole(reactor: parallax.Experiment) -> None:
    whole = reactor.query().to_arrow()
    stream = reactor.stream(profiles_per_part=3)
    assert len(stream) > 5
    # Each reader begins anew.
    for _ in range(2):
        parts = stream.to_arrow()
        assert parts["value"].num_chunks == len(stream)
        for name in whole.column_names:
            assert parts[name].to_pylist() == whole[name].to_pylist(), name
    assert [len(table) for table in stream] == [len(chunk) for chunk in parts["value"].chunks]
    frame = stream.to_pandas()
    assert frame["context"].tolist() == whole["context"].to_pylist()
    assert stream.to_polars().shape == (whole.num_rows, whole.num_columns)
    chosen = reactor.stream(
        profiles="rank(0) | rank(3)", contexts="function(MPI_*)", profiles_per_part=1
    )
    same = reactor.query(profiles="rank(0) | rank(3)", contexts="function(MPI_*)")
    assert chosen.to_arrow()["value"].to_pylist() == same["value"]
    assert reactor.stream("trace").to_arrow().num_rows == len(reactor.trace())


def test_duckdb_reads_part_by_part(reactor: parallax.Experiment) -> None:
    values = reactor.stream(metrics="realtime (i)", profiles_per_part=2)
    expected = reactor.query(metrics="realtime (i)")
    ((number, total),) = duckdb.sql("select count(*), sum(value) from values").fetchall()
    assert number == len(expected) and numpy.isclose(total, sum(expected["value"]))


def test_a_part_is_read_when_it_is_asked_for(fixtures: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    shutil.copytree(fixtures / "reactor/n1024-p8", copy)
    experiment = parallax.open(copy)
    assert isinstance(experiment, parallax.Experiment)
    reader = experiment.stream(profiles="rank", profiles_per_part=2).to_reader()
    assert reader.read_next_batch().num_rows >= 0
    os.truncate(copy / "profile.db", 4096)
    with pytest.raises(OSError, match=r"profile\.db"):
        reader.read_all()


def test_what_has_no_parts_says_so(reactor: parallax.Experiment) -> None:
    with pytest.raises(parallax.MisuseError, match="`flat` has no rows by profile"):
        reactor.stream("flat")
    with pytest.raises(parallax.MisuseError, match="at least one profile"):
        reactor.stream(profiles_per_part=0)
    with pytest.raises(parallax.MisuseError, match="no function MPI_Sen"):
        reactor.stream(contexts="function(MPI_Sen)").to_arrow()
