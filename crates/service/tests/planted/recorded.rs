//! Planted programs as tools would have recorded them, opened.

use std::sync::Arc;

use parallax_base::{Folder, MemoryFolder, MemorySink};
use parallax_import::events::{Conversion, TrackIdentity};
use parallax_model::IdentityKind;
use parallax_service::analysis::report::{Finding, FindingKind};
use parallax_service::{Control, OpenExperiment, OpenLimits, open};
use parallax_testkit::hpctoolkit::WriteOptions;
use parallax_testkit::planted::{Event, Executor, Program, Recording};

/// As HPCToolkit records it.
pub(crate) fn sampled(program: &Program, recording: &Recording) -> OpenExperiment {
    let files = program.database(recording).to_files(&WriteOptions::default());
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("planted", files.by_path));
    open(&folder, &OpenLimits::default()).unwrap()
}

/// As a tool that records calls does.
pub(crate) fn called(program: &Program) -> OpenExperiment {
    open(&called_folder(program), &OpenLimits::default()).unwrap()
}

/// As `parallax record` does: when threads had a core, and what they were about to do when they had
/// none.
pub(crate) fn recorded(program: &Program) -> OpenExperiment {
    let folder = folder(&program.clone().with_preemption(), Some("1000"));
    open(&folder, &OpenLimits::default()).unwrap()
}

/// As a tool that records calls does, as a folder.
pub(crate) fn called_folder(program: &Program) -> Arc<dyn Folder> {
    folder(program, None)
}

/// An archive, of samples where a frequency is given.
fn folder(program: &Program, frequency: Option<&str>) -> Arc<dyn Folder> {
    let sink = MemorySink::new();
    let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
    if let Some(frequency) = frequency {
        conversion.fact(parallax_formats::archive::keys::SAMPLED, frequency);
    }
    for track in &program.tracks {
        let mut identity = vec![(IdentityKind::Rank, u64::from(track.place.rank()))];
        match track.place {
            Executor::Thread { thread, .. } => {
                identity.push((IdentityKind::Thread, u64::from(thread)));
            }
            Executor::Stream { .. } => {
                identity.push((IdentityKind::GpuDevice, 0));
                identity.push((IdentityKind::GpuStream, 1));
            }
        }
        let number = conversion.track(TrackIdentity { identity, ..TrackIdentity::default() });
        for event in track.events() {
            match event {
                Event::Enter(nanos, name) => {
                    let group = if name.starts_with("MPI_") { "MPI" } else { "" };
                    let function = conversion.function(&name, group);
                    conversion.builder(number).unwrap().enter(nanos, function);
                }
                Event::Leave(nanos) => conversion.builder(number).unwrap().leave(nanos, None),
            }
        }
    }
    conversion.finish().unwrap();
    Arc::new(sink.into_folder("planted"))
}

/// What `report` finds, the most important first.
pub(crate) fn findings(opened: &OpenExperiment) -> Vec<Finding> {
    opened.diagnose(None, &Control::default()).unwrap().value.findings
}

/// What a finding says can be saved, in seconds; `ranks` share what is said of all of them.
pub(crate) fn saving(finding: &Finding, ranks: usize) -> Option<f64> {
    let number = |name: &str| {
        finding.evidence.iter().find(|one| one.what.starts_with(name)).map(|one| one.value)
    };
    if finding.kind == FindingKind::Caution {
        let clocks = number("functions that compute, el").zip(number("functions that compute, on"));
        let without = clocks.map(|(elapsed, on_core)| elapsed - on_core);
        return without.or_else(|| number("ready to run, without")).map(|lost| lost / ranks as f64);
    }
    if finding.kind == FindingKind::Stall {
        return finding.potential.as_ref().map(|potential| potential.amount);
    }
    let name = match finding.kind {
        FindingKind::IdleGpu => "idle",
        _ => "potential saving",
    };
    number(name)
}
