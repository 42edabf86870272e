//! A trace of 200 MB is converted whole, in memory that has nothing to do with its length.
//!
//! The text is made while it is read: no disk is needed for it, and none of it stays.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::collections::HashMap;
use std::fs::read_to_string;
use std::io::Read as _;
use std::sync::{Arc, Mutex};

use parallax_base::{
    ByteSource, Control, Folder, Limits, ListedFolder, ReadError, Source, TimeWindow,
};
use parallax_import::archive;
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_model::{Experiment, RecordCounts};
use parallax_native::{DiskFolder, DiskSink};
use parallax_testkit::workflow::{FUNCTIONS, FunctionTime, Planted, Workflow, WorkflowText};

const BYTES: u64 = 200_000_000;

/// What events may take that wait for their batch.
const MEMORY_BYTES: usize = 16 << 20;

/// What the process may take in all beyond that: tables of what is known, and the text of a round.
const MORE_BYTES: u64 = 24 << 20;

/// A file that is written while it is read, from front to back.
struct Made {
    workflow: Workflow,
    len: u64,
    at: Mutex<(u64, WorkflowText)>,
}

impl ByteSource for Made {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let mut at = self.at.lock().unwrap();
        if offset < at.0 {
            *at = (0, WorkflowText::new(self.workflow));
        }
        let (position, text) = &mut *at;
        std::io::copy(&mut text.take(offset - *position), &mut std::io::sink()).unwrap();
        text.read_exact(buffer).unwrap();
        *position = offset + buffer.len() as u64;
        Ok(())
    }
}

/// Time by function, in the order of [`FUNCTIONS`].
fn functions(experiment: &Experiment) -> Vec<FunctionTime> {
    let traces = experiment.traces.as_deref().unwrap();
    let tree = &experiment.contexts;
    let mut of_context: HashMap<u32, Option<usize>> = HashMap::new();
    let mut function = |context: u32| {
        *of_context.entry(context).or_insert_with(|| {
            let name = tree.function_name(tree.by_source_id(context)?)?;
            FUNCTIONS.iter().position(|&known| known == name)
        })
    };
    let mut found = vec![FunctionTime::default(); FUNCTIONS.len()];
    let mut unknown = 0;
    for track in traces.track_ids() {
        let mut sum = |time: parallax_model::ContextTime| {
            let Some(function) = function(time.context) else { return unknown += time.nanos };
            found[function].calls += time.calls;
            found[function].exclusive_micros += time.nanos;
        };
        traces.sums(track, TimeWindow::ALL, &mut sum).unwrap();
        let mut call = |call: parallax_model::Call| {
            let Some(function) = function(call.context) else { return };
            found[function].inclusive_micros += call.end_nanos - call.start_nanos;
        };
        traces.visit_calls(track, TimeWindow::ALL, &mut call).unwrap();
    }
    assert_eq!(unknown, 0, "all time is in a function");
    for time in &mut found {
        time.exclusive_micros /= 1000;
        time.inclusive_micros /= 1000;
    }
    found
}

fn check_counts(experiment: &Experiment, workflow: Workflow, planted: &Planted) {
    let events = experiment.events.as_deref().unwrap();
    let records = events.records();
    assert_eq!(records.len(), workflow.ranks() as usize);
    let all = records.iter().fold(RecordCounts::default(), |sum, track| sum.plus(track));
    assert_eq!((all.enters, all.leaves), (planted.calls, planted.calls));
    assert_eq!((all.sends, all.receives), (planted.messages, planted.messages));
    assert_eq!(all.total(), planted.events());
    let (mut whole, mut bytes) = (0, 0);
    let mut message = |message: parallax_model::Message| {
        let delay = message.receive_nanos.zip(message.send_nanos).map(|(r, s)| r.checked_sub(s));
        whole += u64::from(delay.flatten().is_some_and(|nanos| nanos >= 9_000));
        bytes += message.bytes;
    };
    events.messages(TimeWindow::ALL, &mut message).unwrap();
    assert_eq!((whole, bytes), (planted.messages, planted.message_bytes));
    let span = experiment.traces.as_deref().unwrap().span();
    assert_eq!(span.nanos(), workflow.micros() * 1000);
    assert!(experiment.issues.list().is_empty(), "{:?}", experiment.issues.list());
}

/// The most memory that this process ever had, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[test]
fn two_hundred_megabytes_of_a_coupled_run_are_whole_in_bounded_memory() {
    let workflow = Workflow::of_size(BYTES);
    let planted = workflow.planted();
    assert!(planted.bytes.abs_diff(BYTES) < BYTES / 20, "{} bytes", planted.bytes);
    let text = WorkflowText::new(workflow);
    let made = Made { workflow, len: planted.bytes, at: Mutex::new((0, text)) };
    let folder: Arc<dyn Folder> = {
        let made: Source = Arc::new(made);
        Arc::new(ListedFolder::<Source>::new("made", [("workflow.json".to_owned(), made)]))
    };
    let input = recognise(&folder, "workflow.json").unwrap().unwrap();
    assert_eq!(input.format(), "CODAR event JSON");

    let place = tempfile::tempdir().unwrap();
    let archive = place.path().join("workflow.parallax");
    let sink = Arc::new(DiskSink::new(&archive).unwrap());
    let options = ConvertOptions { memory_bytes: MEMORY_BYTES, ..ConvertOptions::default() };
    convert(&input, "workflow.json", Arc::clone(&sink) as _, &options, &Control::new()).unwrap();
    sink.publish().unwrap();
    if let Some(peak) = peak_bytes() {
        assert!(peak < MEMORY_BYTES as u64 + MORE_BYTES, "{} MB at the peak", peak / 1_000_000);
    }

    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&archive));
    let experiment = archive::open(&folder, &Limits::default()).unwrap();
    check_counts(&experiment, workflow, &planted);
    assert_eq!(functions(&experiment), planted.functions);
}
