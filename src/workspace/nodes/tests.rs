use std::sync::Arc;

use super::build::NodeSurroundings;
use super::parts::Parts;
use super::*;
use crate::hiera::scope::Variable;
use crate::puppet::{PuppetVersion, Value};
use crate::text::FilePath;

/// Reads the nodes of a file that includes no other.
fn read_parts(path: &FilePath, text: &str) -> Result<Vec<Parts>, String> {
    let load = |_: &FilePath| (None, None);
    super::read::read_parts_with(
        path,
        text,
        &mut super::sources::plugins::Plugins::new(path, &load),
    )
}

/// The nodes of files, those of one name joined, in an environment `production`.
fn nodes_in(version: u8, files: &[(&str, &str)]) -> Vec<Node> {
    let mut joined: indexmap::IndexMap<Arc<str>, Parts> = indexmap::IndexMap::new();
    for (name, text) in files {
        for parts in read_parts(&FilePath::new(&format!("/{name}")), text).unwrap() {
            match joined.get_mut(&parts.name) {
                Some(known) => known.join(&parts),
                None => drop(joined.insert(parts.name.clone(), parts)),
            }
        }
    }
    let around = NodeSurroundings {
        environment: "production",
        puppet: PuppetVersion::of_major(version),
        rules: &Arc::default(),
    };
    joined.into_values().map(|parts| Arc::new(parts).build_node(Vec::new(), &around)).collect()
}

fn nodes(name: &str, text: &str) -> Vec<Node> {
    nodes_in(7, &[(name, text)])
}

fn path(node: &Node, path: &str) -> String {
    match node.scope.get_path(path) {
        Variable::Known(value) => value.to_text().into_owned(),
        other => format!("{other:?}"),
    }
}

fn paths<const N: usize>(node: &Node, names: [&str; N]) -> [String; N] {
    names.map(|name| path(node, name))
}

#[test]
fn facts_as_facter_prints_them() {
    for (file, text) in [
        (
            "web01.json",
            r#"{"os": {"family": "Debian"}, "networking": {"fqdn": "web01.example.net"}, "gone": null}"#,
        ),
        ("web01.yaml", "os:\n  family: Debian\nnetworking:\n  fqdn: web01.example.net\ngone:\n"),
    ] {
        let found = nodes(file, text);
        assert_eq!(&*found[0].name, "web01.example.net");
        assert_eq!(path(&found[0], "facts.os.family"), "Debian");
        assert_eq!(path(&found[0], "os.family"), "Debian");
        assert_eq!(path(&found[0], "trusted.hostname"), "web01");
        assert_eq!(path(&found[0], "gone"), "");
        assert_eq!(path(&found[0], "nope"), "Undefined");
    }
}

#[test]
fn what_puppet_facts_prints_and_whole_scopes() {
    let found = nodes(
        "x.json",
        r#"{"name": "db01.example.net", "values": {"kernel": "Linux"}, "timestamp": "now"}"#,
    );
    assert_eq!(
        (&*found[0].name, path(&found[0], "facts.kernel").as_str()),
        ("db01.example.net", "Linux")
    );
    let scopes = "{\"facts\": {\"kernel\": \"Linux\"}, \"role\": \"web\", \"trusted\": {\"certname\": \"a\"}}\n\n{\"facts\": {}, \"trusted\": {\"certname\": \"b\"}}\n";
    let found = nodes("fleet.jsonl", scopes);
    assert_eq!(found.iter().map(|node| &*node.name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(path(&found[0], "role"), "web");
    assert_eq!(
        path(&found[0], "kernel"),
        "Undefined",
        "the facts of a whole scope are not spread out"
    );
}

#[test]
fn server_facts_are_there_from_version_8_on() {
    let read = |version: u8, text: &str| {
        let found = nodes_in(version, &[("n.json", text)]).remove(0);
        let scope = found.scope_in("test");
        ["environment", "servername", "serverimplementation", "x"]
            .map(|name| scope.get_path(&format!("server_facts.{name}")))
    };
    let known = |name: &str| Variable::Known(Value::from_argument(name));
    assert_eq!(read(7, "{}"), [const { Variable::Undefined }; 4]);
    assert_eq!(
        read(8, "{}"),
        [known("test"), Variable::Unknown, Variable::Undefined, Variable::Undefined]
    );
    assert_eq!(
        read(9, "{}"),
        [known("test"), Variable::Unknown, Variable::Unknown, Variable::Undefined]
    );
    let given = r#"{"facts": {}, "server_facts": {"servername": "puppet"}}"#;
    assert_eq!(
        read(8, given),
        [Variable::Undefined, known("puppet"), Variable::Undefined, Variable::Undefined]
    );
}

#[test]
fn a_file_of_no_known_form_is_an_error_with_a_reason() {
    let error = |name: &str, text: &str| read_parts(&FilePath::new(name), text).unwrap_err();
    assert!(error("x.yaml", "just text").contains("no hash of facts"));
    assert!(error("x.jsonl", "{}\n{").starts_with("line 2"));
    assert!(error("x.json", "{").contains("line 1"));
    // N7: a dotted name names a part of a fact.
    let dotted = r#"{"networking.fqdn": "a.example.net", "os": {}}"#;
    assert!(error("x.json", dotted).contains("'networking.fqdn' is a part of a fact"));
}

#[test]
fn n1_trusted_among_the_facts_of_puppetdb_is_no_fact() {
    let trusted = r#"{"authenticated": "remote", "certname": "a.example.net", "extensions": {"pp_role": "web"}}"#;
    let inventory = format!(
        r#"[{{"certname": "a.example.net", "environment": "staging", "facts": {{"kernel": "Linux", "trusted": {trusted}}}, "trusted": {trusted}}}]"#
    );
    let stored = format!(
        r#"{{"certname": "a.example.net", "environment": "staging", "facts": {{"href": "/x", "data": [{{"name": "kernel", "value": "Linux"}}, {{"name": "trusted", "value": {trusted}}}]}}}}"#
    );
    let rows = format!(
        r#"[{{"certname": "b.example.net", "environment": "x", "name": "kernel", "value": "BSD"}},
            {{"certname": "a.example.net", "environment": "staging", "name": "kernel", "value": "Linux"}},
            {{"certname": "a.example.net", "environment": "staging", "name": "clientcert", "value": "a.example.net"}},
            {{"certname": "a.example.net", "environment": "staging", "name": "trusted", "value": {trusted}}}]"#
    );
    let found = nodes("pdb.json", &rows);
    // A query for some facts leaves the other facts unknown.
    assert_eq!(&*found[0].name, "b.example.net");
    assert_eq!(paths(&found[0], ["facts.kernel", "facts.os"]), ["BSD", "Unknown"]);
    assert_eq!(paths(&found[1], ["facts.os"]), ["Undefined"]);
    for (text, number) in [(inventory, 0), (stored, 0), (rows, 1)] {
        let found = &nodes("pdb.json", &text)[number..];
        assert_eq!(
            paths(
                &found[0],
                [
                    "trusted.extensions.pp_role",
                    "facts.trusted",
                    "kernel",
                    "facts.kernel",
                    "environment",
                ]
            ),
            ["web", "Undefined", "Linux", "Linux", "staging"]
        );
        let other = found[0].scope_in("other");
        assert_eq!(other.get_path("environment"), Variable::Known("staging".into()));
    }
    // A fact `trusted` that holds no certificate stays a fact, and sets no variable.
    let found = nodes("a.json", r#"{"trusted": "yes"}"#);
    assert_eq!(paths(&found[0], ["facts.trusted", "trusted.certname"]), ["yes", "a"]);
}

#[test]
fn n2_extensions_without_a_source_are_unknown() {
    for text in ["{}", r#"{"name": "x", "values": {}}"#] {
        let found = nodes("x.json", text);
        assert_eq!(
            paths(&found[0], ["trusted.extensions.pp_role", "trusted.certname", "trusted.nope"]),
            ["Unknown", "x", "Undefined"]
        );
    }
    let found = nodes(
        "x.json",
        r#"{"certname": "x", "facts": {}, "trusted": {"certname": "x", "extensions": {}}}"#,
    );
    assert_eq!(path(&found[0], "trusted.extensions.pp_role"), "Undefined");
}

#[test]
fn n3_a_parameter_of_the_classifier_wins_over_a_fact_and_that_over_a_server_fact() {
    let facts = r#"{"name": "a", "values": {"x": "fact", "serverversion": "of the facts", "environment": "of the facts"}}"#;
    let classified = "--- \n:classes: {ntp: {servers: []}}\n:parameters: {x: enc, only: enc, gone: ~, environment: nothing, facts: nothing}\n:environment: staging\n";
    let found = nodes_in(7, &[("facts.json", facts), ("a.yaml", classified)]);
    assert_eq!(found.len(), 1);
    assert_eq!(
        paths(
            &found[0],
            [
                "x",
                "facts.x",
                "only",
                "facts.only",
                "gone",
                "environment",
                "facts.environment",
                "facts.facts",
            ]
        ),
        ["enc", "fact", "enc", "Undefined", "", "staging", "of the facts", "Undefined"]
    );
    let root = FilePath::new("/");
    let source = |name: &str| found[0].source_of(name).map(|source| source.source_phrase(&root));
    assert_eq!(source("x").as_deref(), Some("parameter in a.yaml"));
    assert_eq!(source("facts.x").as_deref(), Some("fact in facts.json"));
    assert_eq!(source("serverversion").as_deref(), Some("fact in facts.json"));
    assert_eq!(source("environment").as_deref(), Some("environment in a.yaml"));
    assert_eq!(source("trusted.certname").as_deref(), Some("its name"));
    let (classes, file) = found[0].classifier_classes().unwrap();
    assert_eq!((classes.get("ntp").is_some(), file.name()), (true, "a.yaml"));
}

#[test]
fn n5_symbols_in_yaml_are_their_texts() {
    let text = "--- !ruby/object:Puppet::Node::Facts\nname: a.example.net\nvalues:\n  :symkey: :symval\n  deep:\n    list:\n    - :x\n    - ~\n  text: \":x\"\ntimestamp: 1970-01-01 00:00:00.000000000 Z\n";
    let found = nodes("a.example.net.yaml", text);
    assert_eq!(&*found[0].name, "a.example.net");
    assert_eq!(paths(&found[0], ["symkey", "facts.symkey"]), ["symval", "symval"]);
    assert_eq!(path(&found[0], "facts.deep.list.0"), "x");
    assert_eq!(path(&found[0], "deep.list.1"), "", "null at any depth is an empty text");
}

#[test]
fn n6_facts_of_a_node_that_only_the_server_s_node_file_tells_are_unknown() {
    let node = "--- !ruby/object:Puppet::Node\nname: a.example.net\nenvironment: staging\nparameters:\n  kernel: Linux\n";
    let found = nodes("a.example.net.yaml", node);
    assert_eq!(
        paths(&found[0], ["kernel", "facts.kernel", "environment", "trusted.domain", "nope"]),
        ["Linux", "Unknown", "staging", "example.net", "Unknown"]
    );
    let facts = r#"{"name": "a.example.net", "values": {"kernel": "fact"}}"#;
    let found = nodes_in(7, &[("node.yaml", node), ("facts.json", facts)]);
    assert_eq!(
        paths(&found[0], ["kernel", "facts.kernel", "nope"]),
        ["Linux", "fact", "Undefined"]
    );
}

#[test]
fn n8_sets_of_facterdb_are_named_after_their_files() {
    let text = r#"{"fqdn": "foo.example.com", "clientcert": "foo.example.com"}"#;
    let found = nodes_in(7, &[("4.2/debian-11-x86_64.facts", text), ("4.2/centos-7.facts", text)]);
    let names: Vec<&str> = found.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["debian-11-x86_64", "centos-7"]);
}

#[test]
fn targets_of_bolt_have_the_facts_and_vars_of_their_groups() {
    let text = "
version: 2
facts: {site: oslo}
groups:
- name: web
  facts: {os: {family: Debian, name: Debian}}
  vars: {role: web}
  targets:
  - uri: ssh://root@web01.example.net:22
    facts: {os: {name: Ubuntu}, secret: {_plugin: prompt}}
  - web02.example.net
  - 192.0.2.1
  - docker://box
- name: other
  vars: {role: other, tier: one}
  targets: [web02.example.net, {_plugin: puppetdb}]
- {name: computed, targets: {_plugin: puppetdb}}
";
    let found = nodes("inventory.yaml", text);
    let names: Vec<&str> = found.iter().map(|node| &*node.name).collect();
    assert_eq!(names, ["web01.example.net", "web02.example.net"]);
    assert_eq!(
        paths(
            &found[0],
            [
                "facts.os.family",
                "os.name",
                "role",
                "facts.site",
                "facts.secret",
                "trusted.hostname",
            ]
        ),
        ["Debian", "Ubuntu", "web", "oslo", "Unknown", "web01"]
    );
    assert_eq!(
        paths(&found[1], ["os.name", "role", "tier"]),
        ["Debian", "Unknown", "one"],
        "two groups contradict each other about the role"
    );
}

#[test]
fn of_two_sources_of_one_part_the_later_counts_as_a_whole() {
    let one = r#"{"name": "a", "values": {"x": "1", "y": "1"}}"#;
    let two = r#"{"name": "a", "values": {"x": "2"}}"#;
    let found = nodes_in(7, &[("one.json", one), ("two.json", two)]);
    assert_eq!(paths(&found[0], ["x", "y"]), ["2", "Undefined"]);
    assert_eq!(found[0].source.name(), "two.json");
}

/// The rows are those of PuppetDB 7.12, whose nodes have `os` and no `role`.
#[test]
fn a_projected_inventory_tells_no_fact_from_one_that_was_not_asked_for() {
    let rows = r#"[
        {"certname": "a.example.net", "environment": "staging", "facts.os": {"family": "Debian"}, "facts.disks": ["a", "b"], "facts.role": null, "facts.networking.ip": "10.0.0.1", "facts.networking.ip6": null, "trusted.extensions.pp_role": "web", "trusted.extensions.pp_zone": null},
        {"certname": "b.example.net", "environment": "production", "facts.os": null, "facts.disks": null, "facts.role": null, "facts.networking.ip": null, "facts.networking.ip6": null, "trusted.extensions.pp_role": null, "trusted.extensions.pp_zone": null}
    ]"#;
    let found = nodes("fleet.json", rows);
    let names = [
        "os.family",
        "facts.os.name",
        "disks.1",
        "role",
        "facts.role",
        "facts.networking.ip",
        "networking.ip6",
        "facts.networking.mac",
        "kernel",
        "trusted.extensions.pp_role",
        "trusted.extensions.pp_zone",
        "trusted.extensions.pp_env",
        "trusted.domain",
        "environment",
    ];
    let a = [
        "Debian",
        "Undefined",
        "b",
        "Undefined",
        "Undefined",
        "10.0.0.1",
        "Unknown",
        "Unknown",
        "Unknown",
        "web",
        "Undefined",
        "Unknown",
        "example.net",
        "staging",
    ];
    let b = [
        "Undefined",
        "Undefined",
        "Undefined",
        "Undefined",
        "Undefined",
        "Undefined",
        "Unknown",
        "Unknown",
        "Unknown",
        "Undefined",
        "Undefined",
        "Unknown",
        "example.net",
        "production",
    ];
    assert_eq!(paths(&found[0], names), a);
    assert_eq!(paths(&found[1], names), b);
    let [one, other] = [0, 1].map(|number| &found[number].parts.settled);
    assert!(Arc::ptr_eq(one, other), "a fleet shares the list of what was asked");
}
