//! Words within `%{…}`: functions and variables. Arguments of functions are another file's.

use super::arguments::{self, TypedArgument};
use super::context::CompletionContext;
use super::item::{Item, ItemKind, Items};
use super::place::{CursorContext, Spot, Style};
use super::typed_token::{TypedToken, token_edit};
use super::variables;
use crate::text::TextEdit;

/// The functions of tokens, in the order of their use, with their meaning.
const FUNCTIONS: [(&str, &str, &str); 5] = [
    ("lookup", "key", "the value of another key, as text"),
    ("alias", "key", "the value of another key with its type; the token must be the whole string"),
    ("literal", "%", "the text itself: `%{literal('%')}{x}` is the text `%{x}`"),
    ("scope", "variable", "the value of a variable, as without a function"),
    ("hiera", "key", "the older name of `lookup`"),
];

/// Adds the words that fit in a token. `is_config`: the file is a `hiera.yaml`, whose tokens call
/// no functions.
pub(super) fn complete(
    ctx: &CompletionContext<'_>,
    token: &TypedToken<'_>,
    is_config: bool,
    items: &mut Items,
) {
    if let Some(argument) = TypedArgument::parse_argument(token.text) {
        if !is_config {
            arguments::complete(ctx, token, &argument, items);
        }
        return;
    }
    if token.text.contains(['(', '\'', '"', ' ']) {
        return;
    }
    let path = token.text.strip_prefix("::").unwrap_or(token.text);
    if !is_config && !path.contains('.') {
        complete_functions(ctx, token, items);
    }
    // The name of a variable of top scope, as configs of version 3 write it, keeps its colons.
    let colons = &token.text[..token.text.len() - path.len()];
    variables::complete(ctx, path, items, &|name: &str, _| {
        token_edit(ctx.place, token, &format!("{colons}{name}"))
    });
}

fn complete_functions(ctx: &CompletionContext<'_>, token: &TypedToken<'_>, items: &mut Items) {
    let quote = inner_quote(ctx.place.style);
    for (name, argument, meaning) in FUNCTIONS {
        if name == "alias" && !is_whole(ctx.place, token) {
            continue;
        }
        let placed = format!("{name}({quote}\u{0}{quote})");
        let (text, filter) = token_edit(ctx.place, token, &placed);
        let snippet = super::shape::escape_snippet(&text.text);
        let plain = TextEdit::new(text.range, text.text.replace('\u{0}', ""));
        let mut item = Item::new(ItemKind::Function, name, plain);
        // Users type the name of the function without an argument.
        item.filter = filter.replace(&placed, name);
        item.snippet = Some(snippet.replace('\u{0}', &format!("${{1:{argument}}}")));
        items.push(item.with_detail(meaning));
    }
}

/// Returns the quote of arguments that needs no escape in a scalar of this style.
fn inner_quote(style: Style) -> &'static str {
    match style {
        Style::Single => "\"",
        Style::Plain | Style::Double | Style::Block => "'",
    }
}

/// Whether the token can be the whole string.
fn is_whole(place: &CursorContext, token: &TypedToken<'_>) -> bool {
    let behind = place.behind.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let behind = behind.trim_start_matches(['(', ')', '\'', '"', '}', ' ', ',', ']']);
    token.ahead.is_empty()
        && behind.is_empty()
        && place.style != Style::Block
        && place.spot != Spot::Text
}
