//! Advice as tables.

use std::cmp::Reverse;
use std::collections::HashMap;

use parallax_analysis::advice::{
    Access, ContextWork, LoopAdvice, Races, SharedReference, SiblingAdvice, Work,
};
use parallax_base::ContextIdx;
use parallax_engine::{Column, Table};

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

    pub(super) fn loops(&self, loops: &[LoopAdvice], work: &Work) -> Table {
        let by_context: HashMap<ContextIdx, &ContextWork> =
            work.contexts.iter().map(|own| (own.context, own)).collect();
        let of = |advice: &LoopAdvice| {
            let own = by_context.get(&advice.context);
            own.map_or((0, 0), |own| (own.work_nanos, own.span_nanos))
        };
        let mut rows: Vec<&LoopAdvice> =
            loops.iter().filter(|advice| self.has(advice.context)).collect();
        rows.sort_by_key(|advice| (Reverse(of(advice).0), advice.context));
        let u64s = |name: &str, doc, of: &dyn Fn(&LoopAdvice) -> u64| {
            Column::u64s(name, "", doc, rows.iter().map(|row| of(row)).collect())
        };
        let f64s = |name: &str, unit, doc, of: &dyn Fn(&LoopAdvice) -> f64| {
            Column::f64s(name, unit, doc, rows.iter().map(|row| of(row)).collect())
        };
        let whole = work.total_work_nanos;
        let doc = "Whether iterations could run side by side, as far as this run tells.";
        let verdict = Column::strings("verdict", doc, rows.iter().map(|row| row.verdict.name()));
        let paths = rows.iter().map(|row| self.path(row.context));
        let ids = rows.iter().map(|row| self.id(row.context)).collect();
        let because = rows.iter().map(|row| self.because(row));
        Table::new(vec![
            verdict,
            Column::strings("loop", "The loop, with its call path.", paths),
            Column::u32s("context_id", "Id of it in the database.", ids),
            Column::strings("because", "What forbids it, or what to change.", because),
            f64s("work_s", "s", "Time of all executions.", &|row| seconds(of(row).0)),
            f64s("share_percent", "%", "That, of the work of the run.", &|row| {
                Self::share(of(row).0, whole)
            }),
            f64s("saving_s", "s", "Time without what any number of workers leaves.", &|row| {
                let (work, span) = of(row);
                seconds(work.saturating_sub(span))
            }),
            u64s("executions", "How often it was entered.", &|row| row.num_executions),
            u64s("iterations", "Iterations of all executions.", &|row| row.num_iterations),
            u64s("most_iterations", "Most iterations of one execution.", &|row| {
                row.most_iterations
            }),
        ])
    }

    pub(super) fn references(&self, loops: &[LoopAdvice]) -> Table {
        let chosen = loops.iter().filter(|advice| self.has(advice.context));
        let rows: Vec<(ContextIdx, &SharedReference)> = chosen
            .flat_map(|advice| advice.shared.iter().map(|shared| (advice.context, shared)))
            .collect();
        let text = |name: &str, doc, of: &dyn Fn(&SharedReference) -> String| {
            Column::strings(name, doc, rows.iter().map(|(_, shared)| of(shared)))
        };
        let u32s = |name: &str, doc, of: &dyn Fn(&SharedReference) -> u32| {
            Column::u32s(name, doc, rows.iter().map(|(_, shared)| of(shared)).collect())
        };
        let u64s = |name: &str, doc, of: &dyn Fn(&SharedReference) -> u64| {
            Column::u64s(name, "", doc, rows.iter().map(|(_, shared)| of(shared)).collect())
        };
        let place = |name: &str, doc, of: fn(&SharedReference) -> Option<_>| {
            Column::optional_strings(name, doc, rows.iter().map(|(_, s)| self.place(of(s))))
        };
        let whole = |shared: &SharedReference| {
            if shared.is_whole { "whole".to_owned() } else { "bytes".to_owned() }
        };
        let paths = rows.iter().map(|(context, _)| self.path(*context));
        let ids = rows.iter().map(|(context, _)| self.id(*context)).collect();
        Table::new(vec![
            Column::strings("loop", "The loop, with its call path.", paths),
            Column::u32s("context_id", "Id of it in the database.", ids),
            text("reference", "Variable or allocation.", &|s| self.reference(s.reference)),
            text("storage", "Where it lies.", &|s| self.storage(s.reference)),
            text("effect", "What it does to the iterations.", &|s| s.sharing.name().to_owned()),
            place("written_at", "Where it is written.", |s| s.write),
            place("read_at", "Where it is read.", |s| s.read),
            u64s("iterations", "Iterations that it concerns.", &|s| s.num_iterations),
            u32s("earlier", "An iteration that shows it.", &|s| s.example.0),
            u32s("later", "A later one that shows it.", &|s| s.example.1),
            u64s("references", "Variables or allocations of this kind.", &|s| s.num_references),
            text("compared", "Whether bytes were compared, or the whole of it.", &whole),
        ])
    }

    fn storage(&self, reference: parallax_base::ReferenceIdx) -> String {
        let named = self.run.references.get(reference.idx());
        named.map_or_else(String::new, |named| named.storage.name())
    }

    pub(super) fn pairs(&self, siblings: &[SiblingAdvice]) -> Table {
        let tree = self.opened.session.tree();
        let chosen = siblings.iter().filter(|one| self.has(one.parent));
        let rows: Vec<_> = chosen
            .flat_map(|one| one.dependences.iter().map(move |found| (one.parent, found)))
            .collect();
        let label = |name: &str, doc, list: Vec<ContextIdx>| {
            Column::strings(name, doc, list.into_iter().map(|context| tree.label(context)))
        };
        let place = |name: &str, doc, list: Vec<Option<_>>| {
            Column::optional_strings(name, doc, list.into_iter().map(|place| self.place(place)))
        };
        let below = rows.iter().map(|(parent, _)| self.path(*parent));
        let ids = rows.iter().map(|(parent, _)| self.id(*parent)).collect();
        let kinds = rows.iter().map(|(_, found)| found.kind.name());
        let names = rows.iter().map(|(_, found)| self.reference(found.reference));
        let counts = rows.iter().map(|(_, found)| found.count).collect();
        Table::new(vec![
            Column::strings("below", "What calls both.", below),
            Column::u32s("context_id", "Id of it in the database.", ids),
            label("earlier", "What comes first.", rows.iter().map(|r| r.1.from).collect()),
            label("later", "What depends on it.", rows.iter().map(|r| r.1.to).collect()),
            Column::strings("dependence", "How it depends on it.", kinds),
            Column::strings("reference", "Through what.", names),
            place(
                "earlier_at",
                "Where the first touches it.",
                rows.iter().map(|r| r.1.from_place).collect(),
            ),
            place(
                "later_at",
                "Where the other touches it.",
                rows.iter().map(|r| r.1.to_place).collect(),
            ),
            Column::u64s("pairs", "", "How many pairs of calls.", counts),
        ])
    }

    pub(super) fn contexts(&self, work: &Work) -> Table {
        let mut rows: Vec<&ContextWork> =
            work.contexts.iter().filter(|own| self.has(own.context)).collect();
        rows.sort_by_key(|own| (Reverse(own.work_nanos), own.context));
        let f64s = |name: &str, unit, doc, of: &dyn Fn(&ContextWork) -> f64| {
            Column::f64s(name, unit, doc, rows.iter().map(|row| of(row)).collect())
        };
        let paths = rows.iter().map(|row| self.path(row.context));
        let ids = rows.iter().map(|row| self.id(row.context)).collect();
        let times = rows.iter().map(|row| row.num_activations).collect();
        let whole = work.total_work_nanos;
        Table::new(vec![
            Column::strings("context", "The call path.", paths),
            Column::u32s("context_id", "Id of it in the database.", ids),
            Column::strings("kind", "Call or loop execution.", rows.iter().map(|r| r.kind.name())),
            Column::u64s("times", "", "How many of these.", times),
            f64s("work_s", "s", "Time of all, one after the other.", &|r| seconds(r.work_nanos)),
            f64s("span_s", "s", "What any number of workers leaves.", &|r| seconds(r.span_nanos)),
            f64s("parallelism", "", "Work divided by span.", &|r| r.parallelism()),
            f64s("share_percent", "%", "Work, of that of the run.", &|r| {
                Self::share(r.work_nanos, whole)
            }),
        ])
    }

    pub(super) fn tasks(&self, best: Option<&Best>) -> Table {
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
        let f64s = |name: &str, doc, of: &dyn Fn(&parallax_analysis::advice::Placed) -> u64| {
            Column::f64s(name, "s", doc, placed.iter().map(|p| seconds(of(p))).collect())
        };
        let workers = placed.iter().map(|p| p.worker + 1).collect();
        let names = placed.iter().map(|p| tree.label(context(p.task)));
        let ids = placed.iter().map(|p| self.id(context(p.task))).collect();
        let numbers = placed.iter().map(|p| p.task as u64 + 1).collect();
        let waits_for = placed.iter().map(|p| {
            let list = waits.get(&p.task).map_or(&[][..], Vec::as_slice);
            let shown: Vec<String> =
                list.iter().take(4).map(|task| (task + 1).to_string()).collect();
            let more = if list.len() > shown.len() { ", ..." } else { "" };
            format!("{}{more}", shown.join(", "))
        });
        Table::new(vec![
            Column::u32s("worker", "Who executes it, from 1.", workers),
            Column::u64s("number", "", "Which task it is, in the order of the run.", numbers),
            Column::strings("task", "The call or loop.", names),
            Column::u32s("context_id", "Id of it in the database.", ids),
            f64s("start_s", "From the start of the schedule.", &|p| p.start_nanos),
            f64s("end_s", "From the start of the schedule.", &|p| p.end_nanos),
            f64s("takes_s", "Its work.", &|p| p.end_nanos.saturating_sub(p.start_nanos)),
            Column::strings("waits_for", "Numbers of tasks that it depends on.", waits_for),
        ])
    }

    pub(super) fn races(&self, races: &Races) -> Table {
        let is_chosen = |access: &Access| self.has(self.run.tree.context(access.activation));
        let chosen = races.hints.iter().filter(|h| is_chosen(&h.first) || is_chosen(&h.second));
        let rows: Vec<_> = chosen.collect();
        let names = self.opened.session.experiment();
        let place = |access: &Access| {
            let function = access.function?;
            self.place(Some(parallax_analysis::advice::Place { function, line: access.line }))
        };
        let verb = |access: &Access| if access.is_write { "writes" } else { "reads" };
        let thread = |access: &Access| {
            let thread = self.run.threads.get(access.thread.idx());
            thread.map_or_else(String::new, |thread| names.locations.label(thread.location))
        };
        let pairs = rows.iter().map(|hint| hint.count).collect();
        let references = rows.iter().map(|hint| self.reference(hint.reference));
        let storage = rows.iter().map(|hint| self.storage(hint.reference));
        let doc = "Where the first access is.";
        let first = Column::optional_strings("first_at", doc, rows.iter().map(|h| place(&h.first)));
        let doc = "Where the other access is.";
        let second =
            Column::optional_strings("second_at", doc, rows.iter().map(|h| place(&h.second)));
        Table::new(vec![
            Column::strings("reference", "Variable or allocation.", references),
            Column::strings("storage", "Where it lies.", storage),
            first,
            Column::strings("first_access", "What it does.", rows.iter().map(|h| verb(&h.first))),
            Column::strings(
                "first_thread",
                "A thread that does.",
                rows.iter().map(|h| thread(&h.first)),
            ),
            second,
            Column::strings("second_access", "What it does.", rows.iter().map(|h| verb(&h.second))),
            Column::strings(
                "second_thread",
                "A thread that does.",
                rows.iter().map(|h| thread(&h.second)),
            ),
            Column::u64s("pairs", "", "How many pairs of accesses.", pairs),
        ])
    }
}
