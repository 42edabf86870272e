//! The first rows of any answer by any of its columns.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_schema::DataType;
use arrow_select::take::take;
use parallax_protocol::{Column, Table};

use crate::WireError;

/// Which rows of a table, and in which order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopRows {
    /// The column that rows are ordered by, from the largest; ascending with `:asc` behind it.
    /// None: as the answer has them.
    pub by: Option<String>,
    /// Rows at most.
    pub most: Option<usize>,
}

/// There is no column of a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer has no column {name}\nhint: its columns are {known}")]
pub struct UnknownColumn {
    /// The name.
    pub name: String,
    /// What there is.
    pub known: String,
}

/// One cell, so that it can be compared.
enum Cell<'a> {
    Number(f64),
    Text(&'a str),
}

impl TopRows {
    /// Whether everything stays as it is.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        self.by.is_none() && self.most.is_none()
    }

    /// The rows of `table`. Equal rows stay in their order; undefined cells come last.
    ///
    /// # Errors
    /// [`UnknownColumn`] when there is no such column, [`WireError`] when a column cannot be
    /// ordered.
    pub fn of(&self, table: &Table) -> Result<Result<Table, UnknownColumn>, WireError> {
        let mut rows: Vec<usize> = (0..table.num_rows()).collect();
        if let Some(by) = &self.by {
            let (name, is_ascending) = match by.strip_suffix(":asc") {
                Some(name) => (name, true),
                None => (by.strip_suffix(":desc").unwrap_or(by), false),
            };
            let Some(column) = table.column(name) else {
                let known: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
                let (name, known) = (name.to_owned(), known.join(", "));
                return Ok(Err(UnknownColumn { name, known }));
            };
            let cells = cells(&column.values);
            let order = |a: &Option<Cell<'_>>, b: &Option<Cell<'_>>| match (a, b) {
                (Some(Cell::Number(a)), Some(Cell::Number(b))) => {
                    directed(a.total_cmp(b), is_ascending)
                }
                (Some(Cell::Text(a)), Some(Cell::Text(b))) => directed(a.cmp(b), is_ascending),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                _ => Ordering::Equal,
            };
            let cell = |row: usize| cells.get(row).unwrap_or(&None);
            rows.sort_by(|&a, &b| order(cell(a), cell(b)).then(a.cmp(&b)));
        }
        rows.truncate(self.most.unwrap_or(usize::MAX));
        let rows: UInt64Array = rows.into_iter().map(|row| row as u64).collect();
        let columns = table.columns.iter().map(|column| {
            let values = take(&column.values, &rows, None)?;
            Ok(Column { values, ..column.clone() })
        });
        Ok(Ok(Table::new(columns.collect::<Result<_, WireError>>()?)))
    }
}

const fn directed(order: Ordering, is_ascending: bool) -> Ordering {
    if is_ascending { order } else { order.reverse() }
}

/// The cells of a column; `None` where undefined or of a type that has no order here.
fn cells(values: &ArrayRef) -> Vec<Option<Cell<'_>>> {
    let number = |value: f64| (!value.is_nan()).then_some(Cell::Number(value));
    let values: &Arc<dyn Array> = values;
    match values.data_type() {
        DataType::Float64 => {
            values.as_primitive::<Float64Type>().iter().map(|v| v.and_then(number)).collect()
        }
        DataType::UInt64 => values
            .as_primitive::<UInt64Type>()
            .iter()
            .map(|v| v.and_then(|v| number(v as f64)))
            .collect(),
        DataType::UInt32 => values
            .as_primitive::<UInt32Type>()
            .iter()
            .map(|v| v.and_then(|v| number(f64::from(v))))
            .collect(),
        DataType::UInt16 => values
            .as_primitive::<UInt16Type>()
            .iter()
            .map(|v| v.and_then(|v| number(f64::from(v))))
            .collect(),
        DataType::Utf8 => {
            values.as_string::<i32>().iter().map(|text| text.map(Cell::Text)).collect()
        }
        DataType::Dictionary(..) => {
            let Some(dictionary) = values.as_dictionary_opt::<Int32Type>() else {
                return Vec::new();
            };
            let Some(texts) = dictionary.values().as_string_opt::<i32>() else { return Vec::new() };
            let text = |key: Option<i32>| {
                let key = usize::try_from(key?).ok().filter(|key| *key < texts.len())?;
                Some(Cell::Text(texts.value(key)))
            };
            dictionary.keys().iter().map(text).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table::new(vec![
            Column::strings("name", "", ["b", "a", "c", "d"]),
            Column::optional_f64s("cost", "s", "", vec![Some(2.0), None, Some(-1.0), Some(2.0)]),
            Column::u32s("id", "", vec![10, 11, 12, 13]),
        ])
    }

    fn ids(by: &str, most: Option<usize>) -> Vec<u32> {
        let top = TopRows { by: Some(by.to_owned()), most };
        let found = top.of(&table()).unwrap().unwrap();
        found.column("id").unwrap().values.as_primitive::<UInt32Type>().values().to_vec()
    }

    #[test]
    fn rows_come_from_the_largest_and_undefined_ones_last() {
        assert_eq!(ids("cost", None), [10, 13, 12, 11]);
        assert_eq!(ids("cost:asc", None), [12, 10, 13, 11]);
        assert_eq!(ids("name:asc", Some(2)), [11, 10]);
        assert_eq!(ids("id", Some(1)), [13]);
    }

    #[test]
    fn an_unknown_column_is_told_with_those_that_there_are() {
        let top = TopRows { by: Some("price".to_owned()), most: None };
        let error = top.of(&table()).unwrap().unwrap_err();
        assert!(error.to_string().contains("name, cost, id"), "{error}");
    }
}
