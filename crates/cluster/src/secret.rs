//! [`Secret`]: what the members of a cluster know, and how they show it without telling it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::ClusterError;
use crate::frames::garbled;

/// The first bytes of every connection, from whoever listens; the last one is the version.
const MAGIC: &[u8; 16] = b"parallax cluster";
const VERSION: u8 = 1;

/// How long showing the secret may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Characters of a secret at least.
const LEAST: usize = 16;

/// What all members of a cluster know: the content of a file that only their user may read.
#[derive(Clone)]
pub struct Secret {
    file: PathBuf,
    key: Vec<u8>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret({})", self.file.display())
    }
}

/// 32 bytes that cannot be guessed.
fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

impl Secret {
    /// The secret in a file.
    ///
    /// # Errors
    /// When the file cannot be read, when others may read it, or when it is too short to be secret.
    pub fn read(file: &Path) -> Result<Self, ClusterError> {
        let failed = |why: String| ClusterError::Secret { file: file.to_owned(), why };
        let open = File::open(file).map_err(|error| failed(error.to_string()))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let metadata = open.metadata().map_err(|error| failed(error.to_string()))?;
            if metadata.permissions().mode() & 0o077 != 0 {
                let why = "other users may read or write it; restrict its permissions (chmod 600)";
                return Err(failed(why.to_owned()));
            }
        }
        let mut text = String::new();
        open.take(1 << 16).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
        let key = text.trim().as_bytes().to_vec();
        if key.len() < LEAST {
            let why = format!("it has {} characters; a token needs at least {LEAST}", key.len());
            return Err(failed(why));
        }
        Ok(Self { file: file.to_owned(), key })
    }

    /// The secret in a file, which is written first where it is not there.
    ///
    /// # Errors
    /// As [`Secret::read`], and when the file cannot be written.
    pub fn read_or_make(file: &Path) -> Result<Self, ClusterError> {
        let failed = |error: &io::Error| ClusterError::Secret {
            file: file.to_owned(),
            why: format!("it cannot be written: {error}"),
        };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        match options.open(file) {
            Ok(mut new) => {
                let bytes = random().map_err(|error| failed(&error))?;
                let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let written = new.write_all(format!("{text}\n").as_bytes());
                if let Err(error) = written.and_then(|()| new.sync_all()) {
                    // Half a secret is none.
                    let _ = fs::remove_file(file);
                    return Err(failed(&error));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&error)),
        }
        Self::read(file)
    }

    /// Where it was read.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn proof(&self, who: &[u8], theirs: &[u8], ours: &[u8]) -> io::Result<Hmac<Sha256>> {
        let mut proof = Hmac::<Sha256>::new_from_slice(&self.key)
            .map_err(|_| garbled("the token cannot be used"))?;
        [&MAGIC[..], &[VERSION], who, theirs, ours].into_iter().for_each(|part| proof.update(part));
        Ok(proof)
    }

    /// Whether whoever has connected knows the secret; shows that this side does.
    pub(crate) fn ask(&self, stream: &TcpStream) -> io::Result<bool> {
        let mut stream = Until { stream, end: Instant::now() + PATIENCE };
        let ours = random()?;
        stream.write_all(MAGIC)?;
        stream.write_all(&[VERSION])?;
        stream.write_all(&ours)?;
        let (mut theirs, mut proof) = ([0; 32], [0; 32]);
        stream.read_exact(&mut theirs)?;
        stream.read_exact(&mut proof)?;
        if self.proof(b"member", &theirs, &ours)?.verify_slice(&proof).is_err() {
            stream.write_all(&[0])?;
            return Ok(false);
        }
        let shown = self.proof(b"scheduler", &theirs, &ours)?.finalize().into_bytes();
        stream.write_all(&[1])?;
        stream.write_all(&shown)?;
        Ok(true)
    }

    /// Shows whoever listens that this side knows the secret, and asks the same of it.
    pub(crate) fn show(&self, stream: &TcpStream) -> io::Result<Shown> {
        let mut stream = Until { stream, end: Instant::now() + PATIENCE };
        let mut magic = [0; 17];
        stream.read_exact(&mut magic)?;
        if magic[..16] != MAGIC[..] {
            return Ok(Shown::Other);
        }
        if magic[16] != VERSION {
            return Ok(Shown::OtherVersion);
        }
        let (ours, mut theirs) = (random()?, [0; 32]);
        stream.read_exact(&mut theirs)?;
        stream.write_all(&ours)?;
        let shown = self.proof(b"member", &ours, &theirs)?.finalize().into_bytes();
        stream.write_all(&shown)?;
        let (mut answer, mut proof) = ([0; 1], [0; 32]);
        stream.read_exact(&mut answer)?;
        if answer != [1] {
            return Ok(Shown::Refused);
        }
        stream.read_exact(&mut proof)?;
        let is_right = self.proof(b"scheduler", &ours, &theirs)?.verify_slice(&proof).is_ok();
        Ok(if is_right { Shown::Accepted } else { Shown::Refused })
    }
}

/// A connection that is read and written until a moment, however slowly the other side does its part.
struct Until<'s> {
    stream: &'s TcpStream,
    end: Instant,
}

impl Until<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// What came of showing the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Accepted,
    /// The other side knows another secret.
    Refused,
    /// Something else listens there.
    Other,
    /// A scheduler of another version.
    OtherVersion,
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn secret(folder: &Path, name: &str) -> Secret {
        Secret::read_or_make(&folder.join(name)).unwrap()
    }

    /// What a member finds, and what whoever listens finds.
    fn meet(member: &Secret, scheduler: &Secret) -> (Shown, bool) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| scheduler.ask(&listener.accept().unwrap().0).unwrap());
            let shown = member.show(&TcpStream::connect(address).unwrap()).unwrap();
            (shown, asked.join().unwrap())
        })
    }

    #[test]
    fn members_of_one_cluster_know_each_other_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (secret(folder.path(), "one"), secret(folder.path(), "other"));
        assert_eq!(meet(&one, &secret(folder.path(), "one")), (Shown::Accepted, true));
        assert_eq!(meet(&other, &one), (Shown::Refused, false));
    }

    #[test]
    fn who_listens_without_the_secret_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let member = secret(folder.path(), "one");
        // One that accepts everybody, and one that speaks something else.
        let mut accepting = [&MAGIC[..], &[VERSION], &[7; 32], &[1]].concat();
        accepting.extend([0; 32]);
        let cases =
            [(accepting, Shown::Refused), (b"HTTP/1.1 400 Bad Request\r\n".to_vec(), Shown::Other)];
        for (says, expected) in cases {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let shown = std::thread::scope(|scope| {
                let says = &says;
                scope.spawn(move || {
                    let (mut stream, _) = listener.accept().unwrap();
                    stream.write_all(says).unwrap();
                    // Until the member is gone.
                    let _ = stream.read_to_end(&mut Vec::new());
                });
                member.show(&TcpStream::connect(address).unwrap()).unwrap()
            });
            assert_eq!(shown, expected);
        }
    }

    #[test]
    fn files_that_hold_no_secret_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        assert!(Secret::read(&file).is_err(), "there is none");
        fs::write(&file, "short\n").unwrap();
        assert!(Secret::read(&file).unwrap_err().to_string().contains(&file.display().to_string()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let text = "long enough to be a token\n";
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
            let error = Secret::read_or_make(&file).unwrap_err().to_string();
            assert!(error.contains("other users may read"), "{error}");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            Secret::read_or_make(&file).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text, "it is not written anew");
        }
    }
}
