//! [`Catalogue`]: which tables there are, and what gives their rows.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{MemTable, SchemaProvider, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::TableType;
use parallax_base::Control;
use parallax_protocol::{IterationTable, LocationsRequest, Table, TypedTable as _, UserEventTable};
use parallax_service::{Answers as _, Holds, OpenExperiment};

use super::derived::Derived;
use super::events::{EventRows, Records};
use super::failed;
use super::samples::{Samples, TraceEvents};
use super::values::{Summary, Values};
use crate::bridge;
use crate::questions::{self, Notes};
use crate::scan::{Rows, ScanTable};

/// What gives the rows of a table.
#[derive(Clone, Copy)]
enum Content {
    /// All rows at once, when a statement names the table.
    Whole(fn(&OpenExperiment, &Control) -> Result<Table>),
    /// The part that a statement wants.
    Part(fn(Arc<OpenExperiment>, Notes) -> Arc<dyn Rows>),
}

/// A table that statements may name.
pub(crate) struct TableEntry {
    /// Its name.
    pub(crate) name: &'static str,
    /// What an experiment needs to have for it; empty where all have it.
    needs: &'static str,
    /// Whether an experiment has that.
    has: fn(&Holds) -> bool,
    content: Content,
}

fn always(_: &Holds) -> bool {
    true
}

/// All tables.
pub(crate) const TABLES: &[TableEntry] = &[
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
        content: Content::Part(|opened, _| Arc::new(Samples(opened))),
    },
    TableEntry {
        name: "trace_events",
        needs: "a trace of calls",
        has: |holds| holds.has_calls,
        content: Content::Part(|opened, _| Arc::new(TraceEvents(opened))),
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
        name: "issues",
        needs: "",
        has: always,
        content: Content::Whole(|opened, _| Ok(opened.issue_relation().into_table())),
    },
    TableEntry {
        name: "table_functions",
        needs: "",
        has: always,
        content: Content::Whole(|_, _| Ok(questions::table().into_table())),
    },
];

/// The tables of an experiment, for one statement.
pub(crate) struct Catalogue {
    pub(crate) opened: Arc<OpenExperiment>,
    pub(crate) control: Control,
    pub(crate) notes: Notes,
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Catalogue")
    }
}

impl Catalogue {
    /// The tables that the experiment has.
    fn tables(&self) -> impl Iterator<Item = &'static TableEntry> + use<> {
        let holds = self.opened.holds();
        TABLES.iter().filter(move |table| (table.has)(&holds))
    }
}

#[async_trait]
impl SchemaProvider for Catalogue {
    fn table_names(&self) -> Vec<String> {
        self.tables().map(|table| table.name.to_owned()).collect()
    }

    fn table_exist(&self, name: &str) -> bool {
        TABLES.iter().any(|table| table.name == name)
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        Ok(self.table_exist(name).then_some(TableType::Base))
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(table) = TABLES.iter().find(|table| table.name == name) else { return Ok(None) };
        if !(table.has)(&self.opened.holds()) {
            return datafusion::common::plan_err!(
                "there is no table {name} here: it needs {}; `SHOW TABLES` lists those that there are",
                table.needs
            );
        }
        let (opened, control) = (Arc::clone(&self.opened), self.control.clone());
        Ok(Some(match table.content {
            Content::Whole(make) => {
                let batch = bridge::batch(&make(&opened, &control)?)?;
                Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?)
            }
            Content::Part(make) => {
                let rows = make(Arc::clone(&opened), Arc::clone(&self.notes));
                Arc::new(ScanTable { rows, opened, control })
            }
        }))
    }
}
