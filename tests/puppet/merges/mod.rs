//! Merges of random values, compared with the merges of the installed Puppet.
//!
//! Runs about 2,000 merges; `HIERA_LS_RANDOM` sets another number. Needs a Ruby with Puppet; see
//! `tests/support`.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;

use crate::support;
use crate::support::random::{self, Random};
use hiera_ls::hiera::merge::{MergeError, Strategy, fold, parse_strategy};
use hiera_ls::puppet::ruby::inspect::float_text;
use hiera_ls::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use hiera_ls::text::{Bounds, Budget, CancelToken};
use serde_json::{Value as Json, json};

#[test]
fn random_merges_are_puppets() {
    let count = support::random_cases("puppet", 2_000);
    let seed = random::seed("random_merges_are_puppets");
    let mut random = Random::new(seed);
    let jobs: Vec<Job> = (0..count).map(|_| Job::random(&mut random)).collect();
    let Some(answers) = puppet(&jobs) else { return };
    assert_eq!(answers.len(), jobs.len());
    let mut differences = 0;
    for (job, expected) in jobs.iter().zip(&answers) {
        let ours = job.answer();
        if ours != *expected {
            differences += 1;
            if differences <= 20 {
                println!("{}\n  puppet {expected}\n  ours   {ours}", job.json());
            }
        }
    }
    let merged = answers.iter().filter(|answer| answer.get("value").is_some()).count();
    let errors = answers.iter().filter(|answer| answer.get("error").is_some()).count();
    println!(
        "{count} jobs, {merged} with a value, {errors} with an error, {differences} different"
    );
    assert_eq!(differences, 0, "seed {seed}");
    assert!(
        count < 1_000 || (merged > count / 3 && errors > count / 50),
        "the jobs test too little"
    );
}

/// The answers of Puppet, or `None` where there is none and none is required.
fn puppet(jobs: &[Job]) -> Option<Vec<Json>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/puppet/merges/merge.rb");
    if !support::require("puppet") {
        return None;
    }
    let mut child = support::ruby_with_puppet()
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Ruby has just run");
    let mut stdin = child.stdin.take().expect("it is piped");
    let lines: String = jobs.iter().map(|job| format!("{}\n", job.json())).collect();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("Ruby ends");
    writer.join().expect("the writer does not panic").expect("Ruby reads all jobs");
    let text = String::from_utf8(output.stdout).expect("answers are UTF-8");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("answers are JSON")).collect())
}

/// Something to merge.
struct Job {
    merge: Value,
    places: Place,
}

enum Place {
    Absent,
    Value(Value),
    Several(Vec<Place>),
}

impl Job {
    fn random(random: &mut Random) -> Job {
        let mut kind =
            Kind { prefixes: random.pick(ALL_PREFIXES), random_size: 3, sensitive: false };
        let merge = random_merge(random, &kind);
        kind.sensitive = merge.get("unpack_arrays").is_none();
        Job { merge, places: random_place(random, &kind, 0) }
    }

    fn json(&self) -> Json {
        json!({"merge": encode(&self.merge), "fold": self.places.json()})
    }

    fn answer(&self) -> Json {
        let strategy = match parse_strategy(&self.merge) {
            Ok(strategy) => strategy.unwrap_or_default(),
            Err(error) => return json!({"error": error.to_string()}),
        };
        match self.places.find(&strategy) {
            Ok(Some(value)) => json!({"value": encode(&value)}),
            Ok(None) => json!({"absent": true}),
            Err(error) => json!({"error": error.to_string()}),
        }
    }
}

impl Place {
    fn json(&self) -> Json {
        match self {
            Place::Absent => Json::Null,
            Place::Value(value) => json!({"value": encode(value)}),
            Place::Several(places) => places.iter().map(Place::json).collect(),
        }
    }

    fn find(&self, strategy: &Strategy) -> Result<Option<Value>, MergeError> {
        match self {
            Place::Absent => Ok(None),
            Place::Value(value) => Ok(Some(value.clone())),
            Place::Several(places) => {
                let (cancel, budget) = (CancelToken::default(), Budget::default());
                let bounds = Bounds { cancel: &cancel, budget: &budget };
                fold(strategy, places.len(), bounds, &mut |n| places[n].find(strategy))
            }
        }
    }
}

/// The parts that the values of one job are made of.
struct Kind {
    prefixes: &'static [&'static str],
    random_size: usize,
    /// Whether there are Sensitive values, which no text shows as Ruby does.
    sensitive: bool,
}

const ALL_PREFIXES: &[&[&str]] = &[
    &["--"],
    &["--"],
    &["--"],
    &["-"],
    &["."],
    &["a|b"],
    &["é", "İ"],
    &["-*"],
    &["("],
    &["--", "-"],
    &["*", "+", "?", "{", "*a", "?", "+a", "{", "[", "\\-", "(?i)A", "\\w", "(?i)É", "[[:alpha:]]"],
];

fn random_merge(random: &mut Random, kind: &Kind) -> Value {
    if random.one_in(40) {
        return odd_merge(random);
    }
    let name = random.pick(&[
        "deep",
        "deep",
        "deep",
        "deep",
        "deep",
        "unique",
        "hash",
        "first",
        "reverse_deep",
        "unconstrained_deep",
        "default",
    ]);
    let mut options = Hash::default();
    put(&mut options, "strategy", name.into());
    if name.ends_with("deep") {
        let prefix = random.pick(kind.prefixes);
        if random.one_in(2) {
            put(&mut options, "knockout_prefix", prefix.into());
        }
        for option in ["merge_hash_arrays", "sort_merged_arrays"] {
            if random.one_in(3) {
                put(
                    &mut options,
                    option,
                    Value::new(Data::Bool(true), Provenance::from_source(None)),
                );
            }
        }
        if name != "deep" {
            for option in ["overwrite_arrays", "extend_existing_arrays", "preserve_unmergeables"] {
                if random.one_in(6) {
                    put(
                        &mut options,
                        option,
                        Value::new(Data::Bool(true), Provenance::from_source(None)),
                    );
                }
            }
            if random.one_in(12) {
                put(&mut options, "unpack_arrays", random.pick(&[",", "-", " ", "a", "é"]).into());
            }
        }
    }
    if options.len() == 1 && random.one_in(2) {
        Value::from_argument(name)
    } else {
        Value::hash(options, Provenance::from_source(None))
    }
}

/// Returns values that are mostly no merge strategy.
fn odd_merge(random: &mut Random) -> Value {
    if random.one_in(3) {
        return random_value(
            random,
            &Kind { prefixes: &["--"], random_size: 3, sensitive: false },
            1,
        );
    }
    let mut options = Hash::default();
    let name = random.pick(&["deep", "hash", "unique", "first", "reverse_deep", "Deep", ""]);
    if !random.one_in(8) {
        put(&mut options, "strategy", name.into());
    }
    for _ in 0..random.below(4) {
        let option = random.pick(&[
            "knockout_prefix",
            "merge_debug",
            "merge_hash_arrays",
            "sort_merged_arrays",
            "foo",
            "overwrite_arrays",
        ]);
        let kind = Kind { prefixes: &["--"], random_size: 2, sensitive: false };
        // Only `deep` refuses a prefix that is no string. The other strategies do odd things with
        // such a prefix, which are not followed here.
        let value = if option == "knockout_prefix" && name != "deep" {
            "--".into()
        } else {
            random_value(random, &kind, 2)
        };
        put(&mut options, option, value);
    }
    if random.one_in(6) {
        options.insert(
            random_key(random, true),
            member(random_value(
                random,
                &Kind { prefixes: &["--"], random_size: 2, sensitive: false },
                2,
            )),
        );
    }
    Value::hash(options, Provenance::from_source(None))
}

fn random_place(random: &mut Random, kind: &Kind, depth: usize) -> Place {
    if depth == 0 || (depth < 3 && random.one_in(4)) {
        let count = if depth == 0 { 1 + random.below(4) } else { random.below(4) };
        return Place::Several((0..count).map(|_| random_place(random, kind, depth + 1)).collect());
    }
    if random.one_in(8) { Place::Absent } else { Place::Value(random_value(random, kind, 0)) }
}

fn random_value(random: &mut Random, kind: &Kind, depth: usize) -> Value {
    let collections = [8, 7, 5, 3, 1].get(depth).copied().unwrap_or(0);
    if random.below(10) < collections {
        let size = random.below(kind.random_size + 3);
        if random.one_in(2) {
            let items = (0..size).map(|_| random_value(random, kind, depth + 1)).collect();
            return Value::new_array(items, Provenance::from_source(None));
        }
        let odd_keys = random.one_in(12);
        return Value::hash(
            (0..size)
                .map(|_| {
                    (random_key(random, odd_keys), member(random_value(random, kind, depth + 1)))
                })
                .collect(),
            Provenance::from_source(None),
        );
    }
    let prefix = random.pick(kind.prefixes);
    let data = match random.below(24) {
        0 | 1 => Data::Null,
        2 => Data::Bool(random.one_in(2)),
        3 | 4 => Data::Integer(random.below(4) as i64),
        5 => Data::Float(random.pick(&[0.0, -0.0, 1.0, 2.5, 2.0, 1e20, f64::INFINITY])),
        6 if random.one_in(3) => Data::BigInteger(
            random
                .pick(&["36893488147419103232", "-36893488147419103232", "100000000000000000000"])
                .into(),
        ),
        7 if random.one_in(4) => {
            Data::Integer(random.pick(&[i64::MAX, i64::MIN, 1 << 62, (1 << 62) - 1]))
        }
        8 if random.one_in(8) => Data::Symbol(random.pick(&["default", "a"]).into()),
        9 if kind.sensitive && random.one_in(8) => Data::Sensitive(Arc::new("a".into())),
        10 => Data::String(prefix.into()),
        11..=15 => Data::String(
            format!("{prefix}{}", random.pick(&["a", "b", "c", "1", "--a", "a\n--b"])).into(),
        ),
        _ => Data::String(
            random
                .pick(&[
                    "a",
                    "b",
                    "c",
                    "d",
                    "1",
                    "",
                    "x\n--a",
                    "a\n",
                    "é",
                    "A",
                    "a,b",
                    "b a",
                    "É",
                    "éé",
                    "日",
                    "\u{a0}",
                    "é\u{85}--a",
                ])
                .into(),
        ),
    };
    Value::new(data, Provenance::from_source(None))
}

fn random_key(random: &mut Random, odd: bool) -> Key {
    if odd && random.one_in(2) {
        let data = match random.below(8) {
            0..=2 => Data::Integer(random.below(4) as i64),
            3 => Data::Float(1.0),
            4 => Data::Null,
            5 => Data::Bool(true),
            6 => Data::String("".into()),
            _ => Data::Symbol("a".into()),
        };
        return Key::new(data, Provenance::from_source(None));
    }
    Key::new_string(random.pick(&["a", "b", "c", "d", "--a", "é", "éa"]))
}

fn put(hash: &mut Hash, key: &str, value: Value) {
    hash.insert(Key::new_string(key), member(value));
}

fn member(value: Value) -> Member {
    Member { key_origin: None, value }
}

/// A value as the script reads and writes it.
fn encode(value: &Value) -> Json {
    encode_data(value.data())
}

fn encode_data(data: &Data) -> Json {
    match data {
        Data::Null => Json::Null,
        Data::Bool(value) => json!(value),
        Data::Integer(value) => json!(value),
        Data::BigInteger(digits) => json!({"i": &**digits}),
        Data::Float(value) if value.is_infinite() => {
            json!({"f": if *value > 0.0 { "Infinity" } else { "-Infinity" }})
        }
        Data::Float(value) => json!({"f": float_text(*value)}),
        Data::String(text) => json!(&**text),
        Data::Symbol(name) => json!({"s": &**name}),
        Data::Binary(_) => panic!("no random value is binary"),
        Data::Array(items) => items.iter().map(encode).collect(),
        Data::Hash(hash) => {
            let pairs: Vec<Json> = hash
                .iter()
                .map(|(key, member)| json!([encode_data(key.data()), encode(&member.value)]))
                .collect();
            json!({"h": pairs})
        }
        Data::Rich(_) => unreachable!("only convert_to makes such values"),
        Data::Sensitive(inner) => json!({"p": encode(inner)}),
    }
}
