//! Cuts a text into its top-level entries. Each entry can be parsed alone and has the same meaning
//! as within the text.
//!
//! That holds for the plain form of data files: one document, a block mapping at column 0. An alias
//! of an anchor in another entry has no target in its entry's tree: it stands for the last anchor
//! of its name in the entries above. libyaml starts a new entry at each key at column 0, so a run
//! of lines that is accepted by itself is read the same within its text. A line at column 0 within
//! quotes or brackets cannot be parsed alone, and belongs to the entry above it.
//!
//! An entry that libyaml refuses ends at the next line that looks like a key. The others are read
//! as if it were none of them: an entry depends on no text above it, and below it only on the text
//! that was read to find its end. [`cut_text`] cuts a whole text in this way; after an edit, a
//! [`Cutter`] reads the entries that depend on it again.

use std::borrow::Cow;

use super::accept::accept_document;
use super::builder::Builder;
use super::control::bad_char;
use super::entry::{MARKER, Refused, Stop, Syntax, TopEntry, begins_entry, is_marker};
use super::json::cut as json_cut;
use super::recover;
use super::run::DocumentParser;
use super::tree::{NodeId, NodeKind, Tree};
use crate::text::{Text, TextRange};

/// How many times as much as the text is read of entries that are refused before cutting is given
/// up.
const PATIENCE: u64 = 6;

/// Returns the entries of a whole text; `None` for a text without a form that can be cut. Text
/// before the first entry belongs to none.
pub fn cut_text(text: &str, syntax: Syntax) -> Option<Vec<TopEntry>> {
    let mut at = match syntax {
        Syntax::Yaml => find_head(text)?,
        Syntax::Json => json_cut::find_head(text, true).ok()?,
    };
    if syntax == Syntax::Yaml && bad_char(text, at).is_some() {
        return None;
    }
    let mut entries = Vec::new();
    let mut read = 0;
    while at < text.len() {
        let mut entry = match syntax {
            Syntax::Yaml => read_entry(&text[at..], entries.is_empty(), true).ok()?,
            Syntax::Json => json_cut::read_entry(&text[at..], column_at(text, at), true).ok()?,
        };
        read += entry.refused.as_ref().map_or(0, |refused| u64::from(refused.reach));
        if !is_worth_it(read, text.len()) {
            return None;
        }
        if syntax == Syntax::Yaml
            && !entry.is_behind_document
            && has_odd_lines(&text[at..at + entry.range.end as usize])
        {
            return None;
        }
        entry.range = entry.range.offset_by(u32::try_from(at).ok()?);
        at = entry.range.end as usize;
        entries.push(entry);
    }
    entries.iter().any(TopEntry::has_keys).then_some(entries)
}

/// Whether a text is cut although so much of its refused entries is read altogether.
pub fn is_worth_it(reach: u64, length: usize) -> bool {
    reach <= PATIENCE * length as u64
}

/// Cuts entries out of a text, one at a time, reading as little of it as that takes.
pub struct Cutter<'t> {
    text: &'t Text,
    syntax: Syntax,
    /// The piece that was taken out last.
    window: TextRange,
    piece: Cow<'t, str>,
}

impl<'t> Cutter<'t> {
    /// Makes a cutter for a text; `window` is the part that is likely to be read.
    pub fn new(text: &'t Text, syntax: Syntax, window: TextRange) -> Cutter<'t> {
        let window = text.clamp_range(window);
        Cutter { text, syntax, window, piece: text.slice(window) }
    }

    /// Returns how many bytes the text has.
    pub fn byte_count(&self) -> u32 {
        self.text.len()
    }

    /// Returns the place where the first entry begins; `None` for a text without a form that can be
    /// cut.
    pub fn find_head(&mut self) -> Option<u32> {
        if self.syntax == Syntax::Json {
            return self.look_at(0, json_cut::find_head).map(|at| at as u32);
        }
        self.look_at(0, |text, is_all| {
            let whole_lines = if is_all { text } else { &text[..line_start(text, text.len())] };
            find_head(whole_lines).map(|at| at as u32).ok_or(Stop::Short)
        })
    }

    /// Returns the entry that begins at this byte: the first one, or one of those behind it. `None`
    /// for an entry that cannot be read by itself.
    pub fn cut_entry(&mut self, at: u32, is_first: bool) -> Option<TopEntry> {
        let entry = match self.syntax {
            Syntax::Yaml => self.look_at(at, |text, is_all| read_entry(text, is_first, is_all))?,
            Syntax::Json => {
                let column = self.column_at(at);
                self.look_at(at, |text, is_all| json_cut::read_entry(text, column, is_all))?
            }
        };
        Some(TopEntry { range: entry.range.offset_by(at), ..entry })
    }

    /// Whether the entry that begins at a byte is read as before although the text up to another
    /// byte is new.
    pub fn is_independent(&self, at: u32, edited: u32) -> bool {
        // The end of a refused member of an object depends on its column.
        let line = || self.text.line_range(self.text.line_of(at));
        self.syntax == Syntax::Yaml || line().is_some_and(|line| line.start > edited)
    }

    /// Returns how many blanks stand before a place in its line, if nothing else does.
    fn column_at(&self, at: u32) -> Option<usize> {
        let line = self.text.line_range(self.text.line_of(at))?;
        column_at(&self.text.slice(TextRange::new(line.start, at)), (at - line.start) as usize)
    }

    /// Whether no character and no line of an entry makes its text other than it seems.
    pub fn is_plain(&mut self, entry: &TopEntry) -> bool {
        if self.syntax == Syntax::Json {
            return true;
        }
        let piece = self.slice(entry.range);
        bad_char(piece, 0).is_none() && (entry.is_behind_document || !has_odd_lines(piece))
    }

    /// Returns the text of these bytes.
    pub fn slice(&mut self, range: TextRange) -> &str {
        let _ = self.look_at(range.start, |text, is_all| match text.get(..range.len() as usize) {
            None if !is_all => Err(Stop::Short),
            _ => Ok(()),
        });
        let start = range.start.saturating_sub(self.window.start) as usize;
        self.piece.get(start..start + range.len() as usize).unwrap_or_default()
    }

    fn look_at<T>(&mut self, at: u32, look: impl Fn(&str, bool) -> Result<T, Stop>) -> Option<T> {
        if !self.window.touches_offset(at) {
            self.take(TextRange::new(at, at + LITTLE));
        }
        loop {
            let is_all = self.window.end == self.text.len();
            match look(&self.piece[(at - self.window.start) as usize..], is_all) {
                Err(Stop::Short) if !is_all => {
                    self.take(TextRange::new(
                        at,
                        at.saturating_add(4 * (self.window.end - at).max(LITTLE)),
                    ));
                }
                result => return result.ok(),
            }
        }
    }

    fn take(&mut self, window: TextRange) {
        self.window = self.text.clamp_range(window);
        self.piece = self.text.slice(self.window);
    }
}

/// How many bytes are taken out of a text at least.
const LITTLE: u32 = 1 << 10;

/// Reads the entry that a text begins with; the text goes on behind the given piece unless that
/// `is_all`.
fn read_entry(text: &str, is_first: bool, is_all: bool) -> Result<TopEntry, Stop> {
    if text.len() <= MARKER && !is_all {
        return Err(Stop::Short);
    }
    if is_marker(text) {
        return if is_all { Ok(rest_entry(text)) } else { Err(Stop::Short) };
    }
    let first_line = next_start(text, 0);
    if first_line == text.len() && !is_all {
        return Err(Stop::Short);
    }
    let piece = &text[..first_line];
    if let Some(tree) = accept_document(piece)
        .filter(|tree| tree.root.is_none_or(|root| !tree.entries(root).is_empty()))
    {
        return accept_entry(piece, tree).ok_or(Stop::Other);
    }
    if is_first && text.starts_with(['&', '!']) {
        return Err(Stop::Other); // It may be the mapping's.
    }
    let run = DocumentParser::new(text, 0, text.len(), Builder::default());
    let mut run = if is_first { run } else { run.behind_entries(0) };
    let result = run.first_entry();
    // The scanner looks behind its position for marks of a document's end.
    let reach = run.scanner.position() + 4;
    if reach > text.len() && !is_all {
        return Err(Stop::Short);
    }
    let (end, refused) = match result {
        // The last entry ends with the text, with or without a line break.
        Ok(Some(next)) if next == text.len() => (next, None),
        Ok(Some(next)) => (line_start(text, next), None),
        Ok(None) => return Err(Stop::Other),
        Err(error) => {
            // The scanner fails at the beginning of the next entry before it reports the end of
            // this one.
            let place = error.context.as_ref().map_or(error.span, |(_, place)| *place);
            let next = line_start(text, place.start as usize);
            if let Some(entry) =
                Some(next).filter(|next| begins_entry(&text[*next..])).and_then(|_| {
                    accept_document(&text[..next])
                        .and_then(|tree| accept_entry(&text[..next], tree))
                })
            {
                return Ok(entry);
            }
            let (verdict, is_of_root) = ((*error).clone(), run.is_of_root(&error));
            match recover::recover_entry(text, run, *error) {
                Err(end) => (end, None),
                Ok(entry) => {
                    let end_of_line = next_start_of_line(text, entry.end);
                    if end_of_line == text.len() && !is_all {
                        return Err(Stop::Short);
                    }
                    let reach = u32::try_from(reach.max(end_of_line)).map_err(|_| Stop::Other)?;
                    (entry.end, Some((entry.tree, Refused { verdict, is_of_root, reach })))
                }
            }
        }
    };
    let piece = &text[..end];
    match refused {
        None => {
            accept_document(piece).and_then(|tree| accept_entry(piece, tree)).ok_or(Stop::Other)
        }
        Some((tree, refused)) if is_bound(&tree, piece) => {
            Ok(TopEntry { refused: Some(refused), ..TopEntry::new(piece, tree) })
        }
        Some(_) => Err(Stop::Other),
    }
}

/// Returns an entry of its own, if this piece of a text is one.
fn accept_entry(piece: &str, tree: Tree) -> Option<TopEntry> {
    let root = tree.root?;
    let is_plain = tree.second_document.is_none() && is_bound(&tree, piece);
    let is_one = matches!(tree.node(root).kind, NodeKind::Mapping { flow: false, .. })
        && tree.entries(root).len() == 1;
    (is_plain && is_one).then(|| TopEntry::new(piece, tree))
}

/// Makes the entry for the text behind the first document, from its marker on.
fn rest_entry(text: &str) -> TopEntry {
    let second_document =
        DocumentParser::new(text, 0, text.len(), Builder::default()).second_document();
    let tree = Tree { second_document, ..Tree::default() };
    TopEntry { is_behind_document: true, ..TopEntry::new(text, tree) }
}

/// Whether the entry is self-contained: its tree needs no other entry.
fn is_bound(tree: &Tree, piece: &str) -> bool {
    let Some(root) = tree.root else { return true };
    if tree.node(root).anchor.is_some() || tree.node(root).tag.is_some() {
        return false;
    }
    // A line may hold many keys: the search for the start of the line does not go through the line
    // for each key.
    let (mut line, mut seen) = (0, 0);
    tree.entries(root).iter().all(|(key, _): &(NodeId, NodeId)| {
        let at = tree.whole_span(*key).start as usize;
        let start = match piece.get(seen..at) {
            Some(since) => since.rfind(['\n', '\r']).map_or(line, |end| seen + end + 1),
            None => line_start(piece, at),
        };
        (line, seen) = (start, at);
        // A merge key takes its entries from elsewhere, and puts them among the other entries. An
        // alias may stand for a merge key.
        let is_plain_key = !matches!(tree.node(*key).kind, NodeKind::Alias { .. })
            && tree.scalar(*key) != Some("<<");
        !piece[start..].starts_with([' ', '\t', '\u{feff}']) && is_plain_key
    })
}

/// Returns the place where the first entry begins; `None` for a text that begins otherwise: with a
/// directive, a document that has properties, an indented key.
fn find_head(text: &str) -> Option<usize> {
    let (mut has_begun, mut has_directives) = (false, false);
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        if line.starts_with("%YAML") && !has_begun {
            has_directives = true;
            at += line.len();
            continue;
        }
        let marked = line
            .strip_prefix("---")
            .filter(|rest| !has_begun && rest.starts_with([' ', '\t', '\n', '\r']));
        let rest = marked.unwrap_or(line).trim_matches([' ', '\t', '\n', '\r']);
        if !rest.is_empty() && !rest.starts_with('#') {
            let is_plain = !has_odd_breaks(&text[..at]) && accept_document(&text[..at]).is_some();
            let is_content = !has_directives || has_begun;
            return (is_plain && is_content && begins_entry(line)).then_some(at);
        }
        has_begun |= marked.is_some();
        at += line.len();
    }
    None
}

/// Returns the place where the next line begins that may begin an entry, behind the line at `at`.
fn next_start(text: &str, at: usize) -> usize {
    let mut from = at;
    while let Some(end) = text[from..].find(['\n', '\r']) {
        from += end + 1;
        if begins_entry(&text[from..]) {
            return from;
        }
    }
    text.len()
}

/// Whether a line of an entry could be a directive, or is written so that its lines may be misread.
fn has_odd_lines(text: &str) -> bool {
    let bytes = text.as_bytes();
    let breaks = memchr::memchr2_iter(b'\n', b'\r', bytes);
    text.starts_with('%')
        || breaks.into_iter().any(|at| bytes.get(at + 1) == Some(&b'%'))
        || has_odd_breaks(text)
}

/// Whether there are breaks that only YAML 1.1 knows, or marks of byte order.
fn has_odd_breaks(text: &str) -> bool {
    let bytes = text.as_bytes();
    !bytes.is_ascii()
        && (bytes.windows(3).any(|window| {
            matches!(window, [0xc2, 0x85, _] | [0xe2, 0x80, 0xa8 | 0xa9] | [0xef, 0xbb, 0xbf])
        }) || bytes.ends_with("\u{85}".as_bytes()))
}

/// Returns the place where the line ends that begins at `at`, its break included.
fn next_start_of_line(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r']).map_or(text.len(), |end| at + end + 1)
}

/// Returns how many blanks stand before a place in its line, if nothing else does.
fn column_at(text: &str, at: usize) -> Option<usize> {
    let before = &text[line_start(text, at)..at];
    before.bytes().all(|byte| matches!(byte, b' ' | b'\t')).then_some(before.len())
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Option<Vec<&str>> {
        let cut = cut_text(text, Syntax::Yaml)?;
        Some(cut.iter().map(|entry| &text[entry.range.as_usize()]).collect())
    }

    #[test]
    fn what_stands_at_column_0_within_an_entry_is_its_own() {
        let text = "# head\n---\na: 1\n# of a\nb: {\n}\nc: 'x\ny'\nd:\n- 1\n- |\n z\n\n? e\n: 2\ng:\n|\n h\n\"f\": 3\ni: {\nk: 1}";
        let expected = [
            "a: 1\n# of a\n",
            "b: {\n}\n",
            "c: 'x\ny'\n",
            "d:\n- 1\n- |\n z\n\n",
            "? e\n: 2\n",
            "g:\n|\n h\n",
            "\"f\": 3\n",
            "i: {\nk: 1}",
        ];
        assert_eq!(pieces(text).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_cut() {
        for text in [
            "",
            "- a\n",
            "{a: 1}\n",
            " a: 1\n b: 2\n",
            "a: &x b\n*x : 1\n",
            "a: 1\n<<: {b: 2}\n",
            "a: 1\n%x\nb: 2\n",
            "%YAML 1.1\na: 1\n",
            "%YAML 1.1\n%YAML 1.1\n---\na: 1\n",
            "a: 1\u{2028}b: 2\n",
            "a: \u{1}\nb: 2\n",
            "--- !!map\na: 1\n",
            "%TAG !! tag:example.com,2000:\n---\na: !!binary aGk=\nb: !!str 5\n",
            "key\n# the rest is another document\na: 1\n",
        ] {
            assert!(pieces(text).is_none(), "{text:?}");
        }
        let shared = "a: {x: &x 1, y: *x}\nb: {<<: *x}\nc: [*x\nd: 1\n";
        assert_eq!(pieces(shared).unwrap().len(), 4, "anchors bind no entries together");
    }

    #[test]
    fn what_stands_behind_the_first_document_is_no_entry() {
        for (text, last) in [
            ("%YAML 1.1\n---\na: 1\n...\n", "...\n"),
            ("a: |\n x\n---\nb: [\n", "---\nb: [\n"),
            ("---\na: 1\n--- {b: 1}", "--- {b: 1}"),
            ("a: 1\n---", "---"),
            ("a: 'x\n... \nb: 1\n", "... \nb: 1\n"),
            ("a: 1\nb: [1\n---\nc: 1\n", "---\nc: 1\n"),
        ] {
            let cut = cut_text(text, Syntax::Yaml).unwrap_or_else(|| panic!("{text:?} is cut"));
            let (end, entries) = cut.split_last().unwrap();
            assert_eq!(&text[end.range.as_usize()], last);
            assert!(end.is_behind_document && entries.iter().all(|entry| entry.has_keys()));
            assert!(entries.iter().all(|entry| !entry.is_behind_document));
        }
        assert_eq!(pieces("a: 1\n---b: 2\n...c: 3\n").unwrap().len(), 3);
    }

    #[test]
    fn an_entry_that_is_refused_ends_where_a_key_is_seen() {
        let text = "a: 'x'\n  y: 1\nb: \"x\nc: [1,\n  2\nhalf\nd: {\n}\ne: 1\n- f\n";
        let expected =
            ["a: 'x'\n  y: 1\n", "b: \"x\n", "c: [1,\n  2\nhalf\n", "d: {\n}\n", "e: 1\n- f\n"];
        assert_eq!(pieces(text).unwrap(), expected);
        let cut = cut_text(text, Syntax::Yaml).unwrap();
        let refused: Vec<bool> = cut.iter().map(|entry| entry.refused.is_some()).collect();
        assert_eq!(refused, [true, true, true, false, true]);
        assert_eq!(
            cut[0].refused.as_ref().unwrap().verdict,
            crate::yaml::refusal_error(text).unwrap()
        );
    }

    #[test]
    fn an_entry_is_whole_whatever_the_next_one_begins_with() {
        for next in ["half\n", "@x\n", "\"open\n", "[a, @\n", "*x y\n", "k: 1\n", "k: @\n"] {
            let text = format!("h:\n  b: {{\nc: 1}}\n{next}z: 1\n");
            assert_eq!(pieces(&text).unwrap()[0], "h:\n  b: {\nc: 1}\n", "{next:?}");
        }
    }

    #[test]
    fn an_entry_out_of_a_long_text_is_that_of_the_whole() {
        let lines: String = (0..2_000).map(|n| format!("key_{n}: {{\n  a: 'x'\n}}\n")).collect();
        for (broken, reach) in
            [("k: \"open\n", 62_900), ("k: [open\n", 40), ("k: 'open\n", 40), ("half\n", 40)]
        {
            let text = lines.replacen("key_2:", &format!("{broken}key_2:"), 1);
            let cut = cut_text(&text, Syntax::Yaml).unwrap();
            assert!(
                cut.iter().any(|entry| entry
                    .refused
                    .as_ref()
                    .is_some_and(|refused| refused.reach < reach)),
                "{broken}"
            );
            let rope = Text::new(&text);
            for window in [TextRange::new_empty(0), TextRange::new(500, 60_000)] {
                let mut cutter = Cutter::new(&rope, Syntax::Yaml, window);
                assert_eq!(cutter.find_head(), Some(0));
                for (number, entry) in cut.iter().enumerate() {
                    let again = cutter.cut_entry(entry.range.start, number == 0).unwrap();
                    assert_eq!(format!("{again:?}"), format!("{entry:?}"));
                    assert_eq!(cutter.slice(entry.range), &text[entry.range.as_usize()]);
                }
            }
        }
    }
}
