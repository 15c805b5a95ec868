//! The first document of a text as libyaml 0.2.5 accepts or refuses it, as a whole.

use super::builder::Builder;
use super::control::{bad_char, bad_char_error, piece_start};
use super::run::DocumentParser;
use super::scan::{Result, char_floor};
use super::tree::{NodeId, SyntaxError, Tree};
use crate::text::work::{Work, count_work};

/// Reads the first document of a text that libyaml accepts.
pub(super) fn accept_document(text: &str) -> Option<Tree> {
    attempt_reading(text, &|| true)?.ok()
}

/// Reads a text, or finds out why libyaml refuses it. `None` when `goes_on` returned `false`.
pub(super) fn attempt_reading<'t>(
    text: &'t str,
    goes_on: &dyn Fn() -> bool,
) -> Option<std::result::Result<Tree, Box<(DocumentParser<'t>, SyntaxError)>>> {
    let text = &text[..char_floor(text, u32::MAX as usize)];
    count_work(Work::Parse(text.len()));
    let mut run = DocumentParser::new(text, 0, text.len(), Builder::default());
    // Data files have a node in about twenty bytes.
    run.builder.nodes.reserve(text.len() / 20);
    let read = read_whole(text, &mut run, goes_on)?;
    Some(match read {
        Ok(root) => {
            let comments = std::mem::take(&mut run.scanner.comments);
            let second_document = run.second_document();
            Ok(Tree {
                nodes: run.builder.nodes,
                root,
                comments,
                second_document,
                ..Tree::default()
            })
        }
        Err(error) => Err(Box::new((run, *error))),
    })
}

/// Returns the one error with which libyaml 0.2.5 refuses a text, as Puppet reports it. `None` when
/// it accepts the first document.
///
/// [`parse`](super::parse()) reports more errors, and may blame another place for the first one.
pub fn refusal_error(text: &str) -> Option<SyntaxError> {
    let text = &text[..char_floor(text, u32::MAX as usize)];
    let mut run = DocumentParser::new(text, 0, text.len(), Builder::default());
    read_whole(text, &mut run, &|| true)?.err().map(|error| *error)
}

/// Reads the document as libyaml does; control characters are an error as soon as their piece of
/// the input is read. `None` when `goes_on` returned `false`.
fn read_whole(
    text: &str,
    run: &mut DocumentParser<'_>,
    goes_on: &dyn Fn() -> bool,
) -> Option<Result<Option<NodeId>>> {
    let result = run.document_while(goes_on)?;
    Some(match bad_char(text, 0) {
        Some(bad) if run.scanner.position() + 4 > piece_start(text, bad) => {
            Err(Box::new(bad_char_error(text, bad)))
        }
        _ => result,
    })
}
