//! The page about one key: the value and the places that it comes from, before the lookup as Puppet
//! explains it. Places are links.

use std::collections::HashMap;

use crate::fleet::audience::FileAudience;
use crate::fleet::groups::{Group, Groups};
use crate::hiera::key::LookupKey;
use crate::hiera::pattern::condition_phrase;
use crate::hiera::resolution::{LookupStep, MergeSource, Outcome, Resolution, Unsettled};
use crate::ide::cursor::part_of;
use crate::ide::page_links::{PageLink, find_links};
use crate::ide::phrases::{
    PlaceNames, absence_reservation, level_title, not_evaluated, open_levels, option_phrase,
};
use crate::puppet::print::{self, PrintOptions};
use crate::text::{FilePath, Span, column_width, count_phrase};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::manifests::{CalledMerge, MergingCall};

/// The most names of nodes of a group.
const MAX_NAMES: usize = 20;

/// A row of the table of places.
struct TableRow {
    level: String,
    place: String,
    /// The parts that answers take from the place, with the number of nodes and of answers.
    states: Vec<(String, usize, usize)>,
}

/// Writes a page and remembers the places in it.
pub(super) struct Page<'a> {
    audience: &'a FileAudience<'a>,
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    key: &'a LookupKey,
    text: String,
    /// The files and lines of the places that the page names, by their names.
    places: HashMap<String, (FilePath, u32)>,
}

impl<'a> Page<'a> {
    pub(super) fn new(audience: &'a FileAudience<'a>, key: &'a LookupKey) -> Page<'a> {
        let FileAudience { snapshot, environment, .. } = *audience;
        let (text, places) = (String::new(), HashMap::new());
        Page { audience, snapshot, environment, key, text, places }
    }

    fn place_names(&self) -> PlaceNames<'a> {
        PlaceNames { snapshot: self.snapshot, root: &self.environment.root }
    }

    /// A line of text.
    pub(super) fn add_line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Returns the name of a place, which becomes a link.
    fn add_place(&mut self, span: Span) -> String {
        let names = self.place_names();
        let name = names.place_name(span);
        if let Some(path) = self.snapshot.path_of(span.file) {
            self.places.insert(name.clone(), (path.clone(), names.line_number(span)));
        }
        name
    }

    /// The value of a lookup, each leaf with its place, or the text in place of the value.
    fn add_value(&mut self, resolution: &Resolution, indent: &str) {
        let cancel = self.snapshot.cancel_token();
        let printing = PrintOptions {
            mask_encrypted: true,
            reveal_decrypted: self.snapshot.config().eyaml.reveal,
            cancel: Some(cancel),
            ..PrintOptions::default()
        };
        let text = match &resolution.value {
            _ if resolution.rests_on_open_alias() => {
                format!(
                    "not settled: {} could not be evaluated",
                    open_levels(resolution).join(", ")
                )
            }
            Ok(Some(_)) if resolution.is_secret() => print::REDACTED.to_owned(),
            Ok(Some(value)) => {
                let lines = print::yaml_lines(value, &printing);
                let named = std::cell::RefCell::new(Vec::new());
                let names = self.place_names();
                let text = print::with_comments(&lines, &|origin| {
                    named.borrow_mut().push(origin);
                    Some(names.place_name(origin))
                });
                for origin in named.into_inner() {
                    self.add_place(origin);
                }
                text
            }
            Ok(None) => match &open_levels(resolution)[..] {
                [] => {
                    let except = absence_reservation(self.snapshot, self.environment);
                    format!("no value is found{except}")
                }
                levels => format!("not settled: {} could not be evaluated", levels.join(", ")),
            },
            Err(error) => format!("the lookup fails: {}", error.print_message(&printing)),
        };
        for line in text.lines() {
            self.add_line(format!("{indent}{line}").trim_end());
        }
    }

    /// Returns the strategy, and the place that chose it; empty where the first value found counts.
    fn strategy_phrase(&mut self, resolution: &Resolution) -> String {
        let merge = &resolution.merge;
        let how = if merge.stops_at_first() {
            "the first value found counts".to_owned()
        } else {
            format!("merged {}{}", merge.name(), option_phrase(merge))
        };
        let chosen = match &resolution.merge_source {
            MergeSource::Options(entry) => entry.span,
            MergeSource::Argument => self.merging_call(resolution),
            MergeSource::Default => None,
        };
        let chosen = chosen.map(|span| format!(", as {} says", self.add_place(span)));
        let converted = resolution.convert_to.as_ref();
        let converted = converted.map(|to| format!(", converted to {}", to.type_text()));
        format!("{how}{}{}", chosen.unwrap_or_default(), converted.unwrap_or_default())
    }

    /// Returns the place of the call in code that asks for the strategy.
    fn merging_call(&self, resolution: &Resolution) -> Option<Span> {
        let code = self.snapshot.manifests(self.environment);
        match code.called_merge(&resolution.key.root_text()) {
            CalledMerge::One(MergingCall { call, .. }) => {
                Some(Span::in_file(call.file.id, call.reader.range))
            }
            CalledMerge::None | CalledMerge::Several(_) => None,
        }
    }

    /// The result of a lookup: value and places.
    pub(super) fn add_result(&mut self, resolution: &Resolution) {
        let strategy = self.strategy_phrase(resolution);
        self.add_line(&strategy);
        self.add_line("");
        self.add_value(resolution, "  ");
    }

    /// Adds the results of the known nodes that read the file, each text once.
    pub(super) fn add_results(&mut self, value: &Groups) {
        let mut results: Vec<(Vec<usize>, String)> = Vec::new();
        for Group { nodes, resolution, .. } in &value.groups {
            let above = std::mem::take(&mut self.text);
            let strategy = self.strategy_phrase(resolution);
            self.add_line(&format!("  {strategy}"));
            self.add_value(resolution, "    ");
            let text = std::mem::replace(&mut self.text, above);
            match results.iter_mut().find(|(_, known)| *known == text) {
                Some((known, _)) => known.extend(nodes),
                None => results.push((nodes.clone(), text)),
            }
        }
        let all = self.snapshot.nodes_of(self.environment);
        for (nodes, text) in results {
            let mut names: Vec<String> =
                nodes.iter().take(MAX_NAMES).map(|node| all[*node].name.to_string()).collect();
            if nodes.len() > MAX_NAMES {
                names.push(format!("… and {} more", nodes.len() - MAX_NAMES));
            }
            self.add_line("");
            self.add_line(&format!("{}: {}", count_phrase(nodes.len(), "node"), names.join(", ")));
            self.text.push_str(&text);
        }
        if !value.rest.is_empty() {
            self.add_line("");
            self.add_line(&format!("{} more nodes were not compared", value.rest.len()));
        }
    }

    /// Adds a table of the places that have the key, or may have it, in the order of the hierarchy:
    /// the rows of each answer, with the number of its nodes.
    pub(super) fn add_table(&mut self, answers: Vec<(usize, Vec<[String; 3]>)>) {
        let mut rows: Vec<TableRow> = Vec::new();
        let all = answers.len();
        for (nodes, own) in answers {
            let mut next = 0;
            for [level, place, state] in own {
                let at = rows
                    .iter()
                    .position(|row| (&row.level, &row.place) == (&level, &place))
                    .unwrap_or_else(|| {
                        let (level, place) = (level.clone(), place.clone());
                        rows.insert(next, TableRow { level, place, states: Vec::new() });
                        next
                    });
                let states = &mut rows[at].states;
                match states.iter_mut().find(|(known, ..)| *known == state) {
                    Some((_, count, answers)) => {
                        (*count, *answers) = (*count + nodes, *answers + 1)
                    }
                    None => states.push((state, nodes, 1)),
                }
                next = at + 1;
            }
        }
        if rows.is_empty() {
            return;
        }
        self.add_line("");
        self.add_line("Places, in the order of the hierarchy");
        let level = column_width(rows.iter().map(|row| &*row.level));
        let place = column_width(rows.iter().map(|row| &*row.place));
        for row in &rows {
            let states: Vec<String> = row
                .states
                .iter()
                .map(|(state, nodes, number)| match (*number == all, nodes) {
                    (true, _) => state.clone(),
                    (false, 1) => format!("{state} (1 node)"),
                    (false, nodes) => format!("{state} ({nodes} nodes)"),
                })
                .collect();
            let (name, at, state) = (&row.level, &row.place, states.join(", "));
            let line = format!("  {name:level$}  {at:place$}  {state}");
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    /// Returns the rows of a group: those of its answer, and those that only a case has, as where the
    /// answer fails and the case does not.
    pub(super) fn rows_of_group(&mut self, group: &Group) -> Vec<[String; 3]> {
        let mut rows = self.rows_of_answer(&group.resolution);
        for case in &group.cases {
            let Some(resolution) = &case.resolution else { continue };
            let is_first = resolution.merge.stops_at_first();
            let condition = match &case.when[..] {
                [] => String::new(),
                when => format!(" where {}", condition_phrase(&when.iter().cloned().collect())),
            };
            let mut next = 0;
            for step in &resolution.steps {
                if matches!(step.outcome, Outcome::Undetermined { .. }) {
                    continue; // Another case has these files, or the answer itself.
                }
                for [level, place, state] in self.rows_of(step, is_first) {
                    match rows.iter().position(|row| row[1] == place) {
                        Some(at) => next = at + 1,
                        None => {
                            rows.insert(next, [level, place, state + &condition]);
                            next += 1;
                        }
                    }
                }
            }
        }
        rows
    }

    /// Returns the rows of one answer: level, place, and what the answer takes from the place. Of a
    /// file that several levels read, it is the first row that is certain.
    pub(super) fn rows_of_answer(&mut self, resolution: &Resolution) -> Vec<[String; 3]> {
        let mut rows: Vec<(bool, [String; 3])> = Vec::new();
        let is_first = resolution.merge.stops_at_first();
        for step in &resolution.steps {
            let is_certain = !matches!(step.outcome, Outcome::Undetermined { .. });
            for row in self.rows_of(step, is_first) {
                rows.retain(|(was_certain, known)| {
                    *was_certain || !is_certain || !is_same_place(known, &row)
                });
                if !rows.iter().any(|(_, known)| is_same_place(known, &row)) {
                    rows.push((is_certain, row));
                }
            }
        }
        let mut rows: Vec<[String; 3]> = rows.into_iter().map(|(_, row)| row).collect();
        let open: Vec<&Unsettled> =
            resolution.unsettled.iter().filter(|file| self.may_decide(file)).collect();
        for file in open {
            let place = self.place_of_file(file);
            if !rows.iter().any(|row| row[1] == place) {
                rows.push([format!("({})", file.key), place, condition_phrase(&file.when)]);
            }
        }
        rows
    }

    /// Whether a file may decide about the key for the audience: a node that reads it is no known
    /// node outside of the audience, and the file has the part that the key names.
    fn may_decide(&self, file: &Unsettled) -> bool {
        let root = self.key.root_text();
        let has_part = || {
            let data = self.snapshot.view(self.environment).data_of(&file.path)?;
            part_of(self.key, &data.get(&root)?.value)
        };
        !self.audience.is_foreign_file(file) && (*file.key != *root || has_part().is_some())
    }

    fn place_of_file(&mut self, file: &Unsettled) -> String {
        match file.span {
            Some(span) => self.add_place(span),
            None => self.place_names().short_path(&file.path).to_owned(),
        }
    }

    fn rows_of(&mut self, step: &LookupStep, is_first: bool) -> Vec<[String; 3]> {
        let level = level_title(&step.layer, &step.level.name);
        match &step.outcome {
            Outcome::Found { path, key, value } => {
                let Some((place, _)) = part_of(self.key, value) else { return Vec::new() };
                let place = if self.key.subkeys.is_empty() { *key } else { place.or(*key) };
                let place = match place {
                    Some(span) => self.add_place(span),
                    None => self.place_names().short_path(path).to_owned(),
                };
                single_row(place, if is_first { "the value" } else { "merged" }, &level)
            }
            Outcome::NotReached { shadowed: Some((key, value)), .. } => {
                let Some((place, _)) = part_of(self.key, value) else { return Vec::new() };
                let place = if self.key.subkeys.is_empty() { *key } else { place.or(*key) };
                let place = place.map_or_else(String::new, |span| self.add_place(span));
                single_row(place, "overridden", &level)
            }
            Outcome::Undetermined { candidates, .. } => {
                let open: Vec<_> = candidates.iter().filter(|file| self.may_decide(file)).collect();
                let rows = open.into_iter().map(|file| {
                    let place = self.place_of_file(file);
                    [level.clone(), place, format!("where {}", condition_phrase(&file.when))]
                });
                rows.collect()
            }
            Outcome::Answered { backend, value } => {
                if part_of(self.key, value).is_none() {
                    return Vec::new();
                }
                let place = backend.span.map_or_else(String::new, |span| self.add_place(span));
                let state = if is_first { "the value" } else { "merged" };
                single_row(place, &format!("{state}, from the function {}", backend.name), &level)
            }
            Outcome::NotAnswered(backend) => single_row(
                String::new(),
                &format!("the function {} does not have the key", backend.name),
                &level,
            ),
            Outcome::Opaque(backend) => {
                single_row(String::new(), &not_evaluated(backend, &backend.name), &level)
            }
            Outcome::Unread { path, message } => single_row(
                self.place_names().short_path(path).to_owned(),
                &format!("not read: {message}"),
                &level,
            ),
            Outcome::Failed(path) => {
                let data = self.snapshot.view(self.environment).data_of(path);
                let root = self.key.root_text();
                let place = match data.and_then(|data| data.definition_span(&root)) {
                    Some(span) => self.add_place(span),
                    None => self.place_names().short_path(path).to_owned(),
                };
                single_row(place, "fails", &level)
            }
            _ => Vec::new(),
        }
    }

    /// Returns the text, with its links. A place is one where it is a word of its own.
    pub(super) fn into_text(self) -> (String, Vec<PageLink>) {
        let links = find_links(&self.text, |word| self.named_place(word));
        (self.text, links)
    }

    /// Returns the place that a word names: one of the page, or one that Puppet's explanation
    /// quotes.
    fn named_place<'w>(&self, word: &'w str) -> Option<(&'w str, FilePath, u32)> {
        let name = word.trim_end_matches(',');
        if let Some((path, line)) = self.places.get(name) {
            return Some((name, path.clone(), *line));
        }
        let quoted = word.strip_prefix('"')?.strip_suffix('"')?;
        let (path, line) = match quoted.rsplit_once(':') {
            Some((path, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => {
                (path, line.parse().ok()?)
            }
            _ => (quoted, 1),
        };
        let path = FilePath::new(path);
        self.snapshot.file(&path).is_some().then_some((quoted, path, line))
    }
}

fn single_row(place: String, state: &str, level: &str) -> Vec<[String; 3]> {
    vec![[level.to_owned(), place, state.to_owned()]]
}

fn is_same_place(known: &[String; 3], row: &[String; 3]) -> bool {
    !row[1].is_empty() && known[1] == row[1]
}
