//! Files next to a trace are found however many others there are, and what is not read, or cannot
//! be listed, is reported.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

use std::sync::Arc;

use parallax_base::{
    Control, Folder, FolderEntry, Limits, MemoryFolder, MemorySink, ReadError, Source,
};
use parallax_import::archive;
use parallax_import::convert::{ConvertOptions, convert, recognise};
use parallax_model::Experiment;

fn converted(folder: &Arc<dyn Folder>, path: &str) -> Result<Experiment, String> {
    let input = recognise(folder, path).unwrap().unwrap();
    let sink = MemorySink::new();
    let options = ConvertOptions::default();
    convert(&input, path, Arc::new(sink.clone()), &options, &Control::new())
        .map_err(|error| error.to_string())?;
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder(path));
    Ok(archive::open(&folder, &Limits::default()).unwrap())
}

/// Rows of a function that is entered by 7 and left by 4, in a folder with `others` short files
/// that say nothing, and one that declares the codes.
fn rows(others: usize, codes: &str) -> Arc<dyn Folder> {
    let row = |code: u32, micros: u32| {
        format!("[0,0,0,{code},0,\"NA\",\"NA\",\"NA\",\"NA\",\"NA\",\"NA\",{micros},1]")
    };
    let rows: Vec<String> =
        (0..40).flat_map(|nth| [row(7, nth * 10), row(4, nth * 10 + 5)]).collect();
    let declared = br#"["a", "b", "c", "d", "EXIT", "e", "f", "ENTRY"]"#;
    let mut files: Vec<(String, Vec<u8>)> =
        (0..others).map(|nth| (format!("a{nth}.json"), b"{\"nothing\": 1}".to_vec())).collect();
    files.push(("rows.json".into(), format!("[{}]", rows.join(",")).into_bytes()));
    files.push((codes.into(), declared.to_vec()));
    Arc::new(MemoryFolder::new("beside", files))
}

fn kinds(experiment: &Experiment) -> Vec<(String, String)> {
    let issues = experiment.issues.list().iter();
    issues.map(|issue| (issue.kind.to_string(), issue.message.clone())).collect()
}

#[test]
fn codes_are_found_among_many_files_and_what_is_not_read_is_counted() {
    // By its name, however many others come before it.
    for (others, codes) in [(0, "event_types.json"), (300, "zz_types.json"), (300, "et.json")] {
        let found = kinds(&converted(&rows(others, codes), "rows.json").unwrap());
        assert!(!found.iter().any(|(kind, _)| kind.starts_with("codes-")), "{codes}: {found:?}");
    }
    // Without a name that tells, the shortest are read: 63 others and this one, or too many.
    let found = kinds(&converted(&rows(63, "zz.json"), "rows.json").unwrap());
    assert!(!found.iter().any(|(kind, _)| kind.starts_with("codes-")), "{found:?}");
    let found = kinds(&converted(&rows(70, "zz.json"), "rows.json").unwrap());
    let (_, message) = found.iter().find(|(kind, _)| kind == "codes-unread").unwrap();
    assert!(message.contains("; 7 more were not read"), "{message}");
    assert!(found.iter().any(|(kind, _)| kind == "codes-guessed"), "{found:?}");
}

/// A folder whose files can be opened, and not be listed.
struct Unlisted(Arc<dyn Folder>);

impl Folder for Unlisted {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        Err(ReadError::TooManyFiles { folder: "beside".into(), most: 3 })
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        self.0.open(path)
    }
}

#[test]
fn a_folder_that_cannot_be_listed_is_an_error() {
    let folder: Arc<dyn Folder> = Arc::new(Unlisted(rows(3, "et.json")));
    let error = converted(&folder, "rows.json").err().unwrap();
    assert!(error.contains("more than 3 files lie in and below beside"), "{error}");
}
