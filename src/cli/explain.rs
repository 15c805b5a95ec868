//! `hiera-ls lookup --explain` and `--explain-options`: the output of Puppet's command, and its
//! exit status.

use std::io::Write;

use super::settled::note_unsettled;
use super::{Failure, LookupArguments, Opened, Render, Status, note_unapplied, print_note};
use crate::hiera::explain::{self, ExplainOptions, Subject};
use crate::hiera::lookup::Resolver;
use crate::hiera::request::LookupRequest;
use crate::ide::phrases::PlaceNames;
use crate::puppet::print::PrintOptions;
use crate::text::Span;
use crate::text::escape::terminal_lines;

/// Explains a request. `resolver` must be new, as a resolver explains some parts only once.
///
/// A missing value, and an error that Puppet calls a lookup error, are part of the explanation, and
/// the command succeeds. Any other error is printed alone, with the exit status of Puppet's
/// command. Source: semantics 8.5.
pub(super) fn run(
    arguments: &LookupArguments,
    opened: &Opened,
    resolver: &Resolver<'_>,
    request: &LookupRequest,
    print: &PrintOptions<'_>,
    out: &mut dyn Write,
) -> Result<Status, Failure> {
    let render = arguments.render_as.unwrap_or(Render::S);
    if render == Render::Yaml {
        return Err(Failure("an explanation is printed as text (s) or as json".into()));
    }
    let subject = if arguments.explain { Subject::Lookup } else { Subject::Options };
    let explanation = resolver.explain(request, subject);
    let names = PlaceNames { snapshot: &opened.snapshot, root: &opened.root };
    let subject = "levels that could not be evaluated may change the answer";
    note_unsettled(subject, &explanation.unsettled_levels, &names);
    match explanation.answer {
        Err(error) if !error.is_lookup_error() => {
            print_note(&error.print_message(print));
            return Ok(Status::Bad);
        }
        Ok(Some(answer)) => {
            note_unapplied(&answer.unapplied_conversions);
        }
        Ok(None) | Err(_) => {}
    }
    let line = |span: Span| names.line_number(span);
    let shown = ExplainOptions {
        reveal: arguments.reveal_sensitive,
        line: arguments.lines.then_some(&line),
        ..ExplainOptions::default()
    };
    match render {
        Render::Json => writeln!(out, "{}", explain::render_json(&explanation.tree, shown))?,
        _ => write!(out, "{}", terminal_lines(&explain::render_text(&explanation.tree, shown)))?,
    }
    Ok(Status::Good)
}
