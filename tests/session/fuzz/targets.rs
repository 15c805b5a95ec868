//! The targets: each passes a made text through one part of hiera-ls.

use std::collections::BTreeMap;

use hiera_ls::hiera::interpolation;
use hiera_ls::puppet::{ruby, types};
use hiera_ls::settings::Settings;
use hiera_ls::text::FilePath;
use hiera_ls::yaml;

use crate::equivalence::steps::{Edit, Session, Step};
use crate::equivalence::told::Width;
use crate::transport::client::{Server, ping};

/// A target: its name, which is also the name of the folder of its cases, and the function that it
/// calls with a text.
pub struct Target {
    pub name: &'static str,
    /// Panics where something is wrong.
    pub run: fn(&str),
}

pub const PARSERS: Target = Target { name: "parsers", run: parsers };
pub const REPOSITORIES: Target = Target { name: "repositories", run: repositories };
pub const EDITS: Target = Target { name: "edits", run: edits };
pub const MESSAGES: Target = Target { name: "messages", run: messages };

/// Each parser by itself.
fn parsers(text: &str) {
    let _ = yaml::refusal_error(text);
    for tree in [yaml::parse(text), yaml::parse_for_editing(text)] {
        let is_within = |end: u32| end as usize <= text.len();
        assert!(tree.problems.iter().all(|problem| is_within(problem.span.end)), "a place in it");
    }
    let _ = (yaml::parse_json(text), yaml::resolve_json(text));
    let _ = (yaml::parse_hocon(text), yaml::resolve_hocon(text));
    let _ = interpolation::unclosed_token(text);
    for token in interpolation::parse_tokens(text) {
        assert!(text.get(token.range.start as usize..token.range.end as usize).is_some());
    }
    let path = FilePath::new("/repo/data/nodes/web01.yaml");
    for line in text.lines().take(20) {
        let _ = (yaml::resolve_plain(line), types::parse(line), types::may_be_sensitive(line));
        let _ = ruby::glob::matches_path(line, &path);
    }
    let folder = FilePath::new("/repo");
    for problem in Settings::default().apply_file(text, &folder, std::slice::from_ref(&folder)) {
        assert!(problem.range.end as usize <= text.len(), "{problem}");
    }
}

/// The files of a small repository in which the text takes each place in turn.
fn files(text: &str, number: usize) -> BTreeMap<String, String> {
    const CONFIG: &str = "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Json, data_hash: json_data, path: j.json}\n- {name: Hocon, data_hash: hocon_data, path: h.conf}\n- {name: Common, path: common.yaml}\n";
    let sound = [
        ("hiera.yaml", CONFIG),
        (
            "data/common.yaml",
            "a: &a {b: 1}\nc: \"%{lookup('a.b')} %{facts.x}\"\nlookup_options: {a: {merge: deep}}\n",
        ),
        ("data/nodes/n1.yaml", "a: {d: [1, 2]}\ne: \"%{alias('a')}\"\n"),
        ("data/j.json", "{\"f\": \"%{lookup('c')}\"}\n"),
        ("data/h.conf", "g = 1\nh = ${g}\n"),
        ("environment.conf", "modulepath = modules\n"),
        (".hiera-ls.yaml", "nodes: {sources: [inventory.yaml], default: n1}\n"),
        (
            "inventory.yaml",
            "version: 2\ngroups: [{name: g, targets: [n1.example.net], facts: {x: 1}}]\n",
        ),
        ("manifests/site.pp", "node 'n1' { include m }\n$x = lookup('a', Hash, 'deep')\n"),
        ("modules/m/manifests/init.pp", "class m(Integer $x = lookup('c')) { }\n"),
        ("modules/m/hiera.yaml", "version: 5\n"),
        ("modules/m/data/common.yaml", "m::x: '1'\n"),
        ("modules/m/metadata.json", "{\"name\": \"me-m\", \"version\": \"1.0.0\"}\n"),
    ];
    let mut files: BTreeMap<String, String> =
        sound.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let (path, _) = sound[number % sound.len()];
    files.insert(path.to_owned(), text.to_owned());
    files
}

/// How a text chooses among things: the same for the same text.
fn number(text: &str) -> usize {
    text.bytes().fold(7, |all: usize, byte| all.wrapping_mul(31).wrapping_add(byte.into()))
}

/// Computes all results for a small repository with the text as one of its files.
fn repositories(text: &str) {
    let told = Session::new(&files(text, number(text))).look(Width::Everything);
    assert!(!told.is_empty());
}

/// Types the text into an open data file, piece by piece; the results then equal those of a new
/// workspace.
fn edits(text: &str) {
    let mut session = Session::new(&files("a: 1\nb: \"%{lookup('a')}\"\n", 1));
    session.look(Width::Everything);
    let path = if number(text).is_multiple_of(4) { "data/j.json" } else { "data/common.yaml" };
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let edit = |at, insert: &str| Edit { start: at, end: at, insert: insert.to_owned() };
    for step in [vec![edit(5, &text[..middle])], vec![edit(5 + middle, &text[middle..])]] {
        session.apply(&Step::Edit { path: path.to_owned(), edits: step });
        let difference = session.difference(Width::Everything);
        assert_eq!(difference, None);
    }
}

/// A client that sends the text as messages and goes away: the server ends, and never by a panic.
fn messages(text: &str) {
    let mut server = Server::initialized(None);
    if let Some(stdin) = server.stdin.as_mut() {
        // The server may have ended already.
        let _ = std::io::Write::write_all(stdin, &[text.as_bytes(), &ping("p")].concat());
    }
    drop(server.stdin.take());
    while server.read().is_some() {}
    let (status, words) = server.end();
    assert!(matches!(status, Some(0..=2)), "{status:?} {words}");
    assert_eq!(status == Some(2), words.contains("hiera-ls: "), "{words}");
}
