//! `URI.new`. Ruby's RFC 3986 parser decides which texts are URIs.

use super::{
    ConversionResult, Failure, Parameters, call_function, conversion_error, integer_type,
    rich_value, string_from, struct_member,
};
use crate::puppet::rich::Rich;
use crate::puppet::ruby::inspect::{dump_text, inspect_text};
use crate::puppet::types::DataType;
use crate::puppet::value::Value;

use DataType as T;

pub(super) fn convert_uri(arguments: &[Value]) -> ConversionResult {
    let parts =
        ["scheme", "userinfo", "host", "port", "path", "query", "fragment", "opaque"].map(|name| {
            struct_member(
                name,
                true,
                if name == "port" { integer_type(0, None) } else { string_from(1) },
            )
        });
    let signatures: [Parameters<'_>; 2] =
        [(&[("uri", string_from(1))], 1), (&[("hash", T::Struct(parts.to_vec()))], 1)];
    call_function("new_error", &signatures, &[], arguments, |form, arguments| {
        if form > 0 {
            return Err(Failure::Unknown); // each scheme's own class puts its parts together
        }
        let text = arguments[0].to_text();
        if !text.is_ascii() {
            return conversion_error(format!("URI must be ascii only {}", dump_text(&text)));
        }
        let lower = text.to_ascii_lowercase();
        if ["mailto:", "file:", "ldap:", "ldaps:", "ftp:", "jar:"]
            .iter()
            .any(|scheme| lower.starts_with(scheme))
        {
            return Err(Failure::Unknown); // these schemes have rules of their own
        }
        match normalize_uri(&text) {
            Ok(text) => Ok(rich_value(Rich::Uri(text), arguments)),
            Err(NoUri::BadEscape(escape)) => {
                conversion_error(format!("invalid percent escape: {escape}"))
            }
            Err(NoUri::BadSyntax) => {
                conversion_error(format!("bad URI(is not URI?): {}", inspect_text(&text)))
            }
        }
    })
}

fn is_made_of(text: &str, also: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let escaped = byte == b'%'
            && bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit())
            && bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit());
        if !(escaped
            || byte.is_ascii_alphanumeric()
            || b"-._~!$&'()*+,;=".contains(&byte)
            || also.as_bytes().contains(&byte))
        {
            return false;
        }
    }
    true
}

/// Returns the text as `to_s` gives it back: the scheme in lower case, the default port left out.
fn normalize_uri(text: &str) -> Result<String, NoUri> {
    let (rest, fragment) =
        text.split_once('#').map_or((text, None), |(rest, fragment)| (rest, Some(fragment)));
    let (rest, query) =
        rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    if fragment.is_some_and(|text| !is_made_of(text, ":@/?")) {
        return Err(NoUri::BadSyntax);
    }
    let scheme = rest.split_once(':').filter(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    let (scheme, hierarchy) =
        scheme.map_or((None, rest), |(scheme, rest)| (Some(scheme.to_ascii_lowercase()), rest));
    let default_port = match scheme.as_deref() {
        Some("http" | "ws") => "80",
        Some("https" | "wss") => "443",
        _ => "",
    };
    let mut out = scheme.as_ref().map_or_else(String::new, |scheme| format!("{scheme}:"));
    let path = match hierarchy.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
            let (user, host) = authority
                .rsplit_once('@')
                .map_or((None, authority), |(user, host)| (Some(user), host));
            let (host, port) = match host.rfind(':').filter(|at| !host[*at..].contains(']')) {
                Some(at) => (&host[..at], Some(&host[at + 1..])),
                None => (host, None),
            };
            let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
            let host_fits = literal
                .map_or(is_made_of(host, ""), |inner| inner.parse::<std::net::Ipv6Addr>().is_ok());
            let port_fits = port.is_none_or(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
            if !host_fits || !port_fits || user.is_some_and(|user| !is_made_of(user, ":")) {
                return Err(NoUri::BadSyntax);
            }
            out.push_str("//");
            if let Some(user) = user {
                out.push_str(user);
                out.push('@');
            }
            out.push_str(host);
            if let Some(port) = port.filter(|port| !port.is_empty() && *port != default_port) {
                out.push(':');
                out.push_str(port.trim_start_matches('0'));
            }
            path
        }
        None => hierarchy,
    };
    let relative = scheme.is_none() && !hierarchy.starts_with("//");
    if !is_made_of(path, ":@/")
        || relative && path.split('/').next().is_some_and(|first| first.contains(':'))
    {
        return Err(NoUri::BadSyntax);
    }
    out.push_str(path);
    if let Some(query) = query {
        // A scheme with a path that does not begin with a slash makes the URI opaque.
        let is_opaque = scheme.is_some() && !hierarchy.starts_with('/') && !hierarchy.is_empty();
        out.push('?');
        out.push_str(&if is_opaque { query.to_owned() } else { escape_query(query)? });
    }
    if let Some(fragment) = fragment {
        out.push('#');
        out.push_str(fragment);
    }
    Ok(out)
}

/// Why a text is no URI.
enum NoUri {
    BadSyntax,
    /// The query has this percent sign with two characters, neither a hexadecimal digit.
    BadEscape(String),
}

/// Returns a query as `URI::Generic#query=` stores a query. Errors: the first bad escape.
fn escape_query(query: &str) -> Result<String, NoUri> {
    let chars: Vec<char> = query.chars().filter(|c| !matches!(c, '\t' | '\r' | '\n')).collect();
    let bad = chars.windows(3).find(|three| {
        three[0] == '%' && !three[1].is_ascii_hexdigit() && !three[2].is_ascii_hexdigit()
    });
    if let Some(bad) = bad {
        return Err(NoUri::BadEscape(bad.iter().collect()));
    }
    let mut out = String::with_capacity(query.len());
    for c in chars {
        match c {
            '!' | '$'..='&' | '('..=';' | '=' | '?'..='_' | 'a'..='~' => out.push(c),
            c => out.push_str(&format!("%{:02X}", u32::from(c))),
        }
    }
    Ok(out)
}
