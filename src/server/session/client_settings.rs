//! The settings of the client: those that came with `initialize`, that it pushed, and that it
//! answered with.

use serde_json::Value;

use crate::settings::{self, GivenSettings, Origin};
use crate::text::FilePath;

/// The answer of a client to the request for its settings.
#[derive(Default)]
pub(in crate::server) struct SettingsAnswer {
    /// The section that holds for all folders.
    pub(in crate::server) section: Option<Value>,
    /// The sections of single folders of the workspace.
    pub(in crate::server) of_folders: Vec<(FilePath, Value)>,
}

impl SettingsAnswer {
    fn has_section(&self) -> bool {
        self.section.as_ref().is_some_and(Value::is_object)
    }
}

/// The settings of the client.
#[derive(Default)]
pub(in crate::server) struct ClientSettings {
    /// Settings that came with `initialize`.
    initialization_options: Option<Value>,
    /// Settings that came after `initialize`; they win.
    section: Option<Value>,
    /// The sections of folders of the workspace that differ from `section`.
    of_folders: Vec<(FilePath, Value)>,
    /// Whether the settings that came after `initialize` were asked for: clients that push settings
    /// may have nothing to answer with.
    were_pulled: bool,
}

impl ClientSettings {
    /// Returns the settings of a client that has sent no more than its `initializationOptions`.
    pub(in crate::server) fn of_options(options: Option<Value>) -> ClientSettings {
        let initialization_options = options.filter(Value::is_object);
        ClientSettings { initialization_options, ..ClientSettings::default() }
    }

    /// Returns all settings; the later win.
    pub(in crate::server) fn all_settings(&self) -> Vec<GivenSettings> {
        let given = |value: &Value, origin| GivenSettings::new(value.clone(), origin);
        let options = self.initialization_options.iter().map(|value| given(value, Origin::User));
        let section = self.section.iter().map(|value| given(value, Origin::Editor));
        let of_folders = self.of_folders.iter().map(|(folder, value)| GivenSettings {
            folder: Some(folder.clone()),
            ..given(value, Origin::Editor)
        });
        options.chain(section).chain(of_folders).collect()
    }

    /// Takes the settings that the client answered with when asked, or else those that it pushed;
    /// returns whether they are new.
    pub(in crate::server) fn take_settings(
        &mut self,
        pushed: Option<&Value>,
        answer: Option<SettingsAnswer>,
    ) -> bool {
        let pushed = pushed.filter(|pushed| settings::client_section(pushed).is_some());
        match (pushed, answer) {
            (Some(pushed), answer) if !answer.as_ref().is_some_and(SettingsAnswer::has_section) => {
                self.take_pushed(pushed);
                true
            }
            (_, Some(answer)) => self.take_answer(answer),
            (_, None) => false,
        }
    }

    /// Takes settings that the client pushed: its section, or the bare settings. Anything else
    /// changes nothing: clients also push settings of other servers, or nothing at all to request a
    /// pull.
    fn take_pushed(&mut self, settings: &Value) {
        if let Some(section) = settings::client_section(settings) {
            self.section = Some(section.clone()).filter(Value::is_object);
            self.of_folders.clear();
            self.were_pulled = false;
        }
    }

    /// Takes the sections that the client answered with; returns whether they are new. An answer
    /// without a section removes the previous one.
    fn take_answer(&mut self, answer: SettingsAnswer) -> bool {
        let has_section = answer.has_section();
        if !has_section && !self.were_pulled {
            return false;
        }
        self.were_pulled = true;
        let section = answer.section.filter(|_| has_section);
        // Most clients have one set of settings, and answer with it for each folder.
        let mut of_folders = answer.of_folders;
        of_folders.retain(|(_, value)| value.is_object() && Some(value) != section.as_ref());
        let is_new = (&self.section, &self.of_folders) != (&section, &of_folders);
        (self.section, self.of_folders) = (section, of_folders);
        is_new
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(section: Value) -> SettingsAnswer {
        SettingsAnswer { section: Some(section), of_folders: Vec::new() }
    }

    #[test]
    fn pushed_and_pulled_settings() {
        let mut client = ClientSettings::default();
        let rules = json!({"rules": {"unknown-key": "off"}});
        client.take_pushed(&json!({"hiera": rules.clone()}));
        client.take_pushed(&json!({"yaml": {}}));
        client.take_pushed(&Value::Null);
        assert_eq!(client.section, Some(rules.clone()), "what is not for us changes nothing");
        assert!(
            !client.take_answer(answer(Value::Null)),
            "a client that pushes may have no answer"
        );
        assert!(!client.take_answer(answer(rules.clone())), "it is what was pushed");
        assert!(client.take_answer(answer(Value::Null)));
        assert_eq!(client.section, None);
        client.take_pushed(&rules);
        assert_eq!(client.section, Some(rules));
    }

    #[test]
    fn an_answer_counts_more_than_what_was_pushed() {
        let mut client = ClientSettings::default();
        let (all, set) = (json!({"hiera": {"rules": {}, "eyaml": {}}}), json!({"rules": {}}));
        assert!(client.take_settings(Some(&all), Some(answer(set.clone()))));
        assert_eq!(client.section, Some(set), "the defaults are not the user's");
        assert!(
            client.take_settings(Some(&all), Some(answer(Value::Null))),
            "a client may only push"
        );
        assert_eq!(client.section, Some(all["hiera"].clone()));
        assert!(!client.take_settings(Some(&json!({"yaml": {}})), None));
        assert!(!client.take_settings(None, None));
        assert!(
            client.take_settings(Some(&Value::Null), Some(answer(json!({})))),
            "a request to ask"
        );
    }

    #[test]
    fn sections_of_folders_are_kept_where_they_differ() {
        let mut client = ClientSettings::default();
        let (all, own) = (json!({"puppet": {}}), json!({"puppet": {"version": 7}}));
        let [one, other] = ["/one", "/other"].map(FilePath::new);
        let of_folders = vec![(one.clone(), own.clone()), (other, all.clone())];
        let sections =
            || SettingsAnswer { section: Some(all.clone()), of_folders: of_folders.clone() };
        assert!(client.take_settings(None, Some(sections())));
        assert!(!client.take_settings(None, Some(sections())), "the same answer");
        let of_one = GivenSettings { value: own, origin: Origin::Editor, folder: Some(one) };
        let of_all = GivenSettings::new(all.clone(), Origin::Editor);
        assert_eq!(client.all_settings(), [of_all.clone(), of_one]);
        assert!(client.take_settings(None, Some(answer(all.clone()))), "the folder has none now");
        assert_eq!(client.all_settings(), [of_all]);
    }
}
