//! The metadata line of a profile: XML as TAU writes it, which is not always well-formed.

use super::Facts;

/// The attributes between `<metadata>` and `</metadata>`. Bare `&` and `<` in values are kept;
/// what follows a cut attribute is lost.
pub(super) fn parse(line: &str) -> Facts {
    let Some((_, mut rest)) = line.split_once("<metadata>") else { return Facts::new() };
    let mut facts = Facts::new();
    while let Some((_, attribute)) = rest.split_once("<attribute>") {
        let Some((attribute, after)) = attribute.split_once("</attribute>") else { break };
        rest = after;
        let name = between(attribute, "<name>", "</name>");
        let value = between(attribute, "<value>", "</value>");
        if let (Some(name), Some(value)) = (name, value) {
            facts.push((unescaped(name), unescaped(value)));
        }
    }
    facts
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, after) = text.split_once(open)?;
    after.rsplit_once(close).map(|(inside, _)| inside)
}

/// The text with the five entities of XML and character references replaced; any other `&` stays.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        match entity(from) {
            Some((character, after)) => {
                out.push(character);
                rest = after;
            }
            None => {
                out.push('&');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity(text: &str) -> Option<(char, &str)> {
    const LONGEST: usize = 12;
    let end = text.bytes().take(LONGEST).position(|b| b == b';')?;
    let name = text.get(1..end)?;
    let after = text.get(end + 1..)?;
    let character = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((character, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_no_xml_are_kept_as_they_are() {
        let line = "# Name # <metadata><attribute><name>Cmd</name><value>a && b <c> &lt;d&gt; \
                    &#65;&#x42; &bogus; AT&T</value></attribute><attribute><name>pid</name>\
                    <value>7</value></attribute></metadata>";
        let expected = [("Cmd", "a && b <c> <d> AB &bogus; AT&T"), ("pid", "7")];
        let expected: Facts = expected.map(|(n, v)| (n.to_owned(), v.to_owned())).into();
        assert_eq!(parse(line), expected);
    }

    #[test]
    fn a_cut_line_gives_the_attributes_before_the_cut() {
        let line = "<metadata><attribute><name>a</name><value>1</value></attribute><attribute><na";
        assert_eq!(parse(line), [("a".to_owned(), "1".to_owned())]);
        assert!(parse("# Name Calls").is_empty());
    }
}
