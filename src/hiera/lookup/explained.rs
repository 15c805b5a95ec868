//! Recording the tree of [`explain`](crate::hiera::explain) while a lookup runs. Without an
//! explainer all of this is nothing.

use std::sync::Arc;

use super::trace::{OpenCauses, Trace, relevant_levels, without_repeats};
use super::{Invocation, Resolver, Strategy, is_reserved};
use crate::hiera::config::{ConfigVersion, Layer};
use crate::hiera::dig::{DigOutcome, dig, dig_watched};
use crate::hiera::error::LookupError;
use crate::hiera::explain::{Event, EventText, Explanation, Kind, Node, Subject};
use crate::hiera::hierarchy::located::{LevelTarget, Location};
use crate::hiera::key::LookupKey;
use crate::hiera::merge::fold;
use crate::hiera::pattern::condition_phrase;
use crate::hiera::request::LookupRequest;
use crate::hiera::resolution::Outcome;
use crate::hiera::sources::ModuleLayer;
use crate::puppet::convert::ConvertTo;
use crate::puppet::convert::quote::puppet_quote;
use crate::puppet::print::PrintOptions;
use crate::puppet::ruby::inspect::float_text;
use crate::puppet::value::{Data, Value};
use crate::text::{Bounds, CancelToken};

impl Resolver<'_> {
    /// Answers a request and explains the search.
    ///
    /// Like `puppet lookup`, a resolver explains each part that it assembles and keeps, such as
    /// `lookup_options`, once: only a new resolver gives a full explanation. The message of an
    /// error that Puppet calls a lookup error is the last of the tree's own texts, as is the
    /// message that nothing was found; Puppet does not explain any other error.
    pub fn explain(&self, request: &LookupRequest, subject: Subject) -> Explanation {
        let mut inv = Invocation::new(Trace::of_tree());
        let mut unread = Vec::new();
        let answer = self.answer_by(request, &mut |resolver, key, merge| {
            inv.module = key.module_name().map(Into::into);
            let found = match subject {
                Subject::Lookup => {
                    let choice = resolver.choose_strategy(&mut inv, key, merge)?;
                    resolver.find_chosen(&mut inv, key, &choice, None)?
                }
                Subject::Options if is_reserved(&key.text) => {
                    inv.record_part(|| Kind::InvalidKey, |_| {});
                    None
                }
                // An explanation of options has no value; Puppet counts it as found.
                Subject::Options => {
                    resolver.explain_options(&mut inv, key).map(|()| Some(Value::new_null(None)))?
                }
            };
            unread = resolver.unread_options_of(key);
            Ok(found.map(|value| (value, std::mem::take(&mut inv.unapplied_conversions))))
        });
        match &answer {
            Ok(None) => inv.record_text(|| request.not_found_message()),
            Err(error) if error.is_lookup_error() => inv.record_failure(error),
            _ => {}
        }
        let tree = inv.trace.explainer.take().expect("every part gives it back").finish();
        let found = answer.as_ref().ok().and_then(Option::as_ref).map(|answer| &answer.value);
        let OpenCauses { files, levels } = inv.trace.take_causes();
        let unsettled = without_repeats(files, &[]);
        let mut unsettled_levels = relevant_levels(levels, found, &unsettled);
        unsettled_levels.extend(unread);
        Explanation { tree, answer, unsettled_levels }
    }

    /// How the options for a key come about: one hash merge over all layers.
    fn explain_options(&self, inv: &mut Invocation, key: &LookupKey) -> Result<(), LookupError> {
        let layers = super::layers_of(key);
        let (root, frame) = (super::LOOKUP_OPTIONS, super::options::options_frame());
        inv.fold(&Strategy::Hash, 3, self.ctx.cancel, &mut |inv, n| match layers.get(n) {
            Some(layer) => self.search_layer(inv, layer, root, &frame, &Strategy::Hash),
            None => Ok(None),
        })?;
        Ok(())
    }

    /// Returns the node of a layer; `None` where Puppet has none, because there is no layer or its
    /// config cannot be loaded.
    pub(super) fn layer_kind(&self, layer: &Layer) -> Option<Kind> {
        let config = match layer {
            Layer::Global => self.ctx.global.clone(),
            Layer::Environment => Some(self.ctx.environment.clone()?),
            Layer::Module(name) => match self.ctx.sources.module_layer(name) {
                ModuleLayer::Config(config) => Some(config),
                ModuleLayer::NotFound | ModuleLayer::WithoutConfig => return None,
            },
        };
        if config.as_ref().is_some_and(|config| !config.is_loaded()) {
            return None;
        }
        let version = config.as_ref().map_or(ConfigVersion::V5, |config| config.version);
        // A config that no file holds is not named.
        let path = config.and_then(|config| config.file.map(|_| config.path.clone()));
        Some(Kind::Provider { layer: layer.clone(), version, config: path })
    }

    /// Says why a module cannot be asked.
    pub(super) fn explain_missing_module(&self, inv: &mut Invocation, layer: &Layer) {
        let Layer::Module(name) = layer else { return };
        let event = match self.ctx.sources.module_layer(name) {
            ModuleLayer::NotFound => Event::ModuleNotFound,
            ModuleLayer::WithoutConfig => Event::ModuleProviderNotFound,
            // Puppet passes over a module's config of an old version.
            ModuleLayer::Config(_) => Event::ModuleProviderNotFound,
        };
        inv.record_part(|| Kind::Module(name.clone()), |inv| inv.record_event(|| event));
    }
}

/// Looks up the place with a number, as [`fold`] requires.
type Next<'a> = dyn FnMut(&mut Invocation, usize) -> Result<Option<Value>, LookupError> + 'a;

impl Invocation {
    /// Runs `inner` as a part of the search.
    pub(super) fn record_part<T>(
        &mut self,
        kind: impl FnOnce() -> Kind,
        inner: impl FnOnce(&mut Invocation) -> T,
    ) -> T {
        let Some(explainer) = &mut self.trace.explainer else { return inner(self) };
        explainer.push(kind());
        let result = inner(self);
        if let Some(explainer) = &mut self.trace.explainer {
            explainer.pop();
        }
        result
    }

    /// Records the event of the part that is being searched.
    pub(super) fn record_event(&mut self, event: impl FnOnce() -> Event) {
        if let Some(node) = self.current_node() {
            node.event = Some(event());
        }
    }

    /// Says something else about the part that is being searched.
    pub(super) fn record_text(&mut self, text: impl FnOnce() -> String) {
        if let Some(node) = self.current_node() {
            node.texts.push(EventText::Remark(text()));
        }
    }

    /// Says a text of a function about the part that is being searched.
    pub(super) fn record_value(&mut self, text: Value) {
        if let Some(node) = self.current_node() {
            node.texts.push(EventText::Told(text));
        }
    }

    /// Says beside the part that is searched that the whole search failed.
    fn record_failure(&mut self, error: &LookupError) {
        if let Some(node) = self.current_node() {
            node.texts.push(EventText::Failure(error.clone()));
        }
    }

    fn current_node(&mut self) -> Option<&mut Node> {
        self.trace.explainer.as_mut().map(|explainer| explainer.current_node())
    }

    /// [`fold`], explained as a merge where several places may have a value.
    pub(super) fn fold(
        &mut self,
        strategy: &Strategy,
        variants: usize,
        cancel: &CancelToken,
        next: &mut Next<'_>,
    ) -> Result<Option<Value>, LookupError> {
        if self.trace.explainer.is_none() || strategy.stops_at_first() || variants < 2 {
            let budget = self.budget.clone();
            let bounds = Bounds { cancel, budget: &budget };
            return fold(strategy, variants, bounds, &mut |n| next(self, n));
        }
        self.record_part(
            || Kind::Merge(strategy.clone()),
            |inv| {
                let budget = inv.budget.clone();
                let bounds = Bounds { cancel, budget: &budget };
                let merged =
                    fold::<LookupError>(strategy, variants, bounds, &mut |n| next(inv, n))?;
                if let Some(value) = &merged {
                    inv.record_event(|| Event::Result(value.clone()));
                }
                Ok(merged)
            },
        )
    }

    /// Digs the subkeys of `key` out of a value, and explains each step.
    pub(super) fn dig(
        &mut self,
        value: &Value,
        key: &LookupKey,
    ) -> Result<Option<Value>, LookupError> {
        if self.trace.explainer.is_none() || key.subkeys.is_empty() {
            return dig(value, key);
        }
        self.record_part(
            || Kind::SubKey(key.subkeys.clone()),
            |inv| {
                dig_watched(value, key, &mut |segment, found| {
                    inv.record_part(
                        || Kind::Segment,
                        |inv| {
                            let key: Arc<str> = segment.to_string().into();
                            match found {
                                DigOutcome::Part(value) => inv.record_event(|| Event::Found {
                                    key,
                                    value: value.clone(),
                                    at: value.origin,
                                }),
                                DigOutcome::Missing => inv.record_event(|| Event::NotFound(key)),
                                DigOutcome::Mismatch => {}
                            }
                        },
                    );
                })
            },
        )
    }

    /// Records the outcome at a location.
    pub(super) fn explain_outcome(&mut self, outcome: &Outcome, root: &str) {
        match outcome {
            Outcome::Found { key: at, value, .. } => {
                self.record_event(|| Event::Found {
                    key: root.into(),
                    value: value.clone(),
                    at: *at,
                });
            }
            Outcome::NoSuchKey(_) | Outcome::Excluded(_) => {
                self.record_event(|| Event::NotFound(root.into()))
            }
            Outcome::NoSuchFile => self.record_event(|| Event::LocationNotFound),
            Outcome::Undetermined { variables, candidates } => {
                self.record_text(|| format!("Depends on {}", variables.join(", ")));
                for candidate in candidates {
                    self.record_text(|| {
                        format!(
                            "{} sets the key where {}",
                            candidate.path,
                            condition_phrase(&candidate.when)
                        )
                    });
                }
            }
            Outcome::Opaque(backend) => {
                self.record_text(|| {
                    format!("{} \"{}\" cannot be evaluated here", backend.kind.key(), backend.name)
                });
            }
            Outcome::Unread { message, .. } => {
                self.record_text(|| format!("The file cannot be read here: {message}"));
            }
            // The call of the function records the explanation of its outcome.
            Outcome::Answered { .. } | Outcome::NotAnswered(_) => {}
            Outcome::NotReached { .. } | Outcome::Failed(_) => {}
        }
    }

    /// Says that a conversion is applied.
    pub(super) fn explain_conversion(&mut self, convert_to: &ConvertTo) {
        self.record_text(|| {
            let arguments = std::iter::once(convert_to.type_shown())
                .chain(convert_to.arguments.iter().map(in_puppets_language));
            format!(
                "Applying convert_to lookup_option with arguments [{}]",
                arguments.collect::<Vec<_>>().join(", ")
            )
        });
    }
}

/// Returns the node of a location; `None` when the level names none.
pub(super) fn location_kind(location: &Location) -> Option<Kind> {
    let uri = match location.place {
        LevelTarget::Nowhere => return None,
        LevelTarget::Uri(_) => true,
        LevelTarget::File { .. } | LevelTarget::NoMatch { .. } | LevelTarget::Undetermined(_) => {
            false
        }
    };
    Some(Kind::Location { uri, original: location.original.clone(), place: location.name.clone() })
}

/// Returns a value as Puppet's language writes it.
fn in_puppets_language(value: &Value) -> String {
    if let Some(mark) = PrintOptions::default().mark_for(value.secrecy()) {
        return mark.to_owned();
    }
    match value.data() {
        Data::Null => "undef".into(),
        Data::String(text) => puppet_quote(text),
        Data::Float(number) => float_text(*number),
        Data::Array(items) => {
            format!("[{}]", items.iter().map(in_puppets_language).collect::<Vec<_>>().join(", "))
        }
        Data::Hash(hash) => {
            format!(
                "{{{}}}",
                hash.iter()
                    .map(|(key, member): (&crate::puppet::Key, &crate::puppet::Member)| {
                        let key = in_puppets_language(&key.to_value(None));
                        format!("{key} => {}", in_puppets_language(&member.value))
                    })
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        }
        _ => value.to_text().into_owned(),
    }
}
