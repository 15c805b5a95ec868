//! Levels with functions that are not Puppet's own, for the rules about them: the source of each
//! function, and whether it accepts Puppet's arguments. Nothing is run; a declaration that depends
//! on running code has no findings.

use crate::diagnostics::rule::{FileContext, Severity};
use crate::hiera::config::{CONTEXT_TYPE, FunctionArgument, HieraConfig, Level};
use crate::manifest::model::{FunctionParameter, FunctionSignature};
use crate::puppet::types::{DataType, Signature, StringType, ValueKind, refuse_arguments};
use crate::text::{FilePath, Span};
use crate::workspace::queries::functions::{DeclaredFunction, FunctionSource, plain_name};

/// A level with a function that is not Puppet's own.
pub(super) struct CustomLevel<'a> {
    pub(super) level: &'a Level,
    /// Where the function is named.
    pub(super) span: Span,
    /// The function's name as Puppet seeks it.
    pub(super) name: String,
    /// Where Puppet finds the function.
    pub(super) source: FunctionSource,
}

/// Returns the levels of a config with functions that are not Puppet's own, in their order.
pub(super) fn custom_levels<'a>(
    config: &'a HieraConfig,
    context: &'a FileContext<'_>,
) -> impl Iterator<Item = CustomLevel<'a>> {
    let levels = config.levels().filter(|level| level.has_custom_function());
    levels.filter_map(|level| {
        let name = plain_name(&level.backend.name);
        let source = context.snapshot.function_source(context.environment, &name);
        Some(CustomLevel { level, span: level.backend.span?, name, source })
    })
}

/// The role of a function's place in a finding.
pub(super) const DECLARED_HERE: &str = "the function is declared here";

/// An argument that a function refuses, in Puppet's words.
pub(super) struct Refused {
    pub(super) message: String,
    /// Whether members of the options are refused, and not the call as such.
    pub(super) is_of_options: bool,
}

impl CustomLevel<'_> {
    /// Returns the file in which Puppet looks for the function, and the function that the file
    /// declares, which may have another name.
    pub(super) fn declared_function(
        &self,
        context: &FileContext<'_>,
    ) -> Option<(&FilePath, DeclaredFunction)> {
        let FunctionSource::File(path) = &self.source else { return None };
        Some((path, context.snapshot.declared_function(path)?))
    }

    /// Returns the place of the function's name in its source.
    pub(super) fn declaration_span(&self, context: &FileContext<'_>) -> Option<Span> {
        let (path, function) = self.declared_function(context)?;
        Some(Span::in_file(context.snapshot.file(path)?.id, function.name_range))
    }

    /// Returns the severity of an error that every lookup gets from the level: a hint where the
    /// level is called only for existing files, and none exists.
    pub(super) fn bounded_severity(&self, context: &FileContext<'_>, most: Severity) -> Severity {
        let levels = context.snapshot.levels_without_files(context.environment);
        let is_asked = !levels.iter().any(|name| **name == *self.level.name);
        if is_asked { most } else { most.min(Severity::Hint) }
    }

    /// Returns the reason why the function refuses Puppet's arguments; `None` where it accepts
    /// them, or where its declaration does not decide it.
    pub(super) fn refusal(&self, context: &FileContext<'_>) -> Option<Refused> {
        let (_, function) =
            self.declared_function(context).filter(|(_, it)| it.name == self.name)?;
        let declared = function.signatures?;
        let arguments = self.level.level_arguments();
        let signatures: Vec<Signature> =
            declared.iter().map(|one| declared_signature(one, &arguments, context)).collect();
        let given: Vec<DataType> = arguments.iter().map(argument_type).collect();
        if declared.iter().any(|one| one.needs_block) {
            let needs_block =
                declared.len() == 1 && refuse_arguments("", &signatures, &given).is_none();
            let message = format!("'{}' expects a block", self.name);
            return needs_block.then_some(Refused { message, is_of_options: false });
        }
        let refused = refuse_arguments(&self.name, &signatures, &given)?;
        // The text of a path or URI is only known when a lookup finds the location.
        if ["path", "uri"].iter().any(|it| refused.message.contains(&format!("entry '{it}' "))) {
            return None;
        }
        let is_of_options = refused
            .argument
            .is_some_and(|at| matches!(arguments[at], FunctionArgument::Options(_)))
            && refused
                .argument
                .is_some_and(|at| signatures[0].parameters[at].1.may_take(ValueKind::Hash));
        Some(Refused { message: refused.message, is_of_options })
    }
}

/// Returns a declared way to call a function for these arguments. A parameter whose type cannot be
/// decided here, or takes some values of the argument, takes it.
fn declared_signature(
    declared: &FunctionSignature,
    arguments: &[FunctionArgument],
    context: &FileContext<'_>,
) -> Signature {
    let index = context.snapshot.manifests(context.environment);
    Signature {
        parameters: declared
            .parameters
            .iter()
            .enumerate()
            .map(|(at, one): (usize, &FunctionParameter)| {
                let text = one.data_type.as_deref().unwrap_or("Any");
                let is_context = plain_name(text.trim()) == CONTEXT_TYPE.to_ascii_lowercase();
                let data_type = if is_context {
                    context_type()
                } else {
                    index.judged_type(text).map_or(DataType::Any, |one| (*one).clone())
                };
                let last = declared.repeats.then(|| arguments.get(at..)).flatten();
                let takes_some = match last.or(arguments.get(at).map(std::slice::from_ref)) {
                    Some(arguments) => arguments.iter().any(|it| may_take(&data_type, it)),
                    None => false,
                };
                (one.name.clone().into(), if takes_some { DataType::Any } else { data_type })
            })
            .collect(),
        required: declared.required,
        repeats: declared.repeats,
    }
}

/// Whether a type takes some values of an argument that is not known exactly.
fn may_take(data_type: &DataType, argument: &FunctionArgument) -> bool {
    match argument {
        FunctionArgument::Key => data_type.may_take(ValueKind::Text),
        FunctionArgument::Segments => data_type.may_take(ValueKind::List),
        FunctionArgument::Options(None) => data_type.may_take(ValueKind::Hash),
        FunctionArgument::Options(Some(_)) | FunctionArgument::Context => false,
    }
}

/// Returns the type of an argument, as Puppet shows it.
fn argument_type(argument: &FunctionArgument) -> DataType {
    match argument {
        FunctionArgument::Key => DataType::String(StringType::Any),
        FunctionArgument::Segments => {
            DataType::Tuple(vec![DataType::String(StringType::Any)], None)
        }
        FunctionArgument::Options(Some(exact)) => exact.clone(),
        FunctionArgument::Options(None) => any_hash(),
        FunctionArgument::Context => context_type(),
    }
}

fn context_type() -> DataType {
    DataType::Foreign { name: CONTEXT_TYPE, text: CONTEXT_TYPE.into() }
}

fn any_hash() -> DataType {
    DataType::hash(DataType::String(StringType::Any), DataType::Any, None)
}
