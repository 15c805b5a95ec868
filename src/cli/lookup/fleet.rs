//! `lookup KEY --nodes`: the values of one key on many nodes, each with the nodes that get it.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use super::{LookupArguments, merge_argument, print_options, shows_places};
use crate::cli::answers::{
    AnswerPrinter, JsonNames, PrintedAnswer, Verdict, join_alike, write_group,
};
use crate::cli::node_names::{choose_nodes, known_nodes};
use crate::cli::{Failure, Opened, Render, Status, note_unapplied};
use crate::fleet::groups::Group;
use crate::fleet::node_values::NodeValues;
use crate::hiera::key::LookupKey;
use crate::hiera::resolution::{Resolution, Unapplied};
use crate::ide::node_names::name_ranges;
use crate::ide::phrases::PlaceNames;
use crate::puppet::print;
use crate::text::escape::escape_terminal;
use crate::workspace::environments::Environment;
use crate::workspace::nodes::Node;

/// Prints the answers for the nodes that `choice` names, those of most nodes first. The status is
/// that of the node that fares worst.
pub(super) fn answer_fleet(
    arguments: &LookupArguments,
    choice: &str,
    opened: &Opened,
    environment: &Environment,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let [key] = &arguments.keys[..] else {
        return Err(Failure("--nodes takes one key".into()));
    };
    let asked = LookupKey::parse(key).map_err(|_| Failure(format!("'{key}' is no key")))?;
    let merge = merge_argument(arguments)?;
    let (nodes, are_kinds) = known_nodes(&opened.snapshot, environment)?;
    let numbers = choose_nodes(choice, environment, nodes)?;
    let view = opened.snapshot.view(environment);
    let values = NodeValues::new(&opened.snapshot, environment, &view, &numbers);
    let groups = values.groups(&asked, merge.as_ref());
    note_conversions(&groups);
    let printer = AnswerPrinter {
        options: print_options(arguments),
        names: PlaceNames { snapshot: &opened.snapshot, root: &opened.root },
        has_places: arguments.render_as.is_none() && shows_places(arguments),
    };
    let report = FleetReport { arguments, key, printer, nodes, are_kinds, count: numbers.len() };
    report.write(&groups, out)
}

/// Notes each conversion that was left out once.
fn note_conversions(groups: &[Group]) {
    let all = groups.iter().flat_map(Group::resolutions);
    let all = all.flat_map(|resolution| &resolution.unapplied_conversions);
    let distinct: BTreeSet<(Arc<str>, String)> =
        all.map(|one| (one.key.clone(), one.to.clone())).collect();
    let distinct: Vec<Unapplied> =
        distinct.into_iter().map(|(key, to)| Unapplied { key, to }).collect();
    note_unapplied(&distinct);
}

struct FleetReport<'a> {
    arguments: &'a LookupArguments,
    key: &'a str,
    printer: AnswerPrinter<'a>,
    nodes: &'a [Arc<Node>],
    are_kinds: bool,
    /// How many nodes were asked about.
    count: usize,
}

/// The text behind the number of nodes, and the value or the cases.
type PrintedText = (String, String);

impl FleetReport<'_> {
    fn write(&self, groups: &[Group], out: &mut dyn Write) -> Result<Status, Failure> {
        let is_json = self.arguments.render_as == Some(Render::Json);
        let answers = join_alike(groups, |group| {
            if is_json {
                (String::new(), self.printer.group_members(group))
            } else {
                self.group_text(group)
            }
        });
        if is_json {
            let names = JsonNames::new(self.nodes);
            for PrintedAnswer { printed: (_, members), nodes, .. } in &answers {
                write_group((self.key, &names), nodes, members, out)?;
            }
        } else {
            answers.iter().try_for_each(|answer| self.write_text(answer, out))?;
        }
        let worst = answers.iter().map(|answer| answer.verdict).max();
        Ok(worst.unwrap_or(Verdict::NotFound).to_status())
    }

    fn write_text(
        &self,
        answer: &PrintedAnswer<PrintedText>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let (head, body) = &answer.printed;
        let noun = match (self.are_kinds, self.count) {
            (true, 1) => "kind of nodes",
            (true, _) => "kinds of nodes",
            (false, 1) => "node",
            (false, _) => "nodes",
        };
        writeln!(out, "# {} of {} {noun}{head}", answer.nodes.len(), self.count)?;
        if self.arguments.lines {
            writeln!(out, "#   {}", escape_terminal(&self.names_text(answer)))?;
        }
        Ok(write!(out, "{body}")?)
    }

    fn group_text(&self, group: &Group) -> PrintedText {
        if group.cases.is_empty() {
            return (self.remark(&group.resolution), self.value_text(&group.resolution));
        }
        let mut body = String::new();
        for case in &group.cases {
            let when = match &case.when[..] {
                [] => "else".to_owned(),
                when => {
                    format!(
                        "if {}",
                        when.iter()
                            .map(|(name, value): &(String, String)| format!("{name} = {value}"))
                            .collect::<Vec<_>>()
                            .join(", ")
                    )
                }
            };
            body.push_str(&format!("# {}", escape_terminal(&when)));
            match &case.resolution {
                None => body.push_str(": not looked up, as there are too many cases\n"),
                Some(resolution) => {
                    body.push_str(&format!("{}\n", self.remark(resolution)));
                    body.push_str(&self.value_text(resolution));
                }
            }
        }
        (", by variables that are not known".into(), body)
    }

    fn remark(&self, resolution: &Resolution) -> String {
        let remark = self.printer.remark(resolution);
        remark.map_or_else(String::new, |remark| format!(": {}", escape_terminal(&remark)))
    }

    /// Returns the value as a document of YAML.
    fn value_text(&self, resolution: &Resolution) -> String {
        let text = match (&resolution.value, self.arguments.render_as) {
            (Ok(Some(value)), Some(Render::S)) => {
                format!("{}\n", print::print_text(value, &self.printer.options))
            }
            _ => self.printer.value_text(resolution),
        };
        if text.is_empty() { text } else { format!("---\n{text}") }
    }

    fn names_of(&self, answer: &PrintedAnswer<PrintedText>) -> Vec<&str> {
        answer.nodes.iter().map(|number| &*self.nodes[*number].name).collect()
    }

    fn names_text(&self, answer: &PrintedAnswer<PrintedText>) -> String {
        let names = self.names_of(answer);
        if self.are_kinds { names.join("; ") } else { name_ranges(&names, names.len()) }
    }
}
