//! An archive of what a conversion has so far, while it goes on.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::FolderSink;

use super::super::transfers::Transfers;
use super::{Conversion, ConversionError};

impl Conversion {
    /// A conversion that has what this one has and may end otherwise: its archive continues the files
    /// of this one in `sink`, each after the bytes of [`Conversion::lengths`]. This one goes on as if
    /// nothing had happened.
    ///
    /// Costs what is in memory, which does not grow with the number of events, and what is kept for
    /// each batch of them.
    ///
    /// # Errors
    /// When what was written cannot be handed to the storage, or a file cannot be made.
    pub fn fork(&mut self, sink: &Arc<dyn FolderSink>) -> Result<Self, ConversionError> {
        Ok(Self {
            writer: self.writer.fork(Arc::clone(sink))?,
            functions: self.functions.clone(),
            // They are for functions that are added, which all are.
            function_numbers: HashMap::new(),
            contexts: self.contexts.clone(),
            children: self.children.clone(),
            counters: self.counters.clone(),
            identities: self.identities.clone(),
            tracks: self.tracks.clone(),
            touched: self.touched.clone(),
            waiting: self.waiting.clone(),
            all_waiting: self.all_waiting,
            peers: self.peers.clone(),
            peers_at: self.peers_at.clone(),
            maps: self.maps.clone(),
            nodes: self.nodes.clone(),
            leaves: self.leaves.clone(),
            coarser: self.coarser.clone(),
            intervals: self.intervals.clone(),
            arguments: self.arguments.clone(),
            profile: self.profile.clone(),
            ended: self.ended.clone(),
            num_profiled: self.num_profiled,
            num_sums: self.num_sums,
            limits: self.limits,
            matcher: self.matcher.fork(sink),
            sink: Arc::clone(sink),
            transfers: Transfers::clone(&self.transfers),
            collectives: self.collectives.clone(),
            markers: self.markers.clone(),
            values: self.values.clone(),
            full_values: self.full_values.clone(),
            num_values: self.num_values,
            spans: self.spans.clone(),
            components: self.components.clone(),
            formats: self.formats.clone(),
            facts: self.facts.clone(),
            track_facts: self.track_facts.clone(),
            memory_bytes: self.memory_bytes,
            issues: self.issues.clone(),
        })
    }

    /// The files of the archive, and how long they are so far.
    pub fn lengths(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.writer.lengths()
    }
}
