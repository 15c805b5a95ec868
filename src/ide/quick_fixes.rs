//! Quick fixes: the changes that probably mend findings, for those whose right text is known.

use crate::diagnostics::{Finding, RulesConfig, Suggestion, check_range};
use crate::text::{FilePath, SourceChange, TextEdit, TextRange};
use crate::workspace::Snapshot;

/// A change that probably mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuickFix {
    /// Its title, for a menu.
    pub title: String,
    /// The code of the rule.
    pub code: &'static str,
    /// The bytes of the finding.
    pub range: TextRange,
    /// The change.
    pub change: SourceChange,
}

/// Returns the quick fixes for the findings in a range of a file, in the order of their places.
pub fn quick_fixes(
    snapshot: &Snapshot,
    path: &FilePath,
    range: TextRange,
    rules: &RulesConfig,
) -> Vec<QuickFix> {
    let findings = check_range(snapshot, path, range, rules);
    findings.iter().filter_map(|finding| quick_fix(snapshot, path, finding)).collect()
}

fn quick_fix(snapshot: &Snapshot, path: &FilePath, finding: &Finding) -> Option<QuickFix> {
    let Suggestion { wrong, right } = finding.suggestion.as_ref()?;
    let file = snapshot.file(path).filter(|file| file.id == finding.span.file)?;
    let range = snapshot.span_bytes(finding.span);
    let text = file.text()?.slice(range);
    // Text with escapes, or with the wrong part twice, is left to the user.
    let mut places = text.match_indices(wrong.as_str());
    let (start, _) = places.next().filter(|_| !wrong.is_empty() && places.next().is_none())?;
    let start = range.start + u32::try_from(start).ok()?;
    let end = start + u32::try_from(wrong.len()).ok()?;
    let mut change = SourceChange::default();
    change.push(path, TextEdit::new(TextRange::new(start, end), right.as_str()));
    Some(QuickFix { title: format!("Change to '{right}'"), code: finding.rule.code, range, change })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    /// Returns the text of the file with the cursor after each fix at the cursor, under its title.
    fn fixed(text: &str) -> Vec<String> {
        let fixture = Fixture::new(text);
        let position = fixture.position();
        let file = fixture.snapshot.file_by_id(position.file).expect("the cursor is in a file");
        let range = TextRange::new_empty(position.offset);
        let rules = &fixture.settings.rules;
        let text = file.text().expect("it has a text").to_str();
        let apply = |fix: QuickFix| {
            let edits = &fix.change.edits[&file.path];
            format!("{}: {}\n{}", fix.code, fix.title, TextEdit::apply_all(edits, &text))
        };
        quick_fixes(&fixture.snapshot, &file.path, range, rules).into_iter().map(apply).collect()
    }

    #[test]
    fn a_misspelt_name_is_replaced_within_its_quotes() {
        let web = "#- /modules/web/manifests/init.pp\nclass web(Integer $port = 1) { }\n";
        for (text, expected) in [
            (
                format!("'web::po$0rtt': 1\n{web}"),
                "unknown-parameter: Change to 'web::port'\n'web::port': 1\n",
            ),
            (
                format!("? \"web::prot$0\"\n: 1\n{web}"),
                "unknown-parameter: Change to 'web::port'\n? \"web::port\"\n: 1\n",
            ),
            (
                format!("web:po$0rt::x: 1\n{web}"),
                "single-colon-key: Change to 'web::port::x'\nweb::port::x: 1\n",
            ),
            (
                "x: \"%{lokup$0('y')}\"\ny: 1\n".to_owned(),
                "unknown-function: Change to 'lookup'\nx: \"%{lookup('y')}\"\ny: 1\n",
            ),
            (
                "x: \"%{lookup('db_prot$0')}\"\ndb_port: 1\n".to_owned(),
                "unknown-key: Change to 'db_port'\nx: \"%{lookup('db_port')}\"\ndb_port: 1\n",
            ),
            (
                "lookup_options: {x: {merge: uni$0que_}}\n".to_owned(),
                "unknown-strategy: Change to 'unique'\nlookup_options: {x: {merge: unique}}\n",
            ),
            (
                "lookup_options: {x: {mrege$0: hash}}\n".to_owned(),
                "unknown-option: Change to 'merge'\nlookup_options: {x: {merge: hash}}\n",
            ),
            (
                "#- /hiera.yaml\nversion: 5\nhierarchy: [{name: A, data_hash: ymal_da$0ta, path: a.yaml}]\n#- /data/a.yaml\nx: 1\n".to_owned(),
                "unknown-backend: Change to 'yaml_data'\nversion: 5\nhierarchy: [{name: A, data_hash: yaml_data, path: a.yaml}]\n",
            ),
        ] {
            assert_eq!(fixed(&text), [expected], "{text}");
        }
    }

    #[test]
    fn nothing_is_offered_elsewhere() {
        for text in [
            "x: $01\ny: \"%{lokup('x')}\"\n",
            "x: \"%{nothing_like_it$0('y')}\"\n",
            "x: \"%{lookup('far$0_away')}\"\ndb_port: 1\n",
        ] {
            assert_eq!(fixed(text), [""; 0], "{text}");
        }
    }
}
