//! Rules about data that works, and can be shorter, clearer or safer.

use expect_test::expect;

use super::check;
use crate::diagnostics::{Finding, check_all, check_file};
use crate::fixture::Fixture;
use crate::text::{FilePath, Span, work};

/// Returns the messages of a rule, which is turned on, each with its file.
fn messages(code: &str, text: &str) -> Vec<String> {
    messages_with_places(code, text).into_iter().map(|(message, _)| message).collect()
}

/// Returns the messages of a rule with the names of the files of their related places.
fn messages_with_places(code: &str, text: &str) -> Vec<(String, Vec<String>)> {
    let fixture = Fixture::new(text);
    let mut rules = fixture.settings.rules.clone();
    rules.severities.insert(code.to_owned(), crate::diagnostics::Severity::Warning);
    let found = check_all(&fixture.snapshot, &rules);
    let of_rule = found.iter().filter(|finding| finding.rule.code == code);
    let name = |span: Span| {
        fixture.snapshot.path_of(span.file).expect("a file of the workspace").name().to_owned()
    };
    let render = |one: &Finding| {
        let places = one.related.iter().map(|place| name(place.span)).collect();
        (format!("{}: {}", name(one.span), one.message), places)
    };
    of_rule.map(render).collect()
}

#[test]
fn an_override_is_redundant_only_where_all_readers_get_the_same_without_it() {
    let head = "#- levels Node Role Common\n#- node web01 role=web\n#- node web02 role=web\n";
    let role = "#- /data/roles/web.yaml\nmotd: hello\n";
    let same = format!("{head}{role}#- /data/common.yaml\nmotd: hello\n");
    assert_eq!(messages("redundant-override", &same).len(), 1);
    let other = format!("{head}{role}#- /data/common.yaml\nmotd: bye\n");
    assert_eq!(messages("redundant-override", &other), [""; 0]);
    let between = format!(
        "{head}#- /data/nodes/web01.yaml\nmotd: hello\n#- /data/roles/web.yaml\nmotd: bye\n#- /data/common.yaml\nmotd: hello\n"
    );
    assert_eq!(messages("redundant-override", &between), [""; 0], "the role lies between them");
    let elsewhere = format!("#- node db01 role=db\n{same}#- /data/roles/db.yaml\nmotd: hello\n");
    let found = messages_with_places("redundant-override", &elsewhere);
    let of_web = found.iter().find(|(message, _)| message.starts_with("web.yaml"));
    assert_eq!(of_web.expect("it is found").1, ["common.yaml"], "no web node reads db.yaml");
    let converted = format!(
        "{head}{role}#- /data/common.yaml\nmotd: hello\nlookup_options: {{motd: {{convert_to: Sensitive}}}}\n"
    );
    assert_eq!(messages("redundant-override", &converted), [""; 0], "secrets are not compared");
}

#[test]
fn a_merged_value_adds_nothing_only_where_all_of_it_is_elsewhere() {
    let text = |role: &str| {
        format!(
            "#- levels Role Common\n#- node web01 role=web\n#- /data/roles/web.yaml\nx: {role}\n#- /data/common.yaml\nlookup_options: {{x: {{merge: hash}}}}\nx: {{a: 1, b: 2}}\n"
        )
    };
    assert_eq!(messages("merge-adds-nothing", &text("{a: 1}")).len(), 1);
    assert_eq!(messages("merge-adds-nothing", &text("{a: 2}")), [""; 0]);
    assert_eq!(messages("merge-adds-nothing", &text("{c: 1}")), [""; 0]);
    let called = |calls: &str| {
        format!(
            "#- levels Role Common\n#- node web01 role=web\n#- /data/roles/web.yaml\nx: [a]\n#- /data/common.yaml\nx: [a, b]\n#- /manifests/site.pp\n{calls}\n"
        )
    };
    let unique = called("$x = lookup('x', Array, 'unique')");
    assert_eq!(messages("merge-adds-nothing", &unique).len(), 1, "a call merges");
    assert_eq!(messages("redundant-override", &unique), [""; 0]);
    let both = called("$x = lookup('x', Array, 'unique')\n$y = lookup('x')");
    assert_eq!(messages("merge-adds-nothing", &both), [""; 0], "a call reads the first alone");
}

/// Returns how many lookups these rules cost, each turned on.
fn lookups(codes: &[&str], text: &str) -> usize {
    let fixture = Fixture::new(text);
    let mut rules = fixture.settings.rules.clone();
    for code in codes {
        rules.severities.insert((*code).to_owned(), crate::diagnostics::Severity::Warning);
    }
    work::take();
    check_all(&fixture.snapshot, &rules);
    work::take().lookups
}

#[test]
fn the_rules_about_removable_entries_share_one_proof_an_entry() {
    let text = "#- levels Role Common\n#- node web01 role=web\n#- /data/roles/web.yaml\nmotd: hello\nx: [a]\n#- /data/common.yaml\nmotd: hello\nx: [a, b]\nlookup_options: {x: {merge: unique}}\n";
    let none = lookups(&[], text);
    let one = lookups(&["redundant-override"], text) - none;
    let both = lookups(&["redundant-override", "merge-adds-nothing"], text) - none;
    assert!(one > 0);
    assert_eq!(both, one);
}

#[test]
fn the_proof_of_an_entry_ends_at_the_first_difference() {
    let nodes: String = (0..40)
        .map(|n| {
            format!(
                "#- node n{n} trusted.certname=n{n} role=web\n#- /data/nodes/n{n}.yaml\nx: {n}\n"
            )
        })
        .collect();
    let text = format!(
        "#- levels Node Role Common\n{nodes}#- /data/roles/web.yaml\nmotd: [a]\n#- /data/common.yaml\nmotd: [b, \"%{{trusted.certname}}\"]\nlookup_options: {{motd: {{merge: unique}}}}\n"
    );
    let cost = lookups(&["redundant-override"], &text) - lookups(&[], &text);
    // Each of two entries is looked up in two scopes before and after: an unknown node gets another
    // value.
    assert!(cost <= 8, "{cost}");
    let between = "#- /hiera.yaml\nversion: 5\nhierarchy:\n  - {name: A, path: a.yaml}\n  - {name: B, path: b.yaml}\n  - {name: C, path: c.yaml}\n#- node web01\n#- /data/a.yaml\nk: 1\n#- /data/b.yaml\nk: 2\n#- /data/c.yaml\nk: 1\n";
    let cost = lookups(&["redundant-override"], between) - lookups(&[], between);
    assert_eq!(cost, 1, "a reader needs the first one, and the order of levels proves the others");
    let nodes: String = (0..40)
        .map(|n| format!("#- node n{n} trusted.certname=n{n} role=web\n#- /data/nodes/n{n}.yaml\nmotd: {{own: {n}}}\n"))
        .collect();
    let hashes = format!(
        "#- levels Node Role Common\n{nodes}#- /data/roles/web.yaml\nmotd: {{a: 1}}\n#- /data/common.yaml\nmotd: {{c: 1}}\nlookup_options: {{motd: {{merge: deep}}}}\n"
    );
    let cost = lookups(&["merge-adds-nothing"], &hashes) - lookups(&[], &hashes);
    // One lookup for a reader of each file shows that the reader needs the entry. The entry of the
    // lowest level is looked up before and after.
    assert!(cost <= 41 + 5, "{cost}");
}

#[test]
fn a_value_must_be_of_the_type_that_a_call_asks_for() {
    let code = |call: &str| format!("n: '4'\nlist: [a, 1]\n#- /manifests/site.pp\n$x = {call}\n");
    for call in [
        "lookup('n', Integer)",
        "lookup('n', {value_type => Integer})",
        "lookup('list', Array[String])",
    ] {
        assert_eq!(messages("typed-reader", &code(call)).len(), 1, "{call}");
    }
    for call in [
        "lookup('n')",
        "lookup('n', String)",
        "lookup('n', Variant[Integer, String])",
        "lookup(['m', 'n'], Integer)",
        "lookup('n.m', Integer)",
        "lookup('list', Array[String], 'unique')",
        "lookup('n', Absent::Type)",
    ] {
        assert_eq!(messages("typed-reader", &code(call)), [""; 0], "{call}");
    }
}

#[test]
fn a_conflict_is_one_finding() {
    check(
        "a: 1\n<<<<<<< HEAD\nb: 2\nc: [\n=======\nb: 3\n>>>>>>> other\nd: 4\n",
        expect![[r#"
            data/common.yaml:2:1: error: the conflict between 'HEAD' and 'other' is not resolved: Puppet refuses the whole file [merge-conflict]
              2 | <<<<<<< HEAD
                | ^^^^^^^^^^^^
        "#]],
    );
    check("a: |\n  <<<<<<< HEAD\n  =======\n  >>>>>>> x\n", expect![""]);
    assert_eq!(messages("merge-conflict", "<<<<<<< HEAD\nb: 2\n>>>>>>> other\n"), [""; 0]);
}

#[test]
fn a_long_file_with_an_error_and_without_a_conflict_is_not_read_by_lines() {
    let steps = |text: &str| {
        work::take();
        messages("merge-conflict", text);
        work::take().steps
    };
    let lines: String = (0..500).map(|n| format!("k{n}: 1\n")).collect();
    assert_eq!(steps(&format!("{lines}open: [\n{lines}")), 0);
    let conflict = "<<<<<<< HEAD\nb: 2\nc: [\n=======\nb: 3\n>>>>>>> other\n";
    assert!(steps(&format!("{lines}{conflict}{lines}")) > 1_000);
}

#[test]
fn words_that_stand_twice_are_reported_in_lists_of_plain_words_alone() {
    assert_eq!(
        messages("duplicate-element", "x: [a, b, a]\ny: {z: [{p: [c, c]}]}\n"),
        [
            "common.yaml: 'a' stands in this list already",
            "common.yaml: 'c' stands in this list already"
        ]
    );
    for data in [
        "x: [a b, a b]\n",
        "x: [-v, -v]\n",
        "x: [1, 1]\n",
        "x: {k: [a, a], v: [b, c]}\n",
        "x: [a, \"%{y}\", a]\n",
        "x: [{a: 1}, {a: 1}]\n",
    ] {
        assert_eq!(messages("duplicate-element", data), [""; 0], "{data}");
    }
}

#[test]
fn private_keys_are_reported_and_not_quoted() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\\nc2VjcmV0\\n-----END RSA PRIVATE KEY-----";
    let fixture = Fixture::new(&format!("k: \"{key}\"\n"));
    let shown = fixture.rendered_findings();
    assert!(shown.contains("[private-key-in-clear]") && !shown.contains("c2VjcmV0"), "{shown}");
    for data in [
        format!("k: \"{}\"\n", key.replace("RSA", "ENCRYPTED")),
        format!("k: \"{}\"\n", key.replace("PRIVATE", "PUBLIC")),
        format!("#- levels Node Common\n#- /data/nodes/test01.yaml\nk: \"{key}\"\n"),
    ] {
        assert_eq!(messages("private-key-in-clear", &data), [""; 0], "{data}");
    }
}

#[test]
fn facts_that_puppet_8_leaves_out_are_reported_once_a_file() {
    let data = "a: \"%{::osfamily}\"\nb: \"%{facts.hostname} %{facts.os.family}\"\n";
    assert_eq!(
        messages("legacy-fact", data),
        [
            "common.yaml: Puppet 8 does not send the fact '::osfamily', which is in 'facts.os.family'; one more token of this file has such a fact"
        ]
    );
    let old = format!("{data}#- /.hiera-ls.yaml\npuppet: {{version: 7}}\n");
    assert_eq!(messages("legacy-fact", &old), [""; 0]);
    assert_eq!(messages("legacy-fact", "a: \"%{id} %{role}\"\n"), [""; 0]);
}

#[test]
fn variables_of_classes_are_reported_and_those_of_the_top_scope_are_not() {
    assert_eq!(messages("class-variable", "a: \"%{::apache::port} %{b::c::d}\"\n").len(), 2);
    assert_eq!(messages("class-variable", "a: \"%{::port} %{port} %{facts.a}\"\n"), [""; 0]);
}

#[test]
fn an_anchor_without_an_alias_is_reported() {
    assert_eq!(messages("anchor-unused", "a: &x {p: 1}\nb: &y 1\nc: *x\n").len(), 1);
    assert_eq!(messages("anchor-unused", "a: &x {p: 1}\nb: {<<: *x}\nc: 'R&D'\n"), [""; 0]);
    let unreached = "#- levels Common\n#- /data/other.yaml\na: &x 1\n#- /data/common.yaml\nk: 1\n";
    assert_eq!(messages("anchor-unused", unreached), [""; 0], "no level reads it");
}

#[test]
fn a_file_with_another_ending_is_reported_once() {
    let text = "#- levels Node Common\n#- /data/nodes/a.yml\nx: 1\n#- /data/orphan.yml\nx: 1\n#- /data/common.yaml\nx: 1\n";
    assert_eq!(messages("unread-extension", text).len(), 1);
    assert_eq!(messages("unreached-file", text).len(), 1, "the orphan");
}

#[test]
fn a_file_is_stale_only_where_stated_nodes_read_most_files_of_its_level() {
    let files = |names: &[&str]| -> String {
        names.iter().map(|name| format!("#- /data/nodes/{name}.yaml\nmotd: hello\n")).collect()
    };
    let given = |names: &[&str]| -> String {
        names.iter().map(|name| format!("#- node {name} role=web\n")).collect()
    };
    let stale = |text: String| messages("stale-node-file", &text);
    let all = ["a01", "a02", "a03", "a04"];
    let head = "#- levels Node Role Common\n";
    let gone = files(&[&all[..], &["old"]].concat());
    let given_all = given(&all);
    let found = stale(format!("{head}{given_all}{gone}"));
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("old.yaml: ") && found[0].contains("4 of the 5 files"));
    // A sample of nodes is not a list of all nodes.
    let two = given(&all[..2]);
    assert_eq!(stale(format!("{head}{two}{gone}")), [""; 0]);
    let many = files(&[&all[..], &["old", "older"]].concat());
    assert_eq!(stale(format!("{head}{given_all}{many}")), [""; 0], "two of six are too many");
    // The file `default` has shared data, and belongs to no node.
    let shared = files(&[&all[..], &["default"]].concat());
    assert_eq!(stale(format!("{head}{given_all}{shared}")), [""; 0]);
    // Blocks of a manifest tell of nodes by name, by the start of a name, or by a pattern. A block
    // for all other nodes tells of no node.
    let block = |blocks: &str| format!("{head}#- /manifests/site.pp\n{blocks}\n{gone}");
    let by_name = "node a01, a02, a03 { }\nnode 'a04' { }\nnode default { }";
    assert_eq!(stale(block(by_name)).len(), 1);
    assert_eq!(stale(block("node a01, a02, a03, a04 { }\nnode /^o/ { }")), [""; 0]);
    assert_eq!(stale(block("node default { }")), [""; 0]);
    // No node has the role `gone` any more.
    let roles = ["web", "db", "mail", "dns", "gone"]
        .map(|role| format!("#- /data/roles/{role}.yaml\nmotd: hello\n"));
    let of_roles = |last: &str| {
        let nodes = "#- node a01 role=web\n#- node a02 role=db\n#- node a03 role=mail\n#- node a04 role=dns\n";
        stale(format!("{head}{nodes}{last}{}", roles.concat()))
    };
    let found = of_roles("");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("gone.yaml: no known node reads this file"), "{found:?}");
    assert_eq!(of_roles("#- node a05 role=gone\n"), [""; 0]);
}

#[test]
fn findings_of_shared_data_need_no_search_for_stale_files() {
    let nodes: String = (0..20)
        .map(|n| format!("#- node a{n} role=web\n#- /data/nodes/a{n}.yaml\nmotd: hello\n"))
        .collect();
    let text = format!("#- levels Node Common\n{nodes}#- /data/common.yaml\nmotd: bye\n");
    let fixture = Fixture::new(&text);
    let steps = |path: &str| {
        work::take();
        check_file(&fixture.snapshot, &FilePath::new(path), &fixture.settings.rules);
        work::take().steps
    };
    assert_eq!(steps("/data/common.yaml"), 0);
    assert_eq!(steps("/data/nodes/a7.yaml"), 20, "each file of the level once");
    assert_eq!(steps("/data/nodes/a8.yaml"), 0, "the answer is known");
}

#[test]
fn a_definition_is_shadowed_only_where_each_reader_takes_another_before() {
    let config = "#- /hiera.yaml\nversion: 5\nhierarchy:\n  - {name: Node, path: \"nodes/%{trusted.certname}.yaml\"}\n  - {name: Role, path: \"roles/%{role}.yaml\"}\n  - {name: Part, path: \"parts/%{role}/%{part}.yaml\"}\n  - {name: Common, path: common.yaml}\n  - {name: Defaults, path: defaults.yaml}\n  - {name: Parts, glob: \"parts.d/*.yaml\"}\n#- node web01 role=web part=a\n";
    let shadowed = |files: &str| messages("shadowed-definition", &format!("{config}{files}"));
    let file = |path: &str, entry: &str| format!("#- /data/{path}.yaml\n{entry}\n");
    let always = file("common", "a: 1") + &file("defaults", "a: 2");
    let found = shadowed(&always);
    assert!(found.len() == 1 && found[0].starts_with("defaults.yaml: "), "{found:?}");
    let by_role = file("roles/web", "a: 1") + &file("parts/web/a", "a: 2");
    assert_eq!(shadowed(&by_role).len(), 1, "a part's node has the role");
    let other_role = file("roles/db", "a: 1") + &file("parts/web/a", "a: 2");
    assert_eq!(shadowed(&other_role), [""; 0]);
    let by_node = file("nodes/web01", "a: 1") + &file("common", "a: 2");
    assert_eq!(shadowed(&by_node), [""; 0], "a new node gets it");
    let of_glob = file("parts.d/a", "a: 1") + &file("parts.d/b", "a: 2");
    let found = shadowed(&of_glob);
    assert!(found.len() == 1 && found[0].starts_with("b.yaml: "), "{found:?}");
    let merged = format!("{always}lookup_options: {{a: {{merge: unique}}}}\n");
    assert_eq!(shadowed(&merged), [""; 0]);
    let of_node =
        format!("{always}#- /data/nodes/web01.yaml\nlookup_options: {{a: {{merge: unique}}}}\n");
    assert_eq!(shadowed(&of_node), [""; 0], "one node merges");
    let named = file("common", "a: 1\nb: \"%{alias('a')}\"") + &file("defaults", "a: 2\nb: 3");
    assert_eq!(shadowed(&named).len(), 2, "tokens read the first, too");
    let mapped = |files: &str| {
        let config = "#- /hiera.yaml\nversion: 5\nhierarchy:\n  - {name: Tiers, mapped_paths: [facts.tiers, tier, 'tiers/%{tier}.yaml']}\n  - {name: Fixed, mapped_paths: [facts.tiers, tier, fixed.yaml]}\n  - {name: Own, lookup_key: own, path: own.yaml}\n  - {name: Common, path: common.yaml}\n";
        messages("shadowed-definition", &format!("{config}{files}"))
    };
    for upper in ["tiers/gold", "fixed", "own"] {
        let files = file(upper, "a: 1") + &file("common", "a: 2");
        assert_eq!(mapped(&files), [""; 0], "{upper}");
    }
    let detour = "#- /hiera.yaml\nversion: 5\nhierarchy:\n  - {name: Site, path: 'roles/%{site}/common.yaml'}\n  - {name: Upper, path: upper.yaml}\n  - {name: Roles, path: roles/common.yaml}\n";
    let files = file("upper", "a: 1") + &file("roles/common", "a: 2");
    let found = messages("shadowed-definition", &format!("{detour}{files}"));
    assert_eq!(found, [""; 0], "a node with an empty site reads it before");
    let module = "#- /modules/m/hiera.yaml\nversion: 5\nhierarchy: [{name: C, path: common.yaml}]\n#- /modules/m/data/common.yaml\nm::a: 2\n";
    assert_eq!(shadowed(&format!("{}{module}", file("common", "m::a: 1"))), [""; 0]);
    let same = file("common", "a: 1") + &file("defaults", "a: 1");
    assert_eq!(shadowed(&same).len(), 1);
    let redundant = messages("redundant-override", &format!("{config}{same}"));
    assert!(redundant.len() == 1 && redundant[0].starts_with("common.yaml: "), "{redundant:?}");
}

#[test]
fn a_folder_without_files_is_odd_beside_one_of_nearly_the_same_name() {
    let odd = |path: &str, file: &str| {
        let folder = file.rsplit_once('/').expect("a file in a folder").0;
        let config = format!(
            "#- /hiera.yaml\nversion: 5\nhierarchy:\n  - {{name: A, path: \"{path}\"}}\n  - {{name: B, path: \"{folder}/%{{a}}.yaml\"}}\n  - {{name: C, path: common.yaml}}\n"
        );
        messages(
            "odd-sister-path",
            &format!("{config}#- /data/{file}\na: 1\n#- /data/common.yaml\na: 1\n"),
        )
    };
    let found = odd("node/%{trusted.certname}.yaml", "nodes/a.yaml");
    assert_eq!(
        found,
        ["hiera.yaml: no file lies below 'node', while 'nodes' beside it has 1 file (data/nodes)"]
    );
    assert_eq!(odd("os/familly/%{facts.os.family}.yaml", "os/family/RedHat.yaml").len(), 1);
    for (path, file) in [
        ("nodes/%{trusted.certname}.yaml", "nodes/a.yaml"),
        ("nodes/%{trusted.certname}.yaml", "roles/a.yaml"),
        ("site1/%{role}.yaml", "site2/a.yaml"),
        ("oslo/%{role}.yaml", "bergen/a.yaml"),
        ("os/%{role}.yaml", "osx/a.yaml"),
        ("%{place}/node/%{role}.yaml", "oslo/nodes/a.yaml"),
    ] {
        assert_eq!(odd(path, file), [""; 0], "{path} beside {file}");
    }
}
