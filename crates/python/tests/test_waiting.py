"""Threads, signals, processes, and callbacks."""

from __future__ import annotations

import multiprocessing
import os
import signal
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
DATABASE = FIXTURES / "reactor/n1024-p8"


def count(path: str) -> int:
    """What a process of its own finds."""
    return len(parallax.open(path).query(metrics="realtime (i)").rows)


def rows_of(experiment: parallax.Experiment) -> int:
    """What a process of its own finds in what it was given."""
    return len(experiment.query(metrics="realtime (i)").rows)


def test_threads_ask_at_once(reactor: parallax.Experiment) -> None:
    expected = reactor.query(metrics="realtime (i)").rows["value"]
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda _: reactor.query(metrics="realtime (i)"), range(64))
        assert all(answer.rows["value"] == expected for answer in answers)


def test_other_threads_run_while_a_question_does(tmp_path: Path) -> None:
    trace = slow_trace(tmp_path)
    ticks = 0
    is_over = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not is_over.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    parallax.open(trace)
    took = time.monotonic() - begin
    is_over.set()
    thread.join()
    # None at all if the lock were kept; far more than these even where other programs run.
    assert ticks > took / 0.2


def slow_trace(folder: Path) -> Path:
    """A trace that takes a while to convert."""
    line = '{"ph":"X","name":"f%d","pid":1,"tid":%d,"ts":%d,"dur":3},\n'
    path = folder / "slow.json"
    with path.open("w") as file:
        file.write('{"traceEvents":[\n')
        for at in range(400_000):
            file.write(line % (at % 50, at % 4, at * 4))
        file.write("{}]}")
    return path


def test_interrupting_withdraws_the_question(tmp_path: Path) -> None:
    slow_trace(tmp_path)
    program = """
import os, signal, sys, threading, time
import parallax
def interrupt(done, total):
    os.kill(os.getpid(), signal.SIGINT)
parallax.show_progress(interrupt)
try:
    parallax.open(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
parallax.show_progress(False)
print(len(parallax.open(sys.argv[2]).query(metrics="realtime (i)").rows) > 0)
"""
    words = [sys.executable, "-c", program, str(tmp_path / "slow.json"), str(DATABASE)]
    environment = {**os.environ, "PARALLAX_CACHE": str(tmp_path / "cache")}
    run = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=120)
    assert run.stdout.split() == ["interrupted", "True"], run.stderr
    left = list((tmp_path / "cache").iterdir()) if (tmp_path / "cache").exists() else []
    assert left == [], "what was begun is removed"


def test_an_exception_in_a_callback_withdraws_the_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARALLAX_CACHE", str(tmp_path / "cache"))
    trace = slow_trace(tmp_path)
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        raise RuntimeError("not this one")

    parallax.show_progress(progress)
    try:
        with pytest.raises(RuntimeError, match="not this one"):
            parallax.open(trace)
    finally:
        parallax.show_progress(None)
    assert len(seen) == 1 and 0 < seen[0][0] <= seen[0][1]


def test_processes_that_are_spawned_ask(reactor: parallax.Experiment) -> None:
    expected = count(str(DATABASE))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(count, [str(DATABASE)] * 2) == [expected] * 2
        assert pool.map(rows_of, [reactor] * 2) == [expected] * 2


def test_a_forked_process_is_told(
    reactor: parallax.Experiment, said_in_fork: Callable[[Callable[[], object]], str]
) -> None:
    held: list[object] = [parallax.open(DATABASE)]

    def question() -> None:
        # What the child drops is not closed: it has none of the locks.
        held.clear()
        reactor.info()

    said = said_in_fork(question)
    assert "forked" in said and "spawn" in said
    (kept,) = held
    assert isinstance(kept, parallax.Experiment) and kept.info().contexts > 0


def test_a_program_may_end_while_a_question_runs(tmp_path: Path) -> None:
    trace = slow_trace(tmp_path)
    program = """
import sys, threading, time
import parallax
thread = threading.Thread(target=parallax.open, args=(sys.argv[1],), daemon=True)
thread.start()
time.sleep(0.1)
"""
    environment = {**os.environ, "PARALLAX_CACHE": str(tmp_path / "cache")}
    words = [sys.executable, "-c", program, str(trace)]
    run = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=120)
    assert run.returncode == 0, run.stderr


def test_importing_takes_few_modules() -> None:
    program = "import sys, parallax; print(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert loaded.isdisjoint({"pandas", "numpy", "polars", "pyarrow", "duckdb", "parallax.types"})
