//! The reference of questions, as a document.

use std::fmt::Write as _;

#[allow(clippy::wildcard_imports, reason = "the list of questions names their requests")]
use crate::questions::*;
use crate::{Question, QuestionSchema, TableForm, UnitOf, for_each_question};

/// The page `docs/questions.md`: every question with its fields and tables.
#[must_use]
pub fn reference() -> String {
    let mut out = String::from(
        "# Questions\n\n\
         <!-- Generated from crates/protocol; `cargo xtask bless` writes it. -->\n\n\
         What can be asked of the engine, by the page, over HTTP and by programs.\n\
         A request is JSON: `{\"ask\": \"NAME\", \"with\": {...}}`.\n\
         A field that is omitted has its default.\n\
         An answer is a JSON reply and tables in Arrow IPC, whose fields carry the unit, the display \
         name (`head`) and the meaning (`doc`) as metadata.\n",
    );
    for schema in all() {
        question(&mut out, &schema);
    }
    out
}

macro_rules! schemas {
    ($($request:ident,)*) => {
        /// The definitions of all questions, in the order of the list.
        fn all() -> Vec<QuestionSchema> {
            vec![$(<$request as Question>::SCHEMA),*]
        }
    };
}

for_each_question!(schemas);

fn question(out: &mut String, schema: &QuestionSchema) {
    let _ = writeln!(out, "\n## `{}`\n\n{}\n", schema.name, schema.doc.trim());
    out.push_str("| field | type | default | meaning |\n|---|---|---|---|\n");
    for (name, doc) in schema.subject {
        let _ = writeln!(out, "| `{name}` | text | required | {} |", doc.trim());
    }
    let defaults = (schema.defaults)();
    for field in schema.all_fields() {
        let default = match defaults.get(field.name) {
            _ if field.is_required => "required".to_owned(),
            None | Some(serde_json::Value::Null) => "null".to_owned(),
            Some(value) => format!("`{value}`"),
        };
        let kind = field.rust.replace(' ', "");
        let _ = writeln!(out, "| `{}` | `{kind}` | {default} | {} |", field.name, field.doc.trim());
    }
    for (name, forms) in schema.tables {
        for form in *forms {
            table(out, name, form);
        }
    }
}

fn table(out: &mut String, name: &str, form: &TableForm) {
    let schema = form.schema;
    let when = if form.when.is_empty() { String::new() } else { format!(" ({})", form.when) };
    let _ = writeln!(out, "\nTable `{name}`{when}: {}", schema.doc.trim());
    if schema.columns.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str("| column | type | unit | meaning |\n|---|---|---|---|\n");
    for column in schema.columns {
        let unit = match column.unit {
            UnitOf::Fixed(symbol) => symbol.to_owned(),
            UnitOf::Column(of) => format!("that in `{of}`"),
            UnitOf::Metric => "that of the metric".to_owned(),
            UnitOf::CoreMetric => "cores times that of the metric".to_owned(),
            UnitOf::MetricSquared => "the square of that of the metric".to_owned(),
        };
        let optional = match (column.is_optional, column.is_nullable) {
            (true, _) => ", in some answers",
            (false, true) => ", may be null",
            (false, false) => "",
        };
        let (name, kind) = if column.is_family {
            (format!("one of each of {}", column.name), "columns".to_owned())
        } else {
            (format!("`{}`", column.name), format!("{}{optional}", column.values.name()))
        };
        let _ = writeln!(out, "| {name} | {kind} | {unit} | {} |", column.doc.trim());
    }
}
