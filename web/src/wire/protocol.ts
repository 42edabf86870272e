// Generated from crates/protocol by `cargo xtask web`. Do not edit.

/** The version of the protocol that these types describe. */
export const PROTOCOL_VERSION = 4;

/** How many call instances and accesses there are. */
export type ActivationCountsReply = {
  /** Calls of functions. */
  calls: number;
  /** Executions of loops. */
  loop_executions: number;
  /** Iterations of them. */
  iterations: number;
  /** Variables and allocations. */
  references: number;
  /** Reads of them. */
  reads: number;
  /** Writes of them. */
  writes: number;
  /** Threads. */
  threads: number;
};

/** What the rows of advice are. */
export type AdviseBy = "loop" | "reference" | "pair" | "context" | "task" | "race";

/** The reply to `advise`. */
export type AdviseReply = {
  /** Seconds of work of the run. */
  work_s: number;
  /** Seconds of its span. */
  span_s: number;
  /** Work divided by span. */
  parallelism: number;
  /** Of tasks: where they are, and what workers bring; null otherwise. */
  tasks: TasksReply | null;
  /** Remarks. */
  notes: Array<string>;
};

/** What of a run could have been executed in parallel; needs every call, iteration and access. */
export type AdviseRequest = {
  /** A context expression: only these contexts and what is below them; null for all. Tasks are those of the first. */
  contexts?: string | null;
  /** How many workers tasks are put on. */
  workers?: number;
  /** What the rows are. */
  by?: AdviseBy;
};

/** The reply to `anomalies`. */
export type AnomaliesReply = {
  /** Who named anomalies: a detector or its file; null where there are none. */
  detector: string | null;
  /**
   * Whether calls were compared with others of their function. They are not where the trace has
   * only calls that the detector chose, which need not be all calls of the program.
   */
  is_compared: boolean;
  /** How many there are, those beyond the requested number of rows included. */
  total: number;
  /** How many of them take much longer than others of their function. */
  found: number;
  /** How many of them the detector named. */
  named: number;
  /** What those that were found take longer than the medians of their functions, in nanoseconds. */
  excess_ns: number;
  /** How many calls were compared with others of their function. */
  compared: number;
  /** How many calls were not, because their function has too few on its location. */
  too_few: number;
  /** Remarks. */
  notes: Array<string>;
};

/** Calls of a trace that take much longer than the other calls of their function on the same location, or those that a detector named; see [anomalies.md](anomalies.md). */
export type AnomaliesRequest = {
  /** Which tracks, of those of the locations; null for all. */
  tracks?: Array<TrackSpan> | null;
  /** Also calls of MPI, and those that wait: how long they take depends on other locations. What a detector named is always listed. */
  waiting?: boolean;
  /** The least time by which a call exceeds the median of its function, in nanoseconds; not used for what a detector named. */
  min_excess_ns?: number;
  /** Rows at most. */
  max_rows?: number;
  /** A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the critical path, changes over time and iterations then exclude helper threads, which an expression includes where it names them. */
  profiles?: string | null;
  /** A time window, such as `1.5s..2s` after the start or `10%..20%`; null for everything. */
  window?: string | null;
  /** Start of the time range, in nanoseconds since the first record of the trace; null for the beginning. */
  from_ns?: number | null;
  /** Its end, in nanoseconds since the first record; null for the end of the trace. */
  to_ns?: number | null;
};

/** What is compared. */
export type BalanceBy = "profile" | "rank" | "node";

/** The reply to `balance`. */
export type BalanceReply = {
  /** Why this metric, where the request names none. */
  reason: string | null;
  /** The whole execution's inclusive cost over the chosen locations. */
  total: number;
  /** Remarks. */
  notes: Array<string>;
};

/** Load imbalance of contexts over locations, ranks or nodes. */
export type BalanceRequest = {
  /** A metric expression; null for the metric that says most about time. */
  metric?: string | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** A context expression; null for the functions that cost at least 1 %, without what lies below calls of MPI and without helper threads. */
  contexts?: string | null;
  /** Compare costs without what contexts call. */
  is_exclusive?: boolean;
  /** What is compared. */
  by?: BalanceBy;
  /** Compare single contexts, not functions wherever they are called from. */
  by_context?: boolean;
  /** Count locations that ran, but never entered a context, with 0; otherwise only those that take part are compared, and `absent` is how many do not. */
  all_locations?: boolean;
  /** How many of the slowest to name. */
  slowest?: number;
  /** Include helper threads: those that MPI, networks, drivers or the measurement start for themselves. */
  helpers?: boolean;
};

/** The bins of an answer over time. */
export type BinsReply = {
  /** Where the first bin begins; it may be before the trace does. */
  first_ns: number;
  /** Length of a bin. */
  bin_ns: number;
  /** Number of bins. */
  bins: number;
};

/** What a program is bound by. */
export type BoundKind = "compute" | "memory" | "compute_or_memory" | "communication" | "imbalance" | "synchronisation" | "io" | "allocation" | "gpu" | "latency";

/** Functions by their exclusive cost, and their callers. */
export type CallersRequest = {
  /** Which cost to show. */
  cost?: CostChoice;
  /** What to exclude. */
  prune?: PruneChoice;
  /** A context expression: only the contexts that it names and what lies below them; null for everything. */
  from?: string | null;
  /** Exact name of one function; null for all. */
  function?: string | null;
  /** A glob of functions; null for all. */
  matching?: string | null;
  /** Callers in a chain at most; 0 for the functions alone, null for all. */
  max_depth?: number | null;
  /** Rows at most, the most expensive ones; null for as many as an answer may have. */
  max_rows?: number | null;
};

/** The reply to `calls`. */
export type CallsReply = {
  /** Whether there were few enough. */
  is_complete: boolean;
  /** How many there are, about, where they are too many; exactly, where they are given. */
  calls: number;
  /** How many of these are shorter than asked for, and omitted. */
  shorter: number;
};

/** The call instances in a time range. For samples, a call is a run of samples with the same contexts above. */
export type CallsRequest = {
  /** Which tracks. */
  tracks: Array<TrackSpan>;
  /** Where it begins. */
  from_ns: number;
  /** Where it ends. */
  to_ns: number;
  /** Calls at most: where there are more, none are given. */
  max_calls: number;
  /** Shorter calls are counted and omitted. */
  shortest_ns?: number;
};

/** The reply to `close`: it is closed. */
export type CloseReply = Record<symbol, never>;

/** Closes an item. */
export type CloseRequest = {
  /** Key of the item. */
  item: string;
};

/** Clustering method. */
export type ClusterMethod = "dbscan" | "kmeans";

/** The reply to `clusters`. */
export type ClustersReply = {
  /** What was found, as sentences, the most important first. */
  findings: Array<string>;
  /** What the members are called: `location`, `rank`, `node`. */
  member: string;
  /** Members of each cluster. */
  sizes: Array<number>;
  /** Names of the features, in the order of their columns in `members`. */
  features: Array<string>;
  /** Their units. */
  units: Array<string>;
  /** Part of the variance along each of the two axes, 0 to 1. */
  axis_shares: [number, number];
  /** Remarks. */
  notes: Array<string>;
};

/** Clusters of locations, ranks or nodes with similar cost, and what separates them. */
export type ClustersRequest = {
  /** Metric expressions; none for the metric that says most about time. */
  metrics?: Array<string>;
  /** A context expression, each context a feature; null for the innermost functions that cost at least 1 %, those first that perfect balance would save most. */
  contexts?: string | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** Costs without what contexts call. */
  is_exclusive?: boolean;
  /** What is clustered. A node has the mean of its ranks. */
  by?: BalanceBy;
  /** How. */
  method?: ClusterMethod;
  /** Number of clusters of k-means, 1 to 64; null chooses it from the data. */
  k?: number | null;
  /** Largest distance of neighbours of DBSCAN, in standard deviations; null chooses it from the data. */
  eps?: number | null;
  /** Members within that distance of a core point of DBSCAN; null chooses it from the data. */
  min_points?: number | null;
  /** Include helper threads: those that MPI, networks, drivers or the measurement start for themselves. */
  helpers?: boolean;
};

/** Makes one ensemble of several experiments or files of measurements that are open. */
export type CombineRequest = {
  /** Keys of experiments, or of ensembles that are files of measurements. */
  items: Array<string>;
  /** How they become one ensemble. */
  ensemble?: EnsembleChoice;
};

/** The reply to `compare`. */
export type CompareReply = {
  /** What the versions are called. */
  titles: [string, string];
  /** Inputs of the old version. */
  inputs: Array<string>;
  /** Core counts of the old version. */
  cores: Array<number>;
  /** Regions that both have, the whole program first. */
  regions: Array<ComparedRegionReply>;
  /** Paths of regions that only the old version has. */
  only_old: Array<string>;
  /** Paths of regions that only the new version has. */
  only_new: Array<string>;
  /**
   * What changes are judged by: which test, on how many runs, adjusted for how many looks, at
   * which level.
   */
  evidence: string;
  /** The verdict in plain words. */
  sentences: Array<string>;
  /** Notes and warnings. */
  notes: Array<string>;
};

/** Two ensembles as versions of one program, on the configurations of the old one. */
export type CompareRequest = {
  /** How to look at them. */
  view?: ScalingView;
  /** Smallest change of time, in per cent, that counts. */
  tolerance?: number;
  /** A change counts when its adjusted probability by chance is below this. */
  significance?: number;
};

/** A region that both versions have. */
export type ComparedRegionReply = {
  /** Id in the old version. */
  id: string;
  /** Position of the region around it in the answer; null at the top. */
  parent: number | null;
  /** What a sentence calls it. */
  display_name: string;
  /** Call path. */
  path: string;
  /** Largest absolute value of all differences of efficiency. */
  range: number;
};

/** One of several coupled applications. */
export type ComponentInfoReply = {
  /** Number, as `application(NUMBER)` chooses it. */
  application: number;
  /** Name. */
  name: string;
  /** How many ranks it has. */
  ranks: number;
  /** How many locations it has. */
  locations: number;
  /** What its ranks are counted from in the one space of ranks of all components. */
  first_rank: number;
  /** When it began, in seconds since the first component did; null where that is not known. */
  start_s: number | null;
  /** When it ended, likewise. */
  end_s: number | null;
  /** Seconds that were added to the times of its own clock. */
  shift_s: number;
  /** Names of the components it takes data from. */
  depends_on: Array<string>;
  /** Where it ran. */
  hosts: Array<string>;
  /** What the source says about all of it: processor, command, settings of the tool. */
  fact_list: Array<FactReply>;
};

/** One of several coupled applications. */
export type ComponentReply = {
  /** Number, as tracks have it. */
  application: number;
  /** Name. */
  name: string;
  /** Names of the components it takes data from. */
  depends_on: Array<string>;
};

/** Order of core counts in maps. */
export type CoreOrder = "ascending" | "file";

/** What the correlated values belong to. */
export type CorrelationBy = "function" | "context";

/** Order of pairs. */
export type CorrelationOrder = "significance" | "pearson" | "spearman";

/** The reply to `correlation_points`. */
export type CorrelationPointsReply = {
  /** Unit symbol of the first column; empty for counts and numbers of identity. */
  first_unit: string;
  /** Unit symbol of the second one. */
  second_unit: string;
};

/** Two columns of `correlations` at each location, as a scatter plot needs them. */
export type CorrelationPointsRequest = {
  /** The question that `first` and `second` come from. */
  of?: CorrelationsRequest;
  /** Name of a column, as the table `pairs` has it. */
  first: string;
  /** Name of another one. */
  second: string;
};

/** The reply to `correlations`. */
export type CorrelationsReply = {
  /** Number of pairs that were tested. */
  tested: number;
  /** Remarks. */
  notes: Array<string>;
};

/** Correlations over locations between exclusive values of functions, totals and identities. */
export type CorrelationsRequest = {
  /** Metric expressions, or formulas after `=`; none for the metric that says most about time. */
  metrics?: Array<string>;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** One column of each pair has such a name, which may be a glob: a metric (its total), a kind of identity such as `rank`, or a function; none for all. */
  with?: Array<string>;
  /** What the values belong to. */
  by?: CorrelationBy;
  /** Omit contexts whose exclusive value is below this share of the total, in per cent. */
  min_percent?: number;
  /** By what pairs are ranked. */
  order?: CorrelationOrder;
  /** Pairs at most. */
  top?: number;
  /** Include helper threads: those that MPI, networks, drivers or the measurement start for themselves. */
  helpers?: boolean;
};

/** Which cost to show, and over which locations. */
export type CostChoice = {
  /**
   * A metric expression, or a formula after `=`; null for the metric that says most about
   * time.
   */
  metric?: string | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** Count time in the traces instead of a metric. */
  is_trace?: boolean;
  /** A time window of the traces; implies `is_trace`. */
  window?: string | null;
  /**
   * Include helper threads: those that MPI, networks or the measurement start for
   * themselves.
   */
  helpers?: boolean;
};

/** The reply of a view with one metric. */
export type CostOnlyReply = {
  /** What the numbers count. */
  cost: CostReply;
};

/** What the numbers of a view count. */
export type CostReply = {
  /** Name of the metric, its formula, or `trace time`. */
  metric: string;
  /** Its unit symbol; empty for counts. */
  unit: string;
  /** Why this metric, where the request names none. */
  reason: string | null;
  /** Cost of the whole execution over the chosen locations; NaN where a formula is undefined. */
  total: number;
  /** Number of locations that the numbers are sums over. */
  locations: number;
  /** What is excluded because it ran on helper threads, in words; null where nothing is. */
  helpers: string | null;
  /** Remarks. */
  notes: Array<string>;
};

/** Which costs to show where there are several metrics, and over which locations. */
export type CostsChoice = {
  /**
   * Metric expressions, or formulas after `=`; none for the metric that says most about
   * time.
   */
  metrics?: Array<string>;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** Count time in the traces instead of metrics. */
  is_trace?: boolean;
  /** A time window of the traces; implies `is_trace`. */
  window?: string | null;
  /**
   * Include helper threads: those that MPI, networks or the measurement start for
   * themselves.
   */
  helpers?: boolean;
};

/** The reply of a view with several metrics. */
export type CostsReply = {
  /** What the columns count, one for each metric. */
  costs: Array<CostReply>;
};

/** A counter over time; needs a trace of events. */
export type CounterBinsRequest = {
  /** Position in the list of counters. */
  counter: number;
  /** Which tracks; null for all. */
  tracks?: Array<TrackSpan> | null;
  /** Where it begins. */
  from_ns: number;
  /** Where it ends. */
  to_ns: number;
  /** Bins at most, as for a picture. */
  bins: number;
};

/** A metric whose value changes over time. */
export type CounterReply = {
  /** Name. */
  name: string;
  /** Unit symbol; empty when unknown. */
  unit: string;
};

/** What the rows of a critical path are. */
export type CriticalPathBy = "function" | "group" | "context" | "track";

/** The reply to `critical_path`. */
export type CriticalPathReply = {
  /** How long the path is in the time range, on all locations, in seconds. */
  length_s: number;
  /** In how many segments of one location each. */
  segments: number;
  /** Through how many locations. */
  locations: number;
  /** How many segments end with a wait that is matched by time and stream, not recorded. */
  matched: number;
  /** Remarks. */
  notes: Array<string>;
};

/** What the run time consists of, excluding wait time; needs a trace of events. The path is that of the whole trace; locations and window say which part of it is shown. */
export type CriticalPathRequest = {
  /** What the rows are. */
  by?: CriticalPathBy;
  /** One row for each segment of the path instead, in order of time. */
  segments?: boolean;
  /** A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the critical path, changes over time and iterations then exclude helper threads, which an expression includes where it names them. */
  profiles?: string | null;
  /** A time window, such as `1.5s..2s` after the start or `10%..20%`; null for everything. */
  window?: string | null;
  /** Start of the time range, in nanoseconds since the first record of the trace; null for the beginning. */
  from_ns?: number | null;
  /** Its end, in nanoseconds since the first record; null for the end of the trace. */
  to_ns?: number | null;
};

/** Along which parameter values of models are wanted. */
export type CurveChoice = {
  /** The parameter. */
  parameter: string;
  /** Its values. */
  values: Array<number>;
};

/** What rows of differences are. */
export type DifferencesBy = "context" | "function";

/** The reply to `differences`. */
export type DifferencesReply = {
  /** What is counted. */
  metric: string;
  /** Its unit symbol; empty for counts. */
  unit: string;
  /** What rows are. */
  by: DifferencesBy;
  /** How locations became one value. */
  over: OverLocations;
  /** What tests stand on; null where noise cannot be told. */
  basis: string | null;
  /** The same in words: which test, on how much, adjusted for how many looks, at which level. */
  evidence: string;
  /** What changed, in plain words, the most important first. */
  sentences: Array<string>;
  /** Remarks. */
  notes: Array<string>;
};

/** What changed from one experiment to another. */
export type DifferencesRequest = {
  /** A metric expression, or a formula after `=`; null for a time that both have. */
  metric?: string | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** What rows are; null for contexts, or functions where the experiments come from different tools. */
  by?: DifferencesBy | null;
  /** How locations become one value; null for the sum, or the mean of different numbers of locations. */
  over?: OverLocations | null;
};

/** The reply to `distribution`. */
export type DistributionReply = {
  /** What the context is called. */
  context: string;
  /** Name of the metric, or the formula. */
  metric: string;
  /** Its unit symbol. */
  unit: string;
  /** Why this metric, where the request names none. */
  reason: string | null;
  /** What members are called, in the singular: `location`, `rank`, `node`. */
  member: string;
  /** How the cost is spread; null when no member has a value. */
  statistics: StatisticsReply | null;
  /** The histogram; null when no member has a value. */
  histogram: HistogramReply | null;
  /** Members that ran, but have no value here: not among the rows. */
  absent: number;
  /** Remarks. */
  notes: Array<string>;
};

/** One context's cost at every location, rank or node. Zeros are not stored: members without a value do not take part and are counted in a note, unless all are asked for. Then those that ran below the same entry count with 0; others, such as helper threads, are omitted. */
export type DistributionRequest = {
  /** Context id in the database; 0 is the whole execution. */
  context_id?: number;
  /** A metric expression, or a formula after `=`, which is evaluated for each member; null for the metric that says most about time. */
  metric?: string | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** Cost of the context itself, without what lies below. */
  is_exclusive?: boolean;
  /** What is compared. */
  by?: BalanceBy;
  /** Members that ran, but have no value here, count with 0. With a formula they always do. */
  all_locations?: boolean;
  /** Bins of the histogram; null for as many as the values suggest. */
  bins?: number | null;
};

/** How experiments or files of measurements become one ensemble. */
export type EnsembleChoice = {
  /** Where parameters come from: `cores=ranks`, `input=path:n(\d+)`. */
  parameters?: Array<string>;
  /** What counts as time; null for elapsed time where it is known. */
  metric?: string | null;
  /** Which locations count; null for the first thread of each rank. */
  profiles?: string | null;
  /** How locations become one value; null for the largest. */
  over?: OverLocations | null;
  /** Which contexts become regions. */
  detail?: RegionDetail;
  /** Regions for what system and MPI libraries call inside, too. */
  library_frames?: boolean;
  /** How the entries of a region become one time. */
  region_time?: RegionEntries;
};

/** The reply to questions about entities. */
export type EntitiesReply = {
  /** Rows beyond the limit. */
  left_out: number;
  /** Remarks. */
  notes: Array<string>;
};

/** Call instances, references, threads and other entities, in the order of their numbers. */
export type EntitiesRequest = {
  /** What they are. */
  kind: EntityKind;
  /** Their numbers; null for all. */
  ids?: Array<number> | null;
  /** Maximum number of rows; null for as many as an answer may have. */
  limit?: number | null;
};

/** What an entity is. Its number is a row of the experiment: the same as long as the bytes are. */
export type EntityKind = "activation" | "group" | "reference" | "thread" | "function" | "file" | "tag";

/** Why there is no answer, and what to do. */
export type ErrorReply = {
  /** A stable name: `cancelled`, `misuse` (ask otherwise), `open`, `read`, `protocol`, `unknown_item`. */
  kind: string;
  /** What is wrong and where. */
  message: string;
  /** What to do, where that is known. */
  hint: string | null;
};

/** A number that is evidence of a finding. */
export type EvidenceReply = {
  /** What it is. */
  what: string;
  /** The number. */
  value: number;
  /** Its unit symbol; `%` for shares. */
  unit: string;
};

/** A file or experiment that is excluded. */
export type ExcludedReply = {
  /** Its path. */
  path: string;
  /** Why, as a clause that goes on from the path. */
  reason: string;
};

/** Something that the source recorded about the execution. */
export type FactReply = {
  /** Its name, in the source's words. */
  name: string;
  /** Its value; several are separated by commas. */
  value: string;
};

/** A file that was read. */
export type FileReply = {
  /** Name, relative to what was opened. */
  name: string;
  /** Length in bytes. */
  size_bytes: number;
};

/** Which calls come first. */
export type FindOrder = "longest" | "first";

/** The reply to `find`. */
export type FindReply = {
  /** How many were found. */
  total: number;
  /** What they take together. */
  total_ns: number;
  /** Remarks. */
  notes: Array<string>;
};

/** Calls that begin in a time range, by name and duration. */
export type FindRequest = {
  /** Words that names of functions contain, in any case and order: `nccl reduce`. `MPI_*` is a glob, `/regular expression/` what it says, `"MPI_Recv"` one name, `a|b` several; null for all. */
  name?: string | null;
  /** Which tracks, of those of the locations; null for all. */
  tracks?: Array<TrackSpan> | null;
  /** They take at least so long, in nanoseconds. */
  min_ns?: number | null;
  /** They take at most so long, in nanoseconds. */
  max_ns?: number | null;
  /** Which come first. */
  order?: FindOrder;
  /** Rows at most. */
  max_rows?: number;
  /** Also what the source recorded with each call. */
  arguments?: boolean;
  /** A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the critical path, changes over time and iterations then exclude helper threads, which an expression includes where it names them. */
  profiles?: string | null;
  /** A time window, such as `1.5s..2s` after the start or `10%..20%`; null for everything. */
  window?: string | null;
  /** Start of the time range, in nanoseconds since the first record of the trace; null for the beginning. */
  from_ns?: number | null;
  /** Its end, in nanoseconds since the first record; null for the end of the trace. */
  to_ns?: number | null;
};

/** What a finding is about. */
export type FindingKind = "FewSamples" | "Mpi" | "Imbalance" | "OpenMp" | "Io" | "Memory" | "Locks" | "Sleeping" | "Gpu" | "GpuHost" | "HotFunction" | "Waiting" | "CriticalPath" | "IdleGpu" | "BusyGpu" | "GpuStalls" | "Iterations" | "Stall" | "Groups" | "Slower" | "Caution" | "Leak" | "WrappedMetric";

/** Something that bounds the program. */
export type FindingReply = {
  /** What it is about. */
  kind: FindingKind;
  /** What it is and where, in a few words. */
  title: string;
  /** The cause, in a sentence or two. */
  text: string;
  /** Impact: share of the program's cost, in per cent. */
  percent: number;
  /** What would be saved, at most; null where that cannot be said. */
  potential: PotentialReply | null;
  /** Its evidence. */
  evidence: Array<EvidenceReply>;
  /**
   * Id of the context that it is about, of several the one with the highest value; null where it
   * is about the whole program.
   */
  context_id: number | null;
  /** What to look at next. */
  action: NextAction;
  /** The contexts to look at there, by id, as a context expression; null for all. */
  contexts: string | null;
  /** Of callers the called function, by its whole name. */
  function: string | null;
  /** The number of the iteration that it is about. */
  iteration: number | null;
  /** The number of the finding that is seen there; null where it is seen in parts. */
  value: number | null;
  /** The same as a command that can be typed; only the command line says it. */
  next?: string;
};

/** The reply to `fingerprint`. */
export type FingerprintReply = {
  /** Another one when a file of the root was written, replaced, added or removed. */
  fingerprint: string;
  /** Whether its files are still written. */
  writing: Writing;
};

/** Whether the files of a root have changed since it was opened. */
export type FingerprintRequest = {
  /** The key of the root. */
  root?: string;
};

/** What a flat profile groups by. */
export type FlatBy = "function" | "file" | "module" | "loop" | "line";

/** Contexts grouped by what they are, wherever they are called from. */
export type FlatRequest = {
  /** Which cost to show. */
  cost?: CostChoice;
  /** What to exclude. */
  prune?: PruneChoice;
  /** A context expression: only the contexts that it names and what lies below them; null for everything. */
  from?: string | null;
  /** What to group by. */
  by?: FlatBy;
};

/** What the rows of stalls are. */
export type GpuStallsBy = "kernel" | "function" | "line" | "instruction";

/** The reply to `gpu_stalls`. */
export type GpuStallsReply = {
  /** GPU cycles of the rows, as sampling estimates them. */
  cycles: number;
  /**
   * Share of these in which an instruction was issued, in per cent; null where that was not
   * recorded.
   */
  issue_percent: number | null;
  /**
   * Share in which an instruction stalled while another one was issued; null where these count
   * as issued.
   */
  hidden_percent: number | null;
  /** Share in which no instruction was issued; null where that was not recorded. */
  exposed_percent: number | null;
  /** About how many samples the rows stand on; null where that is not known. */
  samples: number | null;
  /** Time of all kernels, in seconds; null where it was not measured. */
  kernel_s: number | null;
  /** Remarks. */
  notes: Array<string>;
};

/** Where instructions of GPUs stall and why, by instruction sampling; see [gpu-stalls.md](gpu-stalls.md). */
export type GpuStallsRequest = {
  /** What the rows are. */
  by?: GpuStallsBy;
  /** Only the kernel of this name, or those that match this glob; null for all. */
  kernel?: string | null;
  /** Which locations; null for all. */
  profiles?: string | null;
};

/** The reply to `hello`. */
export type HelloReply = {
  /** Version of Parallax. */
  version: string;
  /** Version of the protocol. */
  protocol: number;
  /** What can be opened. */
  roots: Array<RootReply>;
  /** Whether files of the roots may still be written, and are to be opened again when they are. */
  follow: boolean;
  /** Whether statements in SQL can be asked. */
  sql: boolean;
};

/** Version of the engine, and what can be opened without being sent. */
export type HelloRequest = {
};

/** Number of values in bins of one width. */
export type HistogramReply = {
  /** Where the first bin begins. */
  start: number;
  /** Width of a bin; 0 when all values are equal. */
  width: number;
  /** Number of values in each bin. */
  counts: Array<number>;
};

/** Idle time of threads and GPUs, and what threads did while GPUs were idle. */
export type IdlenessRequest = {
  /** A metric expression for times from profiles; null for the metric that says most about time. */
  metric?: string | null;
  /** Where the times of threads come from. */
  source?: IdlenessSource;
  /** Instead, what threads did while the GPUs that they use were idle, from traces. */
  blame?: boolean;
};

/** Where the times of threads come from. */
export type IdlenessSource = "best" | "trace" | "profile";

/**
 * The reply to `info`.
 * Plural names of things (`contexts`, `issues`) are counts; `*_list` has the things themselves.
 */
export type InfoReply = {
  /** Name of the measured program. */
  title: string;
  /** The format it was read from, with its version: `HPCToolkit 4.0`. */
  format: string;
  /** Nodes of the calling context tree, entries included, the implicit root not. */
  contexts: number;
  /** How many of them there are of each kind. */
  context_kinds: Array<KindReply>;
  /** Depth of the deepest of them; entries have depth 1. */
  depth: number;
  /** Functions. */
  functions: number;
  /** Source files that contexts name. */
  source_files: number;
  /** Executables and libraries. */
  modules: number;
  /** Profiles other than the summary, empty ones included. */
  locations: number;
  /** Of these, profiles without any value. */
  empty_locations: number;
  /** Values of all of them. */
  values: number;
  /** Metrics, not counted again for each scope. */
  metrics: number;
  /** Locations that have a trace. */
  traces: number;
  /** Samples of all traces. */
  samples: number;
  /** Records of a trace of events, as its source has them; null for other experiments. */
  events: number | null;
  /** Of these, records of entering something. */
  enters: number | null;
  /** Records of leaving something. */
  leaves: number | null;
  /** Records of sending a message. */
  sends: number | null;
  /** Records of receiving a message. */
  receives: number | null;
  /** Records of metrics' values. */
  metric_records: number | null;
  /** Records of anything else. */
  other_records: number | null;
  /** Records that the source declares; null where it does not say. */
  declared_events: number | null;
  /** Calls: from entering something to leaving it; null for other experiments. */
  calls: number | null;
  /** Call instances and accesses; null where sums were recorded only. */
  activations: ActivationCountsReply | null;
  /** Kinds of issue met while opening. */
  issues: number;
  /** Names of the entry points: the roots below which programs and threads start. */
  entries: Array<string>;
  /** What locations are identified by, outermost first, and how many there are of each. */
  kinds: Array<KindReply>;
  /** The coupled applications of a workflow; 0 where there is one application. */
  components: number;
  /** From the first to the last sample of all traces; null without a trace. */
  span: SpanReply | null;
  /** Length of all files together, in bytes. */
  size_bytes: number;
  /** The files that were read. */
  file_list: Array<FileReply>;
  /** The metrics. */
  metric_list: Array<MetricReply>;
  /** The components. */
  component_list: Array<ComponentInfoReply>;
  /**
   * Processes that the source distinguishes: their number where it says something of single ones
   * that differs, else 0.
   */
  processes: number;
  /** These processes, the first 1,000 of them; the table has all. */
  process_list: Array<ProcessInfoReply>;
  /**
   * What the source says about the execution: host, processor, command, start and whatever else
   * it recorded. Where threads differ, their first values.
   */
  fact_list: Array<FactReply>;
  /** What was repaired, dropped or guessed. */
  issue_list: Array<IssueReply>;
};

/** What an experiment is. */
export type InfoRequest = {
};

/** Something that was repaired, dropped or guessed. */
export type IssueReply = {
  /** A short stable name, such as `child-outside-section`. */
  kind: string;
  /** How much it matters. */
  severity: IssueSeverity;
  /** When it was met. */
  stage: IssueStage;
  /** Where it was seen first, for users. */
  place: string;
  /** The file it was seen in, when it is about a file. */
  file: string | null;
  /** Bytes from the start of the file, when it is about a byte. */
  offset: number | null;
  /** What is wrong and what was kept. */
  message: string;
  /** How many of the kind there are. */
  count: number;
};

/** How much an issue matters. */
export type IssueSeverity = "note" | "warning" | "error";

/** When an issue was met. */
export type IssueStage = "read" | "import" | "analysis";

/** The reply to `issues`. */
export type IssuesReply = {
  /** One for each kind and place. */
  issues: Array<IssueReply>;
};

/** What was repaired, dropped or guessed. */
export type IssuesRequest = {
};

/** What an item is. */
export type ItemKind = "experiment" | "ensemble";

/** Something that is open. */
export type ItemReply = {
  /** How other requests name it. */
  item: string;
  /** What it is. */
  kind: ItemKind;
  /** Name of the program. */
  title: string;
  /** Where it is from: the path as it was given. */
  name: string;
  /** The format it was read from. */
  format: string;
  /** Length of its files together, in bytes. */
  size_bytes: number;
  /** Kinds of issue met while opening. */
  issues: number;
  /** Items that an ensemble was made of. */
  members: Array<string>;
  /** Whether it has a trace, so that there is a timeline. */
  has_trace: boolean;
  /** Whether its trace has calls; otherwise it has samples. */
  has_calls: boolean;
  /** Whether its trace says what calls communicate, so that waits can be looked for. */
  has_waits: boolean;
  /**
   * Whether its calls were chosen by a detector of anomalies: views that conclude something from
   * all calls have nothing to show then.
   */
  has_chosen_calls: boolean;
  /** Number of the components of a workflow; 0 where there is one application. */
  components: number;
  /** Whether it has every call instance, with what it reads and writes. */
  has_activations: boolean;
  /** Whether it has user events. */
  has_user_events: boolean;
  /** Whether instructions of GPUs were sampled. */
  has_gpu_stalls: boolean;
  /** Whether tracks are linked by messages, flows or transfers. */
  has_links: boolean;
  /** Whether it has metrics whose values change over time. */
  has_counters: boolean;
  /** Whether GPUs executed a part of it. */
  has_gpus: boolean;
  /** Locations with values or a trace; 0 of an ensemble. */
  locations: number;
  /** Nodes that these are on; 0 where unknown. */
  nodes: number;
};

/** Which times by location and iteration an answer has. */
export type IterationCells = "map" | "all" | "tree" | "none";

/** The iterations that were found. */
export type IterationsFoundReply = {
  /**
   * Which locations: `GPU streams`, `GPUs` where some have several streams, `main threads` or
   * `other threads`.
   */
  group: string;
  /** What iterations begin with. */
  marker: string;
  /** Whether the request named it. */
  is_named: boolean;
  /**
   * By what the program marks iterations itself, such as `ProfilerStep of PyTorch`; null where
   * they were found otherwise.
   */
  marked_by: string | null;
  /** Names of the locations; a map has their places in this list. */
  locations: Array<string>;
  /**
   * Their tracks, as rows of the table `tracks` of `timeline`; of a GPU with several streams the
   * first one.
   */
  tracks: Array<number>;
  /** How many more of this kind do not have these iterations. */
  left_out: number;
  /** How many iterations. */
  count: number;
  /** How many count in statistics. */
  whole: number;
  /** How many at the beginning do not, because they are much longer or shorter. */
  warm_up: number;
  /** How many at the end do not, because most of them is missing. */
  partial: number;
  /** How many do not, because they take far longer than all others. */
  extraordinary: number;
  /** Median length. */
  period_s: number;
  /** From the first begin, after the start of the trace. */
  from_s: number;
  /** To the last end. */
  to_s: number;
  /** That time as a share of what was analysed. */
  span_percent: number;
  /** The time that potential savings are a share of. */
  window_s: number;
  /** Whether iterations begin at about the same time everywhere. */
  is_aligned: boolean;
  /** Share of the begins that were not seen and taken from the neighbours. */
  guessed_percent: number;
  /** How far samples are apart; null where times are exact. */
  interval_s: number | null;
  /** How alike iterations are. */
  similarity_percent: number;
  /**
   * Time in iterations that count in which locations do not compute, mean over locations: no
   * balance saves more.
   */
  waited_s: number;
  /** Potential saving from balancing each context that computes on its own. */
  saving_s: number;
  /** Potential saving from balancing the total computing of each location. */
  joint_saving_s: number;
  /** Potential saving from static imbalance. */
  lasting_saving_s: number;
  /** Contexts whose imbalance may be noise of sampling; they are not in `saving_s`. */
  unresolved: number;
};

/** How the locations of one kind repeat. */
export type IterationsGroupReply = {
  /** `GPU streams`, `GPUs` where some have several streams, `main threads` or `other threads`. */
  group: string;
  /** How many of them are active. */
  locations: number;
  /** The best way; null when they do not repeat regularly. */
  best: RepetitionReply | null;
  /** Other ways, best first. */
  others: Array<RepetitionReply>;
  /** Why there is none. */
  why_not: string | null;
};

/** The reply to `iterations`. */
export type IterationsReply = {
  /** What was found; null when there are no regular iterations. */
  found: IterationsFoundReply | null;
  /** By kind of location why, or why not. */
  groups: Array<IterationsGroupReply>;
  /**
   * Iterations that take far longer than all others and do not count in statistics, the longest
   * first.
   */
  stalls: Array<StallReply>;
  /** Remarks. */
  notes: Array<string>;
};

/** Repeated phases of a trace, their load imbalance, and the potential saving. */
export type IterationsRequest = {
  /** A context expression: iterations begin where one of these is entered; null to find them. */
  marker?: string | null;
  /** A context expression: only these, with what they call, count; null for all. */
  contexts?: string | null;
  /** Only these iterations count, such as `3` or `3-7`, counted from 0; null for all. */
  chosen?: string | null;
  /** What the table `cells` has. */
  cells?: IterationCells;
  /** Of a map: id of the context whose times it has; null for all that computes. */
  context?: number | null;
  /** A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the critical path, changes over time and iterations then exclude helper threads, which an expression includes where it names them. */
  profiles?: string | null;
  /** A time window, such as `1.5s..2s` after the start or `10%..20%`; null for everything. */
  window?: string | null;
  /** Start of the time range, in nanoseconds since the first record of the trace; null for the beginning. */
  from_ns?: number | null;
  /** Its end, in nanoseconds since the first record; null for the end of the trace. */
  to_ns?: number | null;
};

/** A kind of identity or context, such as `rank` or `loop`, and how many there are. */
export type KindReply = {
  /** Name of the kind, as in query expressions. */
  name: string;
  /** Different ones. */
  count: number;
};

/** The reply to `lanes`. */
export type LanesReply = {
  /** Number of calls that are omitted because they are short, by lane. */
  left_out: Array<number>;
  /** Remarks. */
  notes: Array<string>;
};

/** Calls over time, one lane for each of several activations, without short calls. Call instances lie where they were executed. Aggregated calls lie one after the other below their caller, longest first, as wide as the sum of their times. */
export type LanesRequest = {
  /** The activation that each lane begins with: entry calls of threads, or what the user zoomed into. */
  tops: Array<number>;
  /** Aggregate calls of one function by the same calls (profiling), rather than show call instances in order of time (tracing). */
  is_merged?: boolean;
  /** Calls that take less than this percentage of the top of their lane are omitted with everything below them. */
  below_percent?: number;
  /** Whether executions of loops are rows, too; for call instances. */
  loops?: boolean;
};

/** Definitions, calls, loops and accesses on the lines of a source file. */
export type LinesRequest = {
  /** The file, as the experiment names it, or the end of its path where that is unique. */
  path: string;
};

/** How many messages or flows were sent when; needs a trace of events. A message of which only the receipt is known counts when it was received. */
export type LinkBinsRequest = {
  /** Tracks of which the sender or the receiver is one; null for all. */
  tracks?: Array<TrackSpan> | null;
  /** Where it begins. */
  from_ns: number;
  /** Where it ends. */
  to_ns: number;
  /** Bins at most, as for a picture. */
  bins: number;
  /** Flows (causes and effects) instead of messages. */
  flows?: boolean;
};

/** Messages or flows in transit in a time range; needs a trace of events. */
export type LinksRequest = {
  /** Tracks of which the sender or the receiver is one; null for all. */
  tracks?: Array<TrackSpan> | null;
  /** Where it begins. */
  from_ns: number;
  /** Where it ends. */
  to_ns: number;
  /** At most so many; of more, those that take longest. */
  max_links: number;
  /** Flows (causes and effects) instead of messages. */
  flows?: boolean;
};

/** Profiles with the parts of their identity: node, rank, thread, core, GPU, context and stream. */
export type LocationsRequest = {
  /** A profile expression; null for all locations. */
  profiles?: string | null;
};

/** The loops that were executed, by call path. */
export type LoopsRequest = {
};

/** What happened at moments of a time range; needs a trace of events. */
export type MarkersRequest = {
  /** Where it begins. */
  from_ns: number;
  /** Where it ends. */
  to_ns: number;
  /** At most so many; of more, the first. */
  max_markers: number;
};

/** How messages are aggregated. */
export type MessagesBy = "pair" | "message" | "size" | "tag" | "component" | "file";

/** Messages in transit in a time range; needs a trace of events. */
export type MessagesRequest = {
  /** Tracks of which the sender or the receiver is one; null for all. */
  tracks?: Array<TrackSpan> | null;
  /** What the rows are. */
  by?: MessagesBy;
  /** Flows (causes and effects, such as starting a kernel and the kernel) instead of messages. */
  flows?: boolean;
  /** A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the critical path, changes over time and iterations then exclude helper threads, which an expression includes where it names them. */
  profiles?: string | null;
  /** A time window, such as `1.5s..2s` after the start or `10%..20%`; null for everything. */
  window?: string | null;
  /** Start of the time range, in nanoseconds since the first record of the trace; null for the beginning. */
  from_ns?: number | null;
  /** Its end, in nanoseconds since the first record; null for the end of the trace. */
  to_ns?: number | null;
};

/** A metric. */
export type MetricReply = {
  /** Name, as in query expressions. */
  name: string;
  /** Unit symbol; empty for counts. */
  unit: string;
  /** Scopes that were measured: `inclusive`, `exclusive` and others. */
  scopes: Array<string>;
  /** Statistics stored in the summary, such as `sum`. */
  statistics: Array<string>;
  /** What it means, in the source's words; may be empty. */
  description: string;
  /**
   * The whole execution's inclusive sum over all locations; null when it has none, or when a
   * counter wrapped, which is an issue then. Of a derived metric, its formula on these sums.
   */
  total: number | null;
  /**
   * The formula of a derived metric, which the source computes from others; null for metrics
   * that were measured.
   */
  formula: string | null;
};

/** The reply to `metrics`. */
export type MetricsReply = {
  /** The metrics, in the order of the source, those that are computed from others last. */
  metrics: Array<MetricReply>;
  /** The metric that is shown where none is chosen; null when nothing has values. */
  default: string | null;
  /** Why that one. */
  reason: string | null;
  /** Whether there are traces, so that time in them can count as cost. */
  has_traces: boolean;
};

/** The metrics of an experiment. */
export type MetricsRequest = {
};

/** How models are searched. */
export type ModelSearch = "basic" | "refining" | "segmented";

/** The reply to `models`. */
export type ModelsReply = {
  /** Names of the parameters. */
  parameters: Array<string>;
  /** Notes and warnings. */
  notes: Array<string>;
};

/** Growth models of the regions of an ensemble: how a metric grows with the parameters. */
export type ModelsRequest = {
  /** Parameters of the models; null for all whose values are numbers. The others tell models apart. */
  parameters?: Array<string> | null;
  /** Numbers inside labels: `NAME=REGEX`, the first group of the expression in the values of the parameter. */
  numbers?: Array<string>;
  /** The metric; null for all that were measured. */
  metric?: string | null;
  /** Regions by id, path or name; all when empty. */
  regions?: Array<string>;
  /** Statistic over repetitions that is modelled. */
  statistic?: RepetitionStatistic;
  /** How models are searched. */
  search?: ModelSearch;
  /** Whether terms may have negative exponents. */
  negative?: boolean;
  /** Model the value times this parameter: resources, for strong scaling; null for the value. */
  resources?: string | null;
  /** Values of parameters at which to predict; those that are not named stand at their largest measured value. */
  at?: Array<[string, number]>;
  /** Values of the models along a parameter; null for none. */
  curve?: CurveChoice | null;
};

/** What to look at next. Each surface says it in its own terms: a view, or a command. */
export type NextAction = "info" | "balance" | "callers" | "idleness" | "gpu_blame" | "gpu_stalls" | "iterations" | "stall" | "rank_clusters" | "node_clusters" | "rank_racks" | "node_racks" | "waits" | "late_launches" | "critical_path" | "differences";

/** A naming scheme of nodes. */
export type NodeNames = "xname" | "aurora" | "frontier" | "polaris";

/** The reply of a question whose answer is its tables. */
export type NotesReply = {
  /** Remarks, such as that nothing matched and why. */
  notes: Array<string>;
};

/** The reply to `open` and `combine`. */
export type OpenReply = {
  /** The items, those that say most first: an ensemble before its members. */
  items: Array<ItemReply>;
  /** Notes and warnings. */
  notes: Array<string>;
  /** What could not be opened, one each. */
  errors: Array<ErrorReply>;
  /** Files and experiments that are excluded, and why. */
  excluded: Array<ExcludedReply>;
};

/** Opens everything that a root holds. */
export type OpenRequest = {
  /** Key of the root. */
  root: string;
  /** How files or databases become one ensemble, where there are several. */
  ensemble?: EnsembleChoice;
};

/** How the values of many locations become one. */
export type OverLocations = "sum" | "mean" | "max";

/** What the rows of a time profile are. */
export type OverTimeBy = "function" | "group";

/** The reply to `over_time`. */
export type OverTimeReply = {
  /** Length of a bin. */
  bin_ns: number;
  /** Number of bins. */
  bins: number;
  /** Remarks. */
  notes: Array<string>;
};

/** How a trace changes over time. The time range grows to whole bins. */
export type OverTimeRequest = {
  /** What changes. */
  what?: OverTimeWhat;
  /** What rows of a profile are. */
  by?: OverTimeBy;
  /** Bins at most. They are 2^k ns long, so there may be half as many. */
  bins?: number;
  /** A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the critical path, changes over time and iterations then exclude helper threads, which an expression includes where it names them. */
  profiles?: string | null;
  /** A time window, such as `1.5s..2s` after the start or `10%..20%`; null for everything. */
  window?: string | null;
  /** Start of the time range, in nanoseconds since the first record of the trace; null for the beginning. */
  from_ns?: number | null;
  /** Its end, in nanoseconds since the first record; null for the end of the trace. */
  to_ns?: number | null;
};

/** What changes over time. */
export type OverTimeWhat = "profile" | "imbalance" | "idle" | "lateness" | "overlap";

/** A parameter of an ensemble. */
export type ParameterReply = {
  /** Its name. */
  name: string;
  /** Its values, in their order, as texts. */
  values: Array<string>;
  /** The numbers that they are; null where they are not numbers. */
  numbers: Array<number | null>;
};

/** What was active at a moment. */
export type PathAtRequest = {
  /** The track. */
  track: number;
  /** The moment. */
  at_ns: number;
  /** Also the exclusive time of each call, for which all calls inside it are summed up. */
  exclusive?: boolean;
  /** Also what the source recorded with each call. */
  arguments?: boolean;
};

/** What would be saved, at most. */
export type PotentialReply = {
  /** How much. */
  amount: number;
  /** Its unit symbol: `s`, or that of the metric where it is no time. */
  unit: string;
  /**
   * The same as a share of the run, in per cent: of the time of the trace, or of what a rank or
   * location takes on average.
   */
  percent: number;
  /** On which condition, such as `if balanced`. */
  condition: string;
};

/** What the source says about one process. */
export type ProcessInfoReply = {
  /** Name of its component; null where there is one application. */
  component: string | null;
  /** Display name of the process: `rank 3`. */
  process: string;
  /** Its rank; null where it has none. */
  rank: number | null;
  /** How many locations it has: threads and streams. */
  threads: number;
  /** Name of its host. */
  host: string | null;
  /** Its processor. */
  cpu: string | null;
  /** When it was started, in seconds since the first process was. */
  start_s: number | null;
  /** Number of the process. */
  pid: string | null;
  /** Its command line, else its executable. */
  command: string | null;
  /**
   * What else differs between the processes of its component; where its threads differ, their
   * first values.
   */
  fact_list: Array<FactReply>;
};

/** What to exclude from trees. */
export type PruneChoice = {
  /** What lies below calls of MPI. */
  mpi?: boolean;
  /** Functions of OpenMP runtimes. */
  openmp?: boolean;
  /** Loops, lines and instructions. */
  lines?: boolean;
  /** Contexts below this share of the total, in per cent. */
  below_percent?: number | null;
  /** Functions whose own node is hidden; globs. */
  hide?: Array<string>;
  /** Functions below which everything is hidden; globs. */
  fold?: Array<string>;
  /** Functions that are hidden with everything below; globs. */
  cut?: Array<string>;
};

/** Values as stored, by expressions. */
export type QueryRequest = {
  /** A profile expression; null for all profiles, the summary included. */
  profiles?: string | null;
  /** A context expression; null for all contexts of the tree. */
  contexts?: string | null;
  /** A metric expression; null for all. */
  metrics?: string | null;
  /** Contexts to exclude although the expression names them. Values stay as stored. */
  prune?: PruneChoice;
  /** Omit the readable names. */
  is_raw?: boolean;
  /** Also values of elided contexts, which the database keeps but the tree lacks; only without a context expression and without pruning. */
  with_elided?: boolean;
};

/** A rack. */
export type RackReply = {
  /** Its name. */
  name: string;
  /** The group of switches that it belongs to, where that is something else. */
  group: string | null;
  /** From the top. */
  rows: Array<RackRowReply>;
};

/** A line of nodes in a rack: a chassis. */
export type RackRowReply = {
  /** What it is called inside of its rack; may be empty. */
  label: string;
  /** Rows of the table `nodes`, from left to right; null where the run has no node. */
  cells: Array<number | null>;
};

/** Who reads and writes which variable or allocation. */
export type ReferencesRequest = {
  /** Context expressions. None: everything that the run touches. One: what its contexts touch. Several: what contexts of each of them touch, which is what they share. */
  contexts?: Array<string>;
  /** What is called from the contexts, and what is inside of them, counts as well. */
  is_inclusive?: boolean;
};

/** Which contexts of databases become regions of an ensemble. */
export type RegionDetail = "loops" | "functions" | "lines";

/** How the entries of a region become one time, in files that have each of them. */
export type RegionEntries = "union" | "sum" | "span" | "thread-max";

/** A region with everything there is to say about it. */
export type RegionReply = {
  /** Its id; `0` for the whole program. */
  id: string;
  /** Position of the region around it in the answer; null for the whole program. */
  parent: number | null;
  /** Levels below the whole program. */
  depth: number;
  /** `whole program`, `region`, `function`, `loop`, ... */
  kind: string;
  /** Its name; may be empty. */
  name: string;
  /** What a sentence calls it; may be empty. */
  display_name: string;
  /** Call path. */
  path: string;
  /** Source file. */
  file: string | null;
  /** First line. */
  first_line: number | null;
  /** Last line. */
  last_line: number | null;
  /** Smallest share of its parent's time, in per cent. */
  share_min: number | null;
  /** Largest share of its parent's time, in per cent. */
  share_max: number | null;
  /** Load imbalance over the configurations, as fractions. */
  imbalance: SpreadReply | null;
  /** Why it loses, where that can be seen. */
  cause: string | null;
  /** Notes and warnings, one sentence each. */
  sentences: Array<string>;
  /** Largest absolute value of the three absolute difference maps: their shared range. */
  range_absolute: number | null;
  /** Largest absolute value of the three relative difference maps. */
  range_relative: number | null;
};

/** What belongs to entities, in the order of the request. */
export type RelatedRequest = {
  /** What they are. */
  kind: EntityKind;
  /** Their numbers. */
  ids: Array<number>;
  /** What is asked for about each of them. */
  relation: Relation;
  /** Of `within`, `calls` and `children`: only what takes longer, in nanoseconds; null for all. The comparison is strict, as in Parceive. */
  longer_than_ns?: number | null;
  /** Maximum number of rows; null for as many as an answer may have. */
  limit?: number | null;
};

/** What is asked for about entities. */
export type Relation = "parent" | "caller" | "ancestors" | "children" | "calls" | "groups" | "executions" | "iterations" | "within" | "references" | "references_within" | "touchers" | "threads" | "functions" | "tags";

/** Why something is taken for iterations. */
export type RepetitionReply = {
  /** The context with which iterations begin. */
  marker: string;
  /** Its call path. */
  path: string;
  /** Its id. */
  context_id: number;
  /** How many. */
  count: number;
  /** Median distance of two begins. */
  period_s: number;
  /** Share of the distances within a factor of 1.5 of the median. */
  regular_percent: number;
  /** Share of the time of the locations that regular iterations cover. */
  coverage_percent: number;
  /**
   * Share of the locations that show as many; where all locations together show them, the share
   * that one location shows.
   */
  agreement_percent: number;
  /** Whether all locations together show them. */
  is_pooled: boolean;
  /** Whether they were counted by the synchronisations that all locations pass together. */
  is_in_step: boolean;
  /** Whether the number may be off. */
  is_estimate: boolean;
  /** Share of that time in contexts that repeat as often. */
  explained_percent: number;
  /** How many contexts do. */
  contexts: number;
  /** How likely anything in a program without iterations looks as regular. */
  chance: number;
  /**
   * Whether only the order of contexts speaks for it, and distances differ: then
   * `regular_percent` is the share of iterations that are alike in order, and `coverage_percent`
   * the time of all iterations.
   */
  is_order: boolean;
};

/** Statistic over the repetitions of a configuration. */
export type RepetitionStatistic = "median" | "mean" | "min" | "max";

/** The reply to `report`. */
export type ReportReply = {
  /** Name of the measured program. */
  title: string;
  /** The metric that stands for cost; null when nothing was measured. */
  metric: string | null;
  /** Its unit symbol. */
  unit: string;
  /** Why it was chosen. */
  reason: string;
  /** Cost of everything that was measured. */
  total: number;
  /** The part of it on helper threads. */
  helper_total: number;
  /** The rest: what shares are of. */
  program_total: number;
  /** About how many samples the total stands on; null where that cannot be said. */
  samples: number | null;
  /** Number of ranks. */
  ranks: number;
  /** Number of locations. */
  locations: number;
  /** What bounds the program as a whole. */
  verdict: VerdictReply;
  /** What bounds the program, the most important first. */
  findings: Array<FindingReply>;
  /** What was not examined, and why; remarks about the data. */
  notes: Array<string>;
};

/** What bounds the program: the findings of all analyses, and where the cost is. */
export type ReportRequest = {
  /** A metric expression; null for the metric that says most about time. */
  metric?: string | null;
};

/** A file or folder that can be opened. */
export type RootReply = {
  /** How `open` names it. */
  key: string;
  /** Its display name. */
  name: string;
  /** Number of files; 0 where they cannot be listed. */
  files: number;
  /** Length of all of them together, in bytes. */
  bytes: number;
  /** Why it cannot be listed; null where it can. */
  error: string | null;
};

/** What efficiency is relative to: a name or a number of cores, written as text. */
export type ScalingBaseline = "serial" | "smallest" | "common" | `${number}`;

/** The reply to `scaling`. */
export type ScalingReply = {
  /** Name of the program. */
  title: string;
  /** Format and origin of the measurements. */
  source: string;
  /** Unit symbol of the times. */
  unit: string;
  /** Inputs. */
  inputs: Array<string>;
  /** Core counts, ascending. */
  cores: Array<number>;
  /** Positions in `cores`, in the order in which maps show them from the top. */
  rows: Array<number>;
  /** Core count that efficiency is relative to, for each input; null where there is none. */
  baselines: Array<number | null>;
  /** All regions, the whole program first, parents before children. */
  regions: Array<RegionReply>;
  /** Positions of input and core count where the whole program loses most. */
  worst: [number, number] | null;
  /** The verdict on the whole program, one sentence each. */
  verdict: Array<string>;
  /** What makes the data doubtful, one sentence each; stands next to the verdict. */
  warnings: Array<string>;
  /** Notes and warnings, the most important first. */
  notes: Array<string>;
  /** All parameters of the ensemble. */
  parameters: Array<ParameterReply>;
  /** Names of the metrics of the ensemble. */
  metrics: Array<string>;
};

/** Regions, verdict and maps of an ensemble. */
export type ScalingRequest = {
  /** How to look at it. */
  view?: ScalingView;
  /** In which order maps show core counts; what they are computed from is the same. */
  order?: CoreOrder;
};

/** A table of an ensemble. */
export type ScalingTableKind = "maps" | "regions" | "losses" | "laws" | "dispersion" | "energy" | "pop";

/** One of the tables of an ensemble. */
export type ScalingTableRequest = {
  /** How to look at it. */
  view?: ScalingView;
  /** Regions by id, path, name or glob; all when empty. */
  regions?: Array<string>;
  /** Which table. */
  table: ScalingTableKind;
  /** In which order the table `maps` has the core counts of an input. */
  order?: CoreOrder;
};

/** Which parameters are the axes, and how maps are computed. */
export type ScalingView = {
  /** The parameter that counts cores, where it has an unusual name. */
  cores?: string | null;
  /** Parameters held at one value: name and value. */
  fixed?: Array<[string, string]>;
  /** Which metric counts as time; null for `time`, else the first. */
  metric?: string | null;
  /** Regions that never reach this share of the program's time, in per cent, are omitted. */
  min_percent?: number;
  /** Statistic over repetitions. */
  statistic?: RepetitionStatistic;
  /**
   * What efficiency is relative to: `serial`, `smallest` (of each input), `common` (the
   * smallest that all inputs have), or a core count.
   */
  baseline?: ScalingBaseline;
  /** Efficiency of each repetition, then the statistic, as PaScal Viewer of 2018 does. */
  per_repetition?: boolean;
  /** Take efficiencies above 100 % as 100 % in the differences. */
  clamp?: boolean;
  /** Omit runs that may have failed: those that were far too short. */
  trusted?: boolean;
};

/** Variables and allocations that all of several activations and groups read or write, most accesses first. */
export type SharedRequest = {
  /** Activations. */
  activations?: Array<number>;
  /** Groups. */
  groups?: Array<number>;
  /** Whether accesses of what they call count, too. */
  is_inclusive?: boolean;
};

/** A source file. */
export type SourceFileReply = {
  /** Path, as contexts name it. */
  path: string;
  /** Length of its text, in bytes. */
  bytes: number;
};

/** The reply to `source_files`. */
export type SourceFilesReply = {
  /** The files, sorted by path. */
  files: Array<SourceFileReply>;
};

/** Source files whose text came with the experiment. */
export type SourceFilesRequest = {
};

/** The reply to `source`. */
export type SourceReply = {
  /** Path, as contexts name it. */
  path: string;
  /** The text; null when the experiment did not bring it along. */
  text: string | null;
  /** Where in the folder of the database the text lies, or is missing. */
  text_path: string;
  /** What the columns count, one for each metric. */
  costs: Array<CostReply>;
  /** Remarks. */
  notes: Array<string>;
};

/** A source file with the costs of its lines. */
export type SourceRequest = {
  /** Path, as contexts name it, or the end of one that no other file has. */
  path: string;
  /** Which costs to show. */
  costs?: CostsChoice;
  /** Contexts of each line that are listed at most. */
  contexts_per_line?: number;
};

/** A window of time. */
export type SpanReply = {
  /** Nanoseconds on the trace's clock. */
  start_ns: number;
  /** Nanoseconds on the trace's clock, included. */
  end_ns: number;
};

/** Smallest, mean and largest value. */
export type SpreadReply = {
  /** Smallest value. */
  min: number;
  /** Arithmetic mean. */
  mean: number;
  /** Largest value. */
  max: number;
};

/** A column of a table. */
export type SqlColumnReply = {
  /** Its name. */
  name: string;
  /** The type of its values. */
  kind: string;
  /** Unit symbol; empty where there is none. */
  unit: string;
  /** What it means. */
  about: string;
};

/** A function that statements may call. */
export type SqlFunctionReply = {
  /** Its name. */
  name: string;
  /** Whether it gives a table and stands behind FROM; otherwise it gives a value. */
  is_table: boolean;
  /** What it gives. */
  about: string;
  /** What it takes. */
  takes: string;
};

/** The reply to `sql`. */
export type SqlReply = {
  /** Whether there are more rows than were asked for. */
  is_cut: boolean;
  /** Remarks of the questions that the statement asks, such as that nothing was found and why. */
  notes: Array<string>;
};

/** The result of a statement in SQL that only reads; engines without SQL say so. */
export type SqlRequest = {
  /** Key of an open experiment or ensemble. */
  item: string;
  /** The statement. */
  statement: string;
  /** Rows that are computed and sent at most. */
  rows?: number;
};

/** The reply to `sql_schema`. */
export type SqlSchemaReply = {
  /** The tables that there are. */
  tables: Array<SqlTableReply>;
  /** The functions that are not those of every dialect. */
  functions: Array<SqlFunctionReply>;
  /** Names of the functions that every statement has, such as `count`. */
  common_functions: Array<string>;
};

/** What statements in SQL may name: tables with their columns, and functions. */
export type SqlSchemaRequest = {
  /** Key of an open experiment or ensemble. */
  item: string;
};

/** A table that statements may name. */
export type SqlTableReply = {
  /** Its name. */
  name: string;
  /** Its columns. */
  columns: Array<SqlColumnReply>;
};

/** The reply to `stacks`. */
export type StacksReply = {
  /** Name of the metric. */
  metric: string;
  /** Its unit symbol. */
  unit: string;
  /** Why this metric, where the request names none. */
  reason: string | null;
  /** Names of the parts, from the most expensive; the last is `(others)` where there are more. */
  parts: Array<string>;
  /** What is excluded because it ran on helper threads, in words; null where nothing is. */
  helpers: string | null;
  /** Remarks. */
  notes: Array<string>;
};

/** What each location spends on its most expensive functions or groups: exclusive costs. */
export type StacksRequest = {
  /** A metric expression; null for the metric that says most about time. */
  metric?: string | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** What is stacked. */
  by?: TimelineBy;
  /** How many parts are distinguished; the others are added up. */
  top?: number;
  /** Include helper threads: those that MPI, networks or the measurement start for themselves. */
  helpers?: boolean;
};

/** An iteration that takes far longer than all others. */
export type StallReply = {
  /** Counted from 0. */
  iteration: number;
  /** When the first location begins it, after the start of the trace. */
  start_s: number;
  /** How long it takes, mean over locations. */
  length_s: number;
  /** The median length of the others. */
  usual_s: number;
  /**
   * The location where most of the time is spent that others do not take; null where that is
   * unknown.
   */
  location: string | null;
  /** Id of the context where it is spent. */
  context_id: number | null;
  /** Time of that location in that context. */
  time_s: number | null;
  /** How many locations wait or communicate for most of it. */
  waiting: number;
  /** The same in a sentence. */
  text: string;
};

/** How a cost is spread over members: locations, ranks or nodes. */
export type StatisticsReply = {
  /** Members that count. */
  members: number;
  /** Of these, members that spent something. */
  values: number;
  /** Sum over all members. */
  sum: number;
  /** Smallest value. */
  min: number;
  /** Arithmetic mean. */
  mean: number;
  /** Middle value. */
  median: number;
  /** 95th percentile. */
  p95: number;
  /** Largest value. */
  max: number;
  /** Sample standard deviation; null for a single member. */
  std_dev: number | null;
  /** Coefficient of variation: standard deviation over mean. */
  variation: number | null;
  /** Balance ratio: mean over maximum; 1 is balanced. */
  balance_ratio: number | null;
  /** Potential saving: maximum minus mean. */
  saving: number;
};

/** What the rows of statistics are. */
export type StatsBy = "function" | "group" | "context";

/** Time and calls in a time range, exactly: what is active at an edge counts with the part inside. */
export type StatsRequest = {
  /** Which tracks, of those of the locations; null for all. */
  tracks?: Array<TrackSpan> | null;
  /** What the rows are. */
  by?: StatsBy;
  /** Include helper threads: those that MPI, networks or the measurement start for themselves. */
  helpers?: boolean;
  /** A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the critical path, changes over time and iterations then exclude helper threads, which an expression includes where it names them. */
  profiles?: string | null;
  /** A time window, such as `1.5s..2s` after the start or `10%..20%`; null for everything. */
  window?: string | null;
  /** Start of the time range, in nanoseconds since the first record of the trace; null for the beginning. */
  from_ns?: number | null;
  /** Its end, in nanoseconds since the first record; null for the end of the trace. */
  to_ns?: number | null;
};

/** Tasks on workers. */
export type TasksReply = {
  /** The call path below which the tasks are. */
  parent: string;
  /** Seconds, executed sequentially. */
  serial_s: number;
  /** Seconds on the workers. */
  parallel_s: number;
  /** Seconds that no schedule on so many workers can beat. */
  bound_s: number;
  /** How many times faster; 1 is as fast as sequentially. */
  speedup: number;
  /** How many workers. */
  workers: number;
};

/** A file that was chosen, as text. */
export type TextFile = {
  /** What it is called, for messages. */
  name: string;
  /** What is in it. */
  text: string;
};

/** A picture of tracks over time: rows of tracks by bins of time. */
export type TileRequest = {
  /** Rows of the picture; each adds its tracks up. */
  rows: Array<TrackSpan>;
  /** Where it begins. */
  from_ns: number;
  /** Where it ends. */
  to_ns: number;
  /** Bins at most; there are at least half as many, unless they would be shorter than 1 ns. */
  bins: number;
  /** What colours stand for. */
  by?: TimelineBy;
  /** Depth below which contexts count as the one above them, 1 for the outermost; null for none. */
  max_depth?: number | null;
  /** Functions or groups (as `by` says) to hide. */
  hidden?: Array<number>;
};

/** What colours and stacks stand for. */
export type TimelineBy = "function" | "group";

/** The reply to `timeline`. */
export type TimelineReply = {
  /** Whether calls were recorded, or samples of what was active. */
  has_calls: boolean;
  /** The first record of all, in nanoseconds on the trace's clock; decimal, for it may be large. */
  origin_ns: string;
  /** From the first to the last record. */
  span_ns: number;
  /** Records of sending a message. */
  sends: number;
  /** Records of receiving a message. */
  receives: number;
  /** The metrics whose values change over time. */
  counters: Array<CounterReply>;
  /** The coupled applications; empty where there is one. */
  components: Array<ComponentReply>;
  /** The tracks without those of helper threads, which views show; null where none is one. */
  program_tracks: Array<TrackSpan> | null;
  /** What is excluded with the others, in words. */
  helpers: string | null;
  /** Remarks, such as that functions have no times and why. */
  notes: Array<string>;
};

/** What there is to see in a trace. */
export type TimelineRequest = {
};

/** The reply to `topology`. */
export type TopologyReply = {
  /** What was found, as sentences. */
  findings: Array<string>;
  /** Members of each cluster. */
  sizes: Array<number>;
  /** The feature whose means the nodes have. */
  feature: string;
  /** Its unit symbol. */
  unit: string;
  /** Racks with their nodes. */
  racks: Array<RackReply>;
  /** Nodes that no rack is known of. */
  unplaced: number;
  /** Remarks. */
  notes: Array<string>;
};

/** Where nodes are in the machine, and whether those of a cluster are close together. */
export type TopologyRequest = {
  /** Host tables: `hostid,xname`, `/etc/hosts`, `pbsnodes -F json`, `topology.conf`. They complete each other, and the first one wins. */
  hosts?: Array<TextFile>;
  /** How nodes are named. */
  system?: NodeNames;
  /** The description of another system, which counts instead of `system`; null for none. */
  description?: TextFile | null;
  /** Metric expressions; none for the metric that says most about time. */
  metrics?: Array<string>;
  /** A context expression, each context a feature; null for the innermost functions that cost at least 1 %, those first that perfect balance would save most. */
  contexts?: string | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** Costs without what contexts call. */
  is_exclusive?: boolean;
  /** What is clustered. A node has the mean of its ranks. */
  by?: BalanceBy;
  /** How. */
  method?: ClusterMethod;
  /** Number of clusters of k-means, 1 to 64; null chooses it from the data. */
  k?: number | null;
  /** Largest distance of neighbours of DBSCAN, in standard deviations; null chooses it from the data. */
  eps?: number | null;
  /** Members within that distance of a core point of DBSCAN; null chooses it from the data. */
  min_points?: number | null;
  /** Include helper threads: those that MPI, networks, drivers or the measurement start for themselves. */
  helpers?: boolean;
};

/** The reply of a question that gives some of what there is. */
export type TotalReply = {
  /** How many there are. */
  total: number;
};

/** What samples of traces are grouped by. */
export type TraceBy = "context" | "location" | "both";

/** The reply to `trace_groups`. */
export type TraceGroupsReply = {
  /** Number of samples, before short ones are excluded. */
  samples: number;
  /** Where they were grouped: the name of a GPU, or `cpu`. */
  device: string;
  /** Why there. */
  device_reason: string;
  /** Remarks, such as that nothing matched and why. */
  notes: Array<string>;
};

/** Samples of traces by context, location or both: how many, and their durations. The answer is the same on every device, bit for bit: durations and their squares are added as whole numbers. */
export type TraceGroupsRequest = {
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** A time window, to which samples are cut; null for everything. */
  window?: string | null;
  /** Rows of the table. */
  by?: TraceBy;
  /** Only samples that last this many nanoseconds or longer. */
  min_ns?: number;
};

/** Samples of traces: which context was active when. */
export type TraceRequest = {
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** A time window; null for everything. */
  window?: string | null;
  /** Omit the readable names. */
  is_raw?: boolean;
};

/** Tracks that follow one another. */
export type TrackSpan = {
  /** The first. */
  from: number;
  /** One past the last. */
  to: number;
};

/** The calling context tree with several metrics side by side. */
export type TreeTableRequest = {
  /** Which costs to show. The first metric orders the rows and decides what is low cost. */
  costs?: CostsChoice;
  /** What to exclude. */
  prune?: PruneChoice;
};

/** User events at each location. */
export type UserEventLocationsRequest = {
  /** Name of an event, or a glob; null for all. */
  event?: string | null;
  /** Only what occurred in this context, by its id in the database; null for everywhere. */
  context_id?: number | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
};

/** User events over all locations, as a whole and by context. */
export type UserEventsRequest = {
  /** Name of an event, or a glob such as `Message size*`; null for all. */
  event?: string | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
};

/** What bounds a program as a whole, by what takes more than half of its time. */
export type VerdictReply = {
  /**
   * What bounds it; null where nothing takes half of the time, or where the measurement does not
   * say.
   */
  bound: BoundKind | null;
  /** Its share in per cent: of the time of the program, or of that of its GPUs. */
  percent: number | null;
  /** Why, as a clause: `MPI takes 56.9 % of wall-clock time`. */
  reason: string;
  /** Both in one line: `communication-bound (MPI takes 56.9 % of wall-clock time)`. */
  line: string;
  /** The numbers behind it. */
  evidence: Array<EvidenceReply>;
};

/** What the rows of waits are. */
export type WaitsBy = "function" | "context" | "track" | "pair";

/** Kinds of wait states. */
export type WaitsKind = "late_sender" | "late_receiver" | "collective" | "late_launch" | "for_gpu";

/** Wait states: which location waits, for which, and how long; needs a trace of events. */
export type WaitsRequest = {
  /** Which; null for all. */
  kind?: WaitsKind | null;
  /** What the rows are. */
  by?: WaitsBy;
  /** A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the critical path, changes over time and iterations then exclude helper threads, which an expression includes where it names them. */
  profiles?: string | null;
  /** A time window, such as `1.5s..2s` after the start or `10%..20%`; null for everything. */
  window?: string | null;
  /** Start of the time range, in nanoseconds since the first record of the trace; null for the beginning. */
  from_ns?: number | null;
  /** Its end, in nanoseconds since the first record; null for the end of the trace. */
  to_ns?: number | null;
};

/** The reply to `workflow`. */
export type WorkflowGraphReply = {
  /** Name of the workflow. */
  title: string;
  /** Start of the window, in nanoseconds since the first record; null without a trace. */
  start_ns: number | null;
  /** Its end, likewise. */
  end_ns: number | null;
  /** Length of a part of `over_time`, in nanoseconds; null without them. */
  bin_ns: number | null;
  /** Remarks. */
  notes: Array<string>;
};

/** The components of a workflow, and what goes from one to the other: by messages, files and streams of ADIOS; see [traces.md](traces.md#workflow-components-and-what-goes-between-them). */
export type WorkflowGraphRequest = {
  /** Parts of equal length into which the time of the window is divided for the table `over_time`; 0 for none. */
  bins?: number;
  /** A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the critical path, changes over time and iterations then exclude helper threads, which an expression includes where it names them. */
  profiles?: string | null;
  /** A time window, such as `1.5s..2s` after the start or `10%..20%`; null for everything. */
  window?: string | null;
  /** Start of the time range, in nanoseconds since the first record of the trace; null for the beginning. */
  from_ns?: number | null;
  /** Its end, in nanoseconds since the first record; null for the end of the trace. */
  to_ns?: number | null;
};

/** Whether the files of a root are still written. */
export type Writing = "unknown" | "growing" | "abandoned" | "complete";

/** Every question, with what it takes and what it is answered with. */
export interface Protocol {
  /** Version of the engine, and what can be opened without being sent. */
  hello: { request: HelloRequest; reply: HelloReply; tables: { } };
  /** Whether the files of a root have changed since it was opened. */
  fingerprint: { request: FingerprintRequest; reply: FingerprintReply; tables: { } };
  /** Opens everything that a root holds. */
  open: { request: OpenRequest; reply: OpenReply; tables: { } };
  /** Makes one ensemble of several experiments or files of measurements that are open. */
  combine: { request: CombineRequest; reply: OpenReply; tables: { } };
  /** Closes an item. */
  close: { request: CloseRequest; reply: CloseReply; tables: { } };
  /** What was repaired, dropped or guessed. */
  issues: { request: IssuesRequest & { item: string }; reply: IssuesReply; tables: { } };
  /** What an experiment is. */
  info: { request: InfoRequest & { item: string }; reply: InfoReply; tables: { metrics: "metric" | "unit" | "total" | "scopes" | "statistics" | "description" | "formula"; components: "component" | "application" | "ranks" | "first_rank" | "locations" | "start_s" | "end_s" | "shift_s" | "depends_on"; component_facts: "fact"; processes: "component" | "process" | "rank" | "threads" | "host" | "cpu" | "start_s" | "pid" | "command"; } };
  /** Profiles with the parts of their identity: node, rank, thread, core, GPU, context and stream. */
  locations: { request: LocationsRequest & { item: string }; reply: NotesReply; tables: { rows: "profile_id" | "location" | "role" | "values" | "samples"; } };
  /** The metrics of an experiment. */
  metrics: { request: MetricsRequest & { item: string }; reply: MetricsReply; tables: { } };
  /** What bounds the program: the findings of all analyses, and where the cost is. */
  report: { request: ReportRequest & { item: string }; reply: ReportReply; tables: { categories: "group" | "class" | "cost" | "percent" | "contexts"; routines: "routine" | "group" | "class" | "cost" | "percent" | "contexts"; functions: "function" | "module" | "exclusive" | "percent" | "inclusive" | "contexts"; gpu: "what" | "metric" | "value" | "unit" | "percent"; hot_path: "context_id" | "context" | "inclusive" | "percent"; metrics: "metric" | "total" | "unit"; } };
  /** The calling context tree with several metrics side by side. */
  tree_table: { request: TreeTableRequest & { item: string }; reply: CostsReply; tables: { rows: "depth" | "parent" | "context_id" | "kind" | "name" | "place" | "definition_file" | "definition_line" | "file" | "line" | "module"; } };
  /** Functions by their exclusive cost, and their callers. */
  callers: { request: CallersRequest & { item: string }; reply: CostOnlyReply; tables: { rows: "depth" | "parent" | "context_id" | "kind" | "name" | "place" | "module" | "offset" | "inclusive" | "exclusive" | "inclusive_percent" | "exclusive_percent"; } };
  /** Contexts grouped by what they are, wherever they are called from. */
  flat: { request: FlatRequest & { item: string }; reply: CostOnlyReply; tables: { rows: "name" | "place" | "exclusive" | "inclusive" | "exclusive_percent" | "inclusive_percent" | "contexts"; } };
  /** One context's cost at every location, rank or node. Zeros are not stored: members without a value do not take part and are counted in a note, unless all are asked for. Then those that ran below the same entry count with 0; others, such as helper threads, are omitted. */
  distribution: { request: DistributionRequest & { item: string }; reply: DistributionReply; tables: { rows: "location" | "label" | "value"; } };
  /** Source files whose text came with the experiment. */
  source_files: { request: SourceFilesRequest & { item: string }; reply: SourceFilesReply; tables: { } };
  /** A source file with the costs of its lines. */
  source: { request: SourceRequest & { item: string }; reply: SourceReply; tables: { lines: "line" | "contexts"; contexts: "line" | "context_id"; } };
  /** Values as stored, by expressions. */
  query: { request: QueryRequest & { item: string }; reply: NotesReply; tables: { rows: "profile_id" | "context_id" | "metric_id" | "value" | "location" | "context" | "metric" | "unit"; } };
  /** Samples of traces: which context was active when. */
  trace: { request: TraceRequest & { item: string }; reply: NotesReply; tables: { rows: "profile_id" | "context_id" | "start_ns" | "end_ns" | "location" | "context"; } };
  /** Samples of traces by context, location or both: how many, and their durations. The answer is the same on every device, bit for bit: durations and their squares are added as whole numbers. */
  trace_groups: { request: TraceGroupsRequest & { item: string }; reply: TraceGroupsReply; tables: { rows: "profile_id" | "location" | "context_id" | "context" | "samples" | "total_ns" | "mean_ns" | "min_ns" | "max_ns" | "std_dev_ns"; } };
  /** Who reads and writes which variable or allocation. */
  references: { request: ReferencesRequest & { item: string }; reply: NotesReply; tables: { rows: "reference" | "reference_id" | "storage" | "size_bytes" | "reads" | "writes" | "threads" | "read_in" | "written_in" | "allocated_in" | "allocated_line"; } };
  /** The loops that were executed, by call path. */
  loops: { request: LoopsRequest & { item: string }; reply: NotesReply; tables: { rows: "loop" | "function" | "context" | "context_id" | "executions" | "iterations" | "iterations_min" | "iterations_max" | "time_s" | "longest_s" | "share_percent"; } };
  /** User events over all locations, as a whole and by context. */
  user_events: { request: UserEventsRequest & { item: string }; reply: NotesReply; tables: { events: "event" | "unit" | "count" | "sum" | "mean" | "min" | "max" | "std_dev" | "locations" | "contexts"; contexts: "event" | "context_id" | "name" | "path" | "unit" | "count" | "sum" | "mean" | "min" | "max" | "std_dev" | "locations"; } };
  /** User events at each location. */
  user_event_locations: { request: UserEventLocationsRequest & { item: string }; reply: NotesReply; tables: { locations: "event" | "location" | "label" | "unit" | "count" | "sum" | "mean" | "min" | "max" | "std_dev"; } };
  /** Call instances, references, threads and other entities, in the order of their numbers. */
  entities: { request: EntitiesRequest & { item: string }; reply: EntitiesReply; tables: { rows: "of" | "activation" | "kind" | "name" | "context_id" | "function" | "parent" | "caller" | "thread" | "depth" | "start_ns" | "end_ns" | "length_ns" | "count" | "number" | "line" | "children" | "groups" | "executions" | "iterations" | "is_in_loop" | "is_estimated" | "touched" | "is_touching_within" | "source_id" | "reads" | "writes" | "read_line" | "write_line" | "reference" | "storage" | "size_bytes" | "allocated_by" | "freed_by" | "allocated_line" | "freed_line" | "entry" | "creator" | "created_by" | "created_line" | "calls" | "file" | "path" | "time_ns" | "functions" | "tag" | "what" | "counter"; } };
  /** What belongs to entities, in the order of the request. */
  related: { request: RelatedRequest & { item: string }; reply: EntitiesReply; tables: { rows: "of" | "activation" | "kind" | "name" | "context_id" | "function" | "parent" | "caller" | "thread" | "depth" | "start_ns" | "end_ns" | "length_ns" | "count" | "number" | "line" | "children" | "groups" | "executions" | "iterations" | "is_in_loop" | "is_estimated" | "touched" | "is_touching_within" | "source_id" | "reads" | "writes" | "read_line" | "write_line" | "reference" | "storage" | "size_bytes" | "allocated_by" | "freed_by" | "allocated_line" | "freed_line" | "entry" | "creator" | "created_by" | "created_line" | "calls" | "file" | "path" | "time_ns" | "functions" | "tag" | "what" | "counter"; } };
  /** Variables and allocations that all of several activations and groups read or write, most accesses first. */
  shared: { request: SharedRequest & { item: string }; reply: EntitiesReply; tables: { rows: "of" | "reference" | "name" | "storage" | "size_bytes" | "reads" | "writes" | "allocated_by" | "freed_by" | "allocated_line" | "freed_line" | "source_id" | "read_line" | "write_line"; } };
  /** Calls over time, one lane for each of several activations, without short calls. Call instances lie where they were executed. Aggregated calls lie one after the other below their caller, longest first, as wide as the sum of their times. */
  lanes: { request: LanesRequest & { item: string }; reply: LanesReply; tables: { rows: "lane" | "activation" | "kind" | "name" | "context_id" | "level" | "start_ns" | "length_ns" | "count" | "iterations"; } };
  /** Definitions, calls, loops and accesses on the lines of a source file. */
  lines: { request: LinesRequest & { item: string }; reply: NotesReply; tables: { rows: "line" | "what" | "name" | "times" | "context_id" | "reference"; } };
  /** What there is to see in a trace. */
  timeline: { request: TimelineRequest & { item: string }; reply: TimelineReply; tables: { tracks: "location" | "label" | "calls"; functions: "name" | "exclusive_ns" | "calls" | "group"; groups: "name" | "exclusive_ns" | "calls"; contexts: "context_id" | "parent" | "function" | "depth"; } };
  /** A picture of tracks over time: rows of tracks by bins of time. */
  tile: { request: TileRequest & { item: string }; reply: BinsReply; tables: { cells: "key" | "dominant_ns" | "busy_ns" | "calls" | "depth"; } };
  /** The call instances in a time range. For samples, a call is a run of samples with the same contexts above. */
  calls: { request: CallsRequest & { item: string }; reply: CallsReply; tables: { calls: "track" | "context" | "depth" | "start_ns" | "end_ns"; } };
  /** What was active at a moment. */
  path_at: { request: PathAtRequest & { item: string }; reply: NotesReply; tables: { path: "context" | "name" | "depth" | "start_ns" | "end_ns" | "exclusive_ns"; arguments: "depth" | "name" | "value"; } };
  /** Messages or flows in transit in a time range; needs a trace of events. */
  links: { request: LinksRequest & { item: string }; reply: TotalReply; tables: { links: "sender" | "receiver" | "send_ns" | "receive_ns" | "bytes" | "tag" | "communicator"; } };
  /** How many messages or flows were sent when; needs a trace of events. A message of which only the receipt is known counts when it was received. */
  link_bins: { request: LinkBinsRequest & { item: string }; reply: BinsReply; tables: { bins: "messages" | "bytes"; } };
  /** A counter over time; needs a trace of events. */
  counter_bins: { request: CounterBinsRequest & { item: string }; reply: BinsReply; tables: { values: "track" | "bin" | "min" | "max" | "last"; } };
  /** What happened at moments of a time range; needs a trace of events. */
  markers: { request: MarkersRequest & { item: string }; reply: TotalReply; tables: { markers: "track" | "name" | "at_ns"; } };
  /** What each location spends on its most expensive functions or groups: exclusive costs. */
  stacks: { request: StacksRequest & { item: string }; reply: StacksReply; tables: { locations: "location" | "label" | "total"; stack: "location" | "part" | "value"; } };
  /** Time and calls in a time range, exactly: what is active at an edge counts with the part inside. */
  stats: { request: StatsRequest & { item: string }; reply: NotesReply; tables: { rows: "name" | "group" | "calls" | "exclusive_s" | "inclusive_s" | "share_percent"; } };
  /** Messages in transit in a time range; needs a trace of events. */
  messages: { request: MessagesRequest & { item: string }; reply: NotesReply; tables: { rows: "from_bytes" | "tag" | "file" | "sender" | "receiver" | "kind" | "messages" | "bytes" | "mean_s" | "longest_s" | "unmatched" | "backwards" | "send_ns" | "receive_ns" | "communicator"; } };
  /** The components of a workflow, and what goes from one to the other: by messages, files and streams of ADIOS; see [traces.md](traces.md#workflow-components-and-what-goes-between-them). */
  workflow: { request: WorkflowGraphRequest & { item: string }; reply: WorkflowGraphReply; tables: { components: "component" | "application" | "ranks" | "locations" | "start_ns" | "end_ns" | "busy_percent" | "hosts" | "command" | "depends_on"; exchanges: "from" | "to" | "from_row" | "to_row" | "by" | "name" | "count" | "bytes" | "senders" | "receivers" | "first_ns" | "last_ns" | "evidence"; over_time: "exchange" | "bin" | "count" | "bytes"; } };
  /** Calls that begin in a time range, by name and duration. */
  find: { request: FindRequest & { item: string }; reply: FindReply; tables: { rows: "track" | "location" | "context" | "context_id" | "name" | "start_ns" | "end_ns" | "duration_ns" | "arguments"; histogram: "from_ns" | "calls" | "total_ns"; } };
  /** Calls of a trace that take much longer than the other calls of their function on the same location, or those that a detector named; see [anomalies.md](anomalies.md). */
  anomalies: { request: AnomaliesRequest & { item: string }; reply: AnomaliesReply; tables: { rows: "track" | "location" | "context" | "context_id" | "name" | "start_ns" | "end_ns" | "exclusive_ns" | "found" | "named" | "median_ns" | "times_median" | "score" | "calls"; } };
  /** Wait states: which location waits, for which, and how long; needs a trace of events. */
  waits: { request: WaitsRequest & { item: string }; reply: NotesReply; tables: { rows: "kind" | "function" | "context" | "context_id" | "location" | "waits_for" | "waits" | "waiting_s" | "share_percent" | "longest_s" | "in_calls_s"; } };
  /** What the run time consists of, excluding wait time; needs a trace of events. The path is that of the whole trace; locations and window say which part of it is shown. */
  critical_path: { request: CriticalPathRequest & { item: string }; reply: CriticalPathReply; tables: { rows: "function" | "group" | "context" | "location" | "on_path_s" | "share_percent" | "all_locations_s" | "context_id" | "start_s" | "length_s" | "context_percent" | "releases" | "basis"; } };
  /** How a trace changes over time. The time range grows to whole bins. */
  over_time: { request: OverTimeRequest & { item: string }; reply: OverTimeReply; tables: { rows: "start_s" | "end_s" | "name" | "exclusive_s" | "share_percent" | "location" | "waiting_s" | "outside_s" | "idle_percent" | "function" | "calls" | "mean_s" | "longest_s" | "latest" | "messages" | "under_way_s" | "computing_s" | "overlap_percent" | "max_s" | "saving_s" | "balance_ratio" | "imbalance_percent" | "slowest"; totals: "start_s" | "end_s" | "name" | "exclusive_s" | "share_percent" | "location" | "waiting_s" | "outside_s" | "idle_percent" | "function" | "calls" | "mean_s" | "longest_s" | "latest" | "messages" | "under_way_s" | "computing_s" | "overlap_percent" | "max_s" | "saving_s" | "balance_ratio" | "imbalance_percent" | "slowest"; } };
  /** Repeated phases of a trace, their load imbalance, and the potential saving. */
  iterations: { request: IterationsRequest & { item: string }; reply: IterationsReply; tables: { contexts: "context" | "does" | "share_percent" | "mean_s" | "max_s" | "balance_ratio" | "across_percent" | "within_percent" | "saving_s" | "total_saving_s" | "lasting_saving_s" | "resolved" | "slowest" | "call_path" | "context_id"; locations: "location" | "length_s" | "computing_s" | "communicating_s" | "waiting_s" | "variation_percent" | "slowest_in"; iterations: "iteration" | "state" | "start_s" | "length_s" | "mean_s" | "max_s" | "balance_ratio" | "imbalance_percent" | "saving_s" | "waiting_s" | "slowest"; cells: "location" | "iteration" | "time_s" | "difference_s" | "context" | "context_id" | "depth" | "locations" | "inclusive_s" | "inclusive_min_s" | "inclusive_max_s" | "inclusive_deviation_s" | "exclusive_s" | "exclusive_min_s" | "exclusive_max_s" | "exclusive_deviation_s" | "parent_id"; } };
  /** Load imbalance of contexts over locations, ranks or nodes. */
  balance: { request: BalanceRequest & { item: string }; reply: BalanceReply; tables: { rows: "context_id" | "name" | "path" | "contexts" | "members" | "with_value" | "absent" | "saving" | "wasted" | "balance_ratio" | "imbalance" | "sum" | "mean" | "min" | "p5" | "p25" | "p50" | "p75" | "p95" | "max" | "variance" | "std_dev" | "variation" | "slowest" | "histogram"; } };
  /** Idle time of threads and GPUs, and what threads did while GPUs were idle. */
  idleness: { request: IdlenessRequest & { item: string }; reply: NotesReply; tables: { rows: "profile_id" | "location" | "whole" | "working" | "idle" | "idle_percent" | "not_running" | "openmp_idle" | "openmp_wait" | "mpi" | "other_wait" | "without_core" | "kind" | "group" | "streams" | "trace_span" | "trace_active" | "trace_idle" | "trace_idle_percent" | "thread_time" | "operation_time" | "profile_idle" | "idle_with_calls" | "context_id" | "call_path"; } };
  /** Where instructions of GPUs stall and why, by instruction sampling; see [gpu-stalls.md](gpu-stalls.md). */
  gpu_stalls: { request: GpuStallsRequest & { item: string }; reply: GpuStallsReply; tables: { rows: "kernel" | "function" | "file" | "line" | "instruction" | "cycles" | "cycles_percent" | "issue_percent" | "hidden_percent" | "exposed_percent" | "reason" | "reason_percent" | "samples" | "kernel_s" | "context_id"; reasons: "reason" | "code" | "group" | "cycles" | "cycles_percent" | "stalls_percent" | "meaning" | "remedy"; stalls: "row" | "reason" | "group" | "cycles" | "cycles_percent"; } };
  /** Correlations over locations between exclusive values of functions, totals and identities. */
  correlations: { request: CorrelationsRequest & { item: string }; reply: CorrelationsReply; tables: { pairs: "first" | "second" | "locations" | "pearson" | "pearson_p" | "spearman" | "spearman_p"; } };
  /** Two columns of `correlations` at each location, as a scatter plot needs them. */
  correlation_points: { request: CorrelationPointsRequest & { item: string }; reply: CorrelationPointsReply; tables: { points: "location" | "label" | "first" | "second"; } };
  /** Clusters of locations, ranks or nodes with similar cost, and what separates them. */
  clusters: { request: ClustersRequest & { item: string }; reply: ClustersReply; tables: { members: "location" | "label" | "node" | "group" | "axis_1" | "axis_2"; groups: "group" | "members" | "nodes" | "feature" | "mean" | "min" | "max" | "std_dev" | "unit"; features: "feature" | "context" | "context_id" | "eta_squared" | "cohens_d" | "auc" | "disjoint" | "balance_ratio" | "used"; stability: "of" | "k" | "first" | "second" | "shared_nodes" | "split_nodes"; scores: "k" | "explained_percent" | "silhouette" | "gap" | "gap_error" | "chosen"; steps: "eps" | "groups" | "outliers" | "chosen"; } };
  /** Where nodes are in the machine, and whether those of a cluster are close together. */
  topology: { request: TopologyRequest & { item: string }; reply: TopologyReply; tables: { nodes: "host_id" | "address" | "name" | "group" | "members" | "value" | "switch_group" | "rack" | "switch" | "chassis" | "slot"; units: "level" | "unit" | "nodes" | "mean" | "min" | "max"; concentration: "group" | "level" | "nodes" | "touched" | "units" | "expected_touched" | "whole" | "expected_whole" | "p_together" | "p_apart" | "p_together_adjusted" | "p_apart_adjusted" | "finding"; members: "location" | "label" | "node" | "group" | "axis_1" | "axis_2"; } };
  /** What of a run could have been executed in parallel; needs every call, iteration and access. */
  advise: { request: AdviseRequest & { item: string }; reply: AdviseReply; tables: { rows: "verdict" | "loop" | "context_id" | "because" | "work_s" | "share_percent" | "saving_s" | "executions" | "iterations" | "most_iterations" | "reference" | "storage" | "effect" | "written_at" | "read_at" | "earlier" | "later" | "references" | "compared" | "below" | "dependence" | "earlier_at" | "later_at" | "pairs" | "context" | "kind" | "times" | "span_s" | "parallelism" | "worker" | "number" | "task" | "start_s" | "end_s" | "takes_s" | "waits_for" | "first_at" | "first_access" | "first_thread" | "second_at" | "second_access" | "second_thread"; } };
  /** What changed from one experiment to another. */
  differences: { request: DifferencesRequest & { old: string; new: string }; reply: DifferencesReply; tables: { rows: "version" | "name" | "context" | "kind" | "in" | "old" | "new" | "difference" | "change_percent" | "ratio" | "share_percent" | "low" | "high" | "p" | "p_adjusted" | "effect" | "verdict" | "own_old" | "own_new" | "own_difference" | "own_change_percent" | "own_ratio" | "own_share_percent" | "own_low" | "own_high" | "own_p" | "own_p_adjusted" | "own_effect" | "own_verdict" | "basis" | "tested" | "parent" | "depth" | "width_new" | "width_either" | "old_context_id" | "new_context_id"; } };
  /** Regions, verdict and maps of an ensemble. */
  scaling: { request: ScalingRequest & { item: string }; reply: ScalingReply; tables: { cells: "repetitions" | "time" | "time_min" | "time_max" | "speedup" | "efficiency" | "scalability_abs" | "strong_abs" | "weak_abs" | "scalability_rel" | "strong_rel" | "weak_rel" | "imbalance" | "loss" | "own_loss" | "estimated"; losses: "region" | "name" | "input" | "cores" | "loss" | "own_loss" | "share" | "cause"; } };
  /** One of the tables of an ensemble. */
  scaling_table: { request: ScalingTableRequest & { item: string }; reply: NotesReply; tables: { rows: "region" | "input" | "cores" | "repetitions" | "time" | "time_min" | "time_max" | "speedup" | "efficiency" | "scalability_abs" | "strong_abs" | "weak_abs" | "scalability_rel" | "strong_rel" | "weak_rel" | "imbalance" | "estimated" | "parent" | "kind" | "name" | "path" | "file" | "first_line" | "last_line" | "share_min" | "share_max" | "imbalance_mean" | "imbalance_max" | "verdict" | "loss" | "own_loss" | "share" | "cause" | "points" | "amdahl_serial" | "amdahl_max_speedup" | "amdahl_time" | "amdahl_error" | "usl_contention" | "usl_coherency" | "usl_peak_cores" | "usl_error" | "karp_flatt_first" | "karp_flatt_last" | "gustafson_serial" | "gustafson_error" | "mean" | "median" | "min" | "max" | "std_dev" | "variation" | "mean_low" | "mean_high" | "outliers" | "meter" | "energy" | "energy_min" | "energy_max" | "power" | "edp" | "error" | "valid" | "note" | "parallel" | "load_balance" | "communication" | "serialisation" | "transfer" | "openmp_parallel" | "openmp_load_balance" | "openmp_scheduling" | "computation" | "instructions" | "ipc" | "frequency" | "global" | "origin"; } };
  /** Growth models of the regions of an ensemble: how a metric grows with the parameters. */
  models: { request: ModelsRequest & { item: string }; reply: ModelsReply; tables: { rows: "region" | "name" | "path" | "metric" | "unit" | "group" | "model" | "smape" | "rss" | "rrss" | "re" | "ar2" | "points" | "prediction"; curves: "model" | "x" | "y"; } };
  /** Two ensembles as versions of one program, on the configurations of the old one. */
  compare: { request: CompareRequest & { old: string; new: string }; reply: CompareReply; tables: { cells: "region" | "input" | "cores" | "time_old" | "time_new" | "time_ratio" | "change" | "runs_old" | "runs_new" | "p" | "p_adjusted" | "low" | "high" | "efficiency" | "scalability_abs" | "strong_abs" | "weak_abs" | "scalability_rel" | "strong_rel" | "weak_rel"; } };
  /** The result of a statement in SQL that only reads; engines without SQL say so. */
  sql: { request: SqlRequest; reply: SqlReply; tables: { rows: string; } };
  /** What statements in SQL may name: tables with their columns, and functions. */
  sql_schema: { request: SqlSchemaRequest; reply: SqlSchemaReply; tables: { } };
}

/** A request as it travels. */
export interface Request {
  ask: keyof Protocol;
  with: Protocol[keyof Protocol]["request"];
}
