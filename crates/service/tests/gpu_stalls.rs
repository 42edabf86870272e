//! Stalls of GPU kernels: planted ones are told with their share, and nothing is said of kernels
//! that compute, or of which little was sampled.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::sync::Arc;

use parallax_base::{Folder, MemoryFolder};
use parallax_protocol::{
    CostChoice, FindingKind, FlatRequest, GpuStallsBy, GpuStallsRequest, InfoRequest,
    MetricsRequest, NextAction, ReportRequest,
};
use parallax_service::{Answers as _, Control, OpenExperiment, OpenLimits, open};
use parallax_testkit::gpu_stalls::{
    COMPUTE_BOUND, Device, FEW_SAMPLES, Kernel, MEMORY_BOUND, PERIOD, database,
};
use parallax_testkit::hpctoolkit::WriteOptions;

fn opened(device: Device, kernels: &[Kernel]) -> OpenExperiment {
    let files = database(device, kernels).to_files(&WriteOptions::default());
    let files = files.by_path.into_iter().map(|(path, bytes): (String, Vec<u8>)| (path, bytes));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("planted", files));
    open(&folder, &OpenLimits::default()).unwrap()
}

fn stalls(by: GpuStallsBy) -> GpuStallsRequest {
    GpuStallsRequest { by, ..GpuStallsRequest::default() }
}

#[test]
fn shares_by_kernel_line_and_instruction_are_the_planted_ones() {
    let opened = opened(Device::Nvidia, &MEMORY_BOUND);
    let answer = opened.answer(&stalls(GpuStallsBy::Kernel), &Control::new()).unwrap();
    let (reply, rows) = (answer.reply, answer.tables.rows);
    assert_eq!(rows.kernel, ["gather", "scale"]);
    assert_eq!(rows.cycles, [8000.0 * PERIOD, 2000.0 * PERIOD]);
    assert_eq!(rows.cycles_percent, [80.0, 20.0]);
    assert_eq!(rows.samples, [Some(8000.0), Some(2000.0)]);
    assert_eq!(rows.kernel_s, [Some(8.0), Some(2.0)]);
    // 5,200 of 8,000 wait for memory and 400 for operands; the hidden ones count as issued.
    assert_eq!(rows.exposed_percent, [Some(70.0), Some(15.0)]);
    assert_eq!(rows.issue_percent, [Some(30.0), Some(85.0)]);
    assert_eq!(rows.hidden_percent, [None, None]);
    assert_eq!(rows.reason, [Some("global memory"), Some("global memory")]);
    assert_eq!(rows.reason_percent, [Some(65.0), Some(5.0)]);
    assert_eq!((reply.samples, reply.kernel_s), (Some(10_000.0), Some(10.0)));
    assert_eq!(reply.exposed_percent, Some(59.0));
    assert!(reply.notes[0].starts_with("Hidden stalls count as issued"), "{:?}", reply.notes);
    let reasons = answer.tables.reasons;
    assert_eq!(reasons.reason, ["global memory", "execution dependency", "pipeline busy"]);
    assert_eq!(reasons.group, ["memory", "dependency", "compute"]);
    assert_eq!(reasons.cycles_percent, [53.0, 5.0, 1.0]);
    assert!(reasons.meaning.iter().chain(&reasons.remedy).all(|text| text.ends_with('.')));
    let parts = answer.tables.stalls;
    assert_eq!(parts.row, [0, 0, 1, 1, 1]);

    let answer = opened.answer(&stalls(GpuStallsBy::Line), &Control::new()).unwrap();
    let rows = answer.tables.rows;
    assert_eq!(rows.line, [Some(14), Some(5), Some(12)]);
    assert_eq!(rows.function, ["gather", "scale", "gather"]);
    assert!(rows.file[0].ends_with("gather.cu"), "{:?}", rows.file);
    assert_eq!(rows.cycles[0], 6700.0 * PERIOD);
    let answer = opened.answer(&stalls(GpuStallsBy::Instruction), &Control::new()).unwrap();
    let rows = answer.tables.rows;
    assert_eq!(rows.instruction, ["0123.gpubin+0xe0", "0123.gpubin+0x50", "0123.gpubin+0xc0"]);
    assert_eq!(rows.cycles[0], 6700.0 * PERIOD);
    let answer = opened.answer(&stalls(GpuStallsBy::Function), &Control::new()).unwrap();
    assert_eq!(answer.tables.rows.function, ["gather", "scale"]);
}

#[test]
fn devices_that_tell_hidden_stalls_have_them_apart() {
    for (device, reason) in [(Device::Amd, "memory"), (Device::Intel, "memory")] {
        let opened = opened(device, &MEMORY_BOUND);
        let answer = opened.answer(&stalls(GpuStallsBy::Kernel), &Control::new()).unwrap();
        let rows = answer.tables.rows;
        // 2,100 issued and 300 hidden of 8,000.
        assert_eq!(rows.issue_percent[0], Some(26.25), "{device:?}");
        assert_eq!(rows.hidden_percent[0], Some(3.75), "{device:?}");
        assert_eq!(rows.exposed_percent[0], Some(70.0), "{device:?}");
        assert_eq!(rows.reason[0], Some(reason), "{device:?}");
    }
    // Software sampling tells where, and not why.
    let opened = opened(Device::AmdSoftware, &MEMORY_BOUND);
    let answer = opened.answer(&stalls(GpuStallsBy::Kernel), &Control::new()).unwrap();
    assert_eq!(answer.tables.rows.cycles_percent, [80.0, 20.0]);
    assert_eq!(answer.tables.rows.exposed_percent, [None, None]);
    assert_eq!(answer.tables.rows.issue_percent, [None, None]);
    assert!(answer.reply.notes[0].starts_with("Only cycles were recorded"));
}

#[test]
fn one_kernel_may_be_asked_for() {
    let opened = opened(Device::Nvidia, &MEMORY_BOUND);
    let ask = |kernel: &str| {
        let request = GpuStallsRequest { kernel: Some(kernel.into()), ..Default::default() };
        opened.answer(&request, &Control::new())
    };
    let answer = ask("scal*").unwrap();
    assert_eq!(answer.tables.rows.kernel, ["scale"]);
    assert_eq!(answer.tables.rows.cycles_percent, [100.0]);
    assert_eq!(answer.reply.samples, Some(2000.0));
    let error = ask("gater").unwrap_err().to_string();
    assert!(error.contains("no kernel is called gater"), "{error}");
}

#[test]
fn a_kernel_that_waits_for_memory_is_found_first_with_its_share() {
    for device in [Device::Nvidia, Device::Amd, Device::Intel] {
        let opened = opened(device, &MEMORY_BOUND);
        let report = opened.answer(&ReportRequest::default(), &Control::new()).unwrap().reply;
        let first = &report.findings[0];
        assert_eq!(first.kind, FindingKind::GpuStalls, "{device:?}: {:?}", report.findings);
        assert_eq!(first.action, NextAction::GpuStalls);
        let number = |what: &str| {
            let found = first.evidence.iter().find(|evidence| evidence.what.starts_with(what));
            found.unwrap_or_else(|| panic!("{what} in {:?}", first.evidence)).value
        };
        // Planted: 65 % of the cycles of a kernel of 8 s, in a run of 10.505 s.
        assert!((number("exposed") - 65.0).abs() < 65.0 * 0.05);
        assert!((number("potential saving") - 5.2).abs() < 5.2 * 0.05);
        assert!((first.percent - 5.2 / 10.505 * 100.0).abs() < 2.5, "{}", first.percent);
        assert!(first.text.starts_with("Kernel gather is bound by"), "{}", first.text);
        assert!(first.text.contains("96 % of them at gather.cu:14"), "{}", first.text);
        let potential = first.potential.as_ref().unwrap();
        assert!((potential.amount - 5.2).abs() < 5.2 * 0.05, "{potential:?}");
        let stalls = report.findings.iter().filter(|one| one.kind == FindingKind::GpuStalls);
        assert_eq!(stalls.count(), 1, "{:?}", report.findings);
    }
}

#[test]
fn a_kernel_that_computes_or_was_hardly_sampled_is_not_said_to_stall() {
    for (device, kernels) in [
        (Device::Nvidia, &COMPUTE_BOUND[..]),
        (Device::Amd, &COMPUTE_BOUND[..]),
        (Device::Intel, &COMPUTE_BOUND[..]),
        (Device::AmdSoftware, &MEMORY_BOUND[..]),
        (Device::Nvidia, &FEW_SAMPLES[..]),
    ] {
        let opened = opened(device, kernels);
        let report = opened.answer(&ReportRequest::default(), &Control::new()).unwrap().reply;
        let stalls = report.findings.iter().find(|one| one.kind == FindingKind::GpuStalls);
        assert_eq!(stalls, None, "{device:?}");
        let is_told = report.notes.iter().any(|note| note.contains("too few for a finding"));
        assert_eq!(is_told, kernels.len() == 1, "{:?}", report.notes);
    }
}

#[test]
fn a_database_without_samples_of_instructions_says_how_to_get_them() {
    let drawn = parallax_testkit::drawn::draw("CPUTIME (sec)", "main 1.0");
    let files = drawn.to_files(&WriteOptions::default()).by_path.into_iter();
    let files = files.map(|(path, bytes): (String, Vec<u8>)| (path, bytes));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("drawn", files));
    let opened = open(&folder, &OpenLimits::default()).unwrap();
    let error = opened.answer(&stalls(GpuStallsBy::Kernel), &Control::new()).unwrap_err();
    assert!(error.to_string().contains("no samples of GPU instructions"), "{error}");
}

#[test]
fn metrics_that_the_database_computes_are_listed_and_evaluated() {
    let opened = opened(Device::Nvidia, &MEMORY_BOUND);
    let info = opened.answer(&InfoRequest::default(), &Control::new()).unwrap().reply;
    let used = info.metric_list.iter().find(|metric| metric.name == "GSAMP:UTIL").unwrap();
    assert_eq!(used.unit, "%");
    assert_eq!(used.total, Some(80.0));
    assert_eq!(used.formula.as_deref(), Some("=100 * (${\"GSAMP:TOT\"} / ${\"GSAMP:EXP\"})"));
    assert_eq!(used.description, "GPU utilization computed using PC sampling");
    let measured = info.metric_list.iter().filter(|metric| metric.formula.is_none()).count();
    assert_eq!(info.metrics as usize, measured);
    let listed = opened.answer(&MetricsRequest::default(), &Control::new()).unwrap().reply;
    assert!(listed.metrics.iter().any(|metric| metric.name == "GSAMP:UTIL"));
    // By its name, wherever a metric is asked for.
    let cost = CostChoice { metric: Some("gsamp:util".into()), ..CostChoice::default() };
    let flat = opened.answer(&FlatRequest { cost, ..Default::default() }, &Control::new()).unwrap();
    assert_eq!(
        (flat.reply.cost.metric.as_str(), flat.reply.cost.unit.as_str()),
        ("GSAMP:UTIL", "%")
    );
    assert_eq!(flat.reply.cost.total, 80.0);
}

/// What the page's tests open is what the generator writes. With `PARALLAX_BLESS` set, the files are
/// written instead.
#[test]
fn the_fixture_is_up_to_date() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/gpu-stalls");
    let folder = std::path::Path::new(folder);
    let options = WriteOptions { traces: false, ..WriteOptions::default() };
    let files = database(Device::Nvidia, &MEMORY_BOUND).to_files(&options);
    if std::env::var_os("PARALLAX_BLESS").is_some() {
        files.write_to(folder).unwrap();
    }
    for (path, bytes) in &files.by_path {
        let stored = std::fs::read(folder.join(path)).unwrap_or_default();
        assert!(&stored == bytes, "{path} differs; `cargo xtask bless` writes it");
    }
}
