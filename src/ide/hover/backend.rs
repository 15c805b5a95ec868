//! Hovers over the function or backend that a level of a `hiera.yaml` names: its purpose, the place
//! of its source, and the declaration of its parameters. Nothing is run.

use super::HoverWriter;
use crate::hiera::config::{BackendKind, Level};
use crate::manifest::model::{Documentation, FunctionSignature};
use crate::text::{FilePath, Span};
use crate::workspace::queries::functions::{DeclaredFunction, FunctionSource};

impl HoverWriter<'_> {
    pub(super) fn render_backend(&self, level: &Level) -> String {
        let backend = &level.backend;
        let name = self.markup.render_code(&backend.name);
        let head = format!(
            "{} {name} of level {}\n\n",
            self.markup.render_code(backend.kind.key()),
            self.markup.render_bold(&level.name)
        );
        let service = level.backend.service.as_deref().map(|phrase| {
            let others =
                if level.may_be_confined() && level.option_value("confine_to_keys").is_some() {
                    ", and has nothing for other keys"
                } else {
                    ""
                };
            format!("{}{others}; hiera-ls does not ask\n", self.markup.render_text(phrase))
        });
        let source = self.source_of(level, service.is_some());
        let texts = [service.unwrap_or_default(), source];
        head + &texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Returns the place of the source of a level's function, and its declaration.
    fn source_of(&self, level: &Level, is_known: bool) -> String {
        if level.backend.kind == BackendKind::Hiera3 {
            return format!(
                "a backend of Hiera 3: Puppet loads {} from a gem or a module\n",
                self.markup
                    .render_code(&format!("hiera/backend/{}_backend.rb", level.backend.name))
            );
        }
        if let Some(own) = level.backend.built_in() {
            return format!("a function of Puppet's own, which {}\n", own.reads);
        }
        match self.snapshot.function_source(&self.subject.environment, &level.backend.name) {
            FunctionSource::BuiltIn => "a function of Puppet's own, of another kind\n".to_owned(),
            FunctionSource::File(path) => self.render_declared(&path),
            FunctionSource::NotInModule(module) => {
                format!("the module {} has no such function\n", self.markup.render_code(&module))
            }
            FunctionSource::ModuleAbsent | FunctionSource::Nowhere if is_known => String::new(),
            FunctionSource::ModuleAbsent => {
                format!("a function of a module that is not here: {NOT_KNOWN}\n")
            }
            FunctionSource::Nowhere => format!("no module here has this function: {NOT_KNOWN}\n"),
        }
    }

    fn render_declared(&self, path: &FilePath) -> String {
        let declared = self.snapshot.declared_function(path);
        let name = declared.as_ref().zip(self.snapshot.file(path));
        let place = match name {
            Some((function, file)) => {
                self.markup.render_place(Span::in_file(file.id, function.name_range))
            }
            None => self.markup.place_of(path, 1),
        };
        let mut out = format!("declared in {place}; hiera-ls does not run it: {NOT_KNOWN}\n");
        if let Some(function) = declared {
            out.push_str(&self.render_function(&function));
        }
        out
    }

    /// Writes the comment of a function, and the ways to call it.
    fn render_function(&self, function: &DeclaredFunction) -> String {
        let mut out = String::new();
        if let Some(text) = comment_summary(&function.documentation) {
            out.push_str(&format!("\n{}\n", self.markup.render_text(&text)));
        }
        for signature in function.signatures.iter().flatten() {
            out.push_str(&format!(
                "\n- {}",
                self.markup.render_code(&call_text(&function.name, signature))
            ));
        }
        if function.signatures.as_ref().is_some_and(|all| !all.is_empty()) {
            out.push('\n');
        }
        for parameter in &function.documentation.parameters {
            let text = self.markup.render_text(&parameter.text.replace('\n', " "));
            out.push_str(&format!("- {}: {text}\n", self.markup.render_code(&parameter.name)));
        }
        out
    }
}

/// The consequence for a level.
const NOT_KNOWN: &str = "the data of this level is not known";

/// Returns the summary of a comment, or its text as one paragraph.
fn comment_summary(documentation: &Documentation) -> Option<String> {
    let text = documentation.summary.as_deref().unwrap_or(&documentation.text);
    let first = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    Some(first.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns a way to call a function, as Puppet's language writes it.
fn call_text(name: &str, signature: &FunctionSignature) -> String {
    let last = signature.parameters.len().saturating_sub(1);
    let parameters: Vec<String> = signature
        .parameters
        .iter()
        .enumerate()
        .map(|(at, one)| {
            let data_type = one.data_type.as_deref().map(|text| format!("{} ", one_line(text)));
            let rest = if signature.repeats && at == last { "*" } else { "" };
            let optional = if at < signature.required || !rest.is_empty() { "" } else { " = …" };
            format!("{}{rest}${}{optional}", data_type.unwrap_or_default(), one.name)
        })
        .collect();
    let returns = signature.return_type.as_deref().map(|text| format!(" >> {}", one_line(text)));
    format!("{name}({}){}", parameters.join(", "), returns.unwrap_or_default())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
