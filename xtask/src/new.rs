//! `cargo xtask new view NAME`: a skeleton that compiles, is registered and has its test.
//! `docs/extending.md` says what to do with it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::shell;

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
    let files = plan(kind, &name, &root)?;
    for (path, text) in &files {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    for (path, _) in &files {
        println!("{}", path.display());
    }
    println!("\n{}", kind.next);
    Ok(())
}

fn kinds() -> String {
    KINDS.iter().map(|kind| kind.word).collect::<Vec<_>>().join(", ")
}

/// The files of a skeleton with their text.
///
/// # Errors
/// When one of them is there already.
fn plan(kind: &Kind, name: &Name, root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let mut files = Vec::new();
    for NewFile { path, text } in (kind.files)(name) {
        if root.join(&path).exists() {
            bail!("{path} exists already; choose another name");
        }
        files.push((path.into(), name.fill(text)));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skeleton_has_its_name_everywhere_and_touches_no_other_file() {
        let name = Name::parse("zz-planted").unwrap();
        for kind in KINDS {
            let files = plan(kind, &name, &shell::root()).unwrap();
            assert!(files.iter().any(|(path, _)| path.ends_with("zz-planted.spec.ts")), "a test");
            for (path, text) in files {
                assert!(!text.contains("__"), "{}: a name was not filled in", path.display());
                assert!(!shell::root().join(&path).exists());
            }
        }
    }

    #[test]
    fn what_is_there_is_not_overwritten() {
        let view = KINDS.iter().find(|kind| kind.word == "view").unwrap();
        let error = plan(view, &Name::parse("issues").unwrap(), &shell::root()).unwrap_err();
        assert!(error.to_string().contains("exists already"), "{error}");
    }
}
