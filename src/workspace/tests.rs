//! The scopes that files' paths give, the layers that govern files, and the effects of changes.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::disk::{DiskEntry, FileSystem, MemoryFs, ReadError, Walk, WalkLimits};
use crate::fixture::Fixture;
use crate::hiera::scope::Scope;
use crate::puppet::print::{PrintOptions, print_json};
use crate::text::CancelToken;
use crate::text::work;
use crate::text::{FilePath, TextRange};
use crate::workspace::files::scan;
use crate::workspace::{Change, WorkspaceConfig};

/// A site whose manifest derives location, role and variant from names of the form
/// LOCATION-ROLE[-VARIANT]-ID.
const SITE: &str = "
#- /.hiera-ls.yaml
nodes:
  derive:
    - {from: verified_host, match: '^(?<location>[^-]+)-(?<role>[^-]+)(?:-(?<variant>[^-]+))?-(?<id>[0-9]+)$'}
#- /hiera.yaml
version: 5
defaults: {datadir: hieradata, data_hash: yaml_data}
hierarchy:
  - {name: Nodes, path: 'nodes/%{::location}/%{::verified_host}.yaml'}
  - {name: Platform, path: '%{::location}/platform/%{::os_platform}%{os_version}.yaml'}
  - {name: Roles, paths: ['%{::location}/roles/%{::role}-%{::variant}.yaml', '%{::location}/roles/%{::role}.yaml']}
  - {name: Modules, glob: '%{::location}/modules/*.yaml'}
  - {name: Common, path: 'common/common.yaml'}
#- /hieradata/nodes/bgo/bgo-api-01.yaml
a: 1
#- /hieradata/nodes/bgo/bgo-compute-vgpu-53.yaml
a: 1
#- /hieradata/bgo/roles/api.yaml
a: 1
#- /hieradata/bgo/roles/compute-vgpu.yaml
a: 1
#- /hieradata/bgo/platform/el8.yaml
a: 1
#- /hieradata/bgo/modules/ntp.yaml
a: 1
#- /hieradata/common/common.yaml
a: 1
";

fn known(scope: &Scope) -> String {
    let options = PrintOptions::default();
    let each = scope
        .known_variables()
        .filter(|(name, _)| *name != "environment")
        .map(|(name, value)| format!("{name}={}", print_json(value, &options)));
    let mut all: Vec<String> = each.collect();
    all.sort();
    all.join(" ")
}

#[test]
fn a_path_implies_variables_and_rules_derive_more() {
    let snapshot = Fixture::new(SITE).snapshot;
    for (file, expected) in [
        (
            "nodes/bgo/bgo-api-01.yaml",
            r#"id="01" location="bgo" role="api" variant="" verified_host="bgo-api-01""#,
        ),
        (
            "nodes/bgo/bgo-compute-vgpu-53.yaml",
            r#"id="53" location="bgo" role="compute" variant="vgpu" verified_host="bgo-compute-vgpu-53""#,
        ),
        ("bgo/roles/api.yaml", r#"location="bgo" role="api""#),
        // Two locations can name the file, as role compute-vgpu and as a variant of role compute: the
        // location with more literal text counts.
        ("bgo/roles/compute-vgpu.yaml", r#"location="bgo" role="compute" variant="vgpu""#),
        // The path does not show where the first variable's value ends.
        ("bgo/platform/el8.yaml", r#"location="bgo""#),
        ("bgo/modules/ntp.yaml", r#"location="bgo""#),
        // Every node reads this file.
        ("common/common.yaml", ""),
    ] {
        let path = FilePath::new(&format!("/hieradata/{file}"));
        let environment =
            snapshot.environments().environment_of(&path).expect("the site's environment").clone();
        assert_eq!(known(&snapshot.inferred_scope(&environment, &path)), expected, "{file}");
    }
}

#[test]
fn a_file_with_ambiguous_variables_is_still_read() {
    let snapshot = Fixture::new(SITE).snapshot;
    let path = FilePath::new("/hieradata/bgo/platform/el8.yaml");
    let environment =
        snapshot.environments().environment_of(&path).expect("the site's environment").clone();
    let scope = snapshot.inferred_scope(&environment, &path);
    assert!(snapshot.reads_file(&environment, &scope, &path));
    assert!(!snapshot.reads_file(
        &environment,
        &scope,
        &FilePath::new("/hieradata/nodes/bgo/bgo-api-01.yaml")
    ));
}

#[test]
fn paths_that_contradict_each_other_are_seen_by_nobody() {
    let snapshot = Fixture::new(SITE).snapshot;
    let path = |name: &str| FilePath::new(&format!("/hieradata/{name}"));
    let environment = snapshot
        .environments()
        .environment_of(&path("common/common.yaml"))
        .expect("the site's environment")
        .clone();
    let together = |files: &[&FilePath]| snapshot.scope_reading(&environment, files).is_some();
    let (node, other, role) = (
        path("nodes/bgo/bgo-api-01.yaml"),
        path("nodes/bgo/bgo-compute-vgpu-53.yaml"),
        path("bgo/roles/api.yaml"),
    );
    assert!(together(&[&node, &role]), "a node and its role");
    assert!(!together(&[&node, &other]), "two nodes");
    assert!(!together(&[&other, &role]), "a node and a role that the rules say is not its own");
}

#[test]
fn a_modules_config_is_the_modules_and_environments_stand_side_by_side() {
    let snapshot = Fixture::new(
        "
#- /environments/production/hiera.yaml
version: 5
#- /environments/production/data/common.yaml
a: 1
#- /environments/production/modules/ntp/hiera.yaml
version: 5
#- /environments/production/modules/ntp/data/common.yaml
ntp::a: 1
#- /environments/staging/hiera.yaml
version: 5
#- /environments/staging/environment.conf
modulepath = site:$basemodulepath
#- /environments/staging/site/ntp/hiera.yaml
version: 5
#- /environments/staging/data/common.yaml
a: 2
",
    )
    .snapshot;
    let mut found: Vec<String> = snapshot
        .environments()
        .all
        .iter()
        .filter(|environment| environment.root.as_str() != "/")
        .map(|environment| {
            format!("{} {:?}", environment.name, environment.modules.keys().collect::<Vec<_>>())
        })
        .collect();
    found.sort();
    assert_eq!(found, [r#"production ["ntp"]"#, r#"staging ["ntp"]"#]);
    let module_data = FilePath::new("/environments/production/modules/ntp/data/common.yaml");
    let environment = snapshot.environments().environment_of(&module_data).expect("an environment");
    assert_eq!(
        (environment.name.as_str(), environment.layer_of(&module_data).is_some()),
        ("production", true)
    );
}

#[test]
fn a_datadir_of_the_server_is_the_repositorys() {
    let snapshot = Fixture::new(
        "
#- /hiera.yaml
version: 5
defaults: {datadir: '/etc/puppetlabs/code/environments/%{environment}/hieradata', data_hash: yaml_data}
hierarchy: [{name: Common, path: common.yaml}]
#- /hieradata/common.yaml
a: 1
",
    )
    .snapshot;
    assert_eq!(snapshot.keys().definitions("a"), [FilePath::new("/hieradata/common.yaml")]);
}

#[test]
fn closing_shows_the_disk_again_and_a_look_without_news_changes_nothing() {
    let mut fixture = Fixture::new("a: 1\n");
    let path = FilePath::new("/data/common.yaml");
    let shown = |fixture: &Fixture| {
        let snapshot = fixture.workspace.snapshot();
        snapshot.file(&path).and_then(|file| file.text()).map(|text| text.to_str().into_owned())
    };
    fixture.workspace.apply(Change::Open(path.clone(), "a: 2\n".into()));
    fixture.fs.write("/data/common.yaml", "a: 3\n");
    let look = |fixture: &mut Fixture| {
        let scanned = scan::scan(&fixture.workspace.scan_request(), &fixture.fs, &|_| {});
        fixture.workspace.apply(Change::Scanned(Box::new(scanned)));
        fixture.workspace.snapshot().revision
    };
    let revision = look(&mut fixture);
    assert_eq!(shown(&fixture).as_deref(), Some("a: 2\n"), "the disk changes under an open file");
    assert_eq!(look(&mut fixture), revision, "nothing has changed since");
    fixture.workspace.apply(Change::Close(path.clone()));
    assert_eq!(shown(&fixture).as_deref(), Some("a: 3\n"));
    fixture.fs.remove("/data/common.yaml");
    look(&mut fixture);
    assert_eq!(shown(&fixture), None);
}

#[test]
fn a_node_is_known_once() {
    let mut fixture = Fixture::new(
        "
#- /.hiera-ls.yaml
nodes: {sources: ['nodes/*.yaml', 'nodes/a*']}
#- /nodes/a.yaml
[{fqdn: a.example.net}, {fqdn: b.example.net}]
#- /nodes/b.yaml
fqdn: b.example.net
#- /data/common.yaml
a: 1
",
    );
    let known = |fixture: &Fixture| {
        let snapshot = fixture.workspace.snapshot();
        snapshot
            .given_nodes()
            .iter()
            .map(|node| format!("{} {}", node.name, node.source.name()))
            .collect::<Vec<_>>()
    };
    // Where two sources give the same part of a node, the later source counts.
    assert_eq!(known(&fixture), ["a.example.net a.yaml", "b.example.net b.yaml"]);
    fixture.workspace.apply(Change::Folders(vec![
        FilePath::new("/"),
        FilePath::new("/nodes/.."),
        FilePath::new("/nodes"),
    ]));
    assert_eq!(fixture.workspace.snapshot().folders().len(), 2);
    let scanned = scan::scan(&fixture.workspace.scan_request(), &fixture.fs, &|_| {});
    fixture.workspace.apply(Change::Scanned(Box::new(scanned)));
    assert_eq!(known(&fixture).len(), 2);
}

/// The folders of the environments, sorted.
fn environments(text: &str) -> Vec<String> {
    let snapshot = Fixture::new(text).snapshot;
    let mut roots: Vec<String> =
        snapshot.environments().all.iter().map(|found| found.root.to_string()).collect();
    roots.sort();
    roots
}

#[test]
fn a_config_among_tests_and_templates_makes_no_environment() {
    let mut text =
        String::from("#- /hiera.yaml\nversion: 5\n#- /environments/dev/hiera.yaml\nversion: 5\n");
    for folder in [
        "spec/fixtures",
        "fixtures/x",
        "site/puppet/files",
        "site/puppet/templates/a/b",
        "vendor/x",
        "examples",
    ] {
        text.push_str(&format!("#- /{folder}/hiera.yaml\nversion: 5\n"));
    }
    text.push_str("#- /nodes/my-hiera.yaml\na: 1\n");
    assert_eq!(environments(&text), ["/", "/environments/dev"]);
}

#[test]
fn a_folder_around_an_environment_is_no_folder_of_data() {
    let lies_in_datadir = |datadir: &str| {
        let text = format!(
            "#- /env/hiera.yaml
version: 5
hierarchy: [{{name: Common, datadir: {datadir}, path: common.yaml}}]
#- /common.yaml
a: 1
"
        );
        let fixture = Fixture::new(&text);
        let snapshot = fixture.workspace.snapshot();
        let path = FilePath::new(&format!("/env/{datadir}/other.yaml"));
        snapshot.environments().all[0].lies_in_datadir(&path)
    };
    assert_eq!(["data", "../shared", ".", ".."].map(lies_in_datadir), [true, true, false, false]);
}

#[test]
fn the_folder_of_the_global_config_is_no_folder_of_data() {
    let lies_in_datadir = |datadir: &str| {
        let text = format!(
            "#- /.hiera-ls.yaml
globalHieraConfig: /puppet/hiera.yaml
#- /puppet/hiera.yaml
version: 5
hierarchy: [{{name: Global, datadir: {datadir}, path: global.yaml}}]
#- /env/hiera.yaml
version: 5
"
        );
        let fixture = Fixture::new(&text);
        let snapshot = fixture.workspace.snapshot();
        let path = FilePath::new(&format!("/puppet/{datadir}/other.yaml"));
        let environments = &snapshot.environments().all;
        assert_eq!(environments[0].root.as_str(), "/env");
        environments[0].lies_in_datadir(&path)
    };
    assert_eq!(["data", "."].map(lies_in_datadir), [true, false]);
}

#[test]
fn files_of_other_environments_give_a_level_no_file() {
    let fixture = Fixture::new(
        "#- /hiera.yaml
version: 5
hierarchy:
- {name: Own, path: 'own/%{environment}.yaml'}
- {name: Other, path: 'other/%{environment}.yaml'}
- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}
- {name: Common, path: common.yaml}
#- /data/own/production.yaml
a: 1
#- /data/own/dev.yaml
a: 1
#- /data/other/dev.yaml
a: 1
#- /data/nodes/web01.yaml
a: 1
",
    );
    let snapshot = fixture.workspace.snapshot();
    let environment = &snapshot.environments().all[0];
    assert_eq!(environment.name, "production");
    assert_eq!(snapshot.levels_without_files(environment), ["Other", "Common"]);
}

#[test]
fn another_limit_has_other_files_read() {
    let mut fixture = Fixture::new(&format!(
        "#- /.hiera-ls.yaml\nmaxFileSize: 100\n#- /data/common.yaml\na: {}\n",
        "x".repeat(200)
    ));
    let is_text = |fixture: &Fixture| {
        fixture
            .workspace
            .snapshot()
            .file(&FilePath::new("/data/common.yaml"))
            .is_some_and(|file| file.text().is_some())
    };
    assert!(!is_text(&fixture));
    let config =
        WorkspaceConfig { max_file_size: 1000, ..fixture.workspace.snapshot().config().clone() };
    fixture.workspace.apply(Change::Configure(config.into()));
    look(&mut fixture.workspace, &fixture.fs);
    assert!(is_text(&fixture));
    let config =
        WorkspaceConfig { max_file_size: 100, ..fixture.workspace.snapshot().config().clone() };
    fixture.workspace.apply(Change::Configure(config.into()));
    look(&mut fixture.workspace, &fixture.fs);
    assert!(!is_text(&fixture), "and a lowered one has them not read");
}

#[test]
fn a_module_opened_alone_is_a_module() {
    let files = "
#- /hiera.yaml
version: 5
hierarchy: [{name: Common, path: common.yaml}]
default_hierarchy: [{name: Last, path: last.yaml}]
#- /data/common.yaml
ntp::servers: []
other::x: 1
#- /data/last.yaml
ntp::y: 1
";
    let alone =
        Fixture::new(&format!("{files}#- /metadata.json\n{{\"name\": \"puppetlabs-ntp\"}}\n"));
    let codes: Vec<&str> = alone.findings().iter().map(|finding| finding.rule.code).collect();
    assert_eq!(codes, ["foreign-module-key"], "{}", alone.rendered_findings());
    assert_eq!(alone.snapshot.environments().all[0].modules.keys().collect::<Vec<_>>(), ["ntp"]);
    let repo = Fixture::new(&format!(
        "{files}#- /metadata.json\n{{\"name\": \"x/control\"}}\n#- /Puppetfile\nforge 'x'\n"
    ));
    let codes: Vec<&str> = repo.findings().iter().map(|finding| finding.rule.code).collect();
    assert!(codes.contains(&"config-error"), "{}", repo.rendered_findings());
}

#[test]
fn a_file_is_indexed_as_the_level_reads_it() {
    let text = "
#- /hiera.yaml
version: 5
hierarchy: [{name: Common, path: common.json}]
#- /data/common.json
# YAML all the same
motd: hello
";
    let snapshot = Fixture::new(text).snapshot;
    assert_eq!(snapshot.keys().definitions("motd"), [FilePath::new("/data/common.json")]);
}

#[test]
fn a_mapped_datadir_holds_files_that_nothing_reaches() {
    let text = "
#- /.hiera-ls.yaml
pathMappings: {/srv/site: site}
#- /hiera.yaml
version: 5
defaults: {datadir: /srv/site/data, data_hash: yaml_data}
hierarchy: [{name: Common, path: common.yaml}]
#- /site/data/comon.yaml
a: 1
";
    let fixture = Fixture::new(text);
    assert!(fixture.snapshot.file(&FilePath::new("/site/data/comon.yaml")).is_some());
    let codes: Vec<&str> = fixture.findings().iter().map(|finding| finding.rule.code).collect();
    assert!(codes.contains(&"unreached-file"), "{}", fixture.rendered_findings());
}

#[test]
fn a_node_is_in_the_environment_that_is_looked_at() {
    let text = "
#- node a
#- node b environment=production
#- /environments/dev/hiera.yaml
version: 5
hierarchy: [{name: Environment, path: '%{environment}.yaml'}]
#- /environments/dev/data/dev.yaml
a: 1
";
    let snapshot = Fixture::new(text).snapshot;
    let path = FilePath::new("/environments/dev/data/dev.yaml");
    let environment = snapshot.environments().environment_of(&path).expect("the environment");
    let seeing: Vec<&str> =
        snapshot.nodes_reading(environment, &path).iter().map(|node| &*node.name).collect();
    assert_eq!(seeing, ["a"]);
    assert_eq!(known_environment(&snapshot.scope_for(environment, &path)), "dev");
}

fn known_environment(scope: &Scope) -> String {
    scope
        .known_variables()
        .find(|(name, _)| *name == "environment")
        .map(|(_, value)| value.to_text().into_owned())
        .unwrap_or_default()
}

#[test]
fn a_node_that_is_gone_is_not_selected() {
    let mut fixture = Fixture::new("#- scope a\n#- /data/common.yaml\na: 1\n");
    assert!(fixture.snapshot.chosen_node().is_some_and(|node| &*node.name == "a"));
    fixture.fs.remove("/scopes.jsonl");
    let scanned = scan::scan(&fixture.workspace.scan_request(), &fixture.fs, &|_| {});
    fixture.workspace.apply(Change::Scanned(Box::new(scanned)));
    let snapshot = fixture.workspace.snapshot();
    assert_eq!((snapshot.chosen_node().is_some(), snapshot.selected_node()), (false, Some("a")));
}

/// A control repo of Hiera 3: its `hiera.yaml` is the global layer's, and is deployed elsewhere.
const OF_HIERA_3: &str = "
#- /.hiera-ls.yaml
globalHieraConfig: /hiera.yaml
#- /hiera.yaml
---
:backends: [yaml, json]
:hierarchy:
  - nodes/%{::trusted.certname}
  - common
#- /hieradata/nodes/web01.yaml
motd: node
#- /hieradata/common.yaml
motd: common
greeting: \"%{lookup('motd')} %{lookup('site::x')}\"
#- /hieradata/common.json
{\"motd\": \"json\"}
#- /hieradata/nodes/README.yaml.orig
not data
#- /site/site/hiera.yaml
version: 4
hierarchy: [{name: main, backend: yaml}]
datadir: d
#- /site/site/d/main.yaml
site::x: 1
";

#[test]
fn a_repository_of_hiera_3_is_read_where_it_would_be_deployed() {
    let snapshot = Fixture::new(OF_HIERA_3).snapshot;
    let paths = |key: &str| {
        snapshot.keys().definitions(key).iter().map(FilePath::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        paths("motd"),
        ["/hieradata/common.json", "/hieradata/common.yaml", "/hieradata/nodes/web01.yaml"]
    );
    assert_eq!(paths("site::x"), ["/site/site/d/main.yaml"]);
    let common = FilePath::new("/hieradata/common.yaml");
    let environment = snapshot.environments().environment_of(&common).expect("an environment");
    assert!(environment.config.is_none(), "its own layer has nothing");
    assert_eq!(
        known(&snapshot.inferred_scope(environment, &FilePath::new("/hieradata/nodes/web01.yaml"))),
        r#"trusted={"certname":"web01"}"#
    );
}

#[test]
fn a_repository_of_hiera_3_is_checked() {
    let fixture = Fixture::new(OF_HIERA_3);
    let codes: Vec<(&str, String)> = fixture
        .findings()
        .iter()
        .map(|finding| {
            (
                finding.rule.code,
                fixture.snapshot.path_of(finding.span.file).expect("a file").to_string(),
            )
        })
        .collect();
    let expected =
        [("config-deprecated", "/hiera.yaml"), ("config-deprecated", "/site/site/hiera.yaml")];
    assert_eq!(
        codes,
        expected.map(|(code, path)| (code, path.to_owned())),
        "{}",
        fixture.rendered_findings()
    );
}

#[test]
fn older_settings_choose_where_data_comes_from() {
    let files = "
#- /environments/a/environment.conf
environment_data_provider = hiera
#- /environments/a/data/common.yaml
a: 1
#- /environments/a/modules/m/metadata.json
{\"name\": \"x-m\", \"version\": \"1\", \"author\": \"x\", \"license\": \"l\", \"source\": \"s\", \"dependencies\": [], \"data_provider\": \"hiera\"}
#- /environments/a/modules/m/data/common.yaml
m::k: 1
#- /environments/b/hiera.yaml
version: 4
#- /environments/b/environment.conf
environment_data_provider = none
#- /environments/b/data/common.yaml
b: 1
#- /environments/b/modules/m/metadata.json
{\"name\": \"x-m\", \"version\": \"1\", \"author\": \"x\", \"license\": \"l\", \"source\": \"s\", \"dependencies\": [], \"data_provider\": \"function\"}
";
    let snapshot = Fixture::new(files).snapshot;
    let environment = |root: &str| {
        let environments = &snapshot.environments().all;
        environments
            .iter()
            .find(|environment| environment.root.as_str() == root)
            .expect("an environment")
    };
    assert_eq!(
        snapshot.keys().definitions("a").len() + snapshot.keys().definitions("m::k").len(),
        2
    );
    assert!(
        environment("/environments/a").config.as_ref().is_some_and(|config| config.file.is_none())
    );
    let off = environment("/environments/b");
    assert!(off.config.is_none() && snapshot.keys().definitions("b").is_empty());
    assert!(off.may_have_unread("k", |_| false), "a function is not called");
    // OpenVox has no `environment_data_provider`, and still has `data_provider` for modules.
    let openvox =
        Fixture::new(&format!("{files}#- /.hiera-ls.yaml\npuppet: {{version: 9}}\n")).snapshot;
    assert!(openvox.keys().definitions("a").is_empty());
    assert_eq!(openvox.keys().definitions("b").len(), 1);
}

#[test]
fn where_the_global_layer_has_no_file_puppets_defaults_apply() {
    let text = "
#- /.hiera-ls.yaml
globalHieraConfig: /etc/hiera.yaml
#- /etc/data/common.yaml
k: 1
#- /data/common.yaml
k: 2
";
    let snapshot = Fixture::new(text).snapshot;
    assert_eq!(snapshot.keys().definitions("k").len(), 2);
    let environment = &snapshot.environments().all[0];
    assert_eq!(
        environment.layer_of(&FilePath::new("/etc/data/common.yaml")),
        Some(&crate::hiera::config::Layer::Global)
    );
}

#[test]
fn nodes_come_from_outside_the_workspace_where_the_user_permits_it() {
    let fs = crate::disk::MemoryFs::new();
    for (path, text) in [
        ("/site/hiera.yaml", "version: 5\n"),
        ("/site/data/common.yaml", "a: 1\n"),
        ("/facts/a.json", r#"{"fqdn": "a"}"#),
        ("/facts/deeper/b.json", r#"{"fqdn": "b"}"#),
        ("/c.json", r#"{"fqdn": "c"}"#),
    ] {
        fs.write(path, text);
    }
    for (source, expected) in [
        ("/facts/a.json", &["a"][..]),
        ("/facts/*.json", &["a"]),
        ("/facts/**/*.json", &["a", "b"]),
        ("../*.json", &["c"]),
        ("/no/*.json", &[]),
    ] {
        let mut config = WorkspaceConfig::default();
        config.common.nodes.sources.push(source.to_owned());
        let mut workspace = crate::workspace::Workspace::new(config, vec![FilePath::new("/site")]);
        let scanned = scan::scan(&workspace.scan_request(), &fs, &|_| {});
        workspace.apply(Change::Scanned(Box::new(scanned)));
        let names: Vec<String> =
            workspace.snapshot().given_nodes().iter().map(|node| node.name.to_string()).collect();
        assert_eq!(names, expected, "{source}");
        assert!(workspace.snapshot().files().all(|file| file.path.as_str().starts_with("/site/")));
    }
}

/// A workspace of two data files and the disk that it was read from.
fn site() -> (crate::disk::MemoryFs, crate::workspace::Workspace) {
    let fs = crate::disk::MemoryFs::new();
    fs.write("/site/hiera.yaml", "version: 5\nhierarchy: [{name: All, glob: '*.yaml'}]\n");
    fs.write("/site/data/common.yaml", "a: 1\n");
    fs.write("/site/data/other.yaml", "b: 1\n");
    let mut workspace =
        crate::workspace::Workspace::new(WorkspaceConfig::default(), vec![FilePath::new("/site")]);
    look(&mut workspace, &fs);
    (fs, workspace)
}

/// Reads the folders again.
fn look(workspace: &mut crate::workspace::Workspace, fs: &crate::disk::MemoryFs) {
    let scanned = scan::scan(&workspace.scan_request(), fs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scanned)));
}

fn keys(snapshot: &crate::workspace::Snapshot) -> Vec<&str> {
    let mut keys: Vec<&str> = snapshot.keys().keys().map(|key| &**key).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn of_files_that_are_swapped_on_disk_only_these_are_read_anew() {
    let (fs, mut workspace) = site();
    let before = workspace.snapshot();
    assert_eq!(keys(&before), ["a", "b"]);
    fs.write("/site/data/common.yaml", "c: 1\n");
    look(&mut workspace, &fs);
    let swapped = workspace.snapshot();
    assert!(swapped.has_same_environments(&before) && swapped.is_indexed());
    assert_eq!(swapped.files_changed(&before), [FilePath::new("/site/data/common.yaml")]);
    assert_eq!(keys(&swapped), ["b", "c"]);
    fs.write("/site/data/more.yaml", "d: 1\n");
    fs.remove("/site/data/other.yaml");
    look(&mut workspace, &fs);
    let others = workspace.snapshot();
    assert!(!others.has_same_environments(&swapped), "other files may mean another hierarchy");
    assert_eq!(keys(&others), ["c", "d"]);
    fs.write("/site/hiera.yaml", "version: 5\nhierarchy: [{name: All, path: 'common.yaml'}]\n");
    look(&mut workspace, &fs);
    assert_eq!(keys(&workspace.snapshot()), ["c"]);
}

#[test]
fn files_that_are_opened_one_after_another_make_the_environments_anew_once() {
    let (_, mut workspace) = site();
    drop(workspace.snapshot());
    work::take();
    for n in 0..200 {
        let path = FilePath::new(&format!("/site/data/new{n}.yaml"));
        workspace.apply(Change::Open(path, format!("n{n}: 1\n")));
    }
    let folders = |n: usize| (0..n).map(|n| FilePath::new(&format!("/other{n}"))).collect();
    (0..200).for_each(|n| workspace.apply(Change::Folders(folders(n))));
    workspace.apply(Change::Folders(vec![FilePath::new("/site")]));
    assert_eq!(work::take().layouts, 0, "nobody has asked");
    let snapshot = workspace.snapshot();
    assert_eq!(workspace.snapshot().revision, snapshot.revision);
    assert_eq!(work::take().layouts, 1);
    assert_eq!(keys(&snapshot).len(), 202);
    assert_eq!(
        snapshot
            .path_of(snapshot.file(&FilePath::new("/site/data/new7.yaml")).unwrap().id)
            .unwrap()
            .name(),
        "new7.yaml"
    );
}

/// A disk on which a file cannot be read, until it can.
struct Refusing<'a>(&'a crate::disk::MemoryFs, bool);

impl FileSystem for Refusing<'_> {
    fn walk(&self, root: &FilePath, limits: &WalkLimits) -> Walk {
        self.0.walk(root, limits)
    }

    fn read(&self, path: &FilePath, max_size: u64) -> Result<Vec<u8>, ReadError> {
        let refused = self.1 && path.name() == "common.yaml";
        if refused {
            Err(ReadError::Other("Permission denied".into()))
        } else {
            self.0.read(path, max_size)
        }
    }

    fn entry(&self, path: &FilePath) -> Option<DiskEntry> {
        self.0.entry(path)
    }

    fn real_path(&self, path: &FilePath) -> Option<FilePath> {
        self.0.real_path(path)
    }
}

#[test]
fn what_could_not_be_read_is_tried_again() {
    let (fs, mut workspace) = site();
    fs.write("/site/data/common.yaml", "c: 1\n");
    let mut look = |refuses: bool| {
        let scanned = scan::scan(&workspace.scan_request(), &Refusing(&fs, refuses), &|_| {});
        workspace.apply(Change::Scanned(Box::new(scanned)));
        workspace.snapshot()
    };
    let refused = look(true);
    assert_eq!(keys(&refused), ["b"]);
    assert_eq!(look(true).revision, refused.revision, "as before is no news");
    assert_eq!(keys(&look(false)), ["b", "c"], "though its stamp is the same");
}

#[test]
fn an_index_that_was_under_way_when_a_file_changed_is_gone_on_from() {
    let (_, mut workspace) = site();
    let first = workspace.snapshot();
    for text in ["c: 1\n", "d: 1\n"] {
        workspace.apply(Change::Open(FilePath::new("/site/data/common.yaml"), text.into()));
    }
    let last = workspace.snapshot();
    assert!(!last.is_indexed());
    assert_eq!(keys(&first), ["a", "b"]);
    assert!(last.is_indexed(), "what the first one has is known, but for a file");
    assert_eq!(keys(&last), ["b", "d"]);
}

#[test]
fn an_index_is_made_anew_only_where_files_or_layers_are_others() {
    let fs = crate::disk::MemoryFs::new();
    fs.write("/site/hiera.yaml", "version: 5\n");
    fs.write("/site/data/common.yaml", "a: 1\n");
    let mut workspace =
        crate::workspace::Workspace::new(WorkspaceConfig::default(), vec![FilePath::new("/site")]);
    let scanned = scan::scan(&workspace.scan_request(), &fs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scanned)));
    assert!(!workspace.snapshot().is_indexed());
    workspace.snapshot().keys();
    assert!(workspace.snapshot().is_indexed());
    workspace.apply(Change::Open(FilePath::new("/site/data/common.yaml"), "b: 1\n".into()));
    assert!(workspace.snapshot().is_indexed());
    workspace.apply(Change::Open(FilePath::new("/site/hiera.yaml"), "version: 5\n# new\n".into()));
    assert!(!workspace.snapshot().is_indexed());
}

#[test]
fn what_takes_long_to_read_makes_nobody_else_wait() {
    let (_, mut workspace) = site();
    let path = FilePath::new("/site/data/common.yaml");
    let text: String = (0..5_000).map(|n| format!("key_{n}: a value\n")).collect();
    let mut is_indexed_after = |change: Change| {
        workspace.apply(change);
        let snapshot = workspace.snapshot();
        let is_indexed = snapshot.is_indexed();
        snapshot.keys();
        (is_indexed, snapshot.is_indexed())
    };
    let edit = |at: usize| {
        Change::Edit(path.clone(), vec![(TextRange::new_empty(at as u32), "x".to_owned())])
    };
    assert_eq!(is_indexed_after(Change::Open(path.clone(), text.clone())), (false, true));
    assert_eq!(
        is_indexed_after(edit(text.find("value").unwrap())),
        (true, true),
        "an entry is soon read"
    );
    let everywhere = text.replace("value", "word");
    assert_eq!(
        is_indexed_after(Change::Replace(path.clone(), everywhere)),
        (false, true),
        "all of the file is not"
    );
    let merged = format!("a: &a {{b: 1}}\n<<: *a\n{text}");
    assert_eq!(is_indexed_after(Change::Replace(path.clone(), merged)), (false, true));
    assert_eq!(is_indexed_after(edit(4_000)), (false, true), "nor what cannot be cut");
}

#[test]
fn where_files_stay_the_same_their_names_do() {
    let (fs, mut workspace) = site();
    let before = workspace.snapshot();
    let config = FilePath::new("/site/hiera.yaml");
    workspace.apply(Change::Open(config.clone(), "version: 5\n".into()));
    let edited = workspace.snapshot();
    assert!(
        std::sync::Arc::ptr_eq(&edited.names, &before.names)
            && !edited.has_same_environments(&before)
    );
    workspace.apply(Change::Open(FilePath::new("/site/data/new.yaml"), "c: 1\n".into()));
    let with_another = workspace.snapshot();
    assert!(!std::sync::Arc::ptr_eq(&with_another.names, &before.names));
    assert_eq!(keys(&with_another), ["a"], "Puppet's own hierarchy has one level, common.yaml");
    workspace.apply(Change::Close(config));
    assert_eq!(keys(&workspace.snapshot()), ["a", "b", "c"]);
    fs.remove("/site/data/other.yaml");
    look(&mut workspace, &fs);
    assert_eq!(keys(&workspace.snapshot()), ["a", "c"]);
}

#[test]
fn before_the_first_entry_there_is_none() {
    let fixture = Fixture::new("#- /hiera.yaml\nversion: 5\n#- /data/common.yaml\na: 1\n");
    let mut workspace = fixture.workspace;
    let path = FilePath::new("/data/common.yaml");
    workspace.apply(Change::Open(path.clone(), "# a head\n---\na: 1\nb: 2\n".into()));
    let snapshot = workspace.snapshot();
    let file = snapshot.file(&path).unwrap();
    let part =
        |offset| file.part_at(offset, &CancelToken::default()).map(|part| part.text.into_owned());
    assert_eq!(
        [0, 9, 13, 18].map(part),
        [None, None, Some("a: 1\n".to_owned()), Some("b: 2\n".to_owned())]
    );
}

#[test]
fn a_tree_that_is_left_off_is_not_taken_for_the_file() {
    // The file is one part, so that its tree is kept.
    let text: String = (0..2_000).map(|n| format!("  key_{n}: [1, 2]\n")).collect();
    let fixture = Fixture::new(&format!(
        "#- /hiera.yaml\nversion: 5\n#- /data/common.yaml\n{{a: 1,\n{}}}\n",
        text.replace("]\n", "],\n")
    ));
    let file = fixture.snapshot.file(&FilePath::new("/data/common.yaml")).unwrap();
    let asked = std::sync::Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let cancelled = CancelToken::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
        true
    });
    assert!(file.part_at(1, &cancelled).is_none());
    assert_eq!(asked.load(Ordering::Relaxed), 1, "nothing is read after the first no");
    let nodes = |cancel: &CancelToken| file.part_at(1, cancel).unwrap().tree.nodes.len();
    assert!(nodes(&CancelToken::default()) > 8_000, "all of it is read");
    assert!(nodes(&cancelled) > 8_000, "what is known need not be read");
}

#[test]
fn an_environment_in_the_path_wins_over_its_default() {
    let snapshot = Fixture::new(
        "
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Environment, path: '%{environment}.yaml'}
  - {name: Site, path: 'sites/%{environment}/%{site}.yaml'}
  - {name: Common, path: common.yaml}
#- /data/production.yaml
a: 1
#- /data/staging.yaml
a: 1
#- /data/sites/staging/west.yaml
a: 1
#- /data/common.yaml
a: 1
",
    )
    .snapshot;
    let environment = &snapshot.environments().all[0];
    let path = |name: &str| FilePath::new(&format!("/data/{name}.yaml"));
    for (file, expected) in [
        ("staging", "staging"),
        ("production", "production"),
        ("sites/staging/west", "staging"),
        // The path does not show the environment, and files of two environments lie here.
        ("common", ""),
    ] {
        let scope = snapshot.inferred_scope(environment, &path(file));
        assert_eq!(known_environment(&scope), expected, "{file}");
        assert!(snapshot.reads_file(environment, &scope, &path(file)), "{file}");
    }
    let together = |files: [&str; 2]| {
        let files = files.map(path);
        let files: Vec<&FilePath> = files.iter().collect();
        snapshot.scope_reading(environment, &files).map(|scope| known_environment(&scope))
    };
    assert_eq!(together(["common", "staging"]).as_deref(), Some("staging"));
    assert_eq!(together(["sites/staging/west", "common"]).as_deref(), Some("staging"));
    assert_eq!(together(["common", "common"]).as_deref(), Some("production"));
    assert_eq!(together(["production", "staging"]), None);
}

#[test]
fn a_datadir_outside_is_read_where_it_lies_below_a_folder_of_the_root() {
    for (folder, is_read) in [("/srv/data", true), ("/data", false)] {
        let fs = crate::disk::MemoryFs::new();
        let config =
            format!("version: 5\nhierarchy: [{{name: All, path: c.yaml, datadir: {folder}}}]\n");
        fs.write("/site/hiera.yaml", config.as_str());
        let path = format!("{folder}/c.yaml");
        fs.write(path.as_str(), "a: 1\n");
        let folders = vec![FilePath::new("/site")];
        let mut workspace = crate::workspace::Workspace::new(WorkspaceConfig::default(), folders);
        let scanned = scan::scan(&workspace.scan_request(), &fs, &|_| {});
        workspace.apply(Change::Scanned(Box::new(scanned)));
        let is_found = workspace.snapshot().file(&FilePath::new(&path)).is_some();
        assert_eq!(is_found, is_read, "{folder}");
    }
}

#[test]
fn of_the_folders_above_only_those_within_the_environment_are_read() {
    let fs = MemoryFs::new();
    let all = ["Puppetfile", "environment.conf", "hiera.yaml", "metadata.json"];
    all.iter().for_each(|name| fs.write(&format!("/srv/code/site/env/{name}"), "{}"));
    // These files above the environment belong to other repositories, or were created by mistake.
    for path in ["/srv/code/site/hiera.yaml", "/srv/code/site/metadata.json", "/metadata.json"] {
        fs.write(path, "version: 5\n");
    }
    fs.write("/srv/code/site/env/modules/m/hiera.yaml", "version: 5\n");
    let of_environment = all.map(|name| format!("/srv/code/site/env/{name}")).to_vec();
    for (opened, expected) in [
        ("/srv/code/site/env", Vec::new()),
        ("/srv/code/site/env/modules/m", of_environment.clone()),
        ("/srv/code/site/env/data", of_environment),
        ("/srv/other", Vec::new()),
    ] {
        let opened = FilePath::new(opened);
        let config = WorkspaceConfig::default();
        let workspace = crate::workspace::Workspace::new(config, vec![opened.clone()]);
        let scanned = scan::scan(&workspace.scan_request(), &fs, &|_| {});
        let outside = scanned.files.keys().filter(|path| !path.is_within(&opened));
        let outside: Vec<&str> = outside.map(FilePath::as_str).collect();
        assert_eq!(outside, expected, "{opened}");
    }
}

#[test]
fn any_file_that_marks_a_control_repository_marks_its_folder() {
    let above = |files: &[&str], path: &str| {
        let fs = MemoryFs::new();
        files.iter().for_each(|file| fs.write(file, ""));
        scan::environment_above(&FilePath::new(path), &fs)
    };
    for name in [".hiera-ls.yaml", "environment.conf", "Puppetfile"] {
        let file = format!("/repo/{name}");
        let found = above(&[&file, "/repo/data/nodes/a.yaml"], "/repo/data/nodes");
        assert_eq!(found, Some(FilePath::new("/repo")), "{name}");
    }
    assert_eq!(above(&["/repo/data/a.yaml"], "/repo/data"), None);
}

#[test]
fn a_cursor_behind_the_last_value_is_at_its_entry() {
    let fixture = Fixture::new("#- /hiera.yaml\nversion: 5\n#- /data/common.json\n{}\n");
    let mut workspace = fixture.workspace;
    let path = FilePath::new("/data/common.json");
    workspace.apply(Change::Open(path.clone(), r#"{"a":1,"b":2}"#.into()));
    let snapshot = workspace.snapshot();
    let file = snapshot.file(&path).unwrap();
    let part =
        |offset| file.part_at(offset, &CancelToken::default()).map(|part| part.text.into_owned());
    assert_eq!([11, 12].map(part), [Some("\"b\":2".to_owned()), Some("\"b\":2".to_owned())]);
}

#[test]
fn a_new_file_in_a_new_folder_is_named_by_globs_before_it_is_saved() {
    let fixture = Fixture::new("#- /hiera.yaml\nversion: 5\n#- /data/common.yaml\na: 1\n");
    let mut workspace = fixture.workspace;
    let path = FilePath::new("/data/new/deep/own.yaml");
    workspace.apply(Change::Open(path.clone(), "b: 1\n".into()));
    let found = workspace.snapshot().glob_files("/data/**/*.yaml");
    assert!(found.contains(&path), "{found:?}");
}

#[test]
fn an_environment_below_a_control_repository_is_a_part_of_it() {
    let fs = MemoryFs::new();
    let paths = ["hiera.yaml", "Puppetfile", "environments/test/hiera.yaml"];
    let more = ["environments/test/environment.conf", "modules/m/hiera.yaml"];
    paths.iter().chain(&more).for_each(|path| fs.write(&format!("/repo/{path}"), ""));
    for folder in ["environments/test", "environments/test/data", "modules/m"] {
        let found = scan::environment_above(&FilePath::new(&format!("/repo/{folder}")), &fs);
        assert_eq!(found, Some(FilePath::new("/repo")), "{folder}");
    }
}
