//! The levels of a config, located in a scope: the concrete locations of each, in order, or the
//! unknown variables that decide them.

use std::cell::OnceCell;
use std::sync::Arc;

use super::config::{BackendKind, ConfigVersion, HieraConfig, Level, Locations, Template};
use super::error::LookupError;
use super::fold::normalize_pieces;
use super::pattern::{Bindings, Pattern, PatternPiece, parse_pieces, variable_name};
use super::scope::{Scope, Variable};
use super::sources::{LevelQuery, Sources};
use crate::puppet::ruby::glob::exceeded_limit;
use crate::puppet::value::{Data, Hash, Provenance, Value};
use crate::puppet::{PuppetVersion, Strict};
use crate::text::work::{Work, count_work};
use crate::text::{FilePath, Limit};

mod decisive;
pub mod located;
mod variables;

pub use decisive::{DecisiveVariables, write_value};
use located::{CandidateFile, LevelTarget, LocatedLevel, Location, Undetermined};
use variables::{Evaluated, Variables};

impl Undetermined {
    /// Returns the existing files that the location may name.
    pub fn candidate_files(&self, sources: &dyn Sources) -> Vec<CandidateFile> {
        let Some(pattern) = &self.pattern else { return Vec::new() };
        let files = sources.files_starting_with(&pattern.literal_prefix());
        files.iter().filter_map(|path| match_candidate(pattern, path, sources)).collect()
    }

    /// Returns the candidates that define a root key.
    pub fn candidates_with(&self, root: &str, sources: &dyn Sources) -> Arc<[CandidateFile]> {
        let Some(pattern) = &self.pattern else { return Arc::default() };
        let files = sources.files_defining(root);
        let find = || files.iter().filter_map(|path| match_candidate(pattern, path, sources));
        match sources.shared_candidates() {
            Some(shared) => {
                shared.get_or(&(pattern.pieces().clone(), root.into()), || find().collect())
            }
            None => find().collect(),
        }
    }
}

/// Returns the levels of a hierarchy with their locations in `scope`.
///
/// `puppet` is the version whose errors are returned; with `None`, as for editors, an undefined
/// variable is an empty text.
///
/// Errors: those of tokens (a function call, digging into a string, an undefined variable); Puppet
/// fails every lookup in the layer for one. Source: semantics 1.6 to 1.11.
pub fn locate_levels(
    config: &HieraConfig,
    levels: &[Arc<Level>],
    scope: &Scope,
    sources: &dyn Sources,
    puppet: Option<PuppetVersion>,
) -> Result<Vec<LocatedLevel>, LookupError> {
    let strict = puppet.filter(|puppet| puppet.strict == Strict::Error);
    let variables = Variables {
        scope,
        local: None,
        classic: config.version == ConfigVersion::V3,
        undefined_fails: strict.is_some(),
    };
    // Puppet 8 only warns about an undefined variable in a path of version 5.
    let paths_fail =
        strict.is_some_and(|puppet| puppet.major == 7 || config.version < ConfigVersion::V5);
    let in_paths = Variables { undefined_fails: paths_fail, ..variables };
    levels
        .iter()
        .map(|level: &Arc<Level>| {
            count_work(Work::Locate);
            let locate = || {
                let datadir = OnceCell::new();
                let locating =
                    LevelLocator { config, level, sources, variables, in_paths, datadir };
                let locations =
                    locating.find_locations().map_err(|error| config.token_error(error))?;
                Ok(locations.into())
            };
            let undefined_may_fail = strict.is_some();
            let locations = sources.level_locations(&LevelQuery {
                config,
                level,
                scope,
                undefined_may_fail,
                locate: &locate,
            })?;
            Ok(LocatedLevel { level: level.clone(), locations })
        })
        .collect()
}

/// Returns the options of a level with their tokens replaced; those with unknown variables are left
/// out. For `puppet` see [`locate_levels`].
///
/// Errors: those of tokens.
pub fn options_of(
    level: &Level,
    scope: &Scope,
    puppet: Option<PuppetVersion>,
) -> Result<Hash, LookupError> {
    let undefined_fails = puppet.is_some_and(|puppet| puppet.strict == Strict::Error);
    let variables = Variables { scope, local: None, classic: false, undefined_fails };
    let mut options = level.options.as_ref().and_then(Value::as_hash).cloned().unwrap_or_default();
    let mut unknown = Vec::new();
    for (key, member) in options.iter_mut() {
        let Some(text) = member.value.as_str().filter(|text| text.contains("%{")) else { continue };
        match variables.evaluate(text)? {
            Evaluated::Text(text) => {
                member.value =
                    Value::new_string(&text, Provenance::from_source(member.value.origin))
            }
            Evaluated::Partial(_) => unknown.push(key.clone()),
        }
    }
    unknown.iter().for_each(|key| drop(options.shift_remove(key)));
    Ok(options)
}

/// Returns the options of a level as its function gets them, all tokens replaced, those of keys too;
/// `None` where an unknown variable takes part. For `puppet` see [`locate_levels`].
///
/// Errors: those of tokens.
pub fn options_for_call(
    options: &Value,
    scope: &Scope,
    puppet: Option<PuppetVersion>,
) -> Result<Option<Value>, LookupError> {
    let undefined_fails = puppet.is_some_and(|puppet| puppet.strict == Strict::Error);
    Variables { scope, local: None, classic: false, undefined_fails }.replace_tokens(options)
}

/// Returns the folder that a level's locations are relative to, its tokens as they are: absolute,
/// unless it begins with a token of version 3.
pub fn datadir_as_written(config: &HieraConfig, level: &Level) -> String {
    datadir_template(config, level)
}

/// Returns the folder that the locations of a level of version 5 are relative to; `None` where an
/// unknown variable takes part. For `puppet` see [`locate_levels`].
///
/// Errors: those of tokens.
pub fn datadir_for_call(
    config: &HieraConfig,
    level: &Level,
    scope: &Scope,
    puppet: Option<PuppetVersion>,
) -> Result<Option<String>, LookupError> {
    let undefined_fails = puppet.is_some_and(|puppet| puppet.strict == Strict::Error);
    let variables = Variables { scope, local: None, classic: false, undefined_fails };
    Ok(match variables.evaluate(&datadir_template(config, level))? {
        Evaluated::Text(text) => Some(text),
        Evaluated::Partial(_) => None,
    })
}

/// Returns the folder that a level's locations are relative to, as far as no variable decides it.
pub fn datadir_start(config: &HieraConfig, level: &Level) -> FilePath {
    let datadir = datadir_template(config, level);
    let end = if config.version == ConfigVersion::V4 { None } else { datadir.find("%{") };
    FilePath::new(&datadir[..end.unwrap_or(datadir.len())])
}

/// Returns the folder that a level's locations are relative to, its tokens as written. A token in
/// it cannot make it absolute, but in version 3: it is joined before.
///
/// In version 3 a relative datadir is relative to Puppet's working directory; here the folder of
/// the `hiera.yaml` is used in its place.
fn datadir_template(config: &HieraConfig, level: &Level) -> String {
    join_paths(config.base_folder().as_str(), config.mapped_datadir(level))
}

/// Returns the pattern of the paths that a location of `level` can name, for every scope.
///
/// `None` when the location is no file, or too strange to be matched.
pub fn pattern_of(config: &HieraConfig, level: &Level, template: &Template) -> Option<Pattern> {
    Pattern::new(pieces_of(config, level, template)?)
}

/// Returns a pattern of all files below the folder that a location starts with, up to its first
/// token or wildcard. It stands in for a location's own pattern where that is too large.
///
/// `None` when the location is no file.
pub fn folder_pattern_of(
    config: &HieraConfig,
    level: &Level,
    template: &Template,
) -> Option<Pattern> {
    let pieces = pieces_of(config, level, template)?;
    let start = match pieces.first() {
        Some(PatternPiece::Literal(text)) => text.as_str(),
        Some(PatternPiece::Glob(text)) => {
            &text[..text.find(['*', '?', '[', '{', '\\']).unwrap_or(text.len())]
        }
        _ => "",
    };
    let folder = &start[..start.rfind('/').map_or(0, |slash| slash + 1)];
    Pattern::new(vec![
        PatternPiece::Literal(folder.to_owned()),
        PatternPiece::Glob("**/*".to_owned()),
    ])
}

/// Returns the pieces of the paths that a location of `level` can name; `None` when it is no file.
fn pieces_of(
    config: &HieraConfig,
    level: &Level,
    template: &Template,
) -> Option<Vec<PatternPiece>> {
    let glob = match &level.locations {
        Locations::Globs(_) | Locations::ByKey(..) => true,
        Locations::Paths(_) | Locations::Mapped { .. } => false,
        Locations::Uris(_) | Locations::None => return None,
    };
    let mut inner = parse_pieces(&template.text, glob);
    if let Locations::Mapped { local, .. } = &level.locations {
        for piece in &mut inner {
            if matches!(piece, PatternPiece::Variable(name) if name.split('.').next() == Some(local))
            {
                *piece = PatternPiece::Any;
            }
        }
    }
    if let Some(extension) =
        level.extension.as_ref().filter(|extension| !template.text.ends_with(&***extension))
    {
        inner.extend(parse_pieces(extension, false));
    }
    let mut datadir = format!("{}/", datadir_template(config, level).trim_end_matches('/'));
    if let Some(PatternPiece::Glob(text)) = inner.first_mut()
        && !text.starts_with('/')
    {
        // The folders that lead out of the datadir are no part of the glob.
        let (folder, rest) = without_detours(&datadir, text);
        (datadir, *text) = (folder, rest);
    }
    let mut all = if config.version == ConfigVersion::V4 {
        vec![PatternPiece::Literal(datadir)]
    } else {
        parse_pieces(&datadir, false)
    };
    if matches!(inner.first(), Some(PatternPiece::Literal(text) | PatternPiece::Glob(text)) if text.starts_with('/'))
    {
        all.clear();
    }
    all.append(&mut inner);
    Some(normalize_pieces(all))
}

struct LevelLocator<'a> {
    config: &'a HieraConfig,
    level: &'a Level,
    sources: &'a dyn Sources,
    variables: Variables<'a>,
    in_paths: Variables<'a>,
    /// The datadir in this scope, once it was needed.
    datadir: OnceCell<Evaluated>,
}

impl LevelLocator<'_> {
    fn find_locations(&self) -> Result<Vec<Location>, LookupError> {
        let mut found = Vec::new();
        // Puppet looks at the datadir and, in version 3, at the options even where no location
        // needs them.
        self.evaluate_datadir()?;
        match &self.level.locations {
            Locations::Paths(templates) => {
                for template in templates {
                    found
                        .push(self.locate_path(template, self.in_paths.evaluate(&template.text)?)?);
                }
            }
            Locations::Globs(templates) | Locations::ByKey(_, templates) => {
                for template in templates {
                    self.locate_glob(template, &mut found)?;
                }
            }
            Locations::Uris(templates) => {
                for template in templates {
                    found.push(match self.in_paths.evaluate(&template.text)? {
                        Evaluated::Text(uri) => {
                            new_location(template, &uri.clone(), LevelTarget::Uri(uri))
                        }
                        Evaluated::Partial(pieces) => {
                            let undetermined = Undetermined {
                                variables: unknown_variables(&pieces),
                                pattern: None,
                            };
                            new_location(
                                template,
                                &template.text,
                                LevelTarget::Undetermined(undetermined),
                            )
                        }
                    });
                }
            }
            Locations::Mapped { variable, local, path } => {
                self.locate_mapped(&variable.text, local, path, &mut found)?
            }
            Locations::None => found.push(no_location()),
        }
        if let Some(options) = &self.level.options {
            self.variables.check(options)?;
        }
        // Puppet asks a backend of Hiera 3 once where the level has no location of its own.
        if self.level.backend.kind == BackendKind::Hiera3
            && !found.iter().any(|location| !matches!(location.place, LevelTarget::NoMatch { .. }))
        {
            found.push(no_location());
        }
        Ok(found)
    }

    fn evaluate_datadir(&self) -> Result<&Evaluated, LookupError> {
        if let Some(known) = self.datadir.get() {
            return Ok(known);
        }
        let found = self.find_datadir()?;
        Ok(self.datadir.get_or_init(|| found))
    }

    fn find_datadir(&self) -> Result<Evaluated, LookupError> {
        let datadir = datadir_template(self.config, self.level);
        match self.config.version {
            ConfigVersion::V4 => Ok(Evaluated::Text(datadir)), // A folder may be called `d%{x}`.
            ConfigVersion::V5 => self.variables.evaluate(&datadir),
            ConfigVersion::V3 => {
                Ok(match self.variables.evaluate(self.config.mapped_datadir(self.level))? {
                    Evaluated::Text(text) => {
                        Evaluated::Text(join_paths(self.config.base_folder().as_str(), &text))
                    }
                    Evaluated::Partial(_) => self.variables.evaluate(&datadir)?,
                })
            }
        }
    }

    /// Returns a path with the extension that its level adds to all that lack it.
    fn with_extension(&self, path: Evaluated) -> Result<Evaluated, LookupError> {
        let Some(extension) = self.level.extension.as_deref() else { return Ok(path) };
        Ok(match (path, self.variables.evaluate(extension)?) {
            (Evaluated::Text(path), Evaluated::Text(extension)) if path.ends_with(&extension) => {
                Evaluated::Text(path)
            }
            (Evaluated::Text(path), Evaluated::Text(extension)) => {
                Evaluated::Text(path + &extension)
            }
            (Evaluated::Partial(mut path), Evaluated::Text(extension)) => {
                if !matches!(path.last(), Some(PatternPiece::Literal(text)) if text.ends_with(&extension))
                {
                    path.push(PatternPiece::Literal(extension));
                }
                Evaluated::Partial(normalize_pieces(path))
            }
            (path, Evaluated::Partial(mut extension)) => {
                let mut all = path.into_pieces();
                all.append(&mut extension);
                Evaluated::Partial(normalize_pieces(all))
            }
        })
    }

    /// Returns the pieces of the whole pattern, or the whole path.
    fn below_datadir(&self, relative: Evaluated, glob: bool) -> Result<Evaluated, LookupError> {
        let literal = |text: String| {
            if glob { PatternPiece::Glob(text) } else { PatternPiece::Literal(text) }
        };
        Ok(match (self.evaluate_datadir()?, relative) {
            (_, Evaluated::Text(path)) if path.starts_with('/') => Evaluated::Text(path),
            (Evaluated::Text(datadir), Evaluated::Text(path)) => {
                Evaluated::Text(join_paths(datadir, &path))
            }
            (datadir, relative) => {
                let mut all = datadir.clone().into_pieces();
                all.push(PatternPiece::Literal("/".into()));
                match relative {
                    Evaluated::Text(text) => all.push(literal(text)),
                    Evaluated::Partial(pieces) if glob => {
                        all.extend(pieces.into_iter().map(|piece| match piece {
                            PatternPiece::Literal(text) => PatternPiece::Glob(text),
                            other => other,
                        }))
                    }
                    Evaluated::Partial(mut pieces) => all.append(&mut pieces),
                }
                Evaluated::Partial(normalize_pieces(all))
            }
        })
    }

    fn locate_path(
        &self,
        template: &Template,
        relative: Evaluated,
    ) -> Result<Location, LookupError> {
        Ok(match self.below_datadir(self.with_extension(relative)?, false)? {
            Evaluated::Text(text) => {
                let path = FilePath::new(&text);
                let exists = self.sources.exists(&path) && self.can_be_walked(&text);
                let is_indexed = exists && self.sources.is_indexed(&path);
                Location {
                    is_indexed,
                    ..new_location(template, &text, LevelTarget::File { path, exists })
                }
            }
            Evaluated::Partial(pieces) => self.undetermined_location(template, pieces),
        })
    }

    /// Returns whether the folders that a path leaves again with `..` exist: the operating system
    /// goes through them.
    fn can_be_walked(&self, path: &str) -> bool {
        path.match_indices("/..").all(|(at, _)| {
            let stays = path[at + 3..].starts_with(|c| c != '/');
            stays || self.sources.exists(&FilePath::new(&path[..at]))
        })
    }

    fn locate_glob(
        &self,
        template: &Template,
        found: &mut Vec<Location>,
    ) -> Result<(), LookupError> {
        match self.below_datadir(self.in_paths.evaluate(&template.text)?, true)? {
            Evaluated::Text(pattern) => {
                if let Some(most) = exceeded_limit(&pattern) {
                    return Err(LookupError::limit_reached(Limit::Glob(most), template.span));
                }
                let original: Arc<str> = pattern.as_str().into();
                let files = self.sources.glob_files(&pattern);
                let of_pattern = |name: Arc<str>, place| Location {
                    template: Some(template.clone()),
                    original: original.clone(),
                    name,
                    is_indexed: matches!(&place, LevelTarget::File { path, .. } if self.sources.is_indexed(path)),
                    place,
                };
                if files.is_empty() {
                    found.push(of_pattern(original.clone(), LevelTarget::NoMatch { pattern }));
                }
                found.extend(files.iter().map(|path| {
                    of_pattern(
                        path.as_arc().clone(),
                        LevelTarget::File { path: path.clone(), exists: true },
                    )
                }));
            }
            Evaluated::Partial(pieces) => found.push(self.undetermined_location(template, pieces)),
        }
        Ok(())
    }

    fn locate_mapped(
        &self,
        variable: &str,
        local: &Arc<str>,
        path: &Template,
        found: &mut Vec<Location>,
    ) -> Result<(), LookupError> {
        let value = match self.in_paths.named_variable(variable)? {
            Variable::Known(value) => value,
            Variable::Undefined => return Ok(()),
            Variable::Unknown => {
                let mut all = self.evaluate_datadir()?.clone().into_pieces();
                all.push(PatternPiece::Literal("/".into()));
                all.extend(parse_pieces(&path.text, false).into_iter().map(|piece| match piece {
                    PatternPiece::Variable(name) if name.split('.').next() == Some(local) => {
                        PatternPiece::Any
                    }
                    other => other,
                }));
                let mut location = self.undetermined_location(path, normalize_pieces(all));
                if let LevelTarget::Undetermined(undetermined) = &mut location.place {
                    undetermined.variables.push(variable_name(variable));
                }
                found.push(location);
                return Ok(());
            }
        };
        let elements: Vec<Value> = match value.data() {
            Data::Null => Vec::new(),
            Data::String(text) if text.is_empty() => Vec::new(),
            Data::String(_) => vec![value.clone()],
            Data::Array(items) => items.to_vec(),
            Data::Hash(hash) => hash
                .iter()
                .map(|(key, member)| {
                    Value::new_array(
                        vec![key.to_value(None), member.value.clone()],
                        Provenance::from_source(None),
                    )
                })
                .collect(),
            _ => {
                return Err(LookupError::crash(format!(
                    "undefined method `empty?' for {}:{}",
                    value.to_text(),
                    value.class_name()
                )));
            }
        };
        for element in elements {
            let variables = Variables { local: Some((local, &element)), ..self.in_paths };
            let relative = variables.evaluate(&path.text)?;
            found.push(self.locate_path(path, relative)?);
        }
        Ok(())
    }

    fn undetermined_location(&self, template: &Template, pieces: Vec<PatternPiece>) -> Location {
        if let Some(pinned) =
            self.variables.scope.pinned.as_ref().filter(|pinned| pinned.template == template.text)
        {
            let place = LevelTarget::File {
                path: pinned.path.clone(),
                exists: self.sources.exists(&pinned.path),
            };
            return new_location(template, pinned.path.as_str(), place);
        }
        let variables = unknown_variables(&pieces);
        let pattern = Pattern::new(pieces);
        if let Some(path) = pattern
            .as_ref()
            .and_then(|pattern| self.variables.scope.assumed_file(&template.text, pattern))
        {
            let place = LevelTarget::File { path: path.clone(), exists: true };
            return new_location(template, path.as_str(), place);
        }
        let name = join_paths(&datadir_template(self.config, self.level), &template.text);
        new_location(
            template,
            &name,
            LevelTarget::Undetermined(Undetermined { variables, pattern }),
        )
    }
}

/// Returns the location of a level that names none.
fn no_location() -> Location {
    let (original, name, place) = ("".into(), "".into(), LevelTarget::Nowhere);
    Location { template: None, original, name, place, is_indexed: false }
}

fn new_location(template: &Template, name: &str, place: LevelTarget) -> Location {
    Location {
        template: Some(template.clone()),
        original: template.text.clone(),
        name: name.into(),
        place,
        is_indexed: false,
    }
}

/// Returns a path below a folder, or the path itself when it is absolute. Only `.` and `..` at its
/// start are folded, as Ruby's `Pathname#+` does: any other is left to the operating system.
/// Source: semantics 1.6.
fn join_paths(folder: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let (folder, rest) = climb(folder, path);
    format!("{folder}/{rest}")
}

/// Returns the folder that a relative path climbs to, without a slash at its end, and the rest of
/// the path.
fn climb<'a>(folder: &'a str, path: &'a str) -> (&'a str, &'a str) {
    let (mut folder, mut rest) = (folder.trim_end_matches('/'), path);
    loop {
        let (first, more) = rest.split_once('/').unwrap_or((rest, ""));
        match first {
            "." => {}
            ".." => folder = folder.rsplit_once('/').map_or("", |(parent, _)| parent),
            _ => return (folder, rest),
        }
        // Several slashes may follow `.` or `..`.
        rest = more.trim_start_matches('/');
    }
}

/// Returns the start of a glob below `folder` as a folder, which ends with a slash, and the rest of
/// the glob: names that it leaves again with `..` are folded, as far as no character in them is
/// special.
fn without_detours(folder: &str, glob: &str) -> (String, String) {
    let (folder, rest) = climb(folder, glob);
    let mut folder = folder.to_owned();
    let mut names: Vec<&str> = Vec::new();
    for (n, name) in rest.split('/').enumerate() {
        match (name, names.last()) {
            ("..", Some(last)) if *last != ".." && !last.contains(['*', '?', '[', '{', '\\']) => {
                names.pop();
            }
            ("..", None) => folder.truncate(folder.rfind('/').unwrap_or(0)),
            ("" | ".", _) if n + 1 < rest.split('/').count() => {}
            _ => names.push(name),
        }
    }
    (format!("{folder}/"), names.join("/"))
}

/// Returns the file, if an unknown variable can make it of a pattern. A value with slashes is
/// thought of only where no location names the file without.
fn match_candidate(
    pattern: &Pattern,
    path: &FilePath,
    sources: &dyn Sources,
) -> Option<CandidateFile> {
    let when = match pattern.bind(path.as_str()) {
        Some(found) => found.bindings().clone(),
        None if pattern.can_name(path.as_str()) && !sources.is_named_plainly(path) => {
            // Where only an empty value gives the path, the bindings name no variable.
            let nested = pattern.bind_nested(path.as_str());
            nested.map_or_else(Bindings::new, |found| found.bindings().clone())
        }
        None => return None,
    };
    Some(CandidateFile { path: path.clone(), when, literal_len: pattern.literal_len() })
}

fn unknown_variables(pieces: &[PatternPiece]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for piece in pieces {
        if let PatternPiece::Variable(name) = piece
            && !names.contains(name)
        {
            names.push(name.clone());
        }
    }
    names
}
