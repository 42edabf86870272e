//! Declarations of TypeScript, read back: what their fields are, and how types are called in Python.

/// A declaration.
pub(super) enum Declared {
    /// An object.
    Object {
        /// Its fields.
        fields: Vec<Field>,
        /// Names of types whose fields it has as well.
        parts: Vec<String>,
    },
    /// Anything else, as TypeScript has it: one of several texts.
    Other(String),
}

/// A field of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    /// Its type in TypeScript.
    pub(super) kind: String,
    pub(super) doc: String,
    pub(super) is_optional: bool,
}

/// Reads a declaration that the module `typescript` has laid out, and what is said about it.
pub(super) fn read(text: &str) -> (String, Declared) {
    let (mut doc, mut comment) = (String::new(), String::new());
    let (mut fields, mut parts) = (Vec::new(), Vec::new());
    for line in text.lines().map(str::trim) {
        if line.starts_with("/**") || line.starts_with('*') {
            let words = line.trim_start_matches("/**").trim_end_matches("*/");
            let words = words.trim().trim_start_matches('*').trim();
            if !words.is_empty() {
                comment = format!("{comment} {words}").trim().to_owned();
            }
        } else if let Some(declaration) = line.strip_prefix("export type ") {
            doc = std::mem::take(&mut comment);
            let kind = declaration.split_once(" = ").map_or("", |(_, kind)| kind);
            if kind != "{" {
                return (doc, Declared::Other(kind.trim_end_matches(';').to_owned()));
            }
        } else if let Some(end) = line.strip_prefix('}') {
            let names = end.trim_end_matches(';').split('&').map(str::trim);
            parts.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
        } else if let Some((name, kind)) = line.trim_end_matches(';').split_once(": ") {
            fields.push(Field {
                name: name.trim_end_matches('?').trim_matches('"').to_owned(),
                kind: kind.to_owned(),
                doc: std::mem::take(&mut comment),
                is_optional: name.ends_with('?'),
            });
        }
    }
    (doc, Declared::Object { fields, parts })
}

/// The name of a type in Python. `number` is what numbers are called that TypeScript does not tell
/// apart.
pub(super) fn python_type(kind: &str, number: &str) -> String {
    let kind = kind.trim();
    let choices = split(kind, '|');
    if choices.len() > 1 {
        if choices.iter().all(|choice| choice.starts_with('"')) {
            return format!("Literal[{}]", choices.join(", "));
        }
        let names: Vec<String> = choices.iter().map(|one| python_type(one, number)).collect();
        return names.join(" | ");
    }
    if let Some(inner) = kind.strip_prefix("Array<").and_then(|rest| rest.strip_suffix('>')) {
        return format!("list[{}]", python_type(inner, number));
    }
    if let Some(inner) = kind.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let parts: Vec<String> =
            split(inner, ',').iter().map(|part| python_type(part, number)).collect();
        return format!("tuple[{}]", parts.join(", "));
    }
    if let Some((_, value)) = kind.strip_prefix("{ [").and_then(|rest| rest.split_once("]: ")) {
        return format!("dict[str, {}]", python_type(value.trim_end_matches('}'), number));
    }
    match kind {
        "string" => "str",
        "boolean" => "bool",
        "number" => number,
        "null" => "None",
        "int" => "int",
        // A text of some form, which Python has no type for.
        _ if kind.starts_with('`') => "str",
        _ if kind.starts_with('"') => return format!("Literal[{kind}]"),
        _ => return kind.to_owned(),
    }
    .to_owned()
}

/// Splits at a character outside of brackets.
fn split(text: &str, at: char) -> Vec<String> {
    let (mut depth, mut parts) = (0_usize, vec![String::new()]);
    for letter in text.chars() {
        match letter {
            '<' | '[' | '{' => depth += 1,
            '>' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if letter == at && depth == 0 {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(letter);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

/// The names of declared types that a type mentions.
pub(super) fn mentioned(kind: &str) -> impl Iterator<Item = &str> {
    // Texts to choose from are between quotes.
    let outside = kind.split('"').step_by(2);
    outside
        .flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .filter(|word| word.starts_with(char::is_uppercase) && !["Array", "Record"].contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_names_in_python() {
        let named = |kind| python_type(kind, "float");
        assert_eq!(named("string | null"), "str | None");
        assert_eq!(named("Array<[string, number]>"), "list[tuple[str, float]]");
        assert_eq!(named("Array<string | null>"), "list[str | None]");
        assert_eq!(named("{ [key in string]: TableReply }"), "dict[str, TableReply]");
        assert_eq!(named(r#""loop" | "line""#), r#"Literal["loop", "line"]"#);
        assert_eq!(named("int | null"), "int | None");
        assert_eq!(named(r#""serial" | `${number}`"#), r#"Literal["serial"] | str"#);
        let words: Vec<&str> = mentioned(r#"Array<CostReply> | "Text" | null"#).collect();
        assert_eq!(words, ["CostReply"]);
    }

    #[test]
    fn a_declaration_is_read_back() {
        let text = "/** Some. */\nexport type A = {\n  /**\n   * One\n   * two.\n   */\n  \
                    a?: number | null;\n  b: string;\n} & Other;";
        let (doc, declared) = read(text);
        assert_eq!(doc, "Some.");
        let Declared::Object { fields, parts } = declared else { panic!("no object") };
        assert_eq!(parts, ["Other"]);
        assert_eq!((fields[0].doc.as_str(), fields[0].is_optional), ("One two.", true));
        assert_eq!((fields[1].name.as_str(), fields[1].kind.as_str()), ("b", "string"));
    }
}
