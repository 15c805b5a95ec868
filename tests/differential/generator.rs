//! Random control repositories. Root keys, levels and facts each stand on a line of their own, so that the shrinker can drop lines.

use serde_json::{Map, Value, json};

use crate::scenario::{Question, Scenario};

/// Numbers that look random and are the same for the same seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn one_in(&mut self, limit: usize) -> bool {
        self.below(limit) == 0
    }

    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// A scenario made from a seed.
pub fn scenario(seed: u64) -> Scenario {
    let mut random = Random(seed);
    let errors = random.one_in(4);
    let mut making = Making { random, errors, files: Vec::new() };
    making.layer(LayerKind::Environment);
    for module in MODULES {
        if !making.random.one_in(3) {
            making.layer(LayerKind::Module(module));
        }
    }
    if making.random.one_in(2) {
        making.layer(LayerKind::Global);
    }
    let scope = making.scope();
    let questions = making.questions();
    Scenario { name: format!("seed {seed}"), files: making.files, scope, questions }
}

const MODULES: [&str; 2] = ["m", "n"];
const KEYS: &[&str] = &["a", "b", "c", "d", "e", "x.y", "k k", "L", "m::a", "m::b", "m::h", "n::a", "n::b"];
/// The paths that data files may have, relative to a datadir, and the locations that name some of them.
const FILES: &[&str] = &[
    "common.yaml",
    "a.yaml",
    "b.yaml",
    "nodes/h1.yaml",
    "os/Debian.yaml",
    "os/RedHat.yaml",
    "x/c.yaml",
    ".yaml",
    "j.json",
    "p/host.json",
    "nodes/.yaml",
];
const PATHS: &[&str] = &[
    "common.yaml",
    "common.yaml",
    "a.yaml",
    "b.yaml",
    "nodes/%{trusted.certname}.yaml",
    "os/%{facts.os.family}.yaml",
    "%{facts.list.0}.yaml",
    "%{nope}.yaml",
    "nodes/%{facts.nope}.yaml",
    "missing.yaml",
    "x/../a.yaml",
    "./b.yaml",
    "x/%{facts.tok}.yaml",
    "%{::letter}.yaml",
    "x//c.yaml",
    "<env>/data/a.yaml",
    "../data/b.yaml",
];
const ODD_PATHS: &[&str] = &[
    "",
    "os",
    "%{lookup('a')}.yaml",
    "%{facts.hn.x}.yaml",
    "%{facts.num.x}.yaml",
    "%{a..b}",
    "%{}a.yaml",
    "%{facts.loop1}.yaml",
];
const GLOBS: &[&str] = &[
    "*.yaml",
    "os/*.yaml",
    "**/*.yaml",
    "{b,a}.yaml",
    "%{facts.glob}.yaml",
    "nothing/*",
    "?.yaml",
    "[ab].yaml",
    "common.yaml",
    "*",
    "{a.yaml,a.yaml}",
];
const VARIABLES: &[&str] = &[
    "hn",
    "letter",
    "::letter",
    "facts.os.family",
    "facts.os",
    "facts.list",
    "facts.list.0",
    "facts.list.9",
    "facts.h.a",
    "facts.tok",
    "facts.nope",
    "facts.null",
    "trusted.certname",
    "environment",
    "nope",
    "nope.x",
    "server_facts",
    "own",
    "own.x",
    "'own'",
    "facts.\"os\".family",
    "facts.flag",
    "facts.num",
    "facts.float",
    "a::own",
    "::nope",
    "trusted.extensions.pp_role",
    " hn ",
    "module_name",
    "facts.empty",
    "facts.wrapped",
];
const ODD_VARIABLES: &[&str] = &[
    "facts.hn.x",
    "facts.num.x",
    "facts.list.x",
    "facts.lk",
    "facts.loop1",
    "facts.al",
    "facts..os",
    "\"facts",
    ".",
    "facts.os.",
    "facts.bad",
    "facts.flag.x",
];

enum LayerKind {
    Global,
    Environment,
    Module(&'static str),
}

impl LayerKind {
    fn root(&self) -> String {
        match self {
            LayerKind::Global => "<global>/".into(),
            LayerKind::Environment => String::new(),
            LayerKind::Module(name) => format!("modules/{name}/"),
        }
    }
}

struct Making {
    random: Random,
    /// Whether mistakes are sprinkled in.
    errors: bool,
    files: Vec<(String, String)>,
}

impl Making {
    fn odd(&mut self, limit: usize) -> bool {
        self.errors && self.random.one_in(limit)
    }

    fn layer(&mut self, layer: LayerKind) {
        let root = layer.root();
        let mut datadir = "data";
        let mut config = String::from("version: 5\n");
        if self.random.one_in(4) {
            datadir = self.random.pick(&["data", "hd", "./hd", "data/os", "../env/data"]);
            let function = if self.odd(8) { "" } else { "data_hash: yaml_data, " };
            config.push_str(&format!("defaults: {{{function}datadir: {datadir}}}\n"));
        }
        let mut named = Vec::new();
        self.levels(&mut config, "hierarchy", &mut named);
        if matches!(layer, LayerKind::Module(_)) && self.random.one_in(2) {
            self.levels(&mut config, "default_hierarchy", &mut named);
        }
        if self.odd(10) {
            config = self.corrupt_config(config, matches!(layer, LayerKind::Global));
        }
        self.files.push((format!("{root}hiera.yaml"), config));
        let count = 2 + self.random.below(5);
        let module = match layer {
            LayerKind::Module(name) => Some(name),
            _ => None,
        };
        for n in 0..count {
            let file = if n == 0 { "common.yaml" } else { self.random.pick(FILES) };
            let folder = if self.random.one_in(6) {
                self.random.pick(&["data", "hd", "data/os"])
            } else {
                datadir.trim_start_matches("./")
            };
            if folder.starts_with("..") {
                continue;
            }
            let path = format!("{root}{folder}/{file}");
            if self.files.iter().all(|(known, _)| *known != path) {
                let content = self.data_file(file.ends_with(".json"), module);
                self.files.push((path, content));
            }
        }
    }

    fn levels(&mut self, config: &mut String, list: &str, named: &mut Vec<String>) {
        config.push_str(&format!("{list}:\n"));
        let count = 1 + self.random.below(4);
        for n in 0..count {
            let name = if self.odd(40) { "same".into() } else { format!("{list} {n}") };
            named.push(name.clone());
            let location = self.location();
            let function = match self.random.below(12) {
                1 => ", lookup_key: eyaml_lookup_key",
                2 => ", data_hash: yaml_data",
                _ => "",
            };
            let function = if location.contains(".json") { ", data_hash: json_data" } else { function };
            let datadir = if self.random.one_in(8) {
                ", datadir: hd"
            } else if self.random.one_in(20) {
                ", datadir: \"%{facts.dir}\""
            } else {
                ""
            };
            config.push_str(&format!("  - {{name: {}, {location}{function}{datadir}}}\n", json!(name)));
        }
    }

    fn path(&mut self) -> Value {
        if self.odd(12) { self.random.pick(ODD_PATHS).into() } else { self.random.pick(PATHS).into() }
    }

    fn location(&mut self) -> String {
        match self.random.below(10) {
            0..=3 => format!("path: {}", self.path()),
            4 | 5 => {
                let paths: Vec<Value> = (0..1 + self.random.below(3)).map(|_| self.path()).collect();
                format!("paths: {}", Value::from(paths))
            }
            6 => format!("glob: {}", Value::from(self.random.pick(GLOBS))),
            7 => {
                let globs: Vec<&str> = (0..1 + self.random.below(2)).map(|_| self.random.pick(GLOBS)).collect();
                format!("globs: {}", Value::from(globs))
            }
            8 => {
                let mapped = [
                    r#"[facts.list, t, "%{t}.yaml"]"#,
                    r#"[facts.h, t, "%{t.1}.yaml"]"#,
                    r#"[nope, t, "%{t}.yaml"]"#,
                    r#"[letter, t, "%{t}.yaml"]"#,
                    r#"[facts.nope, t, "%{t}.yaml"]"#,
                    r#"[facts.list, facts, "%{facts}.yaml"]"#,
                    r#"["::letter", t, "%{::t}%{t}.yaml"]"#,
                    r#"[facts.empty, t, "%{t}.yaml"]"#,
                ];
                let odd = [
                    r#"[facts.num, t, "%{t}.yaml"]"#,
                    r#"[facts.flag, t, "%{t}.yaml"]"#,
                    r#"["%{facts.list}", t, "%{t}.yaml"]"#,
                    r#"[facts.list, t, "%{t.x}.yaml"]"#,
                    r#"["a..b", t, "x"]"#,
                ];
                let chosen = if self.odd(4) { self.random.pick(&odd) } else { self.random.pick(&mapped) };
                format!("mapped_paths: {chosen}")
            }
            _ => format!("path: {}", Value::from(self.random.pick(&["j.json", "p/%{hn}.json"]))),
        }
    }

    fn corrupt_config(&mut self, config: String, is_global: bool) -> String {
        match self.random.below(12) {
            0 => config.replace("version: 5", "version: '5'"),
            1 if !is_global => "version: 3\nhierarchy: [common]\n".to_owned(),
            2 => config.replace("version: 5", "version: 6"),
            3 => config.replacen("name: ", "nam: ", 1),
            4 => config.replacen("path: ", "pathz: ", 1),
            5 => config.replacen("{name: ", "{uri: x, name: ", 1),
            6 => format!("{config}foo: 1\n"),
            7 => config.replacen("}\n", ", options: {a: 1}}\n", 1),
            8 => config.replacen("path: \"", "path: \"%{lookup('a')}", 1),
            9 => config.replacen("}\n", ", lookup_key: eyaml_lookup_key}\n", 1),
            10 => config.replacen("name: ", "path: null, name: ", 1),
            _ => config.replacen("path:", "paths:", 1),
        }
    }

    fn data_file(&mut self, as_json: bool, module: Option<&str>) -> String {
        let mut entries: Vec<(String, Value)> = Vec::new();
        for _ in 0..1 + self.random.below(8) {
            let mut key = self.random.pick(KEYS).to_owned();
            if let Some(module) = module
                && !key.starts_with(&format!("{module}::"))
                && !self.random.one_in(8)
            {
                key = format!("{module}::{}", self.random.pick(&["a", "b", "h"]));
            }
            if entries.iter().any(|(known, _)| *known == key) {
                continue;
            }
            let value = self.value(0);
            entries.push((key, value));
        }
        if self.random.one_in(3) {
            entries.push(("lookup_options".into(), self.lookup_options(module)));
        }
        if as_json {
            if self.odd(15) {
                return self.random.pick(&["", "[]", "null", "{\"a\": }", "5"]).to_owned();
            }
            let members: Vec<String> = entries.iter().map(|(key, value)| format!("{}: {value}", json!(key))).collect();
            return format!("{{\n{}\n}}\n", members.join(",\n"));
        }
        let mut text: String = entries.iter().map(|(key, value)| format!("{}: {}\n", json!(key), yaml(value))).collect();
        if self.random.one_in(4) {
            let lines = [
                "e: {1: one, 2.5: two}",
                "d: .inf",
                "c: 12345678901234567890123",
                "b: 0x1F",
                "a: 1:30",
                "e: 'yes'",
                "d: yes",
                ":c: 1",
                "5: five",
                "~: nothing",
                "true: t",
                "x: &x {p: 1}",
                "e: {<<: {q: 1, r: 2}, q: 3}",
                "a: {\"1\": x, 1: y}",
                "b: |\n  text %{hn}\n  more",
                "d: 1.0e+20",
                "e: [1, 1.0, '1', true]",
                "a: -0.0",
                "'%{hn}': 7",
            ];
            text.push_str(self.random.pick(&lines));
            text.push('\n');
        }
        if self.odd(12) {
            let lines = [
                "e: 2020-01-01",
                "d: : x",
                "c: :symbol",
                "b: {true: 1}",
                "a: {~: 1}",
                "e: *nope",
                "d: [1",
                "- a",
                "e: [1, {on: 2}, 3]",
                "d: {a: {b: :s}}",
                "e: {[1]: 2}",
            ];
            text.push_str(self.random.pick(&lines));
            text.push('\n');
        }
        if self.odd(30) {
            text = self.random.pick(&["", "# nothing\n", "foo\n", "- a\n", "~\n", "false\n", "5\n", "---\n"]).to_owned();
        }
        text
    }

    fn value(&mut self, depth: usize) -> Value {
        let collections = [6, 4, 2, 0][depth.min(3)];
        if self.random.below(10) < collections {
            let size = self.random.below(4);
            if self.random.one_in(2) {
                return (0..size).map(|_| self.value(depth + 1)).collect();
            }
            let mut hash = Map::new();
            for _ in 0..size {
                let key = if self.random.one_in(12) {
                    self.text()
                } else {
                    self.random.pick(&["a", "b", "c", "1", "x.y", "p"]).to_owned()
                };
                hash.insert(key, self.value(depth + 1));
            }
            return hash.into();
        }
        match self.random.below(24) {
            0 => Value::Null,
            1 => self.random.one_in(2).into(),
            2 | 3 => self.random.pick(&[0, 1, 2, 3, -7]).into(),
            4 => self.random.pick(&[1.0, 2.5, -0.5, 1e20, 1e-7]).into(),
            5 => self.random.pick(&["--a", "--", "--x", "5", "yes", "010", "1.5"]).into(),
            6..=9 => self.random.pick(&["a", "b", "c", "x", "", "é\n", "q\"#{x}"]).into(),
            _ => self.text().into(),
        }
    }

    fn variable(&mut self) -> &'static str {
        if self.odd(10) { self.random.pick(ODD_VARIABLES) } else { self.random.pick(VARIABLES) }
    }

    fn key(&mut self) -> String {
        let key = self.random.pick(KEYS);
        let key = if key == "x.y" && !self.odd(4) { "\"x.y\"" } else { key };
        match self.random.below(12) {
            0 => format!("{key}.a"),
            1 => format!("{key}.{}", self.random.pick(&["b", "0", "1", "\"1\"", "a.b", "-1"])),
            2 => "nokey".into(),
            3 if self.odd(6) => {
                self.random.pick(&["a.", "lookup_options", "\"lookup_options\"", "1.a", "", "lookup_options.a"]).into()
            }
            _ => key.into(),
        }
    }

    /// A string that may hold tokens.
    fn text(&mut self) -> String {
        if self.random.one_in(3) {
            return self.random.pick(&["a", "b", "x", "1", "%", "%{", "100%", "p q"]).into();
        }
        let mut text = String::new();
        for _ in 0..1 + self.random.below(2) {
            let token = match self.random.below(12) {
                0..=3 => format!("%{{{}}}", self.variable()),
                4..=6 => format!("%{{lookup('{}')}}", self.key()),
                7 => return format!("%{{alias('{}')}}", self.key()),
                8 => format!("%{{literal('{}')}}", self.random.pick(&["%", "zz", "%{", "a"])),
                9 => format!("%{{scope('{}')}}", self.variable()),
                10 => self
                    .random
                    .pick(&[
                        "%{}",
                        "%{::}",
                        "%%{hn}",
                        "%{hiera(\"b\")}",
                        "%{ lookup(\"b\") }",
                        "%{literal('%')}{hn}",
                        "%{{hn}}",
                        "\\%{hn}",
                    ])
                    .into(),
                _ if self.odd(2) => self
                    .random
                    .pick(&[
                        "%{foo('x')}",
                        "%{lookup('a','b')}",
                        "%{lookup(b)}",
                        "x%{alias('a')}",
                        "%{alias('')}",
                        "%{lookup( 'b')}",
                        "%{Lookup('b')}",
                        "%{a.}",
                        "%{lookup('a.')}",
                        "%{scope('a..b')}",
                    ])
                    .into(),
                _ => "-".into(),
            };
            text.push_str(&token);
            if self.random.one_in(4) {
                text.push_str(self.random.pick(&["x", " ", "-", "é"]));
            }
        }
        text
    }

    fn lookup_options(&mut self, module: Option<&str>) -> Value {
        let mut options = Map::new();
        for _ in 0..1 + self.random.below(4) {
            let key = match module {
                Some(module) if !self.odd(12) => {
                    format!("{}{module}::{}", self.random.pick(&["", "", "^"]), self.random.pick(&["a", "b", "h", ".*"]))
                }
                _ => match self.random.below(5) {
                    0..=2 => self.random.pick(KEYS).to_owned(),
                    _ => self
                        .random
                        .pick(&["^a", "^.*", "^[bc]$", "^m::", "^n::(a|b)", "^(?!a)", "^\\w::", "a.a", "b.*", "^x\\.y", "^zz|h"])
                        .to_owned(),
                },
            };
            let key = if self.odd(25) { self.random.pick(&["^(", "^[", "%{letter}", "%{lookup('a')}"]).to_owned() } else { key };
            let entry = self.options_entry();
            options.insert(key, entry);
        }
        if self.odd(20) { self.random.pick(&[json!("x"), json!([]), Value::Null, json!(5)]) } else { options.into() }
    }

    fn options_entry(&mut self) -> Value {
        if self.odd(15) {
            return self.random.pick(&[json!("x"), json!(["merge"]), Value::Null, json!(5), json!(true), json!({}), json!(1.5)]);
        }
        let mut entry = Map::new();
        if !self.random.one_in(4) {
            entry.insert("merge".into(), self.merge());
        }
        if self.random.one_in(3) {
            let types = [
                json!("String"),
                json!("Sensitive"),
                json!(["Array", true]),
                json!("Array"),
                json!("Integer"),
                json!("Boolean"),
                json!("Hash"),
                json!("Float"),
                json!("Numeric"),
                json!(["Sensitive"]),
                json!("Any"),
            ];
            entry.insert("convert_to".into(), self.random.pick(&types));
        }
        entry.into()
    }

    fn merge(&mut self) -> Value {
        if self.odd(8) {
            let odd = [
                json!("foo"),
                json!(""),
                json!(true),
                json!(false),
                Value::Null,
                json!({}),
                json!({"strategy": "foo"}),
                json!({"strategy": "unique", "foo": 1}),
                json!({"strategy": "deep", "overwrite_arrays": true}),
                json!(["deep"]),
                json!({"strategy": "deep", "sort_merged_arrays": "x"}),
            ];
            return self.random.pick(&odd);
        }
        let names = [
            "first",
            "unique",
            "unique",
            "hash",
            "hash",
            "deep",
            "deep",
            "deep",
            "default",
            "reverse_deep",
            "unconstrained_deep",
        ];
        let name = self.random.pick(&names);
        if !name.contains("deep") || self.random.one_in(2) {
            return if self.random.one_in(5) { json!({"strategy": name}) } else { json!(name) };
        }
        let mut merge = json!({"strategy": name});
        if self.random.one_in(2) {
            merge["knockout_prefix"] = "--".into();
        }
        if self.random.one_in(3) {
            merge["merge_hash_arrays"] = true.into();
        }
        if self.random.one_in(6) {
            merge["sort_merged_arrays"] = true.into();
        }
        merge
    }

    fn scope(&mut self) -> Map<String, Value> {
        let mut facts = json!({
            "hn": "host", "os": {"family": self.random.pick(&["Debian", "RedHat"])}, "list": ["a", "b"], "h": {"a": "b", "x": "a"}, "glob": "{a,b}", "tok": "%{facts.wrapped}",
            "wrapped": "%{letter}", "lk": "%{lookup('a')}", "al": "%{alias('b')}", "loop1": "%{facts.loop2}", "loop2": "%{facts.loop1}", "num": 5, "float": 1.5,
            "flag": true, "null": null, "empty": "", "abs": "<env>/data", "dir": "hd", "bad": "%{foo('x')}",
        });
        for name in ["list", "h", "letter"] {
            if self.random.one_in(8) {
                facts[name] = self.random.pick(&[
                    Value::Null,
                    json!([]),
                    json!(["b", "b", "x/c"]),
                    json!([[1, {"k": "v"}], 2]),
                    json!("a"),
                ]);
            }
        }
        let mut scope = Map::new();
        scope.insert("facts".into(), facts);
        scope.insert("hn".into(), "host".into());
        scope.insert("letter".into(), self.random.pick(&["a", "b", "c"]).into());
        scope.insert("trusted".into(), json!({"certname": "h1", "extensions": {}}));
        scope.insert("own".into(), self.random.pick(&[json!("o"), json!({"x": 1}), json!([1, null, "z"]), Value::Null]));
        scope.insert("a::own".into(), "qualified".into());
        scope
    }

    fn questions(&mut self) -> Vec<Question> {
        let mut questions = Vec::new();
        for key in KEYS {
            let quoted = if *key == "x.y" { "\"x.y\"" } else { key };
            questions.push(Question::new(quoted, None));
            for merge in ["unique", "hash", "deep"] {
                if self.random.one_in(3) {
                    questions.push(Question::new(quoted, Some(merge.into())));
                }
            }
            let merge = self.merge();
            if !matches!(merge, Value::Null | Value::Bool(_)) && self.random.one_in(3) {
                questions.push(Question::new(quoted, Some(merge)));
            }
            for subkey in ["a", "b", "0", "1", "'1'", "a.b", "b.0", "x", "nope"] {
                if self.random.one_in(5) {
                    let merge = if self.random.one_in(4) { Some("deep".into()) } else { None };
                    questions.push(Question::new(format!("{quoted}.{subkey}"), merge));
                }
            }
        }
        for key in [
            "nokey",
            "x.y",
            "lookup_options",
            "\"lookup_options\"",
            "5",
            "",
            "a.",
            " a",
            "::a",
            "m::nokey",
            "o::a",
            "%{hn}",
            "lookup_options.a",
            "m::",
            "::m::a",
            "a.-1",
        ] {
            if self.random.one_in(6) {
                questions.push(Question::new(key, None));
            }
        }
        questions
    }
}

/// A value as YAML: JSON, but for numbers that YAML would take for text.
fn yaml(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => {
            let text = format!("{:e}", number.as_f64().expect("it is a float"));
            let (digits, exponent) = text.split_once('e').expect("it has an exponent");
            let point = if digits.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            format!("{digits}{point}e{sign}{exponent}")
        }
        Value::Array(items) => format!("[{}]", items.iter().map(yaml).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members: Vec<String> = members.iter().map(|(key, value)| format!("{}: {}", json!(key), yaml(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}
