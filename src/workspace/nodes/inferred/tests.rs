use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::fixture::Fixture;
use crate::puppet::value::Value;

/// The nodes of the first environment with their variables, but for the environment.
fn check(fixture: &str, expected: Expect) {
    let snapshot = Fixture::new(fixture).snapshot;
    let mut out = String::new();
    for node in snapshot.nodes_of(&snapshot.environments().all[0]) {
        let root = &snapshot.environments().all[0].root;
        let variables: Vec<String> = node
            .told
            .iter()
            .filter_map(|(name, source)| match node.scope.get_path(name) {
                crate::hiera::scope::Variable::Known(value) => Some(format!(
                    "{name}={} ({})",
                    Value::to_text(&value),
                    source.source_phrase(root)
                )),
                _ => None,
            })
            .collect();
        writeln!(out, "{} from {}: {}", node.name, node.source, variables.join(", ")).unwrap();
    }
    expected.assert_eq(&out);
}

#[test]
fn files_of_the_node_level_are_nodes() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}
- {name: Common, path: common.yaml}
#- /data/nodes/web01.example.net.yaml
#- /data/nodes/common.yaml
#- /data/common.yaml
",
        expect![[r#"
            web01.example.net from /data/nodes/web01.example.net.yaml: trusted.certname=web01.example.net (path of its data file), clientcert=web01.example.net (its name), facts.clientcert=web01.example.net (its name), trusted.hostname=web01 (its name), trusted.domain=example.net (its name)
        "#]],
    );
}

#[test]
fn positions_of_names_are_variables() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Nodes, path: 'nodes/%{location}/%{verified_host}.yaml'}
- {name: Roles, paths: ['roles/%{role}-%{variant}.yaml', 'roles/%{role}.yaml']}
#- /data/nodes/bgo/bgo-api-01.yaml
#- /data/nodes/bgo/bgo-api-02.yaml
#- /data/nodes/osl/osl-db-01.yaml
#- /data/nodes/osl/osl-compute-vgpu-01.yaml
#- /data/nodes/osl/osl-compute-vgpu-02.yaml
#- /data/nodes/bgo/bgo-compute-hpc-01.yaml
#- /data/roles/api.yaml
#- /data/roles/db.yaml
#- /data/roles/compute.yaml
#- /data/roles/compute-vgpu.yaml
#- /data/roles/compute-hpc.yaml
",
        expect![[r#"
            bgo-api-01 from /data/nodes/bgo/bgo-api-01.yaml: location=bgo (path of its data file), verified_host=bgo-api-01 (path of its data file), role=api (part of its name), variant= (its name has no such part)
            bgo-api-02 from /data/nodes/bgo/bgo-api-02.yaml: location=bgo (path of its data file), verified_host=bgo-api-02 (path of its data file), role=api (part of its name), variant= (its name has no such part)
            bgo-compute-hpc-01 from /data/nodes/bgo/bgo-compute-hpc-01.yaml: location=bgo (path of its data file), verified_host=bgo-compute-hpc-01 (path of its data file), role=compute (part of its name), variant=hpc (part of its name)
            osl-compute-vgpu-01 from /data/nodes/osl/osl-compute-vgpu-01.yaml: location=osl (path of its data file), verified_host=osl-compute-vgpu-01 (path of its data file), role=compute (part of its name), variant=vgpu (part of its name)
            osl-compute-vgpu-02 from /data/nodes/osl/osl-compute-vgpu-02.yaml: location=osl (path of its data file), verified_host=osl-compute-vgpu-02 (path of its data file), role=compute (part of its name), variant=vgpu (part of its name)
            osl-db-01 from /data/nodes/osl/osl-db-01.yaml: location=osl (path of its data file), verified_host=osl-db-01 (path of its data file), role=db (part of its name), variant= (its name has no such part)
        "#]],
    );
}

#[test]
fn what_is_no_host_is_no_node() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Release, path: 'os/%{facts.os.release.major}.yaml'}
- {name: Host groups, path: 'groups/%{hostgroup}.yaml'}
- {name: Regions, path: 'region/%{region}.yaml'}
#- /data/os/8.yaml
#- /data/os/9.yaml
#- /data/groups/web1.yaml
#- /data/groups/web2.yaml
#- /data/region/eu-west-1.yaml
#- /data/region/eu-west-2.yaml
",
        expect![[r#""#]],
    );
}

#[test]
fn given_nodes_read_their_own_files_under_other_names() {
    check(
        "
#- node web01.example.net hostname=web01
#- /hiera.yaml
version: 5
hierarchy:
- {name: Node, path: 'nodes/%{hostname}.yaml'}
#- /data/nodes/web01.yaml
#- /data/nodes/web02.yaml
",
        expect![[r#"
            web01.example.net from /scopes.jsonl: 
            web02 from /data/nodes/web02.yaml: hostname=web02 (path of its data file), facts.networking.hostname=web02 (its name), networking.hostname=web02 (its name), facts.hostname=web02 (its name)
        "#]],
    );
}

#[test]
fn nothing_is_inferred_where_it_is_switched_off() {
    check(
        "
#- levels Node Common
#- /data/nodes/web01.example.net.yaml
#- /.hiera-ls.yaml
nodes: {infer: []}
",
        expect![[r#""#]],
    );
}

#[test]
fn files_are_nodes_where_at_most_one_in_twenty_is_named_like_no_host() {
    for (count, is_node) in [(18, false), (19, true)] {
        let names: String =
            (0..count).map(|n| format!("#- /data/web{n:02}.yaml\nk: 1\n")).collect();
        let snapshot = Fixture::new(&format!(
            "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {{name: Machines, path: '%{{box}}.yaml'}}\n{names}#- /data/all.yaml\nk: 1\n"
        ))
        .snapshot;
        let nodes = snapshot.nodes_of(&snapshot.environments().all[0]);
        assert_eq!(!nodes.is_empty(), is_node, "{} of {}", count, count + 1);
    }
}

#[test]
fn one_name_is_no_node_where_the_level_alone_is_named_after_hosts() {
    let level = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Machines, path: '%{box}.yaml'}
#- /data/web01.yaml
k: 1
";
    check(level, expect![[""]]);
    check(
        &format!("{level}#- /data/web02.yaml\nk: 1\n"),
        expect![[r#"
        web01 from /data/web01.yaml: box=web01 (path of its data file)
        web02 from /data/web02.yaml: box=web02 (path of its data file)
    "#]],
    );
}

#[test]
fn a_data_file_of_a_host_is_that_of_the_one_node_with_this_host() {
    let repo = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Nodes, path: 'nodes/%{facts.networking.hostname}.yaml'}
- {name: Common, path: common.yaml}
#- /data/nodes/web01.yaml
k: 1
#- /data/common.yaml
k: 2
#- /manifests/site.pp
node 'web01.example.net' {}
";
    check(
        repo,
        expect![[r#"
        web01.example.net from /manifests/site.pp: trusted={"authenticated"=>"remote", "certname"=>"web01.example.net", "hostname"=>"web01", "domain"=>"example.net"} (its name), facts.networking.hostname=web01 (path of its data file), networking.hostname=web01 (its name), facts.hostname=web01 (its name), hostname=web01 (its name), clientcert=web01.example.net (its name), facts.clientcert=web01.example.net (its name), facts.networking.fqdn=web01.example.net (its name), networking.fqdn=web01.example.net (its name), facts.fqdn=web01.example.net (its name), fqdn=web01.example.net (its name), facts.networking.domain=example.net (its name), networking.domain=example.net (its name), facts.domain=example.net (its name), domain=example.net (its name)
    "#]],
    );
    check(
        &format!("{repo}node 'web01.example.org' {{}}\n"),
        expect![[r#"
        web01.example.net from /manifests/site.pp: trusted={"authenticated"=>"remote", "certname"=>"web01.example.net", "hostname"=>"web01", "domain"=>"example.net"} (its name), clientcert=web01.example.net (its name), facts.clientcert=web01.example.net (its name), facts.networking.fqdn=web01.example.net (its name), networking.fqdn=web01.example.net (its name), facts.fqdn=web01.example.net (its name), fqdn=web01.example.net (its name), facts.networking.hostname=web01 (its name), networking.hostname=web01 (its name), facts.hostname=web01 (its name), hostname=web01 (its name), facts.networking.domain=example.net (its name), networking.domain=example.net (its name), facts.domain=example.net (its name), domain=example.net (its name)
        web01.example.org from /manifests/site.pp: trusted={"authenticated"=>"remote", "certname"=>"web01.example.org", "hostname"=>"web01", "domain"=>"example.org"} (its name), clientcert=web01.example.org (its name), facts.clientcert=web01.example.org (its name), facts.networking.fqdn=web01.example.org (its name), networking.fqdn=web01.example.org (its name), facts.fqdn=web01.example.org (its name), fqdn=web01.example.org (its name), facts.networking.hostname=web01 (its name), networking.hostname=web01 (its name), facts.hostname=web01 (its name), hostname=web01 (its name), facts.networking.domain=example.org (its name), networking.domain=example.org (its name), facts.domain=example.org (its name), domain=example.org (its name)
    "#]],
    );
}

#[test]
fn many_names_are_nodes_where_they_are_of_hosts() {
    let count = |of: &dyn Fn(usize) -> String, count: usize| {
        let files: String =
            (0..count).map(|n| format!("#- /data/places/{}.yaml\nk: 1\n", of(n))).collect();
        let config = "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Places, path: 'places/%{place}.yaml'}\n";
        let snapshot = Fixture::new(&format!("{config}{files}")).snapshot;
        snapshot.nodes_of(&snapshot.environments().all[0]).len()
    };
    let host = |n: usize| format!("web{n:02}.example.net");
    let word = |n: usize| format!("{}town", char::from(b'a' + u8::try_from(n).unwrap()));
    assert_eq!((count(&host, 20), count(&host, 19), count(&word, 20)), (20, 0, 0));
}

#[test]
fn a_position_is_a_variable_where_at_most_one_in_twenty_names_has_no_value_of_it() {
    let with_role = |known: usize| {
        let api: String =
            (0..known).map(|n| format!("#- /data/nodes/osl-api-{n:02}.yaml\n")).collect();
        let text = format!(
            "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {{name: Nodes, path: 'nodes/%{{host}}.yaml'}}\n- {{name: Roles, path: 'roles/%{{role}}.yaml'}}\n#- /data/roles/api.yaml\nk: 1\n#- /data/nodes/osl-odd-01.yaml\n{api}"
        );
        let snapshot = Fixture::new(&text).snapshot;
        let nodes = snapshot.nodes_of(&snapshot.environments().all[0]);
        nodes.iter().filter(|node| node.told.iter().any(|(name, _)| &**name == "role")).count()
    };
    assert_eq!((with_role(19), with_role(16)), (19, 0));
}
