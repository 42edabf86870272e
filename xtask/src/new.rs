//! `cargo xtask new analysis|format|view NAME`: a skeleton that compiles, is registered and has its test.
//! `docs/extending.md` says what to do with it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::shell;

mod edits;
mod name;
mod skeletons;

use name::Name;
use skeletons::{KINDS, Kind};

/// A file of a skeleton.
pub(crate) struct NewFile {
    /// Relative to the root.
    pub(crate) path: String,
    pub(crate) text: &'static str,
}

pub(crate) fn run(args: Args) -> Result<()> {
    let words = args.positional()?;
    let [kind, name] = words.as_slice() else {
        bail!(
            "name a kind and a name, such as `cargo xtask new view hot-pairs`; kinds are {}",
            kinds()
        );
    };
    let Some(kind) = KINDS.iter().find(|known| known.word == kind) else {
        bail!("there is no skeleton of `{kind}`; there are {}", kinds());
    };
    let name = Name::parse(name)?;
    let root = shell::root();
    let plan = plan(kind, &name, &root)?;
    for (path, text) in plan.added.iter().chain(&plan.changed) {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    for (path, _) in &plan.added {
        println!("new      {}", path.display());
    }
    for (path, _) in &plan.changed {
        println!("changed  {}", path.display());
    }
    println!("\n{}", kind.next);
    Ok(())
}

fn kinds() -> String {
    KINDS.iter().map(|kind| kind.word).collect::<Vec<_>>().join(", ")
}

/// What a skeleton writes: paths relative to the root, and the whole text of each file.
#[derive(Debug, Default)]
struct Plan {
    added: Vec<(PathBuf, String)>,
    changed: Vec<(PathBuf, String)>,
}

/// What a skeleton writes, all of it known before the first file is written.
///
/// # Errors
/// When a new file is there already, or one that is to be changed has no place for it.
fn plan(kind: &Kind, name: &Name, root: &Path) -> Result<Plan> {
    let mut plan = Plan::default();
    for NewFile { path, text } in (kind.files)(name) {
        if root.join(&path).exists() {
            bail!("{path} exists already; choose another name");
        }
        plan.added.push((path.into(), name.fill(text)));
    }
    for edit in (kind.edits)(name) {
        let text = std::fs::read_to_string(root.join(edit.path))
            .with_context(|| format!("cannot read {}", edit.path))?;
        plan.changed.push((edit.path.into(), edit.apply(&text)?));
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn kind(word: &str) -> &'static Kind {
        KINDS.iter().find(|kind| kind.word == word).unwrap()
    }

    /// How many places of `new` are not in `old`: runs of lines that were put in.
    fn places(old: &str, new: &str) -> usize {
        let (mut places, mut is_in_run) = (0, false);
        let mut rest = old.lines().peekable();
        for line in new.lines() {
            if rest.peek() == Some(&line) {
                rest.next();
                is_in_run = false;
            } else if !is_in_run {
                places += 1;
                is_in_run = true;
            }
        }
        assert_eq!(rest.next(), None, "lines were changed or taken away");
        places
    }

    #[test]
    fn a_skeleton_changes_few_files_each_in_one_place() {
        let name = Name::parse("zz-planted").unwrap();
        for (word, added, most) in [("view", 3, 0), ("analysis", 9, 6), ("format", 8, 6)] {
            let plan = plan(kind(word), &name, &shell::root()).unwrap();
            assert_eq!(plan.added.len(), added, "{word}");
            let paths: HashSet<&PathBuf> = plan.changed.iter().map(|(path, _)| path).collect();
            assert_eq!(paths.len(), plan.changed.len(), "{word}: a file is changed once");
            assert!(paths.len() <= most, "{word}: {paths:?}");
            for (path, new) in &plan.changed {
                let old = std::fs::read_to_string(shell::root().join(path)).unwrap();
                assert_eq!(places(&old, new), 1, "{word}: {}", path.display());
            }
        }
    }

    #[test]
    fn a_skeleton_has_its_name_everywhere_and_a_test() {
        let name = Name::parse("zz-planted").unwrap();
        for kind in KINDS {
            let plan = plan(kind, &name, &shell::root()).unwrap();
            let is_test = |path: &Path| path.iter().any(|part| part == "tests" || part == "e2e");
            assert!(plan.added.iter().any(|(path, _)| is_test(path)), "{}", kind.word);
            for (path, text) in &plan.added {
                assert!(!text.contains("__"), "{}: a name was not filled in", path.display());
                assert!(!shell::root().join(path).exists());
            }
            for (path, text) in &plan.changed {
                assert!(text.to_lowercase().contains("zz"), "{}", path.display());
            }
        }
    }

    #[test]
    fn what_is_there_is_not_overwritten() {
        let error = plan(kind("view"), &Name::parse("issues").unwrap(), &shell::root());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("exists already"), "{error}");
    }
}
