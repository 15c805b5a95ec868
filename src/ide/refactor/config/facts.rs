//! Names the structured facts in the place of legacy ones in the texts of a `hiera.yaml`.

use super::ConfigFile;
use crate::ide::refactor::Draft;
use crate::ide::refactor::facts::{Legacy, legacy_fact, title_for, title_for_all};
use crate::text::{TextEdit, TextRange};

/// Drafts the change of the fact at the cursor, and of all facts of the file.
pub(super) fn draft_facts(file: &ConfigFile<'_>, drafts: &mut Vec<Draft>) {
    let all = file.legacy_facts();
    let Some(here) = all.iter().find(|one| one.range.meets_range(file.wanted.range)) else {
        return;
    };
    drafts.push(new_facts_draft(title_for(here), std::slice::from_ref(here), file));
    if all.len() > 1 {
        drafts.push(new_facts_draft(title_for_all(all.len()), &all, file));
    }
}

fn new_facts_draft(title: String, facts: &[Legacy], file: &ConfigFile<'_>) -> Draft {
    file.new_draft(
        title,
        facts.iter().map(|one| TextEdit::new(one.range, format!("facts.{}", one.new))).collect(),
    )
}

impl ConfigFile<'_> {
    /// Returns the legacy facts in datadirs and locations, in order.
    fn legacy_facts(&self) -> Vec<Legacy> {
        let levels = self.config.levels();
        let mut all: Vec<Legacy> = levels
            .flat_map(|level| level.templates())
            .filter_map(|template| template.span)
            .flat_map(|span| self.legacy_in(self.snapshot.span_bytes(span)))
            .collect();
        all.sort_by_key(|one| one.range.start);
        all.dedup_by_key(|one| one.range.start);
        all
    }

    /// Returns the legacy facts of a text as written: names of facts need no escapes.
    fn legacy_in(&self, range: TextRange) -> Vec<Legacy> {
        let Some(text) = self.text.get(range.as_usize()) else { return Vec::new() };
        let mut found = Vec::new();
        for (at, _) in text.match_indices("%{") {
            let inner = &text[at + 2..];
            let Some(end) = inner.find('}') else { break };
            let name = inner[..end].trim();
            let start = at + 2 + inner[..end].len() - inner[..end].trim_start().len();
            let start = range.start + start as u32;
            let range = TextRange::new(start, start + name.len() as u32);
            found.extend(legacy_fact(name, range, "".into()));
        }
        found
    }
}
