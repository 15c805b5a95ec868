//! The change of `hiera.yaml` files that keeps their literal paths right when files or folders are
//! renamed: `path`, `paths` and `datadir` of version 5. Paths with variables, globs, and mapped
//! paths name more than one file, and stay as they are.

use std::collections::BTreeSet;

use crate::hiera::config::{ConfigVersion, HieraConfig, Level, Locations, Template};
use crate::puppet::print::{json_text, quote_single};
use crate::text::{FilePath, SourceChange, TextEdit};
use crate::workspace::Snapshot;
use crate::yaml::psych::{Resolved, resolve_plain};

/// A file or folder that gets another path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRename {
    /// The path of the file or folder before the rename.
    pub old: FilePath,
    /// The path of the file or folder after the rename.
    pub new: FilePath,
}

/// Returns the change that goes with renames that are about to happen; empty where no path names
/// these files. Configs that are renamed themselves, and those of modules of others, are not changed.
pub fn file_renames(snapshot: &Snapshot, renames: &[FileRename]) -> SourceChange {
    let mut change = SourceChange::default();
    let mut seen = BTreeSet::new();
    // A config must not be changed to read files outside the opened folders.
    let (inside, outside): (Vec<&FileRename>, _) =
        renames.iter().partition(|rename| snapshot.may_change(&rename.new));
    if !outside.is_empty() {
        tracing::info!(count = outside.len(), "renames to other places change no config");
    }
    let renames: Vec<FileRename> = inside.into_iter().cloned().collect();
    let renames = renames.as_slice();
    for environment in &snapshot.environments().all {
        for (_, config) in environment.all_configs() {
            let is_ours = config.path.is_within(&environment.root)
                && !snapshot.is_third_party(environment, &config.path)
                && renamed_path(renames, &config.path).is_none();
            if is_ours && config.version == ConfigVersion::V5 && seen.insert(config.path.clone()) {
                edit_config(snapshot, config, renames, &mut change);
            }
        }
    }
    change
}

/// Returns the path of a file after the renames; `None` where it stays.
fn renamed_path(renames: &[FileRename], path: &FilePath) -> Option<FilePath> {
    let concerned = renames.iter().filter(|rename| path.is_within(&rename.old));
    let rename = concerned.max_by_key(|rename| rename.old.as_str().len())?;
    Some(match path.relative_to(&rename.old)? {
        "" => rename.new.clone(),
        rest => rename.new.join(rest),
    })
}

fn edit_config(
    snapshot: &Snapshot,
    config: &HieraConfig,
    renames: &[FileRename],
    change: &mut SourceChange,
) {
    let base = config.base_folder();
    let mut edited = BTreeSet::new();
    for level in config.levels() {
        let Some(datadir) = folder_of(config, level) else { continue };
        // A datadir that the config does not write is `data`, and cannot follow a rename.
        let moved_datadir =
            renamed_path(renames, &datadir).filter(|_| level.datadir.span.is_some());
        if let Some(new) = &moved_datadir {
            edit_template(
                snapshot,
                config,
                &level.datadir,
                &relative_path(new, &base),
                &mut edited,
                change,
            );
        }
        let folder = moved_datadir.as_ref().unwrap_or(&datadir);
        let Locations::Paths(templates) = &level.locations else { continue };
        for template in templates.iter().filter(|template| is_literal(&template.text)) {
            let Some(new) = renamed_path(renames, &datadir.join(&template.text)) else { continue };
            let path = if template.text.starts_with('/') {
                new.as_str().to_owned()
            } else {
                relative_path(&new, folder)
            };
            if path != *template.text {
                edit_template(snapshot, config, template, &path, &mut edited, change);
            }
        }
    }
}

/// Returns the folder of a level's data; `None` where variables decide it, or another folder stands
/// for it on this machine.
fn folder_of(config: &HieraConfig, level: &Level) -> Option<FilePath> {
    let written = &level.datadir.text;
    let is_as_written = config.mapped_datadir(level) == &**written && is_literal(written);
    is_as_written.then(|| config.base_folder().join(written))
}

fn is_literal(text: &str) -> bool {
    !text.contains("%{")
}

/// Returns a path as seen from a folder.
fn relative_path(path: &FilePath, folder: &FilePath) -> String {
    let (mut to, mut from) =
        (path.as_str().split('/').peekable(), folder.as_str().split('/').peekable());
    while to.peek().is_some() && to.peek() == from.peek() {
        to.next();
        from.next();
    }
    let up = from.filter(|part| !part.is_empty()).map(|_| "..");
    up.chain(to).collect::<Vec<_>>().join("/")
}

/// Replaces a string of a config, once for all levels that share it.
fn edit_template(
    snapshot: &Snapshot,
    config: &HieraConfig,
    template: &Template,
    path: &str,
    edited: &mut BTreeSet<u32>,
    change: &mut SourceChange,
) {
    let Some(span) = template.span else { return };
    let range = snapshot.span_bytes(span);
    let text = snapshot.file_by_id(span.file).and_then(|file| file.text());
    let Some(written) = text.map(|text| text.slice(range).to_string()) else { return };
    let Some(new) = rewrite_scalar(&written, &template.text, path) else { return };
    if edited.insert(range.start) {
        change.push(&config.path, TextEdit::new(range, new));
    }
}

/// Returns a path as a scalar of YAML in the quotes of another one; `None` for a block scalar.
fn rewrite_scalar(written: &str, text: &str, path: &str) -> Option<String> {
    let begins_plainly = path.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '/'));
    let is_plain = begins_plainly
        && path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
        && resolve_plain(path) == Resolved::String;
    match written.chars().next()? {
        '"' if !path.contains(['"', '\\']) => Some(json_text(path)),
        _ if written == text && is_plain => Some(path.to_owned()),
        '"' | '\'' => Some(quote_single(path)),
        _ if written == text => Some(quote_single(path)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::Fixture;

    const REPO: &str = "
#- /hiera.yaml
version: 5
defaults: {datadir: data, data_hash: yaml_data}
hierarchy:
  - {name: Node, path: 'nodes/%{trusted.certname}.yaml'}
  - name: Shared
    paths: [\"shared/common.yaml\", 'old.yaml', teams/all.yaml]
  - {name: Teams, glob: 'teams/*.yaml'}
  - {name: Other, datadir: more, path: shared/common.yaml}
#- /data/shared/common.yaml
a: 1
#- /data/old.yaml
a: 1
#- /data/teams/all.yaml
a: 1
#- /more/shared/common.yaml
a: 1
";

    fn check(renames: &[(&str, &str)], expected: Expect) {
        let fixture = Fixture::new(REPO);
        let renames: Vec<FileRename> = { renames.iter() }
            .map(|(old, new)| FileRename { old: FilePath::new(old), new: FilePath::new(new) })
            .collect();
        let change = file_renames(&fixture.snapshot, &renames);
        let mut shown = String::new();
        for (path, edits) in &change.edits {
            let text = fixture.snapshot.file(path).unwrap().text().unwrap();
            for edit in edits {
                let line = format!("{} -> {}\n", text.slice(edit.range), edit.text);
                shown.push_str(&line);
            }
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn a_file_keeps_its_place_in_the_hierarchy() {
        check(
            &[("/data/old.yaml", "/data/new/name.yaml")],
            expect![[r#"
            'old.yaml' -> 'new/name.yaml'
        "#]],
        );
        check(
            &[("/data/shared/common.yaml", "/data/it's.yaml")],
            expect![[r#"
            "shared/common.yaml" -> "it's.yaml"
        "#]],
        );
        check(
            &[("/data/teams/all.yaml", "/elsewhere/1.0")],
            expect![[r#"
            teams/all.yaml -> '../elsewhere/1.0'
        "#]],
        );
    }

    #[test]
    fn a_folder_takes_its_files_along() {
        check(
            &[("/data/teams", "/data/groups")],
            expect![[r#"
            teams/all.yaml -> groups/all.yaml
        "#]],
        );
        check(
            &[("/data/teams", "/data/a b")],
            expect![[r#"
            teams/all.yaml -> 'a b/all.yaml'
        "#]],
        );
    }

    #[test]
    fn a_datadir_is_renamed_where_it_is_written() {
        check(
            &[("/more", "/extra"), ("/data", "/hiera/data")],
            expect![[r#"
            data -> hiera/data
            more -> extra
        "#]],
        );
    }

    #[test]
    fn nothing_changes_for_files_that_no_path_names() {
        check(&[("/data/nodes", "/data/hosts")], expect![[""]]);
        check(&[("/data/other.yaml", "/data/x.yaml")], expect![[""]]);
        // The config and its data move together.
        check(&[("/", "/srv/")], expect![[""]]);
    }
}
