//! The content of a manifest, as plain data with byte ranges of its text.

use super::named::{HasName, NamedList};
use crate::text::TextRange;

/// A manifest, template or Ruby file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// Classes, defined types, functions and plans, in the order of the text.
    pub definitions: Vec<Definition>,
    /// `type A = …`.
    pub aliases: Vec<TypeAlias>,
    /// Calls that read data.
    pub readers: Vec<ReaderCall>,
    /// Places that declare, inherit or name a class.
    pub uses: Vec<ClassUse>,
    /// `node … { … }`.
    pub nodes: Vec<NodeBlock>,
    /// The function that a Ruby file defines.
    pub function: Option<RubyFunction>,
    /// Whether every bracket, string and comment is closed, and every header was read by the
    /// grammar. Of other texts something may be missing, and names may be taken from strings.
    pub complete: bool,
    /// Whether a limit ended the reading, so that declarations and calls may be missing which are
    /// sound.
    pub is_cut: bool,
    /// Whether the manifest is not complete and its text has the word `Sensitive`: a parameter of
    /// such a type may be missing.
    pub may_lack_sensitive: bool,
}

/// A part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The bytes of the part.
    pub range: TextRange,
    /// The text as written.
    pub text: String,
}

/// The kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    /// `class`: its parameters are looked up.
    Class,
    /// `define`: data never reaches its parameters.
    DefinedType,
    /// `function`.
    Function,
    /// `plan`.
    Plan,
}

/// A class, defined type, function or plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The kind of the definition.
    pub kind: DefinitionKind,
    /// The full name: that of the classes around it comes first. Without leading `::`.
    pub name: String,
    /// The bytes of the name in the text.
    pub name_range: TextRange,
    /// From the keyword to the end of the body.
    pub range: TextRange,
    /// The parent class's name without leading `::`.
    pub inherits: Option<Excerpt>,
    /// The parameters, in the order of the text.
    pub parameters: NamedList<Parameter>,
    /// The type behind `>>`, that a function or plan returns.
    pub return_type: Option<Excerpt>,
    /// The comment above the definition.
    pub documentation: Documentation,
    /// Whether the header does not parse and was read line by line: then parameters may be missing
    /// or wrong.
    pub recovered: bool,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The parameter's name, without `$`.
    pub name: String,
    /// The bytes of the parameter's variable, with `$`.
    pub range: TextRange,
    /// The type as written.
    pub data_type: Option<Excerpt>,
    /// The default as written. A heredoc's text is not in it.
    pub default: Option<Excerpt>,
    /// The default's value where it is literal.
    pub value: Option<Literal>,
    /// Whether the parameter takes all further arguments (`*$rest`).
    pub captures_rest: bool,
    /// The parameter's text in the documentation of the definition, else the comment beside the
    /// parameter.
    pub documentation: Option<String>,
}

impl HasName for Parameter {
    fn name(&self) -> &str {
        &self.name
    }
}

/// A function in Ruby: `Puppet::Functions.create_function(:name) do … end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RubyFunction {
    /// The function's name as written.
    pub name: String,
    /// The bytes of the name in the text, with its colon or quotes.
    pub name_range: TextRange,
    /// The comment above the function.
    pub documentation: Documentation,
    /// The ways to call the function, in the order of the text; `None` where the file holds code
    /// that may add to them or change them.
    pub signatures: Option<Vec<FunctionSignature>>,
}

/// A way to call a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionSignature {
    /// The parameters, those that must be given first; without a block.
    pub parameters: Vec<FunctionParameter>,
    /// The number of parameters that must be given.
    pub required: usize,
    /// Whether the last parameter takes all further arguments.
    pub repeats: bool,
    /// Whether a block must be given.
    pub needs_block: bool,
    /// The declared type of the returned value, as written in Puppet's language.
    pub return_type: Option<String>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionParameter {
    /// The parameter's name, without `$`.
    pub name: String,
    /// The parameter's type, as written in Puppet's language; `None` for any.
    pub data_type: Option<String>,
}

/// A comment above a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documentation {
    /// The text outside of all tags and parameters.
    pub text: String,
    /// `@summary`.
    pub summary: Option<String>,
    /// `@param`, `[*name*]` and `$name::`, in the order of the text; also of parameters that the
    /// definition does not have.
    pub parameters: Vec<DocumentedParameter>,
}

/// The documentation of a parameter in a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentedParameter {
    /// The parameter's name, without `$`.
    pub name: String,
    /// The name's bytes in the comment.
    pub range: TextRange,
    /// The text, its lines separated by line ends.
    pub text: String,
}

/// `type NAME = TYPE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeAlias {
    /// The alias's name as written.
    pub name: String,
    /// The name's bytes.
    pub name_range: TextRange,
    /// The whole definition.
    pub range: TextRange,
    /// The type that the alias stands for.
    pub data_type: Excerpt,
    /// The comment above the alias.
    pub documentation: Documentation,
}

/// A value that the text alone determines.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `undef`
    Undef,
    /// `default`
    Default,
    /// `true`, `false`
    Boolean(bool),
    /// Decimal, octal or hexadecimal.
    Integer(i128),
    /// With a fraction or an exponent.
    Float(f64),
    /// A string or a bare word.
    String(String),
    /// `[ … ]`
    List(Vec<Literal>),
    /// `{ … }`
    Hash(Vec<(Literal, Literal)>),
}

impl Literal {
    /// Returns the string, if the literal is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Literal::String(text) = self { Some(text) } else { None }
    }
}

/// A text whose parts may be unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPattern {
    /// The bytes of the expression.
    pub range: TextRange,
    /// The pieces in order; no two texts are neighbours.
    pub pieces: Vec<TextPiece>,
    /// Whether `$title`, `$name` or `$module_name` was replaced by its value in the pieces.
    pub resolved: bool,
}

/// A part of a [`TextPattern`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPiece {
    /// Known text.
    Text(String),
    /// The value of a variable; no name for other expressions.
    Hole(Option<String>),
}

impl TextPattern {
    /// Returns the text, if all of it is known.
    pub fn literal_text(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [TextPiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the text, with `*` for each part that is not known.
    pub fn wildcard_text(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                TextPiece::Text(text) => text.clone(),
                TextPiece::Hole(_) => "*".to_owned(),
            })
            .collect()
    }
}

/// A function that reads data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReaderFunction {
    /// `lookup`
    Lookup,
    /// `hiera`
    Hiera,
    /// `hiera_array`: merges with `unique`.
    HieraArray,
    /// `hiera_hash`: merges with `hash`.
    HieraHash,
    /// `hiera_include`: merges with `unique`; the values are names of classes.
    HieraInclude,
}

impl ReaderFunction {
    /// Returns the function with this name; a leading `::` is no part of it.
    pub fn from_name(name: &str) -> Option<ReaderFunction> {
        Some(match name.strip_prefix("::").unwrap_or(name) {
            "lookup" => ReaderFunction::Lookup,
            "hiera" => ReaderFunction::Hiera,
            "hiera_array" => ReaderFunction::HieraArray,
            "hiera_hash" => ReaderFunction::HieraHash,
            "hiera_include" => ReaderFunction::HieraInclude,
            _ => return None,
        })
    }

    /// Returns the function's name.
    pub fn name(self) -> &'static str {
        match self {
            ReaderFunction::Lookup => "lookup",
            ReaderFunction::Hiera => "hiera",
            ReaderFunction::HieraArray => "hiera_array",
            ReaderFunction::HieraHash => "hiera_hash",
            ReaderFunction::HieraInclude => "hiera_include",
        }
    }

    /// Returns the strategy that the function itself asks for.
    pub fn own_strategy(self) -> Option<&'static str> {
        match self {
            ReaderFunction::HieraArray | ReaderFunction::HieraInclude => Some("unique"),
            ReaderFunction::HieraHash => Some("hash"),
            ReaderFunction::Lookup | ReaderFunction::Hiera => None,
        }
    }
}

/// The form of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallForm {
    /// `lookup('k')`
    Direct,
    /// `'k'.lookup`
    Method,
    /// `Deferred('lookup', ['k'])`: asked when the catalog is applied.
    Deferred,
    /// `call('lookup', 'k')`
    Indirect,
    /// `call_function('lookup', 'k')` in Ruby or a template.
    Ruby,
}

/// A call that reads data.
#[derive(Clone, Debug, PartialEq)]
pub struct ReaderCall {
    /// The function.
    pub function: ReaderFunction,
    /// The form of the call.
    pub form: CallForm,
    /// The whole call.
    pub range: TextRange,
    /// The keys; the first one that is found wins. `None` when they are unknown.
    pub keys: Option<Vec<TextPattern>>,
    /// The type that the value must have, as written.
    pub value_type: Option<Excerpt>,
    /// The merge strategy that the call asks for; `None` where `lookup_options` decide.
    pub merge: Option<AskedMerge>,
    /// The value for a key that is not found, as written.
    pub default: Option<Excerpt>,
    /// The default's value where it is literal.
    pub default_value: Option<Literal>,
    /// Whether `default_values_hash` is given, or a lambda: also a default.
    pub other_default: bool,
    /// Whether `override` is given: then data may not be read.
    pub has_override: bool,
    /// Whether the value is given to `include`, `contain` or `require`, so that it names classes.
    pub includes: bool,
    /// Whether the value goes straight to `Sensitive` or `Sensitive.new`, which wraps it.
    pub is_wrapped: bool,
    /// The index of the innermost definition around the call.
    pub definition: Option<usize>,
}

/// A merge strategy that a call asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedMerge {
    /// The bytes that state the strategy: an argument, or the function's name.
    pub range: TextRange,
    /// The strategy.
    pub strategy: AskedStrategy,
}

/// A merge strategy as far as the text determines it.
#[derive(Clone, Debug, PartialEq)]
pub enum AskedStrategy {
    /// A name, or a hash with `strategy` and its options.
    Literal(Literal),
    /// A variable.
    Variable {
        /// The variable's name.
        name: String,
        /// The variable's value, where it is assigned once in the definition and literally. For a
        /// parameter its default, which data or a declaration may replace.
        value: Option<Literal>,
        /// Whether the variable is a parameter of the definition around the call.
        parameter: bool,
    },
    /// Anything else.
    Unknown,
}

impl AskedStrategy {
    /// Returns the literal value of the strategy, or the known value of its variable; `None` where
    /// there is neither.
    pub fn literal_value(&self) -> Option<&Literal> {
        match self {
            AskedStrategy::Literal(value) => Some(value),
            AskedStrategy::Variable { value, .. } => value.as_ref(),
            AskedStrategy::Unknown => None,
        }
    }
}

/// The way in which a place uses a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UseKind {
    /// `include`
    Include,
    /// `contain`
    Contain,
    /// `require`
    Require,
    /// `class { 'x': … }`
    Resource,
    /// `create_resources('class', …)`, `ensure_resource('class', …)`
    Function,
    /// `inherits`
    Inherits,
    /// `Class['x']`: declares nothing.
    Reference,
}

/// A place that declares, inherits or names a class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassUse {
    /// The way in which the place uses the class.
    pub kind: UseKind,
    /// The class's name, in lower case and without leading `::`; `None` when nothing is known.
    pub class: Option<TextPattern>,
    /// The bytes of the expression that names the class.
    pub range: TextRange,
    /// The parameters that are given explicitly; others are looked up.
    pub gives: Vec<Attribute>,
    /// Whether parameters may be given that the text does not name (`* => $hash`).
    pub gives_more: bool,
    /// The index of the innermost definition around the place.
    pub definition: Option<usize>,
    /// The index of the node block around the place.
    pub node: Option<usize>,
}

/// A parameter that a declaration gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The parameter's name.
    pub name: String,
    /// The name's bytes.
    pub range: TextRange,
    /// The value's bytes.
    pub value: TextRange,
    /// The value where it is literal. An `undef` is no value: the parameter is looked up.
    pub literal: Option<Literal>,
}

/// The nodes that a block is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeName {
    /// The certname, or the beginning of it up to a dot.
    Literal(String),
    /// A regular expression, without the slashes.
    Regex(String),
    /// All other nodes.
    Default,
}

/// `node … { … }`.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeBlock {
    /// The names, each with its bytes.
    pub names: Vec<(NodeName, TextRange)>,
    /// From the keyword to the end of the block.
    pub range: TextRange,
    /// Calls of functions with a string among their arguments (`role('web')`), except `include` and
    /// its like, which are class uses.
    pub calls: Vec<NodeCall>,
    /// Variables that are set to literal values.
    pub variables: Vec<(String, Literal)>,
}

/// A call of a function in a node block.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeCall {
    /// The function's name.
    pub function: String,
    /// The arguments; `None` for those that are not literal.
    pub arguments: Vec<Option<Literal>>,
    /// The call's bytes.
    pub range: TextRange,
}

impl Manifest {
    /// Returns the parameter in whose default a call stands.
    pub fn parameter_of(&self, reader: &ReaderCall) -> Option<(&Definition, &Parameter)> {
        let definition = self.definitions.get(reader.definition?)?;
        definition
            .parameters
            .iter()
            .find(|parameter| {
                parameter
                    .default
                    .as_ref()
                    .is_some_and(|default| default.range.contains_range(reader.range))
            })
            .map(|parameter| (definition, parameter))
    }
}

impl Definition {
    /// Returns the way to call the definition, if it is a function whose header was read by the
    /// grammar.
    pub fn signature(&self) -> Option<FunctionSignature> {
        if self.kind != DefinitionKind::Function || self.recovered {
            return None;
        }
        Some(FunctionSignature {
            parameters: self
                .parameters
                .iter()
                .map(|one| FunctionParameter {
                    name: one.name.clone(),
                    data_type: one.data_type.as_ref().map(|it| it.text.clone()),
                })
                .collect(),
            required: self
                .parameters
                .iter()
                .filter(|it| it.default.is_none() && !it.captures_rest)
                .count(),
            repeats: self.parameters.last().is_some_and(|one| one.captures_rest),
            needs_block: false,
            return_type: self.return_type.as_ref().map(|it| it.text.clone()),
        })
    }

    /// Returns the parameter with this name.
    pub fn find_parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.find(name)
    }
}
