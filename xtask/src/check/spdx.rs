//! Licence expressions: `MIT OR (Apache-2.0 WITH LLVM-exception AND BSD-3-Clause)`.

/// True when the allowed licences are enough to use something under `expression`.
/// An expression that cannot be read is not allowed.
pub(super) fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let mut words = tokens(expression);
    words.reverse();
    let verdict = any(&mut words, allowed);
    verdict == Some(true) && words.is_empty()
}

/// Words and parentheses; the old spelling `MIT/Apache-2.0` means `OR`.
fn tokens(expression: &str) -> Vec<String> {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// `a OR b OR ...`; the words are taken from the end of the list.
fn any(words: &mut Vec<String>, allowed: &[String]) -> Option<bool> {
    let mut verdict = all(words, allowed)?;
    while words.pop_if(|word| word == "OR").is_some() {
        verdict |= all(words, allowed)?;
    }
    Some(verdict)
}

/// `a AND b AND ...`
fn all(words: &mut Vec<String>, allowed: &[String]) -> Option<bool> {
    let mut verdict = one(words, allowed)?;
    while words.pop_if(|word| word == "AND").is_some() {
        verdict &= one(words, allowed)?;
    }
    Some(verdict)
}

/// A licence, a licence with an exception, or a group.
fn one(words: &mut Vec<String>, allowed: &[String]) -> Option<bool> {
    let word = words.pop()?;
    match word.as_str() {
        "(" => {
            let verdict = any(words, allowed)?;
            (words.pop()? == ")").then_some(verdict)
        }
        ")" | "OR" | "AND" | "WITH" => None,
        licence => {
            let mut name = licence.to_owned();
            if words.pop_if(|word| word == "WITH").is_some() {
                name = format!("{name} WITH {}", words.pop()?);
            }
            Some(allowed.contains(&name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_judged_by_their_logic() {
        let allowed = ["MIT", "BSD-3-Clause", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        for good in [
            "MIT",
            "MIT OR Apache-2.0",
            "Apache-2.0/MIT",
            "GPL-3.0 OR (MIT AND BSD-3-Clause)",
            "(MIT OR GPL-2.0) AND BSD-3-Clause",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(is_allowed(good, &allowed), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "Apache-2.0",
            "(MIT",
            "MIT)",
            "MIT OR",
            "OR MIT",
            "MIT MIT",
        ] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
    }
}
