//! `config-deprecated`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity, Tag,
};
use crate::hiera::config::{ConfigProblemKind, HieraConfig};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "config-deprecated",
    severity: Severity::Warning,
    group: RuleGroup::Fragile,
    tag: Some(Tag::Deprecated),
    summary: "a hiera.yaml of version 3 or 4, which Puppet still reads and warns of",
    docs: include_str!("config_deprecated.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Config(check),
};

fn check(config: &HieraConfig, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    for problem in
        config.problems.iter().filter(|problem| problem.kind == ConfigProblemKind::Deprecated)
    {
        findings.push(Finding::new(&RULE, problem.span, problem.message.clone()));
    }
}
