//! An upgrade of Puppet, rehearsed: one tree, read as two versions of Puppet read it.
//!
//! Every key is looked up for every node in both versions, as Puppet does: a file or a config that a
//! version refuses fails all lookups of its readers. Each change has its causes: places in the data
//! and the configs that the later version reads otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::changes::EnvironmentChanges;
use super::edits::{Edit, EditKind};
use super::key_change::KeyChange;
use super::nodes::NodeChoice;
use super::whole::find_whole_changes;
use super::{ComparedSide, environment_after};
use crate::fleet::node_caches::NodeCaches;
use crate::hiera::config::{ConfigVersion, HieraConfig, Level, Template};
use crate::hiera::data::Reference;
use crate::hiera::error::{LookupError, LookupErrorKind};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::resolution::{LookupStep, Outcome, Resolution};
use crate::puppet::LegacyFacts;
use crate::puppet::legacy_facts::{structured_fact, written_legacy_fact};
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;

/// Returns what the version after changes in each environment, for the chosen nodes, with the places
/// that cause it. `None` when cancelled.
pub fn find_upgrade_changes<'a>(
    before: &'a Snapshot,
    after: &'a Snapshot,
    choice: &NodeChoice<'_>,
) -> Option<Vec<(EnvironmentChanges<'a>, Vec<Edit>)>> {
    let mut all = Vec::new();
    for environment in &before.environments().all {
        let Some(later) = environment_after(before, after, environment) else { continue };
        let caches = NodeCaches::default();
        let sides = (
            ComparedSide { snapshot: before, environment, caches: &caches },
            ComparedSide { snapshot: after, environment: later, caches: &caches },
        );
        let keys: BTreeSet<&Arc<str>> = before.keys().keys().chain(after.keys().keys()).collect();
        let keys = keys.into_iter().filter(|key| ***key != *LOOKUP_OPTIONS);
        let keys: Vec<LookupKey> = keys.map(|key| LookupKey::of_root(key)).collect();
        let of_nodes = (choice, choice.known_in(all.len()));
        let changes = find_whole_changes((before, environment), (after, later), &keys, of_nodes)?;
        let mut causes = Causes { after: sides.1, found: static_causes(sides) };
        changes.changes.iter().for_each(|change| causes.complete(change));
        all.push((changes, causes.found));
    }
    Some(all)
}

/// Returns the numbers of the edits that cause a change.
pub fn causes_of_change(
    after: (&Snapshot, &Environment),
    change: &KeyChange,
    edits: &[Edit],
) -> Vec<usize> {
    let caches = NodeCaches::default();
    let after = ComparedSide { snapshot: after.0, environment: after.1, caches: &caches };
    let select = |is_it: &dyn Fn(&Edit) -> bool| -> Vec<usize> {
        let all = edits.iter().enumerate().filter(|(_, edit)| is_it(edit));
        all.map(|(number, _)| number).collect()
    };
    if let Err(error) = &change.after.value {
        let failure = FailureCause::of_error(after, error);
        return select(&|edit| failure.is_at(edit));
    }
    let silent = silent_templates(change);
    let found = select(&|edit| edit.span.is_some_and(|span| silent.contains(&span)));
    if !found.is_empty() {
        return found;
    }
    let keys = keys_read(change);
    let found = select(&|edit| edit.key.as_ref().is_some_and(|key| keys.contains(&**key)));
    if !found.is_empty() {
        return found;
    }
    let found = select(&|edit| edit.key.is_none());
    if found.is_empty() { (0..edits.len()).collect() } else { found }
}

/// The causes of changes, found one after the other.
struct Causes<'a> {
    after: ComparedSide<'a>,
    found: Vec<Edit>,
}

impl Causes<'_> {
    /// Adds the cause of a change that none of the known ones is.
    fn complete(&mut self, change: &KeyChange) {
        match &change.after.value {
            Err(error) => {
                let failure = FailureCause::of_error(self.after, error);
                if self.found.iter().any(|edit| failure.is_at(edit)) {
                    return;
                }
                let FailureCause { path, key, note, .. } = failure;
                let (kind, span) = (EditKind::Fails, error.span);
                self.found.push(Edit { path, key, kind, span, note: Some(note) });
            }
            Ok(_) if self.found.is_empty() => {
                let path = config_path(self.after.environment);
                let note = Some("the versions answer otherwise".to_owned());
                self.found.push(Edit { path, key: None, kind: EditKind::Other, span: None, note });
            }
            Ok(_) => {}
        }
    }
}

/// Returns the places that the versions read otherwise whatever the nodes are: legacy facts in data
/// and configs, and a setting that the version after ignores.
fn static_causes((before, after): (ComparedSide<'_>, ComparedSide<'_>)) -> Vec<Edit> {
    let mut found = Vec::new();
    let lacks = |side: ComparedSide<'_>| {
        let config = side.snapshot.config_of(side.environment);
        config.puppet.legacy_facts == LegacyFacts::LeftOut
    };
    if lacks(after) && !lacks(before) {
        for (_, config) in after.environment.all_configs() {
            found.extend(legacy_facts_of_config(config));
        }
        for file in after.snapshot.files() {
            if after.environment.reaches_file(&file.path) {
                found.extend(legacy_facts_of_data(after, &file.path));
            }
        }
    }
    found.extend(failing_configs((before, after)));
    let provider = |side: ComparedSide<'_>| {
        side.snapshot.environment_data_provider(side.environment).filter(|(_, name)| name != "none")
    };
    if let (Some((path, name)), None) = (provider(before), provider(after)) {
        let note = format!(
            "environment_data_provider = {name} is ignored: a hiera.yaml of version 5 takes its place"
        );
        let kind = EditKind::Setting;
        found.push(Edit { path, key: None, kind, span: None, note: Some(note) });
    }
    let refused = |side: ComparedSide<'_>| -> BTreeMap<FilePath, String> {
        let all = side.environment.refused.iter();
        all.map(|module| (module.metadata.clone(), module.name.clone())).collect()
    };
    let known = refused(before);
    for (path, name) in refused(after).into_iter().filter(|(path, _)| !known.contains_key(path)) {
        let note = Some(format!("the module '{name}' is passed over (rule refused-module)"));
        found.push(Edit { path, key: None, kind: EditKind::Setting, span: None, note });
    }
    found
}

/// Returns the configs for which only the version after fails each lookup.
fn failing_configs((before, after): (ComparedSide<'_>, ComparedSide<'_>)) -> Vec<Edit> {
    let failing = |side: ComparedSide<'_>| -> BTreeMap<FilePath, Edit> {
        let puppet = side.snapshot.config_of(side.environment).puppet;
        let configs = side.environment.all_configs().map(|(_, config)| &**config);
        let configs = configs.filter(|config| !config.is_passed_over(puppet));
        configs
            .filter_map(|config| {
                let error = config.lookup_error(config.fatal_problem()?);
                let FailureCause { path, key, note, .. } = FailureCause::of_error(side, &error);
                let (kind, span) = (EditKind::Fails, error.span);
                Some((config.path.clone(), Edit { path, key, kind, span, note: Some(note) }))
            })
            .collect()
    };
    let known = failing(before);
    let new = failing(after).into_iter().filter(|(path, _)| !known.contains_key(path));
    new.map(|(_, edit)| edit).collect()
}

fn legacy_facts_of_config(config: &HieraConfig) -> Vec<Edit> {
    let templates = config.levels().flat_map(|level| level.templates().map(move |it| (level, it)));
    templates
        .filter_map(|(level, template): (&Arc<Level>, &Template)| {
            let facts = legacy_facts_in(&template.text);
            (!facts.is_empty()).then(|| Edit {
                path: config.path.clone(),
                key: None,
                kind: EditKind::LegacyFact,
                span: template.span,
                note: Some(format!(
                    "level '{}': {} (code action 'Use structured facts')",
                    level.name,
                    facts_phrase(&facts)
                )),
            })
        })
        .collect()
}

/// Legacy facts as written, with the structured ones.
type WrittenFacts = Vec<(String, &'static str)>;

/// Returns the entries of a data file that name legacy facts.
fn legacy_facts_of_data(side: ComparedSide<'_>, path: &FilePath) -> Vec<Edit> {
    let data = side.snapshot.view(side.environment).data_of(path).unwrap_or_default();
    let text = side.snapshot.file(path).and_then(|file| file.text());
    let mut of_keys: BTreeMap<Arc<str>, (Span, WrittenFacts)> = BTreeMap::new();
    for token in data.tokens() {
        let (Reference::Variable(_), Some(text)) = (&token.reference, &text) else { continue };
        let written = text.slice(side.snapshot.span_bytes(token.name_span())).into_owned();
        if let Some((_, new)) = written_legacy_fact(&written) {
            let (_, facts) =
                of_keys.entry(token.root.clone()).or_insert((token.name_span(), Vec::new()));
            facts.push((written, new));
        }
    }
    let edit = |(key, (span, facts)): (Arc<str>, (Span, WrittenFacts))| Edit {
        path: path.clone(),
        key: Some(key),
        kind: EditKind::LegacyFact,
        span: Some(span),
        note: Some(format!(
            "{} (rule legacy-fact: check --fix --unsafe-fixes)",
            facts_phrase(&facts)
        )),
    };
    let mut edits: Vec<Edit> = of_keys.into_iter().map(edit).collect();
    edits.sort_by_key(|edit| edit.span.map(|span| side.snapshot.span_bytes(span).start));
    edits
}

/// Returns the legacy facts in the tokens of a text, as written, with the structured ones.
fn legacy_facts_in(text: &str) -> WrittenFacts {
    let tokens = text.match_indices("%{").filter_map(|(at, _)| {
        let inner = &text[at + 2..];
        Some(inner[..inner.find('}')?].trim())
    });
    tokens.filter_map(|name| Some((name.to_owned(), written_legacy_fact(name)?.1))).collect()
}

fn facts_phrase(facts: &[(String, &'static str)]) -> String {
    let mut phrases: Vec<String> = Vec::new();
    for (written, new) in facts {
        let phrase = format!("'{written}' is gone, 'facts.{new}' has its value");
        if !phrases.contains(&phrase) {
            phrases.push(phrase);
        }
    }
    phrases.join("; ")
}

/// A failure of lookups.
struct FailureCause {
    /// The file at which the lookups fail.
    path: FilePath,
    /// The root key, of data.
    key: Option<Arc<str>>,
    /// Whether a legacy fact is undefined.
    is_of_fact: bool,
    /// The words for the failure with its fix. They quote no data.
    note: String,
}

impl FailureCause {
    fn of_error(side: ComparedSide<'_>, error: &LookupError) -> FailureCause {
        let (path, key) = place_of_error(side, error);
        let config = side.environment.config_at(&path);
        let fix = config.map_or("", |config| fix_of_config(config));
        let mut is_of_fact = false;
        let note = match &*error.kind {
            LookupErrorKind::UndefinedVariable(name) => {
                is_of_fact = structured_fact(name.trim_start_matches("::")).is_some();
                format!(
                    "variable '{name}' is undefined, which fails with strict=error: define it, or set strict=warning{fix}"
                )
            }
            LookupErrorKind::File { .. } => "the file is refused (rule not-a-hash)".to_owned(),
            LookupErrorKind::Config(message)
            | LookupErrorKind::ConfigSyntax(message)
            | LookupErrorKind::ConfigType(message)
            | LookupErrorKind::Missing(message) => {
                // Reports name the file in their own way.
                let words = message.split(" (file: ").next().unwrap_or(message);
                format!("{words}{fix}")
            }
            _ => format!("lookups fail{fix}"),
        };
        FailureCause { path, key, is_of_fact, note }
    }

    /// Whether an edit is this failure, or the legacy fact that it asks for.
    fn is_at(&self, edit: &Edit) -> bool {
        let is_it = match edit.kind {
            EditKind::LegacyFact => self.is_of_fact,
            _ => edit.note.as_ref() == Some(&self.note),
        };
        is_it && edit.path == self.path && edit.key == self.key
    }
}

/// Returns the file of an error, and of data the root key.
fn place_of_error(side: ComparedSide<'_>, error: &LookupError) -> (FilePath, Option<Arc<str>>) {
    let config = || config_path(side.environment);
    if let LookupErrorKind::File { path, .. } = &*error.kind {
        return (path.clone(), None);
    }
    let Some(span) = error.span else { return (config(), None) };
    let Some(path) = side.snapshot.path_of(span.file) else { return (config(), None) };
    let data = side.snapshot.view(side.environment).data_of(path).unwrap_or_default();
    let at = side.snapshot.span_bytes(span);
    let is_there = |place: Span| side.snapshot.span_bytes(place).contains_range(at);
    let token = data.tokens().find(|token| is_there(token.string_span) || is_there(token.span()));
    (path.clone(), token.map(|token| token.root.clone()))
}

/// Returns the remark about the fix of a config of an old version.
fn fix_of_config(config: &HieraConfig) -> &'static str {
    match config.version {
        ConfigVersion::V3 | ConfigVersion::V4 => {
            " (code action 'Convert to version 5 of hiera.yaml')"
        }
        ConfigVersion::V5 => "",
    }
}

fn config_path(environment: &Environment) -> FilePath {
    let config = environment.governing_config().map(|config| config.path.clone());
    config.unwrap_or_else(|| environment.root.clone())
}

/// Returns the places of the locations that give a value in one version, and in the other do not name
/// the file of that value.
///
/// The lookups may be of two nodes: all nodes of an answer read the files with the key by the same
/// locations, and other files by others, so that only files with the key are compared. A location that
/// one lookup did not come to is not silent.
fn silent_templates(change: &KeyChange) -> Vec<Span> {
    let (before, after): (&Resolution, &Resolution) = (&change.before, &change.after);
    let found = |one: &LookupStep| match &one.outcome {
        Outcome::Found { path, .. } => Some(path.clone()),
        _ => None,
    };
    let mut silent = Vec::new();
    for (one, other) in [(before, after), (after, before)] {
        for step in &one.steps {
            let (Some(path), Some(template)) = (found(step), &step.template) else { continue };
            let mut reached = other
                .steps
                .iter()
                .filter(|step| {
                    step.template.as_ref() == Some(template)
                        && !matches!(step.outcome, Outcome::NotReached { .. })
                })
                .map(found)
                .peekable();
            if reached.peek().is_some() && !reached.any(|other| other.as_ref() == Some(&path)) {
                silent.extend(template.span);
            }
        }
    }
    silent
}

/// Returns the root keys that an answer needs: its own, and those of tokens.
fn keys_read(change: &KeyChange) -> BTreeSet<Arc<str>> {
    let sides = [&change.before, &change.after];
    let asked = sides.into_iter().flat_map(|side| side.asked_roots());
    asked.chain([change.key.clone()]).collect()
}
