//! The first lines of a hover: the subject with its type, the audience of the values, and the files
//! that they come from.

use super::markup::Markup;
use super::{HoverQuestion, HoverWriter};
use crate::ide::audience::Audience;
use crate::text::Span;

/// The widest type that is shown, in characters.
pub(super) const MAX_TYPE: usize = 60;

/// Lines of one paragraph.
pub(super) struct Head {
    lines: Vec<String>,
}

impl Head {
    /// Adds a line, unless it is empty.
    pub(super) fn add_line(&mut self, line: String) {
        if !line.is_empty() {
            self.lines.push(line);
        }
    }

    /// Returns the paragraph, with an empty line behind it.
    pub(super) fn render_head(&self, markup: &Markup<'_>) -> String {
        self.lines.join(markup.line_end()) + "\n\n"
    }

    /// Returns the paragraph with a colon, above a list; `more` is the end of the last line.
    pub(super) fn written_above_list(&self, markup: &Markup<'_>, more: &str) -> String {
        format!("{}{more}:\n\n", self.lines.join(markup.line_end()))
    }
}

impl HoverWriter<'_> {
    /// Returns the subject, and the audience of its values.
    pub(super) fn new_head(&self, title: &str, audience: &Audience) -> Head {
        let whose = audience.to_phrase(|text| self.markup.render_code(text));
        Head { lines: vec![self.markup.render_bold(title), whose] }
    }

    /// Returns the head for a key, with the class that takes the key as a parameter.
    pub(super) fn head_of_key(
        &self,
        asked: &HoverQuestion<'_>,
        title: &str,
        audience: &Audience,
    ) -> Head {
        let mut head = self.new_head(title, audience);
        head.lines[0].push_str(&self.parameter_phrase(asked));
        head
    }

    /// Returns ` · Type · class profile::web`, with the place of the parameter; the type only for a
    /// whole value. Empty for a key that no class takes.
    fn parameter_phrase(&self, asked: &HoverQuestion<'_>) -> String {
        let code = self.snapshot.manifests(&self.subject.environment);
        let Some(found) = code.asking_parameter(&asked.root.root_text()) else {
            return String::new();
        };
        let written = found.parameter.data_type.as_ref().map(|one| &*one.text);
        // The header of a class that does not parse is read line by line.
        let data_type = written.filter(|_| asked.is_whole && !found.class.recovered);
        let data_type = data_type.map_or_else(String::new, |text| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let line = words.join(" ");
            let cut: String = line.chars().take(MAX_TYPE).collect();
            let more = if cut.len() < line.len() { "…" } else { "" };
            format!(" · {}", self.markup.render_code(&format!("{cut}{more}")))
        });
        let class = format!("class {}", found.class.name);
        let place = Span::in_file(found.file.id, found.parameter.range);
        format!("{data_type} · {}", self.markup.named_place(&class, place))
    }
}
