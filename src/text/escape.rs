//! Foreign text in places that interpret text: each has one function here, and every name, key,
//! value or path of a repository passes through it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// One line for a terminal: every character that a terminal obeys, or does not show, is written
/// visibly (`\n`, `\u{1b}`).
pub fn escape_terminal(text: &str) -> Cow<'_, str> {
    make_visible(text, |_| false)
}

/// Several lines for a terminal: like [`escape_terminal`], but line feeds and tabs stay.
pub fn terminal_lines(text: &str) -> Cow<'_, str> {
    make_visible(text, |c| matches!(c, '\n' | '\t'))
}

fn make_visible(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_kept(c) || !is_invisible(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => write!(out, "\\u{{{:x}}}", u32::from(c)).expect("writing to a string"),
        }
    }
    out.into()
}

/// Returns whether a character controls a terminal, turns the direction of text, ends a line or has
/// no width.
fn is_invisible(c: char) -> bool {
    let has_no_width =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}');
    has_no_width || is_unprintable(c)
}

/// Whether hiera-ls writes a character as an escape in a scalar of YAML: control characters, U+FFFE and
/// U+FFFF, which libyaml's reader refuses, ends of lines, which its scanner changes, and marks of the
/// order of bytes or of the direction of text, which a display obeys.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fffe}'
                | '\u{ffff}'
        )
}

/// Escapes the message of a workflow command of GitHub Actions. The log shows it as a terminal
/// does.
///
/// Source: <https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts>.
pub fn workflow_message(text: &str) -> String {
    escape_terminal(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command, its separators as well.
pub fn workflow_property(text: &str) -> String {
    workflow_message(text).replace(':', "%3A").replace(',', "%2C")
}

/// Escapes a text for a line of Markdown, so that it is shown literally: without markup, links or
/// images, and without links from addresses in it. Other characters get no backslash, as not every
/// client removes backslashes.
pub fn escape_markdown(text: &str) -> String {
    let text = escape_terminal(text);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.char_indices().peekable();
    let mut in_word = false;
    while let Some((at, c)) = chars.next() {
        let is_markup = match c {
            // Within a word an underscore is a letter.
            '_' => !(in_word && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric())),
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '#' | '~' | '&' | '@' => true,
            ':' => text[at..].starts_with("://"),
            '.' => at >= 3 && text.as_bytes()[at - 3..at].eq_ignore_ascii_case(b"www"),
            _ => false,
        };
        if is_markup {
            out.push('\\');
        }
        out.push(c);
        in_word = c.is_alphanumeric() || (in_word && c == '_');
    }
    out
}

/// Returns a link of Markdown. The label is shown literally; the address is written as it is, so that
/// the caller encodes brackets in it.
///
/// Brackets and exclamation marks of the label become references to characters: marked, which VS
/// Code renders Markdown with, removes the backslashes before brackets of a label and then reads the
/// label again, so that `!\[a\](b)` in it would become an image.
///
/// Source: `outputLink` in <https://github.com/markedjs/marked/blob/master/src/Tokenizer.ts>.
pub fn markdown_link(label: &str, address: &str) -> String {
    let label = escape_markdown(label);
    let label = label.replace("\\[", "&#91;").replace("\\]", "&#93;").replace('!', "&#33;");
    format!("[{label}]({address})")
}

/// Returns a text as code within a line of Markdown.
pub fn markdown_code(text: &str) -> String {
    let text = escape_terminal(text);
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Returns lines of code as a block of Markdown. `code` is empty or ends with a line feed.
pub fn markdown_block(language: &str, code: &str) -> String {
    let code = terminal_lines(code);
    // The fence is longer than any fence in the code.
    let fence = "`".repeat(longest_run(&code).max(2) + 1);
    format!("{fence}{language}\n{code}{fence}\n")
}

/// Returns a message for the user of an editor. VS Code makes links of `[text](address)` in it.
pub fn escape_notification(text: &str) -> String {
    escape_terminal(text).replace("](", "] (")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Returns a text as it stands in an address: letters and digits of ASCII and the characters of
/// `kept` as they are, each other byte as `%` with its number.
pub fn percent_encode(text: &str, kept: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_obey_nothing() {
        assert_eq!(escape_terminal("plain æøå ✓"), "plain æøå ✓");
        assert_eq!(
            escape_terminal("a\x1b[31mb\x07\u{9b}2J\u{7f}"),
            r"a\u{1b}[31mb\u{7}\u{9b}2J\u{7f}"
        );
        assert_eq!(escape_terminal("a\nb\r\tc"), r"a\nb\r\tc");
        assert_eq!(terminal_lines("a\nb\r\tc\x1b"), "a\nb\\r\tc\\u{1b}");
        assert_eq!(
            escape_terminal("\u{202e}txt.exe\u{2028}\u{feff}"),
            r"\u{202e}txt.exe\u{2028}\u{feff}"
        );
    }

    #[test]
    fn workflow_commands_are_one_line() {
        assert_eq!(workflow_message("50%\r\n::error::x\x1b"), r"50%25\r\n::error::x\u{1b}");
        assert_eq!(workflow_property("a,b:c%"), "a%2Cb%3Ac%25");
    }

    #[test]
    fn markdown_shows_what_is_written() {
        for (text, expected) in [
            ("my_key::b (c) 1.5: %{x}", "my_key::b (c) 1.5: %{x}"),
            ("_a_ *b* `c`", r"\_a\_ \*b\* \`c\`"),
            ("![x](http://e.example/p)", r"!\[x\](http\://e.example/p)"),
            (
                "<http://e.example> www.e.example WWW.e",
                r"\<http\://e.example\> www\.e.example WWW\.e",
            ),
            ("a@e.example", r"a\@e.example"),
            ("a\r\r![p]", r"a\\r\\r!\[p\]"),
        ] {
            assert_eq!(escape_markdown(text), expected);
        }
    }

    #[test]
    fn labels_of_links_hold_no_image() {
        for (label, expected) in [
            ("data/common.yaml:1", "[data/common.yaml:1](a:b)"),
            ("![n](https:evil.example).yaml", "[&#33;&#91;n&#93;(https:evil.example).yaml](a:b)"),
            (r"\[*n*\]", r"[\\&#91;\*n\*\\&#93;](a:b)"),
        ] {
            assert_eq!(markdown_link(label, "a:b"), expected);
        }
    }

    #[test]
    fn code_cannot_be_ended() {
        assert_eq!(markdown_code("a"), "`a`");
        assert_eq!(markdown_code("`a``"), "``` `a`` ```");
        assert_eq!(markdown_code("a\r\r[x](y)\n\n"), r"`a\r\r[x](y)\n\n`");
        assert_eq!(markdown_block("yaml", "a: |\n  ```\n"), "````yaml\na: |\n  ```\n````\n");
    }
}
