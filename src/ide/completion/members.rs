//! Keys of hashes within values: members that the type names, and those that other definitions of
//! the key have.

use std::collections::HashSet;

use super::context::{CompletionContext, dig, short_type};
use super::item::{ItemKind, Items};
use super::place::CursorStep;
use super::shape::{ValueShape, struct_members};
use crate::puppet::print::{self, PrintOptions};
use crate::puppet::value::{Key, Value};

/// Adds the members that a hash below a root key may have.
pub(super) fn complete(ctx: &CompletionContext<'_>, root: &str, items: &mut Items) {
    let here: HashSet<&str> = ctx.place.others.iter().map(String::as_str).collect();
    if let Some(data_type) = ctx.type_here(root) {
        for member in struct_members(&data_type) {
            if here.contains(member.name.as_str()) {
                continue;
            }
            let shape = ValueShape::of_type(Some(&member.value), None);
            let optional = if member.optional { "" } else { ", required" };
            let detail = format!("{}{optional}", short_type(&member.value.to_string()));
            items.push(ctx.key_item(ItemKind::Member, &member.name, &shape).with_detail(detail));
        }
    }
    let definitions: Vec<_> = ctx.root_definitions(root).collect();
    let path = &ctx.place.path[1..];
    // The members at the same place come first, then the members of the hashes beside the hash at
    // the cursor.
    for path in [Some(path.to_vec()), sibling_path(path)].into_iter().flatten() {
        for (file, member) in &definitions {
            let hashes = match path.as_slice() {
                [rest @ .., CursorStep::Key(name)] if name.is_empty() => {
                    dig(&member.value, rest).into_iter().flat_map(members_of).collect()
                }
                path => dig(&member.value, path),
            };
            for (key, member) in hashes.into_iter().filter_map(Value::as_hash).flatten() {
                let (name, value) = (key.to_text(), &member.value);
                let is_typed = ctx.is_here(member.key_origin);
                if !is_typed && !here.contains(&*name) && !is_secret(key) && !items.has_label(&name)
                {
                    add(ctx, &name, key, value, ctx.file_name(file), items);
                }
            }
        }
    }
}

/// Returns the path to the hashes beside the one at the end of a path: an empty name stands for all
/// members.
fn sibling_path(path: &[CursorStep]) -> Option<Vec<CursorStep>> {
    match path.split_last()? {
        (CursorStep::Key(_), rest) => {
            Some(rest.iter().cloned().chain([CursorStep::Key(String::new())]).collect())
        }
        (CursorStep::Item(_), _) => None,
    }
}

fn members_of(value: &Value) -> Vec<&Value> {
    value.as_hash().into_iter().flatten().map(|(_, member)| &member.value).collect()
}

fn is_secret(key: &Key) -> bool {
    let marks = PrintOptions::default();
    marks.mark_for(key.secrecy()).is_some() || key.to_text().contains("ENC[")
}

fn add(
    ctx: &CompletionContext<'_>,
    name: &str,
    key: &Key,
    value: &Value,
    file: &str,
    items: &mut Items,
) {
    let mut item =
        ctx.key_item(ItemKind::Member, name, &ValueShape::of_value(value)).with_detail(file);
    // A key that is a number is not text: it is written without quotes.
    if key.as_str().is_none() && !ctx.is_json && ctx.place.typed_content().is_empty() {
        let plain = print::print_inline(&key.to_value(None), &PrintOptions::default());
        item.edit.text = item.edit.text.replacen(&ctx.plain_scalar(name), &plain, 1);
    }
    items.push(item);
}
