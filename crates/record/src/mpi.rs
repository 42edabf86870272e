//! Calls of MPI, from the library that the program loads first.
//!
//! `parallax_mpi.c` says what its files consist of. It is compiled when a recording begins, or once for all
//! recordings of a sweep, with the compiler of the MPI that the program uses, because handles and
//! numbers differ between libraries.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;

use crate::RecordError;
use crate::events::{Event, What};

const SOURCES: [(&str, &str); 3] = [
    ("parallax_mpi.c", include_str!("../../measure/include/parallax_mpi.c")),
    ("parallax_mpi_functions.h", include_str!("../../measure/include/parallax_mpi_functions.h")),
    ("parallax_mpi_fortran.h", include_str!("../../measure/include/parallax_mpi_fortran.h")),
];

/// What the library is called.
const LIBRARY: &str = "parallax_mpi.so";

/// By this the loader is told what to load first.
const PRELOAD: &str = "LD_PRELOAD";
/// Where the library is to write.
const FOLDER: &str = "PARALLAX_MPI";

/// As `parallax_mpi.c` has them.
const MAGIC: &[u8] = b"PLXMPI\r\n";
const WINDOW: u64 = 1 << 18;
const HEADER: u64 = 64;

/// Bytes that are read at once.
const PIECE: u64 = 1 << 16;

/// What a thread did with MPI.
#[derive(Debug)]
pub(crate) enum Call {
    /// It entered a function of MPI; the addresses are those to which its callers return, the
    /// function's own first.
    Enter { hash: u64, stack: Arc<[u64]> },
    /// It left the function.
    Leave,
    /// Its process is a rank of a job.
    Rank { rank: u64, job: u64 },
    /// One side of a message. `request` is that of a call that does not block.
    Side { side: Side, is_send: bool, request: Option<u64> },
    /// A receive was posted that does not block.
    Posted { request: u64 },
    /// A send that does not block was complete.
    Sent { request: u64 },
    /// A request was cancelled.
    Cancelled { request: u64 },
    /// It took part in a collective operation, which ends now.
    Collective(Collective),
}

/// What a message is known by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    /// The communicator.
    pub(crate) communicator: u64,
    /// The other one's rank in the job; `None` for one of another job.
    pub(crate) partner: Option<u64>,
    pub(crate) tag: i64,
    pub(crate) bytes: u64,
}

/// A part in a collective operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Collective {
    pub(crate) start_nanos: u64,
    /// As OTF2 numbers them.
    pub(crate) operation: u8,
    pub(crate) communicator: u64,
    /// Which of the ranks of the communicator, counted in the order of the job.
    pub(crate) root: Option<u64>,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

/// The library, compiled for the MPI of this machine, in a folder that vanishes with this.
#[derive(Debug)]
pub struct MpiLibrary {
    folder: TempDir,
}

/// The library, and what it writes.
#[derive(Debug)]
pub(crate) struct Mpi {
    library: PathBuf,
    /// Where it was compiled for this recording alone.
    _compiled: Option<MpiLibrary>,
    folder: TempDir,
    files: Vec<Followed>,
    known: HashSet<PathBuf>,
}

/// A file that a thread writes.
#[derive(Debug)]
struct Followed {
    file: File,
    pid: u32,
    tid: u32,
    /// What has been read.
    at: u64,
    /// Whether the thread stopped to record before its end.
    is_cut: bool,
    stacks: HashMap<u64, Arc<[u64]>>,
}

impl MpiLibrary {
    /// What the file is called.
    pub const NAME: &str = LIBRARY;

    /// Compiles it: for one recording, or for many of the same MPI
    /// ([`crate::Recording::mpi_library`]).
    ///
    /// # Errors
    /// When there is no compiler or no MPI, or the folder for temporary files cannot be used.
    pub fn new() -> Result<Self, RecordError> {
        let folder = tempfile::tempdir().map_err(RecordError::Mpi)?;
        let path = folder.path();
        if path.to_string_lossy().contains([' ', ':']) {
            let text = format!(
                "the folder for temporary files, {}, has a blank or a colon in its name; name \
                 another one in TMPDIR",
                path.display()
            );
            return Err(RecordError::Mpi(io::Error::other(text)));
        }
        for (name, text) in SOURCES {
            fs::write(path.join(name), text).map_err(RecordError::Mpi)?;
        }
        let options = ["-O1", "-fPIC", "-fvisibility=hidden", "-ftls-model=initial-exec"];
        let compiler = named("MPICC", "mpicc");
        run(path, &compiler, &[&options[..], &["-pthread", "-c", "parallax_mpi.c"]].concat())?;
        // Not by the compiler of MPI: it would link MPI, which the launcher would have to load.
        let linked = ["-shared", "-pthread", "-o", LIBRARY, "parallax_mpi.o", "-ldl"];
        run(path, &named("CC", "cc"), &linked)?;
        Ok(Self { folder })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(LIBRARY)
    }
}

impl Mpi {
    /// With a library that is there, or one that is compiled now.
    pub(crate) fn new(library: Option<&Path>) -> Result<Self, RecordError> {
        let compiled = library.is_none().then(MpiLibrary::new).transpose()?;
        let library = library.map(Path::to_owned).or_else(|| Some(compiled.as_ref()?.path()));
        let library = library.unwrap_or_default();
        let folder = tempfile::tempdir().map_err(RecordError::Mpi)?;
        let (files, known) = (Vec::new(), HashSet::new());
        Ok(Self { library, _compiled: compiled, folder, files, known })
    }

    /// What the program is to have in its environment.
    pub(crate) fn environment(&self) -> [(String, String); 2] {
        let own = self.library.to_string_lossy().into_owned();
        let preload = match std::env::var(PRELOAD) {
            Ok(before) if !before.is_empty() => format!("{before}:{own}"),
            _ => own,
        };
        let folder = self.folder.path().to_string_lossy().into_owned();
        [(PRELOAD.to_owned(), preload), (FOLDER.to_owned(), folder)]
    }

    /// Whether a thread could not record all of its calls.
    pub(crate) fn is_cut(&self) -> bool {
        self.files.iter().any(|file| file.is_cut)
    }

    /// Takes what was written since the last time.
    pub(crate) fn drain(&mut self, into: &mut Vec<Event>) -> io::Result<()> {
        for entry in fs::read_dir(self.folder.path())? {
            let path = entry?.path();
            // Files of threads have numbers for names; one that is new may have no header yet.
            let is_one = path.extension().and_then(OsStr::to_str);
            let is_one = is_one.is_some_and(|end| end.parse::<u32>().is_ok());
            if is_one
                && !self.known.contains(&path)
                && let Some(file) = Followed::open(&path)?
            {
                self.known.insert(path);
                self.files.push(file);
            }
        }
        for file in &mut self.files {
            file.drain(into)?;
        }
        Ok(())
    }
}

/// A compiler and the options that it always has.
fn named(variable: &str, usual: &str) -> Vec<String> {
    let value = std::env::var(variable).unwrap_or_default();
    let words: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() { vec![usual.to_owned()] } else { words }
}

fn run(folder: &Path, compiler: &[String], arguments: &[&str]) -> Result<(), RecordError> {
    let name = compiler.first().cloned().unwrap_or_default();
    let output = Command::new(&name)
        .args(compiler.iter().skip(1))
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|cause| RecordError::NoMpiCompiler { compiler: name.clone(), cause })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(RecordError::MpiCompiler { compiler: name, said })
}

impl Followed {
    /// `None` while it has no header.
    fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = File::open(path)?;
        let mut header = [0; 24];
        if file.read_exact_at(&mut header, 0).is_err() || !header.starts_with(MAGIC) {
            return Ok(None);
        }
        let number = |at: usize| {
            let bytes = header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_ne_bytes)
        };
        let (pid, tid) = (number(8), number(12));
        Ok(Some(Self { file, pid, tid, at: HEADER, is_cut: false, stacks: HashMap::new() }))
    }

    fn drain(&mut self, into: &mut Vec<Event>) -> io::Result<()> {
        let mut word = [0; 8];
        self.file.read_exact_at(&mut word, 24)?;
        self.is_cut = u64::from_ne_bytes(word) != 0;
        self.file.read_exact_at(&mut word, 16)?;
        let end = u64::from_ne_bytes(word);
        while self.at < end {
            // A record lies in one window, and may lie in two pieces.
            let window_end = (self.at / WINDOW + 1) * WINDOW;
            let piece = PIECE.min(window_end - self.at).min(end - self.at);
            let mut bytes = vec![0; piece as usize];
            self.file.read_exact_at(&mut bytes, self.at)?;
            let words: Vec<u64> = bytes
                .chunks_exact(8)
                .filter_map(|word| word.try_into().ok().map(u64::from_ne_bytes))
                .collect();
            let mut rest = words.as_slice();
            let mut is_over = false;
            while let Some((&head, behind)) = rest.split_first() {
                let (kind, count) = (head as u32, (head >> 32) as usize);
                if kind == 0 {
                    is_over = true;
                    break;
                }
                let Some((record, next)) = behind.split_at_checked(count) else { break };
                self.take(kind, record, into);
                rest = next;
            }
            let read = 8 * (words.len() - rest.len()) as u64;
            if is_over {
                self.at = window_end;
            } else if read == 0 {
                // No record is as long as a piece: the file was changed by something else.
                return Err(io::Error::other("the records of calls of MPI are damaged"));
            } else {
                self.at += read;
            }
        }
        Ok(())
    }

    /// A record of a newer library would be one that this does not know: both are of one version.
    fn take(&mut self, kind: u32, words: &[u64], into: &mut Vec<Event>) {
        if kind == 1 {
            if let Some((&hash, stack)) = words.split_first() {
                self.stacks.insert(hash, stack.into());
            }
            return;
        }
        let Some((nanos, call)) = self.read(kind, words) else { return };
        into.push(Event { nanos, pid: self.pid, tid: self.tid, what: What::Mpi(call) });
    }

    fn read(&self, kind: u32, words: &[u64]) -> Option<(u64, Call)> {
        let side = |words: &[u64]| {
            let &[communicator, partner, tag, bytes, ..] = words else { return None };
            Some(Side { communicator, partner: someone(partner), tag: tag.cast_signed(), bytes })
        };
        let (&nanos, rest) = words.split_first()?;
        let call = match (kind, rest) {
            (2, &[hash]) => Call::Enter { hash, stack: Arc::clone(self.stacks.get(&hash)?) },
            (3, []) => Call::Leave,
            (4, &[rank, _, job]) => Call::Rank { rank, job },
            (5, rest) => Call::Side { side: side(rest)?, is_send: true, request: None },
            (6, rest) => Call::Side { side: side(rest)?, is_send: false, request: None },
            (7, rest) => {
                Call::Side { side: side(rest)?, is_send: true, request: rest.get(4).copied() }
            }
            (8, &[request]) => Call::Posted { request },
            (9, &[request]) => Call::Sent { request },
            (10, rest) => {
                Call::Side { side: side(rest)?, is_send: false, request: rest.get(4).copied() }
            }
            (11, &[request]) => Call::Cancelled { request },
            (12, &[end_nanos, operation, communicator, root, sent, received]) => {
                let collective = Collective {
                    start_nanos: nanos,
                    operation: u8::try_from(operation).ok()?,
                    communicator,
                    root: someone(root),
                    sent,
                    received,
                };
                return Some((end_nanos, Call::Collective(collective)));
            }
            _ => return None,
        };
        Some((nanos, call))
    }
}

/// What a function is called that is in the library, or in another file: subroutines for Fortran have
/// the names of the functions for C, such as `MPI_Send` for `mpi_send_` and `mpi_send_f08_`.
pub(crate) fn routine(image: &str, name: String) -> String {
    let inner = name.strip_prefix("mpi_").and_then(|rest| rest.strip_suffix('_'));
    let inner = inner.map(|inner| inner.strip_suffix("_f08").unwrap_or(inner));
    let parts = inner.filter(|_| image == LIBRARY).and_then(|inner| inner.split_at_checked(1));
    match parts {
        Some((first, rest)) => format!("MPI_{}{rest}", first.to_uppercase()),
        None => name,
    }
}

/// A rank, unless it stands for none.
fn someone(rank: u64) -> Option<u64> {
    (rank != u64::from(u32::MAX)).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of process 7 and thread 8 with records; `windows` have their own.
    fn file(windows: &[&[&[u64]]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (nth, records) in windows.iter().enumerate() {
            bytes.resize(nth * WINDOW as usize, 0);
            if nth == 0 {
                bytes.extend(MAGIC);
                bytes.extend(7_u32.to_ne_bytes());
                bytes.extend(8_u32.to_ne_bytes());
                bytes.resize(HEADER as usize, 0);
            }
            for record in *records {
                let head = record[0] | (record.len() as u64 - 1) << 32;
                bytes.extend(head.to_ne_bytes());
                bytes.extend(record[1..].iter().flat_map(|word| word.to_ne_bytes()));
            }
        }
        let length = bytes.len() as u64;
        bytes[16..24].copy_from_slice(&length.to_ne_bytes());
        bytes
    }

    fn events(bytes: &[u8]) -> Vec<(u64, String)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.8");
        fs::write(&path, bytes).unwrap();
        let mut followed = Followed::open(&path).unwrap().unwrap();
        assert_eq!((followed.pid, followed.tid), (7, 8));
        let mut events = Vec::new();
        followed.drain(&mut events).unwrap();
        assert!(!followed.is_cut);
        let said = |event: Event| {
            let What::Mpi(call) = event.what else { panic!("{event:?}") };
            (event.nanos, format!("{call:?}"))
        };
        events.into_iter().map(said).collect()
    }

    #[test]
    fn records_of_all_windows_are_read_whatever_the_pieces_are() {
        let stack = [1, 99, 0x10, 0x20];
        let mut many: Vec<&[u64]> = vec![&stack];
        let (enter, leave) = ([2, 5, 99], [3, 6]);
        for _ in 0..5000 {
            many.extend([&enter[..], &leave[..]]);
        }
        many.push(&[0]);
        let found = events(&file(&[&many, &[&[5, 7, 1, 2, 3, 4], &[12, 8, 9, 0, 0, 1, 64, 32]]]));
        assert_eq!(found.len(), 10_002);
        assert_eq!(found[0], (5, "Enter { hash: 99, stack: [16, 32] }".to_owned()));
        assert_eq!(found[1], (6, "Leave".to_owned()));
        assert!(found[10_000].1.contains("partner: Some(2), tag: 3, bytes: 4"), "{found:?}");
        assert_eq!(found[10_001].0, 9, "a collective operation is known when it ends");
    }

    #[test]
    fn subroutines_of_the_library_have_the_names_of_functions() {
        let of = |image: &str, name: &str| routine(image, name.to_owned());
        assert_eq!(of(LIBRARY, "mpi_send_"), "MPI_Send");
        assert_eq!(of(LIBRARY, "mpi_comm_split_type_"), "MPI_Comm_split_type");
        assert_eq!(of(LIBRARY, "mpi_comm_split_type_f08_"), "MPI_Comm_split_type");
        assert_eq!(of(LIBRARY, "MPI_Send"), "MPI_Send");
        assert_eq!(of("libmpi_mpifh.so", "mpi_send_"), "mpi_send_");
    }

    #[test]
    fn a_file_that_is_damaged_is_an_error_and_no_endless_loop() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.8");
        let mut bytes = file(&[&[&[3, 6]]]);
        let head = HEADER as usize;
        bytes[head + 4..head + 8].copy_from_slice(&u32::MAX.to_ne_bytes());
        fs::write(&path, &bytes).unwrap();
        let mut followed = Followed::open(&path).unwrap().unwrap();
        let error = followed.drain(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("damaged"), "{error}");
        // One whose thread had no room is not damaged, and is not all.
        let mut bytes = file(&[&[&[3, 6]]]);
        bytes[24] = 1;
        fs::write(&path, &bytes).unwrap();
        let mut followed = Followed::open(&path).unwrap().unwrap();
        let mut events = Vec::new();
        followed.drain(&mut events).unwrap();
        assert!(followed.is_cut && events.len() == 1);
    }
}
