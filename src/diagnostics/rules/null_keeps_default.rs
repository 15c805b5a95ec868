//! `null-keeps-default`

use super::typed::is_taken_as_written;
use super::unread::in_code;
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::key::LookupKey;
use crate::manifest::model::Literal;
use crate::puppet::value::Data;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "null-keeps-default",
    severity: Severity::Hint,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a null for a class parameter, which keeps its default",
    docs: include_str!("null_keeps_default.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let index = context.file.snapshot.manifests(context.file.environment);
    for (key, member) in context.root_members() {
        if !matches!(member.value.data(), Data::Null) {
            continue;
        }
        let Some((key, span)) = key.as_str().zip(member.key_origin) else { continue };
        let Some(found) = index.asking_parameter(key).filter(|found| !found.class.recovered) else {
            continue;
        };
        if index.may_be_given(&found.class.name, &found.parameter.name) {
            continue;
        }
        let keeps_another = found.parameter.default.is_some()
            && found.parameter.value.as_ref() != Some(&Literal::Undef);
        if !keeps_another || !is_taken_as_written(context, &LookupKey::of_root(key)) {
            continue;
        }
        let (class, parameter) = (&found.class.name, &found.parameter.name);
        let message = format!(
            "a null is no value for a parameter: '{parameter}' of the class '{class}' keeps its default, and no lower level is searched"
        );
        let place = in_code(found.file.id, found.parameter.range);
        findings.push(
            Finding::new(&RULE, span, message)
                .with_related(Some(place), "the parameter is declared here"),
        );
    }
}
