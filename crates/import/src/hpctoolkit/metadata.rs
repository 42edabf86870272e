//! `meta.db` and the tables of `profile.db` as the model's catalogs.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{
    ContextIdx, FileIdx, Folder, FunctionIdx, Issues, Limits, ModuleIdx, Place, Severity, Stage,
};
use parallax_formats::hpctoolkit::{
    self as format, Contexts, FunctionRecord, MetaDb, NONE, ProfileDb,
};
use parallax_model::{
    Combine, ContextKind, ContextTree, ContextTreeBuilder, DerivedMetric, Formula, Function,
    IdentityKind, LocationCatalog, LocationCatalogBuilder, Metric, MetricCatalog, MetricInstance,
    Module, Node, Relation, Scope, SourceFile, Statistic,
};

use super::derived;

/// What `metrics/default.yaml` says.
#[derive(Default)]
pub(super) struct Taxonomy {
    /// Description and visibility of metrics, by the metric's source name.
    described: HashMap<String, (Arc<str>, bool)>,
    /// Metrics that are computed from others.
    derived: Vec<DerivedMetric>,
}

/// What `metrics/default.yaml` says of metrics; empty when it is missing.
pub(super) fn taxonomy(folder: &dyn Folder, limits: &Limits, issues: &mut Issues) -> Taxonomy {
    let path = format::Taxonomy::PATH;
    let source = match folder.open(path) {
        Ok(Some(source)) => source,
        Ok(None) => return Taxonomy::default(),
        Err(error) => {
            let place = Place::File { file: path.into() };
            issues.report(Severity::Warning, Stage::Import, "file-unusable", place, || {
                format!("{path} cannot be read ({error}); metrics have no descriptions")
            });
            return Taxonomy::default();
        }
    };
    let read = format::Taxonomy::read(&*source, limits, issues);
    let mut out = Taxonomy::default();
    for root in &read.roots {
        describe(&read, root, true, &mut out.described);
    }
    out.derived = derived::metrics(&read, issues);
    out
}

/// A node that is computed from one metric describes that metric. A hidden node hides what is
/// below it.
fn describe(
    taxonomy: &format::Taxonomy,
    node: &format::TaxonomyNode,
    is_visible: bool,
    out: &mut HashMap<String, (Arc<str>, bool)>,
) {
    let is_visible = is_visible && node.is_visible;
    let mut inputs = Vec::new();
    for variant in &node.variants {
        if let format::Formula::Own { inclusive, exclusive } = &variant.formula {
            for pair in [inclusive, exclusive] {
                for expression in [&pair.custom, &pair.standard].into_iter().flatten() {
                    collect_inputs(expression, &mut inputs);
                }
            }
        }
    }
    let metrics = inputs.iter().filter_map(|&i| taxonomy.inputs.get(i)).map(|input| &input.metric);
    let metrics: Vec<_> = metrics.collect();
    if let Some(&metric) = metrics.first()
        && metrics.iter().all(|other| *other == metric)
    {
        // A description that repeats the name says nothing.
        let text = if node.description == *metric { "".into() } else { node.description.clone() };
        out.entry(metric.to_string()).or_insert((text, is_visible));
    }
    for child in &node.children {
        describe(taxonomy, child, is_visible, out);
    }
}

pub(super) fn collect_inputs(expression: &format::Expression, out: &mut Vec<usize>) {
    match expression {
        format::Expression::Number(_) => {}
        format::Expression::Input(input) => out.push(*input),
        format::Expression::Apply { arguments, .. } => {
            for argument in arguments {
                collect_inputs(argument, out);
            }
        }
    }
}

pub(super) fn metrics(meta: &MetaDb, taxonomy: &Taxonomy) -> MetricCatalog {
    let scopes: Vec<Scope> =
        meta.scopes.iter().map(|scope| Scope::from_source_name(&scope.name)).collect();
    let scope = |i: usize| scopes.get(i).cloned().unwrap_or_else(|| Scope::Other("?".into()));
    let metric = |record: &format::MetricRecord| {
        let (name, unit) = Metric::split_name(&record.name);
        let known = taxonomy.described.get(&*record.name);
        Metric {
            name: name.into(),
            source_name: Arc::clone(&record.name),
            unit,
            description: known.map_or_else(|| "".into(), |(text, _)| Arc::clone(text)),
            is_visible: known.is_none_or(|(_, is_visible)| *is_visible),
            instances: record
                .instances
                .iter()
                .map(|i| MetricInstance { scope: scope(i.scope), id: i.prop_metric_id })
                .collect(),
            statistics: record
                .summaries
                .iter()
                .map(|summary| Statistic {
                    scope: scope(summary.scope),
                    formula: formula(&summary.formula),
                    combine: match summary.combine {
                        format::Combine::Sum => Combine::Sum,
                        format::Combine::Min => Combine::Min,
                        format::Combine::Max => Combine::Max,
                        format::Combine::Unknown(code) => Combine::Other(code),
                    },
                    id: summary.stat_metric_id,
                })
                .collect(),
        }
    };
    let metrics = meta.metrics.iter().map(metric).collect();
    MetricCatalog::new(metrics).with_derived(taxonomy.derived.clone())
}

fn formula(text: &str) -> Formula {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    match compact.as_str() {
        "$$" => Formula::Value,
        "1" => Formula::One,
        "($$^2)" | "$$^2" => Formula::Square,
        _ => Formula::Other(text.into()),
    }
}

pub(super) fn locations(
    meta: &MetaDb,
    profiles: &ProfileDb,
    issues: &mut Issues,
) -> LocationCatalog {
    let kinds: Vec<Option<IdentityKind>> =
        meta.identifier_kinds.iter().map(|name| IdentityKind::from_name(name)).collect();
    let mut builder = LocationCatalogBuilder::new();
    let mut has_summary = false;
    for (i, info) in profiles.infos().iter().enumerate() {
        if info.is_summary && !has_summary {
            has_summary = true;
            builder.push_summary(info.num_values);
            continue;
        }
        let known = profiles.identity(i).iter().filter_map(|id| {
            let kind = kinds.get(usize::from(id.kind)).copied().flatten();
            if kind.is_none() {
                let place = Place::File { file: "profile.db".into() };
                issues.report(Severity::Warning, Stage::Import, "identity-kind", place, || {
                    format!("profile {i} has an identity of unknown kind {}; omitted", id.kind)
                });
            }
            // Physical numbers are identities; their dense alias is 0 in files until 2024.
            let number = if id.is_physical { id.physical } else { u64::from(id.logical) };
            kind.map(|kind| (kind, number))
        });
        builder.push(known, info.num_values);
    }
    if !has_summary {
        let place = Place::File { file: "profile.db".into() };
        issues.report(Severity::Warning, Stage::Import, "no-summary", place, || {
            "the summary profile is missing; totals are added up from the profiles".into()
        });
    }
    builder.finish()
}

pub(super) fn contexts(meta: MetaDb, issues: &mut Issues) -> ContextTree {
    let MetaDb { modules, files, functions, contexts, .. } = meta;
    let modules: Vec<_> = modules.into_iter().map(|m| Module { path: m.path }).collect();
    let files: Vec<_> =
        files.into_iter().map(|f| SourceFile { path: f.path, is_copied: f.is_copied }).collect();
    let functions: Vec<_> = functions
        .into_iter()
        .map(|record| Function {
            name: record.name.clone().unwrap_or_else(|| anonymous(&record, &modules)),
            group: None,
            module: row(record.module).map(ModuleIdx::new),
            file: row(record.file).map(FileIdx::new),
            line: record.line,
        })
        .collect();
    let mut builder = ContextTreeBuilder::new(0, functions, files, modules);
    // The root takes position 0, so every position of the file moves by one.
    let mut entries = contexts.entries.iter();
    for position in 0..contexts.len() {
        let Some(record) = node(&contexts, position) else { continue };
        match record {
            Record::Entry(id) => {
                let name = entries.next().map_or_else(|| "entry".into(), |e| Arc::clone(&e.name));
                builder.push_entry(id, name);
            }
            Record::Node { parent, node } => {
                if let ContextKind::Other(code) = node.kind {
                    let place = Place::File { file: "meta.db".into() };
                    issues.report(Severity::Warning, Stage::Import, "context-type", place, || {
                        format!("context {} is of unknown type {code}", node.source_id)
                    });
                }
                builder.push(parent, node);
            }
        }
    }
    builder.finish()
}

enum Record {
    Entry(u32),
    Node { parent: ContextIdx, node: Node },
}

fn node(contexts: &Contexts, position: usize) -> Option<Record> {
    let source_id = *contexts.id.get(position)?;
    let lexical_type = *contexts.lexical_type.get(position)?;
    if lexical_type == Contexts::ENTRY {
        return Some(Record::Entry(source_id));
    }
    let parent = match *contexts.parent.get(position)? {
        // The draft has no entries: its outermost contexts hang below the root.
        NONE => ContextTree::ROOT,
        parent => ContextIdx::new(parent + 1),
    };
    let kind = match lexical_type {
        0 => ContextKind::Function,
        1 => ContextKind::Loop,
        2 => ContextKind::Line,
        3 => ContextKind::Instruction,
        other => ContextKind::Other(other),
    };
    let relation = match *contexts.relation.get(position)? {
        0 => Relation::Lexical,
        1 => Relation::Call,
        2 => Relation::Inlined,
        other => Relation::Other(other),
    };
    let node = Node {
        source_id,
        kind,
        relation,
        function: row(*contexts.function.get(position)?).map(FunctionIdx::new),
        file: row(*contexts.file.get(position)?).map(FileIdx::new),
        line: *contexts.line.get(position)?,
        module: row(*contexts.module.get(position)?).map(ModuleIdx::new),
        offset: *contexts.offset.get(position)?,
    };
    Some(Record::Node { parent, node })
}

fn row(index: u32) -> Option<u32> {
    (index != NONE).then_some(index)
}

/// A name for a function that has none: where its code starts.
fn anonymous(record: &FunctionRecord, modules: &[Module]) -> Arc<str> {
    let module = row(record.module).and_then(|m| modules.get(m as usize));
    let Some(module) = module else { return "<anonymous function>".into() };
    let file = module.path.rsplit('/').next().unwrap_or(&module.path);
    format!("<{file}+{:#x}>", record.offset).into()
}
