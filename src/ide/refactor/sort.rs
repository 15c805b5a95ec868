//! Sorts the keys of a file by name: each with its comments, and anchors before their aliases.
//! Entries that need not move stay where they are, and so do those that are Sensitive.

use super::{Document, Draft, RefactorContext, RefactoringKind, secrets};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{SourceChange, TextEdit, TextRange};
use crate::yaml::NodeKind;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Drafts the sorting of a file that is not sorted.
pub(super) fn draft_sorting(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    let document = &context.document;
    if !context.wanted.is_by_user || document.find_entry("sops").is_some() {
        return;
    }
    let Some(order) = document.sorted_order() else { return };
    if order.iter().enumerate().all(|(place, number)| place == *number) {
        return;
    }
    let title = format!("Sort the {} keys of this file", order.len());
    let is_pinned: Vec<bool> =
        document.entries.iter().map(|entry| context.is_sensitive(&entry.name)).collect();
    let is_kept = kept_entries(&order, &is_pinned);
    if is_pinned.iter().zip(&is_kept).any(|(is_pinned, is_kept)| *is_pinned && !is_kept) {
        return drafts.push(Draft::new_refused(RefactoringKind::Sort, title, secrets::REASON));
    }
    let mut change = SourceChange::default();
    for edit in document.order_edits(&order, &is_kept) {
        change.push(context.wanted.path, edit);
    }
    drafts.push(Draft::new(RefactoringKind::Sort, title, change, []));
}

impl Document {
    /// Returns the numbers of the entries in the order of their names, `lookup_options` first where
    /// they are now, and an alias below its anchor. `None` where an anchor is defined twice.
    fn sorted_order(&self) -> Option<Vec<usize>> {
        let mut anchors: HashMap<&str, usize> = HashMap::new();
        let mut waiting = vec![0; self.entries.len()];
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); self.entries.len()];
        for (number, entry) in self.entries.iter().enumerate() {
            for node in self.nodes_in(entry.value).map(|node| self.tree.node(node)) {
                if let Some(anchor) = &node.anchor
                    && anchors.insert(&anchor.name, number).is_some()
                {
                    return None;
                }
                if let NodeKind::Alias { name, .. } = &node.kind {
                    let above = *anchors.get(&**name)?;
                    if above != number {
                        followers[above].push(number);
                        waiting[number] += 1;
                    }
                }
            }
        }
        let free = (0..self.entries.len()).filter(|number| waiting[*number] == 0);
        let mut free: BinaryHeap<_> = free.map(|number| self.entry_rank(number)).collect();
        let mut order = Vec::new();
        while let Some(Reverse((.., number))) = free.pop() {
            order.push(number);
            for follower in &followers[number] {
                waiting[*follower] -= 1;
                if waiting[*follower] == 0 {
                    free.push(self.entry_rank(*follower));
                }
            }
        }
        Some(order)
    }

    fn entry_rank(&self, number: usize) -> Reverse<(bool, &str, usize)> {
        let name = &*self.entries[number].name;
        let is_options = number == 0 && name == LOOKUP_OPTIONS;
        Reverse((!is_options, name, number))
    }

    /// Returns the edits that bring the entries into an order, while those that are kept stay.
    fn order_edits(&self, order: &[usize], is_kept: &[bool]) -> Vec<TextEdit> {
        let gap = self.entry_bytes(1).0 - self.entries[0].end;
        let gap = &self.text[self.entries[0].end as usize..(self.entries[0].end + gap) as usize];
        let mut edits = Vec::new();
        let mut above: Option<usize> = None;
        for number in order {
            if is_kept[*number] {
                above = Some(*number);
                continue;
            }
            let (start, end) = self.entry_bytes(*number);
            let mut body = self.text[start as usize..end as usize].to_owned();
            if !body.ends_with('\n') {
                body.push('\n');
            }
            let edit = match above {
                None => TextEdit::new(
                    TextRange::new_empty(self.entry_bytes(0).0),
                    format!("{body}{gap}"),
                ),
                Some(above) => {
                    let end = self.entries[above].end;
                    let is_open = !self.text[..end as usize].ends_with('\n');
                    let line_break = if is_open { "\n" } else { "" };
                    TextEdit::new(TextRange::new_empty(end), format!("{line_break}{gap}{body}"))
                }
            };
            edits.push(edit);
        }
        // Insertions stand before the removal that begins at the same place. Entries are removed
        // with the blank lines above them, entries at the start of the file with the blank lines
        // below them.
        let mut is_start = true;
        for (number, is_kept) in is_kept.iter().enumerate() {
            is_start &= !is_kept;
            let range = match number.checked_sub(1) {
                _ if *is_kept => continue,
                Some(above) if !is_start => (self.entries[above].end, self.entries[number].end),
                _ => (self.entry_bytes(number).0, self.entry_bytes(number + 1).0),
            };
            edits.push(TextEdit::new(TextRange::new(range.0, range.1), ""));
        }
        edits
    }

    /// Returns the start and the end of an entry with all comments above it, without blank lines at
    /// its start.
    fn entry_bytes(&self, number: usize) -> (u32, u32) {
        let entry = &self.entries[number];
        let Some(above) = number.checked_sub(1) else { return (entry.lead, entry.end) };
        let from = self.entries[above].end;
        let between = &self.text[from as usize..entry.start as usize];
        let blank = between.len() - between.trim_start_matches(['\n', '\r']).len();
        (from + blank as u32, entry.end)
    }
}

/// Returns which entries can stay: the heaviest ones that are in order already, where one that is
/// pinned outweighs all that are not.
fn kept_entries(order: &[usize], is_pinned: &[bool]) -> Vec<bool> {
    let count = order.len();
    let mut rank = vec![0; count];
    order.iter().enumerate().for_each(|(place, number)| rank[*number] = place);
    // `best` holds the best weight of a sequence that ends at a rank or before, with the last entry
    // of the sequence.
    let mut best: Vec<(usize, Option<usize>)> = vec![(0, None); count + 1];
    let mut before: Vec<Option<usize>> = vec![None; count];
    for number in 0..count {
        let (mut weight, mut last) = (0, None);
        let mut at = rank[number];
        while at > 0 {
            if best[at].0 > weight {
                (weight, last) = best[at];
            }
            at &= at - 1;
        }
        before[number] = last;
        weight += if is_pinned[number] { count + 1 } else { 1 };
        let mut at = rank[number] + 1;
        while at <= count {
            if best[at].0 < weight {
                best[at] = (weight, Some(number));
            }
            at += at & at.wrapping_neg();
        }
    }
    let mut kept = vec![false; count];
    let (mut weight, mut last) = (0, None);
    let mut at = count;
    while at > 0 {
        if best[at].0 > weight {
            (weight, last) = best[at];
        }
        at &= at - 1;
    }
    while let Some(number) = last {
        kept[number] = true;
        last = before[number];
    }
    kept
}
