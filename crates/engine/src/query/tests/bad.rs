//! Mistakes and exactly what is said about them.

use super::super::{MAX_DEPTH, MAX_LENGTH, QueryError, QueryErrorKind, parse_profiles};
use super::{CONTEXTS, Canonical, METRICS, PROFILES, WINDOW};

fn check(read: Canonical, table: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (given, expected) in table {
        let said = match read(given) {
            Ok(canonical) => format!("accepted as {canonical}"),
            Err(error) => error.to_string(),
        };
        if said != expected.trim_start_matches('\n') {
            wrong.push_str(&format!("--- {given}\n{said}\n"));
        }
    }
    assert!(wrong.is_empty(), "said otherwise:\n{wrong}");
}

#[test]
fn profiles() {
    check(
        PROFILES,
        &[
            (
                r#""#,
                r#"
the profile expression is empty
hint: write for example `rank(0-9).thread(0)`, or `*` for everything"#,
            ),
            (
                r#"   "#,
                r#"
the profile expression is empty
hint: write for example `rank(0-9).thread(0)`, or `*` for everything"#,
            ),
            (
                r#"rnak(0-3).thread(0)"#,
                r#"
there is no field `rnak` in a profile expression
  rnak(0-3).thread(0)
  ^^^^
hint: did you mean `rank`?"#,
            ),
            (
                r#"thraed"#,
                r#"
there is no field `thraed` in a profile expression
  thraed
  ^^^^^^
hint: did you mean `thread`?"#,
            ),
            (
                r#"rank("#,
                r#"
expected a number, found the end
  rank(
       ^"#,
            ),
            (
                r#"rank()"#,
                r#"
expected a number, found `)`
  rank()
       ^
hint: a field without parentheses means every profile that has it"#,
            ),
            (
                r#"rank(0-3"#,
                r#"
this `(` is never closed
  rank(0-3
      ^
hint: add `)`"#,
            ),
            (
                r#"rank(0-3))"#,
                r#"
expected `.`, `|` or the end, found `)`
  rank(0-3))
           ^
hint: there is one `)` more than `(`"#,
            ),
            (
                r#"rank(3-1)"#,
                r#"
this range runs backwards
  rank(3-1)
       ^^^
hint: write `1-3`; ranges include their end here"#,
            ),
            (
                r#"rank(0-9:0)"#,
                r#"
the step of a range cannot be 0
  rank(0-9:0)
       ^^^^^"#,
            ),
            (
                r#"rank(-5)"#,
                r#"
this range has no beginning
  rank(-5)
       ^^
hint: numbers are never negative; for 0 to 5 write `0-5`"#,
            ),
            (
                r#"rank(0..9)"#,
                r#"
ranges are written with `-`
  rank(0..9)
        ^
hint: `0-9` is 0 to 9; the end is included"#,
            ),
            (
                r#"rank(a)"#,
                r#"
`a` is not a number
  rank(a)
       ^"#,
            ),
            (
                r#"rank(0x)"#,
                r#"
`0x` is not a number
  rank(0x)
       ^^"#,
            ),
            (
                r#"rank(12x)"#,
                r#"
`12x` is not a number
  rank(12x)
       ^^^"#,
            ),
            (
                r#"rank(99999999999999999999)"#,
                r#"
`99999999999999999999` is larger than 18446744073709551615
  rank(99999999999999999999)
       ^^^^^^^^^^^^^^^^^^^^"#,
            ),
            (
                r#"rank(1,)"#,
                r#"
expected a number, found `)`
  rank(1,)
         ^"#,
            ),
            (
                r#"rank(0)."#,
                r#"
expected a field such as `rank(0-9)`, found the end
  rank(0).
          ^"#,
            ),
            (
                r#"rank(0) thread(1)"#,
                r#"
expected `.`, `|` or the end, found `thread`
  rank(0) thread(1)
          ^"#,
            ),
            (
                r#"rank |"#,
                r#"
expected a field such as `rank(0-9)`, found the end
  rank |
        ^"#,
            ),
            (
                r#"function(main)"#,
                r#"
there is no field `function` in a profile expression
  function(main)
  ^^^^^^^^
hint: this looks like a context expression; it belongs in the other argument"#,
            ),
            (
                r#"profile"#,
                r#"
`profile` needs the indices of profiles
  profile
  ^^^^^^^
hint: write `profile(3,7-9)`, or `*` for every profile"#,
            ),
            (
                r#"(rank"#,
                r#"
this `(` is never closed
  (rank
  ^
hint: add `)`"#,
            ),
            (
                r#"ränk(0).öl"#,
                r#"
there is no field `ränk` in a profile expression
  ränk(0).öl
  ^^^^
hint: did you mean `rank`?"#,
            ),
            (
                r#"!"#,
                r#"
expected a field such as `rank(0-9)`, found the end
  !
   ^"#,
            ),
            (
                r#""rank""#,
                r#"
expected a field such as `rank(0-9)`, found `"`
  "rank"
  ^"#,
            ),
            (
                r#"rank(0-3:x)"#,
                r#"
`x` is not a step
  rank(0-3:x)
           ^"#,
            ),
        ],
    );
}

#[test]
fn contexts() {
    check(
        CONTEXTS,
        &[
            (r#""#, ""),
            (r#"fucntion(main)"#, ""),
            (r#"main"#, ""),
            (r#"rank(0)"#, ""),
            (r#"function(main"#, ""),
            (r#"function()"#, ""),
            (r#"function("main)"#, ""),
            (r#"function(/a"#, ""),
            (r#"function(/a(/)"#, ""),
            (r#"function(/a/x)"#, ""),
            (r#"function(a,,b)"#, ""),
            (r#"function(foo(int)"#, ""),
            (r#"function(main)."#, ""),
            (r#"function(main) >"#, ""),
            (r#"function(main)..loop"#, ""),
            (r#"loop(120)"#, ""),
            (r#"line(a.c:12x)"#, ""),
            (r#"line(a.c:9-3)"#, ""),
            (r#"context"#, ""),
            (r#"context()"#, ""),
            (r#"context(x)"#, ""),
            (r#"subtree"#, ""),
            (r#"subtree(main)"#, ""),
            (r#"ancestors()"#, ""),
            (r#"function(main) function(b)"#, ""),
            (r#"*["#, ""),
            (r#"*[]"#, ""),
            (r#"*[depth]"#, ""),
            (r#"*[depth > ]"#, ""),
            (r#"*[depth > 5%]"#, ""),
            (r#"*[depth ~ 5]"#, ""),
            (r#"*[5% < cputime]"#, ""),
            (r#"*[cputime:sum (i) > 5 parsecs]"#, ""),
            (r#"*[time > 5m]"#, ""),
            (r#"*[time > 1e999]"#, ""),
            (r#"*[time > 5%"#, ""),
            (r#"*[name > 5]"#, ""),
            (r#"*[name ~ ]"#, ""),
            (r#"*[cputime (sec) > 5]"#, ""),
            (r#"[1"#, ""),
            (r#"["x"]"#, ""),
            (r#"[("*", {"name": lambda x: x})]"#, ""),
            (r#"[lambda x: x]"#, ""),
            (r#"[{name: "x"}]"#, ""),
            (r#"[{"name": "(?=x)"}]"#, ""),
            (r#"MATCH"#, ""),
            (r#"MATCH ("*", p)->(q"#, ""),
            (r#"MATCH (p) WHERE q."name" = "x""#, ""),
            (r#"MATCH (p) WHERE p."name" IS LEAF"#, ""),
            (r#"MATCH (p) WHERE p IS NONE"#, ""),
            (r#"MATCH (p)->(q) WHERE (p IS LEAF OR q IS LEAF)"#, ""),
            (r#"MATCH (p) WHERE p."t" > "x""#, ""),
            (r#"MATCH (p) WHERE p."t" STARTS "x""#, ""),
            (r#"{MATCH (p)} AND MATCH (q)"#, ""),
            (r#"any(x)"#, ""),
            (r#"loop(a.c:12):3"#, ""),
        ],
    );
}

#[test]
fn metrics() {
    check(
        METRICS,
        &[
            (r#""#, ""),
            (r#"cputime (sec)"#, ""),
            (r#"IO Bytes Read"#, ""),
            (r#"cputime:(sum"#, ""),
            (r#"cputime:(sun)"#, ""),
            (r#""CPUTIME":foo"#, ""),
            (r#"cputime (x)"#, ""),
            (r#"cputime |"#, ""),
            (r#"cputime:"#, ""),
            (r#"(i)"#, ""),
            (r#""abc"#, ""),
            (r#"cputime:sum (i"#, ""),
            (r#"cputime (i) x"#, ""),
        ],
    );
}

#[test]
fn window() {
    check(
        WINDOW,
        &[
            (
                r#""#,
                r#"
the time window is empty
hint: write for example `1.5s..2s`, or `*` for everything"#,
            ),
            (
                r#"1.5s"#,
                r#"
expected `..` and when the window ends, found the end
  1.5s
      ^
hint: a window has two ends: `1.5s..2s`, or `1.5s..` to the end"#,
            ),
            (
                r#"2s..1s"#,
                r#"
this window ends before it begins
  2s..1s
  ^^^^^^
hint: write `1s..2s`"#,
            ),
            (
                r#"10%..110%"#,
                r#"
this is more than 100%
  10%..110%
       ^^^^"#,
            ),
            (
                r#"-5..3"#,
                r#"
a time is never negative
  -5..3
  ^^"#,
            ),
            (
                r#"1..2k"#,
                r#"
this is not a unit of time
  1..2k
     ^^
hint: the units are %, ns, us, ms, s, min and h; a plain number is a time stamp in ns"#,
            ),
            (
                r#"a..b"#,
                r#"
expected a number, found `a`
  a..b
  ^"#,
            ),
            (
                r#"(1, 2"#,
                r#"
this `(` is never closed
  (1, 2
  ^
hint: add `)`"#,
            ),
            (
                r#"1..2..3"#,
                r#"
expected the end, found `.`
  1..2..3
      ^"#,
            ),
            (
                r#"1e30s.."#,
                r#"
this time is too far away
  1e30s..
  ^^^^^"#,
            ),
        ],
    );
}

#[test]
fn limits() {
    let long = "rank | ".repeat(MAX_LENGTH / 7 + 1);
    let error = parse_profiles(&long).unwrap_err();
    assert_eq!(error.kind, QueryErrorKind::TooLong);
    assert!(error.to_string().contains("1048577 bytes, more than 1048576"), "{error}");
    for open in ["(", "!", "not "] {
        let deep = |depth: usize| {
            format!(
                "{}rank{}",
                open.repeat(depth),
                if open == "(" { ")".repeat(depth) } else { String::new() }
            )
        };
        assert!(parse_profiles(&deep(MAX_DEPTH)).is_ok());
        let error = parse_profiles(&deep(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(error.kind, QueryErrorKind::TooDeep);
    }
    for text in [
        "(",
        "!",
        "*[(",
        "*[not ",
        "{",
        "NOT {",
        "MATCH (p) WHERE (",
        "MATCH (p) WHERE NOT ",
        "subtree(",
    ] {
        let error = CONTEXTS(&text.repeat(100_000)).unwrap_err();
        assert!([QueryErrorKind::TooDeep, QueryErrorKind::Syntax].contains(&error.kind), "{error}");
    }
}

#[test]
fn a_long_expression_is_shown_around_the_place() {
    let text = format!("{}rnak{}", "rank(1) | ".repeat(30), " | rank(2)".repeat(30));
    let error = parse_profiles(&text).unwrap_err();
    assert_eq!((error.column, error.length), (301, 4));
    let expected = r"there is no field `rnak` in a profile expression
  …1) | rank(1) | rank(1) | rank(1) | rank(1) | rnak | rank(2) | rank(2) | rank(2) | rank(2) | rank…
                                                 ^^^^
hint: did you mean `rank`?";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_unknown_name_is_shown_where_it_stands() {
    let expression = "function(main).function(MPI_Sned)";
    let error = QueryError::unknown_name(expression, "mpi_sned", "no function `MPI_Sned` was seen");
    assert_eq!((error.kind, error.column, error.length), (QueryErrorKind::UnknownName, 25, 8));
    let whole = QueryError::unknown_name(expression, "elsewhere", "nothing");
    assert_eq!((whole.column, whole.length), (1, 33));
    let empty = QueryError::unknown_name("", "", "nothing").to_string();
    assert_eq!(empty, "nothing");
}
