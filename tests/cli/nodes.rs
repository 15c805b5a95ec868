//! `hiera-ls nodes`: the nodes that are known without any setting, and their variables.

use super::{at, repo};
use crate::support::{json_lines, missing, variable};

const CONFIG: &str = "version: 5
hierarchy:
- {name: Nodes, path: 'nodes/%{location}/%{verified_host}.yaml'}
- {name: Roles, path: 'roles/%{role}.yaml'}
";

#[test]
fn nodes_are_listed_with_the_sources_of_their_variables() {
    let root = repo(
        "cli-nodes",
        &[
            ("hiera.yaml", CONFIG),
            ("data/nodes/bgo/bgo-api-01.yaml", "a: 1\n"),
            ("data/nodes/bgo/bgo-db-01.yaml", "a: 2\n"),
            ("data/nodes/osl/osl-api-01.yaml", "a: 3\n"),
            ("data/roles/api.yaml", "b: 1\n"),
            ("data/roles/db.yaml", "b: 2\n"),
        ],
    );
    let (status, out, _) = at(&root, &["nodes"], "");
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "bgo-api-01  data/nodes/bgo/bgo-api-01.yaml
bgo-db-01   data/nodes/bgo/bgo-db-01.yaml
osl-api-01  data/nodes/osl/osl-api-01.yaml
hiera.yaml governs 5 data files; 3 nodes, from data/nodes
"
    );
    let (status, out, _) = at(&root, &["nodes", "osl-api-01"], "");
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "osl-api-01 in production, from data/nodes/osl/osl-api-01.yaml
  location: osl  # path of its data file
  verified_host: osl-api-01  # path of its data file
  role: api  # part of its name
  # other variables are unknown
"
    );
    let (status, out, err) = at(&root, &["nodes", "nope"], "");
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(err.contains("no node 'nope' is known"));
    let (_, out, _) = at(&root, &["lookup", "--node", "osl-api-01", "b"], "");
    assert_eq!(out, "1\n", "its role is known");
}

#[test]
fn kinds_of_nodes_are_listed_where_no_node_is_known() {
    let hierarchy = "version: 5
hierarchy:
- {name: Roles, path: 'roles/%{role}.yaml'}
- {name: Systems, path: 'os/%{facts.os.family}.yaml'}
";
    let root = repo(
        "cli-kinds",
        &[
            ("hiera.yaml", hierarchy),
            ("data/roles/web.yaml", "a: web\n"),
            ("data/roles/db.yaml", "b: db\n"),
            ("data/os/Debian.yaml", "a: apt\n"),
        ],
    );
    let (status, out, _) = at(&root, &["nodes"], "");
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "role = db, facts.os.family = Debian
role = web, facts.os.family = Debian
hiera.yaml governs 3 data files; 2 kinds of nodes, from data/roles and data/os
"
    );
    let kind = "role = db, facts.os.family = Debian";
    let (status, out, _) = at(&root, &["nodes", kind], "");
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "nodes with role = db, facts.os.family = Debian in production
  role: db  # names of data files
  facts.os.family: Debian  # names of data files
  os.family: Debian  # names of data files
  # other variables are unknown
"
    );
    let (_, out, _) = at(&root, &["nodes", "--json"], "");
    let lines = json_lines("the kinds", &out);
    assert_eq!(lines[0]["kind"], kind);
    assert_eq!(lines[0]["variables"]["facts.os.family"], "Debian");
    assert_eq!(lines[0].get("name"), None);
    let (_, out, _) = at(&root, &["lookup", "--node", kind, "a"], "");
    assert_eq!(out, "apt\n");
    std::fs::write(root.join(".hiera-ls.yaml"), "nodes: {infer: [fileNames]}\n").unwrap();
    let (_, out, _) = at(&root, &["nodes"], "");
    assert_eq!(out, "hiera.yaml governs 3 data files; no nodes\n");
}

/// Nodes of the corpus without any setting, compared with its fleet: all of them, and each variable
/// that is claimed of one is right.
#[test]
fn nodes_of_the_corpus_have_the_variables_of_its_fleet() {
    let (Some(root), Some(scopes)) =
        (variable("HIERA_LS_CORPUS_ROOT"), variable("HIERA_LS_CORPUS_SCOPES"))
    else {
        let _ = missing("corpus", "HIERA_LS_CORPUS_ROOT is not set");
        return;
    };
    let fleet = json_lines(&scopes, &std::fs::read_to_string(&scopes).unwrap());
    let (status, out, err) = at(std::path::Path::new(&root), &["nodes", "--json"], "");
    assert_eq!(status, 0, "{err}");
    let nodes = json_lines("the nodes", &out);
    assert_eq!(nodes.len(), fleet.len());
    let mut claimed = [0; 3];
    for node in &nodes {
        let name = node["name"].as_str().unwrap();
        let scope = fleet.iter().find(|scope| scope["verified_host"] == name);
        let scope = scope.unwrap_or_else(|| panic!("the fleet has no {name}"));
        for (count, variable) in claimed.iter_mut().zip(["location", "role", "variant"]) {
            if let Some(value) = node["variables"].get(variable) {
                assert_eq!(value, &scope[variable], "{variable} of {name}");
                *count += 1;
            }
        }
    }
    eprintln!(
        "{claimed:?} of {} nodes have a location, a role, a variant; none is wrong",
        nodes.len()
    );
    assert!(claimed.iter().all(|count| count * 1000 >= nodes.len() * 995), "{claimed:?}");
}
