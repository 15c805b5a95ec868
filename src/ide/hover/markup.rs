//! Text of a hover in the form that the client shows: Markdown, or plain text.

use super::HoverConfig;
use crate::ide::phrases::Names;
use crate::text::{FilePath, Span, escape};
use crate::workspace::Snapshot;

/// Writes names, code and places.
#[derive(Clone, Copy)]
pub(super) struct Markup<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) config: &'a HoverConfig<'a>,
    pub(super) names: Names<'a>,
}

impl Markup<'_> {
    /// Returns the text in a form that the client shows unchanged.
    pub(super) fn text(&self, text: &str) -> String {
        if self.config.markdown { escape::escape_markdown(text) } else { text.to_owned() }
    }

    pub(super) fn bold(&self, text: &str) -> String {
        if self.config.markdown {
            format!("**{}**", escape::escape_markdown(text))
        } else {
            text.to_owned()
        }
    }

    pub(super) fn code(&self, text: &str) -> String {
        if self.config.markdown { escape::markdown_code(text) } else { text.to_owned() }
    }

    /// Returns lines of YAML, each with a line end.
    pub(super) fn block(&self, yaml: &str) -> String {
        if self.config.markdown {
            return escape::markdown_block("yaml", yaml);
        }
        yaml.lines().map(|line| format!("  {line}\n")).collect()
    }

    /// Returns the end of a line after which another one follows in the same paragraph.
    pub(super) fn line_end(&self) -> &'static str {
        if self.config.markdown { "  \n" } else { "\n" }
    }

    /// Returns `path:line` of a span, as a link where the client follows links.
    pub(super) fn place(&self, span: Span) -> String {
        self.snapshot
            .path_of(span.file)
            .map_or_else(String::new, |path| self.place_of(path, self.names.line(span)))
    }

    pub(super) fn place_of(&self, path: &FilePath, line: u32) -> String {
        let name = format!("{}:{line}", self.names.path(path));
        self.linked(&name, path, line).unwrap_or_else(|| self.text(&name))
    }

    /// Returns a place by a name of its own: linked where the client follows links, followed by
    /// `path:line` elsewhere.
    pub(super) fn named_place(&self, name: &str, span: Span) -> String {
        let Some(path) = self.snapshot.path_of(span.file) else { return self.text(name) };
        let line = self.names.line(span);
        self.linked(name, path, line)
            .unwrap_or_else(|| format!("{} {}", self.text(name), self.place_of(path, line)))
    }

    /// Returns a file by a name: linked where the client follows links.
    pub(super) fn file(&self, name: &str, path: &FilePath) -> String {
        self.linked(name, path, 1).unwrap_or_else(|| self.text(name))
    }

    fn linked(&self, name: &str, path: &FilePath, line: u32) -> Option<String> {
        let link = self.config.link.filter(|_| self.config.markdown)?;
        Some(format!("[{}]({})", escape::escape_markdown(name), link(path, line)))
    }
}

/// Returns `1 file`, `2 files`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
