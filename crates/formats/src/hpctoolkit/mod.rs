//! HPCToolkit performance databases, format v4: `meta.db`, `profile.db`, `cct.db`, `trace.db`.
//!
//! Read: the final 4.0 layout of every known writer since 2022-09 and the 2022 draft that carries
//! the same version number. Later minor versions are read by the strides they store. The byte
//! layout is in `FORMAT.md` next to this file.
//!
//! Values are never copied as a whole: [`ProfileDb`], [`CctDb`] and [`TraceDb`] keep the source
//! and hand out one profile, one context or one trace at a time.
//! [`Taxonomy`] is `metrics/default.yaml`: which columns a viewer offers.
//! A damaged record is left out and reported; see each reader for what survives.
//!
//! Not kept: reserved words and the module of a function that has none. The older formats
//! (`experiment.xml`, `HPCPROF-*`) are recognised by [`recognise`] and named, not read.

mod cct;
mod context;
mod context_reader;
mod header;
mod layout;
mod meta;
mod metrics;
mod names;
mod profile;
mod record;
mod taxonomy;
mod trace;

pub use cct::{CctDb, ContextBlock, ContextInfo, SparseValue};
pub use context::{Contexts, EntryPoint, NONE};
pub use context_reader::ContextReader;
pub use header::{FileKind, Recognised, recognise};
pub use meta::{FunctionRecord, MetaDb, ModuleRecord, SourceFileRecord};
pub use metrics::{Combine, MetricRecord, ScopeInstance, ScopeKind, ScopeRecord, SummaryRecord};
pub use profile::{ContextValues, Identity, ProfileBlock, ProfileDb, ProfileInfo, StoredValue};
pub use taxonomy::{
    ChildVariants, Expression, Formula, FormulaPair, Operation, Render, Taxonomy, TaxonomyInput,
    TaxonomyNode, Variant,
};
pub use trace::{Sample, TraceDb, TraceInfo};
