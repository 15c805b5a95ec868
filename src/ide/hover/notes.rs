//! Notes about a value: the meaning of a null to a class, strategies that calls in code ask for,
//! and options that are not known for certain.

use super::answer::ShownPart;
use super::{HoverAnswer, HoverQuestion, HoverWriter};
use crate::hiera::config::Layer;
use crate::hiera::lookup::Resolver;
use crate::hiera::resolution::{LookupStep, Outcome, Resolution, Unsettled};
use crate::hiera::scope::Scope;
use crate::ide::cursor::Subject;
use crate::ide::phrases::level_title;
use crate::puppet::value::Data;

/// The widest default that is shown, in characters.
pub(super) const MAX_DEFAULT: usize = 40;

impl HoverWriter<'_> {
    /// Returns the notes on a value, each as a line.
    pub(super) fn value_notes(
        &self,
        found: &HoverAnswer<'_>,
        asked: &HoverQuestion<'_>,
    ) -> Vec<String> {
        let resolution = found.resolution;
        let mut notes = Vec::new();
        notes.extend(self.null_note(resolution, asked));
        notes.extend(self.calls_note(resolution));
        if !found.is_evaluated {
            notes.extend(self.open_strategy(resolution, found.scope));
        }
        notes
    }

    /// Returns the config whose levels are asked, where the workspace has several; empty where it
    /// has one.
    pub(super) fn render_config(&self) -> String {
        let Some(config) = self.subject.environment.governing_config() else {
            return String::new();
        };
        if !self.snapshot.environments().has_several_configs() {
            return String::new();
        }
        // Below the folder of an environment, the configs of all environments have the same name.
        let above = self.snapshot.folders().iter().filter(|folder| config.path.is_within(folder));
        let folder = above.max_by_key(|folder| folder.as_str().len());
        let name = folder.and_then(|folder| config.path.relative_to(folder));
        let name = name.unwrap_or(config.path.as_str());
        format!("\ngoverned by {}\n", self.markup.render_file(name, &config.path))
    }

    /// Returns a line that the chosen node, or nodes of the chosen kind, do not read the file, so that
    /// the hover shows the values of other nodes; empty where no choice is made, or the choice holds.
    pub(super) fn choice_note(&self) -> String {
        let Subject { environment, path, .. } = self.subject;
        let chosen = self.snapshot.selected_in(environment);
        let Some(chosen) = chosen.filter(|it| *it.name != *self.scope.name) else {
            return String::new();
        };
        if self.snapshot.selected_reader(environment, path).is_some() {
            return String::new();
        }
        let name = self.markup.render_code(&chosen.name);
        if chosen.is_kind() {
            format!("\nnodes with {name}, which you chose, do not read this file\n")
        } else {
            format!("\n{name}, which you chose, does not read this file\n")
        }
    }

    /// Returns a note about a null for a class parameter: Puppet takes the class's default, or
    /// undef where there is none.
    fn null_note(&self, resolution: &Resolution, asked: &HoverQuestion<'_>) -> Option<String> {
        let ShownPart::Value(value) = self.shown_part(resolution, asked.narrow) else {
            return None;
        };
        if !asked.is_whole || !matches!(value.data(), Data::Null) {
            return None;
        }
        let code = self.snapshot.manifests(&self.subject.environment);
        let found = code.asking_parameter(&asked.root.root_text())?;
        let default = found
            .parameter
            .default
            .as_ref()
            .filter(|one| !one.text.contains('\n') && one.text.chars().count() <= MAX_DEFAULT)
            .filter(|_| !code.is_sensitive_parameter(found.parameter));
        Some(match (&found.parameter.default, default) {
            (None, _) => "null: the parameter is undef, as the class has no default".to_owned(),
            (Some(_), Some(short)) => {
                format!(
                    "null: the parameter takes the class's default, {}",
                    self.markup.render_code(&short.text)
                )
            }
            (Some(_), None) => "null: the parameter takes the class's default".to_owned(),
        })
    }

    /// Returns a note that `lookup_options` may choose another strategy: those that depend on
    /// unknown variables, and those of levels whose backend cannot be evaluated.
    pub(super) fn open_strategy(&self, resolution: &Resolution, scope: &Scope) -> Option<String> {
        let environment = &self.subject.environment;
        let view = self.snapshot.view(environment);
        let resolver = Resolver::new(self.snapshot.lookup_context(environment, &view, scope));
        let mut parts = Vec::new();
        if scope.open {
            let files = resolver.options_left_open(resolution);
            let files: Vec<&Unsettled> = files.iter().collect();
            if !files.is_empty() {
                parts.push(format!("lookup_options in {}", self.by_variable(&files)));
            }
        }
        parts.extend(self.levels_with_options(&resolver, resolution));
        (!parts.is_empty())
            .then(|| format!("the merge strategy is not settled: {}", parts.join("; ")))
    }

    /// Returns `level Vault may hold lookup_options`, for the levels that nothing else in the hover
    /// calls not evaluated.
    fn levels_with_options(
        &self,
        resolver: &Resolver<'_>,
        resolution: &Resolution,
    ) -> Option<String> {
        let mut names = Vec::new();
        for (layer, name) in resolver.levels_that_may_hold_options(resolution) {
            let title = self.markup.render_bold(&level_title(&layer, &name));
            if !is_opaque_level(&layer, &name, &resolution.steps) && !names.contains(&title) {
                names.push(title);
            }
        }
        match &names[..] {
            [] => None,
            [only] => Some(format!("level {only} may hold lookup_options")),
            several => Some(format!("levels {} may hold lookup_options", several.join(", "))),
        }
    }
}

fn is_opaque_level(layer: &Layer, name: &str, steps: &[LookupStep]) -> bool {
    steps.iter().any(|step| {
        matches!(step.outcome, Outcome::Opaque(_))
            && (&step.layer, &*step.level.name) == (layer, name)
    })
}
