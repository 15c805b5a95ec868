//! Findings that the user accepts: by comments in the file, and by patterns of paths in settings.
//!
//! `# hiera-ls: ignore[code] reason` concerns the line that it ends, or, on a line of its own, the
//! entry below it; `# hiera-ls: ignore-file[code] reason` concerns the file. JSON and HOCON have no
//! such comments here: settings accept findings in these files.

use std::borrow::Borrow;
use std::collections::HashMap;

use super::rule::{Check, IgnoreCode, UnusedIgnore};
use super::rules::merge_conflict;
use super::{Finding, RulesConfig, enabled_rules, in_order, rules};
use crate::hiera::data::DataFormat;
use crate::puppet::ruby::glob::matches_path;
use crate::text::similar::nearest_name;
use crate::text::{CancelToken, FilePath, Text, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::files::file::{File, PartReader, TextPart};
use crate::yaml::{self, NodeKind};

/// The beginning of the comments.
const MARKER: &str = "hiera-ls:";

/// Findings of some rules that settings accept in some files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredPaths {
    /// A glob below the environment's folder.
    pub pattern: String,
    /// The rules' codes.
    pub codes: Vec<String>,
}

/// Returns findings of a file without those that are accepted, and with those about comments that
/// accept none, in the order of their places.
pub(super) fn apply_ignores<F: Borrow<Finding> + From<Finding>>(
    snapshot: &Snapshot,
    path: &FilePath,
    config: &RulesConfig,
    mut findings: Vec<F>,
) -> Vec<F> {
    let codes = snapshot.file(path).map(|file| ignore_codes(file)).unwrap_or_default();
    let mut index = IgnoreIndex::new(&codes);
    let in_settings = ignored_by_path(snapshot, path, config);
    // Most files have no comment, and no setting, that accepts findings.
    if !codes.is_empty() || !in_settings.is_empty() {
        findings.retain(|finding| {
            let finding = finding.borrow();
            let code = finding.rule.code;
            // Comments and settings both accept findings: a comment that accepts the same findings
            // as the settings is a used comment.
            let is_covered = index.accept(code, snapshot.span_bytes(finding.span).start);
            !is_covered && !in_settings.contains(&code)
        });
    }
    // The markers of a conflict break the text in several places.
    if findings.iter().any(|it| it.borrow().rule.code == merge_conflict::RULE.code) {
        findings.retain(|finding| !matches!(finding.borrow().rule.check, Check::Problem(_)));
    }
    let file = snapshot.file(path).filter(|_| snapshot.complete && !codes.is_empty());
    let Some(file) = file else { return findings };
    let environment = snapshot.environments().environment_of(path);
    let severities =
        environment.map_or(&config.severities, |found| config.severities_in(&found.root));
    let enabled = enabled_rules(severities, config.preset);
    for (rule, severity) in &enabled {
        let Check::Ignore(check) = rule.check else { continue };
        for (ignore, _) in codes.iter().zip(&index.is_used).filter(|(_, is_used)| !**is_used) {
            let is_known = rules::find(&ignore.code).is_some();
            let similar = if is_known {
                None
            } else {
                nearest_name(&ignore.code, rules::RULES.iter().map(|rule| rule.code))
            };
            // A rule that is off finds nothing that could be accepted.
            if is_known && !enabled.iter().any(|(rule, _)| *rule.code == *ignore.code) {
                continue;
            }
            let finding = check(&UnusedIgnore { ignore, is_known, similar }, file);
            let severity = severity.unwrap_or(finding.severity);
            findings.push(F::from(Finding { severity, ..finding }));
        }
    }
    in_order(snapshot, findings)
}

/// Codes of one file, by their names and places, and which of them accepted a finding.
struct IgnoreIndex<'a> {
    is_used: Vec<bool>,
    /// By code: the numbers of the codes that concern the file.
    of_file: HashMap<&'a str, Vec<usize>>,
    /// By code: the numbers of the codes that concern a range, in the order of the ranges' starts, each
    /// with the greatest end so far.
    of_ranges: HashMap<&'a str, Vec<(TextRange, u32, usize)>>,
}

impl<'a> IgnoreIndex<'a> {
    fn new(codes: &'a [IgnoreCode]) -> IgnoreIndex<'a> {
        let (mut of_file, mut of_ranges) =
            (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
        for (number, ignore) in codes.iter().enumerate() {
            match ignore.covers {
                None => of_file.entry(&*ignore.code).or_default().push(number),
                Some(range) => {
                    of_ranges.entry(&*ignore.code).or_default().push((range, 0, number));
                }
            }
        }
        for ranges in of_ranges.values_mut() {
            ranges.sort_by_key(|(range, ..)| range.start);
            let mut greatest = 0;
            for (range, end, _) in ranges {
                greatest = greatest.max(range.end);
                *end = greatest;
            }
        }
        IgnoreIndex { is_used: vec![false; codes.len()], of_file, of_ranges }
    }

    /// Returns whether a comment accepts a finding of a rule at a byte, and marks all that do.
    fn accept(&mut self, code: &str, start: u32) -> bool {
        let mut is_accepted = false;
        // The comments that concern the whole file count as used after the first finding of the
        // rule.
        if let Some(numbers) = self.of_file.get_mut(code) {
            is_accepted = true;
            numbers.drain(..).for_each(|number| self.is_used[number] = true);
        }
        if let Some(ranges) = self.of_ranges.get(code) {
            let count = ranges.partition_point(|(range, ..)| range.start <= start);
            let before = ranges[..count].iter().rev();
            for (range, _, number) in before.take_while(|(_, greatest, _)| start <= *greatest) {
                if range.touches_offset(start) {
                    is_accepted = true;
                    self.is_used[*number] = true;
                }
            }
        }
        is_accepted
    }
}

/// Returns findings without those that are accepted.
pub(super) fn unaccepted_findings<F: Borrow<Finding> + From<Finding>>(
    snapshot: &Snapshot,
    path: &FilePath,
    config: &RulesConfig,
    findings: Vec<F>,
) -> Vec<F> {
    let mut findings = apply_ignores(snapshot, path, config, findings);
    findings.retain(|finding| !matches!(finding.borrow().rule.check, Check::Ignore(_)));
    findings
}

/// Returns the codes whose findings in a file the settings accept.
fn ignored_by_path<'a>(
    snapshot: &Snapshot,
    path: &FilePath,
    config: &'a RulesConfig,
) -> Vec<&'a str> {
    let Some(environment) = snapshot.environments().environment_of(path) else {
        return Vec::new();
    };
    let root = &environment.root;
    let ignored = config
        .ignored_in(root)
        .iter()
        .filter(|ignored| matches_path(root.join(&ignored.pattern).as_str(), path));
    ignored.flat_map(|ignored| &ignored.codes).map(String::as_str).collect()
}

/// Returns the codes in comments of a file of YAML, in the order of their places. Only the parts of the
/// file around such comments are parsed, each once.
pub(crate) fn ignore_codes(file: &File) -> Vec<IgnoreCode> {
    let Some(text) = file.text().filter(|_| file.format() == DataFormat::Yaml) else {
        return Vec::new();
    };
    let mut reader = CommentReader {
        text,
        file,
        head: None,
        comments: PartReader::new(file),
        entries: PartReader::new(file),
        ranges: None,
        below: None,
    };
    let mut codes = Vec::new();
    for marker in file.find_word(MARKER).iter().copied() {
        if let Some(comment) = reader.comment_at(marker) {
            reader.read_comment(comment, marker, &mut codes);
        }
    }
    codes
}

/// Reads comments in the order of their places. The data that the reader keeps serves the next
/// comment of the same part.
struct CommentReader<'a> {
    file: &'a File,
    text: &'a Text,
    /// The comments above the first part.
    head: Option<Vec<TextRange>>,
    comments: PartReader<'a>,
    entries: PartReader<'a>,
    /// The bytes of a part and the result of [`entry_ranges`] for it.
    ranges: Option<(TextRange, Vec<TextRange>)>,
    /// Two numbers of lines: no line between them has words, and the second line has.
    below: Option<(u32, u32)>,
}

impl CommentReader<'_> {
    /// Returns the comment that begins with the marker at a byte.
    fn comment_at(&mut self, marker: u32) -> Option<TextRange> {
        let comment = match self.comments.part_at(marker, &CancelToken::default()) {
            Some(part) => {
                let comments = &part.tree.comments;
                let before = comments.partition_point(|it| part.file_range(*it).start <= marker);
                part.file_range(*comments[..before].last()?)
            }
            None => {
                let comments = self.head_comments();
                let before = comments.partition_point(|comment| comment.start <= marker);
                *comments[..before].last()?
            }
        };
        let before = self.text.slice(TextRange::new(comment.start, marker));
        let is_begun = before.trim_start_matches('#').trim().is_empty();
        (comment.touches_offset(marker) && is_begun).then_some(comment)
    }

    fn head_comments(&mut self) -> &[TextRange] {
        self.head.get_or_insert_with(|| {
            let data = self.file.data_as(DataFormat::Yaml);
            let first = data.parts().placed_parts(self.text.len()).next();
            let head = TextRange::new(0, first.map_or(self.text.len(), |(part, _)| part.start));
            yaml::parse(&self.text.slice(head)).comments
        })
    }

    /// Reads a comment with a marker. Adds nothing for a comment that accepts no findings, and an empty
    /// code for one without a list.
    fn read_comment(&mut self, comment: TextRange, marker: u32, codes: &mut Vec<IgnoreCode>) {
        let whole = self.text.slice(TextRange::new(marker, comment.end));
        // A comment of YAML ends with its line, and a marker has no line break.
        let words = whole.strip_prefix(MARKER).unwrap_or_default().trim_start();
        let (is_of_file, rest) = match words.strip_prefix("ignore-file") {
            Some(rest) => (true, rest),
            None => match words.strip_prefix("ignore") {
                Some(rest) => (false, rest),
                None => return,
            },
        };
        let covers = (!is_of_file).then(|| self.covered_range(comment));
        let list = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let Some((list, _)) = list else {
            return codes.push(IgnoreCode { code: String::new(), range: comment, covers });
        };
        for code in list.split(',').map(str::trim) {
            let start = code.as_ptr() as usize - whole.as_ptr() as usize;
            let range = TextRange::from_usize(start..start + code.len()).offset_by(marker);
            codes.push(IgnoreCode { code: code.to_owned(), range, covers });
        }
    }

    /// Returns the line that a comment ends; of a comment on a line of its own, the entry below it.
    fn covered_range(&mut self, comment: TextRange) -> TextRange {
        let text = self.text;
        let number = text.line_of(comment.start);
        let start = text.line_range(number).map_or(comment.start, |line| line.start);
        let before = TextRange::new(start, comment.start);
        if !text.slice(before).trim().is_empty() {
            return before;
        }
        let Some(line) = self.line_below(number) else {
            return TextRange::new_empty(comment.start);
        };
        let words = text.slice(line);
        let indent = (words.len() - words.trim_start().len()) as u32;
        let line = TextRange::new(line.start, line.start + words.trim_end().len() as u32);
        let entry = self.entry_on_line(line.start + indent, line);
        entry.map_or(line, |entry| entry.cover(line))
    }

    /// Returns the next line with words below a line.
    fn line_below(&mut self, number: u32) -> Option<TextRange> {
        let known = self.below.filter(|(from, to)| (*from..*to).contains(&number));
        let found = match known {
            Some((_, found)) => found,
            None => {
                (number + 1..)
                    .map_while(|number| Some((number, self.text.line_range(number)?)))
                    .find(|(_, line)| has_words(&self.text.slice(*line)))?
                    .0
            }
        };
        self.below = Some((number, found));
        self.text.line_range(found)
    }

    /// Returns the widest entry of a hash or element of a list that begins on a line, in the part of
    /// the file around a byte.
    fn entry_on_line(&mut self, offset: u32, line: TextRange) -> Option<TextRange> {
        let part = self.entries.part_at(offset, &CancelToken::default())?;
        if self.ranges.as_ref().is_none_or(|(of, _)| *of != part.range()) {
            self.ranges = Some((part.range(), entry_ranges(part)));
        }
        let (_, ranges) = self.ranges.as_ref()?;
        let from = ranges.partition_point(|range| range.start < line.start);
        let to = ranges.partition_point(|range| range.start < line.end.max(line.start + 1));
        ranges[from..to].iter().max_by_key(|range| range.len()).copied()
    }
}

/// Returns whether a line is neither blank nor a comment.
fn has_words(line: &str) -> bool {
    let words = line.trim_start();
    !words.is_empty() && !words.starts_with('#')
}

/// Returns the bytes of all entries of hashes and elements of lists, in the order of their starts.
fn entry_ranges(part: &TextPart<'_>) -> Vec<TextRange> {
    let mut ranges = Vec::new();
    for node in &part.tree.nodes {
        match &node.kind {
            // The hash itself is left out: a comment above its first entry would cover all entries.
            NodeKind::Mapping { entries, .. } => {
                ranges.extend(entries.iter().map(|entry| part.entry_range(*entry)));
            }
            NodeKind::Sequence { items, .. } => {
                ranges.extend(items.iter().map(|item| part.whole_node_range(*item)));
            }
            NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
        }
    }
    ranges.sort_by_key(|range| range.start);
    ranges
}
