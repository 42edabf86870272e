//! Opening databases for the tests of balance, report and idleness.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::{ContextIdx, Folder, Limits, MemoryFolder};
use parallax_engine::Session;
use parallax_engine::query::normalised_name;
use parallax_model::ContextKind;
use parallax_native::DiskFolder;
use parallax_testkit::hpctoolkit::{Database, WriteOptions};

pub(crate) fn corpus() -> Option<PathBuf> {
    parallax_testkit::needs::corpus()
}

pub(crate) fn open_folder(folder: &Arc<dyn Folder>) -> Session {
    Session::new(parallax_import::open(folder, &Limits::default()).unwrap())
}

pub(crate) fn open(database: &Database) -> Session {
    open_with(database, &WriteOptions::default())
}

pub(crate) fn open_with(database: &Database, options: &WriteOptions) -> Session {
    let files = database.to_files(options);
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("drawn", files.by_path));
    open_folder(&folder)
}

pub(crate) fn open_path(path: &Path) -> Session {
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(path));
    open_folder(&folder)
}

/// Every v4 database below `root`, sorted.
pub(crate) fn databases(root: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|name| name == "meta.db") {
                out.push(folder.clone());
            }
        }
    }
    out.sort();
    out
}

/// All function contexts with this normalised name.
pub(crate) fn contexts_of(session: &Session, name: &str) -> Vec<ContextIdx> {
    let tree = session.tree();
    let is_wanted = |context: &ContextIdx| {
        tree.function_name(*context).is_some_and(|found| normalised_name(found) == name)
    };
    tree.iter().filter(is_wanted).collect()
}

/// All function contexts.
pub(crate) fn functions(session: &Session) -> Vec<ContextIdx> {
    let tree = session.tree();
    tree.iter().filter(|&context| tree.kind(context) == ContextKind::Function).collect()
}
