//! The report about two revisions, before it has a format: edits with the keys that change by them,
//! each change with its parts and nodes.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

use super::masking::{HIDDEN, Masking};
use crate::fleet::compare::changes::EnvironmentChanges;
use crate::fleet::compare::edits::{Edit, EditKind};
use crate::fleet::compare::key_change::KeyChange;
use crate::fleet::compare::refused::RefusedFile;
use crate::fleet::leaves::{PathStep, leaf_differences, path_text};
use crate::fleet::node_set::NodeSet;
use crate::hiera::resolution::Resolution;
use crate::hiera::scope::{Scope, Variable};
use crate::ide::page_links::LinkedPlace;
use crate::ide::phrases::PlaceNames;
use crate::puppet::print::PrintOptions;
use crate::puppet::value::Value;
use crate::text::FilePath;
use crate::workspace::Snapshot;

/// From how many lines on the values of variables are replaced by their names.
const FOLDED_FROM: usize = 3;
/// The shortest value of a variable that is replaced, in bytes.
const SHORTEST_FOLDED: usize = 2;

/// The kind of a change, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ChangeKind {
    /// The lookup fails afterwards.
    Error,
    /// There is no value any more.
    Lost,
    /// The value is another one.
    Value,
    /// There was no value.
    Found,
    /// The lookup failed before.
    Mended,
    /// Unknown variables decide whether the value is another one.
    Open,
    /// Only the order of members is another one.
    Order,
}

impl ChangeKind {
    pub(crate) fn of_change(change: &KeyChange) -> ChangeKind {
        match (&change.before.value, &change.after.value) {
            (Err(_), Err(_)) => ChangeKind::Open,
            (_, Err(_)) => ChangeKind::Error,
            (Err(_), _) => ChangeKind::Mended,
            (Ok(None), Ok(Some(_))) => ChangeKind::Found,
            (Ok(Some(_)), Ok(None)) => ChangeKind::Lost,
            _ if change.is_order => ChangeKind::Order,
            (Ok(one), Ok(other)) if one == other => ChangeKind::Open,
            _ => ChangeKind::Value,
        }
    }

    /// Returns the kind's sign in reports for people.
    pub(crate) fn sign(self) -> char {
        match self {
            ChangeKind::Error => '!',
            ChangeKind::Lost => '-',
            ChangeKind::Found | ChangeKind::Mended => '+',
            ChangeKind::Value => '~',
            ChangeKind::Open => '?',
            ChangeKind::Order => '=',
        }
    }

    /// Returns the kind's name in reports for programs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ChangeKind::Error => "error",
            ChangeKind::Lost => "lost",
            ChangeKind::Value => "value",
            ChangeKind::Found => "found",
            ChangeKind::Mended => "mended",
            ChangeKind::Open => "open",
            ChangeKind::Order => "order",
        }
    }
}

/// A part of a value that changes, with the nodes for which it does.
#[derive(Clone, Debug)]
pub(crate) struct ChangedPart {
    /// The steps to the part; empty for the whole value.
    pub(crate) path: String,
    pub(crate) before: String,
    /// Where the part before is written.
    pub(crate) place: Option<LinkedPlace>,
    pub(crate) after: String,
    /// Where the part after is written, for reports that show that.
    pub(crate) place_after: Option<LinkedPlace>,
    pub(crate) nodes: NodeSet,
}

/// A key whose value changes.
#[derive(Clone, Debug)]
pub(crate) struct ChangedKey {
    pub(crate) key: Arc<str>,
    /// The strategies that calls name; empty where the data's own alone is meant.
    pub(crate) strategies: Vec<String>,
    pub(crate) kind: ChangeKind,
    pub(crate) parts: Vec<ChangedPart>,
    pub(crate) nodes: NodeSet,
}

/// The common part of the changes of one line of a report: the key, its strategies and the kind.
type ChangeIdentity = (Arc<str>, Vec<String>, ChangeKind);

/// Finds the numbers of the edits that cause a change.
pub(crate) type FindCauses<'f> =
    dyn Fn(&EnvironmentChanges<'_>, &KeyChange, &[Edit]) -> Vec<usize> + 'f;

/// The file of edits, and the number of one with words of its own.
type EditPlace<'a> = (&'a FilePath, Option<usize>);

/// Edits with the keys that change by them.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    /// The numbers of the edits.
    pub(crate) edits: Vec<usize>,
    /// The changes, the gravest first; empty for edits without effect.
    pub(crate) keys: Vec<ChangedKey>,
}

impl Section {
    pub(crate) fn nodes(&self) -> NodeSet {
        NodeSet::union(self.keys.iter().map(|key| &key.nodes))
    }

    /// Returns the names of the keys, in the order of the changes. A key that changes in several ways
    /// is one.
    pub(crate) fn key_names(&self) -> IndexSet<&str> {
        self.keys.iter().map(|key| &*key.key).collect()
    }

    fn gravest(&self) -> Option<ChangeKind> {
        self.keys.iter().map(|key| key.kind).min()
    }
}

/// The report about one environment.
pub(crate) struct EnvironmentReport<'a> {
    pub(crate) changes: EnvironmentChanges<'a>,
    pub(crate) edits: Vec<Edit>,
    pub(crate) sections: Vec<Section>,
    /// The sections of each change of `changes`, as numbers of edits.
    pub(crate) edits_of_changes: Vec<Vec<usize>>,
}

impl EnvironmentReport<'_> {
    /// Returns the file that a section is about, where all lookups of some nodes fail for it in one
    /// revision.
    pub(crate) fn refused_file(&self, section: &Section) -> Option<&RefusedFile> {
        let edit = &self.edits[*section.edits.first().filter(|_| section.keys.is_empty())?];
        let mut refused = self.changes.refused.iter();
        refused.find(|file| {
            let kind = if file.is_after { EditKind::Broken } else { EditKind::Mended };
            edit.kind == kind && edit.path == file.path && !file.nodes.is_empty()
        })
    }

    /// Returns the kind of each change, those of refused files among them.
    pub(crate) fn change_kinds(&self) -> impl Iterator<Item = ChangeKind> {
        self.sections.iter().flat_map(|section| {
            let of_file = self
                .refused_file(section)
                .map(|file| if file.is_after { ChangeKind::Error } else { ChangeKind::Mended });
            section.keys.iter().map(|key| key.kind).chain(of_file)
        })
    }
}

/// Makes reports.
pub(crate) struct Reporter<'a> {
    pub(crate) before: &'a Snapshot,
    pub(crate) after: &'a Snapshot,
    pub(crate) root: &'a FilePath,
    pub(crate) masking: Masking<'a>,
    /// Whether changes of the order of members are shown.
    pub(crate) shows_order: bool,
    /// Whether parts have their places after.
    pub(crate) shows_places_after: bool,
}

impl<'a> Reporter<'a> {
    /// Makes the report of an environment; `causing_edits` gives the numbers of the edits that cause a
    /// change.
    pub(crate) fn report(
        &self,
        mut changes: EnvironmentChanges<'a>,
        edits: Vec<Edit>,
        causing_edits: &FindCauses<'_>,
    ) -> EnvironmentReport<'a> {
        if !self.shows_order {
            changes.changes.retain(|change| !change.is_order);
        }
        let all = changes.changes.iter();
        let edits_of_changes: Vec<Vec<usize>> =
            all.map(|change| causing_edits(&changes, change, &edits)).collect();
        let mut groups: IndexMap<Vec<EditPlace<'_>>, (BTreeSet<usize>, Vec<&KeyChange>)> =
            IndexMap::new();
        for (change, causing) in changes.changes.iter().zip(&edits_of_changes) {
            let mut places: Vec<EditPlace<'_>> =
                causing.iter().map(|number| place_of_edit(*number, &edits)).collect();
            places.dedup();
            let group = groups.entry(places).or_default();
            group.0.extend(causing);
            group.1.push(change);
        }
        let mut sections: Vec<Section> = Vec::new();
        let mut effective = BTreeSet::new();
        for (numbers, all) in groups.into_values() {
            effective.extend(numbers.iter().copied());
            let keys = self.changed_keys(&changes, &all);
            sections.push(Section { edits: numbers.into_iter().collect(), keys });
        }
        sections.sort_by_key(|section| (section.gravest(), section.edits.first().copied()));
        let mut quiet: IndexMap<EditPlace<'_>, Vec<usize>> = IndexMap::new();
        for number in (0..edits.len()).filter(|number| !effective.contains(number)) {
            quiet.entry(place_of_edit(number, &edits)).or_default().push(number);
        }
        sections.extend(quiet.into_values().map(|edits| Section { edits, keys: Vec::new() }));
        let mut report = EnvironmentReport { changes, edits, sections, edits_of_changes };
        let mut sections = std::mem::take(&mut report.sections);
        sections.sort_by_key(|section| report.refused_file(section).is_none());
        report.sections = sections;
        report
    }

    /// Returns the numbers of the edits that cause a change: those of the keys that it depends on, in
    /// files that one of its nodes reads; else options or configs.
    pub(crate) fn causing_edits(
        &self,
        changes: &EnvironmentChanges<'_>,
        change: &KeyChange,
        edits: &[Edit],
    ) -> Vec<usize> {
        let names: OnceCell<HashSet<&str>> = OnceCell::new();
        let find_names = || change.nodes.iter().map(|node| &*changes.nodes[node].name).collect();
        let is_read = |edit: &Edit| {
            let sides = [(self.before, changes.before), (self.after, changes.after)];
            changes.are_kinds
                || sides.iter().enumerate().any(|(side, (snapshot, environment))| {
                    let readers = snapshot.readers_of(environment, &edit.path);
                    let nodes = snapshot.nodes_of(environment);
                    readers.all_nodes().any(|(number, _)| match side {
                        0 => change.nodes.contains(number),
                        _ => names.get_or_init(find_names).contains(&*nodes[number].name),
                    })
                })
        };
        let found = select_edits(&|edit| is_cause(edit, &change.causes) && is_read(edit), edits);
        let found = if found.is_empty() {
            select_edits(&|edit: &Edit| edit.kind == EditKind::Options, edits)
        } else {
            found
        };
        let found = if found.is_empty() {
            select_edits(&|edit| edit.kind == EditKind::Config, edits)
        } else {
            found
        };
        let found = if found.is_empty() {
            select_edits(&|edit| is_cause(edit, &change.causes), edits)
        } else {
            found
        };
        if found.is_empty() { (0..edits.len()).collect() } else { found }
    }

    /// Returns changes by key and kind, the gravest first.
    fn changed_keys(
        &self,
        changes: &EnvironmentChanges<'_>,
        all: &[&KeyChange],
    ) -> Vec<ChangedKey> {
        let mut by_key: IndexMap<ChangeIdentity, Vec<&KeyChange>> = IndexMap::new();
        for change in all {
            let strategies = if change.strategies.contains(&None) {
                Vec::new()
            } else {
                change.strategies.iter().flatten().cloned().collect()
            };
            let kind = ChangeKind::of_change(change);
            by_key.entry((change.key.clone(), strategies, kind)).or_default().push(change);
        }
        let mut keys: Vec<ChangedKey> = Vec::new();
        for ((key, strategies, kind), all) in by_key {
            let nodes = NodeSet::union(all.iter().map(|change| &change.nodes));
            keys.push(ChangedKey {
                key,
                strategies,
                kind,
                parts: self.parts(changes, &all),
                nodes,
            });
        }
        keys.sort_by(|one, other| (one.kind, &one.key).cmp(&(other.kind, &other.key)));
        keys
    }

    /// Returns the parts that change, those of most nodes first. Parts that differ in the values of
    /// variables alone are one part that names the variables.
    fn parts(&self, changes: &EnvironmentChanges<'_>, all: &[&KeyChange]) -> Vec<ChangedPart> {
        let found = merged_parts(all.iter().map(|change| self.parts_of_change(change, &[])));
        if found.len() < FOLDED_FROM {
            return found;
        }
        let folded = |change: &&KeyChange| {
            let first = change.nodes.first().map(|number| &changes.nodes[number].scope);
            let variables = first.map(|scope| variables_read(change, scope)).unwrap_or_default();
            self.parts_of_change(change, &variables)
        };
        let folded = merged_parts(all.iter().map(folded));
        if folded.len() < found.len() { folded } else { found }
    }

    /// Returns the parts of one change, with these values of variables replaced by their names.
    fn parts_of_change(
        &self,
        change: &KeyChange,
        variables: &[(String, String)],
    ) -> Vec<ChangedPart> {
        let is_hidden = self.masking.hides(&change.key, &change.before)
            || self.masking.hides(&change.key, &change.after);
        let part = |path: String, before: Option<&Value>, after: Option<&Value>, hidden: bool| {
            ChangedPart {
                path: fold(path, variables),
                before: self.part_text(before, hidden, variables),
                place: self.value_place(self.before, before),
                after: self.part_text(after, hidden, variables),
                place_after: self
                    .value_place(self.after, after)
                    .filter(|_| self.shows_places_after),
                nodes: change.nodes.clone(),
            }
        };
        match (&change.before.value, &change.after.value) {
            (Ok(Some(before)), Ok(Some(after))) if !is_hidden && !change.is_order => {
                let leaves = leaf_differences(before, after);
                leaves
                    .iter()
                    .map(|leaf| {
                        let hidden = leaf.path.iter().any(|step| match step {
                            PathStep::Member(key) => self.masking.hides_name(&key.to_text()),
                            PathStep::Element(_) => false,
                        });
                        part(path_text(&leaf.path), leaf.before, leaf.after, hidden)
                    })
                    .collect()
            }
            (before, after) => {
                let (old, new) = (found_value(before), found_value(after));
                let mut whole = part(String::new(), old.as_ref(), new.as_ref(), is_hidden);
                for (text, side) in
                    [(&mut whole.before, &change.before), (&mut whole.after, &change.after)]
                {
                    if let Some(words) = self.words_of_missing(side, is_hidden) {
                        *text = words;
                    }
                }
                vec![whole]
            }
        }
    }

    fn value_place(&self, snapshot: &Snapshot, value: Option<&Value>) -> Option<LinkedPlace> {
        let names = PlaceNames { snapshot, root: self.root };
        LinkedPlace::of_span(names, value?.origin?)
    }

    fn part_text(
        &self,
        value: Option<&Value>,
        hidden: bool,
        variables: &[(String, String)],
    ) -> String {
        match value {
            None => "(none)".to_owned(),
            Some(_) if hidden => HIDDEN.to_owned(),
            Some(value) => fold(self.masking.text(value), variables),
        }
    }

    /// Returns the words for a lookup without a value.
    fn words_of_missing(&self, resolution: &Resolution, is_hidden: bool) -> Option<String> {
        match &resolution.value {
            Ok(Some(_)) => None,
            Ok(None) if resolution.unsettled_levels.is_empty() => Some("not found".into()),
            Ok(None) => Some("not found, not settled".into()),
            Err(_) if is_hidden => Some("the lookup fails".into()),
            Err(error) => {
                let options = PrintOptions { mask_encrypted: true, ..PrintOptions::default() };
                let message = options.mask_message(error.print_message(&options));
                let message = message.split(char::is_control).collect::<Vec<_>>().join(" ");
                Some(format!("the lookup fails: {message}"))
            }
        }
    }
}

fn found_value<E>(side: &Result<Option<Value>, E>) -> Option<Value> {
    side.as_ref().ok().cloned().flatten()
}

fn is_cause(edit: &Edit, causes: &BTreeSet<Arc<str>>) -> bool {
    edit.key.as_ref().is_some_and(|key| causes.contains(key))
}

fn select_edits(is_it: &dyn Fn(&Edit) -> bool, edits: &[Edit]) -> Vec<usize> {
    let all = edits.iter().enumerate().filter(|(_, edit)| is_it(edit));
    all.map(|(number, _)| number).collect()
}

/// Edits of one file are one section, unless they have words of their own.
fn place_of_edit(number: usize, edits: &[Edit]) -> (&FilePath, Option<usize>) {
    let edit = &edits[number];
    (&edit.path, edit.note.as_ref().map(|_| number))
}

/// Merges equal parts; those of most nodes come first, then those of the first nodes: the order of
/// the lookups is no order of the report.
fn merged_parts(all: impl Iterator<Item = Vec<ChangedPart>>) -> Vec<ChangedPart> {
    let mut merged: IndexMap<(String, String, String), ChangedPart> = IndexMap::new();
    for part in all.flatten() {
        let key = (part.path.clone(), part.before.clone(), part.after.clone());
        match merged.get_mut(&key) {
            Some(known) => {
                known.nodes.insert_all(&part.nodes);
                if known.place != part.place {
                    known.place = None;
                }
                if known.place_after != part.place_after {
                    known.place_after = None;
                }
            }
            None => drop(merged.insert(key, part)),
        }
    }
    let mut parts: Vec<ChangedPart> = merged.into_values().collect();
    parts.sort_by_key(|part| (std::cmp::Reverse(part.nodes.len()), part.nodes.first()));
    parts
}

/// Returns the variables that a change reads with their values, the longest value first. All nodes of
/// a change have the same.
fn variables_read(change: &KeyChange, scope: &Scope) -> Vec<(String, String)> {
    let names: BTreeSet<&String> =
        change.before.reads.variables.iter().chain(&change.after.reads.variables).collect();
    let value = |name: &&String| match scope.get_path(name) {
        Variable::Known(value) if value.as_hash().is_none() && value.as_array().is_none() => {
            let text = value.to_text().into_owned();
            (text.len() >= SHORTEST_FOLDED && !value.is_secret()).then(|| ((*name).clone(), text))
        }
        _ => None,
    };
    let mut found: Vec<(String, String)> = names.iter().filter_map(value).collect();
    found.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    let mut values = BTreeMap::new();
    found.retain(|(name, value)| {
        values.entry(value.clone()).or_insert_with(|| name.clone()) == name
    });
    found
}

/// Replaces the values of variables by their names: of the values that begin at one place, the
/// longest.
fn fold(text: String, variables: &[(String, String)]) -> String {
    if variables.is_empty() {
        return text;
    }
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        match variables.iter().find(|(_, value)| rest.starts_with(value.as_str())) {
            Some((name, value)) => {
                out.push_str(&format!("<{name}>"));
                rest = &rest[value.len()..];
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_variables_are_folded_where_they_stand() {
        let variables =
            [("fqdn".to_owned(), "osl-web".to_owned()), ("location".to_owned(), "osl".to_owned())];
        assert_eq!(fold("osl-web, osl-db".into(), &variables), "<fqdn>, <location>-db");
        assert_eq!(fold("æosl".into(), &[]), "æosl");
    }
}
