//! Which questions to ask about a control repository. They follow from its data files alone, so
//! that a key that is added to the data is asked about without anyone thinking of it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Value, json};

/// A question about one node: a lookup key, and the merge argument of `lookup()`, if any.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub key: String,
    pub merge: Option<Value>,
}

impl Question {
    fn new(key: impl Into<String>, merge: Option<Value>) -> Question {
        Question { key: key.into(), merge }
    }

    /// The question as both `hiera-ls lookup --batch` and the oracle read it.
    pub fn to_json(&self) -> Value {
        match &self.merge {
            Some(merge) => json!({"key": self.key, "merge": merge}),
            None => json!({"key": self.key}),
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.merge {
            Some(merge) => write!(f, "{} (merge {merge})", self.key),
            None => write!(f, "{}", self.key),
        }
    }
}

/// Everything about a small repository: all root keys with all merges, deep merges with options,
/// subkeys, keys that are not there and keys that are no keys.
pub fn thorough(root: &Path) -> Vec<Question> {
    let mut values: BTreeMap<String, Vec<serde_yaml::Value>> = BTreeMap::new();
    for file in data_files(root) {
        let text = std::fs::read_to_string(&file).expect("a data file can be read");
        let mut data: serde_yaml::Mapping = serde_yaml::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for (key, value) in &mut data {
            value.apply_merge().expect("merge keys of the sample repository name mappings");
            values
                .entry(key.as_str().expect("keys are strings").to_owned())
                .or_default()
                .push(value.clone());
        }
    }
    let mut questions = Vec::new();
    for (key, values) in &values {
        questions.extend(with_merges(key, EVERY_MERGE));
        if values.iter().any(|value| value.is_mapping() || value.is_sequence()) {
            questions.extend(deep_options().map(|merge| Question::new(key, Some(merge))));
        }
        let mut subkeys = Vec::new();
        values.iter().for_each(|value| subkeys_of(key, value, 2, &mut subkeys));
        subkeys.sort();
        subkeys.dedup();
        for subkey in subkeys {
            questions.push(Question::new(subkey.clone(), None));
            questions.push(Question::new(subkey, Some(json!("deep"))));
        }
    }
    questions.extend(ODD_KEYS.iter().map(|key| Question::new(*key, None)));
    questions.extend(ODD_MERGES.iter().map(|merge| {
        let merge = serde_json::from_str(merge).expect("the merges below are JSON");
        Question::new("profile::web::vhosts", Some(merge))
    }));
    questions
}

/// The configured merge of a key, and the merges that a caller may ask for in its place.
pub const EVERY_MERGE: &[Option<&str>] =
    &[None, Some("first"), Some("unique"), Some("hash"), Some("deep")];

/// All root keys of a repository's data files with each of `merges`; and the files that could not
/// be read for their keys.
pub fn of_root_keys(root: &Path, merges: &[Option<&str>]) -> (Vec<Question>, Vec<PathBuf>) {
    let (mut keys, mut unread) = (Vec::new(), Vec::new());
    for file in data_files(root) {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        // Like Puppet, this function reads only the first document of a file.
        match serde_yaml::Deserializer::from_str(&text).next().map(Option::<RootKeys>::deserialize)
        {
            Some(Ok(found)) => keys.extend(found.map(|RootKeys(keys)| keys).unwrap_or_default()),
            Some(Err(_)) => unread.push(file),
            None => {}
        }
    }
    keys.sort();
    keys.dedup();
    (keys.iter().flat_map(|key| with_merges(key, merges)).collect(), unread)
}

fn with_merges(key: &str, merges: &[Option<&str>]) -> impl Iterator<Item = Question> {
    merges.iter().map(move |merge| Question::new(key, merge.map(Value::from)))
}

fn deep_options() -> impl Iterator<Item = Value> {
    [
        json!({"strategy": "deep", "knockout_prefix": "--"}),
        json!({"strategy": "deep", "sort_merged_arrays": true}),
        json!({"strategy": "deep", "merge_hash_arrays": true, "knockout_prefix": "--"}),
    ]
    .into_iter()
}

/// Not there, not reachable, not a key, or a step into something that has no inside.
const ODD_KEYS: &[&str] = &[
    "no_such_key",
    "no.such.key",
    "profile::base::no_such_parameter",
    "no_such_module::parameter",
    "chrony::no_such_parameter",
    "::company",
    "Company",
    " company",
    "company ",
    "'company'",
    "\"company\"",
    "company.",
    ".company",
    "company..x",
    "company.x",
    "company.0",
    "",
    "''",
    "it's",
    "lookup_options",
    "lookup_options.classes",
    "\"lookup_options\"",
    "classes.0",
    "classes.-1",
    "classes.99",
    "classes.'0'",
    "classes.first",
    "profile::base::sysctl.vm.swappiness",
    "profile::base::console_pin.x",
    "profile::web::workers.x",
    "profile::web::vhosts.shop.aliases.2",
    "profile::web::vhosts . shop . port",
    "profile::web::vhosts.'shop'.\"port\"",
    "profile::base::motd.0",
    "chrony::servers.0",
    "chrony::rtcsync.x",
];

/// Merges beside the usual ones, and no merges at all.
const ODD_MERGES: &[&str] = &[
    r#""default""#,
    r#""unconstrained_deep""#,
    r#""reverse_deep""#,
    r#""deeper""#,
    r#""Deep""#,
    r#"{"strategy":"hash"}"#,
    r#"{"strategy":"first"}"#,
    r#"{"strategy":"unique","knockout_prefix":"--"}"#,
    r#"{"strategy":"deep","knockout_prefix":"T"}"#,
    r#"{"strategy":"deep","overwrite_arrays":true}"#,
    r#"{"strategy":"deep","sort_merged_arrays":"yes"}"#,
    r#"{"knockout_prefix":"--"}"#,
];

/// The keys of everything inside `value`, down to `depth` levels below `key`.
fn subkeys_of(key: &str, value: &serde_yaml::Value, depth: usize, into: &mut Vec<String>) {
    let inner: Vec<(String, &serde_yaml::Value)> = match value {
        serde_yaml::Value::Mapping(entries) => entries
            .iter()
            .filter_map(|(name, value)| Some((segment(name.as_str()?), value)))
            .collect(),
        serde_yaml::Value::Sequence(items) => {
            items.iter().enumerate().map(|(i, value)| (i.to_string(), value)).collect()
        }
        _ => return,
    };
    for (name, value) in inner {
        let subkey = format!("{key}.{name}");
        if depth > 1 {
            subkeys_of(&subkey, value, depth - 1, into);
        }
        into.push(subkey);
    }
}

/// A hash key as a segment of a dotted key: in quotes when it holds a dot or would be taken for an
/// index.
fn segment(name: &str) -> String {
    match name.contains('.') || name.parse::<i64>().is_ok() {
        true => format!("\"{name}\""),
        false => name.to_owned(),
    }
}

/// The files below `root` that look like data, sorted: YAML, eyaml and JSON in a directory named
/// like a datadir.
fn data_files(root: &Path) -> Vec<PathBuf> {
    let (mut pending, mut files) = (vec![root.to_owned()], Vec::new());
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(&dir).expect("a directory of the repository can be read") {
            let path = entry.expect("a directory of the repository can be read").path();
            let below = path
                .strip_prefix(root)
                .expect("found below root")
                .to_string_lossy()
                .replace('\\', "/");
            let in_datadir = below.split('/').any(|part| part == "data" || part == "hieradata");
            let is_data = matches!(
                path.extension().and_then(|end| end.to_str()),
                Some("yaml" | "yml" | "eyaml" | "json")
            );
            if path.is_dir() && !path.is_symlink() {
                pending.push(path);
            } else if in_datadir && is_data {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The keys at the root of a file and nothing else of it: files with duplicate keys are read too,
/// as Puppet reads them.
struct RootKeys(Vec<String>);

impl<'de> Deserialize<'de> for RootKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RootKeys, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = RootKeys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RootKeys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) =
                    map.next_entry::<serde_yaml::Value, IgnoredAny>()?
                {
                    keys.extend(key.as_str().map(str::to_owned));
                }
                Ok(RootKeys(keys))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}
