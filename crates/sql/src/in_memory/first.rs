//! [`First`]: the first rows in the order of whole numbers.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use parallax_base::{Control, threads};
use parallax_columns::{BLOCK_ROWS, MAX_ROWS, Picks};

use super::condition::{Condition, Number, operand};
use super::rows::{Source, withdrawn};
use super::sort::SIGN;
use super::{NO_ORDER, job_of};
use crate::device::{Job, Operand, What};

/// What rows are ordered by, of columns of the whole table.
type Key = (Arc<dyn PhysicalExpr>, SortOptions);

/// So many rows are given at most; more are sorted as they were planned.
const MOST_ROWS: usize = 1 << 16;
/// Numbers that rows are ordered by at most.
const MOST_KEYS: usize = 2;

/// The first rows in an order; rows with equal keys in that of the table.
pub(super) struct First {
    pub(super) source: Source,
    /// From that which counts most.
    keys: Vec<Key>,
    most: usize,
}

/// The first rows of those that were offered, and some more.
struct Best {
    most: usize,
    rows: Vec<(u128, usize)>,
    /// The key of the last one of the first rows, once there were enough.
    last: Option<u128>,
}

impl Best {
    /// Takes a row in. Rows come in their order, so one that is equal to the last comes after it.
    fn offer(&mut self, key: u128, row: usize) {
        if self.last.is_some_and(|last| key >= last) {
            return;
        }
        self.rows.push((key, row));
        if self.rows.len() >= 2 * self.most + 1024 {
            let (_, &mut (last, _), _) = self.rows.select_nth_unstable(self.most - 1);
            self.rows.truncate(self.most);
            self.last = Some(last);
        }
    }
}

/// What rows of a table are ordered by.
struct Keys<'t>(Vec<(Number<'t>, bool)>);

impl Keys<'_> {
    /// A number that is less where a row comes before.
    fn of(&self, row: usize) -> u128 {
        self.0.iter().fold(0, |before, (number, descends)| {
            let turn = if *descends { u64::MAX } else { 0 };
            let key = number.at(row).cast_unsigned() ^ SIGN ^ turn;
            before << u64::BITS | u128::from(key)
        })
    }
}

fn keys(order: &LexOrdering, source: &Source) -> Option<Vec<Key>> {
    order.iter().map(|one| Some((source.over_table(&one.expr)?, one.options))).collect()
}

impl First {
    pub(super) fn of(node: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        let most = node.fetch().filter(|most| (1..=MOST_ROWS).contains(most))?;
        let merge = node.downcast_ref::<SortPreservingMergeExec>();
        let input = merge.map_or(node, SortPreservingMergeExec::input);
        // What is computed of the rows of each part may come between.
        let projection = merge.and_then(|_| input.downcast_ref::<ProjectionExec>());
        let sort = projection.map_or(input, ProjectionExec::input);
        let sort: &SortExec = sort.downcast_ref()?;
        if sort.fetch() != Some(most) || sort.preserve_partitioning() && merge.is_none() {
            return None;
        }
        let mut source = Source::of(sort.input())?;
        let keys = keys(sort.expr(), &source)?;
        if let Some(projection) = projection {
            source = source.projected(projection)?;
        }
        if let Some(merge) = merge {
            let same = |(a, b): (&Key, &Key)| *a.0 == *b.0 && a.1 == b.1;
            let merged = self::keys(merge.expr(), &source)?;
            (merged.len() == keys.len() && merged.iter().zip(&keys).all(same)).then_some(())?;
        }
        (keys.len() <= MOST_KEYS).then_some(Self { source, keys, most })
    }

    /// What the order is made of; `None` where that is more than whole numbers.
    fn order(&self, table: &RecordBatch) -> Option<Vec<(Operand, bool)>> {
        let key = |(key, options): &Key| Some((operand(key, table)?, options.descending));
        self.keys.iter().map(key).collect()
    }

    /// What a device would do of it.
    pub(super) fn job(&self, table: &RecordBatch) -> Result<Job, String> {
        let order = self.order(table).ok_or(NO_ORDER)?;
        job_of(&self.source, table, What::First { most: self.most, order })
    }

    fn keys<'t>(&self, table: &'t RecordBatch) -> Option<Keys<'t>> {
        let number = |(of, descends)| Some((Number::of(of, table)?, descends));
        Some(Keys(self.order(table)?.into_iter().map(number).collect::<Option<_>>()?))
    }

    /// The rows, on the processor; `None` where a key is no whole number, or there is none in a row.
    ///
    /// # Errors
    /// When something cannot be computed, or the statement was withdrawn.
    pub(super) fn found(&self, table: &RecordBatch, control: &Control) -> Result<Option<Vec<u32>>> {
        let Some(keys) = self.keys(table).filter(|_| table.num_rows() <= MAX_ROWS) else {
            return Ok(None);
        };
        let is_all = self.source.conditions.is_empty();
        let condition = match is_all {
            true => None,
            false => Some(Condition::of(&self.source, table, control)?),
        };
        let len = table.num_rows();
        let step = len.div_ceil(threads::count().max(1) * 2).max(1).next_multiple_of(BLOCK_ROWS);
        let pieces: Vec<Range<usize>> =
            (0..len).step_by(step).map(|begin| begin..len.min(begin + step)).collect();
        let first = |piece: Range<usize>| -> Result<Vec<(u128, usize)>> {
            let mut first = Best { most: self.most, rows: Vec::new(), last: None };
            let mut offer = |row: usize| first.offer(keys.of(row), row);
            let mut picks = Picks::default();
            for begin in piece.clone().step_by(BLOCK_ROWS) {
                control.check().map_err(withdrawn)?;
                let block = begin..piece.end.min(begin + BLOCK_ROWS);
                match &condition {
                    None => block.for_each(&mut offer),
                    Some(condition) => {
                        condition.pick(&block, &mut picks);
                        picks.places().iter().for_each(|&at| offer(begin + usize::from(at)));
                    }
                }
            }
            Ok(first.rows)
        };
        let found = threads::map(pieces, first).into_iter().collect::<Result<Vec<_>>>()?;
        let mut found = found.concat();
        found.sort_unstable();
        found.truncate(self.most);
        let rows = found.into_iter().map(|(_, row)| u32::try_from(row).unwrap_or(u32::MAX));
        Ok(Some(rows.collect()))
    }

    /// The rows with these numbers, which are in order where they are not more than there should be.
    ///
    /// # Errors
    /// When something cannot be computed, or the statement was withdrawn.
    pub(super) fn rows(
        &self,
        table: &RecordBatch,
        mut numbers: Vec<u32>,
        control: &Control,
    ) -> Result<Option<RecordBatch>> {
        if numbers.len() > self.most {
            let Some(keys) = self.keys(table) else { return Ok(None) };
            numbers.sort_by_key(|&row| keys.of(row as usize));
            numbers.truncate(self.most);
        }
        self.source.chosen(table, &numbers, control).map(Some)
    }
}
