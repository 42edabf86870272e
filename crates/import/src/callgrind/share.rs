//! Whole events for every context, so that the sums are those of the file.

use super::expand::{Expanded, Sharers};
use super::table::{Table, add_checked};

/// Numbers by node and column of [`Table::columns`]: what nodes cost themselves.
pub(super) struct Own {
    columns: usize,
    list: Vec<u64>,
    /// Whether a sum reached the largest number of 64 bits, and stopped there.
    pub(super) is_saturated: bool,
}

impl Own {
    pub(super) fn of(table: &Table, expanded: &Expanded) -> Self {
        let columns = table.columns();
        let mut own =
            Self { columns, list: vec![0; columns * expanded.nodes.len()], is_saturated: false };
        for (spots, sharers) in table.own.iter().zip(&expanded.spots) {
            for (costs, sharers) in spots.values().zip(sharers) {
                for (column, &cost) in costs.iter().enumerate() {
                    own.divide(column, cost, sharers, &expanded.shares);
                }
            }
        }
        let width = table.width();
        for (arc, sharers) in table.arcs.iter().zip(&expanded.calls) {
            for (column, &count) in arc.costs.iter().enumerate() {
                if column % width == table.calls_column() {
                    own.divide(column, count, sharers, &expanded.shares);
                }
            }
        }
        own
    }

    pub(super) fn of_node(&self, node: usize) -> &[u64] {
        let from = node * self.columns;
        self.list.get(from..from + self.columns).unwrap_or_default()
    }

    /// Gives each sharer its part of `cost`, rounded so that the parts add up to it (the method of
    /// largest remainders).
    fn divide(&mut self, column: usize, cost: u64, sharers: &Sharers, shares: &[Vec<f64>]) {
        if cost == 0 {
            return;
        }
        let weight = |instance: usize| {
            shares.get(instance).and_then(|share| share.get(column)).copied().unwrap_or(0.0)
        };
        let total: f64 = sharers.iter().map(|&(_, instance)| weight(instance)).sum();
        let mut left = cost;
        let mut remainders = Vec::with_capacity(sharers.len());
        for (i, &(_, instance)) in sharers.iter().enumerate() {
            // A single caller gets all, whatever rounding made of the shares on the way to it.
            let part = if total > 0.0 { weight(instance) / total } else { 0.0 };
            let (whole, rest) = part_of(cost, part);
            let whole = whole.min(left);
            left -= whole;
            self.add(column, sharers.get(i), whole);
            remainders.push((rest, i));
        }
        remainders.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, i) in remainders {
            if left == 0 {
                return;
            }
            self.add(column, sharers.get(i), 1);
            left -= 1;
        }
        // Beyond 2^53 rounding may leave more than one for each.
        self.add(column, sharers.first(), left);
    }

    fn add(&mut self, column: usize, sharer: Option<&(usize, usize)>, cost: u64) {
        let Some(&(node, _)) = sharer else { return };
        if let Some(slot) = self.list.get_mut(node * self.columns + column) {
            self.is_saturated |= !add_checked(slot, cost);
        }
    }
}

/// The whole part of `cost` times `part`, and what is left over below 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 <= part <= 1")]
fn part_of(cost: u64, part: f64) -> (u64, f64) {
    if part >= 1.0 {
        return (cost, 0.0);
    }
    let exact = super::graph::as_f64(cost) * part.max(0.0);
    (exact.floor() as u64, exact.fract())
}
