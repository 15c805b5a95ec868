//! The nodes and files that an entry can be overridden for, and the changes that write it.

use std::fmt::Write as _;

use super::*;
use crate::ide::refactor::chooser::{
    Chosen, OverrideRequest, OverrideTarget, find_places, list_targets, overridable_key,
};
use crate::text::FilePath;

const FLEET: &str = "#- levels Node Role Common\n#- node web01 trusted.certname=web01 role=web\n#- node web02 trusted.certname=web02 role=web\n#- node db01 trusted.certname=db01 role=db\n";

fn request(fixture: &Fixture) -> (FilePath, u32) {
    let place = fixture.selection();
    let file = fixture.snapshot.file_by_id(place.file).expect("the cursor is in a file");
    (file.path.clone(), place.range.start)
}

/// Returns the targets of a list, a line each.
fn listed(fixture: &Fixture, filter: &str) -> String {
    let (path, offset) = request(fixture);
    let request = OverrideRequest { path: &path, offset, creates_files: true };
    let Some(found) = list_targets(&fixture.snapshot, request, filter) else {
        return "nothing\n".to_owned();
    };
    let mut out = String::new();
    for OverrideTarget { chosen, file, stated, value } in &found.targets {
        let chosen = match chosen {
            Chosen::Node(name) => format!("node {name}"),
            Chosen::File(_) => "file".to_owned(),
        };
        let file = file.as_ref().map_or("-".to_owned(), |it| {
            let new = if it.exists { "" } else { "new " };
            format!("{new}{} of {}, {} nodes", it.path, it.level, it.readers)
        });
        let stated = if stated.is_some() { ", stated" } else { "" };
        writeln!(out, "{chosen}: {file}: {value}{stated}").expect("writing to a string");
    }
    let left_out = found.left_out_files + found.left_out_nodes;
    if left_out > 0 {
        writeln!(out, "{left_out} more").expect("writing to a string");
    }
    out
}

/// Returns the places for the chosen node or file, with the texts after each change.
fn placed(fixture: &Fixture, chosen: &Chosen) -> String {
    let (path, offset) = request(fixture);
    let request = OverrideRequest { path: &path, offset, creates_files: true };
    let Some(places) = find_places(&fixture.snapshot, request, chosen) else {
        return "nothing\n".to_owned();
    };
    let mut out = String::new();
    for place in &places {
        let remark = place.remark.as_ref().map_or(String::new(), |it| format!(" ({it})"));
        writeln!(out, "{}; {}{remark}", place.governs, place.effect).expect("writing to a string");
        match &place.change {
            Ok(change) => {
                for (path, edits) in &change.edits {
                    let text = fixture.snapshot.file(path).and_then(|file| file.text());
                    let text = TextEdit::apply_all(edits, &text.expect("a text").to_str());
                    writeln!(out, "  {path}").expect("writing to a string");
                    text.lines().for_each(|line| out.push_str(&format!("    {line}\n")));
                }
                for (path, text) in &change.created {
                    writeln!(out, "  {path}, new").expect("writing to a string");
                    text.lines().for_each(|line| out.push_str(&format!("    {line}\n")));
                }
            }
            Err(reason) => writeln!(out, "  refused: {reason}").expect("writing to a string"),
        }
    }
    out
}

fn fleet(text: &str) -> Fixture {
    Fixture::new(&format!("{FLEET}{text}"))
}

fn check_list(text: &str, filter: &str, expected: Expect) {
    expected.assert_eq(&listed(&fleet(text), filter));
}

fn check_node(text: &str, node: &str, expected: Expect) {
    expected.assert_eq(&placed(&fleet(text), &Chosen::Node(node.into())));
}

fn check_file(text: &str, path: &str, expected: Expect) {
    expected.assert_eq(&placed(&fleet(text), &Chosen::File(FilePath::new(path))));
}

const SHARED: &str = "#- /data/nodes/web02.yaml\nk: 3\n#- /data/roles/web.yaml\na: 1\n#- /data/common.yaml\n# of k\n$0k: 1 # one\nl: 2\n";

#[test]
fn roles_and_nodes_are_listed_with_their_values_and_files() {
    check_list(
        SHARED,
        "",
        expect![[r#"
        file: /data/roles/web.yaml of Role, 2 nodes: 1
        file: new /data/roles/db.yaml of Role, 1 nodes: 1
        node web01: new /data/nodes/web01.yaml of Node, 1 nodes: 1
        node web02: -: 3, stated
        node db01: new /data/nodes/db01.yaml of Node, 1 nodes: 1
    "#]],
    );
}

#[test]
fn a_filter_chooses_names_in_any_case() {
    check_list(
        SHARED,
        "WEB0",
        expect![[r#"
        node web01: new /data/nodes/web01.yaml of Node, 1 nodes: 1
        node web02: -: 3, stated
    "#]],
    );
    check_list(
        SHARED,
        "role",
        expect![[r#"
        file: /data/roles/web.yaml of Role, 2 nodes: 1
        file: new /data/roles/db.yaml of Role, 1 nodes: 1
    "#]],
    );
}

#[test]
fn the_file_of_the_node_comes_first_and_the_entry_keeps_its_comments() {
    check_node(
        SHARED,
        "web01",
        expect![[r#"
        governs 1 of 3 nodes: web01; changes nothing for the 3 known nodes
          /data/nodes/web01.yaml, new
            # of k
            k: 1 # one
        governs 1 of 3 nodes: web01; 1 more has a value from above; changes nothing for the 3 known nodes
          /data/roles/web.yaml
            a: 1
            # of k
            k: 1 # one
    "#]],
    );
    check_node(SHARED, "web02", expect![[""]]);
    check_node(SHARED, "web03", expect!["nothing\n"]);
}

#[test]
fn a_node_that_reads_another_file_gets_the_text_of_its_own_value() {
    let text = "#- /data/roles/db.yaml\n# of db\nk: \"%{role}\"\n#- /data/roles/web.yaml\n$0k: 1\n#- /data/common.yaml\nk: 2\n";
    check_node(
        text,
        "db01",
        expect![[r#"
        governs 1 of 3 nodes: db01; changes nothing for the 3 known nodes
          /data/nodes/db01.yaml, new
            # of db
            k: "%{role}"
    "#]],
    );
}

#[test]
fn a_merged_value_is_written_as_it_is_without_tokens() {
    let text = "#- /data/roles/web.yaml\n$0k: {a: \"%{role}\", p: '%{literal(''%'')}{x}'}\n#- /data/common.yaml\nlookup_options: {k: {merge: hash}}\nk: {b: [1, ~]}\n";
    check_node(
        text,
        "web01",
        expect![[r#"
        governs 1 of 3 nodes: web01; changes nothing for the 3 known nodes
          /data/nodes/web01.yaml, new
            k:
              b:
                - 1
                - ~
              a: web
              p: "%{literal('%')}{x}"
    "#]],
    );
}

#[test]
fn values_that_differ_are_told_and_the_one_at_the_cursor_is_taken() {
    let text = "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Site, path: 'sites/%{site}.yaml'}\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n#- node a1 role=web site=x\n#- node a2 role=db site=x\n#- node b1 role=web site=y\n#- /data/roles/web.yaml\nk: 2\n#- /data/common.yaml\n$0k: 1\n";
    let fixture = Fixture::new(text);
    expect![[r#"
        file: /data/roles/web.yaml of Role, 2 nodes: 2, stated
        file: new /data/sites/x.yaml of Site, 2 nodes: 2 values
        file: new /data/roles/db.yaml of Role, 1 nodes: 1
        file: new /data/sites/y.yaml of Site, 1 nodes: 2
        node a1: new /data/sites/x.yaml of Site, 2 nodes: 2
        node a2: new /data/roles/db.yaml of Role, 1 nodes: 1
        node b1: new /data/sites/y.yaml of Site, 1 nodes: 2
    "#]]
    .assert_eq(&listed(&fixture, ""));
    expect![[r#"
        governs 2 of 3 nodes: a[1,2]; changes 1 key on 1 of 3 nodes (the nodes have 2 values now; the entry has that of data/common.yaml)
          /data/sites/x.yaml, new
            k: 1
    "#]]
    .assert_eq(&placed(&fixture, &Chosen::File(FilePath::new("/data/sites/x.yaml"))));
}

#[test]
fn a_node_without_a_value_gets_the_one_at_the_cursor() {
    check_node(
        "#- /data/roles/web.yaml\n$0k: 1\n",
        "db01",
        expect![[r#"
        governs 1 of 3 nodes: db01; changes 1 key on 1 of 3 nodes (there is no value now)
          /data/nodes/db01.yaml, new
            k: 1
        governs 1 of 3 nodes: db01; changes 1 key on 1 of 3 nodes (there is no value now)
          /data/roles/db.yaml, new
            k: 1
        governs 1 of 3 nodes: db01; 2 more have a value from above; changes 1 key on 1 of 3 nodes (there is no value now)
          /data/common.yaml, new
            k: 1
    "#]],
    );
}

#[test]
fn a_file_below_the_value_is_no_target() {
    check_file(SHARED, "/data/common.yaml", expect![[""]]);
    let text = "#- /data/nodes/web01.yaml\n$0k: 1\n#- /data/roles/web.yaml\nx: 1\n";
    check_list(
        text,
        "web01",
        expect![[r#"
        node web01: -: 1, stated
    "#]],
    );
}

#[test]
fn text_of_secrets_stays_in_its_file() {
    let nothing = |text: &str| {
        let fixture = fleet(text);
        let (path, offset) = request(&fixture);
        let request = OverrideRequest { path: &path, offset, creates_files: true };
        assert_eq!(overridable_key(&fixture.snapshot, request), None, "{text}");
        assert_eq!(listed(&fixture, ""), "nothing\n", "{text}");
        assert_eq!(placed(&fixture, &Chosen::Node("web01".into())), "nothing\n", "{text}");
    };
    nothing("#- /data/common.yaml\n$0k: s\nlookup_options: {k: {convert_to: Sensitive}}\n");
    nothing("#- /data/common.yaml\n$0k: s\nsops: {mac: x}\n");
    nothing("#- /data/common.yaml\n$0lookup_options: {k: {merge: deep}}\n");
    nothing("#- /data/common.yaml\nk: [1,\n  $02]\n");
    check_list(
        "#- /data/common.yaml\n$0db_password: old\n",
        "web01",
        expect![[r#"
        node web01: new /data/nodes/web01.yaml of Node, 1 nodes: (hidden)
    "#]],
    );
    let encrypted = "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Common, path: common.yaml, lookup_key: eyaml_lookup_key, options: {pkcs7_private_key: a, pkcs7_public_key: b}}\n#- node web01 trusted.certname=web01\n#- /data/common.yaml\n$0k: ENC[PKCS7,aa]\n";
    expect![[r#"
        governs 1 of 1 node: web01; 
          refused: one of the two files is for secrets, or decrypts them in another way
    "#]]
    .assert_eq(&placed(&Fixture::new(encrypted), &Chosen::Node("web01".into())));
}

#[test]
fn a_merged_value_leaves_no_file_of_secrets() {
    let text = |lower: &str| {
        let fixture = Fixture::new(&format!(
            "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {{name: Node, path: 'nodes/%{{trusted.certname}}.yaml'}}\n- {{name: Common, path: common.yaml}}\n- {{name: Lower, path: {lower}.yaml}}\n#- node web01 trusted.certname=web01\n#- /data/common.yaml\n$0k: [open]\nlookup_options: {{k: {{merge: unique}}}}\n#- /data/{lower}.yaml\nk: [closed]\n"
        ));
        placed(&fixture, &Chosen::Node("web01".into()))
    };
    assert!(text("defaults").contains("closed"), "{}", text("defaults"));
    let found = text("all.secrets");
    assert!(found.contains("open") && !found.contains("closed"), "{found}");
}

#[test]
fn text_with_an_anchor_is_replaced_by_its_value() {
    let text = "#- /data/common.yaml\nx: &a [1]\n$0k: *a\n";
    check_node(
        text,
        "web01",
        expect![[r#"
        governs 1 of 3 nodes: web01; changes nothing for the 3 known nodes
          /data/nodes/web01.yaml, new
            k:
              - 1
        governs 2 of 3 nodes: web[01,02]; changes nothing for the 3 known nodes
          /data/roles/web.yaml, new
            k:
              - 1
    "#]],
    );
}

#[test]
fn a_value_of_a_module_is_overridden_in_the_environment() {
    let text = "#- /modules/app/hiera.yaml\nversion: 5\nhierarchy:\n- {name: Defaults, path: defaults.yaml}\n#- /modules/app/data/defaults.yaml\n$0app::port: 80\n#- /data/common.yaml\nx: 1\n";
    check_list(
        text,
        "",
        expect![[r#"
        file: /data/common.yaml of Common, 3 nodes: 80
        file: new /data/roles/web.yaml of Role, 2 nodes: 80
        file: new /data/roles/db.yaml of Role, 1 nodes: 80
        node web01: new /data/nodes/web01.yaml of Node, 1 nodes: 80
        node web02: new /data/nodes/web02.yaml of Node, 1 nodes: 80
        node db01: new /data/nodes/db01.yaml of Node, 1 nodes: 80
    "#]],
    );
}

#[test]
fn kinds_of_nodes_take_the_place_of_nodes_where_none_is_known() {
    let text = "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Common, path: common.yaml}\n#- /data/roles/web.yaml\nx: 1\n#- /data/roles/db.yaml\nk: 2\n#- /data/common.yaml\n$0k: 1\n";
    let fixture = Fixture::new(text);
    expect![[r#"
        file: /data/roles/db.yaml of Role, 1 nodes: 2, stated
        file: /data/roles/web.yaml of Role, 1 nodes: 1
        node role = db: -: 2, stated
        node role = web: /data/roles/web.yaml of Role, 1 nodes: 1
    "#]]
    .assert_eq(&listed(&fixture, ""));
    expect![[r#"
        governs 1 of 2 kinds of nodes: role = web; changes nothing for the 2 known kinds of nodes
          /data/roles/web.yaml
            x: 1
            k: 1
    "#]]
    .assert_eq(&placed(&fixture, &Chosen::Node("role = web".into())));
}

#[test]
fn without_any_node_the_files_above_are_listed() {
    let text = "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Local, path: local.yaml}\n- {name: Common, path: common.yaml}\n#- /data/common.yaml\n$0k: 1\n";
    let fixture = Fixture::new(text);
    expect![[r#"
        file: new /data/local.yaml of Local, 1 nodes: 1
    "#]]
    .assert_eq(&listed(&fixture, ""));
    expect![[r#"
        governs the nodes that read the file; changes nothing: no node is known
          /data/local.yaml, new
            k: 1
    "#]]
    .assert_eq(&placed(&fixture, &Chosen::File(FilePath::new("/data/local.yaml"))));
}

/// Nodes of so many roles.
fn large(nodes: usize, roles: usize) -> Fixture {
    let nodes: String = (0..nodes)
        .map(|n| format!("#- node n{n} trusted.certname=n{n} role=r{:03}\n", n % roles))
        .collect();
    Fixture::new(&format!("#- levels Node Role Common\n{nodes}#- /data/common.yaml\n$0k: 1\n"))
}

#[test]
fn at_most_fifty_files_and_fifty_nodes_are_listed_and_the_others_counted() {
    let list = listed(&large(120, 60), "");
    let count = |start: &str| list.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("file"), count("node")), (50, 50), "{list}");
    assert!(list.ends_with("\n80 more\n"), "{list}");
    assert_eq!(listed(&large(120, 60), "n119").lines().count(), 1);
}

#[test]
fn what_is_typed_locates_levels_as_often_for_any_number_of_nodes() {
    let work = |nodes: usize, filter: &str| {
        let fixture = large(nodes, 20);
        let first = listed(&fixture, "");
        crate::text::work::take();
        let next = listed(&fixture, filter);
        let counts = crate::text::work::take();
        assert_ne!(first, next);
        (counts.located, counts.lookups)
    };
    for filter in ["r00", "n1", "n59", "zz"] {
        let few = work(60, filter);
        let many = work(600, filter);
        // At most fifty nodes are listed, each with its levels.
        let listed = if filter.starts_with('n') { 50 * 4 } else { 0 };
        assert!(many.0 <= few.0 + listed, "{filter}: {many:?}, {few:?}");
        assert_eq!(many.1, few.1, "{filter}");
        assert!(few.0 > 0);
    }
}

#[test]
fn a_file_governs_the_nodes_that_read_it_above_the_value_wherever_levels_put_it() {
    let text = "#- /hiera.yaml\nversion: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Mapped, mapped_paths: [tiers, tier, 'tiers/%{tier}.yaml']}\n- {name: Role, paths: ['roles/%{role}.yaml', 'more/%{role}.yaml']}\n- {name: Glob, glob: 'parts/*.yaml'}\n- {name: Twice, paths: ['roles/web.yaml', 'last/%{role}.yaml']}\n- {name: Common, path: common.yaml}\n#- node web01 trusted.certname=web01 role=web\n#- node db01 trusted.certname=db01 role=db\n#- node app01 trusted.certname=app01 role=app\n#- /data/more/db.yaml\nk: 2\n#- /data/parts/a.yaml\na: 1\n#- /data/parts/b.yaml\nk: 3\n#- /data/parts/c.yaml\na: 1\n#- /data/roles/web.yaml\na: 1\n#- /data/last/app.yaml\na: 1\n#- /data/common.yaml\n$0k: 1\n";
    let fixture = Fixture::new(text);
    expect![[r#"
        file: /data/parts/a.yaml of Glob, 3 nodes: 3
        file: /data/parts/b.yaml of Glob, 3 nodes: 2 values, stated
        file: /data/roles/web.yaml of Role, 3 nodes: 3
        file: new /data/more/app.yaml of Role, 1 nodes: 3
        file: /data/more/db.yaml of Role, 1 nodes: 2, stated
        file: new /data/more/web.yaml of Role, 1 nodes: 3
        file: new /data/roles/app.yaml of Role, 1 nodes: 3
        file: new /data/roles/db.yaml of Role, 1 nodes: 2
        node web01: new /data/nodes/web01.yaml of Node, 1 nodes: 3
        node db01: new /data/nodes/db01.yaml of Node, 1 nodes: 2
        node app01: new /data/nodes/app01.yaml of Node, 1 nodes: 3
    "#]]
    .assert_eq(&listed(&fixture, ""));
}

#[test]
fn nodes_beyond_the_compared_answers_have_their_own() {
    let nodes: String =
        (0..520).map(|n| format!("#- node n{n} trusted.certname=n{n} role=web ip={n}\n")).collect();
    let fixture = Fixture::new(&format!(
        "#- levels Node Role Common\n{nodes}#- /data/common.yaml\n$0k: '%{{ip}}'\n"
    ));
    let list = listed(&fixture, "n51");
    assert_eq!(list.lines().count(), 11, "{list}");
    let role = "file: new /data/roles/web.yaml of Role, 520 nodes: more values than are compared\n";
    assert_eq!(listed(&fixture, "role"), role);
    let places = placed(&fixture, &Chosen::File(FilePath::new("/data/roles/web.yaml")));
    let all = "governs 520 of 520 nodes: n[0-9], n[10-99], n[100-519]; changes nothing for the 520 known nodes\n";
    assert!(places.starts_with(all), "{places}");
    assert!(
        list.contains("node n519: new /data/nodes/n519.yaml of Node, 1 nodes: '519'"),
        "{list}"
    );
}

#[test]
fn at_most_eight_files_of_a_node_are_offered() {
    let levels: String =
        (0..12).map(|n| format!("- {{name: L{n}, path: 'l{n}/%{{role}}.yaml'}}\n")).collect();
    let fixture = Fixture::new(&format!(
        "#- /hiera.yaml\nversion: 5\nhierarchy:\n{levels}- {{name: Common, path: common.yaml}}\n#- node n role=web\n#- /data/common.yaml\n$0k: 1\n"
    ));
    let places = placed(&fixture, &Chosen::Node("n".into()));
    assert_eq!(places.lines().filter(|line| line.starts_with("governs")).count(), 8, "{places}");
    assert!(places.contains("/data/l0/web.yaml") && !places.contains("/data/l8/web.yaml"));
}

#[test]
fn names_of_many_nodes_are_cut() {
    let nodes: String =
        ["a", "b", "c", "d", "e", "f"].map(|n| format!("#- node {n} role=web\n")).concat();
    let fixture =
        Fixture::new(&format!("#- levels Role Common\n{nodes}#- /data/common.yaml\n$0k: 1\n"));
    let places = placed(&fixture, &Chosen::File(FilePath::new("/data/roles/web.yaml")));
    assert!(places.starts_with("governs 6 of 6 nodes: a, b, c, d, 2 more; "), "{places}");
}
