//! Levels whose function is asked for some keys only, by its option `confine_to_keys`: for a key
//! that the option excludes, the levels below answer as they do in Puppet.
//!
//! Puppet is asked with a function of the same name as a published one, which reads the option as
//! that does and fails when it is asked. hiera-ls is asked in the same repository without it.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{self, hiera_ls, json_lines, require, run, write_file};

const CONFIG: &str = r"version: 5
hierarchy:
  - name: Vault
    lookup_key: hiera_vault
    uri: 'https://vault.example.net'
    options:
      confine_to_keys: ['^vault_.*', 'password', '^.*_secret$', 'pass', 'passphrase']
  - {name: Common, path: common.yaml}
";
const FUNCTION: &str = r"Puppet::Functions.create_function(:hiera_vault) do
  dispatch :ask do
    param 'String', :key
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  def ask(key, options, context)
    union = Regexp.union(options['confine_to_keys'].map { |text| Regexp.new(text) })
    context.not_found unless key[union] == key
    raise ArgumentError, 'the service was asked'
  end
end
";
/// All have a value below the level.
const KEYS: [&str; 10] = [
    "k",
    "db_password",
    "my_secret_x",
    "passphrase",
    "lookup_options_",
    "merged",
    "password",
    "my_secret",
    "vault_a",
    "pass",
];

fn write(root: &Path, file: &str, text: &str) {
    write_file(root.join(file), text);
}

fn write_data(root: &Path) {
    let data: String = KEYS.iter().map(|key| format!("{key}: {{of: {key}}}\n")).collect();
    write(root, "hiera.yaml", CONFIG);
    let options = "lookup_options: {merged: {merge: hash}}\n";
    write(root, "data/common.yaml", &format!("{data}{options}"));
}

/// For each key the value, or `None` where the service would be asked.
fn of_puppet(root: &Path) -> Vec<Option<Value>> {
    let questions: Vec<Value> = KEYS.iter().map(|key| json!({ "key": key })).collect();
    let job = json!({"id": 0, "root": root, "scope": {}, "questions": questions});
    let run = run(&mut support::oracle(), format!("{job}\n"));
    let answers = json_lines("the oracle", &run.stdout).remove(0);
    let answers = answers["answers"].as_array().expect("a job has answers").clone();
    let value = |answer: Value| {
        let asked = answer["error"].to_string().contains("the service was asked");
        assert!(asked || answer.get("value").is_some(), "{answer}");
        answer.get("value").cloned()
    };
    answers.into_iter().map(value).collect()
}

/// For each key the value, or `None` where hiera-ls reports that the level may change it.
fn of_ours(root: &Path) -> Vec<Option<Value>> {
    let value = |key: &&str| {
        let arguments = ["lookup", "--render-as", "json", "--root"];
        let run = run(hiera_ls(arguments).arg(root).arg(key), "");
        match run.status {
            Some(0) if !run.stderr.contains("could not be evaluated") => {
                Some(serde_json::from_str(&run.stdout).expect("the value is JSON"))
            }
            _ => None,
        }
    };
    KEYS.iter().map(value).collect()
}

#[test]
fn levels_below_a_confined_one_answer_as_in_puppet() {
    if !require("puppet") {
        return;
    }
    let scratch = support::scratch("confinement");
    let (with, without) = (scratch.join("with"), scratch.join("without"));
    for root in [&with, &without] {
        write_data(root);
    }
    write(&with, "modules/vault/lib/puppet/functions/hiera_vault.rb", FUNCTION);
    let (puppet, ours) = (of_puppet(&with), of_ours(&without));
    assert_eq!(ours, puppet, "{KEYS:?}");
    assert_eq!(ours.iter().filter(|value| value.is_some()).count(), 6, "{ours:?}");
    let here = of_ours(&with);
    assert!(here.iter().all(Option::is_none), "a function that is here may do otherwise: {here:?}");
}
