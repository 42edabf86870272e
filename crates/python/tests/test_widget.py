"""The widget: its server, its state, and the page in a browser."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import parallax

pytest.importorskip("anywidget", reason="anywidget is not installed")

from parallax import widget
from parallax._serve import Served

ROOT = Path(__file__).resolve().parents[3]


def fetch(url: str, body: bytes | None = None, **headers: str) -> tuple[bytes, Any]:
    request = urllib.request.Request(url, body, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read(), answer.headers


@pytest.fixture
def view(reactor: parallax.Experiment) -> Iterator[Any]:
    made = reactor.view("timeline", height=500)
    yield made
    made.close()


def test_the_page_may_be_framed_and_questions_need_the_token(fixtures: Path) -> None:
    served = Served([str(fixtures / "reactor/n1024-p8")])
    base, token = served.url.split("?token=")
    page, headers = fetch(served.url)
    assert b"parallax-widget.js" in page
    assert "frame-ancestors" not in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    script, _ = fetch(base + "parallax-widget.js")
    assert b"postMessage" in script
    hello = json.dumps({"ask": "hello", "with": {}}).encode()
    with pytest.raises(urllib.error.HTTPError) as caught:
        fetch(base + "api/ask", hello)
    assert caught.value.code == 401
    answer, _ = fetch(base + "api/ask", hello, Authorization=f"Bearer {token}")
    assert b"n1024-p8" in answer
    process = served._process
    served.close()
    assert process.poll() is not None
    with pytest.raises(OSError):
        fetch(served.url)


def test_what_is_dropped_ends_its_server(fixtures: Path) -> None:
    served = Served([str(fixtures / "reactor/n1024-p8")])
    process = served._process
    del served
    gc.collect()
    assert process.wait(10) is not None


def test_what_cannot_be_served_says_why(tmp_path: Path) -> None:
    with pytest.raises(parallax.ReadError, match="absent"):
        Served([str(tmp_path / "absent")])


STATE = {
    "version": 1,
    "sources": [],
    "active": "s1/0",
    "desks": {"s1/0": {"layout": None, "panels": {}}},
    "links": {"mark": [], "focus": None, "spot": None},
}


def test_selection_and_window_are_in_the_address(view: Any) -> None:
    assert view.state == {} and view.selection is None and view.window is None
    view.fragment = widget.fragment_of(STATE)
    # The view that was asked for is shown as soon as the page has opened.
    desk = view.state["desks"]["s1/0"]
    assert desk["panels"]["trace.timeline"]["view"] == "trace.timeline"
    view.window = (10, 20)
    assert view.state["links"]["spot"] == {"item": "s1/0", "window": [10, 20]}
    view.selection = 7
    assert view.state["links"]["focus"] == {"kind": "context", "item": "s1/0", "context": 7}
    heard = {**STATE, "links": {**STATE["links"], "spot": {"item": "s1/0", "window": [1, 5]}}}
    view.fragment = widget.fragment_of(heard)
    assert view.window == (1, 5) and view.selection is None
    view.window = None
    assert view.state["links"]["spot"] is None
    with pytest.raises(parallax.MisuseError, match="no time range"):
        view.window = (5, 5)


def test_views_have_the_names_of_the_page(reactor: parallax.Experiment) -> None:
    text = "".join(
        path.read_text() for path in sorted((ROOT / "web/src/views").glob("*/index.ts"))
    )
    # The state of a panel is empty, which is the default of every version.
    described = re.findall(r'id: "([a-z]+\.[a-z-]+)",.*?stateVersion: \d+', text, re.S)
    assert sorted(described) == list(widget.VIEWS)
    assert widget.view_id("flame") == widget.view_id("profile.flame") == "profile.flame"
    with pytest.raises(parallax.MisuseError, match="no view compare") as caught:
        widget.view_id("compare")
    assert caught.value.hint == "there are scaling.compare, trace.compare"
    with pytest.raises(parallax.MisuseError, match="no view nothing"):
        reactor.view("nothing")


def test_what_is_set_before_the_page_opens_is_kept(reactor: parallax.Experiment) -> None:
    view = reactor.view()
    view.window = (3, 4)
    view.fragment = widget.fragment_of(STATE)
    assert view.state["links"]["spot"]["window"] == [3, 4]
    bundle, _ = view._repr_mimebundle_()  # what front ends without IPython ask for
    assert "reactor" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
    view.close()


def test_what_has_no_path_has_no_page(reactor: parallax.Experiment) -> None:
    with pytest.raises(parallax.MisuseError, match="no path"):
        parallax.Ensemble.of([reactor, reactor]).view()


@pytest.mark.parametrize("keeps_state", [False, True])
def test_a_notebook_as_html_shows_what_was_measured(
    fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps_state: bool
) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    source = [
        "import parallax",
        f"experiment = parallax.open({str(fixtures / 'reactor/n1024-p8')!r})",
        'view = experiment.view("timeline")',
        "view.window = (5, 90)",
        "view",
    ]
    cell = nbformat.v4.new_code_cell("\n".join(source))
    notebook = nbformat.v4.new_notebook(cells=[cell])
    runner = nbclient.NotebookClient(notebook, timeout=120, store_widget_state=keeps_state)
    runner.execute()
    assert ("widgets" in notebook.metadata) == keeps_state
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    # The part that needs no script, beside what scripts would show.
    (saved,) = re.findall(r'<div data-parallax-saved="[0-9a-f]+">(.*?)</p>\s*</div>', page, re.S)
    assert "reactor" in saved and "HPCToolkit" in saved
    assert "View: timeline. Time: 5 to 90 ns" in saved


PAGE = """<!doctype html><body></body><script type="module">
const values = %s;
const heard = {};
const model = {
  get: (name) => values[name],
  set: (name, value) => { values[name] = value; },
  save_changes: () => fetch("/fragment", { method: "POST", body: values.fragment }),
  on: (name, call) => { heard[name] = call; },
  off: () => {},
};
const url = URL.createObjectURL(new Blob([values.esm], { type: "text/javascript" }));
(await import(url)).default.render({ model, el: document.body });
setInterval(async () => {
  const next = await (await fetch("/fragment")).text();
  if (next !== values.fragment && next !== "") { values.fragment = next; heard["change:fragment"](); }
}, 100);
</script>"""


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come")


def test_a_browser_shows_the_page_and_says_what_is_selected(view: Any, tmp_path: Path) -> None:
    chromium = os.environ.get("PARALLAX_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("no Chromium (PARALLAX_CHROMIUM names it)")
    if b"parallax-server" not in fetch(view.url)[0]:
        pytest.skip("the tool was built without the page (cargo xtask web)")
    values = {"url": view.url, "height": 500, "fragment": "", "summary": "", "esm": view._esm}
    page = (PAGE % json.dumps(values).replace("</", "<\\/")).encode()

    class Notebook(BaseHTTPRequestHandler):
        """Stands in for the front end and the kernel of a notebook."""

        def do_GET(self) -> None:
            content = view.fragment.encode() if self.path == "/fragment" else page
            self.send_response(200)
            self.send_header("content-type", "text/plain" if self.path == "/fragment" else "text/html")
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            view.fragment = self.rfile.read(length).decode()
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Notebook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    words = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,800"]
    words += ["--remote-debugging-port=0", f"--user-data-dir={tmp_path}"]
    browser = subprocess.Popen(
        [*words, f"http://127.0.0.1:{server.server_address[1]}/"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        state = wait_for(lambda: view.state.get("active") and view.state, "the page")
        assert "n1024-p8" in json.dumps(state["sources"])

        def panels() -> list[str]:
            desk = view.state["desks"].get(view.state["active"], {})
            return [panel["view"] for panel in desk.get("panels", {}).values()]

        wait_for(lambda: panels() == ["trace.timeline"], "the timeline alone")
        wanted = (500_000_000, 900_000_000)
        heard: list[str] = []
        view.observe(lambda change: heard.append(change["new"]), "fragment")

        def is_taken_over() -> bool:
            # A page that is still opening goes on with its own state.
            if view.window != wanted:
                view.window = wanted
            sent = view.fragment
            time.sleep(2)
            # The page writes a state that it has taken over in its own words.
            return view.window == wanted and (view.fragment != sent or len(set(heard)) > 1)

        wait_for(is_taken_over, "the state of the page")
        assert panels() == ["trace.timeline"]
    finally:
        browser.terminate()
        browser.wait(10)
        server.shutdown()
        server.server_close()
