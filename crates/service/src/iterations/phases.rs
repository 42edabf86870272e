//! The answer of `iterations` for a profile without a trace: the totals of phases that the program
//! numbers.

use parallax_analysis::iterations::{Phase, phase_totals};
use parallax_base::quantity::amount;
use parallax_base::{Control, Unit};
use parallax_engine::{EngineError, LocationChoice};
use parallax_protocol::{
    Answer, IterationCellTable, IterationContextTable, IterationLocationTable, IterationMapTable,
    IterationRow, IterationTable, IterationsReply, IterationsRequest, IterationsTables,
};

use crate::{OpenExperiment, ServiceError};

/// Functions inside phases that are named.
const MOST_NAMED: usize = 3;
/// Those with a smaller share are not named, in per cent.
const MIN_NAMED_PERCENT: f64 = 5.0;

impl OpenExperiment {
    /// The totals of numbered phases; `None` where there is a trace, which says more, where no
    /// time was measured, and where the program numbers no phases.
    pub(super) fn phases(
        &self,
        control: &Control,
    ) -> Result<Option<Answer<IterationsRequest>>, ServiceError> {
        let session = &self.session;
        let x = session.experiment();
        if x.traces.is_some() {
            return Ok(None);
        }
        let metric = match session.default_metric(control) {
            Ok(found) => found.metric,
            Err(EngineError::Missing { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let costs = session.costs(metric, &LocationChoice::All, control)?;
        let scale = match costs.unit {
            Unit::Seconds => 1.0,
            Unit::Nanos => 1e-9,
            _ => return Ok(None),
        };
        let Some(totals) = phase_totals(session.tree(), &costs) else { return Ok(None) };
        let (Some(longest), Some(first), Some(last)) =
            (totals.longest(), totals.phases.first(), totals.phases.last())
        else {
            return Ok(None);
        };
        let locations = x.locations.iter().filter(|&l| x.locations.num_values(l) > 0).count();
        let each = locations.max(1) as f64;
        let told = |value: f64| amount(value * scale / each, &Unit::Seconds);
        let (stem, count) = (&totals.stem, totals.phases.len());
        let whole = totals.total();
        let mean = if locations > 1 { ", mean over locations" } else { "" };
        let mut notes = vec![format!(
            "The program marks {count} phases, {stem} {} to {stem} {}: they take {} ({:.1} % of the \
             run{mean}), {} each on average; the longest is {stem} {} with {}.",
            first.number,
            last.number,
            told(whole),
            costs.percent(whole),
            told(whole / count as f64),
            longest.number,
            told(longest.inclusive),
        )];
        let share = |own: f64| own / whole * 100.0;
        let named: Vec<String> = totals
            .inside
            .iter()
            .take(MOST_NAMED)
            .filter(|(_, own)| share(*own) >= MIN_NAMED_PERCENT)
            .map(|(name, own)| format!("{name} {:.1} %", share(*own)))
            .collect();
        if !named.is_empty() {
            notes.push(format!("Most of their time: {}.", named.join(", ")));
        }
        notes.push(
            "A profile has the totals of phases and not when they ran: load imbalance and waiting \
             in each of them need a trace."
                .to_owned(),
        );
        let row = |phase: &Phase| IterationRow {
            iteration: phase.number,
            state: "whole",
            start_s: f64::NAN,
            length_s: phase.inclusive * scale / each,
            mean_s: f64::NAN,
            max_s: f64::NAN,
            balance_ratio: None,
            imbalance_percent: None,
            saving_s: f64::NAN,
            waiting_s: f64::NAN,
            slowest: String::new(),
        };
        let iterations: IterationTable = totals.phases.iter().map(row).collect();
        let tables = IterationsTables {
            contexts: IterationContextTable::default(),
            locations: IterationLocationTable::default(),
            iterations,
            cells: IterationCellTable::Map(IterationMapTable::default()),
        };
        let reply = IterationsReply { found: None, groups: Vec::new(), stalls: Vec::new(), notes };
        Ok(Some(Answer::new(reply, tables)))
    }
}
