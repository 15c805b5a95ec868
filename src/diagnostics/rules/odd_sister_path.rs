//! `odd-sister-path`

use std::collections::BTreeMap;

use crate::diagnostics::rule::{
    Check, Dependence, FileContext, Finding, Needs, Rule, RuleGroup, Severity,
};
use crate::hiera::config::HieraConfig;
use crate::text::similar::nearest_name;
use crate::text::{FilePath, count_phrase};
use crate::workspace::Snapshot;
use crate::workspace::environments::Reach;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "odd-sister-path",
    severity: Severity::Info,
    group: RuleGroup::Dead,
    tag: None,
    summary: "a location whose folder has no file, while others name a folder of nearly the same name",
    docs: include_str!("odd_sister_path.md"),
    depends_on: Dependence::Keys,
    needs: Needs::Levels,
    check: Check::Config(check),
};

/// The shortest name that is compared: shorter ones resemble each other by chance.
const SHORTEST: usize = 4;

fn check(config: &HieraConfig, context: &FileContext<'_>, findings: &mut Vec<Finding>) {
    let own = context.environment.reach.iter().filter(|reach| {
        let span = reach.template.span;
        span.is_some_and(|span| context.snapshot.path_of(span.file) == Some(&config.path))
    });
    for reach in own {
        let Some((missing, sister)) = find_sister(reach, context) else { continue };
        let shown = context.snapshot.shown_path(&sister.folder);
        let (name, files) = (sister.folder.name(), count_phrase(sister.files, "file"));
        let message = format!(
            "no file lies below '{missing}', while '{name}' beside it has {files} ({shown})"
        );
        findings.extend(reach.template.span.map(|span| Finding::new(&RULE, span, message)));
    }
}

/// A folder that a location may mean.
struct SisterFolder {
    /// The folder's path.
    folder: FilePath,
    /// How many files lie below the folder.
    files: usize,
}

/// Returns the folder of a location that has no file, and the one beside it that the location may
/// mean.
fn find_sister(reach: &Reach, context: &FileContext<'_>) -> Option<(String, SisterFolder)> {
    let snapshot = context.snapshot;
    let prefix = reach.pattern.literal_prefix();
    let (folder, _) = prefix.rsplit_once('/')?;
    let (mut above, mut missing) = (folder, None);
    while !has_files_below(above, snapshot) {
        let (parent, name) = above.rsplit_once('/')?;
        (above, missing) = (parent, Some(name));
    }
    let missing = missing.filter(|name| name.len() >= SHORTEST)?;
    let mut beside: BTreeMap<&str, usize> = BTreeMap::new();
    for path in snapshot.paths_starting_with(&format!("{above}/")) {
        let below = path.as_str().get(above.len() + 1..).and_then(|rest| rest.split_once('/'));
        if let Some((name, _)) = below {
            *beside.entry(name).or_default() += 1;
        }
    }
    let names = beside.keys().copied().filter(|name| !differ_by_digits(name, missing));
    // Where no location names the candidate folder, `unreached-file` reports the folder's files.
    let name = nearest_name(
        missing,
        names.filter(|name| {
            let start = format!("{above}/{name}/");
            let mut all = context.environment.reach.iter();
            all.any(|reach| reach.pattern.literal_prefix().starts_with(&start))
        }),
    )?;
    let folder = FilePath::new(&format!("{above}/{name}"));
    let sister = SisterFolder { folder, files: beside[name] };
    Some((missing.to_owned(), sister))
}

/// Whether some file lies below a folder.
fn has_files_below(folder: &str, snapshot: &Snapshot) -> bool {
    snapshot.paths_starting_with(&format!("{folder}/")).next().is_some()
}

/// Whether two names are the same but for their digits, as those of sites are: `dc1` and `dc2`.
fn differ_by_digits(one: &str, other: &str) -> bool {
    strip_digits(one) == strip_digits(other)
}

fn strip_digits(name: &str) -> String {
    name.replace(|c: char| c.is_ascii_digit(), "")
}
