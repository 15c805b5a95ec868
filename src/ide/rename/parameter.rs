//! Reasons to refuse the rename of a class parameter: other code may use it, or its class may use
//! the new name.

use super::checks::is_whole_word;
use super::{RenameError, Renaming};
use crate::ide::references::variables_of;
use crate::manifest::VariableUse;
use crate::manifest::model::{ClassUse, Definition, UseKind};
use crate::text::{FilePath, TextRange};
use crate::workspace::manifests::{ManifestIndex, ParameterAt, split_key};

/// Names that Puppet gives a meaning of its own. Source: `Puppet::Type.metaparams` and the reserved
/// parameter names of the language.
const RESERVED: [&str; 18] = [
    "alias",
    "audit",
    "before",
    "consume",
    "export",
    "facts",
    "loglevel",
    "name",
    "noop",
    "notify",
    "require",
    "schedule",
    "server_facts",
    "stage",
    "subscribe",
    "tag",
    "title",
    "trusted",
];

/// Calls that render a template, which may use the variables of the class.
const RENDERING: [&str; 4] = ["template(", "epp(", "inline_template", "inline_epp"];

fn refuse_with<T>(reason: impl Into<String>) -> Result<T, RenameError> {
    Err(RenameError::Parameter(reason.into()))
}

impl Renaming<'_> {
    /// Looks for uses of the parameter that a rename would miss.
    pub(super) fn check_parameter(&self) -> Result<(), RenameError> {
        for environment in &self.environments {
            let index = self.snapshot.manifests(environment);
            let Some(found) = index.asking_parameter(&self.part.root) else { continue };
            if found.class.recovered || !found.file.manifest.complete {
                return refuse_with(format!("{} cannot be read in full", found.file.path));
            }
            self.check_body(&found)?;
            self.check_declarations(index, &found)?;
            self.check_templates(index, &found)?;
        }
        Ok(())
    }

    /// Checks that the new name belongs to the same class, and is free in it.
    pub(super) fn check_new_parameter(&self, new: &str) -> Result<(), RenameError> {
        for environment in &self.environments {
            let index = self.snapshot.manifests(environment);
            let Some(found) = index.asking_parameter(&self.part.root) else { continue };
            let name = match split_key(new) {
                Some((class, name)) if class == found.class.name => name,
                _ => return Err(RenameError::OtherClass(found.class.name.clone())),
            };
            let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
            if !begins || RESERVED.contains(&name) {
                return refuse_with(format!("`{name}` is no name for a parameter"));
            }
            let is_used =
                |one: &VariableUse| one.name == name && found.class.range.contains_range(one.range);
            if self.variable_uses(&found.file.path)?.iter().any(is_used) {
                return refuse_with(format!("`${name}` is already used in {}", found.file.path));
            }
        }
        Ok(())
    }

    fn variable_uses(&self, path: &FilePath) -> Result<Vec<VariableUse>, RenameError> {
        match variables_of(self.snapshot, path) {
            Some(variables) => Ok(variables),
            None => refuse_with(format!("{path} cannot be read in full")),
        }
    }

    /// Checks that the class's body uses the parameter only as a variable, and has no other
    /// variable of that name.
    fn check_body(&self, found: &ParameterAt<'_>) -> Result<(), RenameError> {
        let ParameterAt { file, class, parameter } = found;
        let nested = |range: TextRange| {
            let mut others = file.manifest.definitions.iter().filter(|other| {
                other.range != class.range && class.range.contains_range(other.range)
            });
            others.any(|other| other.range.contains_range(range))
        };
        for one in self.variable_uses(&file.path)? {
            let is_it = one.name == parameter.name && class.range.contains_range(one.range);
            if is_it && (one.in_bars || nested(one.range)) {
                let line = self.line_number(&file.path, one.range);
                return refuse_with(format!(
                    "{}:{line} has another variable of its name",
                    file.path
                ));
            }
        }
        let text = self.code_text(&file.path);
        let body = text.get(class.range.as_usize()).unwrap_or_default();
        let name = &parameter.name;
        let by_name = ["getvar('", "getvar(\"", "defined('$", "'$"];
        match by_name.iter().any(|before| body.contains(&format!("{before}{name}"))) {
            true => refuse_with(format!("{} names it in a string", file.path)),
            false => Ok(()),
        }
    }

    /// Declarations must name all parameters that they give, and other classes not inherit it.
    fn check_declarations(
        &self,
        index: &ManifestIndex,
        found: &ParameterAt<'_>,
    ) -> Result<(), RenameError> {
        let class = &found.class.name;
        for one in index.uses_of(class) {
            let line = || self.line_number(&one.file.path, one.class_use.range);
            if one.class_use.gives_more {
                let (path, line) = (&one.file.path, line());
                return refuse_with(format!("{path}:{line} gives `{class}` parameters by a hash"));
            }
            if one.class_use.kind == UseKind::Inherits {
                return refuse_with(format!("{}:{} inherits `{class}`", one.file.path, line()));
            }
            if one.class_use.kind == UseKind::Reference
                && self.is_accessed(&one.file.path, one.class_use)
            {
                return refuse_with(format!(
                    "{}:{} uses parameters of `{class}`",
                    one.file.path,
                    line()
                ));
            }
        }
        let may_give = |one: &&ClassUse| {
            let is_literal = one.class.as_ref().is_some_and(|class| class.literal_text().is_some());
            let gives = || one.gives.iter().any(|given| given.name == found.parameter.name);
            !is_literal && (one.gives_more || gives())
        };
        for file in index.files() {
            if let Some(one) = file.manifest.uses.iter().find(may_give) {
                let line = self.line_number(&file.path, one.range);
                return refuse_with(format!(
                    "{}:{line} declares classes whose names are computed",
                    file.path
                ));
            }
        }
        Ok(())
    }

    /// Whether `Class['x']` is followed by an access to parameters, or by new values for them.
    fn is_accessed(&self, path: &FilePath, one: &ClassUse) -> bool {
        let text = self.code_text(path);
        let behind = text.get(one.range.end as usize..).unwrap_or_default();
        let Some((_, behind)) = behind.split_once(']') else { return false };
        behind.trim_start().starts_with(['[', '{'])
    }

    /// Checks that the templates that the class renders are known, and do not use the parameter.
    fn check_templates(
        &self,
        index: &ManifestIndex,
        found: &ParameterAt<'_>,
    ) -> Result<(), RenameError> {
        let text = self.code_text(&found.file.path);
        let body = text.get(found.class.range.as_usize()).unwrap_or_default();
        for call in RENDERING {
            for (at, _) in body.match_indices(call) {
                let is_part = body[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
                if is_part {
                    continue; // of `inline_epp(` and the like, which are searched for, too
                }
                let Some(path) = template_at(index, &body[at + call.len()..]) else {
                    return refuse_with(format!(
                        "`{}` renders a template that is not known",
                        found.class.name
                    ));
                };
                if self.may_use(&path, found.class, &found.parameter.name) {
                    return refuse_with(format!("{path} may use it"));
                }
            }
        }
        Ok(())
    }

    /// Whether a template may use a variable; one that is not here may.
    fn may_use(&self, path: &FilePath, class: &Definition, name: &str) -> bool {
        let text = self.code_text(path);
        if text.is_empty() || text.contains("template") || text.contains("epp(") {
            return true;
        }
        let qualified = format!("{}::{name}", class.name);
        let mut named = text.match_indices(name).filter(|(at, _)| {
            let range = TextRange::from_usize(*at..at + name.len());
            let signs = ['@', '$', '\'', '"', ':', '{', '[', '='];
            is_whole_word(&text, range) && text[..*at].trim_end().ends_with(signs)
        });
        text.contains(&qualified) || named.next().is_some()
    }
}

/// Returns the file of the template that a call names as its only literal argument, or first of two
/// for `epp`.
fn template_at(index: &ManifestIndex, arguments: &str) -> Option<FilePath> {
    let quote = arguments.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (name, rest) = arguments[1..].split_once(quote)?;
    let is_last = rest.trim_start().starts_with(')');
    let has_hash =
        rest.trim_start().strip_prefix(',').is_some_and(|it| it.trim_start().starts_with('{'));
    let (module, below) = name.split_once('/').filter(|_| is_last || has_hash)?;
    let module = index.modules().by_name.get(module)?;
    Some(module.root.join(&format!("templates/{below}")))
}
