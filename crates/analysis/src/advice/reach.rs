//! What an activation touches, with the threads that are started in it.

use std::ops::Range;

use parallax_base::{ActivationIdx, ContextIdx, ThreadIdx};
use parallax_model::{Activations, Touch};

/// Where the activations of threads are, and where they were started.
#[derive(Debug)]
pub(super) struct Reach<'a> {
    pub(super) run: &'a Activations,
    /// Activations that start a thread, ascending, and that thread.
    forks: Vec<(ActivationIdx, ThreadIdx)>,
    /// Roots by thread.
    roots: Vec<Vec<ActivationIdx>>,
    has_addresses: bool,
}

/// Bytes up to which a reference counts as one value that is read and written whole.
pub(super) const VALUE_BYTES: u64 = 8;

/// All bytes, for touches without addresses.
pub(super) const WHOLE: Range<u64> = 0..u64::MAX;

impl<'a> Reach<'a> {
    pub(super) fn new(run: &'a Activations) -> Self {
        let mut roots = vec![Vec::new(); run.threads.len()];
        for root in run.tree.roots() {
            if let Some(list) = roots.get_mut(run.tree.thread(root).idx()) {
                list.push(root);
            }
        }
        let mut forks: Vec<_> = (0..run.threads.len())
            .map(ThreadIdx::from_len)
            .filter_map(|thread| {
                let creator = run.threads.get(thread.idx())?.creator?;
                // A thread that is said to start itself has no known parent.
                let by = creator.site.activation;
                (by.idx() < run.tree.len() && run.tree.thread(by) != thread).then_some((by, thread))
            })
            .collect();
        forks.sort_unstable();
        let has_addresses = run.touches.has_addresses();
        Self { run, forks, roots, has_addresses }
    }

    /// Whether the source has addresses.
    pub(super) const fn has_addresses(&self) -> bool {
        self.has_addresses
    }

    pub(super) fn roots(&self, thread: ThreadIdx) -> &[ActivationIdx] {
        self.roots.get(thread.idx()).map_or(&[], Vec::as_slice)
    }

    /// The activation that started a thread.
    pub(super) fn starter(&self, thread: ThreadIdx) -> Option<ActivationIdx> {
        self.forks.iter().find(|(_, started)| *started == thread).map(|(by, _)| *by)
    }

    /// Positions of the touches of the activation, of everything below it, and of the threads that
    /// are started there, with those that they start.
    pub(super) fn touches(&self, activation: ActivationIdx, mut visit: impl FnMut(usize)) {
        let run = self.run;
        run.touches.range_within(&run.tree, activation).for_each(&mut visit);
        let mut open = self.started_in(activation);
        if open.is_empty() {
            return;
        }
        let mut seen = open.clone();
        while let Some(thread) = open.pop() {
            for &root in self.roots(thread) {
                run.touches.range_within(&run.tree, root).for_each(&mut visit);
                for inner in self.started_in(root) {
                    if !seen.contains(&inner) {
                        seen.push(inner);
                        open.push(inner);
                    }
                }
            }
        }
    }

    /// Positions of the touches of the activation itself.
    pub(super) fn own(&self, activation: ActivationIdx) -> Range<usize> {
        self.run.touches.range_of(activation)
    }

    fn started_in(&self, activation: ActivationIdx) -> Vec<ThreadIdx> {
        let range = self.run.tree.subtree(activation);
        let from = self.forks.partition_point(|(by, _)| by.idx() < range.start);
        let to = self.forks.partition_point(|(by, _)| by.idx() < range.end);
        self.forks.get(from..to).unwrap_or_default().iter().map(|(_, thread)| *thread).collect()
    }

    pub(super) fn touch(&self, position: usize) -> Option<Touch> {
        self.run.touches.get(position)
    }

    pub(super) fn bytes(&self, position: usize) -> Range<u64> {
        self.run.touches.bytes(position).unwrap_or(WHOLE)
    }

    /// Whether a reference is one value, so that a write covers it.
    pub(super) fn is_value(&self, reference: usize) -> bool {
        let size = self.run.references.size_bytes(reference);
        size.is_some_and(|size| (1..=VALUE_BYTES).contains(&size))
    }

    /// The function in whose code a touch is.
    pub(super) fn function(&self, position: usize) -> Option<ContextIdx> {
        let activation = self.run.touches.activation(position);
        let call = self.run.tree.call_of(activation)?;
        Some(self.run.tree.context(call))
    }
}
