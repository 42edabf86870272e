//! [`Job`]: what a device does of a table, and what it gives.

use std::collections::HashMap;

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

/// What a device can do of a table.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// Numbers that are in ranges.
    pub(crate) within: Vec<(Operand, i64, i64)>,
    pub(crate) what: What,
}

/// What is done with the rows that meet the conditions.
#[derive(Debug, Clone)]
pub(crate) enum What {
    /// Their number.
    Count,
    /// Values by one key or by two.
    Group { keys: Vec<usize>, values: Vec<Operand> },
    /// The first ones in an order, which is that of the table without numbers; those of numbers with
    /// `true` descend.
    First { most: usize, order: Vec<(Operand, bool)> },
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

/// Jobs that take about as long for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    within: usize,
    what: &'static str,
    keys: usize,
    values: usize,
}

impl Job {
    /// The columns that it needs, each once.
    pub(super) fn columns(&self) -> Vec<usize> {
        let within = self.within.iter().map(|(operand, ..)| *operand);
        let (keys, operands) = match &self.what {
            What::Count => (&[][..], Vec::new()),
            What::Group { keys, values } => (&keys[..], values.clone()),
            What::First { order, .. } => (&[][..], order.iter().map(|(of, _)| *of).collect()),
        };
        let operands = within.chain(operands).flat_map(Operand::columns);
        let mut columns: Vec<usize> = keys.iter().copied().chain(operands).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Whether parts of the table are of no use: of an order of all rows.
    pub(super) fn is_whole(&self) -> bool {
        let What::First { most, order } = &self.what else { return false };
        *most == usize::MAX && !order.is_empty()
    }

    pub(super) fn kind(&self) -> Kind {
        let (what, keys, values) = match &self.what {
            What::Count => ("count", 0, 0),
            What::Group { keys, values } => ("group", keys.len(), values.len()),
            What::First { order, .. } => ("first", order.len(), 0),
        };
        Kind { within: self.within.len(), what, keys, values }
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
                let order = order.iter().map(|&(of, descends)| Ok((number(of)?, descends)));
                let order = order.collect::<Result<Vec<_>, DeviceError>>()?;
                JobResult::Rows(device.first(*most, &order, &within)?)
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
