//! The report as Markdown, for a comment on a pull request: the totals first, then a part for each
//! edit that can be unfolded. A comment has a limit: the report is cut between edits, never within a
//! fence.

use std::io::Write;

use super::Report;
use crate::ide::change_report::ChangeReport;
use crate::ide::change_report::model::{EnvironmentReport, Section};
use crate::ide::change_report::page::LEGEND;
use crate::ide::change_report::phrases::SHOWN_PARTS;
use crate::text::count_phrase;
use crate::text::escape::{escape_markdown, markdown_block, markdown_code};

/// The first line, by which a job finds its own comment.
pub(super) const MARKER: &str = "<!-- hiera-ls diff -->";
/// The room that is kept for the line about what was cut, in characters.
const ROOM: usize = 200;

pub(super) fn write(
    Report { changes: report, arguments, .. }: &Report<'_>,
    most: usize,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut text = format!("{MARKER}\n");
    for one in &report.environments {
        let name = match report.environments.len() {
            1 => String::new(),
            _ => format!("{}: ", escape_markdown(&one.changes.after.name)),
        };
        text.push_str(&format!("**{name}{}**\n", escape_markdown(&one.totals())));
    }
    text.push_str(&format!("\n{}\n", escape_markdown(&report.title())));
    if report.has_losses() {
        text.push_str("\n:warning: Lookups fail or find nothing any more.\n");
    }
    if report.has_changes() {
        text.push_str(&format!("\n`{LEGEND}`\n"));
    }
    let mut left = 0;
    for one in &report.environments {
        for section in &one.sections {
            let part = section_text(report, one, section);
            let length = text.chars().count() + part.chars().count();
            if left == 0 && length + ROOM <= most { text.push_str(&part) } else { left += 1 }
        }
    }
    if left > 0 {
        text.push_str(&format!("\n… {left} more edits: run `hiera-ls diff {arguments}`\n"));
    }
    write!(out, "{text}")
}

fn section_text(
    report: &ChangeReport<'_>,
    one: &EnvironmentReport<'_>,
    section: &Section,
) -> String {
    let head = one.head(report, section);
    if section.keys.is_empty() {
        let reason = one.effect_phrase(report, section);
        return format!("\n{}: {}\n", markdown_code(&head), escape_markdown(&reason));
    }
    let nodes = count_phrase(section.nodes().len(), one.noun());
    let mut text = format!(
        "\n<details><summary>{}: {}, {nodes}</summary>\n",
        html_text(&head),
        count_phrase(section.key_names().len(), "key")
    );
    for key in &section.keys {
        let nodes = one.nodes_phrase(&key.nodes);
        text.push_str(&format!(
            "\n{} {} — {}\n",
            markdown_code(&key.kind.sign().to_string()),
            markdown_code(&key.title()),
            escape_markdown(&nodes)
        ));
        let mut lines = String::new();
        for part in key.parts.iter().take(SHOWN_PARTS) {
            let path =
                if part.path.is_empty() { String::new() } else { format!("{}: ", part.path) };
            let place =
                part.place.as_ref().map_or_else(String::new, |it| format!("  # {}", it.name));
            let whose = if part.nodes == key.nodes {
                String::new()
            } else {
                format!("@@ {} @@\n", one.nodes_phrase(&part.nodes))
            };
            lines.push_str(&format!(
                "{whose}- {path}{}{place}\n+ {path}{}\n",
                part.before, part.after
            ));
        }
        text.push_str(&format!("\n{}", markdown_block("diff", &lines)));
        if key.parts.len() > SHOWN_PARTS {
            text.push_str(&format!("{} more\n", key.parts.len() - SHOWN_PARTS));
        }
    }
    text.push_str("\n</details>\n");
    text
}

/// Returns a text as it stands within an element of HTML.
pub(super) fn html_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
