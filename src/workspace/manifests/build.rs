//! Computes the index of the code of an environment from a snapshot.

use std::sync::Arc;

use super::files::{CodePlace, code_files, find_modules};
use super::index::{CodeFile, ManifestIndex};
use super::lazy::LazyManifests;
use crate::manifest::parse_puppetfile;
use crate::text::{FilePath, Text};
use crate::workspace::environments::Environment;
use crate::workspace::files::kinds::{is_below_installed, may_be_installed};
use crate::workspace::files::parallel::on_all_cores;
use crate::workspace::lazy_index::Changed;
use crate::workspace::snapshot::Snapshot;

impl Snapshot {
    /// Returns the index of the manifests, templates and Ruby code of an environment. The first
    /// call parses them.
    pub fn manifests(&self, environment: &Environment) -> &ManifestIndex {
        self.manifests.get(self, environment)
    }

    /// Whether a file is part of a module that a tool installed: a Puppetfile names it, or it lies
    /// below `vendor` and the like.
    pub fn is_third_party(&self, environment: &Environment, path: &FilePath) -> bool {
        if path.relative_to(&environment.root).is_some_and(is_below_installed) {
            return true;
        }
        self.complete
            && installable_module(environment, path)
                .is_some_and(|name| self.manifests(environment).is_installed(name))
    }

    /// Whether [`is_third_party`](Snapshot::is_third_party) may be true of a file, as far as its
    /// path tells: a Puppetfile, which is part of the index of code, may name its module.
    pub fn may_be_third_party(&self, environment: &Environment, path: &FilePath) -> bool {
        path.relative_to(&environment.root).is_some_and(is_below_installed)
            || installable_module(environment, path).is_some()
    }

    /// Returns the index of the code of an environment, if it was computed before.
    pub fn known_manifests(&self, environment: &Environment) -> Option<&ManifestIndex> {
        self.manifests.finished_index(&environment.root)
    }
}

/// Returns the name of the module with a file, if a tool may have installed the module.
fn installable_module<'a>(environment: &'a Environment, path: &FilePath) -> Option<&'a str> {
    let mut modules = environment.modules.iter();
    let (name, module) = modules.find(|(_, module)| path.is_within(&module.root))?;
    may_be_installed(&module.root).then_some(name)
}

impl LazyManifests {
    /// Returns the index of an environment of the snapshot that the indexes belong to.
    fn get(&self, snapshot: &Snapshot, environment: &Environment) -> &ManifestIndex {
        let Some(index) = self.indexes.get(&environment.root) else { return &self.nothing };
        index.get_or_compute(|nearest| match nearest {
            Some((before, Changed::Files(paths))) => patch_files(&before, snapshot, &paths),
            Some((before, Changed::Layout)) => self.laid_out(snapshot, environment, Some(&before)),
            None => self.laid_out(snapshot, environment, None),
        })
    }

    fn laid_out(
        &self,
        snapshot: &Snapshot,
        environment: &Environment,
        before: Option<&ManifestIndex>,
    ) -> ManifestIndex {
        let environments = &snapshot.environments;
        let all = self.modules.get_or_init(|| find_modules(environments, &snapshot.names));
        let number = environments.all.iter().position(|one| one.root == environment.root);
        let modules = number.and_then(|number| all.get(number)).cloned().unwrap_or_default();
        let files = code_files(environment, &modules, &snapshot.names);
        let read = on_all_cores(&files, |(path, place)| code_file(snapshot, path, place));
        let files: Vec<CodeFile> = read.into_iter().flatten().collect();
        match before {
            Some(before) => before.with_files(modules, files),
            None => ManifestIndex::new(modules, files),
        }
    }
}

/// Returns the index after the texts of these files changed.
fn patch_files(
    before: &ManifestIndex,
    snapshot: &Snapshot,
    paths: &imbl::OrdSet<FilePath>,
) -> ManifestIndex {
    let mut index = before.clone();
    for path in paths {
        let Some(known) = before.files.get(path) else { continue };
        index.replace_file(path, code_file(snapshot, path, &known.place));
    }
    index
}

fn code_file(snapshot: &Snapshot, path: &FilePath, place: &CodePlace) -> Option<CodeFile> {
    let file = snapshot.files.get(path)?;
    let installs: Vec<Arc<str>> = if *place == CodePlace::Puppetfile {
        let text = file.text().map(Text::to_str).unwrap_or_default();
        parse_puppetfile(&text).into_iter().map(|module| module.name.into()).collect()
    } else {
        Vec::new()
    };
    let manifest = file.manifest(place.module_name());
    let (path, place) = (path.clone(), place.clone());
    Some(CodeFile { id: file.id, path, place, manifest, installs: installs.into() })
}
