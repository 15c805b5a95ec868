//! The places that name variables: in code, and in the interpolation of strings and heredocs.

use super::lexer::{Language, is_keyword, lex_text};
use super::token::{Bracket, Code, Kind, StringSegment};
use crate::text::TextRange;

/// A place that names a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableUse {
    /// The variable's name, without `$` and without a leading `::`.
    pub name: String,
    /// The bytes of the name as written, without `$`.
    pub range: TextRange,
    /// Whether the name stands between the bars of a lambda, which declare variables.
    pub in_bars: bool,
}

/// Returns the places of a manifest or template that name variables, in the order of the text;
/// `None` for a text with a string or bracket that is not closed.
///
/// `${name}` in a string is a variable, as are `${name.f}` and `${name['k']}`. Source: Puppet's
/// `Factory#fold`, `TEXT`.
pub fn find_variables(text: &str, language: Language) -> Option<Vec<VariableUse>> {
    let lexed = lex_text(text, 0, language);
    if lexed.unclosed.is_some() || !lexed.code.balanced {
        return None;
    }
    let mut found = Vec::new();
    collect(text, &lexed.code, &mut found);
    found.sort_by_key(|one| one.range.start);
    Some(found)
}

fn collect(text: &str, code: &Code, found: &mut Vec<VariableUse>) {
    let mut in_bars = false;
    for token in &code.tokens {
        match token.kind {
            Kind::Pipe => in_bars = !in_bars,
            Kind::Variable => {
                let range = TextRange::new(token.range.start + 1, token.range.end);
                found.push(new_use(text, range, in_bars));
            }
            Kind::Double(index) | Kind::Heredoc(index) => {
                for segment in code.strings.get(index as usize).into_iter().flatten() {
                    of_segment(text, segment, found);
                }
            }
            _ => {}
        }
    }
}

fn of_segment(text: &str, segment: &StringSegment, found: &mut Vec<VariableUse>) {
    match segment {
        StringSegment::Text(_) => {}
        StringSegment::Variable { range, .. } => found.push(new_use(text, *range, false)),
        StringSegment::Code(code) => {
            let is_operand = code.len() == 1
                || matches!(code.kind_at(1), Some(Kind::Dot | Kind::Open(Bracket::Square)));
            if let Some(first) = code.tokens.first()
                && first.kind == Kind::Name
                && is_operand
                && !is_keyword(&text[first.range.as_usize()])
            {
                found.push(new_use(text, first.range, false));
            }
            collect(text, code, found);
        }
    }
}

fn new_use(text: &str, range: TextRange, in_bars: bool) -> VariableUse {
    let name = &text[range.as_usize()];
    VariableUse { name: name.strip_prefix("::").unwrap_or(name).to_owned(), range, in_bars }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let all = find_variables(text, Language::Manifest).expect("a closed text");
        let shown = |one: &VariableUse| {
            assert!(text[one.range.as_usize()].ends_with(&one.name));
            format!("{}{}", one.name, if one.in_bars { " in bars" } else { "" })
        };
        all.iter().map(shown).collect()
    }

    #[test]
    fn variables_are_found_in_code_and_strings() {
        assert_eq!(names("class a($b = $::c) { notice($a::d) }"), ["b", "c", "a::d"]);
        assert_eq!(
            names("$x = \"$a ${b} ${c.d} ${e['f']} ${g(1)} ${$h + i} ${\"${j}\"}\""),
            ["x", "a", "b", "c", "e", "h", "j"]
        );
        assert_eq!(names("'$a' # $b\n$l.each |$m| { $m }"), ["l", "m in bars", "m"]);
        assert_eq!(names("$t = @(\"E\")\n  $a ${b}\n  | E\n"), ["t", "a", "b"]);
    }

    #[test]
    fn a_text_that_is_not_closed_is_not_known() {
        assert_eq!(find_variables("$a = \"${b", Language::Manifest), None);
    }
}
