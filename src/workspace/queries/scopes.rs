//! The scope for which features show values in a file: that of the chosen node, that of the only
//! node that reads the file, or the variables that the file's path implies.

use std::sync::Arc;

use crate::hiera::scope::{Scope, Variable};
use crate::puppet::value::{Member, Provenance, Value};
use crate::text::FilePath;
use crate::workspace::environments::Environment;
use crate::workspace::nodes::node::Node;
use crate::workspace::snapshot::Snapshot;

impl Snapshot {
    /// Returns the node whose hierarchy includes the file, if no other one can include it.
    ///
    /// For an inferred node, only its own files qualify: other files may be read by nodes that have
    /// no file.
    pub fn only_node_reading<'a>(
        &self,
        environment: &'a Environment,
        path: &FilePath,
    ) -> Option<&'a Node> {
        let readers = self.readers_of(environment, path);
        let ([number], []) = (&readers.certainly[..], &readers.possibly[..]) else { return None };
        let node = &*self.nodes_of(environment)[*number];
        let is_own = node.is_given
            || self
                .inferred_scope(environment, path)
                .known_variables()
                .any(|(_, value)| holds_text(value, &node.name));
        is_own.then_some(node)
    }

    /// Returns the scope that values are shown for in a file: the chosen node's or kind's, or that
    /// of the only known node that reads the file, or the one that follows from the file's own path.
    /// A data file that the chosen node does not read has the scope that it has without a choice.
    pub fn scope_for(&self, environment: &Environment, path: &FilePath) -> Arc<Scope> {
        if let Some(node) = self.selected_reader(environment, path) {
            return node.scope.clone();
        }
        let inferred = self.inferred_scope(environment, path);
        if !environment.reaches_file(path) {
            return inferred;
        }
        match self.only_node_reading(environment, path) {
            Some(only) => only.scope.clone(),
            None => inferred,
        }
    }

    /// Returns the chosen node or kind, unless `path` is a data file that the node does not read, or
    /// that the variables of the kind exclude.
    pub fn selected_reader<'a>(
        &self,
        environment: &'a Environment,
        path: &FilePath,
    ) -> Option<&'a Node> {
        let selected = self.selected_in(environment)?;
        let is_read =
            !environment.reaches_file(path) || self.may_read(environment, &selected.scope, path);
        is_read.then_some(selected)
    }

    /// Returns the scope of a node of which only the environment is known.
    pub fn any_scope(&self, environment: &Environment) -> Scope {
        let mut scope = Scope::open("any node");
        scope.set_variable("environment", Value::from_argument(&environment.name));
        scope
    }

    /// Returns the scope that follows from a file's path, with the variables that the rules derive
    /// from it. `environment` is unknown where the path does not show it and the files of several
    /// environments lie here.
    pub fn inferred_scope(&self, environment: &Environment, path: &FilePath) -> Arc<Scope> {
        environment.cache.scopes.get_or(path, || Arc::new(self.infer_file_scope(environment, path)))
    }

    fn infer_file_scope(&self, environment: &Environment, path: &FilePath) -> Scope {
        let mut scope = environment.infer_scope(path);
        if !environment.tells_environment(path)
            && self.kinds_of(environment).variables.iter().any(|it| it == "environment")
        {
            scope.forget("environment");
        }
        scope.derive(self.config_of(environment).nodes.derive.clone());
        scope
    }

    /// Returns the least scope in which a node reads all these files: the variables in their paths.
    /// `None` when no node can read them all, or when that is unknown.
    pub fn scope_reading(&self, environment: &Environment, files: &[&FilePath]) -> Option<Scope> {
        let mut scope = Scope::open(files.first()?.as_str());
        let inferred: Vec<Arc<Scope>> =
            files.iter().map(|path| self.inferred_scope(environment, path)).collect();
        scope.set_variable("environment", Value::from_argument(&environment.name));
        let mut is_told = false;
        for (path, one) in files.iter().zip(&inferred) {
            for (name, value) in one.known_variables() {
                // Most paths do not show the environment.
                if name == "environment" {
                    if !environment.tells_environment(path) {
                        continue;
                    }
                    if !std::mem::replace(&mut is_told, true) {
                        scope.set_variable(name, value.clone());
                        continue;
                    }
                }
                let value = match scope.get(name) {
                    Variable::Known(known) => unite_values(&known, value)?,
                    _ => value.clone(),
                };
                scope.set_variable(name, value);
            }
            match (&scope.pinned, &one.pinned) {
                (Some(known), Some(other)) if known != other => return None,
                (None, Some(_)) => scope.pinned = one.pinned.clone(),
                _ => {}
            }
        }
        // Each file's scope has the variables that the `nodes.derive` rules derive from its path,
        // so that the loop above has found contradictions.
        scope.derive(self.config_of(environment).nodes.derive.clone());
        Some(scope)
    }
}

/// Whether a value, or a part of it, is this text.
fn holds_text(value: &Value, text: &str) -> bool {
    match value.as_hash() {
        Some(hash) => hash.values().any(|member| holds_text(&member.value, text)),
        None => value.as_str() == Some(text),
    }
}

/// Merges two partial values of one variable; `None` when they differ.
fn unite_values(one: &Value, other: &Value) -> Option<Value> {
    let (Some(a), Some(b)) = (one.as_hash(), other.as_hash()) else {
        return (one == other).then(|| one.clone());
    };
    let mut both = a.clone();
    for (key, member) in b {
        let value = match a.get(key) {
            Some(known) => unite_values(&known.value, &member.value)?,
            None => member.value.clone(),
        };
        both.insert(key.clone(), Member { key_origin: None, value });
    }
    Some(Value::hash(both, Provenance::from_source(None)))
}
