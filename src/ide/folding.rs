//! The ranges of lines that an editor can fold: entries and elements of several lines, block
//! scalars (encrypted ones among them), blocks of comments.

use std::collections::BTreeMap;

use crate::text::{FilePath, Text, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::file::TextPart;
use crate::yaml::{NodeId, NodeKind};

/// Lines that can be folded into the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The first line, from 0. It stays visible.
    pub first: u32,
    /// The last line, from 0; greater than `first`.
    pub last: u32,
    /// Whether these are comments.
    pub is_comment: bool,
}

/// Returns the folds of the file at `path` in the order of their first lines, at most one for a
/// line. Of more than `most` folds the longest ones are returned. `None` for a file that no
/// environment governs.
pub fn file_folds(snapshot: &Snapshot, path: &FilePath, most: Option<usize>) -> Option<Vec<Fold>> {
    let file = snapshot.file(path)?;
    let text = file.text()?;
    snapshot.environments().governing_environments(path).next()?;
    let mut folding = FoldCollector::default();
    let mut before_first = None;
    for part in file.text_parts(snapshot.cancel_token()) {
        before_first.get_or_insert(part.start);
        folding.fold_part(&part, text);
    }
    folding.fold_head(text, before_first.unwrap_or(0));
    let mut folds: Vec<Fold> = folding.by_line.into_values().collect();
    if let Some(most) = most.filter(|most| *most < folds.len()) {
        folds.sort_by_key(|fold| std::cmp::Reverse(fold.last - fold.first));
        folds.truncate(most);
        folds.sort_by_key(|fold| fold.first);
    }
    Some(folds)
}

/// The folds that were found, by their first lines.
#[derive(Default)]
struct FoldCollector {
    by_line: BTreeMap<u32, Fold>,
}

/// The lines of one part of a text.
struct Lines {
    /// The line of the text on which the part begins.
    first: u32,
    /// The ends of its lines, in bytes from the start of the part.
    ends: Vec<u32>,
}

impl Lines {
    fn new(part: &str, first: u32) -> Lines {
        let ends = part.bytes().zip(0..).filter(|(byte, _)| *byte == b'\n');
        Lines { first, ends: ends.map(|(_, at)| at).collect() }
    }

    fn line_of(&self, offset: u32) -> u32 {
        self.first + self.ends.partition_point(|end| *end < offset) as u32
    }
}

impl FoldCollector {
    fn add(&mut self, first: u32, last: u32, is_comment: bool) {
        if first < last {
            let fold = self.by_line.entry(first).or_insert(Fold { first, last, is_comment });
            fold.last = fold.last.max(last);
        }
    }

    fn fold_part(&mut self, part: &TextPart<'_>, text: &Text) {
        let lines = Lines::new(&part.text, text.line_of(part.start));
        let mut open: Vec<NodeId> = part.tree.root.into_iter().collect();
        while let Some(node) = open.pop() {
            if part.tree.copies.binary_search(&node).is_ok() {
                continue;
            }
            match &part.tree.node(node).kind {
                NodeKind::Mapping { entries, .. } => {
                    for (key, value) in entries {
                        self.fold_value(part, &lines, part.tree.whole_span(*key).start, *value);
                        open.push(*value);
                    }
                }
                NodeKind::Sequence { items, .. } => {
                    for item in items {
                        self.fold_value(part, &lines, part.tree.whole_span(*item).start, *item);
                        open.push(*item);
                    }
                }
                NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
            }
        }
        self.fold_comments(part, &lines);
    }

    /// Adds the fold of a value from the line at `start` on. The closing bracket of a flow
    /// collection stays visible where it begins its line.
    fn fold_value(&mut self, part: &TextPart<'_>, lines: &Lines, start: u32, value: NodeId) {
        let node = part.tree.node(value);
        // Nodes of HOCON may stand before their keys.
        let end = node.span.end.max(start);
        let text = &part.text[..end as usize];
        let last_line = text.rsplit('\n').next().unwrap_or_default();
        let is_bracket = matches!(
            node.kind,
            NodeKind::Mapping { flow: true, .. } | NodeKind::Sequence { flow: true, .. }
        ) && matches!(last_line.trim(), "]" | "}");
        let last = lines.line_of(end).saturating_sub(u32::from(is_bracket));
        self.add(lines.line_of(start), last, false);
    }

    /// Adds the blocks of comments that stand alone on their lines.
    fn fold_comments(&mut self, part: &TextPart<'_>, lines: &Lines) {
        let is_alone = |comment: &&TextRange| {
            let before = &part.text[..comment.start as usize];
            before.rsplit('\n').next().unwrap_or_default().trim().is_empty()
        };
        let alone = part.tree.comments.iter().filter(is_alone);
        self.fold_blocks(alone.map(|comment| lines.line_of(comment.start)));
    }

    /// Adds the comments above the first entry, which are in no part.
    fn fold_head(&mut self, text: &Text, end: u32) {
        let head = text.slice(TextRange::new(0, end));
        let lines = head.lines().zip(0..);
        let comments = lines.filter(|(line, _)| line.trim_start().starts_with('#'));
        self.fold_blocks(comments.map(|(_, line)| line));
    }

    /// Adds a fold for each run of comments on lines one below the other.
    fn fold_blocks(&mut self, lines: impl Iterator<Item = u32>) {
        let mut block: Option<(u32, u32)> = None;
        for line in lines {
            block = match block {
                Some((first, last)) if line == last + 1 => Some((first, line)),
                _ => {
                    if let Some((first, last)) = block {
                        self.add(first, last, true);
                    }
                    Some((line, line))
                }
            };
        }
        if let Some((first, last)) = block {
            self.add(first, last, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::Fixture;

    const DATA: &str = "
# two lines
# above the first entry
lookup_options:
  profile::users:
    merge: deep

# one line
profile::users:
  - name: ada
    groups: [
      admin,
    ]
  # a comment
  # of a list
  - bob   # alone
secret: >
  ENC[PKCS7,MIIB
  MIIC]
plain: 1
text: |
  # no comment
  # in a block scalar
";

    fn check(most: Option<usize>, expected: Expect) {
        let fixture = Fixture::new(DATA);
        let path = FilePath::new("/data/common.yaml");
        let text = fixture.snapshot.file(&path).and_then(|file| file.text()).expect("a text");
        let line = |number| text.line_text(number).unwrap_or_default().into_owned();
        let mut shown = String::new();
        for fold in file_folds(&fixture.snapshot, &path, most).expect("it is governed") {
            let kind = if fold.is_comment { "comment" } else { "-" };
            shown.push_str(&format!("{kind} |{}| to |{}|\n", line(fold.first), line(fold.last)));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn entries_elements_scalars_and_comments_fold() {
        check(
            None,
            expect![[r#"
                comment |# two lines| to |# above the first entry|
                - |lookup_options:| to |    merge: deep|
                - |  profile::users:| to |    merge: deep|
                - |profile::users:| to |  - bob   # alone|
                - |  - name: ada| to |    ]|
                - |    groups: [| to |      admin,|
                comment |  # a comment| to |  # of a list|
                - |secret: >| to |  MIIC]|
                - |text: || to |  # in a block scalar|
            "#]],
        );
    }

    #[test]
    fn the_longest_are_kept_where_a_client_wants_few() {
        check(
            Some(2),
            expect![[r#"
                - |profile::users:| to |  - bob   # alone|
                - |  - name: ada| to |    ]|
            "#]],
        );
    }

    #[test]
    fn a_broken_entry_takes_no_folds_from_others() {
        let fixture = Fixture::new("first:\n  a: 1\nsecond: 'open\nthird:\n  b: 2\n");
        let path = FilePath::new("/data/common.yaml");
        let folds = file_folds(&fixture.snapshot, &path, None).expect("it is governed");
        let lines: Vec<_> = folds.iter().map(|fold| (fold.first, fold.last)).collect();
        assert!(lines.contains(&(0, 1)) && lines.contains(&(3, 4)), "{lines:?}");
    }
}
