//! A node with its variables, and the kinds of nodes where no node is known.

use std::sync::Arc;

use super::parts::Parts;
use super::source::{VariableSource, VariableSources};
use crate::hiera::scope::{Scope, Variable};
use crate::puppet::Value;
use crate::text::FilePath;

/// A node with its variables.
#[derive(Clone, Debug)]
pub struct Node {
    /// The node's certname, or the name used in its place.
    pub name: Arc<str>,
    /// The node's variables. A variable that is not among them is undefined for a node whose facts
    /// are all known, and unknown for others: their scope is open.
    pub scope: Arc<Scope>,
    /// The file with most of the node's parts: facts, the classifier's output, a data file of its
    /// own.
    pub source: FilePath,
    /// The folder of the environment whose own settings name the node's file; `None` where the
    /// workspace's do, or none does.
    pub environment: Option<FilePath>,
    /// Whether a file states the node's environment; otherwise the scope has the environment of the
    /// settings.
    pub states_environment: bool,
    /// Whether the settings name a file that the node is in. A fleet of such nodes is taken for
    /// complete.
    pub is_given: bool,
    /// Whether the settings, a manifest, facts, an inventory or the like tell of the node. Of other
    /// nodes only the name of a data file tells.
    pub is_stated: bool,
    /// The source of each variable; facts have one source together.
    pub told: VariableSources,
    /// The node's parts, as files state them.
    pub(super) parts: Arc<Parts>,
}

impl Node {
    /// Whether the node is a kind of nodes: variables that several nodes may have in common.
    pub fn is_kind(&self) -> bool {
        !self.scope.is_node
    }

    /// Returns the node with the scope that it has in the environment of this name.
    pub(super) fn in_environment(self: Arc<Node>, environment: &str) -> Arc<Node> {
        let scope = self.scope_in(environment);
        if Arc::ptr_eq(&scope, &self.scope) {
            self
        } else {
            Arc::new(Node { scope, ..(*self).clone() })
        }
    }

    /// Returns the node's scope in an environment. Where no file states the node's environment, the
    /// scope has the one of this name.
    pub fn scope_in(&self, environment: &str) -> Arc<Scope> {
        let is_other = !matches!(self.scope.get("environment"), Variable::Known(name) if name.to_text() == environment);
        if self.states_environment || !is_other {
            return self.scope.clone();
        }
        let mut scope = (*self.scope).clone();
        scope.set_variable("environment", Value::from_argument(environment));
        if scope.get_path("server_facts.environment") != Variable::Undefined {
            scope.set_path("server_facts.environment", Value::from_argument(environment));
        }
        Arc::new(scope)
    }

    /// Returns the classes that the node classifier gives, and the file that states them. Hiera is
    /// not asked for the parameters that the classifier gives to them.
    pub fn classifier_classes(&self) -> Option<(&Value, &FilePath)> {
        self.parts.classes.as_ref().map(|said| (&said.value, &said.by))
    }

    /// Returns the source of a variable; for a part of a variable, the source of the whole. `None`
    /// for variables that every scope has, and for the variables of a whole scope.
    pub fn source_of(&self, name: &str) -> Option<&VariableSource> {
        let above = std::iter::successors(Some(name), |name| Some(name.rsplit_once('.')?.0));
        above.into_iter().find_map(|name| self.stated_source(name)).or_else(|| {
            let root = name.split('.').next().unwrap_or(name);
            let is_fact = self.scope.get_path(&format!("facts.{root}"));
            self.stated_source("facts").filter(|_| matches!(is_fact, Variable::Known(_)))
        })
    }

    fn stated_source(&self, name: &str) -> Option<&VariableSource> {
        self.told.iter().find(|(known, _)| **known == *name).map(|(_, source)| source)
    }
}

/// The kinds of nodes of an environment.
#[derive(Debug, Default)]
pub struct Kinds {
    /// The kinds, in the order of their values. Their scopes are open and those of no node.
    pub all: Vec<Arc<Node>>,
    /// The variables that the kinds have, those of single locations first.
    pub variables: Vec<String>,
    /// The folders of the files that show the kinds, in the order of the levels.
    pub folders: Vec<FilePath>,
    /// The variables that stay open, as there would be too many kinds, each with its number of
    /// values.
    pub open: Vec<(String, usize)>,
}
