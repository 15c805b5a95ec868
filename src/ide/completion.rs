//! Completion: the words that fit where the cursor is, likely ones first, with the text that each
//! becomes. Nothing is looked up while they are listed: [`resolve`] explains the one that a user
//! looks at.

mod arguments;
mod backends;
mod context;
mod hierarchy;
mod hierarchy_3;
mod item;
mod keys;
mod members;
mod options;
mod parameters;
mod place;
pub mod resolve;
mod roots;
mod settings;
mod shape;
mod tokens;
mod typed_token;
mod values;
mod variables;

pub use item::{Completions, Item, ItemKind, Topic};
pub(in crate::ide) use place::CursorStep;
pub use settings::SettingWord;
pub(in crate::ide) use shape::{required_here, type_at};

use crate::hiera::data::DataFormat;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::FilePosition;
use crate::workspace::Snapshot;
use context::{CompletionContext, FileContext};
use item::Items;
use place::{CursorContext, Spot};

/// The most items of an answer: more than a list on a screen shows, and a client asks again as users
/// type.
const MAX_ITEMS: usize = 50;

/// How words are completed.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompletionConfig<'a> {
    /// The character whose typing asked for the words; `None` where the user did.
    pub trigger: Option<char>,
    /// The settings that `.hiera-ls.yaml` can have.
    pub settings: &'a [SettingWord],
}

/// The characters whose typing asks for words: those of `::`, of `%{`, of arguments and of dotted
/// parts.
pub const TRIGGERS: [char; 5] = [':', '{', '.', '\'', '"'];

/// The name of the settings file.
pub const SETTINGS_FILE: &str = ".hiera-ls.yaml";

/// Returns the words that fit at `position`; `None` where nothing can be completed, and when the
/// request is cancelled.
pub fn complete_at(
    snapshot: &Snapshot,
    position: FilePosition,
    config: &CompletionConfig<'_>,
) -> Option<Completions> {
    let file = snapshot.file_by_id(position.file)?;
    let is_json = file.format() == DataFormat::Json;
    if file.format() == DataFormat::Hocon {
        return None;
    }
    let place = CursorContext::find_place(file.text()?, position.offset, is_json)?;
    let mut items = Items::for_place(&place);
    if file.path.name() == SETTINGS_FILE {
        settings::complete(&place, config.settings, &mut items);
        return items.into_completions(snapshot);
    }
    let environment = snapshot.environments().governing_environments(&file.path).next()?;
    let at = FileContext { snapshot, environment, file };
    let ctx = CompletionContext { at, place: &place, is_json };
    let is_config = environment.all_configs().any(|(_, config)| config.path == file.path);
    if let Some(token) = typed_token::token_at_cursor(&place) {
        tokens::complete(&ctx, &token, is_config, &mut items);
    } else if is_wanted(config.trigger, &place) {
        if is_config {
            hierarchy::complete(&ctx, &mut items)
        } else {
            complete_data(&ctx, &mut items)
        }
    }
    items.into_completions(snapshot)
}

/// Whether a character that was typed outside of tokens asks for words. Quotes and braces begin
/// texts and hashes there, and editors' own lists would be in the way.
fn is_wanted(trigger: Option<char>, place: &CursorContext) -> bool {
    match trigger {
        Some('{' | '\'' | '"') => false,
        Some('.' | ':') => place.spot == Spot::Key,
        _ => true,
    }
}

fn complete_data(ctx: &CompletionContext<'_>, items: &mut Items) {
    let place = ctx.place;
    let is_scalar = place.spot == Spot::Value || place.others.is_empty() && !place.path.is_empty();
    match (place.root_key(), place.spot) {
        (_, Spot::Text) => {}
        (None, Spot::Key) if place.path.is_empty() => roots::complete(ctx, items),
        (Some(LOOKUP_OPTIONS), _) => options::complete(ctx, items),
        (Some(root), spot) => {
            if spot == Spot::Key {
                members::complete(ctx, root, items);
            }
            if is_scalar {
                values::complete(ctx, root, items);
            }
        }
        (None, _) => {}
    }
}

#[cfg(test)]
mod tests;
