//! `lookup-loop`

mod circles;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use circles::{CycleGraph, Hop};

use super::limit_reached;
use crate::diagnostics::rule::{
    Check, DataContext, Dependence, Finding, Needs, Related, Rule, RuleGroup, Severity,
};
use crate::hiera::data::{Reference, TokenUse};
use crate::hiera::error::{LookupErrorKind, LookupFrame};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::scope::Scope;
use crate::text::{FilePath, Span};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "lookup-loop",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a key whose value needs itself",
    docs: include_str!("lookup_loop.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Cycles(check),
};

/// The number of hops of a cycle that are reported one by one.
const MAX_HOPS: usize = 8;
/// The number of hops whose places a finding lists for a longer cycle: each hop has its own
/// finding.
const MAX_SHOWN: usize = 2;
/// How many keys are looked up for the cycles of one file.
const MAX_KEYS: usize = 100_000;
/// How many definitions are checked for one token in search of a cycle that only some other nodes
/// run into. Cycles in real data have a handful of members.
const MAX_STEPS: usize = 2_000;
/// How many definitions are checked for all tokens of a file together.
const MAX_STEPS_IN_FILE: usize = 10_000;
/// The longest path, in definitions, that the search for a cycle follows. For a longer one, the
/// cycles of a scope that reads all files of the path are computed.
const MAX_WAY: usize = 50;

fn check(context: &DataContext<'_>, findings: &mut Vec<Finding>) {
    check_within(context, MAX_KEYS, findings);
}

/// Reports the cycles of the file's tokens; looks up at most `max_keys` keys in a scope.
fn check_within(context: &DataContext<'_>, max_keys: usize, findings: &mut Vec<Finding>) {
    let snapshot = context.file.snapshot;
    let index = snapshot.keys();
    let parts: Vec<&TokenUse> = context
        .data
        .tokens()
        .filter(|token| {
            let key = token.reference.key();
            !snapshot.cancel_token().is_cancelled()
                && key.is_some_and(|key| index.in_one_cycle(&token.root, &key.root_text()))
        })
        .collect();
    let mut tokens = TokensOf { context, by_root: HashMap::new() };
    // The cycles of nodes that read this file come first.
    let file = &context.file;
    let own = file.snapshot.scope_reading(file.environment, &[&file.file.path]);
    let (others, was_cut_short) = match own {
        Some(scope) => of_scope(context, &scope, max_keys, parts, &mut tokens, findings),
        None => (parts, false),
    };
    let first = others.first().copied().filter(|_| was_cut_short);
    let cut_short = of_other_scopes(context, max_keys, others, &mut tokens, findings);
    if let Some(token) = cut_short.or(first) {
        let message = "tokens lead on from here to so many keys that not all were followed in search of a circle";
        let mut finding = Finding::new(&limit_reached::RULE, token.span(), message);
        finding.severity = Severity::Hint;
        findings.push(finding);
    }
}

/// Reports the cycles that lookups in a scope run into, in time linear in their length. Returns the
/// tokens that are part of no cycle, and whether there were too many keys.
fn of_scope<'a>(
    context: &'a DataContext<'a>,
    scope: &Scope,
    max_keys: usize,
    parts: Vec<&'a TokenUse>,
    tokens: &mut TokensOf<'a>,
    findings: &mut Vec<Finding>,
) -> (Vec<&'a TokenUse>, bool) {
    let file = &context.file;
    let resolver = Resolver::new(file.snapshot.lookup_context(file.environment, file.view, scope));
    let roots = parts.iter().map(|token| token.root.clone());
    let circles = CycleGraph::new(context, &resolver, tokens, roots, max_keys);
    let mut told: HashMap<Arc<str>, Option<LookupCycle>> = HashMap::new();
    let mut others = Vec::new();
    for token in parts {
        if !circles.closes_cycle(token) {
            others.push(token);
            continue;
        }
        let way = circles.way_round(token, MAX_HOPS);
        let is_short = circles.comes_back(token, &way);
        // The finding has the resolver's own words, as long as the resolver itself comes back to
        // the key of the token.
        findings.push(
            match told
                .entry(token.root.clone())
                .or_insert_with(|| if is_short { circle_of(&resolver, &token.root) } else { None })
            {
                Some(circle) if is_short => cycle_finding(context, token, circle),
                _ => long_finding(token, &way, is_short),
            },
        );
    }
    (others, circles.is_cut_short())
}

/// Reports the cycles through further files, which only some readers of this file read. Returns the
/// first token for which the search was stopped early.
fn of_other_scopes<'a>(
    context: &'a DataContext<'a>,
    max_keys: usize,
    mut parts: Vec<&'a TokenUse>,
    tokens: &mut TokensOf<'a>,
    findings: &mut Vec<Finding>,
) -> Option<&'a TokenUse> {
    let mut steps_left = MAX_STEPS_IN_FILE;
    let mut cut_short = None;
    parts.reverse();
    while let Some(token) = parts.pop() {
        let Some(key) = token.reference.key() else { continue };
        let (steps, max_steps) = (0, MAX_STEPS.min(steps_left));
        let seen = HashSet::new();
        let mut search =
            CycleSearch { context, token, tokens, steps, max_steps, seen, too_long_in: None };
        let start =
            CycleDefinition { path: context.file.file.path.clone(), root: token.root.clone() };
        if let Some(circle) = search.follow(&mut vec![start], &key.root_text()) {
            findings.push(cycle_finding(context, token, &circle));
        } else if search.steps > max_steps {
            cut_short.get_or_insert(token);
        }
        steps_left = steps_left.saturating_sub(search.steps);
        if let Some(scope) = search.too_long_in.take() {
            parts.push(token);
            parts = of_scope(context, &scope, max_keys, parts, tokens, findings).0;
            if parts.iter().any(|other| std::ptr::eq(*other, token)) {
                cut_short.get_or_insert(token);
                parts.retain(|other| !std::ptr::eq(*other, token));
            }
        }
    }
    cut_short
}

/// The tokens of files by the root keys whose values hold them, collected at the first use.
struct TokensOf<'a> {
    context: &'a DataContext<'a>,
    by_root: HashMap<FilePath, HashMap<Arc<str>, Arc<[TokenUse]>>>,
}

impl TokensOf<'_> {
    /// Returns the tokens in the value of a root key that ask for keys.
    fn tokens_of(&mut self, path: &FilePath, root: &str) -> Arc<[TokenUse]> {
        if !self.by_root.contains_key(path) {
            let mut by_root: HashMap<Arc<str>, Vec<TokenUse>> = HashMap::new();
            if let Some(data) = self.context.file.view.data_of(path) {
                for token in data.tokens().filter(|token| token.reference.key().is_some()) {
                    by_root.entry(token.root.clone()).or_default().push(token.clone());
                }
            }
            let by_root = by_root.into_iter().map(|(root, tokens)| (root, tokens.into()));
            self.by_root.insert(path.clone(), by_root.collect());
        }
        let known = self.by_root.get(path).and_then(|by_root| by_root.get(root));
        known.cloned().unwrap_or_default()
    }
}

/// Returns the cycle that a lookup runs into.
fn circle_of(resolver: &Resolver<'_>, root: &str) -> Option<LookupCycle> {
    let resolution = resolver.lookup(&LookupKey::of_root(root), None);
    match *resolution.value.err()?.kind {
        LookupErrorKind::Recursion { frames, again } => Some(LookupCycle { frames, again }),
        _ => None,
    }
}

/// Returns the finding for a cycle that the resolver does not complete: the cycle is too long, or a
/// lookup on it fails before.
fn long_finding(token: &TokenUse, way: &[&Hop], comes_back: bool) -> Finding {
    let root = &token.root;
    let mut names = vec![root.clone()];
    names.extend(way.iter().map(|hop| hop.text.clone()));
    let mut names = names.join(" -> ");
    if !comes_back {
        names.push_str(&format!(" -> ... -> {root}"));
    }
    let mut finding = Finding::new(&RULE, token.span(), cycle_message(&names));
    let mut from = root;
    let shown = if comes_back { way.len() } else { MAX_SHOWN };
    for hop in way.iter().take(shown) {
        let message = format!("'{from}' asks for '{}' here", hop.text);
        finding.related.push(Related::new(hop.span, message));
        from = &hop.text;
    }
    finding
}

fn cycle_message(names: &str) -> String {
    format!("lookups go round in a circle: {names}; Puppet fails with a recursive lookup")
}

fn cycle_finding(context: &DataContext<'_>, token: &TokenUse, circle: &LookupCycle) -> Finding {
    let frames: Vec<&LookupFrame> = circle.frames.iter().chain([&circle.again]).collect();
    let names: Vec<&str> = frames.iter().map(|frame| &*frame.text).collect();
    let mut finding = Finding::new(&RULE, token.span(), cycle_message(&names.join(" -> ")));
    for hop in frames.windows(2) {
        let Some(span) = hop[1].asked_by.map(|string| token_in(context, string, &hop[1].text))
        else {
            continue;
        };
        let message = format!("'{}' asks for '{}' here", hop[0].text, hop[1].text);
        finding.related.push(Related::new(span, message));
    }
    finding
}

/// Returns the token of a string that asks for a key, or the string itself where that is unknown.
fn token_in(context: &DataContext<'_>, string: Span, asked: &str) -> Span {
    let snapshot = context.file.snapshot;
    let data = snapshot.path_of(string.file).and_then(|path| context.file.view.data_of(path));
    data.and_then(|data| {
        data.tokens()
            .find(|token| {
                matches!(&token.reference, Reference::Key { key, .. } if &*key.text == asked)
                    && snapshot.is_same_place(token.string_span, string)
            })
            .map(|token| token.span())
    })
    .unwrap_or(string)
}

/// A cycle that the resolver ran into.
struct LookupCycle {
    /// The lookups in progress, the first one first.
    frames: Vec<LookupFrame>,
    /// The lookup that would begin again.
    again: LookupFrame,
}

/// A definition on a cycle: a root key in a file.
#[derive(Clone, PartialEq, Eq, Hash)]
struct CycleDefinition {
    path: FilePath,
    root: Arc<str>,
}

struct CycleSearch<'s, 'a> {
    context: &'a DataContext<'a>,
    token: &'a TokenUse,
    tokens: &'s mut TokensOf<'a>,
    steps: usize,
    max_steps: usize,
    seen: HashSet<(CycleDefinition, Vec<FilePath>)>,
    /// The scope that sees all files on a way that is too long to be followed one by one.
    too_long_in: Option<Scope>,
}

impl CycleSearch<'_, '_> {
    /// Follows tokens from definition to definition, as long as some node can read all their files,
    /// until the first key is reached again. Then the resolver checks whether a lookup for such a
    /// node runs into the cycle.
    fn follow(&mut self, way: &mut Vec<CycleDefinition>, target: &str) -> Option<LookupCycle> {
        let file = &self.context.file;
        if way[0].root.as_ref() == target {
            return self.confirm(way);
        }
        if way.len() > MAX_WAY {
            let files: Vec<&FilePath> = way.iter().map(|place| &place.path).collect();
            self.too_long_in = file.snapshot.scope_reading(file.environment, &files);
            return None;
        }
        let definitions: Vec<FilePath> = file
            .snapshot
            .keys()
            .definitions(target)
            .iter()
            .filter(|path| file.environment.reaches_file(path))
            .cloned()
            .collect();
        for path in definitions {
            let place = CycleDefinition { path, root: target.into() };
            self.steps += 1;
            if self.steps > self.max_steps
                || self.too_long_in.is_some()
                || way.contains(&place)
                || file.snapshot.cancel_token().is_cancelled()
            {
                continue;
            }
            let mut files: Vec<FilePath> = way.iter().map(|place| place.path.clone()).collect();
            files.push(place.path.clone());
            files.sort();
            files.dedup();
            if !self.seen.insert((place.clone(), files.clone())) {
                continue;
            }
            let files: Vec<&FilePath> = files.iter().collect();
            if file.snapshot.scope_reading(file.environment, &files).is_none() {
                continue;
            }
            way.push(place.clone());
            for next in self.tokens.tokens_of(&place.path, &place.root).iter() {
                let Some(key) = next.reference.key() else { continue };
                let next_root = key.root_text();
                if file.snapshot.keys().in_one_cycle(&place.root, &next_root)
                    && let Some(found) = self.follow(way, &next_root)
                {
                    return Some(found);
                }
            }
            way.pop();
        }
        None
    }

    fn confirm(&self, way: &[CycleDefinition]) -> Option<LookupCycle> {
        let file = &self.context.file;
        let files: Vec<&FilePath> = way.iter().map(|place| &place.path).collect();
        let scope = file.snapshot.scope_reading(file.environment, &files)?;
        let resolver =
            Resolver::new(file.snapshot.lookup_context(file.environment, file.view, &scope));
        circle_of(&resolver, &self.token.root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_circle_of_more_keys_than_are_followed_is_told() {
        let line = |n: usize| format!("k{n}: \"%{{lookup('k{}')}}\"\n", (n + 1) % 40);
        let fixture = Fixture::new(&(0..40).map(line).collect::<String>());
        let snapshot = &fixture.snapshot;
        let path = FilePath::new("/data/common.yaml");
        let environment = &snapshot.environments().all[0];
        let view = snapshot.view(environment);
        let file = snapshot.file(&path).expect("the file is there");
        let data = view.data_of(&path).expect("it is data");
        let layer = environment.layer_of(&path).expect("the environment reads it");
        let file = crate::diagnostics::rule::FileContext {
            snapshot,
            environment,
            view: &view,
            file,
            answers: &Default::default(),
        };
        let codes = |max_keys: usize| {
            let mut findings = Vec::new();
            check_within(&DataContext { file, data: &data, layer }, max_keys, &mut findings);
            let mut codes: Vec<&str> = findings.iter().map(|finding| finding.rule.code).collect();
            codes.dedup();
            codes
        };
        assert_eq!(codes(41), ["lookup-loop"]);
        assert!(codes(20).contains(&"limit-reached"), "{:?}", codes(20));
    }
}
