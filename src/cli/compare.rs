//! `hiera-ls compare`: the keys whose effective values differ between two nodes, part by part.

use std::io::Write;
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::dump::keys_to_print;
use super::lookup::find_scope;
use super::{ArgumentSettings, Failure, Opened, RootArguments, Status, open};
use crate::fleet::leaves::{LeafDifference, leaf_differences, path_text};
use crate::fleet::ways::ReadWay;
use crate::hiera::Scope;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{Context, Resolver};
use crate::hiera::resolution::Resolution;
use crate::ide::phrases::PlaceNames;
use crate::puppet::print::{self, PrintOptions};
use crate::puppet::value::Value;
use crate::text::escape::escape_terminal;
use crate::workspace::environments::Environment;

/// The most differing parts of one key to print for people.
const SHOWN_PARTS: usize = 20;
/// The longest value on a line, in bytes.
const SHOWN_BYTES: usize = 160;

/// The arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The two nodes.
    #[arg(value_name = "NODE", num_args = 2, required = true)]
    nodes: Vec<String>,
    /// Only these keys: names and globs with commas between them.
    #[arg(long, value_name = "KEYS")]
    keys: Option<String>,
    /// For people, or a line of JSON each.
    #[arg(long, value_name = "FORMAT", default_value = "human", value_parser = ["human", "json"])]
    format: String,
    #[command(flatten)]
    root: RootArguments,
}

pub(super) fn run(arguments: &CompareArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let [one, other] = &arguments.nodes[..] else {
        return Err(Failure("two nodes are compared".into()));
    };
    let opened = open(&arguments.root, None, ArgumentSettings::new(), None)?;
    opened.note_settings();
    let environment = opened.single_environment(arguments.root.environment.as_deref())?.clone();
    let keys = keys_to_print(&opened, arguments.keys.as_deref())?;
    let ((one, first), (other, second)) = (
        find_node_scope(one, &opened, &environment)?,
        find_node_scope(other, &opened, &environment)?,
    );
    let snapshot = &opened.snapshot;
    let view = snapshot.view(&environment);
    let resolver = |scope| {
        let context = snapshot.lookup_context(&environment, &view, scope);
        Resolver::new(Context { tolerant: false, ..context })
    };
    let (first, second) = (resolver(&*first), resolver(&*second));
    let report = CompareReport { opened: &opened, environment: &environment, one, other };
    let is_human = arguments.format == "human";
    if is_human {
        report.write_legend(out)?;
    }
    let mut differing = 0;
    for key in &keys {
        let mut differs = false;
        for way in ReadWay::ways_of_key(snapshot, &environment, key) {
            let asked = LookupKey::of_root(key);
            let (a, b) = (way.lookup(&first, &asked), way.lookup(&second, &asked));
            if !way.is_certain || is_same(&a, &b) {
                continue;
            }
            differs = true;
            if is_human {
                report.write_difference(key, &way, &a, &b, out)?;
            } else {
                report.write_json(key, &way, &a, &b, out)?;
            }
        }
        differing += usize::from(differs);
    }
    if is_human {
        writeln!(out, "{differing} of {} keys differ", keys.len())?;
    }
    Ok(if differing == 0 { Status::Good } else { Status::Bad })
}

fn find_node_scope(
    name: &str,
    opened: &Opened,
    environment: &Environment,
) -> Result<(String, Arc<Scope>), Failure> {
    find_scope(opened, environment, Some(name), &environment.name)
}

fn is_same(one: &Resolution, other: &Resolution) -> bool {
    match (&one.value, &other.value) {
        (Ok(one), Ok(other)) => one == other,
        (Err(one), Err(other)) => {
            let options = PrintOptions::default();
            one.print_message(&options) == other.print_message(&options)
        }
        _ => false,
    }
}

struct CompareReport<'a> {
    opened: &'a Opened,
    environment: &'a Environment,
    one: String,
    other: String,
}

impl CompareReport<'_> {
    fn write_legend(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let (one, other) = (escape_terminal(&self.one), escape_terminal(&self.other));
        writeln!(out, "{one} compared with {other}, in {}", self.environment.name)?;
        writeln!(
            out,
            "  - only {one}   + only {other}   ~ both, with other values   ! a lookup fails"
        )?;
        Ok(())
    }

    fn write_difference(
        &self,
        key: &str,
        way: &ReadWay<'_>,
        one: &Resolution,
        other: &Resolution,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let merge =
            way.strategy_name().map_or_else(String::new, |merge| format!("  (merge {merge})"));
        let key = escape_terminal(key);
        match (&one.value, &other.value) {
            (Ok(Some(a)), Ok(Some(b))) => {
                writeln!(out, "~ {key}{merge}")?;
                let leaves = leaf_differences(a, b);
                for LeafDifference { path, before, after } in leaves.iter().take(SHOWN_PARTS) {
                    let path = match path_text(path) {
                        path if path.is_empty() => String::new(),
                        path => format!("{}: ", escape_terminal(&path)),
                    };
                    writeln!(
                        out,
                        "    {path}{} | {}",
                        self.side_line(before),
                        self.side_line(after)
                    )?;
                }
                if leaves.len() > SHOWN_PARTS {
                    writeln!(out, "    {} more parts differ", leaves.len() - SHOWN_PARTS)?;
                }
            }
            (Ok(Some(value)), Ok(None)) => {
                writeln!(out, "- {key}{merge}: {}", self.value_line(value))?
            }
            (Ok(None), Ok(Some(value))) => {
                writeln!(out, "+ {key}{merge}: {}", self.value_line(value))?
            }
            _ => {
                writeln!(out, "! {key}{merge}")?;
                for (name, resolution) in [(&self.one, one), (&self.other, other)] {
                    let text = match &resolution.value {
                        Ok(Some(value)) => self.value_line(value),
                        Ok(None) => "not found".into(),
                        Err(error) => {
                            escape_terminal(&error.print_message(&PrintOptions::default()))
                                .into_owned()
                        }
                    };
                    writeln!(out, "    {}: {text}", escape_terminal(name))?;
                }
            }
        }
        Ok(())
    }

    fn side_line(&self, value: &Option<&Value>) -> String {
        value.map_or("(none)".into(), |value| self.value_line(value))
    }

    fn value_line(&self, value: &Value) -> String {
        escape_terminal(&self.value_text(value)).into_owned()
    }

    /// Returns a value on one line with its place.
    fn value_text(&self, value: &Value) -> String {
        let options = PrintOptions { max_json: Some(SHOWN_BYTES), ..PrintOptions::default() };
        let text = print::print_inline(value, &options);
        let cut = if text.len() > SHOWN_BYTES { "…" } else { "" };
        let end = (0..=SHOWN_BYTES.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let text = &text[..end.unwrap_or(0)];
        let names = PlaceNames { snapshot: &self.opened.snapshot, root: &self.opened.root };
        match value.origin {
            Some(origin) => format!("{text}{cut} ({})", names.place_name(origin)),
            None => format!("{text}{cut}"),
        }
    }

    fn write_json(
        &self,
        key: &str,
        way: &ReadWay<'_>,
        one: &Resolution,
        other: &Resolution,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let options = PrintOptions::default();
        let names = PlaceNames { snapshot: &self.opened.snapshot, root: &self.opened.root };
        let leaves: Vec<serde_json::Value> = match (&one.value, &other.value) {
            (Ok(Some(a)), Ok(Some(b))) => leaf_differences(a, b)
                .iter()
                .map(|leaf| {
                    let [before, after] = [leaf.before, leaf.after]
                        .map(|value| value.map(|value| placed_json(value, &options, &names)));
                    let nodes = json!({&self.one: before, &self.other: after});
                    json!({"path": path_text(&leaf.path), "nodes": nodes})
                })
                .collect(),
            _ => Vec::new(),
        };
        let line = json!({
            "key": key,
            "merge": way.strategy_name(),
            "nodes": {
                &self.one: side_json(one, &options, &names),
                &self.other: side_json(other, &options, &names),
            },
            "leaves": leaves,
        });
        writeln!(out, "{line}")?;
        Ok(())
    }
}

fn side_json(
    resolution: &Resolution,
    options: &PrintOptions<'_>,
    names: &PlaceNames<'_>,
) -> serde_json::Value {
    match &resolution.value {
        Ok(Some(value)) => placed_json(value, options, names),
        Ok(None) => json!({"found": false}),
        Err(error) => json!({"error": error.print_message(options)}),
    }
}

fn placed_json(
    value: &Value,
    options: &PrintOptions<'_>,
    names: &PlaceNames<'_>,
) -> serde_json::Value {
    let place = value.origin.map(|origin| names.place_name(origin));
    json!({"value": value_json(value, options), "place": place})
}

fn value_json(value: &Value, options: &PrintOptions<'_>) -> serde_json::Value {
    serde_json::from_str(&print::print_json(value, options)).unwrap_or_default()
}
