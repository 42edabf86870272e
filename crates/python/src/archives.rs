//! [`CachedArchives`]: traces are converted into the user's cache, as the command line does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use parallax_base::{Control, Folder};
use parallax_dispatch::Archives;
use parallax_places::{ArchiveError, DataRoot, archive_at};
use parallax_protocol::ErrorReply;

/// Finds the files of roots on disk, and converts traces there.
#[derive(Clone, Default)]
pub(crate) struct CachedArchives {
    places: Arc<Mutex<BTreeMap<String, DataRoot>>>,
}

impl CachedArchives {
    /// Makes the place of a root known, while it is being opened.
    pub(crate) fn add(&self, root: &str, place: DataRoot) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.insert(root.to_owned(), place);
    }

    /// Forgets the place of a root.
    pub(crate) fn remove(&self, root: &str) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).remove(root);
    }
}

impl Archives for CachedArchives {
    fn archive(
        &self,
        root: &str,
        path: &str,
        control: &Control,
    ) -> Result<Arc<dyn Folder>, ErrorReply> {
        let file = {
            let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.get(root).and_then(|place| place.file(path))
        };
        let gone = || ErrorReply::new("open", format!("{path} is not there any more"));
        archive_at(&file.ok_or_else(gone)?, control).map_err(|error| {
            let is_cancelled =
                control.check().is_err() && matches!(error, ArchiveError::Conversion(_));
            ErrorReply::new(if is_cancelled { "cancelled" } else { "open" }, error.to_string())
        })
    }
}
