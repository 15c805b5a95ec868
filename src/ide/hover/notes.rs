//! Sentences about a value that help to decide: what a null means to a class, strategies that calls
//! in code ask for, and options that are not known for certain.

use super::answer::Shown;
use super::{Asked, Found, Writer};
use crate::hiera::lookup::Resolver;
use crate::hiera::resolution::{Resolution, Unsettled};
use crate::hiera::scope::Scope;
use crate::puppet::value::Data;

/// The widest default that is shown, in characters.
const MAX_DEFAULT: usize = 40;

impl Writer<'_> {
    /// The notes on a value, each as a line.
    pub(super) fn notes(&self, found: &Found<'_>, asked: &Asked<'_>) -> Vec<String> {
        let resolution = found.resolution;
        let mut notes = Vec::new();
        notes.extend(self.null(resolution, asked));
        notes.extend(self.calls(resolution));
        notes.extend(self.open_strategy(resolution, found.scope));
        notes
    }

    /// That a null leaves the parameter to the class: Puppet takes the default, or undef where there
    /// is none.
    fn null(&self, resolution: &Resolution, asked: &Asked<'_>) -> Option<String> {
        let Shown::Value(value) = self.shown(resolution, asked.narrow) else { return None };
        if !asked.is_whole || !matches!(value.data(), Data::Null) {
            return None;
        }
        let code = self.snapshot.manifests(&self.subject.environment);
        let found = code.parameter(&asked.root.root_text())?;
        let default = found
            .parameter
            .default
            .as_ref()
            .filter(|one| !one.text.contains('\n') && one.text.chars().count() <= MAX_DEFAULT);
        Some(match (&found.parameter.default, default) {
            (None, _) => "null: the parameter is undef, as the class has no default".to_owned(),
            (Some(_), Some(short)) => {
                format!(
                    "null: the parameter takes the class's default, {}",
                    self.markup.code(&short.text)
                )
            }
            (Some(_), None) => "null: the parameter takes the class's default".to_owned(),
        })
    }

    /// That `lookup_options` which unknown variables decide on may choose another strategy.
    pub(super) fn open_strategy(&self, resolution: &Resolution, scope: &Scope) -> Option<String> {
        if !scope.open {
            return None;
        }
        let environment = &self.subject.environment;
        let view = self.snapshot.view(environment);
        let resolver = Resolver::new(self.snapshot.context(environment, &view, scope));
        let files = resolver.options_left_open(resolution);
        let files: Vec<&Unsettled> = files.iter().collect();
        (!files.is_empty()).then(|| {
            let files = self.by_variable(&files);
            format!("the merge strategy is not settled: lookup_options in {files}")
        })
    }
}
