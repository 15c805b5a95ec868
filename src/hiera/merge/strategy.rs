//! Merge strategies as data writes them: a name, or a hash of a name and options.

use std::fmt;
use std::sync::LazyLock;

use crate::puppet::types::{self, DataType, WrongType};
use crate::puppet::value::{Data, Hash, Value};
use crate::text::Span;

/// How values of several places become one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The value of the highest priority, asked for by name.
    First,
    /// The value of the highest priority, where no strategy was asked for.
    #[default]
    Default,
    /// All elements of lists without duplicates.
    Unique,
    /// Hashes merged by key, not recursively.
    Hash,
    /// Hashes merged recursively, lists united.
    Deep(DeepOptions),
    /// Like `Deep`, with any option of the deep_merge gem; undocumented, for Hiera 3.
    UnconstrainedDeep(DeepOptions),
    /// Like `UnconstrainedDeep`, with the priorities reversed; undocumented, for Hiera 3.
    ReverseDeep(DeepOptions),
}

/// Options of the deep strategies. The last four are taken by `unconstrained_deep` and
/// `reverse_deep` only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DeepOptions {
    /// The prefix of strings that remove an element or blank a value. A regular expression, matched
    /// at line starts. The unconstrained strategies take anything; a value that is no string is
    /// taken as its text.
    pub knockout_prefix: Option<String>,
    /// Sort the lists that take part in a merge.
    pub sort_merged_arrays: bool,
    /// Merge lists of hashes position by position.
    pub merge_hash_arrays: bool,
    /// Do not unite lists, take the higher one.
    pub overwrite_arrays: bool,
    /// Append a value that is no list to a list, instead of replacing the list.
    pub extend_existing_arrays: bool,
    /// Keep the lower of two values that cannot be merged.
    pub preserve_unmergeables: bool,
    /// Join lists with this text and split them again, before they are merged.
    pub unpack_arrays: Option<String>,
    /// The options as given, a hash without `strategy`; `None` where only the name was given.
    pub given: Option<Value>,
}

/// Why something is no merge strategy. `Display` gives Puppet's message; each origin is the place
/// of the offending part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrategyError {
    /// No strategy has this name.
    Unknown {
        /// The given name, as text.
        name: String,
        /// Where the name was written.
        origin: Option<Span>,
    },
    /// A hash without a `strategy`, or with null for it.
    NoName {
        /// Where the hash was written.
        origin: Option<Span>,
    },
    /// The options do not fit the strategy.
    Options(WrongType),
}

/// Reads the value of `merge` in lookup_options, or the merge argument of a lookup. `None` for null
/// and `false`: nothing asked for.
///
/// A bare `unconstrained_deep` is [`Strategy::Deep`], as Puppet shares one object for both.
/// Errors: see [`StrategyError`].
/// Source: `MergeStrategy.strategy` of Puppet 7.23.
pub fn parse_strategy(given: &Value) -> Result<Option<Strategy>, StrategyError> {
    if matches!(given.data(), Data::Null | Data::Bool(false)) {
        return Ok(None);
    }
    let (named, options) = match given.data() {
        Data::Hash(hash) => match given.get("strategy") {
            None => return Err(StrategyError::NoName { origin: given.origin }),
            Some(name) if matches!(name.data(), Data::Null) => {
                return Err(StrategyError::NoName { origin: given.origin });
            }
            Some(name) => (name, Some(hash.as_ref()).filter(|hash| hash.len() > 1)),
        },
        _ => (given, None),
    };
    let strategy = match named.data() {
        Data::String(name) | Data::Symbol(name) => by_name(name),
        _ => None,
    };
    let Some(mut strategy) = strategy else {
        return Err(StrategyError::Unknown {
            name: named.to_text().into_owned(),
            origin: named.origin,
        });
    };
    if let Some(options) = options {
        types::assert_type("The merge options", strategy.options_type(), given)
            .map_err(StrategyError::Options)?;
        if let Strategy::Deep(deep)
        | Strategy::UnconstrainedDeep(deep)
        | Strategy::ReverseDeep(deep) = &mut strategy
        {
            *deep = DeepOptions::from_hash(options);
        }
    } else if matches!(strategy, Strategy::UnconstrainedDeep(_)) {
        strategy = Strategy::Deep(DeepOptions::default());
    }
    Ok(Some(strategy))
}

fn by_name(name: &str) -> Option<Strategy> {
    Some(match name {
        "first" => Strategy::First,
        "default" => Strategy::Default,
        "unique" => Strategy::Unique,
        "hash" => Strategy::Hash,
        "deep" => Strategy::Deep(DeepOptions::default()),
        "unconstrained_deep" => Strategy::UnconstrainedDeep(DeepOptions::default()),
        "reverse_deep" => Strategy::ReverseDeep(DeepOptions::default()),
        _ => return None,
    })
}

impl Strategy {
    /// The names of the strategies, as `lookup_options` and calls give them. Without `default`, which
    /// asks for nothing.
    pub const NAMES: [&str; 6] =
        ["first", "unique", "hash", "deep", "unconstrained_deep", "reverse_deep"];

    /// Returns the strategy's name as data writes it.
    pub fn name(&self) -> &'static str {
        match self {
            Strategy::First => "first",
            Strategy::Default => "default",
            Strategy::Unique => "unique",
            Strategy::Hash => "hash",
            Strategy::Deep(_) => "deep",
            Strategy::UnconstrainedDeep(_) => "unconstrained_deep",
            Strategy::ReverseDeep(_) => "reverse_deep",
        }
    }

    /// Returns the options as given, without `strategy`; `None` when there are none.
    pub fn options(&self) -> Option<&Hash> {
        match self {
            Strategy::Deep(options)
            | Strategy::UnconstrainedDeep(options)
            | Strategy::ReverseDeep(options) => options.given.as_ref()?.as_hash(),
            _ => None,
        }
    }

    /// Returns the type of a hash with the strategy and its options.
    fn options_type(&self) -> &'static DataType {
        static DEEP: LazyLock<DataType> = LazyLock::new(|| {
            types::parse_known(
                "Struct[{strategy=>Optional[Pattern[deep]],knockout_prefix=>Optional[String],merge_debug=>Optional[Boolean],\
                 merge_hash_arrays=>Optional[Boolean],sort_merged_arrays=>Optional[Boolean]}]",
            )
        });
        static ANY: LazyLock<DataType> =
            LazyLock::new(|| types::parse_known("Hash[String[1],Any]"));
        static NONE: LazyLock<[DataType; 4]> = LazyLock::new(|| {
            ["first", "default", "unique", "hash"].map(|name| {
                types::parse_known(&format!("Struct[{{strategy=>Optional[Pattern[/{name}/]]}}]"))
            })
        });
        match self {
            Strategy::UnconstrainedDeep(_) | Strategy::ReverseDeep(_) => &ANY,
            Strategy::Deep(_) => &DEEP,
            Strategy::First => &NONE[0],
            Strategy::Default => &NONE[1],
            Strategy::Unique => &NONE[2],
            Strategy::Hash => &NONE[3],
        }
    }

    /// Returns whether the first value that is found is the result, and nothing else is asked for.
    pub fn stops_at_first(&self) -> bool {
        matches!(self, Strategy::First | Strategy::Default)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl DeepOptions {
    // Puppet checks only the options of the strategy `deep`. The gem takes every value except nil
    // and false for true, as Ruby does.
    fn from_hash(given: &Hash) -> DeepOptions {
        let value = |name: &str| given.get(name).map(|member| &member.value);
        let is_set = |name: &str| {
            value(name).is_some_and(|value| !matches!(value.data(), Data::Null | Data::Bool(false)))
        };
        let text = |name: &str| {
            value(name).filter(|_| is_set(name)).map(|value| value.to_text().into_owned())
        };
        DeepOptions {
            knockout_prefix: text("knockout_prefix"),
            sort_merged_arrays: is_set("sort_merged_arrays"),
            merge_hash_arrays: is_set("merge_hash_arrays"),
            overwrite_arrays: is_set("overwrite_arrays"),
            extend_existing_arrays: is_set("extend_existing_arrays"),
            preserve_unmergeables: is_set("preserve_unmergeables"),
            unpack_arrays: text("unpack_arrays"),
            given: Some(Value::hash_of(without_strategy(given), None)),
        }
    }
}

fn without_strategy(given: &Hash) -> Hash {
    let options = given.iter().filter(|(key, _)| key.as_str() != Some("strategy"));
    options.map(|(key, member)| (key.clone(), member.clone())).collect()
}

impl StrategyError {
    /// Returns where the offending part was written; `None` when no file holds it.
    pub fn origin(&self) -> Option<Span> {
        match self {
            StrategyError::Unknown { origin, .. } | StrategyError::NoName { origin } => *origin,
            StrategyError::Options(error) => error.origin,
        }
    }
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StrategyError::Unknown { name, .. } => write!(f, "Unknown merge strategy: '{name}'"),
            StrategyError::NoName { .. } => {
                f.write_str("The hash given as 'merge' must contain the name of a strategy in string form for the key 'strategy'")
            }
            StrategyError::Options(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StrategyError {}
