//! Host lists of Slurm: `n[0-3,07],login1` is `n0 n1 n2 n3 n07 login1` (scontrol(1)).

/// Names in all host lists of a file at most: three times the nodes of the largest machine, which is
/// what a list for each level of its switches needs.
pub const MAX_LISTED: usize = 1 << 19;
/// Bytes of them at most.
const MAX_LISTED_BYTES: usize = 32 << 20;
/// Bytes of a name at most (HOST_NAME_MAX of POSIX).
const MAX_NAME: usize = 255;

/// What the host lists of one file may still have. Ranges multiply, so a few bytes may stand for
/// any number of names: it is counted before a name is made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Room {
    names: usize,
    bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { names: MAX_LISTED, bytes: MAX_LISTED_BYTES }
    }
}

impl Room {
    /// Makes room for `names` of `len` bytes each, which `part` stands for.
    fn take(&mut self, names: usize, len: usize, part: &str) -> Result<(), String> {
        if len > MAX_NAME {
            return Err(format!("{part:?} has names of more than {MAX_NAME} bytes"));
        }
        let left = self
            .names
            .checked_sub(names)
            .zip(names.checked_mul(len).and_then(|bytes| self.bytes.checked_sub(bytes)));
        let Some((names, bytes)) = left else {
            return Err(format!(
                "with {part:?} the host lists of the file have more than {MAX_LISTED} names, or \
                 names of more than {MAX_LISTED_BYTES} bytes together"
            ));
        };
        *self = Self { names, bytes };
        Ok(())
    }
}

/// The names in a host list, in its order. Numbers keep their leading zeros.
///
/// # Errors
/// What is wrong with it, or that it has more names than are read.
pub fn expand(list: &str) -> Result<Vec<String>, String> {
    expand_within(list, &mut Room::default())
}

/// The same where other lists of the file have some names already.
pub(super) fn expand_within(list: &str, room: &mut Room) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    for part in parts(list)? {
        expand_one(part, room, &mut out)?;
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

/// What is written before a pair of brackets, and the numbers inside.
struct Bracket<'a> {
    before: &'a str,
    ranges: Vec<NumberRange>,
}

/// Numbers that follow each other, with leading zeros up to a width.
struct NumberRange {
    first: u64,
    last: u64,
    width: usize,
}

impl NumberRange {
    fn count(&self) -> usize {
        usize::try_from(self.last - self.first).unwrap_or(usize::MAX).saturating_add(1)
    }

    /// Digits of the longest number.
    fn digits(&self) -> usize {
        let digits = self.last.checked_ilog10().map_or(1, |power| power as usize + 1);
        digits.max(self.width)
    }
}

/// All combinations of the ranges of one part.
fn expand_one(part: &str, room: &mut Room, out: &mut Vec<String>) -> Result<(), String> {
    let mut brackets: Vec<Bracket<'_>> = Vec::new();
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((ranges, after)) = after.split_once(']') else {
            return Err(format!("[ without ] in {part:?}"));
        };
        let ranges = ranges.split(',').map(|range| numbers_of(range.trim(), part));
        brackets.push(Bracket { before, ranges: ranges.collect::<Result<_, _>>()? });
        rest = after;
    }
    let (mut total, mut len) = (1_usize, rest.len());
    for Bracket { before, ranges } in &brackets {
        let count = ranges.iter().fold(0_usize, |sum, range| sum.saturating_add(range.count()));
        total = total.saturating_mul(count);
        let digits = ranges.iter().map(NumberRange::digits).max().unwrap_or(0);
        len = len.saturating_add(before.len()).saturating_add(digits);
    }
    room.take(total, len, part)?;
    let numbers: Vec<Vec<String>> = brackets
        .iter()
        .map(|bracket| {
            let all = bracket.ranges.iter().flat_map(|&NumberRange { first, last, width }| {
                (first..=last).map(move |number| format!("{number:0width$}"))
            });
            all.collect()
        })
        .collect();
    // The numbers of the last brackets change from name to name, those of the first ones least.
    let mut each = total;
    let mut choices: Vec<(&str, &[String], usize)> = Vec::new();
    for (bracket, numbers) in brackets.iter().zip(&numbers) {
        each /= numbers.len().max(1);
        choices.push((bracket.before, numbers, each.max(1)));
    }
    out.extend((0..total).map(|nth| {
        let mut name = String::with_capacity(len);
        for &(before, numbers, each) in &choices {
            name.push_str(before);
            let number = numbers.get(nth / each % numbers.len().max(1));
            name.push_str(number.map_or("", String::as_str));
        }
        name.push_str(rest);
        name
    }));
    Ok(())
}

fn numbers_of(range: &str, part: &str) -> Result<NumberRange, String> {
    let wrong = || format!("expected a number or a range such as 0-3, found {range:?} in {part:?}");
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let number = |text: &str| -> Result<u64, String> {
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_plain { text.parse().map_err(|_| wrong()) } else { Err(wrong()) }
    };
    let width = first.len();
    let (first, last) = (number(first)?, number(last)?);
    if last < first {
        return Err(format!("the range {range:?} ends before it begins"));
    }
    Ok(NumberRange { first, last, width })
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
            ("n[0-99999999]", "more than 524288 names"),
            ("n[0-18446744073709551615]", "more than 524288 names"),
            ("n[0-999][0-999][0-999]", "more than 524288 names"),
            ("n[0-524288]", "more than 524288 names"),
        ] {
            let error = expand(list).unwrap_err();
            assert!(error.contains(word), "{list}: {error}");
        }
    }
    /// Every name costs its length once, whatever lists and brackets it comes from, and nothing is
    /// made of a part that is too much.
    #[test]
    fn what_ranges_multiply_to_is_counted_before_it_is_made() {
        let mut room = Room::default();
        assert_eq!(expand_within("n[0-262143]", &mut room).unwrap().len(), 1 << 18);
        let after_first = Room { names: 1 << 18, bytes: MAX_LISTED_BYTES - (1 << 18) * 7 };
        assert_eq!(room, after_first);
        // Other lists of the same file count, too, and what is refused takes no room.
        assert!(expand_within("n[0-262144]", &mut room).unwrap_err().contains("n[0-262144]"));
        assert_eq!(room, after_first);
        assert_eq!(expand_within("n[0-511]x[0-511]", &mut room).unwrap().len(), 1 << 18);
        assert_eq!(room.names, 0);
        assert!(expand_within("one", &mut room).is_err());
        // Many brackets with one number each make no more names, but longer ones.
        let many = format!("n[0-99999]{}", "[1]".repeat(40));
        let mut room = Room::default();
        assert_eq!(expand_within(&many, &mut room).unwrap().len(), 100_000);
        assert_eq!(MAX_LISTED_BYTES - room.bytes, 100_000 * (1 + 5 + 40));
        let longer = format!("n[0-499999]{}", "[1]".repeat(80));
        assert!(expand(&longer).unwrap_err().contains("33554432 bytes together"));
        let wide = format!("n[{}0-9]", "0".repeat(300));
        assert!(expand(&wide).unwrap_err().contains("more than 255 bytes"));
    }
}
