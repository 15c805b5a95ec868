//! `hiera-ls check`: every finding of a folder, or those of one file that is not saved yet.

use std::io::{Read, Write};

use super::{
    ArgumentSettings, CheckArguments, Failure, Opened, Status, absolute_path, open, report,
};
use crate::diagnostics::{Finding, Severity, catalogue, check_all, check_file};
use crate::disk::{FileSystem, OsFs};
use crate::settings::Settings;
use crate::text::FilePath;
use crate::workspace::{Snapshot, Workspace, WorkspaceConfig, scan};

pub(super) fn run(arguments: &CheckArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    for code in arguments.select.iter().chain(&arguments.ignore) {
        if catalogue::find(code).is_none() {
            return Err(Failure(format!("there is no rule '{code}'; `hiera-ls rules` lists them")));
        }
    }
    let (Opened { snapshot, root, lacks_folders, .. }, mut findings) =
        match &arguments.stdin_filename {
            Some(path) => of_standard_input(arguments, absolute_path(path)?)?,
            None => of_folders(arguments)?,
        };
    findings.retain(|finding| is_wanted(finding, arguments));
    let least = Severity::from_name(&arguments.fail_on).unwrap_or(Severity::Error);
    let counts = findings.iter().any(|finding| finding.severity >= least);
    report::write(arguments.format, &findings, least, &snapshot, &root, out)?;
    Ok(match lacks_folders {
        true => Status::CouldNotRun,
        false if counts => Status::Bad,
        false => Status::Good,
    })
}

/// Returns the findings of the folders and files that are named, or of the current folder.
fn of_folders(arguments: &CheckArguments) -> Result<(Opened, Vec<Finding>), Failure> {
    let paths: Vec<FilePath> =
        arguments.paths.iter().map(|path| absolute_path(path)).collect::<Result<_, _>>()?;
    if let Some(missing) = paths.iter().find(|path| OsFs.entry(path).is_none()) {
        return Err(Failure(format!("there is no {missing}")));
    }
    let mut opened = open(&arguments.root, paths.first(), ArgumentSettings::new(), None)?;
    let root = &opened.root;
    if let Some(outside) = paths.iter().find(|path| !path.is_within(root) && !root.is_within(path))
    {
        return Err(Failure(format!(
            "{outside} does not belong to {root}: check each environment by itself, or a folder that holds them all"
        )));
    }
    if let Err(failure) = opened.environments() {
        opened.note_settings();
        return Err(failure);
    }
    opened.note_unread_settings();
    look_for_selected(arguments, &mut opened.settings);
    let mut findings = check_all(&opened.snapshot, &opened.settings.rules);
    findings.retain(|finding| paths.is_empty() || keep_below(&opened.snapshot, finding, &paths));
    Ok((opened, findings))
}

/// Returns the findings of the file whose text is on standard input. It need not exist on disk.
fn of_standard_input(
    arguments: &CheckArguments,
    path: FilePath,
) -> Result<(Opened, Vec<Finding>), Failure> {
    let limit = WorkspaceConfig::default().max_file_size;
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Failure(format!("standard input is longer than {limit} bytes")));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| Failure("standard input is not UTF-8".into()))?;
    let is_governed =
        arguments.root.root.is_some() || scan::environment_above(&path, &OsFs).is_some();
    if !is_governed {
        // As in an editor: other YAML is none of our business, and the folders around it are not
        // read.
        let folder = path.parent().unwrap_or_else(|| path.clone());
        let snapshot = Workspace::new(WorkspaceConfig::default(), Vec::new()).snapshot();
        return Ok((
            Opened {
                snapshot,
                settings: Settings::default(),
                root: folder,
                problems: Vec::new(),
                lacks_folders: false,
            },
            Vec::new(),
        ));
    }
    let mut opened =
        open(&arguments.root, Some(&path), ArgumentSettings::new(), Some((path.clone(), text)))?;
    look_for_selected(arguments, &mut opened.settings);
    let findings = check_file(&opened.snapshot, &path, &opened.settings.rules);
    Ok((opened, findings))
}

/// Switches off the rules that are not asked for by name, where some are. A rule that is off is
/// looked for when it is asked for by name.
fn look_for_selected(arguments: &CheckArguments, settings: &mut Settings) {
    let is_selected = |code: &str| arguments.select.iter().any(|selected| selected == code);
    if arguments.select.is_empty() {
        return;
    }
    let rules = &mut settings.rules;
    for severities in rules.environments.values_mut().chain([&mut rules.severities]) {
        for rule in catalogue::RULES {
            if is_selected(rule.code) && rule.severity == Severity::Off {
                severities.entry(rule.code.to_owned()).or_insert(Severity::Warning);
            }
            // Each rule may reach a limit.
            if !is_selected(rule.code) && !is_selected(catalogue::LIMIT_REACHED) {
                severities.insert(rule.code.to_owned(), Severity::Off);
            }
        }
    }
}

fn is_wanted(finding: &Finding, arguments: &CheckArguments) -> bool {
    let named = |codes: &[String]| codes.iter().any(|code| code == finding.rule.code);
    (arguments.select.is_empty() || named(&arguments.select)) && !named(&arguments.ignore)
}

fn keep_below(snapshot: &Snapshot, finding: &Finding, paths: &[FilePath]) -> bool {
    snapshot
        .path_of(finding.span.file)
        .is_some_and(|path| paths.iter().any(|wanted| path.is_within(wanted)))
}
