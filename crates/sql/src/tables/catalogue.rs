//! [`Catalogue`]: which tables there are, and what gives their rows.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::TableType;
use parallax_base::Control;
use parallax_protocol::{IterationTable, LocationsRequest, Table, TypedTable as _, UserEventTable};
use parallax_service::scaling::Ensemble;
use parallax_service::{Answers as _, Holds, OpenExperiment};

use super::derived::Derived;
use super::ensembles;
use super::events::{EventRows, Records};
use super::failed;
use super::recordings::{Recorded, RecordingRows};
use super::samples::{Samples, TraceEvents, Tracks};
use super::values::{Summary, Values};
use crate::computed::Computed;
use crate::kept::Keeper;
use crate::questions::{self, Notes};
use crate::scan::{Cut, Rows, ScanTable};
use crate::{SqlSource, bridge};

/// What gives the rows of a table.
#[derive(Clone, Copy)]
pub(super) enum Content {
    /// All rows at once, when a statement names the table.
    Whole(fn(&OpenExperiment, &Control) -> Result<Table>),
    /// The part that a statement wants.
    Part(fn(Arc<OpenExperiment>, Notes) -> Arc<dyn Rows>),
    /// All rows of an ensemble, when a statement names the table.
    OfEnsemble(fn(&Ensemble, &Control) -> Result<Table>),
    /// The functions behind FROM.
    Functions,
}

/// A table that statements may name.
pub(crate) struct TableEntry {
    /// Its name.
    pub(crate) name: &'static str,
    /// What an experiment needs to have for it; empty where all have it.
    pub(super) needs: &'static str,
    /// Whether an experiment has that.
    pub(super) has: fn(&Holds) -> bool,
    pub(super) content: Content,
}

pub(super) fn always(_: &Holds) -> bool {
    true
}

/// All tables of a source.
pub(crate) fn of(source: &SqlSource) -> &'static [TableEntry] {
    match source {
        SqlSource::Experiment(_) => TABLES,
        SqlSource::Ensemble(_) => ensembles::TABLES,
    }
}

/// All tables of an experiment.
const TABLES: &[TableEntry] = &[
    TableEntry {
        name: "contexts",
        needs: "",
        has: always,
        content: Content::Whole(|opened, control| {
            Ok(opened.context_relation(control).map_err(failed)?.into_table())
        }),
    },
    TableEntry {
        name: "locations",
        needs: "",
        has: always,
        content: Content::Whole(|opened, control| {
            let answer = opened.answer(&LocationsRequest::default(), control).map_err(failed)?;
            Ok(answer.tables.rows.into_table())
        }),
    },
    TableEntry {
        name: "metrics",
        needs: "",
        has: always,
        content: Content::Whole(|opened, _| Ok(opened.metric_relation().into_table())),
    },
    TableEntry {
        name: "values",
        needs: "",
        has: always,
        content: Content::Part(|opened, _| Arc::new(Values(opened))),
    },
    TableEntry {
        name: "statistics",
        needs: "",
        has: always,
        content: Content::Whole(|opened, _| Ok(opened.statistic_relation().into_table())),
    },
    TableEntry {
        name: "summary",
        needs: "",
        has: always,
        content: Content::Part(|opened, _| Arc::new(Summary(opened))),
    },
    TableEntry {
        name: "samples",
        needs: "a trace",
        has: |holds| holds.has_trace,
        content: Content::Part(|opened, _| Arc::new(Samples(Tracks::of(opened)))),
    },
    TableEntry {
        name: "trace_events",
        needs: "a trace of calls",
        has: |holds| holds.has_calls,
        content: Content::Part(|opened, _| Arc::new(TraceEvents(Tracks::of(opened)))),
    },
    TableEntry {
        name: "messages",
        needs: "a trace of events with messages",
        has: |holds| holds.has_links,
        content: Content::Part(|opened, _| {
            Arc::new(EventRows { opened, records: Records::Messages })
        }),
    },
    TableEntry {
        name: "collectives",
        needs: "a trace of events",
        has: |holds| holds.has_waits,
        content: Content::Part(|opened, _| {
            Arc::new(EventRows { opened, records: Records::Collectives })
        }),
    },
    TableEntry {
        name: "counters",
        needs: "a trace of events with metrics",
        has: |holds| holds.has_counters,
        content: Content::Part(|opened, _| {
            Arc::new(EventRows { opened, records: Records::Counters })
        }),
    },
    TableEntry {
        name: "markers",
        needs: "a trace of events",
        has: |holds| holds.has_waits,
        content: Content::Part(|opened, _| {
            Arc::new(EventRows { opened, records: Records::Markers })
        }),
    },
    TableEntry {
        name: "iterations",
        needs: "a trace",
        has: |holds| holds.has_trace,
        content: Content::Part(|opened, notes| {
            Arc::new(Derived {
                opened,
                name: "iterations",
                question: "iterations",
                table: "iterations",
                definition: IterationTable::SCHEMA,
                notes,
            })
        }),
    },
    TableEntry {
        name: "user_events",
        needs: "user events",
        has: |holds| holds.has_user_events,
        content: Content::Part(|opened, notes| {
            Arc::new(Derived {
                opened,
                name: "user_events",
                question: "user_events",
                table: "events",
                definition: UserEventTable::SCHEMA,
                notes,
            })
        }),
    },
    TableEntry {
        name: "activations",
        needs: "a recording of calls, such as a database of Parceive",
        has: |holds| holds.has_activations,
        content: Content::Part(|opened, _| {
            Arc::new(RecordingRows { opened, records: Recorded::Activations })
        }),
    },
    TableEntry {
        name: "references",
        needs: "a recording of accesses to data, such as a database of Parceive",
        has: |holds| holds.has_activations,
        content: Content::Whole(|opened, _| {
            Ok(opened.reference_relation().map_err(failed)?.into_table())
        }),
    },
    TableEntry {
        name: "accesses",
        needs: "a recording of accesses to data, such as a database of Parceive",
        has: |holds| holds.has_activations,
        content: Content::Part(|opened, _| {
            Arc::new(RecordingRows { opened, records: Recorded::Accesses })
        }),
    },
    TableEntry {
        name: "issues",
        needs: "",
        has: always,
        content: Content::Whole(|opened, _| Ok(opened.issue_relation().into_table())),
    },
    TableEntry { name: "table_functions", needs: "", has: always, content: Content::Functions },
];

/// The tables of a source, for one statement.
pub(crate) struct Catalogue {
    pub(crate) source: SqlSource,
    pub(crate) control: Control,
    pub(crate) notes: Notes,
    pub(crate) cut: Cut,
    pub(crate) computed: Computed,
    /// What has whole tables in memory, where the statement has that.
    pub(crate) keeper: Option<Keeper>,
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Catalogue")
    }
}

impl Catalogue {
    /// What an experiment holds; of an ensemble no table depends on that.
    fn holds(&self) -> Holds {
        match &self.source {
            SqlSource::Experiment(opened) => opened.holds(),
            SqlSource::Ensemble(_) => Holds::default(),
        }
    }
}

#[async_trait]
impl SchemaProvider for Catalogue {
    fn table_names(&self) -> Vec<String> {
        let holds = self.holds();
        let there = of(&self.source).iter().filter(|table| (table.has)(&holds));
        there.map(|table| table.name.to_owned()).collect()
    }

    fn table_exist(&self, name: &str) -> bool {
        of(&self.source).iter().any(|table| table.name == name)
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        Ok(self.table_exist(name).then_some(TableType::Base))
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(table) = of(&self.source).iter().find(|table| table.name == name) else {
            return Ok(None);
        };
        if !(table.has)(&self.holds()) {
            return plan_err!(
                "there is no table {name} here: it needs {}; `SHOW TABLES` lists those that there are",
                table.needs
            );
        }
        if let (Content::Part(make), SqlSource::Experiment(opened)) = (table.content, &self.source)
        {
            let rows = make(Arc::clone(opened), Arc::clone(&self.notes));
            let (opened, control, cut) = (Arc::clone(opened), self.control.clone(), self.cut);
            let keeper = self.keeper.clone();
            return Ok(Some(Arc::new(ScanTable { rows, opened, control, cut, keeper })));
        }
        let whole = || match (table.content, &self.source) {
            (Content::Whole(make), SqlSource::Experiment(opened)) => make(opened, &self.control),
            (Content::OfEnsemble(make), SqlSource::Ensemble(ensemble)) => {
                make(ensemble, &self.control)
            }
            (Content::Functions, source) => Ok(questions::table(source).into_table()),
            // Each source has tables of its own.
            _ => plan_err!("there is no table {name} here"),
        };
        Ok(Some(self.computed.table(name.to_owned(), || bridge::batch(&whole()?))?))
    }
}
