//! `hiera-ls config`: the `hiera.yaml` that governs each environment, the reason, and the others.

use std::io::Write;

use serde_json::json;

use super::{ArgumentSettings, ConfigArguments, Failure, Status, open};
use crate::ide::governing::{GoverningConfig, governing_configs};
use crate::puppetdb::{KeptState, Puppetdb};
use crate::text::FilePath;
use crate::text::escape::terminal_lines;
use crate::workspace::Snapshot;

pub(super) fn run(arguments: &ConfigArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let opened = open(&arguments.root, None, ArgumentSettings::new(), None)?;
    opened.note_settings();
    opened.environments()?;
    let all = governing_configs(&opened.snapshot);
    for (number, one) in all.iter().enumerate() {
        if arguments.json {
            let mut facts = as_json(one, &opened.snapshot);
            let source = opened.settings.usable_puppetdb(opened.snapshot.folders());
            facts["puppetdb"] = source.as_ref().map_or(serde_json::Value::Null, puppetdb_as_json);
            writeln!(out, "{facts}")?;
            continue;
        }
        if number > 0 {
            writeln!(out)?;
        }
        write!(out, "{}", terminal_lines(&one.page(&opened.snapshot)))?;
    }
    if !arguments.json {
        let page = opened.settings.puppetdb_page(opened.snapshot.folders());
        write!(out, "{}", terminal_lines(&page))?;
    }
    Ok(Status::Good)
}

/// Returns the state of a PuppetDB as scripts read it.
fn puppetdb_as_json(source: &Puppetdb) -> serde_json::Value {
    let KeptState { answer, failure } = source.kept().state();
    let answer = answer.map(|answer| {
        json!({
            "age": answer.age, "nodes": answer.nodes, "leftOut": answer.old.count,
            "fields": answer.fields,
        })
    });
    let failure = failure.map(|(age, reason)| json!({"age": age, "reason": reason}));
    json!({
        "url": source.url(), "query": source.query(), "answer": answer, "failure": failure,
    })
}

/// Returns the facts of an environment as scripts read them.
fn as_json(one: &GoverningConfig, snapshot: &Snapshot) -> serde_json::Value {
    let shown = |path: &FilePath| snapshot.shown_path(path).to_owned();
    let others = one.others.iter().map(|other| {
        json!({
            "path": shown(&other.path), "hieraConfig": other.hiera_config,
            "sharedFiles": other.shared, "ownFiles": other.own, "sample": other.is_sample,
        })
    });
    let levels = one.levels.iter().map(|level| {
        json!({
            "name": level.name, "function": level.function, "files": level.files,
            "locations": level.locations, "unread": level.unread,
            "describedBy": level.described_by,
        })
    });
    let datadirs = one.datadirs.iter().map(|place| {
        json!({
            "written": place.written, "found": shown(&place.found), "mapped": place.is_mapped,
        })
    });
    json!({
        "root": one.root.as_str(),
        "environment": one.environment,
        "config": one.config.as_ref().map(shown),
        "because": one.chosen_as.phrase(),
        "dataFiles": one.data_files,
        "others": others.collect::<Vec<_>>(),
        "levels": levels.collect::<Vec<_>>(),
        "datadirs": datadirs.collect::<Vec<_>>(),
        "assumed": one.assumed,
        "modules": one.modules.0,
        "nodes": one.nodes,
    })
}
