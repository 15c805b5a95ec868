//! YAML in block style and in flow style, with the origins of leaves and comments behind them.

use std::fmt::Write as _;

use super::PrintOptions;
use super::scalar::print_scalar;
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use crate::text::Span;

/// Returns the value as YAML in block form, with a line end behind each line. Psych reads the same
/// value from it.
pub fn print_yaml(value: &Value, options: &PrintOptions<'_>) -> String {
    let mut printer = YamlPrinter::new(options, None);
    printer.write_node(value, 0, true);
    if !printer.out.ends_with('\n') {
        printer.out.push('\n');
    }
    if printer.is_full() {
        printer.out.push_str("# …\n");
    }
    printer.out
}

/// A line of YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlLine {
    /// The text, without a line end.
    pub text: String,
    /// The place at which the leaf that starts on the line is written; `None` for a line on which
    /// no leaf starts, and for a leaf that is written nowhere.
    pub origin: Option<Span>,
}

/// Returns the value as [`print_yaml`] writes it, in lines with the origins of leaves.
pub fn yaml_lines(value: &Value, options: &PrintOptions<'_>) -> Vec<YamlLine> {
    split_lines(YamlPrinter::new(options, None), value)
}

/// Returns the value as [`yaml_lines`] does, but each list of scalars, and each hash of a few, in
/// flow style where that saves lines, fits into [`FLOW_WIDTH`], and all scalars have the same
/// comment. Such a line has the origin of the first scalar.
pub fn compact_lines(
    value: &Value,
    options: &PrintOptions<'_>,
    comment: &dyn Fn(Span) -> Option<String>,
) -> Vec<YamlLine> {
    split_lines(YamlPrinter::new(options, Some(comment)), value)
}

fn split_lines(mut printer: YamlPrinter<'_>, value: &Value) -> Vec<YamlLine> {
    printer.write_node(value, 0, true);
    let origins = std::mem::take(&mut printer.origins);
    printer
        .out
        .lines()
        .enumerate()
        .map(|(number, text)| {
            let at = origins.binary_search_by_key(&number, |(line, _)| *line);
            YamlLine { text: text.to_owned(), origin: at.ok().map(|at| origins[at].1) }
        })
        .collect()
}

/// Returns a value under a key, as the only member of a hash, as [`yaml_lines`] does.
pub fn entry_lines(key: &str, value: &Value, options: &PrintOptions<'_>) -> Vec<YamlLine> {
    let from = Provenance::from_source(None);
    let key = Key::new(Data::String(key.into()), from);
    let entry = Hash::from_iter([(key, Member { key_origin: None, value: value.clone() })]);
    yaml_lines(&Value::hash(entry, from), options)
}

/// The widest line in flow style of [`compact_lines`], with its indentation and its comment, in
/// characters.
pub const FLOW_WIDTH: usize = 80;
/// The most members of a hash in flow style of [`compact_lines`]: more are easier to read below one
/// another.
const FLOW_MEMBERS: usize = 4;

/// The widest line that a comment is aligned with, in characters.
const MAX_ALIGNED: usize = 48;

/// Returns lines with a comment behind those for whose origins `comment` gives one, in one column
/// where the lines are not too long for it. Each line gets a line end.
pub fn with_comments(lines: &[YamlLine], comment: &dyn Fn(Span) -> Option<String>) -> String {
    let width = |line: &YamlLine| line.text.chars().count();
    let comments: Vec<Option<String>> =
        lines.iter().map(|line| line.origin.and_then(comment)).collect();
    let commented = lines.iter().zip(&comments).filter(|(_, comment)| comment.is_some());
    let widths = commented.map(|(line, _)| width(line)).filter(|width| *width <= MAX_ALIGNED);
    let column = widths.max().unwrap_or(0);
    let mut out = String::new();
    for (line, comment) in lines.iter().zip(comments) {
        out.push_str(&line.text);
        if let Some(comment) = comment {
            let pad = column.saturating_sub(width(line));
            out.extend(std::iter::repeat_n(' ', pad));
            out.push_str("  # ");
            out.push_str(&comment.split(char::is_control).collect::<Vec<_>>().join(" "));
        }
        out.push('\n');
    }
    out
}

struct YamlPrinter<'a> {
    options: &'a PrintOptions<'a>,
    /// The comment of a leaf by its origin, where leaves with one comment may share a line; `None`
    /// where each has its own line.
    comment: Option<&'a dyn Fn(Span) -> Option<String>>,
    out: String,
    lines: usize,
    /// The lines on which leaves start, counted from 0, with the leaves' origins.
    origins: Vec<(usize, Span)>,
}

impl<'a> YamlPrinter<'a> {
    fn new(
        options: &'a PrintOptions<'a>,
        comment: Option<&'a dyn Fn(Span) -> Option<String>>,
    ) -> Self {
        YamlPrinter { options, comment, out: String::new(), lines: 0, origins: Vec::new() }
    }

    fn is_full(&self) -> bool {
        self.options.max_lines.is_some_and(|max| self.lines >= max) || self.options.is_cancelled()
    }

    fn end_line(&mut self) {
        self.out.push('\n');
        self.lines += 1;
    }

    /// Writes a node; the cursor stands where its first character goes. `own_line`: whether that is
    /// the start of a line.
    fn write_node(&mut self, value: &Value, indent: usize, own_line: bool) {
        if let Some(mark) = self.options.mark_for(value.secrecy()) {
            self.origins.extend(value.origin.map(|origin| (self.lines, origin)));
            self.out.push_str(mark);
            return self.end_line();
        }
        if let Some((text, origin)) = self.flow_line(value, own_line) {
            self.origins.extend(origin.map(|origin| (self.lines, origin)));
            self.out.push_str(&text);
            return self.end_line();
        }
        match value.data() {
            Data::Array(items) if !items.is_empty() => {
                if !own_line {
                    self.end_line();
                }
                for (n, item) in items.iter().enumerate() {
                    if self.is_full() {
                        return;
                    }
                    let inline = own_line && n == 0;
                    self.pad(if inline { 0 } else { indent });
                    self.out.push_str("- ");
                    // A collection in a list starts on the dash's own line.
                    self.write_node(item, indent + 2, true);
                }
            }
            Data::Hash(hash) if !hash.is_empty() => {
                if !own_line {
                    self.end_line();
                }
                for (n, (key, member)) in hash.iter().enumerate() {
                    if self.is_full() {
                        return;
                    }
                    let inline = own_line && n == 0;
                    self.pad(if inline { 0 } else { indent });
                    self.out.push_str(&print_scalar(
                        &key.to_value(None),
                        self.options,
                        indent,
                        false,
                    ));
                    self.out.push(':');
                    match member.value.data() {
                        Data::Array(items)
                            if !items.is_empty() && !self.options.is_hidden(&member.value) =>
                        {
                            self.write_node(&member.value, indent, false)
                        }
                        Data::Hash(hash)
                            if !hash.is_empty() && !self.options.is_hidden(&member.value) =>
                        {
                            self.write_node(&member.value, indent + 2, false)
                        }
                        _ => {
                            self.out.push(' ');
                            self.write_node(&member.value, indent + 2, true);
                        }
                    }
                }
            }
            Data::Sensitive(inner) if self.options.reveal_sensitive => {
                self.write_node(inner, indent, own_line)
            }
            _ => {
                let text = print_scalar(value, self.options, indent, true);
                self.origins.extend(value.origin.map(|origin| (self.lines, origin)));
                self.lines += text.matches('\n').count();
                self.out.push_str(&text);
                self.end_line();
            }
        }
    }

    /// Returns the text of a collection of scalars in flow style, and the origin of the first scalar,
    /// if the collection has one comment and fits into the line whose beginning is written.
    fn flow_line(&self, value: &Value, own_line: bool) -> Option<(String, Option<Span>)> {
        let comment = self.comment?;
        let leaves: Vec<&Value> = match value.data() {
            Data::Array(items) if (1..=FLOW_WIDTH).contains(&items.len()) => items.iter().collect(),
            Data::Hash(hash) if (1..=FLOW_MEMBERS).contains(&hash.len()) => {
                let has_scalars = hash.keys().all(|key| self.is_flow_scalar(&key.to_value(None)));
                let members: Vec<&Value> = hash.values().map(|member| &member.value).collect();
                if has_scalars { members } else { return None }
            }
            _ => return None,
        };
        let saves_lines = !own_line || leaves.len() > 1;
        if !saves_lines || !leaves.iter().all(|leaf| self.is_flow_scalar(leaf)) {
            return None;
        }
        let text = if own_line { String::new() } else { " ".to_owned() }
            + &print_inline(value, self.options);
        let before = self.out.rsplit('\n').next().map_or(0, |line| line.chars().count());
        let mut comments = leaves.iter().map(|leaf| leaf.origin.and_then(comment));
        let first = comments.next().flatten();
        let behind = first.as_ref().map_or(0, |comment| "  # ".len() + comment.chars().count());
        let width = before + text.chars().count() + behind;
        let is_fit = width <= FLOW_WIDTH && comments.all(|other| other == first);
        is_fit.then(|| (text, leaves[0].origin))
    }

    /// Whether a value may stand within a line in flow style: a scalar of one line without a mask,
    /// as a mark is no text of YAML there.
    fn is_flow_scalar(&self, value: &Value) -> bool {
        match value.data() {
            _ if self.options.is_hidden(value) => false,
            Data::Array(_) | Data::Hash(_) | Data::Sensitive(_) | Data::Symbol(_) => false,
            Data::String(text) => {
                text.len() <= FLOW_WIDTH * 4
                    && !text.contains('\n')
                    && !self.options.masks_parts_of(text)
            }
            _ => true,
        }
    }

    fn pad(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }
}

/// Returns the value as YAML on one line, in flow style. It is cut after `max_json` bytes or a
/// little more.
pub fn print_inline(value: &Value, options: &PrintOptions<'_>) -> String {
    let mut out = String::new();
    write_inline(value, options, false, &mut out);
    out
}

fn write_inline(value: &Value, options: &PrintOptions<'_>, nested: bool, out: &mut String) {
    if let Some(mark) = options.mark_for(value.secrecy()) {
        return out.push_str(mark);
    }
    match value.data() {
        Data::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if options.is_enough_json(out) {
                    return;
                }
                out.push_str(if n > 0 { ", " } else { "" });
                write_inline(item, options, true, out);
            }
            out.push(']');
        }
        Data::Hash(hash) => {
            out.push('{');
            for (n, (key, member)) in hash.iter().enumerate() {
                if options.is_enough_json(out) {
                    return;
                }
                out.push_str(if n > 0 { ", " } else { "" });
                write_inline(&key.to_value(None), options, true, out);
                out.push_str(": ");
                write_inline(&member.value, options, true, out);
            }
            out.push('}');
        }
        Data::Sensitive(inner) if options.reveal_sensitive => {
            write_inline(inner, options, nested, out)
        }
        _ => {
            let text = print_scalar(value, options, 0, false);
            let is_quoted = text.starts_with(['\'', '"']);
            // A text with such a character is plain in block style, and needs quotes in flow style.
            let has_indicator =
                text.contains([',', '[', ']', '{', '}', '?']) || text.starts_with(':');
            let is_text = match value.data() {
                Data::String(text) => !options.masks_parts_of(text),
                data => matches!(data, Data::Rich(_)),
            };
            if nested && has_indicator && !is_quoted && is_text {
                write!(out, "'{}'", text.replace('\'', "''")).expect("writing to a string");
            } else {
                out.push_str(&text);
            }
        }
    }
}
