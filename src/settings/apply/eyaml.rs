//! The settings `eyaml`: encrypted values, and the keys for them.

use serde_json::Value;

use crate::eyaml::EyamlConfig;
use crate::settings::reader::{SettingsReader, set_if_read};

/// The problem of the settings in a file of the repository: only the user may switch decryption on,
/// as a repository would have its own values decrypted with the user's keys.
const REFUSAL: &str =
    "is refused here: only the user may switch decryption on, no file of the repository";

/// Applies the settings, which must be the user's own.
pub(super) fn apply(reader: &mut SettingsReader, value: &Value, eyaml: &mut EyamlConfig) {
    if !reader.is_users("eyaml", REFUSAL) {
        return;
    }
    reader.read_members("eyaml", value, |reader, key, value| {
        let name = format!("eyaml.{key}");
        match key {
            "decrypt" => set_if_read(&mut eyaml.decrypt, reader.read_flag(&name, value)),
            "reveal" => set_if_read(&mut eyaml.reveal, reader.read_flag(&name, value)),
            "privateKey" => {
                set_if_read(&mut eyaml.private_key, reader.absolute_path(&name, value).map(Some))
            }
            "publicKey" => {
                set_if_read(&mut eyaml.public_key, reader.absolute_path(&name, value).map(Some))
            }
            "keyFolders" => match value.as_array() {
                Some(folders) => {
                    let paths = folders.iter().filter_map(|it| reader.absolute_path(&name, it));
                    eyaml.key_folders = paths.collect();
                }
                None => reader.report(&name, "must be a list of paths"),
            },
            _ => return false,
        }
        true
    });
}

#[cfg(test)]
mod tests {
    use crate::settings::{Origin, Settings};

    #[test]
    fn decryption_is_the_users_to_switch_on() {
        let value = serde_json::json!({"eyaml": {"decrypt": true, "keyFolders": ["/keys"], "privateKey": "/k.pem"}});
        for origin in [Origin::Repository, Origin::Editor] {
            let mut settings = Settings::default();
            let problems = settings.apply(&value, origin);
            assert_eq!(
                problems.iter().map(|problem| problem.key.as_str()).collect::<Vec<_>>(),
                ["eyaml"]
            );
            assert_eq!(settings.workspace.eyaml, Default::default());
        }
        let mut settings = Settings::default();
        assert_eq!(settings.apply(&value, Origin::User), []);
        assert!(settings.workspace.eyaml.decrypt);
        let odd = serde_json::json!({"eyaml": {"decrypt": "yes", "privateKey": "keys/k.pem", "keyFolders": "/", "colour": 1}});
        let keys: Vec<String> =
            settings.apply(&odd, Origin::User).into_iter().map(|problem| problem.key).collect();
        assert_eq!(keys, ["eyaml.decrypt", "eyaml.privateKey", "eyaml.keyFolders", "eyaml.colour"]);
    }
}
