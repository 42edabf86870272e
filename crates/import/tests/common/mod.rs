//! What several tests of archives need.

#![allow(dead_code, reason = "each test uses some of this")]
#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_base::{Folder, FolderSink as _, Limits, MemoryFolder, MemorySink, read_range};
use parallax_formats::archive::table::{ColumnData, Layout, TableWriter};
use parallax_formats::archive::{Archive, Fact, Record};

/// The files that were written into a folder in memory.
pub(crate) fn files_of(sink: MemorySink) -> BTreeMap<String, Vec<u8>> {
    let folder = sink.into_folder("memory");
    let read = |path: &str| {
        let source = folder.open(path).unwrap().unwrap();
        read_range(&*source, 0, source.len()).unwrap().into_owned()
    };
    let entries = folder.entries().unwrap();
    entries.into_iter().map(|entry| (entry.path.clone(), read(&entry.path))).collect()
}

/// A manifest with these facts alone.
pub(crate) fn manifest(facts: &[(&str, &str)]) -> Vec<u8> {
    let fact = |&(key, value): &(&str, &str)| Fact { key: key.into(), value: value.into() };
    table(Fact::LAYOUT, Fact::columns(facts.iter().map(fact).collect()))
}

/// A table as an older version has it: with its first columns.
pub(crate) fn old_table<R: Record>(rows: Vec<R>, len: usize) -> Vec<u8> {
    let new = R::LAYOUT;
    let old = Layout { file: new.file, columns: &new.columns[..len] };
    let mut columns = R::columns(rows);
    columns.truncate(len);
    table(Box::leak(Box::new(old)), columns)
}

/// The functions of an archive as versions before 6 have them: what they are is not said.
pub(crate) fn old_functions(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("memory", files.clone()));
    let archive = Archive::open(&folder, &Limits::default()).unwrap();
    old_table(archive.functions.clone(), 4)
}

fn table(layout: &'static Layout, columns: Vec<ColumnData>) -> Vec<u8> {
    let sink = MemorySink::new();
    let mut writer = TableWriter::new(layout, sink.create(layout.file).unwrap()).unwrap();
    writer.write(columns).unwrap();
    writer.finish().unwrap();
    files_of(sink).remove(layout.file).unwrap()
}
