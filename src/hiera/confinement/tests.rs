//! The option `confine_to_keys` of published functions.

use std::sync::Arc;

use crate::hiera::config::{ConfigSource, HieraConfig, Layer, Level};
use crate::hiera::data::{DataFile, DataFormat};
use crate::puppet::PuppetVersion;
use crate::text::{FileId, FilePath, Text};
use crate::yaml::parse;

fn level(function: &str, options: &str) -> Arc<Level> {
    let text = format!(
        "version: 5\nhierarchy:\n  - {{name: Vault, lookup_key: {function}, uri: 'https://v', \
         options: {options}}}\n"
    );
    let file = FileId::new(0);
    let data = DataFile::read_whole(&parse(&text), &text, file, DataFormat::Yaml);
    let source = ConfigSource {
        file,
        path: &FilePath::new("/r/hiera.yaml"),
        text: &Text::new(&text),
        layer: &Layer::Environment,
        puppet: PuppetVersion::default(),
    };
    let config = HieraConfig::read(source, &data);
    config.levels().next().expect("the config has a level").clone()
}

#[test]
fn a_key_counts_if_the_first_match_is_the_whole_key() {
    let level = level("hiera_vault", "{confine_to_keys: ['^vault_.*', 'password', '^.*_secret$']}");
    for excluded in ["k", "db_password", "my_secret_x", "lookup_options"] {
        assert!(level.excludes_key(excluded), "{excluded}");
    }
    for counted in ["password", "my_secret", "vault_a"] {
        assert!(!level.excludes_key(counted), "{counted}");
    }
}

#[test]
fn the_first_alternative_that_matches_decides() {
    let level = level("hiera_http", "{confine_to_keys: ['pass', 'password']}");
    assert!(level.excludes_key("password"), "Ruby's union takes `pass` first");
    assert!(!level.excludes_key("pass"));
}

#[test]
fn a_union_of_nothing_excludes_every_key() {
    assert!(level("hiera_vault", "{confine_to_keys: []}").excludes_key("k"));
}

#[test]
fn what_is_not_certain_excludes_nothing() {
    for options in [
        "{}",
        "{confine_to_keys: '^a$'}",
        "{confine_to_keys: ['%{x}']}",
        "{confine_to_keys: ['(']}",
        "{confine_to_keys: [1]}",
    ] {
        assert!(!level("hiera_vault", options).excludes_key("k"), "{options}");
    }
    assert!(!level("other_function", "{confine_to_keys: ['^a$']}").excludes_key("k"));
}
