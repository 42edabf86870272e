"""What documents show is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def blocks(path: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / path).read_text(), re.S | re.M)


@pytest.mark.parametrize("at", range(4))
def test_the_lines_of_the_manual_run(
    at: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT / "fixtures")
    shown = blocks("docs/python.md")
    assert len(shown) == 4
    exec(compile(shown[at], "docs/python.md", "exec"), {})
    if at == 0:
        out = capsys.readouterr().out
        assert "reactor" in out and "MPI_Allreduce" in out and "balance_ratio" in out
    if at == 1:
        assert "function" in capsys.readouterr().out
    if at == 2:
        out = capsys.readouterr().out
        assert "cpu: too few rows for a GPU" in out and "s_sin.c:" in out and "depth" in out


def test_the_lines_of_the_readme_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "fixtures/reactor")
    (shown,) = blocks("README.md")
    exec(compile(shown, "README.md", "exec"), {})
