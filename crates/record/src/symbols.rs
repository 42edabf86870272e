//! From places in code to functions: each place is looked up once.
//!
//! That is most of the work of a recording, so it is asked for when a place is first seen, and done
//! when a processor is free ([`Background`]). What needs the functions waits for them, or has them
//! looked up at once.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use addr2line::{Loader, demangle_auto};
use parallax_formats::archive::FunctionRow;
use parallax_import::events::Conversion;

use crate::background::Background;
use crate::generated::{Generated, function_and_file};
use crate::images::{Image, Images};
use crate::mpi::routine;
use crate::packed::{Active, Packed};
use crate::processes::Place;

/// Functions that are active at a place, the outermost first: several where some were inlined.
pub(crate) type Functions = Arc<[u32]>;

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
    generated: Generated,
}

/// What tells functions apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) image: Option<u32>,
}

/// Functions that are active at a place, the outermost first, with the line where each begins, 0 where
/// that is not known.
pub(crate) type Named = Vec<(Function, u32)>;

impl Symbols {
    pub(crate) fn new() -> Self {
        Self {
            known: HashMap::new(),
            background: Background::new(),
            rows: HashMap::new(),
            mpi: HashSet::new(),
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
                let (name, file) = (name.to_owned(), file.to_owned());
                let row = self.row(Function { name, file, image: None }, 0, conversion);
                return Frame::Known(Arc::from([row]));
            }
            // Code without a file has one name, whatever its address.
            let key = Place { image: None, address: 0 };
            if !self.known.contains_key(&key) {
                self.learn(key, vec![(unnamed("code without a file"), 0)], conversion);
            }
            return self.known.get(&key).map_or(Frame::Asked(key), |own| Frame::Known(own.clone()));
        };
        match self.known.get(&place) {
            Some(known) => Frame::Known(Arc::clone(known)),
            None => {
                self.background.ask(place, image);
                Frame::Asked(place)
            }
        }
    }

    /// Takes what was looked up since the last time, and has the rest looked up.
    pub(crate) fn collect(&mut self, conversion: &mut Conversion) {
        for (place, found) in self.background.exchange(Duration::ZERO) {
            self.learn(place, found, conversion);
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
            Frame::Known(functions) => Some(Arc::clone(functions)),
            Frame::Asked(place) => self.known.get(place).map(Arc::clone),
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
        self.learn(place, found, conversion)
    }

    /// Takes what was looked up when the program has ended. From now on, the rest is looked up at once.
    pub(crate) fn collect_last(&mut self, conversion: &mut Conversion) {
        for (place, found) in self.background.last() {
            self.learn(place, found, conversion);
        }
    }

    fn learn(&mut self, place: Place, found: Named, conversion: &mut Conversion) -> Functions {
        let rows = found.into_iter();
        let rows = rows.map(|(function, line)| self.row(function, line, conversion));
        let functions: Functions = rows.collect();
        self.known.insert(place, Arc::clone(&functions));
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
}

/// Looks a place of an image up.
pub(crate) fn look_up(names: &mut Names, image: &Image, place: Place) -> Named {
    let (number, address) = (place.image, place.address);
    let symbol = names.symbol(address);
    // Each function with the file that it is in, the innermost first.
    let active = names.active(image, address).into_iter();
    let active = active.map(|Active { name, file }| (Function { name, file, image: number }, 0));
    let mut found: Named = active.collect();
    if found.is_empty() {
        let Some((_, name)) = &symbol else { return vec![(unnamed(&image.name), 0)] };
        let name = routine(&image.name, demangled(name));
        found.push((Function { name, file: String::new(), image: number }, 0));
    }
    // The outermost one is what the symbol is of: it begins where that does.
    if let (Some((begin, _)), Some(outermost)) = (symbol, found.last_mut())
        && !outermost.0.file.is_empty()
        && let Some((file, line)) = names.line(image, begin)
        && file == outermost.0.file
    {
        outermost.1 = line;
    }
    found.reverse();
    found
}

/// Names and debug information of a file.
pub(crate) enum Names {
    /// Asked first where it is there.
    Packed(Box<Packed>),
    /// `None` where a file has neither names nor debug information.
    All(Option<Box<Loader>>),
}

impl Names {
    pub(crate) fn of(image: &Image) -> Self {
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

    /// The functions that are active at an address, the innermost first.
    fn active(&mut self, image: &Image, address: u64) -> Vec<Active> {
        if let Self::Packed(packed) = self {
            if let Some(found) = packed.active(address) {
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
    Function { name: format!("<unknown in {place}>"), file: String::new(), image: None }
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
