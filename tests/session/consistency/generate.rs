//! Random repositories in which the answers of nodes differ: levels in several orders, nodes whose
//! names tell some variables and leave others unknown, keys that several levels define, merges of
//! the data and of calls, tokens, and folders that are the value of a variable or literal.

use hiera_ls::text::FilePath;

use crate::support::random::{Random, widen_letters};

/// The folder of a repository.
pub(super) const ROOT: &str = "/repo";
/// The number of keys: `k0`, `k1`, …
const KEYS: usize = 8;
const SITES: [&str; 2] = ["east", "west"];
const ROLES: [&str; 3] = ["api", "db", "web/edge"];
const FAMILIES: [&str; 2] = ["Debian", "RedHat"];
const TIERS: [&str; 2] = ["gold", "silver"];
/// The nodes of a site, with their roles.
const NODES: [(&str, &str); 3] = [("api-01", "api"), ("api-02", "api"), ("db-01", "db")];

/// The levels: name, and location.
const LEVELS: [(&str, &str); 11] = [
    ("Nodes", "path: 'nodes/%{site}/%{trusted.certname}.yaml'"),
    ("Site roles", "path: '%{site}/roles/%{role}.yaml'"),
    ("Site", "path: '%{site}/common.yaml'"),
    ("Roles", "path: 'common/roles/%{role}.yaml'"),
    ("Os", "path: 'os/%{facts.os.family}.yaml'"),
    ("Tiers", "mapped_paths: [tiers, tier, 'tiers/%{tier}.yaml']"),
    ("Environment", "path: 'environments/%{environment}.yaml'"),
    // The nodes of each site may read one of these files twice.
    ("Sites", "paths: [east/common.yaml, west/common.yaml]"),
    ("Modules", "glob: 'common/modules/*.yaml'"),
    ("Again", "path: common/common.yaml"),
    ("Common", "path: common/common.yaml"),
];

/// Returns the paths and the texts of a repository.
pub(super) fn random_repository(random: &mut Random) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut add = |path: &str, text: String| files.push((format!("{ROOT}/{path}"), text));
    let is_old = random.one_in(8);
    add("hiera.yaml", if is_old { old_config(random) } else { config(random) });
    add("manifests/site.pp", calls(random));
    // Some repositories hold the scopes of their nodes. In the others, names tell what is known of
    // the nodes.
    if random.one_in(3) {
        add(".hiera-ls.yaml", "nodes: {sources: [scopes/*.json]}\n".into());
        for site in SITES {
            for (name, role) in NODES {
                let certname = format!("{site}-{name}");
                add(&format!("scopes/{certname}.json"), scope(random, site, &certname, role));
            }
        }
    }
    let sparse = 2 + random.below(4);
    for path in data_paths(random) {
        if !random.one_in(4) {
            let text = data_text(random, sparse, path == "common/common.yaml");
            add(&format!("data/{path}"), text);
        }
    }
    if random.one_in(3) {
        let widen = |(path, text): (String, String)| (widen_letters(&path), widen_letters(&text));
        files = files.into_iter().map(widen).collect();
    }
    files
}

/// Returns the root of a repository.
pub(super) fn root() -> FilePath {
    FilePath::new(ROOT)
}

/// Returns a hierarchy of version 5: some of the levels, two perhaps swapped.
fn config(random: &mut Random) -> String {
    let mut levels = LEVELS.to_vec();
    for _ in 0..2 + random.below(6) {
        levels.remove(1 + random.below(levels.len() - 2));
    }
    if random.one_in(3) {
        let (from, to) = (random.below(levels.len()), random.below(levels.len()));
        levels.swap(from, to);
    }
    let line = |(name, location): &(&str, &str)| format!("  - {{name: {name}, {location}}}\n");
    let lines: String = levels.iter().map(line).collect();
    format!("version: 5\nhierarchy:\n{lines}")
}

/// Returns a config of version 3, in which two backends read the same files.
fn old_config(random: &mut Random) -> String {
    let backends = random.pick(&["[yaml]", "[eyaml, yaml]"]);
    let merge = random.pick(&["native", "deeper"]);
    format!(
        "---\n:backends: {backends}\n:hierarchy:\n  - 'nodes/%{{site}}/%{{trusted.certname}}'\n  - '%{{site}}/roles/%{{role}}'\n  - '%{{site}}/common'\n  - 'os/%{{facts.os.family}}'\n  - common/common\n:yaml:\n  :datadir: {ROOT}/data\n:eyaml:\n  :datadir: {ROOT}/data\n  :extension: yaml\n:merge_behavior: {merge}\n"
    )
}

/// Returns a manifest with calls of some keys, which may name a merge strategy.
fn calls(random: &mut Random) -> String {
    let mut text = String::new();
    for number in 0..random.below(5) {
        let key = random.pick(&[1, 1, 2, 3, 4]);
        let merge = random.pick(&["", ", Data, 'first'", ", Data, 'hash'", ", Data, 'deep'"]);
        text.push_str(&format!("$a{number} = lookup('k{key}'{merge})\n"));
    }
    text
}

/// Returns the scope of a node. Some facts may be unknown.
fn scope(random: &mut Random, site: &str, certname: &str, role: &str) -> String {
    let family = random.pick(&FAMILIES);
    let mut values = serde_json::json!({
        "site": site, "role": role, "trusted": {"certname": certname},
        "os": {"family": family}, "facts": {"os": {"family": family}},
    });
    if random.one_in(2) {
        values["tiers"] = serde_json::json!([random.pick(&TIERS)]);
    }
    serde_json::json!({"name": certname, "values": values}).to_string()
}

/// Returns the files that the levels may read.
fn data_paths(random: &mut Random) -> Vec<String> {
    let mut all = Vec::new();
    for site in SITES {
        all.extend(NODES.map(|(name, _)| format!("nodes/{site}/{site}-{name}.yaml")));
        all.push(format!("{site}/common.yaml"));
        all.extend(ROLES.map(|role| format!("{site}/roles/{role}.yaml")));
    }
    all.extend(ROLES.map(|role| format!("common/roles/{role}.yaml")));
    all.extend(FAMILIES.map(|family| format!("os/{family}.yaml")));
    all.extend(TIERS.map(|tier| format!("tiers/{tier}.yaml")));
    let environments = ["production", "staging"].map(|name| format!("environments/{name}.yaml"));
    all.extend(environments.into_iter().filter(|_| random.one_in(2)));
    all.extend(["apache", "zoo"].map(|module| format!("common/modules/{module}.yaml")));
    all.push("common/common.yaml".into());
    all
}

/// Returns a data file with one key in `sparse`, or more.
fn data_text(random: &mut Random, sparse: usize, has_options: bool) -> String {
    let mut text = String::new();
    if has_options && random.one_in(2) {
        let strategy = random.pick(&["deep", "hash", "unique"]);
        text.push_str(&format!("lookup_options:\n  k1: {{merge: {strategy}}}\n"));
        text.push_str("  k2: {merge: deep}\n");
    }
    for key in 0..KEYS {
        if random.one_in(sparse) {
            text.push_str(&format!("k{key}: {}\n", value(random, key)));
        }
    }
    if text.is_empty() { format!("k0: {}\n", value(random, 0)) } else { text }
}

/// Returns a value of a key, of the same few for all files: equal values in several files count.
fn value(random: &mut Random, key: usize) -> String {
    let number = random.below(3);
    match (key, random.below(8)) {
        (1 | 2, _) => {
            let member = random.pick(&["a", "b", "c"]);
            format!("{{{member}: {number}, d: {{e: {}, f: {number}}}}}", random.below(3))
        }
        (3, _) => format!("[x{number}, shared]"),
        (_, 0) => format!("\"%{{lookup('k{}')}}.{number}\"", random.below(KEYS)),
        (_, 1) => format!("\"%{{alias('k{}')}}\"", random.below(KEYS)),
        (_, 2) => format!("\"in %{{{}}}\"", random.pick(&["site", "role", "facts.os.family"])),
        (_, 3) => format!("\"%{{lookup('k1.{}')}}\"", random.pick(&["a", "b", "d.e"])),
        _ => format!("v{number}"),
    }
}
