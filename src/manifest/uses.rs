//! Places that declare or name classes.

use super::expression::{CallArgument, Tokens, View};
use super::header::plain_name;
use super::model::{Attribute, ClassUse, Literal, TextPattern, TextPiece, UseKind};
use super::readers::arguments_at;
use super::token::{Bracket, Kind};
use super::walk::Walker;
use crate::text::TextRange;

/// The parameters that a declaration gives, and whether there may be more.
type GivenParameters = (Vec<Attribute>, bool);

impl Walker<'_> {
    /// Notes the declaration that the word at `at` begins.
    pub(super) fn class_use(&mut self, view: &View<'_>, at: usize) {
        let after_dot = at > 0 && view.kind(at - 1) == Some(Kind::Dot);
        let word = view.word_text(at);
        match word {
            "include" => self.note_inclusion(view, at, UseKind::Include, after_dot),
            "contain" => self.note_inclusion(view, at, UseKind::Contain, after_dot),
            "require" => self.note_inclusion(view, at, UseKind::Require, after_dot),
            "class" if view.kind(at + 1) == Some(Kind::Open(Bracket::Curly)) => {
                self.note_resources(view, at + 1);
            }
            "create_resources" | "ensure_resource" | "ensure_resources" if !after_dot => {
                self.resource_function(view, at);
            }
            _ => {}
        }
    }

    /// Notes `Class['x']`.
    pub(super) fn class_reference(&mut self, view: &View<'_>, at: usize) {
        if view.word_text(at) != "Class" || view.kind(at + 1) != Some(Kind::Open(Bracket::Square)) {
            return;
        }
        let Some(close) = view.code.partner_bracket(at + 1) else { return };
        for name in view.split(at + 2..close, Kind::Comma) {
            self.note_names(view, name, UseKind::Reference, (Vec::new(), false));
        }
    }

    fn note_inclusion(&mut self, view: &View<'_>, at: usize, kind: UseKind, after_dot: bool) {
        if after_dot {
            if at < 2 {
                return;
            }
            let receiver = view.operand_start(at - 1)..at - 1;
            return self.note_names(view, receiver, kind, (Vec::new(), false));
        }
        let names = if let Some((arguments, _)) = arguments_at(view, at + 1) {
            arguments
                .into_iter()
                .filter_map(|argument| match argument {
                    CallArgument::Expression(tokens) => Some(tokens),
                    CallArgument::Pairs(_) => None,
                })
                .collect()
        } else {
            statement_arguments(view, at + 1)
        };
        for name in names {
            self.note_names(view, name, kind, (Vec::new(), false));
        }
    }

    /// `class { 'x': a => 1; 'y': }`
    fn note_resources(&mut self, view: &View<'_>, open: usize) {
        let Some(close) = view.code.partner_bracket(open) else { return };
        for body in view.split(open + 1..close, Kind::Semicolon) {
            let Some(colon) = view.find(body.clone(), Kind::Colon) else { continue };
            let title = body.start..colon;
            if title.len() == 1 && view.is_word(title.start, "default") {
                continue;
            }
            let given = read_attributes(view, colon + 1..body.end);
            self.note_names(view, title, UseKind::Resource, given);
        }
    }

    /// `create_resources('class', {'x' => {a => 1}})`, `ensure_resource('class', 'x', {a => 1})`
    fn resource_function(&mut self, view: &View<'_>, at: usize) {
        let Some((arguments, _)) = arguments_at(view, at + 1) else { return };
        let first = arguments.first().and_then(|first| view.argument_literal(first));
        if !first.as_ref().is_some_and(is_class_literal) {
            return;
        }
        let Some(second) = arguments.get(1) else { return };
        if view.word_text(at) == "ensure_resource" {
            let given = match arguments.get(2) {
                Some(third) => hash_attributes(view, third),
                None => (Vec::new(), false),
            };
            if let CallArgument::Expression(names) = second {
                self.note_names(view, names.clone(), UseKind::Function, given);
            }
            return;
        }
        let Some(classes) = view.parse_pairs(second) else {
            let range = view.argument_range(second).unwrap_or_default();
            return self.note_use(UseKind::Function, None, range, (Vec::new(), true));
        };
        for (name, parameters) in classes {
            let (gives, more) = hash_attributes(view, &CallArgument::Expression(parameters));
            let given = (gives, more || arguments.len() > 2);
            self.note_names(view, name, UseKind::Function, given);
        }
    }

    /// Notes a use for each class that an expression names: a name, a list, `Class['x']`.
    fn note_names(
        &mut self,
        view: &View<'_>,
        tokens: Tokens,
        kind: UseKind,
        given: GivenParameters,
    ) {
        let tokens = view.strip_brackets(tokens);
        if let Some(list) = view.group(&tokens, Bracket::Square) {
            for part in view.split(list, Kind::Comma) {
                self.note_names(view, part, kind, given.clone());
            }
            return;
        }
        let is_reference = view.word_text(tokens.start) == "Class"
            && view.kind(tokens.start + 1) == Some(Kind::Open(Bracket::Square))
            && view.code.index_behind(tokens.start + 1) == tokens.end;
        if is_reference {
            for part in view.split(tokens.start + 2..tokens.end - 1, Kind::Comma) {
                self.note_names(view, part, kind, given.clone());
            }
            return;
        }
        let Some(range) = view.code.token_range(tokens.clone()) else { return };
        let class = view.parse_pattern(tokens, self.surroundings());
        self.note_use(kind, class.map(as_class), range, given);
    }

    fn note_use(
        &mut self,
        kind: UseKind,
        class: Option<TextPattern>,
        range: TextRange,
        given: GivenParameters,
    ) {
        let (gives, gives_more) = given;
        let (definition, node) = (self.current_definition(), self.current_node());
        self.found.uses.push(ClassUse { kind, class, range, gives, gives_more, definition, node });
    }
}

fn is_class_literal(literal: &Literal) -> bool {
    literal.as_str().is_some_and(|text| plain_name(text) == "class")
}

/// Returns a class's name as Puppet looks for it.
fn as_class(mut name: TextPattern) -> TextPattern {
    for (at, piece) in name.pieces.iter_mut().enumerate() {
        if let TextPiece::Text(text) = piece {
            *text = if at == 0 { plain_name(text) } else { text.to_ascii_lowercase() };
        }
    }
    name
}

/// Reads the arguments of a statement without brackets: `include a, 'b'`.
fn statement_arguments(view: &View<'_>, mut at: usize) -> Vec<Tokens> {
    let mut arguments = Vec::new();
    while begins_operand(view, at) {
        let end = view.operand_end(at);
        arguments.push(at..end);
        if view.kind(end) != Some(Kind::Comma) {
            break;
        }
        at = end + 1;
    }
    arguments
}

fn begins_operand(view: &View<'_>, at: usize) -> bool {
    matches!(
        view.kind(at),
        Some(
            Kind::Name
                | Kind::Reference
                | Kind::Variable
                | Kind::Plain
                | Kind::Single
                | Kind::Double(_)
                | Kind::Open(Bracket::Square)
        )
    )
}

/// Reads `a => 1, * => $more`.
fn read_attributes(view: &View<'_>, tokens: Tokens) -> GivenParameters {
    let mut gives = Vec::new();
    let mut more = false;
    for part in view.split(tokens, Kind::Comma) {
        match view.kind(part.start + 1) {
            Some(Kind::Arrow | Kind::PlusArrow) if view.kind(part.start) == Some(Kind::Star) => {
                let value = CallArgument::Expression(part.start + 2..part.end);
                let (named, unnamed) = hash_attributes(view, &value);
                gives.extend(named);
                more |= unnamed;
            }
            Some(Kind::Arrow | Kind::PlusArrow) => {
                gives.extend(read_attribute(view, part.start, part.start + 2..part.end));
            }
            _ => more = true,
        }
    }
    (gives, more)
}

fn read_attribute(view: &View<'_>, name: usize, value: Tokens) -> Option<Attribute> {
    let text = match view.kind(name)? {
        Kind::Name => view.word_text(name).to_owned(),
        _ => view.string_value(name)?.into_owned(),
    };
    Some(Attribute {
        name: text,
        range: view.code.tokens[name].range,
        value: view.code.token_range(value.clone())?,
        literal: view.literal_value(value),
    })
}

/// Returns the members of a literal hash as parameters; any other expression may give any
/// parameter.
fn hash_attributes(view: &View<'_>, hash: &CallArgument) -> GivenParameters {
    let Some(pairs) = view.parse_pairs(hash) else { return (Vec::new(), true) };
    let count = pairs.len();
    let gives: Vec<Attribute> = pairs
        .into_iter()
        .filter_map(|(key, value)| {
            (key.len() == 1).then(|| read_attribute(view, key.start, value)).flatten()
        })
        .collect();
    let more = gives.len() < count;
    (gives, more)
}
