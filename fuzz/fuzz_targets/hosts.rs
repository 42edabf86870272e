//! Host tables and descriptions of systems: an answer or an error, in bounded memory.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_formats::hosts::{read, read_system};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(file) = read(bytes, "fuzz") {
        for host in &file.hosts {
            let is_named = !host.names.is_empty() || !host.addresses.is_empty();
            assert!(is_named || host.host_id.is_some(), "a host that nothing leads to");
        }
    }
    let _ = read_system(bytes, "fuzz");
});
