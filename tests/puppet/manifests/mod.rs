//! Manifests as Puppet's own parser reads them: declarations, calls that read data, uses of classes,
//! node blocks; recorded, on generated headers, and on trees of real modules.
//!
//! `tests/puppet/manifests/cases.pp` holds texts, each below a line `### name`; `recorded.jsonl` has
//! Puppet's answer for each. `HIERA_LS_RECORD=1` asks Puppet anew. `HIERA_LS_MANIFESTS` names
//! folders with real manifests, separated by colons.

mod compare;
mod generate;

use std::path::{Path, PathBuf};

use crate::support;
use crate::support::random::{self, Random};
use hiera_ls::manifest;
use serde_json::{Value as Json, json};

use compare::Tally;

fn in_suite(name: &str) -> PathBuf {
    support::in_package("tests/puppet/manifests").join(name)
}

/// The texts of `cases.pp` by their names; those of templates end in `.epp`.
fn cases() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(in_suite("cases.pp")).unwrap();
    let parts = text.split("### ").skip(1).map(|part| part.split_once('\n').unwrap());
    let name =
        |name: &str| if name.contains("template:") { format!("{name}.epp") } else { name.into() };
    parts.map(|(title, text)| (name(title), text.to_owned())).collect()
}

/// Puppet's answers for texts.
fn ask(texts: &[Json]) -> Vec<Json> {
    let lines: String = texts.iter().map(|text| format!("{text}\n")).collect();
    let mut ruby = support::ruby();
    let output = support::run(ruby.arg(in_suite("manifests.rb")).arg("texts"), &lines);
    let answers = support::json_lines("manifests.rb", &output.stdout);
    assert_eq!(texts.len(), answers.len(), "{}", output.stderr);
    answers
}

fn assert_equal(tally: &Tally) {
    println!("{}", tally.summary());
    let shown = &tally.differences[..tally.differences.len().min(20)];
    assert!(shown.is_empty(), "{}\n{}", tally.summary(), shown.join("\n"));
}

#[test]
fn recorded_texts_are_read_as_puppet_reads_them() {
    let recorded = std::fs::read_to_string(in_suite("recorded.jsonl")).unwrap();
    let recorded = support::json_lines("recorded.jsonl", &recorded);
    let cases = cases();
    assert_eq!(cases.len(), recorded.len(), "every case has its answer");
    let mut tally = Tally::default();
    for ((name, text), answer) in cases.iter().zip(&recorded) {
        assert_eq!(name.starts_with("refused"), answer.get("error").is_some(), "{name}");
        compare::file(name, text, answer, &mut tally);
    }
    assert_equal(&tally);
    assert!(tally.readers.all > 40 && tally.parameters.all > 30, "{}", tally.summary());
}

#[test]
fn the_recording_is_what_puppet_says() {
    if !support::require("puppet") {
        return;
    }
    let text = |(name, text): (String, String)| match name.ends_with(".epp") {
        true => json!({"template": text}),
        false => text.into(),
    };
    let answers = ask(&cases().into_iter().map(text).collect::<Vec<Json>>());
    if std::env::var_os("HIERA_LS_RECORD").is_some() {
        let lines: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
        std::fs::write(in_suite("recorded.jsonl"), lines).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(in_suite("recorded.jsonl")).unwrap();
    assert_eq!(support::json_lines("recorded.jsonl", &recorded), answers);
}

#[test]
fn generated_headers_are_read_as_puppet_reads_them() {
    if !support::require("puppet") {
        return;
    }
    let mut random = Random::new(random::seed("generated_headers"));
    let texts: Vec<String> = (0..support::random_cases("puppet", 2_000))
        .map(|_| generate::manifest(&mut random))
        .collect();
    let mut tally = Tally::default();
    let answers = ask(&texts.iter().map(|text| text.as_str().into()).collect::<Vec<Json>>());
    for (text, answer) in texts.iter().zip(answers) {
        compare::file(text, text, &answer, &mut tally);
    }
    assert_equal(&tally);
    assert!(tally.refused * 20 < tally.files, "{}\n{}", tally.summary(), tally.refusals.join("\n"));
}

/// Broken in the middle of typing: the other parameters of the header stay known.
#[test]
fn half_typed_headers_keep_their_other_parameters() {
    let mut random = Random::new(random::seed("half_typed_headers"));
    for (name, damage) in generate::DAMAGES {
        let (mut known, mut all) = (0, 0);
        for _ in 0..random::count(2_000) / 8 {
            let text = generate::lines(&mut random);
            let header = generate::Header::of(&text);
            let at = random.below(header.parameters.len());
            let broken = header.damaged(at, damage);
            let found = manifest::parse(&broken, None);
            let found = found.definitions.first().map_or(&[][..], |one| &one.parameters);
            for (other, expected) in header.parameters.iter().enumerate() {
                let is_there = found.iter().any(|one| one.name == *expected);
                known += usize::from(other != at && is_there);
                all += usize::from(other != at);
            }
        }
        println!("{name}: {known} of {all}");
        assert!(known * 100 >= all * 95, "{name}: only {known} of {all} stay known");
    }
}

/// Texts cut anywhere and with pieces taken out are read without panic, and ranges stay within.
#[test]
fn broken_texts_are_read() {
    let mut random = Random::new(random::seed("broken_texts"));
    for _ in 0..random::count(2_000) {
        let text = generate::broken(&mut random);
        let found = manifest::parse(&text, Some("m"));
        let length = text.len() as u32;
        for definition in &found.definitions {
            assert!(definition.range.end <= length, "{text}");
            for parameter in &definition.parameters {
                assert_eq!(text[parameter.range.as_usize()], format!("${}", parameter.name));
            }
        }
        assert!(found.readers.iter().all(|one| one.range.end <= length), "{text}");
        manifest::parse_epp(&text, None);
        manifest::parse_ruby_calls(&text);
    }
}

#[test]
fn real_manifests_are_read_as_puppet_reads_them() {
    let Some(files) = real_files() else { return };
    if !support::require("puppet") {
        return;
    }
    let names: String = files.iter().map(|file| format!("{}\n", file.display())).collect();
    let output = support::run(support::ruby().arg(in_suite("manifests.rb")), &names);
    let answers = support::json_lines("manifests.rb", &output.stdout);
    assert_eq!(files.len(), answers.len(), "{}", output.stderr);
    let mut tally = Tally::default();
    for (file, answer) in files.iter().zip(&answers) {
        let text = std::fs::read_to_string(file).unwrap();
        compare::file(&file.to_string_lossy(), &text, answer, &mut tally);
    }
    assert_equal(&tally);
}

#[test]
fn every_prefix_of_real_manifests_is_read() {
    let Some(files) = real_files() else { return };
    let texts = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    for text in texts.filter(|text| (500..3_000).contains(&text.len())).take(50) {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            manifest::parse(&text[..end], None);
        }
    }
}

/// The manifests and templates of the folders that `HIERA_LS_MANIFESTS` names.
fn real_files() -> Option<Vec<PathBuf>> {
    let Some(folders) = support::variable("HIERA_LS_MANIFESTS") else {
        support::missing("manifests", "HIERA_LS_MANIFESTS is not set");
        return None;
    };
    let mut files = Vec::new();
    for folder in folders.split(':') {
        collect(Path::new(folder), &mut files);
    }
    assert!(!files.is_empty(), "HIERA_LS_MANIFESTS names folders without manifests");
    files.sort();
    Some(files)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for entry in entries.map(|entry| entry.unwrap()) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            collect(&path, files);
        } else if kind.is_file() && path.extension().is_some_and(|end| end == "pp" || end == "epp")
        {
            files.push(path);
        }
    }
}
