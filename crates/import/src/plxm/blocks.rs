//! Loops of a program without marks, from the blocks of straight code that it went through.

use std::collections::HashMap;

use parallax_formats::plxm::{PlaceKind, Recording, SourceLocation, What};

use crate::flow::{FlowGraph, FlowLoops, NONE};

/// Which function each function and block is of; equal numbers are the same function.
#[derive(Debug, Default)]
pub(super) struct Functions {
    of: Vec<u32>,
}

impl Functions {
    pub(super) fn new(recording: &Recording) -> Self {
        let mut numbers = HashMap::new();
        let mut of = |place: &SourceLocation| {
            let is_code = matches!(place.kind, PlaceKind::Function | PlaceKind::Block);
            // The name of a function is an address as long as there is none.
            if !is_code || place.function.starts_with("0x") {
                return NONE;
            }
            let next = u32::try_from(numbers.len()).unwrap_or(NONE);
            *numbers.entry(place.function.clone()).or_insert(next)
        };
        let places = (0..recording.num_places()).map(|number| recording.place(number));
        Self { of: places.map(|place| place.map_or(NONE, &mut of)).collect() }
    }

    /// Whether a block may be one of a function: their names are the same, or unknown.
    pub(super) fn is_in(&self, block: u32, function: u32) -> bool {
        let of = |place: u32| self.of.get(place as usize).copied().filter(|&of| of != NONE);
        of(block).is_none() || of(function).is_none() || of(block) == of(function)
    }
}

/// A call that is open while the graph is collected.
struct Open {
    depth: u32,
    place: u32,
    last: u32,
}

/// Goes along with the events of one thread.
#[derive(Default)]
pub(super) struct FlowWalker {
    open: Vec<Open>,
}

impl FlowWalker {
    pub(super) fn take(&mut self, what: &What, functions: &Functions, graph: &mut FlowGraph) {
        let (What::Call { depth, .. }
        | What::Loop { depth, .. }
        | What::Iteration { depth }
        | What::Leave { depth }
        | What::Block { depth, .. }) = *what
        else {
            return;
        };
        while self.open.pop_if(|open| open.depth >= depth).is_some() {}
        match *what {
            What::Call { place, depth } => self.open.push(Open { depth, place, last: NONE }),
            What::Block { place, depth } => {
                if let Some(open) = self.open.last_mut()
                    && open.depth + 1 == depth
                    && functions.is_in(place, open.place)
                {
                    graph.add(open.last, place);
                    open.last = place;
                }
            }
            _ => {}
        }
    }
}

/// The loops of a graph whose blocks are places of a recording.
pub(super) fn find_loops(graph: &FlowGraph, recording: &Recording) -> FlowLoops {
    let line = |block: u32| {
        let place = recording.place(block)?;
        (place.line > 0).then_some((place.inline_depth, place.line))
    };
    FlowLoops::find(graph, &line)
}
