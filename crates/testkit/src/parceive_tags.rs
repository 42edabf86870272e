//! A database of Parceive of a program that marked a section with two tasks in one call.
//!
//! ```text
//! main                                     1 ms
//!   solve
//!     section Solve
//!       task First     first = 1 (line 11), f() (line 12), reads first (line 13)
//!       task Second    second = 1, or second = first (line 15), g() (line 16)
//!     h()                                  line 20, after the section
//! ```
//!
//! `f`, `g` and `h` write a variable each that nothing else touches.

use rusqlite::{Connection, Result};

/// What is planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tagged {
    /// The tasks touch nothing in common: they could run side by side.
    Independent,
    /// The second task reads what the first one wrote, outside of `f` and `g`: it has to wait.
    Dependent,
    /// As [`Tagged::Independent`], but the database does not say which instructions are in what.
    Unmarked,
    /// As [`Tagged::Independent`], but the second task begins in the middle of `f`.
    Straddling,
    /// As [`Tagged::Independent`], but the second task has no end, because the program was stopped.
    Open,
}

impl Tagged {
    /// The database as bytes.
    #[must_use]
    pub fn bytes(self) -> Vec<u8> {
        crate::sqlite::bytes(|connection| self.write(connection))
    }

    fn write(self, connection: &Connection) -> Result<()> {
        connection.execute_batch(crate::parceive::SCHEMA_2016)?;
        connection.execute_batch(PROGRAM)?;
        if self == Self::Dependent {
            connection.execute_batch(
                "INSERT INTO Instruction(Id, Segment, Type, Line) VALUES (9, 2, 1, 15);
                 INSERT INTO Access(Id, Instruction, Reference, Type) VALUES (9, 9, 1, 1);",
            )?;
        }
        if self != Self::Unmarked {
            connection.execute_batch(
                "INSERT INTO InstructionTagInstance(Instruction, TagInstance)
                   SELECT Id, 1 FROM Instruction WHERE Id BETWEEN 3 AND 12;
                 INSERT INTO InstructionTagInstance(Instruction, TagInstance)
                   SELECT Id, 2 FROM Instruction WHERE Id BETWEEN 3 AND 7;
                 INSERT INTO InstructionTagInstance(Instruction, TagInstance)
                   SELECT Id, 3 FROM Instruction WHERE Id BETWEEN 8 AND 12;",
            )?;
        }
        match self {
            Self::Straddling => connection.execute_batch(
                "UPDATE TagInstance SET Start = 1000000, End = 2300000 WHERE Id = 3",
            ),
            Self::Open => connection.execute_batch("UPDATE TagInstance SET End = -1 WHERE Id = 3"),
            _ => Ok(()),
        }
    }
}

const PROGRAM: &str = "
INSERT INTO Image(Id, Name) VALUES (1, '/home/a/solve');
INSERT INTO File(Id, Path, Image) VALUES (0, '/home/a/solve.c', 1);
INSERT INTO Function(Id, Name, Prototype, File, Line) VALUES
  (1, 'main', 'main', 0, 50), (2, 'solve', 'solve', 0, 9), (3, 'f', 'f', 0, 30),
  (4, 'g', 'g', 0, 40), (5, 'h', 'h', 0, 45);
INSERT INTO Call(Id, Thread, Function, Instruction, Start, End) VALUES
  (1, 0, 1, NULL, 0, 2600000), (2, 0, 2, 1, 100000, 2500000), (3, 0, 3, 4, 400000, 1200000),
  (4, 0, 4, 11, 1400000, 2200000), (5, 0, 5, 13, 2410000, 2450000);
INSERT INTO Segment(Id, Call, Type) VALUES (1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, 0), (5, 5, 0);
INSERT INTO Instruction(Id, Segment, Type, Line) VALUES
  (1, 1, 0, 51), (3, 2, 1, 11), (4, 2, 0, 12), (5, 3, 1, 31), (6, 2, 1, 13),
  (10, 2, 1, 15), (11, 2, 0, 16), (12, 4, 1, 41), (13, 2, 0, 20), (14, 5, 1, 46);
INSERT INTO Reference(Id, Size, Type, Name) VALUES
  (1, 4, 1, 'first'), (2, 4, 1, 'second'), (3, 8, 8, 'of_f'), (4, 8, 8, 'of_g'), (5, 8, 8, 'of_h');
INSERT INTO Access(Id, Instruction, Reference, Type) VALUES
  (3, 3, 1, 2), (5, 5, 3, 2), (6, 6, 1, 1), (10, 10, 2, 2), (12, 12, 4, 2), (14, 14, 5, 2);
INSERT INTO Thread(Id, StartTime, EndTime, EndTSC, Process, Call) VALUES
  (0, '2016-07-03T07:00:01.0Z', '2016-07-03T07:00:01.1000000Z', 2600000, 1, 1);
CREATE TABLE Tag(Id INTEGER PRIMARY KEY NOT NULL, Name VARCHAR, Type INTEGER);
CREATE TABLE TagInstance(Id INTEGER PRIMARY KEY NOT NULL, Tag INTEGER, Start INTEGER, End INTEGER,
  Thread INTEGER, Counter INTEGER);
CREATE TABLE CallTagInstance(Id INTEGER PRIMARY KEY, Call INTEGER, TagInstance INTEGER);
CREATE TABLE InstructionTagInstance(Id INTEGER PRIMARY KEY, Instruction INTEGER,
  TagInstance INTEGER);
INSERT INTO Tag VALUES (1, 'Solve', 2), (2, 'First', 10), (3, 'Second', 10);
INSERT INTO TagInstance VALUES (1, 1, 200000, 2400000, 0, 0), (2, 2, 300000, 1300000, 0, 0),
  (3, 3, 1300000, 2300000, 0, 0);
INSERT INTO CallTagInstance(Call, TagInstance) VALUES (3, 1), (3, 2), (4, 1), (4, 3);
";
