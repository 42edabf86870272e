//! Where answers go: to stdout or to a file, as text or for other programs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use parallax_native::{Unfinished, is_full, lost_file};
use parallax_wire::{
    Serialize, Table, TopRows, write_arrow, write_csv, write_json, write_jsonl, write_reply,
};

use crate::room::{self, Needed};
use crate::text::{Style, TextTable};

/// Bytes that are gathered before they are handed to the system.
const BUFFER_BYTES: usize = 1 << 17;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// Human-readable: aligned, sorted, fitted to the terminal.
    #[default]
    Text,
    /// One document: columns with types and units, then rows.
    Json,
    /// One object per line.
    Jsonl,
    /// Comma-separated values with a header.
    Csv,
    /// An Arrow IPC file, for pandas, Polars and DuckDB.
    Arrow,
    /// A Parquet file.
    Parquet,
}

impl Format {
    /// What the name of a file asks for, by its extension.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "csv" => Some(Self::Csv),
            "arrow" | "feather" | "ipc" => Some(Self::Arrow),
            "parquet" | "pq" => Some(Self::Parquet),
            "txt" => Some(Self::Text),
            _ => None,
        }
    }

    const fn is_binary(self) -> bool {
        matches!(self, Self::Arrow | Self::Parquet)
    }
}

/// Where an answer goes and how.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// How it is written.
    pub(crate) format: Format,
    /// The file; stdout when absent.
    pub(crate) path: Option<PathBuf>,
    /// How text is laid out.
    pub(crate) style: Style,
    /// Which rows of tables.
    pub(crate) top: TopRows,
    /// How long the file can be, in bytes, where that is known beforehand.
    pub(crate) most_bytes: Option<u64>,
}

impl Output {
    /// As asked on the command line: without a format, the name of the file decides, and without
    /// either it is text. The path `-` is stdout.
    pub(crate) fn new(format: Option<Format>, path: Option<PathBuf>, style: Style) -> Self {
        let path = path.filter(|path| path.as_os_str() != "-");
        let format =
            format.or_else(|| path.as_deref().and_then(Format::of_path)).unwrap_or_default();
        let style = if path.is_some() { style.of_file() } else { style };
        Self { format, path, style, top: TopRows::default(), most_bytes: None }
    }

    /// Writes `table`; text has all its columns.
    ///
    /// # Errors
    ///
    /// As [`Self::emit_with`].
    pub(crate) fn emit(&self, table: &Table) -> io::Result<()> {
        self.emit_with(table, |style, out| TextTable::new(table).write(style, out))
    }

    /// Writes `table`, or what `text` makes of it when text is asked for.
    ///
    /// A file appears when it is complete, in place of what was there before; after an error
    /// nothing has changed. A reader of stdout that goes away is a success: it has seen enough.
    ///
    /// # Errors
    ///
    /// When the file cannot be written, when a binary format would go to a terminal, or when the
    /// table has columns that answers do not carry.
    pub(crate) fn emit_with(
        &self,
        table: &Table,
        text: impl FnOnce(&Style, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if !self.top.is_all() {
            // Rows that somebody chose are shown as they are: with all columns.
            let chosen = self.top.of(table).map_err(io::Error::other)?;
            let chosen = chosen.map_err(io::Error::other)?;
            return Self { top: TopRows::default(), ..self.clone() }.emit(&chosen);
        }
        self.send(|out| match self.format {
            Format::Text => text(&self.style, out),
            Format::Json => Ok(write_json(table, out)?),
            Format::Jsonl => Ok(write_jsonl(table, out)?),
            Format::Csv => Ok(write_csv(table, out)?),
            Format::Arrow => Ok(write_arrow(table, out)?),
            Format::Parquet => parquet(table, out),
        })
    }

    /// Writes an answer that is not a table: as JSON, or what `text` makes of it.
    ///
    /// # Errors
    ///
    /// As [`Self::emit_with`], and for formats that only tables have.
    pub(crate) fn emit_reply<T: Serialize>(
        &self,
        reply: &T,
        text: impl FnOnce(&Style, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.format {
            Format::Text => self.send(|out| text(&self.style, out)),
            Format::Json => self.send(|out| Ok(write_reply(reply, out)?)),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "this result is not a table; use --format text or --format json",
            )),
        }
    }

    fn send(
        &self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> io::Result<()> {
        intact()?;
        let Some(path) = &self.path else {
            let stdout = io::stdout();
            if self.format.is_binary() && stdout.is_terminal() {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "this format is binary; write it to a file with --output FILE, or to a pipe",
                ));
            }
            let mut out = BufWriter::with_capacity(BUFFER_BYTES, stdout);
            let written = write(&mut out).and_then(|()| out.flush());
            return match written {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    // What is left in the buffer has no reader either.
                    let _ = out.into_parts();
                    Ok(())
                }
                written => written,
            };
        };
        let (written, len) = write_whole(path, write);
        written.map_err(|error| {
            let why = if is_full(&error) {
                let remedy = "free space there, or specify a file on another disk";
                let needed = self.most_bytes.map_or(Needed::MoreThan(len), Needed::AtMost);
                room::explain(path, needed, remedy)
            } else {
                error.to_string()
            };
            io::Error::new(error.kind(), format!("cannot write {}: {why}", path.display()))
        })
    }
}

/// Writes a table as Parquet.
#[cfg(feature = "parquet")]
pub(crate) fn parquet(table: &Table, out: &mut (dyn Write + Send)) -> io::Result<()> {
    Ok(parallax_wire::write_parquet(table, out)?)
}

/// Says that this build writes no Parquet.
#[cfg(not(feature = "parquet"))]
pub(crate) fn parquet(_: &Table, _: &mut (dyn Write + Send)) -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this build does not support Parquet; rebuild with the feature `parquet`, or use --format \
         arrow",
    ))
}

/// An answer from a file that was shortened while it was read means nothing.
fn intact() -> io::Result<()> {
    let Some(path) = lost_file() else { return Ok(()) };
    Err(io::Error::other(LostFile(path)))
}

/// A file was shortened while it was read.
#[derive(Debug)]
pub(crate) struct LostFile(pub(crate) PathBuf);

impl std::fmt::Display for LostFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} was truncated by another program while it was read, or its storage failed; wait \
             until it is complete, then try again",
            self.0.display()
        )
    }
}

impl std::error::Error for LostFile {}

/// Writes a file so that it is there in full or not at all: under another name next to it, which
/// then takes the place of what was there. Also returns the bytes that were written.
fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> (io::Result<()>, u64) {
    let mut len = 0;
    let written = write_counted(path, write, &mut len);
    (written, len)
}

fn write_counted(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    len: &mut u64,
) -> io::Result<()> {
    parallax_places::check_output(path)?;
    // What a link points to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
        // A device or a named pipe: nothing to replace. A folder fails here with a clear error.
        let mut out =
            BufWriter::with_capacity(BUFFER_BYTES, OpenOptions::new().write(true).open(&path)?);
        write(&mut out)?;
        return out.flush();
    }
    let unfinished = Unfinished::new(&path)?;
    let partial = unfinished.content();
    let mut file = File::create(&partial)?;
    let written = {
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, &mut file);
        let written = write(&mut out).and_then(|()| out.flush());
        // What is left in the buffer would only fail once more.
        let _ = out.into_parts();
        written
    };
    *len = file.metadata().map_or(0, |metadata| metadata.len());
    written?;
    file.sync_all()?;
    intact()?;
    if let Ok(there) = fs::metadata(&path) {
        // The new content keeps who may read the old one.
        fs::set_permissions(&partial, there.permissions())?;
    }
    unfinished.publish(&path)
}

#[cfg(test)]
mod tests {
    use parallax_wire::Column;

    use super::*;

    const STYLE: Style = Style { width: 80, rows: Some(2), is_colour: true, is_unicode: true };

    fn table() -> Table {
        Table::new(vec![
            Column::u32s("rank", "Rank.", vec![0, 1, 2, 3]),
            Column::f64s("time", "s", "Time.", vec![1.5, 2.0, 0.5, 4.0]),
        ])
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn the_name_of_a_file_decides_its_format() {
        let folder = tempfile::tempdir().unwrap();
        let starts: [(&str, &[u8]); 5] = [
            ("a.json", b"{\"columns\""),
            ("a.JSONL", b"{\"rank\":0,"),
            ("a.csv", b"rank,time\n0,1.5\n"),
            ("a.arrow", b"ARROW1"),
            ("a.txt", b"rank  time (s)\n   0"),
        ];
        for (name, start) in starts {
            let path = folder.path().join(name);
            Output::new(None, Some(path.clone()), STYLE).emit(&table()).unwrap();
            let bytes = fs::read(&path).unwrap();
            assert!(bytes.starts_with(start), "{name}: {}", String::from_utf8_lossy(&bytes));
        }
        let path = folder.path().join("a.csv");
        let json = Output::new(Some(Format::Json), Some(path.clone()), STYLE);
        json.emit(&table()).unwrap();
        assert!(fs::read(&path).unwrap().starts_with(b"{"), "a format that was asked for wins");
        assert_eq!(names_in(folder.path()).len(), 5, "nothing else is left behind");
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_files_have_their_marks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        Output::new(None, Some(path.clone()), STYLE).emit(&table()).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    }

    #[test]
    fn a_file_that_fails_halfway_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer.txt");
        fs::write(&path, "old").unwrap();
        let output = Output::new(None, Some(path.clone()), STYLE);
        let error = output
            .emit_with(&table(), |_, out| {
                out.write_all(b"half")?;
                Err(io::Error::other("stop"))
            })
            .unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write {}: stop", path.display()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names_in(folder.path()), ["answer.txt"]);
    }

    #[test]
    fn text_in_a_file_has_all_rows_and_no_colours() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer");
        Output::new(None, Some(path.clone()), STYLE).emit(&table()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains('\x1b'), "{text}");
        assert_eq!(text.lines().count(), 1 + table().num_rows(), "{text}");
    }

    #[test]
    fn replies_are_text_or_json_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("info.json");
        let output = Output::new(None, Some(path.clone()), STYLE);
        output.emit_reply(&[1, 2], |_, _| Ok(())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "[\n  1,\n  2\n]\n");
        let output = Output::new(Some(Format::Csv), Some(path), STYLE);
        let error = output.emit_reply(&[1, 2], |_, _| Ok(())).unwrap_err();
        assert!(error.to_string().contains("--format json"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_links_stay_what_they_are() {
        use std::os::unix::fs::{FileTypeExt as _, symlink};
        Output::new(Some(Format::Csv), Some("/dev/null".into()), STYLE).emit(&table()).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());

        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.csv"), folder.path().join("link.csv"));
        fs::write(&real, "old").unwrap();
        symlink(&real, &link).unwrap();
        Output::new(None, Some(link.clone()), STYLE).emit(&table()).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read_to_string(&real).unwrap().starts_with("rank,time"));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let output = Output::new(None, Some("/no/such/folder/a.csv".into()), STYLE);
        let error = output.emit(&table()).unwrap_err();
        assert!(error.to_string().starts_with("cannot write /no/such/folder/a.csv: "), "{error}");
    }
}
