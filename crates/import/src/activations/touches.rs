//! [`TouchCollector`]: from single accesses to touches.

use parallax_base::paged::Paging;
use parallax_base::{ReferenceIdx, ThreadIdx};
use parallax_model::{Touch, TouchesBuilder};

use super::NumberMap;

/// One access to memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    /// Who: a number of push.
    pub(crate) activation: u32,
    /// The thread that executes it.
    pub(crate) thread: ThreadIdx,
    pub(crate) reference: u32,
    pub(crate) is_write: bool,
    pub(crate) line: u32,
    /// Address and number of bytes, where they are known.
    pub(crate) bytes: Option<(u64, u64)>,
}

/// Adds accesses up by activation, reference and epoch of the thread.
pub(crate) struct TouchCollector {
    touches: TouchesBuilder,
    /// Touches that more accesses may be added to, and where they are by activation, reference and
    /// epoch. When there are too many, they go to `touches`, where parts are added up.
    open: Vec<Open>,
    known: NumberMap<(u32, u32, u32), u32>,
    last: Option<((u32, u32, u32), u32)>,
    /// By thread: how many synchronisations it has passed.
    epochs: Vec<u32>,
    sequence: u32,
    most: u64,
    num_lost: u64,
}

struct Open {
    activation: u32,
    touch: Touch,
    bytes: (u64, u64),
}

/// Packed bytes of a touch, about.
const TOUCH_BYTES: u64 = 16;

/// Touches that more accesses may be added to, at most.
const MOST_OPEN: usize = 1 << 16;

impl TouchCollector {
    /// Keeps touches in at most so many bytes; what is beyond is counted as lost.
    pub(crate) fn new(most_bytes: u64, paging: &Paging) -> Self {
        Self {
            touches: TouchesBuilder::paged(paging),
            open: Vec::new(),
            known: NumberMap::default(),
            last: None,
            epochs: Vec::new(),
            sequence: 0,
            most: most_bytes / TOUCH_BYTES,
            num_lost: 0,
        }
    }

    /// The number of the next access.
    pub(crate) const fn sequence(&self) -> u32 {
        self.sequence
    }

    /// A thread synchronises: what it accesses from now on is another epoch.
    pub(crate) fn next_epoch(&mut self, thread: ThreadIdx) {
        if self.epochs.len() <= thread.idx() {
            self.epochs.resize(thread.idx() + 1, 0);
        }
        if let Some(epoch) = self.epochs.get_mut(thread.idx()) {
            *epoch += 1;
        }
    }

    /// Adds an access, in the order of the source.
    pub(crate) fn add(&mut self, access: &Access) {
        if (self.touches.len() + self.open.len()) as u64 > self.most || self.sequence == u32::MAX {
            self.num_lost += 1;
            return;
        }
        let epoch = self.epochs.get(access.thread.idx()).copied().unwrap_or(0);
        let key = (access.activation, access.reference, epoch);
        let sequence = self.sequence;
        self.sequence += 1;
        let at = match self.last {
            Some((last, at)) if last == key => at,
            _ => self.touch(key, access, sequence),
        };
        self.last = Some((key, at));
        let Some(Open { touch, bytes, .. }) = self.open.get_mut(at as usize) else { return };
        let (count, line) = if access.is_write {
            (&mut touch.writes, &mut touch.write_line)
        } else {
            (&mut touch.reads, &mut touch.read_line)
        };
        if *count == 0 {
            *line = access.line;
        }
        *count = count.saturating_add(1);
        if let Some((address, size)) = access.bytes {
            let end = address.saturating_add(size.max(1));
            *bytes = if bytes.0 < bytes.1 {
                (bytes.0.min(address), bytes.1.max(end))
            } else {
                (address, end)
            };
        }
    }

    /// The touches, and how many accesses were too many.
    pub(crate) fn finish(mut self) -> (TouchesBuilder, u64) {
        self.close();
        (self.touches, self.num_lost)
    }

    fn touch(&mut self, key: (u32, u32, u32), access: &Access, sequence: u32) -> u32 {
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        if self.open.len() >= MOST_OPEN {
            self.close();
        }
        let at = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        let touch = Touch {
            reference: ReferenceIdx::new(key.1),
            reads: 0,
            writes: 0,
            first: sequence,
            is_read_first: !access.is_write,
            read_line: 0,
            write_line: 0,
            epoch: key.2,
        };
        self.open.push(Open { activation: key.0, touch, bytes: (0, 0) });
        self.known.insert(key, at);
        at
    }

    /// Hands all open touches over.
    fn close(&mut self) {
        for Open { activation, touch, bytes } in self.open.drain(..) {
            let bytes = (bytes.0 < bytes.1).then_some(bytes);
            self.touches.push(activation, touch, bytes);
        }
        self.known.clear();
        self.last = None;
    }
}
