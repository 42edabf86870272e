//! Databases of HPCToolkit format v4: described, written, drawn at random, generated.
//!
//! [`Database`] is a plain description in memory; [`Database::to_files`] turns it into the bytes of
//! `meta.db`, `profile.db`, `cct.db`, `trace.db` and `metrics/default.yaml`.
//! [`arbitrary`] gives random small databases for property tests.
//! [`generate`](generate::generate) streams a database of any size to disk, with planted answers.

mod bytes;
mod contexts;
mod database;
mod files;
mod meta;
mod profiles;
mod scopes;
mod taxonomy;
mod traces;

pub mod arbitrary;
pub mod generate;
pub mod iterations;

pub use database::{
    Context, ContextKind, Database, Derived, Function, Id, LexicalType, Metric, Point, Profile,
    Relation, Sample, Scope, SourceFile, Statistic, kind,
};
pub use files::{Files, Layout, WriteOptions};
pub use scopes::ScopeValues;
