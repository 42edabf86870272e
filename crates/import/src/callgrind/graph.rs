//! The call graph without its cycles.
//!
//! Functions that call each other in a cycle cannot be distinguished by their callers: gprof's
//! answer is taken (S. Graham, P. Kessler, M. McKusick, *gprof: A Call Graph Execution Profiler*,
//! 1982, section 4): a cycle counts as one, calls inside of it carry no cost from one to the other.

use super::table::{CallArc, Table};

/// Functions or cycles of functions ("groups"), callers before callees.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// By function, its group.
    pub(super) group_of: Vec<usize>,
    /// Functions of each group; one, unless they are a cycle.
    pub(super) members: Vec<Vec<usize>>,
    /// Arcs that leave each group, by position in the table.
    pub(super) out: Vec<Vec<usize>>,
    /// Calls inside of each group, by position in the table.
    pub(super) inside: Vec<Vec<usize>>,
    /// What is divided among the callers of each group: the larger of what its functions and
    /// callees cost, and of what the calls to it say that they cost.
    pub(super) whole: Vec<Vec<f64>>,
    /// What of that no caller accounts for: the groups that execution begins with.
    pub(super) uncalled: Vec<Vec<f64>>,
}

impl Graph {
    pub(super) fn of(table: &Table) -> Self {
        let count = table.functions.len();
        let mut callees: Vec<Vec<usize>> = vec![Vec::new(); count];
        for arc in &table.arcs {
            if let Some(list) = callees.get_mut(arc.caller) {
                list.push(arc.callee);
            }
        }
        let (group_of, num_groups) = groups(&callees);
        let mut out = Self {
            members: vec![Vec::new(); num_groups],
            out: vec![Vec::new(); num_groups],
            inside: vec![Vec::new(); num_groups],
            whole: vec![vec![0.0; table.columns()]; num_groups],
            uncalled: Vec::new(),
            group_of,
        };
        for (function, &group) in out.group_of.iter().enumerate() {
            if let Some(members) = out.members.get_mut(group) {
                members.push(function);
            }
        }
        let group = |function: usize| out.group_of.get(function).copied().unwrap_or(0);
        let mut called = vec![vec![0.0; table.columns()]; num_groups];
        for (at, arc) in table.arcs.iter().enumerate() {
            let (from, to) = (group(arc.caller), group(arc.callee));
            let list = if from == to { out.inside.get_mut(from) } else { out.out.get_mut(from) };
            list.into_iter().for_each(|list| list.push(at));
            if from != to {
                add(called.get_mut(to), arc);
                add(out.whole.get_mut(from), arc);
            }
        }
        for (function, own) in table.own.iter().enumerate() {
            let Some(whole) = out.whole.get_mut(group(function)) else { continue };
            for costs in own.values() {
                whole.iter_mut().zip(costs).for_each(|(sum, &cost)| *sum += as_f64(cost));
            }
        }
        let width = table.width();
        for (whole, called) in out.whole.iter_mut().zip(&called) {
            let mut uncalled = vec![0.0; whole.len()];
            for ((column, whole), &called) in whole.iter_mut().enumerate().zip(called) {
                // Calls have no sum below: a group is called as often as its callers say.
                if column % width == table.calls_column() {
                    *whole = called;
                }
                if let Some(slot) = uncalled.get_mut(column) {
                    *slot = (*whole - called).max(0.0);
                }
                *whole = whole.max(called);
            }
            out.uncalled.push(uncalled);
        }
        // What has no other caller has its calls from itself only, or none.
        for (group, whole) in out.whole.iter_mut().enumerate() {
            for (column, whole) in whole.iter_mut().enumerate() {
                let is_calls = column % width == table.calls_column();
                if is_calls && *whole == 0.0 {
                    *whole = 1.0;
                    if let Some(slot) = out.uncalled.get_mut(group).and_then(|u| u.get_mut(column))
                    {
                        *slot = 1.0;
                    }
                }
            }
        }
        out
    }
}

fn add(sum: Option<&mut Vec<f64>>, arc: &CallArc) {
    for (sum, &cost) in sum.into_iter().flatten().zip(&arc.costs) {
        *sum += as_f64(cost);
    }
}

/// Counts beyond 2^53 lose their last digits, which shares can do without.
#[expect(clippy::cast_precision_loss, reason = "shares are estimates")]
pub(super) const fn as_f64(count: u64) -> f64 {
    count as f64
}

/// The strongly connected components, numbered with callers before callees (R. Tarjan, *Depth-First
/// Search and Linear Graph Algorithms*, 1972, with a stack of its own).
fn groups(callees: &[Vec<usize>]) -> (Vec<usize>, usize) {
    const UNSEEN: usize = usize::MAX;
    let count = callees.len();
    let mut index = vec![UNSEEN; count];
    let mut low = vec![0_usize; count];
    let mut group = vec![UNSEEN; count];
    let (mut next, mut num_groups) = (0, 0);
    let mut path: Vec<usize> = Vec::new();
    let get = |list: &[usize], at: usize| list.get(at).copied().unwrap_or(UNSEEN);
    let set = |list: &mut [usize], at: usize, value: usize| {
        if let Some(slot) = list.get_mut(at) {
            *slot = value;
        }
    };
    for start in 0..count {
        if get(&index, start) != UNSEEN {
            continue;
        }
        let mut open: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((at, step)) = open.pop() {
            if step == 0 {
                set(&mut index, at, next);
                set(&mut low, at, next);
                next += 1;
                path.push(at);
            }
            let list = callees.get(at).map_or(&[][..], Vec::as_slice);
            if let Some(&callee) = step.checked_sub(1).and_then(|before| list.get(before)) {
                // The callee of the last step is done now.
                if get(&group, callee) == UNSEEN {
                    let lower = get(&low, at).min(get(&low, callee));
                    set(&mut low, at, lower);
                }
            }
            if let Some(&callee) = list.get(step) {
                open.push((at, step + 1));
                if get(&index, callee) == UNSEEN {
                    open.push((callee, 0));
                }
                continue;
            }
            if get(&low, at) == get(&index, at) {
                while let Some(member) = path.pop() {
                    set(&mut group, member, num_groups);
                    if member == at {
                        break;
                    }
                }
                num_groups += 1;
            }
        }
    }
    // Tarjan's algorithm ends with callees first.
    let turned = group.iter().map(|&group| num_groups - 1 - group.min(num_groups - 1)).collect();
    (turned, num_groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_groups_and_callers_come_first() {
        // 0 -> 1 -> 2 -> 1, 2 -> 3 -> 3, 0 -> 3, 4 alone.
        let callees = vec![vec![1, 3], vec![2], vec![1, 3], vec![3], vec![]];
        let (group, count) = groups(&callees);
        assert_eq!(count, 4);
        assert_eq!(group[1], group[2]);
        assert!(group[0] < group[1] && group[1] < group[3], "{group:?}");
    }
}
