//! `hiera-ls dump`: all effective data of a node, or of many, by the data's own merge strategies.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::answers::{AnswerPrinter, JsonNames, join_alike, write_group};
use super::lookup::find_scope;
use super::node_names::{choose_nodes, glob_regex, known_nodes};
use super::progress::while_printing;
use super::{ArgumentSettings, Failure, Opened, RootArguments, Status, open};
use crate::fleet::node_values::NodeValues;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{Context, LOOKUP_OPTIONS, Resolver};
use crate::hiera::resolution::Resolution;
use crate::hiera::scope::Scope;
use crate::ide::phrases::PlaceNames;
use crate::puppet::print::{self, PrintOptions};
use crate::text::escape::{escape_terminal, terminal_lines};
use crate::text::similar::suggestion;
use crate::workspace::environments::Environment;
use crate::workspace::files::parallel::write_on_all_cores;

/// The arguments of `dump`.
#[derive(Debug, Args)]
pub struct DumpArguments {
    /// The node [default: the settings' node].
    #[arg(long, value_name = "CERTNAME")]
    node: Option<String>,
    /// Many nodes: `all`, names and globs with commas between them, or @FILE with one a line.
    #[arg(long, value_name = "NODES", conflicts_with = "node")]
    nodes: Option<String>,
    /// Only these keys: names and globs with commas between them.
    #[arg(long, value_name = "KEYS")]
    keys: Option<String>,
    /// How to print the data [default: yaml; with --nodes: jsonl].
    #[arg(long, value_name = "FORMAT")]
    format: Option<DumpFormat>,
    /// With jsonl: a line for each value of a key with all nodes that get it, instead of a line for
    /// each node.
    #[arg(long, requires = "nodes")]
    groups: bool,
    #[command(flatten)]
    root: RootArguments,
}

/// How effective data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DumpFormat {
    /// A document of YAML a node, with the file and line of each value as comments.
    Yaml,
    /// A line of JSON for each node and key: node, key, value, file, line.
    Jsonl,
}

pub(super) fn run(arguments: &DumpArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let opened = open(&arguments.root, None, ArgumentSettings::new(), None)?;
    opened.note_settings();
    let environment = opened.single_environment(arguments.root.environment.as_deref())?.clone();
    let dump = Dump {
        opened: &opened,
        environment: &environment,
        keys: keys_to_print(&opened, arguments.keys.as_deref())?,
        printer: AnswerPrinter {
            options: PrintOptions::default(),
            names: PlaceNames { snapshot: &opened.snapshot, root: &opened.root },
            has_places: true,
        },
    };
    while_printing("looking keys up", || dump.write(arguments, out))?;
    Ok(Status::Good)
}

/// Returns the root keys that files of the workspace define, in order, as far as one of the keys or
/// globs with commas between them matches.
///
/// Errors: a key or glob that matches no key.
pub(super) fn keys_to_print(opened: &Opened, keys: Option<&str>) -> Result<Vec<Arc<str>>, Failure> {
    let index = opened.snapshot.keys();
    let all = index.keys().filter(|key| ***key != *LOOKUP_OPTIONS);
    let Some(keys) = keys else { return Ok(all.cloned().collect()) };
    let all: Vec<&Arc<str>> = all.collect();
    let mut chosen: BTreeSet<&Arc<str>> = BTreeSet::new();
    for part in keys.split(',').map(str::trim) {
        let glob = glob_regex(part)?;
        let mut found =
            all.iter().copied().filter(|key| glob.is_match(&key.to_lowercase())).peekable();
        if found.peek().is_none() {
            let hint = suggestion(part, all.iter().map(|key| &***key));
            return Err(Failure(format!("no file defines a key '{part}'{hint}")));
        }
        chosen.extend(found);
    }
    Ok(chosen.into_iter().cloned().collect())
}

struct Dump<'a> {
    opened: &'a Opened,
    environment: &'a Environment,
    keys: Vec<Arc<str>>,
    printer: AnswerPrinter<'a>,
}

impl Dump<'_> {
    fn write(&self, arguments: &DumpArguments, out: &mut dyn Write) -> Result<(), Failure> {
        let usual = if arguments.nodes.is_some() { DumpFormat::Jsonl } else { DumpFormat::Yaml };
        match (&arguments.nodes, arguments.format.unwrap_or(usual)) {
            (Some(choice), DumpFormat::Jsonl) => self.write_lines(choice, arguments.groups, out),
            (Some(choice), DumpFormat::Yaml) => {
                if arguments.groups {
                    return Err(Failure("--groups prints lines of JSON: --format jsonl".into()));
                }
                let (nodes, _) = known_nodes(&self.opened.snapshot, self.environment)?;
                for number in choose_nodes(choice, self.environment, nodes)? {
                    self.write_document(&nodes[number].name, &nodes[number].scope, out)?;
                }
                Ok(())
            }
            (None, format) => {
                let (environment, node) = (self.environment, arguments.node.as_deref());
                let (name, scope) = find_scope(self.opened, environment, node, &environment.name)?;
                match format {
                    DumpFormat::Yaml => self.write_document(&name, &scope, out),
                    DumpFormat::Jsonl => self.write_node_lines(&name, &scope, out),
                }
            }
        }
    }

    /// Writes a document of YAML: the keys that have a value, with places in comments. Keys whose
    /// lookup fails, or that levels leave open, are comments.
    fn write_document(
        &self,
        name: &str,
        scope: &Scope,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        writeln!(out, "---\n# {} in {}", escape_terminal(name), self.environment.name)?;
        self.look_up_all(scope, |key, resolution| {
            let remark = self.printer.remark(&resolution).map(|remark| one_line(&remark));
            match (&resolution.value, remark) {
                (Ok(Some(value)), remark) => {
                    if let Some(remark) = remark {
                        writeln!(out, "# {}: {}", escape_terminal(key), escape_terminal(&remark))?;
                    }
                    let lines = print::entry_lines(key, value, &self.printer.options);
                    let place = |origin| Some(self.printer.names.place_name(origin));
                    write!(out, "{}", terminal_lines(&print::with_comments(&lines, &place)))?;
                }
                (Ok(None), _) if resolution.unsettled_levels.is_empty() => {}
                (_, remark) => {
                    let remark = remark.unwrap_or_default();
                    writeln!(out, "# {}: {}", escape_terminal(key), escape_terminal(&remark))?;
                }
            }
            Ok(())
        })
    }

    /// Writes a line of JSON for each key that has a value in a scope, or may have one.
    fn write_node_lines(
        &self,
        name: &str,
        scope: &Arc<Scope>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let snapshot = &self.opened.snapshot;
        let view = snapshot.view(self.environment);
        let values = NodeValues::new(snapshot, self.environment, &view, &[]);
        let node = serde_json::to_string(name)?;
        self.look_up_all(scope, |key, resolution| {
            if is_told(&resolution) {
                let group = values.group_of_scope(&LookupKey::of_root(key), scope, resolution);
                writeln!(out, "{}", node_line(&node, key, &self.printer.group_members(&group)))?;
            }
            Ok(())
        })
    }

    /// Looks all keys up in a scope, as Puppet does.
    fn look_up_all(
        &self,
        scope: &Scope,
        mut write: impl FnMut(&str, Resolution) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let snapshot = &self.opened.snapshot;
        let view = snapshot.view(self.environment);
        let context = snapshot.lookup_context(self.environment, &view, scope);
        let resolver = Resolver::new(Context { tolerant: false, ..context });
        for key in &self.keys {
            write(key, resolver.lookup(&LookupKey::of_root(key), None))?;
        }
        Ok(())
    }

    /// Writes a line of JSON for each key and node, or for each key and group of nodes, key by key,
    /// on all cores: the answers for a few keys alone are in memory. Keys that have no value on a node
    /// have no line.
    fn write_lines(&self, choice: &str, groups: bool, out: &mut dyn Write) -> Result<(), Failure> {
        let snapshot = &self.opened.snapshot;
        let (nodes, _) = known_nodes(snapshot, self.environment)?;
        let numbers = choose_nodes(choice, self.environment, nodes)?;
        let view = snapshot.view(self.environment);
        let values = NodeValues::new(snapshot, self.environment, &view, &numbers).for_threads();
        let names = JsonNames::new(nodes);
        write_on_all_cores(&self.keys, out, values, |values, key, out| {
            self.write_lines_of_key(values, &names, (key, groups), out)
        })
    }

    fn write_lines_of_key(
        &self,
        values: &NodeValues<'_>,
        names: &JsonNames,
        (key, groups): (&str, bool),
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let found = values.groups(&LookupKey::of_root(key), None);
        let told = found.iter().filter(|group| is_told(&group.resolution));
        let answers = join_alike(told, |group| self.printer.group_members(group));
        if groups {
            for answer in &answers {
                write_group((key, names), &answer.nodes, &answer.printed, out)?;
            }
            return Ok(());
        }
        let lines = answers.iter().flat_map(|answer| {
            answer.nodes.iter().map(|number| (*number, answer.printed.as_str()))
        });
        let mut lines: Vec<(usize, &str)> = lines.collect();
        lines.sort_unstable();
        for (number, members) in lines {
            writeln!(out, "{}", node_line(names.name(number), key, members))?;
        }
        Ok(())
    }
}

/// Whether a record is written of an answer: not of a key that certainly has no value.
fn is_told(resolution: &Resolution) -> bool {
    !matches!(resolution.value, Ok(None)) || !resolution.unsettled_levels.is_empty()
}

/// Returns a line of JSON for a node, whose name is a text of JSON, without its end.
fn node_line(node: &str, key: &str, members: &str) -> String {
    let mut line = format!("{{\"node\":{node},\"key\":");
    print::json_string(key, &mut line);
    line + members + "}"
}

fn one_line(text: &str) -> String {
    text.split(char::is_control).collect::<Vec<_>>().join(" ")
}
