//! Names of timers as a calling context tree.
//!
//! A profile without call paths has its functions next to each other below the root. Where there
//! are call paths they make the tree; the timer of a function alone is then the sum over its paths
//! and only counts where calls are left over, of threads that began with that function. What TAU
//! sampled while a timer ran hangs below the timer:
//!
//! ```text
//! main => solve => [CONTEXT] solve => [SAMPLE] dgemm [{blas.c} {93}]
//!
//! main
//!   solve                      what no sample tells
//!     dgemm        blas.c
//!       blas.c:93
//! ```

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use parallax_base::{
    ContextIdx, FileIdx, FunctionIdx, Issues, LimitExceeded, Limits, ModuleIdx, Place, Severity,
    Stage,
};
use parallax_formats::tau::{
    Element, ElementKind, Profiles, THROTTLED, call_path, cut_event, element,
};
use parallax_model::{
    ContextKind, ContextTree, ContextTreeBuilder, Function, Module, Node, Relation, SourceFile,
};

use super::Group;
use super::place::{Above, parents};

/// What the values of a timer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Those of a context.
    Context(u32),
    /// The sum over all call paths that end in the function, which is what other timers end in
    /// too: what those leave over belongs to a context.
    Remainder(u32),
    /// A part of a function, by the value of a parameter.
    Part(u32),
    /// Samples at a context, taken while the timer of another context above it ran; a profile may
    /// not say which.
    Sampled { at: u32, timer: Option<u32> },
    /// Sums of what other timers tell.
    Unused,
}

/// Where the values of one group of profiles belong.
#[derive(Debug, Default)]
pub(super) struct Placement {
    /// The context of the whole group: the root or an entry.
    pub(super) base: u32,
    /// By timer.
    pub(super) roles: Vec<Role>,
    /// By timer, a number of the function it ends in: equal for all paths to it.
    pub(super) ends: Vec<u32>,
    /// Whether a timer stands for time that no other flat timer has.
    pub(super) is_flat: Vec<bool>,
    /// By user event: its name without the call path, and the context of that path.
    pub(super) events: Vec<(Arc<str>, Option<u32>)>,
}

/// The tree, and how the names of each group lead to it.
pub(super) struct Tree {
    pub(super) contexts: ContextTree,
    pub(super) placements: Vec<Placement>,
    /// Whether anything was sampled.
    pub(super) has_samples: bool,
}

impl Tree {
    pub(super) fn of(
        groups: &[Group],
        limits: &Limits,
        issues: &mut Issues,
    ) -> Result<Self, LimitExceeded> {
        let mut arena = Arena::default();
        arena.nodes.push(ArenaNode::new(0, Key::Root));
        let mut placements = Vec::new();
        for group in groups {
            let base = match &group.component {
                Some(name) => arena.child(0, Key::Component(name.clone())),
                None => 0,
            };
            let mut names = GroupNames::of(&group.profiles);
            names.say_too_long(issues);
            let throttled = names.throttled();
            say_throttled(&throttled, issues);
            arena.throttled.extend(throttled.into_iter().map(str::to_owned));
            placements.push(names.place(&mut arena, base, issues));
            limits.metadata("the calling context tree", arena.nodes.len() as u64 * NODE_BYTES)?;
        }
        let (contexts, position) = arena.finish();
        let moved = |node: &mut u32| {
            *node = position.get(*node as usize).copied().unwrap_or(0);
        };
        let mut has_samples = false;
        for placement in &mut placements {
            moved(&mut placement.base);
            for role in &mut placement.roles {
                has_samples |= matches!(role, Role::Sampled { .. });
                match role {
                    Role::Context(node) | Role::Remainder(node) | Role::Part(node) => moved(node),
                    Role::Sampled { at, timer } => {
                        moved(at);
                        timer.iter_mut().for_each(moved);
                    }
                    Role::Unused => {}
                }
            }
            placement.events.iter_mut().filter_map(|event| event.1.as_mut()).for_each(moved);
        }
        Ok(Self { contexts, placements, has_samples })
    }
}

/// What one context costs in memory, about.
const NODE_BYTES: u64 = 256;

/// Functions in a path; a name with more arrows is no path.
const LONGEST_PATH: usize = 10_000;

/// The timers of a group, taken apart.
struct GroupNames<'p> {
    profiles: &'p Profiles,
    /// By timer: the functions of its path, then what was sampled there.
    paths: Vec<(Vec<&'p str>, Vec<Element<'p>>)>,
    /// Nodes by path of functions.
    placed: HashMap<Vec<&'p str>, u32>,
    /// Nodes whose path ends in a function; at most two are kept.
    by_end: HashMap<&'p str, Vec<u32>>,
    /// Names with more functions than a path may have.
    num_too_long: usize,
}

impl<'p> GroupNames<'p> {
    fn of(profiles: &'p Profiles) -> Self {
        let mut num_too_long = 0;
        let mut split = |name: &'p str| {
            let mut functions = Vec::new();
            let mut sampled = Vec::new();
            for part in call_path(name) {
                let element = element(part);
                match element.kind {
                    ElementKind::Timer if sampled.is_empty() => functions.push(part),
                    ElementKind::Context if sampled.is_empty() => sampled.push(element),
                    _ => sampled.push(element),
                }
            }
            if functions.len() > LONGEST_PATH {
                num_too_long += 1;
                (vec![name.trim()], Vec::new())
            } else {
                (functions, sampled)
            }
        };
        let paths = profiles.timers.iter().map(|timer| split(&timer.name)).collect();
        Self { profiles, paths, placed: HashMap::new(), by_end: HashMap::new(), num_too_long }
    }

    fn say_too_long(&self, issues: &mut Issues) {
        let n = self.num_too_long;
        if n > 0 {
            issues.report(Severity::Warning, Stage::Import, "path-too-long", Place::Whole, || {
                format!(
                    "call paths of more than {LONGEST_PATH} functions are not taken apart: {n} of \
                     them stand as one function each, with the whole path as its name"
                )
            });
        }
    }

    /// The functions that TAU stopped timing: from then on their time is that of their callers.
    fn throttled(&self) -> BTreeSet<&'p str> {
        let is_throttled = |name: &&str| name.trim_end().ends_with(THROTTLED);
        let timers = self.profiles.timers.iter().map(|timer| &*timer.name);
        timers.filter(is_throttled).filter_map(|name| call_path(name).last()).collect()
    }

    fn place(&mut self, arena: &mut Arena, base: u32, issues: &mut Issues) -> Placement {
        self.place_paths(arena, base, issues);
        let leftover = self.functions_left_over();
        let mut out = Placement { base, ..Placement::default() };
        let mut ends: HashMap<&str, u32> = HashMap::new();
        let has_sampled_paths = self
            .paths
            .iter()
            .any(|(functions, sampled)| !functions.is_empty() && !sampled.is_empty());
        for at in 0..self.paths.len() {
            let Some((functions, sampled)) = self.paths.get(at).cloned() else { continue };
            let last = functions.last().copied().unwrap_or_default();
            let next = u32::try_from(ends.len()).unwrap_or(u32::MAX);
            out.ends.push(*ends.entry(last).or_insert(next));
            let is_part = !element(last).suffix.is_empty();
            out.is_flat.push(functions.len() == 1 && sampled.is_empty() && !is_part);
            out.roles.push(match (functions.as_slice(), sampled.as_slice()) {
                ([.., _], [_, ..]) => self.sampled(arena, base, &functions, &sampled),
                ([], [.., leaf]) if !has_sampled_paths && leaf.kind != ElementKind::Context => {
                    let at = arena.sampled(base, &sampled);
                    at.map_or(Role::Unused, |at| Role::Sampled { at, timer: None })
                }
                ([], _) => Role::Unused,
                ([one], []) if is_part => Role::Part(self.part(arena, base, one)),
                ([one], []) if self.is_end_of_path(one) => {
                    if leftover.contains(one) {
                        Role::Remainder(self.top(arena, base, one))
                    } else {
                        Role::Unused
                    }
                }
                ([one], []) => Role::Context(self.top(arena, base, one)),
                (path, []) => {
                    let node = self.placed.get(path).copied();
                    Role::Context(node.unwrap_or_else(|| arena.chain(base, path)))
                }
            });
        }
        if out.roles.iter().any(|role| matches!(role, Role::Sampled { timer: None, .. })) {
            issues.report(Severity::Note, Stage::Import, "samples-alone", Place::Whole, || {
                "samples are stored without the timers that they were taken in: they are counted, \
                 and their time stays with the timers"
                    .to_owned()
            });
        }
        out.events = self.events(arena, base);
        out
    }

    /// Makes the nodes of all paths of two functions and more.
    fn place_paths(&mut self, arena: &mut Arena, base: u32, issues: &mut Issues) {
        let distinct: HashSet<&[&'p str]> = self
            .paths
            .iter()
            .filter(|(functions, sampled)| functions.len() > 1 && sampled.is_empty())
            .map(|(functions, _)| functions.as_slice())
            .collect();
        let mut paths: Vec<Vec<&'p str>> = Vec::new();
        let mut seen: HashSet<&[&'p str]> = HashSet::new();
        for (functions, _) in &self.paths {
            if distinct.contains(functions.as_slice()) && seen.insert(functions) {
                paths.push(functions.clone());
            }
        }
        let (above, ambiguous) = parents(&paths);
        if ambiguous > 0 {
            issues.report(Severity::Note, Stage::Import, "path-cut", Place::Whole, || {
                format!(
                    "call paths were cut in front (TAU_CALLPATH_DEPTH, or phases): {ambiguous} of \
                     them have several possible callers and stand next to the outermost functions; \
                     exclusive values are complete all the same"
                )
            });
        }
        let mut nodes: Vec<Option<u32>> = vec![None; paths.len()];
        for start in 0..paths.len() {
            // Parents first; circles were broken.
            let mut open = vec![start];
            while let Some(&at) = open.last() {
                let known = nodes.get(at).copied().flatten();
                let parent = match above.get(at) {
                    _ if known.is_some() => None,
                    Some(&Above::Path(parent)) => match nodes.get(parent).copied().flatten() {
                        Some(node) => Some(node),
                        None => {
                            open.push(parent);
                            continue;
                        }
                    },
                    _ => {
                        let before = paths.get(at).and_then(|path| path.split_last());
                        Some(arena.chain(base, before.map_or(&[][..], |(_, before)| before)))
                    }
                };
                open.pop();
                if let (Some(parent), Some(path)) = (parent, paths.get(at))
                    && let (Some(last), Some(slot)) = (path.last(), nodes.get_mut(at))
                {
                    *slot = Some(arena.child(parent, Key::Function((*last).to_owned())));
                }
            }
        }
        for (path, node) in paths.into_iter().zip(nodes) {
            let (Some(last), Some(node)) = (path.last().copied(), node) else { continue };
            let ends = self.by_end.entry(last).or_default();
            if ends.len() < 2 {
                ends.push(node);
            }
            self.placed.insert(path, node);
        }
    }

    fn is_end_of_path(&self, function: &str) -> bool {
        self.by_end.contains_key(function)
    }

    /// Functions that some thread called more often than its paths say: a thread began with them.
    fn functions_left_over(&self) -> HashSet<&'p str> {
        let mut out = HashSet::new();
        let mut calls: HashMap<&str, f64> = HashMap::new();
        for thread in &self.profiles.threads {
            calls.clear();
            for row in &thread.timers {
                let Some((functions, sampled)) = self.paths.get(row.timer as usize) else {
                    continue;
                };
                let Some(&last) = functions.last().filter(|_| sampled.is_empty()) else { continue };
                let sign = if functions.len() > 1 { -1.0 } else { 1.0 };
                *calls.entry(last).or_insert(0.0) += sign * row.calls;
            }
            out.extend(calls.iter().filter(|(_, left)| **left > 0.5).map(|(&name, _)| name));
        }
        out
    }

    /// A function at the top of the group.
    fn top(&mut self, arena: &mut Arena, base: u32, function: &'p str) -> u32 {
        let node = arena.chain(base, &[function]);
        self.placed.insert(vec![function], node);
        node
    }

    fn part(&self, arena: &mut Arena, base: u32, name: &str) -> u32 {
        let suffix = element(name).suffix;
        let whole = name.strip_suffix(suffix).map_or(name, str::trim_end);
        let of = arena.chain(base, &[whole]);
        arena.child(of, Key::Part(name.to_owned()))
    }

    fn sampled(
        &self,
        arena: &mut Arena,
        base: u32,
        functions: &[&str],
        sampled: &[Element<'_>],
    ) -> Role {
        if sampled.last().is_none_or(|leaf| leaf.kind == ElementKind::Context) {
            return Role::Unused;
        }
        let timer = match self.placed.get(functions) {
            Some(&node) => node,
            None => arena.chain(base, functions),
        };
        let at = arena.sampled(timer, sampled);
        at.map_or(Role::Unused, |at| Role::Sampled { at, timer: Some(timer) })
    }

    /// The context of each user event that has one.
    fn events(&self, arena: &mut Arena, base: u32) -> Vec<(Arc<str>, Option<u32>)> {
        let known: HashSet<&str> =
            self.paths.iter().flat_map(|(functions, _)| functions).copied().collect();
        let is_path = |path: &str| call_path(path).all(|part| known.contains(part));
        let event = |name: &Arc<str>| {
            let Some((event, path)) = cut_event(name, is_path) else {
                return (Arc::clone(name), None);
            };
            let path: Vec<&str> = call_path(path).collect();
            let node = self.placed.get(path.as_slice()).copied().or_else(|| self.behind(&path));
            // A profile without call paths has one context for each function.
            let last = path.last().copied().unwrap_or_default();
            (event.into(), Some(node.unwrap_or_else(|| arena.chain(base, &[last]))))
        };
        self.profiles.events.iter().map(event).collect()
    }

    /// The only path that ends in the last function of `path`.
    fn behind(&self, path: &[&str]) -> Option<u32> {
        match self.by_end.get(path.last()?)?.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }
}

fn say_throttled(functions: &BTreeSet<&str>, issues: &mut Issues) {
    let Some(first) = functions.first().map(|function| element(function).name) else { return };
    let others = match functions.len() {
        1 => String::new(),
        n => format!(" and {} more functions", n - 1),
    };
    issues.report(Severity::Warning, Stage::Import, "throttled", Place::Whole, || {
        format!(
            "TAU stopped timing {first}{others} because of many short calls (THROTTLED): calls and \
             time after that count to the callers; measure with TAU_THROTTLE=0 to see all of them"
        )
    });
}

/// What tells a context from its siblings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Root,
    Component(String),
    /// A function, as timers name it.
    Function(String),
    /// A function with the value of a parameter.
    Part(String),
    /// A function that samples were taken in.
    Sampled(String),
    /// A line that samples were taken at.
    Line(String, u32),
}

struct ArenaNode {
    key: Key,
    children: Vec<u32>,
    parent: u32,
}

impl ArenaNode {
    fn new(parent: u32, key: Key) -> Self {
        Self { key, children: Vec::new(), parent }
    }
}

/// The tree while it grows.
#[derive(Default)]
struct Arena {
    nodes: Vec<ArenaNode>,
    known: HashMap<(u32, Key), u32>,
    /// Names of functions that TAU stopped timing.
    throttled: HashSet<String>,
}

impl Arena {
    fn child(&mut self, parent: u32, key: Key) -> u32 {
        let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let at = *self.known.entry((parent, key.clone())).or_insert(next);
        if at == next {
            self.nodes.push(ArenaNode::new(parent, key));
            if let Some(above) = self.nodes.get_mut(parent as usize) {
                above.children.push(next);
            }
        }
        at
    }

    fn chain(&mut self, base: u32, functions: &[&str]) -> u32 {
        functions.iter().fold(base, |at, name| self.child(at, Key::Function((*name).to_owned())))
    }

    /// Functions and a line below a timer; `None` where nothing but contexts is named.
    fn sampled(&mut self, timer: u32, elements: &[Element<'_>]) -> Option<u32> {
        let mut at = timer;
        let mut function = "";
        for element in elements.iter().filter(|element| element.kind != ElementKind::Context) {
            // A summary and the samples in it name the same function.
            if element.name != function {
                let file = element.file.unwrap_or_default();
                at = self.child(at, Key::Sampled(format!("{} [{{{file}}}]", element.name)));
                function = element.name;
            }
            if let (Some(file), 1..) = (element.file, element.line) {
                let line = self.child(at, Key::Line(file.to_owned(), element.line));
                if element.kind == ElementKind::Sample {
                    return Some(line);
                }
            }
        }
        (at != timer).then_some(at)
    }

    /// The tree in depth-first order, and the position of each node in it.
    fn finish(self) -> (ContextTree, Vec<u32>) {
        let mut tables = Tables::default();
        let mut position = vec![0_u32; self.nodes.len()];
        let mut made: Vec<(u32, Made)> = Vec::with_capacity(self.nodes.len());
        let mut open: Vec<u32> = vec![0];
        while let Some(at) = open.pop() {
            let Some(node) = self.nodes.get(at as usize) else { continue };
            if let Some(slot) = position.get_mut(at as usize) {
                *slot = u32::try_from(made.len()).unwrap_or(u32::MAX);
            }
            made.push((node.parent, tables.node(&node.key)));
            open.extend(node.children.iter().rev());
        }
        let is_throttled = |name: &&String| self.throttled.contains(*name);
        let timed = tables.by_function.iter().filter(|(name, _)| is_throttled(name));
        let throttled = timed.map(|(_, function)| *function).collect();
        let Tables { functions, files, modules, .. } = tables;
        let mut builder = ContextTreeBuilder::new(0, functions, files, modules);
        for (source_id, (parent, made)) in (0..).zip(made).skip(1) {
            let parent = ContextIdx::new(position.get(parent as usize).copied().unwrap_or(0));
            match made {
                Made::Entry(name) => {
                    builder.push_entry(source_id, name);
                }
                Made::Node(node) => {
                    builder.push(parent, Node { source_id, ..node });
                }
            }
        }
        (builder.finish().with_throttled(throttled), position)
    }
}

enum Made {
    Entry(Arc<str>),
    Node(Node),
}

/// Tables of functions, files and modules, each entry once.
#[derive(Default)]
struct Tables {
    functions: Vec<Function>,
    files: Vec<SourceFile>,
    modules: Vec<Module>,
    by_function: HashMap<String, FunctionIdx>,
    by_file: HashMap<String, FileIdx>,
    by_module: HashMap<String, ModuleIdx>,
}

impl Tables {
    fn node(&mut self, key: &Key) -> Made {
        let blank = Node::new(ContextKind::Function, Relation::Call);
        match key {
            Key::Root => Made::Node(blank),
            Key::Component(name) => Made::Entry(name.as_str().into()),
            Key::Function(name) => {
                Made::Node(Node { function: Some(self.function(name, element(name))), ..blank })
            }
            Key::Part(name) => {
                let function = Some(self.function(name, element(name)));
                Made::Node(Node { relation: Relation::Lexical, function, ..blank })
            }
            Key::Sampled(name) => {
                let function =
                    self.function(name, Element { kind: ElementKind::Sample, ..element(name) });
                Made::Node(Node { function: Some(function), ..blank })
            }
            Key::Line(file, line) => Made::Node(Node {
                kind: ContextKind::Line,
                relation: Relation::Lexical,
                file: Some(self.file(file)),
                line: *line,
                ..blank
            }),
        }
    }

    fn function(&mut self, name: &str, element: Element<'_>) -> FunctionIdx {
        if let Some(&known) = self.by_function.get(name) {
            return known;
        }
        let unresolved = element.name.strip_prefix("UNRESOLVED ").map(str::trim);
        let known_file = element.file.filter(|file| *file != "(unknown)");
        // Places with line 0 name the binary that holds the function.
        let is_source = element.line > 0 || element.kind != ElementKind::Timer;
        let (file, module) = match (unresolved, known_file) {
            (Some(path), _) => (None, Some(path)),
            (None, Some(path)) if is_source => (Some(path), None),
            (None, path) => (None, path),
        };
        let shown = match unresolved {
            Some(path) => format!("<unknown in {}>", path.rsplit('/').next().unwrap_or(path)),
            None if element.suffix.is_empty() => element.name.to_owned(),
            None => format!("{} {}", element.name, element.suffix),
        };
        let function = Function {
            name: shown.as_str().into(),
            group: None,
            module: module.map(|path| self.module(path)),
            file: file.map(|path| self.file(path)),
            line: element.line,
        };
        let row = FunctionIdx::from_len(self.functions.len());
        self.functions.push(function);
        self.by_function.insert(name.to_owned(), row);
        row
    }

    fn file(&mut self, path: &str) -> FileIdx {
        let next = FileIdx::from_len(self.files.len());
        let row = *self.by_file.entry(path.to_owned()).or_insert(next);
        if row == next {
            self.files.push(SourceFile { path: path.into(), is_copied: false });
        }
        row
    }

    fn module(&mut self, path: &str) -> ModuleIdx {
        let next = ModuleIdx::from_len(self.modules.len());
        let row = *self.by_module.entry(path.to_owned()).or_insert(next);
        if row == next {
            self.modules.push(Module { path: path.into() });
        }
        row
    }
}
