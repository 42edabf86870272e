//! The syntax of statements: that of PostgreSQL, in time that is proportional to their length.

use std::any::TypeId;

use datafusion::sql::sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};

/// PostgreSQL, except that the name of a named argument is a name and not an expression. The parser
/// reads each argument as an expression twice where that may be a name, those inside it four times,
/// and so on: twenty calls inside each other would take seconds, thirty hours.
#[derive(Debug)]
pub(crate) struct StatementDialect;

/// What PostgreSQL says itself, and not as most others do, as far as statements that only read can
/// have it.
macro_rules! as_postgresql {
    ($($name:ident($($argument:ident: $of:ty),*) -> $gives:ty;)*) => {
        $(fn $name(&self, $($argument: $of),*) -> $gives {
            PostgreSqlDialect {}.$name($($argument),*)
        })*
    };
}

impl Dialect for StatementDialect {
    fn dialect(&self) -> TypeId {
        TypeId::of::<PostgreSqlDialect>()
    }

    fn supports_named_fn_args_with_expr_name(&self) -> bool {
        false
    }

    as_postgresql! {
        identifier_quote_style(identifier: &str) -> Option<char>;
        is_delimited_identifier_start(character: char) -> bool;
        is_identifier_start(character: char) -> bool;
        is_identifier_part(character: char) -> bool;
        is_custom_operator_part(character: char) -> bool;
        is_reserved_for_identifier(keyword: Keyword) -> bool;
        get_next_precedence(parser: &Parser<'_>) -> Option<Result<u8, ParserError>>;
        prec_value(precedence: Precedence) -> u8;
        allow_extract_custom() -> bool;
        allow_extract_single_quotes() -> bool;
        supports_array_typedef_with_brackets() -> bool;
        supports_bitwise_shift_operators() -> bool;
        supports_comma_separated_trim() -> bool;
        supports_comment_optimizer_hint() -> bool;
        supports_empty_projections() -> bool;
        supports_explain_with_utility_options() -> bool;
        supports_factorial_operator() -> bool;
        supports_filter_during_aggregation() -> bool;
        supports_geometric_types() -> bool;
        supports_group_by_expr() -> bool;
        supports_interval_options() -> bool;
        supports_named_fn_args_with_colon_operator() -> bool;
        supports_nested_comments() -> bool;
        supports_notnull_operator() -> bool;
        supports_numeric_literal_underscores() -> bool;
        supports_select_wildcard_with_alias() -> bool;
        supports_string_escape_constant() -> bool;
        supports_unicode_string_literal() -> bool;
        supports_xml_expressions() -> bool;
    }
}
