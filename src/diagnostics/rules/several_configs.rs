//! `several-configs`

use std::collections::BTreeSet;

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::HieraConfig;
use crate::text::{FilePath, Span, TextRange};
use crate::workspace::environments::Environment;
use crate::workspace::files::kinds::SETTINGS_FILE;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "several-configs",
    severity: Severity::Info,
    group: RuleGroup::Dead,
    tag: None,
    summary: "data that several configs read, of which one governs it",
    docs: include_str!("several_configs.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Config(check),
};

/// How many folders and how many configs a message names.
const MAX_NAMED: usize = 4;

fn check(config: &HieraConfig, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let environment = context.environment;
    let is_it = environment.governing_config().is_some_and(|it| it.path == config.path);
    let others: Vec<_> =
        environment.others.iter().filter(|other| !other.shared.is_empty()).collect();
    if !is_it || others.is_empty() {
        return;
    }
    let relative = |path: &FilePath| context.snapshot.shown_path(path).to_owned();
    let shared = others.iter().flat_map(|other| &other.shared);
    let folders: BTreeSet<FilePath> = shared.map(|path| data_folder(environment, path)).collect();
    let folders = folders.iter().map(|folder| format!("{}/", relative(folder))).collect();
    let configs: BTreeSet<&FilePath> = others.iter().map(|other| &other.config.path).collect();
    let verb = if configs.len() == 1 { "reads" } else { "read" };
    let setting = configs.iter().find_map(|path| context.snapshot.hiera_config_setting(path));
    let setting = setting.map_or_else(String::new, |path| {
        format!(
            "; `hieraConfig: {path}` in {SETTINGS_FILE} chooses {}",
            match configs.len() {
                1 => "that",
                _ => "the first of them",
            }
        )
    });
    let message = format!(
        "{} is governed by this file; {} {verb} data of it, too{setting}",
        list_names(folders),
        list_names(configs.into_iter().map(relative).collect())
    );
    let start = config.file.map(|file| Span::in_file(file, TextRange::new_empty(0)));
    findings.extend(start.map(|start| Finding::new(&RULE, start, message)));
}

/// Returns the datadir that a file lies in, or its own folder.
fn data_folder(environment: &Environment, path: &FilePath) -> FilePath {
    let holding = environment.datadirs.iter().find(|datadir| path.is_within(datadir));
    holding.cloned().or_else(|| path.parent()).unwrap_or_else(|| environment.root.clone())
}

fn list_names(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}
