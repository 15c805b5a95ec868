//! `define-parameter`

use super::unread::{in_code, unread_keys};
use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::workspace::manifests::KeyStanding;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "define-parameter",
    severity: Severity::Warning,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a key for a parameter of a defined type, which data never reaches",
    docs: include_str!("define_parameter.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    for unread in unread_keys(context) {
        let KeyStanding::DefinedType(found) = unread.standing else { continue };
        let name = &found.definition.name;
        let message = format!(
            "'{name}' is a defined type: Puppet looks up parameters of classes only, and nothing else here reads this key"
        );
        let place = in_code(found.file.id, found.definition.name_range);
        findings.push(
            Finding::new(&RULE, unread.span, message)
                .with_related(Some(place), "the defined type is here"),
        );
    }
}
