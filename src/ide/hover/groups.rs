//! The answers of the nodes that read a shared file: one where they agree, or a line for each
//! value.

use std::fmt::Write as _;

use super::answer::Shown;
use super::markup::counted;
use super::{Asked, Found, Writer};
use crate::fleet::groups::{Group, Question, group_by_answer};
use crate::ide::audience::Audience;

/// The most lookups for a hover. Nodes beyond them are counted and not compared.
const MAX_LOOKUPS: usize = 24;
/// The most values to list.
const MAX_VALUES: usize = 6;
/// The most names of nodes beside a value.
const MAX_NAMES: usize = 3;

/// Nodes that get the same value, perhaps from different files.
struct Answer {
    shown: Shown,
    nodes: Vec<usize>,
    /// The largest group of them.
    group: Group,
    /// Whether all of them get the same value without the key in this file.
    is_redundant: bool,
}

impl Writer<'_> {
    /// The answers for the nodes with these numbers, which read the file.
    pub(super) fn answers_in_nodes(&self, asked: &Asked<'_>, readers: &[usize]) -> String {
        let environment = &self.subject.environment;
        let of = self.snapshot.nodes_of(environment).len();
        let audience =
            Audience::known(environment, self.scope, &self.subject.path, (readers.len(), of));
        let found = group_by_answer(
            &Question {
                snapshot: self.snapshot,
                environment,
                root: &asked.root.root_text(),
                lookup: &|scope| self.resolve(&asked.root, scope),
                max_lookups: MAX_LOOKUPS,
            },
            readers,
        );
        let answers = self.merged(found.groups, asked);
        let Some(first) = answers.first() else { return String::new() };
        let value = first.group.resolution.value.as_ref().ok().and_then(Option::as_ref);
        let title = (asked.title)(value);
        let other = self.in_other_nodes(asked);
        let is_same = other.as_ref().is_none_or(|(shown, _)| *shown == first.shown);
        let head = self.head_of_key(asked, &title, &audience);
        if answers.len() == 1 && found.rest.is_empty() && is_same {
            let Answer { group, is_redundant, .. } = first;
            let (resolution, scope) = (&group.resolution, &*group.scope);
            let found = Found { resolution, scope, is_redundant: *is_redundant };
            return self.answer(head, &found, asked);
        }
        let mut out = head.written_above_list(&self.markup);
        self.list(&answers, found.rest.len(), asked, &mut out);
        if let Some((shown, unless)) =
            other.filter(|(shown, _)| !matches!(shown, Shown::NotSettled(_)))
        {
            writeln!(out, "- {} in other nodes{unless}", self.phrase(&shown))
                .expect("writing to a string");
        }
        if !self.is_long_value(first) {
            out.push_str(&self.strategy(&first.group.resolution));
        }
        out
    }

    /// The answer for nodes that read the file and have none of their own, with a condition in
    /// words; `None` where the settings name all nodes.
    fn in_other_nodes(&self, asked: &Asked<'_>) -> Option<(Shown, String)> {
        let nodes = self.snapshot.nodes_of(&self.subject.environment);
        if nodes.iter().all(|node| node.is_given) {
            return None;
        }
        let resolution = self.resolve(&asked.root, self.scope);
        let is_of_known = |when: &str| nodes.iter().any(|node| &*node.name == when);
        let others = resolution
            .unsettled
            .iter()
            .filter(|file| !file.when.values().any(|value| is_of_known(value)));
        let unless = match others.count() {
            0 => String::new(),
            1 => ", unless another file changes it".to_owned(),
            count => format!(", unless one of {count} files changes it"),
        };
        Some((self.shown(&resolution, asked.narrow), unless))
    }

    fn is_long_value(&self, answer: &Answer) -> bool {
        matches!(&answer.shown, Shown::Value(value) if self.is_long(value))
    }

    /// The groups with equal values as one, those with most nodes first.
    fn merged(&self, groups: Vec<Group>, asked: &Asked<'_>) -> Vec<Answer> {
        let mut answers: Vec<Answer> = Vec::new();
        for group in groups {
            let shown = self.shown(&group.resolution, asked.narrow);
            let is_redundant = self.is_redundant(&group.resolution, asked);
            match answers.iter_mut().find(|answer| answer.shown == shown) {
                Some(known) => {
                    known.nodes.extend(&group.nodes);
                    known.is_redundant &= is_redundant;
                }
                None => {
                    let nodes = group.nodes.clone();
                    answers.push(Answer { shown, nodes, group, is_redundant });
                }
            }
        }
        answers.sort_by_key(|answer| std::cmp::Reverse(answer.nodes.len()));
        answers
    }

    fn list(&self, answers: &[Answer], rest: usize, asked: &Asked<'_>, out: &mut String) {
        let mut listed = answers;
        let first = &answers[0];
        let resolution = &first.group.resolution;
        let sources = self.sources(resolution, asked.narrow);
        if let Shown::Value(value) = &first.shown
            && self.is_long(value)
        {
            let from = self.provenance(resolution, &sources);
            let end = if from.is_empty() { "" } else { self.markup.line_end() };
            writeln!(out, "{}{end}{from}\n", self.nodes_of(first)).expect("writing to a string");
            out.push_str(&self.block(value, &sources));
            out.push('\n');
            listed = &answers[1..];
        }
        for answer in listed.iter().take(MAX_VALUES) {
            let place = self.elsewhere(answer, asked);
            let value = self.phrase(&answer.shown);
            writeln!(out, "- {value} in {}{place}", self.nodes_of(answer))
                .expect("writing to a string");
        }
        let (more, nodes) = listed
            .iter()
            .skip(MAX_VALUES)
            .fold((0, 0), |(values, nodes), answer| (values + 1, nodes + answer.nodes.len()));
        if more > 0 {
            let (values, nodes) = (counted(more, "other value"), counted(nodes, "node"));
            writeln!(out, "- {values} in {nodes}").expect("writing to a string");
        }
        if rest > 0 {
            let nodes = counted(rest, "other node");
            writeln!(out, "- {nodes}, not compared: too many read files of their own")
                .expect("writing to a string");
        }
    }

    /// `57 nodes: edge01.west, edge02.west, …`, or the name of the only one.
    fn nodes_of(&self, answer: &Answer) -> String {
        let all = self.snapshot.nodes_of(&self.subject.environment);
        let name = |number: &usize| self.markup.code(&all[*number].name);
        let mut names: Vec<String> = answer.nodes.iter().take(MAX_NAMES).map(name).collect();
        if let [only] = &names[..] {
            return only.clone();
        }
        if names.len() < answer.nodes.len() {
            names.push("…".into());
        }
        format!("{}: {}", counted(answer.nodes.len(), "node"), names.join(", "))
    }

    /// The first file that the value comes from, unless it is the one of the hover.
    fn elsewhere(&self, answer: &Answer, asked: &Asked<'_>) -> String {
        let sources = self.sources(&answer.group.resolution, asked.narrow);
        match sources.first() {
            Some(source) if source.path != self.subject.path => {
                let more = match sources.len() {
                    1 => String::new(),
                    count => format!(" and {} more", count - 1),
                };
                format!(" ← {}{more}", self.source_with_path(source))
            }
            _ => String::new(),
        }
    }
}
