//! `hiera3-shared-config`

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::{BackendKind, ConfigVersion, HieraConfig};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "hiera3-shared-config",
    severity: Severity::Warning,
    group: RuleGroup::Fragile,
    tag: None,
    summary: "several levels with backends of Hiera 3, which share one configuration",
    docs: include_str!("hiera3_shared_config.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Config(check),
};

fn check(config: &HieraConfig, _: &FileContext<'_>, findings: &mut Vec<Finding>) {
    if config.version != ConfigVersion::V5 {
        return; // There all backends have one configuration by design.
    }
    let mut levels = config.levels().filter(|level| level.backend.kind == BackendKind::Hiera3);
    let Some(first) = levels.next() else { return };
    for level in levels {
        let Some(span) = level.backend.span else { continue };
        let message = if level.backend.name == first.backend.name {
            format!(
                "the backend '{}' has one configuration for all levels: this level is read with the datadir and the options of the level '{}', and each of both sees the paths of both",
                level.backend.name, first.name
            )
        } else {
            format!(
                "backends of Hiera 3 share one hierarchy: this level and the level '{}' each see the paths of both",
                first.name
            )
        };
        let finding = Finding::new(&RULE, span, message);
        findings.push(finding.with_related(first.backend.span, "the first one"));
    }
}
