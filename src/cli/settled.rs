//! Answers that are not settled: which levels could not be evaluated, for people on stderr.

use std::collections::BTreeSet;

use super::print_note;
use crate::hiera::resolution::{Unevaluated, UnsettledLevel};
use crate::ide::phrases::{PlaceNames, level_title, why_unevaluated};

/// Says which levels could not be evaluated and could change an answer, if there are any. `subject`
/// is the answer, or that there is none.
pub(super) fn note_unsettled(subject: &str, levels: &[UnsettledLevel], names: &PlaceNames<'_>) {
    if levels.is_empty() {
        return;
    }
    let mut lines: Vec<String> = vec![format!("{subject}:")];
    for UnsettledLevel { layer, level, key, reason } in levels {
        let why = why_unevaluated(reason, |path| names.short_path(path).to_owned());
        lines.push(format!("  level {}, asked for '{key}': {why}", level_title(layer, level)));
    }
    if has_level(|reason| matches!(reason, Unevaluated::Undetermined { .. }), levels) {
        lines.push(
            "  name a node with --node, or its facts with --facts; --explain tells more".into(),
        );
    }
    if has_level(|reason| matches!(reason, Unevaluated::Encrypted(_)), levels) {
        lines.push("  --decrypt decrypts with the keys that hiera.yaml names".into());
    }
    if has_level(|reason| matches!(reason, Unevaluated::Backend(_)), levels) {
        lines.push("  --run-backends runs functions, which are code of the repository".into());
    }
    print_note(&lines.join("\n"));
}

fn has_level(is_such: fn(&Unevaluated) -> bool, levels: &[UnsettledLevel]) -> bool {
    levels.iter().any(|it| is_such(&it.reason))
}

/// Says which variables are unknown whose tokens may stand in a value, if there are any.
pub(super) fn note_unknown(variables: &BTreeSet<String>, asked: &str) {
    let names: Vec<&str> = variables.iter().map(String::as_str).collect();
    let (subject, verb) = match names[..] {
        [] => return,
        [_] => ("the variable", "is"),
        _ => ("the variables", "are"),
    };
    print_note(&format!(
        "{subject} {} {verb} unknown, so that tokens stay in the value of {asked}\n  name a node with --node, or its facts with --facts",
        names.join(", ")
    ));
}
