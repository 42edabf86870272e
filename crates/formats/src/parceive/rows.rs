//! Rows of the tables, with whatever columns the schema at hand has for them.

use crate::sqlite::{Column, Row, Table, Value};

use super::ids::{Ids, Key};
use super::wall_clock::WallTime;

/// A row that can be read from a table of one of several names.
pub trait FromRow: Sized {
    /// Names of the table, the newest first.
    const TABLES: &'static [&'static str];
    /// Names of each column that is wanted, the newest first.
    const COLUMNS: &'static [&'static [&'static str]];

    /// Where the columns are in `table`.
    fn columns(table: &Table) -> Vec<Column> {
        let find = |names: &&[&str]| {
            names.iter().map(|name| table.column(name)).find(|c| *c != Column::Absent)
        };
        Self::COLUMNS.iter().map(|names| find(names).unwrap_or(Column::Absent)).collect()
    }

    /// The row; `None` when it lacks what it is known by.
    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self>;
}

/// The column at a position of [`FromRow::COLUMNS`].
fn at(columns: &[Column], position: usize) -> Column {
    columns.get(position).copied().unwrap_or(Column::Absent)
}

/// A line; 0 when unknown.
fn line(row: &Row<'_>, column: Column) -> u32 {
    row.integer(column).and_then(|line| u32::try_from(line).ok()).unwrap_or(0)
}

/// A time in cycles; negative ones mean that it was not recorded.
fn cycles(row: &Row<'_>, column: Column) -> Option<u64> {
    row.integer(column).and_then(|cycles| u64::try_from(cycles).ok())
}

/// A call of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRow {
    /// Id.
    pub id: Key,
    /// Thread.
    pub thread: Option<Key>,
    /// Function.
    pub function: Option<Key>,
    /// The instruction that calls; `None` for the entry call of a thread.
    pub instruction: Option<Key>,
    /// Cycle of the start; `None` when it was not recorded.
    pub start: Option<u64>,
    /// Cycle of the end; `None` when it was not recorded.
    pub end: Option<u64>,
}

impl FromRow for CallRow {
    const TABLES: &'static [&'static str] = &["Call"];
    const COLUMNS: &'static [&'static [&'static str]] =
        &[&["Id"], &["Thread"], &["Function"], &["Instruction"], &["Start"], &["End"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.key(row, at(columns, 0))?,
            thread: ids.key(row, at(columns, 1)),
            function: ids.key(row, at(columns, 2)),
            instruction: ids.instruction(row, at(columns, 3)),
            start: cycles(row, at(columns, 4)),
            end: cycles(row, at(columns, 5)),
        })
    }
}

/// A part of a call: outside its loops, or in one iteration of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentRow {
    /// Id.
    pub id: Key,
    /// The call.
    pub call: Option<Key>,
    /// The iteration of a loop; `None` outside of loops.
    pub iteration: Option<Key>,
}

/// The type of a segment outside of loops.
const REGION: i64 = 0;

impl FromRow for SegmentRow {
    const TABLES: &'static [&'static str] = &["Segment"];
    const COLUMNS: &'static [&'static [&'static str]] =
        &[&["Id"], &["Call"], &["LoopIteration", "Loop", "Iteration"], &["Type"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.key(row, at(columns, 0))?,
            call: ids.key(row, at(columns, 1)),
            // Some number may stand in the column although there is no loop.
            iteration: match row.integer(at(columns, 3)) {
                Some(REGION) => None,
                _ => ids.key(row, at(columns, 2)),
            },
        })
    }
}

/// What an instruction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum InstructionKind {
    /// It calls a function.
    Call = 0,
    /// It reads or writes.
    Access = 1,
    /// It allocates.
    Alloc = 2,
    /// It frees.
    Free = 3,
    /// It starts a thread.
    Fork = 4,
    /// It waits for a thread.
    Join = 5,
    /// It takes a lock.
    Acquire = 6,
    /// It gives a lock back.
    Release = 7,
    /// It does something that this program does not know.
    Other = 8,
}

impl InstructionKind {
    fn of(row: &Row<'_>, column: Column) -> Self {
        match row.integer(column) {
            Some(0) => Self::Call,
            Some(1) => Self::Access,
            Some(2) => Self::Alloc,
            Some(3) => Self::Free,
            Some(4) => Self::Fork,
            Some(5) => Self::Join,
            Some(6) => Self::Acquire,
            Some(7) => Self::Release,
            _ => Self::Other,
        }
    }
}

/// One execution of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionRow {
    /// Id.
    pub id: Key,
    /// The segment that executes it.
    pub segment: Option<Key>,
    /// What it does.
    pub kind: InstructionKind,
    /// Line; 0 when unknown.
    pub line: u32,
}

impl FromRow for InstructionRow {
    const TABLES: &'static [&'static str] = &["Instruction"];
    const COLUMNS: &'static [&'static [&'static str]] =
        &[&["Id"], &["Segment"], &["Type"], &["Line"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.instruction(row, at(columns, 0))?,
            segment: ids.key(row, at(columns, 1)),
            kind: InstructionKind::of(row, at(columns, 2)),
            line: line(row, at(columns, 3)),
        })
    }
}

/// Whether memory is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// One access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessRow {
    /// The instruction that does it.
    pub instruction: Option<Key>,
    /// The variable or allocation.
    pub reference: Option<Key>,
    /// Whether it reads or writes; `None` when the database says neither.
    pub kind: Option<AccessKind>,
    /// Address and number of bytes, where they are recorded.
    pub bytes: Option<(u64, u64)>,
}

impl FromRow for AccessRow {
    const TABLES: &'static [&'static str] = &["Access"];
    const COLUMNS: &'static [&'static [&'static str]] =
        &[&["Instruction"], &["Reference"], &["Type"], &["Address"], &["Size"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        let kind = match row.get(at(columns, 2)) {
            Value::Integer(1) => Some(AccessKind::Read),
            Value::Integer(2) => Some(AccessKind::Write),
            Value::Text(_) => match row.text(at(columns, 2)).as_deref().map(str::trim) {
                Some("R" | "r" | "1") => Some(AccessKind::Read),
                Some("W" | "w" | "2") => Some(AccessKind::Write),
                _ => None,
            },
            _ => None,
        };
        // Addresses above 2^63 are stored as negative numbers.
        let address = row.integer(at(columns, 3)).map(i64::cast_unsigned);
        let size = row.integer(at(columns, 4)).and_then(|size| u64::try_from(size).ok());
        Some(Self {
            instruction: ids.instruction(row, at(columns, 0)),
            reference: ids.key(row, at(columns, 1)),
            kind,
            bytes: address.zip(size),
        })
    }
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionRow {
    /// Id.
    pub id: Key,
    /// Name.
    pub name: Option<String>,
    /// Name as the linker has it.
    pub prototype: Option<String>,
    /// The file that defines it.
    pub file: Option<Key>,
    /// Line of the definition; 0 when unknown.
    pub line: u32,
}

impl FromRow for FunctionRow {
    const TABLES: &'static [&'static str] = &["Function"];
    const COLUMNS: &'static [&'static [&'static str]] =
        &[&["Id"], &["Name"], &["Prototype", "Signature"], &["File"], &["Line"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.key(row, at(columns, 0))?,
            name: row.text(at(columns, 1)),
            prototype: row.text(at(columns, 2)),
            file: ids.key(row, at(columns, 3)),
            line: line(row, at(columns, 4)),
        })
    }
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Id.
    pub id: Key,
    /// Path on the measured machine.
    pub path: Option<String>,
    /// The binary that it is a part of.
    pub image: Option<Key>,
}

impl FromRow for FileRow {
    const TABLES: &'static [&'static str] = &["File"];
    const COLUMNS: &'static [&'static [&'static str]] = &[&["Id"], &["Path", "Name"], &["Image"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.key(row, at(columns, 0))?,
            path: row.text(at(columns, 1)),
            image: ids.key(row, at(columns, 2)),
        })
    }
}

/// A loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopRow {
    /// Id.
    pub id: Key,
    /// Line; 0 when unknown.
    pub line: u32,
    /// The function that it is in, in some versions.
    pub function: Option<Key>,
}

impl FromRow for LoopRow {
    const TABLES: &'static [&'static str] = &["Loop"];
    const COLUMNS: &'static [&'static [&'static str]] = &[&["Id", "No"], &["Line"], &["Function"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.key(row, at(columns, 0))?,
            line: line(row, at(columns, 1)),
            function: ids.key(row, at(columns, 2)),
        })
    }
}

/// One execution of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionRow {
    /// Id.
    pub id: Key,
    /// The loop.
    pub number: Option<Key>,
    /// The iteration of the loop around it.
    pub parent: Option<Key>,
    /// Cycle of the start; `None` when it was not recorded.
    pub start: Option<u64>,
    /// Cycle of the end; `None` when it was not recorded.
    pub end: Option<u64>,
    /// How many cycles it took, in versions that say so.
    pub duration: Option<u64>,
}

impl FromRow for ExecutionRow {
    const TABLES: &'static [&'static str] = &["LoopExecution"];
    const COLUMNS: &'static [&'static [&'static str]] =
        &[&["Id"], &["Loop"], &["ParentIteration", "Parent"], &["Start"], &["End"], &["Duration"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.key(row, at(columns, 0))?,
            number: ids.key(row, at(columns, 1)),
            parent: ids.key(row, at(columns, 2)),
            start: cycles(row, at(columns, 3)),
            end: cycles(row, at(columns, 4)),
            duration: cycles(row, at(columns, 5)),
        })
    }
}

/// One iteration of an execution of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationRow {
    /// Id.
    pub id: Key,
    /// The execution.
    pub execution: Option<Key>,
    /// Which one it is, counted from 0.
    pub number: Option<u32>,
    /// The segment it belongs to, in some versions.
    pub segment: Option<Key>,
}

impl FromRow for IterationRow {
    const TABLES: &'static [&'static str] = &["LoopIteration"];
    const COLUMNS: &'static [&'static [&'static str]] =
        &[&["Id"], &["Execution"], &["Iteration", "No"], &["Segment"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.key(row, at(columns, 0))?,
            execution: ids.key(row, at(columns, 1)),
            number: row.integer(at(columns, 2)).and_then(|number| u32::try_from(number).ok()),
            segment: ids.key(row, at(columns, 3)),
        })
    }
}

/// A variable or an allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceRow {
    /// Id.
    pub id: Key,
    /// Size in bytes.
    pub size: Option<u64>,
    /// Where it lies: bits 1 stack, 2 heap, 4 static, 8 global.
    pub storage: u8,
    /// Name.
    pub name: Option<String>,
    /// The instruction that allocates it.
    pub allocator: Option<Key>,
    /// The instruction that frees it.
    pub deallocator: Option<Key>,
    /// The member of a structure that it is.
    pub member: Option<Key>,
}

impl FromRow for ReferenceRow {
    const TABLES: &'static [&'static str] = &["Reference"];
    const COLUMNS: &'static [&'static [&'static str]] = &[
        &["Id", "Reference"],
        &["Size"],
        &["Type"],
        &["Name"],
        &["Allocator"],
        &["Deallocator"],
        &["Member"],
    ];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.key(row, at(columns, 0))?,
            size: cycles(row, at(columns, 1)),
            storage: row
                .integer(at(columns, 2))
                .and_then(|bits| u8::try_from(bits & 15).ok())
                .unwrap_or(0),
            name: row.text(at(columns, 3)),
            allocator: ids.instruction(row, at(columns, 4)),
            deallocator: ids.instruction(row, at(columns, 5)),
            member: ids.key(row, at(columns, 6)),
        })
    }
}

/// A member of a structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRow {
    /// Id.
    pub id: Key,
    /// Name.
    pub name: Option<String>,
}

impl FromRow for MemberRow {
    const TABLES: &'static [&'static str] = &["Member"];
    const COLUMNS: &'static [&'static [&'static str]] = &[&["Id"], &["Name"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self { id: ids.key(row, at(columns, 0))?, name: row.text(at(columns, 1)) })
    }
}

/// A binary or a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageRow {
    /// Id.
    pub id: Key,
    /// Path on the measured machine.
    pub name: Option<String>,
}

impl FromRow for ImageRow {
    const TABLES: &'static [&'static str] = &["Image"];
    const COLUMNS: &'static [&'static [&'static str]] = &[&["Id"], &["Name", "Path"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self { id: ids.key(row, at(columns, 0))?, name: row.text(at(columns, 1)) })
    }
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRow {
    /// Id.
    pub id: Key,
    /// The instruction that starts it.
    pub creator: Option<Key>,
    /// The instruction that waits for it.
    pub join: Option<Key>,
    /// The thread that starts it; newer versions have the thread itself here.
    pub parent: Option<Key>,
    /// The process.
    pub process: Option<Key>,
    /// When it began.
    pub start: Option<WallTime>,
    /// When it ended.
    pub end: Option<WallTime>,
    /// How many cycles it lived.
    pub cycles: Option<u64>,
}

impl FromRow for ThreadRow {
    const TABLES: &'static [&'static str] = &["Thread"];
    const COLUMNS: &'static [&'static [&'static str]] = &[
        &["Id", "ChildThread"],
        &["CreateInstruction", "Instruction"],
        &["JoinInstruction"],
        &["ParentThread", "Parent"],
        &["Process"],
        &["StartTime"],
        &["EndTime"],
        &["EndTSC", "NumCycles", "Cycles"],
    ];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.key(row, at(columns, 0))?,
            creator: ids.instruction(row, at(columns, 1)),
            join: ids.instruction(row, at(columns, 2)),
            parent: ids.key(row, at(columns, 3)),
            process: ids.key(row, at(columns, 4)),
            start: row.text(at(columns, 5)).and_then(|text| WallTime::parse(&text)),
            end: row.text(at(columns, 6)).and_then(|text| WallTime::parse(&text)),
            cycles: cycles(row, at(columns, 7)),
        })
    }
}

/// A name of marked intervals (tags) of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagRow {
    /// Id.
    pub id: Key,
    /// Name.
    pub name: Option<String>,
    /// What it marks: 2 a section, 10 a task.
    pub kind: Option<i64>,
}

impl FromRow for TagRow {
    const TABLES: &'static [&'static str] = &["Tag"];
    const COLUMNS: &'static [&'static [&'static str]] = &[&["Id"], &["Name"], &["Type"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.key(row, at(columns, 0))?,
            name: row.text(at(columns, 1)),
            kind: row.integer(at(columns, 2)),
        })
    }
}

/// An interval that is marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagInstanceRow {
    /// Id.
    pub id: Key,
    /// The mark.
    pub tag: Option<Key>,
    /// Cycle of the start; `None` when it was not recorded.
    pub start: Option<u64>,
    /// Cycle of the end; `None` when it was not recorded.
    pub end: Option<u64>,
    /// The thread.
    pub thread: Option<Key>,
    /// Which one of its name it is.
    pub counter: u64,
}

impl FromRow for TagInstanceRow {
    const TABLES: &'static [&'static str] = &["TagInstance"];
    const COLUMNS: &'static [&'static [&'static str]] =
        &[&["Id"], &["Tag"], &["Start"], &["End"], &["Thread"], &["Counter"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            id: ids.key(row, at(columns, 0))?,
            tag: ids.key(row, at(columns, 1)),
            start: cycles(row, at(columns, 2)),
            end: cycles(row, at(columns, 3)),
            thread: ids.key(row, at(columns, 4)),
            counter: cycles(row, at(columns, 5)).unwrap_or(0),
        })
    }
}

/// A call that was made while an interval was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallTagRow {
    /// The call.
    pub call: Key,
    /// The marked interval.
    pub instance: Key,
}

impl FromRow for CallTagRow {
    const TABLES: &'static [&'static str] = &["CallTagInstance"];
    const COLUMNS: &'static [&'static [&'static str]] = &[&["Call"], &["TagInstance", "Tag"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self { call: ids.key(row, at(columns, 0))?, instance: ids.key(row, at(columns, 1))? })
    }
}

/// An instruction that was executed while an interval was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionTagRow {
    /// The instruction.
    pub instruction: Key,
    /// The marked interval.
    pub instance: Key,
}

impl FromRow for InstructionTagRow {
    const TABLES: &'static [&'static str] = &["InstructionTagInstance"];
    const COLUMNS: &'static [&'static [&'static str]] =
        &[&["Instruction"], &["TagInstance", "Tag"]];

    fn from_row(columns: &[Column], row: &Row<'_>, ids: &mut Ids) -> Option<Self> {
        Some(Self {
            instruction: ids.instruction(row, at(columns, 0))?,
            instance: ids.key(row, at(columns, 1))?,
        })
    }
}
