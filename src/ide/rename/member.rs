//! Reasons to refuse the rename of a member of a key's value: all of its uses must be tokens.

use super::{RenameError, Renaming};
use crate::diagnostics::carries_anchor;
use crate::hiera::key::{KeySegment, LookupKey};
use crate::ide::cursor::part_of;
use crate::puppet::value::{Data, Member, Value};
use crate::text::FilePath;
use crate::workspace::environments::Environment;

impl Renaming<'_> {
    pub(super) fn check_member(&self) -> Result<(), RenameError> {
        for environment in &self.environments {
            self.check_readers(environment)?;
            for (path, member) in self.root_members(environment) {
                if carries_anchor(self.snapshot, &member) {
                    return Err(RenameError::Member("an anchor shares a part of the value"));
                }
                if !is_open_to(&member.value, &self.part.subkeys) {
                    let place = member.key_origin.map(|span| self.snapshot.span_bytes(span));
                    let place = self.place_name(&path, place.unwrap_or_default());
                    return Err(RenameError::Whole(place));
                }
            }
        }
        Ok(())
    }

    /// Checks that no other member has the name in any file.
    pub(super) fn check_new_member(&self, new: &str) -> Result<(), RenameError> {
        let mut subkeys = self.part.subkeys.clone();
        subkeys.pop();
        subkeys.push(KeySegment::Name(new.into()));
        let key = LookupKey { subkeys, ..LookupKey::of_root(&self.part.root) };
        for environment in &self.environments {
            for (path, member) in self.root_members(environment) {
                if let Some((place, _)) = part_of(&key, &member.value) {
                    let range = place.map(|span| self.snapshot.span_bytes(span));
                    let place = self.place_name(&path, range.unwrap_or_default());
                    return Err(RenameError::Taken(new.to_owned(), place));
                }
            }
            for path in self.snapshot.keys().files_asking_for(&self.part.root) {
                let Some(data) = self.snapshot.view(environment).data_of(path) else { continue };
                let mut tokens = data.tokens();
                let asking = tokens.find(|one| {
                    let asked = one.reference.key();
                    asked.is_some_and(|asked| asked.is_within(&self.part.root, &key.subkeys))
                });
                if let Some(token) = asking {
                    let place = self.place_name(path, self.snapshot.span_bytes(token.name_span()));
                    return Err(RenameError::Taken(new.to_owned(), place));
                }
            }
        }
        Ok(())
    }

    /// Code must not read the value, and no token may ask for a hash around the member.
    fn check_readers(&self, environment: &Environment) -> Result<(), RenameError> {
        let index = self.snapshot.manifests(environment);
        let root = &*self.part.root;
        if !index.has_code() {
            return Err(RenameError::Member("there is no code in the workspace"));
        }
        if index.asking_parameter(root).is_some() || index.readers_of_key(root).next().is_some() {
            return Err(RenameError::Member("code reads the value, and may use its members"));
        }
        let view = self.snapshot.view(environment);
        for path in self.snapshot.keys().files_asking_for(root) {
            self.check_cancelled()?;
            let Some(data) = view.data_of(path) else { continue };
            for token in data.tokens() {
                let Some(key) = token.reference.key().filter(|key| *key.root_text() == *root)
                else {
                    continue;
                };
                let is_around = key.subkeys.len() < self.part.subkeys.len()
                    && self.part.subkeys.starts_with(&key.subkeys);
                if is_around {
                    let range = self.snapshot.span_bytes(token.name_span());
                    return Err(RenameError::Whole(self.place_name(path, range)));
                }
            }
        }
        Ok(())
    }

    /// Returns the members of the root of all files that define the key.
    fn root_members(&self, environment: &Environment) -> Vec<(FilePath, Member)> {
        let view = self.snapshot.view(environment);
        let files = self.snapshot.keys().definitions(&self.part.root).iter();
        let reached = files.filter(|path| environment.reaches_file(path));
        reached
            .filter_map(|path| {
                let data = view.data_of(path)?;
                Some((path.clone(), data.get(&self.part.root)?.clone()))
            })
            .collect()
    }
}

/// Whether the hashes on the path to a member are literal, down to the first that is missing: a
/// token may insert any other hash.
fn is_open_to(value: &Value, subkeys: &[KeySegment]) -> bool {
    match (value.data(), subkeys) {
        (_, []) => true,
        (Data::Hash(hash), [first, rest @ ..]) => {
            let member = match first {
                KeySegment::Name(name) => hash.get(&**name),
                KeySegment::Index(index) => hash.get(index),
            };
            let has_tokens = hash.keys().any(|key| key.to_text().contains("%{"));
            !has_tokens && member.is_none_or(|member| is_open_to(&member.value, rest))
        }
        (Data::String(text), _) => !text.contains("%{"),
        _ => true,
    }
}
