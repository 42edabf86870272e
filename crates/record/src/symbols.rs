//! From places in code to functions, loops and lines: each place is looked up once.
//!
//! That is most of the work of a recording, so it is asked for when a place is first seen, and done
//! when a processor is free ([`Background`]). What needs the functions waits for them, or has them
//! looked up at once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use addr2line::{Loader, demangle_auto};
use object::read::ReadCache;
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use parallax_formats::archive::FunctionRow;
use parallax_import::events::Conversion;

use crate::Detail;
use crate::background::Background;
use crate::generated::{Generated, function_and_file};
use crate::images::{Image, Images};
use crate::loops::{FunctionLoops, MOST_BYTES, SourceLoop, may_return};
use crate::mpi::routine;
use crate::packed::{Active, Packed};
use crate::processes::Place;

/// What is active at a place: functions, several where some were inlined, each with the loops in it,
/// the outermost first; and the line of the innermost one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Functions {
    pub(crate) path: Arc<[u32]>,
    pub(crate) line: Option<u32>,
}

/// A place in a call path.
#[derive(Debug, Clone)]
pub(crate) enum Frame {
    Known(Functions),
    /// Its functions are asked for.
    Asked(Place),
}

/// Names of places.
pub(crate) struct Symbols {
    known: HashMap<Place, Functions>,
    background: Background,
    rows: HashMap<Function, u32>,
    /// Functions of MPI.
    mpi: HashSet<u32>,
    /// Loops and lines.
    lexical: HashSet<u32>,
    generated: Generated,
}

/// A function, loop or line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Function {
    /// As [`FunctionRow`] has it.
    pub(crate) kind: u8,
    /// Empty for loops and lines.
    pub(crate) name: String,
    pub(crate) file: String,
    /// Where a function begins, or where a loop or line is; 0 where that is not known.
    pub(crate) line: u32,
    pub(crate) image: Option<u32>,
}

impl Function {
    fn new(name: String, file: String, image: Option<u32>) -> Self {
        Self { kind: FunctionRow::FUNCTION, name, file, line: 0, image }
    }

    /// A loop or line.
    const fn part(kind: u8, file: String, line: u32) -> Self {
        Self { kind, name: String::new(), file, line, image: None }
    }

    /// What tells it apart: where a function begins is not found at each place of it.
    fn key(&self) -> Self {
        let line = if self.kind == FunctionRow::FUNCTION { 0 } else { self.line };
        Self { line, ..self.clone() }
    }
}

/// What is active at a place, the outermost first, and at the end the line.
pub(crate) type Named = Vec<Function>;

impl Symbols {
    pub(crate) fn new(detail: Detail) -> Self {
        Self {
            known: HashMap::new(),
            background: Background::new(detail),
            rows: HashMap::new(),
            mpi: HashSet::new(),
            lexical: HashSet::new(),
            generated: Generated::default(),
        }
    }

    /// The names of code that programs make while they run.
    pub(crate) const fn generated(&mut self) -> &mut Generated {
        &mut self.generated
    }

    /// The functions at a place where they are known, and asks for them where they are not. A place
    /// without a file has its functions at once: what lies there may be something else later.
    pub(crate) fn frame(
        &mut self,
        pid: u32,
        place: Place,
        images: &Images,
        conversion: &mut Conversion,
    ) -> Frame {
        let image = place.image.and_then(|number| images.get(number));
        let Some(image) = image else {
            if let Some(name) = self.generated.name(pid, place.address) {
                let (name, file) = function_and_file(name);
                let function = Function::new(name.to_owned(), file.to_owned(), None);
                let row = self.row(&function, conversion);
                return Frame::Known(Functions { path: Arc::from([row]), line: None });
            }
            // Code without a file has one name, whatever its address.
            let key = Place { image: None, address: 0 };
            if !self.known.contains_key(&key) {
                self.learn(key, &[unnamed("code without a file")], conversion);
            }
            return self.known.get(&key).map_or(Frame::Asked(key), |own| Frame::Known(own.clone()));
        };
        match self.known.get(&place) {
            Some(known) => Frame::Known(known.clone()),
            None => {
                self.background.ask(place, image);
                Frame::Asked(place)
            }
        }
    }

    /// Takes what was looked up since the last time, and has the rest looked up.
    pub(crate) fn collect(&mut self, conversion: &mut Conversion) {
        for (place, found) in self.background.exchange(Duration::ZERO) {
            self.learn(place, &found, conversion);
        }
    }

    /// Whether the functions of a frame are known.
    pub(crate) fn is_known(&self, frame: &Frame) -> bool {
        match frame {
            Frame::Known(_) => true,
            Frame::Asked(place) => self.known.contains_key(place),
        }
    }

    fn of(&self, frame: &Frame) -> Option<Functions> {
        match frame {
            Frame::Known(functions) => Some(functions.clone()),
            Frame::Asked(place) => self.known.get(place).cloned(),
        }
    }

    /// The functions of a frame, which are looked up now where they are not known.
    pub(crate) fn of_now(
        &mut self,
        frame: &Frame,
        images: &Images,
        conversion: &mut Conversion,
    ) -> Functions {
        if let Some(known) = self.of(frame) {
            return known;
        }
        let Frame::Asked(place) = *frame else { return Functions::default() };
        // What was looked up meanwhile need not be so again.
        self.collect(conversion);
        if let Some(known) = self.of(frame) {
            return known;
        }
        let Some(image) = place.image.and_then(|number| images.get(number)) else {
            return Functions::default();
        };
        let found = self.background.at_once(place, image);
        self.learn(place, &found, conversion)
    }

    /// The source files of lines and loops.
    pub(crate) fn source_files(&self) -> BTreeSet<&str> {
        let parts = self.rows.keys().filter(|own| own.kind != FunctionRow::FUNCTION);
        parts.map(|own| own.file.as_str()).collect()
    }

    /// Takes what was looked up when the program has ended. From now on, the rest is looked up at once.
    pub(crate) fn collect_last(&mut self, conversion: &mut Conversion) {
        for (place, found) in self.background.last() {
            self.learn(place, &found, conversion);
        }
    }

    fn learn(
        &mut self,
        place: Place,
        found: &[Function],
        conversion: &mut Conversion,
    ) -> Functions {
        let (path, line) = match found.split_last() {
            Some((last, path)) if last.kind == FunctionRow::LINE => (path, Some(last)),
            _ => (found, None),
        };
        let path = path.iter().map(|function| self.row(function, conversion)).collect();
        let line = line.map(|line| self.row(line, conversion));
        let functions = Functions { path, line };
        self.known.insert(place, functions.clone());
        functions
    }

    /// Keeps the outermost function of MPI of a path. Those below it are the real one, for which it
    /// stands, and what that calls itself; they go with their loops and lines.
    pub(crate) fn keep_one_of_mpi(&self, path: &mut Vec<u32>) {
        let (mut has_one, mut is_kept) = (false, true);
        path.retain(|function| {
            if !self.lexical.contains(function) {
                let is_mpi = self.mpi.contains(function);
                is_kept = !(is_mpi && has_one);
                has_one |= is_mpi;
            }
            is_kept
        });
    }

    fn row(&mut self, function: &Function, conversion: &mut Conversion) -> u32 {
        let key = function.key();
        if let Some(&known) = self.rows.get(&key) {
            return known;
        }
        let Function { kind, name, file, line, .. } = function.clone();
        let prefixes = ["MPI_", "PMPI_", "mpi_", "pmpi_"];
        let is_mpi = prefixes.iter().any(|prefix| name.starts_with(prefix));
        let row = FunctionRow { name, group: String::new(), file, line, kind };
        let is_lexical = row.is_lexical();
        let number = conversion.add_function(row);
        self.rows.insert(key, number);
        if is_mpi {
            self.mpi.insert(number);
        }
        if is_lexical {
            self.lexical.insert(number);
        }
        number
    }
}

/// Looks a place of an image up.
pub(crate) fn look_up(names: &mut Names, image: &Image, place: Place, detail: Detail) -> Named {
    let (number, address) = (place.image, place.address);
    let symbol = names.debug.symbol(address);
    let active = names.debug.active(image, address);
    let Some(innermost) = active.last() else {
        let Some((_, name)) = symbol else { return vec![unnamed(&image.name)] };
        return vec![Function::new(routine(&image.name, demangled(&name)), String::new(), number)];
    };
    let has_lines = innermost.line > 0 && !innermost.file.is_empty();
    let line = (has_lines && detail >= Detail::Lines)
        .then(|| Function::part(FunctionRow::LINE, innermost.file.clone(), innermost.line));
    let loops = match has_lines && detail >= Detail::Loops {
        true => names.loops(image, address),
        false => Vec::new(),
    };
    // The outermost function is what the symbol is of: it begins where that does.
    let has_file = active.first().is_some_and(|outermost| !outermost.file.is_empty());
    let begin = symbol.filter(|_| has_file).and_then(|(begin, _)| names.debug.line(image, begin));
    let mut found = Named::new();
    let innermost = active.len() - 1;
    for (level, Active { name, file, .. }) in active.into_iter().enumerate() {
        let own = begin.as_ref().filter(|(known, _)| level == 0 && *known == file);
        let line = own.map_or(0, |(_, line)| *line);
        found.push(Function { line, ..Function::new(name, file, number) });
        let own = loops.iter().filter(|own| own.level.min(innermost) == level);
        found.extend(own.map(|own| Function::part(FunctionRow::LOOP, own.file.clone(), own.line)));
    }
    found.extend(line);
    found
}

/// Names, debug information and loops of a file.
pub(crate) struct Names {
    debug: Debug,
    /// Where functions begin and end, in order; `None` until that is asked for.
    extents: Option<Vec<Range<u64>>>,
    /// By where functions begin.
    loops: HashMap<u64, Option<FunctionLoops>>,
    /// Whether functions that are called may return, by where they begin.
    returns: HashMap<u64, bool>,
}

impl Names {
    pub(crate) fn of(image: &Image) -> Self {
        Self {
            debug: Debug::of(image),
            extents: None,
            loops: HashMap::new(),
            returns: HashMap::new(),
        }
    }

    /// The loops around an address, the outermost first.
    fn loops(&mut self, image: &Image, address: u64) -> Vec<SourceLoop> {
        let extents = self.extents.get_or_insert_with(|| extents(image).unwrap_or_default());
        let after = extents.partition_point(|own| own.start <= address);
        let own = after.checked_sub(1).and_then(|at| extents.get(at));
        let Some(own) = own.filter(|own| own.contains(&address)) else { return Vec::new() };
        let (debug, returns) = (&mut self.debug, &mut self.returns);
        let code = |own: &Range<u64>| {
            let mut code = vec![0; usize::try_from(own.end - own.start).ok()?];
            image.code_at(own.start, &mut code)?;
            Some(code)
        };
        let found = self.loops.entry(own.start).or_insert_with(|| {
            let active = &mut |address| debug.active(image, address);
            let returns = &mut |address| {
                *returns.entry(address).or_insert_with(|| {
                    let at = extents.binary_search_by_key(&address, |own| own.start).ok();
                    let code = at.and_then(|at| code(extents.get(at)?));
                    code.is_none_or(|code| may_return(address, image.architecture, &code))
                })
            };
            let code = code(own)?;
            FunctionLoops::of(own.start, (image.architecture, &code), active, returns)
        });
        let around = found.as_ref().map(|found| found.around(address)).unwrap_or_default();
        around.into_iter().cloned().collect()
    }
}

/// Where the functions of a file begin and end, in order, but for very long ones.
fn extents(image: &Image) -> Option<Vec<Range<u64>>> {
    let path = names_file(image).unwrap_or_else(|| image.path.clone());
    let cache = ReadCache::new(BufReader::new(File::open(path).ok()?));
    let file = object::File::parse(&cache).ok()?;
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let code = symbols.filter(|own| own.is_definition() && own.kind() == SymbolKind::Text);
    let code = code.filter(|own| (1..=MOST_BYTES).contains(&own.size()));
    let mut extents: Vec<Range<u64>> = code
        .filter_map(|own| Some(own.address()..own.address().checked_add(own.size())?))
        .collect();
    extents.sort_by_key(|own| (own.start, own.end));
    // Of several at one place, the longest.
    extents.reverse();
    extents.dedup_by_key(|own| own.start);
    extents.reverse();
    Some(extents)
}

/// Names and debug information of a file.
enum Debug {
    /// Asked first where it is there.
    Packed(Box<Packed>),
    /// `None` where a file has neither names nor debug information.
    All(Option<Box<Loader>>),
}

impl Debug {
    fn of(image: &Image) -> Self {
        let path = names_file(image).unwrap_or_else(|| image.path.clone());
        let packed = if image.is_file() { Packed::open(&path) } else { None };
        packed.map_or_else(|| Self::all(image), |packed| Self::Packed(Box::new(packed)))
    }

    fn all(image: &Image) -> Self {
        Self::All(loader(image).map(Box::new))
    }

    /// The symbol that an address is in: where it begins, and its name.
    fn symbol(&self, address: u64) -> Option<(u64, String)> {
        match self {
            Self::Packed(packed) => {
                packed.symbol(address).map(|(begin, name)| (begin, name.to_owned()))
            }
            Self::All(all) => {
                let symbol = all.as_ref()?.find_symbol_info(address)?;
                Some((symbol.address(), symbol.name().to_owned()))
            }
        }
    }

    /// The functions that are active at an address, the outermost first.
    fn active(&mut self, image: &Image, address: u64) -> Vec<Active> {
        if let Self::Packed(packed) = self {
            if let Some(mut found) = packed.active(address) {
                found.reverse();
                return found;
            }
            *self = Self::all(image);
        }
        let Self::All(Some(all)) = self else { return Vec::new() };
        let mut found = Vec::new();
        if let Ok(mut frames) = all.find_frames(address) {
            while let Ok(Some(frame)) = frames.next() {
                found.extend(Active::of(&frame));
            }
        }
        found.reverse();
        found
    }

    /// The file and line of an address, where 0 is a line that is not known.
    fn line(&mut self, image: &Image, address: u64) -> Option<(String, u32)> {
        if let Self::Packed(packed) = self {
            if let Some(found) = packed.line(address) {
                return Some(found);
            }
            *self = Self::all(image);
        }
        let Self::All(Some(all)) = self else { return None };
        let found = all.find_location(address).ok()??;
        Some((found.file?.to_owned(), found.line.unwrap_or(0)))
    }
}

/// What stands for functions whose names nobody knows.
fn unnamed(place: &str) -> Function {
    Function::new(format!("<unknown in {place}>"), String::new(), None)
}

/// Names and debug information of a file, which may lie apart from it.
pub(crate) fn loader(image: &Image) -> Option<Loader> {
    if !image.is_file() {
        return None;
    }
    let apart = names_file(image).and_then(|path| Loader::new(path).ok());
    apart.or_else(|| Loader::new(&image.path).ok())
}

/// The file with the debug information of another, where it lies apart.
fn names_file(image: &Image) -> Option<String> {
    image.debug_file().filter(|path| Path::new(path).exists())
}

/// A symbol's name as the source has it. Compilers mark what they mangle by the first letters; a
/// plain name may look like a mangled type: `a` is `signed char` in C++.
pub(crate) fn demangled(symbol: &str) -> String {
    let is_mangled = ["_Z", "__Z", "_R", "__R"].iter().any(|mark| symbol.starts_with(mark));
    if is_mangled { demangle_auto(symbol.into(), None).into_owned() } else { symbol.to_owned() }
}

#[cfg(test)]
mod tests {
    use parallax_base::MemorySink;

    use super::*;

    #[test]
    fn the_outermost_function_of_mpi_stands_for_those_below_with_its_own_loops_and_lines() {
        let mut conversion = Conversion::new(Arc::new(MemorySink::new()), 0).unwrap();
        let mut symbols = Symbols::new(Detail::Lines);
        let mut number = |text: &str| {
            let function = match text.split_once(' ') {
                Some(("loop", line)) => {
                    Function::part(FunctionRow::LOOP, "a.c".into(), line.parse().unwrap())
                }
                Some((_, line)) => {
                    Function::part(FunctionRow::LINE, "a.c".into(), line.parse().unwrap())
                }
                None => Function::new(text.into(), "a.c".into(), None),
            };
            symbols.row(&function, &mut conversion)
        };
        let cases = [
            ("main,loop 1,solve,line 2", "main,loop 1,solve,line 2"),
            ("main,loop 1,MPI_Send,line 3", "main,loop 1,MPI_Send,line 3"),
            (
                "main,loop 1,MPI_Send,loop 4,PMPI_Send,loop 5,loop 6,line 7",
                "main,loop 1,MPI_Send,loop 4",
            ),
            (
                "main,mpi_send_,PMPI_Send,loop 5,progress,loop 8,line 9",
                "main,mpi_send_,progress,loop 8,line 9",
            ),
            (
                "MPI_Wait,loop 4,progress,loop 8,MPI_Test,loop 5,line 7",
                "MPI_Wait,loop 4,progress,loop 8",
            ),
            ("main,MPI_Send,PMPI_Send,MPI_Isend,line 7", "main,MPI_Send"),
            ("loop 1,line 2", "loop 1,line 2"),
            ("", ""),
        ];
        let paths = cases.map(|(path, kept)| {
            let mut numbers = |text: &str| -> Vec<u32> {
                text.split(',').filter(|part| !part.is_empty()).map(&mut number).collect()
            };
            (path, numbers(path), numbers(kept))
        });
        for (text, mut path, kept) in paths {
            symbols.keep_one_of_mpi(&mut path);
            assert_eq!(path, kept, "{text}");
        }
    }
}
