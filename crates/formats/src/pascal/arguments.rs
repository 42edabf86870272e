//! The inputs in the order of the command line.
//!
//! The Analyzer writes `config.arguments` in the order of a Python set, so it may be shuffled,
//! while the input numbers of the data follow the command line. The command line is kept, but its
//! quotes are lost: `--ipts -ns 32 -nt 4,-ns 64 -nt 4 ./prog`.

use std::collections::HashMap;

/// Where the order of the inputs comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The command line has them in the order of the file: nothing was shuffled.
    Confirmed,
    /// The command line has them in another order, which is used.
    Reordered,
    /// The command line does not show them; the file's order is used.
    Unconfirmed,
}

/// The arguments in command-line order, as well as it can be known.
///
/// Among the comma-separated parts of the command, a run of as many parts as there are arguments
/// is looked for: the first ends with a space and one argument, the last starts with another, and
/// those between are the rest in any order.
pub(super) fn in_command_order(
    arguments: &[String],
    command: Option<&str>,
) -> (Vec<String>, Origin) {
    let as_given = |origin| (arguments.to_vec(), origin);
    let n = arguments.len();
    if n < 2 {
        return as_given(Origin::Confirmed);
    }
    let Some(command) = command else { return as_given(Origin::Unconfirmed) };
    let parts: Vec<&str> = command.split(',').collect();
    let Some(windows) = candidates(arguments, &parts) else {
        return as_given(Origin::Unconfirmed);
    };
    let mut found = windows.into_iter().filter_map(|window| arrange(arguments, window));
    let Some(order) = found.next() else { return as_given(Origin::Unconfirmed) };
    // Two different readings of the command line are as good as none.
    if found.any(|other| other != order) {
        return as_given(Origin::Unconfirmed);
    }
    let origin = if order == arguments { Origin::Confirmed } else { Origin::Reordered };
    (order, origin)
}

/// The windows over `parts` with as many parts as there are arguments whose inner parts are
/// arguments, each as often as it is one; `None` when there are so many that they say nothing.
fn candidates<'w, 'c>(arguments: &[String], parts: &'w [&'c str]) -> Option<Vec<&'w [&'c str]>> {
    /// Parts to be examined.
    const MOST: usize = 10_000_000;
    let n = arguments.len();
    // How often each text is an argument less how often it is inside the window, and how many
    // texts are inside too often.
    let (mut left, mut too_many) = (HashMap::<&str, i64>::new(), 0_usize);
    for argument in arguments {
        *left.entry(argument).or_default() += 1;
    }
    let mut out = Vec::new();
    for (from, window) in parts.windows(n).enumerate() {
        let mut change = |part: Option<&&'c str>, by: i64| {
            let Some(count) = part.map(|part| left.entry(part).or_default()) else { return };
            let before = *count < 0;
            *count += by;
            match (before, *count < 0) {
                (false, true) => too_many += 1,
                (true, false) => too_many -= 1,
                _ => {}
            }
        };
        if from == 0 {
            let inner = window.get(1..n - 1).unwrap_or_default();
            inner.iter().for_each(|part| change(Some(part), -1));
        } else {
            change(window.first(), 1);
            change(window.get(n - 2), -1);
        }
        if too_many == 0 {
            out.push(window);
            if out.len().saturating_mul(n) > MOST {
                return None;
            }
        }
    }
    Some(out)
}

fn arrange(arguments: &[String], window: &[&str]) -> Option<Vec<String>> {
    let (first, rest) = window.split_first()?;
    let (last, inner) = rest.split_last()?;
    let mut used: HashMap<&str, usize> = HashMap::new();
    for part in inner {
        *used.entry(part).or_default() += 1;
    }
    // Those that are not inside: two.
    let mut left: Vec<&str> = arguments.iter().map(String::as_str).collect();
    left.retain(|argument| match used.get_mut(argument).filter(|count| **count > 0) {
        Some(count) => {
            *count -= 1;
            false
        }
        None => true,
    });
    if used.values().any(|&count| count > 0) {
        return None;
    }
    let mut take = |fits: &dyn Fn(&str) -> bool| {
        // The longest that fits: "-n 64" before "64".
        let (at, _) =
            left.iter().enumerate().filter(|(_, a)| fits(a)).max_by_key(|(_, a)| a.len())?;
        Some(left.swap_remove(at).to_owned())
    };
    let front = take(&|argument| {
        first
            .strip_suffix(argument)
            .is_some_and(|before| before.is_empty() || before.ends_with([' ', '=', '"', '\'']))
    })?;
    let back = take(&|argument| {
        last.strip_prefix(argument)
            .is_some_and(|after| after.is_empty() || after.starts_with([' ', '"', '\'']))
    })?;
    let middle = inner.iter().map(|part| (*part).to_owned());
    Some(std::iter::once(front).chain(middle).chain(std::iter::once(back)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(arguments: &[&str], command: &str) -> (Vec<String>, Origin) {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        in_command_order(&arguments, Some(command))
    }

    #[test]
    fn every_shuffle_of_the_inputs_comes_back_in_command_order() {
        let right = ["-ns 32 -sm 1", "-ns 64 -sm 2", "-ns 96   -sm 3", "-ns 128 -sm 4"];
        let command =
            format!("pascalanalyzer -c 1,2,4 --ipts {} ./app -o out.json", right.join(","));
        for a in 0..4 {
            for b in (0..4).filter(|&b| b != a) {
                for c in (0..4).filter(|&c| c != a && c != b) {
                    let d = 6 - a - b - c;
                    let shuffled = [a, b, c, d].map(|i| *right.get(i).unwrap());
                    let (found, origin) = order(&shuffled, &command);
                    assert_eq!(found, right);
                    assert_eq!(origin == Origin::Confirmed, shuffled == right);
                }
            }
        }
    }

    #[test]
    fn inputs_that_look_like_core_counts_are_not_guessed() {
        let (found, origin) = order(&["2", "1"], "pascalanalyzer -c 1,2 -i 2,1 ./app");
        assert_eq!((found, origin), (vec!["2".into(), "1".into()], Origin::Unconfirmed));
        let (_, origin) = order(&["a", "b"], "run.py run_cores 3");
        assert_eq!(origin, Origin::Unconfirmed);
    }
}
