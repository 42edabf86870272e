//! What a skeleton adds to files that are there: each file in one place.

use anyhow::{Result, bail};

/// Text that is put into a file.
pub(crate) struct Edit {
    /// Relative to the root.
    pub(crate) path: &'static str,
    /// The lines, each with its end.
    pub(crate) text: String,
    pub(crate) place: InsertionPoint,
}

/// Where text is put.
pub(crate) enum InsertionPoint {
    /// Among the modules that the file declares, in the order of their names. What else belongs to
    /// a module follows it at once.
    Module,
    /// After the last line that begins so.
    AfterLast(&'static str),
    /// Before the first line that begins so.
    Before(&'static str),
}

/// The name of the module that a line declares.
fn module(line: &str) -> Option<&str> {
    line.strip_prefix("pub ").unwrap_or(line).strip_prefix("mod ")?.trim_end().strip_suffix(';')
}

impl Edit {
    /// The file with the text in it.
    ///
    /// # Errors
    /// When the file has no such place.
    pub(crate) fn apply(&self, file: &str) -> Result<String> {
        let lines: Vec<&str> = file.split_inclusive('\n').collect();
        let begins = |begin: &'static str| {
            let found = lines.iter().enumerate().filter(move |(_, line)| line.starts_with(begin));
            found.map(|(at, _)| at)
        };
        let at = match self.place {
            InsertionPoint::Module => {
                let own = self.text.lines().find_map(module);
                let later = lines.iter().position(|line| module(line) > own && own.is_some());
                let last = lines.iter().rposition(|line| module(line).is_some());
                // The end of the paragraph of the last one.
                let end = last.and_then(|last| {
                    let rest = lines.get(last..)?.iter();
                    Some(last + rest.take_while(|line| !line.trim().is_empty()).count())
                });
                later.or(end)
            }
            InsertionPoint::AfterLast(begin) => begins(begin).next_back().map(|last| last + 1),
            InsertionPoint::Before(begin) => begins(begin).next(),
        };
        let Some(at) = at else {
            bail!("{} has no place for `{}`", self.path, self.text.trim());
        };
        let (before, after) = lines.split_at(at);
        Ok([&before.concat(), &self.text, &after.concat()].map(String::as_str).concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, place: InsertionPoint, file: &str) -> Result<String> {
        Edit { path: "lib.rs", text: text.to_owned(), place }.apply(file)
    }

    #[test]
    fn lines_are_put_in_their_order() {
        let file = "//! Doc.\n\nmod a;\npub mod c;\npub use c::*;\n\nuse x;\n";
        let sorted = |text: &str| edited(text, InsertionPoint::Module, file).unwrap();
        let rest = "\n\nuse x;\n";
        let c = "pub mod c;\npub use c::*;";
        assert_eq!(sorted("mod b;\n"), format!("//! Doc.\n\nmod a;\nmod b;\n{c}{rest}"));
        assert_eq!(sorted("pub mod d;\n"), format!("//! Doc.\n\nmod a;\n{c}\npub mod d;{rest}"));
        let file = "//! Doc.\n\nmod a;\nmod c;\n\nuse x;\n";
        let last = edited("mod b;\n", InsertionPoint::AfterLast("mod "), file).unwrap();
        assert_eq!(last, "//! Doc.\n\nmod a;\nmod c;\nmod b;\n\nuse x;\n");
        let before = edited("// b\n", InsertionPoint::Before("use "), file).unwrap();
        assert_eq!(before, "//! Doc.\n\nmod a;\nmod c;\n\n// b\nuse x;\n");
        let error = edited("row\n", InsertionPoint::Before("| "), file).unwrap_err().to_string();
        assert_eq!(error, "lib.rs has no place for `row`");
    }
}
