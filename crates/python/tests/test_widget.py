"""The widget: its server, its state, and the page in a browser."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import subprocess
import sys
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


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_a_process_that_is_killed_leaves_no_server(fixtures: Path) -> None:
    script = """
import sys
from parallax._serve import Served

served = Served([sys.argv[1]])
print(served._process.pid, flush=True)
sys.stdin.read()
"""
    words = [sys.executable, "-c", script, str(fixtures / "reactor/n1024-p8")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as kernel:
        assert kernel.stdout is not None
        stat = Path(f"/proc/{int(kernel.stdout.readline())}/stat")
        assert "(parallax)" in stat.read_text()
        kernel.kill()

    def is_running() -> bool:
        try:
            # Whoever adopts it may take its time with its exit status.
            return stat.read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    deadline = time.monotonic() + 30
    while is_running():
        assert time.monotonic() < deadline
        time.sleep(0.05)


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


def say(view: Any, state: dict[str, Any], number: int | None = None) -> None:
    """The page says what it shows, after it has taken over all requests or that of a number."""
    taken = view.asked["number"] if number is None else number
    view.shown = {"number": taken, "fragment": widget.fragment_of(state)}


def with_window(state: dict[str, Any], *window: int) -> dict[str, Any]:
    spot = {"item": "s1/0", "window": list(window)}
    return {**state, "links": {**state["links"], "spot": spot}}


def test_selection_and_window_are_in_the_address(view: Any) -> None:
    assert view.state == {} and view.selection is None and view.window is None
    say(view, STATE)
    # The view that was asked for is shown as soon as the page has opened.
    desk = view.state["desks"]["s1/0"]
    assert desk["panels"]["trace.timeline"]["view"] == "trace.timeline"
    view.window = (10, 20)
    assert view.state["links"]["spot"] == {"item": "s1/0", "window": [10, 20]}
    view.selection = 7
    assert view.state["links"]["focus"] == {"kind": "context", "item": "s1/0", "context": 7}
    say(view, view.state)
    say(view, with_window(STATE, 1, 5))
    assert view.window == (1, 5) and view.selection is None
    view.window = None
    assert view.state["links"]["spot"] is None
    with pytest.raises(parallax.MisuseError, match="no time range"):
        view.window = (5, 5)


def test_what_the_page_said_before_a_request_is_no_answer(reactor: parallax.Experiment) -> None:
    view = reactor.view()
    say(view, STATE)
    view.window = (10, 20)
    # The page wrote this before it heard of the request.
    say(view, with_window(STATE, 1, 5), number=0)
    assert view.window == (10, 20) and view.state["links"]["spot"]["window"] == [10, 20]
    # Two requests at once: the answer to the first is late, too.
    view.window = (30, 40)
    say(view, with_window(STATE, 10, 20), number=1)
    assert view.window == (30, 40) and view.state["links"]["spot"]["window"] == [30, 40]
    say(view, view.state)
    assert view.window == (30, 40)
    # Then the user selects something else.
    say(view, with_window(STATE, 1, 5))
    assert view.window == (1, 5)
    view.close()


def test_a_page_that_goes_on_with_its_own_state_is_asked_again(reactor: parallax.Experiment) -> None:
    view = reactor.view()
    say(view, STATE)
    view.window = (10, 20)
    say(view, STATE)
    assert view.asked["number"] == 2 and view.window == (10, 20)
    say(view, view.state)
    assert view.window == (10, 20)
    # A time after the end of the trace: the page shows what there is, and is not asked for ever.
    view.window = (10, 10**15)
    for _ in range(20):
        say(view, with_window(STATE, 10, 500))
    assert view.window == (10, 500) and view.asked["number"] < 10
    view.close()


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
    say(view, STATE)
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
  save_changes: () => fetch("/shown", { method: "POST", body: JSON.stringify(values.shown) }),
  on: (name, call) => { heard[name] = call; },
  off: () => {},
};
const url = URL.createObjectURL(new Blob([values.esm], { type: "text/javascript" }));
(await import(url)).default.render({ model, el: document.body });
setInterval(async () => {
  const next = await (await fetch("/asked")).json();
  if (next.number !== values.asked.number) { values.asked = next; heard["change:asked"](); }
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
    values = {"url": view.url, "height": 500, "summary": "", "esm": view._esm}
    values |= {"asked": view.asked, "shown": view.shown}
    page = (PAGE % json.dumps(values).replace("</", "<\\/")).encode()

    class Notebook(BaseHTTPRequestHandler):
        """Stands in for the front end and the kernel of a notebook."""

        def do_GET(self) -> None:
            is_asking = self.path == "/asked"
            content = json.dumps(view.asked).encode() if is_asking else page
            self.send_response(200)
            self.send_header("content-type", "application/json" if is_asking else "text/html")
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            view.shown = json.loads(self.rfile.read(length))
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
        view.window = wanted
        wait_for(lambda: view.shown["number"] == view.asked["number"], "the answer of the page")
        time.sleep(1)
        assert view.window == wanted
        assert widget.state_of(view.shown["fragment"])["links"]["spot"]["window"] == list(wanted)
        assert panels() == ["trace.timeline"]
    finally:
        browser.terminate()
        browser.wait(10)
        server.shutdown()
        server.server_close()
