//! The text files of the repository.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::shell;

/// What is built, downloaded, found by fuzzing, or foreign data.
const SKIPPED_FOLDERS: &[&str] = &[
    ".git",
    "target",
    "node_modules",
    "fixtures",
    "corpus",
    "artifacts",
    "seeds",
    "coverage",
    "dist",
    "snapshots",
    ".venv",
];

/// A file with its path relative to the root, in `/` notation.
pub(super) struct TextFile {
    pub(super) path: String,
    pub(super) text: String,
}

impl TextFile {
    pub(super) fn has_extension(&self, wanted: &[&str]) -> bool {
        Path::new(&self.path).extension().is_some_and(|e| wanted.iter().any(|w| e == *w))
    }
}

/// Every UTF-8 file with one of the extensions, in the order of their paths.
pub(super) fn text_files(extensions: &[&str]) -> Result<Vec<TextFile>> {
    let root = shell::root();
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            if kind.is_dir() && !SKIPPED_FOLDERS.contains(&name.as_str()) {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.extend(read(&root, entry.path(), extensions));
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn read(root: &Path, path: PathBuf, extensions: &[&str]) -> Option<TextFile> {
    let relative = path.strip_prefix(root).ok()?.to_string_lossy().replace('\\', "/");
    let file = TextFile { path: relative, text: String::new() };
    if !file.has_extension(extensions) {
        return None;
    }
    let text = std::fs::read_to_string(path).ok()?;
    Some(TextFile { text, ..file })
}
