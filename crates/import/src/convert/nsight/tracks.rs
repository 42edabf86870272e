//! Threads and streams: which there are, and what they are called.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parallax_base::Issues;
use parallax_formats::nsight::{
    ContextStream, NsightDb, ProcessRow, RankRow, StreamName, Strings, ThreadRow, pid_of,
    process_of, tid_of,
};
use parallax_model::IdentityKind;

use super::facts::Facts;
use crate::convert::gathered::Gathered;
use crate::events::{Conversion, ConversionError, TrackIdentity, TrackKind};

/// About what a track takes while a trace is converted.
const TRACK_BYTES: usize = 1024;

/// What a thread is called on which MPI was initialised, before its rank.
const RANK_NAME: &str = "MPI Rank ";

/// Beginnings of names of threads that are not of the program, and the groups of functions that
/// stand for all that they do: of the driver of CUDA, and of Nsight Systems with CUPTI.
const OTHERS: [(&str, &str); 3] = [
    ("cuda-EvtHandlr", "GPU driver thread"),
    ("[NSys", "measurement thread"),
    ("CUPTI worker thread", "measurement thread"),
];

/// The group of those that stand for what threads of the program do.
const PROGRAM: &str = "program thread";

/// A function that stands for all that a thread does: what it does outside of recorded calls is its
/// own.
pub(super) struct Frame {
    pub(super) name: String,
    pub(super) group: &'static str,
    pub(super) is_of_program: bool,
}

/// What a track is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Who {
    /// A thread, by its `globalTid`.
    Thread(i64),
    /// Ranges of a process that are of no thread.
    Ranges(i64),
    /// A stream of a GPU.
    Stream { process: i64, device: Option<u64>, context: Option<u64>, stream: Option<u64> },
}

impl Who {
    fn process(self) -> i64 {
        match self {
            Self::Thread(thread) => process_of(thread),
            Self::Ranges(process) | Self::Stream { process, .. } => process,
        }
    }
}

/// The tracks met so far.
#[derive(Default)]
pub(super) struct Tracks {
    numbers: HashMap<Who, usize>,
    whos: Vec<Who>,
    gathered: Vec<Gathered>,
    /// Most rows are of the track of the one before.
    last: Option<(Who, usize)>,
    held_bytes: usize,
}

impl Tracks {
    pub(super) fn track(&mut self, who: Who) -> usize {
        if let Some((last, number)) = self.last
            && last == who
        {
            return number;
        }
        let number = match self.numbers.get(&who) {
            Some(&number) => number,
            None => {
                let number = self.whos.len();
                self.numbers.insert(who, number);
                self.whos.push(who);
                self.gathered.push(Gathered::default());
                self.hold(TRACK_BYTES);
                number
            }
        };
        self.last = Some((who, number));
        number
    }

    pub(super) fn gathered(&mut self, track: usize) -> Option<&mut Gathered> {
        self.gathered.get_mut(track)
    }

    pub(super) fn all_mut(&mut self) -> &mut [Gathered] {
        &mut self.gathered
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Who, &Gathered)> {
        self.whos.iter().zip(&self.gathered)
    }

    /// Counts memory that is kept to the end.
    pub(super) const fn hold(&mut self, bytes: usize) {
        self.held_bytes = self.held_bytes.saturating_add(bytes);
    }

    pub(super) const fn held_bytes(&self) -> u64 {
        self.held_bytes as u64
    }

    /// All processes with a thread or a stream.
    fn processes(&self) -> BTreeSet<i64> {
        self.whos.iter().map(|who| who.process()).collect()
    }

    /// The process, where there is one.
    pub(super) fn only_process(&self) -> Option<i64> {
        let first = self.whos.first()?.process();
        self.whos.iter().all(|who| who.process() == first).then_some(first)
    }
}

/// What threads, streams and processes are called, and which numbers they have.
pub(super) struct Names {
    /// Names of processes.
    processes: HashMap<i64, String>,
    /// Names of threads.
    threads: HashMap<i64, String>,
    /// Number of each thread in its process: the main thread is 0.
    numbers: HashMap<i64, u64>,
    /// Names that several threads of a process have.
    shared: BTreeSet<(i64, String)>,
    /// Ranks of processes; where no process has one, all have the number of the system.
    ranks: BTreeMap<i64, u64>,
    /// Names of streams: process, context, stream.
    streams: HashMap<(u64, u64, u64), String>,
    /// GPUs of a process on which it has several contexts.
    with_contexts: BTreeSet<(i64, Option<u64>)>,
}

impl Names {
    /// Reads what is known of the tracks; `by_nvtx` has names that the program gives to threads.
    pub(super) fn read(
        tracks: &Tracks,
        by_nvtx: HashMap<i64, String>,
        facts: &Facts,
        db: &NsightDb,
        strings: &Strings,
        issues: &mut Issues,
    ) -> Result<Self, ConversionError> {
        let own = tracks.processes();
        let mut threads: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
        for who in &tracks.whos {
            if let Who::Thread(id) = *who {
                threads.entry(process_of(id)).or_default().insert(id);
            }
        }
        let is_known = |id: i64| threads.get(&process_of(id)).is_some_and(|own| own.contains(&id));
        let mut names = HashMap::new();
        db.scan("ThreadNames", issues, |(row, _): (ThreadRow, u64)| {
            if let (Some(id), Some(name)) = (row.thread, row.name.and_then(|id| strings.get(id)))
                && is_known(id)
            {
                names.insert(id, name.to_owned());
            }
            Ok::<(), ConversionError>(())
        })?;
        names.extend(by_nvtx.into_iter().filter(|(id, _)| is_known(*id)));
        let mut processes = HashMap::new();
        db.scan("PROCESSES", issues, |(row, _): (ProcessRow, u64)| {
            if let (Some(id), Some(name)) = (row.process.map(process_of), row.name)
                && own.contains(&id)
            {
                let name = name.rsplit('/').next().unwrap_or_default().to_owned();
                processes.insert(id, name);
            }
            Ok::<(), ConversionError>(())
        })?;
        let mut streams = HashMap::new();
        let mut name = |key: (Option<u64>, Option<u64>, Option<u64>), name: String| {
            if let ((Some(pid), Some(context), Some(stream)), false) = (key, name.is_empty()) {
                streams.insert((pid, context, stream), name);
            }
        };
        for table in ContextStream::TABLES {
            db.scan(table, issues, |(row, _): (ContextStream, u64)| {
                name((row.pid, row.context, row.stream), "default".to_owned());
                Ok::<(), ConversionError>(())
            })?;
        }
        let named = "TARGET_INFO_NVTX_CUDA_STREAM";
        db.scan(named, issues, |(row, _): (StreamName, u64)| {
            name((row.pid, row.context, row.stream), row.name.unwrap_or_default());
            Ok::<(), ConversionError>(())
        })?;
        let mut ranks = BTreeMap::new();
        db.scan("MPI_RANKS", issues, |(row, _): (RankRow, u64)| {
            if let (Some(id), Some(rank)) = (row.id.map(process_of), row.rank)
                && own.contains(&id)
            {
                ranks.insert(id, rank);
            }
            Ok::<(), ConversionError>(())
        })?;
        if ranks.is_empty() {
            let named = names.iter().filter_map(|(&id, name): (&i64, &String)| {
                Some((process_of(id), name.strip_prefix(RANK_NAME)?.trim().parse().ok()?))
            });
            ranks = named.collect();
        }
        if let (true, Some(only), Some(rank)) =
            (ranks.is_empty(), tracks.only_process(), facts.rank())
        {
            ranks.insert(only, rank);
        }
        // Ranks of several programs say nothing about who is who.
        if ranks.values().collect::<BTreeSet<_>>().len() < ranks.len() {
            ranks.clear();
        }
        let (mut numbers, mut shared) = (HashMap::new(), BTreeSet::new());
        for (&process, own) in &threads {
            let mut own: Vec<i64> = own.iter().copied().collect();
            own.sort_by_key(|&id| (tid_of(id) != pid_of(id), id));
            let mut seen = BTreeSet::new();
            for (&id, number) in own.iter().zip(0..) {
                numbers.insert(id, number);
                if let Some(name) = names.get(&id)
                    && !seen.insert(name)
                {
                    shared.insert((process, name.clone()));
                }
            }
        }
        let mut contexts: BTreeMap<_, BTreeSet<Option<u64>>> = BTreeMap::new();
        for who in &tracks.whos {
            if let Who::Stream { process, device, context, .. } = *who {
                contexts.entry((process, device)).or_default().insert(context);
            }
        }
        contexts.retain(|_, own| own.len() > 1);
        let with_contexts = contexts.into_keys().collect();
        Ok(Self { processes, threads: names, numbers, shared, ranks, streams, with_contexts })
    }

    /// Who a track is.
    pub(super) fn identity(&self, who: Who) -> TrackIdentity {
        let process = who.process();
        let pid = pid_of(process);
        let rank = self.ranks.get(&process).copied();
        let of = match (rank, self.processes.get(&process).filter(|name| !name.is_empty())) {
            (Some(rank), _) => format!("rank {rank}"),
            (None, Some(name)) => format!("{name} {pid}"),
            (None, None) => format!("process {pid}"),
        };
        // A process without a rank in a program with ranks, such as its launcher, has none.
        let rank = if self.ranks.is_empty() { Some(pid) } else { rank };
        let mut identity: Vec<_> =
            rank.map(|rank| (IdentityKind::Rank, rank)).into_iter().collect();
        let (name, kind) = match who {
            Who::Thread(id) => {
                identity.push((IdentityKind::Thread, self.numbers.get(&id).copied().unwrap_or(0)));
                (format!("{of}, {}", self.thread(id)), TrackKind::Thread)
            }
            Who::Ranges(_) => (format!("{of}, ranges of NVTX"), TrackKind::Overlap),
            Who::Stream { device, context, stream, .. } => {
                identity.extend(device.map(|id| (IdentityKind::GpuDevice, id)));
                identity.extend(context.map(|id| (IdentityKind::GpuContext, id)));
                identity.push((IdentityKind::GpuStream, stream.unwrap_or(0)));
                let number =
                    |id: Option<u64>| id.map_or_else(|| "?".to_owned(), |id| id.to_string());
                let mut name = format!("{of}, GPU {},", number(device));
                if self.with_contexts.contains(&(process, device)) {
                    name = format!("{name} context {},", number(context));
                }
                name = format!("{name} stream {}", number(stream));
                let key = context.zip(stream).map(|(context, stream)| (pid, context, stream));
                if let Some(own) = key.and_then(|key| self.streams.get(&key)) {
                    name = format!("{name} ({own})");
                }
                (name, TrackKind::Stream)
            }
        };
        TrackIdentity { name, kind, identity, declared: None }
    }

    /// The function that stands for all that a thread does.
    pub(super) fn frame(&self, who: Who) -> Option<Frame> {
        let Who::Thread(id) = who else { return None };
        let is_main = tid_of(id) == pid_of(id);
        let process = self.processes.get(&process_of(id)).filter(|_| is_main);
        let named = self.threads.get(&id).filter(|name| !name.starts_with(RANK_NAME));
        let name = [process, named].into_iter().flatten().find(|name| !name.trim().is_empty());
        let other = named.filter(|_| !is_main).and_then(|name| {
            OTHERS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, group)| *group)
        });
        let unnamed = if is_main { "<main thread>" } else { "<thread>" };
        Some(Frame {
            name: name.cloned().unwrap_or_else(|| unnamed.to_owned()),
            group: other.unwrap_or(PROGRAM),
            is_of_program: other.is_none(),
        })
    }

    fn thread(&self, id: i64) -> String {
        let (tid, is_main) = (tid_of(id), tid_of(id) == pid_of(id));
        match self.threads.get(&id).filter(|name| !name.trim().is_empty()) {
            // Which rank it is has been said.
            Some(name) if is_main && name.starts_with(RANK_NAME) => "main thread".to_owned(),
            Some(name) if self.shared.contains(&(process_of(id), name.clone())) => {
                format!("{name} {tid}")
            }
            Some(name) => name.clone(),
            None if is_main => "main thread".to_owned(),
            None => format!("thread {tid}"),
        }
    }

    /// Tells the archive what else is known of a track.
    pub(super) fn tell(&self, who: Who, row: u32, conversion: &mut Conversion) {
        let process = who.process();
        conversion.track_fact(row, "pid", &pid_of(process).to_string());
        if let Who::Thread(id) = who {
            conversion.track_fact(row, "tid", &tid_of(id).to_string());
        }
        if let Some(name) = self.processes.get(&process) {
            conversion.track_fact(row, "process", name);
        }
    }
}
