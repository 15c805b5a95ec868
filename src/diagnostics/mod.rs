//! Findings: what is wrong with a file, or with a whole workspace. The editor and the command line call the same two functions.

pub mod catalogue;
pub mod rule;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub use rule::{Finding, Related, Rule, Severity};

use crate::hiera::data::{Format, Problem, ProblemKind};
use crate::text::FilePath;
use crate::workspace::Snapshot;
use crate::workspace::file::File;
use crate::workspace::layers::Environment;
use rule::{Check, DataContext, FileContext};

/// Which rules are looked for, and how serious their findings are.
#[derive(Clone, Debug, Default)]
pub struct RulesConfig {
    /// Severities that differ from the rules' own, by code.
    pub severities: HashMap<String, Severity>,
}

impl RulesConfig {
    /// How serious findings of a rule are.
    pub fn severity(&self, rule: &Rule) -> Severity {
        self.severities.get(rule.code).copied().unwrap_or(rule.severity)
    }
}

/// The findings in one file, in the order of their places; none for a file that no environment governs.
///
/// Until the workspace has been read, only what needs no other file is looked for.
pub fn check_file(snapshot: &Snapshot, path: &FilePath, config: &RulesConfig) -> Vec<Finding> {
    let (Some(file), Some(environment)) = (snapshot.file(path), snapshot.layout().environment_of(path)) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    check(snapshot, environment, file, config, &mut findings);
    findings.sort_by_cached_key(|finding| (snapshot.place(finding.span), finding.rule.code));
    findings.dedup_by(|a, b| a.span == b.span && a.rule.code == b.rule.code && a.message == b.message);
    findings
}

/// The findings of the whole workspace: those of each file, files in the order of their paths.
pub fn check_all(snapshot: &Snapshot, config: &RulesConfig) -> Vec<Finding> {
    snapshot.files().flat_map(|file| check_file(snapshot, &file.path, config)).collect()
}

/// Whether a problem of a data file is one of a `hiera.yaml`, too: what its keys and tokens mean is another matter there.
fn concerns_config(problem: &Problem) -> bool {
    use ProblemKind::{DuplicateKey, Syntax, UnclosedToken, Unloadable, Unreadable};
    matches!(problem.kind, Syntax { .. } | Unreadable(_) | Unloadable(_) | DuplicateKey(_) | UnclosedToken)
}

fn check(snapshot: &Snapshot, environment: &Environment, file: &File, config: &RulesConfig, findings: &mut Vec<Finding>) {
    let view = snapshot.view(environment);
    let context = FileContext { snapshot, environment, view: &view, file };
    let own_config = environment.configs().map(|(_, config)| config).find(|config| config.path == file.path);
    let is_read = own_config.is_some() || environment.governs(&file.path);
    if !is_read && !environment.lies_in_datadir(&file.path) {
        return; // Some other file of the folder.
    }
    if own_config.is_none() && environment.is_foreign(&file.path) {
        return; // What its backend makes of it is not known.
    }
    let data = match own_config {
        Some(_) => file.data(Format::Yaml),
        None => view.data_of(&file.path).unwrap_or_default(),
    };
    let layer = environment.layer(&file.path).filter(|_| own_config.is_none());
    for rule in catalogue::RULES {
        let severity = config.severity(rule);
        if severity == Severity::Off {
            continue;
        }
        let before = findings.len();
        match rule.check {
            // What Puppet never reads does no harm.
            Check::Problem(check) if is_read => {
                let counts = |problem: &&Problem| own_config.is_none() || concerns_config(problem);
                data.problems().filter(counts).for_each(|problem| check(problem, &context, findings));
            }
            // What is missing from a config that cannot be read may be what could not be read.
            Check::Config(check) if data.refused().is_none() => {
                own_config.into_iter().for_each(|config| check(config, &context, findings))
            }
            Check::Data(check) if snapshot.complete => {
                if let Some(layer) = layer {
                    check(&DataContext { file: context, data: &data, layer }, findings);
                }
            }
            Check::File(check) if snapshot.complete && own_config.is_none() => check(&context, findings),
            Check::Problem(_) | Check::Config(_) | Check::Data(_) | Check::File(_) => {}
        }
        for finding in &mut findings[before..] {
            // A rule may find something less serious than its default; settings decide in the end.
            if config.severities.contains_key(rule.code) {
                finding.severity = severity;
            }
        }
    }
}
