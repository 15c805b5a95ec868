//! Variables of scopes: the tokens that name them, in data and in the locations of levels.

use super::data::segment_place;
use super::{KeyPart, ReferenceSearch, Role};
use crate::hiera::KeySegment;
use crate::hiera::config::Template;
use crate::hiera::data::Reference;
use crate::hiera::interpolation::{TokenKind, parse_tokens};
use crate::hiera::key::LookupKey;
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;

impl ReferenceSearch<'_> {
    /// Finds the tokens that name a variable, or a part of it.
    pub(super) fn find_variable(&mut self, variable: &KeyPart) -> Option<()> {
        let root = plain_name(&variable.root);
        let view = self.snapshot.view(self.environment);
        for path in self.snapshot.keys().files() {
            self.goes_on()?;
            let Some(data) = self.is_searched(path).then(|| view.data_of(path)).flatten() else {
                continue;
            };
            for token in data.tokens() {
                if let Reference::Variable(key) = &token.reference
                    && names_variable(key, root, &variable.subkeys)
                {
                    let number = variable.subkeys.len();
                    let range = segment_place(self.snapshot, path, token, key, number);
                    self.add(Role::Token, path, range);
                }
            }
        }
        self.variable_in_locations(variable, &|key| names_variable(key, root, &variable.subkeys));
        Some(())
    }

    fn variable_in_locations(&mut self, variable: &KeyPart, names: &dyn Fn(&LookupKey) -> bool) {
        let configs = self.environment.all_configs().map(|(_, config)| config);
        let levels = configs.flat_map(|config| config.levels());
        let mut found = Vec::new();
        for template in levels.flat_map(|level| level.locations.templates()) {
            for (path, key, range) in variables_of(self.snapshot, template) {
                let segment = key.segment_ranges().get(variable.subkeys.len()).copied();
                let range = segment.map_or(range, |segment| segment.offset_by(range.start));
                found.extend(names(&key).then_some((path, range)));
            }
        }
        found.into_iter().for_each(|(path, range)| self.add(Role::Token, &path, range));
    }
}

fn names_variable(key: &LookupKey, root: &str, subkeys: &[KeySegment]) -> bool {
    plain_name(&key.root_text()) == root && key.subkeys.starts_with(subkeys)
}

/// `%{::x}` and `%{x}` are the same variable.
fn plain_name(name: &str) -> &str {
    name.strip_prefix("::").unwrap_or(name)
}

/// Returns the variable that a location names at a byte of its file.
pub(super) fn variable_at(
    snapshot: &Snapshot,
    template: &Template,
    offset: u32,
) -> Option<(LookupKey, TextRange)> {
    let mut all = variables_of(snapshot, template).into_iter();
    all.find(|(_, _, range)| range.touches_offset(offset)).map(|(_, key, range)| (key, range))
}

/// Returns the variables that a location names, if it is written as it reads.
fn variables_of(snapshot: &Snapshot, template: &Template) -> Vec<(FilePath, LookupKey, TextRange)> {
    let Some((path, start)) = template.span.and_then(|span| {
        let path = snapshot.path_of(span.file)?;
        let range = snapshot.span_bytes(span);
        let written = snapshot.file(path)?.text()?.slice(range).into_owned();
        let start = range.start + u32::try_from(written.find(&*template.text)?).ok()?;
        Some((path.clone(), start))
    }) else {
        return Vec::new();
    };
    parse_tokens(&template.text)
        .into_iter()
        .filter_map(|token| match token.kind {
            TokenKind::Variable { key, range } => Some((path.clone(), key, range.offset_by(start))),
            _ => None,
        })
        .collect()
}
