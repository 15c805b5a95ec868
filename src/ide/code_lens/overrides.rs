//! The other definitions of a key, by the part that the definition in the file has in the effective
//! values of the file's audience.

use std::collections::HashMap;
use std::sync::Arc;

use super::{LensText, MAX_LOOKUPS, list_or_count};
use crate::diagnostics::{CODE, changes_between};
use crate::fleet::audience::{FileAudience, ValueLimits};
use crate::fleet::groups::Groups;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::resolution::Resolution;
use crate::ide::phrases::PlaceNames;
use crate::ide::value_part::{ValuePart, is_redundant, value_part};
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::manifests::CalledMerge;

/// The limits of the lookups for a lens.
const LIMITS: ValueLimits = ValueLimits::OF_KEY;

/// The files that have readers in common with one file.
pub(super) struct SharedReaders<'a> {
    audience: FileAudience<'a>,
    /// Whether a file has readers in common, for files that were asked about.
    known: HashMap<&'a FilePath, bool>,
    /// The number of lookups that were made, or would have been without the known answers.
    lookups: usize,
    /// Which definitions are news.
    news: HashMap<Arc<str>, Arc<News>>,
}

/// Whether the definition of a key has a part that is news.
#[derive(Debug)]
pub(super) struct News {
    is_news: bool,
    /// The number of lookups that decided whether the definition is news.
    lookups: usize,
    /// The root keys that the deciding lookups may have read; `None` for any.
    reads: Option<Box<[Arc<str>]>>,
}

/// The definitions of a file that are news, in a snapshot.
#[derive(Debug)]
pub(super) struct KnownNews {
    snapshot: Snapshot,
    news: HashMap<Arc<str>, Arc<News>>,
}

impl KnownNews {
    /// Returns the answers that are the same in a later snapshot.
    fn answers_in(&self, later: &Snapshot) -> HashMap<Arc<str>, Arc<News>> {
        let changes = changes_between(&self.snapshot, later);
        let Some(changes) = changes.filter(|changes| !changes.keys.contains(CODE)) else {
            return HashMap::new();
        };
        let is_same = |news: &News| {
            let mut reads = news.reads.iter().flatten();
            !changes.is_any()
                || news.reads.is_some() && !reads.any(|key| changes.keys.contains(key))
        };
        let same = self.news.iter().filter(|(_, news)| is_same(news));
        same.map(|(key, news)| (key.clone(), news.clone())).collect()
    }
}

impl<'a> SharedReaders<'a> {
    /// Returns the files that share readers with the file at `path`; `before` are answers about an
    /// earlier version of the file.
    pub(super) fn new(
        snapshot: &'a Snapshot,
        environment: &'a Environment,
        path: &'a FilePath,
        before: Option<&KnownNews>,
    ) -> SharedReaders<'a> {
        SharedReaders {
            audience: FileAudience::new(snapshot, environment, path),
            known: HashMap::new(),
            lookups: 0,
            news: before.map(|before| before.answers_in(snapshot)).unwrap_or_default(),
        }
    }

    /// Returns the answers for the next version of the file.
    pub(super) fn into_known(self) -> KnownNews {
        KnownNews { snapshot: self.audience.snapshot.clone(), news: self.news }
    }

    /// Whether another file defines a key for readers of the file.
    pub(super) fn has_definition(&mut self, key: &str) -> bool {
        let FileAudience { snapshot, environment, path, .. } = self.audience;
        let others = snapshot.keys().definitions(key).iter().filter(|file| *file != path);
        others.filter(|file| environment.reaches_file(file)).any(|file| self.has_readers_of(file))
    }

    /// Whether the definition of a key in the file has a part that is news. `true` where too many
    /// lookups were made to find that out.
    pub(super) fn may_have_news(&mut self, key: &Arc<str>) -> bool {
        if self.lookups >= MAX_LOOKUPS {
            return true;
        }
        let news = match self.news.get(key) {
            Some(known) => known.clone(),
            None => {
                let found = Arc::new(self.find_news(key));
                self.news.insert(key.clone(), found.clone());
                found
            }
        };
        self.lookups += news.lookups;
        news.is_news
    }

    fn find_news(&self, key: &Arc<str>) -> News {
        let value = self.audience.effective_value(&LookupKey::of_root(key), LIMITS, false);
        let lookups = value.groups.iter().map(|group| 1 + group.cases.len()).sum();
        let is_news = Overrides::find(&self.audience, &value, key).is_news();
        let FileAudience { snapshot, environment, .. } = self.audience;
        // Tokens in options ask for keys, too, and a class parameter may decide the strategy.
        let mut read = vec![key.clone(), Arc::from(LOOKUP_OPTIONS)];
        if let CalledMerge::One(call) = snapshot.manifests(environment).called_merge(key) {
            read.extend(call.parameter_key().map(Arc::from));
        }
        News { is_news, lookups, reads: snapshot.keys().reach_of(read.into_iter()) }
    }

    fn has_readers_of(&mut self, file: &'a FilePath) -> bool {
        if let Some(known) = self.known.get(file) {
            return *known;
        }
        let FileAudience { snapshot, environment, path, scope, .. } = &self.audience;
        let own = self.audience.readers();
        let is_shared = if scope.is_node {
            snapshot.may_read(environment, scope, file)
        } else if own.is_empty() {
            snapshot.scope_reading(environment, &[*path, file]).is_some()
        } else {
            let readers = snapshot.readers_of(environment, file);
            readers.all_nodes().any(|(number, _)| own.binary_search(&number).is_ok())
        };
        self.known.insert(file, is_shared);
        is_shared
    }
}

/// The part of a definition in all answers.
#[derive(Default)]
struct Overrides<'a> {
    /// The files above, for nodes that get another value.
    above: Vec<&'a FilePath>,
    /// The number of nodes that get another value, and of the answers that hold for these nodes.
    overridden: (usize, usize),
    /// The files that the definition overrides.
    below: Vec<&'a FilePath>,
    /// The files that the definition is merged with.
    others: Vec<&'a FilePath>,
    /// The files that may change the value of some nodes.
    perhaps: Vec<&'a FilePath>,
    /// Whether no reader gets another value without the definition.
    is_redundant: bool,
}

impl<'a> Overrides<'a> {
    /// Returns the part of the definition of a root key in the audience's file.
    fn find(audience: &FileAudience<'a>, value: &'a Groups, key: &str) -> Overrides<'a> {
        let place = (audience.snapshot, audience.environment, audience.path);
        let mut found = Overrides { is_redundant: value.rest.is_empty(), ..Overrides::default() };
        for group in &value.groups {
            let part = value_part(&group.resolution, audience.path);
            let is_overridden = matches!(part, ValuePart::Overridden { .. });
            found.is_redundant &= is_redundant(place, &group.resolution, &group.scope);
            found.add_part(part, group.nodes.len());
            if is_overridden {
                continue; // Files further above change nothing for this definition.
            }
            group.cases.iter().filter_map(|case| case.resolution.as_ref()).for_each(|case| {
                found.add_case(case, audience.path);
            });
            let are_asked = group.cases.iter().all(|case| case.resolution.is_some());
            if are_asked && !group.cases.is_empty() {
                continue;
            }
            let open = group.resolution.unsettled.iter();
            let open = open.filter(|file| *file.key == *key && !audience.is_foreign_file(file));
            for file in open {
                if !found.perhaps.contains(&&file.path) {
                    found.perhaps.push(&file.path);
                }
            }
        }
        let certain = [&found.above[..], &found.below, &found.others].concat();
        found.perhaps.retain(|file| !certain.contains(file));
        found
    }

    /// Whether there is more to say than that the definition wins over lower levels or is merged
    /// with others, as the hierarchy has it.
    fn is_news(&self) -> bool {
        let has_others = !self.below.is_empty() || !self.others.is_empty();
        !self.above.is_empty() || !self.perhaps.is_empty() || self.is_redundant && has_others
    }

    fn add_part(&mut self, part: ValuePart<'a>, nodes: usize) {
        match part {
            ValuePart::NotRead => {}
            ValuePart::Wins { below } => add_files(&mut self.below, below),
            ValuePart::Merged { others } => add_files(&mut self.others, others),
            ValuePart::Overridden { above } => {
                self.overridden.0 += nodes;
                self.overridden.1 += 1;
                add_files(&mut self.above, above);
            }
        }
    }

    /// Adds the files that change an answer under an assumption.
    fn add_case(&mut self, case: &'a Resolution, path: &FilePath) {
        match value_part(case, path) {
            ValuePart::Overridden { above: files } | ValuePart::Merged { others: files } => {
                add_files(&mut self.perhaps, files);
            }
            ValuePart::Wins { .. } | ValuePart::NotRead => {}
        }
    }
}

fn add_files<'a>(files: &mut Vec<&'a FilePath>, met: Vec<&'a FilePath>) {
    for path in met {
        if !files.contains(&path) {
            files.push(path);
        }
    }
}

/// Returns the definitions above and below the one in the file, or their number, and their effect
/// on it; `None` where no reader of the file meets another definition.
pub(super) fn override_text(
    snapshot: &Snapshot,
    environment: &Environment,
    path: &FilePath,
    key: &Arc<str>,
) -> Option<LensText> {
    let audience = FileAudience::new(snapshot, environment, path);
    let value = audience.effective_value(&LookupKey::of_root(key), LIMITS, false);
    let found = Overrides::find(&audience, &value, key);
    let names = PlaceNames { snapshot, root: &environment.root };
    let phrases = describe_overrides(&names, &found, value.groups.len(), &audience);
    if phrases.is_empty() {
        return None;
    }
    let named = [&found.above[..], &found.below, &found.others, &found.perhaps, &[path]].concat();
    let places = definition_spans(snapshot, environment, key, &named);
    Some(LensText { title: phrases.join(" · "), places })
}

/// Returns the places in these files where they define a key.
fn definition_spans(
    snapshot: &Snapshot,
    environment: &Environment,
    key: &str,
    files: &[&FilePath],
) -> Vec<Span> {
    let view = snapshot.view(environment);
    view.root_members(key)
        .filter_map(|member| member.key_origin)
        .filter(|span| snapshot.path_of(span.file).is_some_and(|path| files.contains(&path)))
        .collect()
}

/// Returns the phrases about a definition.
fn describe_overrides(
    names: &PlaceNames<'_>,
    found: &Overrides<'_>,
    answers: usize,
    audience: &FileAudience<'_>,
) -> Vec<String> {
    let mut phrases = Vec::new();
    if !found.above.is_empty() {
        let (nodes, overridden) = found.overridden;
        let for_whom = if overridden == answers {
            String::new()
        } else {
            format!(" for {nodes} of {} nodes", audience.readers().len())
        };
        phrases.push(format!("overridden by {}{for_whom}", list_files(&found.above, names)));
    }
    match &found.below[..] {
        [] => {}
        [next, ..] if found.is_redundant => {
            phrases.push(format!("same as {}: redundant", names.short_path(next)));
        }
        below => phrases.push(format!("overrides {}", list_files(below, names))),
    }
    match &found.others[..] {
        [] => {}
        others if found.is_redundant => {
            phrases.push(format!("adds nothing to {}: redundant", list_files(others, names)));
        }
        others => phrases.push(format!("merged with {}", list_files(others, names))),
    }
    if !found.perhaps.is_empty() {
        let verb = if found.others.is_empty() { "overridden by" } else { "merged with" };
        phrases.push(format!("{verb} {} for some nodes", list_files(&found.perhaps, names)));
    }
    phrases
}

fn list_files(files: &[&FilePath], names: &PlaceNames<'_>) -> String {
    let files: Vec<String> = files.iter().map(|path| names.short_path(path).to_owned()).collect();
    list_or_count(&files, "files")
}
