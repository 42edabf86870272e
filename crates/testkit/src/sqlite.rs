//! Databases that SQLite itself writes, as bytes: what a reader of the file format is held against.

pub use rusqlite::{Connection, Result, params, types::Value};

/// The bytes of the database that `write` fills.
///
/// # Panics
/// When SQLite refuses what `write` does.
#[must_use]
pub fn bytes(write: impl FnOnce(&Connection) -> Result<()>) -> Vec<u8> {
    let all = || -> Result<Vec<u8>> {
        let mut connection = Connection::open_in_memory()?;
        write(&connection)?;
        Ok(connection.serialize("main")?.to_vec())
    };
    let all = all();
    assert!(all.is_ok(), "SQLite: {:?}", all.err());
    all.unwrap_or_default()
}

/// The bytes of the database that SQL statements make.
///
/// # Panics
/// When SQLite refuses them.
#[must_use]
pub fn of_sql(sql: &str) -> Vec<u8> {
    bytes(|connection| connection.execute_batch(sql))
}
