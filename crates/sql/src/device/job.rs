//! [`Job`]: what a device does of a table, and what it gives.

use std::collections::HashMap;

use datafusion::arrow::array::{Array as _, ArrayRef};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::record_batch::RecordBatch;
use parallax_columns::{ColumnDevice, DeviceColumn, DeviceError, Groups, Number, Within};

/// What a whole number of each row is made of: columns of a table, by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operand {
    Column(usize),
    /// The first less the second, without the bits that are too many.
    Difference(usize, usize),
}

impl Operand {
    fn columns(self) -> impl Iterator<Item = usize> {
        let (one, other) = match self {
            Self::Column(at) => (at, None),
            Self::Difference(from, less) => (from, Some(less)),
        };
        std::iter::once(one).chain(other)
    }
}

/// Bytes of a value on the device.
pub(super) fn width(table: &RecordBatch, at: usize) -> usize {
    match table.columns().get(at).map(ArrayRef::data_type) {
        Some(DataType::Int64) => size_of::<i64>(),
        _ => size_of::<u32>(),
    }
}

/// About which part of the rows of a table meet conditions, in steps within which steps of a kind take
/// about as long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Share {
    /// How often the rows can be halved before fewer are left than meet them.
    halves: u32,
}

impl Share {
    /// Fewer rows take no time next to that for looking at the conditions.
    const MOST_HALVES: u32 = 7;

    /// So many of some rows.
    pub(crate) fn of(met: usize, rows: usize) -> Self {
        let halves = (rows / met.max(1)).max(1).ilog2();
        Self { halves: halves.min(Self::MOST_HALVES) }
    }
}

/// What a device can do of a table.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// Numbers that are in ranges.
    pub(crate) within: Vec<(Operand, i64, i64)>,
    /// About how many rows are.
    pub(crate) share: Share,
    pub(crate) what: What,
}

/// What is done with the rows that meet the conditions.
#[derive(Debug, Clone)]
pub(crate) enum What {
    /// Their number.
    Count,
    /// Values by one key or by two.
    Group { keys: Vec<usize>, values: Vec<Operand> },
    /// The first ones in an order; those of numbers with `true` descend.
    First { most: usize, order: Vec<(Operand, bool)> },
    /// All of them in an order, which is that of the table without numbers, with so many columns.
    All { order: Vec<(Operand, bool)>, columns: usize },
}

/// What a device found.
#[derive(Debug)]
pub(crate) enum JobResult {
    Count(u64),
    /// The groups of each value.
    Groups(Vec<Groups>),
    /// Rows in their order; of each part of the table where it was done in parts.
    Rows(Vec<u32>),
}

/// Jobs that take about as long for a row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    within: usize,
    share: Share,
    what: &'static str,
    keys: usize,
    /// Of an order of all rows, which is most of the time: of its numbers together.
    key_bytes: usize,
    /// What is computed by key, or the columns of the result where that has many rows.
    values: usize,
}

impl Job {
    /// The columns that it needs, each once.
    pub(super) fn columns(&self) -> Vec<usize> {
        let within = self.within.iter().map(|(operand, ..)| *operand);
        let (keys, operands) = match &self.what {
            What::Count => (&[][..], Vec::new()),
            What::Group { keys, values } => (&keys[..], values.clone()),
            What::First { order, .. } | What::All { order, .. } => {
                (&[][..], order.iter().map(|(of, _)| *of).collect())
            }
        };
        let operands = within.chain(operands).flat_map(Operand::columns);
        let mut columns: Vec<usize> = keys.iter().copied().chain(operands).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Whether parts of the table are of no use: of an order of all rows.
    pub(super) fn is_whole(&self) -> bool {
        matches!(&self.what, What::All { order, .. } if !order.is_empty())
    }

    /// How many steps of its kind the processor does before its time is known: the memory of a large
    /// result is new for the first one, and that of an earlier result for the others.
    pub(super) fn timed_steps(&self) -> usize {
        if matches!(self.what, What::All { .. }) { 2 } else { 1 }
    }

    /// The kind that it is of, over a table.
    pub(super) fn kind(&self, table: &RecordBatch) -> Kind {
        let mut key_bytes = 0;
        let (what, keys, values) = match &self.what {
            What::Count => ("count", 0, 0),
            What::Group { keys, values } => ("group", keys.len(), values.len()),
            What::First { order, .. } => ("first", order.len(), 0),
            What::All { order, columns } => {
                let bytes = |(operand, _): &(Operand, bool)| match *operand {
                    Operand::Column(at) => width(table, at),
                    Operand::Difference(..) => size_of::<i64>(),
                };
                key_bytes = order.iter().map(bytes).sum();
                ("all", order.len(), *columns)
            }
        };
        Kind { within: self.within.len(), share: self.share, what, keys, key_bytes, values }
    }

    /// Does it on a device, with the columns of a part of the table.
    pub(super) fn done(
        &self,
        device: &dyn ColumnDevice,
        columns: &HashMap<usize, DeviceColumn>,
        rows: usize,
    ) -> Result<JobResult, DeviceError> {
        let column = |at: usize| {
            let absent = || DeviceError::Failed("a column is not there".to_owned());
            columns.get(&at).ok_or_else(absent)
        };
        let number = |operand: Operand| -> Result<Number<'_>, DeviceError> {
            Ok(match operand {
                Operand::Column(at) => Number::Column(column(at)?),
                Operand::Difference(from, less) => Number::Difference(column(from)?, column(less)?),
            })
        };
        let numbers = |order: &[(Operand, bool)]| -> Result<Vec<_>, DeviceError> {
            order.iter().map(|&(of, descends)| Ok((number(of)?, descends))).collect()
        };
        let within = |&(operand, low, high): &(Operand, i64, i64)| {
            Ok(Within { number: number(operand)?, low, high })
        };
        let within = self.within.iter().map(within).collect::<Result<Vec<_>, DeviceError>>()?;
        Ok(match &self.what {
            What::Count => JobResult::Count(device.count(rows, &within)?),
            What::Group { keys, values } => {
                let keys = keys.iter().map(|&at| column(at)).collect::<Result<Vec<_>, _>>()?;
                let values = values.iter().map(|&of| number(of)).collect::<Result<Vec<_>, _>>()?;
                JobResult::Groups(device.group(&keys, &within, &values)?)
            }
            What::First { most, order } => {
                JobResult::Rows(device.first(*most, &numbers(order)?, &within)?)
            }
            What::All { order, .. } => {
                JobResult::Rows(device.first(usize::MAX, &numbers(order)?, &within)?)
            }
        })
    }
}

/// What all parts of a table gave, in their order; each with the number of its first row.
pub(super) fn merged(mut parts: Vec<(usize, JobResult)>) -> JobResult {
    if parts.len() == 1
        && let Some((_, only)) = parts.pop()
    {
        return only;
    }
    let mut count = 0;
    let mut groups: Vec<Vec<Groups>> = Vec::new();
    let mut rows: Option<Vec<u32>> = None;
    for (first, part) in parts {
        match part {
            JobResult::Count(more) => count += more,
            JobResult::Groups(more) => groups.push(more),
            JobResult::Rows(more) => {
                let first = u32::try_from(first).unwrap_or(u32::MAX);
                let more = more.into_iter().map(|row| row.saturating_add(first));
                rows.get_or_insert_default().extend(more);
            }
        }
    }
    if let Some(rows) = rows {
        return JobResult::Rows(rows);
    }
    if groups.is_empty() {
        return JobResult::Count(count);
    }
    let values = groups.iter().map(Vec::len).max().unwrap_or(0);
    let of_value =
        |at: usize| Groups::merged(groups.iter().filter_map(|part| part.get(at).cloned()));
    JobResult::Groups((0..values).map(of_value).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{Int64Array, UInt32Array};

    use super::*;

    #[test]
    fn steps_that_take_another_time_are_of_another_kind() {
        let narrow: ArrayRef = Arc::new(UInt32Array::from(vec![1, 2, 3]));
        let wide: ArrayRef = Arc::new(Int64Array::from(vec![4, 5, 6]));
        let table = RecordBatch::try_from_iter([("k", narrow), ("t", wide)]).unwrap();
        let kind = |met: usize, what: What| {
            let within = vec![(Operand::Column(0), 0, 5)];
            Job { within, share: Share::of(met, 1000), what }.kind(&table)
        };
        let all = |order: &[usize], columns: usize| {
            let order = order.iter().map(|&at| (Operand::Column(at), false)).collect();
            What::All { order, columns }
        };
        let first = |most: usize| What::First { most, order: vec![(Operand::Column(1), true)] };
        let kinds = [
            kind(1000, first(10)),
            kind(1000, all(&[1], 4)),
            // Without an order, with fewer columns, by a narrow column, and by one more.
            kind(1000, all(&[], 4)),
            kind(1000, all(&[1], 3)),
            kind(1000, all(&[0], 4)),
            kind(1000, all(&[1, 0], 4)),
            // Fewer rows.
            kind(400, all(&[1], 4)),
            kind(100, all(&[1], 4)),
            kind(0, all(&[1], 4)),
        ];
        for (at, kind) in kinds.iter().enumerate() {
            assert!(!kinds[..at].contains(kind), "{kind:?}");
        }
        // What makes little difference.
        assert_eq!(kind(1000, first(10)), kind(999, first(5)));
        assert_eq!(kind(700, all(&[1], 4)), kind(600, all(&[1], 4)));
        assert_eq!(kind(3, all(&[1], 4)), kind(0, all(&[1], 4)));
        let difference = What::All { order: vec![(Operand::Difference(1, 1), true)], columns: 4 };
        assert_eq!(kind(1000, all(&[1], 4)), kind(1000, difference));
    }
}
