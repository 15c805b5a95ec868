//! Random control repositories whose secrets hold a marker.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::marker::{NUMBER, TEXT};
use crate::support::random::Random;
use crate::support::{ruby, run, write_file};

/// Ways to write a type that may make a value Sensitive; a secret's key has one of these.
pub const SENSITIVE: [&str; 16] = [
    "Sensitive",
    " Sensitive",
    "Sensitive ",
    "Sensitive[String]",
    "Sensitive[Integer]",
    "Sensitive[Array[String]]",
    "Optional[Sensitive]",
    "Optional[ Sensitive[Hash] ]",
    "Variant[Sensitive, String]",
    "Variant[String, Array, Hash, Sensitive[Integer]]",
    "Array[Sensitive]",
    "NotUndef[Sensitive[String]]",
    "Init[Sensitive]",
    "Sensitive[App::Text]",
    "App::Secret",
    "Struct[{password => Sensitive}]",
];

/// Other conversions: some fit, some fail with a message that quotes the value.
const CONVERSIONS: [&str; 20] = [
    "Integer",
    "Float",
    "Numeric",
    "Boolean",
    "String",
    "Array",
    "Hash",
    "Binary",
    "Timestamp",
    "Timespan",
    "SemVer",
    "SemVerRange",
    "Regexp",
    "URI",
    "Type",
    "Enum[a]",
    "Array[Enum[a]]",
    "Struct[{a => Integer}]",
    "Integer[1, 2]",
    "App::Type",
];

/// A repository on disk.
pub struct Repository {
    /// The repository's folder.
    pub root: PathBuf,
    /// The folder with the keys of the repository's encrypted values.
    pub keys: PathBuf,
    /// Root keys that a lookup can be asked for, some with a part of them.
    pub asked: Vec<String>,
    /// The repository's data files.
    pub files: Vec<PathBuf>,
}

/// Encrypted texts, all with the same keys.
pub struct Pool {
    keys: PathBuf,
    encrypted: Vec<String>,
}

impl Pool {
    /// Makes keys in a folder, and encrypts `count` texts with them. Needs Ruby.
    pub fn new(folder: &Path, count: usize, random: &mut Random) -> Pool {
        let texts: String =
            (0..count).map(|_| format!("{}\n", json!(secret_text(random)))).collect();
        let script = crate::support::in_package("tests/cli/secrets/encrypt.rb");
        let done = run(ruby().arg(script).arg(folder), texts);
        let encrypted: Vec<String> = done.stdout.lines().map(str::to_owned).collect();
        assert_eq!(encrypted.len(), count, "{}", done.stderr);
        Pool { keys: folder.to_owned(), encrypted }
    }
}

/// A text that is encrypted: the marker, in each form that data can give a meaning to.
fn secret_text(random: &mut Random) -> String {
    let name = format!("{TEXT}{}", random.below(9));
    match random.below(30) {
        0..=9 => name,
        10 => format!("--{name}"),
        11 => format!("--{NUMBER}"),
        12 => format!("a,{name},b"),
        13..=15 => NUMBER.to_string(),
        16 => format!("%{{{name}}}"),
        17 => format!("%{{lookup('{name}')}}"),
        18 => format!("%{{{name}('x')}}"),
        19 => format!("%{{alias('{name}')}}"),
        20 => format!("%{{scope('{name}')}}%{{facts.{name}}}"),
        21 => format!("{name}%{{lookup('k{}')}}", random.below(8)),
        22 => format!("%{{{name}..x}} %{{lookup('{name}.0')"),
        23 => format!("^{name}["),
        24 => format!("Enum[{name}]"),
        25 => format!("{name}::Type"),
        26 => format!("first\n{name}\n"),
        27 => format!("\u{1b}[31m{name}"),
        28 => format!("{{\"😀é\": \"{name}ß\"}}"),
        _ => format!("2020-01-01 {name}"),
    }
}

struct Writer<'a> {
    random: &'a mut Random,
    pool: &'a Pool,
    /// The text before the names of keys: a module's namespace.
    prefix: &'static str,
}

impl Repository {
    /// Writes a repository.
    pub fn write(root: PathBuf, pool: &Pool, random: &mut Random) -> Repository {
        let mut repository =
            Repository { root, keys: pool.keys.clone(), asked: Vec::new(), files: Vec::new() };
        let levels = repository.levels("a");
        repository.file("hiera.yaml", &format!("version: 5\nhierarchy:\n{levels}"));
        repository.file(".hiera-ls.yaml", "nodes: {sources: [nodes/*.json]}\n");
        for (node, role) in [("web01", "web"), ("db02", "db")] {
            let facts =
                json!({"name": node, "values": {"role": role, "trusted": {"certname": node}}});
            repository.file(&format!("nodes/{node}.json"), &facts.to_string());
        }
        let module = repository.levels("m");
        repository.file(
            "modules/app/hiera.yaml",
            &format!(
                "version: 5\nhierarchy:\n{module}default_hierarchy:\n{}",
                repository.levels("d")
            ),
        );
        repository.file(CLASS.0, CLASS.1);
        let mut writer = Writer { random, pool, prefix: "" };
        for (folder, levels, prefix) in [
            ("data", "a", ""),
            ("modules/app/data", "m", "app::"),
            ("modules/app/data", "d", "app::"),
        ] {
            writer.prefix = prefix;
            for level in ["role-web.eyaml", "common.eyaml", "common.yaml"] {
                let path = format!("{folder}/{levels}-{level}");
                let text = writer.data(level == "common.eyaml");
                repository.file(&path, &text);
                repository.files.push(repository.root.join(path));
            }
        }
        for prefix in ["", "app::"] {
            for n in 0..8 {
                let parts = ["", ".password", ".0", ".nested.list", ".user"];
                let part = parts[writer.random.below(parts.len())];
                repository.asked.push(format!("{prefix}k{n}{part}"));
                repository.asked.push(format!("{prefix}k{n}"));
            }
            for n in 0..4 {
                repository.asked.push(format!("{prefix}s{n}"));
                repository.asked.push(format!("{prefix}s{n}.password"));
            }
        }
        repository.asked.push("lookup_options".into());
        repository
    }

    /// Returns a copy in another folder that has levels with functions on top of the hierarchy: they
    /// answer with secrets of their own, of their options and of lookups. Their keys are asked for.
    pub fn copy_with_functions(&self, root: PathBuf, random: &mut Random) -> Repository {
        crate::support::copy(&self.root, &root);
        let moved = |file: &PathBuf| {
            root.join(file.strip_prefix(&self.root).expect("it is in the repository"))
        };
        let files = self.files.iter().map(moved).collect();
        let mut copy = Repository { root, keys: self.keys.clone(), asked: Vec::new(), files };
        copy.add_functions(random);
        copy
    }

    fn add_functions(&mut self, random: &mut Random) {
        let options = format!("{{token: {TEXT}9, parts: [{NUMBER}, {{password: {TEXT}8}}]}}");
        let levels = self.levels("a");
        self.file(
            "hiera.yaml",
            &format!(
                "version: 5\nhierarchy:\n\
                 \x20 - {{name: Own, lookup_key: \"app::secrets\", options: {options}}}\n\
                 \x20 - {{name: Store, lookup_key: hiera_vault, options: {options}}}\n\
                 \x20 - {{name: Hash, data_hash: \"app::hash\", options: {options}}}\n\
                 \x20 - {{name: Deep, data_dig: \"app::deep\", options: {options}}}\n\
                 {levels}"
            ),
        );
        for (path, text) in FUNCTIONS {
            self.file(path, text);
        }
        self.file(
            "global.yaml",
            &format!(
                ":backends: [vault, own]\n:hierarchy: [a]\n:vault:\n  :token: {TEXT}7\n:own:\n  :token: {TEXT}6\n"
            ),
        );
        let mut conversions = Map::new();
        for n in 0..4 {
            conversions.insert(format!("p{n}"), json!({"convert_to": random.pick(&SENSITIVE)}));
            let other = json!({"convert_to": random.pick(&CONVERSIONS), "merge": "unique"});
            conversions.insert(format!("f{n}"), other);
        }
        let options = json!({"lookup_options": conversions});
        self.file("data/a-options.yaml", &options.to_string());
        let config = std::fs::read_to_string(self.root.join("hiera.yaml")).expect("it is there");
        self.file("hiera.yaml", &format!("{config}  - {{name: Options, path: a-options.yaml}}\n"));
        let parts = ["", ".password", ".0", ".nested.0"];
        self.asked = FUNCTION_KEYS
            .iter()
            .flat_map(|letter| (0..4).map(move |n| format!("{letter}{n}")))
            .flat_map(|key| [key.clone(), format!("{key}{}", random.pick(&parts))])
            .collect();
        self.asked.extend(["k0".into(), "s1.password".into()]);
    }

    /// Levels whose files begin with `name`: two encrypted ones and one of plain data.
    fn levels(&self, name: &str) -> String {
        let keys = self.keys.display();
        let options = format!(
            "options: {{pkcs7_private_key: {keys}/private.pem, pkcs7_public_key: {keys}/public.pem}}"
        );
        let encrypted = |title: &str, path: &str| {
            format!(
                "  - {{name: {name}-{title}, lookup_key: eyaml_lookup_key, path: \"{name}-{path}\", {options}}}\n"
            )
        };
        format!(
            "{}{}  - {{name: {name}-plain, path: {name}-common.yaml}}\n",
            encrypted("role", "role-%{role}.eyaml"),
            encrypted("common", "common.eyaml"),
        )
    }

    fn file(&self, path: &str, text: &str) {
        write_file(self.root.join(path), text);
    }
}

/// The letters before the numbers of the keys that functions answer: Sensitive values, secrets of a
/// store, options, values of `lookup`, errors about those, plain values that `convert_to` makes
/// Sensitive, members of a hash, dotted keys; and backends of Hiera 3: a store, and another one.
const FUNCTION_KEYS: [&str; 10] = ["f", "v", "o", "l", "e", "p", "h", "d", "b", "c"];

/// Functions of levels with secrets.
const FUNCTIONS: [(&str, &str); 6] = [
    (
        "modules/app/lib/puppet/functions/app/secrets.rb",
        "Puppet::Functions.create_function(:'app::secrets') do
  def secrets(key, options, context)
    hide = ->(value) { Puppet::Pops::Types::PSensitiveType::Sensitive.new(value) }
    text = 'Zqxmarkvwj1'
    case key
    when 'f0' then hide.call(text)
    when 'f1' then hide.call({ 'password' => text, 'nested' => [text, 8_375_520_461_937] })
    when 'f2' then { 'user' => 'app', 'password' => hide.call(text), 'nested' => [hide.call(hide.call(text))] }
    when 'f3' then [hide.call(8_375_520_461_937), hide.call([text]), 'plain']
    when 'o0' then hide.call(options)
    when 'o1' then { 'password' => hide.call(options['token']) }
    when 'l0' then context.interpolate(\"%{lookup('k0')} and %{lookup('s0')}\")
    when 'l1' then call_function('lookup', 'k1', { 'default_value' => 'none' })
    when 'l2' then { 'password' => context.interpolate(\"%{alias('k2')}\") }
    when 'l3'
      context.explain { context.interpolate(\"the value is %{lookup('k3')}\") }
      context.not_found
    when /\\Ae/
      value = call_function('lookup', key.sub('e', 'k'), { 'default_value' => 'none' })
      raise \"cannot use #{value}\"
    when 'p0' then text
    when 'p1' then { 'password' => text, 'nested' => [text] }
    when 'p2' then 8_375_520_461_937
    when 'p3'
      context.explain { \"asked for #{key} with #{options.keys}\" }
      [text, { 'password' => text }]
    else context.not_found
    end
  end
end
",
    ),
    (
        "modules/app/lib/puppet/functions/hiera_vault.rb",
        "Puppet::Functions.create_function(:hiera_vault) do
  def hiera_vault(key, options, context)
    answers = {
      'v0' => 'Zqxmarkvwj2', 'v1' => { 'password' => 'Zqxmarkvwj2', 'Zqxmarkvwj3' => 1 },
      'v2' => [8_375_520_461_937, ['Zqxmarkvwj2']], 'v3' => options['parts'], 'o2' => options, 'o3' => options['token']
    }
    context.not_found unless answers.key?(key)
    context.explain { \"the store has #{answers[key]}\" }
    answers[key]
  end
end
",
    ),
    (
        "modules/app/lib/hiera/backend/vault_backend.rb",
        "class Hiera::Backend::Vault_backend
  def lookup(key, scope, order_override, resolution_type, context)
    case key
    when 'b0', 'b1.password' then 'Zqxmarkvwj4'
    when 'b1' then { 'password' => 'Zqxmarkvwj4', 'nested' => [8_375_520_461_937] }
    when 'b2' then Hiera::Config[:vault][:token]
    when 'b3' then Hiera::Backend.parse_answer(\"%{hiera('b0')} %{hiera('c1')}\", scope, {}, context)
    else throw :no_such_key
    end
  end
end
",
    ),
    (
        "modules/app/lib/hiera/backend/own_backend.rb",
        "class Hiera::Backend::Own_backend
  def lookup(key, scope, order_override, resolution_type, context)
    hide = ->(value) { Puppet::Pops::Types::PSensitiveType::Sensitive.new(value) }
    case key
    when 'c0' then hide.call(Hiera::Config[:own][:token])
    when 'c1' then { 'password' => hide.call('Zqxmarkvwj5'), 'user' => 'app' }
    when 'c2' then scope.call_function('lookup', ['k0', { 'default_value' => 'none' }])
    when 'c3' then raise \"cannot use #{scope.call_function('lookup', ['b0'])}\"
    else throw :no_such_key
    end
  end
end
",
    ),
    (
        "modules/app/lib/puppet/functions/app/hash.rb",
        "Puppet::Functions.create_function(:'app::hash') do
  def hash(options, context)
    hide = ->(value) { Puppet::Pops::Types::PSensitiveType::Sensitive.new(value) }
    {
      'h0' => hide.call(options['token']), 'h1' => \"%{lookup('f0')} %{lookup('v0')}\", 'h2' => \"%{alias('f2')}\",
      'h3' => { 'password' => hide.call(options['parts']), 'nested' => [\"%{lookup('k0')}\"] }, 'f0' => 'below'
    }
  end
end
",
    ),
    (
        "modules/app/lib/puppet/functions/app/deep.rb",
        "Puppet::Functions.create_function(:'app::deep') do
  def deep(segments, options, context)
    context.not_found unless segments[0].start_with?('d')
    value = Puppet::Pops::Types::PSensitiveType::Sensitive.new(options['token'])
    segments.size > 1 ? value : { 'password' => value, 'nested' => [value] }
  end
end
",
    ),
];

/// A class that takes keys with secrets, and others as defaults of parameters that no level has.
pub const CLASS: (&str, &str) = (
    "modules/app/manifests/init.pp",
    "# @param k0 the first one
class app (
  String $k0 = lookup('k0'),
  Sensitive[String] $s0 = $k0,
  Integer $k1, Hash $k2 = {},
  Struct[{password => Integer, user => String}] $s1,
  $plain = $k1,
  $wrapped = $s0,
  $called = lookup('s1'),
  $merged = lookup('k2', Hash, 'deep', {}),
  $inner = lookup('k3.password'),
) {
  notice($k0)
  $x = lookup('app::s0')
  $y = hiera_array('s2')
}
",
);

impl Writer<'_> {
    /// A data file: keys `kN` with encrypted values, keys `sN` whose conversion makes them secret,
    /// and in one file of each layer their `lookup_options`.
    fn data(&mut self, with_options: bool) -> String {
        let prefix = self.prefix;
        let mut lines = Vec::new();
        if with_options {
            lines.push(format!("lookup_options: {}", self.options()));
        }
        for n in 0..8 {
            if !self.random.one_in(4) {
                lines.push(format!("{prefix}k{n}: {}", self.value(3)));
            }
        }
        for n in 0..4 {
            if !self.random.one_in(4) {
                lines.push(format!("{prefix}s{n}: {}", self.plain_secret(2)));
            }
        }
        if self.random.one_in(4) {
            lines.push(format!("\"{prefix}x%{{lookup('{prefix}k0')}}\": 1"));
        }
        format!("{}\n", lines.join("\n"))
    }

    fn encrypted(&mut self) -> String {
        match self.random.below(24) {
            0 => "ENC[PKCS7,abc]".into(),
            1 => "ENC[GPG,abc]".into(),
            2 | 3 => format!("a {} b", self.random.pick(&self.pool.encrypted)),
            _ => self.random.pick(&self.pool.encrypted),
        }
    }

    fn key(&mut self) -> String {
        let (letter, count) = if self.random.one_in(4) { ("s", 4) } else { ("k", 8) };
        format!("{}{letter}{}", self.prefix, self.random.below(count))
    }

    fn value(&mut self, depth: usize) -> Value {
        let key = self.key();
        match self.random.below(if depth == 0 { 8 } else { 14 }) {
            0..=3 => self.encrypted().into(),
            4 => self.random.pick(&["plain", "3", "true", ""]).into(),
            5 => format!("x%{{lookup('{key}')}}y").into(),
            6 => format!("%{{alias('{key}')}}").into(),
            7 => format!("%{{lookup('{key}.password')}}").into(),
            8..=10 => {
                let mut hash = Map::new();
                hash.insert("user".into(), self.value(0));
                hash.insert("password".into(), self.encrypted().into());
                if self.random.one_in(2) {
                    let list =
                        json!({"list": [self.encrypted(), "plain"], "number": self.value(0)});
                    hash.insert("nested".into(), list);
                }
                if self.random.one_in(3) {
                    hash.insert(format!("%{{lookup('{key}')}}"), self.value(depth - 1));
                }
                hash.into()
            }
            11 => {
                json!([{"A😀é": "日", "name": self.encrypted(), "x": self.value(0)}, {"name": "b"}])
            }
            _ => (0..self.random.below(4)).map(|_| self.value(depth - 1)).collect(),
        }
    }

    /// A value of plain text whose key is made Sensitive.
    fn plain_secret(&mut self, depth: usize) -> Value {
        let text = format!("{TEXT}{}", self.random.below(9));
        match self.random.below(if depth == 0 { 6 } else { 9 }) {
            0 if self.random.one_in(2) => format!("é😀 {text}ß").into(),
            0 | 1 => text.into(),
            2 => format!("{text}%{{}}").into(),
            3 => format!("{text}%{{lookup('{}')}}", self.key()).into(),
            4 => format!("{text}%{{facts.. }}").into(),
            5 => NUMBER.into(),
            6 => json!({"A😀é": "日", "password": self.plain_secret(depth - 1), "user": "app"}),
            7 => json!(["é😀", self.plain_secret(depth - 1), text]),
            _ => json!({"password": text, "list": [text, self.plain_secret(depth - 1)]}),
        }
    }

    fn options(&mut self) -> Value {
        let prefix = self.prefix;
        let mut options = Map::new();
        for n in 0..8 {
            if !self.random.one_in(3) {
                let mut entry = Map::new();
                if !self.random.one_in(4) {
                    entry.insert("merge".into(), self.merge());
                }
                if self.random.one_in(3) {
                    entry.insert("convert_to".into(), self.conversion());
                }
                options.insert(format!("{prefix}k{n}"), entry.into());
            }
        }
        for n in 0..4 {
            let mut entry = Map::new();
            if self.random.one_in(2) {
                entry.insert("merge".into(), self.merge());
            }
            let spelling: Value = self.random.pick(&SENSITIVE).into();
            let listed = self.random.one_in(3);
            entry.insert("convert_to".into(), if listed { json!([spelling]) } else { spelling });
            let key = format!("{prefix}s{n}");
            options
                .insert(if self.random.one_in(3) { format!("^{key}$") } else { key }, entry.into());
        }
        if self.random.one_in(12) {
            let key =
                self.random.pick(&["^%{lookup('k0')}", "%{lookup('k0')}", "^app::%{lookup('k1')}"]);
            options.insert(key.into(), json!({"merge": "unique"}));
        }
        options.into()
    }

    fn merge(&mut self) -> Value {
        match self.random.below(20) {
            0..=2 => "unique".into(),
            3..=5 => "hash".into(),
            6..=9 => "deep".into(),
            10 | 11 => {
                json!({"strategy": "deep", "knockout_prefix": "--", "merge_hash_arrays": true})
            }
            12 | 13 => json!({"strategy": "deep", "sort_merged_arrays": true}),
            14 => {
                json!({"strategy": "unconstrained_deep", "unpack_arrays": ",", "extend_existing_arrays": true})
            }
            15 => json!({"strategy": "reverse_deep", "knockout_prefix": "--"}),
            16 => json!({"strategy": "deep", "knockout_prefix": self.encrypted()}),
            17 => self.encrypted().into(),
            18 => json!({"strategy": self.encrypted()}),
            _ => json!({"strategy": "deep", self.encrypted(): true}),
        }
    }

    fn conversion(&mut self) -> Value {
        match self.random.below(8) {
            0 => json!(["String", self.random.pick(&["%x", "%#p", "%s", "%d", "%t", "%u"])]),
            1 => json!([
                self.random.pick(&["Hash", "Array"]),
                self.random.pick(&["tree", "hash_tree"])
            ]),
            2 => json!(["Integer", self.encrypted()]),
            3 => self.encrypted().into(),
            4 => json!([
                self.random.pick(&["Binary", "Integer"]),
                self.random.pick(&["%s", "%b", "%B"])
            ]),
            _ => self.random.pick(&CONVERSIONS).into(),
        }
    }
}
