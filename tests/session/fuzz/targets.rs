//! The targets: each passes a made text through one part of hiera-ls. CONTRIBUTING.md states the share
//! of the code that the texts reach, and how to measure it.

use std::collections::BTreeMap;

use hiera_ls::hiera::explain::{ExplainOptions, Subject, render_json, render_text};
use hiera_ls::hiera::interpolation;
use hiera_ls::hiera::lookup::Resolver;
use hiera_ls::hiera::merge::{DeepOptions, Strategy};
use hiera_ls::hiera::request::LookupRequest;
use hiera_ls::puppet::convert::{ConvertTo, convert};
use hiera_ls::puppet::ruby::regex::RubyRegex;
use hiera_ls::puppet::value::{Data, Provenance, Value};
use hiera_ls::puppet::{ruby, types};
use hiera_ls::settings::Settings;
use hiera_ls::text::FilePath;
use hiera_ls::workspace::Snapshot;
use hiera_ls::yaml::{self, Resolved};

use crate::equivalence::steps::{Edit, Session, Step};
use crate::equivalence::told::Width;
use crate::transport::client::{Server, ping};

/// A target of made texts.
pub struct Target {
    /// The name of the target, and of the folder of its cases.
    pub name: &'static str,
    /// The number of places that a text may take: a made text takes one, a kept text each.
    pub places: usize,
    /// Runs hiera-ls on a text at a place. Panics where something is wrong.
    pub run: fn(&str, usize),
}

pub const PARSERS: Target = Target { name: "parsers", places: 1, run: parsers };
pub const REPOSITORIES: Target =
    Target { name: "repositories", places: SOUND.len(), run: repositories };
pub const EDITS: Target = Target { name: "edits", places: 2, run: edits };
pub const MESSAGES: Target = Target { name: "messages", places: 1, run: messages };

/// Types whose conversions read texts, each in a way of its own.
const CONVERSIONS: [&str; 11] = [
    "Array",
    "Binary",
    "Boolean",
    "Float",
    "Integer",
    "Numeric",
    "SemVer",
    "SemVerRange",
    "Timespan",
    "Timestamp",
    "URI",
];

/// Each parser by itself.
fn parsers(text: &str, _: usize) {
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
        let _ = RubyRegex::new(line).map(|regex| regex.is_match(text));
        convert_line(line);
    }
    let folder = FilePath::new("/repo");
    for problem in Settings::default().apply_file(text, &folder, std::slice::from_ref(&folder)) {
        assert!(problem.range.end as usize <= text.len(), "{problem}");
    }
}

/// Formats of strings, as `convert_to` takes them.
const FORMATS: [&str; 8] = ["%s", "%p", "%#x", "%+08.3f", "%-9c", "%e", "%b", "%.2u"];

/// Converts a line to each type, and the line and a number to strings, with formats and with the line
/// as a format.
fn convert_line(line: &str) {
    let written = || Provenance::from_source(None);
    let value = |text: &str| Value::new_string(text, written());
    for name in CONVERSIONS {
        let target = ConvertTo::from_option(&value(name)).expect("it names a type");
        let _ = convert(value(line), &target, |_| false);
    }
    let number = match yaml::resolve_plain(line) {
        Resolved::Integer(number) => Data::Integer(number),
        Resolved::Float(number) => Data::Float(number),
        _ => Data::Float(-17.5),
    };
    for format in FORMATS.into_iter().chain([line]) {
        let format = Value::new_array(vec![value("String"), value(format)], written());
        let target = ConvertTo::from_option(&format).expect("it names a type");
        for value in [value(line), Value::new(number.clone(), written())] {
            let _ = convert(value, &target, |_| false);
        }
    }
}

/// The files of a small repository: each kind of file that hiera-ls reads.
const SOUND: [(&str, &str); 20] = [
    (
        "hiera.yaml",
        "version: 5\nhierarchy:\n- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}\n- {name: Json, data_hash: json_data, path: j.json}\n- {name: Hocon, data_hash: hocon_data, path: h.conf}\n- {name: Common, path: common.yaml}\n",
    ),
    (
        "data/common.yaml",
        "a: &a {b: 1}\nc: \"%{lookup('a.b')} %{facts.x}\"\nlookup_options:\n  a: {merge: {strategy: deep, knockout_prefix: '--'}}\n  e: {convert_to: Array}\n",
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
    (
        "manifests/site.pp",
        "node 'n1' { include m }\n$x = lookup('a', Hash, 'deep')\n$y = @(\"END\")\n  ${lookup('c')}\n  | END\n",
    ),
    ("modules/m/manifests/init.pp", "class m(Integer $x = lookup('c'), M::T $y = 1) { }\n"),
    (
        "modules/m/hiera.yaml",
        "version: 5\nhierarchy:\n- {name: Fn, lookup_key: 'm::fn'}\n- {name: Common, path: common.yaml}\n",
    ),
    ("modules/m/data/common.yaml", "m::x: '1'\n"),
    ("modules/m/metadata.json", "{\"name\": \"me-m\", \"version\": \"1.0.0\"}\n"),
    (
        "modules/m/lib/puppet/functions/m/fn.rb",
        "# Finds nothing.\nPuppet::Functions.create_function(:'m::fn') do\n  dispatch :fn do\n    param 'String', :key\n    param 'Hash[String, Any]', :options\n    param 'Puppet::LookupContext', :context\n    optional_param 'Integer', :more\n    return_type 'Data'\n  end\n\n  def fn(key, options, context, more = 1)\n    call_function('m::other', key) if key =~ /x/\n    context.not_found\n  end\nend\n",
    ),
    ("modules/m/functions/own.pp", "function m::own(String $k) >> String { lookup($k) }\n"),
    ("modules/m/types/t.pp", "type M::T = Variant[Integer, Array[M::T]]\n"),
    ("modules/m/templates/t.epp", "<%- | $k = 'a' | -%>\n<%= lookup('c') %> <%# a comment %>\n"),
    (
        "modules/n/hiera.yaml",
        "version: 4\nhierarchy:\n- {name: Common, backend: yaml, path: common}\n",
    ),
    ("modules/n/data/common.yaml", "n::x: {a: [1]}\n"),
    (
        "spec/hosts/n1_spec.rb",
        "describe 'n1.example.net' do\n  let(:facts) { { 'x' => 1, os: { 'family' => %w[Debian] } } }\n  it { is_expected.to compile }\nend\n",
    ),
];

/// The files of the small repository, with the text in place of one of them.
fn files(text: &str, place: usize) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> =
        SOUND.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let (path, _) = SOUND[place];
    files.insert(path.to_owned(), text.to_owned());
    files
}

/// Computes all results for a small repository with the text as one of its files.
fn repositories(text: &str, place: usize) {
    let mut session = Session::new(&files(text, place));
    assert!(!session.look(Width::Everything).is_empty());
    explain_keys(&session.snapshot());
}

/// Explains some keys for some nodes, as text and as JSON: merged as the data merge them, and deeply.
fn explain_keys(snapshot: &Snapshot) {
    for environment in &snapshot.environments().all {
        let view = snapshot.view(environment);
        for node in snapshot.nodes_of(environment).iter().take(3) {
            for name in snapshot.keys().keys().take(10) {
                let context = snapshot.lookup_context(environment, &view, &node.scope);
                let resolver = Resolver::new(context);
                let mut request = LookupRequest::for_name(name);
                for merge in [None, Some(Ok(Strategy::Deep(DeepOptions::default())))] {
                    request.merge = merge;
                    let tree = resolver.explain(&request, Subject::Lookup).tree;
                    for render in [render_text, render_json] {
                        let _ = render(&tree, ExplainOptions::default());
                    }
                }
            }
        }
    }
}

/// Types the text into an open data file, piece by piece; the results then equal those of a new
/// workspace.
fn edits(text: &str, place: usize) {
    let mut session = Session::new(&files("a: 1\nb: \"%{lookup('a')}\"\n", 1));
    session.look(Width::Everything);
    let path = ["data/common.yaml", "data/j.json"][place];
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let edit = |at, insert: &str| Edit { start: at, end: at, insert: insert.to_owned() };
    for step in [vec![edit(5, &text[..middle])], vec![edit(5 + middle, &text[middle..])]] {
        session.apply(&Step::Edit { path: path.to_owned(), edits: step });
        let difference = session.difference(Width::Everything);
        assert_eq!(difference, None);
    }
}

/// A client that sends the text as messages and goes away: the server ends, and never by a panic.
fn messages(text: &str, _: usize) {
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
