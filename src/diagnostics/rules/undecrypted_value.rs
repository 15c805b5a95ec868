//! `undecrypted-value`

use crate::diagnostics::rule::{
    Check, Dependence, EntryContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::Level;
use crate::hiera::eyaml::{EncryptedPart, KeyPair, encrypted_parts, is_attempted};
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::puppet::value::{Data, Hash, Value};
use crate::text::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "undecrypted-value",
    severity: Severity::Warning,
    group: RuleGroup::Broken,
    tag: None,
    summary: "an encrypted value that no level decrypts",
    docs: include_str!("undecrypted_value.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Entry(check),
};

/// The result of a level's lookup of an encrypted value.
enum DecryptionOutcome {
    /// The level may decrypt the value.
    Decrypted,
    /// The level hands out the ciphertext.
    PassedOn,
    /// The lookup fails, for this reason.
    Fails(String),
}

fn check(context: &EntryContext<'_>, findings: &mut Vec<Finding>) {
    if !context.entry.may_be_encrypted {
        return;
    }
    let file = &context.file;
    for (key, member) in
        context.root_members().filter(|(key, _)| key.as_str() != Some(LOOKUP_OPTIONS))
    {
        let Some((is_pkcs7, span)) = first_encrypted(&member.value) else { continue };
        let levels = file.environment.path_matches(&file.file.path).map(|(reach, _)| &reach.level);
        let mut fates = levels.map(|level| (level, value_fate(level, is_pkcs7)));
        let Some((level, fate)) = fates
            .next()
            .filter(|_| fates.all(|(_, fate)| !matches!(fate, DecryptionOutcome::Decrypted)))
        else {
            continue;
        };
        let (name, function) = (&level.name, &level.backend.name);
        let (severity, message) = match fate {
            DecryptionOutcome::Decrypted => continue,
            DecryptionOutcome::PassedOn => (
                Severity::Warning,
                format!(
                    "'{}' is encrypted, and level '{name}' hands out the ciphertext: {function} decrypts nothing, eyaml_lookup_key does",
                    key.to_text()
                ),
            ),
            DecryptionOutcome::Fails(reason) => (
                Severity::Error,
                format!(
                    "'{}' is encrypted, and level '{name}' names no key to decrypt it with ({reason}): its lookups fail",
                    key.to_text()
                ),
            ),
        };
        let finding = Finding { severity, ..Finding::new(&RULE, span, message) };
        findings.push(
            finding.with_related(level.backend.span.or(level.span), "this level reads the file"),
        );
    }
}

/// Whether the value's first encrypted part is of the scheme that needs no plug-in, and where the
/// string with it stands.
fn first_encrypted(value: &Value) -> Option<(bool, Span)> {
    match value.data() {
        Data::String(text) if is_attempted(text) => {
            // `eyaml` always writes a scheme; an encrypted part in prose has no scheme.
            let part = encrypted_parts(text)
                .into_iter()
                .find(|part: &EncryptedPart<'_>| part.scheme.is_some())?;
            Some((part.is_pkcs7(), value.origin?))
        }
        Data::Array(items) => items.iter().find_map(first_encrypted),
        Data::Hash(hash) => hash.values().find_map(|member| first_encrypted(&member.value)),
        _ => None,
    }
}

fn value_fate(level: &Level, is_pkcs7: bool) -> DecryptionOutcome {
    match level.backend.data_reader() {
        None => DecryptionOutcome::Decrypted, // It may be anything.
        Some(reader) if !reader.decrypts => DecryptionOutcome::PassedOn,
        // The plug-in for another scheme has keys of its own.
        Some(_) if !is_pkcs7 => DecryptionOutcome::Decrypted,
        Some(_) => {
            let none = Hash::default();
            let options = level.options.as_ref().and_then(Value::as_hash).unwrap_or(&none);
            KeyPair::from_options(options)
                .map_or_else(DecryptionOutcome::Fails, |_| DecryptionOutcome::Decrypted)
        }
    }
}
