//! Extra-P text, JSON, JSON Lines, Talpas and experiments: finite values, whole references, and the
//! same result however the bytes arrive.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_formats::scaling_data::{ScalingFormat, sniff};
use parallax_fuzz::check_measurements;

/// A name that makes tables be taken for tables.
const NAME: &str = "fuzz.txt";

fuzz_target!(|bytes: &[u8]| {
    if matches!(
        sniff(bytes, NAME),
        Some(
            ScalingFormat::ExtrapText
                | ScalingFormat::ExtrapJson
                | ScalingFormat::ExtrapJsonLines
                | ScalingFormat::ExtrapTalpas
                | ScalingFormat::ExtrapExperiment
        )
    ) {
        check_measurements(bytes, NAME);
    }
});
