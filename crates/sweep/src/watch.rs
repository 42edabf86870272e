//! Watching the marks of a program while it runs, for the moment at which it has made enough
//! iterations.
//!
//! The files are those that [`crate::regions`] reads when it has ended. Only what was added since the
//! last look is read, so that a look costs some microseconds on the program's own processors.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use crate::automatic::{Bodies as _, Numbers};
use crate::iterations::IterationRegion;
use crate::regions::{BLOCK, MAGIC, Node, Numbered, PAGE, Part, Parts, read_records};

/// Bytes that are read at once.
const PIECE: usize = 8 << 10;

/// The processes of a program, as far as they have been read.
pub(crate) struct Watch {
    folder: PathBuf,
    region: IterationRegion,
    from: u64,
    files: HashMap<PathBuf, Watched>,
    chosen: Chosen,
}

/// Which regions are iterations.
#[derive(Default)]
struct Chosen {
    known: HashMap<Parts, bool>,
    numbers: Numbers,
    bodies: Numbered,
}

/// The file of a process.
struct Watched {
    file: File,
    blocks: Vec<Block>,
    threads: HashMap<u64, Thread>,
}

/// A piece of the file, of one thread.
#[derive(Default)]
struct Block {
    /// Bytes of it that were read.
    len: usize,
    /// Whether its thread has a later one, and nothing is added.
    is_over: bool,
}

#[derive(Default)]
struct Thread {
    nodes: HashMap<u32, Node>,
    /// The block to which it adds.
    block: usize,
    num_iterations: u64,
}

impl Watch {
    pub(crate) fn new(folder: PathBuf, region: IterationRegion, from: u64) -> Self {
        Self { folder, region, from, files: HashMap::new(), chosen: Chosen::default() }
    }

    /// Whether a thread of each process that has begun an iteration has ended enough of them. What
    /// cannot be read is not there yet.
    pub(crate) fn is_reached(&mut self) -> bool {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        for path in entries.map(|entry| entry.path()) {
            if !self.files.contains_key(&path)
                && let Some(watched) = Watched::open(&path)
            {
                self.files.insert(path, watched);
            }
        }
        let mut is_reached = false;
        for watched in self.files.values_mut() {
            let (region, chosen) = (&self.region, &mut self.chosen);
            watched.read(&mut |path| chosen.is_one(region, path));
            if !watched.has_begun(&mut |path| chosen.is_one(region, path)) {
                continue;
            }
            let most = watched.threads.values().map(|thread| thread.num_iterations).max();
            if most.unwrap_or(0) < self.from {
                return false;
            }
            is_reached = true;
        }
        is_reached
    }
}

impl Chosen {
    fn is_one(&mut self, region: &IterationRegion, path: &Parts) -> bool {
        if let Some(&known) = self.known.get(path) {
            return known;
        }
        if region.needs_bodies() {
            for part in path.iter() {
                if let Part::Body(place) = part
                    && !self.bodies.contains_key(place)
                {
                    let found = self.numbers.number(&[&**place]).into_iter();
                    self.bodies.extend(found.map(|body| (place.clone(), body)));
                }
            }
        }
        let is_one = region.is_of(path, &self.bodies);
        self.known.insert(path.clone(), is_one);
        is_one
    }
}

impl Watched {
    /// `None` while it has no head.
    fn open(path: &std::path::Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let mut head = [0; MAGIC.len()];
        file.read_exact_at(&mut head, 0).ok()?;
        (head == *MAGIC).then(|| Self { file, blocks: Vec::new(), threads: HashMap::new() })
    }

    /// Whether a thread has begun an iteration.
    fn has_begun(&self, is_one: &mut dyn FnMut(&Parts) -> bool) -> bool {
        let mut nodes = self.threads.values().flat_map(|thread| thread.nodes.values());
        nodes.any(|node| is_one(&node.path))
    }

    /// Reads what was added.
    fn read(&mut self, is_one: &mut dyn FnMut(&Parts) -> bool) {
        let len = self.file.metadata().map_or(0, |metadata| metadata.len());
        let behind = usize::try_from(len).unwrap_or(usize::MAX).saturating_sub(PAGE);
        self.blocks.resize_with((behind / BLOCK).max(self.blocks.len()), Block::default);
        let mut left = HashSet::new();
        for at in 0..self.blocks.len() {
            if let Some(before) = self.read_block(at, is_one) {
                left.insert(before);
            }
        }
        // Something may have been added to one after it was read and before its thread left it.
        for at in left {
            self.read_block(at, is_one);
            if let Some(block) = self.blocks.get_mut(at) {
                block.is_over = true;
            }
        }
    }

    /// Reads what was added to a block. The block that its thread has left for this one.
    fn read_block(&mut self, at: usize, is_one: &mut dyn FnMut(&Parts) -> bool) -> Option<usize> {
        let block = self.blocks.get_mut(at).filter(|block| !block.is_over)?;
        let begin = (PAGE + at * BLOCK) as u64;
        let mut left = None;
        let mut piece = vec![0; PIECE];
        loop {
            let room = BLOCK.saturating_sub(8 + block.len).min(PIECE);
            let own = piece.get_mut(..room)?;
            let from = begin + 8 + block.len as u64;
            if room == 0 || self.file.read_exact_at(own, from).is_err() {
                return left;
            }
            // Written before the first record is.
            let mut number = [0; 8];
            self.file.read_exact_at(&mut number, begin).ok()?;
            if own.iter().take(4).all(|&byte| byte == 0) {
                return left;
            }
            let thread = self.threads.entry(u64::from_ne_bytes(number)).or_default();
            if block.len == 0 && thread.block != at && !thread.nodes.is_empty() {
                left = Some(thread.block);
            }
            if block.len == 0 {
                thread.block = at;
            }
            let Thread { nodes, num_iterations, .. } = thread;
            let len = read_records(own, nodes, &mut |node, _| {
                *num_iterations += u64::from(is_one(&node.path));
            });
            if len == 0 {
                return left;
            }
            block.len += len;
        }
    }
}
