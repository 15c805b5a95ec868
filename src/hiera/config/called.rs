//! The arguments that Puppet passes to the function of a level, as types. Source: semantics 9.

use super::{BackendKind, Level, Locations};
use crate::puppet::types::{DataType, Range, Size, StringType, StructMember, infer_set};
use crate::puppet::value::{Data, Value};

/// The name of the type of the last argument.
pub const CONTEXT_TYPE: &str = "Puppet::LookupContext";

/// The size of an empty hash.
const NO_MEMBERS: Size = Some(Range { from: Some(0), to: Some(0) });

/// An argument that Puppet passes to the function of a level.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionArgument {
    /// The root key: a text that differs from lookup to lookup.
    Key,
    /// The segments of a dotted key: a list of texts and integers.
    Segments,
    /// The options with the location, as exactly as they are known: `None` where a token of their
    /// texts makes them differ.
    Options(Option<DataType>),
    /// The context.
    Context,
}

impl Level {
    /// Returns the arguments of the level's function, in order; none for a backend that is no
    /// function of Hiera 5.
    pub fn level_arguments(&self) -> Vec<FunctionArgument> {
        match self.backend.kind {
            BackendKind::DataHash => vec![self.options_argument(), FunctionArgument::Context],
            BackendKind::LookupKey => {
                vec![FunctionArgument::Key, self.options_argument(), FunctionArgument::Context]
            }
            BackendKind::DataDig => {
                vec![FunctionArgument::Segments, self.options_argument(), FunctionArgument::Context]
            }
            BackendKind::Hiera3 | BackendKind::LegacyFunction => Vec::new(),
        }
    }

    fn options_argument(&self) -> FunctionArgument {
        FunctionArgument::Options(self.options_type())
    }

    /// Returns the type of the options, with `path` or `uri`; `None` where a text among them holds
    /// a token.
    fn options_type(&self) -> Option<DataType> {
        let options = self
            .options
            .as_ref()
            .filter(|options| options.as_hash().is_some_and(|options| !options.is_empty()));
        if options.is_some_and(has_token) {
            return None;
        }
        let location = match &self.locations {
            Locations::Uris(_) => Some("uri"),
            Locations::None => None,
            _ => Some("path"),
        };
        let mut members = match options.map(infer_set) {
            Some(DataType::Struct(members)) => members,
            None => Vec::new(),
            Some(_) => return None, // Some key is no text.
        };
        if let Some(location) = location {
            members.retain(|member| member.name != location);
            let value = DataType::String(StringType::Length(Range { from: Some(1), to: None }));
            members.push(StructMember { name: location.into(), optional: false, value });
        }
        Some(if members.is_empty() {
            DataType::hash(DataType::Unit, DataType::Unit, NO_MEMBERS)
        } else {
            DataType::Struct(members)
        })
    }
}

/// Whether a text within holds an interpolation token.
fn has_token(value: &Value) -> bool {
    match value.data() {
        Data::String(text) => text.contains("%{"),
        Data::Array(items) => items.iter().any(has_token),
        Data::Hash(hash) => hash.iter().any(|(key, member)| {
            key.as_str().is_some_and(|key| key.contains("%{")) || has_token(&member.value)
        }),
        _ => false,
    }
}
