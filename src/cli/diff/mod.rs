//! `hiera-ls diff`: what edits between two revisions change on the known nodes.

mod arguments;
mod driver;
mod github;
mod html;
mod json;
pub(super) mod log;
mod markdown;
mod upgrade;

use std::io::Write;

pub(super) use arguments::DiffArguments;
use arguments::DiffFormat;

use super::node_names::choose_nodes;
use super::progress::while_working;
use super::shard::{self, Joined, KeyNodes, Results};
use super::{
    ArgumentSettings, Failure, PuppetVersions, Status, command_settings, find_root, print_note,
};
use crate::disk::FileSystem;
use crate::fleet::compare::KnownAnswers;
use crate::fleet::compare::changes::{EnvironmentChanges, find_changes};
use crate::fleet::compare::edits::find_edits;
use crate::fleet::compare::nodes::{ChangedNodes, NodeChoice};
use crate::fleet::node_values::NodeValues;
use crate::ide::change_report::masking::Masking;
use crate::ide::change_report::model::{EnvironmentReport, Reporter};
use crate::ide::change_report::{ChangeReport, page};
use crate::settings::{GivenSettings, OpenedTwice, Origin, open_revisions};
use crate::text::FilePath;
use crate::text::similar::suggestion;
use crate::workspace::Snapshot;
use crate::workspace::files::git::{GitRepository, GitRevision, TreeFs, WorkingTreeFs};
use crate::workspace::files::scan::walk_limits;
use crate::workspace::nodes::Node;
use crate::workspace::share::Share;

/// The work of a comparison, in reports of progress.
const COMPARING: &str = "comparing nodes";
/// The name of the working tree as a revision.
const WORKTREE: &str = "worktree";

pub(super) fn run(arguments: &DiffArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    run_with(arguments, None, out)
}

/// Prints the report of the parts of all shards.
///
/// Errors: the shards read other files.
pub(super) fn run_joined(
    arguments: &DiffArguments,
    joined: &Joined,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    run_with(arguments, Some(joined), out)
}

fn run_with(
    arguments: &DiffArguments,
    joined: Option<&Joined>,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    if let Some(PuppetVersions { from: Some(from), to }) = arguments.root.puppet_version {
        return upgrade::run(arguments, [from, to], joined, out);
    }
    if arguments.git_driver {
        return driver::run(arguments, out);
    }
    let root = find_root(&arguments.root, None)?;
    let revisions = Revisions::choose(arguments, &root)?;
    let base = revisions.base_tree(&root)?;
    let head = match &revisions.head {
        Some(head) => Some(GitRepository::discover(&root)?.into_tree(head)?),
        None => None,
    };
    let worktree = WorkingTreeFs::new(&base);
    let head_fs: &dyn FileSystem = match &head {
        Some(head) => head,
        None => &worktree,
    };
    let sides = Sides::open(arguments, root, (&base, head_fs))?;
    for tree in [Some(&base), head.as_ref()].into_iter().flatten() {
        note_unread(tree, &sides)?;
    }
    sides.write(arguments, &revisions, joined, out)
}

/// The two revisions of a comparison.
pub(super) struct Revisions {
    base: GitRevision,
    /// `None` for the working tree.
    head: Option<GitRevision>,
}

impl Revisions {
    /// Returns a revision and the working tree; `NAME...` starts at its merge base with `HEAD`.
    pub(super) fn base_and_worktree(name: &str, root: &FilePath) -> Result<Revisions, Failure> {
        let repository = GitRepository::discover(root)?;
        let base = match name.strip_suffix("...") {
            Some(name) => {
                repository.merge_base(&repository.resolve(name)?, &repository.resolve("HEAD")?)?
            }
            None => repository.resolve(name)?,
        };
        Ok(Revisions { base, head: None })
    }

    /// Returns the revisions that the arguments name. The base is by default the merge base of the
    /// head and the branch that the current one follows, else `HEAD`; `A...B` as base and head
    /// starts at their merge base.
    fn choose(arguments: &DiffArguments, root: &FilePath) -> Result<Revisions, Failure> {
        let repository = GitRepository::discover(root)?;
        let (range, second) = match &arguments.revisions[..] {
            [] => (None, None),
            [range] => (Some(range.as_str()), None),
            [base, head] => (Some(base.as_str()), Some(head.as_str())),
            _ => return Err(Failure("two revisions are compared".into())),
        };
        let named = |name: &str| match name {
            WORKTREE => Ok(None),
            "" => repository.resolve("HEAD").map(Some),
            name => repository.resolve(name).map(Some),
        };
        if let Some((base, head)) = range.and_then(|range| range.split_once("...")) {
            let (base, head) =
                (repository.resolve(if base.is_empty() { "HEAD" } else { base })?, named(head)?);
            let tip = head.clone().map_or_else(|| repository.resolve("HEAD"), Ok)?;
            return Ok(Revisions { base: repository.merge_base(&base, &tip)?, head });
        }
        let (base, head) = match range {
            Some(range) => match range.split_once("..") {
                Some((base, head)) => (Some(base), head),
                None => (Some(range), second.unwrap_or(WORKTREE)),
            },
            None => (arguments.base.as_deref(), arguments.head.as_deref().unwrap_or(WORKTREE)),
        };
        let head = named(head)?;
        let base = match (base, repository.upstream()) {
            (Some(base), _) => repository.resolve(if base.is_empty() { "HEAD" } else { base })?,
            (None, Some(upstream)) => {
                let tip = head.clone().map_or_else(|| repository.resolve("HEAD"), Ok)?;
                repository.merge_base(&repository.resolve(&upstream)?, &tip)?
            }
            (None, None) => repository.resolve("HEAD")?,
        };
        Ok(Revisions { base, head })
    }

    /// Returns the files of the base. Beside the working tree, files that git ignores are those on
    /// disk on both sides; between two revisions they are on none.
    pub(super) fn base_tree(&self, root: &FilePath) -> Result<TreeFs, Failure> {
        let mut tree = GitRepository::discover(root)?.into_tree(&self.base)?;
        if self.head.is_none() {
            let ignored = tree.add_ignored(root, &walk_limits(Vec::new()));
            tracing::info!(ignored, "files that git ignores");
        }
        Ok(tree)
    }

    fn head_name(&self) -> &str {
        self.head.as_ref().map_or("the working tree", |head| &head.name)
    }
}

/// Notes what the revision could not be read as Puppet would.
///
/// Errors: contents are missing in a partial clone.
fn note_unread(tree: &TreeFs, sides: &Sides) -> Result<(), Failure> {
    require_contents(tree)?;
    for path in tree.pointers() {
        let path = sides.short_path(&path);
        print_note(&format!(
            "{path} is a pointer to a store of large files, and was read as it is"
        ));
    }
    for path in sides.before.files_changed(&sides.after) {
        if let Some(filter) = tree.filter_of(&path) {
            let path = sides.short_path(&path);
            print_note(&format!("{path} was read without git's filter '{filter}'"));
        }
    }
    Ok(())
}

/// Refuses a tree that was read in part.
///
/// Errors: contents are missing in a partial clone.
pub(super) fn require_contents(tree: &TreeFs) -> Result<(), Failure> {
    match tree.missing().first() {
        Some(path) => Err(Failure(format!(
            "{path} is not in this partial clone: git fetch --refetch --no-filter, or clone without --filter"
        ))),
        None => Ok(()),
    }
}

/// Both revisions, read.
struct Sides {
    root: FilePath,
    before: Snapshot,
    after: Snapshot,
}

impl Sides {
    fn open(
        arguments: &DiffArguments,
        root: FilePath,
        (base, head): (&dyn FileSystem, &dyn FileSystem),
    ) -> Result<Sides, Failure> {
        let given = command_settings(&arguments.root, ArgumentSettings::new(), &root)?;
        let opened = super::progress::while_reading(&root, || {
            open_revisions(
                vec![root.clone()],
                &[GivenSettings::new(given.into(), Origin::User)],
                base,
                head,
            )
        });
        let sides = Sides::from_opened(root, opened);
        if sides.is_empty() {
            return Err(Failure(format!(
                "there is no hiera.yaml in {} or below, in neither revision",
                sides.root
            )));
        }
        Ok(sides)
    }

    /// Takes what was read, and notes what could not be.
    fn from_opened(root: FilePath, opened: OpenedTwice) -> Sides {
        for problem in &opened.problems {
            print_note(&problem.to_string());
        }
        for (path, error) in opened.after.source_errors() {
            print_note(&format!("{path}: no nodes read from it: {error}"));
        }
        Sides { root, before: opened.before, after: opened.after }
    }

    /// Whether there is no environment on either side.
    fn is_empty(&self) -> bool {
        self.after.environments().all.is_empty() && self.before.environments().all.is_empty()
    }

    fn short_path<'p>(&self, path: &'p FilePath) -> &'p str {
        path.relative_to(&self.root).unwrap_or(path.as_str())
    }

    fn write(
        &self,
        arguments: &DiffArguments,
        revisions: &Revisions,
        joined: Option<&Joined>,
        out: &mut dyn Write,
    ) -> Result<Status, Failure> {
        let commit = |revision: &GitRevision| revision.commit.chars().take(9).collect::<String>();
        let base = format!("{} ({})", revisions.base.name, commit(&revisions.base));
        let head = match &revisions.head {
            Some(head) => format!("{} ({})", head.name, commit(head)),
            None => revisions.head_name().to_owned(),
        };
        let commits = [
            (revisions.base.name.clone(), Some(revisions.base.commit.clone())),
            match &revisions.head {
                Some(head) => (head.name.clone(), Some(head.commit.clone())),
                None => (WORKTREE.to_owned(), None),
            },
        ];
        self.write_between((arguments, joined), (&base, &head), &commits, out)
    }

    /// Writes the report about two revisions. `commits` are the names of both sides with the ids of their commits.
    fn write_between<'a>(
        &'a self,
        (arguments, joined): (&DiffArguments, Option<&Joined>),
        (base, head): (&'a str, &'a str),
        commits: &[(String, Option<String>); 2],
        out: &mut dyn Write,
    ) -> Result<Status, Failure> {
        let files = self.before.files_changed(&self.after);
        // No other comparison follows that could use the answers.
        let mut known = KnownAnswers::new(0);
        let changes = self.compare(arguments, joined, |choice| {
            find_changes(&self.before, &self.after, &files, choice, &mut known)
        })?;
        if let Some(shard) = arguments.shard {
            return self.write_part(arguments, shard, changes.iter(), out);
        }
        let reporter = self.reporter(arguments.reveal, arguments.order);
        let reports: Vec<_> = changes
            .into_iter()
            .map(|changes| {
                let sides = ((&self.before, changes.before), (&self.after, changes.after));
                let edits = find_edits(sides.0, sides.1, &files);
                reporter.report(changes, edits, &|changes, change, edits| {
                    reporter.causing_edits(changes, change, edits)
                })
            })
            .collect();
        let [before, after] = commits.each_ref().map(|(name, id)| id.as_ref().unwrap_or(name));
        let again = format!("--base {before} --head {after}");
        let changes = self.change_report((base, head), reports);
        let report = Report { changes: &changes, commits, arguments: again };
        report.write(arguments, &reporter, out)
    }

    /// Compares the nodes that the arguments choose: those of a share, or those that parts name.
    ///
    /// Errors: the arguments choose no node, or the shards read other files.
    fn compare<T>(
        &self,
        arguments: &DiffArguments,
        joined: Option<&Joined>,
        find: impl FnOnce(&NodeChoice<'_>) -> Option<T>,
    ) -> Result<T, Failure> {
        let is_chosen = self.chosen_nodes(arguments.nodes.as_deref())?;
        let mut known: Option<Vec<ChangedNodes>> = None;
        if let Some(joined) = joined {
            for (number, snapshot) in [&self.before, &self.after].into_iter().enumerate() {
                joined.require_tree(number, (snapshot, &self.root))?;
            }
            if let Results::Diff(environments) = &joined.results {
                known = Some(environments.iter().map(|all| KeyNodes::join(all)).collect());
            }
        }
        let choice = NodeChoice {
            share: arguments.shard.unwrap_or(Share::WHOLE),
            known: known.as_deref(),
            ..NodeChoice::chosen_by(&is_chosen)
        };
        let found = while_working(COMPARING, || find(&choice));
        found.ok_or_else(|| Failure("the comparison was cancelled".into()))
    }

    /// Writes the changes of the nodes of a share as a part of the report.
    fn write_part<'c>(
        &self,
        arguments: &DiffArguments,
        share: Share,
        changes: impl Iterator<Item = &'c EnvironmentChanges<'c>>,
        out: &mut dyn Write,
    ) -> Result<Status, Failure> {
        let trees = [(&self.before, &self.root), (&self.after, &self.root)];
        let records = changes.map(|one| KeyNodes::of_environment(&one.changed_nodes())).collect();
        shard::write_part(share, arguments, &trees, Results::Diff(records), out)?;
        Ok(Status::Good)
    }

    fn change_report<'a>(
        &'a self,
        (base, head): (&'a str, &'a str),
        environments: Vec<EnvironmentReport<'a>>,
    ) -> ChangeReport<'a> {
        let Sides { root, before, after } = self;
        ChangeReport { before, after, root, base, head, environments }
    }

    fn reporter(&self, reveals: bool, shows_order: bool) -> Reporter<'_> {
        Reporter {
            before: &self.before,
            after: &self.after,
            root: &self.root,
            masking: Masking { snapshots: [&self.before, &self.after], reveals },
            shows_order,
            shows_places_after: false,
        }
    }

    /// Returns whether an argument chooses a node; without one all are chosen.
    ///
    /// Errors: it chooses none.
    fn chosen_nodes(
        &self,
        choice: Option<&str>,
    ) -> Result<impl Fn(&Node) -> bool + 'static, Failure> {
        let mut chosen = None;
        if let Some(choice) = choice {
            let mut names = std::collections::BTreeSet::new();
            let mut found = false;
            for (snapshot, environment) in [&self.after, &self.before]
                .into_iter()
                .flat_map(|side| side.environments().all.iter().map(move |one| (side, one)))
            {
                let (nodes, _) = NodeValues::all_nodes(snapshot, environment);
                if let Ok(numbers) = choose_nodes(choice, environment, nodes) {
                    found = true;
                    names.extend(numbers.into_iter().map(|number| nodes[number].name.clone()));
                }
            }
            if !found {
                let known = [&self.after, &self.before].into_iter().flat_map(|side| {
                    let all = side.environments().all.iter();
                    all.flat_map(move |one| NodeValues::all_nodes(side, one).0)
                });
                let hint = suggestion(choice, known.map(|node| &*node.name));
                return Err(Failure(format!("no node is named '{choice}'{hint}")));
            }
            chosen = Some(names);
        }
        Ok(move |node: &Node| chosen.as_ref().is_none_or(|names| names.contains(&node.name)))
    }
}

/// A report, to be written in some format.
struct Report<'a> {
    changes: &'a ChangeReport<'a>,
    /// The names of both revisions and the ids of their commits.
    commits: &'a [(String, Option<String>); 2],
    /// The arguments of `diff` that write the report again.
    arguments: String,
}

impl Report<'_> {
    fn write(
        &self,
        arguments: &DiffArguments,
        reporter: &Reporter<'_>,
        out: &mut dyn Write,
    ) -> Result<Status, Failure> {
        match arguments.format {
            DiffFormat::Human => page::write(self.changes, out)?,
            DiffFormat::Markdown => markdown::write(self, arguments.max_chars, out)?,
            DiffFormat::Json => json::write(self, reporter, out)?,
            DiffFormat::Github => github::write(self.changes, out)?,
            DiffFormat::Html => html::write(self.changes, out)?,
        }
        Ok(self.status(arguments))
    }

    fn status(&self, arguments: &DiffArguments) -> Status {
        let mut kinds = self.changes.change_kinds();
        let fails = match (&arguments.fail_on[..], arguments.exit_zero) {
            (_, true) => false,
            ([], false) => kinds.next().is_some(),
            (names, false) => kinds.any(|kind| names.iter().any(|name| name == kind.name())),
        };
        if fails { Status::Bad } else { Status::Good }
    }
}
