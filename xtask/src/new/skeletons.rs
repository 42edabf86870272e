//! The files of what can be added.

use super::NewFile;
use super::name::Name;

/// Something that can be added.
pub(crate) struct Kind {
    pub(crate) word: &'static str,
    pub(crate) files: fn(&Name) -> Vec<NewFile>,
    /// What to do with it.
    pub(crate) next: &'static str,
}

pub(crate) const KINDS: &[Kind] = &[Kind {
    word: "view",
    files: view,
    next: "The registry of views finds it. `cargo xtask web page` builds it; its test is run by \
           `npm run e2e` in web/.",
}];

fn view(name: &Name) -> Vec<NewFile> {
    let folder = format!("web/src/views/{}", name.kebab());
    vec![
        NewFile {
            path: format!("{folder}/index.ts"),
            text: include_str!("../../templates/view/index.ts.txt"),
        },
        NewFile {
            path: format!("{folder}/{}.svelte", name.pascal()),
            text: include_str!("../../templates/view/view.svelte.txt"),
        },
        NewFile {
            path: format!("web/e2e/{}.spec.ts", name.kebab()),
            text: include_str!("../../templates/view/spec.ts.txt"),
        },
    ]
}
