//! Input that is wrong, half-typed or hostile: no panic, no work without bounds, and the other files
//! are as they were.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::diagnostics::{RulesConfig, check_all, check_file};
use crate::disk::OsFs;
use crate::fixture::Fixture;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{Resolver, STACK};
use crate::hiera::scope::Scope;
use crate::ide::definition::find_definitions;
use crate::ide::highlight::find_highlights;
use crate::ide::hover::{HoverConfig, hover};
use crate::ide::references::find_references;
use crate::ide::rename::rename;
use crate::settings::{FILE_NAME, Origin, Settings};
use crate::text::work;
use crate::text::{FilePath, FilePosition, TextRange};
use crate::workspace::files::scan;
use crate::workspace::{Change, Snapshot, Workspace};

/// How many prefixes of a file a thread takes at a time.
const PIECE: usize = 100;

/// Runs `test` as the server runs a request, and panics if it causes too much work.
fn on_a_server_thread(test: impl FnOnce() + Send + 'static) {
    let count_test = || {
        test();
        work::take()
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(count_test);
    let done = thread.expect("a thread can be started").join().expect("no panic");
    // Work that multiplies with each key or level is far beyond these bounds.
    assert!(done.lookups < 50_000 && done.parsed < 60 << 20 && done.read < 50_000, "{done:?}");
}

/// Asks everything about a file, the IDE's questions at these offsets.
fn ask(snapshot: &Snapshot, path: &FilePath, offsets: impl IntoIterator<Item = u32>) {
    check_file(snapshot, path, &RulesConfig::default());
    let Some(file) = snapshot.file(path) else { return };
    let link = |path: &FilePath, line: u32| format!("{path}#{line}");
    let config = HoverConfig {
        markdown: true,
        link: Some(&link),
        max_value_lines: 40,
        ..HoverConfig::default()
    };
    for offset in offsets {
        let position = FilePosition { file: file.id, offset };
        hover(snapshot, position, &config);
        find_definitions(snapshot, position);
        find_references(snapshot, position, true);
        find_highlights(snapshot, position);
        // A reason to refuse is an answer, too.
        let _ = rename(snapshot, position, "renamed");
    }
}

fn control_repo() -> Workspace {
    let root = FilePath::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/control-repo"));
    let mut settings = Settings::default();
    let text =
        std::fs::read_to_string(root.join(FILE_NAME).as_str()).expect("the sample has settings");
    settings.apply(&serde_yaml::from_str(&text).expect("they are YAML"), Origin::User);
    let mut workspace = Workspace::new(settings.workspace, vec![root]);
    let scanned = scan::scan(&workspace.scan_request(), &OsFs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scanned)));
    workspace
}

#[test]
fn many_places_in_one_line() {
    on_a_server_thread(|| {
        const MANY: usize = 8_000;
        let tokens: String = (0..MANY).map(|n| format!("%{{lookup('nowhere_{n}')}} ")).collect();
        let members: Vec<String> =
            (0..MANY).map(|n| format!("\"key_{n}\": \"%{{lookup('nobody_{n}')}}\"")).collect();
        let config = "version: 5\nhierarchy: [{name: All, paths: [common.yaml, block.yaml, flow.yaml, export.json]}]\n";
        let members = members.join(", ");
        let files = format!(
            "#- /hiera.yaml\n{config}#- /data/common.yaml\nlong: \"{tokens}\"\n#- /data/block.yaml\nfolded: >\n  {tokens}\n\
             #- /data/flow.yaml\n{{{members}}}\n#- /data/export.json\n{{{members}}}\n"
        );
        let snapshot = Fixture::new(&files).snapshot;
        assert_eq!(check_all(&snapshot, &RulesConfig::default()).len(), 4 * MANY);
        let path = FilePath::new("/data/common.yaml");
        let end = snapshot.file(&path).and_then(|file| file.text()).map_or(0, |text| text.len());
        ask(&snapshot, &path, [0, 20, end / 2, end - 10]);
    });
}

#[test]
fn every_prefix_of_every_file() {
    let snapshot = control_repo().snapshot();
    let texts: Vec<(FilePath, String)> = snapshot
        .files()
        .filter_map(|file| Some((file.path.clone(), file.text()?.to_str().into_owned())))
        .collect();
    assert!(texts.len() > 15, "the sample is where this test looks for it");
    // The test takes every prefix of the first lines, then fewer prefixes: a debug build has to be
    // done with the test soon. `HIERA_LS_PREFIXES=all` takes all prefixes.
    let step = if std::env::var("HIERA_LS_PREFIXES").as_deref() == Ok("all") { 1 } else { 23 };
    let mut pieces = Vec::new();
    for (path, text) in &texts {
        let ends: Vec<usize> = (0..=text.len())
            .filter(|end| text.is_char_boundary(*end) && (*end < 120 || end % step == 0))
            .collect();
        pieces.extend(ends.chunks(PIECE).map(|ends| (path, text, ends.to_vec())));
    }
    let pieces = Mutex::new(pieces.into_iter());
    let next = || pieces.lock().expect("taking one does not panic").next();
    let ask_all = || {
        let mut workspace = control_repo();
        while let Some((path, text, ends)) = next() {
            for end in ends {
                workspace.apply(Change::Replace(path.clone(), text[..end].to_owned()));
                let end = u32::try_from(end).expect("a short file");
                ask(&workspace.snapshot(), path, [end, end / 2]);
            }
            workspace.apply(Change::Close(path.clone()));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let thread = std::thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, ask_all).expect("a thread can be started");
        }
    });
}

#[test]
fn configs_that_are_none() {
    for text in [
        "",
        "[]",
        "version: 3\n:backends: yaml\n",
        "\u{1}\u{2}",
        "version: 5\nhierarchy:\n  - na",
        "version: 5\nhierarchy:\n  - name: A\n    path: \"%{",
    ] {
        let fixture = Fixture::new(&format!("a: 1\n#- /hiera.yaml\n{text}"));
        assert!(!fixture.rendered_findings().is_empty(), "{text:?}: nothing is said");
        for file in fixture.snapshot.files() {
            ask(&fixture.snapshot, &file.path, 0..20);
        }
    }
}

#[test]
fn an_alias_bomb() {
    on_a_server_thread(|| {
        let mut text = "l0: &l0 [a, b, c, d, e, f, g, h, i]\n".to_owned();
        for level in 1..12 {
            let before = format!("*l{}", level - 1);
            text.push_str(&format!("l{level}: &l{level} [{}]\n", [before.as_str(); 9].join(", ")));
        }
        let fixture = Fixture::new(&text);
        assert!(fixture.rendered_findings().contains("[limit-reached]"));
        ask(
            &fixture.snapshot,
            &FilePath::new("/data/common.yaml"),
            (0..text.len() as u32).step_by(50),
        );
    });
}

/// The codes of the findings in a file, and how often each.
fn codes(workspace: &Workspace, path: &FilePath) -> BTreeMap<&'static str, usize> {
    let found = check_file(&workspace.snapshot(), path, &RulesConfig::default());
    let mut codes = BTreeMap::new();
    found.iter().for_each(|finding| *codes.entry(finding.rule.code).or_default() += 1);
    codes
}

#[test]
fn merge_keys_that_multiply_a_file_read_as_a_whole_or_in_parts() {
    on_a_server_thread(|| {
        let lines = |from: usize, to: usize| -> String {
            (from..to).map(|n| format!("b{n}: {{<<: *a0}}\n")).collect()
        };
        let members: Vec<String> = (0..6_000).map(|n| format!("k{n}: {n}")).collect();
        let head = format!("a0: &a0 {{{}}}\n", members.join(", "));
        let path = FilePath::new("/data/common.yaml");
        // The file is read from the disk as a whole.
        let fixture = Fixture::new(&format!("{head}{}", lines(0, 6_000)));
        assert_eq!(codes(&fixture.workspace, &path)["limit-reached"], 1);
        // The file is read in parts, as an editor has it: each part adds little, and all parts
        // together add too much.
        let mut workspace = Fixture::new(&format!("{head}{}", lines(0, 100))).workspace;
        let text = format!("{head}{}", lines(0, 100));
        let end = text.len();
        workspace.apply(Change::Open(path.clone(), text));
        assert!(!codes(&workspace, &path).contains_key("limit-reached"));
        let more = lines(100, 500);
        let added = TextRange::from_usize(end..end + more.len());
        workspace.apply(Change::Edit(path.clone(), vec![(TextRange::from_usize(end..end), more)]));
        assert_eq!(codes(&workspace, &path)["limit-reached"], 1);
        workspace.apply(Change::Edit(path.clone(), vec![(added, String::new())]));
        assert!(!codes(&workspace, &path).contains_key("limit-reached"));
    });
}

#[test]
fn aliases_of_lookups_that_double_with_every_key() {
    on_a_server_thread(|| {
        let mut text = "s0: [x]\n".to_owned();
        for n in 1..=40 {
            let alias = format!("\"%{{alias('s{}')}}\"", n - 1);
            text.push_str(&format!("s{n}: [{alias}, {alias}]\n"));
        }
        let fixture = Fixture::new(&text);
        let snapshot = &fixture.snapshot;
        let environment = &snapshot.environments().all[0];
        let view = snapshot.view(environment);
        let scope = Scope::default();
        let resolver = Resolver::new(snapshot.lookup_context(environment, &view, &scope));
        let value = |key: &str| resolver.lookup(&LookupKey::of_root(key), None).value;
        let weight = value("s10").expect("it is small").expect("it is there").weight();
        assert!(weight > 1 << 10, "all of it is there: {weight}");
        let error = value("s40").expect_err("it would have a million million parts").to_string();
        assert!(error.contains("more than"), "{error}");
    });
}

#[test]
fn aliases_of_lookups_that_nest_deeper_with_every_key() {
    on_a_server_thread(|| {
        let (open, close) = ("[".repeat(900), "]".repeat(900));
        let mut text = format!("n0: {open}{close}\n");
        for n in 1..=3 {
            text.push_str(&format!("n{n}: {open}\"%{{alias('n{}')}}\"{close}\n", n - 1));
        }
        let fixture = Fixture::new(&text);
        let snapshot = &fixture.snapshot;
        let environment = &snapshot.environments().all[0];
        let view = snapshot.view(environment);
        let scope = Scope::default();
        let resolver = Resolver::new(snapshot.lookup_context(environment, &view, &scope));
        let value = |key: &str| resolver.lookup(&LookupKey::of_root(key), None).value;
        assert_eq!(value("n2").expect("it may").expect("it is there").depth(), 2_700);
        let error = value("n3").expect_err("it inserts one that nests too deeply").to_string();
        assert!(error.contains("a value nested more than 2000 deep"), "{error}");
    });
}

#[test]
fn deep_nesting() {
    on_a_server_thread(|| {
        for text in [
            "[".repeat(50_000),
            format!("a: {}1{}", "[".repeat(5_000), "]".repeat(5_000)),
            "a: ".to_owned() + &"{b: ".repeat(20_000),
            "- ".repeat(20_000),
        ] {
            let fixture = Fixture::new(&text);
            fixture.findings();
            ask(
                &fixture.snapshot,
                &FilePath::new("/data/common.yaml"),
                [0, 3, 100, text.len() as u32],
            );
        }
        let indented: String =
            (0..2_000).map(|depth| format!("{}k:\n", " ".repeat(depth))).collect();
        let fixture = Fixture::new(&indented);
        ask(
            &fixture.snapshot,
            &FilePath::new("/data/common.yaml"),
            [0, 1_000, indented.len() as u32 - 2],
        );
    });
}

#[test]
fn a_chain_of_ten_thousand_keys() {
    on_a_server_thread(|| {
        let mut text: String =
            (0..10_000).map(|n| format!("k{n}: \"%{{lookup('k{}')}}\"\n", n + 1)).collect();
        text.push_str("k10000: end\n");
        let fixture = Fixture::new(&text);
        ask(&fixture.snapshot, &FilePath::new("/data/common.yaml"), [0, 12, text.len() as u32 - 5]);
    });
}

#[test]
fn a_circle_of_a_thousand_keys() {
    on_a_server_thread(|| {
        let text: String = (0..1_000)
            .map(|n| format!("k{n}: \"%{{lookup('k{}')}}\"\n", (n + 1) % 1_000))
            .collect();
        let fixture = Fixture::new(&text);
        ask(&fixture.snapshot, &FilePath::new("/data/common.yaml"), [0, 12]);
    });
}

#[test]
fn diamonds_that_double_with_every_key() {
    on_a_server_thread(|| {
        let mut text: String = (0..60)
            .map(|n| format!("k{n}: \"%{{lookup('k{0}')}} %{{lookup('k{0}')}}\"\n", n + 1))
            .collect();
        text.push_str("k60: end\n");
        let fixture = Fixture::new(&text);
        ask(&fixture.snapshot, &FilePath::new("/data/common.yaml"), [0, 12]);
    });
}

#[test]
fn a_data_file_of_twenty_megabytes() {
    on_a_server_thread(|| {
        let line = "key: value that is not short and not long either, as such values are\n";
        let mut text = String::with_capacity(21 << 20);
        for n in 0..(20 << 20) / (line.len() + 6) {
            text.push_str(&format!("k{n:06}{line}"));
        }
        let fixture = Fixture::new(
            "#- /.hiera-ls.yaml\nmaxFileSize: 1000000\n#- /hiera.yaml\nversion: 5\nhierarchy: [{name: A, paths: [a.yaml, b.yaml]}]\n#- /data/b.yaml\nb: \"%{foo('x')}\"\n",
        );
        fixture.fs.write("/data/a.yaml", text);
        let mut workspace = fixture.workspace;
        let scanned = scan::scan(&workspace.scan_request(), &fixture.fs, &|_| {});
        workspace.apply(Change::Scanned(Box::new(scanned)));
        let found = check_all(&workspace.snapshot(), &RulesConfig::default());
        let codes: Vec<&str> = found.iter().map(|finding| finding.rule.code).collect();
        assert_eq!(codes, ["unreadable-file", "unknown-function"]);
        assert!(
            found[0].message.contains("too large to be read here: 21 MB"),
            "{}",
            found[0].message
        );
    });
}

#[test]
#[cfg(unix)]
fn files_that_cannot_be_read() {
    use std::os::unix::fs::symlink;
    let root = std::env::temp_dir().join(format!("hiera-ls-bad-input-{}", std::process::id()));
    let data = root.join("data");
    std::fs::create_dir_all(data.join("folder.yaml")).expect("a scratch folder");
    std::fs::write(data.join("folder.yaml/inside.txt"), "").unwrap();
    std::fs::write(root.join("hiera.yaml"), "version: 5\nhierarchy: [{name: All, paths: [binary.yaml, folder.yaml, dangling.yaml, loop.yaml, good.yaml]}, {name: Round, glob: 'round/**/*.yaml'}]\n").unwrap();
    std::fs::write(data.join("binary.yaml"), [0u8, 159, 146, 150, 255, 0, 10]).unwrap();
    std::fs::write(data.join("good.yaml"), "a: \"%{foo('x')}\"\n").unwrap();
    symlink(data.join("nowhere"), data.join("dangling.yaml")).unwrap();
    symlink(data.join("loop.yaml"), data.join("loop.yaml")).unwrap();
    symlink(&data, data.join("round")).unwrap();
    let mut workspace =
        Workspace::new(Settings::default().workspace, vec![FilePath::new(root.to_str().unwrap())]);
    let scanned = scan::scan(&workspace.scan_request(), &OsFs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scanned)));
    let snapshot = workspace.snapshot();
    let found = check_all(&snapshot, &RulesConfig::default());
    std::fs::remove_dir_all(&root).unwrap();
    let shown: Vec<String> = found
        .iter()
        .map(|finding| {
            format!("{} {}", snapshot.path_of(finding.span.file).unwrap().name(), finding.rule.code)
        })
        .collect();
    assert_eq!(
        shown,
        ["binary.yaml unreadable-file", "good.yaml unknown-function", "hiera.yaml config-error"]
    );
}
