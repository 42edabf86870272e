//! Memory that was allocated and not freed by the end of the measurement.

use std::collections::BTreeMap;

use parallax_base::{ContextIdx, Control, MetricIdx, Unit};
use parallax_engine::query::normalised_name;
use parallax_engine::{Costs, EngineError, LocationChoice, Session};
use parallax_model::Scope;

use super::finding::{Evidence, Finding, FindingKind, NextAction, NextStep};
use super::sentences::percents;
use crate::taxonomy::classes::Classes;
use parallax_base::quantity::amount;

/// What HPCToolkit calls what was allocated and what of it was freed, both at the allocation.
const ALLOCATED: &str = "bytes allocated";
const FREED: &str = "bytes freed";
/// Less than this share of what was allocated is no finding, in per cent.
const MIN_PERCENT: f64 = 5.0;
/// Less than this is what any program keeps until it ends, in bytes.
const MIN_BYTES: f64 = 1e6;

/// What is not freed, and who allocates most of it; `None` where this was not measured, or is
/// little.
pub(super) fn leak(
    session: &Session,
    classes: &Classes,
    control: &Control,
) -> Result<Option<Finding>, EngineError> {
    let catalog = &session.experiment().metrics;
    let find = |name: &str| -> Option<MetricIdx> {
        let found = catalog.iter().find(|(_, metric)| metric.name.eq_ignore_ascii_case(name));
        let has_values = |m: &parallax_model::Metric| m.id_in(&Scope::Exclusive).is_some();
        found.filter(|(_, metric)| has_values(metric)).map(|(metric, _)| metric)
    };
    let Some((allocated, freed)) = find(ALLOCATED).zip(find(FREED)) else { return Ok(None) };
    let costs = |metric| session.costs(metric, &LocationChoice::All, control);
    let (allocated_costs, freed_costs) = (costs(allocated)?, costs(freed)?);
    if session.has_wrapped(allocated) || session.has_wrapped(freed) {
        return Ok(None);
    }
    let (all, kept) = (allocated_costs.total, allocated_costs.total - freed_costs.total);
    let percent = if all > 0.0 { kept / all * 100.0 } else { 0.0 };
    if percent < MIN_PERCENT || kept < MIN_BYTES {
        return Ok(None);
    }
    let top = top_function(session, classes, &allocated_costs, &freed_costs);
    let mut evidence = vec![
        Evidence { what: "allocated".into(), value: all, unit: Unit::Bytes.to_string() },
        Evidence { what: "freed".into(), value: freed_costs.total, unit: Unit::Bytes.to_string() },
    ];
    let mut text = format!(
        "{} of {} allocated ({}) were not freed by the end of the measurement",
        amount(kept, &Unit::Bytes),
        amount(all, &Unit::Bytes),
        percents(percent),
    );
    if let Some((name, bytes, _)) = &top {
        text.push_str(&format!(", {} of it allocated in {name}", percents(bytes / kept * 100.0)));
        let what = format!("not freed, allocated in {name}");
        evidence.push(Evidence { what, value: *bytes, unit: Unit::Bytes.to_string() });
    }
    Ok(Some(Finding {
        kind: FindingKind::Leak,
        title: "Memory not freed".into(),
        text: text + ".",
        percent,
        potential: None,
        evidence,
        context: top.as_ref().map(|(_, _, context)| *context),
        next: NextStep::new(NextAction::Info),
    }))
}

/// The function of the program that allocates most of what is not freed, with a context of it.
fn top_function(
    session: &Session,
    classes: &Classes,
    allocated: &Costs,
    freed: &Costs,
) -> Option<(String, f64, ContextIdx)> {
    let tree = session.tree();
    let mut by_name: BTreeMap<String, (f64, ContextIdx)> = BTreeMap::new();
    for context in tree.iter() {
        let of = |costs: &Costs| costs.exclusive.get(context.idx()).copied().unwrap_or(0.0);
        let is_function = tree.kind(context) == parallax_model::ContextKind::Function;
        let kept = of(allocated) - of(freed);
        if !is_function || kept <= 0.0 {
            continue;
        }
        let by = classes.program_caller(tree, context).unwrap_or(context);
        let name = normalised_name(&tree.label(by)).into_owned();
        by_name.entry(name).or_insert((0.0, by)).0 += kept;
    }
    let top =
        by_name.into_iter().reduce(|best, next| if next.1.0 > best.1.0 { next } else { best });
    top.map(|(name, (bytes, context))| (name, bytes, context))
}
