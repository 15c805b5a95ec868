//! The lines of data files that must not be quoted: those of keys whose values may be Sensitive
//! ([`Snapshot::may_be_sensitive`]).

use std::cell::RefCell;
use std::rc::Rc;

use foldhash::HashMap;

use crate::text::{FileId, Span, Text, TextRange};
use crate::workspace::Snapshot;

/// Finds the lines that may hold the value of a secret.
pub(crate) struct SecretLines<'a> {
    snapshot: &'a Snapshot,
    known: RefCell<HashMap<FileId, Rc<Entries>>>,
    /// Whether the values of root keys may be Sensitive. Many files have the same keys.
    sensitive: RefCell<HashMap<Box<str>, bool>>,
}

/// The entries of a file.
#[derive(Default)]
struct Entries {
    /// The places of the entries that may be secret, in order.
    secret: Vec<TextRange>,
    /// The lines with which entries begin, read from the text: a broken entry may have no member.
    begins: Vec<u32>,
}

impl<'a> SecretLines<'a> {
    /// Returns the secret lines of the files of a snapshot.
    pub(crate) fn new(snapshot: &'a Snapshot) -> SecretLines<'a> {
        SecretLines { snapshot, known: RefCell::default(), sensitive: RefCell::default() }
    }

    /// Whether the first line of a place may hold the value of a secret, or a part of it.
    pub(crate) fn may_hold_secret(&self, span: Span) -> bool {
        let Some(text) = self.snapshot.file_by_id(span.file).and_then(|file| file.text()) else {
            return false;
        };
        let line = text.line_of(self.snapshot.span_bytes(span).start);
        let Some(line_range) = text.line_range(line) else { return false };
        let entries = self.file_entries(span.file, text);
        let next = entries.secret.partition_point(|entry| entry.end <= line_range.start);
        let above = entries.begins.partition_point(|begin| *begin <= line);
        let above = above.checked_sub(1).and_then(|at| root_key(text, entries.begins[at]));
        text.slice(line_range).contains("PRIVATE KEY")
            || entries.secret.get(next).is_some_and(|entry| entry.start < line_range.end)
            || above.is_some_and(|key| self.may_be_sensitive(&key))
    }

    fn may_be_sensitive(&self, root: &str) -> bool {
        if let Some(known) = self.sensitive.borrow().get(root) {
            return *known;
        }
        let is_sensitive = self.snapshot.may_be_sensitive(root);
        self.sensitive.borrow_mut().insert(root.into(), is_sensitive);
        is_sensitive
    }

    /// Returns the entries of a file: each reaches to the next.
    fn file_entries(&self, id: FileId, text: &Text) -> Rc<Entries> {
        let mut known = self.known.borrow_mut();
        known
            .entry(id)
            .or_insert_with(|| {
                let begins =
                    (0..text.line_count()).filter(|line| begins_entry(text, *line)).collect();
                Rc::new(Entries {
                    secret: self.encrypted_ranges(id, text).unwrap_or_default(),
                    begins,
                })
            })
            .clone()
    }

    fn encrypted_ranges(&self, id: FileId, text: &Text) -> Option<Vec<TextRange>> {
        let file = self.snapshot.file_by_id(id)?;
        let data = file.data_as(file.format());
        let mut starts: Vec<(u32, bool)> = data
            .parts()
            .iter()
            .flat_map(|part| &part.data.members)
            .filter_map(|(key, member)| {
                let start = data.part_bytes(member.key_origin?)?.start;
                Some((start, self.may_be_sensitive(key.as_str()?)))
            })
            .collect();
        starts.sort_unstable();
        let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
        let entries = starts.iter().zip(ends).filter(|((_, is_secret), _)| *is_secret);
        Some(entries.map(|((start, _), end)| TextRange::new(*start, end)).collect())
    }
}

fn begins_entry(text: &Text, line: u32) -> bool {
    let is_within = [' ', '\t', '#', '-', '}', ']', '\r', '\n'];
    text.line_text(line).is_some_and(|line| !line.is_empty() && !line.starts_with(is_within))
}

/// Returns the root key of the entry that begins with a line.
fn root_key(text: &Text, line: u32) -> Option<String> {
    let first = text.line_text(line)?;
    let key = first.split_once(':').map_or(&*first, |_| key_of(&first));
    Some(key.trim().trim_matches(['"', '\'']).to_owned())
}

/// Returns the text before the first colon that ends a key.
fn key_of(line: &str) -> &str {
    let mut colons = line.match_indices(':').map(|(at, _)| at);
    colons
        .clone()
        .find(|at| line[at + 1..].chars().next().is_none_or(char::is_whitespace))
        .or(colons.next_back())
        .map_or(line, |at| &line[..at])
}

#[cfg(test)]
mod tests {
    use super::begins_entry;
    use crate::fixture::Fixture;
    use crate::text::Text;

    #[test]
    fn entries_begin_at_lines_without_indentation() {
        let text = Text::new("a: [1]\n  b: 2\n- c\n# d\n}\n\nlast: {x: 1}");
        let begins: Vec<u32> =
            (0..text.line_count()).filter(|line| begins_entry(&text, *line)).collect();
        assert_eq!(begins, [0, 6]);
    }

    #[test]
    fn lines_of_secrets_are_not_quoted() {
        let fixture = Fixture::new(
            "lookup_options: {pin: {convert_to: 'Optional[Sensitive]'}, '^app::': {convert_to: [Sensitive]}}\n\
             open: \"%{lookup( 'x' )}\"\npin: \"hunter2%{lookup( 'x' )}\"\n\
             app::pin:\n  - a: \"%{lookup( 'x' )}hunter2\"\nlast: \"%{lookup( 'x' )}\"\n",
        );
        let told = fixture.rendered_findings();
        assert_eq!(told.matches("malformed-token").count(), 4, "{told}");
        assert!(!told.contains("hunter2"), "{told}");
        assert!(told.contains("| open: ") && told.contains("| last: "), "{told}");
    }

    #[test]
    fn lines_of_sensitive_parameters_are_not_quoted() {
        let code = "type App::Secret = Variant[Sensitive[String], String]\n";
        for (head, key) in [
            ("Sensitive[String] $password", "app::password"),
            ("Optional[Sensitive] $password", "app::password"),
            ("Variant[String, Sensitive] $password", "app::password"),
            ("Hash[String, Struct[{pin => Sensitive[String]}]] $password", "app::password"),
            ("App::Secret $password", "app::password"),
            ("Absent::Secret $password", "app::password"),
            ("$password = Sensitive('x')", "app::password"),
            ("Sensitive $x = lookup('deep::password')", "deep::password"),
            ("$x = lookup('deep::password', Sensitive[String])", "deep::password"),
            (") { $x = Sensitive(lookup('deep::password')) } class b (", "deep::password"),
        ] {
            let fixture = Fixture::new(&format!(
                "#- levels Common\n#- /modules/app/types/secret.pp\n{code}\
                 #- /modules/app/manifests/init.pp\nclass app ({head}) {{}}\n\
                 #- /data/common.yaml\n{key}: \"hunter2%{{lookup( 'x' )}}\"\nopen: \"%{{lookup( 'x' )}}\"\n"
            ));
            let told = fixture.rendered_findings();
            assert!(!told.contains("hunter2") && told.contains("| open: "), "{head}: {told}");
        }
    }

    #[test]
    fn lines_of_parameters_in_broken_headers_are_not_quoted() {
        for head in ["$a = [, Sensitive[String] $password) {}", "Sensitive[String $password) {}"] {
            let fixture = Fixture::new(&format!(
                "#- levels Common\n#- /modules/app/manifests/init.pp\nclass app ({head}\n\
                 #- /data/common.yaml\napp::password: \"hunter2%{{lookup( 'x' )}}\"\nopen: \"%{{lookup( 'x' )}}\"\n"
            ));
            let told = fixture.rendered_findings();
            assert!(!told.contains("hunter2") && told.contains("| open: "), "{head}: {told}");
        }
    }

    #[test]
    fn refused_values_of_secrets_are_not_quoted() {
        for value in
            ["*hunter2", "!ruby/object:hunter2 {}", "!ruby/class hunter2", "!float hunter2"]
        {
            let fixture = Fixture::new(&format!(
                "lookup_options: {{pin: {{convert_to: Sensitive}}}}\npin: {value}\nopen: {value}\n"
            ));
            let told = fixture.rendered_findings();
            assert!(told.matches("[unloadable-value]").count() == 2, "{told}");
            assert!(told.contains("| open: "), "{told}");
            let of_pin = told.split("| open: ").next().expect("a finding of the pin");
            let of_pin = of_pin.rsplit_once("data/common.yaml:3").map_or(of_pin, |parts| parts.0);
            assert!(!of_pin.contains("hunter2"), "{told}");
        }
    }

    #[test]
    fn broken_entries_of_secrets_are_not_quoted() {
        for entry in
            ["pin: [hunter2", "'pin': \"hunter2", "pin: hunter2: x", "pin:\n  - [hunter2\n"]
        {
            let fixture = Fixture::new(&format!(
                "lookup_options: {{pin: {{convert_to: Sensitive}}}}\na: 1\n{entry}\nb: 2\n"
            ));
            let told = fixture.rendered_findings();
            assert!(told.contains("syntax-error") && !told.contains("hunter2"), "{told}");
        }
    }
}
