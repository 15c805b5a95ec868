//! Answers of lookups for nodes, as reports print them: for people as YAML, for programs as JSON.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::hash::Hash;
use std::io::{self, Write};
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::Status;
use crate::fleet::groups::{Case, Group};
use crate::hiera::resolution::{Outcome, Resolution};
use crate::ide::phrases::{PlaceNames, level_names, open_levels};
use crate::puppet::print::{self, PrintOptions};
use crate::text::escape::terminal_lines;
use crate::workspace::nodes::Node;

/// How a lookup ended; the worst of many answers decides the exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Verdict {
    /// There is a value.
    Found,
    /// There is no value.
    NotFound,
    /// There is no value, and levels that could not be evaluated may have one.
    NotSettled,
    /// The lookup fails.
    Failed,
}

impl Verdict {
    pub(super) fn of_answer(resolution: &Resolution) -> Verdict {
        match &resolution.value {
            Ok(Some(_)) => Verdict::Found,
            Ok(None) if resolution.unsettled_levels.is_empty() => Verdict::NotFound,
            Ok(None) => Verdict::NotSettled,
            Err(_) => Verdict::Failed,
        }
    }

    pub(super) fn to_status(self) -> Status {
        match self {
            Verdict::Found => Status::Good,
            Verdict::NotFound => Status::Bad,
            Verdict::NotSettled => Status::NotSettled,
            Verdict::Failed => Status::CouldNotRun,
        }
    }
}

/// Nodes whose answers are printed alike.
pub(super) struct PrintedAnswer<T> {
    pub(super) printed: T,
    /// The numbers of the nodes among the nodes of the environment, in order.
    pub(super) nodes: Vec<usize>,
    pub(super) verdict: Verdict,
}

/// Joins the groups whose answers are printed alike; those of most nodes come first.
pub(super) fn join_alike<'a, T: Eq + Hash>(
    groups: impl IntoIterator<Item = &'a Group>,
    print: impl Fn(&Group) -> T,
) -> Vec<PrintedAnswer<T>> {
    let mut joined: IndexMap<(T, Verdict), Vec<usize>, RandomState> = IndexMap::default();
    for group in groups {
        let verdict = group.resolutions().map(Verdict::of_answer).max();
        let verdict = verdict.unwrap_or(Verdict::NotSettled);
        joined.entry((print(group), verdict)).or_default().extend(&group.nodes);
    }
    let mut answers: Vec<PrintedAnswer<T>> = joined
        .into_iter()
        .map(|((printed, verdict), mut nodes)| {
            nodes.sort_unstable();
            PrintedAnswer { printed, nodes, verdict }
        })
        .collect();
    answers.sort_by_key(|answer| (Reverse(answer.nodes.len()), answer.nodes[0]));
    answers
}

/// The names of nodes as texts of JSON.
pub(super) struct JsonNames {
    /// The names in the order of the nodes, each with a comma behind it.
    text: String,
    /// Where the text of each node ends, in bytes, behind its comma.
    ends: Vec<usize>,
}

impl JsonNames {
    pub(super) fn new(nodes: &[Arc<Node>]) -> JsonNames {
        let (mut text, mut ends) = (String::new(), Vec::with_capacity(nodes.len()));
        for node in nodes {
            print::json_string(&node.name, &mut text);
            text.push(',');
            ends.push(text.len());
        }
        JsonNames { text, ends }
    }

    /// Returns the name of the node with this number.
    pub(super) fn name(&self, number: usize) -> &str {
        self.joined_names(number, number)
    }

    /// Returns the names of these nodes, whose numbers are in order, as texts that follow each other
    /// in a list: one for each run of adjacent numbers, as most nodes mostly have one answer.
    fn lists<'n>(&'n self, numbers: &'n [usize]) -> impl Iterator<Item = &'n str> {
        numbers
            .chunk_by(|one, next| one + 1 == *next)
            .map(|run| self.joined_names(run[0], run[run.len() - 1]))
    }

    /// Returns the names from the first to the last of these nodes, with commas between them.
    fn joined_names(&self, first: usize, last: usize) -> &str {
        let start = if first == 0 { 0 } else { self.ends[first - 1] };
        &self.text[start..self.ends[last] - 1]
    }
}

/// Writes a line of JSON for nodes with one answer. `members` has a comma before each member.
pub(super) fn write_group(
    (key, names): (&str, &JsonNames),
    nodes: &[usize],
    members: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut head = String::from("{\"key\":");
    print::json_string(key, &mut head);
    write!(out, "{head},\"count\":{},\"nodes\":[", nodes.len())?;
    let mut comma: &[u8] = b"";
    for list in names.lists(nodes) {
        out.write_all(comma)?;
        out.write_all(list.as_bytes())?;
        comma = b",";
    }
    writeln!(out, "]{members}}}")
}

/// Prints answers.
#[derive(Clone, Copy)]
pub(super) struct AnswerPrinter<'a> {
    pub(super) options: PrintOptions<'a>,
    pub(super) names: PlaceNames<'a>,
    /// Whether the file and line of each leaf is written behind it.
    pub(super) has_places: bool,
}

impl AnswerPrinter<'_> {
    /// Returns the value as a document of YAML, each line with its end; an empty text without one.
    pub(super) fn value_text(&self, resolution: &Resolution) -> String {
        let Ok(Some(value)) = &resolution.value else { return String::new() };
        let lines = print::yaml_lines(value, &self.options);
        terminal_lines(&print::with_comments(&lines, &|origin| {
            self.has_places.then(|| self.names.place_name(origin))
        }))
        .into_owned()
    }

    /// Returns in words that there is no value, or what may change the value; `None` for a value
    /// that is settled.
    pub(super) fn remark(&self, resolution: &Resolution) -> Option<String> {
        match (&resolution.value, Verdict::of_answer(resolution)) {
            (Err(error), _) => {
                Some(format!("the lookup fails: {}", error.print_message(&self.options)))
            }
            (_, Verdict::NotFound) => Some("not found".into()),
            (_, Verdict::NotSettled) => Some(format!(
                "not found; {} could not be evaluated and may have a value",
                list_open_levels(resolution)
            )),
            _ if !resolution.unsettled_levels.is_empty() => Some(format!(
                "{} could not be evaluated and may change the value",
                list_open_levels(resolution)
            )),
            _ => None,
        }
    }

    /// Returns members of a JSON object, with a comma before each: the value with the file and line
    /// of its first source, or that there is none, or the error.
    pub(super) fn json_members(&self, resolution: &Resolution) -> String {
        const USUAL_LENGTH: usize = 128;
        let mut out = String::with_capacity(USUAL_LENGTH);
        match &resolution.value {
            Ok(Some(value)) => {
                out.push_str(",\"value\":");
                out.push_str(&print::print_json(value, &self.options));
                if let Some((file, line)) = self.first_place(resolution) {
                    out.push_str(",\"file\":");
                    print::json_string(file, &mut out);
                    match line {
                        Some(line) => write!(out, ",\"line\":{line}").expect("writing to a string"),
                        None => out.push_str(",\"line\":null"),
                    }
                }
            }
            Ok(None) => out.push_str(",\"found\":false"),
            Err(error) => {
                out.push_str(",\"error\":");
                print::json_string(&error.print_message(&self.options), &mut out);
            }
        }
        if !resolution.unsettled_levels.is_empty() {
            let levels: serde_json::Value = level_names(&resolution.unsettled_levels).into();
            write!(out, ",\"settled\":false,\"unsettled_levels\":{levels}")
                .expect("writing to a string");
        }
        out
    }

    /// Returns the members of a JSON object for the answer of a group, as
    /// [`AnswerPrinter::json_members`] does; where unknown variables decide the answer, the only
    /// member is the list `cases`.
    pub(super) fn group_members(&self, group: &Group) -> String {
        if group.cases.is_empty() {
            return self.json_members(&group.resolution);
        }
        let cases: Vec<String> = group.cases.iter().map(|case| self.case_members(case)).collect();
        format!(",\"cases\":[{}]", cases.join(","))
    }

    fn case_members(&self, case: &Case) -> String {
        let when: serde_json::Map<String, serde_json::Value> =
            case.when.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        let when = serde_json::Value::Object(when);
        let members = match &case.resolution {
            Some(resolution) => self.json_members(resolution),
            None => ",\"settled\":false".into(),
        };
        format!("{{\"when\":{when}{members}}}")
    }

    /// Returns the file and line of the first place that an answer comes from; no line for a file
    /// without lines of its own for keys.
    fn first_place<'r>(&'r self, resolution: &'r Resolution) -> Option<(&'r str, Option<u32>)> {
        resolution.steps.iter().find_map(|step| match &step.outcome {
            Outcome::Found { path, key, .. } => {
                Some((self.names.short_path(path), key.map(|span| self.names.line_number(span))))
            }
            _ => None,
        })
    }
}

fn list_open_levels(resolution: &Resolution) -> String {
    open_levels(resolution).join(", ")
}
