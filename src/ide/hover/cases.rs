//! The values under assumptions, where the variables that decide are unknown: a line for each value
//! that the names of files lead to.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::answer::ShownPart;
use super::{HoverQuestion, HoverWriter};
use crate::fleet::groups::{Assumed, Case, Group};
use crate::hiera::resolution::Resolution;
use crate::text::count_phrase;

/// The most values to list for one node, or for nodes that agree.
const MAX_VALUES: usize = 6;
/// The most differences from a long value to list.
const MAX_DIFFERENCES: usize = 3;
/// The most assumptions to name beside a value.
const MAX_ASSUMPTIONS: usize = 4;

/// Returns how many of several values a list has, each on a line of its own: the most if a line counts
/// two or more others, else all, as a value needs no more room than the count of one.
pub(super) fn listed_count(count: usize, max: usize) -> usize {
    if count <= max + 1 { count } else { max }
}

/// A value, and the assumptions under which it applies. The first row with an assumption that holds
/// counts; an assumption of the last row always holds.
#[derive(Clone)]
pub(super) struct Row<'g> {
    when: Vec<Assumed>,
    /// The value; `None` where it was not looked up.
    pub(super) shown: Option<ShownPart>,
    /// The lookups with the value, that of the last assumption first; none where it was not looked
    /// up.
    pub(super) resolutions: Vec<&'g Resolution>,
    /// The number of files that may change the value all the same.
    others: usize,
}

impl PartialEq for Row<'_> {
    fn eq(&self, other: &Row<'_>) -> bool {
        (&self.when, &self.shown, self.others) == (&other.when, &other.shown, other.others)
    }
}

impl HoverWriter<'_> {
    /// Returns the values to which the lookup of a group may come: one row where unknown variables
    /// make no difference.
    pub(super) fn find_cases<'g>(
        &self,
        asked: &HoverQuestion<'_>,
        group: &'g Group,
    ) -> Vec<Row<'g>> {
        // A file is that of another node where the value of a variable in its path is the name of a
        // known node: such a file does not count.
        let others = |found: &Resolution| {
            found
                .unsettled
                .iter()
                .filter(|file| {
                    if group.scope.is_node {
                        !self.audience.is_file_of_known_node(file)
                    } else {
                        !self.audience.is_foreign_file(file)
                    }
                })
                .count()
        };
        if group.cases.is_empty() {
            return vec![Row {
                when: vec![Assumed::new()],
                shown: Some(self.shown_part(&group.resolution, asked.narrow)),
                resolutions: vec![&group.resolution],
                others: others(&group.resolution),
            }];
        }
        merge_rows(lift_covering(without_repeats(
            group
                .cases
                .iter()
                .map(|case: &'g Case| {
                    let shown =
                        case.resolution.as_ref().map(|found| self.shown_part(found, asked.narrow));
                    let others = case.resolution.as_ref().map_or(0, others);
                    Row {
                        when: vec![case.when.clone()],
                        shown,
                        resolutions: case.resolution.iter().collect(),
                        others,
                    }
                })
                .collect(),
        )))
    }

    /// Writes the value of the last of several rows in full where it is long, so that the lines of the
    /// others tell how they differ. Returns the value, or `None` where it is short.
    pub(super) fn render_last_row<'r>(
        &self,
        rows: &'r [Row<'_>],
        asked: &HoverQuestion<'_>,
        out: &mut String,
    ) -> Option<&'r ShownPart> {
        let Row { shown: Some(shown), resolutions, .. } = rows.last()? else { return None };
        let (resolution, others) = resolutions.split_first()?;
        let ShownPart::Value(value) = shown else { return None };
        if !self.is_long(value) {
            return None;
        }
        let sources = self.part_sources(resolution, asked.narrow);
        let others = self.sources_of_others(&sources, others, asked.narrow);
        let from = self.render_provenance(resolution, &sources, &others);
        let end = if from.is_empty() { "" } else { self.markup.line_end() };
        writeln!(out, "without the files below{end}{from}\n").expect("writing to a string");
        out.push_str(&self.block_value(value, &sources));
        out.push('\n');
        Some(shown)
    }

    /// Returns a line for each row, each behind `indent`. A long value is told by its difference from
    /// `base`. The last row is left out where `base` is its own value, which is written above; an
    /// equal value of other nodes is listed, as its place and its condition may be others.
    pub(super) fn render_rows(
        &self,
        rows: &[Row<'_>],
        base: Option<&ShownPart>,
        asked: &HoverQuestion<'_>,
        indent: &str,
    ) -> String {
        let mut out = String::new();
        let (listed, max) = match rows.split_last() {
            Some((last, others))
                if last
                    .shown
                    .as_ref()
                    .is_some_and(|shown| base.is_some_and(|base| std::ptr::eq(base, shown))) =>
            {
                (others, MAX_DIFFERENCES)
            }
            _ => (rows, MAX_VALUES),
        };
        let has_last = listed.len() == rows.len();
        let shown = listed_count(listed.len(), max);
        let is_all = shown == listed.len();
        let shown = if is_all { shown } else { shown - usize::from(has_last) };
        let line = |number: usize| {
            let row = &rows[number];
            let condition = self.condition_phrase(rows, number) + &exception_phrase(row);
            let difference = row
                .shown
                .as_ref()
                .and_then(|shown| self.describe_difference(base, shown, &row.resolutions, asked));
            if let Some(difference) = difference {
                return format!("{indent}- {condition} · {difference}\n");
            }
            let value = match &row.shown {
                Some(shown) => {
                    self.listed_phrase(shown, rows.iter().filter_map(|row| row.shown.as_ref()))
                }
                None => "not looked up".to_owned(),
            };
            let place = self.other_source(&row.resolutions, asked);
            format!("{indent}- {value} {condition}{place}\n")
        };
        (0..shown).for_each(|number| out.push_str(&line(number)));
        if !is_all {
            let left_out = &listed[shown..listed.len() - usize::from(has_last)];
            let conditions: Vec<String> = left_out
                .iter()
                .take(MAX_ASSUMPTIONS)
                .map(|row| self.assumption_phrase(row))
                .collect();
            let end = if conditions.len() < left_out.len() { ", …" } else { "" };
            let values = count_phrase(left_out.len(), "other value");
            writeln!(out, "{indent}- {values} where {}{end}", conditions.join(", "))
                .expect("writing to a string");
            if has_last {
                out.push_str(&line(rows.len() - 1));
            }
        }
        out
    }

    /// Returns the variables that rows assume, in words; empty where they assume none.
    pub(super) fn assumed_names<'r>(&self, rows: impl IntoIterator<Item = &'r Row<'r>>) -> String {
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
    fn condition_phrase(&self, rows: &[Row<'_>], number: usize) -> String {
        let row = &rows[number];
        if row.when.iter().any(Vec::is_empty) {
            return "otherwise".into();
        }
        let overlaps = rows[..number].iter().any(|above| are_compatible(above, row));
        let otherwise = if overlaps { "otherwise, " } else { "" };
        format!("{otherwise}where {}", self.assumption_phrase(row))
    }

    fn assumption_phrase(&self, row: &Row<'_>) -> String {
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
            .map(|when| {
                when.iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect::<Vec<_>>()
                    .join(" and ")
            })
            .collect();
        self.markup.render_text(&each.join(", or ")) + &end
    }
}

fn exception_phrase(row: &Row<'_>) -> String {
    match row.others {
        0 => String::new(),
        1 => ", unless another file changes it".into(),
        count => format!(", unless one of {count} files changes it"),
    }
}

/// Whether an assumption of both rows may hold at once.
fn are_compatible(one: &Row<'_>, other: &Row<'_>) -> bool {
    one.when.iter().any(|a| other.when.iter().any(|b| fit_together(a, b)))
}

/// Whether both assumptions may hold at once.
fn fit_together(one: &Assumed, other: &Assumed) -> bool {
    !one.iter().any(|(name, value)| other.iter().any(|(known, it)| known == name && it != value))
}

/// Whether some assumption of `other` holds wherever one of `row` does.
fn covers_row(other: &Row, row: &Row<'_>) -> bool {
    row.when.iter().all(|own| other.when.iter().any(|when| when.iter().all(|it| own.contains(it))))
}

fn is_same_value(one: &Row<'_>, other: &Row<'_>) -> bool {
    one.shown.is_some() && (&one.shown, one.others) == (&other.shown, other.others)
}

/// Drops rows that a later one repeats, which keeps their lookups.
fn without_repeats(mut rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    for number in (0..rows.len().saturating_sub(1)).rev() {
        let row = &rows[number];
        let mut later = (number + 1..rows.len()).filter(|later| are_compatible(row, &rows[*later]));
        let repeating = later
            .find(|later| !is_same_value(row, &rows[*later]) || covers_row(&rows[*later], row));
        if let Some(later) = repeating.filter(|later| is_same_value(row, &rows[*later])) {
            let repeated = std::mem::take(&mut rows[number].resolutions);
            rows[later].resolutions.extend(repeated);
            rows.remove(number);
        }
    }
    rows
}

/// Moves a row to the place of one above it that it covers, and whose value it has, where that
/// changes no answer: wherever the row and one between them hold, one with that value stands above.
fn lift_covering(mut rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    let mut number = 0;
    while number < rows.len() {
        let lower = (number + 1..rows.len().saturating_sub(1)).find(|lower| {
            let (row, one) = (&rows[number], &rows[*lower]);
            is_same_value(row, one)
                && covers_row(one, row)
                && is_free_between(*lower, number, &rows)
        });
        if let Some(lower) = lower {
            let mut lifted = rows.remove(lower);
            // The rows that the lifted row covers never apply now, and have the value of the lifted
            // row.
            let below = rows.split_off(number);
            let (covered, others): (Vec<Row<'_>>, Vec<Row<'_>>) =
                below.into_iter().partition(|row| covers_row(&lifted, row));
            lifted.resolutions.extend(covered.into_iter().flat_map(|row| row.resolutions));
            rows.push(lifted);
            rows.extend(others);
        }
        number += 1;
    }
    rows
}

fn is_free_between(lower: usize, number: usize, rows: &[Row<'_>]) -> bool {
    (number + 1..lower).all(|between| {
        let equal = rows[number..=between].iter();
        let equal = equal.filter(|row| is_same_value(row, &rows[lower]));
        let equal: Vec<&Assumed> = equal.flat_map(|row| &row.when).collect();
        covers_overlap(&equal, &rows[between], &rows[lower])
    })
}

/// Whether one of some assumptions holds wherever an assumption of each of two rows does at once.
fn covers_overlap(some: &[&Assumed], one: &Row<'_>, other: &Row<'_>) -> bool {
    one.when.iter().all(|a| {
        other
            .when
            .iter()
            .filter(|b| fit_together(a, b))
            .all(|b| some.iter().any(|when| when.iter().all(|it| a.contains(it) || b.contains(it))))
    })
}

/// Merges rows with the same value into one, where no row between them may take precedence.
fn merge_rows(rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    let mut all: Vec<Row<'_>> = Vec::new();
    for row in rows {
        let is_last = row.when.iter().any(Vec::is_empty);
        let between = all.iter().rev().take_while(|above| !are_compatible(above, &row)).count();
        let free = all.len() - between;
        // The first compatible row above counts as well: no compatible row stands between it and
        // `row`.
        let from = free.saturating_sub(1);
        let same = all[from..].iter().position(|above| {
            is_same_value(above, &row) || above.shown.is_none() && row.shown.is_none()
        });
        match same.filter(|_| !is_last) {
            Some(at) => {
                all[from + at].when.extend(row.when);
                all[from + at].resolutions.extend(row.resolutions);
            }
            None => all.push(row),
        }
    }
    all
}
