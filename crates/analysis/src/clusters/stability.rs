//! Whether groups of ranks are groups of nodes: how many nodes have ranks in several of them.

use parallax_base::Control;
use parallax_engine::EngineError;

use super::kmeans::partitions;
use super::points::Points;

/// Numbers of groups that are tried, as in the case study of hpcanalysis.
pub const STABILITY_KS: std::ops::RangeInclusive<usize> = 2..=5;

/// Two groups and the nodes that have members in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedNodes {
    /// The first group.
    pub first: u32,
    /// The other one.
    pub second: u32,
    /// Number of nodes with members in both.
    pub nodes: u64,
}

/// Groups by k-means with one k, and the nodes that they share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stability {
    /// Number of groups.
    pub k: u32,
    /// Members of each group.
    pub members: Vec<u64>,
    /// Nodes with members in each group.
    pub nodes: Vec<u64>,
    /// Pairs of groups that share nodes, ascending; pairs that share none are left out.
    pub shared: Vec<SharedNodes>,
    /// Nodes with members in more than one group.
    pub split_nodes: u64,
}

/// k-means with each k of [`STABILITY_KS`].
pub(super) fn stability(
    points: &Points,
    nodes: &[u32],
    control: &Control,
) -> Result<Vec<Stability>, EngineError> {
    let found = partitions(points, *STABILITY_KS.end(), control)?;
    let usable = found.iter().filter(|one| STABILITY_KS.contains(&one.centres.len()));
    Ok(usable
        .map(|one| {
            let of = points.by_member(&one.of);
            let of: Vec<Option<u32>> = of.into_iter().map(Some).collect();
            shared_nodes(&of, nodes)
        })
        .collect())
}

/// The nodes of each group, and those that groups share. Members in no group do not count.
pub(super) fn shared_nodes(of: &[Option<u32>], nodes: &[u32]) -> Stability {
    let k = of.iter().flatten().max().map_or(0, |most| most + 1);
    let mut members = vec![0_u64; k as usize];
    let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(of.len());
    for (group, &node) in of.iter().zip(nodes) {
        if let Some(group) = *group {
            members[group as usize] += 1;
            pairs.push((node, group));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut by_group = vec![0_u64; k as usize];
    let mut shared: std::collections::BTreeMap<(u32, u32), u64> = std::collections::BTreeMap::new();
    let mut split_nodes = 0;
    for of_node in pairs.chunk_by(|a, b| a.0 == b.0) {
        split_nodes += u64::from(of_node.len() > 1);
        for (at, (_, first)) in of_node.iter().enumerate() {
            by_group[*first as usize] += 1;
            for (_, second) in of_node.iter().skip(at + 1) {
                *shared.entry((*first, *second)).or_default() += 1;
            }
        }
    }
    let shared = shared
        .into_iter()
        .map(|((first, second), nodes)| SharedNodes { first, second, nodes })
        .collect();
    Stability { k, members, nodes: by_group, shared, split_nodes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_several_groups_are_shared() {
        // Node 0 has ranks in groups 0 and 1, node 1 in 1, node 2 in 0, 1 and none.
        let of = [Some(0), Some(1), Some(1), Some(1), Some(0), Some(1), None];
        let found = shared_nodes(&of, &[0, 0, 1, 1, 2, 2, 2]);
        assert_eq!((found.members, found.nodes), (vec![2, 4], vec![2, 3]));
        assert_eq!(found.shared, [SharedNodes { first: 0, second: 1, nodes: 2 }]);
        assert_eq!((found.k, found.split_nodes), (2, 2));
    }
}
