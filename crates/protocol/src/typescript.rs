//! The questions as TypeScript: one module with every type, and for each question its request,
//! reply and the columns of its tables.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use ts_rs::{Config, TS, TypeVisitor};

#[allow(clippy::wildcard_imports, reason = "the list of questions names their requests")]
use crate::questions::*;
use crate::{ErrorReply, PROTOCOL_VERSION, Question, QuestionSchema, for_each_question};

/// The whole module, as it is kept in the repository.
#[must_use]
pub fn typescript() -> String {
    // Counts of contexts and bytes stay far below 2^53.
    let pages = Pages::written("number");
    let mut out = String::from(
        "// Generated from crates/protocol by `cargo xtask web`. Do not edit.\n\n\
         /** The version of the protocol that these types describe. */\n",
    );
    let _ = writeln!(out, "export const PROTOCOL_VERSION = {PROTOCOL_VERSION};\n");
    for text in pages.types.values() {
        let _ = writeln!(out, "{text}\n");
    }
    let _ = writeln!(
        out,
        "/** Every question, with what it takes and what it is answered with. */\n\
         export interface Protocol {{\n{}}}\n\n\
         /** A request as it travels. */\n\
         export interface Request {{\n  ask: keyof Protocol;\n  \
         with: Protocol[keyof Protocol][\"request\"];\n}}",
        pages.requests
    );
    out
}

/// What is written down so far.
pub struct Pages {
    config: Config,
    seen: Vec<TypeId>,
    /// Declarations by name.
    pub(crate) types: BTreeMap<String, String>,
    requests: String,
    /// The same requests, for languages that are written in another way.
    pub(crate) asked: Vec<Asked>,
}

/// A question, with the names of its types in TypeScript.
pub(crate) struct Asked {
    /// Its name in a request.
    pub(crate) name: String,
    /// What is asked.
    pub(crate) doc: String,
    /// Its definition.
    pub(crate) schema: QuestionSchema,
    /// The names of the types of its fields.
    pub(crate) kinds: Vec<String>,
    /// Name of the type of its reply.
    pub(crate) reply: String,
}

impl Pages {
    /// All types and requests, with `large_int` for integers of 64 bits.
    pub(crate) fn written(large_int: &str) -> Self {
        let mut pages = Self {
            config: Config::new().with_large_int(large_int),
            seen: Vec::new(),
            types: BTreeMap::new(),
            requests: String::new(),
            asked: Vec::new(),
        };
        pages.add::<ErrorReply>();
        pages.questions();
        pages
    }

    /// Adds a question and everything that it mentions.
    fn question<Q: Question>(&mut self)
    where
        Q::Reply: TS + 'static,
    {
        self.add::<Q::Reply>();
        let schema = Q::SCHEMA;
        let mut text =
            format!("/** {} */\nexport type {} = {{\n", schema.doc.trim(), schema.request);
        let mut kinds = Vec::new();
        for field in schema.all_fields() {
            let kind = (field.typescript)(self);
            kinds.push(kind.clone());
            let optional = if field.is_required { "" } else { "?" };
            let _ = writeln!(text, "  /** {} */", field.doc.trim());
            let _ = writeln!(text, "  {}{optional}: {kind};", field.name);
        }
        text.push_str("};");
        self.types.insert(schema.request.to_owned(), text);
        let subject: Vec<String> =
            schema.subject.iter().map(|(name, _)| format!("{name}: string")).collect();
        let subject = match subject.join("; ") {
            none if none.is_empty() => none,
            fields => format!(" & {{ {fields} }}"),
        };
        let mut tables = String::new();
        for (name, table) in schema.tables {
            let columns = table.iter().flat_map(|form| form.schema.columns);
            let mut names: Vec<String> = Vec::new();
            for column in columns.filter(|column| !column.is_family) {
                let name = format!("\"{}\"", column.name);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            // Of a table whose columns only the request says, they may be called anything.
            let names = if names.is_empty() { "string".to_owned() } else { names.join(" | ") };
            let _ = write!(tables, " {name}: {names};");
        }
        let _ = writeln!(
            self.requests,
            "  /** {} */\n  {}: {{ request: {}{subject}; reply: {}; tables: {{{tables} }} }};",
            schema.doc.trim(),
            schema.name,
            schema.request,
            Q::Reply::name(&self.config),
        );
        self.asked.push(Asked {
            name: schema.name.to_owned(),
            doc: schema.doc.trim().to_owned(),
            schema,
            kinds,
            reply: Q::Reply::name(&self.config),
        });
    }

    /// The name of a type in TypeScript; its declaration is added.
    pub fn named<T: TS + 'static + ?Sized>(&mut self) -> String {
        self.add::<T>();
        T::name(&self.config)
    }

    /// Adds a type and everything that it mentions.
    pub fn add<T: TS + 'static + ?Sized>(&mut self) {
        if self.seen.contains(&TypeId::of::<T>()) {
            return;
        }
        self.seen.push(TypeId::of::<T>());
        // Numbers, texts and lists have no declaration of their own.
        if T::output_path().is_some() {
            let name = T::name(&self.config);
            let docs = T::docs().unwrap_or_default();
            let text = format!("{docs}export {}", T::decl(&self.config));
            let text = laid_out(&text);
            self.types.entry(name).or_insert(text);
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

/// One call for each question.
macro_rules! questions {
    ($($request:ident,)*) => {
        impl Pages {
            fn questions(&mut self) {
                $(self.question::<$request>();)*
            }
        }
    };
}

for_each_question!(questions);

impl TypeVisitor for Pages {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        self.add::<T>();
    }
}

/// A declaration with one field a line and short comments.
fn laid_out(text: &str) -> String {
    let mut out = String::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut is_inside = false;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let indent = if is_inside { "  " } else { "" };
        if line.starts_with("/**") || line.starts_with('*') {
            let words = line.trim_start_matches("/**").trim_end_matches("*/");
            let words = words.trim().trim_start_matches('*').trim();
            comment.extend(Some(words).filter(|words| !words.is_empty()));
            if !line.ends_with("*/") {
                continue;
            }
            if let [one] = comment.as_slice() {
                let _ = writeln!(out, "{indent}/** {one} */");
            } else {
                let body = comment.join(&format!("\n{indent} * "));
                let _ = writeln!(out, "{indent}/**\n{indent} * {body}\n{indent} */");
            }
            comment.clear();
            continue;
        }
        if is_inside {
            let (field, end) = match line.rsplit_once('}') {
                Some((field, end)) if end.ends_with(';') => (field.trim(), Some(end)),
                _ => (line, None),
            };
            let _ = writeln!(out, "{indent}{};", field.trim_end_matches(','));
            if let Some(end) = end {
                let _ = writeln!(out, "}}{end}");
            }
        } else {
            let _ = writeln!(out, "{line}");
            is_inside = line.ends_with('{');
        }
    }
    out.trim_end().to_owned()
}
