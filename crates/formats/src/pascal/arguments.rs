//! The inputs in the order of the command line.
//!
//! The Analyzer writes `config.arguments` in the order of a Python set, so it may be shuffled,
//! while the input numbers of the data follow the command line. The command line is kept, but its
//! quotes are lost: `--ipts -ns 32 -nt 4,-ns 64 -nt 4 ./prog`.

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
    let mut found = parts.windows(n).filter_map(|window| arrange(arguments, window));
    let Some(order) = found.next() else { return as_given(Origin::Unconfirmed) };
    // Two different readings of the command line are as good as none.
    if found.any(|other| other != order) {
        return as_given(Origin::Unconfirmed);
    }
    let origin = if order == arguments { Origin::Confirmed } else { Origin::Reordered };
    (order, origin)
}

fn arrange(arguments: &[String], window: &[&str]) -> Option<Vec<String>> {
    let (first, rest) = window.split_first()?;
    let (last, inner) = rest.split_last()?;
    let mut left: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut take = |fits: &dyn Fn(&str) -> bool| {
        // The longest that fits: "-n 64" before "64".
        let (at, _) =
            left.iter().enumerate().filter(|(_, a)| fits(a)).max_by_key(|(_, a)| a.len())?;
        Some(left.swap_remove(at).to_owned())
    };
    let mut middle = Vec::with_capacity(inner.len());
    for part in inner {
        middle.push(take(&|argument| argument == *part)?);
    }
    let front = take(&|argument| {
        first
            .strip_suffix(argument)
            .is_some_and(|before| before.is_empty() || before.ends_with([' ', '=', '"', '\'']))
    })?;
    let back = take(&|argument| {
        last.strip_prefix(argument)
            .is_some_and(|after| after.is_empty() || after.starts_with([' ', '"', '\'']))
    })?;
    let mut order = vec![front];
    order.append(&mut middle);
    order.push(back);
    Some(order)
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
