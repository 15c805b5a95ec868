//! Arguments of functions in tokens: keys of `lookup`, `alias` and `hiera`, variables of `scope`.

use super::context::{CompletionContext, dig};
use super::item::{Item, ItemKind, Items, Topic};
use super::place::CursorStep;
use super::typed_token::{TypedToken, with_end};
use super::{keys, variables};
use crate::hiera::interpolation::Method;
use crate::ide::cursor::dotted_member;
use crate::text::TextEdit;

/// An argument that is being typed.
pub(super) struct TypedArgument<'a> {
    method: Method,
    /// The argument's quote, as the scalar has it.
    quote: &'a str,
    /// The text behind the quote.
    text: &'a str,
}

impl<'a> TypedArgument<'a> {
    /// Returns the argument at the end of a token's text; `None` where there is none.
    pub(super) fn parse_argument(token: &'a str) -> Option<TypedArgument<'a>> {
        let (name, rest) = token.split_once('(')?;
        let method = Method::from_name(name.trim())?;
        let rest = rest.trim_start();
        let quote = ["\\\"", "''", "'", "\""].into_iter().find(|quote| rest.starts_with(quote))?;
        let (quote, text) = rest.split_at(quote.len());
        (!text.contains(['\'', '"']) || text.contains('.')).then_some(TypedArgument {
            method,
            quote,
            text,
        })
    }
}

/// Adds the arguments that fit.
pub(super) fn complete(
    ctx: &CompletionContext<'_>,
    token: &TypedToken<'_>,
    argument: &TypedArgument<'_>,
    items: &mut Items,
) {
    let place = ctx.place;
    let behind = place.word_behind(|c| c.is_alphanumeric() || "_-.:".contains(c));
    let edit = |text: &str, before: usize| {
        with_end(place, token, text, (before, behind), &[argument.quote, ")", "}"])
    };
    match argument.method {
        Method::Literal => {
            let (edit, _) = edit("%", argument.text.len());
            items.push(Item::new(ItemKind::Value, "%", edit).with_detail("a percent sign"));
        }
        Method::Scope => {
            let path = argument.text.strip_prefix("::").unwrap_or(argument.text);
            variables::complete(ctx, path, items, &|name, _| edit(name, argument.text.len()));
        }
        Method::Lookup | Method::Alias => match argument.text.rsplit_once('.') {
            Some((outer, _)) => complete_parts(ctx, outer, &edit, argument, items),
            None => complete_roots(ctx, &edit, argument, items),
        },
    }
}

/// The edit that inserts a text in place of so many bytes before the cursor, with the text to
/// compare with.
type Edit<'a> = &'a dyn Fn(&str, usize) -> (TextEdit, String);

fn complete_roots(
    ctx: &CompletionContext<'_>,
    edit: Edit<'_>,
    argument: &TypedArgument<'_>,
    items: &mut Items,
) {
    keys::with_prefix(ctx, argument.text, items, &|_| true, &|key| {
        root_item(key, edit, argument.text)
    });
}

fn root_item(
    key: &str,
    edit: &dyn Fn(&str, usize) -> (TextEdit, String),
    text: &str,
) -> Option<Item> {
    let is_plain = !key.contains(['.', '\'', '"', '}', '\\', '%']);
    is_plain.then(|| {
        let (edit, filter) = edit(key, text.len());
        let mut item = Item::new(ItemKind::Key, key, edit);
        item.filter = filter;
        item.topic = Some(Topic::Key(key.to_owned()));
        item
    })
}

/// Adds the parts of the value of a dotted key.
fn complete_parts(
    ctx: &CompletionContext<'_>,
    outer: &str,
    edit: Edit<'_>,
    argument: &TypedArgument<'_>,
    items: &mut Items,
) {
    let mut segments = outer.split('.');
    let Some(root) = segments.next() else { return };
    let path: Vec<CursorStep> = segments
        .map(|segment| {
            if segment.bytes().all(|byte| byte.is_ascii_digit()) {
                CursorStep::Item(0)
            } else {
                CursorStep::Key(segment.to_owned())
            }
        })
        .collect();
    for (file, member) in ctx.root_definitions(root) {
        for value in dig(&member.value, &path) {
            let names = value.as_hash().into_iter().flatten().map(|(key, _)| dotted_member(key));
            let numbers =
                (0..value.as_array().map_or(0, <[_]>::len)).map(|number| number.to_string());
            for name in names.chain(numbers) {
                if name.contains(['\'', '"', '}', '\\', '%']) || name.contains("ENC[") {
                    continue;
                }
                let (edit, filter) = edit(&format!("{outer}.{name}"), argument.text.len());
                let mut item = Item::new(ItemKind::Member, &name, edit);
                item.filter = filter;
                item.topic = Some(Topic::Key(format!("{outer}.{name}")));
                items.push(item.with_detail(ctx.file_name(file)));
            }
        }
    }
}
