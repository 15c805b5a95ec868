//! Keys that the user has evaluated with the functions of levels: the offers at a place, the
//! evaluation, and the outcomes that hovers and pages show.
//!
//! Only [`evaluate`] runs functions, and only the user's own request leads to it. All else here
//! looks at texts and at outcomes that are there.

use std::sync::Arc;

use super::cursor::{asked_key, under_cursor};
use crate::backends::Functions;
use crate::hiera::eyaml::Decryptor;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::{Context, LOOKUP_OPTIONS, Resolver};
use crate::hiera::resolution::{Outcome, Resolution, Unevaluated};
use crate::hiera::scope::Scope;
use crate::text::{FilePath, FilePosition};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use crate::workspace::queries::seen::Seen;

/// How many outcomes are kept. The oldest one goes first, and its hovers are those of a key that was
/// not evaluated.
const KEPT: usize = 100;
/// Up to how many nodes that read a file are offered one by one. Where there are more, a key is
/// evaluated with the variables that all of them have.
const FEW_NODES: usize = 3;

/// A key that can be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The root key.
    pub key: Arc<str>,
    /// The node to evaluate the key for; `None` for the scope of the file.
    pub node: Option<Arc<str>>,
}

/// The subject of an evaluation.
#[derive(Clone, Debug)]
pub struct EvaluationSubject {
    /// The environment.
    pub environment: Arc<Environment>,
    /// The scope.
    pub scope: Arc<Scope>,
    /// The root key.
    pub key: LookupKey,
}

/// The outcome of an evaluation.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The folder of the environment.
    root: FilePath,
    /// When the evaluation was made, for people: `10:04`.
    pub at: String,
    /// The scope that the evaluation was made in.
    pub scope: Arc<Scope>,
    /// The lookup, in which functions were called.
    pub resolution: Resolution,
    seen: Seen,
}

/// The outcomes that are kept, the oldest first; one for a key and a scope. Copies are cheap.
#[derive(Clone, Debug, Default)]
pub struct Evaluations(Vec<Arc<Evaluation>>);

/// Returns the evaluations that are possible at a place: of a key whose lookup calls functions of
/// levels, for the node whose values are shown, or for the nodes that read the file.
pub fn find_offers(snapshot: &Snapshot, position: FilePosition) -> Vec<Offer> {
    let Some(subject) = under_cursor(snapshot, position) else { return Vec::new() };
    let key = asked_key(&subject.kind).map(|key| LookupKey::of_root(&key.root_text()));
    let Some(key) = key.filter(|key| *key.root_text() != *LOOKUP_OPTIONS) else {
        return Vec::new();
    };
    let environment = &subject.environment;
    let scope = snapshot.scope_for(environment, &subject.path);
    if !asks_functions(snapshot, environment, &scope, &key) {
        return Vec::new();
    }
    if scope.is_node || !environment.reaches_file(&subject.path) {
        return vec![new_offer(None, &key)];
    }
    let readers = &snapshot.readers_of(environment, &subject.path).certainly;
    match readers.len() {
        1..=FEW_NODES => {
            let all = snapshot.nodes_of(environment);
            let nodes = readers.iter().map(|number| &all[*number]);
            nodes
                .filter(|node| asks_functions(snapshot, environment, &node.scope, &key))
                .map(|node| new_offer(Some(node.name.clone()), &key))
                .collect()
        }
        _ => vec![new_offer(None, &key)],
    }
}

fn new_offer(node: Option<Arc<str>>, key: &LookupKey) -> Offer {
    Offer { key: key.root_text(), node }
}

/// Whether functions of levels decide about a key: about its value, or about how values are merged.
/// None is called.
pub fn asks_functions(
    snapshot: &Snapshot,
    environment: &Environment,
    scope: &Scope,
    key: &LookupKey,
) -> bool {
    if snapshot.code_of_levels(environment).is_empty() {
        return false; // as with most
    }
    let view = snapshot.view(environment);
    let resolver = Resolver::new(snapshot.lookup_context(environment, &view, scope));
    let resolution = snapshot.lookup_as_called(environment, &resolver, key);
    resolution.steps.iter().any(|step| matches!(step.outcome, Outcome::Opaque(_)))
        || resolution
            .unsettled_levels
            .iter()
            .any(|level| matches!(&level.reason, Unevaluated::Backend(_)))
        || !resolver.levels_that_may_hold_options(&resolution).is_empty()
}

/// Returns the target of a request: a root key in a file, for a node or for the file's own scope.
/// `None` for a file that no environment governs, and for a node that is not known.
pub fn find_target(
    snapshot: &Snapshot,
    path: &FilePath,
    key: &LookupKey,
    node: Option<&str>,
) -> Option<EvaluationSubject> {
    let environment = snapshot.environments().governing_environments(path).next()?.clone();
    let scope = match node {
        Some(name) => {
            let mut nodes = snapshot.nodes_of(&environment).iter();
            nodes.find(|node| &*node.name == name)?.scope.clone()
        }
        None => scope_of(snapshot, &environment, path),
    };
    Some(EvaluationSubject { environment, scope, key: LookupKey::of_root(&key.root_text()) })
}

/// Looks a key up and calls functions of levels for that. `at` is the time, for people.
pub fn evaluate(
    snapshot: &Snapshot,
    target: &EvaluationSubject,
    functions: &Functions,
    at: String,
) -> Evaluation {
    let EvaluationSubject { environment, scope, key } = target;
    let view = snapshot.view(environment);
    let keys = snapshot.eyaml_decryptor(environment);
    let decryptor = keys.as_ref().map(|keys| keys as &dyn Decryptor);
    let session = functions.open_session(&environment.name, scope);
    let context = snapshot.lookup_context(environment, &view, scope);
    let resolver = Resolver::new(Context { decryptor, backends: Some(&session), ..context });
    let resolution = snapshot.lookup_as_called(environment, &resolver, key);
    let (root, scope) = (environment.root.clone(), scope.clone());
    Evaluation { root, at, scope, resolution, seen: snapshot.seen() }
}

/// Returns the scope that a file is evaluated in: that of the node whose values it shows, or of the
/// only node that reads it, or else the variables that all nodes have that read it.
pub fn scope_of(snapshot: &Snapshot, environment: &Environment, path: &FilePath) -> Arc<Scope> {
    let scope = snapshot.scope_for(environment, path);
    if scope.is_node || !environment.reaches_file(path) {
        return scope;
    }
    match snapshot.readers_of(environment, path).certainly[..] {
        [only] => snapshot.nodes_of(environment)[only].scope.clone(),
        _ => scope,
    }
}

impl Evaluation {
    /// Whether nothing that a function may have seen has changed since the evaluation.
    pub fn is_current(&self, snapshot: &Snapshot) -> bool {
        self.seen.is_same(snapshot)
    }

    /// Whether the evaluation was made in this scope, or in one of that name before files changed.
    pub fn is_in(&self, scope: &Scope) -> bool {
        (self.scope.is_node, &self.scope.name) == (scope.is_node, &scope.name)
    }
}

impl Evaluations {
    /// Adds an outcome in the place of an earlier one of the same key and scope.
    pub fn keep_outcome(&mut self, new: Evaluation) {
        let is_same = |old: &Evaluation| {
            (&old.root, &old.resolution.key.text) == (&new.root, &new.resolution.key.text)
                && old.is_in(&new.scope)
        };
        self.0.retain(|old| !is_same(old));
        self.0.push(Arc::new(new));
        let excess = self.0.len().saturating_sub(KEPT);
        self.0.drain(..excess);
    }

    /// Returns the outcomes for a root key, one for each scope.
    pub fn outcomes_of<'a>(
        &'a self,
        environment: &Environment,
        key: &LookupKey,
    ) -> impl Iterator<Item = &'a Evaluation> {
        let (root, key) = (environment.root.clone(), key.text.clone());
        let all = self.0.iter().map(|one| &**one);
        all.filter(move |one| one.root == root && one.resolution.key.text == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    /// The function's level is below the value, so that only options may come from it.
    #[test]
    fn keys_are_offered_where_a_function_may_hold_their_options() {
        let has_offer = |level: &str, options: &str| {
            let levels = ["{name: Common, path: common.yaml}", level];
            let function = "#- /modules/store/functions/find.pp\nfunction store::find($options, $context) { }\n";
            let text = format!(
                "#- /hiera.yaml\nversion: 5\nhierarchy: [{}]\n{function}#- /data/common.yaml\nk$0: 1\n{options}",
                levels.join(", ")
            );
            let fixture = Fixture::new(&text);
            !find_offers(&fixture.snapshot, fixture.position()).is_empty()
        };
        let own = "lookup_options: {k: {merge: first}}\n";
        let (function, data) =
            ("{name: Store, data_hash: store::find}", "{name: Last, path: last.yaml}");
        assert!(has_offer(function, ""));
        assert!(!has_offer(function, own));
        assert!(!has_offer(data, ""));
    }
}
