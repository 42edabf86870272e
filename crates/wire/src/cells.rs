//! [`Cells`]: the values of a column, whatever their Arrow type.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, BooleanArray, Float64Array, Int32Array, Int64Array, StringArray, UInt16Array,
    UInt32Array, UInt64Array,
};
use arrow_schema::DataType;
use parallax_protocol::{Column, ColumnType, Table};

use crate::WireError;

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Undefined, or outside the column.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number, not negative.
    Unsigned(u64),
    /// A whole number.
    Signed(i64),
    /// A double; may be infinite or not a number.
    Float(f64),
    /// Text.
    Text(&'a str),
}

impl Cell<'_> {
    /// The value as a number, rounded to a double where it has more than 53 bits; `None` for texts
    /// and nulls.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Self::Null | Self::Text(_) => None,
            Self::Bool(value) => Some(f64::from(u8::from(value))),
            Self::Unsigned(value) => Some(value as f64),
            Self::Signed(value) => Some(value as f64),
            Self::Float(value) => Some(value),
        }
    }
}

/// The values of a column. The Arrow type is looked up once, when this is made.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a> {
    values: Values<'a>,
    len: usize,
}

#[derive(Debug, Clone, Copy)]
enum Values<'a> {
    Bool(&'a BooleanArray),
    U16(&'a UInt16Array),
    U32(&'a UInt32Array),
    U64(&'a UInt64Array),
    I64(&'a Int64Array),
    F64(&'a Float64Array),
    Text(&'a StringArray),
    /// Texts that repeat: the number of each row's text, and the texts.
    Repeated(&'a Int32Array, &'a StringArray),
}

impl<'a> Cells<'a> {
    /// The values of `column`.
    ///
    /// # Errors
    ///
    /// [`WireError::UnsupportedType`] for Arrow types that answers do not carry.
    pub fn of(column: &'a Column) -> Result<Self, WireError> {
        let array = &column.values;
        let values = match array.data_type() {
            DataType::Boolean => array.as_boolean_opt().map(Values::Bool),
            DataType::UInt16 => array.as_primitive_opt::<UInt16Type>().map(Values::U16),
            DataType::UInt32 => array.as_primitive_opt::<UInt32Type>().map(Values::U32),
            DataType::UInt64 => array.as_primitive_opt::<UInt64Type>().map(Values::U64),
            DataType::Int64 => array.as_primitive_opt::<Int64Type>().map(Values::I64),
            DataType::Float64 => array.as_primitive_opt::<Float64Type>().map(Values::F64),
            DataType::Utf8 => array.as_string_opt::<i32>().map(Values::Text),
            DataType::Dictionary(_, _) => {
                array.as_dictionary_opt::<Int32Type>().and_then(|dictionary| {
                    let texts = dictionary.values().as_string_opt::<i32>()?;
                    Some(Values::Repeated(dictionary.keys(), texts))
                })
            }
            _ => None,
        };
        let values = values.ok_or_else(|| WireError::UnsupportedType {
            column: column.name.clone(),
            found: array.data_type().clone(),
        })?;
        Ok(Self { values, len: array.len() })
    }

    /// The values of every column of `table`.
    ///
    /// # Errors
    ///
    /// [`WireError::UnsupportedType`] for Arrow types that answers do not carry, and
    /// [`WireError::UnequalColumns`] when columns differ in length.
    pub fn of_table(table: &'a Table) -> Result<Vec<Self>, WireError> {
        let expected = table.num_rows();
        let cells = |column: &'a Column| {
            let cells = Self::of(column)?;
            if cells.len == expected {
                return Ok(cells);
            }
            let column = column.name.clone();
            Err(WireError::UnequalColumns { column, found: cells.len, expected })
        };
        table.columns.iter().map(cells).collect()
    }

    /// Number of values, nulls included.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no values.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The type of the values, as other programs see it.
    #[must_use]
    pub const fn column_type(&self) -> ColumnType {
        match self.values {
            Values::Bool(_) => ColumnType::Bool,
            Values::U16(_) => ColumnType::U16,
            Values::U32(_) => ColumnType::U32,
            Values::U64(_) => ColumnType::U64,
            Values::I64(_) => ColumnType::I64,
            Values::F64(_) => ColumnType::F64,
            Values::Text(_) | Values::Repeated(_, _) => ColumnType::String,
        }
    }

    /// The value of `row`, counted from 0.
    #[must_use]
    pub fn get(&self, row: usize) -> Cell<'a> {
        if row >= self.len {
            return Cell::Null;
        }
        match self.values {
            Values::Bool(array) if array.is_valid(row) => Cell::Bool(array.value(row)),
            Values::U16(array) if array.is_valid(row) => Cell::Unsigned(array.value(row).into()),
            Values::U32(array) if array.is_valid(row) => Cell::Unsigned(array.value(row).into()),
            Values::U64(array) if array.is_valid(row) => Cell::Unsigned(array.value(row)),
            Values::I64(array) if array.is_valid(row) => Cell::Signed(array.value(row)),
            Values::F64(array) if array.is_valid(row) => Cell::Float(array.value(row)),
            Values::Text(array) if array.is_valid(row) => Cell::Text(array.value(row)),
            Values::Repeated(keys, texts) if keys.is_valid(row) => {
                // The array's own checks keep keys within the texts.
                let text = usize::try_from(keys.value(row)).unwrap_or(usize::MAX);
                if text < texts.len() && texts.is_valid(text) {
                    Cell::Text(texts.value(text))
                } else {
                    Cell::Null
                }
            }
            _ => Cell::Null,
        }
    }
}
