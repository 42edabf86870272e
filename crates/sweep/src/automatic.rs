//! Parallel regions without marks: the library that records them, and their numbers.
//!
//! `parallax_omp.c` is compiled once for a sweep and loaded into each run before everything else. It
//! names a region by the object and the address of its body, or of the call that starts it. Here that becomes a number which is the
//! same in all runs: the line, and 100,000 more for each file with parallel regions whose name comes
//! before. A function with which a thread starts is a body, too.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use parallax_record::{CodeLine, Outlined};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::SweepError;
use crate::command_line::split;

const SOURCE: &str = include_str!("../../measure/include/parallax_omp.c");
const HEADER: &str = include_str!("../../measure/include/pascalops.h");

/// What the library is called.
const LIBRARY: &str = "parallax_omp.so";

/// By this the loader is told what to load first.
pub(crate) const VARIABLE: &str = "LD_PRELOAD";

/// The field of `config` with the files that numbers of regions are of.
pub(crate) const FIELD: &str = "automatic_regions";

/// Before the place of a region that was not marked; PaScal Analyzer has the first word alone.
const PREFIX: &str = "binary:";

/// Numbers of a file; more lines than these have few files, and generated ones at that.
const NUMBERS_OF_A_FILE: i64 = 100_000;

/// What says which region the body at a place is.
pub(crate) trait Bodies {
    /// The region of each place, such as `/home/me/solver+0x11d9`.
    fn number(&mut self, places: &[&str]) -> Vec<Body>;
}

/// A region that was not marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) number: i64,
    /// What the file says of its place.
    pub(crate) file: String,
    /// 0 where it is not known.
    pub(crate) line: u32,
}

/// The name of a function with which threads start, and its line where that is known.
type Start = (String, Option<CodeLine>);

/// The library, in a folder that vanishes with this.
#[derive(Debug)]
pub(crate) struct Library {
    folder: TempDir,
}

impl Library {
    /// Compiles it.
    pub(crate) fn new() -> Result<Self, SweepError> {
        let folder = tempfile::tempdir().map_err(SweepError::Regions)?;
        let write = |name, text| {
            std::fs::write(folder.path().join(name), text).map_err(SweepError::Regions)
        };
        write("parallax_omp.c", SOURCE)?;
        write("pascalops.h", HEADER)?;
        let compiler = env::var("CC").unwrap_or_default();
        let mut words = split(&compiler)?.into_iter();
        let compiler = words.next().unwrap_or_else(|| "cc".to_owned());
        let output = Command::new(&compiler)
            .args(words)
            .args(["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-ftls-model=initial-exec"])
            .args(["-pthread", "-o", LIBRARY, "parallax_omp.c", "-ldl"])
            .current_dir(folder.path())
            .output()
            .map_err(|cause| SweepError::NoCompiler { compiler: compiler.clone(), cause })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(SweepError::Compiler { compiler, said });
        }
        let library = Self { folder };
        if library.path().to_string_lossy().contains([' ', ':']) {
            return Err(SweepError::Plan(format!(
                "automatic regions need a folder for temporary files without blanks and colons in \
                 its name: {}; name another one in TMPDIR",
                library.folder.path().display()
            )));
        }
        Ok(library)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(LIBRARY)
    }

    /// Has a run with these variables load the library behind what is loaded anyway.
    pub(crate) fn add_to(&self, environment: &mut Vec<(String, String)>) {
        preload(&self.path(), environment);
    }

    /// What [`Library::add_to`] adds for a library in a folder that is not there yet.
    pub(crate) fn add_planned_to(folder: &Path, environment: &mut Vec<(String, String)>) {
        preload(&folder.join(LIBRARY), environment);
    }
}

/// Has a run with these variables load a library behind what is loaded anyway.
fn preload(library: &Path, environment: &mut Vec<(String, String)>) {
    let own = library.to_string_lossy().into_owned();
    let at = environment.iter().position(|(name, _)| name == VARIABLE);
    let before = match at {
        Some(at) => Some(environment.remove(at).1),
        None => env::var(VARIABLE).ok(),
    };
    let value = match before.filter(|before| !before.is_empty()) {
        Some(before) => format!("{before}:{own}"),
        None => own,
    };
    environment.push((VARIABLE.to_owned(), value));
}

/// Numbers of regions by the places of their bodies.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    objects: BTreeMap<String, Outlined>,
    /// Calls that start regions and functions with which threads start, by object and address.
    starts: BTreeMap<(String, u64), Option<Start>>,
    /// In the order in which they count: a source file, an object without debug information, or the
    /// place of a body in an object that has not even symbols.
    units: Vec<String>,
    /// Objects of which no lines are known.
    without_lines: BTreeSet<String>,
    num_seen: usize,
}

impl Numbers {
    /// With the files that an earlier part of the sweep has seen.
    pub(crate) fn resumed(config: &Value) -> Self {
        let units = config.get(FIELD).and_then(|own| own.get("files")).and_then(Value::as_array);
        let units = units.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        Self { units: units.collect(), ..Self::default() }
    }

    pub(crate) fn to_value(&self) -> Value {
        json!({ "files": self.units })
    }

    /// Bodies that were seen, and the objects of which no lines are known.
    pub(crate) fn seen(&self) -> (usize, &BTreeSet<String>) {
        (self.num_seen, &self.without_lines)
    }

    fn unit(&mut self, name: &str) -> i64 {
        let at = self.units.iter().position(|known| known == name).unwrap_or_else(|| {
            self.units.push(name.to_owned());
            self.units.len() - 1
        });
        i64::try_from(at).unwrap_or(0).saturating_mul(NUMBERS_OF_A_FILE)
    }

    fn body(&mut self, object: &str, address: u64) -> Body {
        let outlined = self
            .objects
            .entry(object.to_owned())
            .or_insert_with(|| Outlined::of(Path::new(object)));
        // All files of an object are numbered when its first region is seen, so that the order does not
        // depend on what a run executes.
        let (files, line) = (outlined.files().to_vec(), outlined.line(address).cloned());
        let name = outlined.name(address).map(|(name, at)| (name.to_owned(), at));
        files.iter().for_each(|file| {
            self.unit(file);
        });
        if let Some(line) = line {
            let number = self.unit(&line.file).saturating_add(i64::from(line.line));
            return Body { number, file: format!("{PREFIX}{}", line.file), line: line.line };
        }
        if name.is_none() {
            return self.other(object, address);
        }
        self.without_lines.insert(object.to_owned());
        let (name, at) = name.unwrap_or_default();
        let at = i64::try_from(at).unwrap_or(0).saturating_add(1);
        let number = self.unit(object).saturating_add(at);
        Body { number, file: format!("{PREFIX}{name}"), line: 0 }
    }

    /// The call that starts a region, or the function with which a thread starts; also the body of a
    /// region in a file without symbols. Its file comes behind those that are known to have regions.
    fn other(&mut self, object: &str, address: u64) -> Body {
        let key = (object.to_owned(), address);
        let found =
            self.starts.entry(key).or_insert_with(|| Outlined::other(Path::new(object), address));
        let name = match found.clone() {
            Some((_, Some(line))) => {
                let number = self.unit(&line.file).saturating_add(i64::from(line.line));
                return Body { number, file: format!("{PREFIX}{}", line.file), line: line.line };
            }
            Some((name, None)) => name,
            None => {
                let base = Path::new(object).file_name().unwrap_or_default().to_string_lossy();
                format!("{base}+{address:#x}")
            }
        };
        self.without_lines.insert(object.to_owned());
        let number = self.unit(&format!("{object}+{address:#x}")).saturating_add(1);
        Body { number, file: format!("{PREFIX}{name}"), line: 0 }
    }
}

impl Bodies for Numbers {
    fn number(&mut self, places: &[&str]) -> Vec<Body> {
        let parsed: Vec<(&str, u64)> = places
            .iter()
            .map(|place| {
                let (object, address) = place.rsplit_once("+0x").unwrap_or((place, ""));
                (object, u64::from_str_radix(address, 16).unwrap_or(0))
            })
            .collect();
        let in_order: BTreeSet<(&str, u64)> = parsed.iter().copied().collect();
        for &(object, address) in &in_order {
            self.body(object, address);
        }
        self.num_seen += in_order.len();
        parsed.into_iter().map(|(object, address)| self.body(object, address)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_comes_behind_what_is_loaded_anyway() {
        let library = Library { folder: tempfile::tempdir().unwrap() };
        let own = library.path().to_string_lossy().into_owned();
        let mut environment = vec![(VARIABLE.to_owned(), "a.so".to_owned())];
        library.add_to(&mut environment);
        assert_eq!(environment, [(VARIABLE.to_owned(), format!("a.so:{own}"))]);
        let mut environment = vec![(VARIABLE.to_owned(), String::new())];
        library.add_to(&mut environment);
        assert_eq!(environment, [(VARIABLE.to_owned(), own)]);
    }

    #[test]
    fn bodies_of_objects_without_symbols_keep_their_numbers() {
        let mut numbers = Numbers::default();
        let found = numbers.number(&["/none/app+0x20", "/none/app+0x3"]);
        let of = |found: &[Body]| found.iter().map(|body| body.number).collect::<Vec<_>>();
        assert_eq!(of(&found), [100_001, 1]);
        assert_eq!(found[0].file, "binary:app+0x20");
        // A later run, and a sweep that is gone on with, may see fewer of them first.
        let mut later = Numbers::resumed(&json!({ FIELD: numbers.to_value() }));
        assert_eq!(of(&later.number(&["/none/app+0x20"])), [100_001]);
        assert_eq!(of(&later.number(&["/none/app+0x1", "/none/app+0x3"])), [200_001, 1]);
        assert_eq!(later.seen(), (3, &BTreeSet::from(["/none/app".to_owned()])));
    }
}
