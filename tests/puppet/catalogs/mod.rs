//! The parameters of all classes in the catalogs of five nodes: the value that data gives, the
//! default, or nothing, in Puppet's catalog and in hiera-ls. `repository` has 40 classes,
//! `recorded.jsonl` Puppet's catalogs and the keys that it looked up for parameters.
//! `HIERA_LS_RECORD=1` asks Puppet anew.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::support;
use hiera_ls::disk::OsFs;
use hiera_ls::puppet::PuppetVersion;
use hiera_ls::puppet::print::{self, PrintOptions};
use hiera_ls::puppet::value::Value;
use hiera_ls::text::FilePath;
use hiera_ls::workspace::files::scan;
use hiera_ls::workspace::manifests::{ManifestIndex, ParameterAt, ParameterValue};
use hiera_ls::workspace::{
    Change, EnvironmentConfig, NodesConfig, Snapshot, Workspace, WorkspaceConfig,
};
use serde_json::Value as Json;

fn file(name: &str) -> PathBuf {
    support::in_package("tests/puppet/catalogs").join(name)
}

fn recorded() -> Vec<Json> {
    support::json_lines("recorded.jsonl", &std::fs::read_to_string(file("recorded.jsonl")).unwrap())
}

fn opened() -> Snapshot {
    let common = EnvironmentConfig {
        puppet: PuppetVersion::of_major(7),
        nodes: NodesConfig { sources: vec!["nodes.jsonl".to_owned()], ..NodesConfig::default() },
        ..EnvironmentConfig::default()
    };
    let config = WorkspaceConfig { common, ..WorkspaceConfig::default() };
    let folder = FilePath::new(&file("repository").to_string_lossy());
    let mut workspace = Workspace::new(config, vec![folder]);
    let scanned = scan::scan(&workspace.scan_request(), &OsFs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scanned)));
    workspace.snapshot()
}

fn as_json(value: &Value) -> Json {
    let options = PrintOptions { reveal_sensitive: true, ..PrintOptions::default() };
    serde_json::from_str(&print::print_json(value, &options)).unwrap()
}

/// The value as a catalog has it: a Sensitive one without its wrapping.
fn in_catalog(value: &Json) -> &Json {
    value.get("__pvalue").unwrap_or(value)
}

#[derive(Debug, Default)]
struct Tally {
    /// Values that a level has.
    data: usize,
    /// Defaults whose value is known.
    defaults: usize,
    /// Defaults that only Puppet can evaluate.
    computed: usize,
    /// Parameters without a value.
    absent: usize,
    /// Parameters that a declaration gives.
    given: usize,
    wrong: Vec<String>,
}

impl Tally {
    /// Compares a parameter of a class in a catalog: `asked` is the result of Puppet's lookup of
    /// its key, `None` for a parameter that a declaration gives.
    fn add(&mut self, key: &str, asked: Option<&Json>, entry: Option<&Json>, ours: ParameterValue) {
        let found = asked.and_then(|asked| asked.get("value")).filter(|value| !value.is_null());
        let is_equal = match (asked, found, &ours) {
            (None, ..) => {
                self.given += 1;
                true
            }
            (Some(_), Some(found), ParameterValue::Found(value)) => {
                self.data += 1;
                as_json(value) == *found && entry.unwrap_or(&Json::Null) == in_catalog(found)
            }
            (Some(_), None, ParameterValue::Default(None)) => {
                self.computed += 1;
                true
            }
            (Some(_), None, ParameterValue::Default(Some(value))) => {
                let value = as_json(value);
                self.defaults += usize::from(!value.is_null());
                self.absent += usize::from(value.is_null());
                entry.unwrap_or(&Json::Null) == in_catalog(&value)
            }
            (Some(_), None, ParameterValue::Undef) => {
                self.absent += 1;
                entry.is_none()
            }
            _ => false,
        };
        if !is_equal {
            self.wrong.push(format!("{key}: asked {asked:?}, catalog {entry:?}, here {ours:?}"));
        }
    }

    fn node(&mut self, snapshot: &Snapshot, answer: &Json) {
        let environment = &snapshot.environments().all[0];
        let index = snapshot.manifests(environment);
        let nodes = snapshot.nodes_of(environment);
        let node = nodes.iter().find(|node| answer["node"] == *node.name).expect("it is known");
        let scope = node.scope_in(&environment.name);
        for (class, entries) in answer["classes"].as_object().expect("Puppet compiles the catalog")
        {
            for parameter in parameters(index, class) {
                let name = &parameter.parameter.name;
                let key = format!("{class}::{name}");
                let asked = answer["asked"].get(&key);
                if asked.is_none() && !index.may_be_given(class, name) {
                    self.wrong.push(format!("{key} is not looked up, and nothing gives it"));
                }
                let ours = snapshot.parameter_value(environment, &scope, parameter);
                // Catalogs have names in lower case.
                self.add(&key, asked, entries.get(name.to_lowercase()), ours);
            }
        }
        for key in answer["asked"].as_object().expect("an object").keys() {
            if index.asking_parameter(key).is_none() {
                self.wrong.push(format!("{key} is looked up for a parameter that is not known"));
            }
        }
    }
}

fn parameters<'a>(index: &'a ManifestIndex, class: &str) -> Vec<ParameterAt<'a>> {
    let found =
        index.loaded_class(class).unwrap_or_else(|| panic!("the class {class} is not known"));
    let all = found.definition.parameters.iter();
    all.map(|parameter| ParameterAt { file: found.file, class: found.definition, parameter })
        .collect()
}

#[test]
fn parameters_are_those_of_the_recorded_catalogs() {
    let snapshot = opened();
    let mut tally = Tally::default();
    let recorded = recorded();
    recorded.iter().for_each(|answer| tally.node(&snapshot, answer));
    let classes: BTreeSet<&String> =
        recorded.iter().flat_map(|answer| answer["classes"].as_object().unwrap().keys()).collect();
    let Tally { data, defaults, computed, absent, given, wrong } = &tally;
    println!(
        "{} nodes, {} classes: {data} values of data, {defaults} defaults, {computed} of them computed by Puppet alone, {absent} absent, {given} given; {} differ",
        recorded.len(),
        classes.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((recorded.len(), classes.len()), (5, 40));
    assert!(*data > 100 && *defaults > 50 && *absent > 5 && *given > 10, "{tally:?}");
    assert!(*computed * 3 < *defaults, "{tally:?}");
}

/// Puppet compiles all catalogs: only the two keys are reported that no parameter takes.
#[test]
fn a_repository_that_compiles_has_no_wrong_parameter() {
    let run = support::run(
        support::hiera_ls([
            "check",
            "--format",
            "jsonl",
            "--select",
            "parameter-type,missing-parameter,unwrapped-secret,unknown-parameter,unknown-class,unread-key",
            ".",
        ])
        .current_dir(file("repository")),
        "",
    );
    let text = std::fs::read_to_string(file("repository/data/common.yaml")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let found = support::json_lines("check", &run.stdout);
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|one| {
            assert_eq!(one["path"], "data/common.yaml", "{one}");
            let line = usize::try_from(one["line"].as_u64().unwrap()).unwrap();
            (one["code"].as_str().unwrap(), lines[line - 1].split(": ").next().unwrap())
        })
        .collect();
    let expected = [("unknown-parameter", "ntp::useit"), ("unknown-parameter", "db::base_dir")];
    assert_eq!(found, expected);
}

#[test]
fn puppet_compiles_the_catalogs_as_recorded() {
    if !support::require("puppet") {
        return;
    }
    let nodes = std::fs::read_to_string(file("repository/nodes.jsonl")).unwrap();
    let mut ruby = support::ruby();
    let output = support::run(ruby.arg(file("catalogs.rb")).arg(file("repository")), &nodes);
    let answers = support::json_lines("catalogs.rb", &output.stdout);
    assert_eq!(answers.len(), nodes.lines().count(), "{}", output.stderr);
    if support::topic_to_record().is_some() {
        let lines: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
        std::fs::write(file("recorded.jsonl"), lines).unwrap();
    }
    for (answer, recorded) in answers.iter().zip(&recorded()) {
        assert_eq!(answer, recorded, "{}", recorded["node"]);
    }
}
