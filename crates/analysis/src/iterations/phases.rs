//! Numbered phases that a program marks, where a profile has their totals and nothing says when they
//! ran: TAU's dynamic phases and timers.

use std::collections::BTreeMap;

use parallax_base::ContextIdx;
use parallax_engine::{Costs, display_name};
use parallax_model::ContextTree;

use super::detect::LEAST_ITERATIONS;
use super::marked::series;

/// What numbered phases cost, in the unit of the costs, over all locations.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseTotals {
    /// The name before the number.
    pub stem: String,
    /// In the order of their numbers.
    pub phases: Vec<Phase>,
    /// What functions inside cost themselves, by display name, the most expensive first.
    pub inside: Vec<(String, f64)>,
}

/// One phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// Its number.
    pub number: u64,
    /// Its context, the most expensive of several.
    pub context: ContextIdx,
    /// Its cost with everything below.
    pub inclusive: f64,
}

impl PhaseTotals {
    /// What all phases cost together.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.phases.iter().map(|phase| phase.inclusive).sum()
    }

    /// The phase that costs most, the first of several.
    #[must_use]
    pub fn longest(&self) -> Option<Phase> {
        let phases = self.phases.iter().copied();
        phases.reduce(|most, next| if next.inclusive > most.inclusive { next } else { most })
    }
}

/// The numbered phases that cost most; `None` where the program marks none.
#[must_use]
pub fn phase_totals(tree: &ContextTree, costs: &Costs) -> Option<PhaseTotals> {
    let of_stem = |(stem, members): (String, Vec<(ContextIdx, u64)>)| {
        let mut phases: BTreeMap<u64, Phase> = BTreeMap::new();
        let mut inside: BTreeMap<String, f64> = BTreeMap::new();
        let mut end = 0;
        // In depth-first order, so that what lies inside another phase comes behind it.
        for (context, number) in members {
            let inclusive = costs.inclusive_of(context);
            if context.idx() < end || inclusive <= 0.0 {
                continue;
            }
            end = tree.subtree(context).end;
            let phase = phases.entry(number).or_insert(Phase { number, context, inclusive: 0.0 });
            phase.inclusive += inclusive;
            if inclusive > costs.inclusive_of(phase.context) {
                phase.context = context;
            }
            for below in tree.descendants(context).filter(|&below| tree.relation(below).is_call()) {
                let own = costs.exclusive.get(below.idx()).copied().unwrap_or(0.0);
                if own > 0.0 {
                    *inside.entry(display_name(&tree.label(below))).or_default() += own;
                }
            }
        }
        let mut inside: Vec<(String, f64)> = inside.into_iter().collect();
        inside.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        PhaseTotals { stem, phases: phases.into_values().collect(), inside }
    };
    let all = series(tree).into_iter().map(of_stem);
    let enough = all.filter(|totals| totals.phases.len() >= LEAST_ITERATIONS);
    enough.reduce(|most, next| if next.total() > most.total() { next } else { most })
}
