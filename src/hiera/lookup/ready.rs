//! The fast path of lookups that record no steps: it skips locations that cannot have the key, and
//! holds the files of the others.
//!
//! Gives the same answers as [`ask`](super::location). Cases that are not plain (an error, an
//! encrypted file) are left to it.

use std::cell::OnceCell;
use std::sync::Arc;

use super::location::counts_in;
use super::{Invocation, Resolver};
use crate::hiera::config::{BackendKind, Layer, Locations};
use crate::hiera::data::{DataFile, FileRefusal};
use crate::hiera::error::LookupError;
use crate::hiera::hierarchy::located::{LevelTarget, LocatedLevel};
use crate::hiera::merge::{Strategy, fold};
use crate::hiera::resolution::Outcome;
use crate::puppet::value::Value;
use crate::text::Bounds;

/// The levels of a hierarchy, located, and prepared for quick lookups.
#[derive(Default)]
pub(super) struct Levels {
    /// The levels.
    pub(super) located: Arc<[LocatedLevel]>,
    ready: OnceCell<Vec<Vec<Ready>>>,
}

/// The work that a location needs.
enum Ready {
    /// Nothing: the location has no value for any key.
    Nothing,
    /// Reading the key from a file that Puppet accepts, at the location with this number among the
    /// level's.
    Look(usize, Arc<DataFile>),
    /// Asking the location with this number.
    Ask(usize),
    /// Asking the location with this number only for whether it leaves the answer open: no value
    /// of the location is known.
    Open(usize),
}

impl Levels {
    pub(super) fn new(located: Arc<[LocatedLevel]>) -> Levels {
        Levels { located, ready: OnceCell::new() }
    }
}

impl Resolver<'_> {
    /// Returns the value of a root key in these levels.
    pub(super) fn search_ready(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        levels: &Levels,
        root: &str,
        merge: &Strategy,
    ) -> Result<Option<Value>, LookupError> {
        let ready = levels.ready.get_or_init(|| {
            levels.located.iter().map(|located| self.prepare(layer, located)).collect()
        });
        let counts = counts_in(layer, root);
        let budget = inv.budget.clone();
        let bounds = Bounds { cancel: self.ctx.cancel, budget: &budget };
        fold::<LookupError>(merge, ready.len(), bounds, &mut |n| {
            fold::<LookupError>(merge, ready[n].len(), bounds, &mut |m| match &ready[n][m] {
                Ready::Nothing => Ok(None),
                Ready::Ask(number) => self.ask_ready(inv, layer, &levels.located[n], *number, root),
                Ready::Open(number) if inv.trace.records_openness(root) => {
                    self.ask_ready(inv, layer, &levels.located[n], *number, root)
                }
                Ready::Open(_) => Ok(None),
                Ready::Look(..) if !counts => Ok(None),
                Ready::Look(number, data) => match data.get(root) {
                    None => Ok(None),
                    Some(member) if self.ctx.tolerant || member.value.is_legal() => {
                        self.check_cancelled()?;
                        self.interpolate(inv, &member.value).map(Some)
                    }
                    Some(_) => self.ask_ready(inv, layer, &levels.located[n], *number, root),
                },
            })
        })
    }

    fn ask_ready(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        located: &LocatedLevel,
        number: usize,
        root: &str,
    ) -> Result<Option<Value>, LookupError> {
        Ok(
            match self.ask_location(inv, layer, located, &located.locations[number], root, None)? {
                Outcome::Found { value, .. } | Outcome::Answered { value, .. } => Some(value),
                _ => None,
            },
        )
    }

    /// Returns the work at a location of a backend that is not Puppet's own.
    fn unless_called(&self, number: usize) -> Ready {
        if self.ctx.backends.is_some() { Ready::Ask(number) } else { Ready::Open(number) }
    }

    fn prepare(&self, layer: &Layer, located: &LocatedLevel) -> Vec<Ready> {
        // A glob that names nothing is no location to Puppet.
        let real = located
            .locations
            .iter()
            .enumerate()
            .filter(|(_, location)| !matches!(location.place, LevelTarget::NoMatch { .. }));
        real.map(|(number, _)| {
            self.prepare_location(layer, located, number).unwrap_or(Ready::Ask(number))
        })
        .collect()
    }

    /// Returns the work that the location with this number needs; `None` where each lookup has to
    /// ask it.
    fn prepare_location(
        &self,
        layer: &Layer,
        located: &LocatedLevel,
        number: usize,
    ) -> Option<Ready> {
        let location = &located.locations[number];
        let level = &located.level;
        let exists = !matches!(location.place, LevelTarget::File { exists: false, .. });
        if exists && !self.ctx.tolerant && level.call_error().is_some() {
            return None;
        }
        let path = match &location.place {
            LevelTarget::File { path, exists: true } => path,
            LevelTarget::NoMatch { .. } => return Some(Ready::Nothing),
            LevelTarget::File { exists: false, .. }
                if level.backend.kind != BackendKind::Hiera3 =>
            {
                return Some(Ready::Nothing);
            }
            _ => return Some(self.unless_called(number)),
        };
        let reader = match (level.backend.kind, level.backend.data_reader()) {
            (BackendKind::Hiera3, _) | (_, None) => return Some(self.unless_called(number)),
            (BackendKind::DataHash, Some(reader)) if !reader.decrypts => reader,
            _ => return None,
        };
        if matches!(level.locations, Locations::ByKey(..)) {
            return None; // It depends on the key.
        }
        let data = self.ctx.sources.file_data(path, reader)?;
        if data.refusal().is_some_and(FileRefusal::is_ours) {
            return None;
        }
        self.check_file(path, reader, &data).ok()?;
        if !self.ctx.tolerant && data.is_no_hash() {
            return Some(Ready::Nothing);
        }
        // Puppet crashes over a key that is no string in the data of a module.
        let is_plain =
            !matches!(layer, Layer::Module(_)) || data.keys().all(|key| key.as_str().is_some());
        is_plain.then_some(Ready::Look(number, data))
    }
}
