//! `lookup-loop`

use std::collections::HashSet;
use std::sync::Arc;

use crate::diagnostics::rule::{Check, DataContext, Finding, Related, Rule, Severity};
use crate::hiera::data::{Reference, TokenUse};
use crate::hiera::error::{Frame, LookupErrorKind};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::text::FilePath;

/// The rule.
pub static RULE: Rule = Rule {
    code: "lookup-loop",
    severity: Severity::Error,
    summary: "a key whose value needs itself",
    docs: include_str!("lookup_loop.md"),
    check: Check::Data(check),
};

/// How many definitions are looked at for one token. Circles of real data have a handful of members.
const MAX_STEPS: usize = 2_000;

fn check(context: &DataContext<'_>, findings: &mut Vec<Finding>) {
    let index = context.file.snapshot.keys();
    for token in &context.data.tokens {
        let Reference::Key { key, .. } = &token.reference else { continue };
        if !index.in_one_circle(&token.root, &key.root_text()) {
            continue;
        }
        let mut search = Search { context, token, steps: 0, seen: HashSet::new() };
        let start = Place { path: context.file.file.path.clone(), root: token.root.clone() };
        if let Some(frames) = search.follow(&mut vec![start], &key.root_text()) {
            findings.push(finding(context, token, &frames));
        }
    }
}

fn finding(context: &DataContext<'_>, token: &TokenUse, frames: &[Frame]) -> Finding {
    let mut names: Vec<&str> = frames.iter().map(|frame| frame.text.as_str()).collect();
    names.extend(names.first().copied());
    let message = format!("lookups go round in a circle: {}; Puppet fails with a recursive lookup", names.join(" -> "));
    let mut finding = Finding::new(&RULE, token.span, message);
    let hops = frames.iter().enumerate().skip(1).filter_map(|(n, frame)| Some((frame, &frames[n - 1], frame.asked_by?)));
    for (frame, asker, span) in hops {
        finding.related.push(Related { span, message: format!("'{}' asks for '{}' here", asker.text, frame.text) });
    }
    let closing =
        frames.last().zip(frames.first()).map(|(last, first)| format!("'{}' asks for '{}' here", last.text, first.text));
    let last_hop = closing_span(context, frames);
    finding.with_related(last_hop, closing.unwrap_or_default())
}

/// The string that closes the circle: a token in the last key's value that asks for the first.
fn closing_span(context: &DataContext<'_>, frames: &[Frame]) -> Option<crate::text::Span> {
    let (first, last) = (LookupKey::parse(&frames.first()?.text).ok()?, LookupKey::parse(&frames.last()?.text).ok()?);
    let snapshot = context.file.snapshot;
    let (first, last) = (first.root_text(), last.root_text());
    snapshot.keys().definitions(&last).iter().find_map(|path| {
        let data = context.file.view.data_of(path)?;
        let asks = |token: &&TokenUse| {
            *token.root == *last && matches!(&token.reference, Reference::Key { key, .. } if key.root_text() == first)
        };
        data.tokens.iter().find(asks).map(|token| token.span)
    })
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
    seen: HashSet<(Place, Vec<FilePath>)>,
}

impl Search<'_> {
    /// Follows tokens from definition to definition, as long as some node can see all their files, until the first key is
    /// reached again; the resolver has the last word on whether such a node's lookup really goes round.
    fn follow(&mut self, way: &mut Vec<Place>, target: &str) -> Option<Vec<Frame>> {
        let file = &self.context.file;
        if way[0].root.as_ref() == target {
            return self.confirm(way);
        }
        let definitions: Vec<FilePath> =
            file.snapshot.keys().definitions(target).iter().filter(|path| file.environment.reaches(path)).cloned().collect();
        for path in definitions {
            let place = Place { path, root: target.into() };
            self.steps += 1;
            if self.steps > MAX_STEPS || way.contains(&place) {
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
            if file.snapshot.scope_seeing(file.environment, &files).is_none() {
                continue;
            }
            let Some(data) = file.view.data_of(&place.path) else { continue };
            way.push(place.clone());
            for next in data.tokens.iter().filter(|token| token.root == place.root) {
                let Reference::Key { key, .. } = &next.reference else { continue };
                let next_root = key.root_text();
                if file.snapshot.keys().in_one_circle(&place.root, &next_root)
                    && let Some(found) = self.follow(way, &next_root)
                {
                    return Some(found);
                }
            }
            way.pop();
        }
        None
    }

    fn confirm(&self, way: &[Place]) -> Option<Vec<Frame>> {
        let file = &self.context.file;
        let files: Vec<&FilePath> = way.iter().map(|place| &place.path).collect();
        let scope = file.snapshot.scope_seeing(file.environment, &files)?;
        let resolver = Resolver::new(file.snapshot.context(file.environment, file.view, &scope));
        let resolution = resolver.lookup(&LookupKey::of_root(&self.token.root), None);
        match resolution.value.err()?.kind {
            LookupErrorKind::Recursion(frames) => {
                // The circle proper starts where the text that was asked for again first stood.
                let passes_here = frames.iter().any(|frame| frame.asked_by == Some(self.token.string_span)) || way.len() == 1;
                (passes_here || way.len() > 1).then_some(frames)
            }
            _ => None,
        }
    }
}
