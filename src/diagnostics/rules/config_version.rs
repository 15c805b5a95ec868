//! `config-version`

use crate::diagnostics::rule::{Check, FileContext, Finding, Rule, Severity};
use crate::hiera::config::{ConfigProblemKind, HieraConfig};

/// The rule.
pub static RULE: Rule = Rule {
    code: "config-version",
    severity: Severity::Error,
    summary: "a hiera.yaml without a version that can be used where it stands",
    docs: include_str!("config_version.md"),
    check: Check::Config(check),
};

fn check(config: &HieraConfig, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    for problem in &config.problems {
        if matches!(problem.kind, ConfigProblemKind::Version | ConfigProblemKind::Unreadable) {
            findings.push(Finding::new(&RULE, problem.span, format!("{}; hiera-ls reads version 5", problem.message)));
        }
    }
}
