//! The new name as each place writes it.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use super::checks::{is_comment, is_whole_word};
use super::{Occurrence, RenameError, Renaming, Role, name};
use crate::hiera::data::DataFormat;
use crate::hiera::key::KeySegment;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FilePath, SourceChange, Text, TextEdit, TextRange};
use crate::workspace::files::file::File;
use crate::yaml::{NodeKind, PathStep, ScalarStyle, Tree};

/// Returns the bytes within the quotes of a written name; all of them for a name without quotes.
pub(super) fn within_quotes(written: &str, range: TextRange) -> TextRange {
    let quote = written.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let is_quoted = quote.is_some_and(|quote| written.len() > 1 && written.ends_with(quote));
    if is_quoted { TextRange::new(range.start + 1, range.end - 1) } else { range }
}

impl Renaming<'_> {
    /// Returns the edits of all places.
    pub(super) fn all_edits(&self, new: &str) -> Result<SourceChange, RenameError> {
        let mut change = SourceChange::default();
        for one in &self.all {
            self.check_cancelled()?;
            if let Some(edit) = self.edit_occurrence(one, new)? {
                change.push(&one.path, edit);
            }
        }
        Ok(change)
    }

    /// Returns the places in comments that have the old name, in the data and the code of the
    /// environments: a token or a key that is commented out keeps the name.
    pub(super) fn comments_with_name(&self) -> Result<Vec<String>, RenameError> {
        let old = self.old_name();
        let mut files: BTreeSet<&FilePath> = BTreeSet::new();
        for environment in &self.environments {
            let data = self.snapshot.keys().files();
            files.extend(data.filter(|path| environment.reaches_file(path)));
            files.extend(self.snapshot.manifests(environment).files().map(|file| &file.path));
        }
        let mut edited: HashMap<&FilePath, Vec<TextRange>> = HashMap::new();
        for one in &self.all {
            edited.entry(&one.path).or_default().push(one.range);
        }
        let mut places = Vec::new();
        for path in files {
            self.check_cancelled()?;
            let Some(text) = self.snapshot.file(path).and_then(|file| file.text()) else {
                continue;
            };
            let found = text.find_all(old);
            if found.is_empty() {
                continue; // as in most files
            }
            let (text, edited) = (text.to_str(), edited.get(path));
            for at in found {
                let range = TextRange::new(at, at + old.len() as u32);
                let is_edited =
                    edited.is_some_and(|all| all.iter().any(|one| one.contains_range(range)));
                if !is_edited && is_whole_word(&text, range) && is_comment(&text, at as usize) {
                    places.push(self.place_name(path, range));
                }
            }
        }
        places.dedup();
        Ok(places)
    }

    fn edit_occurrence(
        &self,
        one: &Occurrence,
        new: &str,
    ) -> Result<Option<TextEdit>, RenameError> {
        let file = self.snapshot.file(&one.path);
        let Some((file, text)) = file.and_then(|file| Some((file, file.text()?))) else {
            return Err(RenameError::Unreadable(self.file_name(&one.path)));
        };
        let written = text.slice(one.range);
        let edit = match one.role {
            Role::OptionsPattern => return Ok(None),
            Role::ComputedCall => return Err(self.computed_name(&one.path, one.range)),
            Role::Definition | Role::OptionsEntry => self.edit_of_key(file, text, one, new),
            Role::Token => (written == self.old_name()).then(|| TextEdit::new(one.range, new)),
            Role::Call => self.edit_of_call(text, one, new),
            Role::Parameter | Role::Attribute | Role::Variable | Role::Documentation => {
                let (old, new) = (last_part(self.old_name()), last_part(new));
                let range = within_quotes(&written, one.range);
                (text.slice(range) == old).then(|| TextEdit::new(range, new))
            }
        };
        edit.map(Some).ok_or_else(|| self.not_writable(&one.path, one.range))
    }

    /// A key that calls name without quotes gets them.
    fn edit_of_call(&self, text: &Text, one: &Occurrence, new: &str) -> Option<TextEdit> {
        if text.slice(one.range) != self.old_name() {
            return None;
        }
        let before = one.range.start.checked_sub(1)?;
        let before = text.slice(TextRange::new(before, one.range.start));
        let is_quoted = matches!(&*before, "'" | "\"" | "." | " ");
        let new = if is_quoted { Cow::from(new) } else { format!("'{new}'").into() };
        Some(TextEdit::new(one.range, new))
    }

    /// Returns the edit of a key in data; `None` for one that is written in another entry, with an
    /// anchor, or in a way that cannot take the name.
    fn edit_of_key(
        &self,
        file: &File,
        text: &Text,
        one: &Occurrence,
        new: &str,
    ) -> Option<TextEdit> {
        if self.is_misnamed(file)
            || !(self.is_plain_root(file, text, one) || self.is_own_key(file, one))
        {
            return None;
        }
        let written = text.slice(one.range);
        let within = within_quotes(&written, one.range);
        if within != one.range {
            return Some(TextEdit::new(within, new));
        }
        let is_plain = if file.format() == DataFormat::Hocon {
            name::is_plain_in_hocon(new)
        } else {
            name::is_plain(new)
        };
        if written == self.old_name() {
            let quote = if file.format() == DataFormat::Yaml { '\'' } else { '"' };
            let text = if is_plain { new.to_owned() } else { format!("{quote}{new}{quote}") };
            return Some(TextEdit::new(one.range, text));
        }
        let is_symbol = written.strip_prefix(':') == Some(self.old_name());
        (is_symbol && is_plain)
            .then(|| TextEdit::new(TextRange::new(one.range.start + 1, one.range.end), new))
    }

    /// Whether a level reads the file as HOCON though its name says otherwise, or HOCON in another
    /// format: then the tree of its text has other keys than its data.
    fn is_misnamed(&self, file: &File) -> bool {
        let mut environments = self.snapshot.environments().governing_environments(&file.path);
        let reader = environments.find_map(|environment| environment.data_reader(&file.path));
        reader.is_some_and(|reader| {
            (reader.format == DataFormat::Hocon) != (file.format() == DataFormat::Hocon)
        })
    }

    /// Whether a root key begins a line of an entry without merge keys, as most do: then the key's
    /// text is there, without an anchor, and no tree is needed.
    fn is_plain_root(&self, file: &File, text: &Text, one: &Occurrence) -> bool {
        let is_root = one.role == Role::Definition && self.part.subkeys.is_empty();
        if !is_root || file.format() != DataFormat::Yaml {
            return false;
        }
        let before = one.range.start.saturating_sub(1);
        let begins_line =
            one.range.start == 0 || text.slice(TextRange::new(before, before + 1)) == "\n";
        let data = file.data_as(DataFormat::Yaml);
        let placed = data.parts().placed_part(one.range.start, text.len());
        begins_line && placed.is_some_and(|(range, _)| !text.slice(range).contains("<<"))
    }

    /// Whether a key is a scalar at its own place in the tree of its file: not a merged one, and
    /// none that an alias may repeat.
    fn is_own_key(&self, file: &File, one: &Occurrence) -> bool {
        let Some(part) = file.part_at(one.range.start, self.snapshot.cancel_token()) else {
            return false;
        };
        let tree = &part.tree;
        let Some(located) = part.node_at(one.range.start) else { return false };
        let node = tree.node(located.node);
        let is_scalar = matches!(
            &node.kind,
            NodeKind::Scalar { style, .. }
                if !matches!(style, ScalarStyle::Literal | ScalarStyle::Folded)
        );
        located.on_key
            && is_scalar
            && node.anchor.is_none()
            && part.node_range(located.node) == one.range
            && keys_on(tree, &located.path).is_some_and(|keys| self.is_way(&keys, one.role))
    }

    /// Whether keys from the root lead to the one that is renamed.
    fn is_way(&self, keys: &[&str], role: Role) -> bool {
        let Some((root, rest)) = keys.split_first() else { return false };
        match role {
            Role::OptionsEntry => plain_key(root) == LOOKUP_OPTIONS && rest.len() == 1,
            _ => {
                let subkeys = self.part.subkeys.iter();
                plain_key(root) == *self.part.root
                    && rest.len() == self.part.subkeys.len()
                    && rest.iter().zip(subkeys).all(|(key, segment)| match segment {
                        KeySegment::Name(name) => plain_key(key) == **name,
                        KeySegment::Index(_) => true,
                    })
            }
        }
    }

    /// Returns the error of a place that cannot take the name.
    pub(super) fn not_writable(&self, path: &FilePath, range: TextRange) -> RenameError {
        RenameError::Written(self.place_name(path, range))
    }

    /// Returns the error of a place that computes a name.
    pub(super) fn computed_name(&self, path: &FilePath, range: TextRange) -> RenameError {
        RenameError::Computed(self.place_name(path, range))
    }

    /// Returns the path of a file, relative to the first environment of the rename.
    pub(super) fn file_name(&self, path: &FilePath) -> String {
        let root = self.environments.first().map(|environment| &environment.root);
        root.and_then(|root| path.relative_to(root)).unwrap_or(path.as_str()).to_owned()
    }

    /// Returns `path:line` of a place.
    pub(super) fn place_name(&self, path: &FilePath, range: TextRange) -> String {
        format!("{}:{}", self.file_name(path), self.line_number(path, range))
    }

    /// Returns the place where a file defines a root key; the file where the key has no place.
    pub(super) fn definition_place(&self, path: &FilePath, key: &str) -> String {
        let mut environments = self.environments.iter();
        let span = environments.find_map(|environment| {
            self.snapshot.view(environment).data_of(path)?.definition_span(key)
        });
        match span {
            Some(span) => self.place_name(path, self.snapshot.span_bytes(span)),
            None => self.file_name(path),
        }
    }

    /// Returns the line of a place, from 1.
    fn line_number(&self, path: &FilePath, range: TextRange) -> u32 {
        let text = self.snapshot.file(path).and_then(|file| file.text());
        text.map_or(1, |text| text.line_of(range.start) + 1)
    }
}

fn plain_key(key: &str) -> String {
    key.strip_prefix(':').unwrap_or(key).to_owned()
}

fn last_part(name: &str) -> &str {
    name.rsplit_once("::").map_or(name, |(_, short)| short)
}

/// Returns the keys on the way to a node; an element of a list is an empty one. `None` where a key
/// is no scalar, or where an alias lies between.
fn keys_on<'t>(tree: &'t Tree, path: &[PathStep]) -> Option<Vec<&'t str>> {
    let mut current = tree.root?;
    let mut keys = Vec::new();
    for step in path {
        match (step, &tree.node(current).kind) {
            (PathStep::Entry(n), NodeKind::Mapping { entries, .. }) => {
                let (key, value) = *entries.get(*n)?;
                keys.push(tree.scalar(key)?);
                current = value;
            }
            (PathStep::Item(n), NodeKind::Sequence { items, .. }) => {
                keys.push("");
                current = *items.get(*n)?;
            }
            _ => return None,
        }
    }
    Some(keys)
}
