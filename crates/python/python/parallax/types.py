# Generated from crates/protocol by `cargo xtask bless`. Do not edit.
"""What questions take and what answers have, for type checkers and readers.

Nothing here is needed to run a program: an answer has these attributes, and a parameter of
several values is a dictionary with these keys.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from ._answers import Answer, Record
from ._table import Table

AdviseBy = Literal["loop", "reference", "pair", "context", "task", "race"]
"""What the rows of advice are."""

BalanceBy = Literal["profile", "rank", "node"]
"""What is compared."""

BoundKind = Literal[
    "compute",
    "memory",
    "compute_or_memory",
    "communication",
    "imbalance",
    "synchronisation",
    "io",
    "allocation",
    "gpu",
    "latency",
]
"""What a program is bound by."""

ClusterMethod = Literal["dbscan", "kmeans"]
"""Clustering method."""

CoreOrder = Literal["ascending", "file"]
"""Order of core counts in maps."""

CorrelationBy = Literal["function", "context"]
"""What the correlated values belong to."""

CorrelationOrder = Literal["significance", "pearson", "spearman"]
"""Order of pairs."""

CriticalPathBy = Literal["function", "group", "context", "track"]
"""What the rows of a critical path are."""

DifferencesBy = Literal["context", "function"]
"""What rows of differences are."""

EntityKind = Literal[
    "activation",
    "group",
    "reference",
    "thread",
    "function",
    "file",
    "tag",
]
"""What an entity is. Its number is a row of the experiment: the same as long as the bytes are.
"""

FindOrder = Literal["longest", "first"]
"""Which calls come first."""

FindingKind = Literal[
    "FewSamples",
    "Mpi",
    "Imbalance",
    "OpenMp",
    "Io",
    "Memory",
    "Locks",
    "Sleeping",
    "Gpu",
    "GpuHost",
    "HotFunction",
    "Waiting",
    "CriticalPath",
    "IdleGpu",
    "BusyGpu",
    "GpuStalls",
    "Iterations",
    "Stall",
    "Groups",
    "Slower",
    "Caution",
    "Leak",
    "WrappedMetric",
]
"""What a finding is about."""

FlatBy = Literal["function", "file", "module", "loop", "line"]
"""What a flat profile groups by."""

GpuStallsBy = Literal["kernel", "function", "line", "instruction"]
"""What the rows of stalls are."""

IdlenessSource = Literal["best", "trace", "profile"]
"""Where the times of threads come from."""

IssueSeverity = Literal["note", "warning", "error"]
"""How much an issue matters."""

IssueStage = Literal["read", "import", "analysis"]
"""When an issue was met."""

IterationCells = Literal["map", "all", "tree", "none"]
"""Which times by location and iteration an answer has."""

MessagesBy = Literal["pair", "message", "size", "tag", "component", "file"]
"""How messages are aggregated."""

ModelSearch = Literal["basic", "refining", "segmented"]
"""How models are searched."""

NextAction = Literal[
    "info",
    "balance",
    "callers",
    "idleness",
    "gpu_blame",
    "gpu_stalls",
    "iterations",
    "stall",
    "rank_clusters",
    "node_clusters",
    "rank_racks",
    "node_racks",
    "waits",
    "late_launches",
    "critical_path",
    "differences",
]
"""What to look at next. Each surface says it in its own terms: a view, or a command."""

NodeNames = Literal["xname", "aurora", "frontier", "polaris"]
"""A naming scheme of nodes."""

OverLocations = Literal["sum", "mean", "max"]
"""How the values of many locations become one."""

OverTimeBy = Literal["function", "group"]
"""What the rows of a time profile are."""

OverTimeWhat = Literal["profile", "imbalance", "idle", "lateness", "overlap"]
"""What changes over time."""

Relation = Literal[
    "parent",
    "caller",
    "ancestors",
    "children",
    "calls",
    "groups",
    "executions",
    "iterations",
    "within",
    "references",
    "references_within",
    "touchers",
    "threads",
    "functions",
    "tags",
]
"""What is asked for about entities."""

RepetitionStatistic = Literal["median", "mean", "min", "max"]
"""Statistic over the repetitions of a configuration."""

ScalingBaseline = Literal["serial"] | Literal["smallest"] | Literal["common"] | str
"""What efficiency is relative to: a name or a number of cores, written as text."""

ScalingTableKind = Literal["maps", "regions", "losses", "laws", "dispersion", "energy", "pop"]
"""A table of an ensemble."""

StatsBy = Literal["function", "group", "context"]
"""What the rows of statistics are."""

TimelineBy = Literal["function", "group"]
"""What colours and stacks stand for."""

TraceBy = Literal["context", "location", "both"]
"""What samples of traces are grouped by."""

WaitsBy = Literal["function", "context", "track", "pair"]
"""What the rows of waits are."""

WaitsKind = Literal["late_sender", "late_receiver", "collective", "late_launch", "for_gpu"]
"""Kinds of wait states."""

CorrelationsRequest = TypedDict(
    "CorrelationsRequest",
    {
        "metrics": "list[str]",
        "profiles": "str | None",
        "with": "list[str]",
        "by": "CorrelationBy",
        "min_percent": "float",
        "order": "CorrelationOrder",
        "top": "float",
        "helpers": "bool",
    }, total=False,
)
"""Correlations over locations between exclusive values of functions, totals and identities."""


class CurveChoice(TypedDict):
    """Along which parameter values of models are wanted."""

    parameter: str
    """The parameter."""
    values: list[float]
    """Its values."""


class TextFile(TypedDict):
    """A file that was chosen, as text."""

    name: str
    """What it is called, for messages."""
    text: str
    """What is in it."""

TrackSpan = TypedDict(
    "TrackSpan",
    {
        "from": "float",
        "to": "float",
    },
)
"""Tracks that follow one another."""


class ActivationCountsReply(Record):
    """How many call instances and accesses there are."""

    __slots__ = ()

    calls: int
    """Calls of functions."""

    loop_executions: int
    """Executions of loops."""

    iterations: int
    """Iterations of them."""

    references: int
    """Variables and allocations."""

    reads: int
    """Reads of them."""

    writes: int
    """Writes of them."""

    threads: int
    """Threads."""


class AdviseReply(Record):
    """The reply to `advise`."""

    __slots__ = ()

    work_s: float
    """Seconds of work of the run."""

    span_s: float
    """Seconds of its span."""

    parallelism: float
    """Work divided by span."""

    tasks: TasksReply | None
    """Of tasks: where they are, and what workers bring; null otherwise."""

    notes: list[str]
    """Remarks."""


class AnomaliesReply(Record):
    """The reply to `anomalies`."""

    __slots__ = ()

    detector: str | None
    """Who named anomalies: a detector or its file; null where there are none."""

    is_compared: bool
    """Whether calls were compared with others of their function. They are not where the trace has
    only calls that the detector chose, which need not be all calls of the program.
    """

    total: int
    """How many there are, those beyond the requested number of rows included."""

    found: int
    """How many of them take much longer than others of their function."""

    named: int
    """How many of them the detector named."""

    excess_ns: float
    """What those that were found take longer than the medians of their functions, in nanoseconds.
    """

    compared: int
    """How many calls were compared with others of their function."""

    too_few: int
    """How many calls were not, because their function has too few on its location."""

    notes: list[str]
    """Remarks."""


class BalanceReply(Record):
    """The reply to `balance`."""

    __slots__ = ()

    reason: str | None
    """Why this metric, where the request names none."""

    total: float
    """The whole execution's inclusive cost over the chosen locations."""

    notes: list[str]
    """Remarks."""


class BinsReply(Record):
    """The bins of an answer over time."""

    __slots__ = ()

    first_ns: float
    """Where the first bin begins; it may be before the trace does."""

    bin_ns: int
    """Length of a bin."""

    bins: float
    """Number of bins."""


class CallsReply(Record):
    """The reply to `calls`."""

    __slots__ = ()

    is_complete: bool
    """Whether there were few enough."""

    calls: int
    """How many there are, about, where they are too many; exactly, where they are given."""

    shorter: int
    """How many of these are shorter than asked for, and omitted."""


class ClustersReply(Record):
    """The reply to `clusters`."""

    __slots__ = ()

    findings: list[str]
    """What was found, as sentences, the most important first."""

    member: str
    """What the members are called: `location`, `rank`, `node`."""

    sizes: list[int]
    """Members of each cluster."""

    features: list[str]
    """Names of the features, in the order of their columns in `members`."""

    units: list[str]
    """Their units."""

    axis_shares: tuple[float, float]
    """Part of the variance along each of the two axes, 0 to 1."""

    notes: list[str]
    """Remarks."""


class CompareReply(Record):
    """The reply to `compare`."""

    __slots__ = ()

    titles: tuple[str, str]
    """What the versions are called."""

    inputs: list[str]
    """Inputs of the old version."""

    cores: list[float]
    """Core counts of the old version."""

    regions: list[ComparedRegionReply]
    """Regions that both have, the whole program first."""

    only_old: list[str]
    """Paths of regions that only the old version has."""

    only_new: list[str]
    """Paths of regions that only the new version has."""

    evidence: str
    """What changes are judged by: which test, on how many runs, adjusted for how many looks, at
    which level.
    """

    sentences: list[str]
    """The verdict in plain words."""

    notes: list[str]
    """Notes and warnings."""


class ComparedRegionReply(Record):
    """A region that both versions have."""

    __slots__ = ()

    id: str
    """Id in the old version."""

    parent: float | None
    """Position of the region around it in the answer; null at the top."""

    display_name: str
    """What a sentence calls it."""

    path: str
    """Call path."""

    range: float
    """Largest absolute value of all differences of efficiency."""


class ComponentInfoReply(Record):
    """One of several coupled applications."""

    __slots__ = ()

    application: int
    """Number, as `application(NUMBER)` chooses it."""

    name: str
    """Name."""

    ranks: int
    """How many ranks it has."""

    locations: int
    """How many locations it has."""

    first_rank: int
    """What its ranks are counted from in the one space of ranks of all components."""

    start_s: float | None
    """When it began, in seconds since the first component did; null where that is not known."""

    end_s: float | None
    """When it ended, likewise."""

    shift_s: float
    """Seconds that were added to the times of its own clock."""

    depends_on: list[str]
    """Names of the components it takes data from."""

    hosts: list[str]
    """Where it ran."""

    fact_list: list[FactReply]
    """What the source says about all of it: processor, command, settings of the tool."""


class ComponentReply(Record):
    """One of several coupled applications."""

    __slots__ = ()

    application: int
    """Number, as tracks have it."""

    name: str
    """Name."""

    depends_on: list[str]
    """Names of the components it takes data from."""


class CorrelationPointsReply(Record):
    """The reply to `correlation_points`."""

    __slots__ = ()

    first_unit: str
    """Unit symbol of the first column; empty for counts and numbers of identity."""

    second_unit: str
    """Unit symbol of the second one."""


class CorrelationsReply(Record):
    """The reply to `correlations`."""

    __slots__ = ()

    tested: int
    """Number of pairs that were tested."""

    notes: list[str]
    """Remarks."""


class CostOnlyReply(Record):
    """The reply of a view with one metric."""

    __slots__ = ()

    cost: CostReply
    """What the numbers count."""


class CostReply(Record):
    """What the numbers of a view count."""

    __slots__ = ()

    metric: str
    """Name of the metric, its formula, or `trace time`."""

    unit: str
    """Its unit symbol; empty for counts."""

    reason: str | None
    """Why this metric, where the request names none."""

    total: float
    """Cost of the whole execution over the chosen locations; NaN where a formula is undefined.
    """

    locations: int
    """Number of locations that the numbers are sums over."""

    helpers: str | None
    """What is excluded because it ran on helper threads, in words; null where nothing is."""

    notes: list[str]
    """Remarks."""


class CostsReply(Record):
    """The reply of a view with several metrics."""

    __slots__ = ()

    costs: list[CostReply]
    """What the columns count, one for each metric."""


class CounterReply(Record):
    """A metric whose value changes over time."""

    __slots__ = ()

    name: str
    """Name."""

    unit: str
    """Unit symbol; empty when unknown."""


class CriticalPathReply(Record):
    """The reply to `critical_path`."""

    __slots__ = ()

    length_s: float
    """How long the path is in the time range, on all locations, in seconds."""

    segments: int
    """In how many segments of one location each."""

    locations: int
    """Through how many locations."""

    matched: int
    """How many segments end with a wait that is matched by time and stream, not recorded."""

    notes: list[str]
    """Remarks."""


class DifferencesReply(Record):
    """The reply to `differences`."""

    __slots__ = ()

    metric: str
    """What is counted."""

    unit: str
    """Its unit symbol; empty for counts."""

    by: DifferencesBy
    """What rows are."""

    over: OverLocations
    """How locations became one value."""

    basis: str | None
    """What tests stand on; null where noise cannot be told."""

    evidence: str
    """The same in words: which test, on how much, adjusted for how many looks, at which level.
    """

    sentences: list[str]
    """What changed, in plain words, the most important first."""

    notes: list[str]
    """Remarks."""


class DistributionReply(Record):
    """The reply to `distribution`."""

    __slots__ = ()

    context: str
    """What the context is called."""

    metric: str
    """Name of the metric, or the formula."""

    unit: str
    """Its unit symbol."""

    reason: str | None
    """Why this metric, where the request names none."""

    member: str
    """What members are called, in the singular: `location`, `rank`, `node`."""

    statistics: StatisticsReply | None
    """How the cost is spread; null when no member has a value."""

    histogram: HistogramReply | None
    """The histogram; null when no member has a value."""

    absent: int
    """Members that ran, but have no value here: not among the rows."""

    notes: list[str]
    """Remarks."""


class EntitiesReply(Record):
    """The reply to questions about entities."""

    __slots__ = ()

    left_out: int
    """Rows beyond the limit."""

    notes: list[str]
    """Remarks."""


class EvidenceReply(Record):
    """A number that is evidence of a finding."""

    __slots__ = ()

    what: str
    """What it is."""

    value: float
    """The number."""

    unit: str
    """Its unit symbol; `%` for shares."""


class FactReply(Record):
    """Something that the source recorded about the execution."""

    __slots__ = ()

    name: str
    """Its name, in the source's words."""

    value: str
    """Its value; several are separated by commas."""


class FileReply(Record):
    """A file that was read."""

    __slots__ = ()

    name: str
    """Name, relative to what was opened."""

    size_bytes: int
    """Length in bytes."""


class FindReply(Record):
    """The reply to `find`."""

    __slots__ = ()

    total: int
    """How many were found."""

    total_ns: int
    """What they take together."""

    notes: list[str]
    """Remarks."""


class FindingReply(Record):
    """Something that bounds the program."""

    __slots__ = ()

    kind: FindingKind
    """What it is about."""

    title: str
    """What it is and where, in a few words."""

    text: str
    """The cause, in a sentence or two."""

    percent: float
    """Impact: share of the program's cost, in per cent."""

    potential: PotentialReply | None
    """What would be saved, at most; null where that cannot be said."""

    evidence: list[EvidenceReply]
    """Its evidence."""

    context_id: float | None
    """Id of the context that it is about, of several the one with the highest value; null where it
    is about the whole program.
    """

    action: NextAction
    """What to look at next."""

    contexts: str | None
    """The contexts to look at there, by id, as a context expression; null for all."""

    function: str | None
    """Of callers the called function, by its whole name."""

    iteration: int | None
    """The number of the iteration that it is about."""

    value: float | None
    """The number of the finding that is seen there; null where it is seen in parts."""

    next: str
    """The same as a command that can be typed; only the command line says it."""


class GpuStallsReply(Record):
    """The reply to `gpu_stalls`."""

    __slots__ = ()

    cycles: float
    """GPU cycles of the rows, as sampling estimates them."""

    issue_percent: float | None
    """Share of these in which an instruction was issued, in per cent; null where that was not
    recorded.
    """

    hidden_percent: float | None
    """Share in which an instruction stalled while another one was issued; null where these count
    as issued.
    """

    exposed_percent: float | None
    """Share in which no instruction was issued; null where that was not recorded."""

    samples: float | None
    """About how many samples the rows stand on; null where that is not known."""

    kernel_s: float | None
    """Time of all kernels, in seconds; null where it was not measured."""

    notes: list[str]
    """Remarks."""


class HistogramReply(Record):
    """Number of values in bins of one width."""

    __slots__ = ()

    start: float
    """Where the first bin begins."""

    width: float
    """Width of a bin; 0 when all values are equal."""

    counts: list[int]
    """Number of values in each bin."""


class InfoReply(Record):
    """The reply to `info`. Plural names of things (`contexts`, `issues`) are counts; `*_list` has
    the things themselves.
    """

    __slots__ = ()

    title: str
    """Name of the measured program."""

    format: str
    """The format it was read from, with its version: `HPCToolkit 4.0`."""

    contexts: int
    """Nodes of the calling context tree, entries included, the implicit root not."""

    context_kinds: list[KindReply]
    """How many of them there are of each kind."""

    depth: float
    """Depth of the deepest of them; entries have depth 1."""

    functions: int
    """Functions."""

    source_files: int
    """Source files that contexts name."""

    modules: int
    """Executables and libraries."""

    locations: int
    """Profiles other than the summary, empty ones included."""

    empty_locations: int
    """Of these, profiles without any value."""

    values: int
    """Values of all of them."""

    metrics: int
    """Metrics, not counted again for each scope."""

    traces: int
    """Locations that have a trace."""

    samples: int
    """Samples of all traces."""

    events: int | None
    """Records of a trace of events, as its source has them; null for other experiments."""

    enters: int | None
    """Of these, records of entering something."""

    leaves: int | None
    """Records of leaving something."""

    sends: int | None
    """Records of sending a message."""

    receives: int | None
    """Records of receiving a message."""

    metric_records: int | None
    """Records of metrics' values."""

    other_records: int | None
    """Records of anything else."""

    declared_events: int | None
    """Records that the source declares; null where it does not say."""

    calls: int | None
    """Calls: from entering something to leaving it; null for other experiments."""

    activations: ActivationCountsReply | None
    """Call instances and accesses; null where sums were recorded only."""

    issues: int
    """Kinds of issue met while opening."""

    entries: list[str]
    """Names of the entry points: the roots below which programs and threads start."""

    kinds: list[KindReply]
    """What locations are identified by, outermost first, and how many there are of each."""

    components: int
    """The coupled applications of a workflow; 0 where there is one application."""

    span: SpanReply | None
    """From the first to the last sample of all traces; null without a trace."""

    size_bytes: int
    """Length of all files together, in bytes."""

    file_list: list[FileReply]
    """The files that were read."""

    metric_list: list[MetricReply]
    """The metrics."""

    component_list: list[ComponentInfoReply]
    """The components."""

    processes: int
    """Processes that the source distinguishes: their number where it says something of single ones
    that differs, else 0.
    """

    process_list: list[ProcessInfoReply]
    """These processes, the first 1,000 of them; the table has all."""

    fact_list: list[FactReply]
    """What the source says about the execution: host, processor, command, start and whatever else
    it recorded. Where threads differ, their first values.
    """

    issue_list: list[IssueReply]
    """What was repaired, dropped or guessed."""


class IssueReply(Record):
    """Something that was repaired, dropped or guessed."""

    __slots__ = ()

    kind: str
    """A short stable name, such as `child-outside-section`."""

    severity: IssueSeverity
    """How much it matters."""

    stage: IssueStage
    """When it was met."""

    place: str
    """Where it was seen first, for users."""

    file: str | None
    """The file it was seen in, when it is about a file."""

    offset: int | None
    """Bytes from the start of the file, when it is about a byte."""

    message: str
    """What is wrong and what was kept."""

    count: int
    """How many of the kind there are."""


class IssuesReply(Record):
    """The reply to `issues`."""

    __slots__ = ()

    issues: list[IssueReply]
    """One for each kind and place."""


class IterationsFoundReply(Record):
    """The iterations that were found."""

    __slots__ = ()

    group: str
    """Which locations: `GPU streams`, `GPUs` where some have several streams, `main threads` or
    `other threads`.
    """

    marker: str
    """What iterations begin with."""

    is_named: bool
    """Whether the request named it."""

    marked_by: str | None
    """By what the program marks iterations itself, such as `ProfilerStep of PyTorch`; null where
    they were found otherwise.
    """

    locations: list[str]
    """Names of the locations; a map has their places in this list."""

    tracks: list[float]
    """Their tracks, as rows of the table `tracks` of `timeline`; of a GPU with several streams the
    first one.
    """

    left_out: int
    """How many more of this kind do not have these iterations."""

    count: int
    """How many iterations."""

    whole: int
    """How many count in statistics."""

    warm_up: int
    """How many at the beginning do not, because they are much longer or shorter."""

    partial: int
    """How many at the end do not, because most of them is missing."""

    extraordinary: int
    """How many do not, because they take far longer than all others."""

    period_s: float
    """Median length."""

    from_s: float
    """From the first begin, after the start of the trace."""

    to_s: float
    """To the last end."""

    span_percent: float
    """That time as a share of what was analysed."""

    window_s: float
    """The time that potential savings are a share of."""

    is_aligned: bool
    """Whether iterations begin at about the same time everywhere."""

    guessed_percent: float
    """Share of the begins that were not seen and taken from the neighbours."""

    interval_s: float | None
    """How far samples are apart; null where times are exact."""

    similarity_percent: float
    """How alike iterations are."""

    waited_s: float
    """Time in iterations that count in which locations do not compute, mean over locations: no
    balance saves more.
    """

    saving_s: float
    """Potential saving from balancing each context that computes on its own."""

    joint_saving_s: float
    """Potential saving from balancing the total computing of each location."""

    lasting_saving_s: float
    """Potential saving from static imbalance."""

    unresolved: int
    """Contexts whose imbalance may be noise of sampling; they are not in `saving_s`."""


class IterationsGroupReply(Record):
    """How the locations of one kind repeat."""

    __slots__ = ()

    group: str
    """`GPU streams`, `GPUs` where some have several streams, `main threads` or `other threads`.
    """

    locations: int
    """How many of them are active."""

    best: RepetitionReply | None
    """The best way; null when they do not repeat regularly."""

    others: list[RepetitionReply]
    """Other ways, best first."""

    why_not: str | None
    """Why there is none."""


class IterationsReply(Record):
    """The reply to `iterations`."""

    __slots__ = ()

    found: IterationsFoundReply | None
    """What was found; null when there are no regular iterations."""

    groups: list[IterationsGroupReply]
    """By kind of location why, or why not."""

    stalls: list[StallReply]
    """Iterations that take far longer than all others and do not count in statistics, the longest
    first.
    """

    notes: list[str]
    """Remarks."""


class KindReply(Record):
    """A kind of identity or context, such as `rank` or `loop`, and how many there are."""

    __slots__ = ()

    name: str
    """Name of the kind, as in query expressions."""

    count: int
    """Different ones."""


class LanesReply(Record):
    """The reply to `lanes`."""

    __slots__ = ()

    left_out: list[int]
    """Number of calls that are omitted because they are short, by lane."""

    notes: list[str]
    """Remarks."""


class MetricReply(Record):
    """A metric."""

    __slots__ = ()

    name: str
    """Name, as in query expressions."""

    unit: str
    """Unit symbol; empty for counts."""

    scopes: list[str]
    """Scopes that were measured: `inclusive`, `exclusive` and others."""

    statistics: list[str]
    """Statistics stored in the summary, such as `sum`."""

    description: str
    """What it means, in the source's words; may be empty."""

    total: float | None
    """The whole execution's inclusive sum over all locations; null when it has none, or when a
    counter wrapped, which is an issue then. Of a derived metric, its formula on these sums.
    """

    formula: str | None
    """The formula of a derived metric, which the source computes from others; null for metrics
    that were measured.
    """


class MetricsReply(Record):
    """The reply to `metrics`."""

    __slots__ = ()

    metrics: list[MetricReply]
    """The metrics, in the order of the source, those that are computed from others last."""

    default: str | None
    """The metric that is shown where none is chosen; null when nothing has values."""

    reason: str | None
    """Why that one."""

    has_traces: bool
    """Whether there are traces, so that time in them can count as cost."""


class ModelsReply(Record):
    """The reply to `models`."""

    __slots__ = ()

    parameters: list[str]
    """Names of the parameters."""

    notes: list[str]
    """Notes and warnings."""


class NotesReply(Record):
    """The reply of a question whose answer is its tables."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""


class OverTimeReply(Record):
    """The reply to `over_time`."""

    __slots__ = ()

    bin_ns: int
    """Length of a bin."""

    bins: float
    """Number of bins."""

    notes: list[str]
    """Remarks."""


class ParameterReply(Record):
    """A parameter of an ensemble."""

    __slots__ = ()

    name: str
    """Its name."""

    values: list[str]
    """Its values, in their order, as texts."""

    numbers: list[float | None]
    """The numbers that they are; null where they are not numbers."""


class PotentialReply(Record):
    """What would be saved, at most."""

    __slots__ = ()

    amount: float
    """How much."""

    unit: str
    """Its unit symbol: `s`, or that of the metric where it is no time."""

    percent: float
    """The same as a share of the run, in per cent: of the time of the trace, or of what a rank or
    location takes on average.
    """

    condition: str
    """On which condition, such as `if balanced`."""


class ProcessInfoReply(Record):
    """What the source says about one process."""

    __slots__ = ()

    component: str | None
    """Name of its component; null where there is one application."""

    process: str
    """Display name of the process: `rank 3`."""

    rank: int | None
    """Its rank; null where it has none."""

    threads: int
    """How many locations it has: threads and streams."""

    host: str | None
    """Name of its host."""

    cpu: str | None
    """Its processor."""

    start_s: float | None
    """When it was started, in seconds since the first process was."""

    pid: str | None
    """Number of the process."""

    command: str | None
    """Its command line, else its executable."""

    fact_list: list[FactReply]
    """What else differs between the processes of its component; where its threads differ, their
    first values.
    """


class RackReply(Record):
    """A rack."""

    __slots__ = ()

    name: str
    """Its name."""

    group: str | None
    """The group of switches that it belongs to, where that is something else."""

    rows: list[RackRowReply]
    """From the top."""


class RackRowReply(Record):
    """A line of nodes in a rack: a chassis."""

    __slots__ = ()

    label: str
    """What it is called inside of its rack; may be empty."""

    cells: list[float | None]
    """Rows of the table `nodes`, from left to right; null where the run has no node."""


class RegionReply(Record):
    """A region with everything there is to say about it."""

    __slots__ = ()

    id: str
    """Its id; `0` for the whole program."""

    parent: float | None
    """Position of the region around it in the answer; null for the whole program."""

    depth: float
    """Levels below the whole program."""

    kind: str
    """`whole program`, `region`, `function`, `loop`, ..."""

    name: str
    """Its name; may be empty."""

    display_name: str
    """What a sentence calls it; may be empty."""

    path: str
    """Call path."""

    file: str | None
    """Source file."""

    first_line: float | None
    """First line."""

    last_line: float | None
    """Last line."""

    share_min: float | None
    """Smallest share of its parent's time, in per cent."""

    share_max: float | None
    """Largest share of its parent's time, in per cent."""

    imbalance: SpreadReply | None
    """Load imbalance over the configurations, as fractions."""

    cause: str | None
    """Why it loses, where that can be seen."""

    sentences: list[str]
    """Notes and warnings, one sentence each."""

    range_absolute: float | None
    """Largest absolute value of the three absolute difference maps: their shared range."""

    range_relative: float | None
    """Largest absolute value of the three relative difference maps."""


class RepetitionReply(Record):
    """Why something is taken for iterations."""

    __slots__ = ()

    marker: str
    """The context with which iterations begin."""

    path: str
    """Its call path."""

    context_id: float
    """Its id."""

    count: int
    """How many."""

    period_s: float
    """Median distance of two begins."""

    regular_percent: float
    """Share of the distances within a factor of 1.5 of the median."""

    coverage_percent: float
    """Share of the time of the locations that regular iterations cover."""

    agreement_percent: float
    """Share of the locations that show as many; where all locations together show them, the share
    that one location shows.
    """

    is_pooled: bool
    """Whether all locations together show them."""

    is_in_step: bool
    """Whether they were counted by the synchronisations that all locations pass together."""

    is_estimate: bool
    """Whether the number may be off."""

    explained_percent: float
    """Share of that time in contexts that repeat as often."""

    contexts: int
    """How many contexts do."""

    chance: float
    """How likely anything in a program without iterations looks as regular."""

    is_order: bool
    """Whether only the order of contexts speaks for it, and distances differ: then
    `regular_percent` is the share of iterations that are alike in order, and `coverage_percent`
    the time of all iterations.
    """


class ReportReply(Record):
    """The reply to `report`."""

    __slots__ = ()

    title: str
    """Name of the measured program."""

    metric: str | None
    """The metric that stands for cost; null when nothing was measured."""

    unit: str
    """Its unit symbol."""

    reason: str
    """Why it was chosen."""

    total: float
    """Cost of everything that was measured."""

    helper_total: float
    """The part of it on helper threads."""

    program_total: float
    """The rest: what shares are of."""

    samples: float | None
    """About how many samples the total stands on; null where that cannot be said."""

    ranks: int
    """Number of ranks."""

    locations: int
    """Number of locations."""

    verdict: VerdictReply
    """What bounds the program as a whole."""

    findings: list[FindingReply]
    """What bounds the program, the most important first."""

    notes: list[str]
    """What was not examined, and why; remarks about the data."""


class ScalingReply(Record):
    """The reply to `scaling`."""

    __slots__ = ()

    title: str
    """Name of the program."""

    source: str
    """Format and origin of the measurements."""

    unit: str
    """Unit symbol of the times."""

    inputs: list[str]
    """Inputs."""

    cores: list[float]
    """Core counts, ascending."""

    rows: list[float]
    """Positions in `cores`, in the order in which maps show them from the top."""

    baselines: list[float | None]
    """Core count that efficiency is relative to, for each input; null where there is none."""

    regions: list[RegionReply]
    """All regions, the whole program first, parents before children."""

    worst: tuple[float, float] | None
    """Positions of input and core count where the whole program loses most."""

    verdict: list[str]
    """The verdict on the whole program, one sentence each."""

    warnings: list[str]
    """What makes the data doubtful, one sentence each; stands next to the verdict."""

    notes: list[str]
    """Notes and warnings, the most important first."""

    parameters: list[ParameterReply]
    """All parameters of the ensemble."""

    metrics: list[str]
    """Names of the metrics of the ensemble."""


class SourceFileReply(Record):
    """A source file."""

    __slots__ = ()

    path: str
    """Path, as contexts name it."""

    bytes: int
    """Length of its text, in bytes."""


class SourceFilesReply(Record):
    """The reply to `source_files`."""

    __slots__ = ()

    files: list[SourceFileReply]
    """The files, sorted by path."""


class SourceReply(Record):
    """The reply to `source`."""

    __slots__ = ()

    path: str
    """Path, as contexts name it."""

    text: str | None
    """The text; null when the experiment did not bring it along."""

    text_path: str
    """Where in the folder of the database the text lies, or is missing."""

    costs: list[CostReply]
    """What the columns count, one for each metric."""

    notes: list[str]
    """Remarks."""


class SpanReply(Record):
    """A window of time."""

    __slots__ = ()

    start_ns: int
    """Nanoseconds on the trace's clock."""

    end_ns: int
    """Nanoseconds on the trace's clock, included."""


class SpreadReply(Record):
    """Smallest, mean and largest value."""

    __slots__ = ()

    min: float
    """Smallest value."""

    mean: float
    """Arithmetic mean."""

    max: float
    """Largest value."""


class StacksReply(Record):
    """The reply to `stacks`."""

    __slots__ = ()

    metric: str
    """Name of the metric."""

    unit: str
    """Its unit symbol."""

    reason: str | None
    """Why this metric, where the request names none."""

    parts: list[str]
    """Names of the parts, from the most expensive; the last is `(others)` where there are more.
    """

    helpers: str | None
    """What is excluded because it ran on helper threads, in words; null where nothing is."""

    notes: list[str]
    """Remarks."""


class StallReply(Record):
    """An iteration that takes far longer than all others."""

    __slots__ = ()

    iteration: int
    """Counted from 0."""

    start_s: float
    """When the first location begins it, after the start of the trace."""

    length_s: float
    """How long it takes, mean over locations."""

    usual_s: float
    """The median length of the others."""

    location: str | None
    """The location where most of the time is spent that others do not take; null where that is
    unknown.
    """

    context_id: float | None
    """Id of the context where it is spent."""

    time_s: float | None
    """Time of that location in that context."""

    waiting: int
    """How many locations wait or communicate for most of it."""

    text: str
    """The same in a sentence."""


class StatisticsReply(Record):
    """How a cost is spread over members: locations, ranks or nodes."""

    __slots__ = ()

    members: int
    """Members that count."""

    values: int
    """Of these, members that spent something."""

    sum: float
    """Sum over all members."""

    min: float
    """Smallest value."""

    mean: float
    """Arithmetic mean."""

    median: float
    """Middle value."""

    p95: float
    """95th percentile."""

    max: float
    """Largest value."""

    std_dev: float | None
    """Sample standard deviation; null for a single member."""

    variation: float | None
    """Coefficient of variation: standard deviation over mean."""

    balance_ratio: float | None
    """Balance ratio: mean over maximum; 1 is balanced."""

    saving: float
    """Potential saving: maximum minus mean."""


class TasksReply(Record):
    """Tasks on workers."""

    __slots__ = ()

    parent: str
    """The call path below which the tasks are."""

    serial_s: float
    """Seconds, executed sequentially."""

    parallel_s: float
    """Seconds on the workers."""

    bound_s: float
    """Seconds that no schedule on so many workers can beat."""

    speedup: float
    """How many times faster; 1 is as fast as sequentially."""

    workers: float
    """How many workers."""


class TimelineReply(Record):
    """The reply to `timeline`."""

    __slots__ = ()

    has_calls: bool
    """Whether calls were recorded, or samples of what was active."""

    origin_ns: str
    """The first record of all, in nanoseconds on the trace's clock; decimal, for it may be large.
    """

    span_ns: int
    """From the first to the last record."""

    sends: int
    """Records of sending a message."""

    receives: int
    """Records of receiving a message."""

    counters: list[CounterReply]
    """The metrics whose values change over time."""

    components: list[ComponentReply]
    """The coupled applications; empty where there is one."""

    program_tracks: list[TrackSpan] | None
    """The tracks without those of helper threads, which views show; null where none is one."""

    helpers: str | None
    """What is excluded with the others, in words."""

    notes: list[str]
    """Remarks, such as that functions have no times and why."""


class TopologyReply(Record):
    """The reply to `topology`."""

    __slots__ = ()

    findings: list[str]
    """What was found, as sentences."""

    sizes: list[int]
    """Members of each cluster."""

    feature: str
    """The feature whose means the nodes have."""

    unit: str
    """Its unit symbol."""

    racks: list[RackReply]
    """Racks with their nodes."""

    unplaced: int
    """Nodes that no rack is known of."""

    notes: list[str]
    """Remarks."""


class TotalReply(Record):
    """The reply of a question that gives some of what there is."""

    __slots__ = ()

    total: int
    """How many there are."""


class TraceGroupsReply(Record):
    """The reply to `trace_groups`."""

    __slots__ = ()

    samples: int
    """Number of samples, before short ones are excluded."""

    device: str
    """Where they were grouped: the name of a GPU, or `cpu`."""

    device_reason: str
    """Why there."""

    notes: list[str]
    """Remarks, such as that nothing matched and why."""


class VerdictReply(Record):
    """What bounds a program as a whole, by what takes more than half of its time."""

    __slots__ = ()

    bound: BoundKind | None
    """What bounds it; null where nothing takes half of the time, or where the measurement does not
    say.
    """

    percent: float | None
    """Its share in per cent: of the time of the program, or of that of its GPUs."""

    reason: str
    """Why, as a clause: `MPI takes 56.9 % of wall-clock time`."""

    line: str
    """Both in one line: `communication-bound (MPI takes 56.9 % of wall-clock time)`."""

    evidence: list[EvidenceReply]
    """The numbers behind it."""


class WorkflowGraphReply(Record):
    """The reply to `workflow`."""

    __slots__ = ()

    title: str
    """Name of the workflow."""

    start_ns: float | None
    """Start of the window, in nanoseconds since the first record; null without a trace."""

    end_ns: float | None
    """Its end, likewise."""

    bin_ns: float | None
    """Length of a part of `over_time`, in nanoseconds; null without them."""

    notes: list[str]
    """Remarks."""


class IssuesAnswer(Answer):
    """The answer to `issues`."""

    __slots__ = ()

    issues: list[IssueReply]
    """One for each kind and place."""


class InfoAnswer(Answer):
    """The answer to `info`."""

    __slots__ = ()

    title: str
    """Name of the measured program."""

    format: str
    """The format it was read from, with its version: `HPCToolkit 4.0`."""

    contexts: int
    """Nodes of the calling context tree, entries included, the implicit root not."""

    context_kinds: list[KindReply]
    """How many of them there are of each kind."""

    depth: float
    """Depth of the deepest of them; entries have depth 1."""

    functions: int
    """Functions."""

    source_files: int
    """Source files that contexts name."""

    modules: int
    """Executables and libraries."""

    locations: int
    """Profiles other than the summary, empty ones included."""

    empty_locations: int
    """Of these, profiles without any value."""

    values: int
    """Values of all of them."""

    traces: int
    """Locations that have a trace."""

    samples: int
    """Samples of all traces."""

    events: int | None
    """Records of a trace of events, as its source has them; null for other experiments."""

    enters: int | None
    """Of these, records of entering something."""

    leaves: int | None
    """Records of leaving something."""

    sends: int | None
    """Records of sending a message."""

    receives: int | None
    """Records of receiving a message."""

    metric_records: int | None
    """Records of metrics' values."""

    other_records: int | None
    """Records of anything else."""

    declared_events: int | None
    """Records that the source declares; null where it does not say."""

    calls: int | None
    """Calls: from entering something to leaving it; null for other experiments."""

    activations: ActivationCountsReply | None
    """Call instances and accesses; null where sums were recorded only."""

    issues: int
    """Kinds of issue met while opening."""

    entries: list[str]
    """Names of the entry points: the roots below which programs and threads start."""

    kinds: list[KindReply]
    """What locations are identified by, outermost first, and how many there are of each."""

    span: SpanReply | None
    """From the first to the last sample of all traces; null without a trace."""

    size_bytes: int
    """Length of all files together, in bytes."""

    file_list: list[FileReply]
    """The files that were read."""

    metric_list: list[MetricReply]
    """The metrics."""

    component_list: list[ComponentInfoReply]
    """The components."""

    process_list: list[ProcessInfoReply]
    """These processes, the first 1,000 of them; the table has all."""

    fact_list: list[FactReply]
    """What the source says about the execution: host, processor, command, start and whatever else
    it recorded. Where threads differ, their first values.
    """

    issue_list: list[IssueReply]
    """What was repaired, dropped or guessed."""

    metrics: Table
    """Metrics, in the order of the source, those that are computed from others last."""

    components: Table
    """Components of a workflow; none where there is one application."""

    component_facts: Table
    """What the source says about each component as a whole; no rows where there is one
    application.
    """

    processes: Table
    """Processes, where the source says something that differs between them."""


class LocationsAnswer(Answer):
    """The answer to `locations`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """Locations with their identity: by application, node, rank, thread, GPU and stream."""


class MetricsAnswer(Answer):
    """The answer to `metrics`."""

    __slots__ = ()

    metrics: list[MetricReply]
    """The metrics, in the order of the source, those that are computed from others last."""

    default: str | None
    """The metric that is shown where none is chosen; null when nothing has values."""

    reason: str | None
    """Why that one."""

    has_traces: bool
    """Whether there are traces, so that time in them can count as cost."""


class ReportAnswer(Answer):
    """The answer to `report`."""

    __slots__ = ()

    title: str
    """Name of the measured program."""

    metric: str | None
    """The metric that stands for cost; null when nothing was measured."""

    unit: str
    """Its unit symbol."""

    reason: str
    """Why it was chosen."""

    total: float
    """Cost of everything that was measured."""

    helper_total: float
    """The part of it on helper threads."""

    program_total: float
    """The rest: what shares are of."""

    samples: float | None
    """About how many samples the total stands on; null where that cannot be said."""

    ranks: int
    """Number of ranks."""

    locations: int
    """Number of locations."""

    verdict: VerdictReply
    """What bounds the program as a whole."""

    findings: list[FindingReply]
    """What bounds the program, the most important first."""

    notes: list[str]
    """What was not examined, and why; remarks about the data."""

    categories: Table
    """Classes, group after group, the most expensive first; helper threads last."""

    routines: Table
    """Functions by which classes begin, from the most expensive."""

    functions: Table
    """Functions with the highest exclusive cost."""

    gpu: Table
    """Metrics of GPUs that have values."""

    hot_path: Table
    """The hot path, without the internals of MPI, lines and loops."""

    metrics: Table
    """Totals of metrics."""


class TreeTableAnswer(Answer):
    """The answer to `tree_table`."""

    __slots__ = ()

    costs: list[CostReply]
    """What the columns count, one for each metric."""

    rows: Table
    """Contexts that are kept and in which any of the metrics was measured, parents before their
    children and these from the most expensive by the first metric.
    """


class CallersAnswer(Answer):
    """The answer to `callers`."""

    __slots__ = ()

    cost: CostReply
    """What the numbers count."""

    rows: Table
    """A tree in the order it is read; `depth` and the order carry the shape."""


class FlatAnswer(Answer):
    """The answer to `flat`."""

    __slots__ = ()

    cost: CostReply
    """What the numbers count."""

    rows: Table
    """Groups, from the highest exclusive cost."""


class DistributionAnswer(Answer):
    """The answer to `distribution`."""

    __slots__ = ()

    context: str
    """What the context is called."""

    metric: str
    """Name of the metric, or the formula."""

    unit: str
    """Its unit symbol."""

    reason: str | None
    """Why this metric, where the request names none."""

    member: str
    """What members are called, in the singular: `location`, `rank`, `node`."""

    statistics: StatisticsReply | None
    """How the cost is spread; null when no member has a value."""

    histogram: HistogramReply | None
    """The histogram; null when no member has a value."""

    absent: int
    """Members that ran, but have no value here: not among the rows."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Members with the cost of the context."""


class SourceFilesAnswer(Answer):
    """The answer to `source_files`."""

    __slots__ = ()

    files: list[SourceFileReply]
    """The files, sorted by path."""


class SourceAnswer(Answer):
    """The answer to `source`."""

    __slots__ = ()

    path: str
    """Path, as contexts name it."""

    text: str | None
    """The text; null when the experiment did not bring it along."""

    text_path: str
    """Where in the folder of the database the text lies, or is missing."""

    costs: list[CostReply]
    """What the columns count, one for each metric."""

    notes: list[str]
    """Remarks."""

    lines: Table
    """Lines with a cost, ascending."""

    contexts: Table
    """Contexts of lines, from the most expensive by the first metric."""


class QueryAnswer(Answer):
    """The answer to `query`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """Values, ascending by the three ids."""


class TraceAnswer(Answer):
    """The answer to `trace`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """Samples, by location and time; the last sample of a location ends when it starts, because
    its duration is unknown.
    """


class TraceGroupsAnswer(Answer):
    """The answer to `trace_groups`."""

    __slots__ = ()

    samples: int
    """Number of samples, before short ones are excluded."""

    device: str
    """Where they were grouped: the name of a GPU, or `cpu`."""

    device_reason: str
    """Why there."""

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """One row for each group, the longest total first."""


class ReferencesAnswer(Answer):
    """The answer to `references`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """Variables and allocations, most accesses first."""


class LoopsAnswer(Answer):
    """The answer to `loops`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """Loops by call path, longest first."""


class UserEventsAnswer(Answer):
    """The answer to `user_events`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    events: Table
    """One row for each event that occurred, the most frequent first."""

    contexts: Table
    """One row for each event and context, in the order of `events`, then the most frequent first.
    The last row of an event holds what occurred in no known context.
    """


class UserEventLocationsAnswer(Answer):
    """The answer to `user_event_locations`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    locations: Table
    """One row for each event and location, those without the event included."""


class EntitiesAnswer(Answer):
    """The answer to `entities`."""

    __slots__ = ()

    left_out: int
    """Rows beyond the limit."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Of one of several forms."""


class RelatedAnswer(Answer):
    """The answer to `related`."""

    __slots__ = ()

    left_out: int
    """Rows beyond the limit."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Of one of several forms."""


class SharedAnswer(Answer):
    """The answer to `shared`."""

    __slots__ = ()

    left_out: int
    """Rows beyond the limit."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Variables and allocations."""


class LanesAnswer(Answer):
    """The answer to `lanes`."""

    __slots__ = ()

    left_out: list[int]
    """Number of calls that are omitted because they are short, by lane."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Calls in depth-first order, lane after lane."""


class LinesAnswer(Answer):
    """The answer to `lines`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """What happens on lines, by line."""


class TimelineAnswer(Answer):
    """The answer to `timeline`."""

    __slots__ = ()

    has_calls: bool
    """Whether calls were recorded, or samples of what was active."""

    origin_ns: str
    """The first record of all, in nanoseconds on the trace's clock; decimal, for it may be large.
    """

    span_ns: int
    """From the first to the last record."""

    sends: int
    """Records of sending a message."""

    receives: int
    """Records of receiving a message."""

    counters: list[CounterReply]
    """The metrics whose values change over time."""

    components: list[ComponentReply]
    """The coupled applications; empty where there is one."""

    program_tracks: list[TrackSpan] | None
    """The tracks without those of helper threads, which views show; null where none is one."""

    helpers: str | None
    """What is excluded with the others, in words."""

    notes: list[str]
    """Remarks, such as that functions have no times and why."""

    tracks: Table
    """Tracks, in the order of the trace."""

    functions: Table
    """Functions with different names."""

    groups: Table
    """Groups of functions."""

    contexts: Table
    """Contexts, in depth-first order."""


class TileAnswer(Answer):
    """The answer to `tile`."""

    __slots__ = ()

    first_ns: float
    """Where the first bin begins; it may be before the trace does."""

    bin_ns: int
    """Length of a bin."""

    bins: float
    """Number of bins."""

    cells: Table
    """Cells of a picture. A cell has at most the length of a bin times the tracks of its row.
    """


class CallsAnswer(Answer):
    """The answer to `calls`."""

    __slots__ = ()

    is_complete: bool
    """Whether there were few enough."""

    shorter: int
    """How many of these are shorter than asked for, and omitted."""

    calls: Table
    """Calls by track and start, what is around a call before it; not cut at the window."""


class PathAtAnswer(Answer):
    """The answer to `path_at`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    path: Table
    """Calls inside one another, from the outermost."""

    arguments: Table
    """What the source recorded with calls, such as the grid of a kernel, in its order."""


class LinksAnswer(Answer):
    """The answer to `links`."""

    __slots__ = ()

    total: int
    """How many there are."""

    links: Table
    """Messages or flows, in order of sending."""


class LinkBinsAnswer(Answer):
    """The answer to `link_bins`."""

    __slots__ = ()

    first_ns: float
    """Where the first bin begins; it may be before the trace does."""

    bin_ns: int
    """Length of a bin."""

    bins: Table
    """Messages or flows by bin."""


class CounterBinsAnswer(Answer):
    """The answer to `counter_bins`."""

    __slots__ = ()

    first_ns: float
    """Where the first bin begins; it may be before the trace does."""

    bin_ns: int
    """Length of a bin."""

    bins: float
    """Number of bins."""

    values: Table
    """Values of a counter by track and bin."""


class MarkersAnswer(Answer):
    """The answer to `markers`."""

    __slots__ = ()

    total: int
    """How many there are."""

    markers: Table
    """Markers by time."""


class StacksAnswer(Answer):
    """The answer to `stacks`."""

    __slots__ = ()

    metric: str
    """Name of the metric."""

    unit: str
    """Its unit symbol."""

    reason: str | None
    """Why this metric, where the request names none."""

    parts: list[str]
    """Names of the parts, from the most expensive; the last is `(others)` where there are more.
    """

    helpers: str | None
    """What is excluded because it ran on helper threads, in words; null where nothing is."""

    notes: list[str]
    """Remarks."""

    locations: Table
    """Locations with what they spend."""

    stack: Table
    """Parts by location."""


class StatsAnswer(Answer):
    """The answer to `stats`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """Time and calls, most exclusive time first."""


class MessagesAnswer(Answer):
    """The answer to `messages`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """Of one of several forms."""


class WorkflowAnswer(Answer):
    """The answer to `workflow`."""

    __slots__ = ()

    title: str
    """Name of the workflow."""

    start_ns: float | None
    """Start of the window, in nanoseconds since the first record; null without a trace."""

    end_ns: float | None
    """Its end, likewise."""

    bin_ns: float | None
    """Length of a part of `over_time`, in nanoseconds; null without them."""

    notes: list[str]
    """Remarks."""

    components: Table
    """The components of a workflow, by number; one row where there is one application."""

    exchanges: Table
    """What goes from one component to another, or inside of one, by what it goes through: in the
    order of the senders, the receivers and most bytes first.
    """

    over_time: Table
    """Messages and reads by the time of their arrival, in order of exchange and time; parts
    without any are omitted.
    """


class FindAnswer(Answer):
    """The answer to `find`."""

    __slots__ = ()

    total: int
    """How many were found."""

    total_ns: int
    """What they take together."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Calls that were found, in the order that was asked for."""

    histogram: Table
    """Calls by duration, the shortest first; bins without calls are omitted."""


class AnomaliesAnswer(Answer):
    """The answer to `anomalies`."""

    __slots__ = ()

    detector: str | None
    """Who named anomalies: a detector or its file; null where there are none."""

    is_compared: bool
    """Whether calls were compared with others of their function. They are not where the trace has
    only calls that the detector chose, which need not be all calls of the program.
    """

    total: int
    """How many there are, those beyond the requested number of rows included."""

    found: int
    """How many of them take much longer than others of their function."""

    named: int
    """How many of them the detector named."""

    excess_ns: float
    """What those that were found take longer than the medians of their functions, in nanoseconds.
    """

    compared: int
    """How many calls were compared with others of their function."""

    too_few: int
    """How many calls were not, because their function has too few on its location."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Calls that take much longer than others of their function, the largest excess first."""


class WaitsAnswer(Answer):
    """The answer to `waits`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """Wait states, longest total first."""


class CriticalPathAnswer(Answer):
    """The answer to `critical_path`."""

    __slots__ = ()

    length_s: float
    """How long the path is in the time range, on all locations, in seconds."""

    segments: int
    """In how many segments of one location each."""

    locations: int
    """Through how many locations."""

    matched: int
    """How many segments end with a wait that is matched by time and stream, not recorded."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Of one of several forms."""


class OverTimeAnswer(Answer):
    """The answer to `over_time`."""

    __slots__ = ()

    bin_ns: int
    """Length of a bin."""

    bins: float
    """Number of bins."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Of one of several forms."""

    totals: Table
    """Of one of several forms."""


class IterationsAnswer(Answer):
    """The answer to `iterations`."""

    __slots__ = ()

    found: IterationsFoundReply | None
    """What was found; null when there are no regular iterations."""

    groups: list[IterationsGroupReply]
    """By kind of location why, or why not."""

    stalls: list[StallReply]
    """Iterations that take far longer than all others and do not count in statistics, the longest
    first.
    """

    notes: list[str]
    """Remarks."""

    contexts: Table
    """Contexts, with the potential saving from balancing them."""

    locations: Table
    """Locations: how long they compute and wait in an iteration."""

    iterations: Table
    """Iterations in order of time."""

    cells: Table
    """Of one of several forms."""


class BalanceAnswer(Answer):
    """The answer to `balance`."""

    __slots__ = ()

    reason: str | None
    """Why this metric, where the request names none."""

    total: float
    """The whole execution's inclusive cost over the chosen locations."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Contexts or functions, the largest potential saving first."""


class IdlenessAnswer(Answer):
    """The answer to `idleness`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """Of one of several forms."""


class GpuStallsAnswer(Answer):
    """The answer to `gpu_stalls`."""

    __slots__ = ()

    cycles: float
    """GPU cycles of the rows, as sampling estimates them."""

    issue_percent: float | None
    """Share of these in which an instruction was issued, in per cent; null where that was not
    recorded.
    """

    hidden_percent: float | None
    """Share in which an instruction stalled while another one was issued; null where these count
    as issued.
    """

    exposed_percent: float | None
    """Share in which no instruction was issued; null where that was not recorded."""

    samples: float | None
    """About how many samples the rows stand on; null where that is not known."""

    kernel_s: float | None
    """Time of all kernels, in seconds; null where it was not measured."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Where kernels stall, most cycles first."""

    reasons: Table
    """Reasons of exposed stalls, the most frequent first."""

    stalls: Table
    """Exposed stalls of a row for one reason; row after row, in each the most frequent first.
    """


class CorrelationsAnswer(Answer):
    """The answer to `correlations`."""

    __slots__ = ()

    tested: int
    """Number of pairs that were tested."""

    notes: list[str]
    """Remarks."""

    pairs: Table
    """Pairs of columns, the strongest first."""


class CorrelationPointsAnswer(Answer):
    """The answer to `correlation_points`."""

    __slots__ = ()

    first_unit: str
    """Unit symbol of the first column; empty for counts and numbers of identity."""

    second_unit: str
    """Unit symbol of the second one."""

    points: Table
    """Locations with both values; their units are in the reply."""


class ClustersAnswer(Answer):
    """The answer to `clusters`."""

    __slots__ = ()

    findings: list[str]
    """What was found, as sentences, the most important first."""

    member: str
    """What the members are called: `location`, `rank`, `node`."""

    sizes: list[int]
    """Members of each cluster."""

    units: list[str]
    """Their units."""

    axis_shares: tuple[float, float]
    """Part of the variance along each of the two axes, 0 to 1."""

    notes: list[str]
    """Remarks."""

    members: Table
    """The members, in the order of the database."""

    groups: Table
    """Each cluster and feature, the largest cluster first."""

    features: Table
    """The features, the one that separates best first."""

    stability: Table
    """Each number of clusters of k-means with each pair of clusters that share nodes."""

    scores: Table
    """Each number of clusters of k-means, ascending."""

    steps: Table
    """Each eps of DBSCAN that was tried."""


class TopologyAnswer(Answer):
    """The answer to `topology`."""

    __slots__ = ()

    findings: list[str]
    """What was found, as sentences."""

    sizes: list[int]
    """Members of each cluster."""

    feature: str
    """The feature whose means the nodes have."""

    unit: str
    """Its unit symbol."""

    racks: list[RackReply]
    """Racks with their nodes."""

    unplaced: int
    """Nodes that no rack is known of."""

    notes: list[str]
    """Remarks."""

    nodes: Table
    """The nodes, by host id."""

    units: Table
    """Racks, chassis, switches, by level and name."""

    concentration: Table
    """Each cluster but the largest with each level of the machine."""

    members: Table
    """The members, in the order of the database."""


class AdviseAnswer(Answer):
    """The answer to `advise`."""

    __slots__ = ()

    work_s: float
    """Seconds of work of the run."""

    span_s: float
    """Seconds of its span."""

    parallelism: float
    """Work divided by span."""

    tasks: TasksReply | None
    """Of tasks: where they are, and what workers bring; null otherwise."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Of one of several forms."""


class DifferencesAnswer(Answer):
    """The answer to `differences`."""

    __slots__ = ()

    metric: str
    """What is counted."""

    unit: str
    """Its unit symbol; empty for counts."""

    by: DifferencesBy
    """What rows are."""

    over: OverLocations
    """How locations became one value."""

    basis: str | None
    """What tests stand on; null where noise cannot be told."""

    evidence: str
    """The same in words: which test, on how much, adjusted for how many looks, at which level.
    """

    sentences: list[str]
    """What changed, in plain words, the most important first."""

    notes: list[str]
    """Remarks."""

    rows: Table
    """Contexts or functions of two versions. Columns that begin with `own_` are about costs
    without the rows below.
    """


class ScalingAnswer(Answer):
    """The answer to `scaling`."""

    __slots__ = ()

    title: str
    """Name of the program."""

    source: str
    """Format and origin of the measurements."""

    unit: str
    """Unit symbol of the times."""

    inputs: list[str]
    """Inputs."""

    cores: list[float]
    """Core counts, ascending."""

    rows: list[float]
    """Positions in `cores`, in the order in which maps show them from the top."""

    baselines: list[float | None]
    """Core count that efficiency is relative to, for each input; null where there is none."""

    regions: list[RegionReply]
    """All regions, the whole program first, parents before children."""

    worst: tuple[float, float] | None
    """Positions of input and core count where the whole program loses most."""

    verdict: list[str]
    """The verdict on the whole program, one sentence each."""

    warnings: list[str]
    """What makes the data doubtful, one sentence each; stands next to the verdict."""

    notes: list[str]
    """Notes and warnings, the most important first."""

    parameters: list[ParameterReply]
    """All parameters of the ensemble."""

    metrics: list[str]
    """Names of the metrics of the ensemble."""

    cells: Table
    """One row for each region, input and core count of the whole answer, in this nesting: row
    `(region * inputs + input) * cores + core`.
    """

    losses: Table
    """Regions that lose where the whole program loses most, the worst first."""


class ScalingTableAnswer(Answer):
    """The answer to `scaling_table`."""

    __slots__ = ()

    notes: list[str]
    """Remarks, such as that nothing matched and why."""

    rows: Table
    """Of one of several forms."""


class ModelsAnswer(Answer):
    """The answer to `models`."""

    __slots__ = ()

    parameters: list[str]
    """Names of the parameters."""

    notes: list[str]
    """Notes and warnings."""

    rows: Table
    """The model of each region, metric and group."""

    curves: Table
    """Values of the models along the parameter that was asked for; no rows where none was."""


class CompareAnswer(Answer):
    """The answer to `compare`."""

    __slots__ = ()

    titles: tuple[str, str]
    """What the versions are called."""

    inputs: list[str]
    """Inputs of the old version."""

    cores: list[float]
    """Core counts of the old version."""

    regions: list[ComparedRegionReply]
    """Regions that both have, the whole program first."""

    only_old: list[str]
    """Paths of regions that only the old version has."""

    only_new: list[str]
    """Paths of regions that only the new version has."""

    evidence: str
    """What changes are judged by: which test, on how many runs, adjusted for how many looks, at
    which level.
    """

    sentences: list[str]
    """The verdict in plain words."""

    notes: list[str]
    """Notes and warnings."""

    cells: Table
    """One row for each region, input and core count of the old version, nested as `cells` of
    `scaling` is.
    """
