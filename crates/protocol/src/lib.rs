//! Every question that can be asked, defined once.
//!
//! A question is a request, a reply and tables (`question!`); a table is a list of columns with
//! type, unit and meaning (`table!`). Everything else is derived from these definitions: how
//! requests are read and checked, the dispatch of the worker and of the server, the types of the
//! page, the values of command line options, and the reference of questions in the documents.
//!
//! The service fills the row or column structs that `table!` makes, so an answer with a missing
//! or mistyped column does not compile.

mod choice;
mod error;
mod macros;
#[cfg(feature = "typescript")]
pub mod python;
mod question;
mod questions;
mod reference;
mod relations;
mod schema;
mod table;
#[cfg(feature = "typescript")]
pub mod typescript;
mod values;

pub use choice::{Choice, ChoiceValue};
pub use error::ErrorReply;
pub use question::{
    Answer, Engine, Ensemble, EnsemblePair, Experiment, ExperimentPair, FieldGroup, FieldSchema,
    Item, Question, QuestionSchema, RequestError, Subject, TableSet,
};
pub use questions::*;
pub use reference::reference;
pub use relations::*;
pub use schema::{
    AnswerTable, ColumnSchema, ColumnType, TableForm, TableSchema, TypedTable, UnitOf, bare,
};
pub use table::{Column, Table};
pub use values::{ColumnValues, Defined, Family, Repeated, Values};

/// The version of the protocol; both sides name it in `hello`.
pub const PROTOCOL_VERSION: u32 = 4;
