//! Random control repositories: layers, files, a scope, and questions about their data.
//!
//! The parts: [`config`](super::config) makes each `hiera.yaml`, [`data`](super::data) the files
//! below it, [`options`](super::options) merges and `lookup_options`. Root keys, levels and facts
//! each stand on a line of their own, so that the shrinker can drop lines.

use serde_json::{Map, Value, json};

use super::config::{self, FILES};
use super::data::{self, Node};
use super::options;
use crate::scenario::{Question, Scenario};
use crate::support::random::Random;

/// The root keys of the data; a token names one further down this list, so that most lookups end.
pub const KEYS: &[&str] = &[
    "a", "b", "m::a", "c", "n::a", "k k", "d", "m::b", "x.y", "n::b", "e", "L", "m::h", "f", "é",
    "n::h", "hn",
];

/// A scenario made from a seed.
pub fn scenario(seed: u64) -> Scenario {
    let mut random = Random::new(seed);
    let odd = random.one_in(5);
    let eyaml = random.one_in(2);
    let (files, defined) = (Vec::new(), Vec::new());
    let mut making = Making { random, odd, eyaml, modules: "modules", files, defined };
    making.layer(&LayerKind::Environment);
    making.environment_conf();
    for module in ["m", "n"] {
        if !making.random.one_in(4) {
            making.layer(&LayerKind::Module(module));
            making.metadata(module);
        }
    }
    if making.odd(3) {
        let module = making.random.pick(&["A", "1m", "a-m"]);
        making.layer(&LayerKind::Module(module));
    }
    if making.random.one_in(2) {
        making.layer(&LayerKind::Global);
    }
    let scope = making.scope();
    let questions = making.questions();
    Scenario { name: format!("seed {seed}"), files: making.files, scope, questions }
}

/// The texts of `environment.conf`, and where modules lie for Puppet; without a text, there is no
/// such file.
const MODULE_PATHS: &[(&str, &str)] = &[
    ("", "modules"),
    ("", "modules"),
    ("environment_timeout = 0\n", "modules"),
    ("modulepath = \"local:modules\"\n", "local"),
    ("modulepath = 'local\n", "local"),
    ("modulepath = l*:modules\n", "local"),
    ("modulepath = modules:<env>/local\n", "local"),
    ("[main]\n# modulepath = x\nmodulepath=x/../local\nmodulepath = x\n", "local"),
    ("modulepath = local : modules\n", "local "),
    ("modulepath = $confdir/x:local\n[agent]\nmodulepath = x\n", "local"),
    ("modulepath = {mode = 640}local\nenvironment_data_provider = 'hiera'\n", "local"),
];
/// The texts of `environment.conf` with which no module is found, and where the modules lie.
const ODD_MODULE_PATHS: &[(&str, &str)] = &[
    ("modulepath =\n", "modules"),
    ("modulepath = local : modules\n", "local"),
    ("modulepath = x*\n", "modules"),
    ("environment_timeout = 0\n", "site"),
];
/// The texts of `metadata.json`; Puppet passes over modules with one of the later ones.
const METADATA: &[&str] = &[
    r#"{"name": "me-x", "version": "1", "author": "me", "license": "l", "source": "s", "dependencies": []}"#,
    "{}",
    "no JSON",
    r#"{"name": "me-x", "version": "1"}"#,
    r#"{"version": "1", "author": "me", "license": "l", "source": "s", "dependencies": {}}"#,
];

/// One of the three layers.
pub enum LayerKind {
    Global,
    Environment,
    Module(&'static str),
}

impl LayerKind {
    fn root(&self, modules: &str) -> String {
        match self {
            LayerKind::Global => "<global>/".into(),
            LayerKind::Environment => String::new(),
            LayerKind::Module(name) => format!("{modules}/{name}/"),
        }
    }

    /// The module, if the layer is one.
    pub fn module(&self) -> Option<&'static str> {
        match self {
            LayerKind::Module(name) => Some(name),
            _ => None,
        }
    }
}

/// A repository in the making.
pub struct Making {
    pub random: Random,
    odd: bool,
    /// Whether levels may be read by `eyaml_lookup_key`. If so nothing is knocked out: see the
    /// documented difference on lists of eyaml that a knockout changes in place.
    pub eyaml: bool,
    /// The folder of the modules.
    modules: &'static str,
    files: Vec<(String, String)>,
    /// Root keys with the values that some file gives them.
    pub defined: Vec<(String, Node)>,
}

impl Making {
    /// Whether to make a mistake here: never in most repositories, once in `limit` times in the
    /// others.
    pub fn odd(&mut self, limit: usize) -> bool {
        self.odd && self.random.one_in(limit)
    }

    fn environment_conf(&mut self) {
        let known = if self.odd(4) { ODD_MODULE_PATHS } else { MODULE_PATHS };
        let (text, folder) = self.random.pick(known);
        self.modules = folder;
        if !text.is_empty() {
            self.files.push(("environment.conf".into(), text.into()));
        }
    }

    fn metadata(&mut self, module: &str) {
        if self.random.one_in(3) {
            let known = if self.odd(2) { METADATA } else { &METADATA[..3] };
            let path = format!("{}/{module}/metadata.json", self.modules);
            self.files.push((path, self.random.pick(known).into()));
        }
    }

    fn layer(&mut self, layer: &LayerKind) {
        let root = layer.root(self.modules);
        let (text, datadir) = config::hiera_yaml(self, layer);
        self.files.push((format!("{root}hiera.yaml"), text));
        for n in 0..3 + self.random.below(4) {
            let file = if n == 0 { "common.yaml" } else { self.random.pick(FILES) };
            let folder = if n > 0 && self.random.one_in(10) {
                self.random.pick(&["data", "hd", "data/os"])
            } else {
                datadir
            };
            let path = format!("{root}{folder}/{file}");
            if self.files.iter().all(|(known, _)| *known != path) {
                let is_json = file.ends_with(".json");
                let mut content = data::file(self, is_json, layer.module());
                if is_json && self.random.one_in(3) {
                    content = self.encoded(&content);
                }
                self.files.push((path, content));
            }
        }
    }

    /// JSON with a byte order mark, or with escapes. Bytes that are no UTF-8 are left out: the
    /// answer of hiera-ls for them is a documented difference.
    fn encoded(&mut self, json: &str) -> String {
        let member = match self.random.below(4) {
            0 => return format!("\u{feff}{json}"),
            1 => r#""d": ["\u00ef", "\ud83d\ude00", "\/", "\u0000"]"#,
            2 => r#""\u0064": "\u0025{hn} \ud800""#,
            _ => r#""d": "<byte C3><byte A9>\t\u2028", "d": "%\u007bhn}""#,
        };
        match json.trim_start().strip_prefix('{') {
            Some(rest) if rest.trim_start().starts_with('}') => format!("{{{member}{rest}"),
            Some(rest) => format!("{{{member}, {rest}"),
            None => json.to_owned(),
        }
    }

    fn scope(&mut self) -> Map<String, Value> {
        let mut facts = json!({
            "hn": "host", "os": {"family": self.random.pick(&["Debian", "RedHat"])}, "list": ["a", "b"], "h": {"a": "b", "x": "a", "日": "é"}, "é": "é",
            "glob": "{a,b}", "tok": "%{facts.wrapped}", "wrapped": "%{letter}", "lk": "%{lookup('e')}", "al": "%{alias('f')}",
            "big": 9_223_372_036_854_775_808_u64, "loop1": "%{facts.loop2}", "loop2": "%{facts.loop1}", "num": 5, "float": 1.5, "flag": true, "null": null, "empty": "",
            "abs": "<env>/data", "dir": "hd", "bad": "%{foo('x')}", "m": self.random.pick(&["deep", "unique", "hash"]),
        });
        for name in ["list", "h", "letter"] {
            if self.odd(4) {
                let odd = [
                    Value::Null,
                    json!([]),
                    json!(["b", "b", "x/c"]),
                    json!([[1, {"k": "v"}], 2]),
                    json!("a"),
                ];
                facts[name] = self.random.pick(&odd);
            }
        }
        let mut scope = Map::new();
        scope.insert("facts".into(), facts);
        scope.insert("hn".into(), "host".into());
        scope.insert("letter".into(), self.random.pick(&["a", "b", "c"]).into());
        scope.insert("trusted".into(), json!({"certname": "h1", "extensions": {}}));
        scope.insert(
            "own".into(),
            self.random.pick(&[json!("o"), json!({"x": 1}), json!([1, null, "z"]), Value::Null]),
        );
        scope.insert("a::own".into(), "qualified".into());
        scope
    }

    /// Mostly about keys that exist and their subkeys; some about keys that do not exist.
    fn questions(&mut self) -> Vec<Question> {
        let mut questions = Vec::new();
        for key in KEYS {
            let values: Vec<Node> = self
                .defined
                .iter()
                .filter(|(name, _)| name == key)
                .map(|(_, value)| value.clone())
                .collect();
            if values.is_empty() && !self.random.one_in(16) {
                continue;
            }
            let all_hashes = values.iter().all(|value| matches!(value, Node::Hash(_)));
            let all_have_insides =
                values.iter().all(|value| matches!(value, Node::Hash(_) | Node::List(_)));
            let quoted = if *key == "x.y" { "\"x.y\"" } else { key };
            questions.push(Question::new(quoted, None));
            // A hash merge of a value that is no hash is an error, and few cases of this error are
            // enough.
            let usual = if all_hashes || self.random.one_in(10) { "hash" } else { "unique" };
            for merge in [usual, "deep"] {
                questions.push(Question::new(quoted, Some(merge.into())));
            }
            let merge = options::merge(self);
            if !matches!(merge, Value::Null | Value::Bool(_)) {
                questions.push(Question::new(quoted, Some(merge)));
            }
            let subkeys = if all_have_insides || self.random.one_in(8) {
                2 + self.random.below(4)
            } else {
                0
            };
            for _ in 0..subkeys {
                let subkey = match values.is_empty() || self.random.one_in(12) {
                    true => {
                        format!(".{}", self.random.pick(&["a", "0", "'1'", "a.b", "nope", "-1"]))
                    }
                    false => {
                        let value = self.random.pick(&values);
                        data::path_into(self, &value)
                    }
                };
                if !subkey.is_empty() {
                    let merge = if self.random.one_in(3) {
                        Some(self.random.pick(&["deep", "hash"]).into())
                    } else {
                        None
                    };
                    questions.push(Question::new(format!("{quoted}{subkey}"), merge));
                }
            }
        }
        let nowhere = [
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
            "anchor",
            "lookup_options.a",
            "m::",
            "::m::a",
            "a.-1",
            "a. b ",
            "'a'.\"b\"",
            "anchor.a",
            "m",
            "A",
            "A::a",
            "1m::a",
            "a-m::b",
        ];
        for _ in 0..3 {
            questions.push(Question::new(self.random.pick(&nowhere), None));
        }
        questions
    }
}
