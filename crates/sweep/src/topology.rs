//! Which processors a run may use: binding by affinity.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Where the system says how its processors lie.
pub(crate) const SYSTEM: &str = "/sys/devices/system/cpu";

/// How a run on p cores is bound to processors. Only those count on which the tool itself may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Binding {
    /// Not at all: the system and the program's runtime decide.
    #[default]
    None,
    /// To p adjacent cores: those of one socket before those of the next, and one hardware thread
    /// of every core before the second of any.
    Close,
    /// To p cores as far apart as possible: over sockets, and over the cores of each. One hardware
    /// thread of every core before the second of any.
    Spread,
}

impl Binding {
    /// As it is written on the command line and in the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Close => "close",
            Self::Spread => "spread",
        }
    }

    /// The processors of a run on `cores` cores, ascending; `None` when it is not bound. Where there
    /// are too few, all of them.
    pub(crate) fn processors(self, all: &[Processor], cores: u32) -> Option<Vec<u32>> {
        let wanted = (cores as usize).min(all.len());
        // Neighbours are adjacent, first hardware threads before second ones.
        let mut near = all.to_vec();
        near.sort_by_key(|p| (p.sibling, p.socket, p.core, p.id));
        let mut chosen: Vec<u32> = match self {
            Self::None => return None,
            Self::Close => near.iter().take(wanted).map(|p| p.id).collect(),
            Self::Spread => {
                let mut left = wanted;
                let rounds = near.chunk_by(|a, b| a.sibling == b.sibling);
                rounds
                    .flat_map(|round| {
                        let taken = left.min(round.len());
                        left -= taken;
                        apart(round, taken)
                    })
                    .collect()
            }
        };
        chosen.sort_unstable();
        Some(chosen)
    }
}

/// `wanted` of these processors, in turns from each socket, evenly spaced in each.
fn apart(round: &[Processor], wanted: usize) -> Vec<u32> {
    let sockets: Vec<&[Processor]> = round.chunk_by(|a, b| a.socket == b.socket).collect();
    let mut taken = vec![0_usize; sockets.len()];
    let mut left = wanted.min(round.len());
    while left > 0 {
        for (taken, socket) in taken.iter_mut().zip(&sockets) {
            if left > 0 && *taken < socket.len() {
                (*taken, left) = (*taken + 1, left - 1);
            }
        }
    }
    let of_socket = sockets.iter().zip(taken).flat_map(|(socket, taken)| {
        (0..taken).filter_map(move |at| socket.get(at * socket.len() / taken))
    });
    of_socket.map(|processor| processor.id).collect()
}

/// A processor as the system counts them: a hardware thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Processor {
    pub(crate) id: u32,
    pub(crate) socket: u32,
    /// The first hardware thread of its core.
    pub(crate) core: u32,
    /// Which of the hardware threads of its core it is, from 0, among those that may be used.
    pub(crate) sibling: u32,
}

/// The processors on which this process may run, by the files below `system`. Where these say
/// nothing, each is a core of one socket.
pub(crate) fn processors(system: &Path, allowed: &[u32]) -> Vec<Processor> {
    let mut of_core: BTreeMap<u32, u32> = BTreeMap::new();
    let place = |&id: &u32| {
        let read =
            |name: &str| fs::read_to_string(system.join(format!("cpu{id}/topology/{name}"))).ok();
        let socket = read("physical_package_id").and_then(|text| text.trim().parse().ok());
        let siblings = read("thread_siblings_list").map(|text| listed(&text)).unwrap_or_default();
        let core = siblings.into_iter().min().unwrap_or(id);
        let known = of_core.entry(core).or_default();
        let sibling = *known;
        *known += 1;
        Processor { id, socket: socket.unwrap_or(0), core, sibling }
    };
    allowed.iter().map(place).collect()
}

/// The processors on which this process may run, ascending; nothing where the system does not say.
pub(crate) fn allowed() -> Vec<u32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.map(listed).unwrap_or_default()
}

/// The numbers of a list as the system writes it: `0-3,8`.
fn listed(text: &str) -> Vec<u32> {
    let parts = text.trim().split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        // No machine has more.
        (last < 1 << 20).then_some(first..=last)
    });
    parts.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sockets of four cores with two hardware threads each, numbered as Linux does.
    fn planted(folder: &Path) {
        for id in 0..16_u32 {
            let core = id % 8;
            let place = folder.join(format!("cpu{id}/topology"));
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("physical_package_id"), format!("{}\n", core / 4)).unwrap();
            let siblings = format!("{core},{}\n", core + 8);
            fs::write(place.join("thread_siblings_list"), siblings).unwrap();
        }
    }

    #[test]
    fn bindings_take_cores_before_hardware_threads() {
        let place = tempfile::tempdir().unwrap();
        planted(place.path());
        let all: Vec<u32> = (0..16).collect();
        let all = processors(place.path(), &all);
        let of = |binding: Binding, cores| binding.processors(&all, cores);
        assert_eq!(of(Binding::None, 4), None);
        assert_eq!(of(Binding::Close, 1), Some(vec![0]));
        assert_eq!(of(Binding::Close, 3), Some(vec![0, 1, 2]));
        assert_eq!(of(Binding::Close, 6), Some(vec![0, 1, 2, 3, 4, 5]));
        assert_eq!(of(Binding::Close, 10), Some((0..10).collect()));
        assert_eq!(of(Binding::Spread, 1), Some(vec![0]));
        assert_eq!(of(Binding::Spread, 2), Some(vec![0, 4]));
        assert_eq!(of(Binding::Spread, 3), Some(vec![0, 2, 4]));
        assert_eq!(of(Binding::Spread, 4), Some(vec![0, 2, 4, 6]));
        assert_eq!(of(Binding::Spread, 8), Some((0..8).collect()));
        assert_eq!(of(Binding::Spread, 10), Some([(0..8).collect(), vec![8, 12]].concat()));
        // More than there are: all.
        assert_eq!(of(Binding::Spread, 40), Some((0..16).collect()));
        assert_eq!(of(Binding::Close, 40), Some((0..16).collect()));
    }

    #[test]
    fn only_processors_count_that_may_be_used() {
        let place = tempfile::tempdir().unwrap();
        planted(place.path());
        // Second hardware threads are all that is left of cores 1 and 2.
        let all = processors(place.path(), &[3, 5, 7, 9, 10, 13]);
        assert_eq!(Binding::Close.processors(&all, 3), Some(vec![3, 9, 10]));
        assert_eq!(Binding::Spread.processors(&all, 2), Some(vec![5, 9]));
        // Without files about its places, each processor is a core.
        let all = processors(Path::new("/nowhere"), &[2, 3]);
        assert_eq!(Binding::Close.processors(&all, 1), Some(vec![2]));
    }

    #[test]
    fn lists_of_the_system_are_read() {
        assert_eq!(listed("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(listed("\t5"), [5]);
        assert_eq!(listed("0-99999999999,x,"), Vec::<u32>::new());
    }
}
