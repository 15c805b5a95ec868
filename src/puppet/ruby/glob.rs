//! Ruby's `Dir.glob`, as `glob` and `globs` of hiera.yaml use it, over any listing of folders. Asks
//! nothing of the operating system.
//!
//! Follows `dir.c` of Ruby 3.1.3 and later (Puppet 8 has 3.2), where results are sorted;
//! `tests/puppet/globs` compares both on random trees.

use std::borrow::Cow;

use crate::text::FilePath;

mod pattern;
#[cfg(test)]
mod tests;

use pattern::{GlobPart, Matcher, compile_parts, expand_braces, matches_name};

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, a link to one, or a link to nothing, which Ruby's glob keeps too.
    File,
    /// A folder.
    Folder,
    /// A link to a folder: `*/` goes through it, `**/` does not.
    LinkedFolder,
}

/// Folders and their entries.
pub trait Listing {
    /// Returns the names directly in `folder`, sorted by bytes, without `.` and `..`; empty when it
    /// is no folder. Links are followed.
    fn list_folder(&self, folder: &FilePath) -> Cow<'_, [(String, EntryKind)]>;

    /// Returns the kind of the entry at `path`; `None` when there is no entry.
    fn entry_kind(&self, path: &FilePath) -> Option<EntryKind> {
        let entries = self.list_folder(&path.parent()?);
        let at = entries.binary_search_by(|(name, _)| name.as_str().cmp(path.name())).ok()?;
        Some(entries[at].1)
    }
}

/// Returns the files that an absolute pattern matches, in the order and as often as Ruby's
/// `Dir.glob` names them; folders are left out.
///
/// Sorted by bytes within each folder, an entry before its contents. Alternatives in braces follow
/// one another in written order and repeat a name that both match, below each folder where the
/// braces are reached (`*/{b,a}`: `d/b`, `d/a`, `e/b`, `e/a`). Right behind `**/`, though, braces
/// without a `/` in them are one more way to match a name: no order, no repetition.
///
/// Names at the start of the pattern that hold no special character are not looked up, so `listing`
/// need not know the folders above. `..` should have been folded by the caller; one that is left is
/// folded as text, without regard to links. Source: `glob_make_pattern`, `glob_helper` and
/// `ruby_brace_expand` in `dir.c` of Ruby 3.1.3 and later.
pub fn glob_files(pattern: &str, listing: &dyn Listing) -> Vec<FilePath> {
    walk(pattern, listing, |kind| kind == EntryKind::File)
}

/// Returns the folders that an absolute pattern matches, as [`glob_files`] finds files.
pub fn glob_folders(pattern: &str, listing: &dyn Listing) -> Vec<FilePath> {
    walk(pattern, listing, |kind| kind != EntryKind::File)
}

/// Returns the number of patterns that one may stand for, where this one is too large to be walked
/// as a whole; `None` for all others.
pub fn exceeded_limit(pattern: &str) -> Option<usize> {
    pattern::is_too_large(pattern).then_some(pattern::MAX_ALTERNATIVES)
}

fn walk(pattern: &str, listing: &dyn Listing, wanted: fn(EntryKind) -> bool) -> Vec<FilePath> {
    let Some(parts) = compile_parts(pattern.strip_prefix('/').unwrap_or(pattern)) else {
        return Vec::new();
    };
    let mut walk = Walk { listing, wanted, found: Vec::new() };
    walk.visit(&parts, &[0], &WalkState { path: FilePath::new("/"), kind: None, skip_dot: false });
    walk.found
}

/// Whether a pattern matches a file at `path`, were there one and nothing else. Both are absolute.
///
/// No folder on the way counts as a link.
pub fn matches_path(pattern: &str, path: &FilePath) -> bool {
    !glob_files(pattern, &OnlyFile(path)).is_empty()
}

/// A world with one file.
struct OnlyFile<'p>(&'p FilePath);

impl Listing for OnlyFile<'_> {
    fn list_folder(&self, folder: &FilePath) -> Cow<'_, [(String, EntryKind)]> {
        Cow::Owned(match self.0.relative_to(folder) {
            None | Some("") => Vec::new(),
            Some(rest) => match rest.split_once('/') {
                Some((name, _)) => vec![(name.into(), EntryKind::Folder)],
                None => vec![(rest.into(), EntryKind::File)],
            },
        })
    }
}

struct Walk<'w> {
    listing: &'w dyn Listing,
    /// The kinds of entries that are collected.
    wanted: fn(EntryKind) -> bool,
    found: Vec<FilePath>,
}

/// Where a walk has come to.
struct WalkState {
    path: FilePath,
    /// `None` where the kind was not looked up yet.
    kind: Option<EntryKind>,
    /// Whether `.` is no name to match any more; it is one in the first folder that is read.
    skip_dot: bool,
}

impl Walk<'_> {
    /// Collects the matches at a place and below. Each of `states` is the number of the part of the
    /// pattern that comes next.
    fn visit(&mut self, parts: &[GlobPart], states: &[usize], place: &WalkState) {
        let mut recursive = false;
        let mut listed = false;
        for &state in states {
            let is_recursive =
                matches!(parts.get(state), Some(GlobPart { matcher: Matcher::Recursive, .. }));
            recursive |= is_recursive;
            match parts.get(state + usize::from(is_recursive)) {
                // The expansion goes on with the first state, and loses all other states as Ruby
                // does.
                Some(GlobPart { matcher: Matcher::Braces(_), text })
                    if !recursive || text.contains('/') =>
                {
                    return self.expand(&parts[states[0]..], place);
                }
                Some(GlobPart { matcher: Matcher::Magical, .. }) => listed = true,
                _ => {}
            }
        }
        if states.contains(&parts.len())
            && place.kind.or_else(|| self.listing.entry_kind(&place.path)).is_some_and(self.wanted)
        {
            self.found.push(place.path.clone());
        }
        if place.kind == Some(EntryKind::File) {
            return;
        }
        if recursive || listed {
            self.list_places(parts, states, place, recursive)
        } else {
            self.join(parts, states, place)
        }
    }

    fn expand(&mut self, rest: &[GlobPart], place: &WalkState) {
        let texts: Vec<&str> = rest.iter().map(|part| part.text.as_str()).collect();
        for parts in expand_braces(&texts.join("/")).filter_map(|text| compile_parts(&text)) {
            self.visit(&parts, &[0], place);
        }
    }

    // Ruby does not read a folder only to find names that the pattern holds as plain text.
    fn join(&mut self, parts: &[GlobPart], states: &[usize], place: &WalkState) {
        let mut left: Vec<usize> =
            states.iter().copied().filter(|state| plain_name(*state, parts).is_some()).collect();
        while let Some(name) = left.first().and_then(|state| plain_name(*state, parts)) {
            let (same, others): (Vec<usize>, Vec<usize>) =
                left.iter().partition(|state| plain_name(**state, parts) == Some(name));
            let next: Vec<usize> = same.iter().map(|state| state + 1).collect();
            if name != ".." || self.is_folder(place) {
                // An escaped slash does not separate parts of the pattern, but leads on into a
                // folder.
                let last = name.rsplit('/').next();
                let kind = matches!(last, Some("" | "." | "..")).then_some(EntryKind::Folder);
                let path = place.path.join(&format!("./{name}"));
                self.visit(parts, &next, &WalkState { path, kind, skip_dot: place.skip_dot });
            }
            left = others;
        }
    }

    fn list_places(
        &mut self,
        parts: &[GlobPart],
        states: &[usize],
        place: &WalkState,
        recursive: bool,
    ) {
        let listing = self.listing;
        let entries = listing.list_folder(&place.path);
        let has_dot = !recursive && !place.skip_dot && !entries.is_empty();
        let (before, behind) =
            entries.split_at(entries.partition_point(|(name, _)| name.as_str() < "."));
        let dot = has_dot.then_some((".", EntryKind::Folder));
        for (name, kind) in before.iter().map(named).chain(dot).chain(behind.iter().map(named)) {
            let next = next_states(parts, states, name, kind);
            if !next.is_empty() {
                self.visit(
                    parts,
                    &next,
                    &WalkState {
                        path: place.path.join(&format!("./{name}")),
                        kind: Some(kind),
                        skip_dot: true,
                    },
                );
            }
        }
    }

    fn is_folder(&self, place: &WalkState) -> bool {
        matches!(
            place.kind.or_else(|| self.listing.entry_kind(&place.path)),
            Some(EntryKind::Folder | EntryKind::LinkedFolder)
        )
    }
}

fn plain_name(state: usize, parts: &[GlobPart]) -> Option<&str> {
    match parts.get(state).map(|part| &part.matcher) {
        Some(Matcher::Plain(name)) => Some(name.as_str()),
        _ => None,
    }
}

fn named((name, kind): &(String, EntryKind)) -> (&str, EntryKind) {
    (name, *kind)
}

/// Returns the states behind an entry of a folder.
fn next_states(parts: &[GlobPart], states: &[usize], name: &str, kind: EntryKind) -> Vec<usize> {
    let mut next = Vec::new();
    for &state in states {
        let mut state = state;
        if matches!(parts.get(state), Some(GlobPart { matcher: Matcher::Recursive, .. })) {
            if kind == EntryKind::Folder && !name.starts_with('.') {
                add_state(state, &mut next);
            }
            state += 1;
        }
        let Some(part) = parts.get(state) else { continue };
        let fits = match &part.matcher {
            Matcher::Plain(plain) => plain == name,
            Matcher::Magical => matches_name(&part.text, name),
            Matcher::Braces(alternatives) => {
                alternatives.iter().any(|alternative| matches_name(alternative, name))
            }
            Matcher::Recursive => false,
        };
        if fits {
            add_state(state + 1, &mut next);
        }
    }
    next
}

fn add_state(state: usize, next: &mut Vec<usize>) {
    if !next.contains(&state) {
        next.push(state);
    }
}
