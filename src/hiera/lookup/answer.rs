//! Answers the `lookup` function: overrides, data, defaults by name, the default, in this order.
//!
//! Source: semantics 8.1 and 8.2.

use super::trace::Trace;
use super::{Context, Invocation, LOOKUP_OPTIONS, Resolver, is_reserved};
use crate::hiera::error::{LookupError, LookupErrorKind, OptionsError};
use crate::hiera::key::LookupKey;
use crate::hiera::merge::Strategy;
use crate::hiera::request::LookupRequest;
use crate::hiera::resolution::{RequestAnswer, Resolution, Unapplied, UnsettledLevel};
use crate::puppet::Value;

impl Resolver<'_> {
    /// Answers a request, and adds the levels that could not be evaluated and could change the
    /// answer to `unsettled`. `Ok(None)`: nothing has any of the names, and there is no default.
    pub fn answer_request(
        &self,
        request: &LookupRequest,
        unsettled: &mut Vec<UnsettledLevel>,
    ) -> Result<Option<RequestAnswer>, LookupError> {
        self.answer_by(request, &mut |resolver, name, merge| {
            let trace = Trace::of_openness();
            let mut inv = Invocation { trace, ..Invocation::for_key(name) };
            let chosen = resolver.choose_strategy(&mut inv, name, merge);
            let value =
                chosen.and_then(|choice| resolver.find_chosen(&mut inv, name, &choice, None));
            if inv.trace.is_open() || !resolver.unread_options_of(name).is_empty() {
                // Few answers are unsettled, and only a full lookup lists the levels that are the
                // reason.
                let resolution = resolver.lookup(name, merge);
                let is_open = resolution.rests_on_open_alias();
                unsettled.extend(resolution.unsettled_levels);
                if is_open {
                    return Ok(None);
                }
            }
            Ok(value?.map(|value| (value, inv.unapplied_conversions)))
        })
    }

    /// Answers a request, and calls `tell` with the resolution of each name that was looked up in
    /// the data.
    pub fn answer_telling(
        &self,
        request: &LookupRequest,
        tell: &mut dyn FnMut(&Resolver<'_>, &Resolution),
    ) -> Result<Option<RequestAnswer>, LookupError> {
        self.answer_by(request, &mut |resolver, name, merge| {
            let resolution = resolver.lookup(name, merge);
            tell(resolver, &resolution);
            if resolution.rests_on_open_alias() {
                return Ok(None);
            }
            Ok(resolution.value?.map(|value| (value, resolution.unapplied_conversions)))
        })
    }

    /// Answers a request with `ask` as the lookup in the data. A name that is not looked up is
    /// asked for as `lookup_options`.
    pub(super) fn answer_by(
        &self,
        request: &LookupRequest,
        ask: &mut Ask<'_>,
    ) -> Result<Option<RequestAnswer>, LookupError> {
        if request.overrides.is_empty() && request.default_values_hash.is_empty() {
            return self.answer_within(request, ask);
        }
        // Tokens, also the tokens in `lookup_options`, see the overrides and the default values.
        // Nothing that this resolver assembled before holds for these tokens.
        let scope =
            self.context().scope.with_given(&request.overrides, &request.default_values_hash);
        Resolver::new(Context { scope: &scope, ..self.context().clone() })
            .answer_within(request, ask)
    }

    fn answer_within(
        &self,
        request: &LookupRequest,
        ask: &mut Ask<'_>,
    ) -> Result<Option<RequestAnswer>, LookupError> {
        for name in &request.names {
            if let Some(member) = request.overrides.get(name.as_str()) {
                let subject = format!("Value found for key '{name}' in override hash");
                return request.check_type(&subject, member.value.clone());
            }
            let (name, merge) = if is_reserved(name) {
                (LOOKUP_OPTIONS, None)
            } else {
                (name.as_str(), request.merge.as_ref())
            };
            let key = LookupKey::parse(name)
                .map_err(|_| LookupError::new(LookupErrorKind::KeySyntax(name.to_owned()), None))?;
            let merge = merge.map(Result::as_ref).transpose().map_err(|error| {
                // The request fails as an entry of `lookup_options` with the same merge fails.
                LookupError::from(OptionsError::Strategy(error.clone()))
            })?;
            if let Some((value, unapplied)) = ask(self, &key, merge)? {
                let answer = request.check_type("Found value", value)?;
                return Ok(answer
                    .map(|answer| RequestAnswer { unapplied_conversions: unapplied, ..answer }));
            }
        }
        for name in &request.names {
            if let Some(member) = request.default_values_hash.get(name.as_str()) {
                let subject = format!("Value found for key '{name}' in default values hash");
                return request.check_type(&subject, member.value.clone());
            }
        }
        match &request.default_value {
            Some(value) => request.check_type("Default value", value.clone()),
            None => Ok(None),
        }
    }
}

/// How data is asked for a name: its value, and the conversions that were left out.
type Ask<'a> = dyn FnMut(
        &Resolver<'_>,
        &LookupKey,
        Option<&Strategy>,
    ) -> Result<Option<(Value, Vec<Unapplied>)>, LookupError>
    + 'a;
