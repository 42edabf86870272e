"""What is open for how long: many at once, in threads and processes, and when the program ends."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import parallax

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
SEVERAL = [
    FIXTURES / "reactor/n1024-p8",
    FIXTURES / "reactor/n256-p2",
    FIXTURES / "callgrind/callgrind.out.orbit-01",
    FIXTURES / "measured/image.plxm",
]


def contexts_of(path: Path) -> int:
    return int(parallax.open(path).ask("info").contexts)


def total_of(stream: parallax.TableStream) -> float:
    """What a process of its own finds in a stream that it was given."""
    return sum(sum(table["value"]) for table in stream)  # type: ignore[misc, arg-type]


def name_of(context: parallax.Context) -> str:
    return " > ".join(context.path)


def test_several_databases_are_open_at_once() -> None:
    alone = [contexts_of(path) for path in SEVERAL]
    assert len(set(alone)) == len(SEVERAL)
    opened = [parallax.open(path) for path in SEVERAL]
    # One that goes away leaves the others as they are.
    twice = parallax.open(SEVERAL[0])
    del twice
    gc.collect()
    assert [item.ask("info").contexts for item in opened] == alone


def test_threads_open_ask_and_drop_at_once() -> None:
    alone = [contexts_of(path) for path in SEVERAL]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(contexts_of, SEVERAL * 25))
    assert found == alone * 25


def test_an_item_may_go_while_its_stream_is_read(fixtures: Path) -> None:
    experiment = parallax.open(fixtures / "reactor/n1024-p8")
    assert isinstance(experiment, parallax.Experiment)
    stream = experiment.stream(metrics="realtime (i)", profiles_per_part=2)
    expected = total_of(stream)
    reader = stream.to_reader()
    del experiment, stream
    gc.collect()
    assert sum(reader.read_all()["value"].to_pylist()) == pytest.approx(expected)


def test_what_is_lazy_is_pickled_and_what_is_not_says_so(reactor: parallax.Experiment) -> None:
    context = reactor.tree["function(react)"][0]
    stream = reactor.stream(metrics="realtime (i)", profiles_per_part=5)
    tree, again, other = pickle.loads(pickle.dumps((reactor.tree, context, stream)))
    assert len(tree) == len(reactor.tree)
    assert (again.id, again.path) == (context.id, context.path)
    assert len(other) == len(stream) and total_of(other) == pytest.approx(total_of(stream))
    with pytest.raises(TypeError, match="to_arrow"):
        pickle.dumps(reactor.flat().rows)
    with pytest.raises(TypeError, match="only the tree"):
        pickle.dumps(parallax.Tree(reactor, reactor.tree_table(mpi=True)))


@pytest.mark.parametrize("how", ["spawn", "forkserver"])
def test_other_processes_take_what_is_lazy(how: str, reactor: parallax.Experiment) -> None:
    if how not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {how} on this system")
    stream = reactor.stream(metrics="realtime (i)", profiles_per_part=5)
    context = reactor.tree["function(react)"][0]
    with multiprocessing.get_context(how).Pool(1) as pool:
        assert pool.apply(total_of, (stream,)) == pytest.approx(total_of(stream))
        assert pool.apply(name_of, (context,)) == name_of(context)


def test_a_stream_in_a_forked_process_is_told(
    reactor: parallax.Experiment, said_in_fork: Callable[[Callable[[], object]], str]
) -> None:
    stream = reactor.stream(metrics="realtime (i)")
    assert "forked" in said_in_fork(stream.__arrow_c_stream__)


def test_an_exception_in_a_callback_ends_only_its_question(tmp_path: Path) -> None:
    # In a process of its own: the callback is one for all threads.
    program = """
import sys, threading
import parallax
main = threading.get_ident()
def progress(done, total):
    if threading.get_ident() != main:
        raise RuntimeError("not this one")
parallax.show_progress(progress)
said = []
def other():
    try:
        parallax.open(sys.argv[1])
        said.append("opened")
    except RuntimeError as error:
        said.append(str(error))
thread = threading.Thread(target=other)
thread.start()
experiment = parallax.open(sys.argv[2])
thread.join()
print(said[0], experiment.info().calls, sep="|")
"""
    traces = []
    for name in ("a.json", "b.json"):
        traces.append(str(tmp_path / name))
        with open(traces[-1], "w") as file:
            file.write('{"traceEvents":[\n')
            for at in range(300_000):
                file.write(f'{{"ph":"X","name":"f{at % 50}","pid":1,"tid":1,"ts":{at * 4},"dur":3}},\n')
            file.write("{}]}")
    environment = {**os.environ, "PARALLAX_CACHE": str(tmp_path / "cache")}
    run = subprocess.run(
        [sys.executable, "-c", program, *traces],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert run.stdout.strip() == "not this one|300000", run.stderr


@pytest.mark.parametrize("how", ["thread", "exit", "exception"])
def test_a_program_ends_while_questions_run(how: str) -> None:
    program = """
import sys, threading, time
import parallax
experiment = parallax.open(sys.argv[1])
stream = experiment.stream(profiles_per_part=1)
def ask():
    while True:
        for table in stream:
            table.num_rows
for _ in range(4):
    threading.Thread(target=ask, daemon=True).start()
time.sleep(0.3)
if sys.argv[2] == "exit":
    sys.exit(3)
if sys.argv[2] == "exception":
    raise RuntimeError("over")
"""
    words = [sys.executable, "-c", program, str(SEVERAL[0]), how]
    run = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert run.returncode == {"thread": 0, "exit": 3, "exception": 1}[how], run.stderr
    last = run.stderr.strip().splitlines()[-1:]
    assert last == (["RuntimeError: over"] if how == "exception" else []), run.stderr


def _memory_kib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def test_cycles_of_opening_and_dropping_do_not_grow() -> None:
    """As many of 10,000 cycles as there are in ten seconds, a thousand at least."""
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc here, which says how much memory is used")
    path = SEVERAL[1]

    def cycle() -> None:
        opened = parallax.open(path)
        opened.ask("query", profiles="summary", metrics="realtime (i)").rows.to_dicts()

    for _ in range(200):
        cycle()
    gc.collect()
    before, threads, files = _memory_kib(), threading.active_count(), len(os.listdir("/proc/self/fd"))
    end = time.monotonic() + 10
    cycles = 0
    while cycles < 10_000 and (time.monotonic() < end or cycles < 1_000):
        cycle()
        cycles += 1
    gc.collect()
    print(f"{cycles} cycles, {_memory_kib() - before} KiB more")
    # A byte that stays for each opened byte would be far more than that.
    assert _memory_kib() - before < 8 << 10, f"after {cycles} cycles"
    assert threading.active_count() == threads
    assert len(os.listdir("/proc/self/fd")) <= files
    assert len(os.listdir("/proc/self/task")) < 64
