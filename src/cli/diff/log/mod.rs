//! `hiera-ls log`: the commits at which the effective value of a key changed.
//!
//! The settings and the nodes are those of the files on disk, and hold for all commits. First
//! parents are followed: a merge is one commit. A commit costs no reading where no file changed that
//! can matter, and no lookup where the entries that the key needs are the same.

mod arguments;

use std::io::Write;

pub(in crate::cli) use arguments::LogArguments;
use arguments::LogFormat;
use chrono::{DateTime, FixedOffset};
use serde_json::json;

use super::{Sides, json, require_contents};
use crate::cli::{
    ArgumentSettings, Failure, Status, command_settings, find_root, print_note, progress,
};
use crate::disk::{MemoryFs, OsFs};
use crate::fleet::compare::history::{find_key_changes, may_change};
use crate::hiera::key::LookupKey;
use crate::ide::change_report::model::{EnvironmentReport, Reporter};
use crate::ide::change_report::page::write_keys;
use crate::settings::{self, FolderReading, GivenSettings, Origin};
use crate::text::FilePath;
use crate::text::escape::escape_terminal;
use crate::text::similar::suggestion;
use crate::workspace::environments::overview::Overview;
use crate::workspace::files::git::{GitCommit, GitRepository, GitRevision, TreeFs};
use crate::workspace::files::kinds::FileKind;
use crate::workspace::{Snapshot, WorkspaceConfig};

/// How many digits of a commit's id people see.
const SHORT_ID: usize = 9;

pub(in crate::cli) fn run(
    arguments: &LogArguments,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let key = &arguments.key;
    let asked = LookupKey::parse(key).map_err(|_| Failure(format!("'{key}' is no key")))?;
    let root = find_root(&arguments.root, None)?;
    let repository = GitRepository::discover(&root)?;
    let (from, until) = range_of(arguments, &repository)?;
    let commits = repository.first_parents(&from, until.as_ref())?;
    let given = command_settings(&arguments.root, ArgumentSettings::new(), &root)?;
    let opened = progress::while_reading(&root, || {
        let given = [GivenSettings::new(given.into(), Origin::User)];
        settings::open(vec![root.clone()], &given, Vec::new(), &OsFs)
    });
    for problem in &opened.problems {
        print_note(&problem.to_string());
    }
    let mut walk = HistoryWalk {
        arguments,
        key: asked,
        root,
        repository,
        config: opened.settings.workspace,
        reading: FolderReading::new(opened.workspace),
        tree: None,
        title: String::new(),
        shown: 0,
        is_chosen: false,
        refusal: None,
    };
    walk.run(&from, &commits, out)
}

/// Returns the revision to start at, and the one at which the history ends.
fn range_of(
    arguments: &LogArguments,
    repository: &GitRepository,
) -> Result<(GitRevision, Option<GitRevision>), Failure> {
    let named = |name: &str| repository.resolve(if name.is_empty() { "HEAD" } else { name });
    if arguments.revision.contains("...") {
        return Err(Failure("the history of two branches is no line: name BASE..HEAD".into()));
    }
    Ok(match arguments.revision.split_once("..") {
        Some((base, head)) => (named(head)?, Some(named(base)?)),
        None => (named(&arguments.revision)?, None),
    })
}

/// A walk through the history of a key.
struct HistoryWalk<'a> {
    arguments: &'a LogArguments,
    key: LookupKey,
    root: FilePath,
    repository: GitRepository,
    /// The settings of all revisions.
    config: WorkspaceConfig,
    reading: FolderReading,
    /// The files of the revision that was read last.
    tree: Option<TreeFs>,
    /// The first line: the key, and the nodes that are known.
    title: String,
    /// The number of commits that were printed.
    shown: usize,
    /// Whether a commit had one of the nodes that the arguments choose.
    is_chosen: bool,
    refusal: Option<Failure>,
}

impl HistoryWalk<'_> {
    fn run(
        &mut self,
        from: &GitRevision,
        commits: &[GitCommit],
        out: &mut dyn Write,
    ) -> Result<Status, Failure> {
        let mut after = self.read(from)?;
        let root = self.key.root_text();
        // If a commit removed the key, the walk finds the key further down.
        let unknown = after.keys().definitions(&root).is_empty().then(|| {
            let hint = suggestion(&root, after.keys().keys().map(|key| &**key));
            format!("no file of {} defines '{root}'{hint}", from.name)
        });
        self.title = title(&after, &self.arguments.key);
        let (mut read, mut compared) = (0, 0);
        for commit in commits {
            let is_enough = self.arguments.max_count.is_some_and(|most| self.shown >= most);
            let is_old =
                self.arguments.since.is_some_and(|since| commit.seconds < since.timestamp());
            if is_enough || is_old {
                break;
            }
            let before = match self.repository.parent_of(commit) {
                Some(parent) => {
                    let paths = self.repository.paths_changed(&commit.revision, &parent)?;
                    // A file may have several paths where there are links.
                    let has_links = self.tree.as_ref().is_some_and(TreeFs::has_links);
                    if !has_links
                        && !paths
                            .iter()
                            .any(|one| one.is_link || self.may_matter(&one.path, &after))
                    {
                        continue;
                    }
                    self.read(&parent)?
                }
                None if commit.is_cut => {
                    print_note(
                        "the history ends here in this shallow clone: git fetch --unshallow",
                    );
                    break;
                }
                None => self.reading.read(&MemoryFs::new()),
            };
            read += 1;
            if !may_change(&before, &after, &self.key) {
                after = before;
                continue;
            }
            compared += 1;
            let sides = Sides { root: self.root.clone(), before, after };
            self.write_commit(commit, &sides, out)?;
            after = sides.before;
        }
        tracing::info!(commits = commits.len(), read, compared, "the history was read");
        match self.refusal.take().filter(|_| !self.is_chosen && self.shown == 0) {
            Some(refusal) => Err(refusal),
            None if self.shown > 0 => Ok(Status::Good),
            None => {
                if self.arguments.format == LogFormat::Human {
                    writeln!(out, "{}\n\nno commit changes it", escape_terminal(&self.title))?;
                }
                let Some(unknown) = unknown else { return Ok(Status::Good) };
                print_note(&unknown);
                Ok(Status::Bad)
            }
        }
    }

    fn read(&mut self, revision: &GitRevision) -> Result<Snapshot, Failure> {
        let tree = match self.tree.take() {
            Some(tree) => tree.into_revision(revision)?,
            None => GitRepository::discover(&self.root)?.into_tree(revision)?,
        };
        let snapshot = self.reading.read(&tree);
        require_contents(&tree)?;
        self.tree = Some(tree);
        Ok(snapshot)
    }

    /// Whether a change of a file may change an answer: a level reads it, or its name says that it is
    /// a config, or data or code of the folder.
    fn may_matter(&self, path: &FilePath, snapshot: &Snapshot) -> bool {
        let environments = &snapshot.environments().all;
        let is_named = match FileKind::of_path(path, &self.config) {
            FileKind::HieraConfig => true,
            FileKind::Other => false,
            _ => path.is_within(&self.root),
        };
        is_named || environments.iter().any(|environment| environment.reaches_file(path))
    }

    fn write_commit(
        &mut self,
        commit: &GitCommit,
        sides: &Sides,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let choice = self.arguments.node.as_deref().or(self.arguments.nodes.as_deref());
        let is_chosen = match sides.chosen_nodes(choice) {
            Ok(is_chosen) => is_chosen,
            Err(refusal) => {
                self.refusal = Some(refusal);
                return Ok(());
            }
        };
        self.is_chosen = true;
        let found = find_key_changes(&sides.before, &sides.after, &self.key, &is_chosen);
        let found = found.ok_or_else(|| Failure("the comparison was cancelled".into()))?;
        let reporter =
            Reporter { shows_places_after: true, ..sides.reporter(self.arguments.reveal, false) };
        let reports: Vec<EnvironmentReport<'_>> = found
            .into_iter()
            .map(|changes| reporter.report(changes, Vec::new(), &|_, _, _| Vec::new()))
            .collect();
        if reports.iter().all(|one| one.sections.is_empty()) {
            return Ok(());
        }
        if self.shown == 0 && self.arguments.format == LogFormat::Human {
            writeln!(out, "{}", escape_terminal(&self.title))?;
        }
        self.shown += 1;
        match self.arguments.format {
            LogFormat::Human => write_human(commit, &reports, out)?,
            LogFormat::Json => write_json(commit, &reports, &reporter, out)?,
        }
        Ok(())
    }
}

fn title(snapshot: &Snapshot, key: &str) -> String {
    let nodes: Vec<String> = snapshot.overviews().iter().map(Overview::nodes_phrase).collect();
    let nodes = if nodes.is_empty() { "no nodes".to_owned() } else { nodes.join("; ") };
    format!("Changes of {key}, the newest first, for {nodes}")
}

/// Returns the time of a commit in the committer's time zone.
fn time_of(commit: &GitCommit) -> DateTime<FixedOffset> {
    let universal = FixedOffset::east_opt(0).expect("no offset is an offset");
    let offset = FixedOffset::east_opt(commit.offset_minutes.saturating_mul(60));
    let time = DateTime::from_timestamp(commit.seconds, 0).unwrap_or_default();
    time.with_timezone(&offset.unwrap_or(universal))
}

fn write_human(
    commit: &GitCommit,
    reports: &[EnvironmentReport<'_>],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let id: String = commit.revision.commit.chars().take(SHORT_ID).collect();
    let day = time_of(commit).format("%Y-%m-%d");
    let line = format!("{id}  {day}  {}  {}", commit.author, commit.subject);
    writeln!(out, "\n{}", escape_terminal(&line))?;
    for one in reports {
        if reports.len() > 1 && !one.sections.is_empty() {
            writeln!(out, "  environment {}", escape_terminal(&one.changes.after.name))?;
        }
        for section in &one.sections {
            write_keys(one, &section.keys, out)?;
        }
    }
    Ok(())
}

fn write_json(
    commit: &GitCommit,
    reports: &[EnvironmentReport<'_>],
    reporter: &Reporter<'_>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let changes: Vec<serde_json::Value> = reports
        .iter()
        .flat_map(|one| one.changes.changes.iter().map(move |change| (one, change)))
        .map(|(one, change)| {
            let mut json = json::change_json(reporter, one, change);
            json["environment"] = one.changes.after.name.as_str().into();
            json
        })
        .collect();
    let line = json!({
        "commit": commit.revision.commit,
        "date": time_of(commit).to_rfc3339(),
        "author": commit.author,
        "subject": commit.subject,
        "changes": changes,
    });
    writeln!(out, "{line}")
}
