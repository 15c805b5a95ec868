//! The keys that a change may give other values, without those that only ask for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ComparedSide;
use crate::hiera::config::Layer;
use crate::hiera::data::DataFile;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::puppet::ruby::regex::RubyRegex;
use crate::puppet::value::Value;
use crate::text::FilePath;
use crate::text::work::{Work, count_work};
use crate::workspace::environments::Environment;
use crate::workspace::index::KeyIndex;

/// Returns the keys whose data differ in these files, and those that `lookup_options` in them speak
/// of otherwise; all keys where one of the files is a config of the environment.
pub(super) fn keys_that_differ(
    before: ComparedSide<'_>,
    after: ComparedSide<'_>,
    files: &[&FilePath],
) -> BTreeSet<Arc<str>> {
    match has_config(before, after, files) {
        true => {
            let keys = before.snapshot.keys().keys().chain(after.snapshot.keys().keys());
            with_dependents((before, after), keys.cloned().collect())
        }
        false => edited_keys(before, after, files),
    }
}

/// Returns the keys whose data differ in these files, and those that `lookup_options` in them speak
/// of otherwise. Configs among the files are passed over.
pub(super) fn edited_keys(
    before: ComparedSide<'_>,
    after: ComparedSide<'_>,
    files: &[&FilePath],
) -> BTreeSet<Arc<str>> {
    let data = files.iter().filter(|path| is_data(before, after, path));
    let keys = data.flat_map(|path| keys_of_file(before, after, path)).collect();
    with_dependents((before, after), keys)
}

/// Returns keys without `lookup_options`, and the keys that may have another value although those
/// that they ask for have the same.
pub(super) fn with_dependents(
    (before, after): (ComparedSide<'_>, ComparedSide<'_>),
    mut keys: BTreeSet<Arc<str>>,
) -> BTreeSet<Arc<str>> {
    keys.remove(LOOKUP_OPTIONS);
    for side in [before, after] {
        add_dependents(side, &mut keys);
    }
    keys
}

/// Whether other keys may have another value where the data of a key changes and its value does not.
pub(super) fn has_dependents(side: ComparedSide<'_>, key: &str) -> bool {
    let mut keys = BTreeSet::from([Arc::from(key)]);
    add_dependents(side, &mut keys);
    keys.len() > 1
}

/// Adds the keys that may have another value although those that they ask for have the same. A key
/// in a cycle may fail or not: a call that names a merge strategy reads other levels than the tokens
/// that lead back to it. A text with a hash in it has the members in the order of the hash, and
/// hashes with another order are equal: the askers of a hash are followed to the end.
fn add_dependents(side: ComparedSide<'_>, keys: &mut BTreeSet<Arc<str>>) {
    let index = side.snapshot.keys();
    let view = side.snapshot.view(side.environment);
    add_askers(index, keys, keys.clone(), |asker, key| index.in_one_cycle(asker, key));
    // Many files may define one key, and most keys are asked for by no other key.
    let hashes = keys
        .iter()
        .filter(|key| {
            index.is_asked_for(key) && view.root_members(key).any(|it| it.value.as_hash().is_some())
        })
        .cloned()
        .collect();
    add_askers(index, keys, hashes, |_, _| true);
}

/// Adds the keys that ask for one of `of`, directly or through others, as long as `follows` says so
/// of an asker and the key.
fn add_askers(
    index: &KeyIndex,
    keys: &mut BTreeSet<Arc<str>>,
    of: BTreeSet<Arc<str>>,
    follows: impl Fn(&str, &str) -> bool,
) {
    let mut open: Vec<Arc<str>> = of.iter().cloned().collect();
    let mut followed = of;
    while let Some(key) = open.pop() {
        for asker in index.asked_by(&key) {
            if !followed.contains(asker) && follows(asker, &key) {
                followed.insert(asker.clone());
                open.push(asker.clone());
            }
        }
    }
    keys.extend(followed);
}

/// Whether one of the files is no data of the environment, so that it configures it.
pub(super) fn has_config(
    before: ComparedSide<'_>,
    after: ComparedSide<'_>,
    files: &[&FilePath],
) -> bool {
    files.iter().any(|path| !is_data(before, after, path))
}

/// Whether some level can read a file, on one side or the other.
fn is_data(before: ComparedSide<'_>, after: ComparedSide<'_>, path: &FilePath) -> bool {
    before.environment.reaches_file(path) || after.environment.reaches_file(path)
}

/// Returns the keys whose data in a file differ, with those that its options concern.
fn keys_of_file(
    before: ComparedSide<'_>,
    after: ComparedSide<'_>,
    path: &FilePath,
) -> BTreeSet<Arc<str>> {
    let data = |side: ComparedSide<'_>| {
        side.snapshot.view(side.environment).data_of(path).unwrap_or_default()
    };
    let (old, new) = (data(before), data(after));
    if old.refusal().is_some() != new.refusal().is_some() {
        return all_keys(&old).chain(all_keys(&new)).collect();
    }
    let mut keys = keys_with_other_data(&old, &new);
    if keys.contains(LOOKUP_OPTIONS) {
        keys.extend(keys_of_options((before, after), path, &old, &new));
    }
    keys
}

/// Returns the keys whose data differ in two versions of a file, in the order of their bytes.
pub(super) fn keys_with_other_data(old: &DataFile, new: &DataFile) -> BTreeSet<Arc<str>> {
    // Both versions of a file share the parts that are the same, and only the other parts are
    // compared: a file of thousands of keys is compared once for each of its entries.
    let (gone, come) = old.parts().changes_to(new.parts());
    let members = gone.into_iter().chain(come).flat_map(|part| &part.data.members);
    members
        .filter_map(|(key, _)| key.as_arc())
        .inspect(|_| count_work(Work::Step))
        .filter(|key| old.get(key).map(|it| &it.value) != new.get(key).map(|it| &it.value))
        .cloned()
        .collect()
}

/// Returns the keys for which `lookup_options` of a file say something else. Options that Puppet
/// refuses fail the lookups of all keys, or of all keys of the module that has the file: also of
/// those that no file defines, so that the keys that ask for these fail, too.
pub(super) fn keys_of_options(
    (before, after): (ComparedSide<'_>, ComparedSide<'_>),
    path: &FilePath,
    old: &DataFile,
    new: &DataFile,
) -> BTreeSet<Arc<str>> {
    let modules: BTreeSet<Arc<str>> =
        [before, after].iter().flat_map(|side| modules_reading(side.environment, path)).collect();
    let (before, after) = (before.snapshot.keys(), after.snapshot.keys());
    let all = || before.keys().chain(after.keys()).cloned().collect();
    let (Some(old), Some(new)) = (entries(old), entries(new)) else { return all() };
    let names: BTreeSet<&Arc<str>> =
        old.keys().chain(new.keys()).filter(|key| old.get(*key) != new.get(*key)).collect();
    if names
        .iter()
        .any(|name| name.contains("%{") || (name.starts_with('^') && RubyRegex::new(name).is_err()))
    {
        return all();
    }
    let (patterns, literal): (Vec<_>, Vec<_>) =
        names.iter().copied().partition(|name| name.starts_with('^'));
    let mut keys: BTreeSet<Arc<str>> = literal.into_iter().cloned().collect();
    if !patterns.is_empty() {
        keys.extend(
            before
                .keys()
                .chain(after.keys())
                .filter(|key| {
                    let entries = before.options_of(key).chain(after.options_of(key));
                    entries.into_iter().any(|entry| patterns.contains(&&entry.key))
                })
                .cloned(),
        );
    }
    for module in modules {
        let prefix = format!("{module}::");
        if !names.iter().all(|name| name.strip_prefix('^').unwrap_or(name).starts_with(&prefix)) {
            let asked = before.asked_keys().chain(after.asked_keys());
            let all = before.keys().chain(after.keys()).chain(asked);
            keys.extend(all.filter(|key| key.starts_with(&prefix)).cloned());
        }
    }
    keys
}

/// Returns the modules with a level that can read a file.
fn modules_reading(environment: &Environment, path: &FilePath) -> Vec<Arc<str>> {
    let layers = environment.locations_leading_to(path).into_iter();
    let layers = layers.map(|number| &environment.reach[number].layer);
    layers
        .filter_map(|layer| match layer {
            Layer::Module(name) => Some(name.clone()),
            _ => None,
        })
        .collect()
}

/// Whether no more than the `merge` of its `lookup_options` makes a difference to a key: a lookup
/// that names a strategy of its own finds the same before and after. Source: semantics 7.1.
pub(super) fn differs_in_merge_alone(
    (before, after): (ComparedSide<'_>, ComparedSide<'_>),
    key: &str,
    files: &[&FilePath],
) -> bool {
    let value = |side: ComparedSide<'_>, path: &FilePath| {
        let data = side.snapshot.view(side.environment).data_of(path).unwrap_or_default();
        (data.refusal().is_none()).then(|| data.get(key).map(|member| member.value.clone()))
    };
    // A key that asks for other keys asks with the options of these keys.
    let is_simple = |side: ComparedSide<'_>| {
        let index = side.snapshot.keys();
        index.asks_for(key).next().is_none() && !index.has_options_beyond_merge(key)
    };
    !has_config(before, after, files)
        && files.iter().all(|path| {
            let old = value(before, path);
            old.is_some() && old == value(after, path)
        })
        && is_simple(before)
        && is_simple(after)
}

/// Whether `lookup_options` in a file are others.
pub(super) fn has_other_options(
    (before, after): (ComparedSide<'_>, ComparedSide<'_>),
    path: &FilePath,
) -> bool {
    let options = |side: ComparedSide<'_>| {
        let data = side.snapshot.view(side.environment).data_of(path).unwrap_or_default();
        data.get(LOOKUP_OPTIONS).map(|member| member.value.clone())
    };
    options(before) != options(after)
}

/// Returns the entries of the `lookup_options` of a file; `None` for options that are no hash with
/// names.
fn entries(data: &DataFile) -> Option<BTreeMap<Arc<str>, Value>> {
    let Some(options) = data.get(LOOKUP_OPTIONS) else { return Some(BTreeMap::new()) };
    options
        .value
        .as_hash()?
        .iter()
        .map(|(key, member)| Some((key.as_arc()?.clone(), member.value.clone())))
        .collect()
}

fn all_keys(data: &DataFile) -> impl Iterator<Item = Arc<str>> {
    data.keys().filter_map(|key| key.as_arc().cloned())
}
