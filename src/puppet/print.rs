//! Prints values: YAML for people, JSON for programs. Secrets stay hidden unless the caller asks
//! for them.

use std::fmt::Write as _;

use super::ruby::base64;
use super::value::{Data, Hash, Key, Member, Provenance, Secrecy, Value};
use crate::puppet::ruby::inspect::float_text;
use crate::text::escape::is_unprintable;
use crate::text::{CancelToken, Span};
use crate::yaml::psych::{Resolved, resolve_plain};

/// How values are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintOptions<'a> {
    /// Write the contents of Sensitive values, and values that `convert_to` may make Sensitive.
    pub reveal_sensitive: bool,
    /// Write values that `convert_to` may make Sensitive, as long as they are not: explanations of
    /// Puppet show these, and redact Sensitive values.
    pub reveal_marked: bool,
    /// Write decrypted texts.
    pub reveal_decrypted: bool,
    /// Write a mark in place of encrypted text.
    pub mask_encrypted: bool,
    /// Stop after so many lines; one more line then marks the cut.
    pub max_lines: Option<usize>,
    /// Stop writing JSON once it is longer than so many bytes, for callers that show its beginning
    /// only.
    pub max_json: Option<usize>,
    /// Cancels the printing; `None` for never.
    pub cancel: Option<&'a CancelToken>,
}

/// The text shown for a Sensitive value, as in Puppet.
pub const REDACTED: &str = "Sensitive [value redacted]";
/// The text shown for a decrypted text, or for a text made of one.
pub const DECRYPTED: &str = "ENC[decrypted]";

impl PrintOptions<'_> {
    /// Returns the error message with marks in place of encrypted texts, if these are masked.
    pub fn mask_message(&self, message: String) -> String {
        if self.mask_encrypted { mask_encrypted(&message) } else { message }
    }

    /// Whether a mark takes the place of an encrypted part of this text.
    fn masks_parts_of(&self, text: &str) -> bool {
        self.mask_encrypted && text.contains("ENC[")
    }

    fn is_enough_json(&self, out: &str) -> bool {
        self.max_json.is_some_and(|max| out.len() > max) || self.is_cancelled()
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(CancelToken::is_cancelled)
    }

    /// Returns the text written in place of a value with these marks; `None` where it may be shown.
    pub fn mark_for(&self, secrecy: Secrecy) -> Option<&'static str> {
        if secrecy.decrypted && !self.reveal_decrypted {
            Some(DECRYPTED)
        } else if secrecy.sensitive && !self.reveal_sensitive && !self.reveal_marked {
            Some(REDACTED)
        } else {
            None
        }
    }

    /// Whether a mark takes the place of this value, parts and all.
    fn is_hidden(&self, value: &Value) -> bool {
        self.mark_for(value.secrecy()).is_some()
    }
}

/// Returns the value as the text that it has within a string, or a mark if that text is a secret.
pub fn print_text(value: &Value, options: &PrintOptions<'_>) -> String {
    match options.mark_for(value.secrecy_of_parts()) {
        Some(mark) => mark.to_owned(),
        None => value.to_text().into_owned(),
    }
}

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

/// Returns a scalar (or an empty collection) in the plainest style that Psych reads back as the
/// same.
fn print_scalar(value: &Value, options: &PrintOptions<'_>, indent: usize, blocks: bool) -> String {
    match value.data() {
        Data::Null => "~".into(),
        Data::Bool(value) => value.to_string(),
        Data::Integer(value) => value.to_string(),
        Data::BigInteger(digits) => digits.to_string(),
        Data::Float(value) if value.is_nan() => ".nan".into(),
        Data::Float(value) if value.is_infinite() => {
            if *value > 0.0 { ".inf" } else { "-.inf" }.into()
        }
        Data::Float(value) => float_text(*value),
        Data::Symbol(text) => format!(":{text}"),
        Data::Binary(bytes) => format!("!!binary {}", base64::encode(bytes)),
        Data::Array(_) => "[]".into(),
        Data::Hash(_) => "{}".into(),
        Data::Sensitive(_) => REDACTED.into(),
        Data::Rich(rich) => print_string(&rich.to_text(), indent, blocks),
        Data::String(text) if options.masks_parts_of(text) => mask_encrypted(text),
        Data::String(text) => print_string(text, indent, blocks),
    }
}

/// Returns the text with each encrypted part replaced by a mark.
pub fn mask_encrypted(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("ENC[") {
        out.push_str(&rest[..start]);
        out.push_str("ENC[encrypted]");
        rest = rest[start..].find(']').map_or("", |end| &rest[start + end + 1..]);
    }
    out.push_str(rest);
    out
}

/// Returns a text as a scalar of YAML on one line that Psych reads as the same string.
pub fn quote_scalar(text: &str) -> String {
    print_string(text, 0, false)
}

fn print_string(text: &str, indent: usize, blocks: bool) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let blocky = blocks
        && lines.contains('\n')
        && !lines.starts_with([' ', '\n', '\t'])
        && !lines.ends_with('\n')
        && !lines.contains(|c: char| is_unprintable(c) && c != '\n');
    if blocky {
        let mark = if text.ends_with('\n') { "|" } else { "|-" };
        let pad = " ".repeat(indent.max(2));
        let body: Vec<String> = lines
            .split('\n')
            .map(|line| if line.is_empty() { String::new() } else { format!("{pad}{line}") })
            .collect();
        return format!("{mark}\n{}", body.join("\n"));
    }
    quote_single(text)
}

/// Returns a text as a scalar of YAML in single quotes; in double quotes where it needs escapes.
pub fn quote_single(text: &str) -> String {
    match text.contains(is_unprintable) {
        true => json_text(text),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

/// Whether a string can stand without quotes and still be that string.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let indicator = "-?:,[]{}#&*!|>'\"%@`";
    let starts_well = !indicator.contains(first)
        || (matches!(first, '-' | '?' | ':')
            && text[1..].starts_with(|c: char| !c.is_whitespace()));
    starts_well
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.contains(is_unprintable)
        && text.trim() == text
        && !text.starts_with("---")
        && !text.starts_with("...")
        && text != "<<"
        && text != "="
        && matches!(resolve_plain(text), Resolved::String)
}

/// Returns the value as compact JSON, order kept.
///
/// A value that JSON cannot express becomes `{"__ptype": TYPE, "__pvalue": TEXT}`; keys that are no
/// strings become text.
pub fn print_json(value: &Value, options: &PrintOptions<'_>) -> String {
    let mut out = String::new();
    write_json(value, options, &mut out);
    out
}

fn write_json(value: &Value, options: &PrintOptions<'_>, out: &mut String) {
    if let Some(mark) = options.mark_for(value.secrecy()) {
        return json_string(mark, out);
    }
    match value.data() {
        Data::Null => out.push_str("null"),
        Data::Bool(value) => write!(out, "{value}").expect("writing to a string"),
        Data::Integer(value) => write!(out, "{value}").expect("writing to a string"),
        Data::BigInteger(digits) => out.push_str(digits),
        Data::Float(value) if value.is_finite() => out.push_str(&float_text(*value)),
        Data::Float(value) => write_tagged("Float", &float_text(*value), out),
        Data::String(text) if options.masks_parts_of(text) => {
            json_string(&mask_encrypted(text), out)
        }
        Data::String(text) => json_string(text, out),
        Data::Symbol(text) => json_string(text, out),
        Data::Binary(bytes) => write_tagged("Binary", &base64::encode(bytes), out),
        Data::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if options.is_enough_json(out) {
                    return;
                }
                out.push_str(if n > 0 { "," } else { "" });
                write_json(item, options, out);
            }
            out.push(']');
        }
        Data::Hash(hash) => {
            out.push('{');
            for (n, (key, member)) in hash.iter().enumerate() {
                if options.is_enough_json(out) {
                    return;
                }
                let key_text = key.to_text();
                out.push_str(if n > 0 { "," } else { "" });
                // Ruby's JSON library writes a key that is null as an empty text.
                json_string(if matches!(key.data(), Data::Null) { "" } else { &key_text }, out);
                out.push(':');
                write_json(&member.value, options, out);
            }
            out.push('}');
        }
        Data::Sensitive(inner) if options.reveal_sensitive => {
            out.push_str("{\"__ptype\":\"Sensitive\",\"__pvalue\":");
            write_json(inner, options, out);
            out.push('}');
        }
        Data::Sensitive(_) => json_string(REDACTED, out),
        Data::Rich(rich) => {
            out.push_str("{\"__ptype\":");
            json_string(rich.type_name(), out);
            out.push_str(",\"__pvalue\":");
            json_string(&rich.to_text(), out);
            out.push('}');
        }
    }
}

fn write_tagged(kind: &str, text: &str, out: &mut String) {
    write!(out, "{{\"__ptype\":\"{kind}\",\"__pvalue\":\"{text}\"}}").expect("writing to a string");
}

/// Returns a text as a string of JSON, which is one of YAML, too: unprintable characters are escapes,
/// those among them that JSON takes unescaped.
pub fn json_text(text: &str) -> String {
    let mut json = String::new();
    json_string(text, &mut json);
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            c if is_unprintable(c) => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a string");
            }
            c => out.push(c),
        }
    }
    out
}

/// Writes a string as JSON.
pub fn json_string(text: &str, out: &mut String) {
    // Most texts have nothing to escape, and need no string of their own.
    let is_escaped = |byte: u8| byte < b' ' || matches!(byte, b'"' | b'\\');
    if text.bytes().any(is_escaped) {
        out.push_str(&serde_json::to_string(text).expect("a text has a form in JSON"));
    } else {
        out.extend(["\"", text, "\""]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiera::data::{DataFile, DataFormat};
    use crate::puppet::value::Provenance;
    use crate::text::FileId;
    use crate::yaml::parse;

    fn read(text: &str) -> Value {
        DataFile::read_whole(&parse(text), text, FileId::new(0), DataFormat::Yaml)
            .root_value()
            .expect("a document")
    }

    #[test]
    fn one_line_is_flow_style() {
        let value = read("k: {a: [1, 'x, y', two words], 'b c': {}, d: ~, e: \"x\\ny\"}\n");
        let value = value.get("k").unwrap();
        assert_eq!(
            print_inline(value, &PrintOptions::default()),
            r#"{a: [1, 'x, y', two words], b c: {}, d: ~, e: "x\ny"}"#
        );
    }

    #[test]
    fn lines_have_the_places_of_their_leaves() {
        let value = read("a: {b: 1, c: |\n  x\n  y\n}\n".replace("|\n  x\n  y\n", "x").as_str());
        let lines = yaml_lines(&value, &PrintOptions::default());
        let told: Vec<(&str, bool)> =
            lines.iter().map(|line| (&*line.text, line.origin.is_some())).collect();
        assert_eq!(told, [("a:", false), ("  b: 1", true), ("  c: x", true)]);
    }

    #[test]
    fn what_is_printed_reads_back_the_same() {
        let source = "a: 'yes'\nb: yes\nc: '0644'\nd: 0644\ne: [1, [2, {x: y}], {}, []]\nf: {g: {h: [1.5, ~]}, 'i: j': \"tab\\t\"}\nk: |\n  two\n  lines\nl: |-\n  one\n\n  two\nm: '- x'\nn: 'a #b'\no: \"\"\np: '12:30'\nq: {1: a}\nr: [|\n block]\n";
        let source = source.rsplit_once("r: ").expect("the last line").0;
        let value = read(source);
        let printed = print_yaml(&value, &PrintOptions::default());
        assert_eq!(read(&printed), value, "{printed}");
    }

    #[test]
    fn characters_that_a_reader_refuses_or_a_display_obeys_are_escapes() {
        let value = Value::from("a\u{7f}\u{85}\u{9b}\u{2028}\u{202e}\u{feff}é😀");
        assert_eq!(
            print_inline(&value, &PrintOptions::default()),
            r#""a\u007f\u0085\u009b\u2028\u202e\ufeffé😀""#
        );
    }

    /// Returns what [`compact_lines`] prints where no leaf has a comment.
    fn print_compact(value: &Value, options: &PrintOptions<'_>) -> String {
        with_comments(&compact_lines(value, options, &|_| None), &|_| None)
    }

    #[test]
    fn short_lists_and_small_hashes_take_one_line() {
        let source = "servers: [a.example.net, b.example.net]\nuser: {uid: 1, groups: [wheel, 'x, y']}\nrules:\n- {port: 80, action: accept}\n- [80, [443]]\none: {a: 1}\nfive: {a: 1, b: 2, c: 3, d: 4, e: 5}\nempty: []\n";
        let expected = "servers: [a.example.net, b.example.net]\nuser:\n  uid: 1\n  groups: [wheel, 'x, y']\nrules:\n- {port: 80, action: accept}\n- - 80\n  - - 443\none: {a: 1}\nfive:\n  a: 1\n  b: 2\n  c: 3\n  d: 4\n  e: 5\nempty: []\n";
        assert_eq!(print_compact(&read(source), &PrintOptions::default()), expected);
    }

    #[test]
    fn a_line_in_flow_style_has_the_width_of_a_terminal_at_most() {
        let list = |width: usize| {
            let item = "x".repeat((width - "k: [, ]".len()) / 2);
            let odd = "x".repeat((width - "k: [, ]".len()) % 2);
            read(&format!("k: [{item}, {item}{odd}]\n"))
        };
        let count = |width, options: &PrintOptions<'_>, comment: Option<&str>| {
            compact_lines(&list(width), options, &|_| comment.map(str::to_owned)).len()
        };
        let options = PrintOptions::default();
        assert_eq!(count(FLOW_WIDTH, &options, None), 1);
        assert_eq!(count(FLOW_WIDTH + 1, &options, None), 3);
        assert_eq!(count(FLOW_WIDTH - "  # Node".len(), &options, Some("Node")), 1);
        assert_eq!(count(FLOW_WIDTH - "  # Node".len() + 1, &options, Some("Node")), 3);
    }

    #[test]
    fn leaves_with_comments_of_their_own_have_lines_of_their_own() {
        let value = read("a: [1, 2]\nb: [3, 4]\n");
        let second = value.get("b").unwrap().as_array().unwrap()[1].origin;
        let comment =
            |origin| Some(if Some(origin) == second { "Node" } else { "Role" }.to_owned());
        let lines = compact_lines(&value, &PrintOptions::default(), &comment);
        let expected = "a: [1, 2]  # Role\nb:\n- 3        # Role\n- 4        # Node\n";
        assert_eq!(with_comments(&lines, &comment), expected);
    }

    /// The marks in place of secrets are no texts of flow style.
    #[test]
    fn masked_texts_stay_in_block_style() {
        let options = PrintOptions { mask_encrypted: true, ..PrintOptions::default() };
        let printed = print_compact(&read("[a, 'ENC[PKCS7,abc]']"), &options);
        assert_eq!(printed, "- a\n- ENC[encrypted]\n");
        let secret = Secrecy { sensitive: true, ..Secrecy::default() };
        let items = vec![Value::from("a"), Value::from("b").into_secret(secret)];
        let list = Value::array_of(items, None);
        let printed = print_compact(&list, &PrintOptions::default());
        assert_eq!(printed, "- a\n- Sensitive [value redacted]\n");
    }

    #[test]
    fn secrets_are_hidden() {
        let sensitive = Value::new(
            Data::Sensitive(std::sync::Arc::new("s3cret".into())),
            Provenance::from_source(None),
        );
        assert_eq!(
            print_yaml(&sensitive, &PrintOptions::default()),
            "Sensitive [value redacted]\n"
        );
        assert_eq!(
            print_json(&sensitive, &PrintOptions::default()),
            "\"Sensitive [value redacted]\""
        );
        let reveal = PrintOptions { reveal_sensitive: true, ..PrintOptions::default() };
        assert_eq!(
            print_json(&sensitive, &reveal),
            r#"{"__ptype":"Sensitive","__pvalue":"s3cret"}"#
        );
        let mask = PrintOptions { mask_encrypted: true, ..PrintOptions::default() };
        assert_eq!(print_yaml(&"x ENC[PKCS7,abc] y".into(), &mask), "x ENC[encrypted] y\n");
    }

    #[test]
    fn json_has_a_word_for_everything() {
        let value = read("{1: .inf, b: 123456789012345678901234567890, c: 1.0, d: !!binary //8=}");
        let expected = r#"{"1":{"__ptype":"Float","__pvalue":"Infinity"},"b":123456789012345678901234567890,"c":1.0,"d":{"__ptype":"Binary","__pvalue":"//8="}}"#;
        assert_eq!(print_json(&value, &PrintOptions::default()), expected);
    }

    #[test]
    fn long_values_are_cut() {
        let options = PrintOptions { max_lines: Some(2), ..PrintOptions::default() };
        assert_eq!(print_yaml(&read("[1, 2, 3, 4]"), &options), "- 1\n- 2\n# …\n");
        let options = PrintOptions { max_json: Some(4), ..PrintOptions::default() };
        assert_eq!(print_json(&read("[[1, 2], {a: 3}, 4]"), &options), "[[1,2]");
        assert_eq!(print_json(&read("{a: {b: 1}, c: 2}"), &options), "{\"a\":{");
    }

    #[test]
    fn printing_stops_when_cancelled() {
        let value = read("[1, [2, 3], {a: 4, b: 5}]");
        let cancelled = CancelToken::new(|| true);
        let options = PrintOptions { cancel: Some(&cancelled), ..PrintOptions::default() };
        assert!(!print_yaml(&value, &options).contains('1'));
        assert!(!print_json(&value, &options).contains('1'));
    }
}
