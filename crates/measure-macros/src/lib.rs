//! Attributes that mark a whole function. `parallax-measure` re-exports them, and what they insert
//! is its: use them from there.
//!
//! Neither needs to understand a function: its body is the last thing that it consists of, and what
//! is inserted are guards at its beginning, which end however the function is left.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// The function is a region of `parallax measure`, from each call to its return.
/// `#[parallax_measure::pascal::region(2)]` stands above it.
///
/// The number is any expression of type `i64` that can be evaluated at the beginning of the
/// function; it may use the function's arguments. The place of the region is that of the attribute.
#[proc_macro_attribute]
pub fn region(number: TokenStream, function: TokenStream) -> TokenStream {
    if number.is_empty() {
        return error("a region needs its number: `#[region(1)]`", Span::call_site());
    }
    let mut guard = path(&["parallax_measure", "pascal", "region"]);
    guard.extend([parentheses(number)]);
    with_guard(guard, function)
}

/// Calls of the function are recorded, as by `let _function = function!();` at its beginning.
/// `#[parallax_measure::instrument]` stands above it.
#[proc_macro_attribute]
pub fn instrument(arguments: TokenStream, function: TokenStream) -> TokenStream {
    if let Some(first) = arguments.into_iter().next() {
        return error("`#[instrument]` takes no arguments", first.span());
    }
    let mut guard = path(&["parallax_measure", "function"]);
    guard.extend([punct('!', Spacing::Alone), parentheses(TokenStream::new())]);
    with_guard(guard, function)
}

/// The function with `let _inside = GUARD;` before everything in its body.
fn with_guard(guard: TokenStream, function: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = function.into_iter().collect();
    // Words before `fn`, without those in parentheses: `pub(crate) async unsafe extern "C"`.
    let word = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(is) if is.to_string() == word);
    let Some(at) = tokens.iter().position(|token| word(token, "fn")) else {
        return error("only functions can be marked", Span::call_site());
    };
    for token in tokens.iter().take(at) {
        let why = match token {
            token if word(token, "async") => {
                "an async function is not one interval on one thread; mark what it calls"
            }
            token if word(token, "const") => "a const function cannot be marked",
            _ => continue,
        };
        return error(why, token.span());
    }
    let body = match tokens.pop() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => body,
        _ => return error("a function without a body cannot be marked", Span::call_site()),
    };
    // A name that the function cannot use by accident.
    let name = Ident::new("_inside", Span::mixed_site());
    let mut inside = TokenStream::new();
    inside.extend([
        TokenTree::Ident(Ident::new("let", Span::call_site())),
        TokenTree::Ident(name),
        punct('=', Spacing::Alone),
    ]);
    inside.extend(guard);
    inside.extend([punct(';', Spacing::Alone)]);
    inside.extend(body.stream());
    let mut marked = Group::new(Delimiter::Brace, inside);
    marked.set_span(body.span());
    tokens.push(TokenTree::Group(marked));
    tokens.into_iter().collect()
}

/// `::a::b::c`.
fn path(names: &[&str]) -> TokenStream {
    let part = |name: &&str| {
        let name = TokenTree::Ident(Ident::new(name, Span::call_site()));
        [punct(':', Spacing::Joint), punct(':', Spacing::Alone), name]
    };
    names.iter().flat_map(part).collect()
}

fn punct(sign: char, spacing: Spacing) -> TokenTree {
    TokenTree::Punct(Punct::new(sign, spacing))
}

fn parentheses(inside: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(Delimiter::Parenthesis, inside))
}

/// `compile_error!("...");` at a place.
fn error(why: &str, place: Span) -> TokenStream {
    let mut text = Literal::string(why);
    text.set_span(place);
    let inside = TokenTree::Literal(text).into();
    let tokens = [
        TokenTree::Ident(Ident::new("compile_error", place)),
        punct('!', Spacing::Alone),
        parentheses(inside),
        punct(';', Spacing::Alone),
    ];
    let at = |mut token: TokenTree| {
        token.set_span(place);
        token
    };
    tokens.into_iter().map(at).collect()
}
