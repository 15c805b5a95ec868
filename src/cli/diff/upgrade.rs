//! `diff --puppet-version FROM..TO`: an upgrade of Puppet rehearsed on one tree.

use std::io::Write;

use super::{DiffArguments, Report, Sides, WORKTREE};
use crate::cli::shard::Joined;
use crate::cli::{
    ArgumentSettings, Failure, PuppetVersions, RootArguments, Status, command_settings, find_root,
};
use crate::disk::{FileSystem, OsFs};
use crate::fleet::compare::upgrade::{causes_of_change, find_upgrade_changes};
use crate::puppet::PuppetVersion;
use crate::settings::{GivenSettings, Origin, open_versions};
use crate::text::FilePath;
use crate::workspace::files::git::{GitRepository, GitRevision, TreeFs};

/// Writes the report about one tree under two versions of Puppet: that of `--head`, by default the
/// files on disk.
pub(super) fn run(
    arguments: &DiffArguments,
    versions: [u8; 2],
    joined: Option<&Joined>,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    if arguments.base.is_some() || !arguments.revisions.is_empty() {
        return Err(Failure(format!(
            "--puppet-version {}..{} compares one tree under two versions of Puppet, not two revisions: name the tree with --head",
            versions[0], versions[1]
        )));
    }
    let root = find_root(&arguments.root, None)?;
    let tree = Tree::find(arguments, &root)?;
    let sides = open(arguments, root, versions, &tree)?;
    if let Some((_, fs)) = &tree.revision {
        super::note_unread(fs, &sides)?;
    }
    let found = sides.compare(arguments, joined, |choice| {
        find_upgrade_changes(&sides.before, &sides.after, choice)
    })?;
    if let Some(shard) = arguments.shard {
        return sides.write_part(arguments, shard, found.iter().map(|(changes, _)| changes), out);
    }
    let reporter = sides.reporter(arguments.reveal, arguments.order);
    let reports: Vec<_> = found
        .into_iter()
        .map(|(changes, edits)| {
            reporter.report(changes, edits, &|changes, change, edits| {
                causes_of_change((&sides.after, changes.after), change, edits)
            })
        })
        .collect();
    let [from, to] =
        versions.map(|major| format!("{} {major}", PuppetVersion::of_major(major).vendor_name()));
    let (head, commit) = tree.names();
    let commits = [&from, &to].map(|version| (format!("{head}, {version}"), commit.clone()));
    let to = format!("{to} ({head})");
    let head_argument = match commit.as_deref() {
        Some(commit) => format!(" --head {commit}"),
        None => String::new(),
    };
    let again = format!("--puppet-version {}..{}{head_argument}", versions[0], versions[1]);
    let changes = sides.change_report((&from, &to), reports);
    let report = Report { changes: &changes, commits: &commits, arguments: again };
    report.write(arguments, &reporter, out)
}

/// The tree on which an upgrade is rehearsed.
struct Tree {
    /// A revision of git with its files; `None` for the files on disk.
    revision: Option<(GitRevision, TreeFs)>,
}

impl Tree {
    fn find(arguments: &DiffArguments, root: &FilePath) -> Result<Tree, Failure> {
        let revision = match arguments.head.as_deref() {
            None | Some(WORKTREE) => None,
            Some(name) => {
                let repository = GitRepository::discover(root)?;
                let revision = repository.resolve(name)?;
                let tree = repository.into_tree(&revision)?;
                Some((revision, tree))
            }
        };
        Ok(Tree { revision })
    }

    fn fs(&self) -> &dyn FileSystem {
        self.revision.as_ref().map_or(&OsFs, |(_, tree)| tree)
    }

    /// Returns the tree's name, and the id of its commit.
    fn names(&self) -> (String, Option<String>) {
        match &self.revision {
            Some((revision, _)) => (revision.name.clone(), Some(revision.commit.clone())),
            None => ("the working tree".to_owned(), None),
        }
    }
}

fn open(
    arguments: &DiffArguments,
    root: FilePath,
    versions: [u8; 2],
    tree: &Tree,
) -> Result<Sides, Failure> {
    let given = |to: u8| {
        let root_arguments = RootArguments {
            puppet_version: Some(PuppetVersions { from: None, to }),
            ..arguments.root.clone()
        };
        let given = command_settings(&root_arguments, ArgumentSettings::new(), &root)?;
        Ok::<_, Failure>([GivenSettings::new(given.into(), Origin::User)])
    };
    let given = (given(versions[0])?, given(versions[1])?);
    let opened = crate::cli::progress::while_reading(&root, || {
        open_versions(vec![root.clone()], [&given.0, &given.1], tree.fs())
    });
    let sides = Sides::from_opened(root, opened);
    if sides.is_empty() {
        return Err(Failure(format!("there is no hiera.yaml in {} or below", sides.root)));
    }
    Ok(sides)
}
