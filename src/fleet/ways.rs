//! The ways in which a key is read: with each merge strategy that calls in code name, and with that
//! of `lookup_options`.

use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::merge::{DeepOptions, Strategy};
use crate::hiera::resolution::Resolution;
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::manifests::{CallStrategy, MergingCall};

/// All that the answer of a way depends on beside the snapshot and the key: the strategy that a call
/// asks for; `None` for that of `lookup_options`.
pub(super) type WayIdentity = Option<CallStrategy>;

/// A merge strategy with which a key is read.
pub struct ReadWay<'a> {
    strategy: ReadStrategy<'a>,
    /// Whether code is known to read the key in this way; it may, where the strategy of a call is
    /// unknown.
    pub is_certain: bool,
}

enum ReadStrategy<'a> {
    /// The strategy of `lookup_options`.
    Options,
    /// The strategy of a call.
    Call(MergingCall<'a>),
    /// The contained strategy.
    Strategy(Strategy),
}

impl<'a> ReadWay<'a> {
    /// Returns the ways in which a root key is read: with each strategy that calls name, and with
    /// that of `lookup_options` if code or tokens read it so, or nothing reads it.
    pub fn ways_of_key(
        snapshot: &'a Snapshot,
        environment: &Environment,
        key: &'a str,
    ) -> Vec<ReadWay<'a>> {
        let asked = snapshot.manifests(environment).asked_merges(key);
        let is_plain = asked.has_plain
            || asked.named.is_empty() && !asked.has_unknown
            || !snapshot.keys().asked_by(key).is_empty();
        let certain = |strategy| ReadWay { strategy, is_certain: true };
        let mut ways: Vec<ReadWay<'_>> =
            asked.named.into_iter().map(ReadStrategy::Call).map(certain).collect();
        if is_plain {
            ways.push(certain(ReadStrategy::Options));
        }
        if asked.has_unknown {
            let deep = Strategy::Deep(DeepOptions::default());
            let named = [Strategy::First, Strategy::Unique, Strategy::Hash, deep]
                .map(ReadStrategy::Strategy);
            ways.extend(
                [ReadStrategy::Options]
                    .into_iter()
                    .chain(named)
                    .map(|strategy| ReadWay { strategy, is_certain: false }),
            );
        }
        ways
    }

    /// Returns the ways in which code certainly reads a root key, and the one that `lookup_options`
    /// decide.
    pub fn certain_ways(
        snapshot: &'a Snapshot,
        environment: &Environment,
        key: &'a str,
    ) -> Vec<ReadWay<'a>> {
        let mut ways = ReadWay::ways_of_key(snapshot, environment, key);
        ways.retain(|way| way.is_certain);
        if !ways.iter().any(ReadWay::is_plain) {
            ways.push(ReadWay { strategy: ReadStrategy::Options, is_certain: true });
        }
        ways
    }

    /// Returns the identity: ways with equal ones give equal answers.
    pub(super) fn identity(&self) -> WayIdentity {
        match &self.strategy {
            ReadStrategy::Options => None,
            ReadStrategy::Call(call) => Some(call.call_strategy().clone()),
            ReadStrategy::Strategy(strategy) => Some(CallStrategy::Literal(strategy.clone())),
        }
    }

    /// Whether each lookup of a root key in this way ends at the first value.
    pub fn ends_at_first(&self, snapshot: &Snapshot, key: &str) -> bool {
        let named = match &self.strategy {
            ReadStrategy::Options => None,
            ReadStrategy::Strategy(strategy) => Some(strategy),
            ReadStrategy::Call(call) => match call.literal_strategy() {
                Some(strategy) => Some(strategy),
                None => return false,
            },
        };
        snapshot.keys().ends_at_first(key, named)
    }

    /// Looks a key up in this way.
    pub fn lookup(&self, resolver: &Resolver<'_>, key: &LookupKey) -> Resolution {
        match &self.strategy {
            ReadStrategy::Options => resolver.lookup(key, None),
            ReadStrategy::Call(call) => call.lookup(resolver, key),
            ReadStrategy::Strategy(strategy) => resolver.lookup(key, Some(strategy)),
        }
    }

    /// Returns the name of the strategy that a call names; `None` where `lookup_options` decide it.
    /// Of a strategy that a class parameter decides, it is the parameter with a dollar sign.
    pub fn strategy_name(&self) -> Option<String> {
        match &self.strategy {
            ReadStrategy::Options => None,
            ReadStrategy::Strategy(strategy) => Some(strategy.name().to_owned()),
            ReadStrategy::Call(call) => {
                Some(match (call.literal_strategy(), call.parameter_key()) {
                    (Some(strategy), _) => strategy.name().to_owned(),
                    (None, parameter) => format!("${}", parameter.unwrap_or_default()),
                })
            }
        }
    }

    /// Whether the strategy is named, and no data decides it.
    pub fn names_strategy(&self) -> bool {
        match &self.strategy {
            ReadStrategy::Options => false,
            ReadStrategy::Strategy(_) => true,
            ReadStrategy::Call(call) => call.literal_strategy().is_some(),
        }
    }

    /// Whether `lookup_options` decide the strategy.
    pub fn is_plain(&self) -> bool {
        matches!(self.strategy, ReadStrategy::Options)
    }

    /// Returns the class parameter that decides the strategy, where one does.
    pub fn deciding_parameter(&self) -> Option<&str> {
        if let ReadStrategy::Call(call) = &self.strategy { call.parameter_key() } else { None }
    }
}
