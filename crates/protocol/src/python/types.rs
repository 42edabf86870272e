//! The types of what methods take and give.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::declared::{Declared, Field, mentioned, python_type};
use super::methods::{Method, fields_of};
use super::{HEAD, KEYWORDS, Known, python_name, text};

/// Names that every answer has already.
const TAKEN: [&str; 9] = [
    "reply",
    "tables",
    "table",
    "to_pandas",
    "to_polars",
    "to_arrow",
    "to_duckdb",
    "to_cudf",
    "notes_",
];

/// The module `types`.
pub(super) fn module(methods: &[Method], known: &Known) -> String {
    let taken = methods.iter().flat_map(|method| &method.parameters);
    let taken = reachable(taken.flat_map(|parameter| mentioned(&parameter.kind)), known);
    let given = methods.iter().map(|method| method.reply.as_str());
    let given = reachable(given, known);
    let mut out = format!(
        "{HEAD}\"\"\"What questions take and what answers have, for type checkers and readers.\n\n\
         Nothing here is needed to run a program: an answer has these attributes, and a parameter of\n\
         several values is a dictionary with these keys.\n\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from typing import Literal, TypedDict\n\n\
         from ._answers import Answer, Record\n\
         from ._table import Table\n"
    );
    for name in taken.union(&given) {
        if let Some((doc, Declared::Other(kind))) = known.get(name)
            && is_choice(name, known)
        {
            let _ = writeln!(out, "\n{name} = {}", literal(kind));
            text::documentation(&mut out, "", doc);
        }
    }
    for name in taken.iter().filter(|name| is_object(name, known)) {
        taken_object(&mut out, name, known);
    }
    for name in given.iter().filter(|name| !is_choice(name, known) && !taken.contains(*name)) {
        let (doc, fields) = (doc_of(name, known), fields_of(name, known));
        let _ = writeln!(out, "\n\nclass {name}(Record):");
        text::documentation(&mut out, "    ", doc);
        out.push_str("\n    __slots__ = ()\n");
        fields.iter().for_each(|field| attribute(&mut out, field));
    }
    methods.iter().for_each(|method| answer(&mut out, method, known));
    out
}

/// A choice of texts; long ones on several lines.
fn literal(kind: &str) -> String {
    let line = python_type(kind, "float");
    if line.len() < 80 {
        return line;
    }
    let inner = line.trim_start_matches("Literal[").trim_end_matches(']').replace(", ", ",\n    ");
    format!("Literal[\n    {inner},\n]")
}

fn is_object(name: &str, known: &Known) -> bool {
    matches!(known.get(name), Some((_, Declared::Object { .. })))
}

/// Whether it is one of several texts.
fn is_choice(name: &str, known: &Known) -> bool {
    matches!(known.get(name), Some((_, Declared::Other(kind))) if kind.starts_with('"'))
}

fn doc_of<'a>(name: &str, known: &'a Known) -> &'a str {
    known.get(name).map_or("", |(doc, _)| doc.as_str())
}

/// The declared types that some mention, and what these mention.
fn reachable<'a>(names: impl Iterator<Item = &'a str>, known: &Known) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = names.map(str::to_owned).collect();
    while let Some(name) = open.pop() {
        if known.contains_key(&name) && found.insert(name.clone()) {
            let fields = fields_of(&name, known);
            open.extend(fields.iter().flat_map(|field| mentioned(&field.kind)).map(str::to_owned));
        }
    }
    found
}

/// A value of several values that a question takes.
fn taken_object(out: &mut String, name: &str, known: &Known) {
    let fields = fields_of(name, known);
    let total = if fields.iter().any(|field| field.is_optional) { ", total=False" } else { "" };
    if fields.iter().any(|field| KEYWORDS.contains(&field.name.as_str())) {
        let _ = writeln!(out, "\n{name} = TypedDict(\n    \"{name}\",\n    {{");
        for field in &fields {
            let kind = python_type(&field.kind, "float");
            let _ = writeln!(out, "        \"{}\": \"{}\",", field.name, kind.replace('"', "'"));
        }
        let _ = writeln!(out, "    }}{total},\n)");
        text::documentation(out, "", doc_of(name, known));
        return;
    }
    let _ = writeln!(out, "\n\nclass {name}(TypedDict{total}):");
    text::documentation(out, "    ", doc_of(name, known));
    out.push('\n');
    for field in &fields {
        let _ = writeln!(out, "    {}: {}", field.name, python_type(&field.kind, "float"));
        text::documentation(out, "    ", &field.doc);
    }
}

fn attribute(out: &mut String, field: &Field) {
    let _ =
        writeln!(out, "\n    {}: {}", python_name(&field.name), python_type(&field.kind, "float"));
    text::documentation(out, "    ", &field.doc);
}

fn answer(out: &mut String, method: &Method, known: &Known) {
    let _ = writeln!(out, "\n\nclass {}(Answer):", method.answer());
    let _ = writeln!(out, "    \"\"\"The answer to `{}`.\"\"\"\n\n    __slots__ = ()", method.name);
    let is_table = |name: &str| method.tables.iter().any(|(table, _)| *table == name);
    for field in fields_of(&method.reply, known) {
        if !is_table(&field.name) && !TAKEN.contains(&field.name.as_str()) {
            attribute(out, &field);
        }
    }
    for (name, forms) in method.tables {
        let _ = writeln!(out, "\n    {}: Table", python_name(name));
        let docs: Vec<&str> = forms.iter().map(|form| form.schema.doc.trim()).collect();
        let doc = docs.first().copied().unwrap_or_default();
        text::documentation(
            out,
            "    ",
            if docs.len() == 1 { doc } else { "Of one of several forms." },
        );
    }
}
