//! Exports of Nsight Systems become archives of threads and GPU streams, with what launched what.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_base::{
    Control, Folder, Limits, LocationIdx, MemoryFolder, MemorySink, Severity, TimeWindow, TrackIdx,
};
use parallax_import::archive;
use parallax_import::convert::{
    Alignment, ConvertOptions, WorkflowInput, convert, convert_workflow, recognise,
};
use parallax_import::events::ComponentPlan;
use parallax_model::{
    ContextChoice, Experiment, IdentityKind, LinkKind, Message, MetricChoice, Plan, Scope,
    SliceRequest,
};
use parallax_native::{DiskFolder, DiskSink};
use parallax_testkit::needs;
use parallax_testkit::nsight::{SCHEMA, export, process, small, small_rows, thread};
use parallax_testkit::random;
use parallax_testkit::sqlite::of_sql;

fn try_converted(bytes: &[u8], options: &ConvertOptions) -> Result<Experiment, String> {
    let files = [("t.sqlite".to_owned(), bytes.to_vec())];
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", files));
    let input = recognise(&folder, "t.sqlite").map_err(|error| error.to_string())?;
    let input = input.ok_or("of no known format")?;
    let sink = MemorySink::new();
    convert(&input, "t", Arc::new(sink.clone()), options, &Control::new())
        .map_err(|error| error.to_string())?;
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("t"));
    Ok(archive::open(&folder, &Limits::default()).unwrap())
}

fn converted(bytes: &[u8]) -> Experiment {
    try_converted(bytes, &ConvertOptions::default()).unwrap()
}

/// Tracks with their calls: start, end, and names from the outermost.
fn drawn(x: &Experiment) -> String {
    let store = x.traces.as_deref().unwrap();
    let mut out = String::new();
    for (id, track) in store.track_ids().zip(store.tracks()) {
        out += &format!("{}\n", x.locations.label(track.location));
        let mut calls = Vec::new();
        let mut take = |call: parallax_model::Call| {
            let context = x.contexts.by_source_id(call.context).unwrap();
            let depth = x.contexts.depth(context);
            calls.push((call.start_nanos, depth, call.end_nanos, x.contexts.label(context)));
        };
        store.visit_calls(id, TimeWindow::ALL, &mut take).unwrap();
        calls.sort();
        for (start, depth, end, name) in calls {
            out += &format!("{}{start}-{end} {name}\n", "  ".repeat(depth as usize));
        }
    }
    out
}

/// From where to where each flow goes: tracks and times.
fn flows(x: &Experiment) -> Vec<(String, u64, String, u64)> {
    let store = x.traces.as_deref().unwrap();
    let name =
        |track: Option<TrackIdx>| x.locations.label(store.track(track.unwrap()).unwrap().location);
    let mut found = Vec::new();
    let mut visit = |link: Message| {
        assert_eq!(link.kind, LinkKind::Flow);
        let times = link.send_nanos.zip(link.receive_nanos).unwrap();
        found.push((name(link.sender), times.0, name(link.receiver), times.1));
    };
    x.events.as_deref().unwrap().messages(TimeWindow::ALL, &mut visit).unwrap();
    found.sort();
    found
}

fn kinds(x: &Experiment) -> Vec<(&'static str, u64)> {
    let mut kinds: Vec<_> = x.issues.list().iter().map(|i| (i.kind, i.count)).collect();
    kinds.sort_unstable();
    kinds
}

/// Values of a metric over all locations, by path of names.
fn values(x: &Experiment, name: &str, scope: &Scope) -> BTreeMap<String, f64> {
    let mut metrics = x.metrics.iter().map(|(_, metric)| metric);
    let metric = metrics.find(|metric| &*metric.name == name).unwrap();
    let instance = metric.instances.iter().find(|instance| instance.scope == *scope).unwrap();
    let request = SliceRequest {
        locations: x.locations.iter().collect(),
        contexts: ContextChoice::Tree,
        metrics: MetricChoice::Ids { values: vec![instance.id], statistics: Vec::new() },
        plan: Plan::Cheapest,
    };
    let found = x.profiles.as_deref().unwrap().slice(&request, &Control::new()).unwrap();
    let path = |id: u32| {
        let context = x.contexts.by_source_id(id).unwrap();
        let mut names = vec![x.contexts.label(context)];
        names.extend(x.contexts.ancestors(context).map(|above| x.contexts.label(above)));
        names.pop();
        names.reverse();
        names.join("/")
    };
    let mut out = BTreeMap::new();
    for (&id, value) in found.context.iter().zip(found.value) {
        *out.entry(path(id)).or_default() += value;
    }
    out
}

#[test]
fn threads_and_streams_have_their_calls_in_order_of_time() {
    let x = converted(&small());
    assert_eq!(
        drawn(&x),
        "rank 3, main thread\n\
         \x20 100-1000 app\n\
         \x20   100-900 step\n\
         \x20     120-160 cudaLaunchKernel\n\
         \x20       130-150 ioctl\n\
         \x20     300-340 cudaLaunchKernel\n\
         \x20   900-1000 cudaMemcpy\n\
         rank 3, poller\n\
         \x20 50-1000 poller\n\
         \x20   50-1000 poll\n\
         rank 3, GPU 0, stream 7\n\
         \x20 200-400 a(int)\n\
         \x20 400-850 void ns::b<int>(T1)\n\
         \x20 910-990 Memcpy DtoH (Device -> Pageable)\n"
    );
    let id = |number: u32, kind| x.locations.identity(LocationIdx::new(number), kind);
    let stream = [IdentityKind::Rank, IdentityKind::GpuDevice, IdentityKind::GpuContext];
    assert!((1..=3).any(|at| stream.map(|kind| id(at, kind)) == [Some(3), Some(0), Some(1)]));
    assert_eq!(x.locations.num_processes(), 1);
    assert_eq!(kinds(&x), []);
    let facts = &x.metadata.facts;
    let fact = |name: &str| facts.iter().find(|(own, _)| own == name).map(|(_, value)| &**value);
    assert_eq!(fact("Hostname"), Some("node7"));
}

#[test]
fn what_launched_what_is_known_by_the_number_that_both_have() {
    let (main, stream) = ("rank 3, main thread", "rank 3, GPU 0, stream 7");
    let expected = [(120, 200), (300, 400), (900, 910)]
        .map(|(call, work)| (main.to_owned(), call, stream.to_owned(), work));
    assert_eq!(flows(&converted(&small())), expected);
    // The same number in two processes is not the same launch, and a call may launch several kernels.
    let call = |pid: i64, at: i64| {
        let main = thread(pid, pid);
        format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({at}, {at} + 5, 0, {main}, 1, 1, 0, NULL);"
        )
    };
    let work = |pid: i64, at: i64, number: i64| {
        let own = process(pid);
        format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({at}, {at} + 9, 0, 1, 7, {number}, {own},
                1, 1, 1, 1, 1, 1, 1, 1);"
        )
    };
    let rows = [call(8, 10), call(9, 20), work(8, 50, 1), work(9, 40, 1), work(9, 60, 1)];
    let rows = [&rows[..], &[work(9, 80, 5)]].concat().concat();
    let found =
        flows(&converted(&export(&format!("INSERT INTO StringIds VALUES (1, 'f');{rows}"))));
    let times: Vec<_> = found.iter().map(|(from, call, _, work)| (&**from, *call, *work)).collect();
    let (first, second) = ("process 8, main thread", "process 9, main thread");
    assert_eq!(times, [(first, 10, 50), (second, 20, 40), (second, 20, 60)]);
}

#[test]
fn samples_are_a_metric_of_their_call_paths() {
    let x = converted(&small());
    let own = values(&x, "SAMPLES", &Scope::Exclusive);
    let expected =
        [("main/solve", 1.0), ("main/solve/<unknown in libcuda.so.1>", 1.0), ("<unknown>", 1.0)];
    for (path, count) in expected {
        assert_eq!(own.get(path), Some(&count), "{path}: {own:?}");
    }
    let all = values(&x, "SAMPLES", &Scope::Inclusive);
    assert_eq!((all.get("main"), all.get("main/solve")), (Some(&2.0), Some(&2.0)), "{all:?}");
    // They take no time from calls.
    let time = values(&x, "TIME", &Scope::Inclusive);
    assert_eq!(time.get("main").copied().unwrap_or(0.0), 0.0);
    assert_eq!(time.get("app/step"), Some(&800e-9));
}

#[test]
fn functions_of_call_stacks_are_those_of_calls_where_they_have_the_same_name() {
    let rows = "INSERT INTO StringIds VALUES (20, 'cudaMemcpy');
        INSERT INTO SAMPLING_CALLCHAINS VALUES (3, 20, 15, NULL, 0);";
    let x = converted(&export(&format!("{}{rows}", small_rows())));
    let own = values(&x, "SAMPLES", &Scope::Exclusive);
    assert_eq!(own.get("cudaMemcpy"), Some(&1.0), "{own:?}");
    let named = x.contexts.functions().iter().filter(|function| &*function.name == "cudaMemcpy");
    let groups: Vec<_> = named.map(|function| function.group.as_deref()).collect();
    assert_eq!(groups, [Some("cuda_runtime")]);
}

#[test]
fn threads_of_the_driver_and_of_the_tool_are_below_a_function_that_says_so() {
    let (driver, tool) = (thread(70, 80), thread(70, 81));
    let rows = format!(
        "INSERT INTO StringIds VALUES (20, 'cuda-EvtHandlr'), (21, '[NSys]');
        INSERT INTO ThreadNames VALUES (20, 0, {driver}), (21, 0, {tool});
        INSERT INTO OSRT_API VALUES (5, 60, 27, {driver}, 4), (70, 80, 27, {driver}, 3);
        INSERT INTO COMPOSITE_EVENTS VALUES (4, 10, {tool}), (5, 20, {driver});
        INSERT INTO SAMPLING_CALLCHAINS VALUES (4, 12, 15, NULL, 0), (5, 12, 15, NULL, 0);"
    );
    let x = converted(&export(&format!("{}{rows}", small_rows())));
    let text = drawn(&x);
    let expected =
        "rank 3, cuda-EvtHandlr\n  5-80 cuda-EvtHandlr\n    5-60 poll\n    70-80 ioctl\n";
    assert!(text.contains(expected), "{text}");
    let own = values(&x, "SAMPLES", &Scope::Exclusive);
    for path in ["cuda-EvtHandlr/solve", "[NSys]/solve", "main/solve"] {
        assert_eq!(own.get(path), Some(&1.0), "{path}: {own:?}");
    }
}

#[test]
fn exports_of_several_ranks_become_one_archive_on_one_clock() {
    // The second one started to collect a microsecond later.
    let later = small_rows().replace("1700000000000000000", "1700000000000001000");
    let later = later.replace("PMI_RANK=3", "PMI_RANK=4");
    let inputs = [("a", small()), ("b", export(&later))].map(|(name, bytes)| {
        let files = [(format!("{name}.sqlite"), bytes)];
        let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", files));
        let trace = recognise(&folder, &format!("{name}.sqlite")).unwrap().unwrap();
        let plan = ComponentPlan { name: name.to_owned(), ..ComponentPlan::default() };
        WorkflowInput { trace, components: vec![plan], offset_nanos: 0 }
    });
    let sink = MemorySink::new();
    let (options, control) = (ConvertOptions::default(), Control::new());
    let into = Arc::new(sink.clone());
    convert_workflow(&inputs, "t", Alignment::TimeOfDay, into, &options, &control).unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("t"));
    let x = archive::open(&folder, &Limits::default()).unwrap();
    let text = drawn(&x);
    assert!(text.contains("rank 3, main thread\n  100-1000 app\n    100-900 step\n"), "{text}");
    assert!(text.contains("rank 4, main thread\n  1100-2000 app\n    1100-1900 step\n"), "{text}");
    assert_eq!(flows(&x).len(), 6);
    // One metric has the samples of both.
    let samples: f64 = values(&x, "SAMPLES", &Scope::Exclusive).values().sum();
    assert_eq!(samples, 6.0);
    assert_eq!(x.metrics.iter().filter(|(_, metric)| &*metric.name == "SAMPLES").count(), 1);
}

#[test]
fn ranges_that_do_not_nest_are_kept() {
    let main = thread(5, 5);
    let rows = format!(
        "INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, NULL, 'physics', {main}, NULL, 2),
            (10, 100, 59, NULL, 'a', {main}, NULL, 0), (50, 150, 59, NULL, 'b', {main}, NULL, 0),
            (20, 300, 60, 1, 'async', {main}, NULL, 0), (60, 70, 59, NULL, 'c', {main}, NULL, 2),
            (160, NULL, 59, NULL, 'open', {main}, NULL, 0), (170, 180, 59, NULL, 'd', {main}, NULL, 0);"
    );
    let x = converted(&export(&rows));
    assert_eq!(
        drawn(&x),
        "process 5, ranges of NVTX\n\
         \x20 20-300 async\n\
         process 5, main thread\n\
         \x20 10-180 <main thread>\n\
         \x20   10-100 a\n\
         \x20     60-70 c\n\
         \x20   160-180 open\n\
         \x20     170-180 d\n\
         process 5, main thread (overlap 1)\n\
         \x20 50-150 b\n"
    );
    assert_eq!(kinds(&x), [("open-at-end", 1), ("overlap", 1)]);
}

#[test]
fn calls_of_mpi_and_other_libraries_are_read_from_any_table_with_their_columns() {
    let (one, two) = (thread(5, 5), thread(6, 6));
    let launcher = thread(4, 4);
    let rows = format!(
        "INSERT INTO StringIds VALUES (1, 'MPI_Send'), (2, 'cublasDgemm_v2'), (3, 'MPI_Bcast'), (4, 'poll');
        CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER);
        INSERT INTO MPI_RANKS VALUES ({one}, 0), ({two}, 1);
        CREATE TABLE MPI_P2P_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER,
            commHandle INTEGER, tag INTEGER, remoteRank INTEGER, size INTEGER, requestHandle INTEGER);
        INSERT INTO MPI_P2P_EVENTS VALUES (10, 20, {one}, 1, 91, 7, 1, 800, NULL);
        CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER,
            textId INTEGER, commHandle INTEGER, rootRank INTEGER, size INTEGER, recvSize INTEGER);
        INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (30, 40, {two}, 3, 91, 0, 64, 64);
        CREATE TABLE CUBLAS_EVENTS (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
            nameId INTEGER);
        INSERT INTO CUBLAS_EVENTS VALUES (22, 29, 29, {one}, 2);
        INSERT INTO OSRT_API VALUES (1, 99, 27, {launcher}, 4);"
    );
    let x = converted(&export(&rows));
    assert_eq!(
        drawn(&x),
        "process 4, main thread\n\
         \x20 1-99 <main thread>\n\
         \x20   1-99 poll\n\
         rank 0, main thread\n\
         \x20 10-29 <main thread>\n\
         \x20   10-20 MPI_Send\n\
         \x20   22-29 cublasDgemm_v2\n\
         rank 1, main thread\n\
         \x20 30-40 <main thread>\n\
         \x20   30-40 MPI_Bcast\n"
    );
    assert_eq!(x.locations.num_ranks(), 2);
    assert_eq!(kinds(&x), [("messages-not-read", 2)]);
}

#[test]
fn faults_of_rows_are_counted_and_the_rest_is_read() {
    let main = thread(5, 5);
    // As some versions have it: columns may be null, and are of any type.
    let schema = SCHEMA.replace("PRIMARY KEY (id, stackDepth)", "a INTEGER");
    let schema = schema.replace(" NOT NULL", "").replace(" PRIMARY KEY", "");
    let rows = format!(
        "INSERT INTO StringIds VALUES (1, 'fopen'), (2, NULL), ('x', 'y');
        INSERT INTO OSRT_API VALUES (10, 20, 27, {main}, 1), (NULL, 20, 27, {main}, 1),
            ('abc', 20, 27, {main}, 1), (30, 25, 27, {main}, 1), (-5, 3, 27, {main}, 1),
            (40, 50, 27, NULL, 1), (60, 70, 27, {main}, 9), (80, 90, 27, {main}, 2),
            (100, 110, 27, {main}, NULL), (120, NULL, 27, {main}, 1);
        INSERT INTO SAMPLING_CALLCHAINS (id, symbol, module, stackDepth) VALUES (77, 1, 1, 0);"
    );
    let x = converted(&of_sql(&format!("{schema}{rows}")));
    assert_eq!(
        drawn(&x),
        "process 5, main thread\n\
         \x20 0-120 <main thread>\n\
         \x20   0-3 fopen\n\
         \x20   10-20 fopen\n\
         \x20   30-30 fopen\n\
         \x20   60-70 (text 9)\n\
         \x20   80-90 (text 2)\n\
         \x20   100-110 (unnamed)\n\
         \x20   120-120 fopen\n"
    );
    let expected = [
        ("ends-before-start", 1),
        ("open-at-end", 1),
        ("sample-without-thread", 1),
        ("text-missing", 2),
        ("thread-missing", 1),
        ("time-missing", 2),
        ("time-negative", 1),
    ];
    assert_eq!(kinds(&x), expected);
}

#[test]
fn tables_that_are_not_read_are_named() {
    let rows = "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, globalTid INTEGER);
        INSERT INTO SCHED_EVENTS VALUES (1, 2, 3);
        CREATE TABLE GPU_METRICS (timestamp INTEGER, value INTEGER);";
    let x = converted(&export(rows));
    let issue = x.issues.list().iter().find(|issue| issue.kind == "tables-not-read").unwrap();
    assert!(issue.message.ends_with(": SCHED_EVENTS"), "{}", issue.message);
}

#[test]
fn what_the_tool_said_of_its_collection_is_an_issue() {
    let rows = "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);
        INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 'fine'), (2, 2, 'Not all \n CUDA events'),
            (3, 2, 'Not all CUDA events'), (4, 2, NULL);";
    let x = converted(&export(rows));
    let [issue] = x.issues.list() else { panic!("{:?}", x.issues) };
    assert_eq!((issue.kind, issue.count, issue.severity), ("tool-messages", 3, Severity::Note));
    assert_eq!(issue.message, "Nsight Systems reported: Not all CUDA events");
    let x = converted(&export(&format!("{rows} UPDATE DIAGNOSTIC_EVENT SET severity = 3;")));
    assert_eq!(x.issues.list()[0].severity, Severity::Warning);
}

#[test]
fn an_export_without_tables_of_events_is_empty() {
    let x = converted(&of_sql(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);",
    ));
    assert_eq!(drawn(&x), "");
    // Without the table of texts it is none.
    let other = of_sql("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);");
    let error = try_converted(&other, &ConvertOptions::default()).err();
    assert_eq!(error.as_deref(), Some("of no known format"));
}

#[test]
fn events_that_wait_on_the_disk_make_the_same_archive() {
    let (own, main) = (process(5), thread(5, 5));
    let rows = format!(
        "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'k(int)'), (3, 'main');
        CREATE TABLE n (i INTEGER);
        WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000)
            INSERT INTO n SELECT i FROM c;
        INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
            SELECT 100 * i, 100 * i + 60, 0, {main}, i, 1, i % 3, NULL FROM n ORDER BY -i;
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 100 * i + 70, 100 * i + 160, 0, 1, i % 2, i,
            {own}, 2, 2, i, 1, 1, 32, 1, 1 FROM n;
        INSERT INTO NVTX_EVENTS SELECT 100 * i - 10, 100 * i + 80, 59, NULL, 'r' || i % 7, {main},
            NULL, 0 FROM n;
        INSERT INTO COMPOSITE_EVENTS SELECT i, i, {main} FROM n;
        INSERT INTO SAMPLING_CALLCHAINS SELECT i, 3, 1, NULL, 0 FROM n;"
    );
    let bytes = export(&rows);
    let whole = converted(&bytes);
    let place = tempfile::tempdir().unwrap();
    let files = [("t.sqlite".to_owned(), bytes)];
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("m", files));
    let input = recognise(&folder, "t.sqlite").unwrap().unwrap();
    let path = place.path().join("t.parallax");
    let sink = Arc::new(DiskSink::new(&path).unwrap());
    let options = ConvertOptions { memory_bytes: 1 << 12, ..ConvertOptions::default() };
    convert(&input, "t", Arc::clone(&sink) as _, &options, &Control::new()).unwrap();
    sink.publish().unwrap();
    let folder: Arc<dyn Folder> = Arc::new(DiskFolder::new(&path));
    let spilled = archive::open(&folder, &Limits::default()).unwrap();
    assert_eq!(drawn(&spilled), drawn(&whole));
    assert_eq!(flows(&spilled), flows(&whole));
    assert_eq!(flows(&whole).len(), 5000);
    let samples = |x| values(x, "SAMPLES", &Scope::Exclusive);
    assert_eq!(samples(&spilled), samples(&whole));
    assert_eq!(samples(&whole).get("main"), Some(&5000.0));
}

#[test]
fn damaged_exports_open_or_say_why() {
    let whole = small();
    let options = ConvertOptions {
        limits: Limits { metadata_bytes: 16 << 20, ..Limits::default() },
        memory_bytes: 1 << 10,
    };
    let (mut opened, mut with_issues) = (0, 0);
    let mut check = |bytes: &[u8]| {
        if let Ok(x) = try_converted(bytes, &options) {
            opened += 1;
            with_issues += u32::from(!x.issues.is_empty());
            let _ = (drawn(&x), flows(&x));
        }
    };
    for len in (0..whole.len()).step_by(whole.len() / 97) {
        check(&whole[..len]);
    }
    let mut random = random::numbers(88_172_645_463_325_252);
    for _ in 0..600 {
        let mut bytes = whole.clone();
        for _ in 0..3 {
            let number = random();
            let at = number as usize % bytes.len();
            bytes[at] = (number >> 40) as u8;
        }
        check(&bytes);
    }
    assert!(opened > 100 && with_issues > 20, "{opened} opened, {with_issues} with issues");
}

#[test]
fn limits_of_memory_are_kept() {
    let limits = Limits { metadata_bytes: 100, ..Limits::default() };
    let options = ConvertOptions { limits, ..ConvertOptions::default() };
    let error = try_converted(&small(), &options).err().unwrap();
    assert!(error.contains("limit"), "{error}");
}

fn real(file: &str) -> Option<Experiment> {
    let path = needs::corpus_path("data/other")?.join(file);
    Some(converted(&std::fs::read(path).unwrap()))
}

/// Times and numbers of what a table of events has, by name.
fn table(file: &str, of: impl Fn(&str) -> String) -> BTreeMap<String, (u64, u64)> {
    let path = needs::corpus_path("data/other/cloverleaf-nsys").unwrap().join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|own| *own == name).unwrap();
    let [event, start, end] = ["Event Type", "Timestamp (ns)", "_matching_timestamp"].map(column);
    let mut out: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[event] == "Enter" {
            let nanos = |at: usize| fields[at].parse::<f64>().unwrap() as u64;
            let sum = out.entry(of(fields[0])).or_default();
            *sum = (sum.0 + 1, sum.1 + nanos(end) - nanos(start));
        }
    }
    out
}

#[test]
fn kernels_copies_and_calls_of_cloverleaf_have_the_times_of_its_tables() {
    let file = "cloverleaf-nsys/perlmutter-cloverleaf-cuda.sqlite";
    let Some(x) = real(file) else { return };
    let store = x.traces.as_deref().unwrap();
    let (mut on_gpu, mut of_cuda) = (BTreeMap::new(), BTreeMap::new());
    let mut other = 0;
    for (id, track) in store.track_ids().zip(store.tracks()) {
        let is_gpu = x.locations.is_gpu(track.location);
        let mut take = |call: parallax_model::Call| {
            let context = x.contexts.by_source_id(call.context).unwrap();
            let name = x.contexts.label(context);
            let known = match &*name {
                name if name.starts_with("Memcpy HtoD") => "CUDA_MEMCPY_KIND_HTOD",
                name if name.starts_with("Memcpy DtoH") => "CUDA_MEMCPY_KIND_DTOH",
                name => name,
            };
            let short = known.strip_prefix("void clover::").unwrap_or(known);
            let short = short.split('<').next().unwrap_or(short).to_owned();
            // What stands for all that a thread does.
            if ["cuda-EvtHandlr", "cuda-cloverleaf"].contains(&&*short) {
                return;
            }
            let sums = match (is_gpu, short.starts_with("cu")) {
                (true, _) => &mut on_gpu,
                (false, true) => &mut of_cuda,
                (false, false) => {
                    other += 1;
                    return;
                }
            };
            let sum: &mut (u64, u64) = sums.entry(short).or_default();
            *sum = (sum.0 + 1, sum.1 + call.end_nanos - call.start_nanos);
        };
        store.visit_calls(id, TimeWindow::ALL, &mut take).unwrap();
    }
    assert_eq!(on_gpu, table("cloverleaf_gpu_trace.csv", str::to_owned));
    let bare = |name: &str| name.split("_v").next().unwrap().to_owned();
    assert_eq!(of_cuda, table("cloverleaf-cuda_api_trace.csv", bare));
    // select count(*) from OSRT_API where globalTid & 0xffffff
    assert_eq!(other, 1828);
    // Each kernel and each copy has a call.
    let found = flows(&x);
    assert_eq!(found.len(), 1312 + 279);
    assert!(found.iter().all(|(_, call, _, work)| call < work));
    // select count(*) from COMPOSITE_EVENTS
    let samples: f64 = values(&x, "SAMPLES", &Scope::Exclusive).values().sum();
    assert_eq!(samples, 1531.0);
}

#[test]
fn a_rank_of_saxpy_has_its_number_its_ranges_and_each_call_once() {
    let Some(x) = real("saxpy-mpi-cuda_nsys_perlmutter0.sqlite") else { return };
    let names: Vec<String> = x.locations.iter().map(|l| x.locations.label(l)).collect();
    assert_eq!(names, ["rank 0, main thread", "rank 0, GPU 0, stream 7 (default)"]);
    let calls = values(&x, "CALLS", &Scope::Exclusive);
    let expected = [
        ("saxpy-mpi-cuda/MPI_Init", 1.0),
        ("saxpy-mpi-cuda/MPI_Send", 10.0),
        ("saxpy-mpi-cuda/MPI_Recv", 5.0),
        ("saxpy-mpi-cuda/saxpy", 5.0),
        ("saxpy-mpi-cuda/saxpy/cudaLaunchKernel", 5.0),
        ("saxpy-mpi-cuda/cudaMemcpy", 15.0),
        ("saxpy-mpi-cuda/cudaMalloc", 15.0),
        ("saxpy(double *, double *, double *, double, int)", 5.0),
    ];
    for (path, count) in expected {
        assert_eq!(calls.get(path), Some(&count), "{path}: {calls:?}");
    }
    let time = values(&x, "TIME", &Scope::Inclusive);
    let kernel = time["saxpy(double *, double *, double *, double, int)"];
    assert_eq!((kernel * 1e9).round(), 88_573_480.0);
    assert_eq!(flows(&x).len(), 20);
}
