//! Keys in data files, and the tokens that ask for them.

use super::{KeyPart, ReferenceSearch, Role};
use crate::hiera::data::TokenUse;
use crate::hiera::key::LookupKey;
use crate::ide::cursor::part_of;
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;

impl ReferenceSearch<'_> {
    /// Finds the places that define a part of a key: in the files that are asked for the key, each
    /// time that it is written.
    pub(super) fn find_definitions(&mut self, part: &KeyPart) -> Option<()> {
        let view = self.snapshot.view(self.environment);
        let key = LookupKey { subkeys: part.subkeys.clone(), ..LookupKey::of_root(&part.root) };
        let mut spans = Vec::new();
        for path in self.snapshot.keys().definitions(&part.root) {
            self.goes_on()?;
            if !self.is_searched(path)
                || self.environment.module_passing_over(path, &part.root).is_some()
            {
                continue;
            }
            let Some(data) = view.data_of(path) else { continue };
            let parts = data.parts_with(&part.root);
            let members = parts.flat_map(|entry| &entry.data.members);
            let members = members.filter(|(name, _)| name.as_str() == Some(&*part.root));
            spans.extend(members.filter_map(|(_, member)| {
                if key.subkeys.is_empty() {
                    member.key_origin
                } else {
                    part_of(&key, &member.value)?.0
                }
            }));
        }
        spans.into_iter().for_each(|span| self.add_span(Role::Definition, span));
        Some(())
    }

    /// Finds the tokens that ask for a part of a key, or for a part of that.
    pub(super) fn find_tokens(&mut self, part: &KeyPart) -> Option<()> {
        let view = self.snapshot.view(self.environment);
        for path in self.snapshot.keys().files_asking_for(&part.root) {
            self.goes_on()?;
            let Some(data) = view.data_of(path).filter(|_| self.is_searched(path)) else {
                continue;
            };
            for (token, key) in data.tokens().filter_map(|it| Some((it, it.reference.key()?))) {
                if key.is_within(&part.root, &part.subkeys) {
                    let range = segment_place(self.snapshot, path, token, key, part.subkeys.len());
                    self.add(Role::Token, path, range);
                }
            }
        }
        Some(())
    }

    /// Finds the members of the root of data files whose keys a test accepts.
    pub(super) fn definitions_of(&mut self, accepts: &dyn Fn(&str) -> bool) -> Option<()> {
        let keys = self.snapshot.keys().keys().filter(|key| accepts(key));
        for key in keys {
            self.find_definitions(&KeyPart::of_root(key))?;
        }
        Some(())
    }
}

/// Returns the bytes of a part of the key that a token asks for; of the whole name where it is
/// written with escapes.
pub(super) fn segment_place(
    snapshot: &Snapshot,
    path: &FilePath,
    token: &TokenUse,
    key: &LookupKey,
    number: usize,
) -> TextRange {
    let range = snapshot.span_bytes(token.name_span());
    segment_within(snapshot, path, range, key, number).unwrap_or(range)
}

/// Returns the bytes of a part of a key that is written in these bytes of a file; `None` where it
/// is written with escapes.
pub(in crate::ide) fn segment_within(
    snapshot: &Snapshot,
    path: &FilePath,
    range: TextRange,
    key: &LookupKey,
    number: usize,
) -> Option<TextRange> {
    let text = snapshot.file(path)?.text()?;
    if text.slice(range) != *key.text {
        return None;
    }
    key.segment_ranges().get(number).map(|segment| segment.offset_by(range.start))
}
