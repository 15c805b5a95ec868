//! Adds an entry of `lookup_options` for a key: the strategies that fit its value.

use super::{Document, Draft, RefactorContext, RefactoringKind};
use crate::hiera::config::Locations;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::merge::{DeepOptions, Strategy};
use crate::puppet::print;
use crate::puppet::value::Data;
use crate::text::{FilePath, SourceChange, TextEdit, TextRange};
use crate::yaml::NodeKind;

/// Drafts an entry for each strategy that merges the value.
pub(super) fn draft_options(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    let Some(entry) = context.entry_of_key().filter(|entry| &*entry.name != LOOKUP_OPTIONS) else {
        return;
    };
    let index = context.snapshot.keys();
    if index.options_of(&entry.name).any(|options| !options.is_pattern) {
        return;
    }
    let view = context.snapshot.view(context.environment);
    let Some(data) = view.data_of(context.wanted.path) else { return };
    let deep = Strategy::Deep(DeepOptions::default());
    let strategies = match data.get(&entry.name).map(|member| member.value.data()) {
        Some(Data::Array(_)) => vec![Strategy::Unique],
        Some(Data::Hash(_)) => vec![Strategy::Hash, deep],
        _ => return,
    };
    let Some(path) = context.file_for_options() else { return };
    let is_installed = context.snapshot.is_third_party(context.environment, &path);
    let document = context.snapshot.file(&path).and_then(|file| file.document());
    let document = document.filter(|it| it.find_entry("sops").is_none() && !is_installed);
    for strategy in strategies {
        let edit =
            document.as_ref().and_then(|document| document.with_options(&entry.name, &strategy));
        let Some(edit) = edit else { continue };
        let mut change = SourceChange::default();
        change.push(&path, edit);
        let (name, file) = (strategy.name(), context.short_path(&path));
        let title = format!("Merge `{}` by `{name}` in {LOOKUP_OPTIONS} of {file}", entry.name);
        let keys = [LOOKUP_OPTIONS.into()];
        drafts.push(Draft::new(RefactoringKind::Rewrite, title, change, keys));
    }
}

impl RefactorContext<'_> {
    /// Returns the file to write options in: one that every node reads, and that has some already
    /// if there is one; else this file.
    fn file_for_options(&self) -> Option<FilePath> {
        let index = self.snapshot.keys();
        let is_for_all = self.environment.path_matches(self.wanted.path).any(|(reach, _)| {
            let is_literal = !reach.template.text.contains("%{");
            is_literal
                && !reach.level.datadir.text.contains("%{")
                && matches!(reach.level.locations, Locations::Paths(_))
        });
        let own = is_for_all.then(|| self.wanted.path.clone());
        let others = self.located_targets().into_iter().filter(|it| it.is_for_all && it.exists);
        let all: Vec<FilePath> = own.into_iter().chain(others.map(|it| it.path)).collect();
        let found =
            all.iter().find(|path| index.definitions(LOOKUP_OPTIONS).contains(path)).or(all.last());
        Some(found.unwrap_or(self.wanted.path).clone())
    }
}

impl Document {
    /// Returns the edit that adds a strategy for a key; `None` where the options are written in a
    /// way that takes no entry.
    fn with_options(&self, key: &str, strategy: &Strategy) -> Option<TextEdit> {
        let name = strategy.name();
        let Some(entry) = self.find_entry(LOOKUP_OPTIONS) else {
            let at = self.entries.first().map_or(self.text.len() as u32, |first| first.lead);
            let gap = if self.entries.is_empty() { "" } else { "\n" };
            let text = format!("{LOOKUP_OPTIONS}:\n{}{gap}", options_entry_text(2, name, key));
            return Some(TextEdit::new(TextRange::new_empty(at), text));
        };
        let NodeKind::Mapping { flow, entries } = &self.tree.node(entry.value).kind else {
            return None;
        };
        let (first, last) = (entries.first()?, entries.last()?);
        let end = self.tree.node(last.1).span.end.max(self.tree.node(last.0).span.end);
        if *flow {
            let quoted = key.replace('\'', "''");
            let text = format!(", '{quoted}': {{merge: {name}}}");
            return Some(TextEdit::new(TextRange::new_empty(end), text));
        }
        let start = self.tree.node(first.0).span.start as usize;
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let mut text = options_entry_text(start - line, name, key);
        let at = self.line_end(end);
        if !self.text[..at as usize].ends_with('\n') {
            text.insert(0, '\n');
        }
        Some(TextEdit::new(TextRange::new_empty(at), text))
    }
}

fn options_entry_text(indent: usize, name: &str, key: &str) -> String {
    let pad = " ".repeat(indent);
    format!("{pad}{}:\n{pad}  merge: {name}\n", print::quote_scalar(key))
}
