//! `unknown-option`

use crate::diagnostics::fix::{Fix, FixEdit, Safety, is_merge_option};
use crate::diagnostics::rule::{
    Check, DataContext, Dependence, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::puppet::value::Member;
use crate::text::similar::nearest_name;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unknown-option",
    severity: Severity::Warning,
    group: RuleGroup::Dead,
    tag: None,
    summary: "an option in an entry of lookup_options that Puppet passes over",
    docs: include_str!("unknown_option.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Options(check),
};

fn check(options: &Member, _: &DataContext<'_>, findings: &mut Vec<Finding>) {
    let Some(options) = options.value.as_hash() else { return };
    for (name, entry) in options {
        for (option, member) in entry.value.as_hash().into_iter().flatten() {
            let option = option.to_text();
            if !matches!(&*option, "merge" | "convert_to")
                && !option.contains("%{")
                && let Some(span) = member.key_origin
            {
                let message = format!(
                    "'{option}' is no option of lookup_options, and Puppet passes over it; '{}' can have merge and convert_to",
                    name.to_text()
                );
                let finding = Finding::new(&RULE, span, message);
                findings.push(if is_merge_option(&option) {
                    finding.fix(Fix {
                        title: "Move below 'merge'".to_owned(),
                        edits: vec![FixEdit::MoveBelowMerge(span)],
                        safety: Safety::ChangesValues,
                    })
                } else {
                    finding.suggest(&option, nearest_name(&option, ["merge", "convert_to"]))
                });
            }
        }
    }
}
