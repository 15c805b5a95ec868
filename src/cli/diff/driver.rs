//! `diff --git-driver`: the command of a diff driver of git. Git calls it for each file with both
//! contents; the report is about this file alone, with all other files as they are in the working
//! tree.
//!
//! Source: gitattributes(5), "Defining an external diff driver", and git(1), `GIT_EXTERNAL_DIFF`.

use std::io::Write;

use super::{DiffArguments, Sides};
use crate::cli::{Failure, Status, absolute_path, find_root};
use crate::disk::{FileSystem as _, OsFs};
use crate::workspace::files::git::{GitRepository, ReplacedFs};

/// The file that git names for a side without the file.
const NOTHING: &str = "/dev/null";
/// The longest file that is compared, in bytes.
const FILE_SIZE: u64 = 16 << 20;

/// Writes the report about one file. The status is 0 also where values differ: git takes any other
/// one for a failure.
pub(super) fn run(arguments: &DiffArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let [path, old, _, _, new, _, _, more @ ..] = &arguments.revisions[..] else {
        return Err(Failure("--git-driver takes what git hands over: a path, and a file, an id and a mode for each side".into()));
    };
    // For a renamed file, git adds the new name as a further argument.
    let path = more.first().unwrap_or(path);
    let here = absolute_path(".")?;
    let top = GitRepository::discover(&here)?.mount().clone();
    let file = top.join(path);
    let near = file.parent().unwrap_or(top);
    let root = find_root(&arguments.root, Some(&near))?;
    let content = |given: &str| match given {
        NOTHING => Ok(None),
        given => {
            let given = absolute_path(given)?;
            let read = OsFs.read(&given, FILE_SIZE);
            read.map(Some).map_err(|error| Failure(format!("{given}: {error}")))
        }
    };
    let before = ReplacedFs::new(file.clone(), content(old)?);
    let after = ReplacedFs::new(file, content(new)?);
    let sides = Sides::open(arguments, root, (&before, &after))?;
    let commits = [("before".to_owned(), None), ("after".to_owned(), None)];
    writeln!(out, "diff --hiera {}", crate::text::escape::escape_terminal(path))?;
    sides.write_between(
        (arguments, None),
        (side_name(old, "the old text"), side_name(new, "the new text")),
        &commits,
        out,
    )?;
    Ok(Status::Good)
}

fn side_name<'a>(given: &str, name: &'a str) -> &'a str {
    if given == NOTHING { "no file" } else { name }
}
