//! The lookup: a key in a scope, through levels and layers, to its effective value and the story of how it came about.
//!
//! Source of the algorithm: semantics 0.2. Three loops (locations, levels, layers) fold with one strategy; every value
//! found is interpolated before it is merged; subkeys are dug out of the merged value.

mod tokens;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::config::{BackendKind, ConfigProblemKind, HieraConfig, Layer, Level, Reader};
use super::convert::{Conversion, convert};
use super::data::{DataFile, ProblemKind};
use super::dig::dig;
use super::error::{Frame, LookupError, LookupErrorKind};
use super::hierarchy::{CandidateFile, LocatedLevel, Location, Place, locate};
use super::key::{LookupKey, Segment};
use super::lookup_options::{ConvertTo, LookupOptions, OptionsEntry, OptionsError, check_layer_options};
use super::merge::{Strategy, fold};
use super::resolution::{MergeSource, Outcome, Reads, Resolution, Step, Unsettled};
use super::scope::Scope;
use super::sources::{ModuleLayer, Sources};
use super::value::{Data, Member, Value};
use crate::text::{FilePath, Span};

/// Which Puppet to agree with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The major version: 7, 8, or 9 for OpenVox 9.
    pub version: u8,
    /// Puppet's setting `strict`.
    pub strict: Strict,
}

/// The values of Puppet's setting `strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strict {
    /// Say nothing.
    Off,
    /// An undefined variable is an empty text.
    Warning,
    /// An undefined variable makes the lookup fail.
    Error,
}

impl Profile {
    /// The profile of a version with its own default of `strict`.
    pub fn of_version(version: u8) -> Profile {
        Profile { version, strict: if version >= 8 { Strict::Error } else { Strict::Warning } }
    }
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::of_version(8)
    }
}

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
    /// Which Puppet to agree with.
    pub profile: Profile,
    /// Whether to go on with what can be read of broken files, as an editor wants; Puppet fails every lookup for one.
    pub tolerant: bool,
}

/// The key under which data configures lookups.
pub const LOOKUP_OPTIONS: &str = "lookup_options";

/// How deep lookups may nest. Ruby's stack ends at some hundreds, too.
const MAX_DEPTH: usize = 200;
/// How many lookups one lookup may need, and how long a text it may make.
const MAX_LOOKUPS: u32 = 50_000;
const MAX_TEXT: usize = 16 << 20;

type Located = Rc<Result<LayerLevels, LookupError>>;
type Options = Rc<Result<LookupOptions, LookupError>>;

/// The levels of a layer, located.
#[derive(Default)]
struct LayerLevels {
    hierarchy: Vec<LocatedLevel>,
    /// A module's levels of last resort.
    default_hierarchy: Vec<LocatedLevel>,
}

/// Answers lookups in one context, and remembers what they have in common: located levels and assembled options.
pub struct Resolver<'a> {
    ctx: Context<'a>,
    located: RefCell<HashMap<Layer, Located>>,
    /// By module; `None` for keys of none.
    options: RefCell<HashMap<Option<Arc<str>>, Options>>,
}

/// One request: the lookups in progress, and what is recorded of it.
#[derive(Default)]
struct Invocation {
    stack: Vec<Frame>,
    /// The steps of the key that was asked for; `None` while others are looked up for it.
    steps: Option<Vec<Step>>,
    /// Whether the caller wants to know what could change the answer.
    tells_story: bool,
    unsettled: Vec<Unsettled>,
    reads: Reads,
    lookups: u32,
    unapplied_conversion: Option<String>,
    /// What nested lookups found: a key that is asked for twice is looked up once.
    known: HashMap<Arc<str>, Known>,
    /// The texts of all frames so far, in the order in which they were entered.
    entered: Vec<Arc<str>>,
}

/// What a nested lookup found, and the frames that were entered for it: with one of them in progress it would be a recursion.
struct Known {
    value: Option<Value>,
    entered: HashSet<Arc<str>>,
}

/// What `lookup_options` say about a key.
struct Choice {
    merge: Strategy,
    merge_source: MergeSource,
    /// An entry that is none is an error only where a value was found.
    convert_to: Result<Option<ConvertTo>, OptionsError>,
}

impl Default for Choice {
    fn default() -> Choice {
        Choice { merge: Strategy::First, merge_source: MergeSource::Default, convert_to: Ok(None) }
    }
}

impl<'a> Resolver<'a> {
    /// A resolver for this context.
    pub fn new(ctx: Context<'a>) -> Resolver<'a> {
        Resolver { ctx, located: RefCell::default(), options: RefCell::default() }
    }

    /// The context.
    pub fn context(&self) -> &Context<'a> {
        &self.ctx
    }

    /// The effective value of a key and nothing else: the fast way.
    ///
    /// `merge` overrides what `lookup_options` say; `Ok(None)` means that nothing was found.
    pub fn value(&self, key: &str, merge: Option<&Strategy>) -> Result<Option<Value>, LookupError> {
        Ok(self.value_and_unapplied(&parse_key(key)?, merge)?.0)
    }

    /// The same, with the type of a conversion that was left out.
    pub(super) fn value_and_unapplied(
        &self,
        key: &LookupKey,
        merge: Option<&Strategy>,
    ) -> Result<(Option<Value>, Option<String>), LookupError> {
        let mut inv = Invocation::default();
        let choice = self.choose(&mut inv, key, merge)?;
        let value = self.find_chosen(&mut inv, key, &choice, None)?;
        Ok((value, inv.unapplied_conversion))
    }

    /// The effective value of a key with its story.
    pub fn lookup(&self, key: &LookupKey, merge: Option<&Strategy>) -> Resolution {
        let mut inv = Invocation { steps: Some(Vec::new()), tells_story: true, ..Invocation::default() };
        let (choice, value) = match self.choose(&mut inv, key, merge) {
            Ok(choice) => {
                let value = self.find_chosen(&mut inv, key, &choice, None);
                (choice, value)
            }
            Err(error) => (Choice::default(), Err(error)),
        };
        let Invocation { steps, unsettled, reads, unapplied_conversion, .. } = inv;
        let mut steps = steps.unwrap_or_default();
        self.add_unreached(key, &mut steps);
        let unsettled = without_repeats(unsettled, &steps);
        let Choice { merge, merge_source, convert_to } = choice;
        let convert_to = convert_to.unwrap_or_default();
        Resolution { key: key.clone(), value, merge, merge_source, convert_to, unapplied_conversion, steps, unsettled, reads }
    }

    /// The strategy that `lookup_options` choose for a key.
    pub fn strategy(&self, key: &LookupKey) -> Result<Strategy, LookupError> {
        Ok(self.choose(&mut Invocation::default(), key, None)?.merge)
    }

    /// The entry of `lookup_options` that serves a key.
    pub fn options_entry(&self, key: &LookupKey) -> Option<OptionsEntry> {
        let Segment::Name(root) = &key.root else { return None };
        let options = self.options(&mut Invocation::default(), key.module()).ok()?;
        Result::as_ref(&options).ok()?.entry(root)
    }

    /// Every level of the layers that may hold `key`, located in the scope; the layers in order of priority.
    pub fn levels(&self, key: &LookupKey) -> Result<Vec<(Layer, Vec<LocatedLevel>)>, LookupError> {
        let mut all = Vec::new();
        for layer in layers_of(key) {
            let located = self.located(&layer);
            all.push((layer, Result::as_ref(&located).map_err(Clone::clone)?.hierarchy.clone()));
        }
        Ok(all)
    }

    fn choose(&self, inv: &mut Invocation, key: &LookupKey, merge: Option<&Strategy>) -> Result<Choice, LookupError> {
        let mut choice = Choice::default();
        if is_reserved(&key.text) {
            return Ok(choice);
        }
        let Segment::Name(root) = &key.root else {
            return Err(LookupError::crash(format!("undefined method `index' for {}:Integer", key.root)));
        };
        let options = self.options(inv, key.module())?;
        if let Some(entry) = Result::as_ref(&options).map_err(Clone::clone)?.entry(root) {
            choice.convert_to = entry.convert_to();
            if merge.is_none()
                && let Some(strategy) = entry.merge()?
            {
                choice.merge = strategy;
                choice.merge_source = MergeSource::Options(entry);
            }
        }
        if let Some(strategy) = merge {
            choice.merge = strategy.clone();
            choice.merge_source = MergeSource::Argument;
        }
        Ok(choice)
    }

    /// A nested lookup: what a token in `asked_by` asks for.
    fn find(&self, inv: &mut Invocation, key: &LookupKey, asked_by: Option<Span>) -> Result<Option<Value>, LookupError> {
        inv.lookups += 1;
        if inv.stack.len() > MAX_DEPTH || inv.lookups > MAX_LOOKUPS {
            return Err(LookupError::new(LookupErrorKind::Exhausted, asked_by));
        }
        if let Some(known) = inv.known.get(&key.text)
            && !inv.stack.iter().any(|frame| known.entered.contains(frame.text.as_str()))
        {
            inv.entered.extend(known.entered.iter().cloned());
            return Ok(known.value.clone());
        }
        if let Some(given) = self.ctx.scope.override_of(&key.text) {
            return Ok(Some(given.clone()));
        }
        let entered_before = inv.entered.len();
        let choice = self.choose(inv, key, None)?;
        let recording = inv.steps.take();
        let found = self.find_chosen(inv, key, &choice, asked_by);
        inv.steps = recording;
        let value = found?.or_else(|| self.ctx.scope.default_of(&key.text).cloned());
        let entered = inv.entered[entered_before..].iter().cloned().collect();
        inv.known.insert(key.text.clone(), Known { value: value.clone(), entered });
        Ok(value)
    }

    fn find_chosen(
        &self,
        inv: &mut Invocation,
        key: &LookupKey,
        choice: &Choice,
        asked_by: Option<Span>,
    ) -> Result<Option<Value>, LookupError> {
        if is_reserved(&key.text) {
            return Ok(None);
        }
        let root = key.root_text();
        let frame = Frame { text: key.text.to_string(), asked_by };
        let layers = layers_of(key);
        // The layers are always three to Puppet, whether or not a module is asked.
        let found = fold::<LookupError>(&choice.merge, 3, &mut |n| match layers.get(n) {
            Some(layer) => self.search_layer(inv, layer, &root, &frame, &choice.merge),
            None => Ok(None),
        })?;
        let mut value = match found {
            Some(value) => dig(&value, key)?,
            None => None,
        };
        if value.is_none()
            && let Some(found) = self.search_default_hierarchy(inv, key, &root, &frame)?
        {
            value = dig(&found, key)?;
        }
        let Some(found) = value else { return Ok(None) };
        let Some(convert_to) = choice.convert_to.as_ref().map_err(Clone::clone)? else { return Ok(Some(found)) };
        match convert(found, convert_to) {
            Conversion::Done(value) => Ok(Some(value)),
            Conversion::NotApplied(value) => {
                inv.unapplied_conversion = Some(convert_to.type_text.clone());
                Ok(Some(value))
            }
            Conversion::NoType(reason) => {
                let text = &convert_to.type_text;
                let message =
                    format!("Invalid data type in lookup_options for key '{key}' could not parse '{text}', error: '{reason}");
                Err(LookupError::new(LookupErrorKind::Conversion(message), convert_to.span))
            }
            Conversion::Failed(message) => {
                let message = format!("The convert_to lookup_option for key '{key}' raised error: {message}");
                Err(LookupError::new(LookupErrorKind::Conversion(message), convert_to.span))
            }
        }
    }

    fn search_layer(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        root: &str,
        frame: &Frame,
        merge: &Strategy,
    ) -> Result<Option<Value>, LookupError> {
        let found = enter(inv, frame.clone(), |inv| {
            let located = self.located(layer);
            let levels = Result::as_ref(&located).map_err(Clone::clone)?;
            self.search_levels(inv, layer, &levels.hierarchy, root, merge)
        });
        match layer {
            // Without a config the layer has nothing to say, and still checks for recursion.
            Layer::Global => found.map_err(|error| error.passed_on_for(&frame.text)),
            _ => found,
        }
    }

    fn search_levels(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        levels: &[LocatedLevel],
        root: &str,
        merge: &Strategy,
    ) -> Result<Option<Value>, LookupError> {
        fold::<LookupError>(merge, levels.len(), &mut |n| {
            let located = &levels[n];
            // A glob that names nothing is no location to Puppet; it is one to the story.
            let (real, empty): (Vec<&Location>, Vec<&Location>) =
                located.locations.iter().partition(|location| !matches!(location.place, Place::NoMatch { .. }));
            for location in empty {
                self.search_location(inv, layer, located, location, root)?;
            }
            fold::<LookupError>(merge, real.len(), &mut |n| self.search_location(inv, layer, located, real[n], root))
        })
    }

    fn search_location(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        located: &LocatedLevel,
        location: &Location,
        root: &str,
    ) -> Result<Option<Value>, LookupError> {
        let result = self.ask(inv, layer, located, location, root);
        let outcome = match &result {
            Ok(outcome) => outcome.clone(),
            Err(_) => match &location.place {
                Place::File { path, .. } => Outcome::Failed(path.clone()),
                _ => Outcome::Opaque(located.level.backend.clone()),
            },
        };
        if let Some(steps) = &mut inv.steps {
            steps.push(Step { layer: layer.clone(), level: located.level.clone(), template: location.template.clone(), outcome });
        }
        Ok(match result? {
            Outcome::Found { value, .. } => Some(value),
            _ => None,
        })
    }

    fn ask(
        &self,
        inv: &mut Invocation,
        layer: &Layer,
        located: &LocatedLevel,
        location: &Location,
        root: &str,
    ) -> Result<Outcome, LookupError> {
        let level = &located.level;
        if !self.ctx.tolerant
            && !matches!(location.place, Place::File { exists: false, .. } | Place::NoMatch { .. })
            && let Some(message) = level.call_error()
        {
            return Err(LookupError::crash(message));
        }
        let path = match &location.place {
            Place::File { path, exists: true } => path,
            Place::File { path, exists: false } => return Ok(Outcome::NoSuchFile(path.to_string())),
            Place::NoMatch { pattern } => return Ok(Outcome::NoSuchFile(pattern.clone())),
            Place::Undetermined(undetermined) => {
                let candidates: Vec<Unsettled> = match level.backend.reader() {
                    Some(reader) if inv.tells_story && root != LOOKUP_OPTIONS => {
                        let candidates = undetermined.candidates(self.ctx.sources);
                        candidates.iter().filter_map(|candidate| self.defines(candidate, root, reader)).collect()
                    }
                    _ => Vec::new(),
                };
                inv.unsettled.extend(candidates.iter().cloned());
                return Ok(Outcome::Undetermined { variables: undetermined.variables.clone(), candidates });
            }
            Place::Uri(_) | Place::Nowhere => {
                inv.reads.opaque.insert(level.backend.name.to_string());
                return Ok(Outcome::Opaque(level.backend.clone()));
            }
        };
        let Some(reader) = level.backend.reader() else {
            inv.reads.opaque.insert(level.backend.name.to_string());
            return Ok(Outcome::Opaque(level.backend.clone()));
        };
        if root.is_empty() && reader == Reader::Eyaml {
            let message = "'eyaml_lookup_key' parameter 'key' expects a String[1] value, got String";
            return Err(LookupError::crash(message.into()));
        }
        let Some(data) = self.ctx.sources.data(path, reader) else {
            return match self.ctx.sources.is_folder(path) && !self.ctx.tolerant {
                true => Err(LookupError::crash(format!("Is a directory @ io_fread - {path}"))),
                false => Ok(Outcome::NoSuchFile(path.to_string())),
            };
        };
        self.check_file(path, reader, &data)?;
        if !self.ctx.tolerant && data.is_no_hash() {
            return Ok(Outcome::NoSuchKey(path.clone()));
        }
        let Some(member) = self.member(&data, layer, level, root)? else { return Ok(Outcome::NoSuchKey(path.clone())) };
        let is_illegal = |value: &Value| !value.is_legal() && !self.ctx.tolerant;
        let illegal = || {
            let kind = LookupErrorKind::IllegalValue { key: root.to_owned(), path: path.clone(), backend: level.backend.clone() };
            Err(LookupError::new(kind, member.value.origin))
        };
        // A data_hash function returns values with tokens, a lookup_key function replaces them itself.
        if level.backend.kind == BackendKind::DataHash && is_illegal(&member.value) {
            return illegal();
        }
        let value = self.interpolate(inv, &member.value)?;
        if level.backend.kind == BackendKind::LookupKey && is_illegal(&value) {
            return illegal();
        }
        Ok(Outcome::Found { path: path.clone(), key: member.key_origin, value })
    }

    fn defines(&self, candidate: &CandidateFile, root: &str, reader: Reader) -> Option<Unsettled> {
        if !self.ctx.scope.allows(&candidate.when) {
            return None;
        }
        let data = self.ctx.sources.data(&candidate.path, reader)?;
        let member = data.roots.get(root)?;
        Some(Unsettled { key: root.into(), path: candidate.path.clone(), span: member.key_origin, when: candidate.when.clone() })
    }

    /// Fails as Puppet does for a file that it cannot use, unless this is for an editor.
    fn check_file(&self, path: &FilePath, reader: Reader, data: &DataFile) -> Result<(), LookupError> {
        if self.ctx.tolerant {
            return Ok(());
        }
        let error = |message: String| Err(LookupError::new(LookupErrorKind::File { path: path.clone(), message }, None));
        if let Some(message) = &data.refused {
            // Puppet names the file only for what YAML's own reader says.
            let nameless = message.starts_with("Unknown alias") || message.starts_with("invalid value for ");
            let place = if nameless { String::new() } else { format!("({path}): ") };
            return error(format!("Unable to parse {place}{message}"));
        }
        for problem in &data.problems {
            let ProblemKind::NotAHash { found, empty } = &problem.kind else { continue };
            if reader == Reader::Json {
                return error(format!(
                    "Value returned from data_hash function 'json_data', when using location '{path}', has wrong type, expects a Hash value, got {found}"
                ));
            }
            if !empty && self.ctx.profile.version >= 8 {
                return error(format!("{path}: file does not contain a valid yaml hash"));
            }
        }
        Ok(())
    }

    /// The root key's entry in a file. In a module, keys outside its namespace do not count; semantics 2.3.
    fn member<'d>(
        &self,
        data: &'d DataFile,
        layer: &Layer,
        level: &Level,
        root: &str,
    ) -> Result<Option<&'d Member>, LookupError> {
        if let (Layer::Module(module), BackendKind::DataHash) = (layer, level.backend.kind) {
            if !self.ctx.tolerant
                && let Some(key) = data.roots.keys().find(|key| key.as_str().is_none())
            {
                let class = Value::new(key.0.clone(), None).class_name();
                return Err(LookupError::crash(format!("undefined method `start_with?' for {}:{class}", key.to_text())));
            }
            let qualified = root.strip_prefix(&**module).is_some_and(|rest| rest.starts_with("::"));
            if root != LOOKUP_OPTIONS && !qualified {
                return Ok(None);
            }
        }
        Ok(data.roots.get(root))
    }

    fn search_default_hierarchy(
        &self,
        inv: &mut Invocation,
        key: &LookupKey,
        root: &str,
        frame: &Frame,
    ) -> Result<Option<Value>, LookupError> {
        let Some(module) = key.module() else { return Ok(None) };
        let layer = Layer::Module(module.into());
        let located = self.located(&layer);
        let levels = Result::as_ref(&located).map_err(Clone::clone)?.default_hierarchy.as_slice();
        if levels.is_empty() {
            return Ok(None);
        }
        let recording = inv.steps.take();
        let options_frame = Frame { text: LOOKUP_OPTIONS.into(), asked_by: None };
        let options = enter(inv, options_frame, |inv| self.search_levels(inv, &layer, levels, LOOKUP_OPTIONS, &Strategy::Hash));
        inv.steps = recording;
        let options = options?.filter(|options| !matches!(options.data, Data::Null));
        if let Some(options) = &options {
            check_layer_options(options, &layer)?;
        }
        // Only what the default hierarchy itself says about merging counts in it.
        let merge = match LookupOptions::new(options)?.entry(root) {
            Some(entry) => entry.merge()?.unwrap_or(Strategy::First),
            None => Strategy::First,
        };
        enter(inv, frame.clone(), |inv| self.search_levels(inv, &layer, levels, root, &merge))
    }

    fn located(&self, layer: &Layer) -> Located {
        if let Some(known) = self.located.borrow().get(layer) {
            return known.clone();
        }
        let located = Rc::new(self.locate(layer));
        self.located.borrow_mut().insert(layer.clone(), located.clone());
        located
    }

    /// Puppet locates all levels of a config when the first is needed, so an error in one hits the others.
    fn locate(&self, layer: &Layer) -> Result<LayerLevels, LookupError> {
        let config = match layer {
            Layer::Global => self.ctx.global.clone(),
            Layer::Environment => self.ctx.environment.clone(),
            Layer::Module(name) => match self.ctx.sources.module(name) {
                ModuleLayer::Config(config) => Some(config),
                ModuleLayer::NotFound | ModuleLayer::WithoutConfig => None,
            },
        };
        let Some(config) = config else { return Ok(LayerLevels::default()) };
        if let Some(message) = &config.refused
            && !self.ctx.tolerant
        {
            let kind = LookupErrorKind::File { path: config.path.clone(), message: format!("({}): {message}", config.path) };
            return Err(LookupError::new(kind, None));
        }
        if let Some(problem) = config.fatal()
            && !self.ctx.tolerant
        {
            // What is no hash counts as version 3. Puppet 7 passes over an old config where it may not stand.
            let is_old = match problem.kind {
                ConfigProblemKind::Unreadable => *layer != Layer::Global && config.refused.is_none(),
                ConfigProblemKind::Version => problem.message.contains("version 3 cannot"),
                _ => false,
            };
            if is_old && self.ctx.profile.strict != Strict::Error {
                return Ok(LayerLevels::default());
            }
            return Err(config.refusal(problem));
        }
        let located = |levels: &[Level]| locate(&config, levels, self.ctx.scope, self.ctx.sources);
        Ok(LayerLevels { hierarchy: located(&config.hierarchy)?, default_hierarchy: located(&config.default_hierarchy)? })
    }

    /// The options for keys of a module, or for keys of none. Source: semantics 7.1.
    fn options(&self, inv: &mut Invocation, module: Option<&str>) -> Result<Options, LookupError> {
        let module: Option<Arc<str>> = module.map(Into::into);
        if let Some(known) = self.options.borrow().get(&module) {
            return Ok(known.clone());
        }
        if let Some(first) = inv.stack.iter().position(|frame| frame.text == LOOKUP_OPTIONS) {
            let again = Frame { text: LOOKUP_OPTIONS.into(), asked_by: None };
            return Err(LookupError::new(LookupErrorKind::Recursion { frames: inv.stack[first..].to_vec(), again }, None));
        }
        let mut meta = Invocation { stack: inv.stack.clone(), ..Invocation::default() };
        let assembled = self.assemble_options(&mut meta, module.as_ref()).and_then(|value| Ok(LookupOptions::new(value)?));
        let assembled = Rc::new(assembled);
        // What an error says depends on the lookups in progress.
        if assembled.is_ok() || inv.stack.is_empty() {
            self.options.borrow_mut().insert(module, assembled.clone());
        }
        Ok(assembled)
    }

    fn assemble_options(&self, inv: &mut Invocation, module: Option<&Arc<str>>) -> Result<Option<Value>, LookupError> {
        let frame = Frame { text: LOOKUP_OPTIONS.into(), asked_by: None };
        let mut layers = vec![Layer::Global, Layer::Environment];
        layers.extend(module.map(|module| Layer::Module(module.clone())));
        let mut values = Vec::new();
        for layer in &layers {
            let value = self.search_layer(inv, layer, LOOKUP_OPTIONS, &frame, &Strategy::Hash)?;
            if let Some(Value { data: Data::Null, .. }) = value {
                if matches!(layer, Layer::Module(_)) {
                    return Ok(None); // a slip of Puppet's: a module's null takes all options away
                }
                values.push(None);
                continue;
            }
            if let Some(value) = &value {
                check_layer_options(value, layer)?;
            }
            values.push(value);
        }
        fold::<LookupError>(&Strategy::Hash, values.len(), &mut |n| Ok(values[n].take()))
    }

    /// Adds what the story leaves out: the locations below the one that answered.
    fn add_unreached(&self, key: &LookupKey, steps: &mut Vec<Step>) {
        let Ok(layers) = self.levels(key) else { return };
        let root = key.root_text();
        let all = layers.iter().flat_map(|(layer, levels)| {
            levels.iter().flat_map(move |located| located.locations.iter().map(move |location| (layer, located, location)))
        });
        let unreached: Vec<Step> = all
            .skip(steps.len())
            .map(|(layer, located, location)| {
                let path = match &location.place {
                    Place::File { path, exists: true } => Some(path.clone()),
                    _ => None,
                };
                let data = path
                    .as_ref()
                    .zip(located.level.backend.reader())
                    .and_then(|(path, reader)| self.ctx.sources.data(path, reader));
                let member = data.as_ref().and_then(|data| self.member(data, layer, &located.level, &root).ok().flatten());
                let shadowed = member.map(|member| (member.key_origin, member.value.clone()));
                let outcome = Outcome::NotReached { path, shadowed };
                Step { layer: layer.clone(), level: located.level.clone(), template: location.template.clone(), outcome }
            })
            .collect();
        steps.extend(unreached);
    }
}

/// Each file once, with the least that must be so for it to be seen; files that are seen anyway say nothing new.
///
/// A file in `common/` is one that `%{location}/…` can name, too, if only by accident.
fn without_repeats(unsettled: Vec<Unsettled>, steps: &[Step]) -> Vec<Unsettled> {
    let is_seen = |file: &Unsettled| {
        steps.iter().any(|step| match &step.outcome {
            Outcome::Found { path, .. } | Outcome::NotReached { path: Some(path), .. } => *path == file.path,
            _ => false,
        })
    };
    let mut kept: Vec<Unsettled> = Vec::new();
    for file in unsettled.into_iter().filter(|file| !is_seen(file)) {
        match kept.iter_mut().find(|known| known.path == file.path && known.key == file.key) {
            Some(known) if file.when.len() < known.when.len() => *known = file,
            Some(_) => {}
            None => kept.push(file),
        }
    }
    kept
}

/// The layers that are asked for a key, highest priority first.
pub fn layers_of(key: &LookupKey) -> Vec<Layer> {
    let mut layers = vec![Layer::Global, Layer::Environment];
    layers.extend(key.module().map(|module| Layer::Module(module.into())));
    layers
}

fn parse_key(key: &str) -> Result<LookupKey, LookupError> {
    LookupKey::parse(key).map_err(|_| LookupError::new(LookupErrorKind::KeySyntax(key.to_owned()), None))
}

/// Whether a name asks for the options themselves, which are never found.
pub(super) fn is_reserved(name: &str) -> bool {
    name.strip_prefix(LOOKUP_OPTIONS).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Runs `inner` with `frame` among the lookups in progress; an error when it is there already.
fn enter<T>(
    inv: &mut Invocation,
    frame: Frame,
    inner: impl FnOnce(&mut Invocation) -> Result<T, LookupError>,
) -> Result<T, LookupError> {
    if inv.stack.iter().any(|known| known.text == frame.text) {
        let (span, frames) = (frame.asked_by, inv.stack.clone());
        return Err(LookupError::new(LookupErrorKind::Recursion { frames, again: frame }, span));
    }
    inv.entered.push(frame.text.as_str().into());
    inv.stack.push(frame);
    let result = inner(inv);
    inv.stack.pop();
    result
}
