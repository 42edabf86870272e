//! Activations while they are collected: columns, because a run has millions of them.

use parallax_base::ThreadIdx;

use super::builder::NewActivation;
use super::tree::{ActivationKind, NONE};

/// What was pushed, by number; all columns have the same length.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    /// The kind, and which times are known.
    pub(super) kind: Vec<u8>,
    /// [`NONE`] for roots.
    pub(super) parent: Vec<u32>,
    pub(super) thread: Vec<u32>,
    /// 0 where it is not known.
    pub(super) start: Vec<u64>,
    /// 0 where it is not known.
    pub(super) end: Vec<u64>,
    /// The number of an iteration, the line of a call.
    pub(super) detail: Vec<u32>,
    pub(super) source_id: SourceIds,
}

const KIND: u8 = 3;
const HAS_START: u8 = 4;
const HAS_END: u8 = 8;

impl Columns {
    pub(super) fn len(&self) -> usize {
        self.kind.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    pub(super) fn push(&mut self, new: &NewActivation) {
        let kind = match new.kind {
            ActivationKind::Call => 0,
            ActivationKind::LoopExecution => 1,
            ActivationKind::Iteration => 2,
        };
        let start = new.start_nanos.map_or(0, |_| HAS_START);
        let end = new.end_nanos.map_or(0, |_| HAS_END);
        self.kind.push(kind | start | end);
        self.parent.push(new.parent.unwrap_or(NONE));
        self.thread.push(new.thread.get());
        self.start.push(new.start_nanos.unwrap_or(0));
        self.end.push(new.end_nanos.unwrap_or(0));
        self.detail.push(if new.kind == ActivationKind::Iteration { new.number } else { new.line });
        self.source_id.push(new.source_id);
    }

    pub(super) fn get(&self, number: u32) -> Option<NewActivation> {
        let at = number as usize;
        let packed = *self.kind.get(at)?;
        let (kind, detail) = (Self::kind_of(packed), *self.detail.get(at)?);
        let is_iteration = kind == ActivationKind::Iteration;
        Some(NewActivation {
            kind,
            parent: Some(*self.parent.get(at)?).filter(|&parent| parent != NONE),
            thread: ThreadIdx::new(*self.thread.get(at)?),
            start_nanos: self.start.get(at).copied().filter(|_| packed & HAS_START != 0),
            end_nanos: self.end.get(at).copied().filter(|_| packed & HAS_END != 0),
            number: if is_iteration { detail } else { 0 },
            line: if is_iteration { 0 } else { detail },
            source_id: self.source_id.get(at),
        })
    }

    pub(super) fn set_end(&mut self, number: u32, nanos: u64) {
        let at = number as usize;
        if let (Some(kind), Some(end)) = (self.kind.get_mut(at), self.end.get_mut(at)) {
            *kind |= HAS_END;
            *end = nanos;
        }
    }

    /// Sets what is said of activations of one kind only.
    pub(super) fn set_detail(&mut self, number: u32, of: ActivationKind, detail: u32) {
        let at = number as usize;
        let is_of = self.kind.get(at).is_some_and(|&packed| Self::kind_of(packed) == of);
        if let Some(slot) = self.detail.get_mut(at).filter(|_| is_of) {
            *slot = detail;
        }
    }

    pub(super) fn kind(&self, number: u32) -> ActivationKind {
        Self::kind_of(self.kind[number as usize])
    }

    pub(super) const fn kind_of(packed: u8) -> ActivationKind {
        match packed & KIND {
            0 => ActivationKind::Call,
            1 => ActivationKind::LoopExecution,
            _ => ActivationKind::Iteration,
        }
    }

    /// The number of an iteration; 0 of others.
    pub(super) fn number(&self, number: u32) -> u32 {
        match self.kind(number) {
            ActivationKind::Iteration => self.detail[number as usize],
            _ => 0,
        }
    }

    pub(super) fn has_start(&self, number: u32) -> bool {
        self.kind[number as usize] & HAS_START != 0
    }

    pub(super) fn has_end(&self, number: u32) -> bool {
        self.kind[number as usize] & HAS_END != 0
    }
}

/// Numbers of the source: 4 bytes each as long as all of them fit.
#[derive(Debug, Clone, Default)]
pub(super) struct SourceIds {
    narrow: Vec<u32>,
    /// All of them once one does not fit; `narrow` is empty then.
    wide: Vec<u64>,
}

impl SourceIds {
    fn push(&mut self, id: u64) {
        match u32::try_from(id) {
            Ok(id) if self.wide.is_empty() => self.narrow.push(id),
            _ => {
                if self.wide.is_empty() {
                    self.wide =
                        std::mem::take(&mut self.narrow).into_iter().map(u64::from).collect();
                }
                self.wide.push(id);
            }
        }
    }

    /// The number at a position; 0 behind the last one.
    pub(super) fn get(&self, at: usize) -> u64 {
        let narrow = self.narrow.get(at).map(|&id| u64::from(id));
        narrow.or_else(|| self.wide.get(at).copied()).unwrap_or(0)
    }

    pub(super) fn reorder(&mut self, order: &[u32]) {
        if self.wide.is_empty() {
            reorder(&mut self.narrow, order);
        } else {
            reorder(&mut self.wide, order);
        }
    }
}

/// Puts a column into another order: the numbers of the values, first to last.
pub(super) fn reorder<T: Copy>(column: &mut Vec<T>, order: &[u32]) {
    *column = order.iter().map(|&number| column[number as usize]).collect();
}
