//! What may be asked: statements that only read.

use std::ops::ControlFlow;

use datafusion::common::DataFusionError;
use datafusion::sql::parser::{DFParserBuilder, ExplainStatement, Statement};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Statement as Sql, TableFactor, UnaryOperator, Value,
    VisitMut as _, VisitorMut,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use serde_json::{Map, Value as Json};

use crate::SqlError;
use crate::dialect::StatementDialect;

/// The statements of `text`, with `function(field => value)` as functions of DataFusion take it.
///
/// # Errors
/// When one cannot be understood, or does not only read.
pub(crate) fn read(text: &str) -> Result<Vec<Statement>, SqlError> {
    limit_nesting(text)?;
    let mut statements = parsed(text)?;
    for statement in &mut statements {
        check(statement)?;
        name_fields(statement)?;
    }
    Ok(statements)
}

/// How deep a statement may be nested. What is nested is visited by functions that call themselves,
/// some of which need kilobytes of the stack for a level.
const MOST_NESTED: usize = 500;
/// How often the parser may call itself: twice for a level, as for a query behind FROM, and a few
/// times around all of them.
const MOST_PARSED: usize = 2 * MOST_NESTED + 10;
/// The stack that so many calls need where nothing is optimised.
const PARSER_STACK: usize = 64 << 20;
/// Levels that a query in an expression counts for: planning takes twice as long for each of them
/// around another one.
const QUERY_LEVELS: usize = 30;
/// Levels that a statement in another one counts for, by the stack that the parser needs for it.
const STATEMENT_LEVELS: usize = 10;

/// The statements of a text, read on a stack that suffices for the deepest.
fn parsed(text: &str) -> Result<Vec<Statement>, SqlError> {
    let parse = || {
        let parser = DFParserBuilder::new(text)
            .with_dialect(&StatementDialect)
            .with_recursion_limit(MOST_PARSED)
            .build();
        parser.and_then(|mut parser| parser.parse_statements()).map_err(refused_text)
    };
    let failed = || SqlError::Failed("the statement cannot be read: no thread for it".to_owned());
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("parser".to_owned()).stack_size(PARSER_STACK);
        let reading = thread.spawn_scoped(scope, parse).map_err(|_| failed())?;
        Ok(reading.join().map_err(|_| failed())??.into())
    })
}

/// Refuses statements that are nested too deeply: by brackets, by chains of operators, and by what
/// one `SELECT` takes from another.
fn limit_nesting(text: &str) -> Result<(), SqlError> {
    // What is no token is told by the parser, with its place.
    let Ok(tokens) = Tokenizer::new(&StatementDialect, text).tokenize() else { return Ok(()) };
    // For each bracket that is open: conditions that are connected around it, operators in one of
    // them, and what a query in it counts for.
    let mut open: Vec<(usize, usize, usize)> = Vec::new();
    let (mut chain, mut operators, mut outer, mut tables) = (0_usize, 0_usize, 0_usize, 0_usize);
    // Whether a query in the next bracket is a table, and whether the bracket has just begun.
    let (mut is_table, mut begins) = (true, false);
    for token in tokens {
        let (was_table, began) = (is_table, begins);
        if !matches!(token, Token::Whitespace(_)) {
            (is_table, begins) = (false, false);
        }
        match token {
            Token::LParen | Token::LBracket => {
                open.push((chain, operators, 0));
                outer += chain + operators + 1;
                (chain, operators) = (0, 0);
                (is_table, begins) = (was_table, true);
            }
            Token::RParen | Token::RBracket => {
                let (around, before, query) = open.pop().unwrap_or_default();
                (chain, operators) = (around, before);
                outer = outer.saturating_sub(chain + operators + 1 + query);
            }
            Token::Comma => (chain, operators) = (0, 0),
            Token::SemiColon => {
                (chain, operators, outer, tables) = (0, 0, 0, 0);
                is_table = true;
            }
            Token::Word(word) => match word.keyword {
                keyword @ (Keyword::SELECT | Keyword::WITH) if began && !was_table => {
                    if let Some((.., query)) = open.last_mut() {
                        *query = QUERY_LEVELS;
                        outer += QUERY_LEVELS;
                    }
                    tables += usize::from(keyword == Keyword::SELECT);
                }
                Keyword::SELECT | Keyword::VALUES => tables += 1,
                Keyword::JOIN => {
                    tables += 1;
                    is_table = true;
                }
                Keyword::FROM
                | Keyword::AS
                | Keyword::LATERAL
                | Keyword::UNION
                | Keyword::EXCEPT
                | Keyword::INTERSECT => is_table = true,
                Keyword::AND | Keyword::OR => {
                    chain += 1;
                    operators = 0;
                }
                Keyword::NOT | Keyword::CASE | Keyword::IS | Keyword::INTERVAL => chain += 1,
                Keyword::EXPLAIN | Keyword::DESCRIBE | Keyword::DESC | Keyword::PREPARE => {
                    chain += STATEMENT_LEVELS;
                }
                _ => {}
            },
            Token::Whitespace(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::Period
            | Token::EOF => {}
            _ => operators += 1,
        }
        if outer + chain + operators + tables > MOST_NESTED {
            return Err(too_deep());
        }
    }
    Ok(())
}

fn too_deep() -> SqlError {
    SqlError::Misuse(format!(
        "the statement is nested too deeply, or combines too many conditions or tables: more than \
         {MOST_NESTED} levels; write column IN (...) for many values, or several statements"
    ))
}

/// Why a text is no statement. What nests without brackets and operators, only the parser counts.
fn refused_text(error: DataFusionError) -> SqlError {
    match error.find_root() {
        DataFusionError::SQL(cause, _) if **cause == ParserError::RecursionLimitExceeded => {
            too_deep()
        }
        _ => SqlError::of(error),
    }
}

/// Refuses what does not only read.
fn check(statement: &Statement) -> Result<(), SqlError> {
    match statement {
        Statement::Explain(ExplainStatement { statement, .. }) => check(statement),
        Statement::Statement(sql) => match &**sql {
            Sql::Query(_)
            | Sql::ShowTables { .. }
            | Sql::ShowColumns { .. }
            | Sql::ShowFunctions { .. }
            | Sql::ExplainTable { .. } => Ok(()),
            other => Err(refused(&other.to_string())),
        },
        other => Err(refused(&other.to_string())),
    }
}

fn refused(statement: &str) -> SqlError {
    let words = statement.split_whitespace().map(str::to_ascii_uppercase).take(1);
    let word = words.collect::<Vec<_>>().join(" ");
    SqlError::Misuse(format!(
        "{word} is refused: statements only read; write SELECT, and have the result written to a file"
    ))
}

/// Turns `function(field => value, ...)` behind FROM into `function('{"field": value, ...}')`.
fn name_fields(statement: &mut Statement) -> Result<(), SqlError> {
    match statement {
        Statement::Explain(explain) => name_fields(&mut explain.statement),
        Statement::Statement(sql) => match sql.visit(&mut Fields) {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok(()),
        },
        _ => Ok(()),
    }
}

struct Fields;

impl VisitorMut for Fields {
    type Break = SqlError;

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<SqlError> {
        let args = match table {
            TableFactor::Table { args: Some(args), .. } => &mut args.args,
            TableFactor::Function { args, .. } => args,
            _ => return ControlFlow::Continue(()),
        };
        if args.is_empty() || args.iter().any(|arg| matches!(arg, FunctionArg::Unnamed(_))) {
            return ControlFlow::Continue(());
        }
        let mut fields = Map::new();
        for arg in &*args {
            match field(arg) {
                Ok((name, value)) => fields.insert(name, value),
                Err(error) => return ControlFlow::Break(error),
            };
        }
        let json = Value::SingleQuotedString(Json::Object(fields).to_string());
        let json = FunctionArgExpr::Expr(Expr::Value(json.into()));
        *args = vec![FunctionArg::Unnamed(json)];
        ControlFlow::Continue(())
    }
}

fn field(arg: &FunctionArg) -> Result<(String, Json), SqlError> {
    let (name, value) = match arg {
        FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. } => {
            (name.value.clone(), value)
        }
        FunctionArg::ExprNamed {
            name: Expr::Identifier(name),
            arg: FunctionArgExpr::Expr(value),
            ..
        } => (name.value.clone(), value),
        other => return Err(SqlError::Misuse(format!("{other}: write field => value"))),
    };
    match json(value) {
        Some(value) => Ok((name, value)),
        None => Err(SqlError::Misuse(format!(
            "{name} => {value}: the value must be a text, a number, true, false, null, or a list of \
             these as ARRAY[...]"
        ))),
    }
}

/// A literal as a request has it.
fn json(value: &Expr) -> Option<Json> {
    match value {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(Json::String(text.clone())),
            Value::Boolean(value) => Some(Json::Bool(*value)),
            Value::Null => Some(Json::Null),
            Value::Number(number, _) => serde_json::from_str(number).ok(),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match json(expr)? {
            Json::Number(number) => serde_json::from_str(&format!("-{number}")).ok(),
            _ => None,
        },
        Expr::Array(array) => {
            array.elem.iter().map(json).collect::<Option<Vec<_>>>().map(Json::Array)
        }
        _ => None,
    }
}
