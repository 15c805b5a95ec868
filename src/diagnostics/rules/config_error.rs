//! `config-error`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::{ConfigProblemKind, HieraConfig, Locations};
use crate::hiera::hierarchy::datadir_start;
use crate::hiera::sources::Sources;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "config-error",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a hiera.yaml that Puppet refuses",
    docs: include_str!("config_error.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Config(check),
};

fn check(config: &HieraConfig, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let is_misplaced =
        config.problems.iter().any(|problem| matches!(problem.kind, ConfigProblemKind::Version(_)));
    for problem in &config.problems {
        use ConfigProblemKind::{Deprecated, FunctionInConfig, Library, Unreadable, Version};
        let message = match problem.kind {
            // Other rules report problems of these kinds.
            Deprecated | FunctionInConfig | Library | Unreadable | Version(_) => continue,
            // The levels of the config have the structure of another version.
            ConfigProblemKind::Structure if is_misplaced => continue,
            _ => problem.message.clone(),
        };
        findings.push(
            Finding::new(&RULE, problem.span, message)
                .with_related(problem.related, "the first one"),
        );
    }
    if context.snapshot.complete {
        folders_for_files(config, context, findings);
    }
}

/// Paths that name a folder: Puppet tries to read it as a file. Only paths without variables are
/// checked.
fn folders_for_files(config: &HieraConfig, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    for level in config
        .levels()
        .filter(|level| level.backend.data_reader().is_some())
        .filter(|level| level.extension.is_none() && !level.datadir.text.contains("%{"))
    {
        let Locations::Paths(paths) = &level.locations else { continue };
        let datadir = datadir_start(config, level);
        for path in paths.iter().filter(|path| !path.text.contains("%{")) {
            let named = datadir.join(&path.text);
            if let (true, Some(span)) = (context.view.is_folder(&named), path.span) {
                let message = format!(
                    "'{}' is a folder: Puppet fails with 'Is a directory' when it reads this level",
                    path.text
                );
                findings.push(Finding::new(&RULE, span, message));
            }
        }
    }
}
