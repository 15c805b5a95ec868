//! Values: the words that the type of the key's parameter lists, and the scalars that other
//! definitions of the key have at this place.

use super::context::{CompletionContext, dig, short_type};
use super::item::{ItemKind, Items};
use super::place::CursorStep;
use super::shape::type_words;
use crate::puppet::print::{self, PrintOptions};
use crate::puppet::value::{Data, Value};
use crate::text::escape::is_unprintable;

/// The longest text that is offered as a value, in bytes.
const LONGEST: usize = 200;

/// Adds the values that a place below a root key may have.
pub(super) fn complete(ctx: &CompletionContext<'_>, root: &str, items: &mut Items) {
    if let Some(data_type) = ctx.type_here(root) {
        for word in type_words(&data_type) {
            let string = unquoted_string(&word);
            let item = ctx.value_item(ItemKind::EnumMember, &word, string.as_deref());
            items.push(item.with_detail(short_type(&data_type.to_string())));
        }
    }
    if !ctx.may_show(root) {
        return;
    }
    let path_here = &ctx.place.path[1..];
    let definitions: Vec<_> = ctx.root_definitions(root).collect();
    let own = definitions.iter().filter(|(path, _)| **path == ctx.file.path);
    // `own` holds the elements that the list already has.
    let own: Vec<&Value> = own.flat_map(|(_, member)| dig(&member.value, path_here)).collect();
    for (path, member) in definitions.iter().filter(|(path, _)| **path != ctx.file.path) {
        for value in dig(&member.value, path_here) {
            if is_offered(value) && !(own.contains(&value) && is_element(path_here)) {
                let string = value.as_str();
                let written = print::print_inline(value, &PrintOptions::default());
                let item = ctx.value_item(ItemKind::Value, &written, string);
                items.push(item.with_detail(ctx.file_name(path)));
            }
        }
    }
}

fn is_element(path: &[CursorStep]) -> bool {
    matches!(path.last(), Some(CursorStep::Item(_)))
}

/// Returns the string that a word of YAML is; `None` for a boolean.
fn unquoted_string(word: &str) -> Option<String> {
    match word {
        "true" | "false" => None,
        _ => match word.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            Some(inner) => Some(inner.replace("''", "'")),
            None => Some(word.to_owned()),
        },
    }
}

/// Whether a value can be copied: a scalar on one line that is no secret.
fn is_offered(value: &Value) -> bool {
    let is_scalar = match value.data() {
        Data::String(text) => !text.is_empty() && is_short_text(text),
        Data::Bool(_) | Data::Integer(_) | Data::Float(_) => true,
        _ => false,
    };
    is_scalar && PrintOptions::default().mark_for(value.secrecy_of_parts()).is_none()
}

fn is_short_text(text: &str) -> bool {
    text.len() <= LONGEST && !text.contains("ENC[") && !text.contains(is_unprintable)
}
