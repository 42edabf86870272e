# Generated from crates/protocol by `cargo xtask bless`. Do not edit.
"""Every question that can be asked, as a method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._open import Ensemble, Experiment
    from .types import (
        AdviseAnswer,
        AdviseBy,
        AnomaliesAnswer,
        BalanceAnswer,
        BalanceBy,
        CallersAnswer,
        CallsAnswer,
        ClusterMethod,
        ClustersAnswer,
        CompareAnswer,
        CoreOrder,
        CorrelationBy,
        CorrelationOrder,
        CorrelationPointsAnswer,
        CorrelationsAnswer,
        CorrelationsRequest,
        CounterBinsAnswer,
        CriticalPathAnswer,
        CriticalPathBy,
        CurveChoice,
        DifferencesAnswer,
        DifferencesBy,
        DistributionAnswer,
        EntitiesAnswer,
        EntityKind,
        FindAnswer,
        FindOrder,
        FlatAnswer,
        FlatBy,
        GpuStallsAnswer,
        GpuStallsBy,
        IdlenessAnswer,
        IdlenessSource,
        InfoAnswer,
        IssuesAnswer,
        IterationCells,
        IterationsAnswer,
        LanesAnswer,
        LinesAnswer,
        LinkBinsAnswer,
        LinksAnswer,
        LocationsAnswer,
        LoopsAnswer,
        MarkersAnswer,
        MessagesAnswer,
        MessagesBy,
        MetricsAnswer,
        ModelSearch,
        ModelsAnswer,
        NodeNames,
        OverLocations,
        OverTimeAnswer,
        OverTimeBy,
        OverTimeWhat,
        PathAtAnswer,
        QueryAnswer,
        ReferencesAnswer,
        RelatedAnswer,
        Relation,
        RepetitionStatistic,
        ReportAnswer,
        ScalingAnswer,
        ScalingBaseline,
        ScalingTableAnswer,
        ScalingTableKind,
        SharedAnswer,
        SourceAnswer,
        SourceFilesAnswer,
        StacksAnswer,
        StatsAnswer,
        StatsBy,
        TextFile,
        TileAnswer,
        TimelineAnswer,
        TimelineBy,
        TopologyAnswer,
        TraceAnswer,
        TraceBy,
        TraceGroupsAnswer,
        TrackSpan,
        TreeTableAnswer,
        UserEventLocationsAnswer,
        UserEventsAnswer,
        WaitsAnswer,
        WaitsBy,
        WaitsKind,
        WorkflowAnswer,
    )


class ItemQuestions:
    """Questions about anything that is open."""

    __slots__ = ()

    def _ask(self, _name: str, _fields: dict[str, Any], _keep: tuple[str, ...] = ()) -> Any:
        raise NotImplementedError

    def issues(
        self,
    ) -> IssuesAnswer:
        """What was repaired, dropped or guessed.

        Returns
        -------
        IssuesAnswer
            The reply.

        Examples
        --------
        >>> answer = experiment.issues()
        """
        return self._ask("issues", {})


class ExperimentQuestions(ItemQuestions):
    """Questions about one experiment."""

    __slots__ = ()

    def info(
        self,
    ) -> InfoAnswer:
        """What an experiment is.

        Returns
        -------
        InfoAnswer
            The reply and the tables:

        metrics : Table
            Metrics, in the order of the source, those that are computed from others last.
            - ``metric`` (string):
                Name of the metric.
            - ``unit`` (string):
                Unit of its values.
            - ``total`` (f64 in the unit of `unit`, may be null):
                Inclusive sum over all locations for the whole execution.
            - ``scopes`` (string):
                Scopes stored for each location.
            - ``statistics`` (string):
                Statistics stored in the summary.
            - ``description`` (string):
                Description by the source.
            - ``formula`` (string, may be null):
                Formula of a metric that is computed from others.

        components : Table
            Components of a workflow; none where there is one application.
            - ``component`` (string):
                Name of the application.
            - ``application`` (u64):
                Its number, as in the identity of locations.
            - ``ranks`` (u64):
                How many.
            - ``first_rank`` (u64):
                What its ranks are counted from in the one space of ranks of all components.
            - ``locations`` (u64):
                How many.
            - ``start_s`` (f64 in s, may be null):
                Seconds since the first component began.
            - ``end_s`` (f64 in s, may be null):
                Seconds since the first component began.
            - ``shift_s`` (f64 in s, in some answers):
                Seconds that were added to the times of its own clock, where a clock was
                shifted.
            - ``depends_on`` (string):
                The components that it takes data from.

        component_facts : Table
            What the source says about each component as a whole; no rows where there is one
            application.
            - ``fact`` (string):
                What it is, in the source's words: `Hostname`, `TAU_THROTTLE`.
            - ``values (columns)``:
                One column for each component, by its name; null where nothing is said, and
                where its processes differ.

        processes : Table
            Processes, where the source says something that differs between them.
            - ``component`` (string, in some answers):
                Name of the component.
            - ``process`` (string):
                Display name of the process.
            - ``rank`` (u64, may be null):
                Rank; null where it has none.
            - ``threads`` (u64):
                Number of its locations: threads and streams.
            - ``host`` (string, may be null):
                Name of its host; null where that is not known.
            - ``cpu`` (string, may be null):
                Processor; null where that is not known.
            - ``start_s`` (f64 in s, may be null):
                When it was started, since the first process was; null where that is not known.
            - ``pid`` (string, may be null):
                Number of the process; null where that is not known.
            - ``command`` (string, may be null):
                Command line, else executable; null where that is not known.
            - ``facts (columns)``:
                One column for each other fact that differs between the processes of a
                component, by its name; null where nothing is said.

        Examples
        --------
        >>> answer = experiment.info()
        >>> answer.metrics.to_pandas()
        """
        return self._ask("info", {})

    def locations(
        self,
        *,
        profiles: str | None = None,
    ) -> LocationsAnswer:
        """Profiles with the parts of their identity: node, rank, thread, core, GPU, context and
        stream.

        Parameters
        ----------
        profiles : str, optional
            A profile expression; null for all locations.

        Returns
        -------
        LocationsAnswer
            The reply and the tables:

        rows : Table
            Locations with their identity: by application, node, rank, thread, GPU and stream.
            - ``profile_id`` (u32):
                Profile number in the database.
            - ``location`` (string):
                What it is called.
            - ``role`` (string):
                `application`, or `helper thread` of MPI, the network, a driver or the
                measurement.
            - ``identities (columns)``:
                One column for each kind of identity that any location has.
            - ``values`` (u64):
                Number of values in the profile.
            - ``samples`` (u64):
                Number of samples or calls in the trace.

        Examples
        --------
        >>> answer = experiment.locations()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "locations",
            {
                "profiles": profiles,
            },
        )

    def metrics(
        self,
    ) -> MetricsAnswer:
        """The metrics of an experiment.

        Returns
        -------
        MetricsAnswer
            The reply.

        Examples
        --------
        >>> answer = experiment.metrics()
        """
        return self._ask("metrics", {})

    def report(
        self,
        *,
        metric: str | None = None,
    ) -> ReportAnswer:
        """What bounds the program: the findings of all analyses, and where the cost is.

        Parameters
        ----------
        metric : str, optional
            A metric expression; null for the metric that says most about time.

        Returns
        -------
        ReportAnswer
            The reply and the tables:

        categories : Table
            Classes, group after group, the most expensive first; helper threads last.
            - ``group`` (string):
                Group of classes.
            - ``class`` (string):
                Class.
            - ``cost`` (f64 in the unit of the metric):
                Cost of the class; classes add up to the total.
            - ``percent`` (f64 in %, may be null):
                Share of the program's total, without helper threads.
            - ``contexts`` (u64):
                Number of outermost contexts of the class.

        routines : Table
            Functions by which classes begin, from the most expensive.
            - ``routine`` (string):
                Normalised name.
            - ``group`` (string):
                Group of classes.
            - ``class`` (string):
                Class.
            - ``cost`` (f64 in the unit of the metric):
                Cost at outermost contexts.
            - ``percent`` (f64 in %, may be null):
                Share of the program's cost.
            - ``contexts`` (u64):
                Number of contexts where it is called.

        functions : Table
            Functions with the highest exclusive cost.
            - ``function`` (string):
                Name.
            - ``module`` (string):
                Where its code is.
            - ``exclusive`` (f64 in the unit of the metric):
                Cost of the function itself; of MPI routines with their internals.
            - ``percent`` (f64 in %, may be null):
                Exclusive share of the program's cost.
            - ``inclusive`` (f64 in the unit of the metric):
                Cost with everything below, outermost activations only.
            - ``contexts`` (u32):
                Number of contexts of the function.

        gpu : Table
            Metrics of GPUs that have values.
            - ``what`` (string):
                What is measured.
            - ``metric`` (string):
                Name of the metric.
            - ``value`` (f64 in the unit of `unit`):
                Sum over all locations, in the unit of the next column.
            - ``unit`` (string):
                Unit of the value.
            - ``percent`` (f64 in %, may be null):
                Share of the time of all GPU operations.

        hot_path : Table
            The hot path, without the internals of MPI, lines and loops.
            - ``context_id`` (u32):
                Id of the context in the database.
            - ``context`` (string):
                What it is called.
            - ``inclusive`` (f64 in the unit of the metric):
                Cost with everything below.
            - ``percent`` (f64 in %, may be null):
                Share of the program's cost.

        metrics : Table
            Totals of metrics.
            - ``metric`` (string):
                Name.
            - ``total`` (f64 in the unit of `unit`, may be null):
                Sum over all locations, in the unit of the next column; undefined when a counter
                wrapped.
            - ``unit`` (string):
                Unit.

        Examples
        --------
        >>> answer = experiment.report()
        >>> answer.categories.to_pandas()
        """
        return self._ask(
            "report",
            {
                "metric": metric,
            },
        )

    def tree_table(
        self,
        *,
        metrics: Sequence[str] = (),
        profiles: str | None = None,
        is_trace: bool = False,
        window: str | None = None,
        helpers: bool = False,
        mpi: bool = False,
        openmp: bool = False,
        lines: bool = False,
        below_percent: float | None = None,
        hide: Sequence[str] = (),
        fold: Sequence[str] = (),
        cut: Sequence[str] = (),
    ) -> TreeTableAnswer:
        """The calling context tree with several metrics side by side.

        Parameters
        ----------
        metrics : Sequence[str], default ()
            Metric expressions, or formulas after `=`; none for the metric that says most about
            time.
        profiles : str, optional
            A profile expression; null for all locations.
        is_trace : bool, default False
            Count time in the traces instead of metrics.
        window : str, optional
            A time window of the traces; implies `is_trace`.
        helpers : bool, default False
            Include helper threads: those that MPI, networks or the measurement start for
            themselves.
        mpi : bool, default False
            What lies below calls of MPI.
        openmp : bool, default False
            Functions of OpenMP runtimes.
        lines : bool, default False
            Loops, lines and instructions.
        below_percent : float, optional
            Contexts below this share of the total, in per cent.
        hide : Sequence[str], default ()
            Functions whose own node is hidden; globs.
        fold : Sequence[str], default ()
            Functions below which everything is hidden; globs.
        cut : Sequence[str], default ()
            Functions that are hidden with everything below; globs.

        Returns
        -------
        TreeTableAnswer
            The reply and the tables:

        rows : Table
            Contexts that are kept and in which any of the metrics was measured, parents before
            their children and these from the most expensive by the first metric.
            - ``depth`` (u32):
                Levels below the top.
            - ``parent`` (u32):
                Row of the parent; 4294967295 at the top.
            - ``context_id`` (u32):
                Context id in the database.
            - ``kind`` (string, may be null):
                What the row is.
            - ``name`` (string, may be null):
                What it is called.
            - ``place`` (string, may be null):
                Where a function is defined, as file:line, and `throttled` where it was no
                longer timed, so that its costs are lower bounds; empty for everything else.
            - ``definition_file`` (string, may be null):
                Path of the file in which a function is defined.
            - ``definition_line`` (u32):
                Line in which a function is defined; 0 when unknown.
            - ``file`` (string, may be null):
                Path of the file in which a line or loop lies, or from which a function is
                called.
            - ``line`` (u32):
                Line in `file`; 0 when unknown.
            - ``module`` (string, may be null):
                Path of the executable or library.
            - ``costs (columns)``:
                For metric number K from 0 `inclusive:K` and `exclusive:K`: cost with everything
                below, and cost of its own code; null where a formula is undefined.

        Examples
        --------
        >>> answer = experiment.tree_table()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "tree_table",
            {
                "costs": {
                    "metrics": metrics,
                    "profiles": profiles,
                    "is_trace": is_trace,
                    "window": window,
                    "helpers": helpers,
                },
                "prune": {
                    "mpi": mpi,
                    "openmp": openmp,
                    "lines": lines,
                    "below_percent": below_percent,
                    "hide": hide,
                    "fold": fold,
                    "cut": cut,
                },
            },
        )

    def callers(
        self,
        *,
        metric: str | None = None,
        profiles: str | None = None,
        is_trace: bool = False,
        window: str | None = None,
        helpers: bool = False,
        mpi: bool = False,
        openmp: bool = False,
        lines: bool = False,
        below_percent: float | None = None,
        hide: Sequence[str] = (),
        fold: Sequence[str] = (),
        cut: Sequence[str] = (),
        from_: str | None = None,
        function: str | None = None,
        matching: str | None = None,
        max_depth: int | None = None,
        max_rows: int | None = None,
    ) -> CallersAnswer:
        """Functions by their exclusive cost, and their callers.

        Parameters
        ----------
        metric : str, optional
            A metric expression, or a formula after `=`; null for the metric that says most
            about time.
        profiles : str, optional
            A profile expression; null for all locations.
        is_trace : bool, default False
            Count time in the traces instead of a metric.
        window : str, optional
            A time window of the traces; implies `is_trace`.
        helpers : bool, default False
            Include helper threads: those that MPI, networks or the measurement start for
            themselves.
        mpi : bool, default False
            What lies below calls of MPI.
        openmp : bool, default False
            Functions of OpenMP runtimes.
        lines : bool, default False
            Loops, lines and instructions.
        below_percent : float, optional
            Contexts below this share of the total, in per cent.
        hide : Sequence[str], default ()
            Functions whose own node is hidden; globs.
        fold : Sequence[str], default ()
            Functions below which everything is hidden; globs.
        cut : Sequence[str], default ()
            Functions that are hidden with everything below; globs.
        from_ : str, optional
            A context expression: only the contexts that it names and what lies below them; null
            for everything.
        function : str, optional
            Exact name of one function; null for all.
        matching : str, optional
            A glob of functions; null for all.
        max_depth : int, optional
            Callers in a chain at most; 0 for the functions alone, null for all.
        max_rows : int, optional
            Rows at most, the most expensive ones; null for as many as an answer may have.

        Returns
        -------
        CallersAnswer
            The reply and the tables:

        rows : Table
            A tree in the order it is read; `depth` and the order carry the shape.
            - ``depth`` (u32):
                Levels below the top.
            - ``parent`` (u32):
                Row of the parent; 4294967295 at the top.
            - ``context_id`` (u32):
                Context id in the database.
            - ``kind`` (string, may be null):
                What the row is.
            - ``name`` (string, may be null):
                What it is called.
            - ``place`` (string, may be null):
                Where a function is defined, and `throttled` where it was no longer timed, so
                that its costs are lower bounds.
            - ``module`` (string, may be null):
                The executable or library of the code.
            - ``offset`` (u64, may be null):
                Offset of an instruction in its module; null of other contexts.
            - ``inclusive`` (f64 in the unit of the metric):
                Cost with everything below, summed over the chosen locations.
            - ``exclusive`` (f64 in the unit of the metric):
                Cost of its own code, summed over the chosen locations.
            - ``inclusive_percent`` (f64 in %):
                Inclusive cost as a share of the whole execution.
            - ``exclusive_percent`` (f64 in %):
                Exclusive cost as a share of the whole execution.

        Examples
        --------
        >>> answer = experiment.callers()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "callers",
            {
                "cost": {
                    "metric": metric,
                    "profiles": profiles,
                    "is_trace": is_trace,
                    "window": window,
                    "helpers": helpers,
                },
                "prune": {
                    "mpi": mpi,
                    "openmp": openmp,
                    "lines": lines,
                    "below_percent": below_percent,
                    "hide": hide,
                    "fold": fold,
                    "cut": cut,
                },
                "from": from_,
                "function": function,
                "matching": matching,
                "max_depth": max_depth,
                "max_rows": max_rows,
            },
        )

    def flat(
        self,
        *,
        metric: str | None = None,
        profiles: str | None = None,
        is_trace: bool = False,
        window: str | None = None,
        helpers: bool = False,
        mpi: bool = False,
        openmp: bool = False,
        lines: bool = False,
        below_percent: float | None = None,
        hide: Sequence[str] = (),
        fold: Sequence[str] = (),
        cut: Sequence[str] = (),
        from_: str | None = None,
        by: FlatBy = "function",
    ) -> FlatAnswer:
        """Contexts grouped by what they are, wherever they are called from.

        Parameters
        ----------
        metric : str, optional
            A metric expression, or a formula after `=`; null for the metric that says most
            about time.
        profiles : str, optional
            A profile expression; null for all locations.
        is_trace : bool, default False
            Count time in the traces instead of a metric.
        window : str, optional
            A time window of the traces; implies `is_trace`.
        helpers : bool, default False
            Include helper threads: those that MPI, networks or the measurement start for
            themselves.
        mpi : bool, default False
            What lies below calls of MPI.
        openmp : bool, default False
            Functions of OpenMP runtimes.
        lines : bool, default False
            Loops, lines and instructions.
        below_percent : float, optional
            Contexts below this share of the total, in per cent.
        hide : Sequence[str], default ()
            Functions whose own node is hidden; globs.
        fold : Sequence[str], default ()
            Functions below which everything is hidden; globs.
        cut : Sequence[str], default ()
            Functions that are hidden with everything below; globs.
        from_ : str, optional
            A context expression: only the contexts that it names and what lies below them; null
            for everything.
        by : FlatBy, default "function"
            What to group by.

        Returns
        -------
        FlatAnswer
            The reply and the tables:

        rows : Table
            Groups, from the highest exclusive cost.
            - ``name`` (string):
                What the group is called.
            - ``place`` (string):
                Where it is; for functions also `throttled` where they were no longer timed, so
                that their costs are lower bounds.
            - ``exclusive`` (f64 in the unit of the metric):
                Cost of its own code, summed over the chosen locations.
            - ``inclusive`` (f64 in the unit of the metric):
                Cost with everything below; of nested contexts of a group only the outermost.
            - ``exclusive_percent`` (f64 in %):
                Exclusive cost as a share of the whole execution.
            - ``inclusive_percent`` (f64 in %):
                Inclusive cost as a share of the whole execution.
            - ``contexts`` (u32):
                Number of contexts in the group.

        Examples
        --------
        >>> answer = experiment.flat()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "flat",
            {
                "cost": {
                    "metric": metric,
                    "profiles": profiles,
                    "is_trace": is_trace,
                    "window": window,
                    "helpers": helpers,
                },
                "prune": {
                    "mpi": mpi,
                    "openmp": openmp,
                    "lines": lines,
                    "below_percent": below_percent,
                    "hide": hide,
                    "fold": fold,
                    "cut": cut,
                },
                "from": from_,
                "by": by,
            },
        )

    def distribution(
        self,
        *,
        context_id: int = 0,
        metric: str | None = None,
        profiles: str | None = None,
        is_exclusive: bool = False,
        by: BalanceBy = "profile",
        all_locations: bool = False,
        bins: int | None = None,
    ) -> DistributionAnswer:
        """One context's cost at every location, rank or node. Zeros are not stored: members
        without a value do not take part and are counted in a note, unless all are asked for.
        Then those that ran below the same entry count with 0; others, such as helper threads,
        are omitted.

        Parameters
        ----------
        context_id : int, default 0
            Context id in the database; 0 is the whole execution.
        metric : str, optional
            A metric expression, or a formula after `=`, which is evaluated for each member;
            null for the metric that says most about time.
        profiles : str, optional
            A profile expression; null for all locations.
        is_exclusive : bool, default False
            Cost of the context itself, without what lies below.
        by : BalanceBy, default "profile"
            What is compared.
        all_locations : bool, default False
            Members that ran, but have no value here, count with 0. With a formula they always
            do.
        bins : int, optional
            Bins of the histogram; null for as many as the values suggest.

        Returns
        -------
        DistributionAnswer
            The reply and the tables:

        rows : Table
            Members with the cost of the context.
            - ``location`` (u32):
                Profile number in the database; of a rank or node, of its first location.
            - ``label`` (string):
                What it is called.
            - ``identities (columns)``:
                One column for each kind of identity that members have in common.
            - ``value`` (f64 in the unit of the metric, may be null):
                Cost of the context there; null where a formula is undefined.

        Examples
        --------
        >>> answer = experiment.distribution()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "distribution",
            {
                "context_id": context_id,
                "metric": metric,
                "profiles": profiles,
                "is_exclusive": is_exclusive,
                "by": by,
                "all_locations": all_locations,
                "bins": bins,
            },
        )

    def source_files(
        self,
    ) -> SourceFilesAnswer:
        """Source files whose text came with the experiment.

        Returns
        -------
        SourceFilesAnswer
            The reply.

        Examples
        --------
        >>> answer = experiment.source_files()
        """
        return self._ask("source_files", {})

    def source(
        self,
        path: str,
        *,
        metrics: Sequence[str] = (),
        profiles: str | None = None,
        is_trace: bool = False,
        window: str | None = None,
        helpers: bool = False,
        contexts_per_line: int = 100,
    ) -> SourceAnswer:
        """A source file with the costs of its lines.

        Parameters
        ----------
        path : str
            Path, as contexts name it, or the end of one that no other file has.
        metrics : Sequence[str], default ()
            Metric expressions, or formulas after `=`; none for the metric that says most about
            time.
        profiles : str, optional
            A profile expression; null for all locations.
        is_trace : bool, default False
            Count time in the traces instead of metrics.
        window : str, optional
            A time window of the traces; implies `is_trace`.
        helpers : bool, default False
            Include helper threads: those that MPI, networks or the measurement start for
            themselves.
        contexts_per_line : int, default 100
            Contexts of each line that are listed at most.

        Returns
        -------
        SourceAnswer
            The reply and the tables:

        lines : Table
            Lines with a cost, ascending.
            - ``line`` (u32):
                Line in the file; 0 where only the file is known.
            - ``contexts`` (u32):
                Number of contexts in the line.
            - ``costs (columns)``:
                For metric number K from 0 `inclusive:K` and `exclusive:K`: cost of the line
                with the calls made there, of nested activations only the outermost, and cost of
                its own code; null where a formula is undefined.

        contexts : Table
            Contexts of lines, from the most expensive by the first metric.
            - ``line`` (u32):
                Line in the file.
            - ``context_id`` (u32):
                Context id in the database.

        Examples
        --------
        >>> answer = experiment.source(path)
        >>> answer.lines.to_pandas()
        """
        return self._ask(
            "source",
            {
                "path": path,
                "costs": {
                    "metrics": metrics,
                    "profiles": profiles,
                    "is_trace": is_trace,
                    "window": window,
                    "helpers": helpers,
                },
                "contexts_per_line": contexts_per_line,
            },
        )

    def query(
        self,
        *,
        profiles: str | None = None,
        contexts: str | None = None,
        metrics: str | None = None,
        mpi: bool = False,
        openmp: bool = False,
        lines: bool = False,
        below_percent: float | None = None,
        hide: Sequence[str] = (),
        fold: Sequence[str] = (),
        cut: Sequence[str] = (),
        is_raw: bool = False,
        with_elided: bool = False,
    ) -> QueryAnswer:
        """Values as stored, by expressions.

        Parameters
        ----------
        profiles : str, optional
            A profile expression; null for all profiles, the summary included.
        contexts : str, optional
            A context expression; null for all contexts of the tree.
        metrics : str, optional
            A metric expression; null for all.
        mpi : bool, default False
            What lies below calls of MPI.
        openmp : bool, default False
            Functions of OpenMP runtimes.
        lines : bool, default False
            Loops, lines and instructions.
        below_percent : float, optional
            Contexts below this share of the total, in per cent.
        hide : Sequence[str], default ()
            Functions whose own node is hidden; globs.
        fold : Sequence[str], default ()
            Functions below which everything is hidden; globs.
        cut : Sequence[str], default ()
            Functions that are hidden with everything below; globs.
        is_raw : bool, default False
            Omit the readable names.
        with_elided : bool, default False
            Also values of elided contexts, which the database keeps but the tree lacks; only
            without a context expression and without pruning.

        Returns
        -------
        QueryAnswer
            The reply and the tables:

        rows : Table
            Values, ascending by the three ids.
            - ``profile_id`` (u32):
                Profile number in the database; 0 is the summary.
            - ``context_id`` (u32):
                Context id in the database; 0 is the whole run.
            - ``metric_id`` (u16):
                Metric id in the database: of a statistic in the summary, of a scope elsewhere.
            - ``value`` (f64 in the unit of the metric):
                The value, in the unit of its metric.
            - ``location`` (string, in some answers):
                Where it was measured.
            - ``context`` (string, in some answers):
                What the context is called.
            - ``metric`` (string, in some answers):
                Metric and scope; statistic in the summary.
            - ``unit`` (string, in some answers):
                Unit of the value; absent where all have the same, which the column of values
                says.

        Examples
        --------
        >>> answer = experiment.query()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "query",
            {
                "profiles": profiles,
                "contexts": contexts,
                "metrics": metrics,
                "prune": {
                    "mpi": mpi,
                    "openmp": openmp,
                    "lines": lines,
                    "below_percent": below_percent,
                    "hide": hide,
                    "fold": fold,
                    "cut": cut,
                },
                "is_raw": is_raw,
                "with_elided": with_elided,
            },
        )

    def trace(
        self,
        *,
        profiles: str | None = None,
        window: str | None = None,
        is_raw: bool = False,
    ) -> TraceAnswer:
        """Samples of traces: which context was active when.

        Parameters
        ----------
        profiles : str, optional
            A profile expression; null for all locations.
        window : str, optional
            A time window; null for everything.
        is_raw : bool, default False
            Omit the readable names.

        Returns
        -------
        TraceAnswer
            The reply and the tables:

        rows : Table
            Samples, by location and time; the last sample of a location ends when it starts,
            because its duration is unknown.
            - ``profile_id`` (u32):
                Profile number in the database.
            - ``context_id`` (u32):
                Context id in the database; 0 while nothing ran.
            - ``start_ns`` (u64 in ns):
                Time of the sample, since the Unix epoch.
            - ``end_ns`` (u64 in ns):
                Time of the next sample of the same location.
            - ``location`` (string, in some answers):
                Where it was measured.
            - ``context`` (string, in some answers):
                What the context is called.

        Examples
        --------
        >>> answer = experiment.trace()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "trace",
            {
                "profiles": profiles,
                "window": window,
                "is_raw": is_raw,
            },
        )

    def trace_groups(
        self,
        *,
        profiles: str | None = None,
        window: str | None = None,
        by: TraceBy = "context",
        min_ns: int = 0,
    ) -> TraceGroupsAnswer:
        """Samples of traces by context, location or both: how many, and their durations. The
        answer is the same on every device, bit for bit: durations and their squares are added
        as whole numbers.

        Parameters
        ----------
        profiles : str, optional
            A profile expression; null for all locations.
        window : str, optional
            A time window, to which samples are cut; null for everything.
        by : TraceBy, default "context"
            Rows of the table.
        min_ns : int, default 0
            Only samples that last this many nanoseconds or longer.

        Returns
        -------
        TraceGroupsAnswer
            The reply and the tables:

        rows : Table
            One row for each group, the longest total first.
            - ``profile_id`` (u32, in some answers):
                Profile number in the database.
            - ``location`` (string, in some answers):
                Where it was measured.
            - ``context_id`` (u32, in some answers):
                Context id in the database; 0 while nothing ran.
            - ``context`` (string, in some answers):
                What the context is called.
            - ``samples`` (u64):
                Number of samples.
            - ``total_ns`` (u64 in ns):
                Sum of their durations.
            - ``mean_ns`` (f64 in ns):
                Mean duration.
            - ``min_ns`` (u64 in ns):
                Shortest duration.
            - ``max_ns`` (u64 in ns):
                Longest duration.
            - ``std_dev_ns`` (f64 in ns):
                Standard deviation of the durations.

        Examples
        --------
        >>> answer = experiment.trace_groups()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "trace_groups",
            {
                "profiles": profiles,
                "window": window,
                "by": by,
                "min_ns": min_ns,
            },
        )

    def references(
        self,
        *,
        contexts: Sequence[str] = (),
        is_inclusive: bool = False,
    ) -> ReferencesAnswer:
        """Who reads and writes which variable or allocation.

        Parameters
        ----------
        contexts : Sequence[str], default ()
            Context expressions. None: everything that the run touches. One: what its contexts
            touch. Several: what contexts of each of them touch, which is what they share.
        is_inclusive : bool, default False
            What is called from the contexts, and what is inside of them, counts as well.

        Returns
        -------
        ReferencesAnswer
            The reply and the tables:

        rows : Table
            Variables and allocations, most accesses first.
            - ``reference`` (string):
                The variable or allocation.
            - ``reference_id`` (u64):
                Id of it in the database.
            - ``storage`` (string):
                Where it lies: stack, heap, static, global.
            - ``size_bytes`` (u64 in bytes, may be null):
                Its size.
            - ``reads`` (u64):
                How often it is read.
            - ``writes`` (u64):
                How often it is written.
            - ``threads`` (u64):
                How many threads read or write it.
            - ``read_in`` (string):
                Contexts that read it, without what they call.
            - ``written_in`` (string):
                Contexts that write it, without what they call.
            - ``allocated_in`` (string, may be null):
                The call path that allocates it; empty for variables.
            - ``allocated_line`` (u64, may be null):
                The line of the allocation, where it is known.

        Examples
        --------
        >>> answer = experiment.references()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "references",
            {
                "contexts": contexts,
                "is_inclusive": is_inclusive,
            },
        )

    def loops(
        self,
    ) -> LoopsAnswer:
        """The loops that were executed, by call path.

        Returns
        -------
        LoopsAnswer
            The reply and the tables:

        rows : Table
            Loops by call path, longest first.
            - ``loop`` (string):
                The loop.
            - ``function`` (string):
                The function it is in.
            - ``context`` (string):
                Its call path.
            - ``context_id`` (u32):
                Id of it in the database.
            - ``executions`` (u64):
                How often it was entered.
            - ``iterations`` (u64):
                Passes of its body.
            - ``iterations_min`` (u64):
                Iterations of the execution with the fewest.
            - ``iterations_max`` (u64):
                Iterations of the execution with the most.
            - ``time_s`` (f64 in s):
                Time from entering to leaving it, with what it calls.
            - ``longest_s`` (f64 in s):
                Its longest execution.
            - ``share_percent`` (f64 in %):
                Of the time of the entry calls of all threads.

        Examples
        --------
        >>> answer = experiment.loops()
        >>> answer.rows.to_pandas()
        """
        return self._ask("loops", {})

    def user_events(
        self,
        *,
        event: str | None = None,
        profiles: str | None = None,
    ) -> UserEventsAnswer:
        """User events over all locations, as a whole and by context.

        Parameters
        ----------
        event : str, optional
            Name of an event, or a glob such as `Message size*`; null for all.
        profiles : str, optional
            A profile expression; null for all locations.

        Returns
        -------
        UserEventsAnswer
            The reply and the tables:

        events : Table
            One row for each event that occurred, the most frequent first.
            - ``event`` (string):
                Name of the user event.
            - ``unit`` (string):
                Unit of its values; empty for counts.
            - ``count`` (u64):
                Number of occurrences.
            - ``sum`` (f64 in the unit of `unit`, may be null):
                Sum of all values: mean x count.
            - ``mean`` (f64 in the unit of `unit`, may be null):
                Mean of all values; null where it did not occur.
            - ``min`` (f64 in the unit of `unit`, may be null):
                Smallest value; null where that is not known.
            - ``max`` (f64 in the unit of `unit`, may be null):
                Largest value; null where that is not known.
            - ``std_dev`` (f64 in the unit of `unit`, may be null):
                Standard deviation of all values.
            - ``locations`` (u64):
                Number of locations where it occurred.
            - ``contexts`` (u64):
                Number of contexts in which it is known to have occurred.

        contexts : Table
            One row for each event and context, in the order of `events`, then the most frequent
            first. The last row of an event holds what occurred in no known context.
            - ``event`` (string):
                Name of the user event.
            - ``context_id`` (u64, may be null):
                Id of the context in the database; null for no known context.
            - ``name`` (string):
                The context.
            - ``path`` (string):
                Its call path from the entry down.
            - ``unit`` (string):
                Unit of the values; empty for counts.
            - ``count`` (u64):
                Number of occurrences.
            - ``sum`` (f64 in the unit of `unit`, may be null):
                Sum of all values: mean x count.
            - ``mean`` (f64 in the unit of `unit`, may be null):
                Mean of all values; null where it did not occur.
            - ``min`` (f64 in the unit of `unit`, may be null):
                Smallest value; null where that is not known.
            - ``max`` (f64 in the unit of `unit`, may be null):
                Largest value; null where that is not known.
            - ``std_dev`` (f64 in the unit of `unit`, may be null):
                Standard deviation of all values.
            - ``locations`` (u64):
                Number of locations where it occurred.

        Examples
        --------
        >>> answer = experiment.user_events()
        >>> answer.events.to_pandas()
        """
        return self._ask(
            "user_events",
            {
                "event": event,
                "profiles": profiles,
            },
        )

    def user_event_locations(
        self,
        *,
        event: str | None = None,
        context_id: int | None = None,
        profiles: str | None = None,
    ) -> UserEventLocationsAnswer:
        """User events at each location.

        Parameters
        ----------
        event : str, optional
            Name of an event, or a glob; null for all.
        context_id : int, optional
            Only what occurred in this context, by its id in the database; null for everywhere.
        profiles : str, optional
            A profile expression; null for all locations.

        Returns
        -------
        UserEventLocationsAnswer
            The reply and the tables:

        locations : Table
            One row for each event and location, those without the event included.
            - ``event`` (string):
                Name of the user event.
            - ``location`` (u32):
                Profile number.
            - ``label`` (string):
                Display name of the location.
            - ``identities (columns)``:
                One column for each kind of identity (`rank`, `thread`, ...); null where a
                location has none.
            - ``unit`` (string):
                Unit of the values; empty for counts.
            - ``count`` (u64):
                Number of occurrences.
            - ``sum`` (f64 in the unit of `unit`, may be null):
                Sum of all values: mean x count.
            - ``mean`` (f64 in the unit of `unit`, may be null):
                Mean of all values; null where it did not occur.
            - ``min`` (f64 in the unit of `unit`, may be null):
                Smallest value; null where that is not known.
            - ``max`` (f64 in the unit of `unit`, may be null):
                Largest value; null where that is not known.
            - ``std_dev`` (f64 in the unit of `unit`, may be null):
                Standard deviation of all values.

        Examples
        --------
        >>> answer = experiment.user_event_locations()
        >>> answer.locations.to_pandas()
        """
        return self._ask(
            "user_event_locations",
            {
                "event": event,
                "context_id": context_id,
                "profiles": profiles,
            },
        )

    def entities(
        self,
        kind: EntityKind,
        *,
        ids: Sequence[int] | None = None,
        limit: int | None = None,
    ) -> EntitiesAnswer:
        """Call instances, references, threads and other entities, in the order of their numbers.

        Parameters
        ----------
        kind : EntityKind
            What they are.
        ids : Sequence[int], optional
            Their numbers; null for all.
        limit : int, optional
            Maximum number of rows; null for as many as an answer may have.

        Returns
        -------
        EntitiesAnswer
            The reply and the tables:

        rows : Table
            activations and groups: Activations and groups of calls.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``activation`` (u32):
                Position in depth-first order; of a group that of its first call.
            - ``kind`` (string, may be null):
                `call`, `loop` (an execution of one), `iteration` or `group`.
            - ``name`` (string, may be null):
                The function or loop.
            - ``context_id`` (u32):
                Id of its call path in the database.
            - ``function`` (u64, may be null):
                The function whose code it is.
            - ``parent`` (u64, may be null):
                The activation around it.
            - ``caller`` (u64, may be null):
                The call around it; null for entry calls.
            - ``thread`` (u32):
                Its thread.
            - ``depth`` (u32):
                Number of activations around it.
            - ``start_ns`` (u64 in ns):
                Start, since that of the run.
            - ``end_ns`` (u64 in ns):
                End, since the start of the run; of a group that of its last call.
            - ``length_ns`` (u64 in ns):
                Inclusive time; of a group that of all its calls.
            - ``count`` (u64):
                Number of calls of a group, else 1.
            - ``number`` (u32):
                Number of an iteration.
            - ``line`` (u64, may be null):
                Line of the call in its caller.
            - ``children`` (u64):
                Number of activations directly inside.
            - ``groups`` (u64):
                Number of functions that it calls, in its loops or not.
            - ``executions`` (u64):
                Number of executions of loops directly inside.
            - ``iterations`` (u64):
                Number of iterations directly inside.
            - ``is_in_loop`` (u32):
                1 when a loop of its caller is around it.
            - ``is_estimated`` (u32):
                1 when a time is estimated rather than recorded.
            - ``touched`` (u64):
                Number of references that it reads or writes, in its loops too, without its
                callees.
            - ``is_touching_within`` (u32):
                1 when it or a callee reads or writes references.
            - ``source_id`` (u64):
                Number in the database, by kind.
            - ``reads`` (u64, in some answers):
                Related to references: number of reads.
            - ``writes`` (u64, in some answers):
                Related to references: number of writes.
            - ``read_line`` (u64, in some answers):
                Related to references: line of the first read.
            - ``write_line`` (u64, in some answers):
                Related to references: line of the first write.
            references: Variables and allocations.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``reference`` (u32):
                Number of the variable or allocation.
            - ``name`` (string):
                Its name.
            - ``storage`` (string):
                Storage: stack, heap, static or global.
            - ``size_bytes`` (u64 in bytes, may be null):
                Its size.
            - ``reads`` (u64):
                Number of reads, of the whole run or of the entity.
            - ``writes`` (u64):
                Number of writes, likewise.
            - ``allocated_by`` (u64, may be null):
                The activation that allocates it; null for variables.
            - ``freed_by`` (u64, may be null):
                The activation that frees it.
            - ``allocated_line`` (u64, may be null):
                Line of the allocation.
            - ``freed_line`` (u64, may be null):
                Line of the release.
            - ``source_id`` (u64):
                Number in the database.
            - ``read_line`` (u64, in some answers):
                Related to activations: line of the first read.
            - ``write_line`` (u64, in some answers):
                Related to activations: line of the first write.
            threads: Threads.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``thread`` (u32):
                Number of the thread.
            - ``name`` (string):
                Its display name.
            - ``entry`` (u64, may be null):
                Its entry call.
            - ``creator`` (u64, may be null):
                The thread that started it.
            - ``created_by`` (u64, may be null):
                The activation that started it.
            - ``created_line`` (u64, may be null):
                The line where it was started.
            - ``start_ns`` (u64 in ns, may be null):
                Start of its entry call, since that of the run.
            - ``length_ns`` (u64 in ns, may be null):
                Inclusive time of its entry call.
            - ``calls`` (u64):
                Number of calls on it.
            - ``source_id`` (u64):
                Number in the database.
            functions: Functions.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``function`` (u32):
                Number of the function.
            - ``name`` (string):
                Its name.
            - ``file`` (u64, may be null):
                The file that it is defined in, by its number.
            - ``path`` (string, may be null):
                Path of the file.
            - ``line`` (u64, may be null):
                Line of the definition.
            - ``calls`` (u64):
                Number of calls.
            - ``time_ns`` (u64 in ns):
                Inclusive time; of recursive calls only the outermost one counts.
            files: Source files.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``file`` (u32):
                Number of the file.
            - ``path`` (string):
                Its path.
            - ``functions`` (u64):
                Number of functions that are defined in it.
            tags: Time ranges of threads that the program marked with names.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``tag`` (u32):
                Number of the tag.
            - ``name`` (string):
                Its name.
            - ``what`` (string):
                What it marks.
            - ``thread`` (u64, may be null):
                Its thread.
            - ``start_ns`` (u64 in ns):
                Start, since that of the run.
            - ``length_ns`` (u64 in ns):
                Its duration.
            - ``counter`` (u64):
                Counts the tags of one name.
            - ``activation`` (u64, may be null):
                The activation that stands for it, with what is done in it below; null when it
                is an interval of time only.

        Examples
        --------
        >>> answer = experiment.entities(kind)
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "entities",
            {
                "kind": kind,
                "ids": ids,
                "limit": limit,
            },
        )

    def related(
        self,
        kind: EntityKind,
        ids: Sequence[int],
        relation: Relation,
        *,
        longer_than_ns: int | None = None,
        limit: int | None = None,
    ) -> RelatedAnswer:
        """What belongs to entities, in the order of the request.

        Parameters
        ----------
        kind : EntityKind
            What they are.
        ids : Sequence[int]
            Their numbers.
        relation : Relation
            What is asked for about each of them.
        longer_than_ns : int, optional
            Of `within`, `calls` and `children`: only what takes longer, in nanoseconds; null
            for all. The comparison is strict, as in Parceive.
        limit : int, optional
            Maximum number of rows; null for as many as an answer may have.

        Returns
        -------
        RelatedAnswer
            The reply and the tables:

        rows : Table
            activations and groups: Activations and groups of calls.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``activation`` (u32):
                Position in depth-first order; of a group that of its first call.
            - ``kind`` (string, may be null):
                `call`, `loop` (an execution of one), `iteration` or `group`.
            - ``name`` (string, may be null):
                The function or loop.
            - ``context_id`` (u32):
                Id of its call path in the database.
            - ``function`` (u64, may be null):
                The function whose code it is.
            - ``parent`` (u64, may be null):
                The activation around it.
            - ``caller`` (u64, may be null):
                The call around it; null for entry calls.
            - ``thread`` (u32):
                Its thread.
            - ``depth`` (u32):
                Number of activations around it.
            - ``start_ns`` (u64 in ns):
                Start, since that of the run.
            - ``end_ns`` (u64 in ns):
                End, since the start of the run; of a group that of its last call.
            - ``length_ns`` (u64 in ns):
                Inclusive time; of a group that of all its calls.
            - ``count`` (u64):
                Number of calls of a group, else 1.
            - ``number`` (u32):
                Number of an iteration.
            - ``line`` (u64, may be null):
                Line of the call in its caller.
            - ``children`` (u64):
                Number of activations directly inside.
            - ``groups`` (u64):
                Number of functions that it calls, in its loops or not.
            - ``executions`` (u64):
                Number of executions of loops directly inside.
            - ``iterations`` (u64):
                Number of iterations directly inside.
            - ``is_in_loop`` (u32):
                1 when a loop of its caller is around it.
            - ``is_estimated`` (u32):
                1 when a time is estimated rather than recorded.
            - ``touched`` (u64):
                Number of references that it reads or writes, in its loops too, without its
                callees.
            - ``is_touching_within`` (u32):
                1 when it or a callee reads or writes references.
            - ``source_id`` (u64):
                Number in the database, by kind.
            - ``reads`` (u64, in some answers):
                Related to references: number of reads.
            - ``writes`` (u64, in some answers):
                Related to references: number of writes.
            - ``read_line`` (u64, in some answers):
                Related to references: line of the first read.
            - ``write_line`` (u64, in some answers):
                Related to references: line of the first write.
            references: Variables and allocations.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``reference`` (u32):
                Number of the variable or allocation.
            - ``name`` (string):
                Its name.
            - ``storage`` (string):
                Storage: stack, heap, static or global.
            - ``size_bytes`` (u64 in bytes, may be null):
                Its size.
            - ``reads`` (u64):
                Number of reads, of the whole run or of the entity.
            - ``writes`` (u64):
                Number of writes, likewise.
            - ``allocated_by`` (u64, may be null):
                The activation that allocates it; null for variables.
            - ``freed_by`` (u64, may be null):
                The activation that frees it.
            - ``allocated_line`` (u64, may be null):
                Line of the allocation.
            - ``freed_line`` (u64, may be null):
                Line of the release.
            - ``source_id`` (u64):
                Number in the database.
            - ``read_line`` (u64, in some answers):
                Related to activations: line of the first read.
            - ``write_line`` (u64, in some answers):
                Related to activations: line of the first write.
            threads: Threads.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``thread`` (u32):
                Number of the thread.
            - ``name`` (string):
                Its display name.
            - ``entry`` (u64, may be null):
                Its entry call.
            - ``creator`` (u64, may be null):
                The thread that started it.
            - ``created_by`` (u64, may be null):
                The activation that started it.
            - ``created_line`` (u64, may be null):
                The line where it was started.
            - ``start_ns`` (u64 in ns, may be null):
                Start of its entry call, since that of the run.
            - ``length_ns`` (u64 in ns, may be null):
                Inclusive time of its entry call.
            - ``calls`` (u64):
                Number of calls on it.
            - ``source_id`` (u64):
                Number in the database.
            functions: Functions.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``function`` (u32):
                Number of the function.
            - ``name`` (string):
                Its name.
            - ``file`` (u64, may be null):
                The file that it is defined in, by its number.
            - ``path`` (string, may be null):
                Path of the file.
            - ``line`` (u64, may be null):
                Line of the definition.
            - ``calls`` (u64):
                Number of calls.
            - ``time_ns`` (u64 in ns):
                Inclusive time; of recursive calls only the outermost one counts.
            files: Source files.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``file`` (u32):
                Number of the file.
            - ``path`` (string):
                Its path.
            - ``functions`` (u64):
                Number of functions that are defined in it.
            tags: Time ranges of threads that the program marked with names.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``tag`` (u32):
                Number of the tag.
            - ``name`` (string):
                Its name.
            - ``what`` (string):
                What it marks.
            - ``thread`` (u64, may be null):
                Its thread.
            - ``start_ns`` (u64 in ns):
                Start, since that of the run.
            - ``length_ns`` (u64 in ns):
                Its duration.
            - ``counter`` (u64):
                Counts the tags of one name.
            - ``activation`` (u64, may be null):
                The activation that stands for it, with what is done in it below; null when it
                is an interval of time only.

        Examples
        --------
        >>> answer = experiment.related(kind, ids, relation)
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "related",
            {
                "kind": kind,
                "ids": ids,
                "relation": relation,
                "longer_than_ns": longer_than_ns,
                "limit": limit,
            },
        )

    def shared(
        self,
        *,
        activations: Sequence[int] = (),
        groups: Sequence[int] = (),
        is_inclusive: bool = False,
    ) -> SharedAnswer:
        """Variables and allocations that all of several activations and groups read or write, most
        accesses first.

        Parameters
        ----------
        activations : Sequence[int], default ()
            Activations.
        groups : Sequence[int], default ()
            Groups.
        is_inclusive : bool, default False
            Whether accesses of what they call count, too.

        Returns
        -------
        SharedAnswer
            The reply and the tables:

        rows : Table
            Variables and allocations.
            - ``of`` (u32, in some answers):
                Of related entities: the entity of the request that the row belongs to.
            - ``reference`` (u32):
                Number of the variable or allocation.
            - ``name`` (string):
                Its name.
            - ``storage`` (string):
                Storage: stack, heap, static or global.
            - ``size_bytes`` (u64 in bytes, may be null):
                Its size.
            - ``reads`` (u64):
                Number of reads, of the whole run or of the entity.
            - ``writes`` (u64):
                Number of writes, likewise.
            - ``allocated_by`` (u64, may be null):
                The activation that allocates it; null for variables.
            - ``freed_by`` (u64, may be null):
                The activation that frees it.
            - ``allocated_line`` (u64, may be null):
                Line of the allocation.
            - ``freed_line`` (u64, may be null):
                Line of the release.
            - ``source_id`` (u64):
                Number in the database.
            - ``read_line`` (u64, in some answers):
                Related to activations: line of the first read.
            - ``write_line`` (u64, in some answers):
                Related to activations: line of the first write.

        Examples
        --------
        >>> answer = experiment.shared()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "shared",
            {
                "activations": activations,
                "groups": groups,
                "is_inclusive": is_inclusive,
            },
        )

    def lanes(
        self,
        tops: Sequence[int],
        *,
        is_merged: bool = False,
        below_percent: float = 0.0,
        loops: bool = False,
    ) -> LanesAnswer:
        """Calls over time, one lane for each of several activations, without short calls. Call
        instances lie where they were executed. Aggregated calls lie one after the other below
        their caller, longest first, as wide as the sum of their times.

        Parameters
        ----------
        tops : Sequence[int]
            The activation that each lane begins with: entry calls of threads, or what the user
            zoomed into.
        is_merged : bool, default False
            Aggregate calls of one function by the same calls (profiling), rather than show call
            instances in order of time (tracing).
        below_percent : float, default 0.0
            Calls that take less than this percentage of the top of their lane are omitted with
            everything below them.
        loops : bool, default False
            Whether executions of loops are rows, too; for call instances.

        Returns
        -------
        LanesAnswer
            The reply and the tables:

        rows : Table
            Calls in depth-first order, lane after lane.
            - ``lane`` (u32):
                Position of the lane in the request.
            - ``activation`` (u32):
                The call or execution; of aggregated calls the first.
            - ``kind`` (string):
                `call`, `loop` (an execution of one) or `iteration`.
            - ``name`` (string, may be null):
                The function or loop.
            - ``context_id`` (u32):
                Id of its call path in the database.
            - ``level`` (u32):
                Number of calls around it in the lane; of a loop that of its call.
            - ``start_ns`` (u64 in ns):
                Start, since that of the run; of aggregated calls since that of the lane.
            - ``length_ns`` (u64 in ns):
                Inclusive time.
            - ``count`` (u64):
                Number of aggregated calls.
            - ``iterations`` (u64):
                Number of iterations of an execution.

        Examples
        --------
        >>> answer = experiment.lanes(tops)
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "lanes",
            {
                "tops": tops,
                "is_merged": is_merged,
                "below_percent": below_percent,
                "loops": loops,
            },
        )

    def lines(
        self,
        path: str,
    ) -> LinesAnswer:
        """Definitions, calls, loops and accesses on the lines of a source file.

        Parameters
        ----------
        path : str
            The file, as the experiment names it, or the end of its path where that is unique.

        Returns
        -------
        LinesAnswer
            The reply and the tables:

        rows : Table
            What happens on lines, by line.
            - ``line`` (u32):
                The line.
            - ``what`` (string):
                `definition` (of a function), `call`, `loop`, `read`, `write`, `allocation` or
                `release`.
            - ``name`` (string):
                The function, loop, variable or allocation.
            - ``times`` (u64):
                Number of calls, executions, or activations that read or write.
            - ``context_id`` (u64, may be null):
                Id of the call path where it happens first.
            - ``reference`` (u64, may be null):
                Number of the variable or allocation.

        Examples
        --------
        >>> answer = experiment.lines(path)
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "lines",
            {
                "path": path,
            },
        )

    def timeline(
        self,
    ) -> TimelineAnswer:
        """What there is to see in a trace.

        Returns
        -------
        TimelineAnswer
            The reply and the tables:

        tracks : Table
            Tracks, in the order of the trace.
            - ``location`` (u32):
                Row of the location.
            - ``label`` (string):
                What it is called.
            - ``calls`` (u64):
                Calls, or samples.
            - ``identities (columns)``:
                One column for each kind of identity; that of the application is called
                `component`.

        functions : Table
            Functions with different names.
            - ``name`` (string):
                What it is called.
            - ``exclusive_ns`` (f64 in ns):
                Time in it and in nothing below, over everything.
            - ``calls`` (f64):
                How often it was entered.
            - ``group`` (u32):
                Row of its group.

        groups : Table
            Groups of functions.
            - ``name`` (string):
                What it is called.
            - ``exclusive_ns`` (f64 in ns):
                Time in it and in nothing below, over everything.
            - ``calls`` (f64):
                How often it was entered.

        contexts : Table
            Contexts, in depth-first order.
            - ``context_id`` (u32):
                Id in the source.
            - ``parent`` (u32):
                Row of the context above; 4294967295 for the root.
            - ``function`` (u32):
                Row of its function; 4294967295 above all functions.
            - ``depth`` (u32):
                Functions down to it, itself included.

        Examples
        --------
        >>> answer = experiment.timeline()
        >>> answer.tracks.to_pandas()
        """
        return self._ask("timeline", {})

    def tile(
        self,
        rows: Sequence[TrackSpan],
        from_ns: int,
        to_ns: int,
        bins: int,
        *,
        by: TimelineBy = "function",
        max_depth: int | None = None,
        hidden: Sequence[int] = (),
    ) -> TileAnswer:
        """A picture of tracks over time: rows of tracks by bins of time.

        Parameters
        ----------
        rows : Sequence[TrackSpan]
            Rows of the picture; each adds its tracks up.
        from_ns : int
            Where it begins.
        to_ns : int
            Where it ends.
        bins : int
            Bins at most; there are at least half as many, unless they would be shorter than 1
            ns.
        by : TimelineBy, default "function"
            What colours stand for.
        max_depth : int, optional
            Depth below which contexts count as the one above them, 1 for the outermost; null
            for none.
        hidden : Sequence[int], default ()
            Functions or groups (as `by` says) to hide.

        Returns
        -------
        TileAnswer
            The reply and the tables:

        cells : Table
            Cells of a picture. A cell has at most the length of a bin times the tracks of its
            row.
            - ``key`` (u32):
                Function or group with most of the time; 4294967295 where nothing ran.
            - ``dominant_ns`` (f64 in ns):
                Time of it.
            - ``busy_ns`` (f64 in ns):
                Time in which anything ran that is not hidden.
            - ``calls`` (f64):
                How often contexts were entered.
            - ``depth`` (u32):
                Depth of the deepest context.

        Examples
        --------
        >>> answer = experiment.tile(rows, from_ns, to_ns, bins)
        >>> answer.cells.to_pandas()
        """
        return self._ask(
            "tile",
            {
                "rows": rows,
                "from_ns": from_ns,
                "to_ns": to_ns,
                "bins": bins,
                "by": by,
                "max_depth": max_depth,
                "hidden": hidden,
            },
        )

    def calls(
        self,
        tracks: Sequence[TrackSpan],
        from_ns: int,
        to_ns: int,
        max_calls: int,
        *,
        shortest_ns: int = 0,
    ) -> CallsAnswer:
        """The call instances in a time range. For samples, a call is a run of samples with the
        same contexts above.

        Parameters
        ----------
        tracks : Sequence[TrackSpan]
            Which tracks.
        from_ns : int
            Where it begins.
        to_ns : int
            Where it ends.
        max_calls : int
            Calls at most: where there are more, none are given.
        shortest_ns : int, default 0
            Shorter calls are counted and omitted.

        Returns
        -------
        CallsAnswer
            The reply and the tables:

        calls : Table
            Calls by track and start, what is around a call before it; not cut at the window.
            - ``track`` (u32):
                Row of the track.
            - ``context`` (u32):
                Row of the context.
            - ``depth`` (u32):
                1 for the outermost.
            - ``start_ns`` (f64 in ns):
                When it was entered, since the first record.
            - ``end_ns`` (f64 in ns):
                When it was left, since the first record.

        Examples
        --------
        >>> answer = experiment.calls(tracks, from_ns, to_ns, max_calls)
        >>> answer.calls.to_pandas()
        """
        return self._ask(
            "calls",
            {
                "tracks": tracks,
                "from_ns": from_ns,
                "to_ns": to_ns,
                "max_calls": max_calls,
                "shortest_ns": shortest_ns,
            },
        )

    def path_at(
        self,
        track: int,
        at_ns: int,
        *,
        exclusive: bool = False,
        arguments: bool = False,
    ) -> PathAtAnswer:
        """What was active at a moment.

        Parameters
        ----------
        track : int
            The track.
        at_ns : int
            The moment.
        exclusive : bool, default False
            Also the exclusive time of each call, for which all calls inside it are summed up.
        arguments : bool, default False
            Also what the source recorded with each call.

        Returns
        -------
        PathAtAnswer
            The reply and the tables:

        path : Table
            Calls inside one another, from the outermost.
            - ``context`` (u32):
                Row of the context.
            - ``name`` (string):
                What it is called.
            - ``depth`` (u32):
                1 for the outermost.
            - ``start_ns`` (f64 in ns):
                When it was entered, since the first record.
            - ``end_ns`` (f64 in ns):
                When it was left, since the first record.
            - ``exclusive_ns`` (f64 in ns, may be null):
                Time in this one call and in nothing below; null where it was not asked for.

        arguments : Table
            What the source recorded with calls, such as the grid of a kernel, in its order.
            - ``depth`` (u32):
                Depth of the call, 1 for the outermost.
            - ``name`` (string):
                What it is called.
            - ``value`` (string):
                The value, as text.

        Examples
        --------
        >>> answer = experiment.path_at(track, at_ns)
        >>> answer.path.to_pandas()
        """
        return self._ask(
            "path_at",
            {
                "track": track,
                "at_ns": at_ns,
                "exclusive": exclusive,
                "arguments": arguments,
            },
        )

    def links(
        self,
        from_ns: int,
        to_ns: int,
        max_links: int,
        *,
        tracks: Sequence[TrackSpan] | None = None,
        flows: bool = False,
    ) -> LinksAnswer:
        """Messages or flows in transit in a time range; needs a trace of events.

        Parameters
        ----------
        from_ns : int
            Where it begins.
        to_ns : int
            Where it ends.
        max_links : int
            At most so many; of more, those that take longest.
        tracks : Sequence[TrackSpan], optional
            Tracks of which the sender or the receiver is one; null for all.
        flows : bool, default False
            Flows (causes and effects) instead of messages.

        Returns
        -------
        LinksAnswer
            The reply and the tables:

        links : Table
            Messages or flows, in order of sending.
            - ``sender`` (u32):
                Row of the sending track; 4294967295 when not in the trace.
            - ``receiver`` (u32):
                Row of the receiving track; 4294967295 when not in the trace.
            - ``send_ns`` (f64 in ns, may be null):
                When it was sent, since the first record; null where that side was not found.
            - ``receive_ns`` (f64 in ns, may be null):
                When it was received, since the first record; null where that side was not
                found.
            - ``bytes`` (f64 in B):
                Size.
            - ``tag`` (f64):
                Tag.
            - ``communicator`` (u32):
                Communicator.

        Examples
        --------
        >>> answer = experiment.links(from_ns, to_ns, max_links)
        >>> answer.links.to_pandas()
        """
        return self._ask(
            "links",
            {
                "from_ns": from_ns,
                "to_ns": to_ns,
                "max_links": max_links,
                "tracks": tracks,
                "flows": flows,
            },
        )

    def link_bins(
        self,
        from_ns: int,
        to_ns: int,
        bins: int,
        *,
        tracks: Sequence[TrackSpan] | None = None,
        flows: bool = False,
    ) -> LinkBinsAnswer:
        """How many messages or flows were sent when; needs a trace of events. A message of which
        only the receipt is known counts when it was received.

        Parameters
        ----------
        from_ns : int
            Where it begins.
        to_ns : int
            Where it ends.
        bins : int
            Bins at most, as for a picture.
        tracks : Sequence[TrackSpan], optional
            Tracks of which the sender or the receiver is one; null for all.
        flows : bool, default False
            Flows (causes and effects) instead of messages.

        Returns
        -------
        LinkBinsAnswer
            The reply and the tables:

        bins : Table
            Messages or flows by bin.
            - ``messages`` (u32):
                How many were sent.
            - ``bytes`` (f64 in B):
                Their sizes together.

        Examples
        --------
        >>> answer = experiment.link_bins(from_ns, to_ns, bins)
        >>> answer.bins.to_pandas()
        """
        return self._ask(
            "link_bins",
            {
                "from_ns": from_ns,
                "to_ns": to_ns,
                "bins": bins,
                "tracks": tracks,
                "flows": flows,
            },
        )

    def counter_bins(
        self,
        counter: int,
        from_ns: int,
        to_ns: int,
        bins: int,
        *,
        tracks: Sequence[TrackSpan] | None = None,
    ) -> CounterBinsAnswer:
        """A counter over time; needs a trace of events.

        Parameters
        ----------
        counter : int
            Position in the list of counters.
        from_ns : int
            Where it begins.
        to_ns : int
            Where it ends.
        bins : int
            Bins at most, as for a picture.
        tracks : Sequence[TrackSpan], optional
            Which tracks; null for all.

        Returns
        -------
        CounterBinsAnswer
            The reply and the tables:

        values : Table
            Values of a counter by track and bin.
            - ``track`` (u32):
                Row of the track.
            - ``bin`` (u32):
                The bin; 4294967295 for before the first.
            - ``min`` (f64):
                Smallest value.
            - ``max`` (f64):
                Largest value.
            - ``last`` (f64):
                Last value.

        Examples
        --------
        >>> answer = experiment.counter_bins(counter, from_ns, to_ns, bins)
        >>> answer.values.to_pandas()
        """
        return self._ask(
            "counter_bins",
            {
                "counter": counter,
                "from_ns": from_ns,
                "to_ns": to_ns,
                "bins": bins,
                "tracks": tracks,
            },
        )

    def markers(
        self,
        from_ns: int,
        to_ns: int,
        max_markers: int,
    ) -> MarkersAnswer:
        """What happened at moments of a time range; needs a trace of events.

        Parameters
        ----------
        from_ns : int
            Where it begins.
        to_ns : int
            Where it ends.
        max_markers : int
            At most so many; of more, the first.

        Returns
        -------
        MarkersAnswer
            The reply and the tables:

        markers : Table
            Markers by time.
            - ``track`` (u32):
                Row of the track.
            - ``name`` (string):
                What happened.
            - ``at_ns`` (f64 in ns):
                When, since the first record.

        Examples
        --------
        >>> answer = experiment.markers(from_ns, to_ns, max_markers)
        >>> answer.markers.to_pandas()
        """
        return self._ask(
            "markers",
            {
                "from_ns": from_ns,
                "to_ns": to_ns,
                "max_markers": max_markers,
            },
        )

    def stacks(
        self,
        *,
        metric: str | None = None,
        profiles: str | None = None,
        by: TimelineBy = "function",
        top: int = 12,
        helpers: bool = False,
    ) -> StacksAnswer:
        """What each location spends on its most expensive functions or groups: exclusive costs.

        Parameters
        ----------
        metric : str, optional
            A metric expression; null for the metric that says most about time.
        profiles : str, optional
            A profile expression; null for all locations.
        by : TimelineBy, default "function"
            What is stacked.
        top : int, default 12
            How many parts are distinguished; the others are added up.
        helpers : bool, default False
            Include helper threads: those that MPI, networks or the measurement start for
            themselves.

        Returns
        -------
        StacksAnswer
            The reply and the tables:

        locations : Table
            Locations with what they spend.
            - ``location`` (u32):
                Profile number.
            - ``label`` (string):
                What it is called.
            - ``total`` (f64 in the unit of the metric):
                All parts together.
            - ``identities (columns)``:
                One column for each kind of identity; null where a location has none.

        stack : Table
            Parts by location.
            - ``location`` (u32):
                Row of the location.
            - ``part`` (u32):
                Which part.
            - ``value`` (f64 in the unit of the metric):
                What the location spends on it.

        Examples
        --------
        >>> answer = experiment.stacks()
        >>> answer.locations.to_pandas()
        """
        return self._ask(
            "stacks",
            {
                "metric": metric,
                "profiles": profiles,
                "by": by,
                "top": top,
                "helpers": helpers,
            },
        )

    def stats(
        self,
        *,
        tracks: Sequence[TrackSpan] | None = None,
        by: StatsBy = "function",
        helpers: bool = False,
        profiles: str | None = None,
        window: str | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> StatsAnswer:
        """Time and calls in a time range, exactly: what is active at an edge counts with the part
        inside.

        Parameters
        ----------
        tracks : Sequence[TrackSpan], optional
            Which tracks, of those of the locations; null for all.
        by : StatsBy, default "function"
            What the rows are.
        helpers : bool, default False
            Include helper threads: those that MPI, networks or the measurement start for
            themselves.
        profiles : str, optional
            A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the
            critical path, changes over time and iterations then exclude helper threads, which
            an expression includes where it names them.
        window : str, optional
            A time window, such as `1.5s..2s` after the start or `10%..20%`; null for
            everything.
        from_ns : int, optional
            Start of the time range, in nanoseconds since the first record of the trace; null
            for the beginning.
        to_ns : int, optional
            Its end, in nanoseconds since the first record; null for the end of the trace.

        Returns
        -------
        StatsAnswer
            The reply and the tables:

        rows : Table
            Time and calls, most exclusive time first.
            - ``name`` (string):
                What the row is about.
            - ``group`` (string, in some answers):
                What it belongs to; empty where the source has no groups.
            - ``calls`` (u64, in some answers):
                How often it was entered in the window.
            - ``exclusive_s`` (f64 in s):
                Time in it and in nothing below.
            - ``inclusive_s`` (f64 in s):
                Time in it and below; recursion counts once.
            - ``share_percent`` (f64 in %):
                Exclusive time, of the time in which anything ran.

        Examples
        --------
        >>> answer = experiment.stats()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "stats",
            {
                "tracks": tracks,
                "by": by,
                "helpers": helpers,
                "profiles": profiles,
                "window": window,
                "from_ns": from_ns,
                "to_ns": to_ns,
            },
        )

    def messages(
        self,
        *,
        tracks: Sequence[TrackSpan] | None = None,
        by: MessagesBy = "pair",
        flows: bool = False,
        profiles: str | None = None,
        window: str | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> MessagesAnswer:
        """Messages in transit in a time range; needs a trace of events.

        Parameters
        ----------
        tracks : Sequence[TrackSpan], optional
            Tracks of which the sender or the receiver is one; null for all.
        by : MessagesBy, default "pair"
            What the rows are.
        flows : bool, default False
            Flows (causes and effects, such as starting a kernel and the kernel) instead of
            messages.
        profiles : str, optional
            A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the
            critical path, changes over time and iterations then exclude helper threads, which
            an expression includes where it names them.
        window : str, optional
            A time window, such as `1.5s..2s` after the start or `10%..20%`; null for
            everything.
        from_ns : int, optional
            Start of the time range, in nanoseconds since the first record of the trace; null
            for the beginning.
        to_ns : int, optional
            Its end, in nanoseconds since the first record; null for the end of the trace.

        Returns
        -------
        MessagesAnswer
            The reply and the tables:

        rows : Table
            added up: Messages that have something in common, in its order.
            - ``from_bytes`` (u64 in B, in some answers):
                Smallest size of the row; up to twice that.
            - ``tag`` (string, in some answers):
                Tag.
            - ``file`` (string, in some answers):
                Through which the data goes.
            - ``sender`` (string, in some answers):
                Who sends.
            - ``receiver`` (string, in some answers):
                Who receives.
            - ``kind`` (string, in some answers):
                Message between ranks, or transfer: written to a file and read from it.
            - ``messages`` (u64):
                How many.
            - ``bytes`` (u64 in B):
                Their sizes together.
            - ``mean_s`` (f64 in s, may be null):
                From sending to receiving, on average; nothing where none is matched.
            - ``longest_s`` (f64 in s, may be null):
                The longest; nothing where none is matched.
            - ``unmatched`` (u64):
                Of these, those of which only one side is known.
            - ``backwards`` (u64):
                Of these, those received before they were sent: the clocks disagree.
            single messages: Single messages, in order of sending.
            - ``send_ns`` (u64 in ns, may be null):
                Nanoseconds on the trace's clock; nothing where that side is not known.
            - ``receive_ns`` (u64 in ns, may be null):
                Nanoseconds on the trace's clock; nothing where that side is not known.
            - ``sender`` (string):
                Who sends.
            - ``receiver`` (string):
                Who receives.
            - ``bytes`` (u64 in B):
                Size.
            - ``tag`` (string):
                Tag.
            - ``communicator`` (u64):
                Communicator.

        Examples
        --------
        >>> answer = experiment.messages()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "messages",
            {
                "tracks": tracks,
                "by": by,
                "flows": flows,
                "profiles": profiles,
                "window": window,
                "from_ns": from_ns,
                "to_ns": to_ns,
            },
        )

    def workflow(
        self,
        *,
        bins: int = 0,
        profiles: str | None = None,
        window: str | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> WorkflowAnswer:
        """The components of a workflow, and what goes from one to the other: by messages, files
        and streams of ADIOS; see
        [traces.md](traces.md#workflow-components-and-what-goes-between-them).

        Parameters
        ----------
        bins : int, default 0
            Parts of equal length into which the time of the window is divided for the table
            `over_time`; 0 for none.
        profiles : str, optional
            A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the
            critical path, changes over time and iterations then exclude helper threads, which
            an expression includes where it names them.
        window : str, optional
            A time window, such as `1.5s..2s` after the start or `10%..20%`; null for
            everything.
        from_ns : int, optional
            Start of the time range, in nanoseconds since the first record of the trace; null
            for the beginning.
        to_ns : int, optional
            Its end, in nanoseconds since the first record; null for the end of the trace.

        Returns
        -------
        WorkflowAnswer
            The reply and the tables:

        components : Table
            The components of a workflow, by number; one row where there is one application.
            - ``component`` (string):
                Name.
            - ``application`` (u64, may be null):
                Its number, as `application(NUMBER)` chooses it; null where there is one
                application.
            - ``ranks`` (u64):
                How many ranks it has.
            - ``locations`` (u64):
                How many locations it has.
            - ``start_ns`` (f64 in ns, may be null):
                When it began, since the first record; null where that is not known.
            - ``end_ns`` (f64 in ns, may be null):
                When it ended, likewise.
            - ``busy_percent`` (f64 in %, may be null):
                Share of the time of its locations in which they compute: are in no routine of
                MPI and do not wait; null where no time was measured.
            - ``hosts`` (string, may be null):
                Names of its hosts, the first ones; null where they are not known.
            - ``command`` (string, may be null):
                Command line, else executable; null where that is not known.
            - ``depends_on`` (string):
                The components that it takes data from, as the workflow describes it.

        exchanges : Table
            What goes from one component to another, or inside of one, by what it goes through:
            in the order of the senders, the receivers and most bytes first.
            - ``from`` (string):
                The component that sends or writes.
            - ``to`` (string):
                The component that receives or reads.
            - ``from_row`` (u32, may be null):
                Row of the sender in the table of components; null where it is not in the trace.
            - ``to_row`` (u32, may be null):
                Row of the receiver, likewise.
            - ``by`` (string):
                By what.
            - ``name`` (string, may be null):
                Name of the file or stream; null for messages.
            - ``count`` (u64, may be null):
                How many messages or reads; null where that was not recorded.
            - ``bytes`` (u64 in B, may be null):
                Their sizes together; null where that was not recorded. Of a stream of ADIOS
                that is known from a description only, what its writer wrote by ADIOS.
            - ``senders`` (u64, may be null):
                How many locations of the sender take part; null where that was not recorded.
            - ``receivers`` (u64, may be null):
                How many locations of the receiver, likewise.
            - ``first_ns`` (f64 in ns, may be null):
                The first time something was sent or written, since the first record; null where
                that was not recorded.
            - ``last_ns`` (f64 in ns, may be null):
                The last time something was received or read, likewise.
            - ``evidence`` (string):
                What it is known by.

        over_time : Table
            Messages and reads by the time of their arrival, in order of exchange and time;
            parts without any are omitted.
            - ``exchange`` (u32):
                Row of the exchange.
            - ``bin`` (u32):
                Number of the part of the window.
            - ``count`` (u64):
                How many arrive.
            - ``bytes`` (u64 in B):
                Their sizes together.

        Examples
        --------
        >>> answer = experiment.workflow()
        >>> answer.components.to_pandas()
        """
        return self._ask(
            "workflow",
            {
                "bins": bins,
                "profiles": profiles,
                "window": window,
                "from_ns": from_ns,
                "to_ns": to_ns,
            },
        )

    def find(
        self,
        *,
        name: str | None = None,
        tracks: Sequence[TrackSpan] | None = None,
        min_ns: int | None = None,
        max_ns: int | None = None,
        order: FindOrder = "longest",
        max_rows: int = 1000,
        arguments: bool = False,
        profiles: str | None = None,
        window: str | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> FindAnswer:
        """Calls that begin in a time range, by name and duration.

        Parameters
        ----------
        name : str, optional
            Words that names of functions contain, in any case and order: `nccl reduce`. `MPI_*`
            is a glob, `/regular expression/` what it says, `"MPI_Recv"` one name, `a|b`
            several; null for all.
        tracks : Sequence[TrackSpan], optional
            Which tracks, of those of the locations; null for all.
        min_ns : int, optional
            They take at least so long, in nanoseconds.
        max_ns : int, optional
            They take at most so long, in nanoseconds.
        order : FindOrder, default "longest"
            Which come first.
        max_rows : int, default 1000
            Rows at most.
        arguments : bool, default False
            Also what the source recorded with each call.
        profiles : str, optional
            A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the
            critical path, changes over time and iterations then exclude helper threads, which
            an expression includes where it names them.
        window : str, optional
            A time window, such as `1.5s..2s` after the start or `10%..20%`; null for
            everything.
        from_ns : int, optional
            Start of the time range, in nanoseconds since the first record of the trace; null
            for the beginning.
        to_ns : int, optional
            Its end, in nanoseconds since the first record; null for the end of the trace.

        Returns
        -------
        FindAnswer
            The reply and the tables:

        rows : Table
            Calls that were found, in the order that was asked for.
            - ``track`` (u32):
                Row of the track.
            - ``location`` (string):
                Where.
            - ``context`` (u32):
                Row of the context.
            - ``context_id`` (u32):
                Id of the context.
            - ``name`` (string):
                The function.
            - ``start_ns`` (f64 in ns):
                When it was entered, since the first record.
            - ``end_ns`` (f64 in ns):
                When it was left, since the first record.
            - ``duration_ns`` (f64 in ns):
                How long it took.
            - ``arguments`` (string, may be null):
                What the source recorded with it, as `name=value`, separated by commas; null
                where that is nothing, and where it was not asked for.

        histogram : Table
            Calls by duration, the shortest first; bins without calls are omitted.
            - ``from_ns`` (f64 in ns):
                Shortest duration of the bin; the next bin begins at twice that.
            - ``calls`` (u64):
                How many.
            - ``total_ns`` (f64 in ns):
                What they take together.

        Examples
        --------
        >>> answer = experiment.find()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "find",
            {
                "name": name,
                "tracks": tracks,
                "min_ns": min_ns,
                "max_ns": max_ns,
                "order": order,
                "max_rows": max_rows,
                "arguments": arguments,
                "profiles": profiles,
                "window": window,
                "from_ns": from_ns,
                "to_ns": to_ns,
            },
        )

    def anomalies(
        self,
        *,
        tracks: Sequence[TrackSpan] | None = None,
        waiting: bool = False,
        min_excess_ns: int = 10000,
        max_rows: int = 1000,
        profiles: str | None = None,
        window: str | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> AnomaliesAnswer:
        """Calls of a trace that take much longer than the other calls of their function on the
        same location, or those that a detector named; see [anomalies.md](anomalies.md).

        Parameters
        ----------
        tracks : Sequence[TrackSpan], optional
            Which tracks, of those of the locations; null for all.
        waiting : bool, default False
            Also calls of MPI, and those that wait: how long they take depends on other
            locations. What a detector named is always listed.
        min_excess_ns : int, default 10000
            The least time by which a call exceeds the median of its function, in nanoseconds;
            not used for what a detector named.
        max_rows : int, default 1000
            Rows at most.
        profiles : str, optional
            A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the
            critical path, changes over time and iterations then exclude helper threads, which
            an expression includes where it names them.
        window : str, optional
            A time window, such as `1.5s..2s` after the start or `10%..20%`; null for
            everything.
        from_ns : int, optional
            Start of the time range, in nanoseconds since the first record of the trace; null
            for the beginning.
        to_ns : int, optional
            Its end, in nanoseconds since the first record; null for the end of the trace.

        Returns
        -------
        AnomaliesAnswer
            The reply and the tables:

        rows : Table
            Calls that take much longer than others of their function, the largest excess first.
            - ``track`` (u32):
                Row of the track.
            - ``location`` (string):
                Where.
            - ``context`` (u32):
                Row of the context.
            - ``context_id`` (u32):
                Id of the context.
            - ``name`` (string):
                The function.
            - ``start_ns`` (f64 in ns):
                When it was entered, since the first record.
            - ``end_ns`` (f64 in ns):
                When it was left, since the first record.
            - ``exclusive_ns`` (f64 in ns):
                Its time without that of the calls made from it.
            - ``found`` (bool):
                Whether it takes much longer than others of its function.
            - ``named`` (bool):
                Whether the detector named it.
            - ``median_ns`` (f64 in ns, may be null):
                The median of the exclusive time of the function's calls on this location; null
                where they are not compared: too few, of MPI, or chosen by the detector.
            - ``times_median`` (f64, may be null):
                The exclusive time as a multiple of the median; null as `median_ns`.
            - ``score`` (f64, may be null):
                How far it lies from the median, in deviations on a logarithmic scale: the
                scaled median absolute deviation; null as `median_ns`.
            - ``calls`` (u64, may be null):
                How many calls the function has on this location; null as `median_ns`.

        Examples
        --------
        >>> answer = experiment.anomalies()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "anomalies",
            {
                "tracks": tracks,
                "waiting": waiting,
                "min_excess_ns": min_excess_ns,
                "max_rows": max_rows,
                "profiles": profiles,
                "window": window,
                "from_ns": from_ns,
                "to_ns": to_ns,
            },
        )

    def waits(
        self,
        *,
        kind: WaitsKind | None = None,
        by: WaitsBy = "function",
        profiles: str | None = None,
        window: str | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> WaitsAnswer:
        """Wait states: which location waits, for which, and how long; needs a trace of events.

        Parameters
        ----------
        kind : WaitsKind, optional
            Which; null for all.
        by : WaitsBy, default "function"
            What the rows are.
        profiles : str, optional
            A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the
            critical path, changes over time and iterations then exclude helper threads, which
            an expression includes where it names them.
        window : str, optional
            A time window, such as `1.5s..2s` after the start or `10%..20%`; null for
            everything.
        from_ns : int, optional
            Start of the time range, in nanoseconds since the first record of the trace; null
            for the beginning.
        to_ns : int, optional
            Its end, in nanoseconds since the first record; null for the end of the trace.

        Returns
        -------
        WaitsAnswer
            The reply and the tables:

        rows : Table
            Wait states, longest total first.
            - ``kind`` (string):
                Kind of wait state: late sender or late receiver, the sort of collective, late
                launch of GPU work, or wait for a GPU.
            - ``function`` (string, in some answers):
                The routine that waits, or the GPU work that is launched late.
            - ``context`` (string, in some answers):
                The call path that waits, or the GPU work that is launched late.
            - ``context_id`` (u32, in some answers):
                Id of it in the database.
            - ``location`` (string, in some answers):
                The waiting location.
            - ``waits_for`` (string, in some answers):
                The location that is late.
            - ``waits`` (u64):
                Number of waits.
            - ``waiting_s`` (f64 in s):
                Wait time: from entering the call, or from idle, until the other side is ready,
                added up.
            - ``share_percent`` (f64 in %):
                Share of the time of the selected tracks in the window.
            - ``longest_s`` (f64 in s):
                The longest of them.
            - ``in_calls_s`` (f64 in s):
                Time of the waiting calls, including the wait time, and of GPU work launched
                late.

        Examples
        --------
        >>> answer = experiment.waits()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "waits",
            {
                "kind": kind,
                "by": by,
                "profiles": profiles,
                "window": window,
                "from_ns": from_ns,
                "to_ns": to_ns,
            },
        )

    def critical_path(
        self,
        *,
        by: CriticalPathBy = "function",
        segments: bool = False,
        profiles: str | None = None,
        window: str | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> CriticalPathAnswer:
        """What the run time consists of, excluding wait time; needs a trace of events. The path is
        that of the whole trace; locations and window say which part of it is shown.

        Parameters
        ----------
        by : CriticalPathBy, default "function"
            What the rows are.
        segments : bool, default False
            One row for each segment of the path instead, in order of time.
        profiles : str, optional
            A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the
            critical path, changes over time and iterations then exclude helper threads, which
            an expression includes where it names them.
        window : str, optional
            A time window, such as `1.5s..2s` after the start or `10%..20%`; null for
            everything.
        from_ns : int, optional
            Start of the time range, in nanoseconds since the first record of the trace; null
            for the beginning.
        to_ns : int, optional
            Its end, in nanoseconds since the first record; null for the end of the trace.

        Returns
        -------
        CriticalPathAnswer
            The reply and the tables:

        rows : Table
            what it consists of: What the path consists of, the longest first.
            - ``function`` (string, in some answers):
                What the time goes into.
            - ``group`` (string, in some answers):
                What the time goes into.
            - ``context`` (string, in some answers):
                What the time goes into.
            - ``location`` (string, in some answers):
                Where the path is.
            - ``on_path_s`` (f64 in s):
                Time on the path, in it and in nothing below.
            - ``share_percent`` (f64 in %):
                Share of the length of the path.
            - ``all_locations_s`` (f64 in s, in some answers):
                Time over all locations in the window, on the path or not.
            - ``context_id`` (u32, in some answers):
                Id of it in the database.
            segments: Segments of the path on one location each, in order of time.
            - ``start_s`` (f64 in s):
                When the path comes to the location, after the start of the trace.
            - ``length_s`` (f64 in s):
                How long it stays; the next row begins then.
            - ``location`` (string):
                Where the path is.
            - ``context`` (string):
                The call path that takes most of it.
            - ``context_percent`` (f64 in %):
                Share of the segment in this call path.
            - ``releases`` (string, may be null):
                What ends the segment: the wait of the next row's location; null at the end.
            - ``basis`` (string, may be null):
                How that is known: `recorded` in the trace, or `matched by time` and stream,
                where the trace has no record of the launch or does not name the stream; null at
                the end.

        Examples
        --------
        >>> answer = experiment.critical_path()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "critical_path",
            {
                "by": by,
                "segments": segments,
                "profiles": profiles,
                "window": window,
                "from_ns": from_ns,
                "to_ns": to_ns,
            },
        )

    def over_time(
        self,
        *,
        what: OverTimeWhat = "profile",
        by: OverTimeBy = "function",
        bins: int = 200,
        profiles: str | None = None,
        window: str | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> OverTimeAnswer:
        """How a trace changes over time. The time range grows to whole bins.

        Parameters
        ----------
        what : OverTimeWhat, default "profile"
            What changes.
        by : OverTimeBy, default "function"
            What rows of a profile are.
        bins : int, default 200
            Bins at most. They are 2^k ns long, so there may be half as many.
        profiles : str, optional
            A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the
            critical path, changes over time and iterations then exclude helper threads, which
            an expression includes where it names them.
        window : str, optional
            A time window, such as `1.5s..2s` after the start or `10%..20%`; null for
            everything.
        from_ns : int, optional
            Start of the time range, in nanoseconds since the first record of the trace; null
            for the beginning.
        to_ns : int, optional
            Its end, in nanoseconds since the first record; null for the end of the trace.

        Returns
        -------
        OverTimeAnswer
            The reply and the tables:

        rows : Table
            profile: Time by function or group, the longest first.
            - ``start_s`` (f64 in s, in some answers):
                Start of the bin, after the start of the trace.
            - ``end_s`` (f64 in s, in some answers):
                End of the bin.
            - ``name`` (string):
                What ran.
            - ``exclusive_s`` (f64 in s):
                Time in it and in nothing below.
            - ``share_percent`` (f64 in %):
                Of the time in which anything ran.
            idle: Time in which locations wait or are in no function.
            - ``start_s`` (f64 in s, in some answers):
                Start of the bin, after the start of the trace.
            - ``end_s`` (f64 in s, in some answers):
                End of the bin.
            - ``location`` (string):
                Whose time.
            - ``waiting_s`` (f64 in s):
                Wait time.
            - ``outside_s`` (f64 in s):
                Time outside functions.
            - ``idle_percent`` (f64 in %):
                Wait time and time outside functions, as a share of all time.
            lateness: How much later locations come to the same call than the first of them, the
            latest first.
            - ``start_s`` (f64 in s, in some answers):
                Start of the bin, after the start of the trace.
            - ``end_s`` (f64 in s, in some answers):
                End of the bin.
            - ``function`` (string):
                What was called.
            - ``calls`` (u64):
                How many calls are compared.
            - ``mean_s`` (f64 in s):
                How much later than the first location, on average over all calls.
            - ``longest_s`` (f64 in s):
                The latest call.
            - ``latest`` (string, in some answers):
                The location that is late for the longest time in total.
            overlap: Computing while messages are in transit.
            - ``start_s`` (f64 in s, in some answers):
                Start of the bin, after the start of the trace.
            - ``end_s`` (f64 in s, in some answers):
                End of the bin.
            - ``location`` (string):
                Whose time.
            - ``messages`` (u64, in some answers):
                Messages from and to it.
            - ``under_way_s`` (f64 in s):
                Time with messages from or to it in transit.
            - ``computing_s`` (f64 in s):
                Part of it in which the location computes.
            - ``overlap_percent`` (f64 in %):
                Computing, as a share of the communication time.
            imbalance: How evenly locations compute, bin by bin.
            - ``start_s`` (f64 in s):
                Start of the bin, after the start of the trace.
            - ``end_s`` (f64 in s):
                End of the bin.
            - ``mean_s`` (f64 in s):
                Computing in the bin, on average over the locations.
            - ``max_s`` (f64 in s):
                Of the location that computes most.
            - ``saving_s`` (f64 in s):
                Maximum minus mean: the potential saving.
            - ``balance_ratio`` (f64, may be null):
                Mean / maximum; 1 is balanced; null where no location computes.
            - ``imbalance_percent`` (f64 in %, may be null):
                Maximum minus mean, as a share of the maximum.
            - ``slowest`` (string, may be null):
                The location that computes most; null where none does.

        totals : Table
            profile: Time by function or group, the longest first.
            - ``start_s`` (f64 in s, in some answers):
                Start of the bin, after the start of the trace.
            - ``end_s`` (f64 in s, in some answers):
                End of the bin.
            - ``name`` (string):
                What ran.
            - ``exclusive_s`` (f64 in s):
                Time in it and in nothing below.
            - ``share_percent`` (f64 in %):
                Of the time in which anything ran.
            idle: Time in which locations wait or are in no function.
            - ``start_s`` (f64 in s, in some answers):
                Start of the bin, after the start of the trace.
            - ``end_s`` (f64 in s, in some answers):
                End of the bin.
            - ``location`` (string):
                Whose time.
            - ``waiting_s`` (f64 in s):
                Wait time.
            - ``outside_s`` (f64 in s):
                Time outside functions.
            - ``idle_percent`` (f64 in %):
                Wait time and time outside functions, as a share of all time.
            lateness: How much later locations come to the same call than the first of them, the
            latest first.
            - ``start_s`` (f64 in s, in some answers):
                Start of the bin, after the start of the trace.
            - ``end_s`` (f64 in s, in some answers):
                End of the bin.
            - ``function`` (string):
                What was called.
            - ``calls`` (u64):
                How many calls are compared.
            - ``mean_s`` (f64 in s):
                How much later than the first location, on average over all calls.
            - ``longest_s`` (f64 in s):
                The latest call.
            - ``latest`` (string, in some answers):
                The location that is late for the longest time in total.
            overlap: Computing while messages are in transit.
            - ``start_s`` (f64 in s, in some answers):
                Start of the bin, after the start of the trace.
            - ``end_s`` (f64 in s, in some answers):
                End of the bin.
            - ``location`` (string):
                Whose time.
            - ``messages`` (u64, in some answers):
                Messages from and to it.
            - ``under_way_s`` (f64 in s):
                Time with messages from or to it in transit.
            - ``computing_s`` (f64 in s):
                Part of it in which the location computes.
            - ``overlap_percent`` (f64 in %):
                Computing, as a share of the communication time.
            imbalance: How evenly locations compute, bin by bin.
            - ``start_s`` (f64 in s):
                Start of the bin, after the start of the trace.
            - ``end_s`` (f64 in s):
                End of the bin.
            - ``mean_s`` (f64 in s):
                Computing in the bin, on average over the locations.
            - ``max_s`` (f64 in s):
                Of the location that computes most.
            - ``saving_s`` (f64 in s):
                Maximum minus mean: the potential saving.
            - ``balance_ratio`` (f64, may be null):
                Mean / maximum; 1 is balanced; null where no location computes.
            - ``imbalance_percent`` (f64 in %, may be null):
                Maximum minus mean, as a share of the maximum.
            - ``slowest`` (string, may be null):
                The location that computes most; null where none does.

        Examples
        --------
        >>> answer = experiment.over_time()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "over_time",
            {
                "what": what,
                "by": by,
                "bins": bins,
                "profiles": profiles,
                "window": window,
                "from_ns": from_ns,
                "to_ns": to_ns,
            },
        )

    def iterations(
        self,
        *,
        marker: str | None = None,
        contexts: str | None = None,
        chosen: str | None = None,
        cells: IterationCells = "map",
        context: int | None = None,
        profiles: str | None = None,
        window: str | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> IterationsAnswer:
        """Repeated phases of a trace, their load imbalance, and the potential saving.

        Parameters
        ----------
        marker : str, optional
            A context expression: iterations begin where one of these is entered; null to find
            them.
        contexts : str, optional
            A context expression: only these, with what they call, count; null for all.
        chosen : str, optional
            Only these iterations count, such as `3` or `3-7`, counted from 0; null for all.
        cells : IterationCells, default "map"
            What the table `cells` has.
        context : int, optional
            Of a map: id of the context whose times it has; null for all that computes.
        profiles : str, optional
            A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the
            critical path, changes over time and iterations then exclude helper threads, which
            an expression includes where it names them.
        window : str, optional
            A time window, such as `1.5s..2s` after the start or `10%..20%`; null for
            everything.
        from_ns : int, optional
            Start of the time range, in nanoseconds since the first record of the trace; null
            for the beginning.
        to_ns : int, optional
            Its end, in nanoseconds since the first record; null for the end of the trace.

        Returns
        -------
        IterationsAnswer
            The reply and the tables:

        contexts : Table
            Contexts, with the potential saving from balancing them.
            - ``context`` (string):
                The function. What a program numbers is one: `Step[*]` is all of `Step[0]`,
                `Step[1]`, and so is what they call.
            - ``does`` (string):
                `computing`, `communicating` (in MPI) or `waiting`.
            - ``share_percent`` (f64 in %):
                Share of the active time of locations in iterations.
            - ``mean_s`` (f64 in s):
                Mean over locations, per iteration.
            - ``max_s`` (f64 in s):
                Maximum over locations, mean over iterations.
            - ``balance_ratio`` (f64):
                Mean / maximum over locations, over all iterations; 1 is balanced.
            - ``across_percent`` (f64 in %, may be null):
                Coefficient of variation across locations.
            - ``within_percent`` (f64 in %, may be null):
                Coefficient of variation within one location over iterations, on average.
            - ``saving_s`` (f64 in s):
                Maximum minus mean: the potential saving per iteration.
            - ``total_saving_s`` (f64 in s, may be null):
                Maximum minus mean over all iterations, `waited_s` at most; where that may be
                noise of sampling the static part, where it is more than noise. Null for waiting
                and communication, and where nothing can be said.
            - ``lasting_saving_s`` (f64 in s):
                Potential saving from static imbalance: the same in all iterations.
            - ``resolved`` (string):
                `no` when samples are too far apart to judge single iterations.
            - ``slowest`` (string):
                The location with the largest mean.
            - ``call_path`` (string):
                From the outermost caller.
            - ``context_id`` (u32):
                Id in the database; of numbered phases that of the first one.

        locations : Table
            Locations: how long they compute and wait in an iteration.
            - ``location`` (string):
                The location.
            - ``length_s`` (f64 in s):
                Mean length of an iteration.
            - ``computing_s`` (f64 in s):
                Mean time of computing in an iteration.
            - ``communicating_s`` (f64 in s):
                Mean time in MPI, excluding wait time.
            - ``waiting_s`` (f64 in s):
                Mean wait time.
            - ``variation_percent`` (f64 in %, may be null):
                Coefficient of variation of computing over iterations.
            - ``slowest_in`` (u64):
                Number of iterations in which this location computes longest.

        iterations : Table
            Iterations in order of time.
            - ``iteration`` (u64):
                Counted from 0.
            - ``state`` (string):
                Only `whole` iterations count in statistics.
            - ``start_s`` (f64 in s):
                When the first location begins it, after the start of the trace.
            - ``length_s`` (f64 in s):
                Mean over locations.
            - ``mean_s`` (f64 in s):
                Computing: mean over locations.
            - ``max_s`` (f64 in s):
                Computing: the largest of the locations.
            - ``balance_ratio`` (f64, may be null):
                Mean / maximum of computing; 1 is balanced.
            - ``imbalance_percent`` (f64 in %, may be null):
                Maximum minus mean of computing, as a share of the maximum.
            - ``saving_s`` (f64 in s):
                Potential saving from balancing each context that computes on its own.
            - ``waiting_s`` (f64 in s):
                Mean wait time.
            - ``slowest`` (string):
                The location that computes longest.

        cells : Table
            a map: One number for each location and iteration.
            - ``location`` (u32):
                Its place among the locations.
            - ``iteration`` (u32):
                Counted from 0.
            - ``time_s`` (f64 in s):
                Time.
            - ``difference_s`` (f64 in s):
                Time - mean over the locations in that iteration.
            all contexts: The time of each context on each location in each iteration.
            - ``iteration`` (u32):
                Counted from 0.
            - ``location`` (string):
                The location.
            - ``context`` (string):
                What. Numbered phases are one, as in the table of contexts.
            - ``context_id`` (u32):
                Id in the database; of numbered phases that of the first one.
            - ``time_s`` (f64 in s):
                Time in it without what it calls; of MPI with what lies below.
            calling context trees: The calling context tree of each iteration: by iteration, and
            callers before what they call. Times are over all locations of the iterations; one
            that is never in a context has 0 there.
            - ``iteration`` (u32):
                Counted from 0.
            - ``context`` (string):
                What. Numbered phases are one, as in the table of contexts.
            - ``depth`` (u32):
                Number of functions above it.
            - ``locations`` (u32):
                Number of locations that are in it, or in what it calls.
            - ``inclusive_s`` (f64 in s):
                Mean time with what it calls.
            - ``inclusive_min_s`` (f64 in s):
                The shortest.
            - ``inclusive_max_s`` (f64 in s):
                The longest.
            - ``inclusive_deviation_s`` (f64 in s):
                Standard deviation of the population.
            - ``exclusive_s`` (f64 in s):
                Mean time without what it calls; of MPI with what lies below.
            - ``exclusive_min_s`` (f64 in s):
                The shortest.
            - ``exclusive_max_s`` (f64 in s):
                The longest.
            - ``exclusive_deviation_s`` (f64 in s):
                Standard deviation of the population.
            - ``context_id`` (u32):
                Id in the database; of numbered phases that of the first one.
            - ``parent_id`` (u32, may be null):
                Id of the context that calls it; null for the roots.

        Examples
        --------
        >>> answer = experiment.iterations()
        >>> answer.contexts.to_pandas()
        """
        return self._ask(
            "iterations",
            {
                "marker": marker,
                "contexts": contexts,
                "chosen": chosen,
                "cells": cells,
                "context": context,
                "profiles": profiles,
                "window": window,
                "from_ns": from_ns,
                "to_ns": to_ns,
            },
        )

    def balance(
        self,
        *,
        metric: str | None = None,
        profiles: str | None = None,
        contexts: str | None = None,
        is_exclusive: bool = False,
        by: BalanceBy = "profile",
        by_context: bool = False,
        all_locations: bool = False,
        slowest: int = 3,
        helpers: bool = False,
    ) -> BalanceAnswer:
        """Load imbalance of contexts over locations, ranks or nodes.

        Parameters
        ----------
        metric : str, optional
            A metric expression; null for the metric that says most about time.
        profiles : str, optional
            A profile expression; null for all locations.
        contexts : str, optional
            A context expression; null for the functions that cost at least 1 %, without what
            lies below calls of MPI and without helper threads.
        is_exclusive : bool, default False
            Compare costs without what contexts call.
        by : BalanceBy, default "profile"
            What is compared.
        by_context : bool, default False
            Compare single contexts, not functions wherever they are called from.
        all_locations : bool, default False
            Count locations that ran, but never entered a context, with 0; otherwise only those
            that take part are compared, and `absent` is how many do not.
        slowest : int, default 3
            How many of the slowest to name.
        helpers : bool, default False
            Include helper threads: those that MPI, networks, drivers or the measurement start
            for themselves.

        Returns
        -------
        BalanceAnswer
            The reply and the tables:

        rows : Table
            Contexts or functions, the largest potential saving first.
            - ``context_id`` (u32):
                Id of the context in the database; of a function, the first one.
            - ``name`` (string):
                Context or function.
            - ``path`` (string):
                Call path from the entry down.
            - ``contexts`` (u64):
                Number of contexts that were added up.
            - ``members`` (u64):
                Number of locations, ranks or nodes that are compared.
            - ``with_value`` (u64):
                Number of them that spent something here.
            - ``absent`` (u64):
                Number of locations, ranks or nodes that ran, but never entered it, and are not
                compared.
            - ``saving`` (f64 in the unit of the metric):
                Maximum minus mean: the potential saving.
            - ``wasted`` (f64 in the unit of the metric):
                members x max - sum: the waiting of all together.
            - ``balance_ratio`` (f64, may be null):
                mean / max; 1 is perfect balance.
            - ``imbalance`` (f64, may be null):
                max / mean; 1 is perfect balance.
            - ``sum`` (f64 in the unit of the metric):
                Sum over all members.
            - ``mean`` (f64 in the unit of the metric):
                sum / members.
            - ``min`` (f64 in the unit of the metric):
                The smallest share.
            - ``p5`` (f64 in the unit of the metric):
                5th percentile.
            - ``p25`` (f64 in the unit of the metric):
                25th percentile.
            - ``p50`` (f64 in the unit of the metric):
                Median.
            - ``p75`` (f64 in the unit of the metric):
                75th percentile.
            - ``p95`` (f64 in the unit of the metric):
                95th percentile.
            - ``max`` (f64 in the unit of the metric):
                The largest share.
            - ``variance`` (f64 in the square of the unit of the metric, may be null):
                Sample variance, divisor n - 1.
            - ``std_dev`` (f64 in the unit of the metric, may be null):
                Square root of the variance.
            - ``variation`` (f64, may be null):
                Coefficient of variation: std_dev / mean.
            - ``slowest`` (string):
                The members with the largest values, from the largest.
            - ``histogram`` (string):
                Number of members in equal bins from min to max.

        Examples
        --------
        >>> answer = experiment.balance()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "balance",
            {
                "metric": metric,
                "profiles": profiles,
                "contexts": contexts,
                "is_exclusive": is_exclusive,
                "by": by,
                "by_context": by_context,
                "all_locations": all_locations,
                "slowest": slowest,
                "helpers": helpers,
            },
        )

    def idleness(
        self,
        *,
        metric: str | None = None,
        source: IdlenessSource = "best",
        blame: bool = False,
    ) -> IdlenessAnswer:
        """Idle time of threads and GPUs, and what threads did while GPUs were idle.

        Parameters
        ----------
        metric : str, optional
            A metric expression for times from profiles; null for the metric that says most
            about time.
        source : IdlenessSource, default "best"
            Where the times of threads come from.
        blame : bool, default False
            Instead, what threads did while the GPUs that they use were idle, from traces.

        Returns
        -------
        IdlenessAnswer
            The reply and the tables:

        rows : Table
            threads: Threads, helper threads included.
            - ``profile_id`` (u32):
                Number of the profile.
            - ``location`` (string):
                Thread.
            - ``whole`` (f64 in the unit of the metric):
                What the shares are of: span of the traces, or sampled time.
            - ``working`` (f64 in the unit of the metric):
                Neither idle nor waiting, also not for a core, nor in MPI.
            - ``idle`` (f64 in the unit of the metric):
                Not running, or idle in OpenMP.
            - ``idle_percent`` (f64 in %):
                Share of the whole that is idle.
            - ``not_running`` (f64 in the unit of the metric):
                No sample; 0 from profiles, where it is unknown.
            - ``openmp_idle`` (f64 in the unit of the metric):
                In `<omp idle>`.
            - ``openmp_wait`` (f64 in the unit of the metric):
                Waiting, overhead and runtime code of OpenMP.
            - ``mpi`` (f64 in the unit of the metric):
                In routines of MPI, waiting or not.
            - ``other_wait`` (f64 in the unit of the metric):
                Locks, sleeping, polling, waiting for GPUs.
            - ``without_core`` (f64 in the unit of the metric):
                Ready to run, while another thread had the core; only recordings of our own know
                it.
            - ``kind`` (string):
                `thread`, or `helper` for threads that only wait for events.
            GPUs: GPUs, by rank or node where each has one of its own.
            - ``group`` (string):
                Rank, node or GPU.
            - ``streams`` (u64):
                Number of GPU streams with samples.
            - ``trace_span`` (f64 in s, may be null):
                From the first to the last sample of its streams and of the threads that use it.
            - ``trace_active`` (f64 in s, may be null):
                Time in which at least one stream was active.
            - ``trace_idle`` (f64 in s, may be null):
                trace_span - trace_active.
            - ``trace_idle_percent`` (f64 in %, may be null):
                Share of trace_span that is idle.
            - ``thread_time`` (f64 in s, may be null):
                Time of the threads that launched GPU operations, from profiles.
            - ``operation_time`` (f64 in s, may be null):
                Time of GPU operations, from profiles.
            - ``profile_idle`` (f64 in s, may be null):
                thread_time - operation_time.
            blame: What threads did while GPUs were idle, the largest first.
            - ``idle_percent`` (f64 in %):
                Share of the GPU idle time.
            - ``idle`` (f64 in s):
                Blame (exclusive): idle time of a GPU, shared among the active threads of its
                ranks.
            - ``idle_with_calls`` (f64 in s):
                Blame (inclusive): the same including callees.
            - ``context_id`` (u64, may be null):
                Id of it in the database; nothing where no thread was active.
            - ``call_path`` (string):
                Call path of active threads, outermost first.

        Examples
        --------
        >>> answer = experiment.idleness()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "idleness",
            {
                "metric": metric,
                "source": source,
                "blame": blame,
            },
        )

    def gpu_stalls(
        self,
        *,
        by: GpuStallsBy = "kernel",
        kernel: str | None = None,
        profiles: str | None = None,
    ) -> GpuStallsAnswer:
        """Where instructions of GPUs stall and why, by instruction sampling; see
        [gpu-stalls.md](gpu-stalls.md).

        Parameters
        ----------
        by : GpuStallsBy, default "kernel"
            What the rows are.
        kernel : str, optional
            Only the kernel of this name, or those that match this glob; null for all.
        profiles : str, optional
            Which locations; null for all.

        Returns
        -------
        GpuStallsAnswer
            The reply and the tables:

        rows : Table
            Where kernels stall, most cycles first.
            - ``kernel`` (string):
                The kernel.
            - ``function`` (string):
                The function on the device; empty where it is not known, and for kernels.
            - ``file`` (string):
                The source file; empty where it is not known.
            - ``line`` (u32, may be null):
                The line in it; null where it is not known.
            - ``instruction`` (string):
                Load module and offset; empty but for instructions.
            - ``cycles`` (f64 in cycles):
                Estimated GPU cycles.
            - ``cycles_percent`` (f64 in %):
                Share of the cycles of all rows.
            - ``issue_percent`` (f64 in %, may be null):
                Share of these cycles in which an instruction was issued.
            - ``hidden_percent`` (f64 in %, may be null):
                Share of these cycles in which the instruction stalled while another one was
                issued.
            - ``exposed_percent`` (f64 in %, may be null):
                Share of these cycles in which no instruction was issued.
            - ``reason`` (string, may be null):
                The most frequent reason of exposed stalls.
            - ``reason_percent`` (f64 in %, may be null):
                Share of these cycles that are exposed for that reason.
            - ``samples`` (f64, may be null):
                About how many samples the row stands on; null where that is not known.
            - ``kernel_s`` (f64 in s, may be null):
                Time of the kernel; null for other rows and where it was not measured.
            - ``context_id`` (u32):
                Id in the database of the context with most cycles.

        reasons : Table
            Reasons of exposed stalls, the most frequent first.
            - ``reason`` (string):
                Name of the reason.
            - ``code`` (string):
                How names of metrics end.
            - ``group`` (string):
                What it has in common with others: memory, dependency, compute, synchronisation,
                instruction fetch or other.
            - ``cycles`` (f64 in cycles):
                Estimated GPU cycles.
            - ``cycles_percent`` (f64 in %):
                Share of all cycles.
            - ``stalls_percent`` (f64 in %):
                Share of all exposed stalls.
            - ``meaning`` (string):
                What it means.
            - ``remedy`` (string):
                What one usually does about it; empty where nothing can be done.

        stalls : Table
            Exposed stalls of a row for one reason; row after row, in each the most frequent
            first.
            - ``row`` (u32):
                Number of the row among `rows`, from 0.
            - ``reason`` (string):
                Name of the reason.
            - ``group`` (string):
                What it has in common with others.
            - ``cycles`` (f64 in cycles):
                Estimated GPU cycles.
            - ``cycles_percent`` (f64 in %):
                Share of the cycles of the row.

        Examples
        --------
        >>> answer = experiment.gpu_stalls()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "gpu_stalls",
            {
                "by": by,
                "kernel": kernel,
                "profiles": profiles,
            },
        )

    def correlations(
        self,
        *,
        metrics: Sequence[str] = (),
        profiles: str | None = None,
        with_: Sequence[str] = (),
        by: CorrelationBy = "function",
        min_percent: float = 1.0,
        order: CorrelationOrder = "significance",
        top: int = 200,
        helpers: bool = False,
    ) -> CorrelationsAnswer:
        """Correlations over locations between exclusive values of functions, totals and
        identities.

        Parameters
        ----------
        metrics : Sequence[str], default ()
            Metric expressions, or formulas after `=`; none for the metric that says most about
            time.
        profiles : str, optional
            A profile expression; null for all locations.
        with_ : Sequence[str], default ()
            One column of each pair has such a name, which may be a glob: a metric (its total),
            a kind of identity such as `rank`, or a function; none for all.
        by : CorrelationBy, default "function"
            What the values belong to.
        min_percent : float, default 1.0
            Omit contexts whose exclusive value is below this share of the total, in per cent.
        order : CorrelationOrder, default "significance"
            By what pairs are ranked.
        top : int, default 200
            Pairs at most.
        helpers : bool, default False
            Include helper threads: those that MPI, networks, drivers or the measurement start
            for themselves.

        Returns
        -------
        CorrelationsAnswer
            The reply and the tables:

        pairs : Table
            Pairs of columns, the strongest first.
            - ``first`` (string):
                The exclusive value of a function, a total, or a number such as the rank.
            - ``second`` (string):
                The correlated quantity.
            - ``locations`` (u64):
                Locations with both values.
            - ``pearson`` (f64):
                Linear correlation: 1 positive, -1 negative, 0 none.
            - ``pearson_p`` (f64):
                p value of the coefficient, adjusted for all pairs.
            - ``spearman`` (f64):
                Rank correlation: 1 the same order, -1 the reverse order.
            - ``spearman_p`` (f64):
                p value of the coefficient, adjusted for all pairs.

        Examples
        --------
        >>> answer = experiment.correlations()
        >>> answer.pairs.to_pandas()
        """
        return self._ask(
            "correlations",
            {
                "metrics": metrics,
                "profiles": profiles,
                "with": with_,
                "by": by,
                "min_percent": min_percent,
                "order": order,
                "top": top,
                "helpers": helpers,
            },
        )

    def correlation_points(
        self,
        first: str,
        second: str,
        *,
        of: CorrelationsRequest | None = None,
    ) -> CorrelationPointsAnswer:
        """Two columns of `correlations` at each location, as a scatter plot needs them.

        Parameters
        ----------
        first : str
            Name of a column, as the table `pairs` has it.
        second : str
            Name of another one.
        of : CorrelationsRequest, optional
            The question that `first` and `second` come from.

        Returns
        -------
        CorrelationPointsAnswer
            The reply and the tables:

        points : Table
            Locations with both values; their units are in the reply.
            - ``location`` (u32):
                Id of the location.
            - ``label`` (string):
                What the location is called.
            - ``first`` (f64):
                The first column.
            - ``second`` (f64):
                The second column.

        Examples
        --------
        >>> answer = experiment.correlation_points(first, second)
        >>> answer.points.to_pandas()
        """
        return self._ask(
            "correlation_points",
            {
                "first": first,
                "second": second,
                "of": of,
            },
        )

    def clusters(
        self,
        *,
        metrics: Sequence[str] = (),
        contexts: str | None = None,
        profiles: str | None = None,
        is_exclusive: bool = False,
        by: BalanceBy = "profile",
        method: ClusterMethod = "dbscan",
        k: int | None = None,
        eps: float | None = None,
        min_points: int | None = None,
        helpers: bool = False,
    ) -> ClustersAnswer:
        """Clusters of locations, ranks or nodes with similar cost, and what separates them.

        Parameters
        ----------
        metrics : Sequence[str], default ()
            Metric expressions; none for the metric that says most about time.
        contexts : str, optional
            A context expression, each context a feature; null for the innermost functions that
            cost at least 1 %, those first that perfect balance would save most.
        profiles : str, optional
            A profile expression; null for all locations.
        is_exclusive : bool, default False
            Costs without what contexts call.
        by : BalanceBy, default "profile"
            What is clustered. A node has the mean of its ranks.
        method : ClusterMethod, default "dbscan"
            How.
        k : int, optional
            Number of clusters of k-means, 1 to 64; null chooses it from the data.
        eps : float, optional
            Largest distance of neighbours of DBSCAN, in standard deviations; null chooses it
            from the data.
        min_points : int, optional
            Members within that distance of a core point of DBSCAN; null chooses it from the
            data.
        helpers : bool, default False
            Include helper threads: those that MPI, networks, drivers or the measurement start
            for themselves.

        Returns
        -------
        ClustersAnswer
            The reply and the tables:

        members : Table
            The members, in the order of the database.
            - ``location`` (u32):
                Profile number in the database; of a rank or node, of its first location.
            - ``label`` (string):
                What it is called.
            - ``node`` (u64, may be null):
                Host id of its node.
            - ``group`` (u64, may be null):
                Its group, from 1; null for outliers.
            - ``axis_1`` (f64):
                Position along the axis in which members differ most, in standard deviations.
            - ``axis_2`` (f64):
                Position along the second axis.
            - ``feature (columns)``:
                Value of each feature, in its unit.

        groups : Table
            Each cluster and feature, the largest cluster first.
            - ``group`` (u64):
                Number of the group, the largest first.
            - ``members`` (u64):
                Members of the group.
            - ``nodes`` (u64, may be null):
                Nodes with members of the group.
            - ``feature`` (string):
                Context and metric.
            - ``mean`` (f64 in the unit of `unit`):
                Mean over the members of the group.
            - ``min`` (f64 in the unit of `unit`):
                Smallest.
            - ``max`` (f64 in the unit of `unit`):
                Largest.
            - ``std_dev`` (f64 in the unit of `unit`):
                Sample standard deviation.
            - ``unit`` (string):
                Unit of these numbers.

        features : Table
            The features, the one that separates best first.
            - ``feature`` (string):
                Context and metric.
            - ``context`` (string):
                Its call path.
            - ``context_id`` (u32):
                Id of it in the database.
            - ``eta_squared`` (f64, may be null):
                Part of its variance that lies between the groups; null with one cluster.
            - ``cohens_d`` (f64, may be null):
                Difference of the two groups that are farthest apart, in standard deviations.
            - ``auc`` (f64, may be null):
                Probability that a member of one cluster has more than a member of the other.
            - ``disjoint`` (u64):
                1: values of the clusters do not overlap.
            - ``balance_ratio`` (f64, may be null):
                Mean divided by the largest, over all members.
            - ``used`` (u64):
                1: groups are made by it. 0: the same everywhere, or the whole execution.

        stability : Table
            Each number of clusters of k-means with each pair of clusters that share nodes.
            - ``of`` (string):
                Which members k-means was run on.
            - ``k`` (u32):
                Number of groups.
            - ``first`` (u64, may be null):
                A group; null where no groups share nodes.
            - ``second`` (u64, may be null):
                Another group.
            - ``shared_nodes`` (u64):
                Nodes with members in both.
            - ``split_nodes`` (u64):
                Nodes with members in several of the k groups.

        scores : Table
            Each number of clusters of k-means, ascending.
            - ``k`` (u32):
                Number of groups.
            - ``explained_percent`` (f64 in %):
                Part of the variance that lies between the groups.
            - ``silhouette`` (f64, may be null):
                How clear the groups are: 1 is perfect.
            - ``gap`` (f64):
                How much closer together than evenly spread members, as a difference of
                logarithms.
            - ``gap_error`` (f64):
                Standard error of the gap.
            - ``chosen`` (u64):
                1: the k that these speak for.

        steps : Table
            Each eps of DBSCAN that was tried.
            - ``eps`` (f64):
                Largest distance of neighbours, in standard deviations.
            - ``groups`` (u32):
                Groups with it.
            - ``outliers`` (u64):
                Outliers.
            - ``chosen`` (u64):
                1: the eps that was used.

        Examples
        --------
        >>> answer = experiment.clusters()
        >>> answer.members.to_pandas()
        """
        return self._ask(
            "clusters",
            {
                "metrics": metrics,
                "contexts": contexts,
                "profiles": profiles,
                "is_exclusive": is_exclusive,
                "by": by,
                "method": method,
                "k": k,
                "eps": eps,
                "min_points": min_points,
                "helpers": helpers,
            },
        )

    def topology(
        self,
        *,
        hosts: Sequence[TextFile] = (),
        system: NodeNames = "xname",
        description: TextFile | None = None,
        metrics: Sequence[str] = (),
        contexts: str | None = None,
        profiles: str | None = None,
        is_exclusive: bool = False,
        by: BalanceBy = "profile",
        method: ClusterMethod = "dbscan",
        k: int | None = None,
        eps: float | None = None,
        min_points: int | None = None,
        helpers: bool = False,
    ) -> TopologyAnswer:
        """Where nodes are in the machine, and whether those of a cluster are close together.

        Parameters
        ----------
        hosts : Sequence[TextFile], default ()
            Host tables: `hostid,xname`, `/etc/hosts`, `pbsnodes -F json`, `topology.conf`. They
            complete each other, and the first one wins.
        system : NodeNames, default "xname"
            How nodes are named.
        description : TextFile, optional
            The description of another system, which counts instead of `system`; null for none.
        metrics : Sequence[str], default ()
            Metric expressions; none for the metric that says most about time.
        contexts : str, optional
            A context expression, each context a feature; null for the innermost functions that
            cost at least 1 %, those first that perfect balance would save most.
        profiles : str, optional
            A profile expression; null for all locations.
        is_exclusive : bool, default False
            Costs without what contexts call.
        by : BalanceBy, default "profile"
            What is clustered. A node has the mean of its ranks.
        method : ClusterMethod, default "dbscan"
            How.
        k : int, optional
            Number of clusters of k-means, 1 to 64; null chooses it from the data.
        eps : float, optional
            Largest distance of neighbours of DBSCAN, in standard deviations; null chooses it
            from the data.
        min_points : int, optional
            Members within that distance of a core point of DBSCAN; null chooses it from the
            data.
        helpers : bool, default False
            Include helper threads: those that MPI, networks, drivers or the measurement start
            for themselves.

        Returns
        -------
        TopologyAnswer
            The reply and the tables:

        nodes : Table
            The nodes, by host id.
            - ``host_id`` (string):
                Id of the node, as gethostid gives it.
            - ``address`` (string, may be null):
                The address that the id holds.
            - ``name`` (string, may be null):
                Its name, where a host table has it.
            - ``group`` (u64, may be null):
                Group of most of its members, from 1; null where most are outliers.
            - ``members`` (u64):
                Members on it.
            - ``value`` (f64 in the unit of the metric):
                Mean of the feature that separates the groups best.
            - ``switch_group`` (string, may be null):
                Group of switches, such as a group of a dragonfly.
            - ``rack`` (string, may be null):
                Rack.
            - ``switch`` (string, may be null):
                Switch.
            - ``chassis`` (string, may be null):
                Chassis.
            - ``slot`` (string, may be null):
                Slot.

        units : Table
            Racks, chassis, switches, by level and name.
            - ``level`` (string):
                What it is.
            - ``unit`` (string):
                Its name.
            - ``nodes`` (u64):
                Nodes of the run in it.
            - ``group (columns)``:
                Of these, those of each group: `group_1`, `group_2`, ...
            - ``mean`` (f64 in the unit of the metric):
                Mean over its nodes.
            - ``min`` (f64 in the unit of the metric):
                The smallest.
            - ``max`` (f64 in the unit of the metric):
                The largest.

        concentration : Table
            Each cluster but the largest with each level of the machine.
            - ``group`` (u64):
                The group, from 1.
            - ``level`` (string):
                Over which parts of the machine.
            - ``nodes`` (u64):
                Nodes of the group.
            - ``touched`` (u64):
                Parts with nodes of the group.
            - ``units`` (u64):
                Parts with nodes of the run.
            - ``expected_touched`` (f64):
                Parts with some by chance, in the mean.
            - ``whole`` (u64):
                Parts of at least two nodes that are all of the group.
            - ``expected_whole`` (f64):
                Whole parts by chance, in the mean.
            - ``p_together`` (f64):
                How likely they are so close together by chance.
            - ``p_apart`` (f64):
                How likely they are so evenly spread by chance.
            - ``p_together_adjusted`` (f64):
                The same for all groups and levels at once (Holm).
            - ``p_apart_adjusted`` (f64):
                The same for all groups and levels at once (Holm).
            - ``finding`` (string):
                The same as a sentence.

        members : Table
            The members, in the order of the database.
            - ``location`` (u32):
                Profile number in the database; of a rank or node, of its first location.
            - ``label`` (string):
                What it is called.
            - ``node`` (u64, may be null):
                Host id of its node.
            - ``group`` (u64, may be null):
                Its group, from 1; null for outliers.
            - ``axis_1`` (f64):
                Position along the axis in which members differ most, in standard deviations.
            - ``axis_2`` (f64):
                Position along the second axis.
            - ``feature (columns)``:
                Value of each feature, in its unit.

        Examples
        --------
        >>> answer = experiment.topology()
        >>> answer.nodes.to_pandas()
        """
        return self._ask(
            "topology",
            {
                "hosts": hosts,
                "system": system,
                "description": description,
                "metrics": metrics,
                "contexts": contexts,
                "profiles": profiles,
                "is_exclusive": is_exclusive,
                "by": by,
                "method": method,
                "k": k,
                "eps": eps,
                "min_points": min_points,
                "helpers": helpers,
            },
        )

    def advise(
        self,
        *,
        contexts: str | None = None,
        workers: int = 4,
        by: AdviseBy = "loop",
    ) -> AdviseAnswer:
        """What of a run could have been executed in parallel; needs every call, iteration and
        access.

        Parameters
        ----------
        contexts : str, optional
            A context expression: only these contexts and what is below them; null for all.
            Tasks are those of the first.
        workers : int, default 4
            How many workers tasks are put on.
        by : AdviseBy, default "loop"
            What the rows are.

        Returns
        -------
        AdviseAnswer
            The reply and the tables:

        rows : Table
            loops: Loops, most work first.
            - ``verdict`` (string):
                Result for the iterations of the recorded run.
            - ``loop`` (string):
                The loop, with its call path.
            - ``context_id`` (u32):
                Id of it in the database.
            - ``because`` (string):
                Reasons for and against, and what to change.
            - ``work_s`` (f64 in s):
                Time of all executions.
            - ``share_percent`` (f64 in %):
                Share of the work of the run.
            - ``saving_s`` (f64 in s):
                Work minus span: the potential saving.
            - ``executions`` (u64):
                How often it was entered.
            - ``iterations`` (u64):
                Iterations of all executions.
            - ``most_iterations`` (u64):
                Most iterations of one execution.
            references: What iterations share and write.
            - ``loop`` (string):
                The loop, with its call path.
            - ``context_id`` (u32):
                Id of it in the database.
            - ``reference`` (string):
                Variable or allocation.
            - ``storage`` (string):
                Storage class.
            - ``effect`` (string):
                Effect on the iterations.
            - ``written_at`` (string, may be null):
                Where it is written.
            - ``read_at`` (string, may be null):
                Where it is read.
            - ``iterations`` (u64):
                Iterations that it concerns.
            - ``earlier`` (u32):
                An iteration that shows it.
            - ``later`` (u32):
                A later one that shows it.
            - ``references`` (u64):
                Variables or allocations of this kind.
            - ``compared`` (string):
                Whole variables, or byte ranges.
            pairs: Calls that could be tasks but depend on each other.
            - ``below`` (string):
                The common caller.
            - ``context_id`` (u32):
                Id of it in the database.
            - ``earlier`` (string):
                What comes first.
            - ``later`` (string):
                What depends on it.
            - ``dependence`` (string):
                How it depends on it.
            - ``reference`` (string):
                Through what.
            - ``earlier_at`` (string, may be null):
                First access.
            - ``later_at`` (string, may be null):
                Second access.
            - ``pairs`` (u64):
                How many pairs of calls.
            contexts: Calls and loops, most work first.
            - ``context`` (string):
                The call path.
            - ``context_id`` (u32):
                Id of it in the database.
            - ``kind`` (string):
                Call or loop execution.
            - ``times`` (u64):
                How many of these.
            - ``work_s`` (f64 in s):
                Total time, executed sequentially.
            - ``span_s`` (f64 in s):
                Time with any number of workers.
            - ``parallelism`` (f64):
                Work divided by span: the maximum speedup.
            - ``share_percent`` (f64 in %):
                Share of the work of the run.
            tasks: Tasks on workers, in order of their start.
            - ``worker`` (u32):
                Who executes it, from 1.
            - ``number`` (u64):
                Which task it is, in the order of the run.
            - ``task`` (string):
                The call or loop.
            - ``context_id`` (u32):
                Id of it in the database.
            - ``start_s`` (f64 in s):
                From the start of the schedule.
            - ``end_s`` (f64 in s):
                From the start of the schedule.
            - ``takes_s`` (f64 in s):
                Its work.
            - ``waits_for`` (string):
                Numbers of tasks that it depends on.
            races: Accesses of several threads that nothing orders.
            - ``reference`` (string):
                Variable or allocation.
            - ``storage`` (string):
                Storage class.
            - ``first_at`` (string, may be null):
                Where the first access is.
            - ``first_access`` (string):
                What it does.
            - ``first_thread`` (string):
                A thread that does.
            - ``second_at`` (string, may be null):
                Where the other access is.
            - ``second_access`` (string):
                What it does.
            - ``second_thread`` (string):
                A thread that does.
            - ``pairs`` (u64):
                How many pairs of accesses.

        Examples
        --------
        >>> answer = experiment.advise()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "advise",
            {
                "contexts": contexts,
                "workers": workers,
                "by": by,
            },
        )

    def differences(
        self,
        new: Experiment,
        *,
        metric: str | None = None,
        profiles: str | None = None,
        by: DifferencesBy | None = None,
        over: OverLocations | None = None,
    ) -> DifferencesAnswer:
        """What changed from one experiment to another.

        Parameters
        ----------
        new
            The new version; the one that is asked is the old one.
        metric : str, optional
            A metric expression, or a formula after `=`; null for a time that both have.
        profiles : str, optional
            A profile expression; null for all locations.
        by : DifferencesBy, optional
            What rows are; null for contexts, or functions where the experiments come from
            different tools.
        over : OverLocations, optional
            How locations become one value; null for the sum, or the mean of different numbers
            of locations.

        Returns
        -------
        DifferencesAnswer
            The reply and the tables:

        rows : Table
            Contexts or functions of two versions. Columns that begin with `own_` are about
            costs without the rows below.
            - ``version`` (string, in some answers):
                The version that is compared with the first.
            - ``name`` (string):
                What the context is called.
            - ``context`` (string):
                The names from the outermost context down to it.
            - ``kind`` (string):
                What it is: function, loop, ...
            - ``in`` (string):
                Where it exists: both versions, old or new.
            - ``old`` (f64 in the unit of the metric):
                Cost in the old version.
            - ``new`` (f64 in the unit of the metric):
                Cost in the new version.
            - ``difference`` (f64 in the unit of the metric):
                New minus old.
            - ``change_percent`` (f64 in %, may be null):
                The difference of the old cost.
            - ``ratio`` (f64, may be null):
                New over old.
            - ``share_percent`` (f64 in %, may be null):
                Of the whole program's difference.
            - ``low`` (f64 in the unit of the metric, may be null):
                95 % interval of the difference, lower end.
            - ``high`` (f64 in the unit of the metric, may be null):
                95 % interval of the difference, upper end.
            - ``p`` (f64, may be null):
                Probability of such a difference by chance.
            - ``p_adjusted`` (f64, may be null):
                The same for many contexts at once.
            - ``effect`` (f64, may be null):
                The difference in standard deviations.
            - ``verdict`` (string, may be null):
                more, less, or within what chance makes; null where it was not tested.
            - ``own_old`` (f64 in the unit of the metric):
                Cost in the old version.
            - ``own_new`` (f64 in the unit of the metric):
                Cost in the new version.
            - ``own_difference`` (f64 in the unit of the metric):
                New minus old.
            - ``own_change_percent`` (f64 in %, may be null):
                The difference of the old cost.
            - ``own_ratio`` (f64, may be null):
                New over old.
            - ``own_share_percent`` (f64 in %, may be null):
                Of the whole program's difference.
            - ``own_low`` (f64 in the unit of the metric, may be null):
                95 % interval of the difference, lower end.
            - ``own_high`` (f64 in the unit of the metric, may be null):
                95 % interval of the difference, upper end.
            - ``own_p`` (f64, may be null):
                Probability of such a difference by chance.
            - ``own_p_adjusted`` (f64, may be null):
                The same for many contexts at once.
            - ``own_effect`` (f64, may be null):
                The difference in standard deviations.
            - ``own_verdict`` (string, may be null):
                more, less, or within what chance makes; null where it was not tested.
            - ``basis`` (string, in some answers):
                What p stands on: repetitions, paired locations or locations; null where nothing
                was tested.
            - ``tested`` (u64, in some answers):
                Differences that were tested at once, which p_adjusted is adjusted for.
            - ``parent`` (u32, in some answers):
                Row around this one; the largest number for the whole program.
            - ``depth`` (u32, in some answers):
                Number of rows around this one.
            - ``width_new`` (f64 in the unit of the metric, in some answers):
                Sum of the own values of the new version in this subtree: a width that children
                fit into.
            - ``width_either`` (f64 in the unit of the metric, in some answers):
                The same with the larger of the old and the new own value.
            - ``old_context_id`` (u64, in some answers):
                A context of the version; null where it has none.
            - ``new_context_id`` (u64, in some answers):
                A context of the version; null where it has none.

        Examples
        --------
        >>> answer = experiment.differences(new)
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "differences",
            {
                "new": new,
                "metric": metric,
                "profiles": profiles,
                "by": by,
                "over": over,
            },
        )


class EnsembleQuestions(ItemQuestions):
    """Questions about an ensemble."""

    __slots__ = ()

    def scaling(
        self,
        *,
        cores: str | None = None,
        fixed: Sequence[tuple[str, str]] = (),
        metric: str | None = None,
        min_percent: float = 0.0,
        statistic: RepetitionStatistic = "median",
        baseline: ScalingBaseline = "serial",
        per_repetition: bool = False,
        clamp: bool = False,
        trusted: bool = False,
        order: CoreOrder = "ascending",
    ) -> ScalingAnswer:
        """Regions, verdict and maps of an ensemble.

        Parameters
        ----------
        cores : str, optional
            The parameter that counts cores, where it has an unusual name.
        fixed : Sequence[tuple[str, str]], default ()
            Parameters held at one value: name and value.
        metric : str, optional
            Which metric counts as time; null for `time`, else the first.
        min_percent : float, default 0.0
            Regions that never reach this share of the program's time, in per cent, are omitted.
        statistic : RepetitionStatistic, default "median"
            Statistic over repetitions.
        baseline : ScalingBaseline, default "serial"
            What efficiency is relative to: `serial`, `smallest` (of each input), `common` (the
            smallest that all inputs have), or a core count.
        per_repetition : bool, default False
            Efficiency of each repetition, then the statistic, as PaScal Viewer of 2018 does.
        clamp : bool, default False
            Take efficiencies above 100 % as 100 % in the differences.
        trusted : bool, default False
            Omit runs that may have failed: those that were far too short.
        order : CoreOrder, default "ascending"
            In which order maps show core counts; what they are computed from is the same.

        Returns
        -------
        ScalingAnswer
            The reply and the tables:

        cells : Table
            One row for each region, input and core count of the whole answer, in this nesting:
            row `(region * inputs + input) * cores + core`.
            - ``repetitions`` (u32):
                Runs measured.
            - ``time`` (f64 in the unit of the metric, may be null):
                Statistic of the repetitions.
            - ``time_min`` (f64 in the unit of the metric, may be null):
                Shortest repetition.
            - ``time_max`` (f64 in the unit of the metric, may be null):
                Longest repetition.
            - ``speedup`` (f64, may be null):
                Time of the baseline over the time.
            - ``efficiency`` (f64, may be null):
                Speedup per core of the baseline.
            - ``scalability_abs`` (f64, may be null):
                Efficiency less that of the first input.
            - ``strong_abs`` (f64, may be null):
                Efficiency less that of the baseline.
            - ``weak_abs`` (f64, may be null):
                Efficiency less that at the diagonal's start.
            - ``scalability_rel`` (f64, may be null):
                Efficiency less that of the input before.
            - ``strong_rel`` (f64, may be null):
                Efficiency less that on fewer cores.
            - ``weak_rel`` (f64, may be null):
                Efficiency less that one step up the diagonal.
            - ``imbalance`` (f64, may be null):
                Load imbalance of threads or ranks, (max - mean) / max; 0 is balanced.
            - ``loss`` (f64 in cores times the unit of the metric, may be null):
                Cost beyond the baseline.
            - ``own_loss`` (f64 in cores times the unit of the metric, may be null):
                Without what regions inside lose.
            - ``estimated`` (u32):
                How many of the runs were ended after their first iterations, so that their
                times are estimates.

        losses : Table
            Regions that lose where the whole program loses most, the worst first.
            - ``region`` (string):
                Id of the region.
            - ``name`` (string):
                What it is called.
            - ``input`` (string):
                Program arguments.
            - ``cores`` (u32):
                Cores used.
            - ``loss`` (f64 in cores times the unit of the metric):
                Core-seconds beyond the baseline, with everything inside.
            - ``own_loss`` (f64 in cores times the unit of the metric):
                The same without what the regions inside lose.
            - ``share`` (f64 in %, may be null):
                Own loss as a share of the program's loss.
            - ``cause`` (string, may be null):
                Why, where that can be seen.

        Examples
        --------
        >>> answer = ensemble.scaling()
        >>> answer.cells.to_pandas()
        """
        return self._ask(
            "scaling",
            {
                "view": {
                    "cores": cores,
                    "fixed": fixed,
                    "metric": metric,
                    "min_percent": min_percent,
                    "statistic": statistic,
                    "baseline": baseline,
                    "per_repetition": per_repetition,
                    "clamp": clamp,
                    "trusted": trusted,
                },
                "order": order,
            },
        )

    def scaling_table(
        self,
        table: ScalingTableKind,
        *,
        cores: str | None = None,
        fixed: Sequence[tuple[str, str]] = (),
        metric: str | None = None,
        min_percent: float = 0.0,
        statistic: RepetitionStatistic = "median",
        baseline: ScalingBaseline = "serial",
        per_repetition: bool = False,
        clamp: bool = False,
        trusted: bool = False,
        regions: Sequence[str] = (),
        order: CoreOrder = "ascending",
    ) -> ScalingTableAnswer:
        """One of the tables of an ensemble.

        Parameters
        ----------
        table : ScalingTableKind
            Which table.
        cores : str, optional
            The parameter that counts cores, where it has an unusual name.
        fixed : Sequence[tuple[str, str]], default ()
            Parameters held at one value: name and value.
        metric : str, optional
            Which metric counts as time; null for `time`, else the first.
        min_percent : float, default 0.0
            Regions that never reach this share of the program's time, in per cent, are omitted.
        statistic : RepetitionStatistic, default "median"
            Statistic over repetitions.
        baseline : ScalingBaseline, default "serial"
            What efficiency is relative to: `serial`, `smallest` (of each input), `common` (the
            smallest that all inputs have), or a core count.
        per_repetition : bool, default False
            Efficiency of each repetition, then the statistic, as PaScal Viewer of 2018 does.
        clamp : bool, default False
            Take efficiencies above 100 % as 100 % in the differences.
        trusted : bool, default False
            Omit runs that may have failed: those that were far too short.
        regions : Sequence[str], default ()
            Regions by id, path, name or glob; all when empty.
        order : CoreOrder, default "ascending"
            In which order the table `maps` has the core counts of an input.

        Returns
        -------
        ScalingTableAnswer
            The reply and the tables:

        rows : Table
            maps: One row for each region and configuration: the exact columns that other
            programs rely on. Configurations that were not measured are omitted where they would
            be too many.
            - ``region`` (string):
                Region; 0 is the whole program.
            - ``input`` (string):
                Program arguments.
            - ``cores`` (u32):
                Cores used.
            - ``repetitions`` (u32):
                Runs measured.
            - ``time`` (f64 in the unit of the metric, may be null):
                Statistic of the repetitions.
            - ``time_min`` (f64 in the unit of the metric, may be null):
                Shortest repetition.
            - ``time_max`` (f64 in the unit of the metric, may be null):
                Longest repetition.
            - ``speedup`` (f64, may be null):
                Time of the baseline over the time.
            - ``efficiency`` (f64, may be null):
                Speedup per core of the baseline.
            - ``scalability_abs`` (f64, may be null):
                Efficiency less that of the first input.
            - ``strong_abs`` (f64, may be null):
                Efficiency less that of the baseline.
            - ``weak_abs`` (f64, may be null):
                Efficiency less that at the diagonal's start.
            - ``scalability_rel`` (f64, may be null):
                Efficiency less that of the input before.
            - ``strong_rel`` (f64, may be null):
                Efficiency less that on fewer cores.
            - ``weak_rel`` (f64, may be null):
                Efficiency less that one step up the diagonal.
            - ``imbalance`` (f64, may be null):
                Load imbalance of threads or ranks, (max - mean) / max; 0 is balanced.
            - ``estimated`` (u32):
                How many of the runs were ended after their first iterations, so that their
                times are estimates.
            regions: One row for each region: its place, share, imbalance and verdict.
            - ``region`` (string):
                Id; 0 is the whole program.
            - ``parent`` (string, may be null):
                Region around it.
            - ``kind`` (string):
                What it is.
            - ``name`` (string):
                Name.
            - ``path`` (string):
                Call path.
            - ``file`` (string, may be null):
                Source file.
            - ``first_line`` (u32, may be null):
                First line.
            - ``last_line`` (u32, may be null):
                Last line.
            - ``share_min`` (f64 in %, may be null):
                Smallest share of its parent's time.
            - ``share_max`` (f64 in %, may be null):
                Largest share of its parent's time.
            - ``imbalance_mean`` (f64, may be null):
                Mean load imbalance over the configurations.
            - ``imbalance_max`` (f64, may be null):
                Largest load imbalance.
            - ``verdict`` (string):
                Verdict, in sentences.
            losses: Regions that lose where the whole program loses most, the worst first.
            - ``region`` (string):
                Id of the region.
            - ``name`` (string):
                What it is called.
            - ``input`` (string):
                Program arguments.
            - ``cores`` (u32):
                Cores used.
            - ``loss`` (f64 in cores times the unit of the metric):
                Core-seconds beyond the baseline, with everything inside.
            - ``own_loss`` (f64 in cores times the unit of the metric):
                The same without what the regions inside lose.
            - ``share`` (f64 in %, may be null):
                Own loss as a share of the program's loss.
            - ``cause`` (string, may be null):
                Why, where that can be seen.
            laws: The laws of scaling, fitted to each region and input. Gustafson's law is about
            the diagonal, on which work grows in proportion to cores: it is the same for all
            inputs of a region.
            - ``region`` (string):
                Region; 0 is the whole program.
            - ``name`` (string):
                What it is called.
            - ``input`` (string):
                Program arguments.
            - ``points`` (u32):
                Core counts with a time.
            - ``amdahl_serial`` (f64, may be null):
                Serial fraction by Amdahl's law.
            - ``amdahl_max_speedup`` (f64, may be null):
                Speedup that Amdahl's law allows at most.
            - ``amdahl_time`` (f64 in the unit of the metric, may be null):
                Time on one core by Amdahl's law.
            - ``amdahl_error`` (f64 in %, may be null):
                Relative error of times, root mean square.
            - ``usl_contention`` (f64, may be null):
                Sigma of the universal scalability law.
            - ``usl_coherency`` (f64, may be null):
                Kappa of the universal scalability law.
            - ``usl_peak_cores`` (f64, may be null):
                Cores beyond which more make it slower.
            - ``usl_error`` (f64 in %, may be null):
                Relative error of times, root mean square.
            - ``karp_flatt_first`` (f64, may be null):
                Serial fraction on the fewest cores.
            - ``karp_flatt_last`` (f64, may be null):
                Serial fraction on the most cores.
            - ``gustafson_serial`` (f64, may be null):
                Serial fraction where work grows in proportion to cores.
            - ``gustafson_error`` (f64 in %, may be null):
                Error of efficiency, root mean square.
            dispersion: How far the repetitions of each region and measured configuration lie
            apart.
            - ``region`` (string):
                Region; 0 is the whole program.
            - ``input`` (string):
                Program arguments.
            - ``cores`` (u32):
                Cores used.
            - ``repetitions`` (u32):
                Runs measured.
            - ``mean`` (f64 in the unit of the metric):
                Arithmetic mean.
            - ``median`` (f64 in the unit of the metric):
                Middle repetition.
            - ``min`` (f64 in the unit of the metric):
                Shortest repetition.
            - ``max`` (f64 in the unit of the metric):
                Longest repetition.
            - ``std_dev`` (f64 in the unit of the metric, may be null):
                Sample standard deviation.
            - ``variation`` (f64 in %, may be null):
                Standard deviation over the mean.
            - ``mean_low`` (f64 in the unit of the metric, may be null):
                Start of the 95 % interval of the mean.
            - ``mean_high`` (f64 in the unit of the metric, may be null):
                End of the 95 % interval of the mean.
            - ``outliers`` (u32):
                Repetitions far from the others (of four or more).
            energy: Energy of each region at each configuration where it was measured, one row
            for each meter.
            - ``region`` (string):
                Region; 0 is the whole program.
            - ``input`` (string):
                Program arguments.
            - ``cores`` (u32):
                Cores used.
            - ``meter`` (string):
                What measured it.
            - ``repetitions`` (u32):
                Runs with an energy.
            - ``energy`` (f64 in J, may be null):
                Statistic of the repetitions.
            - ``energy_min`` (f64 in J, may be null):
                Smallest repetition.
            - ``energy_max`` (f64 in J, may be null):
                Largest repetition.
            - ``power`` (f64 in W, may be null):
                Energy over time.
            - ``edp`` (f64 in J s, may be null):
                Energy-delay product.
            - ``variation`` (f64 in %, may be null):
                Standard deviation over the mean.
            - ``error`` (f64 in %, may be null):
                Largest difference from the independent total.
            - ``valid`` (string):
                Whether it passes all gates: yes, no, unknown.
            - ``note`` (string):
                Gates that it does not pass.
            pop: Efficiencies of the POP methodology for each region and configuration. The
            reference of computation, global efficiency and speedup is the smallest core count
            on which the same input was measured.
            - ``region`` (string):
                Region; 0 is the whole program.
            - ``name`` (string):
                What it is called.
            - ``input`` (string):
                Program arguments.
            - ``cores`` (u32):
                Cores used.
            - ``parallel`` (f64, may be null):
                Parallel efficiency: mean useful time over the runtime.
            - ``load_balance`` (f64, may be null):
                Mean useful time over the longest.
            - ``communication`` (f64, may be null):
                Longest useful time over the runtime.
            - ``serialisation`` (f64, may be null):
                The same on an ideal network.
            - ``transfer`` (f64, may be null):
                Communication over serialisation: the cost of moving data.
            - ``openmp_parallel`` (f64, may be null):
                Parallel efficiency of OpenMP, as reported.
            - ``openmp_load_balance`` (f64, may be null):
                Load balance of OpenMP, as reported.
            - ``openmp_scheduling`` (f64, may be null):
                Scheduling efficiency of OpenMP, as reported.
            - ``computation`` (f64, may be null):
                Total useful time of the reference over the own.
            - ``instructions`` (f64, may be null):
                Instructions of the reference over the own.
            - ``ipc`` (f64, may be null):
                Instructions per cycle over those of the reference.
            - ``frequency`` (f64, may be null):
                Cycles per useful time over those of the reference.
            - ``global`` (f64, may be null):
                Parallel efficiency times computation.
            - ``speedup`` (f64, may be null):
                Runtime of the reference over the own.
            - ``origin`` (string):
                Reported by the file, or computed from time in MPI.

        Examples
        --------
        >>> answer = ensemble.scaling_table(table)
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "scaling_table",
            {
                "table": table,
                "view": {
                    "cores": cores,
                    "fixed": fixed,
                    "metric": metric,
                    "min_percent": min_percent,
                    "statistic": statistic,
                    "baseline": baseline,
                    "per_repetition": per_repetition,
                    "clamp": clamp,
                    "trusted": trusted,
                },
                "regions": regions,
                "order": order,
            },
        )

    def models(
        self,
        *,
        parameters: Sequence[str] | None = None,
        numbers: Sequence[str] = (),
        metric: str | None = None,
        regions: Sequence[str] = (),
        statistic: RepetitionStatistic = "mean",
        search: ModelSearch = "basic",
        negative: bool = False,
        resources: str | None = None,
        at: Sequence[tuple[str, float]] = (),
        curve: CurveChoice | None = None,
    ) -> ModelsAnswer:
        """Growth models of the regions of an ensemble: how a metric grows with the parameters.

        Parameters
        ----------
        parameters : Sequence[str], optional
            Parameters of the models; null for all whose values are numbers. The others tell
            models apart.
        numbers : Sequence[str], default ()
            Numbers inside labels: `NAME=REGEX`, the first group of the expression in the values
            of the parameter.
        metric : str, optional
            The metric; null for all that were measured.
        regions : Sequence[str], default ()
            Regions by id, path or name; all when empty.
        statistic : RepetitionStatistic, default "mean"
            Statistic over repetitions that is modelled.
        search : ModelSearch, default "basic"
            How models are searched.
        negative : bool, default False
            Whether terms may have negative exponents.
        resources : str, optional
            Model the value times this parameter: resources, for strong scaling; null for the
            value.
        at : Sequence[tuple[str, float]], default ()
            Values of parameters at which to predict; those that are not named stand at their
            largest measured value.
        curve : CurveChoice, optional
            Values of the models along a parameter; null for none.

        Returns
        -------
        ModelsAnswer
            The reply and the tables:

        rows : Table
            The model of each region, metric and group.
            - ``region`` (string):
                Region; 0 is the whole program.
            - ``name`` (string):
                What a sentence calls it.
            - ``path`` (string):
                Call path.
            - ``metric`` (string):
                Metric.
            - ``unit`` (string):
                Unit of the model.
            - ``group`` (string):
                Values of parameters that tell models apart.
            - ``model`` (string):
                The function.
            - ``smape`` (f64 in %):
                Symmetric mean absolute percentage error.
            - ``rss`` (f64):
                Residual sum of squares.
            - ``rrss`` (f64):
                Relative residual sum of squares.
            - ``re`` (f64):
                Mean relative error.
            - ``ar2`` (f64, may be null):
                Adjusted coefficient of determination.
            - ``points`` (u32):
                Points measured.
            - ``prediction`` (f64 in the unit of `unit`, may be null):
                Value of the model where it was asked for.

        curves : Table
            Values of the models along the parameter that was asked for; no rows where none was.
            - ``model`` (u32):
                Row of the model among `rows`.
            - ``x`` (f64):
                Value of the parameter.
            - ``y`` (f64, may be null):
                Value of the model, in its unit; null where it is undefined.

        Examples
        --------
        >>> answer = ensemble.models()
        >>> answer.rows.to_pandas()
        """
        return self._ask(
            "models",
            {
                "parameters": parameters,
                "numbers": numbers,
                "metric": metric,
                "regions": regions,
                "statistic": statistic,
                "search": search,
                "negative": negative,
                "resources": resources,
                "at": at,
                "curve": curve,
            },
        )

    def compare(
        self,
        new: Ensemble,
        *,
        cores: str | None = None,
        fixed: Sequence[tuple[str, str]] = (),
        metric: str | None = None,
        min_percent: float = 0.0,
        statistic: RepetitionStatistic = "median",
        baseline: ScalingBaseline = "serial",
        per_repetition: bool = False,
        clamp: bool = False,
        trusted: bool = False,
        tolerance: float = 2.0,
        significance: float = 0.05,
    ) -> CompareAnswer:
        """Two ensembles as versions of one program, on the configurations of the old one.

        Parameters
        ----------
        new
            The new version; the one that is asked is the old one.
        cores : str, optional
            The parameter that counts cores, where it has an unusual name.
        fixed : Sequence[tuple[str, str]], default ()
            Parameters held at one value: name and value.
        metric : str, optional
            Which metric counts as time; null for `time`, else the first.
        min_percent : float, default 0.0
            Regions that never reach this share of the program's time, in per cent, are omitted.
        statistic : RepetitionStatistic, default "median"
            Statistic over repetitions.
        baseline : ScalingBaseline, default "serial"
            What efficiency is relative to: `serial`, `smallest` (of each input), `common` (the
            smallest that all inputs have), or a core count.
        per_repetition : bool, default False
            Efficiency of each repetition, then the statistic, as PaScal Viewer of 2018 does.
        clamp : bool, default False
            Take efficiencies above 100 % as 100 % in the differences.
        trusted : bool, default False
            Omit runs that may have failed: those that were far too short.
        tolerance : float, default 2.0
            Smallest change of time, in per cent, that counts.
        significance : float, default 0.05
            A change counts when its adjusted probability by chance is below this.

        Returns
        -------
        CompareAnswer
            The reply and the tables:

        cells : Table
            One row for each region, input and core count of the old version, nested as `cells`
            of `scaling` is.
            - ``region`` (string):
                Region.
            - ``input`` (string):
                Program arguments.
            - ``cores`` (u32):
                Cores used.
            - ``time_old`` (f64 in the unit of the metric, may be null):
                Time of the old version.
            - ``time_new`` (f64 in the unit of the metric, may be null):
                Time of the new version.
            - ``time_ratio`` (f64, may be null):
                New over old: below 1 is faster.
            - ``change`` (string, may be null):
                faster, slower, within noise, or not tested where a version has a single run.
            - ``runs_old`` (u64, may be null):
                Repetitions of the old version.
            - ``runs_new`` (u64, may be null):
                Repetitions of the new version.
            - ``p`` (f64, may be null):
                Probability of such a difference by chance.
            - ``p_adjusted`` (f64, may be null):
                The same for all configurations and regions at once.
            - ``low`` (f64 in the unit of the metric, may be null):
                95 % interval of the difference, lower end.
            - ``high`` (f64 in the unit of the metric, may be null):
                95 % interval of the difference, upper end.
            - ``efficiency`` (f64, may be null):
                Difference of efficiency.
            - ``scalability_abs`` (f64, may be null):
                Difference of scalability.
            - ``strong_abs`` (f64, may be null):
                Difference of strong scaling.
            - ``weak_abs`` (f64, may be null):
                Difference of weak scaling.
            - ``scalability_rel`` (f64, may be null):
                Difference of scalability, relative.
            - ``strong_rel`` (f64, may be null):
                Difference of strong scaling, relative.
            - ``weak_rel`` (f64, may be null):
                Difference of weak scaling, relative.

        Examples
        --------
        >>> answer = ensemble.compare(new)
        >>> answer.cells.to_pandas()
        """
        return self._ask(
            "compare",
            {
                "new": new,
                "view": {
                    "cores": cores,
                    "fixed": fixed,
                    "metric": metric,
                    "min_percent": min_percent,
                    "statistic": statistic,
                    "baseline": baseline,
                    "per_repetition": per_repetition,
                    "clamp": clamp,
                    "trusted": trusted,
                },
                "tolerance": tolerance,
                "significance": significance,
            },
        )
