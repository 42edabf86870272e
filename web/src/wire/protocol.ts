// Generated from crates/wire by `cargo xtask web`. Do not edit.

/** The version of the protocol that these types describe. */
export const PROTOCOL_VERSION = 2;

/** How evenly contexts cost. */
export type BalanceAsk = {
  /** An experiment. */
  item: string;
  /** A metric expression; null for the default. */
  metric?: string | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** A context expression; null for the functions that cost at least 1 %. */
  contexts?: string | null;
  /** What is compared: `profile` (default), `rank` or `node`. */
  by?: string | null;
  /** Compare costs without what contexts call. */
  is_exclusive?: boolean;
};

/** How evenly contexts cost; table `rows`. */
export type BalanceReply = {
  /** Why this metric, where nobody named one. */
  reason: string | null;
  /** The whole execution's inclusive cost over the chosen locations. */
  total: number;
  /** What a person should know. */
  notes: Array<string>;
};

/** Who called functions. */
export type CallersAsk = {
  /** An experiment. */
  item: string;
  /** What counts as cost. */
  cost?: CostAsk;
  /** What is left out. */
  prune?: PruneAsk;
  /** A context expression: only what lies below the contexts that it names; null for everything. */
  from?: string | null;
  /** Exact name of one function; null for all. */
  function?: string | null;
  /** Callers in a chain at most; 0 for the functions alone, null for all. */
  max_depth?: number | null;
  /** Rows at most; null for all. */
  max_rows?: number | null;
};

/** Forget an item. */
export type CloseAsk = {
  /** The item. */
  item: string;
};

/** It is forgotten. */
export type CloseReply = Record<symbol, never>;

/** Make one ensemble. */
export type CombineAsk = {
  /** Items: experiments, or ensembles that are files of measurements. */
  items: Array<string>;
  /** How. */
  ensemble?: EnsembleAsk;
};

/** Two ensembles as versions of one program. */
export type CompareAsk = {
  /** The old version: an ensemble. */
  old: string;
  /** The new version: an ensemble. */
  new: string;
  /** How to look at them. */
  view?: ViewAsk;
  /** Smallest change of time, in per cent, that counts; null for 2. */
  tolerance?: number | null;
};

/**
 * Two versions side by side. Table `cells` has one row for each region, input and core count of
 * the old version, nested like that of `scaling`: `time_old`, `time_new`, `time_ratio`, `change`
 * (`faster`, `slower`, `within noise`), `chance`, and differences of `efficiency`,
 * `scalability_abs`, ...
 */
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
  /** The verdict in plain words. */
  sentences: Array<string>;
  /** What a person should know. */
  notes: Array<string>;
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

/** What counts as cost, and over which locations. */
export type CostAsk = {
  /** A metric expression; null for the metric that says most about time. */
  metric?: string | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** Count time in the traces instead of a metric. */
  is_trace?: boolean;
  /** A time window of the traces; implies `is_trace`. */
  window?: string | null;
};

/** What the numbers of a view count. */
export type CostReply = {
  /** Name of the metric, or `trace time`. */
  metric: string;
  /** Its unit symbol; empty for counts. */
  unit: string;
  /** Why this metric, where nobody named one. */
  reason: string | null;
  /** Cost of the whole execution over the chosen locations. */
  total: number;
  /** Number of locations that the numbers are sums over. */
  locations: number;
  /** What a person should know. */
  notes: Array<string>;
};

/** What counts as cost where several metrics stand side by side, and over which locations. */
export type CostsAsk = {
  /** Metric expressions, or formulas that begin with `=`; the default metric when empty. */
  metrics?: Array<string>;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** Count time in the traces instead of metrics. */
  is_trace?: boolean;
  /** A time window of the traces; implies `is_trace`. */
  window?: string | null;
};

/** Where curves of models go along. */
export type CurveAsk = {
  /** The parameter. */
  parameter: string;
  /** Its values. */
  values: Array<number>;
  /**
   * Values of other parameters of the models; those that are not named stand at their largest
   * measured value.
   */
  at?: Array<[string, number]>;
};

/** Values of a model along a parameter. */
export type CurveReply = {
  /** Values of the parameter. */
  x: Array<number>;
  /** Values of the model; null where it is undefined. */
  y: Array<number | null>;
};

/** A context's cost over locations. */
export type DistributionAsk = {
  /** An experiment. */
  item: string;
  /** Context id in the database; 0 is the whole execution. */
  context_id?: number;
  /** A metric expression or a formula; null for the default. */
  metric?: string | null;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** Cost of the context itself, without what lies below. */
  is_exclusive?: boolean;
  /** What is compared: `profile` (default), `rank` or `node`. */
  by?: string | null;
  /** Bins of the histogram; null for as many as the values suggest. */
  bins?: number | null;
};

/**
 * A context's cost over locations; table `rows`: `location`, `label`, one column for each identity
 * kind that there is, `value`.
 */
export type DistributionReply = {
  /** What the context is called. */
  context: string;
  /** Name of the metric, or the formula. */
  metric: string;
  /** Its unit symbol. */
  unit: string;
  /** Why this metric, where nobody named one. */
  reason: string | null;
  /** What members are called, in the singular: `location`, `rank`, `node`. */
  member: string;
  /** How the cost is spread; null when no member has a value. */
  statistics: StatisticsReply | null;
  /** The histogram; null when no member has a value. */
  histogram: HistogramReply | null;
  /** What a person should know. */
  notes: Array<string>;
};

/** How sources become one ensemble. Words and defaults are those of the command line. */
export type EnsembleAsk = {
  /** Where parameters come from: `cores=ranks`, `input=path:n(\d+)`. */
  parameters?: Array<string>;
  /** What counts as time; null for wall time where it was measured. */
  metric?: string | null;
  /** Which locations count; null for the first thread of each rank. */
  profiles?: string | null;
  /** How locations become one number: `max` (default), `mean`, `sum`. */
  over?: string | null;
  /** Which contexts become regions: `functions`, `loops` (default), `lines`. */
  detail?: string | null;
  /** Regions for what system and MPI libraries call inside, too. */
  library_frames?: boolean;
  /** How the entries of a region become one time: `union` (default), `sum`, `span`, `thread-max`. */
  region_time?: string | null;
};

/** Why there is no answer, and what to do. */
export type ErrorReply = {
  /** A stable name: `cancelled`, `misuse` (ask otherwise), `open`, `read`, `protocol`, `unknown_item`. */
  kind: string;
  /** What is wrong and where. */
  message: string;
  /** What to do, where that is known. */
  hint: string | null;
};

/** A number that a finding rests on. */
export type EvidenceReply = {
  /** What it is. */
  what: string;
  /** The number. */
  value: number;
  /** Its unit symbol. */
  unit: string;
};

/** A file that was read. */
export type FileReply = {
  /** Name, relative to what was opened. */
  name: string;
  /** Length in bytes. */
  size_bytes: number;
};

/** Something that bounds the program. */
export type FindingReply = {
  /** What it is about, a stable name such as `Mpi` or `Imbalance`. */
  kind: string;
  /** One or two sentences. */
  text: string;
  /** Share of the program's cost at stake, in per cent. */
  percent: number;
  /** The numbers it rests on. */
  evidence: Array<EvidenceReply>;
  /** The command to ask next. */
  next: string;
};

/** Contexts grouped by what they are. */
export type FlatAsk = {
  /** An experiment. */
  item: string;
  /** What counts as cost. */
  cost?: CostAsk;
  /** What is left out. */
  prune?: PruneAsk;
  /** A context expression: only what lies below the contexts that it names; null for everything. */
  from?: string | null;
  /** `function` (default), `file`, `module`, `loop` or `line`. */
  by?: string | null;
};

/**
 * Groups; table `rows` from the highest exclusive cost: `name`, `place`, `exclusive`, `inclusive`,
 * `exclusive_percent`, `inclusive_percent`, ...
 */
export type FlatReply = {
  /** What the numbers count. */
  cost: CostReply;
};

/** Who is there? */
export type HelloAsk = Record<symbol, never>;

/** An engine. */
export type HelloReply = {
  /** Version of Parallax. */
  version: string;
  /** Version of the protocol. */
  protocol: number;
  /** What can be opened. */
  roots: Array<RootReply>;
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

/** When threads and GPUs had nothing to do. */
export type IdlenessAsk = {
  /** An experiment. */
  item: string;
  /** A metric expression; null for the default. */
  metric?: string | null;
};

/** What is an experiment? */
export type InfoAsk = {
  /** An experiment. */
  item: string;
};

/**
 * What `info` says about an experiment.
 * Plural names of things (`contexts`, `issues`) are counts; `*_list` has the things themselves.
 */
export type InfoReply = {
  /** Name of the measured program. */
  title: string;
  /** The format it was read from, with its version: `HPCToolkit 4.0`. */
  format: string;
  /** Nodes of the calling context tree. */
  contexts: number;
  /** Profiles other than the summary, empty ones included. */
  locations: number;
  /** Metrics, not counted again for each scope. */
  metrics: number;
  /** Locations that have a trace. */
  traces: number;
  /** Samples of all traces. */
  samples: number;
  /** Records of a trace of events, as its source has them; absent for other experiments. */
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
  /** Records that the source declares; absent where it does not say. */
  declared_events: number | null;
  /** Calls: from entering something to leaving it; absent for other experiments. */
  calls: number | null;
  /** Kinds of issue met while opening. */
  issues: number;
  /** Names of the entry points: the roots below which programs and threads start. */
  entries: Array<string>;
  /** What locations are identified by, outermost first, and how many there are of each. */
  kinds: Array<KindReply>;
  /** From the first to the last sample of all traces; absent without a trace. */
  span: SpanReply | null;
  /** Length of all files together, in bytes. */
  size_bytes: number;
  /** The files that were read. */
  file_list: Array<FileReply>;
  /** The metrics. */
  metric_list: Array<MetricReply>;
  /** What was repaired, dropped or guessed. */
  issue_list: Array<IssueReply>;
};

/** Something that was repaired, dropped or guessed. */
export type IssueReply = {
  /** A short stable name, such as `child-outside-section`. */
  kind: string;
  /** `note`, `warning` or `error`. */
  severity: string;
  /** `read`, `import` or `analysis`. */
  stage: string;
  /** Where it was seen first, for people. */
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

/** What was repaired, dropped or guessed? */
export type IssuesAsk = {
  /** Any item. */
  item: string;
};

/** What was repaired, dropped or guessed. */
export type IssuesReply = {
  /** One for each kind and place. */
  issues: Array<IssueReply>;
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
  /** Where it is from: the path as a person knows it. */
  name: string;
  /** The format it was read from. */
  format: string;
  /** Length of its files together, in bytes. */
  size_bytes: number;
  /** Kinds of issue met while opening. */
  issues: number;
  /** Items that an ensemble was made of. */
  members: Array<string>;
};

/** A kind of identity, such as `rank`, and how many different ones there are. */
export type KindReply = {
  /** Name of the kind, as in query expressions. */
  name: string;
  /** Different values. */
  count: number;
};

/** A metric. */
export type MetricReply = {
  /** Name, as in query expressions. */
  name: string;
  /** Unit symbol; empty for counts. */
  unit: string;
  /** Scopes that were measured: `inclusive`, `exclusive` and others. */
  scopes: Array<string>;
  /** What it means, in the source's words; may be empty. */
  description: string;
  /** The whole execution's inclusive sum over all locations; null when there is none. */
  total: number | null;
};

/** The metrics of an experiment. */
export type MetricsAsk = {
  /** An experiment. */
  item: string;
};

/** The metrics of an experiment. */
export type MetricsReply = {
  /** The metrics, in the order of the source. */
  metrics: Array<MetricReply>;
  /** The metric that is shown when nobody names one; null when nothing has values. */
  default: string | null;
  /** Why that one. */
  reason: string | null;
  /** Whether there are traces, so that time in them can count as cost. */
  has_traces: boolean;
};

/** The model of one region, metric and group. */
export type ModelReply = {
  /** Id of the region in the ensemble's own numbering; `0` is the whole program. */
  region: string;
  /** Call path of the region. */
  path: string;
  /** The metric. */
  metric: string;
  /** Its unit symbol. */
  unit: string;
  /** Values of the parameters that tell models apart; empty when there are none. */
  group: string;
  /** The model as text. */
  formula: string;
  /** Symmetric mean absolute percentage error, in per cent. */
  smape: number;
  /** Adjusted coefficient of determination. */
  adjusted_r2: number | null;
  /** Number of points it was made of. */
  points: number;
  /** Its values where a curve was asked for. */
  curve: CurveReply | null;
};

/** Growth models. */
export type ModelsAsk = {
  /** An ensemble. */
  item: string;
  /** Parameters of the models; null for all whose values are numbers. */
  parameters?: Array<string> | null;
  /** Numbers inside labels: `NAME=REGEX`. */
  numbers?: Array<string>;
  /** The metric; null for all that were measured. */
  metric?: string | null;
  /** Regions by id, path or name; all when empty. */
  regions?: Array<string>;
  /** Statistic that is modelled: `mean` (default), `median`, `min`, `max`. */
  statistic?: string | null;
  /** Values of the models along a parameter. */
  curve?: CurveAsk | null;
};

/** Growth models. */
export type ModelsReply = {
  /** Names of the parameters. */
  parameters: Array<string>;
  /** The models, in the order of the tree. */
  models: Array<ModelReply>;
  /** What a person should know. */
  notes: Array<string>;
};

/** Open everything in a root. */
export type OpenAsk = {
  /** Key of the root. */
  root: string;
  /** How files or databases become one ensemble, where there are several. */
  ensemble?: EnsembleAsk;
};

/** What was opened. */
export type OpenReply = {
  /** The items, those that say most first: an ensemble before its members. */
  items: Array<ItemReply>;
  /** What a person should know. */
  notes: Array<string>;
  /** What could not be opened, one each. */
  errors: Array<ErrorReply>;
};

/** A parameter of an ensemble. */
export type ParameterReply = {
  /** Its name. */
  name: string;
  /** Its values, in their order, as people read them. */
  values: Array<string>;
  /** The numbers that they are; null where they are not numbers. */
  numbers: Array<number | null>;
};

/** What is left out of trees. */
export type PruneAsk = {
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

/** Values as stored. */
export type QueryAsk = {
  /** An experiment. */
  item: string;
  /** A profile expression; null for all, the summary included. */
  profiles?: string | null;
  /** A context expression; null for all. */
  contexts?: string | null;
  /** A metric expression; null for all. */
  metrics?: string | null;
  /** Contexts that are left out although the expression names them. */
  prune?: PruneAsk;
  /** Leave the readable names out. */
  is_raw?: boolean;
};

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
  /** What a person should know, one sentence each. */
  sentences: Array<string>;
  /** Largest absolute value of the three absolute difference maps: their shared range. */
  range_absolute: number | null;
  /** Largest absolute value of the three relative difference maps. */
  range_relative: number | null;
};

/** What bounds the program. */
export type ReportAsk = {
  /** An experiment. */
  item: string;
  /** A metric expression; null for the default. */
  metric?: string | null;
};

/** What `report` says. */
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
  /** What bounds the program, the most important first. */
  findings: Array<FindingReply>;
  /** Tables by name: `categories`, `routines`, `functions`, `gpu`, `hot_path`, `metrics`. */
  tables: { [key in string]: TableReply };
};

/** A file or folder that can be opened. */
export type RootReply = {
  /** How `open` names it. */
  key: string;
  /** What a person calls it. */
  name: string;
  /** Number of files; 0 where that is not known before it is opened. */
  files: number;
  /** Length of all of them together, in bytes. */
  bytes: number;
};

/** Regions, verdict and maps of an ensemble. */
export type ScalingAsk = {
  /** An ensemble. */
  item: string;
  /** How to look at it. */
  view?: ViewAsk;
};

/**
 * Regions, verdict and maps.
 * Table `cells` has one row for each region, input and core count, in this nesting: row
 * `(region * inputs + input) * cores + core`. Columns: `repetitions`, `time`, `time_min`,
 * `time_max`, `speedup`, `efficiency`, `scalability_abs`, `strong_abs`, `weak_abs`,
 * `scalability_rel`, `strong_rel`, `weak_rel`, `loss`, `own_loss` (core-seconds). Undefined cells are
 * null.
 * Table `losses` has one row for each region that loses where the whole program loses most, the
 * worst first: what `parallax scaling` ranks.
 */
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
  /** Core count that efficiency is relative to, for each input; null where there is none. */
  baselines: Array<number | null>;
  /** All regions, the whole program first, parents before children. */
  regions: Array<RegionReply>;
  /** Positions of input and core count where the whole program loses most. */
  worst: [number, number] | null;
  /** The verdict on the whole program, one sentence each. */
  verdict: Array<string>;
  /** What a person should know, the most important first. */
  notes: Array<string>;
  /** All parameters of the ensemble. */
  parameters: Array<ParameterReply>;
  /** Names of the metrics of the ensemble. */
  metrics: Array<string>;
};

/** Another table of an ensemble. */
export type ScalingTableAsk = {
  /** An ensemble. */
  item: string;
  /** How to look at it. */
  view?: ViewAsk;
  /** Regions by id, path, name or glob; all when empty. */
  regions?: Array<string>;
  /** `maps`, `regions`, `losses`, `laws`, `dispersion`, `energy` or `pop`. */
  table: string;
};

/** A source file with the costs of its lines. */
export type SourceAsk = {
  /** An experiment. */
  item: string;
  /** Path, as contexts name it, or the end of one that no other file has. */
  path: string;
  /** What counts as cost. */
  costs?: CostsAsk;
};

/** A source file. */
export type SourceFileReply = {
  /** Path, as contexts name it. */
  path: string;
  /** Length of its text, in bytes. */
  bytes: number;
};

/** Source files that the experiment brought along. */
export type SourceFilesAsk = {
  /** An experiment. */
  item: string;
};

/** Source files whose text came with the experiment, sorted by path. */
export type SourceFilesReply = {
  /** The files. */
  files: Array<SourceFileReply>;
};

/**
 * A source file; table `lines`, one row for each line with a cost: `line` (from 1), `contexts` (how
 * many), and for metric k `inclusive:k`, `exclusive:k`; table `contexts`: `line`, `context_id`, from
 * the most expensive.
 */
export type SourceReply = {
  /** Path, as contexts name it. */
  path: string;
  /** The text; null when the experiment did not bring it along. */
  text: string | null;
  /** Where in the folder of the database the text lies, or is missing. */
  text_path: string;
  /** What the columns count, one for each metric. */
  costs: Array<CostReply>;
  /** What a person should know. */
  notes: Array<string>;
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

/** How a cost is spread over members: locations, ranks or nodes. */
export type StatisticsReply = {
  /** Members that count, those that spent nothing included. */
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
  /** Balance ratio: mean over maximum; 1 is even. */
  balance_ratio: number | null;
  /** What each member would save if the work were spread evenly: maximum less mean. */
  saving: number;
};

/** The reply of a question whose answer is a table. */
export type TableOnlyReply = {
  /** What a person should know. */
  notes: Array<string>;
};

/** A table inside a larger reply: `{"columns":[{"name","type","unit"}],"rows":[[...]]}`. */
export type TableReply = { columns: { name: string; type: string; unit: string }[]; rows: (string | number | boolean | null)[][] };

/** Samples. */
export type TraceAsk = {
  /** An experiment. */
  item: string;
  /** A profile expression; null for all locations. */
  profiles?: string | null;
  /** A time window; null for everything. */
  window?: string | null;
  /** Leave the readable names out. */
  is_raw?: boolean;
};

/**
 * A tree; table `rows` in the order it is read: `depth`, `context_id`, `kind`, `name`, `place`,
 * `inclusive`, `exclusive`, `inclusive_percent`, `exclusive_percent`.
 */
export type TreeReply = {
  /** What the numbers count. */
  cost: CostReply;
};

/** The calling context tree with several metrics. */
export type TreeTableAsk = {
  /** An experiment. */
  item: string;
  /** What counts as cost. Rows are ordered by the first metric. */
  costs?: CostsAsk;
  /** What is left out. */
  prune?: PruneAsk;
};

/**
 * The calling context tree; table `rows`, one row for each context in depth-first order, children
 * from the most expensive: `depth`, `parent` (row, absent at the top), `context_id`, `kind`, `name`,
 * `place`, `file`, `line`, `module`, and for metric k `inclusive:k` and `exclusive:k`.
 */
export type TreeTableReply = {
  /** What the columns count, one for each metric. */
  costs: Array<CostReply>;
};

/**
 * Which parameters are the axes, and how maps are computed. Words and defaults are those of the
 * command line.
 */
export type ViewAsk = {
  /** The parameter that counts cores, where it has an unusual name. */
  cores?: string | null;
  /** Parameters held at one value: name and value. */
  fixed?: Array<[string, string]>;
  /** Which metric counts as time; null for `time`, else the first. */
  metric?: string | null;
  /** Regions that never reach this share of the program's time, in per cent, are left out. */
  min_percent?: number;
  /** Statistic over repetitions: `median` (default), `mean`, `min`, `max`. */
  statistic?: string | null;
  /** What efficiency is relative to: `serial` (default), `smallest`, `common`, or a core count. */
  baseline?: string | null;
  /** Efficiency of each repetition, then the statistic, as the viewer of 2018 has it. */
  per_repetition?: boolean;
  /** Take efficiencies above 100 % as 100 % in the differences. */
  clamp?: boolean;
  /** Leave out runs that may have failed. */
  trusted?: boolean;
};

/** Every request, with what it takes and what it answers. */
export interface Protocol {
  /** Who is there, and what can be opened without being sent. */
  hello: { request: HelloAsk; reply: HelloReply };
  /** Open everything that a root holds. */
  open: { request: OpenAsk; reply: OpenReply };
  /** Make one ensemble of several experiments or files that are open. */
  combine: { request: CombineAsk; reply: OpenReply };
  /** Forget an item. */
  close: { request: CloseAsk; reply: CloseReply };
  /** What an experiment is. */
  info: { request: InfoAsk; reply: InfoReply };
  /** What was repaired, dropped or guessed. */
  issues: { request: IssuesAsk; reply: IssuesReply };
  /** The metrics of an experiment. */
  metrics: { request: MetricsAsk; reply: MetricsReply };
  /** The calling context tree with several metrics; table `rows`. */
  tree_table: { request: TreeTableAsk; reply: TreeTableReply };
  /** Who called functions; table `rows`. */
  callers: { request: CallersAsk; reply: TreeReply };
  /** Contexts grouped by what they are; table `rows`. */
  flat: { request: FlatAsk; reply: FlatReply };
  /** A context's cost over locations; table `rows`. */
  distribution: { request: DistributionAsk; reply: DistributionReply };
  /** Source files that the experiment brought along. */
  source_files: { request: SourceFilesAsk; reply: SourceFilesReply };
  /** doc =
r" A source file with the costs of its lines; tables `lines` and `contexts`. */
  source: { request: SourceAsk; reply: SourceReply };
  /** What bounds the program. */
  report: { request: ReportAsk; reply: ReportReply };
  /** How evenly contexts cost; table `rows`. */
  balance: { request: BalanceAsk; reply: BalanceReply };
  /** When threads and GPUs had nothing to do; table `rows`. */
  idleness: { request: IdlenessAsk; reply: TableOnlyReply };
  /** Values as stored; table `rows`. */
  query: { request: QueryAsk; reply: TableOnlyReply };
  /** Samples; table `rows`. */
  trace: { request: TraceAsk; reply: TableOnlyReply };
  /** doc =
r" Regions, verdict and maps of an ensemble; tables `cells` and `losses`. */
  scaling: { request: ScalingAsk; reply: ScalingReply };
  /** Another table of an ensemble; table `rows`. */
  scaling_table: { request: ScalingTableAsk; reply: TableOnlyReply };
  /** Growth models of the regions of an ensemble. */
  models: { request: ModelsAsk; reply: ModelsReply };
  /** Two ensembles as versions of one program; table `cells`. */
  compare: { request: CompareAsk; reply: CompareReply };
}

/** A request as it travels. */
export interface Request {
  ask: keyof Protocol;
  with: Protocol[keyof Protocol]["request"];
}
