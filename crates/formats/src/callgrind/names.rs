//! Names with numbers: `(3) main` defines, `(3)` repeats.

use std::collections::HashMap;
use std::sync::Arc;

/// What stands for a name that is not known.
const UNKNOWN: &str = "???";

/// One space of numbers; files, functions and objects have one each.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) list: Vec<Arc<str>>,
    by_text: HashMap<Arc<str>, u32>,
    by_number: HashMap<u64, u32>,
}

impl Names {
    /// The position of the name that `spec` means; `None` for a number that nothing defined.
    pub(super) fn resolve(&mut self, spec: &str) -> Option<u32> {
        let (number, text) = split(spec.trim());
        match (number, text) {
            (Some(number), "") => self.by_number.get(&number).copied(),
            (number, text) => {
                let at = self.intern(text);
                if let Some(number) = number {
                    self.by_number.insert(number, at);
                }
                Some(at)
            }
        }
    }

    /// The position of a name, which becomes known by that.
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if let Some(&at) = self.by_text.get(text) {
            return at;
        }
        let at = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let text: Arc<str> = text.into();
        self.list.push(Arc::clone(&text));
        self.by_text.insert(text, at);
        at
    }

    /// Leaves out names that say nothing.
    pub(super) fn known(&self, at: Option<u32>) -> Option<u32> {
        let text = self.list.get(at? as usize)?;
        (&**text != UNKNOWN && !text.is_empty()).then_some(at?)
    }
}

/// `(3) main` as 3 and `main`; a name that merely begins with a parenthesis is a name.
fn split(spec: &str) -> (Option<u64>, &str) {
    let cut = spec.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    match cut.and_then(|(number, text)| Some((number.parse().ok()?, text))) {
        Some((number, text)) => (Some(number), text.trim_start()),
        None => (None, spec),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_for_names_and_may_be_given_anew() {
        let mut names = Names::default();
        let mut text =
            |spec: &str| names.resolve(spec).and_then(|at| names.list.get(at as usize).cloned());
        assert_eq!(text("(1) main").as_deref(), Some("main"));
        assert_eq!(text("(1)").as_deref(), Some("main"));
        assert_eq!(text("(2)"), None);
        assert_eq!(text("(below main)").as_deref(), Some("(below main)"));
        assert_eq!(text("(1) other").as_deref(), Some("other"));
        assert_eq!(text("(1)").as_deref(), Some("other"));
    }
}
