//! The answers of the nodes that read a shared file: one where they agree, or a line for each
//! value.

use std::fmt::Write as _;

use super::answer::ShownPart;
use super::cases::{CaseSearch, Row};
use super::markup::count_phrase;
use super::{HoverAnswer, HoverQuestion, HoverWriter};
use crate::fleet::groups::{FleetQuestion, Group, group_by_answer};
use crate::hiera::resolution::{Resolution, Unsettled};
use crate::ide::audience::Audience;

/// The most lookups for a hover. Nodes beyond them are counted and not compared.
const MAX_LOOKUPS: usize = 24;
/// The most values to list.
const MAX_VALUES: usize = 6;
/// The most names of nodes beside a value.
const MAX_NAMES: usize = 3;

/// Nodes that get the same values, perhaps from different files.
struct EqualGroups {
    /// The values by the unknown variables of the nodes.
    rows: Vec<Row>,
    nodes: Vec<usize>,
    /// The largest group of them.
    group: Group,
    /// The other groups.
    others: Vec<Group>,
    /// The files that could change the value for one of them.
    unsettled: Vec<Unsettled>,
}

/// The answer for nodes that are not known.
struct Other {
    shown: ShownPart,
    resolution: Resolution,
    /// The condition in words, behind a comma; empty where there is none.
    unless: String,
}

impl EqualGroups {
    /// Returns the value where it depends on nothing that is unknown.
    fn only_value(&self) -> Option<&ShownPart> {
        match &self.rows[..] {
            [only] => only.shown.as_ref(),
            _ => None,
        }
    }
}

impl HoverWriter<'_> {
    /// Returns the answers for the nodes with these numbers, which read the file.
    pub(super) fn answers_in_nodes(&self, asked: &HoverQuestion<'_>, readers: &[usize]) -> String {
        let environment = &self.subject.environment;
        let of = self.snapshot.nodes_of(environment).len();
        let audience =
            Audience::of_readers(environment, self.scope, &self.subject.path, (readers.len(), of));
        let found = group_by_answer(
            &FleetQuestion {
                snapshot: self.snapshot,
                environment,
                root: &asked.root.root_text(),
                lookup: &|scope| self.resolve(&asked.root, scope),
                max_lookups: MAX_LOOKUPS,
            },
            readers,
        );
        let answers = self.merge_equal(found.groups, asked);
        let Some(first) = answers.first() else { return String::new() };
        let value = first.group.resolution.value.as_ref().ok().and_then(Option::as_ref);
        let title = (asked.title)(value);
        let other = self.in_other_nodes(asked);
        let is_same = other.as_ref().is_none_or(|other| Some(&other.shown) == first.only_value());
        let head = self.head_of_key(asked, &title, &audience);
        let is_one = answers.len() == 1 && found.rest.is_empty();
        if is_one && is_same && first.only_value().is_some() {
            let EqualGroups { group, others, unsettled, .. } = first;
            let is_redundant = std::iter::once(group)
                .chain(others)
                .all(|one| self.is_redundant(&one.resolution, &one.scope, asked));
            let found = HoverAnswer {
                unsettled,
                ..HoverAnswer::from_lookup(&group.resolution, &group.scope, is_redundant)
            };
            return self.render_answer(head, &found, asked);
        }
        let other = other.filter(|other| !matches!(other.shown, ShownPart::NotSettled(_)));
        let others = if other.is_some() { ", and in others" } else { "" };
        let mut out = head.written_above_list(&self.markup, others);
        match &answers[..] {
            [only] if is_one && only.rows.len() > 1 => {
                out.push_str(&self.render_rows(&only.rows, asked, ""));
            }
            _ => self.list_answers(&answers, found.rest.len(), asked, &mut out),
        }
        if let Some(Other { shown, resolution, unless }) = &other {
            let line = match self.describe_difference(first.only_value(), shown, resolution, asked)
            {
                Some(difference) => format!("in other nodes{unless} · {difference}"),
                None => format!("{} in other nodes{unless}", self.short_phrase(shown)),
            };
            writeln!(out, "- {line}").expect("writing to a string");
        }
        out.push_str(&self.assumed_names(answers.iter().flat_map(|answer| &answer.rows)));
        out.push_str(&self.unread_levels(&first.group.resolution));
        if !self.is_long_value(first) {
            out.push_str(&self.render_strategy(&first.group.resolution));
        }
        if let Some(note) = self.open_strategy(&first.group.resolution, &first.group.scope) {
            writeln!(out, "\n{note}").expect("writing to a string");
        }
        out
    }

    /// Returns the values for nodes with the variables of the file's path, where unknown variables
    /// make a difference.
    pub(super) fn answers_by_kind(&self, asked: &HoverQuestion<'_>) -> Option<String> {
        let scope = self.scope;
        let resolution = self.resolve(&asked.root, scope);
        let mut trying = CaseSearch::default();
        let rows = self.find_cases(asked, (scope, &resolution), &mut trying);
        if rows.len() < 2 {
            return None;
        }
        let title = (asked.title)(resolution.value.as_ref().ok().and_then(Option::as_ref));
        let head = self.head_of_key(asked, &title, &self.scope_audience().of_kinds());
        let mut out = head.written_above_list(&self.markup, "");
        out.push_str(&self.render_rows(&rows, asked, ""));
        out.push_str(&self.assumed_names(&rows));
        let found = HoverAnswer::from_lookup(&resolution, scope, false);
        out.push_str(&self.render_below(&found, asked));
        Some(out + &self.render_strategy(&resolution))
    }

    /// Returns the answer for nodes that read the file and have none of their own; `None` where the
    /// settings name all nodes.
    fn in_other_nodes(&self, asked: &HoverQuestion<'_>) -> Option<Other> {
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
        let shown = self.shown_part(&resolution, asked.narrow);
        Some(Other { shown, resolution, unless })
    }

    fn is_long_value(&self, answer: &EqualGroups) -> bool {
        matches!(answer.only_value(), Some(ShownPart::Value(value)) if self.is_long(value))
    }

    /// Returns the groups with equal values as one, those with most nodes first.
    fn merge_equal(&self, groups: Vec<Group>, asked: &HoverQuestion<'_>) -> Vec<EqualGroups> {
        let mut answers: Vec<EqualGroups> = Vec::new();
        let mut trying = CaseSearch::default();
        for group in groups {
            let rows = self.find_cases(asked, (&group.scope, &group.resolution), &mut trying);
            match answers.iter_mut().find(|answer| answer.rows == rows) {
                Some(known) => {
                    known.nodes.extend(&group.nodes);
                    for file in &group.resolution.unsettled {
                        if !known.unsettled.contains(file) {
                            known.unsettled.push(file.clone());
                        }
                    }
                    known.others.push(group);
                }
                None => {
                    let (nodes, unsettled) =
                        (group.nodes.clone(), group.resolution.unsettled.clone());
                    answers.push(EqualGroups { rows, nodes, group, others: Vec::new(), unsettled });
                }
            }
        }
        answers.sort_by_key(|answer| std::cmp::Reverse(answer.nodes.len()));
        answers
    }

    fn list_answers(
        &self,
        answers: &[EqualGroups],
        rest: usize,
        asked: &HoverQuestion<'_>,
        out: &mut String,
    ) {
        let mut listed = answers;
        let first = &answers[0];
        let resolution = &first.group.resolution;
        let sources = self.part_sources(resolution, asked.narrow);
        if let Some(ShownPart::Value(value)) = first.only_value()
            && self.is_long(value)
        {
            let from = self.render_provenance(resolution, &sources);
            let end = if from.is_empty() { "" } else { self.markup.line_end() };
            writeln!(out, "{}{end}{from}\n", self.nodes_of(first)).expect("writing to a string");
            out.push_str(&self.block_value(value, &sources));
            out.push('\n');
            listed = &answers[1..];
        }
        for answer in listed.iter().take(MAX_VALUES) {
            let base = first.only_value().filter(|_| !std::ptr::eq(first, answer));
            out.push_str(&self.line_of(answer, base, asked));
        }
        let (more, nodes) = listed
            .iter()
            .skip(MAX_VALUES)
            .fold((0, 0), |(values, nodes), answer| (values + 1, nodes + answer.nodes.len()));
        if more > 0 {
            let (values, nodes) = (count_phrase(more, "other value"), count_phrase(nodes, "node"));
            writeln!(out, "- {values} in {nodes}").expect("writing to a string");
        }
        if rest > 0 {
            let nodes = count_phrase(rest, "other node");
            writeln!(out, "- {nodes}, not compared: too many read files of their own")
                .expect("writing to a string");
        }
    }

    /// Returns the value of some nodes: where it is long, how it differs from `base`.
    fn line_of(
        &self,
        answer: &EqualGroups,
        base: Option<&ShownPart>,
        asked: &HoverQuestion<'_>,
    ) -> String {
        let nodes = self.nodes_of(answer);
        let resolution = &answer.group.resolution;
        let Some(shown) = answer.only_value() else {
            return format!("- in {nodes}\n{}", self.render_rows(&answer.rows, asked, "  "));
        };
        match self.describe_difference(base, shown, resolution, asked) {
            Some(difference) => format!("- in {nodes} · {difference}\n"),
            None => {
                let place = self.other_source(resolution, asked);
                format!("- {} in {nodes}{place}\n", self.short_phrase(shown))
            }
        }
    }

    /// Returns `57 nodes: edge01.west, edge02.west, …`, or the name of the only one.
    fn nodes_of(&self, answer: &EqualGroups) -> String {
        let all = self.snapshot.nodes_of(&self.subject.environment);
        let name = |number: &usize| self.markup.render_code(&all[*number].name);
        let mut names: Vec<String> = answer.nodes.iter().take(MAX_NAMES).map(name).collect();
        if let [only] = &names[..] {
            return only.clone();
        }
        if names.len() < answer.nodes.len() {
            names.push("…".into());
        }
        format!("{}: {}", count_phrase(answer.nodes.len(), "node"), names.join(", "))
    }

    /// Returns the first file that the value comes from, unless it is the one of the hover.
    pub(super) fn other_source(
        &self,
        resolution: &Resolution,
        asked: &HoverQuestion<'_>,
    ) -> String {
        let sources = self.part_sources(resolution, asked.narrow);
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
