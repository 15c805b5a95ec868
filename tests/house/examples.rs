//! Blocks of `console` in the documents are real sessions: each line `$ hiera-ls …` is run in a copy
//! of the sample repository, and prints the lines below it.
//!
//! `HIERA_LS_UPDATE=1 cargo test --test house examples` writes the printed lines anew. A line `…`
//! stands for any number of lines. A sketch, or a session with other programs, is a block of `sh` or
//! `text`.

use std::path::Path;

use crate::documents;
use crate::generated;
use crate::support;

const START: &str = "```console\n";
const END: &str = "```\n";

#[test]
fn commands_print_what_the_documents_show() {
    let folder = support::scratch("examples").join("control-repo");
    support::copy(&support::in_package("tests/control-repo"), &folder);
    let mut sessions = 0;
    for page in documents::pages("docs") {
        generated::check_file(&page, |text| {
            let mut parts = text.split(START);
            let mut made = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let (session, rest) = part.split_once(END).expect("a block ends");
                sessions += 1;
                made.push_str(&format!("{START}{}{END}{rest}", rerun(session, &folder)));
            }
            made
        });
    }
    assert!(sessions >= 3, "the sessions are found: {sessions}");
}

/// The session with the lines that its commands print now, or as it is where they fit.
fn rerun(session: &str, folder: &Path) -> String {
    let mut made = String::new();
    for step in session.split_inclusive('\n').fold(Vec::<String>::new(), grouped_by_command) {
        let (command, shown) = step.split_once('\n').expect("a command is a line");
        let arguments = command.strip_prefix("$ hiera-ls ").unwrap_or_else(|| {
            panic!("a session has commands of hiera-ls alone, others stand in a block of `sh`: {command}")
        });
        let words = split_words(arguments);
        let run = support::run(support::hiera_ls(words).current_dir(folder), "");
        let printed = format!("{}{}", run.stdout, run.stderr);
        let is_current = fits(shown, &printed);
        made.push_str(&format!("{command}\n{}", if is_current { shown } else { &printed }));
    }
    made
}

/// Collects the lines of a session: each command with the lines that it prints.
fn grouped_by_command(mut steps: Vec<String>, line: &str) -> Vec<String> {
    match steps.last_mut() {
        Some(step) if !line.starts_with("$ ") => step.push_str(line),
        _ => steps.push(line.to_owned()),
    }
    steps
}

/// The words of a command as a shell splits them, quotes removed.
fn split_words(arguments: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in arguments.split('\'').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// Whether the printed text has the shown lines, with anything in place of a line `…`.
fn fits(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split("…\n");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    let mut is_open = false;
    for part in parts {
        is_open = true;
        if part.is_empty() {
            return true;
        }
        match rest.find(part) {
            Some(start) => rest = &rest[start + part.len()..],
            None => return false,
        }
    }
    rest.is_empty() || (is_open && shown.ends_with("…\n"))
}

/// Settings in a guide are those that hiera-ls reads: in the sample repository none is without
/// effect.
#[test]
fn settings_of_the_guides_have_an_effect() {
    let folder = support::scratch("guides").join("control-repo");
    support::copy(&support::in_package("tests/control-repo"), &folder);
    let mut count = 0;
    for page in ["docs/settings.md", "docs/facts.md", "docs/switches.md"] {
        let text = generated::read(page);
        for block in blocks(&text, "yaml") {
            count += 1;
            std::fs::write(folder.join(".hiera-ls.yaml"), &block).expect("a file can be written");
            let run = support::run(support::hiera_ls(["check"]).current_dir(&folder), "");
            let printed = run.stdout + &run.stderr;
            assert!(!printed.contains("setting-without-effect"), "{page}: {block}\n{printed}");
        }
    }
    assert!(count > 6, "settings are found: {count}");
}

/// The lines for an editor's config are those of its own page, which `tests/editors` uses.
#[test]
fn first_steps_are_those_of_the_editors_pages() {
    let pages: String = ["emacs", "nvim", "vim"]
        .map(|editor| generated::read(&format!("editors/{editor}/README.md")))
        .concat();
    let steps = generated::read("docs/start.md").replace("REPO/", "/path/to/hiera-ls/");
    for language in ["lua", "elisp", "vim"] {
        let block = blocks(&steps, language).pop().expect("the editor has a block");
        for line in block.lines() {
            assert!(pages.contains(line), "no page of an editor has: {line}");
        }
    }
}

/// The blocks of code in a language, without their indentation.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        if line[indent..] != format!("```{language}") {
            continue;
        }
        let inside = lines.by_ref().take_while(|line| line.trim_start() != "```");
        let dedented = inside.map(|line| format!("{}\n", line.get(indent..).unwrap_or_default()));
        blocks.push(dedented.collect());
    }
    blocks
}

#[test]
fn elided_lines_fit_and_other_lines_do_not() {
    assert!(fits("a\n…\nc\n", "a\nb\nc\n") && fits("a\n…\n", "a\nb\n"));
    assert!(!fits("a\n", "a\nb\n") && !fits("a\n…\nd\n", "a\nb\nc\n"));
}
