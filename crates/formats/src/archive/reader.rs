//! Opening an archive: the small tables are read, the large ones by batch when asked for.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use parallax_base::{Folder, Limits};

use super::records::{
    ArgumentNamesRow, ArgumentRow, CollectiveRow, ComponentRow, ContextRow, CountRow, CounterRow,
    Fact, FunctionRow, FunctionRow5, IntervalRow, IssueRow, MarkerRow, MessageRow, MessageRow2,
    NONE_32, NodeRow, OpenRow, ProfileRow, Record, SpanRow, SumRow, TrackRow, ValueRow,
};
use super::table::{Batch, Layout, Table};
use super::{MANIFEST, OLDEST_VERSION, VERSION, keys};
use crate::FormatError;

/// An opened archive. Costs what its small tables cost; intervals, sums, messages and values are
/// read when asked for.
pub struct Archive {
    facts: BTreeMap<String, String>,
    /// All tracks.
    pub tracks: Vec<TrackRow>,
    /// All functions, loops and lines.
    pub functions: Vec<FunctionRow>,
    /// All contexts; row 0 is the root, and parents come first.
    pub contexts: Vec<ContextRow>,
    /// All nodes; every row number in them is checked.
    pub nodes: Vec<NodeRow>,
    /// The metrics that change over time.
    pub counters: Vec<CounterRow>,
    /// The coupled applications; empty where there is one.
    pub components: Vec<ComponentRow>,
    /// What was repaired while it was written.
    pub issues: Vec<IssueRow>,
    /// What each batch of messages, collectives, values and markers covers: batch numbers by kind
    /// follow the order of the rows.
    pub spans: Vec<SpanRow>,
    open_starts: Vec<u64>,
    /// For each node of level 0: where its starts begin in `open_starts`.
    open_from: Vec<usize>,
    intervals: Table,
    sums: Table,
    profile: Table,
    profile_starts: OnceLock<Vec<(u32, usize)>>,
    messages: Table,
    /// Whether messages say when receives were posted: since version 3.
    has_requests: bool,
    collectives: Table,
    values: Table,
    markers: Table,
    /// Names of arguments; empty before version 4.
    pub argument_names: Vec<ArgumentNamesRow>,
    /// Absent before version 4.
    arguments: Option<Table>,
    /// Absent before version 5.
    counts: Option<Table>,
}

impl Archive {
    /// Opens the archive in `folder`.
    ///
    /// # Errors
    /// When it is not an archive, was not written to its end, is of another version, or a table of
    /// it is broken.
    pub fn open(folder: &Arc<dyn Folder>, limits: &Limits) -> Result<Self, FormatError> {
        let open = |layout: &'static Layout| {
            let source = folder
                .open(layout.file)
                .map_err(|cause| FormatError::read(layout.file, cause))?
                .ok_or_else(|| FormatError::missing(MANIFEST, layout.file))?;
            Table::open(layout, source, limits)
        };
        let facts: Vec<Fact> = all(&open(Fact::LAYOUT)?, limits)?;
        let facts: BTreeMap<_, _> = facts.into_iter().map(|f| (f.key, f.value)).collect();
        let version = facts.get(keys::VERSION).and_then(|text| text.parse::<u32>().ok());
        let Some(version) = version.filter(|v| (OLDEST_VERSION..=VERSION).contains(v)) else {
            return Err(FormatError::Unsupported {
                file: MANIFEST.into(),
                what: version.map_or("an archive without a version".into(), |version| {
                    format!("an archive of version {version}")
                }),
                hint: "convert the trace again with this program",
            });
        };
        let is_old = version < 3;
        let (has_arguments, has_counts) = (version >= 4, version >= 5);
        let messages = if is_old { MessageRow2::LAYOUT } else { MessageRow::LAYOUT };
        let opened: Vec<OpenRow> = all(&open(OpenRow::LAYOUT)?, limits)?;
        let mut archive = Self {
            facts,
            tracks: all(&open(TrackRow::LAYOUT)?, limits)?,
            functions: if version >= 6 {
                all(&open(FunctionRow::LAYOUT)?, limits)?
            } else {
                let rows: Vec<FunctionRow5> = all(&open(FunctionRow5::LAYOUT)?, limits)?;
                rows.into_iter().map(FunctionRow::from).collect()
            },
            contexts: all(&open(ContextRow::LAYOUT)?, limits)?,
            nodes: all(&open(NodeRow::LAYOUT)?, limits)?,
            counters: all(&open(CounterRow::LAYOUT)?, limits)?,
            components: all(&open(ComponentRow::LAYOUT)?, limits)?,
            issues: all(&open(IssueRow::LAYOUT)?, limits)?,
            spans: all(&open(SpanRow::LAYOUT)?, limits)?,
            open_starts: opened.into_iter().map(|row| row.start_nanos).collect(),
            open_from: Vec::new(),
            intervals: open(IntervalRow::LAYOUT)?,
            sums: open(SumRow::LAYOUT)?,
            profile: open(ProfileRow::LAYOUT)?,
            profile_starts: OnceLock::new(),
            messages: open(messages)?,
            has_requests: !is_old,
            collectives: open(CollectiveRow::LAYOUT)?,
            values: open(ValueRow::LAYOUT)?,
            markers: open(MarkerRow::LAYOUT)?,
            argument_names: if has_arguments {
                all(&open(ArgumentNamesRow::LAYOUT)?, limits)?
            } else {
                Vec::new()
            },
            arguments: has_arguments.then(|| open(ArgumentRow::LAYOUT)).transpose()?,
            counts: has_counts.then(|| open(CountRow::LAYOUT)).transpose()?,
        };
        archive.check()?;
        Ok(archive)
    }

    /// Checks that every row number names a row, so that nobody else has to.
    fn check(&mut self) -> Result<(), FormatError> {
        let broken = |layout: &Layout, row: usize, what: &str| {
            Err(FormatError::malformed(layout.file, 0, format!("row {row}: {what}")))
        };
        let is_root = |row: &ContextRow| row.parent == NONE_32;
        if !self.contexts.first().is_some_and(is_root) {
            return broken(ContextRow::LAYOUT, 0, "the root is missing");
        }
        for (row, context) in self.contexts.iter().enumerate().skip(1) {
            let is_known = (context.function as usize) < self.functions.len();
            if context.parent as usize >= row || !is_known {
                return broken(ContextRow::LAYOUT, row, "no such parent or function");
            }
        }
        let mut open_from = 0_usize;
        for (row, node) in self.nodes.iter().enumerate() {
            let (first, children) = (node.first_child as usize, node.children as usize);
            let below = if node.level == 0 { self.intervals.len() } else { row };
            let is_inside = first.checked_add(children).is_some_and(|end| end <= below);
            let has_sums = (node.sums as usize) < self.sums.len();
            let is_sound = (node.track as usize) < self.tracks.len()
                && node.exponent < 64
                && node.from_nanos <= node.to_nanos
                && (has_sums || (node.level == 0 && node.sums == NONE_32))
                && is_inside;
            if !is_sound {
                return broken(NodeRow::LAYOUT, row, "a node of no track or no batch");
            }
            if node.level == 0 {
                let depth = node.open_depth as usize;
                let is_known = (node.open_context as usize) < self.contexts.len();
                let fits =
                    open_from.checked_add(depth).is_some_and(|e| e <= self.open_starts.len());
                if !is_known || !fits {
                    return broken(NodeRow::LAYOUT, row, "starts of open contexts are missing");
                }
            }
            self.open_from.push(open_from);
            if node.level == 0 {
                open_from += node.open_depth as usize;
            }
        }
        Ok(())
    }

    /// What the manifest says about `key`.
    #[must_use]
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts.get(key).map(String::as_str)
    }

    /// Whether a context is a loop or a line, and not called by what is above it.
    #[must_use]
    pub fn is_lexical(&self, context: u32) -> bool {
        let context = self.contexts.get(context as usize);
        let function = context.and_then(|own| self.functions.get(own.function as usize));
        function.is_some_and(FunctionRow::is_lexical)
    }

    /// Facts about the execution: name and value.
    pub fn execution_facts(&self) -> impl Iterator<Item = (&str, &str)> {
        let facts = self.facts.iter();
        facts.filter_map(|(key, value)| Some((key.strip_prefix(keys::FACT)?, value.as_str())))
    }

    /// Facts about single tracks: row of the track, name and value.
    pub fn track_facts(&self) -> impl Iterator<Item = (u32, &str, &str)> {
        self.facts.iter().filter_map(|(key, value)| {
            let (row, name) = key.strip_prefix(keys::TRACK_FACT)?.split_once(':')?;
            Some((row.parse().ok()?, name, value.as_str()))
        })
    }

    /// When the contexts were entered that were not yet left at the end of node `node` of level 0,
    /// from the outermost.
    #[must_use]
    pub fn open_starts(&self, node: usize) -> &[u64] {
        let depth = self.nodes.get(node).map_or(0, |node| node.open_depth as usize);
        let from = self.open_from.get(node).copied().unwrap_or(0);
        self.open_starts.get(from..from + depth).unwrap_or_default()
    }

    /// The intervals of a node of level 0, as [`IntervalRow`] has its columns.
    ///
    /// # Errors
    /// When the batch is broken or the source fails.
    pub fn intervals(&self, node: &NodeRow) -> Result<Batch<'_>, FormatError> {
        let batch = self.intervals.batch(node.first_child as usize)?;
        // Small nodes of several tracks share a batch, which is in the order of tracks.
        let rows = rows_of(&batch, INTERVAL_TRACK, node.track);
        Ok(batch.part(rows))
    }

    /// The sums of a node that has some ([`NodeRow::has_sums`]), as [`SumRow`] has its columns.
    ///
    /// # Errors
    /// When the batch is broken or the source fails.
    pub fn sums(&self, node: &NodeRow) -> Result<Batch<'_>, FormatError> {
        self.sums.batch(node.sums as usize)
    }

    /// What each track spent in each context.
    ///
    /// # Errors
    /// When a batch is broken or the source fails.
    pub fn profile(&self) -> impl Iterator<Item = Result<Batch<'_>, FormatError>> {
        self.profile.batches()
    }

    /// Rows of the counters whose events are counted by context, and how often each happened in all,
    /// where that is known.
    pub fn counted_events(&self) -> impl Iterator<Item = (u32, Option<u64>)> {
        let events = self.fact(keys::COUNTED).unwrap_or_default().split(',');
        events.filter_map(|event| {
            let (row, total) = event.split_once(':').unwrap_or((event, ""));
            let row = row.parse::<u32>().ok().filter(|&row| (row as usize) < self.counters.len());
            Some((row?, total.parse().ok()))
        })
    }

    /// How often events happened in each context of each track, as [`CountRow`] has its columns.
    ///
    /// # Errors
    /// When a batch is broken or the source fails.
    pub fn counts(&self) -> impl Iterator<Item = Result<Batch<'_>, FormatError>> {
        self.counts.iter().flat_map(Table::batches)
    }

    /// What track `index` spent in contexts; no rows where the table is not in the order of tracks.
    ///
    /// # Errors
    /// When a batch is broken or the source fails.
    pub fn profile_of(&self, index: usize) -> Result<Batch<'_>, FormatError> {
        let track = u32::try_from(index).unwrap_or(NONE_32);
        // The last batch that begins with the track or one before it.
        let starts = self.profile_starts()?;
        let after = starts.partition_point(|&(first, _)| first <= track);
        let own = after.checked_sub(1).and_then(|at| starts.get(at));
        let batch = self.profile.batch(own.map_or(0, |&(_, batch)| batch))?;
        let rows = rows_of(&batch, PROFILE_TRACK, track);
        Ok(batch.part(rows))
    }

    /// The first track of each batch of the profile that has rows, and its number; read once.
    fn profile_starts(&self) -> Result<&[(u32, usize)], FormatError> {
        if let Some(starts) = self.profile_starts.get() {
            return Ok(starts);
        }
        let mut starts = Vec::new();
        for (number, batch) in self.profile.batches().enumerate() {
            let batch = batch?;
            if batch.rows() > 0 {
                starts.push((batch.u32_at(PROFILE_TRACK, 0), number));
            }
        }
        Ok(self.profile_starts.get_or_init(|| starts))
    }

    /// Batch `index` of the messages.
    ///
    /// # Errors
    /// When the batch is broken or the source fails.
    pub fn messages(&self, index: usize) -> Result<Vec<MessageRow>, FormatError> {
        let batch = self.messages.batch(index)?;
        Ok(if self.has_requests {
            MessageRow::rows(&batch)
        } else {
            MessageRow2::rows(&batch).into_iter().map(MessageRow::from).collect()
        })
    }

    /// Batch `index` of the collective operations.
    ///
    /// # Errors
    /// When the batch is broken or the source fails.
    pub fn collectives(&self, index: usize) -> Result<Batch<'_>, FormatError> {
        self.collectives.batch(index)
    }

    /// Batch `index` of the counters' values.
    ///
    /// # Errors
    /// When the batch is broken or the source fails.
    pub fn values(&self, index: usize) -> Result<Batch<'_>, FormatError> {
        self.values.batch(index)
    }

    /// Batch `index` of the markers.
    ///
    /// # Errors
    /// When the batch is broken or the source fails.
    pub fn markers(&self, index: usize) -> Result<Batch<'_>, FormatError> {
        self.markers.batch(index)
    }

    /// Batch `index` of the arguments of calls; `None` where the archive is of a version without.
    ///
    /// # Errors
    /// When the batch is broken or the source fails.
    pub fn arguments(&self, index: usize) -> Result<Option<Batch<'_>>, FormatError> {
        self.arguments.as_ref().map(|table| table.batch(index)).transpose()
    }
}

/// The column of the track in the tables of intervals and of profiles.
const INTERVAL_TRACK: usize = 0;
const PROFILE_TRACK: usize = 0;

/// The rows of a track in a batch that is in the order of tracks.
fn rows_of(batch: &Batch<'_>, column: usize, track: u32) -> Range<usize> {
    let first = |is_past: &dyn Fn(u32) -> bool| {
        let (mut low, mut high) = (0, batch.rows());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_past(batch.u32_at(column, middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    };
    let from = first(&|own| own >= track);
    from..first(&|own| own > track).max(from)
}

/// All rows of a small table.
fn all<R: Record>(table: &Table, limits: &Limits) -> Result<Vec<R>, FormatError> {
    limits
        .metadata("a table of the archive", table.num_bytes().saturating_mul(2))
        .map_err(|cause| table.over(cause))?;
    let mut rows = Vec::new();
    for batch in table.batches() {
        rows.append(&mut R::rows(&batch?));
    }
    Ok(rows)
}
