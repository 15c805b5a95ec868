//! `legacy-fact`

use crate::diagnostics::fix::{Fix, FixEdit, Safety};
use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity, Tag,
};
use crate::hiera::data::{Reference, TokenUse};
use crate::puppet::legacy_facts::written_legacy_fact;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "legacy-fact",
    severity: Severity::Info,
    group: RuleGroup::Fragile,
    tag: Some(Tag::Deprecated),
    summary: "tokens with facts that Puppet 8 does not send",
    docs: include_str!("legacy_fact.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::File(check),
};

/// Reports the first legacy fact of a file, and states how many others there are: a repository of
/// Puppet 7 has hundreds.
fn check(context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    if context.snapshot.config_of(context.environment).puppet.major < 8
        || !context.environment.reaches_file(&context.file.path)
    {
        return;
    }
    let Some(data) = context.view.data_of(&context.file.path) else { return };
    let facts: Vec<(&TokenUse, String, &str)> = data
        .tokens()
        .filter_map(|token| {
            let (written, new) = legacy_fact(context, token)?;
            Some((token, written, new))
        })
        .collect();
    let Some((first, written, new)) = facts.first() else { return };
    let others = match facts.len() - 1 {
        0 => String::new(),
        1 => "; one more token of this file has such a fact".to_owned(),
        count => format!("; {count} more tokens of this file have such facts"),
    };
    let message =
        format!("Puppet 8 does not send the fact '{written}', which is in 'facts.{new}'{others}");
    findings.push(
        Finding::new(&RULE, first.name_span(), message).fix(Fix {
            title: match facts.len() {
                1 => format!("Use 'facts.{new}'"),
                count => format!("Use structured facts for all {count} legacy ones of this file"),
            },
            edits: facts
                .iter()
                .map(|(token, written, new)| FixEdit::Replace {
                    span: token.name_span(),
                    wrong: written.clone(),
                    right: format!("facts.{new}"),
                })
                .collect(),
            safety: Safety::ChangesValues,
        }),
    );
}

/// Returns the legacy fact that a token names, as written, and the structured one.
fn legacy_fact(context: &FileContext<'_>, token: &TokenUse) -> Option<(String, &'static str)> {
    let Reference::Variable(variable) = &token.reference else { return None };
    // Few tokens name such a fact, and a long file has many tokens.
    written_legacy_fact(&variable.text)?;
    let range = context.snapshot.span_bytes(token.name_span());
    let written = context.file.text()?.slice(range).into_owned();
    let (_, new) = written_legacy_fact(&written)?;
    Some((written, new))
}
