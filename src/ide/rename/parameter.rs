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

/// Texts within a template that may render another one.
const NESTED: [&str; 6] = ["template(", "_template", "'template'", "epp(", "function_epp", "'epp'"];

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
                let name = self.file_name(&found.file.path);
                return refuse_with(format!("{name} cannot be read in full"));
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
            let uses = self.variable_uses(&found.file.path)?;
            if let Some(one) = uses
                .iter()
                .find(|one| one.name == name && found.class.range.contains_range(one.range))
            {
                let place = self.place_name(&found.file.path, one.range);
                return refuse_with(format!("`${name}` is already used in {place}"));
            }
        }
        Ok(())
    }

    fn variable_uses(&self, path: &FilePath) -> Result<Vec<VariableUse>, RenameError> {
        match variables_of(self.snapshot, path) {
            Some(variables) => Ok(variables),
            None => refuse_with(format!("{} cannot be read in full", self.file_name(path))),
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
                let place = self.place_name(&file.path, one.range);
                return refuse_with(format!("{place} has another variable of its name"));
            }
        }
        let text = self.code_text(&file.path);
        let body = text.get(class.range.as_usize()).unwrap_or_default();
        let name = &parameter.name;
        let by_name = ["getvar('", "getvar(\"", "defined('$", "'$"];
        match by_name.iter().find_map(|before| body.find(&format!("{before}{name}"))) {
            Some(at) => {
                let range = TextRange::new_empty(class.range.start + at as u32);
                let place = self.place_name(&file.path, range);
                refuse_with(format!("{place} names it in a string"))
            }
            None => Ok(()),
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
            let place = || self.place_name(&one.file.path, one.class_use.range);
            if one.class_use.gives_more {
                return refuse_with(format!("{} gives `{class}` parameters by a hash", place()));
            }
            if one.class_use.kind == UseKind::Inherits {
                return refuse_with(format!("{} inherits `{class}`", place()));
            }
            if one.class_use.kind == UseKind::Reference
                && self.is_accessed(&one.file.path, one.class_use)
            {
                return refuse_with(format!("{} uses parameters of `{class}`", place()));
            }
        }
        for file in index.files() {
            if let Some(one) =
                file.manifest.uses.iter().find(|one| may_give_parameter(one, &found.parameter.name))
            {
                let place = self.place_name(&file.path, one.range);
                return refuse_with(format!("{place} declares classes whose names are computed"));
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
                let class = found.class;
                let arguments = &body[at + call.len()..];
                let call_place = || {
                    let range = TextRange::new_empty(class.range.start + at as u32);
                    self.place_name(&found.file.path, range)
                };
                let Some(path) = template_at(index, &class.name, arguments) else {
                    let place = call_place();
                    return refuse_with(format!("{place} renders a template that is not known"));
                };
                let place = match self.use_in_template(&path, class, &found.parameter.name) {
                    TemplateUse::None => continue,
                    TemplateUse::Place(range) => self.place_name(&path, range),
                    TemplateUse::Unread => format!(
                        "{}, which {} renders and which is not here,",
                        self.file_name(&path),
                        call_place()
                    ),
                };
                return refuse_with(format!("{place} may use it"));
            }
        }
        Ok(())
    }

    /// Returns the use of a variable in a template.
    fn use_in_template(&self, path: &FilePath, class: &Definition, name: &str) -> TemplateUse {
        let text = self.code_text(path);
        if text.is_empty() {
            return TemplateUse::Unread;
        }
        let nested = NESTED.iter().find_map(|call| text.find(call));
        let qualified = text.find(&format!("{}::{name}", class.name));
        let mut named = text.match_indices(name).filter(|(at, _)| {
            let range = TextRange::from_usize(*at..at + name.len());
            let signs = ['@', '$', '\'', '"', ':', '{', '[', '='];
            is_whole_word(&text, range) && text[..*at].trim_end().ends_with(signs)
        });
        let at = nested.or(qualified).or_else(|| named.next().map(|(at, _)| at));
        at.map_or(TemplateUse::None, |at| TemplateUse::Place(TextRange::new_empty(at as u32)))
    }
}

fn may_give_parameter(one: &ClassUse, name: &str) -> bool {
    let is_literal = one.class.as_ref().is_some_and(|class| class.literal_text().is_some());
    !is_literal && (one.gives_more || one.gives.iter().any(|given| given.name == name))
}

/// The use that a template makes of a variable.
enum TemplateUse {
    None,
    /// A place that may use the variable, or that renders another template.
    Place(TextRange),
    /// The template is not in the workspace.
    Unread,
}

/// Returns the file of the template that a call in a class names as its only argument, or first of
/// two for `epp`. Within a class `$module_name` is the module of the class; a name with any other
/// variable is not known.
fn template_at(index: &ManifestIndex, class: &str, arguments: &str) -> Option<FilePath> {
    let quote = arguments.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (name, rest) = arguments[1..].split_once(quote)?;
    let is_last = rest.trim_start().starts_with(')');
    let has_hash =
        rest.trim_start().strip_prefix(',').is_some_and(|it| it.trim_start().starts_with('{'));
    let own = class.split("::").next().unwrap_or_default();
    let name = match quote {
        '"' => name.replace("${module_name}", own).replace("$module_name/", &format!("{own}/")),
        _ => name.to_owned(),
    };
    let is_literal = quote == '\'' || !name.contains(['$', '\\']);
    let (module, below) = name.split_once('/').filter(|_| is_literal && (is_last || has_hash))?;
    let module = index.modules().by_name.get(module)?;
    Some(module.root.join(&format!("templates/{below}")))
}
