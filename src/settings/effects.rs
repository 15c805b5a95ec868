//! Settings of a settings file that have no effect: they name files, folders or nodes that do not
//! exist, or are of another kind than the setting needs.

use serde_json::Value;

use super::problem::SettingProblem;
use super::reader::leaves_workspace;
use super::{FILE_NAME, places};
use crate::disk::FileSystem;
use crate::hiera::data::DataFormat;
use crate::text::similar::nearest_name;
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;

/// A settings file.
pub(crate) struct SettingsFile {
    /// The file's folder.
    pub(crate) folder: FilePath,
    /// The file's text.
    pub(crate) text: String,
}

/// Returns the settings in these files that have no effect in a workspace; none before it has been
/// read.
pub(crate) fn without_effect(
    snapshot: &Snapshot,
    files: &[SettingsFile],
    fs: &dyn FileSystem,
) -> Vec<SettingProblem> {
    if !snapshot.complete {
        return Vec::new();
    }
    let mut all = Vec::new();
    for file in files {
        // Text that is no YAML is reported where the settings are applied.
        let Ok(value) = crate::yaml::deserialize::<Value>(&file.text) else { continue };
        let mut looking = Looking { snapshot, fs, folder: &file.folder, problems: Vec::new() };
        looking.hiera_config(&value["hieraConfig"]);
        looking.path_mappings(&value["pathMappings"]);
        looking.node_sources(&value["nodes"]["sources"]);
        looking.default_node(&value["nodes"]["default"]);
        places::locate_all(&file.text, &mut looking.problems);
        all.extend(looking.problems);
    }
    all
}

/// One settings file that is looked through.
struct Looking<'a> {
    snapshot: &'a Snapshot,
    fs: &'a dyn FileSystem,
    folder: &'a FilePath,
    problems: Vec<SettingProblem>,
}

impl Looking<'_> {
    fn report(&mut self, key: &str, part: &str, message: String) {
        self.problems.push(SettingProblem {
            file: Some(self.folder.join(FILE_NAME)),
            key: key.to_owned(),
            part: Some(part.to_owned()),
            range: TextRange::new_empty(0),
            message,
        });
    }

    /// The config of environments, relative to their folders.
    fn hiera_config(&mut self, value: &Value) {
        let Some(named) = value.as_str().filter(|named| !leaves_workspace(named)) else { return };
        if !self.snapshot.folders().contains(self.folder) {
            let message = "counts only in the settings file of an opened folder".to_owned();
            return self.report("hieraConfig", named, message);
        }
        let environments = self.snapshot.environments().all.iter().map(|it| &it.root);
        let roots = environments.filter(|root| root.is_within(self.folder)).chain([self.folder]);
        let paths = roots.map(|root| root.join(named));
        let there: Vec<FilePath> = paths.filter(|path| self.fs.entry(path).is_some()).collect();
        if there.is_empty() {
            return self.report("hieraConfig", named, format!("there is no file '{named}'"));
        }
        if !there.iter().any(|path| self.may_be_config(path)) {
            self.report("hieraConfig", named, format!("'{named}' is no hiera.yaml"));
        }
    }

    /// Whether a file is a config by its content, or a broken one.
    fn may_be_config(&self, path: &FilePath) -> bool {
        let Some(file) = self.snapshot.file(path) else {
            return false;
        };
        let data = file.data_as(DataFormat::Yaml);
        file.config_version().is_some()
            || data.refusal().is_some()
            || ["version", "hierarchy", "backends"].iter().any(|key| data.get(key).is_some())
    }

    /// Deployed paths, with folders relative to that of the settings file.
    fn path_mappings(&mut self, value: &Value) {
        for (deployed, here) in value.as_object().into_iter().flatten() {
            let Some(named) = here.as_str() else { continue };
            let path = self.folder.join(named);
            let literal = match path.as_str().split_once("%{") {
                Some((literal, _)) => {
                    FilePath::new(literal.rsplit_once('/').map_or("/", |(folder, _)| folder))
                }
                None => path,
            };
            let mut folders = self.snapshot.folders().iter().chain([self.folder]);
            let is_allowed = folders.any(|folder| literal.is_within(folder));
            if is_allowed && self.fs.entry(&literal).is_none() {
                let message =
                    format!("there is no '{named}' to which '{deployed}' could be mapped");
                self.report("pathMappings", deployed, message);
            }
        }
    }

    /// Globs of files with nodes, relative to the folder of the settings file.
    fn node_sources(&mut self, value: &Value) {
        for named in value.as_array().into_iter().flatten().filter_map(Value::as_str) {
            if leaves_workspace(named) {
                continue; // refused already
            }
            let pattern = self.folder.join(named);
            let files = self.snapshot.glob_files(pattern.as_str());
            if files.is_empty() {
                self.report("nodes.sources", named, format!("'{named}' names no file"));
            }
            for path in files.iter() {
                if let Some(why) = self.not_nodes(path) {
                    let path = path.relative_to(self.folder).unwrap_or(path.as_str());
                    self.report(
                        "nodes.sources",
                        named,
                        format!("no nodes come from {path}: {why}"),
                    );
                }
            }
        }
    }

    /// Returns the reason why a file gives no nodes; `None` for a file that does.
    fn not_nodes(&self, path: &FilePath) -> Option<String> {
        let mut errors = self.snapshot.source_errors().iter();
        errors.find(|(of, _)| of == path).map(|(_, error)| error.clone())
    }

    fn default_node(&mut self, value: &Value) {
        let Some(wanted) = value.as_str() else { return };
        let nodes = self.snapshot.distinct_nodes();
        if self.snapshot.find_node(wanted).is_some() {
            return;
        }
        let near = nearest_name(wanted, nodes.iter().map(|node| &*node.name));
        let near = near.map(|name| format!("; '{name}' is")).unwrap_or_default();
        let message = format!("no node '{wanted}' is known{near}");
        self.report("nodes.default", wanted, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MemoryFs;
    use crate::settings::{Settings, open};

    const CONFIG: &str = "version: 5\nhierarchy: [{name: Node, path: 'nodes/%{trusted.certname}.yaml'}, {name: Common, path: common.yaml}]\n";

    /// The problems of a repository with these settings, each behind the text that it is about.
    fn problems(settings: &str, more: &[(&str, &str)]) -> Vec<String> {
        let fs = MemoryFs::new();
        fs.write("/repo/.hiera-ls.yaml", settings);
        fs.write("/repo/hiera.yaml", CONFIG);
        fs.write("/repo/data/common.yaml", "a: 1\n");
        fs.write("/repo/data/nodes/web01.yaml", "a: 2\n");
        more.iter().for_each(|(path, text)| fs.write(path, *text));
        let opened = open(vec![FilePath::new("/repo")], &[], Vec::new(), &fs);
        let shown = |problem: &SettingProblem| {
            format!("{}: {problem}", &settings[problem.range.as_usize()])
        };
        opened.problems.iter().map(shown).collect()
    }

    #[test]
    fn what_names_nothing_is_told_at_its_place() {
        let settings = "\
hieraConfig: hiera/live.yaml
pathMappings:
  /srv/data: hieradat
  /srv/other: data
nodes:
  sources: ['facts/*.json', list.yaml]
  default: web02
rulez: {}
nodes.x: 1
";
        expect_test::expect![[r#"
            rulez: setting 'rulez': is not known; 'rules' is
            nodes.x: setting 'nodes.x': is not known
            hiera/live.yaml: setting 'hieraConfig': there is no file 'hiera/live.yaml'
            hieradat: setting 'pathMappings': there is no 'hieradat' to which '/srv/data' could be mapped
            'facts/*.json': setting 'nodes.sources': 'facts/*.json' names no file
            list.yaml: setting 'nodes.sources': no nodes come from list.yaml: item 1 is no hash of facts
            web02: setting 'nodes.default': no node 'web02' is known; 'web01' is
        "#]]
        .assert_eq(&(problems(settings, &[("/repo/list.yaml", "[web01]\n")]).join("\n") + "\n"));
    }

    #[test]
    fn what_has_an_effect_is_not_told() {
        let settings = "\
hieraConfig: conf/live.yaml
pathMappings: {/srv/data: conf/../data, '/etc/%{environment}': 'data/%{environment}'}
nodes: {sources: ['facts/*.json'], default: web03}
";
        let more = [("/repo/conf/live.yaml", CONFIG), ("/repo/facts/web03.json", "{\"os\": 1}")];
        assert_eq!(problems(settings, &more), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_is_no_config_is_told() {
        let more = [("/repo/conf/live.yaml", "motd: hello\n")];
        assert_eq!(
            problems("hieraConfig: conf/live.yaml\n", &more),
            ["conf/live.yaml: setting 'hieraConfig': 'conf/live.yaml' is no hiera.yaml"]
        );
    }

    #[test]
    fn mappings_are_relative_to_the_settings_file() {
        let fs = MemoryFs::new();
        let config = "version: 5\ndefaults: {datadir: /srv/data, data_hash: yaml_data}\nhierarchy: [{name: Common, path: common.yaml}]\n";
        fs.write("/repo/.hiera-ls.yaml", "pathMappings: {/srv/data: hieradata}\n");
        fs.write("/repo/environments/production/hiera.yaml", config);
        fs.write("/repo/environments/test/hiera.yaml", config);
        // The settings file of an environment may map paths to any place in the workspace.
        let own = "pathMappings: {/srv/data: ../../test_data}\n";
        fs.write("/repo/environments/test/.hiera-ls.yaml", own);
        fs.write("/repo/hieradata/common.yaml", "a: 1\n");
        fs.write("/repo/test_data/common.yaml", "a: 1\n");
        let opened = open(vec![FilePath::new("/repo")], &[], Vec::new(), &fs);
        assert_eq!(opened.problems, []);
        let snapshot = opened.workspace.snapshot();
        let governing = |path: &str| {
            let path = FilePath::new(path);
            let environment = snapshot.environments().environment_of(&path);
            environment.map(|environment| environment.root.to_string())
        };
        assert_eq!(
            governing("/repo/hieradata/common.yaml").as_deref(),
            Some("/repo/environments/production")
        );
        assert_eq!(
            governing("/repo/test_data/common.yaml").as_deref(),
            Some("/repo/environments/test")
        );
        let mut settings = Settings::default();
        let text = "pathMappings: {/srv/data: ../../etc}\n";
        let leaving = settings.apply_file(text, &FilePath::new("/repo"), &[FilePath::new("/repo")]);
        assert_eq!(leaving.len(), 1);
    }

    #[test]
    fn a_config_of_a_version_that_is_not_known_is_a_config() {
        let of = |text: &str| problems("hieraConfig: conf.yaml\n", &[("/repo/conf.yaml", text)]);
        assert!(!of("version: 9\n").iter().any(|it| it.contains("is no hiera.yaml")));
        assert!(of("k: 1\n").iter().any(|it| it.contains("'conf.yaml' is no hiera.yaml")));
    }
}
