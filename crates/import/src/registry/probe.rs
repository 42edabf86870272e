//! [`Probe`]: a file that is to be recognised.

use std::cell::OnceCell;
use std::sync::Arc;

use parallax_base::{Folder, ReadError, Source, read_range};
use parallax_formats::compressed;
use parallax_formats::json_trace::{self, JsonTraceFormat};
use parallax_formats::scaling_data::{self, ScalingFormat};

/// First bytes that are always read.
const HEAD_BYTES: u64 = 512;

/// Bytes of the content that are read, decompressed, when the head does not decide.
const TEXT_BYTES: usize = 64 << 10;

/// A file that is to be recognised. What several formats look at is read once.
pub struct Probe<'f> {
    folder: &'f Arc<dyn Folder>,
    path: &'f str,
    source: Source,
    head: Vec<u8>,
    text: OnceCell<Vec<u8>>,
    json_trace: OnceCell<Option<JsonTraceFormat>>,
    measurements: OnceCell<Option<ScalingFormat>>,
}

impl<'f> Probe<'f> {
    /// The file at `path` in `folder`; `None` when there is none.
    ///
    /// # Errors
    /// When its first bytes cannot be read.
    pub fn of(folder: &'f Arc<dyn Folder>, path: &'f str) -> Result<Option<Self>, ReadError> {
        folder.open(path)?.map(|source| Self::new(folder, path, source)).transpose()
    }

    pub(super) fn new(
        folder: &'f Arc<dyn Folder>,
        path: &'f str,
        source: Source,
    ) -> Result<Self, ReadError> {
        let head = read_range(&*source, 0, source.len().min(HEAD_BYTES))?.into_owned();
        let (text, json_trace, measurements) = Default::default();
        Ok(Self { folder, path, source, head, text, json_trace, measurements })
    }

    /// The folder around it.
    #[must_use]
    pub fn folder(&self) -> &dyn Folder {
        &**self.folder
    }

    /// Its path in the folder.
    #[must_use]
    pub fn path(&self) -> &str {
        self.path
    }

    /// The path of the folder that it lies in; empty for the outermost one.
    #[must_use]
    pub fn place(&self) -> &str {
        split(self.path).0
    }

    /// Its name without folders.
    #[must_use]
    pub fn name(&self) -> &str {
        split(self.path).1
    }

    /// All its bytes.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Its first 512 bytes, as they are.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The first 64 KiB of its content, decompressed; as much of it as can be read.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        self.text.get_or_init(|| {
            let Ok(mut stream) = compressed::open(&*self.source) else { return Vec::new() };
            let mut text = vec![0; TEXT_BYTES];
            let mut filled = 0;
            while let Some(rest) = text.get_mut(filled..).filter(|rest| !rest.is_empty()) {
                match stream.read(rest) {
                    Ok(read) if read > 0 => filled += read,
                    _ => break,
                }
            }
            text.truncate(filled);
            text
        })
    }

    /// Which kind of JSON trace it is.
    #[must_use]
    pub fn json_trace(&self) -> Option<JsonTraceFormat> {
        *self.json_trace.get_or_init(|| json_trace::sniff(self.text()))
    }

    /// Which kind of scaling measurements it has.
    #[must_use]
    pub fn measurements(&self) -> Option<ScalingFormat> {
        *self.measurements.get_or_init(|| scaling_data::sniff(self.text(), self.path))
    }
}

/// The folder and the name of a path.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
