//! From merged events to activations, references, touches and synchronisations.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parallax_base::paged::{Numbers, Paging};
use parallax_base::{ActivationIdx, FileIdx, Limits, ModuleIdx, ReferenceIdx, Severity, ThreadIdx};
use parallax_formats::plxm::{Event, PlaceKind, Recording, What};
use parallax_model::{
    ActivationKind, ActivationTreeBuilder, ContextTree, Function, Module, NewActivation,
    SourceFile, SyncEvent, SyncKind,
};

use super::blocks::Functions;
use super::merge::Overview;
use super::references::References;
use crate::activations::{Access, LoopSite, NumberMap, Program, Reporter, TouchCollector};
use crate::flow::{FlowLoops, NONE};

/// Functions, files and loops, and which of them each place is.
pub(super) struct Places {
    pub(super) program: Program,
    /// By place: the position of its function, region or loop; `u32::MAX` for others.
    what: Vec<u32>,
    /// By place: the function that its source is in; equal numbers are the same function.
    scope: Vec<u32>,
    functions: Functions,
    /// By loop of the flow graph: its position among the loops of the program.
    sites: Vec<u32>,
}

impl Places {
    pub(super) fn new(recording: &Recording, functions: Functions, loops: &FlowLoops) -> Self {
        let mut program = Program::default();
        if !recording.program.is_empty() {
            program.modules.push(Module { path: recording.program.as_str().into() });
        }
        let module = program.modules.first().map(|_| ModuleIdx::new(0));
        let mut file_at: HashMap<&str, FileIdx> = HashMap::new();
        let mut scope_at: HashMap<(&str, &str), u32> = HashMap::new();
        // A function of a header has a place in each object file.
        let mut function_at: HashMap<(&str, &str, u32), u32> = HashMap::new();
        let mut loop_at: HashMap<(&str, u32), u32> = HashMap::new();
        let (mut what, mut scope) = (Vec::new(), Vec::new());
        for number in 0..recording.num_places() {
            let Some(place) = recording.place(number) else {
                what.push(u32::MAX);
                scope.push(u32::MAX);
                continue;
            };
            let file = *file_at.entry(&place.file).or_insert_with(|| {
                program.files.push(SourceFile {
                    path: text(&place.file, "<unknown file>"),
                    is_copied: false,
                });
                FileIdx::from_len(program.files.len() - 1)
            });
            let scopes = u32::try_from(scope_at.len()).unwrap_or(u32::MAX);
            scope.push(*scope_at.entry((&place.file, &place.function)).or_insert(scopes));
            what.push(match place.kind {
                PlaceKind::Function | PlaceKind::Region => {
                    let is_region = place.kind == PlaceKind::Region;
                    let name = if is_region { &place.name } else { &place.function };
                    *function_at.entry((&place.file, name, place.line)).or_insert_with(|| {
                        program.functions.push(Function {
                            name: text(name, ContextTree::UNKNOWN_FUNCTION),
                            group: None,
                            module,
                            file: Some(file),
                            line: place.line,
                        });
                        length(program.functions.len() - 1)
                    })
                }
                PlaceKind::Loop => *loop_at.entry((&place.file, place.line)).or_insert_with(|| {
                    program.loops.push(LoopSite { file: Some(file), line: place.line });
                    length(program.loops.len() - 1)
                }),
                PlaceKind::Other | PlaceKind::Block => u32::MAX,
            });
        }
        let mut sites = Vec::new();
        for found in &loops.list {
            let place = recording.place(found.place);
            let (path, line) = place.map_or(("", 0), |place| (&*place.file, place.line));
            sites.push(*loop_at.entry((path, line)).or_insert_with(|| {
                program.loops.push(LoopSite { file: file_at.get(path).copied(), line });
                length(program.loops.len() - 1)
            }));
        }
        Self { program, what, scope, functions, sites }
    }

    fn scope(&self, place: u32) -> u32 {
        self.scope.get(place as usize).copied().unwrap_or(u32::MAX)
    }
}

fn text(text: &str, otherwise: &str) -> Arc<str> {
    if text.is_empty() { otherwise.into() } else { text.into() }
}

fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// What is open in a thread.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// How many scopes are open around it, as the program counts.
    depth: u32,
    kind: ActivationKind,
    /// Number of push. An iteration without a loop has that of what is around it.
    activation: u32,
    is_own: bool,
    /// Of a function or region.
    place: u32,
    /// Of a loop: how many iterations began.
    iterations: u32,
    /// Of an execution or iteration that no mark made: the loop of the flow graph.
    of_loop: u32,
    /// Of such an execution: when its condition began to be tested. It is not known yet whether an
    /// iteration follows, and reads wait.
    tests_since: Option<u64>,
}

/// Everything of a run before activations are in order.
pub(super) struct Run<'r> {
    recording: &'r Recording,
    overview: &'r Overview,
    places: &'r Places,
    loops: &'r FlowLoops,
    pub(super) builder: ActivationTreeBuilder,
    /// By activation: the position of its function or loop.
    pub(super) what: Numbers<u32>,
    pub(super) references: References,
    pub(super) touches: TouchCollector,
    /// Their activations are numbers of push.
    pub(super) syncs: Vec<SyncEvent>,
    /// By thread: the synchronisation that started it.
    pub(super) creators: Vec<Option<usize>>,
    open: Vec<Vec<Frame>>,
    /// By thread: reads while a condition is tested, by place, with address and bytes.
    waiting: Vec<Vec<(u32, (u64, u64))>>,
    /// Locks by address.
    locks: NumberMap<u64, u32>,
    /// References that are locks.
    is_lock: HashSet<u32>,
    found: Vec<u32>,
    faults: Faults,
}

#[derive(Default)]
struct Faults {
    homeless: u64,
    no_loop: u64,
    open: u64,
    late: u64,
    unknown_thread: u64,
    unknown_place: u64,
}

impl<'r> Run<'r> {
    pub(super) fn new(
        recording: &'r Recording,
        overview: &'r Overview,
        (places, loops): (&'r Places, &'r FlowLoops),
        (limits, paging): (&Limits, &Paging),
    ) -> Self {
        Self {
            recording,
            overview,
            places,
            loops,
            builder: ActivationTreeBuilder::paged(paging),
            what: Numbers::new(paging),
            references: References::new(&recording.variables, limits.metadata_bytes / 4),
            touches: TouchCollector::new(limits.metadata_bytes, paging),
            syncs: Vec::new(),
            creators: vec![None; overview.threads.len()],
            open: vec![Vec::new(); overview.threads.len()],
            waiting: vec![Vec::new(); overview.threads.len()],
            locks: NumberMap::default(),
            is_lock: HashSet::new(),
            found: Vec::new(),
            faults: Faults::default(),
        }
    }

    /// Takes the next event. `counts` are how many threads its thread has started and waited for,
    /// with this event.
    pub(super) fn take(&mut self, thread: ThreadIdx, event: Event, counts: (u32, u32)) {
        let ticks = event.ticks;
        if self.tests_since(thread).is_some() {
            match event.what {
                What::Access { place, address, bytes, is_write: false } => {
                    if let Some(waiting) = self.waiting.get_mut(thread.idx()) {
                        waiting.push((place, (address, bytes)));
                        return;
                    }
                }
                // These may be the end of the loop.
                What::Block { .. } | What::Leave { .. } | What::FrameEnds { .. } => {}
                _ => self.test_passes(thread),
            }
        }
        match event.what {
            What::Call { place, depth } => {
                self.close(thread, depth, ticks);
                self.call(thread, place, depth, ticks);
            }
            What::Loop { place, depth } => {
                self.close(thread, depth, ticks);
                let what = self.what_of(place);
                self.enter(thread, ActivationKind::LoopExecution, what, (place, depth), ticks);
            }
            What::Iteration { depth } => {
                self.close(thread, depth, ticks);
                self.iteration(thread, depth, ticks);
            }
            What::Leave { depth } => {
                self.close(thread, depth.saturating_add(1), ticks);
                while self
                    .last(thread)
                    .is_some_and(|last| last.depth == depth && last.of_loop != NONE)
                {
                    self.end(thread, ticks);
                }
                let Some(open) = self.open.get_mut(thread.idx()) else { return };
                if let Some(frame) = open.pop_if(|frame| frame.depth == depth)
                    && frame.is_own
                {
                    self.builder.set_end(frame.activation, ticks);
                }
            }
            What::Access { place, address, bytes, is_write } => {
                self.access(thread, place, (address, bytes), is_write);
            }
            What::Allocated { place, address, bytes, storage } => {
                let site = self.site(thread, place);
                let at = (place, self.recording.place(place));
                self.references.allocate((address, bytes), at, storage, site);
            }
            What::Block { place, depth } => {
                self.close(thread, depth, ticks);
                self.block(thread, place, depth, ticks);
            }
            What::FrameEnds { address, bytes } => self.references.end_frame(address, bytes),
            What::Released { place, address } => {
                let site = self.site(thread, place);
                self.references.release(address, site);
            }
            What::Started { place, .. } => {
                let key = (thread.get(), counts.0.saturating_sub(1));
                let other = self.overview.started.get(&key).copied();
                let at = self.sync(thread, place, SyncKind::Fork, other, None);
                if let Some(slot) = other.and_then(|other| self.creators.get_mut(other.idx())) {
                    *slot = at;
                }
            }
            What::Joined { place, .. } => {
                let key = (thread.get(), counts.1.saturating_sub(1));
                let other = self.overview.joined.get(&key).copied();
                self.sync(thread, place, SyncKind::Join, other, None);
            }
            What::Lock { place, address, is_taken } => {
                let lock = self.lock(place, address);
                let kind = if is_taken { SyncKind::Acquire } else { SyncKind::Release };
                self.sync(thread, place, kind, None, lock);
            }
        }
    }

    /// Everything that is still open stays without an end; reports what was met.
    pub(super) fn finish(&mut self, report: &mut Reporter<'_>) {
        for thread in 0..self.open.len() {
            self.test_fails(ThreadIdx::from_len(thread));
        }
        let is_marked = |frame: &&Frame| frame.is_own && frame.of_loop == NONE;
        let open = self.open.iter().flatten().filter(is_marked).count();
        self.faults.open = open as u64;
        let Faults { homeless, no_loop, open, late, unknown_thread, unknown_place } = self.faults;
        report.many(Severity::Warning, "event-without-call", homeless, || {
            "an access, an allocation or a lock lies in no function or region; it is omitted: \
             mark the first function of each thread"
                .to_owned()
        });
        report.many(Severity::Warning, "iteration-without-loop", no_loop, || {
            "an iteration begins where no loop is open; what it does counts for what is around it"
                .to_owned()
        });
        report.many(Severity::Warning, "call-open", open, || {
            "a call or loop has no end, as when the program was stopped; it is taken to last as \
             long as what encloses it"
                .to_owned()
        });
        report.many(Severity::Note, "scope-left-late", late, || {
            "a call or loop was not left before the next event outside of it (as with longjmp); \
             it ends there"
                .to_owned()
        });
        report.many(Severity::Note, "thread-unknown", unknown_thread, || {
            "a thread is started or waited for that recorded nothing".to_owned()
        });
        report.many(Severity::Warning, "place-unknown", unknown_place, || {
            "an event names a place in the source that is not in the recording".to_owned()
        });
        report.many(Severity::Warning, "references-lost", self.references.num_lost, || {
            "there are more variables and allocations than can be kept; those of one place are \
             taken for one"
                .to_owned()
        });
    }

    fn what_of(&mut self, place: u32) -> u32 {
        let what = self.places.what.get(place as usize).copied().unwrap_or(u32::MAX);
        self.faults.unknown_place += u64::from(what == u32::MAX);
        what
    }

    fn last(&self, thread: ThreadIdx) -> Option<Frame> {
        self.open.get(thread.idx())?.last().copied()
    }

    /// Ends what is open at a depth and below it.
    fn close(&mut self, thread: ThreadIdx, depth: u32, ticks: u64) {
        while let Some(last) = self.last(thread).filter(|last| last.depth >= depth) {
            self.end(thread, ticks);
            self.faults.late += u64::from(last.is_own && last.of_loop == NONE);
        }
    }

    /// Ends what was begun last.
    fn end(&mut self, thread: ThreadIdx, ticks: u64) {
        if self.tests_since(thread).is_some() {
            self.test_fails(thread);
        }
        if let Some(frame) = self.open.get_mut(thread.idx()).and_then(Vec::pop)
            && frame.is_own
        {
            self.builder.set_end(frame.activation, ticks);
        }
    }

    fn call(&mut self, thread: ThreadIdx, place: u32, depth: u32, ticks: u64) {
        let what = self.what_of(place);
        let around = self.open.get(thread.idx()).into_iter().flatten();
        let caller = around.rev().find(|frame| frame.kind == ActivationKind::Call);
        // A region begins in the function around it; of a call only the callee is known.
        let is_inside = caller
            .is_some_and(|caller| self.places.scope(caller.place) == self.places.scope(place));
        let number = self.enter(thread, ActivationKind::Call, what, (place, depth), ticks);
        if let Some(region) = self.recording.place(place)
            && is_inside
            && region.kind == PlaceKind::Region
        {
            self.builder.set_line(number, region.line);
        }
    }

    fn iteration(&mut self, thread: ThreadIdx, depth: u32, ticks: u64) {
        let Some(open) = self.open.get_mut(thread.idx()) else { return };
        let Some(&around) = open.last() else {
            self.faults.no_loop += 1;
            return;
        };
        if around.kind != ActivationKind::LoopExecution {
            self.faults.no_loop += 1;
            open.push(Frame { depth, is_own: false, ..around });
            return;
        }
        self.begin_iteration(thread, depth, ticks);
    }

    /// Begins an iteration of the execution that was begun last.
    fn begin_iteration(&mut self, thread: ThreadIdx, depth: u32, ticks: u64) {
        let Some(around) = self.open.get_mut(thread.idx()).and_then(|open| open.last_mut()) else {
            return;
        };
        let Frame { iterations, of_loop, .. } = *around;
        around.iterations = iterations.saturating_add(1);
        let number = self.enter(thread, ActivationKind::Iteration, u32::MAX, (0, depth), ticks);
        self.builder.set_number(number, iterations);
        self.set_loop(thread, of_loop);
    }

    fn set_loop(&mut self, thread: ThreadIdx, of_loop: u32) {
        if let Some(last) = self.open.get_mut(thread.idx()).and_then(|open| open.last_mut()) {
            last.of_loop = of_loop;
        }
    }

    /// A block of the function that was entered last begins: loops that it is not in are over, and
    /// others may begin, or an iteration of one.
    fn block(&mut self, thread: ThreadIdx, place: u32, depth: u32, ticks: u64) {
        let open = self.open.get(thread.idx()).into_iter().flatten();
        let call = open.rev().find(|frame| frame.kind == ActivationKind::Call);
        let is_of_call = call.is_some_and(|call| {
            call.depth + 1 == depth && self.places.functions.is_in(place, call.place)
        });
        if !is_of_call {
            return;
        }
        let (loops, innermost) = (self.loops, self.loops.of(place));
        let around = loop {
            match self.last(thread) {
                Some(last) if last.of_loop == NONE => break NONE,
                Some(last) if loops.is_around(last.of_loop, innermost) => break last.of_loop,
                Some(_) => self.end(thread, ticks),
                None => return,
            }
        };
        let depth = depth - 1;
        if self.tests_since(thread).is_some() {
            self.test_passes(thread);
        }
        if loops.is_header(place, around) {
            if self.last(thread).is_some_and(|last| last.kind == ActivationKind::Iteration) {
                self.end(thread, ticks);
            }
            self.next_iteration(thread, around, ticks);
        }
        let mut entered = Vec::new();
        let mut inner = innermost;
        while inner != around && inner != NONE {
            entered.push(inner);
            inner = loops.parent(inner);
        }
        for number in entered.into_iter().rev() {
            let what = self.places.sites.get(number as usize).copied().unwrap_or(u32::MAX);
            if self.tests_since(thread).is_some() {
                self.test_passes(thread);
            }
            self.enter(thread, ActivationKind::LoopExecution, what, (0, depth), ticks);
            self.set_loop(thread, number);
            self.next_iteration(thread, number, ticks);
        }
    }

    /// Begins the next iteration of a loop, or the test whether there is one.
    fn next_iteration(&mut self, thread: ThreadIdx, number: u32, ticks: u64) {
        let tests_first = self.loops.tests_first(number);
        let last = self.open.get_mut(thread.idx()).and_then(|open| open.last_mut());
        let Some(last) = last else { return };
        if tests_first {
            last.tests_since = Some(ticks);
        } else {
            let depth = last.depth;
            self.begin_iteration(thread, depth, ticks);
        }
    }

    /// Since when the condition of the loop that was entered last is tested.
    fn tests_since(&self, thread: ThreadIdx) -> Option<u64> {
        self.open.get(thread.idx())?.last()?.tests_since
    }

    /// An iteration follows on the test, which is a part of it.
    fn test_passes(&mut self, thread: ThreadIdx) {
        let last = self.open.get_mut(thread.idx()).and_then(|open| open.last_mut());
        let Some((since, depth)) =
            last.and_then(|last| Some((last.tests_since.take()?, last.depth)))
        else {
            return;
        };
        self.begin_iteration(thread, depth, since);
        self.read_what_waits(thread);
    }

    /// The loop ends with the test, which is a part of its execution but of no iteration.
    fn test_fails(&mut self, thread: ThreadIdx) {
        if let Some(last) = self.open.get_mut(thread.idx()).and_then(|open| open.last_mut()) {
            last.tests_since = None;
        }
        self.read_what_waits(thread);
    }

    fn read_what_waits(&mut self, thread: ThreadIdx) {
        let waiting = self.waiting.get_mut(thread.idx()).map(std::mem::take).unwrap_or_default();
        for (place, bytes) in waiting {
            self.access(thread, place, bytes, false);
        }
    }

    fn enter(
        &mut self,
        thread: ThreadIdx,
        kind: ActivationKind,
        what: u32,
        (place, depth): (u32, u32),
        ticks: u64,
    ) -> u32 {
        let number = length(self.builder.len());
        let Some(open) = self.open.get_mut(thread.idx()) else { return number };
        self.builder.push(NewActivation {
            kind,
            parent: open.last().map(|frame| frame.activation),
            thread,
            start_nanos: Some(ticks),
            end_nanos: None,
            number: 0,
            line: 0,
            source_id: u64::from(number) + 1,
        });
        self.what.push(what);
        let activation = number;
        open.push(Frame {
            depth,
            kind,
            activation,
            is_own: true,
            place,
            iterations: 0,
            of_loop: NONE,
            tests_since: None,
        });
        number
    }

    fn access(&mut self, thread: ThreadIdx, place: u32, bytes: (u64, u64), is_write: bool) {
        let Some((activation, line)) = self.site(thread, place) else { return };
        let scope = self.places.scope(place);
        let named = self.recording.place(place);
        self.references.find(bytes.0, bytes.1, named, scope, &mut self.found);
        for &reference in &self.found {
            let bytes = Some(bytes);
            self.touches.add(&Access { activation, thread, reference, is_write, line, bytes });
        }
    }

    fn sync(
        &mut self,
        thread: ThreadIdx,
        place: u32,
        kind: SyncKind,
        other_thread: Option<ThreadIdx>,
        lock: Option<ReferenceIdx>,
    ) -> Option<usize> {
        let is_thread = matches!(kind, SyncKind::Fork | SyncKind::Join);
        self.faults.unknown_thread += u64::from(is_thread && other_thread.is_none());
        let (activation, line) = self.site(thread, place)?;
        let activation = ActivationIdx::new(activation);
        let sequence = self.touches.sequence();
        self.syncs.push(SyncEvent { activation, kind, sequence, line, other_thread, lock });
        self.touches.next_epoch(thread);
        Some(self.syncs.len() - 1)
    }

    /// The reference that a lock is; locks in one array are several.
    fn lock(&mut self, place: u32, address: u64) -> Option<ReferenceIdx> {
        if let Some(&known) = self.locks.get(&address) {
            return Some(ReferenceIdx::new(known));
        }
        let (named, scope) = (self.recording.place(place), self.places.scope(place));
        self.references.find(address, 1, named, scope, &mut self.found);
        let mut found = *self.found.first()?;
        if !self.is_lock.insert(found) {
            found = self.references.twin(found);
            self.is_lock.insert(found);
        }
        self.locks.insert(address, found);
        Some(ReferenceIdx::new(found))
    }

    /// Who does something now, and on which line.
    fn site(&mut self, thread: ThreadIdx, place: u32) -> Option<(u32, u32)> {
        let frame = self.open.get(thread.idx()).and_then(|open| open.last());
        let Some(frame) = frame else {
            self.faults.homeless += 1;
            return None;
        };
        let line = self.recording.place(place).map_or(0, |place| place.line);
        Some((frame.activation, line))
    }
}
