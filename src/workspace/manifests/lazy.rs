//! The indexes of a snapshot. Each is computed on first use: from an index before it, if there is
//! one.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::files::{CodeModules, CodePlace, code_files, modules};
use super::index::{CodeFile, ManifestIndex};
use crate::manifest::parse_puppetfile;
use crate::text::{FilePath, Text};
use crate::workspace::environments::{Environment, Environments};
use crate::workspace::kinds::{code_language, is_puppetfile};
use crate::workspace::parallel::on_all_cores;
use crate::workspace::snapshot::Snapshot;

/// The indexes of the environments of one snapshot.
#[derive(Debug, Default)]
pub(in crate::workspace) struct LazyManifests {
    /// By the folder of the environment.
    indexes: HashMap<FilePath, LazyIndex>,
    /// The modules of each environment; the same as long as the names and environments.
    modules: Arc<OnceLock<Vec<CodeModules>>>,
    nothing: ManifestIndex,
}

#[derive(Debug, Default)]
struct LazyIndex {
    done: OnceLock<ManifestIndex>,
    /// The last index that was computed when this was made, and the changes since.
    before: Option<(ManifestIndex, Changed)>,
}

/// The changes since an index was made.
#[derive(Clone, Debug)]
enum Changed {
    /// The texts of these files.
    Files(imbl::OrdSet<FilePath>),
    /// The set of files, or the environments that they belong to.
    Layout,
}

impl Changed {
    fn then(&self, later: &Changed) -> Changed {
        match (self, later) {
            (Changed::Files(earlier), Changed::Files(later)) => {
                Changed::Files(earlier.clone().union(later.clone()))
            }
            _ => Changed::Layout,
        }
    }
}

impl LazyIndex {
    fn after(&self, changed: &Changed) -> LazyIndex {
        let before = match (self.done.get(), &self.before) {
            (Some(done), _) => Some((done.clone(), changed.clone())),
            (None, Some((before, earlier))) => Some((before.clone(), earlier.then(changed))),
            (None, None) => None,
        };
        LazyIndex { done: OnceLock::new(), before }
    }
}

impl LazyManifests {
    /// Returns the indexes after these files changed.
    pub(in crate::workspace) fn after(
        before: &Arc<LazyManifests>,
        paths: &[FilePath],
    ) -> Arc<LazyManifests> {
        let is_code = |path: &&FilePath| code_language(path).is_some() || is_puppetfile(path);
        let code: imbl::OrdSet<FilePath> = paths.iter().filter(is_code).cloned().collect();
        if code.is_empty() {
            return before.clone();
        }
        let changed = Changed::Files(code);
        let indexes = before.indexes.iter();
        let indexes = indexes.map(|(root, index)| (root.clone(), index.after(&changed))).collect();
        let modules = before.modules.clone();
        Arc::new(LazyManifests { indexes, modules, nothing: ManifestIndex::default() })
    }

    /// Returns the indexes where other files may be there, or belong to other environments.
    pub(in crate::workspace) fn after_layout(
        before: &LazyManifests,
        environments: &Environments,
    ) -> Arc<LazyManifests> {
        let index = |environment: &Arc<Environment>| {
            let known = before.indexes.get(&environment.root);
            let index = known.map(|known| known.after(&Changed::Layout)).unwrap_or_default();
            (environment.root.clone(), index)
        };
        let indexes = environments.all.iter().map(index).collect();
        Arc::new(LazyManifests { indexes, ..LazyManifests::default() })
    }

    /// Returns the index of an environment of the snapshot that this belongs to.
    pub(in crate::workspace) fn get(
        &self,
        snapshot: &Snapshot,
        environment: &Environment,
    ) -> &ManifestIndex {
        let Some(index) = self.indexes.get(&environment.root) else { return &self.nothing };
        index.done.get_or_init(|| match &index.before {
            Some((before, Changed::Files(paths))) => patched(before, snapshot, paths),
            Some((before, Changed::Layout)) => self.laid_out(snapshot, environment, Some(before)),
            None => self.laid_out(snapshot, environment, None),
        })
    }

    /// Returns the index that was already made.
    pub(in crate::workspace) fn done(&self, root: &FilePath) -> Option<&ManifestIndex> {
        self.indexes.get(root)?.done.get()
    }

    fn laid_out(
        &self,
        snapshot: &Snapshot,
        environment: &Environment,
        before: Option<&ManifestIndex>,
    ) -> ManifestIndex {
        let environments = &snapshot.environments;
        let all = self.modules.get_or_init(|| modules(environments, &snapshot.names));
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
fn patched(
    before: &ManifestIndex,
    snapshot: &Snapshot,
    paths: &imbl::OrdSet<FilePath>,
) -> ManifestIndex {
    let mut index = before.clone();
    for path in paths {
        let Some(known) = before.files.get(path) else { continue };
        index.replace(path, code_file(snapshot, path, &known.place));
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
    let manifest = file.manifest(place.module());
    let (path, place) = (path.clone(), place.clone());
    Some(CodeFile { id: file.id, path, place, manifest, installs: installs.into() })
}
