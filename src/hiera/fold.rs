//! Paths with tokens in them, without their `.` and `..`.

use super::pattern::PatternPiece;
use crate::text::FilePath;

/// Joins neighbouring literals, and folds `.` and `..`, as paths of files have none.
pub(super) fn normalize_pieces(pieces: Vec<PatternPiece>) -> Vec<PatternPiece> {
    let mut joined: Vec<PatternPiece> = Vec::new();
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (Some(PatternPiece::Literal(text)), PatternPiece::Literal(more)) => {
                text.push_str(&more)
            }
            (Some(_), PatternPiece::Literal(text)) if text.is_empty() => {}
            (_, piece) => joined.push(piece),
        }
    }
    let mut out: Vec<PatternPiece> = Vec::new();
    for piece in joined {
        match piece {
            PatternPiece::Literal(text) if out.is_empty() => {
                let folder_end = text.rfind('/').map_or(0, |at| at + 1);
                let folder = FilePath::new(&text[..folder_end]);
                let slash = if folder_end > 0 && folder.as_str() != "/" { "/" } else { "" };
                out.push(PatternPiece::Literal(format!("{folder}{slash}{}", &text[folder_end..])));
            }
            PatternPiece::Literal(text) => fold_behind(&mut out, &text),
            piece => out.push(piece),
        }
    }
    out
}

/// Appends a literal that follows a token: its `.` and `..` are folded, and the folder that it
/// climbs out of may be any.
fn fold_behind(out: &mut Vec<PatternPiece>, text: &str) {
    let mut segments = text.split('/');
    let mut names = vec![segments.next().unwrap_or_default()];
    let mut climbs = 0;
    let last = text.matches('/').count();
    for (n, segment) in (1..).zip(segments) {
        match segment {
            ".." if names.len() > 1 => drop(names.pop()),
            ".." => climbs += 1,
            "." => {}
            "" if n < last => {}
            name => names.push(name),
        }
    }
    if climbs == 0 {
        out.push(PatternPiece::Literal(names.join("/")));
        return;
    }
    for _ in 0..climbs {
        if let Some(PatternPiece::Literal(text)) = out.last_mut()
            && text.ends_with('/')
        {
            text.pop();
        }
        while let Some(piece) = out.last_mut() {
            if let PatternPiece::Literal(text) = piece
                && let Some(slash) = text.rfind('/')
            {
                text.truncate(slash + 1);
                break;
            }
            out.pop();
        }
    }
    out.extend([PatternPiece::Any, PatternPiece::Literal(names[1..].join("/"))]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiera::pattern::{Pattern, parse_pieces};

    #[test]
    fn a_path_that_climbs_out_of_a_token_keeps_its_folders() {
        let pieces = normalize_pieces(parse_pieces("d/%{x}/../e/f.yaml", false));
        let pattern = Pattern::new(pieces).expect("a pattern");
        for (path, is_named) in [("d/e/f.yaml", true), ("d/f.yaml", false), ("d/g/f.yaml", false)] {
            assert_eq!(pattern.bind(path).is_some(), is_named, "{path}");
        }
    }
}
