//! The values under assumptions, where the variables that decide are unknown: a line for each value
//! that the names of files lead to.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use super::answer::ShownPart;
use super::markup::count_phrase;
use super::{HoverQuestion, HoverWriter};
use crate::fleet::alternatives::{Assumed, Case, find_alternatives};
use crate::fleet::groups::FleetQuestion;
use crate::hiera::resolution::{Resolution, Unsettled};
use crate::hiera::scope::Scope;
use crate::workspace::nodes::InferStep;

/// The most lookups with assumptions for one hover.
const MAX_LOOKUPS: usize = 48;
/// The most values to list for one node, or for nodes that agree.
const MAX_VALUES: usize = 6;
/// The most assumptions to name beside a value.
const MAX_ASSUMPTIONS: usize = 4;

/// A value, and the assumptions under which it applies. The first row with an assumption that holds
/// counts; an assumption of the last row always holds.
#[derive(Clone)]
pub(super) struct Row {
    when: Vec<Assumed>,
    /// The value; `None` where it was not looked up.
    pub(super) shown: Option<ShownPart>,
    pub(super) resolution: Option<Resolution>,
    /// The number of files that may change it all the same.
    others: usize,
}

/// The state that all lookups with assumptions of one hover share.
pub(super) struct CaseSearch<'a> {
    /// How many lookups may still be made.
    lookups: usize,
    /// The names of the known nodes, once they were needed.
    names: OnceCell<HashSet<&'a str>>,
    /// The names of known nodes outside of the hover's audience, once they were needed.
    elsewhere: OnceCell<HashSet<&'a str>>,
}

impl Default for CaseSearch<'_> {
    fn default() -> Self {
        CaseSearch { lookups: MAX_LOOKUPS, names: OnceCell::new(), elsewhere: OnceCell::new() }
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        (&self.when, &self.shown, self.others) == (&other.when, &other.shown, other.others)
    }
}

impl<'a> HoverWriter<'a> {
    /// Returns the values to which a lookup in a scope may come: one row where unknown variables
    /// make no difference. Values of variables that are names of known nodes are those of other
    /// nodes.
    pub(super) fn find_cases(
        &self,
        asked: &HoverQuestion<'_>,
        (scope, resolution): (&Scope, &Resolution),
        trying: &mut CaseSearch<'a>,
    ) -> Vec<Row> {
        let environment = &self.subject.environment;
        let only = |others| Row {
            when: vec![Assumed::new()],
            shown: Some(self.shown_part(resolution, asked.narrow)),
            resolution: None,
            others,
        };
        if resolution.unsettled.is_empty() {
            return vec![only(0)];
        }
        let is_on = self.snapshot.config_of(environment).nodes.infer.has_step(InferStep::Kinds);
        let mut cases = Vec::new();
        let names = trying.names.get_or_init(|| self.names_of_known());
        let elsewhere = trying.elsewhere.get_or_init(|| self.names_elsewhere());
        let is_foreign = |value: &str| names.contains(value);
        if is_on {
            let question = FleetQuestion {
                snapshot: self.snapshot,
                environment,
                root: &asked.root.root_text(),
                lookup: &|scope| self.resolve(&asked.root, scope),
                max_lookups: 0,
            };
            cases =
                find_alternatives(&question, scope, resolution, &is_foreign, &mut trying.lookups);
        }
        let others = |found: &Resolution| {
            let is_own = |file: &&Unsettled| match scope.is_node {
                true => !file.when.values().any(|value| is_foreign(value)),
                false => !self.is_of(elsewhere, file),
            };
            found.unsettled.iter().filter(is_own).count()
        };
        if cases.is_empty() {
            return vec![only(others(resolution))];
        }
        let row = |case: Case| {
            let shown = case.resolution.as_ref().map(|found| self.shown_part(found, asked.narrow));
            let others = case.resolution.as_ref().map_or(0, others);
            Row { when: vec![case.when], shown, resolution: case.resolution, others }
        };
        merge_rows(without_repeats(cases.into_iter().map(row).collect()))
    }

    /// Returns the names of the known nodes.
    fn names_of_known(&self) -> HashSet<&'a str> {
        let nodes = self.snapshot.nodes_of(&self.subject.environment);
        nodes.iter().map(|node| &*node.name).collect()
    }

    /// Returns a line for each row, each behind `indent`.
    pub(super) fn render_rows(
        &self,
        rows: &[Row],
        asked: &HoverQuestion<'_>,
        indent: &str,
    ) -> String {
        let mut out = String::new();
        let is_all = rows.len() <= MAX_VALUES;
        let shown = if is_all { rows.len() } else { MAX_VALUES - 1 };
        let line = |number: usize| {
            let row = &rows[number];
            let value = match &row.shown {
                Some(shown) => self.short_phrase(shown),
                None => "not looked up".to_owned(),
            };
            let place = row
                .resolution
                .as_ref()
                .map_or_else(String::new, |resolution| self.other_source(resolution, asked));
            format!(
                "{indent}- {value} {}{}{place}\n",
                self.condition_phrase(rows, number),
                exception_phrase(row)
            )
        };
        (0..shown).for_each(|number| out.push_str(&line(number)));
        if !is_all {
            let left_out = &rows[shown..rows.len() - 1];
            let conditions: Vec<String> = left_out
                .iter()
                .take(MAX_ASSUMPTIONS)
                .map(|row| self.assumption_phrase(row))
                .collect();
            let end = if conditions.len() < left_out.len() { ", …" } else { "" };
            let values = count_phrase(left_out.len(), "other value");
            writeln!(out, "{indent}- {values} where {}{end}", conditions.join(", "))
                .expect("writing to a string");
            out.push_str(&line(rows.len() - 1));
        }
        out
    }

    /// Returns the variables that rows assume, in words; empty where they assume none.
    pub(super) fn assumed_names<'r>(&self, rows: impl IntoIterator<Item = &'r Row>) -> String {
        let whens = rows.into_iter().flat_map(|row| row.when.iter().flatten());
        let names: BTreeSet<&str> = whens.map(|(name, _)| name.as_str()).collect();
        let names: Vec<String> =
            names.into_iter().map(|name| self.markup.render_code(name)).collect();
        if names.is_empty() {
            return String::new();
        }
        let are = if names.len() == 1 { "is" } else { "are" };
        format!(
            "\n{} {are} unknown: the values are those in the names of files\n",
            names.join(", ")
        )
    }

    /// Returns `where role = web`; `otherwise where` in a row over which another one above it may
    /// take precedence.
    fn condition_phrase(&self, rows: &[Row], number: usize) -> String {
        let row = &rows[number];
        if row.when.iter().any(Vec::is_empty) {
            return "otherwise".into();
        }
        let overlaps = rows[..number].iter().any(|above| are_compatible(above, row));
        let otherwise = if overlaps { "otherwise, " } else { "" };
        format!("{otherwise}where {}", self.assumption_phrase(row))
    }

    fn assumption_phrase(&self, row: &Row) -> String {
        let text = |(name, value): &(String, String)| format!("{name} = {value}");
        let more = row.when.len().saturating_sub(MAX_ASSUMPTIONS);
        let end = if more > 0 { format!(" or {more} more") } else { String::new() };
        let listed = &row.when[..row.when.len() - more];
        // For one variable, the text lists only its values.
        if let [first, ..] = listed
            && let [(name, _)] = &first[..]
            && row.when.iter().all(|when| matches!(&when[..], [(other, _)] if other == name))
        {
            let values: Vec<&str> = listed.iter().map(|when| when[0].1.as_str()).collect();
            let values = match (values.split_last(), more) {
                (Some((last, others)), 0) if !others.is_empty() => {
                    format!("{} or {last}", others.join(", "))
                }
                _ => values.join(", "),
            };
            return self.markup.render_text(&format!("{name} = {values}")) + &end;
        }
        let each: Vec<String> = listed
            .iter()
            .map(|when| when.iter().map(text).collect::<Vec<_>>().join(" and "))
            .collect();
        self.markup.render_text(&each.join(", or ")) + &end
    }
}

fn exception_phrase(row: &Row) -> String {
    match row.others {
        0 => String::new(),
        1 => ", unless another file changes it".into(),
        count => format!(", unless one of {count} files changes it"),
    }
}

/// Whether an assumption of both rows may hold at once.
fn are_compatible(one: &Row, other: &Row) -> bool {
    let fits = |a: &Assumed, b: &Assumed| {
        !a.iter().any(|(name, value)| b.iter().any(|(known, it)| known == name && it != value))
    };
    one.when.iter().any(|a| other.when.iter().any(|b| fits(a, b)))
}

/// Whether some assumption of `other` holds wherever one of `row` does.
fn covers_row(other: &Row, row: &Row) -> bool {
    row.when.iter().all(|own| other.when.iter().any(|when| when.iter().all(|it| own.contains(it))))
}

fn is_same_value(one: &Row, other: &Row) -> bool {
    one.shown.is_some() && (&one.shown, one.others) == (&other.shown, other.others)
}

/// Drops rows that an earlier one takes precedence over, and rows that a later one repeats.
fn without_repeats(all: Vec<Row>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for row in all {
        if !rows.iter().any(|above| covers_row(above, &row)) {
            rows.push(row);
        }
    }
    for number in (0..rows.len().saturating_sub(1)).rev() {
        let row = &rows[number];
        let mut later = rows[number + 1..].iter().filter(|other| are_compatible(row, other));
        let is_repeated = loop {
            match later.next() {
                Some(other) if !is_same_value(row, other) => break false,
                Some(other) if covers_row(other, row) => break true,
                Some(_) => {}
                None => break false,
            }
        };
        if is_repeated {
            rows.remove(number);
        }
    }
    rows
}

/// Rows with the same value as one, where no row between them may take precedence.
fn merge_rows(rows: Vec<Row>) -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    for row in rows {
        let is_last = row.when.iter().any(Vec::is_empty);
        let between = all.iter().rev().take_while(|above| !are_compatible(above, &row)).count();
        let free = all.len() - between;
        // The row just above those counts as well: nothing stands between the two.
        let from = free.saturating_sub(1);
        let same = all[from..].iter().position(|above| {
            is_same_value(above, &row) || above.shown.is_none() && row.shown.is_none()
        });
        match same.filter(|_| !is_last) {
            Some(at) => all[from + at].when.extend(row.when),
            None => all.push(row),
        }
    }
    all
}
