"""The calling context tree as objects."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, cast, overload

from ._errors import MisuseError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._open import Experiment
    from ._table import Table
    from .types import QueryAnswer, TreeTableAnswer

_NO_PARENT = 2**32 - 1
_SHOWN_LINES = 40


class Tree:
    """Contexts in which something was measured, each after what called or encloses it.

    >>> tree = experiment.tree
    >>> [child.name for child in tree.roots]
    >>> hot = max(tree, key=lambda context: context.exclusive or 0)
    """

    __slots__ = ("_children", "_columns", "_rows", "experiment", "metric", "table", "unit")

    def __init__(self, experiment: Experiment, answer: TreeTableAnswer) -> None:
        self.experiment = experiment
        cost = answer.reply["costs"][0]
        self.metric: str = cost["metric"]
        """What the values count."""
        self.unit: str = cost["unit"]
        """Unit symbol of the values."""
        self.table: Table = answer.rows
        """The same as a table, one row for each context."""
        self._columns: dict[str, list[Any]] = {}
        self._children: list[list[int]] | None = None
        self._rows: dict[int, int] | None = None

    def column(self, name: str) -> list[Any]:
        """The values of a column of the table, which are kept."""
        if name not in self._columns:
            self._columns[name] = self.table[name]
        return self._columns[name]

    def _children_of(self, row: int) -> list[int]:
        if self._children is None:
            children: list[list[int]] = [[] for _ in range(len(self) + 1)]
            for child, parent in enumerate(self.column("parent")):
                children[len(self) if parent == _NO_PARENT else parent].append(child)
            self._children = children
        return self._children[row]

    @property
    def roots(self) -> list[Context]:
        """The contexts at the top."""
        return [Context(self, row) for row in self._children_of(len(self))]

    def __len__(self) -> int:
        return self.table.num_rows

    def __iter__(self) -> Iterator[Context]:
        return (Context(self, row) for row in range(len(self)))

    @overload
    def __getitem__(self, key: int) -> Context: ...
    @overload
    def __getitem__(self, key: str) -> list[Context]: ...
    def __getitem__(self, key: int | str) -> Context | list[Context]:
        """The context with an id of the database, or those that an expression chooses.

        >>> experiment.tree["function(MPI_*)"]
        """
        return self.find(key) if isinstance(key, str) else self._of_id(key)

    def _of_id(self, context_id: int) -> Context:
        if self._rows is None:
            self._rows = {id_: row for row, id_ in enumerate(self.column("context_id"))}
        if context_id not in self._rows:
            raise KeyError(context_id)
        return Context(self, self._rows[context_id])

    def __contains__(self, context_id: object) -> bool:
        try:
            self._of_id(context_id)  # type: ignore[arg-type]
        except KeyError:
            return False
        return True

    def find(self, expression: str) -> list[Context]:
        """The contexts that an expression chooses, in the order of their ids.

        Only those in which something was measured are in the tree.

        >>> experiment.tree.find("function(MPI_*)")
        """
        # The summary has what any profile has, and is far smaller; not every source has one.
        for profiles in ("summary", None):
            rows = self.experiment.query(contexts=expression, profiles=profiles, is_raw=True).rows
            ids = sorted(set(cast("list[int]", rows["context_id"])))
            if ids:
                return [self._of_id(id_) for id_ in ids if id_ in self]
        return []

    def __reduce__(self) -> Any:
        if self.experiment._tree is not self:
            raise TypeError("only the tree of an experiment is pickled; pickle the experiment and ask again")
        return (_tree_of, (self.experiment,))

    def __repr__(self) -> str:
        contexts = list(self)[:_SHOWN_LINES]
        lines = [f"{self.metric}{f' ({self.unit})' if self.unit else ''}: inclusive, exclusive"]
        for context in contexts:
            name = "  " * context.depth + context.name
            lines.append(f"{context.inclusive or 0:12.6g} {context.exclusive or 0:12.6g}  {name}")
        if len(self) > len(contexts):
            lines.append(f"… {len(self) - len(contexts)} more contexts")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


class Context:
    """A node of the calling context tree."""

    __slots__ = ("_row", "tree")

    def __init__(self, tree: Tree, row: int) -> None:
        self.tree = tree
        """The tree that it is in."""
        self._row = row

    def _value(self, column: str) -> Any:
        return self.tree.column(column)[self._row]

    @property
    def id(self) -> int:
        """Its id in the database."""
        return self._value("context_id")

    @property
    def name(self) -> str:
        """What it is called."""
        return self._value("name") or ""

    @property
    def kind(self) -> str:
        """What it is: ``function``, ``loop``, ``line`` and others."""
        return self._value("kind") or ""

    @property
    def depth(self) -> int:
        """Levels below the top."""
        return self._value("depth")

    @property
    def file(self) -> str:
        """Path of the file in which a line or loop lies, or from which a function is called."""
        return self._value("file") or ""

    @property
    def line(self) -> int:
        """Line in that file; 0 when unknown."""
        return self._value("line")

    @property
    def module(self) -> str:
        """Path of the executable or library."""
        return self._value("module") or ""

    @property
    def inclusive(self) -> float | None:
        """Value with everything below, over all locations."""
        return self._value("inclusive:0")

    @property
    def exclusive(self) -> float | None:
        """Value of its own code, over all locations."""
        return self._value("exclusive:0")

    @property
    def parent(self) -> Context | None:
        """What called or encloses it; none at the top."""
        row = self._value("parent")
        return None if row == _NO_PARENT else Context(self.tree, row)

    @property
    def children(self) -> list[Context]:
        """What it calls or encloses, from the most expensive."""
        return [Context(self.tree, row) for row in self.tree._children_of(self._row)]

    @property
    def ancestors(self) -> list[Context]:
        """From the top down to its parent."""
        above: list[Context] = []
        context = self.parent
        while context is not None:
            above.append(context)
            context = context.parent
        return above[::-1]

    @property
    def path(self) -> list[str]:
        """The names from the top down to itself."""
        return [*(context.name for context in self.ancestors), self.name]

    def walk(self) -> Iterator[Context]:
        """Itself and everything below, each before what it calls."""
        rest: list[Context] = [self]
        while rest:
            context = rest.pop()
            yield context
            rest.extend(reversed(context.children))

    def find(self, expression: str) -> list[Context]:
        """Those below it, and itself, that an expression chooses.

        >>> experiment.tree["function(solve)"][0].find("function(MPI_*)")
        """
        return self.tree.find(f"subtree({self.expression}) & ({expression})")

    @property
    def expression(self) -> str:
        """The context expression that chooses it."""
        return f"context({self.id})"

    def query(self, *, profiles: str | None = None, metrics: str | None = None) -> QueryAnswer:
        """Its values as stored; see :meth:`Experiment.query`."""
        return self.tree.experiment.query(
            contexts=self.expression, profiles=profiles, metrics=metrics
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Context):
            return NotImplemented
        return (self.tree, self._row) == (other.tree, other._row)

    def __hash__(self) -> int:
        return hash((id(self.tree), self._row))

    def __reduce__(self) -> Any:
        return (_context_of, (self.tree, self.id))

    def __lt__(self, other: object) -> bool:
        raise MisuseError("contexts have no order", "compare their values")

    def __repr__(self) -> str:
        return f"<Context {self.id}: {' > '.join(self.path[-3:])}>"

    def _repr_html_(self) -> str:
        unit = f" {escape(self.tree.unit)}" if self.tree.unit else ""
        values = {"inclusive": self.inclusive, "exclusive": self.exclusive}
        cells = "".join(
            f"<td>{name} {value:.6g}{unit}</td>" for name, value in values.items() if value is not None
        )
        path = " › ".join(escape(name) for name in self.path[:-1])
        return (
            f"<div title='{path}'><b>{escape(self.name)}</b> ({escape(self.kind)}, context {self.id})"
            f"<table><tr>{cells}</tr></table></div>"
        )


def _tree_of(experiment: Experiment) -> Tree:
    return experiment.tree


def _context_of(tree: Tree, id_: int) -> Context:
    return tree[id_]
