//! From places in code to functions: each place is looked up once, when it is first seen.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use addr2line::{Loader, demangle_auto};
use parallax_formats::archive::FunctionRow;
use parallax_import::events::Conversion;

use crate::generated::{Generated, function_and_file};
use crate::images::{Image, Images};
use crate::mpi::routine;
use crate::processes::Place;

/// Functions that are active at a place, the outermost first: several where some were inlined.
pub(crate) type Functions = Arc<[u32]>;

/// Names of places.
#[derive(Default)]
pub(crate) struct Symbols {
    known: HashMap<Place, Functions>,
    /// `None` where a file has neither names nor debug information.
    loaders: HashMap<u32, Option<Loader>>,
    rows: HashMap<Function, u32>,
    /// Functions of MPI.
    mpi: HashSet<u32>,
    generated: Generated,
}

/// What tells functions apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Function {
    name: String,
    file: String,
    image: Option<u32>,
}

impl Symbols {
    /// The names of code that programs make while they run.
    pub(crate) const fn generated(&mut self) -> &mut Generated {
        &mut self.generated
    }

    /// The functions at a place.
    pub(crate) fn at(
        &mut self,
        pid: u32,
        place: Place,
        images: &Images,
        conversion: &mut Conversion,
    ) -> Functions {
        if place.image.is_none()
            && let Some(name) = self.generated.name(pid, place.address)
        {
            let (name, file) = function_and_file(name);
            let (name, file) = (name.to_owned(), file.to_owned());
            let row = self.row(Function { name, file, image: None }, 0, conversion);
            return Arc::from([row]);
        }
        // Code without a file has one name, whatever its address.
        let key = if place.image.is_none() { Place { address: 0, ..place } } else { place };
        if let Some(known) = self.known.get(&key) {
            return Arc::clone(known);
        }
        let image = place.image.and_then(|number| images.get(number));
        let found = match (image, place.image) {
            (Some(image), Some(number)) => self.look_up(image, number, place.address),
            _ => vec![(unnamed("code without a file"), 0)],
        };
        let rows = found.into_iter();
        let rows = rows.map(|(function, line)| self.row(function, line, conversion));
        let functions: Functions = rows.collect();
        self.known.insert(key, Arc::clone(&functions));
        functions
    }

    /// Keeps the outermost function of MPI of a path. Those below it are the real one, for which it
    /// stands, and what that calls itself.
    pub(crate) fn keep_one_of_mpi(&self, path: &mut Vec<u32>) {
        let mut has_one = false;
        path.retain(|function| {
            let is_mpi = self.mpi.contains(function);
            let is_kept = !(is_mpi && has_one);
            has_one |= is_mpi;
            is_kept
        });
    }

    fn row(&mut self, function: Function, line: u32, conversion: &mut Conversion) -> u32 {
        let is_mpi = ["MPI_", "PMPI_", "mpi_", "pmpi_"]
            .iter()
            .any(|prefix| function.name.starts_with(prefix));
        let row = *self.rows.entry(function).or_insert_with_key(|function| {
            conversion.add_function(FunctionRow {
                name: function.name.clone(),
                group: String::new(),
                file: function.file.clone(),
                line,
            })
        });
        if is_mpi {
            self.mpi.insert(row);
        }
        row
    }

    /// Functions with the line where each begins, 0 where that is not known.
    fn look_up(&mut self, image: &Image, number: u32, address: u64) -> Vec<(Function, u32)> {
        let loader = self.loaders.entry(number).or_insert_with(|| loader(image));
        let nothing = || vec![(unnamed(&image.name), 0)];
        let Some(loader) = loader else { return nothing() };
        let symbol = loader.find_symbol_info(address);
        // Each function with the file that it is in, the innermost first.
        let mut found: Vec<(Function, u32)> = Vec::new();
        if let Ok(mut frames) = loader.find_frames(address) {
            while let Ok(Some(frame)) = frames.next() {
                let Some(name) = frame.function.as_ref().and_then(|f| f.demangle().ok()) else {
                    continue;
                };
                let file = frame.location.as_ref().and_then(|at| at.file).unwrap_or_default();
                let function = Function {
                    name: name.into_owned(),
                    file: file.to_owned(),
                    image: Some(number),
                };
                found.push((function, 0));
            }
        }
        if found.is_empty() {
            let Some(symbol) = &symbol else { return nothing() };
            let name = routine(&image.name, demangled(symbol.name()));
            let function = Function { name, file: String::new(), image: Some(number) };
            found.push((function, 0));
        }
        // The outermost one is what the symbol is of: it begins where that does.
        let begin = symbol.and_then(|symbol| loader.find_location(symbol.address()).ok()?);
        if let (Some(begin), Some(outermost)) = (begin, found.last_mut())
            && begin.file == Some(outermost.0.file.as_str())
        {
            outermost.1 = begin.line.unwrap_or(0);
        }
        found.reverse();
        found
    }
}

/// What stands for functions whose names nobody knows.
fn unnamed(place: &str) -> Function {
    Function { name: format!("<unknown in {place}>"), file: String::new(), image: None }
}

/// Names and debug information of a file, which may lie apart from it.
pub(crate) fn loader(image: &Image) -> Option<Loader> {
    if !image.is_file() {
        return None;
    }
    let apart = image.debug_file().filter(|path| Path::new(path).exists());
    let apart = apart.and_then(|path| Loader::new(path).ok());
    apart.or_else(|| Loader::new(&image.path).ok())
}

/// A symbol's name as the source has it. Compilers mark what they mangle by the first letters; a
/// plain name may look like a mangled type: `a` is `signed char` in C++.
pub(crate) fn demangled(symbol: &str) -> String {
    let is_mangled = ["_Z", "__Z", "_R", "__R"].iter().any(|mark| symbol.starts_with(mark));
    if is_mangled { demangle_auto(symbol.into(), None).into_owned() } else { symbol.to_owned() }
}
