//! Activations and groups of calls as rows.

use std::collections::{HashMap, HashSet};

use parallax_base::{ActivationIdx, FunctionIdx};
use parallax_model::{ActivationKind, ActivationTree};
use parallax_protocol::{ActivationTable, Repeated};

use super::references::Use;
use super::{Rows, Run};

/// What rows can be; [`Node::kind`] numbers them.
const KINDS: [&str; 4] = ["call", "loop", "iteration", "group"];

/// An activation, or all calls of one function by one call.
pub(super) struct Node {
    /// The activation, or the calls of the group by time; never empty.
    members: Vec<ActivationIdx>,
    is_group: bool,
    /// What it does with the reference that was asked about.
    used: Option<Use>,
}

impl Node {
    pub(super) fn one(activation: ActivationIdx) -> Self {
        Self { members: vec![activation], is_group: false, used: None }
    }

    pub(super) const fn group(members: Vec<ActivationIdx>) -> Self {
        Self { members, is_group: true, used: None }
    }

    /// An activation, with what it does with the reference that was asked about.
    pub(super) fn user(activation: ActivationIdx, used: Use) -> Self {
        Self { used: Some(used), ..Self::one(activation) }
    }

    /// Which one of [`KINDS`] it is.
    fn kind(&self, tree: &ActivationTree) -> i32 {
        match tree.kind(self.first()) {
            _ if self.is_group => 3,
            ActivationKind::Call => 0,
            ActivationKind::LoopExecution => 1,
            ActivationKind::Iteration => 2,
        }
    }

    fn first(&self) -> ActivationIdx {
        self.members.first().copied().unwrap_or(ActivationIdx::new(0))
    }
}

/// The calls that an activation makes itself, in its loops or not, by time.
pub(crate) fn calls_of(
    tree: &ActivationTree,
    activation: ActivationIdx,
    mut visit: impl FnMut(ActivationIdx),
) {
    walk(tree, activation, |part, is_call| {
        if is_call {
            visit(part);
        }
    });
}

/// An activation with the loops and iterations in it, but not what it calls: its own code.
pub(crate) fn own_parts(
    tree: &ActivationTree,
    activation: ActivationIdx,
    mut visit: impl FnMut(ActivationIdx),
) {
    visit(activation);
    walk(tree, activation, |part, is_call| {
        if !is_call {
            visit(part);
        }
    });
}

/// What is below an activation, down to the first calls.
fn walk(
    tree: &ActivationTree,
    activation: ActivationIdx,
    mut visit: impl FnMut(ActivationIdx, bool),
) {
    let range = tree.subtree(activation);
    let mut at = range.start + 1;
    while at < range.end {
        let part = ActivationIdx::from_len(at);
        let is_call = tree.kind(part) == ActivationKind::Call;
        visit(part, is_call);
        at = if is_call { tree.subtree(part).end } else { at + 1 };
    }
}

/// How many activations are around each of some. What was counted for one counts for those below.
fn depths(tree: &ActivationTree, list: impl Iterator<Item = ActivationIdx>) -> Vec<u32> {
    let mut known: HashMap<ActivationIdx, u32> = HashMap::new();
    let mut path = Vec::new();
    let depth = |activation| {
        let mut at = Some(activation);
        while let Some(here) = at.filter(|here| !known.contains_key(here)) {
            path.push(here);
            at = tree.parent(here);
        }
        let mut next = at.and_then(|known_one| known.get(&known_one)).map_or(0, |depth| depth + 1);
        while let Some(here) = path.pop() {
            known.insert(here, next);
            next += 1;
        }
        known.get(&activation).copied().unwrap_or(0)
    };
    list.map(depth).collect()
}

/// The call around an activation; `None` for entry calls.
pub(super) fn caller(tree: &ActivationTree, activation: ActivationIdx) -> Option<ActivationIdx> {
    tree.parent(activation).and_then(|parent| tree.call_of(parent))
}

/// The function in whose code an activation is.
pub(crate) fn function_of(run: Run<'_>, activation: ActivationIdx) -> Option<FunctionIdx> {
    let context = run.activations.tree.context(activation);
    run.contexts.enclosing_function(context).and_then(|context| run.contexts.function(context))
}

/// The calls of a group by one of them. An entry call is alone: it has no caller to share.
pub(super) fn group_of(run: Run<'_>, call: ActivationIdx) -> Vec<ActivationIdx> {
    let tree = &run.activations.tree;
    let is_call = tree.kind(call) == ActivationKind::Call;
    let Some(caller) = caller(tree, call).filter(|_| is_call) else { return vec![call] };
    let function = function_of(run, call);
    let mut members = Vec::new();
    calls_of(tree, caller, |call| {
        if function_of(run, call) == function {
            members.push(call);
        }
    });
    members
}

/// The calls of some activations by function, groups in order of their first call.
pub(crate) fn by_function(
    run: Run<'_>,
    callers: impl IntoIterator<Item = ActivationIdx>,
) -> Vec<Vec<ActivationIdx>> {
    let mut groups: Vec<Vec<ActivationIdx>> = Vec::new();
    let mut places: HashMap<Option<FunctionIdx>, usize> = HashMap::new();
    for caller in callers {
        calls_of(&run.activations.tree, caller, |call| {
            let place = *places.entry(function_of(run, call)).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Vec::new());
            }
            if let Some(group) = groups.get_mut(place) {
                group.push(call);
            }
        });
    }
    groups
}

impl Run<'_> {
    /// The first calls of all groups.
    pub(super) fn all_groups(self) -> Vec<u32> {
        let tree = &self.activations.tree;
        let mut first: Vec<u32> = tree.roots().map(ActivationIdx::get).collect();
        for caller in tree.iter().filter(|&one| tree.kind(one) == ActivationKind::Call) {
            let groups = by_function(self, [caller]);
            first.extend(groups.iter().filter_map(|group| group.first()).map(|call| call.get()));
        }
        first.sort_unstable();
        first
    }

    /// Activations and groups as a table.
    pub(super) fn node_table(self, rows: &Rows<Node>, is_related: bool) -> ActivationTable {
        let list = rows.list.as_slice();
        let Self { activations, contexts } = self;
        let tree = &activations.tree;
        let origin = tree.span().start_nanos;
        let number = |of: &dyn Fn(&Node) -> u32| -> Vec<u32> { list.iter().map(of).collect() };
        let sum = |of: &dyn Fn(ActivationIdx) -> u64| -> Vec<u64> {
            let sum = |node: &Node| node.members.iter().map(|&member| of(member)).sum();
            list.iter().map(sum).collect()
        };
        let optional = |of: &dyn Fn(&Node) -> Option<u64>| -> Vec<Option<u64>> {
            list.iter().map(of).collect()
        };
        let id = |activation: Option<ActivationIdx>| activation.map(|one| u64::from(one.get()));
        let line = |line: u32| (line > 0).then_some(u64::from(line));
        let count = |kind: ActivationKind| {
            move |one: ActivationIdx| {
                tree.children(one).filter(|&child| tree.kind(child) == kind).count() as u64
            }
        };
        let names = labels(list.iter().map(|node| tree.context(node.first()).get()), |context| {
            contexts.label(parallax_base::ContextIdx::new(context))
        });
        let functions = |node: &Node| -> u64 {
            let mut found: HashSet<Option<FunctionIdx>> = HashSet::new();
            for &member in &node.members {
                calls_of(tree, member, |call| {
                    found.insert(function_of(self, call));
                });
            }
            found.len() as u64
        };
        // By reference: the last row that touches it. A set would cost more than the rest of a row.
        let mut last = vec![usize::MAX; activations.references.len()];
        let mut touched = Vec::with_capacity(list.len());
        for (row, node) in list.iter().enumerate() {
            let mut found = 0_u64;
            for &member in &node.members {
                own_parts(tree, member, |part| {
                    for touch in activations.touches.of(part) {
                        if let Some(last) = last.get_mut(touch.reference.idx()) {
                            found += u64::from(*last != row);
                            *last = row;
                        }
                    }
                });
            }
            touched.push(found);
        }
        let is_in_loop = |node: &Node| {
            let is_inside = |&member: &ActivationIdx| {
                tree.parent(member).is_some_and(|p| tree.kind(p) != ActivationKind::Call)
            };
            u32::from(node.members.iter().any(is_inside))
        };
        let touches_within =
            |&member: &ActivationIdx| !activations.touches.range_within(tree, member).is_empty();
        let used = list.iter().any(|node| node.used.is_some());
        let accesses = |of: fn(Use) -> u64| -> Option<Vec<u64>> {
            used.then(|| list.iter().map(|node| node.used.map_or(0, of)).collect())
        };
        let access_line = |of: fn(Use) -> u32| -> Option<Vec<Option<u64>>> {
            let line = |node: &Node| node.used.and_then(|used| line(of(used)));
            used.then(|| list.iter().map(line).collect())
        };
        ActivationTable {
            of: rows.of(is_related),
            activation: number(&|node| node.first().get()),
            kind: Repeated {
                rows: list.iter().map(|node| node.kind(tree)).collect(),
                texts: KINDS.map(str::to_owned).to_vec(),
            },
            name: names,
            context_id: number(&|node| contexts.source_id(tree.context(node.first()))),
            function: optional(&|node| {
                function_of(self, node.first()).map(|one| u64::from(one.get()))
            }),
            parent: optional(&|node| id(tree.parent(node.first()))),
            caller: optional(&|node| id(caller(tree, node.first()))),
            thread: number(&|node| tree.thread(node.first()).get()),
            depth: depths(tree, list.iter().map(Node::first)),
            start_ns: list
                .iter()
                .map(|node| tree.time(node.first()).start_nanos.saturating_sub(origin))
                .collect(),
            end_ns: list
                .iter()
                .map(|node| {
                    let ends = node.members.iter().map(|&one| tree.time(one).end_nanos);
                    ends.max().unwrap_or(origin).saturating_sub(origin)
                })
                .collect(),
            length_ns: sum(&|one| tree.nanos(one)),
            count: list.iter().map(|node| node.members.len() as u64).collect(),
            number: number(&|node| tree.number(node.first())),
            line: optional(&|node| line(tree.line(node.first()))),
            children: sum(&|one| tree.children(one).count() as u64),
            groups: list.iter().map(functions).collect(),
            executions: sum(&count(ActivationKind::LoopExecution)),
            iterations: sum(&count(ActivationKind::Iteration)),
            is_in_loop: number(&is_in_loop),
            is_estimated: number(&|node| {
                u32::from(node.members.iter().any(|&one| tree.is_estimated(one)))
            }),
            touched,
            is_touching_within: number(&|node| u32::from(node.members.iter().any(touches_within))),
            source_id: list.iter().map(|node| tree.source_id(node.first())).collect(),
            reads: accesses(|used| used.reads),
            writes: accesses(|used| used.writes),
            read_line: access_line(|used| used.read_line),
            write_line: access_line(|used| used.write_line),
        }
    }
}

/// The name of each row by what it is a name of; names that repeat are there once.
pub(crate) fn labels(keys: impl Iterator<Item = u32>, name: impl Fn(u32) -> String) -> Repeated {
    let mut texts: Vec<String> = Vec::new();
    let mut places: HashMap<u32, i32> = HashMap::new();
    let rows = keys
        .map(|key| {
            *places.entry(key).or_insert_with(|| {
                texts.push(name(key));
                i32::try_from(texts.len() - 1).unwrap_or(i32::MAX)
            })
        })
        .collect();
    Repeated { rows, texts }
}
