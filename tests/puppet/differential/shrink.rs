//! Makes a scenario as small as it gets: drops files, lines, parts of values and of the scope, one
//! by one, as long as the scenario stays interesting.

use serde_json::Value;

use super::flow::Flow;
use crate::scenario::Scenario;

/// How many smaller scenarios are tried.
const BUDGET: usize = 1500;

/// Returns the smallest scenario found that is still `interesting`, with the same questions.
pub fn shrink(mut scenario: Scenario, interesting: &mut dyn FnMut(&Scenario) -> bool) -> Scenario {
    let mut budget = BUDGET;
    loop {
        let mut changed = false;
        let mut n = 0;
        while let Some(smaller) = candidate(&scenario, n) {
            if budget == 0 {
                return scenario;
            }
            budget -= 1;
            if interesting(&smaller) {
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

/// The `n`th way to make the scenario smaller; `None` when there are no more.
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
            // Without these lines a config means something else altogether.
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

/// Returns lines with a simpler value behind the key, or the dash.
fn simpler_lines(line: &str) -> Vec<String> {
    let body = line.trim_end_matches(',');
    let starts =
        ["- ", ": "].into_iter().filter_map(|before| body.find(before).map(|at| at + before.len()));
    let value = |start: usize| Flow::parse(&body[start..]).map(|value| (start, value));
    let Some((start, value)) = starts.filter_map(value).next() else { return Vec::new() };
    value
        .simpler()
        .iter()
        .map(|simpler| format!("{}{simpler}{}", &line[..start], &line[body.len()..]))
        .collect()
}
