//! Rules and their findings.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use super::WrongSetting;
use crate::fleet::answer_cache::AnswerCache;
use crate::hiera::config::{HieraConfig, Layer};
use crate::hiera::data::{DataFile, EntryData, Problem};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::lookup_options::OptionsEntry;
use crate::hiera::merge::Strategy;
use crate::hiera::resolution::Resolution;
use crate::puppet::value::{Key, Member};
use crate::text::{Span, TextRange};
use crate::workspace::environments::{Environment, RefusedModule};
use crate::workspace::files::file::File;
use crate::workspace::manifests::ManifestIndex;
use crate::workspace::{EnvironmentView, Snapshot};

/// A rule of the catalogue.
#[derive(Debug)]
pub struct Rule {
    /// The rule's stable name: kebab-case, for the pattern that the rule finds.
    pub code: &'static str,
    /// How serious a finding is unless the settings say otherwise.
    pub severity: Severity,
    /// The harm that the rule's findings do.
    pub group: RuleGroup,
    /// How editors show the text of the rule's findings.
    pub tag: Option<Tag>,
    /// The rule's findings described in one line.
    pub summary: &'static str,
    /// The rule's page, in Markdown.
    pub docs: &'static str,
    /// The data that the rule's findings about an entry depend on.
    pub depends_on: Dependence,
    /// The least knowledge with which the rule's findings in a file are final.
    pub needs: Needs,
    /// The function that makes the rule's findings.
    pub check: Check,
}

/// A property of findings that editors show in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// The text has no effect: editors fade it.
    Unnecessary,
    /// The text means something outdated: editors strike it through.
    Deprecated,
}

/// The harm that the findings of a rule do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleGroup {
    /// Puppet fails, loses data, or reads another value than the text shows.
    Broken,
    /// The text has no effect.
    Dead,
    /// The text works now, and stops working with another version, node or order.
    Fragile,
    /// The text works, and can be shorter or clearer.
    Style,
}

/// The data that the findings about an entry depend on, beside the entry itself.
#[derive(Clone, Copy, Debug)]
pub enum Dependence {
    /// The definitions of the keys that [`Check`] names.
    Keys,
    /// Any key and any code, for entries of which the function is true.
    Everything(fn(&ManifestIndex, &EntryData) -> bool),
}

/// The knowledge with which the findings of a rule in a file are final: each value includes those
/// before it. The server publishes findings in this order while a workspace is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// The file, and that an environment reads it.
    File,
    /// Every `hiera.yaml`, and the names of all files.
    Levels,
    /// The contents of all files: the indexes of data and of code.
    Index,
}

impl Needs {
    /// Returns what a snapshot knows without its indexes.
    pub fn known_at_once(snapshot: &Snapshot) -> Needs {
        if snapshot.complete { Needs::Levels } else { Needs::File }
    }

    /// Returns what a snapshot knows at most: all, once the workspace has been read.
    pub fn known_at_most(snapshot: &Snapshot) -> Needs {
        if snapshot.complete { Needs::Index } else { Needs::File }
    }
}

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Disabled.
    Off,
    /// Worth knowing, at a glance.
    Hint,
    /// Worth knowing.
    Info,
    /// Probably a mistake.
    Warning,
    /// Puppet fails, or loses data.
    Error,
}

impl Severity {
    /// All severities, the mildest first.
    pub const ALL: [Severity; 5] =
        [Severity::Off, Severity::Hint, Severity::Info, Severity::Warning, Severity::Error];

    /// Returns the name in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Off => "off",
            Severity::Hint => "hint",
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }

    /// Returns the severity called `name`.
    pub fn from_name(name: &str) -> Option<Severity> {
        Severity::ALL.into_iter().find(|severity| severity.name() == name)
    }
}

/// The input of a rule. Findings are pushed in any order.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// One problem of a data file at a time, as its reader saw it.
    Problem(fn(&Problem, &FileContext<'_>, &mut Vec<Finding>)),
    /// A top-level entry of a data file (or all of a file that is read as a whole), in its
    /// workspace. The findings depend on the entry, on the definitions of the keys that lookups of
    /// its own key and of those in its tokens may reach, on `lookup_options`, and on no other data.
    Entry(fn(&EntryContext<'_>, &mut Vec<Finding>)),
    /// The `lookup_options` of a data file, in its workspace.
    Options(fn(&Member, &DataContext<'_>, &mut Vec<Finding>)),
    /// The tokens of a whole data file, in its workspace, for lookup cycles: the lookup of any
    /// token may close one.
    Cycles(fn(&DataContext<'_>, &mut Vec<Finding>)),
    /// A `hiera.yaml`.
    Config(fn(&HieraConfig, &FileContext<'_>, &mut Vec<Finding>)),
    /// A setting in a settings file that has no effect.
    Setting(fn(&WrongSetting, &File) -> Finding),
    /// A module that Puppet passes over, at its metadata.json.
    Module(fn(&RefusedModule, &File) -> Finding),
    /// A comment that accepts no finding.
    Ignore(fn(&UnusedIgnore<'_>, &File) -> Finding),
    /// A file that lies where data lies.
    File(fn(&FileContext<'_>, &mut Vec<Finding>)),
}

/// A file in its workspace.
#[derive(Clone, Copy, Debug)]
pub struct FileContext<'a> {
    /// The workspace.
    pub snapshot: &'a Snapshot,
    /// The environment that governs the file.
    pub environment: &'a Environment,
    /// The files as the environment's lookups see them.
    pub view: &'a EnvironmentView<'a>,
    /// The file.
    pub file: &'a File,
    /// The answers of lookups for nodes, which all rules and files share.
    pub answers: &'a AnswerCache,
}

/// A data file in its workspace.
#[derive(Clone, Copy, Debug)]
pub struct DataContext<'a> {
    /// The file.
    pub file: FileContext<'a>,
    /// The file's contents.
    pub data: &'a DataFile,
    /// The layer that reads the file.
    pub layer: &'a Layer,
}

/// A top-level entry in its workspace.
#[derive(Clone, Copy)]
pub struct EntryContext<'a> {
    /// The file.
    pub file: FileContext<'a>,
    /// The file's contents.
    pub data: &'a DataFile,
    /// The entry.
    pub entry: &'a EntryData,
    /// The layer that reads the file.
    pub layer: &'a Layer,
    /// The merge strategy of a root key for the nodes that see the file, if `lookup_options` make
    /// sense.
    pub strategy: &'a dyn Fn(&str) -> Option<Strategy>,
    /// The entry of `lookup_options` that serves a key, for the nodes that see the file.
    pub options: &'a dyn Fn(&LookupKey) -> Option<OptionsEntry>,
    /// The lookup of a key, for the nodes that see the file.
    pub lookup: &'a dyn Fn(&LookupKey, Option<&Strategy>) -> Resolution,
    /// Returns an entry of the file, by its root key and its value, if it can be removed.
    pub(super) removable: RemovalProof<'a>,
}

/// Returns the entry of a root key with this value in the file of a context, if it can be removed.
pub(super) type RemovalProof<'a> =
    &'a dyn Fn(&EntryContext<'_>, &Arc<str>, &Member) -> Option<Rc<RemovableEntry>>;

impl<'a> EntryContext<'a> {
    /// Returns the root keys of the entry and their values; without those that another entry
    /// overwrites.
    pub fn root_members(&self) -> impl Iterator<Item = (&'a Key, &'a Member)> + use<'a> {
        self.data.effective_members(self.entry)
    }

    /// Returns the root entries that can be removed: no value of any node changes without one.
    pub fn removable_entries(&self) -> impl Iterator<Item = Rc<RemovableEntry>> {
        self.root_members()
            .filter_map(|(key, member)| (self.removable)(self, key.as_arc()?, member))
    }

    /// Returns the `lookup_options` of the file, if the entry holds them.
    pub fn lookup_options(&self) -> Option<&'a Member> {
        self.root_members()
            .find(|(key, _)| key.as_str() == Some(LOOKUP_OPTIONS))
            .map(|(_, member)| member)
    }
}

/// Why the removal of an entry changes no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryEffect {
    /// All readers of the file merge the key's values, and have all of the entry's value from other
    /// files.
    MergesNothing,
    /// Each reader gets the same value from other files.
    RepeatsValue,
    /// Each reader, known or unknown, gets the value of a file that it reads before.
    NeverWins,
}

/// An entry whose removal changes no value of any node.
#[derive(Debug)]
pub struct RemovableEntry {
    /// The entry's root key.
    pub key: Arc<str>,
    /// The place of the key.
    pub span: Span,
    /// Why the entry's removal changes nothing.
    pub effect: EntryEffect,
    /// The places that the readers get the value from without the entry, in the order of levels; of
    /// an entry that never wins, a place that each reader reads before.
    pub places: Vec<Span>,
}

impl RemovableEntry {
    /// Returns the finding of a rule that the entry can be deleted, with the fix that deletes it.
    pub fn finding(&self, rule: &'static Rule, message: String) -> Finding {
        let fix = Fix::delete_entry(&self.key, self.span);
        let finding = Finding::new(rule, self.span, message).fix(fix);
        let label = match self.effect {
            EntryEffect::NeverWins => "each reader finds the key here before",
            EntryEffect::MergesNothing | EntryEffect::RepeatsValue => {
                "readers get the value from here"
            }
        };
        self.places.iter().fold(finding, |finding, place| finding.with_related(Some(*place), label))
    }
}

/// Returns a type in Puppet's words, as a phrase for people.
pub fn in_words(type_name: &str) -> &str {
    match type_name {
        "Undef" => "null",
        "Boolean" => "a boolean",
        "Integer" => "an integer",
        "Float" => "a float",
        "String" => "a string",
        "Array" | "Tuple" => "a list",
        "Hash" | "Struct" => "a hash",
        "Default" | "Runtime" => "a symbol",
        other => other,
    }
}

/// Something found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// How serious the finding is here.
    pub severity: Severity,
    /// The place of the finding.
    pub span: Span,
    /// The problem, in a sentence or two.
    pub message: String,
    /// Places that explain the finding.
    pub related: Vec<Related>,
    /// The change that mends the finding, if one is known. A box, as most findings have none and a
    /// workspace has many.
    pub fix: Option<Box<Fix>>,
    /// The fact behind the finding, in words, where other findings may have the same one.
    pub cause: Option<String>,
}

/// A change that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The fix's title, for a menu.
    pub title: String,
    /// The edits, all in the file of the finding.
    pub edits: Vec<FixEdit>,
    /// Whether the fix may change values.
    pub safety: Safety,
}

impl Fix {
    /// Returns the fix that deletes the entry of a root key with its key at this place.
    pub(super) fn delete_entry(key: &str, span: Span) -> Fix {
        Fix {
            title: format!("Delete '{key}' here"),
            edits: vec![FixEdit::RemoveMember(span)],
            safety: Safety::KeepsValues,
        }
    }

    /// Whether the fix removes members of hashes and does nothing else.
    pub fn only_removes(&self) -> bool {
        self.edits.iter().all(|edit| matches!(edit, FixEdit::RemoveMember(_)))
    }
}

/// An edit of a fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FixEdit {
    /// Replaces a part of the text of a place.
    Replace {
        /// The place.
        span: Span,
        /// The wrong part, as it is written at the place; once, or the fix cannot be made. Like the
        /// right part it needs no quotes and no escapes.
        wrong: String,
        /// The text that was probably meant.
        right: String,
    },
    /// Removes the member of a hash that has its key at this place.
    RemoveMember(Span),
    /// Moves the options that Puppet passes over, beside `merge`, into the hash of `merge`: in the
    /// entry of `lookup_options` that has one of them at this place.
    MoveBelowMerge(Span),
    /// Removes a code from a comment that accepts findings, and the comment with the last one.
    RemoveIgnore(Span),
}

/// The effect of a fix on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Safety {
    /// No value changes, as the rule knows. This claim is proved before the fix is applied.
    KeepsValues,
    /// Values change, as they should.
    ChangesValues,
}

/// A code in a comment that accepts findings of its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreCode {
    /// The code, as it is written; empty where the comment has none.
    pub code: String,
    /// The place of the code.
    pub range: TextRange,
    /// The place in which findings are accepted; `None`: the whole file.
    pub covers: Option<TextRange>,
}

/// A code that accepts no finding.
pub struct UnusedIgnore<'a> {
    /// The code.
    pub ignore: &'a IgnoreCode,
    /// Whether a rule has the comment's code.
    pub is_known: bool,
    /// The code of a rule that is probably meant where no rule has the comment's code.
    pub similar: Option<&'static str>,
}

/// A place that explains a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The place.
    pub span: Span,
    /// The role of the place in the finding.
    pub message: Cow<'static, str>,
    /// Whether reports for people show the line of the place.
    pub is_quoted: bool,
}

impl Related {
    /// Returns a place whose line is not shown.
    pub fn new(span: Span, message: impl Into<Cow<'static, str>>) -> Related {
        Related { span, message: message.into(), is_quoted: false }
    }
}

impl Finding {
    /// Returns a finding of this rule.
    pub fn new(rule: &'static Rule, span: Span, message: impl Into<String>) -> Finding {
        Finding {
            rule,
            severity: rule.severity,
            span,
            message: message.into(),
            related: Vec::new(),
            fix: None,
            cause: None,
        }
    }

    /// Returns the finding with the change that mends it.
    pub fn fix(self, fix: Fix) -> Finding {
        Finding { fix: Some(Box::new(fix)), ..self }
    }

    /// Returns the finding with a change of `wrong` to the text that was probably meant, if there is
    /// one.
    pub fn suggest(self, wrong: &str, right: Option<&str>) -> Finding {
        let Some(right) = right else { return self };
        let (span, wrong, right) = (self.span, wrong.to_owned(), right.to_owned());
        self.fix(Fix {
            title: format!("Change to '{right}'"),
            edits: vec![FixEdit::Replace { span, wrong, right }],
            safety: Safety::ChangesValues,
        })
    }

    /// Returns the finding with a place that explains it, if there is one.
    pub fn with_related(
        mut self,
        span: Option<Span>,
        message: impl Into<Cow<'static, str>>,
    ) -> Finding {
        self.related.extend(span.map(|span| Related::new(span, message)));
        self
    }

    /// Returns the finding with a place whose line is shown in reports for people, if there is one.
    pub fn with_quoted(
        mut self,
        span: Option<Span>,
        message: impl Into<Cow<'static, str>>,
    ) -> Finding {
        let related = span.map(|span| Related { is_quoted: true, ..Related::new(span, message) });
        self.related.extend(related);
        self
    }
}
