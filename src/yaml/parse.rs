//! A whole YAML text to a tree, whether or not libyaml accepts it.
//!
//! Reads the first document only, as Hiera does. Its problems are [`SyntaxError`]s in libyaml's
//! words; the tree of a text with errors comes from its entries, or from [`super::recover`]. No
//! function here recurses or fails.

use super::accept::attempt_reading;
use super::cut::cut_text;
use super::entry::{Syntax, join_entries};
use super::recover;
use super::run::DocumentParser;
use super::tree::{NodeKind, SyntaxError, Tree};

/// Reads the first document of a YAML text. Never fails and never panics.
///
/// `problems` is empty exactly when libyaml 0.2.5 accepts the first document. Otherwise the tree
/// holds the top-level entries that can be read nevertheless; see `recover.rs`. Takes linear time.
pub fn parse(text: &str) -> Tree {
    // The parse is never cancelled, so there is a tree.
    parse_while(text, &|| true).unwrap_or_default()
}

/// Like [`parse`]; calls `goes_on` from time to time, and returns `None` when that returned `false`.
pub fn parse_while(text: &str, goes_on: &dyn Fn() -> bool) -> Option<Tree> {
    Some(match attempt_reading(text, goes_on)? {
        Ok(tree) => tree,
        Err(refused) => {
            let (run, error) = *refused;
            recover_tree(run.scanner.source_text(), run, error)
        }
    })
}

/// Like [`parse`], except for a text that begins with a single scalar: its tree has the entries
/// behind the scalar.
///
/// libyaml reads such a scalar as the whole first document, and does not read the rest. In an
/// editor it is a key that is being typed (with a comment below it), and features need the rest.
pub fn parse_for_editing(text: &str) -> Tree {
    parse_for_editing_while(text, &|| true).unwrap_or_default()
}

/// Like [`parse_for_editing`]; calls `goes_on` from time to time, and returns `None` when that
/// returned `false`.
pub fn parse_for_editing_while(text: &str, goes_on: &dyn Fn() -> bool) -> Option<Tree> {
    let tree = parse_while(text, goes_on)?;
    let (Some(root), Some(rest)) = (tree.root, tree.second_document) else { return Some(tree) };
    let is_scalar = matches!(tree.node(root).kind, NodeKind::Scalar { .. });
    let is_marker = text[rest.start as usize..].starts_with("---")
        || text[rest.start as usize..].starts_with("...");
    if !is_scalar || is_marker || !tree.problems.is_empty() {
        return Some(tree);
    }
    // With blanks in the scalar's place every other place stays the same.
    let span = tree.whole_span(root).as_usize();
    let without = format!("{}{}{}", &text[..span.start], " ".repeat(span.len()), &text[span.end..]);
    let rest = parse_while(&without, goes_on)?;
    let is_mapping =
        rest.root.is_some_and(|root| matches!(rest.node(root).kind, NodeKind::Mapping { .. }));
    Some(if is_mapping { Tree { lone_scalar: Some(tree.node(root).span), ..rest } } else { tree })
}

/// Returns the tree of a text whose first attempt `run` ended with `error`.
fn recover_tree(text: &str, run: DocumentParser<'_>, error: SyntaxError) -> Tree {
    let verdict = Some(error.clone());
    match cut_text(text, Syntax::Yaml) {
        Some(entries) => Tree { verdict, ..join_entries(entries, false, run.scanner.comments) },
        None => Tree { verdict, ..recover::recover_document(text, run, error) },
    }
}
