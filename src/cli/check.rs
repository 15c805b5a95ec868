//! `hiera-ls check`: every finding of a folder.

use std::io::Write;

use super::{CheckArguments, Failure, Given, Opened, Status, absolute, open, report};
use crate::diagnostics::{Finding, Severity, catalogue, check_all};
use crate::text::FilePath;
use crate::workspace::fs::{FileSystem, OsFs};

pub(super) fn run(arguments: &CheckArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    for code in arguments.select.iter().chain(&arguments.ignore) {
        if catalogue::find(code).is_none() {
            return Err(Failure(format!("there is no rule '{code}'; `hiera-ls rules` lists them")));
        }
    }
    let paths: Vec<FilePath> = arguments.paths.iter().map(|path| absolute(path)).collect::<Result<_, _>>()?;
    if let Some(missing) = paths.iter().find(|path| OsFs.entry(path).is_none()) {
        return Err(Failure(format!("there is no {missing}")));
    }
    let Opened { snapshot, mut settings, root } = open(&arguments.root, paths.first(), Given::new())?;
    if let Some(outside) = paths.iter().find(|path| !path.is_within(&root) && !root.is_within(path)) {
        return Err(Failure(format!(
            "{outside} does not belong to {root}: check each environment by itself, or a folder that holds them all"
        )));
    }
    // A rule that is off is looked for when it is asked for by name.
    for rule in catalogue::RULES
        .iter()
        .filter(|rule| rule.severity == Severity::Off && arguments.select.iter().any(|code| code == rule.code))
    {
        settings.rules.severities.entry(rule.code.to_owned()).or_insert(Severity::Warning);
    }
    if snapshot.layout().environments.is_empty() {
        return Err(Failure(format!("there is no hiera.yaml in {root} or below")));
    }
    let mut findings = check_all(&snapshot, &settings.rules);
    findings.retain(|finding| is_wanted(finding, arguments) && (paths.is_empty() || within(&snapshot, finding, &paths)));
    let least = Severity::from_name(&arguments.fail_on).unwrap_or(Severity::Error);
    let counts = findings.iter().any(|finding| finding.severity >= least);
    report::write(arguments.format, &findings, &snapshot, &root, out)?;
    Ok(if counts { Status::Bad } else { Status::Good })
}

fn is_wanted(finding: &Finding, arguments: &CheckArguments) -> bool {
    let named = |codes: &[String]| codes.iter().any(|code| code == finding.rule.code);
    (arguments.select.is_empty() || named(&arguments.select)) && !named(&arguments.ignore)
}

fn within(snapshot: &crate::workspace::Snapshot, finding: &Finding, paths: &[FilePath]) -> bool {
    snapshot.path(finding.span.file).is_some_and(|path| paths.iter().any(|wanted| path.is_within(wanted)))
}
