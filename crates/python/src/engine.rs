//! [`Engine`]: opens paths and answers requests.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parallax_base::{Control, Limits};
use parallax_dispatch::{AnswerTables, Dispatcher};
use parallax_places::{Reading, places};
use parallax_protocol::ErrorReply;
use pyo3::prelude::*;

use crate::archives::CachedArchives;
use crate::process;
#[cfg(feature = "sql")]
use crate::statement;
use crate::stream::Stream;
use crate::table::{Table, make_texts_unique};
use crate::wait::{answered, failure};

/// The reply as JSON, the tables by name, and the items that were opened.
type Answered = (String, Vec<(String, Table)>, Vec<Item>);

/// What answers, shared by everything that is open.
pub(crate) struct Shared {
    dispatcher: Dispatcher,
    archives: CachedArchives,
    num_roots: AtomicU64,
    #[cfg(feature = "sql")]
    statements: statement::Engines,
}

/// An engine that answers questions about what is open.
#[pyclass(frozen, module = "parallax._native")]
pub(crate) struct Engine {
    shared: Arc<Shared>,
}

/// Something that is open, until the last reference to it is gone.
#[pyclass(frozen, module = "parallax._native")]
pub(crate) struct Item {
    open: Arc<Open>,
}

/// What an item and the streams of its tables share.
pub(crate) struct Open {
    key: String,
    shared: Arc<Shared>,
}

#[pymethods]
impl Engine {
    #[new]
    fn new() -> Self {
        let archives = CachedArchives::default();
        // Items are closed when Python has no reference to them any more.
        let dispatcher = Dispatcher::new(Limits::default())
            .with_max_items(usize::MAX)
            .with_archives(Box::new(archives.clone()));
        // Whoever is forked from here has no threads.
        process::is_first();
        Self {
            shared: Arc::new(Shared {
                dispatcher,
                archives,
                num_roots: AtomicU64::new(0),
                #[cfg(feature = "sql")]
                statements: statement::Engines::default(),
            }),
        }
    }

    /// Opens what `paths` hold together. Gives the reply as JSON, and the items that are open.
    /// `ensemble` is JSON: how several experiments become an ensemble.
    #[pyo3(signature = (paths, ensemble, progress=None))]
    fn open(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        ensemble: String,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Vec<Item>)> {
        let shared = self.usable(py)?;
        let worker = Arc::clone(&shared);
        let answer =
            answered(py, progress, move |control| worker.open(&paths, &ensemble, control))?;
        Ok((answer.json.clone(), items(&shared, &answer)))
    }

    /// Answers a request, which is JSON. Gives the reply as JSON, the tables by name, and the items
    /// that the request has opened.
    #[pyo3(signature = (request, progress=None))]
    fn ask(
        &self,
        py: Python<'_>,
        request: String,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Answered> {
        let shared = self.usable(py)?;
        let worker = Arc::clone(&shared);
        let answer = answered(py, progress, move |control| worker.ask(&request, control))?;
        let items = items(&shared, &answer);
        let tables = answer.tables.into_iter();
        let tables = tables.map(|(name, table)| (name.to_owned(), Table::new(table))).collect();
        Ok((answer.json, tables, items))
    }

    /// A table of several requests about `item`, one part after the other: each is asked when a
    /// reader comes to it, so that only one part is in memory.
    fn stream(
        &self,
        py: Python<'_>,
        item: &Item,
        requests: Vec<String>,
        table: String,
    ) -> PyResult<Stream> {
        self.usable(py)?;
        Ok(Stream::new(Arc::clone(&item.open), requests, table))
    }

    /// What a statement in SQL gives of `item`, and the remarks of the questions that it asks.
    /// `memory_limit` is a size such as `2GB`, `time_limit` is in seconds.
    #[cfg(feature = "sql")]
    #[pyo3(signature = (item, statement, memory_limit=None, time_limit=None, progress=None))]
    fn sql(
        &self,
        py: Python<'_>,
        item: &Item,
        statement: String,
        memory_limit: Option<&str>,
        time_limit: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Table, Vec<String>)> {
        let shared = self.usable(py)?;
        let limits = statement::limits(memory_limit, time_limit);
        let limits = limits.map_err(|error| failure(py, &error))?;
        let open = Arc::clone(&item.open);
        let (table, notes) = answered(py, progress, move |control| {
            let content = shared.dispatcher.content(&open.key)?;
            let mut answer = shared.statements.run(content, &statement, limits, control)?;
            make_texts_unique(&mut answer.0);
            Ok(answer)
        })?;
        Ok((Table::new(table), notes))
    }
}

impl Engine {
    /// What answers, unless this process is a copy without its threads.
    fn usable(&self, py: Python<'_>) -> PyResult<Arc<Shared>> {
        process::check().map_err(|error| failure(py, &error))?;
        Ok(Arc::clone(&self.shared))
    }
}

#[pymethods]
impl Item {
    /// How requests name it.
    #[getter]
    fn key(&self) -> &str {
        &self.open.key
    }
}

impl Open {
    /// Answers a request about it.
    pub(crate) fn ask(&self, request: &str, control: &Control) -> Result<AnswerTables, ErrorReply> {
        process::check()?;
        self.shared.ask(request, control)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // A forked process has a copy, whose locks another thread may have held at that moment.
        if !process::is_first() {
            return;
        }
        let request = serde_json::json!({ "ask": "close", "with": { "item": self.key } });
        // What is not open any more needs no closing.
        let _ = self.shared.dispatcher.answer_tables(&request.to_string(), &Control::new());
    }
}

impl Shared {
    fn ask(&self, request: &str, control: &Control) -> Result<AnswerTables, ErrorReply> {
        let mut answer = self.dispatcher.answer_tables(request, control)?;
        answer.tables.iter_mut().for_each(|(_, table)| make_texts_unique(table));
        Ok(answer)
    }

    fn open(
        &self,
        paths: &[PathBuf],
        ensemble: &str,
        control: &Control,
    ) -> Result<AnswerTables, ErrorReply> {
        let misuse = |error: &dyn std::fmt::Display| ErrorReply::new("misuse", error.to_string());
        let ensemble: serde_json::Value =
            serde_json::from_str(ensemble).map_err(|error| misuse(&error))?;
        // Read and not mapped: a notebook lives long, and whoever measures anew shortens files.
        let found = places(paths, Reading::Streamed)
            .map_err(|error| ErrorReply::new("open", error.to_string()))?;
        // Of several paths the first place is all of them together.
        let place = found.into_iter().next().ok_or_else(|| misuse(&"no path was given"))?;
        let root = format!("r{}", self.num_roots.fetch_add(1, Ordering::Relaxed));
        self.dispatcher.add_root(&root, &place.name, Arc::clone(&place.folder));
        self.archives.add(&root, place);
        let request = serde_json::json!({
            "ask": "open", "with": { "root": root, "ensemble": ensemble },
        });
        let answer = self.dispatcher.answer_tables(&request.to_string(), control);
        self.dispatcher.remove_root(&root);
        self.archives.remove(&root);
        answer
    }
}

/// What a reply says was opened, each to be closed when it is no longer used.
fn items(shared: &Arc<Shared>, answer: &AnswerTables) -> Vec<Item> {
    // Only replies to opening have `items`, and these have no tables.
    if !answer.tables.is_empty() {
        return Vec::new();
    }
    let reply: serde_json::Value = serde_json::from_str(&answer.json).unwrap_or_default();
    let items = reply.get("items").and_then(serde_json::Value::as_array);
    let keys = items.into_iter().flatten().filter_map(|item| item.get("item")?.as_str());
    let open = |key: &str| Arc::new(Open { key: key.to_owned(), shared: Arc::clone(shared) });
    keys.map(|key| Item { open: open(key) }).collect()
}
