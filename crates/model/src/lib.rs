//! The experiment: what one execution of a program left behind, whatever tool wrote it.
//!
//! Invariants: no format, no file, no colour, no label that depends on a view. Everything that is
//! as large as the metadata is in memory, in columns; everything that is as large as the data
//! (values, samples) stays behind [`ProfileStore`] and [`TraceStore`] and is read by slices.

#![cfg_attr(not(test), warn(clippy::cast_possible_truncation))]

pub mod ensemble;

mod activation;
mod context;
mod experiment;
mod location;
mod metric;
mod store;
mod trace;

pub use activation::{
    ActivationKind, ActivationTree, ActivationTreeBuilder, Activations, Clock, Creator,
    LOCALS_NOT_RECORDED, LOOPS_NOT_RECORDED, NewActivation, Ordered, Reference, References, Site,
    StorageClass, SyncEvent, SyncKind, Tag, Thread, Touch, Touches, TouchesBuilder,
};
pub use context::{
    ContextKind, ContextTree, ContextTreeBuilder, Function, Module, Node, Relation, SourceFile,
    steps_up,
};
pub use experiment::{ChosenCalls, Experiment, Metadata, NamedAnomalies, RecordedFacts};
pub use location::{
    IdentityKind, LocationCatalog, LocationCatalogBuilder, LocationOrder, OrderKey,
};
pub use metric::{
    Combine, DerivedMetric, Formula, Metric, MetricCatalog, MetricInstance, Scope, Statistic,
    UserEvent,
};
pub use store::{
    ContextChoice, MetricChoice, Plan, ProfileStore, SliceColumns, SliceRequest, StoreError,
};
pub use trace::{
    BinTime, Call, CollectiveOperation, CollectivePart, Component, ContextTime, Counter,
    EventStore, Interval, LAUNCHER, LinkKind, Message, PREEMPTED, RecordCounts, TraceKind,
    TraceStore, Track, TrackIds, TracksTime, WAITING, for_each_bin, whole_bins,
};
