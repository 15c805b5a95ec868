//! Text of a hover in the form that the client shows: Markdown, or plain text.

use super::HoverConfig;
use crate::ide::phrases::PlaceNames;
use crate::text::{FilePath, Span, escape};
use crate::workspace::Snapshot;

/// The longest line of code that is shown, in characters.
const MAX_CODE_LINE: usize = 200;

/// Writes names, code and places.
#[derive(Clone, Copy)]
pub(super) struct Markup<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) config: &'a HoverConfig<'a>,
    pub(super) names: PlaceNames<'a>,
}

impl Markup<'_> {
    /// Returns the text in a form that the client shows unchanged.
    pub(super) fn render_text(&self, text: &str) -> String {
        if self.config.markdown { escape::escape_markdown(text) } else { text.to_owned() }
    }

    pub(super) fn render_bold(&self, text: &str) -> String {
        if self.config.markdown {
            format!("**{}**", escape::escape_markdown(text))
        } else {
            text.to_owned()
        }
    }

    pub(super) fn render_code(&self, text: &str) -> String {
        if self.config.markdown { escape::markdown_code(text) } else { text.to_owned() }
    }

    /// Returns lines of YAML, each with a line end.
    pub(super) fn render_block(&self, yaml: &str) -> String {
        self.render_lines("yaml", yaml)
    }

    /// Returns a block of texts in Puppet's language, each without the indentation of its later
    /// lines, and cut where it gets long.
    pub(super) fn render_puppet(&self, texts: &[String]) -> String {
        let mut lines: Vec<String> = Vec::new();
        for text in texts {
            let later = text.lines().skip(1).filter(|line| !line.trim().is_empty());
            let indentation = later.map(|line| line.len() - line.trim_start().len()).min();
            let most = self.config.max_value_lines;
            for (number, line) in text.lines().enumerate().take(most) {
                let width = if number == 0 { 0 } else { indentation.unwrap_or_default() };
                let line = line.get(width..).unwrap_or_default();
                let cut: String = line.chars().take(MAX_CODE_LINE).collect();
                let more = if cut.len() < line.len() { "…" } else { "" };
                lines.push(format!("{cut}{more}\n"));
            }
            lines.extend(text.lines().nth(most).map(|_| "…\n".to_owned()));
        }
        self.render_lines("puppet", &lines.concat())
    }

    fn render_lines(&self, language: &str, lines: &str) -> String {
        if self.config.markdown {
            return escape::markdown_block(language, lines);
        }
        lines.lines().map(|line| format!("  {line}\n")).collect()
    }

    /// Returns the end of a line after which another one follows in the same paragraph.
    pub(super) fn line_end(&self) -> &'static str {
        if self.config.markdown { "  \n" } else { "\n" }
    }

    /// Returns `path:line` of a span, as a link where the client follows links.
    pub(super) fn render_place(&self, span: Span) -> String {
        self.snapshot
            .path_of(span.file)
            .map_or_else(String::new, |path| self.place_of(path, self.names.line_number(span)))
    }

    pub(super) fn place_of(&self, path: &FilePath, line: u32) -> String {
        let name = format!("{}:{line}", self.names.short_path(path));
        self.render_link(&name, path, line).unwrap_or_else(|| self.render_text(&name))
    }

    /// Returns a place by a name of its own: linked where the client follows links, followed by
    /// `path:line` elsewhere.
    pub(super) fn named_place(&self, name: &str, span: Span) -> String {
        let Some(path) = self.snapshot.path_of(span.file) else { return self.render_text(name) };
        let line = self.names.line_number(span);
        self.render_link(name, path, line)
            .unwrap_or_else(|| format!("{} {}", self.render_text(name), self.place_of(path, line)))
    }

    /// Returns a file by a name: linked where the client follows links.
    pub(super) fn render_file(&self, name: &str, path: &FilePath) -> String {
        self.render_link(name, path, 1).unwrap_or_else(|| self.render_text(name))
    }

    fn render_link(&self, name: &str, path: &FilePath, line: u32) -> Option<String> {
        let link = self.config.link.filter(|_| self.config.markdown)?;
        Some(escape::markdown_link(name, &link(path, line)))
    }
}
