//! Who reads and writes what, and which loops there are: the answers of `references` and `loops`.

use std::collections::{BTreeMap, BTreeSet};

use parallax_base::{ContextIdx, Control, ReferenceIdx};
use parallax_engine::query::parse_contexts;
use parallax_engine::resolve::resolve_contexts;
use parallax_engine::{Column, EngineError, Table};
use parallax_model::{ActivationKind, Activations, Site};

use crate::entities::name as reference_name;
use crate::timeline::path;
use crate::{Answer, Opened, ServiceError};

/// What references are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferencesRequest {
    /// Expressions of contexts. None: everything that the run touches. One: what its contexts
    /// touch. Several: what contexts of each of them touch, which is what they share.
    pub contexts: Vec<String>,
    /// Whether what is called from the contexts, and what is inside of them, counts as well.
    pub is_inclusive: bool,
}

/// What some contexts do with one reference.
#[derive(Default)]
struct Use {
    reads: u64,
    writes: u64,
    readers: BTreeSet<ContextIdx>,
    writers: BTreeSet<ContextIdx>,
    /// Threads that touch it.
    threads: BTreeSet<u32>,
    /// Which of the expressions touch it, by number.
    of: BTreeSet<usize>,
}

/// Names of contexts that a cell has at most.
const MOST_NAMES: usize = 3;

impl Opened {
    /// The single calls of the experiment.
    ///
    /// # Errors
    /// When it has sums only.
    pub fn activations(&self) -> Result<&Activations, ServiceError> {
        let missing = || EngineError::Missing {
            what: "this experiment has no call instances with memory accesses".into(),
            hint: "open a recording of parallax.h (.plxm) or a database of Parceive".into(),
        };
        Ok(self.session.experiment().activations.as_deref().ok_or_else(missing)?)
    }

    /// Who reads and writes which variable or allocation, most accesses first. Columns:
    /// `reference`, `reference_id`, `storage`, `size_bytes`, `reads`, `writes`, `threads`,
    /// `read_in`, `written_in` (contexts), `allocated_in`, `allocated_line`.
    ///
    /// # Errors
    /// When accesses were not recorded, an expression is wrong, or the question is withdrawn.
    pub fn references(
        &self,
        request: &ReferencesRequest,
        control: &Control,
    ) -> Result<Answer<Table>, ServiceError> {
        let activations = self.activations()?;
        let session = &self.session;
        let contexts = session.tree();
        let mut notes = Vec::new();
        // By context: which expressions it is in.
        let mut wanted: Vec<Vec<usize>> = vec![Vec::new(); contexts.len()];
        for (number, text) in request.contexts.iter().enumerate() {
            let (chosen, more) = resolve_contexts(session, &parse_contexts(text)?, control)?;
            notes.extend(more);
            for context in chosen {
                let range = match request.is_inclusive {
                    true => contexts.subtree(context),
                    false => context.idx()..context.idx() + 1,
                };
                for slot in wanted.get_mut(range).into_iter().flatten() {
                    if slot.last() != Some(&number) {
                        slot.push(number);
                    }
                }
            }
        }
        let tree = &activations.tree;
        let mut uses: BTreeMap<ReferenceIdx, Use> = BTreeMap::new();
        control.begin(tree.len() as u64);
        for activation in tree.iter() {
            let touches = activations.touches.of(activation);
            control.advance(1).map_err(EngineError::from)?;
            let context = tree.context(activation);
            let of = wanted.get(context.idx()).map_or(&[][..], Vec::as_slice);
            if touches.is_empty() || (of.is_empty() && !request.contexts.is_empty()) {
                continue;
            }
            for touch in touches {
                let found = uses.entry(touch.reference).or_default();
                found.reads += u64::from(touch.reads);
                found.writes += u64::from(touch.writes);
                if touch.reads > 0 {
                    found.readers.insert(context);
                }
                if touch.writes > 0 {
                    found.writers.insert(context);
                }
                found.threads.insert(tree.thread(activation).get());
                found.of.extend(of);
            }
        }
        uses.retain(|_, found| found.of.len() >= request.contexts.len());
        let mut rows: Vec<(ReferenceIdx, Use)> = uses.into_iter().collect();
        rows.sort_by_key(|(reference, found)| {
            (u64::MAX - found.reads.saturating_add(found.writes), *reference)
        });
        if rows.is_empty() && request.contexts.len() > 1 {
            let how = if request.is_inclusive { "" } else { "; --inclusive adds their callees" };
            notes.push(format!("These contexts share no variable or allocation{how}."));
        }
        Ok(Answer { value: self.references_table(activations, &rows), notes })
    }

    fn references_table(&self, activations: &Activations, rows: &[(ReferenceIdx, Use)]) -> Table {
        let contexts = self.session.tree();
        let of = |row: &(ReferenceIdx, Use)| activations.reference(row.0);
        let name = |row: &(ReferenceIdx, Use)| reference_name(of(row));
        let names = |list: &BTreeSet<ContextIdx>| {
            let labels: Vec<_> =
                list.iter().take(MOST_NAMES).map(|&context| contexts.label(context)).collect();
            let more = list.len().saturating_sub(MOST_NAMES);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            labels.join(", ") + &more
        };
        let site = |site: &Option<Site>| {
            site.map(|site| path(contexts, activations.tree.context(site.activation)))
        };
        let number = |of: fn(&Use) -> u64| rows.iter().map(|(_, found)| of(found)).collect();
        let line =
            |row| of(row).allocated.map(|site| u64::from(site.line)).filter(|&line| line > 0);
        Table::new(vec![
            Column::strings("reference", "The variable or allocation.", rows.iter().map(name)),
            Column::u64s(
                "reference_id",
                "",
                "Id of it in the database.",
                rows.iter().map(|row| of(row).source_id).collect(),
            ),
            Column::strings(
                "storage",
                "Where it lies: stack, heap, static, global.",
                rows.iter().map(|row| of(row).storage.name()),
            ),
            Column::optional_u64s(
                "size_bytes",
                "bytes",
                "Its size.",
                rows.iter().map(|row| of(row).size_bytes),
            ),
            Column::u64s("reads", "", "How often it is read.", number(|found| found.reads)),
            Column::u64s("writes", "", "How often it is written.", number(|found| found.writes)),
            Column::u64s(
                "threads",
                "",
                "How many threads read or write it.",
                number(|found| found.threads.len() as u64),
            ),
            Column::strings(
                "read_in",
                "Contexts that read it, without what they call.",
                rows.iter().map(|(_, found)| names(&found.readers)),
            ),
            Column::strings(
                "written_in",
                "Contexts that write it, without what they call.",
                rows.iter().map(|(_, found)| names(&found.writers)),
            ),
            Column::optional_strings(
                "allocated_in",
                "The call path that allocates it; empty for variables.",
                rows.iter().map(|row| site(&of(row).allocated)),
            ),
            Column::optional_u64s(
                "allocated_line",
                "",
                "The line of the allocation, where it is known.",
                rows.iter().map(line),
            ),
        ])
    }

    /// The loops by call path, longest first. Columns: `loop`, `function`, `context`, `context_id`,
    /// `executions`, `iterations`, `iterations_min`, `iterations_max` (of one execution), `time_s`,
    /// `longest_s`, `share_percent` (of the time of all threads' entry calls).
    ///
    /// # Errors
    /// When single loops were not recorded, or the question is withdrawn.
    pub fn loops(&self, control: &Control) -> Result<Answer<Table>, ServiceError> {
        #[derive(Default)]
        struct Row {
            executions: u64,
            iterations: u64,
            fewest: u64,
            most: u64,
            nanos: u64,
            longest_nanos: u64,
        }
        let activations = self.activations()?;
        let (tree, contexts) = (&activations.tree, self.session.tree());
        let mut rows: BTreeMap<ContextIdx, Row> = BTreeMap::new();
        control.begin(tree.len() as u64);
        for activation in tree.iter() {
            control.advance(1).map_err(EngineError::from)?;
            if tree.kind(activation) != ActivationKind::LoopExecution {
                continue;
            }
            let is_iteration = |&child: &_| tree.kind(child) == ActivationKind::Iteration;
            let iterations = tree.children(activation).filter(is_iteration).count() as u64;
            let nanos = tree.nanos(activation);
            let row = rows.entry(tree.context(activation)).or_default();
            row.fewest = if row.executions == 0 { iterations } else { row.fewest.min(iterations) };
            row.most = row.most.max(iterations);
            row.executions += 1;
            row.iterations += iterations;
            row.nanos += nanos;
            row.longest_nanos = row.longest_nanos.max(nanos);
        }
        let mut notes = Vec::new();
        if rows.is_empty() {
            notes.push("No loop was executed.".to_owned());
        }
        let whole: u64 = tree.roots().map(|root| tree.nanos(root)).sum();
        let mut rows: Vec<(ContextIdx, Row)> = rows.into_iter().collect();
        rows.sort_by_key(|(context, row)| (u64::MAX - row.nanos, *context));
        let function = |context: ContextIdx| {
            contexts.enclosing_function(context).map_or_else(String::new, |f| contexts.label(f))
        };
        let number =
            |of: fn(&Row) -> u64| -> Vec<u64> { rows.iter().map(|(_, r)| of(r)).collect() };
        let seconds = |of: fn(&Row) -> u64| -> Vec<f64> {
            rows.iter().map(|(_, row)| of(row) as f64 / 1e9).collect()
        };
        let share = |(_, row): &(ContextIdx, Row)| match whole {
            0 => 0.0,
            whole => row.nanos as f64 / whole as f64 * 100.0,
        };
        let value = Table::new(vec![
            Column::strings("loop", "The loop.", rows.iter().map(|(c, _)| contexts.label(*c))),
            Column::strings(
                "function",
                "The function it is in.",
                rows.iter().map(|(c, _)| function(*c)),
            ),
            Column::strings(
                "context",
                "Its call path.",
                rows.iter().map(|(c, _)| path(contexts, *c)),
            ),
            Column::u32s(
                "context_id",
                "Id of it in the database.",
                rows.iter().map(|(c, _)| contexts.source_id(*c)).collect(),
            ),
            Column::u64s("executions", "", "How often it was entered.", number(|r| r.executions)),
            Column::u64s("iterations", "", "Passes of its body.", number(|r| r.iterations)),
            Column::u64s(
                "iterations_min",
                "",
                "Iterations of the execution with the fewest.",
                number(|r| r.fewest),
            ),
            Column::u64s(
                "iterations_max",
                "",
                "Iterations of the execution with the most.",
                number(|r| r.most),
            ),
            Column::f64s(
                "time_s",
                "s",
                "Time from entering to leaving it, with what it calls.",
                seconds(|r| r.nanos),
            ),
            Column::f64s("longest_s", "s", "Its longest execution.", seconds(|r| r.longest_nanos)),
            Column::f64s(
                "share_percent",
                "%",
                "Of the time of the entry calls of all threads.",
                rows.iter().map(share).collect(),
            ),
        ]);
        Ok(Answer { value, notes })
    }
}
