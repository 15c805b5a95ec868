//! `function-in-config`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::{ConfigProblemKind, HieraConfig};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "function-in-config",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a token of hiera.yaml that calls a function",
    docs: include_str!("function_in_config.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Config(check),
};

fn check(config: &HieraConfig, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    for problem in
        config.problems.iter().filter(|problem| problem.kind == ConfigProblemKind::FunctionInConfig)
    {
        let message = format!("{}: hiera.yaml takes variables only", problem.message);
        findings.push(Finding::new(&RULE, problem.span, message));
    }
}
