//! Makes a scenario on which hiera-ls and Puppet differ as small as it gets: drops files, lines, parts of values and of the scope, one
//! by one, as long as the difference stays.

use std::path::Path;

use serde_json::Value;

use crate::scenario::{Agreement, Puppet, Scenario, compare};

/// How often Puppet is asked for one shrinking.
const BUDGET: usize = 1000;

pub fn shrink(mut scenario: Scenario, dir: &Path, puppet: &mut Puppet) -> Scenario {
    let mut budget = BUDGET;
    loop {
        let mut changed = false;
        let mut n = 0;
        while let Some(smaller) = candidate(&scenario, n) {
            if budget == 0 {
                return scenario;
            }
            budget -= 1;
            if differs(&smaller, dir, puppet) {
                scenario = smaller;
                changed = true;
            } else {
                n += 1;
            }
        }
        if !changed {
            return scenario;
        }
    }
}

/// The scenario in the format of `tests/conformance`, with both answers.
pub fn shown(scenario: &Scenario, dir: &Path, puppet: &mut Puppet) -> String {
    let (expected, answer) = both(scenario, dir, puppet);
    let mut out = format!("- name: {}\n  scope: {}\n  files:\n", scenario.name, Value::Object(scenario.scope.clone()));
    for (path, content) in &scenario.files {
        let indented: String = content.lines().map(|line| format!("      {line}\n")).collect();
        out.push_str(&format!("    {path}: |\n{indented}"));
    }
    out.push_str(&format!("  ask: [{}]\n  # puppet   {expected}\n  # hiera-ls {answer}\n", scenario.questions[0].to_json()));
    out
}

fn both(scenario: &Scenario, dir: &Path, puppet: &mut Puppet) -> (Value, Value) {
    drop(std::fs::remove_dir_all(dir));
    let tree = scenario.write(dir);
    let expected = puppet.ask(&tree).remove(0);
    (expected, tree.ask_hiera_ls(7).remove(0))
}

fn differs(scenario: &Scenario, dir: &Path, puppet: &mut Puppet) -> bool {
    let (expected, answer) = both(scenario, dir, puppet);
    compare(&expected, &answer) == Agreement::Different
}

/// The `n`th way to make it smaller; `None` when there are no more.
fn candidate(scenario: &Scenario, n: usize) -> Option<Scenario> {
    let mut ways = Vec::new();
    for (index, (path, _)) in scenario.files.iter().enumerate() {
        if path != "hiera.yaml" {
            let mut smaller = scenario.clone();
            smaller.files.remove(index);
            ways.push(smaller);
        }
    }
    for (index, (_, content)) in scenario.files.iter().enumerate() {
        let lines: Vec<&str> = content.lines().collect();
        for (line, text) in lines.iter().enumerate() {
            // Without these a config means something else altogether.
            if text.starts_with("version") || text.starts_with("hierarchy") {
                continue;
            }
            let mut rest = lines.clone();
            rest.remove(line);
            ways.push(with_content(scenario, index, rest.join("\n") + "\n"));
        }
    }
    for (index, (_, content)) in scenario.files.iter().enumerate() {
        let lines: Vec<&str> = content.lines().collect();
        for (line, text) in lines.iter().enumerate() {
            for simpler in simpler_lines(text) {
                let mut rest: Vec<&str> = lines.clone();
                rest[line] = &simpler;
                ways.push(with_content(scenario, index, rest.join("\n") + "\n"));
            }
        }
    }
    for name in scenario.scope.keys() {
        let mut smaller = scenario.clone();
        smaller.scope.shift_remove(name);
        ways.push(smaller);
    }
    if let Some(Value::Object(facts)) = scenario.scope.get("facts") {
        for name in facts.keys() {
            let mut smaller = scenario.clone();
            smaller.scope["facts"].as_object_mut().expect("it is one").shift_remove(name);
            ways.push(smaller);
        }
    }
    ways.into_iter().nth(n)
}

fn with_content(scenario: &Scenario, index: usize, content: String) -> Scenario {
    let mut smaller = scenario.clone();
    smaller.files[index].1 = content;
    smaller
}

/// A line `key: VALUE` with simpler values.
fn simpler_lines(line: &str) -> Vec<String> {
    let body = line.trim_end_matches(',');
    let Some((key, value)) = body.split_once(": ") else { return Vec::new() };
    let Ok(value) = serde_json::from_str::<Value>(value) else { return Vec::new() };
    simpler(&value).into_iter().map(|value| format!("{key}: {value}{}", &line[body.len()..])).collect()
}

fn simpler(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    match value {
        Value::Array(items) => {
            all.extend(items.iter().cloned());
            for n in 0..items.len() {
                let mut rest = items.clone();
                rest.remove(n);
                all.push(rest.into());
            }
            for (n, item) in items.iter().enumerate() {
                all.extend(simpler(item).into_iter().map(|item| {
                    let mut items = items.clone();
                    items[n] = item;
                    items.into()
                }));
            }
        }
        Value::Object(members) => {
            all.extend(members.values().cloned());
            for key in members.keys() {
                let mut rest = members.clone();
                rest.shift_remove(key);
                all.push(rest.into());
            }
            for (key, member) in members {
                all.extend(simpler(member).into_iter().map(|member| {
                    let mut members = members.clone();
                    members[key] = member;
                    members.into()
                }));
            }
        }
        _ => {}
    }
    all
}
