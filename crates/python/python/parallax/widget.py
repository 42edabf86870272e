"""The page of Parallax in a notebook, for front ends that anywidget knows: JupyterLab, VS Code, marimo.

>>> view = experiment.view("timeline")
>>> view.window = (1_000_000, 2_000_000)
>>> view.selection
"""

# The base class is that of an optional library, whose types are not known here.
# pyright: reportPrivateUsage=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import base64
import json
import uuid
import zlib
from html import escape
from typing import TYPE_CHECKING, Any, cast

from ._errors import MisuseError
from ._serve import Served
from ._table import import_library

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._open import Ensemble, Experiment

_anywidget = import_library("anywidget", "widget")
_traitlets = import_library("traitlets", "widget")

_PREFIX = "#v1="

# How often a page is asked for the same until what it shows is taken for what its user wants.
_TRIES = 5

VIEWS = (
    "calls.advice", "calls.graph", "calls.lanes", "calls.threads",
    "groups.clusters", "groups.racks",
    "item.information", "item.issues", "item.sql",
    "profile.callers", "profile.correlations", "profile.differences", "profile.distribution",
    "profile.flame", "profile.flat", "profile.gpu-stalls", "profile.source", "profile.stacks",
    "profile.summary", "profile.tree", "profile.user-events",
    "scaling.compare", "scaling.lines", "scaling.maps", "scaling.regions", "scaling.table",
    "scaling.verdict",
    "trace.anomalies", "trace.compare", "trace.counters", "trace.find", "trace.idle-gpus",
    "trace.iterations", "trace.messages", "trace.node-detail", "trace.over-time", "trace.statistics",
    "trace.timeline", "trace.waits", "trace.workflow",
)  # fmt: skip
"""The views of the page. The part behind the dot is enough where it is the only one."""

_ESM = """
function render({ model, el }) {
  const frame = document.createElement("iframe");
  const url = model.get("url");
  // What the page is asked for and what it shows are two values, each written by one side alone. The
  // number of the last request that the page has taken over goes with what it shows.
  const first = model.get("asked").number;
  let shown = model.get("shown").number < first ? model.get("asked").fragment : model.get("shown").fragment;
  let isHeard = false;
  frame.src = url + shown;
  frame.title = "Parallax";
  frame.style.cssText = "width: 100%; border: 1px solid #8884; border-radius: 4px";
  const fit = () => { frame.style.height = `${model.get("height")}px`; };
  fit();
  el.append(frame);
  const hear = (event) => {
    if (event.source !== frame.contentWindow || event.data?.parallax !== "state") return;
    isHeard = true;
    shown = event.data.fragment;
    const number = event.data.number ?? first;
    const known = model.get("shown");
    if (shown === known.fragment && number === known.number) return;
    model.set("shown", { number, fragment: shown });
    model.save_changes();
  };
  const show = ({ number, fragment }) => {
    if (fragment === "") return;
    frame.contentWindow?.postMessage({ parallax: "show", number, fragment }, new URL(url).origin);
  };
  const ask = () => { show(model.get("asked")); };
  // Where a widget is displayed twice, each page follows the other.
  const follow = () => { if (model.get("shown").fragment !== shown) show(model.get("shown")); };
  // The kernel has ended, or this is a saved page: what is left is what was known then.
  const wait = setTimeout(() => {
    if (isHeard) return;
    frame.remove();
    const left = document.createElement("div");
    left.innerHTML = model.get("summary");
    el.append(left);
  }, 20000);
  // What stands in for the page where no script runs is in the way where one does.
  const saved = setInterval(() => {
    for (const one of document.querySelectorAll(`[data-parallax-saved="${model.get("saved")}"]`)) {
      (one.closest(".jp-OutputArea-child") ?? one).style.display = "none";
    }
  }, 200);
  window.addEventListener("message", hear);
  model.on("change:asked", ask);
  model.on("change:shown", follow);
  model.on("change:height", fit);
  return () => {
    clearTimeout(wait);
    clearInterval(saved);
    window.removeEventListener("message", hear);
    model.off("change:asked", ask);
    model.off("change:shown", follow);
    model.off("change:height", fit);
  };
}
export default { render };
"""


def state_of(fragment: str) -> dict[str, Any]:
    """The state of the page that is in its address; empty where there is none."""
    if not fragment.startswith(_PREFIX):
        return {}
    text = fragment[len(_PREFIX) :]
    packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return cast("dict[str, Any]", json.loads(zlib.decompress(packed, -zlib.MAX_WBITS)))


def fragment_of(state: dict[str, Any]) -> str:
    """The other way round."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = deflate.compress(json.dumps(state).encode()) + deflate.flush()
    return _PREFIX + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def view_id(name: str) -> str:
    """The id of a view from its name."""
    found = [one for one in VIEWS if name in (one, one.partition(".")[2])]
    if len(found) == 1:
        return found[0]
    raise MisuseError(f"there is no view {name}", f"there are {', '.join(found or VIEWS)}")


class View(_anywidget.AnyWidget):  # type: ignore[misc, valid-type]
    """The page of an experiment or ensemble; what is selected in it can be read and set.

    Traits of several views are linked with ``traitlets.link((one, "window"), (other, "window"))``.
    """

    _esm = _ESM
    url = _traitlets.Unicode().tag(sync=True)
    height = _traitlets.Int(640).tag(sync=True)
    summary = _traitlets.Unicode().tag(sync=True)
    saved = _traitlets.Unicode("").tag(sync=True)
    asked = _traitlets.Dict({"number": 0, "fragment": ""}).tag(sync=True)
    shown = _traitlets.Dict({"number": 0, "fragment": ""}).tag(sync=True)
    selection = _traitlets.Int(None, allow_none=True)
    window = _traitlets.Tuple(None, allow_none=True)
    view = _traitlets.Unicode("")
    _served: Served | None = None

    def __init__(
        self, item: Experiment | Ensemble, paths: tuple[str, ...], view: str, height: int
    ) -> None:
        if view:
            view_id(view)
        served = self._served = Served(paths)
        self._item = item
        self._is_told = False
        self._tries = 0
        self._wanted: dict[str, Any] = {"view": view} if view else {}
        super().__init__(
            url=served.url,
            height=height,
            summary=item._repr_html_(),
            saved=uuid.uuid4().hex,
            view=view,
        )
        self.observe(self._heard, "shown")
        self.observe(self._told, ["selection", "window", "view"])

    def close(self) -> None:
        """Ends the page and its server."""
        if self._served is not None:
            self._served.close()
        super().close()

    @property
    def _is_awaited(self) -> bool:
        """The page has not taken over yet what it was asked for last."""
        return self.shown.get("number", 0) < self.asked["number"]

    @property
    def state(self) -> dict[str, Any]:
        """Everything that the page shows, or was asked for last, as its address has it."""
        said = self.asked if self._is_awaited else self.shown
        return state_of(cast("str", said.get("fragment", "")))

    def _heard(self, _: Any) -> None:
        """The page says what it shows."""
        if self._is_awaited:
            # That was before it heard of what was asked for last.
            return
        state = self.state
        if not state:
            return
        if self._wanted and state.get("active"):
            # A page that is still opening goes on with a state of its own.
            if self._tries < _TRIES and self._lacks(state):
                self._tries += 1
                self._show(state)
                return
            self._wanted = {}
        links: dict[str, Any] = state.get("links") or {}
        focus: dict[str, Any] = links.get("focus") or {}
        spot: dict[str, Any] = links.get("spot") or {}
        window: Any = spot.get("window")
        self._is_told = True
        try:
            self.selection = focus.get("context") if focus.get("kind") == "context" else None
            self.window = None if window is None else tuple(window)
        finally:
            self._is_told = False

    def _told(self, change: Any) -> None:
        """A program says what to show."""
        if self._is_told:
            return
        name, value = change["name"], change["new"]
        if name == "view" and value:
            view_id(value)
        if name == "window":
            _spot("", None, value)
        self._wanted[name] = value
        self._tries = 0
        state = self.state
        if state.get("active"):
            self._show(state)

    def _lacks(self, state: dict[str, Any]) -> bool:
        """Whether something that is wanted is not in a state of the page."""
        links: dict[str, Any] = state.get("links") or {}
        focus: dict[str, Any] = links.get("focus") or {}
        spot: dict[str, Any] = links.get("spot") or {}
        window: list[int] | None = spot.get("window")
        desk = (state.get("desks") or {}).get(state["active"]) or {}
        views = [panel.get("view") for panel in (desk.get("panels") or {}).values()]
        has: dict[str, Callable[[Any], bool]] = {
            "selection": lambda it: it == (focus.get("context") if focus.get("kind") == "context" else None),
            "window": lambda it: (None if it is None else list(it)) == window,
            "view": lambda it: not it or views == [view_id(it)],
        }
        return not all(has[name](value) for name, value in self._wanted.items())

    def _show(self, state: dict[str, Any]) -> None:
        """Asks the page for a state in which everything is that is wanted."""
        number = cast("int", self.asked["number"]) + 1
        self.asked = {"number": number, "fragment": self._fragment(state)}

    def _fragment(self, state: dict[str, Any]) -> str:
        item, wanted = state["active"], self._wanted
        links: dict[str, Any] = {
            "mark": [], "focus": None, "spot": None, **(state.get("links") or {}),
        }  # fmt: skip
        if "selection" in wanted:
            context = wanted["selection"]
            key = {"kind": "context", "item": item, "context": context}
            links["focus"] = None if context is None else key
        if "window" in wanted:
            links["spot"] = _spot(item, links["spot"], wanted["window"])
        desks = dict(state.get("desks") or {})
        if wanted.get("view"):
            id_ = view_id(wanted["view"])
            panel = {"view": id_, "version": 1, "state": {}}
            tabs = {"share": 1, "tabs": [id_], "front": id_}
            desks[item] = {
                **(desks.get(item) or {}),
                "layout": {"isColumn": False, "root": tabs},
                "panels": {id_: panel},
            }
        return fragment_of({**state, "links": links, "desks": desks})

    def _ipython_display_(self) -> None:
        """Shows the page, and next to it what pages without scripts show instead: exports to HTML keep
        both, and fetch the scripts of widgets from the network."""
        display = import_library("IPython.display", "widget").display
        bundle, metadata = self._repr_mimebundle_()
        bundle.pop("text/html")
        display(bundle, metadata=metadata, raw=True)
        saved = f'<div data-parallax-saved="{self.saved}">{self.summary}{self._shown()}</div>'
        display({"text/html": saved, "text/plain": ""}, raw=True)

    def _shown(self) -> str:
        """What the page shows at this moment, in words."""
        said = [f"View: {self.view}"] if self.view else []
        if self.window is not None:
            start, end = self.window
            said.append(f"Time: {start} to {end} ns")
        if self.selection is not None:
            said.append(f"Selected context: {self.selection}")
        return f"<p>{escape('. '.join(said))}</p>" if said else ""

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """With a summary for pages without a kernel."""
        made = super()._repr_mimebundle_(**options)
        bundle, metadata = made if isinstance(made, tuple) else (made, {})
        if bundle is None:
            return None
        return {**bundle, "text/html": self.summary}, metadata


def _spot(item: str, spot: dict[str, Any] | None, window: Any) -> dict[str, Any] | None:
    kept = {name: value for name, value in (spot or {}).items() if name != "window"}
    if window is None:
        return kept if len(kept) > 1 else None
    start, end = (int(moment) for moment in window)
    if not 0 <= start < end:
        raise MisuseError(
            f"{window} is no time range", "a window is (start, end) in nanoseconds since the first record"
        )
    return {"item": item, **kept, "window": [start, end]}
