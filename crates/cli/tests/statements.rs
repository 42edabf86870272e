//! Statements in SQL that the page of `open` asks: what is answered, cut, refused, and ended.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::posted;
use serde_json::{Value, json};

/// A server that ends with the test, with its first item open.
struct Served {
    child: Child,
    place: String,
    token: String,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
        let mut child = Command::new(env!("CARGO_BIN_EXE_parallax"))
            .args(["open", "--json", "--no-browser"])
            .args(arguments)
            .current_dir(fixtures)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        let url = line["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        let place = url.split('/').next().unwrap().to_owned();
        let token = line["token"].as_str().unwrap().to_owned();
        let served = Self { child, place, token };
        let opened = served.ask("open", &json!({ "root": line["roots"][0]["key"] }));
        assert!(opened["reply"]["items"][0]["item"].is_string(), "{opened}");
        served
    }

    /// Sends a question.
    fn send(&self, token: &str, question: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(&self.place).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let text = posted(&self.place, token, &question.to_string());
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    /// The head of an answer with the bytes of its tables, or an error.
    fn ask(&self, name: &str, with: &Value) -> Value {
        let mut stream = self.send(&self.token, &json!({ "ask": name, "with": with }));
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        // The head of an answer and an error are objects, and what stands around them is none.
        let heads: [&[u8]; 2] = [b"{\"reply\":", b"{\"kind\":"];
        let start =
            (0..bytes.len()).find(|&at| heads.iter().any(|head| bytes[at..].starts_with(head)));
        let objects = serde_json::Deserializer::from_slice(&bytes[start.unwrap()..]);
        objects.into_iter::<Value>().next().unwrap().unwrap()
    }

    #[cfg(feature = "sql")]
    fn sql(&self, statement: &str, rows: u32) -> Value {
        self.ask("sql", &json!({ "item": "x1", "statement": statement, "rows": rows }))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(not(feature = "sql"))]
#[test]
fn a_build_without_sql_says_so() {
    let served = Served::start(&["reactor/n1024-p1"]);
    assert_eq!(served.ask("hello", &json!({}))["reply"]["sql"], false);
    let refused = served.ask("sql", &json!({ "item": "x1", "statement": "SELECT 1" }));
    assert_eq!(refused["kind"], "misuse");
    assert!(refused["message"].as_str().unwrap().contains("there is no SQL here"), "{refused}");
}

#[cfg(feature = "sql")]
mod with_sql {
    use super::*;

    /// A statement that would run for hours.
    const ENDLESS: &str = "SELECT count(*) FROM contexts a, contexts b, contexts c, contexts d
                           WHERE a.depth + b.depth + c.depth > d.depth * 7";

    #[test]
    fn a_statement_has_its_first_rows_and_says_whether_there_are_more() {
        let served = Served::start(&["reactor/n1024-p1"]);
        assert_eq!(served.ask("hello", &json!({}))["reply"]["sql"], true);
        let cut = served.sql("SELECT context_id, name FROM contexts ORDER BY name", 3);
        assert_eq!(cut["reply"], json!({ "is_cut": true, "notes": [] }), "{cut}");
        assert_eq!(cut["tables"][0]["name"], "rows");
        let whole = served.sql("SELECT 1 AS a LIMIT 3", 3);
        assert_eq!(whole["reply"]["is_cut"], false, "{whole}");
        for described in ["SHOW TABLES", "DESCRIBE contexts", "EXPLAIN SELECT * FROM contexts"] {
            assert_eq!(served.sql(described, 1000)["reply"]["is_cut"], false, "{described}");
        }
        let out_of_bounds = served.sql("SELECT 1", 0);
        assert!(out_of_bounds["message"].as_str().unwrap().contains("`rows` is 0"));
    }

    #[test]
    fn what_may_be_named_is_told_with_its_meaning() {
        let served = Served::start(&["reactor/n1024-p1"]);
        let schema = served.ask("sql_schema", &json!({ "item": "x1" }));
        let named = |list: &Value, name: &str| {
            list.as_array().unwrap().iter().find(|one| one["name"] == name).cloned().unwrap()
        };
        let contexts = named(&schema["reply"]["tables"], "contexts");
        let id = named(&contexts["columns"], "context_id");
        assert_eq!(id["about"], "Context id in the database; 0 is the whole run.");
        let samples = named(&schema["reply"]["tables"], "samples");
        assert_eq!(named(&samples["columns"], "start_ns")["unit"], "ns");
        let flat = named(&schema["reply"]["functions"], "flat");
        assert_eq!(flat["is_table"], true);
        assert!(flat["takes"].as_str().unwrap().split(", ").any(|field| field == "by"), "{flat}");
        assert_eq!(named(&schema["reply"]["functions"], "path")["is_table"], false);
        let common = schema["reply"]["common_functions"].as_array().unwrap();
        assert!(["count", "avg", "row_number"].iter().all(|name| common.contains(&json!(name))));
        // Tables that the database has nothing for are not named.
        let tables = schema["reply"]["tables"].as_array().unwrap();
        assert!(tables.iter().all(|table| table["name"] != "messages"));
    }

    #[test]
    fn several_runs_have_tables_of_their_own() {
        let served = Served::start(&["pascal/solver-v1.json"]);
        let item = &served.ask("sql", &json!({ "item": "e1", "statement": "SELECT * FROM runs" }));
        assert_eq!(item["reply"]["is_cut"], false, "{item}");
        let schema = served.ask("sql_schema", &json!({ "item": "e1" }));
        let tables = schema["reply"]["tables"].as_array().unwrap();
        assert!(tables.iter().any(|table| table["name"] == "runs"), "{schema}");
    }

    #[test]
    fn mistakes_say_where_they_are_and_statements_only_read() {
        let served = Served::start(&["reactor/n1024-p1"]);
        let cases = [
            ("SELECT name,\n  nam FROM contexts", "at Line: 2, Column: 3"),
            ("SELECT *\nFROM context", "at Line: 2, Column: 6"),
            ("SELECT 1 +", "Expected"),
            ("DROP TABLE contexts", "DROP is refused: statements only read"),
            ("SELECT 1; SELECT 2", "there are several statements"),
            ("", "there is no statement"),
        ];
        for (statement, expected) in cases {
            let refused = served.sql(statement, 10);
            assert_eq!(refused["kind"], "misuse", "{statement}: {refused}");
            let message = refused["message"].as_str().unwrap();
            assert!(message.contains(expected), "{statement}: {message}");
        }
        let closed = served.ask("sql", &json!({ "item": "x9", "statement": "SELECT 1" }));
        assert_eq!(closed["kind"], "unknown_item");
    }

    #[test]
    fn columns_of_the_same_name_have_names_of_their_own() {
        let served = Served::start(&["reactor/n1024-p1"]);
        let joined = "SELECT a.name, b.name FROM contexts a JOIN contexts b USING (context_id)";
        let question = json!({ "ask": "sql", "with": { "item": "x1", "statement": joined } });
        let mut bytes = Vec::new();
        served.send(&served.token, &question).read_to_end(&mut bytes).unwrap();
        assert!(bytes.windows(6).any(|window| window == b"name_2"));
    }

    #[test]
    fn nobody_without_the_token_asks_in_sql() {
        let served = Served::start(&["reactor/n1024-p1"]);
        let question = json!({ "ask": "sql", "with": { "item": "x1", "statement": "SELECT 1" } });
        let mut answer = String::new();
        let mut stream = served.send("0123456789abcdef0123456789abcdef", &question);
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    }

    #[test]
    fn a_statement_that_is_withdrawn_makes_room_for_the_next() {
        let served = Served::start(&["reactor/n1024-p1", "--sql-time-limit", "3600"]);
        let question = json!({ "ask": "sql", "with": { "item": "x1", "statement": ENDLESS } });
        let mut endless = served.send(&served.token, &question);
        // The head is sent when the statement is taken on.
        let mut head = [0; 12];
        endless.read_exact(&mut head).unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
        // Other questions are answered meanwhile.
        assert!(served.ask("info", &json!({ "item": "x1" }))["reply"].is_object());
        drop(endless);
        // Statements run one at a time.
        assert_eq!(served.sql("SELECT 1", 10)["reply"]["is_cut"], false);
    }

    #[test]
    fn a_statement_ends_with_its_time_and_its_memory() {
        let limits = ["reactor/n1024-p1", "--sql-time-limit", "0.3", "--sql-memory-limit", "2MB"];
        let served = Served::start(&limits);
        let late = served.sql(ENDLESS, 10);
        assert!(late["message"].as_str().unwrap().contains("takes longer than 0.3 s"), "{late}");
        assert!(late["hint"].as_str().unwrap().contains("--sql-time-limit"), "{late}");
    }
}
