//! `config-version`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::{ConfigProblemKind, ConfigVersion, HieraConfig};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "config-version",
    severity: Severity::Error,
    group: RuleGroup::Fragile,
    tag: None,
    summary: "a hiera.yaml without a version that can be used where it stands",
    docs: include_str!("config_version.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Config(check),
};

fn check(config: &HieraConfig, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    for problem in &config.problems {
        let message = match problem.kind {
            ConfigProblemKind::Version(_) if config.version == ConfigVersion::V3 => {
                format!("{}, where it must be `version: 5`", problem.message)
            }
            ConfigProblemKind::Version(_) => problem.message.clone(),
            ConfigProblemKind::Unreadable => {
                format!(
                    "the file is no hash, which Puppet takes for version 3: {}",
                    problem.message
                )
            }
            _ => continue,
        };
        findings.push(Finding::new(&RULE, problem.span, message));
    }
}
