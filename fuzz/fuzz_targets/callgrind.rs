//! A profile of Callgrind or Cachegrind: rows of what exists, and an experiment that keeps its promises.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_base::{Issues, Limits, MemorySource};
use parallax_formats::callgrind::{CallgrindProfile, Spot, is_callgrind, read_callgrind};
use parallax_import::open_file;

fn is_known(read: &CallgrindProfile, spot: &Spot) -> bool {
    (spot.function as usize) < read.functions.len()
        && spot.file.is_none_or(|file| (file as usize) < read.files.len())
}

fuzz_target!(|bytes: &[u8]| {
    let source = MemorySource::shared(bytes);
    if !is_callgrind(&*source) {
        return;
    }
    let limits = Limits { metadata_bytes: 64 << 20, ..Limits::default() };
    let name = "callgrind.out.1";
    if let Ok(read) = read_callgrind(&*source, name, &limits, &mut Issues::new()) {
        for function in &read.functions {
            assert!((function.name as usize) < read.names.len());
            assert!(function.object.is_none_or(|at| (at as usize) < read.objects.len()));
            assert!(function.file.is_none_or(|at| (at as usize) < read.files.len()));
        }
        for part in &read.parts {
            assert!(part.costs.iter().all(|row| is_known(&read, &row.spot)));
            for call in &part.calls {
                assert!(is_known(&read, &call.from));
                assert!((call.callee as usize) < read.functions.len());
            }
        }
    }
    if let Ok(experiment) = open_file(&source, name, &limits) {
        assert_eq!(experiment.contexts.check(), Ok(()));
    }
});
