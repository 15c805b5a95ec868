//! Anchors in data: a key that carries one may be used although nothing looks it up.

use crate::puppet::value::Member;
use crate::workspace::Snapshot;

/// Whether an anchor may stand in the text of a member.
pub fn carries_anchor(snapshot: &Snapshot, member: &Member) -> bool {
    let Some((key, value)) = member.key_origin.zip(member.value.origin) else { return true };
    let Some(text) = snapshot.file_by_id(key.file).and_then(|file| file.text()) else {
        return true;
    };
    let range = snapshot.span_bytes(key).cover(snapshot.span_bytes(value));
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
