//! What an experiment is: the answer of `info`.

use parallax_base::{Control, Issues, LocationIdx};
use parallax_engine::WRAPPED_COUNT;
use parallax_model::{
    ContextChoice, ContextKind, ContextTree, Experiment, IdentityKind, MetricChoice, Plan,
    RecordCounts, SliceRequest,
};

use crate::{ActivationCounts, Column, Opened, ServiceError, Table};

/// One metric, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricInfo {
    /// Name without unit.
    pub name: String,
    /// Unit symbol.
    pub unit: String,
    /// What it means, in the source's words; may be empty.
    pub description: String,
    /// Scopes stored for each location: `point, exclusive, ...` as the source calls them.
    pub scopes: Vec<String>,
    /// Statistics stored in the summary, such as `sum`.
    pub statistics: Vec<String>,
    /// The whole execution's inclusive sum over all locations; `None` when it has none, or when a
    /// counter wrapped, which is an issue then.
    pub total: Option<f64>,
}

/// One of several coupled applications, for people.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentInfo {
    /// Number, as in the identity of locations.
    pub application: u64,
    /// Name.
    pub name: String,
    /// How many ranks it has.
    pub ranks: usize,
    /// How many locations it has.
    pub locations: usize,
    /// What its ranks are counted from in the one space of ranks of all components.
    pub first_rank: u64,
    /// When it ran, in seconds since the first component did; `None` where that is not known.
    pub span_s: Option<(f64, f64)>,
    /// Seconds that were added to the times of its own clock.
    pub shift_s: f64,
    /// Names of the components it takes data from.
    pub depends_on: Vec<String>,
}

/// What an experiment is.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// Name of the program.
    pub title: String,
    /// Format it was read from.
    pub format: String,
    /// Where it was read from.
    pub origin: String,
    /// Nodes of the calling context tree, entries included, the implicit root not.
    pub contexts: usize,
    /// Nodes by kind: name and number.
    pub contexts_by_kind: Vec<(&'static str, usize)>,
    /// Deepest node; entries have depth 1.
    pub depth: u32,
    /// Functions, source files, modules.
    pub functions: usize,
    /// Source files.
    pub files: usize,
    /// Executables and libraries.
    pub modules: usize,
    /// Profiles other than the summary, empty ones included.
    pub locations: usize,
    /// Of these, profiles without any value.
    pub empty_locations: usize,
    /// What tells locations apart, and how many there are of each: `rank`, 8.
    pub identities: Vec<(&'static str, usize)>,
    /// Values of all profiles other than the summary.
    pub values: u64,
    /// Metrics.
    pub metrics: Vec<MetricInfo>,
    /// Traces that have samples.
    pub traces: usize,
    /// Trace samples.
    pub samples: u64,
    /// First and last time of the traces, nanoseconds on their clock.
    pub span_nanos: Option<(u64, u64)>,
    /// Records of all traces of events, as the source has them; `None` for other experiments.
    pub records: Option<RecordCounts>,
    /// Single calls and accesses; `None` where sums were recorded only.
    pub activations: Option<ActivationCounts>,
    /// What the entries are called.
    pub entries: Vec<String>,
    /// The coupled applications; empty where there is one.
    pub components: Vec<ComponentInfo>,
    /// The files of the database with their sizes in bytes.
    pub file_sizes: Vec<(String, u64)>,
    /// What was repaired, dropped or guessed.
    pub issues: Issues,
}

impl Opened {
    /// What the experiment is.
    ///
    /// # Errors
    /// When the totals cannot be read.
    pub fn info(&self, control: &Control) -> Result<Info, ServiceError> {
        let x = self.session.experiment();
        let tree = &x.contexts;
        let mut totals = self.root_totals(control)?;
        // A total with a counter that wrapped is none. Adding up the values says so as an issue.
        for (metric, described) in x.metrics.iter() {
            let id = described.sum_id_in(&parallax_model::Scope::Inclusive);
            let is_wrapped =
                |(known, total): &(u16, f64)| Some(*known) == id && total.abs() >= WRAPPED_COUNT;
            if totals.iter().any(is_wrapped) {
                self.session.total(metric, control)?;
                totals.retain(|total| !is_wrapped(total));
            }
        }
        let metrics = x
            .metrics
            .iter()
            .map(|(_, metric)| MetricInfo {
                name: metric.name.to_string(),
                unit: metric.unit.to_string(),
                description: metric.description.to_string(),
                scopes: metric.instances.iter().map(|i| i.scope.source_name().into()).collect(),
                statistics: {
                    let mut names: Vec<String> = Vec::new();
                    for statistic in &metric.statistics {
                        let name = statistic.name().unwrap_or("other").to_owned();
                        if !names.contains(&name) {
                            names.push(name);
                        }
                    }
                    names
                },
                total: metric
                    .sum_id_in(&parallax_model::Scope::Inclusive)
                    .and_then(|id| totals.iter().find(|(known, _)| *known == id))
                    .map(|(_, total)| *total),
            })
            .collect();
        let kinds = [
            ("entry", ContextKind::Entry),
            ("function", ContextKind::Function),
            ("loop", ContextKind::Loop),
            ("line", ContextKind::Line),
            ("instruction", ContextKind::Instruction),
        ];
        let count = |kind| tree.iter().filter(|&c| tree.kind(c) == kind).count();
        let values = |location: LocationIdx| x.locations.num_values(location);
        let tracks = x.traces.as_ref().map(|traces| traces.tracks()).unwrap_or_default();
        let samples = tracks.iter().map(|track| track.num_samples).sum();
        Ok(Info {
            title: x.metadata.title.clone(),
            format: x.metadata.format.clone(),
            origin: x.metadata.origin.clone(),
            contexts: tree.len() - 1,
            contexts_by_kind: kinds.map(|(name, kind)| (name, count(kind))).to_vec(),
            depth: tree.iter().map(|c| tree.depth(c)).max().unwrap_or(0),
            functions: tree.functions().len(),
            files: tree.files().len(),
            modules: tree.modules().len(),
            locations: x.locations.len(),
            empty_locations: x.locations.iter().filter(|&l| values(l) == 0).count(),
            identities: x
                .locations
                .kinds()
                .map(|kind: IdentityKind| (kind.name(), x.locations.count_distinct(kind)))
                .collect(),
            values: x.locations.iter().map(values).sum(),
            metrics,
            traces: tracks.iter().filter(|track| track.num_samples > 0).count(),
            samples,
            records: x.events.as_deref().map(|events| {
                let zero = RecordCounts { declared: Some(0), ..RecordCounts::default() };
                events.records().iter().fold(zero, |sum, track| sum.plus(track))
            }),
            activations: x.activations.as_deref().map(ActivationCounts::of),
            span_nanos: x
                .traces
                .as_ref()
                .filter(|_| samples > 0)
                .map(|traces| (traces.span().start_nanos, traces.span().end_nanos)),
            entries: tree
                .iter()
                .filter(|&context| tree.kind(context) == ContextKind::Entry)
                .map(|context| tree.label(context))
                .collect(),
            components: components(x),
            file_sizes: x
                .sources
                .as_ref()
                .and_then(|folder| folder.entries().ok())
                .unwrap_or_default()
                .into_iter()
                .map(|entry| (entry.path, entry.len))
                .collect(),
            issues: self.issues(),
        })
    }

    /// The summary's values of the root, by statistic id.
    fn root_totals(&self, control: &Control) -> Result<Vec<(u16, f64)>, ServiceError> {
        let x = self.session.experiment();
        let Some(summary) = x.locations.summary() else { return Ok(Vec::new()) };
        let request = SliceRequest {
            locations: vec![summary],
            contexts: ContextChoice::Ids(vec![x.contexts.source_id(ContextTree::ROOT)]),
            metrics: MetricChoice::All,
            plan: Plan::LocationMajor,
        };
        let slice = self.session.slice(&request, control)?;
        Ok(slice.metric.iter().copied().zip(slice.value.iter().copied()).collect())
    }
}

fn components(x: &Experiment) -> Vec<ComponentInfo> {
    let list = &x.metadata.components;
    let start = list.iter().filter_map(|component| component.span).map(|span| span.0).min();
    let info = |component: &parallax_model::Component| {
        let is_own = |l: &LocationIdx| {
            x.locations.identity(*l, IdentityKind::Application) == Some(component.application)
        };
        let own: Vec<LocationIdx> = x.locations.iter().filter(is_own).collect();
        let rank = |&l: &LocationIdx| x.locations.identity(l, IdentityKind::Rank);
        let ranks: std::collections::BTreeSet<u64> = own.iter().filter_map(rank).collect();
        let seconds = |nanos: u64| nanos.saturating_sub(start.unwrap_or(0)) as f64 / 1e9;
        ComponentInfo {
            application: component.application,
            name: component.name.to_string(),
            ranks: ranks.len(),
            locations: own.len(),
            first_rank: component.first_rank,
            span_s: component.span.map(|(from, to)| (seconds(from), seconds(to))),
            shift_s: component.shift_nanos as f64 / 1e9,
            depends_on: component.depends_on.iter().map(ToString::to_string).collect(),
        }
    };
    list.iter().map(info).collect()
}

impl Info {
    /// The components as a table: what of them is known.
    #[must_use]
    pub fn components_table(&self) -> Table {
        let list = &self.components;
        let spans = |of: fn((f64, f64)) -> f64| list.iter().map(|c| c.span_s.map(of)).collect();
        let doc = "Seconds since the first component began.";
        let mut columns = vec![
            Column::strings("component", "Name of the application.", list.iter().map(|c| &c.name)),
            Column::u64s(
                "application",
                "",
                "Its number, as in the identity of locations.",
                list.iter().map(|c| c.application).collect(),
            ),
            Column::u64s("ranks", "", "How many.", list.iter().map(|c| c.ranks as u64).collect()),
            Column::u64s(
                "first_rank",
                "",
                "What its ranks are counted from in the one space of ranks of all components.",
                list.iter().map(|c| c.first_rank).collect(),
            ),
            Column::u64s(
                "locations",
                "",
                "How many.",
                list.iter().map(|c| c.locations as u64).collect(),
            ),
            Column::optional_f64s("start_s", "s", doc, spans(|span| span.0)),
            Column::optional_f64s("end_s", "s", doc, spans(|span| span.1)),
        ];
        if list.iter().any(|component| component.shift_s != 0.0) {
            let doc = "Seconds that were added to the times of its own clock.";
            let shifts = list.iter().map(|c| c.shift_s).collect();
            columns.push(Column::f64s("shift_s", "s", doc, shifts));
        }
        let doc = "The components that it takes data from.";
        let needed = list.iter().map(|c| c.depends_on.join(", "));
        columns.push(Column::strings("depends_on", doc, needed));
        Table::new(columns)
    }

    /// The metrics as a table.
    #[must_use]
    pub fn metrics_table(&self) -> Table {
        let metrics = &self.metrics;
        Table::new(vec![
            Column::strings("metric", "Name of the metric.", metrics.iter().map(|m| &m.name)),
            Column::strings("unit", "Unit of its values.", metrics.iter().map(|m| &m.unit)),
            Column::optional_f64s(
                "total",
                "",
                "Inclusive sum over all locations for the whole execution.",
                metrics.iter().map(|m| m.total).collect(),
            ),
            Column::strings(
                "scopes",
                "Scopes stored for each location.",
                metrics.iter().map(|m| m.scopes.join(" ")),
            ),
            Column::strings(
                "statistics",
                "Statistics stored in the summary.",
                metrics.iter().map(|m| m.statistics.join(" ")),
            ),
            Column::strings(
                "description",
                "Description by the source.",
                metrics.iter().map(|m| &m.description),
            ),
        ])
    }
}
