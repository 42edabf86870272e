//! Exports of Nsight Systems into archives.
//!
//! Each table is read once from front to back. Rows of one thread are in several tables, so that
//! they are gathered by thread and time before they are fed.

mod facts;
mod launches;
mod samples;
mod tracks;

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{Control, Issues, Limits, Place, Severity, Source, Stage};
use parallax_formats::archive::{ArgumentText, NONE_32};
use parallax_formats::nsight::{
    CallRow, CallTable, CopyRow, FillRow, FrameRow, GraphRow, KernelRow, NsightDb, NvtxRow, Record,
    SampleRow, Strings, Work, memory_kind, process_of, tid_of,
};

use self::facts::Facts;
use self::launches::Launches;
use self::samples::Samples;
use self::tracks::{Names, Tracks, Who};
use super::gathered::{Begun, Events};
use super::lanes::Complete;
use super::progress::Progress;
use crate::events::{Conversion, ConversionError};

/// Rows after which limits are checked and progress is reported.
const STEP_ROWS: u64 = 1 << 16;

/// About what a name of a function takes while a trace is converted.
const NAME_BYTES: u64 = 128;

const NVTX: &str = "NVTX_EVENTS";
const KERNELS: &str = "CUPTI_ACTIVITY_KIND_KERNEL";
const COPIES: &str = "CUPTI_ACTIVITY_KIND_MEMCPY";
const FILLS: &str = "CUPTI_ACTIVITY_KIND_MEMSET";
const GRAPHS: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
const SAMPLES: &str = "COMPOSITE_EVENTS";
const FRAMES: &str = "SAMPLING_CALLCHAINS";
const MESSAGES: &str = "DIAGNOSTIC_EVENT";

/// The tables of events that are read, besides those of calls.
const READ: [&str; 8] = [NVTX, KERNELS, COPIES, FILLS, GRAPHS, SAMPLES, FRAMES, MESSAGES];

/// Converts an export.
pub(super) fn convert(
    source: &Source,
    file: &str,
    limits: &Limits,
    conversion: &mut Conversion,
    control: &Control,
) -> Result<(), ConversionError> {
    let mut issues = Issues::new();
    let db = NsightDb::open(Arc::clone(source), file, limits, &mut issues)?;
    let strings = db.strings(limits, &mut issues)?;
    let (events, launches) = (Events::new(conversion), Launches::new(conversion));
    let mut reading = Reading {
        db: &db,
        strings: &strings,
        limits,
        events,
        tracks: Tracks::default(),
        functions: Functions::default(),
        domains: HashMap::new(),
        thread_names: HashMap::new(),
        launches,
        samples: Samples::new(conversion),
        text: ArgumentText::default(),
        num_mpi: 0,
        progress: Progress::new(db.len_bytes(), control),
        conversion,
        issues,
        bytes: 0,
        rows: 0,
    };
    reading.read()?;
    reading.feed(control)
}

/// What the name of a function is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Naming {
    /// The text is the name.
    Text,
    /// The text is the name, and may have the version of a programming interface at its end.
    Versioned,
    /// The text is the path of a load module, of which no more is known.
    Module,
}

impl Naming {
    fn name(self, text: &str) -> String {
        match self {
            Self::Text => text.to_owned(),
            Self::Versioned => without_version(text).to_owned(),
            Self::Module => {
                format!("<unknown in {}>", text.rsplit(['/', '\\']).next().unwrap_or(text))
            }
        }
    }
}

/// The archive's functions by what names them.
#[derive(Default)]
struct Functions {
    groups: HashMap<String, u32>,
    /// By the number of the group and that of the text.
    known: HashMap<(u32, Naming, i64), u32>,
    /// Those of calls by their names: functions of call stacks may be the same.
    of_calls: HashMap<String, u32>,
}

/// An export that is being read.
struct Reading<'r> {
    db: &'r NsightDb,
    strings: &'r Strings,
    limits: &'r Limits,
    conversion: &'r mut Conversion,
    issues: Issues,
    events: Events,
    tracks: Tracks,
    functions: Functions,
    /// Names of NVTX domains by process and number.
    domains: HashMap<(i64, i64), String>,
    /// Names that programs give to threads by NVTX.
    thread_names: HashMap<i64, String>,
    launches: Launches,
    samples: Samples,
    text: ArgumentText,
    /// Calls of MPI.
    num_mpi: u64,
    progress: Progress<'r>,
    bytes: u64,
    rows: u64,
}

impl Reading<'_> {
    /// Reads all tables. Of what begins and ends at the same times, the outer one comes first.
    fn read(&mut self) -> Result<(), ConversionError> {
        self.scan(NVTX, Self::nvtx)?;
        for table in self.db.call_tables() {
            self.scan(&table.name, |own, row| own.call(&table, row))?;
        }
        self.scan(KERNELS, Self::kernel)?;
        self.scan(COPIES, Self::copy)?;
        self.scan(FILLS, Self::fill)?;
        self.scan(GRAPHS, Self::graph)?;
        self.scan(SAMPLES, Self::sample)?;
        self.scan(FRAMES, Self::frame)?;
        if self.num_mpi > 0 {
            let place = Place::File { file: self.db.file().to_owned() };
            let (severity, kind) = (Severity::Note, "messages-not-read");
            self.issues.report_many(severity, Stage::Import, kind, place, self.num_mpi, || {
                "calls of MPI are read without the messages between them, so that it is not known \
                 which rank waits for which"
                    .to_owned()
            });
        }
        let others = self.db.others(&READ)?;
        if !others.is_empty() {
            let place = Place::File { file: self.db.file().to_owned() };
            self.issues.report(Severity::Note, Stage::Import, "tables-not-read", place, || {
                format!("tables of the database that are not read: {}", others.join(", "))
            });
        }
        Ok(())
    }

    fn scan<R: Record>(
        &mut self,
        table: &str,
        mut take: impl FnMut(&mut Self, R) -> Result<(), ConversionError>,
    ) -> Result<(), ConversionError> {
        let mut issues = Issues::new();
        let db = self.db;
        let read = db.scan(table, &mut issues, |(row, bytes): (R, u64)| {
            self.step(bytes)?;
            take(self, row)
        });
        self.issues.extend(issues);
        read
    }

    fn step(&mut self, bytes: u64) -> Result<(), ConversionError> {
        self.rows += 1;
        self.bytes += bytes;
        if self.rows.is_multiple_of(STEP_ROWS) {
            self.progress.at(self.bytes)?;
            self.conversion.commit()?;
            let held = self.tracks.held_bytes() + self.functions.known.len() as u64 * NAME_BYTES;
            self.limits.metadata("the threads and functions of the trace", held)?;
        }
        Ok(())
    }

    fn report(&mut self, kind: &'static str, nanos: u64, message: impl FnOnce() -> String) {
        let place = Place::Time { nanos };
        self.issues.report(Severity::Warning, Stage::Import, kind, place, message);
    }

    /// Start and end of a row; `None` where it has no start.
    fn span(
        &mut self,
        table: &str,
        start: Option<i64>,
        end: Option<i64>,
    ) -> Option<(u64, Option<u64>)> {
        let Some(start) = start else {
            let place = Place::File { file: self.db.file().to_owned() };
            let kind = "time-missing";
            self.issues.report(Severity::Warning, Stage::Import, kind, place, || {
                format!("rows of {table} have no start; they are dropped")
            });
            return None;
        };
        let from = u64::try_from(start).unwrap_or(0);
        if start < 0 {
            self.report("time-negative", 0, || {
                "events are before the start of the collection; they are moved to it".to_owned()
            });
        }
        if end.is_some_and(|end| end < start) {
            self.report("ends-before-start", from, || {
                format!("rows of {table} end before they start; they are taken for moments")
            });
        }
        Some((from, end.map(|end| u64::try_from(end).unwrap_or(0).max(from))))
    }

    /// The text of a number; where it is missing, the number.
    fn string(&mut self, id: Option<i64>) -> String {
        let Some(id) = id else { return "(unnamed)".to_owned() };
        if let Some(text) = self.strings.get(id) {
            return if text.is_empty() { "(unnamed)".to_owned() } else { text.to_owned() };
        }
        let place = Place::File { file: self.db.file().to_owned() };
        self.issues.report(Severity::Warning, Stage::Import, "text-missing", place, || {
            format!("text {id} is not in the table of texts; its number is shown instead")
        });
        format!("(text {id})")
    }

    /// The function whose name is made of the text of a number.
    fn function(&mut self, id: Option<i64>, group: &str, naming: Naming) -> u32 {
        let Functions { groups, known, .. } = &mut self.functions;
        let number = match groups.get(group) {
            Some(&number) => number,
            None => {
                let number = u32::try_from(groups.len()).unwrap_or(NONE_32);
                groups.insert(group.to_owned(), number);
                number
            }
        };
        let key = (number, naming, id.unwrap_or(i64::MIN));
        if let Some(&known) = known.get(&key) {
            return known;
        }
        let name = naming.name(&self.string(id));
        let function = match self.functions.of_calls.get(&name) {
            Some(&function) if group.is_empty() => function,
            _ => self.conversion.function(&name, group),
        };
        if naming == Naming::Versioned {
            self.functions.of_calls.insert(name, function);
        }
        self.functions.known.insert(key, function);
        function
    }

    /// Takes a call or a range; one without an end is open until the end of its track.
    fn take(
        &mut self,
        track: usize,
        (start_nanos, end_nanos): (u64, Option<u64>),
        function: u32,
    ) -> Result<(), ConversionError> {
        let Self { tracks, events, text, issues, .. } = self;
        let Some(own) = tracks.gathered(track) else { return Ok(()) };
        own.counts.others += 1;
        own.last_nanos = own.last_nanos.max(start_nanos);
        own.first_nanos = Some(own.first_nanos.map_or(start_nanos, |own| own.min(start_nanos)));
        let arguments = events.arguments.take(text, start_nanos, issues)?;
        text.clear();
        match end_nanos {
            Some(end_nanos) => {
                own.end_nanos = own.end_nanos.max(end_nanos);
                events.call(track, Complete { start_nanos, end_nanos, function, arguments })?;
            }
            None => {
                own.open.push(Begun { start_nanos, function, arguments });
                tracks.hold(size_of::<Begun>());
            }
        }
        Ok(())
    }

    /// The `globalTid` of a row; `None` for rows of processes, which say that tracing began or
    /// ended.
    fn thread(&mut self, table: &str, thread: Option<i64>, start: Option<i64>) -> Option<i64> {
        if thread.is_none() {
            let nanos = start.and_then(|start| u64::try_from(start).ok()).unwrap_or(0);
            self.report("thread-missing", nanos, || {
                format!("rows of {table} do not say which thread they are of; they are dropped")
            });
        }
        thread.filter(|&id| tid_of(id) != 0)
    }

    fn call(&mut self, table: &CallTable, row: CallRow) -> Result<(), ConversionError> {
        if row.class == Some(CallRow::CUDA_BACKTRACE) {
            return Ok(());
        }
        let Some(thread) = self.thread(&table.name, row.thread, row.start) else { return Ok(()) };
        let Some(span) = self.span(&table.name, row.start, row.end) else { return Ok(()) };
        let is_cuda = table.group == "cuda";
        let group = match row.class {
            Some(CallRow::CUDA_DRIVER) if is_cuda => "cuda_driver",
            _ if is_cuda => "cuda_runtime",
            _ => table.group.as_str(),
        };
        let function = self.function(row.name, group, Naming::Versioned);
        let track = self.tracks.track(Who::Thread(thread));
        if table.group == "MPI" {
            self.num_mpi += 1;
            let bytes = |bytes: Option<u64>| bytes.map(i64::try_from).and_then(Result::ok);
            self.number("partner", row.partner);
            self.number("root", row.root);
            self.number("tag", row.tag);
            self.number("bytes", bytes(row.bytes));
            self.number("received bytes", bytes(row.received));
            self.number("communicator", row.communicator);
        }
        self.number("return value", row.returned.filter(|&value| is_cuda && value != 0));
        if is_cuda && let Some(id) = row.correlation.filter(|&id| id != 0) {
            self.launches.call(process_of(thread), id, (track, span.0))?;
        }
        self.take(track, span, function)
    }

    fn nvtx(&mut self, row: NvtxRow) -> Result<(), ConversionError> {
        let kind = row.kind.unwrap_or(-1);
        let is = |kinds: &[i64]| kinds.contains(&kind);
        let is_name = is(&[NvtxRow::DOMAIN, NvtxRow::THREAD_NAME]);
        let is_event = [NvtxRow::MARKS, NvtxRow::PUSH_POP, NvtxRow::START_END]
            .iter()
            .any(|kinds| kinds.contains(&kind));
        if !is_name && !is_event {
            return Ok(());
        }
        let Some(thread) = self.thread(NVTX, row.thread, row.start) else { return Ok(()) };
        let process = process_of(thread);
        if is_name {
            let text = row.text.unwrap_or_else(|| self.string(row.text_id));
            self.tracks.hold(text.len() + 64);
            if kind == NvtxRow::DOMAIN {
                self.domains.insert((process, row.domain.unwrap_or(0)), text);
            } else {
                self.thread_names.insert(thread, text);
            }
            return Ok(());
        }
        let Some(span) = self.span(NVTX, row.start, row.end) else { return Ok(()) };
        let domain = self.domains.get(&(process, row.domain.unwrap_or(0)));
        let group = match domain.map(String::as_str) {
            None | Some("") => "NVTX".to_owned(),
            // Where MPI is traced by ranges of NVTX.
            Some("MPI") => {
                self.num_mpi += 1;
                "MPI".to_owned()
            }
            Some(name) => format!("NVTX {name}"),
        };
        let function = match &row.text {
            Some(text) => {
                let name = if text.is_empty() { "(unnamed)" } else { text };
                self.conversion.function(name, &group)
            }
            None => self.function(row.text_id, &group, Naming::Text),
        };
        if is(&NvtxRow::MARKS) {
            let track = self.tracks.track(Who::Thread(thread));
            if let Some(own) = self.tracks.gathered(track) {
                own.counts.others += 1;
                own.last_nanos = own.last_nanos.max(span.0);
            }
            return Ok(self.events.marker(track, span.0, function)?);
        }
        let who = if is(&NvtxRow::START_END) { Who::Ranges(process) } else { Who::Thread(thread) };
        let track = self.tracks.track(who);
        self.take(track, span, function)
    }

    /// Takes what ran on a GPU.
    fn work(&mut self, table: &str, work: Work, function: u32) -> Result<(), ConversionError> {
        let Some(span) = self.span(table, work.start, work.end) else {
            self.text.clear();
            return Ok(());
        };
        let process = work.process.map(process_of).or_else(|| self.tracks.only_process());
        let process = process.unwrap_or(0);
        let Work { device, context, stream, .. } = work;
        let track = self.tracks.track(Who::Stream { process, device, context, stream });
        if let Some(id) = work.correlation.filter(|&id| id != 0) {
            self.launches.work(process, id, (track, span.0))?;
        }
        self.take(track, span, function)
    }

    fn kernel(&mut self, row: KernelRow) -> Result<(), ConversionError> {
        let name = row.demangled.or(row.short).or(row.mangled);
        let function = self.function(name, "kernel", Naming::Text);
        self.text.clear();
        for (name, size) in [("grid", row.grid), ("block", row.block)] {
            if let [Some(x), Some(y), Some(z)] = size {
                self.text.push_json(name, &format!("[{x},{y},{z}]"));
            }
        }
        self.number("registers per thread", row.registers);
        self.number("static shared memory", row.static_bytes.filter(|&bytes| bytes != 0));
        self.number("dynamic shared memory", row.dynamic_bytes.filter(|&bytes| bytes != 0));
        self.work(KERNELS, row.work, function)
    }

    fn copy(&mut self, row: CopyRow) -> Result<(), ConversionError> {
        let (direction, is_unified) = row.direction().unwrap_or(("of unknown kind", false));
        let name = match (row.from.and_then(memory_kind), row.to.and_then(memory_kind)) {
            _ if is_unified => format!("Memcpy {direction} (unified memory)"),
            (Some(from), Some(to)) => format!("Memcpy {direction} ({from} -> {to})"),
            _ => format!("Memcpy {direction}"),
        };
        let function = self.conversion.function(&name, "gpu_memcpy");
        self.text.clear();
        self.number("bytes", row.bytes.map(i64::try_from).and_then(Result::ok));
        self.work(COPIES, row.work, function)
    }

    fn fill(&mut self, row: FillRow) -> Result<(), ConversionError> {
        let name = match row.memory.and_then(memory_kind) {
            Some(memory) => format!("Memset ({memory})"),
            None => "Memset (Unknown)".to_owned(),
        };
        let function = self.conversion.function(&name, "gpu_memset");
        self.text.clear();
        self.number("bytes", row.bytes.map(i64::try_from).and_then(Result::ok));
        self.number("value", row.value);
        self.work(FILLS, row.work, function)
    }

    fn graph(&mut self, row: GraphRow) -> Result<(), ConversionError> {
        let name =
            row.graph.map_or_else(|| "CUDA graph".to_owned(), |id| format!("CUDA graph {id}"));
        let function = self.conversion.function(&name, "kernel");
        self.text.clear();
        self.work(GRAPHS, row.work, function)
    }

    fn sample(&mut self, row: SampleRow) -> Result<(), ConversionError> {
        let (Some(id), Some(thread)) = (row.id, row.thread.filter(|&id| tid_of(id) != 0)) else {
            return Ok(());
        };
        let track = self.tracks.track(Who::Thread(thread));
        Ok(self.samples.sample(id, track)?)
    }

    fn frame(&mut self, row: FrameRow) -> Result<(), ConversionError> {
        let (Some(id), Some(depth)) = (row.sample, row.depth) else { return Ok(()) };
        let function = if row.is_unresolved || row.symbol.is_none() {
            self.function(row.module, "", Naming::Module)
        } else {
            self.function(row.symbol, "", Naming::Text)
        };
        Ok(self.samples.frame(id, depth, function)?)
    }

    fn number(&mut self, name: &str, value: Option<i64>) {
        if let Some(value) = value {
            self.text.push_json(name, &value.to_string());
        }
    }

    /// Feeds everything, track after track.
    fn feed(mut self, control: &Control) -> Result<(), ConversionError> {
        let unknown = match self.samples.is_empty() {
            true => 0,
            false => self.conversion.function("<unknown>", ""),
        };
        let stacks = self.samples.finish(unknown, self.limits, &mut self.issues)?;
        let facts = Facts::read(self.db, &mut self.issues)?;
        facts::report_messages(self.db, &mut self.issues)?;
        let (tracks, db, strings) = (&self.tracks, self.db, self.strings);
        let by_nvtx = self.thread_names;
        let names = Names::read(tracks, by_nvtx, &facts, db, strings, &mut self.issues)?;
        facts.tell(self.conversion);
        let counter = stacks.tell(self.conversion);
        for (number, own) in self.tracks.all_mut().iter_mut().enumerate() {
            self.events.close_open(number, own, &mut self.issues)?;
        }
        // Only calls are recorded: what a thread does between them it does in code of its own.
        let mut frames = Vec::new();
        for (number, (&who, own)) in self.tracks.iter().enumerate() {
            let frame = names.frame(who).map(|frame| {
                let function = self.conversion.function(&frame.name, frame.group);
                (function, frame.is_of_program)
            });
            if let (Some((function, _)), Some(start_nanos)) = (frame, own.first_nanos) {
                let end_nanos = own.end_nanos.max(own.last_nanos);
                let call = Complete { start_nanos, end_nanos, function, arguments: 0 };
                self.events.frame(number, call)?;
            }
            // Call stacks of the program begin with its own functions.
            let other = frame.filter(|(_, is_of_program)| !is_of_program);
            frames.push(other.map(|(function, _)| function));
        }
        self.conversion.issues.extend(self.issues);
        let mut fed = self.events.finish(None, Vec::new())?;
        let mut rows = Vec::new();
        for (number, (&who, own)) in self.tracks.iter().enumerate() {
            control.check()?;
            let identity = names.identity(who);
            let row = self.conversion.track(identity.clone());
            names.tell(who, row, self.conversion);
            if let Some(builder) = self.conversion.builder(row) {
                let frame = frames.get(number).copied().flatten();
                stacks.count(number, counter, frame, builder);
            }
            fed.feed(number, row, own.counts, &identity, self.conversion)?;
            rows.push(row);
        }
        self.launches.write(&rows, self.conversion)
    }
}

/// The name of a function without the version of CUDA since which it is as it is:
/// `cudaMalloc_v3020` is `cudaMalloc`, and `cuMemcpyDtoH_v2` is that.
fn without_version(name: &str) -> &str {
    let Some((bare, version)) = name.rsplit_once("_v") else { return name };
    let is_version = version.len() >= 4 && version.bytes().all(|byte| byte.is_ascii_digit());
    if is_version && bare.starts_with("cu") { bare } else { name }
}

#[cfg(test)]
mod tests {
    use super::without_version;

    #[test]
    fn versions_of_the_runtime_are_no_part_of_names() {
        for (name, bare) in [
            ("cudaMalloc_v3020", "cudaMalloc"),
            ("cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC"),
            ("cuMemcpyDtoH_v2", "cuMemcpyDtoH_v2"),
            ("cudaMemcpyAsync_ptsz", "cudaMemcpyAsync_ptsz"),
            ("open_v3020", "open_v3020"),
        ] {
            assert_eq!(without_version(name), bare);
        }
    }
}
