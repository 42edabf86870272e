//! Functions without names: addresses that differ in every process.
//!
//! Where a program has no symbols, TAU names functions by address: `addr=<5575eb2f6810>
//! [{/opt/hpccg} {0,0}]`. The loader puts the program elsewhere in every process, by whole pages, so
//! the same function has another name in every rank and nothing could be compared. The lowest
//! address that a process names in a binary gives the page from which the others are counted:
//!
//! ```text
//! rank 0: addr=<5575eb2f6810>  addr=<5575eb2f8140>   ->  <hpccg+0x810>  <hpccg+0x2140>
//! rank 1: addr=<560f55398810>  addr=<560f5539a140>   ->  <hpccg+0x810>  <hpccg+0x2140>
//! ```
//!
//! A process that did not call the lowest function counts from another page; its functions then
//! stay apart from those of the others.
//!
//! `/proc/self/exe` is what TAU says of addresses in libraries that it does not find. They are as
//! unknown as `(unknown)`, which it says of the same function in other processes.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{Issues, Place, Severity, Stage};
use parallax_formats::tau::{Profiles, Timer};

const MARK: &str = "addr=<";
const PAGE: u64 = 4096;
/// What TAU says of addresses that are in no binary that it knows.
const UNKNOWN: &str = "(unknown)";
/// Linux loads libraries from here on, and programs below.
const LIBRARIES: u64 = 0x7000_0000_0000;

/// An address in a name: where it stands, its value, and the binary that is named behind it.
struct Address<'n> {
    start: usize,
    /// Behind the place in the source that follows the address.
    end: usize,
    value: u64,
    binary: &'n str,
}

fn addresses(name: &str) -> impl Iterator<Item = Address<'_>> {
    name.match_indices(MARK).filter_map(move |(start, _)| {
        let from = start + MARK.len();
        let len = name.get(from..)?.find('>')?;
        let digits = name.get(from..from + len)?;
        let value = u64::from_str_radix(digits.trim_start_matches("0x"), 16).ok()?;
        let behind = from + len + 1;
        let rest = name.get(behind..)?;
        let place = rest.trim_start().strip_prefix("[{").and_then(|place| {
            let (binary, after) = place.split_once('}')?;
            let (_, after) = after.split_once(']')?;
            let is_known = binary != "/proc/self/exe" || value < LIBRARIES;
            Some((if is_known { binary } else { UNKNOWN }, name.len() - after.len()))
        });
        let (binary, end) = place.unwrap_or(("", behind));
        Some(Address { start, end, value, binary })
    })
}

/// The lowest page by process and binary.
type Pages = HashMap<(u32, u32, String), u64>;

/// Renames functions that have an address for a name, in timers and in paths of user events.
pub(super) fn align(profiles: &mut Profiles, issues: &mut Issues) {
    let has_any = profiles.timers.iter().any(|timer| timer.name.contains(MARK));
    if !has_any {
        return;
    }
    let mut pages = Pages::new();
    for thread in &profiles.threads {
        for row in &thread.timers {
            let Some(timer) = profiles.timers.get(row.timer as usize) else { continue };
            for address in addresses(&timer.name) {
                let key = (thread.id.node, thread.id.context, address.binary.to_owned());
                let page = address.value / PAGE * PAGE;
                let lowest = pages.entry(key).or_insert(page);
                *lowest = page.min(*lowest);
            }
        }
    }
    let mut renamed = Renamed::default();
    let mut timers: Vec<Timer> = Vec::new();
    let mut events: Vec<Arc<str>> = Vec::new();
    for thread in &mut profiles.threads {
        let process = (thread.id.node, thread.id.context);
        for row in &mut thread.timers {
            let Some(timer) = profiles.timers.get(row.timer as usize) else { continue };
            let name = relative(&timer.name, process, &pages);
            row.timer = *renamed.timers.entry(name).or_insert_with_key(|name| {
                timers.push(Timer { name: Arc::clone(name), groups: timer.groups.clone() });
                u32::try_from(timers.len() - 1).unwrap_or(u32::MAX)
            });
        }
        for row in &mut thread.events {
            let Some(event) = profiles.events.get(row.event as usize) else { continue };
            let name = relative(event, process, &pages);
            row.event = renamed.event(name, &mut events);
        }
    }
    let before = profiles.timers.len();
    profiles.timers = timers;
    profiles.events = events;
    let after = profiles.timers.len();
    issues.report(Severity::Warning, Stage::Import, "names-aligned", Place::Whole, || {
        format!(
            "functions have no names but addresses, which differ in every process; counted from \
             the lowest one of each process, {before} names become {after} (build the program with \
             symbols, or without -pie, to get names)"
        )
    });
}

/// New rows by new name.
#[derive(Default)]
struct Renamed {
    timers: HashMap<Arc<str>, u32>,
    events: HashMap<Arc<str>, u32>,
}

impl Renamed {
    fn event(&mut self, name: Arc<str>, events: &mut Vec<Arc<str>>) -> u32 {
        *self.events.entry(name).or_insert_with_key(|name| {
            events.push(Arc::clone(name));
            u32::try_from(events.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

/// The name with addresses in no known binary counted from their page, which is the same in every
/// process: what can be said of a name without all names of its process.
pub(crate) fn in_page(name: &Arc<str>) -> Arc<str> {
    let unknown = addresses(name).filter(|address| matches!(address.binary, "" | UNKNOWN));
    let pages = unknown.map(|address| ((0, 0, address.binary.to_owned()), address.value)).collect();
    relative(name, (0, 0), &pages)
}

/// The name with addresses counted from the lowest page of the process.
fn relative(name: &Arc<str>, (node, context): (u32, u32), pages: &Pages) -> Arc<str> {
    if !name.contains(MARK) {
        return Arc::clone(name);
    }
    let mut out = String::new();
    let mut done = 0;
    for address in addresses(name) {
        let key = (node, context, address.binary.to_owned());
        let Some(&lowest) = pages.get(&key) else { continue };
        // Several binaries may be unknown: only the place inside a page is the same everywhere.
        let is_known = !matches!(address.binary, "" | UNKNOWN);
        let page = if is_known { lowest } else { address.value / PAGE * PAGE };
        let Some(before) = name.get(done..address.start) else { continue };
        let file = address.binary.rsplit('/').next().unwrap_or_default();
        let file = if is_known { file } else { "?" };
        out.push_str(before);
        // The place keeps its path, so that the function is known to be in that binary.
        let place = name.get(address.start..address.end).and_then(|all| all.find("[{"));
        let place = place.and_then(|at| name.get(address.start + at..address.end)).unwrap_or("");
        let place = if is_known || place.is_empty() { place } else { "[{(unknown)} {0,0}]" };
        out.push_str(&format!("<{file}+{:#x}> {place}", address.value.wrapping_sub(page)));
        done = address.end;
    }
    out.push_str(name.get(done..).unwrap_or_default());
    out.trim_end().into()
}

#[cfg(test)]
mod tests {
    use parallax_formats::tau::{Thread, ThreadId, TimerRow};

    use super::*;

    #[test]
    fn an_address_in_no_binary_is_named_by_its_place_in_a_page() {
        for (name, expected) in [
            (
                "[PTHREAD] addr=<0x7f01d40> [{(unknown)} {0, 0}]",
                "[PTHREAD] <?+0xd40> [{(unknown)} {0,0}]",
            ),
            ("addr=<5575eb2f6810> [{/opt/x} {0,0}]", "addr=<5575eb2f6810> [{/opt/x} {0,0}]"),
            ("main", "main"),
        ] {
            assert_eq!(&*in_page(&name.into()), expected);
        }
    }

    #[test]
    fn the_same_function_has_the_same_name_in_every_process() {
        let names = [
            "addr=<5575eb2f6810> [{/opt/x} {0,0}]",
            "addr=<5575eb2f8140> [{/opt/x} {0,0}] => addr=<5575eb2f6810> [{/opt/x} {0,0}]",
            "addr=<560f55398810> [{/opt/x} {0,0}]",
            "addr=<560f5539a140> [{/opt/x} {0,0}] => addr=<560f55398810> [{/opt/x} {0,0}]",
            "MPI_Init()",
            "[PTHREAD] addr=<0x7f2101037c40> [{(unknown)} {0, 0}]",
            "[PTHREAD] addr=<7f17baea9c40> [{/proc/self/exe} {0, 0}]",
        ];
        let thread = |node, timers: [u32; 4]| Thread {
            timers: timers.map(|timer| TimerRow { timer, calls: 1.0, subroutines: 0.0 }).into(),
            ..Thread::new(ThreadId { node, context: 0, thread: 0 })
        };
        let timers = names.map(|name| Timer { name: name.into(), groups: Vec::new() });
        let mut profiles = Profiles {
            timers: timers.into(),
            threads: vec![thread(0, [0, 1, 4, 5]), thread(1, [2, 3, 4, 6])],
            ..Profiles::default()
        };
        let mut issues = Issues::new();
        align(&mut profiles, &mut issues);
        let found: Vec<&str> = profiles.timers.iter().map(|timer| &*timer.name).collect();
        assert_eq!(
            found,
            [
                "<x+0x810> [{/opt/x} {0,0}]",
                "<x+0x2140> [{/opt/x} {0,0}] => <x+0x810> [{/opt/x} {0,0}]",
                "MPI_Init()",
                "[PTHREAD] <?+0xc40> [{(unknown)} {0,0}]"
            ]
        );
        let rows =
            |at: usize| profiles.threads[at].timers.iter().map(|r| r.timer).collect::<Vec<_>>();
        assert_eq!(rows(0), rows(1));
        assert_eq!(issues.list()[0].kind, "names-aligned");
    }
}
