//! What may be asked: statements that only read.

use std::ops::ControlFlow;

use datafusion::sql::parser::{DFParserBuilder, ExplainStatement, Statement};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, Statement as Sql, TableFactor, UnaryOperator, Value,
    VisitMut as _, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use serde_json::{Map, Value as Json};

use crate::SqlError;

/// The statements of `text`, with `function(field => value)` as functions of DataFusion take it.
///
/// # Errors
/// When one cannot be understood, or does not only read.
pub(crate) fn read(text: &str) -> Result<Vec<Statement>, SqlError> {
    limit_nesting(text)?;
    let parser = DFParserBuilder::new(text).with_dialect(&PostgreSqlDialect {}).build();
    let parsed = parser.and_then(|mut parser| parser.parse_statements()).map_err(SqlError::of)?;
    let mut statements: Vec<Statement> = parsed.into();
    for statement in &mut statements {
        check(statement)?;
        name_fields(statement)?;
    }
    Ok(statements)
}

/// How deep a statement may be nested. What is nested is visited by functions that call themselves,
/// some of which need kilobytes of the stack for a level.
const MOST_NESTED: usize = 500;

/// Refuses statements that are nested too deeply: by brackets, by chains of operators, and by what
/// one `SELECT` takes from another.
fn limit_nesting(text: &str) -> Result<(), SqlError> {
    // What is no token is told by the parser, with its place.
    let Ok(tokens) = Tokenizer::new(&PostgreSqlDialect {}, text).tokenize() else { return Ok(()) };
    // Conditions that are connected, and operators in one of them, for each bracket that is open.
    let (mut open, mut chain, mut operators) = (Vec::new(), 0_usize, 0_usize);
    let (mut outer, mut tables) = (0_usize, 0_usize);
    for token in tokens {
        match token {
            Token::LParen | Token::LBracket => {
                open.push((chain, operators));
                outer += chain + operators + 1;
                (chain, operators) = (0, 0);
            }
            Token::RParen | Token::RBracket => {
                (chain, operators) = open.pop().unwrap_or((0, 0));
                outer = outer.saturating_sub(chain + operators + 1);
            }
            Token::Comma => (chain, operators) = (0, 0),
            Token::SemiColon => (chain, operators, outer, tables) = (0, 0, 0, 0),
            Token::Word(word) => match word.keyword {
                Keyword::SELECT | Keyword::JOIN | Keyword::VALUES => tables += 1,
                Keyword::AND | Keyword::OR => {
                    chain += 1;
                    operators = 0;
                }
                Keyword::NOT | Keyword::CASE | Keyword::IS => chain += 1,
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
            return Err(SqlError::Misuse(format!(
                "the statement is nested too deeply, or combines too many conditions or tables: more \
                 than {MOST_NESTED} levels; write column IN (...) for many values, or several \
                 statements"
            )));
        }
    }
    Ok(())
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
