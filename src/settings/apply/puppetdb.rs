//! The settings `nodes.puppetdb`: the PuppetDB that nodes come from. A repository that could name one
//! would have connections made to an address of its choice, with the user's certificate.

use std::time::Duration;

use serde_json::Value;

use crate::puppetdb::{PuppetdbConfig, parse_age};
use crate::settings::reader::{SettingsReader, set_if_read};

/// The problem of the settings in a file of the repository.
const REFUSAL: &str =
    "is refused here: only the user may have a connection made, no file of the repository";

/// Applies the settings, which must be the user's own.
pub(super) fn apply(reader: &mut SettingsReader, value: &Value, settings: &mut PuppetdbConfig) {
    if !reader.is_users("nodes.puppetdb", REFUSAL) {
        return;
    }
    reader.read_members("nodes.puppetdb", value, |reader, key, value| {
        let name = format!("nodes.puppetdb.{key}");
        match key {
            "url" => set_if_read(&mut settings.url, read_address(reader, &name, value).map(Some)),
            "ca" => set_if_read(&mut settings.ca, reader.absolute_path(&name, value).map(Some)),
            "cert" => set_if_read(&mut settings.cert, reader.absolute_path(&name, value).map(Some)),
            "key" => set_if_read(&mut settings.key, reader.absolute_path(&name, value).map(Some)),
            "tokenFile" => {
                set_if_read(&mut settings.token_file, reader.absolute_path(&name, value).map(Some));
            }
            "query" => set_if_read(&mut settings.query, reader.read_text(&name, value).map(Some)),
            "maxAge" => match value.as_str().and_then(parse_age) {
                Some(age) => settings.max_age = Some(age),
                None => reader.report(&name, "must be an age such as 7d, 12h, 30m or 90s"),
            },
            "timeout" => match value.as_u64().filter(|seconds| *seconds > 0) {
                Some(seconds) => settings.timeout = Some(Duration::from_secs(seconds)),
                None => reader.report(&name, "must be a number of seconds, 1 or more"),
            },
            _ => return false,
        }
        true
    });
}

/// Reads an address without the path of a query. A name and a password are none of it: messages
/// state the address.
fn read_address(reader: &mut SettingsReader, key: &str, value: &Value) -> Option<String> {
    let text = reader.read_text(key, value)?;
    let address = text.trim_end_matches('/');
    let scheme = ["http://", "https://"].into_iter().find_map(|it| address.strip_prefix(it));
    if !scheme.is_some_and(is_one_address) {
        reader.report(key, "must be an address such as https://puppetdb.example.net:8081");
        return None;
    }
    Some(address.to_owned())
}

fn is_one_address(rest: &str) -> bool {
    let host = rest.split('/').next().unwrap_or_default();
    !host.is_empty() && !rest.contains(['@', '?', '#', ' ']) && rest.is_ascii()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::{Origin, Settings};
    use crate::text::FilePath;

    #[test]
    fn the_user_alone_names_a_puppetdb() {
        let given = json!({"nodes": {"puppetdb": {"url": "https://puppetdb:8081/", "ca": "/ca.pem", "cert": "/c.pem", "key": "/k.pem", "tokenFile": "/token", "query": "a = 1", "maxAge": "2h", "timeout": 3}}});
        for origin in [Origin::Editor, Origin::Repository] {
            let mut settings = Settings::default();
            let keys: Vec<String> =
                settings.apply(&given, origin).into_iter().map(|one| one.key).collect();
            assert_eq!(keys, ["nodes.puppetdb"]);
            assert_eq!(settings.puppetdb, PuppetdbConfig::default());
        }
        let mut settings = Settings::default();
        assert_eq!(settings.apply(&given, Origin::User), []);
        let path = |text: &str| Some(FilePath::new(text));
        let expected = PuppetdbConfig {
            url: Some("https://puppetdb:8081".into()),
            ca: path("/ca.pem"),
            cert: path("/c.pem"),
            key: path("/k.pem"),
            token_file: path("/token"),
            query: Some("a = 1".into()),
            max_age: Some(Duration::from_secs(7200)),
            timeout: Some(Duration::from_secs(3)),
        };
        assert_eq!(settings.puppetdb, expected);
    }

    #[test]
    fn wrong_settings_are_told_and_change_nothing() {
        let wrong = [
            json!("puppetdb:8081"),
            json!("https://"),
            json!("http:///pdb"),
            json!("https://user:word@puppetdb"),
            json!("ftp://puppetdb"),
            json!(1),
        ];
        for url in wrong {
            let given = json!({"nodes": {"puppetdb": {"url": url, "ca": "ca.pem", "tokenFile": "t", "query": 1, "maxAge": "2w", "timeout": 0, "colour": 1}}});
            let mut settings = Settings::default();
            let keys: Vec<String> =
                settings.apply(&given, Origin::User).into_iter().map(|one| one.key).collect();
            let names = ["url", "ca", "tokenFile", "query", "maxAge", "timeout", "colour"];
            assert_eq!(keys, names.map(|name| format!("nodes.puppetdb.{name}")));
            assert_eq!(settings, Settings::default());
        }
    }
}
