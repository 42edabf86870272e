//! Helpers of the tests of scaling formats.
#![allow(dead_code, reason = "each test file uses its part of the helpers")]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use parallax_base::{Issues, MemorySource};
use parallax_formats::FormatError;
use parallax_formats::scaling_data::{Measurements, ReadOptions, read};

/// The folder of real data; without it the test is skipped.
pub(crate) fn corpus() -> Option<PathBuf> {
    parallax_testkit::needs::corpus()
}

pub(crate) fn read_text(name: &str, text: &[u8]) -> Result<(Measurements, Issues), FormatError> {
    let mut issues = Issues::new();
    let m = read(&MemorySource::new(text), &ReadOptions::new(name), &mut issues)?;
    Ok((m, issues))
}

pub(crate) fn read_whole(path: &Path) -> (Measurements, Issues) {
    let text = std::fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    read_text(name, &text).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

pub(crate) fn has_issue(issues: &Issues, kind: &str) -> bool {
    issues.list().iter().any(|issue| issue.kind == kind)
}

pub(crate) fn kinds(issues: &Issues) -> Vec<&'static str> {
    issues.list().iter().map(|issue| issue.kind).collect()
}

pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let (low, high) = (values.get(n.checked_sub(1)? / 2)?, values.get(n / 2)?);
    Some((low + high) / 2.0)
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// A small generator of random numbers, the same on every machine.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}
