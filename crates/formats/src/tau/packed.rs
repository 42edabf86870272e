//! `.ppk`: the packed profile of ParaProf, versions 1 and 2, gzip or not.

use std::sync::Arc;

use parallax_base::{ByteSource, Issues, Limits, Place, Severity, Stage, read_range};

use super::records::{EventRow, Facts, Profiles, Thread, ThreadId, Timer, TimerRow};
use crate::FormatError;
use crate::compressed::{self, Compression};
use crate::stream::ByteStream;

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

/// Reads a packed profile from front to back, unpacked as it is read. Threads behind damage are
/// left out; memory follows what is kept of the file.
///
/// # Errors
/// When the file is no packed profile, of an unknown version, damaged before its threads, or needs
/// more memory than the limits allow.
pub fn read_packed(
    source: &dyn ByteSource,
    file: &str,
    limits: &Limits,
    issues: &mut Issues,
) -> Result<Profiles, FormatError> {
    let fail = |cause| FormatError::read(file, cause);
    let head = read_range(source, 0, source.len().min(4)).map_err(fail)?;
    let is_plain = Compression::of(&head) == Compression::Plain;
    let reader = Reader {
        stream: compressed::open(source).map_err(fail)?,
        buffer: vec![0; BLOCK],
        start: 0,
        end: 0,
        at: 0,
        len: is_plain.then(|| source.len()),
        until: u64::MAX,
        kept: 0,
        limits: *limits,
        file,
    };
    reader.profiles(issues)
}

/// Bytes that are read at a time.
const BLOCK: usize = 64 << 10;

/// The bytes of an uncompressed file from front to back.
struct Reader<'s> {
    stream: Box<dyn ByteStream + 's>,
    /// Bytes from `start` to `end` are still to be taken.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// How many bytes were taken.
    at: u64,
    /// Length of the file; not known of a compressed one.
    len: Option<u64>,
    /// Where a block ends that must not be left.
    until: u64,
    /// Bytes of memory that what was read takes.
    kept: u64,
    limits: Limits,
    file: &'s str,
}

impl Reader<'_> {
    /// Fills `out` with the next bytes.
    fn fill(&mut self, out: &mut [u8], what: &str) -> Result<(), FormatError> {
        let end = self.at.saturating_add(out.len() as u64);
        if end > self.until {
            return Err(self.fault(format!("its block ends inside {what}")));
        }
        let mut done = 0;
        while let Some(rest) = out.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let have = self.have(what)?;
            let len = have.len().min(rest.len());
            for (to, from) in rest.iter_mut().zip(have) {
                *to = *from;
            }
            done += len;
            self.start += len;
        }
        self.at = end;
        Ok(())
    }

    /// The bytes that were read and not taken yet, at least one.
    fn have(&mut self, what: &str) -> Result<&[u8], FormatError> {
        if self.start == self.end {
            let read = self.stream.read(&mut self.buffer);
            let read = read.map_err(|cause| FormatError::read(self.file, cause))?;
            (self.start, self.end) = (0, read);
            if read == 0 {
                return Err(self.fault(format!("the file ends inside {what}")));
            }
        }
        Ok(self.buffer.get(self.start..self.end).unwrap_or_default())
    }

    /// Passes over bytes.
    fn skip(&mut self, len: u64, what: &str) -> Result<(), FormatError> {
        let end = self.at.saturating_add(len);
        if end > self.until {
            return Err(self.fault(format!("its block ends inside {what}")));
        }
        let mut left = len;
        while left > 0 {
            let some = (self.have(what)?.len() as u64).min(left);
            // Fits: it is at most the length of the buffer.
            self.start += usize::try_from(some).unwrap_or(usize::MAX);
            left -= some;
        }
        self.at = end;
        Ok(())
    }

    /// Checks memory that is about to be kept.
    fn room_for(&self, bytes: usize) -> Result<(), FormatError> {
        let all = self.kept.saturating_add(bytes as u64);
        let within = self.limits.metadata("a packed profile", all);
        within.map_err(|cause| FormatError::Limit { file: self.file.to_owned(), cause })
    }

    /// Counts memory that is kept until the end.
    fn keep(&mut self, bytes: usize) -> Result<(), FormatError> {
        self.room_for(bytes)?;
        self.kept = self.kept.saturating_add(bytes as u64);
        Ok(())
    }

    fn fault(&self, what: String) -> FormatError {
        FormatError::malformed(self.file, self.at, what)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], FormatError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
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
    fn size(&mut self, what: &str) -> Result<u64, FormatError> {
        let size = self.i32(what)?;
        u64::try_from(size).map_err(|_| self.fault(format!("{size} bytes of {what}")))
    }

    /// A count of records of at least `least` bytes, checked against what is left of the file where
    /// that is known. Memory must not be asked for by it.
    fn count(&mut self, least: u64, what: &str) -> Result<u64, FormatError> {
        let count = self.i32(what)?;
        let left = self.len.map_or(u64::MAX, |len| len.saturating_sub(self.at));
        let fits = u64::try_from(count).ok().filter(|&n| n.saturating_mul(least) <= left);
        fits.ok_or_else(|| match self.len {
            Some(_) => {
                self.fault(format!("{count} {what} do not fit into the {left} bytes that are left"))
            }
            None => self.fault(format!("there cannot be {count} {what}")),
        })
    }

    /// A string of `DataOutputStream.writeUTF`.
    fn utf(&mut self, what: &str) -> Result<String, FormatError> {
        let len = u16::from_be_bytes(self.array(what)?);
        let mut bytes = vec![0; usize::from(len)];
        self.fill(&mut bytes, what)?;
        let text = modified_utf8(&bytes);
        self.keep(text.len() + TEXT_BYTES)?;
        Ok(text)
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
        let foreign = |found: &[u8], file: &str| FormatError::NotThisFormat {
            file: file.to_owned(),
            expected: "a packed profile of TAU",
            found: String::from_utf8_lossy(found).into_owned(),
        };
        let magic: [u8; MAGIC.len()] = match self.array("the first bytes") {
            Err(FormatError::Malformed { .. }) => return Err(foreign(&[], self.file)),
            other => other?,
        };
        if magic != MAGIC {
            return Err(foreign(&magic, self.file));
        }
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
            if matches!(error, FormatError::Limit { .. }) {
                return Err(error);
            }
            let place = Place::Byte { file: self.file.to_owned(), offset: self.at };
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
        self.skip(size, "the header")
    }

    /// The metadata of version 2. Its size is stored, so a newer version may append to it.
    fn header(
        &mut self,
        out: &mut Profiles,
        issues: &mut Issues,
    ) -> Result<Vec<(ThreadId, Facts)>, FormatError> {
        let size = self.size("the metadata")?;
        let start = self.at;
        let end = start.saturating_add(size);
        if self.len.is_some_and(|len| end > len) {
            return Err(self.fault(format!("{size} bytes of metadata reach outside")));
        }
        // Whatever the numbers inside say, what follows begins at its end.
        self.until = end;
        let mut parts = || -> Result<_, FormatError> {
            self.skip_block()?;
            let trial = self.facts("facts")?;
            let threads = self.count(16, "threads with metadata")?;
            let threads: Result<Vec<_>, FormatError> =
                (0..threads).map(|_| Ok((self.thread_id()?, self.facts("facts")?))).collect();
            Ok((trial, threads?))
        };
        let read = parts();
        let place = Place::Byte { file: self.file.to_owned(), offset: start };
        let found = match read {
            Err(error @ FormatError::Limit { .. }) => return Err(error),
            Ok((trial, threads)) => {
                out.metadata = trial;
                threads
            }
            Err(error) => {
                issues.report(Severity::Error, Stage::Read, "metadata-lost", place, || {
                    format!("{error}; what is known besides numbers is omitted")
                });
                Vec::new()
            }
        };
        self.skip(end - self.at, "the metadata")?;
        self.until = u64::MAX;
        Ok(found)
    }

    fn timer(&mut self, num_groups: usize) -> Result<Timer, FormatError> {
        let name = self.utf("a timer")?;
        let count = self.count(4, "groups of a timer")?;
        let mut groups = Vec::new();
        for _ in 0..count {
            let group = self.i32("a group")?;
            self.keep(size_of::<u32>())?;
            groups.extend(u32::try_from(group).ok().filter(|&g| (g as usize) < num_groups));
        }
        Ok(Timer { name: name.trim().into(), groups })
    }

    fn threads(&mut self, out: &mut Profiles, issues: &mut Issues) -> Result<(), FormatError> {
        let threads = self.count(20, "threads")?;
        let mut repeated = 0_u64;
        for _ in 0..threads {
            let thread = self.thread(out, issues)?;
            // Of the same thread again nothing is kept.
            if out.threads.last().is_some_and(|last| last.id == thread.id) {
                repeated += 1;
                continue;
            }
            let values = size_of_val(thread.values.as_slice());
            let rows = size_of_val(thread.timers.as_slice());
            let events = size_of_val(thread.events.as_slice());
            self.keep(size_of::<Thread>() + values + rows + events)?;
            out.threads.push(thread);
        }
        report_repeated(repeated, issues);
        let place = Place::Byte { file: self.file.to_owned(), offset: self.at };
        let left = match self.len {
            Some(len) => (len > self.at).then(|| (len - self.at).to_string()),
            None => self.have("what follows").is_ok().then(|| "more".to_owned()),
        };
        if let Some(left) = left {
            issues.report(Severity::Note, Stage::Read, "bytes-behind", place, || {
                format!("{left} bytes follow behind the last thread; they are not read")
            });
        }
        Ok(())
    }

    fn thread(&mut self, of: &Profiles, issues: &mut Issues) -> Result<Thread, FormatError> {
        let mut thread = Thread::new(self.thread_id()?);
        let metrics = of.metrics.len() as u64;
        let width = metrics.saturating_mul(16).saturating_add(20);
        let rows = self.count(width, "timers of a thread")?;
        let mut strange = 0_u64;
        for _ in 0..rows {
            let timer = self.i32("a timer of a thread")?;
            let (calls, subroutines) = (self.f64("calls")?, self.f64("calls")?);
            let timer = u32::try_from(timer).ok().filter(|&t| (t as usize) < of.timers.len());
            let Some(timer) = timer else {
                self.skip(metrics.saturating_mul(16), "values")?;
                strange += 1;
                continue;
            };
            thread.timers.push(TimerRow { timer, calls, subroutines });
            self.room_for(size_of_val(thread.values.as_slice()) + 16 * of.metrics.len())?;
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
            self.room_for(size_of_val(thread.events.as_slice()))?;
            thread.events.push(EventRow { event, count, max, min, mean, sum_of_squares });
        }
        if strange > 0 {
            let place = Place::Byte { file: self.file.to_owned(), offset: self.at };
            issues.report(Severity::Error, Stage::Read, "row-unknown", place, || {
                format!("{strange} rows name timers or user events that do not exist; omitted")
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
    report_repeated((before - threads.len()) as u64, issues);
}

fn report_repeated(lost: u64, issues: &mut Issues) {
    if lost > 0 {
        let (severity, stage) = (Severity::Error, Stage::Read);
        issues.report_many(severity, stage, "thread-repeated", Place::Whole, lost, || {
            "profiles of threads that have one already are omitted".to_owned()
        });
    }
}

/// A text that is kept, besides its bytes.
const TEXT_BYTES: usize = 64;

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
