//! A database of Parceive, opened as an experiment: nothing panics, and contexts and activations
//! keep their promises.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::{Limits, MemorySource};
use parallax_import::{is_experiment_file, open_file};

fuzz_target!(|bytes: &[u8]| {
    let source = MemorySource::shared(bytes);
    if !is_experiment_file(&source) {
        return;
    }
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let Ok(experiment) = open_file(&source, "fuzz.db", &limits) else { return };
    assert_eq!(experiment.contexts.check(), Ok(()));
    let Some(activations) = &experiment.activations else { return };
    let tree = &activations.tree;
    for activation in tree.iter() {
        let below = tree.subtree(activation);
        assert!(below.end <= tree.len());
        assert!(tree.parent(activation).is_none_or(|parent| tree.subtree(parent).end >= below.end));
        assert!(tree.context(activation).idx() < experiment.contexts.len());
        assert!(tree.thread(activation).idx() < activations.threads.len());
        let time = tree.time(activation);
        assert!(time.start_nanos <= time.end_nanos);
    }
    for touch in activations.touches.all() {
        assert!(touch.reference.idx() < activations.references.len());
    }
});
