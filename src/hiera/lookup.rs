//! The lookup of a key in a scope, through levels and layers: its effective value, and the record
//! of the steps to it.
//!
//! Source of the algorithm: semantics 0.2. Three loops (locations, levels, layers) fold with one
//! strategy; every value found is interpolated before it is merged; subkeys are dug out of the
//! merged value.

mod answer;
mod called;
mod decryption;
mod explained;
mod hiera3;
mod location;
mod open;
mod options;
mod ready;
mod search;
mod tokens;
mod trace;
mod unreached;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use ready::Levels;
use trace::{OpenCauses, Trace};

use super::backends::Backends;
use super::config::{HieraConfig, Layer};
use super::error::{LookupError, LookupErrorKind, LookupFrame, OptionsError};
use super::explain::Kind;
use super::eyaml::Decryptor;
use super::key::{KeySegment, LookupKey};
use super::lookup_options::{LookupOptions, OptionsEntry, OptionsFiles};
use super::merge::Strategy;
use super::resolution::{MergeSource, Resolution, Unapplied, UnsettledLevel};
use super::scope::Scope;
use super::sources::{ModuleLayer, Sources};
use crate::puppet::PuppetVersion;
use crate::puppet::convert::{Conversion, ConvertTo, convert};
use crate::puppet::value::{Secrecy, Value};
use crate::text::work::{Work, count_work};
use crate::text::{Budget, CancelToken, Limit, Span};

/// All that a lookup depends on.
#[derive(Clone)]
pub struct Context<'a> {
    /// The files.
    pub sources: &'a dyn Sources,
    /// The global layer's config.
    pub global: Option<Arc<HieraConfig>>,
    /// The environment's config.
    pub environment: Option<Arc<HieraConfig>>,
    /// The variables.
    pub scope: &'a Scope,
    /// The version of Puppet to agree with.
    pub puppet: PuppetVersion,
    /// The decryptor of values of `eyaml_lookup_key`; `None` leaves them as they are.
    pub decryptor: Option<&'a dyn Decryptor>,
    /// Calls the functions of levels that hiera-ls cannot evaluate itself; `None` leaves these
    /// levels open.
    pub backends: Option<&'a dyn Backends>,
    /// Whether lookups use the readable parts of broken files, as for editors; Puppet fails every
    /// lookup for a broken file.
    pub tolerant: bool,
    /// Whether Puppet is known to accept each file that the levels can read: lookups do not read the
    /// files without the key, which could do nothing but fail them.
    pub are_files_accepted: bool,
    /// Cancels lookups.
    pub cancel: &'a CancelToken,
}

/// The key under which data configures lookups.
pub const LOOKUP_OPTIONS: &str = "lookup_options";

/// The stack of a thread that looks up, in bytes: values may nest and so may lookups, and the
/// default of a thread is for neither.
pub const STACK: usize = 16 << 20;
/// How deep lookups may nest. Ruby's stack ends at some hundreds, too.
const MAX_DEPTH: usize = 200;

type Located = Rc<Result<LayerLevels, LookupError>>;
type Options = Arc<Result<LookupOptions, LookupError>>;

/// A [`LocatedLayer`](super::hierarchy::LocatedLayer) as lookups go through it.
#[derive(Default)]
struct LayerLevels {
    takes_part: bool,
    hierarchy: Levels,
    default_hierarchy: Levels,
}

impl LayerLevels {
    fn with_other_data(&self) -> LayerLevels {
        LayerLevels {
            takes_part: self.takes_part,
            hierarchy: Levels::new(self.hierarchy.located.clone()),
            default_hierarchy: Levels::new(self.default_hierarchy.located.clone()),
        }
    }
}

/// Answers lookups in one context. The lookups share a cache.
pub struct Resolver<'a> {
    ctx: Context<'a>,
    cache: Rc<LookupCache>,
    /// Whether resolutions list the locations below the one that answered.
    lists_unreached: bool,
}

/// The data that lookups in one context share: located levels and assembled options. A caller may
/// keep the cache for a later [`Resolver`] of the same sources, configs, scope and tolerance.
#[derive(Default)]
pub struct LookupCache {
    located: RefCell<HashMap<Layer, Located>>,
    options: RefCell<HashMap<OptionsOf, Options>>,
    /// Whether tokens decide some options, which are then those of the scope alone.
    has_live_options: Cell<bool>,
    /// The files of each layer that the options come from.
    options_files: RefCell<HashMap<Layer, Option<OptionsFiles>>>,
    /// The options of the global layer, then those of the global layer and the environment
    /// together.
    global_options: RefCell<Option<Option<Value>>>,
    shared_options: RefCell<Option<Option<Value>>>,
    /// The levels whose files were asked for options and could not be read.
    unread_options: RefCell<Vec<UnsettledLevel>>,
    /// The options of each module's default hierarchy.
    default_options: RefCell<HashMap<Arc<str>, Rc<LookupOptions>>>,
    /// The answers of functions that were called.
    called: RefCell<called::CalledFunctions>,
}

impl LookupCache {
    /// Returns a cache with the levels that are located in this one, for an equal context whose files
    /// exist as in this one and have other data.
    pub fn with_other_data(&self) -> LookupCache {
        let located = self.located.borrow();
        LookupCache {
            located: RefCell::new(
                located
                    .iter()
                    .map(|(layer, located): (&Layer, &Located)| {
                        let levels = (**located).as_ref().map(LayerLevels::with_other_data);
                        (layer.clone(), Rc::new(levels.map_err(LookupError::clone)))
                    })
                    .collect(),
            ),
            ..LookupCache::default()
        }
    }
}

/// The source of the options that are meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct OptionsOf {
    /// The options for keys of this module; `None` for keys of none.
    module: Option<Arc<str>>,
    /// Whether only the options of the global layer are meant.
    global_only: bool,
}

/// One request: the lookups in progress, and the records of it.
#[derive(Default)]
struct Invocation {
    stack: Vec<LookupFrame>,
    /// Whether tokens are recorded but not followed: each nested lookup returns an empty string.
    is_shallow: bool,
    /// The budget that is left to the request.
    budget: Rc<Budget>,
    /// The marks of all values that the request has read so far: an error may quote any of them.
    met: Secrecy,
    unapplied_conversions: Vec<Unapplied>,
    /// The layer whose data is being read.
    reading: TokenRules,
    /// The module of the key that was asked for.
    module: Option<Arc<str>>,
    /// The merge strategy of the global layer's search, for backends of Hiera 3.
    merge: Strategy,
    /// The sources that a function had the global layer look into first: texts.
    order_override: Arc<[Value]>,
    /// The results of nested lookups: a key that is asked for twice is looked up once.
    known: HashMap<(TokenRules, Arc<str>), Known>,
    /// The texts of all frames so far, in the order in which they were entered.
    entered: Vec<Arc<str>>,
    /// The records beside the answer.
    trace: Trace,
}

/// The rules for the tokens in the data of the layer that is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct TokenRules {
    /// Variables are those of Hiera 3: the global layer's config is of version 3.
    is_classic: bool,
    /// Nested lookups see the global layer only: besides, the environment has no config of version
    /// 5. Source: semantics 1.10.
    is_confined: bool,
}

/// The result of a nested lookup, and the frames that were entered for it: with one of them in
/// progress it would be a recursion.
struct Known {
    value: Option<Value>,
    entered: HashSet<Arc<str>>,
}

/// The merge strategy and the conversion for a key, from `lookup_options` unless the caller chose
/// the strategy.
struct Choice {
    /// The strategy; one that is none is an error once the search begins.
    merge: Result<Strategy, OptionsError>,
    merge_source: MergeSource,
    /// An entry that is none is an error only where a value was found.
    convert_to: Result<Option<ConvertTo>, OptionsError>,
}

impl Invocation {
    fn new(trace: Trace) -> Invocation {
        Invocation { trace, ..Invocation::default() }
    }

    /// Takes a lookup for another one from the budget.
    fn pay_nested_lookup(&self, asked_by: Option<Span>) -> Result<(), LookupError> {
        let is_too_deep = self.stack.len() > MAX_DEPTH;
        let limit = Limit::NestedLookups(MAX_DEPTH);
        let paid = if is_too_deep { Err(limit) } else { self.budget.lookup() };
        paid.map_err(|limit| LookupError::limit_reached(limit, asked_by))
    }

    /// Notes the marks of a value: from now on an error may quote it.
    fn note_secrecy(&mut self, marks: Secrecy) {
        self.met = self.met.union(marks);
    }

    /// Returns the error, with its message withheld if it may quote a secret that this request has
    /// read.
    fn guard_error(&self, error: LookupError) -> LookupError {
        if error.kind.may_quote_values() { error.into_secret(self.met) } else { error }
    }

    fn for_key(key: &LookupKey) -> Invocation {
        Invocation { module: key.module_name().map(Into::into), ..Invocation::default() }
    }
}

impl Choice {
    /// Returns whether the key's value must not be shown before it is converted.
    fn is_secret(&self) -> bool {
        matches!(&self.convert_to, Ok(Some(convert_to)) if convert_to.may_make_sensitive())
    }
}

impl Default for Choice {
    fn default() -> Choice {
        Choice {
            merge: Ok(Strategy::First),
            merge_source: MergeSource::Default,
            convert_to: Ok(None),
        }
    }
}

impl LookupCache {
    /// Returns a cache with the same options and without located levels.
    fn clone_options(&self) -> LookupCache {
        LookupCache {
            options: self.options.clone(),
            has_live_options: self.has_live_options.clone(),
            global_options: self.global_options.clone(),
            shared_options: self.shared_options.clone(),
            default_options: self.default_options.clone(),
            unread_options: self.unread_options.clone(),
            ..LookupCache::default()
        }
    }
}

impl<'a> Resolver<'a> {
    /// Returns a resolver for this context.
    pub fn new(ctx: Context<'a>) -> Resolver<'a> {
        Resolver::resume(ctx, Rc::default())
    }

    /// Returns a resolver that goes on with the cache of an earlier one of an equal context.
    pub fn resume(ctx: Context<'a>, cache: Rc<LookupCache>) -> Resolver<'a> {
        Resolver { ctx, cache, lists_unreached: true }
    }

    /// Returns the resolver for callers that need no steps below the location that answered: its
    /// resolutions end with that one.
    pub fn without_unreached(self) -> Resolver<'a> {
        Resolver { lists_unreached: false, ..self }
    }

    /// Returns the context.
    pub fn context(&self) -> &Context<'a> {
        &self.ctx
    }

    /// Looks up the effective value of a key, and records the steps.
    pub fn lookup(&self, key: &LookupKey, merge: Option<&Strategy>) -> Resolution {
        self.lookup_with(Invocation::for_key(key), key, merge)
    }

    /// Looks a key up without following tokens: the resolution lists the files with the key, and
    /// the keys that its tokens name (`LookupReads::keys`), except for tokens of secret values. The cost
    /// depends on the key's own values only, not on those of the keys that its tokens name.
    pub fn lookup_shallowly(&self, key: &LookupKey) -> Resolution {
        self.lookup_with(Invocation { is_shallow: true, ..Invocation::for_key(key) }, key, None)
    }

    fn lookup_with(
        &self,
        inv: Invocation,
        key: &LookupKey,
        merge: Option<&Strategy>,
    ) -> Resolution {
        let mut inv = Invocation { trace: Trace::of_steps(), ..inv };
        let chosen = self.choose_strategy(&mut inv, key, merge);
        let mut lacks_options = chosen.is_err();
        let (choice, value) = match chosen {
            Ok(choice) => {
                let value = self.find_chosen(&mut inv, key, &choice, None);
                (choice, value)
            }
            Err(error) => (Choice::default(), Err(error)),
        };
        lacks_options |= choice.convert_to.is_err();
        let mut steps = inv.trace.steps.take().unwrap_or_default();
        let OpenCauses { files, levels } = inv.trace.take_causes();
        let reached = steps.len();
        // Of the files that unknown variables decide, those that are read anyway are left out.
        if self.lists_unreached || !files.is_empty() {
            self.add_unreached(&inv, key, &mut steps);
        }
        let unsettled = trace::without_repeats(files, &steps);
        if !self.lists_unreached {
            steps.truncate(reached);
        }
        let found = value.as_ref().ok().and_then(Option::as_ref);
        let mut unsettled_levels = trace::relevant_levels(levels, found, &unsettled);
        unsettled_levels.extend(self.unread_options_of(key));
        let Choice { merge, merge_source, convert_to } = choice;
        let (merge, convert_to) = (merge.unwrap_or_default(), convert_to.unwrap_or_default());
        Resolution {
            key: key.clone(),
            value,
            merge,
            merge_source,
            convert_to,
            lacks_options,
            unapplied_conversions: inv.unapplied_conversions,
            steps,
            unsettled,
            unsettled_levels,
            reads: inv.trace.reads.unwrap_or_default(),
        }
    }

    /// Returns the strategy that `lookup_options` choose for a key.
    pub fn strategy_of_key(&self, key: &LookupKey) -> Result<Strategy, LookupError> {
        Ok(self.choose_strategy(&mut Invocation::for_key(key), key, None)?.merge?)
    }

    /// Returns the entry of `lookup_options` that serves a key; an error if no options can be
    /// assembled, or if their patterns need too many steps.
    pub fn options_entry(&self, key: &LookupKey) -> Result<Option<OptionsEntry>, LookupError> {
        let KeySegment::Name(root) = &key.root else { return Ok(None) };
        let mut inv = Invocation::for_key(key);
        let options = self.module_options(&mut inv, key.module_name())?;
        Result::as_ref(&options).map_err(Clone::clone)?.find_entry(root, &inv.budget)
    }

    /// Returns whether some module could define a type of this name: an alias in the module that
    /// the name begins with, or by code in any.
    fn may_define(&self, name: &str) -> bool {
        let module = name.split(['[', ':']).next().unwrap_or_default().to_lowercase();
        !name.contains("::")
            || !matches!(self.ctx.sources.module_layer(&module), ModuleLayer::NotFound)
    }

    /// Fails once the lookup is cancelled.
    fn check_cancelled(&self) -> Result<(), LookupError> {
        if self.ctx.cancel.is_cancelled() {
            return Err(LookupError::new(LookupErrorKind::Cancelled, None));
        }
        Ok(())
    }

    /// Looks up the key that a token in `asked_by` asks for.
    fn find(
        &self,
        inv: &mut Invocation,
        key: &LookupKey,
        asked_by: Option<Span>,
    ) -> Result<Option<Value>, LookupError> {
        if inv.is_shallow {
            return Ok(Some(Value::from("")));
        }
        inv.pay_nested_lookup(asked_by)?;
        let question = (inv.reading, key.text.clone());
        if inv.trace.explainer.is_none()
            && let Some(known) = inv.known.get(&question)
            && !inv.stack.iter().any(|frame| known.entered.contains(&frame.text))
        {
            inv.entered.extend(known.entered.iter().cloned());
            return Ok(known.value.clone());
        }
        if let Some(given) = self.ctx.scope.override_of(&key.text) {
            return Ok(Some(given.clone()));
        }
        let entered_before = inv.entered.len();
        let choice = self.choose_strategy(inv, key, None)?;
        let found = inv.nest(|inv| self.find_chosen(inv, key, &choice, asked_by));
        let value = found?.or_else(|| self.ctx.scope.default_of(&key.text).cloned());
        let entered = inv.entered[entered_before..].iter().cloned().collect();
        inv.known.insert(question, Known { value: value.clone(), entered });
        Ok(value)
    }

    /// Returns the value of a key, merged and converted according to `choice`. An error quotes no
    /// decrypted text.
    fn find_chosen(
        &self,
        inv: &mut Invocation,
        key: &LookupKey,
        choice: &Choice,
        asked_by: Option<Span>,
    ) -> Result<Option<Value>, LookupError> {
        let found = self.find_unguarded(inv, key, choice, asked_by);
        found.map_err(|error| inv.guard_error(error))
    }

    fn find_unguarded(
        &self,
        inv: &mut Invocation,
        key: &LookupKey,
        choice: &Choice,
        asked_by: Option<Span>,
    ) -> Result<Option<Value>, LookupError> {
        if is_reserved(&key.text) {
            inv.record_part(|| Kind::InvalidKey, |_| {});
            return Ok(None);
        }
        count_work(Work::Lookup);
        let secret = choice.is_secret();
        let found = inv.record_part(
            || Kind::Lookup { key: key.text.clone(), secret },
            |inv| self.search(inv, key, choice, asked_by),
        );
        let found = found.map_err(|error| {
            if secret && error.kind.may_quote_data() {
                error.into_secret(Secrecy::SENSITIVE)
            } else {
                error
            }
        })?;
        // Puppet reads the conversion after it found a value, and then fails over an entry that is
        // no hash.
        let Some(found) = found else { return Ok(None) };
        match choice.convert_to.as_ref().map_err(Clone::clone)? {
            Some(convert_to) => self.convert_found(inv, key, convert_to, found),
            None => Ok(Some(found)),
        }
    }

    /// Returns the value that was found, as `convert_to` makes it.
    fn convert_found(
        &self,
        inv: &mut Invocation,
        key: &LookupKey,
        convert_to: &ConvertTo,
        found: Value,
    ) -> Result<Option<Value>, LookupError> {
        let parts = u64::from(found.weight());
        inv.budget
            .pay_parts(parts)
            .map_err(|limit| LookupError::limit_reached(limit, convert_to.span))?;
        match convert(found, convert_to, |name| self.may_define(name)) {
            Conversion::Done(value) => {
                inv.explain_conversion(convert_to);
                inv.note_secrecy(value.secrecy_of_parts());
                Ok(Some(value))
            }
            Conversion::NotApplied(value) => {
                inv.explain_conversion(convert_to);
                inv.note_secrecy(value.secrecy_of_parts());
                let unapplied =
                    Unapplied { key: key.text.clone(), to: convert_to.type_text().to_owned() };
                if !inv.unapplied_conversions.contains(&unapplied) {
                    inv.unapplied_conversions.push(unapplied);
                }
                Ok(Some(value))
            }
            Conversion::NoType(reason) => {
                let text = convert_to.written();
                let message = format!(
                    "Invalid data type in lookup_options for key '{key}' could not parse '{text}', error: '{reason}"
                );
                Err(LookupError::new(LookupErrorKind::Conversion(message), convert_to.span))
            }
            Conversion::Failed(message) => {
                let message =
                    format!("The convert_to lookup_option for key '{key}' raised error: {message}");
                let error = LookupError::new(LookupErrorKind::Conversion(message), convert_to.span);
                Err(error.into_secret(convert_to.secrecy_of_values()))
            }
        }
    }
}

/// Returns the layers that are asked for a key, highest priority first.
pub fn layers_of(key: &LookupKey) -> Vec<Layer> {
    let mut layers = vec![Layer::Global, Layer::Environment];
    layers.extend(key.module_name().map(|module| Layer::Module(module.into())));
    layers
}

/// Returns the key that a text names; Puppet's error where it names none.
pub fn parse_key(key: &str) -> Result<LookupKey, LookupError> {
    LookupKey::parse(key)
        .map_err(|_| LookupError::new(LookupErrorKind::KeySyntax(key.to_owned()), None))
}

/// Returns whether a name asks for the options themselves, which are never found.
pub(super) fn is_reserved(name: &str) -> bool {
    name.strip_prefix(LOOKUP_OPTIONS).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Runs `inner` with `frame` among the lookups in progress; an error when it is there already.
fn enter_frame<T>(
    inv: &mut Invocation,
    frame: LookupFrame,
    inner: impl FnOnce(&mut Invocation) -> Result<T, LookupError>,
) -> Result<T, LookupError> {
    if !inv.is_shallow && inv.stack.iter().any(|known| known.text == frame.text) {
        let (span, frames) = (frame.asked_by, inv.stack.clone());
        return Err(LookupError::new(LookupErrorKind::Recursion { frames, again: frame }, span));
    }
    inv.entered.push(frame.text.clone());
    inv.stack.push(frame);
    let result = inner(inv);
    inv.stack.pop();
    result.map_err(LookupError::leave_recursion)
}
