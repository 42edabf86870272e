//! [`Question`]: a request, what it is asked of, its reply and its tables.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Table, TableForm};

/// A field of a request.
#[derive(Clone, Copy)]
pub struct FieldSchema {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// Whether a request without it is refused; otherwise it has a default.
    pub is_required: bool,
    /// The name of its type in TypeScript; the declaration is added to the pages.
    #[cfg(feature = "typescript")]
    pub typescript: fn(&mut crate::typescript::Pages) -> String,
    /// The name of its type in Rust.
    pub rust: &'static str,
}

/// A question, without its types: for documents, for the page, and for whatever else is derived.
pub struct QuestionSchema {
    /// Its name in a request.
    pub name: &'static str,
    /// Name of the type of its request.
    pub request: &'static str,
    /// What is asked.
    pub doc: &'static str,
    /// What it is asked of: the fields of a request next to its own.
    pub subject: &'static [(&'static str, &'static str)],
    /// The fields of its request that are its own.
    pub fields: &'static [FieldSchema],
    /// Those that other requests have as well.
    pub groups: &'static [&'static [FieldSchema]],
    /// The request without any field that has a default.
    pub defaults: fn() -> Value,
    /// The tables of its answer, by name.
    pub tables: &'static [(&'static str, &'static [TableForm])],
}

impl QuestionSchema {
    /// All fields of its request, but not what it is asked of.
    pub fn all_fields(&self) -> impl Iterator<Item = &'static FieldSchema> + use<> {
        self.fields.iter().chain(self.groups.iter().copied().flatten())
    }
}

/// Fields that several requests share; `fields!` defines them.
pub trait FieldGroup {
    /// The fields.
    const FIELDS: &'static [FieldSchema];
}

/// What a question is asked of: the fields of a request that name it.
pub trait Subject: Serialize + DeserializeOwned {
    /// The names of these fields and what they mean.
    const FIELDS: &'static [(&'static str, &'static str)];
}

/// The engine itself: what can be opened and what is open. No field names it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {}

impl Subject for Engine {
    const FIELDS: &'static [(&'static str, &'static str)] = &[];
}

/// Anything that is open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its key.
    pub item: String,
}

impl Subject for Item {
    const FIELDS: &'static [(&'static str, &'static str)] =
        &[("item", "Key of an open experiment or ensemble.")];
}

/// One open experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Experiment {
    /// Its key.
    pub item: String,
}

impl Subject for Experiment {
    const FIELDS: &'static [(&'static str, &'static str)] =
        &[("item", "Key of an open experiment.")];
}

/// Two open experiments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentPair {
    /// Key of the old version.
    pub old: String,
    /// Key of the new version.
    pub new: String,
}

impl Subject for ExperimentPair {
    const FIELDS: &'static [(&'static str, &'static str)] = &[
        ("old", "The old version: key of an open experiment."),
        ("new", "The new version: key of an open experiment."),
    ];
}

/// One open ensemble.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ensemble {
    /// Its key.
    pub item: String,
}

impl Subject for Ensemble {
    const FIELDS: &'static [(&'static str, &'static str)] = &[("item", "Key of an open ensemble.")];
}

/// Two open ensembles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnsemblePair {
    /// Key of the old version.
    pub old: String,
    /// Key of the new version.
    pub new: String,
}

impl Subject for EnsemblePair {
    const FIELDS: &'static [(&'static str, &'static str)] = &[
        ("old", "The old version: key of an open ensemble."),
        ("new", "The new version: key of an open ensemble."),
    ];
}

/// The tables of an answer.
pub trait TableSet {
    /// Their names and forms.
    const FORMS: &'static [(&'static str, &'static [TableForm])];

    /// The tables by name, with `unit` for columns in the unit of the answer's metric.
    fn into_named(self, unit: &str) -> Vec<(&'static str, Table)>;
}

impl TableSet for () {
    const FORMS: &'static [(&'static str, &'static [TableForm])] = &[];

    fn into_named(self, _: &str) -> Vec<(&'static str, Table)> {
        Vec::new()
    }
}

/// A question; it is implemented by its request. `question!` defines them.
pub trait Question: Clone + Default + Serialize + DeserializeOwned {
    /// What it is asked of.
    type Subject: Subject;
    /// What it is answered with, apart from tables.
    type Reply: Serialize;
    /// The tables of the answer.
    type Tables: TableSet;
    /// Its definition.
    const SCHEMA: QuestionSchema;

    /// Reads a request and what it is asked of from the fields of a JSON object.
    ///
    /// # Errors
    /// When a field is missing, unknown, of another type or out of bounds; the error names it.
    fn parse(fields: Map<String, Value>) -> Result<(Self::Subject, Self), RequestError> {
        let (mut own, mut subject) = (Map::new(), Map::new());
        for (name, value) in fields {
            if Self::SCHEMA.all_fields().any(|field| field.name == name) {
                own.insert(name, value);
            } else if Self::Subject::FIELDS.iter().any(|(field, _)| *field == name) {
                subject.insert(name, value);
            } else {
                let known = Self::SCHEMA.all_fields().map(|field| field.name);
                let known = Self::Subject::FIELDS.iter().map(|(field, _)| *field).chain(known);
                return Err(RequestError::UnknownField {
                    question: Self::SCHEMA.name,
                    field: name,
                    known: known.collect::<Vec<_>>().join(", "),
                });
            }
        }
        let required = Self::SCHEMA.fields.iter().filter(|field| field.is_required);
        if let Some(missing) =
            required.map(|field| field.name).find(|name| !own.contains_key(*name))
        {
            let question = Self::SCHEMA.name;
            return Err(RequestError::MissingField { question, field: missing });
        }
        let invalid = |error: serde_json::Error| RequestError::InvalidValue {
            question: Self::SCHEMA.name,
            message: error.to_string(),
        };
        let subject = serde_json::from_value(Value::Object(subject)).map_err(invalid)?;
        let request: Self = serde_json::from_value(Value::Object(own)).map_err(invalid)?;
        request.check()?;
        Ok((subject, request))
    }

    /// Checks the bounds of its fields.
    ///
    /// # Errors
    /// When a field is out of bounds.
    fn check(&self) -> Result<(), RequestError>;
}

/// An answer: the reply and the tables of a question.
#[derive(Debug, Clone)]
pub struct Answer<Q: Question> {
    /// What is not a table.
    pub reply: Q::Reply,
    /// The tables.
    pub tables: Q::Tables,
    /// Unit symbol of the metric that the answer is about; empty where there is none.
    pub unit: String,
}

impl<Q: Question> Answer<Q> {
    /// An answer that is not about one metric.
    #[must_use]
    pub const fn new(reply: Q::Reply, tables: Q::Tables) -> Self {
        Self { reply, tables, unit: String::new() }
    }
}

/// Why a request is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// A field that the question does not have.
    #[error("`{question}` has no field `{field}`; it has {known}")]
    UnknownField {
        /// Name of the question.
        question: &'static str,
        /// Name of the field.
        field: String,
        /// The fields it has.
        known: String,
    },
    /// A field without a default is not there.
    #[error("`{question}` needs the field `{field}`")]
    MissingField {
        /// Name of the question.
        question: &'static str,
        /// Name of the field.
        field: &'static str,
    },
    /// A value of another type, or a name that is not one of those to choose from.
    #[error("`{question}`: {message}")]
    InvalidValue {
        /// Name of the question.
        question: &'static str,
        /// What is wrong, with the name of the field or value.
        message: String,
    },
    /// A number that is out of bounds.
    #[error("`{question}`: `{field}` is {value}; it may be {bounds}")]
    OutOfBounds {
        /// Name of the question.
        question: &'static str,
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: String,
        /// The bounds.
        bounds: &'static str,
    },
}
