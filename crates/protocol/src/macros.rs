//! The macros that definitions are written with.

/// Defines a choice: an enum whose names are the same in requests, on the command line and in
/// documents. The first one is the default.
///
/// ```text
/// choice! {
///     /// What rows are.
///     pub enum StatsBy {
///         /// One row for each function.
///         Function = "function",
///         /// One row for each group of functions.
///         Group = "group",
///     }
/// }
/// ```
macro_rules! choice {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident {
            $(#[doc = $first_doc:literal])* $first:ident = $first_value:literal,
            $($(#[doc = $other_doc:literal])* $other:ident = $other_value:literal,)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        pub enum $name {
            $(#[doc = $first_doc])*
            #[default]
            #[serde(rename = $first_value)]
            $first,
            $(
                $(#[doc = $other_doc])*
                #[serde(rename = $other_value)]
                $other,
            )*
        }

        impl $crate::Choice for $name {
            const ALL: &'static [Self] = &[Self::$first, $(Self::$other),*];

            fn value(self) -> $crate::ChoiceValue {
                match self {
                    Self::$first => $crate::ChoiceValue {
                        name: $first_value,
                        doc: concat!($($first_doc),*),
                    },
                    $(Self::$other => $crate::ChoiceValue {
                        name: $other_value,
                        doc: concat!($($other_doc),*),
                    },)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::Choice::value(*self).name)
            }
        }
    };
}

/// Defines a table: its columns with type, unit, display name and meaning.
///
/// A unit is `["ns"]` for a fixed symbol, `[of unit]` for the symbol in the column `unit` of the
/// same row, or `[metric]` for that of the metric which the answer is about, or
/// `[metric squared]` for its square, or `[core metric]` for it times cores. A display name behind
/// `=>` replaces the one that is derived from the name of the column.
///
/// With `pub struct Row => Table`, a struct for one row and a struct of columns are defined, and
/// rows can be collected; with `pub columns Table`, only the struct of columns, whose fields may be
/// any [`Values`](crate::Values) or a [`Family`](crate::Family).
macro_rules! table {
    (
        $(#[doc = $doc:literal])*
        pub struct $row:ident => $table:ident {
            $(
                $(#[doc = $column_doc:literal])*
                $column:ident : $cell:ty $([$($unit:tt)*])? $(=> $head:literal)?,
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $row {
            $($(#[doc = $column_doc])* pub $column: $cell,)*
        }

        impl FromIterator<$row> for $table {
            fn from_iter<I: IntoIterator<Item = $row>>(rows: I) -> Self {
                let mut table = Self::default();
                table.extend(rows);
                table
            }
        }

        impl Extend<$row> for $table {
            fn extend<I: IntoIterator<Item = $row>>(&mut self, rows: I) {
                for row in rows {
                    $(self.$column.push(row.$column);)*
                }
            }
        }

        table! {
            $(#[doc = $doc])*
            pub columns $table {
                $(
                    $(#[doc = $column_doc])*
                    $column: Vec<$cell> $([$($unit)*])? $(=> $head)?,
                )*
            }
        }
    };
    (
        $(#[doc = $doc:literal])*
        pub columns $table:ident {
            $(
                $(#[doc = $column_doc:literal])*
                $column:ident : $values:ty $([$($unit:tt)*])? $(=> $head:literal)?,
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Default)]
        pub struct $table {
            $($(#[doc = $column_doc])* pub $column: $values,)*
        }

        impl $crate::TypedTable for $table {
            const SCHEMA: $crate::TableSchema = $crate::TableSchema {
                doc: concat!($($doc),*),
                columns: &[$($crate::ColumnSchema {
                    name: $crate::bare(stringify!($column)),
                    values: <$values as $crate::ColumnValues>::TYPE,
                    unit: table!(@unit $($($unit)*)?),
                    is_nullable: <$values as $crate::ColumnValues>::IS_NULLABLE,
                    is_family: <$values as $crate::ColumnValues>::IS_FAMILY,
                    is_optional: <$values as $crate::ColumnValues>::IS_OPTIONAL,
                    head: concat!($($head)?),
                    doc: concat!($($column_doc),*),
                }),*],
            };

            fn into_table_in(self, unit: &str) -> $crate::Table {
                let mut columns = Vec::with_capacity(Self::SCHEMA.columns.len());
                let mut schemas = Self::SCHEMA.columns.iter();
                $(if let Some(schema) = schemas.next() {
                    $crate::ColumnValues::add_to(self.$column, schema, unit, &mut columns);
                })*
                $crate::Table::new(columns)
            }
        }
    };
    (@unit) => { $crate::UnitOf::Fixed("") };
    (@unit $unit:literal) => { $crate::UnitOf::Fixed($unit) };
    (@unit of $column:ident) => { $crate::UnitOf::Column(stringify!($column)) };
    (@unit metric) => { $crate::UnitOf::Metric };
    (@unit metric squared) => { $crate::UnitOf::MetricSquared };
    (@unit core metric) => { $crate::UnitOf::CoreMetric };
}

/// Defines a table that has one of several forms, depending on what is asked about.
///
/// Each form says when it is that.
macro_rules! one_of {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident {
            $($when:literal => $form:ident($table:ty),)*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone)]
        #[allow(clippy::large_enum_variant, reason = "an answer has one, and it holds columns")]
        pub enum $name {
            $(#[doc = $when] $form($table),)*
        }

        impl $crate::AnswerTable for $name {
            const FORMS: &'static [$crate::TableForm] = &[$($crate::TableForm {
                when: $when,
                schema: <$table as $crate::TypedTable>::SCHEMA,
            }),*];

            fn into_answer_table(self, unit: &str) -> $crate::Table {
                match self {
                    $(Self::$form(table) => $crate::TypedTable::into_table_in(table, unit),)*
                }
            }
        }
    };
}

/// Defines fields that several requests share: each lists them with `..name: Type`, and they stand
/// next to its own. As the type of one field they are an object of its own.
///
/// A field has the default of its type, or the one behind `=`.
macro_rules! fields {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $(
                $(#[doc = $field_doc:literal])*
                $field:ident : $kind:ty $(= $default:expr)?,
            )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        #[serde(default)]
        pub struct $name {
            $(
                $(#[doc = $field_doc])*
                #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
                pub $field: $kind,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: question!(@default $($default)?),)* }
            }
        }

        impl $crate::FieldGroup for $name {
            const FIELDS: &'static [$crate::FieldSchema] = &[
                $(question!(@schema $($field_doc)*, $field, $kind),)*
            ];
        }
    };
}

/// Defines a question: its name, what it is asked of, its request, its reply and its tables.
///
/// A field has the default of its type, or the one behind `=`; `[required]` means that a request
/// without it is refused, and a range in brackets bounds a number. `..name: Type` stands for the
/// fields of `Type`, which `fields!` defines.
macro_rules! question {
    (
        $(#[doc = $doc:literal])*
        $name:literal of $subject:ty,
        request $(#[doc = $request_doc:literal])* $request:ident {
            $(..$group:ident : $group_kind:ty,)*
            $(
                $(#[doc = $field_doc:literal])*
                $field:ident : $kind:ty $([$($rule:tt)*])? $(= $default:expr)?,
            )*
        }
        reply $reply:ty,
        $(tables $tables:ident {
            $($(#[doc = $table_doc:literal])* $table:ident : $columns:ty,)*
        })?
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
        #[serde(default)]
        pub struct $request {
            $(
                $(#[doc = $field_doc])*
                #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
                pub $field: $kind,
            )*
            $(
                #[doc = concat!("See [`", stringify!($group_kind), "`].")]
                #[serde(flatten)]
                pub $group: $group_kind,
            )*
        }

        impl Default for $request {
            fn default() -> Self {
                Self {
                    $($field: question!(@default $($default)?),)*
                    $($group: Default::default(),)*
                }
            }
        }

        $(
            /// The tables of the answer.
            #[derive(Debug, Clone)]
            pub struct $tables {
                $($(#[doc = $table_doc])* pub $table: $columns,)*
            }

            impl $crate::TableSet for $tables {
                const FORMS: &'static [(&'static str, &'static [$crate::TableForm])] = &[$(
                    (stringify!($table), <$columns as $crate::AnswerTable>::FORMS),
                )*];

                fn into_named(self, unit: &str) -> Vec<(&'static str, $crate::Table)> {
                    vec![$((
                        stringify!($table),
                        $crate::AnswerTable::into_answer_table(self.$table, unit),
                    ),)*]
                }
            }
        )?

        impl $crate::Question for $request {
            type Subject = $subject;
            type Reply = $reply;
            type Tables = question!(@tables $($tables)?);

            const SCHEMA: $crate::QuestionSchema = $crate::QuestionSchema {
                name: $name,
                request: stringify!($request),
                doc: concat!($($doc),*),
                subject: <$subject as $crate::Subject>::FIELDS,
                fields: &[$(
                    question!(@schema $($field_doc)*, $field, $kind $(, $($rule)*)?),
                )*],
                groups: &[$(<$group_kind as $crate::FieldGroup>::FIELDS),*],
                defaults: || serde_json::to_value(Self::default()).unwrap_or_default(),
                tables: <Self::Tables as $crate::TableSet>::FORMS,
            };

            fn check(&self) -> Result<(), $crate::RequestError> {
                $(question!(@check $name, self, $field $(, $($rule)*)?);)*
                Ok(())
            }
        }
    };
    (@schema $($doc:literal)*, $field:ident, $kind:ty $(, $($rule:tt)*)?) => {
        $crate::FieldSchema {
            name: stringify!($field),
            doc: concat!($($doc),*),
            is_required: question!(@required $($($rule)*)?),
            #[cfg(feature = "typescript")]
            typescript: |pages| pages.named::<$kind>(),
            rust: stringify!($kind),
        }
    };
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
    (@tables) => { () };
    (@tables $tables:ident) => { $tables };
    (@required) => { false };
    (@required required) => { true };
    (@required $($bounds:tt)*) => { false };
    (@check $name:literal, $own:ident, $field:ident) => {};
    (@check $name:literal, $own:ident, $field:ident, required) => {};
    (@check $name:literal, $own:ident, $field:ident, $($bounds:tt)*) => {
        if !($($bounds)*).contains(&$own.$field) {
            return Err($crate::RequestError::OutOfBounds {
                question: $name,
                field: stringify!($field),
                value: $own.$field.to_string(),
                bounds: stringify!($($bounds)*),
            });
        }
    };
}

pub(crate) use {choice, fields, one_of, question, table};
