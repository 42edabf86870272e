//! [`Recording`]: the header, the places in the source, and the chunks of each thread.

use std::collections::BTreeMap;

use parallax_base::{Issues, Limits, Place, Severity, Source, Stage, read_range};

use super::MAGIC;
use super::events::Fields;
use super::names::{CodeAddress, Module, Variable};
use crate::FormatError;

/// The only version there is.
const VERSION: u32 = 1;
/// Bytes of the header that have a meaning, without the program's name.
const FIXED_BYTES: u64 = 48;
/// Most bytes of the header that are examined.
const HEADER_BYTES: u64 = 2048;
/// What every chunk starts with.
pub(super) const CHUNK_MAGIC: [u8; 8] = *b"PLXCHUNK";
/// Bytes of a chunk before its records; chunks begin at multiples of it.
pub(super) const CHUNK_HEADER: u64 = 64;
pub(super) const PLACES: u32 = 1;
const EVENTS: u32 = 2;
/// Bytes that a place takes in memory besides its names, about.
const PLACE_BYTES: u64 = 96;

/// What a place in the source is marked as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// A function, from its beginning.
    Function,
    /// A part of a function with a name.
    Region,
    /// A loop.
    Loop,
    /// An access, an allocation, a lock, a thread.
    Other,
    /// Straight code of a function.
    Block,
}

impl PlaceKind {
    pub(super) const fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Function,
            2 => Self::Region,
            3 => Self::Loop,
            5 => Self::Block,
            _ => Self::Other,
        }
    }

    pub(super) const fn number(self) -> u64 {
        match self {
            Self::Function => 1,
            Self::Region => 2,
            Self::Loop => 3,
            Self::Other => 4,
            Self::Block => 5,
        }
    }
}

/// A place in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    /// What it is marked as.
    pub kind: PlaceKind,
    /// The name of a region; the expression or the name of what is accessed; empty for others.
    pub name: String,
    /// Path of the file, as the compiler was given it.
    pub file: String,
    /// The function around it.
    pub function: String,
    /// The line; 0 when unknown. Of a block the lowest one that its code has in the function with
    /// the fewest others around it.
    pub line: u32,
    /// Of a block: into how many functions the one with that line is inlined.
    pub inline_depth: u32,
}

/// Where the chunks of one thread are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadStream {
    /// Number in the order in which threads recorded something first.
    pub number: u64,
    /// What the program knows the thread by; numbers are used again after a thread ended.
    pub handle: u64,
    pub(super) chunks: Vec<Chunk>,
}

/// One chunk of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Of the first record, in bytes from the start of the file.
    pub(super) offset: u64,
    /// Bytes of records.
    pub(super) len: u64,
    /// Which one of its thread.
    pub(super) part: u32,
    /// The time when it begins.
    pub(super) ticks: u64,
}

/// A recording whose events are read on demand.
pub struct Recording {
    pub(super) source: Source,
    pub(super) file: String,
    /// Path of the program, as it was started; empty when unknown.
    pub program: String,
    /// Ticks of the clock in a second; 0 when the file does not say.
    pub ticks_per_second: u64,
    /// A time of the clock, ...
    pub anchor_ticks: u64,
    /// ... and the same in nanoseconds from 1970 (UTC).
    pub anchor_nanos: i64,
    /// Number of the process.
    pub process: u64,
    /// By number, counted from 1; those that are not in the file are absent.
    places: Vec<Option<SourceLocation>>,
    /// Files that were mapped as code, of a program that was recorded without marks.
    pub modules: Vec<Module>,
    /// Places that are known by their address only.
    pub addresses: Vec<CodeAddress>,
    /// Variables that the program has as long as it runs, ascending by address.
    pub variables: Vec<Variable>,
    /// The threads by number, each with at least one chunk.
    pub threads: Vec<ThreadStream>,
    /// Whether the recording ended before the program because it grew too large.
    pub is_cut: bool,
}

impl Recording {
    /// Reads everything but events.
    ///
    /// # Errors
    /// When the file is of another format, of another version, without a whole header, or would
    /// take too much memory.
    pub fn open(
        source: Source,
        file: &str,
        limits: &Limits,
        issues: &mut Issues,
    ) -> Result<Self, FormatError> {
        let read = |cause| FormatError::read(file, cause);
        let len = source.len().min(HEADER_BYTES);
        let header = read_range(&*source, 0, len).map_err(read)?.into_owned();
        let mut fields = Fields::new(&header);
        if fields.bytes(8) != Some(&MAGIC) {
            let found = String::from_utf8_lossy(header.get(..8).unwrap_or(&header)).into_owned();
            let expected = "a recording of parallax.h";
            return Err(FormatError::NotThisFormat { file: file.to_owned(), expected, found });
        }
        let short = || {
            let what = format!("the header has {FIXED_BYTES} bytes, the file has {len}");
            FormatError::malformed(file, 0, what)
        };
        let version = fields.u32().ok_or_else(short)?;
        if version != VERSION {
            return Err(FormatError::Unsupported {
                file: file.to_owned(),
                what: format!("a recording of version {version}"),
                hint: "this Parallax reads version 1; use the one that came with parallax.h",
            });
        }
        let first = u64::from(fields.u32().ok_or_else(short)?);
        let mut next = || fields.u64().ok_or_else(short);
        let (rate, anchor_ticks, nanos, process) = (next()?, next()?, next()?, next()?);
        let program = fields.text().unwrap_or_default();
        let mut recording = Self {
            source,
            file: file.to_owned(),
            program,
            ticks_per_second: rate,
            anchor_ticks,
            anchor_nanos: nanos.cast_signed(),
            process,
            places: Vec::new(),
            modules: Vec::new(),
            addresses: Vec::new(),
            variables: Vec::new(),
            threads: Vec::new(),
            is_cut: false,
        };
        recording.chunks(first, limits, issues)?;
        recording.keep_unnamed();
        Ok(recording)
    }

    /// The file's name, as issues have it.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The place of a number; `None` when the file does not have it.
    #[must_use]
    pub fn place(&self, number: u32) -> Option<&SourceLocation> {
        self.places.get(number as usize)?.as_ref()
    }

    /// Numbers of places are below this.
    #[must_use]
    pub fn num_places(&self) -> u32 {
        u32::try_from(self.places.len()).unwrap_or(u32::MAX)
    }

    /// Walks over all chunks: keeps where those of events are, and reads those of places.
    fn chunks(
        &mut self,
        first: u64,
        limits: &Limits,
        issues: &mut Issues,
    ) -> Result<(), FormatError> {
        let len = self.source.len();
        let mut threads: BTreeMap<u64, ThreadStream> = BTreeMap::new();
        let mut place_bytes = 0_u64;
        // A header that is no multiple is damaged; chunks are found all the same.
        let mut at = first.next_multiple_of(CHUNK_HEADER).max(CHUNK_HEADER);
        while at.saturating_add(CHUNK_HEADER) <= len {
            let head = read_range(&*self.source, at, CHUNK_HEADER)
                .map_err(|cause| FormatError::read(&self.file, cause))?;
            let found = chunk_header(&head).filter(|head| head.bytes >= CHUNK_HEADER);
            let Some(head) = found else {
                let file = self.file.clone();
                issues.report(
                    Severity::Error,
                    Stage::Read,
                    "bad-chunk",
                    Place::Byte { file, offset: at },
                    || "no chunk begins here; what follows up to the next one is omitted".into(),
                );
                at = self.next_chunk(at + CHUNK_HEADER)?;
                continue;
            };
            let offset = at + CHUNK_HEADER;
            let mut end = at.saturating_add(head.bytes);
            if end != len && !self.is_chunk(end)? {
                end = self.next_chunk(offset)?;
                let file = self.file.clone();
                let spot = Place::Byte { file, offset: at };
                issues.report(Severity::Error, Stage::Read, "chunk-outside", spot, || {
                    format!(
                        "a chunk of {} bytes does not end where another one begins: the copy may \
                         be incomplete; what is there is kept",
                        head.bytes
                    )
                });
            }
            let len = end - offset;
            let chunk = Chunk { offset, len, part: head.part, ticks: head.ticks };
            match head.kind {
                PLACES => {
                    place_bytes = place_bytes.saturating_add(chunk.len);
                    let wanted = place_bytes.saturating_mul(PLACE_BYTES / 8);
                    limits
                        .metadata("the places in the source", wanted)
                        .map_err(|cause| FormatError::Limit { file: self.file.clone(), cause })?;
                    self.read_places(chunk, place_bytes, issues)?;
                }
                EVENTS => {
                    let stream = threads.entry(head.thread).or_insert_with(|| ThreadStream {
                        number: head.thread,
                        handle: head.handle,
                        chunks: Vec::new(),
                    });
                    stream.chunks.push(chunk);
                }
                other => {
                    let file = self.file.clone();
                    let spot = Place::Byte { file, offset: at };
                    issues.report(Severity::Warning, Stage::Read, "unknown-chunk", spot, || {
                        format!("chunks of kind {other} are not known; this one is omitted")
                    });
                }
            }
            at = end;
        }
        self.threads = threads.into_values().collect();
        for thread in &mut self.threads {
            thread.chunks.sort_by_key(|chunk| chunk.part);
        }
        Ok(())
    }

    /// Whether a whole chunk header may be at a byte.
    fn is_chunk(&self, at: u64) -> Result<bool, FormatError> {
        if at.saturating_add(CHUNK_HEADER) > self.source.len() {
            return Ok(false);
        }
        let mark = read_range(&*self.source, at, CHUNK_MAGIC.len() as u64)
            .map_err(|cause| FormatError::read(&self.file, cause))?;
        Ok(*mark == CHUNK_MAGIC)
    }

    /// Where the next chunk begins, from `at` on; the end of the file if there is none.
    fn next_chunk(&self, mut at: u64) -> Result<u64, FormatError> {
        while at < self.source.len() {
            if self.is_chunk(at)? {
                return Ok(at);
            }
            at = at.saturating_add(CHUNK_HEADER);
        }
        Ok(self.source.len())
    }

    /// Reads a chunk of places. No number is above `most`: each place takes a byte at least.
    fn read_places(
        &mut self,
        chunk: Chunk,
        most: u64,
        issues: &mut Issues,
    ) -> Result<(), FormatError> {
        const CUT: u8 = 2;
        let source = Source::clone(&self.source);
        let bytes = read_range(&*source, chunk.offset, chunk.len)
            .map_err(|cause| FormatError::read(&self.file, cause))?;
        let mut fields = Fields::new(&bytes);
        loop {
            let offset = chunk.offset + fields.position();
            match fields.u8() {
                None | Some(0) => return Ok(()),
                Some(1) => {
                    let place = place(&mut fields).filter(|(number, _)| u64::from(*number) <= most);
                    if let Some((number, place)) = place {
                        self.set_place(number, place);
                        continue;
                    }
                }
                Some(3) => {
                    if let Some(module) = Module::read(&mut fields) {
                        self.modules.push(module);
                        continue;
                    }
                }
                Some(4) => {
                    let address = CodeAddress::read(&mut fields);
                    if let Some(address) = address.filter(|at| u64::from(at.number) <= most) {
                        self.addresses.push(address);
                        continue;
                    }
                }
                Some(5) => {
                    if let Some(variable) = Variable::read(&mut fields) {
                        self.variables.push(variable);
                        continue;
                    }
                }
                Some(CUT) => {
                    self.is_cut = true;
                    return Ok(());
                }
                Some(_) => {}
            }
            let spot = Place::Byte { file: self.file.clone(), offset };
            issues.report(Severity::Error, Stage::Read, "bad-place", spot, || {
                "a place in the source cannot be read; those after it in its chunk are omitted"
                    .into()
            });
            return Ok(());
        }
    }
}

/// What names became of addresses.
impl Recording {
    fn set_place(&mut self, number: u32, place: SourceLocation) {
        let at = number as usize;
        if self.places.len() <= at {
            self.places.resize(at + 1, None);
        }
        if let Some(slot) = self.places.get_mut(at) {
            *slot = Some(place);
        }
    }

    /// The module that an address is in.
    #[must_use]
    pub fn module(&self, address: u64) -> Option<&Module> {
        self.modules.iter().find(|module| module.holds(address))
    }

    /// Addresses to which nobody gave a name become places all the same.
    fn keep_unnamed(&mut self) {
        let all = std::mem::take(&mut self.addresses);
        let is_named = |at: &CodeAddress| self.place(at.number).is_some();
        let unnamed: Vec<CodeAddress> = all.into_iter().filter(|at| !is_named(at)).collect();
        for at in &unnamed {
            let module = self.module(at.address);
            let offset = at.address.wrapping_sub(module.map_or(0, |module| module.base));
            let place = SourceLocation {
                kind: at.kind,
                name: at.name.clone(),
                file: module.map(|module| module.path.clone()).unwrap_or_default(),
                function: format!("0x{offset:x}"),
                line: 0,
                inline_depth: 0,
            };
            self.set_place(at.number, place);
        }
        self.addresses = unnamed;
        self.variables.sort_by_key(|variable| variable.address);
    }
}

/// The head of a chunk.
struct Head {
    bytes: u64,
    kind: u32,
    part: u32,
    thread: u64,
    handle: u64,
    ticks: u64,
}

fn chunk_header(bytes: &[u8]) -> Option<Head> {
    let mut fields = Fields::new(bytes);
    if fields.bytes(8)? != CHUNK_MAGIC {
        return None;
    }
    Some(Head {
        bytes: fields.u64()?,
        kind: fields.u32()?,
        part: fields.u32()?,
        thread: fields.u64()?,
        handle: fields.u64()?,
        ticks: fields.u64()?,
    })
}

/// The rest of a record of a place: its number and what it is.
fn place(fields: &mut Fields<'_>) -> Option<(u32, SourceLocation)> {
    let (number, kind) = (fields.small()?, PlaceKind::from_number(fields.small()?));
    let line = fields.small()?;
    let (name, file, function) = (fields.text()?, fields.text()?, fields.text()?);
    let inline_depth = if kind == PlaceKind::Block { fields.small()? } else { 0 };
    Some((number, SourceLocation { kind, name, file, function, line, inline_depth }))
}
