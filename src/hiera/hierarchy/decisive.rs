//! The variables that decide the locations of a level. Scopes with equal values of them have the
//! same locations, so that a level is located once for all these scopes.

use std::fmt::Write as _;
use std::sync::Arc;

use super::datadir_template;
use crate::hiera::config::{HieraConfig, Level, Locations};
use crate::hiera::dig::dig;
use crate::hiera::interpolation::{TokenKind, parse_tokens};
use crate::hiera::key::LookupKey;
use crate::hiera::scope::{Scope, Variable};
use crate::puppet::value::{Data, Value};

/// The variables that decide the locations of a level.
#[derive(Debug, Default)]
pub struct DecisiveVariables {
    keys: Vec<LookupKey>,
    /// The locations as written: an assumption about one of them is as good as a variable.
    templates: Vec<Arc<str>>,
}

impl DecisiveVariables {
    /// Returns the variables of a level.
    pub fn of_level(config: &HieraConfig, level: &Level) -> DecisiveVariables {
        let mut found = DecisiveVariables::default();
        let mut local = None;
        if let Locations::Mapped { variable, local: name, .. } = &level.locations {
            found.keys.extend(LookupKey::parse(&variable.text));
            local = Some(&**name);
        }
        found.templates = level.locations.templates().iter().map(|it| it.text.clone()).collect();
        let paths = found.templates.clone();
        paths.iter().for_each(|text| found.add_tokens(text, local));
        found.add_tokens(&datadir_template(config, level), None);
        level.extension.iter().for_each(|text| found.add_tokens(text, None));
        level.options.iter().for_each(|options| found.add_strings(options));
        found
    }

    /// Returns the variables.
    pub fn keys(&self) -> &[LookupKey] {
        &self.keys
    }

    /// Returns a text that is the same for scopes in which the level has the same locations. `None`
    /// where the variables alone do not decide that.
    pub fn values_in(&self, scope: &Scope) -> Option<String> {
        if self.templates.iter().any(|it| scope.assumes_location(it)) {
            return None;
        }
        let mut text = String::with_capacity(64);
        text.push(if scope.open { 'o' } else { 'c' });
        self.keys.iter().try_for_each(|key| write_value(&mut text, scope, key))?;
        Some(text)
    }

    /// Returns whether one of the variables, or the part of one that a token names, is undefined in a
    /// scope.
    pub fn has_undefined(&self, scope: &Scope) -> bool {
        self.keys.iter().any(|key| {
            let found = scope.get(&key.root_text());
            let part = scope.find_part(found, key, |value| dig(value, key));
            matches!(part, Ok(Variable::Undefined) | Err(_))
        })
    }

    fn add_tokens(&mut self, text: &str, local: Option<&str>) {
        for token in parse_tokens(text) {
            let TokenKind::Variable { key, .. } = token.kind else { continue };
            let is_local = local.is_some_and(|name| *key.root_text() == *name);
            if !is_local && !self.keys.iter().any(|known| known.text == key.text) {
                self.keys.push(key);
            }
        }
    }

    fn add_strings(&mut self, value: &Value) {
        match value.data() {
            Data::String(text) => self.add_tokens(text, None),
            Data::Array(items) => items.iter().for_each(|item| self.add_strings(item)),
            Data::Hash(hash) => hash.iter().for_each(|(key, member)| {
                key.as_str().into_iter().for_each(|text| self.add_tokens(text, None));
                self.add_strings(&member.value);
            }),
            _ => {}
        }
    }
}

/// Writes the value that a scope has for a variable, so that only equal values have equal texts.
/// `None` where the value depends on other variables, or is of no plain type.
pub fn write_value(text: &mut String, scope: &Scope, key: &LookupKey) -> Option<()> {
    let found = match key.subkeys.is_empty() {
        true => scope.get(&key.root_text()),
        // Most members are found without a copy of the whole variable.
        false => match scope.find_member(key).filter(|_| !scope.is_partial(key)) {
            Some(value) => return write_plain(text, value),
            None => scope.get(&key.root_text()),
        },
    };
    match scope.find_part(found, key, |value| dig(value, key)).ok()? {
        Variable::Unknown => text.push('?'),
        Variable::Undefined => text.push('-'),
        Variable::Known(value) => write_plain(text, &value)?,
    }
    Some(())
}

fn write_plain(text: &mut String, value: &Value) -> Option<()> {
    if value.is_secret() {
        return None;
    }
    let mut write_text = |mark: char, content: &str| {
        let _ = write!(text, "{mark}{}:{content}", content.len());
        (!content.contains("%{")).then_some(())
    };
    match value.data() {
        Data::Null => text.push('n'),
        Data::Bool(is_true) => text.push(if *is_true { 't' } else { 'f' }),
        Data::Integer(number) => drop(write!(text, "i{number};")),
        Data::String(content) => write_text('s', content)?,
        Data::Array(items) => {
            let _ = write!(text, "a{}:", items.len());
            items.iter().try_for_each(|item| write_plain(text, item))?;
        }
        Data::Hash(hash) => {
            let _ = write!(text, "h{}:", hash.len());
            for (key, member) in hash.iter() {
                let key = key.as_str().filter(|key| !key.contains("%{"))?;
                let _ = write!(text, "k{}:{key}", key.len());
                write_plain(text, &member.value)?;
            }
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(scope: &Scope, name: &str) -> Option<String> {
        let mut text = String::new();
        write_value(&mut text, scope, &LookupKey::parse(name).expect("a key")).map(|()| text)
    }

    #[test]
    fn values_of_other_types_or_with_other_knowledge_have_other_texts() {
        let mut scope = Scope::open("n");
        scope.set_path("f.null", Value::new_null(None));
        scope.set_path("f.text", "n".into());
        scope.set_path("f.empty", "".into());
        scope.set_path("f.list", Value::array_of(vec!["a".into(), "b".into()], None));
        scope.set_path("f.joined", "ab".into());
        let names = ["f.null", "f.text", "f.empty", "f.list", "f.joined", "f", "f.none", "none"];
        let texts: Vec<Option<String>> = names.iter().map(|name| text(&scope, name)).collect();
        for (number, one) in texts.iter().enumerate().take(6) {
            assert!(one.is_some(), "{}", names[number]);
            assert!(!texts[..number].contains(one), "{} is like another", names[number]);
        }
        assert_eq!(texts[6], texts[7], "both are unknown");
        let closed = Scope::new_closed("n", []);
        assert_ne!(text(&closed, "none"), texts[7], "undefined is not unknown");
    }

    #[test]
    fn a_value_with_a_token_depends_on_more_than_itself() {
        let mut scope = Scope::open("n");
        scope.set_variable("a", "%{b}".into());
        scope.set_variable("c", Value::array_of(vec!["x%{b}".into()], None));
        assert_eq!((text(&scope, "a"), text(&scope, "c")), (None, None));
    }
}
