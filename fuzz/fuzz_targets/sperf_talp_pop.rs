//! SPERF, TALP, POP and tables: finite values, whole references, and the same result however the
//! bytes arrive.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_formats::scaling_data::{ScalingFormat, sniff};
use parallax_fuzz::check_measurements;

/// A name that makes tables be taken for tables.
const NAME: &str = "fuzz.csv";

fuzz_target!(|bytes: &[u8]| {
    if matches!(
        sniff(bytes, NAME),
        Some(
            ScalingFormat::SperfJson
                | ScalingFormat::SperfXml
                | ScalingFormat::SperfCsv
                | ScalingFormat::SperfText
                | ScalingFormat::TalpJson
                | ScalingFormat::PopCsv
                | ScalingFormat::PlainCsv
        )
    ) {
        check_measurements(bytes, NAME);
    }
});
