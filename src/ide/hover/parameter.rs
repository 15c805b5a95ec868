//! The code beside a key: the class parameter that takes it, with its default and documentation, the
//! type of a member, and the other readers of the key.

use std::fmt::Write as _;

use super::answer::cut_text;
use super::head::MAX_TYPE;
use super::markup::Markup;
use super::notes::MAX_DEFAULT;
use super::{HoverAnswer, HoverQuestion, HoverWriter};
use crate::ide::completion::{CursorStep, required_here, type_at};
use crate::ide::cursor::{KeyPath, KeyStep};
use crate::ide::readers::{ReaderKind, files_with_tokens, readers_in_code, tokens_in};
use crate::manifest::model::{Documentation, Excerpt, TypeAlias};
use crate::puppet::types;
use crate::text::{Span, count_phrase};
use crate::workspace::environments::Environment;
use crate::workspace::manifests::{ParameterAt, ParameterValue};

/// How many places a line names.
const MAX_PLACES: usize = 4;
/// How many type aliases a hover spells out.
const MAX_ALIASES: usize = 4;

impl HoverWriter<'_> {
    /// Returns the effective value of a parameter that no level has a value for.
    pub(super) fn without_value(
        &self,
        found: &HoverAnswer<'_>,
        asked: &HoverQuestion<'_>,
    ) -> String {
        let environment = &self.subject.environment;
        let code = self.snapshot.manifests(environment);
        let Some(one) = code.asking_parameter(&asked.root.root_text()) else {
            return "No value is found.\n".to_owned();
        };
        let Some(default) = &one.parameter.default else {
            let class = self.markup.render_code(&one.class.name);
            return format!(
                "No level has it, and the parameter has no default: Puppet refuses the class {class}.\n"
            );
        };
        let value = match self.snapshot.parameter_value(environment, found.scope, one) {
            ParameterValue::Default(value) => value.filter(|value| !value.holds_secret()),
            _ => None,
        };
        match value.filter(|_| !self.is_secret(one)) {
            Some(value) => {
                let value = self.block_value(&value, &[]);
                format!("No level has it; this is the default of the class:\n\n{value}")
            }
            None if self.is_secret(one) => {
                "No level has it; the parameter takes the default of the class.\n".to_owned()
            }
            None => {
                let default = self.markup.render_code(&short_default(&default.text));
                format!(
                    "No level has it; the parameter takes the default of the class, {default}.\n"
                )
            }
        }
    }

    /// Returns the lines about the parameter that takes a root key, and about its other readers;
    /// empty where code has neither.
    pub(super) fn code_of(&self, root: &str) -> String {
        let environment = &self.subject.environment;
        let code = self.snapshot.manifests(environment);
        let found = code.asking_parameter(root);
        let mut out = String::new();
        if let Some(text) = found.and_then(|one| one.parameter.documentation.as_deref()) {
            out.push_str(&render_comment(&self.markup, text));
        }
        let declaration = found.and_then(|one| self.declaration(one));
        let mut lines = Vec::new();
        lines.extend(found.filter(|_| declaration.is_none()).and_then(|one| self.default(one)));
        lines.extend(found.and_then(|one| self.given_note(one)));
        lines.extend(self.other_readers(root));
        if let Some(declaration) = declaration {
            write!(out, "\n{declaration}").expect("writing to a string");
        }
        if !lines.is_empty() {
            out.push('\n');
        }
        for line in lines {
            writeln!(out, "- {line}").expect("writing to a string");
        }
        out
    }

    /// Returns the parameter as its class declares it, and the type aliases that its type names;
    /// `None` where the type on the first line and the default on a line of its own tell as much.
    fn declaration(&self, one: ParameterAt<'_>) -> Option<String> {
        let data_type = one.parameter.data_type.as_ref().filter(|_| !one.class.recovered);
        let default = one.parameter.default.as_ref().filter(|_| !self.is_secret(one));
        let code = self.snapshot.manifests(&self.subject.environment);
        let aliases = data_type
            .map_or_else(Vec::new, |written| code.aliases_named(&written.text, MAX_ALIASES));
        if aliases.is_empty() && !is_longer(data_type, MAX_TYPE) && !is_longer(default, MAX_DEFAULT)
        {
            return None;
        }
        let typed = data_type.map_or_else(String::new, |written| format!("{} ", written.text));
        let value = default.map_or_else(String::new, |written| format!(" = {}", written.text));
        let declared = format!("{typed}${}{value}", one.parameter.name);
        let aliases = aliases.into_iter().map(alias_text);
        let texts: Vec<String> = std::iter::once(declared).chain(aliases).collect();
        Some(self.markup.render_puppet(&texts))
    }

    /// Returns whether the default of a parameter may hold a secret.
    fn is_secret(&self, one: ParameterAt<'_>) -> bool {
        let code = self.snapshot.manifests(&self.subject.environment);
        code.is_sensitive_parameter(one.parameter)
    }

    fn default(&self, one: ParameterAt<'_>) -> Option<String> {
        let default = one.parameter.default.as_ref().filter(|_| !self.is_secret(one))?;
        Some(format!("default {}", self.markup.render_code(&short_default(&default.text))))
    }

    /// Returns a note about the declarations that give the parameter: for these, Puppet does not
    /// look its key up. `None` without any.
    fn given_note(&self, one: ParameterAt<'_>) -> Option<String> {
        let code = self.snapshot.manifests(&self.subject.environment);
        let places: Vec<String> = code
            .uses_of(&one.class.name)
            .filter_map(|used| {
                let given =
                    used.class_use.gives.iter().find(|given| given.name == one.parameter.name)?;
                Some(self.markup.render_place(Span::in_file(used.file.id, given.range)))
            })
            .collect();
        let count = count_phrase(places.len(), "declaration");
        (!places.is_empty()).then(|| format!("given by {count}: {}", self.list_places(&places)))
    }

    /// Returns a note about the calls and tokens that read a root key, with the first of them.
    fn other_readers(&self, root: &str) -> Option<String> {
        let (snapshot, environment) = (self.snapshot, &*self.subject.environment);
        let all = readers_in_code(snapshot, environment, root);
        let mut certain: Vec<String> = Vec::new();
        let mut perhaps: Vec<String> = Vec::new();
        let mut also = "";
        for one in &all {
            let place = self.markup.render_place(one.place);
            match &one.kind {
                ReaderKind::Parameter { .. } => also = "also ",
                ReaderKind::Call { function, .. } => {
                    certain.push(format!("{} {place}", self.markup.render_code(function)));
                }
                ReaderKind::ComputedCall { pattern, .. } => {
                    perhaps.push(format!("{} {place}", self.markup.render_code(pattern)));
                }
                ReaderKind::Token { .. } => {}
            }
        }
        // Thousands of tokens may ask for a key: the tokens beyond the named places are not
        // searched for.
        let tokens = files_with_tokens(snapshot, environment, root)
            .flat_map(|path| tokens_in(snapshot, environment, path, root))
            .map(|token| self.markup.render_place(token.place));
        certain.extend(tokens.take(MAX_PLACES + 1));
        let certain = (!certain.is_empty()).then(|| self.list_places(&certain));
        let perhaps = (!perhaps.is_empty()).then(|| self.list_places(&perhaps));
        match (certain, perhaps) {
            (None, None) => None,
            (Some(certain), None) => Some(format!("{also}read by {certain}")),
            (None, Some(perhaps)) => Some(format!("perhaps {also}read by {perhaps}")),
            (Some(certain), Some(perhaps)) => {
                Some(format!("{also}read by {certain}; perhaps by {perhaps}"))
            }
        }
    }

    /// Returns the first of some places.
    fn list_places(&self, all: &[String]) -> String {
        let max = self.markup.config.max_locations.min(MAX_PLACES);
        let shown = all[..all.len().min(max)].join(", ");
        if all.len() > max { format!("{shown} and more") } else { shown }
    }

    /// Returns a line with the type of a part of a parameter's value; empty where it is not known.
    pub(super) fn render_member(&self, path: &KeyPath) -> String {
        let code = self.snapshot.manifests(&self.subject.environment);
        let found = code.asking_parameter(&path.root).filter(|one| !one.class.recovered);
        let Some(written) = found.and_then(|one| one.parameter.data_type.as_ref()) else {
            return String::new();
        };
        let judged = code.judged_type(&written.text);
        let Some(whole) = judged.or_else(|| types::parse(&written.text).ok().map(Into::into))
        else {
            return String::new();
        };
        let steps: Vec<CursorStep> = path
            .steps
            .iter()
            .map(|step| match step {
                KeyStep::Member(key) => CursorStep::Key(key.to_text().into_owned()),
                KeyStep::Element { index, .. } => CursorStep::Item(*index),
            })
            .collect();
        let Some(data_type) = type_at(&whole, &steps) else { return String::new() };
        let required = match required_here(&whole, &steps) {
            Some(true) => ", required",
            Some(false) => ", optional",
            None => "",
        };
        let data_type = self.markup.render_code(&cut_text(&one_line(&data_type.to_string())));
        format!("\nof type {data_type}{required}\n")
    }
}

fn is_longer(written: Option<&Excerpt>, most: usize) -> bool {
    written.is_some_and(|written| one_line(&written.text).chars().count() > most)
}

fn alias_text(alias: &TypeAlias) -> String {
    format!("type {} = {}", alias.name, alias.data_type.text)
}

/// Explains a type alias: its definition, the aliases that the definition names, and the comment
/// above it.
pub(super) fn describe_alias(
    markup: &Markup<'_>,
    environment: &Environment,
    alias: &TypeAlias,
) -> String {
    let code = markup.snapshot.manifests(environment);
    let named = code.aliases_named(&alias.data_type.text, MAX_ALIASES);
    let all = std::iter::once(alias).chain(named.into_iter().filter(|one| one.name != alias.name));
    let texts: Vec<String> = all.map(alias_text).collect();
    let Documentation { text, summary, .. } = &alias.documentation;
    let comments = summary.iter().chain(Some(text).filter(|text| !text.is_empty()));
    let comments: String = comments.map(|text| render_comment(markup, text)).collect();
    markup.render_puppet(&texts) + &comments
}

/// Returns the comment above a declaration, with an empty line before it.
fn render_comment(markup: &Markup<'_>, text: &str) -> String {
    let lines = text.lines().take(markup.config.max_value_lines);
    let lines: Vec<String> = lines.map(|line| markup.render_text(line)).collect();
    format!("\n{}\n", lines.join(markup.line_end()))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a default on one line, cut where it gets long.
fn short_default(default: &str) -> String {
    let line = one_line(default);
    match line.char_indices().nth(MAX_DEFAULT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
