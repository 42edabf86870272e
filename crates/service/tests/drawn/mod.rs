//! Small databases drawn as text, and answers printed as indented trees.

use std::sync::Arc;

use parallax_base::{Folder, MemoryFolder};
use parallax_service::{OpenExperiment, OpenLimits, TreeAnswer, open};
use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::WriteOptions;

/// Opens the database that `drawing` describes; see `parallax_testkit::drawn`.
pub(crate) fn drawn(drawing: &str) -> OpenExperiment {
    let files = draw("CPUTIME (sec)", drawing).to_files(&WriteOptions::default());
    let files = files.by_path.into_iter().map(|(path, bytes)| ((*path).to_owned(), bytes));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("drawn", files));
    open(&folder, &OpenLimits::default()).unwrap()
}

/// A tree as lines of `label inclusive exclusive`, indented; `*` marks the hot path.
pub(crate) fn printed(tree: &TreeAnswer) -> String {
    let mut out = String::new();
    for row in &tree.rows {
        let mark = if row.is_hot { "*" } else { "" };
        out += &format!(
            "{:indent$}{}{mark} {} {}\n",
            "",
            row.label,
            row.inclusive,
            row.exclusive,
            indent = 2 * row.depth as usize
        );
    }
    out
}
