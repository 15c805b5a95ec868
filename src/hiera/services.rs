//! Published backends, known by their names: which service one asks, in a sentence. Nothing is asked
//! here. Options that hold secrets are never part of a sentence.

use std::sync::Arc;

use super::config::{BackendKind, Level, Locations};
use crate::puppet::value::{Data, Value};

/// A published backend.
struct Service {
    /// The name in `hiera.yaml`.
    name: &'static str,
    /// The backend's work, as a phrase behind the level.
    phrase: &'static str,
    /// The option with the address, and the word before it.
    address: Option<(&'static str, &'static str)>,
}

/// Functions, by name.
const FUNCTIONS: [Service; 16] = [
    new_service("azure_key_vault", "asks Azure Key Vault", Some(("vault_name", "for the vault"))),
    new_service(
        "azure_key_vault::lookup",
        "asks Azure Key Vault",
        Some(("vault_name", "for the vault")),
    ),
    new_service(
        "compliance_markup::enforcement",
        "answers from compliance profiles in the data of other modules",
        None,
    ),
    new_service("consul_lookup_key", "asks Consul", Some(("uri", "at"))),
    new_service(
        "foreman::enc",
        "asks Foreman for the node's classes and parameters",
        Some(("url", "at")),
    ),
    new_service("hiera_aws_secretsmanager", "asks AWS Secrets Manager", Some(("region", "in"))),
    new_service("hiera_aws_sm", "asks AWS Secrets Manager", Some(("region", "in"))),
    new_service("hiera_consul", "asks Consul", Some(("uri", "at"))),
    new_service("hiera_file", "answers from a folder with one file for each key", None),
    new_service("hiera_http", "asks a web server", Some(("uri", "at"))),
    new_service("hiera_mysql", "asks a MySQL database", Some(("host", "at"))),
    new_service("hiera_storedsafe::lookup_key", "asks StoredSafe", None),
    new_service("hiera_vault", "asks HashiCorp Vault", Some(("address", "at"))),
    new_service("op::hiera", "asks 1Password", None),
    new_service("sops_lookup_key", "decrypts files of SOPS", None),
    new_service("trocla_lookup_key", "asks Trocla for passwords", None),
];

/// Functions that answer with secrets, by name.
const SECRET_STORES: [&str; 9] = [
    "azure_key_vault",
    "azure_key_vault::lookup",
    "hiera_aws_secretsmanager",
    "hiera_aws_sm",
    "hiera_storedsafe::lookup_key",
    "hiera_vault",
    "op::hiera",
    "sops_lookup_key",
    "trocla_lookup_key",
];

/// Returns whether a function of this name, in lower case, answers with secrets.
pub fn is_secret_store(function: &str) -> bool {
    SECRET_STORES.contains(&function)
}

/// Backends of Hiera 3 that answer with secrets, by name.
const SECRET_BACKENDS: [&str; 2] = ["gpg", "vault"];

/// Returns whether a backend of Hiera 3 of this name, in lower case, answers with secrets.
pub fn is_secret_backend(name: &str) -> bool {
    SECRET_BACKENDS.contains(&name)
}

/// Backends of Hiera 3, by name.
const HIERA_3: [Service; 10] = [
    new_service("consul", "asks Consul", None),
    new_service("file", "answers from a folder with one file for each key", None),
    new_service("gpg", "decrypts files with GnuPG", None),
    new_service("http", "asks a web server", None),
    new_service("mongodb", "asks a MongoDB database", None),
    new_service("mysql", "asks a MySQL database", None),
    new_service("puppet", "answers from classes of parameters in manifests", None),
    new_service("puppetdb", "asks PuppetDB", None),
    new_service("redis", "asks a Redis database", None),
    new_service("vault", "asks HashiCorp Vault", None),
];

const fn new_service(
    name: &'static str,
    phrase: &'static str,
    address: Option<(&'static str, &'static str)>,
) -> Service {
    Service { name, phrase, address }
}

impl Level {
    /// Returns the level with the service of its backend.
    pub(super) fn with_service(mut self) -> Arc<Level> {
        self.backend.service = self.service_phrase().map(Arc::from);
        Arc::new(self)
    }

    /// Returns which service the level's backend asks, as a phrase such as `asks HashiCorp Vault at
    /// https://vault.example.net for keys that match ^vault_`; `None` for a backend that is not
    /// known by its name.
    fn service_phrase(&self) -> Option<String> {
        let known: &[Service] = match self.backend.kind {
            BackendKind::Hiera3 => &HIERA_3,
            BackendKind::LegacyFunction => &[],
            BackendKind::DataHash | BackendKind::LookupKey | BackendKind::DataDig => &FUNCTIONS,
        };
        let found = known.iter().find(|service| service.name == &*self.backend.name)?;
        let address = found.address.and_then(|(option, word)| {
            let address = self.service_address(option)?;
            Some(format!(" {word} {address}"))
        });
        let keys = self.confined_to().map(|keys| format!(" for keys that match {keys}"));
        Some([Some(found.phrase.to_owned()), address, keys].into_iter().flatten().collect())
    }

    /// Returns the address in an option or in the level's URIs, as written, without a user's name
    /// and password.
    fn service_address(&self, option: &str) -> Option<String> {
        if let Some(Data::String(text)) = self.option_value(option).map(Value::data) {
            return Some(without_user(text));
        }
        let Locations::Uris(uris) = &self.locations else { return None };
        let uris: Vec<String> = uris.iter().map(|uri| without_user(&uri.text)).collect();
        Some(uris.join(", "))
    }

    /// Returns the value of an option, as written.
    pub fn option_value(&self, name: &str) -> Option<&Value> {
        self.options.as_ref()?.get(name)
    }

    /// Returns the expressions of the option `confine_to_keys`, as written.
    fn confined_to(&self) -> Option<String> {
        let Data::Array(patterns) = self.option_value("confine_to_keys")?.data() else {
            return None;
        };
        let texts: Option<Vec<&str>> = patterns
            .iter()
            .map(|pattern| match pattern.data() {
                Data::String(text) => Some(&**text),
                _ => None,
            })
            .collect();
        texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join(" or "))
    }
}

/// Returns a URI without the part before `@`, and without its query.
fn without_user(uri: &str) -> String {
    let (scheme, rest) = uri.split_once("://").map_or(("", uri), |(scheme, rest)| (scheme, rest));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_and_a_query_are_left_out_of_an_address() {
        for (uri, shown) in [
            ("https://vault:8200/v1", "https://vault:8200/v1"),
            ("https://me:s3cret@vault:8200/v1?token=x", "https://vault:8200/v1"),
            ("https://me:p@ss@host#x", "https://host"),
            ("vault.example.net", "vault.example.net"),
            ("me:pw@vault", "vault"),
            ("https://host/a@b", "https://host/a@b"),
        ] {
            assert_eq!(without_user(uri), shown, "{uri}");
        }
    }
}
