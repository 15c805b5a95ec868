//! The answers of all features at one place, compared.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use hiera_ls::fleet::audience::{FileAudience, ValueLimits};
use hiera_ls::fleet::groups::{Case, Group, Groups};
use hiera_ls::hiera::key::{KeySegment, LookupKey};
use hiera_ls::hiera::pattern::Bindings;
use hiera_ls::hiera::resolution::{Outcome, Resolution};
use hiera_ls::hiera::scope::{Scope, Variable};
use hiera_ls::ide::code_lens::{LensKind, LensText, lens_text};
use hiera_ls::ide::completion::{CompletionConfig, Topic, complete_at, resolve};
use hiera_ls::ide::definition::find_definitions;
use hiera_ls::ide::evaluation::Evaluations;
use hiera_ls::ide::hover::{HoverConfig, hover};
use hiera_ls::ide::inlay_hints::{HintConfig, inlay_hints};
use hiera_ls::ide::refactor::{RefactoringRequest, find_refactorings};
use hiera_ls::ide::story::explain_key;
use hiera_ls::puppet::print::{self, PrintOptions};
use hiera_ls::puppet::value::Value;
use hiera_ls::text::{FilePath, SourceChange, TextEdit, TextRange};
use hiera_ls::workspace::Snapshot;

use super::Place;
use super::shown::{Line, ShownFiles, ShownHover, ShownTable};
use crate::refactorings::{UNKNOWN, differing_nodes, told_count};
use crate::support::file_uri;

/// Takes in a comparison of a kind, with the contradiction in words.
type Report<'r> = dyn FnMut(&'static str, Option<String>) + 'r;

/// A place, with the answers that the nodes of its audience get.
pub(super) struct Question<'a> {
    snapshot: &'a Snapshot,
    place: &'a Place,
    audience: FileAudience<'a>,
    root: LookupKey,
    found: Groups,
    /// The scopes of the known nodes that read the file, or the scope of the file, each with the
    /// lookup in it.
    answers: Vec<(Arc<Scope>, Resolution)>,
    hover: OnceCell<(String, ShownHover)>,
}

impl<'a> Question<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, place: &'a Place) -> Question<'a> {
        let environment = &snapshot.environments().all[0];
        let audience = FileAudience::new(snapshot, environment, &place.path);
        let root = LookupKey::of_root(&place.key.root_text());
        let found = audience.effective_value(&root, ValueLimits::OF_KEY, false);
        let nodes = snapshot.nodes_of(environment);
        let scopes: Vec<Arc<Scope>> = match audience.readers() {
            [] => vec![audience.scope.clone()],
            all => all.iter().map(|it| nodes[*it].scope_in(&environment.name)).collect(),
        };
        let lookup = |scope: Arc<Scope>| {
            let resolution = audience.look_up(&root, &scope, false);
            (scope, resolution)
        };
        let answers = scopes.into_iter().map(lookup).collect();
        let hover = OnceCell::new();
        Question { snapshot, place, audience, root, found, answers, hover }
    }

    /// Makes all comparisons.
    pub(super) fn compare(&self, with_titles: bool, report: &mut Report<'_>) {
        self.compare_nodes(report);
        self.compare_cases(report);
        self.compare_places(report);
        if self.place.is_token {
            self.compare_hint(report);
            self.compare_completion(report);
        } else {
            self.compare_lens(report);
        }
        if with_titles {
            self.compare_titles(report);
        }
    }

    fn value_in(&self, scope: &Scope) -> Result<Option<Value>, ()> {
        self.audience.look_up(&self.root, scope, false).value.map_err(|_| ())
    }

    /// Compares the value of each group with a lookup for each of its nodes.
    fn compare_nodes(&self, report: &mut Report<'_>) {
        let readers = self.audience.readers();
        for Group { nodes, resolution, .. } in &self.found.groups {
            for node in nodes {
                let at = readers.iter().position(|reader| reader == node);
                let (scope, own) = &self.answers[at.expect("groups have readers")];
                let is_same = settled(own) == settled(resolution);
                let text = || format!("node {} has another value than its group", scope.name);
                report("node", (!is_same).then(text));
            }
        }
        let mut grouped: Vec<usize> =
            self.found.groups.iter().flat_map(|group| group.nodes.clone()).collect();
        grouped.extend(&self.found.rest);
        grouped.sort_unstable();
        let text = || format!("readers {readers:?} are grouped as {grouped:?}");
        report("node", (grouped != readers).then(text));
    }

    /// Compares each case with a lookup in which the unknown variables have the values of its
    /// assumption, unless an assumption above holds as well.
    fn compare_cases(&self, report: &mut Report<'_>) {
        for Group { scope, cases, .. } in &self.found.groups {
            for case in cases.iter().filter(|case| !case.when.is_empty()) {
                let Some(resolution) = &case.resolution else { continue };
                let mut assumed = (**scope).clone();
                assumed.assume_values(&case.when.iter().cloned().collect());
                let looked_up = self.audience.look_up(&self.root, &assumed, false);
                let holds = |(name, value): &(String, String)| {
                    assumed.get_path(name) == Variable::Known(Value::from_argument(value))
                };
                let is_first = |one: &&Case| one.when.iter().all(holds);
                let is_another =
                    cases.iter().find(is_first).is_some_and(|it| !std::ptr::eq(it, case));
                let is_open = !looked_up.unsettled.is_empty() || !resolution.unsettled.is_empty();
                if !is_another && !is_open {
                    let is_same = settled(&looked_up) == settled(resolution);
                    let text = || format!("the case {:?} has another value by lookup", case.when);
                    report("case", (!is_same).then(text));
                }
            }
        }
    }

    fn hover_config(link: &'a dyn Fn(&FilePath, u32) -> String) -> HoverConfig<'a> {
        HoverConfig {
            markdown: true,
            link: Some(link),
            max_value_lines: 40,
            max_locations: 40,
            ..HoverConfig::default()
        }
    }

    fn hover(&self) -> &(String, ShownHover) {
        self.hover.get_or_init(|| {
            let config = Question::hover_config(&linked);
            let found = hover(self.snapshot, self.place.position, &config);
            let text = found.map(|it| it.text).unwrap_or_default();
            let shown = ShownHover::read(&text);
            (text, shown)
        })
    }

    fn line_of(&self, path: &FilePath, offset: u32) -> Line {
        let file = self.snapshot.file(path).and_then(|file| file.text());
        let text = file.map(|text| text.to_str().into_owned()).unwrap_or_default();
        let breaks = text[..offset as usize].matches('\n').count();
        (path.to_string(), breaks as u32 + 1)
    }

    /// Compares the places of the value in the hover, in the page and those of go to definition.
    fn compare_places(&self, report: &mut Report<'_>) {
        let (text, shown) = self.hover();
        let evaluations = Evaluations::default();
        let key = &self.place.key;
        let page = explain_key(self.snapshot, &self.place.path, key, &evaluations);
        let table = page.as_ref().and_then(|page| ShownTable::read(&page.text));
        let page = page.map(|page| page.text).unwrap_or_default();
        let own = page.split("\nAs puppet lookup").next().unwrap_or_default();
        let definitions = find_definitions(self.snapshot, self.place.position);
        let found = definitions.into_iter().flat_map(|found| found.targets);
        // The definition of a key that a class takes is the parameter, which is no place of a value.
        let (data, parameters): (Vec<_>, Vec<_>) =
            found.partition(|target| self.audience.environment.reaches_file(&target.path));
        let targets: BTreeSet<Line> =
            data.iter().map(|target| self.line_of(&target.path, target.range.start)).collect();
        let files: BTreeSet<&String> = targets.iter().map(|(path, _)| path).collect();
        let here = self.place.path.as_str();
        if !shown.files().is_empty() && parameters.is_empty() {
            let is_target = |place: &&Line| targets.contains(*place);
            let foreign: Vec<&Line> = shown.places.iter().filter(|it| !is_target(it)).collect();
            let other = shown.differences.iter().find(|path| !files.contains(path));
            let is_wrong = !foreign.is_empty() || other.is_some();
            let words =
                || format!("hover names {foreign:?} {other:?}, definition {targets:?}\n{text}");
            report("places", is_wrong.then(words));
            let named = shown.files();
            let is_untold = |path: &&&String| !named.contains(**path) && **path != here;
            let untold: Vec<&&String> = files.iter().filter(is_untold).collect();
            let words = || format!("definition leads to {untold:?}, no hover does\n{text}");
            report("places", (shown.is_whole && !untold.is_empty()).then(words));
        }
        let sources = self.sources();
        let Some(table) = table else {
            let words = || format!("the page has no place of {sources:?}\n{own}");
            return report("page", (!sources.is_empty()).then(words));
        };
        let paths = table.values.iter().map(|(path, _)| path.as_str());
        let foreign: Vec<&str> = paths.filter(|path| !sources.contains(*path)).collect();
        let words = || format!("page names {foreign:?} of {sources:?}\n{own}");
        report("page", (!foreign.is_empty()).then(words));
        if !sources.is_empty() {
            let untold: Vec<&Line> = targets.iter().filter(|it| !table.all.contains(*it)).collect();
            let words = || format!("definition leads to {untold:?}, no page does\n{own}");
            report("page", (!untold.is_empty()).then(words));
        }
        let is_one = shown.value.is_some() && self.found.groups.len() == 1;
        if let (true, Some(first), Some(row)) = (is_one, shown.places.first(), table.values.first())
        {
            let words = || format!("hover begins with {first:?}, page with {row:?}\n{text}\n{own}");
            report("page order", (first != row).then(words));
        }
    }

    /// Returns the files that the values come from, by the steps of the lookups.
    fn sources(&self) -> BTreeSet<String> {
        let all = self.found.groups.iter().flat_map(Group::resolutions);
        all.flat_map(|resolution| sources_of(resolution, &self.place.key)).collect()
    }

    /// Compares the hint with the value of each reader and with the value of the hover.
    fn compare_hint(&self, report: &mut Report<'_>) {
        let config = HintConfig { token_values: true, parameter_types: false };
        let hints = inlay_hints(self.snapshot, &self.place.path, self.place.range, config);
        let Some(own) = hints.iter().find(|hint| hint.offset == self.place.range.end) else {
            return;
        };
        let text = own.text.trim_start_matches("= ").trim_end_matches('…');
        let parts: Vec<Option<Value>> = self
            .answers
            .iter()
            .map(|(_, answer)| part(&self.place.key, settled(answer)?.as_ref()?))
            .collect();
        let is_shown = |value: &Option<Value>| {
            let printed = |value| print::print_inline(value, &PrintOptions::default());
            value.as_ref().is_some_and(|value| printed(value).starts_with(text))
        };
        // Equal hashes may have their members in another order.
        let are_equal = parts.iter().all(|value| value.is_some() && *value == parts[0]);
        let is_right = are_equal && parts.iter().any(is_shown);
        let words = || format!("hint {text:?}, the readers have {parts:?}");
        report("hint", (!is_right).then(words));
        let (hovered, shown) = self.hover();
        let parse = |text: &str| serde_yaml::from_str::<serde_yaml::Value>(text).ok();
        let value = shown.value.as_deref().and_then(parse);
        let printed = parts[0].as_ref().map(|it| print::print_yaml(it, &PrintOptions::default()));
        let is_same = value.is_some() && value == printed.as_deref().and_then(parse);
        let words = || format!("hint {text:?}, and another value in the hover\n{hovered}");
        report("hint", (!is_same).then(words));
    }

    /// Compares the explanation of a completed key with the hover of the token.
    fn compare_completion(&self, report: &mut Report<'_>) {
        let key = &*self.place.key.text;
        let config = CompletionConfig::default();
        let listed = complete_at(self.snapshot, self.place.position, &config);
        let items = listed.iter().flat_map(|found| &found.items);
        let topic = items.filter(|item| item.label == key).find_map(|item| item.topic.clone());
        let topic = topic.unwrap_or_else(|| Topic::Key(key.to_owned()));
        let config = Question::hover_config(&linked);
        let told = resolve::resolve(self.snapshot, &self.place.path, &topic, &config);
        let hovered = self.hover().0.trim();
        let is_same = told.as_deref().unwrap_or_default() == hovered;
        let words = || format!("completion explains {told:?}, hover {hovered:?}");
        report("completion", (!is_same).then(words));
    }

    /// Compares the claims of a lens with the lookups of the readers.
    fn compare_lens(&self, report: &mut Report<'_>) {
        let key = Arc::from(&*self.place.key.text);
        let lens = lens_text(self.snapshot, &self.place.path, &key, LensKind::Overrides);
        let mut parts = Parts::default();
        self.answers.iter().for_each(|(_, answer)| parts.add(answer, self.place.path.as_str()));
        let has_others = !parts.others().is_empty();
        let Some(LensText { title, .. }) = lens else {
            let words = || format!("no lens, other places are {:?}", parts.others());
            return report("lens", has_others.then(words));
        };
        let is_redundant = title.contains("redundant");
        for claim in title.split(" · ").filter(|claim| !claim.contains("for some nodes")) {
            let found = self.contradicted_claim(claim, &parts);
            report("lens", found.map(|it| format!("lens {title:?}: {it}, {parts:?}")));
        }
        let (hovered, shown) = self.hover();
        let words = || format!("lens {title:?}, the hover says redundant\n{hovered}");
        report("redundant", (shown.is_redundant && !is_redundant).then(words));
        if is_redundant {
            let found = self.value_without_entry();
            report("redundant", found.map(|it| format!("lens {title:?}: {it}")));
        }
    }

    /// Returns the reason why the lookups contradict a claim of a lens.
    fn contradicted_claim(&self, claim: &str, parts: &Parts) -> Option<String> {
        let wrong = |text: &str, files: &BTreeSet<String>| {
            let is_right = ShownFiles::read(text).are(files);
            (!is_right).then(|| format!("by lookup {files:?}"))
        };
        if let Some(files) = claim.strip_prefix("overridden by ") {
            let (files, nodes) = match files.split_once(" for ") {
                Some((files, nodes)) => (files, nodes.split(' ').next()?.parse().ok()?),
                None => (files, self.answers.len()),
            };
            let is_counted = nodes == parts.overridden;
            let count = (!is_counted).then(|| format!("{} are overridden", parts.overridden));
            return wrong(files, &parts.above).or(count);
        }
        if let Some(files) = claim.strip_prefix("overrides ") {
            return wrong(files, &parts.below);
        }
        if let Some(files) = claim.strip_prefix("merged with ") {
            return wrong(files, &parts.merged);
        }
        None
    }

    /// Compares the values of the readers with and without the entry, for each value of a variable
    /// that is unknown.
    fn value_without_entry(&self) -> Option<String> {
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
        for scope in self.answers.iter().flat_map(|(scope, _)| possible_scopes(scope)) {
            let later = audience.look_up(&self.root, &scope, false).value.map_err(|_| ());
            if later != self.value_in(&scope) {
                return Some(format!("{} has another value without it", scope.name));
            }
        }
        None
    }

    /// Compares the numbers of nodes in the titles of refactorings with those of nodes for which a
    /// key differs, read with any of the strategies that calls name.
    fn compare_titles(&self, report: &mut Report<'_>) {
        let request = RefactoringRequest {
            path: &self.place.path,
            range: TextRange::new_empty(self.place.position.offset),
            creates_files: true,
            is_by_user: true,
            lookups: None,
            kinds: &|_| true,
        };
        for found in find_refactorings(self.snapshot, request) {
            let Ok(change) = &found.change else { continue };
            let Some(after) = self.snapshot.after_change(change) else { continue };
            let mut differing = differing_nodes(self.snapshot, &after);
            let others_differ = differing.remove(UNKNOWN);
            let is_right = match told_count(&found) {
                Some(count) => differing.len() == count,
                None => !found.is_neutral || differing.is_empty() && !others_differ,
            };
            let words = || format!("title {:?}, by force {differing:?}", found.title);
            report("title", (!is_right).then(words));
        }
    }
}

/// The parts that one definition has in several answers.
#[derive(Debug, Default)]
struct Parts {
    above: BTreeSet<String>,
    below: BTreeSet<String>,
    merged: BTreeSet<String>,
    /// The number of answers with another value.
    overridden: usize,
}

impl Parts {
    fn add(&mut self, answer: &Resolution, own: &str) {
        let mut met = met_files(answer);
        let Some(at) = met.iter().position(|path| path == own) else { return };
        if !answer.merge.stops_at_first() {
            met.remove(at);
            self.merged.extend(met);
        } else if at == 0 {
            self.below.extend(met.split_off(1));
        } else {
            self.overridden += 1;
            self.above.extend(met.into_iter().take(at));
        }
    }

    fn others(&self) -> BTreeSet<&String> {
        self.above.iter().chain(&self.below).chain(&self.merged).collect()
    }
}

fn linked(path: &FilePath, line: u32) -> String {
    format!("{}#L{line}", file_uri(path.as_str()))
}

/// Returns the value of an answer; `None` where the lookup fails.
fn settled(answer: &Resolution) -> Option<&Option<Value>> {
    answer.value.as_ref().ok()
}

/// Returns a scope, and the scopes in which its unknown variables have values.
fn possible_scopes(scope: &Arc<Scope>) -> Vec<Scope> {
    let mut all = vec![(**scope).clone()];
    let variables = [
        ("facts.os.family", ["Debian", "Amiga"]),
        ("role", ["api", "none"]),
        ("environment", ["staging", "other"]),
    ];
    for (name, values) in variables {
        if scope.get_path(name) != Variable::Unknown {
            continue;
        }
        for value in values {
            let bindings = Bindings::from([(name.to_owned(), value.to_owned())]);
            let mut assumed = all.clone();
            assumed.iter_mut().for_each(|one| one.assume_values(&bindings));
            all.extend(assumed);
        }
    }
    all
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

/// Returns the files that a lookup finds the key in, or fails in, those that it does not reach
/// included, highest priority first.
fn met_files(resolution: &Resolution) -> Vec<String> {
    let mut met = Vec::new();
    for step in &resolution.steps {
        let path = match &step.outcome {
            Outcome::Found { path, .. } | Outcome::Failed(path) => path,
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
