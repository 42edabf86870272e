//! [`select`]: some rows of a table, each written once, to where it stays, by [`columns::select`]; and
//! what is computed of them.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayData, ArrayRef, UInt32Array, make_array};
use datafusion::arrow::buffer::{Buffer, ScalarBuffer};
use datafusion::arrow::compute::{concat, take_record_batch};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use parallax_base::{Control, threads};
use parallax_columns::{self as columns, Other, Picks, Room};

use super::rows::withdrawn;
use crate::kept::Keeper;

type Expr = Arc<dyn PhysicalExpr>;

/// Numbers of a column that has one in every row, by their width.
enum Numbers {
    Two(ScalarBuffer<u16>),
    Four(ScalarBuffer<u32>),
    Eight(ScalarBuffer<u64>),
}

impl Numbers {
    /// `None` for a column of something else.
    fn of(array: &ArrayRef) -> Option<Self> {
        let data = array.to_data();
        let width = data.data_type().primitive_width().filter(|_| data.null_count() == 0)?;
        let values = data.buffers().first()?;
        let values = values.slice_with_length(data.offset() * width, data.len() * width);
        Some(match width {
            2 => Self::Two(values.into()),
            4 => Self::Four(values.into()),
            8 => Self::Eight(values.into()),
            _ => return None,
        })
    }

    fn all(&self) -> columns::Numbers<'_> {
        match self {
            Self::Two(all) => columns::Numbers::Two(all),
            Self::Four(all) => columns::Numbers::Four(all),
            Self::Eight(all) => columns::Numbers::Eight(all),
        }
    }
}

/// Room for so many of a column's numbers, which are any.
fn room(numbers: &columns::Numbers<'_>, rows: usize, keeper: &Keeper) -> Room {
    match numbers {
        columns::Numbers::Two(_) => Room::Two(keeper.room(rows)),
        columns::Numbers::Four(_) => Room::Four(keeper.room(rows)),
        columns::Numbers::Eight(_) => Room::Eight(keeper.room(rows)),
    }
}

fn into_buffer(room: Room) -> Buffer {
    match room {
        Room::Two(all) => Buffer::from_vec(all),
        Room::Four(all) => Buffer::from_vec(all),
        Room::Eight(all) => Buffer::from_vec(all),
    }
}

/// Chosen rows of a table.
pub(super) struct Selected {
    pub(super) rows: usize,
    pub(super) columns: Vec<ArrayRef>,
}

/// Some rows of a table: columns of it, and what is computed of them. `pick` gives the rows of a
/// block, and waits for nothing.
///
/// # Errors
/// When something cannot be computed, and when the statement was withdrawn.
pub(super) fn select(
    table: &RecordBatch,
    columns: &[Expr],
    pick: impl Fn(Range<usize>, &mut Picks) + Send + Sync,
    keeper: &Keeper,
    control: &Control,
) -> Result<Selected> {
    let own = |column: &Expr| {
        let column = table.columns().get(column.downcast_ref::<Column>()?.index())?;
        Numbers::of(column)
    };
    let own: Vec<Option<Numbers>> = columns.iter().map(own).collect();
    let copied: Vec<columns::Numbers<'_>> = own.iter().flatten().map(Numbers::all).collect();
    let pick = |block: Range<usize>, picks: &mut Picks| -> Result<()> {
        control.check().map_err(withdrawn)?;
        pick(block, picks);
        Ok(())
    };
    let has_computed = copied.len() < columns.len();
    let room = |numbers: &columns::Numbers<'_>, rows: usize| room(numbers, rows, keeper);
    let selected = columns::select(table.num_rows(), &copied, has_computed, room, pick)?;
    let columns::Selected { rows, rows_here, columns: rooms, others } = selected;
    let made = threads::map(others, |other| -> Result<Vec<Option<ArrayRef>>> {
        control.check().map_err(withdrawn)?;
        let Other { block, places, is_here } = other;
        let mut chosen = table.slice(block.start, block.len());
        if places.len() < block.len() {
            let places = places.iter().map(|&place| u32::from(place));
            chosen = take_record_batch(&chosen, &places.collect::<UInt32Array>())?;
        }
        let array = |(column, own): (&Expr, &Option<Numbers>)| match own {
            Some(_) if is_here => Ok(None),
            _ => column.evaluate(&chosen)?.into_array(chosen.num_rows()).map(Some),
        };
        columns.iter().zip(&own).map(array).collect()
    });
    let made = made.into_iter().collect::<Result<Vec<_>>>()?;

    let buffers: Vec<Buffer> = rooms.into_iter().map(into_buffer).collect();
    keeper.keep_room(&buffers);
    let mut buffers = buffers.into_iter();
    let join = |(at, (column, own)): (usize, (&Expr, &Option<Numbers>))| -> Result<ArrayRef> {
        let mut arrays: Vec<ArrayRef> = Vec::new();
        if own.is_some()
            && let Some(buffer) = buffers.next()
        {
            arrays.push(array_of(&column.data_type(table.schema_ref())?, &buffer, rows_here)?);
        }
        arrays.extend(made.iter().filter_map(|arrays| arrays.get(at).cloned().flatten()));
        match arrays.as_slice() {
            [one] => Ok(Arc::clone(one)),
            several => Ok(concat(&several.iter().map(|array| &**array).collect::<Vec<_>>())?),
        }
    };
    let columns = columns.iter().zip(&own).enumerate().map(join).collect::<Result<_>>()?;
    Ok(Selected { rows, columns })
}

/// The first numbers of a buffer as an array.
fn array_of(kind: &DataType, numbers: &Buffer, rows: usize) -> Result<ArrayRef> {
    let width = kind.primitive_width().unwrap_or_default();
    let numbers = numbers.slice_with_length(0, rows * width);
    Ok(make_array(ArrayData::builder(kind.clone()).len(rows).add_buffer(numbers).build()?))
}
