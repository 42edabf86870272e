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
            (
                r#""#,
                r#"
the context expression is empty
hint: write for example `function(main).function(MPI_*)`, or `*` for everything"#,
            ),
            (
                r#"fucntion(main)"#,
                r#"
there is no kind of context `fucntion`
  fucntion(main)
  ^^^^^^^^
hint: did you mean `function`?"#,
            ),
            (
                r#"main"#,
                r#"
there is no kind of context `main`
  main
  ^^^^
hint: a function is written `function(main)`; the kinds are function, loop, line, instruction, entry, any, context, application, subtree, ancestors, node"#,
            ),
            (
                r#"rank(0)"#,
                r#"
there is no kind of context `rank`
  rank(0)
  ^^^^
hint: this looks like a profile expression; it belongs in the other argument"#,
            ),
            (
                r#"function(main"#,
                r#"
this `(` is never closed
  function(main
          ^
hint: add `)`"#,
            ),
            (
                r#"function()"#,
                r#"
expected a name, found `)`
  function()
           ^
hint: `function` without parentheses means every function"#,
            ),
            (
                r#"function("main)"#,
                r#"
this `"` is never closed
  function("main)
           ^"#,
            ),
            (
                r#"function(/a"#,
                r#"
this regular expression is never closed
  function(/a
           ^
hint: end it with `/`; a `/` inside is written `\/`"#,
            ),
            (
                r#"function(/a(/)"#,
                r#"
this regular expression cannot be used: unclosed group
  function(/a(/)
           ^^^^"#,
            ),
            (
                r#"function(/a/x)"#,
                r#"
unknown flag `x` of a regular expression
  function(/a/x)
              ^
hint: the only flag is `i`: ignore case"#,
            ),
            (
                r#"function(a,,b)"#,
                r#"
expected a name, found `,`
  function(a,,b)
             ^"#,
            ),
            (
                r#"function(foo(int)"#,
                r#"
this `(` is never closed
  function(foo(int)
          ^
hint: add `)`"#,
            ),
            (
                r#"function(main)."#,
                r#"
expected a context such as `function(main)`, found the end
  function(main).
                 ^"#,
            ),
            (
                r#"function(main) >"#,
                r#"
expected a context such as `function(main)`, found the end
  function(main) >
                  ^"#,
            ),
            (
                r#"function(main)..loop"#,
                r#"
expected a context such as `function(main)`, found `.`
  function(main)..loop
                 ^"#,
            ),
            (
                r#"loop(120)"#,
                r#"
`120` is a line number without a name before it
  loop(120)
       ^^^
hint: write `loop(NAME:120)`, or quote the name"#,
            ),
            (
                r#"line(a.c:12x)"#,
                r#"
`12x` is not a line number
  line(a.c:12x)
           ^^^
hint: where it belongs to the name, put the name in quotes"#,
            ),
            (
                r#"line(a.c:9-3)"#,
                r#"
this range runs backwards
  line(a.c:9-3)
           ^^^
hint: write `3-9`; ranges include their end here"#,
            ),
            (
                r#"context"#,
                r#"
`context` needs the ids of contexts
  context
  ^^^^^^^
hint: write `context(12,30-40)`, or `any` for every context"#,
            ),
            (
                r#"context()"#,
                r#"
expected the id of a context, found `)`
  context()
          ^"#,
            ),
            (
                r#"context(x)"#,
                r#"
`x` is not the id of a context
  context(x)
          ^"#,
            ),
            (
                r#"subtree"#,
                r#"
`subtree` of what?
  subtree
  ^^^^^^^
hint: write `subtree(function(main))`"#,
            ),
            (
                r#"subtree(main)"#,
                r#"
there is no kind of context `main`
  subtree(main)
          ^^^^
hint: a function is written `function(main)`; the kinds are function, loop, line, instruction, entry, any, context, application, subtree, ancestors, node"#,
            ),
            (
                r#"ancestors()"#,
                r#"
expected a context such as `function(main)`, found `)`
  ancestors()
            ^"#,
            ),
            (
                r#"function(main) function(b)"#,
                r#"
expected `.`, `>`, `[`, `|` or the end, found `function`
  function(main) function(b)
                 ^"#,
            ),
            (
                r#"*["#,
                r#"
expected a metric or an attribute such as `depth`, found the end
  *[
    ^"#,
            ),
            (
                r#"*[]"#,
                r#"
expected a metric or an attribute such as `depth`, found `]`
  *[]
    ^"#,
            ),
            (
                r#"*[depth]"#,
                r#"
expected a comparison of `depth`, found `]`
  *[depth]
         ^
hint: compare with >, >=, <, <=, == or !=: `cputime:sum (i) > 5%`"#,
            ),
            (
                r#"*[depth > ]"#,
                r#"
expected a number, found `]`
  *[depth > ]
            ^"#,
            ),
            (
                r#"*[depth > 5%]"#,
                r#"
`depth` is a plain number and has no unit
  *[depth > 5%]
            ^^"#,
            ),
            (
                r#"*[depth ~ 5]"#,
                r#"
expected a comparison of `depth`, found `~`
  *[depth ~ 5]
          ^
hint: `~` is for `name`, `file` and `module`"#,
            ),
            (
                r#"*[5% < cputime]"#,
                r#"
a comparison begins with a metric or an attribute
  *[5% < cputime]
    ^
hint: write `cputime:sum (i) > 5%`, the number on the right"#,
            ),
            (
                r#"*[cputime:sum (i) > 5 parsecs]"#,
                r#"
unknown unit `parsecs` in `5 parsecs`
  *[cputime:sum (i) > 5 parsecs]
                        ^^^^^^^
hint: the units are %, ns, us, ms, s, min, h, k, M, G, T, Ki, Mi, Gi, Ti"#,
            ),
            (
                r#"*[time > 5m]"#,
                r#"
unknown unit `m` in `5m`
  *[time > 5m]
            ^
hint: is it `ms`, `min` or `M` (a million)?"#,
            ),
            (
                r#"*[time > 1e999]"#,
                r#"
`1e999` is too large a number
  *[time > 1e999]
           ^^^^^"#,
            ),
            (
                r#"*[time > 5%"#,
                r#"
this `[` is never closed
  *[time > 5%
   ^
hint: add `]`"#,
            ),
            (
                r#"*[name > 5]"#,
                r#"
expected a comparison of `name`, found `>`
  *[name > 5]
         ^
hint: match with ~ or !~, compare with == or !=: `name ~ MPI_*`"#,
            ),
            (
                r#"*[name ~ ]"#,
                r#"
expected a text to match, found `]`
  *[name ~ ]
           ^
hint: put a text with blanks or brackets in quotes"#,
            ),
            (
                r#"*[cputime (sec) > 5]"#,
                r#"
there is no scope `sec`
  *[cputime (sec) > 5]
             ^^^
hint: units are left out of names: `cputime (i)`; or quote the full name: "CPUTIME (sec)""#,
            ),
            (
                r#"[1"#,
                r#"
this `[` is never closed
  [1
  ^
hint: add `]`"#,
            ),
            (
                r#"["x"]"#,
                r#"
this is no quantifier
  ["x"]
   ^^^
hint: the quantifiers are "." (one), "*", "+" and numbers"#,
            ),
            (
                r#"[("*", {"name": lambda x: x})]"#,
                r#"
expected a text or a number, found `lambda`
  [("*", {"name": lambda x: x})]
                  ^
hint: write a regular expression, a comparison such as "> 5", a number, or a list of them; Python functions cannot be used"#,
            ),
            (
                r#"[lambda x: x]"#,
                r#"
expected a quantifier or `{…}`, found `lambda`
  [lambda x: x]
   ^
hint: write `["*", {"name": "MPI_.*"}]`; Python functions cannot be used"#,
            ),
            (
                r#"[{name: "x"}]"#,
                r#"
expected a column in quotes, found `name`
  [{name: "x"}]
    ^
hint: columns are "name", "depth", "time (inc)", …"#,
            ),
            (
                r#"[{"name": "(?=x)"}]"#,
                r#"
this regular expression cannot be used: look-around, including look-ahead and look-behind, is not supported
  [{"name": "(?=x)"}]
            ^^^^^^^"#,
            ),
            (
                r#"MATCH"#,
                r#"
expected a step such as `("*", p)`, found the end
  MATCH
       ^"#,
            ),
            (
                r#"MATCH ("*", p)->(q"#,
                r#"
this `(` is never closed
  MATCH ("*", p)->(q
                  ^
hint: add `)`"#,
            ),
            (
                r#"MATCH (p) WHERE q."name" = "x""#,
                r#"
there is no variable `q` in this pattern
  MATCH (p) WHERE q."name" = "x"
                  ^
hint: did you mean `p`?"#,
            ),
            (
                r#"MATCH (p) WHERE p."name" IS LEAF"#,
                r#"
expected `NONE`, `NAN` or `INF`, found `LEAF`
  MATCH (p) WHERE p."name" IS LEAF
                              ^
hint: `IS LEAF` is asked of a step, not of a column"#,
            ),
            (
                r#"MATCH (p) WHERE p IS NONE"#,
                r#"
expected `LEAF`, found `NONE`
  MATCH (p) WHERE p IS NONE
                       ^
hint: `IS NONE` and the like need a column: `p."time"`"#,
            ),
            (
                r#"MATCH (p)->(q) WHERE (p IS LEAF OR q IS LEAF)"#,
                r#"
conditions within parentheses must be on one variable
  MATCH (p)->(q) WHERE (p IS LEAF OR q IS LEAF)
                                     ^^^^^^^^^
hint: every step has its own conditions; join whole patterns with {MATCH …} OR {MATCH …}"#,
            ),
            (
                r#"MATCH (p) WHERE p."t" > "x""#,
                r#"
expected a number, found a text
  MATCH (p) WHERE p."t" > "x"
                          ^^^
hint: texts are compared with =, !=, =~, STARTS WITH, ENDS WITH, CONTAINS"#,
            ),
            (
                r#"MATCH (p) WHERE p."t" STARTS "x""#,
                r#"
expected `WITH`, found `"`
  MATCH (p) WHERE p."t" STARTS "x"
                               ^"#,
            ),
            (
                r#"{MATCH (p)} AND MATCH (q)"#,
                r#"
expected a pattern in braces, found `MATCH`
  {MATCH (p)} AND MATCH (q)
                  ^
hint: write `{MATCH …} AND {MATCH …}`"#,
            ),
            (
                r#"any(x)"#,
                r#"
expected `.`, `>`, `[`, `|` or the end, found `(`
  any(x)
     ^"#,
            ),
            (
                r#"loop(a.c:12):3"#,
                r#"
expected `.`, `>`, `[`, `|` or the end, found `:`
  loop(a.c:12):3
              ^"#,
            ),
        ],
    );
}

#[test]
fn metrics() {
    check(
        METRICS,
        &[
            (
                r#""#,
                r#"
the metric expression is empty
hint: write for example `cputime:sum (i)`, or `*` for everything"#,
            ),
            (
                r#"cputime (sec)"#,
                r#"
there is no scope `sec`
  cputime (sec)
           ^^^
hint: units are left out of names: `cputime (i)`; or quote the full name: "CPUTIME (sec)""#,
            ),
            (
                r#"IO Bytes Read"#,
                r#"
expected `|` or the end, found `Bytes`
  IO Bytes Read
     ^
hint: names with blanks are written in quotes: "IO Bytes Read""#,
            ),
            (
                r#"cputime:(sum"#,
                r#"
this `(` is never closed
  cputime:(sum
          ^
hint: add `)`"#,
            ),
            (
                r#"cputime:(sun)"#,
                r#"
there is no aggregation `sun`
  cputime:(sun)
           ^^^
hint: did you mean `sum`?"#,
            ),
            (
                r#""CPUTIME":foo"#,
                r#"
there is no aggregation `foo`
  "CPUTIME":foo
            ^^^
hint: the aggregations are prop, sum, min, max, mean, count, sqr, stddev, cfvar"#,
            ),
            (
                r#"cputime (x)"#,
                r#"
there is no scope `x`
  cputime (x)
           ^
hint: the scopes are i (inclusive), e (exclusive), p (point), c (lexical)"#,
            ),
            (
                r#"cputime |"#,
                r#"
expected a metric such as `cputime:sum (i)`, found the end
  cputime |
           ^"#,
            ),
            (
                r#"cputime:"#,
                r#"
`cputime:` is not the name of a metric
  cputime:
  ^^^^^^^^
hint: write `name` or `name:aggregation`: `cputime:sum (i)`"#,
            ),
            (
                r#"(i)"#,
                r#"
expected a metric such as `cputime:sum (i)`, found `(`
  (i)
  ^"#,
            ),
            (
                r#""abc"#,
                r#"
this `"` is never closed
  "abc
  ^"#,
            ),
            (
                r#"cputime:sum (i"#,
                r#"
this `(` is never closed
  cputime:sum (i
              ^
hint: add `)`"#,
            ),
            (
                r#"cputime (i) x"#,
                r#"
expected `|` or the end, found `x`
  cputime (i) x
              ^
hint: names with blanks are written in quotes: "IO Bytes Read""#,
            ),
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
    assert!(error.to_string().contains("1048579 bytes, more than 1048576"), "{error}");
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
        let error = CONTEXTS(&text.repeat(50_000)).unwrap_err();
        assert!([QueryErrorKind::TooDeep, QueryErrorKind::Syntax].contains(&error.kind), "{error}");
    }
}

#[test]
fn a_long_expression_is_shown_around_the_place() {
    let text = format!("{}rnak{}", "rank(1) | ".repeat(30), " | rank(2)".repeat(30));
    let error = parse_profiles(&text).unwrap_err();
    assert_eq!((error.column, error.length), (301, 4));
    let expected = r"there is no field `rnak` in a profile expression
  …nk(1) | rank(1) | rank(1) | rank(1) | rank(1) | rnak | rank(2) | rank(2) | rank(2) | rank(2) | r…
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
