//! Strings as Puppet's language writes them. Source: `StringConverter#puppet_quote`.

/// In single quotes, or in double ones where control characters need an escape.
pub fn puppet_quote(text: &str) -> String {
    let mut out = String::from("'");
    let mut escaped = false;
    for c in text.chars() {
        match c {
            c if c < ' ' => return double_quote(text),
            c if escaped => {
                out.extend(['\\', c]);
                escaped = false;
            }
            '\'' => out.push_str("\\'"),
            '\\' => escaped = true,
            c => out.push(c),
        }
    }
    if escaped {
        out.push('\\');
    }
    out.push('\'');
    out
}

/// In double quotes.
pub fn double_quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '"' | '\\' | '$' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{{{:X}}}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
