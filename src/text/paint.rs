//! Colours and links of text on terminals: escape sequences, or nothing.

use anstyle::{AnsiColor, Style};

use super::escape::percent_encode;

/// Whether text has colours and links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paint {
    /// Whether text has colours.
    pub has_colors: bool,
    /// Whether places link to their files (OSC 8).
    pub has_links: bool,
}

/// The colours of parts of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Something that fails.
    Red,
    /// Something that is probably wrong.
    Yellow,
    /// Something worth knowing.
    Blue,
    /// A remark.
    Cyan,
    /// Something that stands out without a colour.
    Bold,
    /// Something beside the text.
    Dim,
}

impl Paint {
    /// Returns a text in a colour; the text as it is where there are none.
    pub fn color(self, ink: Ink, text: &str) -> String {
        if !self.has_colors || text.is_empty() {
            return text.to_owned();
        }
        let style = match ink {
            Ink::Red => bold_style(AnsiColor::Red),
            Ink::Yellow => bold_style(AnsiColor::Yellow),
            Ink::Blue => bold_style(AnsiColor::Blue),
            Ink::Cyan => bold_style(AnsiColor::Cyan),
            Ink::Bold => Style::new().bold(),
            Ink::Dim => Style::new().dimmed(),
        };
        format!("{style}{text}{style:#}")
    }

    /// Returns a text that leads to a file at an absolute path; the text as it is where there are no
    /// links.
    pub fn link(self, path: &str, text: &str) -> String {
        if !self.has_links {
            return text.to_owned();
        }
        let address = percent_encode(path, "-._~/");
        let slash = if address.starts_with('/') { "" } else { "/" };
        format!("\x1b]8;;file://{slash}{address}\x1b\\{text}\x1b]8;;\x1b\\")
    }
}

fn bold_style(color: AnsiColor) -> Style {
    color.on_default().bold()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_as_it_is_without_colors_and_links() {
        let plain = Paint::default();
        assert_eq!(plain.color(Ink::Red, "x") + &plain.link("/a", "y"), "xy");
        let painted = Paint { has_colors: true, has_links: true };
        assert_eq!(painted.color(Ink::Red, "x"), "\x1b[1m\x1b[31mx\x1b[0m");
        assert_eq!(painted.link("/a b", "y"), "\x1b]8;;file:///a%20b\x1b\\y\x1b]8;;\x1b\\");
    }
}
