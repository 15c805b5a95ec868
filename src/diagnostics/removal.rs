//! Entries that can be removed: no value of any node may change without one. `redundant-override`,
//! `merge-adds-nothing` and `shadowed-definition` report these entries, and share one proof an entry.
//!
//! Proofs from cheap to costly: the order of levels, for an entry that each reader finds before; one
//! lookup for the least reader of the file, which mostly needs the entry; lookups for all nodes in a
//! copy of the snapshot without entries that do not decide each other's values. The entries of a file
//! share the lookups in the snapshot as it is.

use std::cell::{LazyCell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::anchors::carries_anchor;
use super::fix::FixDrafter;
use super::rule::{EntryContext, EntryEffect, FileContext, Fix, RemovableEntry};
use crate::fleet::audience::{FileAudience, ValueLimits};
use crate::fleet::compare::{Comparer, Effort};
use crate::fleet::groups::Group;
use crate::fleet::proof::keeps_files_whole;
use crate::fleet::ways::ReadWay;
use crate::hiera::config::Locations;
use crate::hiera::data::{EntryData, Part};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::hiera::pattern::{Bindings, Pattern, PatternMatch, PatternPiece};
use crate::hiera::resolution::{Outcome, Resolution};
use crate::puppet::value::Member;
use crate::text::{FilePath, SourceChange, Span};
use crate::workspace::Snapshot;
use crate::workspace::environments::{Environment, Reach};

/// The proofs about the entries of one file.
pub(super) struct RemovalProofs<'a> {
    file: FileContext<'a>,
    tools: OnceCell<(RefCell<FixDrafter<'a>>, Comparer<'a>)>,
    /// The number of the first location that leads to the file, and how its pattern names the file.
    first_location: OnceCell<Option<(usize, Option<PatternMatch>)>>,
    upper: OnceCell<UpperLocations<'a>>,
    /// The proved entries by the place of the key; `None` for one that has to stay.
    known: RefCell<HashMap<Span, Option<Rc<RemovableEntry>>>>,
    /// The parts whose entries will be asked for: they share a proof.
    expected: RefCell<Vec<Arc<EntryData>>>,
}

impl<'a> RemovalProofs<'a> {
    /// Creates the proofs of a file, of which none is made yet.
    pub(super) fn new(file: FileContext<'a>) -> RemovalProofs<'a> {
        RemovalProofs {
            file,
            tools: OnceCell::new(),
            first_location: OnceCell::new(),
            upper: OnceCell::new(),
            known: RefCell::default(),
            expected: RefCell::default(),
        }
    }

    /// Notes the parts of the file whose entries will be asked for, before the first one is.
    pub(super) fn expect_parts<'p>(&self, parts: impl Iterator<Item = &'p Part>) {
        self.expected.borrow_mut().extend(parts.map(|part| part.data.clone()));
    }

    /// Returns the entry of a root key of the file if it can be removed: proved for all known nodes,
    /// or kinds of nodes, and for unknown ones.
    pub(super) fn removable_entry(
        &self,
        context: &EntryContext<'_>,
        key: &Arc<str>,
        member: &Member,
    ) -> Option<Rc<RemovableEntry>> {
        let span = member.key_origin?;
        let expected = self.expected.take();
        if expected.len() > 1 {
            self.prove_together(context, &expected);
        }
        if let Some(known) = self.known.borrow().get(&span) {
            return known.clone();
        }
        let candidate = self.candidate(context, key, member);
        let found = candidate.and_then(|candidate| {
            let change = self.draft_removal(&candidate)?;
            if candidate.never_counts {
                return candidate.shadowed_entry();
            }
            let after = self.file.snapshot.after_change(&change)?;
            let is_kept = self.tools().1.keeps_values(&after, &change);
            is_kept.then(|| self.removable_without(&candidate, &self.without(&after)))
        });
        self.known.borrow_mut().insert(span, found.clone());
        found
    }

    /// Proves the entries of several parts. Those whose keys have nothing to do with each other share
    /// a copy of the snapshot without them.
    fn prove_together(&self, context: &EntryContext<'_>, parts: &[Arc<EntryData>]) {
        let members = parts.iter().flat_map(|part| context.data.effective_members(part));
        let mut open: BTreeMap<Arc<str>, (RemovalCandidate, SourceChange)> = BTreeMap::new();
        for (key, member) in members {
            let (Some(key), Some(span)) = (key.as_arc(), member.key_origin) else { continue };
            let candidate = self.candidate(context, key, member);
            let draft = candidate.as_ref().and_then(|candidate| self.draft_removal(candidate));
            match candidate.zip(draft) {
                Some((candidate, draft)) if !candidate.never_counts => {
                    open.insert(key.clone(), (candidate, draft));
                }
                drafted => {
                    let entry = drafted.and_then(|(candidate, _)| candidate.shadowed_entry());
                    self.known.borrow_mut().insert(span, entry);
                }
            }
        }
        while open.len() > 1 {
            let comparer = &self.tools().1;
            let independent = comparer.independent_keys(&open.keys().cloned().collect());
            let mut change = SourceChange::default();
            let mut removed = BTreeMap::new();
            for key in independent {
                if let Some((candidate, draft)) = open.remove(&key)
                    && change.join(&draft)
                {
                    removed.insert(key, candidate);
                }
            }
            if removed.len() < 2 {
                return;
            }
            self.prove_change(&change, &removed);
        }
    }

    /// Proves entries with independent keys, which a change removes.
    fn prove_change(&self, change: &SourceChange, removed: &BTreeMap<Arc<str>, RemovalCandidate>) {
        let snapshot = self.file.snapshot;
        let Some(after) = snapshot.after_change(change) else { return };
        // A file that has lost all its entries is read in another way than the file of each proof,
        // which has lost a single entry.
        if !keeps_files_whole(snapshot, &after, change, None) {
            return;
        }
        let without = self.without(&after);
        let keys = removed.keys().cloned().collect();
        for (key, is_kept) in self.tools().1.kept_keys(&after, change, &keys) {
            let candidate = &removed[&key];
            let entry = is_kept.then(|| self.removable_without(candidate, &without));
            self.known.borrow_mut().insert(candidate.span, entry);
        }
    }

    /// Returns an entry if it may be removable: another file of the environment has the same value,
    /// or is read before by all readers, or values may be merged, and the least reader of the file
    /// does not need the entry.
    fn candidate(
        &self,
        context: &EntryContext<'_>,
        key: &Arc<str>,
        member: &Member,
    ) -> Option<RemovalCandidate> {
        let span = member.key_origin?;
        let FileContext { snapshot, environment, view, file, .. } = self.file;
        // Reports would reveal that secrets are equal.
        if &**key == LOOKUP_OPTIONS
            || carries_anchor(snapshot, member)
            || snapshot.may_be_sensitive(key)
        {
            return None;
        }
        let definitions = snapshot.keys().definitions(key);
        let is_other = |path: &FilePath| *path != file.path && environment.reaches_file(path);
        let has_same = |path: &FilePath| {
            let data = view.data_of(path);
            data.is_some_and(|data| data.get(key).is_some_and(|other| other.value == member.value))
        };
        let strategy = (context.strategy)(key)?;
        let may_merge = !strategy.stops_at_first()
            || ReadWay::ways_of_key(snapshot, environment, key).iter().any(|way| !way.is_plain());
        let shadow = LazyCell::new(|| self.shadow(key));
        let may_go = if may_merge {
            definitions.iter().any(is_other)
        } else {
            // The data of files that no reader reads below this file is not compared.
            definitions
                .iter()
                .any(|path| self.may_replace(path) && has_same(path) && is_other(path))
                || shadow.is_some()
        };
        if !may_go {
            return None;
        }
        let never_counts = !may_merge
            && shadow.is_some()
            && snapshot.keys().ends_at_first(key, None)
            && self.is_governed_once();
        if !never_counts && self.tools().1.is_needed(environment, key, &file.path) {
            return None;
        }
        Some(RemovalCandidate { key: key.clone(), span, shadow: *shadow, never_counts })
    }

    /// Whether some node may read both the checked file and the other one, the other one not above
    /// the checked one: without an entry, a lookup that ends at the first value goes on below the
    /// entry. A glob names several files for a node.
    fn may_replace(&self, other: &FilePath) -> bool {
        let environment = self.file.environment;
        let Some((first, own)) = self.first_location.get_or_init(|| {
            let own = &self.file.file.path;
            let first = environment.locations_leading_to(own).first().copied()?;
            Some((first, environment.reach[first].pattern.bind(own.as_str())))
        }) else {
            return true;
        };
        let pattern = &environment.reach[*first].pattern;
        let below = environment.reach.iter().skip(first + 1);
        pattern.bind(other.as_str()).is_some_and(|it| Some(it) == *own)
            || below.into_iter().any(|reach| reach.pattern.can_lead_to(other.as_str()))
    }

    /// Returns the place of the key in a file that each node that reads the checked file, known or
    /// unknown, reads before: of several such files in the one of the highest level.
    fn shadow(&self, key: &str) -> Option<Span> {
        let FileContext { snapshot, environment, view, file, .. } = self.file;
        let upper = self.upper.get_or_init(|| UpperLocations::of_file(environment, &file.path));
        if !upper.may_be_read() {
            return None;
        }
        let definitions = snapshot.keys().definitions(key).iter();
        let upper = definitions.filter(|path| **path != file.path && upper.lead_to(path));
        let data = view.data_of(
            upper.min_by_key(|path| environment.locations_leading_to(path).first().copied())?,
        )?;
        data.get(key)?.key_origin
    }

    /// Whether one environment alone governs the file.
    fn is_governed_once(&self) -> bool {
        let environments = self.file.snapshot.environments();
        environments.governing_environments(&self.file.file.path).count() == 1
    }

    /// Returns a copy of the snapshot without entries of the file.
    fn without<'s>(&'s self, after: &'s Snapshot) -> SnapshotWithout<'s> {
        let path = &self.file.file.path;
        let environment = after.environments().governing_environments(path).next();
        let audience = environment.map(|environment| FileAudience::new(after, environment, path));
        SnapshotWithout { audience }
    }

    /// Returns the change that removes an entry; `None` where the text leaves no certain place for it.
    fn draft_removal(&self, entry: &RemovalCandidate) -> Option<SourceChange> {
        let fix = Fix::delete_entry(&entry.key, entry.span);
        self.tools().0.borrow_mut().draft_fix(entry.span.file, &fix)
    }

    fn tools(&self) -> &(RefCell<FixDrafter<'a>>, Comparer<'a>) {
        let snapshot = self.file.snapshot;
        self.tools.get_or_init(|| {
            let comparer = Comparer::new(snapshot, Effort::default());
            (RefCell::new(FixDrafter::new(snapshot)), comparer)
        })
    }

    /// Returns an entry without which no value changes, with the places of the value that the
    /// readers of the file get without it.
    fn removable_without(
        &self,
        candidate: &RemovalCandidate,
        after: &SnapshotWithout<'_>,
    ) -> Rc<RemovableEntry> {
        let RemovalCandidate { key, span, shadow, .. } = candidate;
        let (is_merged, places) = after.sources_of_values(key);
        let (effect, places) = match (is_merged, shadow) {
            (true, _) => (EntryEffect::MergesNothing, places),
            (false, Some(shadow)) => (EntryEffect::NeverWins, vec![*shadow]),
            (false, None) => (EntryEffect::RepeatsValue, places),
        };
        Rc::new(RemovableEntry { key: key.clone(), span: *span, effect, places })
    }
}

/// An entry that may be removable.
struct RemovalCandidate {
    key: Arc<str>,
    /// The place of the key.
    span: Span,
    /// The place of the key in a file that each node that reads the file, known or unknown, reads
    /// before.
    shadow: Option<Span>,
    /// Whether the order of levels alone proves that no node gets the value: all lookups of the key
    /// end at the first value.
    never_counts: bool,
}

impl RemovalCandidate {
    /// Returns the entry as one that no node gets the value of.
    fn shadowed_entry(&self) -> Option<Rc<RemovableEntry>> {
        let effect = EntryEffect::NeverWins;
        let places = vec![self.shadow?];
        Some(Rc::new(RemovableEntry { key: self.key.clone(), span: self.span, effect, places }))
    }
}

/// The locations of a file, with those that each of its readers reads, too.
struct UpperLocations<'a> {
    file: &'a FilePath,
    /// Empty where a location names the file in several ways, where a function reads the file, and
    /// where an upper location leads to the file by a detour.
    all: Vec<OwnLocation>,
}

/// A location of a file.
///
/// Its patterns have the values that name the file in place of their variables.
struct OwnLocation {
    /// The patterns of the certain locations of the same layer above the location. The data of a
    /// module has defaults for any environment.
    above: Vec<Pattern>,
    /// The location's own pattern if it is a glob: its files are read in the order of their names.
    glob: Option<Pattern>,
}

/// Whether a node with these values of variables certainly reads the files that the pattern of a
/// location names for the values. The elements of mapped paths are each node's own, and a function
/// may pass over keys.
fn is_certain_location(reach: &Reach, bindings: &Bindings) -> bool {
    matches!(reach.level.locations, Locations::Paths(_) | Locations::Globs(_))
        && !reach.is_of_function()
        && !reach.is_too_large
        && !reach.pattern.pieces().contains(&PatternPiece::Any)
        && reach.pattern.variables().iter().all(|name| bindings.contains_key(name))
}

impl<'a> UpperLocations<'a> {
    fn of_file(environment: &'a Environment, file: &'a FilePath) -> UpperLocations<'a> {
        let numbers = environment.locations_leading_to(file);
        // Where a variable is empty, a location may lead to the file by a detour.
        let has_detour = (0..numbers.last().copied().unwrap_or_default()).any(|number| {
            !numbers.contains(&number)
                && environment.reach[number].pattern.can_lead_to(file.as_str())
        });
        if has_detour {
            return UpperLocations { file, all: Vec::new() };
        }
        let located = numbers.into_iter().map(|number| {
            let own = &environment.reach[number];
            let PatternMatch::Bound(bindings) = own.pattern.bind(file.as_str())? else {
                return None;
            };
            let above = environment.reach[..number].iter();
            let above = above.filter(|reach| reach.layer == own.layer);
            let above = above
                .filter(|reach| is_certain_location(reach, &bindings))
                .filter_map(|reach| reach.pattern.fill_variables(&bindings))
                .collect();
            let is_glob = matches!(own.level.locations, Locations::Globs(_));
            let glob = if is_glob { own.pattern.fill_variables(&bindings) } else { None };
            (!own.is_of_function()).then_some(OwnLocation { above, glob })
        });
        UpperLocations { file, all: located.collect::<Option<_>>().unwrap_or_default() }
    }

    /// Whether another file may be read before the file at each of its locations.
    fn may_be_read(&self) -> bool {
        !self.all.is_empty()
            && self.all.iter().all(|own| !own.above.is_empty() || own.glob.is_some())
    }

    /// Whether another file is read before the file at each of its locations, for the values that
    /// name the file.
    fn lead_to(&self, other: &FilePath) -> bool {
        // For files in several folders, the order of the paths is not the order of the lookup.
        let is_earlier = other < self.file && other.parent() == self.file.parent();
        self.all.iter().all(|own| {
            let glob = own.glob.iter().filter(|_| is_earlier);
            own.above.iter().chain(glob).any(|pattern| pattern.bind(other.as_str()).is_some())
        })
    }
}

/// A snapshot without an entry of a file, or without several.
struct SnapshotWithout<'s> {
    /// The readers of the file; `None` where no environment governs the file.
    audience: Option<FileAudience<'s>>,
}

impl SnapshotWithout<'_> {
    /// Returns whether all readers of the file merge the values of a key, and the places that they
    /// get them from, each once, in the order of levels.
    fn sources_of_values(&self, key: &str) -> (bool, Vec<Span>) {
        let Some(audience) = &self.audience else { return (false, Vec::new()) };
        let root = LookupKey::of_root(key);
        let found = audience.effective_value(&root, ValueLimits::OF_KEY, false);
        let resolutions: Vec<&Resolution> =
            found.groups.iter().flat_map(Group::resolutions).collect();
        let is_merged = resolutions.iter().all(|resolution| !resolution.merge.stops_at_first());
        let mut places: Vec<Span> = Vec::new();
        let steps = resolutions.iter().flat_map(|it| &it.steps);
        let found_at = steps.filter_map(|step| match &step.outcome {
            Outcome::Found { key, .. } => *key,
            _ => None,
        });
        for span in found_at {
            if !places.contains(&span) {
                places.push(span);
            }
        }
        (is_merged, places)
    }
}
