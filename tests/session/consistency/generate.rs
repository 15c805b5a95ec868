//! Random repositories in which the answers of nodes differ: levels in several orders, nodes whose
//! names tell some variables and leave others unknown, keys that several levels define, merges,
//! tokens, and folders that are the value of a variable or literal.

use hiera_ls::text::FilePath;
use hiera_ls::workspace::fs::MemoryFs;

use crate::support::random::Random;

/// The folder of a repository.
pub(super) const ROOT: &str = "/repo";
/// The number of keys: `k0`, `k1`, …
const KEYS: usize = 8;
const SITES: [&str; 2] = ["east", "west"];
const ROLES: [&str; 3] = ["api", "db", "web/edge"];
const FAMILIES: [&str; 2] = ["Debian", "RedHat"];

/// Writes a repository, and returns its file system.
pub(super) fn write_repository(random: &mut Random) -> MemoryFs {
    let fs = MemoryFs::new();
    let write = |path: &str, text: &str| fs.write(&format!("{ROOT}/{path}"), text);
    let mut levels = vec![
        "{name: Nodes, path: 'nodes/%{site}/%{trusted.certname}.yaml'}",
        "{name: Site roles, path: '%{site}/roles/%{role}.yaml'}",
        "{name: Site, path: '%{site}/common.yaml'}",
        "{name: Roles, path: 'common/roles/%{role}.yaml'}",
        "{name: Os, path: 'os/%{facts.os.family}.yaml'}",
        "{name: Environment, path: 'environments/%{environment}.yaml'}",
        "{name: Modules, glob: 'common/modules/*.yaml'}",
        "{name: Common, path: common/common.yaml}",
    ];
    let dropped = random.below(3);
    for _ in 0..dropped {
        levels.remove(1 + random.below(levels.len() - 2));
    }
    if random.one_in(3) {
        let (from, to) = (random.below(levels.len()), random.below(levels.len()));
        levels.swap(from, to);
    }
    if random.one_in(6) {
        levels.push("{name: Again, path: common/common.yaml}"); // One file in two levels.
    }
    let lines: String = levels.iter().map(|level| format!("  - {level}\n")).collect();
    write("hiera.yaml", &format!("version: 5\nhierarchy:\n{lines}"));
    // Some repositories have the scopes of their nodes, in others names tell what is known.
    if random.one_in(3) {
        write(".hiera-ls.yaml", "nodes: {sources: [scopes/*.json]}\n");
        for site in SITES {
            for (name, role) in [("api-01", "api"), ("api-02", "api"), ("db-01", "db")] {
                let (certname, family) = (format!("{site}-{name}"), random.pick(&FAMILIES));
                let scope = serde_json::json!({"name": certname, "values": {
                    "site": site, "role": role, "trusted": {"certname": certname},
                    "os": {"family": family}, "facts": {"os": {"family": family}},
                }});
                write(&format!("scopes/{certname}.json"), &scope.to_string());
            }
        }
    }
    let sparse = 2 + random.below(3);
    let data = |path: &str, random: &mut Random| {
        if !random.one_in(5) {
            let text = data_text(random, sparse, path == "common/common.yaml");
            write(&format!("data/{path}"), &text);
        }
    };
    for site in SITES {
        for name in ["api-01", "api-02", "db-01"] {
            data(&format!("nodes/{site}/{site}-{name}.yaml"), random);
        }
        data(&format!("{site}/common.yaml"), random);
        for role in ROLES {
            data(&format!("{site}/roles/{role}.yaml"), random);
        }
    }
    for role in ROLES {
        data(&format!("common/roles/{role}.yaml"), random);
    }
    for family in FAMILIES {
        data(&format!("os/{family}.yaml"), random);
    }
    for environment in ["production", "staging"] {
        if random.one_in(2) {
            data(&format!("environments/{environment}.yaml"), random);
        }
    }
    for module in ["apache", "zoo"] {
        data(&format!("common/modules/{module}.yaml"), random);
    }
    data("common/common.yaml", random);
    fs
}

/// Returns the root of a repository.
pub(super) fn root() -> FilePath {
    FilePath::new(ROOT)
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
    let number = random.below(4);
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
