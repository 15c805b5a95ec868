//! Answers in which functions of levels were called, at the user's request some time ago.

use super::{HoverAnswer, HoverQuestion, HoverWriter};
use crate::ide::audience::Audience;
use crate::ide::cursor::Subject;
use crate::ide::evaluation::{Evaluation, asks_functions, scope_of};

impl HoverWriter<'_> {
    /// Returns the outcome for the scope that the file is evaluated in.
    fn own_outcome(&self, asked: &HoverQuestion<'_>) -> Option<&Evaluation> {
        let all = self.markup.config.evaluations?;
        let Subject { environment, path, .. } = self.subject;
        let mut found = all.outcomes_of(environment, &asked.root).peekable();
        found.peek()?;
        let scope = scope_of(self.snapshot, environment, path);
        found.find(|one| one.is_in(&scope))
    }

    /// Returns the answer for the scope that the file is evaluated in, as the user had the key
    /// evaluated; `None` where this was not done, or files have changed since.
    pub(super) fn render_own(&self, asked: &HoverQuestion<'_>) -> Option<String> {
        let found = self.own_outcome(asked)?;
        if !found.is_current(self.snapshot) {
            return None;
        }
        let resolution = &found.resolution;
        let title = (asked.title)(resolution.value.as_ref().ok().and_then(Option::as_ref));
        let Subject { environment, path, .. } = self.subject;
        let audience = Audience::of_scope(self.snapshot, environment, &found.scope, path);
        let mut head = self.head_of_key(asked, &title, &audience);
        head.add_line(as_evaluated(found));
        let answer = HoverAnswer {
            is_evaluated: true,
            ..HoverAnswer::from_lookup(resolution, &found.scope, false)
        };
        Some(self.render_answer(head, &answer, asked))
    }

    /// Returns the evaluated values of the nodes that read the file, a line for each, and which
    /// evaluations are out of date.
    pub(super) fn render_evaluations(&self, asked: &HoverQuestion<'_>) -> String {
        let Some(all) = self.markup.config.evaluations else { return String::new() };
        let environment = &self.subject.environment;
        let nodes = self.snapshot.nodes_of(environment);
        let readers = self.audience.readers();
        let own = self.own_outcome(asked);
        let mut lines = Vec::new();
        if let Some(own) = own.filter(|own| !own.is_current(self.snapshot)) {
            lines.push(format!("evaluated at {}: {SINCE}", own.at));
        }
        for one in all.outcomes_of(environment, &asked.root) {
            let is_own = own.is_some_and(|own| std::ptr::eq(own, one));
            if is_own
                || !one.scope.is_node
                || !readers.iter().any(|number| nodes[*number].name == one.scope.name)
            {
                continue;
            }
            let node = self.markup.render_code(&one.scope.name);
            lines.push(if one.is_current(self.snapshot) {
                let shown = self.short_phrase(&self.shown_part(&one.resolution, asked.narrow));
                let place = self.other_source(&[&one.resolution], asked);
                format!("{shown} in {node}{place}, {}", as_evaluated(one))
            } else {
                format!("{node}: evaluated at {}: {SINCE}", one.at)
            });
        }
        let lines: String = lines.into_iter().map(|line| format!("- {line}\n")).collect();
        if lines.is_empty() { lines } else { format!("\n{lines}") }
    }

    /// Returns the label of the action that evaluates the key of the hover; `None` where the user
    /// has not switched that on, or no function decides about the key.
    pub(super) fn evaluate_label(
        &self,
        root: &crate::hiera::key::LookupKey,
    ) -> Option<&'static str> {
        let all = self.markup.config.evaluations?;
        let environment = &self.subject.environment;
        if !asks_functions(self.snapshot, environment, self.scope, root) {
            return None;
        }
        let is_again = all.outcomes_of(environment, root).next().is_some();
        Some(if is_again { "evaluate again" } else { "evaluate with the custom backends" })
    }
}

/// The remark about an evaluation that is out of date.
const SINCE: &str = "files have changed since, evaluate it again";

fn as_evaluated(one: &Evaluation) -> String {
    if one.scope.open {
        format!("as evaluated at {}, with the variables that are known", one.at)
    } else {
        format!("as evaluated at {}", one.at)
    }
}
