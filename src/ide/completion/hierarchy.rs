//! `hiera.yaml` of version 5 and 4: keys by place, backends, and the files below the datadirs.

use super::backends;
use super::context::CompletionContext;
use super::hierarchy_3;
use super::item::{ItemKind, Items};
use super::options::{Form, Word, complete_values, complete_words};
use super::place::{CursorStep, Spot};
use crate::hiera::config::formats::BUILT_INS;
use crate::hiera::config::{BackendKind, ConfigVersion};
use crate::text::FilePath;

const ROOT: [Word; 4] = [
    ("version", Form::Text, "the version of this format: 5"),
    ("defaults", Form::Hash, "the backend and the datadir of levels that name none"),
    ("hierarchy", Form::List, "the levels, the highest priority first"),
    ("default_hierarchy", Form::List, "levels for keys that no other has; in modules only"),
];
const DEFAULTS: [Word; 5] = [
    ("datadir", Form::Text, "the folder that paths are relative to"),
    ("data_hash", Form::Text, "the function that reads whole files"),
    ("lookup_key", Form::Text, "the function that is asked for one root key"),
    ("data_dig", Form::Text, "the function that is asked for one dotted key"),
    ("options", Form::Hash, "options of the function"),
];
const LEVEL: [Word; 14] = [
    ("name", Form::Text, "the level's name, unique in the hierarchy"),
    ("path", Form::Text, "the file, below the datadir"),
    ("paths", Form::List, "the files, below the datadir"),
    ("glob", Form::Text, "a glob of files, below the datadir"),
    ("globs", Form::List, "globs of files, below the datadir"),
    ("mapped_paths", Form::List, "a variable, a name for its elements, and a path for each"),
    ("datadir", Form::Text, "the folder that paths are relative to"),
    ("data_hash", Form::Text, "the function that reads whole files"),
    ("lookup_key", Form::Text, "the function that is asked for one root key"),
    ("data_dig", Form::Text, "the function that is asked for one dotted key"),
    ("uri", Form::Text, "an address for the function"),
    ("uris", Form::List, "addresses for the function"),
    ("hiera3_backend", Form::Text, "a backend of Hiera 3; in the global layer only"),
    ("options", Form::Hash, "options of the function"),
];
/// The keys of locations: a level has one of them.
const LOCATIONS: [&str; 7] = ["path", "paths", "glob", "globs", "mapped_paths", "uri", "uris"];
const BACKENDS: [&str; 4] = ["data_hash", "lookup_key", "data_dig", "hiera3_backend"];
const ROOT_4: [Word; 3] = [
    ("version", Form::Text, "the version of this format: 4"),
    ("datadir", Form::Text, "the folder that paths are relative to"),
    ("hierarchy", Form::List, "the levels, the highest priority first"),
];
const LEVEL_4: [Word; 5] = [
    ("name", Form::Text, "the level's name, and its path where it has no other"),
    ("backend", Form::Text, "the format of its files"),
    ("path", Form::Text, "the file, below the datadir, without its extension"),
    ("paths", Form::List, "the files, below the datadir, without their extensions"),
    ("datadir", Form::Text, "the folder that paths are relative to"),
];
const EYAML: [Word; 2] = [
    ("pkcs7_private_key", Form::Text, "the private key's file"),
    ("pkcs7_public_key", Form::Text, "the public key's file"),
];

/// Adds the words that fit in a `hiera.yaml`.
pub(super) fn complete(ctx: &CompletionContext<'_>, items: &mut Items) {
    let place = ctx.place;
    let is_key = place.spot == Spot::Key;
    let keys = place.key_names();
    if hierarchy_3::is_meant(ctx, config_version(ctx)) {
        return hierarchy_3::complete(ctx, items);
    }
    if config_version(ctx) == Some(ConfigVersion::V4) {
        return complete_4(ctx, &keys, items);
    }
    match keys.as_slice() {
        [] if is_key => complete_words(ctx, &ROOT, items),
        ["version"] => complete_values(ctx, ItemKind::Value, [("5", "")].into_iter(), items),
        ["defaults"] if is_key => {
            complete_words(ctx, &without_second(&DEFAULTS, &place.others), items)
        }
        ["hierarchy" | "default_hierarchy"] if is_key && in_level(&place.path) => {
            complete_words(ctx, &without_second(&LEVEL, &place.others), items);
        }
        [.., "options"] if is_key => complete_words(ctx, &EYAML, items),
        [.., kind @ ("data_hash" | "lookup_key" | "data_dig")] if place.spot != Spot::Text => {
            backends::complete(ctx, kind, items);
        }
        [.., "path" | "paths"] if place.spot != Spot::Text => complete_files(ctx, None, items),
        [.., "glob" | "globs"] if place.spot != Spot::Text => {
            complete_globs(ctx, items);
            complete_files(ctx, None, items);
        }
        [.., "uri" | "uris"] if place.spot != Spot::Text => {
            complete_files(ctx, Some("file://"), items)
        }
        [.., "datadir"] if place.spot != Spot::Text => complete_folders(ctx, items),
        _ => {}
    }
}

/// Returns the version of the config as it was last read.
fn config_version(ctx: &CompletionContext<'_>) -> Option<ConfigVersion> {
    let mut configs = ctx.environment.all_configs();
    configs.find(|(_, config)| config.path == ctx.file.path).map(|(_, config)| config.version)
}

/// Adds the words that fit in a `hiera.yaml` of version 4.
fn complete_4(ctx: &CompletionContext<'_>, keys: &[&str], items: &mut Items) {
    let place = ctx.place;
    let is_key = place.spot == Spot::Key;
    match keys {
        [] if is_key => complete_words(ctx, &ROOT_4, items),
        ["version"] => complete_values(ctx, ItemKind::Value, [("4", "")].into_iter(), items),
        ["hierarchy"] if is_key && in_level(&place.path) => {
            complete_words(ctx, &without_second(&LEVEL_4, &place.others), items);
        }
        [.., "backend"] => {
            let own = BUILT_INS.iter().filter(|own| own.kind == BackendKind::DataHash);
            let words = own.map(|own| (own.hiera3, own.reads_files));
            complete_values(ctx, ItemKind::Value, words, items);
        }
        [.., "datadir"] if place.spot != Spot::Text => complete_folders(ctx, items),
        _ => {}
    }
}

fn in_level(path: &[CursorStep]) -> bool {
    matches!(path, [CursorStep::Key(_), CursorStep::Item(_)])
}

/// Returns the words that a hash may still have: no location beside another location, and no
/// backend beside another backend.
fn without_second(all: &[Word], others: &[String]) -> Vec<Word> {
    let (has_location, has_backend) = (has_any(&LOCATIONS, others), has_any(&BACKENDS, others));
    all.iter()
        .filter(|(word, ..)| !is_second_choice(word, has_location, has_backend))
        .copied()
        .collect()
}

fn is_second_choice(word: &str, has_location: bool, has_backend: bool) -> bool {
    has_location && LOCATIONS.contains(&word) || has_backend && BACKENDS.contains(&word)
}

fn has_any(group: &[&str], others: &[String]) -> bool {
    others.iter().any(|other| group.contains(&other.as_str()))
}

/// Adds the files below the datadirs: as paths relative to these, or as addresses that begin with
/// `scheme`.
fn complete_files(ctx: &CompletionContext<'_>, scheme: Option<&str>, items: &mut Items) {
    for datadir in find_datadirs(ctx) {
        for path in ctx.snapshot.paths_starting_with(&format!("{datadir}/")) {
            if items.is_full() || ctx.snapshot.cancel_token().is_cancelled() {
                return items.note_cut();
            }
            if let Some(name) = path.relative_to(&datadir) {
                let folder = ctx.file_name(&datadir).to_owned();
                let address = scheme.map(|scheme| format!("{scheme}{path}"));
                let name = address.as_deref().unwrap_or(name);
                let item = ctx.value_item(ItemKind::File, name, Some(name));
                items.push(item.with_detail(format!("in {folder}")));
            }
        }
    }
}

/// Adds a glob for each folder below the datadirs that holds files.
fn complete_globs(ctx: &CompletionContext<'_>, items: &mut Items) {
    for datadir in find_datadirs(ctx) {
        let mut last = String::new();
        for path in ctx.snapshot.paths_starting_with(&format!("{datadir}/")) {
            if items.is_full() || ctx.snapshot.cancel_token().is_cancelled() {
                return items.note_cut();
            }
            let extension = path.extension().map_or(String::new(), |one| format!(".{one}"));
            let folder = path.relative_to(&datadir).and_then(|name| name.rsplit_once('/'));
            let glob = folder.map_or(String::new(), |(folder, _)| format!("{folder}/"));
            let glob = format!("{glob}*{extension}");
            if glob != last {
                let folder = ctx.file_name(&datadir).to_owned();
                let item = ctx.value_item(ItemKind::File, &glob, Some(&glob));
                items.push(item.with_detail(format!("in {folder}")));
                last = glob;
            }
        }
    }
}

/// Returns the folders that this config's levels read from, or else the usual one.
fn find_datadirs(ctx: &CompletionContext<'_>) -> Vec<FilePath> {
    let base = ctx.file.path.parent().unwrap_or_else(|| ctx.environment.root.clone());
    let mut own: Vec<FilePath> =
        ctx.environment.datadirs.iter().filter(|it| it.is_within(&base)).cloned().collect();
    if own.is_empty() {
        own.push(base.join("data"));
    }
    own
}

/// Adds the folders beside the config.
fn complete_folders(ctx: &CompletionContext<'_>, items: &mut Items) {
    let Some(base) = ctx.file.path.parent() else { return };
    let mut names: Vec<&str> = Vec::new();
    for path in ctx.snapshot.paths_starting_with(&format!("{base}/")) {
        let relative = path.relative_to(&base).unwrap_or_default();
        if let Some((folder, _)) = relative.split_once('/')
            && !names.contains(&folder)
        {
            names.push(folder);
        }
        if names.len() > super::MAX_ITEMS {
            break;
        }
    }
    for name in names {
        items.push(ctx.value_item(ItemKind::File, name, Some(name)));
    }
}
