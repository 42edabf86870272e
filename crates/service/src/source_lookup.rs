//! [`SourceLookup`]: source files that lie next to an experiment that is a single file.

use std::sync::Arc;

use parallax_base::{Folder, FolderEntry, ReadError, Source, Survey};

/// The files of an experiment, and those of the folder around it by the ends of their paths: a
/// recording names `/home/a/solver/main.c`, and somebody opened a folder with `solver/main.c`, or
/// with `main.c`, in it.
pub(crate) struct SourceLookup {
    /// What the experiment consists of.
    pub(crate) own: Arc<dyn Folder>,
    /// Where it lies.
    pub(crate) around: Arc<dyn Folder>,
}

/// How many parts two paths have in common at their ends.
fn common_end(a: &str, b: &str) -> usize {
    a.rsplit('/').zip(b.rsplit('/')).take_while(|(a, b)| a == b).count()
}

impl Folder for SourceLookup {
    fn name(&self) -> &str {
        self.own.name()
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        self.own.entries()
    }

    fn survey(&self) -> Result<Survey, ReadError> {
        self.own.survey()
    }

    /// The experiment's own file, or else the one around it whose path agrees with the most parts at the end of `path`, and with all of its own
    /// name; the first by path where several do.
    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        if let Some(own) = self.own.open(path)? {
            return Ok(Some(own));
        }
        let entries = self.around.walk()?;
        let mut best: Option<(usize, &str)> = None;
        for entry in &entries {
            let common = common_end(&entry.path, path);
            if common > best.map_or(0, |(common, _)| common) {
                best = Some((common, &entry.path));
            }
        }
        best.map_or(Ok(None), |(_, found)| self.around.open(found))
    }
}

#[cfg(test)]
mod tests {
    use parallax_base::MemoryFolder;

    use super::*;

    #[test]
    fn the_longest_common_end_wins_and_the_name_must_agree() {
        let files = ["a/x.c", "b/x.c", "main.c"];
        let files = files.map(|path| (path.to_owned(), path.as_bytes().to_vec()));
        let folder = |files: &[(String, Vec<u8>)]| -> Arc<dyn Folder> {
            Arc::new(MemoryFolder::new("run", files.to_vec()))
        };
        let own = folder(&[("run.db".to_owned(), b"the recording".to_vec())]);
        let lookup = SourceLookup { own, around: folder(&files) };
        assert_eq!(lookup.entries().unwrap().len(), 1, "only what the experiment consists of");
        let text = |path: &str| {
            let found = lookup.open(path).unwrap();
            found.map(|file| String::from_utf8(file.as_slice().unwrap().to_vec()).unwrap())
        };
        assert_eq!(text("/home/u/b/x.c").as_deref(), Some("b/x.c"));
        assert_eq!(text("/elsewhere/x.c").as_deref(), Some("a/x.c"));
        assert_eq!(text("src/deep/main.c").as_deref(), Some("main.c"));
        assert_eq!(text("run.db").as_deref(), Some("the recording"));
        assert_eq!(text("/home/u/y.c"), None);
        assert_eq!(text("/home/u/other-x.c"), None);
    }
}
