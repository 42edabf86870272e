//! Small programs that are executed into activations, with every access kept for the oracle.

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_base::paged::Numbers;
use parallax_base::{ActivationIdx, ContextIdx, FunctionIdx, LocationIdx, ReferenceIdx, ThreadIdx};
use parallax_model::{
    ActivationKind, ActivationTreeBuilder, Activations, Clock, ContextKind, ContextTree,
    ContextTreeBuilder, Creator, Function, NewActivation, Node, Reference, Relation, Site,
    StorageClass, SyncEvent, SyncKind, Thread, Touch, TouchesBuilder,
};

/// Which element of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    /// Always the same.
    At(u64),
    /// The number of the iteration, so many loops outwards, plus an offset.
    Iteration(usize, u64),
}

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    /// Reads, then writes.
    Update,
}

/// A statement.
#[derive(Debug, Clone)]
pub(crate) enum Statement {
    /// An access on a line.
    Access(u32, Access, u32, Element),
    /// A loop on a line: its counter, how many iterations, what is in it.
    Loop(u32, Option<u32>, u32, Vec<Statement>),
    /// A call of a function on a line, and what the function does.
    Call(&'static str, u32, Vec<Statement>),
    /// Time that passes.
    Compute(u64),
    /// Starts a thread, which executes this.
    Fork(u32, Vec<Statement>),
    /// Waits for a thread.
    Join(u32),
    /// Takes or gives back a lock.
    Lock(u32, bool),
}

/// One access as it was executed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw {
    pub(crate) reference: u32,
    pub(crate) element: u64,
    pub(crate) is_write: bool,
    pub(crate) line: u32,
    pub(crate) activation: u32,
}

/// What came of a program.
pub(crate) struct Run {
    pub(crate) activations: Activations,
    pub(crate) contexts: ContextTree,
    /// In order, with activations as they were pushed.
    pub(crate) raw: Vec<Raw>,
    /// Positions in the tree by the numbers in [`Raw`].
    pub(crate) position: Numbers<ActivationIdx>,
}

/// What a reference is: a name and how many elements of 8 bytes.
pub(crate) type Variable = (&'static str, u64);

/// Activation, kind, sequence, other thread, lock.
type NewSync = (u32, SyncKind, u32, Option<u32>, Option<u32>);
/// Thread and activation that start it, and its entry call.
type NewThread = (Option<(u32, u32)>, u32);

struct Executing {
    builder: ActivationTreeBuilder,
    contexts: Vec<(usize, ContextKind, String, u32)>,
    known: BTreeMap<(usize, String), usize>,
    context_of: Vec<usize>,
    raw: Vec<Raw>,
    epochs: Vec<u32>,
    raw_epoch: Vec<u32>,
    syncs: Vec<NewSync>,
    threads: Vec<NewThread>,
    thread_end: BTreeMap<u32, u64>,
    names: BTreeMap<u32, u32>,
}

struct Frame {
    thread: u32,
    activation: u32,
    context: usize,
    iterations: Vec<u64>,
    now: u64,
}

/// Executes a program. Statements that share an activation are on its one clock: an access takes
/// 1 ns, and `Compute` what it says.
pub(crate) fn run(variables: &[Variable], program: &[Statement], has_addresses: bool) -> Run {
    let mut x = Executing {
        builder: ActivationTreeBuilder::new(),
        contexts: vec![(0, ContextKind::Root, String::new(), 0)],
        known: BTreeMap::new(),
        context_of: Vec::new(),
        raw: Vec::new(),
        epochs: vec![0],
        raw_epoch: Vec::new(),
        syncs: Vec::new(),
        threads: vec![(None, 0)],
        thread_end: BTreeMap::new(),
        names: BTreeMap::new(),
    };
    let mut pushed = Vec::new();
    x.call(None, 0, 0, "main", 0, program, &[], 0, &mut pushed);
    for (number, new) in pushed.into_iter().enumerate() {
        assert_eq!(x.builder.push(new) as usize, number);
    }
    let ordered = std::mem::take(&mut x.builder).finish();
    assert_eq!(ordered.num_cut, 0);
    let (contexts, place) = x.contexts();
    let mut tree = ordered.tree;
    let mut column = vec![0; tree.len()];
    for (number, at) in ordered.position.iter().enumerate() {
        column[at.idx()] = place[x.context_of[number]];
    }
    tree.set_contexts(column);
    let mut touches: BTreeMap<(u32, u32, u32), (Touch, u64, u64)> = BTreeMap::new();
    for (sequence, (raw, &epoch)) in (0_u32..).zip(x.raw.iter().zip(&x.raw_epoch)) {
        let (from, to) = (raw.element * 8, raw.element * 8 + 8);
        let key = (raw.activation, raw.reference, epoch);
        let (touch, low, high) = touches.entry(key).or_insert((
            Touch {
                reference: ReferenceIdx::new(raw.reference),
                reads: 0,
                writes: 0,
                first: sequence,
                is_read_first: !raw.is_write,
                read_line: 0,
                write_line: 0,
                epoch,
            },
            from,
            to,
        ));
        (*low, *high) = ((*low).min(from), (*high).max(to));
        if raw.is_write {
            touch.write_line = if touch.writes == 0 { raw.line } else { touch.write_line };
            touch.writes += 1;
        } else {
            touch.read_line = if touch.reads == 0 { raw.line } else { touch.read_line };
            touch.reads += 1;
        }
    }
    let mut builder = TouchesBuilder::new();
    for ((activation, _, _), (touch, low, high)) in touches {
        builder.push(activation, touch, has_addresses.then_some((low, high)));
    }
    let touches = builder.finish(&tree, &ordered.position);
    let at = |number: u32| ordered.position.get(number as usize).unwrap();
    let reference = |&(name, elements): &Variable| Reference {
        name: name.into(),
        member: None,
        storage: StorageClass::GLOBAL,
        size_bytes: Some(elements * 8),
        allocated: None,
        freed: None,
        source_id: 0,
    };
    let thread = |(number, &(creator, entry)): (usize, &NewThread)| Thread {
        location: LocationIdx::from_len(number + 1),
        source_id: number as u64,
        creator: creator.map(|(thread, activation)| Creator {
            thread: ThreadIdx::new(thread),
            site: Site { activation: at(activation), line: 1 },
        }),
        entry: Some(at(entry)),
        wall_start_nanos: None,
        wall_end_nanos: None,
        lifetime_cycles: None,
    };
    let sync = |&(activation, kind, sequence, other, lock): &NewSync| SyncEvent {
        activation: at(activation),
        kind,
        sequence,
        line: 1,
        other_thread: other.map(ThreadIdx::new),
        lock: lock.map(ReferenceIdx::new),
    };
    let activations = Activations {
        threads: x.threads.iter().enumerate().map(thread).collect(),
        references: variables.iter().map(reference).collect(),
        touches,
        syncs: x.syncs.iter().map(sync).collect(),
        tags: Vec::new(),
        clock: Clock {
            ticks_per_second: 1e9,
            is_assumed: false,
            origin_ticks: 0,
            wall_origin_nanos: None,
        },
        tree,
    };
    Run { activations, contexts, raw: x.raw, position: ordered.position }
}

impl Executing {
    fn context(&mut self, parent: usize, kind: ContextKind, name: String, line: u32) -> usize {
        let next = self.contexts.len();
        let at = *self.known.entry((parent, format!("{name}:{line}"))).or_insert(next);
        if at == next {
            self.contexts.push((parent, kind, name, line));
        }
        at
    }

    #[expect(clippy::too_many_arguments, reason = "what a call is")]
    fn call(
        &mut self,
        parent: Option<u32>,
        thread: u32,
        above: usize,
        name: &str,
        line: u32,
        body: &[Statement],
        iterations: &[u64],
        start: u64,
        out: &mut Vec<NewActivation>,
    ) -> (u32, u64) {
        let context = self.context(above, ContextKind::Function, name.to_owned(), 0);
        let activation = self.open(ActivationKind::Call, parent, thread, context, start, out);
        out[activation as usize].line = line;
        let iterations = iterations.to_vec();
        let mut frame = Frame { thread, activation, context, iterations, now: start };
        self.body(&mut frame, body, out);
        out[activation as usize].end_nanos = Some(frame.now);
        (activation, frame.now)
    }

    fn open(
        &mut self,
        kind: ActivationKind,
        parent: Option<u32>,
        thread: u32,
        context: usize,
        start: u64,
        out: &mut Vec<NewActivation>,
    ) -> u32 {
        let number = u32::try_from(out.len()).unwrap();
        out.push(NewActivation {
            kind,
            parent,
            thread: ThreadIdx::new(thread),
            start_nanos: Some(start),
            end_nanos: None,
            number: 0,
            line: 0,
            source_id: number.into(),
        });
        self.context_of.push(context);
        number
    }

    fn access(
        &mut self,
        frame: &mut Frame,
        line: u32,
        is_write: bool,
        reference: u32,
        at: Element,
    ) {
        let element = match at {
            Element::At(element) => element,
            Element::Iteration(outwards, offset) => {
                let depth = frame.iterations.len();
                let own = depth.checked_sub(outwards + 1).map_or(0, |at| frame.iterations[at]);
                own + offset
            }
        };
        let activation = frame.activation;
        self.raw.push(Raw { reference, element, is_write, line, activation });
        self.raw_epoch.push(self.epochs[frame.thread as usize]);
        frame.now += 1;
    }

    fn sync(&mut self, frame: &Frame, kind: SyncKind, other: Option<u32>, lock: Option<u32>) {
        let sequence = u32::try_from(self.raw.len()).unwrap();
        self.syncs.push((frame.activation, kind, sequence, other, lock));
        self.epochs[frame.thread as usize] += 1;
    }

    fn body(&mut self, frame: &mut Frame, body: &[Statement], out: &mut Vec<NewActivation>) {
        for statement in body {
            match statement {
                Statement::Access(line, access, reference, element) => {
                    if *access != Access::Write {
                        self.access(frame, *line, false, *reference, *element);
                    }
                    if *access != Access::Read {
                        self.access(frame, *line, true, *reference, *element);
                    }
                }
                Statement::Compute(nanos) => frame.now += nanos,
                Statement::Call(name, line, body) => {
                    let (parent, thread) = (Some(frame.activation), frame.thread);
                    let iterations = frame.iterations.clone();
                    let (_, end) = self.call(
                        parent,
                        thread,
                        frame.context,
                        name,
                        *line,
                        body,
                        &iterations,
                        frame.now,
                        out,
                    );
                    frame.now = end;
                }
                Statement::Loop(line, counter, count, body) => {
                    self.one_loop(frame, *line, *counter, *count, body, out);
                }
                Statement::Fork(name, body) => {
                    let thread = u32::try_from(self.threads.len()).unwrap();
                    self.names.insert(*name, thread);
                    self.sync(frame, SyncKind::Fork, Some(thread), None);
                    self.epochs.push(0);
                    self.threads.push((Some((frame.thread, frame.activation)), 0));
                    let (entry, end) =
                        self.call(None, thread, 0, "worker", 0, body, &[], frame.now, out);
                    self.threads[thread as usize].1 = entry;
                    self.thread_end.insert(thread, end);
                }
                Statement::Join(name) => {
                    let thread = self.names[name];
                    self.sync(frame, SyncKind::Join, Some(thread), None);
                    frame.now = frame.now.max(self.thread_end[&thread]);
                }
                Statement::Lock(lock, true) => {
                    self.sync(frame, SyncKind::Acquire, None, Some(*lock));
                }
                Statement::Lock(lock, false) => {
                    self.sync(frame, SyncKind::Release, None, Some(*lock));
                }
            }
        }
    }

    fn one_loop(
        &mut self,
        frame: &mut Frame,
        line: u32,
        counter: Option<u32>,
        count: u32,
        body: &[Statement],
        out: &mut Vec<NewActivation>,
    ) {
        let context = self.context(frame.context, ContextKind::Loop, "loop".into(), line);
        let (parent, thread) = (Some(frame.activation), frame.thread);
        let kind = ActivationKind::LoopExecution;
        let execution = self.open(kind, parent, thread, context, frame.now, out);
        for number in 0..count {
            let kind = ActivationKind::Iteration;
            let iteration = self.open(kind, Some(execution), thread, context, frame.now, out);
            out[iteration as usize].number = number;
            let mut iterations = frame.iterations.clone();
            iterations.push(number.into());
            let now = frame.now;
            let mut inner = Frame { thread, activation: iteration, context, iterations, now };
            if let Some(counter) = counter {
                self.access(&mut inner, line, false, counter, Element::At(0));
            }
            self.body(&mut inner, body, out);
            if let Some(counter) = counter {
                self.access(&mut inner, line, false, counter, Element::At(0));
                self.access(&mut inner, line, true, counter, Element::At(0));
            }
            frame.now = inner.now;
            out[iteration as usize].end_nanos = Some(frame.now);
        }
        out[execution as usize].end_nanos = Some(frame.now);
    }

    /// The tree, and the place in it of each context as it was made.
    fn contexts(&self) -> (ContextTree, Vec<u32>) {
        let mut place = vec![0_u32; self.contexts.len()];
        let mut functions: Vec<Function> = Vec::new();
        let mut order = Vec::new();
        let mut open = vec![0_usize];
        while let Some(at) = open.pop() {
            place[at] = u32::try_from(order.len()).unwrap();
            order.push(at);
            let children = (1..self.contexts.len()).rev().filter(|&c| self.contexts[c].0 == at);
            open.extend(children);
        }
        let mut nodes = Vec::new();
        for (source_id, &at) in (0..).zip(&order) {
            let (_, kind, name, line) = &self.contexts[at];
            let function = (*kind == ContextKind::Function).then(|| {
                let known = functions.iter().position(|f| &*f.name == name.as_str());
                FunctionIdx::from_len(known.unwrap_or_else(|| {
                    let name: Arc<str> = name.as_str().into();
                    functions.push(Function {
                        name,
                        group: None,
                        module: None,
                        file: None,
                        line: 0,
                    });
                    functions.len() - 1
                }))
            });
            let is_call = *kind == ContextKind::Function;
            let relation = if is_call { Relation::Call } else { Relation::Lexical };
            let (kind, line) = (*kind, *line);
            let node = Node {
                source_id,
                kind,
                relation,
                function,
                file: None,
                line,
                module: None,
                offset: 0,
            };
            nodes.push(node);
        }
        let mut builder = ContextTreeBuilder::new(0, functions, Vec::new(), Vec::new());
        for (node, &at) in nodes.into_iter().zip(&order).skip(1) {
            builder.push(ContextIdx::new(place[self.contexts[at].0]), node);
        }
        (builder.finish(), place)
    }
}
