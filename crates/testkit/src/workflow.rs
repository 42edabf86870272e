//! Traces of a coupled run as CODAR event JSON, of any size, with answers known beforehand.
//!
//! The shape is that of the run in the paper about CODAR's viewer: a molecular dynamics program of
//! 2,200 steps on 4 nodes, and an analysis of 1,000 steps on one more that takes its frames, 309 s
//! in all. Every rank of the first sends a halo to the next one in each step; frames go to the
//! analysis, which waits for them. Node ids are ranks, those of the analysis after the others, as
//! the CODAR tools merge the traces of components.
//!
//! Events are in order of time over all ranks. They are made round by round ([`ROUND_MICROS`]), so
//! a trace of any length needs the memory of one round.

use std::io::{Read, Result, Write};

/// Nodes of the molecular dynamics program; the analysis has one more.
pub const MD_NODES: u32 = 4;
/// Steps of the molecular dynamics program in a round.
pub const MD_STEPS: u32 = 11;
/// Steps of the analysis in a round, each with a frame of its own.
pub const ANALYSIS_STEPS: u32 = 5;
/// How long a round is.
pub const ROUND_MICROS: u64 = 1_545_000;
/// Rounds of the run in the paper: 2,200 and 1,000 steps, 309 s.
pub const ROUNDS: u32 = 200;
/// When every trace begins, in microseconds since 1970.
pub const START_MICROS: u64 = 1_512_086_400_000_000;
/// Bytes of a halo.
pub const HALO_BYTES: u64 = 49_152;
/// Bytes of one rank's part of a frame.
pub const FRAME_BYTES: u64 = 1_048_576;

/// Names of the functions, as long as TAU writes them.
pub const FUNCTIONS: [&str; 16] = [
    "nwchem [{nwchem.F} {1,1}-{312,9}]",
    "MD_STEP [{md_main.F} {418,7}-{655,9}]",
    "FORCES [{cf_forces.F} {28,7}-{203,9}]",
    "CF_FWW(real *, real *) [{cf_fww.F} {14,7}-{391,9}]",
    "CF_FSW(real *, real *) [{cf_fsw.F} {14,7}-{402,9}]",
    "CF_NEIGHBOURS [{cf_list.F} {61,7}-{188,9}]",
    "HALO [{space.F} {212,7}-{297,9}]",
    "MPI_Send()",
    "MPI_Recv()",
    "WRITE_FRAME [{prp_write.F} {33,7}-{121,9}]",
    "INTEGRATE [{cf_leapf.F} {22,7}-{96,9}]",
    "int main(int, char **) C [{analysis.c} {88,1}-{274,1}]",
    "analysis_step [{analysis.c} {291,1}-{377,1}]",
    "read_frame [{frames.c} {52,1}-{130,1}]",
    "descriptor(double *, int) [{descriptor.c} {19,1}-{84,1}]",
    "MPI_Allreduce()",
];

const NWCHEM: u8 = 0;
const MD_STEP: u8 = 1;
const FORCES: u8 = 2;
const FWW: u8 = 3;
const FSW: u8 = 4;
const NEIGHBOURS: u8 = 5;
const HALO: u8 = 6;
const SEND: u8 = 7;
const RECV: u8 = 8;
const WRITE_FRAME: u8 = 9;
const INTEGRATE: u8 = 10;
const ANALYSIS: u8 = 11;
const ANALYSIS_STEP: u8 = 12;
const READ_FRAME: u8 = 13;
const DESCRIPTOR: u8 = 14;
const ALLREDUCE: u8 = 15;

/// Time of the forces of one step of a rank with the most work.
const FORCES_MICROS: u64 = 90_000;
/// Time of the descriptors of one step of the analysis.
const DESCRIPTORS_MICROS: u64 = 140_000;
/// How long a message is under way at least.
const LATENCY_MICROS: u64 = 9;
const HALO_TAG: u32 = 17;
const FRAME_TAG: u32 = 4711;

/// What a trace is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workflow {
    /// Ranks on each of the [`MD_NODES`] nodes.
    pub ranks_per_node: u32,
    /// Ranks of the analysis.
    pub analysis_ranks: u32,
    /// Calls of the innermost functions in each step of a rank; at most 10,000.
    pub calls_per_step: u32,
    /// Rounds; [`ROUNDS`] is the run of the paper.
    pub rounds: u32,
}

/// What is known about a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FunctionTime {
    /// How often it is called.
    pub calls: u64,
    /// Time in it and what it calls, in microseconds.
    pub inclusive_micros: u64,
    /// Time in it alone, in microseconds.
    pub exclusive_micros: u64,
}

/// What is known about a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Planted {
    /// Length of the text.
    pub bytes: u64,
    /// Functions entered, and left.
    pub calls: u64,
    /// Messages sent, and received.
    pub messages: u64,
    /// Bytes in all messages.
    pub message_bytes: u64,
    /// By position in [`FUNCTIONS`].
    pub functions: [FunctionTime; FUNCTIONS.len()],
}

impl Planted {
    /// Records of the trace.
    #[must_use]
    pub const fn events(&self) -> u64 {
        2 * (self.calls + self.messages)
    }
}

impl Workflow {
    /// The shortest one with everything in it.
    pub const SMALL: Self =
        Self { ranks_per_node: 2, analysis_ranks: 2, calls_per_step: 3, rounds: 1 };

    /// The run of the paper with as many calls as make about `bytes` bytes of text; not less than
    /// what 16 + 4 ranks need for one call in each step.
    #[must_use]
    pub fn of_size(bytes: u64) -> Self {
        let with = |calls_per_step| Self {
            ranks_per_node: 4,
            analysis_ranks: 4,
            calls_per_step,
            rounds: 1,
        };
        // Text grows by about the same for each call.
        let round = |calls| with(calls).planted().bytes;
        let (few, many) = (round(1), round(101));
        let per_call = (many - few) / 100;
        let wanted = (bytes / u64::from(ROUNDS)).saturating_sub(few);
        let calls = 1 + wanted / per_call.max(1);
        Self { rounds: ROUNDS, ..with(u32::try_from(calls).unwrap_or(10_000).clamp(1, 10_000)) }
    }

    /// Ranks of the molecular dynamics program; those of the analysis have the numbers after them.
    #[must_use]
    pub const fn md_ranks(&self) -> u32 {
        self.ranks_per_node * MD_NODES
    }

    /// All ranks.
    #[must_use]
    pub const fn ranks(&self) -> u32 {
        self.md_ranks() + self.analysis_ranks
    }

    /// Length of the run.
    #[must_use]
    pub const fn micros(&self) -> u64 {
        self.rounds as u64 * ROUND_MICROS
    }

    /// What a trace has, without keeping its text.
    #[must_use]
    pub fn planted(&self) -> Planted {
        let mut text = WorkflowText::new(*self);
        while text.next_round() {}
        text.planted
    }

    /// Writes the trace.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write(&self, out: &mut dyn Write) -> Result<Planted> {
        let mut text = WorkflowText::new(*self);
        while text.next_round() {
            out.write_all(&text.pending)?;
        }
        Ok(text.planted)
    }
}

/// The text of a trace, made while it is read.
#[derive(Debug)]
pub struct WorkflowText {
    workflow: Workflow,
    round: u32,
    /// By rank: the functions it is in, each with when it was entered and the time of what it
    /// called.
    stacks: Vec<Vec<(u8, u64, u64)>>,
    events: Vec<Event>,
    /// When each rank sent its halo in this step, and the last frame.
    sent: Vec<u64>,
    frames: Vec<Vec<u64>>,
    pending: Vec<u8>,
    used: usize,
    planted: Planted,
}

#[derive(Debug, Clone, Copy)]
struct Event {
    micros: u64,
    rank: u32,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Enter(u8),
    Leave(u8),
    /// To whom, and whether it is a frame.
    Send(u32, bool),
    /// From whom, and whether it is a frame.
    Receive(u32, bool),
}

/// The events of one rank, one after the other.
struct Script<'e> {
    events: &'e mut Vec<Event>,
    rank: u32,
    now: u64,
}

impl Script<'_> {
    fn push(&mut self, what: What) {
        self.events.push(Event { micros: self.now, rank: self.rank, what });
    }

    fn enter(&mut self, function: u8) {
        self.push(What::Enter(function));
        self.now += 1;
    }

    fn leave(&mut self, function: u8) {
        self.push(What::Leave(function));
        self.now += 1;
    }

    /// `count` calls in `micros`; every eighth calls another function.
    fn kernels(&mut self, count: u32, micros: u64, seed: u64, pick: impl Fn(u64) -> u8) {
        let each = micros / u64::from(count.max(1));
        for k in 0..u64::from(count) {
            let start = self.now;
            let function = pick(k);
            self.push(What::Enter(function));
            // The rest of its share is of the caller.
            let length = each - 1 - (k + seed) % (each / 4).clamp(1, 7);
            if k % 8 == 5 {
                self.now = start + length / 3;
                self.push(What::Enter(NEIGHBOURS));
                self.now = start + length / 2;
                self.push(What::Leave(NEIGHBOURS));
            }
            self.now = start + length;
            self.push(What::Leave(function));
            self.now = start + each;
        }
    }

    fn send(&mut self, to: u32, is_frame: bool) -> u64 {
        self.enter(SEND);
        let at = self.now;
        self.push(What::Send(to, is_frame));
        self.now += 3;
        self.leave(SEND);
        at
    }

    /// Receives what was sent at `sent_micros`, and waits for it.
    fn receive(&mut self, from: u32, is_frame: bool, sent_micros: u64) {
        self.enter(RECV);
        self.now = self.now.max(sent_micros + LATENCY_MICROS);
        self.push(What::Receive(from, is_frame));
        self.now += 2;
        self.leave(RECV);
    }
}

impl WorkflowText {
    /// The text of the trace of `workflow`.
    #[must_use]
    pub fn new(workflow: Workflow) -> Self {
        Self {
            workflow,
            round: 0,
            stacks: vec![Vec::new(); workflow.ranks() as usize],
            events: Vec::new(),
            sent: Vec::new(),
            frames: Vec::new(),
            pending: Vec::new(),
            used: 0,
            planted: Planted::default(),
        }
    }

    /// What was read so far; of the whole trace once it was read to its end.
    #[must_use]
    pub const fn planted(&self) -> &Planted {
        &self.planted
    }

    /// Makes the text of the next round; `false` when there is none.
    fn next_round(&mut self) -> bool {
        self.pending.clear();
        self.used = 0;
        if self.round == self.workflow.rounds {
            return false;
        }
        let start = START_MICROS + u64::from(self.round) * ROUND_MICROS;
        let (is_first, is_last) = (self.round == 0, self.round + 1 == self.workflow.rounds);
        for rank in (0..self.workflow.ranks()).filter(|_| is_first) {
            self.events.push(Event { micros: start, rank, what: What::Enter(self.main(rank)) });
        }
        self.frames.clear();
        for step in 0..MD_STEPS {
            self.md_step(start, step);
        }
        for step in 0..ANALYSIS_STEPS {
            for rank in 0..self.workflow.analysis_ranks {
                self.analysis_step(start, step, rank);
            }
        }
        for rank in (0..self.workflow.ranks()).filter(|_| is_last) {
            let micros = start + ROUND_MICROS;
            self.events.push(Event { micros, rank, what: What::Leave(self.main(rank)) });
        }
        // Stable: events of a rank stay in their order.
        self.events.sort_by_key(|event| event.micros);
        self.print(is_first, is_last);
        self.round += 1;
        true
    }

    const fn main(&self, rank: u32) -> u8 {
        if rank < self.workflow.md_ranks() { NWCHEM } else { ANALYSIS }
    }

    /// One step of all ranks of the molecular dynamics program.
    fn md_step(&mut self, round_start: u64, step: u32) {
        let workflow = self.workflow;
        let ranks = workflow.md_ranks();
        let start = round_start + u64::from(step) * ROUND_MICROS / u64::from(MD_STEPS);
        let seed = |rank: u32| u64::from(rank) + u64::from(step) + u64::from(self.round);
        let seeds: Vec<u64> = (0..ranks).map(seed).collect();
        // All ranks up to where they send: a receive comes after the send of another rank.
        let mut reached = Vec::new();
        self.sent.clear();
        for (rank, &seed) in (0..).zip(&seeds) {
            let now = start + 1 + u64::from(rank % 4) * 3;
            let mut script = Script { events: &mut self.events, rank, now };
            script.enter(MD_STEP);
            script.enter(FORCES);
            // The first rank of each four has the most work; the others wait for it.
            let work = FORCES_MICROS - 3_000 * u64::from(rank % 4);
            let pick = |k: u64| if k % 3 == 1 { FSW } else { FWW };
            script.kernels(workflow.calls_per_step, work, seed, pick);
            script.leave(FORCES);
            script.enter(HALO);
            self.sent.push(script.send((rank + 1) % ranks, false));
            reached.push(script.now);
        }
        let has_frame = (0..ANALYSIS_STEPS).any(|a| frame_step(a) == step);
        let mut frame = Vec::new();
        for (rank, now) in (0..).zip(reached) {
            let mut script = Script { events: &mut self.events, rank, now };
            let from = (rank + ranks - 1) % ranks;
            let sent = self.sent.get(from as usize).copied().unwrap_or(now);
            script.receive(from, false, sent);
            script.leave(HALO);
            if has_frame {
                script.enter(WRITE_FRAME);
                script.now += 1_500;
                frame.push(script.send(ranks + rank % workflow.analysis_ranks, true));
                script.leave(WRITE_FRAME);
            }
            script.enter(INTEGRATE);
            script.now += 20_000 + 11 * u64::from(rank);
            script.leave(INTEGRATE);
            script.leave(MD_STEP);
        }
        if has_frame {
            self.frames.push(frame);
        }
    }

    /// One step of one rank of the analysis.
    fn analysis_step(&mut self, round_start: u64, step: u32, rank: u32) {
        let workflow = self.workflow;
        let start = round_start + u64::from(step) * ROUND_MICROS / u64::from(ANALYSIS_STEPS) + 1;
        let seed = u64::from(rank) + u64::from(step) + u64::from(self.round);
        let own = workflow.md_ranks() + rank;
        let mut script = Script { events: &mut self.events, rank: own, now: start };
        script.enter(ANALYSIS_STEP);
        script.enter(READ_FRAME);
        let sent = self.frames.get(step as usize).map(Vec::as_slice).unwrap_or_default();
        for (from, &sent) in (0..).zip(sent) {
            if from % workflow.analysis_ranks == rank {
                script.receive(from, true, sent);
            }
        }
        script.leave(READ_FRAME);
        script.kernels(workflow.calls_per_step, DESCRIPTORS_MICROS, seed, |_| DESCRIPTOR);
        script.enter(ALLREDUCE);
        script.now += 40;
        script.leave(ALLREDUCE);
        script.leave(ANALYSIS_STEP);
    }

    fn print(&mut self, is_first: bool, is_last: bool) {
        let mut events = std::mem::take(&mut self.events);
        if is_first {
            self.pending.push(b'[');
        }
        for (nth, event) in events.drain(..).enumerate() {
            if nth > 0 || !is_first {
                self.pending.extend(b", ");
            }
            self.event(&event);
        }
        if is_last {
            // As the CODAR tools end their lists.
            self.pending.extend(b", { }]\n");
        }
        self.events = events;
        self.planted.bytes += self.pending.len() as u64;
    }

    fn event(&mut self, event: &Event) {
        let Event { micros, rank, what } = *event;
        match what {
            What::Enter(function) | What::Leave(function) => {
                let is_enter = matches!(what, What::Enter(_));
                self.plant_call(rank, micros, function, is_enter);
                self.text("{\"name\": \"");
                self.text(FUNCTIONS.get(usize::from(function)).copied().unwrap_or_default());
                self.text("\", \"time\": ");
                self.number(micros);
                self.text(", \"node-id\": ");
                self.number(rank.into());
                self.text(", \"thread-id\": 0, \"group-id\": 2, \"event-type\": ");
                self.text(if is_enter { "\"entry\"}" } else { "\"exit\"}" });
            }
            What::Send(other, is_frame) | What::Receive(other, is_frame) => {
                let is_send = matches!(what, What::Send(..));
                let (from, to) = if is_send { (rank, other) } else { (other, rank) };
                let bytes = if is_frame { FRAME_BYTES } else { HALO_BYTES };
                if is_send {
                    self.planted.messages += 1;
                    self.planted.message_bytes += bytes;
                }
                self.text("{\"event-type\": ");
                self.text(if is_send { "\"send\"" } else { "\"receive\"" });
                self.text(", \"timestamp\": ");
                self.number(micros);
                self.text(", \"source-node-id\": ");
                self.number(from.into());
                self.text(", \"source-thread-id\": 0, \"destination-node-id\": ");
                self.number(to.into());
                self.text(", \"destination-thread-id\": 0, \"message-size\": ");
                self.number(bytes);
                self.text(", \"message-tag\": ");
                self.number(if is_frame { FRAME_TAG } else { HALO_TAG }.into());
                self.text("}");
            }
        }
    }

    fn plant_call(&mut self, rank: u32, micros: u64, function: u8, is_enter: bool) {
        let Some(stack) = self.stacks.get_mut(rank as usize) else { return };
        if is_enter {
            self.planted.calls += 1;
            stack.push((function, micros, 0));
            return;
        }
        let Some((entered, start, below)) = stack.pop() else { return };
        assert_eq!(entered, function, "calls nest");
        let inclusive = micros - start;
        if let Some((_, _, above)) = stack.last_mut() {
            *above += inclusive;
        }
        if let Some(known) = self.planted.functions.get_mut(usize::from(function)) {
            known.calls += 1;
            known.inclusive_micros += inclusive;
            known.exclusive_micros += inclusive - below;
        }
    }

    fn text(&mut self, text: &str) {
        self.pending.extend_from_slice(text.as_bytes());
    }

    /// Appends a number; what the standard library formats with takes most of the time of a large
    /// trace.
    fn number(&mut self, mut number: u64) {
        let mut digits = [b'0'; 20];
        let mut from = digits.len();
        for digit in digits.iter_mut().rev() {
            *digit += (number % 10) as u8;
            number /= 10;
            from -= 1;
            if number == 0 {
                break;
            }
        }
        self.pending.extend_from_slice(digits.get(from..).unwrap_or_default());
    }
}

/// The step of the molecular dynamics program in a round whose frame step `analysis_step` takes.
const fn frame_step(analysis_step: u32) -> u32 {
    analysis_step * MD_STEPS / ANALYSIS_STEPS
}

impl Read for WorkflowText {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while self.used >= self.pending.len() {
            if !self.next_round() {
                return Ok(0);
            }
        }
        let rest = self.pending.get(self.used..).unwrap_or_default();
        let take = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..take), rest.get(..take)) {
            to.copy_from_slice(from);
        }
        self.used += take;
        Ok(take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_of_the_paper_has_its_steps_and_its_length() {
        let run = Workflow { rounds: ROUNDS, ..Workflow::SMALL };
        let planted = run.planted();
        let calls = |function: u8| planted.functions[usize::from(function)].calls;
        assert_eq!(calls(MD_STEP), 2_200 * 8);
        assert_eq!(calls(ANALYSIS_STEP), 1_000 * 2);
        assert_eq!(calls(FWW) + calls(FSW), 2_200 * 8 * 3);
        let main = planted.functions[usize::from(NWCHEM)];
        assert_eq!((main.calls, main.inclusive_micros), (8, 8 * 309_000_000));
        // A halo of every step and rank, a frame of every step of the analysis and rank.
        assert_eq!(planted.messages, 2_200 * 8 + 1_000 * 8);
        let alone: u64 = planted.functions.iter().map(|known| known.exclusive_micros).sum();
        assert_eq!(alone, 10 * 309_000_000, "every moment of every rank is in one function");
    }

    #[test]
    fn the_text_is_json_in_order_of_time() {
        let mut text = Vec::new();
        let planted = Workflow::SMALL.write(&mut text).unwrap();
        assert_eq!(planted.bytes, text.len() as u64);
        assert_eq!(planted, Workflow::SMALL.planted());
        let mut read = Vec::new();
        WorkflowText::new(Workflow::SMALL).read_to_end(&mut read).unwrap();
        assert!(read == text);
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let events = value.as_array().unwrap();
        assert_eq!(events.len() as u64, planted.events() + 1);
        let time = |e: &serde_json::Value| e["time"].as_u64().or(e["timestamp"].as_u64());
        let times: Vec<u64> = events.iter().filter_map(time).collect();
        assert_eq!(times.len() as u64, planted.events());
        assert!(times.is_sorted());
        assert_eq!(times.last(), Some(&(START_MICROS + ROUND_MICROS)));
    }

    #[test]
    fn a_size_is_met() {
        for megabytes in [200_u64, 1_000] {
            let workflow = Workflow::of_size(megabytes * 1_000_000);
            let round = Workflow { rounds: 1, ..workflow }.planted().bytes;
            let ratio = (round * u64::from(ROUNDS)) as f64 / (megabytes as f64 * 1e6);
            assert!((0.9..1.1).contains(&ratio), "{workflow:?}: {ratio}");
        }
    }
}
