//! The pieces of a pattern of Ruby, which a check or a rewrite never splits.

/// A piece of a pattern, with the options that hold at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'p> {
    pub(super) kind: PieceKind,
    pub(super) text: &'p str,
    /// Whether `(?i)` holds here.
    pub(super) folds_case: bool,
    /// Whether the piece belongs to the text that a look-behind matches: it stands in one, and in no
    /// look-ahead within that one.
    pub(super) is_behind: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// A letter that stands for itself, `.` and `|`.
    Char,
    /// A backslash with what belongs to it: `\d`, `\p{^L}`, `\k<name>`.
    Escape,
    /// `^` or `$`, or an escape that matches a place, such as `\b`.
    Anchor,
    /// A bracket expression with all that is within it.
    Brackets,
    /// The opening of a group up to what the group holds: `(`, `(?:`, `(?<name>`, `(?i-m:`.
    Open,
    /// The opening of a look-ahead.
    OpenAhead,
    /// The opening of a look-behind.
    OpenBehind,
    Close,
    /// `*`, `+`, `?` or a count in braces; the `?` or `+` behind one, too.
    Quantifier,
    /// Options that hold up to the end of the group: `(?i)`.
    Options,
    /// A comment, or a blank where `(?x)` holds.
    Blank,
}

/// What holds at a place of a pattern.
#[derive(Clone, Copy, Default)]
struct Modes {
    folds_case: bool,
    is_extended: bool,
    is_behind: bool,
}

impl Modes {
    /// Switches the options of `letters`, such as `i-x`.
    fn switch(&mut self, letters: &str) {
        let mut is_on = true;
        for letter in letters.chars() {
            match letter {
                '-' => is_on = false,
                'i' => self.folds_case = is_on,
                'x' => self.is_extended = is_on,
                _ => {}
            }
        }
    }
}

/// Splits a pattern. The texts of the pieces, one behind the other, are the pattern.
pub(super) fn split_pieces(pattern: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut modes = Modes::default();
    let mut outer = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let (kind, len) = match c {
            '\\' => escape(rest),
            '[' => (PieceKind::Brackets, brackets_len(rest)),
            '(' => opening(rest),
            ')' => (PieceKind::Close, 1),
            '^' | '$' => (PieceKind::Anchor, 1),
            '*' | '+' | '?' => (PieceKind::Quantifier, 1),
            '{' => count_len(rest).map_or((PieceKind::Char, 1), |len| (PieceKind::Quantifier, len)),
            '#' if modes.is_extended => {
                (PieceKind::Blank, rest.find('\n').map_or(rest.len(), |at| at + 1))
            }
            c if modes.is_extended && c.is_ascii_whitespace() => (PieceKind::Blank, 1),
            c => (PieceKind::Char, c.len_utf8()),
        };
        let (text, after) = rest.split_at(len);
        let before = modes;
        match kind {
            PieceKind::Open | PieceKind::OpenAhead | PieceKind::OpenBehind => {
                outer.push(modes);
                modes.switch(option_letters(text, ':').unwrap_or_default());
                modes.is_behind = match kind {
                    PieceKind::Open => modes.is_behind,
                    kind => kind == PieceKind::OpenBehind,
                };
            }
            PieceKind::Close => modes = outer.pop().unwrap_or(modes),
            PieceKind::Options => modes.switch(option_letters(text, ')').unwrap_or_default()),
            _ => {}
        }
        let (folds_case, is_behind) = (modes.folds_case, before.is_behind);
        pieces.push(Piece { kind, text, folds_case, is_behind });
        rest = after;
    }
    pieces
}

/// Returns the letters of `(?` letters `end`; `None` where the text is something else.
fn option_letters(text: &str, end: char) -> Option<&str> {
    let letters = text.strip_prefix("(?")?.strip_suffix(end)?;
    letters.chars().all(|c| matches!(c, 'i' | 'm' | 'x' | 'a' | 'd' | 'u' | '-')).then_some(letters)
}

/// Returns the kind and the length of the escape that `text` begins with.
fn escape(text: &str) -> (PieceKind, usize) {
    let Some(c) = text[1..].chars().next() else { return (PieceKind::Char, 1) };
    let len = 1 + c.len_utf8();
    if c.is_ascii_digit() {
        let behind = text[len..].bytes().take_while(u8::is_ascii_digit).count();
        return (PieceKind::Escape, len + behind);
    }
    let end = match (c, text[len..].chars().next()) {
        ('p' | 'P' | 'x' | 'u' | 'o', Some('{')) => Some('}'),
        ('k' | 'g', Some('<')) => Some('>'),
        ('k' | 'g', Some('\'')) => Some('\''),
        _ => None,
    };
    let behind = end.and_then(|end| text.get(len + 1..)?.find(end)).map_or(0, |at| at + 2);
    let kind = match c {
        'A' | 'z' | 'Z' | 'b' | 'B' | 'G' => PieceKind::Anchor,
        _ => PieceKind::Escape,
    };
    (kind, len + behind)
}

/// Returns the kind and the length of what the parenthesis at the start of `text` opens.
fn opening(text: &str) -> (PieceKind, usize) {
    const LOOK_AROUND: [(&str, PieceKind); 4] = [
        ("(?<=", PieceKind::OpenBehind),
        ("(?<!", PieceKind::OpenBehind),
        ("(?=", PieceKind::OpenAhead),
        ("(?!", PieceKind::OpenAhead),
    ];
    for (opening, kind) in LOOK_AROUND {
        if text.starts_with(opening) {
            return (kind, opening.len());
        }
    }
    let Some(rest) = text.strip_prefix("(?") else { return (PieceKind::Open, 1) };
    match rest.chars().next() {
        Some('#') => (PieceKind::Blank, len_through(text, ')')),
        Some('>' | '~') => (PieceKind::Open, 3),
        Some('<') => (PieceKind::Open, len_through(text, '>')),
        Some('\'') => match rest[1..].find('\'') {
            Some(at) => (PieceKind::Open, at + 4),
            None => (PieceKind::Open, text.len()),
        },
        _ => match rest.find([':', ')']).map(|at| &text[..at + 3]) {
            Some(text) if option_letters(text, ')').is_some() => (PieceKind::Options, text.len()),
            Some(text) if option_letters(text, ':').is_some() => (PieceKind::Open, text.len()),
            _ => (PieceKind::Open, 2),
        },
    }
}

/// Returns the length of the text up to the first `end` and with it; of all the text where there is
/// none.
fn len_through(text: &str, end: char) -> usize {
    text.find(end).map_or(text.len(), |at| at + 1)
}

/// Returns the length of the count in braces that `text` begins with; `None` where the brace is a
/// letter.
fn count_len(text: &str) -> Option<usize> {
    let len = text.find('}')? + 1;
    let counts = &text[1..len - 1];
    let is_count = counts.bytes().any(|byte| byte.is_ascii_digit())
        && counts.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
        && counts.matches(',').count() < 2;
    is_count.then_some(len)
}

/// Returns the length of a bracket expression with those within it.
fn brackets_len(text: &str) -> usize {
    let mut depth = 0;
    // Whether a `]` is a letter of the expression, because nothing stands before it.
    let mut is_start = false;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let was_start = std::mem::take(&mut is_start);
        match c {
            '\\' => drop(chars.next()),
            '[' => {
                depth += 1;
                is_start = true;
            }
            '^' => is_start = was_start,
            ']' if was_start => {}
            ']' if depth == 1 => return at + 1,
            ']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}
