//! `hiera3-not-installed`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::{ConfigProblemKind, HieraConfig};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "hiera3-not-installed",
    severity: Severity::Warning,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a backend of Hiera 3 under a Puppet that comes without Hiera 3",
    docs: include_str!("hiera3_not_installed.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Config(check),
};

fn check(config: &HieraConfig, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    for problem in
        config.problems.iter().filter(|problem| matches!(&problem.kind, ConfigProblemKind::Library))
    {
        let message = format!(
            "{}: each lookup fails, of any key, unless the gem 'hiera' has been added to this Puppet",
            problem.message
        );
        findings.push(Finding::new(&RULE, problem.span, message));
    }
}
