//! The variables that nodes are asked for: those that the levels and the data of the environments
//! read.

use std::collections::BTreeSet;

use crate::hiera::config::Locations;
use crate::hiera::data::Reference;
use crate::hiera::interpolation::{TokenKind, parse_tokens};
use crate::hiera::key::{KeySegment, LookupKey};
use crate::workspace::snapshot::Snapshot;

impl Snapshot {
    /// Returns the variables that `hiera.yaml`, data and rules for nodes read, each as the names on
    /// the way to a part: `facts`, `os`, `family`. What lies in a list stands for the whole list.
    pub fn read_variables(&self) -> BTreeSet<Vec<String>> {
        let mut read = BTreeSet::new();
        for environment in &self.environments().all {
            for rule in self.config_of(environment).nodes.derive.iter() {
                read.extend(LookupKey::parse(&rule.from).ok().and_then(|key| names_of(&key)));
            }
            for level in environment.all_configs().flat_map(|(_, config)| config.levels()) {
                // The variable of mapped paths is written in `hiera.yaml` as it is within a token.
                let (mapped, local) = match &level.locations {
                    Locations::Mapped { variable, local, .. } => {
                        (Some(format!("%{{{}}}", variable.text)), Some(vec![local.to_string()]))
                    }
                    _ => (None, None),
                };
                let texts = level.templates().map(|template| &*template.text);
                let tokens = texts.chain(mapped.as_deref()).flat_map(parse_tokens);
                let variables = tokens.filter_map(|token| match token.kind {
                    TokenKind::Variable { key, .. } => names_of(&key),
                    _ => None,
                });
                read.extend(variables.filter(|names| Some(names) != local.as_ref()));
            }
            let view = self.view(environment);
            let files = self.keys().files().filter(|path| environment.reaches_file(path));
            for data in files.filter_map(|path| view.data_of(path)) {
                read.extend(data.tokens().filter_map(|token| match &token.reference {
                    Reference::Variable(key) => names_of(key),
                    Reference::Key { .. } => None,
                }));
            }
        }
        read
    }
}

/// Returns the names on the way to a part of a variable, up to the first element of a list; `None`
/// where not even the variable has a name.
fn names_of(key: &LookupKey) -> Option<Vec<String>> {
    let root = key.root_text();
    let root = root.strip_prefix("::").unwrap_or(&root).to_owned();
    let below = key.subkeys.iter().map_while(|segment| match segment {
        KeySegment::Name(name) if !name.contains('"') => Some(name.to_string()),
        _ => None,
    });
    (!root.is_empty() && !root.contains('"')).then(|| std::iter::once(root).chain(below).collect())
}
