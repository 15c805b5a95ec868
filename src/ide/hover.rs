//! Hover: the effective value of what is under the cursor, and the level that each part of it comes from.

use std::fmt::Write as _;
use std::sync::Arc;

use super::cursor::{KeyPath, KeyStep, Subject, SubjectKind, part_of, under_cursor};
use super::phrases::{Names, layer_name, options};
use super::whom::Whom;
use crate::hiera::config::{Layer, Level, Template};
use crate::hiera::eyaml::Decryptor;
use crate::hiera::hierarchy::{Place, locate};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{Context, Resolver};
use crate::hiera::pattern::conditions;
use crate::hiera::print::{self, PrintOptions};
use crate::hiera::resolution::{MergeSource, Outcome, Resolution, Step, Unapplied};
use crate::hiera::scope::{Scope, Variable};
use crate::hiera::value::{Data, Value};
use crate::text::{FilePath, FilePosition, Span, TextRange};
use crate::workspace::Snapshot;

/// How a hover is written.
#[derive(Clone, Copy)]
pub struct HoverConfig<'a> {
    /// Whether the client shows Markdown.
    pub markdown: bool,
    /// The address of a line (from 1) of a file; `None` where places are to be named without.
    pub link: Option<Link<'a>>,
    /// The most lines of a value.
    pub max_value_lines: usize,
    /// The most locations to list.
    pub max_locations: usize,
}

/// The address of a line (from 1) of a file.
pub type Link<'a> = &'a dyn Fn(&FilePath, u32) -> String;

/// What to show, and for which bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The bytes that it is about.
    pub range: TextRange,
    /// Markdown, or plain text.
    pub text: String,
}

/// Explains what is at `position`; `None` when there is nothing to explain.
pub fn hover(snapshot: &Snapshot, position: FilePosition, config: &HoverConfig<'_>) -> Option<Hover> {
    let subject = under_cursor(snapshot, position)?;
    let scope = snapshot.scope_for(&subject.environment, &subject.path);
    let writer =
        Writer { snapshot, subject: &subject, scope: &scope, config, names: Names { snapshot, root: &subject.environment.root } };
    let text = match &subject.kind {
        SubjectKind::Key(path) => writer.key(path),
        SubjectKind::Reference(key) => writer.reference(key),
        SubjectKind::Variable(key) => writer.variable(key),
        SubjectKind::Location { config, template } => writer.location(config, template),
        SubjectKind::Alias { .. } => return None,
    };
    Some(Hover { range: subject.range, text })
}

struct Writer<'a> {
    snapshot: &'a Snapshot,
    subject: &'a Subject,
    scope: &'a Scope,
    config: &'a HoverConfig<'a>,
    names: Names<'a>,
}

/// The part of a root value that a hover is about, with the place of its key.
type Narrow<'a> = &'a dyn Fn(&Value, Option<Span>) -> Option<(Option<Span>, Value)>;

impl Writer<'_> {
    fn key(&self, path: &KeyPath) -> String {
        let root = LookupKey::of_root(&path.root);
        if &*path.root == crate::hiera::lookup::LOOKUP_OPTIONS {
            return self.options_entry(path);
        }
        let resolution = self.resolve(&root);
        let effective = resolution.value.as_ref().ok().and_then(Option::as_ref);
        let title = effective.map_or_else(|| path.dotted(), |value| path.renumbered(value).dotted());
        self.resolution(&title, &resolution, &|value, key| path.within(value, key))
    }

    fn reference(&self, key: &LookupKey) -> String {
        let resolution = self.resolve(&LookupKey::of_root(&key.root_text()));
        self.resolution(&key.text, &resolution, &|value, root| {
            let (place, value) = part_of(key, value)?;
            Some((if key.subkeys.is_empty() { root } else { place }, value))
        })
    }

    fn resolve(&self, root: &LookupKey) -> Resolution {
        let environment = &self.subject.environment;
        let view = self.snapshot.view(environment);
        let keys = self.snapshot.decryptor(environment);
        let decryptor = keys.as_ref().map(|keys| keys as &dyn Decryptor);
        Resolver::new(Context { decryptor, ..self.snapshot.context(environment, &view, self.scope) }).lookup(root, None)
    }

    fn resolution(&self, title: &str, resolution: &Resolution, narrow: Narrow<'_>) -> String {
        let mut out = self.head(title);
        let narrowed = match &resolution.value {
            Ok(Some(value)) => {
                let inner = match &value.data {
                    Data::Sensitive(_) => Some((None, value.clone())),
                    _ => narrow(value, None),
                };
                match inner {
                    Some((_, part)) => self.value(&part, &mut out),
                    None => out.push_str("This part is not in the effective value.\n"),
                }
                true
            }
            Ok(None) => {
                out.push_str(if resolution.unsettled.is_empty() { "No value is found.\n" } else { "No value is settled.\n" });
                false
            }
            Err(error) => {
                writeln!(out, "The lookup fails: {}", self.text(&print::error(error, &self.print_options())))
                    .expect("writing to a string");
                false
            }
        };
        self.strategy(resolution, narrowed, &mut out);
        self.unconverted(resolution, &mut out);
        self.steps(resolution, narrow, &mut out);
        self.undetermined(resolution, &mut out);
        out
    }

    /// What it is about, and for whom. Two blanks end a line in Markdown.
    fn head(&self, title: &str) -> String {
        format!("{}{}\n{}\n\n", self.bold(title), if self.config.markdown { "  " } else { "" }, self.whose())
    }

    /// For whom the value holds: a node, or whoever sees this file.
    fn whose(&self) -> String {
        Whom::of(self.snapshot, &self.subject.environment, self.scope, &self.subject.path).phrase(|text| self.code(text))
    }

    fn print_options(&self) -> PrintOptions<'_> {
        let reveal_decrypted = self.snapshot.config().eyaml.reveal;
        PrintOptions { mask_encrypted: true, reveal_decrypted, wanted: Some(self.snapshot.wanted()), ..PrintOptions::default() }
    }

    fn value(&self, value: &Value, out: &mut String) {
        let options = PrintOptions { max_lines: Some(self.config.max_value_lines), ..self.print_options() };
        let yaml = print::yaml(value, &options);
        if self.config.markdown {
            // A fence longer than any in the value.
            let fence = "`".repeat(longest_run(&yaml).max(2) + 1);
            write!(out, "{fence}yaml\n{yaml}{fence}\n").expect("writing to a string");
        } else {
            yaml.lines().for_each(|line| writeln!(out, "  {line}").expect("writing to a string"));
        }
    }

    fn strategy(&self, resolution: &Resolution, found: bool, out: &mut String) {
        match &resolution.merge_source {
            MergeSource::Options(entry) => {
                let place = entry.span.map_or_else(|| entry.key.to_string(), |span| self.link_to(span));
                let kind = if entry.pattern { " by the pattern " } else { "" };
                let pattern = if entry.pattern { self.code(&entry.key) } else { String::new() };
                write!(
                    out,
                    "\nmerged {}{}, set{kind}{pattern} in {place}",
                    self.code(resolution.merge.name()),
                    self.text(&options(&resolution.merge))
                )
                .expect("writing to a string");
            }
            _ if found => out.push_str("\nfirst value found"),
            _ => return,
        }
        if let Some(conversion) = &resolution.convert_to {
            let is_unapplied = resolution.unapplied_conversions.iter().any(|one| *one.key == *resolution.key.text);
            let applied = if is_unapplied { " (not shown here)" } else { "" };
            write!(out, ", converted to {}{applied}", self.code(&conversion.type_text)).expect("writing to a string");
        }
        out.push('\n');
    }

    /// The keys that the value needs whose conversions it is shown without.
    fn unconverted(&self, resolution: &Resolution, out: &mut String) {
        for Unapplied { key, to } in resolution.unapplied_conversions.iter().filter(|one| *one.key != *resolution.key.text) {
            writeln!(out, "\n{} is converted to {} (not shown here)", self.code(key), self.code(to))
                .expect("writing to a string");
        }
    }

    /// Each location that matters: those that have the key, and those that may.
    fn steps(&self, resolution: &Resolution, narrow: Narrow<'_>, out: &mut String) {
        let secret = resolution.is_secret();
        let lines: Vec<String> = resolution.steps.iter().filter_map(|step| self.step(step, narrow, secret)).collect();
        if lines.is_empty() {
            return;
        }
        out.push('\n');
        for line in lines.iter().take(self.config.max_locations) {
            writeln!(out, "- {line}").expect("writing to a string");
        }
        if lines.len() > self.config.max_locations {
            writeln!(out, "- … and {} more", lines.len() - self.config.max_locations).expect("writing to a string");
        }
        let without = resolution.steps.iter().filter(|step| matches!(step.outcome, Outcome::NoSuchKey(_))).count();
        let missing = resolution.steps.iter().filter(|step| matches!(step.outcome, Outcome::NoSuchFile(_))).count();
        if without + missing > 0 {
            let mut rest = Vec::new();
            rest.extend((without > 0).then(|| format!("{} without the key", counted(without, "other file"))));
            rest.extend((missing > 0).then(|| format!("{} without a file", counted(missing, "location"))));
            writeln!(out, "\n{}", rest.join(", ")).expect("writing to a string");
        }
    }

    fn step(&self, step: &Step, narrow: Narrow<'_>, secret: bool) -> Option<String> {
        let short = |part: &Value| if secret { self.code(print::REDACTED) } else { self.short(part) };
        let level = self.bold(&self.level_title(step));
        match &step.outcome {
            Outcome::Found { path, key, value } => {
                let (place, part) = narrow(value, *key).map(|(place, part)| (place, short(&part)))?;
                Some(format!(
                    "{level} {}: {part}",
                    place.or(*key).map_or_else(|| self.text(self.names.path(path)), |span| self.link_to(span))
                ))
            }
            Outcome::NotReached { shadowed: Some((key, value)), .. } => {
                let (place, part) = match narrow(value, *key) {
                    Some((place, part)) => (place.or(*key), short(&part)),
                    None => return None,
                };
                Some(format!("{level} {}: {part} (overridden)", place.map_or_else(String::new, |span| self.link_to(span))))
            }
            Outcome::Opaque(backend) => {
                Some(format!("{level}: the backend {} cannot be evaluated here", self.code(&backend.name)))
            }
            Outcome::Failed(path) => Some(format!("{level} {}: fails", self.text(self.names.path(path)))),
            Outcome::Undetermined { .. } | Outcome::NoSuchKey(_) | Outcome::NoSuchFile(_) | Outcome::NotReached { .. } => None,
        }
    }

    fn level_title(&self, step: &Step) -> String {
        match &step.layer {
            Layer::Environment => step.level.name.to_string(),
            layer => format!("{} ({})", step.level.name, layer_name(layer)),
        }
    }

    fn undetermined(&self, resolution: &Resolution, out: &mut String) {
        if !resolution.reads.unknown.is_empty() {
            let names: Vec<String> = resolution.reads.unknown.iter().map(|name| self.code(name)).collect();
            writeln!(out, "\nunknown here: {}", names.join(", ")).expect("writing to a string");
        }
        let root = resolution.key.root_text();
        let (own, other): (Vec<_>, Vec<_>) = resolution.unsettled.iter().partition(|file| *file.key == *root);
        let merges = !resolution.merge.stops_at_first();
        let own_title = if merges { "could be merged with" } else { "could be overridden in" };
        for (files, title) in [(own, own_title), (other, "keys that it asks for could be set in")] {
            if files.is_empty() {
                continue;
            }
            let shown: Vec<String> = files
                .iter()
                .take(self.config.max_locations)
                .map(|file| {
                    let place = file.span.map_or_else(|| self.text(self.names.path(&file.path)), |span| self.link_to(span));
                    let when = self.text(&conditions(&file.when));
                    if when.is_empty() { format!("- {place}") } else { format!("- {place} where {when}") }
                })
                .collect();
            writeln!(out, "\n{title}:\n\n{}", shown.join("\n")).expect("writing to a string");
            if files.len() > shown.len() {
                writeln!(out, "- … and {} more", files.len() - shown.len()).expect("writing to a string");
            }
        }
    }

    /// An entry of `lookup_options`: what it says, in the words of the value.
    fn options_entry(&self, path: &KeyPath) -> String {
        let mut out = format!("{}\n\n", self.bold("lookup_options"));
        let Some(KeyStep::Member(key)) = path.steps.first() else {
            out.push_str("How keys are merged and converted: literal keys, and patterns that start with `^`. A lookup does not return it.\n");
            return out;
        };
        let name = key.to_text();
        let matching = self.keys_served_by(&name);
        writeln!(out, "{} serves {}", self.code(&name), counted(matching.len(), "known key")).expect("writing to a string");
        if !matching.is_empty() {
            out.push('\n');
        }
        for key in matching.iter().take(self.config.max_locations) {
            writeln!(out, "- {}", self.code(key)).expect("writing to a string");
        }
        out
    }

    /// The keys whose options come from this entry, in this file's scope.
    fn keys_served_by(&self, entry: &str) -> Vec<String> {
        let environment = &self.subject.environment;
        let view = self.snapshot.view(environment);
        let resolver = Resolver::new(self.snapshot.context(environment, &view, self.scope));
        let mut keys: Vec<String> = self.snapshot.keys().keys().map(|key| key.to_string()).collect();
        keys.sort();
        keys.retain(|key| {
            self.snapshot.wanted().is_so()
                && resolver.options_entry(&LookupKey::of_root(key)).is_some_and(|found| *found.key == *entry)
        });
        keys
    }

    fn variable(&self, key: &LookupKey) -> String {
        let mut out = self.head(&format!("%{{{key}}}"));
        match self.scope.get_path(&key.text) {
            Variable::Known(value) => self.value(&value, &mut out),
            Variable::Undefined => out.push_str("undefined: an empty text, or an error where Puppet is strict\n"),
            Variable::Unknown => out.push_str("unknown here: this file's path does not tell it\n"),
        }
        out
    }

    fn location(&self, config: &crate::hiera::config::HieraConfig, template: &Template) -> String {
        // In version 3 every backend has all of them.
        let levels: Vec<Arc<Level>> =
            config.levels().filter(|level| level.locations.templates().contains(template)).cloned().collect();
        let names: Vec<String> = levels.iter().map(|level| self.bold(&level.name)).collect();
        let noun = if names.len() == 1 { "level" } else { "levels" };
        let mut out = format!("{} of {noun} {}\n\n", self.code(&template.text), names.join(", "));
        let environment = &self.subject.environment;
        let reaches: Vec<_> = environment.reach.iter().filter(|reach| reach.template == *template).collect();
        let fits = |path: &FilePath| reaches.iter().any(|reach| reach.pattern.bind(path.as_str()).is_some());
        let files: Vec<&FilePath> = self.snapshot.files().map(|file| &file.path).filter(|path| fits(path)).collect();
        writeln!(out, "{} existing {}", files.len(), if files.len() == 1 { "file fits" } else { "files fit" })
            .expect("writing to a string");
        let view = self.snapshot.view(environment);
        let node = self.snapshot.selected_in(environment);
        let Some(node) = node else {
            out.push('\n');
            files.iter().take(self.config.max_locations).for_each(|path| {
                writeln!(out, "- {}", self.link(path, 1)).expect("writing to a string");
            });
            return out;
        };
        writeln!(out, "\nfor node {}:\n", self.code(&node.name)).expect("writing to a string");
        let scope = node.scope_in(&environment.name);
        for located in locate(config, &levels, &scope, &view, None).unwrap_or_default() {
            for location in located.locations.iter().filter(|location| location.template.as_ref() == Some(template)) {
                match &location.place {
                    Place::File { path, exists: true } => writeln!(out, "- {}", self.link(path, 1)),
                    Place::File { path, exists: false } => {
                        writeln!(out, "- {} (does not exist)", self.code(self.names.path(path)))
                    }
                    Place::NoMatch { .. } => writeln!(out, "- no file"),
                    Place::Uri(uri) => writeln!(out, "- {}", self.code(uri)),
                    Place::Undetermined(_) | Place::Nowhere => Ok(()),
                }
                .expect("writing to a string");
            }
        }
        out
    }

    /// Text that the client shows as it is.
    fn text(&self, text: &str) -> String {
        if self.config.markdown { escaped(text) } else { text.to_owned() }
    }

    fn bold(&self, text: &str) -> String {
        if self.config.markdown { format!("**{}**", escaped(text)) } else { text.to_owned() }
    }

    fn code(&self, text: &str) -> String {
        if !self.config.markdown {
            return text.to_owned();
        }
        let ticks = "`".repeat(longest_run(text) + 1);
        let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
        format!("{ticks}{pad}{}{pad}{ticks}", text.replace('\n', " "))
    }

    fn link_to(&self, span: Span) -> String {
        self.snapshot.path(span.file).map_or_else(String::new, |path| self.link(path, self.names.line(span)))
    }

    fn link(&self, path: &FilePath, line: u32) -> String {
        let name = format!("{}:{line}", self.names.path(path));
        match self.config.link {
            Some(link) if self.config.markdown => format!("[{}]({})", escaped(&name), link(path, line)),
            _ => self.text(&name),
        }
    }

    /// A value on one line, cut where it gets long, secrets masked.
    fn short(&self, value: &Value) -> String {
        const WIDTH: usize = 80;
        // The part of a long value that is shown is in its first bytes, and one more tells that there is more.
        let options = PrintOptions { max_json: Some(WIDTH * 4), ..self.print_options() };
        let text = print::json(value, &options);
        let cut: String = text.chars().take(WIDTH).collect();
        self.code(&if cut.len() < text.len() { format!("{cut}…") } else { cut })
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Text that Markdown shows as it is. Hostile names of keys must not become links or markup; what is none stays as it is, for not every client
/// takes the backslashes away.
fn escaped(text: &str) -> String {
    // As most names are.
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" -./:,%{}()".contains(&byte)) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut in_word = false;
    while let Some(c) = chars.next() {
        let is_markup = match c {
            // Within a word it is a letter.
            '_' => !(in_word && chars.peek().is_some_and(|next| next.is_alphanumeric())),
            c => matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '#' | '~' | '&'),
        };
        if is_markup {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
        in_word = c.is_alphanumeric() || (in_word && c == '_');
    }
    out
}

#[cfg(test)]
mod tests;
