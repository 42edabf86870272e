//! Instructions: there are as many as accesses, so a large table is not kept but read again where
//! it is asked about.
//!
//! Up to [`Limits::kept_rows`] of them are kept, in columns. Of a larger table, only where its
//! pages begin: the first id of each page. Accesses, calls and allocations name instructions in the
//! order in which they were executed, so that nearly always the page that was read last has the next
//! one as well.

use std::cell::RefCell;

use parallax_base::{Issues, Limits};
use parallax_formats::FormatError;
use parallax_formats::parceive::{Ids, InstructionKind, InstructionRow, Key, ParceiveDb, RowPages};

use super::key_map::KeyMap;
use super::structure::Segments;
use crate::activations::NumberMap;

/// All instructions.
pub(super) struct Instructions {
    rows: Rows,
    segments: Segments,
    /// Positions of those that synchronise.
    syncs: Vec<u32>,
    /// Those that are not of the activation that their segment says, by position.
    moved: NumberMap<u32, u32>,
}

enum Rows {
    Kept(Box<Columns>),
    OnDemand(Box<RefCell<Pages>>),
}

/// One instruction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instruction {
    pub(super) activation: Option<u32>,
    pub(super) kind: InstructionKind,
    pub(super) line: u32,
}

impl Instruction {
    const UNKNOWN: Self = Self { activation: None, kind: InstructionKind::Other, line: 0 };
}

/// An instruction as it is kept.
#[derive(Debug, Clone, Copy)]
struct Packed {
    /// Number of push of the activation; `u32::MAX` when unknown.
    activation: u32,
    /// The kind in the highest 4 bits, the line in the others.
    kind_and_line: u32,
}

const LINE_BITS: u32 = 28;

const KINDS: [InstructionKind; 9] = [
    InstructionKind::Call,
    InstructionKind::Access,
    InstructionKind::Alloc,
    InstructionKind::Free,
    InstructionKind::Fork,
    InstructionKind::Join,
    InstructionKind::Acquire,
    InstructionKind::Release,
    InstructionKind::Other,
];

impl Packed {
    fn of(row: &InstructionRow, activation: u32) -> Self {
        let line = row.line.min((1 << LINE_BITS) - 1);
        Self { activation, kind_and_line: (row.kind as u32) << LINE_BITS | line }
    }

    fn unpacked(self) -> Instruction {
        let kind = KINDS.get((self.kind_and_line >> LINE_BITS) as usize).copied();
        Instruction {
            activation: Some(self.activation).filter(|&activation| activation != u32::MAX),
            kind: kind.unwrap_or(InstructionKind::Other),
            line: self.kind_and_line & ((1 << LINE_BITS) - 1),
        }
    }
}

#[derive(Default)]
struct Columns {
    at: KeyMap,
    list: Vec<Packed>,
}

/// Bytes that an instruction takes in columns, about.
const INSTRUCTION_BYTES: u64 = 12;

/// Where the rows of a page are.
#[derive(Debug, Clone, Copy)]
struct Page {
    number: u32,
    /// Position of its first row.
    first: u32,
    first_id: Key,
}

impl Instructions {
    pub(super) fn read(
        db: &mut ParceiveDb,
        issues: &mut Issues,
        segments: Segments,
        limits: &Limits,
    ) -> Result<Self, FormatError> {
        let mut columns = Some(Columns::default());
        let mut pages: Vec<Page> = Vec::new();
        let mut syncs = Vec::new();
        let mut place = LastSegment::default();
        let (mut count, mut last_id) = (0_u32, None);
        // Pages can be found by id where ids ascend, and text has no order.
        let mut is_ascending = true;
        let most = limits.metadata_bytes / INSTRUCTION_BYTES;
        db.scan_pages(issues, |row: InstructionRow, page| {
            is_ascending &= last_id.is_none_or(|last| last < row.id);
            is_ascending &= row.id.max(row.segment.unwrap_or(0)) < Ids::FIRST_TEXT;
            last_id = Some(row.id);
            if pages.last().is_none_or(|last| last.number != page) {
                pages.push(Page { number: page, first: count, first_id: row.id });
            }
            if row.kind >= InstructionKind::Fork && row.kind <= InstructionKind::Release {
                syncs.push(count);
            }
            if is_ascending && u64::from(count) >= limits.kept_rows {
                columns = None;
            }
            if let Some(kept) = columns.as_mut().filter(|_| u64::from(count) < most) {
                kept.at.add(row.id);
                kept.list.push(Packed::of(&row, place.activation(&row, &segments)));
            }
            count = count.saturating_add(1);
        })?;
        let is_kept = columns.as_ref().is_some_and(|kept| kept.list.len() == count as usize);
        let rows = match columns {
            Some(kept) if is_kept => Rows::Kept(Box::new(kept)),
            _ if is_ascending => {
                let reader = db.pages::<InstructionRow>();
                Rows::OnDemand(Box::new(RefCell::new(Pages::new(pages, count, reader))))
            }
            // They were let go before one of them came too late.
            _ => Rows::Kept(Box::new(Self::keep(db, &segments, limits)?)),
        };
        Ok(Self { rows, segments, syncs, moved: NumberMap::default() })
    }

    /// All instructions, whatever their number.
    fn keep(
        db: &mut ParceiveDb,
        segments: &Segments,
        limits: &Limits,
    ) -> Result<Columns, FormatError> {
        let mut kept = Columns::default();
        let mut place = LastSegment::default();
        let mut count = 0_u64;
        let most = limits.metadata_bytes / INSTRUCTION_BYTES;
        // What is wrong with them was reported.
        db.scan(&mut Issues::new(), |row: InstructionRow| {
            count += 1;
            if count <= most {
                kept.at.add(row.id);
                kept.list.push(Packed::of(&row, place.activation(&row, segments)));
            }
        })?;
        limits
            .metadata("the instructions", count.saturating_mul(INSTRUCTION_BYTES))
            .map_err(|cause| FormatError::Limit { file: db.file().to_owned(), cause })?;
        Ok(kept)
    }

    pub(super) fn position(&self, id: Option<Key>) -> Option<u32> {
        match &self.rows {
            Rows::Kept(kept) => kept.at.find(id),
            Rows::OnDemand(pages) => pages.borrow_mut().position(id?, &self.segments),
        }
    }

    pub(super) fn get(&self, position: u32) -> Instruction {
        let found = match &self.rows {
            Rows::Kept(kept) => kept.list.get(position as usize).copied(),
            Rows::OnDemand(pages) => pages.borrow_mut().get(position, &self.segments),
        };
        let mut found = found.map_or(Instruction::UNKNOWN, Packed::unpacked);
        if !self.moved.is_empty()
            && let Some(&moved) = self.moved.get(&position)
        {
            found.activation = Some(moved);
        }
        found
    }

    pub(super) fn find(&self, id: Option<Key>) -> Option<Instruction> {
        self.position(id).map(|position| self.get(position))
    }

    /// Says that an instruction is of another activation, by number of push.
    pub(super) fn set_activation(&mut self, position: u32, activation: u32) {
        self.moved.insert(position, activation);
    }

    /// Positions of instructions that synchronise, ascending.
    pub(super) fn syncs(&self) -> &[u32] {
        &self.syncs
    }

    /// # Errors
    /// When the source failed while an instruction was looked for.
    pub(super) fn check(&self) -> Result<(), FormatError> {
        match &self.rows {
            Rows::Kept(_) => Ok(()),
            Rows::OnDemand(pages) => pages.borrow_mut().failure.take().map_or(Ok(()), Err),
        }
    }
}

/// Rows of one segment lie together.
#[derive(Default)]
struct LastSegment {
    segment: Option<Key>,
    activation: Option<u32>,
}

impl LastSegment {
    /// Number of push of the activation of an instruction; `u32::MAX` when unknown.
    fn activation(&mut self, row: &InstructionRow, segments: &Segments) -> u32 {
        if self.segment != row.segment || self.activation.is_none() {
            let at = segments.at.find(row.segment);
            self.activation = at.and_then(|at| segments.activation.get(at as usize));
            self.segment = row.segment;
        }
        self.activation.unwrap_or(u32::MAX)
    }
}

/// Instructions that are read when they are asked about.
struct Pages {
    list: Vec<Page>,
    /// Number of rows of all pages.
    count: u32,
    reader: Option<RowPages<InstructionRow>>,
    /// Pages that were read last, each at its number in `list` modulo the number of slots.
    slots: Vec<Slot>,
    /// Number in `list` of the page that was asked about last.
    last: usize,
    failure: Option<FormatError>,
}

#[derive(Default)]
struct Slot {
    /// Number in `list`, and the rows.
    page: Option<usize>,
    rows: Vec<(Key, Packed)>,
}

/// Pages that are kept.
const SLOTS: usize = 64;

impl Pages {
    fn new(list: Vec<Page>, count: u32, reader: Option<RowPages<InstructionRow>>) -> Self {
        let slots = std::iter::repeat_with(Slot::default).take(SLOTS).collect();
        Self { list, count, reader, slots, last: 0, failure: None }
    }

    fn position(&mut self, id: Key, segments: &Segments) -> Option<u32> {
        let begins = |page: &Page| page.first_id <= id;
        let page = self.page(begins)?;
        let first = self.list.get(page)?.first;
        let rows = self.rows(page, segments);
        let at = rows.binary_search_by_key(&id, |row| row.0).ok()?;
        first.checked_add(u32::try_from(at).ok()?)
    }

    fn get(&mut self, position: u32, segments: &Segments) -> Option<Packed> {
        if position >= self.count {
            return None;
        }
        let page = self.page(|page| page.first <= position)?;
        let first = self.list.get(page)?.first;
        let at = position.checked_sub(first)? as usize;
        self.rows(page, segments).get(at).map(|row| row.1)
    }

    /// The last page that `begins` before or at what is looked for.
    fn page(&mut self, begins: impl Fn(&Page) -> bool) -> Option<usize> {
        let is_here = |at: usize| {
            self.list.get(at).is_some_and(&begins) && !self.list.get(at + 1).is_some_and(&begins)
        };
        let near = [self.last, self.last + 1].into_iter().find(|&at| is_here(at));
        let found = near.or_else(|| self.list.partition_point(&begins).checked_sub(1))?;
        self.last = found;
        Some(found)
    }

    /// The rows of a page; none when the source fails.
    fn rows(&mut self, page: usize, segments: &Segments) -> &[(Key, Packed)] {
        let Self { list, reader, slots, failure, .. } = self;
        let Some(slot) = slots.get_mut(page % SLOTS) else { return &[] };
        if slot.page != Some(page) {
            slot.page = Some(page);
            slot.rows.clear();
            let mut place = LastSegment::default();
            let number = list.get(page).map_or(0, |page| page.number);
            let read = reader.as_mut().map(|reader| {
                reader.visit(number, |row| {
                    let activation = place.activation(&row, segments);
                    slot.rows.push((row.id, Packed::of(&row, activation)));
                })
            });
            if let Some(Err(cause)) = read {
                slot.page = None;
                failure.get_or_insert(cause);
            }
        }
        &slot.rows
    }
}
