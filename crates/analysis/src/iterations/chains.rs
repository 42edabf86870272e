//! What has to be known about each context of a tree before candidates are judged, in one pass over
//! the tree: walks from each context would take long where calls are nested deeply.

use std::collections::BTreeMap;

use parallax_base::ContextIdx;
use parallax_model::{ContextKind, ContextTree};

use super::visits::ByContext;

/// Of longer call paths without a branch, so many contexts at both ends are judged on their own.
const ENDS: usize = 32;

/// Call paths without a branch: contexts that have one child and as many visits as it.
pub(super) struct Chains<'a> {
    tree: &'a ContextTree,
    /// For each track and context that has a single child there, the first one below that has none
    /// or several.
    bottoms: Vec<BTreeMap<ContextIdx, ContextIdx>>,
    /// Contexts inside of a long chain, and the context of that chain that stands for them.
    inside: BTreeMap<ContextIdx, ContextIdx>,
}

/// A context and its only child on a track: the child, and whether it has as many visits.
type Only = BTreeMap<ContextIdx, Option<(ContextIdx, bool)>>;

impl<'a> Chains<'a> {
    pub(super) fn new(tree: &'a ContextTree, tracks: &[ByContext]) -> Self {
        let only: Vec<Only> = tracks.iter().map(|track| only_children(tree, track)).collect();
        let bottoms = only.iter().map(bottoms).collect();
        let mut next: BTreeMap<ContextIdx, Option<ContextIdx>> = BTreeMap::new();
        for (track, only) in tracks.iter().zip(&only) {
            for context in track.keys() {
                let child = match only.get(context) {
                    Some(Some((child, true))) => Some(*child),
                    _ => None,
                };
                let known = next.entry(*context).or_insert(child);
                if *known != child {
                    *known = None;
                }
            }
        }
        let mut inside = BTreeMap::new();
        let mut chain: Vec<ContextIdx> = Vec::new();
        // Contexts ascend, so a chain comes from its top to its bottom, one after the other but for
        // contexts without visits.
        for (&context, child) in &next {
            if chain.last().is_some_and(|last| next.get(last) != Some(&Some(context))) {
                represent(&chain, &mut inside);
                chain.clear();
            }
            chain.push(context);
            if child.is_none() {
                represent(&chain, &mut inside);
                chain.clear();
            }
        }
        represent(&chain, &mut inside);
        Self { tree, bottoms, inside }
    }

    /// The context that is judged in place of `context`; itself but inside of long chains.
    pub(super) fn representative(&self, context: ContextIdx) -> ContextIdx {
        self.inside.get(&context).copied().unwrap_or(context)
    }

    /// The contexts that are not judged, each with the one that stands for it.
    pub(super) fn represented(&self) -> impl Iterator<Item = (ContextIdx, ContextIdx)> {
        self.inside.iter().filter(|(own, other)| own != other).map(|(own, other)| (*own, *other))
    }

    /// What the visits of a context may consist of on the `nth` track: its children there, or
    /// what its only child calls where it has only one.
    pub(super) fn parts(
        &self,
        nth: usize,
        track: &ByContext,
        context: ContextIdx,
    ) -> Vec<ContextIdx> {
        let bottom = self.bottoms.get(nth).and_then(|of| of.get(&context)).copied();
        let children = self.tree.children(bottom.unwrap_or(context));
        children.filter(|child| track.contains_key(child)).collect()
    }
}

fn only_children(tree: &ContextTree, track: &ByContext) -> Only {
    let mut out = Only::new();
    for (context, list) in track {
        let Some(parent) = tree.parent(*context) else { continue };
        let is_same = track.get(&parent).is_some_and(|above| above.len() == list.len());
        out.entry(parent).and_modify(|only| *only = None).or_insert(Some((*context, is_same)));
    }
    out
}

fn bottoms(only: &Only) -> BTreeMap<ContextIdx, ContextIdx> {
    let mut out: BTreeMap<ContextIdx, ContextIdx> = BTreeMap::new();
    for (context, child) in only.iter().rev() {
        if let Some((child, _)) = child {
            let bottom = out.get(child).copied().unwrap_or(*child);
            out.insert(*context, bottom);
        }
    }
    out
}

fn represent(chain: &[ContextIdx], inside: &mut BTreeMap<ContextIdx, ContextIdx>) {
    let middle = chain.get(ENDS..chain.len().saturating_sub(ENDS)).unwrap_or_default();
    if let Some(&first) = middle.first() {
        inside.extend(middle.iter().map(|&context| (context, first)));
    }
}

/// The innermost loop around each context, or what called it where there is none.
pub(super) struct Homes {
    of_context: Vec<ContextIdx>,
}

impl Homes {
    pub(super) fn new(tree: &ContextTree) -> Self {
        let root = ContextTree::ROOT;
        let mut loops: Vec<Option<ContextIdx>> = vec![None; tree.len()];
        let mut functions: Vec<Option<ContextIdx>> = vec![None; tree.len()];
        let mut of_context = vec![root; tree.len()];
        for context in tree.iter() {
            let above = tree.parent(context);
            let of = |list: &[Option<ContextIdx>]| {
                above.and_then(|above| list.get(above.idx()).copied().flatten())
            };
            // What lies around a context, itself included, is what its children have above.
            let (around, caller) = (of(&loops), of(&functions));
            let kind = tree.kind(context);
            let own = |wanted| Some(context).filter(|_| kind == wanted);
            let at = context.idx();
            if let (Some(own_loop), Some(function), Some(home)) =
                (loops.get_mut(at), functions.get_mut(at), of_context.get_mut(at))
            {
                *own_loop = own(ContextKind::Loop).or(around);
                *function = own(ContextKind::Function).or(caller);
                *home = around.or(caller).unwrap_or(root);
            }
        }
        Self { of_context }
    }

    /// Of one context.
    pub(super) fn of(&self, context: ContextIdx) -> ContextIdx {
        self.of_context.get(context.idx()).copied().unwrap_or(ContextTree::ROOT)
    }
}
