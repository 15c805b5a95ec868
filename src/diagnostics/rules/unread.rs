//! Code shared by the rules about keys without readers.

use crate::diagnostics::carries_anchor;
use crate::diagnostics::rule::EntryContext;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FileId, Span, TextRange};
use crate::workspace::manifests::KeyStanding;

/// A root key of an entry without a known reader.
pub(super) struct UnreadKey<'a> {
    pub(super) key: &'a str,
    pub(super) span: Span,
    pub(super) standing: KeyStanding<'a>,
}

/// Returns the keys of an entry that nothing is known to read, with the reason. Without those that
/// carry an anchor, as an alias elsewhere may use it, and those of a file that only a function of
/// others reads, which may return them under other names.
pub(super) fn unread_keys<'a>(
    context: &'a EntryContext<'a>,
) -> impl Iterator<Item = UnreadKey<'a>> + use<'a> {
    let (snapshot, environment) = (context.file.snapshot, context.file.environment);
    let is_of_function = environment.is_read_by_functions(&context.file.file.path);
    let members = context.root_members().filter(move |_| !is_of_function);
    members.filter_map(move |(key, member)| {
        let key = key.as_str().filter(|key| *key != LOOKUP_OPTIONS)?;
        let standing = snapshot.key_standing(environment, key);
        use KeyStanding::{Call, Data, Parameter, Unknown};
        if matches!(standing, Parameter(_) | Call | Data | Unknown)
            || carries_anchor(snapshot, member)
        {
            return None;
        }
        Some(UnreadKey { key, span: member.key_origin?, standing })
    })
}

/// Returns the place of a range of a file of code.
pub(super) fn in_code(file: FileId, range: TextRange) -> Span {
    Span::in_file(file, range)
}
