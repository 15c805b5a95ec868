//! The report for people, on a terminal and as a page of an editor: legend first, totals last.

use std::collections::HashMap;
use std::io::Write;

use super::ChangeReport;
use super::model::{ChangedKey, EnvironmentReport, Section};
use super::phrases::SHOWN_PARTS;
use crate::fleet::node_set::NodeSet;
use crate::ide::page_links::{PageLink, find_links};
use crate::text::FilePath;
use crate::text::escape::escape_terminal;

pub(crate) const LEGEND: &str =
    "! now fails   - no value any more   ~ other value   + new value   ? unknown variables decide";

pub(crate) fn write(report: &ChangeReport<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}", escape_terminal(&report.title()))?;
    if report.has_changes() {
        writeln!(out, "  {LEGEND}")?;
    }
    for one in &report.environments {
        if report.environments.len() > 1 && !one.edits.is_empty() {
            writeln!(out, "\nEnvironment {}", escape_terminal(&one.changes.after.name))?;
        }
        for section in &one.sections {
            write_section(report, one, section, out)?;
        }
        if report.environments.len() == 1 || !one.edits.is_empty() {
            writeln!(out, "\n{}", escape_terminal(&one.totals()))?;
        }
    }
    Ok(())
}

/// Returns the places that a page about a report names.
pub(crate) fn links_of(report: &ChangeReport<'_>, text: &str) -> Vec<PageLink> {
    let mut places: HashMap<String, (FilePath, u32)> = HashMap::new();
    for one in &report.environments {
        for edit in &one.edits {
            if let (path, Some(line)) = one.place(report, edit) {
                places.insert(format!("{path}:{line}"), (edit.path.clone(), line));
            }
        }
        let keys = one.sections.iter().flat_map(|section| &section.keys);
        for place in keys.flat_map(|key| &key.parts).filter_map(|part| part.place.as_ref()) {
            places.insert(place.name.clone(), (place.path.clone(), place.line));
        }
    }
    find_links(text, |word| {
        let name = word.trim_start_matches('(').trim_end_matches(')');
        let (path, line) = places.get(name)?;
        Some((name, path.clone(), *line))
    })
}

fn write_section(
    report: &ChangeReport<'_>,
    one: &EnvironmentReport<'_>,
    section: &Section,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "\n{}", escape_terminal(&one.head(report, section)))?;
    if section.keys.is_empty() {
        return writeln!(out, "  {}", escape_terminal(&one.effect_phrase(report, section)));
    }
    write_keys(one, &section.keys, out)
}

/// Writes keys that change, each with its parts and nodes.
pub(crate) fn write_keys(
    one: &EnvironmentReport<'_>,
    keys: &[ChangedKey],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut last: Option<NodeSet> = None;
    for key in keys {
        let title = key.title();
        let nodes = |nodes: &NodeSet| match last.as_ref() == Some(nodes) {
            true if nodes.len() > 1 => format!("the same {}", nodes.len()),
            _ => one.nodes_phrase(nodes),
        };
        match &key.parts[..] {
            [part] if part.path.is_empty() => {
                let line = format!("{}  {}    {}", title, part.change(), nodes(&part.nodes));
                writeln!(out, "  {} {}", key.kind.sign(), escape_terminal(&line))?;
            }
            parts => {
                let line = format!("{title}    {}", nodes(&key.nodes));
                writeln!(out, "  {} {}", key.kind.sign(), escape_terminal(&line))?;
                for part in parts.iter().take(SHOWN_PARTS) {
                    let whose = if part.nodes == key.nodes {
                        String::new()
                    } else {
                        format!("    {}", one.nodes_phrase(&part.nodes))
                    };
                    let line = format!("{}{whose}", part.change());
                    writeln!(out, "      {}", escape_terminal(&line))?;
                }
                if parts.len() > SHOWN_PARTS {
                    writeln!(out, "      {} more", parts.len() - SHOWN_PARTS)?;
                }
            }
        }
        last = Some(key.nodes.clone());
    }
    Ok(())
}
