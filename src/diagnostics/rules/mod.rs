//! One file a rule, with its page beside it. [`catalogue`](super::catalogue) lists them.

pub mod alias_not_whole_value;
pub mod bad_argument;
pub mod bad_options_regex;
pub mod config_error;
pub mod config_version;
pub mod duplicate_key;
pub mod empty_file;
pub mod foreign_module_key;
pub mod foreign_options;
pub mod function_in_config;
pub mod lookup_loop;
pub mod malformed_token;
pub mod merge_type_conflict;
pub mod not_a_hash;
pub mod not_yaml_1_2;
pub mod options_shape;
pub mod syntax_error;
pub mod unclosed_token;
pub mod unknown_function;
pub mod unknown_key;
pub mod unknown_option;
pub mod unknown_strategy;
pub mod unloadable_value;
pub mod unreachable_key;
pub mod unreached_file;
pub mod unreadable_file;
