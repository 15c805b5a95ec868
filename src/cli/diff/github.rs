//! The report as commands of a GitHub workflow: a notice at each edit, a warning where a lookup fails
//! or finds nothing any more.

use std::io::Write;

use crate::ide::change_report::ChangeReport;
use crate::ide::change_report::model::ChangeKind;
use crate::text::count_phrase;
use crate::text::escape::{workflow_message, workflow_property};

/// The number of keys that a message names.
const SHOWN_KEYS: usize = 10;

pub(super) fn write(report: &ChangeReport<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    for one in &report.environments {
        for section in &one.sections {
            let is_grave = one.refused_file(section).is_some_and(|file| file.is_after)
                || section
                    .keys
                    .iter()
                    .any(|key| matches!(key.kind, ChangeKind::Error | ChangeKind::Lost));
            let level = if is_grave { "warning" } else { "notice" };
            let mut files = std::collections::BTreeSet::new();
            for number in &section.edits {
                let edit = &one.edits[*number];
                if !files.insert(&edit.path) {
                    continue;
                }
                let (path, line) = one.place(report, edit);
                let message = match section.keys.is_empty() {
                    true => one.effect_phrase(report, section),
                    false => {
                        let keys = section.key_names();
                        let shown: Vec<&str> = keys.iter().take(SHOWN_KEYS).copied().collect();
                        let more = match keys.len() - shown.len() {
                            0 => String::new(),
                            more => format!(" and {more} more"),
                        };
                        format!(
                            "changes {} on {}: {}{more}",
                            count_phrase(keys.len(), "key"),
                            count_phrase(section.nodes().len(), one.noun()),
                            shown.join(", ")
                        )
                    }
                };
                let message = match &edit.note {
                    Some(note) => format!("{note}; {message}"),
                    None => message,
                };
                let path = workflow_property(&path);
                let line = line.map_or_else(String::new, |line| format!(",line={line}"));
                writeln!(out, "::{level} file={path}{line}::{}", workflow_message(&message))?;
            }
        }
        writeln!(out, "{}", workflow_message(&one.totals()))?;
    }
    Ok(())
}
