//! Which number of a Chimbuko row says what: declared, or found by which choice balances.

use std::collections::HashMap;

use super::chimbuko::{ChimbukoRow, strings};
use crate::json::{JsonLimits, JsonReader};

/// What a row says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// A function begins.
    Entry,
    /// A function ends.
    Exit,
    /// A message is sent to the partner.
    Send,
    /// A message is received from the partner.
    Receive,
    /// A counter has a value.
    Counter,
    /// None of these: the code is unknown.
    Other,
}

/// What the numbers in column 3 mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventCodes {
    /// The number of a function's begin.
    pub entry: Option<i64>,
    /// The number of a function's end.
    pub exit: Option<i64>,
    /// The number of a message that is sent.
    pub send: Option<i64>,
    /// The number of a message that is received.
    pub receive: Option<i64>,
}

/// Codes that were found by trying, and how well they fit the rows that were examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeGuess {
    /// The codes.
    pub codes: EventCodes,
    /// Rows that were examined.
    pub rows: u64,
    /// Ends that do not fit the innermost open function, under these codes.
    pub misfits: u64,
    /// The same under the next best choice of entry and exit; `None` where there is no other.
    pub next_misfits: Option<u64>,
    /// What told sends from receives; `None` where there are no two kinds of messages.
    pub messages: Option<MessageEvidence>,
}

/// What tells sends from receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageEvidence {
    /// The names of the functions in which messages occur.
    Names,
    /// No message is received before it is sent.
    Order,
    /// Nothing: the lower number is taken for a send, as every known writer has it.
    Habit,
}

/// Numbers of columns that are tried: no tool writes more kinds of rows than this.
const MOST_CODES: usize = 8;

impl EventCodes {
    /// The codes that an `event_types` message or file declares: a list of names whose places are
    /// the numbers, such as `["ENTRY", "SEND", "RECV", "EXIT"]`. `None` where `text` is none.
    #[must_use]
    pub fn declared(text: &[u8]) -> Option<Self> {
        let value = JsonReader::from_slice(text, JsonLimits::default()).read_value().ok()?;
        let names = strings(&value)?;
        let place = |wanted: &[&str]| {
            let found = names.iter().position(|name| {
                let name = name.trim();
                wanted.iter().any(|wanted| name.eq_ignore_ascii_case(wanted))
            });
            found.and_then(|place| i64::try_from(place).ok())
        };
        let codes = Self {
            entry: place(&["ENTRY"]),
            exit: place(&["EXIT"]),
            send: place(&["SEND"]),
            receive: place(&["RECV", "RECEIVE"]),
        };
        (codes.entry.is_some() && codes.exit.is_some()).then_some(codes)
    }

    /// What a row says under these codes.
    #[must_use]
    pub fn kind(&self, row: &ChimbukoRow) -> RowKind {
        match row.code.or(row.message_code) {
            None if row.counter.is_some() => RowKind::Counter,
            None => RowKind::Other,
            code if code == self.entry => RowKind::Entry,
            code if code == self.exit => RowKind::Exit,
            code if code == self.send => RowKind::Send,
            code if code == self.receive => RowKind::Receive,
            Some(_) if row.counter.is_some() && row.function.is_none() => RowKind::Counter,
            Some(_) => RowKind::Other,
        }
    }

    /// Finds the codes of the first rows of a file, where nothing declares them: entry and exit
    /// are the two under which most ends fit the innermost open function; sends and receives are
    /// told by `names`, the functions in which they occur, or by their order in time.
    ///
    /// `None` where no two codes occur with functions. Check the choice on the whole file with a
    /// [`Balance`].
    #[must_use]
    pub fn infer(rows: &[ChimbukoRow], names: &[String]) -> Option<CodeGuess> {
        let codes_of = |wanted: fn(&ChimbukoRow) -> bool| {
            let mut codes: Vec<i64> = Vec::new();
            for code in rows.iter().filter(|row| wanted(row)).filter_map(|row| row.code) {
                if !codes.contains(&code) && codes.len() < MOST_CODES {
                    codes.push(code);
                }
            }
            codes.sort_unstable();
            codes
        };
        let calls = codes_of(|row| row.function.is_some() && row.partner.is_none());
        let mut tried: Vec<(u64, Self)> = Vec::new();
        for &entry in &calls {
            for &exit in calls.iter().filter(|&&exit| exit != entry) {
                let codes = Self { entry: Some(entry), exit: Some(exit), ..Self::default() };
                let mut balance = Balance::new();
                for row in rows {
                    balance.push(codes.kind(row), row);
                }
                // Rows of other codes with functions are misfits too: they would mean nothing.
                let other = rows.iter().filter(|row| {
                    row.function.is_some()
                        && row.partner.is_none()
                        && codes.kind(row) == RowKind::Other
                });
                tried.push((balance.misfits() + other.count() as u64, codes));
            }
        }
        tried.sort_by_key(|(misfits, codes)| (*misfits, codes.entry));
        let &(misfits, mut codes) = tried.first()?;
        let messages = codes_of(|row| row.partner.is_some());
        let evidence = codes.infer_messages(&messages, rows, names);
        let next_misfits = tried.get(1).map(|(misfits, _)| *misfits);
        let rows = rows.len() as u64;
        Some(CodeGuess { codes, rows, misfits, next_misfits, messages: evidence })
    }

    fn infer_messages(
        &mut self,
        codes: &[i64],
        rows: &[ChimbukoRow],
        names: &[String],
    ) -> Option<MessageEvidence> {
        let &[low, high] = codes else {
            // One kind alone is a send: it is what both ends of a message have in common.
            self.send = codes.first().copied();
            return None;
        };
        let (by_name, by_order) = (votes(self, low, rows, names), early(low, high, rows));
        let (low_sends, evidence) = match (by_name, by_order) {
            (vote, _) if vote != 0 => (vote > 0, MessageEvidence::Names),
            (_, (low_first, high_first)) if low_first != high_first => {
                (low_first < high_first, MessageEvidence::Order)
            }
            _ => (true, MessageEvidence::Habit),
        };
        let (send, receive) = if low_sends { (low, high) } else { (high, low) };
        (self.send, self.receive) = (Some(send), Some(receive));
        Some(evidence)
    }
}

/// Votes of the innermost functions for `low` being sends, less those for the other code.
fn votes(codes: &EventCodes, low: i64, rows: &[ChimbukoRow], names: &[String]) -> i64 {
    let mut balance = Balance::new();
    let mut votes = 0;
    for row in rows {
        if row.partner.is_some() {
            let name = balance.innermost(row).and_then(|f| names.get(usize::try_from(f).ok()?));
            let name = name.map(|name| name.to_ascii_lowercase()).unwrap_or_default();
            let (sends, receives) = (name.contains("send"), name.contains("recv"));
            if sends != receives {
                votes += if sends == (row.code == Some(low)) { 1 } else { -1 };
            }
        }
        balance.push(codes.kind(row), row);
    }
    votes
}

/// Messages that would be received before they are sent, were `low` the sends; and were `high`.
fn early(low: i64, high: i64, rows: &[ChimbukoRow]) -> (u64, u64) {
    // Between two ranks with one tag, the n-th message sent is the n-th received.
    type Key = (Option<i64>, i64, i64, Option<i64>);
    let early = |send: i64, receive: i64| {
        let mut sent: HashMap<Key, Vec<i64>> = HashMap::new();
        let mut received: HashMap<Key, Vec<i64>> = HashMap::new();
        for row in rows {
            let (Some(rank), Some(partner), Some(time)) = (row.rank, row.partner, row.time_nanos)
            else {
                continue;
            };
            if row.code == Some(send) {
                sent.entry((row.program, rank, partner, row.tag)).or_default().push(time);
            } else if row.code == Some(receive) {
                received.entry((row.program, partner, rank, row.tag)).or_default().push(time);
            }
        }
        let pairs = received.iter().filter_map(|(key, times)| Some((sent.get(key)?, times)));
        let early =
            pairs.map(|(sent, received)| sent.iter().zip(received).filter(|(s, r)| r < s).count());
        early.sum::<usize>() as u64
    };
    (early(low, high), early(high, low))
}

type Thread = (Option<i64>, Option<i64>, Option<i64>);

/// Follows the open functions of every thread and counts what does not fit: the check of codes
/// on a whole file.
#[derive(Debug, Clone, Default)]
pub struct Balance {
    /// Open functions by program, rank and thread, the innermost last.
    open: HashMap<Thread, Vec<i64>>,
    /// Rows that begin a function.
    pub entries: u64,
    /// Rows that end a function.
    pub exits: u64,
    /// Ends of a function that is open, but not innermost; those inside are taken as ended.
    pub crossed: u64,
    /// Ends of a function that is not open.
    pub unopened: u64,
    /// Most functions open at once on one thread.
    pub deepest: usize,
}

impl Balance {
    /// Most open functions of one thread that are followed, and most threads.
    const MOST: usize = 1 << 16;

    /// Nothing is open.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Follows one row, which says `kind`.
    pub fn push(&mut self, kind: RowKind, row: &ChimbukoRow) {
        let key = (row.program, row.rank, row.thread);
        let Some(function) = row.function else { return };
        match kind {
            RowKind::Entry => {
                self.entries += 1;
                if self.open.len() >= Self::MOST && !self.open.contains_key(&key) {
                    return;
                }
                let open = self.open.entry(key).or_default();
                if open.len() < Self::MOST {
                    open.push(function);
                }
                self.deepest = self.deepest.max(open.len());
            }
            RowKind::Exit => {
                self.exits += 1;
                let open = self.open.get_mut(&key);
                match open.and_then(|open| {
                    let found = open.iter().rposition(|&inside| inside == function)?;
                    let innermost = found + 1 == open.len();
                    open.truncate(found);
                    Some(innermost)
                }) {
                    Some(true) => {}
                    Some(false) => self.crossed += 1,
                    None => self.unopened += 1,
                }
            }
            _ => {}
        }
    }

    /// Ends that did not fit the innermost open function.
    #[must_use]
    pub fn misfits(&self) -> u64 {
        self.crossed + self.unopened
    }

    /// Functions that are still open.
    #[must_use]
    pub fn still_open(&self) -> u64 {
        self.open.values().map(|open| open.len() as u64).sum()
    }

    /// The innermost open function on the thread of a row.
    #[must_use]
    pub fn innermost(&self, row: &ChimbukoRow) -> Option<i64> {
        self.open.get(&(row.program, row.rank, row.thread))?.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(code: i64, function: i64, time: i64) -> ChimbukoRow {
        let (code, function, time_nanos) = (Some(code), Some(function), Some(time));
        ChimbukoRow { code, function, time_nanos, ..ChimbukoRow::default() }
    }

    fn message(code: i64, rank: i64, partner: i64, time: i64) -> ChimbukoRow {
        let (rank, partner, time_nanos) = (Some(rank), Some(partner), Some(time));
        ChimbukoRow { code: Some(code), rank, partner, time_nanos, ..ChimbukoRow::default() }
    }

    #[test]
    fn whichever_code_balances_is_the_entry() {
        for (entry, exit) in [(0, 1), (1, 0), (3, 7)] {
            let rows = [
                row(entry, 5, 0),
                row(entry, 6, 1),
                row(exit, 6, 2),
                row(exit, 5, 3),
                row(entry, 5, 4),
            ];
            let guess = EventCodes::infer(&rows, &[]).unwrap();
            assert_eq!((guess.codes.entry, guess.codes.exit), (Some(entry), Some(exit)));
            assert_eq!(guess.misfits, 0);
            assert!(guess.next_misfits.unwrap() > 0);
        }
        assert_eq!(EventCodes::infer(&[row(0, 1, 0)], &[]), None);
    }

    #[test]
    fn a_message_is_sent_before_it_is_received() {
        let calls = [row(0, 1, 0), row(1, 1, 1)];
        for (send, receive) in [(2, 3), (3, 2)] {
            let mut rows = calls.to_vec();
            rows.extend([message(send, 0, 1, 10), message(receive, 1, 0, 20)]);
            let guess = EventCodes::infer(&rows, &[]).unwrap();
            assert_eq!((guess.codes.send, guess.codes.receive), (Some(send), Some(receive)));
            assert_eq!(guess.messages, Some(MessageEvidence::Order));
        }
        let mut rows = calls.to_vec();
        rows.extend([message(2, 0, 1, 10), message(3, 0, 1, 20)]);
        assert_eq!(EventCodes::infer(&rows, &[]).unwrap().messages, Some(MessageEvidence::Habit));
    }

    #[test]
    fn names_of_functions_tell_sends() {
        let names = ["MPI_Recv()".to_owned(), "MPI_Send()".to_owned()];
        let rows = [
            ChimbukoRow { rank: Some(0), ..row(0, 1, 0) },
            message(3, 0, 1, 1),
            ChimbukoRow { rank: Some(0), ..row(1, 1, 2) },
            ChimbukoRow { rank: Some(1), ..row(0, 0, 0) },
            message(2, 1, 0, 1),
            ChimbukoRow { rank: Some(1), ..row(1, 0, 2) },
        ];
        let guess = EventCodes::infer(&rows, &names).unwrap();
        assert_eq!((guess.codes.send, guess.codes.receive), (Some(3), Some(2)));
        assert_eq!(guess.messages, Some(MessageEvidence::Names));
    }

    #[test]
    fn declared_codes_are_places_in_a_list() {
        let expected =
            EventCodes { entry: Some(0), exit: Some(3), send: Some(1), receive: Some(2) };
        let list = br#"["ENTRY", "SEND", "RECV", "EXIT"]"#;
        assert_eq!(EventCodes::declared(list), Some(expected));
        let text = br#"{"type": "event_types", "value": ["entry", "send", "recv", "exit"]}"#;
        assert_eq!(EventCodes::declared(text), Some(expected));
        assert_eq!(EventCodes::declared(br#"["a", "b"]"#), None);
        assert_eq!(EventCodes::declared(b"[[1]]"), None);
    }
}
