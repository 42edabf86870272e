//! A database of SQLite: nothing panics, and the same is read however the bytes arrive.

#![no_main]

use std::ops::ControlFlow;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use parallax_base::{ByteSource, Issues, Limits, MemorySource, ReadError, Source};
use parallax_formats::sqlite::{Column, Database};

struct Copying(MemorySource);

impl ByteSource for Copying {
    fn len(&self) -> u64 {
        self.0.len()
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.0.read_at(offset, buffer)
    }
}

/// All rows of all tables as text.
fn everything(source: Source) -> (Vec<String>, Issues) {
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let len = source.len();
    let mut issues = Issues::new();
    let mut out = Vec::new();
    let Ok(database) = Database::open(source, "fuzz.db", &limits, &mut issues) else {
        return (out, issues);
    };
    for table in database.tables() {
        let columns: Vec<Column> = table.column_names().map(|name| table.column(name)).collect();
        let mut rows = 0_u64;
        let scanned = database.scan(table, &mut issues, &mut |row| {
            rows += 1;
            if out.len() < 1000 {
                let values: Vec<_> = columns.iter().map(|&c| row.text(c)).collect();
                out.push(format!("{} {values:?}", row.rowid()));
            }
            ControlFlow::Continue(())
        });
        assert!(rows <= len, "more rows than bytes");
        out.push(format!("{} {scanned:?}", table.name));
    }
    (out, issues)
}

fuzz_target!(|bytes: &[u8]| {
    let lent = everything(MemorySource::shared(bytes));
    let copied = everything(Arc::new(Copying(bytes.to_vec().into())));
    assert_eq!(lent, copied, "the kind of source decides");
});
