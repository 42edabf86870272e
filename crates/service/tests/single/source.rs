//! Source files with costs, against the flat view by line.

use std::sync::Arc;

use parallax_base::{Folder, MemoryFolder};
use parallax_protocol::{
    Answer, FlatBy, FlatRequest, SourceFileReply, SourceFilesRequest, SourceRequest,
    TypedTable as _,
};
use parallax_service::{Answers as _, Control, OpenExperiment, OpenLimits, open};
use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::WriteOptions;

use crate::databases::{each, f64s, fixture, u32s};

// Ids: entry 1, main 2, line 3, visit 4, line 5, visit 6, line 7.
const DRAWING: &str = "
    main                        1.0
      line solver.c:12          0.5
        visit                   .
          line solver.c:12      2.0
            visit               .
              line solver.c:20  4.0
";

fn with_text(text: &[u8], limits: &OpenLimits) -> OpenExperiment {
    let files = draw("CPUTIME (sec)", DRAWING).to_files(&WriteOptions::default());
    let files = files.by_path.into_iter().map(|(path, bytes)| ((*path).to_owned(), bytes));
    let source = [("src/solver.c".to_owned(), text.to_vec())];
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("drawn", files.chain(source)));
    open(&folder, limits).unwrap()
}

fn ask(opened: &OpenExperiment, file: &str) -> Answer<SourceRequest> {
    let request = SourceRequest { path: file.into(), ..Default::default() };
    opened.answer(&request, &Control::new()).unwrap()
}

fn files_of(opened: &OpenExperiment) -> Vec<SourceFileReply> {
    opened.answer(&SourceFilesRequest::default(), &Control::new()).unwrap().reply.files
}

#[test]
fn lines_bear_their_cost_and_the_calls_made_there_once() {
    let opened = with_text(b"int main()\n", &OpenLimits::default());
    let Answer { reply, tables, .. } = ask(&opened, "solver.c");
    assert_eq!(reply.text.as_deref(), Some("int main()\n"));
    let lines = tables.lines.into_table();
    assert_eq!(u32s(&lines, "line"), [12, 20]);
    assert_eq!(u32s(&lines, "contexts"), [2, 1]);
    assert_eq!(f64s(&lines, "exclusive:0"), [Some(2.5), Some(4.0)]);
    assert_eq!(f64s(&lines, "inclusive:0"), [Some(6.5), Some(4.0)]);
    assert_eq!(tables.contexts.line, [12, 12, 20]);
    assert_eq!(tables.contexts.context_id, [3, 5, 7]);
    let request =
        SourceRequest { path: "solver.c".into(), contexts_per_line: 1, ..Default::default() };
    let few = opened.answer(&request, &Control::new()).unwrap().tables;
    assert_eq!(few.contexts.context_id, [3, 7]);
}

#[test]
fn text_that_is_not_utf8_is_shown_and_said_and_large_text_is_refused() {
    let opened = with_text(b"caf\xe9\n", &OpenLimits::default());
    let request = SourceRequest { path: "solver.c".into(), ..Default::default() };
    let answer = opened.answer(&request, &Control::new()).unwrap().reply;
    assert_eq!(answer.text.as_deref(), Some("caf\u{fffd}\n"));
    assert!(answer.notes[0].contains("not UTF-8"), "{:?}", answer.notes);
    let limits = OpenLimits { answer_bytes: 1 << 10, ..OpenLimits::default() };
    let error = with_text(&[b'x'; 2000], &limits).answer(&request, &Control::new()).unwrap_err();
    assert!(error.to_string().contains("limit"), "{error}");
}

#[test]
fn a_file_without_text_still_has_lines_and_says_where_the_text_would_be() {
    let files = draw("CPUTIME (sec)", DRAWING).to_files(&WriteOptions::default());
    let files = files.by_path.into_iter().map(|(path, bytes)| ((*path).to_owned(), bytes));
    let folder: Arc<dyn Folder> = Arc::new(MemoryFolder::new("drawn", files));
    let opened = open(&folder, &OpenLimits::default()).unwrap();
    assert_eq!(files_of(&opened), []);
    let Answer { reply, tables, .. } = ask(&opened, "solver.c");
    assert_eq!((reply.text, &*reply.text_path), (None, "src/solver.c"));
    assert_eq!(tables.lines.line, [12, 20]);
    let request = SourceRequest { path: "solve.c".into(), ..Default::default() };
    let error = opened.answer(&request, &Control::new()).unwrap_err();
    assert!(error.to_string().contains("did you mean solver.c?"), "{error}");
}

#[test]
fn real_databases_hold_the_text_that_was_measured() {
    let opened = fixture("n512-p4");
    let files = files_of(&opened);
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(files[0].path.ends_with("/reactor.c"));
    let Answer { reply, tables, .. } = ask(&opened, "reactor.c");
    assert_eq!(reply.path, files[0].path);
    let text = reply.text.unwrap();
    assert_eq!(text.len() as u64, files[0].bytes);
    let last = tables.lines.line.into_iter().max().unwrap() as usize;
    assert!(last <= text.lines().count());
}

#[test]
fn lines_cost_what_the_flat_view_says() {
    let mut compared = 0;
    each(|name, opened| {
        let request = FlatRequest { by: FlatBy::Line, ..FlatRequest::default() };
        let Ok(flat) = opened.flat(&request, &Control::new()) else { return };
        let mut places: Vec<&str> = flat.rows.iter().map(|row| &*row.place).collect();
        places.sort_unstable();
        places.dedup();
        for place in places.into_iter().filter(|place| !place.is_empty()).take(20) {
            let lines = ask(opened, place).tables.lines.into_table();
            let mut expected: Vec<(u32, f64, f64)> = flat
                .rows
                .iter()
                .filter(|row| row.place == place)
                .map(|row| {
                    (opened.session().tree().line(row.context), row.inclusive, row.exclusive)
                })
                .collect();
            expected.sort_by_key(|row| row.0);
            let inclusive = f64s(&lines, "inclusive:0").into_iter().flatten();
            let exclusive = f64s(&lines, "exclusive:0").into_iter().flatten();
            let found: Vec<(u32, f64, f64)> = u32s(&lines, "line")
                .into_iter()
                .zip(inclusive.zip(exclusive))
                .map(|(line, (inclusive, exclusive))| (line, inclusive, exclusive))
                .collect();
            assert_eq!(found, expected, "{name} {place}");
            compared += found.len();
        }
    });
    assert!(compared > 100, "{compared}");
}
