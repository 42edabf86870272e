//! [`StoreFolder`]: what lies below a prefix, as a folder; and what an address leads to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use object_store::ObjectMeta;
use parallax_base::{Folder, FolderEntry, ReadError, Source, StableHash, Survey};

use crate::client::{Bucket, Version, bucket};
use crate::file::StoreFile;
use crate::{Address, StoreError};

/// Objects that a listing has at most, as files of a folder on disk.
const MOST_OBJECTS: usize = 1 << 20;
/// How long a listing is used for what follows it, such as opening its files.
const LISTING_TIME: Duration = Duration::from_secs(5);

/// What an address leads to.
pub enum Content {
    /// Objects below it.
    Folder(StoreFolder),
    /// An object: the folder that it lies in, and its name there.
    File(StoreFolder, String),
}

/// What an address leads to.
///
/// # Errors
/// When there is nothing, or the store does not say.
pub fn look(address: &Address) -> Result<Content, StoreError> {
    let folder = StoreFolder::new(address)?;
    // A listing first: what is wrong with the bucket is said in replies to it alone.
    let listing = folder.listing(true)?;
    if !listing.is_empty() {
        let first = listing.iter().find(|(_, version)| version.len > 0);
        if let Some((path, version)) = first
            && let Some(path) = address.below(path)
        {
            // Who may list may not always read: said once here, and not about each file.
            folder.bucket.ranges(&path, version, std::iter::once(0..1).collect())?;
        }
        return Ok(Content::Folder(folder));
    }
    let nothing = || StoreError::Nothing { address: address.to_string() };
    let (parent, name) = address.split().ok_or_else(nothing)?;
    folder.bucket.head(&address.path())?.ok_or_else(nothing)?;
    Ok(Content::File(StoreFolder::new(&parent)?, name))
}

type Listing = Arc<BTreeMap<String, Version>>;

/// The objects below a prefix, as a folder.
pub struct StoreFolder {
    bucket: Arc<Bucket>,
    address: Address,
    name: String,
    /// The only file that it shows, where not all are meant.
    only: Option<String>,
    /// The last listing: when, and whether of all folders inside.
    listed: Mutex<Option<(Instant, bool, Listing)>>,
}

impl StoreFolder {
    /// The folder at an address. Nothing is asked of the store.
    ///
    /// # Errors
    /// When the environment does not say how to reach the store.
    pub fn new(address: &Address) -> Result<Self, StoreError> {
        let (bucket, name) = (bucket(address)?, address.to_string());
        let listed = Mutex::default();
        Ok(Self { bucket, address: address.clone(), name, only: None, listed })
    }

    /// The folder in which a file is alone.
    #[must_use]
    pub fn only(self, file: &str) -> Self {
        let name = format!("{}/{file}", self.address);
        Self { name, only: Some(file.to_owned()), listed: Mutex::default(), ..self }
    }

    /// A number for the content of each of these files, which changes when the file does.
    ///
    /// # Errors
    /// When the store does not say.
    pub fn stamps(&self, files: &[String]) -> Result<Vec<Option<u64>>, StoreError> {
        let is_deep = files.iter().any(|file| file.contains('/'));
        let listing = self.listing(is_deep)?;
        let stamp = |file: &String| {
            listing.get(file).map(|version| StableHash::of(version.tag.as_bytes()).bits())
        };
        Ok(files.iter().map(stamp).collect())
    }

    /// The objects; `is_deep` includes those in folders inside.
    fn listing(&self, is_deep: bool) -> Result<Listing, StoreError> {
        if let Some((at, is_of_all, listing)) = self.last()
            && at.elapsed() < LISTING_TIME
            && (is_of_all || !is_deep)
        {
            return Ok(listing);
        }
        self.list(is_deep)
    }

    fn last(&self) -> Option<(Instant, bool, Listing)> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn list(&self, is_deep: bool) -> Result<Listing, StoreError> {
        let files = match &self.only {
            Some(only) => {
                let path = self.address.below(only);
                let found = path.map(|path| self.bucket.head(&path)).transpose()?.flatten();
                found.into_iter().map(|meta| (only.clone(), meta)).collect()
            }
            None => {
                let listed = self.bucket.list(&self.address, is_deep, MOST_OBJECTS)?;
                listed.ok_or_else(|| StoreError::TooMany {
                    address: self.name.clone(),
                    most: MOST_OBJECTS,
                })?
            }
        };
        let listing = Arc::new(without_markers(files));
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((Instant::now(), is_deep, Arc::clone(&listing)));
        Ok(listing)
    }
}

/// The files; some programs write an empty object for each folder as well.
fn without_markers(files: Vec<(String, ObjectMeta)>) -> BTreeMap<String, Version> {
    let files: BTreeMap<String, Version> =
        files.into_iter().map(|(path, meta)| (path, Version::of(&meta))).collect();
    let is_marker = |path: &str| {
        let start = format!("{path}/");
        files.range(start.clone()..).next().is_some_and(|(next, _)| next.starts_with(&start))
    };
    let keep = |(path, file): &(&String, &Version)| file.len > 0 || !is_marker(path);
    files.iter().filter(keep).map(|(path, file)| (path.clone(), file.clone())).collect()
}

fn failed(error: &StoreError) -> ReadError {
    ReadError::Storage { offset: 0, cause: error.to_string() }
}

impl Folder for StoreFolder {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        let listing = self.listing(false).map_err(|error| failed(&error))?;
        let own = listing.iter().filter(|(path, _)| !path.contains('/'));
        Ok(own.map(|(path, file)| FolderEntry { path: path.clone(), len: file.len }).collect())
    }

    fn survey(&self) -> Result<Survey, ReadError> {
        let listing = self.listing(true).map_err(|error| failed(&error))?;
        let entry =
            |(path, file): (&String, &Version)| FolderEntry { path: path.clone(), len: file.len };
        Ok(Survey { files: listing.iter().map(entry).collect(), not_listed: Vec::new() })
    }

    fn fingerprint(&self) -> Result<u64, ReadError> {
        let listing = self.list(true).map_err(|error| failed(&error))?;
        let hash = listing.iter().fold(StableHash::default(), |hash, (path, file)| {
            let hash = hash.with(path.as_bytes()).with(&[0]).with(&file.len.to_le_bytes());
            hash.with(file.tag.as_bytes()).with(&[0])
        });
        Ok(hash.bits())
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        let Some(object) = self.address.below(path) else { return Ok(None) };
        if self.only.as_ref().is_some_and(|only| only != path) {
            return Ok(None);
        }
        let listed = match self.last() {
            Some((_, is_deep, listing)) if is_deep || !path.contains('/') => {
                Some(listing.get(path).cloned())
            }
            _ => None,
        };
        let version = match listed {
            Some(version) => version,
            None => {
                let found = self.bucket.head(&object).map_err(|error| failed(&error))?;
                found.as_ref().map(Version::of)
            }
        };
        Ok(version.map(|version| -> Source {
            Arc::new(StoreFile::new(Arc::clone(&self.bucket), object, version))
        }))
    }
}
