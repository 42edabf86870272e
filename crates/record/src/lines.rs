//! Parallel regions in the code of a file, and functions with which threads start: where the source
//! has them, by symbols and debug information.
//!
//! gcc puts the body of `#pragma omp parallel` in `solve` into a function `solve._omp_fn.0`. The call
//! that starts the region has the line of the statement before it; the function begins with a line of
//! its own region. clang calls the function `.omp_outlined.` or `solve.omp_outlined`; there the call
//! has the line of the directive.

use std::path::Path;

/// What the names of functions have into which a compiler put the body of a region.
#[cfg(target_os = "linux")]
const OUTLINED: [&str; 2] = ["._omp_fn.", ".omp_outlined"];

/// A line of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeLine {
    /// The file, as the debug information names it, with its folder.
    pub file: String,
    /// Counts from 1.
    pub line: u32,
}

/// The functions of a program or library into which a compiler put the bodies of parallel regions.
#[derive(Debug, Default)]
pub struct Outlined {
    functions: Vec<Function>,
    files: Vec<String>,
}

#[derive(Debug)]
struct Function {
    address: u64,
    name: String,
    line: Option<CodeLine>,
}

impl Outlined {
    /// Those of the file at `path`; none where it cannot be read or was stripped.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        #[cfg(target_os = "linux")]
        return read::outlined(path).unwrap_or_default();
        #[cfg(not(target_os = "linux"))]
        {
            let _ = path;
            Self::default()
        }
    }

    /// Files that have parallel regions, in the order of their names.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Where the source has the region whose body begins at this address of the file.
    #[must_use]
    pub fn line(&self, address: u64) -> Option<&CodeLine> {
        self.function(address)?.1.line.as_ref()
    }

    /// The name of the function at this address, and how many of its kind are before it in the file.
    #[must_use]
    pub fn name(&self, address: u64) -> Option<(&str, usize)> {
        let (at, function) = self.function(address)?;
        Some((&function.name, at))
    }

    /// The name of a function of the file at `path` that begins at this address and is no body of a
    /// parallel region, such as that with which a thread starts, and its line. In the middle of a
    /// function, such as at a call that starts a region, it is the name of the function and the line of
    /// the call.
    #[must_use]
    pub fn other(path: &Path, address: u64) -> Option<(String, Option<CodeLine>)> {
        #[cfg(target_os = "linux")]
        return read::other(path, address);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (path, address);
            None
        }
    }

    fn function(&self, address: u64) -> Option<(usize, &Function)> {
        let at = self.functions.binary_search_by_key(&address, |function| function.address).ok()?;
        Some((at, self.functions.get(at)?))
    }
}

#[cfg(target_os = "linux")]
mod read {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs::File;
    use std::io::BufReader;
    use std::path::Path;

    use addr2line::Loader;
    use object::read::ReadCache;
    use object::{Object as _, ObjectSymbol as _};

    use super::{CodeLine, Function, OUTLINED, Outlined};
    use crate::images::Images;
    use crate::symbols::{demangled, loader};

    pub(super) fn outlined(path: &Path) -> Option<Outlined> {
        let mut images = Images::default();
        let number = images.at(&path.to_string_lossy());
        let image = images.get(number)?;
        let apart = image.debug_file().filter(|path| Path::new(path).exists());
        // Of several symbols at one address, the last name counts; they are of the same code.
        let is_ours = |_, name: &str| OUTLINED.iter().any(|mark| name.contains(mark));
        let mut names = symbols(path, is_ours).unwrap_or_default();
        let apart = apart.and_then(|path| symbols(Path::new(&path), is_ours));
        names.extend(apart.unwrap_or_default());
        let loader = loader(image);
        let functions = names.into_iter().map(|(address, name)| {
            let line = loader.as_ref().and_then(|loader| line(loader, address));
            Function { address, name: demangled(&name), line }
        });
        let functions: Vec<Function> = functions.collect();
        let lines = functions.iter().filter_map(|function| function.line.as_ref());
        let files: BTreeSet<String> = lines.map(|line| line.file.clone()).collect();
        Some(Outlined { functions, files: files.into_iter().collect() })
    }

    pub(super) fn other(path: &Path, address: u64) -> Option<(String, Option<CodeLine>)> {
        let mut images = Images::default();
        let number = images.at(&path.to_string_lossy());
        let image = images.get(number)?;
        let apart = image.debug_file().filter(|path| Path::new(path).exists());
        let is_it = |at, _: &str| at == address;
        let of = |path: &Path| symbols(path, is_it)?.into_values().next();
        let loader = loader(image);
        if let Some(name) = of(path).or_else(|| of(Path::new(&apart?))) {
            let line = loader.and_then(|loader| line(&loader, address));
            return Some((demangled(&name), line));
        }
        let loader = loader?;
        let name = demangled(loader.find_symbol_info(address)?.name());
        let place = loader.find_location(address).ok().flatten();
        let line =
            place.and_then(|at| Some(CodeLine { file: at.file?.to_owned(), line: at.line? }));
        Some((name, line.filter(|own| own.line > 0)))
    }

    /// Functions by their addresses, as far as they are wanted.
    fn symbols(
        path: &Path,
        is_wanted: impl Fn(u64, &str) -> bool,
    ) -> Option<BTreeMap<u64, String>> {
        // Read where it is needed and not mapped: the file may be replaced while it is read.
        let cache = ReadCache::new(BufReader::new(File::open(path).ok()?));
        let file = object::File::parse(&cache).ok()?;
        let named = file.symbols().chain(file.dynamic_symbols());
        let named = named.filter(object::ObjectSymbol::is_definition);
        let named = named.filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?)));
        let ours = named.filter(|(address, name)| is_wanted(*address, name));
        Some(ours.map(|(address, name)| (address, name.to_owned())).collect())
    }

    /// The file and line at which a function begins: that of the function itself, where it begins
    /// with code that was inlined from elsewhere.
    fn line(loader: &Loader, address: u64) -> Option<CodeLine> {
        let mut frames = loader.find_frames(address).ok()?;
        let mut found = None;
        while let Ok(Some(frame)) = frames.next() {
            let place = frame.location.and_then(|at| Some((at.file?.to_owned(), at.line?)));
            found = place.map(|(file, line)| CodeLine { file, line });
        }
        found.filter(|own| own.line > 0)
    }
}
