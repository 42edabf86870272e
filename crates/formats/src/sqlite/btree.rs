//! The b-tree of a table: interior pages lead to leaves, leaves hold rows in order of their numbers.

use std::ops::ControlFlow;

use parallax_base::casts::saturated_usize;
use parallax_base::{Issues, Place, ReadError, Severity, Stage};

use super::pages::Pages;
use super::record::{Row, Slots, varint};
use super::{Database, HEADER_LEN, Table};
use crate::FormatError;

/// Deepest tree that is followed; SQLite's own limit is 20.
const MAX_DEPTH: usize = 40;

const INTERIOR: u8 = 0x05;
const LEAF: u8 = 0x0d;

/// Interior pages begin with 12 bytes, leaves with 8.
const INTERIOR_HEADER: usize = 12;
const LEAF_HEADER: usize = 8;

/// The children of an interior page that are still to be visited, in reverse.
type Frame = Vec<u32>;

/// Visits all rows below the root of `table`.
pub(super) fn scan(
    database: &Database,
    table: &Table,
    issues: &mut Issues,
    visit: &mut dyn FnMut(&Row<'_>) -> ControlFlow<()>,
) -> Result<(), FormatError> {
    Scan::new(database, table).run(issues, visit)
}

struct Scan<'d> {
    database: &'d Database,
    table: &'d Table,
    buffers: Buffers,
    /// Pages that were visited, by bit: no tree reaches a page twice.
    seen: Vec<u64>,
}

/// What reading a leaf needs.
pub(super) struct Buffers {
    pages: Pages,
    /// Overflow pages are read in addition to leaves.
    overflow: Pages,
    payload: Vec<u8>,
    slots: Slots,
}

impl Buffers {
    pub(super) fn new(database: &Database) -> Self {
        let pages = || Pages::new(&database.source, database.header.page_size);
        let (payload, slots) = (Vec::new(), Slots::default());
        Self { pages: pages(), overflow: pages(), payload, slots }
    }
}

/// What a page of a tree turned out to be.
enum Page {
    Interior(Frame),
    Leaf,
    Damaged(String),
}

impl<'d> Scan<'d> {
    fn new(database: &'d Database, table: &'d Table) -> Self {
        // A damaged header may claim more pages than the file has.
        let in_file = database.source.len() / u64::from(database.header.page_size);
        let count = in_file.min(database.header.page_count.into());
        let words = usize::try_from(count / 64 + 1).unwrap_or(1);
        Self { database, table, buffers: Buffers::new(database), seen: vec![0; words] }
    }

    fn run(
        mut self,
        issues: &mut Issues,
        visit: &mut dyn FnMut(&Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), FormatError> {
        let mut stack: Vec<Frame> = vec![vec![self.table.root]];
        while let Some(frame) = stack.last_mut() {
            let Some(number) = frame.pop() else {
                stack.pop();
                continue;
            };
            if !self.is_new(number) {
                self.damaged(issues, number, "it is a part of two tables or of itself");
                continue;
            }
            match self.page(number)? {
                Page::Interior(children) if stack.len() < MAX_DEPTH => stack.push(children),
                Page::Interior(_) => self.damaged(issues, number, "it lies too deep"),
                Page::Damaged(what) => self.damaged(issues, number, &what),
                Page::Leaf => {
                    let Self { database, table, buffers, .. } = &mut self;
                    if leaf(database, table, buffers, number, issues, visit)?.is_break() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether page `number` exists and was not visited; marks it.
    fn is_new(&mut self, number: u32) -> bool {
        let Some(word) = self.seen.get_mut(number as usize / 64) else {
            // Not in the file: reading it says so.
            return true;
        };
        let bit = 1_u64 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn damaged(&self, issues: &mut Issues, page: u32, what: &str) {
        let offset = self.buffers.pages.offset(page);
        let place = Place::Byte { file: self.database.file.clone(), offset };
        issues.report(Severity::Error, Stage::Read, "page-damaged", place, || {
            format!(
                "page {page} of table {} cannot be used: {what}; the rows below it are omitted",
                self.table.name
            )
        });
    }

    /// A failing source ends the scan; a page outside the file is damage.
    fn outside(&self, error: ReadError) -> Result<String, FormatError> {
        match error {
            ReadError::OutOfBounds { .. } => Ok("it lies behind the end of the file".to_owned()),
            other => Err(FormatError::read(&self.database.file, other)),
        }
    }

    /// The children of an interior page, or what else the page is.
    fn page(&mut self, number: u32) -> Result<Page, FormatError> {
        let usable = self.database.header.usable_size as usize;
        let bytes = match self.buffers.pages.get(number) {
            Ok(bytes) => bytes.get(..usable).unwrap_or(bytes),
            Err(error) => return self.outside(error).map(Page::Damaged),
        };
        let start = header_start(number);
        Ok(match bytes.get(start) {
            Some(&LEAF) => Page::Leaf,
            Some(&INTERIOR) => {
                let children = interior(bytes, start);
                children.map_or_else(
                    || Page::Damaged("its list of pages does not fit".to_owned()),
                    Page::Interior,
                )
            }
            Some(2 | 10) => Page::Damaged("it is a page of an index".to_owned()),
            Some(kind) => Page::Damaged(format!("it is of the unknown kind {kind}")),
            None => Page::Damaged("it is empty".to_owned()),
        })
    }
}

/// Calls `visit` with the rows of one leaf.
pub(super) fn leaf(
    database: &Database,
    table: &Table,
    buffers: &mut Buffers,
    number: u32,
    issues: &mut Issues,
    visit: &mut dyn FnMut(&Row<'_>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, FormatError> {
    let Buffers { pages, overflow, payload, slots } = buffers;
    let header = &database.header;
    let usable = header.usable_size as usize;
    let page_offset = pages.offset(number);
    let bytes = pages.get(number).map_err(|cause| FormatError::read(&database.file, cause))?;
    let bytes = bytes.get(..usable).unwrap_or(bytes);
    let start = header_start(number);
    let count = half(bytes, start + 3).unwrap_or(0);
    for cell in 0..usize::from(count) {
        let at = half(bytes, start + LEAF_HEADER + 2 * cell).map(usize::from);
        let found = at.and_then(|at| bytes.get(at..)).and_then(|cell| Cell::read(cell, usable));
        let mut fault = "it does not fit its page";
        if let Some(cell) = found {
            let whole = match cell.overflow {
                None => Some(cell.local),
                Some(first) => {
                    let limit = header.page_count;
                    match gather(overflow, usable, limit, &cell, first, payload) {
                        Ok(()) => Some(payload.as_slice()),
                        Err(Fault::Read(cause @ ReadError::Storage { .. })) => {
                            return Err(FormatError::read(&database.file, cause));
                        }
                        Err(_) => {
                            fault = "its rest cannot be found";
                            None
                        }
                    }
                }
            };
            if let Some(whole) = whole {
                if slots.read(whole).is_some() {
                    let row = Row::new((number, cell.rowid), whole, header.encoding, slots);
                    if visit(&row).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                    continue;
                }
                fault = "its values do not fit it";
            }
        }
        let offset = page_offset + at.unwrap_or(0) as u64;
        let place = Place::Byte { file: database.file.clone(), offset };
        issues.report(Severity::Error, Stage::Read, "row-damaged", place, || {
            format!("a row of table {} cannot be read: {fault}; it is omitted", table.name)
        });
    }
    Ok(ControlFlow::Continue(()))
}

/// Page 1 begins with the header of the database.
fn header_start(number: u32) -> usize {
    if number == 1 { saturated_usize(HEADER_LEN) } else { 0 }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes(pair.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// The children of an interior page, the last one first.
fn interior(bytes: &[u8], start: usize) -> Option<Frame> {
    let count = usize::from(half(bytes, start + 3)?);
    let mut children = Vec::with_capacity(count + 1);
    children.push(word(bytes, start + 8)?);
    for cell in (0..count).rev() {
        let at = half(bytes, start + INTERIOR_HEADER + 2 * cell)?;
        children.push(word(bytes, at.into())?);
    }
    Some(children)
}

/// A row as a leaf has it.
struct Cell<'p> {
    rowid: i64,
    len: u64,
    /// What of the row lies in the leaf.
    local: &'p [u8],
    /// The first page of the rest.
    overflow: Option<u32>,
}

impl<'p> Cell<'p> {
    /// How much of a long row lies in the leaf: section 1.6 of the description of the file format.
    fn read(bytes: &'p [u8], usable: usize) -> Option<Self> {
        let (len, at) = varint(bytes)?;
        let (rowid, more) = varint(bytes.get(at..)?)?;
        let start = at + more;
        let rowid = rowid.cast_signed();
        let most = usable as u64 - 35;
        if len <= most {
            let end = start.checked_add(usize::try_from(len).ok()?)?;
            return Some(Self { rowid, len, local: bytes.get(start..end)?, overflow: None });
        }
        let least = (usable as u64 - 12) * 32 / 255 - 23;
        let fitting = least + (len - least) % (usable as u64 - 4);
        let local = if fitting <= most { fitting } else { least };
        let end = start.checked_add(usize::try_from(local).ok()?)?;
        let overflow = word(bytes, end)?;
        Some(Self { rowid, len, local: bytes.get(start..end)?, overflow: Some(overflow) })
    }
}

enum Fault {
    Read(ReadError),
    Broken,
}

/// Puts a row together from its leaf and its overflow pages.
fn gather(
    pages: &mut Pages,
    usable: usize,
    page_count: u32,
    cell: &Cell<'_>,
    first: u32,
    payload: &mut Vec<u8>,
) -> Result<(), Fault> {
    payload.clear();
    let local = cell.local.len() as u64;
    let rest = cell.len.checked_sub(local).ok_or(Fault::Broken)?;
    // A row cannot be longer than the pages that there are.
    if rest > u64::from(page_count) * usable as u64 {
        return Err(Fault::Broken);
    }
    payload.extend_from_slice(cell.local);
    let (mut page, mut rest) = (first, usize::try_from(rest).map_err(|_| Fault::Broken)?);
    while rest > 0 {
        if page == 0 {
            return Err(Fault::Broken);
        }
        let bytes = pages.get(page).map_err(Fault::Read)?;
        let next = word(bytes, 0).ok_or(Fault::Broken)?;
        let here = rest.min(usable - 4);
        payload.extend_from_slice(bytes.get(4..4 + here).ok_or(Fault::Broken)?);
        rest -= here;
        page = next;
    }
    Ok(())
}
