//! Threads, functions, files and tags as rows.

use parallax_base::{ActivationIdx, FileIdx, FunctionIdx};
use parallax_engine::Session;
use parallax_model::{ActivationKind, Function, Tag, Thread};
use parallax_protocol::{EntityKind, EntityTable, FileTable, FunctionTable, TagTable, ThreadTable};

use super::nodes::function_of;
use super::{Rows, Run};

impl Run<'_> {
    /// Entities of a kind of which there is one row for each number.
    pub(super) fn catalog(
        self,
        kind: EntityKind,
        rows: &Rows<u32>,
        session: &Session,
        is_related: bool,
    ) -> EntityTable {
        let (of, ids) = (rows.of(is_related), rows.list.as_slice());
        match kind {
            EntityKind::Function => {
                EntityTable::Functions(FunctionTable { of, ..self.function_table(ids) })
            }
            EntityKind::File => EntityTable::Files(FileTable { of, ..self.file_table(ids) }),
            EntityKind::Tag => EntityTable::Tags(TagTable { of, ..self.tag_table(ids) }),
            _ => EntityTable::Threads(ThreadTable { of, ..self.thread_table(ids, session) }),
        }
    }

    fn thread_table(self, ids: &[u32], session: &Session) -> ThreadTable {
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
        ThreadTable {
            of: None,
            thread: ids.to_vec(),
            name: threads.iter().map(|thread| locations.label(thread.location)).collect(),
            entry: of_entry(&|entry| u64::from(entry.get())),
            creator: optional(&|thread| thread.creator.map(|by| u64::from(by.thread.get()))),
            created_by: optional(&|thread| {
                thread.creator.map(|by| u64::from(by.site.activation.get()))
            }),
            created_line: optional(&|thread| {
                thread.creator.map(|by| u64::from(by.site.line)).filter(|&line| line > 0)
            }),
            start_ns: of_entry(&|entry| tree.time(entry).start_nanos.saturating_sub(origin)),
            length_ns: of_entry(&|entry| tree.nanos(entry)),
            calls: ids.iter().map(|&id| calls.get(id as usize).copied().unwrap_or(0)).collect(),
            source_id: threads.iter().map(|thread| thread.source_id).collect(),
        }
    }

    fn function_table(self, ids: &[u32]) -> FunctionTable {
        let times = self.function_times();
        let of = |id: &u32| times.get(*id as usize).copied().unwrap_or_default();
        let functions: Vec<&Function> =
            ids.iter().filter_map(|&id| self.contexts.functions().get(id as usize)).collect();
        let path = |function: &&Function| {
            let file = function.file.and_then(|file| self.contexts.files().get(file.idx()));
            file.map(|file| file.path.to_string())
        };
        let defined = functions.iter();
        FunctionTable {
            of: None,
            function: ids.to_vec(),
            name: defined.clone().map(|one| one.name.to_string()).collect(),
            file: defined.clone().map(|one| one.file.map(|file| u64::from(file.get()))).collect(),
            path: defined.clone().map(path).collect(),
            line: defined.map(|one| (one.line > 0).then_some(u64::from(one.line))).collect(),
            calls: ids.iter().map(|id| of(id).0).collect(),
            time_ns: ids.iter().map(|id| of(id).1).collect(),
        }
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

    fn file_table(self, ids: &[u32]) -> FileTable {
        let files = self.contexts.files();
        let path = |id: &u32| {
            files.get(*id as usize).map_or_else(String::new, |file| file.path.to_string())
        };
        let functions = |id: &u32| {
            let is_here = |function: &&Function| function.file == Some(FileIdx::new(*id));
            self.contexts.functions().iter().filter(is_here).count() as u64
        };
        FileTable {
            of: None,
            file: ids.to_vec(),
            path: ids.iter().map(path).collect(),
            functions: ids.iter().map(functions).collect(),
        }
    }

    fn tag_table(self, ids: &[u32]) -> TagTable {
        let origin = self.activations.tree.span().start_nanos;
        let tags: Vec<&Tag> =
            ids.iter().filter_map(|&id| self.activations.tags.get(id as usize)).collect();
        TagTable {
            of: None,
            tag: ids.to_vec(),
            name: tags.iter().map(|tag| tag.name.to_string()).collect(),
            what: tags.iter().map(|tag| tag.kind.to_string()).collect(),
            thread: tags.iter().map(|t| t.thread.map(|thread| u64::from(thread.get()))).collect(),
            start_ns: tags.iter().map(|tag| tag.start_nanos.saturating_sub(origin)).collect(),
            length_ns: tags
                .iter()
                .map(|tag| tag.end_nanos.saturating_sub(tag.start_nanos))
                .collect(),
            counter: tags.iter().map(|tag| tag.counter).collect(),
            activation: tags.iter().map(|tag| tag.activation.map(|a| u64::from(a.get()))).collect(),
        }
    }
}
