//! [`Reading`]: what executors read for questions, and how it and what was read are sent.

use parallax_base::{Control, LocationIdx, TimeWindow, TrackIdx};
use parallax_model::{
    ContextChoice, MetricChoice, Plan, SliceColumns, SliceRequest, StoreError, TracksTime,
};
use parallax_service::OpenExperiment;
use serde_json::{Value, json};

use crate::Databases;

/// A part of what a question reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Values.
    Slice(SliceRequest),
    /// Time by context, added up over tracks.
    Tracks(Vec<TrackIdx>, TimeWindow),
    /// A file with the rows of a table that some locations have.
    Table(String, Vec<LocationIdx>),
}

/// What comes first in the bytes of what was read.
const READ: u8 = 1;
/// The same where the client must read it: a fault was found, which belongs to its answer.
const NOT_READ: u8 = 0;

impl Reading {
    /// As it is sent.
    pub(crate) fn to_json(&self) -> Value {
        let slice = |request: &SliceRequest| {
            json!({
                "kind": "slice",
                "locations": ranges(request.locations.iter().map(|location| location.get())),
                "contexts": match &request.contexts {
                    ContextChoice::Tree => json!("tree"),
                    ContextChoice::Nodes => json!("nodes"),
                    ContextChoice::Stored => json!("stored"),
                    ContextChoice::Ids(ids) => ranges(ids.iter().copied()),
                },
                "metrics": match &request.metrics {
                    MetricChoice::All => Value::Null,
                    MetricChoice::Ids { values, statistics } => json!([values, statistics]),
                },
                "plan": match request.plan {
                    Plan::Cheapest => "cheapest",
                    Plan::LocationMajor => "locations",
                    Plan::ContextMajor => "contexts",
                },
            })
        };
        match self {
            Self::Slice(request) => slice(request),
            Self::Tracks(tracks, window) => json!({
                "kind": "tracks",
                "tracks": ranges(tracks.iter().map(|track| track.get())),
                "window": [window.start_nanos, window.end_nanos],
            }),
            Self::Table(table, locations) => json!({
                "kind": "table",
                "table": table,
                "locations": ranges(locations.iter().map(|location| location.get())),
            }),
        }
    }

    /// What was sent; `None` when it is something else, or about locations, tracks or contexts that
    /// the experiment does not have.
    pub(crate) fn from_json(sent: &Value, opened: &OpenExperiment) -> Option<Self> {
        let experiment = opened.session().experiment();
        let locations = || -> Option<Vec<LocationIdx>> {
            let num_rows = experiment.locations.num_rows();
            Some(numbers(&sent["locations"], num_rows)?.into_iter().map(LocationIdx::new).collect())
        };
        let slice = || {
            let contexts = match &sent["contexts"] {
                Value::String(word) => match word.as_str() {
                    "tree" => ContextChoice::Tree,
                    "nodes" => ContextChoice::Nodes,
                    "stored" => ContextChoice::Stored,
                    _ => return None,
                },
                ids => {
                    let largest = experiment.contexts.source_ids().iter().max().copied();
                    let len = usize::try_from(largest.unwrap_or(0)).ok()?.checked_add(1)?;
                    ContextChoice::Ids(numbers(ids, len)?)
                }
            };
            let ids = |ids: &Value| -> Option<Vec<u16>> {
                ids.as_array()?.iter().map(|id| u16::try_from(id.as_u64()?).ok()).collect()
            };
            let metrics = match &sent["metrics"] {
                Value::Null => MetricChoice::All,
                chosen => {
                    MetricChoice::Ids { values: ids(&chosen[0])?, statistics: ids(&chosen[1])? }
                }
            };
            let plan = match sent["plan"].as_str()? {
                "cheapest" => Plan::Cheapest,
                "locations" => Plan::LocationMajor,
                "contexts" => Plan::ContextMajor,
                _ => return None,
            };
            Some(SliceRequest { locations: locations()?, contexts, metrics, plan })
        };
        match sent["kind"].as_str()? {
            "slice" => slice().map(Self::Slice),
            "tracks" => {
                let tracks = numbers(&sent["tracks"], experiment.traces.as_ref()?.tracks().len())?;
                let window = &sent["window"];
                let window = TimeWindow::new(window[0].as_u64()?, window[1].as_u64()?);
                Some(Self::Tracks(tracks.into_iter().map(TrackIdx::new).collect(), window))
            }
            "table" => Some(Self::Table(sent["table"].as_str()?.to_owned(), locations()?)),
            _ => None,
        }
    }

    /// Reads it, as bytes to be sent.
    pub(crate) fn read(
        &self,
        opened: &OpenExperiment,
        databases: &dyn Databases,
        control: &Control,
    ) -> Vec<u8> {
        let session = opened.session();
        let bytes = match self {
            Self::Slice(request) => {
                let columns = session.profiles().ok().map(|store| store.slice(request, control));
                columns.and_then(Result::ok).map(|columns| columns_to_bytes(&columns))
            }
            Self::Tracks(tracks, window) => {
                let sums = session.context_sums_of(tracks, *window, control).ok();
                sums.map(|sums| {
                    let tree = session.tree().iter().zip(sums.calls.iter().zip(&sums.nanos));
                    let used = tree.filter(|(_, (calls, nanos))| **calls > 0 || **nanos > 0);
                    let times = used.map(|(context, (&calls, &nanos))| TracksTime {
                        context: session.tree().source_id(context),
                        calls,
                        nanos,
                    });
                    times_to_bytes(times)
                })
            }
            Self::Table(table, locations) => {
                databases.table(opened, table, locations, control).ok().map(|mut file| {
                    file.push(READ);
                    file
                })
            }
        };
        let profiles = session.experiment().profiles.as_ref();
        let is_sound = profiles.is_none_or(|store| store.late_issues().is_empty());
        bytes.filter(|_| is_sound).unwrap_or_else(|| vec![NOT_READ])
    }
}

/// Numbers, ascending or not, as ranges with their ends.
fn ranges(numbers: impl Iterator<Item = u32>) -> Value {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges.into_iter().map(|(first, last)| json!([first, last])).collect()
}

/// Numbers that were sent as ascending ranges, each below `len`.
fn numbers(sent: &Value, len: usize) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    let mut least = 0_u32;
    for range in sent.as_array()? {
        let end = |at: usize| u32::try_from(range[at].as_u64()?).ok();
        let (first, last) = (end(0)?, end(1)?);
        if first < least || last < first || usize::try_from(last).ok()? >= len {
            return None;
        }
        numbers.extend(first..=last);
        least = last.checked_add(1)?;
    }
    Some(numbers)
}

/// Takes the mark at the end of what was read away; `None` where the client must read it.
pub(crate) fn was_read(mut bytes: Vec<u8>) -> Result<Option<Vec<u8>>, StoreError> {
    match bytes.pop() {
        Some(READ) => Ok(Some(bytes)),
        Some(NOT_READ) => Ok(None),
        _ => Err(unclear()),
    }
}

fn unclear() -> StoreError {
    StoreError::Read("an executor returned something other than what was requested".to_owned())
}

fn columns_to_bytes(columns: &SliceColumns) -> Vec<u8> {
    let SliceColumns { location, context, metric, value } = columns;
    let mut bytes = Vec::with_capacity(columns.len().saturating_mul(18).saturating_add(1));
    location.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    context.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    metric.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    value.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes.push(READ);
    bytes
}

/// The values that were read for a request.
pub(crate) fn columns_of(bytes: &[u8], request: &SliceRequest) -> Result<SliceColumns, StoreError> {
    const ROW_BYTES: usize = 4 + 4 + 2 + 8;
    let rows = bytes.len() / ROW_BYTES;
    if !bytes.len().is_multiple_of(ROW_BYTES) {
        return Err(unclear());
    }
    let (location, rest) = bytes.split_at_checked(rows * 4).ok_or_else(unclear)?;
    let (context, rest) = rest.split_at_checked(rows * 4).ok_or_else(unclear)?;
    let (metric, value) = rest.split_at_checked(rows * 2).ok_or_else(unclear)?;
    let numbers = |bytes: &[u8]| -> Vec<u32> {
        bytes.as_chunks().0.iter().map(|number| u32::from_le_bytes(*number)).collect()
    };
    let columns = SliceColumns {
        location: numbers(location),
        context: numbers(context),
        metric: metric.as_chunks().0.iter().map(|number| u16::from_le_bytes(*number)).collect(),
        value: value.as_chunks().0.iter().map(|number| f64::from_le_bytes(*number)).collect(),
    };
    // Whoever asked counts on both.
    let is_wanted =
        |location: &u32| request.locations.binary_search(&LocationIdx::new(*location)).is_ok();
    match columns.location.is_sorted() && columns.location.iter().all(is_wanted) {
        true => Ok(columns),
        false => Err(unclear()),
    }
}

fn times_to_bytes(times: impl Iterator<Item = TracksTime>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for TracksTime { context, calls, nanos } in times {
        bytes.extend(context.to_le_bytes());
        bytes.extend(calls.to_le_bytes());
        bytes.extend(nanos.to_le_bytes());
    }
    bytes.push(READ);
    bytes
}

/// Times by context.
pub(crate) fn times_of(bytes: &[u8]) -> Result<Vec<TracksTime>, StoreError> {
    let (rows, rest) = bytes.as_chunks::<28>();
    if !rest.is_empty() {
        return Err(unclear());
    }
    let one = |row: &[u8; 28]| {
        let (context, rest) = row.split_first_chunk()?;
        let (calls, rest) = rest.split_first_chunk()?;
        Some(TracksTime {
            context: u32::from_le_bytes(*context),
            calls: u64::from_le_bytes(*calls),
            nanos: u128::from_le_bytes(*rest.first_chunk()?),
        })
    };
    rows.iter().map(one).collect::<Option<_>>().ok_or_else(unclear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_ranges_and_others_are_refused() {
        for some in [vec![], vec![0], vec![1, 2, 3, 7, 9, 10]] {
            assert_eq!(numbers(&ranges(some.iter().copied()), 11), Some(some));
        }
        for sent in [
            json!([[0, 11]]),
            json!([[0, u64::MAX]]),
            json!([[3, 2]]),
            json!([[0, 5], [5, 6]]),
            json!([[0]]),
            json!("tree"),
        ] {
            assert_eq!(numbers(&sent, 11), None, "{sent}");
        }
    }

    #[test]
    fn what_was_read_comes_back_and_damage_is_refused() {
        let columns = SliceColumns {
            location: vec![2, 2, 5],
            context: vec![1, 7, 1],
            metric: vec![0, 3, 0],
            value: vec![0.1, -4.0, 1e300],
        };
        let request = SliceRequest {
            locations: vec![LocationIdx::new(2), LocationIdx::new(5)],
            contexts: ContextChoice::Tree,
            metrics: MetricChoice::All,
            plan: Plan::Cheapest,
        };
        let sent = columns_to_bytes(&columns);
        let bytes = was_read(sent.clone()).unwrap().unwrap();
        assert_eq!(columns_of(&bytes, &request), Ok(columns));
        for len in 1..bytes.len() {
            let read = bytes.get(..len).map(|cut| columns_of(cut, &request));
            assert!(!matches!(read, Some(Ok(read)) if read.len() == 3), "{len}");
        }
        let other = SliceRequest { locations: vec![LocationIdx::new(2)], ..request };
        assert!(columns_of(&bytes, &other).is_err(), "a location that was not asked for");
        assert_eq!(was_read(vec![NOT_READ]), Ok(None));
        assert!(was_read(Vec::new()).is_err());
        assert!(was_read(vec![7]).is_err());

        let times = [TracksTime { context: 3, calls: 4, nanos: u128::MAX }];
        let bytes = was_read(times_to_bytes(times.into_iter())).unwrap().unwrap();
        assert_eq!(times_of(&bytes), Ok(times.to_vec()));
        assert!(times_of(&bytes[1..]).is_err());
    }
}
