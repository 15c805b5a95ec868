//! The answers of the nodes that read a shared file: one where they agree, or a line for each
//! value.

use std::fmt::Write as _;

use super::answer::ShownPart;
use super::cases::{Row, listed_count};
use super::{HoverAnswer, HoverQuestion, HoverWriter};
use crate::fleet::groups::{Group, Groups};
use crate::hiera::resolution::{Resolution, Unsettled};
use crate::ide::audience::Audience;
use crate::ide::value_sources::add_sources;
use crate::text::count_phrase;

/// The most values to list.
const MAX_VALUES: usize = 6;
/// The most files of several groups of nodes beside a value.
const MAX_FILES: usize = 3;
/// The most names of nodes beside a value.
const MAX_NAMES: usize = 3;

/// Nodes that get the same values, perhaps from different files.
struct EqualGroups<'g> {
    /// The values by the unknown variables of the nodes.
    rows: Vec<Row<'g>>,
    nodes: Vec<usize>,
    /// The groups of the nodes, the largest one first.
    groups: Vec<&'g Group>,
    /// The files that could change the value for one of the nodes.
    unsettled: Vec<Unsettled>,
}

/// The answer for nodes that are not known.
struct Other {
    shown: ShownPart,
    resolution: Resolution,
    /// The condition in words, behind a comma; empty where there is none.
    unless: String,
}

impl EqualGroups<'_> {
    /// Returns the value where it depends on nothing that is unknown.
    fn only_value(&self) -> Option<&ShownPart> {
        match &self.rows[..] {
            [only] => only.shown.as_ref(),
            _ => None,
        }
    }

    /// Returns the lookup of the largest group.
    fn resolution(&self) -> &Resolution {
        &self.groups[0].resolution
    }

    /// Returns the lookups with the first value, one of the largest group first.
    fn resolutions(&self) -> Vec<&Resolution> {
        self.rows[0].resolutions.clone()
    }
}

impl HoverWriter<'_> {
    /// Returns the answers for the known nodes that read the file.
    pub(super) fn answers_in_nodes(&self, asked: &HoverQuestion<'_>, found: &Groups) -> String {
        let (environment, readers) = (&self.subject.environment, self.audience.readers());
        let path = &self.subject.path;
        let audience = Audience::of_readers(self.snapshot, environment, self.scope, path, readers);
        let answers = self.merge_equal(&found.groups, asked);
        let Some(first) = answers.first() else { return String::new() };
        let value = first.resolution().value.as_ref().ok().and_then(Option::as_ref);
        let title = (asked.title)(value);
        let other = self.in_other_nodes(asked);
        let is_same = other.as_ref().is_none_or(|other| Some(&other.shown) == first.only_value());
        let head = self.head_of_key(asked, &title, &audience);
        let is_one = answers.len() == 1 && found.rest.is_empty();
        if is_one && is_same && first.only_value().is_some() {
            let EqualGroups { groups, unsettled, .. } = first;
            let is_redundant =
                groups.iter().all(|one| self.is_redundant(&one.resolution, &one.scope, asked));
            let found = HoverAnswer {
                unsettled,
                others: first.resolutions(),
                ..HoverAnswer::from_lookup(first.resolution(), &groups[0].scope, is_redundant)
            };
            return self.render_answer(head, &found, asked);
        }
        let other = other.filter(|other| !matches!(other.shown, ShownPart::NotSettled(_)));
        let others = if other.is_some() { ", and in others" } else { "" };
        let mut out = head.written_above_list(&self.markup, others);
        match &answers[..] {
            [only] if is_one && only.rows.len() > 1 => {
                let base = self.render_last_row(&only.rows, asked, &mut out);
                out.push_str(&self.render_rows(&only.rows, base, asked, ""));
            }
            _ => self.list_answers(&answers, found.rest.len(), asked, &mut out),
        }
        if let Some(Other { shown, resolution, unless }) = &other {
            let known = answers.iter().filter_map(EqualGroups::only_value);
            let line =
                match self.describe_difference(first.only_value(), shown, &[resolution], asked) {
                    Some(difference) => format!("in other nodes{unless} · {difference}"),
                    None => {
                        format!("{} in other nodes{unless}", self.listed_phrase(shown, known))
                    }
                };
            writeln!(out, "- {line}").expect("writing to a string");
        }
        out.push_str(&self.assumed_names(answers.iter().flat_map(|answer| &answer.rows)));
        out.push_str(&self.unread_levels(first.resolution()));
        if !self.is_long_value(first) {
            out.push_str(&self.render_strategy(first.resolution()));
        }
        if let Some(note) = self.open_strategy(first.resolution(), &first.groups[0].scope) {
            writeln!(out, "\n{note}").expect("writing to a string");
        }
        out
    }

    /// Returns the values for nodes with the variables of the file's path, where unknown variables
    /// make a difference.
    pub(super) fn answers_by_kind(
        &self,
        asked: &HoverQuestion<'_>,
        group: &Group,
    ) -> Option<String> {
        let (scope, resolution) = (&*group.scope, &group.resolution);
        let rows = self.find_cases(asked, group);
        if rows.len() < 2 {
            return None;
        }
        let title = (asked.title)(resolution.value.as_ref().ok().and_then(Option::as_ref));
        let head = self.head_of_key(asked, &title, &self.scope_audience().of_kinds());
        let mut out = head.written_above_list(&self.markup, "");
        let base = self.render_last_row(&rows, asked, &mut out);
        out.push_str(&self.render_rows(&rows, base, asked, ""));
        out.push_str(&self.assumed_names(&rows));
        let found = HoverAnswer::from_lookup(resolution, scope, false);
        out.push_str(&self.render_below(&found, asked));
        if base.is_none() {
            out.push_str(&self.render_strategy(resolution));
        }
        Some(out)
    }

    /// Returns the answer for nodes that read the file and have none of their own; `None` where the
    /// settings name all nodes.
    fn in_other_nodes(&self, asked: &HoverQuestion<'_>) -> Option<Other> {
        let resolution = self.audience.answer_of_unknown_nodes(&asked.root, true)?;
        let unless = match resolution.unsettled.len() {
            0 => String::new(),
            1 => ", unless another file changes it".to_owned(),
            count => format!(", unless one of {count} files changes it"),
        };
        let shown = self.shown_part(&resolution, asked.narrow);
        Some(Other { shown, resolution, unless })
    }

    fn is_long_value(&self, answer: &EqualGroups<'_>) -> bool {
        matches!(answer.only_value(), Some(ShownPart::Value(value)) if self.is_long(value))
    }

    /// Returns the groups with equal values as one, those with most nodes first.
    fn merge_equal<'g>(
        &self,
        groups: &'g [Group],
        asked: &HoverQuestion<'_>,
    ) -> Vec<EqualGroups<'g>> {
        let mut answers: Vec<EqualGroups<'g>> = Vec::new();
        for group in groups {
            let rows = self.find_cases(asked, group);
            let unsettled = &group.resolution.unsettled;
            match answers.iter_mut().find(|answer| answer.rows == rows) {
                Some(known) => {
                    known.nodes.extend(&group.nodes);
                    for (row, more) in known.rows.iter_mut().zip(rows) {
                        row.resolutions.extend(more.resolutions);
                    }
                    for file in unsettled {
                        if !known.unsettled.contains(file) {
                            known.unsettled.push(file.clone());
                        }
                    }
                    known.groups.push(group);
                }
                None => answers.push(EqualGroups {
                    rows,
                    nodes: group.nodes.clone(),
                    groups: vec![group],
                    unsettled: unsettled.clone(),
                }),
            }
        }
        answers.iter_mut().for_each(|answer| answer.nodes.sort_unstable());
        answers.sort_by_key(|answer| std::cmp::Reverse(answer.nodes.len()));
        answers
    }

    fn list_answers(
        &self,
        answers: &[EqualGroups<'_>],
        rest: usize,
        asked: &HoverQuestion<'_>,
        out: &mut String,
    ) {
        let mut listed = answers;
        let first = &answers[0];
        let mut base = first.only_value();
        match base {
            Some(ShownPart::Value(value)) if self.is_long(value) => {
                let sources = self.part_sources(first.resolution(), asked.narrow);
                let others = first.resolutions().split_off(1);
                let others = self.sources_of_others(&sources, &others, asked.narrow);
                let from = self.render_provenance(first.resolution(), &sources, &others);
                let end = if from.is_empty() { "" } else { self.markup.line_end() };
                writeln!(out, "{}{end}{from}\n", self.nodes_of(first))
                    .expect("writing to a string");
                out.push_str(&self.block_value(value, &sources));
                out.push('\n');
                listed = &answers[1..];
            }
            Some(_) => {}
            None => {
                let mut block = String::new();
                base = self.render_last_row(&first.rows, asked, &mut block);
                if base.is_some() {
                    write!(out, "{}, {block}", self.nodes_of(first)).expect("writing to a string");
                    out.push_str(&self.render_rows(&first.rows, base, asked, ""));
                    listed = &answers[1..];
                }
            }
        }
        let (shown, others) = listed.split_at(listed_count(listed.len(), MAX_VALUES));
        for answer in shown {
            let base = base.filter(|_| !std::ptr::eq(first, answer));
            out.push_str(&self.line_of(answer, base, answers, asked));
        }
        if !others.is_empty() {
            let nodes = others.iter().map(|answer| answer.nodes.len()).sum();
            let values = count_phrase(others.len(), "other value");
            let nodes = count_phrase(nodes, "node");
            writeln!(out, "- {values} in {nodes}").expect("writing to a string");
        }
        if rest > 0 {
            let nodes = count_phrase(rest, "other node");
            writeln!(out, "- {nodes}, not compared: too many read files of their own")
                .expect("writing to a string");
        }
    }

    /// Returns the value of some nodes: where it is long, how it differs from `base`. `all` has the
    /// answers of the list.
    fn line_of(
        &self,
        answer: &EqualGroups<'_>,
        base: Option<&ShownPart>,
        all: &[EqualGroups<'_>],
        asked: &HoverQuestion<'_>,
    ) -> String {
        let nodes = self.nodes_of(answer);
        let resolutions = answer.resolutions();
        let Some(shown) = answer.only_value() else {
            return format!("- in {nodes}\n{}", self.render_rows(&answer.rows, base, asked, "  "));
        };
        match self.describe_difference(base, shown, &resolutions, asked) {
            Some(difference) => format!("- in {nodes} · {difference}\n"),
            None => {
                let place = self.other_source(&resolutions, asked);
                let value =
                    self.listed_phrase(shown, all.iter().filter_map(EqualGroups::only_value));
                format!("- {value} in {nodes}{place}\n")
            }
        }
    }

    /// Returns `57 nodes: edge01.west, edge02.west, …`, or the name of the only one.
    fn nodes_of(&self, answer: &EqualGroups<'_>) -> String {
        let all = self.snapshot.nodes_of(&self.subject.environment);
        let mut names: Vec<String> = answer
            .nodes
            .iter()
            .take(MAX_NAMES)
            .map(|number| self.markup.render_code(&all[*number].name))
            .collect();
        if let [only] = &names[..] {
            return only.clone();
        }
        if names.len() < answer.nodes.len() {
            names.push("…".into());
        }
        format!("{}: {}", count_phrase(answer.nodes.len(), "node"), names.join(", "))
    }

    /// Returns the files that lookups with one value take the value from, unless it is only the file
    /// of the hover: the first file of one lookup with the number of the others, or the first files
    /// of several lookups.
    pub(super) fn other_source(
        &self,
        resolutions: &[&Resolution],
        asked: &HoverQuestion<'_>,
    ) -> String {
        let mut sources = Vec::new();
        for resolution in resolutions {
            add_sources(&mut sources, self.part_sources(resolution, asked.narrow));
        }
        let shown = if resolutions.len() == 1 { 1 } else { MAX_FILES };
        let is_told = sources.iter().any(|source| source.path != self.subject.path);
        if !is_told {
            return String::new();
        }
        let names: Vec<String> = sources
            .iter()
            .take(shown)
            .map(|source| {
                if source.path == self.subject.path {
                    "this file".to_owned()
                } else {
                    self.source_with_path(source)
                }
            })
            .collect();
        match sources.len().saturating_sub(shown) {
            0 => format!(" ← {}", names.join(", ")),
            more => format!(" ← {} and {more} more", names.join(", ")),
        }
    }
}
