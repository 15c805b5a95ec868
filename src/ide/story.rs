//! The lookup of the key at a place, as a page of its own: the value and its places, then Puppet's
//! explanation.

mod page;

use super::audience::Audience;
use super::cursor::{Subject, asked_key, part_of, under_cursor};
use super::evaluation::{self, Evaluations};
use super::page_links::PageLink;
use super::phrases::PlaceNames;
use crate::fleet::audience::{FileAudience, ValueLimits};
use crate::hiera::explain::{self, ExplainOptions, Subject as Explained};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{LOOKUP_OPTIONS, Resolver};
use crate::hiera::request::LookupRequest;
use crate::hiera::resolution::{MergeSource, Resolution};
use crate::text::{FilePath, FilePosition, Span};
use crate::workspace::Snapshot;
use page::Page;

/// The most groups of nodes that a page shows.
const MAX_GROUPS: usize = 60;
const LIMITS: ValueLimits = ValueLimits { groups: MAX_GROUPS, ..ValueLimits::OF_KEY };

/// A page about a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyExplanation {
    /// The audience, in words.
    pub scope: String,
    /// The value and the places that it comes from, then the output of `hiera-ls lookup --explain
    /// --lines`. Secrets are masked.
    pub text: String,
    /// The places in the text.
    pub links: Vec<PageLink>,
}

/// Returns the key that a lookup would be asked for at a place; `None` where there is no key.
///
/// A part within a list is asked for with the list: merging may have moved it.
pub fn key_at(snapshot: &Snapshot, position: FilePosition) -> Option<LookupKey> {
    let Subject { kind, .. } = under_cursor(snapshot, position)?;
    asked_key(&kind)
}

/// Returns the story of a lookup of `key` for the audience of the file at `path`; `None` for a file
/// that no environment governs. Where the user had the key evaluated with functions of levels,
/// the story is of that lookup.
pub fn explain_key(
    snapshot: &Snapshot,
    path: &FilePath,
    key: &LookupKey,
    evaluations: &Evaluations,
) -> Option<KeyExplanation> {
    let environment = snapshot.environments().governing_environments(path).next()?;
    let file = FileAudience::new(snapshot, environment, path);
    let value = file.effective_value(key, LIMITS, false);
    let first = value.groups.first()?;
    let (scope, resolution) = (&*first.scope, &first.resolution);
    let view = snapshot.view(environment);
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, scope));
    let mut request = LookupRequest::for_name(&key.text);
    let mut asked = String::new();
    if matches!(resolution.merge_source, MergeSource::Argument) {
        // Calls in code choose the merge strategy; the explanation uses the same one.
        request.merge = Some(Ok(resolution.merge.clone()));
        asked = format!("--merge {} ", resolution.merge);
    }
    let mut tree = resolver.explain(&request, Explained::Lookup).tree;
    // The search for `lookup_options` takes hundreds of lines in a large hierarchy: the page begins
    // with the lookup itself.
    let options = tree.take_first_search(LOOKUP_OPTIONS);
    let names = PlaceNames { snapshot, root: &environment.root };
    let shown = ExplainOptions {
        mask_encrypted: true,
        line: Some(&|span: Span| names.line_number(span)),
        cancel: Some(snapshot.cancel_token()),
        ..ExplainOptions::default()
    };
    let explained = Audience::of_scope(snapshot, environment, scope, path).to_phrase(str::to_owned);
    let audience = match file.readers() {
        [] => explained.clone(),
        readers => {
            let known = Audience::of_readers(snapshot, environment, &file.scope, path, readers);
            known.to_phrase(str::to_owned)
        }
    };
    let mut page = Page::new(&file, key);
    page.add_line(&key.text);
    let root = LookupKey::of_root(&key.root_text());
    let evaluated_in = evaluation::scope_of(snapshot, environment, path);
    let mut all = evaluations.outcomes_of(environment, &root);
    let evaluated = all.find(|one| one.is_in(&evaluated_in) && one.is_current(snapshot));
    let at = evaluated.map(|one| {
        let whose = Audience::of_scope(snapshot, environment, &one.scope, path);
        (whose.to_phrase(str::to_owned), one.at.clone())
    });
    if let (Some(one), Some((whose, at))) = (evaluated, &at) {
        let resolution = narrow_to_part(key, one.resolution.clone());
        page.add_line(whose);
        page.add_line(&format!("as evaluated at {at}"));
        page.add_result(&resolution);
        let rows = page.rows_of_answer(&resolution);
        page.add_table(vec![(0, rows)]);
    } else {
        page.add_line(&audience);
        match file.readers() {
            [] => page.add_result(resolution),
            _ => page.add_results(&value),
        }
        let answers = value
            .groups
            .iter()
            .map(|group| (group.nodes.len(), page.rows_of_group(group)))
            .collect();
        page.add_table(answers);
    }
    page.add_line("");
    let without = if at.is_some() { "; functions of levels are not called for this" } else { "" };
    page.add_line(&format!("As puppet lookup {asked}--explain tells it, {explained}{without}"));
    page.add_line("");
    page.add_line(explain::render_text(&tree, shown).trim_end());
    if let Some(options) = options {
        page.add_line("");
        page.add_line("Before the lookup, Puppet assembles the options of keys:");
        page.add_line("");
        page.add_line(explain::render_text(&options, shown).trim_end());
    }
    let (text, links) = page.into_text();
    Some(KeyExplanation { scope: audience, text, links })
}

/// Returns the lookup of a part of a root key.
fn narrow_to_part(key: &LookupKey, mut resolution: Resolution) -> Resolution {
    if let Ok(Some(value)) = &resolution.value {
        resolution.value = Ok(part_of(key, value).map(|(_, part)| part));
    }
    resolution
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::fixture::Fixture;

    const DATA: &str = "a:\n  b: {'c.d': [1, $02]}\nz: \"%{lookup('a.b')}\"\n";

    #[test]
    fn the_lookup_stands_before_the_assembly_of_options() {
        let text = "#- levels Common\n#- /data/common.yaml\nk$0: {a: 1}\nlookup_options: {k: {merge: hash}}\n";
        let fixture = Fixture::new(text);
        let (position, none) = (fixture.position(), Evaluations::default());
        let path = FilePath::new("/data/common.yaml");
        let key = key_at(&fixture.snapshot, position).expect("a key");
        let told = explain_key(&fixture.snapshot, &path, &key, &none).expect("a page");
        let place = |text: &str| told.text.find(text).unwrap_or_else(|| panic!("{}", told.text));
        let order = [
            "As puppet lookup --explain tells it",
            "Searching for \"k\"",
            "Before the lookup, Puppet assembles the options of keys:",
            "Searching for \"lookup_options\"",
        ];
        assert!(order.map(place).is_sorted(), "{}", told.text);
        assert_eq!(told.text.matches("Searching for").count(), 2, "{}", told.text);
    }

    #[test]
    fn the_key_of_a_place_is_what_a_lookup_can_be_asked_for() {
        let key = |text: &str| {
            let fixture = Fixture::new(text);
            key_at(&fixture.snapshot, fixture.position()).map(|key| key.text.to_string())
        };
        assert_eq!(key(DATA).as_deref(), Some("a.b.'c.d'"));
        assert_eq!(
            key(&DATA.replace("$0", "").replace("'a.b'", "'a$0.b'")).as_deref(),
            Some("a.b")
        );
        assert_eq!(key("a: 1\n# $0\n"), None);
    }

    #[test]
    fn the_story_is_that_of_the_command_line() {
        let fixture = Fixture::new("#- scope web01 role=web\n#- /data/common.yaml\na: 1\n");
        let path = FilePath::new("/data/common.yaml");
        let story = explain_key(
            &fixture.snapshot,
            &path,
            &LookupKey::of_root("a"),
            &Evaluations::default(),
        )
        .unwrap();
        assert_eq!(story.scope, "node web01");
        assert!(
            story.text.contains("Hierarchy entry \"Common\"") && story.text.contains("common.yaml"),
            "{}",
            story.text
        );
        let begin = story.text.find("As puppet lookup").expect("Puppet's explanation");
        let quoted = story.links.iter().filter(|link| link.range.start as usize > begin);
        let lines: Vec<u32> = quoted.map(|link| link.line).collect();
        assert_eq!(lines, [1; 4], "files are quoted without a line: {}", story.text);
        assert_eq!(
            super::explain_key(
                &fixture.snapshot,
                &FilePath::new("/other.txt"),
                &LookupKey::of_root("a"),
                &Evaluations::default()
            ),
            None
        );
    }

    const SITES: &str = r#"
#- /hiera.yaml
version: 5
hierarchy:
- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}
- {name: Role, path: 'roles/%{role}.yaml'}
- {name: Common, path: common.yaml}
#- /data/nodes/web01.yaml
users: {ada: 1}
#- /data/roles/web.yaml
users: {ada: 2, grace: 2}
port: 80
#- /data/common.yaml
lookup_options: {users: {merge: deep}}
users: {joan: 3}
port: 8080
"#;

    /// Returns the page up to Puppet's explanation, and its links.
    fn page(text: &str, path: &str, key: &str) -> String {
        let fixture = Fixture::new(text);
        let key = LookupKey::parse(key).unwrap();
        let found =
            explain_key(&fixture.snapshot, &FilePath::new(path), &key, &Evaluations::default())
                .unwrap();
        let (own, _) = found.text.split_once("\nAs puppet lookup").unwrap();
        let mut out = own.to_owned();
        for PageLink { range, path, line } in &found.links {
            let name = &found.text[range.as_usize()];
            if range.end < own.len() as u32 {
                out.push_str(&format!("{name} -> {path} {line}\n"));
            }
        }
        out
    }

    #[test]
    fn the_value_and_its_places_come_first() {
        let node = SITES.replacen('\n', "\n#- scope web01 role=web\n", 1);
        expect![[r#"
            users
            node web01
            merged deep, as data/common.yaml:1 says

              joan: 3   # data/common.yaml:2
              ada: 1    # data/nodes/web01.yaml:1
              grace: 2  # data/roles/web.yaml:1

            Places, in the order of the hierarchy
              Node    data/nodes/web01.yaml:1  merged
              Role    data/roles/web.yaml:1    merged
              Common  data/common.yaml:2       merged
            data/common.yaml:1 -> /data/common.yaml 1
            data/common.yaml:2 -> /data/common.yaml 2
            data/nodes/web01.yaml:1 -> /data/nodes/web01.yaml 1
            data/roles/web.yaml:1 -> /data/roles/web.yaml 1
            data/nodes/web01.yaml:1 -> /data/nodes/web01.yaml 1
            data/roles/web.yaml:1 -> /data/roles/web.yaml 1
            data/common.yaml:2 -> /data/common.yaml 2
        "#]]
        .assert_eq(&page(&node, "/data/common.yaml", "users"));
        expect![[r#"
            port
            node web01
            the first value found counts

              80  # data/roles/web.yaml:2

            Places, in the order of the hierarchy
              Role    data/roles/web.yaml:2  the value
              Common  data/common.yaml:3     overridden
            data/roles/web.yaml:2 -> /data/roles/web.yaml 2
            data/roles/web.yaml:2 -> /data/roles/web.yaml 2
            data/common.yaml:3 -> /data/common.yaml 3
        "#]]
        .assert_eq(&page(&node, "/data/common.yaml", "port"));
        expect![[r#"
            users.grace
            node web01
            merged deep, as data/common.yaml:1 says

              2  # data/roles/web.yaml:1

            Places, in the order of the hierarchy
              Role  data/roles/web.yaml:1  merged
            data/common.yaml:1 -> /data/common.yaml 1
            data/roles/web.yaml:1 -> /data/roles/web.yaml 1
            data/roles/web.yaml:1 -> /data/roles/web.yaml 1
        "#]]
        .assert_eq(&page(&node, "/data/common.yaml", "users.grace"));
    }

    #[test]
    fn the_explanation_merges_as_calls_ask() {
        let site = SITES.replacen('\n', "\n#- scope web01 role=web\n", 1)
            + "#- /manifests/site.pp\n$users = lookup('users', Hash, 'first')\n";
        let fixture = Fixture::new(&site);
        let key = LookupKey::of_root("users");
        let told = explain_key(
            &fixture.snapshot,
            &FilePath::new("/data/common.yaml"),
            &key,
            &Evaluations::default(),
        );
        let text = told.expect("an environment governs the file").text;
        let (page, explanation) =
            text.split_once("As puppet lookup --merge first --explain").expect("the call's merge");
        assert!(page.contains(", as manifests/site.pp:1 says"), "{page}");
        assert!(page.contains("ada: 1") && !page.contains("joan"), "{page}");
        assert!(explanation.contains("ada") && !explanation.contains("joan"), "{explanation}");
    }

    #[test]
    fn a_shared_file_has_the_value_of_each_group_of_nodes() {
        expect![[r#"
            users
            in the only known node web01

            1 node: web01
              merged deep, as data/common.yaml:1 says
                joan: 3  # data/common.yaml:2
                ada: 1   # data/nodes/web01.yaml:1

            Places, in the order of the hierarchy
              Node    data/nodes/web01.yaml:1  merged
              Role    data/roles/web.yaml:1    where role = web
              Common  data/common.yaml:2       merged
            data/common.yaml:1 -> /data/common.yaml 1
            data/common.yaml:2 -> /data/common.yaml 2
            data/nodes/web01.yaml:1 -> /data/nodes/web01.yaml 1
            data/nodes/web01.yaml:1 -> /data/nodes/web01.yaml 1
            data/roles/web.yaml:1 -> /data/roles/web.yaml 1
            data/common.yaml:2 -> /data/common.yaml 2
        "#]]
        .assert_eq(&page(SITES, "/data/common.yaml", "users"));
    }

    #[test]
    fn files_that_unknown_variables_decide_on_are_places() {
        expect![[r#"
            port
            for nodes with role = web
            the first value found counts

              80  # data/roles/web.yaml:2

            Places, in the order of the hierarchy
              Role    data/roles/web.yaml:2  the value
              Common  data/common.yaml:3     overridden
            data/roles/web.yaml:2 -> /data/roles/web.yaml 2
            data/roles/web.yaml:2 -> /data/roles/web.yaml 2
            data/common.yaml:3 -> /data/common.yaml 3
        "#]]
        .assert_eq(&page(SITES, "/data/roles/web.yaml", "port"));
        expect![[r#"
            users
            for nodes with role = web
            merged deep, as data/common.yaml:1 says

              joan: 3   # data/common.yaml:2
              ada: 2    # data/roles/web.yaml:1
              grace: 2  # data/roles/web.yaml:1

            Places, in the order of the hierarchy
              Node    data/nodes/web01.yaml:1  where trusted.certname = web01
              Role    data/roles/web.yaml:1    merged
              Common  data/common.yaml:2       merged
            data/common.yaml:1 -> /data/common.yaml 1
            data/common.yaml:2 -> /data/common.yaml 2
            data/roles/web.yaml:1 -> /data/roles/web.yaml 1
            data/roles/web.yaml:1 -> /data/roles/web.yaml 1
            data/nodes/web01.yaml:1 -> /data/nodes/web01.yaml 1
            data/roles/web.yaml:1 -> /data/roles/web.yaml 1
            data/common.yaml:2 -> /data/common.yaml 2
        "#]]
        .assert_eq(&page(SITES, "/data/roles/web.yaml", "users"));
    }

    #[test]
    fn the_table_has_the_places_of_the_nodes_that_read_the_file() {
        let text = "
#- node web1 role=web
#- node web2 role=web
#- node db1 role=db
#- levels Node Role Common
#- /data/nodes/web1.yaml
users: {ada: 1}
#- /data/nodes/db1.yaml
users: {ada: 2}
#- /data/roles/web.yaml
users: {joan: 3}
#- /data/common.yaml
users: {ada: 1}
";
        expect![[r#"
            users.ada
            in the 2 known nodes that read this file (role = web)

            1 node: web1
              the first value found counts
                1  # data/nodes/web1.yaml:1

            1 node: web2
              the first value found counts
                no value is found

            Places, in the order of the hierarchy
              Node    data/nodes/web1.yaml:1  the value (1 node)
              Common  data/common.yaml:1      overridden
            data/nodes/web1.yaml:1 -> /data/nodes/web1.yaml 1
            data/nodes/web1.yaml:1 -> /data/nodes/web1.yaml 1
            data/common.yaml:1 -> /data/common.yaml 1
        "#]]
        .assert_eq(&page(text, "/data/roles/web.yaml", "users.ada"));
    }

    /// Puppet's words quote the files: these are links, too.
    #[test]
    fn the_places_of_puppets_explanation_are_links() {
        let fixture = Fixture::new(SITES);
        let path = FilePath::new("/data/roles/web.yaml");
        let found = explain_key(
            &fixture.snapshot,
            &path,
            &LookupKey::of_root("port"),
            &Evaluations::default(),
        )
        .unwrap();
        let start = found.text.find("As puppet lookup").unwrap() as u32;
        let links = found.links.iter().filter(|link| link.range.start > start);
        let links: Vec<&str> = links.map(|link| &found.text[link.range.as_usize()]).collect();
        assert!(links.contains(&"/data/roles/web.yaml:2"), "{links:?}\n{}", found.text);
    }

    #[test]
    fn secrets_stay_hidden() {
        let text =
            "a: ENC[PKCS7,MIIBeQYJ]\nlookup_options: {b: {convert_to: Sensitive}}\nb: hunter2\n";
        let fixture = Fixture::new(text);
        for key in ["a", "b"] {
            let story = explain_key(
                &fixture.snapshot,
                &FilePath::new("/data/common.yaml"),
                &LookupKey::of_root(key),
                &Evaluations::default(),
            )
            .unwrap();
            assert!(
                !story.text.contains("MIIB") && !story.text.contains("hunter2"),
                "{}",
                story.text
            );
        }
    }

    #[test]
    fn nodes_beyond_those_that_are_named_or_compared_are_counted() {
        let nodes = |count: usize, role: &str| -> String {
            (0..count).map(|n| format!("#- node {role}{n:02} role={role}\n")).collect()
        };
        let text = format!(
            "{}{}#- levels Role Common\n#- /data/roles/db.yaml\nk: 1\n#- /data/common.yaml\nk: 2\n",
            nodes(25, "web"),
            nodes(2, "db")
        );
        let named = page(&text, "/data/common.yaml", "k");
        assert!(
            named.contains("25 nodes: web00, ") && named.contains("web19, … and 5 more\n"),
            "{named}"
        );
        assert!(named.contains("2 nodes: db00, db01\n"), "{named}");
        let files: String =
            (0..65).map(|n| format!("#- /data/roles/r{n}.yaml\nk: {n}\n")).collect();
        let nodes: String = (0..65).map(|n| format!("#- node n{n} role=r{n}\n")).collect();
        let text = format!("{nodes}#- levels Role Common\n{files}#- /data/common.yaml\nk: x\n");
        let told = page(&text, "/data/common.yaml", "k");
        assert!(told.contains("5 more nodes were not compared\n"), "{told}");
    }
}
