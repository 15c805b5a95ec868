//! The merge strategies that calls in code ask for: `lookup('k', Hash, 'deep')` merges the values
//! of `k` regardless of `lookup_options`.
//!
//! Automatic parameter lookup asks for no strategy, so a key that a class parameter takes has none
//! of these.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::index::ManifestIndex;
use super::query::{DefinitionAt, ReaderAt, split_key};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::merge::{Strategy, parse_strategy};
use crate::hiera::resolution::Resolution;
use crate::manifest::model::{AskedStrategy, DefinitionKind, Literal, ReaderCall};
use crate::workspace::environments::Environment;
use crate::workspace::nodes::from_json;
use crate::workspace::snapshot::Snapshot;

/// The merge strategy that the calls that read a root key ask for.
#[derive(Clone, Debug)]
pub enum CalledMerge<'a> {
    /// No strategy: `lookup_options` decide.
    None,
    /// All calls ask for the same strategy.
    One(MergingCall<'a>),
    /// The calls ask for different strategies, or the strategy of one of them is not known. In the
    /// order of their files; calls that ask for no strategy are included.
    Several(Vec<ReaderAt<'a>>),
}

/// A call that decides how the values of a key are merged.
#[derive(Clone, Debug)]
pub struct MergingCall<'a> {
    /// The first call, where several ask for the same strategy.
    pub call: ReaderAt<'a>,
    asked: CallStrategy,
}

/// The merge strategies with which the code of an environment reads a root key.
#[derive(Clone, Debug, Default)]
pub struct AskedMerges<'a> {
    /// The distinct strategies that calls name, each with its first call.
    pub named: Vec<MergingCall<'a>>,
    /// Whether a call asks for a strategy that its text does not determine.
    pub has_unknown: bool,
    /// Whether code may read the key without a strategy of its own, so that `lookup_options` decide:
    /// by automatic parameter lookup, by a call that names none, or by one whose key is unknown.
    pub has_plain: bool,
}

/// The strategy that a call asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CallStrategy {
    /// A literal strategy.
    Literal(Strategy),
    /// The value of a class parameter, which data may set under this key; else its default.
    Parameter {
        /// The key of the parameter.
        key: String,
        /// The default.
        default: Strategy,
    },
}

impl MergingCall<'_> {
    /// Returns the strategy that the call asks for.
    pub fn call_strategy(&self) -> &CallStrategy {
        &self.asked
    }

    /// Returns the strategy, where no data decides it.
    pub fn literal_strategy(&self) -> Option<&Strategy> {
        if let CallStrategy::Literal(strategy) = &self.asked { Some(strategy) } else { None }
    }

    /// Returns the key of the class parameter that decides the strategy; `None` for a literal one.
    pub fn parameter_key(&self) -> Option<&str> {
        if let CallStrategy::Parameter { key, .. } = &self.asked { Some(key) } else { None }
    }

    /// Looks a key up as the call does.
    pub fn lookup(&self, resolver: &Resolver<'_>, key: &LookupKey) -> Resolution {
        let (parameter, default) = match &self.asked {
            CallStrategy::Literal(strategy) => return resolver.lookup(key, Some(strategy)),
            CallStrategy::Parameter { key, default } => (key, default),
        };
        let settled = resolver.lookup(&LookupKey::of_root(parameter), None);
        let set =
            settled.value.as_ref().ok().and_then(Option::as_ref).filter(|set| !set.is_secret());
        let set = set.and_then(|set| parse_strategy(set).ok().flatten());
        let strategy = set.as_ref().unwrap_or(default);
        let mut resolution = resolver.lookup(key, Some(strategy));
        // The value depends on everything that the strategy depends on.
        resolution.reads.keys.insert(parameter.clone());
        resolution.reads.keys.extend(settled.reads.keys);
        resolution.reads.variables.extend(settled.reads.variables);
        resolution.reads.unknown.extend(settled.reads.unknown);
        resolution.unsettled.extend(settled.unsettled);
        resolution
    }
}

/// Returns the strategy that a call itself names, by literal text; `None` for none, and for one
/// that the text does not determine.
pub fn asked_strategy(reader: &ReaderCall) -> Option<Strategy> {
    let asked = &reader.merge.as_ref()?.strategy;
    if let AskedStrategy::Variable { parameter: true, .. } = asked {
        return None;
    }
    parse_literal(asked.literal_value()?)
}

/// Whether a call names no strategy, or may name `undef` or `false`, which leave the strategy to
/// `lookup_options`.
fn may_name_no_strategy(reader: &ReaderCall) -> bool {
    let Some(merge) = &reader.merge else { return true };
    matches!(merge.strategy.literal_value(), Some(Literal::Undef | Literal::Boolean(false)))
}

/// Whether a call names a strategy that its text does not determine: none that is literal, also not
/// one that Puppet refuses.
fn may_name_unknown_strategy(reader: &ReaderCall) -> bool {
    let Some(merge) = &reader.merge else { return false };
    let is_literal = !matches!(merge.strategy, AskedStrategy::Variable { parameter: true, .. });
    let literal = merge.strategy.literal_value().filter(|_| is_literal).and_then(as_json);
    literal.is_none()
}

fn parse_literal(literal: &Literal) -> Option<Strategy> {
    parse_strategy(&from_json(&as_json(literal)?)).ok().flatten()
}

/// Converts a literal to JSON, as far as strategies and their options need it.
fn as_json(literal: &Literal) -> Option<Json> {
    Some(match literal {
        Literal::Undef => Json::Null,
        Literal::Boolean(value) => (*value).into(),
        Literal::String(text) => text.as_str().into(),
        Literal::Hash(members) => members
            .iter()
            .map(|(key, value)| Some((key.as_str()?.to_owned(), as_json(value)?)))
            .collect::<Option<Map<String, Json>>>()?
            .into(),
        Literal::Default | Literal::Integer(_) | Literal::Float(_) | Literal::List(_) => {
            return None;
        }
    })
}

impl ManifestIndex {
    /// Returns the merge strategy that the calls that read a root key ask for.
    pub fn called_merge(&self, root: &str) -> CalledMerge<'_> {
        let calls: Vec<ReaderAt<'_>> =
            self.readers_of_key(root).filter(|one| !one.reader.has_override).collect();
        if calls.iter().all(|one| one.reader.merge.is_none())
            || self.asking_parameter(root).is_some()
        {
            return CalledMerge::None;
        }
        let mut asked = calls.iter().map(|one| self.asked_merge(one));
        match asked.next().flatten() {
            Some(first) if asked.all(|other| other.as_ref() == Some(&first)) => {
                CalledMerge::One(MergingCall { call: calls[0], asked: first })
            }
            _ => CalledMerge::Several(calls),
        }
    }

    /// Returns the merge strategies with which code reads a root key. Calls count whose key is known
    /// in part and fits.
    pub fn asked_merges<'a>(&'a self, root: &'a str) -> AskedMerges<'a> {
        let mut all = AskedMerges {
            has_plain: self.asking_parameter(root).is_some()
                || self.dynamic_readers().next().is_some(),
            ..AskedMerges::default()
        };
        let calls = self.readers_of_key(root).chain(self.pattern_readers(root));
        for call in calls.filter(|one| !one.reader.has_override) {
            match self.asked_merge(&call) {
                None => {
                    all.has_plain |= may_name_no_strategy(call.reader);
                    all.has_unknown |= may_name_unknown_strategy(call.reader);
                }
                Some(asked) if all.named.iter().all(|known| known.asked != asked) => {
                    all.named.push(MergingCall { call, asked });
                }
                Some(_) => {}
            }
        }
        all
    }

    /// Whether the parameter of a class that asks a key may decide the merge strategy of some call.
    pub fn decides_merges(&self, key: &str) -> bool {
        let Some((class, parameter)) = split_key(key) else { return false };
        self.definitions(class).any(|DefinitionAt { file, .. }| {
            file.manifest.readers.iter().any(|reader| {
                let merge = reader.merge.as_ref().map(|merge| &merge.strategy);
                matches!(merge, Some(AskedStrategy::Variable { name, .. }) if name == parameter)
            })
        })
    }

    fn asked_merge(&self, one: &ReaderAt<'_>) -> Option<CallStrategy> {
        let AskedStrategy::Variable { name, value, parameter: true } =
            &one.reader.merge.as_ref()?.strategy
        else {
            return asked_strategy(one.reader).map(CallStrategy::Literal);
        };
        let class = one.file.manifest.definitions.get(one.reader.definition?)?;
        if class.kind != DefinitionKind::Class || self.may_be_given(&class.name, name) {
            return None;
        }
        let default = parse_literal(value.as_ref()?)?;
        Some(CallStrategy::Parameter { key: format!("{}::{name}", class.name), default })
    }
}

impl Snapshot {
    /// Looks a key up as the code of an environment does: with the merge strategy that all calls
    /// that read it ask for, if they do. The resolver is of that environment.
    pub fn lookup_as_called(
        &self,
        environment: &Environment,
        resolver: &Resolver<'_>,
        key: &LookupKey,
    ) -> Resolution {
        let root: Arc<str> = key.root_text();
        match self.manifests(environment).called_merge(&root) {
            CalledMerge::One(call) => call.lookup(resolver, key),
            CalledMerge::None | CalledMerge::Several(_) => resolver.lookup(key, None),
        }
    }
}
