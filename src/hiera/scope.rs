//! The scope: the variables that interpolation tokens see. It may be partial.
//!
//! A variable is *known*, *undefined* (known to be absent) or *unknown*. In a closed scope (a node
//! whose facts are given) a variable that is not named is undefined; in an open one (inferred from
//! a file's path) it is unknown.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex::Regex;

use super::key::{KeySegment, LookupKey};
use super::pattern::{Bindings, Pattern};
use super::shared::{share, share_value};
use crate::puppet::legacy_facts::{structured_fact, written_legacy_fact};
use crate::puppet::value::{Data, Hash, Key, Member, Provenance, Value};
use crate::text::{FilePath, SmallMap};

/// The variable that holds all facts.
const FACTS: &str = "facts";

/// The variables that name the caller of a lookup, in a `hiera.yaml` of Hiera 3 and its data.
pub const OF_CALLER: [&str; 3] = ["calling_class", "calling_class_path", "calling_module"];

/// The variable that names the module whose code calls a lookup.
pub(super) const CALLER_MODULE: &str = "caller_module_name";

/// The variables of one node, or the known ones among them.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The scope's display name: a certname, or the path that the scope was inferred from.
    pub name: Arc<str>,
    /// Whether a variable that is not named is unknown; otherwise it is undefined.
    pub open: bool,
    /// Whether the scope is that of one node, and not the part that several nodes have in common.
    pub is_node: bool,
    /// A file that levels read in this scope although the values of its path's variables are
    /// ambiguous.
    pub pinned: Option<PinnedFile>,
    variables: SmallMap<Arc<str>, Value>,
    /// Variables that may have members that are not known here, and the names of these members.
    partial: Vec<(&'static str, &'static [&'static str])>,
    /// The overrides of a call, and its defaults by name.
    given: Option<Arc<(Hash, Hash)>>,
    rules: Arc<[DeriveRule]>,
    assumed: Assumptions,
    /// Whether legacy facts are undefined, also in an open scope.
    lacks_legacy_facts: bool,
    /// The variables and parts of variables, dotted, of which all is known, also in an open scope.
    settled: Arc<[Arc<str>]>,
}

/// Assumptions about files whose reading unknown variables decide, made to see the consequences.
#[derive(Clone, Debug, Default)]
struct Assumptions {
    read: Vec<AssumedFile>,
    unread: Vec<FilePath>,
}

/// A file that a location with unknown variables is assumed to name.
#[derive(Clone, Debug)]
pub struct AssumedFile {
    /// The location as written.
    pub template: Arc<str>,
    /// The file.
    pub path: FilePath,
    /// The paths that the location can name.
    pub pattern: Pattern,
}

/// A file known to be one of a scope's data sources, and the location pattern that it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedFile {
    /// The location as written in hiera.yaml, such as `nodes/%{a}%{b}.yaml`.
    pub template: Arc<str>,
    /// The file.
    pub path: FilePath,
}

/// A rule that computes variables from one that is known, as sites do in their manifests.
#[derive(Clone, Debug)]
pub struct DeriveRule {
    /// The variable to look at, dotted where a part is meant: `trusted.certname`.
    pub from: String,
    /// The pattern; each named group that takes part becomes a variable of that name, each that
    /// does not an empty one.
    pub pattern: Regex,
}

/// The knowledge of a scope about a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    /// The variable has this value; `null` is one.
    Known(Value),
    /// The variable is known not to exist.
    Undefined,
    /// Nothing is known of the variable.
    Unknown,
}

impl PartialEq for DeriveRule {
    fn eq(&self, other: &DeriveRule) -> bool {
        (&self.from, self.pattern.as_str()) == (&other.from, other.pattern.as_str())
    }
}

impl DeriveRule {
    /// Returns the names of the variables that the rule computes.
    pub fn derived_names(&self) -> impl Iterator<Item = &str> {
        self.pattern.capture_names().flatten()
    }

    /// Returns the variables that follow from this value of the variable that the rule looks at;
    /// none when it does not match.
    fn derive_variables(&self, text: &str) -> Vec<(String, String)> {
        let Some(captures) = self.pattern.captures(text) else { return Vec::new() };
        self.pattern
            .capture_names()
            .flatten()
            .map(|name| {
                (name.to_owned(), captures.name(name).map_or("", |found| found.as_str()).to_owned())
            })
            .collect()
    }
}

impl Scope {
    /// Returns a closed scope with these top-scope variables.
    pub fn new_closed(
        name: impl Into<Arc<str>>,
        variables: impl IntoIterator<Item = (Arc<str>, Value)>,
    ) -> Scope {
        Scope {
            name: name.into(),
            is_node: true,
            variables: variables.into_iter().collect(),
            ..Scope::default()
        }
    }

    /// Returns the scope of a node with this name, and no known variables.
    pub fn open_node(name: impl Into<Arc<str>>) -> Scope {
        Scope { is_node: true, ..Scope::open(name) }
    }

    /// Returns a scope with this name in which every variable is unknown.
    pub fn open(name: impl Into<Arc<str>>) -> Scope {
        Scope { name: name.into(), open: true, ..Scope::default() }
    }

    /// Returns the variables that are known, in the order in which they became so.
    pub fn known_variables(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.variables.iter().map(|(name, value)| (&**name, value))
    }

    /// Sets a top-scope variable.
    pub fn set_variable(&mut self, name: &str, value: Value) {
        self.variables.insert(share(name), value);
    }

    /// Sets a variable, or a part of one: `facts.os.family` makes hashes on the way as needed.
    /// A value on the way that is no hash is replaced.
    pub fn set_path(&mut self, path: &str, value: Value) {
        let mut parts = path.split('.');
        let first = parts.next().unwrap_or_default();
        let rest: Vec<&str> = parts.collect();
        let known = self.variables.get(first).cloned().unwrap_or_else(|| Value::new_null(None));
        self.variables.insert(share(first), with_member(&known, &rest, value));
    }

    /// Records that a variable may have these members besides the ones of its value.
    pub fn set_partial(&mut self, name: &'static str, unknown: &'static [&'static str]) {
        self.partial.push((name, unknown));
    }

    /// Returns whether nothing is known of this part of a variable, or not all of this variable,
    /// although there is one of this name.
    pub fn is_partial(&self, key: &LookupKey) -> bool {
        let root = key.root_text();
        let name = root.strip_prefix("::").unwrap_or(&root);
        let Some((_, unknown)) = self.partial.iter().find(|(partial, _)| *partial == name) else {
            return false;
        };
        if self.override_of(&root).is_some() {
            return false;
        }
        match key.subkeys.first() {
            None => true,
            Some(KeySegment::Name(member)) => unknown.contains(&&**member),
            Some(KeySegment::Index(_)) => false,
        }
    }

    /// Sets the variables that rules give and nothing else has set. The rules stay in force for
    /// [`Scope::may_have`].
    pub fn derive(&mut self, rules: Arc<[DeriveRule]>) {
        for rule in rules.iter() {
            let Variable::Known(value) = self.get_path(&rule.from) else { continue };
            for (name, derived) in rule.derive_variables(&value.to_text()) {
                if !matches!(self.get(&name), Variable::Known(_)) {
                    self.set_variable(&name, share_value(&derived));
                }
            }
        }
        self.rules = rules;
    }

    /// Returns the scope without memory for further variables: a fleet has many scopes.
    pub fn shrink(mut self) -> Scope {
        self.variables.shrink_to_fit();
        self
    }

    /// Returns the rules that derive variables from others.
    pub fn rules(&self) -> &[DeriveRule] {
        &self.rules
    }

    /// Returns whether the unknown variables can have these values: those that rules derive from
    /// them must not contradict the known ones.
    pub fn may_have(&self, bindings: &Bindings) -> bool {
        if !self.assumed.read.iter().all(|file| may_name_file(file, bindings)) {
            return false;
        }
        let derived = self
            .rules
            .iter()
            .filter_map(|rule| Some(rule.derive_variables(bindings.get(&rule.from)?)));
        !derived.flatten().any(|(name, value)| {
            let other_binding = bindings.get(&name).is_some_and(|bound| bound != &value);
            other_binding
                || matches!(self.get_path(&name), Variable::Known(known) if known.to_text() != value)
        })
    }

    /// Removes the legacy facts: the members of `facts`, and the top-scope variables that have their
    /// values. A variable that `is_other` accepts is no fact. In an open scope they are undefined,
    /// and no longer unknown.
    pub fn leave_out_legacy_facts(&mut self, is_other: impl Fn(&str) -> bool) {
        let facts = self.variables.get(FACTS).and_then(Value::as_hash).cloned();
        self.variables
            .retain(|name, value| is_other(name) || !is_legacy_fact(name, value, facts.as_ref()));
        if let Some(mut facts) = facts {
            facts.retain(|name, _| structured_fact(&name.to_text()).is_none());
            let facts = Value::hash(facts, Provenance::from_source(None));
            self.variables.insert(FACTS.into(), facts);
        }
        self.lacks_legacy_facts = true;
    }

    /// Records the variables and parts of variables, dotted, of which all is known: without a value
    /// they are undefined in an open scope, too, and no longer unknown.
    pub fn set_settled(&mut self, settled: Arc<[Arc<str>]>) {
        self.settled = settled;
    }

    /// Whether a key names a variable of which all is known, or a part of one.
    fn is_settled(&self, key: &LookupKey) -> bool {
        if self.settled.is_empty() {
            return false;
        }
        let root = key.root_text();
        self.settled.iter().any(|path| {
            let mut names = path.split('.');
            let mut below = key.subkeys.iter();
            names.next() == Some(without_top_scope(&root))
                && names.all(
                    |name| matches!(below.next(), Some(KeySegment::Name(own)) if **own == *name),
                )
        })
    }

    /// Whether a key names a part of a variable that this scope is known not to have.
    fn lacks_part(&self, key: &LookupKey) -> bool {
        self.lacks_member(key) || self.is_settled(key)
    }

    /// Whether a key names a member of `facts` that was left out.
    fn lacks_member(&self, key: &LookupKey) -> bool {
        self.lacks_legacy_facts
            && without_top_scope(&key.root_text()) == FACTS
            && key.subkeys.first().is_some_and(|segment| match segment {
                KeySegment::Name(name) => structured_fact(name).is_some(),
                KeySegment::Index(_) => false,
            })
    }

    /// Makes a variable unknown, in an open scope.
    pub fn forget(&mut self, name: &str) {
        self.variables.shift_remove(name);
    }

    /// Assumes that unknown variables have these values; rules derive others from them.
    pub fn assume_values(&mut self, bindings: &Bindings) {
        for (name, text) in bindings {
            self.set_path(name, Value::from_argument(text));
        }
        self.derive(self.rules.clone());
    }

    /// Assumes that a location with unknown variables names this file.
    pub fn assume_read(&mut self, file: AssumedFile) {
        self.assumed.read.push(file);
    }

    /// Assumes that unknown variables lead to none of these files.
    pub fn assume_unread(&mut self, files: impl IntoIterator<Item = FilePath>) {
        self.assumed.unread.extend(files);
    }

    /// Returns whether it is assumed that unknown variables do not lead to this file.
    pub fn is_assumed_unread(&self, path: &FilePath) -> bool {
        self.assumed.unread.contains(path)
    }

    /// Returns the file that a location is assumed to name; the location can name the matches of
    /// `pattern`.
    pub fn assumed_file(&self, template: &str, pattern: &Pattern) -> Option<&FilePath> {
        self.assumed
            .read
            .iter()
            .find(|file| *file.template == *template && pattern.can_name(file.path.as_str()))
            .map(|file| &file.path)
    }

    /// Returns whether an assumption, or the file that the scope is pinned to, decides the file of a
    /// location.
    pub fn assumes_location(&self, template: &str) -> bool {
        self.assumed.read.iter().any(|file| *file.template == *template)
            || self.pinned.as_ref().is_some_and(|pinned| *pinned.template == *template)
    }

    /// Returns the scope within a call of `lookup` that has overrides, and defaults by name.
    ///
    /// Tokens in data see both as variables, nested lookups as values. Source: semantics 5.6 and
    /// 8.2.
    pub fn with_given(&self, overrides: &Hash, defaults: &Hash) -> Scope {
        Scope { given: Some(Arc::new((overrides.clone(), defaults.clone()))), ..self.clone() }
    }

    /// Returns the override of a call for exactly this name.
    pub fn override_of(&self, name: &str) -> Option<&Value> {
        self.given.as_ref()?.0.get(name).map(|member| &member.value)
    }

    /// Returns the default of a call for exactly this name.
    pub fn default_of(&self, name: &str) -> Option<&Value> {
        self.given.as_ref()?.1.get(name).map(|member| &member.value)
    }

    /// Returns the variable called `name`: the top scope's `::` before it is dropped, no dots are followed.
    pub fn get(&self, name: &str) -> Variable {
        let plain = without_top_scope(name);
        match self.variables.get(plain) {
            Some(value) => Variable::Known(value.clone()),
            // Puppet knows this variable only without a `::`. It is undef, as no module calls the
            // lookup.
            None if name == CALLER_MODULE && !self.open => Variable::Known(Value::new_null(None)),
            None => self.built_in(plain),
        }
    }

    /// Returns a variable that nothing sets. Puppet has its settings as variables of a class; of
    /// these only the environment's name is known here. For a node, Puppet looks up within class
    /// `main`.
    fn built_in(&self, name: &str) -> Variable {
        match name {
            "settings::environment" => self.get("environment"),
            _ if self.lacks_legacy_facts && written_legacy_fact(name).is_some() => {
                Variable::Undefined
            }
            _ if self.settled.iter().any(|settled| **settled == *name) => Variable::Undefined,
            _ if self.open || name.starts_with("settings::") => Variable::Unknown,
            "name" | "title" if self.is_node => Variable::Known("main".into()),
            _ => Variable::Undefined,
        }
    }

    /// Returns the value that a known variable has, or that a hash in one has under the names of a
    /// key. No list is looked into.
    pub fn find_member(&self, key: &LookupKey) -> Option<&Value> {
        let KeySegment::Name(root) = &key.root else { return None };
        let root = self.variables.get(without_top_scope(root))?;
        key.subkeys.iter().try_fold(root, |value, segment| match segment {
            KeySegment::Name(name) => value.get(name),
            KeySegment::Index(_) => None,
        })
    }

    /// Returns the variable as tokens in data see it: overrides of the call go before it, defaults
    /// stand in where it is undefined. Tokens in `hiera.yaml` see neither.
    pub fn get_in_data(&self, name: &str) -> Variable {
        if let Some(given) = self.override_of(name) {
            return Variable::Known(given.clone());
        }
        match (self.get(name), self.default_of(name)) {
            (Variable::Undefined, Some(given)) => Variable::Known(given.clone()),
            (found, _) => found,
        }
    }

    /// Returns the variable `found` under the root of `key`, or the part of it that the key's
    /// subkeys name, as tokens in data and in `hiera.yaml` see it.
    ///
    /// A part that is missing is `null` in a closed scope and unknown in an open one. `dig` digs
    /// the subkeys out of a value other than `null`.
    pub fn find_part<E>(
        &self,
        found: Variable,
        key: &LookupKey,
        dig: impl FnOnce(&Value) -> Result<Option<Value>, E>,
    ) -> Result<Variable, E> {
        match found {
            Variable::Unknown if self.lacks_part(key) => Ok(Variable::Known(Value::new_null(None))),
            Variable::Known(_) if self.is_partial(key) => Ok(Variable::Unknown),
            Variable::Known(value) if !key.subkeys.is_empty() => {
                let part = if matches!(value.data(), Data::Null) { None } else { dig(&value)? };
                Ok(match part {
                    Some(value) => Variable::Known(value),
                    None if self.open && !self.lacks_part(key) => Variable::Unknown,
                    None => Variable::Known(Value::new_null(None)),
                })
            }
            other => Ok(other),
        }
    }

    /// Returns the value that Hiera 3 gives the variable `found` of this name, in a `hiera.yaml` of
    /// version 3 and in the data below it: an empty text is `null`, and the caller of the lookup is
    /// a variable. No manifest calls here, so that there is no caller. Source: `Hiera::Scope`.
    pub fn classic_value(&self, name: &str, found: Variable) -> Variable {
        match found {
            _ if OF_CALLER.contains(&name) => {
                if self.open {
                    Variable::Unknown
                } else {
                    null_variable()
                }
            }
            Variable::Known(value) if value.as_str() == Some("") => null_variable(),
            other => other,
        }
    }

    /// Returns the value of a dotted variable such as `facts.os.family`, for display and for rules
    /// that derive other variables. A part that is missing is `Undefined`, or `Unknown` in an open
    /// scope.
    pub fn get_path(&self, path: &str) -> Variable {
        let Ok(key) = LookupKey::parse(path) else { return Variable::Undefined };
        if self.is_partial(&key) {
            return Variable::Unknown;
        }
        if self.lacks_member(&key) {
            return Variable::Undefined;
        }
        let mut current = match self.get(&key.root_text()) {
            Variable::Known(value) => value,
            other => return other,
        };
        for segment in &key.subkeys {
            let next = match (segment, current.data()) {
                (KeySegment::Name(name), Data::Hash(hash)) => {
                    hash.get(&**name).map(|member| member.value.clone())
                }
                (KeySegment::Index(index), Data::Array(items)) => {
                    usize::try_from(*index).ok().and_then(|index| items.get(index)).cloned()
                }
                _ => None,
            };
            match next {
                Some(value) => current = value,
                None if self.open && !self.is_settled(&key) => return Variable::Unknown,
                None => return Variable::Undefined,
            }
        }
        Variable::Known(current)
    }
}

fn is_legacy_fact(name: &str, value: &Value, facts: Option<&Hash>) -> bool {
    let same = facts.and_then(|facts| facts.get(name));
    structured_fact(name).is_some()
        && same.map_or(written_legacy_fact(name).is_some(), |same| same.value == *value)
}

fn may_name_file(file: &AssumedFile, bindings: &BTreeMap<String, String>) -> bool {
    let pattern = file.pattern.fill_variables(bindings);
    pattern.is_none_or(|pattern| pattern.can_name(file.path.as_str()))
}

fn null_variable() -> Variable {
    Variable::Known(Value::new_null(None))
}

/// Returns whether a variable has the name of a part of a match, which is no error although nothing
/// sets it. Source: `Puppet::Parser::Scope#variable_not_found`.
pub(super) fn is_of_match(name: &str) -> bool {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    is_number && (name == "0" || !name.is_empty() && !name.starts_with('0'))
}

/// Returns a variable's name without the `::` of the top scope. Puppet takes a class name of several
/// `::` for the class `main`, whose variables are those of the top scope.
fn without_top_scope(name: &str) -> &str {
    match name.rsplit_once("::") {
        Some((class, variable)) if class.split("::").all(str::is_empty) => variable,
        _ => name.strip_prefix("::").unwrap_or(name),
    }
}

fn with_member(of: &Value, path: &[&str], value: Value) -> Value {
    let Some((first, rest)) = path.split_first() else { return value };
    // A fleet has many hashes with one member, and an empty hash grows by three members.
    let one = || Hash::with_capacity(1);
    let mut hash: Hash = of.as_hash().cloned().unwrap_or_else(one);
    let inner =
        hash.get(*first).map_or_else(|| Value::new_null(None), |member| member.value.clone());
    hash.insert(
        Key::new(Data::String(share(first)), Provenance::from_source(None)),
        Member { key_origin: None, value: with_member(&inner, rest, value) },
    );
    Value::hash(hash, Provenance::from_source(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_undefined_or_unknown() {
        assert_eq!(Scope::new_closed("n", []).get("x"), Variable::Undefined);
        assert_eq!(Scope::open("n").get("x"), Variable::Unknown);
    }

    #[test]
    fn legacy_facts_that_are_left_out_are_undefined_in_an_open_scope_too() {
        let mut scope = Scope::open("n");
        scope.set_path("facts.osfamily", "Debian".into());
        scope.set_path("facts.custom", "1".into());
        scope.set_variable("osfamily", "Debian".into());
        scope.set_variable("hostname", "own".into());
        scope.set_variable("domain", "own".into());
        scope.leave_out_legacy_facts(|name| name == "hostname");
        for name in ["osfamily", "::ipaddress", "facts.osfamily", "facts.domain"] {
            assert_eq!(scope.get_path(name), Variable::Undefined, "{name}");
        }
        assert_eq!(scope.get_path("facts.custom"), Variable::Known("1".into()));
        assert_eq!(scope.get_path("hostname"), Variable::Known("own".into()), "a parameter");
        assert_eq!(scope.get_path("domain"), Variable::Known("own".into()), "no fact");
        assert_eq!(scope.get_path("id"), Variable::Unknown);
    }

    #[test]
    fn of_a_closed_scope_s_variable_some_members_may_be_unknown() {
        let mut scope = Scope::new_closed(
            "n",
            [("v".into(), Value::new_null(None)), ("w".into(), Value::new_null(None))],
        );
        scope.set_path("v.known", "x".into());
        scope.set_partial("v", &["a"]);
        assert_eq!(scope.get_path("v.known"), Variable::Known("x".into()));
        assert_eq!(
            [scope.get_path("v.a"), scope.get_path("::v.a.b"), scope.get_path("v")],
            [const { Variable::Unknown }; 3]
        );
        assert_eq!(
            [scope.get_path("v.b"), scope.get_path("w.a")],
            [const { Variable::Undefined }; 2]
        );
    }

    #[test]
    fn parts_of_a_variable_are_set_side_by_side() {
        let mut scope = Scope::open("n");
        scope.set_path("facts.os.family", "Debian".into());
        scope.set_path("facts.os.name", "Ubuntu".into());
        assert_eq!(scope.get_path("facts.os.family"), Variable::Known("Debian".into()));
        assert_eq!(scope.get_path("::facts.os.name"), Variable::Known("Ubuntu".into()));
        assert_eq!(scope.get_path("facts.kernel"), Variable::Unknown);
    }

    #[test]
    fn variables_are_derived_from_others() {
        let rule = DeriveRule {
            from: "verified_host".into(),
            pattern: Regex::new(
                r"^(?<location>[^-]+)-(?<role>[^-]+)(?:-(?<variant>[^-]+))?-(?<id>\d+)$",
            )
            .unwrap(),
        };
        let mut scope = Scope::open("x");
        scope.set_variable("verified_host", "bgo-compute-vgpu-53".into());
        scope.derive(std::slice::from_ref(&rule).into());
        assert_eq!(
            ["location", "role", "variant", "id"].map(|name| scope.get(name)),
            ["bgo", "compute", "vgpu", "53"].map(|text| Variable::Known(text.into()))
        );
        let mut scope = Scope::open("x");
        scope.set_variable("verified_host", "bgo-api-01".into());
        scope.derive([rule].into());
        assert_eq!(
            scope.get("variant"),
            Variable::Known("".into()),
            "a group that takes no part is an empty variable"
        );
    }

    #[test]
    fn rules_tell_which_values_the_unknown_may_have() {
        let pattern = Regex::new("^(?<role>[a-z]+)-").unwrap();
        let mut scope = Scope::open("x");
        scope.set_variable("role", "api".into());
        scope.derive([DeriveRule { from: "trusted.certname".into(), pattern }].into());
        let binding =
            |name: &str| Bindings::from([("trusted.certname".to_owned(), name.to_owned())]);
        assert!(scope.may_have(&binding("api-01")) && scope.may_have(&binding("unlike")));
        assert!(!scope.may_have(&binding("db-01")));
    }
}
