//! The walk through the tokens of a file: it enters and leaves definitions, and notes the calls and
//! declarations within them.

use std::collections::HashMap;

use super::documentation;
use super::expression::{Surroundings, View};
use super::header::{self, Broken, plain_name};
use super::lexer::{Language, Lexed, lex_text};
use super::model::{
    ClassUse, Definition, DefinitionKind, Literal, Manifest, Parameter, TextPattern, TextPiece,
    TypeAlias, UseKind,
};
use super::named::NamedList;
use super::token::{Bracket, Kind, StringSegment};
use crate::text::TextRange;

/// The number of broken headers of a file that are read by lines. Each makes the rest of the file
/// be lexed once more; behind the last one a file counts as incomplete and is not read on.
const MAX_RESTARTS: usize = 50;

/// Reads a file.
pub(super) fn walk(text: &str, module: Option<&str>, language: Language) -> Manifest {
    let found = find_declarations(text, module, language);
    Manifest { may_lack_sensitive: !found.complete && text.contains("Sensitive"), ..found }
}

fn find_declarations(text: &str, module: Option<&str>, language: Language) -> Manifest {
    let mut walker = Walker {
        text,
        module,
        found: Manifest { complete: true, ..Manifest::default() },
        open: Vec::new(),
        variables: HashMap::new(),
    };
    let mut lexed = lex_text(text, 0, language);
    for _ in 0..MAX_RESTARTS {
        walker.note_completeness(&lexed);
        let view = View { text, code: &lexed.code };
        let restart = walker.walk_tokens(&view, true);
        if lexed.is_too_deep {
            walker.note_limit();
        }
        let Some(from) = restart else { return walker.found };
        walker.found.complete = false;
        lexed = lex_text(text, from, Language::Manifest);
    }
    walker.note_limit();
    walker.found
}

/// The state of a walk through the tokens.
pub(super) struct Walker<'t> {
    pub text: &'t str,
    pub module: Option<&'t str>,
    pub found: Manifest,
    /// The definitions and node blocks around the current token, the outermost first.
    open: Vec<Open>,
    /// The literal values of variables, by the definition that sets them; `None` for variables that
    /// are set twice or otherwise.
    variables: HashMap<(Option<usize>, String), Option<Literal>>,
}

/// A definition or node block that has begun.
struct Open {
    what: Block,
    body: Body,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Definition(usize),
    Node(usize),
}

/// The place of a block's body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    /// The token that opens the body.
    At(usize),
    /// The next brace opens the body.
    Next,
    /// The body was opened in a part of the text that was lexed before.
    Before,
}

impl Walker<'_> {
    fn note_completeness(&mut self, lexed: &Lexed) {
        self.found.complete &= lexed.unclosed.is_none() && lexed.code.balanced;
    }

    /// Notes that a limit ended the reading: each header may have been read wrongly.
    fn note_limit(&mut self) {
        self.found.complete = false;
        self.found.is_cut = true;
        self.found.definitions.iter_mut().for_each(|definition| definition.recovered = true);
    }

    /// Returns the index of the innermost definition around the current token.
    pub(super) fn current_definition(&self) -> Option<usize> {
        self.open.iter().rev().find_map(|open| match open.what {
            Block::Definition(index) => Some(index),
            Block::Node(_) => None,
        })
    }

    /// Returns the index of the node block around the current token.
    pub(super) fn current_node(&self) -> Option<usize> {
        self.open.iter().rev().find_map(|open| match open.what {
            Block::Node(index) => Some(index),
            Block::Definition(_) => None,
        })
    }

    /// Returns the class and the module that strings may name at the current token.
    pub(super) fn surroundings(&self) -> Surroundings<'_> {
        let class = self
            .current_definition()
            .map(|index| &self.found.definitions[index])
            .filter(|definition| definition.kind == DefinitionKind::Class);
        Surroundings { class: class.map(|class| class.name.as_str()), module: self.module }
    }

    /// Goes through tokens. With `outermost`, definitions are read, too; then the result is the
    /// byte from which the text must be lexed again, behind a header that was read by lines.
    fn walk_tokens(&mut self, view: &View<'_>, outermost: bool) -> Option<usize> {
        for at in 0..view.code.len() {
            if outermost && let Some(from) = self.walk_structure(view, at) {
                return Some(from);
            }
            self.walk_expression(view, at);
        }
        if outermost {
            self.close_all();
        }
        None
    }

    /// Handles braces, and the words that begin a definition.
    fn walk_structure(&mut self, view: &View<'_>, at: usize) -> Option<usize> {
        match view.kind(at)? {
            Kind::Open(Bracket::Curly) => {
                if let Some(open) = self.open.last_mut().filter(|open| open.body == Body::Next) {
                    open.body = Body::At(at);
                }
            }
            Kind::Close(Bracket::Curly) => self.close(view, at),
            Kind::Name if !self.is_member(view, at) => return self.walk_keyword(view, at),
            _ => {}
        }
        None
    }

    /// Whether a word stands behind a dot or before an arrow, where it is no keyword.
    fn is_member(&self, view: &View<'_>, at: usize) -> bool {
        at > 0 && view.kind(at - 1) == Some(Kind::Dot)
            || matches!(view.kind(at + 1), Some(Kind::Arrow | Kind::PlusArrow))
    }

    fn walk_keyword(&mut self, view: &View<'_>, at: usize) -> Option<usize> {
        let named = view.kind(at + 1) == Some(Kind::Name);
        match view.word_text(at) {
            "class" if named => return self.walk_definition(view, at, DefinitionKind::Class),
            "define" if named => {
                return self.walk_definition(view, at, DefinitionKind::DefinedType);
            }
            "function" if named => return self.walk_definition(view, at, DefinitionKind::Function),
            "plan" if named && self.begins_statement(view, at) => {
                return self.walk_definition(view, at, DefinitionKind::Plan);
            }
            "type" if view.kind(at + 1) == Some(Kind::Reference) => self.note_alias(view, at),
            "node" => self.node_block(view, at),
            "inherits" if named => self.parent_of_recovered(view, at),
            _ => {}
        }
        None
    }

    fn begins_statement(&self, view: &View<'_>, at: usize) -> bool {
        at == 0 || matches!(view.kind(at - 1), Some(Kind::Close(Bracket::Curly)))
    }

    fn walk_definition(
        &mut self,
        view: &View<'_>,
        at: usize,
        kind: DefinitionKind,
    ) -> Option<usize> {
        self.open.retain(|open| open.body != Body::Next);
        let mut definition = self.new_definition(view, at, kind);
        let index = self.found.definitions.len();
        let (body, restart) = match header::parse(view, at + 2, kind) {
            Ok(header) => {
                definition.parameters = header.parameters.into();
                definition.inherits = header.inherits;
                definition.return_type = header.return_type;
                (header.body.map(Body::At), None)
            }
            Err(broken) => {
                definition.recovered = true;
                self.found.complete = false;
                match broken {
                    Broken::NoBody => (None, None),
                    Broken::List(open) => {
                        let from = header::bracket_range(view, open).end as usize;
                        let (parameters, end) = header::by_lines(self.text, from);
                        definition.parameters = parameters.into();
                        definition.range.end = end as u32;
                        (Some(Body::Next), Some(end))
                    }
                }
            }
        };
        documentation::document_parameters(self.text, &mut definition);
        self.note_parent(&definition, index);
        let defaults = if restart.is_some() { default_ranges(&definition) } else { Vec::new() };
        self.found.definitions.push(definition);
        if let Some(body) = body {
            self.open.push(Open { what: Block::Definition(index), body });
        }
        for (parameter, range) in defaults {
            self.default_of_recovered(index, parameter, range);
        }
        if restart.is_some() {
            for open in self.open.iter_mut().filter(|open| matches!(open.body, Body::At(_))) {
                open.body = Body::Before;
            }
        }
        restart
    }

    /// Returns a definition whose name alone has been read.
    fn new_definition(&self, view: &View<'_>, at: usize, kind: DefinitionKind) -> Definition {
        let keyword = view.code.tokens[at].range;
        let name = view.code.tokens[at + 1].range;
        let written = view.word_text(at + 1);
        let outer = self.current_definition().map(|index| &self.found.definitions[index]);
        let outer = outer.filter(|outer| {
            outer.kind == DefinitionKind::Class
                && matches!(kind, DefinitionKind::Class | DefinitionKind::DefinedType)
        });
        let full = match outer {
            Some(outer) => format!("{}::{written}", outer.name),
            None => written.strip_prefix("::").unwrap_or(written).to_owned(),
        };
        Definition {
            kind,
            name: full,
            name_range: name,
            range: keyword.cover(name),
            inherits: None,
            return_type: None,
            parameters: NamedList::default(),
            documentation: documentation::documentation_above(self.text, keyword.start as usize),
            recovered: false,
        }
    }

    fn note_parent(&mut self, definition: &Definition, index: usize) {
        let Some(parent) = &definition.inherits else { return };
        self.found.uses.push(ClassUse {
            kind: UseKind::Inherits,
            class: Some(TextPattern {
                range: parent.range,
                pieces: vec![TextPiece::Text(parent.text.clone())],
                resolved: false,
            }),
            range: parent.range,
            gives: Vec::new(),
            gives_more: false,
            definition: Some(index),
            node: self.current_node(),
        });
    }

    /// Reads the default of a parameter whose header was read by lines.
    fn default_of_recovered(&mut self, definition: usize, parameter: usize, range: TextRange) {
        let lexed =
            lex_text(&self.text[..range.end as usize], range.start as usize, Language::Manifest);
        let view = View { text: self.text, code: &lexed.code };
        let value = view.literal_value(0..lexed.code.len());
        self.found.definitions[definition].parameters[parameter].value = value;
        self.walk_tokens(&view, false);
    }

    /// `inherits` behind a header that was read by lines.
    fn parent_of_recovered(&mut self, view: &View<'_>, at: usize) {
        let waiting = self.open.last().filter(|open| open.body == Body::Next);
        let Some(Block::Definition(index)) = waiting.map(|open| open.what) else { return };
        let mut parent = view.excerpt_of(view.code.tokens[at + 1].range);
        parent.text = plain_name(&parent.text);
        self.found.definitions[index].inherits = Some(parent);
        let definition = self.found.definitions[index].clone();
        self.note_parent(&definition, index);
    }

    fn note_alias(&mut self, view: &View<'_>, at: usize) {
        if view.kind(at + 2) != Some(Kind::Assign) {
            return;
        }
        let start = at + 3;
        let mut end = view.code.index_behind(start);
        if view.kind(start) == Some(Kind::Reference)
            && let Some(Kind::Open(Bracket::Square | Bracket::Curly)) = view.kind(end)
        {
            end = view.code.index_behind(end);
        }
        let Some(data_type) = view.excerpt_tokens(start..end.min(view.code.len())) else { return };
        let keyword = view.code.tokens[at].range;
        self.found.aliases.push(TypeAlias {
            name: view.word_text(at + 1).trim_start_matches("::").to_owned(),
            name_range: view.code.tokens[at + 1].range,
            range: keyword.cover(data_type.range),
            data_type,
            documentation: documentation::documentation_above(self.text, keyword.start as usize),
        });
    }

    /// Enters the body of a node block, which opens at `body`.
    pub(super) fn enter_node(&mut self, index: usize, body: usize) {
        self.open.push(Open { what: Block::Node(index), body: Body::At(body) });
    }

    /// Leaves the blocks that a closing brace ends.
    fn close(&mut self, view: &View<'_>, at: usize) {
        let end = view.code.tokens[at].range.end;
        match view.code.partner_bracket(at) {
            Some(partner) => {
                while self.open.last().is_some_and(|open| has_body_within(open, partner, at)) {
                    self.leave_block(end);
                }
            }
            None if self.open.last().is_some_and(|open| open.body == Body::Before) => {
                self.leave_block(end);
            }
            None => {}
        }
    }

    fn leave_block(&mut self, end: u32) {
        match self.open.pop().map(|open| open.what) {
            Some(Block::Definition(index)) => self.found.definitions[index].range.end = end,
            Some(Block::Node(index)) => self.found.nodes[index].range.end = end,
            None => {}
        }
    }

    /// At the end of the text: blocks that nothing closes reach to it.
    fn close_all(&mut self) {
        let end = self.text.len() as u32;
        self.open.retain(|open| open.body != Body::Next);
        while !self.open.is_empty() {
            self.leave_block(end);
        }
    }

    /// Calls, declarations and strings with code.
    fn walk_expression(&mut self, view: &View<'_>, at: usize) {
        let Some(kind) = view.kind(at) else { return };
        match kind {
            Kind::Name if !matches!(view.kind(at + 1), Some(Kind::Arrow | Kind::PlusArrow)) => {
                self.note_reader(view, at);
                self.class_use(view, at);
                self.node_call(view, at);
            }
            Kind::Reference => {
                self.note_deferred(view, at);
                self.class_reference(view, at);
            }
            Kind::Variable => self.note_assignment(view, at),
            Kind::Double(index) | Kind::Heredoc(index) => {
                for segment in view.code.strings.get(index as usize).into_iter().flatten() {
                    if let StringSegment::Code(code) = segment {
                        self.walk_tokens(&View { text: view.text, code }, false);
                    }
                }
            }
            _ => {}
        }
    }

    /// Notes `$x = …` in a body: the value is known if it is literal and the only one.
    fn note_assignment(&mut self, view: &View<'_>, at: usize) {
        if view.kind(at + 1) != Some(Kind::Assign) {
            return;
        }
        let Some(name) = view.variable_name(at).filter(|name| !name.is_empty()) else { return };
        let end = view.operand_end(at + 2);
        let goes_on = matches!(view.kind(end), Some(Kind::Operator | Kind::Star))
            || matches!(view.word_text(end), "in" | "and" | "or");
        let value = if goes_on { None } else { view.literal_value(at + 2..end) };
        if let (Some(node), Some(value)) = (self.current_node(), &value) {
            self.found.nodes[node].variables.push((name.to_owned(), value.clone()));
        }
        let known = self.variables.entry((self.current_definition(), name.to_owned()));
        known.and_modify(|before| *before = None).or_insert(value);
    }

    /// Returns the parameter with this name of the definition around the current token.
    pub(super) fn own_parameter(&self, name: &str) -> Option<&Parameter> {
        self.found.definitions[self.current_definition()?].find_parameter(name)
    }

    /// Returns the value of a variable that the definition around the current token sets.
    pub(super) fn local_value(&self, name: &str) -> Option<&Literal> {
        self.variables.get(&(self.current_definition(), name.to_owned()))?.as_ref()
    }
}

/// Brackets of a header are closed before its body begins.
fn has_body_within(open: &Open, partner: usize, at: usize) -> bool {
    matches!(open.body, Body::At(body) if (partner..at).contains(&body))
}

/// Returns the defaults of a definition's parameters, by the parameters' indices.
fn default_ranges(definition: &Definition) -> Vec<(usize, TextRange)> {
    let parameters = definition.parameters.iter().enumerate();
    parameters
        .filter_map(|(index, parameter)| {
            parameter.default.as_ref().map(|default| (index, default.range))
        })
        .collect()
}
