//! Whether values of a type may be Sensitive.

use super::DataType;
use super::expression::{Expression, expression};
use super::parse::{NoNames, bare_type};

/// The type aliases of puppetlabs-stdlib 9.7 (`types/`), in lower case. All are types of texts,
/// numbers, or hashes for `create_resources`.
const STDLIB: &[&str] = &[
    "stdlib::absolutepath",
    "stdlib::base32",
    "stdlib::base64",
    "stdlib::createresources",
    "stdlib::datasize",
    "stdlib::dns::zone",
    "stdlib::email",
    "stdlib::ensure::file",
    "stdlib::ensure::file::directory",
    "stdlib::ensure::file::file",
    "stdlib::ensure::file::link",
    "stdlib::ensure::package",
    "stdlib::ensure::service",
    "stdlib::filemode",
    "stdlib::filesource",
    "stdlib::fqdn",
    "stdlib::host",
    "stdlib::http::method",
    "stdlib::http::status",
    "stdlib::httpstatus",
    "stdlib::httpsurl",
    "stdlib::httpurl",
    "stdlib::ip::address",
    "stdlib::ip::address::cidr",
    "stdlib::ip::address::nosubnet",
    "stdlib::ip::address::v4",
    "stdlib::ip::address::v4::cidr",
    "stdlib::ip::address::v4::nosubnet",
    "stdlib::ip::address::v6",
    "stdlib::ip::address::v6::alternative",
    "stdlib::ip::address::v6::cidr",
    "stdlib::ip::address::v6::compressed",
    "stdlib::ip::address::v6::full",
    "stdlib::ip::address::v6::nosubnet",
    "stdlib::mac",
    "stdlib::objectstore",
    "stdlib::objectstore::gsuri",
    "stdlib::objectstore::s3uri",
    "stdlib::port",
    "stdlib::port::dynamic",
    "stdlib::port::ephemeral",
    "stdlib::port::privileged",
    "stdlib::port::registered",
    "stdlib::port::unprivileged",
    "stdlib::port::user",
    "stdlib::syslogfacility",
    "stdlib::unixpath",
    "stdlib::windowspath",
    "stdlib::yes_no",
];

/// Whether a value made by this type may be Sensitive, or hold a Sensitive value.
///
/// Decided by the parsed text, at any depth of the type: `Optional[Sensitive]`, a member of a
/// `Struct`, the type that an `Init` names. The result is also true for a name that is no type of
/// Puppet's own, as it may be an alias of a module for a Sensitive type, and for a text that is no
/// type: its author's intent is unknown, and a secret that is shown cannot be taken back. The
/// aliases of the module stdlib are known although the module is not here: none is Sensitive.
pub fn may_be_sensitive(text: &str) -> bool {
    match expression(text) {
        Ok(expression @ Expression::Type { .. }) => has_sensitive(&expression),
        _ => true,
    }
}

fn has_sensitive(expression: &Expression) -> bool {
    match expression {
        Expression::Type { name, parameters, .. } => {
            is_named(name) || parameters.iter().flatten().any(has_sensitive)
        }
        Expression::List(items) => items.iter().any(has_sensitive),
        Expression::Hash(members) => {
            members.iter().any(|(key, value)| has_sensitive(key) || has_sensitive(value))
        }
        Expression::Text(_)
        | Expression::Integer(_)
        | Expression::Float(_)
        | Expression::Bool(_)
        | Expression::Regex(_)
        | Expression::Default
        | Expression::Undef => false,
    }
}

fn is_named(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if STDLIB.contains(&lower.trim_start_matches("::")) {
        return false;
    }
    matches!(bare_type(&lower, name, &NoNames), DataType::Sensitive(_) | DataType::Reference(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensitive_is_found_wherever_it_stands() {
        for text in [
            "Sensitive",
            " Sensitive",
            "Sensitive ",
            "SENSITIVE",
            "sensitive",
            "Sensitive[String]",
            "Optional[Sensitive]",
            "Variant[Sensitive, String]",
            "Variant[Integer,Optional[ Sensitive [String] ]]",
            "Array[Sensitive]",
            "NotUndef[Sensitive[String]]",
            "Hash[String, Sensitive]",
            "Tuple[String, Sensitive]",
            "Struct[{a => Sensitive}]",
            "Init[Sensitive]",
            "Type[Sensitive]",
            "Callable[Sensitive]",
            "Object[{attributes => {a => {type => Sensitive}}}]",
            "Mymodule::Secret",
            "Array[Mymodule::Secret]",
            "Stdlib::Secret",
            "Variant[Stdlib::Fqdn, Sensitive]",
            "Sensitive[",
            "%{type}",
            "",
        ] {
            assert!(may_be_sensitive(text), "{text}");
        }
    }

    #[test]
    fn other_types_are_not() {
        for text in [
            "String",
            "Optional['Sensitive']",
            "Enum[sensitive]",
            "Pattern[/Sensitive/]",
            "Array[Variant[Integer, Undef], 1, 2]",
            "RichData",
            "Struct[{Optional[sensitive] => Data}]",
            "Init[Integer]",
            "File",
            "Stdlib::Fqdn",
            "Optional[Array[Stdlib::IP::Address::V4::CIDR]]",
        ] {
            assert!(!may_be_sensitive(text), "{text}");
        }
    }
}
