//! Traces that must be converted before questions can be asked: small ones in memory, others once,
//! into the cache.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use parallax_base::{Folder, MemorySink, StableHash};
use parallax_native::{DiskFolder, DiskSink, discard, remove_abandoned};
use parallax_service::{
    ARCHIVE_VERSION, Control, ConversionError, ConvertOptions, DataContent, ImportError,
    OpenLimits, TraceInput, convert as convert_trace, open, recognise_file,
};

use crate::Reading;
use crate::location::{around, canonical, is_in_store, parent, stamps};
use crate::room::{self, Needed};

/// Files up to this size are converted in memory each time: that is faster than it can be noticed.
const SMALL_BYTES: u64 = 8 << 20;

/// As [`SMALL_BYTES`], for compressed files: they may be a thousand times as long as they look.
const SMALL_COMPRESSED_BYTES: u64 = 256 << 10;

/// Why there is no archive of a trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// What the file holds is not known.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The file is no trace.
    #[error("{path} is no trace any more")]
    NotATrace {
        /// Path of the file.
        path: String,
    },
    /// The trace cannot be converted.
    #[error(transparent)]
    Conversion(#[from] ConversionError),
    /// The disk of the cache is full.
    #[error("{what}: {why}")]
    Full {
        /// What cannot be done.
        what: String,
        /// How much room is needed and there, and what to do.
        why: String,
    },
    /// The archive is made and cannot be put where it belongs.
    #[error("cannot write {path}: {cause}")]
    Write {
        /// Path of the archive.
        path: String,
        /// What the system said.
        cause: io::Error,
    },
    /// The folder of the trace cannot be reached.
    #[error("cannot open {path}: {cause}")]
    Location {
        /// Path of the trace.
        path: String,
        /// Why.
        cause: io::Error,
    },
}

/// The trace at `path` as an archive; see [`archive_of`].
///
/// # Errors
/// When there is no trace at `path`, or it cannot be converted.
pub fn archive_at(path: &Path, control: &Control) -> Result<Arc<dyn Folder>, ArchiveError> {
    let shown = path.display().to_string();
    let found = around(path, Reading::Mapped);
    let (folder, name) =
        found.map_err(|cause| ArchiveError::Location { path: shown.clone(), cause })?;
    match recognise_file(&folder, &name)?.content {
        DataContent::Trace(input) => archive_of(&input, &shown, control),
        _ => Err(ArchiveError::NotATrace { path: shown }),
    }
}

/// A trace in one file that is read once from front to back need not stay in memory.
#[must_use]
pub fn streamed(input: &TraceInput, file: &Path) -> TraceInput {
    // Objects of a store are not mapped.
    if !input.is_stream() || is_in_store(file) {
        return input.clone();
    }
    let folder = DiskFolder::streamed(parent(file));
    input.clone().within(Arc::new(folder))
}

/// The trace in a file called `name` as an archive: in memory, or in the cache. The paths of `input`
/// are relative to the folder of that file.
///
/// # Errors
/// When the trace cannot be converted, or the disk of the cache is full.
pub fn archive_of(
    input: &TraceInput,
    name: &str,
    control: &Control,
) -> Result<Arc<dyn Folder>, ArchiveError> {
    let file = PathBuf::from(name);
    let input = streamed(input, &file);
    let title = title(&file);
    let (options, limits) = (ConvertOptions::default(), OpenLimits::default());
    let cached = cache_folder().map(|cache| cache.join(cache_name(&file, &input)));
    // An anchor is small whatever the trace is, and objects may be far away.
    let is_small = !input.is_anchor() && !is_in_store(&file) && {
        let size = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
        size <= small_bytes(&file)
    };
    if let Some(archive) = cached.filter(|_| !is_small) {
        archive.parent().map(remove_abandoned);
        let kept: Arc<dyn Folder> = Arc::new(DiskFolder::new(&archive));
        // What another version of this program left, or somebody damaged, is recreated.
        if open(&kept, &limits).is_ok() {
            return Ok(kept);
        }
        if into_cache(&input, &title, &archive, &options, control)? {
            return Ok(kept);
        }
    }
    let sink = MemorySink::new();
    convert_trace(&input, &title, Arc::new(sink.clone()), &options, control)?;
    Ok(Arc::new(sink.into_folder(file.display().to_string())))
}

/// Converts into the cache; `false` where nothing can be written there.
fn into_cache(
    input: &TraceInput,
    title: &str,
    archive: &Path,
    options: &ConvertOptions,
    control: &Control,
) -> Result<bool, ArchiveError> {
    let parent = archive.parent().unwrap_or(Path::new("."));
    let is_ready =
        std::fs::create_dir_all(parent).is_ok() && (!archive.exists() || discard(archive).is_ok());
    let Some(sink) = is_ready.then(|| DiskSink::new(archive).ok()).flatten() else {
        return Ok(false);
    };
    let sink = Arc::new(sink);
    if let Err(error) = convert_trace(input, title, Arc::clone(&sink) as _, options, control) {
        if !room::comes_from_full(&error) {
            return Err(error.into());
        }
        let remedy = "free space there, or set PARALLAX_CACHE to a folder on another disk";
        let what = format!("cannot keep the archive of {title} in the cache {}", parent.display());
        let needed = Needed::foreseen(sink.written_bytes());
        // What was written until then goes first.
        drop(sink);
        return Err(ArchiveError::Full { what, why: room::explain(archive, needed, remedy) });
    }
    // Another process may have been faster; what it made is the same.
    if let Err(cause) = sink.publish()
        && !archive.is_dir()
    {
        return Err(ArchiveError::Write { path: archive.display().to_string(), cause });
    }
    Ok(true)
}

/// What the archive of a trace is called.
#[must_use]
pub fn title(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Up to which size a file is small.
fn small_bytes(file: &Path) -> u64 {
    use std::io::Read as _;
    let mut magic = [0; 4];
    let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut magic));
    let is_compressed = matches!(magic, [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd]);
    if read.is_ok() && is_compressed { SMALL_COMPRESSED_BYTES } else { SMALL_BYTES }
}

/// Where archives of opened traces are kept: PARALLAX_CACHE, or the user's cache folder.
#[must_use]
pub fn cache_folder() -> Option<PathBuf> {
    let own = std::env::var_os("PARALLAX_CACHE").map(PathBuf::from);
    let users =
        || std::env::var_os("XDG_CACHE_HOME").map(|folder| PathBuf::from(folder).join("parallax"));
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/parallax"));
    own.or_else(users).or_else(home)
}

/// Names the archive by what it is made of: a trace of which any file changes gets another one.
fn cache_name(file: &Path, input: &TraceInput) -> String {
    let place = canonical(file).unwrap_or_else(|_| file.to_owned());
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut files = input.files().unwrap_or_default();
    if files.is_empty() {
        files.push(title(file));
    }
    let parts: Vec<InputFile> = match stamps(folder, &files) {
        Some(stamps) => {
            let part = |(path, stamp): (&String, Option<u64>)| InputFile {
                path: folder.join(path),
                len: stamp,
                modified_nanos: None,
            };
            files.iter().zip(stamps).map(part).collect()
        }
        None => files.iter().map(|path| InputFile::of(folder.join(path))).collect(),
    };
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let version = ARCHIVE_VERSION * CONVERSIONS + CONVERSION;
    format!("{name}-{:016x}.parallax", cache_key(version, &place, &parts))
}

/// Goes up when conversions of the same layout give other contents, so that traces are converted
/// again: 1 omits the spans for which Kineto recorded.
const CONVERSION: u32 = 1;
/// More than there will be conversions of one layout.
const CONVERSIONS: u32 = 1000;

/// A file that an archive is made of, as it is now.
struct InputFile {
    path: PathBuf,
    /// Its length, or what stands for its content in a store; `None` where it cannot be seen.
    len: Option<u64>,
    /// When it was changed, in nanoseconds since 1970.
    modified_nanos: Option<u128>,
}

impl InputFile {
    fn of(path: PathBuf) -> Self {
        let metadata = std::fs::metadata(&path).ok();
        let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
        let since = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let len = metadata.map(|metadata| metadata.len());
        Self { path, len, modified_nanos: since.map(|at| at.as_nanos()) }
    }
}

/// The same for the same files whatever compiler made the program, so that a new version finds what
/// an older one converted. `version` is that of archives: older ones can be read, but say less.
fn cache_key(version: u32, place: &Path, parts: &[InputFile]) -> u64 {
    // No path contains the byte 0, so that none runs into what follows.
    let text = |hash: StableHash, bytes: &[u8]| hash.with(bytes).with(&[0]);
    let number = |value: Option<u128>| value.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let mut hash = text(StableHash::default(), version.to_string().as_bytes());
    hash = text(hash, place.as_os_str().as_encoded_bytes());
    for part in parts {
        hash = text(hash, part.path.as_os_str().as_encoded_bytes());
        hash = text(hash, number(part.len.map(u128::from)).as_bytes());
        hash = text(hash, number(part.modified_nanos).as_bytes());
    }
    hash.bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_named_the_same_by_every_version_of_the_program() {
        let part =
            |path: &str, len, modified_nanos| InputFile { path: path.into(), len, modified_nanos };
        let place = Path::new("/runs/traces.otf2");
        let parts = [
            part("/runs/traces.otf2", Some(4_096), Some(1_700_000_000_000_000_000)),
            part("/runs/traces.def", None, None),
        ];
        let key = cache_key(3, place, &parts);
        // Calculated from the text of the key alone (FNV-1a, 64 bits).
        assert_eq!(key, 0xbdd9_2994_5701_cb78);
        let mut newer = parts;
        newer[1].len = Some(0);
        assert_ne!(cache_key(3, place, &newer), key);
        assert_ne!(cache_key(4, place, &newer[..1]), cache_key(3, place, &newer[..1]));
    }
}
