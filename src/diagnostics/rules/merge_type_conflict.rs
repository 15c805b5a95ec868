//! `merge-type-conflict`

use std::collections::HashSet;

use super::limit_reached;
use super::unread::in_code;
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Related, Rule, RuleGroup, Severity,
};
use crate::fleet::groups::{FleetQuestion, group_by_answer};
use crate::hiera::error::LookupErrorKind;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{LOOKUP_OPTIONS, Resolver};
use crate::hiera::merge::{MergeError, Strategy, may_refuse};
use crate::hiera::resolution::{MergeSource, Outcome, Resolution};
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::manifests::{CalledMerge, ManifestIndex, MergingCall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "merge-type-conflict",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "values that the key's merge strategy cannot merge",
    docs: include_str!("merge_type_conflict.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

/// The maximum number of scopes for which one key is looked up: scopes of nodes that read this file
/// and another. Where there are more, `limit-reached` reports the key.
///
/// A lookup reports all files that its node reads.
const MAX_OTHERS: usize = 50;

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let file = &context.file;
    let index = file.snapshot.keys();
    let members = context.root_members().filter_map(|(key, member)| Some((key.as_str()?, member)));
    let code = file.snapshot.manifests(file.environment);
    for (key, member) in members.filter(|(key, _)| *key != LOOKUP_OPTIONS) {
        // A key that a single file defines is not merged. Most values merge with any other value:
        // lookups for all these values would cost the square of the number of their files.
        if index.definitions(key).len() < 2
            || !index.strict_merges(key).any(|strategy| may_refuse(&strategy, &member.value))
                && !called_strictly(code, key)
                    .is_some_and(|strategy| may_refuse(&strategy, &member.value))
        {
            continue;
        }
        let others: Vec<&FilePath> = index
            .definitions(key)
            .iter()
            .filter(|path| **path != file.file.path && file.environment.reaches_file(path))
            .collect();
        if others.is_empty() || !merges_strictly(context, key) {
            continue;
        }
        findings.extend(find_conflict(context, key, &others));
    }
}

/// Whether calls, or else lookup_options, ask for a merge that can fail.
fn merges_strictly(context: &EntryContext<'_>, key: &str) -> bool {
    let code = context.file.snapshot.manifests(context.file.environment);
    match code.called_merge(key) {
        CalledMerge::One(_) => called_strictly(code, key).is_some(),
        _ => (context.strategy)(key).as_ref().is_some_and(is_strict),
    }
}

/// Returns the merge that can fail and that all calls that read a key ask for literally.
fn called_strictly(code: &ManifestIndex, key: &str) -> Option<Strategy> {
    let CalledMerge::One(call) = code.called_merge(key) else { return None };
    call.literal_strategy().filter(|strategy| is_strict(strategy)).cloned()
}

fn is_strict(strategy: &Strategy) -> bool {
    matches!(strategy, Strategy::Hash | Strategy::Unique)
}

/// Returns the resolver's own verdict: the first node that sees this file and another, and whose
/// lookup fails for the value in this file.
fn find_conflict(context: &EntryContext<'_>, key: &str, others: &[&FilePath]) -> Option<Finding> {
    let file = &context.file;
    // Files whose values one lookup merged need no other lookup.
    let mut merged: HashSet<FilePath> = HashSet::new();
    let mut tried = 0;
    others.iter().find_map(|other| {
        if merged.contains(*other) || tried > MAX_OTHERS {
            return None;
        }
        if tried == MAX_OTHERS {
            tried += 1;
            return untried_finding(context, key);
        }
        let scope = file.snapshot.scope_reading(file.environment, &[&file.file.path, other])?;
        let resolver =
            Resolver::new(file.snapshot.lookup_context(file.environment, file.view, &scope));
        let root = LookupKey::of_root(key);
        let resolution = file.snapshot.lookup_as_called(file.environment, &resolver, &root);
        tried += 1;
        merged.extend(resolution.steps.iter().filter_map(|step| match &step.outcome {
            Outcome::Found { path, .. } => Some(path.clone()),
            _ => None,
        }));
        let error = resolution.value.as_ref().err()?;
        let span = conflict_place(&resolution).filter(|span| span.file == file.file.id)?;
        if resolution.rests_on_open_alias() || misses_alias(context, &root, &resolution) {
            return None;
        }
        let message = format!(
            "'{key}' is merged with strategy '{}', which fails here: {error}",
            resolution.merge
        );
        let mut finding = Finding::new(&RULE, span, message);
        if matches!(resolution.merge_source, MergeSource::Argument) {
            finding.severity = Severity::Warning; // A node need not come to the call.
        }
        finding.related.extend(place_of_strategy(context, &resolution));
        Some(finding.with_related(
            file.view.data_of(other).and_then(|data| data.definition_span(key)),
            "to be merged with this",
        ))
    })
}

/// Whether the failure rests on an alias without a value in a combination of variables that no
/// known node has, while other files define the key of the alias: a node that reads both files may
/// have a value for it.
fn misses_alias(context: &EntryContext<'_>, root: &LookupKey, resolution: &Resolution) -> bool {
    let EntryContext { file, .. } = context;
    let (snapshot, environment) = (file.snapshot, file.environment);
    if !resolution
        .reads
        .unfound_aliases
        .iter()
        .any(|alias| is_alias_defined(alias, snapshot, environment))
    {
        return false;
    }
    let question = FleetQuestion {
        snapshot,
        environment,
        root: &root.root_text(),
        lookup: &|scope, _| {
            let context = snapshot.lookup_context(environment, file.view, scope);
            snapshot.lookup_as_called(environment, &Resolver::new(context), root)
        },
        ends_at_first: false,
        is_enough: &|made| made >= MAX_OTHERS,
        asked: None,
    };
    let readers = snapshot.readers_of(environment, &file.file.path);
    let found = group_by_answer(&question, &readers.certainly);
    !found
        .groups
        .iter()
        .any(|group| conflict_place(&group.resolution) == conflict_place(resolution))
}

fn is_alias_defined(alias: &str, snapshot: &Snapshot, environment: &Environment) -> bool {
    let root = LookupKey::parse(alias).map(|key| key.root_text().to_string());
    let mut files = snapshot.keys().definitions(root.as_deref().unwrap_or(alias)).iter();
    files.any(|path| environment.reaches_file(path))
}

/// Returns the place of the value that a merge refuses; `None` for a lookup that does not fail so.
fn conflict_place(resolution: &Resolution) -> Option<Span> {
    let error = resolution.value.as_ref().err()?;
    let is_conflict = matches!(&*error.kind, LookupErrorKind::Merge(MergeError::WrongType(_)));
    error.span.filter(|_| is_conflict)
}

fn place_of_strategy(context: &EntryContext<'_>, resolution: &Resolution) -> Option<Related> {
    match &resolution.merge_source {
        MergeSource::Options(entry) => Some(Related::new(entry.span?, "the strategy is set here")),
        MergeSource::Argument => {
            let code = context.file.snapshot.manifests(context.file.environment);
            let CalledMerge::One(MergingCall { call, .. }) =
                code.called_merge(&resolution.key.root_text())
            else {
                return None;
            };
            let place = in_code(call.file.id, call.reader.range);
            Some(Related::new(place, "this call asks for the strategy"))
        }
        MergeSource::Default => None,
    }
}

/// Returns the finding that a key is merged for more nodes than it was tried for.
fn untried_finding(context: &EntryContext<'_>, key: &str) -> Option<Finding> {
    let file = &context.file;
    let span = file.view.data_of(&file.file.path)?.definition_span(key)?;
    let message = format!(
        "'{key}' is merged with so many other files that it was tried with {MAX_OTHERS} of them"
    );
    let mut finding = Finding::new(&limit_reached::RULE, span, message);
    finding.severity = Severity::Hint;
    Some(finding)
}
