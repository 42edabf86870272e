//! Lines with separators and quotes.

use std::borrow::Cow;

/// The separator of a header line: the most frequent of `,`, `;`, tab and `|` outside quotes.
pub(super) fn separator(header: &str) -> Option<char> {
    let count = |separator: char| fields(header, separator).len();
    let best = [',', ';', '\t', '|'].into_iter().max_by_key(|&c| (count(c), c == ','))?;
    (count(best) > 1).then_some(best)
}

/// The fields of one line. Quoted fields may hold separators; `""` inside quotes is one quote.
pub(super) fn fields(line: &str, separator: char) -> Vec<Cow<'_, str>> {
    if !line.contains('"') {
        return line.split(separator).map(|field| Cow::Borrowed(field.trim())).collect();
    }
    quoted_fields(line, separator).into_iter().map(Cow::Owned).collect()
}

fn quoted_fields(line: &str, separator: char) -> Vec<String> {
    let (mut all, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted || field.trim().is_empty() => quoted = !quoted,
            c if c == separator && !quoted => {
                all.push(std::mem::take(&mut field).trim().to_owned());
            }
            c => field.push(c),
        }
    }
    all.push(field.trim().to_owned());
    all
}

/// The column names of a header line; `None` when it does not look like one.
pub(crate) fn split_header(line: &str) -> Option<Vec<String>> {
    let names: Vec<String> =
        fields(line, separator(line)?).into_iter().map(Cow::into_owned).collect();
    let numbers = names.iter().filter(|name| name.parse::<f64>().is_ok()).count();
    let named = names.iter().filter(|name| !name.is_empty()).count();
    (numbers == 0 && named + 1 >= names.len() && named > 0).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_protect_separators() {
        let line = r#"cores,"a, b" , "say ""hi""", x "#;
        assert_eq!(fields(line, ','), ["cores", "a, b", "say \"hi\"", "x"]);
        assert_eq!(separator("a;b;c,d"), Some(';'));
        assert_eq!(split_header("18,394752"), None);
        assert_eq!(split_header("p, time [s]").unwrap(), ["p", "time [s]"]);
    }
}
