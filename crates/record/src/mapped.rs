//! What is mapped in a process that runs, as the kernel lists it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use crate::events::Map;

/// How much more time passes between two readings of a list than one takes.
const PAUSE: u32 = 50;

/// A process that runs, from the outside.
#[derive(Debug)]
pub(crate) struct Living {
    pid: u32,
    memory: Option<File>,
    sizes: Option<File>,
    /// Code that is mapped, by its start.
    code: BTreeMap<u64, Map>,
    /// Pages of memory when the list was read.
    pages: u64,
    /// When that was.
    read_nanos: u64,
    next: Instant,
}

impl Living {
    /// A process that has just become its program.
    pub(crate) fn new(pid: u32, nanos: u64) -> Self {
        let open = |name: &str| File::open(format!("/proc/{pid}/{name}")).ok();
        let (memory, sizes) = (open("mem"), open("statm"));
        let (code, pages, read_nanos, next) = (BTreeMap::new(), 0, nanos, Instant::now());
        Self { pid, memory, sizes, code, pages, read_nanos, next }
    }

    /// A copy of this process.
    pub(crate) fn copied(&self, pid: u32, nanos: u64) -> Self {
        Self { code: self.code.clone(), ..Self::new(pid, nanos) }
    }

    /// Fills `into` with memory from an address on, as far as there is some and `most` bytes.
    pub(crate) fn read(&self, address: u64, most: usize, into: &mut Vec<u8>) {
        into.resize(most, 0);
        let mut done = 0;
        while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty())
            && let Some(memory) = &self.memory
            && let Ok(count @ 1..) = memory.read_at(rest, address.saturating_add(done as u64))
        {
            done += count;
        }
        into.truncate(done);
    }

    /// Whether there is code at this address.
    pub(crate) fn knows(&self, address: u64) -> bool {
        let below = self.code.range(..=address).next_back();
        below.is_some_and(|(start, map)| address - start < map.len)
    }

    /// Code that was mapped since the last time, and when that was, as far as it shows in how much
    /// memory there is; `instruction` is where a thread is.
    pub(crate) fn new_code(&mut self, nanos: u64, instruction: u64) -> (u64, Vec<Map>) {
        let begun = Instant::now();
        let nothing = (nanos, Vec::new());
        if begun < self.next {
            return nothing;
        }
        let pages = self.pages_now();
        if pages == self.pages && self.knows(instruction) {
            return nothing;
        }
        self.pages = pages;
        let Ok(text) = fs::read(format!("/proc/{}/maps", self.pid)) else { return nothing };
        let maps: Vec<Map> = String::from_utf8_lossy(&text).lines().filter_map(code).collect();
        let cost: Duration = begun.elapsed();
        self.next = begun + cost * PAUSE;
        if maps.is_empty() {
            // It has ended.
            return nothing;
        }
        let is_new = |map: &&Map| self.code.get(&map.start) != Some(map);
        let new = maps.iter().filter(is_new).cloned().collect();
        self.code = maps.into_iter().map(|map| (map.start, map)).collect();
        (std::mem::replace(&mut self.read_nanos, nanos), new)
    }

    fn pages_now(&self) -> u64 {
        let mut text = [0; 128];
        let file = self.sizes.as_ref();
        let len = file.and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        let text = text.get(..len).and_then(|text| str::from_utf8(text).ok());
        let first = text.and_then(|text| text.split(' ').next());
        first.and_then(|pages| pages.parse().ok()).unwrap_or(0)
    }
}

/// A line of the list, if it is about code: `start-end rights offset device number path`.
fn code(line: &str) -> Option<Map> {
    let mut rest = line;
    let mut next = || {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after.trim_start();
        word
    };
    let (range, rights, offset) = (next(), next(), next());
    let (_device, _number) = (next(), next());
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = range.split_once('-')?;
    let (start, end, offset) = (number(start)?, number(end)?, number(offset)?);
    let path = rest.strip_suffix(" (deleted)").unwrap_or(rest).to_owned();
    let len = end.checked_sub(start)?;
    rights.contains('x').then_some(Map { start, len, offset, path })
}

/// Of which process a thread is, and which one made that.
pub(crate) fn process_of(tid: u32) -> Option<(u32, u32)> {
    let text = fs::read(format!("/proc/{tid}/status")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let number = |name: &str| {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    Some((number("Tgid:")?, number("PPid:")?))
}

/// Whether the program has a handler for a signal.
pub(crate) fn has_handler(tid: u32, signal: i32) -> bool {
    let Ok(text) = fs::read(format!("/proc/{tid}/status")) else { return true };
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines();
    let caught = lines.find_map(|line| {
        let mask = line.strip_prefix("SigCgt:")?.trim();
        u64::from_str_radix(mask, 16).ok()
    });
    caught.is_none_or(|caught| caught >> (signal - 1).clamp(0, 63) & 1 == 1)
}

/// What a thread is called.
pub(crate) fn name_of(pid: u32, tid: u32) -> Option<String> {
    let name = fs::read(format!("/proc/{pid}/task/{tid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_has_its_file_whose_path_may_have_blanks() {
        let map = code("7f00-8f00 r-xp 00001000 fe:00 42       /a b/lib.so (deleted)").unwrap();
        let wanted = Map { start: 0x7f00, len: 0x1000, offset: 0x1000, path: "/a b/lib.so".into() };
        assert_eq!(map, wanted);
        let made = code("7f00-8f00 rwxp 00000000 00:00 0").unwrap();
        assert_eq!(made.path, "");
        for line in ["", "x", "7f00-8f00 rw-p 00000000 00:00 0 [heap]", "9-1 r-xp 0 0 0 /x"] {
            assert_eq!(code(line), None, "{line}");
        }
    }

    #[test]
    fn this_process_is_seen_as_from_the_outside() {
        let pid = std::process::id();
        let mut own = Living::new(pid, 5);
        let here = (this_process_is_seen_as_from_the_outside as fn()) as usize as u64;
        assert!(!own.knows(here));
        let (since, new) = own.new_code(9, here);
        assert_eq!(since, 5);
        assert!(new.iter().any(|map| map.path.starts_with('/')), "{new:?}");
        assert!(own.knows(here));
        let text = [7_u8; 64];
        let mut found = Vec::new();
        own.read(text.as_ptr().addr() as u64, 64, &mut found);
        assert_eq!(found, text);
        own.read(8, 64, &mut found);
        assert!(found.is_empty());
        assert_eq!(process_of(pid).unwrap().0, pid);
        assert!(name_of(pid, pid).is_some_and(|name| !name.is_empty()));
        // The standard library ignores SIGPIPE (13) and handles SIGSEGV (11).
        assert!(!has_handler(pid, 13) && has_handler(pid, 11) && !has_handler(pid, 64));
        assert!(process_of(u32::MAX).is_none() && name_of(0, 0).is_none());
    }
}
