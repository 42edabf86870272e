//! Names that look like a mistyped one.

/// Characters of a name beyond which edits are not counted, as they take quadratic time.
const LONGEST: usize = 200;

/// The names among `candidates` that are most like `wanted`, best first, at most `at_most`.
///
/// Case does not count. A name is near when it differs by few edits (insertion, deletion,
/// substitution or exchange of neighbours: at most a third of the length of `wanted`, and at least
/// one; none are looked for where `wanted` is longer than 200 characters), or when it contains
/// `wanted` (three characters or more). Equal distances are ordered by the name, and no name comes
/// twice.
pub fn near_names<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = &'a str>,
    at_most: usize,
) -> Vec<&'a str> {
    let wanted: Vec<char> = fold(wanted);
    let limit = (wanted.len() / 3).max(1);
    let part: String = wanted.iter().collect();
    let mut near: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        let folded = fold(candidate);
        let is_alike = wanted.len() <= LONGEST && folded.len().abs_diff(wanted.len()) <= limit;
        let distance = if is_alike { edit_distance(&wanted, &folded) } else { limit + 1 };
        if distance <= limit {
            near.push((distance, candidate));
        } else if wanted.len() >= 3 && folded.iter().collect::<String>().contains(&part) {
            near.push((limit + 1, candidate));
        }
    }
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(at_most).map(|(_, name)| name).collect()
}

/// "did you mean `a`?" or "did you mean `a`, `b` or `c`?"; `None` where nothing is near.
pub(super) fn did_you_mean<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let near = near_names(wanted, candidates, 3);
    let (last, others) = near.split_last()?;
    let mut text = "did you mean ".to_owned();
    if !others.is_empty() {
        let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&others.join(", "));
        text.push_str(" or ");
    }
    text.push_str(&format!("`{last}`?"));
    Some(text)
}

fn fold(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The optimal string alignment distance, three rows at a time.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut row: Vec<usize> = vec![0; b.len() + 1];
    for (i, &from) in a.iter().enumerate() {
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let mut best =
                (above[j] + usize::from(from != to)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && from == b[j - 1] && a[i - 1] == to {
                best = best.min(before[j - 1] + 1);
            }
            row[j + 1] = best;
        }
        std::mem::swap(&mut before, &mut above);
        std::mem::swap(&mut above, &mut row);
    }
    above[b.len()]
}
