//! cct.db: sparse values by context, written block by block, and the summary statistics.
//!
//! Both need to know how many profiles have a value for each context and metric, so the pass that
//! writes profile.db collects a [`Census`] on its way.

use std::io::{Result, Write};
use std::ops::Range;

use super::bytes::{Bytes, Section};
use super::database::{Metric, Numbering, Statistic, u16_of, u32_of};
use super::profiles::Value;

/// Number, sum and, when needed, squares and extremes of the values of all profiles, by context and
/// metric id.
pub(crate) struct Census {
    /// Metric ids of the profiles, ascending; the position is called a slot.
    slots: Vec<u16>,
    slot_of_id: Vec<u16>,
    num_contexts: usize,
    counts: Vec<u32>,
    sums: Vec<f64>,
    spread: Option<Spread>,
}

struct Spread {
    squares: Vec<f64>,
    min: Vec<f64>,
    max: Vec<f64>,
}

impl Census {
    pub(crate) fn new(
        num_contexts: usize,
        metrics: &[Metric],
        num_scopes: usize,
        numbering: &Numbering,
    ) -> Self {
        let mut slots = Vec::new();
        for metric in 0..metrics.len() {
            slots.extend((0..num_scopes).map(|scope| numbering.value_id(metric, scope)));
        }
        let mut slot_of_id = vec![0; slots.last().map_or(0, |&id| usize::from(id) + 1)];
        for (slot, &id) in slots.iter().enumerate() {
            slot_of_id[usize::from(id)] = u16_of(slot);
        }
        let len = num_contexts * slots.len();
        let needs_spread = |m: &Metric| {
            m.statistics.iter().any(|s| !matches!(s, Statistic::Sum | Statistic::Count))
        };
        let spread = metrics.iter().any(needs_spread).then(|| Spread {
            squares: vec![0.0; len],
            min: vec![f64::INFINITY; len],
            max: vec![f64::NEG_INFINITY; len],
        });
        let counts = vec![0; len];
        Self { slots, slot_of_id, num_contexts, counts, sums: vec![0.0; len], spread }
    }

    /// The number of context ids, the id 0 included.
    pub(crate) fn num_contexts(&self) -> u32 {
        u32_of(self.num_contexts)
    }

    fn cell(&self, value: &Value) -> usize {
        value.context as usize * self.slots.len()
            + usize::from(self.slot_of_id[usize::from(value.metric)])
    }

    /// Takes in the values of one profile.
    pub(crate) fn add(&mut self, values: &[Value]) {
        for value in values {
            let cell = self.cell(value);
            self.counts[cell] += 1;
            self.sums[cell] += value.value;
            if let Some(spread) = &mut self.spread {
                spread.squares[cell] += value.value * value.value;
                spread.min[cell] = spread.min[cell].min(value.value);
                spread.max[cell] = spread.max[cell].max(value.value);
            }
        }
    }

    /// The values of the summary profile, sorted.
    pub(crate) fn summary(
        &self,
        metrics: &[Metric],
        num_scopes: usize,
        numbering: &Numbering,
    ) -> Vec<Value> {
        let mut values = Vec::new();
        for context in 0..self.num_contexts {
            for (metric, description) in metrics.iter().enumerate() {
                for (position, statistic) in description.statistics.iter().enumerate() {
                    for scope in 0..num_scopes {
                        let cell = context * self.slots.len() + metric * num_scopes + scope;
                        if self.counts[cell] == 0 {
                            continue;
                        }
                        let value = match (statistic, &self.spread) {
                            (Statistic::Count, _) => f64::from(self.counts[cell]),
                            (Statistic::SumOfSquares, Some(spread)) => spread.squares[cell],
                            (Statistic::Min, Some(spread)) => spread.min[cell],
                            (Statistic::Max, Some(spread)) => spread.max[cell],
                            (_, _) => self.sums[cell],
                        };
                        if value != 0.0 {
                            let metric = numbering.summary_id(metric, position, scope);
                            values.push(Value { context: u32_of(context), metric, value });
                        }
                    }
                }
            }
        }
        values
    }

    fn counts_of(&self, context: usize) -> &[u32] {
        &self.counts[context * self.slots.len()..][..self.slots.len()]
    }
}

/// Where the values and the index of one context stand in cct.db.
struct ContextExtent {
    num_values: u64,
    values: u64,
    num_metrics: u16,
    index: u64,
}

/// Takes the index of a profile and values of it.
pub(crate) type Sink<'a> = dyn FnMut(u32, &[Value]) + Send + 'a;

const INFOS: u64 = 0x30;

/// Writes cct.db.
///
/// `feed` is called once per block with the context ids of the block; it must hand over, profile
/// by profile in ascending order, all values of these contexts and none of others.
/// One block of at most about `block_bytes` is in memory at a time.
pub(crate) fn write<W: Write>(
    mut out: W,
    census: &Census,
    block_bytes: u64,
    mut feed: impl FnMut(Range<u32>, &mut Sink<'_>) -> Result<()>,
) -> Result<W> {
    let size = 0x10 + census.num_contexts as u64 * 0x20;
    let places = places(census, INFOS + size);
    let mut bytes = Bytes::header(*b"ctxt", &[Section { start: INFOS, size }], INFOS as usize);
    bytes.u64(INFOS + 0x10).u32(u32_of(places.len())).u8(0x20).align(16);
    for place in &places {
        bytes.u64(place.num_values).u64(place.values);
        bytes.u16(place.num_metrics).raw(&[0; 6]).u64(place.index);
    }
    out.write_all(bytes.as_slice())?;

    let end_of = |place: &ContextExtent| {
        (place.index + 10 * u64::from(place.num_metrics)).next_multiple_of(4)
    };
    let mut first = 0;
    while first < places.len() {
        let start = places[first].values;
        let mut last = first + 1;
        while last < places.len() && end_of(&places[last]) - start <= block_bytes {
            last += 1;
        }
        let mut block = vec![0_u8; (end_of(&places[last - 1]) - start) as usize];
        let mut cursors = Vec::with_capacity((last - first) * census.slots.len());
        for (context, place) in places.iter().enumerate().take(last).skip(first) {
            let mut index = Bytes::at(place.index);
            let mut position = 0;
            for (slot, &count) in census.counts_of(context).iter().enumerate() {
                cursors.push((place.values - start) as usize + 12 * position as usize);
                if count > 0 {
                    index.u16(census.slots[slot]).u64(position);
                    position += u64::from(count);
                }
            }
            let at = (place.index - start) as usize;
            block[at..at + index.as_slice().len()].copy_from_slice(index.as_slice());
        }
        feed(u32_of(first)..u32_of(last), &mut |profile, values| {
            for value in values {
                let cursor = &mut cursors[census.cell(value) - first * census.slots.len()];
                block[*cursor..*cursor + 4].copy_from_slice(&profile.to_le_bytes());
                block[*cursor + 4..*cursor + 12].copy_from_slice(&value.value.to_le_bytes());
                *cursor += 12;
            }
        })?;
        out.write_all(&block)?;
        first = last;
    }
    out.write_all(b"__ctx.db")?;
    Ok(out)
}

/// Places of all contexts, in the order of their ids; empty contexts have pointers too, as in real
/// files.
fn places(census: &Census, start: u64) -> Vec<ContextExtent> {
    let mut end = start;
    (0..census.num_contexts)
        .map(|context| {
            let counts = census.counts_of(context);
            let num_values = counts.iter().copied().map(u64::from).sum();
            let num_metrics = u16_of(counts.iter().filter(|&&count| count > 0).count());
            let place = ContextExtent {
                num_values,
                values: end,
                num_metrics,
                index: end + 12 * num_values,
            };
            end = (place.index + 10 * u64::from(num_metrics)).next_multiple_of(4);
            place
        })
        .collect()
}
