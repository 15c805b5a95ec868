//! Calls that read data: `lookup`, `hiera` and its like, in all forms in which they are written.

use super::expression::{CallArgument, Tokens, View};
use super::model::{
    AskedMerge, AskedStrategy, CallForm, Literal, ReaderCall, ReaderFunction, TextPattern,
};
use super::token::{Bracket, Kind};
use super::walk::Walker;
use crate::text::TextRange;

/// A call that has been recognized.
struct RecognizedCall {
    function: ReaderFunction,
    form: CallForm,
    /// The tokens of the whole call.
    tokens: Tokens,
    /// The bytes of the function's name.
    name: TextRange,
    arguments: Vec<CallArgument>,
}

impl Walker<'_> {
    /// Notes the call whose function is the word at `at`.
    pub(super) fn note_reader(&mut self, view: &View<'_>, at: usize) {
        let after_dot = at > 0 && view.kind(at - 1) == Some(Kind::Dot);
        let call = match ReaderFunction::from_name(view.word_text(at)) {
            Some(function) if after_dot => method_call(view, at, function),
            Some(function) => direct_call(view, at, function),
            None if !after_dot && view.word_text(at) == "call" => indirect_call(view, at),
            None => None,
        };
        if let Some(call) = call {
            self.note_call(view, call);
        }
    }

    /// Notes `Deferred('lookup', […])` and `Deferred.new(…)`.
    pub(super) fn note_deferred(&mut self, view: &View<'_>, at: usize) {
        if view.word_text(at) != "Deferred" {
            return;
        }
        let is_new = view.kind(at + 1) == Some(Kind::Dot) && view.is_word(at + 2, "new");
        let open = if is_new { at + 3 } else { at + 1 };
        let Some((arguments, end)) = arguments_at(view, open) else { return };
        let Some((function, name)) = named_function(view, &arguments) else { return };
        let list = match arguments.get(1) {
            Some(CallArgument::Expression(tokens)) => view.group(tokens, Bracket::Square),
            _ => None,
        };
        let Some(list) = list else { return };
        let arguments = view.parse_arguments(list);
        let form = CallForm::Deferred;
        self.note_call(view, RecognizedCall { function, form, tokens: at..end, name, arguments });
    }

    fn note_call(&mut self, view: &View<'_>, call: RecognizedCall) {
        let mut end = call.tokens.end;
        let mut reader = ReaderCall {
            function: call.function,
            form: call.form,
            range: view.code.token_range(call.tokens.clone()).unwrap_or(call.name),
            keys: None,
            value_type: None,
            merge: None,
            default: None,
            default_value: None,
            other_default: false,
            has_override: false,
            includes: call.function == ReaderFunction::HieraInclude,
            is_wrapped: is_wrapped(view, call.tokens.start),
            definition: self.current_definition(),
        };
        if view.kind(end) == Some(Kind::Pipe) {
            reader.other_default = true;
            end = view.lambda_end(end).unwrap_or(end);
        }
        if call.function == ReaderFunction::Lookup {
            self.lookup_arguments(view, &call.arguments, &mut reader);
        } else {
            self.hiera_arguments(view, &call, &mut reader);
        }
        reader.includes |= is_included(view, call.tokens.start, end);
        self.found.readers.push(reader);
    }

    fn lookup_arguments(
        &self,
        view: &View<'_>,
        arguments: &[CallArgument],
        reader: &mut ReaderCall,
    ) {
        let Some(first) = arguments.first() else { return };
        if let Some(options) = view.parse_pairs(first) {
            let name = find_option(view, &options, "name").map(CallArgument::Expression);
            reader.keys = name.and_then(|name| self.parse_keys(view, &name));
            return self.read_options(view, &options, reader);
        }
        reader.keys = self.parse_keys(view, first);
        match arguments.get(1).map(|second| (second, view.parse_pairs(second))) {
            Some((_, Some(options))) => return self.read_options(view, &options, reader),
            // The second argument is either a type or options: only its value decides.
            Some((second, None)) if arguments.len() == 2 && !begins_type(view, second) => {
                reader.merge = view
                    .argument_range(second)
                    .map(|range| AskedMerge { range, strategy: AskedStrategy::Unknown });
            }
            _ => {}
        }
        reader.value_type = given_argument(1, arguments, view)
            .and_then(|one| view.argument_range(one))
            .map(|range| view.excerpt_of(range));
        if let Some(merge) =
            given_argument(2, arguments, view).and_then(|one| self.merge(view, one))
        {
            reader.merge = Some(merge);
        }
        self.default(view, arguments.get(3), reader);
    }

    fn read_options(&self, view: &View<'_>, options: &[(Tokens, Tokens)], reader: &mut ReaderCall) {
        reader.value_type =
            find_option(view, options, "value_type").and_then(|one| view.excerpt_tokens(one));
        let merge = find_option(view, options, "merge").map(CallArgument::Expression);
        reader.merge = merge.and_then(|one| self.merge(view, &one));
        let default = find_option(view, options, "default_value").map(CallArgument::Expression);
        self.default(view, default.as_ref(), reader);
        reader.other_default |= find_option(view, options, "default_values_hash").is_some();
        reader.has_override = find_option(view, options, "override").is_some();
    }

    fn hiera_arguments(&self, view: &View<'_>, call: &RecognizedCall, reader: &mut ReaderCall) {
        reader.keys = call.arguments.first().and_then(|first| self.parse_keys(view, first));
        self.default(view, call.arguments.get(1), reader);
        reader.has_override = call.arguments.len() > 2;
        reader.merge = call.function.own_strategy().map(|strategy| AskedMerge {
            range: call.name,
            strategy: AskedStrategy::Literal(Literal::String(strategy.to_owned())),
        });
    }

    fn default(&self, view: &View<'_>, argument: Option<&CallArgument>, reader: &mut ReaderCall) {
        let range = argument.and_then(|one| view.argument_range(one));
        reader.default = range.map(|range| view.excerpt_of(range));
        reader.default_value = argument.and_then(|one| view.argument_literal(one));
    }

    fn parse_keys(&self, view: &View<'_>, argument: &CallArgument) -> Option<Vec<TextPattern>> {
        let CallArgument::Expression(tokens) = argument else { return None };
        let tokens = view.strip_brackets(tokens.clone());
        let keys = match view.group(&tokens, Bracket::Square) {
            Some(list) => view.split(list, Kind::Comma),
            None => vec![tokens],
        };
        let at = self.surroundings();
        let keys: Option<Vec<TextPattern>> =
            keys.into_iter().map(|key| view.parse_pattern(key, at)).collect();
        keys.filter(|keys| !keys.is_empty())
    }

    fn merge(&self, view: &View<'_>, argument: &CallArgument) -> Option<AskedMerge> {
        let range = view.argument_range(argument)?;
        let variable = match argument {
            CallArgument::Expression(tokens) if tokens.len() == 1 => {
                view.variable_name(tokens.start)
            }
            _ => None,
        };
        let strategy = match (view.argument_literal(argument), variable) {
            (Some(Literal::Undef), _) => return None,
            (Some(value), _) => AskedStrategy::Literal(value),
            (None, Some(name)) => {
                let parameter = self.own_parameter(name);
                let value =
                    parameter.map_or_else(|| self.local_value(name), |one| one.value.as_ref());
                AskedStrategy::Variable {
                    name: name.to_owned(),
                    value: value.cloned(),
                    parameter: parameter.is_some(),
                }
            }
            (None, None) => AskedStrategy::Unknown,
        };
        Some(AskedMerge { range, strategy })
    }
}

fn given_argument<'a>(
    index: usize,
    arguments: &'a [CallArgument],
    view: &View<'_>,
) -> Option<&'a CallArgument> {
    arguments.get(index).filter(|one| !is_undef(view, one))
}

/// Reads the arguments of a call whose bracket opens at `open`, and the index behind it.
pub(super) fn arguments_at(view: &View<'_>, open: usize) -> Option<(Vec<CallArgument>, usize)> {
    if view.kind(open) != Some(Kind::Open(Bracket::Round)) {
        return None;
    }
    let close = view.code.partner_bracket(open)?;
    Some((view.parse_arguments(open + 1..close), close + 1))
}

fn direct_call(view: &View<'_>, at: usize, function: ReaderFunction) -> Option<RecognizedCall> {
    let (arguments, end) = arguments_at(view, at + 1)?;
    let name = view.code.tokens[at].range;
    Some(RecognizedCall { function, form: CallForm::Direct, tokens: at..end, name, arguments })
}

/// Reads `'k'.lookup`, `'k'.lookup(T)`: the operand before the dot is the first argument.
fn method_call(view: &View<'_>, at: usize, function: ReaderFunction) -> Option<RecognizedCall> {
    let dot = at.checked_sub(1).filter(|dot| *dot > 0)?;
    let start = view.operand_start(dot);
    let (others, end) = arguments_at(view, at + 1).unwrap_or((Vec::new(), at + 1));
    let mut arguments = vec![CallArgument::Expression(start..dot)];
    arguments.extend(others);
    let name = view.code.tokens[at].range;
    Some(RecognizedCall { function, form: CallForm::Method, tokens: start..end, name, arguments })
}

/// Reads `call('lookup', 'k')`.
fn indirect_call(view: &View<'_>, at: usize) -> Option<RecognizedCall> {
    let (mut arguments, end) = arguments_at(view, at + 1)?;
    let (function, name) = named_function(view, &arguments)?;
    arguments.remove(0);
    Some(RecognizedCall { function, form: CallForm::Indirect, tokens: at..end, name, arguments })
}

/// Returns the function that the first argument names.
fn named_function(
    view: &View<'_>,
    arguments: &[CallArgument],
) -> Option<(ReaderFunction, TextRange)> {
    let CallArgument::Expression(tokens) = arguments.first()? else { return None };
    let name = view.literal_value(tokens.clone())?;
    Some((ReaderFunction::from_name(name.as_str()?)?, view.code.token_range(tokens.clone())?))
}

/// Returns a member of an options hash.
fn find_option(view: &View<'_>, options: &[(Tokens, Tokens)], name: &str) -> Option<Tokens> {
    options
        .iter()
        .find(|(key, _)| is_literal_key(key, view, name))
        .map(|(_, value)| view.strip_brackets(value.clone()))
}

fn is_literal_key(key: &Tokens, view: &View<'_>, name: &str) -> bool {
    view.literal_value(key.clone()).is_some_and(|key| key.as_str() == Some(name))
}

fn is_undef(view: &View<'_>, argument: &CallArgument) -> bool {
    view.argument_literal(argument) == Some(Literal::Undef)
}

fn begins_type(view: &View<'_>, argument: &CallArgument) -> bool {
    match argument {
        CallArgument::Expression(tokens) => view.kind(tokens.start) == Some(Kind::Reference),
        CallArgument::Pairs(_) => false,
    }
}

/// Whether the value of a call goes to `include` or its like.
fn is_included(view: &View<'_>, start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).is_some_and(|before| {
        is_include_word(before, view)
            || view.kind(before) == Some(Kind::Open(Bracket::Round))
                && before > 0
                && is_include_word(before - 1, view)
    });
    before || view.kind(end) == Some(Kind::Dot) && is_include_word(end + 1, view)
}

fn is_include_word(at: usize, view: &View<'_>) -> bool {
    view.kind(at) == Some(Kind::Name)
        && matches!(view.word_text(at), "include" | "contain" | "require")
}

/// Whether the value of a call goes to `Sensitive(…)` or `Sensitive.new(…)`.
fn is_wrapped(view: &View<'_>, start: usize) -> bool {
    let Some(before) = start.checked_sub(2) else { return false };
    if view.kind(before + 1) != Some(Kind::Open(Bracket::Round)) {
        return false;
    }
    let is_new =
        before > 1 && view.is_word(before, "new") && view.kind(before - 1) == Some(Kind::Dot);
    let wrapper = if is_new { before - 2 } else { before };
    view.kind(wrapper) == Some(Kind::Reference) && view.word_text(wrapper) == "Sensitive"
}
