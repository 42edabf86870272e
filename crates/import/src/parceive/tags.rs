//! Tags: intervals of threads that a program marked, above all sections and tasks.
//!
//! A section or task becomes an activation of its own, as a region of `parallax.h` is one:
//!
//! ```text
//! solve                       solve
//!   x = 1      (task A)         task A         writes x, calls f
//!   f()        (task A)           f
//!   y = 2      (task B)         task B         writes y, calls g
//!   g()        (task B)           g
//! ```
//!
//! Calls and executions of loops belong to it by their times. Accesses have none, so the instructions
//! that the database names decide which of the call's own accesses are in it. A tag of which the
//! database names no instruction, that begins in one call and ends in another, or that is left in
//! the middle of a call or of another tag, stays an interval: nothing is concluded from it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use parallax_base::paged::Numbers;
use parallax_base::{Issues, Limits, Severity, ThreadIdx};
use parallax_formats::FormatError;
use parallax_formats::parceive::{
    CallTagRow, InstructionTagRow, Key, ParceiveDb, TagInstanceRow, TagRow,
};
use parallax_model::{ActivationKind, ActivationTreeBuilder, Function, NewActivation};

use super::instructions::Instructions;
use super::key_map::KeyMap;
use super::threads::Threads;
use crate::activations::{Program, Reporter};

/// A marked interval.
pub(super) struct Marked {
    pub(super) name: Arc<str>,
    pub(super) kind: Arc<str>,
    pub(super) thread: Option<ThreadIdx>,
    /// In cycles.
    pub(super) start: u64,
    /// In cycles.
    pub(super) end: u64,
    pub(super) counter: u64,
    /// The activation that stands for it, as a number of push.
    pub(super) scope: Option<u32>,
    id: Key,
    /// The position of its tag.
    tag: u32,
}

impl Marked {
    fn is_section(&self) -> bool {
        &*self.kind == SECTION
    }

    fn is_scope(&self) -> bool {
        self.is_section() || &*self.kind == TASK
    }

    const fn has(&self, start: u64, end: u64) -> bool {
        self.start <= start && end <= self.end
    }
}

const SECTION: &str = "section";
const TASK: &str = "task";

/// Bytes that what is said of one instruction takes.
const MARK_BYTES: u64 = 8;

/// All marked intervals, and what is in them.
#[derive(Default)]
pub(super) struct Tags {
    list: Vec<Marked>,
    /// Positions of instructions by interval, ascending; each pair once.
    instructions: Vec<(u32, u32)>,
    /// Calls by interval, as numbers of push, ascending.
    calls: Vec<(u32, u32)>,
}

impl Tags {
    /// Reads the tables of tags; `call_at` says where calls are.
    pub(super) fn read(
        db: &mut ParceiveDb,
        issues: &mut Issues,
        limits: &Limits,
        (threads, call_at, instructions): (&Threads, &KeyMap, &Instructions),
    ) -> Result<Self, FormatError> {
        let mut names: Vec<(Arc<str>, Arc<str>)> = Vec::new();
        let mut tag_at = KeyMap::default();
        db.scan(issues, |row: TagRow| {
            tag_at.add(row.id);
            let kind = match row.kind {
                Some(2) => SECTION.into(),
                Some(10) => TASK.into(),
                Some(other) => format!("type {other}").into(),
                None => "".into(),
            };
            names.push((row.name.unwrap_or_default().into(), kind));
        })?;
        let mut tags = Self::default();
        let mut at = KeyMap::default();
        let (mut nameless, mut timeless) = (0_u64, 0_u64);
        db.scan(issues, |row: TagInstanceRow| {
            let tag = tag_at.find(row.tag);
            let Some((tag, (name, kind))) = tag.and_then(|at| Some((at, names.get(at as usize)?)))
            else {
                nameless += 1;
                return;
            };
            let times = row.start.zip(row.end).filter(|(start, end)| start <= end);
            let Some((start, end)) = times else {
                timeless += 1;
                return;
            };
            at.add(row.id);
            tags.list.push(Marked {
                name: Arc::clone(name),
                kind: Arc::clone(kind),
                thread: threads.find(row.thread),
                start,
                end,
                counter: row.counter,
                scope: None,
                id: row.id,
                tag,
            });
        })?;
        let file = db.file().to_owned();
        let mut report = Reporter { file: &file, issues };
        report.many(Severity::Warning, "tag-unknown", nameless, || {
            "a marked interval belongs to a tag that is not in the database; it is omitted"
                .to_owned()
        });
        report.many(Severity::Warning, "tag-without-time", timeless, || {
            "a marked interval has no start or no end, or ends before it starts, as when the \
             program was stopped in it; it is omitted"
                .to_owned()
        });
        if tags.list.is_empty() {
            return Ok(tags);
        }
        let most = limits.metadata_bytes / MARK_BYTES;
        let mut num_marks = 0_u64;
        db.scan(report.issues, |row: InstructionTagRow| {
            num_marks += 1;
            if num_marks <= most
                && let (Some(instruction), Some(tag)) =
                    (instructions.position(Some(row.instruction)), at.get(row.instance))
            {
                tags.instructions.push((tag, instruction));
            }
        })?;
        limits
            .metadata("the instructions of tags", num_marks.saturating_mul(MARK_BYTES))
            .map_err(|cause| FormatError::Limit { file: file.clone(), cause })?;
        db.scan(report.issues, |row: CallTagRow| {
            if let (Some(call), Some(tag)) = (call_at.get(row.call), at.get(row.instance)) {
                tags.calls.push((tag, call));
            }
        })?;
        tags.instructions.sort_unstable();
        tags.instructions.dedup();
        tags.calls.sort_unstable();
        Ok(tags)
    }

    /// Makes activations of sections and tasks. All others must have their parents.
    pub(super) fn place(
        mut self,
        builder: &mut ActivationTreeBuilder,
        instructions: &mut Instructions,
        (program, what): (&mut Program, &mut Numbers<u32>),
        report: &mut Reporter<'_>,
    ) -> Vec<Marked> {
        let mut at: BTreeMap<u32, Vec<(u32, Home)>> = BTreeMap::new();
        let (mut unmarked, mut across) = (0_u64, 0_u64);
        for (tag, own) in (0_u32..).zip(&self.list) {
            if !own.is_scope() {
                continue;
            }
            match home(own, self.instructions_of(tag), builder, instructions) {
                Ok(home) => at.entry(home.place).or_default().push((tag, home)),
                Err(Unplaced::NoInstruction) => unmarked += 1,
                Err(Unplaced::AcrossCalls) => across += 1,
            }
        }
        let places: Vec<(u32, u32)> = at
            .iter()
            .flat_map(|(&place, tags)| tags.iter().map(move |own| (own.0, place)))
            .collect();
        let children = children(&at, builder);
        for (place, tags) in at {
            let children = children.get(&place).map_or(&[][..], Vec::as_slice);
            let nest = self.nest(&tags, children, builder, &mut across);
            self.emit(place, &tags, &nest, builder, (&mut *program, &mut *what));
        }
        self.assign(&places, instructions);
        report.many(Severity::Warning, "tag-without-instructions", unmarked, || {
            "the database does not say which instructions are in a section or task; it is an \
             interval of time, and advice does not use it"
                .to_owned()
        });
        report.many(Severity::Warning, "tag-across-calls", across, || {
            "a section or task begins in one call, iteration or other tag and ends in another; it \
             is an interval of time, and advice does not use it"
                .to_owned()
        });
        self.list
    }

    /// Which tag each tag and child of one place is in; tags that fit in nothing are missing.
    fn nest(
        &self,
        tags: &[(u32, Home)],
        children: &[u32],
        builder: &ActivationTreeBuilder,
        across: &mut u64,
    ) -> Nest {
        let mut items: Vec<(u64, Reverse<u64>, u8, u32)> = Vec::new();
        let mut rejected: BTreeSet<u32> = BTreeSet::new();
        for &(tag, _) in tags {
            if let Some(own) = self.list.get(tag as usize) {
                let rank = u8::from(!own.is_section());
                items.push((own.start, Reverse(own.end), rank, tag));
            }
        }
        for &child in children {
            let Some(found) = builder.get(child) else { continue };
            match found.start_nanos {
                Some(start) => {
                    let end = found.end_nanos.unwrap_or(u64::MAX).max(start);
                    items.push((start, Reverse(end), CHILD, child));
                }
                // Nobody knows whether it is inside.
                None => rejected.extend(tags.iter().map(|(tag, _)| *tag)),
            }
        }
        items.sort_unstable();
        self.sweep(&items, &mut rejected);
        let nest = self.sweep(&items, &mut rejected);
        // What the database says of calls, against their times.
        for &(tag, _) in tags {
            let mut here = self.calls_of(tag).filter(|call| nest.of_child.contains_key(call));
            if here.any(|call| !nest.is_within(call, tag)) {
                rejected.insert(tag);
            }
        }
        *across += rejected.len() as u64;
        self.sweep(&items, &mut rejected)
    }

    /// Goes through what begins and ends in order of time; rejects tags in whose middle something
    /// ends.
    fn sweep(&self, items: &[(u64, Reverse<u64>, u8, u32)], rejected: &mut BTreeSet<u32>) -> Nest {
        let mut nest = Nest::default();
        let mut open: Vec<(u32, u64)> = Vec::new();
        for &(start, Reverse(end), rank, number) in items {
            while open.last().is_some_and(|&(_, last)| last <= start) {
                open.pop();
            }
            if rank != CHILD && rejected.contains(&number) {
                continue;
            }
            while let Some(&(tag, last)) = open.last()
                && last < end
            {
                // Of two tags the later one does not fit; a call or loop always does.
                if rank != CHILD {
                    rejected.insert(number);
                    break;
                }
                rejected.insert(tag);
                open.pop();
            }
            let above = open.last().map(|&(tag, _)| tag);
            match rank {
                CHILD => {
                    nest.of_child.insert(number, above);
                }
                _ if rejected.contains(&number) => {}
                _ => {
                    nest.of_tag.insert(number, above);
                    nest.order.push(number);
                    open.push((number, end));
                }
            }
        }
        nest
    }

    /// Adds the activations of the tags of one place, outer ones first, and puts what is in them
    /// below them.
    fn emit(
        &mut self,
        place: u32,
        tags: &[(u32, Home)],
        nest: &Nest,
        builder: &mut ActivationTreeBuilder,
        (program, what): (&mut Program, &mut Numbers<u32>),
    ) {
        let homes: HashMap<u32, Home> = tags.iter().copied().collect();
        let mut functions: HashMap<(u32, u32), u32> = HashMap::new();
        for tag in &nest.order {
            let above = nest.of_tag.get(tag).copied().flatten();
            let above = above.and_then(|above| self.list.get(above as usize)?.scope);
            let (Some(own), Some(home)) = (self.list.get_mut(*tag as usize), homes.get(tag)) else {
                continue;
            };
            let frame = what.get(home.frame as usize).unwrap_or(u32::MAX);
            let function = *functions.entry((own.tag, frame)).or_insert_with(|| {
                let around = program.functions.get(frame as usize);
                let (module, file) = around.map_or((None, None), |f| (f.module, f.file));
                let name = format!("{} {}", own.kind, own.name).trim_end().into();
                program.functions.push(Function {
                    name,
                    group: None,
                    module,
                    file,
                    line: home.line,
                });
                u32::try_from(program.functions.len() - 1).unwrap_or(u32::MAX)
            });
            let thread = builder.get(home.frame).map_or(ThreadIdx::new(0), |call| call.thread);
            own.thread.get_or_insert(thread);
            own.scope = Some(builder.push(NewActivation {
                kind: ActivationKind::Call,
                parent: Some(above.unwrap_or(place)),
                thread,
                start_nanos: Some(own.start),
                end_nanos: Some(own.end),
                number: 0,
                line: home.line,
                source_id: own.id,
            }));
            what.push(function);
        }
        for (&child, above) in &nest.of_child {
            let scope = above.and_then(|tag| self.list.get(tag as usize)?.scope);
            if scope.is_some() {
                builder.set_parent(child, scope);
            }
        }
    }

    /// Gives a call's own instructions to the innermost tag that they are in.
    fn assign(&self, places: &[(u32, u32)], instructions: &mut Instructions) {
        let mut own: Vec<(u32, u32)> = Vec::new();
        for &(tag, place) in places {
            let scope = self.list.get(tag as usize).and_then(|own| own.scope);
            let Some(scope) = scope else { continue };
            let inside = self.instructions_of(tag).map(|instruction| (scope, instruction));
            own.extend(inside.filter(|&(_, at)| instructions.get(at).activation == Some(place)));
        }
        // Scopes are numbered outer ones first, so that inner ones come last.
        own.sort_unstable();
        for (scope, instruction) in own {
            instructions.set_activation(instruction, scope);
        }
    }

    fn instructions_of(&self, tag: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        let from = self.instructions.partition_point(|mark| mark.0 < tag);
        let marks = self.instructions.get(from..).unwrap_or_default();
        marks.iter().take_while(move |mark| mark.0 == tag).map(|mark| mark.1)
    }

    fn calls_of(&self, tag: u32) -> impl Iterator<Item = u32> + '_ {
        let from = self.calls.partition_point(|mark| mark.0 < tag);
        let marks = self.calls.get(from..).unwrap_or_default();
        marks.iter().take_while(move |mark| mark.0 == tag).map(|mark| mark.1)
    }
}

/// [`Tags::nest`]: ranks of tags are below it.
const CHILD: u8 = 2;

/// What is in which tag.
#[derive(Default)]
struct Nest {
    of_tag: BTreeMap<u32, Option<u32>>,
    of_child: BTreeMap<u32, Option<u32>>,
    /// Tags, outer ones first.
    order: Vec<u32>,
}

impl Nest {
    fn is_within(&self, child: u32, tag: u32) -> bool {
        let mut at = self.of_child.get(&child).copied().flatten();
        while let Some(above) = at {
            if above == tag {
                return true;
            }
            at = self.of_tag.get(&above).copied().flatten();
        }
        false
    }
}

/// Where a tag is.
#[derive(Debug, Clone, Copy)]
struct Home {
    /// The call.
    frame: u32,
    /// The call or an iteration of its loops.
    place: u32,
    /// The first line known; 0 when none is.
    line: u32,
}

enum Unplaced {
    NoInstruction,
    AcrossCalls,
}

/// Where a section or task is: the call whose instructions it has, or the iteration of its loops
/// that has them all.
fn home(
    own: &Marked,
    marks: impl Iterator<Item = u32>,
    builder: &ActivationTreeBuilder,
    instructions: &Instructions,
) -> Result<Home, Unplaced> {
    // By activation: its first instruction, and the line of that.
    let mut first: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for mark in marks {
        let found = instructions.get(mark);
        if let Some(activation) = found.activation {
            first.entry(activation).or_insert((mark, found.line));
        }
    }
    let mut paths: Vec<(Vec<u32>, (u32, u32))> = Vec::with_capacity(first.len());
    for (activation, instruction) in first {
        paths.push((path(activation, builder).ok_or(Unplaced::AcrossCalls)?, instruction));
    }
    let call = |path: &[u32]| path.first().and_then(|&call| Some((call, builder.get(call)?)));
    let when = |path: &[u32]| {
        let call = call(path).map(|(_, call)| (call.start_nanos, call.end_nanos));
        let (start, end) = call.unwrap_or_default();
        (start.unwrap_or(u64::MAX), Reverse(end.unwrap_or(u64::MAX)))
    };
    // What is called in it begins later.
    let outermost =
        paths.iter().min_by_key(|(path, _)| when(path)).ok_or(Unplaced::NoInstruction)?;
    let (frame, around) = call(&outermost.0).ok_or(Unplaced::NoInstruction)?;
    let is_inside = around.start_nanos.is_some_and(|start| start <= own.start)
        && around.end_nanos.is_none_or(|end| own.end <= end)
        && own.thread.is_none_or(|thread| thread == around.thread);
    if !is_inside {
        return Err(Unplaced::AcrossCalls);
    }
    let mut common: Option<&[u32]> = None;
    let mut begins = (u32::MAX, 0);
    for (path, instruction) in paths.iter().filter(|(path, _)| path.first() == Some(&frame)) {
        let shared = common.map_or(path.len(), |common| {
            common.iter().zip(path).take_while(|(ours, theirs)| ours == theirs).count()
        });
        common = path.get(..shared);
        begins = begins.min(*instruction);
    }
    let mut common = common.unwrap_or_default().to_vec();
    // An execution of a loop, or the only iteration that has instructions, may be in it as a whole.
    while let Some(found) = common.last().and_then(|&last| builder.get(last)) {
        let is_whole = |execution: NewActivation| {
            execution.start_nanos.zip(execution.end_nanos).is_some_and(|(s, e)| own.has(s, e))
        };
        let is_out = match found.kind {
            ActivationKind::Call => false,
            ActivationKind::LoopExecution => true,
            ActivationKind::Iteration => {
                found.parent.and_then(|parent| builder.get(parent)).is_some_and(is_whole)
            }
        };
        if !is_out {
            break;
        }
        common.pop();
    }
    let place = common.last().copied().unwrap_or(frame);
    Ok(Home { frame, place, line: begins.1 })
}

/// Loops in loops in one call, at most.
const DEEPEST: usize = 1 << 10;

/// A call and what encloses an activation in it, the activation last. `None` where nothing says in
/// which call it is.
fn path(activation: u32, builder: &ActivationTreeBuilder) -> Option<Vec<u32>> {
    let mut path = vec![activation];
    let mut at = builder.get(activation)?;
    while at.kind != ActivationKind::Call {
        let above = at.parent.filter(|_| path.len() < DEEPEST)?;
        path.push(above);
        at = builder.get(above)?;
    }
    path.reverse();
    Some(path)
}

/// Calls and executions of loops directly in each place.
fn children(
    at: &BTreeMap<u32, Vec<(u32, Home)>>,
    builder: &ActivationTreeBuilder,
) -> HashMap<u32, Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    if at.is_empty() {
        return children;
    }
    for number in 0..u32::try_from(builder.len()).unwrap_or(u32::MAX) {
        let parent = builder.get(number).and_then(|own| own.parent);
        if let Some(parent) = parent.filter(|parent| at.contains_key(parent)) {
            children.entry(parent).or_default().push(number);
        }
    }
    children
}
