//! What goes from one component of a workflow to another: messages, files, streams of ADIOS.
//!
//! ```text
//! md ── 2 messages, 12 kB ──> analysis        md ── frames.bp, 3 reads, 40 MB ──> analysis
//! ```
//!
//! A message counts between the components of its two tracks, a transfer (a read of what another
//! component wrote) between writer and reader, by its file. The files of one stream of ADIOS are
//! one: `out.bp/data.0` and `out.bp/md.idx` are `out.bp`.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use parallax_base::{TimeWindow, TrackIdx};
use parallax_engine::{EngineError, Session};
use parallax_model::{LinkKind, Message};

/// By what data goes from one component to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Through {
    /// Messages between ranks.
    Messages,
    /// A file.
    File(Arc<str>),
    /// A stream of ADIOS, by its name.
    Adios(Arc<str>),
}

impl Through {
    /// A file, or the stream of ADIOS that it is a part of.
    #[must_use]
    pub fn of_file(path: &Arc<str>) -> Self {
        match adios_stream(path) {
            Some(stream) => Self::Adios(stream.into()),
            None => Self::File(Arc::clone(path)),
        }
    }
}

/// Endings of what ADIOS writes: its BP files of all versions, and its staging streams.
const ADIOS_ENDINGS: [&str; 6] = [".bp", ".bp3", ".bp4", ".bp5", ".sst", ".ssc"];

/// The stream or file of ADIOS that a path belongs to: the path up to the first part that is called
/// as ADIOS calls its output. ADIOS 1 puts subfiles into `NAME.bp.dir`.
#[must_use]
pub fn adios_stream(path: &str) -> Option<&str> {
    let mut end = 0;
    for part in path.split('/') {
        end += part.len();
        let name = part.strip_suffix(".dir").unwrap_or(part);
        let is_adios = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
        if ADIOS_ENDINGS.iter().any(|ending| is_adios(ending)) {
            return path.get(..end - (part.len() - name.len()));
        }
        end += 1;
    }
    None
}

/// What goes from one component to another in one way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// How many messages or reads.
    pub count: u64,
    /// Their sizes together.
    pub bytes: u128,
    /// The tracks that send or write.
    pub senders: HashSet<TrackIdx>,
    /// The tracks that receive or read.
    pub receivers: HashSet<TrackIdx>,
    /// Nanoseconds of the first time that is known, most often of a send.
    pub first_nanos: Option<u64>,
    /// Nanoseconds of the last time that is known, most often of a receive.
    pub last_nanos: Option<u64>,
    /// Number and bytes by the part of the window in which they arrive.
    pub over_time: BTreeMap<u32, (u64, u128)>,
}

impl Exchange {
    fn add(&mut self, message: &Message, bin: Option<u32>) {
        self.count += 1;
        self.bytes += u128::from(message.bytes);
        self.senders.extend(message.sender);
        self.receivers.extend(message.receiver);
        let times = [message.send_nanos, message.receive_nanos];
        for nanos in times.into_iter().flatten() {
            self.first_nanos = Some(self.first_nanos.map_or(nanos, |first| first.min(nanos)));
            self.last_nanos = Some(self.last_nanos.map_or(nanos, |last| last.max(nanos)));
        }
        if let Some(bin) = bin {
            let sums = self.over_time.entry(bin).or_default();
            sums.0 += 1;
            sums.1 += u128::from(message.bytes);
        }
    }
}

/// Who sends and who receives, as rows of the caller; `None` for what is not in the trace, which
/// comes last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExchangeKey {
    /// Whether the sender is unknown, and its row.
    from: (bool, usize),
    /// The same of the receiver.
    to: (bool, usize),
    /// By what.
    pub through: Through,
}

impl ExchangeKey {
    /// From one row to another one.
    #[must_use]
    pub fn new(from: Option<usize>, to: Option<usize>, through: Through) -> Self {
        let side = |row: Option<usize>| (row.is_none(), row.unwrap_or(0));
        Self { from: side(from), to: side(to), through }
    }

    /// The row of the sender.
    #[must_use]
    pub fn from(&self) -> Option<usize> {
        Some(self.from.1).filter(|_| !self.from.0)
    }

    /// The row of the receiver.
    #[must_use]
    pub fn to(&self) -> Option<usize> {
        Some(self.to.1).filter(|_| !self.to.0)
    }
}

/// Which messages and transfers count.
#[derive(Debug, Clone, Copy)]
pub struct ExchangeChoice<'a> {
    /// Those that are under way in it.
    pub window: TimeWindow,
    /// The row of each track; `None` for tracks that are not chosen.
    pub rows: &'a [Option<usize>],
    /// Whether all tracks are chosen: then messages of which one side is not in the trace count,
    /// too.
    pub is_all: bool,
    /// Nanoseconds of a part of the window, for what comes when; 0 for nothing.
    pub bin_nanos: u64,
}

/// All exchanges of a trace of events; none where it has no messages and no transfers.
///
/// # Errors
/// When messages cannot be read.
pub fn exchanges(
    session: &Session,
    choice: ExchangeChoice<'_>,
) -> Result<BTreeMap<ExchangeKey, Exchange>, EngineError> {
    let mut found: BTreeMap<ExchangeKey, Exchange> = BTreeMap::new();
    let Some(events) = session.experiment().events.as_deref() else { return Ok(found) };
    let row = |track: Option<TrackIdx>| choice.rows.get(track?.idx()).copied().flatten();
    let mut visit = |message: Message| {
        let through = match message.kind {
            LinkKind::Message => Through::Messages,
            LinkKind::Transfer => match events.file_of(&message) {
                Some(file) => Through::of_file(file),
                None => Through::File("(unnamed)".into()),
            },
            LinkKind::Flow => return,
        };
        let (from, to) = (row(message.sender), row(message.receiver));
        // Of a part of the tracks, whoever is not chosen is not shown as absent from the trace.
        if (from.is_none() && to.is_none()) || (!choice.is_all && (from.is_none() || to.is_none()))
        {
            return;
        }
        let arrival = message.receive_nanos.or(message.send_nanos);
        let within = arrival.and_then(|at| at.checked_sub(choice.window.start_nanos));
        let bin = within.and_then(|nanos| nanos.checked_div(choice.bin_nanos));
        let bin = bin.and_then(|bin| u32::try_from(bin).ok());
        found.entry(ExchangeKey::new(from, to, through)).or_default().add(&message, bin);
    };
    events.messages(choice.window, &mut visit)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_adios_are_told_by_their_names() {
        for (path, stream) in [
            ("out.bp", Some("out.bp")),
            ("run/out.bp/data.0", Some("run/out.bp")),
            ("run/out.bp.dir/out.bp.3", Some("run/out.bp")),
            ("/scratch/x.bp5/md.idx", Some("/scratch/x.bp5")),
            ("live.sst", Some("live.sst")),
            (".bp", None),
            ("out.bpx", None),
            ("frames.h5", None),
            ("bp/out.txt", None),
        ] {
            assert_eq!(adios_stream(path), stream, "{path}");
        }
    }
}
