//! Asking one location for a root key: the file, its member, and all that Puppet refuses about
//! them.

use super::decryption::DecryptionSite;
use super::{Invocation, LOOKUP_OPTIONS, Resolver};
use crate::hiera::config::{Backend, BackendKind, DataReader, Layer, Level, Locations};
use crate::hiera::data::DataFormat;
use crate::hiera::data::{DataFile, FileRefusal, ProblemKind};
use crate::hiera::error::{LookupError, LookupErrorKind};
use crate::hiera::eyaml::has_encrypted_text;
use crate::hiera::hierarchy::located::CandidateFile;
use crate::hiera::hierarchy::located::{LevelTarget, LocatedLevel, Location, Undetermined};
use crate::hiera::resolution::{Outcome, Unevaluated, Unsettled};
use crate::puppet::Strict;
use crate::puppet::types;
use crate::puppet::value::{Member, Secrecy, Value};
use crate::text::FilePath;

impl Resolver<'_> {
    /// Returns the only indexed files that a lookup of a root key has to read; `None` for all.
    /// Puppet reads all of them, and fails for a broken one.
    pub(super) fn files_defining(&self, inv: &Invocation, root: &str) -> Option<&[FilePath]> {
        let sources = self.ctx.sources;
        // A backend may refuse an empty key.
        let can_fail = !self.ctx.tolerant && !self.ctx.are_files_accepted;
        let are_enough = !can_fail && !root.is_empty() && inv.trace.explainer.is_none();
        are_enough.then(|| sources.files_defining(root))
    }

    /// Looks a root key up at one location; indexed files that are not among those `defining` it,
    /// if these are known, have nothing.
    pub(super) fn ask_location(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        located: &LocatedLevel,
        location: &Location,
        root: &str,
        defining: Option<&[FilePath]>,
    ) -> Result<Outcome, LookupError> {
        self.check_cancelled()?;
        let level = &located.level;
        if !self.ctx.tolerant
            && !matches!(
                location.place,
                LevelTarget::File { exists: false, .. } | LevelTarget::NoMatch { .. }
            )
            && let Some(message) = level.call_error()
        {
            return Err(LookupError::crash(message));
        }
        // A backend of Hiera 3 is asked for each location, whether or not there is a file.
        let is_real = !matches!(location.place, LevelTarget::NoMatch { .. });
        if level.backend.kind == BackendKind::Hiera3 && is_real {
            return self.call_or_opaque(inv, layer, located, location, root);
        }
        let path = match &location.place {
            LevelTarget::File { path, exists: true } => path,
            LevelTarget::File { path, exists: false } => {
                let Some(message) = self.ctx.sources.unlisted_reason(path) else {
                    return Ok(Outcome::NoSuchFile);
                };
                let reason = Unevaluated::Unread(path.clone(), message.clone());
                if root == LOOKUP_OPTIONS {
                    self.record_unread_options(layer, located, &reason);
                }
                inv.trace.record_open_level(layer, located, root, reason);
                return Ok(Outcome::Unread { path: path.clone(), message });
            }
            LevelTarget::NoMatch { .. } => return Ok(Outcome::NoSuchFile),
            LevelTarget::Undetermined(undetermined) => {
                return Ok(self.ask_undetermined(inv, layer, located, undetermined, root));
            }
            LevelTarget::Uri(_) | LevelTarget::Nowhere => {
                return self.call_or_opaque(inv, layer, located, location, root);
            }
        };
        let Some(reader) = level.backend.data_reader() else {
            return self.call_or_opaque(inv, layer, located, location, root);
        };
        if root.is_empty() && reader.decrypts {
            let message =
                "'eyaml_lookup_key' parameter 'key' expects a String[1] value, got String";
            return Err(LookupError::crash(message.into()));
        }
        if location.is_indexed
            && defining.is_some_and(|defining| !is_among(defining, path))
            && !(inv.trace.has_causes() && self.ctx.sources.is_unread(path))
        {
            return Ok(Outcome::NoSuchKey(path.clone()));
        }
        let Some(data) = self.ctx.sources.file_data(path, reader) else {
            return if self.ctx.sources.is_folder(path) && !self.ctx.tolerant {
                Err(LookupError::crash(format!("Is a directory @ io_fread - {path}")))
            } else {
                Ok(Outcome::NoSuchFile)
            };
        };
        if let Some(refusal) = data.refusal().filter(|refusal| refusal.is_ours()) {
            let message = refusal.to_string();
            let reason = Unevaluated::Unread(path.clone(), message.clone());
            if root == LOOKUP_OPTIONS {
                self.record_unread_options(layer, located, &reason);
            }
            inv.trace.record_open_level(layer, located, root, reason);
            if !self.ctx.tolerant || data.get(root).is_none() {
                return Ok(Outcome::Unread { path: path.clone(), message });
            }
        }
        self.check_file(path, reader, &data)?;
        if !self.ctx.tolerant && data.is_no_hash() {
            return Ok(Outcome::NoSuchKey(path.clone()));
        }
        let Some(member) = self.find_member((path, &data), layer, level, root)? else {
            return Ok(Outcome::NoSuchKey(path.clone()));
        };
        let is_illegal = |value: &Value| !value.is_legal() && !self.ctx.tolerant;
        let illegal = |value: &Value| {
            // Puppet calls the functions of version 3 levels through other functions of its own.
            // Only the global layer has levels of version 3.
            let version =
                if *layer == Layer::Global && level.extension.is_some() { "v3_" } else { "" };
            let Backend { kind, name, .. } = &level.backend;
            let kind = LookupErrorKind::IllegalValue {
                key: root.to_owned(),
                location: Some(path.to_string()),
                function: format!("{version}{} function '{name}'", kind.key()),
                in_hash: *kind == BackendKind::DataHash,
                got: types::infer(value).to_string(),
            };
            Err(LookupError::new(kind, member.value.origin).mark_quoting(value))
        };
        // A data_hash function returns values with tokens, a lookup_key function replaces them
        // itself.
        if level.backend.kind == BackendKind::DataHash && is_illegal(&member.value) {
            return illegal(&member.value);
        }
        let value = if reader.decrypts {
            if self.ctx.decryptor.is_none() && inv.trace.records_openness(root) {
                note_encrypted(inv, layer, located, root, (path, &member.value));
            }
            let value = self.decrypt_value(&member.value, &DecryptionSite { level, path, root })?;
            inv.note_secrecy(value.secrecy_of_parts());
            value
        } else {
            member.value.clone()
        };
        let value = match level.backend.kind {
            BackendKind::LookupKey if inv.trace.explainer.is_some() => {
                self.interpolate_once(inv, location, root, &value)?
            }
            _ => self.interpolate(inv, &value)?,
        };
        if level.backend.kind == BackendKind::LookupKey && is_illegal(&value) {
            return illegal(&value);
        }
        Ok(Outcome::Found { path: path.clone(), key: member.key_origin, value })
    }

    /// Returns the outcome at a level of a backend that is not Puppet's own: its answer, where it
    /// may be called.
    fn call_or_opaque(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        located: &LocatedLevel,
        location: &Location,
        root: &str,
    ) -> Result<Outcome, LookupError> {
        let backend = &located.level.backend;
        let is_settled =
            || located.level.excludes_key(root) && !self.ctx.sources.has_function(&backend.name);
        match self.ctx.backends {
            Some(backends) if backends.may_call(&backend.name) && !is_settled() => {
                self.call_level(inv, backends, layer, located, location, root)
            }
            _ => Ok(self.opaque_outcome(inv, layer, located, root)),
        }
    }

    /// Returns the outcome at a level whose backend cannot be evaluated.
    pub(super) fn opaque_outcome(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        located: &LocatedLevel,
        root: &str,
    ) -> Outcome {
        let backend = &located.level.backend;
        if located.level.excludes_key(root) && !self.ctx.sources.has_function(&backend.name) {
            return Outcome::Excluded(backend.clone());
        }
        inv.trace.record_reads(|reads| reads.opaque.insert(backend.name.to_string()));
        inv.trace.record_open_level(layer, located, root, Unevaluated::Backend(backend.clone()));
        Outcome::Opaque(backend.clone())
    }

    /// Returns the outcome at a location that unknown variables decide. With an opaque backend,
    /// each existing file, and each place that is no file, may have the key.
    fn ask_undetermined(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        located: &LocatedLevel,
        undetermined: &Undetermined,
        root: &str,
    ) -> Outcome {
        let variables = undetermined.variables.clone();
        if !inv.trace.records_openness(root) {
            return Outcome::Undetermined { variables, candidates: Vec::new() };
        }
        let Some(reader) = located.level.backend.data_reader() else {
            let may_be_asked = undetermined.pattern.is_none()
                || !undetermined.candidate_files(self.ctx.sources).is_empty();
            if may_be_asked {
                self.opaque_outcome(inv, layer, located, root);
            }
            return Outcome::Undetermined { variables, candidates: Vec::new() };
        };
        let candidates = undetermined.candidates_with(root, self.ctx.sources);
        let candidates: Vec<Unsettled> = candidates
            .iter()
            .filter(|candidate| has_key_from(&located.level, &candidate.path, root))
            .filter_map(|candidate| self.find_unsettled(candidate, root, reader))
            .collect();
        if !candidates.is_empty() {
            let files = candidates.iter().map(|file| file.path.clone()).collect();
            let reason = Unevaluated::Undetermined { variables: variables.clone(), files };
            inv.trace.record_open_level(layer, located, root, reason);
        }
        inv.trace.record_open_files(&candidates);
        Outcome::Undetermined { variables, candidates }
    }

    /// Interpolates as a `lookup_key` function does. The function caches its answers, so the
    /// explanation shows an interpolation once.
    fn interpolate_once(
        &self,
        inv: &mut Invocation,
        location: &Location,
        root: &str,
        value: &Value,
    ) -> Result<Value, LookupError> {
        let question = (std::ptr::from_ref(location), root.into());
        let is_shown = inv.trace.answered.contains(&question);
        let hidden = if is_shown { inv.trace.explainer.take() } else { None };
        let interpolated = self.interpolate(inv, value);
        inv.trace.explainer = hidden.or(inv.trace.explainer.take());
        inv.trace.answered.insert(question);
        interpolated
    }

    pub(super) fn find_unsettled(
        &self,
        candidate: &CandidateFile,
        root: &str,
        reader: DataReader,
    ) -> Option<Unsettled> {
        let scope = self.ctx.scope;
        if scope.is_assumed_unread(&candidate.path) || !scope.may_have(&candidate.when) {
            return None;
        }
        let data = self.ctx.sources.file_data(&candidate.path, reader)?;
        let member = data.get(root)?;
        Some(Unsettled {
            key: root.into(),
            path: candidate.path.clone(),
            span: member.key_origin,
            when: candidate.when.clone(),
            literal_len: candidate.literal_len,
        })
    }

    /// Fails as Puppet does for a file that it cannot use, unless the lookup is for an editor.
    pub(super) fn check_file(
        &self,
        path: &FilePath,
        reader: DataReader,
        data: &DataFile,
    ) -> Result<(), LookupError> {
        if self.ctx.tolerant {
            return Ok(());
        }
        let error = |message: String| {
            Err(LookupError::new(LookupErrorKind::File { path: path.clone(), message }, None))
        };
        if let Some(refusal) = data.refusal() {
            let is_secret = refusal.may_quote_value()
                && data.has_key(|key| self.ctx.sources.may_be_sensitive(key));
            let refused = match refusal {
                FileRefusal::Cycle => Err(LookupError::crash(refusal.to_string())),
                _ if refusal.names_file() => error(format!("Unable to parse ({path}): {refusal}")),
                _ => error(format!("Unable to parse {refusal}")),
            };
            let marks = if is_secret { Secrecy::SENSITIVE } else { Secrecy::NONE };
            return refused.map_err(|error| error.into_secret(marks));
        }
        if !data.is_no_hash() {
            return Ok(());
        }
        for problem in data.problems_of_parts() {
            let ProblemKind::NotAHash { found, empty, .. } = &problem.kind else { continue };
            if reader.format == DataFormat::Json {
                return error(format!(
                    "Value returned from data_hash function 'json_data', when using location '{path}', has wrong type, expects a Hash value, got {found}"
                ));
            }
            if !empty && self.ctx.puppet.strict == Strict::Error {
                return error(format!("{path}: file does not contain a valid yaml hash"));
            }
        }
        Ok(())
    }

    /// Returns the root key's entry in a file, if it counts in the layer.
    pub(super) fn find_member<'d>(
        &self,
        (path, data): (&FilePath, &'d DataFile),
        layer: &Layer,
        level: &Level,
        root: &str,
    ) -> Result<Option<&'d Member>, LookupError> {
        if !has_key_from(level, path, root) {
            return Ok(None);
        }
        if let (Layer::Module(_), BackendKind::DataHash) = (layer, level.backend.kind) {
            if !self.ctx.tolerant
                && let Some(key) = data.keys().find(|key| key.as_str().is_none())
            {
                let class = key.to_value(None).class_name();
                return Err(LookupError::crash(format!(
                    "undefined method `start_with?' for {}:{class}",
                    key.to_text()
                )));
            }
            if !counts_in(layer, root) {
                return Ok(None);
            }
        }
        Ok(data.get(root))
    }
}

/// Returns whether a level looks into a file for a root key.
pub(super) fn has_key_from(level: &Level, path: &FilePath, root: &str) -> bool {
    match &level.locations {
        Locations::ByKey(part, _) => part.is_of_key(path, root),
        _ => true,
    }
}
/// Notes a value that hiera-eyaml would decrypt, in this file.
fn note_encrypted(
    inv: &mut Invocation,
    layer: &Layer,
    located: &LocatedLevel,
    root: &str,
    (path, value): (&FilePath, &Value),
) {
    if has_encrypted_text(value) {
        inv.trace.record_open_level(layer, located, root, Unevaluated::Encrypted(path.clone()));
    }
}

/// Returns whether a file is one of `files`, which are in order.
pub(super) fn is_among(files: &[FilePath], path: &FilePath) -> bool {
    const FEW: usize = 16;
    if files.len() <= FEW { files.contains(path) } else { files.binary_search(path).is_ok() }
}

/// Returns whether a root key counts in a layer's data hashes: in a module's only those of its own
/// namespace do. Source: semantics 2.3.
pub(super) fn counts_in(layer: &Layer, root: &str) -> bool {
    let Layer::Module(module) = layer else { return true };
    root == LOOKUP_OPTIONS
        || root.strip_prefix(&**module).is_some_and(|rest| rest.starts_with("::"))
}
