//! [`Merge`]: rows with columns of another table, of which at most one row belongs to each.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::datatypes::{SchemaRef, UInt32Type};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{JoinType, Result};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use parallax_base::{Control, threads};
use parallax_columns::{BLOCK_ROWS, Picks};

use super::rows::{Source, looked_up, numbers, withdrawn};
use super::select::{Selected, select};
use crate::kept::Keeper;

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
        keeper: &Keeper,
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
        let rows = self.source.rows(table, keeper, control)?;
        let Some(keys) = numbers::<UInt32Type>(rows.column(self.key)) else { return Ok(None) };
        let matches = Matches { low, places: &places, is_complete: !places.contains(&0) };
        let own = chosen.iter().filter_map(|at| at.checked_sub(self.others));
        let own: Vec<usize> = std::iter::once(self.key).chain(own).collect();
        let (len, columns) = match matches.are_all(keys, control)? {
            true => (keys.len(), own.iter().map(|&at| Arc::clone(rows.column(at))).collect()),
            false => {
                let fields = rows.schema_ref().fields();
                let own = own.iter().filter_map(|&at| Some((fields.get(at)?.name(), at)));
                let own: Vec<_> =
                    own.map(|(name, at)| Arc::new(Column::new(name, at)) as _).collect();
                let pick = |block: Range<usize>, picks: &mut Picks| {
                    picks.push(keys[block].iter().map(|&key| matches.has(key)));
                };
                let Selected { rows, columns } = select(&rows, &own, pick, keeper, control)?;
                (rows, columns)
            }
        };
        let mut own = columns.into_iter();
        let Some(keys) = own.next() else { return Ok(None) };
        let Some(keys) = numbers::<UInt32Type>(&keys) else { return Ok(None) };
        let of_other = chosen.iter().filter(|&&at| at < self.others).collect();
        let of_other = threads::map(of_other, |&at| {
            control.check().map_err(withdrawn)?;
            Ok(looked_up(other.column(at), &places, keys, low))
        });
        let Some(of_other) = of_other.into_iter().collect::<Result<Option<Vec<_>>>>()? else {
            return Ok(None);
        };
        let mut of_other = of_other.into_iter();
        let columns = chosen.iter().filter_map(|&at| match at < self.others {
            true => of_other.next(),
            false => own.next(),
        });
        let options = RecordBatchOptions::new().with_row_count(Some(len));
        let columns = columns.collect();
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

/// Which keys have a row on the other side.
struct Matches<'p> {
    low: u32,
    places: &'p [u32],
    /// Whether all numbers of the range have one, as nearly always.
    is_complete: bool,
}

impl Matches<'_> {
    fn has(&self, key: u32) -> bool {
        let at = key.checked_sub(self.low).and_then(|at| self.places.get(at as usize));
        at.is_some_and(|&place| place != 0)
    }

    fn are_all(&self, keys: &[u32], control: &Control) -> Result<bool> {
        let work = |keys: &[u32]| -> Result<bool> {
            control.check().map_err(withdrawn)?;
            if !self.is_complete {
                // Without branches, as most have one.
                return Ok(keys.iter().fold(true, |so_far, &key| so_far & self.has(key)));
            }
            let ends = keys.iter().fold(None, |so_far: Option<(u32, u32)>, &key| match so_far {
                Some((low, high)) => Some((low.min(key), high.max(key))),
                None => Some((key, key)),
            });
            Ok(ends.is_none_or(|(low, high)| self.has(low) && self.has(high)))
        };
        let blocks = threads::map(keys.chunks(BLOCK_ROWS).collect(), work);
        Ok(blocks.into_iter().collect::<Result<Vec<_>>>()?.into_iter().all(|are| are))
    }
}
