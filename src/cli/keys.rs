//! `hiera-ls keys`: the keys of the data, and their readers.

use std::io::Write;

use serde_json::{Value as Json, json};

use super::{ArgumentSettings, Failure, KeysArguments, Opened, Status, open};
use crate::ide::phrases::PlaceNames;
use crate::ide::readers::{KeyReader, ReadKey, ReaderKind, keys_of, readers_of};
use crate::manifest::model::Parameter;
use crate::text::escape::escape_terminal;
use crate::text::{Span, count_phrase};
use crate::workspace::EnvironmentView;
use crate::workspace::environments::Environment;
use crate::workspace::manifests::{DefinitionAt, KeyStanding, ModuleOrigin};

pub(super) fn run(arguments: &KeysArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let opened = open(&arguments.root, None, ArgumentSettings::new(), None)?;
    opened.note_settings();
    let mut found = false;
    for environment in opened.environments()? {
        let names = PlaceNames { snapshot: &opened.snapshot, root: &opened.root };
        let report = Report { opened: &opened, environment, names };
        let lines = match (&arguments.readers, &arguments.class) {
            (Some(key), _) => report.reader_lines(key),
            (None, Some(class)) => report.class_lines(class.trim_start_matches("::")),
            (None, None) if arguments.classes => report.class_names(),
            (None, None) if arguments.unset => report.unset_lines(),
            (None, None) => report.key_lines(arguments.unread),
        };
        found |= !lines.is_empty();
        let class = arguments.class.as_deref().map(|class| class.trim_start_matches("::"));
        if let Some(class) = class.filter(|class| lines.is_empty() && report.has_class(class)) {
            super::print_note(&format!("the class '{class}' has no parameters"));
            found = true;
        }
        write(lines, arguments.format == "json", out)?;
    }
    match (&arguments.readers, &arguments.class) {
        (Some(key), _) if !found => super::print_note(&format!("nothing here reads '{key}'")),
        (_, Some(class)) if !found => super::print_note(&format!("no class '{class}' is here")),
        _ => return Ok(Status::Good),
    }
    Ok(Status::Bad)
}

/// A line of a report: its subject, the text about it, and the lines below it.
struct ReportLine {
    subject: String,
    text: String,
    /// The lines below the report line, for people.
    more: Vec<String>,
    json: Json,
}

fn write(lines: Vec<ReportLine>, as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let length = |line: &ReportLine| line.subject.chars().count();
    let width = lines.iter().map(length).filter(|length| *length <= 60).max().unwrap_or(0);
    for line in lines {
        if as_json {
            writeln!(out, "{}", line.json)?;
            continue;
        }
        writeln!(
            out,
            "{:width$}  {}",
            escape_terminal(&line.subject),
            escape_terminal(&line.text)
        )?;
        for text in line.more {
            writeln!(out, "    {}", escape_terminal(&text))?;
        }
    }
    Ok(())
}

struct Report<'a> {
    opened: &'a Opened,
    environment: &'a Environment,
    names: PlaceNames<'a>,
}

impl Report<'_> {
    fn key_lines(&self, only_unread: bool) -> Vec<ReportLine> {
        let index = self.opened.snapshot.manifests(self.environment);
        let has_puppetfile = index.has_puppetfile();
        let all = keys_of(&self.opened.snapshot, self.environment);
        let asked = all.iter().filter(|one| !only_unread || one.is_unread(has_puppetfile));
        asked.map(|one| self.key_line(one, only_unread, has_puppetfile)).collect()
    }

    fn key_line(&self, one: &ReadKey<'_>, with_places: bool, has_puppetfile: bool) -> ReportLine {
        let places: Vec<String> =
            one.definitions.iter().map(|span| self.names.place_name(*span)).collect();
        let count = count_phrase(one.definitions.len(), "definition");
        ReportLine {
            subject: one.key.to_owned(),
            text: format!("{}; {count}", self.standing_phrase(one)),
            more: if with_places { places } else { Vec::new() },
            json: json!({
                "key": one.key,
                "environment": self.environment.name, "root": self.environment.root.as_str(),
                "reader": standing_name(&one.standing),
                "unread": one.is_unread(has_puppetfile),
                "definitions": one.definitions.iter().map(|span| self.place_json(*span)).collect::<Vec<_>>(),
            }),
        }
    }

    /// Returns the readers of a key, in words.
    fn standing_phrase(&self, one: &ReadKey<'_>) -> String {
        let module = one.key.split("::").next().unwrap_or_default();
        match &one.standing {
            KeyStanding::Parameter(found) => {
                let place = Span::in_file(found.file.id, found.parameter.range);
                format!("parameter of class {}, {}", found.class.name, self.names.place_name(place))
            }
            KeyStanding::Call => "calls in code".into(),
            KeyStanding::Data => "tokens in data".into(),
            KeyStanding::NoParameter(class) => {
                format!("nothing: class {} has no such parameter", class.definition.name)
            }
            KeyStanding::DefinedType(found) => {
                format!("nothing: {} is a defined type", found.definition.name)
            }
            KeyStanding::MisplacedClass(found) => {
                let place = Span::in_file(found.file.id, found.definition.name_range);
                let place = self.names.place_name(place);
                format!("nothing: Puppet does not look for the class in {place}")
            }
            KeyStanding::NoClass => format!("nothing: module {module} has no such class"),
            KeyStanding::AbsentModule(ModuleOrigin::Installed) => {
                format!("unknown: module {module} is not here, a Puppetfile installs it")
            }
            KeyStanding::AbsentModule(_) => {
                format!("nothing here: module {module} is neither here nor in a Puppetfile")
            }
            KeyStanding::Plain => "nothing".into(),
            KeyStanding::Unknown => "unknown: the code that is here does not tell".into(),
        }
    }

    fn reader_lines(&self, key: &str) -> Vec<ReportLine> {
        let all = readers_of(&self.opened.snapshot, self.environment, key);
        all.iter().map(|one| self.reader_line(one)).collect()
    }

    fn reader_line(&self, one: &KeyReader) -> ReportLine {
        let (text, mut json) = match &one.kind {
            ReaderKind::Parameter { class } => (
                format!("parameter of class {class}"),
                json!({"reader": "parameter", "class": class}),
            ),
            ReaderKind::Call { function, merge } => {
                let text = match merge {
                    Some(merge) => format!("{function}, merge {merge}"),
                    None => (*function).to_owned(),
                };
                (text, json!({"reader": "call", "function": function, "merge": merge}))
            }
            ReaderKind::ComputedCall { function, pattern } => (
                format!("{function} of '{pattern}', perhaps"),
                json!({"reader": "computed-call", "function": function, "pattern": pattern}),
            ),
            ReaderKind::Token { root } => {
                (format!("token in '{root}'"), json!({"reader": "token", "key": &**root}))
            }
        };
        json["place"] = self.place_json(one.place);
        ReportLine { subject: self.names.place_name(one.place), text, more: Vec::new(), json }
    }

    fn class_lines(&self, name: &str) -> Vec<ReportLine> {
        let index = self.opened.snapshot.manifests(self.environment);
        let Some(class) = index.loaded_class(name) else { return Vec::new() };
        let parameters = class.definition.parameters.iter();
        parameters.map(|parameter| self.parameter_line(&class, parameter)).collect()
    }

    fn has_class(&self, name: &str) -> bool {
        self.opened.snapshot.manifests(self.environment).loaded_class(name).is_some()
    }

    /// Returns the classes that Puppet would load, in the order of their names.
    fn classes(&self) -> Vec<DefinitionAt<'_>> {
        let index = self.opened.snapshot.manifests(self.environment);
        let mut names: Vec<&str> = index.all_definition_names().collect();
        names.sort_unstable();
        names.into_iter().filter_map(|name| index.loaded_class(name)).collect()
    }

    fn class_names(&self) -> Vec<ReportLine> {
        let view = self.opened.snapshot.view(self.environment);
        let line = |class: DefinitionAt<'_>| {
            let (name, parameters) = (&class.definition.name, &class.definition.parameters);
            let set = parameters.iter().filter(|one| is_parameter_set(name, one, &view)).count();
            let missing = parameters
                .iter()
                .filter(|one| one.default.is_none() && !is_parameter_set(name, one, &view))
                .count();
            let count = parameters.len();
            let open = match missing {
                0 => String::new(),
                missing => format!(", {missing} required and set nowhere here"),
            };
            ReportLine {
                subject: name.clone(),
                text: format!("{}, {set} set in data{open}", count_phrase(count, "parameter")),
                more: Vec::new(),
                json: json!({
                    "class": name,
                    "environment": self.environment.name, "root": self.environment.root.as_str(),
                    "parameters": count,
                    "set": set,
                    "missing": missing,
                    "place": self.place_json(Span::in_file(class.file.id, class.definition.range)),
                }),
            }
        };
        self.classes().into_iter().map(line).collect()
    }

    /// Returns the parameters that no data here sets, those of each class in its order.
    fn unset_lines(&self) -> Vec<ReportLine> {
        let view = self.opened.snapshot.view(self.environment);
        let mut lines = Vec::new();
        for class in self.classes() {
            for parameter in &class.definition.parameters {
                if !view.is_defined(&format!("{}::{}", class.definition.name, parameter.name)) {
                    lines.push(self.parameter_line(&class, parameter));
                }
            }
        }
        lines
    }

    fn parameter_line(&self, class: &DefinitionAt<'_>, parameter: &Parameter) -> ReportLine {
        let key = format!("{}::{}", class.definition.name, parameter.name);
        let view = self.opened.snapshot.view(self.environment);
        let definitions: Vec<Span> =
            view.root_members(&key).filter_map(|member| member.key_origin).collect();
        let data_type = parameter.data_type.as_ref().map(|one| one.text.as_str());
        let set = match (definitions.len(), parameter.default.is_some()) {
            (0, true) => "its default".to_owned(),
            (0, false) => "required, and set nowhere here".to_owned(),
            (count, _) => format!("set in {}", count_phrase(count, "file")),
        };
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        ReportLine {
            text: format!("{}: {set}", one_line(data_type.unwrap_or("Any"))),
            more: definitions.iter().map(|span| self.names.place_name(*span)).collect(),
            json: json!({
                "key": key,
                "environment": self.environment.name, "root": self.environment.root.as_str(),
                "type": data_type,
                "required": parameter.default.is_none(),
                "place": self.place_json(Span::in_file(class.file.id, parameter.range)),
                "definitions": definitions.iter().map(|span| self.place_json(*span)).collect::<Vec<_>>(),
            }),
            subject: key,
        }
    }

    fn place_json(&self, span: Span) -> Json {
        let path = self.opened.snapshot.path_of(span.file).map(|path| self.names.short_path(path));
        json!({"path": path, "line": self.names.line_number(span)})
    }
}

fn is_parameter_set(class: &str, parameter: &Parameter, view: &EnvironmentView<'_>) -> bool {
    view.is_defined(&format!("{class}::{}", parameter.name))
}

/// Returns the readers of a key, as scripts see them.
fn standing_name(standing: &KeyStanding<'_>) -> &'static str {
    match standing {
        KeyStanding::Parameter(_) => "parameter",
        KeyStanding::Call => "call",
        KeyStanding::Data => "token",
        KeyStanding::NoParameter(_) => "no-parameter",
        KeyStanding::DefinedType(_) => "defined-type",
        KeyStanding::MisplacedClass(_) => "misplaced-class",
        KeyStanding::NoClass => "no-class",
        KeyStanding::AbsentModule(_) => "absent-module",
        KeyStanding::Plain => "none",
        KeyStanding::Unknown => "unknown",
    }
}
