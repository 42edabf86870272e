//! meta.db: names, metrics and the context tree.

use std::collections::HashMap;

use super::bytes::{Bytes, Section};
use super::database::{
    Context, ContextKind, Database, LexicalType, Numbering, Relation, Scope, u16_of, u32_of,
};
use super::files::{Layout, WriteOptions};

const HEADER: u64 = 0x90;
const DESCRIPTION: &str = "TODO database description";
const DRAFT_ROOT: &str = "<program root>";

/// A pool of strings; every text is stored once.
///
/// Writers keep the strings of General, IdNames and Metrics inside these sections, and some readers
/// rely on it; all others stand in Strings.
struct Strings {
    bytes: Bytes,
    places: HashMap<String, u64>,
}

impl Strings {
    /// The pool of these texts, whose first byte stands at a file offset.
    fn at<'a>(place: u64, texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut strings = Self { bytes: Bytes::at(place), places: HashMap::new() };
        for text in texts {
            if !strings.places.contains_key(text) {
                strings.places.insert(text.to_owned(), strings.bytes.end());
                strings.bytes.raw(text.as_bytes()).u8(0);
            }
        }
        strings
    }

    fn place(&self, text: &str) -> u64 {
        let place = self.places.get(text);
        assert!(place.is_some(), "{text:?} was not put into the pool");
        place.copied().unwrap_or(0)
    }

    /// Where the records that follow the pool begin.
    fn records(&self) -> u64 {
        self.bytes.end().next_multiple_of(8)
    }

    fn write(&self, out: &mut Bytes) {
        out.raw(self.bytes.as_slice());
    }
}

/// The bytes of meta.db.
pub(crate) fn encode(database: &Database, options: &WriteOptions) -> Vec<u8> {
    let mut out = Bytes::at(HEADER);
    let general = section(&mut out, |out| {
        let strings = Strings::at(out.end() + 16, [database.title.as_str(), DESCRIPTION]);
        out.u64(strings.place(&database.title)).u64(strings.place(DESCRIPTION));
        strings.write(out);
    });
    let id_names = section(&mut out, |out| {
        let kinds = &database.id_kinds;
        let strings = Strings::at(out.end() + 9, kinds.iter().map(String::as_str));
        out.u64(strings.records()).u8(u16_of(kinds.len()) as u8);
        strings.write(out);
        out.align(8);
        for kind in kinds {
            out.u64(strings.place(kind));
        }
    });
    let metrics = section(&mut out, |out| match options.layout {
        Layout::Final => final_metrics(database, out),
        Layout::Draft => draft_metrics(database, out),
    });
    let strings = Strings::at(out.end(), pooled(database, options.layout));
    strings.write(&mut out);
    let strings_section = Section::between(metrics.start + metrics.size, out.end());
    let modules = section(&mut out, |out| {
        table(out, database.modules.len(), 16);
        for module in &database.modules {
            out.u64(0).u64(strings.place(module));
        }
    });
    let first_module = modules.start + 16;
    let files = section(&mut out, |out| {
        table(out, database.files.len(), 16);
        for file in &database.files {
            out.u32(u32::from(file.copied)).u32(0).u64(strings.place(&file.path));
        }
    });
    let first_file = files.start + 16;
    let functions = section(&mut out, |out| {
        let draft_root = options.layout == Layout::Draft;
        table(out, database.functions.len() + usize::from(draft_root), 40);
        for function in &database.functions {
            out.u64(function.name.as_ref().map_or(0, |name| strings.place(name)));
            let (module, offset) = function.module.unzip();
            out.u64(module.map_or(0, |m| item(first_module, m, database.modules.len(), 16)));
            out.u64(offset.unwrap_or(0));
            let (file, line) = function.source.unzip();
            out.u64(file.map_or(0, |f| item(first_file, f, database.files.len(), 16)));
            out.u32(line.unwrap_or(0)).u32(0);
        }
        if draft_root {
            out.u64(strings.place(DRAFT_ROOT)).raw(&[0; 32]);
        }
    });
    let contexts = section(&mut out, |out| {
        let places = Pointers { first_module, first_file, first_function: functions.start + 16 };
        Contexts { database, strings: &strings, places, layout: options.layout }
            .encode(out, options.elide_instructions);
    });
    out.raw(b"_meta.db");

    let sections =
        [general, id_names, metrics, contexts, strings_section, modules, files, functions];
    let mut file = Bytes::header(*b"meta", &sections, HEADER as usize);
    file.raw(out.as_slice());
    file.into_vec()
}

/// The texts of the section Strings.
fn pooled(database: &Database, layout: Layout) -> impl Iterator<Item = &str> {
    // The draft has no entry points: its roots are contexts of a placeholder function.
    let is_draft = layout == Layout::Draft;
    let entries = database.contexts.iter().filter_map(move |context| match &context.kind {
        ContextKind::Entry { name, .. } if !is_draft => Some(name.as_str()),
        _ => None,
    });
    let functions = database.functions.iter().filter_map(|function| function.name.as_deref());
    let modules = database.modules.iter().map(String::as_str);
    let files = database.files.iter().map(|file| file.path.as_str());
    let root = is_draft.then_some(DRAFT_ROOT);
    entries.chain(root).chain(functions).chain(modules).chain(files)
}

/// The texts of the section Metrics.
fn metric_texts(database: &Database) -> impl Iterator<Item = &str> {
    let scopes = database.scopes.iter().map(|scope| scope.name());
    let metrics = database.metrics.iter().flat_map(|metric| {
        let formulas = metric.statistics.iter().map(|statistic| statistic.formula());
        formulas.chain([metric.name.as_str()])
    });
    scopes.chain(metrics)
}

/// Writes an aligned section and returns its place.
fn section(out: &mut Bytes, write: impl FnOnce(&mut Bytes)) -> Section {
    out.align(8);
    let start = out.end();
    write(out);
    Section::between(start, out.end())
}

/// The header of a section that is one array, which follows at once.
fn table(out: &mut Bytes, len: usize, stride: u16) {
    out.u64(out.end() + 16).u32(u32_of(len)).u16(stride).align(8);
}

/// The pointer to an item of an array.
fn item(first: u64, position: usize, len: usize, stride: u64) -> u64 {
    assert!(position < len, "position {position} is outside of an array of {len}");
    first + position as u64 * stride
}

fn final_metrics(database: &Database, out: &mut Bytes) {
    let num_scopes = database.scopes.len() as u64;
    let numbering = Numbering::new(&database.metrics, database.scopes.len());
    let strings = Strings::at(out.end() + 27, metric_texts(database));
    let scopes = strings.records();
    let metrics = scopes + num_scopes * 16;
    let mut next = metrics + database.metrics.len() as u64 * 32;
    out.u64(metrics).u32(u32_of(database.metrics.len())).u8(32).u8(16).u8(24).u8(0);
    out.u64(scopes).u16(u16_of(database.scopes.len())).u8(16);
    strings.write(out);
    out.align(8);
    for scope in &database.scopes {
        let (kind, propagation) = match scope {
            Scope::Point => (1, 255),
            Scope::Function => (3, 0),
            Scope::LexAware => (0, 255),
            Scope::Execution => (2, 255),
        };
        out.u64(strings.place(scope.name())).u8(kind).u8(propagation).align(8);
    }
    for metric in &database.metrics {
        let num_statistics = metric.statistics.len() as u64 * num_scopes;
        let summaries = next + num_scopes * 16;
        out.u64(strings.place(&metric.name)).u64(next).u64(summaries);
        out.u16(num_scopes as u16).u16(u16_of(num_statistics as usize)).align(8);
        next = summaries + num_statistics * 24;
    }
    for (position, metric) in database.metrics.iter().enumerate() {
        for scope in 0..database.scopes.len() {
            out.u64(scopes + scope as u64 * 16).u16(numbering.value_id(position, scope)).align(8);
        }
        for scope in 0..database.scopes.len() {
            for (nth, statistic) in metric.statistics.iter().enumerate() {
                out.u64(scopes + scope as u64 * 16).u64(strings.place(statistic.formula()));
                out.u8(statistic.combine()).u8(0);
                out.u16(numbering.summary_id(position, nth, scope)).align(8);
            }
        }
    }
}

fn draft_metrics(database: &Database, out: &mut Bytes) {
    let num_scopes = database.scopes.len() as u64;
    let numbering = Numbering::new(&database.metrics, database.scopes.len());
    let strings = Strings::at(out.end() + 15, metric_texts(database));
    let metrics = strings.records();
    let mut scopes = metrics + database.metrics.len() as u64 * 24;
    let mut summaries = scopes + database.metrics.len() as u64 * num_scopes * 24;
    out.u64(metrics).u32(u32_of(database.metrics.len())).u8(24).u8(24).u8(16);
    strings.write(out);
    out.align(8);
    for metric in &database.metrics {
        out.u64(strings.place(&metric.name)).u16(num_scopes as u16).raw(&[0; 6]).u64(scopes);
        scopes += num_scopes * 24;
    }
    for (position, metric) in database.metrics.iter().enumerate() {
        for (nth, scope) in database.scopes.iter().enumerate() {
            out.u64(strings.place(scope.name())).u16(u16_of(metric.statistics.len()));
            out.u16(numbering.value_id(position, nth)).u32(0).u64(summaries);
            summaries += metric.statistics.len() as u64 * 16;
        }
    }
    for (position, metric) in database.metrics.iter().enumerate() {
        for scope in 0..database.scopes.len() {
            for (nth, statistic) in metric.statistics.iter().enumerate() {
                out.u64(strings.place(statistic.formula())).u8(statistic.combine()).u8(0);
                out.u16(numbering.summary_id(position, nth, scope)).align(8);
            }
        }
    }
}

struct Pointers {
    first_module: u64,
    first_file: u64,
    first_function: u64,
}

struct Contexts<'a> {
    database: &'a Database,
    strings: &'a Strings,
    places: Pointers,
    layout: Layout,
}

impl Contexts<'_> {
    /// Writes the section: entries (or draft roots), then one array of children per parent, parents
    /// first.
    fn encode(&self, out: &mut Bytes, elide: bool) {
        let contexts = &self.database.contexts;
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); contexts.len()];
        let mut roots = Vec::new();
        // A child of an elided context belongs to the nearest ancestor that is kept.
        let mut kept: Vec<usize> = Vec::with_capacity(contexts.len());
        for (position, context) in contexts.iter().enumerate() {
            if elide && context.kind.is_elided_by_writers() {
                kept.push(context.parent.map_or(0, |parent| kept[parent]));
                continue;
            }
            kept.push(position);
            match context.parent {
                Some(parent) => children[kept[parent]].push(position),
                None => roots.push(position),
            }
        }

        let array_size =
            |list: &[usize]| list.iter().map(|&c| self.size(&contexts[c])).sum::<u64>();
        let roots_start = out.end() + 16;
        match self.layout {
            Layout::Final => {
                out.u64(roots_start).u16(u16_of(roots.len())).u8(32).align(8);
            }
            Layout::Draft => {
                out.u64(array_size(&roots)).u64(roots_start);
            }
        }
        // First place every array, then write them in the same order.
        let mut places = vec![(0_u64, 0_u64); contexts.len()];
        let mut end = roots_start + array_size(&roots);
        let mut order = roots.clone();
        let mut at = 0;
        while at < order.len() {
            let position = order[at];
            at += 1;
            let size = array_size(&children[position]);
            // Without children the pointer is stale, as in real files: only the size counts.
            places[position] = (size, end);
            end += size;
            order.extend_from_slice(&children[position]);
        }
        for position in order {
            let (size, start) = places[position];
            self.context(out, &contexts[position], size, start);
        }
    }

    fn size(&self, context: &Context) -> u64 {
        match (&context.kind, self.layout) {
            (ContextKind::Entry { .. }, Layout::Final) => 32,
            (ContextKind::Entry { .. }, Layout::Draft) => 24 + 8,
            (ContextKind::Node { function, source, point, .. }, layout) => {
                let words = u64::from(function.is_some())
                    + 2 * u64::from(source.is_some())
                    + 2 * u64::from(point.is_some());
                8 * words + if layout == Layout::Final { 32 } else { 24 }
            }
        }
    }

    fn context(&self, out: &mut Bytes, context: &Context, size: u64, start: u64) {
        out.u64(size).u64(start).u32(context.id);
        match &context.kind {
            ContextKind::Entry { entry_point, name } => match self.layout {
                Layout::Final => {
                    out.u16(*entry_point).u16(0).u64(self.strings.place(name));
                }
                Layout::Draft => {
                    let functions = &self.database.functions;
                    let root = functions.len();
                    out.u8(1).u8(Relation::Call as u8).u8(LexicalType::Function as u8).u8(1);
                    out.u64(item(self.places.first_function, root, root + 1, 40));
                }
            },
            ContextKind::Node { relation, lexical, function, source, point } => {
                let flags = u8::from(function.is_some())
                    | u8::from(source.is_some()) << 1
                    | u8::from(point.is_some()) << 2;
                let words = u8::from(function.is_some())
                    + 2 * u8::from(source.is_some())
                    + 2 * u8::from(point.is_some());
                out.u8(flags).u8(*relation as u8).u8(*lexical as u8).u8(words);
                if self.layout == Layout::Final {
                    out.u16(u16::from(*relation == Relation::Lexical)).raw(&[0; 6]);
                }
                let Database { functions, files, modules, .. } = self.database;
                if let Some(function) = function {
                    out.u64(item(self.places.first_function, *function, functions.len(), 40));
                }
                if let Some((file, line)) = source {
                    out.u64(item(self.places.first_file, *file, files.len(), 16));
                    out.u32(*line).u32(0);
                }
                if let Some((module, offset)) = point {
                    out.u64(item(self.places.first_module, *module, modules.len(), 16));
                    out.u64(*offset);
                }
            }
        }
    }
}
