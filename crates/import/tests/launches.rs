//! What launched GPU work is known by arrows, and by `correlation` where a file has none.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::io::Read as _;
use std::sync::Arc;

use parallax_base::{Control, Folder, Limits, MemoryFolder, MemorySink, TimeWindow, TrackIdx};
use parallax_import::archive;
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_model::{Experiment, LinkKind, Message};

fn converted(text: String) -> Experiment {
    let files = [("t.json".to_owned(), text.into_bytes())];
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", files));
    let input = recognise(&folder, "t.json").unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(&input, "t", Arc::new(sink.clone()), &options, &Control::new()).unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("t"));
    archive::open(&folder, &Limits::default()).unwrap()
}

/// A name of a track and a time there; `None` where that end is not known.
type Place = Option<(String, u64)>;

/// From where and to where each flow goes.
fn flows(experiment: &Experiment) -> Vec<(Place, Place)> {
    let place = |track: Option<TrackIdx>, nanos: Option<u64>| {
        let store = experiment.traces.as_deref().unwrap();
        let location = store.track(track?).unwrap().location;
        Some((experiment.locations.label(location), nanos?))
    };
    let mut found = Vec::new();
    let mut visit = |link: Message| {
        assert_eq!(link.kind, LinkKind::Flow);
        let from = place(link.sender, link.send_nanos);
        found.push((from, place(link.receiver, link.receive_nanos)));
    };
    experiment.events.as_deref().unwrap().messages(TimeWindow::ALL, &mut visit).unwrap();
    found.sort();
    found
}

const NAMES: &str =
    r#"{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7 "}}"#;

/// A call of process 1 at a time in microseconds.
fn call(process: u32, at: u32, correlation: u32) -> String {
    format!(
        r#",{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":{process},"tid":1,
            "ts":{at},"dur":5,"args":{{"cbid":211,"correlation":{correlation}}}}}"#
    )
}

/// What ran on a stream.
fn work(category: &str, at: u32, correlation: u32) -> String {
    format!(
        r#",{{"ph":"X","cat":"{category}","name":"gemm","pid":0,"tid":7,"ts":{at},"dur":5,
            "args":{{"stream":7,"device":0,"correlation":"{correlation}"}}}}"#
    )
}

/// The times of both ends, in microseconds.
fn times(parts: &[String]) -> Vec<(Option<u64>, Option<u64>)> {
    let text = format!(r#"{{"traceEvents":[{NAMES}{}]}}"#, parts.concat());
    let time = |place: &Place| place.as_ref().map(|(_, nanos)| nanos / 1000);
    flows(&converted(text)).iter().map(|(from, to)| (time(from), time(to))).collect()
}

#[test]
fn calls_and_work_of_one_correlation_are_a_launch() {
    let parts = [work("kernel", 40, 3), call(1, 0, 2), call(1, 10, 3), work("kernel", 20, 2)];
    assert_eq!(times(&parts), [(Some(0), Some(20)), (Some(10), Some(40))]);
    // One call may start several pieces of work, as graphs do.
    let parts = [call(1, 0, 2), work("kernel", 20, 2), work("gpu_memcpy", 30, 2)];
    assert_eq!(times(&parts), [(Some(0), Some(20)), (Some(0), Some(30))]);
}

#[test]
fn what_nothing_joins_is_no_launch() {
    // Without the other half.
    assert_eq!(times(&[call(1, 0, 2), work("kernel", 20, 3)]), []);
    // 0 stands for what the writer does not know.
    assert_eq!(times(&[call(1, 0, 0), work("kernel", 20, 0)]), []);
    // Two processes count from the same number on.
    assert_eq!(times(&[call(1, 0, 2), call(2, 1, 2), work("kernel", 20, 2)]), []);
    // Two calls of one process: the one before the work.
    let parts = [call(1, 0, 2), call(1, 30, 2), work("kernel", 20, 2)];
    assert_eq!(times(&parts), [(Some(0), Some(20))]);
}

#[test]
fn arrows_win() {
    let arrow = |phase: &str, process: u32, thread: u32, at: u32| {
        format!(
            r#",{{"ph":"{phase}","cat":"ac2g","name":"ac2g","id":9,"bp":"e","pid":{process},
                "tid":{thread},"ts":{at}}}"#
        )
    };
    let arrows = [arrow("s", 1, 1, 10), arrow("f", 0, 7, 20)];
    let parts = [call(1, 0, 2), call(1, 10, 3), work("kernel", 20, 2), work("kernel", 40, 3)];
    let parts: Vec<String> = parts.into_iter().chain(arrows).collect();
    assert_eq!(times(&parts), [(Some(10), Some(20)), (Some(10), Some(40))]);
}

#[test]
fn real_traces_lose_no_launch_with_their_arrows() {
    let files = [
        "ns_resolution_trace_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
        "critical_path_alexnet_benchmark_result_2869224_1695835535_trace.json.gz",
        "hta/control.json.gz",
    ];
    for file in files {
        let Some(path) = parallax_testkit::needs::corpus_path("data/chrome") else { return };
        let bytes = std::fs::read(path.join(file)).unwrap();
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
        let mut without = text.clone();
        for letter in ["s", "t", "f"] {
            for gap in ["", " "] {
                let phase = format!("\"ph\":{gap}\"{letter}\"");
                without = without.replace(&phase, "\"ph\": \"?\"");
            }
        }
        assert_ne!(without, text, "{file}");
        let is_on_stream =
            |place: &Place| place.as_ref().is_some_and(|(n, _)| n.contains("stream"));
        let launches = |text: String| {
            let mut flows = flows(&converted(text));
            flows.retain(|(from, to)| from.is_some() && is_on_stream(to));
            flows
        };
        let (with, without) = (launches(text), launches(without));
        assert!(with.len() > 100, "{file}: {}", with.len());
        let lost = with.iter().filter(|one| without.binary_search(one).is_err()).count();
        let new = without.iter().filter(|one| with.binary_search(one).is_err()).count();
        assert_eq!((lost, new), (0, 0), "{file}: {} with, {} without", with.len(), without.len());
    }
}

#[test]
fn a_real_trace_without_arrows_has_its_launches() {
    let Some(path) = parallax_testkit::needs::corpus_path("data/chrome") else { return };
    let bytes = std::fs::read(path.join("hta/sampled_rank-0.json.gz")).unwrap();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(&*bytes).read_to_string(&mut text).unwrap();
    // The file has 1,204 operations of GPUs and as many calls.
    assert_eq!(flows(&converted(text)).len(), 1_204);
}
