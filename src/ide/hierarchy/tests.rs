//! Hierarchies over small workspaces, a line for each level and location.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::{Hierarchy, hierarchy_of, hierarchy_page};
use crate::fixture::Fixture;
use crate::hiera::key::LookupKey;
use crate::text::FilePath;

const REPO: &str = r#"
#- scope web01 role=web tenants=["one","two"]
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: Role, path: "roles/%{role}.yaml"}
  - {name: Tenants, mapped_paths: [tenants, tenant, "tenants/%{tenant}.yaml"]}
  - {name: More, glob: "more/%{role}/*.yaml"}
  - {name: Vault, lookup_key: vault_lookup, uri: "https://vault/%{role}"}
  - {name: Function, data_hash: my::data}
  - {name: Common, path: common.yaml}
#- /data/roles/web.yaml
app::port: 80
users: {ada: 1}
#- /data/roles/db.yaml
app::port: 5432
#- /data/tenants/two.yaml
other: 1
#- /data/common.yaml
app::port: 8080
users: {grace: 2}
lookup_options: {users: {merge: hash}}
#- /modules/app/hiera.yaml
version: 5
hierarchy: [{name: App, path: common.yaml}]
default_hierarchy: [{name: Last, path: last.yaml}]
#- /modules/app/data/common.yaml
app::port: 1
"#;

fn check(repo: &str, path: &str, key: Option<&str>, expected: Expect) {
    let fixture = Fixture::new(repo);
    let key = key.map(LookupKey::of_root);
    let shown = hierarchy_of(&fixture.snapshot, &FilePath::new(path), key.as_ref());
    expected.assert_eq(&shown.map_or_else(|| "-\n".to_owned(), |shown| written(&shown, &fixture)));
}

fn written(hierarchy: &Hierarchy, fixture: &Fixture) -> String {
    let mut out = format!("{}\n", hierarchy.scope);
    for level in &hierarchy.levels {
        let place = level.span.map(|span| fixture.text_at(span)).unwrap_or_default();
        writeln!(out, "{} [{}, {}: {place}]", level.name, level.layer, level.config).unwrap();
        for location in &level.locations {
            let key = location
                .key
                .map(|span| format!(" <{}>", fixture.text_at(span)))
                .unwrap_or_default();
            let exists = if location.file.is_some() { "" } else { " (no file)" };
            writeln!(out, "  {:?} {}{exists}{key}", location.state, location.name).unwrap();
            for candidate in &location.candidates {
                let key = if candidate.key.is_some() { ", which has the key" } else { "" };
                writeln!(out, "    {} where {:?}{key}", candidate.name, candidate.when).unwrap();
            }
        }
    }
    out
}

#[test]
fn the_levels_of_a_node_and_the_files_with_the_key() {
    check(
        REPO,
        "/data/common.yaml",
        Some("app::port"),
        expect![[r#"
        node web01
        Node [environment, /hiera.yaml: "nodes/%{trusted.certname}.yaml"]
          Missing data/nodes/web01.yaml (no file)
        Role [environment, /hiera.yaml: "roles/%{role}.yaml"]
          Value data/roles/web.yaml <app::port>
        Tenants [environment, /hiera.yaml: "tenants/%{tenant}.yaml"]
          Missing data/tenants/one.yaml (no file)
          File data/tenants/two.yaml
        More [environment, /hiera.yaml: "more/%{role}/*.yaml"]
          Missing data/more/web/*.yaml (no file)
        Vault [environment, /hiera.yaml: "https://vault/%{role}"]
          Opaque https://vault/web (no file)
        Function [environment, /hiera.yaml: {name: Function, data_hash: my::data}]
          Opaque my::data (no file)
        Common [environment, /hiera.yaml: common.yaml]
          Overridden data/common.yaml <app::port>
        App [module app, /modules/app/hiera.yaml: common.yaml]
          Overridden modules/app/data/common.yaml <app::port>
        Last [module app, /modules/app/hiera.yaml: last.yaml]
          Missing modules/app/data/last.yaml (no file)
    "#]],
    );
}

#[test]
fn what_a_merge_takes_together_is_all_value() {
    check(
        REPO,
        "/data/common.yaml",
        Some("users"),
        expect![[r#"
        node web01
        Node [environment, /hiera.yaml: "nodes/%{trusted.certname}.yaml"]
          Missing data/nodes/web01.yaml (no file)
        Role [environment, /hiera.yaml: "roles/%{role}.yaml"]
          Value data/roles/web.yaml <users>
        Tenants [environment, /hiera.yaml: "tenants/%{tenant}.yaml"]
          Missing data/tenants/one.yaml (no file)
          File data/tenants/two.yaml
        More [environment, /hiera.yaml: "more/%{role}/*.yaml"]
          Missing data/more/web/*.yaml (no file)
        Vault [environment, /hiera.yaml: "https://vault/%{role}"]
          Opaque https://vault/web (no file)
        Function [environment, /hiera.yaml: {name: Function, data_hash: my::data}]
          Opaque my::data (no file)
        Common [environment, /hiera.yaml: common.yaml]
          Value data/common.yaml <users>
    "#]],
    );
}

#[test]
fn without_a_key_and_without_a_node() {
    check(
        &REPO.replace("#- scope web01 role=web tenants=[\"one\",\"two\"]\n", ""),
        "/data/common.yaml",
        None,
        expect![[r#"
            for any node, as none is known
            Node [environment, /hiera.yaml: "nodes/%{trusted.certname}.yaml"]
              Undetermined nodes/%{trusted.certname}.yaml (no file)
            Role [environment, /hiera.yaml: "roles/%{role}.yaml"]
              Undetermined roles/%{role}.yaml (no file)
                data/roles/db.yaml where {"role": "db"}
                data/roles/web.yaml where {"role": "web"}
            Tenants [environment, /hiera.yaml: "tenants/%{tenant}.yaml"]
              Undetermined tenants/%{tenant}.yaml (no file)
                data/tenants/two.yaml where {}
            More [environment, /hiera.yaml: "more/%{role}/*.yaml"]
              Undetermined more/%{role}/*.yaml (no file)
            Vault [environment, /hiera.yaml: "https://vault/%{role}"]
              Undetermined https://vault/%{role} (no file)
            Function [environment, /hiera.yaml: {name: Function, data_hash: my::data}]
              Opaque my::data (no file)
            Common [environment, /hiera.yaml: common.yaml]
              File data/common.yaml
        "#]],
    );
}

#[test]
fn an_undetermined_location_names_its_candidates() {
    let open = REPO.replace("#- scope web01 role=web tenants=[\"one\",\"two\"]\n", "");
    check(
        &open,
        "/modules/app/data/common.yaml",
        Some("app::port"),
        expect![[r#"
            for any node, as none is known
            Node [environment, /hiera.yaml: "nodes/%{trusted.certname}.yaml"]
              Undetermined nodes/%{trusted.certname}.yaml (no file)
            Role [environment, /hiera.yaml: "roles/%{role}.yaml"]
              Undetermined roles/%{role}.yaml (no file)
                data/roles/db.yaml where {"role": "db"}, which has the key
                data/roles/web.yaml where {"role": "web"}, which has the key
            Tenants [environment, /hiera.yaml: "tenants/%{tenant}.yaml"]
              Undetermined tenants/%{tenant}.yaml (no file)
                data/tenants/two.yaml where {}
            More [environment, /hiera.yaml: "more/%{role}/*.yaml"]
              Undetermined more/%{role}/*.yaml (no file)
            Vault [environment, /hiera.yaml: "https://vault/%{role}"]
              Undetermined https://vault/%{role} (no file)
            Function [environment, /hiera.yaml: {name: Function, data_hash: my::data}]
              Opaque my::data (no file)
            Common [environment, /hiera.yaml: common.yaml]
              Value data/common.yaml <app::port>
            App [module app, /modules/app/hiera.yaml: common.yaml]
              Overridden modules/app/data/common.yaml <app::port>
            Last [module app, /modules/app/hiera.yaml: last.yaml]
              Missing modules/app/data/last.yaml (no file)
        "#]],
    );
}

#[test]
fn a_bad_token_leaves_the_levels() {
    let bad = "#- /hiera.yaml\nversion: 5\nhierarchy: [{name: Bad, path: \"%{lookup('x')}.yaml\"}, {name: Common, path: common.yaml}]\n#- /data/common.yaml\na: 1\n";
    check(
        bad,
        "/hiera.yaml",
        Some("a"),
        expect![[r#"
            for any node, as none is known
            Bad [environment, /hiera.yaml: "%{lookup('x')}.yaml"]
            Common [environment, /hiera.yaml: common.yaml]
        "#]],
    );
}

#[test]
fn other_files_have_none() {
    check(
        REPO,
        "/README.md",
        None,
        expect![[r#"
        -
    "#]],
    );
}

#[test]
fn the_page_has_a_row_for_each_location() {
    let fixture = Fixture::new(REPO);
    let page = |path: &str, key: Option<&str>| {
        let key = key.map(LookupKey::of_root);
        hierarchy_page(&fixture.snapshot, &FilePath::new(path), key.as_ref())
    };
    let told = page("/data/roles/web.yaml", Some("app::port"));
    expect![[r#"
        app::port
        node web01

        Node               data/nodes/web01.yaml           no such file
        Role               data/roles/web.yaml:1           has the key; the value comes from it
        Tenants            data/tenants/one.yaml           no such file
                           data/tenants/two.yaml           does not have the key
        More               data/more/web/*.yaml            no such file
        Vault              https://vault/web               not read here
        Function           my::data                        not read here
        Common             data/common.yaml:1              has the key, but a level above answers
        App (module app)   modules/app/data/common.yaml:1  has the key, but a level above answers
        Last (module app)  modules/app/data/last.yaml      no such file
    "#]]
    .assert_eq(&told.expect("the file is data"));
    let told = page("/data/common.yaml", None);
    expect![[r#"
        node web01

        Node      data/nodes/web01.yaml  no such file
        Role      data/roles/web.yaml
        Tenants   data/tenants/one.yaml  no such file
                  data/tenants/two.yaml
        More      data/more/web/*.yaml   no such file
        Vault     https://vault/web      not read here
        Function  my::data               not read here
        Common    data/common.yaml
    "#]]
    .assert_eq(&told.expect("the file is data"));
    assert_eq!(page("/README.md", None), None);
}

#[test]
fn the_page_counts_files_beyond_the_first() {
    let config = "#- /hiera.yaml\nversion: 5\nhierarchy: [{name: Node, path: 'nodes/%{trusted.certname}.yaml'}, {name: Common, path: common.yaml}]\n#- /data/common.yaml\na: 1\n";
    let node = |number: usize| format!("#- /data/nodes/n{number:02}.yaml\nb: 1\n");
    // The files with the key come first, wherever they stand in the order of names.
    let nodes: String = (0..22).map(node).collect();
    let last = "#- /data/nodes/n99.yaml\na: 2\n";
    let fixture = Fixture::new(&format!("{config}{nodes}{last}"));
    let key = LookupKey::of_root("a");
    let page = hierarchy_page(&fixture.snapshot, &FilePath::new("/data/common.yaml"), Some(&key));
    let page = page.expect("the file is data");
    let rows: Vec<&str> = page.lines().map(str::trim).collect();
    let first = rows.iter().position(|row| row.starts_with("data/nodes/")).expect("candidates");
    assert!(rows[first].starts_with("data/nodes/n99.yaml:1"), "{page}");
    assert!(rows[first + 19].starts_with("data/nodes/n18.yaml"), "{page}");
    assert_eq!(rows[first + 20], "3 more files", "{page}");
}
