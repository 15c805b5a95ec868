//! Asks a Ruby script one question a line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The script's answers to the texts, in order.
pub fn ask(script: &str, texts: &[String]) -> Vec<Value> {
    let path = format!("{}/tests/puppet/psych/{script}", env!("CARGO_MANIFEST_DIR"));
    let mut child = Command::new("ruby")
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("ruby starts");
    let mut input = child.stdin.take().expect("stdin is piped");
    let questions: String =
        texts.iter().map(|text| Value::from(text.as_str()).to_string() + "\n").collect();
    let writer = std::thread::spawn(move || drop(input.write_all(questions.as_bytes())));
    let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let answers: Vec<Value> = output
        .lines()
        .map(|line| {
            serde_json::from_str(&line.expect("ruby writes UTF-8")).expect("ruby writes JSON")
        })
        .collect();
    writer.join().expect("the writer does not panic");
    assert!(child.wait().expect("ruby ends").success());
    assert_eq!(answers.len(), texts.len(), "one answer for each text");
    answers
}
