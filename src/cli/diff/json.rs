//! The report as one document of JSON: complete, never cut.

use std::io::Write;

use serde_json::{Value as Json, json};

use super::Report;
use crate::fleet::compare::edits::Edit;
use crate::fleet::compare::key_change::KeyChange;
use crate::fleet::leaves::{LeafDifference, PathStep, leaf_differences};
use crate::fleet::node_set::NodeSet;
use crate::hiera::resolution::Resolution;
use crate::ide::change_report::ChangeReport;
use crate::ide::change_report::masking::HIDDEN;
use crate::ide::change_report::model::{ChangeKind, EnvironmentReport, Reporter};
use crate::ide::phrases::PlaceNames;
use crate::puppet::print::PrintOptions;
use crate::puppet::value::Value;
use crate::workspace::Snapshot;

/// The version of the format.
const VERSION: u32 = 1;

pub(super) fn write(
    Report { changes, commits, .. }: &Report<'_>,
    reporter: &Reporter<'_>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let side = |(name, commit): &(String, Option<String>)| json!({"rev": name, "commit": commit});
    let environments: Vec<Json> =
        changes.environments.iter().map(|one| environment_json(changes, reporter, one)).collect();
    let document = json!({
        "version": VERSION,
        "base": side(&commits[0]),
        "head": side(&commits[1]),
        "environments": environments,
    });
    writeln!(out, "{document}")
}

fn environment_json(
    report: &ChangeReport<'_>,
    reporter: &Reporter<'_>,
    one: &EnvironmentReport<'_>,
) -> Json {
    let changes = &one.changes;
    let changed = NodeSet::union(changes.changes.iter().map(|change| &change.nodes));
    let inferred = changes.compared.iter().filter(|node| changes.nodes[**node].scope.open).count();
    let all: Vec<Json> = changes
        .changes
        .iter()
        .zip(&one.edits_of_changes)
        .map(|(change, edits)| {
            let mut json = change_json(reporter, one, change);
            json["edits"] = edits.as_slice().into();
            json
        })
        .collect();
    let names = |names: &[std::sync::Arc<str>]| -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    };
    let refused = changes.refused.iter().map(|file| {
        let names = PlaceNames { snapshot: reporter.after, root: reporter.root };
        let nodes: Vec<&str> = file.nodes.iter().map(|node| &*changes.nodes[node].name).collect();
        json!({
            "file": names.short_path(&file.path),
            "kind": if file.is_after { "broken" } else { "mended" },
            "module": file.module.as_deref(),
            "nodes": nodes,
            "count": nodes.len(),
        })
    });
    json!({
        "environment": changes.after.name,
        "nodes": {
            "total": changes.compared.len(),
            "changed": changed.len(),
            "inferred": inferred,
            "kinds": changes.are_kinds,
            "added": names(&changes.added),
            "removed": names(&changes.removed),
        },
        "edits": one.edits.iter().map(|edit: &Edit| {
        let (file, line) = one.place(report, edit);
        let mut json = json!({"file": file, "line": line, "key": edit.key.as_deref(), "kind": edit.kind.name()});
        if let Some(note) = &edit.note {
            json["note"] = note.as_str().into();
        }
        json
    }).collect::<Vec<_>>(),
        "refused": refused.collect::<Vec<_>>(),
        "changes": all,
    })
}

pub(super) fn change_json(
    reporter: &Reporter<'_>,
    one: &EnvironmentReport<'_>,
    change: &KeyChange,
) -> Json {
    let masking = &reporter.masking;
    let is_hidden =
        masking.hides(&change.key, &change.before) || masking.hides(&change.key, &change.after);
    let json = |value: &Value| if is_hidden { HIDDEN.into() } else { masking.json(value) };
    let place = |snapshot: &Snapshot, value: &Value| {
        let names = PlaceNames { snapshot, root: reporter.root };
        let origin = value.origin?;
        let file = names.short_path(snapshot.path_of(origin.file)?).to_owned();
        Some(json!({"file": file, "line": names.line_number(origin)}))
    };
    let side = |snapshot: &Snapshot, resolution: &Resolution| match &resolution.value {
        Ok(Some(value)) => json!({"value": json(value), "origin": place(snapshot, value)}),
        Ok(None) => json!({"found": false, "settled": resolution.unsettled_levels.is_empty()}),
        Err(_) if is_hidden => json!({"error": HIDDEN}),
        Err(error) => {
            let options = PrintOptions { mask_encrypted: true, ..PrintOptions::default() };
            json!({"error": options.mask_message(error.print_message(&options))})
        }
    };
    let leaves: Vec<Json> = match (&change.before.value, &change.after.value) {
        (Ok(Some(before)), Ok(Some(after))) if !is_hidden => {
            leaf_differences(before, after).iter().map(|leaf| leaf_json(reporter, leaf)).collect()
        }
        _ => Vec::new(),
    };
    let nodes: Vec<&str> = change.nodes.iter().map(|node| &*one.changes.nodes[node].name).collect();
    let strategies: Vec<Option<&str>> = change.strategies.iter().map(Option::as_deref).collect();
    json!({
        "key": &*change.key,
        "strategies": strategies,
        "kind": ChangeKind::of_change(change).name(),
        "before": side(reporter.before, &change.before),
        "after": side(reporter.after, &change.after),
        "leaves": leaves,
        "nodes": nodes,
        "count": nodes.len(),
    })
}

fn leaf_json(reporter: &Reporter<'_>, leaf: &LeafDifference<'_>) -> Json {
    let mut hidden = false;
    let path: Vec<Json> = leaf
        .path
        .iter()
        .map(|step| match step {
            PathStep::Member(key) => {
                let key = key.to_text();
                hidden |= reporter.masking.hides_name(&key);
                Json::from(&*key)
            }
            PathStep::Element(number) => (*number).into(),
        })
        .collect();
    let json = |value: Option<&Value>| match value {
        Some(_) if hidden => HIDDEN.into(),
        Some(value) => reporter.masking.json(value),
        None => Json::Null,
    };
    let (has_before, has_after) = (leaf.before.is_some(), leaf.after.is_some());
    json!({
        "path": path, "before": json(leaf.before), "after": json(leaf.after),
        "added": !has_before, "removed": !has_after,
    })
}
