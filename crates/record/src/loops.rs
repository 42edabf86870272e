//! Loops of functions, which debug information does not have: found in their machine code.
//!
//! The code of a function is decoded into blocks of straight code. Which of them follow each other is
//! a graph, and `parallax_import::flow` knows its loops. A loop belongs to the innermost inlined
//! function that has all of it, and is on the smallest line, in that function, of where it begins and
//! of its jumps back.
//!
//! A jump to a place that is computed (`switch`) may go to all blocks to which nothing else goes. What
//! cannot be reached otherwise, such as handlers of exceptions, is in no loop. Nothing follows a call
//! of a function of the same file that never returns ([`may_return`]).
//!
//! Instructions of x86-64 are known, and of no other processor: functions of those have no loops.

use object::Architecture;
use parallax_import::flow::{FlowGraph, FlowLoops, NONE};

use crate::packed::Active;

/// Most bytes of a function whose loops are looked for.
pub(crate) const MOST_BYTES: u64 = 1 << 20;

/// How control leaves an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "there is no decoder"))]
enum Leaves {
    /// To the next one.
    Next,
    /// To the next one, or to an address.
    Branch(u64),
    Jump(u64),
    /// To a place that is computed.
    Computed,
    /// Not to another place of the function.
    Never,
}

#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "there is no decoder"))]
struct Instruction {
    address: u64,
    leaves: Leaves,
}

/// Straight code.
#[derive(Debug, Clone, Copy)]
struct Block {
    start: u64,
    /// Where its last instruction is.
    last: u64,
}

/// A loop, and where the source has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceLoop {
    /// It is in this function of those that are active, counted from the outermost.
    pub(crate) level: usize,
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// The loops of a function.
#[derive(Debug)]
pub(crate) struct FunctionLoops {
    /// In the order of addresses.
    blocks: Vec<Block>,
    loops: FlowLoops,
    /// By number; `None` where the source has none.
    found: Vec<Option<SourceLoop>>,
}

impl FunctionLoops {
    /// Those of the function that begins at an address. `active` are the functions that are active at
    /// an address, the outermost first, and `returns` says whether the function that begins at an
    /// address may return. `None` for code of processors that are not known.
    pub(crate) fn of(
        begin: u64,
        (architecture, code): (Architecture, &[u8]),
        active: &mut dyn FnMut(u64) -> Vec<Active>,
        returns: &mut dyn FnMut(u64) -> bool,
    ) -> Option<Self> {
        let (blocks, graph) = graph(&decoded(begin, architecture, code, returns)?);
        let loops = FlowLoops::find(&graph, &|_| None);
        let mut parts: Vec<Vec<u32>> = vec![Vec::new(); loops.list.len()];
        for block in numbers(&blocks) {
            let mut number = loops.of(block);
            while let Some(part) = parts.get_mut(number as usize) {
                part.push(block);
                number = loops.parent(number);
            }
        }
        let at: Vec<[Vec<Active>; 2]> = numbers(&blocks)
            .zip(&blocks)
            .map(|(number, block)| match loops.of(number) {
                NONE => [Vec::new(), Vec::new()],
                _ => [active(block.start), active(block.last)],
            })
            .collect();
        let first = active(begin);
        let mut found: Vec<Option<SourceLoop>> = Vec::new();
        for (number, part) in (0..).zip(&parts) {
            let back = |block: u32| graph.followers(block).any(|to| loops.is_header(to, number));
            let ends = part.iter().filter_map(|&block| Some((block, at.get(block as usize)?)));
            let turns = ends.clone().flat_map(|(block, [start, last])| {
                let start = loops.is_header(block, number).then_some((true, start));
                [start, back(block).then_some((false, last))]
            });
            let around = found.get(loops.parent(number) as usize).and_then(Option::as_ref);
            let is_before =
                |level: usize, file: &str, line: u32, is_start: bool| match (around, first.first())
                {
                    (Some(around), _) if (around.level, &*around.file) == (level, file) => {
                        line < around.line
                    }
                    (_, Some(first)) if (0, &*first.file) == (level, file) => {
                        line < first.line.saturating_add(u32::from(is_start))
                    }
                    _ => false,
                };
            found.push(place(ends.flat_map(|(_, both)| both), turns.flatten(), is_before));
        }
        Some(Self { blocks, loops, found })
    }

    /// The loops around an address, the outermost first. Nested loops in one place of the source are
    /// one.
    pub(crate) fn around(&self, address: u64) -> Vec<&SourceLoop> {
        let after = self.blocks.partition_point(|block| block.start <= address);
        let block = after.checked_sub(1).and_then(|at| u32::try_from(at).ok());
        let mut number = block.map_or(NONE, |block| self.loops.of(block));
        let mut around = Vec::new();
        while number != NONE {
            around.extend(self.found.get(number as usize).into_iter().flatten());
            number = self.loops.parent(number);
        }
        around.reverse();
        around.dedup();
        around
    }
}

fn numbers(blocks: &[Block]) -> impl Iterator<Item = u32> {
    0..u32::try_from(blocks.len()).unwrap_or(NONE)
}

/// Where a loop is. `parts` are the functions that are active in all parts of it, and `turns` where it
/// begins (with `true`) and where it jumps back. What compilers move into a loop from outside has the
/// line from which it came: lines of a level and file that are before what is around the loop are
/// chosen only where there are no others.
fn place<'a>(
    parts: impl Iterator<Item = &'a Vec<Active>>,
    turns: impl Iterator<Item = (bool, &'a Vec<Active>)> + Clone,
    is_before: impl Fn(usize, &str, u32, bool) -> bool,
) -> Option<SourceLoop> {
    let mut common: Option<&[Active]> = None;
    for part in parts.filter(|part| !part.is_empty()) {
        let known = common.unwrap_or(part);
        let is_same = |at: &usize| called(known, *at) == called(part, *at);
        let len = (0..known.len().min(part.len())).take_while(is_same).count();
        common = known.get(..len);
    }
    let level = common?.len().checked_sub(1)?;
    let places = turns.filter_map(|(is_start, turn)| Some((is_start, turn.get(level)?)));
    let places = places.filter(|(_, own)| own.line > 0);
    let file = places.clone().next()?.1.file.as_str();
    let own = places.filter(|(_, own)| own.file == file);
    let (_, line) =
        own.map(|(is_start, own)| (is_before(level, file, own.line, is_start), own.line)).min()?;
    Some(SourceLoop { level, file: file.to_owned(), line })
}

/// A function that is active, and from where it was called: by that, the same function in two places is
/// two functions.
fn called(active: &[Active], at: usize) -> (Option<&str>, Option<(&str, u32, u32)>) {
    let from = at.checked_sub(1).and_then(|above| active.get(above));
    (active.get(at).map(|own| own.name.as_str()), from.map(Active::place))
}

/// The blocks of a function, and which of them may follow each other once it was entered.
fn graph(code: &[Instruction]) -> (Vec<Block>, FlowGraph) {
    let known = |address: u64| code.binary_search_by_key(&address, |own| own.address).ok();
    let mut is_start = vec![false; code.len() + 1];
    let mut mark = |at: usize| {
        if let Some(start) = is_start.get_mut(at) {
            *start = true;
        }
    };
    mark(0);
    for (at, instruction) in code.iter().enumerate() {
        if let Leaves::Branch(to) | Leaves::Jump(to) = instruction.leaves
            && let Some(to) = known(to)
        {
            mark(to);
        }
        if instruction.leaves != Leaves::Next {
            mark(at + 1);
        }
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut leaves = Vec::new();
    for (instruction, is_start) in code.iter().zip(is_start) {
        if is_start {
            blocks.push(Block { start: instruction.address, last: 0 });
            leaves.push(Leaves::Next);
        }
        if let (Some(block), Some(last)) = (blocks.last_mut(), leaves.last_mut()) {
            (block.last, *last) = (instruction.address, instruction.leaves);
        }
    }
    let block = |address: u64| blocks.binary_search_by_key(&address, |own| own.start).ok();
    let next = |at: usize| Some(at + 1).filter(|next| *next < blocks.len());
    let direct = |at: usize| match leaves.get(at) {
        Some(Leaves::Next) => [next(at), None],
        Some(Leaves::Branch(to)) => [next(at), block(*to)],
        Some(Leaves::Jump(to)) => [block(*to), None],
        _ => [None, None],
    };
    let mut is_entered = vec![false; blocks.len()];
    for to in (0..blocks.len()).flat_map(direct).flatten() {
        if let Some(entered) = is_entered.get_mut(to) {
            *entered = true;
        }
    }
    let others = is_entered.iter().enumerate().skip(1).filter(|(_, entered)| !**entered);
    let others: Vec<usize> = others.map(|(at, _)| at).collect();
    let mut graph = FlowGraph::default();
    let mut is_reached = vec![false; blocks.len()];
    let mut open = vec![0];
    let mut add = |from: usize, to: usize| {
        let number = |at: usize| u32::try_from(at).unwrap_or(NONE);
        graph.add(if from == usize::MAX { NONE } else { number(from) }, number(to));
    };
    if !blocks.is_empty() {
        add(usize::MAX, 0);
    }
    while let Some(at) = open.pop() {
        match is_reached.get_mut(at) {
            Some(reached) if !*reached => *reached = true,
            _ => continue,
        }
        let computed = matches!(leaves.get(at), Some(Leaves::Computed));
        let computed = computed.then_some(&others).into_iter().flatten().copied();
        for to in direct(at).into_iter().flatten().chain(computed) {
            add(at, to);
            open.push(to);
        }
    }
    (blocks, graph)
}

/// Whether a function may return to where it was called: it has an instruction that returns, or jumps to
/// another function. Functions that end the process or throw have neither.
pub(crate) fn may_return(begin: u64, architecture: Architecture, code: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if architecture == Architecture::X86_64 {
        return x86::may_return(begin, code);
    }
    let _ = (begin, architecture, code);
    true
}

/// The instructions of a function; `None` for processors that are not known.
fn decoded(
    begin: u64,
    architecture: Architecture,
    code: &[u8],
    returns: &mut dyn FnMut(u64) -> bool,
) -> Option<Vec<Instruction>> {
    #[cfg(target_arch = "x86_64")]
    if architecture == Architecture::X86_64 {
        return Some(x86::decoded(begin, code, returns));
    }
    let _ = (begin, architecture, code, returns);
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use iced_x86::{Decoder, DecoderOptions, FlowControl, OpKind, Register};

    use super::{Instruction, Leaves};

    pub(super) fn may_return(begin: u64, code: &[u8]) -> bool {
        let end = begin.saturating_add(code.len() as u64);
        let leaves = |target: u64| !(begin..end).contains(&target);
        let decoder = Decoder::with_ip(64, code, begin, DecoderOptions::NONE);
        decoder.into_iter().any(|own| match own.flow_control() {
            FlowControl::Return | FlowControl::IndirectBranch => true,
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
                leaves(own.near_branch_target())
            }
            _ => false,
        })
    }

    pub(super) fn decoded(
        begin: u64,
        code: &[u8],
        returns: &mut dyn FnMut(u64) -> bool,
    ) -> Vec<Instruction> {
        let decoder = Decoder::with_ip(64, code, begin, DecoderOptions::NONE);
        let known = decoder.into_iter().map(|own| {
            let leaves = match own.flow_control() {
                FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => {
                    Leaves::Branch(own.near_branch_target())
                }
                FlowControl::UnconditionalBranch => Leaves::Jump(own.near_branch_target()),
                // Through a table of the linker it is a call that does not return here.
                FlowControl::IndirectBranch
                    if own.op0_kind() == OpKind::Memory
                        && matches!(own.memory_base(), Register::RIP | Register::EIP) =>
                {
                    Leaves::Never
                }
                FlowControl::IndirectBranch => Leaves::Computed,
                FlowControl::Return | FlowControl::Exception => Leaves::Never,
                FlowControl::Call if !returns(own.near_branch_target()) => Leaves::Never,
                _ => Leaves::Next,
            };
            Instruction { address: own.ip(), leaves }
        });
        known.collect()
    }
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::process::Command;

    use object::{Object as _, ObjectSymbol as _};
    use parallax_formats::archive::FunctionRow;
    use parallax_testkit::needs::{self, Without};

    use crate::Detail;
    use crate::images::Images;
    use crate::processes::Place;
    use crate::symbols::{Names, look_up};

    const PROGRAM: &str = "\
volatile double sink;
static inline __attribute__((always_inline)) double poly(double x, int n) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s = s * x + i;
    return s;
}
__attribute__((noinline)) void nested(int n, double *a, double *b, double *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int k = 0; k < n; k++)
                s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
}
__attribute__((noinline)) long choosing(const char *p, long n) {
    long x = 0;
    for (long i = 0; i < n; i++) {
        switch (p[i % 16]) {
        case 0: x += 1; sink++; break;
        case 1: x *= 3; sink--; break;
        case 2: x ^= 17; sink += 2; break;
        case 3: x -= 5; sink -= 3; break;
        case 4: x <<= 1; sink += 4; break;
        case 5: if (x & 1) continue; x >>= 1; break;
        case 6: x = ~x; sink -= 9; break;
        default: return x;
        }
    }
    return x;
}
__attribute__((noinline)) void inlining(int n) {
    for (int i = 0; i < n; i++) {
        sink += poly(1.5, 100);
        while (sink > 100)
            sink /= 2;
    }
}
__attribute__((noinline)) void straight(int n) { if (n > 3) sink += n; else sink -= n; }
int main(int count, char **words) {
    static double a[64], b[64], c[64];
    nested(8, a, b, c);
    inlining(count);
    straight(count);
    return choosing((char *)words, count);
}
";

    /// What is around some code of a function: names, lines of loops, and lines at the end as `@14`.
    fn paths(program: &Path, function: &str, detail: Detail) -> BTreeSet<String> {
        let mut images = Images::default();
        let number = images.at(program.to_str().unwrap());
        let image = images.get(number).unwrap();
        let bytes = std::fs::read(program).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let symbol = file.symbols().find(|own| own.name() == Ok(function)).unwrap();
        let mut names = Names::of(image);
        let addresses = symbol.address()..symbol.address() + symbol.size();
        let path = |address| {
            let found = look_up(&mut names, image, Place { image: Some(number), address }, detail);
            let word = |own: crate::symbols::Function| match own.kind {
                FunctionRow::LOOP => own.line.to_string(),
                FunctionRow::LINE => format!("@{}", own.line),
                _ => own.name,
            };
            found.into_iter().map(word).collect::<Vec<_>>().join(" ")
        };
        addresses.map(path).collect()
    }

    #[test]
    fn loops_are_those_of_the_source_whatever_the_compiler_does() {
        if !needs::program("cc", Without::Test) {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("app.c"), PROGRAM).unwrap();
        let program = folder.path().join("app");
        for options in [&["-O0", "-g"][..], &["-O1", "-g"], &["-O2", "-g"], &["-O2", "-g", "-gz"]] {
            let made = Command::new("cc")
                .current_dir(folder.path())
                .args(options)
                .args(["-o", "app", "app.c"])
                .status();
            assert!(made.unwrap().success());
            let of = |function: &str| paths(&program, function, Detail::Loops);
            let wanted = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
            let same = |function: &str, paths: &[&str]| {
                let wanted: BTreeSet<String> = wanted(paths);
                assert_eq!(of(function), wanted, "{options:?}");
            };
            same("nested", &["nested", "nested 9", "nested 9 10", "nested 9 10 12"]);
            same("choosing", &["choosing", "choosing 19"]);
            same("straight", &["straight"]);
            let inlining = of("inlining");
            let own = ["inlining 34", "inlining 34 36", "inlining 34 poly 4"];
            for path in own {
                assert!(inlining.contains(path), "{options:?}: no {path} in {inlining:?}");
            }
            let others = ["inlining", "inlining 34 poly", "inlining poly"];
            let known =
                |path: &String| others.contains(&path.as_str()) || own.contains(&path.as_str());
            assert!(inlining.iter().all(known), "{options:?}: {inlining:?}");
            let lines = paths(&program, "nested", Detail::Lines);
            assert!(lines.contains("nested 9 10 12 @13"), "{options:?}: {lines:?}");
            let plain = paths(&program, "nested", Detail::Functions);
            assert_eq!(plain, wanted(&["nested"]), "{options:?}");
        }
    }

    #[test]
    fn without_debug_information_there_are_functions_only() {
        if !needs::program("cc", Without::Test) {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("app.c"), PROGRAM).unwrap();
        let program = folder.path().join("app");
        let mut compiler = Command::new("cc");
        compiler.current_dir(folder.path()).args(["-O1", "-o", "app", "app.c"]);
        assert!(compiler.status().unwrap().success());
        let found = paths(&program, "nested", Detail::Lines);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["nested"]);
    }

    #[test]
    fn code_of_any_bytes_has_some_loops_or_none() {
        use object::Architecture;

        use super::FunctionLoops;

        let mut bytes = vec![0_u8; 4096];
        for seed in 1..200_u64 {
            let mut number = seed;
            for byte in &mut bytes {
                number ^= number << 13;
                number ^= number >> 7;
                number ^= number << 17;
                *byte = number as u8;
            }
            let mut nothing = |_| Vec::new();
            let of = |architecture, nothing: &mut dyn FnMut(u64) -> Vec<_>| {
                let code = (architecture, &bytes[..]);
                FunctionLoops::of(u64::MAX - 2048, code, nothing, &mut |_| true)
            };
            let found = of(Architecture::X86_64, &mut nothing).unwrap();
            for address in [0, 77, u64::MAX - 2048, u64::MAX - 100, u64::MAX] {
                assert!(found.around(address).is_empty());
            }
            assert!(of(Architecture::Aarch64, &mut nothing).is_none());
        }
        let empty = (Architecture::X86_64, &[][..]);
        let none = FunctionLoops::of(64, empty, &mut |_| Vec::new(), &mut |_| true).unwrap();
        assert!(none.around(64).is_empty());
    }

    #[test]
    fn what_follows_a_call_that_never_returns_is_not_in_a_loop_with_it() {
        use object::Architecture;

        use super::{FunctionLoops, may_return};
        use crate::packed::Active;

        // nop; call 0x2000; jmp to the nop.
        let code = [0x90, 0xe8, 0xfa, 0x0f, 0, 0, 0xeb, 0xf8];
        let around = |returns: bool| {
            let active = |address: u64| {
                let line = u32::try_from(address - 0xff0).unwrap();
                vec![Active { name: "main".into(), file: "app.c".into(), line, column: 0 }]
            };
            let called = &mut |address| {
                assert_eq!(address, 0x2000);
                returns
            };
            let code = (Architecture::X86_64, &code[..]);
            let found = FunctionLoops::of(0x1000, code, &mut { active }, called).unwrap();
            found.around(0x1000).len()
        };
        assert_eq!((around(true), around(false)), (1, 0));
        let returns = |code: &[u8]| may_return(0x2000, Architecture::X86_64, code);
        assert!(returns(&[0x90, 0xc3]));
        // A jump to another function, and one within.
        assert!(returns(&[0xe9, 0, 1, 0, 0]));
        assert!(!returns(&[0x90, 0xeb, 0xfd]));
        // A call, and nothing behind it.
        assert!(!returns(&[0x90, 0xe8, 0, 1, 0, 0]));
        assert!(may_return(0x2000, Architecture::Aarch64, &[0; 4]));
    }
}
