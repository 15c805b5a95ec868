//! Merge strategies as data writes them: a name, or a hash of a name and options.

use std::fmt;

use crate::hiera::value::{Data, Hash, Value};
use crate::text::Span;

use super::describe;

/// How values of several places become one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The value of the highest priority, asked for by name.
    First,
    /// The same where nothing was asked for.
    #[default]
    Default,
    /// All elements of lists without duplicates.
    Unique,
    /// Hashes merged by key, not recursively.
    Hash,
    /// Hashes merged recursively, lists united.
    Deep(DeepOptions),
    /// The same with any option of the deep_merge gem; undocumented, for Hiera 3.
    UnconstrainedDeep(DeepOptions),
    /// The same with the priorities reversed; undocumented, for Hiera 3.
    ReverseDeep(DeepOptions),
}

/// Options of the deep strategies. The last four are taken by `unconstrained_deep` and `reverse_deep` only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DeepOptions {
    /// What a string starts with that removes an element or blanks a value. A regular expression, matched at line starts.
    /// The unconstrained strategies take anything; what is no string is taken as its text.
    pub knockout_prefix: Option<String>,
    /// Sort the lists that take part in a merge.
    pub sort_merged_arrays: bool,
    /// Merge lists of hashes position by position.
    pub merge_hash_arrays: bool,
    /// Do not unite lists, take the higher one.
    pub overwrite_arrays: bool,
    /// Append to a list what is no list, instead of replacing it.
    pub extend_existing_arrays: bool,
    /// Keep the lower of two values that cannot be merged.
    pub preserve_unmergeables: bool,
    /// Join lists with this text and split them again, before they are merged.
    pub unpack_arrays: Option<String>,
    /// The options as given, a hash without `strategy`; `None` where only the name was given.
    pub given: Option<Value>,
}

/// Why something is no merge strategy. `Display` gives Puppet's message; each origin is the place of the offending part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrategyError {
    /// No strategy has this name.
    Unknown {
        /// What was given as the name, as text.
        name: String,
        /// Where it was written.
        origin: Option<Span>,
    },
    /// A hash without a `strategy`, or with null for it.
    NoName {
        /// Where the hash was written.
        origin: Option<Span>,
    },
    /// The options do not fit the strategy.
    Options {
        /// What is wrong: first the known options in Puppet's order, then the unknown ones as written. Never empty.
        mismatches: Vec<OptionMismatch>,
    },
}

/// What is wrong with the options of a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionMismatch {
    /// The strategy has no such option.
    Unrecognized {
        /// Its name.
        option: String,
        /// Where it was written.
        origin: Option<Span>,
    },
    /// The value of an option has the wrong type.
    WrongType {
        /// The option.
        option: &'static str,
        /// What Puppet expects, in its words.
        expected: &'static str,
        /// The type of the value.
        got: String,
        /// Where the value was written.
        origin: Option<Span>,
    },
    /// Some option's name is no string, or empty.
    WrongKeys {
        /// What Puppet expects instead of the whole hash, in its words.
        expected: &'static str,
        /// The type of the hash, or its size when there are too many options.
        got: String,
        /// Where the first such name was written.
        origin: Option<Span>,
    },
}

/// Reads what `merge` in lookup_options, or the merge argument of a lookup, may be. `None` for null and `false`: nothing asked for.
///
/// A bare `unconstrained_deep` is [`Strategy::Deep`], as Puppet shares one object for both.
/// Errors: see [`StrategyError`].
/// Source: `MergeStrategy.strategy` of Puppet 7.23.
pub fn parse_strategy(given: &Value) -> Result<Option<Strategy>, StrategyError> {
    if matches!(given.data, Data::Null | Data::Bool(false)) {
        return Ok(None);
    }
    let (named, options) = match &given.data {
        Data::Hash(hash) => match given.get("strategy") {
            None | Some(Value { data: Data::Null, .. }) => return Err(StrategyError::NoName { origin: given.origin }),
            Some(name) => (name, Some(hash.as_ref()).filter(|hash| hash.len() > 1)),
        },
        _ => (given, None),
    };
    let strategy = match &named.data {
        Data::String(name) | Data::Symbol(name) => by_name(name),
        _ => None,
    };
    let Some(mut strategy) = strategy else {
        return Err(StrategyError::Unknown { name: named.to_text().into_owned(), origin: named.origin });
    };
    if let Some(given) = options {
        let mismatches = check_options(&strategy, given);
        if !mismatches.is_empty() {
            return Err(StrategyError::Options { mismatches });
        }
        if let Strategy::Deep(options) | Strategy::UnconstrainedDeep(options) | Strategy::ReverseDeep(options) = &mut strategy {
            *options = DeepOptions::from_hash(given);
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
    /// Its name as data writes it.
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

    /// The options as given, without `strategy`; `None` when there are none.
    pub fn options(&self) -> Option<&Hash> {
        match self {
            Strategy::Deep(options) | Strategy::UnconstrainedDeep(options) | Strategy::ReverseDeep(options) => {
                options.given.as_ref()?.as_hash()
            }
            _ => None,
        }
    }

    /// Whether the first value that is found is the result, and nothing else is asked for.
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
    // Only `deep` has its options checked; the gem goes by what Ruby takes for true.
    fn from_hash(given: &Hash) -> DeepOptions {
        let value = |name: &str| given.get(name).map(|member| &member.value);
        let is_set = |name: &str| value(name).is_some_and(|value| !matches!(value.data, Data::Null | Data::Bool(false)));
        let text = |name: &str| value(name).filter(|_| is_set(name)).map(|value| value.to_text().into_owned());
        DeepOptions {
            knockout_prefix: text("knockout_prefix"),
            sort_merged_arrays: is_set("sort_merged_arrays"),
            merge_hash_arrays: is_set("merge_hash_arrays"),
            overwrite_arrays: is_set("overwrite_arrays"),
            extend_existing_arrays: is_set("extend_existing_arrays"),
            preserve_unmergeables: is_set("preserve_unmergeables"),
            unpack_arrays: text("unpack_arrays"),
            given: Some(Value::hash(without_strategy(given), None)),
        }
    }
}

fn without_strategy(given: &Hash) -> Hash {
    let options = given.iter().filter(|(key, _)| key.as_str() != Some("strategy"));
    options.map(|(key, member)| (key.clone(), member.clone())).collect()
}

/// The options of `deep` beside `strategy`, in the order of Puppet's type.
const DEEP_OPTIONS: [&str; 4] = ["knockout_prefix", "merge_debug", "merge_hash_arrays", "sort_merged_arrays"];

const DEEP_TYPE: &str = "a Struct[{'strategy' => Optional[Pattern[/deep/]], 'knockout_prefix' => Optional[String], 'merge_debug' => \
                         Optional[Boolean], 'merge_hash_arrays' => Optional[Boolean], 'sort_merged_arrays' => Optional[Boolean]}] \
                         value";

fn check_options(strategy: &Strategy, given: &Hash) -> Vec<OptionMismatch> {
    let known: &[&str] = match strategy {
        Strategy::Deep(_) => &DEEP_OPTIONS,
        _ => &[],
    };
    let bad_key = given.iter().find(|(key, _)| key.as_str().is_none_or(str::is_empty));
    if let Some((_, member)) = bad_key {
        let whole = || describe::hash_type(given);
        let (expected, got) = match strategy {
            Strategy::UnconstrainedDeep(_) | Strategy::ReverseDeep(_) => ("a Hash[String[1], Any] value", whole()),
            Strategy::Deep(_) if given.len() <= 5 => (DEEP_TYPE, whole()),
            Strategy::Deep(_) => ("size to be at most 5", given.len().to_string()),
            _ => ("size to be at most 1", given.len().to_string()),
        };
        return vec![OptionMismatch::WrongKeys { expected, got, origin: member.key_origin }];
    }
    if matches!(strategy, Strategy::UnconstrainedDeep(_) | Strategy::ReverseDeep(_)) {
        return Vec::new();
    }
    let wrong_types = known.iter().filter_map(|option| check_option(option, &given.get(*option)?.value));
    let unknown = given.iter().filter_map(|(key, member)| {
        let option = key.as_str().filter(|name| *name != "strategy" && !known.contains(name))?;
        Some(OptionMismatch::Unrecognized { option: option.into(), origin: member.key_origin })
    });
    wrong_types.chain(unknown).collect()
}

fn check_option(option: &'static str, value: &Value) -> Option<OptionMismatch> {
    let (fits, expected) = match (option, &value.data) {
        (_, Data::Null) => return None,
        ("knockout_prefix", data) => (matches!(data, Data::String(_)), "a value of type Undef or String"),
        (_, data) => (matches!(data, Data::Bool(_)), "a value of type Undef or Boolean"),
    };
    let got = describe::short_name(value);
    (!fits).then_some(OptionMismatch::WrongType { option, expected, got, origin: value.origin })
}

impl StrategyError {
    /// Where the offending part was written; `None` when no file holds it.
    pub fn origin(&self) -> Option<Span> {
        match self {
            StrategyError::Unknown { origin, .. } | StrategyError::NoName { origin } => *origin,
            StrategyError::Options { mismatches } => mismatches.iter().find_map(OptionMismatch::origin),
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
            StrategyError::Options { mismatches } => {
                let lines: Vec<String> =
                    mismatches.iter().map(|mismatch| format!("The merge options has wrong type, {mismatch}")).collect();
                f.write_str(&describe::report(&lines))
            }
        }
    }
}

impl std::error::Error for StrategyError {}

impl OptionMismatch {
    /// Where the offending part was written.
    pub fn origin(&self) -> Option<Span> {
        match self {
            OptionMismatch::Unrecognized { origin, .. }
            | OptionMismatch::WrongType { origin, .. }
            | OptionMismatch::WrongKeys { origin, .. } => *origin,
        }
    }
}

impl fmt::Display for OptionMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionMismatch::Unrecognized { option, .. } => write!(f, "unrecognized key '{option}'"),
            OptionMismatch::WrongType { option, expected, got, .. } => {
                write!(f, "entry '{option}' expects {expected}, got {got}")
            }
            OptionMismatch::WrongKeys { expected, got, .. } => write!(f, "expects {expected}, got {got}"),
        }
    }
}
