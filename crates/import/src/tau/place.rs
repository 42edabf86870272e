//! Where call paths hang: the parent of each path, although writers cut long paths in front.
//!
//! TAU writes the last N functions of the call stack (`TAU_CALLPATH_DEPTH`), so that paths of N
//! functions may begin anywhere. With N = 2:
//!
//! ```text
//! main            main
//! main => a         a          `a => b` continues `main => a`, the only path that ends in a
//! a => b              b
//! main => c         c
//! b => d              d
//! c => d            c > d
//! d => e          d            two paths end in d: nobody knows which of them called e,
//!                   e          so e hangs below a d of its own, next to main
//! ```
//!
//! Phases are the same with N = 2: `Iteration 3 => solve`.

use std::collections::HashMap;

/// What a path hangs below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Above {
    /// The functions before its last, from the top of the tree.
    Chain,
    /// The path with this number.
    Path(usize),
}

/// The parent of each path, and how many paths were cut where it is unknown what called them. Paths
/// have two functions or more and are distinct.
pub(super) fn parents(paths: &[Vec<&str>]) -> (Vec<Above>, usize) {
    let longest = paths.iter().map(Vec::len).max().unwrap_or(0);
    let whole: HashMap<&[&str], usize> =
        paths.iter().enumerate().map(|(at, path)| (path.as_slice(), at)).collect();
    // The longest ones by what follows their first function: what is cut in front is there.
    let mut by_rest: HashMap<&[&str], Vec<usize>> = HashMap::new();
    for (at, path) in paths.iter().enumerate().filter(|(_, path)| path.len() == longest) {
        if let Some((_, rest)) = path.split_first() {
            by_rest.entry(rest).or_default().push(at);
        }
    }
    let mut ambiguous = 0;
    let mut out: Vec<Above> = paths
        .iter()
        .map(|path| {
            let Some((_, before)) = path.split_last() else { return Above::Chain };
            if let Some(&at) = whole.get(before) {
                return Above::Path(at);
            }
            // Shorter paths begin at the bottom of the stack.
            if path.len() < longest {
                return Above::Chain;
            }
            let same = by_rest.get(before).into_iter().flatten().copied();
            // A path that begins as this one does is a recursion, not what is missing.
            let is_other = |at: &usize| paths.get(*at).is_some_and(|o| o.first() != path.first());
            let mut candidates = same.filter(is_other);
            match (candidates.next(), candidates.next()) {
                (Some(at), None) => Above::Path(at),
                (None, _) => Above::Chain,
                (Some(_), Some(_)) => {
                    ambiguous += 1;
                    Above::Chain
                }
            }
        })
        .collect();
    ambiguous += break_circles(&mut out);
    (out, ambiguous)
}

/// Functions that call each other in a circle have no top: one of them becomes it.
fn break_circles(above: &mut [Above]) -> usize {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; above.len()];
    let mut broken = 0;
    for start in 0..above.len() {
        let mut walked = Vec::new();
        let mut at = start;
        loop {
            match states.get(at) {
                Some(State::New) => {}
                Some(State::Open) => {
                    // The walk came back to where it was: the last step is the one to cut.
                    if let Some(slot) = walked.last().and_then(|&last: &usize| above.get_mut(last))
                    {
                        *slot = Above::Chain;
                        broken += 1;
                    }
                    break;
                }
                Some(State::Done) | None => break,
            }
            if let Some(state) = states.get_mut(at) {
                *state = State::Open;
            }
            walked.push(at);
            match above.get(at) {
                Some(&Above::Path(next)) => at = next,
                _ => break,
            }
        }
        for at in walked {
            if let Some(state) = states.get_mut(at) {
                *state = State::Done;
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(paths: &[&str]) -> (Vec<String>, usize) {
        let paths: Vec<Vec<&str>> = paths.iter().map(|path| path.split(' ').collect()).collect();
        let (above, ambiguous) = parents(&paths);
        let name = |above: &Above| match above {
            Above::Chain => "-".to_owned(),
            Above::Path(at) => paths[*at].join(" "),
        };
        (above.iter().map(name).collect(), ambiguous)
    }

    #[test]
    fn whole_paths_hang_below_their_beginnings() {
        let (above, ambiguous) =
            placed(&["main a", "main a b", "main c", "main c b", "main a b d"]);
        assert_eq!(above, ["-", "main a", "-", "main c", "main a b"]);
        assert_eq!(ambiguous, 0);
    }

    #[test]
    fn cut_paths_hang_where_only_one_path_can_have_been() {
        let (above, ambiguous) = placed(&["main a", "a b", "main c", "b d", "c d", "d e"]);
        assert_eq!(above, ["-", "main a", "-", "a b", "main c", "-"]);
        assert_eq!(ambiguous, 1);
        let (above, ambiguous) = placed(&["m a", "m a b", "a b c", "b c d", "x b", "x b c"]);
        assert_eq!(above, ["-", "m a", "m a b", "-", "-", "x b"]);
        assert_eq!(ambiguous, 1, "both `a b c` and `x b c` may have called d");
    }

    #[test]
    fn recursion_and_circles_have_a_top() {
        let (above, ambiguous) = placed(&["main f", "f f"]);
        assert_eq!((above, ambiguous), (vec!["-".to_owned(), "main f".to_owned()], 0));
        let (above, ambiguous) = placed(&["a b", "b c", "c a"]);
        assert_eq!(above.iter().filter(|above| *above == "-").count(), 1);
        assert_eq!(ambiguous, 1);
    }
}
