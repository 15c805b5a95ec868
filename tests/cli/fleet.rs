//! `lookup --nodes`, `dump` and `compare`: what they print of many nodes equals what `lookup` answers
//! for each node by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::{at, repo};
use crate::support::random::{self, Random, widen_letters};
use crate::support::{in_package, json_lines, scratch, write_file};

/// An answer without its places.
fn answer(line: &Value) -> String {
    let part = |name: &str| line.get(name).map(ToString::to_string).unwrap_or_default();
    format!("{} {} {}", part("value"), part("error"), part("unsettled_levels"))
}

/// Returns the answers of `lookup` for each node by itself, by node and key; keys without a value
/// are left out.
fn own_answers(
    root: &Path,
    nodes: &[String],
    keys: &[String],
) -> BTreeMap<(String, String), String> {
    let questions: String = keys.iter().map(|key| format!("{}\n", json!({"key": key}))).collect();
    let mut all = BTreeMap::new();
    for node in nodes {
        let (status, out, err) = at(root, &["lookup", "--batch", "--node", node], &questions);
        assert_eq!(status, 0, "{err}");
        let lines = json_lines("the answers", &out);
        assert_eq!(lines.len(), keys.len());
        for (key, line) in keys.iter().zip(lines) {
            if line["found"] != json!(false) || line.get("unsettled_levels").is_some() {
                all.insert((node.clone(), key.clone()), answer(&line));
            }
        }
    }
    all
}

fn lines_at(root: &Path, arguments: &[&str]) -> Vec<Value> {
    let (status, out, err) = at(root, arguments, "");
    assert_ne!(status, 2, "{arguments:?}: {err}");
    json_lines("the records", &out)
}

fn nodes_of(line: &Value) -> Vec<String> {
    let nodes = line["nodes"].as_array().expect("a list of names");
    nodes.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}

/// Returns the records of all nodes. They equal those of each node by itself, key by key and in the
/// order of the nodes, and those of the groups.
fn dumped_records(root: &Path, nodes: &[String]) -> Vec<Value> {
    let records = lines_at(root, &["dump", "--nodes", "all", "--format", "jsonl"]);
    let key_of = |record: &Value| record["key"].as_str().expect("a key").to_owned();
    let mut alone: Vec<Value> = nodes
        .iter()
        .flat_map(|node| lines_at(root, &["dump", "--node", node, "--format", "jsonl"]))
        .collect();
    alone.sort_by_key(key_of);
    assert_eq!(records, alone, "{}", root.display());
    let mut expanded = Vec::new();
    for group in lines_at(root, &["dump", "--nodes", "all", "--groups"]) {
        let names = nodes_of(&group);
        let mut members = group.as_object().expect("a record").clone();
        assert_eq!(members.remove("count"), Some(json!(names.len())));
        members.remove("nodes");
        for name in names {
            let mut record = members.clone();
            record.insert("node".into(), name.into());
            expanded.push(Value::Object(record));
        }
    }
    let position = |record: &Value| nodes.iter().position(|name| record["node"] == **name);
    expanded.sort_by_key(|record| (key_of(record), position(record)));
    assert_eq!(records, expanded, "{}", root.display());
    records
}

/// Compares the records of all nodes and keys with each node's own lookups; returns their number,
/// how many of them are errors, and how many depend on unknown variables.
fn compare_with_own(root: &Path, keys: &[String]) -> (usize, usize, usize) {
    let nodes: Vec<String> = lines_at(root, &["nodes", "--json"])
        .iter()
        .map(|node| node["name"].as_str().expect("a known node").to_owned())
        .collect();
    let own = own_answers(root, &nodes, keys);
    let records = dumped_records(root, &nodes);
    let text = |line: &Value, name: &str| line[name].as_str().expect("a text").to_owned();
    let of = |line: &Value| (text(line, "node"), text(line, "key"));
    let told: BTreeSet<(String, String)> = records.iter().map(of).collect();
    assert_eq!(told.len(), records.len(), "each node and key has one record");
    assert_eq!(told, own.keys().cloned().collect(), "{}", root.display());
    for line in &records {
        let mine = &own[&of(line)];
        // A record has cases where the node's own lookup leaves the value open.
        match line.get("cases") {
            None => assert_eq!(answer(line), *mine, "{}: {line}", root.display()),
            Some(_) => assert!(mine.contains('['), "{line} {mine}"),
        }
    }
    let groups = lines_at(root, &["dump", "--nodes", "all", "--groups"]);
    for key in keys {
        let (status, out, _) =
            at(root, &["lookup", key, "--nodes", "all", "--render-as", "json"], "");
        let mut seen = BTreeSet::new();
        let mut worst = 0;
        let lines = json_lines("the answers", &out);
        let is_told = |line: &&Value| line.get("found").is_none() || line.get("settled").is_some();
        let dumped = groups.iter().filter(|line| line["key"] == **key);
        assert!(lines.iter().filter(is_told).eq(dumped), "{}: {key}", root.display());
        for line in lines {
            let cases = line["cases"].as_array().cloned();
            for node in nodes_of(&line) {
                let mine = own.get(&(node.clone(), key.clone()));
                // The answer has cases where the node's own lookup leaves the value open.
                match &cases {
                    None => {
                        assert_eq!(mine.cloned().unwrap_or("  ".into()), answer(&line), "{key}")
                    }
                    Some(_) => {
                        assert!(mine.is_some_and(|mine| mine.contains('[')), "{key} {mine:?}")
                    }
                }
                // A node may get the answer of any case.
                let fails = std::iter::once(&line)
                    .chain(cases.iter().flatten())
                    .any(|answer| answer.get("error").is_some());
                let rank = if fails { 2 } else { usize::from(mine.is_none()) };
                worst = worst.max(rank);
                assert!(seen.insert(node), "a node is in one group");
            }
        }
        assert_eq!(seen.len(), nodes.len());
        if worst == 2 {
            assert_eq!(status, 2, "{key}: a lookup fails");
        } else if worst == 1 {
            assert!(status == 1 || status == 3, "{key}: a node has no value");
        }
    }
    let count = |member: &str| records.iter().filter(|line| line.get(member).is_some()).count();
    (records.len(), count("error"), count("cases"))
}

#[test]
fn reports_of_the_sample_fleet_equal_each_nodes_own_lookups() {
    let root = in_package("tests/control-repo");
    let keys: BTreeSet<String> = lines_at(&root, &["keys", "--format", "json"])
        .iter()
        .map(|line| line["key"].as_str().expect("a key").to_owned())
        .filter(|key| !key.contains('.'))
        .collect();
    let keys: Vec<String> = keys.into_iter().collect();
    let nodes = lines_at(&root, &["nodes", "--json"]);
    let names: Vec<String> =
        nodes.iter().map(|node| node["name"].as_str().expect("a name").to_owned()).collect();
    let own = own_answers(&root, &names, &keys);
    let records = dumped_records(&root, &names);
    let mut dumped = BTreeMap::new();
    for line in &records {
        let (node, key) = (line["node"].as_str().unwrap(), line["key"].as_str().unwrap());
        if keys.iter().any(|known| known == key) {
            dumped.insert((node.to_owned(), key.to_owned()), answer(line));
        }
    }
    assert_eq!(dumped, own);
    assert!(own.len() > 80, "{} values", own.len());
    // The document of one node holds the same values.
    let (status, out, _) = at(&root, &["dump", "--node", &names[0]], "");
    assert_eq!(status, 0);
    assert!(out.starts_with(&format!("---\n# {} in production\n", names[0])), "{out}");
    assert!(out.contains("company: Fjordkaffe") && out.contains("# data/common.yaml:"), "{out}");
}

#[test]
fn reports_of_random_fleets_equal_each_nodes_own_lookups() {
    let seed = random::seed("reports_of_random_fleets_equal_each_nodes_own_lookups");
    let mut random = Random::new(seed);
    let folder = scratch("cli-fleets");
    let (mut all, mut errors, mut open) = (0, 0, 0);
    for number in 0..random::count(12).div_ceil(2).max(6) {
        let root = folder.join(format!("r{number}"));
        let keys = write_fleet(&root, number, &mut random);
        println!("HIERA_LS_SEED={seed}, fleet {number}");
        let (values, failed, by_cases) = compare_with_own(&root, &keys);
        all += values;
        errors += failed;
        open += by_cases;
    }
    assert!(all > 200 && errors > 0 && errors < all, "{errors} of {all}");
    assert!(open > 0, "no value depends on unknown variables");
}

/// Writes a fleet in which some nodes lack variables, some are known by a file's name alone, and in
/// every third one a file is broken and in another third letters go beyond ASCII; returns its keys.
fn write_fleet(root: &Path, number: usize, random: &mut Random) -> Vec<String> {
    let is_wide = number % 3 == 1;
    let widen = |text: &str| if is_wide { widen_letters(text) } else { text.to_owned() };
    let write = |path: &str, text: &str| {
        write_file(root.join(widen(path)), widen(text));
    };
    write(
        "hiera.yaml",
        "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Role, path: 'roles/%{role}.yaml'}\n- {name: Os, path: 'os/%{facts.os.family}.yaml'}\n- {name: Common, path: common.yaml}\n",
    );
    let strict = random.pick(&["error", "warning"]);
    let version = random.pick(&[7, 8]);
    write(
        ".hiera-ls.yaml",
        &format!(
            "nodes: {{sources: [scopes/*.json]}}\npuppet: {{version: {version}, strict: {strict}}}\n"
        ),
    );
    for n in 0..3 + random.below(6) {
        let (role, os) = (random.pick(&["web", "db", ""]), random.pick(&["Debian", "RedHat"]));
        let mut scope =
            json!({"trusted": {"certname": format!("n{n}")}, "facts": {"os": {"family": os}}});
        if !role.is_empty() {
            scope["role"] = role.into();
        }
        write(&format!("scopes/n{n}.json"), &scope.to_string());
    }
    let mut keys: Vec<String> = (0..8).map(|n| format!("k{n}")).collect();
    let broken = random.pick(&["roles/db", "nodes/n1", "os/RedHat"]);
    for file in [
        "nodes/n0",
        "nodes/n1",
        "nodes/extra1",
        "nodes/extra2",
        "roles/web",
        "roles/db",
        "os/Debian",
        "os/RedHat",
        "common",
    ] {
        let mut text = String::new();
        if file == "common" {
            let strategy = random.pick(&["unique", "hash", "deep", "first"]);
            writeln!(text, "lookup_options: {{k1: {{merge: {strategy}}}}}").expect("a string");
        }
        for key in &keys {
            if random.one_in(3) && file != "common" {
                continue;
            }
            let other = random.below(8);
            let value = match random.below(10) {
                0 => "[one, two]".to_owned(),
                1 => "{a: 1, b: [x]}".to_owned(),
                2 => format!("\"%{{lookup('k{other}')}}\""),
                3 => "\"on %{facts.os.family}\"".to_owned(),
                4 => "\"of %{role}\"".to_owned(),
                5 => format!("\"%{{alias('k{other}')}}\""),
                6 | 7 => random::odd_value(random).to_owned(),
                _ => random.below(3).to_string(),
            };
            writeln!(text, "{key}: {value}").expect("a string");
        }
        if number.is_multiple_of(3) && file == broken {
            text.push_str("broken: [\n");
        }
        write(&format!("data/{file}.yaml"), &text);
    }
    if number.is_multiple_of(3) {
        keys.push("broken".to_owned());
    }
    keys.iter().map(|key| widen(key)).collect()
}

const CONFIG: &str = "version: 5
hierarchy:
- {name: Roles, path: 'roles/%{role}.yaml'}
- {name: Systems, path: 'os/%{facts.os.family}.yaml'}
- {name: Common, path: common.yaml}
";

fn small_fleet(name: &str) -> std::path::PathBuf {
    repo(
        name,
        &[
            ("hiera.yaml", CONFIG),
            (".hiera-ls.yaml", "nodes: {sources: [scopes.jsonl]}\n"),
            (
                "scopes.jsonl",
                "{\"name\":\"web-01\",\"values\":{\"role\":\"web\",\"os\":{\"family\":\"Debian\"}}}
{\"name\":\"web-02\",\"values\":{\"role\":\"web\",\"os\":{\"family\":\"Debian\"}}}
{\"name\":\"db-01\",\"values\":{\"role\":\"db\",\"os\":{\"family\":\"RedHat\"}}}
",
            ),
            ("data/roles/web.yaml", "port: 80\nntp: {servers: [a]}\n"),
            (
                "data/roles/db.yaml",
                "bad: \"%{lookup('nowhere')}\"\nntp: {servers: [b], iburst: true}\n",
            ),
            (
                "data/common.yaml",
                "port: 1\nmotd: hello\npin: 4711\nlookup_options: {pin: {convert_to: Sensitive}}\n",
            ),
        ],
    )
}

#[test]
fn a_key_is_printed_for_many_nodes() {
    let root = small_fleet("cli-fleet-lookup");
    let (status, out, _) = at(&root, &["lookup", "port", "--nodes", "all"], "");
    assert_eq!((status, out.as_str()), (0, "# 2 of 3 nodes\n---\n80\n# 1 of 3 nodes\n---\n1\n"));
    let (_, out, _) =
        at(&root, &["lookup", "port", "--nodes", "all", "--lines", "--places", "always"], "");
    assert_eq!(
        out,
        "# 2 of 3 nodes
#   web-[01,02]
---
80  # data/roles/web.yaml:1
# 1 of 3 nodes
#   db-01
---
1  # data/common.yaml:1
"
    );
    std::fs::write(root.join("list"), "# nodes\nweb-02\n").unwrap();
    let (status, out, _) = at(&root, &["lookup", "ntp.iburst", "--nodes", "@list"], "");
    assert_eq!((status, out.as_str()), (1, "# 1 of 1 node: not found\n"));
    let (status, out, _) = at(&root, &["lookup", "bad", "--nodes", "DB-*,web-01"], "");
    assert_eq!(status, 1, "{out}");
    let (status, _, err) = at(&root, &["lookup", "port", "--nodes", "mail-*"], "");
    assert_eq!(status, 2);
    assert!(err.contains("no node of environment production is named 'mail-*'"), "{err}");
    let (_, out, _) = at(&root, &["lookup", "pin", "--nodes", "all"], "");
    assert_eq!(out, "# 3 of 3 nodes\n---\nSensitive [value redacted]\n");
}

#[test]
fn values_that_unknown_variables_decide_are_cases() {
    let root = repo(
        "cli-fleet-cases",
        &[
            (
                "hiera.yaml",
                "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Os, path: 'os/%{facts.os.family}.yaml'}\n- {name: Common, path: common.yaml}\n",
            ),
            ("data/nodes/a.example.net.yaml", "x: 1\n"),
            ("data/nodes/b.example.net.yaml", "x: 2\n"),
            ("data/os/Debian.yaml", "tool: apt\n"),
            ("data/common.yaml", "tool: other\n"),
        ],
    );
    let (status, out, _) = at(&root, &["lookup", "tool", "--nodes", "all"], "");
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "# 2 of 2 nodes, by variables that are not known
# if facts.os.family = Debian
---
apt
# else
---
other
"
    );
}

#[test]
fn records_state_values_errors_cases_and_masked_secrets() {
    let root = repo(
        "cli-dump-records",
        &[
            (
                "hiera.yaml",
                "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Os, path: 'os/%{facts.os.family}.yaml'}\n- {name: Common, path: common.yaml}\n",
            ),
            ("data/nodes/a.yaml", "port: 80\n"),
            ("data/nodes/b.yaml", "tool: own\n"),
            ("data/os/Debian.yaml", "tool: apt\n"),
            (
                "data/common.yaml",
                "tool: other\nport: 1\nloop: \"%{alias('loop')}\"\npin: 4711\nlookup_options: {pin: {convert_to: Sensitive}}\n",
            ),
        ],
    );
    let loops = r#""error":"Lookup of key 'loop' failed: Recursive lookup detected in [loop]""#;
    let pin = r#""value":"Sensitive [value redacted]","file":"data/common.yaml","line":4"#;
    let cases = r#""cases":[{"when":{"facts.os.family":"Debian"},"value":"apt","file":"data/os/Debian.yaml","line":1},{"when":{},"value":"other","file":"data/common.yaml","line":1}]"#;
    let port = [
        r#""value":80,"file":"data/nodes/a.yaml","line":1"#,
        r#""value":1,"file":"data/common.yaml","line":2"#,
    ];
    let tool = r#""value":"own","file":"data/nodes/b.yaml","line":1"#;
    let (status, out, err) = at(&root, &["dump", "--nodes", "all"], "");
    assert_eq!((status, err.as_str()), (0, ""));
    let expected = [
        ("a", "loop", loops),
        ("b", "loop", loops),
        ("a", "pin", pin),
        ("b", "pin", pin),
        ("a", "port", port[0]),
        ("b", "port", port[1]),
        ("a", "tool", cases),
        ("b", "tool", tool),
    ]
    .map(|(node, key, rest)| format!("{{\"node\":\"{node}\",\"key\":\"{key}\",{rest}}}\n"));
    assert_eq!(out, expected.concat());
    let (_, out, _) = at(&root, &["dump", "--nodes", "all", "--groups", "--keys", "pin,port"], "");
    let expected = [
        ("pin", r#"2,"nodes":["a","b"]"#, pin),
        ("port", r#"1,"nodes":["a"]"#, port[0]),
        ("port", r#"1,"nodes":["b"]"#, port[1]),
    ]
    .map(|(key, nodes, rest)| format!("{{\"key\":\"{key}\",\"count\":{nodes},{rest}}}\n"));
    assert_eq!(out, expected.concat());
    dumped_records(&root, &["a".to_owned(), "b".to_owned()]);
}

#[test]
fn nodes_with_other_answers_in_a_case_are_no_group() {
    let root = repo(
        "cli-dump-split",
        &[
            (
                "hiera.yaml",
                "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Os, path: 'os/%{facts.os.family}.yaml'}\n",
            ),
            ("data/nodes/a.yaml", "own: 1\n"),
            ("data/nodes/b.yaml", "own: 2\n"),
            ("data/nodes/c.yaml", "own: 2\n"),
            ("data/os/Debian.yaml", "tool: \"%{lookup('own')}\"\n"),
            ("data/os/RedHat.yaml", "tool: dnf\n"),
        ],
    );
    let names = ["a", "b", "c"].map(str::to_owned);
    let records = dumped_records(&root, &names);
    let values: Vec<&Value> = records
        .iter()
        .filter(|record| record["key"] == "tool")
        .map(|record| &record["cases"][0]["value"])
        .collect();
    assert_eq!(values, [&json!("1"), &json!("2"), &json!("2")]);
}

#[test]
fn each_group_has_its_cases_however_many_groups_there_are() {
    let mut files = vec![(
        "hiera.yaml".to_owned(),
        "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Os, path: 'os/%{facts.os.family}.yaml'}\n".to_owned(),
    )];
    for n in 0..6 {
        let options = "lookup_options: {tools: {merge: hash}}";
        files.push((format!("data/nodes/n{n}.yaml"), format!("{options}\ntools: {{own: {n}}}\n")));
    }
    for os in 0..10 {
        files.push((format!("data/os/os{os}.yaml"), format!("tools: {{os: {os}}}\n")));
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let root = repo("cli-dump-cases", &files);
    let names: Vec<String> = (0..6).map(|n| format!("n{n}")).collect();
    for record in dumped_records(&root, &names) {
        let cases = record["cases"].as_array().expect("the system is unknown");
        assert_eq!(cases.len(), 11, "{record}");
    }
}

#[test]
fn a_fleet_without_nodes_is_an_error() {
    let root = repo(
        "cli-dump-no-nodes",
        &[
            ("hiera.yaml", "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n"),
            ("data/common.yaml", "port: 1\n"),
        ],
    );
    for arguments in [
        &["dump", "--nodes", "all"][..],
        &["dump", "--nodes", "all", "--format", "yaml"],
        &["lookup", "port", "--nodes", "all"],
    ] {
        let (status, out, err) = at(&root, arguments, "");
        assert_eq!((status, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains("no nodes are known"), "{err}");
    }
}

#[test]
fn two_nodes_are_compared_part_by_part() {
    let root = small_fleet("cli-compare");
    let (status, out, err) = at(&root, &["compare", "web-01", "db-01"], "");
    assert_eq!(status, 1, "{err}");
    assert_eq!(
        out,
        "web-01 compared with db-01, in production
  - only web-01   + only db-01   ~ both, with other values   ! a lookup fails
+ bad: '' (data/roles/db.yaml:1)
~ ntp
    servers[0]: a (data/roles/web.yaml:2) | b (data/roles/db.yaml:2)
    iburst: (none) | true (data/roles/db.yaml:2)
~ port
    80 (data/roles/web.yaml:1) | 1 (data/common.yaml:1)
3 of 5 keys differ
"
    );
    let (status, out, _) = at(&root, &["compare", "web-01", "web-02"], "");
    assert_eq!(status, 0);
    assert!(out.ends_with("0 of 5 keys differ\n"), "{out}");
    let lines =
        at(&root, &["compare", "web-01", "db-01", "--keys", "p*", "--format", "json"], "").1;
    let lines = json_lines("the differences", &lines);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["nodes"]["db-01"], json!({"value": 1, "place": "data/common.yaml:1"}));
    assert_eq!(at(&root, &["compare", "web-01", "nope"], "").0, 2);
}
