//! Damaged and hostile databases: an error or a smaller database with issues; never a panic, and
//! never more memory than the file can justify.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod hpctoolkit;
mod peak;

use hpctoolkit::{Bytes, copying, fixtures, lending};
use parallax_base::{Issues, Source};
use parallax_formats::FormatError;
use parallax_formats::hpctoolkit::{FileKind, Taxonomy};
use parallax_testkit::hpctoolkit::{
    ContextKind, Database, Id, LexicalType, Metric, Point, Profile, Relation, Sample, Statistic,
    WriteOptions, kind,
};
use peak::{measured, turn};

/// Two metrics, a loop, an inlined call, an instruction, three profiles (one empty), two traces.
fn small() -> Database {
    let mut db = Database {
        title: "small".into(),
        metrics: vec![
            Metric::new("CPUTIME (sec)"),
            Metric { name: "cycles".into(), statistics: Statistic::STATS.to_vec() },
        ],
        ..Database::default()
    };
    let (main, solve) = (db.function("main"), db.function("solve"));
    let (file, module) = (db.file("src/a.c"), db.module("/bin/a"));
    db.functions[main].module = Some((module, 0x400));
    db.functions[main].source = Some((file, 3));
    let node = |relation, lexical, function, source, point| ContextKind::Node {
        relation,
        lexical,
        function,
        source,
        point,
    };
    let entry = |entry_point, name: &str| ContextKind::Entry { entry_point, name: name.into() };
    let first = db.add_context(None, entry(1, "main thread"));
    let second = db.add_context(None, entry(2, "application thread"));
    let call = |function| node(Relation::Call, LexicalType::Function, Some(function), None, None);
    let line = |line| node(Relation::Lexical, LexicalType::Line, None, Some((file, line)), None);
    let in_main = db.add_context(Some(first), call(main));
    let at_loop = db.add_context(
        Some(in_main),
        node(Relation::Lexical, LexicalType::Loop, None, Some((file, 4)), Some((module, 0x410))),
    );
    let at_line = db.add_context(Some(at_loop), line(5));
    let inlined = db.add_context(
        Some(at_line),
        node(Relation::Inlined, LexicalType::Function, Some(solve), None, None),
    );
    let leaf = db.add_context(
        Some(inlined),
        node(Relation::Lexical, LexicalType::Instruction, None, None, Some((module, 0x420))),
    );
    let other = db.add_context(Some(second), call(solve));
    let tuple = |rank| vec![Id::node(1), Id::logical(kind::RANK, rank)];
    let id = |position: usize| u32::try_from(position + 1).unwrap();
    let point = |position, metric, value| Point { context: id(position), metric, value };
    let sample = |nanos, context| Sample { nanos, context };
    db.profiles = vec![
        Profile {
            tuple: tuple(0),
            points: vec![point(at_line, 0, 1.5), point(leaf, 1, 7.0), point(in_main, 1, 2.0)],
            trace: vec![sample(100, id(leaf)), sample(200, id(in_main)), sample(300, 0)],
        },
        Profile { tuple: tuple(1), ..Profile::default() },
        Profile {
            tuple: tuple(2),
            points: vec![point(other, 0, 0.5)],
            trace: vec![sample(150, id(other))],
        },
    ];
    db
}

fn small_bytes(layout: parallax_testkit::hpctoolkit::Layout) -> Bytes {
    let files = small().to_files(&WriteOptions { layout, ..WriteOptions::default() });
    Bytes {
        meta: files.get("meta.db").to_vec(),
        profile: files.get("profile.db").to_vec(),
        cct: files.get("cct.db").to_vec(),
        trace: Some(files.get("trace.db").to_vec()),
    }
}

/// The four files of a database, by kind.
fn files(bytes: &Bytes) -> [(FileKind, Vec<u8>); 4] {
    [
        (FileKind::Meta, bytes.meta.clone()),
        (FileKind::Profile, bytes.profile.clone()),
        (FileKind::Context, bytes.cct.clone()),
        (FileKind::Trace, bytes.trace.clone().unwrap()),
    ]
}

/// How much of a file was understood: contexts and metrics, values, or samples.
#[derive(Debug, PartialEq)]
struct Outcome {
    amount: usize,
    issues: Issues,
}

/// Reads all of one file and checks what holds for every result.
fn read(kind: FileKind, source: Source) -> Result<Outcome, FormatError> {
    let len = usize::try_from(source.len()).unwrap();
    let mut issues = Issues::new();
    let amount = match kind {
        FileKind::Meta => {
            let meta = hpctoolkit::read_meta(&*source, &mut issues)?;
            hpctoolkit::check_contexts(&meta);
            meta.contexts.len() + meta.metrics.len()
        }
        FileKind::Profile => {
            let profiles = hpctoolkit::read_profiles(source, &mut issues)?;
            let values = profiles.iter().map(|profile| profile.values.len()).sum();
            assert!(values * 10 <= len, "{values} values in {len} bytes");
            values
        }
        FileKind::Context => {
            let cct = hpctoolkit::read_cct(source, &mut issues)?;
            // Each context may have as many values as the file has room for.
            let contexts = usize::try_from(cct.num_contexts).unwrap();
            assert!(contexts * 32 <= len && cct.values.len() <= contexts * (len / 12));
            cct.values.len()
        }
        FileKind::Trace => {
            let traces = hpctoolkit::read_trace(source, &mut issues)?;
            let samples = traces.traces.iter().map(|(_, samples)| samples.len()).sum();
            assert!(samples * 12 <= len, "{samples} samples in {len} bytes");
            samples
        }
    };
    Ok(Outcome { amount, issues })
}

/// Reads `bytes` from both kinds of source: the same result, in bounded memory.
fn survive(kind: FileKind, bytes: &[u8]) -> Result<Outcome, FormatError> {
    // The copies that the test itself makes are part of it.
    let bound = 200_000 + 200 * bytes.len();
    let (lent, peak) = measured(|| read(kind, lending(bytes.to_vec())));
    assert!(peak < bound, "{kind:?}: {peak} bytes of memory for {} bytes", bytes.len());
    let (copied, peak) = measured(|| read(kind, copying(bytes.to_vec())));
    assert!(peak < bound, "{kind:?}: {peak} bytes of memory for {} bytes, copied", bytes.len());
    assert_eq!(lent, copied, "{kind:?}");
    lent
}

fn is_complained_about(result: &Result<Outcome, FormatError>) -> bool {
    result.as_ref().map_or(true, |outcome| !outcome.issues.is_empty())
}

fn layouts() -> [Bytes; 2] {
    use parallax_testkit::hpctoolkit::Layout;
    [small_bytes(Layout::Final), small_bytes(Layout::Draft)]
}

#[test]
fn every_truncation_is_an_error_or_a_smaller_database_with_issues() {
    let _turn = turn();
    let fixture = fixtures().into_iter().find(|path| path.ends_with("n256-p1")).unwrap();
    let mut all = layouts().to_vec();
    all.push(Bytes::load(&fixture));
    for bytes in &all {
        for (kind, whole) in files(bytes) {
            let amount = survive(kind, &whole).unwrap().amount;
            // Every point of a small file; of a real one those around the ends of words.
            let step = if whole.len() < 4000 { 1 } else { 23 };
            for end in (0..whole.len()).step_by(step) {
                let result = survive(kind, &whole[..end]);
                assert!(is_complained_about(&result), "{kind:?} cut at {end}");
                assert!(result.map_or(0, |outcome| outcome.amount) <= amount, "{kind:?} at {end}");
            }
        }
    }
}

#[test]
fn every_single_byte_change_is_survived() {
    let _turn = turn();
    for bytes in layouts() {
        for (kind, whole) in files(&bytes) {
            assert!(whole.len() < 4000, "{kind:?} has {} bytes", whole.len());
            let mut changed = whole.clone();
            for at in 0..whole.len() {
                let old = whole[at];
                let flips = (0..8).map(|bit| old ^ 1 << bit);
                for new in [0, 0xff, 0x7f, old.wrapping_add(1), old.wrapping_sub(1), 24, 40]
                    .into_iter()
                    .chain(flips)
                {
                    changed[at] = new;
                    let _ = survive(kind, &changed);
                }
                changed[at] = old;
            }
        }
    }
}

#[test]
fn every_word_replaced_by_extremes_or_other_pointers_is_survived() {
    let _turn = turn();
    for bytes in layouts() {
        for (kind, whole) in files(&bytes) {
            let len = whole.len() as u64;
            let words: Vec<u64> =
                whole.as_chunks().0.iter().map(|&w| u64::from_le_bytes(w)).collect();
            // Pointers and sizes of the file itself make cycles, overlaps and aliases.
            let mut values = words.clone();
            values.extend([0, 1, 7, 8, len - 8, len - 1, len, len + 1, 1 << 31, 1 << 32, 1 << 63]);
            values.extend([u64::MAX, u64::MAX - 1, u64::MAX - 7, u64::MAX - 32, u64::MAX / 10]);
            values.extend([u64::MAX / 12 + 1, u64::from(u32::MAX), i64::MAX as u64]);
            values.sort_unstable();
            values.dedup();
            let mut changed = whole.clone();
            for (i, word) in words.iter().enumerate() {
                let own = i as u64 * 8;
                for value in values.iter().copied().chain([own, own.wrapping_sub(8), own + 8]) {
                    changed[i * 8..i * 8 + 8].copy_from_slice(&value.to_le_bytes());
                    let _ = survive(kind, &changed);
                }
                changed[i * 8..i * 8 + 8].copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}

#[test]
fn every_change_of_the_header_of_a_real_file_is_survived() {
    let _turn = turn();
    let fixture = fixtures().into_iter().find(|path| path.ends_with("n256-p1")).unwrap();
    for (kind, whole) in files(&Bytes::load(&fixture)) {
        let mut changed = whole.clone();
        for at in 0..0x90 {
            for new in [0, 0xff, whole[at].wrapping_add(1), whole[at] ^ 0x80, whole[at] ^ 8] {
                changed[at] = new;
                let _ = survive(kind, &changed);
            }
            changed[at] = whole[at];
        }
    }
}

/// A file under construction: fields at offsets.
struct Crafted(Vec<u8>);

impl Crafted {
    /// A file of `len` bytes with a header, sections that reach to the footer, and nothing else.
    fn new(kind: FileKind, starts: &[u64], len: usize) -> Self {
        let mut out = Self(vec![0; len]);
        out.0[..10].copy_from_slice(b"HPCTOOLKIT");
        let (code, footer) = match kind {
            FileKind::Meta => (b"meta", b"_meta.db"),
            FileKind::Profile => (b"prof", b"_prof.db"),
            FileKind::Context => (b"ctxt", b"__ctx.db"),
            FileKind::Trace => (b"trce", b"trace.db"),
        };
        out.0[10..14].copy_from_slice(code);
        out.0[14] = 4;
        out.0[len - 8..].copy_from_slice(footer);
        for (i, &start) in (0..).zip(starts) {
            out.u64(0x10 + 16 * i, len as u64 - 8 - start).u64(0x18 + 16 * i, start);
        }
        out
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> &mut Self {
        let at = usize::try_from(at).unwrap();
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    fn u8(&mut self, at: u64, value: u8) -> &mut Self {
        self.put(at, &[value])
    }

    fn u16(&mut self, at: u64, value: u16) -> &mut Self {
        self.put(at, &value.to_le_bytes())
    }

    fn u32(&mut self, at: u64, value: u32) -> &mut Self {
        self.put(at, &value.to_le_bytes())
    }

    fn u64(&mut self, at: u64, value: u64) -> &mut Self {
        self.put(at, &value.to_le_bytes())
    }
}

const MEBI: usize = 1 << 20;

fn survive_large(kind: FileKind, bytes: Vec<u8>) -> Outcome {
    let bound = 64 * MEBI + 16 * bytes.len();
    let (outcome, peak) = measured(|| read(kind, lending(bytes)));
    assert!(peak < bound, "{kind:?}: {peak} bytes of memory");
    outcome.unwrap()
}

#[test]
fn many_names_in_one_long_text_cost_no_more_than_the_file() {
    let _turn = turn();
    // 40,000 functions whose names all start at different places of a text without an end, or
    // with one end at the very end.
    for fill in [b'x', 0xff] {
        for terminated in [false, true] {
            let (count, functions) = (40_000_u64, 0x1000_u64);
            let pool = functions + 0x10 + count * 40;
            let len = usize::try_from(pool).unwrap() + 2 * MEBI;
            let starts = [0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, functions];
            let mut file = Crafted::new(FileKind::Meta, &starts, len);
            file.0[usize::try_from(pool).unwrap()..len - 8].fill(fill);
            if terminated {
                file.0[len - 9] = 0;
            }
            file.u64(functions, functions + 0x10).u32(functions + 8, u32::try_from(count).unwrap());
            file.u16(functions + 12, 40);
            for i in 0..count {
                file.u64(functions + 0x10 + i * 40, pool + i);
            }
            let outcome = survive_large(FileKind::Meta, file.0);
            assert!(!outcome.issues.is_empty());
        }
    }
}

#[test]
fn a_chain_of_a_million_contexts_is_cut_without_recursion() {
    let _turn = turn();
    let (entries, contexts) = (0xa0_u64, 0x100_u64);
    let count = 1_000_000_u64;
    let len = usize::try_from(contexts + count * 32 + 8).unwrap();
    let starts = [0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90];
    let mut file = Crafted::new(FileKind::Meta, &starts, len);
    file.u64(0x90, entries).u16(0x98, 1).u8(0x9a, 32);
    file.u64(entries, 32).u64(entries + 8, contexts).u32(entries + 16, 1);
    for i in 0..count {
        let at = contexts + i * 32;
        let children = if i + 1 < count { 32 } else { 0 };
        file.u64(at, children).u64(at + 8, at + 32).u32(at + 16, u32::try_from(i + 2).unwrap());
    }
    let outcome = survive_large(FileKind::Meta, file.0);
    let kinds: Vec<_> = outcome.issues.list().iter().map(|issue| issue.kind).collect();
    assert!(kinds.contains(&"too-deep"), "{kinds:?}");
    assert!(outcome.amount >= 100_000, "{} contexts", outcome.amount);
}

#[test]
fn children_that_are_their_own_ancestors_end_the_walk() {
    let _turn = turn();
    let (entries, contexts) = (0xa0_u64, 0x100_u64);
    let len = 0x100 + 3 * 32 + 8;
    let mut file = Crafted::new(FileKind::Meta, &[0x90; 8], len);
    file.u64(0x90, entries).u16(0x98, 1).u8(0x9a, 32);
    file.u64(entries, 32).u64(entries + 8, contexts).u32(entries + 16, 1);
    for i in 0..3 {
        // The last points back to the first.
        let at = contexts + i * 32;
        file.u64(at, 32).u64(at + 8, contexts + (i + 1) % 3 * 32);
        file.u32(at + 16, u32::try_from(i + 2).unwrap());
    }
    let outcome = survive(FileKind::Meta, &file.0).unwrap();
    assert_eq!(outcome.amount, 4, "the entry and three contexts");
    assert!(outcome.issues.list().iter().any(|issue| issue.kind == "context-twice"));
}

#[test]
fn profiles_that_share_their_bytes_cost_no_more_than_the_file() {
    let _turn = turn();
    // 20,000 profiles with the same 100,000 values and the same tuple of 60,000 identities.
    let (count, values, ids) = (20_000_u64, 100_000_u64, 60_000_u16);
    let (infos, profiles) = (0x30_u64, 0x40_u64);
    let value_start = profiles + count * 48;
    let index_start = value_start + values * 10;
    let tuples = index_start + 16;
    let len = usize::try_from(tuples + 8 + u64::from(ids) * 16 + 8).unwrap();
    let mut file = Crafted::new(FileKind::Profile, &[infos, tuples], len);
    file.u64(infos, profiles).u32(infos + 8, u32::try_from(count).unwrap()).u8(infos + 12, 48);
    file.u16(tuples, ids);
    for i in 0..count {
        let at = profiles + i * 48;
        file.u64(at, values).u64(at + 8, value_start).u32(at + 16, 1);
        file.u64(at + 24, index_start).u64(at + 32, tuples);
    }
    let outcome = survive_large(FileKind::Profile, file.0);
    let kinds: Vec<_> = outcome.issues.list().iter().map(|issue| issue.kind).collect();
    assert!(kinds.contains(&"values-overlap") && kinds.contains(&"identity-overlap"), "{kinds:?}");
    assert!(outcome.amount >= 100_000, "the first profiles are kept");
}

#[test]
fn an_index_that_runs_back_and_forth_gives_each_value_once() {
    let _turn = turn();
    // 50,000 contexts of one profile whose starts alternate between 0 and the number of values.
    let (values, contexts) = (100_000_u64, 50_000_u64);
    let (infos, profiles, value_start) = (0x30_u64, 0x40_u64, 0x80_u64);
    let index_start = value_start + values * 10;
    let len = usize::try_from(index_start + contexts * 12 + 8).unwrap();
    let mut file = Crafted::new(FileKind::Profile, &[infos, infos], len);
    file.u64(infos, profiles).u32(infos + 8, 1).u8(infos + 12, 48);
    file.u64(profiles, values).u64(profiles + 8, value_start);
    file.u32(profiles + 16, u32::try_from(contexts).unwrap()).u64(profiles + 24, index_start);
    for i in 0..contexts {
        let at = index_start + i * 12;
        file.u32(at, u32::try_from(i).unwrap()).u64(at + 4, i % 2 * values);
    }
    assert_eq!(survive_large(FileKind::Profile, file.0).amount, 100_000);

    // The same for the metrics of one context.
    let (values, metrics) = (100_000_u64, 60_000_u16);
    let (infos, records, value_start) = (0x30_u64, 0x40_u64, 0x60_u64);
    let index_start = value_start + values * 12;
    let len = usize::try_from(index_start + u64::from(metrics) * 10 + 8).unwrap();
    let mut file = Crafted::new(FileKind::Context, &[infos], len);
    file.u64(infos, records).u32(infos + 8, 1).u8(infos + 12, 32);
    file.u64(records, values).u64(records + 8, value_start);
    file.u16(records + 16, metrics).u64(records + 24, index_start);
    for i in 0..metrics {
        let at = index_start + u64::from(i) * 10;
        file.u16(at, i).u64(at + 2, u64::from(i % 2) * values);
    }
    assert_eq!(survive_large(FileKind::Context, file.0).amount, 100_000);
}

#[test]
fn traces_that_share_their_samples_cost_no_more_than_the_file() {
    let _turn = turn();
    let (count, samples) = (20_000_u64, 100_000_u64);
    let (section, traces) = (0x20_u64, 0x40_u64);
    let start = traces + count * 24;
    let len = usize::try_from(start + samples * 12 + 8).unwrap();
    let mut file = Crafted::new(FileKind::Trace, &[section], len);
    file.u64(section, traces).u32(section + 8, u32::try_from(count).unwrap()).u8(section + 12, 24);
    for i in 0..count {
        let at = traces + i * 24;
        file.u32(at, u32::try_from(i + 1).unwrap());
        file.u64(at + 8, start).u64(at + 16, start + samples * 12);
    }
    let outcome = survive_large(FileKind::Trace, file.0);
    assert_eq!(outcome.amount, 100_000, "the first trace is kept");
    assert_eq!(outcome.issues.list()[0].kind, "samples-overlap");
}

#[test]
fn scopes_and_summaries_that_overlap_cost_no_more_than_the_file() {
    let _turn = turn();
    // 10,000 metrics of the draft, all with the same 60,000 scopes of distinct names.
    let (metrics, scopes) = (10_000_u64, 60_000_u16);
    let (section, metric_start) = (0x90_u64, 0xa0_u64);
    let scope_start = metric_start + metrics * 24;
    let names = scope_start + u64::from(scopes) * 24;
    let len = usize::try_from(names + u64::from(scopes) * 3 + 8).unwrap();
    let starts = [names, names, section, names, names, names, names, names];
    let mut file = Crafted::new(FileKind::Meta, &starts, len);
    file.u64(section, metric_start).u32(section + 8, u32::try_from(metrics).unwrap());
    file.u8(section + 12, 24).u8(section + 13, 24).u8(section + 14, 16);
    for i in 0..metrics {
        let at = metric_start + i * 24;
        file.u64(at, names).u16(at + 8, scopes).u64(at + 16, scope_start);
    }
    for i in 0..scopes {
        let name = names + u64::from(i) * 3;
        file.u64(scope_start + u64::from(i) * 24, name);
        file.u8(name, (i >> 8) as u8 | 1).u8(name + 1, i as u8 | 1);
    }
    let outcome = survive_large(FileKind::Meta, file.0);
    assert!(!outcome.issues.is_empty() && outcome.amount == 10_000);
}

#[test]
fn a_taxonomy_of_aliases_takes_no_more_memory_than_its_limit_says() {
    let _turn = turn();
    let mut text = String::from("long: &long ");
    text += &"word ".repeat(20_000);
    text += "\nx0: &x0 {name: *long, description: *long, variants: {Sum: {render: number}}}\n";
    for level in 1..20 {
        let before = vec![format!("*x{}", level - 1); 10].join(", ");
        text += &format!("x{level}: &x{level} {{name: *long, children: [{before}]}}\n");
    }
    text += "roots: [*x19]\n";
    let mut issues = Issues::new();
    let (_, peak) = measured(|| Taxonomy::parse(&text, &mut issues));
    assert!(peak < 512 * text.len(), "{peak} bytes of memory for {} bytes", text.len());
    assert!(!issues.is_empty());
}
