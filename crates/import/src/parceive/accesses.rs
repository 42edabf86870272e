//! Accesses: who reads and writes what, in which epoch.

use parallax_base::paged::Numbers;
use parallax_base::{ActivationIdx, Limits, ReferenceIdx, Severity, ThreadIdx};
use parallax_formats::FormatError;
use parallax_formats::parceive::{AccessKind, AccessRow, InstructionKind, ParceiveDb};
use parallax_model::{ActivationTree, SyncEvent, TouchesBuilder};

use super::instructions::Instructions;
use super::key_map::KeyMap;
use crate::activations::{Access, Reporter, TouchCollector};

/// How to number what accesses name.
pub(super) struct Numbering<'a> {
    pub(super) tree: &'a ActivationTree,
    pub(super) position: &'a Numbers<ActivationIdx>,
    pub(super) references: &'a KeyMap,
    pub(super) limits: &'a Limits,
}

/// Reads all accesses. `syncs` come with the positions of their instructions as sequence, ascending;
/// they get their places among the accesses and their locks.
pub(super) fn read(
    db: &mut ParceiveDb,
    instructions: &Instructions,
    numbering: &Numbering<'_>,
    syncs: &mut [SyncEvent],
    report: &mut Reporter<'_>,
) -> Result<TouchesBuilder, FormatError> {
    let mut collect = Collect {
        touches: TouchCollector::new(numbering.limits.metadata_bytes, &numbering.tree.paging()),
        last: (u32::MAX, ThreadIdx::new(0)),
        next_sync: 0,
        next_instruction: syncs.first().map_or(u32::MAX, |sync| sync.sequence),
        faults: Faults::default(),
    };
    db.scan(report.issues, |row: AccessRow| {
        collect.access(&row, instructions, numbering, syncs);
    })?;
    // What synchronises after the last access.
    collect.pass(u32::MAX, numbering, syncs);
    let Collect { touches, mut faults, .. } = collect;
    let (touches, num_lost) = touches.finish();
    faults.too_many = num_lost;
    faults.report(report);
    Ok(touches)
}

struct Collect {
    touches: TouchCollector,
    /// The activation that made the access before, and its thread.
    last: (u32, ThreadIdx),
    next_sync: usize,
    /// The instruction of the next synchronisation.
    next_instruction: u32,
    faults: Faults,
}

#[derive(Default)]
struct Faults {
    no_kind: u64,
    no_instruction: u64,
    no_reference: u64,
    too_many: u64,
}

impl Collect {
    fn access(
        &mut self,
        row: &AccessRow,
        instructions: &Instructions,
        numbering: &Numbering<'_>,
        syncs: &mut [SyncEvent],
    ) {
        let Some(instruction) = instructions.position(row.instruction) else {
            self.faults.no_instruction += 1;
            return;
        };
        let found = instructions.get(instruction);
        let Some(activation) = found.activation else {
            self.faults.no_instruction += 1;
            return;
        };
        let Some(reference) = numbering.references.find(row.reference) else {
            self.faults.no_reference += 1;
            return;
        };
        let Some(kind) = row.kind else {
            self.faults.no_kind += 1;
            return;
        };
        if instruction > self.next_instruction {
            self.pass(instruction, numbering, syncs);
        }
        if found.kind == InstructionKind::Acquire || found.kind == InstructionKind::Release {
            let own = syncs.get_mut(self.next_sync..).unwrap_or_default().first_mut();
            if let Some(sync) = own.filter(|sync| sync.sequence == instruction) {
                sync.lock.get_or_insert(ReferenceIdx::new(reference));
            }
        }
        if self.last.0 != activation {
            let position = numbering.position.get(activation as usize);
            let thread = position.map_or(ThreadIdx::new(0), |at| numbering.tree.thread(at));
            self.last = (activation, thread);
        }
        self.touches.add(&Access {
            activation,
            thread: self.last.1,
            reference,
            is_write: kind == AccessKind::Write,
            line: found.line,
            bytes: row.bytes,
        });
    }

    /// Lets threads pass the synchronisations before an instruction.
    fn pass(&mut self, instruction: u32, numbering: &Numbering<'_>, syncs: &mut [SyncEvent]) {
        while let Some(sync) = syncs.get_mut(self.next_sync)
            && (sync.sequence < instruction || instruction == u32::MAX)
        {
            sync.sequence = self.touches.sequence();
            self.touches.next_epoch(numbering.tree.thread(sync.activation));
            self.next_sync += 1;
        }
        self.next_instruction = syncs.get(self.next_sync).map_or(u32::MAX, |sync| sync.sequence);
    }
}

impl Faults {
    fn report(&self, report: &mut Reporter<'_>) {
        report.many(Severity::Warning, "access-unknown", self.no_kind, || {
            "an access is neither a read nor a write; it is omitted".to_owned()
        });
        report.many(Severity::Warning, "access-without-call", self.no_instruction, || {
            "nothing says which call makes an access; it is omitted".to_owned()
        });
        report.many(Severity::Warning, "access-without-reference", self.no_reference, || {
            "an access goes to a variable or allocation that is not in the database; it is omitted"
                .to_owned()
        });
        report.many(Severity::Error, "accesses-lost", self.too_many, || {
            "there are more accesses than can be kept; the last ones are omitted".to_owned()
        });
    }
}
