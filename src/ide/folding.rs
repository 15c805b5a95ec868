//! The ranges of lines that an editor can fold: entries and elements of several lines, block
//! scalars (encrypted ones among them), blocks of comments.

use std::collections::BTreeMap;

use crate::text::{FilePath, Lines, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::files::file::TextPart;
use crate::yaml::{NodeId, NodeKind};

/// Lines that can be folded into the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The first line, from 0. It stays visible.
    pub first: u32,
    /// The last line, from 0; greater than `first`.
    pub last: u32,
    /// Whether the lines are comments.
    pub is_comment: bool,
}

/// Returns the folds of the file at `path` in the order of their first lines, at most one for a
/// line. Of more than `most` folds the longest ones are returned. `None` for a file that no
/// environment governs.
pub fn file_folds(snapshot: &Snapshot, path: &FilePath, most: Option<usize>) -> Option<Vec<Fold>> {
    let file = snapshot.file(path)?;
    let text = file.text()?;
    snapshot.environments().governing_environments(path).next()?;
    let mut folding = FoldCollector { lines: text.lines(), by_line: BTreeMap::new() };
    let mut before_first = None;
    for part in file.text_parts(snapshot.cancel_token()) {
        before_first.get_or_insert(part.range().start);
        folding.fold_part(&part);
    }
    folding.fold_head(before_first.unwrap_or(0));
    let mut folds: Vec<Fold> = folding.by_line.into_values().collect();
    if let Some(most) = most.filter(|most| *most < folds.len()) {
        folds.sort_by_key(|fold| std::cmp::Reverse(fold.last - fold.first));
        folds.truncate(most);
        folds.sort_by_key(|fold| fold.first);
    }
    Some(folds)
}

/// The folds of a text, by their first lines.
struct FoldCollector<'t> {
    lines: Lines<'t>,
    by_line: BTreeMap<u32, Fold>,
}

impl FoldCollector<'_> {
    fn add(&mut self, first: u32, last: u32, is_comment: bool) {
        if first < last {
            let fold = self.by_line.entry(first).or_insert(Fold { first, last, is_comment });
            fold.last = fold.last.max(last);
        }
    }

    fn fold_part(&mut self, part: &TextPart<'_>) {
        let mut open: Vec<NodeId> = part.tree.root.into_iter().collect();
        while let Some(node) = open.pop() {
            if part.tree.copies.binary_search(&node).is_ok() {
                continue;
            }
            match &part.tree.node(node).kind {
                NodeKind::Mapping { entries, .. } => {
                    for (key, value) in entries {
                        self.fold_value(part, part.tree.whole_span(*key).start, *value);
                        open.push(*value);
                    }
                }
                NodeKind::Sequence { items, .. } => {
                    for item in items {
                        self.fold_value(part, part.tree.whole_span(*item).start, *item);
                        open.push(*item);
                    }
                }
                NodeKind::Scalar { .. } | NodeKind::Alias { .. } => {}
            }
        }
        self.fold_comments(part);
    }

    /// Adds the fold of a value from the line at `start` on. The closing bracket of a flow
    /// collection stays visible where it begins its line.
    fn fold_value(&mut self, part: &TextPart<'_>, start: u32, value: NodeId) {
        let node = part.tree.node(value);
        // Nodes of HOCON may stand before their keys.
        let value = part.file_range(TextRange::new(start, node.span.end.max(start)));
        let end = value.end;
        let is_bracket = matches!(
            node.kind,
            NodeKind::Mapping { flow: true, .. } | NodeKind::Sequence { flow: true, .. }
        ) && matches!(self.lines.line_before(end).trim(), "]" | "}");
        let last = self.lines.line_of(end).saturating_sub(u32::from(is_bracket));
        self.add(self.lines.line_of(value.start), last, false);
    }

    /// Adds the blocks of comments that stand alone on their lines.
    fn fold_comments(&mut self, part: &TextPart<'_>) {
        let starts = part.tree.comments.iter().map(|comment| part.file_range(*comment).start);
        let alone = starts.filter(|start| self.lines.line_before(*start).trim().is_empty());
        let lines: Vec<u32> = alone.map(|start| self.lines.line_of(start)).collect();
        self.fold_blocks(lines);
    }

    /// Adds the comments above the first entry, which are in no part.
    fn fold_head(&mut self, end: u32) {
        let starts = self.lines.starts().iter().skip(1);
        let ends = starts.copied().take_while(|start| *start <= end);
        let lines: Vec<u32> = ends
            .filter(|end| self.lines.line_before(end - 1).trim_start().starts_with('#'))
            .map(|end| self.lines.line_of(end) - 1)
            .collect();
        self.fold_blocks(lines);
    }

    /// Adds a fold for each run of comments on lines one below the other.
    fn fold_blocks(&mut self, lines: Vec<u32>) {
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
    fn a_carriage_return_alone_ends_a_line() {
        let fixture = Fixture::new("# a\r# b\ra: [\r 1,\r]\rb: |\r  c\r  d\r");
        let path = FilePath::new("/data/common.yaml");
        let folds = file_folds(&fixture.snapshot, &path, None).expect("it is governed");
        let lines: Vec<_> = folds.iter().map(|fold| (fold.first, fold.last)).collect();
        assert_eq!(lines, [(0, 1), (2, 3), (5, 7)]);
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
