//! [`Values`]: what the columns of a typed table may hold.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, StringArray,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::ScalarBuffer;

use crate::{Column, ColumnSchema, ColumnType, UnitOf};

/// The values of one column, of a type that is known to the compiler.
pub trait Values {
    /// Their type.
    const TYPE: ColumnType;
    /// Whether values may be absent.
    const IS_NULLABLE: bool;

    /// The same as an Arrow array, without a copy where that is possible.
    fn into_array(self) -> ArrayRef;
}

/// What a field of a typed table contributes: one column, or a family of them.
pub trait ColumnValues {
    /// The type of the values.
    const TYPE: ColumnType;
    /// Whether values may be absent.
    const IS_NULLABLE: bool;
    /// Whether there may be any number of columns.
    const IS_FAMILY: bool;
    /// Whether the column is only in some answers.
    const IS_OPTIONAL: bool = false;

    /// Appends the columns. `unit` is that of the metric which the answer is about.
    fn add_to(self, schema: &ColumnSchema, unit: &str, columns: &mut Vec<Column>);
}

impl<V: Values> ColumnValues for V {
    const TYPE: ColumnType = <V as Values>::TYPE;
    const IS_NULLABLE: bool = <V as Values>::IS_NULLABLE;
    const IS_FAMILY: bool = false;

    fn add_to(self, schema: &ColumnSchema, unit: &str, columns: &mut Vec<Column>) {
        let squared = if unit.is_empty() { String::new() } else { format!("{unit}²") };
        let core = if unit.is_empty() { String::new() } else { format!("core-{unit}") };
        let unit = match schema.unit {
            UnitOf::Fixed(symbol) => symbol,
            UnitOf::Metric => unit,
            UnitOf::MetricSquared => &squared,
            UnitOf::CoreMetric => &core,
            UnitOf::Column(_) => "",
        };
        let doc = schema.doc.trim();
        let column = Column::new(schema.name, unit, doc, self.into_array());
        columns.push(Column { head: schema.head, ..column });
    }
}

/// A column that only some answers have.
impl<V: Values> ColumnValues for Option<V> {
    const TYPE: ColumnType = <V as Values>::TYPE;
    const IS_NULLABLE: bool = <V as Values>::IS_NULLABLE;
    const IS_FAMILY: bool = false;
    const IS_OPTIONAL: bool = true;

    fn add_to(self, schema: &ColumnSchema, unit: &str, columns: &mut Vec<Column>) {
        if let Some(values) = self {
            values.add_to(schema, unit, columns);
        }
    }
}

impl ColumnValues for Family {
    const TYPE: ColumnType = ColumnType::F64;
    const IS_NULLABLE: bool = true;
    const IS_FAMILY: bool = true;

    fn add_to(self, _: &ColumnSchema, _: &str, columns: &mut Vec<Column>) {
        columns.extend(self.columns);
    }
}

macro_rules! numbers {
    ($($native:ty, $array:ty, $kind:ident;)*) => {$(
        impl Values for Vec<$native> {
            const TYPE: ColumnType = ColumnType::$kind;
            const IS_NULLABLE: bool = false;

            fn into_array(self) -> ArrayRef {
                Arc::new(<$array>::new(ScalarBuffer::from(self), None))
            }
        }

        impl Values for Vec<Option<$native>> {
            const TYPE: ColumnType = ColumnType::$kind;
            const IS_NULLABLE: bool = true;

            fn into_array(self) -> ArrayRef {
                Arc::new(<$array>::from(self))
            }
        }
    )*};
}

numbers! {
    u16, UInt16Array, U16;
    u32, UInt32Array, U32;
    u64, UInt64Array, U64;
    i64, Int64Array, I64;
    f64, Float64Array, F64;
}

impl Values for Vec<bool> {
    const TYPE: ColumnType = ColumnType::Bool;
    const IS_NULLABLE: bool = false;

    fn into_array(self) -> ArrayRef {
        Arc::new(BooleanArray::from(self))
    }
}

macro_rules! texts {
    ($($text:ty;)*) => {$(
        impl Values for Vec<$text> {
            const TYPE: ColumnType = ColumnType::String;
            const IS_NULLABLE: bool = false;

            fn into_array(self) -> ArrayRef {
                Arc::new(StringArray::from_iter_values(self))
            }
        }

        impl Values for Vec<Option<$text>> {
            const TYPE: ColumnType = ColumnType::String;
            const IS_NULLABLE: bool = true;

            fn into_array(self) -> ArrayRef {
                Arc::new(self.into_iter().collect::<StringArray>())
            }
        }
    )*};
}

texts! {
    String;
    &'static str;
    Arc<str>;
}

/// Numbers of which NaN means that there is none, as analyses count; null in the table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Defined(pub Vec<f64>);

impl Values for Defined {
    const TYPE: ColumnType = ColumnType::F64;
    const IS_NULLABLE: bool = true;

    fn into_array(self) -> ArrayRef {
        if !self.0.iter().any(|value| value.is_nan()) {
            return self.0.into_array();
        }
        let values = self.0.into_iter().map(|value| (!value.is_nan()).then_some(value));
        Arc::new(values.collect::<Float64Array>())
    }
}

/// Texts that repeat, stored once: `rows[i]` is the number of the text of row i among `texts`.
/// Rows that name no text are null.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repeated {
    /// For each row, the number of its text.
    pub rows: Vec<i32>,
    /// The texts.
    pub texts: Vec<String>,
}

impl Values for Repeated {
    const TYPE: ColumnType = ColumnType::String;
    const IS_NULLABLE: bool = true;

    fn into_array(self) -> ArrayRef {
        dictionary(self.rows, &self.texts)
    }
}

/// Texts by number as an Arrow array; rows that name no text are null.
pub(crate) fn dictionary(rows: Vec<i32>, texts: &[String]) -> ArrayRef {
    let known = i32::try_from(texts.len()).unwrap_or(i32::MAX);
    let keys = if rows.iter().all(|row| (0..known).contains(row)) {
        Int32Array::new(ScalarBuffer::from(rows), None)
    } else {
        rows.into_iter().map(|row| (0..known).contains(&row).then_some(row)).collect()
    };
    let texts = StringArray::from_iter_values(texts);
    // Keys were checked above, so the array is valid by construction.
    match DictionaryArray::<Int32Type>::try_new(keys, Arc::new(texts)) {
        Ok(array) => Arc::new(array),
        Err(_) => Arc::new(StringArray::from(Vec::<Option<&str>>::new())),
    }
}

/// Any number of columns of one meaning, such as one for each kind of identity or metric. Their
/// names are known only when the experiment is.
#[derive(Debug, Clone, Default)]
pub struct Family {
    /// The columns.
    pub columns: Vec<Column>,
}

impl FromIterator<Column> for Family {
    fn from_iter<I: IntoIterator<Item = Column>>(columns: I) -> Self {
        Self { columns: columns.into_iter().collect() }
    }
}
