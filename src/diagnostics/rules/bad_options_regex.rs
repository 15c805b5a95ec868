//! `bad-options-regex`

use crate::diagnostics::rule::{
    Check, DataContext, Dependence, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::puppet::ruby::regex::RubyRegex;
use crate::puppet::value::Member;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "bad-options-regex",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a pattern of lookup_options that is no regular expression",
    docs: include_str!("bad_options_regex.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Options(check),
};

fn check(options: &Member, _: &DataContext<'_>, findings: &mut Vec<Finding>) {
    let Some(options) = options.value.as_hash() else { return };
    for (key, member) in options {
        let Some(pattern) = key.as_str().filter(|key| key.starts_with('^') && !key.contains("%{"))
        else {
            continue;
        };
        if let (Err(error), Some(span)) = (RubyRegex::new(pattern), member.key_origin) {
            findings.push(Finding::new(
                &RULE,
                span,
                format!("{error}: every lookup in this layer fails for it"),
            ));
        }
    }
}
