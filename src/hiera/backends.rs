//! The functions of levels that hiera-ls cannot evaluate itself, called by others, and likewise the
//! backends of Hiera 3. The resolver resolves: it asks for one function, one key and one location at
//! a time, keeps the answers, and answers the questions that a function has meanwhile.
//!
//! Without an implementation such a level stays one that cannot be evaluated. Source of the rules:
//! semantics 9 and 10.

use std::sync::Arc;

use super::config::{BackendKind, Layer};
use super::error::{LookupError, Raised};
use super::key::KeySegment;
use super::merge::Strategy;
use crate::puppet::value::{Key, Value};
use crate::text::{FilePath, Span};

/// Calls functions of levels.
pub trait Backends {
    /// Returns whether the user lets a function of this name be called.
    fn may_call(&self, function: &str) -> bool;

    /// Calls the function of a level, and answers its questions with `ask` while it runs. An answer
    /// may need other calls, so that calls nest.
    fn call_function(&self, call: &FunctionCall<'_>, ask: &mut Ask<'_>) -> Reply;

    /// Makes the backends of Hiera 3 known that a `hiera.yaml` names, before one of them is called.
    ///
    /// Errors: Puppet's, where the library of Hiera 3 is absent. Each lookup fails with it then.
    fn prepare(&self, _hiera3: &Hiera3) -> Result<(), LookupError> {
        Err(LookupError::function_failed(
            "backends of Hiera 3 cannot be called here".into(),
            Raised::Ruby,
        ))
    }
}

/// The backends of Hiera 3 in the global layer, in the order of their levels. All of them share one
/// configuration, also with those that may not be called.
#[derive(Clone, Debug)]
pub struct Hiera3 {
    /// The `hiera.yaml`.
    pub config: FilePath,
    /// The text of the `hiera.yaml` where the file is of version 3: the configuration is that file
    /// then, its tokens as they are. `None` for a file of version 5.
    pub text: Option<Arc<str>>,
    /// The backends.
    pub backends: Vec<Hiera3Backend>,
}

/// A backend of Hiera 3.
#[derive(Clone, Debug)]
pub struct Hiera3Backend {
    /// The number of the level, as in [`FunctionCall::level`].
    pub level: u64,
    /// The name of the level.
    pub title: Arc<str>,
    /// The name of the backend, as written.
    pub name: Arc<str>,
    /// The folder of the data on this machine. In version 3 with its tokens, and `None` where the
    /// file names none.
    pub datadir: Option<String>,
    /// The locations as written. Empty in version 3, where the file has them.
    pub sources: Vec<Arc<str>>,
    /// The options with their tokens replaced. `None` in version 3, and where there are none.
    pub options: Option<Value>,
}

/// Answers a question of a function that runs.
pub type Ask<'a> = dyn FnMut(FunctionQuestion) -> Result<Option<Value>, LookupError> + 'a;

/// A call of a level's function.
pub struct FunctionCall<'a> {
    /// The kind of function.
    pub kind: BackendKind,
    /// The name of the function, as written.
    pub function: &'a str,
    /// Where the name is written: the place of the values that the function returns.
    pub origin: Option<Span>,
    /// The layer of the level.
    pub layer: &'a Layer,
    /// The `hiera.yaml` that names the function.
    pub config: &'a FilePath,
    /// The level: a number that no other level of this process has.
    pub level: u64,
    /// The number of the location within the level.
    pub location_number: usize,
    /// The options of the level with their tokens replaced; `None` where it has none.
    pub options: Option<&'a Value>,
    /// The location; `None` for a level without one.
    pub location: Option<CallLocation<'a>>,
    /// The key, as the kind of function wants it.
    pub key: CallKey<'a>,
    /// Whether the texts are wanted that the function explains itself with.
    pub explains: bool,
}

/// The location that a function is called for.
#[derive(Clone, Copy, Debug)]
pub enum CallLocation<'a> {
    /// A file or a folder that exists.
    Path(&'a str),
    /// Another place.
    Uri(&'a str),
}

/// The key that a function is called for.
#[derive(Clone, Copy, Debug)]
pub enum CallKey<'a> {
    /// All keys: the function returns a hash.
    All,
    /// A key that the hash of an earlier call with [`Returned::Hash::has_default`] does not hold.
    Member(&'a str),
    /// A root key.
    Root(&'a str),
    /// The segments of a dotted key, the root key first.
    Segments(&'a [KeySegment]),
    /// A key as it is looked up, for a backend of Hiera 3.
    Hiera3 {
        /// The key with its dots.
        text: &'a str,
        /// The merge strategy of the lookup.
        merge: &'a Strategy,
        /// The sources that the function `hiera` was asked to look into first; mostly none.
        order_override: &'a [Value],
        /// Whether the lookup is confined to the global layer.
        global_only: bool,
    },
}

/// A question of a function that runs.
#[derive(Debug)]
pub enum FunctionQuestion {
    /// The value with its tokens replaced.
    Interpolate(Value),
    /// The value of a key; `None` as an answer where nothing has it.
    Lookup {
        /// The key.
        key: String,
        /// The merge, as the `lookup` function takes it; `null` for that of `lookup_options`.
        merge: Value,
        /// Whether the global layer alone is asked.
        global_only: bool,
        /// Values by name that go before all data.
        overrides: Value,
        /// Values by name for tokens that nothing else defines.
        defaults: Value,
        /// The sources that levels of version 3 look into first: a list, mostly empty.
        order_override: Value,
    },
}

/// The outcome of a call.
#[derive(Debug)]
pub struct Reply {
    /// The value that the function returned.
    pub returned: Returned,
    /// The texts that the function explained itself with.
    pub texts: Vec<Value>,
}

/// The value that a function returned.
#[derive(Debug)]
pub enum Returned {
    /// A value.
    Value(Checked),
    /// The hash of a `data_hash` function.
    Hash {
        /// The members of the hash in order.
        members: Vec<(Key, Checked)>,
        /// Whether the hash has a default: any other key is to be asked for as a
        /// [`CallKey::Member`].
        has_default: bool,
    },
    /// The function does not have the key.
    NotFound,
    /// The call failed.
    Failed(LookupError),
}

/// A value, or the type of one that Puppet refuses when it is looked up.
#[derive(Clone, Debug)]
pub enum Checked {
    /// A value.
    Legal(Value),
    /// The type of an object that is no value, in Puppet's words.
    Illegal(Arc<str>),
}
