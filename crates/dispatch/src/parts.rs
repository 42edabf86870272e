//! Large files of measurements read in parts, so that the next part can be fetched, or read by
//! another dispatcher, while one is read.
//!
//! A dispatcher finds where a part ends ([`Dispatcher::part_end`]), it or others read it
//! ([`Dispatcher::read_part`]), and it takes what was read ([`Dispatcher::add_parts`]) and joins the
//! parts when it opens the root.

use std::sync::PoisonError;

use parallax_base::Source;
use parallax_protocol::ErrorReply;
use parallax_service::scaling::{
    EnsembleOptions, RegionTime, ScalingContent, ScalingSource, measurement_part_end,
    read_measurement_part,
};

use crate::Dispatcher;
use crate::errors::read_error;

/// What was read of a file of a root.
pub(crate) struct ReadParts {
    root: String,
    path: String,
    parts: Vec<Vec<u8>>,
}

impl Dispatcher {
    /// Where the last part of the file at `path` of a root ends that begins at `from` or later and
    /// is whole before `to`; `None` when none does.
    ///
    /// # Errors
    /// When there is no such root or file.
    pub fn part_end(
        &self,
        root: &str,
        path: &str,
        from: u64,
        to: u64,
    ) -> Result<Option<u64>, ErrorReply> {
        let source = self.file(root, path)?;
        Ok(measurement_part_end(&source, from..to))
    }

    /// Reads the part between two offsets that [`Dispatcher::part_end`] gave, the front or the end of
    /// the file; empty when it is no part of its own, and the file must be read as a whole.
    ///
    /// # Errors
    /// When there is no such root or file.
    pub fn read_part(
        &self,
        root: &str,
        path: &str,
        from: u64,
        to: u64,
    ) -> Result<Vec<u8>, ErrorReply> {
        let source = self.file(root, path)?;
        Ok(read_measurement_part(&source, path, from..to, &EnsembleOptions::default()))
    }

    /// Takes what was read of the parts of a file, in their order, for when the root is opened.
    pub fn add_parts(&self, root: &str, path: &str, parts: Vec<Vec<u8>>) {
        let mut kept = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|known| known.root != root || known.path != path);
        kept.push(ReadParts { root: root.to_owned(), path: path.to_owned(), parts });
    }

    /// What was read of `source` before, once: it is as large as what it becomes.
    pub(crate) fn take_parts(
        &self,
        root: &str,
        source: &ScalingSource,
        options: &EnsembleOptions,
    ) -> Option<(Source, Vec<Vec<u8>>)> {
        let ScalingContent::File(file) = &source.content else { return None };
        let mut kept = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|read| read.root == root && read.path == source.name)?;
        let read = kept.swap_remove(at);
        // Parts are read with the usual options; other ones ask for reading again.
        let is_usual =
            options.parameters.is_empty() && options.region_time == RegionTime::default();
        is_usual.then(|| (Source::clone(file), read.parts))
    }

    fn file(&self, root: &str, path: &str) -> Result<Source, ErrorReply> {
        let (name, folder) = self.root(root)?;
        let found = folder.open(path).map_err(|error| read_error(&error, path))?;
        found.ok_or_else(|| ErrorReply::new("open", format!("{name} has no file {path}")))
    }
}
