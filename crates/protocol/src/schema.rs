//! [`TableSchema`]: what a table has, known before any row is.

use crate::Table;

/// The type of a column's values, as other programs see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// True or false.
    Bool,
    /// Unsigned integers of 16 bits.
    U16,
    /// Unsigned integers of 32 bits.
    U32,
    /// Unsigned integers of 64 bits.
    U64,
    /// Signed integers of 64 bits.
    I64,
    /// IEEE 754 doubles.
    F64,
    /// UTF-8 text.
    String,
}

impl ColumnType {
    /// The name in the header of a JSON table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F64 => "f64",
            Self::String => "string",
        }
    }

    /// Whether values are numbers.
    #[must_use]
    pub const fn is_number(self) -> bool {
        !matches!(self, Self::Bool | Self::String)
    }
}

/// Where the unit of a column's values comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitOf {
    /// Always the same symbol; empty for counts, ratios, names and ids.
    Fixed(&'static str),
    /// Each row has its own, in the column of this name.
    Column(&'static str),
    /// That of the metric which the answer is about.
    Metric,
    /// The square of that.
    MetricSquared,
    /// That times cores, such as core-seconds.
    CoreMetric,
}

/// A column: what it is called, what it holds and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSchema {
    /// Name, in lower case with underscores; stable across releases. Of a family it stands for the
    /// name of each member.
    pub name: &'static str,
    /// The type of its values.
    pub values: ColumnType,
    /// Their unit.
    pub unit: UnitOf,
    /// Whether values may be absent.
    pub is_nullable: bool,
    /// Whether it stands for any number of columns, such as one for each kind of identity.
    pub is_family: bool,
    /// Whether only some answers have it.
    pub is_optional: bool,
    /// Display name; empty where [`ColumnSchema::title`] derives it from the name.
    pub head: &'static str,
    /// The meaning, in one or two sentences.
    pub doc: &'static str,
}

/// Endings of names that say a unit which a display name omits.
const UNIT_ENDINGS: [&str; 4] = ["_percent", "_bytes", "_ns", "_s"];

impl ColumnSchema {
    /// The display name: the name in words, without its unit, beginning with a capital.
    #[must_use]
    pub fn title(&self) -> String {
        if self.head.is_empty() { title(self.name) } else { self.head.to_owned() }
    }
}

/// Whether numbers of a column of this name say which one it is, such as a line of a file or the
/// number of a rank, and not how much: they have no bars, no sums and no separators of thousands.
#[must_use]
pub(crate) fn is_label(name: &str) -> bool {
    const NAMES: [&str; 19] = [
        "application",
        "bin",
        "caller",
        "communicator",
        "context",
        "device",
        "earlier",
        "function",
        "group",
        "iteration",
        "later",
        "line",
        "location",
        "node",
        "number",
        "parent",
        "rank",
        "stream",
        "thread",
    ];
    const ENDINGS: [&str; 2] = ["_id", "_line"];
    NAMES.contains(&name) || ENDINGS.iter().any(|end| name.ends_with(end))
}

/// The name of a column whose field is a keyword of Rust: without `r#`.
#[must_use]
pub const fn bare(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', rest @ ..] => match std::str::from_utf8(rest) {
            Ok(rest) => rest,
            Err(_) => name,
        },
        _ => name,
    }
}

/// The display name of a column that has no other: its name in words, without its unit.
pub(crate) fn title(name: &str) -> String {
    let stem = UNIT_ENDINGS.iter().find_map(|end| name.strip_suffix(end));
    let words = stem.unwrap_or(name).replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The columns of a table, in the order a person reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSchema {
    /// What rows are and how they are ordered.
    pub doc: &'static str,
    /// The columns.
    pub columns: &'static [ColumnSchema],
}

impl TableSchema {
    /// The column called `name`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnSchema> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// One form of a table: most tables have one, some another for each thing that is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableForm {
    /// When the table has this form; empty where it has no other.
    pub when: &'static str,
    /// Its columns.
    pub schema: TableSchema,
}

/// A table of an answer: of one form, or of one of several
/// (the macro `one_of`).
pub trait AnswerTable {
    /// Its forms.
    const FORMS: &'static [TableForm];

    /// The same as columns; see [`TypedTable::into_table_in`].
    fn into_answer_table(self, unit: &str) -> Table;
}

impl<T: TypedTable> AnswerTable for T {
    const FORMS: &'static [TableForm] = &[TableForm { when: "", schema: T::SCHEMA }];

    fn into_answer_table(self, unit: &str) -> Table {
        self.into_table_in(unit)
    }
}

/// A table whose columns only the request says.
impl AnswerTable for Table {
    const FORMS: &'static [TableForm] = &[TableForm {
        when: "",
        schema: TableSchema { doc: "Its columns are those that were asked for.", columns: &[] },
    }];

    fn into_answer_table(self, _: &str) -> Table {
        self
    }
}

/// A table whose columns are known to the compiler; `table!` defines them.
pub trait TypedTable {
    /// What its columns are.
    const SCHEMA: TableSchema;

    /// The same as columns with names, units and meanings. `unit` is that of the metric which the
    /// answer is about, for columns in [`UnitOf::Metric`].
    fn into_table_in(self, unit: &str) -> Table;

    /// The same, of an answer that is not about one metric.
    fn into_table(self) -> Table
    where
        Self: Sized,
    {
        self.into_table_in("")
    }
}
