//! The knowledge of a workspace in few words, for status lines: which configs govern, how many data
//! files are read, which nodes are known and from where.

pub mod choice;
mod gather;

use crate::text::{FilePath, count_phrase};

/// An environment in few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// The folder of the environment.
    pub root: FilePath,
    /// The config of the environment's own layer, else that of the only module that has one: a
    /// module that was opened by itself. `None` where there is neither.
    pub config: Option<FilePath>,
    /// The number of data files that the environment's levels can read.
    pub data_files: usize,
    /// The assumptions, in words: the environment's name where locations use it and neither its
    /// folder nor a setting states it, and each datadir that was found at another path than its
    /// config's.
    pub assumed: Vec<String>,
    /// The sources of the environment's nodes, those with most nodes first.
    pub nodes: Vec<NodesFrom>,
    /// The number of kinds of nodes that the names of the environment's data files show, where no
    /// node is known.
    pub kinds: usize,
    /// The folders of the data files whose names show kinds of nodes.
    pub kinds_from: Vec<FilePath>,
}

/// Nodes of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodesFrom {
    /// The file, or the folder of the files, that the nodes come from.
    pub place: FilePath,
    /// The number of nodes.
    pub count: usize,
}

impl Overview {
    /// Returns `hiera.yaml governs 12 data files (environment = production); 3 nodes, from
    /// spec/facts`, with paths below `root` relative to it.
    pub fn status_line(&self, root: &FilePath) -> String {
        let files = count_phrase(self.data_files, "data file");
        let governs = match &self.config {
            Some(config) => format!("{} governs {files}", relative_path(config, root)),
            None => format!("{}: no hiera.yaml, {files}", self.root),
        };
        let assumed = match &self.assumed[..] {
            [] => String::new(),
            assumed => format!(" ({})", assumed.join(", ")),
        };
        format!("{governs}{assumed}; {}", self.nodes_phrase())
    }

    /// Returns the number of known nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.iter().map(|from| from.count).sum()
    }

    /// Returns `3 nodes, from spec/facts`, `161 nodes, from hieradata/node and spec/hosts`, `no
    /// nodes`, `12 kinds of nodes, from data/roles and data/os`.
    pub fn nodes_phrase(&self) -> String {
        if self.nodes.is_empty() && self.kinds > 0 {
            let places =
                list_places(self.kinds_from.iter().map(|path| self.shown_name(path)).collect());
            return format!("{}, from {places}", count_phrase(self.kinds, "kind of nodes"));
        }
        if self.nodes.is_empty() {
            return "no nodes".into();
        }
        let nodes = count_phrase(self.node_count(), "node");
        let places =
            list_places(self.nodes.iter().map(|from| self.shown_name(&from.place)).collect());
        format!("{nodes}, from {places}")
    }

    fn shown_name(&self, path: &FilePath) -> String {
        path.relative_to(&self.root)
            .filter(|name| !name.is_empty())
            .unwrap_or(path.as_str())
            .to_owned()
    }
}

fn list_places(places: Vec<String>) -> String {
    match places.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} and {last}", others.join(", "))
        }
        _ => places.concat(),
    }
}

fn relative_path(path: &FilePath, root: &FilePath) -> String {
    path.relative_to(root).unwrap_or(path.as_str()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn phrase(text: &str) -> String {
        let snapshot = Fixture::new(text).snapshot;
        let overview = Overview::from_environment(&snapshot, &snapshot.environments().all[0]);
        format!("{}; {} data files", overview.nodes_phrase(), overview.data_files)
    }

    #[test]
    fn a_module_by_itself_has_its_own_config() {
        let line = |text: &str| {
            let snapshot = Fixture::new(text).snapshot;
            let overviews = snapshot.overviews();
            overviews.iter().map(|one| one.status_line(&FilePath::new("/"))).collect::<Vec<_>>()
        };
        let module = "#- /hiera.yaml\nversion: 5\n#- /metadata.json\n{\"name\": \"me-ntp\"}\n#- /manifests/init.pp\nclass ntp {}\n#- /data/common.yaml\nntp::a: 1\n";
        let told = line(&module.replace("#- /", "#- /ntp/"));
        assert_eq!(told[0], "ntp/hiera.yaml governs 1 data file; no nodes");
    }

    #[test]
    fn what_is_assumed_is_named() {
        let line = |config: &str, data: &str| {
            let text = format!("#- /hiera.yaml\nversion: 5\n{config}\n#- {data}\na: 1\n");
            let snapshot = Fixture::new(&text).snapshot;
            let root = FilePath::new("/");
            Overview::from_environment(&snapshot, &snapshot.environments().all[0])
                .status_line(&root)
        };
        assert_eq!(
            line("hierarchy: [{name: E, path: '%{environment}.yaml'}]", "/data/staging.yaml"),
            "hiera.yaml governs 1 data file (environment = production); 1 kind of nodes, from data"
        );
        // The status line shows no assumed environment where a setting, or the name of a folder,
        // gives the environment.
        let staging = "hiera.yaml governs 1 data file; 1 kind of nodes, from data";
        let config = "hierarchy: [{name: E, path: '%{environment}.yaml'}]";
        for name in ["staging", "production"] {
            let config = format!("{config}\n#- /.hiera-ls.yaml\nenvironment: {name}");
            assert_eq!(line(&config, "/data/staging.yaml"), staging, "{name}");
        }
        let text = format!(
            "#- /environments/test/hiera.yaml\nversion: 5\n{config}\n#- /environments/test/data/test.yaml\na: 1\n"
        );
        let snapshot = Fixture::new(&text).snapshot;
        let told = snapshot.overviews()[0].status_line(&FilePath::new("/environments/test"));
        assert!(told.starts_with("hiera.yaml governs 1 data file; "), "{told}");
        assert_eq!(
            line(
                "hierarchy: [{name: C, path: common.yaml, datadir: /srv/now/data_cloud}]",
                "/data_cloud/common.yaml"
            ),
            "hiera.yaml governs 1 data file (/srv/now/data_cloud is data_cloud); no nodes"
        );
    }

    #[test]
    fn sources_of_nodes_are_named() {
        let files = "#- levels Node Common\n#- /data/nodes/a.example.net.yaml\n#- /data/nodes/b.example.net.yaml\n#- /data/common.yaml\n";
        assert_eq!(phrase(files), "2 nodes, from data/nodes; 3 data files");
        let given =
            format!("#- node a.example.net trusted.certname=a.example.net\n#- node c x=1\n{files}");
        assert_eq!(phrase(&given), "3 nodes, from scopes.jsonl and data/nodes; 3 data files");
        assert_eq!(phrase("#- levels Common\n#- /data/common.yaml\n"), "no nodes; 1 data files");
    }
}
