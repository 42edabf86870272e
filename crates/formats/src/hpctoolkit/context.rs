//! The Context section of `meta.db`: the calling context tree, in depth-first columns.

use std::collections::HashSet;
use std::sync::Arc;

use parallax_base::{Issues, Limits, Place, Severity, Stage};

use super::header::{FileKind, Section};
use super::layout::{
    HAS_FUNCTION, HAS_POINT, HAS_SOURCE, context, contexts, draft_context, draft_contexts, entry,
};
use super::names::Names;
use super::record::{Record, Table};

/// "None" in a column of indices.
pub const NONE: u32 = u32::MAX;

/// How a thread came to run the code below an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoint {
    /// Position of the entry in the columns of [`Contexts`].
    pub position: u32,
    /// 0 unknown, 1 main thread, 2 application thread.
    pub code: u16,
    /// Its name for users, such as `main thread`.
    pub name: Arc<str>,
}

/// The calling context tree in depth-first order: a parent comes before its children, and the
/// contexts below one are contiguous. All columns have the same length.
///
/// The implicit global context (id 0) is not part of it; entries have no parent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contexts {
    /// Context id, as values and samples name it. Not in order, distinct.
    pub id: Vec<u32>,
    /// Position of the parent; [`NONE`] for entries.
    pub parent: Vec<u32>,
    /// 0 for entries.
    pub depth: Vec<u32>,
    /// Relation to the parent: 0 lexical, 1 call, 2 inlined call.
    pub relation: Vec<u8>,
    /// What it is: 0 function, 1 loop, 2 line, 3 instruction; 255 for entries.
    pub lexical_type: Vec<u8>,
    /// Bits of the transitive scopes that propagate from it to its parent.
    pub propagation: Vec<u16>,
    /// Row of the function table, or [`NONE`].
    pub function: Vec<u32>,
    /// Row of the source file table, or [`NONE`].
    pub file: Vec<u32>,
    /// Source line; 0 when unknown.
    pub line: Vec<u32>,
    /// Row of the module table, or [`NONE`].
    pub module: Vec<u32>,
    /// Offset of the instruction in the module; 0 when unknown.
    pub offset: Vec<u64>,
    /// The entries among them.
    pub entries: Vec<EntryPoint>,
}

impl Contexts {
    /// The lexical type that marks entries.
    pub const ENTRY: u8 = 255;

    /// Number of contexts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    fn push_entry(&mut self, id: u32, code: u16, name: Arc<str>) -> u32 {
        let position = u32::try_from(self.len()).unwrap_or(NONE);
        self.entries.push(EntryPoint { position, code, name });
        self.id.push(id);
        self.parent.push(NONE);
        self.depth.push(0);
        self.relation.push(0);
        self.lexical_type.push(Self::ENTRY);
        self.propagation.push(0);
        self.function.push(NONE);
        self.file.push(NONE);
        self.line.push(0);
        self.module.push(NONE);
        self.offset.push(0);
        position
    }
}

/// The tables that contexts point into.
pub(super) struct Tables {
    pub(super) functions: Table,
    pub(super) files: Table,
    pub(super) modules: Table,
}

/// Reads the tree with an explicit stack.
///
/// An array of children that leaves the section, or overlaps one that was read before (a cycle is
/// a case of that), is left out and reported; so are contexts with an id that was used before.
pub(super) fn read(
    meta: Record<'_>,
    names: &mut Names<'_>,
    section: Section,
    tables: &Tables,
    is_draft: bool,
    limits: &Limits,
    issues: &mut Issues,
) -> Contexts {
    // Columns take about 48 bytes for each context, which itself takes at least 24 in the file.
    let room = (section.size / draft_context::SIZE).min(limits.metadata_bytes / 64);
    let mut walk = Walk {
        meta,
        section,
        tables,
        is_draft,
        issues,
        out: Contexts::default(),
        visited: Bits::new(section.size / 8 + 1),
        dense_ids: Bits::new(section.size),
        other_ids: HashSet::new(),
        stack: Vec::new(),
        room,
        max_depth: limits.max_depth,
    };
    if is_draft {
        let size = meta.u64(section.start + draft_contexts::ROOTS_SIZE).unwrap_or(0);
        let start = meta.u64(section.start + draft_contexts::ROOTS).unwrap_or(0);
        walk.stack.push(Frame { at: start, end: start.saturating_add(size), parent: NONE });
        if walk.accepts(section.start, start, size) {
            walk.run();
        }
        return walk.out;
    }
    let entries = meta.u64(section.start + contexts::ENTRIES).unwrap_or(0);
    let count = meta.u16(section.start + contexts::COUNT).unwrap_or(0).into();
    let stride = meta.u8(section.start + contexts::STRIDE).unwrap_or(0).into();
    if count > 0 && stride < entry::SIZE {
        walk.fault("context-record", section.start, || {
            format!("entry records of {stride} bytes are too short for their {} bytes", entry::SIZE)
        });
        return walk.out;
    }
    let (table, lost) = Table::clamped(entries, count, stride, meta.len());
    if lost > 0 {
        walk.fault("context-record", entries, || {
            format!("{lost} of {count} entries lie outside the file")
        });
    }
    for i in 0..table.len {
        let at = table.at(i);
        let id = meta.u32(at + entry::ID).unwrap_or(0);
        let code = meta.u16(at + entry::CODE).unwrap_or(0);
        let name = meta.u64(at + entry::NAME).unwrap_or(0);
        let name = names.get(name).unwrap_or_else(|| match code {
            1 => "main thread".into(),
            2 => "application thread".into(),
            _ => "unknown entry".into(),
        });
        if !walk.claim_id(at, id) {
            continue;
        }
        let position = walk.out.push_entry(id, code, name);
        walk.push_children(at, position);
        walk.run();
    }
    walk.out
}

/// A run of siblings of which some are still to be read.
struct Frame {
    at: u64,
    end: u64,
    parent: u32,
}

struct Walk<'a, 'i> {
    meta: Record<'a>,
    section: Section,
    tables: &'i Tables,
    is_draft: bool,
    issues: &'i mut Issues,
    out: Contexts,
    /// One bit for each 8 bytes of the section at which a context was read.
    visited: Bits,
    /// One bit for each context id that was used. Ids are dense over the execution and most
    /// contexts are in the tree, so ids are smaller than the bytes of the section.
    dense_ids: Bits,
    /// Larger ids, of damaged files.
    other_ids: HashSet<u32>,
    stack: Vec<Frame>,
    /// Contexts that may still be kept.
    room: u64,
    max_depth: u32,
}

impl Walk<'_, '_> {
    fn fault(&mut self, kind: &'static str, offset: u64, what: impl FnOnce() -> String) {
        let place = Place::Byte { file: FileKind::Meta.file_name().into(), offset };
        self.issues.report(Severity::Error, Stage::Read, kind, place, what);
    }

    /// Whether the array of children of the record at `at` lies inside the section.
    fn accepts(&mut self, at: u64, start: u64, size: u64) -> bool {
        let inside = start >= self.section.start
            && start.checked_add(size).is_some_and(|end| end <= self.section.end());
        if size > 0 && !inside {
            self.fault("child-outside-section", at, || {
                format!(
                    "children of {size} bytes at offset {start} leave the Context section; \
                     they are omitted"
                )
            });
        }
        size > 0 && inside
    }

    /// Children are tested by their size: writers leave stale pointers where there are none.
    fn push_children(&mut self, at: u64, parent: u32) {
        const { assert!(entry::CHILDREN_SIZE == context::CHILDREN_SIZE) };
        const { assert!(entry::CHILDREN == context::CHILDREN) };
        let size = self.meta.u64(at + context::CHILDREN_SIZE).unwrap_or(0);
        let start = self.meta.u64(at + context::CHILDREN).unwrap_or(0);
        if !self.accepts(at, start, size) {
            return;
        }
        if self.stack.len() as u64 > u64::from(self.max_depth) {
            self.fault("too-deep", at, || "the tree is too deep; the rest is omitted".into());
            return;
        }
        self.stack.push(Frame { at: start, end: start + size, parent });
    }

    /// Whether `id` is new. 0 is the implicit global context and must not be in the tree.
    fn claim_id(&mut self, at: u64, id: u32) -> bool {
        let is_dense = u64::from(id) < self.section.size;
        if id != 0
            && if is_dense {
                self.dense_ids.insert(u64::from(id))
            } else {
                self.other_ids.insert(id)
            }
        {
            return true;
        }
        self.fault("context-id-twice", at, || {
            format!("context id {id} is used twice; the second is omitted with what is below it")
        });
        false
    }

    fn run(&mut self) {
        let fixed = if self.is_draft { draft_context::SIZE } else { context::SIZE };
        while let Some(frame) = self.stack.last_mut() {
            let (at, end, parent) = (frame.at, frame.end, frame.parent);
            if at >= end {
                self.stack.pop();
                continue;
            }
            let words = self.meta.u8(at + context::NUM_WORDS).unwrap_or(0);
            let size = fixed + 8 * u64::from(words);
            frame.at = at + size;
            if at + size > end {
                self.stack.pop();
                self.fault("context-record", at, || {
                    format!("a context of {size} bytes leaves the array that ends at {end}")
                });
                continue;
            }
            // Contexts start on 8-byte boundaries; of others, the containing word is marked.
            if !self.visited.insert((at - self.section.start) / 8) {
                self.stack.pop();
                self.fault("context-twice", at, || {
                    "an array of children overlaps another (a cycle?); the rest of it is omitted"
                        .into()
                });
                continue;
            }
            if self.room == 0 {
                self.stack.clear();
                self.fault("too-many-contexts", at, || {
                    "the tree has more contexts than the memory limit allows; the rest is omitted"
                        .into()
                });
                return;
            }
            self.room -= 1;
            let id = self.meta.u32(at + context::ID).unwrap_or(0);
            if self.claim_id(at, id) {
                let position = self.push(at, fixed, u64::from(words), id, parent);
                self.push_children(at, position);
            }
        }
    }

    fn push(&mut self, at: u64, fixed: u64, words: u64, id: u32, parent: u32) -> u32 {
        let meta = self.meta;
        let flags = meta.u8(at + context::FLAGS).unwrap_or(0);
        let (mut function, mut file, mut line) = (NONE, NONE, 0);
        let (mut module, mut offset) = (NONE, 0);
        let mut word = 0;
        let mut take = |count: u64| {
            let start = at + fixed + 8 * word;
            word += count;
            (word <= words).then_some(start)
        };
        let mut missing = false;
        if flags & HAS_FUNCTION != 0 {
            match take(1) {
                Some(at) => function = self.row(at, self.tables.functions, "function"),
                None => missing = true,
            }
        }
        if flags & HAS_SOURCE != 0 {
            match take(2) {
                Some(at) => {
                    file = self.row(at, self.tables.files, "source file");
                    line = meta.u32(at + 8).unwrap_or(0);
                }
                None => missing = true,
            }
        }
        if flags & HAS_POINT != 0 {
            match take(2) {
                Some(at) => {
                    module = self.row(at, self.tables.modules, "module");
                    offset = meta.u64(at + 8).unwrap_or(0);
                }
                None => missing = true,
            }
        }
        if missing {
            self.fault("context-record", at, || {
                format!("a context with flags {flags:#x} has only {words} words; some are missing")
            });
        }
        let depth =
            self.out.depth.get(parent as usize).map_or(0, |depth: &u32| depth.saturating_add(1));
        let position = u32::try_from(self.out.len()).unwrap_or(NONE);
        let out = &mut self.out;
        out.id.push(id);
        out.parent.push(parent);
        out.depth.push(depth);
        out.relation.push(meta.u8(at + context::RELATION).unwrap_or(0));
        // No writer uses 255, which marks entries here.
        let lexical_type = meta.u8(at + context::LEXICAL_TYPE).unwrap_or(0);
        out.lexical_type.push(lexical_type.min(Contexts::ENTRY - 1));
        let propagation = if self.is_draft { None } else { meta.u16(at + context::PROPAGATION) };
        out.propagation.push(propagation.unwrap_or(0));
        out.function.push(function);
        out.file.push(file);
        out.line.push(line);
        out.module.push(module);
        out.offset.push(offset);
        position
    }

    /// The row that the pointer at `at` names; [`NONE`] with a report when it names none.
    fn row(&mut self, at: u64, table: Table, what: &str) -> u32 {
        let pointer = self.meta.u64(at).unwrap_or(0);
        let row = table.index_of(pointer).and_then(|i| u32::try_from(i).ok());
        row.unwrap_or_else(|| {
            self.fault("dangling-pointer", at, || {
                format!("offset {pointer} is not the start of a {what}; the context has none now")
            });
            NONE
        })
    }
}

/// A set of small numbers. Grows with the largest member, so a claim costs nothing by itself.
struct Bits {
    words: Vec<u64>,
    limit: u64,
}

impl Bits {
    fn new(limit: u64) -> Self {
        Self { words: Vec::new(), limit }
    }

    /// Adds `member`; false when it was there already or is past the limit.
    fn insert(&mut self, member: u64) -> bool {
        if member >= self.limit {
            return false;
        }
        let Ok(word) = usize::try_from(member / 64) else { return false };
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let bit = 1 << (member % 64);
        let Some(slot) = self.words.get_mut(word) else { return false };
        let is_new = *slot & bit == 0;
        *slot |= bit;
        is_new
    }
}
