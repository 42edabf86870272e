//! Call instances, groups, references, threads, lanes and lines, asked for by number.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int32Type, UInt32Type, UInt64Type};
use parallax_base::{ActivationIdx, Control, Folder, Limits, MemoryFolder, MemorySource};
use parallax_model::ActivationKind;
use parallax_protocol::{
    AnswerTable, EntitiesRequest, EntityKind, LanesRequest, LinesRequest, Question, RelatedRequest,
    Relation, SharedRequest, SourceFilesRequest, SourceRequest, Table, TypedTable as _,
};
use parallax_service::{Answers, OpenExperiment, ServiceError, open_file, open_file_in};
use parallax_testkit::parceive::Program;

type Answer<Q> = parallax_protocol::Answer<Q>;

fn ask<Q: Question>(opened: &OpenExperiment, request: &Q) -> Answer<Q>
where
    OpenExperiment: Answers<Q>,
{
    opened.answer(request, &Control::default()).unwrap()
}

fn refused<Q: Question>(opened: &OpenExperiment, request: &Q) -> ServiceError
where
    OpenExperiment: Answers<Q>,
{
    opened.answer(request, &Control::default()).err().expect("no answer")
}

fn table_of(table: impl AnswerTable) -> Table {
    table.into_answer_table("")
}

fn opened(program: Program) -> OpenExperiment {
    open_file(&MemorySource::shared(program.bytes()), "rounds.db", &Limits::default()).unwrap()
}

/// Cells of a column of numbers; empty ones are absent.
fn numbers(table: &Table, name: &str) -> Vec<Option<u64>> {
    let values = &table.column(name).unwrap_or_else(|| panic!("no column {name}")).values;
    (0..values.len())
        .map(|row| {
            if values.is_null(row) {
                return None;
            }
            values.as_primitive_opt::<UInt64Type>().map(|all| all.value(row)).or_else(|| {
                values.as_primitive_opt::<UInt32Type>().map(|all| u64::from(all.value(row)))
            })
        })
        .collect()
}

fn known(table: &Table, name: &str) -> Vec<u64> {
    numbers(table, name).into_iter().map(|cell| cell.unwrap()).collect()
}

fn ids(table: &Table, name: &str) -> Vec<u32> {
    known(table, name).into_iter().map(|id| id.try_into().unwrap()).collect()
}

fn texts(table: &Table, name: &str) -> Vec<String> {
    let values = &table.column(name).unwrap().values;
    match values.as_string_opt::<i32>() {
        Some(plain) => (0..plain.len()).map(|row| plain.value(row).to_owned()).collect(),
        None => {
            let repeated = values.as_dictionary::<Int32Type>();
            let names = repeated.values().as_string::<i32>();
            let name = |row| names.value(repeated.key(row).unwrap()).to_owned();
            (0..repeated.len()).map(name).collect()
        }
    }
}

fn all(opened: &OpenExperiment, kind: EntityKind) -> Table {
    let request = EntitiesRequest { kind, ..EntitiesRequest::default() };
    table_of(ask(opened, &request).tables.rows)
}

fn related_up_to(
    opened: &OpenExperiment,
    kind: EntityKind,
    ids: &[u32],
    relation: Relation,
    limit: Option<u32>,
) -> Answer<RelatedRequest> {
    let request = RelatedRequest { kind, ids: ids.to_vec(), relation, longer_than_ns: None, limit };
    ask(opened, &request)
}

fn related(opened: &OpenExperiment, kind: EntityKind, ids: &[u32], relation: Relation) -> Table {
    table_of(related_up_to(opened, kind, ids, relation, None).tables.rows)
}

/// The entry call of the main thread.
fn main_of(opened: &OpenExperiment) -> u32 {
    ids(&all(opened, EntityKind::Thread), "entry")[0]
}

#[test]
fn a_tree_of_calls_unfolds_from_its_entry() {
    let program = Program::default();
    let opened = opened(program);
    let threads = all(&opened, EntityKind::Thread);
    assert_eq!(known(&threads, "thread").len(), 3);
    assert_eq!(numbers(&threads, "creator"), [None, Some(0), Some(0)]);
    assert_eq!(numbers(&threads, "created_line"), [None, Some(8), Some(8)]);
    assert_eq!(known(&threads, "calls"), [21, 21, 21]);
    let main = main_of(&opened);
    assert_eq!(numbers(&threads, "created_by"), [None, Some(main.into()), Some(main.into())]);

    // main calls `descend` once a round, in a loop.
    let groups = related(&opened, EntityKind::Activation, &[main], Relation::Groups);
    assert_eq!(texts(&groups, "name"), ["descend"]);
    assert_eq!(texts(&groups, "kind"), ["group"]);
    assert_eq!(known(&groups, "count"), [u64::from(program.rounds)]);
    assert_eq!(known(&groups, "is_in_loop"), [1]);
    let group = ids(&groups, "activation")[0];
    let calls = related(&opened, EntityKind::Group, &[group], Relation::Calls);
    assert_eq!(known(&calls, "activation").len(), program.rounds as usize);
    assert_eq!(known(&groups, "length_ns")[0], known(&calls, "length_ns").iter().sum::<u64>());
    assert!(known(&calls, "start_ns").is_sorted());
    // Parceive has the start of the last call for the end of a group.
    assert_eq!(known(&groups, "end_ns")[0], *known(&calls, "end_ns").last().unwrap());
    assert!(known(&groups, "end_ns")[0] > *known(&calls, "start_ns").last().unwrap());
    assert_eq!(known(&calls, "line"), [16; 4]);
    assert_eq!(known(&calls, "caller"), [u64::from(main); 4]);
    // The same calls, asked for as those of main.
    let of_main = related(&opened, EntityKind::Activation, &[main], Relation::Calls);
    assert_eq!(known(&of_main, "activation"), known(&calls, "activation"));

    let executions = related(&opened, EntityKind::Activation, &[main], Relation::Executions);
    assert_eq!(texts(&executions, "kind"), ["loop"]);
    assert_eq!(known(&executions, "iterations"), [u64::from(program.rounds)]);
    let execution = ids(&executions, "activation");
    let iterations = related(&opened, EntityKind::Activation, &execution, Relation::Iterations);
    assert_eq!(known(&iterations, "number"), [0, 1, 2, 3]);
    // Of an iteration: the call that is made in it.
    let inside = ids(&iterations, "activation");
    let calls_inside = related(&opened, EntityKind::Activation, &inside, Relation::Calls);
    assert_eq!(known(&calls_inside, "activation"), known(&calls, "activation"));
    assert_eq!(ids(&calls_inside, "of"), inside);

    // Each call descends to the bottom, and each is the caller of the next.
    let first = ids(&calls, "activation")[0];
    let below = related(&opened, EntityKind::Activation, &[first], Relation::Within);
    let is_call = |kind: &&String| *kind == "call";
    assert_eq!(texts(&below, "kind").iter().filter(is_call).count(), program.depth as usize - 1);
    let deepest = *ids(&below, "activation").last().unwrap();
    let above = related(&opened, EntityKind::Activation, &[deepest], Relation::Ancestors);
    assert_eq!(*ids(&above, "activation").last().unwrap(), main);
    assert_eq!(known(&above, "depth")[0] + 1, known(&below, "depth").last().copied().unwrap());
}

#[test]
fn many_at_once_are_those_of_each() {
    let opened = opened(Program::default());
    let len =
        u32::try_from(known(&all(&opened, EntityKind::Activation), "activation").len()).unwrap();
    let wanted = [5, 0, len - 1, 5];
    for relation in [
        Relation::Parent,
        Relation::Caller,
        Relation::Ancestors,
        Relation::Children,
        Relation::Calls,
        Relation::Groups,
        Relation::Executions,
        Relation::Iterations,
        Relation::Within,
        Relation::References,
        Relation::ReferencesWithin,
        Relation::Threads,
        Relation::Functions,
    ] {
        let at_once = related(&opened, EntityKind::Activation, &wanted, relation);
        let mut from = 0;
        for id in wanted {
            let single = related(&opened, EntityKind::Activation, &[id], relation);
            let single = single.to_record_batch();
            let part = at_once.to_record_batch().slice(from, single.num_rows());
            let columns = part.columns().iter().zip(single.columns());
            for (part, single) in
                columns.filter(|(one, _)| one.as_dictionary_opt::<Int32Type>().is_none())
            {
                assert_eq!(part, single, "{relation:?} of {id}");
            }
            from += single.num_rows();
        }
        assert_eq!(from, at_once.num_rows(), "{relation:?}");
    }
}

#[test]
fn what_is_read_and_written_adds_up_from_every_side() {
    let program = Program::default();
    let (opened, counts) = (opened(program), program.counts());
    let sum = |table: &Table, name: &str| known(table, name).iter().sum::<u64>();
    let references = all(&opened, EntityKind::Reference);
    assert_eq!(
        (sum(&references, "reads"), sum(&references, "writes")),
        (counts.reads, counts.writes)
    );

    // From above: entry calls with everything below.
    let entries = ids(&all(&opened, EntityKind::Thread), "entry");
    let within = related(&opened, EntityKind::Activation, &entries, Relation::ReferencesWithin);
    assert_eq!((sum(&within, "reads"), sum(&within, "writes")), (counts.reads, counts.writes));

    // From below: the own code of all calls.
    let activations = all(&opened, EntityKind::Activation);
    let calls: Vec<u32> = ids(&activations, "activation")
        .into_iter()
        .zip(texts(&activations, "kind"))
        .filter_map(|(id, kind)| (kind == "call").then_some(id))
        .collect();
    let own = related(&opened, EntityKind::Activation, &calls, Relation::References);
    assert_eq!((sum(&own, "reads"), sum(&own, "writes")), (counts.reads, counts.writes));
    let mut touched: BTreeMap<u32, u64> = BTreeMap::new();
    for of in ids(&own, "of") {
        *touched.entry(of).or_default() += 1;
    }
    let by_call: BTreeMap<u32, u64> =
        ids(&activations, "activation").into_iter().zip(known(&activations, "touched")).collect();
    for call in calls {
        assert_eq!(touched.get(&call).copied().unwrap_or(0), by_call[&call], "call {call}");
    }

    // From the side of the references.
    let touchers =
        related(&opened, EntityKind::Reference, &ids(&references, "reference"), Relation::Touchers);
    assert_eq!((sum(&touchers, "reads"), sum(&touchers, "writes")), (counts.reads, counts.writes));

    // The allocation of main is what its rounds share; a private variable is nobody else's.
    let shared = texts(&references, "name").iter().position(|name| name == "shared").unwrap();
    assert_eq!(known(&references, "reads")[shared], counts.shared_reads);
    assert_eq!(numbers(&references, "allocated_by")[shared], Some(u64::from(main_of(&opened))));
    assert_eq!(numbers(&references, "allocated_line")[shared], Some(6));
    let rounds = related(&opened, EntityKind::Activation, &[main_of(&opened)], Relation::Calls);
    let request = |is_inclusive| SharedRequest {
        activations: ids(&rounds, "activation"),
        is_inclusive,
        ..SharedRequest::default()
    };
    let found = ask(&opened, &request(true));
    assert_eq!(found.tables.rows.name, ["shared"]);
    let found = ask(&opened, &request(false));
    assert!(found.tables.rows.name.is_empty());
    let notes = found.reply.notes;
    assert!(notes[0].contains("share no variable"), "{notes:?}");
}

#[test]
fn shared_references_are_the_intersection() {
    let opened = opened(Program { depth: 2, ..Program::default() });
    let activations = opened.session().experiment().activations.clone().unwrap();
    let tree = &activations.tree;
    let uses = |id: u32| -> BTreeSet<u32> {
        let within = activations.touches.within(tree, ActivationIdx::new(id));
        within.map(|touch| touch.reference.get()).collect()
    };
    let mut shares_some = 0;
    for first in (0..tree.len()).step_by(3).map(|at| u32::try_from(at).unwrap()) {
        for second in (0..tree.len()).step_by(5).map(|at| u32::try_from(at).unwrap()) {
            let request = SharedRequest {
                activations: vec![first, second],
                groups: Vec::new(),
                is_inclusive: true,
            };
            let found: BTreeSet<u32> =
                ask(&opened, &request).tables.rows.reference.into_iter().collect();
            let expected: BTreeSet<u32> =
                uses(first).intersection(&uses(second)).copied().collect();
            assert_eq!(found, expected, "{first} and {second}");
            shares_some += usize::from(!expected.is_empty());
        }
    }
    assert!(shares_some > 100, "{shares_some}");
}

#[test]
fn recursion_does_not_count_twice() {
    let opened = opened(Program::default());
    let functions = all(&opened, EntityKind::Function);
    let at = texts(&functions, "name").iter().position(|name| name == "descend").unwrap();
    assert_eq!(known(&functions, "calls")[at], 60);
    // The outermost calls are those that main and the workers make.
    let entries = ids(&all(&opened, EntityKind::Thread), "entry");
    let outermost = related(&opened, EntityKind::Activation, &entries, Relation::Calls);
    let time: u64 = known(&outermost, "length_ns").iter().sum();
    assert_eq!(known(&functions, "time_ns")[at], time);
    assert_eq!(numbers(&functions, "line")[at], Some(15));
    let calls = related(
        &opened,
        EntityKind::Function,
        &ids(&functions, "function")[at..=at],
        Relation::Calls,
    );
    assert_eq!(calls.num_rows(), 60);
    let file = ids(&functions, "file")[at];
    let defined = related(&opened, EntityKind::File, &[file], Relation::Functions);
    assert_eq!(texts(&defined, "name"), texts(&functions, "name"));
}

#[test]
fn a_group_at_the_root_is_not_that_of_a_nested_call() {
    // Parceive gives an entry call the group of any call of its function.
    let opened = opened(Program::default());
    let entries = ids(&all(&opened, EntityKind::Thread), "entry");
    let request =
        EntitiesRequest { kind: EntityKind::Group, ids: Some(entries.clone()), limit: None };
    let groups = table_of(ask(&opened, &request).tables.rows);
    assert_eq!(ids(&groups, "activation"), entries);
    assert_eq!(known(&groups, "count"), [1, 1, 1]);
    // All groups: one of each function by each call that makes calls, and the entry calls.
    let groups = all(&opened, EntityKind::Group);
    let calls = known(&groups, "count").iter().sum::<u64>();
    assert_eq!(calls, Program::default().counts().calls);
}

#[test]
fn limits_leave_out_and_say_so() {
    let opened = opened(Program::default());
    let main = main_of(&opened);
    let whole = related(&opened, EntityKind::Activation, &[main], Relation::Within).num_rows();
    let part = related_up_to(&opened, EntityKind::Activation, &[main], Relation::Within, Some(10));
    assert_eq!(part.reply.left_out, whole as u64 - 10);
    assert_eq!(table_of(part.tables.rows).num_rows(), 10);
    let request = EntitiesRequest { kind: EntityKind::Activation, ids: None, limit: Some(7) };
    let some = ask(&opened, &request);
    let left_out = some.reply.left_out;
    assert_eq!(table_of(some.tables.rows).num_rows() as u64 + left_out, opened_len(&opened));

    // Strictly longer, as Parceive asks.
    let lengths =
        known(&related(&opened, EntityKind::Activation, &[main], Relation::Calls), "length_ns");
    let longest = *lengths.iter().max().unwrap();
    let longer = |limit| {
        let request = RelatedRequest {
            kind: EntityKind::Activation,
            ids: vec![main],
            relation: Relation::Calls,
            longer_than_ns: Some(limit),
            limit: None,
        };
        table_of(ask(&opened, &request).tables.rows).num_rows()
    };
    assert_eq!(longer(longest), 0);
    assert_eq!(longer(longest - 1), lengths.iter().filter(|&&one| one == longest).count());
}

fn opened_len(opened: &OpenExperiment) -> u64 {
    opened.session().experiment().activations.as_ref().unwrap().tree.len() as u64
}

#[test]
fn what_is_not_there_is_said() {
    let opened = opened(Program::default());
    let wrong = EntitiesRequest { kind: EntityKind::Thread, ids: Some(vec![0, 9]), limit: None };
    let error = refused(&opened, &wrong);
    assert!(error.is_misuse());
    assert!(error.to_string().contains("there is no thread 9"), "{error}");
    let request = RelatedRequest {
        kind: EntityKind::Thread,
        ids: vec![0],
        relation: Relation::Iterations,
        longer_than_ns: None,
        limit: None,
    };
    let error = refused(&opened, &request);
    assert!(error.to_string().contains("a thread has no iterations"), "{error}");
    let lanes = LanesRequest { tops: vec![1 << 30], ..LanesRequest::default() };
    let error = refused(&opened, &lanes);
    assert!(error.to_string().contains("there is no activation"), "{error}");
}

#[test]
fn lanes_hold_every_call_where_it_was() {
    let program = Program::default();
    let (opened, counts) = (opened(program), program.counts());
    let tops = ids(&all(&opened, EntityKind::Thread), "entry");
    let lanes = |is_merged, below_percent, loops| {
        ask(&opened, &LanesRequest { tops: tops.clone(), is_merged, below_percent, loops })
    };
    let rows = |is_merged, below_percent, loops| {
        lanes(is_merged, below_percent, loops).tables.rows.into_table()
    };
    let traced = rows(false, 0.0, false);
    assert_eq!(traced.num_rows() as u64, counts.calls);
    assert_eq!(known(&traced, "level").iter().max(), Some(&u64::from(program.depth)));
    let with_loops = rows(false, 0.0, true);
    assert_eq!(with_loops.num_rows() as u64, counts.calls + counts.executions);
    // Each call lies within the one on the level above it that came last, in time too.
    let bars = (ids(&traced, "lane").into_iter())
        .zip(known(&traced, "level"))
        .zip(known(&traced, "start_ns").into_iter().zip(known(&traced, "length_ns")));
    let mut open: Vec<(u32, u64, u64)> = Vec::new();
    for ((lane, level), (start, length)) in bars {
        open.truncate(usize::try_from(level).unwrap());
        if let Some(&(above, from, to)) = open.last() {
            assert_eq!(above, lane);
            assert!(from <= start && start + length <= to);
        }
        open.push((lane, start, start + length));
    }

    // Aggregated: a chain of groups, each with all calls of its level.
    let merged = rows(true, 0.0, false);
    assert_eq!(merged.num_rows(), 3 * (1 + program.depth as usize));
    assert_eq!(known(&merged, "count").iter().sum::<u64>(), counts.calls);
    assert_eq!(known(&merged, "start_ns")[..2], [0, 0]);

    // What is short is left out and counted; nothing but the top is as long as the top.
    let long = lanes(false, 100.0, false);
    assert_eq!(long.reply.left_out, [4, 4, 4]);
    assert_eq!(long.tables.rows.lane.len(), 3);
    let mut last = usize::MAX;
    for percent in [0.0, 1.0, 5.0, 20.0, 50.0] {
        let count = rows(false, percent, false).num_rows();
        assert!(count <= last);
        last = count;
    }
}

#[test]
fn merged_lanes_lie_longest_first_and_inside_what_made_them() {
    // main also calls something short, before all rounds.
    let bytes = parallax_testkit::sqlite::bytes(|connection| {
        Program { rounds: 2, ..Program::default() }.write(connection)?;
        connection.execute_batch(
            "INSERT INTO Function(Id, Name, Prototype, File, Line) VALUES (4, 'short', '', 0, 3);
             INSERT INTO Instruction(Id, Segment, Type, Line) VALUES (100000, 1, 0, 9);
             INSERT INTO Call(Id, Thread, Function, Instruction, Start, End)
               SELECT 100000, 0, 4, 100000, Start + 1, Start + 2600 FROM Call WHERE Id = 1;",
        )
    });
    let opened = open_file(&MemorySource::shared(bytes), "x.db", &Limits::default()).unwrap();
    let tops = vec![main_of(&opened)];
    let request = LanesRequest { tops, is_merged: true, ..LanesRequest::default() };
    let table = ask(&opened, &request).tables.rows.into_table();
    let names = texts(&table, "name");
    assert_eq!(names.first().map(String::as_str), Some("main"));
    assert_eq!(names[1..].iter().filter(|name| *name == "descend").count(), 5);
    assert_eq!(names.last().map(String::as_str), Some("short"), "the longest come first");
    let (starts, lengths) = (known(&table, "start_ns"), known(&table, "length_ns"));
    assert_eq!(starts[names.len() - 1], starts[1] + lengths[1]);
    assert_eq!(known(&table, "count")[..2], [1, 2]);
    let traced = LanesRequest { is_merged: false, ..request };
    let table = ask(&opened, &traced).tables.rows.into_table();
    assert_eq!(texts(&table, "name")[1], "short", "by time it is the first");
}

#[test]
fn lines_say_what_happens_on_them() {
    let program = Program::default();
    let opened = opened(program);
    let path = |path: &str| LinesRequest { path: path.to_owned() };
    let lines = ask(&opened, &path("rounds.c")).tables.rows.into_table();
    let rows: Vec<(u64, String, String, u64)> = (known(&lines, "line").into_iter())
        .zip(texts(&lines, "what"))
        .zip(texts(&lines, "name").into_iter().zip(known(&lines, "times")))
        .map(|((line, what), (name, times))| (line, what, name, times))
        .collect();
    let has = |line, what: &str, name: &str, times| {
        rows.contains(&(line, what.to_owned(), name.to_owned(), times))
    };
    assert!(has(5, "definition", "main", 1), "{rows:?}");
    assert!(has(6, "allocation", "shared", 1), "{rows:?}");
    assert!(has(7, "definition", "worker", 2), "{rows:?}");
    assert!(has(10, "loop", "loop at rounds.c:10", 3), "{rows:?}");
    assert!(has(11, "write", "shared", 4), "{rows:?}");
    assert!(has(15, "definition", "descend", 60), "{rows:?}");
    assert!(has(16, "call", "descend", 60), "{rows:?}");
    // Nine inner iterations of each of 12 rounds read the shared allocation.
    assert!(has(22, "read", "shared", 108), "{rows:?}");
    assert!(rows.is_sorted_by_key(|row| row.0));
    let error = refused(&opened, &path("other.c"));
    assert!(error.to_string().contains("other.c"), "{error}");
}

#[test]
fn a_source_file_beside_the_recording_is_shown() {
    let bytes = Program::default().bytes();
    let files = [
        ("runs/rounds.db".to_owned(), bytes.clone()),
        ("runs/rounds.c".to_owned(), b"int main()\n".to_vec()),
    ];
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("opened", files));
    let source = MemorySource::shared(bytes);
    let opened = open_file_in(&folder, &source, "runs/rounds.db", &Limits::default()).unwrap();
    let request = SourceFilesRequest::default();
    let listed = opened.answer(&request, &Control::default()).unwrap().reply.files;
    assert_eq!(listed.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["/home/a/rounds.c"]);
    let request = SourceRequest { path: "rounds.c".into(), ..SourceRequest::default() };
    let answer = opened.answer(&request, &Control::default()).unwrap().reply;
    assert_eq!(answer.text.as_deref(), Some("int main()\n"));
}

#[test]
fn groups_and_references_equal_those_of_the_processed_databases() {
    let Some(folder) = parallax_testkit::needs::corpus_path("data/parceive") else { return };
    for name in ["nested_test.db", "nested_tests_with_calls.db"] {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let opened = open_file(&MemorySource::shared(bytes), name, &Limits::default()).unwrap();
        let activations = opened.session().experiment().activations.clone().unwrap();
        let tree = &activations.tree;
        let source = |id: u64| tree.source_id(ActivationIdx::new(id.try_into().unwrap()));
        let rows = |sql: &str| -> BTreeSet<Vec<Option<u64>>> {
            let bytes = std::fs::read(folder.join("processed").join(name)).unwrap();
            let mut connection = parallax_testkit::sqlite::Connection::open_in_memory().unwrap();
            connection.deserialize_read_exact("main", &bytes[..], bytes.len(), true).unwrap();
            let mut statement = connection.prepare(sql).unwrap();
            let columns = statement.column_count();
            let found = statement.query_map([], |row| {
                (0..columns)
                    .map(|i| row.get::<_, Option<u32>>(i).map(|cell| cell.map(u64::from)))
                    .collect()
            });
            found.unwrap().map(Result::unwrap).collect()
        };
        let calls: Vec<u32> = tree
            .iter()
            .filter(|&one| tree.kind(one) == ActivationKind::Call)
            .map(ActivationIdx::get)
            .collect();
        // Groups of each call: how many calls, and the first one's function.
        let groups = related(&opened, EntityKind::Activation, &calls, Relation::Groups);
        let mut found: Vec<(u64, u64)> = (known(&groups, "of").into_iter())
            .zip(known(&groups, "count"))
            .map(|(of, count)| (source(of), count))
            .collect();
        found.sort_unstable();
        let mut expected: Vec<(u64, u64)> =
            rows("SELECT Caller, Count, Id FROM CallGroup WHERE Caller IS NOT NULL")
                .into_iter()
                .map(|row| (row[0].unwrap(), row[1].unwrap()))
                .collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{name}");

        // What calls read and write themselves.
        let uses = related(&opened, EntityKind::Activation, &calls, Relation::References);
        let reference =
            |id: u64| activations.references.get(usize::try_from(id).unwrap()).unwrap().source_id;
        let found: BTreeSet<Vec<Option<u64>>> = (known(&uses, "of").into_iter())
            .zip(known(&uses, "reference"))
            .zip(known(&uses, "reads").into_iter().zip(known(&uses, "writes")))
            .map(|((of, used), (reads, writes))| {
                vec![Some(source(of)), Some(reference(used)), Some(reads), Some(writes)]
            })
            .collect();
        assert_eq!(found, rows("SELECT Call, Reference, Read, Write FROM CallReference"), "{name}");
    }
}
