//! The writer, judged by the independent validator and by bytes looked up by hand.

mod common;

use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::{Layout, Sample, Statistic, WriteOptions, arbitrary};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};

const DRAWING: &str = "
    main                        .    .
      loop main.c:10            .    .
        line main.c:12          0.5  0.25
          instruction app+0x40  1.0  .
          solve                 2.0  1.0
          inlined dot           .    0.5
      MPI_Barrier               .    1.25
";

#[test]
fn the_validator_accepts_random_databases() {
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRunner::deterministic().new_rng());
    let dir = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    let mut elided = 0;
    for number in 0..48 {
        let database = arbitrary::database().new_tree(&mut runner).unwrap().current();
        let elide_instructions = number % 2 == 1;
        let options = WriteOptions { elide_instructions, ..WriteOptions::default() };
        let path = dir.path().join(number.to_string());
        database.to_files(&options).write_to(&path).unwrap();
        paths.push(path);
        let dropped =
            |kind: &parallax_testkit::hpctoolkit::ContextKind| kind.is_elided_by_writers();
        elided += database.contexts.iter().filter(|context| dropped(&context.kind)).count();
    }
    assert!(elided > 20, "the strategy draws instructions: {elided}");
    let Some(verdicts) = common::validate(&paths) else { return };
    let sum = |key: &str| verdicts.iter().filter_map(|v| v[key].as_u64()).sum::<u64>();
    assert!(sum("checked") > 1000 && sum("samples") > 500 && sum("unknown") > 20);
}

/// The number of `size` bytes at an offset.
fn number(bytes: &[u8], offset: usize, size: usize) -> usize {
    bytes[offset..offset + size].iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte))
}

/// (context, metric id, value) of one profile of profile.db.
fn profile(bytes: &[u8], profile: usize) -> Vec<(usize, usize, f64)> {
    let info = number(bytes, number(bytes, 0x18, 8), 8) + profile * 0x30;
    let [num_values, values] = [0, 8].map(|at| number(bytes, info + at, 8));
    let num_contexts = number(bytes, info + 16, 4);
    let index = number(bytes, info + 24, 8);
    let mut rows = Vec::new();
    for context in 0..num_contexts {
        let at = index + 12 * context;
        let start = number(bytes, at + 4, 8);
        let end = if context + 1 < num_contexts { number(bytes, at + 16, 8) } else { num_values };
        for value in start..end {
            let at_value = values + 10 * value;
            let value = f64::from_bits(number(bytes, at_value + 2, 8) as u64);
            rows.push((number(bytes, at, 4), number(bytes, at_value, 2), value));
        }
    }
    rows
}

#[test]
fn stored_values_are_those_worked_out_by_hand() {
    let database = draw("CPUTIME (sec)", DRAWING);
    let bytes = database.to_files(&WriteOptions::default()).by_path.remove("profile.db").unwrap();
    // Scopes: 0 point, 1 function, 2 lex_aware, 3 execution. Contexts: 1 entry, 2 main, 3 loop,
    // 4 line, 5 instruction, 6 solve, 7 dot, 8 MPI_Barrier.
    let rank_0 = [
        (0, 3, 3.5),
        (1, 3, 3.5),
        (2, 1, 1.5),
        (2, 2, 1.5),
        (2, 3, 3.5),
        (3, 1, 1.5),
        (3, 2, 1.5),
        (3, 3, 3.5),
        (4, 0, 0.5),
        (4, 1, 1.5),
        (4, 2, 1.5),
        (4, 3, 3.5),
        (5, 0, 1.0),
        (5, 1, 1.0),
        (5, 2, 1.0),
        (5, 3, 1.0),
        (6, 0, 2.0),
        (6, 1, 2.0),
        (6, 2, 2.0),
        (6, 3, 2.0),
    ];
    assert_eq!(profile(&bytes, 1), rank_0);
    let summary = profile(&bytes, 0);
    assert!(summary.contains(&(0, 3, 6.5)) && summary.contains(&(8, 0, 1.25)));
}

#[test]
fn statistics_cover_threads_with_a_value_only() {
    let mut database = draw("CPUTIME (sec)", DRAWING);
    database.metrics[0].statistics = Statistic::STATS.to_vec();
    let bytes = database.to_files(&WriteOptions::default()).by_path.remove("profile.db").unwrap();
    let of_context = |context, scope| {
        profile(&bytes, 0)
            .into_iter()
            .filter(|&(c, metric, _)| c == context && metric % 4 == scope)
            .map(|(_, _, value)| value)
            .collect::<Vec<f64>>()
    };
    // Count, sum, sum of squares, minimum, maximum of 2.0 and 1.0; of 1.25 alone.
    assert_eq!(of_context(6, 0), [2.0, 3.0, 5.0, 1.0, 2.0]);
    assert_eq!(of_context(8, 3), [1.0, 1.25, 1.5625, 1.25, 1.25]);
}

#[test]
fn elision_changes_meta_and_traces_but_no_values() {
    let mut database = draw("CPUTIME (sec)", DRAWING);
    database.profiles[0].trace =
        vec![Sample { nanos: 5, context: 5 }, Sample { nanos: 9, context: 0 }];
    let full = database.to_files(&WriteOptions::default());
    let options = WriteOptions { elide_instructions: true, ..WriteOptions::default() };
    let elided = database.to_files(&options);
    assert_eq!(full.get("profile.db"), elided.get("profile.db"));
    assert_eq!(full.get("cct.db"), elided.get("cct.db"));
    // One context of 0x20 bytes and two words fewer.
    assert_eq!(full.get("meta.db").len() - elided.get("meta.db").len(), 0x30);
    let trace = elided.get("trace.db");
    let start = number(trace, 0x40 + 8, 8);
    assert_eq!(number(trace, start, 8), 5);
    assert_eq!(number(trace, start + 8, 4), 4, "the sample moves to the line");
    let untraced = WriteOptions { traces: false, ..options };
    assert!(!database.to_files(&untraced).by_path.contains_key("trace.db"));
}

#[test]
fn the_draft_has_its_own_records() {
    let database = draw("CPUTIME (sec)", DRAWING);
    let options = WriteOptions { layout: Layout::Draft, ..WriteOptions::default() };
    let files = database.to_files(&options);
    let meta = files.get("meta.db");
    let metrics = number(meta, 0x38, 8);
    assert_eq!(meta[metrics + 12..metrics + 15], [24, 24, 16]);
    let roots = number(meta, 0x48, 8);
    assert_eq!(number(meta, roots, 8), 32, "one root of three words and its function");
    let root = number(meta, roots + 8, 8);
    assert_eq!(meta[root + 20..root + 24], [1, 1, 0, 1]);
    let name = number(meta, number(meta, root + 24, 8), 8);
    assert!(meta[name..].starts_with(b"<program root>\0"));
    let profiles = files.get("profile.db");
    assert_eq!(profiles[0x30 + 12], 0x28, "the stride of profiles");
}

/// Some readers read a section of meta.db alone and follow pointers of strings within it.
#[test]
fn sections_hold_their_own_strings_as_real_files_do() {
    let database = draw("CPUTIME (sec)", DRAWING);
    for (layout, record) in [(Layout::Final, 16), (Layout::Draft, 24)] {
        let options = WriteOptions { layout, ..WriteOptions::default() };
        let bytes = database.to_files(&options).by_path.remove("meta.db").unwrap();
        let holds = |section: usize, place: usize, text: &str| {
            let [size, start] = [0, 8].map(|at| number(&bytes, 0x10 + 16 * section + at, 8));
            let is_inside = place >= start && place + text.len() < start + size;
            assert!(is_inside, "{text:?} at {place} is outside of {start}..{}", start + size);
            assert_eq!(&bytes[place..=place + text.len()], format!("{text}\0").as_bytes());
        };
        let at = |section: usize| number(&bytes, 0x18 + 16 * section, 8);
        holds(0, number(&bytes, at(0), 8), &database.title);
        let kinds = number(&bytes, at(1), 8);
        for (nth, kind) in database.id_kinds.iter().enumerate() {
            holds(1, number(&bytes, kinds + 8 * nth, 8), kind);
        }
        let metrics = number(&bytes, at(2), 8);
        holds(2, number(&bytes, metrics, 8), "CPUTIME (sec)");
        let in_draft = layout == Layout::Draft;
        let scopes = number(&bytes, if in_draft { metrics } else { at(2) } + 16, 8);
        for (nth, scope) in database.scopes.iter().enumerate() {
            holds(2, number(&bytes, scopes + record * nth, 8), scope.name());
        }
        let functions = number(&bytes, at(7), 8);
        for (nth, function) in database.functions.iter().enumerate() {
            holds(4, number(&bytes, functions + 40 * nth, 8), function.name.as_deref().unwrap());
        }
    }
}
