//! The ends of Ruby's blocks and brackets.

use super::tokens::Token;

/// Returns the token at `at`, or the one behind a round bracket there.
pub(in crate::manifest) fn after_bracket(tokens: &[Token], at: usize) -> Option<&Token> {
    match tokens.get(at)? {
        Token::Mark('(') => tokens.get(at + 1),
        token => Some(token),
    }
}

/// Returns the tokens of the `do` block of the call whose arguments begin at `at`.
pub(in crate::manifest) fn block_of(tokens: &[Token], at: usize) -> Option<std::ops::Range<usize>> {
    let start = (at..tokens.len()).find(|number| is_block_start(*number, tokens))?;
    if !tokens[start].is_word("do") {
        return None;
    }
    Some(start + 1..end_of(tokens, start)?)
}

fn is_block_start(number: usize, tokens: &[Token]) -> bool {
    tokens[number].is_word("do")
        || (tokens[number] == Token::Line
            && !matches!(tokens.get(number - 1), Some(Token::Mark(','))))
}

/// Returns the index of the token that closes the block or bracket that the token at `open` opens.
pub(in crate::manifest) fn end_of(tokens: &[Token], open: usize) -> Option<usize> {
    let mut closers: Vec<Token> = Vec::new();
    // The first line of a loop may have a `do` of its own, which the loop's `end` closes as well.
    let mut in_loop_head = false;
    for at in open..tokens.len() {
        let token = &tokens[at];
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let is_method = before == Some(&Token::Mark('.'));
        let starts = before.is_none_or(|it| matches!(it, Token::Line | Token::Mark(';' | '=')));
        match token {
            Token::Line => in_loop_head = false,
            Token::Mark('(') => closers.push(Token::Mark(')')),
            Token::Mark('[') => closers.push(Token::Mark(']')),
            Token::Mark('{') => closers.push(Token::Mark('}')),
            Token::Word(word) if !is_method => match word.as_str() {
                "do" if std::mem::take(&mut in_loop_head) => {}
                "do" | "begin" | "case" | "def" | "class" | "module" => {
                    closers.push(Token::Word("end".into()));
                }
                "if" | "unless" if starts => closers.push(Token::Word("end".into())),
                "while" | "until" | "for" if starts => {
                    in_loop_head = true;
                    closers.push(Token::Word("end".into()));
                }
                _ => {}
            },
            _ => {}
        }
        let is_closer =
            matches!(token, Token::Mark(')' | ']' | '}')) || (token.is_word("end") && !is_method);
        if is_closer {
            if closers.pop().as_ref() != Some(token) {
                return None;
            }
            if closers.is_empty() {
                return Some(at);
            }
        }
    }
    None
}
