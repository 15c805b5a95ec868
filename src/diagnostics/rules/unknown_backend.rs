//! `unknown-backend`

use super::backends::{CustomLevel, DECLARED_HERE, custom_levels};
use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::HieraConfig;
use crate::hiera::config::formats::{BUILT_INS, built_in, hiera3_built_in};
use crate::text::similar::nearest_name;
use crate::workspace::queries::functions::{FunctionSource, plain_name};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unknown-backend",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a level names a function that Puppet does not find",
    docs: include_str!("unknown_backend.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Config(check),
};

fn check(config: &HieraConfig, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    for custom in custom_levels(config, context) {
        let found = match &custom.source {
            FunctionSource::NotInModule(module) => not_in_module(&custom, module),
            FunctionSource::Nowhere if custom.level.backend.service.is_none() => {
                missing_function(&custom)
            }
            FunctionSource::File(_) => misnamed_function(&custom, context),
            _ => None,
        };
        let Some((severity, message)) = found else { continue };
        let severity = custom.bounded_severity(context, severity);
        let finding = Finding { severity, ..Finding::new(&RULE, custom.span, message) };
        let name = &custom.level.backend.name;
        let meant = meant_function(&custom.name)
            .filter(|(kind, _)| *kind == custom.level.backend.kind.key())
            .map(|(_, function)| function);
        let finding = finding.suggest(name, meant);
        findings.push(finding.with_related(custom.declaration_span(context), DECLARED_HERE));
    }
}

/// Returns Puppet's message for a function without a file.
fn not_found(custom: &CustomLevel<'_>) -> String {
    let name = &custom.level.backend.name;
    format!("Unable to find '{}' function named '{name}'", custom.level.backend.kind.key())
}

/// Returns the finding for a function whose module is here.
fn not_in_module(custom: &CustomLevel<'_>, module: &str) -> Option<(Severity, String)> {
    let path = custom.name.replace("::", "/");
    let place = match module {
        "environment" => format!("the environment has no 'lib/puppet/functions/{path}.rb'"),
        module => {
            let below = path.strip_prefix(module)?;
            format!(
                "the module '{module}' has neither 'lib/puppet/functions/{path}.rb' nor 'functions{below}.pp'"
            )
        }
    };
    Some((Severity::Error, format!("{}: {place}", not_found(custom))))
}

/// Returns the finding for a function that any module could have.
fn missing_function(custom: &CustomLevel<'_>) -> Option<(Severity, String)> {
    let not_found = not_found(custom);
    if let Some((kind, function)) = meant_function(&custom.name) {
        let message = format!("{not_found}; did you mean `{kind}: {function}`?");
        return Some((Severity::Warning, message));
    }
    let file = format!("lib/puppet/functions/{}.rb", custom.name);
    Some((Severity::Hint, format!("{not_found}, unless a module that is not here has '{file}'")))
}

/// The ends of names that people write for the ends of Puppet's own.
const SUFFIXES: [&str; 4] = ["_lookup_key", "_data", "_backend", "_data_hash"];

/// Returns the kind and the name of Puppet's own function that was probably meant.
fn meant_function(name: &str) -> Option<(&'static str, &'static str)> {
    let stem = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    let by_stem = hiera3_built_in(stem);
    let names = BUILT_INS.iter().map(|own| own.name);
    let own = by_stem.or_else(|| built_in(nearest_name(name, names)?))?;
    Some((own.kind.key(), own.name))
}

/// Returns the finding for a file that defines another function than the one of its name.
fn misnamed_function(
    custom: &CustomLevel<'_>,
    context: &FileContext<'_>,
) -> Option<(Severity, String)> {
    let (path, function) = custom.declared_function(context)?;
    if function.name == custom.name {
        return None;
    }
    let below = path.relative_to(&context.environment.root);
    let shown = below.unwrap_or_else(|| context.snapshot.shown_path(path));
    let (expected, found) = (plain_name(&custom.name), &function.name);
    let message = match path.extension() {
        Some("pp") => format!(
            "Unacceptable location. The name '{found}' is unacceptable in file '{shown}', where Puppet expects '{expected}'"
        ),
        _ => format!(
            "The code loaded from {shown} produced mis-matched name, expected '{expected}', got {found}"
        ),
    };
    Some((Severity::Error, message))
}
