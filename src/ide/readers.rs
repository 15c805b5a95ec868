//! Everything that reads a root key: the class parameter, calls in code, tokens in data.

use std::sync::Arc;

use crate::diagnostics::carries_anchor;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::manifests::{KeyStanding, ModuleOrigin, ReaderAt, asked_strategy};

/// Something that reads a root key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyReader {
    /// The kind of the reader.
    pub kind: ReaderKind,
    /// The place of the reader: the parameter's variable, the call, the name in the token.
    pub place: Span,
}

/// The kinds of readers of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReaderKind {
    /// A parameter of this class.
    Parameter {
        /// The class's name.
        class: String,
    },
    /// A call that names the key.
    Call {
        /// The function.
        function: &'static str,
        /// The merge strategy that the call names literally.
        merge: Option<&'static str>,
    },
    /// A call whose key is computed, and may be the key that is read.
    ComputedCall {
        /// The function.
        function: &'static str,
        /// The key, with `*` for unknown parts.
        pattern: String,
    },
    /// A token in the value of this root key.
    Token {
        /// The root key.
        root: Arc<str>,
    },
}

/// Returns all readers of a root key in an environment: the parameter, then calls, then tokens,
/// each in the order of their files.
pub fn readers_of(snapshot: &Snapshot, environment: &Environment, key: &str) -> Vec<KeyReader> {
    let mut all = readers_in_code(snapshot, environment, key);
    let files = files_with_tokens(snapshot, environment, key);
    all.extend(files.flat_map(|path| tokens_in(snapshot, environment, path, key)));
    all
}

/// Returns the readers of a root key in code: the parameter, then calls in the order of their files.
pub(super) fn readers_in_code(
    snapshot: &Snapshot,
    environment: &Environment,
    key: &str,
) -> Vec<KeyReader> {
    let index = snapshot.manifests(environment);
    let mut all = Vec::new();
    all.extend(index.asking_parameter(key).map(|found| KeyReader {
        kind: ReaderKind::Parameter { class: found.class.name.clone() },
        place: Span::in_file(found.file.id, found.parameter.range),
    }));
    all.extend(index.readers_of_key(key).map(|one| {
        let merge = asked_strategy(one.reader).map(|strategy| strategy.name());
        KeyReader {
            kind: ReaderKind::Call { function: one.reader.function.name(), merge },
            place: reader_span(&one),
        }
    }));
    all.extend(index.pattern_readers(key).map(|one| {
        let keys = one.reader.keys.iter().flatten().map(|key| key.wildcard_text());
        let pattern = keys.collect::<Vec<_>>().join(", ");
        let kind = ReaderKind::ComputedCall { function: one.reader.function.name(), pattern };
        KeyReader { kind, place: reader_span(&one) }
    }));
    all
}

fn reader_span(one: &ReaderAt<'_>) -> Span {
    Span::in_file(one.file.id, one.reader.range)
}

/// Returns the files of the environment with tokens that ask for a root key.
pub(super) fn files_with_tokens<'a>(
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    key: &str,
) -> impl Iterator<Item = &'a FilePath> {
    let files = snapshot.keys().files_asking_for(key).into_iter();
    files.filter(|path| environment.reaches_file(path))
}

/// Returns the tokens of a file that ask for a root key.
pub(super) fn tokens_in(
    snapshot: &Snapshot,
    environment: &Environment,
    path: &FilePath,
    key: &str,
) -> Vec<KeyReader> {
    let view = snapshot.view(environment);
    let Some(data) = view.data_of(path) else { return Vec::new() };
    let tokens = data
        .tokens()
        .filter(|token| token.reference.key().is_some_and(|asked| *asked.root_text() == *key))
        .map(|token| KeyReader {
            kind: ReaderKind::Token { root: token.root.clone() },
            place: token.name_span(),
        });
    tokens.collect()
}

/// A root key of data, with its reader.
#[derive(Clone, Debug)]
pub struct ReadKey<'a> {
    /// The root key.
    pub key: &'a str,
    /// The reader of the key, or the reason why the key has none.
    pub standing: KeyStanding<'a>,
    /// Where files of the environment define the key, in the order of their paths.
    pub definitions: Vec<Span>,
    /// Whether an anchor stands in a definition, so that an alias may use its value.
    pub has_anchor: bool,
}

impl ReadKey<'_> {
    /// Whether the key has no reader here, as far as that is known: keys of modules that a
    /// Puppetfile installs are not known to be unread.
    pub fn is_unread(&self, has_puppetfile: bool) -> bool {
        use KeyStanding::{AbsentModule, DefinedType, MisplacedClass, NoClass, NoParameter, Plain};
        let is_unread = match self.standing {
            NoParameter(_) | DefinedType(_) | MisplacedClass(_) | NoClass | Plain => true,
            AbsentModule(origin) => origin == ModuleOrigin::Unknown && has_puppetfile,
            _ => false,
        };
        is_unread && !self.has_anchor
    }
}

/// Returns the root keys of the data of an environment, in the order of their bytes.
pub fn keys_of<'a>(snapshot: &'a Snapshot, environment: &Environment) -> Vec<ReadKey<'a>> {
    let view = snapshot.view(environment);
    let keys = snapshot.keys().keys().filter(|key| ***key != *LOOKUP_OPTIONS);
    keys.filter_map(|key: &'a Arc<str>| {
        let members: Vec<_> = view.root_members(key).collect();
        let standing = snapshot.key_standing(environment, key);
        (!members.is_empty()).then(|| ReadKey {
            key,
            standing,
            definitions: members.iter().filter_map(|member| member.key_origin).collect(),
            has_anchor: members.iter().any(|member| carries_anchor(snapshot, member)),
        })
    })
    .collect()
}
