//! [`Table`]: an answer as Arrow columns with units and meanings.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, RecordBatchOptions, StringArray, UInt16Array,
    UInt32Array, UInt64Array,
};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{Field, Schema};

use crate::schema::{is_label, title};
use crate::values::dictionary;

/// One column: what it is called, what it counts, what it means, and its values.
#[derive(Debug, Clone)]
pub struct Column {
    /// Name, in lower case with underscores; stable across releases.
    pub name: String,
    /// Unit symbol (`s`, `ns`, `B`, `%`); empty for counts, ratios and names.
    pub unit: String,
    /// Display name; empty where it is derived from the name.
    pub head: &'static str,
    /// One sentence about the meaning.
    pub doc: &'static str,
    /// The values.
    pub values: ArrayRef,
}

impl Column {
    /// A column of any Arrow array.
    pub fn new(name: impl Into<String>, unit: &str, doc: &'static str, values: ArrayRef) -> Self {
        Self { name: name.into(), unit: unit.to_owned(), head: "", doc, values }
    }

    /// Numbers that are always there.
    pub fn f64s(name: impl Into<String>, unit: &str, doc: &'static str, values: Vec<f64>) -> Self {
        let values = Float64Array::new(ScalarBuffer::from(values), None);
        Self::new(name, unit, doc, Arc::new(values))
    }

    /// Numbers of which some are undefined.
    pub fn optional_f64s(
        name: impl Into<String>,
        unit: &str,
        doc: &'static str,
        values: Vec<Option<f64>>,
    ) -> Self {
        Self::new(name, unit, doc, Arc::new(Float64Array::from(values)))
    }

    /// Ids and counts of 32 bits, without copying.
    pub fn u32s(name: impl Into<String>, doc: &'static str, values: Vec<u32>) -> Self {
        let values = UInt32Array::new(ScalarBuffer::from(values), None);
        Self::new(name, "", doc, Arc::new(values))
    }

    /// Ids of 16 bits, without copying.
    pub fn u16s(name: impl Into<String>, doc: &'static str, values: Vec<u16>) -> Self {
        let values = UInt16Array::new(ScalarBuffer::from(values), None);
        Self::new(name, "", doc, Arc::new(values))
    }

    /// Counts and times of 64 bits, without copying.
    pub fn u64s(name: impl Into<String>, unit: &str, doc: &'static str, values: Vec<u64>) -> Self {
        let values = UInt64Array::new(ScalarBuffer::from(values), None);
        Self::new(name, unit, doc, Arc::new(values))
    }

    /// Counts and ids of 64 bits of which some are undefined.
    pub fn optional_u64s(
        name: impl Into<String>,
        unit: &str,
        doc: &'static str,
        values: impl IntoIterator<Item = Option<u64>>,
    ) -> Self {
        let values: UInt64Array = values.into_iter().collect();
        Self::new(name, unit, doc, Arc::new(values))
    }

    /// Texts.
    pub fn strings<S: AsRef<str>>(
        name: impl Into<String>,
        doc: &'static str,
        values: impl IntoIterator<Item = S>,
    ) -> Self {
        let values = StringArray::from_iter_values(values);
        Self::new(name, "", doc, Arc::new(values))
    }

    /// Texts of which some are undefined.
    pub fn optional_strings<S: AsRef<str>>(
        name: impl Into<String>,
        doc: &'static str,
        values: impl IntoIterator<Item = Option<S>>,
    ) -> Self {
        let values: StringArray = values.into_iter().collect();
        Self::new(name, "", doc, Arc::new(values))
    }

    /// Texts that repeat: `rows[i]` is the number of the text of row i among `texts`.
    /// Rows that name no text are null.
    pub fn repeated_strings(
        name: impl Into<String>,
        doc: &'static str,
        rows: Vec<i32>,
        texts: &[String],
    ) -> Self {
        let values = dictionary(rows, texts);
        Self::new(name, "", doc, values)
    }
}

impl Column {
    /// Whether any row has a value.
    #[must_use]
    pub fn has_values(&self) -> bool {
        self.values.null_count() < self.values.len()
    }

    /// What readers are told of the column next to its name and type: `head`, the display name;
    /// `doc`, the meaning; `unit`, where there is one; and `role`, which is `label` where numbers
    /// say which one something is, not how much.
    #[must_use]
    pub fn metadata(&self) -> HashMap<String, String> {
        let head = if self.head.is_empty() { title(&self.name) } else { self.head.to_owned() };
        let mut metadata =
            HashMap::from([("head".to_owned(), head), ("doc".to_owned(), self.doc.to_owned())]);
        if !self.unit.is_empty() {
            metadata.insert("unit".to_owned(), self.unit.clone());
        } else if self.values.data_type().is_numeric() && is_label(&self.name) {
            metadata.insert("role".to_owned(), "label".to_owned());
        }
        metadata
    }
}

/// An answer: columns of equal length.
#[derive(Debug, Clone)]
pub struct Table {
    /// The columns, in the order a person reads them.
    pub columns: Vec<Column>,
}

impl Table {
    /// A table of `columns`, which must have the same length; shorter ones would be a defect of
    /// the analysis that made them.
    #[must_use]
    pub fn new(columns: Vec<Column>) -> Self {
        debug_assert!(
            columns.windows(2).all(|pair| pair[0].values.len() == pair[1].values.len()),
            "columns of different length"
        );
        Self { columns }
    }

    /// Number of rows.
    #[must_use]
    pub fn num_rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The column called `name`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The same as an Arrow record batch. Units, display names and meanings become metadata of the
    /// fields, under `unit`, `head` and `doc`. Values are shared, not copied.
    #[must_use]
    pub fn to_record_batch(&self) -> RecordBatch {
        let field = |column: &Column| {
            let is_nullable = column.values.null_count() > 0;
            Field::new(&column.name, column.values.data_type().clone(), is_nullable)
                .with_metadata(column.metadata())
        };
        let schema = Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()));
        let arrays = self.columns.iter().map(|column| Arc::clone(&column.values)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
            .unwrap_or_else(|_| RecordBatch::new_empty(schema))
    }
}
