//! `options-shape`

use crate::diagnostics::rule::{
    Check, DataContext, Dependence, Finding, Needs, Rule, RuleGroup, Severity, in_words,
};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::puppet::value::{Data, Member, Value};
use crate::text::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "options-shape",
    severity: Severity::Error,
    group: RuleGroup::Dead,
    tag: None,
    summary: "lookup_options, or an entry of them, that are no hash",
    docs: include_str!("options_shape.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Options(check),
};

fn check(member: &Member, context: &DataContext<'_>, findings: &mut Vec<Finding>) {
    let place = member.value.origin.or(member.key_origin);
    let Some(options) = member.value.as_hash() else {
        if let Some(span) = place.filter(|_| !member.value.is_live()) {
            findings.push(no_hash(context, &member.value, span));
        }
        return;
    };
    for (key, entry) in options {
        let name = key.to_text();
        if key.as_str().is_none()
            && let Some(span) = entry.key_origin
        {
            let message = format!(
                "the key {name} is no string: every lookup in this layer fails for it; quote it"
            );
            findings.push(Finding::new(&RULE, span, message));
        }
        let Some(span) = entry.value.origin else { continue };
        match entry.value.data() {
            Data::Hash(_) | Data::Null => {}
            Data::String(_) if entry.value.is_live() => {}
            Data::String(_) => {
                let message = format!(
                    "the options of '{name}' are a string, which Puppet passes over without a word: `merge: …` is missing"
                );
                let mut finding = Finding::new(&RULE, span, message);
                finding.severity = Severity::Warning;
                findings.push(finding);
            }
            _ => {
                let message = format!(
                    "the options of '{name}' must be a hash, this is {}: lookups of it fail",
                    in_words(entry.value.type_name())
                );
                findings.push(Finding::new(&RULE, span, message));
            }
        }
        bad_conversion(&name, &entry.value, findings);
    }
}

/// Puppet ignores `null`, unless another file has options: these cannot be merged with it.
fn no_hash(context: &DataContext<'_>, value: &Value, span: Span) -> Finding {
    let alone = context.file.snapshot.keys().definitions(LOOKUP_OPTIONS).len() < 2;
    let is_null = matches!(value.data(), Data::Null);
    let mut finding = Finding::new(
        &RULE,
        span,
        match (is_null, alone) {
            (true, true) => "lookup_options is null: as soon as another file has some, every lookup fails".to_owned(),
            (true, false) => {
                "lookup_options is null, which cannot be merged with those of other files: every lookup fails".to_owned()
            }
            (false, _) => format!("lookup_options must be a hash, this is {}: every lookup fails", in_words(value.type_name())),
        },
    );
    if is_null && alone {
        finding.severity = Severity::Warning;
    }
    finding
}

/// `convert_to` takes the name of a type, or a list of it and arguments.
fn bad_conversion(name: &str, entry: &Value, findings: &mut Vec<Finding>) {
    let Some(conversion) = entry.get("convert_to") else { return };
    let fits = match conversion.data() {
        Data::Null | Data::String(_) => true,
        Data::Array(items) => items.first().is_some_and(|first| first.as_str().is_some()),
        _ => false,
    };
    if let (false, Some(span)) = (fits, conversion.origin) {
        let message = format!(
            "the convert_to of '{name}' must name a type, or list one and its arguments: lookups of it fail"
        );
        findings.push(Finding::new(&RULE, span, message));
    }
}
