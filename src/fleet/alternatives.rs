//! Results of a lookup where variables are unknown: one answer for each existing file that these
//! variables may lead to, and one for nodes that read none of these files.
//!
//! The values of the variables come from the names of the files. The answers do not describe a
//! node: each answer states its assumption.

use super::groups::{Assumed, Case, FleetQuestion, Group};
use super::questions::Questions;
use crate::hiera::config::Locations;
use crate::hiera::pattern::{Bindings, Pattern, PatternMatch};
use crate::hiera::resolution::{Outcome, Resolution, Unevaluated, Unsettled};
use crate::hiera::scope::{AssumedFile, Scope, Variable};
use crate::text::FilePath;
use crate::workspace::environments::Reach;
use crate::workspace::nodes::{InferStep, same_fact};

/// The most files of one location to look a key up with. Others are named and not compared.
const MAX_BRANCHES: usize = 12;
/// The most files that unknown variables may lead to; beyond, no alternative is looked up.
const MAX_OPEN_FILES: usize = 256;

/// Adds the cases to groups whose answers leave files open, unless the settings switch off what the
/// names of files imply. A file of another known node is no case. Each lookup takes one from
/// `lookups`. A group whose nodes get different answers in a case is split. Groups with most nodes
/// come first.
pub fn add_cases(question: &FleetQuestion<'_>, groups: &mut Vec<Group>, lookups: &mut usize) {
    let mut number = 0;
    while let Some(group) = groups.get_mut(number) {
        let others = add_group_cases(question, group, lookups);
        groups.extend(others);
        number += 1;
    }
    groups.sort_by_key(Group::rank);
}

/// Adds the cases to a group, which keeps the nodes for which all cases have the answers of its
/// first node. Returns the group of the others, which has no cases yet; `None` if there are none.
pub fn add_group_cases(
    question: &FleetQuestion<'_>,
    group: &mut Group,
    lookups: &mut usize,
) -> Option<Group> {
    let FleetQuestion { snapshot, environment, .. } = *question;
    let config = snapshot.config_of(environment);
    if group.resolution.unsettled.is_empty() || !config.nodes.infer.has_step(InferStep::Kinds) {
        return None;
    }
    let asked = (group.nodes.len() > 1).then(Vec::new);
    let (scope, first) = (&group.scope, &group.resolution);
    let (cases, asked) = search_cases(
        question,
        scope,
        first,
        &|value: &str| snapshot.is_node_name(environment, value),
        lookups,
        asked,
    );
    group.cases = cases;
    if group.cases.is_empty() {
        return None;
    }
    let first = *group.nodes.first()?;
    let asked = asked.unwrap_or_default();
    let given: Vec<_> = asked.iter().map(|asked| asked.answers_given_by(first)).collect();
    let (alike, others): (Vec<usize>, Vec<usize>) = std::mem::take(&mut group.nodes)
        .into_iter()
        .partition(|node| given.iter().all(|given| given.first_difference(*node).is_none()));
    group.nodes = alike;
    let scope = snapshot.nodes_of(environment)[*others.first()?].scope.clone();
    let resolution = group.resolution.clone();
    Some(Group { nodes: others, scope, resolution, cases: Vec::new() })
}

/// Returns the answers to `question` in a scope in which `resolution` leaves files open: the last
/// one is for nodes that read none of these files. Empty where there are fewer than two cases.
///
/// `is_foreign` is true for values that only other nodes have. Each lookup takes one from
/// `lookups`.
pub fn find_alternatives(
    question: &FleetQuestion<'_>,
    scope: &Scope,
    resolution: &Resolution,
    is_foreign: &dyn Fn(&str) -> bool,
    lookups: &mut usize,
) -> Vec<Case> {
    search_cases(question, scope, resolution, is_foreign, lookups, None).0
}

/// Returns the cases as [`find_alternatives`] does, and `asked` with the questions of all lookups,
/// if it is given: nodes with other answers to them may have other cases.
fn search_cases(
    question: &FleetQuestion<'_>,
    scope: &Scope,
    resolution: &Resolution,
    is_foreign: &dyn Fn(&str) -> bool,
    lookups: &mut usize,
    asked: Option<Vec<Questions>>,
) -> (Vec<Case>, Option<Vec<Questions>>) {
    let mut exploring =
        AlternativeSearch { question, is_foreign, lookups, cases: Vec::new(), asked };
    let (scope, resolution) = (scope.clone(), resolution.clone());
    let pinned = exploring.pinned_values(&scope);
    exploring.explore(scope, resolution, &pinned, Assumed::new());
    let cases = without_covered(exploring.cases);
    (if cases.len() < 2 { Vec::new() } else { cases }, exploring.asked)
}

/// Drops the cases over which an earlier one always takes precedence.
fn without_covered(all: Vec<Case>) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for case in all {
        if !cases.iter().any(|above| above.when.iter().all(|it| case.when.contains(it))) {
            cases.push(case);
        }
    }
    cases
}

struct AlternativeSearch<'a> {
    question: &'a FleetQuestion<'a>,
    is_foreign: &'a dyn Fn(&str) -> bool,
    lookups: &'a mut usize,
    cases: Vec<Case>,
    /// The questions about a node that the lookups asked, where they are wanted.
    asked: Option<Vec<Questions>>,
}

/// Files that one assumption leads to.
struct Branch {
    when: Assumed,
    bindings: Bindings,
    /// The files that a location names in one way or another.
    read: Vec<AssumedFile>,
    files: Vec<FilePath>,
}

/// A way in which a location with unknown variables could name a file.
struct LocationReading<'a> {
    unsettled: &'a Unsettled,
    reach: &'a Reach,
    /// The paths that the location can name where all that is known is filled in.
    pattern: Pattern,
    /// Whether the variables have only one value for the file.
    is_bound: bool,
}

impl AlternativeSearch<'_> {
    /// `pinned` has the values of adjacent variables in the path that the scope is pinned to,
    /// `when` the assumptions of the scope.
    fn explore(
        &mut self,
        mut scope: Scope,
        mut resolution: Resolution,
        pinned: &Bindings,
        when: Assumed,
    ) {
        if let Some(asked) = &mut self.asked {
            let FleetQuestion { snapshot, environment, asked: known, .. } = *self.question;
            asked.push(Questions::of_open_lookup(snapshot, environment, &resolution, known));
        }
        let contradicting = self.contradicting_files(&scope, &resolution, pinned, &when);
        if !contradicting.is_empty() {
            resolution = remove_files(resolution, &contradicting);
            scope.assume_unread(contradicting);
        }
        let branches = match *self.lookups {
            0 => Vec::new(),
            _ => self.find_branches(&scope, &resolution, pinned, &when),
        };
        if branches.is_empty() {
            return self.cases.push(Case { when, resolution: Some(resolution) });
        }
        let files: Vec<FilePath> = branches.iter().flat_map(|it| it.files.clone()).collect();
        for (number, branch) in branches.into_iter().enumerate() {
            let when = [&when[..], &branch.when[..]].concat();
            let is_enough = number >= MAX_BRANCHES || *self.lookups == 0;
            if is_enough || self.question.snapshot.cancel_token().is_cancelled() {
                self.cases.push(Case { when, resolution: None });
                continue;
            }
            let mut assumed = scope.clone();
            assumed.assume_values(&branch.bindings);
            if !branch.read.is_empty() {
                // The files that only other branches have need other values of the same variables.
                let others = files.iter().filter(|path| !branch.files.contains(path));
                assumed.assume_unread(others.cloned());
            }
            branch.read.into_iter().for_each(|file| assumed.assume_read(file));
            *self.lookups -= 1;
            let resolution = (self.question.lookup)(&assumed, None);
            self.explore(assumed, resolution, pinned, when);
        }
        scope.assume_unread(files.iter().cloned());
        // The lookup left a token as it stands where these files may define the key that the token
        // asks for.
        let root = resolution.key.root_text();
        let mut unsettled = resolution.unsettled.iter();
        let resolution = if unsettled.any(|it| *it.key != *root && files.contains(&it.path)) {
            (self.question.lookup)(&scope, None)
        } else {
            remove_files(resolution, &files)
        };
        self.explore(scope, resolution, pinned, when);
    }

    /// Returns the values of variables side by side that follow from the file that a scope is
    /// pinned to.
    fn pinned_values(&self, scope: &Scope) -> Bindings {
        let Some(pinned) = &scope.pinned else { return Bindings::new() };
        let mut reaches = self.question.environment.reach.iter();
        let found = reaches.find_map(|reach| {
            let is_it = reach.template.text == pinned.template;
            is_it.then(|| joined_values(&reach.pattern, &pinned.path)).flatten()
        });
        found.unwrap_or_default()
    }

    /// Returns the open files that need other values of variables side by side than those that are
    /// pinned or assumed: none of these variables has a value of its own that would decide it.
    fn contradicting_files(
        &self,
        scope: &Scope,
        resolution: &Resolution,
        pinned: &Bindings,
        when: &Assumed,
    ) -> Vec<FilePath> {
        let mut names = pinned.keys().chain(when.iter().map(|(name, _)| name));
        if !names.any(|name| name.starts_with("%{")) {
            return Vec::new();
        }
        let files = resolution.unsettled.iter().filter(|file| {
            let reading = self.matching_reading(scope, file);
            let values = reading.and_then(|it| joined_values(&it.pattern, &file.path));
            values.into_iter().flatten().any(|(name, value)| {
                value_of(&name, pinned, when).is_some_and(|known| *known != value)
            })
        });
        files.map(|file| file.path.clone()).collect()
    }

    /// Returns the files that the first location with unknown variables may name, grouped by the
    /// values of these variables.
    fn find_branches(
        &self,
        scope: &Scope,
        resolution: &Resolution,
        pinned: &Bindings,
        assumed: &Assumed,
    ) -> Vec<Branch> {
        if resolution.unsettled.len() > MAX_OPEN_FILES {
            return Vec::new();
        }
        let own = resolution
            .unsettled
            .iter()
            .filter(|file| !file.when.values().any(|value| (self.is_foreign)(value)));
        let readings = own.filter_map(|file| self.matching_reading(scope, file));
        let mut branches: Vec<Branch> = Vec::new();
        let mut names: Option<Vec<String>> = None;
        for mut branch in readings.filter_map(|reading| branch_of(scope, &reading)) {
            branch.when.retain(|(name, _)| value_of(name, pinned, assumed).is_none());
            let own: Vec<String> = branch.when.iter().map(|(name, _)| name.clone()).collect();
            if names.get_or_insert_with(|| own.clone()) != &own {
                continue;
            }
            match branches.iter_mut().find(|other| other.when == branch.when) {
                Some(known) => {
                    known.files.extend(branch.files);
                    known.read.extend(branch.read);
                }
                None => branches.push(branch),
            }
        }
        branches
    }

    /// Returns the reading of a file that agrees with the known variables; `None` where it cannot
    /// be distinguished from others.
    fn matching_reading<'u>(
        &'u self,
        scope: &Scope,
        unsettled: &'u Unsettled,
    ) -> Option<LocationReading<'u>> {
        self.question.environment.reach.iter().find_map(|reach| {
            let values = reach
                .pattern
                .variables()
                .iter()
                .filter_map(|name| match scope.get_path(name) {
                    Variable::Known(value) => Some((name.clone(), value.to_text().into_owned())),
                    Variable::Undefined => Some((name.clone(), String::new())),
                    Variable::Unknown => None,
                })
                .collect();
            let pattern = reach.pattern.fill_variables(&values)?;
            let path = unsettled.path.as_str();
            let found = pattern.bind(path).or_else(|| pattern.bind_nested(path))?;
            let is_it = pattern.literal_len() == unsettled.literal_len
                && *found.bindings() == unsettled.when;
            let is_bound = matches!(found, PatternMatch::Bound(_));
            let is_told = if is_bound {
                !unsettled.when.is_empty()
            } else {
                matches!(reach.level.locations, Locations::Paths(_))
            };
            (is_it && is_told).then_some(LocationReading { unsettled, reach, pattern, is_bound })
        })
    }
}

/// Returns the value that a variable, or several side by side, is pinned to or assumed to have.
fn value_of<'a>(name: &str, pinned: &'a Bindings, assumed: &'a Assumed) -> Option<&'a String> {
    pinned
        .get(name)
        .or_else(|| assumed.iter().find(|(known, _)| known == name).map(|(_, value)| value))
}

/// Returns the branch that a reading leads to, with its assumption. `None` where the text of the
/// path does not show it.
fn branch_of(scope: &Scope, reading: &LocationReading<'_>) -> Option<Branch> {
    let LocationReading { unsettled, reach, pattern, is_bound } = reading;
    let in_order = |values: &Bindings, names: &[String]| {
        let mut when = Assumed::new();
        for name in names {
            let Some(value) = values.get(name) else { continue };
            if !when.iter().any(|(known, _)| known == name) {
                when.push((name.clone(), value.clone()));
            }
        }
        when
    };
    let files = vec![unsettled.path.clone()];
    if *is_bound {
        let when = in_order(&unsettled.when, pattern.variables());
        return Some(Branch {
            bindings: with_same_facts(scope, &when),
            when,
            read: Vec::new(),
            files,
        });
    }
    let joined = pattern.join_variables()?;
    let values = joined_values(pattern, &unsettled.path)?;
    let when = in_order(&values, joined.variables());
    let read = AssumedFile {
        template: reach.template.text.clone(),
        path: unsettled.path.clone(),
        pattern: pattern.clone(),
    };
    Some(Branch { when, bindings: unsettled.when.clone(), read: vec![read], files })
}

/// Returns the variables that a location has for a file, where those that stand side by side are
/// one; `None` where even that does not show them.
fn joined_values(pattern: &Pattern, path: &FilePath) -> Option<Bindings> {
    match pattern.join_variables()?.bind(path.as_str())? {
        PatternMatch::Bound(bindings) => Some(bindings),
        PatternMatch::Ambiguous(_) => None,
    }
}

/// Returns the values with those of the same facts under their other names: `os.name` is
/// `facts.os.name`.
fn with_same_facts(scope: &Scope, when: &Assumed) -> Bindings {
    let mut all: Bindings = when.iter().cloned().collect();
    for (name, value) in when {
        let other = same_fact(name).filter(|other| scope.get_path(other) == Variable::Unknown);
        if let Some(other) = other {
            all.entry(other).or_insert_with(|| value.clone());
        }
    }
    all
}

/// Returns the lookup where none of these files is read: unknown locations gave nothing to it
/// already.
fn remove_files(mut resolution: Resolution, files: &[FilePath]) -> Resolution {
    let is_gone = |path: &FilePath| files.contains(path);
    resolution.unsettled.retain(|file| !is_gone(&file.path));
    resolution.unsettled_levels.retain_mut(|level| match &mut level.reason {
        Unevaluated::Undetermined { files, .. } => {
            files.retain(|path| !is_gone(path));
            !files.is_empty()
        }
        _ => true,
    });
    for step in &mut resolution.steps {
        if let Outcome::Undetermined { candidates, .. } = &mut step.outcome {
            candidates.retain(|file| !is_gone(&file.path));
        }
    }
    resolution
}

#[cfg(test)]
mod tests;
