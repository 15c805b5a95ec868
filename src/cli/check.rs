//! `hiera-ls check`: every finding of a folder, or those of one file that is not saved yet.

mod arguments;
mod baseline;
mod fix;
mod settings;
mod since;

pub use arguments::CheckArguments;

use std::io::{Read, Write};

use baseline::Baseline;

use super::progress::while_working;
use super::shard::{self, FileRecord, Joined, Results};
use super::watch::{WatchTarget, run_rounds};
use super::{ArgumentSettings, Failure, Opened, Status, absolute_path, open, report};
use crate::diagnostics::{
    FileFindings, Finding, Preset, Severity, check_all, check_file, check_share, join_shares, rules,
};
use crate::disk::{FileSystem, OsFs};
use crate::settings::Settings;
use crate::text::FilePath;
use crate::text::escape::escape_terminal;
use crate::workspace::files::scan;
use crate::workspace::share::Share;
use crate::workspace::{Snapshot, Workspace, WorkspaceConfig};

pub(super) fn run(arguments: &CheckArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    if !arguments.watch {
        return match arguments.shard {
            Some(shard) => write_part(arguments, shard, out),
            None => run_once(arguments, None, out).map(|(status, _)| status),
        };
    }
    let target = WatchTarget {
        root: &arguments.root,
        near: arguments.paths.first().map(|path| absolute_path(path)).transpose()?,
        files: arguments.baseline.iter().collect(),
    };
    run_rounds(&target, out, |out| run_once(arguments, None, out))
}

/// Prints the report of the parts of all shards.
///
/// Errors: the shards read other files.
pub(super) fn run_joined(
    arguments: &CheckArguments,
    joined: Joined,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    run_once(arguments, Some(joined), out).map(|(status, _)| status)
}

/// Checks the entries of a share, and writes the findings as a part of the report.
fn write_part(
    arguments: &CheckArguments,
    shard: Share,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let mut target = open_target(arguments)?;
    let root = target.opened.root.clone();
    let snapshot = target.opened.snapshot.clone();
    let before = match &arguments.since {
        Some(revision) => Some(since::read_revision(revision, &mut target)?),
        None => None,
    };
    let trees: Vec<(&Snapshot, &FilePath)> =
        [Some(&snapshot), before.as_ref()].into_iter().flatten().map(|it| (it, &root)).collect();
    let found = while_working("checking", || {
        trees
            .iter()
            .map(|tree: &(&Snapshot, &FilePath)| -> Vec<FileRecord> {
                let found = check_share(tree.0, &target.opened.settings.rules, shard);
                found.iter().map(|file| FileRecord::new(file, *tree)).collect()
            })
            .collect()
    });
    shard::write_part(shard, arguments, &trees, Results::Check(found), out)?;
    Ok(if target.opened.lacks_folders { Status::CouldNotRun } else { Status::Good })
}

/// Opens what the arguments name, with the settings that they make.
fn open_target(arguments: &CheckArguments) -> Result<CheckTarget, Failure> {
    for code in arguments.select.iter().chain(&arguments.ignore) {
        if rules::find(code).is_none() {
            return Err(Failure(format!("there is no rule '{code}'; `hiera-ls rules` lists them")));
        }
    }
    let mut target = match &arguments.stdin_filename {
        Some(path) => open_standard_input(arguments, absolute_path(path)?)?,
        None => open_folders(arguments)?,
    };
    look_for_selected(arguments, &mut target.opened.settings);
    let preset = arguments.preset.as_deref().and_then(Preset::from_name);
    target.opened.settings.rules.preset = preset.unwrap_or(target.opened.settings.rules.preset);
    Ok(target)
}

/// Checks once, or takes the findings from joined parts. Returns the status and the snapshot that was
/// checked.
fn run_once(
    arguments: &CheckArguments,
    joined: Option<Joined>,
    out: &mut dyn Write,
) -> Result<(Status, Snapshot), Failure> {
    let baseline = Baseline::open(arguments)?;
    let mut target = open_target(arguments)?;
    target.joined = joined;
    if arguments.show_files {
        let status = target.write_files(out)?;
        return Ok((status, target.opened.snapshot));
    }
    if arguments.show_settings {
        let status = settings::write_settings(arguments, &target.opened, out)?;
        return Ok((status, target.opened.snapshot));
    }
    if arguments.fix || arguments.diff {
        let fixed = while_working("proving fixes", || fix::fix_findings(arguments, &target))?;
        if arguments.diff {
            let status = fix::write_diff(&fixed, &target, out)?;
            return Ok((status, fixed.after));
        }
        fix::write_files(&fixed, &target)?;
        target.opened.snapshot = fixed.after;
    }
    if let Some(reason) = &arguments.add_ignore {
        target.opened.snapshot = fix::write_ignores(arguments, &target, reason)?;
    }
    let mut findings = while_working("checking", || {
        target.find(arguments, &target.opened.snapshot, CheckedTree::Working)
    })?;
    if let Some(revision) = &arguments.since {
        since::remove_older(revision, arguments, &mut target, &mut findings)?;
    }
    if let Some(baseline) = baseline {
        baseline.accept(arguments, &target, &mut findings)?;
    }
    let Opened { snapshot, root, lacks_folders, .. } = &target.opened;
    let least = Severity::from_name(&arguments.fail_on).unwrap_or(Severity::Error);
    let counts = findings.iter().any(|finding| finding.severity >= least);
    let options = report::ReportOptions {
        format: arguments.format,
        group_by: arguments.group_by,
        has_statistics: arguments.statistics,
        least,
        paint: arguments.color.paint(),
        files: target.files().count(),
    };
    report::write(options, &findings, snapshot, root, out)?;
    let status = match lacks_folders {
        true => Status::CouldNotRun,
        false if counts => Status::Bad,
        false => Status::Good,
    };
    Ok((status, target.opened.snapshot))
}

/// The files that a run is about.
struct CheckTarget {
    opened: Opened,
    /// The folders and files whose findings are wanted; all where the list is empty.
    paths: Vec<FilePath>,
    /// The file whose text is on standard input.
    unsaved: Option<FilePath>,
    /// The findings that shards found; `None` where this process checks.
    joined: Option<Joined>,
}

/// The trees whose findings a run needs.
#[derive(Clone, Copy)]
enum CheckedTree {
    /// The opened files.
    Working,
    /// The revision of `--since`.
    Since,
}

impl CheckTarget {
    /// Returns the findings that the arguments ask for, in a snapshot of a tree.
    ///
    /// Errors: the findings in parts are those of other files.
    fn find(
        &self,
        arguments: &CheckArguments,
        snapshot: &Snapshot,
        tree: CheckedTree,
    ) -> Result<Vec<Finding>, Failure> {
        let rules = &self.opened.settings.rules;
        let mut findings = match (&self.unsaved, &self.joined) {
            (Some(path), _) => check_file(snapshot, path, rules),
            (None, None) => check_all(snapshot, rules),
            (None, Some(joined)) => {
                let files = (snapshot, &self.opened.root);
                joined.require_tree(tree as usize, files)?;
                let Results::Check(trees) = &joined.results else { return Ok(Vec::new()) };
                let records = trees.get(tree as usize).into_iter().flatten();
                let found: Vec<FileFindings> =
                    records.map(|record| record.findings(files)).collect::<Result<_, _>>()?;
                join_shares(snapshot, rules, found)
            }
        };
        findings.retain(|finding| {
            is_wanted(finding, arguments)
                && snapshot.path_of(finding.span.file).is_some_and(|path| self.covers_path(path))
        });
        Ok(findings)
    }

    /// Prints the files that rules look at, in the order of their paths.
    fn write_files(&self, out: &mut dyn Write) -> Result<Status, Failure> {
        let Opened { snapshot, root, .. } = &self.opened;
        let environments = snapshot.environments();
        for path in self.files() {
            let is_checked = environments.environment_of(path).is_some_and(|found| {
                found.config_at(path).is_some()
                    || found.lies_in_datadir(path)
                    || found.governs_file(path)
            });
            if !is_checked {
                continue;
            }
            writeln!(out, "{}", escape_terminal(path.relative_to(root).unwrap_or(path.as_str())))?;
        }
        Ok(Status::Good)
    }

    /// Returns the files whose findings are wanted: the one on standard input, those of the paths, or
    /// all.
    fn files(&self) -> impl Iterator<Item = &FilePath> {
        let paths = self.opened.snapshot.files().map(|file| &file.path);
        paths.filter(move |path| {
            self.unsaved.as_ref().is_none_or(|it| it == *path) && self.covers_path(path)
        })
    }

    /// Whether the findings in a file are wanted.
    fn covers_path(&self, path: &FilePath) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|wanted| path.is_within(wanted))
    }
}

/// Opens the folders and files that are named, or the current folder.
fn open_folders(arguments: &CheckArguments) -> Result<CheckTarget, Failure> {
    let paths: Vec<FilePath> =
        arguments.paths.iter().map(|path| absolute_path(path)).collect::<Result<_, _>>()?;
    if let Some(missing) = paths.iter().find(|path| OsFs.entry(path).is_none()) {
        return Err(Failure(format!("there is no {missing}")));
    }
    let opened = open(&arguments.root, paths.first(), ArgumentSettings::new(), None)?;
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
    Ok(CheckTarget { opened, paths, unsaved: None, joined: None })
}

/// Opens the file whose text is on standard input. It need not exist on disk.
fn open_standard_input(arguments: &CheckArguments, path: FilePath) -> Result<CheckTarget, Failure> {
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
        // As in an editor, YAML that no environment governs is not checked, and the folders around
        // the file are not read.
        let folder = path.parent().unwrap_or_else(|| path.clone());
        let workspace = Workspace::new(WorkspaceConfig::default(), Vec::new());
        let opened = Opened {
            snapshot: workspace.snapshot(),
            workspace,
            settings: Settings::default(),
            root: folder,
            given: Vec::new(),
            problems: Vec::new(),
            lacks_folders: false,
        };
        return Ok(CheckTarget { opened, paths: Vec::new(), unsaved: Some(path), joined: None });
    }
    let unsaved = Some((path.clone(), text));
    let opened = open(&arguments.root, Some(&path), ArgumentSettings::new(), unsaved)?;
    Ok(CheckTarget { opened, paths: Vec::new(), unsaved: Some(path), joined: None })
}

/// Switches off the rules that are not asked for by name, where some are. A rule that is off is
/// looked for when it is asked for by name.
fn look_for_selected(arguments: &CheckArguments, settings: &mut Settings) {
    if arguments.select.is_empty() {
        return;
    }
    let config = &mut settings.rules;
    for severities in config.environments.values_mut().chain([&mut config.severities]) {
        for rule in rules::RULES {
            if has_code(&arguments.select, rule.code) && rule.severity == Severity::Off {
                severities.entry(rule.code.to_owned()).or_insert(Severity::Warning);
            }
            // Each rule may reach a limit, so `limit-reached` needs all rules.
            if !has_code(&arguments.select, rule.code)
                && !has_code(&arguments.select, rules::LIMIT_REACHED)
            {
                severities.insert(rule.code.to_owned(), Severity::Off);
            }
        }
    }
}

fn is_wanted(finding: &Finding, arguments: &CheckArguments) -> bool {
    is_wanted_code(finding.rule.code, arguments)
}

/// Whether the findings of a rule are wanted.
fn is_wanted_code(code: &str, arguments: &CheckArguments) -> bool {
    (arguments.select.is_empty() || has_code(&arguments.select, code))
        && !has_code(&arguments.ignore, code)
}

fn has_code(codes: &[String], code: &str) -> bool {
    codes.iter().any(|named| named == code)
}
