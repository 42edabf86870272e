//! Text inside HTML, SVG and XML.

/// `text` for the inside of an element or a quoted attribute.
///
/// Control characters other than line ends become spaces: XML does not allow them in any encoding.
#[must_use]
pub fn escaped_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() && c != '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_text_stays_text() {
        assert_eq!(escaped_markup("a<b> & \"c\"\u{1}\n"), "a&lt;b&gt; &amp; &quot;c&quot; \n");
    }
}
