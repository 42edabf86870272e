//! Advice in words.

use parallax_analysis::advice::{
    FunctionLine, LoopAdvice, Races, SharedReference, Sharing, Verdict, Work,
};
use parallax_base::{ActivationIdx, ReferenceIdx};
use parallax_model::{ActivationKind, Activations};

use super::{AdviseBy, Scope};
use crate::timeline::path;

/// References that a sentence names.
const NAMED: usize = 3;

impl Scope<'_> {
    /// `f.c:12 (solve)`, `solve:12` where the file is not known.
    pub(super) fn place(&self, place: Option<FunctionLine>) -> Option<String> {
        let place = place?;
        let tree = self.opened.session.tree();
        let function = tree.label(place.function);
        let file = tree
            .function(place.function)
            .and_then(|row| tree.functions().get(row.idx()))
            .and_then(|function| function.file)
            .and_then(|file| tree.files().get(file.idx()))
            .map(|file| file.path.rsplit(['/', '\\']).next().unwrap_or(&file.path).to_owned());
        Some(match (file, place.line) {
            (Some(file), 0) => format!("{file} ({function})"),
            (Some(file), line) => format!("{file}:{line} ({function})"),
            (None, 0) => function,
            (None, line) => format!("{function}:{line}"),
        })
    }

    /// `sum`, `point.x`; allocations by where they were made.
    pub(super) fn reference(&self, reference: ReferenceIdx) -> String {
        let Some(named) = self.run.references.get(reference.idx()) else { return String::new() };
        let tree = &self.run.tree;
        let name = match named.allocated.filter(|site| site.activation.idx() < tree.len()) {
            Some(site) => {
                let call = tree.call_of(site.activation).unwrap_or(site.activation);
                let place = FunctionLine { function: tree.context(call), line: site.line };
                let place = self.place(Some(place)).unwrap_or_default();
                format!("allocation at {place}")
            }
            None => named.name.to_string(),
        };
        match &named.member {
            Some(member) => format!("{name}.{member}"),
            None => name,
        }
    }

    /// A call path, with the number where there are several activations of it.
    pub(super) fn named(&self, activation: ActivationIdx) -> String {
        let tree = &self.run.tree;
        let context = path(self.opened.session.tree(), tree.context(activation));
        match tree.kind(activation) {
            ActivationKind::Iteration => {
                format!("{context}, iteration {}", tree.number(activation))
            }
            _ => context,
        }
    }

    /// What can be said of a loop, in words.
    pub(super) fn verdict(&self, advice: &LoopAdvice) -> &'static str {
        match advice.verdict {
            Verdict::Independent if self.opened.is_without_locals() => "independent in memory",
            verdict => verdict.name(),
        }
    }

    /// Why a loop is judged as it is.
    pub(super) fn because(&self, advice: &LoopAdvice) -> String {
        let list = |wanted: Sharing| -> Vec<&SharedReference> {
            advice.shared.iter().filter(|shared| shared.sharing == wanted).collect()
        };
        let names = |list: &[&SharedReference]| {
            let mut names: Vec<String> = Vec::new();
            for shared in list {
                let name = self.reference(shared.reference);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let more = names.len().saturating_sub(NAMED);
            names.truncate(NAMED);
            let names = names.join(", ");
            if more > 0 { format!("{names} and {more} more") } else { names }
        };
        let mut parts = Vec::new();
        match advice.verdict {
            Verdict::NoClaim if advice.most_iterations < 2 => {
                return "It never had two iterations.".into();
            }
            Verdict::NoClaim => return "No accesses were recorded in it.".into(),
            Verdict::Dependent => {
                let found = list(Sharing::Dependency);
                if let Some(first) = found.first() {
                    let name = self.reference(first.reference);
                    let write = self.place(first.write).unwrap_or_else(|| "an unknown line".into());
                    let read = self.place(first.read).unwrap_or_else(|| "an unknown line".into());
                    let (earlier, later) = first.example;
                    parts.push(format!(
                        "iteration {later} reads {name} at {read}, which iteration {earlier} wrote \
                         at {write}"
                    ));
                    let others = found.get(1..).unwrap_or_default();
                    let others: Vec<_> = others
                        .iter()
                        .copied()
                        .filter(|o| self.reference(o.reference) != name)
                        .collect();
                    if !others.is_empty() {
                        parts.push(format!("also {}", names(&others)));
                    }
                    if found.iter().any(|shared| shared.is_whole) {
                        parts.push("no addresses recorded, so the whole object is compared".into());
                    }
                }
            }
            Verdict::Unclear => {
                let found = list(Sharing::Unclear);
                parts.push(format!(
                    "iterations write {} before they read it, but other parts of it may be read",
                    names(&found)
                ));
            }
            Verdict::AfterChanges | Verdict::Independent => {
                let reductions = list(Sharing::Reduction);
                if !reductions.is_empty() {
                    parts.push(format!("make {} a reduction", names(&reductions)));
                }
                let private = list(Sharing::Private);
                let (whole, own): (Vec<_>, Vec<_>) = private.into_iter().partition(|s| s.is_whole);
                if !own.is_empty() {
                    parts.push(format!("privatise {}", names(&own)));
                }
                if !whole.is_empty() {
                    parts.push(format!(
                        "check that iterations write different parts of {}, or privatise it (no \
                         addresses recorded)",
                        names(&whole)
                    ));
                }
            }
        }
        let counters = list(Sharing::Counter);
        if parts.is_empty() {
            let through = if self.opened.is_without_locals() { " in memory" } else { "" };
            parts.push(format!("no dependences between iterations{through}"));
        }
        if !counters.is_empty() && advice.verdict.is_parallel() {
            parts.push(format!("loop counter {} ignored", names(&counters)));
        }
        if advice.verdict.is_parallel() && self.opened.is_without_locals() {
            parts.push("check that no local variable carries a value to the next iteration".into());
        }
        parts.join("; ")
    }
}

/// Remarks about the answer.
pub(super) fn notes(
    run: &Activations,
    loops: &[LoopAdvice],
    work: &Work,
    by: AdviseBy,
) -> Vec<String> {
    let mut notes = vec![
        "Results hold for one run with one input and are no proof; values in registers, input and \
         output, and unrecorded code are not covered."
            .to_owned(),
    ];
    let has_addresses = run.touches.has_addresses();
    if !has_addresses && !run.touches.is_empty() && by != AdviseBy::Context {
        notes.push(
            "The source has no addresses: whole variables and allocations are compared, so arrays \
             appear shared although each iteration may access different elements."
                .into(),
        );
    }
    let is_estimated =
        |kind| run.tree.iter().any(|a| run.tree.kind(a) == kind && run.tree.is_estimated(a));
    if matches!(by, AdviseBy::Loop | AdviseBy::Context)
        && loops.iter().any(|advice| advice.verdict.is_parallel())
        && is_estimated(ActivationKind::Iteration)
    {
        notes.push(
            "The source has no start and end times of iterations: time between calls is divided \
             evenly, so spans of loops are estimates."
                .into(),
        );
    }
    if work.waiting_nanos > 0 && by == AdviseBy::Context {
        #[expect(clippy::cast_precision_loss, reason = "a time")]
        let seconds = work.waiting_nanos as f64 / 1e9;
        notes
            .push(format!("{seconds:.3} s of waiting for threads to end are not counted as work."));
    }
    notes
}

/// What limits hints at races.
pub(super) fn race_notes(races: &Races, num_threads: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if races.is_too_large {
        notes.push("Too many threads and synchronisations to compare them.".into());
    } else if num_threads < 2 {
        notes.push("The run had one thread.".into());
    } else if races.hints.is_empty() {
        notes.push(format!(
            "No race hints: {} variables and allocations are shared and written, and their \
             accesses are ordered or under a common lock.",
            races.num_shared
        ));
    }
    if races.has_unknown_locks {
        notes.push(
            "The source does not name locks: all are treated as one, so hints may be missing."
                .into(),
        );
    }
    notes
}
