//! All results of a snapshot, as text, with places counted from the start of their file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use hiera_ls::diagnostics::{RulesConfig, Severity, check_file};
use hiera_ls::hiera::data::{Borrowed, DataFile, Reference};
use hiera_ls::ide::definition::find_definitions;
use hiera_ls::ide::document_symbols::{FileSymbols, Symbol, document_symbols};
use hiera_ls::ide::folding::file_folds;
use hiera_ls::ide::hover::{HoverConfig, hover};
use hiera_ls::ide::references::find_references;
use hiera_ls::ide::rename::rename;
use hiera_ls::ide::selection::selection_ranges;
use hiera_ls::ide::semantic_tokens::{FileTokens, SemanticToken, file_tokens};
use hiera_ls::puppet::value::{Data, Value};
use hiera_ls::text::{FilePath, FilePosition, Span, TextRange};
use hiera_ls::workspace::Snapshot;

/// The files whose results are listed. The index is always listed as a whole.
#[derive(Clone, Copy, Debug)]
pub enum Width {
    /// All files.
    Everything,
    /// The files that are open, and a few others.
    Open,
}

/// The last semantic tokens and symbols of files. Those of unchanged entries are taken from there.
#[derive(Debug, Default)]
pub struct Last {
    tokens: HashMap<FilePath, FileTokens>,
    symbols: HashMap<FilePath, FileSymbols>,
}

/// The place of a span: its file, and bytes from the start of that.
fn place(snapshot: &Snapshot, span: Span) -> String {
    let range = snapshot.span_bytes(span);
    format!(
        "{}[{}..{}]",
        snapshot.path_of(span.file).map_or("?", FilePath::as_str),
        range.start,
        range.end
    )
}

fn maybe(snapshot: &Snapshot, span: Option<Span>) -> String {
    span.map_or_else(|| "nowhere".into(), |span| place(snapshot, span))
}

/// Returns the answers of a snapshot about these files, and at these places.
pub fn told(
    snapshot: &Snapshot,
    paths: &[FilePath],
    places: &[(FilePath, u32)],
    last: &mut Last,
) -> String {
    let mut out = String::new();
    layers(&mut out, snapshot, paths);
    for path in paths {
        if let Some(file) = snapshot.file(path) {
            let _ = writeln!(out, "{path} is read");
            facts(&mut out, snapshot, &file.data_as(file.format()));
        }
    }
    index(&mut out, snapshot, paths);
    findings(&mut out, snapshot, paths);
    for path in paths {
        tokens(&mut out, snapshot, path, last);
        symbols(&mut out, snapshot, path, last);
        let _ = writeln!(out, "folds {path}: {:?}", file_folds(snapshot, path, None));
    }
    for (path, offset) in places {
        answers(&mut out, snapshot, path, *offset);
    }
    out
}

fn layers(out: &mut String, snapshot: &Snapshot, paths: &[FilePath]) {
    for environment in &snapshot.environments().all {
        let _ = writeln!(
            out,
            "environment {} {}, datadirs {:?}",
            environment.name, environment.root, environment.datadirs
        );
        for (layer, config) in environment.all_configs() {
            let _ = writeln!(out, "  {layer:?}: {}", config.path);
        }
        for path in paths {
            let (governs, reaches) =
                (environment.governs_file(path), environment.reaches_file(path));
            let _ = writeln!(
                out,
                "  {path} governed {governs}, reached {reaches} by {:?}, {:?}",
                environment.layer_of(path),
                environment.data_reader(path)
            );
        }
        let _ = writeln!(
            out,
            "  levels without files {:?}, opaque {}",
            snapshot.levels_without_files(environment),
            environment.may_have_unread("lookup_options", |_| false)
        );
    }
}

fn facts(out: &mut String, snapshot: &Snapshot, data: &DataFile) {
    for (key, member) in data.members() {
        let _ = write!(out, "  {} {} = ", key.to_text(), maybe(snapshot, member.key_origin));
        value(out, snapshot, &member.value);
        out.push('\n');
    }
    for token in data.tokens() {
        let what = match &token.reference {
            Reference::Variable(key) => format!("variable {}", key.text),
            Reference::Key { key, alias } => format!("key {} {alias}", key.text),
        };
        let places =
            [token.span(), token.name_span(), token.string_span].map(|span| place(snapshot, span));
        let _ = writeln!(out, "  token {what} in {} {places:?}", token.root);
    }
    let mut problems: Vec<String> = data
        .problems()
        .map(|problem| {
            format!(
                "  {:?} {}, {}\n",
                problem.kind,
                place(snapshot, problem.span),
                maybe(snapshot, problem.related)
            )
        })
        .collect();
    problems.sort();
    problems.iter().for_each(|problem| out.push_str(problem));
    let _ = writeln!(out, "  refused {:?}, no hash {}", data.refusal(), data.is_no_hash());
}

fn value(out: &mut String, snapshot: &Snapshot, told: &Value) {
    let _ = write!(out, "{} ", maybe(snapshot, told.origin));
    data(out, snapshot, told.data());
}

fn data(out: &mut String, snapshot: &Snapshot, told: &Data) {
    match told {
        Data::Array(items) => {
            out.push('[');
            items.iter().for_each(|item| value(out, snapshot, item));
            out.push(']');
        }
        Data::Hash(hash) => {
            out.push('{');
            for (key, member) in hash.iter() {
                // A key may be a collection, with places of its own.
                data(out, snapshot, key.data());
                let _ = write!(out, "{} ", maybe(snapshot, member.key_origin));
                value(out, snapshot, &member.value);
            }
            out.push('}');
        }
        scalar => drop(write!(out, "{scalar:?} ")),
    }
}

fn index(out: &mut String, snapshot: &Snapshot, paths: &[FilePath]) {
    let index = snapshot.keys();
    let keys: BTreeSet<&str> = index.keys().map(|key| &**key).collect();
    for key in keys {
        let _ = writeln!(out, "index {key}: {:?}", index.definitions(key));
        for options in index.options_of(key) {
            let at = place(snapshot, options.span);
            let _ = writeln!(out, "index {key} has options {} {at}", options.key);
        }
    }
    let mut edges = BTreeSet::new();
    for file in paths.iter().filter_map(|path| snapshot.file(path)) {
        let data = file.data_as(file.format());
        for token in data.tokens() {
            if let Reference::Key { key, .. } = &token.reference {
                edges.insert((token.root.to_string(), key.root_text().to_string()));
            }
        }
        for Borrowed { root, asks } in data.parts().iter().flat_map(|part| part.data.borrowed()) {
            edges.extend(asks.iter().map(|key| (root.to_string(), key.to_string())));
        }
    }
    for (from, to) in edges {
        let _ = writeln!(
            out,
            "index {from} asks for {to}, asked by {:?}, in a circle {}",
            index.asked_by(&to),
            index.in_one_cycle(&from, &to)
        );
    }
}

fn findings(out: &mut String, snapshot: &Snapshot, paths: &[FilePath]) {
    let severities = BTreeMap::from([("not-yaml-1-2".to_owned(), Severity::Hint)]);
    let rules = RulesConfig { severities, ..RulesConfig::default() };
    for path in paths {
        for finding in check_file(snapshot, path, &rules) {
            let place = place(snapshot, finding.span);
            let _ = write!(
                out,
                "{} {} {place}: {:?}",
                finding.rule.code,
                finding.severity.name(),
                finding.message
            );
            for related in &finding.related {
                let _ =
                    write!(out, "; {:?} {}", related.message, self::place(snapshot, related.span));
            }
            out.push('\n');
        }
    }
}

fn tokens(out: &mut String, snapshot: &Snapshot, path: &FilePath, last: &mut Last) {
    let Some(all) = file_tokens(snapshot, path, last.tokens.get(path)) else { return };
    for run in &all.runs {
        for SemanticToken { range, kind, is_unresolved } in &*run.items {
            let TextRange { start, end } = range.offset_by(run.range.start);
            let _ = writeln!(out, "token {path}[{start}..{end}] {kind:?} {is_unresolved}");
        }
    }
    last.tokens.insert(path.clone(), all);
}

fn symbols(out: &mut String, snapshot: &Snapshot, path: &FilePath, last: &mut Last) {
    let Some(all) = document_symbols(snapshot, path, last.symbols.get(path)) else { return };
    for run in &all.runs {
        for symbol in &*run.items {
            self::symbol(out, path, run.range.start, symbol);
        }
    }
    last.symbols.insert(path.clone(), all);
}

fn symbol(out: &mut String, path: &FilePath, start: u32, symbol: &Symbol) {
    let Symbol { name, detail, kind, range, selection, children } = symbol;
    let [range, selection] = [range, selection].map(|range| range.offset_by(start));
    let _ = writeln!(out, "symbol {path} {name:?} {kind:?} {range:?} {selection:?} {detail:?}");
    children.iter().for_each(|child| self::symbol(out, path, start, child));
}

fn answers(out: &mut String, snapshot: &Snapshot, path: &FilePath, offset: u32) {
    let Some(file) = snapshot.file(path) else { return };
    let position = FilePosition { file: file.id, offset };
    let link = |path: &FilePath, line: u32| format!("{path}#{line}");
    let config = HoverConfig {
        markdown: true,
        link: Some(&link),
        max_value_lines: 40,
        ..HoverConfig::default()
    };
    let _ = writeln!(out, "hover {path} {offset}: {:?}", hover(snapshot, position, &config));
    let _ = writeln!(out, "definition {path} {offset}: {:?}", find_definitions(snapshot, position));
    let _ = writeln!(out, "selection {path} {offset}: {:?}", selection_ranges(snapshot, position));
    let renamed = rename(snapshot, position, "renamed_here");
    let _ = writeln!(out, "rename {path} {offset}: {renamed:?}");
    let _ = writeln!(
        out,
        "references {path} {offset}: {:?}",
        find_references(snapshot, position, true)
    );
}
