//! Phrases that several formats of the report share.

use std::collections::BTreeSet;

use super::ChangeReport;
use super::model::{ChangeKind, ChangedKey, ChangedPart, EnvironmentReport, Section};
use crate::fleet::compare::edits::{Edit, EditKind};
use crate::fleet::node_set::NodeSet;
use crate::ide::node_names::name_ranges;
use crate::ide::page_links::LinkedPlace;
use crate::ide::phrases::PlaceNames;
use crate::text::count_phrase;
use crate::workspace::environments::overview::Overview;

/// The most parts of a key to print.
pub(crate) const SHOWN_PARTS: usize = 3;
/// The most kinds of nodes to print.
const SHOWN_KINDS: usize = 3;
/// The most series of names to print.
const SHOWN_SERIES: usize = 10;

impl EnvironmentReport<'_> {
    pub(crate) fn noun(&self) -> &'static str {
        if self.changes.are_kinds { "kind of nodes" } else { "node" }
    }

    /// Returns the names of nodes in few words.
    pub(crate) fn names(&self, nodes: &NodeSet) -> String {
        let names: Vec<&str> = nodes.iter().map(|node| &*self.changes.nodes[node].name).collect();
        if self.changes.are_kinds {
            let (shown, rest) = names.split_at(names.len().min(SHOWN_KINDS));
            let shown = shown.join("; ");
            return if rest.is_empty() { shown } else { format!("{shown}; {} more", rest.len()) };
        }
        name_ranges(&names, SHOWN_SERIES)
    }

    /// Returns the number of nodes with their names; `all of them` where that is so.
    pub(crate) fn nodes_phrase(&self, nodes: &NodeSet) -> String {
        let count = count_phrase(nodes.len(), self.noun());
        if nodes.len() == self.changes.compared.len() && nodes.len() > 1 {
            return format!("all {count}");
        }
        format!("{count}: {}", self.names(nodes))
    }

    /// Returns the place of an edit.
    pub(crate) fn place(&self, report: &ChangeReport<'_>, edit: &Edit) -> (String, Option<u32>) {
        let snapshot = match edit.kind {
            EditKind::Removed => &report.before,
            _ => &report.after,
        };
        let names = PlaceNames { snapshot, root: report.root };
        let line = edit.span.map(|span| names.line_number(span));
        (names.short_path(&edit.path).to_owned(), line)
    }

    /// Returns the head of a section: the first edit's place, and what was edited.
    pub(crate) fn head(&self, report: &ChangeReport<'_>, section: &Section) -> String {
        let edits: Vec<&Edit> = section.edits.iter().map(|number| &self.edits[*number]).collect();
        let Some(first) = edits.first() else { return "other nodes".into() };
        let place = match self.place(report, first) {
            (path, Some(line)) => format!("{path}:{line}"),
            (path, None) => path,
        };
        let mut what = Vec::new();
        for (kind, noun) in [
            (EditKind::Added, "added"),
            (EditKind::Edited, "edited"),
            (EditKind::Removed, "removed"),
        ] {
            let count = edits.iter().filter(|edit| edit.kind == kind).count();
            if count > 0 {
                let noun = match (what.is_empty(), count) {
                    (false, _) => format!("{count} {noun}"),
                    (true, 1) => format!("1 entry {noun}"),
                    (true, _) => format!("{count} entries {noun}"),
                };
                what.push(noun);
            }
        }
        let mut notes: Vec<&str> = Vec::new();
        for note in edits.iter().filter_map(|edit| edit.note.as_deref()) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        what.extend(notes.iter().take(SHOWN_PARTS).map(|&note| note.to_owned()));
        if notes.len() > SHOWN_PARTS {
            what.push(format!("{} more", notes.len() - SHOWN_PARTS));
        }
        what.extend(
            has_kind(EditKind::Options, &edits).then(|| "lookup_options edited".to_owned()),
        );
        what.extend(has_kind(EditKind::Config, &edits).then(|| "hierarchy edited".to_owned()));
        what.extend(
            has_kind(EditKind::Broken, &edits).then(|| "cannot be parsed any more".to_owned()),
        );
        what.extend(has_kind(EditKind::Mended, &edits).then(|| "can be parsed again".to_owned()));
        let files: BTreeSet<_> = edits.iter().map(|edit| &edit.path).collect();
        let more = match files.len() - 1 {
            0 => String::new(),
            more => format!("; in {} more", count_phrase(more, "file")),
        };
        format!("{place}  {}{more}", what.join(if notes.is_empty() { ", " } else { "; " }))
    }

    /// Returns the effect of a section without keys: lookups that fail for a refused file, or why
    /// the edits change nothing.
    pub(crate) fn effect_phrase(&self, report: &ChangeReport<'_>, section: &Section) -> String {
        let Some(file) = self.refused_file(section) else {
            return self.quiet_reason(report, section);
        };
        let kind = if file.is_after { ChangeKind::Error } else { ChangeKind::Mended };
        let subject = match &file.module {
            Some(module) => format!("all lookups of keys of the module '{module}'"),
            None => "all lookups".to_owned(),
        };
        let verb = if file.is_after { "fail" } else { "failed before" };
        format!("{} {subject} {verb}    {}", kind.sign(), self.nodes_phrase(&file.nodes))
    }

    fn quiet_reason(&self, report: &ChangeReport<'_>, section: &Section) -> String {
        let Some(edit) = section.edits.first().map(|number| &self.edits[*number]) else {
            return "nothing changes".into();
        };
        let sides = [(&report.before, self.changes.before), (&report.after, self.changes.after)];
        let is_read = self.changes.are_kinds
            || sides.iter().any(|(snapshot, environment)| {
                snapshot.readers_of(environment, &edit.path).all_nodes().next().is_some()
            });
        if edit.kind == EditKind::Config || edit.note.is_some() && edit.key.is_none() {
            return "nothing changes: each node gets the value that it had".into();
        }
        let new: Vec<&str> = self.changes.added.iter().map(|name| &**name).collect();
        let (snapshot, environment) = sides[1];
        let readers = snapshot.nodes_reading(environment, &edit.path);
        if !readers.is_empty() && readers.iter().all(|node| new.contains(&&*node.name)) {
            return "nothing changes: only new nodes read this file".into();
        }
        if is_read {
            return "nothing changes: each node gets the value that it had".into();
        }
        let scope = snapshot.inferred_scope(environment, &edit.path);
        let needs: Vec<String> = scope
            .known_variables()
            .filter(|(name, _)| *name != "environment")
            .map(|(name, value)| format!("{name}={}", value.to_text()))
            .collect();
        match &needs[..] {
            [] => "nothing changes: no known node reads this file".into(),
            needs => format!("nothing changes: no known node has {}", needs.join(", ")),
        }
    }

    /// Returns the line of totals.
    pub(crate) fn totals(&self) -> String {
        let keys: BTreeSet<_> =
            self.sections.iter().flat_map(|one| &one.keys).map(|key| &key.key).collect();
        let keys_of_sections = self.sections.iter().flat_map(|one| &one.keys);
        let nodes = NodeSet::union(keys_of_sections.map(|key| &key.nodes));
        let values: usize =
            self.sections.iter().flat_map(|one| &one.keys).map(|key| key.nodes.len()).sum();
        let quiet = self
            .sections
            .iter()
            .filter(|one| one.keys.is_empty() && self.refused_file(one).is_none());
        let quiet: usize = quiet.map(|one| one.edits.len()).sum();
        let mut more = vec![count_phrase(values, "value"), count_phrase(self.edits.len(), "edit")];
        if quiet > 0 {
            more.push(format!("{quiet} without effect"));
        }
        for (names, text) in [(&self.changes.added, "new"), (&self.changes.removed, "gone")] {
            if !names.is_empty() {
                let names: Vec<&str> = names.iter().map(|name| &**name).collect();
                more.push(format!(
                    "{} {text}: {}",
                    count_phrase(names.len(), "node"),
                    name_ranges(&names, SHOWN_SERIES)
                ));
            }
        }
        let verb = if keys.len() == 1 { "changes" } else { "change" };
        let noun = if self.changes.are_kinds { "kinds of nodes" } else { "nodes" };
        let all = self.changes.compared.len();
        let refused = self.sections.iter().filter_map(|section| self.refused_file(section));
        let failing = refused.filter(|file| file.is_after).map(|file| &file.nodes);
        let failing = NodeSet::union(failing);
        let fails = match failing.len() {
            0 => String::new(),
            count => format!("lookups fail for a broken file on {count} of {all} {noun}; "),
        };
        format!(
            "{fails}{} {verb} on {} of {all} {noun} ({})",
            count_phrase(keys.len(), "key"),
            nodes.len(),
            more.join(", ")
        )
    }
}

fn has_kind(kind: EditKind, edits: &[&Edit]) -> bool {
    edits.iter().any(|edit| edit.kind == kind)
}

impl ChangeReport<'_> {
    /// Returns the first line: the revisions, and the nodes that are known.
    pub(crate) fn title(&self) -> String {
        let overviews: &[Overview] = self.after.overviews();
        let nodes: Vec<String> = overviews.iter().map(Overview::nodes_phrase).collect();
        let nodes = if nodes.is_empty() { "no nodes".to_owned() } else { nodes.join("; ") };
        format!("Effective changes from {} to {}, for {nodes}", self.base, self.head)
    }
}

impl ChangedKey {
    /// Returns the key with its strategies.
    pub(crate) fn title(&self) -> String {
        match &self.strategies[..] {
            [] => self.key.to_string(),
            all => format!("{} (merge {})", self.key, all.join(", ")),
        }
    }
}

impl ChangedPart {
    /// Returns `path: before (place) -> after`.
    pub(crate) fn change(&self) -> String {
        let path = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        let (place, place_after) = (place_suffix(&self.place), place_suffix(&self.place_after));
        if self.before == self.after {
            return format!("{path}{} changed{place_after}", self.before);
        }
        format!("{path}{}{place} -> {}{place_after}", self.before, self.after)
    }
}

fn place_suffix(place: &Option<LinkedPlace>) -> String {
    place.as_ref().map_or_else(String::new, |place| format!(" ({})", place.name))
}
