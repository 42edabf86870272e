//! Files of Callgrind as its format document has them, and damaged ones.

use parallax_base::{Issues, Limits, MemorySource};
use parallax_formats::callgrind::{CallgrindProfile, is_callgrind, read_callgrind};

#[expect(clippy::unwrap_used, reason = "a test may stop")]
fn read(text: &str) -> (CallgrindProfile, Issues) {
    let mut issues = Issues::new();
    let source = MemorySource::new(text.as_bytes().to_vec());
    let read = read_callgrind(&source, "t.out", &Limits::default(), &mut issues).unwrap();
    (read, issues)
}

/// `function file:line costs` and `caller:line -> callee xcount costs`, sorted.
fn drawn(profile: &CallgrindProfile) -> Vec<String> {
    let function = |at: u32| {
        let function = profile.functions[at as usize];
        profile.names[function.name as usize].to_string()
    };
    let file = |at: Option<u32>| at.map_or("-".into(), |at| profile.files[at as usize].clone());
    let mut out = Vec::new();
    for part in &profile.parts {
        out.extend(part.costs.iter().map(|row| {
            let spot = row.spot;
            let place = if spot.address > 0 {
                format!("{:#x}", spot.address)
            } else {
                format!("{}:{}", file(spot.file), spot.line)
            };
            format!("{} {place} {:?}", function(spot.function), row.costs)
        }));
        out.extend(part.calls.iter().map(|row| {
            let (from, to) = (function(row.from.function), function(row.callee));
            let called = profile.functions[row.callee as usize].file;
            let to = format!("{to} in {}", file(called));
            format!("{from}:{} -> {to} x{} {:?}", row.from.line, row.count, row.costs)
        }));
    }
    out.sort();
    out
}

const PLAIN: &str = "# callgrind format
events: Instructions

fl=file1.c
fn=main
16 20
cfn=func1
calls=1 50
16 400
cfi=file2.c
cfn=func2
calls=3 20
16 400

fn=func1
51 100
cfi=file2.c
cfn=func2
calls=2 20
51 300

fl=file2.c
fn=func2
20 700
";

#[test]
fn names_with_numbers_mean_the_same_as_names() {
    let short = "# callgrind format
events: Instructions

# define file ID mapping
fl=(1) file1.c
fl=(2) file2.c
# define function ID mapping
fn=(1) main
fn=(2) func1
fn=(3) func2

fl=(1)
fn=(1)
16 20
cfn=(2)
calls=1 50
16 400
cfl=(2)
cfn=(3)
calls=3 20
16 400

fn=(2)
51 100
cfi=(2)
cfn=(3)
calls=2 20
51 300

fl=(2)
fn=(3)
20 700
totals: 820
";
    let (plain, issues) = read(PLAIN);
    assert_eq!(issues.len(), 0);
    let expected = [
        "func1 file1.c:51 [100]",
        "func1:51 -> func2 in file2.c x2 [300]",
        "func2 file2.c:20 [700]",
        "main file1.c:16 [20]",
        "main:16 -> func1 in file1.c x1 [400]",
        "main:16 -> func2 in file2.c x3 [400]",
    ];
    assert_eq!(drawn(&plain), expected);
    let (short, issues) = read(short);
    assert_eq!(issues.len(), 0, "{:?}", issues.list());
    assert_eq!(drawn(&short), expected);
}

#[test]
fn positions_may_be_distances() {
    let far = "positions: instr line\nevents: ticks\n\nfn=func\n\
               0x80001234 90 1\n0x80001237 90 5\n0x80001238 91 6\n";
    let near = "positions: instr line\nevents: ticks\n\nfn=func\n\
                0x80001234 90 1\n+3 * 5\n+1 +1 6\n";
    let expected = ["func -:90 [6]", "func -:91 [6]"];
    assert_eq!(drawn(&read(far).0), expected);
    assert_eq!(drawn(&read(near).0), expected);
    let only_addresses = "positions: instr\nevents: ticks\nfn=func\n0x80001234 1\n+3 5\n-3 1\n";
    let expected = ["func 0x80001234 [2]", "func 0x80001237 [5]"];
    assert_eq!(drawn(&read(only_addresses).0), expected);
}

#[test]
fn calls_and_jumps_do_not_move_the_position() {
    let text = "events: Ir Dr\nfl=a.c\nfn=main\n10 5 1\ncfn=leaf\ncalls=2 +90\n+1 40 7\n\
                jump=3 -2\n*\njcnd=2 9 +4\n+1\n+1 6\n";
    let (profile, issues) = read(text);
    assert_eq!(issues.len(), 0, "{:?}", issues.list());
    let expected = ["main a.c:10 [5, 1]", "main a.c:13 [6]", "main:11 -> leaf in a.c x2 [40, 7]"];
    assert_eq!(drawn(&profile), expected);
}

#[test]
fn inlined_code_belongs_to_the_function_and_to_its_own_file() {
    let text = "events: Ir\nfl=a.c\nfn=main\n10 5\nfi=b.h\n3 7\nfe=a.c\n11 1\n";
    let expected = ["main a.c:10 [5]", "main a.c:11 [1]", "main b.h:3 [7]"];
    assert_eq!(drawn(&read(text).0), expected);
}

#[test]
fn parts_keep_their_threads_and_their_own_order_of_events() {
    let text = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 7\ncmd:  ./a b\n\
                thread: 1\npart: 1\nevents: Ir Dr\nevent: Ir : Instruction Fetches\n\
                event: Sum = Ir + 2 Dr : All of it\nsummary: 5 1\nfn=(1) main\n1 5 1\n\
                totals: 5 1\n\nthread: 2\nevents: Dr Ir\nfn=(1)\n1 3 8\n\n";
    let (profile, issues) = read(text);
    assert_eq!(issues.len(), 0, "{:?}", issues.list());
    assert_eq!((profile.command.as_str(), profile.creator.as_str()), ("./a b", "callgrind-3.19.0"));
    let threads: Vec<_> = profile.parts.iter().map(|part| (part.process, part.thread)).collect();
    assert_eq!(threads, [(Some(7), Some(1)), (Some(7), Some(2))]);
    assert_eq!(drawn(&profile), ["main -:1 [5, 1]", "main -:1 [8, 3]"]);
    assert_eq!(&*profile.events[0].long_name, "Instruction Fetches");
    assert_eq!(profile.derived[0].terms, [(1, 0), (2, 1)]);
}

#[test]
fn a_sum_that_disagrees_is_an_issue() {
    let kinds = |text: &str| read(text).1.list().iter().map(|issue| issue.kind).collect::<Vec<_>>();
    assert_eq!(kinds("events: Ir\nfn=a\n1 5\ntotals: 5\n"), [""; 0]);
    assert_eq!(kinds("events: Ir\nfn=a\n1 5\ntotals: 6\n"), ["totals-differ"]);
    assert_eq!(kinds("events: Ir\nsummary: 4\nfn=a\n1 5\n"), ["summary-smaller"]);
    assert_eq!(kinds("events: Ir\nsummary: 9\nfn=a\n1 5\n"), ["summary-larger"]);
    assert_eq!(kinds("events: Ir Dr\nsummary: 5 0\nfn=a\n1 5\ntotals: 5 0\n"), [""; 0]);
}

#[test]
fn damage_is_told_and_the_rest_is_read() {
    let text = "events: Ir\n1 4\nfn=(9)\n1 5\nfn=a\n2 x\n3 1 2 3\ncalls=1 2\n4 10\nnonsense\n\
                -99 1\n5 6\n";
    let (profile, issues) = read(text);
    let kinds: Vec<_> = issues.list().iter().map(|issue| issue.kind).collect();
    let expected = [
        "cost-without-function",
        "name-undefined",
        "cost-line-broken",
        "call-without-callee",
        "line-unknown",
    ];
    assert_eq!(kinds, expected);
    // A number that cannot be read leaves the position, or the cost, as it was.
    assert_eq!(drawn(&profile), ["??? -:1 [5]", "a -:3 [1]", "a -:4 [1]", "a -:5 [6]"]);
}

#[test]
fn other_files_are_not_taken_for_profiles() {
    let is = |text: &str| is_callgrind(&MemorySource::new(text.as_bytes().to_vec()));
    assert!(is("# callgrind format\n"));
    assert!(is("desc: I1 cache: 32768 B\ncmd: ./a\nevents: Ir\nfl=a\n"));
    assert!(is("version: 1\ncreator: x\n\n# note\npositions: line\nevents: Ir\n"));
    for text in ["", "{\"events\": 1}", "name: x\nevents: y\n", "events", "cmd: ./a\nhello\n"] {
        assert!(!is(text), "{text}");
    }
}

#[test]
fn no_cut_and_no_flipped_byte_panics() {
    let bytes = PLAIN.as_bytes();
    for at in 0..bytes.len() {
        let mut issues = Issues::new();
        let cut = MemorySource::new(bytes[..at].to_vec());
        let _ = read_callgrind(&cut, "t", &Limits::default(), &mut issues);
        for flip in [0x01, 0x10, 0x80] {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= flip;
            let source = MemorySource::new(damaged);
            let _ = read_callgrind(&source, "t", &Limits::default(), &mut issues);
        }
    }
}
