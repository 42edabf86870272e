//! [`FORMATS`]: the table itself.

use parallax_formats::hpctoolkit::{self as hpctoolkit_files, FileKind, Recognised};
use parallax_formats::json_trace::JsonTraceFormat;
use parallax_formats::scaling_data::ScalingFormat;
use parallax_formats::{
    archive, caliper as caliper_files, foreign, nsight, otf2, tau as tau_files,
};

use super::probe::split;
use super::{Extent, Format, Kind, Probe, Reader};
use crate::{caliper, callgrind, convert, hpctoolkit, parceive, plxm, tau};

/// What most formats have: no usual names, no files that belong to others, nothing that is a trace.
const PLAIN: Format = Format {
    name: "",
    family: "",
    versions: "",
    kind: Kind::Profile,
    files: "one file",
    state: "",
    notes: "",
    usual_place: |_| None,
    served_names: &[],
    part_endings: &[],
    trace_files: &[],
    recognise: |_| None,
    reader: Reader::Measurements,
};

const STREAMED: &str = "streamed: memory follows regions and runs";
const CONVERTED: &str = "converted into an archive: small files each time, others once";
const WHOLE: &str = "read whole";
const NOT_READ: &str = "recognised and named, not read";

const fn measurements(name: &'static str, family: &'static str) -> Format {
    Format { name, family, kind: Kind::Measurements, state: STREAMED, ..PLAIN }
}

/// All formats, in the order in which files are recognised and texts name them.
///
/// Formats that look alike stand in the order of how much their bytes tell: tables, of which anything
/// with columns may be one, come last.
pub static FORMATS: &[Format] = &[
    Format {
        name: "HPCToolkit database",
        family: "HPCToolkit",
        versions: "4.0 as written since 2022-09, and the draft of mid-2022",
        files: "a folder with `meta.db`, `profile.db`, `cct.db` and `trace.db`",
        state: "read in place",
        notes: "samples instead of calls, so `stats` knows no calls, and there are no messages",
        usual_place: |path| {
            let (place, name) = split(path);
            FileKind::ALL.iter().any(|kind| kind.file_name() == name).then_some(place)
        },
        served_names: &["meta.db", "profile.db", "cct.db", "trace.db"],
        trace_files: &["trace.db"],
        recognise: |probe| match hpctoolkit_files::recognise(probe.head()) {
            Recognised::V4(_) => Some(Extent::Folder(probe.place().to_owned())),
            _ => None,
        },
        reader: Reader::Folder(hpctoolkit::open_folder),
        ..PLAIN
    },
    Format {
        name: "HPCToolkit before version 4",
        family: "HPCToolkit",
        versions: "`experiment.xml`, `HPCPROF-*`, and raw measurements",
        state: NOT_READ,
        recognise: |probe| match hpctoolkit_files::recognise(probe.head()) {
            Recognised::Old(what) => Some(Extent::NotRead(what)),
            _ => None,
        },
        reader: Reader::None("run a current hpcprof on the measurements"),
        ..PLAIN
    },
    Format {
        name: "TAU profiles",
        family: "TAU",
        versions: "`profile.N.C.T` with several metrics, call paths, phases, samples, user events",
        files: "a folder with a file for each thread, or such a folder for each metric",
        state: "read whole: names and values share the files",
        usual_place: tau::folder_of,
        recognise: |probe| {
            let place = tau::folder_of(probe.path())?.to_owned();
            tau_files::is_profile_text(probe.head()).then_some(Extent::Usual(place))
        },
        reader: Reader::Folder(tau::open_folder),
        ..PLAIN
    },
    Format {
        name: "TAU packed profile",
        family: "TAU",
        versions: "`.ppk` 1 and 2",
        state: WHOLE,
        recognise: |probe| tau_files::is_packed(&**probe.source()).then_some(Extent::File),
        reader: Reader::File(tau::open_packed),
        ..PLAIN
    },
    Format {
        name: "TAU workflow profile",
        family: "TAU",
        versions: "JSON of `tau_prof2json.py`",
        state: "read whole; components in one space of ranks",
        recognise: |probe| tau_files::is_workflow(&**probe.source()).then_some(Extent::File),
        reader: Reader::File(tau::open_workflow),
        ..PLAIN
    },
    Format {
        name: "Callgrind, Cachegrind",
        family: "Callgrind",
        versions: "`callgrind.out.*`, `cachegrind.out.*`",
        files: "one file, or a folder with those of the processes and threads of one program",
        state: "read whole: exclusive costs are exact, their division among several callers is an \
                estimate ([FORMAT.md](crates/formats/src/callgrind/FORMAT.md))",
        recognise: |probe| {
            let run = callgrind::command_of(probe.source())?;
            Some(Extent::Run(probe.place().to_owned(), run))
        },
        reader: Reader::Files(callgrind::open_file, callgrind::open_folder),
        ..PLAIN
    },
    Format {
        name: "Parallax recording of C, C++ and Rust programs",
        family: "Parallax",
        versions: "`.plxm` 1",
        kind: Kind::Recording,
        state: "read whole: calls, executions and iterations of loops, accesses to data, threads \
                and locks",
        recognise: |probe| plxm::is_file(probe.source()).then_some(Extent::File),
        reader: Reader::File(plxm::open_file),
        ..PLAIN
    },
    Format {
        name: "Parceive database",
        family: "Parceive",
        versions: "SQLite, schemas of 2015 and 2016, processed ones too",
        kind: Kind::Recording,
        state: "read whole: calls, executions and iterations of loops, accesses to data",
        recognise: |probe| parceive::is_file(probe.source()).then_some(Extent::File),
        reader: Reader::File(parceive::open_file),
        ..PLAIN
    },
    Format {
        name: "OTF2 trace",
        family: "OTF2",
        versions: "1 to 3",
        kind: Kind::Trace,
        files: "an anchor (`.otf2`) with its `.def` file and its folder of locations",
        state: "converted once into an archive",
        notes: "of Score-P, TAU and others; all locations are read, several at the same time",
        part_endings: &[".evt", ".def"],
        recognise: |probe| otf2::sniff(probe.head()).then_some(Extent::Trace),
        reader: Reader::Trace(&convert::OTF2),
        ..PLAIN
    },
    Format {
        name: "TAU trace",
        family: "TAU",
        versions: "`.trc` with `.edf`, merged or of each thread",
        kind: Kind::Trace,
        files: "`tau.trc` with `tau.edf`, or `tautrace.N.C.T.trc` with `events.N.edf`",
        state: CONVERTED,
        notes: "ranks above 65,535 and messages above 64 MiB do not fit into its records",
        part_endings: &[".edf"],
        recognise: |probe| {
            let is_trace = convert::tau::is_trace(probe.folder(), probe.source(), probe.path());
            is_trace.then_some(Extent::Trace)
        },
        reader: Reader::Trace(&convert::TAU),
        ..PLAIN
    },
    Format {
        name: "Chrome trace events, Kineto JSON",
        family: "Chrome and Kineto",
        versions: "JSON, gzip and zstd too",
        kind: Kind::Trace,
        state: CONVERTED,
        notes: "events in any order; PyTorch's processes, threads and GPU streams, with flows \
                from a launch to its kernel; also what rocprofiler writes",
        recognise: |probe| json_trace(probe, JsonTraceFormat::Chrome),
        reader: Reader::Trace(&convert::CHROME),
        ..PLAIN
    },
    Format {
        name: "CODAR event JSON",
        family: "CODAR",
        versions: "JSON, gzip and zstd too",
        kind: Kind::Trace,
        state: CONVERTED,
        notes: "a list of events, or the document of `tau_trace2json`",
        recognise: |probe| json_trace(probe, JsonTraceFormat::Codar),
        reader: Reader::Trace(&convert::CODAR),
        ..PLAIN
    },
    Format {
        name: "Chimbuko event rows",
        family: "Chimbuko",
        versions: "JSON, gzip and zstd too",
        kind: Kind::Trace,
        files: "one file; names of functions may be in JSON files of the same folder",
        state: CONVERTED,
        notes: "names from a file with `function` in its name, meaning of codes from one that \
                declares them; else guessed",
        recognise: |probe| json_trace(probe, JsonTraceFormat::Chimbuko),
        reader: Reader::Trace(&convert::CHIMBUKO),
        ..PLAIN
    },
    Format {
        name: "Chimbuko executions",
        family: "Chimbuko",
        versions: "JSON, gzip and zstd too",
        kind: Kind::Trace,
        files: "one file, or a folder with a file for each window of time",
        state: WHOLE,
        notes: "only the calls that Chimbuko kept, with its anomalies; nothing is concluded from \
                them about the program",
        recognise: |probe| {
            let is_window = probe.json_trace() == Some(JsonTraceFormat::Executions);
            let run = || convert::executions::series(probe.name());
            is_window.then(|| Extent::Run(probe.place().to_owned(), run()))
        },
        reader: Reader::Files(convert::executions::open_file, convert::executions::open_folder),
        ..PLAIN
    },
    Format {
        name: "Parallax archive",
        family: "Parallax",
        versions: "2 and 3",
        kind: Kind::Trace,
        files: "a folder with `manifest.arrow` and a file for each table",
        state: "read in place",
        notes: "opens at once",
        usual_place: |path| {
            let (place, name) = split(path);
            (name == archive::MANIFEST).then_some(place)
        },
        recognise: |probe| {
            let is_archive =
                probe.name() == archive::MANIFEST && archive::is_manifest(probe.text());
            is_archive.then(|| Extent::Folder(probe.place().to_owned()))
        },
        reader: Reader::Folder(crate::archive::open),
        ..PLAIN
    },
    Format {
        name: "CUBE",
        family: "CUBE",
        versions: "CUBE 4 (`.cubex` of Score-P and Scalasca), CUBE 3",
        state: NOT_READ,
        recognise: |probe| {
            named(foreign::is_cube(probe.text()), "a CUBE file of Score-P or Scalasca")
        },
        reader: Reader::None(
            "convert it with cube_dump to a table, or record an OTF2 trace (SCOREP_ENABLE_TRACING)",
        ),
        ..PLAIN
    },
    Format {
        name: "Caliper",
        family: "Caliper",
        versions: "`.cali` text, JSON of cali-query (`json-split`)",
        state: WHOLE,
        recognise: |probe| caliper_files::is_caliper(probe.text()).then_some(Extent::File),
        reader: Reader::File(caliper::open_file),
        ..PLAIN
    },
    Format {
        name: "Nsight Systems",
        family: "Nsight Systems",
        versions: "SQLite export",
        kind: Kind::Trace,
        state: CONVERTED,
        notes: "threads and GPU streams with launches, ranges of NVTX, and samples as a metric",
        recognise: |probe| nsight::is_nsight(probe.source()).then_some(Extent::Trace),
        reader: Reader::Trace(&convert::NSIGHT),
        ..PLAIN
    },
    Format {
        name: "Nsight Systems report",
        family: "Nsight Systems",
        versions: "`.nsys-rep`, `.qdrep`",
        kind: Kind::Trace,
        state: NOT_READ,
        recognise: |probe| named(nsight::is_report(probe.head()), "a report of Nsight Systems"),
        reader: Reader::None("export it with `nsys export -t sqlite` and open that"),
        ..PLAIN
    },
    Format {
        name: "perf data",
        family: "perf",
        versions: "`perf.data`",
        state: NOT_READ,
        recognise: |probe| {
            named(foreign::is_perf_data(probe.head()), "a perf.data file of Linux perf")
        },
        reader: Reader::None("measure with hpcrun of HPCToolkit instead"),
        ..PLAIN
    },
    Format {
        name: "gprof data",
        family: "gprof",
        versions: "`gmon.out`",
        state: NOT_READ,
        recognise: |probe| named(foreign::is_gmon(probe.head()), "a gmon.out file of gprof"),
        reader: Reader::None("measure with hpcrun of HPCToolkit or with Callgrind instead"),
        ..PLAIN
    },
    // Measurements: what only looks like a table comes last.
    Format {
        versions: "JSON of the Analyzer and lists of its viewer, all variants since 2018; gzip and \
                   zstd too",
        recognise: |probe| {
            use ScalingFormat::{PascalAnalyzer, PascalViewer2018};
            scaling(probe, &[PascalAnalyzer, PascalViewer2018])
        },
        ..measurements("PaScal Analyzer", "PaScal")
    },
    Format {
        versions: "JSON, XML, CSV, text reports",
        recognise: |probe| {
            use ScalingFormat::{SperfCsv, SperfJson, SperfText, SperfXml};
            scaling(probe, &[SperfJson, SperfXml, SperfCsv, SperfText])
        },
        ..measurements("SPERF", "SPERF")
    },
    Format {
        versions: "text, JSON, JSON Lines, Talpas, `.extra-p`",
        recognise: |probe| {
            use ScalingFormat::{
                ExtrapExperiment, ExtrapJson, ExtrapJsonLines, ExtrapTalpas, ExtrapText,
            };
            let all = [ExtrapText, ExtrapJson, ExtrapJsonLines, ExtrapTalpas, ExtrapExperiment];
            scaling(probe, &all)
        },
        ..measurements("Extra-P", "Extra-P")
    },
    Format {
        versions: "JSON of DLB",
        files: "a file for each configuration",
        recognise: |probe| scaling(probe, &[ScalingFormat::TalpJson]),
        ..measurements("TALP", "TALP")
    },
    Format {
        versions: "CSV of basicanalysis and pypop",
        recognise: |probe| scaling(probe, &[ScalingFormat::PopCsv]),
        ..measurements("POP metrics", "POP")
    },
    Format {
        versions: "named columns, with cores or another parameter and a time",
        recognise: |probe| scaling(probe, &[ScalingFormat::PlainCsv]),
        ..measurements("CSV table", "CSV")
    },
];

fn json_trace(probe: &Probe<'_>, format: JsonTraceFormat) -> Option<Extent> {
    (probe.json_trace() == Some(format)).then_some(Extent::Trace)
}

fn scaling(probe: &Probe<'_>, formats: &[ScalingFormat]) -> Option<Extent> {
    probe.measurements().is_some_and(|found| formats.contains(&found)).then_some(Extent::File)
}

fn named(is_it: bool, what: &'static str) -> Option<Extent> {
    is_it.then_some(Extent::NotRead(what))
}
