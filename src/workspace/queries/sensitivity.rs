//! The keys whose values may be Sensitive. Text that hiera-ls prints without the user's request
//! (excerpts, completions, hints, titles, logs) must not quote their values.

use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::manifest::model::Parameter;
use crate::puppet::types;
use crate::workspace::manifests::ManifestIndex;
use crate::workspace::snapshot::Snapshot;

impl Snapshot {
    /// Returns whether values of a root key may be Sensitive: by `convert_to` in `lookup_options` of
    /// any file, by the type of a parameter that takes the key, or by the type that a call asks for.
    ///
    /// A type whose alias is not here counts as Sensitive, except for those of the module stdlib
    /// ([`types::may_be_sensitive`]), as does a parameter whose default names `Sensitive`: a secret that is shown cannot be taken back. All environments count,
    /// whichever reads the key.
    pub fn may_be_sensitive(&self, root: &str) -> bool {
        if root == LOOKUP_OPTIONS {
            return false;
        }
        self.keys().may_be_sensitive(root)
            || self
                .environments()
                .all
                .iter()
                .any(|environment| self.manifests(environment).takes_as_sensitive(root))
    }
}

impl ManifestIndex {
    /// Returns whether code takes a root key as a Sensitive value. Each class of a name counts, also
    /// one that Puppet would not load: the author's intent is the same.
    pub fn takes_as_sensitive(&self, root: &str) -> bool {
        let by_parameter = root.rsplit_once("::").is_some_and(|(class, name)| {
            self.definitions(class)
                .filter_map(|one| one.definition.find_parameter(name))
                .any(|parameter| self.is_sensitive_parameter(parameter))
        });
        by_parameter || self.is_read_as_sensitive(root) || self.may_lack_parameter(root)
    }

    /// Returns whether Puppet looks for the class of a root key in a file that does not parse and
    /// names `Sensitive`: the declaration of the parameter may be missing or wrong.
    fn may_lack_parameter(&self, root: &str) -> bool {
        let Some((class, _)) = root.rsplit_once("::") else { return false };
        let mut files = self.lacking.iter().filter_map(|path| self.file(path));
        files.any(|file| file.place.autoload_rank(class).is_some())
    }

    /// Returns whether the values of a parameter may be Sensitive, by its type or its default.
    pub fn is_sensitive_parameter(&self, parameter: &Parameter) -> bool {
        let data_type = parameter.data_type.as_ref();
        let default = parameter.default.as_ref();
        data_type.is_some_and(|written| self.is_sensitive_type(&written.text))
            || default.is_some_and(|written| written.text.contains("Sensitive"))
    }

    /// Returns whether a call that reads a root key asks for a Sensitive value, is wrapped in
    /// `Sensitive`, or is the default of a parameter that may be Sensitive.
    fn is_read_as_sensitive(&self, root: &str) -> bool {
        self.readers_of_key(root).any(|one| {
            let value_type = one.reader.value_type.as_ref();
            one.reader.is_wrapped
                || value_type.is_some_and(|written| self.is_sensitive_type(&written.text))
                || one
                    .file
                    .manifest
                    .parameter_of(one.reader)
                    .is_some_and(|(_, parameter)| self.is_sensitive_parameter(parameter))
        })
    }

    /// Returns whether a type as written, with its aliases, may be one of Sensitive values.
    fn is_sensitive_type(&self, text: &str) -> bool {
        self.judged_type(text)
            .map_or_else(|| types::may_be_sensitive(text), |known| known.holds_sensitive())
    }
}
