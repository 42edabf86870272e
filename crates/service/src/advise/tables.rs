//! Advice as tables.

use std::cmp::Reverse;
use std::collections::HashMap;

use parallax_analysis::advice::{
    Access, ContextWork, FunctionLine, LoopAdvice, Placed, RaceHint, Races, SharedReference,
    SiblingAdvice, Work,
};
use parallax_base::ContextIdx;
use parallax_protocol::{
    ContextWorkRow, ContextWorkTable, DependentPairRow, DependentPairTable, LoopAdviceRow,
    LoopAdviceTable, RaceRow, RaceTable, SharedReferenceRow, SharedReferenceTable, TaskRow,
    TaskTable,
};

use super::{Best, Scope, seconds};
use crate::timeline::path;

impl Scope<'_> {
    fn path(&self, context: ContextIdx) -> String {
        path(self.opened.session.tree(), context)
    }

    fn id(&self, context: ContextIdx) -> u32 {
        self.opened.session.tree().source_id(context)
    }

    fn share(part: u64, whole: u64) -> f64 {
        if whole == 0 { 0.0 } else { seconds(part) / seconds(whole) * 100.0 }
    }

    pub(super) fn loops(&self, loops: &[LoopAdvice], work: &Work) -> LoopAdviceTable {
        let by_context: HashMap<ContextIdx, &ContextWork> =
            work.contexts.iter().map(|own| (own.context, own)).collect();
        let of = |advice: &LoopAdvice| {
            let own = by_context.get(&advice.context);
            own.map_or((0, 0), |own| (own.work_nanos, own.span_nanos))
        };
        let mut rows: Vec<&LoopAdvice> =
            loops.iter().filter(|advice| self.has(advice.context)).collect();
        rows.sort_by_key(|advice| (Reverse(of(advice).0), advice.context));
        let row = |advice: &LoopAdvice| {
            let (own, span) = of(advice);
            LoopAdviceRow {
                verdict: self.verdict(advice),
                r#loop: self.path(advice.context),
                context_id: self.id(advice.context),
                because: self.because(advice),
                work_s: seconds(own),
                share_percent: Self::share(own, work.total_work_nanos),
                saving_s: seconds(own.saturating_sub(span)),
                executions: advice.num_executions,
                iterations: advice.num_iterations,
                most_iterations: advice.most_iterations,
            }
        };
        rows.into_iter().map(row).collect()
    }

    pub(super) fn references(&self, loops: &[LoopAdvice]) -> SharedReferenceTable {
        let row = |context: ContextIdx, shared: &SharedReference| SharedReferenceRow {
            r#loop: self.path(context),
            context_id: self.id(context),
            reference: self.reference(shared.reference),
            storage: self.storage(shared.reference),
            effect: shared.sharing.name().to_owned(),
            written_at: self.place(shared.write),
            read_at: self.place(shared.read),
            iterations: shared.num_iterations,
            earlier: shared.example.0,
            later: shared.example.1,
            references: shared.num_references,
            compared: if shared.is_whole { "whole" } else { "bytes" },
        };
        let chosen = loops.iter().filter(|advice| self.has(advice.context));
        chosen
            .flat_map(|advice| advice.shared.iter().map(|shared| row(advice.context, shared)))
            .collect()
    }

    fn storage(&self, reference: parallax_base::ReferenceIdx) -> String {
        let named = self.run.references.get(reference.idx());
        named.map_or_else(String::new, |named| named.storage.name())
    }

    pub(super) fn pairs(&self, siblings: &[SiblingAdvice]) -> DependentPairTable {
        let tree = self.opened.session.tree();
        let mut table = DependentPairTable::default();
        for one in siblings.iter().filter(|one| self.has(one.parent)) {
            table.extend(one.dependences.iter().map(|found| DependentPairRow {
                below: self.path(one.parent),
                context_id: self.id(one.parent),
                earlier: tree.label(found.from),
                later: tree.label(found.to),
                dependence: found.kind.name(),
                reference: self.reference(found.reference),
                earlier_at: self.place(found.from_place),
                later_at: self.place(found.to_place),
                pairs: found.count,
            }));
        }
        table
    }

    pub(super) fn contexts(&self, work: &Work) -> ContextWorkTable {
        let mut rows: Vec<&ContextWork> =
            work.contexts.iter().filter(|own| self.has(own.context)).collect();
        rows.sort_by_key(|own| (Reverse(own.work_nanos), own.context));
        let row = |own: &ContextWork| ContextWorkRow {
            context: self.path(own.context),
            context_id: self.id(own.context),
            kind: own.kind.name(),
            times: own.num_activations,
            work_s: seconds(own.work_nanos),
            span_s: seconds(own.span_nanos),
            parallelism: own.parallelism(),
            share_percent: Self::share(own.work_nanos, work.total_work_nanos),
        };
        rows.into_iter().map(row).collect()
    }

    pub(super) fn tasks(&self, best: Option<&Best>) -> TaskTable {
        let tree = self.opened.session.tree();
        let placed = best.map_or(&[][..], |best| best.schedule.placed.as_slice());
        let activation =
            |task: usize| best.and_then(|best| best.tasks.activations.get(task)).copied();
        let context = |task: usize| {
            activation(task).map_or(parallax_model::ContextTree::ROOT, |a| self.run.tree.context(a))
        };
        let mut waits: HashMap<usize, Vec<usize>> = HashMap::new();
        for &(from, to) in best.map_or(&[][..], |best| best.tasks.dependences.as_slice()) {
            waits.entry(to as usize).or_default().push(from as usize);
        }
        let waits_for = |task: usize| {
            let list = waits.get(&task).map_or(&[][..], Vec::as_slice);
            let shown: Vec<String> =
                list.iter().take(4).map(|task| (task + 1).to_string()).collect();
            let more = match list.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{}{more}", shown.join(", "))
        };
        let row = |placed: &Placed| TaskRow {
            worker: placed.worker + 1,
            number: placed.task as u64 + 1,
            task: tree.label(context(placed.task)),
            context_id: self.id(context(placed.task)),
            start_s: seconds(placed.start_nanos),
            end_s: seconds(placed.end_nanos),
            takes_s: seconds(placed.end_nanos.saturating_sub(placed.start_nanos)),
            waits_for: waits_for(placed.task),
        };
        placed.iter().map(row).collect()
    }

    pub(super) fn races(&self, races: &Races) -> RaceTable {
        let is_chosen = |access: &Access| self.has(self.run.tree.context(access.activation));
        let chosen = races.hints.iter().filter(|h| is_chosen(&h.first) || is_chosen(&h.second));
        let names = self.opened.session.experiment();
        let place = |access: &Access| {
            let function = access.function?;
            self.place(Some(FunctionLine { function, line: access.line }))
        };
        let verb = |access: &Access| if access.is_write { "writes" } else { "reads" };
        let thread = |access: &Access| {
            let thread = self.run.threads.get(access.thread.idx());
            thread.map_or_else(String::new, |thread| names.locations.label(thread.location))
        };
        let row = |hint: &RaceHint| RaceRow {
            reference: self.reference(hint.reference),
            storage: self.storage(hint.reference),
            first_at: place(&hint.first),
            first_access: verb(&hint.first),
            first_thread: thread(&hint.first),
            second_at: place(&hint.second),
            second_access: verb(&hint.second),
            second_thread: thread(&hint.second),
            pairs: hint.count,
        };
        chosen.map(row).collect()
    }
}
