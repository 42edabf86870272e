//! Calls of threads over time, one lane for each entry call: the answer of `lanes`.

use parallax_base::{ActivationIdx, Control};
use parallax_engine::EngineError;
use parallax_engine::query::QueryError;
use parallax_model::{ActivationKind, ActivationTree};
use parallax_protocol::{Answer, LaneTable, LanesReply, LanesRequest, LanesTables};

use crate::entities::{Run, by_function, calls_of, labels};
use crate::{Answers, OpenExperiment, ServiceError};

/// Rows of an answer at most.
const MOST_ROWS: usize = 1 << 20;

/// A bar.
struct Bar {
    lane: u32,
    first: ActivationIdx,
    level: u32,
    start_nanos: u64,
    nanos: u64,
    count: u64,
    iterations: u64,
}

/// What is still to be looked at of a lane.
struct Open {
    members: Vec<ActivationIdx>,
    level: u32,
    start_nanos: u64,
}

impl Answers<LanesRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &LanesRequest,
        control: &Control,
    ) -> Result<Answer<LanesRequest>, ServiceError> {
        let run = Run { activations: self.activations()?, contexts: self.session().tree() };
        let tree = &run.activations.tree;
        let mut bars = Vec::new();
        let mut left_out = Vec::new();
        control.begin(request.tops.len() as u64);
        for (lane, &top) in (0_u32..).zip(&request.tops) {
            control.advance(1).map_err(EngineError::from)?;
            if top as usize >= tree.len() {
                let text = format!("activation {top}");
                let message = format!("there is no {text}");
                return Err(QueryError::unknown_name(&text, &text, message).into());
            }
            let top = ActivationIdx::new(top);
            // A share above all would leave nothing, not even the top.
            let share = (request.below_percent / 100.0).clamp(0.0, 1.0);
            let least = (tree.nanos(top) as f64 * share).ceil() as u64;
            let walk = Lane { run, lane, least, has_loops: request.loops };
            left_out.push(match request.is_merged {
                true => walk.merged(top, &mut bars),
                false => walk.traced(top, &mut bars),
            });
        }
        let mut notes = Vec::new();
        if bars.len() > MOST_ROWS {
            let more = bars.len() - MOST_ROWS;
            notes.push(format!(
                "{more} more calls exceed the size of one result: increase the \
                                minimum share."
            ));
            bars.truncate(MOST_ROWS);
        }
        let rows = table(run, &bars);
        self.activations()?;
        Ok(Answer::new(LanesReply { left_out, notes }, LanesTables { rows }))
    }
}

struct Lane<'a> {
    run: Run<'a>,
    lane: u32,
    /// What takes less nanoseconds is left out.
    least: u64,
    has_loops: bool,
}

impl Lane<'_> {
    /// Calls one by one; how many are left out.
    fn traced(&self, top: ActivationIdx, bars: &mut Vec<Bar>) -> u64 {
        let tree = &self.run.activations.tree;
        let origin = tree.span().start_nanos;
        let range = tree.subtree(top);
        // Ends of the calls around the current one: how many there are is the level.
        let mut ends: Vec<usize> = Vec::new();
        let mut left_out = 0;
        let mut at = range.start;
        while at < range.end {
            let here = ActivationIdx::from_len(at);
            while ends.last().is_some_and(|&end| end <= at) {
                ends.pop();
            }
            let (kind, nanos, end) = (tree.kind(here), tree.nanos(here), tree.subtree(here).end);
            let is_short = nanos < self.least && here != top;
            let is_bar = match kind {
                ActivationKind::Call => !is_short,
                // Short ones too: that a call has loops is worth knowing.
                ActivationKind::LoopExecution => self.has_loops || here == top,
                ActivationKind::Iteration => here == top,
            };
            if is_bar {
                let around = u32::try_from(ends.len()).unwrap_or(u32::MAX);
                let is_call = kind == ActivationKind::Call || here == top;
                bars.push(Bar {
                    lane: self.lane,
                    first: here,
                    level: if is_call { around } else { around.saturating_sub(1) },
                    start_nanos: tree.time(here).start_nanos.saturating_sub(origin),
                    nanos,
                    count: 1,
                    iterations: iterations(tree, here),
                });
                if is_call {
                    ends.push(end);
                }
            }
            if is_short {
                match kind {
                    ActivationKind::Call => left_out += 1,
                    _ => calls_of(tree, here, |_| left_out += 1),
                }
                at = end;
            } else {
                at += 1;
            }
        }
        left_out
    }

    /// Calls aggregated by function; how many are left out.
    fn merged(&self, top: ActivationIdx, bars: &mut Vec<Bar>) -> u64 {
        let tree = &self.run.activations.tree;
        let total = |members: &[ActivationIdx]| -> u64 {
            members.iter().map(|&member| tree.nanos(member)).sum()
        };
        let mut left_out = 0;
        let mut open = vec![Open { members: vec![top], level: 0, start_nanos: 0 }];
        while let Some(Open { members, level, start_nanos }) = open.pop() {
            let Some(&first) = members.first() else { continue };
            let mut groups: Vec<(u64, Vec<ActivationIdx>)> = Vec::new();
            for group in by_function(self.run, members.iter().copied()) {
                let nanos = total(&group);
                if nanos < self.least {
                    left_out += group.len() as u64;
                } else {
                    groups.push((nanos, group));
                }
            }
            groups.sort_by_key(|(nanos, group)| (u64::MAX - nanos, group.first().copied()));
            bars.push(Bar {
                lane: self.lane,
                first,
                level,
                start_nanos,
                nanos: total(&members),
                count: members.len() as u64,
                iterations: 0,
            });
            // The last one pushed is the next one looked at: the longest, for depth-first order.
            let mut end = start_nanos + groups.iter().map(|(nanos, _)| nanos).sum::<u64>();
            for (nanos, members) in groups.into_iter().rev() {
                end -= nanos;
                open.push(Open { members, level: level + 1, start_nanos: end });
            }
        }
        left_out
    }
}

/// Iterations of an execution.
fn iterations(tree: &ActivationTree, execution: ActivationIdx) -> u64 {
    let is_iteration = |&child: &ActivationIdx| tree.kind(child) == ActivationKind::Iteration;
    match tree.kind(execution) {
        ActivationKind::LoopExecution => {
            tree.children(execution).filter(is_iteration).count() as u64
        }
        _ => 0,
    }
}

fn table(run: Run<'_>, bars: &[Bar]) -> LaneTable {
    let tree = &run.activations.tree;
    let kind = |bar: &Bar| match tree.kind(bar.first) {
        ActivationKind::Call => "call",
        ActivationKind::LoopExecution => "loop",
        ActivationKind::Iteration => "iteration",
    };
    let name = labels(bars.iter().map(|bar| tree.context(bar.first).get()), |context| {
        run.contexts.label(parallax_base::ContextIdx::new(context))
    });
    LaneTable {
        lane: bars.iter().map(|bar| bar.lane).collect(),
        activation: bars.iter().map(|bar| bar.first.get()).collect(),
        kind: bars.iter().map(kind).collect(),
        name,
        context_id: bars
            .iter()
            .map(|bar| run.contexts.source_id(tree.context(bar.first)))
            .collect(),
        level: bars.iter().map(|bar| bar.level).collect(),
        start_ns: bars.iter().map(|bar| bar.start_nanos).collect(),
        length_ns: bars.iter().map(|bar| bar.nanos).collect(),
        count: bars.iter().map(|bar| bar.count).collect(),
        iterations: bars.iter().map(|bar| bar.iterations).collect(),
    }
}
