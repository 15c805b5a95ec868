//! The records that a request makes beside its answer. A request for a value alone makes none.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::{Invocation, LOOKUP_OPTIONS};
use crate::hiera::config::Layer;
use crate::hiera::explain::Explainer;
use crate::hiera::eyaml::has_encrypted_text;
use crate::hiera::hierarchy::located::{LocatedLevel, Location};
use crate::hiera::key::LookupKey;
use crate::hiera::resolution::{
    LookupReads, LookupStep, Outcome, Unevaluated, Unsettled, UnsettledLevel,
};
use crate::puppet::value::Value;

/// The records, by the way a key is asked for.
#[derive(Default)]
pub(super) struct Trace {
    /// The steps of the key that was asked for; `None` for other ways, and while another key is looked
    /// up for this one.
    pub(super) steps: Option<Vec<LookupStep>>,
    /// The variables and keys that tokens read; `None` where the caller does not ask for them.
    pub(super) reads: Option<LookupReads>,
    /// The levels that could not be evaluated; `None` where the caller does not ask for them.
    openness: Option<Openness>,
    /// The tree of the whole search; `None` where the caller does not ask for it.
    pub(super) explainer: Option<Box<Explainer>>,
    /// With a tree: pairs of a location and a key that the location's function has answered. The
    /// function is not called again, and the tree shows the answer once.
    pub(super) answered: HashSet<(*const Location, Arc<str>)>,
}

/// The levels that could not be evaluated, and that could change the answer.
#[derive(Default)]
struct Openness {
    /// Whether there is a level that could not be evaluated.
    is_open: bool,
    /// The root keys that one of the unevaluated levels may have.
    open_keys: BTreeSet<Arc<str>>,
    /// The levels themselves; `None` where the caller asks only whether there is one.
    causes: Option<OpenCauses>,
}

/// The causes of an open answer.
#[derive(Default)]
pub(super) struct OpenCauses {
    /// The files that unknown variables decide.
    pub(super) files: Vec<Unsettled>,
    /// The levels.
    pub(super) levels: Vec<UnsettledLevel>,
}

impl Trace {
    /// Returns the trace of [`Resolver::lookup`](super::Resolver::lookup).
    pub(super) fn of_steps() -> Trace {
        Trace {
            steps: Some(Vec::new()),
            reads: Some(LookupReads::default()),
            openness: Some(Openness::with_causes()),
            ..Trace::default()
        }
    }

    /// Returns the trace of [`Resolver::explain`](super::Resolver::explain).
    pub(super) fn of_tree() -> Trace {
        Trace {
            explainer: Some(Box::new(Explainer::new())),
            openness: Some(Openness::with_causes()),
            ..Trace::default()
        }
    }

    /// Returns the trace of the assembly of `lookup_options`, with the tree of the lookup that needs
    /// them.
    pub(super) fn of_options(explainer: Option<Box<Explainer>>) -> Trace {
        Trace { explainer, reads: Some(LookupReads::default()), ..Trace::default() }
    }

    /// Returns the trace of [`Resolver::answer_request`](super::Resolver::answer_request).
    pub(super) fn of_openness() -> Trace {
        Trace { openness: Some(Openness::default()), ..Trace::default() }
    }

    /// Whether neither steps nor a tree nor the causes of an open answer are recorded.
    pub(super) fn is_off(&self) -> bool {
        self.explainer.is_none() && self.steps.is_none() && !self.has_causes()
    }

    /// Whether a level could not be evaluated that could change the answer.
    pub(super) fn is_open(&self) -> bool {
        self.openness.as_ref().is_some_and(|openness| openness.is_open)
    }

    /// Records what tokens or levels read.
    pub(super) fn record_reads(&mut self, record: impl FnOnce(&mut LookupReads) -> bool) {
        if let Some(reads) = &mut self.reads {
            record(reads);
        }
    }

    /// Whether the causes of an open answer are recorded.
    pub(super) fn has_causes(&self) -> bool {
        self.openness.as_ref().is_some_and(|openness| openness.causes.is_some())
    }

    /// Returns the recorded causes of an open answer.
    pub(super) fn take_causes(&mut self) -> OpenCauses {
        self.openness.take().and_then(|openness| openness.causes).unwrap_or_default()
    }

    /// Adds the outcome at a location to the steps, if these are of the key that was asked for.
    pub(super) fn record_step(
        &mut self,
        layer: &Layer,
        located: &LocatedLevel,
        location: &Location,
        outcome: Outcome,
    ) {
        if let Some(steps) = &mut self.steps {
            steps.push(LookupStep {
                layer: layer.clone(),
                level: located.level.clone(),
                template: location.template.clone(),
                outcome,
            });
        }
    }

    /// Whether levels that cannot be evaluated are recorded for this root key. For `lookup_options`
    /// they are not: every answer would be open.
    pub(super) fn records_openness(&self, root: &str) -> bool {
        self.openness.is_some() && root != LOOKUP_OPTIONS
    }

    /// Records that a level cannot be evaluated for a root key.
    pub(super) fn record_open_level(
        &mut self,
        layer: &Layer,
        located: &LocatedLevel,
        root: &str,
        reason: Unevaluated,
    ) {
        let Some(openness) = self.openness.as_mut().filter(|_| root != LOOKUP_OPTIONS) else {
            return;
        };
        openness.is_open = true;
        if !matches!(reason, Unevaluated::Encrypted(_)) {
            openness.open_keys.insert(root.into());
        }
        if let Some(causes) = &mut openness.causes {
            causes.levels.push(UnsettledLevel {
                layer: layer.clone(),
                level: located.level.name.clone(),
                key: root.into(),
                reason,
            });
        }
    }

    /// Records files that unknown variables decide.
    pub(super) fn record_open_files(&mut self, files: &[Unsettled]) {
        if let Some(causes) = self.openness.as_mut().and_then(|it| it.causes.as_mut()) {
            causes.files.extend_from_slice(files);
        }
    }

    /// Whether a level that could not be evaluated may have a key that was not found.
    pub(super) fn may_be_open(&self, key: &str) -> bool {
        let Some(openness) = &self.openness else { return false };
        let key = LookupKey::parse(key);
        key.is_ok_and(|key| openness.open_keys.contains(&*key.root_text()))
    }
}

impl Openness {
    fn with_causes() -> Openness {
        Openness { causes: Some(OpenCauses::default()), ..Openness::default() }
    }
}

impl Invocation {
    /// Looks another key up for the one that was asked for: its steps are not recorded.
    pub(super) fn nest<T>(&mut self, inner: impl FnOnce(&mut Invocation) -> T) -> T {
        let steps = self.trace.steps.take();
        let result = inner(self);
        self.trace.steps = steps;
        result
    }
}

/// Returns the levels that leave the answer open once all is known: of undetermined ones those
/// whose files are still among the `unsettled`, of encrypted ones those whose text is in the value.
pub(super) fn relevant_levels(
    levels: Vec<UnsettledLevel>,
    value: Option<&Value>,
    unsettled: &[Unsettled],
) -> Vec<UnsettledLevel> {
    let is_encrypted = value.is_some_and(has_encrypted_text);
    let mut kept: Vec<UnsettledLevel> = Vec::new();
    for mut level in levels {
        let matters = match &mut level.reason {
            Unevaluated::Undetermined { files, .. } => {
                files.retain(|path| {
                    unsettled.iter().any(|file| file.path == *path && file.key == level.key)
                });
                !files.is_empty()
            }
            Unevaluated::Encrypted(_) => is_encrypted,
            Unevaluated::Backend(_) | Unevaluated::Unread(..) => true,
        };
        if matters && !kept.contains(&level) {
            kept.push(level);
        }
    }
    kept
}

/// Returns each file once, as the most literal location names it, or with the least that must be so for it
/// to be seen; files that are seen anyway say nothing new.
///
/// A file in `common/` is one that `%{location}/…` can name, too, if only by accident, and
/// `web-Debian.yaml` one for a role `web-Debian`.
pub(super) fn without_repeats(unsettled: Vec<Unsettled>, steps: &[LookupStep]) -> Vec<Unsettled> {
    let is_seen = |file: &Unsettled| {
        steps.iter().any(|step| match &step.outcome {
            Outcome::Found { path, .. } | Outcome::NotReached { path: Some(path), .. } => {
                *path == file.path
            }
            _ => false,
        })
    };
    let rank = |file: &Unsettled| (std::cmp::Reverse(file.literal_len), file.when.len());
    let mut kept: Vec<Unsettled> = Vec::new();
    for file in unsettled.into_iter().filter(|file| !is_seen(file)) {
        match kept.iter_mut().find(|known| known.path == file.path && known.key == file.key) {
            Some(known) if rank(&file) < rank(known) => *known = file,
            Some(_) => {}
            None => kept.push(file),
        }
    }
    kept
}
