//! The congestion of the paper on AMG, planted: it is found, grouped, and mapped to racks.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use parallax_native::DiskFolder;
use parallax_protocol::{
    BalanceBy, ClusterChoice, ClusterMethod, NodeNames, TextFile, TopologyRequest,
};
use parallax_service::analysis::topology::{Level, Spread};
use parallax_service::{Control, OpenExperiment, OpenLimits, node_names, open};
use parallax_testkit::hpctoolkit::generate::{
    Congestion, GenerateOptions, Phase, Planted, generate,
};

fn planted(dir: &Path, seed: u64) -> Planted {
    let options = GenerateOptions {
        ranks: 400,
        ranks_per_node: 4,
        contexts: 300,
        values_per_rank: 90,
        iterations: 1,
        imbalance: None,
        trace: false,
        elided: false,
        seed,
        congestion: Some(Congestion { nodes: 20, racks: 3 }),
        ..GenerateOptions::default()
    };
    generate(dir, &options, |_, _, _| ()).unwrap()
}

fn opened(dir: &Path) -> OpenExperiment {
    let folder = DiskFolder::new(dir);
    open(&(Arc::new(folder) as _), &OpenLimits::default()).unwrap()
}

#[test]
fn slow_nodes_of_amg_are_found_without_being_told_where_to_look() {
    let dir = tempfile::tempdir().unwrap();
    let planted = planted(dir.path(), 1);
    let slow = planted.slow_nodes.as_ref().unwrap();
    let hosts: BTreeSet<u64> =
        slow.nodes.iter().map(|&node| u64::from(Planted::host_id(node))).collect();
    assert_eq!(hosts.len(), 20);
    let opened = opened(dir.path());
    for method in [ClusterMethod::Dbscan, ClusterMethod::KMeans] {
        let request = ClusterChoice { method, ..ClusterChoice::default() };
        let found = opened.clusters(&request, &Control::default()).unwrap().value;
        assert_eq!(found.clusters.sizes, [320, 80], "{:?}", found.findings);
        for (member, group) in found.measured.members.iter().zip(&found.clusters.groups) {
            let is_slow = hosts.contains(&member.node.unwrap());
            assert_eq!(*group, Some(u32::from(is_slow)));
        }
        let best = &found.clusters.effects[0];
        let allreduce = planted.phases.iter().find(|p| p.phase == Phase::SetupAllreduce).unwrap();
        let context = found.measured.contexts[best.feature];
        assert_eq!(opened.session().tree().source_id(context), allreduce.context_id);
        assert!((best.groups[0].mean - slow.normal_seconds).abs() < 0.01);
        assert!((best.groups[1].mean - slow.slow_seconds).abs() < 0.03);
        // The whole execution: 3.12 s against 5.19 s, as in the paper.
        let whole = found
            .clusters
            .effects
            .iter()
            .find(|e| !found.measured.features.columns[e.feature].is_used);
        let means: Vec<f64> = whole.unwrap().groups.iter().map(|group| group.mean).collect();
        assert!((means[0] - 3.12).abs() < 0.02 && (means[1] - 5.19).abs() < 0.04, "{means:?}");
        let text = found.findings.join("\n");
        for part in [
            "2 clusters: 320 locations on 80 nodes; 80 locations on 20 nodes; no node is in more",
            "balance ratio 0.39",
            "main > hypre_GMRESSetup > hypre_BoomerAMGSetup > \
             hypre_ParCSRMatrixSetNumNonzeros_core > MPI_Allreduce",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
    let by_node = ClusterChoice { by: BalanceBy::Node, ..ClusterChoice::default() };
    let found = opened.clusters(&by_node, &Control::default()).unwrap().value;
    assert_eq!(found.clusters.sizes, [80, 20]);
    assert_eq!(found.measured.members[0].num_locations, 4);
}

#[test]
fn slow_nodes_are_mapped_to_racks_and_whole_chassis() {
    let dir = tempfile::tempdir().unwrap();
    let planted = planted(dir.path(), 2);
    let slow = &planted.slow_nodes.as_ref().unwrap().nodes;
    let names: BTreeSet<String> = slow.iter().map(|&node| Planted::xname(node)).collect();
    let racks: BTreeSet<&str> = names.iter().filter_map(|name| name.split('c').next()).collect();
    let opened = opened(dir.path());
    let table = TextFile { name: "hosts.csv".into(), text: planted.hosts_csv() };
    // The same nodes by their addresses.
    let mut text = String::new();
    for node in 0..100 {
        let id = Planted::host_id(node);
        let address = parallax_service::analysis::topology::address_of(id);
        text.push_str(&format!("{address} nid{node:05} {}-hsn0\n", Planted::xname(node)));
    }
    let etc = TextFile { name: "hosts".into(), text };
    for hosts in [vec![table], vec![etc]] {
        let request =
            TopologyRequest { hosts, system: NodeNames::Aurora, ..TopologyRequest::default() };
        let found = opened.topology(&request, &Control::default()).unwrap().value;
        let told = &found.clusters.findings;
        assert_eq!(
            found.findings.get(..told.len()),
            Some(&told[..]),
            "all findings of the clusters"
        );
        let in_group: BTreeSet<String> = found
            .nodes
            .iter()
            .filter(|node| node.group == Some(1))
            .filter_map(|node| node.located.name.as_deref())
            .map(|name| name.split('-').next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(in_group, names);
        let (group, levels) = &found.concentrations[0];
        let level = |level: Level| levels.iter().find(|one| one.level == level);
        // A rack of Aurora is a group: it is said once.
        assert!(level(Level::Rack).is_none());
        let by_rack = level(Level::Group).unwrap();
        assert_eq!((*group, by_rack.touched, by_rack.marked), (1, racks.len() as u64, 20));
        let by_chassis = level(Level::Chassis).unwrap();
        assert_eq!((by_chassis.whole, by_chassis.spread), (2, Spread::Together));
        assert_eq!(found.map.shelves.len(), 4);
        let drawn = found.map.shelves.iter().flat_map(|shelf| &shelf.rows);
        assert_eq!(drawn.flat_map(|row| row.cells.iter().flatten()).count(), 100);
        let text = found.findings.join("\n");
        assert!(text.contains("; all nodes of 2 chassis"), "{text}");
    }
}

#[test]
fn wrong_tables_and_systems_are_named() {
    let dir = tempfile::tempdir().unwrap();
    planted(dir.path(), 3);
    let opened = opened(dir.path());
    let ask = |request: &TopologyRequest| opened.topology(request, &Control::default());
    let hosts = vec![TextFile { name: "h.csv".into(), text: "hostid,xname\nzz,a\n".into() }];
    let error = ask(&TopologyRequest { hosts, ..TopologyRequest::default() }).unwrap_err();
    assert!(error.to_string().starts_with("h.csv, line 2: "), "{error}");
    assert!(error.is_misuse());
    assert_eq!(node_names("Aurora").unwrap(), NodeNames::Aurora);
    let error = node_names("aurorra").unwrap_err();
    assert!(error.is_misuse() && error.to_string().contains("aurora, frontier"), "{error}");
    // Without a table there are addresses, and a note that says what to do.
    let answer = ask(&TopologyRequest::default()).unwrap();
    assert_eq!(answer.value.map.unplaced.len(), 100);
    assert!(answer.notes.iter().any(|note| note.contains("No host table was given")));
}
