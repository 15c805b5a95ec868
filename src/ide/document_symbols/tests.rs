//! Outlines of small files: a line for each symbol, with its kind, its range in lines, and the text
//! of its name.

use std::sync::Arc;

use expect_test::{Expect, expect};

use super::{FileSymbols, MAX_DEPTH, Symbol, document_symbols};
use crate::fixture::Fixture;
use crate::ide::by_run::RunItems;
use crate::text::{Encoding, FilePath, Span, TextRange};
use crate::workspace::{Change, Workspace};

fn check(path: &str, text: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    let symbols = document_symbols(&fixture.snapshot, &FilePath::new(path), None);
    let mut lines = String::new();
    for symbol in all(&symbols.expect("a file that an environment governs")) {
        show(&fixture, path, &symbol, 0, &mut lines);
    }
    expected.assert_eq(&lines);
}

/// Returns the symbols with places counted from the start of the file.
fn all(symbols: &FileSymbols) -> Vec<Symbol> {
    fn moved(symbol: &Symbol, start: u32) -> Symbol {
        Symbol {
            range: symbol.range.offset_by(start),
            selection: symbol.selection.offset_by(start),
            children: symbol.children.iter().map(|child| moved(child, start)).collect(),
            ..symbol.clone()
        }
    }
    let runs = symbols.runs.iter();
    runs.flat_map(|run| run.items.iter().map(|symbol| moved(symbol, run.range.start))).collect()
}

fn show(fixture: &Fixture, path: &str, symbol: &Symbol, depth: usize, out: &mut String) {
    let file = fixture.snapshot.file(&FilePath::new(path)).expect("the file is there");
    let text = file.text().expect("it is a text");
    let line = |offset| text.line_col(offset, Encoding::Utf32).line + 1;
    let (first, last) = (line(symbol.range.start), line(symbol.range.end));
    let detail = symbol.detail.as_ref().map_or_else(String::new, |detail| format!(" ({detail})"));
    let selected = fixture.text_at(Span::in_file(file.id, symbol.selection));
    out.push_str(&format!(
        "{}{} {:?} {first}-{last} <{selected}>{detail}\n",
        "  ".repeat(depth),
        symbol.name,
        symbol.kind
    ));
    assert!(symbol.range.contains_range(symbol.selection), "{symbol:?}");
    for child in &symbol.children {
        assert!(symbol.range.contains_range(child.range), "{symbol:?}");
        show(fixture, path, child, depth + 1, out);
    }
}

#[test]
fn keys_have_the_kinds_of_their_values() {
    check(
        "/data/common.yaml",
        "
# a comment
profile::web::vhosts:
  shop: &shop
    port: 443
    tls: true
  blog: *shop
servers: [a, {name: b, ip: '10'}, [c]]
\"motd\": |
  hello
none: ~
'': 1
",
        expect![[r#"
            profile::web::vhosts Hash 2-6 <profile::web::vhosts>
              shop Hash 3-5 <shop>
                port Number 4-4 <port>
                tls Boolean 5-5 <tls>
              blog Alias 6-6 <blog> (*shop)
            servers List 7-7 <servers> (3 elements)
              1 Hash 7-7 <{name: b, ip: '10'}>
                name Text 7-7 <name>
                ip Text 7-7 <ip>
              2 List 7-7 <[c]> (1 element)
            motd Text 8-9 <"motd">
            none Null 10-10 <none>
            '' Number 11-11 <''>
        "#]],
    );
}

#[test]
fn a_broken_file_has_the_entries_that_can_be_read() {
    check(
        "/data/common.yaml",
        "
first: 1
second: [a, b
third:
  nested: 'x'
",
        expect![[r#"
            first Number 1-1 <first>
            second List 2-2 <second> (2 elements)
            third Hash 3-4 <third>
              nested Text 4-4 <nested>
        "#]],
    );
}

#[test]
fn a_config_has_its_levels_with_their_locations() {
    check(
        "/hiera.yaml",
        "
#- /hiera.yaml
version: 5
defaults: {datadir: data}
hierarchy:
  - name: Node
    path: 'nodes/%{trusted.certname}.yaml'
  - {name: Shared, paths: [os.yaml, common.yaml]}
  - path: late.yaml
",
        expect![[r#"
            version Number 1-1 <version>
            defaults Hash 2-2 <defaults>
              datadir Text 2-2 <datadir>
            hierarchy List 3-7 <hierarchy>
              Node Level 4-5 <Node> (nodes/%{trusted.certname}.yaml)
                nodes/%{trusted.certname}.yaml Location 5-5 <'nodes/%{trusted.certname}.yaml'>
              Shared Level 6-6 <Shared> (os.yaml, common.yaml)
                os.yaml Location 6-6 <os.yaml>
                common.yaml Location 6-6 <common.yaml>
              level without a name Level 7-7 <path: late.yaml> (late.yaml)
                late.yaml Location 7-7 <late.yaml>
        "#]],
    );
}

#[test]
fn json_and_hocon_have_outlines_too() {
    check(
        "/data/common.json",
        "
#- /hiera.yaml
version: 5
hierarchy: [{name: C, path: common.json, data_hash: json_data}]
#- /data/common.json
{
  \"a\": {\"b\": 1},
  \"c\": [true]
}
",
        expect![[r#"
            a Hash 2-2 <"a">
              b Number 2-2 <"b">
            c List 3-3 <"c"> (1 element)
        "#]],
    );
}

#[test]
fn nesting_ends_at_the_limit_and_says_so() {
    let depth = MAX_DEPTH + 20;
    let text = format!("root: {}1{}\n", "{a: ".repeat(depth), "}".repeat(depth));
    let fixture = Fixture::new(&text);
    let symbols = document_symbols(&fixture.snapshot, &FilePath::new("/data/common.yaml"), None);
    let symbols = all(&symbols.expect("it is governed"));
    let mut current = &symbols[0];
    let mut count = 0;
    while let Some(child) = current.children.first() {
        (current, count) = (child, count + 1);
    }
    assert_eq!((count, current.detail.as_deref()), (MAX_DEPTH, Some("…")));
}

#[test]
fn other_files_have_none() {
    let fixture = Fixture::new("#- /other/file.yaml\na: 1\n");
    let symbols = document_symbols(&fixture.snapshot, &FilePath::new("/other/file.yaml"), None);
    assert!(symbols.is_none());
}

#[test]
fn an_edit_reads_the_symbols_of_its_run_alone() {
    let lines: String = (0..400).map(|n| format!("key_{n}: {{a: [{{b: {n}}}]}}\n")).collect();
    let Fixture { mut workspace, .. } = Fixture::new(&lines);
    let path = FilePath::new("/data/common.yaml");
    workspace.apply(Change::Open(path.clone(), lines));
    let now = |workspace: &Workspace, before: Option<&FileSymbols>| {
        document_symbols(&workspace.snapshot(), &path, before).expect("it is data")
    };
    let mut last = now(&workspace, None);
    // Each edit replaces the given number of bytes, from the start of the first text on, with the
    // second text.
    let edits = [
        ("key_7:", 0, "# a comment\n"),
        ("key_200: ", 9, "other: "),
        ("key_399", 0, "new: &a [1]\nalias: *a\n\n\n"),
        ("new: &a [1]", 11, "new: &a {b: 1}"),
        ("key_390: {", 10, "key_390: ["),
        ("key_390: [", 10, "key_390: {"),
        ("key_3: ", 7, "--- "),
    ];
    for (number, (at, length, text)) in edits.into_iter().enumerate() {
        let old = workspace.open_text(&path).expect("it is open").to_str().into_owned();
        let start = old.find(at).expect("it is there");
        let range = TextRange::from_usize(start..start + length);
        workspace.apply(Change::Edit(path.clone(), vec![(range, text.to_owned())]));
        let symbols = now(&workspace, Some(&last));
        assert_eq!(all(&symbols), all(&now(&workspace, None)), "edit {number}");
        let is_kept = |run: &&RunItems<Symbol>| {
            last.runs.iter().any(|other| Arc::ptr_eq(&run.items, &other.items))
        };
        let kept = symbols.runs.iter().filter(is_kept).count();
        assert!(number == 6 || kept + 2 >= last.runs.len(), "edit {number} keeps {kept} runs");
        last = symbols;
    }
}

#[test]
fn a_manifest_has_its_definitions_and_type_aliases() {
    let repo = "
#- /hiera.yaml
version: 5
#- /modules/app/manifests/init.pp
# A class.
class app (
  Integer[1] $workers = 2,
  $plain,
) inherits app::params {
  class inner { }
}
define app::vhost (String $name_of) { }
function app::find(String $key) >> Hash { {} }
#- /modules/app/types/port.pp
# A port.
type App::Port = Variant[
  Integer[1, 65535],
  Enum['none'],
]
#- /modules/app/lib/puppet/functions/app/x.rb
Puppet::Functions.create_function(:'app::x') { }
";
    check(
        "/modules/app/manifests/init.pp",
        repo,
        expect![[r#"
        app Class 2-7 <app>
          $workers Parameter 3-3 <$workers> (Integer[1])
          $plain Parameter 4-4 <$plain>
        app::inner Class 6-6 <inner>
        app::vhost DefinedType 8-8 <app::vhost>
          $name_of Parameter 8-8 <$name_of> (String)
        app::find Function 9-9 <app::find> (Hash)
          $key Parameter 9-9 <$key> (String)
    "#]],
    );
    check(
        "/modules/app/types/port.pp",
        repo,
        expect![[r#"
        App::Port TypeAlias 2-5 <App::Port> (Variant[ Integer[1, 65535], Enum['none'], ])
    "#]],
    );
    let fixture = Fixture::new(repo);
    let ruby = FilePath::new("/modules/app/lib/puppet/functions/app/x.rb");
    assert!(document_symbols(&fixture.snapshot, &ruby, None).is_none());
}
