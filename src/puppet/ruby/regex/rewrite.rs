//! Patterns that Ruby and Oniguruma read differently, in a form that means the same to both.

/// Returns the pattern with each class escape (`\d`, `\s`, `\w`, and their complements) written as a
/// bracket expression of ASCII: in Ruby these escapes match ASCII only, and in Oniguruma all of
/// Unicode. `\b`, `[[:alpha:]]` and `\p{…}` match Unicode in both. `None` where there is no such
/// escape.
pub(super) fn restrict_classes_to_ascii(pattern: &str) -> Option<String> {
    let mut changed = false;
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let escaped = chars.next();
        let class = match escaped {
            Some('d') => "[0-9]",
            Some('D') => "[^0-9]",
            Some('s') => r"[ \t\r\n\f\v]",
            Some('S') => r"[^ \t\r\n\f\v]",
            Some('w') => "[a-zA-Z0-9_]",
            Some('W') => "[^a-zA-Z0-9_]",
            _ => {
                out.push(c);
                out.extend(escaped);
                continue;
            }
        };
        out.push_str(class);
        changed = true;
    }
    changed.then_some(out)
}

/// Returns the pattern with each anchor, look-around included, that a quantifier follows put into
/// an atomic group: `^*` is `(?>^)*`. An anchor has nothing to step back to, so the group changes
/// nothing. `None` where there is none.
pub(super) fn group_anchors(pattern: &str) -> Option<String> {
    let pieces = split_pieces(pattern);
    let mut out = String::new();
    // Each element tells where in `out` an open group began, whether the group looks around, and
    // whether the group has so far held nothing but anchors. In either case the group is an anchor.
    let mut open: Vec<(usize, bool, bool)> = Vec::new();
    let mut changed = false;
    for (n, piece) in pieces.iter().enumerate() {
        let start = out.len();
        out.push_str(piece);
        let anchor = match *piece {
            "^" | "$" | "\\A" | "\\z" | "\\Z" | "\\b" | "\\B" | "\\G" => Some(start),
            piece if piece.starts_with('(') => {
                open.push((start, LOOK_AROUND.contains(&piece), piece == "(?:"));
                continue;
            }
            ")" => open.pop().and_then(|(start, looks_around, only_anchors)| {
                (looks_around || only_anchors).then_some(start)
            }),
            _ => None,
        };
        if let (Some((_, _, only_anchors)), None) = (open.last_mut(), anchor) {
            *only_anchors &= is_quantifier(piece);
        }
        let quantified = pieces.get(n + 1).is_some_and(|next| is_quantifier(next));
        if let (Some(start), true) = (anchor, quantified) {
            out.insert_str(start, "(?>");
            out.push(')');
            changed = true;
        }
    }
    changed.then_some(out)
}

/// Whether a pattern has a count whose upper end is below its lower one: Oniguruma swaps them, Ruby
/// refuses the pattern.
pub(super) fn has_reversed_count(pattern: &str) -> bool {
    let pieces = split_pieces(pattern);
    let mut in_comment = false;
    pieces.iter().enumerate().any(|(n, piece)| {
        in_comment =
            if in_comment { *piece != ")" } else { pieces[n..].starts_with(&["(", "?", "#"]) };
        let ends = piece.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let ends = ends.filter(|_| !in_comment).and_then(|ends| ends.split_once(','));
        ends.and_then(|(lower, upper)| {
            Some(upper.parse::<u32>().ok()? < lower.parse::<u32>().ok()?)
        })
        .unwrap_or(false)
    })
}

const LOOK_AROUND: [&str; 4] = ["(?<=", "(?<!", "(?=", "(?!"];

fn is_quantifier(piece: &str) -> bool {
    let counts = piece.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    matches!(piece, "*" | "+" | "?")
        || counts.is_some_and(|counts| {
            counts.bytes().any(|byte| byte.is_ascii_digit())
                && counts.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
                && counts.matches(',').count() < 2
        })
}

/// Returns the pattern in pieces: escapes, whole character classes, openings of groups, counts in
/// braces, and single characters.
fn split_pieces(pattern: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let len = match c {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '[' => class_len(rest),
            '(' => LOOK_AROUND
                .into_iter()
                .chain(["(?:"])
                .find(|opening| rest.starts_with(opening))
                .map_or(1, str::len),
            '{' => rest.find('}').map_or(1, |at| at + 1),
            c => c.len_utf8(),
        };
        let (piece, after) = rest.split_at(len);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Returns the length of a character class with those within it.
fn class_len(text: &str) -> usize {
    let mut depth = 0;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '[' => depth += 1,
            ']' if depth == 1 => return at + 1,
            ']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}
