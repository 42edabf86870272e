//! JSON traces of a made-up parallel program, with counts known beforehand.
//!
//! [`JsonTrace`] is the reader of a text that is made while it is read, so a trace of any size
//! costs no memory and no disk.

use std::fmt::Write as _;
use std::io::Read;

/// Names of the functions, as long as those of real programs.
pub const FUNCTIONS: [&str; 8] = [
    "int main(int, char **) C [{main.c} {424,1}-{549,1}]",
    "void LAMMPS_NS::Verlet::run(int) [{verlet.cpp} {223,1}-{344,1}]",
    "void LAMMPS_NS::PairEAM::compute(int, int) [{pair_eam.cpp} {134,1}-{315,1}]",
    "MPI_Send()",
    "MPI_Wait()",
    "void LAMMPS_NS::CommBrick::forward_comm_pair(LAMMPS_NS::Pair *) [{comm_brick.cpp} {881,1}]",
    "MPI_Irecv()",
    "HEAT_TRANSFER [{heat_transfer.F90} {22,1}-{140,25}]",
];

/// Functions open at once at most.
pub const DEPTH: u32 = 4;

/// How many events of each kind a trace has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Begins of functions; as many ends.
    pub entries: u64,
    /// Messages sent; as many are received.
    pub sends: u64,
    /// Values of a counter.
    pub counters: u64,
}

/// How a trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A document as `tau_trace2json` writes it: every number in quotes, six decimals.
    Tau,
    /// A bare list with numbers, and an empty object at its end, as the CODAR tools keep it.
    Codar,
    /// Chrome trace events with begin, end, counters and arrows.
    Chrome,
    /// Complete events and arrows with arguments, as Kineto writes them.
    Kineto,
}

/// The text of a trace, made while it is read.
#[derive(Debug)]
pub struct JsonTrace {
    style: Style,
    ranks: u32,
    steps: u64,
    step: u64,
    counts: Counts,
    micros: u64,
    comma: bool,
    pending: String,
    used: usize,
    produced: u64,
    done: bool,
}

impl JsonTrace {
    /// A trace of `ranks` ranks and `steps` steps. In a step every rank goes down to [`DEPTH`]
    /// and back, and every eighth step has a message from each rank to the next and a counter.
    #[must_use]
    pub fn new(style: Style, ranks: u32, steps: u64) -> Self {
        let pending = match style {
            Style::Tau => {
                let mut head = String::from(
                    "{\n\t\"metadata\": {\n\t\t\"clock-period\": \"1e-06\",\n\t\t\"clock-units\": \"seconds\"\n\t},\n\t\"counters\": [],\n\t\"groups\": [\n\t\t{\n\t\t\t\"id\": \"0\",\n\t\t\t\"name\": \"TAU_USER\"\n\t\t}\n\t],\n\t\"states\": [",
                );
                for (i, name) in FUNCTIONS.iter().enumerate() {
                    let comma = if i == 0 { "" } else { "," };
                    let _ = write!(
                        head,
                        "{comma}\n\t\t{{\n\t\t\t\"event-id\": \"{i}\",\n\t\t\t\"group-id\": \"0\",\n\t\t\t\"name\": \"{name}\"\n\t\t}}"
                    );
                }
                head.push_str("\n\t],\n\t\"threads\": [],\n\t\"trace events\": [\n");
                head
            }
            Style::Codar => "[".into(),
            Style::Chrome => "[\n".into(),
            Style::Kineto => "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [],\n  \"distributedInfo\": {\"rank\": 0},\n  \"traceEvents\": [\n".into(),
        };
        Self {
            style,
            ranks,
            steps,
            step: 0,
            counts: Counts::default(),
            micros: 1_529_543_791_035_675,
            comma: false,
            pending,
            used: 0,
            produced: 0,
            done: false,
        }
    }

    /// What was written so far; of the whole trace once it was read to its end.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Bytes read so far.
    #[must_use]
    pub fn produced(&self) -> u64 {
        self.produced
    }

    /// The whole text. For small traces.
    #[must_use]
    pub fn text(mut self) -> (Vec<u8>, Counts) {
        let mut text = Vec::new();
        let _ = self.read_to_end(&mut text);
        (text, self.counts)
    }

    fn separate(&mut self) {
        match self.style {
            Style::Codar if self.comma => self.pending.push_str(", "),
            Style::Kineto if self.comma => self.pending.push_str(",\n"),
            _ => {}
        }
        self.comma = true;
    }

    fn call(&mut self, begins: bool, function: usize, rank: u32) {
        self.micros += 1 + (self.step + u64::from(rank)) % 3;
        let name = FUNCTIONS[function % FUNCTIONS.len()];
        if self.style == Style::Kineto && !begins {
            return;
        }
        self.separate();
        let (out, micros) = (&mut self.pending, self.micros);
        let _ = match self.style {
            Style::Tau => {
                let (open, kind) = if begins { ("{", "entry") } else { ("{ ", "exit") };
                writeln!(
                    out,
                    "{open}\"event-type\": \"{kind}\", \"name\": \"{name}\", \"time\": \"{micros}.000000\", \"node-id\": \"{rank}\", \"thread-id\": \"0\" }},"
                )
            }
            Style::Codar => {
                let kind = if begins { "entry" } else { "exit" };
                write!(
                    out,
                    "{{\"name\": \"{name}\", \"time\": {micros}, \"node-id\": {rank}, \"thread-id\": 0, \"group-id\": 2, \"event-type\": \"{kind}\"}}"
                )
            }
            Style::Chrome => {
                let kind = if begins { "B" } else { "E" };
                writeln!(
                    out,
                    "{{\"name\": \"{name}\", \"cat\": \"TAU\", \"ph\": \"{kind}\", \"ts\": \"{micros}.000000\", \"pid\": \"{rank}\", \"tid\": \"0\" }},"
                )
            }
            Style::Kineto => {
                let (step, nanos) = (self.step, (self.step * 7 + u64::from(rank)) % 1000);
                write!(
                    out,
                    "  {{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{name}\", \"pid\": 1102, \"tid\": {rank},\n    \"ts\": {micros}.{nanos:03}, \"dur\": 6.{nanos:03},\n    \"args\": {{\n      \"External id\": {step},\"Record function id\": 0, \"Sequence number\": {step}, \"Fwd thread id\": 0, \"Input Dims\": [[{rank}, 64], []], \"Ev Idx\": {step}\n    }}\n  }}"
                )
            }
        };
        if begins {
            self.counts.entries += 1;
        }
    }

    fn message(&mut self, sends: bool, from: u32, to: u32) {
        self.micros += 1;
        self.separate();
        let (out, micros, step) = (&mut self.pending, self.micros, self.step);
        let kind = if sends { "send" } else { "receive" };
        let (phase, rank) = if sends { ("s", from) } else { ("f", to) };
        let _ = match self.style {
            Style::Tau => writeln!(
                out,
                "{{ \"event-type\": \"{kind}\", \"timestamp\": \"{micros}.000000\", \"source-node-id\": \"{from}\", \"source-thread-id\": \"0\", \"destination-node-id\": \"{to}\", \"destination-thread-id\": \"0\", \"message-size\": \"4096\", \"message-tag\": \"{}\" }},",
                step % 5
            ),
            Style::Codar => write!(
                out,
                "{{\"event-type\": \"{kind}\", \"timestamp\": {micros}, \"source-node-id\": {from}, \"source-thread-id\": 0, \"destination-node-id\": {to}, \"destination-thread-id\": 0, \"message-size\": 4096, \"message-tag\": {}}}",
                step % 5
            ),
            Style::Chrome => writeln!(
                out,
                "{{ \"name\": \"MPI\", \"cat\": \"Message\", \"ts\": \"{micros}.000000\", \"pid\": \"{rank}\", \"tid\": \"0\", \"ph\": \"{phase}\", \"bp\": \"e\", \"id\": \"{to}\", \"scope\": \"{}\", \"args\": {{\"destNode\": {to},\"destThread\": 0,\"message-size\": 4096,\"message-tag\": {}}} }},",
                step % 5,
                step % 5
            ),
            Style::Kineto => write!(
                out,
                "  {{\n    \"ph\": \"{phase}\", \"id\": {step}, \"pid\": 0, \"tid\": {rank}, \"ts\": {micros}.000,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"{}\n  }}",
                if sends { "" } else { ", \"bp\": \"e\"" }
            ),
        };
        if sends {
            self.counts.sends += 1;
        }
    }

    fn counter(&mut self, rank: u32) {
        if self.style == Style::Kineto {
            return;
        }
        self.separate();
        let (out, micros, value) = (&mut self.pending, self.micros, 100 + self.step % 77);
        let _ = match self.style {
            Style::Tau => writeln!(
                out,
                "{{ \"event-type\": \"counter\", \"time\": \"{micros}.000000\", \"name\": \"Message size\", \"node-id\": \"{rank}\", \"thread-id\": \"0\", \"value\": \"{value}\" }},"
            ),
            Style::Codar => write!(
                out,
                "{{\"event-type\": \"counter\", \"time\": {micros}, \"name\": \"Message size\", \"node-id\": {rank}, \"thread-id\": 0, \"value\": {value}}}"
            ),
            _ => writeln!(
                out,
                "{{\"name\": \"Message size\", \"cat\": \"AtomicEvent\", \"ph\": \"C\", \"ts\": \"{micros}.000000\", \"pid\": \"{rank}\", \"tid\": \"0\", \"args\": {{\"counts\": {value}}} }},"
            ),
        };
        self.counts.counters += 1;
    }

    fn next_step(&mut self) {
        self.pending.clear();
        self.used = 0;
        if self.step == self.steps {
            self.done = true;
            self.pending.push_str(match self.style {
                Style::Tau => "{ \"event-type\": \"trace end\" }\n]\n}\n",
                Style::Codar => ", { }]\n",
                Style::Chrome => "",
                Style::Kineto => "\n  ],\n  \"traceName\": \"made.json\",\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": 1711964646000000000\n}",
            });
            return;
        }
        for rank in 0..self.ranks {
            let first = (self.step % 5) as usize;
            for level in 0..DEPTH as usize {
                self.call(true, first + level, rank);
            }
            if self.step.is_multiple_of(8) {
                self.counter(rank);
                let next = (rank + 1) % self.ranks;
                self.message(true, rank, next);
                self.message(false, rank, next);
            }
            for level in (0..DEPTH as usize).rev() {
                self.call(false, first + level, rank);
            }
        }
        self.step += 1;
    }
}

impl Read for JsonTrace {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.used >= self.pending.len() {
            if self.done {
                return Ok(0);
            }
            self.next_step();
        }
        let rest = self.pending.as_bytes().get(self.used..).unwrap_or_default();
        let take = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..take), rest.get(..take)) {
            to.copy_from_slice(from);
        }
        self.used += take;
        self.produced += take as u64;
        Ok(take)
    }
}
