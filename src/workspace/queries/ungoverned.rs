//! Open files that look like Hiera data although no config reads them, and the configs that might.

use crate::hiera::config::formats::has_data_name;
use crate::text::FilePath;
use crate::workspace::files::file::File;
use crate::workspace::files::kinds::is_sample;
use crate::workspace::snapshot::Snapshot;

/// The names of folders that hold data, or the starts of such names before a `-` or `_`.
const DATA_FOLDERS: [&str; 3] = ["data", "hiera", "hieradata"];

/// An open file that looks like data and that no environment governs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithoutConfig {
    /// The file.
    pub path: FilePath,
    /// The folder of the workspace that the file lies in.
    pub folder: FilePath,
    /// The configs below `folder` that govern nothing and may be chosen: those that read the file
    /// first, then in the order of their rank. There is at least one.
    pub candidates: Vec<PossibleConfig>,
}

/// A config that governs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleConfig {
    /// The config.
    pub path: FilePath,
    /// The number of existing files that the config reads.
    pub data_files: usize,
    /// Whether the file in question is one of the files that the config reads.
    pub reads_file: bool,
}

impl Snapshot {
    /// Returns the open files that look like Hiera data although no environment governs them, with
    /// the configs that might, in the order of their paths. Files for which there is no config to
    /// choose are left out. There are none where the setting `hieraConfig` has chosen, nor before
    /// the folders have been read.
    pub fn files_without_config(&self) -> Vec<WithoutConfig> {
        let has_chosen = self.config.has_named_config();
        if !self.complete || has_chosen || self.environments.candidates.is_empty() {
            return Vec::new();
        }
        self.open.iter().filter_map(|path| self.without_config(path)).collect()
    }

    fn without_config(&self, path: &FilePath) -> Option<WithoutConfig> {
        let above = self.folders().iter().filter(|folder| path.is_within(folder));
        let folder = above.max_by_key(|folder| folder.as_str().len())?;
        let below = path.parent()?.relative_to(folder)?.to_owned();
        let looks_like_data = is_below_data(&below)
            && !is_sample(&below)
            && self.file(path).is_some_and(|file| holds_keys(file));
        if !looks_like_data
            || self.environments.all.iter().any(|one| {
                one.governs_file(path)
                || one.probable_function(path).is_some()
                // A file among a level's files, or in a module, belongs to that level or module.
                || one.datadirs.iter().any(|datadir| path.is_within(datadir))
                || one.modules.values().any(|module| path.is_within(&module.root))
            })
        {
            return None;
        }
        let possible = self.environments.candidates.iter();
        let mut candidates: Vec<PossibleConfig> = possible
            .filter(|candidate| candidate.path.is_within(folder) && candidate.path != *path)
            .map(|candidate| PossibleConfig {
                path: candidate.path.clone(),
                data_files: candidate.files.len(),
                reads_file: candidate.files.contains(path),
            })
            .collect();
        candidates.sort_by_key(|candidate| !candidate.reads_file);
        let found = WithoutConfig { path: path.clone(), folder: folder.clone(), candidates };
        (!found.candidates.is_empty()).then_some(found)
    }
}

/// Whether a folder's name suggests that data is below it. `below` is relative to the workspace.
fn is_below_data(below: &str) -> bool {
    below.split('/').any(|folder| {
        let start = folder.split(['-', '_']).next().unwrap_or(folder);
        DATA_FOLDERS.contains(&start)
    })
}

/// Whether a file is data with keys, and no config.
fn holds_keys(file: &File) -> bool {
    has_data_name(&file.path)
        && file.config_version().is_none()
        && file.data_as(file.format()).keys().next().is_some()
}

#[cfg(test)]
mod tests {
    use crate::fixture::Fixture;
    use crate::text::FilePath;
    use crate::workspace::Change;

    const REPOSITORY: &str = "\
#- /hiera.yaml
version: 5
hierarchy: [{name: Common, path: common.yaml}]
#- /data/common.yaml
a: 1
#- /data/orphan.yaml
a: 1
#- /hieradata/web.yaml
b: 1
#- /hieradata/list.yaml
- b
#- /hieradata_old/web.yaml
b: 1
#- /compose/web.yaml
b: 1
#- /spec/hieradata/web.yaml
b: 1
#- /modules/ntp/data/web.yaml
b: 1
";
    const CONFIGS: &str = "\
#- /spec/fixtures/hiera.yaml
version: 5
hierarchy: [{name: Web, datadir: ../../hieradata, path: web.yaml}]
#- /vagrant/hiera.yaml
version: 5
hierarchy: [{name: None, datadir: none, path: none.yaml}]
#- /docker/hiera_live.yaml
version: 5
hierarchy: [{name: Both, datadir: ../hieradata, glob: '*.yaml'}]
";

    /// Returns the reports when these files are open.
    fn said(text: &str, open: &[&str]) -> Vec<String> {
        let mut fixture = Fixture::new(text);
        for path in open {
            let path = FilePath::new(path);
            let text = fixture
                .snapshot
                .file(&path)
                .and_then(|file| file.text())
                .map(|text| text.to_str().into_owned());
            fixture.workspace.apply(Change::Open(path, text.unwrap_or_default()));
        }
        let found = fixture.workspace.snapshot().files_without_config();
        let candidates = |one: &super::WithoutConfig| {
            let one = one.candidates.iter();
            one.map(|it| format!(" {} {} {}", it.path, it.data_files, it.reads_file))
                .collect::<String>()
        };
        found.iter().map(|one| format!("{}:{}", one.path, candidates(one))).collect()
    }

    #[test]
    fn open_data_without_a_config_has_the_candidates() {
        let text = format!("{REPOSITORY}{CONFIGS}");
        let open = [
            "/data/common.yaml",
            "/data/orphan.yaml",
            "/hieradata/list.yaml",
            "/compose/web.yaml",
            "/spec/hieradata/web.yaml",
            "/modules/ntp/data/web.yaml",
            "/docker/hiera_live.yaml",
        ];
        assert!(said(&text, &open).is_empty(), "{:?}", said(&text, &open));
        assert_eq!(
            said(&text, &["/hieradata/web.yaml", "/hieradata_old/web.yaml"]),
            [
                "/hieradata/web.yaml: /docker/hiera_live.yaml 2 true /spec/fixtures/hiera.yaml 1 true /vagrant/hiera.yaml 0 false",
                "/hieradata_old/web.yaml: /docker/hiera_live.yaml 2 false /spec/fixtures/hiera.yaml 1 false /vagrant/hiera.yaml 0 false",
            ]
        );
    }

    #[test]
    fn no_status_entry_where_no_config_can_be_chosen() {
        assert!(said(REPOSITORY, &["/hieradata/web.yaml"]).is_empty());
        let chosen = format!(
            "#- /.hiera-ls.yaml\nhieraConfig: docker/hiera_live.yaml\n{REPOSITORY}{CONFIGS}"
        );
        assert!(said(&chosen, &["/data/common.yaml", "/hieradata/web.yaml"]).is_empty());
    }
}
