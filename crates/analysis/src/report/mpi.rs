//! MPI: what it takes, and whom ranks wait for in it.

use parallax_base::quantity::amount;
use parallax_base::{ContextIdx, Control};
use parallax_engine::EngineError;

use super::finding::{Evidence, Finding, FindingKind};
use super::findings::Uneven;
use super::sentences::{correlation, members_words};
use super::{Facts, Late, Report, Routine};
use crate::balance::Balance;
use crate::math::numeric::count;
use crate::taxonomy::classes::CostClass;

/// Costs of two rows that correlate at most like this say that one waits for the other.
const WAITS: f64 = -0.5;
/// Number of contexts of MPI that are added up to see who waits: the most expensive ones.
const MAX_WAIT_CONTEXTS: usize = 200;

impl Facts<'_> {
    pub(super) fn mpi(
        &self,
        report: &Report,
        uneven: &mut Vec<Uneven<'_>>,
        late: &mut Option<Late>,
        limits: &mut Vec<String>,
        control: &Control,
    ) -> Result<Option<Finding>, EngineError> {
        let is_mpi = |class: CostClass| matches!(class, CostClass::Mpi(_));
        let percent = self.percent(self.class_costs.of(is_mpi));
        let group = self.group(report, FindingKind::Mpi, "MPI", percent, is_mpi);
        let Some(mut finding) = group else { return Ok(None) };
        // A single rank waits for no other; it starts and ends MPI all the same.
        let Some(balance) = &report.balance else { return Ok(Some(finding)) };
        // Nobody waits in MPI_Init for code that runs later.
        let is_start_up =
            report.routines.iter().find(|routine| is_mpi(routine.class)).is_some_and(starts_mpi);
        if uneven.is_empty() || is_start_up {
            return Ok(Some(finding));
        }
        let mpi = self.mpi_of_members(balance, limits, control)?;
        // Of all that is uneven, what comes first and makes others wait.
        for at in 0..uneven.len() {
            let Some(slow) = uneven.get(at) else { break };
            if let Some((text, evidence, who)) =
                self.wait_for(report, balance, slow, &mpi, control)?
            {
                *late = Some(who);
                let end = finding.text.trim_end_matches('.').to_owned();
                finding.title = format!("Load imbalance in {}, waited for in MPI", slow.name);
                finding.text = format!("{end}: {text}.");
                finding.potential = Some(self.balanced(report, slow));
                finding.evidence.extend(evidence);
                finding.evidence.extend(slow.inner_evidence(report));
                finding.context = Some(slow.row.context);
                finding.next = self.balance_of(slow.row);
                uneven.remove(at);
                break;
            }
        }
        Ok(Some(finding))
    }

    /// What each member spends in MPI.
    fn mpi_of_members(
        &self,
        balance: &Balance,
        limits: &mut Vec<String>,
        control: &Control,
    ) -> Result<Vec<f64>, EngineError> {
        let mut outermost: Vec<ContextIdx> = self
            .classes
            .boundaries
            .iter()
            .filter(|boundary| matches!(boundary.inside, CostClass::Mpi(_)))
            .map(|boundary| boundary.context)
            .filter(|&context| self.costs.inclusive_of(context) > 0.0)
            .collect();
        outermost.sort_by(|&a, &b| {
            let cost = |context| self.costs.inclusive_of(context);
            cost(b).total_cmp(&cost(a)).then(a.cmp(&b))
        });
        match outermost.len().saturating_sub(MAX_WAIT_CONTEXTS) {
            0 => {}
            more => limits.push(format!(
                "wait states: the {MAX_WAIT_CONTEXTS} call paths of MPI with the highest \
                 inclusive {} were added up to find which ranks are waited for; {more} more were not",
                self.costs.name
            )),
        }
        outermost.truncate(MAX_WAIT_CONTEXTS);
        self.values(balance, outermost, control)
    }

    /// "ranks 0 to 5 wait for rank 7, which spends 2.1 times the mean in react": when members
    /// spend the less in `mpi` the more they spend in `slow`.
    fn wait_for(
        &self,
        report: &Report,
        balance: &Balance,
        slow: &Uneven<'_>,
        mpi: &[f64],
        control: &Control,
    ) -> Result<Option<(String, Vec<Evidence>, Late)>, EngineError> {
        let work = self.values(balance, self.names.phases.all(slow.row.context), control)?;
        let Some(r) = correlation(&work, mpi).filter(|r| *r <= WAITS) else { return Ok(None) };
        let Some(slowest) = slow.row.slowest.first() else { return Ok(None) };
        let least = mpi.get(slowest.member).copied().unwrap_or(0.0);
        let d = &slow.row.distribution;
        let waiting: Vec<usize> = (0..)
            .zip(mpi)
            .filter(|(_, spent)| **spent - least >= d.saving * 0.25)
            .map(|(member, _)| member)
            .collect();
        if waiting.is_empty() {
            return Ok(None);
        }
        let unit = report.unit.to_string();
        let slow_label = balance.members.get(slowest.member).map_or("?", |m| &*m.label);
        let verb = if waiting.len() == 1 { "waits" } else { "wait" };
        let who = members_words(balance, &waiting, slowest.member);
        let factor = d.imbalance.unwrap_or(1.0);
        let text = format!(
            "{who} {verb} for {slow_label}, which spends {factor:.1} times the mean in {} \
             ({}{}, mean {})",
            slow.name,
            amount(slowest.value, &report.unit),
            self.on_threads(report),
            amount(d.mean, &report.unit),
        );
        let evidence = vec![
            Evidence {
                what: format!("{} on {slow_label}", slow.name),
                value: slowest.value,
                unit: unit.clone(),
            },
            Evidence { what: format!("{}, mean", slow.name), value: d.mean, unit: unit.clone() },
            Evidence { what: format!("MPI on {slow_label}"), value: least, unit: unit.clone() },
            Evidence {
                what: "MPI, mean".into(),
                value: mpi.iter().sum::<f64>() / count(mpi.len()),
                unit: unit.clone(),
            },
            Evidence {
                what: format!("correlation of {} with MPI", slow.name),
                value: r,
                unit: String::new(),
            },
            Evidence { what: "potential saving".into(), value: slow.saving, unit },
        ];
        let late = Late {
            context: slow.row.context,
            function: slow.name.clone(),
            member: slow_label.to_owned(),
            value: slowest.value,
            mean: d.mean,
            waiting: work
                .iter()
                .zip(mpi)
                .map(|(own, spent)| (slowest.value - own).min(spent - least).max(0.0))
                .sum(),
        };
        Ok(Some((text, evidence, late)))
    }
}

/// Whether a routine is where MPI starts.
fn starts_mpi(routine: &Routine) -> bool {
    matches!(routine.name.as_str(), "MPI_Init" | "MPI_Init_thread")
}
