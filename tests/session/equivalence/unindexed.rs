//! Files as lookups see them that do not trust the index: they look into every file, and locate
//! levels anew.

use std::sync::Arc;

use hiera_ls::hiera::config::DataReader;
use hiera_ls::hiera::data::DataFile;
use hiera_ls::hiera::hierarchy::located::SharedCandidates;
use hiera_ls::hiera::key::LookupKey;
use hiera_ls::hiera::lookup::{Context, Resolver};
use hiera_ls::hiera::lookup_options::SharedOptions;
use hiera_ls::hiera::scope::Scope;
use hiera_ls::hiera::sources::{LevelLocations, LevelQuery, ModuleLayer, Sources};
use hiera_ls::text::FilePath;
use hiera_ls::workspace::{EnvironmentView, Snapshot};

struct Unindexed<'a>(EnvironmentView<'a>);

impl Sources for Unindexed<'_> {
    fn file_data(&self, path: &FilePath, reader: DataReader) -> Option<Arc<DataFile>> {
        self.0.file_data(path, reader)
    }

    fn exists(&self, path: &FilePath) -> bool {
        self.0.exists(path)
    }

    fn has_function(&self, name: &str) -> bool {
        self.0.has_function(name)
    }

    fn may_be_sensitive(&self, root: &str) -> bool {
        self.0.may_be_sensitive(root)
    }

    fn is_folder(&self, path: &FilePath) -> bool {
        self.0.is_folder(path)
    }

    fn is_unread(&self, path: &FilePath) -> bool {
        self.0.is_unread(path)
    }

    fn unlisted_reason(&self, path: &FilePath) -> Option<String> {
        self.0.unlisted_reason(path)
    }

    fn glob_files(&self, pattern: &str) -> Arc<[FilePath]> {
        self.0.glob_files(pattern)
    }

    fn files_defining(&self, root: &str) -> &[FilePath] {
        self.0.files_defining(root)
    }

    fn is_named_plainly(&self, path: &FilePath) -> bool {
        self.0.is_named_plainly(path)
    }

    fn is_indexed(&self, _: &FilePath) -> bool {
        false
    }

    fn files_starting_with(&self, prefix: &str) -> Vec<FilePath> {
        self.0.files_starting_with(prefix)
    }

    fn level_locations(&self, level: &LevelQuery<'_>) -> LevelLocations {
        (level.locate)()
    }

    fn shared_options(&self) -> Option<Arc<SharedOptions>> {
        None
    }

    fn shared_candidates(&self) -> Option<Arc<SharedCandidates>> {
        None
    }

    fn module_layer(&self, name: &str) -> ModuleLayer {
        self.0.module_layer(name)
    }
}

/// Looks up every key in the scope of every file, in both ways; gives the number of lookups, and
/// the first that differs.
pub fn compare(snapshot: &Snapshot) -> (usize, Option<String>) {
    let mut keys: Vec<&str> = snapshot.keys().keys().map(|key| &**key).collect();
    keys.push("nowhere::defined");
    let mut count = 0;
    for environment in &snapshot.environments().all {
        let view = snapshot.view(environment);
        let unindexed = Unindexed(view);
        let mut scopes: Vec<Arc<Scope>> =
            snapshot.files().map(|file| snapshot.scope_for(environment, &file.path)).collect();
        // One node lacks all variables, which then stand for nothing in a path. The variable `x` of
        // the other nodes leads elsewhere.
        for value in [None, Some(".."), Some("/repo/data")] {
            scopes.push(Arc::new(Scope::new_closed(
                "bare",
                value.map(|value| (Arc::from("x"), value.into())),
            )));
        }
        for scope in scopes {
            let context = || snapshot.lookup_context(environment, &view, &scope);
            let [trusting, looking] = [
                Resolver::new(context()),
                Resolver::new(Context { sources: &unindexed, ..context() }),
            ];
            for key in &keys {
                count += 1;
                let told = |resolver: &Resolver<'_>| {
                    format!("{:#?}", resolver.lookup(&LookupKey::of_root(key), None))
                };
                let (short, long) = (told(&trusting), told(&looking));
                if short != long {
                    return (
                        count,
                        Some(format!(
                            "{key} for {}: {short}\n\nlooking into every file: {long}",
                            scope.name
                        )),
                    );
                }
            }
        }
    }
    (count, None)
}
