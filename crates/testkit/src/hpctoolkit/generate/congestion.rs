//! The congestion that was seen in a run of AMG on Aurora with 1,000 nodes of 100 ranks: in one
//! `MPI_Allreduce` 202 nodes in 22 racks, with some chassis whole, are slow.
//!
//! What is planted: `main` takes 3.12 s on a normal node and 5.19 s on a slow one, in the mean over
//! its ranks (both of the paper). All of the difference lies in the `MPI_Allreduce`, whose balance
//! ratio (mean divided by the largest) is 0.39 as in the paper, so that it takes 0.691 s and
//! 2.761 s. Nodes differ from these by up to 2.8 %, ranks of a node by up to 0.2 %; everything else
//! differs by up to 1 % from rank to rank.
//!
//! The run has nodes of 8 to a chassis and 4 chassis to a rack, in the order of their addresses. The
//! first half of the slow racks have two whole chassis that are slow, the others some single nodes.

use super::random::{hash, unit};

/// Seconds of `main` on a normal node.
pub(crate) const NORMAL_TOTAL: f64 = 3.12;
/// What a slow node takes longer.
pub(crate) const DELAY: f64 = 5.19 - 3.12;
/// Seconds of the all-reduce on a normal node: with f for it, mean / largest is
/// (f + 0.202 * 2.07) / ((f + 2.07) * 1.03) = 0.39.
pub(crate) const NORMAL_ALLREDUCE: f64 = 0.6909;
/// By how much nodes, ranks of a node, and everything else differ.
const NODE_NOISE: f64 = 0.028;
const RANK_NOISE: f64 = 0.002;
const OTHER_NOISE: f64 = 0.01;

/// Nodes of the run in a chassis, and chassis in a rack.
const NODES_PER_CHASSIS: u32 = 8;
const CHASSIS_PER_RACK: u32 = 4;
const NODES_PER_RACK: u32 = NODES_PER_CHASSIS * CHASSIS_PER_RACK;

/// Which nodes are slow, as on Aurora. Ranks do not end together then, so there is no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// Number of slow nodes.
    pub nodes: u32,
    /// Number of racks with slow nodes.
    pub racks: u32,
}

impl Default for Congestion {
    fn default() -> Self {
        Self { nodes: 202, racks: 22 }
    }
}

impl Congestion {
    /// What the ranks of a node take in the all-reduce before they differ.
    pub(crate) fn allreduce(is_slow: bool) -> f64 {
        if is_slow { NORMAL_ALLREDUCE + DELAY } else { NORMAL_ALLREDUCE }
    }

    /// By how much the all-reduce of a rank differs from that of its group.
    pub(crate) fn noise(seed: u64, node: u32, rank: u32) -> f64 {
        let node = around(hash(seed, u64::from(node), 0x4e4f_4445));
        let rank = around(hash(seed, u64::from(rank), 0x5241_4e4b));
        1.0 + NODE_NOISE * node + RANK_NOISE * rank
    }

    /// By how much another phase of a rank differs.
    pub(crate) fn other_noise(seed: u64, rank: u32, phase: usize) -> f64 {
        1.0 + OTHER_NOISE * around(hash(seed, u64::from(rank), 0x5048_4153 + phase as u64))
    }

    /// By node: whether it is slow.
    pub(crate) fn slow(self, num_nodes: u32, seed: u64) -> Vec<bool> {
        let mut is_slow = vec![false; num_nodes as usize];
        let mut left = self.nodes.min(num_nodes);
        let num_racks = num_nodes.div_ceil(NODES_PER_RACK);
        let shuffled = |len: u32, salt: u64| {
            let mut order: Vec<u32> = (0..len).collect();
            order.sort_by_key(|&at| (hash(seed, u64::from(at), salt), at));
            order
        };
        // A rack that is not full comes last.
        let mut racks = shuffled(num_racks, 0x5241_434b);
        racks.sort_by_key(|rack| (rack + 1) * NODES_PER_RACK > num_nodes);
        racks.truncate(self.racks.max(1) as usize);
        let (with_whole, others) = racks.split_at(racks.len() / 2);
        for rack in with_whole {
            for chassis in shuffled(CHASSIS_PER_RACK, u64::from(*rack) + 1).into_iter().take(2) {
                let first = rack * NODES_PER_RACK + chassis * NODES_PER_CHASSIS;
                // The other racks have at least one node each.
                if left >= NODES_PER_CHASSIS + others.len() as u32 {
                    (first..first + NODES_PER_CHASSIS).for_each(|n| is_slow[n as usize] = true);
                    left -= NODES_PER_CHASSIS;
                }
            }
        }
        for turn in 0..NODES_PER_RACK as usize {
            for rack in others {
                let order = shuffled(NODES_PER_RACK, u64::from(*rack) + 0x1_0000);
                let node = (rack * NODES_PER_RACK + order[turn]) as usize;
                if left > 0 && node < is_slow.len() && !is_slow[node] {
                    is_slow[node] = true;
                    left -= 1;
                }
            }
        }
        is_slow
    }
}

/// The name of a node of the run on Aurora.
#[must_use]
pub(crate) fn xname(node: u32) -> String {
    let (rack, inside) = (node / NODES_PER_RACK, node % NODES_PER_RACK);
    let (chassis, slot) = (inside / NODES_PER_CHASSIS, inside % NODES_PER_CHASSIS);
    // The other half of each rack runs other jobs.
    let chassis = (rack % 2) + 2 * chassis;
    format!("x{}c{chassis}s{slot}b0n0", 4100 + 100 * (rack / 21) + rack % 21)
}

/// -1 to 1.
fn around(bits: u64) -> f64 {
    2.0 * unit(bits) - 1.0
}
