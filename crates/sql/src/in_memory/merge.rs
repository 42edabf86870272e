//! [`Merge`]: rows with columns of another table, of which at most one row belongs to each.

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{SchemaRef, UInt32Type};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{JoinType, Result};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use parallax_base::{Control, threads};

use super::rows::{
    BLOCK_ROWS, Block, Source, array_of, looked_up, numbers, picked, picked_numbers, withdrawn,
};

/// Keys of the other table lie this close together: so many numbers for each row, and some more.
const SPREAD: usize = 16;
const FEW: usize = 1 << 16;

/// The larger side of a join with the rows of the smaller one that belong to it.
pub(super) struct Merge {
    pub(super) source: Source,
    /// The columns with the keys: of the larger side, and of the other.
    key: usize,
    other_key: usize,
    /// Number of columns of the other side, which come first.
    others: usize,
    /// The columns of the result.
    chosen: Option<Arc<[usize]>>,
    schema: SchemaRef,
}

/// The join that a node is.
pub(super) fn join(node: &Arc<dyn ExecutionPlan>) -> Option<&HashJoinExec> {
    match node.is::<CooperativeExec>() {
        true => join(node.children().first()?),
        false => node.downcast_ref(),
    }
}

impl Merge {
    pub(super) fn of(node: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        let join: &HashJoinExec = node.downcast_ref()?;
        let is_ours = *join.join_type() == JoinType::Inner
            && *join.partition_mode() == PartitionMode::CollectLeft
            && join.filter().is_none()
            && node.fetch().is_none();
        let [(other_key, key)] = join.on() else { return None };
        let others = join.left().schema().fields().len();
        let source = Source::of(join.right())?;
        is_ours.then_some(())?;
        Some(Self {
            key: key.downcast_ref::<Column>()?.index(),
            other_key: other_key.downcast_ref::<Column>()?.index(),
            source,
            others,
            chosen: join.projection.clone(),
            schema: join.schema(),
        })
    }

    /// The rows; `None` where several of the other side belong to one, where its keys are far apart,
    /// or where its columns are no numbers.
    ///
    /// # Errors
    /// When something cannot be computed, or the statement was withdrawn.
    pub(super) fn rows(
        &self,
        table: &RecordBatch,
        other: &RecordBatch,
        control: &Control,
    ) -> Result<Option<RecordBatch>> {
        let all = 0..self.others + self.source.columns.len();
        let chosen: Vec<usize> = match &self.chosen {
            Some(chosen) => chosen.to_vec(),
            None => all.collect(),
        };
        let mut of_other = chosen.iter().filter(|&&at| at < self.others);
        let are_numbers = of_other.all(|&at| other.column(at).data_type().is_numeric());
        let Some(other_keys) = numbers::<UInt32Type>(other.column(self.other_key)) else {
            return Ok(None);
        };
        let Some((low, places)) = places(other_keys).filter(|_| are_numbers) else {
            return Ok(None);
        };
        let rows = self.source.rows(table, control)?;
        let Some(keys) = numbers::<UInt32Type>(rows.column(self.key)) else { return Ok(None) };
        let blocks = matched(keys, low, &places, control)?;
        let is_all = blocks.iter().all(|block| block.picks.is_none());
        let found = if is_all { Vec::new() } else { picked_numbers(keys, &blocks) };
        let keys = if is_all { keys } else { &found };
        let work = |at: usize| -> Result<Option<ArrayRef>> {
            control.check().map_err(withdrawn)?;
            Ok(match at.checked_sub(self.others) {
                None => looked_up(other.column(at), &places, keys, low),
                Some(at) if at == self.key && !is_all => {
                    Some(array_of::<UInt32Type>(keys.to_vec()))
                }
                Some(at) if is_all => Some(Arc::clone(rows.column(at))),
                Some(at) => Some(picked(rows.column(at), &blocks)?),
            })
        };
        let columns = threads::map(chosen, work).into_iter().collect::<Result<Option<Vec<_>>>>()?;
        let Some(columns) = columns else { return Ok(None) };
        let options = RecordBatchOptions::new().with_row_count(Some(keys.len()));
        Ok(Some(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?))
    }
}

/// The lowest key, and for each key from there on the number of its row plus one, or 0 where it has
/// none; `None` where a key has several rows, or keys are far apart.
fn places(keys: &[u32]) -> Option<(u32, Vec<u32>)> {
    let low = keys.iter().copied().min().unwrap_or_default();
    let high = keys.iter().copied().max().unwrap_or_default();
    let len = (high - low) as usize + 1;
    if len > keys.len() * SPREAD + FEW {
        return None;
    }
    let mut places = vec![0; len];
    for (place, &key) in (1_u32..).zip(keys) {
        let here = &mut places[(key - low) as usize];
        if std::mem::replace(here, place) != 0 {
            return None;
        }
    }
    Some((low, places))
}

/// The rows whose keys have a row on the other side.
fn matched(keys: &[u32], low: u32, places: &[u32], control: &Control) -> Result<Vec<Block>> {
    let has_row = |key: u32| {
        let at = key.checked_sub(low).and_then(|at| places.get(at as usize));
        at.is_some_and(|&place| place != 0)
    };
    // Nearly always all numbers of the range are keys, and then the range is all to look at.
    let is_complete = !places.contains(&0);
    let work = |(begin, keys): (usize, &[u32])| -> Result<Block> {
        control.check().map_err(withdrawn)?;
        let ends = || keys.iter().fold((u32::MAX, 0), |(a, b), &key| (a.min(key), b.max(key)));
        let is_all = match is_complete {
            true => <[u32; 2]>::from(ends()).into_iter().all(has_row),
            // Without branches, as most have one.
            false => keys.iter().fold(true, |so_far, &key| so_far & has_row(key)),
        };
        let picks = || (0_u32..).zip(keys).filter(|(_, key)| has_row(**key)).map(|(at, _)| at);
        let picks = (!is_all).then(|| picks().collect());
        Ok(Block { begin, len: keys.len(), picks, computed: Vec::new() })
    };
    let blocks = keys.chunks(BLOCK_ROWS).enumerate();
    let blocks = blocks.map(|(at, keys)| (at * BLOCK_ROWS, keys)).collect();
    threads::map(blocks, work).into_iter().collect()
}
