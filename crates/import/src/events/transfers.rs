//! What goes from one component to another through files: a read of what another component wrote.
//!
//! ```text
//! md        write frame.1 ────────── write frame.2
//! analysis               read frame.1       ·     read frame.1   read frame.2
//! ```
//!
//! Every read takes the data of the last write to its file that was complete before it was: that is
//! a transfer if the writer is of another component. How the parts of a file were overwritten is not
//! known, so a read of a part that is older counts to the newest write all the same.

use std::collections::BTreeMap;

use parallax_formats::archive::{MessageRow, NONE_64};

/// Data was written to a file, or read from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOperation {
    /// When it was complete.
    pub nanos: u64,
    /// The file, as a row of the function table.
    pub file: u32,
    /// How much.
    pub bytes: u64,
    /// Whether it was written.
    pub is_write: bool,
}

/// The operations on all files.
#[derive(Debug, Clone, Default)]
pub(super) struct Transfers {
    by_file: BTreeMap<u32, Vec<(u32, FileOperation)>>,
}

impl Transfers {
    /// Takes an operation of a track.
    pub(super) fn take(&mut self, track: u32, operation: FileOperation) {
        self.by_file.entry(operation.file).or_default().push((track, operation));
    }

    /// All transfers, file after file, each in order of time.
    pub(super) fn finish(
        self,
        application: impl Fn(u32) -> Option<u64>,
    ) -> impl Iterator<Item = MessageRow> {
        self.by_file.into_values().flat_map(move |mut operations| {
            // What is written and read at one moment was written first.
            operations.sort_by_key(|(track, o)| (o.nanos, !o.is_write, *track));
            let mut last = None;
            let mut found = Vec::new();
            for (track, operation) in operations {
                if operation.is_write {
                    last = Some((track, operation));
                    continue;
                }
                let Some((writer, written)) = last else { continue };
                if application(writer) != application(track) {
                    found.push(MessageRow {
                        kind: 2,
                        flags: 0,
                        sender: writer,
                        receiver: track,
                        communicator: 0,
                        tag: i64::from(operation.file),
                        bytes: operation.bytes,
                        send_nanos: written.nanos,
                        receive_nanos: operation.nanos,
                        posted_nanos: NONE_64,
                        completed_nanos: NONE_64,
                    });
                }
            }
            found
        })
    }
}

/// The file that a counter of TAU's is about, and whether it counts what was written: TAU's wrapper
/// of input and output names its events so (`TauIoWrap.cpp`).
#[must_use]
pub fn file_of_counter(name: &str) -> Option<(&str, bool)> {
    let (what, rest) = name.split_once("<file=")?;
    let file = rest.trim_end().strip_suffix('>')?.trim_matches('"');
    match what.trim().trim_end_matches(':').trim_end() {
        "Bytes Written" => Some((file, true)),
        "Bytes Read" => Some((file, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_takes_the_newest_write_of_another_component() {
        let mut transfers = Transfers::default();
        let at = |nanos, is_write| FileOperation { nanos, file: 3, bytes: nanos * 10, is_write };
        // Tracks come one after the other: the reader first.
        for nanos in [5, 20, 25, 40] {
            transfers.take(1, at(nanos, false));
        }
        transfers.take(0, at(10, true));
        transfers.take(0, at(25, true));
        transfers.take(0, at(26, false));
        transfers.take(1, at(39, true));
        let rows = transfers.finish(|track| Some(u64::from(track)));
        let found: Vec<_> = rows
            .map(|row| (row.sender, row.receiver, row.send_nanos, row.receive_nanos, row.bytes))
            .collect();
        // Nothing was written before 5; at 26 and 40 they read what they wrote themselves.
        assert_eq!(found, [(0, 1, 10, 20, 200), (0, 1, 25, 25, 250)]);
    }

    #[test]
    fn counters_of_tau_name_files() {
        assert_eq!(file_of_counter("Bytes Written <file=\"a/b.bp\">"), Some(("a/b.bp", true)));
        assert_eq!(file_of_counter("Bytes Read <file=x>"), Some(("x", false)));
        assert_eq!(file_of_counter("Write Bandwidth (MB/s) <file=\"x\">"), None);
        assert_eq!(file_of_counter("Bytes Written"), None);
    }
}
