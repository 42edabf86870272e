//! Names for the addresses of a recording: from the debug information and symbols of what was
//! mapped where.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use addr2line::Loader;
use object::read::ReadCache;
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use parallax_base::{Issues, Limits, Source};
use parallax_formats::plxm::{
    CodeAddress, Module, Named, PlaceKind, Recording, SourceLocation, Variable, names_chunk,
};
use parallax_native::MappedFile;

use super::InstrumentError;
use crate::images::Images;
use crate::symbols::{demangled, loader};

/// Writes names behind the rest of a recording, of all addresses that have none; how many were
/// given one. A recording without such addresses stays as it is.
///
/// # Errors
/// When the file is no recording, or cannot be read or written.
pub fn add_names(path: &Path) -> Result<usize, InstrumentError> {
    let failed = |why: &dyn std::fmt::Display| InstrumentError::Recording {
        path: path.to_owned(),
        why: why.to_string(),
    };
    let source: Source = Arc::new(MappedFile::open(path).map_err(|cause| failed(&cause))?);
    let name = path.to_string_lossy();
    let recording = Recording::open(source, &name, &Limits::default(), &mut Issues::new())
        .map_err(|cause| failed(&cause))?;
    let mut modules: HashMap<u64, Option<Loader>> = HashMap::new();
    let mut named = Vec::new();
    let mut begins: Vec<u64> = recording
        .addresses
        .iter()
        .filter(|at| at.kind == PlaceKind::Block)
        .map(|at| at.address)
        .collect();
    begins.sort_unstable();
    for at in &recording.addresses {
        let Some(module) = recording.module(at.address) else { continue };
        let loader = modules.entry(module.start).or_insert_with(|| open(module));
        let Some(loader) = loader else { continue };
        // The call before the address to which it returns.
        let address = at.address.wrapping_sub(module.base).wrapping_sub(1);
        let Some(mut place) = place(loader, address, at) else { continue };
        if at.kind == PlaceKind::Block {
            let next = begins.partition_point(|&begin| begin <= at.address);
            let end = begins.get(next).map_or(module.end, |&next| next.min(module.end));
            // Without the call with which the next one begins.
            let end = end.wrapping_sub(module.base).wrapping_sub(LONGEST_CALL);
            if let Some(first) = first_line(loader, address..end) {
                (place.inline_depth, place.file, place.line) = first;
            }
        }
        named.push(Named { number: at.number, place });
    }
    let used = recording.modules.iter().filter(|module| modules.contains_key(&module.start));
    let variables: Vec<Variable> = used.flat_map(variables).collect();
    if named.is_empty() {
        return Ok(0);
    }
    drop(recording);
    let mut file = OpenOptions::new().write(true).open(path).map_err(|cause| failed(&cause))?;
    let end = file.seek(SeekFrom::End(0)).map_err(|cause| failed(&cause))?;
    let mut bytes = vec![0; usize::try_from(end.next_multiple_of(64) - end).unwrap_or(0)];
    bytes.extend(names_chunk(&named, &variables));
    file.write_all(&bytes).map_err(|cause| failed(&cause))?;
    Ok(named.len())
}

fn open(module: &Module) -> Option<Loader> {
    let mut images = Images::default();
    let number = images.at(&module.path);
    loader(images.get(number)?)
}

/// Bytes of a call, at most.
const LONGEST_CALL: u64 = 6;

/// What is at an address of a file: the function whose code it is, and the innermost line that is in
/// the function's own file.
fn place(loader: &Loader, address: u64, at: &CodeAddress) -> Option<SourceLocation> {
    let symbol = loader.find_symbol_info(address);
    let mut own: Option<(String, String, u32)> = None;
    let mut lines: Vec<(String, u32)> = Vec::new();
    if let Ok(mut frames) = loader.find_frames(address) {
        while let Ok(Some(frame)) = frames.next() {
            let location = frame.location.as_ref();
            let file = location.and_then(|at| at.file).unwrap_or_default().to_owned();
            let line = location.and_then(|at| at.line).unwrap_or(0);
            lines.push((file.clone(), line));
            let name = frame.function.as_ref().and_then(|function| function.demangle().ok());
            own = name.map(|name| (name.into_owned(), file, line)).or(own);
        }
    }
    let (function, file, mut line) = match (own, &symbol) {
        (Some(own), _) => own,
        (None, Some(symbol)) => {
            let name = demangled(symbol.name());
            (name, String::new(), 0)
        }
        (None, None) => return None,
    };
    if let Some((_, inner)) = lines.iter().find(|(of, line)| *of == file && *line > 0) {
        line = *inner;
    }
    if at.kind == PlaceKind::Function {
        let begin = symbol.and_then(|symbol| loader.find_location(symbol.address()).ok()?);
        let begin = begin.filter(|begin| begin.file == Some(file.as_str()));
        line = begin.and_then(|begin| begin.line).unwrap_or(line);
    }
    let name = match (at.kind, at.name.as_str()) {
        (PlaceKind::Function, _) => String::new(),
        // Elements that are accessed at one line are one variable, as those of an array.
        (PlaceKind::Other, "") => format!("{}[]", spot(&function, &file, line)),
        (PlaceKind::Other, by) => format!("{by} at {}", spot(&function, &file, line)),
        (_, name) => name.to_owned(),
    };
    Some(SourceLocation { kind: at.kind, name, file, function, line, inline_depth: 0 })
}

/// The lowest line of code, among what is inlined least: whatever a loop contains is inlined as deep
/// as its own test at least. How deep that is, the file and the line.
fn first_line(loader: &Loader, code: Range<u64>) -> Option<(u32, String, u32)> {
    // A function ends where another one begins.
    let own = loader.find_symbol_info(code.start).map(|symbol| symbol.address());
    // What the compiler adds by itself is on the line of the function.
    let begin = own.and_then(|own| loader.find_location(own).ok()?).and_then(|begin| begin.line);
    let mut first: Option<(u32, String, u32)> = None;
    for (row, _, _) in loader.find_location_range(code.start, code.end).ok()? {
        let address = row.max(code.start);
        if loader.find_symbol_info(address).map(|symbol| symbol.address()) != own {
            break;
        }
        let mut frames = loader.find_frames(address).ok()?;
        let (mut depth, mut innermost) = (0, None);
        while let Ok(Some(frame)) = frames.next() {
            match innermost {
                None => innermost = frame.location.map(|at| (at.file.map(str::to_owned), at.line)),
                Some(_) => depth += 1,
            }
        }
        let Some((Some(file), Some(line))) = innermost else { continue };
        if line == 0 || (depth == 0 && begin == Some(line)) {
            continue;
        }
        let is_lower = first.as_ref().is_none_or(|(of, known, lowest)| {
            depth < *of || (depth == *of && *known == file && line < *lowest)
        });
        if is_lower {
            first = Some((depth, file, line));
        }
    }
    first
}

/// A place in few words: file and line, or the function where the line is not known.
fn spot(function: &str, file: &str, line: u32) -> String {
    match (file.rsplit('/').next().unwrap_or_default(), line) {
        ("", _) | (_, 0) => function.to_owned(),
        (name, line) => format!("{name}:{line}"),
    }
}

/// The variables of a file that are outside of functions or keep their values.
fn variables(module: &Module) -> Vec<Variable> {
    const STATIC: u8 = 4;
    const GLOBAL: u8 = 8;
    let read = || {
        let cache = ReadCache::new(BufReader::new(File::open(&module.path).ok()?));
        let file = object::File::parse(&cache).ok()?;
        let symbols = file.symbols().filter(object::ObjectSymbol::is_definition);
        let data = symbols.filter(|symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0);
        let variables = data.filter_map(|symbol| {
            let name = demangled(symbol.name().ok()?);
            // Static variables of functions are numbered by the compiler.
            let name = name.split('.').next().filter(|name| !name.is_empty())?.to_owned();
            Some(Variable {
                address: symbol.address().wrapping_add(module.base),
                bytes: symbol.size(),
                storage: if symbol.is_global() { GLOBAL } else { STATIC },
                name,
            })
        });
        Some(variables.collect())
    };
    read().unwrap_or_default()
}
