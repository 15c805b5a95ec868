//! Hovers over small workspaces, by subject; as plain text and, where it matters, as Markdown.

mod actions;
mod backends;
mod calls;
mod differences;
mod governed;
mod groups;
mod layers;
mod limits;
mod locations;
mod markdown;
mod notes;
mod options;
mod parameters;
mod redundancy;
mod scopes;
mod secrets;
mod tokens;
mod values;

use expect_test::Expect;

use super::{HoverConfig, Link, hover};
use crate::fixture::Fixture;
use crate::text::{FilePath, Span};

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&hovered(text, false, None));
}

fn check_markdown(text: &str, expected: Expect) {
    let link = |path: &FilePath, line: u32| format!("file://{path}#L{line}");
    expected.assert_eq(&hovered(text, true, Some(&link)));
}

/// The hover at the cursor below the text that it is about; `-` where there is none.
fn hovered(text: &str, markdown: bool, link: Option<Link<'_>>) -> String {
    let fixture = Fixture::new(text);
    let config = HoverConfig {
        markdown,
        link,
        max_value_lines: 10,
        max_locations: 5,
        ..HoverConfig::default()
    };
    let position = fixture.position();
    match hover(&fixture.snapshot, position, &config) {
        Some(hover) => {
            let about = fixture.text_at(Span::in_file(position.file, hover.range));
            format!("<{about}>\n{}", hover.text)
        }
        None => "-".to_owned(),
    }
}
