//! What an experiment is: the answers of `info` and `metrics`.

use std::collections::BTreeSet;

use parallax_base::{Control, LocationIdx};
use parallax_engine::{EngineError, WRAPPED_COUNT};
use parallax_model::{
    ActivationKind, Activations, Component, ContextChoice, ContextKind, ContextTree, DerivedMetric,
    EventStore, Experiment, IdentityKind, Metric, MetricCatalog, MetricChoice, Plan, RecordCounts,
    Scope, SliceRequest,
};
use parallax_protocol::{
    ActivationCountsReply, Answer, ComponentInfoReply, ComponentTable, FactReply, FileReply,
    InfoReply, InfoRequest, InfoTables, KindReply, MetricReply, MetricRow, MetricsReply,
    MetricsRequest, SpanReply,
};

use crate::options::Computed;
use crate::recorded::{MOST_LISTED, Recorded, process_table};
use crate::{Answers, OpenExperiment, ServiceError, issue_replies};

impl Answers<InfoRequest> for OpenExperiment {
    fn answer(
        &self,
        _: &InfoRequest,
        control: &Control,
    ) -> Result<Answer<InfoRequest>, ServiceError> {
        let mut reply = self.info(control)?;
        let recorded = Recorded::of(self.session.experiment());
        let processes = recorded.processes();
        let tables = InfoTables {
            metrics: reply.metric_list.iter().map(metric_row).collect(),
            components: component_table(&reply.component_list),
            component_facts: recorded.component_table(),
            processes: process_table(&processes),
        };
        for component in &mut reply.component_list {
            component.hosts = recorded.hosts(Some(component.application));
            component.fact_list = recorded.facts_of(component.application);
        }
        reply.processes = processes.len() as u64;
        reply.process_list = processes;
        reply.process_list.truncate(MOST_LISTED);
        Ok(Answer::new(reply, tables))
    }
}

impl Answers<MetricsRequest> for OpenExperiment {
    fn answer(
        &self,
        _: &MetricsRequest,
        control: &Control,
    ) -> Result<Answer<MetricsRequest>, ServiceError> {
        let x = self.session.experiment();
        // An experiment without values has no default; its metrics are listed all the same.
        let default = self.session.default_metric(control).ok();
        let sizes = x.traces.as_ref().map(|traces| traces.track_sizes()).unwrap_or_default();
        let reply = MetricsReply {
            metrics: self.metric_replies(control)?,
            default: default.as_ref().map(|found| x.metrics.get(found.metric).name.to_string()),
            reason: default.and_then(|found| found.reason),
            has_traces: sizes.iter().any(|&size| size > 0),
        };
        Ok(Answer::new(reply, ()))
    }
}

impl OpenExperiment {
    fn info(&self, control: &Control) -> Result<InfoReply, ServiceError> {
        let x = self.session.experiment();
        let tree = &x.contexts;
        let metric_list = self.metric_replies(control)?;
        let component_list = components(x);
        let context_kinds = [
            ("entry", ContextKind::Entry),
            ("function", ContextKind::Function),
            ("loop", ContextKind::Loop),
            ("line", ContextKind::Line),
            ("instruction", ContextKind::Instruction),
        ];
        let count = |kind| tree.iter().filter(|&c| tree.kind(c) == kind).count();
        let values = |location: LocationIdx| x.locations.num_values(location);
        let sizes = x.traces.as_ref().map(|traces| traces.track_sizes()).unwrap_or_default();
        // Equal samples that follow each other may be one interval.
        let samples = x.metadata.samples.unwrap_or_else(|| sizes.iter().sum());
        let records = x.events.as_deref().map(all_records);
        let issues = issue_replies(&self.issues());
        let files = x.sources.as_ref().and_then(|folder| folder.entries().ok()).unwrap_or_default();
        let kind = |name: &str, count: usize| KindReply { name: name.into(), count: count as u64 };
        Ok(InfoReply {
            title: x.metadata.title.clone(),
            format: x.metadata.format.clone(),
            contexts: tree.len() as u64 - 1,
            context_kinds: context_kinds.map(|(name, of)| kind(name, count(of))).to_vec(),
            depth: tree.iter().map(|c| tree.depth(c)).max().unwrap_or(0),
            functions: tree.functions().len() as u64,
            source_files: tree.files().len() as u64,
            modules: tree.modules().len() as u64,
            locations: x.locations.len() as u64,
            empty_locations: x.locations.iter().filter(|&l| values(l) == 0).count() as u64,
            values: x.locations.iter().map(values).sum(),
            metrics: x.metrics.len() as u64,
            traces: sizes.iter().filter(|&&size| size > 0).count() as u64,
            samples,
            events: records.map(|records| records.total()),
            enters: records.map(|records| records.enters),
            leaves: records.map(|records| records.leaves),
            sends: records.map(|records| records.sends),
            receives: records.map(|records| records.receives),
            metric_records: records.map(|records| records.metrics),
            other_records: records.map(|records| records.others),
            declared_events: records.and_then(|records| records.declared),
            calls: records.filter(|_| self.has_calls()).map(|_| samples),
            activations: x.activations.as_deref().map(activation_counts).transpose()?,
            issues: issues.len() as u64,
            entries: tree
                .iter()
                .filter(|&context| tree.kind(context) == ContextKind::Entry)
                .map(|context| tree.label(context))
                .collect(),
            kinds: x
                .locations
                .kinds()
                .map(|of: IdentityKind| match (of, x.locations.num_ranks()) {
                    (IdentityKind::Rank, 0) => {
                        kind(x.locations.word(of), x.locations.num_processes())
                    }
                    (IdentityKind::Rank, ranks) => kind(of.name(), ranks),
                    _ => kind(of.name(), x.locations.count_distinct(of)),
                })
                .collect(),
            components: component_list.len() as u64,
            span: x.traces.as_ref().filter(|_| samples > 0).map(|traces| SpanReply {
                start_ns: traces.span().start_nanos,
                end_ns: traces.span().end_nanos,
            }),
            size_bytes: files.iter().map(|file| file.len).sum(),
            file_list: files
                .into_iter()
                .map(|file| FileReply { name: file.path, size_bytes: file.len })
                .collect(),
            metric_list,
            component_list,
            processes: 0,
            process_list: Vec::new(),
            fact_list: fact_replies(&x.metadata.facts),
            issue_list: issues,
        })
    }

    /// The metrics with their totals. A total with a counter that wrapped is none; adding up the
    /// values says so as an issue.
    fn metric_replies(&self, control: &Control) -> Result<Vec<MetricReply>, ServiceError> {
        let x = self.session.experiment();
        let mut totals = self.root_totals(control)?;
        for (metric, described) in x.metrics.iter() {
            let id = described.sum_id_in(&Scope::Inclusive);
            let is_wrapped =
                |(known, total): &(u16, f64)| Some(*known) == id && total.abs() >= WRAPPED_COUNT;
            if totals.iter().any(is_wrapped) {
                self.session.total(metric, control)?;
                totals.retain(|total| !is_wrapped(total));
            }
        }
        let measured = x.metrics.iter().map(|(_, metric)| metric_reply(metric, &totals));
        let derived = x.metrics.derived().iter();
        Ok(measured.chain(derived.filter_map(|m| derived_reply(&x.metrics, m, &totals))).collect())
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

fn metric_reply(metric: &Metric, totals: &[(u16, f64)]) -> MetricReply {
    let mut statistics: Vec<String> = Vec::new();
    for statistic in &metric.statistics {
        let name = statistic.name().unwrap_or("other").to_owned();
        if !statistics.contains(&name) {
            statistics.push(name);
        }
    }
    MetricReply {
        name: metric.name.to_string(),
        unit: metric.unit.to_string(),
        scopes: metric.instances.iter().map(|i| i.scope.source_name().into()).collect(),
        statistics,
        description: metric.description.to_string(),
        total: metric
            .sum_id_in(&Scope::Inclusive)
            .and_then(|id| totals.iter().find(|(known, _)| *known == id))
            .map(|(_, total)| *total),
        formula: None,
    }
}

/// A metric that is computed from others; `None` where a metric of the same name was measured, or
/// one that it needs was not.
fn derived_reply(
    catalog: &MetricCatalog,
    metric: &DerivedMetric,
    totals: &[(u16, f64)],
) -> Option<MetricReply> {
    let computed = Computed::of(catalog, &metric.name)?;
    let formula = computed.resolve(catalog).ok()?;
    let total_of = |reference: usize| {
        let operand = formula.operands.get(reference).and_then(|o| formula.metrics.get(o.metric));
        let id = operand.and_then(|&metric| catalog.get(metric).sum_id_in(&Scope::Inclusive));
        let total = totals.iter().find(|(known, _)| Some(*known) == id);
        total.map_or(0.0, |(_, total)| *total)
    };
    let total = formula.formula.evaluate(&mut Vec::new(), total_of);
    Some(MetricReply {
        name: computed.name(&formula),
        unit: computed.unit(&formula, catalog).to_string(),
        description: metric.description.to_string(),
        total: total.is_finite().then_some(total),
        formula: Some(formula.formula.to_string()),
        ..MetricReply::default()
    })
}

/// Records of all tracks together, as the source has them.
fn all_records(events: &dyn EventStore) -> RecordCounts {
    let zero = RecordCounts { declared: Some(0), ..RecordCounts::default() };
    events.records().iter().fold(zero, |sum, track| sum.plus(track))
}

fn activation_counts(activations: &Activations) -> Result<ActivationCountsReply, EngineError> {
    let count = |kind| activations.tree.count(kind);
    let (mut reads, mut writes) = (0, 0);
    for touch in activations.touches.all() {
        reads += u64::from(touch.reads);
        writes += u64::from(touch.writes);
    }
    let scopes = activations.tags.iter().filter(|tag| tag.activation.is_some());
    let num_scopes = scopes.count() as u64;
    let counts = ActivationCountsReply {
        // Sections and tasks of a database of Parceive are no calls.
        calls: count(ActivationKind::Call).saturating_sub(num_scopes),
        loop_executions: count(ActivationKind::LoopExecution),
        iterations: count(ActivationKind::Iteration),
        references: activations.references.len() as u64,
        reads,
        writes,
        threads: activations.threads.len() as u64,
    };
    activations.check()?;
    Ok(counts)
}

fn components(x: &Experiment) -> Vec<ComponentInfoReply> {
    let list = &x.metadata.components;
    let start = list.iter().filter_map(|component| component.span).map(|span| span.0).min();
    let reply = |component: &Component| {
        let is_own = |l: &LocationIdx| {
            x.locations.identity(*l, IdentityKind::Application) == Some(component.application)
        };
        let own: Vec<LocationIdx> = x.locations.iter().filter(is_own).collect();
        let rank = |&l: &LocationIdx| x.locations.identity(l, IdentityKind::Rank);
        let ranks: BTreeSet<u64> = own.iter().filter_map(rank).collect();
        let seconds = |nanos: u64| nanos.saturating_sub(start.unwrap_or(0)) as f64 / 1e9;
        ComponentInfoReply {
            application: component.application,
            name: component.name.to_string(),
            ranks: ranks.len() as u64,
            locations: own.len() as u64,
            first_rank: component.first_rank,
            start_s: component.span.map(|span| seconds(span.0)),
            end_s: component.span.map(|span| seconds(span.1)),
            shift_s: component.shift_nanos as f64 / 1e9,
            depends_on: component.depends_on.iter().map(ToString::to_string).collect(),
            ..ComponentInfoReply::default()
        }
    };
    list.iter().map(reply).collect()
}

/// The components as a table: what of them is known.
fn component_table(list: &[ComponentInfoReply]) -> ComponentTable {
    let is_shifted = list.iter().any(|component| component.shift_s != 0.0);
    ComponentTable {
        component: list.iter().map(|one| one.name.clone()).collect(),
        application: list.iter().map(|one| one.application).collect(),
        ranks: list.iter().map(|one| one.ranks).collect(),
        first_rank: list.iter().map(|one| one.first_rank).collect(),
        locations: list.iter().map(|one| one.locations).collect(),
        start_s: list.iter().map(|one| one.start_s).collect(),
        end_s: list.iter().map(|one| one.end_s).collect(),
        shift_s: is_shifted.then(|| list.iter().map(|one| one.shift_s).collect()),
        depends_on: list.iter().map(|one| one.depends_on.join(", ")).collect(),
    }
}

fn metric_row(metric: &MetricReply) -> MetricRow {
    MetricRow {
        metric: metric.name.clone(),
        unit: metric.unit.clone(),
        total: metric.total,
        scopes: metric.scopes.join(" "),
        statistics: metric.statistics.join(" "),
        description: metric.description.clone(),
        formula: metric.formula.clone(),
    }
}

fn fact_replies(facts: &[(String, String)]) -> Vec<FactReply> {
    let known = facts.iter().filter(|(_, value)| !value.trim().is_empty());
    known.map(|(name, value)| FactReply { name: name.clone(), value: value.clone() }).collect()
}
