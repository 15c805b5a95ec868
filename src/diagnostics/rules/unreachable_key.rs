//! `unreachable-key`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity, Tag,
};
use crate::hiera::config::Layer;
use crate::hiera::data::{Problem, ProblemKind};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unreachable-key",
    severity: Severity::Warning,
    group: RuleGroup::Dead,
    tag: Some(Tag::Unnecessary),
    summary: "a root key that is no string and can never be looked up",
    docs: include_str!("unreachable_key.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Problem(check),
};

fn check(problem: &Problem, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let ProblemKind::UnreachableKey(key) = &problem.kind else { return };
    let written = context
        .file
        .text()
        .map(|text| text.slice(context.snapshot.span_bytes(problem.span)).into_owned())
        .unwrap_or_default();
    let meaning = match &**key {
        "true" | "false" if written != *key => format!(" but {key}"),
        "nil" => " but null".to_owned(),
        _ => String::new(),
    };
    let (environment, path) = (context.environment, &context.file.path);
    let in_module = matches!(environment.layer_of(path), Some(Layer::Module(_)))
        && !environment.data_reader(path).is_some_and(|reader| reader.decrypts);
    let consequence = if in_module {
        "Puppet crashes on it in a module's data"
    } else {
        "no lookup can reach it"
    };
    let mut finding = Finding::new(
        &RULE,
        problem.span,
        format!("the key {written} is no string{meaning}: {consequence}; quote it"),
    );
    if in_module {
        finding.severity = Severity::Error;
    }
    findings.push(finding);
}
