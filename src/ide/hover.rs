//! Hover: the effective value of the subject under the cursor, the nodes that get it, and the level
//! that each part of it comes from.

mod actions;
mod answer;
mod around;
mod backend;
mod cases;
mod difference;
mod evaluated;
mod groups;
mod head;
mod markup;
mod notes;
mod overriding;
mod parameter;
mod provenance;
mod redundancy;
mod subjects;
mod value;

use super::audience::Audience;
use super::code::{alias_under_cursor, in_code};
use super::cursor::{KeyPath, Subject, SubjectKind, part_of, under_cursor, under_cursor_unread};
use super::evaluation::Evaluations;
use super::phrases::PlaceNames;
use super::value_sources::{Narrow, ValueSource, value_sources};
use crate::fleet::audience::{FileAudience, ValueLimits};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::resolution::{Resolution, Unsettled};
use crate::hiera::scope::Scope;
use crate::puppet::print::PrintOptions;
use crate::puppet::value::Value;
use crate::text::{FilePath, FilePosition, TextRange};
use crate::workspace::Snapshot;
use markup::Markup;
use parameter::describe_alias;

/// How a hover is written.
#[derive(Clone, Copy)]
pub struct HoverConfig<'a> {
    /// Whether the client shows Markdown.
    pub markdown: bool,
    /// The address of a line (from 1) of a file; `None` where places are to be named without.
    pub link: Option<Link<'a>>,
    /// The most lines of a value.
    pub max_value_lines: usize,
    /// The most locations, values or keys to list.
    pub max_locations: usize,
    /// How a user does something from a hover; `None` where a client has no such actions.
    pub action: Option<ActionForm<'a>>,
    /// The values that the user had evaluated with functions of levels; `None` where that is not
    /// switched on.
    pub evaluations: Option<&'a Evaluations>,
}

impl Default for HoverConfig<'_> {
    /// Plain text of a length that does for most values.
    fn default() -> Self {
        HoverConfig {
            markdown: false,
            link: None,
            max_value_lines: 12,
            max_locations: 12,
            action: None,
            evaluations: None,
        }
    }
}

/// The actions that a hover offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Show the page about the key, with all of its value.
    Explain,
    /// Choose the node whose values are shown.
    SelectNode,
    /// Evaluate the key with functions of levels.
    Evaluate,
}

/// How an action on a key in a file is called; `None` for one that the client does not have.
pub type ActionForm<'a> = &'a dyn Fn(Action, &FilePath, &LookupKey) -> Option<ActionCall>;

/// How a client calls an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionCall {
    /// With an address, for clients that show Markdown.
    Link(String),
    /// With a command that users type.
    Command(String),
}

/// The address of a line (from 1) of a file.
pub type Link<'a> = &'a dyn Fn(&FilePath, u32) -> String;

/// The text to show, and the bytes that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The bytes that the hover is about.
    pub range: TextRange,
    /// Markdown, or plain text.
    pub text: String,
}

/// Explains the subject at `position`; `None` when there is nothing to explain.
pub fn hover(
    snapshot: &Snapshot,
    position: FilePosition,
    config: &HoverConfig<'_>,
) -> Option<Hover> {
    if let Some(subject) = under_cursor_unread(snapshot, position) {
        let text = describe_unread(snapshot, &subject, config);
        return Some(Hover { range: subject.range, text });
    }
    if let Some((range, alias, environment)) = alias_under_cursor(snapshot, position) {
        let names = PlaceNames { snapshot, root: &environment.root };
        let markup = Markup { snapshot, config, names };
        return Some(Hover { range, text: describe_alias(&markup, &environment, alias) });
    }
    let subject = under_cursor(snapshot, position).or_else(|| in_code(snapshot, position))?;
    let text = describe(snapshot, &subject, config)?;
    Some(Hover { range: subject.range, text })
}

/// Returns the reason why a key has no effective value: no level reads its file.
fn describe_unread(snapshot: &Snapshot, subject: &Subject, config: &HoverConfig<'_>) -> String {
    let names = PlaceNames { snapshot, root: &subject.environment.root };
    let markup = Markup { snapshot, config, names };
    if let Some(reach) = subject.environment.probable_function(&subject.path) {
        let function = markup.render_code(&reach.level.backend.name);
        let level = markup.render_bold(&reach.level.name);
        let setting = markup.render_code("backends");
        return format!(
            "It is not known how the function {function} of the level {level} reads this file. The setting {setting} describes functions.\n"
        );
    }
    if let Some(config) = subject.environment.other_reader(&subject.path) {
        let name = markup.names.short_path(&config.path);
        let name = markup.render_file(name, &config.path);
        return format!(
            "Only {name} reads this file, and this config governs no environment here, so that no node gets a value from the file.\n"
        );
    }
    let name = match subject.environment.governing_config() {
        Some(config) => markup.render_file(config.path.name(), &config.path),
        None => "any hiera.yaml".to_owned(),
    };
    format!("No level of {name} reads this file, so that no node gets a value from here.\n")
}

/// Explains a subject; `None` when there is nothing to explain.
pub fn describe(
    snapshot: &Snapshot,
    subject: &Subject,
    config: &HoverConfig<'_>,
) -> Option<String> {
    let audience = FileAudience::new(snapshot, &subject.environment, &subject.path);
    let names = PlaceNames { snapshot, root: &subject.environment.root };
    let markup = Markup { snapshot, config, names };
    let writer =
        HoverWriter { snapshot, subject, scope: &audience.scope, audience: &audience, markup };
    let text = match &subject.kind {
        SubjectKind::Key(path) => writer.render_key(path) + &writer.render_config(),
        SubjectKind::Reference(key) => {
            writer.render_reference(key, false) + &writer.render_config()
        }
        SubjectKind::Parameter(key) => {
            writer.render_reference(key, true)
                + &writer.code_of(&key.root_text())
                + &writer.render_config()
        }
        SubjectKind::Variable(key) => writer.render_variable(key),
        SubjectKind::Location { config, template } => writer.render_location(config, template),
        SubjectKind::Backend(level) => writer.render_backend(level),
        SubjectKind::Alias { .. } => return None,
    };
    Some(text + &writer.choice_note() + &writer.render_actions())
}

/// Writes one hover.
struct HoverWriter<'a> {
    snapshot: &'a Snapshot,
    subject: &'a Subject,
    /// The scope of the file: that of a node, or the variables that the file's path implies.
    scope: &'a Scope,
    audience: &'a FileAudience<'a>,
    markup: Markup<'a>,
}

/// A lookup that a hover asks for.
struct HoverQuestion<'a> {
    /// The root key.
    root: LookupKey,
    /// Whether the question is about the value as a whole.
    is_whole: bool,
    /// Whether the question is about the key in the file of the hover, not about one that a token
    /// names.
    is_own: bool,
    /// Whether the question is about the value that a class parameter takes, so that the
    /// parameter's default stands in for a value that no level has.
    is_parameter: bool,
    /// The key to show; elements of lists have the number that they have in the effective value.
    title: &'a dyn Fn(Option<&Value>) -> String,
    narrow: Narrow<'a>,
}

/// The result of a lookup for the nodes that a hover shows.
struct HoverAnswer<'a> {
    resolution: &'a Resolution,
    /// The lookups of other nodes, which give the same value, perhaps from other files.
    others: Vec<&'a Resolution>,
    /// The files that could change the answer for one of its nodes, if unknown variables were
    /// known.
    unsettled: &'a [Unsettled],
    /// The scope that the lookup was made in.
    scope: &'a Scope,
    /// Whether all nodes of the answer get the same value without the key in the file of the hover.
    is_redundant: bool,
    /// Whether functions of levels were called for the answer.
    is_evaluated: bool,
}

impl<'a> HoverAnswer<'a> {
    /// Wraps the result of one lookup.
    fn from_lookup(
        resolution: &'a Resolution,
        scope: &'a Scope,
        is_redundant: bool,
    ) -> HoverAnswer<'a> {
        let unsettled = &resolution.unsettled;
        let (others, is_evaluated) = (Vec::new(), false);
        HoverAnswer { resolution, others, unsettled, scope, is_redundant, is_evaluated }
    }
}

impl HoverWriter<'_> {
    fn render_key(&self, path: &KeyPath) -> String {
        if &*path.root == LOOKUP_OPTIONS {
            return self.options_entry(path);
        }
        let answers = self.render_answers(&HoverQuestion {
            root: LookupKey::of_root(&path.root),
            is_whole: path.steps.is_empty(),
            is_own: true,
            is_parameter: path.steps.is_empty(),
            title: &|value| {
                value.map_or_else(
                    || path.dotted_key(),
                    |value| path.renumber(self.snapshot, value).dotted_key(),
                )
            },
            narrow: &|value, key| path.find_within(self.snapshot, value, key),
        });
        let code =
            if path.steps.is_empty() { self.code_of(&path.root) } else { self.render_member(path) };
        answers + &self.passed_over(&path.root) + &code
    }

    /// Returns a note that the value in this file has no effect, if the file belongs to a module
    /// and the key does not.
    fn passed_over(&self, root: &str) -> String {
        let Subject { environment, path, .. } = self.subject;
        let Some(module) = environment.module_passing_over(path, root) else {
            return String::new();
        };
        let prefix = self.markup.render_code(&format!("{module}::"));
        let module = self.markup.render_code(module);
        format!(
            "\nthe value here has no effect: in data of the module {module}, Puppet passes over keys that do not start with {prefix}\n"
        )
    }

    fn render_reference(&self, key: &LookupKey, is_parameter: bool) -> String {
        self.render_answers(&HoverQuestion {
            root: LookupKey::of_root(&key.root_text()),
            is_whole: key.subkeys.is_empty(),
            is_own: false,
            is_parameter,
            title: &|_| key.text.to_string(),
            narrow: &|value, root| {
                let (place, value) = part_of(key, value)?;
                Some((if key.subkeys.is_empty() { root } else { place }, value))
            },
        })
    }

    fn render_answers(&self, asked: &HoverQuestion<'_>) -> String {
        let answers = self.render_own(asked).unwrap_or_else(|| self.answers_of_data(asked));
        answers + &self.render_evaluations(asked)
    }

    /// Returns the answers without those of functions of levels.
    fn answers_of_data(&self, asked: &HoverQuestion<'_>) -> String {
        let value = self.audience.effective_value(&asked.root, ValueLimits::OF_KEY, true);
        if !self.audience.readers().is_empty() {
            return self.answers_in_nodes(asked, &value);
        }
        let Some(group) = value.groups.first() else { return String::new() };
        if let Some(answers) = self.answers_by_kind(asked, group) {
            return answers;
        }
        let (scope, resolution) = (&*group.scope, &group.resolution);
        let title = (asked.title)(resolution.value.as_ref().ok().and_then(Option::as_ref));
        let head = self.head_of_key(asked, &title, &self.scope_audience());
        let is_redundant = self.is_redundant(resolution, scope, asked);
        let cases = group.cases.iter().filter_map(|case| case.resolution.as_ref());
        let found = HoverAnswer {
            others: cases.collect(),
            ..HoverAnswer::from_lookup(resolution, scope, is_redundant)
        };
        self.render_answer(head, &found, asked)
    }

    /// Returns the places that have the part, highest priority first.
    fn part_sources(&self, resolution: &Resolution, narrow: Narrow<'_>) -> Vec<ValueSource> {
        value_sources(self.snapshot, resolution, narrow)
    }

    fn scope_audience(&self) -> Audience {
        let Subject { environment, path, .. } = self.subject;
        Audience::of_scope(self.snapshot, environment, self.scope, path)
    }

    fn print_options(&self) -> PrintOptions<'_> {
        PrintOptions {
            mask_encrypted: true,
            reveal_decrypted: self.snapshot.config().eyaml.reveal,
            cancel: Some(self.snapshot.cancel_token()),
            ..PrintOptions::default()
        }
    }
}

#[cfg(test)]
mod tests;
