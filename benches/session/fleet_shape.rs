//! A control repository of a large fleet: ten levels, nodes whose names show site and role, and
//! facts that stay unknown. It has the same number of lines for any number of nodes, so that two
//! fleets differ in their nodes only.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::random::Random;

/// The size of a repository.
#[derive(Clone, Copy, Debug)]
pub struct FleetShape {
    /// How many nodes have a file.
    pub nodes: usize,
    /// How many roles there are; every site has every role.
    pub roles: usize,
    /// How many lookup keys there are.
    pub keys: usize,
    /// How many lines all data files have together, more or less.
    pub lines: usize,
}

/// The shape that the goals of the bench are about, with so many nodes.
pub const fn large_fleet(nodes: usize) -> FleetShape {
    FleetShape { nodes, roles: 80, keys: 8_000, lines: 300_000 }
}

const SITES: [&str; 8] = ["bergen", "kyoto", "lima", "oslo", "paris", "quito", "tromso", "turku"];
const VARIANTS: [&str; 2] = ["blue", "green"];
const FAMILIES: [&str; 3] = ["Debian", "RedHat", "Suse"];
const TIERS: [&str; 4] = ["gold", "silver", "bronze", "test"];
/// How many modules have a class, and a file of data.
const MODULES: usize = 40;
/// The kinds of values that a key may have. Those of one key are all of one kind.
const KINDS: usize = 10;

const CONFIG: &str = "\
---
version: 5
defaults: {datadir: data, data_hash: yaml_data}
hierarchy:
- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}
- {name: Variant of a role at a site, path: 'variants/%{site}/%{role}-%{variant}.yaml'}
- {name: Site, path: 'sites/%{site}.yaml'}
- {name: Role, path: 'roles/%{role}.yaml'}
- {name: Operating system, path: 'os/%{facts.os.family}/common.yaml'}
- {name: Tiers, mapped_paths: [facts.tiers, tier, 'tiers/%{tier}.yaml']}
- {name: Modules, glob: 'modules/*.yaml'}
- {name: Network of a site, path: 'networks/%{site}.yaml'}
- {name: Services of a site, path: 'services/%{site}.yaml'}
- {name: Common, path: common.yaml}
";

/// The names of nodes show site, role and variant: `oslo-role07-blue-0012.example.net`.
const SETTINGS: &str = "\
nodes:
  derive:
  - {from: trusted.certname, match: '^(?<site>[a-z]+)-(?<role>role\\d+)-(?<variant>[a-z]+)-\\d+\\.'}
";

impl FleetShape {
    /// Writes such a repository into a folder.
    pub fn write(&self, root: &Path) {
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
            fs::write(path, text).expect("the scratch folder can be written to");
        };
        put("hiera.yaml", CONFIG);
        put(".hiera-ls.yaml", SETTINGS);
        for module in 0..MODULES {
            put(&format!("modules/module{module:02}/manifests/init.pp"), &self.class(module));
        }
        for (path, text) in self.data_files() {
            put(&path, &text);
        }
    }

    /// Returns the path of a node's file by the number of the node.
    pub fn node_file(number: usize) -> String {
        let site = SITES[number % SITES.len()];
        let role = number / SITES.len();
        let variant = VARIANTS[number / 3 % VARIANTS.len()];
        format!("data/nodes/{site}-role{:02}-{variant}-{number:05}.example.net.yaml", role % 80)
    }

    fn data_files(&self) -> Vec<(String, String)> {
        let mut random = Random::new(7);
        // A share is a number of thousandths of all lines.
        let lines = |share: usize, files: usize| self.lines * share / 1000 / files.max(1);
        let mut files =
            vec![("data/common.yaml".to_owned(), self.common(&mut random, lines(73, 1)))];
        let mut add = |path: String, lines: usize| {
            let text = self.part(&mut random, lines);
            files.push((path, text));
        };
        for family in FAMILIES {
            add(format!("data/os/{family}/common.yaml"), lines(20, FAMILIES.len()));
        }
        for tier in TIERS {
            add(format!("data/tiers/{tier}.yaml"), lines(17, TIERS.len()));
        }
        for module in 0..MODULES {
            add(format!("data/modules/module{module:02}.yaml"), lines(130, MODULES));
        }
        for role in 0..self.roles {
            add(format!("data/roles/role{role:02}.yaml"), lines(160, self.roles));
        }
        for site in SITES {
            add(format!("data/sites/{site}.yaml"), lines(53, SITES.len()));
            add(format!("data/networks/{site}.yaml"), lines(40, SITES.len()));
            add(format!("data/services/{site}.yaml"), lines(40, SITES.len()));
            for role in 0..self.roles {
                for variant in VARIANTS {
                    let path = format!("data/variants/{site}/role{role:02}-{variant}.yaml");
                    add(path, lines(260, SITES.len() * self.roles * VARIANTS.len()));
                }
            }
        }
        for node in 0..self.nodes {
            add(FleetShape::node_file(node), lines(207, self.nodes));
        }
        files
    }

    fn key(&self, number: usize) -> String {
        format!("module{:02}::setting_{number}", number / KINDS % MODULES)
    }

    /// Returns the file that every node reads: the options, and each key once.
    fn common(&self, random: &mut Random, lines: usize) -> String {
        let mut text = String::from(OPTIONS);
        for number in 0..self.keys {
            self.add_entry(&mut text, number, random);
        }
        let missing = lines.saturating_sub(text.lines().count());
        for number in 0..missing {
            let _ = writeln!(text, "site_note_{number}: 'note {number}'");
        }
        text
    }

    /// Returns the text of a file with some of the keys.
    fn part(&self, random: &mut Random, lines: usize) -> String {
        let mut text = String::from("---\n");
        let mut number = random.below(self.keys);
        let (mut written, mut seen) = (0, 0);
        while written < lines && seen < self.keys {
            written += self.add_entry(&mut text, number % self.keys, random);
            // Ten entries have some seventeen lines.
            let step = 1 + random.below((self.keys * 34 / (10 * lines.max(1))).max(1));
            (number, seen) = (number + step, seen + step);
        }
        text
    }

    /// Adds an entry; returns the number of its lines.
    fn add_entry(&self, text: &mut String, number: usize, random: &mut Random) -> usize {
        let before = text.len();
        let (key, value) = (self.key(number), random.below(1000));
        let other = self.key((number + 7 * KINDS) % self.keys / KINDS * KINDS);
        let _ = match number % KINDS {
            0 => writeln!(text, "{key}: 'value {value}'"),
            1 if random.one_in(4000) => writeln!(text, "{key}: not a number"),
            1 => writeln!(text, "{key}: {value}"),
            2 => writeln!(text, "{key}: [host{value}, host{}]", value + 1),
            3 => {
                writeln!(text, "{key}:\n  mode: '0644'\n  size: {value}\n  at_{}: true", value % 9)
            }
            4 => writeln!(text, "{key}: '%{{site}} {value}'"),
            5 => writeln!(text, "{key}: \"%{{lookup('{other}')}} {value}\""),
            6 => writeln!(text, "{key}: {}", value % 2 == 0),
            7 if random.one_in(4000) => writeln!(text, "{key}:\n- user{value}\n- 7"),
            7 => writeln!(text, "{key}:\n- user{value}\n- user{}", value + 1),
            8 => writeln!(text, "{key}:\n  a: {{size: {value}}}\n  b{}: {{size: 1}}", value % 9),
            _ => writeln!(text, "{key}: '%{{facts.os.family}}-{value}'"),
        };
        text[before..].lines().count()
    }

    /// Returns a class that takes some of the keys of its module.
    fn class(&self, module: usize) -> String {
        let mut text = format!("class module{module:02} (\n");
        let own = (0..self.keys).filter(|number| number / KINDS % MODULES == module);
        for number in own.take(self.keys / MODULES * 3 / 5) {
            let data_type = match number % KINDS {
                0 | 4 | 5 | 9 => "String[1]",
                1 => "Integer[0]",
                2 | 7 => "Array[String]",
                3 => "Hash[String, Variant[String, Integer, Boolean]]",
                6 => "Boolean",
                _ => "Hash[String, Struct[{size => Integer}]]",
            };
            let _ = writeln!(text, "  {data_type} $setting_{number},");
        }
        text.push_str(") {\n}\n");
        text
    }
}

/// Kinds 3, 7 and 8 are merged: the last digit of a key's number is its kind. Kind 7 has an option
/// that does not exist, a finding that needs no index.
const OPTIONS: &str = "\
---
lookup_options:
  '^module\\d+::setting_\\d*3$': {merge: hash}
  '^module\\d+::setting_\\d*7$': {merge: unique, knockout_prefix: '--'}
  '^module\\d+::setting_\\d*8$': {merge: deep}
";
