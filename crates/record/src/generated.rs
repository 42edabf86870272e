//! Names of code that a program makes while it runs: just-in-time compilers write them to
//! `/tmp/perf-PID.map`, a line `START LENGTH NAME` (hexadecimal) for each function.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

/// Most bytes of a list that are read.
const MOST_BYTES: u64 = 256 << 20;

/// The lists of all processes, as far as they were needed.
#[derive(Debug, Default)]
pub(crate) struct Generated {
    lists: HashMap<u32, List>,
}

#[derive(Debug, Default)]
struct List {
    read_bytes: u64,
    /// By start: where each ends, and its name.
    functions: BTreeMap<u64, (u64, String)>,
}

impl Generated {
    /// The name of what lies at an address of a process.
    pub(crate) fn name(&mut self, pid: u32, address: u64) -> Option<&str> {
        let list = self.lists.entry(pid).or_default();
        if list.at(address).is_none() {
            list.read_on(&format!("/tmp/perf-{pid}.map"));
        }
        list.at(address)
    }
}

/// What a name of CPython begins with, before the function, a colon and the file.
const PYTHON: &str = "py::";

impl Generated {
    /// Whether an address is in what CPython makes for a function.
    pub(crate) fn is_python(&mut self, pid: u32, address: u64) -> bool {
        self.name(pid, address).is_some_and(|name| name.starts_with(PYTHON))
    }
}

/// A function and its file, which only CPython names.
pub(crate) fn function_and_file(name: &str) -> (&str, &str) {
    let python = name.strip_prefix(PYTHON).and_then(|name| name.rsplit_once(':'));
    python.unwrap_or((name, ""))
}

impl List {
    fn at(&self, address: u64) -> Option<&str> {
        let (_, (end, name)) = self.functions.range(..=address).next_back()?;
        (address < *end).then_some(name.as_str())
    }

    /// Reads what was written since the last time. A list that cannot be read has no names.
    fn read_on(&mut self, path: &str) {
        let Ok(mut file) = File::open(path) else { return };
        let len = file.metadata().map_or(0, |metadata| metadata.len()).min(MOST_BYTES);
        if len <= self.read_bytes || file.seek(SeekFrom::Start(self.read_bytes)).is_err() {
            return;
        }
        let mut bytes = Vec::new();
        if file.take(len - self.read_bytes).read_to_end(&mut bytes).is_ok() {
            self.add(&bytes);
        }
    }

    /// Adds lines; one that is not complete yet is read again later.
    fn add(&mut self, bytes: &[u8]) {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.read_bytes += whole as u64;
        let text = String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default());
        for line in text.lines() {
            let mut words = line.splitn(3, ' ');
            let mut number = || {
                let word = words.next()?;
                u64::from_str_radix(word.trim_start_matches("0x"), 16).ok()
            };
            let (Some(start), Some(len)) = (number(), number()) else { continue };
            if let (Some(end), Some(name)) = (start.checked_add(len), words.next()) {
                self.functions.insert(start, (end, name.to_owned()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_as_they_are_written_and_bad_ones_are_left_out() {
        let mut list = List::default();
        list.add(b"1000 20 first one\nbad\n0x2000 10 second\n30");
        assert_eq!(list.at(0x1000), Some("first one"));
        assert_eq!(list.at(0x101f), Some("first one"));
        assert_eq!(list.at(0x1020), None);
        assert_eq!(list.at(0x200f), Some("second"));
        assert_eq!(list.read_bytes, 39, "the last line is not complete");
        list.add(b"3000 1 third\n");
        assert_eq!(list.at(0x3000), Some("third"));
    }
}
