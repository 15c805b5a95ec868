//! References: all places that name a key, a part of one, or a variable. `subject` finds the name
//! under the cursor, `data`, `options`, `code` and `variables` the places of each kind.

mod code;
mod data;
mod options;
mod subject;
mod variables;

use std::sync::Arc;

pub(in crate::ide) use code::{code_text, variables_of};
pub(in crate::ide) use subject::{KeyPart, Name, Named, named_at};

use crate::text::{FilePath, FilePosition, Span, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// The references of the name at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct References {
    /// The bytes that were asked about.
    pub origin: TextRange,
    /// The places: definitions first, each kind in the order of the files.
    pub all: Vec<Occurrence>,
}

/// A place that names the subject.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// The part that the name plays there.
    pub role: Role,
    /// The file.
    pub path: FilePath,
    /// The bytes of the name: of a key of data with its quotes, everywhere else without.
    pub range: TextRange,
}

/// The part that a name plays at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A key in data, with a value.
    Definition,
    /// The parameter of a class that the key is looked up for.
    Parameter,
    /// An entry of `lookup_options` for the key.
    OptionsEntry,
    /// An entry of `lookup_options` whose pattern matches the key.
    OptionsPattern,
    /// A token in data or in the locations of a `hiera.yaml`.
    Token,
    /// A call in code that reads the key.
    Call,
    /// A call in code whose key is computed, and may be the named key.
    ComputedCall,
    /// The name of the parameter where a declaration of its class gives it a value.
    Attribute,
    /// The parameter as a variable in code.
    Variable,
    /// The parameter in the documentation of its class.
    Documentation,
}

impl Role {
    /// Whether the place introduces the name.
    pub fn is_declaration(self) -> bool {
        matches!(self, Role::Definition | Role::Parameter)
    }
}

/// Returns the references of the name at `position`, with or without the places that introduce it;
/// `None` where there is no name, and when the request is cancelled.
pub fn find_references(
    snapshot: &Snapshot,
    position: FilePosition,
    with_declarations: bool,
) -> Option<References> {
    let named = named_at(snapshot, position)?;
    let mut all = find_occurrences(snapshot, &named.environments, &named.name, None)?;
    all.retain(|one| with_declarations || !one.role.is_declaration());
    Some(References { origin: named.range, all })
}

/// Returns the places that name something in some environments, in one file or in all, in order;
/// `None` when the request is cancelled.
pub(in crate::ide) fn find_occurrences(
    snapshot: &Snapshot,
    environments: &[Arc<Environment>],
    name: &Name,
    only: Option<&FilePath>,
) -> Option<Vec<Occurrence>> {
    let mut all = Vec::new();
    for environment in environments {
        let mut search = ReferenceSearch { snapshot, environment, only, found: Vec::new() };
        match name {
            Name::Key(part) => search.find_key(part)?,
            Name::Pattern(pattern) => search.find_pattern(pattern)?,
            Name::Variable(variable) => search.find_variable(variable)?,
        }
        all.append(&mut search.found);
    }
    all.sort();
    all.dedup();
    Some(all)
}

/// A search through the files of an environment.
struct ReferenceSearch<'a> {
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    /// The only file to look into, if not all are asked for.
    only: Option<&'a FilePath>,
    found: Vec<Occurrence>,
}

impl ReferenceSearch<'_> {
    fn find_key(&mut self, part: &KeyPart) -> Option<()> {
        self.find_definitions(part)?;
        self.find_tokens(part)?;
        if part.subkeys.is_empty() {
            self.options_of(&part.root);
        }
        self.code_of(part)
    }

    /// `None` when the request is cancelled.
    fn goes_on(&self) -> Option<()> {
        (!self.snapshot.cancel_token().is_cancelled()).then_some(())
    }

    /// Whether a file of data is looked into.
    fn is_searched(&self, path: &FilePath) -> bool {
        self.only.is_none_or(|only| only == path) && self.environment.reaches_file(path)
    }

    fn add(&mut self, role: Role, path: &FilePath, range: TextRange) {
        if self.only.is_none_or(|only| only == path) {
            self.found.push(Occurrence { role, path: path.clone(), range });
        }
    }

    fn add_span(&mut self, role: Role, span: Span) {
        if let Some(path) = self.snapshot.path_of(span.file) {
            self.add(role, path, self.snapshot.span_bytes(span));
        }
    }
}

#[cfg(test)]
mod tests;
