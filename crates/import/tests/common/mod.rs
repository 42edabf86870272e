//! What several tests of archives need.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::collections::BTreeMap;

use parallax_base::{Folder as _, FolderSink as _, MemorySink, read_range};
use parallax_formats::archive::table::TableWriter;
use parallax_formats::archive::{Fact, MANIFEST, Record as _};

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
    let sink = MemorySink::new();
    let mut writer = TableWriter::new(Fact::LAYOUT, sink.create(MANIFEST).unwrap()).unwrap();
    writer.write(Fact::columns(facts.iter().map(fact).collect())).unwrap();
    writer.finish().unwrap();
    files_of(sink).remove(MANIFEST).unwrap()
}
