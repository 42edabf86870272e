//! The metrics of instruction sampling, and their values.

use parallax_base::{ContextIdx, Control, MetricIdx};
use parallax_engine::{Costs, EngineError, LocationChoice, Session};
use parallax_model::MetricCatalog;

use super::Sampled;
use super::reasons::Reason;

/// From here on numbers do not hold every whole one.
const MOST_CYCLES: f64 = 9_007_199_254_740_992.0;

/// Which metrics an experiment has.
#[derive(Debug, Clone)]
pub(super) struct Family {
    cycles: MetricIdx,
    /// Whether it is the older one, in which what does not stall was issued.
    is_older: bool,
    /// Cycles in which an instruction was issued.
    issued: Option<MetricIdx>,
    /// Exposed stalls, by reason.
    by_reason: Vec<(&'static Reason, MetricIdx)>,
    seconds: Option<MetricIdx>,
    taken: Option<MetricIdx>,
    lost: Option<MetricIdx>,
}

impl Family {
    /// The newer family where both are there; `None` where instructions were not sampled.
    pub(super) fn of(catalog: &MetricCatalog) -> Option<Self> {
        let named = |name: &str| {
            let known = catalog.iter().find(|(_, metric)| metric.name.eq_ignore_ascii_case(name));
            known.map(|(metric, _)| metric)
        };
        let reasons = |prefix: &str| -> Vec<(&'static Reason, MetricIdx)> {
            let of = |(metric, described): (MetricIdx, &parallax_model::Metric)| {
                let start = described.name.get(..prefix.len())?;
                let code = described.name.get(prefix.len()..)?;
                let reason = Reason::of(code).filter(|_| start.eq_ignore_ascii_case(prefix))?;
                Some((reason, metric))
            };
            catalog.iter().filter_map(of).filter(|(reason, _)| reason.is_exposed()).collect()
        };
        let (is_older, cycles, issued, by_reason) = match named("GCYCLES") {
            Some(cycles) => (false, cycles, named("GCYCLES:ISU"), reasons("GCYCLES:STL:")),
            // Binary instrumentation counts instructions under the same name, without stalls.
            None => {
                let by_reason = reasons("GINS:STL_");
                (true, named("GINS").filter(|_| !by_reason.is_empty())?, None, by_reason)
            }
        };
        Some(Self {
            is_older,
            cycles,
            issued,
            by_reason,
            seconds: named("GKER"),
            taken: named("GSAMP:TOT"),
            lost: named("GSAMP:DRP"),
        })
    }
}

/// Values over all contexts.
pub(super) struct Columns {
    is_older: bool,
    pub(super) cycles: Costs,
    issued: Option<Costs>,
    /// Of the reasons that have any, the most frequent first.
    by_reason: Vec<(&'static Reason, Costs)>,
    pub(super) seconds: Option<Costs>,
    taken: Option<Costs>,
    lost: Option<f64>,
    /// Whether it was recorded what was issued and what stalled.
    is_told: bool,
}

impl Columns {
    pub(super) fn read(
        session: &Session,
        family: &Family,
        locations: &LocationChoice,
        control: &Control,
    ) -> Result<Self, EngineError> {
        let costs = |metric| session.costs(metric, locations, control);
        let optional = |metric: Option<MetricIdx>| -> Result<Option<Costs>, EngineError> {
            Ok(metric.map(costs).transpose()?.filter(|costs| costs.total > 0.0))
        };
        let mut by_reason = Vec::new();
        for &(reason, metric) in &family.by_reason {
            let costs = costs(metric)?;
            if costs.total > 0.0 {
                by_reason.push((reason, costs));
            }
        }
        by_reason.sort_by(|a, b| b.1.total.total_cmp(&a.1.total));
        let issued = optional(family.issued)?;
        // The older family always tells; of the newer one, software sampling on AMD devices does
        // not.
        let is_told = family.is_older || issued.is_some() || !by_reason.is_empty();
        Ok(Self {
            is_older: family.is_older,
            cycles: costs(family.cycles)?,
            issued,
            by_reason,
            seconds: optional(family.seconds)?,
            taken: optional(family.taken)?,
            lost: optional(family.lost)?.map(|costs| costs.total),
            is_told,
        })
    }

    pub(super) fn reasons(&self) -> Vec<&'static Reason> {
        self.by_reason.iter().map(|(reason, _)| *reason).collect()
    }

    /// What was sampled, by the value `of` takes from each column.
    fn sampled_by(&self, of: impl Fn(&Costs) -> f64) -> Sampled {
        let cycles = of(&self.cycles);
        let by_reason: Vec<f64> = self.by_reason.iter().map(|(_, costs)| of(costs)).collect();
        let exposed = by_reason.iter().fold(0.0, |sum, cycles| sum + cycles);
        let (issued, hidden) = match &self.issued {
            Some(issued) => {
                let issued = of(issued);
                (Some(issued), Some((cycles - issued - exposed).max(0.0)))
            }
            None => (self.is_older.then_some((cycles - exposed).max(0.0)), None),
        };
        Sampled {
            cycles,
            issued: issued.filter(|_| self.is_told),
            hidden: hidden.filter(|_| self.is_told),
            exposed: self.is_told.then_some(exposed),
            by_reason,
        }
    }

    /// A context with everything below it.
    pub(super) fn inclusive(&self, context: ContextIdx) -> Sampled {
        self.sampled_by(|costs| costs.inclusive_of(context))
    }

    /// A context down to the next call.
    pub(super) fn exclusive(&self, context: ContextIdx) -> Sampled {
        self.sampled_by(|costs| exclusive_of(costs, context))
    }

    pub(super) fn whole(&self) -> Sampled {
        self.sampled_by(|costs| costs.total)
    }

    /// Cycles for which one sample stands: known where the device counts its samples. Elsewhere at
    /// most the largest power of two that divides all cycles, because HPCToolkit's periods are
    /// powers of two; not known where cycles were divided among calling contexts.
    pub(super) fn period(&self) -> Option<f64> {
        if let Some(taken) = &self.taken {
            return Some(self.cycles.total / taken.total).filter(|period| *period >= 1.0);
        }
        let mut zeros = None;
        for &cycles in self.cycles.exclusive.iter().filter(|cycles| **cycles > 0.0) {
            if cycles.fract() != 0.0 || cycles >= MOST_CYCLES {
                return None;
            }
            let own = (cycles as u64).trailing_zeros();
            zeros = Some(zeros.map_or(own, |least: u32| least.min(own)));
        }
        zeros.map(|zeros| f64::from(zeros).exp2())
    }

    pub(super) fn dropped(&self) -> Option<(f64, f64)> {
        Some((self.lost.unwrap_or(0.0), self.taken.as_ref()?.total))
    }

    /// Whether a context is where a kernel was launched, and not a function that it calls.
    pub(super) fn is_launched(&self, context: ContextIdx) -> bool {
        let has = |costs: &Option<Costs>| {
            costs.as_ref().is_some_and(|costs| costs.inclusive_of(context) > 0.0)
        };
        has(&self.seconds) || has(&self.taken)
    }
}

pub(super) fn exclusive_of(costs: &Costs, context: ContextIdx) -> f64 {
    costs.exclusive.get(context.idx()).copied().unwrap_or(0.0)
}

impl Sampled {
    pub(super) fn add(&mut self, other: &Self) {
        let sum = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
        self.cycles += other.cycles;
        self.issued = sum(self.issued, other.issued);
        self.hidden = sum(self.hidden, other.hidden);
        self.exposed = sum(self.exposed, other.exposed);
        for (sum, more) in self.by_reason.iter_mut().zip(&other.by_reason) {
            *sum += more;
        }
    }
}
