//! The methods: one for each question.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use super::declared::{Declared, Field, mentioned, python_type};
use super::{HEAD, Known, camel_case, python_name, text};
use crate::TableForm;
use crate::typescript::Asked;

/// What a question is asked of, as its documents have it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Experiment,
    Ensemble,
    Either,
}

/// A question as a method.
pub(super) struct Method {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) of: Of,
    /// Whether it is asked of two: the one that has the method, and a newer one.
    pub(super) is_pair: bool,
    pub(super) parameters: Vec<Parameter>,
    /// Name of the type of the reply in TypeScript.
    pub(super) reply: String,
    pub(super) tables: &'static [(&'static str, &'static [TableForm])],
}

impl Method {
    /// The name of the class of its answer.
    pub(super) fn answer(&self) -> String {
        format!("{}Answer", camel_case(&self.name))
    }
}

/// A parameter of a method.
pub(super) struct Parameter {
    name: String,
    /// The field of the request that it is in, where it is not one itself.
    outer: Option<String>,
    field: String,
    /// Its type in TypeScript.
    pub(super) kind: String,
    /// What numbers are in it.
    number: &'static str,
    /// How its default is written; none where it must be given.
    default: Option<String>,
    /// Whether `None` is something else than the default.
    is_none_meant: bool,
    doc: String,
}

/// Questions that methods are made of: those about something that is open. Opening and closing are
/// written by hand.
pub(super) fn questions(asked: &[Asked], known: &Known) -> Vec<Method> {
    asked
        .iter()
        .filter(|asked| asked.name != "close")
        .filter_map(|one| method(one, known))
        .collect()
}

fn method(asked: &Asked, known: &Known) -> Option<Method> {
    let schema = &asked.schema;
    let defaults = (schema.defaults)();
    let parameters: Vec<Parameter> = schema
        .all_fields()
        .zip(&asked.kinds)
        .flat_map(|(field, kind)| {
            let number = number(field.rust);
            let default = defaults.get(field.name).filter(|_| !field.is_required);
            let default = (!field.is_required).then(|| default.unwrap_or(&Value::Null));
            parameters(field.name, kind, number, default, field.doc, known)
        })
        .collect();
    let subject = schema.subject;
    let names: Vec<&str> = subject.iter().map(|(name, _)| *name).collect();
    let is_pair = match names.as_slice() {
        ["item"] => false,
        ["old", "new"] => true,
        _ => return None,
    };
    let doc = subject.first().map(|(_, doc)| doc.to_lowercase()).unwrap_or_default();
    let of = match (doc.contains("experiment"), doc.contains("ensemble")) {
        (true, false) => Of::Experiment,
        (false, true) => Of::Ensemble,
        _ => Of::Either,
    };
    let (name, doc) = (asked.name.clone(), asked.doc.clone());
    let tables = schema.tables;
    let mut parameters = distinct(parameters);
    // Those that must be given come first.
    parameters.sort_by_key(|parameter| parameter.default.is_some());
    Some(Method { name, doc, of, is_pair, parameters, reply: asked.reply.clone(), tables })
}

/// Names of parameters are distinct: a field of an object goes by its own name only where no other
/// parameter has it.
fn distinct(mut parameters: Vec<Parameter>) -> Vec<Parameter> {
    let mut seen = BTreeSet::new();
    for parameter in &mut parameters {
        if !seen.insert(parameter.name.clone())
            && let Some(outer) = &parameter.outer
        {
            parameter.name = format!("{outer}_{}", parameter.field);
            seen.insert(parameter.name.clone());
        }
    }
    parameters
}

/// What numbers of a field are, by its type in Rust.
fn number(rust: &str) -> &'static str {
    if ["f64", "f32"].iter().any(|float| rust.contains(float)) { "float" } else { "int" }
}

/// All fields of an object, those of its parts included.
pub(super) fn fields_of(name: &str, known: &Known) -> Vec<Field> {
    match known.get(name) {
        Some((_, Declared::Object { fields, parts })) => {
            let parts = parts.iter().flat_map(|part| fields_of(part, known));
            fields.iter().cloned().chain(parts).collect()
        }
        _ => Vec::new(),
    }
}

/// The parameters of a field: itself, or the fields of an object that is a choice of several things.
fn parameters(
    name: &str,
    kind: &str,
    number: &'static str,
    default: Option<&Value>,
    doc: &str,
    known: &Known,
) -> Vec<Parameter> {
    let is_object = matches!(known.get(kind), Some((_, Declared::Object { .. })));
    let is_choice = ["Choice", "View"].iter().any(|end| kind.ends_with(end));
    if !(is_object && is_choice) {
        let is_none_meant = kind.ends_with("| null") && default.is_some_and(|one| !one.is_null());
        let default = default.map(written);
        let (doc, kind) = (doc.trim().to_owned(), kind.to_owned());
        let (field, name) = (name.to_owned(), python_name(name));
        return vec![Parameter {
            name,
            outer: None,
            field,
            kind,
            number,
            default,
            is_none_meant,
            doc,
        }];
    }
    let inner = fields_of(kind, known).into_iter().map(|field| {
        let default = default.and_then(|default| default.get(&field.name)).unwrap_or(&Value::Null);
        Parameter {
            name: python_name(&field.name),
            outer: Some(name.to_owned()),
            kind: field.kind,
            number: "float",
            default: Some(written(default)),
            is_none_meant: false,
            doc: field.doc,
            field: field.name,
        }
    });
    inner.collect()
}

/// A default as Python has it.
fn written(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(values) if values.is_empty() => "()".to_owned(),
        // An object is left to its own defaults.
        Value::Null | Value::Array(_) | Value::Object(_) => "None".to_owned(),
    }
}

impl Parameter {
    /// Its type: what may be given is wider than what comes back.
    fn annotation(&self) -> String {
        let kind = python_type(&self.kind, self.number);
        let kind = kind.replace("list[", "Sequence[");
        let is_none = self.default.as_deref() == Some("None") && !kind.ends_with("None");
        if is_none { format!("{kind} | None") } else { kind }
    }
}

/// The module with all methods.
pub(super) fn module(methods: &[Method]) -> String {
    let mut names: BTreeSet<String> = methods.iter().map(Method::answer).collect();
    for parameter in methods.iter().flat_map(|method| &method.parameters) {
        names.extend(mentioned(&parameter.kind).map(str::to_owned));
    }
    let mut out = format!(
        "{HEAD}\"\"\"Every question that can be asked, as a method.\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from typing import TYPE_CHECKING, Any\n\n\
         if TYPE_CHECKING:\n    \
             from collections.abc import Sequence\n\n    \
             from ._open import Ensemble, Experiment\n    \
             from .types import (\n"
    );
    for name in names {
        let _ = writeln!(out, "        {name},");
    }
    out.push_str(
        "    )\n\n\n\
         class ItemQuestions:\n    \
             \"\"\"Questions about anything that is open.\"\"\"\n\n    \
             __slots__ = ()\n\n    \
             def _ask(self, _name: str, _fields: dict[str, Any], _keep: tuple[str, ...] = ()) -> Any:\n        \
                 raise NotImplementedError\n",
    );
    let of = |of| methods.iter().filter(move |method| method.of == of);
    of(Of::Either).for_each(|method| write_method(&mut out, method));
    out.push_str(
        "\n\nclass ExperimentQuestions(ItemQuestions):\n    \
             \"\"\"Questions about one experiment.\"\"\"\n\n    __slots__ = ()\n",
    );
    of(Of::Experiment).for_each(|method| write_method(&mut out, method));
    out.push_str(
        "\n\nclass EnsembleQuestions(ItemQuestions):\n    \
             \"\"\"Questions about an ensemble.\"\"\"\n\n    __slots__ = ()\n",
    );
    of(Of::Ensemble).for_each(|method| write_method(&mut out, method));
    out
}

fn write_method(out: &mut String, method: &Method) {
    let (name, answer) = (&method.name, method.answer());
    let class = if method.of == Of::Ensemble { "Ensemble" } else { "Experiment" };
    let _ = writeln!(out, "\n    def {name}(\n        self,");
    if method.is_pair {
        let _ = writeln!(out, "        new: {class},");
    }
    let has_default = |parameter: &&Parameter| parameter.default.is_some();
    for parameter in method.parameters.iter().filter(|parameter| parameter.default.is_none()) {
        let _ = writeln!(out, "        {}: {},", parameter.name, parameter.annotation());
    }
    if method.parameters.iter().any(|parameter| has_default(&parameter)) {
        out.push_str("        *,\n");
    }
    for parameter in method.parameters.iter().filter(has_default) {
        let default = parameter.default.as_deref().unwrap_or("None");
        let _ =
            writeln!(out, "        {}: {} = {default},", parameter.name, parameter.annotation());
    }
    let _ = writeln!(out, "    ) -> {answer}:");
    docstring(out, method);
    body(out, method);
}

fn docstring(out: &mut String, method: &Method) {
    let indent = "        ";
    let mut doc = String::new();
    text::paragraph(&mut doc, indent, &method.doc);
    let _ = write!(out, "{indent}\"\"\"{}", doc.strip_prefix(indent).unwrap_or(&doc));
    if method.is_pair || !method.parameters.is_empty() {
        let _ = writeln!(out, "\n{indent}Parameters\n{indent}----------");
    }
    let inner = format!("{indent}    ");
    if method.is_pair {
        let _ = writeln!(out, "{indent}new");
        text::paragraph(out, &inner, "The new version; the one that is asked is the old one.");
    }
    for parameter in &method.parameters {
        let default = match parameter.default.as_deref() {
            None => String::new(),
            Some("None") => ", optional".to_owned(),
            Some(default) => format!(", default {default}"),
        };
        let annotation = parameter.annotation();
        let kind = annotation.trim_end_matches(" | None");
        let _ = writeln!(out, "{indent}{} : {kind}{default}", parameter.name);
        text::paragraph(out, &inner, &parameter.doc);
    }
    let _ = writeln!(out, "\n{indent}Returns\n{indent}-------\n{indent}{}", method.answer());
    let what = if method.tables.is_empty() { "The reply." } else { "The reply and the tables:" };
    let _ = writeln!(out, "{inner}{what}");
    for (name, forms) in method.tables {
        out.push('\n');
        text::table(out, indent, name, forms);
    }
    let given = method.parameters.iter().filter(|parameter| parameter.default.is_none());
    let mut given: Vec<String> = given.map(|parameter| parameter.name.clone()).collect();
    if method.is_pair {
        given.insert(0, "new".to_owned());
    }
    let on = if method.of == Of::Ensemble { "ensemble" } else { "experiment" };
    let _ = writeln!(out, "\n{indent}Examples\n{indent}--------");
    let _ = writeln!(out, "{indent}>>> answer = {on}.{}({})", method.name, given.join(", "));
    if let Some((table, _)) = method.tables.first() {
        let _ = writeln!(out, "{indent}>>> answer.{table}.to_pandas()");
    }
    let _ = writeln!(out, "{indent}\"\"\"");
}

fn body(out: &mut String, method: &Method) {
    let indent = "        ";
    let mut fields: Vec<String> = Vec::new();
    let mut outers: Vec<&String> = Vec::new();
    if method.is_pair {
        fields.push("\"new\": new".to_owned());
    }
    let pair = |parameter: &Parameter| format!("\"{}\": {}", parameter.field, parameter.name);
    for parameter in &method.parameters {
        match &parameter.outer {
            None => fields.push(pair(parameter)),
            Some(outer) if outers.contains(&outer) => {}
            Some(outer) => {
                outers.push(outer);
                let own = method.parameters.iter().filter(|one| one.outer.as_ref() == Some(outer));
                let own: Vec<String> = own.map(pair).collect();
                let separator = format!(",\n{indent}            ");
                fields.push(format!(
                    "\"{outer}\": {{\n{indent}            {},\n{indent}        }}",
                    own.join(&separator)
                ));
            }
        }
    }
    let keep: Vec<String> = method
        .parameters
        .iter()
        .filter(|parameter| parameter.is_none_meant)
        .map(|parameter| format!("\"{}\",", parameter.field))
        .collect();
    let keep = if keep.is_empty() { String::new() } else { format!(", ({})", keep.join(" ")) };
    if fields.is_empty() {
        let _ = writeln!(out, "{indent}return self._ask(\"{}\", {{}}{keep})", method.name);
        return;
    }
    let _ = writeln!(
        out,
        "{indent}return self._ask(\n{indent}    \"{}\",\n{indent}    {{",
        method.name
    );
    for field in fields {
        let _ = writeln!(out, "{indent}        {field},");
    }
    let _ = writeln!(out, "{indent}    }}{keep},\n{indent})");
}
