//! The schema: which tables there are, and which columns of them are stored where.

use std::ops::ControlFlow;

use parallax_base::{Issues, Place, Severity, Stage};

use super::{Database, Value};
use crate::FormatError;

/// Where a column of a table is found in its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// It is the number of the row.
    Rowid,
    /// It is the value stored at this position.
    Stored(usize),
    /// It is not stored, or the table has no such column.
    Absent,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Name.
    pub name: String,
    /// Page of the root of its tree.
    pub(super) root: u32,
    /// Its columns in their order.
    pub(super) columns: Vec<(String, Column)>,
    /// Whether its rows are kept in an index, which is not read.
    pub is_without_rowid: bool,
}

impl Table {
    /// Names of the columns, in their order.
    pub fn column_names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// The column of a name, in any case; [`Column::Absent`] when there is none.
    #[must_use]
    pub fn column(&self, name: &str) -> Column {
        let found = self.columns.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map_or(Column::Absent, |&(_, column)| column)
    }

    /// Whether there is a column of a name, in any case.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
    }
}

/// The table of the schema itself: type, name, table, root page, text.
fn schema_table() -> Table {
    let columns = ["type", "name", "tbl_name", "rootpage", "sql"];
    Table {
        name: "sqlite_schema".to_owned(),
        root: 1,
        columns: columns
            .iter()
            .enumerate()
            .map(|(at, name)| ((*name).to_owned(), Column::Stored(at)))
            .collect(),
        is_without_rowid: false,
    }
}

/// Reads all tables.
pub(super) fn read(database: &Database, issues: &mut Issues) -> Result<Vec<Table>, FormatError> {
    let schema = schema_table();
    let mut tables = Vec::new();
    let mut unreadable = Vec::new();
    let mut too_large = None;
    let mut bytes = 0_u64;
    database.scan(&schema, issues, &mut |row| {
        let [kind, name, root, sql] = [0, 1, 3, 4].map(Column::Stored);
        if row.text(kind).as_deref() != Some("table") {
            return ControlFlow::Continue(());
        }
        let (Some(name), Some(sql)) = (row.text(name), row.text(sql)) else {
            return ControlFlow::Continue(());
        };
        bytes += (name.len() + sql.len()) as u64;
        if let Err(cause) = database.limits.metadata("the schema", bytes) {
            too_large = Some(cause);
            return ControlFlow::Break(());
        }
        // A virtual table has no pages.
        let root = match row.get(root) {
            Value::Integer(root) => u32::try_from(root).unwrap_or(0),
            _ => 0,
        };
        if root == 0 {
            return ControlFlow::Continue(());
        }
        match parse(&sql) {
            Some((columns, is_without_rowid)) => {
                tables.push(Table { name, root, columns, is_without_rowid });
            }
            None => unreadable.push(name),
        }
        ControlFlow::Continue(())
    })?;
    if let Some(cause) = too_large {
        return Err(FormatError::Limit { file: database.file.clone(), cause });
    }
    for name in unreadable {
        let place = Place::File { file: database.file.clone() };
        issues.report(Severity::Error, Stage::Read, "table-unknown", place, || {
            format!("the columns of table {name} cannot be understood; it is omitted")
        });
    }
    Ok(tables)
}

/// A word, a quoted name or a sign of SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// Without quotes: a name or a keyword.
    Word(String),
    /// With quotes: never a keyword.
    Quoted(String),
    Sign(char),
}

impl Token {
    fn is_word(&self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    fn name(&self) -> Option<&str> {
        match self {
            Self::Word(name) | Self::Quoted(name) => Some(name),
            Self::Sign(_) => None,
        }
    }
}

/// The columns of a CREATE TABLE, and whether the table is kept WITHOUT ROWID.
fn parse(sql: &str) -> Option<(Vec<(String, Column)>, bool)> {
    let tokens = tokens(sql);
    let open = tokens.iter().position(|token| *token == Token::Sign('('))?;
    let mut depth = 0_usize;
    let mut items: Vec<Vec<Token>> = vec![Vec::new()];
    let mut rest: &[Token] = &[];
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            Token::Sign(',') if depth == 1 => {
                items.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            rest = tokens.get(i + 1..).unwrap_or_default();
            break;
        }
        if i > open
            && let Some(item) = items.last_mut()
        {
            item.push(token.clone());
        }
    }
    let is_without_rowid = rest
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.is_word("without") && b.is_word("rowid")));
    let mut definitions: Vec<Definition> = Vec::new();
    let mut primary: Option<String> = None;
    for item in &items {
        let Some(first) = item.first() else { continue };
        let is_constraint = ["constraint", "primary", "unique", "check", "foreign"]
            .iter()
            .any(|keyword| first.is_word(keyword));
        if is_constraint {
            primary = primary.or_else(|| single_primary_key(item));
        } else {
            definitions.push(Definition::of(item)?);
        }
    }
    let mut stored = 0;
    let columns = definitions.into_iter().map(|definition| {
        let Definition { name, is_integer, is_primary, is_virtual } = definition;
        let is_primary =
            is_primary || primary.as_ref().is_some_and(|key| key.eq_ignore_ascii_case(&name));
        if is_virtual {
            return (name, Column::Absent);
        }
        let position = Column::Stored(stored);
        // The row number keeps a place, too: a null.
        stored += 1;
        let is_rowid = is_integer && is_primary && !is_without_rowid;
        (name, if is_rowid { Column::Rowid } else { position })
    });
    Some((columns.collect(), is_without_rowid))
}

struct Definition {
    name: String,
    /// Whether its type is INTEGER: INT is another one, which does not make it the row number.
    is_integer: bool,
    is_primary: bool,
    is_virtual: bool,
}

impl Definition {
    fn of(item: &[Token]) -> Option<Self> {
        let (name, rest) = item.split_first()?;
        let starts_constraint = |token: &Token| {
            const WORDS: [&str; 11] = [
                "constraint",
                "primary",
                "not",
                "null",
                "unique",
                "check",
                "default",
                "collate",
                "references",
                "generated",
                "as",
            ];
            WORDS.iter().any(|word| token.is_word(word))
        };
        let type_len = rest.iter().position(starts_constraint).unwrap_or(rest.len());
        let (kind, constraints) = rest.split_at(type_len);
        let is_integer = matches!(kind, [only] if only.name().is_some_and(|name| {
            name.eq_ignore_ascii_case("integer")
        }));
        let primary = constraints.iter().position(|token| token.is_word("primary"));
        // INTEGER PRIMARY KEY DESC is an ordinary column, for the sake of old databases.
        let is_descending = primary
            .and_then(|at| constraints.get(at + 2))
            .is_some_and(|token| token.is_word("desc"));
        let is_generated = constraints
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.is_word("as") && *b == Token::Sign('(')));
        let is_stored = constraints.iter().any(|token| token.is_word("stored"));
        Some(Self {
            name: name.name()?.to_owned(),
            is_integer,
            is_primary: primary.is_some() && !is_descending,
            is_virtual: is_generated && !is_stored,
        })
    }
}

/// The column of a `PRIMARY KEY(column)` of a table.
fn single_primary_key(item: &[Token]) -> Option<String> {
    let at = item.iter().position(|token| token.is_word("primary"))?;
    match item.get(at..)? {
        [_, _, Token::Sign('('), name, Token::Sign(')'), ..] => name.name().map(str::to_owned),
        [_, _, Token::Sign('('), name, order, Token::Sign(')'), ..] if order.is_word("asc") => {
            name.name().map(str::to_owned)
        }
        _ => None,
    }
}

fn tokens(sql: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut chars = sql.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '-' if chars.peek() == Some(&'-') => {
                for c in chars.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '"' | '`' | '\'' | '[' => {
                let close = if c == '[' { ']' } else { c };
                let mut name = String::new();
                while let Some(c) = chars.next() {
                    if c != close {
                        name.push(c);
                    } else if close != ']' && chars.peek() == Some(&close) {
                        // Twice is once, meant literally.
                        chars.next();
                        name.push(close);
                    } else {
                        break;
                    }
                }
                out.push(Token::Quoted(name));
            }
            c if c.is_whitespace() => {}
            c if c.is_alphanumeric() || c == '_' || !c.is_ascii() => {
                let mut word = c.to_string();
                let belongs =
                    |c: &char| c.is_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii();
                while let Some(c) = chars.next_if(belongs) {
                    word.push(c);
                }
                out.push(Token::Word(word));
            }
            sign => out.push(Token::Sign(sign)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(sql: &str) -> Vec<(String, Column)> {
        parse(sql).unwrap().0
    }

    fn named(list: &[(&str, Column)]) -> Vec<(String, Column)> {
        list.iter().map(|(name, column)| ((*name).to_owned(), *column)).collect()
    }

    #[test]
    fn only_an_integer_primary_key_is_the_row_number() {
        use Column::{Rowid, Stored};
        let cases = [
            ("CREATE TABLE t(Id INTEGER PRIMARY KEY NOT NULL, a)", Rowid),
            ("CREATE TABLE t(Id integer primary key autoincrement, a)", Rowid),
            ("CREATE TABLE t(Id INTEGER, a, PRIMARY KEY (Id))", Rowid),
            ("CREATE TABLE t(Id INTEGER, a, CONSTRAINT k PRIMARY KEY(\"id\" ASC))", Rowid),
            ("CREATE TABLE t(Id INT PRIMARY KEY NOT NULL, a)", Stored(0)),
            ("CREATE TABLE t(Id CHAR(50) PRIMARY KEY, a)", Stored(0)),
            ("CREATE TABLE t(Id INTEGER PRIMARY KEY DESC, a)", Stored(0)),
            ("CREATE TABLE t(Id INTEGER, a, PRIMARY KEY (Id, a))", Stored(0)),
            ("CREATE TABLE t(Id INTEGER UNIQUE, a)", Stored(0)),
        ];
        for (sql, id) in cases {
            assert_eq!(columns(sql), named(&[("Id", id), ("a", Stored(1))]), "{sql}");
        }
    }

    #[test]
    fn names_in_quotes_comments_and_types_with_commas_are_understood() {
        let sql = "CREATE TABLE \"a table\" (\n\
            -- the key, as (said) above\n\
            [Id] INTEGER PRIMARY KEY, /* two, of them */\n\
            \"a \"\"quoted\"\" name\" DECIMAL(10, 2) DEFAULT (1 + (2)),\n\
            `Column` INTEGER, Überlänge TEXT CHECK (Überlänge IN ('a', 'b')),\n\
            'Type',\n\
            FOREIGN KEY(`Column`) REFERENCES b(Id), UNIQUE (Type, `Column`))";
        let names: Vec<_> = columns(sql).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Id", "a \"quoted\" name", "Column", "Überlänge", "Type"]);
    }

    #[test]
    fn a_column_that_is_computed_when_read_takes_no_place() {
        let sql = "CREATE TABLE t(a, b INT GENERATED ALWAYS AS (a + 1) VIRTUAL, \
                   c INT AS (a * 2) STORED, d INT AS (a), e)";
        use Column::{Absent, Stored};
        let expected =
            [("a", Stored(0)), ("b", Absent), ("c", Stored(1)), ("d", Absent), ("e", Stored(2))];
        assert_eq!(columns(sql), named(&expected));
    }

    #[test]
    fn tables_without_row_numbers_are_known() {
        assert!(parse("CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID").unwrap().1);
        assert!(parse("CREATE TABLE t(a PRIMARY KEY) STRICT, WITHOUT ROWID").unwrap().1);
        assert!(!parse("CREATE TABLE t(a, rowid)").unwrap().1);
    }

    #[test]
    fn text_that_is_no_table_is_refused_without_a_panic() {
        for sql in ["", "CREATE TABLE t", "(", "CREATE TABLE t(((", "CREATE TABLE t(,,)", "t('"] {
            let _ = parse(sql);
        }
        assert_eq!(parse("CREATE TABLE t"), None);
    }
}
