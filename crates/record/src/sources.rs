//! Copies of the source files whose lines are in a recording, so that their text is shown next to the
//! values wherever the archive is opened: in its folder `src`, below which they have their path.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path};

use parallax_base::FolderSink;

/// Most bytes of a file that is copied, and of all.
const MOST_BYTES: u64 = 4 << 20;
const MOST_IN_ALL: u64 = 64 << 20;

/// Copies those of the files that are there.
pub(crate) fn copy(paths: &BTreeSet<&str>, sink: &dyn FolderSink) -> io::Result<()> {
    let mut left = MOST_IN_ALL;
    for path in paths {
        let Some((below, text)) = text(path) else { continue };
        let Some(rest) = left.checked_sub(text.len() as u64) else { continue };
        left = rest;
        let mut file = sink.create(&format!("src/{below}"))?;
        file.write_all(&text)?;
        file.flush()?;
    }
    Ok(())
}

/// The path of a file below the root, and what is in it.
fn text(path: &str) -> Option<(&str, Vec<u8>)> {
    let below = path.strip_prefix('/')?;
    // The same file would have another path in the archive.
    let is_plain = Path::new(below).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_plain || below.contains("//") || !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES + 1).read_to_end(&mut text).ok()?;
    (text.len() as u64 <= MOST_BYTES).then_some((below, text))
}

#[cfg(test)]
mod tests {
    use parallax_base::{Folder as _, MemorySink};

    use super::*;

    #[test]
    fn files_that_are_there_are_copied_below_their_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(at("app.c"), "int main;").unwrap();
        std::fs::write(at("large.c"), vec![b' '; (MOST_BYTES + 1) as usize]).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        let paths = [
            at("app.c"),
            at("large.c"),
            at("folder"),
            at("absent.c"),
            at("folder/../app.c"),
            "/dev/zero".into(),
            "app.c".into(),
            String::new(),
        ];
        let sink = MemorySink::new();
        copy(&paths.iter().map(String::as_str).collect(), &sink).unwrap();
        let copied = sink.into_folder("x");
        for path in &paths {
            let is_copied = *path == at("app.c");
            let found = copied.open(&format!("src{path}")).unwrap_or_default();
            assert_eq!(found.is_some(), is_copied, "{path}");
        }
    }
}
