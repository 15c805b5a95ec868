//! The value of a class parameter that no declaration gives: that of the data, else the default.
//! Source: manifests as Puppet's compiler evaluates them (`Puppet::Resource::Type`,
//! `inject_external_parameters` and `assign_defaults`).

use serde_json::{Map, Value as Json};

use super::index::ManifestIndex;
use super::query::{DefinitionAt, ParameterAt, split_key};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::merge::Strategy;
use crate::hiera::resolution::Resolution;
use crate::hiera::scope::Scope;
use crate::manifest::model::{Excerpt, Literal, ReaderCall, TextPattern};
use crate::puppet::value::{Data, Value};
use crate::workspace::environments::Environment;
use crate::workspace::nodes::from_json;
use crate::workspace::snapshot::Snapshot;

/// How many defaults that name other parameters are followed.
const DEPTH: usize = 8;

/// The value of a class parameter that no declaration gives.
#[derive(Clone, Debug)]
pub enum ParameterValue {
    /// A level has the parameter's key.
    Found(Value),
    /// No level has the parameter's key, or the key's value is null: the class's default takes its
    /// place. `None` for a default of which the code does not show the value.
    Default(Option<Value>),
    /// The value of the parameter's key is null, and there is no default.
    Undef,
    /// No level has the parameter's key, and there is no default: Puppet refuses the class.
    Missing,
    /// The lookup fails, or it is not settled whether there is a value.
    Unknown,
}

impl ParameterValue {
    /// Returns the value, as far as it is known; undef is a null.
    pub fn into_value(self) -> Option<Value> {
        match self {
            ParameterValue::Found(value) => Some(value),
            ParameterValue::Default(value) => value,
            ParameterValue::Undef => Some(Value::new_null(None)),
            ParameterValue::Missing | ParameterValue::Unknown => None,
        }
    }
}

impl Snapshot {
    /// Returns the value of a parameter of a class that no declaration gives, for a node with this
    /// scope.
    pub fn parameter_value(
        &self,
        environment: &Environment,
        scope: &Scope,
        parameter: ParameterAt<'_>,
    ) -> ParameterValue {
        Values { snapshot: self, environment, scope, index: self.manifests(environment) }
            .value_of(parameter, DEPTH)
    }
}

struct Values<'a> {
    snapshot: &'a Snapshot,
    environment: &'a Environment,
    scope: &'a Scope,
    index: &'a ManifestIndex,
}

impl Values<'_> {
    /// Looks a key up as the compiler does for a class: `module_name` is that of the class's module.
    /// Within the class, as in its defaults, `title` and `name` are the class's.
    fn lookup(
        &self,
        one: ParameterAt<'_>,
        is_within: bool,
        key: &LookupKey,
        merge: Option<&Strategy>,
    ) -> Resolution {
        let mut scope = self.scope.clone();
        let class = &one.class.name;
        let title = if is_within { class.as_str() } else { "main" };
        let module = class.split("::").next().unwrap_or(class);
        for (name, value) in [("module_name", module), ("title", title), ("name", title)] {
            scope.set_variable(name, from_json(&value.into()));
        }
        let view = self.snapshot.view(self.environment);
        let context = self.snapshot.lookup_context(self.environment, &view, &scope);
        Resolver::new(context).lookup(key, merge)
    }

    fn value_of(&self, one: ParameterAt<'_>, depth: usize) -> ParameterValue {
        let key = LookupKey::of_root(&format!("{}::{}", one.class.name, one.parameter.name));
        let resolution = self.lookup(one, false, &key, None);
        if !is_settled(&resolution) {
            return ParameterValue::Unknown;
        }
        let has_default = one.parameter.default.is_some();
        match resolution.value {
            Err(_) => ParameterValue::Unknown,
            Ok(None) if !has_default => ParameterValue::Missing,
            Ok(Some(value)) if !matches!(value.data(), Data::Null) => ParameterValue::Found(value),
            Ok(Some(_)) if !has_default => ParameterValue::Undef,
            Ok(_) => ParameterValue::Default(self.default_of(one, depth)),
        }
    }

    /// Returns the value of a default: of a literal, a parameter, or a call that reads data.
    fn default_of(&self, one: ParameterAt<'_>, depth: usize) -> Option<Value> {
        if let Some(literal) = &one.parameter.value {
            return Some(from_json(&as_json(literal)?));
        }
        let depth = depth.checked_sub(1)?;
        let default = one.parameter.default.as_ref()?;
        if let Some(name) = default_variable(default) {
            return self.variable_value(one, name, depth);
        }
        self.call_value(
            one,
            one.file.manifest.readers.iter().find(|reader| reader.range == default.range)?,
        )
    }

    /// Returns the value of a parameter of this class, of one that it inherits, or of a class that
    /// the variable names.
    fn variable_value(&self, one: ParameterAt<'_>, name: &str, depth: usize) -> Option<Value> {
        let own = one.class.find_parameter(name).map(|parameter| ParameterAt { parameter, ..one });
        let found = match split_key(name) {
            Some(_) => self.index.asking_parameter(name),
            None => own.or_else(|| self.inherited_parameter(one, name)),
        }?;
        // A declaration that gives the parameter is stronger than data and default.
        let is_given = self.index.may_be_given(&found.class.name, &found.parameter.name)
            || self.index.may_be_used(&found.class.name);
        if is_given { None } else { self.value_of(found, depth).into_value() }
    }

    fn inherited_parameter(&self, one: ParameterAt<'_>, name: &str) -> Option<ParameterAt<'_>> {
        let mut class = one.class;
        for _ in 0..DEPTH {
            let parent = class.inherits.as_ref()?.text.to_ascii_lowercase();
            let DefinitionAt { file, definition } = self.index.loaded_class(&parent)?;
            if let Some(parameter) = definition.find_parameter(name) {
                return Some(ParameterAt { file, class: definition, parameter });
            }
            class = definition;
        }
        None
    }

    /// Returns the value of a call that reads data. A null that is found counts.
    fn call_value(&self, one: ParameterAt<'_>, reader: &ReaderCall) -> Option<Value> {
        let keys = reader.keys.as_ref().filter(|_| !reader.has_override)?;
        let merge = match &reader.merge {
            Some(_) => Some(super::asked_strategy(reader)?),
            None => None,
        };
        for key in keys.iter().map(TextPattern::literal_text) {
            let key = LookupKey::parse(key?).ok()?;
            let resolution = self.lookup(one, true, &key, merge.as_ref());
            if !is_settled(&resolution) {
                return None;
            }
            if let Some(found) = resolution.value.ok()? {
                return Some(found);
            }
        }
        Some(from_json(&as_json(reader.default_value.as_ref()?)?))
    }
}

/// Whether nothing that is unknown can change the value.
fn is_settled(resolution: &Resolution) -> bool {
    resolution.unsettled.is_empty()
        && resolution.unsettled_levels.is_empty()
        && resolution.unapplied_conversions.is_empty()
}

/// Returns the name of the variable that a default is, without leading colons.
fn default_variable(default: &Excerpt) -> Option<&str> {
    let name = default.text.strip_prefix('$')?.trim_start_matches("::");
    let is_name = name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b':')
        && name != "facts";
    is_name.then_some(name)
}

/// Converts a literal to JSON, as far as JSON has words for it.
fn as_json(literal: &Literal) -> Option<Json> {
    Some(match literal {
        Literal::Undef => Json::Null,
        Literal::Boolean(value) => (*value).into(),
        Literal::Integer(value) => i64::try_from(*value).ok()?.into(),
        Literal::Float(value) => serde_json::Number::from_f64(*value)?.into(),
        Literal::String(text) => text.as_str().into(),
        Literal::List(items) => items.iter().map(as_json).collect::<Option<Vec<_>>>()?.into(),
        Literal::Hash(members) => members
            .iter()
            .map(|(key, value)| Some((key.as_str()?.to_owned(), as_json(value)?)))
            .collect::<Option<Map<String, Json>>>()?
            .into(),
        Literal::Default => return None,
    })
}
