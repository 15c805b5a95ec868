//! The report as one file for a browser: no script, nothing from elsewhere, readable on a telephone
//! and on a wide screen, in the light and in the dark.

use std::io::Write;

use super::markdown::html_text;
use crate::ide::change_report::ChangeReport;
use crate::ide::change_report::model::{ChangedPart, EnvironmentReport, Section};
use crate::text::count_phrase;

const STYLE: &str = include_str!("report.css");

pub(super) fn write(report: &ChangeReport<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let title = html_text(&report.title());
    writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<title>hiera-ls diff</title>\n<style>\n{STYLE}</style>\n</head>\n<body>")?;
    writeln!(out, "<header><h1>Effective changes</h1><p>{title}</p>")?;
    for one in &report.environments {
        writeln!(out, "<p class=\"totals\">{}</p>", html_text(&one.totals()))?;
    }
    if report.has_changes() {
        writeln!(
            out,
            "<ul class=\"legend\"><li><b class=\"error\">!</b> now fails</li><li><b class=\"lost\">-</b> no value any more</li><li><b class=\"value\">~</b> other value</li><li><b class=\"found\">+</b> new value</li><li><b class=\"open\">?</b> unknown variables decide</li></ul>"
        )?;
    }
    writeln!(out, "</header>\n<main>")?;
    for one in &report.environments {
        if report.environments.len() > 1 && !one.edits.is_empty() {
            writeln!(out, "<h2>{}</h2>", html_text(&one.changes.after.name))?;
        }
        for section in &one.sections {
            write_section(report, one, section, out)?;
        }
    }
    writeln!(out, "</main>\n</body>\n</html>")
}

fn write_section(
    report: &ChangeReport<'_>,
    one: &EnvironmentReport<'_>,
    section: &Section,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let head = one.head(report, section);
    let (place, what) = head.split_once("  ").unwrap_or((&head, ""));
    let (place, what) = (html_text(place), html_text(what));
    if section.keys.is_empty() {
        let effect = html_text(&one.effect_phrase(report, section));
        let class = match one.refused_file(section) {
            Some(_) => "",
            None => " class=\"quiet\"",
        };
        return writeln!(
            out,
            "<section{class}><h3><code>{place}</code> <span>{what}</span></h3><p>{effect}</p></section>"
        );
    }
    let nodes = count_phrase(section.nodes().len(), one.noun());
    let keys = count_phrase(section.key_names().len(), "key");
    writeln!(
        out,
        "<section><h3><code>{place}</code> <span>{what}</span> <span class=\"count\">{keys}, {nodes}</span></h3>"
    )?;
    for key in &section.keys {
        writeln!(
            out,
            "<article><h4><b class=\"{}\">{}</b> <code>{}</code></h4><p class=\"nodes\">{}</p><ul>",
            key.kind.name(),
            key.kind.sign(),
            html_text(&key.title()),
            html_text(&one.nodes_phrase(&key.nodes))
        )?;
        for part in &key.parts {
            let whose = match part.nodes == key.nodes {
                true => String::new(),
                false => {
                    format!("<p class=\"nodes\">{}</p>", html_text(&one.nodes_phrase(&part.nodes)))
                }
            };
            writeln!(out, "<li>{}{whose}</li>", part_html(part))?;
        }
        writeln!(out, "</ul></article>")?;
    }
    writeln!(out, "</section>")
}

fn part_html(part: &ChangedPart) -> String {
    let path = if part.path.is_empty() {
        String::new()
    } else {
        format!("<span class=\"path\">{}</span>", html_text(&part.path))
    };
    let place = part.place.as_ref().map_or_else(String::new, |place| {
        format!(" <span class=\"place\">{}</span>", html_text(&place.name))
    });
    format!(
        "{path}<del>{}</del>{place}<ins>{}</ins>",
        html_text(&part.before),
        html_text(&part.after)
    )
}
