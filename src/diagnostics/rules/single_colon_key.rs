//! `single-colon-key`

use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::workspace::manifests::{KeyStanding, split_key};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "single-colon-key",
    severity: Severity::Warning,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a key with one colon where two belong",
    docs: include_str!("single_colon_key.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Index,
    check: Check::Entry(check),
};

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    let (snapshot, environment) = (context.file.snapshot, context.file.environment);
    for (key, member) in context.root_members() {
        let Some((key, span)) = key.as_str().zip(member.key_origin) else { continue };
        let Some(meant) = with_double_colons(key) else { continue };
        if matches!(snapshot.key_standing(environment, key), KeyStanding::Call | KeyStanding::Data)
        {
            continue;
        }
        let message =
            format!("'{key}' is not '{meant}': with one colon no class parameter asks for it");
        findings.push(Finding::new(&RULE, span, message).suggest(key, Some(&meant)));
    }
}

/// Returns the key of a class parameter that a key is with each single colon doubled; `None` where
/// it has no single colon, or is no such key then.
fn with_double_colons(key: &str) -> Option<String> {
    // Most keys have no single colon.
    let mut runs = key.as_bytes().chunk_by(|one, next| (*one == b':') == (*next == b':'));
    runs.find(|run| **run == *b":")?;
    let parts: Vec<&str> = key.split("::").flat_map(|part| part.split(':')).collect();
    let meant = parts.join("::");
    // `a:b` alone may be intended; a single colon in a key with a namespace is a mistake.
    (meant != key && key.contains("::") && split_key(&meant).is_some()).then_some(meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_of_namespaces_are_meant() {
        assert_eq!(with_double_colons("a::b:c").as_deref(), Some("a::b::c"));
        assert_eq!(with_double_colons("a:b::c").as_deref(), Some("a::b::c"));
        for key in ["a::b::c", "a:b", "a:::b", "a::b: c", "a::b:", "::a:b", "http://x:80"] {
            assert_eq!(with_double_colons(key), None, "{key}");
        }
    }
}
