//! PaScal JSON, of the Analyzer and of the 2018 viewer: finite values, whole references, and the
//! same result however the bytes arrive and in however many parts they are read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_formats::scaling_data::{ScalingFormat, sniff};
use parallax_fuzz::{check_measurements, check_parts};

/// A name that makes tables be taken for tables.
const NAME: &str = "fuzz.json";

fuzz_target!(|bytes: &[u8]| {
    if matches!(
        sniff(bytes, NAME),
        Some(ScalingFormat::PascalAnalyzer | ScalingFormat::PascalViewer2018)
    ) {
        check_measurements(bytes, NAME);
        check_parts(bytes, NAME);
    }
});
