//! What a path leads to: on disk, or in an object store. Nothing else knows what `s3://` is.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::Folder;
use parallax_native::{Abandoned, Left, file_stamp, is_abandoned, is_being_written};

use crate::Reading;
use crate::folders::FileAlone;

/// What a path leads to.
pub enum Located {
    /// Files in and below a folder.
    Folder(Arc<dyn Folder>),
    /// A file: the folder that it lies in, and its name there.
    File(Arc<dyn Folder>, String),
}

/// What is at `path`.
///
/// # Errors
/// When there is nothing, or it may not be looked at.
pub fn locate(path: &Path, reading: Reading) -> io::Result<Located> {
    if let Some(address) = address(path)? {
        return in_store::locate(&address);
    }
    if std::fs::metadata(path).map_err(|error| or_begun(path, error))?.is_dir() {
        // The tables in the hidden folder of a recording have no end.
        if path.extension().is_some_and(|end| end == "partial")
            && matches!(Abandoned::find(path), Ok(Left::Abandoned(_)))
        {
            return Err(io::Error::other(abandoned(path)));
        }
        return Ok(Located::Folder(Arc::new(reading.folder(path))));
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok(Located::File(Arc::new(reading.folder(parent(path))), name))
}

/// The folder of the file at `path`, and the name of the file in it.
///
/// # Errors
/// When the name is not UTF-8, or no such folder can be reached.
pub fn around(path: &Path, reading: Reading) -> io::Result<(Arc<dyn Folder>, String)> {
    if let Some(address) = address(path)? {
        return in_store::around(&address);
    }
    let no_text = || io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8");
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(no_text)?;
    Ok((Arc::new(reading.folder(parent(path))), name.to_owned()))
}

/// The folder of a path.
pub(crate) fn parent(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// The file at `path` as the only one of a folder: its neighbours were not offered.
///
/// # Errors
/// When no such folder can be reached.
pub(crate) fn alone(path: &Path, name: &str, reading: Reading) -> io::Result<Arc<dyn Folder>> {
    match address(path)? {
        Some(address) => in_store::alone(&address),
        None => Ok(Arc::new(FileAlone::new(path, name.to_owned(), reading))),
    }
}

/// A path by which the same thing is always called: absolute and without links.
///
/// # Errors
/// When there is nothing on disk, or the path is no address in a store.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    match address(path)? {
        Some(address) => in_store::canonical(&address),
        None => path.canonicalize().map_err(|error| or_begun(path, error)),
    }
}

/// Why there is nothing at `path`: it may be begun and not complete.
fn or_begun(path: &Path, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    if is_abandoned(path) {
        return io::Error::new(io::ErrorKind::NotFound, abandoned(path));
    }
    if !is_being_written(path) {
        return error;
    }
    let why = format!(
        "it is not complete yet: another process is writing it; wait until that has ended, or look at a \
         recording while it runs with `parallax open --live {}`",
        path.display()
    );
    io::Error::new(io::ErrorKind::NotFound, why)
}

/// What to do about a recording whose recorder ended early.
fn abandoned(path: &Path) -> String {
    format!(
        "it is not complete, because its recorder ended early; `parallax record --recover {}` makes an \
         archive of what had been recorded",
        path.display()
    )
}

/// A number that changes when what is at `path` does: of names, sizes and times on disk, and of what
/// a store calls the contents of its objects.
///
/// # Errors
/// When it cannot be looked at.
pub fn fingerprint(path: &Path) -> io::Result<u64> {
    match locate(path, Reading::Streamed)? {
        Located::Folder(folder) => folder.fingerprint().map_err(io::Error::other),
        Located::File(..) if is_in_store(path) => {
            alone(path, "", Reading::Streamed)?.fingerprint().map_err(io::Error::other)
        }
        Located::File(..) => file_stamp(path),
    }
}

/// For each of some files of the folder at `folder`, a number that changes when its content does;
/// `None` where there is no such folder in a store.
pub(crate) fn stamps(folder: &Path, files: &[String]) -> Option<Vec<Option<u64>>> {
    in_store::stamps(&address(folder).ok()??, files)
}

/// Whether a path is an address in an object store.
#[must_use]
pub fn is_in_store(path: &Path) -> bool {
    matches!(address(path), Ok(Some(_)))
}

/// What this process asked of object stores so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreTraffic {
    /// Requests, not counting those that were repeated after a failure.
    pub requests: u64,
    /// Bytes of files that were received.
    pub bytes: u64,
}

/// What this process asked of object stores so far.
#[must_use]
pub fn store_traffic() -> StoreTraffic {
    in_store::traffic()
}

/// Refuses a path to which nothing can be written.
///
/// # Errors
/// When it is an address: of stores databases are only read.
pub fn check_output(path: &Path) -> io::Result<()> {
    let Ok(None) = address(path) else {
        let why = format!(
            "{} is in an object store, which is only read; write to a disk, and copy what was \
             written",
            path.display()
        );
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    };
    Ok(())
}

/// The text of an address; `None` for a path on disk.
fn address(path: &Path) -> io::Result<Option<String>> {
    let Some(text) = path.to_str() else { return Ok(None) };
    let Some((scheme, _)) = text.split_once("://") else { return Ok(None) };
    match scheme {
        "s3" => Ok(Some(text.to_owned())),
        // A folder may have a colon at the end of its name.
        _ if path.exists() || !scheme.chars().all(|c| c.is_ascii_alphanumeric()) => Ok(None),
        _ => {
            let why = format!("databases are not read from {scheme}://, only from s3:// and disks");
            Err(io::Error::new(io::ErrorKind::Unsupported, why))
        }
    }
}

#[cfg(feature = "store")]
mod in_store {
    use std::io;
    use std::path::PathBuf;
    use std::sync::Arc;

    use parallax_base::Folder;
    use parallax_store::{Address, Content, StoreError, StoreFolder, look};

    use super::{Located, StoreTraffic};

    pub(super) fn traffic() -> StoreTraffic {
        let parallax_store::Traffic { requests, bytes } = parallax_store::traffic();
        StoreTraffic { requests, bytes }
    }

    pub(super) fn locate(address: &str) -> io::Result<Located> {
        Ok(match look(&Address::parse(address).map_err(failed)?).map_err(failed)? {
            Content::Folder(folder) => Located::Folder(Arc::new(folder)),
            Content::File(folder, name) => Located::File(Arc::new(folder), name),
        })
    }

    pub(super) fn around(address: &str) -> io::Result<(Arc<dyn Folder>, String)> {
        let (folder, name) = split(address)?;
        Ok((Arc::new(folder), name))
    }

    pub(super) fn alone(address: &str) -> io::Result<Arc<dyn Folder>> {
        let (folder, name) = split(address)?;
        Ok(Arc::new(folder.only(&name)))
    }

    pub(super) fn canonical(address: &str) -> io::Result<PathBuf> {
        Ok(PathBuf::from(Address::parse(address).map_err(failed)?.to_string()))
    }

    pub(super) fn stamps(folder: &str, files: &[String]) -> Option<Vec<Option<u64>>> {
        let folder = StoreFolder::new(&Address::parse(folder).ok()?).ok()?;
        folder.stamps(files).ok()
    }

    fn split(address: &str) -> io::Result<(StoreFolder, String)> {
        let address = Address::parse(address).map_err(failed)?;
        let (folder, name) = address.split().ok_or_else(|| {
            let why = format!("{address} is a bucket, and no file");
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })?;
        Ok((StoreFolder::new(&folder).map_err(failed)?, name))
    }

    fn failed(error: StoreError) -> io::Error {
        io::Error::other(error)
    }
}

#[cfg(not(feature = "store"))]
mod in_store {
    use std::io;
    use std::path::PathBuf;
    use std::sync::Arc;

    use parallax_base::Folder;

    use super::{Located, StoreTraffic};

    pub(super) fn traffic() -> StoreTraffic {
        StoreTraffic::default()
    }

    fn absent<T>() -> io::Result<T> {
        let why = "this parallax was built without the feature `store`, which reads object \
                   stores; build it with `--features store`, or copy the files to a disk";
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }

    pub(super) fn locate(_: &str) -> io::Result<Located> {
        absent()
    }

    pub(super) fn around(_: &str) -> io::Result<(Arc<dyn Folder>, String)> {
        absent()
    }

    pub(super) fn alone(_: &str) -> io::Result<Arc<dyn Folder>> {
        absent()
    }

    pub(super) fn canonical(_: &str) -> io::Result<PathBuf> {
        absent()
    }

    pub(super) fn stamps(_: &str, _: &[String]) -> Option<Vec<Option<u64>>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_are_in_a_store() {
        for (path, is_address) in
            [("s3://runs/a", true), ("runs/s3", false), ("/s3://a", false), ("a:b/c", false)]
        {
            assert_eq!(is_in_store(Path::new(path)), is_address, "{path}");
            assert_eq!(check_output(Path::new(path)).is_err(), is_address, "{path}");
        }
        let other = locate(Path::new("gs://runs/a"), Reading::Streamed).err().unwrap();
        assert!(other.to_string().contains("gs://"), "{other}");
    }
}
