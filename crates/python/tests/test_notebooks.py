"""The notebooks of the documentation run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[3] / "docs/notebooks"
NAMES = ["amg", "ci-gate", "first-look", "gamess", "scaling-study", "training-job"]


def cells(name: str) -> list[dict[str, Any]]:
    return json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]


def test_notebooks_are_kept_without_what_they_show() -> None:
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == NAMES
    for name in NAMES:
        for cell in cells(name):
            if cell["cell_type"] == "code":
                assert cell["outputs"] == [] and cell["execution_count"] is None, name


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(
    name: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    monkeypatch.setenv("PARALLAX_CORPUS", str(corpus.resolve()))
    monkeypatch.setenv("PARALLAX_CACHE", str(tmp_path / "cache"))
    # A kernel writes where it runs, and asks for its history.
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    runner = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}
    )
    runner.execute()
    shown = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
    assert len(shown) >= 3
    for cell in shown:
        for output in cell.outputs:
            assert output.output_type != "error"
            # Standard error has progress and nothing else.
            if output.output_type == "stream" and output.name == "stderr":
                assert "Warning" not in output.text, output.text
                continue
            # A table that is shown has something in it.
            text = output.get("data", {}).get("text/plain", output.get("text", ""))
            assert text.strip() and "Empty DataFrame" not in text, cell.source
            assert not text.startswith("Series([]"), cell.source
