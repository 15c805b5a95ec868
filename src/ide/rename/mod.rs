//! Rename of a key, or of a member of its value, in all places that name it; of a key that is a
//! class parameter, with the parameter. A rename that may change a value is refused.
//!
//! `name` decides about names, `checks`, `member` and `parameter` find reasons to refuse, `edits`
//! writes the new name in the way of each place.

mod checks;
mod edits;
mod error;
mod member;
mod name;
mod parameter;

use std::sync::Arc;

pub use error::RenameError;

use super::references::{KeyPart, Name, Occurrence, Role, code_text, find_occurrences, named_at};
use crate::hiera::key::KeySegment;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FilePath, FilePosition, SourceChange, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::files::kinds::code_language;

/// The name that a rename would replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The bytes of the name, without quotes.
    pub range: TextRange,
    /// The name to begin with: the whole key for a root key, however little of it stands there.
    pub placeholder: String,
}

/// Returns the name at `position` if it can be renamed at all.
///
/// Errors: the reason why it cannot.
pub fn prepare(snapshot: &Snapshot, position: FilePosition) -> Result<Prepared, RenameError> {
    let renaming = Renaming::at_position(snapshot, position)?;
    renaming.check()?;
    Ok(Prepared { range: renaming.range, placeholder: renaming.initial_name().to_owned() })
}

/// The most comments with the old name to name.
const MAX_COMMENTS: usize = 3;

/// A rename.
#[derive(Clone, Debug, Default)]
pub struct Renamed {
    /// The change of the places that name the key.
    pub change: SourceChange,
    /// The comments that keep the old name, as `path:line`.
    pub comments: Vec<String>,
}

impl Renamed {
    /// Returns a sentence about the comments that keep the old name; `None` where there are none.
    pub fn comments_note(&self) -> Option<String> {
        let count = self.comments.len();
        let named: Vec<&str> =
            self.comments.iter().take(MAX_COMMENTS).map(String::as_str).collect();
        let more = match count.saturating_sub(MAX_COMMENTS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let keep = if count == 1 { "a comment keeps" } else { "comments keep" };
        (count > 0).then(|| format!("{keep} the old name: {}{more}", named.join(", ")))
    }
}

/// Returns the change that gives the name at `position` another name.
///
/// A class parameter may be renamed from the class by its short name, too.
///
/// Errors: the reason why a value may change, or a place cannot take the name.
pub fn rename(
    snapshot: &Snapshot,
    position: FilePosition,
    new: &str,
) -> Result<Renamed, RenameError> {
    let renaming = Renaming::at_position(snapshot, position)?;
    let new = renaming.full_name(new);
    if *new == *renaming.old_name() {
        return Ok(Renamed::default());
    }
    name::check(&new)?;
    renaming.check()?;
    renaming.check_new(&new)?;
    Ok(Renamed { change: renaming.all_edits(&new)?, comments: renaming.comments_with_name()? })
}

/// A rename that was asked for.
struct Renaming<'a> {
    snapshot: &'a Snapshot,
    /// All environments that read a file which names the key.
    environments: Vec<Arc<Environment>>,
    part: KeyPart,
    /// The bytes of the name under the cursor, without quotes.
    range: TextRange,
    /// Whether the cursor is at the short name of a class parameter.
    is_short: bool,
    all: Vec<Occurrence>,
}

impl<'a> Renaming<'a> {
    fn at_position(
        snapshot: &'a Snapshot,
        position: FilePosition,
    ) -> Result<Renaming<'a>, RenameError> {
        let named = named_at(snapshot, position).ok_or(RenameError::NoName)?;
        if !named.range.touches_offset(position.offset) {
            return Err(RenameError::NoName);
        }
        let part = match named.name {
            Name::Key(part) => part,
            Name::Pattern(pattern) => return Err(RenameError::Pattern(pattern)),
            Name::Variable(_) => return Err(RenameError::Variable),
        };
        if &*part.root == LOOKUP_OPTIONS {
            return Err(RenameError::Reserved);
        }
        if matches!(part.subkeys.last(), Some(KeySegment::Index(_))) {
            return Err(RenameError::Element);
        }
        let file = snapshot.file_by_id(position.file).ok_or(RenameError::NoName)?;
        let text = file.text().ok_or(RenameError::NoName)?;
        let range = edits::within_quotes(&text.slice(named.range), named.range);
        let (environments, all) = all_occurrences(snapshot, named.environments, &part)?;
        let is_short = code_language(&file.path).is_some()
            && text.slice(range) != *part.root
            && part.subkeys.is_empty();
        Ok(Renaming { snapshot, environments, part, range, is_short, all })
    }

    /// Returns the name that is replaced.
    fn old_name(&self) -> &str {
        match self.part.subkeys.last() {
            Some(KeySegment::Name(name)) => name,
            _ => &self.part.root,
        }
    }

    /// Returns the name to begin with.
    fn initial_name(&self) -> &str {
        match self.part.root.rsplit_once("::") {
            Some((_, short)) if self.is_short => short,
            _ => self.old_name(),
        }
    }

    /// Returns the new name of the key: a short name of a parameter belongs to its class.
    fn full_name(&self, new: &str) -> String {
        match self.part.root.rsplit_once("::") {
            Some((class, _)) if self.is_short && !new.contains("::") => format!("{class}::{new}"),
            _ => new.to_owned(),
        }
    }

    fn check_cancelled(&self) -> Result<(), RenameError> {
        if self.snapshot.cancel_token().is_cancelled() {
            Err(RenameError::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Looks for reasons that speak against any new name.
    fn check(&self) -> Result<(), RenameError> {
        self.check_files()?;
        for environment in &self.environments {
            self.check_cancelled()?;
            self.check_code(environment)?;
            self.check_data_is_read(environment)?;
        }
        if self.part.subkeys.is_empty() { self.check_parameter() } else { self.check_member() }
    }

    /// Looks for reasons that speak against a new name.
    fn check_new(&self, new: &str) -> Result<(), RenameError> {
        if !self.part.subkeys.is_empty() {
            return self.check_new_member(new);
        }
        self.check_options(new)?;
        for environment in &self.environments {
            self.check_cancelled()?;
            self.check_is_free(environment, new)?;
            self.check_levels(environment, new)?;
        }
        self.check_new_parameter(new)
    }

    /// Returns the text of a file of code.
    fn code_text(&self, path: &FilePath) -> std::borrow::Cow<'a, str> {
        code_text(self.snapshot, path)
    }
}

/// Returns all places that name a key, and all environments that read one of their files.
fn all_occurrences(
    snapshot: &Snapshot,
    mut environments: Vec<Arc<Environment>>,
    part: &KeyPart,
) -> Result<(Vec<Arc<Environment>>, Vec<Occurrence>), RenameError> {
    let name = Name::Key(part.clone());
    loop {
        let all =
            find_occurrences(snapshot, &environments, &name, None).ok_or(RenameError::Cancelled)?;
        let more = snapshot
            .environments()
            .all
            .iter()
            .filter(|one| !environments.iter().any(|it| Arc::ptr_eq(it, one)));
        let more: Vec<_> = more
            .filter(|one| {
                all.iter().any(|it| match code_language(&it.path) {
                    Some(_) => snapshot.manifests(one).file(&it.path).is_some(),
                    None => one.governs_file(&it.path),
                })
            })
            .cloned()
            .collect();
        if more.is_empty() {
            return Ok((environments, all));
        }
        environments.extend(more);
    }
}

#[cfg(test)]
mod tests;
