//! `unknown-strategy`

use crate::diagnostics::rule::{
    Check, DataContext, Dependence, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::merge::{Strategy, parse_strategy};
use crate::puppet::value::Member;
use crate::text::similar::nearest_name;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "unknown-strategy",
    severity: Severity::Error,
    group: RuleGroup::Broken,
    tag: None,
    summary: "a merge strategy in lookup_options that does not exist, or an option that it does not take",
    docs: include_str!("unknown_strategy.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Options(check),
};

fn check(options: &Member, _: &DataContext<'_>, findings: &mut Vec<Finding>) {
    let Some(options) = options.value.as_hash() else { return };
    for (key, entry) in options {
        let Some(merge) = entry.value.get("merge").filter(|merge| !merge.is_live()) else {
            continue;
        };
        if let Err(error) = parse_strategy(merge)
            && let Some(span) = error.origin().or(merge.origin)
        {
            let message = format!("{error}: lookups of '{}' fail for it", key.to_text());
            let name = merge.as_str().or_else(|| merge.get("strategy")?.as_str()).unwrap_or("");
            findings.push(
                Finding::new(&RULE, span, message)
                    .suggest(name, nearest_name(name, Strategy::NAMES)),
            );
        }
    }
}
