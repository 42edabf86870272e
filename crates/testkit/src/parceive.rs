//! Databases of Parceive of any size, with known numbers: a program with recursion, nested loops,
//! threads, and shared and private variables.
//!
//! ```text
//! main                                  thread 0
//!   for each round (loop at line 10)    rounds
//!     descend -> descend -> ...         depth calls, each inside the one before
//!       for i, for j (lines 20, 21)     inner x inner iterations in the deepest call
//!         a[..] += total                accesses
//! worker                                other threads, started by main in its first round
//!   the same rounds, loops and accesses
//! ```
//!
//! Every iteration reads and writes `private` (one of each call of `descend`), reads `shared`
//! (allocated by main), and the first thread writes it once a round.

use rusqlite::{Connection, Result, Statement, params};

/// Which schema is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schema {
    /// Autumn 2015: ids are text, accesses `R` and `W`, no threads, executions have durations.
    Y2015,
    /// Summer 2016.
    Y2016,
}

/// How large the program is.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// Schema of the database.
    pub schema: Schema,
    /// Threads, the main one included.
    pub threads: u32,
    /// Rounds of each thread.
    pub rounds: u32,
    /// Calls inside each other in a round.
    pub depth: u32,
    /// Iterations of each of the two nested loops.
    pub inner: u32,
    /// Accesses of each inner iteration to the private variable: half of them writes.
    pub accesses: u32,
}

impl Default for Program {
    fn default() -> Self {
        Self { schema: Schema::Y2016, threads: 3, rounds: 4, depth: 5, inner: 3, accesses: 4 }
    }
}

/// What a database holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls.
    pub calls: u64,
    /// Executions of loops.
    pub executions: u64,
    /// Iterations.
    pub iterations: u64,
    /// Variables and allocations.
    pub references: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Reads of the shared allocation.
    pub shared_reads: u64,
}

impl Program {
    /// What a program of this size has.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let [threads, rounds, depth, inner, accesses] =
            [self.threads, self.rounds, self.depth, self.inner, self.accesses].map(u64::from);
        let per_round_iterations = inner * inner;
        let all_rounds = threads * rounds;
        Counts {
            calls: threads + all_rounds * depth,
            executions: threads + all_rounds * (1 + inner),
            iterations: all_rounds + all_rounds * (inner + per_round_iterations),
            references: 1 + all_rounds * depth,
            reads: all_rounds * per_round_iterations * (accesses - accesses / 2 + 1),
            writes: all_rounds * per_round_iterations * (accesses / 2) + rounds,
            shared_reads: all_rounds * per_round_iterations,
        }
    }

    /// A program whose database has about `bytes` bytes.
    #[must_use]
    pub fn of_size(bytes: u64) -> Self {
        let unit = Self { threads: 4, depth: 6, inner: 8, accesses: 12, ..Self::default() };
        // A round of this program takes about 49 kB.
        let rounds = (bytes / (u64::from(unit.threads) * 36_000)).max(1);
        Self { rounds: u32::try_from(rounds).unwrap_or(u32::MAX), ..unit }
    }

    /// Writes the database into an open connection.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn write(&self, connection: &Connection) -> Result<Counts> {
        let numbers = self.schema == Schema::Y2016;
        connection.execute_batch(if numbers { SCHEMA_2016 } else { SCHEMA_2015 })?;
        connection.execute_batch("BEGIN")?;
        let mut writer = Writer::new(*self, connection)?;
        for thread in 0..self.threads {
            writer.thread(thread)?;
        }
        let counts = writer.counts;
        drop(writer);
        connection.execute_batch("COMMIT")?;
        Ok(counts)
    }

    /// Writes the database as a new file.
    ///
    /// # Errors
    /// When the file is there already with such tables, or cannot be written.
    pub fn write_file(&self, path: &std::path::Path) -> Result<Counts> {
        self.write(&Connection::open(path)?)
    }

    /// The database as bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        crate::sqlite::bytes(|connection| self.write(connection).map(|_| ()))
    }
}

/// Cycles in a microsecond.
const CYCLES: i64 = 2_600;
/// The cycle at which the program begins.
const ORIGIN: i64 = 700_000_000_000;

struct Writer<'c> {
    program: Program,
    call: Statement<'c>,
    segment: Statement<'c>,
    instruction: Statement<'c>,
    access: Statement<'c>,
    execution: Statement<'c>,
    iteration: Statement<'c>,
    reference: Statement<'c>,
    connection: &'c Connection,
    next: Counters,
    now: i64,
    thread: u32,
    forks: Vec<i64>,
    counts: Counts,
}

#[derive(Default)]
struct Counters {
    call: i64,
    segment: i64,
    instruction: i64,
    access: i64,
    execution: i64,
    iteration: i64,
    reference: i64,
}

fn next(counter: &mut i64) -> i64 {
    *counter += 1;
    *counter
}

impl<'c> Writer<'c> {
    fn new(program: Program, connection: &'c Connection) -> Result<Self> {
        let old = program.schema == Schema::Y2015;
        let prepare = |sql: &str| connection.prepare(sql);
        let call = if old {
            "INSERT INTO Call(Id, Process, Thread, Function, Instruction, Start, End) \
             VALUES ('0_' || ?, 0, ?, ?, ?, ?, ?)"
        } else {
            "INSERT INTO Call(Id, Thread, Function, Instruction, Start, End) \
             VALUES (?, ?, ?, ?, ?, ?)"
        };
        let segment = if old {
            "INSERT INTO Segment(Id, Call, Type, Loop) VALUES (?, '0_' || ?, ?, ?)"
        } else {
            "INSERT INTO Segment(Id, Call, Type, LoopIteration) VALUES (?, ?, ?, ?)"
        };
        let access = if old {
            "INSERT INTO Access(Id, Instruction, Position, Reference, Type, State) \
             VALUES (?, ?, 0, '0_' || ?, CASE ? WHEN 1 THEN 'R' ELSE 'W' END, 'init')"
        } else {
            "INSERT INTO Access(Id, Instruction, Position, Reference, Type, State) \
             VALUES (?, ?, 0, ?, ?, 0)"
        };
        let execution = if old {
            "INSERT INTO LoopExecution(Id, Loop, ParentIteration, Duration) \
             VALUES (?1, ?2, ?3, ?5 - ?4)"
        } else {
            "INSERT INTO LoopExecution(Id, Loop, ParentIteration, Start, End) \
             VALUES (?, ?, ?, ?, ?)"
        };
        let reference = if old {
            "INSERT INTO Reference(Id, Size, Type, Name, Allocator) VALUES ('0_' || ?, ?, ?, ?, ?)"
        } else {
            "INSERT INTO Reference(Id, Size, Type, Name, Allocator) VALUES (?, ?, ?, ?, ?)"
        };
        let loop_id = if old { "No" } else { "Id" };
        connection.execute_batch(&format!(
            "INSERT INTO Image(Id, Name) VALUES (1, '/home/a/rounds');
             INSERT INTO File(Id, Path, Image) VALUES (0, '/home/a/rounds.c', 1);
             INSERT INTO Function(Id, Name, Prototype, File, Line) VALUES
               (1, 'main', 'main', 0, 5), (2, 'worker', 'worker', 0, 7),
               (3, 'descend', 'descend', 0, 15);
             INSERT INTO Loop({loop_id}, Line) VALUES (0, 10), (1, 20), (2, 21);"
        ))?;
        Ok(Self {
            program,
            call: prepare(call)?,
            segment: prepare(segment)?,
            instruction: prepare(
                "INSERT INTO Instruction(Id, Segment, Type, Line) VALUES (?, ?, ?, ?)",
            )?,
            access: prepare(access)?,
            execution: prepare(execution)?,
            iteration: prepare(
                "INSERT INTO LoopIteration(Id, Execution, Iteration) VALUES (?, ?, ?)",
            )?,
            reference: prepare(reference)?,
            connection,
            next: Counters::default(),
            now: ORIGIN,
            thread: 0,
            forks: Vec::new(),
            counts: Counts::default(),
        })
    }

    fn tick(&mut self) -> i64 {
        self.now += CYCLES;
        self.now
    }

    fn instruction(&mut self, segment: i64, kind: u8, line: u32) -> Result<i64> {
        let id = next(&mut self.next.instruction);
        self.instruction.execute(params![id, segment, kind, line])?;
        Ok(id)
    }

    fn access(&mut self, segment: i64, reference: i64, kind: u8, line: u32) -> Result<()> {
        let instruction = self.instruction(segment, 1, line)?;
        let id = next(&mut self.next.access);
        self.access.execute(params![id, instruction, reference, kind])?;
        if kind == 1 {
            self.counts.reads += 1;
        } else {
            self.counts.writes += 1;
        }
        Ok(())
    }

    fn segment(&mut self, call: i64, iteration: Option<i64>) -> Result<i64> {
        let id = next(&mut self.next.segment);
        self.segment.execute(params![id, call, u8::from(iteration.is_some()), iteration])?;
        Ok(id)
    }

    fn call_row(
        &mut self,
        id: i64,
        function: u32,
        instruction: Option<i64>,
        start: i64,
        end: i64,
    ) -> Result<()> {
        // Nothing is -1 as 32 bits in 2015, null later.
        let none = (self.program.schema == Schema::Y2015).then_some(i64::from(u32::MAX));
        let instruction = instruction.or(none);
        self.call.execute(params![id, self.thread, function, instruction, start, end])?;
        self.counts.calls += 1;
        Ok(())
    }

    fn new_iteration(&mut self, execution: i64, number: u32) -> Result<i64> {
        let id = next(&mut self.next.iteration);
        self.iteration.execute(params![id, execution, number])?;
        self.counts.iterations += 1;
        Ok(id)
    }

    fn execution_row(
        &mut self,
        id: i64,
        number: u32,
        parent: Option<i64>,
        start: i64,
    ) -> Result<()> {
        let end = self.tick();
        self.execution.execute(params![id, number, parent, start, end])?;
        self.counts.executions += 1;
        Ok(())
    }

    fn new_reference(
        &mut self,
        name: &str,
        size: u32,
        storage: u8,
        allocator: Option<i64>,
    ) -> Result<i64> {
        let id = next(&mut self.next.reference);
        self.reference.execute(params![id, size, storage, name, allocator])?;
        self.counts.references += 1;
        Ok(id)
    }

    fn thread(&mut self, thread: u32) -> Result<()> {
        self.thread = thread;
        let start = self.tick();
        let call = next(&mut self.next.call);
        let region = self.segment(call, None)?;
        if thread == 0 {
            let allocator = self.instruction(region, 2, 6)?;
            self.new_reference("shared", 4096, 2, Some(allocator))?;
            for _ in 1..self.program.threads {
                let fork = self.instruction(region, 4, 8)?;
                self.forks.push(fork);
            }
        }
        let execution = next(&mut self.next.execution);
        let loop_start = self.tick();
        for round in 0..self.program.rounds {
            let iteration = self.new_iteration(execution, round)?;
            let segment = self.segment(call, Some(iteration))?;
            if thread == 0 {
                self.access(segment, 1, 2, 11)?;
            }
            self.descend(segment)?;
        }
        self.execution_row(execution, 0, None, loop_start)?;
        let end = self.tick();
        let function = if thread == 0 { 1 } else { 2 };
        self.call_row(call, function, None, start, end)?;
        if self.program.schema == Schema::Y2016 {
            let fork = thread.checked_sub(1).and_then(|at| self.forks.get(at as usize));
            let nanos = |cycles: i64| (cycles - ORIGIN) * 10 / 26;
            let time = |nanos: i64| {
                let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
                let (minute, second) = (seconds / 60 % 60, seconds % 60);
                // As the tool prints them: without leading zeros.
                format!("2016-07-03T07:{minute:02}:{second:02}.{rest}Z")
            };
            self.connection.execute(
                "INSERT INTO Thread(Id, StartTime, EndTime, EndTSC, CreateInstruction, \
                 JoinInstruction, ParentThread, Process, Call) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)",
                params![
                    thread,
                    time(nanos(start)),
                    time(nanos(end)),
                    end - start,
                    fork,
                    fork,
                    (thread > 0).then_some(thread),
                    call
                ],
            )?;
        }
        Ok(())
    }

    /// The calls of one round inside each other, with the loops in the deepest one.
    fn descend(&mut self, caller: i64) -> Result<()> {
        let mut open = Vec::new();
        let mut segment = caller;
        let mut private = 0;
        for _ in 0..self.program.depth {
            let instruction = self.instruction(segment, 0, 16)?;
            let call = next(&mut self.next.call);
            open.push((call, instruction, self.tick()));
            segment = self.segment(call, None)?;
            private = self.new_reference("private", 8, 1, None)?;
        }
        if let Some(&(call, _, _)) = open.last() {
            self.loops(call, private)?;
        }
        for (call, instruction, start) in open.into_iter().rev() {
            let end = self.tick();
            self.call_row(call, 3, Some(instruction), start, end)?;
        }
        Ok(())
    }

    fn loops(&mut self, call: i64, private: i64) -> Result<()> {
        let outer = next(&mut self.next.execution);
        let outer_start = self.tick();
        for i in 0..self.program.inner {
            let iteration = self.new_iteration(outer, i)?;
            self.segment(call, Some(iteration))?;
            let inner = next(&mut self.next.execution);
            let inner_start = self.tick();
            for j in 0..self.program.inner {
                let own = self.new_iteration(inner, j)?;
                let segment = self.segment(call, Some(own))?;
                self.access(segment, 1, 1, 22)?;
                self.counts.shared_reads += 1;
                for access in 0..self.program.accesses {
                    self.access(segment, private, 1 + u8::from(access % 2 == 1), 22)?;
                }
            }
            self.execution_row(inner, 2, Some(iteration), inner_start)?;
        }
        self.execution_row(outer, 1, None, outer_start)
    }
}

pub(crate) const SCHEMA_2016: &str = "
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE Access(Id INTEGER PRIMARY KEY NOT NULL, Instruction INTEGER, Position INTEGER,
  Reference INTEGER, Type INTEGER, State INTEGER);
CREATE TABLE Call(Id INTEGER PRIMARY KEY NOT NULL, Thread INTEGER, Function INTEGER,
  Instruction INTEGER, Start INTEGER, End INTEGER);
CREATE TABLE File(Id INTEGER PRIMARY KEY NOT NULL, Path VARCHAR, Image INTEGER);
CREATE TABLE Image(Id INTEGER PRIMARY KEY NOT NULL, Name VARCHAR);
CREATE TABLE Function(Id INTEGER PRIMARY KEY NOT NULL, Name VARCHAR, Prototype VARCHAR,
  File INTEGER, Line INTEGER, Column INTEGER, Type INTEGER);
CREATE TABLE Instruction(Id INTEGER PRIMARY KEY NOT NULL, Segment INTEGER, Type INTEGER,
  Line INTEGER, Column INTEGER);
CREATE TABLE Segment(Id INTEGER PRIMARY KEY NOT NULL, Call INTEGER, Type INTEGER,
  LoopIteration INTEGER);
CREATE TABLE Loop(Id INTEGER PRIMARY KEY NOT NULL, Line INTEGER);
CREATE TABLE LoopExecution(Id INTEGER PRIMARY KEY NOT NULL, Loop INTEGER,
  ParentIteration INTEGER, Start INTEGER, End INTEGER);
CREATE TABLE LoopIteration(Id INTEGER PRIMARY KEY NOT NULL, Execution INTEGER, Iteration INTEGER);
CREATE TABLE Member(Id INTEGER PRIMARY KEY NOT NULL, Name VARCHAR);
CREATE TABLE Reference(Id INTEGER PRIMARY KEY NOT NULL, Size INTEGER, Type INTEGER, Name VARCHAR,
  Allocator INTEGER, Member INTEGER);
CREATE TABLE Thread(Id INTEGER PRIMARY KEY NOT NULL, StartTime VARCHAR, EndTime VARCHAR,
  EndTSC INTEGER, CreateInstruction INTEGER, JoinInstruction INTEGER, ParentThread INTEGER,
  Process INTEGER, Call INTEGER);
";

const SCHEMA_2015: &str = "
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE Access(Id INT PRIMARY KEY NOT NULL, Instruction INT NOT NULL, Position INT,
  Reference CHAR(50), Type CHAR(1), State CHAR(20));
CREATE TABLE Call(Id CHAR(50) PRIMARY KEY NOT NULL, Process INT NOT NULL, Thread INT NOT NULL,
  Function INT NOT NULL, Instruction INT NOT NULL, Start CHAR(12), End CHAR(12));
CREATE TABLE File(Id INT PRIMARY KEY NOT NULL, Path TEXT, Image INT);
CREATE TABLE Image(Id INT PRIMARY KEY NOT NULL, Name TEXT);
CREATE TABLE Function(Id INT PRIMARY KEY NOT NULL, Name TEXT, Prototype TEXT, File INT, Line INT);
CREATE TABLE Instruction(Id INT PRIMARY KEY NOT NULL, Segment INT, Type INT, Line INT);
CREATE TABLE Segment(Id INT PRIMARY KEY NOT NULL, Call CHAR(50), Type INT, Loop INT);
CREATE TABLE Loop(No INT PRIMARY KEY NOT NULL, Line INT);
CREATE TABLE LoopExecution(Id INT PRIMARY KEY NOT NULL, Loop INT NOT NULL, ParentIteration INT,
  Duration INT);
CREATE TABLE LoopIteration(Id INT PRIMARY KEY NOT NULL, Execution INT, Iteration INT);
CREATE TABLE Reference(Id CHAR(50) PRIMARY KEY NOT NULL, Size INT, Type INT, Name TEXT,
  Allocator INT, Member INT);
CREATE TABLE Thread(Id INT PRIMARY KEY NOT NULL, Instruction INT, ParentThread INT,
  ChildThread INT);
";
