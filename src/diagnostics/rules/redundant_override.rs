//! `redundant-override`, and the proof that `merge-adds-nothing` shares: an entry is deleted in a copy
//! of the snapshot, and no value may change.

use crate::diagnostics::carries_anchor;
use crate::diagnostics::fix::{Fix, FixDrafter, FixEdit, Safety};
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Rule, RuleGroup, Severity, Tag,
};
use crate::fleet::audience::{FileAudience, ValueLimits};
use crate::fleet::compare::{Comparer, Comparison, Effort};
use crate::fleet::groups::Group;
use crate::fleet::ways::ReadWay;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::resolution::{LookupStep, Outcome, Resolution};
use crate::puppet::value::Member;
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "redundant-override",
    severity: Severity::Off,
    group: RuleGroup::Style,
    tag: Some(Tag::Unnecessary),
    summary: "a value that all its readers would get without it",
    docs: include_str!("redundant_override.md"),
    depends_on: Dependence::Keys,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    for removable in removable_entries(context) {
        if removable.is_merged {
            continue;
        }
        let message = format!("'{}': every reader gets the same value without it", removable.key);
        findings.push(removable.finding(&RULE, message));
    }
}

/// An entry whose removal changes no value of any node.
pub(super) struct RemovableEntry<'a> {
    pub(super) key: &'a str,
    span: Span,
    /// Whether all readers of the file merge the key's values.
    pub(super) is_merged: bool,
    /// The places that the readers get the value from without the entry, in the order of levels.
    pub(super) places: Vec<Span>,
}

impl RemovableEntry<'_> {
    /// Returns the finding that the entry can be deleted, with the fix that does.
    pub(super) fn finding(&self, rule: &'static Rule, message: String) -> Finding {
        let finding = Finding::new(rule, self.span, message).fix(removal(self.key, self.span));
        self.places.iter().fold(finding, |finding, place| {
            finding.with_related(Some(*place), "readers get the value from here")
        })
    }
}

/// Returns the root entries that can be deleted without effect: proved for all known nodes, or kinds of
/// nodes, and for unknown ones.
pub(super) fn removable_entries<'a>(context: &'a EntryContext<'a>) -> Vec<RemovableEntry<'a>> {
    let candidates = context.root_members().filter_map(|(key, member)| {
        let key = key.as_str().filter(|key| *key != LOOKUP_OPTIONS)?;
        candidate(context, key, member)
    });
    let prove = |(key, span): (&'a str, Span)| {
        let after = without_effect(context, key, span)?;
        let (is_merged, places) = sources_of_values(&after, &context.file.file.path, key);
        Some(RemovableEntry { key, span, is_merged, places })
    };
    candidates.filter_map(prove).collect()
}

/// Returns the key and the place of an entry that may be removable: another file of the environment
/// has the same value, or values may be merged.
fn candidate<'a>(
    context: &EntryContext<'a>,
    key: &'a str,
    member: &Member,
) -> Option<(&'a str, Span)> {
    let (snapshot, environment) = (context.file.snapshot, context.file.environment);
    let own = &context.file.file.path;
    let is_other = |path: &&FilePath| *path != own && environment.reaches_file(path);
    let others: Vec<&FilePath> = snapshot.keys().definitions(key).iter().filter(is_other).collect();
    // Reports would reveal that secrets are equal.
    if others.is_empty() || carries_anchor(snapshot, member) || snapshot.may_be_sensitive(key) {
        return None;
    }
    let may_merge = !(context.strategy)(key)?.stops_at_first()
        || ReadWay::ways_of_key(snapshot, environment, key).iter().any(|way| !way.is_plain());
    let has_same = |path: &&FilePath| {
        let data = context.file.view.data_of(path);
        data.is_some_and(|data| data.get(key).is_some_and(|other| other.value == member.value))
    };
    (may_merge || others.iter().any(has_same)).then_some((key, member.key_origin?))
}

/// Returns the snapshot without the entry; `None` where that may change a value.
fn without_effect(context: &EntryContext<'_>, key: &str, span: Span) -> Option<Snapshot> {
    let snapshot = context.file.snapshot;
    let trial = Finding::new(&RULE, span, "").fix(removal(key, span));
    let change = FixDrafter::new(snapshot).draft(&trial)?;
    let after = snapshot.after_change(&change)?;
    let comparer = Comparer::new(snapshot, Effort::default());
    comparer.compare(&after, &change, &[]).filter(Comparison::is_neutral)?;
    Some(after)
}

/// Returns whether all readers of a file merge the values of a key, and the places that they get them
/// from, each once, in the order of levels.
fn sources_of_values(snapshot: &Snapshot, path: &FilePath, key: &str) -> (bool, Vec<Span>) {
    let mut environments = snapshot.environments().governing_environments(path);
    let Some(environment) = environments.next() else { return (false, Vec::new()) };
    let audience = FileAudience::new(snapshot, environment, path);
    let root = LookupKey::of_root(key);
    let found = audience.effective_value(&root, ValueLimits::OF_KEY, false);
    let resolutions: Vec<&Resolution> = found.groups.iter().flat_map(Group::resolutions).collect();
    let is_merged = resolutions.iter().all(|resolution| !resolution.merge.stops_at_first());
    let place = |step: &LookupStep| match &step.outcome {
        Outcome::Found { key, .. } => *key,
        _ => None,
    };
    let mut places: Vec<Span> = Vec::new();
    for span in resolutions.iter().flat_map(|it| it.steps.iter().filter_map(place)) {
        if !places.contains(&span) {
            places.push(span);
        }
    }
    (is_merged, places)
}

/// Returns the fix that deletes an entry.
fn removal(key: &str, span: Span) -> Fix {
    Fix {
        title: format!("Delete '{key}' here"),
        edits: vec![FixEdit::RemoveMember(span)],
        safety: Safety::KeepsValues,
    }
}
