//! The list of all rules; the only one.

use super::rule::Rule;
use super::rules;

/// Every rule, in the order in which the catalogue shows them.
pub static RULES: &[&Rule] = &[
    &rules::syntax_error::RULE,
    &rules::merge_conflict::RULE,
    &rules::unreadable_file::RULE,
    &rules::unloadable_value::RULE,
    &rules::second_document::RULE,
    &rules::limit_reached::RULE,
    &rules::duplicate_key::RULE,
    &rules::not_a_hash::RULE,
    &rules::empty_file::RULE,
    &rules::unreachable_key::RULE,
    &rules::unclosed_token::RULE,
    &rules::malformed_token::RULE,
    &rules::unknown_function::RULE,
    &rules::bad_argument::RULE,
    &rules::alias_not_whole_value::RULE,
    &rules::unknown_key::RULE,
    &rules::parameter_type::RULE,
    &rules::typed_reader::RULE,
    &rules::unwrapped_secret::RULE,
    &rules::unknown_parameter::RULE,
    &rules::unknown_class::RULE,
    &rules::define_parameter::RULE,
    &rules::single_colon_key::RULE,
    &rules::unread_key::RULE,
    &rules::redundant_override::RULE,
    &rules::merge_adds_nothing::RULE,
    &rules::shadowed_definition::RULE,
    &rules::duplicate_element::RULE,
    &rules::anchor_unused::RULE,
    &rules::never_consulted::RULE,
    &rules::null_keeps_default::RULE,
    &rules::merge_in_default::RULE,
    &rules::missing_parameter::RULE,
    &rules::lookup_loop::RULE,
    &rules::class_variable::RULE,
    &rules::legacy_fact::RULE,
    &rules::bad_options_regex::RULE,
    &rules::unknown_strategy::RULE,
    &rules::options_shape::RULE,
    &rules::unknown_option::RULE,
    &rules::foreign_options::RULE,
    &rules::foreign_module_key::RULE,
    &rules::merge_type_conflict::RULE,
    &rules::undecrypted_value::RULE,
    &rules::private_key_in_clear::RULE,
    &rules::config_version::RULE,
    &rules::config_deprecated::RULE,
    &rules::config_error::RULE,
    &rules::function_in_config::RULE,
    &rules::unknown_backend::RULE,
    &rules::backend_signature::RULE,
    &rules::backend_options::RULE,
    &rules::backend_return_type::RULE,
    &rules::hiera3_not_installed::RULE,
    &rules::hiera3_shared_config::RULE,
    &rules::odd_sister_path::RULE,
    &rules::several_configs::RULE,
    &rules::refused_module::RULE,
    &rules::setting_without_effect::RULE,
    &rules::unused_ignore::RULE,
    &rules::unreached_file::RULE,
    &rules::unread_extension::RULE,
    &rules::stale_node_file::RULE,
    &rules::not_yaml_1_2::RULE,
];

/// The code of the rule whose findings any rule may lead to.
pub const LIMIT_REACHED: &str = rules::limit_reached::RULE.code;

/// Returns the rule with this code.
pub fn find(code: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.code == code)
}
