//! One question asked of several features at random places of random repositories: hover,
//! definition, hints, lenses, the page that explains a key, completion and lookups of single nodes
//! must not contradict one another. The numbers in titles of refactorings are compared in
//! `refactorings`.
//!
//! `HIERA_LS_RANDOM` sets how many places are asked, `HIERA_LS_SEED` repeats a run.

mod generate;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use hiera_ls::fleet::audience::{FileAudience, ValueLimits};
use hiera_ls::fleet::groups::{Case, Group, Groups};
use hiera_ls::hiera::key::{KeySegment, LookupKey};
use hiera_ls::hiera::resolution::{Outcome, Resolution};
use hiera_ls::hiera::scope::{Scope, Variable};
use hiera_ls::ide::code_lens::{LensKind, lens_text};
use hiera_ls::ide::completion::{Topic, resolve};
use hiera_ls::ide::definition::find_definitions;
use hiera_ls::ide::evaluation::Evaluations;
use hiera_ls::ide::hover::{HoverConfig, hover};
use hiera_ls::ide::inlay_hints::{Hint, HintConfig, inlay_hints};
use hiera_ls::ide::story::explain_key;
use hiera_ls::puppet::print::{self, PrintOptions};
use hiera_ls::puppet::value::Value;
use hiera_ls::settings::open;
use hiera_ls::text::{FilePath, FilePosition, SourceChange, TextEdit, TextRange};
use hiera_ls::workspace::environments::Environment;
use hiera_ls::workspace::{Change, Snapshot};

use crate::support::random::{self, Random};

/// The places of one repository that are asked.
const PLACES: usize = 40;
/// The places that a run asks without `HIERA_LS_RANDOM`.
const SHARE: usize = 600;

/// A place: a root key, or a token that asks for a key.
struct Place {
    path: FilePath,
    position: FilePosition,
    /// The bytes of the key, or of the token.
    range: TextRange,
    key: LookupKey,
    is_token: bool,
}

/// The comparisons that were made, by kind.
#[derive(Debug, Default)]
struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    fn count(&mut self, kind: &'static str) {
        *self.0.entry(kind).or_default() += 1;
    }
}

#[test]
fn features_agree_at_random_places() {
    let seed = random::seed("features_agree_at_random_places");
    let wanted = random::count(SHARE);
    let mut random = Random::new(seed);
    let (mut tally, mut asked, mut number) = (Tally::default(), 0, 0);
    let mut contradictions: Vec<String> = Vec::new();
    while asked < wanted {
        let fs = generate::write_repository(&mut random);
        let mut workspace = open(vec![generate::root()], &[], Vec::new(), &fs).workspace;
        if random.one_in(3) {
            let snapshot = workspace.snapshot();
            let environment = &snapshot.environments().all[0];
            let nodes = snapshot.nodes_of(environment);
            let chosen = (!nodes.is_empty()).then(|| random.pick(nodes).name.to_string());
            workspace.apply(Change::SelectNode(chosen));
        }
        let snapshot = workspace.snapshot();
        for place in random_places(&snapshot, PLACES.min(wanted - asked), &mut random) {
            asked += 1;
            let question = Question::new(&snapshot, &place, &mut tally);
            for text in question.contradictions() {
                let at = format!("{}:{}", place.path, place.range.start);
                let chosen = snapshot.selected_node().unwrap_or("none");
                contradictions.push(format!(
                    "repository {number}, {at} {}, chosen node {chosen}: {text}",
                    place.key.text
                ));
                if contradictions.len() == 1 {
                    contradictions.push(texts(&snapshot));
                }
            }
        }
        number += 1;
        if contradictions.len() > 20 {
            break;
        }
    }
    eprintln!("{asked} places of {number} repositories: {tally:?}");
    assert!(contradictions.is_empty(), "HIERA_LS_SEED={seed}\n{}", contradictions.join("\n"));
    let kinds = ["places", "hint", "lens", "redundant", "page", "completion", "node", "case"];
    let missing: Vec<_> = kinds.iter().filter(|kind| !tally.0.contains_key(*kind)).collect();
    assert!(wanted < SHARE || missing.is_empty(), "not compared: {missing:?}");
}

/// Returns the files of a repository.
fn texts(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    for file in snapshot.files() {
        let text = file.text().map(|text| text.to_str().into_owned()).unwrap_or_default();
        let _ = writeln!(out, "#- {}\n{}", file.path, text.trim_end());
    }
    out
}

/// Returns places in data files: keys and tokens that ask for keys.
fn random_places(snapshot: &Snapshot, count: usize, random: &mut Random) -> Vec<Place> {
    let environment = &snapshot.environments().all[0];
    let view = snapshot.view(environment);
    let mut all = Vec::new();
    for file in snapshot.files().filter(|file| environment.reaches_file(&file.path)) {
        let Some(data) = view.data_of(&file.path) else { continue };
        let place = |range: TextRange, key: LookupKey, is_token: bool| Place {
            path: file.path.clone(),
            position: FilePosition { file: file.id, offset: range.start },
            range,
            key,
            is_token,
        };
        for (name, member) in data.members() {
            let (Some(name), Some(origin)) = (name.as_str(), member.key_origin) else { continue };
            if name != "lookup_options" {
                all.push(place(snapshot.span_bytes(origin), LookupKey::of_root(name), false));
            }
        }
        for token in data.tokens() {
            let Some(key) = token.reference.key() else { continue };
            let name = snapshot.span_bytes(token.name_span);
            let mut found = place(snapshot.span_bytes(token.span), key.clone(), true);
            found.position.offset = name.start;
            all.push(found);
        }
    }
    (0..count.min(all.len())).map(|_| all.swap_remove(random.below(all.len()))).collect()
}

/// A place, with the answers that the nodes of its audience get.
struct Question<'a> {
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    place: &'a Place,
    tally: std::cell::RefCell<&'a mut Tally>,
    audience: FileAudience<'a>,
    root: LookupKey,
    found: Groups,
}

impl<'a> Question<'a> {
    fn new(snapshot: &'a Snapshot, place: &'a Place, tally: &'a mut Tally) -> Question<'a> {
        let environment = &snapshot.environments().all[0];
        let audience = FileAudience::new(snapshot, environment, &place.path);
        let root = LookupKey::of_root(&place.key.root_text());
        let found = audience.effective_value(&root, ValueLimits::OF_KEY, false);
        Question { snapshot, environment, place, tally: tally.into(), audience, root, found }
    }

    /// Returns the contradictions, in words.
    fn contradictions(&self) -> Vec<String> {
        let mut all = Vec::new();
        all.extend(self.compare_nodes());
        all.extend(self.compare_cases());
        all.extend(self.compare_places());
        all.extend(self.compare_page());
        if self.place.is_token {
            all.extend(self.compare_hint());
            all.extend(self.compare_completion());
        } else {
            all.extend(self.compare_lens());
        }
        all
    }

    fn count(&self, kind: &'static str) {
        self.tally.borrow_mut().count(kind);
    }

    /// Returns the scopes of the known nodes that read the file, or the scope of the file.
    fn scopes(&self) -> Vec<std::sync::Arc<Scope>> {
        let nodes = self.snapshot.nodes_of(self.environment);
        let readers = self.audience.readers();
        match readers.is_empty() {
            true => vec![self.audience.scope.clone()],
            false => readers.iter().map(|it| nodes[*it].scope_in(&self.environment.name)).collect(),
        }
    }

    fn value_in(&self, scope: &Scope) -> Result<Option<Value>, ()> {
        self.audience.look_up(&self.root, scope, false).value.map_err(|_| ())
    }

    /// Compares the value of each group with a lookup for each of its nodes.
    fn compare_nodes(&self) -> Option<String> {
        let nodes = self.snapshot.nodes_of(self.environment);
        for Group { nodes: numbers, resolution, .. } in &self.found.groups {
            let value = resolution.value.clone().map_err(|_| ());
            for node in numbers.iter().map(|number| &nodes[*number]) {
                self.count("node");
                if self.value_in(&node.scope_in(&self.environment.name)) != value {
                    return Some(format!("node {} has another value than its group", node.name));
                }
            }
        }
        None
    }

    /// Compares the first case whose assumption holds with a lookup in which the unknown variables
    /// have values.
    fn compare_cases(&self) -> Option<String> {
        for Group { scope, cases, .. } in &self.found.groups {
            for case in cases.iter().filter(|case| !case.when.is_empty()) {
                let Some(resolution) = &case.resolution else { continue };
                let mut assumed = (**scope).clone();
                assumed.assume_values(&case.when.iter().cloned().collect());
                let looked_up = self.audience.look_up(&self.root, &assumed, false);
                let holds = |(name, value): &(String, String)| {
                    let known = Value::from_argument(value);
                    assumed.get_path(name) == Variable::Known(known)
                };
                let is_first = |one: &Case| one.when.iter().all(holds);
                let first = cases.iter().find(|one| is_first(one));
                if first.is_some_and(|first| !std::ptr::eq(first, case))
                    || !looked_up.unsettled.is_empty()
                    || !resolution.unsettled.is_empty()
                {
                    continue; // An assumption above says more.
                }
                self.count("case");
                let known = resolution.value.clone().map_err(|_| ());
                if looked_up.value.clone().map_err(|_| ()) != known {
                    return Some(format!("the case {:?} has another value by lookup", case.when));
                }
            }
        }
        None
    }

    fn hover_text(&self) -> String {
        let link = |path: &FilePath, line: u32| format!("file://{path}#L{line}");
        let config = HoverConfig {
            markdown: true,
            link: Some(&link),
            max_value_lines: 40,
            max_locations: 40,
            ..HoverConfig::default()
        };
        hover(self.snapshot, self.place.position, &config).map(|it| it.text).unwrap_or_default()
    }

    /// Compares the files that the hover names as those of the value with the targets of go to
    /// definition.
    fn compare_places(&self) -> Option<String> {
        let definitions = find_definitions(self.snapshot, self.place.position)?;
        let targets: BTreeSet<String> =
            definitions.targets.iter().map(|target| target.path.to_string()).collect();
        let text = self.hover_text();
        let (mut named, mut is_whole) = (BTreeSet::new(), true);
        for line in text.lines() {
            let from = line.strip_prefix("from ").or_else(|| line.split_once(" ← ").map(|it| it.1));
            let from = from.or_else(|| line.starts_with("merged ").then_some(line));
            let Some(from) = from else { continue };
            // The place of the merge strategy is no place of the value.
            let from = from.split(" · set in ").next().unwrap_or(from);
            is_whole &= !from.contains(" more") && !from.contains("other");
            named.extend(linked_files(from));
        }
        if named.is_empty() {
            return None;
        }
        self.count("places");
        let foreign: Vec<&String> = named.difference(&targets).collect();
        if !foreign.is_empty() {
            return Some(format!("hover names {foreign:?}, definition {targets:?}\n{text}"));
        }
        let is_own = |path: &String| *path == *self.place.path.as_str();
        let untold: Vec<&String> =
            targets.difference(&named).filter(|path| !is_own(path)).collect();
        // Where the value is the same in all groups, each place is named.
        let is_one = self.found.groups.len() == 1 && self.found.groups[0].cases.is_empty();
        match is_whole && is_one && !untold.is_empty() {
            true => Some(format!("definition leads to {untold:?}, which no hover names\n{text}")),
            false => None,
        }
    }

    /// Returns the files that the values come from, by the steps of the lookups.
    fn sources(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for resolution in self.found.groups.iter().flat_map(|group| group.resolutions()) {
            all.extend(sources_of(resolution, &self.place.key));
        }
        all
    }

    /// Compares the places that the page marks as those of the value with the steps.
    fn compare_page(&self) -> Option<String> {
        let evaluations = Evaluations::default();
        let key = &self.place.key;
        let page = explain_key(self.snapshot, &self.place.path, key, &evaluations)?;
        let (own, _) = page.text.split_once("\nAs puppet lookup")?;
        let (_, table) = own.split_once("Places, in the order of the hierarchy\n")?;
        self.count("page");
        let sources = self.sources();
        let mut named = BTreeSet::new();
        for line in table.lines() {
            if !line.contains("  the value") && !line.contains("  merged") {
                continue;
            }
            let place = line.split_whitespace().find(|word| word.starts_with("data/"));
            let path = place.and_then(|place| place.rsplit_once(':'));
            named.extend(path.map(|(path, _)| format!("{}/{path}", generate::ROOT)));
        }
        let foreign: Vec<&String> = named.difference(&sources).collect();
        (!foreign.is_empty()).then(|| format!("page names {foreign:?} of {sources:?}\n{own}"))
    }

    /// Compares the hint with the values that each reader gets.
    fn compare_hint(&self) -> Option<String> {
        let config = HintConfig { token_values: true, parameter_types: false };
        let hints = inlay_hints(self.snapshot, &self.place.path, self.place.range, config);
        let own = hints.iter().find(|hint| hint.offset == self.place.range.end);
        let values: Option<Vec<Option<Value>>> = self
            .scopes()
            .iter()
            .map(|scope| {
                let value = self.value_in(scope).ok()?;
                Some(value.and_then(|value| part(&self.place.key, &value)))
            })
            .collect();
        let Some(Hint { text, .. }) = own else { return None };
        self.count("hint");
        let shown = text.trim_start_matches("= ").trim_end_matches('…');
        for value in values? {
            let printed = value.map(|it| print::print_inline(&it, &PrintOptions::default()));
            if printed.as_ref().is_none_or(|printed| !printed.starts_with(shown)) {
                return Some(format!("hint {text:?}, a reader has {printed:?}"));
            }
        }
        let hovered = self.hover_text();
        match hovered.contains("where ") && hovered.contains("otherwise") {
            true => Some(format!("hint {text:?}, and the hover has several values\n{hovered}")),
            false => None,
        }
    }

    /// Compares the explanation of a completed key with the hover of the token.
    fn compare_completion(&self) -> Option<String> {
        self.count("completion");
        let config = HoverConfig::default();
        let topic = Topic::Key(self.place.key.text.to_string());
        let told = resolve::resolve(self.snapshot, &self.place.path, &topic, &config);
        let hovered = hover(self.snapshot, self.place.position, &config);
        let hovered = hovered.map(|it| it.text.trim().to_owned());
        (told != hovered).then(|| format!("completion tells {told:?}, hover {hovered:?}"))
    }

    /// Compares the claims of a lens with the lookups of the readers.
    fn compare_lens(&self) -> Option<String> {
        let key = std::sync::Arc::from(&*self.place.key.text);
        let kind = LensKind::Overrides;
        let lens = lens_text(self.snapshot, &self.place.path, &key, kind);
        let scopes = self.scopes();
        let own = self.place.path.as_str();
        let (mut overridden, mut others) = (0, BTreeSet::new());
        for scope in &scopes {
            let resolution = self.audience.look_up(&self.root, scope, false);
            let met = met_files(&resolution);
            let is_met = met.iter().any(|path| path == own);
            let wins = met.first().is_some_and(|path| path == own);
            overridden += usize::from(resolution.merge.stops_at_first() && is_met && !wins);
            if is_met {
                others.extend(met.into_iter().filter(|path| path != own));
            }
        }
        self.count("lens");
        let Some(lens) = lens else {
            return (!others.is_empty()).then(|| format!("no lens, other places are {others:?}"));
        };
        for claim in lens.title.split(" · ") {
            if let Some(claim) = claim.strip_prefix("overridden by ") {
                let stated = claim.rsplit_once(" for ").and_then(|(_, it)| it.split_once(" of "));
                let stated = stated.and_then(|(count, _)| count.parse::<usize>().ok());
                let is_known = !self.audience.readers().is_empty();
                let expected = stated.unwrap_or(scopes.len());
                let is_certain = !claim.ends_with("for some nodes");
                if is_certain && is_known && overridden != expected {
                    return Some(format!("lens {:?}, by lookup {overridden}", lens.title));
                }
            }
            if claim.contains("redundant") {
                self.count("redundant");
                if let Some(text) = self.compare_redundant(&scopes) {
                    return Some(format!("lens {:?}, {text}", lens.title));
                }
            }
        }
        None
    }

    /// Compares the values of the readers with and without the entry.
    fn compare_redundant(&self, scopes: &[std::sync::Arc<Scope>]) -> Option<String> {
        let file = self.snapshot.file(&self.place.path)?;
        let text = file.text()?.to_str().into_owned();
        let start = self.place.range.start as usize;
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at + 1);
        let edit = TextEdit::new(TextRange::from_usize(start..end), "");
        let mut change = SourceChange::default();
        change.push(&self.place.path, edit);
        let after = self.snapshot.after_change(&change)?;
        let environment = &after.environments().all[0];
        let audience = FileAudience::new(&after, environment, &self.place.path);
        for scope in scopes {
            let later = audience.look_up(&self.root, scope, false).value.map_err(|_| ());
            if later != self.value_in(scope) {
                return Some(format!("{} has another value without it", scope.name));
            }
        }
        None
    }
}

/// Returns the part of a root value that a key names.
fn part(key: &LookupKey, value: &Value) -> Option<Value> {
    let mut value = value.clone();
    for segment in &key.subkeys {
        let name = match segment {
            KeySegment::Name(name) => name.to_string(),
            KeySegment::Index(_) => return None,
        };
        value = value.get(&name)?.clone();
    }
    Some(value)
}

/// Returns the files that a lookup finds the key in, those that it does not reach included, highest
/// priority first.
fn met_files(resolution: &Resolution) -> Vec<String> {
    let mut met = Vec::new();
    for step in &resolution.steps {
        let path = match &step.outcome {
            Outcome::Found { path, .. } => path,
            Outcome::NotReached { path: Some(path), shadowed: Some(_), .. } => path,
            _ => continue,
        };
        if !met.contains(&path.to_string()) {
            met.push(path.to_string());
        }
    }
    met
}

/// Returns the files whose value, or part of it, a lookup returns.
fn sources_of(resolution: &Resolution, key: &LookupKey) -> Vec<String> {
    let found = resolution.steps.iter().filter_map(|step| match &step.outcome {
        Outcome::Found { path, value, .. } => Some((path.to_string(), part(key, value).is_some())),
        _ => None,
    });
    found.filter(|(_, has_part)| *has_part).map(|(path, _)| path).collect()
}

/// Returns the files that links in Markdown lead to.
fn linked_files(text: &str) -> Vec<String> {
    let links = text.split("(file://").skip(1);
    links.filter_map(|link| link.split_once('#').map(|(path, _)| path.to_owned())).collect()
}
