//! Text in generated Python: paragraphs of limited width, and documentation.

use std::fmt::Write as _;

use crate::{TableForm, UnitOf};

/// Columns of a line at most.
const WIDTH: usize = 96;

/// Appends a paragraph whose lines begin with `indent`.
pub(super) fn paragraph(out: &mut String, indent: &str, text: &str) {
    let mut line = indent.to_owned();
    for word in text.replace('\\', "\\\\").split_whitespace() {
        let is_empty = line.trim().is_empty();
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(out, "{line}");
            line = format!("{indent}{word}");
        } else if is_empty {
            line = format!("{indent}{word}");
        } else {
            let _ = write!(line, " {word}");
        }
    }
    let _ = writeln!(out, "{line}");
}

/// Appends what a class or an attribute means, as a string of its own.
pub(super) fn documentation(out: &mut String, indent: &str, text: &str) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let escaped = text.replace('\\', "\\\\");
    // A quotation mark at the end would end the string.
    let end = if escaped.ends_with('"') { " " } else { "" };
    let one_line = format!("{indent}\"\"\"{escaped}{end}\"\"\"");
    if one_line.chars().count() <= WIDTH {
        let _ = writeln!(out, "{one_line}");
        return;
    }
    let mut body = String::new();
    paragraph(&mut body, indent, text);
    let _ =
        writeln!(out, "{indent}\"\"\"{}", body.strip_prefix(indent).unwrap_or(&body).trim_end());
    let _ = writeln!(out, "{indent}\"\"\"");
}

/// Appends what a table has: its columns with type, unit and meaning.
pub(super) fn table(out: &mut String, indent: &str, name: &str, forms: &[TableForm]) {
    let _ = writeln!(out, "{indent}{name} : Table");
    let inner = format!("{indent}    ");
    let deeper = format!("{inner}    ");
    for form in forms {
        let when = if form.when.is_empty() { String::new() } else { format!("{}: ", form.when) };
        paragraph(out, &inner, &format!("{when}{}", form.schema.doc.trim()));
        for column in form.schema.columns {
            let unit = match column.unit {
                UnitOf::Fixed("") => String::new(),
                UnitOf::Fixed(symbol) => format!(" in {symbol}"),
                UnitOf::Column(of) => format!(" in the unit of `{of}`"),
                UnitOf::Metric => " in the unit of the metric".to_owned(),
                UnitOf::MetricSquared => " in the square of the unit of the metric".to_owned(),
                UnitOf::CoreMetric => " in cores times the unit of the metric".to_owned(),
            };
            let (name, kind) = match (column.is_family, column.is_optional, column.is_nullable) {
                (true, _, _) => (format!("{} (columns)", column.name), String::new()),
                (_, true, _) => (column.name.to_owned(), "in some answers".to_owned()),
                (_, _, true) => (column.name.to_owned(), "may be null".to_owned()),
                _ => (column.name.to_owned(), String::new()),
            };
            let kind = if column.is_family {
                String::new()
            } else {
                let more = if kind.is_empty() { kind } else { format!(", {kind}") };
                format!(" ({}{unit}{more})", column.values.name())
            };
            let _ = writeln!(out, "{inner}- ``{name}``{kind}:");
            paragraph(out, &deeper, column.doc.trim());
        }
    }
}
