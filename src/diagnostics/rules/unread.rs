//! What the rules about keys that nothing reads have in common.

use crate::diagnostics::rule::EntryContext;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::puppet::value::Member;
use crate::text::{FileId, Span, TextRange};
use crate::workspace::manifests::KeyStanding;

/// A root key of an entry that nothing is known to read.
pub(super) struct UnreadKey<'a> {
    pub(super) key: &'a str,
    pub(super) span: Span,
    pub(super) standing: KeyStanding<'a>,
}

/// The keys of an entry that nothing is known to read, with the reason. Without those that carry an
/// anchor: an alias elsewhere may use it.
pub(super) fn unread_keys<'a>(
    context: &'a EntryContext<'a>,
) -> impl Iterator<Item = UnreadKey<'a>> + use<'a> {
    let (snapshot, environment) = (context.file.snapshot, context.file.environment);
    context.members().filter_map(move |(key, member)| {
        let key = key.as_str().filter(|key| *key != LOOKUP_OPTIONS)?;
        let standing = snapshot.standing(environment, key);
        use KeyStanding::{Call, Data, Parameter, Unknown};
        if matches!(standing, Parameter(_) | Call | Data | Unknown) || has_anchor(context, member) {
            return None;
        }
        Some(UnreadKey { key, span: member.key_origin?, standing })
    })
}

/// Whether an anchor may stand in the text of a member.
fn has_anchor(context: &EntryContext<'_>, member: &Member) -> bool {
    let snapshot = context.file.snapshot;
    let places = member.key_origin.zip(member.value.origin);
    let (Some((key, value)), Some(text)) = (places, context.file.file.text()) else { return true };
    let range = snapshot.place(key).cover(snapshot.place(value));
    let text = text.slice(range);
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let names = chars.peek().is_some_and(|next| next.is_alphanumeric() || *next == '_');
        if c == '&' && names && matches!(before, ' ' | '\n' | '\t' | '[' | '{' | ',') {
            return true;
        }
        before = c;
    }
    false
}

/// The place of a range of a file of code.
pub(super) fn in_code(file: FileId, range: TextRange) -> Span {
    Span::in_file(file, range)
}
