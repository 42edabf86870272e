//! Sections and tasks of databases of Parceive: what is in them, and what is said where they do not
//! fit.

#![allow(clippy::unwrap_used, reason = "tests may stop")]

use parallax_base::{ActivationIdx, Limits, MemorySource};
use parallax_import::open_file;
use parallax_model::{ActivationKind, Experiment};
use parallax_testkit::parceive::Program;
use parallax_testkit::parceive_tags::Tagged;
use parallax_testkit::sqlite;

fn open(bytes: Vec<u8>) -> Experiment {
    open_file(&MemorySource::shared(bytes), "test.db", &Limits::default()).unwrap()
}

fn kinds(experiment: &Experiment) -> Vec<&'static str> {
    experiment.issues.list().iter().map(|issue| issue.kind).collect()
}

/// The tree, one line for each activation, with what each one reads and writes itself.
fn drawn(experiment: &Experiment) -> Vec<String> {
    let a = experiment.activations.as_ref().unwrap();
    let line = |activation: ActivationIdx| {
        let depth = a.tree.ancestors(activation).count();
        let mut line = "  ".repeat(depth)
            + &match a.tree.kind(activation) {
                ActivationKind::Iteration => format!("iteration {}", a.tree.number(activation)),
                _ => experiment.contexts.label(a.tree.context(activation)),
            };
        for touch in a.touches.of(activation) {
            let name = &a.reference(touch.reference).name;
            line += &format!(" {name}:{}r{}w", touch.reads, touch.writes);
        }
        line
    };
    a.tree.iter().map(line).collect()
}

#[test]
fn tasks_in_one_call_have_their_own_accesses_and_calls() {
    let experiment = open(Tagged::Dependent.bytes());
    assert_eq!(
        drawn(&experiment),
        [
            "main",
            "  solve",
            "    section Solve",
            "      task First first:1r1w",
            "        f of_f:0r1w",
            "      task Second first:1r0w second:0r1w",
            "        g of_g:0r1w",
            "    h of_h:0r1w",
        ]
    );
    assert_eq!(kinds(&experiment), [] as [&str; 0]);
    let a = experiment.activations.as_ref().unwrap();
    let tags: Vec<_> = a.tags.iter().map(|tag| (&*tag.name, tag.activation.unwrap())).collect();
    assert_eq!(
        tags,
        [("Solve", 2), ("First", 3), ("Second", 5)]
            .map(|(name, at)| { (name, ActivationIdx::new(at)) })
    );
    // Its times are those of the database, on the run's clock: 2.6 cycles in a nanosecond.
    assert_eq!(a.tree.nanos(ActivationIdx::new(3)), 384_615);
    assert_eq!(a.tree.line(ActivationIdx::new(5)), 15);
    let fact = experiment.metadata.facts.iter().find(|(name, _)| name == "tags").unwrap();
    assert_eq!(fact.1, "section Solve (1), task First (1), task Second (1)");
}

#[test]
fn what_does_not_fit_stays_an_interval_and_is_an_issue() {
    let plain = ["main", "  solve first:1r1w second:0r1w", "    f of_f:0r1w", "    g of_g:0r1w"];
    let unmarked = open(Tagged::Unmarked.bytes());
    assert_eq!(drawn(&unmarked)[..4], plain);
    assert_eq!(kinds(&unmarked), ["tag-without-instructions"]);
    // All are still listed.
    assert_eq!(unmarked.activations.as_ref().unwrap().tags.len(), 3);

    let straddling = open(Tagged::Straddling.bytes());
    assert_eq!(kinds(&straddling), ["tag-across-calls"]);
    let drawing = drawn(&straddling);
    assert!(drawing.contains(&"      task First first:1r1w".to_owned()), "{drawing:?}");
    assert!(!drawing.iter().any(|line| line.contains("Second")), "{drawing:?}");
    // What it has is the section's.
    assert!(drawing.contains(&"    section Solve second:0r1w".to_owned()), "{drawing:?}");

    let open = open(Tagged::Open.bytes());
    assert_eq!(kinds(&open), ["tag-without-time"]);
    assert_eq!(open.activations.as_ref().unwrap().tags.len(), 2);
}

/// A program with one round: an iteration of main that writes `shared` and calls `descend`.
fn marked(sql: &str) -> Experiment {
    let program = Program { threads: 1, rounds: 1, depth: 1, inner: 2, ..Program::default() };
    open(sqlite::bytes(|connection| {
        program.write(connection)?;
        connection.execute_batch(
            "CREATE TABLE Tag(Id INTEGER PRIMARY KEY, Name VARCHAR, Type INTEGER);
             CREATE TABLE TagInstance(Id INTEGER PRIMARY KEY, Tag INTEGER, Start INTEGER,
               End INTEGER, Thread INTEGER, Counter INTEGER);
             CREATE TABLE InstructionTagInstance(Id INTEGER PRIMARY KEY, Instruction INTEGER,
               Tag INTEGER);
             INSERT INTO Tag VALUES (1, 'Round', 10);",
        )?;
        connection.execute_batch(sql)
    }))
}

#[test]
fn a_task_may_be_a_part_of_an_iteration_or_hold_a_whole_loop() {
    // Older versions call the column `Tag`.
    let all = "INSERT INTO InstructionTagInstance(Instruction, Tag)
                 SELECT Instruction.Id, 1 FROM Instruction";
    let part = marked(&format!(
        "INSERT INTO TagInstance SELECT 1, 1, Start - 1, End + 1, 0, 0 FROM Call WHERE Function = 3;
         {all} JOIN Segment ON Segment.Id = Segment WHERE LoopIteration = 1 OR Call = 2"
    ));
    assert_eq!(
        drawn(&part)[..5],
        [
            "main",
            "  loop at rounds.c:10",
            "    iteration 0",
            "      task Round shared:0r1w",
            "        descend",
        ]
    );
    assert_eq!(kinds(&part), [] as [&str; 0]);
    let whole = marked(&format!(
        "INSERT INTO TagInstance SELECT 1, 1, Start, End, 0, 0 FROM LoopExecution WHERE Loop = 0;
         {all} JOIN Segment ON Segment.Id = Segment WHERE LoopIteration = 1 OR Call = 2"
    ));
    assert_eq!(
        drawn(&whole)[..5],
        [
            "main",
            "  task Round",
            "    loop at rounds.c:10",
            "      iteration 0 shared:0r1w",
            "        descend",
        ]
    );
    // One that begins in `descend` and ends in `main`.
    let across = marked(
        "INSERT INTO TagInstance SELECT 1, 1, Start + 1, End + 1, 0, 0 FROM Call
           WHERE Function = 3;
         INSERT INTO InstructionTagInstance(Instruction, Tag)
           SELECT Instruction.Id, 1 FROM Instruction JOIN Segment ON Segment.Id = Segment
           WHERE Call = 2",
    );
    assert_eq!(kinds(&across), ["tag-across-calls"]);
    assert!(!drawn(&across).iter().any(|line| line.contains("Round")));
}
