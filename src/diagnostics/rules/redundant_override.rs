//! `redundant-override`, and the proof that `merge-adds-nothing` shares: an entry is deleted in a copy
//! of the snapshot, and no value may change.

use std::time::Duration;

use crate::diagnostics::carries_anchor;
use crate::diagnostics::fix::{Fix, FixDrafter, FixEdit, Safety};
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Rule, RuleGroup, Severity, Tag,
};
use crate::fleet::compare::{Comparer, Effort};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::puppet::value::Member;
use crate::text::{FilePath, Span};

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

/// How long the values of one entry are compared. An entry that takes longer is not reported.
const PATIENCE: Duration = Duration::from_secs(10);

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    for removable in removable_entries(context) {
        if removable.is_merged {
            continue;
        }
        let message = format!(
            "'{}' has the value that {} below, and every reader gets it without this entry",
            removable.key,
            match removable.others {
                1 => "the file".to_owned(),
                count => format!("one of {count} files"),
            }
        );
        findings.push(removable.finding(&RULE, message));
    }
}

/// An entry whose removal changes no value of any node.
pub(super) struct RemovableEntry<'a> {
    pub(super) key: &'a str,
    span: Span,
    /// Whether the key's values are merged.
    pub(super) is_merged: bool,
    /// How many other files of the environment define the key.
    pub(super) others: usize,
    /// The file among them with the same value, if there is one.
    same: Option<Span>,
}

impl RemovableEntry<'_> {
    /// Returns the finding that the entry can be deleted, with the fix that does.
    pub(super) fn finding(&self, rule: &'static Rule, message: String) -> Finding {
        Finding::new(rule, self.span, message)
            .with_related(self.same, "the same value is here")
            .fix(self.fix())
    }

    fn fix(&self) -> Fix {
        Fix {
            title: format!("Delete '{}' here", self.key),
            edits: vec![FixEdit::RemoveMember(self.span)],
            safety: Safety::KeepsValues,
        }
    }
}

/// Returns the root entries that can be deleted without effect: proved for all known nodes, or kinds of
/// nodes, and for unknown ones.
pub(super) fn removable_entries<'a>(context: &'a EntryContext<'a>) -> Vec<RemovableEntry<'a>> {
    let candidates = context.root_members().filter_map(|(key, member)| {
        let key = key.as_str().filter(|key| *key != LOOKUP_OPTIONS)?;
        candidate(context, key, member)
    });
    candidates.filter(|entry| is_without_effect(context, entry)).collect()
}

/// Returns an entry that may be removable: another file of the environment has the same value, or
/// values are merged.
fn candidate<'a>(
    context: &EntryContext<'a>,
    key: &'a str,
    member: &Member,
) -> Option<RemovableEntry<'a>> {
    let (snapshot, environment) = (context.file.snapshot, context.file.environment);
    let own = &context.file.file.path;
    let is_other = |path: &&FilePath| *path != own && environment.reaches_file(path);
    let others: Vec<&FilePath> = snapshot.keys().definitions(key).iter().filter(is_other).collect();
    // Reports would reveal that secrets are equal.
    if others.is_empty() || carries_anchor(snapshot, member) || snapshot.may_be_sensitive(key) {
        return None;
    }
    let is_merged = !(context.strategy)(key)?.stops_at_first();
    let same = others.iter().find_map(|path| {
        let data = context.file.view.data_of(path)?;
        let other = data.get(key).filter(|other| other.value == member.value)?;
        other.key_origin
    });
    let span = member.key_origin?;
    let count = others.len();
    (is_merged || same.is_some()).then_some(RemovableEntry {
        key,
        span,
        is_merged,
        others: count,
        same,
    })
}

fn is_without_effect(context: &EntryContext<'_>, entry: &RemovableEntry<'_>) -> bool {
    let snapshot = context.file.snapshot;
    let trial = Finding::new(&RULE, entry.span, "").fix(entry.fix());
    let Some(change) = FixDrafter::new(snapshot).draft(&trial) else { return false };
    let Some(after) = snapshot.after_change(&change) else { return false };
    let comparer = Comparer::new(snapshot, Effort::new(Some(PATIENCE)));
    comparer.compare(&after, &change, &[]).is_some_and(|found| found.is_neutral())
}
