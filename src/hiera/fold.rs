//! Paths with tokens in them, without their `.` and `..`.

use super::pattern::Piece;
use crate::text::FilePath;

/// Joins neighbouring literals, and folds `.` and `..`, as paths of files have none.
pub(super) fn normalised(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (Some(Piece::Literal(text)), Piece::Literal(more)) => text.push_str(&more),
            (Some(_), Piece::Literal(text)) if text.is_empty() => {}
            (_, piece) => joined.push(piece),
        }
    }
    let mut out: Vec<Piece> = Vec::new();
    for piece in joined {
        match piece {
            Piece::Literal(text) if out.is_empty() => {
                let folder_end = text.rfind('/').map_or(0, |at| at + 1);
                let folder = FilePath::new(&text[..folder_end]);
                let slash = if folder_end > 0 && folder.as_str() != "/" { "/" } else { "" };
                out.push(Piece::Literal(format!("{folder}{slash}{}", &text[folder_end..])));
            }
            Piece::Literal(text) => fold_behind(&mut out, &text),
            piece => out.push(piece),
        }
    }
    out
}

/// Appends a literal that follows a token: its `.` and `..` are folded, and the folder that it
/// climbs out of may be any.
fn fold_behind(out: &mut Vec<Piece>, text: &str) {
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
        out.push(Piece::Literal(names.join("/")));
        return;
    }
    for _ in 0..climbs {
        if let Some(Piece::Literal(text)) = out.last_mut()
            && text.ends_with('/')
        {
            text.pop();
        }
        while let Some(piece) = out.last_mut() {
            if let Piece::Literal(text) = piece
                && let Some(slash) = text.rfind('/')
            {
                text.truncate(slash + 1);
                break;
            }
            out.pop();
        }
    }
    out.extend([Piece::Any, Piece::Literal(names[1..].join("/"))]);
}
