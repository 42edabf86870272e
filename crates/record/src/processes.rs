//! What is mapped in each process, and from there who called whom.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use framehop::{
    CacheNative, FrameAddress, MayAllocateDuringUnwind, Module, Unwinder as _, UnwinderNative,
};

use crate::events::{Map, Sample};
use crate::generated::Generated;
use crate::images::{Images, VDSO};
use crate::registers::{interrupted, python_caller};

/// Most callers that are looked for: a damaged stack may be a circle.
const MAX_DEPTH: usize = 10_000;

/// A place in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// The image; `None` for code that no file is known of.
    pub(crate) image: Option<u32>,
    /// Address in the file, or in memory where there is none. That of a call, not of what follows.
    pub(crate) address: u64,
}

type Unwinder = UnwinderNative<Arc<[u8]>, MayAllocateDuringUnwind>;

#[derive(Clone, Default)]
struct Process {
    unwinder: Unwinder,
    /// By start.
    mapped: BTreeMap<u64, Mapped>,
}

#[derive(Debug, Clone, Copy)]
struct Mapped {
    end: u64,
    image: u32,
    bias: u64,
}

/// All processes of a recording.
#[derive(Default)]
pub(crate) struct Processes {
    processes: HashMap<u32, Process>,
    cache: CacheNative<MayAllocateDuringUnwind>,
    /// Whether handlers of signals return to a place, for all to which something returned.
    signal_returns: HashMap<Place, bool>,
}

impl Processes {
    /// Code was mapped.
    pub(crate) fn map(&mut self, pid: u32, map: &Map, images: &mut Images) {
        let process = self.processes.entry(pid).or_default();
        let end = map.start.saturating_add(map.len);
        process.unmap(map.start, end);
        if !map.path.starts_with('/') && map.path != VDSO || map.path.starts_with("//") {
            // Memory in which a program makes code: there is nothing to read.
            return;
        }
        let image = images.at(&map.path);
        let Some(known) = images.get(image) else { return };
        let bias = known.bias(map.start, map.offset);
        process.mapped.insert(map.start, Mapped { end, image, bias });
        let module = Module::new(known.name.clone(), map.start..end, bias, known.unwinding());
        process.unwinder.add_module(module);
    }

    /// A process became another program: nothing of what was mapped is there any more.
    pub(crate) fn forget(&mut self, pid: u32) {
        self.processes.remove(&pid);
    }

    /// A process was copied.
    pub(crate) fn copy(&mut self, from: u32, to: u32) {
        if let Some(process) = self.processes.get(&from).cloned() {
            self.processes.insert(to, process);
        }
    }

    /// What is at an address.
    pub(crate) fn place(&self, pid: u32, address: u64) -> Place {
        let nothing = Place { image: None, address };
        self.processes.get(&pid).map_or(nothing, |process| process.mapped_at(address))
    }

    /// Where the thread was, and from where each function was called; the innermost first. Whether
    /// this reaches to the start of the thread, as far as can be told.
    pub(crate) fn callers(
        &mut self,
        pid: u32,
        sample: &Sample,
        (images, generated): (&Images, &mut Generated),
        into: &mut Vec<Place>,
    ) -> bool {
        into.clear();
        let Some(registers) = sample.registers else { return true };
        let process = self.processes.entry(pid).or_default();
        let end = registers.stack();
        let mut is_outside = false;
        let mut read = |address: u64| {
            let at = address.checked_sub(end).and_then(|at| usize::try_from(at).ok());
            let bytes = at.and_then(|at| sample.stack.get(at..at.checked_add(8)?));
            let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
            is_outside |= bytes.is_none();
            bytes.map(u64::from_ne_bytes).ok_or(())
        };
        let known = &mut self.signal_returns;
        let mut is_signal_return = |place: Place| {
            let Some(image) = place.image.and_then(|number| images.get(number)) else {
                return false;
            };
            *known.entry(place).or_insert_with(|| image.is_signal_return(place.address))
        };
        let mut native = registers.native();
        let mut at = FrameAddress::from_instruction_pointer(registers.instruction());
        while into.len() < MAX_DEPTH {
            if at.is_return_address() && is_signal_return(process.mapped_at(at.address())) {
                // What a signal interrupted goes on where the kernel kept its registers.
                let Some((instruction, kept)) = interrupted(native.sp(), &mut read) else { break };
                native = kept;
                at = FrameAddress::from_instruction_pointer(instruction);
                continue;
            }
            let place = process.mapped_at(at.address_for_lookup());
            into.push(place);
            if at.is_return_address()
                && place.image.is_none()
                && generated.is_python(pid, place.address)
                && let Some((caller, before)) = python_caller(&native, &mut read)
                && process.mapped_at(caller.wrapping_sub(1)).image.is_some()
                && let Some(caller) = FrameAddress::from_return_address(caller)
            {
                (at, native) = (caller, before);
                continue;
            }
            let caller = process.unwinder.unwind_frame(at, &mut native, &mut self.cache, &mut read);
            let Ok(Some(caller)) = caller else { break };
            let Some(caller) = FrameAddress::from_return_address(caller) else { break };
            at = caller;
        }
        !(sample.is_cut && is_outside)
    }
}

impl Process {
    /// What lies between is not there any more: the kernel does not say when it is taken away.
    fn unmap(&mut self, start: u64, end: u64) {
        let over = self.mapped.range(..end).filter(|(_, mapped)| mapped.end > start);
        let over: Vec<u64> = over.map(|(start, _)| *start).collect();
        for start in over {
            self.mapped.remove(&start);
            self.unwinder.remove_module(start);
        }
    }

    fn mapped_at(&self, address: u64) -> Place {
        let mapped = self.mapped.range(..=address).next_back().map(|(_, mapped)| *mapped);
        match mapped.filter(|mapped| address < mapped.end) {
            Some(Mapped { image, bias, .. }) => {
                Place { image: Some(image), address: address.wrapping_sub(bias) }
            }
            None => Place { image: None, address },
        }
    }
}
