//! `unreached-file`

use super::unread_extension::readable_name;
use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::{ConfigProblemKind, HieraConfig};
use crate::hiera::data::DataFormat;
use crate::text::{Span, TextRange};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unreached-file",
    severity: Severity::Info,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a data file that no level can reach",
    docs: include_str!("unreached_file.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::File(check),
};

fn check(context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let (environment, path) = (context.environment, &context.file.path);
    let lies_among_data = environment.lies_in_datadir(path);
    if environment.reaches_file(path) || !lies_among_data {
        return;
    }
    if readable_name(environment, path).is_some() {
        return; // The rule `unread-extension` reports it.
    }
    if environment.probable_function(path).is_some() {
        return;
    }
    let environments = &context.snapshot.environments().all;
    if environments.iter().any(|environment| environment.other_reader(path).is_some()) {
        return;
    }
    if environment.all_configs().any(|(_, config)| is_broken(config, context)) {
        return; // Its levels may be those that could not be read.
    }
    let span = Span::in_file(context.file.id, TextRange::new_empty(0));
    let config = environment.config.as_ref().or(environment.global.as_ref());
    let name = config.map_or("any hiera.yaml", |config| config.path.name());
    let message =
        format!("no level of {name} can reach this file, whatever the node's variables are");
    findings.push(Finding::new(&RULE, span, message));
}

fn is_broken(config: &HieraConfig, context: &FileContext<'_>) -> bool {
    let refused = context
        .snapshot
        .file(&config.path)
        .is_some_and(|file| file.data_as(DataFormat::Yaml).refusal().is_some());
    refused
        || config.problems.iter().any(|problem| {
            matches!(
                problem.kind,
                ConfigProblemKind::Structure
                    | ConfigProblemKind::Version(_)
                    | ConfigProblemKind::Unreadable
            )
        })
}
