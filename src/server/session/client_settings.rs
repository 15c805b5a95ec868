//! The settings of the client: those that came with `initialize`, that it pushed, and that it
//! answered with.

use serde_json::Value;

use crate::settings::{self, Origin};

/// The settings of the client.
#[derive(Default)]
pub(in crate::server) struct ClientSettings {
    /// Settings that came with `initialize`.
    initialization_options: Option<Value>,
    /// Settings that came later; they win.
    section: Option<Value>,
    /// Whether those were asked for: clients that push theirs may have nothing to answer with.
    were_pulled: bool,
}

impl ClientSettings {
    /// Returns those of a client that has sent no more than its `initializationOptions`.
    pub(in crate::server) fn of_options(options: Option<Value>) -> ClientSettings {
        let initialization_options = options.filter(Value::is_object);
        ClientSettings { initialization_options, ..ClientSettings::default() }
    }

    /// Returns all of them with their origins; the later win.
    pub(in crate::server) fn all_settings(&self) -> Vec<(Value, Origin)> {
        let options = self.initialization_options.iter().map(|value| (value, Origin::User));
        let section = self.section.iter().map(|value| (value, Origin::Editor));
        options.chain(section).map(|(value, origin)| (value.clone(), origin)).collect()
    }

    /// Takes the settings that the client answered with when asked, or else those that it pushed;
    /// returns whether they are new.
    pub(in crate::server) fn take_settings(
        &mut self,
        pushed: Option<&Value>,
        answer: Option<Value>,
    ) -> bool {
        let pushed = pushed.filter(|pushed| settings::client_section(pushed).is_some());
        match (pushed, answer) {
            (Some(pushed), answer) if !answer.as_ref().is_some_and(Value::is_object) => {
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
            self.were_pulled = false;
        }
    }

    /// Takes the section that the client answered with; returns whether it is new. An answer
    /// without a section removes the previous one.
    fn take_answer(&mut self, section: Value) -> bool {
        let section = Some(section).filter(Value::is_object);
        if section.is_none() && !self.were_pulled {
            return false;
        }
        self.were_pulled = true;
        std::mem::replace(&mut self.section, section.clone()) != section
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pushed_and_pulled_settings() {
        let mut client = ClientSettings::default();
        let rules = json!({"rules": {"unknown-key": "off"}});
        client.take_pushed(&json!({"hiera": rules.clone()}));
        client.take_pushed(&json!({"yaml": {}}));
        client.take_pushed(&Value::Null);
        assert_eq!(client.section, Some(rules.clone()), "what is not for us changes nothing");
        assert!(!client.take_answer(Value::Null), "a client that pushes may have no answer");
        assert!(!client.take_answer(rules.clone()), "it is what was pushed");
        assert!(client.take_answer(Value::Null));
        assert_eq!(client.section, None);
        client.take_pushed(&rules);
        assert_eq!(client.section, Some(rules));
    }

    #[test]
    fn an_answer_counts_more_than_what_was_pushed() {
        let mut client = ClientSettings::default();
        let (all, set) = (json!({"hiera": {"rules": {}, "eyaml": {}}}), json!({"rules": {}}));
        assert!(client.take_settings(Some(&all), Some(set.clone())));
        assert_eq!(client.section, Some(set), "the defaults are not the user's");
        assert!(client.take_settings(Some(&all), Some(Value::Null)), "a client may only push");
        assert_eq!(client.section, Some(all["hiera"].clone()));
        assert!(!client.take_settings(Some(&json!({"yaml": {}})), None));
        assert!(!client.take_settings(None, None));
        assert!(client.take_settings(Some(&Value::Null), Some(json!({}))), "a request to ask");
    }
}
