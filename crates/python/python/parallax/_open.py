"""What is open: experiments and ensembles."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
import os
import warnings
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar, cast

from . import _interop
from ._answers import Answer, Record, parse
from ._errors import MisuseError, MissingLibraryError, OpenError, ParallaxWarning
from ._native import Engine
from ._progress import progress
from ._questions import EnsembleQuestions, ExperimentQuestions
from ._stream import TableStream
from ._table import Table
from ._tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from . import _native
    from ._progress import Progress

    Path = str | os.PathLike[str]
    Made = tuple[tuple[str, ...], dict[str, Any], int]

T = TypeVar("T")

_SHOWN_EXPERIMENTS = 20

_engine: Engine | None = None


def _the_engine() -> Engine:
    global _engine
    if _engine is None:
        _engine = Engine()
    return _engine


def _told(call: Callable[[Progress | None], T]) -> T:
    """Calls with what tells about progress, and ends its line."""
    tell = progress()
    try:
        return call(tell)
    finally:
        end = getattr(tell, "end", None)
        if end is not None:
            end()


def _json(value: Any) -> Any:
    """What JSON has no words for: sequences that are no lists, paths, and what is open."""
    if isinstance(value, _Item):
        return value._key
    if isinstance(value, os.PathLike):
        return os.fspath(cast("os.PathLike[str]", value))
    if hasattr(value, "tolist"):
        return value.tolist()
    try:
        return list(value)
    except TypeError:
        raise MisuseError(f"{value!r} is no value of a request") from None


def _without_none(fields: dict[str, Any], keep: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields that do not have their default, which is what `None` stands for."""
    return {
        name: _without_none(cast("dict[str, Any]", value)) if isinstance(value, dict) else value
        for name, value in fields.items()
        if value is not None or name in keep
    }


class _Item:
    """Something that is open; it is closed when nothing refers to it any more."""

    __slots__ = ("__weakref__", "_about", "_made", "_native", "notes")

    notes: list[str]
    """Notes and warnings about what was opened: which files were not used, and why."""

    def __init__(
        self, native: _native.Item, about: Record, made: Made | None, notes: list[str]
    ) -> None:
        self._native = native
        self._about = about
        self._made = made
        self.notes = notes

    @property
    def _key(self) -> str:
        return self._native.key

    @property
    def title(self) -> str:
        """Name of the program."""
        return self._about["title"]

    @property
    def path(self) -> str:
        """Where it is from."""
        return self._about["name"]

    @property
    def format(self) -> str:
        """The format it was read from, with its version."""
        return self._about["format"]

    @property
    def size_bytes(self) -> int:
        """Length of its files together, in bytes."""
        return self._about["size_bytes"]

    def ask(self, question: str, /, **fields: Any) -> Answer:
        """Asks a question by its name, with the fields of its request.

        Every question is a method as well, with its fields explained; this is for programs that
        choose the question when they run.
        """
        return self._ask(question, fields, tuple(fields))

    def _ask(self, _name: str, _fields: dict[str, Any], _keep: tuple[str, ...] = ()) -> Any:
        request = self._request(_name, _fields, _keep)
        reply, tables, _ = _told(lambda tell: _the_engine().ask(request, tell))
        return Answer.of(_name, reply, tables)

    def _request(self, name: str, fields: dict[str, Any], keep: tuple[str, ...] = ()) -> str:
        fields = _without_none(fields, keep)
        if "new" in fields and isinstance(fields["new"], _Item):
            fields["old"] = self._key
        else:
            fields["item"] = self._key
        return json.dumps({"ask": name, "with": fields}, default=_json)

    def _engine(self) -> Engine:
        return _the_engine()

    def sql(
        self,
        statement: str,
        /,
        *,
        memory_limit: int | str | None = None,
        time_limit: float | None = None,
    ) -> Table:
        """What a statement in SQL gives; it reads the part of the files that it needs.

        Tables and functions: ``SHOW TABLES``, ``SELECT * FROM table_functions``, and docs/sql.md.

        Parameters
        ----------
        statement
            One statement that only reads.
        memory_limit
            Memory for sorting, grouping and joining, in bytes or as ``2GB``; beyond it these go to
            temporary files. Default: no limit.
        time_limit
            Seconds after which the statement is stopped. Default: no limit.

        Raises
        ------
        MissingLibraryError
            When the package was built without SQL.
        MisuseError
            When the statement is wrong, or would not only read.
        ReadError
            When data cannot be read, or the statement exceeds a limit.

        Examples
        --------
        >>> experiment.sql("SELECT name, depth FROM contexts LIMIT 5").to_pandas()
        >>> ensemble.sql("SELECT cores, avg(time) FROM runs WHERE region_id = 0 GROUP BY cores")
        """
        engine = _the_engine()
        if not hasattr(engine, "sql"):
            raise MissingLibraryError(
                "this package was built without SQL",
                "build it with `maturin build --release --features sql`, or ask questions and give "
                "their tables to DuckDB",
            )
        memory = f"{memory_limit}B" if isinstance(memory_limit, int) else memory_limit
        table, notes = _told(
            lambda tell: engine.sql(self._native, statement, memory, time_limit, tell)
        )
        for note in notes:
            warnings.warn(note, ParallaxWarning, stacklevel=2)
        return Table(table)

    def view(self, view: str = "", /, *, height: int = 640) -> Any:
        """The page of Parallax in a notebook, as a widget; needs anywidget.

        Its server is the tool ``parallax open``, on this machine only.

        Parameters
        ----------
        view
            The view to show alone, such as ``timeline``; default: the page as it opens.
        height
            Height in pixels.

        Returns
        -------
        parallax.widget.View
            A widget whose ``selection`` (a context id) and ``window`` (start and end in nanoseconds
            since the first record of the trace) can be read, set and linked.

        Examples
        --------
        >>> view = experiment.view("timeline")
        """
        if self._made is None:
            raise MisuseError(
                "what was combined or converted has no path", "open the paths together: parallax.open"
            )
        from .widget import View

        return View(cast("Any", self), self._made[0], view, height)

    def __reduce__(self) -> Any:
        if self._made is None:
            what = "what was combined or converted has no path, and cannot be pickled"
            raise TypeError(f"{what}; pickle the experiments that it was made of")
        return (_reopened, self._made)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title!r}: {self.format}, {self.path}>"

    def _repr_html_(self) -> str:
        rows = {
            "format": self.format,
            "path": self.path,
            "size": f"{self.size_bytes / 1e6:,.1f} MB",
            "issues": self._about["issues"],
        }
        cells = "".join(
            f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>"
            f"{escape(str(value))}</td></tr>"
            for name, value in rows.items()
        )
        head = f"<b>{type(self).__name__}</b> {escape(self.title)}"
        return f"<div>{head}<table>{cells}</table></div>"


class Experiment(_Item, ExperimentQuestions):
    """One execution of a program, as a tool measured it.

    Each question is a method. It reads only the values that it needs.
    """

    __slots__ = ("_tree",)

    def __init__(
        self, native: _native.Item, about: Record, made: Made | None, notes: list[str]
    ) -> None:
        super().__init__(native, about, made, notes)
        self._tree: Tree | None = None

    @property
    def has_trace(self) -> bool:
        """Whether it has a trace, so that there is a timeline."""
        return self._about["has_trace"]

    @property
    def has_activations(self) -> bool:
        """Whether it has all call instances, with the data they read and write."""
        return self._about["has_activations"]

    @property
    def has_user_events(self) -> bool:
        """Whether it has user events."""
        return self._about["has_user_events"]

    @property
    def has_gpu_stalls(self) -> bool:
        """Whether instructions of GPUs were sampled."""
        return self._about["has_gpu_stalls"]

    @property
    def tree(self) -> Tree:
        """The calling context tree, with inclusive and exclusive values of the metric that says
        most about time."""
        if self._tree is None:
            self._tree = Tree(self, self.tree_table())
        return self._tree

    def stream(
        self, question: str = "query", /, *, profiles_per_part: int = 256, **fields: Any
    ) -> TableStream:
        """The rows of ``query`` or ``trace`` in parts, for what is larger than memory.

        Each part is asked when a reader comes to it.

        Parameters
        ----------
        question
            ``query`` or ``trace``.
        profiles_per_part
            How many profiles a part has.
        fields
            Those of the question.

        Examples
        --------
        >>> values = experiment.stream(metrics="realtime (i)", is_raw=True)
        >>> duckdb.sql("select profile_id, sum(value) from values group by 1")
        """
        return TableStream.of(self, question, fields, profiles_per_part)

    def to_hatchet(self, *, by_location: bool = False, **choice: Any) -> Any:
        """The calling context tree as a ``hatchet.GraphFrame``.

        A metric ``M`` has the columns ``M`` (exclusive) and ``M (inc)``, in the unit that
        ``metadata["units"]`` says.

        Parameters
        ----------
        by_location
            Whether rows are indexed by rank and thread, too; else they are sums.
        choice
            The fields of :meth:`tree_table`: metrics, profiles, what to exclude.

        Examples
        --------
        >>> frame = experiment.to_hatchet(mpi=True, below_percent=1)
        >>> print(frame.tree())
        """
        return _interop.to_hatchet(self, by_location, choice)

    def to_thicket(self, *, by_iteration: bool = False, **choice: Any) -> Any:
        """The experiment as a ``thicket.Thicket`` of one profile.

        Parameters
        ----------
        by_iteration
            Whether rows are indexed by node, profile and iteration instead: the exclusive time of
            each context at each location in each iteration, from the trace. Profiles are locations.
        choice
            The fields of :meth:`tree_table`; by iteration those of :meth:`iterations`.

        Examples
        --------
        >>> experiment.to_thicket(by_iteration=True).dataframe
        """
        if by_iteration:
            return _interop.to_thicket_of_iterations(self, choice)
        return _interop.to_thicket([self], [{}], choice)


class Ensemble(_Item, EnsembleQuestions):
    """Several experiments with the parameters in which they differ."""

    __slots__ = ("experiments",)

    experiments: list[Experiment]
    """The experiments that it was made of; none where its files hold several each."""

    def __init__(
        self,
        native: _native.Item,
        about: Record,
        made: Made | None,
        notes: list[str],
        experiments: list[Experiment],
    ) -> None:
        super().__init__(native, about, made, notes)
        self.experiments = experiments

    @classmethod
    def of(cls, items: Sequence[Experiment | Ensemble], /, **options: Any) -> Ensemble:
        """Makes one ensemble of what is open: experiments, or ensembles of measurements.

        ``options`` are those of :func:`open`.
        """
        fields = {"items": [item._key for item in items], "ensemble": _options(options)}
        request = json.dumps({"ask": "combine", "with": fields}, default=_json)
        text, _, natives = _told(lambda tell: _the_engine().ask(request, tell))
        reply = parse(text)
        members = [item for item in items if isinstance(item, Experiment)]
        return cls(natives[0], reply["items"][0], None, reply["notes"], members)

    def to_thicket(self, **choice: Any) -> Any:
        """A ``thicket.Thicket`` with a profile for each experiment; parameters are its metadata.

        Parameters
        ----------
        choice
            The fields of :meth:`Experiment.tree_table`: metrics, profiles, what to exclude.

        Examples
        --------
        >>> ensemble.to_thicket(mpi=True).metadata
        """
        if not self.experiments:
            raise MisuseError("the ensemble has measurements and no experiments")
        return _interop.to_thicket(self.experiments, self._facts(), choice)

    def to_extrap(self, *, metric: str | None = None, statistic: str = "median") -> Any:
        """The measurements as an ``extrap.entities.experiment.Experiment`` without models.

        Parameters
        ----------
        metric
            The metric; default: that of time.
        statistic
            Statistic over repetitions: ``median``, ``mean``, ``min`` and others.

        Examples
        --------
        >>> ensemble.to_extrap().parameters
        """
        return _interop.to_extrap(self, metric, statistic)

    def _facts(self) -> list[dict[str, Any]]:
        """What is known of each experiment: the ranks and threads that it has."""
        return [
            {"locations": experiment.info().reply["locations"]} for experiment in self.experiments
        ]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(one.title)}</td>"
            f"<td style='text-align:left'>{escape(one.format)}</td>"
            f"<td style='text-align:left'>{escape(one.path)}</td></tr>"
            for one in self.experiments[:_SHOWN_EXPERIMENTS]
        )
        more = len(self.experiments) - _SHOWN_EXPERIMENTS
        foot = f"<p>… {more} more experiments</p>" if more > 0 else ""
        return f"{super()._repr_html_()}<table>{rows}</table>{foot}" if rows else super()._repr_html_()

    def __iter__(self) -> Iterator[Experiment]:
        return iter(self.experiments)

    def __len__(self) -> int:
        return len(self.experiments)


_OPTIONS = (
    "parameters",
    "metric",
    "profiles",
    "over",
    "detail",
    "library_frames",
    "region_time",
)


def _options(options: dict[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in _OPTIONS:
            known = ", ".join(_OPTIONS)
            raise MisuseError(f"there is no option `{name}` for ensembles", f"there are {known}")
    return _without_none(options)


def open_all(
    paths: Path | Sequence[Path],
    /,
    **options: Any,
) -> list[Experiment | Ensemble]:
    """Opens everything that paths hold, ensembles first.

    ``options`` are those of :func:`open`. What cannot be opened is a :class:`ParallaxWarning`, as
    long as something can.
    """
    single = isinstance(paths, (str, os.PathLike))
    names = tuple(os.fspath(path) for path in ([paths] if single else paths))
    ensemble = _options(options)
    text, natives = _told(
        lambda tell: _the_engine().open(names, json.dumps(ensemble, default=_json), tell)
    )
    reply = parse(text)
    for error in reply["errors"]:
        warnings.warn(error["message"], ParallaxWarning, stacklevel=3)
    notes = [*reply["notes"], *(f"{one['path']} {one['reason']}" for one in reply["excluded"])]
    experiments: dict[str, Experiment] = {}
    opened: list[Experiment | Ensemble] = []
    made = [(names, ensemble, at) for at in range(len(natives))]
    listed = list(zip(natives, reply["items"], made, strict=True))
    for native, about, how in listed:
        if about["kind"] == "experiment":
            experiments[native.key] = Experiment(native, about, how, notes)
    for native, about, how in listed:
        if about["kind"] == "experiment":
            opened.append(experiments[native.key])
        else:
            members = [experiments[key] for key in about["members"] if key in experiments]
            opened.append(Ensemble(native, about, how, notes, members))
    return opened


def open(
    paths: Path | Sequence[Path],
    /,
    *,
    parameters: Sequence[str] | None = None,
    metric: str | None = None,
    profiles: str | None = None,
    over: str | None = None,
    detail: str | None = None,
    library_frames: bool | None = None,
    region_time: str | None = None,
) -> Experiment | Ensemble:
    """Opens what paths hold: one experiment, or an ensemble of several.

    A path is a file or a folder of any format that Parallax reads. Opening reads the metadata;
    values are read when a question asks for them. Traces are converted once, into the cache.

    Parameters
    ----------
    paths
        A path, or several whose experiments belong together.
    parameters
        Of an ensemble: where its parameters come from, such as ``cores=ranks``.
    metric
        Of an ensemble: the metric used as time; default: elapsed time where it is known.
    profiles
        Of an ensemble: the locations; default: the first thread of each rank.
    over
        Of an ensemble: how locations become one number: ``max``, ``mean``, ``sum``.
    detail
        Of an ensemble: which contexts become regions: ``functions``, ``loops``, ``lines``.
    library_frames
        Of an ensemble: regions for what system and MPI libraries call inside, too.
    region_time
        Of an ensemble: how the entries of a region become one time: ``union``, ``sum``, ``span``,
        ``thread-max``.

    Raises
    ------
    OpenError
        When the paths hold nothing that can be opened, or several things that do not belong
        together; :func:`open_all` opens all of them.

    Examples
    --------
    >>> experiment = parallax.open("hpctoolkit-database")
    >>> ensemble = parallax.open(["run-1", "run-2", "run-4", "run-8"])
    """
    opened = open_all(
        paths,
        parameters=parameters,
        metric=metric,
        profiles=profiles,
        over=over,
        detail=detail,
        library_frames=library_frames,
        region_time=region_time,
    )
    ensembles = [item for item in opened if isinstance(item, Ensemble)]
    inside = {id(member) for ensemble in ensembles for member in ensemble.experiments}
    outside = [item for item in opened if id(item) not in inside]
    if len(outside) != 1:
        names = ", ".join(item.path for item in outside[:5])
        more = "" if len(outside) <= 5 else f" and {len(outside) - 5} more"
        raise OpenError(
            f"there are {len(outside)} experiments and ensembles that do not belong together: "
            f"{names}{more}",
            "name one of them; parallax.open_all opens all",
        )
    return outside[0]


def _reopened(paths: tuple[str, ...], ensemble: dict[str, Any], at: int) -> Experiment | Ensemble:
    """What a pickle stands for: the same paths, opened again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ParallaxWarning)
        return open_all(paths, **ensemble)[at]


def from_hatchet(
    frame: Any, /, *, metrics: Sequence[str] | None = None, seconds: float = 1.0
) -> Experiment:
    """Opens a ``hatchet.GraphFrame``, so that every question can be asked about it.

    A metric without exclusive values gets them from the inclusive ones, and the other way round.

    Parameters
    ----------
    frame
        A frame by node, or by node, rank and thread.
    metrics
        Names without `` (inc)``; default: all.
    seconds
        How many seconds a unit of its times has: 1e-6 for microseconds.

    Examples
    --------
    >>> experiment = parallax.from_hatchet(hatchet.GraphFrame.from_caliper("run.cali"))
    """
    return _interop.from_hatchet(frame, metrics, seconds)


def from_extrap(experiment: Any, /) -> Ensemble:
    """Opens an ``extrap.entities.experiment.Experiment``: its measurements as an ensemble.

    Examples
    --------
    >>> parallax.from_extrap(extrap_experiment).models()
    """
    return _interop.from_extrap(experiment)
