//! Splits a pattern of Ruby into pieces that checks and rewrites leave whole.

/// A piece of a pattern, with the options that hold at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'p> {
    pub(super) kind: PieceKind,
    pub(super) text: &'p str,
    /// Whether `(?i)` holds here.
    pub(super) folds_case: bool,
    /// Whether the piece is in a look-behind.
    pub(super) is_behind: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// Any other character, `.` and `|` among them.
    Char,
    /// An escape with its name or digits: `\d`, `\p{^L}`, `\k<name>`.
    Escape,
    /// `^` or `$`, or an escape that matches a place, such as `\b`.
    Anchor,
    /// A bracket expression with nested expressions.
    Brackets,
    /// The opening of a group, without the content of the group: `(`, `(?:`, `(?<name>`, `(?i-m:`.
    Open,
    /// The opening of a look-ahead.
    OpenAhead,
    /// The opening of a look-behind.
    OpenBehind,
    Close,
    /// `*`, `+`, `?` or a count in braces, and a `?` or `+` that follows one of the four.
    Quantifier,
    /// Options that hold up to the end of the group: `(?i)`.
    Options,
    /// A comment, or a blank where `(?x)` holds.
    Blank,
}

/// The options in force at a place of a pattern, and whether the place is in a look-behind.
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

/// Splits a pattern. The concatenated texts of the pieces equal the pattern.
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
        let is_behind = modes.is_behind;
        match kind {
            PieceKind::Open | PieceKind::OpenAhead | PieceKind::OpenBehind => {
                outer.push(modes);
                modes.switch(option_letters(text, ':').unwrap_or_default());
                modes.is_behind |= kind == PieceKind::OpenBehind;
            }
            PieceKind::Close => modes = outer.pop().unwrap_or(modes),
            PieceKind::Options => modes.switch(option_letters(text, ')').unwrap_or_default()),
            _ => {}
        }
        pieces.push(Piece { kind, text, folds_case: modes.folds_case, is_behind });
        rest = after;
    }
    pieces
}

/// Returns the letters of `(?` letters `end`; `None` where the text is something else.
fn option_letters(text: &str, end: char) -> Option<&str> {
    let letters = text.strip_prefix("(?")?.strip_suffix(end)?;
    letters.chars().all(|c| OPTION_LETTERS.contains(&c)).then_some(letters)
}

/// The letters of options, and the dash before those that are switched off.
const OPTION_LETTERS: [char; 7] = ['i', 'm', 'x', 'a', 'd', 'u', '-'];

/// Returns the length of the comment `(?#…)` at the start of `text`. A backslash hides the character
/// behind it.
fn comment_len(text: &str) -> usize {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            ')' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the kind and the length of the escape that `text` begins with.
fn escape(text: &str) -> (PieceKind, usize) {
    let Some(c) = text[1..].chars().next() else { return (PieceKind::Char, 1) };
    let len = 1 + c.len_utf8();
    if c.is_ascii_digit() {
        let behind = text[len..].bytes().take_while(u8::is_ascii_digit).count();
        return (PieceKind::Escape, len + behind);
    }
    let control = match c {
        'c' => Some(1),
        'C' | 'M' if text[len..].starts_with('-') => Some(2),
        _ => None,
    };
    if let Some(count) = control {
        let behind: usize = text[len..].chars().take(count).map(char::len_utf8).sum();
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
        'A' | 'z' | 'Z' | 'b' | 'B' | 'G' | 'K' => PieceKind::Anchor,
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
        Some('#') => (PieceKind::Blank, comment_len(text)),
        Some('>' | '~') => (PieceKind::Open, 3),
        Some('<') => (PieceKind::Open, len_through(text, '>')),
        Some('\'') => match rest[1..].find('\'') {
            Some(at) => (PieceKind::Open, at + 4),
            None => (PieceKind::Open, text.len()),
        },
        _ => {
            let end = rest.trim_start_matches(OPTION_LETTERS);
            let len = text.len() - end.len() + 1;
            match end.chars().next() {
                Some(')') => (PieceKind::Options, len),
                Some(':') => (PieceKind::Open, len),
                _ => (PieceKind::Open, 2),
            }
        }
    }
}

/// Returns the length of the text up to the first `end` inclusive; the whole length without an `end`.
fn len_through(text: &str, end: char) -> usize {
    text.find(end).map_or(text.len(), |at| at + 1)
}

/// Returns the length of the count in braces that `text` begins with; `None` where the brace is a
/// letter.
fn count_len(text: &str) -> Option<usize> {
    let counts = text[1..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
    let len = text.len() - counts.len() + 1;
    let inner = &text[1..len - 1];
    let is_count = inner.matches(',').count() < 2 && inner.contains(|c: char| c.is_ascii_digit());
    (is_count && counts.starts_with('}')).then_some(len)
}

/// Returns the length of the bracket expression at the start of `text`, nested expressions included.
fn brackets_len(text: &str) -> usize {
    let mut depth = 0;
    // Whether a `]` is a member here, because `[` or `[^` is directly before the `]`.
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
            '^' => is_start = was_start && text[..at].ends_with('['),
            ']' if was_start => {}
            ']' if depth == 1 => return at + 1,
            ']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}
