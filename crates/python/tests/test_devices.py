"""Tables on devices: the processor and a GPU, or one in software, give the same; DLPack; errors."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import polars
import pyarrow
import pytest

import parallax
from parallax import _device



def on(device: str) -> str:
    """The device, which may not be there."""
    if device not in [found.device for found in parallax.devices()]:
        if os.environ.get("PARALLAX_REQUIRE_WEB"):
            pytest.fail(f"there is no {device}")
        pytest.skip(f"no {device}: no driver for Vulkan, Metal or Direct3D 12")
    return device


@pytest.fixture(params=["cpu", "gpu:0"])
def device(request: pytest.FixtureRequest) -> str:
    return on(request.param)


@pytest.fixture
def trace(reactor: parallax.Experiment) -> parallax.Table:
    return reactor.trace().rows


@pytest.fixture
def gpu(trace: parallax.Table) -> parallax.DeviceTable:
    return trace.to_device(on("gpu:0"))


def test_devices_are_those_of_the_command_line() -> None:
    first, *gpus = parallax.devices()
    assert (first.device, first.kind) == ("cpu", "processor") and "thread" in first.name
    assert [found.device for found in gpus] == [f"gpu:{at}" for at in range(len(gpus))]
    assert all(found.kind in ("discrete", "integrated", "virtual", "software", "unknown") for found in gpus)


def test_columns_come_back_as_they_were(trace: parallax.Table, device: str) -> None:
    there = trace.to_device(device)
    assert (there.device, there.device_reason) == (device, "it was asked for")
    assert there.shape == trace.shape == (len(there), 6)
    assert [field._replace(type="") for field in there.fields] == [
        field._replace(type="") for field in trace.fields
    ]
    assert there.units == {"start_ns": "ns", "end_ns": "ns"}
    assert there.to_table().to_dicts() == trace.to_dicts()
    assert pyarrow.table(there).schema == there.to_arrow().schema == pyarrow.schema(there)
    assert polars.DataFrame(there).equals(there.to_polars())
    assert there.to_pandas()["context"].tolist() == trace["context"]
    assert f"on {device}: {len(trace)} rows; profile_id u32" in repr(there)
    assert there.select("end_ns", "context").columns == ["end_ns", "context"]


def test_operations_give_what_pandas_gives(trace: parallax.Table, device: str) -> None:
    frame = trace.to_pandas()
    frame["duration_ns"] = frame["end_ns"] - frame["start_ns"]
    names = frame["context"].astype(str)
    there = trace.to_device(device).with_durations()
    assert there.units["duration_ns"] == "ns"

    long = there.filter("duration_ns", 1e6, 10**9)
    kept = frame[(frame["duration_ns"] >= 10**6) & (frame["duration_ns"] <= 10**9)]
    assert 0 < len(long) == len(kept) < len(there)
    assert long.to_table()["start_ns"] == kept["start_ns"].tolist()

    by_name = frame.assign(context=names).sort_values(["context", "start_ns"], kind="stable")
    in_order = there.sort("context", "start_ns")
    assert in_order.to_table()["context"] == by_name["context"].tolist()
    assert in_order.to_table()["start_ns"] == by_name["start_ns"].tolist()
    assert in_order.tail(3).to_table()["end_ns"] == by_name["end_ns"].tolist()[-3:]
    assert len(in_order.head(0)) == 0 and len(in_order.head(10**9)) == len(there)

    groups = there.group("context", of="duration_ns")
    expected = frame.groupby(names)["duration_ns"].agg(["count", "sum", "min", "max", "mean", "var"])
    assert groups["context"] == list(expected.index)
    for name in ("count", "sum", "min", "max"):
        assert groups[name] == expected[name].tolist(), name
    assert groups["mean"] == pytest.approx(expected["mean"].tolist())
    of_population = frame.groupby(names)["duration_ns"].var(ddof=0).tolist()
    assert groups["variance"] == pytest.approx(of_population)
    assert (groups.units["sum"], groups.units["variance"]) == ("ns", "ns²")

    edges = [0, 10**5, 10**6, 10**9, 10**12]
    counts, _ = numpy.histogram(frame["duration_ns"], edges)
    assert there.histogram("duration_ns", edges) == counts.tolist()
    assert there.histogram("duration_ns", numpy.array(edges)) == counts.tolist()  # pyright: ignore


def test_names_have_an_order_and_ranges(trace: parallax.Table, device: str) -> None:
    there, names = trace.to_device(device), trace["context"]
    low, high = sorted(set(names))[2], sorted(set(names))[5]
    assert there.filter("context", low, high).to_table()["context"] == [
        name for name in names if low <= name <= high
    ]
    # Limits need not be names of the column.
    in_file = sum(name.startswith("s_sin.c:") for name in names)
    assert len(there.filter("context", "s_sin.c:", "s_sin.c:~")) == in_file > 0
    assert len(there.filter("context", maximum="")) == 0
    assert len(there.filter("context", minimum="~")) == 0
    by_both = there.group(["location", "context"], of="start_ns")
    pairs = list(zip(by_both["location"], by_both["context"], strict=True))
    assert pairs == sorted(set(zip(trace["location"], names, strict=True)))


def test_limits_may_be_any_number(trace: parallax.Table, device: str) -> None:
    there, first = trace.to_device(device), min(trace["start_ns"])  # type: ignore[type-var]
    for column in ("start_ns", "context_id"):
        for limits, is_all in [
            ((None, None), True),
            ((-5, None), True),
            ((None, -1), False),
            ((None, 2**70), True),
            ((2**64, None), False),
            ((-1e300, 1e300), True),
            ((1e300, None), False),
            ((None, -0.5), False),
        ]:
            kept = there.filter(column, *limits)
            assert len(kept) == (len(there) if is_all else 0), (column, limits)
    assert isinstance(first, int)
    assert len(there.filter("context_id", 0.5, 1.5)) == trace["context_id"].count(1)
    for wrong in ("seven", float("nan"), [1]):
        with pytest.raises(parallax.MisuseError, match="is not a number"):
            there.filter("start_ns", wrong)  # type: ignore[arg-type]
    with pytest.raises(parallax.MisuseError, match="7 is not a name"):
        there.filter("context", 7)


def test_joins_give_what_pandas_gives(
    reactor: parallax.Experiment, trace: parallax.Table, device: str
) -> None:
    contexts = reactor.sql("SELECT context_id, depth, kind, name AS context FROM contexts WHERE depth < 6")
    there = trace.to_device(device).join(contexts.to_device(device), "context_id")
    frame = trace.to_pandas().merge(
        contexts.to_pandas(), on="context_id", suffixes=("", "_right")
    )
    assert there.columns == list(frame.columns) and 0 < len(there) < len(trace)
    found = there.to_table()
    for name in there.columns:
        assert found[name] == frame[name].tolist(), name
    # Names that are those of the other one, and numbers: keys of both kinds.
    same = trace.to_device(device).select("location", "start_ns")
    one = same.sort("start_ns").head(20)
    assert len(one.join(one, "location")) == sum(
        one.to_table()["location"].count(name) for name in one.to_table()["location"]
    )
    other = contexts.to_device(device)
    with pytest.raises(parallax.MisuseError, match="different names in them"):
        trace.to_device(device).join(other, left_on="location", right_on="kind")
    with pytest.raises(parallax.MisuseError, match="the other one has numbers"):
        trace.to_device(device).join(other, left_on="location", right_on="depth")
    with pytest.raises(parallax.MisuseError, match="a join needs a key"):
        one.join(one)


def test_devices_give_the_same_bits(reactor: parallax.Experiment) -> None:
    gpu = on("gpu:0")
    for columns in [
        "start_ns, end_ns, context_id",
        "end_ns AS start_ns, start_ns AS end_ns, profile_id AS context_id",
        "start_ns, start_ns AS end_ns, context_id",
        "1 AS start_ns, 7 AS end_ns, profile_id AS context_id",
    ]:
        for rows in ("", "LIMIT 1", "LIMIT 0"):
            table = reactor.sql(f"SELECT {columns} FROM samples {rows}")
            results = []
            for device in ("cpu", gpu):
                there = table.to_device(device).with_durations("lasts")
                some = there.filter("lasts", 3).sort("lasts", "start_ns")
                groups = some.group("context_id", of="lasts").to_arrow()
                results.append((some.to_arrow(), groups, some.histogram("lasts", [0, 10, 10**7])))
            assert results[0] == results[1], (columns, rows)


def test_threads_share_a_device(trace: parallax.Table, device: str) -> None:
    there = trace.to_device(device).with_durations()

    def work(context: int) -> object:
        some = there.filter("context_id", context, context + 9).sort("duration_ns")
        return some.to_arrow(), some.group("location", of="duration_ns").to_arrow()

    contexts = sorted(set(trace["context_id"]))[:20]  # type: ignore[type-var]
    alone = [work(context) for context in contexts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, contexts * 5)) == alone * 5


def test_a_join_with_more_pairs_than_rows_is_refused(
    reactor: parallax.Experiment, device: str
) -> None:
    one = "SELECT profile_id - profile_id AS k FROM samples"
    there = reactor.sql(f"{one} UNION ALL {one} UNION ALL {one}").to_device(device)
    assert there["k"].type == "u32"
    with pytest.raises(parallax.MisuseError, match="more .*pairs|pairs .* more"):
        there.join(there, "k")


def test_sums_of_more_than_64_bits_are_null_and_their_means_are_right(
    reactor: parallax.Experiment, device: str
) -> None:
    table = reactor.sql(
        "SELECT profile_id, 9223372036854775807 AS much FROM samples ORDER BY start_ns LIMIT 300"
    )
    groups = table.to_device(device).group("profile_id", of="much")
    assert sum(groups["count"]) == 300 and None in groups["sum"]
    assert set(groups["mean"]) == {2.0**63} and set(groups["variance"]) == {0.0}


def test_the_processor_has_the_memory_of_the_answer(trace: parallax.Table) -> None:
    here = trace.to_device("cpu")
    for name in ("start_ns", "context_id"):
        addresses = {
            table[name].chunk(0).buffers()[1].address for table in (trace.to_arrow(), here.to_arrow())
        }
        assert len(addresses) == 1, name
        values = numpy.from_dlpack(here[name])
        assert values.ctypes.data in addresses and not values.flags.writeable


def test_numpy_reads_columns_by_dlpack(trace: parallax.Table, device: str) -> None:
    there = trace.to_device(device).filter("context_id", 1)
    expected = there.to_table()
    for name, kind in [("start_ns", "uint64"), ("profile_id", "uint32")]:
        column = there[name]
        assert (column.name, column.device, len(column)) == (name, device, len(there))
        values = numpy.from_dlpack(column, device="cpu")
        assert values.dtype == kind and values.tolist() == expected[name]
        if int(pyarrow.__version__.split(".")[0]) >= 26:
            copy = numpy.from_dlpack(column, device="cpu", copy=True)
            assert copy.flags.writeable and copy.tolist() == expected[name]
    del there, column
    gc.collect()
    assert values.tolist() == expected["profile_id"]
    empty = trace.to_device(device).head(0)["start_ns"]
    assert numpy.from_dlpack(empty, device="cpu").shape == (0,)
    assert empty.to_arrow().type == pyarrow.uint64()


def test_what_dlpack_cannot_pass_says_what_to_do(
    gpu: parallax.DeviceTable, trace: parallax.Table
) -> None:
    column, here = gpu["start_ns"], trace.to_device("cpu")["start_ns"]
    assert here.__dlpack_device__() == (1, 0)
    kind, number = column.__dlpack_device__()
    assert kind in (7, 8, 12) and number == 0
    with pytest.raises(BufferError, match=r"numpy.from_dlpack\(column, device='cpu'\)"):
        numpy.from_dlpack(column)
    with pytest.raises(BufferError, match="has to be copied"):
        numpy.from_dlpack(column, device="cpu", copy=False)
    with pytest.raises(BufferError, match="cannot pass it elsewhere"):
        here.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="no streams"):
        here.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="has names"):
        numpy.from_dlpack(gpu["context"], device="cpu")
    assert not hasattr(column, "__cuda_array_interface__")
    with pytest.raises(KeyError, match="nothing"):
        gpu["nothing"]


def test_a_small_table_stays_on_the_processor(trace: parallax.Table) -> None:
    there = trace.to_device()
    assert (there.device, there.device_reason) == ("cpu", "too few rows for a GPU")


def test_tables_move_between_devices(gpu: parallax.DeviceTable, trace: parallax.Table) -> None:
    here = gpu.to_device("cpu")
    assert (here.device, here.to_arrow()) == ("cpu", gpu.to_arrow())
    back = here.to_device("gpu")
    assert back.device == "gpu:0"
    # Tables of one GPU can be combined, however they came there; those of two devices cannot.
    assert len(back.head(5).join(gpu.head(5), "context_id")) >= 5
    with pytest.raises(parallax.MisuseError, match="one table is on gpu:0 and the other one on cpu"):
        gpu.join(here, "context_id")


def test_mistakes_say_what_is_wrong(trace: parallax.Table, device: str) -> None:
    there = trace.to_device(device)
    for wrong in (
        lambda: there.filter("contxt", 1),
        lambda: there.sort("start_ns", "contxt"),
        lambda: there.select("contxt"),
        lambda: there.group("contxt", of="start_ns"),
        lambda: there.group("context", of="contxt"),
        lambda: there.histogram("contxt", [1, 2]),
        lambda: there.join(there, "contxt"),
        lambda: there.with_durations("x", start="contxt"),
        lambda: trace.to_device(device, columns=["contxt"]),
    ):
        with pytest.raises(parallax.MisuseError, match="no column `contxt`; there are profile_id"):
            wrong()
    for wrong, says in (
        (lambda: there.group("start_ns", of="end_ns"), "`start_ns` has 64 bits"),
        (lambda: there.group([], of="end_ns"), "not by 0"),
        (lambda: there.group("profile_id", of="context"), "has names, not numbers"),
        (lambda: there.histogram("context", [1, 2]), "has names, not numbers"),
        (lambda: there.histogram("start_ns", [3]), "two or more edges"),
        (lambda: there.histogram("start_ns", [3, 2]), "two or more edges"),
        (lambda: there.histogram("start_ns", [-1, 2]), "not negative"),
        (lambda: there.histogram("start_ns", [1.5, 2]), "whole numbers"),
        (lambda: there.head(-1), "-1 is no number of rows"),
        (lambda: there.with_durations("end_ns"), "two columns would have the name `end_ns`"),
    ):
        with pytest.raises(parallax.MisuseError, match=says):
            wrong()


def test_devices_that_are_not_there_are_named(trace: parallax.Table) -> None:
    for wrong in ("tpu", "gpu:x", "gpu:-1", ""):
        with pytest.raises(parallax.MisuseError, match="is not a device; expected auto, cpu, gpu or gpu:N"):
            trace.to_device(wrong)
    with pytest.raises(parallax.DeviceError, match="cannot use gpu:99") as caught:
        trace.to_device("gpu:99")
    assert isinstance(caught.value, RuntimeError) and "cpu" in (caught.value.hint or "")


def test_columns_that_no_device_has_are_omitted_or_refused(
    reactor: parallax.Experiment, device: str
) -> None:
    values = reactor.query(profiles="rank", contexts="function").rows
    with pytest.warns(parallax.ParallaxWarning, match=r"columns omitted .*value \(it has numbers that are not"):
        there = values.to_device(device)
    assert "value" not in there and there["metric_id"].type == "u32"
    assert there.to_table()["metric"] == values["metric"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert reactor.query().to_device(device, columns=["context"]).columns == ["context"]
    with pytest.raises(parallax.MisuseError, match="`value` cannot be on a device"):
        values.to_device(device, columns=["value"])
    for column, why in [("-1", "negative"), ("NULL::bigint", "nulls"), ("1.5", "not whole")]:
        table = reactor.sql(f"SELECT {column} AS x FROM samples")
        with pytest.raises(parallax.MisuseError, match=why):
            table.to_device(device)


def test_tables_on_devices_are_not_pickled_and_not_used_after_a_fork(
    trace: parallax.Table, device: str, said_in_fork: Callable[[Callable[[], object]], str]
) -> None:
    there = trace.to_device(device)
    with pytest.raises(TypeError, match="to_arrow"):
        there.__reduce__()
    assert "forked" in said_in_fork(lambda: there.sort("start_ns"))
    assert "forked" in said_in_fork(lambda: trace.to_device(device))
    assert len(there.sort("start_ns")) == len(trace)


def test_an_absent_cudf_is_named(gpu: parallax.DeviceTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cudf", None)
    with pytest.raises(parallax.MissingLibraryError, match="cudf is not installed"):
        gpu.to_cudf()


def test_cudf_gets_the_values_through_arrow(
    gpu: parallax.DeviceTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Stands for cudf, which needs a GPU of NVIDIA: what is tested is what it is given.
    (tmp_path / "cudf.py").write_text(
        "class DataFrame:\n    @staticmethod\n    def from_arrow(table): return ('cudf', table)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert gpu.to_cudf() == ("cudf", gpu.to_arrow())
    monkeypatch.delitem(sys.modules, "cudf")


def test_an_earlier_pyarrow_passes_columns_on(
    trace: parallax.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = trace.to_device("cpu")["start_ns"]

    class Earlier:
        def __init__(self, values: pyarrow.Array) -> None:
            self.values = values

        def __dlpack__(self, stream: object = None) -> object:
            return self.values.__dlpack__()

    values = column.to_arrow()
    monkeypatch.setattr(_device.DeviceColumn, "to_arrow", lambda _: Earlier(values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert numpy.from_dlpack(column).tolist() == values.to_pylist()
    with pytest.raises(BufferError, match="pyarrow before version 26"):
        numpy.from_dlpack(column, copy=True)
