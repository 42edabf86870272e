//! The databases of the repository and, where it is there, of the corpus.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, UInt32Type, UInt64Type};
use parallax_base::Folder;
use parallax_native::DiskFolder;
use parallax_service::{Control, OpenExperiment, OpenLimits, Table, TreeAnswer, TreeRequest, open};
use parallax_testkit::needs::{self, Without};

/// Opens a database of `fixtures/reactor`.
pub(crate) fn fixture(name: &str) -> OpenExperiment {
    open_at(&fixtures().join(name))
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor")
}

fn open_at(path: &Path) -> OpenExperiment {
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(path));
    open(&folder, &OpenLimits::default()).unwrap()
}

/// The folder of the corpus; without it the fixtures are looked at all the same.
pub(crate) fn corpus() -> Option<PathBuf> {
    needs::corpus_of(Without::Part)
}

/// Opens every database of the repository and of the corpus, by its path.
pub(crate) fn each(mut visit: impl FnMut(&str, &OpenExperiment)) {
    let mut open = vec![fixtures()];
    if let Some(corpus) = corpus() {
        open.extend(["data/hpctoolkit", "data/reactor"].map(|folder| corpus.join(folder)));
    }
    let mut paths = Vec::new();
    while let Some(folder) = open.pop() {
        if folder.join("meta.db").is_file() && folder.join("profile.db").is_file() {
            paths.push(folder);
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        open.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()));
    }
    paths.sort();
    assert!(paths.len() >= 14, "fixtures are missing");
    for path in paths {
        visit(&path.display().to_string(), &open_at(&path));
    }
}

/// The tree, or nothing for an experiment in which nothing was measured.
pub(crate) fn tree(opened: &OpenExperiment, request: &TreeRequest) -> Option<TreeAnswer> {
    opened.tree(request, &Control::new()).ok()
}

pub(crate) fn texts(table: &Table, name: &str) -> Vec<Option<String>> {
    let values = &table.column(name).unwrap().values;
    let values = values.as_dictionary::<Int32Type>();
    let texts = values.values().as_string::<i32>();
    values
        .keys()
        .iter()
        .map(|key| key.map(|key| texts.value(usize::try_from(key).unwrap()).to_owned()))
        .collect()
}

pub(crate) fn u32s(table: &Table, name: &str) -> Vec<u32> {
    table.column(name).unwrap().values.as_primitive::<UInt32Type>().values().to_vec()
}

pub(crate) fn u64s(table: &Table, name: &str) -> Vec<u64> {
    table.column(name).unwrap().values.as_primitive::<UInt64Type>().values().to_vec()
}

pub(crate) fn f64s(table: &Table, name: &str) -> Vec<Option<f64>> {
    table.column(name).unwrap().values.as_primitive::<Float64Type>().iter().collect()
}
