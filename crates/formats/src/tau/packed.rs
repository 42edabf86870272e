//! `.ppk`: the packed profile of ParaProf, versions 1 and 2, gzip or not.

use std::sync::Arc;

use parallax_base::{ByteSource, Issues, Limits, Place, Severity, Stage, read_range};

use super::records::{EventRow, Facts, Profiles, Thread, ThreadId, Timer, TimerRow};
use crate::FormatError;
use crate::compressed::{self, Compression};
use crate::stream::read_all;

/// `PPK` as Java writes characters: 16 bits each, big endian.
const MAGIC: [u8; 6] = [0, b'P', 0, b'P', 0, b'K'];

/// The newest version whose records are known; a newer one may say that it is compatible.
const NEWEST: i32 = 2;

/// Whether a source is a packed profile. Decompresses a few bytes where it is compressed.
#[must_use]
pub fn is_packed(source: &dyn ByteSource) -> bool {
    let Ok(head) = read_range(source, 0, source.len().min(MAGIC.len() as u64)) else {
        return false;
    };
    if Compression::of(&head) == Compression::Plain {
        return *head == MAGIC;
    }
    let mut found = [0; MAGIC.len()];
    let mut filled = 0;
    let Ok(mut stream) = compressed::open(source) else { return false };
    while let Some(rest) = found.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match stream.read(rest) {
            Ok(n) if n > 0 => filled += n,
            _ => return false,
        }
    }
    found == MAGIC
}

/// Reads a packed profile whole. Threads behind damage are left out.
///
/// # Errors
/// When the file is no packed profile, of an unknown version, or damaged before its threads.
pub fn read_packed(
    source: &dyn ByteSource,
    file: &str,
    limits: &Limits,
    issues: &mut Issues,
) -> Result<Profiles, FormatError> {
    let fail = |cause| FormatError::read(file, cause);
    let head = read_range(source, 0, source.len().min(4)).map_err(fail)?;
    if Compression::of(&head) == Compression::Plain {
        limits
            .metadata("a packed profile", source.len())
            .map_err(|cause| FormatError::Limit { file: file.to_owned(), cause })?;
        let bytes = read_range(source, 0, source.len()).map_err(fail)?;
        return Reader { bytes: &bytes, at: 0, file }.profiles(issues);
    }
    let mut stream = compressed::open(source).map_err(fail)?;
    let bytes = read_all(&mut *stream, limits.metadata_bytes).map_err(fail)?;
    let Some(bytes) = bytes else {
        let (wanted, limit) = (limits.metadata_bytes.saturating_add(1), limits.metadata_bytes);
        let cause = parallax_base::LimitExceeded { what: "a packed profile", wanted, limit };
        return Err(FormatError::Limit { file: file.to_owned(), cause });
    };
    Reader { bytes: &bytes, at: 0, file }.profiles(issues)
}

/// The bytes of an uncompressed file from front to back.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    file: &'b str,
}

impl<'b> Reader<'b> {
    fn take(&mut self, len: usize, what: &str) -> Result<&'b [u8], FormatError> {
        let end = self.at.checked_add(len);
        let Some(found) = end.and_then(|end| self.bytes.get(self.at..end)) else {
            return Err(self.fault(format!("the file ends inside {what}")));
        };
        self.at += len;
        Ok(found)
    }

    fn fault(&self, what: String) -> FormatError {
        FormatError::malformed(self.file, self.at as u64, what)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], FormatError> {
        let bytes = self.take(N, what)?;
        bytes.first_chunk::<N>().copied().ok_or_else(|| self.fault(format!("no {what}")))
    }

    fn i32(&mut self, what: &str) -> Result<i32, FormatError> {
        Ok(i32::from_be_bytes(self.array(what)?))
    }

    /// A number that a damaged file may have made NaN: those count as 0.
    fn f64(&mut self, what: &str) -> Result<f64, FormatError> {
        let value = f64::from_be_bytes(self.array(what)?);
        Ok(if value.is_finite() { value } else { 0.0 })
    }

    /// A length in bytes.
    fn size(&mut self, what: &str) -> Result<usize, FormatError> {
        let size = self.i32(what)?;
        usize::try_from(size).map_err(|_| self.fault(format!("{size} bytes of {what}")))
    }

    /// A count of records of at least `least` bytes, checked against what is left of the file.
    fn count(&mut self, least: usize, what: &str) -> Result<usize, FormatError> {
        let count = self.i32(what)?;
        let left = self.bytes.len() - self.at;
        usize::try_from(count).ok().filter(|&n| n.saturating_mul(least) <= left).ok_or_else(|| {
            self.fault(format!("{count} {what} do not fit into the {left} bytes that are left"))
        })
    }

    /// A string of `DataOutputStream.writeUTF`.
    fn utf(&mut self, what: &str) -> Result<String, FormatError> {
        let len = u16::from_be_bytes(self.array(what)?);
        Ok(modified_utf8(self.take(usize::from(len), what)?))
    }

    fn names(&mut self, what: &str) -> Result<Vec<Arc<str>>, FormatError> {
        let count = self.count(2, what)?;
        (0..count).map(|_| Ok(self.utf(what)?.trim().into())).collect()
    }

    fn facts(&mut self, what: &str) -> Result<Facts, FormatError> {
        let count = self.count(4, what)?;
        (0..count).map(|_| Ok((self.utf(what)?, self.utf(what)?))).collect()
    }

    fn thread_id(&mut self) -> Result<ThreadId, FormatError> {
        let mut part = || -> Result<u32, FormatError> {
            let number = self.i32("a thread")?;
            u32::try_from(number).map_err(|_| self.fault(format!("a thread has number {number}")))
        };
        Ok(ThreadId { node: part()?, context: part()?, thread: part()? })
    }

    fn profiles(mut self, issues: &mut Issues) -> Result<Profiles, FormatError> {
        let magic = self.bytes.get(..MAGIC.len()).unwrap_or(self.bytes);
        if magic != MAGIC {
            return Err(FormatError::NotThisFormat {
                file: self.file.to_owned(),
                expected: "a packed profile of TAU",
                found: String::from_utf8_lossy(magic).into_owned(),
            });
        }
        self.at = MAGIC.len();
        let version = self.i32("the version")?;
        let compatible = self.i32("the version")?;
        if version < 1 || compatible > NEWEST {
            return Err(FormatError::Unsupported {
                file: self.file.to_owned(),
                what: format!("a packed profile of version {version}"),
                hint: "versions 1 and 2 are read; pack the profiles with another paraprof --pack",
            });
        }
        let mut out = Profiles::default();
        let mut thread_facts = Vec::new();
        if version == 1 {
            self.skip_block()?;
        } else {
            thread_facts = self.header(&mut out, issues)?;
        }
        out.metrics = self.names("metrics")?;
        out.groups = self.names("groups")?;
        let timers = self.count(6, "timers")?;
        for _ in 0..timers {
            out.timers.push(self.timer(out.groups.len())?);
        }
        out.events = self.names("user events")?;
        if let Err(error) = self.threads(&mut out, issues) {
            let place = Place::Byte { file: self.file.to_owned(), offset: self.at as u64 };
            let whole = out.threads.len();
            issues.report(Severity::Error, Stage::Read, "threads-lost", place, || {
                format!("{error}; {whole} threads before the damage are kept")
            });
        }
        put_in_order(&mut out.threads, issues);
        for (id, facts) in thread_facts {
            if let Ok(at) = out.threads.binary_search_by_key(&id, |thread| thread.id)
                && let Some(thread) = out.threads.get_mut(at)
            {
                thread.metadata = facts;
            }
        }
        Ok(out)
    }

    fn skip_block(&mut self) -> Result<(), FormatError> {
        let size = self.size("the header")?;
        self.take(size, "the header").map(drop)
    }

    /// The metadata of version 2. Its size is stored, so a newer version may append to it.
    fn header(
        &mut self,
        out: &mut Profiles,
        issues: &mut Issues,
    ) -> Result<Vec<(ThreadId, Facts)>, FormatError> {
        let size = self.size("the metadata")?;
        let start = self.at;
        let end = start.checked_add(size).filter(|&end| end <= self.bytes.len());
        let end =
            end.ok_or_else(|| self.fault(format!("{size} bytes of metadata reach outside")))?;
        let mut parts = || -> Result<_, FormatError> {
            self.skip_block()?;
            let trial = self.facts("facts")?;
            let threads = self.count(16, "threads with metadata")?;
            let threads: Result<Vec<_>, FormatError> =
                (0..threads).map(|_| Ok((self.thread_id()?, self.facts("facts")?))).collect();
            Ok((trial, threads?))
        };
        let read = parts();
        let place = Place::Byte { file: self.file.to_owned(), offset: start as u64 };
        let found = match read {
            Ok((trial, threads)) => {
                out.metadata = trial;
                threads
            }
            Err(error) => {
                issues.report(Severity::Error, Stage::Read, "metadata-lost", place, || {
                    format!("{error}; what is known besides numbers is left out")
                });
                Vec::new()
            }
        };
        self.at = end;
        Ok(found)
    }

    fn timer(&mut self, num_groups: usize) -> Result<Timer, FormatError> {
        let name = self.utf("a timer")?;
        let count = self.count(4, "groups of a timer")?;
        let mut groups = Vec::with_capacity(count);
        for _ in 0..count {
            let group = self.i32("a group")?;
            groups.extend(u32::try_from(group).ok().filter(|&g| (g as usize) < num_groups));
        }
        Ok(Timer { name: name.trim().into(), groups })
    }

    fn threads(&mut self, out: &mut Profiles, issues: &mut Issues) -> Result<(), FormatError> {
        let threads = self.count(20, "threads")?;
        for _ in 0..threads {
            let thread = self.thread(out, issues)?;
            out.threads.push(thread);
        }
        let left = self.bytes.len() - self.at;
        if left > 0 {
            let place = Place::Byte { file: self.file.to_owned(), offset: self.at as u64 };
            issues.report(Severity::Note, Stage::Read, "bytes-behind", place, || {
                format!("{left} bytes follow behind the last thread; they are not read")
            });
        }
        Ok(())
    }

    fn thread(&mut self, of: &Profiles, issues: &mut Issues) -> Result<Thread, FormatError> {
        let mut thread = Thread::new(self.thread_id()?);
        let metrics = of.metrics.len();
        let width = metrics.saturating_mul(16).saturating_add(20);
        let rows = self.count(width, "timers of a thread")?;
        let mut strange = 0_u64;
        for _ in 0..rows {
            let timer = self.i32("a timer of a thread")?;
            let (calls, subroutines) = (self.f64("calls")?, self.f64("calls")?);
            let timer = u32::try_from(timer).ok().filter(|&t| (t as usize) < of.timers.len());
            let Some(timer) = timer else {
                self.take(metrics.saturating_mul(16), "values")?;
                strange += 1;
                continue;
            };
            thread.timers.push(TimerRow { timer, calls, subroutines });
            for _ in 0..metrics {
                thread.values.push(self.f64("values")?);
                thread.values.push(self.f64("values")?);
            }
        }
        let rows = self.count(40, "user events of a thread")?;
        for _ in 0..rows {
            let event = self.i32("a user event of a thread")?;
            let count = f64::from(self.i32("a user event of a thread")?);
            // The order of the file is not that of the text: min, max, mean, sum of squares.
            let what = "a user event of a thread";
            let (min, max) = (self.f64(what)?, self.f64(what)?);
            let (mean, sum_of_squares) = (self.f64(what)?, self.f64(what)?);
            let event = u32::try_from(event).ok().filter(|&e| (e as usize) < of.events.len());
            let Some(event) = event else {
                strange += 1;
                continue;
            };
            thread.events.push(EventRow { event, count, max, min, mean, sum_of_squares });
        }
        if strange > 0 {
            let place = Place::Byte { file: self.file.to_owned(), offset: self.at as u64 };
            issues.report(Severity::Error, Stage::Read, "row-unknown", place, || {
                format!("{strange} rows name timers or user events that do not exist; left out")
            });
        }
        Ok(thread)
    }
}

/// Threads in the order of their ids, each once.
fn put_in_order(threads: &mut Vec<Thread>, issues: &mut Issues) {
    if threads.is_sorted_by(|a, b| a.id < b.id) {
        return;
    }
    threads.sort_by_key(|thread| thread.id);
    let before = threads.len();
    threads.dedup_by_key(|thread| thread.id);
    let lost = before - threads.len();
    if lost > 0 {
        issues.report(Severity::Error, Stage::Read, "thread-repeated", Place::Whole, || {
            format!("{lost} profiles are of threads that have one already; left out")
        });
    }
}

/// UTF-8 as Java writes it: NUL in two bytes, characters beyond 16 bits as two surrogates of three
/// bytes each. What is neither becomes U+FFFD.
fn modified_utf8(bytes: &[u8]) -> String {
    let units = Units { bytes };
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// The 16-bit units of a string in modified UTF-8.
struct Units<'b> {
    bytes: &'b [u8],
}

impl Iterator for Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        const STRANGE: u16 = 0xfffd;
        let low = |byte: u8| u16::from(byte & 0x3f);
        let (unit, len) = match *self.bytes {
            [] => return None,
            [a @ ..0x80, ..] => (u16::from(a), 1),
            [a @ 0xc0..0xe0, b @ 0x80..0xc0, ..] => (u16::from(a & 0x1f) << 6 | low(b), 2),
            [a @ 0xe0..0xf0, b @ 0x80..0xc0, c @ 0x80..0xc0, ..] => {
                (u16::from(a & 0x0f) << 12 | low(b) << 6 | low(c), 3)
            }
            _ => (STRANGE, 1),
        };
        self.bytes = self.bytes.get(len..).unwrap_or_default();
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_java_are_read() {
        let java =
            [b'a', 0xc0, 0x80, 0xc3, 0xa4, 0xe2, 0x82, 0xac, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80];
        assert_eq!(modified_utf8(&java), "a\0ä€😀");
        // A lone surrogate, a cut character, a byte that starts nothing.
        assert_eq!(modified_utf8(&[0xed, 0xa0, 0xbd, b'x']), "\u{fffd}x");
        assert_eq!(modified_utf8(&[b'x', 0xe2, 0x82]), "x\u{fffd}\u{fffd}");
        assert_eq!(modified_utf8(&[0xff]), "\u{fffd}");
    }
}
