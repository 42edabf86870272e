//! Records of the kernel, as `perf_event_open(2)` describes them.
//!
//! Every record but a sample ends in the number of the process and the thread, the time and the
//! processor ("sample id"); a sample begins with them.

use std::num::NonZeroU64;

use crate::mpi::Call;
use crate::registers::{COUNT, Registers};

/// Types of records.
const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const LOST_SAMPLES: u32 = 13;
const SWITCH: u32 = 14;

/// Bits of the header's `misc`; the meaning of the upper two depends on the type.
const CPU_MODE: u16 = 7;
const KERNEL_MODE: u16 = 1;
const COMM_EXEC: u16 = 1 << 13;
const SWITCH_OUT: u16 = 1 << 13;
const SWITCH_PREEMPTED: u16 = 1 << 14;

/// Length of the sample id.
const ID_BYTES: usize = 24;

/// `PROT_EXEC`.
const EXECUTABLE: u32 = 4;

/// Why the kernel takes a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Some processor time has passed.
    Clock,
    /// The thread gives its processor away.
    Switch,
    /// Events happened: `at` says which, among those of the recording, and `period` how many there are
    /// to a sample, where that is fixed. With a fixed period in its samples, the kernel would take one
    /// of every single event.
    Counter { at: usize, period: Option<NonZeroU64> },
}

/// Something that happened to a thread.
#[derive(Debug)]
pub(crate) struct Event {
    /// When, on the monotonic clock.
    pub(crate) nanos: u64,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    /// Where the thread was.
    Sample(Sample),
    /// Code was mapped.
    Map(Map),
    /// The thread has a name now; with `is_exec` it became another program.
    Name { name: String, is_exec: bool },
    /// It was made by another one; `parent_pid` differs for a new process.
    Begun { parent_pid: u32 },
    /// Its process is a rank of an MPI program: no record of the kernel.
    Rank(u64),
    /// It did something with MPI: no record of the kernel.
    Mpi(Call),
    /// It ended.
    Ended,
    /// It got a processor.
    On,
    /// It gave its processor away, or had to.
    Off { is_preempted: bool },
    /// So many records had no room.
    Lost(u64),
}

#[derive(Debug)]
pub(crate) struct Sample {
    /// Whether the kernel worked for the thread.
    pub(crate) is_kernel: bool,
    /// Why it was taken.
    pub(crate) source: Source,
    /// How much time or how many events it stands for, by the kernel.
    pub(crate) period: u64,
    /// `None` for threads that have none.
    pub(crate) registers: Option<Registers>,
    /// From where the stack ends.
    pub(crate) stack: Vec<u8>,
    /// Whether the stack may be longer than what was taken.
    pub(crate) is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Map {
    pub(crate) start: u64,
    pub(crate) len: u64,
    /// Where in the file.
    pub(crate) offset: u64,
    pub(crate) path: String,
}

/// Memory for stacks, which is used again: fresh memory has to be cleared by the kernel, page by page,
/// on a processor that the program could use.
pub(crate) type Spare = Vec<Vec<u8>>;

/// Reads a record without its header. `None` for one that says nothing here, or is damaged.
pub(crate) fn read(
    kind: u32,
    misc: u16,
    bytes: &[u8],
    source: Source,
    spare: &mut Spare,
) -> Option<Event> {
    if kind == SAMPLE {
        return sample(misc, bytes, source, spare);
    }
    let (body, id) = bytes.split_at_checked(bytes.len().checked_sub(ID_BYTES)?)?;
    let mut id = Bytes(id);
    let (pid, tid, nanos) = (id.u32()?, id.u32()?, id.u64()?);
    let mut body = Bytes(body);
    let event = |what| Some(Event { nanos, pid, tid, what });
    let of = |pid, tid, what| Some(Event { nanos, pid, tid, what });
    match kind {
        SWITCH if misc & SWITCH_OUT != 0 => {
            event(What::Off { is_preempted: misc & SWITCH_PREEMPTED != 0 })
        }
        SWITCH => event(What::On),
        COMM => {
            let (pid, tid) = (body.u32()?, body.u32()?);
            of(pid, tid, What::Name { name: body.text(), is_exec: misc & COMM_EXEC != 0 })
        }
        FORK | EXIT => {
            let (pid, parent_pid, tid) = (body.u32()?, body.u32()?, body.u32()?);
            of(pid, tid, if kind == FORK { What::Begun { parent_pid } } else { What::Ended })
        }
        MMAP2 => {
            let (pid, tid) = (body.u32()?, body.u32()?);
            let (start, len, offset) = (body.u64()?, body.u64()?, body.u64()?);
            // The file's device and number.
            body.skip(24)?;
            let protection = body.u32()?;
            body.skip(4)?;
            if protection & EXECUTABLE == 0 {
                return None;
            }
            of(pid, tid, What::Map(Map { start, len, offset, path: body.text() }))
        }
        LOST => {
            body.skip(8)?;
            event(What::Lost(body.u64()?))
        }
        LOST_SAMPLES => event(What::Lost(body.u64()?)),
        _ => None,
    }
}

fn sample(misc: u16, bytes: &[u8], source: Source, spare: &mut Spare) -> Option<Event> {
    let mut bytes = Bytes(bytes);
    let _address = bytes.u64()?;
    let (pid, tid, nanos) = (bytes.u32()?, bytes.u32()?, bytes.u64()?);
    let _processor = bytes.u64()?;
    let period = match source {
        Source::Counter { period: Some(period), .. } => period.get(),
        _ => bytes.u64()?,
    };
    let registers = match bytes.u64()? {
        // ABI "none": no registers follow.
        0 => None,
        _ => {
            let mut registers = [0; COUNT];
            for register in &mut registers {
                *register = bytes.u64()?;
            }
            Some(Registers(registers))
        }
    };
    let size = usize::try_from(bytes.u64()?).ok()?;
    let mut stack = Vec::new();
    let mut is_cut = false;
    if size > 0 {
        let whole = bytes.take(size)?;
        let used = usize::try_from(bytes.u64()?).ok()?;
        let whole = whole.get(..used)?;
        stack = spare.pop().unwrap_or_default();
        stack.clear();
        stack.extend_from_slice(whole);
        is_cut = used == size;
    }
    let is_kernel = misc & CPU_MODE == KERNEL_MODE;
    let sample = Sample { is_kernel, source, period, registers, stack, is_cut };
    Some(Event { nanos, pid, tid, what: What::Sample(sample) })
}

/// Bytes that are read from the front.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let (head, tail) = self.0.split_at_checked(len)?;
        self.0 = tail;
        Some(head)
    }

    fn skip(&mut self, len: usize) -> Option<()> {
        self.take(len).map(drop)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_ne_bytes)
    }

    /// The rest to its first zero byte.
    fn text(&mut self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        String::from_utf8_lossy(self.0.get(..end).unwrap_or_default()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(kind: u32, misc: u16, bytes: &[u8]) -> Option<Event> {
        read(kind, misc, bytes, Source::Clock, &mut Spare::new())
    }

    /// Process 7, thread 8, time 9, processor 0.
    fn with_id(mut body: Vec<u8>) -> Vec<u8> {
        body.extend([7u32, 8].iter().flat_map(|n| n.to_ne_bytes()));
        body.extend([9u64, 0].iter().flat_map(|n| n.to_ne_bytes()));
        body
    }

    #[test]
    fn a_switch_says_whether_the_thread_was_preempted() {
        let event = plain(SWITCH, SWITCH_OUT | SWITCH_PREEMPTED, &with_id(Vec::new()));
        let event = event.unwrap();
        assert_eq!((event.pid, event.tid, event.nanos), (7, 8, 9));
        assert!(matches!(event.what, What::Off { is_preempted: true }));
        let on = plain(SWITCH, 0, &with_id(Vec::new())).unwrap();
        assert!(matches!(on.what, What::On));
    }

    #[test]
    fn a_name_ends_at_its_first_zero() {
        let mut body: Vec<u8> = [7u32, 7].iter().flat_map(|n| n.to_ne_bytes()).collect();
        body.extend(b"solve\0\0\0");
        let event = plain(COMM, COMM_EXEC, &with_id(body)).unwrap();
        match event.what {
            What::Name { name, is_exec } => assert_eq!((name.as_str(), is_exec), ("solve", true)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn records_that_end_early_are_left_out() {
        let whole = with_id(vec![0; 64]);
        for kind in 0..20 {
            for len in 0..whole.len() {
                let _ = plain(kind, 0, &whole[..len]);
            }
        }
        assert!(plain(SWITCH, 0, &[0; 8]).is_none());
        assert!(plain(SAMPLE, 0, &[0; 40]).is_none());
    }

    #[test]
    fn a_sample_without_registers_has_no_stack() {
        let mut bytes = Vec::new();
        bytes.extend(1u64.to_ne_bytes());
        bytes.extend([7u32, 8].iter().flat_map(|n| n.to_ne_bytes()));
        bytes.extend([9u64, 0, 1000, 0, 0].iter().flat_map(|n| n.to_ne_bytes()));
        match plain(SAMPLE, KERNEL_MODE, &bytes).unwrap().what {
            What::Sample(sample) => {
                assert!(sample.is_kernel && sample.registers.is_none() && sample.stack.is_empty());
            }
            other => panic!("{other:?}"),
        }
    }
}
