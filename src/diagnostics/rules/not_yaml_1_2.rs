//! `not-yaml-1-2`

use yaml_rust2::Event;
use yaml_rust2::parser::{MarkedEventReceiver, Parser};
use yaml_rust2::scanner::Marker;

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::data::DataFormat;
use crate::text::{Encoding, LineCol, Span, TextRange};
use crate::workspace::files::file::File;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "not-yaml-1-2",
    severity: Severity::Off,
    group: RuleGroup::Fragile,
    tag: None,
    summary: "text that Puppet reads and a YAML 1.2 reader does not",
    docs: include_str!("not_yaml_1_2.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::File(check),
};

/// Reports the place where a strict parser of YAML 1.2 fails; yaml-rust2 represents these parsers.
fn check(context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let file = context.file;
    let Some(text) = file.text().filter(|_| file.format() == DataFormat::Yaml) else { return };
    if file.data_as(DataFormat::Yaml).refusal().is_some() {
        return; // Puppet cannot read it either: another rule reports that.
    }
    let whole = text.to_str();
    let mut parser = Parser::new_from_str(&whole);
    let Err(error) = parser.load(&mut Nobody, true) else { return };
    let range = marker_range(file, error.marker());
    let message = format!("Puppet reads this, tools that follow YAML 1.2 do not: {}", error.info());
    findings.push(Finding::new(&RULE, Span::in_file(file.id, range), message));
}

/// Only the success of the parse counts, not the events.
struct Nobody;

impl MarkedEventReceiver for Nobody {
    fn on_event(&mut self, _: Event, _: Marker) {}
}

/// The line counts from 1, the column characters from 0; the index drifts behind block scalars and
/// is not used.
fn marker_range(file: &File, marker: &Marker) -> TextRange {
    let Some(text) = file.text() else { return TextRange::default() };
    let at = LineCol {
        line: u32::try_from(marker.line()).unwrap_or(1).saturating_sub(1),
        column: u32::try_from(marker.col()).unwrap_or(0),
    };
    let offset = text.offset_at(at, Encoding::Utf32).unwrap_or(text.len());
    let end = text.line_range(text.line_of(offset)).map_or(offset, |line| line.end);
    TextRange::new(offset, end)
}
