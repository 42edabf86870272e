//! Calls, executions and iterations, and what contains what.
//!
//! ```text
//! Call.Instruction -> Instruction.Segment -> Segment.LoopIteration    the iteration that calls
//!                                         -> Segment.Call             else the call that calls
//! LoopExecution.ParentIteration           the iteration around it, if it is of the same call
//! LoopIteration.Execution <- Segment      else the call whose loop it is
//! ```

use parallax_base::casts::low_u32;
use parallax_base::paged::{Numbers, Paged, Paging};
use parallax_base::{Limits, Severity, ThreadIdx};
use parallax_formats::FormatError;
use parallax_formats::parceive::{
    CallRow, ExecutionRow, IterationRow, Key, ParceiveDb, SegmentRow, ThreadRow,
};
use parallax_model::{ActivationKind, ActivationTreeBuilder, NewActivation};

use super::instructions::Instructions;
use super::key_map::KeyMap;
use super::program::Names;
use super::tags::{Marked, Tags};
use super::threads::Threads;
use crate::activations::{NumberMap, Program, Reporter};

/// What is known before activations are in order. Activations are numbered as they were pushed:
/// calls, then executions, then iterations.
pub(super) struct Structure {
    pub(super) builder: ActivationTreeBuilder,
    pub(super) program: Program,
    pub(super) instructions: Instructions,
    /// By activation: the position of its function or loop.
    pub(super) what: Numbers<u32>,
    pub(super) threads: Threads,
    pub(super) tags: Vec<Marked>,
}

/// Packed bytes that a call, execution or iteration takes while the tree is built, about.
const ACTIVATION_BYTES: u64 = 64;

/// Executions of loops before their places are known: the key of the iteration around each, and the
/// call whose loop it is, by its first segment; one more than each, 0 for none.
struct Executions(Paged<2>);

impl Executions {
    fn push(&mut self, parent: Option<Key>) {
        self.0.push([parent.map_or(0, |key| key.wrapping_add(1)), 0]);
    }

    fn parent(&self, at: u32) -> Option<Key> {
        self.0.cell(at as usize, 0).checked_sub(1)
    }

    fn call(&self, at: u32) -> Option<u32> {
        self.0.cell(at as usize, 1).checked_sub(1).map(low_u32)
    }

    /// Says which call an execution is of; returns the first one that was said.
    fn set_call(&mut self, at: u32, call: u32) -> u32 {
        let known = self.0.at(at as usize)[1].checked_sub(1).map(low_u32);
        if known.is_none() {
            self.0.update(at as usize, |row| row[1] = u64::from(call) + 1);
        }
        known.unwrap_or(call)
    }
}

pub(super) fn read(
    db: &mut ParceiveDb,
    limits: &Limits,
    paging: &Paging,
    issues: &mut parallax_base::Issues,
) -> Result<Structure, FormatError> {
    let file = db.file().to_owned();
    let names = Names::read(db, issues)?;
    let mut builder = ActivationTreeBuilder::paged(paging);
    let mut what = Numbers::new(paging);
    let calls = Calls::read(db, issues, &mut builder, &names, &mut what)?;
    let mut thread_rows: Vec<ThreadRow> = Vec::new();
    db.scan(issues, |row: ThreadRow| thread_rows.push(row))?;
    let has_thread_rows = !thread_rows.is_empty();
    let mut threads = Threads::new(thread_rows, calls.threads.iter().copied());
    calls.set_threads(&threads, &mut builder);
    let mut loops = Loops::read(db, issues, &mut builder, &names, &mut what)?;
    // Loops that are all that is left of a program ran on some thread, too.
    if threads.len() == 0 && !builder.is_empty() {
        threads = Threads::new(Vec::new(), [0]);
    }
    let bytes = builder.len() as u64 * ACTIVATION_BYTES;
    limits
        .metadata("the calls and loops", bytes)
        .map_err(|cause| FormatError::Limit { file: file.clone(), cause })?;
    let segments = loops.segments(db, issues, &calls.at)?;
    let mut instructions = Instructions::read(db, issues, segments, limits)?;
    let tags = Tags::read(db, issues, limits, (&threads, &calls.at, &instructions))?;
    let mut report = Reporter { file: &file, issues };
    place_calls(&calls, &loops, &instructions, &mut builder, &mut report);
    loops.place(&mut builder, &mut report);
    report.many(Severity::Warning, "call-open", calls.num_open, || {
        "a call has no start or no end, as when the program was stopped; it is taken to last as \
         long as what encloses it"
            .to_owned()
    });
    report.many(Severity::Note, "threads-unknown", u64::from(!has_thread_rows), || {
        "the table of threads is empty; threads are those that calls name".to_owned()
    });
    let mut program = names.program;
    let places = (&mut program, &mut what);
    let tags = tags.place(&mut builder, &mut instructions, places, &mut report);
    Ok(Structure { builder, program, instructions, what, threads, tags })
}

/// Calls, as far as the builder does not have them.
struct Calls {
    at: KeyMap,
    /// Where each one is made; [`NO_INSTRUCTION`] for entry calls.
    instruction: Numbers<Key>,
    /// Threads in the order in which calls named them.
    threads: Vec<Key>,
    /// Calls without a start or an end.
    num_open: u64,
}

const NO_INSTRUCTION: Key = Key::MAX;

impl Calls {
    /// Adds all calls to `builder`, which has nothing yet; their threads are positions in
    /// [`Calls::threads`] until [`Calls::set_threads`].
    fn read(
        db: &mut ParceiveDb,
        issues: &mut parallax_base::Issues,
        builder: &mut ActivationTreeBuilder,
        names: &Names,
        what: &mut Numbers<u32>,
    ) -> Result<Self, FormatError> {
        let paging = builder.paging();
        let mut calls = Self {
            at: KeyMap::new(&paging),
            instruction: Numbers::new(&paging),
            threads: Vec::new(),
            num_open: 0,
        };
        let mut thread_at: NumberMap<Key, ThreadIdx> = NumberMap::default();
        db.scan(issues, |row: CallRow| {
            calls.at.add(row.id);
            calls.instruction.push(row.instruction.unwrap_or(NO_INSTRUCTION));
            calls.num_open += u64::from(row.start.is_none() || row.end.is_none());
            let thread = row.thread.unwrap_or(0);
            let thread = *thread_at.entry(thread).or_insert_with(|| {
                calls.threads.push(thread);
                ThreadIdx::from_len(calls.threads.len() - 1)
            });
            builder.push(NewActivation {
                kind: ActivationKind::Call,
                parent: None,
                thread,
                start_nanos: row.start,
                end_nanos: row.end,
                number: 0,
                line: 0,
                source_id: row.id,
            });
            what.push(names.function_at.find(row.function).unwrap_or(u32::MAX));
        })?;
        Ok(calls)
    }

    fn set_threads(&self, threads: &Threads, builder: &mut ActivationTreeBuilder) {
        let known: Vec<_> = self.threads.iter().map(|&thread| threads.find(Some(thread))).collect();
        for number in 0..u32::try_from(self.instruction.len()).unwrap_or(u32::MAX) {
            let draft = builder.get(number).map_or(0, |call| call.thread.idx());
            let thread = known.get(draft).copied().flatten();
            builder.set_thread(number, thread.unwrap_or(ThreadIdx::new(0)));
        }
    }
}

/// Executions and iterations.
struct Loops {
    executions: Executions,
    /// Number of push of the first one.
    first_execution: u32,
    /// Executions that do not say of which loop they are.
    num_nameless: u64,
    /// By iteration: the position of its execution.
    execution_of: Numbers<u32>,
    iteration_at: KeyMap,
    first_iteration: u32,
    /// By segment, in versions in which iterations name their segment.
    iteration_of_segment: KeyMap,
    lost_iterations: u64,
    doubtful: u64,
}

impl Loops {
    fn read(
        db: &mut ParceiveDb,
        issues: &mut parallax_base::Issues,
        builder: &mut ActivationTreeBuilder,
        names: &Names,
        what: &mut Numbers<u32>,
    ) -> Result<Self, FormatError> {
        let paging = builder.paging();
        let activation = |kind, source_id| NewActivation {
            kind,
            parent: None,
            thread: ThreadIdx::new(0),
            start_nanos: None,
            end_nanos: None,
            number: 0,
            line: 0,
            source_id,
        };
        let first_execution = length(builder);
        let mut executions = Executions(Paged::new(&paging));
        let mut num_nameless = 0;
        let mut execution_at = KeyMap::new(&paging);
        db.scan(issues, |row: ExecutionRow| {
            execution_at.add(row.id);
            let number = builder.push(NewActivation {
                start_nanos: row.start,
                end_nanos: row.end.or_else(|| row.start?.checked_add(row.duration?)),
                ..activation(ActivationKind::LoopExecution, row.id)
            });
            if let (None, None, Some(cycles)) = (row.start, row.end, row.duration) {
                builder.set_length(number, cycles);
            }
            what.push(names.loop_at.find(row.number).unwrap_or(u32::MAX));
            num_nameless += u64::from(row.number.is_none());
            executions.push(row.parent);
        })?;
        let first_iteration = length(builder);
        let mut loops = Self {
            executions,
            first_execution,
            num_nameless,
            execution_of: Numbers::new(&paging),
            iteration_at: KeyMap::new(&paging),
            first_iteration,
            iteration_of_segment: KeyMap::new(&paging),
            lost_iterations: 0,
            doubtful: 0,
        };
        db.scan(issues, |row: IterationRow| {
            let Some(execution) = execution_at.find(row.execution) else {
                loops.lost_iterations += 1;
                return;
            };
            let at = loops.iteration_at.add(row.id);
            if let Some(segment) = row.segment {
                loops.iteration_of_segment.set(segment, at);
            }
            loops.execution_of.push(execution);
            builder.push(NewActivation {
                parent: Some(first_execution.saturating_add(execution)),
                number: row.number.unwrap_or(at),
                ..activation(ActivationKind::Iteration, row.id)
            });
            what.push(u32::MAX);
        })?;
        Ok(loops)
    }

    /// By segment: the activation whose part it is. Learns on the way which call each execution
    /// belongs to.
    fn segments(
        &mut self,
        db: &mut ParceiveDb,
        issues: &mut parallax_base::Issues,
        call_at: &KeyMap,
    ) -> Result<Segments, FormatError> {
        let paging = self.execution_of.paging();
        let mut segments = Segments { at: KeyMap::new(&paging), activation: Numbers::new(&paging) };
        db.scan(issues, |row: SegmentRow| {
            segments.at.add(row.id);
            let call = call_at.find(row.call);
            let iteration = self
                .iteration_of_segment
                .get(row.id)
                .or_else(|| self.iteration_at.find(row.iteration));
            let execution = iteration.and_then(|at| self.execution_of.get(at as usize));
            if let (Some(execution), Some(call)) = (execution, call) {
                let known = self.executions.set_call(execution, call);
                self.doubtful += u64::from(known != call);
            }
            // The last look at a loop's condition has the number of an iteration that never came.
            let activation = iteration.map(|at| self.first_iteration.saturating_add(at)).or(call);
            segments.activation.push(activation.unwrap_or(u32::MAX));
        })?;
        Ok(segments)
    }

    /// The call whose loop an iteration is in.
    fn call_of_iteration(&self, at: u32) -> Option<u32> {
        self.executions.call(self.execution_of.get(at as usize)?)
    }

    /// Gives each execution its parent, and everything its thread.
    fn place(&self, builder: &mut ActivationTreeBuilder, report: &mut Reporter<'_>) {
        let mut homeless = 0_u64;
        let mut thread_of_execution = Numbers::<u32>::new(&self.execution_of.paging());
        for at in 0..u32::try_from(self.executions.0.len()).unwrap_or(u32::MAX) {
            let number = self.first_execution.saturating_add(at);
            let own_call = self.executions.call(at);
            let outer = self.iteration_at.find(self.executions.parent(at));
            let outer_call = outer.and_then(|outer| self.call_of_iteration(outer));
            // A loop in a function that a loop calls may name that loop's iteration; the call comes
            // between them.
            let is_direct = own_call.is_none() || outer_call.is_none() || own_call == outer_call;
            let parent = match outer {
                Some(outer) if is_direct => Some(self.first_iteration.saturating_add(outer)),
                _ => own_call,
            };
            homeless += u64::from(parent.is_none());
            builder.set_parent(number, parent);
            let call = own_call.or(outer_call).and_then(|call| builder.get(call));
            let thread = call.map_or(ThreadIdx::new(0), |call| call.thread);
            builder.set_thread(number, thread);
            thread_of_execution.push(thread.get());
        }
        for (number, execution) in (self.first_iteration..).zip(self.execution_of.iter()) {
            if let Some(thread) = thread_of_execution.get(execution as usize) {
                builder.set_thread(number, ThreadIdx::new(thread));
            }
        }
        report.many(Severity::Warning, "loop-unknown", self.num_nameless, || {
            "an execution does not say of which loop; it is shown as an unknown loop".to_owned()
        });
        report.many(Severity::Warning, "loop-without-call", homeless, || {
            "nothing says which call an execution of a loop belongs to; it is shown without one"
                .to_owned()
        });
        report.many(Severity::Warning, "iteration-without-loop", self.lost_iterations, || {
            "an iteration belongs to no execution of a loop; it is omitted".to_owned()
        });
        report.many(Severity::Warning, "loop-in-two-calls", self.doubtful, || {
            "segments of one execution of a loop are of different calls; the first one counts"
                .to_owned()
        });
    }
}

/// Where segments are, and whose part each one is.
pub(super) struct Segments {
    pub(super) at: KeyMap,
    /// Numbers of push.
    pub(super) activation: Numbers<u32>,
}

/// Gives each call its caller.
fn place_calls(
    calls: &Calls,
    loops: &Loops,
    instructions: &Instructions,
    builder: &mut ActivationTreeBuilder,
    report: &mut Reporter<'_>,
) {
    let (mut unknown, mut across) = (0_u64, 0_u64);
    for (number, instruction) in (0_u32..).zip(calls.instruction.iter()) {
        if instruction == NO_INSTRUCTION {
            continue;
        }
        let found = instructions.find(Some(instruction));
        let Some((caller, line)) = found.and_then(|found| Some((found.activation?, found.line)))
        else {
            unknown += 1;
            continue;
        };
        let call = match caller.checked_sub(loops.first_iteration) {
            Some(iteration) => loops.call_of_iteration(iteration),
            None => Some(caller),
        };
        let own = builder.get(number).map(|call| call.thread);
        let theirs = call.and_then(|call| builder.get(call)).map(|call| call.thread);
        // A thread's entry call may name what started the thread.
        if theirs.is_some() && theirs != own {
            across += 1;
            continue;
        }
        builder.set_parent(number, Some(caller));
        builder.set_line(number, line);
    }
    report.many(Severity::Warning, "caller-unknown", unknown, || {
        "the instruction that calls a function is not in the database; the call is shown without \
         a caller"
            .to_owned()
    });
    report.many(Severity::Note, "caller-in-other-thread", across, || {
        "a call names a caller in another thread; it is shown as the beginning of its own thread"
            .to_owned()
    });
}

fn length(builder: &ActivationTreeBuilder) -> u32 {
    u32::try_from(builder.len()).unwrap_or(u32::MAX)
}
