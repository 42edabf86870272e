//! Findings about the measurement itself: how much its numbers can bear.

use super::Report;
use super::finding::{Evidence, Finding, FindingKind, NextAction, NextStep};
use crate::cautions::Caution;

/// Fewer samples than this say little.
const FEW_SAMPLES: f64 = 1000.0;

/// That there are few samples, where there are.
pub(super) fn few_samples(report: &Report) -> Option<Finding> {
    let n = report.num_samples.filter(|n| *n < FEW_SAMPLES)?;
    let uncertainty = 100.0 * (1.0 / n.max(1.0)).sqrt();
    let text = format!(
        "There are only about {n:.0} samples: a share of one half is uncertain by {uncertainty:.0} \
         percentage points, and values of individual contexts by far more. Measure longer or \
         sample more often."
    );
    Some(Finding {
        kind: FindingKind::FewSamples,
        title: "Few samples".into(),
        text,
        percent: 100.0,
        potential: None,
        evidence: vec![Evidence { what: "samples".into(), value: n, unit: String::new() }],
        context: None,
        next: NextStep::new(NextAction::Info),
    })
}

/// What makes the measurement doubtful, as a finding.
pub(super) fn caution(caution: &Caution) -> Finding {
    Finding {
        kind: FindingKind::Caution,
        title: caution.kind.title().into(),
        text: caution.text.clone(),
        percent: caution.percent,
        potential: None,
        evidence: caution.evidence.clone(),
        context: None,
        next: NextStep::new(NextAction::Info),
    }
}

/// The metrics whose counters wrapped.
pub(super) fn wrapped(report: &Report) -> impl Iterator<Item = Finding> + '_ {
    report.metrics.iter().filter(|metric| metric.total.is_none()).map(|metric| Finding {
        kind: FindingKind::WrappedMetric,
        title: format!("Wrapped counter {}", metric.name),
        text: format!(
            "{} has a counter that wrapped (ran below zero) in some sample; its totals are \
             meaningless and omitted.",
            metric.name
        ),
        percent: 0.0,
        potential: None,
        evidence: Vec::new(),
        context: None,
        next: NextStep::new(NextAction::Info),
    })
}
