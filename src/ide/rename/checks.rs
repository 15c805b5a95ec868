//! Reasons to refuse the rename of a root key.

use super::{RenameError, Renaming, Role};
use crate::hiera::config::Layer;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::TextRange;
use crate::workspace::environments::Environment;
use crate::workspace::files::kinds::code_language;
use crate::workspace::index::{KeyIndex, OptionsPlace};
use crate::workspace::manifests::{ModuleOrigin, split_key};

impl Renaming<'_> {
    /// Checks that the changed files are the user's own, and can be edited.
    pub(super) fn check_files(&self) -> Result<(), RenameError> {
        for one in self.all.iter().filter(|one| one.role != Role::OptionsPattern) {
            self.check_cancelled()?;
            let owner = self.environments.iter();
            if owner.clone().any(|it| self.snapshot.is_third_party(it, &one.path)) {
                let place = self.place_name(&one.path, one.range);
                return Err(RenameError::ThirdParty(place));
            }
            if !self.snapshot.may_change(&one.path) {
                return Err(RenameError::Outside(self.file_name(&one.path)));
            }
            let data = self.snapshot.file(&one.path).filter(|_| code_language(&one.path).is_none());
            let is_sealed = data.is_some_and(|file| {
                let data = file.data_as(file.format());
                data.get("sops").is_some_and(|sops| sops.value.get("mac").is_some())
            });
            if is_sealed {
                return Err(RenameError::Sealed(self.place_name(&one.path, one.range)));
            }
        }
        Ok(())
    }

    /// Checks that all code that may read the key is known.
    pub(super) fn check_code(&self, environment: &Environment) -> Result<(), RenameError> {
        let index = self.snapshot.manifests(environment);
        let root = &*self.part.root;
        if let Some(one) = index.pattern_readers(root).next() {
            return Err(self.computed_name(&one.file.path, one.reader.range));
        }
        if let Some(one) = index
            .dynamic_readers()
            .find(|one| !self.snapshot.is_third_party(environment, &one.file.path))
        {
            return Err(self.computed_name(&one.file.path, one.reader.range));
        }
        self.check_module(environment, root)?;
        if root.contains("::") { self.check_mentions(environment) } else { Ok(()) }
    }

    /// Checks that the module of a key is here, if a class of it may have the key as a parameter.
    fn check_module(&self, environment: &Environment, key: &str) -> Result<(), RenameError> {
        let index = self.snapshot.manifests(environment);
        let module = split_key(key).and_then(|(class, _)| class.split("::").next());
        let Some(module) = module else { return Ok(()) };
        let is_absent = match index.module_origin(module) {
            ModuleOrigin::Present => false,
            ModuleOrigin::Installed => true,
            ModuleOrigin::Unknown => !index.has_puppetfile(),
        };
        if is_absent {
            return Err(RenameError::AbsentModule(module.to_owned()));
        }
        let is_present = index.module_origin(module) == ModuleOrigin::Present;
        if is_present && !index.is_module_read(module) {
            Err(RenameError::UnreadModule(module.to_owned()))
        } else {
            Ok(())
        }
    }

    /// Each place of code that holds the full name must be one that was understood, or a comment.
    fn check_mentions(&self, environment: &Environment) -> Result<(), RenameError> {
        let root = &*self.part.root;
        for file in self.snapshot.manifests(environment).files() {
            self.check_cancelled()?;
            let text = self.code_text(&file.path);
            for (at, _) in text.match_indices(root) {
                let range = TextRange::from_usize(at..at + root.len());
                let mut known = self.all.iter().filter(|one| one.path == file.path);
                if !is_whole_word(&text, range)
                    || known.any(|one| one.range.start < range.end && range.start < one.range.end)
                    || is_comment(&text, at)
                {
                    continue;
                }
                return Err(self.computed_name(&file.path, range));
            }
        }
        Ok(())
    }

    /// Files that cannot be read may hold the key, and so may those that Puppet refuses, where
    /// their text has it.
    pub(super) fn check_data_is_read(&self, environment: &Environment) -> Result<(), RenameError> {
        let view = self.snapshot.view(environment);
        for path in self.snapshot.keys().files().filter(|path| environment.reaches_file(path)) {
            self.check_cancelled()?;
            let Some(data) = view.data_of(path) else { continue };
            if data.refusal().is_none() {
                continue;
            }
            let text = self.snapshot.file(path).and_then(|file| file.text());
            if text.is_none_or(|text| text.to_str().contains(self.old_name())) {
                return Err(RenameError::Unreadable(self.file_name(path)));
            }
        }
        Ok(())
    }

    /// Checks that the same entries of `lookup_options` apply to both names.
    pub(super) fn check_options(&self, new: &str) -> Result<(), RenameError> {
        let index = self.snapshot.keys();
        let (old, later) = (pattern_entries(&self.part.root, index), pattern_entries(new, index));
        let other = old.iter().find(|one| !later.contains(one));
        if let Some(entry) = other.or_else(|| later.iter().find(|one| !old.contains(one))) {
            return Err(RenameError::Options(entry.key.to_string()));
        }
        let mut literal = index.options_of(new).filter(|entry| !entry.is_pattern);
        let used = literal.find_map(|it| Some((self.snapshot.path_of(it.span.file)?, it.span)));
        if let Some((path, span)) = used {
            let place = self.place_name(path, self.snapshot.span_bytes(span));
            return Err(RenameError::Taken(new.to_owned(), place));
        }
        match index.open_options() {
            Some(path) => Err(RenameError::OpenOptions(self.file_name(path))),
            None => Ok(()),
        }
    }

    /// Checks that nothing defines or reads the new name.
    pub(super) fn check_is_free(
        &self,
        environment: &Environment,
        new: &str,
    ) -> Result<(), RenameError> {
        let (keys, index) = (self.snapshot.keys(), self.snapshot.manifests(environment));
        let mut defined =
            keys.definitions(new).iter().filter(|path| environment.reaches_file(path));
        if let Some(path) = defined.next() {
            return taken_error(self.definition_place(path, new), new);
        }
        let asking = keys.asked_by(new).iter();
        let asking = asking.filter_map(|key| Some((keys.definitions(key).first()?, key)));
        if let Some((path, key)) = { asking }.next() {
            return taken_error(self.definition_place(path, key), new);
        }
        if let Some(one) = index.readers_of_key(new).next() {
            return taken_error(self.place_name(&one.file.path, one.reader.range), new);
        }
        if let Some(one) = index.asking_parameter(new) {
            return taken_error(self.place_name(&one.file.path, one.parameter.range), new);
        }
        match index.pattern_readers(new).next() {
            Some(one) => Err(self.computed_name(&one.file.path, one.reader.range)),
            None => self.check_module(environment, new),
        }
    }

    /// Checks that the same levels read both names.
    pub(super) fn check_levels(
        &self,
        environment: &Environment,
        new: &str,
    ) -> Result<(), RenameError> {
        let root = &*self.part.root;
        let mut levels = environment.all_configs().flat_map(|(_, config)| config.levels());
        if let Some(level) =
            levels.find(|level| level.excludes_key(root) != level.excludes_key(new))
        {
            return Err(RenameError::Level(level.name.to_string()));
        }
        let module = |key: &str| key.split_once("::").map(|(module, _)| module.to_owned());
        if module(root) == module(new) {
            return Ok(());
        }
        let data = self.all.iter().filter(|one| {
            matches!(one.role, Role::Definition | Role::OptionsEntry)
                && &*self.part.root != LOOKUP_OPTIONS
        });
        for one in data {
            if let Some(Layer::Module(module)) = environment.layer_of(&one.path) {
                return Err(RenameError::Module(module.to_string()));
            }
        }
        Ok(())
    }
}

fn taken_error(place: String, new: &str) -> Result<(), RenameError> {
    Err(RenameError::Taken(new.to_owned(), place))
}

fn pattern_entries(key: &str, index: &KeyIndex) -> Vec<OptionsPlace> {
    let all = index.options_of(key).filter(|entry| entry.is_pattern);
    all.cloned().collect::<Vec<_>>()
}

/// Whether a range of code is a whole name: neither a part of a longer one, nor one that it begins.
pub(super) fn is_whole_word(text: &str, range: TextRange) -> bool {
    let range = range.as_usize();
    let before = &text[..range.start];
    let before = before.strip_suffix("::").map_or(before, |outer| {
        // `::a::b` is the same name, `x::a::b` is another one.
        if outer.ends_with(is_word_char) { "x" } else { outer }
    });
    let after = &text[range.end..];
    let goes_on = after.strip_prefix("::").is_some_and(|rest| rest.starts_with(is_word_char));
    !before.ends_with(is_word_char) && !after.starts_with(is_word_char) && !goes_on
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a byte of a text lies behind a `#` of its line.
pub(super) fn is_comment(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..at].trim_start();
    line.starts_with('#') || line.contains(" # ")
}
