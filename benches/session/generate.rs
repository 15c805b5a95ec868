//! Synthetic control repositories, the same for the same seed: levels, nodes with facts, keys of
//! every shape, tokens, aliases, anchors and `lookup_options`. Some files have *probes*: entries
//! whose finding shows whether the server has processed an edit.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::client::LineEdit;
use crate::support::random::Random;

/// The shape of a generated repository.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Where the random numbers begin.
    pub seed: u64,
    /// How many data files the repository has.
    pub files: usize,
    /// How many lines each data file has, more or less.
    pub lines: usize,
}

/// A repository on disk, removed when dropped.
pub struct Repo {
    /// The repository's root.
    pub root: PathBuf,
    /// The repository's data files, with their texts.
    pub files: Vec<(PathBuf, String)>,
}

/// The folders of sites and roles, and the names of nodes that the fleet file knows: every site has
/// every role.
const SITES: [&str; 4] = ["oslo", "kyoto", "lima", "turku"];
const ROLES: [&str; 10] =
    ["web", "db", "cache", "mail", "proxy", "build", "store", "dns", "log", "edge"];
const MODULES: [&str; 12] = [
    "nginx", "postgres", "ntp", "ssh", "users", "firewall", "backup", "monitor", "kernel", "mail",
    "proxy", "storage",
];
/// How many nodes have facts. More would make the fleet file the largest file of all.
const KNOWN_NODES: usize = 200;
/// How many probes a file with probes has.
pub const PROBES: usize = 10;

const HIERA: &str = "\
---
version: 5
defaults: {datadir: data, data_hash: yaml_data}
hierarchy:
- name: Node
  path: nodes/%{trusted.certname}.yaml
- name: Role at a site
  path: sites/%{site}/%{role}.yaml
- name: Role
  path: roles/%{role}.yaml
- name: Site
  glob: sites/%{site}/common/*.yaml
- name: Operating system
  path: os/%{facts.os.family}.yaml
- name: Common
  paths: [large.yaml, common.yaml]
";

const OPTIONS: &str = "\
lookup_options:
  '^profile::\\w+::settings_\\d+$': {merge: {strategy: deep, knockout_prefix: '--'}}
  '^profile::\\w+::list_\\d+$': {merge: unique}
  '^profile::\\w+::users_\\d+$': {merge: hash}
";

impl Shape {
    /// Writes such a repository below `parent`.
    pub fn write(&self, parent: &Path) -> Repo {
        let root = parent.join(format!("repo-{}-{}-{}", self.seed, self.files, self.lines));
        let mut random = Random::new(self.seed);
        // A key is in about ten files, for each size of repository.
        let keys = (self.files * self.lines / 30).clamp(200, 30_000);
        let mut files =
            vec![("data/common.yaml".to_owned(), common(&mut random, keys, self.lines))];
        for family in ["Debian", "RedHat"] {
            files.push((
                format!("data/os/{family}.yaml"),
                file(&mut random, keys, self.lines, &format!("os_{family}")),
            ));
        }
        for role in ROLES {
            files.push((
                format!("data/roles/{role}.yaml"),
                file(&mut random, keys, self.lines, &format!("role_{role}")),
            ));
            for site in SITES {
                files.push((
                    format!("data/sites/{site}/{role}.yaml"),
                    file(&mut random, keys, self.lines, &format!("{site}_{role}")),
                ));
            }
        }
        for site in SITES {
            files.push((
                format!("data/sites/{site}/common/all.yaml"),
                file(&mut random, keys, self.lines, &format!("site_{site}")),
            ));
        }
        let mut node = 0;
        while files.len() < self.files {
            let name = certname(node);
            files.push((
                format!("data/nodes/{name}.yaml"),
                file(&mut random, keys, self.lines, &format!("node_{node}")),
            ));
            node += 1;
        }
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("a file is in a folder"))
                .expect("the scratch folder can be written to");
            std::fs::write(&path, text).expect("the scratch folder can be written to");
            path
        };
        put("hiera.yaml", HIERA);
        put(".hiera-ls.yaml", "nodes: {sources: [fleet.jsonl]}\n");
        put("fleet.jsonl", &(0..node.min(KNOWN_NODES)).map(facts).collect::<String>());
        let files = files.into_iter().map(|(path, text)| (put(&path, &text), text)).collect();
        Repo { root, files }
    }
}

impl Repo {
    /// Adds a file of this many lines, with probes, at a level that every node sees.
    pub fn add_large(&mut self, lines: usize) -> Probed {
        self.add_probed("data/large.yaml", lines)
    }

    /// Adds a file of this many lines, with probes, at a level that only the nodes of a site see.
    pub fn add_for_site(&mut self, lines: usize) -> Probed {
        self.add_probed(&format!("data/sites/{}/common/probed.yaml", SITES[0]), lines)
    }

    /// Adds a file as [`add_large`](Repo::add_large) does, of JSON that a level of its own reads.
    pub fn add_large_json(&mut self, lines: usize) -> Probed {
        let level = "- {name: Exported, path: large.json, data_hash: json_data}\n";
        std::fs::write(self.root.join("hiera.yaml"), format!("{HIERA}{level}"))
            .expect("the scratch folder can be written to");
        let probed = probed_json(&mut Random::new(lines as u64), lines);
        self.add(probed, "data/large.json")
    }

    fn add_probed(&mut self, path: &str, lines: usize) -> Probed {
        let probed = probed(&mut Random::new(lines as u64), lines);
        self.add(probed, path)
    }

    fn add(&mut self, probed: Probed, path: &str) -> Probed {
        let path = self.root.join(path);
        std::fs::write(&path, &probed.text).expect("the scratch folder can be written to");
        self.files.push((path.clone(), probed.text.clone()));
        Probed { path, ..probed }
    }

    /// Adds a key to the file of a node that has one, and to those of four levels below it: a hash
    /// of some five lines a member, merged deep. Gives the node's file, its text, and the line of
    /// the key.
    pub fn add_huge_merge(&mut self, members: usize) -> (PathBuf, String, usize) {
        let (role, site, name) = (ROLES[0], SITES[0], certname(0));
        let levels = [
            format!("data/nodes/{name}.yaml"),
            format!("data/sites/{site}/{role}.yaml"),
            format!("data/roles/{role}.yaml"),
            format!("data/sites/{site}/common/all.yaml"),
            "data/common.yaml".to_owned(),
        ];
        for (number, level) in levels.iter().enumerate() {
            let path = self.root.join(level);
            let (_, text) = self
                .files
                .iter_mut()
                .find(|(known, _)| *known == path)
                .expect("every repository has these levels");
            text.push_str("profile::huge::settings_0:\n");
            for member in 0..members {
                // Half of the members are those of the level above.
                let name = member + number * members / 2;
                let _ = write!(
                    text,
                    "  member_{name}:\n    port: {member}\n    tags: [level{number}, all]\n    limits:\n      soft: {number}\n"
                );
            }
            std::fs::write(&path, &*text).expect("the scratch folder can be written to");
        }
        let path = self.root.join(&levels[0]);
        let (_, text) =
            self.files.iter().find(|(known, _)| *known == path).expect("it was just written");
        let line = text
            .lines()
            .position(|line| line.starts_with("profile::huge::"))
            .expect("it was just written");
        (path, text.clone(), line)
    }

    /// How many lines the repository's data files have.
    pub fn lines(&self) -> usize {
        self.files.iter().map(|(_, text)| text.lines().count()).sum()
    }
}

impl Drop for Repo {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// A file with probes.
#[derive(Clone, Debug, Default)]
pub struct Probed {
    /// The file's path.
    pub path: PathBuf,
    /// The file's text before any edit.
    pub text: String,
    /// The file's probes in order.
    pub probes: Vec<Probe>,
}

impl Probed {
    /// The file with these lines above the probe in the middle.
    pub fn with_broken(self, entry: &str) -> Probed {
        self.with_lines(PROBES / 2, entry)
    }

    /// The file with five anchors; aliases of each are all over the file.
    pub fn with_shared_anchors(mut self) -> Probed {
        for number in 0..PROBES {
            let mut lines = Vec::new();
            if number < 5 {
                lines.push(format!(
                    "shared::defaults_{number}: &shared{number}\n  port: {number}\n  tags: [a, b]"
                ));
            }
            for anchor in [number % 5, number / 2].into_iter().filter(|anchor| *anchor <= number) {
                lines.push(format!(
                    "shared::user_{number}_{anchor}:\n  <<: *shared{anchor}\n  own: {number}"
                ));
            }
            self = self.with_lines(number, &lines.join("\n"));
        }
        self
    }

    /// The file with so many findings for each probe.
    pub fn with_findings(mut self, count: usize) -> Probed {
        for number in 0..PROBES {
            let line = |n: usize| {
                format!(
                    "dangling::key_{number}_{n}: \"%{{lookup('nowhere::found_{number}_{n}')}}\""
                )
            };
            self = self.with_lines(number, &(0..count).map(line).collect::<Vec<_>>().join("\n"));
        }
        self
    }

    /// The file with these lines above a probe.
    fn with_lines(mut self, middle: usize, entry: &str) -> Probed {
        let key = format!("{}:", self.probes[middle].key);
        self.text = self.text.replacen(&format!("\n{key}"), &format!("\n{entry}\n{key}"), 1);
        let lines = entry.lines().count();
        self.probes[middle..].iter_mut().for_each(|probe| probe.line += lines);
        self
    }
}

/// An entry `key: "before%{lookup('token')} end"` on a line of its own, whose token is unknown:
/// every edit of it changes a finding, so that an answer to it is awaited in vain if it is not
/// seen.
#[derive(Clone, Debug)]
pub struct Probe {
    line: usize,
    /// Whether the probe is a member of an object of JSON.
    is_json: bool,
    key: String,
    before: String,
    /// The key that the probe asks for.
    pub token: String,
}

/// The part of a probe that is edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The text of the value.
    Value,
    /// The key.
    Key,
    /// The argument of the token.
    Token,
}

impl Probe {
    fn new(line: usize, number: usize, is_json: bool) -> Probe {
        Probe {
            line,
            is_json,
            key: format!("probe::key_{number}"),
            before: "value ".into(),
            token: format!("nowhere::token_{number}"),
        }
    }

    fn text(&self) -> String {
        let Probe { key, before, token, .. } = self;
        let value = format!("\"{before}%{{lookup('{token}')}} end\"");
        if self.is_json { format!("  \"{key}\": {value},") } else { format!("{key}: {value}") }
    }

    /// The column behind the key.
    fn key_end(&self) -> usize {
        if self.is_json { "  \"".len() + self.key.len() } else { self.key.len() }
    }

    /// The column behind the text that stands before the token.
    fn value_end(&self) -> usize {
        let colon = if self.is_json { "\": \"" } else { ": \"" };
        self.key_end() + colon.len() + self.before.len()
    }

    /// The column behind the token's argument.
    fn token_end(&self) -> usize {
        self.value_end() + "%{lookup('".len() + self.token.len()
    }

    /// Types a character at the end of a part, or takes the last one away again: a text that is
    /// edited for ever stays as long as it is.
    pub fn type_or_delete(&mut self, part: Part) -> LineEdit {
        let (key_end, value_end, token_end) = (self.key_end(), self.value_end(), self.token_end());
        let (text, column) = match part {
            Part::Key => (&mut self.key, key_end),
            Part::Value => (&mut self.before, value_end),
            Part::Token => (&mut self.token, token_end),
        };
        if text.ends_with('x') {
            text.pop();
            return LineEdit {
                line: self.line,
                start: column - 1,
                end: column,
                text: String::new(),
            };
        }
        text.push('x');
        LineEdit { line: self.line, start: column, end: column, text: "x".into() }
    }

    /// Types one more character at the end of the token's argument.
    pub fn type_in_token(&mut self, c: char) -> LineEdit {
        let column = self.token_end();
        self.token.push(c);
        LineEdit { line: self.line, start: column, end: column, text: c.into() }
    }

    /// Takes the last characters of the token's argument away.
    pub fn delete_in_token(&mut self, count: usize) -> LineEdit {
        let end = self.token_end();
        self.token.truncate(self.token.len() - count);
        LineEdit { line: self.line, start: end - count, end, text: String::new() }
    }
}

fn certname(node: usize) -> String {
    format!(
        "{}-{node:04}.{}.example.net",
        ROLES[node % ROLES.len()],
        SITES[node / ROLES.len() % SITES.len()]
    )
}

/// A line of the fleet file: the top scope of a node.
fn facts(node: usize) -> String {
    let name = certname(node);
    let (role, site) = (ROLES[node % ROLES.len()], SITES[node / ROLES.len() % SITES.len()]);
    let family = if node.is_multiple_of(3) { "RedHat" } else { "Debian" };
    format!(
        "{{\"environment\":\"production\",\"role\":\"{role}\",\"site\":\"{site}\",\"trusted\":{{\"certname\":\"{name}\"}},\
         \"facts\":{{\"os\":{{\"family\":\"{family}\"}},\"networking\":{{\"fqdn\":\"{name}\",\"ip\":\"10.0.{}.{}\"}}}}}}\n",
        node / 250,
        node % 250 + 1
    )
}

/// The name of a key of the pool; its number settles the shape of its value, so that levels can be
/// merged.
fn pool_key(number: usize) -> String {
    let shape = ["settings", "list", "users", "text", "port", "motd", "server", "flag"][number % 8];
    format!("profile::{}::{shape}_{number}", MODULES[number / 8 % MODULES.len()])
}

/// The lowest level: options, and the keys of the pool from the first on, so that tokens of all
/// files find theirs.
fn common(random: &mut Random, keys: usize, lines: usize) -> String {
    let mut text = format!("---\n# What every machine gets.\n{OPTIONS}");
    let most = (lines * 2).max(400);
    let mut written = 0;
    for number in 0..keys {
        if written > most {
            break;
        }
        written += entry(random, number, &pool_key(number), &mut text);
    }
    text
}

fn file(random: &mut Random, keys: usize, lines: usize, own: &str) -> String {
    let mut text = format!("---\n# {own}\n");
    let mut written = 2;
    let mut seen = HashSet::new();
    while written < lines {
        if random.one_in(12) {
            text.push_str("# Reviewed by the people on call; see the runbook.\n");
            written += 1;
        }
        let number = random.below(keys);
        // Some keys are in this file only.
        let key = if seen.insert(number) && !random.one_in(8) {
            pool_key(number)
        } else {
            format!("{own}::own_{written}")
        };
        written += entry(random, number, &key, &mut text);
    }
    text
}

/// A file of `lines` lines, with probes at even distances.
fn probed(random: &mut Random, lines: usize) -> Probed {
    let mut text = String::from("---\n");
    let mut written = 1;
    let mut probes = Vec::new();
    while written < lines {
        if written >= lines * probes.len() / PROBES && probes.len() < PROBES {
            let probe = Probe::new(written, probes.len(), false);
            // A second entry asks for the probe, so that the probe's key matters to other keys.
            let _ = write!(
                text,
                "{}\nprobe::reader_{}: \"%{{lookup('{}')}}\"\n",
                probe.text(),
                probes.len(),
                probe.key
            );
            probes.push(probe);
            written += 2;
        }
        written += entry(random, written, &format!("large::key_{written}"), &mut text);
    }
    Probed { path: PathBuf::new(), text, probes }
}

/// An object of JSON of `lines` lines, with probes at even distances.
fn probed_json(random: &mut Random, lines: usize) -> Probed {
    let mut text = String::from("{\n");
    let mut written = 1;
    let mut probes = Vec::new();
    while written < lines {
        if written >= lines * probes.len() / PROBES && probes.len() < PROBES {
            let probe = Probe::new(written, probes.len(), true);
            let (number, key) = (probes.len(), &probe.key);
            let reader = format!("  \"probe::reader_{number}\": \"%{{lookup('{key}')}}\",");
            let _ = write!(text, "{}\n{reader}\n", probe.text());
            probes.push(probe);
            written += 2;
        }
        let (key, n) = (format!("large::key_{written}"), random.below(1000));
        let (member, lines) = match written % 3 {
            0 => (format!("\"{key}\": {n}"), 1),
            1 => (format!("\"{key}\": [\n    \"item-{n}\",\n    {n}\n  ]"), 4),
            _ => (
                format!(
                    "\"{key}\": {{\n    \"port\": {n},\n    \"tags\": [\"t{n}\", \"blåbær\"]\n  }}"
                ),
                4,
            ),
        };
        let _ = writeln!(text, "  {member},");
        written += lines;
    }
    text.push_str("  \"large::last\": null\n}\n");
    Probed { path: PathBuf::new(), text, probes }
}

/// Writes an entry whose value has the shape that `number` settles; gives the number of its lines.
fn entry(random: &mut Random, number: usize, key: &str, text: &mut String) -> usize {
    let before = text.len();
    // common.yaml surely has these keys, and their values have no tokens that could lead back.
    let known =
        |random: &mut Random| pool_key(random.below(10) * 8 + random.pick(&[0, 1, 2, 4, 5, 6, 7]));
    let n = random.below(1000);
    let word = random.pick(&["alpha", "bravo", "charlie", "delta", "echo", "blåbær", "フィヨルド"]);
    let _ = match number % 8 {
        0 => write!(
            text,
            "{key}:\n  {word}:\n    port: {n}\n    name: '{word} {n}'\n    tags: [{word}, common, t{n}]\n  shared:\n    root: /srv/{word}\n    limits:\n      soft: {n}\n      hard: {}\n",
            n * 2
        ),
        1 => write!(
            text,
            "{key}:\n  - {word}\n  - item-{n}\n  - '10.0.{}.{}/24'\n",
            n % 250,
            n % 199
        ),
        2 => writeln!(
            text,
            "{key}:\n  user{n}: &u{n}\n    uid: {n}\n    shell: /bin/bash\n  admin{n}: *u{n}"
        ),
        3 if number % 16 == 3 => {
            writeln!(text, "{key}: \"%{{lookup('{}')}} on %{{trusted.certname}}\"", known(random))
        }
        3 => writeln!(text, "{key}: \"%{{alias('{}')}}\"", known(random)),
        4 => writeln!(text, "{key}: {n}"),
        5 => write!(
            text,
            "{key}: |\n  Welcome to {word}.\n  This machine is number {n} of %{{site}}.\n"
        ),
        6 => writeln!(text, "{key}: {{host: {word}-{n}.example.net, port: {n}, tls: true}}"),
        _ => writeln!(text, "{key}: {}", n.is_multiple_of(2)),
    };
    text[before..].matches('\n').count()
}
