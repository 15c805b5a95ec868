//! `setting-without-effect`

use crate::diagnostics::WrongSetting;
use crate::diagnostics::rule::{Check, Dependence, Finding, Needs, Rule, RuleGroup, Severity};
use crate::text::Span;
use crate::workspace::files::file::File;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "setting-without-effect",
    severity: Severity::Error,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a setting of hiera-ls that is not known, or names what is not there",
    docs: include_str!("setting_without_effect.md"),
    depends_on: Dependence::Keys,
    needs: Needs::File,
    check: Check::Setting(check),
};

fn check(wrong: &WrongSetting, file: &File) -> Finding {
    // An editor may hold a newer text than the one that the settings were read from.
    let range = file.text().map_or(wrong.range, |text| text.clamp_range(wrong.range));
    Finding::new(&RULE, Span::in_file(file.id, range), wrong.message.clone())
}
