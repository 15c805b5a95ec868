//! `merge-in-default`

use super::typed::is_taken_as_written;
use super::unread::in_code;
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::key::LookupKey;
use crate::manifest::model::ReaderCall;
use crate::workspace::manifests::{ParameterAt, asked_strategy};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "merge-in-default",
    severity: Severity::Warning,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a merge in a parameter's default, which Puppet never comes to",
    docs: include_str!("merge_in_default.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let (snapshot, environment) = (context.file.snapshot, context.file.environment);
    let index = snapshot.manifests(environment);
    for (key, member) in context.root_members() {
        let Some((key, span)) = key.as_str().zip(member.key_origin) else { continue };
        let Some(found) = index.asking_parameter(key).filter(|found| !found.class.recovered) else {
            continue;
        };
        if index.may_be_given(&found.class.name, &found.parameter.name) {
            continue;
        }
        let Some((reader, strategy)) = merge_of_default(&found, key) else { continue };
        if !is_taken_as_written(context, &LookupKey::of_root(key)) {
            continue; // `lookup_options` may ask for the same.
        }
        let parameter = &found.parameter.name;
        let message = format!(
            "the default of the parameter '{parameter}' looks '{key}' up with the merge strategy '{strategy}', but Puppet looks it up before, without a merge, and takes what it finds: set the strategy in lookup_options"
        );
        let mut finding = Finding::new(&RULE, span, message)
            .with_related(Some(in_code(found.file.id, reader.range)), "the default is here");
        if snapshot.keys().definitions(key).len() < 2 {
            finding.severity = Severity::Hint; // There is nothing to merge yet.
        }
        findings.push(finding);
    }
}

/// Returns the call in a parameter's default that looks up the parameter's own key with a merge.
fn merge_of_default<'a>(
    found: &ParameterAt<'a>,
    key: &str,
) -> Option<(&'a ReaderCall, &'static str)> {
    let default = found.parameter.default.as_ref()?;
    found.file.manifest.readers.iter().find_map(|reader| {
        let keys = reader.keys.as_deref().unwrap_or_default();
        let is_own = default.range.contains_range(reader.range)
            && keys.first().is_some_and(|pattern| pattern.literal_text() == Some(key));
        let strategy = asked_strategy(reader).filter(|one| !one.stops_at_first())?;
        is_own.then_some((reader, strategy.name()))
    })
}
