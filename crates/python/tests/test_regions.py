"""Marks of regions in Python programs, measured by the command line tool of the package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = """
import os, threading
from parallax import regions
from parallax.regions import region

@region(7)
def solve():
    with region(2):
        pass

with region(1):
    for _ in range(3):
        solve()
    thread = threading.Thread(target=solve)
    thread.start()
    thread.join()
    try:
        with region(5):
            raise ValueError
    except ValueError:
        pass
    child = os.fork()
    if child == 0:
        with region(9):
            pass
        os._exit(0)
    os.waitpid(child, 0)
regions.start(3)
regions.stop(4)
"""


def measured(folder: Path, options: list[str]) -> tuple[dict[str, Any], str]:
    """The only run of the program, and what the tool said."""
    (folder / "program.py").write_text(PROGRAM)
    tool = Path(sys.executable).parent / "parallax"
    command = [tool, "measure", "--cores", "1", *options]
    output = subprocess.run(
        [*command, "-o", "sweep.json", "--", sys.executable, "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert output.returncode == 0, output.stderr
    runs = json.loads((folder / "sweep.json").read_text())["data"]
    return runs["1;1"], output.stderr


def test_regions_of_threads_and_children_are_in_the_file(tmp_path: Path) -> None:
    run, _ = measured(tmp_path, [])
    counts = {path: len(entries) for path, entries in run["regions"].items()}
    assert counts == {"1": 1, "1.5": 1, "1.7": 3, "1.7.2": 3, "7": 1, "7.2": 1, "9": 1}
    begin, end, first, _, _, file = run["regions"]["1"][0]
    assert run["start_time"] - 1 <= begin <= end <= run["stop_time"] + 1
    assert (first, Path(file).name) == (11, "program.py")
    for path in ("1.5", "1.7", "1.7.2", "9"):
        for entry in run["regions"][path]:
            assert begin <= entry[0] <= entry[1] <= end


def test_without_the_tool_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {name: value for name, value in os.environ.items() if name != "PARALLAX_REGIONS"}
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=environment, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]


def test_regions_without_room_are_told(tmp_path: Path) -> None:
    run, said = measured(tmp_path, ["--env", "PARALLAX_LIMIT_MB=0"])
    assert "regions" not in run or run["regions_cut"]
    assert said
