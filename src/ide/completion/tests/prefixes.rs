//! Completion after the prefixes of the sample repository's files.

use std::path::Path;

use super::super::{CompletionConfig, Completions, Item, complete_at};
use crate::disk::{FileSystem, OsFs};
use crate::text::{FilePath, FilePosition, TextEdit, TextRange};
use crate::workspace::files::scan;
use crate::workspace::{Change, Snapshot, Workspace, WorkspaceConfig};
use crate::yaml::{NodeId, parse, parse_json};

/// In the ordinary run each so many-th place is asked about.
const STEP: usize = 13;

fn workspace() -> Workspace {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/control-repo");
    let root = FilePath::new(root.to_str().expect("a path that is text"));
    let mut config = WorkspaceConfig::default();
    config.common.nodes.sources = vec!["spec/facts/*.json".to_owned(), "fleet.jsonl".to_owned()];
    let mut workspace = Workspace::new(config, vec![root]);
    let scanned = scan::scan(&workspace.scan_request(), &OsFs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scanned)));
    workspace
}

/// Returns the root keys of a text; `None` for one that is not read without an error.
fn keys(text: &str, is_json: bool) -> Option<Vec<String>> {
    let tree = if is_json { parse_json(text) } else { parse(text) };
    let is_sound = tree.problems.is_empty() && tree.verdict.is_none();
    let entries = tree.root.map(|root| tree.entries(root)).unwrap_or_default();
    let key = |(key, _): &(NodeId, NodeId)| tree.scalar(*key).unwrap_or_default().to_owned();
    is_sound.then(|| entries.iter().map(key).collect())
}

/// Returns the text that a client inserts: the places of a snippet keep their first words.
fn expanded(snippet: &str) -> String {
    let mut out = String::new();
    let mut chars = snippet.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '$' if chars.peek() == Some(&'{') => {
                let mut body = String::new();
                chars.next();
                while let Some(c) = chars.next() {
                    match c {
                        '}' => break,
                        '\\' => body.extend(chars.next()),
                        c => body.push(c),
                    }
                }
                let words = body.trim_start_matches(|c: char| c.is_ascii_digit());
                let first = words.trim_start_matches([':', '|']).split('|').next();
                out.push_str(first.and_then(|words| words.split(',').next()).unwrap_or_default());
            }
            '$' => while chars.next_if(char::is_ascii_digit).is_some() {},
            c => out.push(c),
        }
    }
    out
}

fn check_items(prefix: &str, found: &Completions, is_json: bool, at: &str) -> usize {
    let keys_before = keys(prefix, is_json);
    for item in &found.items {
        let Item { edit, snippet, .. } = item;
        let range = edit.range.as_usize();
        assert!(
            prefix.is_char_boundary(range.start) && range.end == prefix.len(),
            "{at}: {item:?}"
        );
        let typed = &prefix[range.start..];
        assert!(!typed.contains('\n'), "{at}: {item:?}: an edit of several lines");
        for text in
            [Some(edit.text.clone()), snippet.as_deref().map(expanded)].into_iter().flatten()
        {
            let new = TextEdit::apply_all(&[TextEdit::new(edit.range, text)], prefix);
            let Some(before) = &keys_before else { continue };
            let after = keys(&new, is_json);
            // The edit may replace the last key.
            let kept = &before[..before.len().saturating_sub(1)];
            let is_kept = after.is_some_and(|after| kept.iter().all(|key| after.contains(key)));
            assert!(is_kept, "{at}: {item:?} makes\n{new}");
        }
    }
    found.items.len()
}

fn ask(snapshot: &Snapshot, path: &FilePath, offset: usize) -> Option<Completions> {
    let file = snapshot.file(path).expect("it is open").id;
    let position = FilePosition { file, offset: offset as u32 };
    complete_at(snapshot, position, &CompletionConfig::default())
}

#[test]
fn after_every_prefix_each_item_leaves_what_parsed() {
    let all = std::env::var("HIERA_LS_PREFIXES").is_ok_and(|value| value == "all");
    let mut workspace = workspace();
    let snapshot = workspace.snapshot();
    let files: Vec<FilePath> = snapshot.files().map(|file| file.path.clone()).collect();
    let (mut asked, mut offered) = (0, 0);
    for path in files {
        let is_json = path.extension() == Some("json");
        let read = OsFs.read(&path, 1 << 20).expect("it is there");
        let Ok(text) = String::from_utf8(read) else { continue };
        workspace.apply(Change::Open(path.clone(), String::new()));
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let mut typed = 0;
        for end in ends.step_by(if all { 1 } else { STEP }) {
            let insert = (TextRange::new_empty(typed as u32), text[typed..end].to_owned());
            workspace.apply(Change::Edit(path.clone(), vec![insert]));
            typed = end;
            let snapshot = workspace.snapshot();
            asked += 1;
            if let Some(found) = ask(&snapshot, &path, end) {
                let at = format!("{path}, byte {end}");
                offered += check_items(&text[..end], &found, is_json, &at);
            }
        }
        workspace.apply(Change::Replace(path.clone(), text));
    }
    println!("{asked} prefixes, {offered} items");
    assert!(asked > 500 && offered > 2_000, "{asked} prefixes, {offered} items");
}

#[test]
fn snippets_are_expanded_as_clients_do() {
    assert_eq!(expanded("a: ${1|true,false|}"), "a: true");
    assert_eq!(expanded("lookup('${1:key}')\\}"), "lookup('key')}");
    assert_eq!(expanded(" [$1]"), " []");
}

/// A `hiera.yaml` of version 3, typed letter by letter, in both spellings of its keys.
#[test]
fn after_every_prefix_of_version_3_each_item_leaves_what_parsed() {
    let text = "---\n# comment\n:backends:\n  - yaml\n  - \"eyaml\"\n:hierarchy:\n  - \"nodes/%{::trusted.certname}\"\n  - 'roles/%{role}'\n  - common # last\n:yaml:\n  :datadir: /data\n:eyaml:\n  :datadir: /data\n  :extension: yaml\n:merge_behavior: deeper\n:deep_merge_options: {knockout_prefix: '--'}\n";
    let (mut asked, mut offered) = (0, 0);
    for text in
        [text.to_owned(), format!("version: 3\n{}", text.replace("\n:", "\n").replace("  :", "  "))]
    {
        for (end, _) in text.char_indices() {
            let prefix = &text[..end];
            let marked = format!("{prefix}$0");
            let fixture = crate::fixture::Fixture::new(&format!(
                "#- node web01 role=web\n#- /data/common.yaml\na: 1\n#- /data/nodes/web01.yaml\na: 1\n#- /hiera.yaml\n{marked}"
            ));
            asked += 1;
            let config = CompletionConfig::default();
            if let Some(found) = complete_at(&fixture.snapshot, fixture.position(), &config) {
                offered += check_items(prefix, &found, false, &format!("byte {end}"));
            }
        }
    }
    println!("{asked} prefixes, {offered} items");
    assert!(asked > 500 && offered > 500, "{asked} prefixes, {offered} items");
}
