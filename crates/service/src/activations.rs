//! Who reads and writes what, and which loops there are: the answers of `references` and `loops`.

use std::collections::{BTreeMap, BTreeSet};

use parallax_base::{ContextIdx, Control, ReferenceIdx};
use parallax_engine::EngineError;
use parallax_engine::query::parse_contexts;
use parallax_engine::resolve::resolve_contexts;
use parallax_model::{ActivationKind, Activations, LOCALS_NOT_RECORDED, LOOPS_NOT_RECORDED};
use parallax_protocol::{
    AccessRow, AccessTable, Answer, LoopRow, LoopsRequest, LoopsTables, NotesReply,
    ReferencesRequest, ReferencesTables,
};

use crate::entities::name as reference_name;
use crate::timeline::path;
use crate::{Answers, OpenExperiment, ServiceError};

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

impl OpenExperiment {
    /// The single calls of the experiment.
    ///
    /// Whoever answers asks for them again at the end: then all that the answer was made of could
    /// be read.
    ///
    /// # Errors
    /// When it has sums only, or something of them could not be read.
    pub fn activations(&self) -> Result<&Activations, ServiceError> {
        let missing = || EngineError::Missing {
            what: "this experiment has no call instances with memory accesses".into(),
            hint: "open a recording of parallax.h (.plxm) or a database of Parceive".into(),
        };
        let found = self.session.experiment().activations.as_deref().ok_or_else(missing)?;
        found.check().map_err(EngineError::from)?;
        Ok(found)
    }

    /// A sentence where loops are absent because they were not recorded.
    pub(crate) fn without_loops(&self) -> Option<String> {
        let issues = self.session.experiment().issues.list();
        issues.iter().any(|issue| issue.kind == LOOPS_NOT_RECORDED).then(|| {
            "Loops were not recorded: compile the program again with this version of Parallax, or \
             mark the loops."
                .to_owned()
        })
    }

    /// Whether iterations may depend on each other through variables that were not recorded.
    pub(crate) fn is_without_locals(&self) -> bool {
        let issues = self.session.experiment().issues.list();
        issues.iter().any(|issue| issue.kind == LOCALS_NOT_RECORDED)
    }
}

impl Answers<ReferencesRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &ReferencesRequest,
        control: &Control,
    ) -> Result<Answer<ReferencesRequest>, ServiceError> {
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
            if touches.len() == 0 || (of.is_empty() && !request.contexts.is_empty()) {
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
            let how = match request.is_inclusive {
                true => "",
                false => "; what they call is not included",
            };
            notes.push(format!("These contexts share no variable or allocation{how}."));
        }
        let rows = self.access_table(activations, &rows);
        self.activations()?;
        Ok(Answer::new(NotesReply { notes }, ReferencesTables { rows }))
    }
}

impl OpenExperiment {
    fn access_table(&self, activations: &Activations, rows: &[(ReferenceIdx, Use)]) -> AccessTable {
        let contexts = self.session.tree();
        let names = |list: &BTreeSet<ContextIdx>| {
            let labels: Vec<_> =
                list.iter().take(MOST_NAMES).map(|&context| contexts.label(context)).collect();
            let more = list.len().saturating_sub(MOST_NAMES);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            labels.join(", ") + &more
        };
        let row = |(reference, found): &(ReferenceIdx, Use)| {
            let of = activations.reference(*reference);
            let line = of.allocated.map(|site| u64::from(site.line));
            AccessRow {
                reference: reference_name(&of),
                reference_id: of.source_id,
                storage: of.storage.name(),
                size_bytes: of.size_bytes,
                reads: found.reads,
                writes: found.writes,
                threads: found.threads.len() as u64,
                read_in: names(&found.readers),
                written_in: names(&found.writers),
                allocated_in: of
                    .allocated
                    .map(|site| path(contexts, activations.tree.context(site.activation))),
                allocated_line: line.filter(|&line| line > 0),
            }
        };
        rows.iter().map(row).collect()
    }
}

impl Answers<LoopsRequest> for OpenExperiment {
    fn answer(
        &self,
        _: &LoopsRequest,
        control: &Control,
    ) -> Result<Answer<LoopsRequest>, ServiceError> {
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
            let absent = self.without_loops();
            notes.push(absent.unwrap_or_else(|| "No loop was executed.".to_owned()));
        }
        let whole: u64 = tree.roots().map(|root| tree.nanos(root)).sum();
        let mut rows: Vec<(ContextIdx, Row)> = rows.into_iter().collect();
        rows.sort_by_key(|(context, row)| (u64::MAX - row.nanos, *context));
        let function = |context: ContextIdx| {
            contexts.enclosing_function(context).map_or_else(String::new, |f| contexts.label(f))
        };
        let share = |nanos: u64| match whole {
            0 => 0.0,
            whole => nanos as f64 / whole as f64 * 100.0,
        };
        let loop_row = |(context, row): &(ContextIdx, Row)| LoopRow {
            r#loop: contexts.label(*context),
            function: function(*context),
            context: path(contexts, *context),
            context_id: contexts.source_id(*context),
            executions: row.executions,
            iterations: row.iterations,
            iterations_min: row.fewest,
            iterations_max: row.most,
            time_s: row.nanos as f64 / 1e9,
            longest_s: row.longest_nanos as f64 / 1e9,
            share_percent: share(row.nanos),
        };
        let rows = rows.iter().map(loop_row).collect();
        self.activations()?;
        Ok(Answer::new(NotesReply { notes }, LoopsTables { rows }))
    }
}
