//! Names the structured fact in the place of a legacy one: `%{::osfamily}` becomes
//! `%{facts.os.family}`.

use super::{Draft, RefactorContext, RefactoringKind};
use crate::hiera::data::{Reference, TokenUse};
use crate::puppet::legacy_facts::structured_fact;
use crate::text::{SourceChange, TextEdit, TextRange};
use std::sync::Arc;

/// A legacy fact in a token.
pub(super) struct Legacy {
    /// The place of the legacy fact.
    pub(super) range: TextRange,
    name: &'static str,
    /// The structured fact, without `facts.`.
    pub(super) new: &'static str,
    /// The root key in whose data the legacy fact stands.
    root: Arc<str>,
}

/// Returns the legacy fact that a token names, as written.
pub(super) fn legacy_fact(written: &str, range: TextRange, root: Arc<str>) -> Option<Legacy> {
    let plain = written.strip_prefix("::").unwrap_or(written);
    let plain = plain.strip_prefix("facts.").unwrap_or(plain);
    let (name, new) = structured_fact(plain)?;
    Some(Legacy { range, name, new, root })
}

/// Returns the title of the change of one fact.
pub(super) fn title_for(one: &Legacy) -> String {
    format!("Use `facts.{}` for the legacy fact `{}`", one.new, one.name)
}

/// Returns the title of the change of all facts of a file.
pub(super) fn title_for_all(count: usize) -> String {
    format!("Use structured facts for all {count} legacy ones of this file")
}

/// Drafts the change of the fact at the cursor, and of all facts of the file.
pub(super) fn draft_facts(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    let view = context.snapshot.view(context.environment);
    let Some(data) = view.data_of(context.wanted.path) else { return };
    if context.document.find_entry("sops").is_some() {
        return;
    }
    let all: Vec<Legacy> = data.tokens().filter_map(|token| context.token_fact(token)).collect();
    let range = context.wanted.range;
    let Some(here) = all.iter().find(|one| one.range.meets_range(range)) else { return };
    drafts.push(context.with_facts(title_for(here), std::slice::from_ref(here)));
    if all.len() > 1 {
        drafts.push(context.with_facts(title_for_all(all.len()), &all));
    }
}

impl RefactorContext<'_> {
    fn token_fact(&self, token: &TokenUse) -> Option<Legacy> {
        let Reference::Variable(_) = &token.reference else { return None };
        let range = self.snapshot.span_bytes(token.name_span());
        let written = self.document.text.get(range.as_usize())?;
        legacy_fact(written, range, token.root.clone())
    }

    fn with_facts(&self, title: String, all: &[Legacy]) -> Draft {
        let mut change = SourceChange::default();
        for one in all {
            let text = format!("facts.{}", one.new);
            change.push(self.wanted.path, TextEdit::new(one.range, text));
        }
        let keys = all.iter().map(|one| one.root.clone());
        Draft::new(RefactoringKind::Rewrite, title, change, keys)
    }
}
