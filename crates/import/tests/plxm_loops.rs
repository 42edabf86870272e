//! Loops of programs without marks: random programs go through their blocks, and the loops that are
//! found are those that were written.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::collections::BTreeMap;

use parallax_base::{Limits, MemorySource};
use parallax_formats::plxm::{MAGIC, Named, PlaceKind, SourceLocation, names_chunk};
use parallax_import::open_file;
use parallax_model::ActivationKind;

/// Numbers that look random, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// A part of a function. Numbers are those of blocks, in the order of their lines.
enum Part {
    Code(u64),
    If(u64, Vec<Part>, Vec<Part>),
    /// A test, and what follows when it succeeds.
    While(u64, Vec<Part>),
    /// What is done, and the test whether once more; none where one block is both.
    DoWhile(Vec<Part>, Option<u64>),
}

struct Writer {
    random: Random,
    blocks: u64,
}

impl Writer {
    fn block(&mut self) -> u64 {
        self.blocks += 1;
        self.blocks
    }

    fn parts(&mut self, depth: u64) -> Vec<Part> {
        (0..=self.random.below(3)).map(|_| self.part(depth)).collect()
    }

    fn part(&mut self, depth: u64) -> Part {
        match self.random.below(if depth > 3 { 1 } else { 6 }) {
            0 | 1 => Part::Code(self.block()),
            2 => {
                let test = self.block();
                let then = self.parts(depth + 1);
                let otherwise =
                    if self.random.below(2) == 0 { vec![] } else { self.parts(depth + 1) };
                Part::If(test, then, otherwise)
            }
            3 => Part::While(self.block(), self.parts(depth + 1)),
            4 => Part::DoWhile(vec![Part::Code(self.block())], None),
            _ => {
                let mut body = self.parts(depth + 1);
                // Whose test is where two loops begin cannot be told.
                if matches!(body.first(), Some(Part::While(..))) {
                    body.remove(0);
                    body.insert(0, Part::Code(self.block()));
                }
                Part::DoWhile(body, Some(self.block()))
            }
        }
    }
}

/// How often a loop was entered and went round, and whether it did a second time at once.
#[derive(Default)]
struct Rounds {
    executions: u64,
    iterations: u64,
    is_known: bool,
}

/// Runs a program and writes down which blocks it goes through.
struct Runner {
    random: Random,
    way: Vec<u64>,
    /// By the last block of the loop, which no other one has; the first one where that is a test.
    rounds: BTreeMap<(bool, u64), Rounds>,
}

impl Runner {
    fn run(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Code(block) => self.way.push(*block),
                Part::If(test, then, otherwise) => {
                    self.way.push(*test);
                    let is_then = self.random.below(2) == 0;
                    self.run(if is_then { then } else { otherwise });
                }
                Part::While(test, body) => {
                    let rounds = self.random.below(4);
                    self.way.push(*test);
                    for _ in 0..rounds {
                        self.run(body);
                        self.way.push(*test);
                    }
                    let own = self.rounds.entry((true, *test)).or_default();
                    own.executions += 1;
                    own.iterations += rounds;
                    own.is_known |= rounds > 0;
                }
                Part::DoWhile(body, test) => {
                    let rounds = 1 + self.random.below(3);
                    for _ in 0..rounds {
                        self.run(body);
                        self.way.extend(test);
                    }
                    let Some(last) = test.or(match body.first() {
                        Some(Part::Code(block)) => Some(*block),
                        _ => None,
                    }) else {
                        panic!("a loop of one block has one")
                    };
                    let own = self.rounds.entry((false, last)).or_default();
                    own.executions += 1;
                    own.iterations += rounds;
                    own.is_known |= rounds > 1;
                }
            }
        }
    }
}

fn number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A recording: `main` calls the function again and again, which goes through blocks.
fn recording(blocks: u64, ways: &[Vec<u64>]) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    for field in [1_u32, 64] {
        file.extend(field.to_le_bytes());
    }
    for field in [1_000_000_000_u64, 0, 0, 1] {
        file.extend(field.to_le_bytes());
    }
    file.resize(64, 0);
    let place = |kind, function: &str, line: u64| SourceLocation {
        kind,
        name: String::new(),
        file: "random.c".to_owned(),
        function: function.to_owned(),
        line: u32::try_from(line).unwrap(),
        inline_depth: 0,
    };
    let mut named = vec![
        Named { number: 1, place: place(PlaceKind::Function, "main", 1000) },
        Named { number: 2, place: place(PlaceKind::Function, "random", 1) },
        Named { number: 3, place: place(PlaceKind::Block, "main", 1001) },
    ];
    for block in 1..=blocks {
        let place = place(PlaceKind::Block, "random", 10 + block);
        named.push(Named { number: u32::try_from(10 + block).unwrap(), place });
    }
    file.extend(names_chunk(&named, &[]));
    let mut records = vec![1, 0, 1, 1];
    for way in ways {
        // A block of `main` each time, so that there is a loop around the calls.
        records.extend([14, 1, 3, 1, 1, 1, 2, 1]);
        for block in way {
            records.extend([14, 2]);
            number(&mut records, 10 + block);
            records.push(1);
        }
        records.extend([4, 1, 1]);
    }
    records.extend([4, 0, 1]);
    let len = (64 + records.len() as u64).next_multiple_of(64);
    let start = file.len();
    file.extend(b"PLXCHUNK");
    file.extend(len.to_le_bytes());
    file.extend(2_u32.to_le_bytes());
    file.extend([0; 4 + 8 + 8 + 8]);
    file.resize(start + 64, 0);
    file.extend(records);
    file.resize(start + usize::try_from(len).unwrap(), 0);
    file
}

/// Executions and iterations of each loop of a function, sorted.
fn found(file: Vec<u8>) -> Vec<(u64, u64)> {
    let source = MemorySource::shared(file);
    let experiment = open_file(&source, "random.plxm", &Limits::default()).unwrap();
    let run = experiment.activations.as_ref().unwrap();
    let tree = &run.tree;
    let mut loops: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for activation in tree.iter() {
        if tree.kind(activation) == ActivationKind::LoopExecution {
            let own = loops.entry(tree.context(activation).get()).or_default();
            own.0 += 1;
            let children = tree.children(activation);
            own.1 += children.filter(|&child| tree.kind(child) == ActivationKind::Iteration).count()
                as u64;
        }
    }
    let mut loops: Vec<_> = loops.into_values().collect();
    loops.sort_unstable();
    loops
}

#[test]
fn random_programs_have_the_loops_that_were_written() {
    let mut known = 0;
    for seed in 1..=400_u64 {
        let mut writer =
            Writer { random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)), blocks: 0 };
        let first = Part::Code(writer.block());
        let mut parts = vec![first];
        parts.extend(writer.parts(0));
        let last = Part::Code(writer.block());
        parts.push(last);
        let Writer { random, blocks } = writer;
        let mut runner = Runner { random, way: Vec::new(), rounds: BTreeMap::new() };
        let ways: Vec<Vec<u64>> = (0..3)
            .map(|_| {
                runner.run(&parts);
                std::mem::take(&mut runner.way)
            })
            .collect();
        // The loop of `main`.
        let mut expected = vec![(1, 3)];
        let rounds = runner.rounds.into_values().filter(|own| own.is_known);
        expected.extend(rounds.map(|own| (own.executions, own.iterations)));
        expected.sort_unstable();
        known += expected.len();
        assert_eq!(found(recording(blocks, &ways)), expected, "program {seed}");
    }
    assert!(known > 1000, "{known}");
}
