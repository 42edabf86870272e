//! Lines with separators and quotes.
//!
//! A line is a record: a quote that is never closed spoils its own line and no other.

use std::borrow::Cow;

use csv_core::ReadFieldResult;

/// The separator of a header line: the most frequent of `,`, `;`, tab and `|` outside quotes.
pub(crate) fn separator(header: &str) -> Option<char> {
    let count = |separator: char| fields(header, separator).len();
    let best = [',', ';', '\t', '|'].into_iter().max_by_key(|&c| (count(c), c == ','))?;
    (count(best) > 1).then_some(best)
}

/// The fields of one line. Quoted fields may hold separators; `""` inside quotes is one quote.
pub(crate) fn fields(line: &str, separator: char) -> Vec<Cow<'_, str>> {
    if !line.contains('"') {
        return line.split(separator).map(|field| Cow::Borrowed(field.trim())).collect();
    }
    quoted_fields(line, separator).into_iter().map(Cow::Owned).collect()
}

fn quoted_fields(line: &str, separator: char) -> Vec<String> {
    // All separators that are tried are ASCII.
    let delimiter = u8::try_from(separator).unwrap_or(b',');
    let mut reader = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
    let mut rest = line.as_bytes();
    let (mut all, mut field) = (Vec::new(), vec![0; line.len()]);
    let mut filled = 0;
    loop {
        if filled == 0 {
            // People put blanks before quotes, which the standard takes for a field without quotes.
            while let [first, others @ ..] = rest
                && first.is_ascii_whitespace()
                && *first != delimiter
            {
                rest = others;
            }
        }
        let room = field.get_mut(filled..).unwrap_or_default();
        let (result, read, written) = reader.read_field(rest, room);
        rest = rest.get(read..).unwrap_or_default();
        filled += written;
        match result {
            // The next call has no input, which ends the line.
            ReadFieldResult::InputEmpty => {}
            ReadFieldResult::Field { record_end } => {
                let text = field.get(..filled).unwrap_or_default();
                all.push(String::from_utf8_lossy(text).trim().to_owned());
                filled = 0;
                if record_end {
                    return all;
                }
            }
            ReadFieldResult::OutputFull | ReadFieldResult::End => return all,
        }
    }
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
        assert_eq!(fields("a\t\"b\tc\"\t", '\t'), ["a", "b\tc", ""]);
        assert_eq!(fields(r#""never closed, x"#, ','), ["never closed, x"]);
        assert_eq!(fields(r#""ä", "#, ','), ["ä", ""]);
        assert_eq!(separator("a;b;c,d"), Some(';'));
        assert_eq!(split_header("18,394752"), None);
        assert_eq!(split_header("p, time [s]").unwrap(), ["p", "time [s]"]);
    }
}
