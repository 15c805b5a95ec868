//! Values of class parameters held against types that name aliases of modules: the verdict and the
//! words of real Puppet, recorded and live.
//!
//! A line of `tests/puppet/aliases/cases.jsonl` has the aliases of a module and checks `[TYPE,
//! VALUE]`; the line of `recorded.jsonl` has Puppet's answers: `null` where the value fits, a list of
//! messages where it does not. `HIERA_LS_RECORD=1` asks Puppet anew.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::support;
use crate::support::random::{self, Random};
use crate::typed;
use hiera_ls::puppet::types::{NamedType, TypeNames, TypeTable, check_parameter};
use hiera_ls::puppet::value::{Data, Key, Member, Provenance, Value};
use hiera_ls::workspace::nodes::from_json;
use serde_json::{Map, Value as Json, json};

fn file(name: &str) -> PathBuf {
    support::in_package("tests/puppet/aliases").join(name)
}

fn lines(name: &str) -> Vec<Json> {
    support::json_lines(name, &std::fs::read_to_string(file(name)).unwrap())
}

/// The aliases of one module.
struct Aliases(HashMap<String, (String, String)>);

impl Aliases {
    fn of(group: &Json) -> Aliases {
        let members = group["aliases"].as_object().unwrap();
        let entry = |(name, text): (&String, &Json)| {
            (name.to_ascii_lowercase(), (name.clone(), text.as_str().unwrap().to_owned()))
        };
        Aliases(members.iter().map(entry).collect())
    }
}

impl TypeNames for Aliases {
    fn type_named(&self, name: &str) -> NamedType {
        match self.0.get(name) {
            Some((name, text)) => NamedType::Alias { name: name.clone(), text: text.clone() },
            None => NamedType::Unknown,
        }
    }
}

/// Returns a value: one that JSON has no form for is written as a hash with one member.
fn value(json: &Json) -> Value {
    let written = Provenance::from_source(None);
    match json {
        Json::Array(items) => Value::new_array(items.iter().map(value).collect(), written),
        Json::Object(members) => {
            if let Some(inner) = members.get("__sensitive") {
                return Value::new(Data::Sensitive(std::sync::Arc::new(value(inner))), written);
            }
            let member = |key: Value, found: &Json| {
                (Key::from(key), Member { key_origin: None, value: value(found) })
            };
            let pairs: Vec<(Key, Member)> = match members.get("__pairs") {
                Some(pairs) => {
                    let pairs = pairs.as_array().unwrap().iter();
                    pairs.map(|pair| member(value(&pair[0]), &pair[1])).collect()
                }
                None => members
                    .iter()
                    .map(|(key, found)| member(from_json(&json!(key)), found))
                    .collect(),
            };
            Value::hash(pairs.into_iter().collect(), written)
        }
        other => from_json(other),
    }
}

/// Returns the verdict of hiera-ls on a check; `None` where it is left to Puppet.
fn ours(table: &TypeTable, aliases: &Aliases, check: &Json) -> Option<Json> {
    let data_type = table.parse(check[0].as_str().unwrap(), aliases).ok()?;
    if data_type.undecided_part().is_some() || data_type.unresolved_name().is_some() {
        return None;
    }
    let wrong = check_parameter("x", &data_type, &value(&check[1]));
    let messages: Vec<String> = wrong.into_iter().map(|part| part.message).collect();
    Some(if messages.is_empty() { Json::Null } else { json!(messages) })
}

/// How answers of Puppet compare with those given here.
#[derive(Default)]
struct Tally {
    checks: usize,
    wrong: Vec<String>,
    /// Checks that are left to Puppet.
    undecided: usize,
    /// Checks over which Puppet itself fails, or which it refuses.
    failed: usize,
}

impl Tally {
    /// Compares words where `words` is set, else verdicts alone.
    fn add(&mut self, group: &Json, answers: &Json, words: bool) {
        let (table, aliases) = (TypeTable::default(), Aliases::of(group));
        let checks = group["checks"].as_array().unwrap();
        assert_eq!(checks.len(), answers.as_array().unwrap().len());
        self.checks += checks.len();
        for (check, answer) in checks.iter().zip(answers.as_array().unwrap()) {
            match ours(&table, &aliases, check) {
                None => self.undecided += 1,
                Some(_) if is_failure(answer) => self.failed += 1,
                Some(found) if found == *answer => {}
                Some(found) if !words && found.is_null() == answer.is_null() => {}
                Some(found) => self.wrong.push(format!(
                    "{} <- {}\n  aliases  {}\n  Puppet   {answer}\n  hiera-ls {found}",
                    check[0], check[1], group["aliases"]
                )),
            }
        }
    }

    fn assert_equal(&self) {
        let Tally { checks, undecided, failed, wrong } = self;
        println!("{checks} checks, {undecided} undecided, {failed} failed, {} differ", wrong.len());
        let shown = wrong[..wrong.len().min(20)].join("\n");
        assert!(wrong.is_empty(), "{} of {checks} differ:\n{shown}", wrong.len());
        assert!(undecided * 4 < *checks, "{undecided} of {checks} are undecided");
        assert!(failed * 10 < *checks, "Puppet fails over {failed} of {checks}");
    }
}

/// Whether Puppet refuses the type, or fails on it. It fails on some aliases that refer to
/// themselves, and reports others of these as unresolved.
fn is_failure(answer: &Json) -> bool {
    answer.get("error").is_some() || answer.to_string().contains("'UnresolvedReference'")
}

fn ask(groups: &[Json]) -> Vec<Json> {
    let lines: String = groups.iter().map(|group| format!("{group}\n")).collect();
    let output = support::run(support::ruby().arg(file("aliases.rb")), &lines);
    let answers = support::json_lines("aliases.rb", &output.stdout);
    assert_eq!(groups.len(), answers.len(), "{}", output.stderr);
    answers
}

#[test]
fn recorded_checks_are_judged_as_puppet_judges_them() {
    let (groups, answers) = (lines("cases.jsonl"), lines("recorded.jsonl"));
    assert_eq!(groups.len(), answers.len(), "every case has its answers");
    let mut tally = Tally::default();
    groups.iter().zip(&answers).for_each(|(group, answers)| tally.add(group, answers, true));
    tally.assert_equal();
    assert!(tally.checks > 80 && tally.undecided < 8, "{} are undecided", tally.undecided);
}

#[test]
fn the_recording_is_what_puppet_says() {
    if !support::require("puppet") {
        return;
    }
    let answers = ask(&lines("cases.jsonl"));
    if std::env::var_os("HIERA_LS_RECORD").is_some() {
        let text: String = answers.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(file("recorded.jsonl"), text).unwrap();
        return;
    }
    assert_eq!(lines("recorded.jsonl"), answers);
}

/// How many checks share their aliases.
const GROUP: usize = 20;

const NAMES: [&str; 4] = ["M::A", "M::B", "M::C", "M::D"];

/// A type in which some names are some of these aliases.
fn naming(random: &mut Random, depth: usize, aliases: &[&str]) -> String {
    let text = typed::data_type(random, depth);
    let mut named = String::new();
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != ':') {
        let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let rest = &word[name.len()..];
        let is_bare = !rest.starts_with('[') && name.len() > 1;
        let is_free = is_bare && name.starts_with(|c: char| c.is_ascii_uppercase());
        let is_replaced = match name {
            "Nope" | "Nope::Other" | "Runtime" | "Class" | "CatalogEntry" | "Init" | "URI" => true,
            _ => random.one_in(4),
        };
        let alias = (is_free && is_replaced && !aliases.is_empty()).then(|| random.pick(aliases));
        named.push_str(alias.unwrap_or(name));
        named.push_str(rest);
    }
    named
}

/// An alias that refers to itself. Without `Iterable`, `Data` and `RichData`: Puppet's answer for
/// these within such an alias depends on the types that it resolved before, as they refer to
/// themselves, too.
fn recursive(random: &mut Random, name: &str, others: &[&str]) -> String {
    loop {
        let text =
            format!("Variant[{}, Array[{name}], Hash[String, {name}]]", naming(random, 1, others));
        if !["Iterable", "Data"].iter().any(|name| text.contains(name)) {
            return text;
        }
    }
}

/// Aliases that each may name those before them, or in some groups all others, and checks of them.
fn group(random: &mut Random, is_tangled: bool) -> Json {
    let mut aliases = Map::new();
    for (number, name) in NAMES.iter().enumerate() {
        let others = if is_tangled { &NAMES[..] } else { &NAMES[..number] };
        let text = match random.below(4) {
            0 => recursive(random, name, others),
            _ => naming(random, 2, others),
        };
        aliases.insert((*name).to_owned(), json!(text));
    }
    let check = |random: &mut Random| {
        let data_type = match random.below(3) {
            0 => random.pick(&NAMES).to_owned(),
            _ => naming(random, 2, &NAMES),
        };
        json!([data_type, typed::value(random, 3)])
    };
    let checks: Vec<Json> = (0..GROUP).map(|_| check(random)).collect();
    json!({"aliases": aliases, "checks": checks})
}

fn compare_random(name: &str, is_tangled: bool) {
    if !support::require("puppet") {
        return;
    }
    let mut random = Random::new(random::seed(name));
    let groups = (0..random::count(2_000).div_ceil(GROUP)).map(|_| group(&mut random, is_tangled));
    let groups: Vec<Json> = groups.collect();
    let mut tally = Tally::default();
    for (group, answers) in groups.iter().zip(ask(&groups)) {
        tally.add(group, &answers, !is_tangled);
    }
    tally.assert_equal();
}

/// Random values against random types that name random aliases, which may be part of themselves.
#[test]
fn random_checks_are_judged_as_puppet_judges_them() {
    compare_random("random_aliases", false);
}

/// Random values against random types, where aliases name each other in any order. The text that
/// Puppet prints for such aliases depends on the one that it resolved first; its verdict does not.
#[test]
fn tangled_aliases_get_puppets_verdict() {
    compare_random("tangled_aliases", true);
}
