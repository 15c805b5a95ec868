//! Asking the functions of levels: which call a location needs, the answers that are kept, and the
//! answers to questions of a function that runs.
//!
//! Source: semantics 9, and Puppet's providers for functions of levels.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Invocation, Resolver, parse_key};
use crate::hiera::backends::{
    Backends, CallKey, CallLocation, Checked, FunctionCall, FunctionQuestion, Reply, Returned,
};
use crate::hiera::config::{BackendKind, Layer};
use crate::hiera::error::{LookupError, LookupErrorKind, OptionsError};
use crate::hiera::explain::Event;
use crate::hiera::hierarchy::located::{LevelTarget, LocatedLevel, Location};
use crate::hiera::hierarchy::options_for_call;
use crate::hiera::key::{KeySegment, LookupKey};
use crate::hiera::merge::parse_strategy;
use crate::hiera::resolution::Outcome;
use crate::hiera::sources::ModuleLayer;
use crate::puppet::value::{Hash, Key, Member, Value};
use crate::text::{FilePath, Limit};
use std::rc::Rc;
use std::sync::Arc;

/// The functions that a resolver has called. Levels and locations are identified by their
/// addresses: the resolver keeps them alive as long as the called functions.
#[derive(Default)]
pub(super) struct CalledFunctions {
    /// Whether the backends of Hiera 3 were made known.
    pub(super) knows_hiera3: bool,
    levels: HashMap<*const LocatedLevel, CalledLevel>,
    /// The answers that are kept, by location.
    kept: HashMap<*const Location, Kept>,
}

/// A level whose function is called.
#[derive(Clone)]
struct CalledLevel {
    number: u64,
    options: Option<Value>,
}

/// The answers of a function at a location that are not asked for again. That a key was not found
/// is not kept.
enum Kept {
    /// The hash of a data_hash function.
    Hash { members: HashMap<Key, Checked>, has_default: bool },
    /// The values of other functions, by the key as it was passed.
    Keys(HashMap<Arc<str>, Value>),
}

/// The number of levels whose functions were called.
static LEVELS: AtomicU64 = AtomicU64::new(0);

/// A location whose function is asked.
#[derive(Clone, Copy)]
pub(super) struct FunctionQuery<'a> {
    backends: &'a dyn Backends,
    layer: &'a Layer,
    located: &'a LocatedLevel,
    location: &'a Location,
}

impl Resolver<'_> {
    /// Asks the function of a level for the root key, or for the dotted key that is being looked
    /// up, as its kind has it.
    pub(super) fn call_level(
        &self,
        inv: &mut Invocation,
        backends: &dyn Backends,
        layer: &Layer,
        located: &LocatedLevel,
        location: &Location,
        root: &str,
    ) -> Result<Outcome, LookupError> {
        let asked = FunctionQuery { backends, layer, located, location };
        let backend = &located.level.backend;
        let found = match backend.kind {
            BackendKind::DataHash | BackendKind::LegacyFunction => {
                self.ask_data_hash(inv, asked, root)?
            }
            BackendKind::LookupKey => {
                self.ask_for_key(inv, asked, root.into(), CallKey::Root(root))?
            }
            BackendKind::DataDig => self.ask_to_dig(inv, asked)?,
            BackendKind::Hiera3 => self.ask_hiera3(inv, asked)?,
        };
        Ok(match found {
            FunctionAnswer::Value(value) => Outcome::Answered { backend: backend.clone(), value },
            FunctionAnswer::Nothing => Outcome::NotAnswered(backend.clone()),
            FunctionAnswer::Unknown => self.opaque_outcome(inv, layer, located, root),
        })
    }

    fn ask_data_hash(
        &self,
        inv: &mut Invocation,
        asked: FunctionQuery<'_>,
        root: &str,
    ) -> Result<FunctionAnswer, LookupError> {
        let place = std::ptr::from_ref(asked.location);
        if !self.cache.called.borrow().kept.contains_key(&place) {
            let Some(returned) = self.call_function(inv, asked, CallKey::All)? else {
                return Ok(FunctionAnswer::Unknown);
            };
            // Where a function reports that it has no hash, Puppet records no step, and calls the
            // function again for the next key.
            let Returned::Hash { members, has_default } = returned else {
                return Ok(FunctionAnswer::Nothing);
            };
            let members = members.into_iter().collect();
            let kept = Kept::Hash { members, has_default };
            self.cache.called.borrow_mut().kept.insert(place, kept);
        }
        let (member, has_default) = match self.cache.called.borrow().kept.get(&place) {
            Some(Kept::Hash { members, has_default }) => {
                (members.get(&key_of(root)).cloned(), *has_default)
            }
            _ => (None, false),
        };
        let member = match member {
            None if has_default => match self.call_function(inv, asked, CallKey::Member(root))? {
                Some(Returned::Value(checked)) => Some(checked),
                _ => None,
            },
            member => member,
        };
        let Some(member) = member else {
            inv.record_event(|| Event::NotFound(root.into()));
            return Ok(FunctionAnswer::Nothing);
        };
        let value = self.interpolate(inv, &check_legal(asked, root, member)?)?;
        inv.record_event(|| Event::Found { key: root.into(), value: value.clone(), at: None });
        Ok(FunctionAnswer::Value(value))
    }

    /// Asks a function that takes a key; `text` is the key in messages.
    fn ask_for_key(
        &self,
        inv: &mut Invocation,
        asked: FunctionQuery<'_>,
        text: Arc<str>,
        key: CallKey<'_>,
    ) -> Result<FunctionAnswer, LookupError> {
        let place = std::ptr::from_ref(asked.location);
        let known = match self.cache.called.borrow().kept.get(&place) {
            Some(Kept::Keys(known)) => known.get(&text).cloned(),
            _ => None,
        };
        let value = match known {
            Some(value) => value,
            None => match self.call_function(inv, asked, key)? {
                None => return Ok(FunctionAnswer::Unknown),
                Some(Returned::Value(checked)) => {
                    let value = check_legal(asked, &text, checked)?;
                    let mut called = self.cache.called.borrow_mut();
                    let kept =
                        called.kept.entry(place).or_insert_with(|| Kept::Keys(HashMap::new()));
                    if let Kept::Keys(known) = kept {
                        known.insert(text.clone(), value.clone());
                    }
                    value
                }
                Some(_) => {
                    inv.record_event(|| Event::NotFound(text));
                    return Ok(FunctionAnswer::Nothing);
                }
            },
        };
        inv.record_event(|| Event::Found { key: text, value: value.clone(), at: None });
        Ok(FunctionAnswer::Value(value))
    }

    /// Asks a data_dig function for the key that is being looked up, all its segments.
    fn ask_to_dig(
        &self,
        inv: &mut Invocation,
        asked: FunctionQuery<'_>,
    ) -> Result<FunctionAnswer, LookupError> {
        let text = inv.stack.last().map_or_else(|| "".into(), |frame| frame.text.clone());
        let key = parse_key(&text)?;
        let segments: Vec<KeySegment> =
            std::iter::once(key.root.clone()).chain(key.subkeys.iter().cloned()).collect();
        let found = self.ask_for_key(inv, asked, text, CallKey::Segments(&segments))?;
        let FunctionAnswer::Value(value) = found else { return Ok(found) };
        within_root(&key, value).map(FunctionAnswer::Value)
    }

    /// Calls the function of a level. `None` where an unknown variable decides its options.
    pub(super) fn call_function(
        &self,
        inv: &mut Invocation,
        asked: FunctionQuery<'_>,
        key: CallKey<'_>,
    ) -> Result<Option<Returned>, LookupError> {
        let Some(level) = self.called_level(asked.located)? else { return Ok(None) };
        let number =
            asked.located.locations.iter().position(|one| std::ptr::eq(one, asked.location));
        let location = match &asked.location.place {
            LevelTarget::Uri(uri) => Some(CallLocation::Uri(uri)),
            LevelTarget::Nowhere => None,
            _ => Some(CallLocation::Path(&asked.location.name)),
        };
        let call = FunctionCall {
            kind: asked.located.level.backend.kind,
            function: &asked.located.level.backend.name,
            origin: asked.located.level.backend.span,
            layer: asked.layer,
            config: &self.config_path(asked.layer),
            level: level.number,
            location_number: number.unwrap_or_default(),
            options: level.options.as_ref(),
            location,
            key,
            explains: inv.trace.explainer.is_some(),
        };
        let Reply { returned, texts } = asked
            .backends
            .call_function(&call, &mut |question| self.answer_question(inv, question));
        for text in texts {
            inv.record_value(text);
        }
        match returned {
            Returned::Failed(error) => Err(error.or_at(asked.located.level.backend.span)),
            returned => Ok(Some(returned)),
        }
    }

    /// Returns the level of a function, known by a number from its first call on.
    fn called_level(&self, located: &LocatedLevel) -> Result<Option<CalledLevel>, LookupError> {
        let place = std::ptr::from_ref(located);
        if let Some(known) = self.cache.called.borrow().levels.get(&place) {
            return Ok(Some(known.clone()));
        }
        let puppet = (!self.ctx.tolerant).then_some(self.ctx.puppet);
        let options = match &located.level.options {
            Some(options) if located.level.backend.kind != BackendKind::Hiera3 => {
                match options_for_call(options, self.ctx.scope, puppet)? {
                    None => return Ok(None),
                    known => known,
                }
            }
            _ => None,
        };
        let level = CalledLevel { number: LEVELS.fetch_add(1, Ordering::Relaxed), options };
        self.cache.called.borrow_mut().levels.insert(place, level.clone());
        Ok(Some(level))
    }

    /// Returns the number of a level whose options are not passed with each call.
    pub(super) fn number_of(&self, located: &LocatedLevel) -> u64 {
        let mut called = self.cache.called.borrow_mut();
        let level = called.levels.entry(std::ptr::from_ref(located)).or_insert_with(|| {
            CalledLevel { number: LEVELS.fetch_add(1, Ordering::Relaxed), options: None }
        });
        level.number
    }

    fn config_path(&self, layer: &Layer) -> FilePath {
        let config = match layer {
            Layer::Global => self.ctx.global.clone(),
            Layer::Environment => self.ctx.environment.clone(),
            Layer::Module(name) => match self.ctx.sources.module_layer(name) {
                ModuleLayer::Config(config) => Some(config),
                ModuleLayer::NotFound | ModuleLayer::WithoutConfig => None,
            },
        };
        config.map_or_else(|| FilePath::new("/"), |config| config.path.clone())
    }

    /// Answers a question of a function that was called in this lookup.
    fn answer_question(
        &self,
        inv: &mut Invocation,
        question: FunctionQuestion,
    ) -> Result<Option<Value>, LookupError> {
        self.check_cancelled()?;
        match question {
            FunctionQuestion::Interpolate(value) => self.interpolate(inv, &value).map(Some),
            FunctionQuestion::Lookup {
                key,
                merge,
                global_only,
                overrides,
                defaults,
                order_override,
            } => {
                let reading = inv.reading;
                inv.reading.is_confined |= global_only;
                let sources_before = inv.order_override.clone();
                inv.look_first_into(order_override.as_array().unwrap_or_default());
                let given = (overrides.as_hash(), defaults.as_hash());
                let found = match given {
                    (Some(overrides), Some(defaults))
                        if !overrides.is_empty() || !defaults.is_empty() =>
                    {
                        let scope = self.ctx.scope.with_given(overrides, defaults);
                        let context = super::Context { scope: &scope, ..self.ctx.clone() };
                        // Puppet assembles options once for all lookups of a catalog, although
                        // lookups may have variables of their own.
                        let within = Resolver::resume(context, Rc::new(self.cache.clone_options()));
                        within.lookup_for_function(inv, &key, &merge)
                    }
                    _ => self.lookup_for_function(inv, &key, &merge),
                };
                inv.reading = reading;
                if inv.order_override.len() != sources_before.len() {
                    inv.known.clear();
                }
                inv.order_override = sources_before;
                found
            }
        }
    }

    /// Looks a key up for a function, within the lookup that called it.
    fn lookup_for_function(
        &self,
        inv: &mut Invocation,
        key: &str,
        merge: &Value,
    ) -> Result<Option<Value>, LookupError> {
        let key = parse_key(key)?;
        inv.pay_nested_lookup(None)?;
        inv.trace.record_reads(|reads| reads.keys.insert(key.text.to_string()));
        let merge = parse_strategy(merge)
            .map_err(|error| LookupError::from(OptionsError::Strategy(error)))?;
        let choice = self.choose_strategy(inv, &key, merge.as_ref())?;
        inv.nest(|inv| self.find_chosen(inv, &key, &choice, None))
    }
}

impl Invocation {
    /// Makes levels of version 3 read these sources first. An empty list changes nothing: lookups
    /// that a function begins inherit the list.
    fn look_first_into(&mut self, sources: &[Value]) {
        if !sources.is_empty() && *self.order_override != *sources {
            self.order_override = sources.into();
            self.known.clear();
        }
    }
}

/// The outcome of asking a function.
pub(super) enum FunctionAnswer {
    Value(Value),
    Nothing,
    /// The function could not be called.
    Unknown,
}

/// Returns a root key as a key of a hash.
fn key_of(root: &str) -> Key {
    Key::from(Value::new_string(root, Value::new_null(None).provenance()))
}

/// Returns the value, or the error of one that is none. Source: semantics 9.
pub(super) fn check_legal(
    asked: FunctionQuery<'_>,
    key: &str,
    checked: Checked,
) -> Result<Value, LookupError> {
    let got = match checked {
        Checked::Legal(value) => return Ok(value),
        Checked::Illegal(got) => got,
    };
    let backend = &asked.located.level.backend;
    let is_old = backend.kind == BackendKind::LegacyFunction;
    let function = match is_old {
        _ if backend.kind == BackendKind::Hiera3 => {
            format!("hiera version 3 backend '{}'", backend.name)
        }
        true => format!("deprecated API function '{}'", backend.name),
        false => format!("{} function '{}'", backend.kind.key(), backend.name),
    };
    let location = match &asked.location.place {
        LevelTarget::Nowhere => None,
        _ => Some(asked.location.name.to_string()),
    };
    let kind = LookupErrorKind::IllegalValue {
        key: key.to_owned(),
        location,
        function,
        in_hash: is_old || backend.kind == BackendKind::DataHash,
        got: got.to_string(),
    };
    Err(LookupError::new(kind, backend.span))
}

/// Wraps the answer to a dotted key, so that the key can be dug out of the result again. Source:
/// `LookupKey#undig`.
pub(super) fn within_root(key: &LookupKey, value: Value) -> Result<Value, LookupError> {
    key.subkeys.iter().rev().try_fold(value, |inner, segment| {
        let from = inner.provenance();
        Ok(match segment {
            KeySegment::Name(name) => {
                let key = key_of(name);
                let member = Member { key_origin: None, value: inner };
                Value::hash_of(Hash::from_iter([(key, member)]), from.origin())
            }
            KeySegment::Index(index) => {
                let Ok(before) = usize::try_from(*index) else {
                    return Err(LookupError::crash(format!(
                        "index {index} too small for array; minimum: 0"
                    )));
                };
                if before > MAX_INDEX {
                    return Err(LookupError::limit_reached(Limit::ValueParts, from.origin()));
                }
                let mut items = vec![Value::new_null(None); before];
                items.push(inner);
                Value::array_of(items, from.origin())
            }
        })
    })
}

/// The greatest index that an answer to a dotted key is wrapped at.
const MAX_INDEX: usize = 1 << 20;
