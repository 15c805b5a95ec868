//! `config-error`

use crate::diagnostics::rule::{Check, FileContext, Finding, Rule, Severity};
use crate::hiera::config::{ConfigProblemKind, HieraConfig};

/// The rule.
pub static RULE: Rule = Rule {
    code: "config-error",
    severity: Severity::Error,
    summary: "a hiera.yaml that Puppet refuses",
    docs: include_str!("config_error.md"),
    check: Check::Config(check),
};

fn check(config: &HieraConfig, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    for problem in &config.problems {
        let other_rule = matches!(
            problem.kind,
            ConfigProblemKind::FunctionInConfig | ConfigProblemKind::Version | ConfigProblemKind::Unreadable
        );
        if !other_rule {
            findings
                .push(Finding::new(&RULE, problem.span, problem.message.clone()).with_related(problem.related, "the first one"));
        }
    }
}
