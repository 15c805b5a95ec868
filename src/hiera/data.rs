//! A data file: the values of its tree, with their origins, and the facts about them that rules and
//! features use.
//!
//! Where a text can be cut ([`crate::yaml::cut_text`]), each top-level entry is parsed alone, so that an
//! edit costs only the entries that it touches. Any other text is parsed as a whole. The meaning of
//! YAML follows Psych (semantics section 4). Where Puppet refuses the whole file, the readable
//! values are kept for the editor, and [`DataFile::refusal`] has the reason.

mod anchors;
mod documents;
mod edit;
mod load;
mod message;
mod parts;
mod refusal;
mod roots;

use std::sync::Arc;

pub use edit::Edited;
pub use parts::{Part, Parts, placed_parts};
pub use refusal::FileRefusal;

use anchors::{Anchors, PartAnchors};
use roots::Roots;

use super::key::LookupKey;
use crate::puppet::value::{Hash, Key, Member, Provenance, Value};
use crate::text::{Budget, FileId, PartId, Span, TextRange};
use crate::yaml::{self, Refused, Syntax, Tree};

/// The content of one data file.
#[derive(Clone, Debug, Default)]
pub struct DataFile {
    parts: Parts,
    roots: Arc<Roots>,
    anchors: Anchors,
    /// The syntax of the file's parts, if the file has several.
    syntax: Syntax,
    /// The first part with a value for which Puppet refuses the file.
    refused: Option<PartId>,
    /// The first part with a root that is no hash.
    other_root: Option<PartId>,
    /// The parts that no YAML reader accepts, in order.
    broken: Vec<(PartId, Refused)>,
    /// Puppet's verdict on the first part that no YAML reader accepts.
    verdict: Option<FileRefusal>,
    /// The sum of the parts of values that aliases and merge keys add.
    added_parts: u64,
}

/// The content of one part of a data file, by itself. A fleet has many parts, so that its size
/// counts.
#[derive(Clone, Debug, Default)]
pub struct EntryData {
    /// The root keys in the part and their values, as written, uninterpolated. None in a file
    /// without a hash.
    pub members: Box<[(Key, Member)]>,
    /// The tokens in the part's values, and in keys inside them, in the order of their places.
    pub tokens: Box<[TokenUse]>,
    /// Content that few parts have; `None` where all of it is empty.
    rare: Option<Box<RareData>>,
    /// Whether a value in the part may be encrypted: the part's text contains `ENC[`, or an escape,
    /// an alias or HOCON may produce it.
    pub may_be_encrypted: bool,
    /// Whether the part's root is a hash, if only an empty one.
    has_hash: bool,
    /// Whether the part is no entry, but the text behind the first document.
    is_behind_document: bool,
}

/// The content of a part that few parts have.
#[derive(Clone, Debug)]
struct RareData {
    borrowed: Vec<Borrowed>,
    problems: Vec<Problem>,
    /// Why Puppet refuses the whole file for the part, if Puppet does.
    refused: Option<FileRefusal>,
    /// The root of a file, if it is no hash.
    other_root: Option<Value>,
    /// How many parts of values the part's aliases and merge keys add, or would if the file's
    /// budget had not ended.
    added_parts: u64,
    /// The part's anchors and those that the part uses, if there are any.
    anchors: Option<PartAnchors>,
}

impl RareData {
    const EMPTY: RareData = RareData {
        borrowed: Vec::new(),
        problems: Vec::new(),
        refused: None,
        other_root: None,
        added_parts: 0,
        anchors: None,
    };

    /// Returns the content of a part with these problems and nothing else.
    fn of_problems(problems: Vec<Problem>) -> RareData {
        RareData { problems, ..RareData::EMPTY }
    }

    /// Returns the content on the heap; `None` where all of it is empty.
    fn into_box(mut self) -> Option<Box<RareData>> {
        self.borrowed.shrink_to_fit();
        self.problems.shrink_to_fit();
        let is_empty = self.borrowed.is_empty()
            && self.problems.is_empty()
            && self.refused.is_none()
            && self.other_root.is_none()
            && self.added_parts == 0
            && self.anchors.is_none();
        (!is_empty).then(|| Box::new(self))
    }
}

impl EntryData {
    /// Returns the keys that the part's values ask for through aliases. The tokens themselves stand
    /// where the anchors are.
    pub fn borrowed(&self) -> &[Borrowed] {
        &self.rare().borrowed
    }

    /// Returns the part's problems, in the order of their places.
    pub fn problems(&self) -> &[Problem] {
        &self.rare().problems
    }

    fn rare(&self) -> &RareData {
        static EMPTY: RareData = RareData::EMPTY;
        self.rare.as_deref().unwrap_or(&EMPTY)
    }
}

/// A token in a data file.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenUse {
    /// The root key in whose value the token stands.
    pub root: Arc<str>,
    /// The variable or key that the token asks for.
    pub reference: Reference,
    /// The whole string that the token stands in.
    pub string_span: Span,
    range: TextRange,
    name_range: TextRange,
}

impl TokenUse {
    /// Returns the token's place, from `%{` to `}`.
    pub fn span(&self) -> Span {
        Span { range: self.range, ..self.string_span }
    }

    /// Returns the place of the name that the token asks for: the variable, or the argument between
    /// the quotes.
    pub fn name_span(&self) -> Span {
        Span { range: self.name_range, ..self.string_span }
    }
}

/// The keys that a value asks for because an alias in it stands for a node with tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Borrowed {
    /// The root key in whose value the alias stands.
    pub root: Arc<str>,
    /// The root keys that the tokens ask for, each once.
    pub asks: Arc<[Arc<str>]>,
}

/// The variable or key that a token refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A variable, perhaps dotted.
    Variable(LookupKey),
    /// Another key, through `lookup`, `hiera` or `alias`.
    Key {
        /// The key.
        key: LookupKey,
        /// Whether the token is an `alias`.
        alias: bool,
    },
}

impl Reference {
    /// Returns the key that is asked for, if the reference is a key.
    pub fn key(&self) -> Option<&LookupKey> {
        match self {
            Reference::Key { key, .. } => Some(key),
            Reference::Variable(_) => None,
        }
    }
}

/// Something that is wrong with a data file, or that Puppet reads otherwise than it looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The kind of the problem.
    pub kind: ProblemKind,
    /// The place of the problem.
    pub span: Span,
    /// A place that explains the problem.
    pub related: Option<Span>,
}

/// The kinds of problem that a data file can have by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text is no YAML or JSON.
    Syntax {
        /// The reader's message.
        message: String,
        /// The reader's context, if it names one.
        context: Option<String>,
    },
    /// The file could not be read at all, for this reason.
    Unreadable(String),
    /// Valid YAML, but a value that Puppet's loader refuses, and with it the file: dates, unknown
    /// aliases, odd tags.
    Unloadable(FileRefusal),
    /// A key stands twice in one hash; the last one wins. `related` is the first.
    DuplicateKey {
        /// The key.
        key: String,
        /// Whether both have the same value.
        is_equal: bool,
    },
    /// The root is no hash.
    NotAHash {
        /// The type of the root, in Puppet's words.
        found: &'static str,
        /// Whether Puppet takes the root for an empty hash in every version: `null`, `false`, or
        /// nothing at all.
        empty: bool,
        /// Whether documents with data follow, which Puppet ignores.
        is_followed: bool,
    },
    /// Documents with data follow the first one, and Puppet ignores them. The place is that of the
    /// first marker.
    IgnoredDocuments {
        /// The root keys in the ignored documents, five at most, in their order.
        keys: Vec<String>,
        /// Whether there are more root keys than those in `keys`.
        has_more: bool,
    },
    /// A root key that is no string and so can never be looked up.
    UnreachableKey(String),
    /// A `%{` without a `}`.
    UnclosedToken,
    /// A token that is neither a variable nor a call.
    MalformedToken,
    /// A call of a function that Hiera does not have.
    UnknownFunction(String),
    /// An argument that is no key, or no variable.
    BadArgument {
        /// The function.
        function: String,
        /// The argument.
        argument: String,
    },
    /// An `alias` that is not the whole string.
    AliasNotWhole,
}

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataFormat {
    /// As Psych reads YAML.
    Yaml,
    /// As Ruby's JSON library reads JSON.
    Json,
    /// As Ruby's HOCON library reads HOCON.
    Hocon,
}

impl DataFormat {
    /// How many formats there are: the last format's number and one.
    pub const COUNT: usize = DataFormat::Hocon as usize + 1;

    /// Returns the syntax of files that are read in parts; `None` where files are read as a whole.
    fn syntax(self) -> Option<Syntax> {
        match self {
            DataFormat::Yaml => Some(Syntax::Yaml),
            DataFormat::Json => Some(Syntax::Json),
            DataFormat::Hocon => None,
        }
    }

    /// Parses a text; `None` when `goes_on` returns `false`. Only YAML asks for that, the only format
    /// of long files.
    pub fn parse_while(self, text: &str, goes_on: &dyn Fn() -> bool) -> Option<Tree> {
        match self {
            DataFormat::Yaml => yaml::parse_for_editing_while(text, goes_on),
            DataFormat::Json => Some(yaml::parse_json(text)),
            DataFormat::Hocon => Some(yaml::parse_hocon(text)),
        }
    }
}

impl DataFile {
    /// Returns a file that is read as a whole. `text` is the text that the tree was made from.
    pub fn read_whole(tree: &Tree, text: &str, file: FileId, format: DataFormat) -> DataFile {
        let budget = Budget::of_file();
        let data = load::load_entry(tree, text, (file, PartId::WHOLE), format, &|_| None, &budget);
        DataFile::of_parts(Parts::new(vec![Part::new(PartId::WHOLE, 0, data)]))
    }

    fn of_parts(parts: Parts) -> DataFile {
        let roots = Arc::new(Roots::new(&parts));
        let anchors = Anchors::new(&parts);
        DataFile {
            roots,
            anchors,
            refused: first_refused(parts.iter()),
            other_root: first_other_root(parts.iter()),
            added_parts: added_parts(parts.iter()),
            parts,
            ..DataFile::default()
        }
    }

    /// Returns a file that cannot be read at all, and why.
    pub fn new_unreadable(file: FileId, refusal: FileRefusal) -> DataFile {
        let span = Span::in_file(file, TextRange::new_empty(0));
        let kind = ProblemKind::Unreadable(refusal.to_string());
        let problem = Problem { kind, span, related: None };
        let rare = RareData { refused: Some(refusal), ..RareData::of_problems(vec![problem]) };
        let data = EntryData { rare: rare.into_box(), ..EntryData::default() };
        DataFile::of_parts(Parts::new(vec![Part::new(PartId::WHOLE, 0, data)]))
    }

    /// Returns the file's parts, in order.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns the bytes of a place in the file; `None` for a place in a part that the file does
    /// not have.
    pub fn part_bytes(&self, span: Span) -> Option<TextRange> {
        self.parts.start(span.part).map(|start| span.range.offset_by(start))
    }

    /// Returns the member of a root key. Of a key that stands twice the last one counts.
    pub fn get(&self, key: &str) -> Option<&Member> {
        Some(&roots::member_at(self.roots.find(key, &self.parts)?, &self.parts)?.1)
    }

    /// Returns the root keys of one of the file's entries and their values; without those that
    /// another entry overwrites.
    pub fn effective_members<'e>(
        &self,
        entry: &'e EntryData,
    ) -> impl Iterator<Item = (&'e Key, &'e Member)> + use<'_, 'e> {
        let members = entry.members.iter().map(|(key, member)| (key, member));
        members.filter(|(key, member)| self.is_effective(key, member))
    }

    /// Returns whether a member that is written in the file is the one that counts for its key.
    fn is_effective(&self, key: &Key, member: &Member) -> bool {
        if !self.roots.has_repeated() {
            return true;
        }
        let place = self.roots.find(key, &self.parts);
        let found = place.and_then(|place| roots::member_at(place, &self.parts));
        found.is_some_and(|(_, found)| std::ptr::eq(found, member))
    }

    /// Returns the parts in which a root key stands.
    pub fn parts_with(&self, key: &str) -> impl Iterator<Item = &Part> {
        let has_repeated = self.roots.has_repeated();
        let one = self.roots.find(key, &self.parts).filter(|_| !has_repeated);
        // The roots do not list the parts in which a repeated key does not count.
        let others = has_repeated.then(|| {
            self.parts.iter().filter(move |part| {
                part.data.members.iter().any(|(name, _)| name.as_str() == Some(key))
            })
        });
        let one = one.and_then(|(part, _)| self.parts.get(part));
        one.into_iter().chain(others.into_iter().flatten())
    }

    /// Returns the root keys, in order, each once.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.roots.members(&self.parts).map(|(key, _)| key)
    }

    /// Returns the root keys and their members, in order, each key once.
    pub fn members(&self) -> impl Iterator<Item = (&Key, &Member)> {
        self.roots.members(&self.parts).map(|(key, member)| (key, member))
    }

    /// Returns the tokens in the file, in the order of their places.
    pub fn tokens(&self) -> impl Iterator<Item = &TokenUse> {
        self.parts.tokens()
    }

    /// Returns the file's problems: part by part, then the keys that stand twice.
    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        self.problems_of_parts().cloned().chain(self.duplicate_problems())
    }

    /// Returns the problems of the file's parts, part by part.
    pub fn problems_of_parts(&self) -> impl Iterator<Item = &Problem> {
        self.parts.iter().flat_map(|part| part.data.problems())
    }

    /// Returns the root keys that stand twice.
    pub fn duplicate_problems(&self) -> impl Iterator<Item = Problem> {
        self.roots.duplicate_problems(&self.parts)
    }

    /// Returns the names of anchors that no alias of the file has, in no order, each with the places of
    /// the anchors.
    pub fn unused_anchors(&self) -> impl Iterator<Item = (&str, Vec<Span>)> {
        self.anchors.unused_names(&self.parts)
    }

    /// Returns why Puppet refuses the whole file, if it does.
    pub fn refusal(&self) -> Option<&FileRefusal> {
        self.verdict
            .as_ref()
            .or_else(|| self.parts.get(self.refused?)?.data.rare().refused.as_ref())
    }

    /// Whether the function is true of one of the root keys of the whole file. The parts of a file
    /// depend on how its text was edited, so that a question about one of them has no certain
    /// answer.
    pub fn has_key(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.keys().filter_map(|key| key.as_str()).any(is_wanted)
    }

    /// Returns the value of the whole file, if it has any content.
    pub fn root_value(&self) -> Option<Value> {
        let first = &self.parts.iter().next()?.data;
        if !self.has_hash() {
            return first.rare().other_root.clone();
        }
        let hash: Hash =
            self.members().map(|(key, member)| (key.clone(), member.clone())).collect();
        Some(Value::hash(hash, Provenance::from_source(None)))
    }

    /// Returns whether some part of the file is one of a hash.
    fn has_hash(&self) -> bool {
        self.parts.iter().any(|part| part.data.has_hash)
    }

    /// Returns whether the file's root is no hash, so that Puppet finds no key in the file; the
    /// text behind a lone scalar is kept for editors.
    pub fn is_no_hash(&self) -> bool {
        self.other_root.is_some()
    }

    /// Returns where the root key `key` is written.
    pub fn definition_span(&self, key: &str) -> Option<Span> {
        self.get(key)?.key_origin
    }
}

fn first_refused<'a>(mut parts: impl Iterator<Item = &'a Part>) -> Option<PartId> {
    parts.find(|part| part.data.rare().refused.is_some()).map(|part| part.id)
}

fn first_other_root<'a>(mut parts: impl Iterator<Item = &'a Part>) -> Option<PartId> {
    parts
        .find(|part| {
            let mut problems = part.data.problems().iter();
            problems.any(|problem| matches!(problem.kind, ProblemKind::NotAHash { .. }))
        })
        .map(|part| part.id)
}

fn added_parts<'a>(parts: impl Iterator<Item = &'a Part>) -> u64 {
    parts.fold(0, |sum, part| sum.saturating_add(part.data.rare().added_parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse_for_editing;

    #[test]
    fn a_part_is_small() {
        assert!(size_of::<EntryData>() <= 48 && size_of::<TokenUse>() <= 112);
    }

    #[test]
    fn a_key_being_typed_above_a_comment_hides_nothing_in_an_editor() {
        let text = "pro\n# users\nprofile::users: [a]\n";
        let data =
            DataFile::read_whole(&parse_for_editing(text), text, FileId::new(0), DataFormat::Yaml);
        assert!(data.get("profile::users").is_some());
        assert!(data.is_no_hash(), "to Puppet the file is the string 'pro'");
    }
}
