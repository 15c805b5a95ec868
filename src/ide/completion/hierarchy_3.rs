//! `hiera.yaml` of version 3: keys as words or as symbols, as the file has them, backends, and the
//! sources below the datadirs.

use super::context::CompletionContext;
use super::item::{ItemKind, Items};
use super::options::{Form, Word, complete_values};
use super::place::Spot;
use crate::hiera::config::ConfigVersion;
use crate::hiera::config::formats::{BUILT_INS, hiera3_built_in};
use crate::hiera::hierarchy::datadir_start;
use crate::text::FilePath;

const ROOT: [Word; 5] = [
    ("backends", Form::List, "the backends, each of which goes through the whole hierarchy"),
    ("hierarchy", Form::List, "the sources, the highest priority first"),
    ("merge_behavior", Form::Text, "how hiera_hash() in manifests merges"),
    ("deep_merge_options", Form::Hash, "options of that merge"),
    ("logger", Form::Text, "has no effect in Puppet"),
];
const BACKEND: [Word; 2] = [
    ("datadir", Form::Text, "the folder of the files, an absolute path"),
    ("extension", Form::Text, "the extension of the files, without a dot"),
];
const EYAML: [Word; 2] = [
    ("pkcs7_private_key", Form::Text, "the private key's file"),
    ("pkcs7_public_key", Form::Text, "the public key's file"),
];
const MERGES: [(&str, &str); 3] = [
    ("native", "by the keys of hashes; the default"),
    ("deep", "recursively; the lower level wins"),
    ("deeper", "recursively; the higher level wins"),
];
const DATADIR: &str = "/etc/puppetlabs/code/environments/%{::environment}/hieradata";

/// Whether the text is of version 3: an empty one may become any.
pub(super) fn is_meant(ctx: &CompletionContext<'_>, version: Option<ConfigVersion>) -> bool {
    version == Some(ConfigVersion::V3) && tells_version_3(ctx) == Some(true)
}

fn tells_version_3(ctx: &CompletionContext<'_>) -> Option<bool> {
    Some(ctx.file.text()?.to_str().lines().any(|line| {
        line.starts_with(':') || line.starts_with("backends:") || line.starts_with("version: 3")
    }))
}

/// Adds the words that fit.
pub(super) fn complete(ctx: &CompletionContext<'_>, items: &mut Items) {
    let place = ctx.place;
    let keys = place.key_names();
    let keys: Vec<&str> = keys.iter().map(|key| key.strip_prefix(':').unwrap_or(key)).collect();
    let is_known = |name: &str| hiera3_built_in(name).is_some();
    match keys.as_slice() {
        [] if place.spot == Spot::Key => {
            complete_words(ctx, &ROOT, items);
            let settings = BUILT_INS.map(|own| (own.hiera3, Form::Hash, "settings of the backend"));
            complete_words(ctx, &settings, items);
        }
        ["version"] => complete_values(ctx, ItemKind::Value, [("3", "")].into_iter(), items),
        ["backends"] if place.spot != Spot::Text => {
            complete_values(
                ctx,
                ItemKind::Value,
                BUILT_INS.iter().map(|own| (own.hiera3, own.reads_files)),
                items,
            );
        }
        ["merge_behavior"] => complete_values(ctx, ItemKind::EnumMember, MERGES.into_iter(), items),
        ["hierarchy"] if place.spot != Spot::Text => complete_sources(ctx, items),
        [backend] if place.spot == Spot::Key && is_known(backend) => {
            complete_words(ctx, &BACKEND, items);
            if *backend == "eyaml" {
                complete_words(ctx, &EYAML, items);
            }
        }
        [backend, "datadir"] if place.spot == Spot::Value && is_known(backend) => {
            let meaning = "where Puppet looks if none is given";
            complete_values(ctx, ItemKind::File, [(DATADIR, meaning)].into_iter(), items);
        }
        _ => {}
    }
}

/// Adds the words that a hash lacks: as symbols where the file, or the typed text, has symbols.
fn complete_words(ctx: &CompletionContext<'_>, all: &[Word], items: &mut Items) {
    let place = ctx.place;
    let as_symbols = place.typed_content().starts_with(':')
        || place.typed_content().is_empty()
            && ctx.file.text().is_some_and(|text| text.to_str().lines().any(is_symbol));
    for (word, form, meaning) in all {
        let symbol = format!(":{word}");
        if place.others.iter().any(|other| other == word || *other == symbol) {
            continue;
        }
        let mut item =
            ctx.key_item(ItemKind::Keyword, word, &form.value_shape()).with_detail(*meaning);
        if as_symbols {
            item.edit.text.insert(0, ':');
            item.snippet.iter_mut().for_each(|snippet| snippet.insert(0, ':'));
            (item.label, item.filter) = (symbol.clone(), symbol);
        }
        items.push(item);
    }
}

fn is_symbol(line: &str) -> bool {
    line.starts_with(':')
}

/// Returns the folders of the backends, up to their first tokens; the usual ones where the config
/// cannot be read.
fn find_datadirs(ctx: &CompletionContext<'_>) -> Vec<FilePath> {
    let own = ctx.environment.config_at(&ctx.file.path).into_iter();
    let all = own.flat_map(|own| own.levels().map(|level| datadir_start(own, level)));
    let mut all: Vec<FilePath> = all.collect();
    all.dedup();
    if all.is_empty() {
        // While an element of a list is being typed, the list is not yet a list to Puppet.
        let base = ctx.file.path.parent().unwrap_or_else(|| ctx.environment.root.clone());
        all.extend(["hieradata", "data"].map(|folder| base.join(folder)));
    }
    all
}

/// Adds the files below the datadirs, without their extensions.
fn complete_sources(ctx: &CompletionContext<'_>, items: &mut Items) {
    for datadir in find_datadirs(ctx) {
        for path in ctx.snapshot.paths_starting_with(&format!("{datadir}/")) {
            if items.is_full() || ctx.snapshot.cancel_token().is_cancelled() {
                return items.note_cut();
            }
            let Some(name) = path.relative_to(&datadir) else { continue };
            let source = name.rsplit_once('.').map_or(name, |(source, _)| source);
            let folder = ctx.file_name(&datadir).to_owned();
            let item = ctx.value_item(ItemKind::File, source, Some(source));
            items.push(item.with_detail(format!("in {folder}")));
        }
    }
}
