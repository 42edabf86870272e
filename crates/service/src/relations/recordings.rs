//! What a recording holds: its activations, what they read and write, and when.

use std::ops::Range;

use parallax_base::{ActivationIdx, ReferenceIdx};
use parallax_model::ActivationKind;
use parallax_protocol::{
    StoredAccessTable, StoredActivationTable, StoredReferenceRow, StoredReferenceTable,
};

use crate::entities::name;
use crate::{OpenExperiment, ServiceError};

impl OpenExperiment {
    /// Number of activations; 0 where there are sums only.
    #[must_use]
    pub fn num_activations(&self) -> usize {
        let activations = self.session.experiment().activations.as_deref();
        activations.map_or(0, |activations| activations.tree.len())
    }

    /// Number of rows of [`OpenExperiment::access_relation`] for all activations.
    #[must_use]
    pub fn num_accesses(&self) -> usize {
        let activations = self.session.experiment().activations.as_deref();
        activations.map_or(0, |activations| activations.touches.len())
    }

    /// The activations at some places in depth-first order.
    ///
    /// # Errors
    /// When there are sums only.
    pub fn activation_relation(
        &self,
        places: Range<usize>,
    ) -> Result<StoredActivationTable, ServiceError> {
        let all = self.activations()?;
        let (tree, contexts) = (&all.tree, self.session.tree());
        let mut table = StoredActivationTable::default();
        for at in places.start..places.end.min(tree.len()) {
            let activation = ActivationIdx::from_len(at);
            let time = tree.time(activation);
            let is_iteration = tree.kind(activation) == ActivationKind::Iteration;
            let last = tree.subtree(activation).end.saturating_sub(1);
            table.activation_id.push(activation.get());
            table.parent_id.push(tree.parent(activation).map(ActivationIdx::get));
            table.kind.push(tree.kind(activation).name());
            table.profile_id.push(all.thread(tree.thread(activation)).location.get());
            table.context_id.push(contexts.source_id(tree.context(activation)));
            table.last_activation_id.push(ActivationIdx::from_len(last).get());
            table.number.push(is_iteration.then(|| tree.number(activation)));
            table.start_ns.push(time.start_nanos);
            table.end_ns.push(time.end_nanos);
            table.is_estimated.push(tree.is_estimated(activation));
        }
        Ok(table)
    }

    /// What the activations at some places in depth-first order read and write.
    ///
    /// # Errors
    /// When there are sums only.
    pub fn access_relation(&self, places: Range<usize>) -> Result<StoredAccessTable, ServiceError> {
        let all = self.activations()?;
        let known = |line: u32| (line > 0).then_some(line);
        let mut table = StoredAccessTable::default();
        for at in places.start..places.end.min(all.tree.len()) {
            let activation = ActivationIdx::from_len(at);
            for touch in all.touches.of(activation) {
                table.activation_id.push(activation.get());
                table.reference_id.push(touch.reference.get());
                table.reads.push(touch.reads);
                table.writes.push(touch.writes);
                table.read_line.push(known(touch.read_line));
                table.write_line.push(known(touch.write_line));
                table.epoch.push(touch.epoch);
            }
        }
        Ok(table)
    }

    /// The variables and allocations of a recording.
    ///
    /// # Errors
    /// When there are sums only.
    pub fn reference_relation(&self) -> Result<StoredReferenceTable, ServiceError> {
        let all = self.activations()?;
        let rows = all.references.iter().enumerate().map(|(at, reference)| StoredReferenceRow {
            reference_id: ReferenceIdx::from_len(at).get(),
            reference: name(&reference),
            storage: reference.storage.name(),
            size_bytes: reference.size_bytes,
            allocated_by_id: reference.allocated.map(|site| site.activation.get()),
            allocated_line: reference.allocated.map(|site| site.line).filter(|&line| line > 0),
            freed_by_id: reference.freed.map(|site| site.activation.get()),
            source_id: reference.source_id,
        });
        Ok(rows.collect())
    }
}
