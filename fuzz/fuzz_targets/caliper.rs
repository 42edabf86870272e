//! Caliper: indices of what exists, finite values, and an experiment that keeps its promises.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::{Issues, Limits, MemorySource};
use parallax_formats::caliper::read_caliper;
use parallax_import::open_file;

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let source = MemorySource::shared(bytes);
    if let Ok(profile) = read_caliper(&*source, "run.cali", &limits, &mut Issues::new()) {
        let (nodes, attributes) = (profile.nodes.len(), profile.attributes.len());
        for (at, node) in profile.nodes.iter().enumerate() {
            assert!(node.parent.is_none_or(|above| (above as usize) < at));
            assert!((node.attribute as usize) < attributes);
        }
        for record in &profile.records {
            assert!(record.nodes.iter().all(|node| (*node as usize) < nodes));
            let is_good =
                |(at, value): &(u32, f64)| (*at as usize) < attributes && value.is_finite();
            assert!(record.values.iter().all(is_good));
        }
    }
    if let Ok(experiment) = open_file(&source, "run.cali", &limits) {
        assert_eq!(experiment.contexts.check(), Ok(()));
    }
});
