//! Links from the locations of a `hiera.yaml`, and from a file of settings, to the files that they
//! name.

use std::collections::BTreeMap;

use super::audience::Audience;
use super::phrases::level_title;
use crate::hiera::config::{HieraConfig, Layer};
use crate::hiera::hierarchy::locate_levels;
use crate::hiera::hierarchy::located::LevelTarget;
use crate::text::{FilePath, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::files::kinds::SETTINGS_FILE;
use crate::yaml::{NodeId, NodeKind, Tree};

/// A link from a place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The bytes that lead to the target.
    pub range: TextRange,
    /// The file that the link leads to; it is one of the workspace.
    pub target: FilePath,
    /// The description of the link, in a few words.
    pub tooltip: String,
}

/// The settings that name files, with the names of the hashes above them.
const FILES_IN_SETTINGS: [&[&str]; 3] =
    [&["hieraConfig"], &["globalHieraConfig"], &["nodes", "sources"]];

/// Returns the links of the file at `path`, in the order of the text. A location of a `hiera.yaml`
/// has one if it names exactly one file that exists, for the selected node, or without variables.
pub fn document_links(snapshot: &Snapshot, path: &FilePath) -> Vec<Link> {
    if path.name() == SETTINGS_FILE {
        return of_settings(snapshot, path);
    }
    let Some(environment) = snapshot.environments().governing_environments(path).next() else {
        return Vec::new();
    };
    let mut configs = environment.all_configs();
    match configs.find(|(_, config)| config.path == *path) {
        Some((layer, config)) => of_config(snapshot, environment, &layer, config),
        None => Vec::new(),
    }
}

fn of_config(
    snapshot: &Snapshot,
    environment: &Environment,
    layer: &Layer,
    config: &HieraConfig,
) -> Vec<Link> {
    let scope = snapshot.scope_for(environment, &config.path);
    let view = snapshot.view(environment);
    let levels: Vec<_> = config.levels().cloned().collect();
    let Ok(located) = locate_levels(config, &levels, &scope, &view, None) else {
        return Vec::new();
    };
    let whose = scope.is_node.then(|| {
        Audience::of_scope(snapshot, environment, &scope, &config.path).to_phrase(str::to_owned)
    });
    let mut by_place: BTreeMap<TextRange, Vec<Link>> = BTreeMap::new();
    for level in &located {
        let title = level_title(layer, &level.level.name);
        let tooltip = match &whose {
            Some(whose) => format!("{title}, {whose}"),
            None => title,
        };
        for location in level.locations.iter() {
            let template = location.template.as_ref();
            let Some(span) = template.and_then(|template| template.span) else { continue };
            let LevelTarget::File { path, exists: true } = &location.place else { continue };
            let (range, tooltip) = (snapshot.span_bytes(span), tooltip.clone());
            let link = Link { range, target: path.clone(), tooltip };
            by_place.entry(range).or_default().push(link);
        }
    }
    // A glob, or a mapped path, may name several files: such a location has no link.
    by_place.into_values().filter(|links| links.len() == 1).flatten().collect()
}

/// Returns the links of a file of settings: from names of files of the workspace, relative to its
/// folder.
fn of_settings(snapshot: &Snapshot, path: &FilePath) -> Vec<Link> {
    let (Some(file), Some(folder)) = (snapshot.file(path), path.parent()) else {
        return Vec::new();
    };
    let mut links = Vec::new();
    for part in file.text_parts(snapshot.cancel_token()) {
        let Some(root) = part.tree.root else { continue };
        for names in FILES_IN_SETTINGS {
            for node in values_under(&part.tree, root, names) {
                let Some(text) = part.tree.scalar(node) else { continue };
                let target = folder.join(text);
                if target.is_within(&folder) && snapshot.file(&target).is_some() {
                    let range = part.node_range(node);
                    links.push(Link { range, target, tooltip: names.join(".") });
                }
            }
        }
    }
    links.sort_by_key(|link| link.range);
    links
}

/// Returns the value under these names, or the elements if it is a list.
fn values_under(tree: &Tree, root: NodeId, names: &[&str]) -> Vec<NodeId> {
    let mut current = root;
    for name in names {
        let mut entries = tree.entries(current).iter();
        match entries.find(|(key, _)| tree.scalar(*key) == Some(name)) {
            Some((_, value)) => current = *value,
            None => return Vec::new(),
        }
    }
    match &tree.node(current).kind {
        NodeKind::Sequence { items, .. } => items.clone(),
        _ => vec![current],
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::Fixture;
    use crate::text::Span;
    use crate::workspace::Change;

    const CONFIG: &str = "#- /hiera.yaml
version: 5
hierarchy:
  - {name: Node, path: 'nodes/%{trusted.certname}.yaml'}
  - {name: Shared, paths: [absent.yaml, common.yaml]}
  - {name: Some, glob: 'some/*.yaml'}
  - {name: One, glob: 'one/*.yaml'}
#- /data/nodes/web01.yaml
a: 1
#- /data/common.yaml
a: 2
#- /data/some/a.yaml
a: 3
#- /data/some/b.yaml
a: 4
#- /data/one/only.yaml
a: 5
";

    fn check(fixture: &Fixture, path: &str, expected: Expect) {
        let path = FilePath::new(path);
        let file = fixture.snapshot.file(&path).expect("the file is there");
        let mut shown = String::new();
        for link in document_links(&fixture.snapshot, &path) {
            let text = fixture.text_at(Span::in_file(file.id, link.range));
            shown.push_str(&format!("{text} -> {} ({})\n", link.target, link.tooltip));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn locations_lead_to_the_files_that_the_selected_node_reads() {
        let fixture = Fixture::new(&format!("#- scope web01 role=web\n{CONFIG}"));
        check(
            &fixture,
            "/hiera.yaml",
            expect![[r#"
                'nodes/%{trusted.certname}.yaml' -> /data/nodes/web01.yaml (Node, node web01)
                common.yaml -> /data/common.yaml (Shared, node web01)
                'one/*.yaml' -> /data/one/only.yaml (One, node web01)
            "#]],
        );
        check(&fixture, "/data/common.yaml", expect![""]);
    }

    #[test]
    fn without_a_node_locations_with_variables_lead_nowhere() {
        check(
            &Fixture::new(CONFIG),
            "/hiera.yaml",
            expect![[r#"
                common.yaml -> /data/common.yaml (Shared)
                'one/*.yaml' -> /data/one/only.yaml (One)
            "#]],
        );
    }

    #[test]
    fn files_that_settings_name_are_links_within_the_folder() {
        let mut fixture = Fixture::new(CONFIG);
        let text = "hieraConfig: hiera.yaml\nnodes:\n  sources: [data/common.yaml, ../../etc/passwd, absent.yaml]\n";
        let path = FilePath::new("/.hiera-ls.yaml");
        fixture.workspace.apply(Change::Open(path, text.to_owned()));
        fixture.snapshot = fixture.workspace.snapshot();
        check(
            &fixture,
            "/.hiera-ls.yaml",
            expect![[r#"
                hiera.yaml -> /hiera.yaml (hieraConfig)
                data/common.yaml -> /data/common.yaml (nodes.sources)
            "#]],
        );
    }
}
