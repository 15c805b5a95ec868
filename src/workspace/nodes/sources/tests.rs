use crate::fixture::Fixture;
use crate::hiera::scope::Variable;
use crate::text::FilePath;
use crate::workspace::environments::overview::Overview;
use crate::workspace::files::scan;
use crate::workspace::{Change, Snapshot};

/// The nodes of the first environment with these variables, `?` for unknown ones.
fn nodes(snapshot: &Snapshot, variables: &[&str]) -> Vec<String> {
    let environment = &snapshot.environments().all[0];
    let text = |node: &crate::workspace::nodes::Node, name: &&str| match node.scope.get_path(name) {
        Variable::Known(value) => value.to_text().into_owned(),
        Variable::Undefined => "-".into(),
        Variable::Unknown => "?".into(),
    };
    let line = |node: &std::sync::Arc<crate::workspace::nodes::Node>| {
        let values: Vec<String> = variables.iter().map(|name| text(node, name)).collect();
        format!("{} {}", node.name, values.join(" ")).trim_end().to_owned()
    };
    snapshot.nodes_of(environment).iter().map(line).collect()
}

const REPOSITORY: &str = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Node, path: 'nodes/%{facts.networking.hostname}.yaml'}
- {name: Role, path: 'role/%{role}.yaml'}
- {name: OS, path: 'os/%{facts.os.family}.yaml'}
- {name: Common, path: common.yaml}
#- /environment.conf
#- /data/nodes/web01.yaml
#- /data/nodes/lone.yaml
#- /data/role/web.yaml
#- /data/role/mail/server.yaml
#- /data/os/Debian.yaml
#- /data/common.yaml
#- /spec/hosts/web/web01_spec.rb
require 'spec_helper'
describe 'web01.example.net' do
  let(:facts) { { os: { 'family' => 'Debian' } } }
  let(:trusted_facts) { { pp_role: 'w' } }
end
#- /spec/hosts/other_spec.rb
describe 'A group of hosts' do
end
describe 'Upper.example.net' do
end
#- /spec/classes/x_spec.rb
describe 'class01.example.net' do
end
#- /manifests/site.pp
node 'web01.example.net' { include role::web }
node /^mail[12]\\.example\\.net$/ { role('mail::server') }
node 'set.example.net' { $role = 'web' }
node default { include role::web }
#- /inventory.yaml
version: 2
groups:
- name: db
  vars: {role: db}
  targets: [db01.example.net]
#- /enc/db01.example.net.yaml
classes: {postgres: {}}
environment: production
#- /enc/common.yaml
classes: [all]
#- /spec/factsets/full.example.net.json
{\"name\": \"full.example.net\", \"values\": {\"os\": {\"family\": \"RedHat\"}}}
#- /dump/puppetdb.json
[{\"certname\": \"pdb.example.net\", \"facts\": {\"kernel\": \"Linux\"}, \"trusted\": {\"certname\": \"pdb.example.net\"}}]
#- /facts/words.yaml
not: facts
#- /modules/ntp/spec/hosts/fixture_spec.rb
describe 'fixture.example.net' do
end
#- /modules/ntp/spec/factsets/fixture2.json
{\"name\": \"fixture2.example.net\", \"values\": {\"kernel\": \"Linux\"}}
#- /spec/fixtures/modules/x/facts/fixture3.json
{\"name\": \"fixture3.example.net\", \"values\": {\"kernel\": \"Linux\"}}
";

#[test]
fn sources_are_known_by_their_shape() {
    let snapshot = Fixture::new(REPOSITORY).snapshot;
    let variables = ["role", "facts.os.family", "facts.networking.hostname"];
    assert_eq!(
        nodes(&snapshot, &variables),
        [
            "db01.example.net db ? db01",
            "full.example.net - RedHat -",
            "lone ? ? lone",
            "mail1.example.net mail/server ? mail1",
            "mail2.example.net mail/server ? mail2",
            "pdb.example.net - - -",
            "set.example.net web ? set",
            "web01.example.net web Debian web01",
        ]
    );
    let web = snapshot.find_node("web01.example.net").unwrap();
    let root = FilePath::new("/");
    let source = |name: &str| web.source_of(name).map(|source| source.source_phrase(&root));
    assert_eq!(source("role").as_deref(), Some("class in its node block in manifests/site.pp"));
    assert_eq!(source("facts.os").as_deref(), Some("fact in spec/hosts/web/web01_spec.rb"));
    assert_eq!(
        web.scope.get_path("trusted.extensions.pp_role"),
        Variable::Known("w".into()),
        "a spec's trusted facts are extensions"
    );
    let overview = Overview::from_environment(&snapshot, &snapshot.environments().all[0]);
    assert_eq!(
        overview.nodes_phrase(),
        "8 nodes, from manifests/site.pp, dump/puppetdb.json, inventory.yaml, spec/factsets, data/nodes and spec/hosts/web"
    );
}

#[test]
fn each_step_is_switched_off_by_the_setting() {
    let names = |steps: &str| {
        let text = format!("#- /.hiera-ls.yaml\nnodes: {{infer: [{steps}]}}\n{REPOSITORY}");
        let names = nodes(&Fixture::new(&text).snapshot, &[]);
        names
            .iter()
            .map(|name| name.trim_end_matches(".example.net").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(""), [""; 0]);
    assert_eq!(names("fileNames"), ["lone", "web01"]);
    assert_eq!(names("rspec"), ["web01"]);
    assert_eq!(names("bolt"), ["db01"]);
    assert_eq!(names("classifier"), ["db01"]);
    assert_eq!(names("facts"), ["full"]);
    assert_eq!(names("puppetdb"), ["pdb"]);
    assert_eq!(names("nodeBlocks"), ["mail1", "mail2", "set", "web01"]);
}

#[test]
fn n4_a_node_block_s_variable_is_not_seen_with_colons() {
    let text = REPOSITORY.replace("role/%{role}.yaml", "role/%{::role}.yaml");
    let found = nodes(&Fixture::new(&text).snapshot, &["role"]);
    assert!(found.contains(&"set.example.net ?".to_owned()), "{found:?}");
}

#[test]
fn files_belong_to_the_environment_around_them() {
    let text = "
#- /a/hiera.yaml
version: 5
hierarchy: [{name: C, path: common.yaml}]
#- /a/data/common.yaml
#- /a/spec/hosts/one_spec.rb
describe 'one.example.net' do
end
#- /b/hiera.yaml
version: 5
hierarchy: [{name: C, path: common.yaml}]
#- /b/data/common.yaml
#- /b/spec/hosts/two_spec.rb
describe 'two.example.net' do
end
#- /hiera.yaml latin-1
nothing: here
";
    let snapshot = Fixture::new(text).snapshot;
    let of = |root: &str| {
        let mut all = snapshot.environments().all.iter();
        let environment = all.find(|one| one.root.as_str() == root).unwrap();
        let nodes = snapshot.nodes_of(environment);
        nodes.iter().map(|node| node.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(of("/a"), ["one.example.net"]);
    assert_eq!(of("/b"), ["two.example.net"]);
}

#[test]
fn a_scan_reads_only_the_changed_source_again() {
    let mut fixture = Fixture::new(REPOSITORY);
    let before = fixture.workspace.scan_request().known_sources;
    fixture.fs.write(
        "/spec/hosts/web/web01_spec.rb",
        "describe 'web01.example.net' do\n  let(:facts) { { os: { 'family' => 'RedHat' } } }\nend\n",
    );
    let scanned = scan::scan(&fixture.workspace.scan_request(), &fixture.fs, &|_| {});
    let mut read_anew = Vec::new();
    for (new, old) in scanned.sources.iter().zip(before.iter()) {
        assert_eq!(new.path, old.path);
        let pair = new.parts().iter().zip(old.parts());
        read_anew.extend(
            pair.filter(|(new, old)| !std::sync::Arc::ptr_eq(new, old))
                .map(|(new, _)| new.name.to_string()),
        );
    }
    assert_eq!(read_anew, ["web01.example.net"]);
    fixture.workspace.apply(Change::Scanned(Box::new(scanned)));
    let found = nodes(&fixture.workspace.snapshot(), &["facts.os.family"]);
    assert!(found.contains(&"web01.example.net RedHat".to_owned()), "{found:?}");
}

#[test]
fn an_inventory_whose_groups_nest_too_deeply_says_so() {
    let nested = |depth: usize| {
        let mut group = "{name: last, targets: [db01.example.net]}".to_owned();
        for n in 0..depth {
            group = format!("{{name: g{n}, groups: [{group}]}}");
        }
        let mut fixture = Fixture::new("a: 1\n");
        fixture.fs.write("/inventory.yaml", format!("version: 2\ngroups: [{group}]\n"));
        let scanned = scan::scan(&fixture.workspace.scan_request(), &fixture.fs, &|_| {});
        fixture.workspace.apply(Change::Scanned(Box::new(scanned)));
        fixture.workspace.snapshot()
    };
    let snapshot = nested(31);
    assert_eq!(nodes(&snapshot, &[]), ["db01.example.net"]);
    assert!(snapshot.source_errors().is_empty());
    let snapshot = nested(32);
    assert_eq!(nodes(&snapshot, &[]), [""; 0]);
    let errors = snapshot.source_errors();
    assert!(errors[0].1.contains("nested more than 32 deep"), "{errors:?}");
}

#[test]
fn an_inventory_of_another_version_has_no_nodes() {
    for (version, count) in
        [("version: 2\n", 1), ("", 1), ("version: '2'\n", 0), ("version: 1\n", 0)]
    {
        let text = format!(
            "#- levels Common\n#- /data/common.yaml\nk: 1\n#- /inventory.yaml\n{version}targets: [a.example.net]\n"
        );
        assert_eq!(nodes(&Fixture::new(&text).snapshot, &[]).len(), count, "{version}");
    }
}
