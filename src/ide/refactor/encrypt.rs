//! Encrypts a scalar with the public key that the level's options name, as `eyaml encrypt` does.
//! The text is in the change alone: no title, no reason and no log has it.

use super::inline::{is_in_flow, value_at};
use super::{Draft, RefactorContext, RefactoringKind, secrets};
use crate::hiera::config::Level;
use crate::hiera::eyaml::KeySource;
use crate::hiera::hierarchy::options_of;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{SourceChange, TextEdit};
use crate::yaml::psych::{Resolved, resolve_plain};
use crate::yaml::{NodeKind, ScalarStyle};

/// Drafts the encryption of the scalar at the cursor, for a user who asks.
pub(super) fn draft_encryption(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    if context.wanted.is_by_user {
        drafts.extend(draft_scalar(context));
    }
}

fn draft_scalar(context: &RefactorContext<'_>) -> Option<Draft> {
    let document = &context.document;
    let offset = context.wanted.range.start;
    let entry = document.entry_at(offset).filter(|it| *it.name != *LOOKUP_OPTIONS)?;
    let (_, node) = value_at(document, offset)?;
    let node = document.tree.node(node);
    let NodeKind::Scalar { style, text } = &node.kind else { return None };
    if text.is_empty() || secrets::is_encrypted(text) || document.find_entry("sops").is_some() {
        return None;
    }
    let levels = context.reading_levels();
    let level = *levels.iter().find(|level| is_eyaml_level(level))?;
    let scope = context.snapshot.scope_for(context.environment, context.wanted.path);
    let key = KeySource::public_of(&options_of(level, &scope, None).ok()?).ok()?;
    let title = format!("Encrypt the value in `{}`", entry.name);
    if let Some(other) = levels.iter().find(|level| !is_eyaml_level(level)) {
        return refuse_draft(
            &format!("the level `{}` reads the file, too, and decrypts nothing", other.name),
            &title,
        );
    }
    let encrypted =
        match context.snapshot.encrypt_text(context.environment, &keep_line_end(text), &key) {
            Ok(encrypted) => encrypted,
            Err(reason) => return refuse_draft(&reason, &title),
        };
    let written =
        if is_in_flow(document, node.span.start) { format!("'{encrypted}'") } else { encrypted };
    let mut change = SourceChange::default();
    change.push(context.wanted.path, TextEdit::new(node.span, written));
    let mut draft = Draft::new(RefactoringKind::Rewrite, title, change, [entry.name.clone()]);
    draft.is_encrypted = true;
    if *style == ScalarStyle::Plain && resolve_plain(text) != Resolved::String {
        draft.remark = ", which becomes a String".to_owned();
    }
    Some(draft)
}

fn refuse_draft(reason: &str, title: &str) -> Option<Draft> {
    Some(Draft::new_refused(RefactoringKind::Rewrite, title.to_owned(), reason))
}

fn is_eyaml_level(level: &Level) -> bool {
    level.backend.data_reader().is_some_and(|reader| reader.decrypts)
}

/// Returns a text with one more line end if it ends with one: hiera-eyaml removes the last line end
/// of a decrypted text.
fn keep_line_end(text: &str) -> String {
    match text.bytes().last() {
        Some(b'\n') => format!("{text}\n"),
        Some(b'\r') => format!("{text}\r\n"),
        _ => text.to_owned(),
    }
}

impl RefactorContext<'_> {
    /// Returns the levels that can read the file.
    fn reading_levels(&self) -> Vec<&Level> {
        let matches = self.environment.path_matches(self.wanted.path);
        matches.map(|(reach, _)| &*reach.level).collect()
    }
}
