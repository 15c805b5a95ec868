//! Keys in code: calls that read them, class parameters that they are looked up for, and these as
//! variables.

use std::borrow::Cow;

use super::{KeyPart, Name, Named, ReferenceSearch, Role};
use crate::hiera::key::LookupKey;
use crate::manifest::model::{Definition, DefinitionKind, TextPattern, TextPiece};
use crate::manifest::{Language, VariableUse, find_variables};
use crate::text::{FilePath, FilePosition, Text, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::files::kinds::{CodeLanguage, code_language};
use crate::workspace::manifests::{CodeFile, ManifestIndex, ParameterAt};

impl ReferenceSearch<'_> {
    /// Finds the calls that read a part of a key, and the class parameter that a root key is looked
    /// up for, with its uses.
    pub(super) fn code_of(&mut self, part: &KeyPart) -> Option<()> {
        self.goes_on()?;
        let index = self.snapshot.manifests(self.environment);
        self.find_calls(index, part);
        if part.subkeys.is_empty()
            && let Some(parameter) = index.asking_parameter(&part.root)
        {
            self.find_parameter(index, parameter, &part.root)?;
        }
        Some(())
    }

    fn find_calls(&mut self, index: &ManifestIndex, part: &KeyPart) {
        for one in index.readers_of_key(&part.root) {
            for pattern in one.reader.keys.iter().flatten() {
                if let Some(role) = role_of(pattern, part) {
                    let text = code_text(self.snapshot, &one.file.path);
                    let range = place_in_call(&text, pattern, part).unwrap_or(pattern.range);
                    self.add(role, &one.file.path, range);
                }
            }
        }
        for one in index.pattern_readers(&part.root) {
            for pattern in one.reader.keys.iter().flatten() {
                self.add(Role::ComputedCall, &one.file.path, pattern.range);
            }
        }
    }

    fn find_parameter(
        &mut self,
        index: &ManifestIndex,
        found: ParameterAt<'_>,
        root: &str,
    ) -> Option<()> {
        let ParameterAt { file, class, parameter } = found;
        let name = TextRange::new(parameter.range.start + 1, parameter.range.end);
        self.add(Role::Parameter, &file.path, name);
        let documented = class.documentation.parameters.iter();
        documented
            .filter(|one| one.name == parameter.name)
            .for_each(|one| self.add(Role::Documentation, &file.path, one.range));
        for one in index.uses_of(&class.name) {
            let given = one.class_use.gives.iter().filter(|given| given.name == parameter.name);
            given.for_each(|given| self.add(Role::Attribute, &one.file.path, given.range));
        }
        if self.only.is_none_or(|only| *only == file.path) {
            let uses = variables_of(self.snapshot, &file.path).unwrap_or_default();
            for one in uses.iter().filter(|one| is_use(one, class, &parameter.name)) {
                self.add(Role::Variable, &file.path, one.range);
            }
        }
        for other in index.files() {
            self.goes_on()?;
            if self.only.is_some_and(|only| *only != other.path) {
                continue;
            }
            for one in qualified_uses(self.snapshot, other, root) {
                let start = one.range.end - u32::try_from(parameter.name.len()).unwrap_or_default();
                self.add(Role::Variable, &other.path, TextRange::new(start, one.range.end));
            }
        }
        Some(())
    }
}

/// Whether a variable is a parameter of a class, by its place and name. The header declares it.
pub(in crate::ide) fn is_use(one: &VariableUse, class: &Definition, parameter: &str) -> bool {
    let declared = class.find_parameter(parameter).map(|one| one.range.start + 1);
    one.name == parameter
        && class.range.contains_range(one.range)
        && declared != Some(one.range.start)
}

/// Returns the variables that a file of code names; `None` for Ruby, and for a text that is not
/// closed.
pub(in crate::ide) fn variables_of(
    snapshot: &Snapshot,
    path: &FilePath,
) -> Option<Vec<VariableUse>> {
    let language = match code_language(path)? {
        CodeLanguage::Puppet => Language::Manifest,
        CodeLanguage::Epp => Language::Epp,
        CodeLanguage::Ruby => return None,
    };
    find_variables(&code_text(snapshot, path), language)
}

/// Returns the variables of a file with this full name, such as `profile::web::port`.
fn qualified_uses(snapshot: &Snapshot, file: &CodeFile, name: &str) -> Vec<VariableUse> {
    if !code_text(snapshot, &file.path).contains(name) {
        return Vec::new();
    }
    let mut all = variables_of(snapshot, &file.path).unwrap_or_default();
    all.retain(|one| one.name == name);
    all
}

/// Returns the text of a file of code; empty for a file that is none.
pub(in crate::ide) fn code_text<'a>(snapshot: &'a Snapshot, path: &FilePath) -> Cow<'a, str> {
    let text = snapshot.file(path).and_then(|file| file.text());
    text.map(Text::to_str).unwrap_or_default()
}

/// Returns the part that the key of a call plays for a part of a key; `None` for another one.
fn role_of(pattern: &TextPattern, part: &KeyPart) -> Option<Role> {
    if let Some(literal) = pattern.literal_text() {
        let key = LookupKey::parse(literal).ok()?;
        return key.is_within(&part.root, &part.subkeys).then_some(Role::Call);
    }
    let Some(TextPiece::Text(text)) = pattern.pieces.first() else { return None };
    let names_root = text.split('.').next() == Some(&*part.root);
    let role = if part.subkeys.is_empty() { Role::Call } else { Role::ComputedCall };
    (names_root && text.contains('.')).then_some(role)
}

/// Returns the bytes of the last part of a key in the string that a call names it with; `None`
/// where the string does not read as it is written.
pub(in crate::ide) fn place_in_call(
    text: &str,
    pattern: &TextPattern,
    part: &KeyPart,
) -> Option<TextRange> {
    let written = text.get(pattern.range.as_usize())?;
    let quote = written.starts_with(['\'', '"']).then(|| &written[..1]);
    let inner = match quote {
        Some(quote) => written.strip_prefix(quote)?.strip_suffix(quote)?,
        None => written,
    };
    let start = pattern.range.start + u32::from(quote.is_some());
    if let Some(literal) = pattern.literal_text() {
        let key =
            LookupKey::parse(literal).ok().filter(|_| inner == literal && !pattern.resolved)?;
        let ranges = key.segment_ranges();
        return ranges.get(part.subkeys.len()).map(|range| range.offset_by(start));
    }
    let is_root = part.subkeys.is_empty() && inner.strip_prefix(&*part.root)?.starts_with('.');
    is_root.then(|| TextRange::new(start, start + part.root.len() as u32))
}

/// Returns the key that code names at a place, with its environments: in a call that reads it, or
/// as a class parameter.
pub(super) fn name_in_code(snapshot: &Snapshot, position: FilePosition) -> Option<Named> {
    let path = snapshot.path_of(position.file)?;
    code_language(path)?;
    let mut named: Option<Named> = None;
    for environment in &snapshot.environments().all {
        let index = snapshot.manifests(environment);
        let Some(file) = index.file(path) else { continue };
        match &mut named {
            Some(named) => named.environments.push(environment.clone()),
            None => {
                let (part, range) = key_in_code(snapshot, index, file, position.offset)?;
                let environments = vec![environment.clone()];
                named = Some(Named { environments, range, name: Name::Key(part) });
            }
        }
    }
    named
}

fn key_in_code(
    snapshot: &Snapshot,
    index: &ManifestIndex,
    file: &CodeFile,
    offset: u32,
) -> Option<(KeyPart, TextRange)> {
    key_of_call(snapshot, file, offset)
        .or_else(|| parameter_in_header(index, file, offset))
        .or_else(|| attribute_at(index, file, offset))
        .or_else(|| variable_at(snapshot, index, file, offset))
}

fn key_of_call(snapshot: &Snapshot, file: &CodeFile, offset: u32) -> Option<(KeyPart, TextRange)> {
    let patterns = file.manifest.readers.iter().flat_map(|one| one.keys.iter().flatten());
    let pattern = { patterns }.find(|pattern| pattern.range.touches_offset(offset))?;
    let key = LookupKey::parse(pattern.literal_text()?).ok()?;
    let text = code_text(snapshot, &file.path);
    let whole = KeyPart::of_root(&key.root_text());
    let start = place_in_call(&text, pattern, &whole)
        .and_then(|root| root.start.checked_sub(key.segment_ranges().first()?.start));
    let Some(start) = start else { return Some((whole, pattern.range)) };
    let (part, range) = KeyPart::up_to(&key, Some(offset.saturating_sub(start)));
    Some((part, range.offset_by(start)))
}

/// Returns the key of a parameter of a class, if it is the class that Puppet loads.
fn key_of(index: &ManifestIndex, class: &str, parameter: &str) -> Option<KeyPart> {
    let key = format!("{class}::{parameter}");
    index.asking_parameter(&key).map(|_| KeyPart::of_root(&key))
}

fn parameter_in_header(
    index: &ManifestIndex,
    file: &CodeFile,
    offset: u32,
) -> Option<(KeyPart, TextRange)> {
    let mut classes =
        file.manifest.definitions.iter().filter(|one| one.kind == DefinitionKind::Class);
    classes.find_map(|class| {
        let documented = class.documentation.parameters.iter().map(|one| (&one.name, one.range));
        let declared = class
            .parameters
            .iter()
            .map(|one| (&one.name, TextRange::new(one.range.start + 1, one.range.end)));
        let (name, range) =
            declared.chain(documented).find(|(_, range)| range.touches_offset(offset))?;
        Some((key_of(index, &class.name, name)?, range))
    })
}

fn attribute_at(
    index: &ManifestIndex,
    file: &CodeFile,
    offset: u32,
) -> Option<(KeyPart, TextRange)> {
    file.manifest.uses.iter().find_map(|one| {
        let given = one.gives.iter().find(|given| given.range.touches_offset(offset))?;
        let class = one.class.as_ref()?.literal_text()?;
        Some((key_of(index, class, &given.name)?, given.range))
    })
}

fn variable_at(
    snapshot: &Snapshot,
    index: &ManifestIndex,
    file: &CodeFile,
    offset: u32,
) -> Option<(KeyPart, TextRange)> {
    let one = variables_of(snapshot, &file.path)?
        .into_iter()
        .find(|one| one.range.touches_offset(offset) || one.range.start == offset + 1)?;
    if let Some((class, parameter)) = one.name.rsplit_once("::") {
        return Some((key_of(index, class, parameter)?, one.range));
    }
    let class = file.manifest.definitions.iter().rev().find(|class| {
        class.kind == DefinitionKind::Class && class.range.contains_range(one.range)
    })?;
    class.find_parameter(&one.name)?;
    Some((key_of(index, &class.name, &one.name)?, one.range))
}
