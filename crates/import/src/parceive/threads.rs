//! Threads: who started them, when they lived, and where they synchronise.

use parallax_base::paged::Numbers;
use parallax_base::{ActivationIdx, LocationIdx, Severity, ThreadIdx};
use parallax_formats::parceive::{InstructionKind, Key, ThreadRow, WallTime};
use parallax_model::{
    ActivationTree, Creator, IdentityKind, LocationCatalog, LocationCatalogBuilder, Site,
    SyncEvent, SyncKind, Thread,
};

use super::instructions::Instructions;
use super::key_map::KeyMap;
use crate::activations::{NumberMap, Reporter};

/// The threads of the table, and those that only calls name.
#[derive(Default)]
pub(super) struct Threads {
    rows: Vec<Entry>,
    at: KeyMap,
    creators: Vec<Option<Creator>>,
    /// Whether fractions of seconds are decimal.
    is_decimal: bool,
}

struct Entry {
    id: Key,
    row: Option<ThreadRow>,
}

impl Threads {
    /// Takes the rows of the table and the threads of calls; they are numbered by their ids.
    pub(super) fn new(rows: Vec<ThreadRow>, of_calls: impl IntoIterator<Item = Key>) -> Self {
        let mut all: Vec<Entry> =
            rows.into_iter().map(|row| Entry { id: row.id, row: Some(row) }).collect();
        all.extend(of_calls.into_iter().map(|id| Entry { id, row: None }));
        // Of equal ids the one with a row comes first.
        all.sort_by_key(|entry| (entry.id, entry.row.is_none()));
        all.dedup_by_key(|entry| entry.id);
        let mut at = KeyMap::default();
        for entry in &all {
            at.add(entry.id);
        }
        let rows = || all.iter().filter_map(|entry| entry.row.as_ref());
        let times: Vec<WallTime> = rows().flat_map(|row| [row.start, row.end]).flatten().collect();
        let creators = vec![None; all.len()];
        Self { is_decimal: WallTime::are_decimal(&times), rows: all, at, creators }
    }

    pub(super) const fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn find(&self, id: Option<Key>) -> Option<ThreadIdx> {
        self.at.find(id).map(ThreadIdx::new)
    }

    /// Start and end on the wall clock and cycles lived, of threads that have both times.
    pub(super) fn wall_times(
        &self,
    ) -> impl Iterator<Item = (ThreadIdx, i64, i64, Option<u64>)> + '_ {
        (0..).map(ThreadIdx::new).zip(&self.rows).filter_map(|(thread, entry)| {
            let row = entry.row.as_ref()?;
            let nanos = |time: WallTime| time.nanos(self.is_decimal);
            Some((thread, nanos(row.start?), nanos(row.end?), row.cycles))
        })
    }

    /// All synchronisations in the order of the source, and sets who started which thread.
    pub(super) fn syncs(
        &mut self,
        instructions: &Instructions,
        tree: &ActivationTree,
        position: &Numbers<ActivationIdx>,
        report: &mut Reporter<'_>,
    ) -> Vec<SyncEvent> {
        // Which threads an instruction starts and which it waits for.
        let mut started: NumberMap<u32, Vec<ThreadIdx>> = NumberMap::default();
        let mut joined: NumberMap<u32, Vec<ThreadIdx>> = NumberMap::default();
        let mut unknown_joins = 0;
        for (thread, entry) in (0..).map(ThreadIdx::new).zip(&self.rows) {
            let Some(row) = &entry.row else { continue };
            let creator = instructions.position(row.creator);
            if let Some(instruction) = creator {
                started.entry(instruction).or_default().push(thread);
            }
            match instructions.position(row.join) {
                // Some versions write the instruction that starts a thread here as well.
                Some(join) if Some(join) != creator => joined.entry(join).or_default().push(thread),
                _ => unknown_joins += u64::from(creator.is_some()),
            }
        }
        report.many(Severity::Note, "join-unknown", unknown_joins, || {
            "the database does not say where a thread is waited for; nothing is known to come \
             after its end"
                .to_owned()
        });
        let mut wanted: Vec<u32> = instructions.syncs().to_vec();
        wanted.extend(started.keys().chain(joined.keys()));
        wanted.sort_unstable();
        wanted.dedup();
        let mut syncs = Vec::new();
        for instruction in wanted {
            let found = instructions.get(instruction);
            let at = found.activation.and_then(|number| position.get(number as usize));
            let Some(activation) = at else { continue };
            let line = found.line;
            let mut push = |kind, other_thread| {
                let lock = None;
                // Until accesses are read, the instruction's own place.
                let sequence = instruction;
                syncs.push(SyncEvent { activation, kind, sequence, line, other_thread, lock });
            };
            let (forks, joins) = (started.get(&instruction), joined.get(&instruction));
            for &thread in forks.into_iter().flatten() {
                push(SyncKind::Fork, Some(thread));
                let creator =
                    Creator { thread: tree.thread(activation), site: Site { activation, line } };
                if let Some(slot) = self.creators.get_mut(thread.idx())
                    && creator.thread != thread
                {
                    *slot = Some(creator);
                }
            }
            for &thread in joins.into_iter().flatten() {
                push(SyncKind::Join, Some(thread));
            }
            match found.kind {
                InstructionKind::Fork if forks.is_none() => push(SyncKind::Fork, None),
                InstructionKind::Join if joins.is_none() => push(SyncKind::Join, None),
                InstructionKind::Acquire => push(SyncKind::Acquire, None),
                InstructionKind::Release => push(SyncKind::Release, None),
                _ => {}
            }
        }
        syncs
    }

    /// The threads of the model, and one location for each, after the summary.
    pub(super) fn finish(
        self,
        tree: &ActivationTree,
        num_values: &[u64],
    ) -> (Vec<Thread>, LocationCatalog) {
        let entries = crate::activations::entries(tree, self.rows.len());
        let mut locations = LocationCatalogBuilder::new();
        locations.push_summary(num_values.first().copied().unwrap_or(0));
        let mut threads = Vec::with_capacity(self.rows.len());
        let all = self.rows.iter().zip(self.creators).zip(entries.clone());
        for (number, ((entry, creator), first)) in all.enumerate() {
            // Text has numbers beyond those that people use.
            let is_text = entry.id >= parallax_formats::parceive::Ids::FIRST_TEXT;
            let identity = if is_text { number as u64 } else { entry.id };
            let values = num_values.get(number + 1).copied().unwrap_or(0);
            let location: LocationIdx = locations.push([(IdentityKind::Thread, identity)], values);
            let row = entry.row.as_ref();
            let nanos = |time: Option<WallTime>| time.map(|time| time.nanos(self.is_decimal));
            let parent = row.and_then(|row| self.at.find(row.parent)).map(ThreadIdx::new);
            // Newer versions have the thread itself here.
            let parent = parent.filter(|parent| parent.idx() != number);
            threads.push(Thread {
                location,
                source_id: entry.id,
                creator: creator.or_else(|| {
                    let thread = parent?;
                    let entry = entries.get(thread.idx()).copied().flatten()?;
                    Some(Creator { thread, site: Site { activation: entry, line: 0 } })
                }),
                entry: first,
                wall_start_nanos: nanos(row.and_then(|row| row.start)),
                wall_end_nanos: nanos(row.and_then(|row| row.end)),
                lifetime_cycles: row.and_then(|row| row.cycles),
            });
        }
        (threads, locations.finish())
    }
}
