//! `hiera-ls rules`: the catalogue.

use std::io::Write;

use super::{Failure, Status};
use crate::diagnostics::rules;

pub(super) fn run(code: Option<&str>, out: &mut dyn Write) -> Result<Status, Failure> {
    let Some(code) = code else {
        let width = rules::RULES.iter().map(|rule| rule.code.len()).max().unwrap_or(0);
        for rule in rules::RULES {
            writeln!(out, "{:width$}  {:7}  {}", rule.code, rule.severity.name(), rule.summary)?;
        }
        return Ok(Status::Good);
    };
    let Some(rule) = rules::find(code) else {
        return Err(Failure(format!("there is no rule '{code}'; `hiera-ls rules` lists them")));
    };
    write!(out, "{}", rule.docs)?;
    Ok(Status::Good)
}
