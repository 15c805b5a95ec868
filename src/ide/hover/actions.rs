//! The actions that a hover offers in its last line.

use super::{Action, ActionCall, HoverWriter};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::ide::cursor::asked_key;
use crate::text::escape;

impl HoverWriter<'_> {
    /// Returns a line with the actions that the client has; empty for a subject that is no key.
    pub(super) fn render_actions(&self) -> String {
        let key = asked_key(&self.subject.kind);
        let Some(key) = key.filter(|key| *key.root_text() != *LOOKUP_OPTIONS) else {
            return String::new();
        };
        let evaluate = self.evaluate_label(&LookupKey::of_root(&key.root_text()));
        let all = [(Action::Explain, "explain"), (Action::SelectNode, "choose a node")];
        let all = all.into_iter().chain(evaluate.map(|label| (Action::Evaluate, label)));
        let all = all.filter_map(|(action, label)| self.render_action(action, label, &key));
        let all: Vec<String> = all.collect();
        if all.is_empty() { String::new() } else { format!("\n{}\n", all.join(" · ")) }
    }

    /// Returns a line below a value that was cut, which leads to the page with all of it.
    pub(super) fn all_of_it(&self) -> String {
        let key = asked_key(&self.subject.kind);
        let action = key.and_then(|key| self.render_action(Action::Explain, "all of it", &key));
        action.map_or_else(String::new, |action| format!("\n{action}\n"))
    }

    fn render_action(&self, action: Action, label: &str, key: &LookupKey) -> Option<String> {
        let form = self.markup.config.action?;
        Some(match form(action, &self.subject.path, key)? {
            ActionCall::Link(address) if self.markup.config.markdown => {
                escape::markdown_link(label, &address)
            }
            ActionCall::Link(_) => return None,
            ActionCall::Command(command) => {
                format!("{label}: {}", self.markup.render_code(&command))
            }
        })
    }
}
