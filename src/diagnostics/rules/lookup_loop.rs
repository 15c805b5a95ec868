//! `lookup-loop`

use std::collections::HashSet;
use std::sync::Arc;

use crate::diagnostics::rule::{Check, DataContext, Finding, Related, Rule, Severity};
use crate::hiera::data::{Reference, TokenUse};
use crate::hiera::error::{Frame, LookupErrorKind};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::text::{FilePath, Span};

/// The rule.
pub static RULE: Rule = Rule {
    code: "lookup-loop",
    severity: Severity::Error,
    summary: "a key whose value needs itself",
    docs: include_str!("lookup_loop.md"),
    check: Check::Cycles(check),
};

/// How many definitions are looked at for one token. Circles of real data have a handful of
/// members.
const MAX_STEPS: usize = 2_000;
/// The same for all tokens of a file: a circle of a thousand keys need not be told a thousand
/// times.
const MAX_STEPS_IN_FILE: usize = 10_000;

fn check(context: &DataContext<'_>, findings: &mut Vec<Finding>) {
    let index = context.file.snapshot.keys();
    let mut steps_left = MAX_STEPS_IN_FILE;
    let cancel = context.file.snapshot.cancel_token();
    for token in context.data.tokens().take_while(|_| !cancel.is_cancelled()) {
        let Reference::Key { key, .. } = &token.reference else { continue };
        if !index.in_one_cycle(&token.root, &key.root_text()) {
            continue;
        }
        let mut search = Search {
            context,
            token,
            steps: 0,
            max_steps: MAX_STEPS.min(steps_left),
            seen: HashSet::new(),
        };
        let start = Place { path: context.file.file.path.clone(), root: token.root.clone() };
        if let Some(circle) = search.follow(&mut vec![start], &key.root_text()) {
            findings.push(finding(context, token, &circle));
        }
        steps_left = steps_left.saturating_sub(search.steps);
    }
}

fn finding(context: &DataContext<'_>, token: &TokenUse, circle: &Circle) -> Finding {
    let frames: Vec<&Frame> = circle.frames.iter().chain([&circle.again]).collect();
    let names: Vec<&str> = frames.iter().map(|frame| &*frame.text).collect();
    let message = format!(
        "lookups go round in a circle: {}; Puppet fails with a recursive lookup",
        names.join(" -> ")
    );
    let mut finding = Finding::new(&RULE, token.span, message);
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

/// The token of a string that asks for a key, or the string itself where that cannot be told.
fn token_in(context: &DataContext<'_>, string: Span, asked: &str) -> Span {
    let data =
        context.file.snapshot.path(string.file).and_then(|path| context.file.view.data_of(path));
    let is_it = |token: &&TokenUse| {
        token.string_span == string
            && matches!(&token.reference, Reference::Key { key, .. } if &*key.text == asked)
    };
    data.and_then(|data| data.tokens().find(is_it).map(|token| token.span)).unwrap_or(string)
}

/// A circle as the resolver met it.
struct Circle {
    /// The lookups in progress, the first one first.
    frames: Vec<Frame>,
    /// The one that would begin again.
    again: Frame,
}

/// A definition on the way round: a root key in a file.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Place {
    path: FilePath,
    root: Arc<str>,
}

struct Search<'a> {
    context: &'a DataContext<'a>,
    token: &'a TokenUse,
    steps: usize,
    max_steps: usize,
    seen: HashSet<(Place, Vec<FilePath>)>,
}

impl Search<'_> {
    /// Follows tokens from definition to definition, as long as some node can see all their files,
    /// until the first key is reached again; the resolver has the last word on whether such a
    /// node's lookup really goes round.
    fn follow(&mut self, way: &mut Vec<Place>, target: &str) -> Option<Circle> {
        let file = &self.context.file;
        if way[0].root.as_ref() == target {
            return self.confirm(way);
        }
        let definitions: Vec<FilePath> = file
            .snapshot
            .keys()
            .definitions(target)
            .iter()
            .filter(|path| file.environment.reaches(path))
            .cloned()
            .collect();
        for path in definitions {
            let place = Place { path, root: target.into() };
            self.steps += 1;
            if self.steps > self.max_steps
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
            let Some(data) = file.view.data_of(&place.path) else { continue };
            way.push(place.clone());
            for next in data.tokens().filter(|token| token.root == place.root) {
                let Reference::Key { key, .. } = &next.reference else { continue };
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

    fn confirm(&self, way: &[Place]) -> Option<Circle> {
        let file = &self.context.file;
        let files: Vec<&FilePath> = way.iter().map(|place| &place.path).collect();
        let scope = file.snapshot.scope_reading(file.environment, &files)?;
        let resolver = Resolver::new(file.snapshot.context(file.environment, file.view, &scope));
        let resolution = resolver.lookup(&LookupKey::of_root(&self.token.root), None);
        match *resolution.value.err()?.kind {
            LookupErrorKind::Recursion { frames, again } => Some(Circle { frames, again }),
            _ => None,
        }
    }
}
