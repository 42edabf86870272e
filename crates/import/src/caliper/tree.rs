//! The calling context tree of a profile of Caliper: regions, call paths, and lines of samples.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{ContextIdx, FileIdx, FunctionIdx, Limits};
use parallax_formats::caliper::{CaliperProfile, Record};
use parallax_model::{
    ContextKind, ContextTree, ContextTreeBuilder, Function, Node, Relation, SourceFile,
};

/// How attributes of source lines of samples begin; their values are `file:line`.
const LINE_OF_SAMPLE: &str = "sourceloc#";

/// What a context is among those below the same one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key<'p> {
    Region(&'p str),
    Line(&'p str, u32),
}

/// The tree, and where records belong.
pub(super) struct Tree {
    pub(super) contexts: ContextTree,
    /// Context of a record by its nodes.
    places: HashMap<Vec<u32>, ContextIdx>,
    pub(super) parents: Vec<u32>,
}

impl Tree {
    pub(super) fn of(profile: &CaliperProfile, limits: &Limits) -> Self {
        let mut arena = Arena::default();
        let mut at: HashMap<&[u32], usize> = HashMap::new();
        for record in &profile.records {
            at.entry(&record.nodes).or_insert_with(|| {
                path(profile, record, limits.max_depth)
                    .into_iter()
                    .fold(0, |above, key| arena.child(above, key))
            });
        }
        let (contexts, moved) = arena.finish();
        let root = ContextIdx::new(0);
        let place =
            |(nodes, at): (&[u32], usize)| (nodes.to_vec(), moved.get(at).copied().unwrap_or(root));
        let places = at.into_iter().map(place).collect();
        let parents = (0..u32::try_from(contexts.len()).unwrap_or(u32::MAX))
            .map(|context| contexts.parent(ContextIdx::new(context)).map_or(0, ContextIdx::get))
            .collect();
        Self { contexts, places, parents }
    }

    /// Where the values of a record belong.
    pub(super) fn place(&self, record: &Record) -> u32 {
        self.places.get(&record.nodes).map_or(0, |context| context.get())
    }
}

/// What contexts a record is below, the outermost first: the nested nodes that it names, and the
/// line of the sample.
fn path<'p>(profile: &'p CaliperProfile, record: &Record, max_depth: u32) -> Vec<Key<'p>> {
    let mut keys = Vec::new();
    let mut line = None;
    for &node in &record.nodes {
        for node in profile.path(node, max_depth) {
            let Some(node) = profile.nodes.get(node as usize) else { continue };
            let Some(attribute) = profile.attributes.get(node.attribute as usize) else { continue };
            if attribute.is_nested {
                keys.push(Key::Region(node.label.as_str()));
            } else if attribute.name.starts_with(LINE_OF_SAMPLE) {
                line = line_of(&node.label);
            }
        }
    }
    keys.truncate(usize::try_from(max_depth).unwrap_or(usize::MAX));
    keys.extend(line.map(|(file, line)| Key::Line(file, line)));
    keys
}

/// `file:line`; `None` where the file is not known.
fn line_of(text: &str) -> Option<(&str, u32)> {
    let (file, line) = text.rsplit_once(':')?;
    let line = line.parse().ok().filter(|&line| line > 0)?;
    (!file.is_empty()).then_some((file, line))
}

/// Contexts while they are found.
#[derive(Default)]
struct Arena<'p> {
    children: Vec<Vec<usize>>,
    keys: Vec<Key<'p>>,
    known: HashMap<(usize, Key<'p>), usize>,
}

impl<'p> Arena<'p> {
    /// The context of `key` below `above`; 0 is the root, which has no key.
    fn child(&mut self, above: usize, key: Key<'p>) -> usize {
        if self.children.is_empty() {
            self.children.push(Vec::new());
        }
        let next = self.children.len();
        let at = *self.known.entry((above, key.clone())).or_insert(next);
        if at == next {
            self.keys.push(key);
            self.children.push(Vec::new());
            self.children.get_mut(above).into_iter().for_each(|below| below.push(at));
        }
        at
    }

    /// The tree, children as the file has them first, and the context of each in the arena.
    fn finish(self) -> (ContextTree, Vec<ContextIdx>) {
        let mut names: Vec<&str> = Vec::new();
        let mut files: Vec<&str> = Vec::new();
        for key in &self.keys {
            match key {
                Key::Region(name) => names.push(name),
                Key::Line(file, _) => files.push(file),
            }
        }
        for list in [&mut names, &mut files] {
            list.sort_unstable();
            list.dedup();
        }
        let number = |list: &[&str], text: &str| {
            list.binary_search(&text).ok().and_then(|at| u32::try_from(at).ok())
        };
        let function = |name: &&str| Function {
            name: Arc::from(*name),
            group: None,
            module: None,
            file: None,
            line: 0,
        };
        let file = |path: &&str| SourceFile { path: Arc::from(*path), is_copied: false };
        let functions = names.iter().map(function).collect();
        let mut tree =
            ContextTreeBuilder::new(0, functions, files.iter().map(file).collect(), Vec::new());
        let root = ContextIdx::new(0);
        let mut moved = vec![root; self.children.len()];
        let below = |at: usize| self.children.get(at).into_iter().flatten().rev().copied();
        let mut open: Vec<(ContextIdx, usize)> = below(0).map(|at| (root, at)).collect();
        let mut source_id = 0;
        while let Some((above, at)) = open.pop() {
            let Some(key) = at.checked_sub(1).and_then(|at| self.keys.get(at)) else { continue };
            source_id += 1;
            let mut node = match key {
                Key::Region(name) => {
                    let mut node = Node::new(ContextKind::Function, Relation::Call);
                    node.function = number(&names, name).map(FunctionIdx::new);
                    node
                }
                Key::Line(file, line) => {
                    let mut node = Node::new(ContextKind::Line, Relation::Lexical);
                    node.file = number(&files, file).map(FileIdx::new);
                    node.line = *line;
                    node
                }
            };
            node.source_id = source_id;
            let context = tree.push(above, node);
            moved.get_mut(at).into_iter().for_each(|place| *place = context);
            open.extend(below(at).map(|at| (context, at)));
        }
        (tree.finish(), moved)
    }
}
