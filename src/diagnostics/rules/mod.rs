//! The catalogue of rules: one file a rule, with its page beside it.

use super::rule::Rule;

mod backends;
mod typed;
mod unread;

pub(super) mod alias_not_whole_value;
pub(super) mod anchor_unused;
pub(super) mod backend_options;
pub(super) mod backend_return_type;
pub(super) mod backend_signature;
pub(super) mod bad_argument;
pub(super) mod bad_options_regex;
pub(super) mod class_variable;
pub(super) mod config_deprecated;
pub(super) mod config_error;
pub(super) mod config_version;
pub(super) mod define_parameter;
pub(super) mod duplicate_element;
pub(super) mod duplicate_key;
pub(super) mod empty_file;
pub(super) mod foreign_module_key;
pub(super) mod foreign_options;
pub(super) mod function_in_config;
pub(super) mod hiera3_not_installed;
pub(super) mod hiera3_shared_config;
pub(super) mod legacy_fact;
pub(super) mod limit_reached;
pub(super) mod lookup_loop;
pub(super) mod malformed_token;
pub(super) mod merge_adds_nothing;
pub(super) mod merge_conflict;
pub(super) mod merge_in_default;
pub(super) mod merge_type_conflict;
pub(super) mod missing_parameter;
pub(super) mod never_consulted;
pub(super) mod not_a_hash;
pub(super) mod not_yaml_1_2;
pub(super) mod null_keeps_default;
pub(super) mod odd_sister_path;
pub(super) mod options_shape;
pub(super) mod parameter_type;
pub(super) mod private_key_in_clear;
pub(super) mod redundant_override;
pub(super) mod refused_module;
pub(super) mod second_document;
pub(super) mod setting_without_effect;
pub(super) mod several_configs;
pub(super) mod shadowed_definition;
pub(super) mod single_colon_key;
pub(super) mod stale_node_file;
pub(super) mod syntax_error;
pub(super) mod typed_reader;
pub(super) mod unclosed_token;
pub(super) mod undecrypted_value;
pub(super) mod unknown_backend;
pub(super) mod unknown_class;
pub(super) mod unknown_function;
pub(super) mod unknown_key;
pub(super) mod unknown_option;
pub(super) mod unknown_parameter;
pub(super) mod unknown_strategy;
pub(super) mod unloadable_value;
pub(super) mod unreachable_key;
pub(super) mod unreached_file;
pub(super) mod unread_extension;
pub(super) mod unread_key;
pub(super) mod unreadable_file;
pub(super) mod unused_ignore;
pub(super) mod unwrapped_secret;

/// Every rule, in the order in which the catalogue shows them.
pub static RULES: &[&Rule] = &[
    &syntax_error::RULE,
    &merge_conflict::RULE,
    &unreadable_file::RULE,
    &unloadable_value::RULE,
    &second_document::RULE,
    &limit_reached::RULE,
    &duplicate_key::RULE,
    &not_a_hash::RULE,
    &empty_file::RULE,
    &unreachable_key::RULE,
    &unclosed_token::RULE,
    &malformed_token::RULE,
    &unknown_function::RULE,
    &bad_argument::RULE,
    &alias_not_whole_value::RULE,
    &unknown_key::RULE,
    &parameter_type::RULE,
    &typed_reader::RULE,
    &unwrapped_secret::RULE,
    &unknown_parameter::RULE,
    &unknown_class::RULE,
    &define_parameter::RULE,
    &single_colon_key::RULE,
    &unread_key::RULE,
    &redundant_override::RULE,
    &merge_adds_nothing::RULE,
    &shadowed_definition::RULE,
    &duplicate_element::RULE,
    &anchor_unused::RULE,
    &never_consulted::RULE,
    &null_keeps_default::RULE,
    &merge_in_default::RULE,
    &missing_parameter::RULE,
    &lookup_loop::RULE,
    &class_variable::RULE,
    &legacy_fact::RULE,
    &bad_options_regex::RULE,
    &unknown_strategy::RULE,
    &options_shape::RULE,
    &unknown_option::RULE,
    &foreign_options::RULE,
    &foreign_module_key::RULE,
    &merge_type_conflict::RULE,
    &undecrypted_value::RULE,
    &private_key_in_clear::RULE,
    &config_version::RULE,
    &config_deprecated::RULE,
    &config_error::RULE,
    &function_in_config::RULE,
    &unknown_backend::RULE,
    &backend_signature::RULE,
    &backend_options::RULE,
    &backend_return_type::RULE,
    &hiera3_not_installed::RULE,
    &hiera3_shared_config::RULE,
    &odd_sister_path::RULE,
    &several_configs::RULE,
    &refused_module::RULE,
    &setting_without_effect::RULE,
    &unused_ignore::RULE,
    &unreached_file::RULE,
    &unread_extension::RULE,
    &stale_node_file::RULE,
    &not_yaml_1_2::RULE,
];

/// The code of the rule whose findings any rule may lead to.
pub const LIMIT_REACHED: &str = limit_reached::RULE.code;

/// Returns the rule with this code.
pub fn find(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code == code)
}
