//! Host lists of Slurm: `n[0-3,07],login1` is `n0 n1 n2 n3 n07 login1` (scontrol(1)).

use super::MAX_HOSTS;

/// The names in a host list, in its order. Numbers keep their leading zeros.
///
/// # Errors
/// What is wrong with it, or that it has more names than are read.
pub fn expand(list: &str) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    for part in parts(list)? {
        expand_one(part, &mut out)?;
    }
    Ok(out)
}

/// Cuts at commas outside of brackets.
fn parts(list: &str) -> Result<Vec<&str>, String> {
    let (mut out, mut start, mut is_inside) = (Vec::new(), 0, false);
    for (at, letter) in list.char_indices() {
        match letter {
            '[' if is_inside => return Err(format!("a bracket inside brackets in {list:?}")),
            '[' => is_inside = true,
            ']' if !is_inside => return Err(format!("] without [ in {list:?}")),
            ']' => is_inside = false,
            ',' if !is_inside => {
                out.push(list.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    if is_inside {
        return Err(format!("[ without ] in {list:?}"));
    }
    out.push(list.get(start..).unwrap_or_default());
    Ok(out.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect())
}

/// All combinations of the ranges of one part.
fn expand_one(part: &str, out: &mut Vec<String>) -> Result<(), String> {
    let mut names = vec![String::new()];
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((ranges, after)) = after.split_once(']') else {
            return Err(format!("[ without ] in {part:?}"));
        };
        let mut numbers: Vec<String> = Vec::new();
        for range in ranges.split(',') {
            numbers.extend(numbers_of(range.trim(), part)?);
            if numbers.len() > MAX_HOSTS {
                return Err(too_many(part));
            }
        }
        if names.len().saturating_mul(numbers.len()) > MAX_HOSTS {
            return Err(too_many(part));
        }
        let longer = |name: &String| {
            let start = format!("{name}{before}");
            numbers.iter().map(move |number| format!("{start}{number}")).collect::<Vec<_>>()
        };
        names = names.iter().flat_map(longer).collect();
        rest = after;
    }
    if out.len() + names.len() > MAX_HOSTS {
        return Err(too_many(part));
    }
    out.extend(names.into_iter().map(|name| format!("{name}{rest}")));
    Ok(())
}

fn too_many(part: &str) -> String {
    format!("{part:?} has more than {MAX_HOSTS} names")
}

fn numbers_of(range: &str, part: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("expected a number or a range such as 0-3, found {range:?} in {part:?}");
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let number = |text: &str| -> Result<u64, String> {
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain { text.parse().map_err(|_| wrong()) } else { Err(wrong()) }
    };
    let (start, end) = (number(first)?, number(last)?);
    if end < start {
        return Err(format!("the range {range:?} ends before it begins"));
    }
    if end - start >= MAX_HOSTS as u64 {
        return Err(too_many(part));
    }
    let width = first.len();
    Ok((start..=end).map(|number| format!("{number:0width$}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_their_zeros_and_combine() {
        let names = expand("n[08-10,3], login1,r[1-2]c[0-1]n").unwrap();
        assert_eq!(
            names,
            ["n08", "n09", "n10", "n3", "login1", "r1c0n", "r1c1n", "r2c0n", "r2c1n"]
        );
        assert_eq!(expand("").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (list, word) in [
            ("n[1-", "without ]"),
            ("n1]", "without ["),
            ("n[[1]]", "inside"),
            ("n[a-b]", "expected a number"),
            ("n[3-1]", "ends before"),
            ("n[0-99999999]", "more than"),
            ("n[0-999][0-999][0-999]", "more than"),
        ] {
            let error = expand(list).unwrap_err();
            assert!(error.contains(word), "{list}: {error}");
        }
    }
}
