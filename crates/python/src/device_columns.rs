//! Columns of tables as devices have them, and back: whole numbers, and numbers of names.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int32Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array as _, ArrayRef, DictionaryArray, Int32Array, StringArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{Buffer, MutableBuffer, ScalarBuffer};
use arrow_schema::DataType;
use bytes::Bytes;
use parallax_columns::{Groups, HostValues, Moments, Shared};
use parallax_protocol::{Column, ErrorReply, Table};
use pyo3::prelude::*;

use crate::wait::failure;

/// What is known about a column on a device.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    /// Its unit; empty for counts and ids.
    pub(crate) unit: String,
    /// Its display name; empty where that follows from the name.
    pub(crate) head: &'static str,
    /// Its meaning.
    pub(crate) doc: &'static str,
    /// The names that its values are numbers of, in alphabetical order, where it has names.
    pub(crate) texts: Option<Arc<StringArray>>,
}

/// Why a column cannot be on a device.
pub(crate) struct Refused(pub(crate) String);

/// A column for a device. Numbers of 32 and 64 bits are where they were.
pub(crate) fn placed(column: &Column) -> Result<(About, HostValues), Refused> {
    let array = &column.values;
    let refused = |why: &str| Refused(why.to_owned());
    if array.null_count() > 0 {
        return Err(refused("it has nulls"));
    }
    let about = |texts| {
        let Column { unit, head, doc, .. } = column;
        About { unit: unit.clone(), head, doc, texts }
    };
    let values = match array.data_type() {
        DataType::UInt16 => {
            let values = array.as_primitive::<UInt16Type>().values();
            narrow(values.iter().map(|&value| value.into()).collect())
        }
        DataType::UInt32 => {
            HostValues::Narrow(Arc::new(array.as_primitive::<UInt32Type>().values().clone()))
        }
        DataType::UInt64 => {
            HostValues::Wide(Arc::new(array.as_primitive::<UInt64Type>().values().clone()))
        }
        DataType::Int64 => {
            let values = array.as_primitive::<Int64Type>().values();
            if values.iter().any(|&value| value < 0) {
                return Err(refused("it has negative numbers"));
            }
            HostValues::Wide(Arc::new(ScalarBuffer::<u64>::from(values.inner().clone())))
        }
        DataType::Dictionary(..) => {
            let (keys, texts) = array
                .as_dictionary_opt::<Int32Type>()
                .and_then(|texts| Some((texts.keys(), texts.values().as_string_opt::<i32>()?)))
                .ok_or_else(|| refused("it has values of another kind"))?;
            let key = |key: &i32| usize::try_from(*key).unwrap_or(0);
            let (texts, numbers) = numbered(texts, keys.values().iter().map(key));
            return Ok((about(Some(texts)), narrow(numbers)));
        }
        DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            let (texts, numbers) = numbered(texts, 0..texts.len());
            return Ok((about(Some(texts)), narrow(numbers)));
        }
        _ => return Err(refused("it has numbers that are not whole")),
    };
    Ok((about(None), values))
}

fn narrow(values: Vec<u32>) -> HostValues {
    HostValues::Narrow(Arc::new(values))
}

/// Texts in alphabetical order, each once, and their numbers in that order for some rows of them.
fn numbered(
    texts: &StringArray,
    rows: impl Iterator<Item = usize>,
) -> (Arc<StringArray>, Vec<u32>) {
    let of_rows: Vec<&str> = texts.iter().map(Option::unwrap_or_default).collect();
    let mut numbers: BTreeMap<&str, u32> = of_rows.iter().map(|text| (*text, 0)).collect();
    (0..).zip(numbers.values_mut()).for_each(|(number, place)| *place = number);
    let of_texts: Vec<u32> =
        of_rows.iter().map(|text| numbers.get(text).copied().unwrap_or(0)).collect();
    let found = rows.map(|row| of_texts.get(row).copied().unwrap_or(0)).collect();
    (Arc::new(StringArray::from_iter_values(numbers.keys())), found)
}

/// Values of the host whose bytes a buffer owns.
struct Owned<T>(Shared<T>);

impl<T: bytemuck::Pod> AsRef<[u8]> for Owned<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(AsRef::<[T]>::as_ref(&*self.0))
    }
}

/// The same bytes as a buffer, without a copy.
fn buffer<T: bytemuck::Pod>(values: Shared<T>) -> Buffer {
    if AsRef::<[T]>::as_ref(&*values).is_empty() {
        // The place of no bytes need not be aligned as values are.
        return MutableBuffer::new(0).into();
    }
    Bytes::from_owner(Owned(values)).into()
}

/// No values, of 32 or 64 bits.
pub(crate) fn nothing(is_wide: bool) -> HostValues {
    if is_wide { HostValues::Wide(Arc::new(Vec::new())) } else { narrow(Vec::new()) }
}

/// A column of a table with these values, which are not copied.
pub(crate) fn host_column(name: &str, about: &About, values: HostValues) -> Column {
    let values: ArrayRef = match (values, &about.texts) {
        (HostValues::Wide(values), _) => {
            Arc::new(UInt64Array::new(ScalarBuffer::from(buffer(values)), None))
        }
        (HostValues::Narrow(values), None) => {
            Arc::new(UInt32Array::new(ScalarBuffer::from(buffer(values)), None))
        }
        (HostValues::Narrow(values), Some(texts)) => {
            let keys = Int32Array::new(ScalarBuffer::from(buffer(values)), None);
            let texts: ArrayRef = Arc::clone(texts) as ArrayRef;
            match DictionaryArray::<Int32Type>::try_new(keys.clone(), texts) {
                Ok(array) => Arc::new(array),
                // Numbers are of these texts; without them they are still numbers.
                Err(_) => Arc::new(keys),
            }
        }
    };
    let column = Column::new(name, &about.unit, about.doc, values);
    Column { head: about.head, ..column }
}

/// The columns of a table of groups besides their keys.
const OF_GROUPS: [&str; 6] = ["count", "sum", "min", "max", "mean", "variance"];

/// Groups with their keys: of two, the first is the major one.
pub(crate) fn groups_table(
    groups: Groups,
    keys: &[(&str, &About)],
    of: &About,
) -> Result<Table, ErrorReply> {
    if let Some((name, _)) = keys.iter().find(|(name, _)| OF_GROUPS.contains(name)) {
        let what =
            format!("groups have a column `{name}` of their own, which no key can be called");
        return Err(ErrorReply::new("misuse", what));
    }
    let Groups { minor, major, moments } = groups;
    let values = match keys.len() {
        2 => vec![major, minor],
        _ => vec![minor],
    };
    let named = keys.iter().zip(values);
    let mut columns: Vec<Column> =
        named.map(|((name, about), values)| host_column(name, about, narrow(values))).collect();
    let whole = |of: fn(&Moments) -> u64| moments.iter().map(of).collect::<Vec<u64>>();
    let real = |of: fn(&Moments) -> f64| moments.iter().map(of).collect::<Vec<f64>>();
    let unit = of.unit.as_str();
    let square = if unit.is_empty() { String::new() } else { format!("{unit}²") };
    let sums = moments.iter().map(|of| u64::try_from(of.sum).ok());
    columns.extend([
        Column::u64s("count", "", "Number of rows.", whole(|of| of.count)),
        Column::optional_u64s("sum", unit, "Sum; null where it has more than 64 bits.", sums),
        Column::u64s("min", unit, "Least value.", whole(|of| of.min)),
        Column::u64s("max", unit, "Greatest value.", whole(|of| of.max)),
        Column::f64s("mean", unit, "Mean.", real(Moments::mean)),
        Column::f64s("variance", &square, "Variance of the population.", real(Moments::variance)),
    ]);
    Ok(Table::new(columns))
}

impl About {
    /// The least value that is not below a limit; none where every value is.
    pub(crate) fn low(&self, limit: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        if let Some(texts) = &self.texts {
            let limit = name(limit)?;
            return Ok(Some(
                texts.iter().flatten().take_while(|text| **text < *limit).count() as u64
            ));
        }
        Ok(match number(limit)? {
            Number::Whole(limit) => u64::try_from(limit.max(0)).ok(),
            // Casts of numbers outside of 64 bits give the ends.
            Number::Real(limit) if limit >= u64::MAX as f64 => None,
            Number::Real(limit) => Some(limit.ceil() as u64),
        })
    }

    /// The greatest value that is not above a limit; none where every value is.
    pub(crate) fn high(&self, limit: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        if let Some(texts) = &self.texts {
            let limit = name(limit)?;
            let count = texts.iter().flatten().take_while(|text| **text <= *limit).count();
            return Ok((count as u64).checked_sub(1));
        }
        Ok(match number(limit)? {
            Number::Whole(limit) if limit < 0 => None,
            Number::Whole(limit) => Some(u64::try_from(limit).unwrap_or(u64::MAX)),
            Number::Real(limit) if limit < 0.0 => None,
            Number::Real(limit) => Some(limit.floor() as u64),
        })
    }
}

enum Number {
    Whole(i128),
    Real(f64),
}

fn number(value: &Bound<'_, PyAny>) -> PyResult<Number> {
    if let Ok(whole) = value.extract::<i128>() {
        return Ok(Number::Whole(whole));
    }
    match value.extract::<f64>() {
        Ok(real) if !real.is_nan() => Ok(Number::Real(real)),
        _ => Err(misuse(value, "is not a number")),
    }
}

fn name(value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.extract().map_err(|_| misuse(value, "is not a name, as the column has them"))
}

fn misuse(value: &Bound<'_, PyAny>, what: &str) -> PyErr {
    let what = format!("{value} {what}");
    failure(value.py(), &ErrorReply::new("misuse", what))
}
