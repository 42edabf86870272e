//! Threads, functions, files and tags as rows.

use parallax_base::{ActivationIdx, FileIdx, FunctionIdx};
use parallax_engine::{Column, Session};
use parallax_model::{ActivationKind, Function, Tag, Thread};

use super::nodes::function_of;
use super::{EntitiesAnswer, EntityKind, Rows, Run};

impl Run<'_> {
    /// Entities of a kind of which there is one row for each number.
    pub(super) fn catalog(
        self,
        kind: EntityKind,
        rows: &Rows<u32>,
        session: &Session,
        is_related: bool,
    ) -> EntitiesAnswer {
        let ids = &rows.list;
        let mut columns = match kind {
            EntityKind::Function => self.function_columns(ids),
            EntityKind::File => self.file_columns(ids),
            EntityKind::Tag => self.tag_columns(ids),
            _ => self.thread_columns(ids, session),
        };
        if is_related {
            let doc = "The entity of the question that the row belongs to.";
            columns.insert(0, Column::u32s("of", doc, rows.of.clone()));
        }
        EntitiesAnswer { table: parallax_engine::Table::new(columns), left_out: rows.left_out }
    }

    fn thread_columns(self, ids: &[u32], session: &Session) -> Vec<Column> {
        let tree = &self.activations.tree;
        let origin = tree.span().start_nanos;
        let threads: Vec<&Thread> =
            ids.iter().filter_map(|&id| self.activations.threads.get(id as usize)).collect();
        let locations = &session.experiment().locations;
        let mut calls = vec![0_u64; self.activations.threads.len()];
        for call in tree.iter().filter(|&one| tree.kind(one) == ActivationKind::Call) {
            if let Some(count) = calls.get_mut(tree.thread(call).idx()) {
                *count += 1;
            }
        }
        let optional = |of: &dyn Fn(&Thread) -> Option<u64>| -> Vec<Option<u64>> {
            threads.iter().map(|thread| of(thread)).collect()
        };
        let of_entry = |of: &dyn Fn(ActivationIdx) -> u64| optional(&|t| t.entry.map(of));
        vec![
            Column::u32s("thread", "Number of the thread.", ids.to_vec()),
            Column::strings(
                "name",
                "What it is called.",
                threads.iter().map(|thread| locations.label(thread.location)),
            ),
            Column::optional_u64s(
                "entry",
                "",
                "Its entry call.",
                of_entry(&|entry| u64::from(entry.get())),
            ),
            Column::optional_u64s(
                "creator",
                "",
                "The thread that started it.",
                optional(&|thread| thread.creator.map(|by| u64::from(by.thread.get()))),
            ),
            Column::optional_u64s(
                "created_by",
                "",
                "The activation that started it.",
                optional(&|thread| thread.creator.map(|by| u64::from(by.site.activation.get()))),
            ),
            Column::optional_u64s(
                "created_line",
                "",
                "The line where it was started.",
                optional(&|thread| {
                    thread.creator.map(|by| u64::from(by.site.line)).filter(|&line| line > 0)
                }),
            ),
            Column::optional_u64s(
                "start_ns",
                "ns",
                "Start of its entry call since that of the run.",
                of_entry(&|entry| tree.time(entry).start_nanos.saturating_sub(origin)),
            ),
            Column::optional_u64s(
                "length_ns",
                "ns",
                "Time of its entry call.",
                of_entry(&|entry| tree.nanos(entry)),
            ),
            Column::u64s(
                "calls",
                "",
                "Calls that it executes.",
                ids.iter().map(|&id| calls.get(id as usize).copied().unwrap_or(0)).collect(),
            ),
            Column::u64s(
                "source_id",
                "",
                "Number in the database.",
                threads.iter().map(|thread| thread.source_id).collect(),
            ),
        ]
    }

    fn function_columns(self, ids: &[u32]) -> Vec<Column> {
        let times = self.function_times();
        let of = |id: &u32| times.get(*id as usize).copied().unwrap_or_default();
        let functions: Vec<&Function> =
            ids.iter().filter_map(|&id| self.contexts.functions().get(id as usize)).collect();
        let path = |function: &&Function| {
            let file = function.file.and_then(|file| self.contexts.files().get(file.idx()));
            file.map(|file| file.path.to_string())
        };
        vec![
            Column::u32s("function", "Number of the function.", ids.to_vec()),
            Column::strings("name", "Its name.", functions.iter().map(|one| one.name.to_string())),
            Column::optional_u64s(
                "file",
                "",
                "The file that it is defined in.",
                functions.iter().map(|one| one.file.map(|file| u64::from(file.get()))),
            ),
            Column::optional_strings("path", "Path of the file.", functions.iter().map(path)),
            Column::optional_u64s(
                "line",
                "",
                "Line of the definition.",
                functions.iter().map(|one| (one.line > 0).then_some(u64::from(one.line))),
            ),
            Column::u64s("calls", "", "Calls of it.", ids.iter().map(|id| of(id).0).collect()),
            Column::u64s(
                "time_ns",
                "ns",
                "Time in it, with what it calls; a call inside another one of it counts once.",
                ids.iter().map(|id| of(id).1).collect(),
            ),
        ]
    }

    /// Calls and nanoseconds of each function. What a recursive call takes is in the outermost one:
    /// positions below that one are passed over.
    fn function_times(self) -> Vec<(u64, u64)> {
        let tree = &self.activations.tree;
        let mut times = vec![(0_u64, 0_u64); self.contexts.functions().len()];
        let mut ends = vec![0_usize; times.len()];
        for call in tree.iter().filter(|&one| tree.kind(one) == ActivationKind::Call) {
            let Some(function) = function_of(self, call).map(FunctionIdx::idx) else { continue };
            let (Some(time), Some(end)) = (times.get_mut(function), ends.get_mut(function)) else {
                continue;
            };
            time.0 += 1;
            if call.idx() >= *end {
                time.1 += tree.nanos(call);
                *end = tree.subtree(call).end;
            }
        }
        times
    }

    fn file_columns(self, ids: &[u32]) -> Vec<Column> {
        let files = self.contexts.files();
        let path = |id: &u32| files.get(*id as usize).map_or("", |file| &*file.path);
        let functions = |id: &u32| {
            let is_here = |function: &&Function| function.file == Some(FileIdx::new(*id));
            self.contexts.functions().iter().filter(is_here).count() as u64
        };
        vec![
            Column::u32s("file", "Number of the file.", ids.to_vec()),
            Column::strings("path", "Its path.", ids.iter().map(path)),
            Column::u64s(
                "functions",
                "",
                "Functions that are defined in it.",
                ids.iter().map(functions).collect(),
            ),
        ]
    }

    fn tag_columns(self, ids: &[u32]) -> Vec<Column> {
        let origin = self.activations.tree.span().start_nanos;
        let tags: Vec<&Tag> =
            ids.iter().filter_map(|&id| self.activations.tags.get(id as usize)).collect();
        vec![
            Column::u32s("tag", "Number of the mark.", ids.to_vec()),
            Column::strings("name", "Its name.", tags.iter().map(|tag| &*tag.name)),
            Column::strings("what", "What it marks.", tags.iter().map(|tag| &*tag.kind)),
            Column::optional_u64s(
                "thread",
                "",
                "Its thread.",
                tags.iter().map(|tag| tag.thread.map(|thread| u64::from(thread.get()))),
            ),
            Column::u64s(
                "start_ns",
                "ns",
                "Start since that of the run.",
                tags.iter().map(|tag| tag.start_nanos.saturating_sub(origin)).collect(),
            ),
            Column::u64s(
                "length_ns",
                "ns",
                "How long it lasts.",
                tags.iter().map(|tag| tag.end_nanos.saturating_sub(tag.start_nanos)).collect(),
            ),
            Column::u64s(
                "counter",
                "",
                "Which one of its name it is.",
                tags.iter().map(|tag| tag.counter).collect(),
            ),
        ]
    }
}
