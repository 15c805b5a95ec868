//! The meaning of plain scalars and tags: the rules of Psych 4.0.3's scanner, which Puppet reads
//! YAML with.
//!
//! Quoted and block scalars without a tag are strings; ask nothing here for them.

use super::tree::NodeKind;

/// The meaning of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer of 64 bits.
    Integer(i64),
    /// A greater integer, in decimal digits with a `-` if negative.
    BigInteger(String),
    /// A float; may be infinite or not a number.
    Float(f64),
    /// A symbol, without its colon. A string when it is a key of a mapping, an error as a value.
    Symbol(String),
    /// The text itself.
    String,
    /// A date: Puppet refuses the whole file.
    Date,
    /// A timestamp: Puppet refuses the whole file.
    Time,
    /// A number that Ruby cannot convert: Puppet refuses the whole file. Ruby's words for it.
    BadNumber(String),
}

/// Resolves a plain scalar without a tag. `text` is decoded.
///
/// Source: Psych 4.0.3, `ScalarScanner#tokenize`; the order of the tests is its order.
pub fn resolve_plain(text: &str) -> Resolved {
    if text.is_empty() {
        return Resolved::Null;
    }
    if is_wordy(text) {
        return resolve_word(text);
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        if is_time(text.as_bytes()) {
            return Resolved::Time;
        }
        if is_date(text.as_bytes()) {
            return Resolved::Date;
        }
    }
    match text.strip_prefix(':') {
        Some(name) if !name.is_empty() => Resolved::Symbol(symbol_name(name).to_owned()),
        _ => resolve_number(text),
    }
}

/// Text that cannot be a number, date or symbol, for its first two characters or a line break.
fn is_wordy(text: &str) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    may_start_word(first)
        || !matches!(first, '0'..='9' | '.' | ':' | '-') && chars.next().is_some_and(may_start_word)
        || text.contains('\n')
}

fn may_start_word(c: char) -> bool {
    c.is_alphabetic()
        || matches!(c, '_' | '\t'..='\r' | ' ' | '!'..='&' | '(' | ')' | '*' | '/' | ';'..='>' | '@' | '\\' | '^' | '{'..='~')
            && c != '"'
}

fn resolve_word(text: &str) -> Resolved {
    if text.len() > 20 || text.chars().count() > 5 {
        return Resolved::String;
    }
    // Ruby ignores case as Unicode folds it: a long s counts as an s, and the ligature `ﬀ` counts
    // as two letters.
    let folded = if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.to_lowercase().replace('ſ', "s").replace('ﬀ', "ff")
    };
    // Ruby's patterns look at each line by itself; an empty line begins with its own break.
    let mut rest = Some(text);
    while let Some(lines) = rest {
        if !lines.is_empty()
            && !lines.starts_with(|c: char| {
                matches!(c.to_ascii_lowercase(), 'y' | 't' | 'o' | 'n' | 'f' | '~')
            })
        {
            return Resolved::String;
        }
        rest = lines.split_once('\n').map(|(_, rest)| rest);
    }
    let any = |words: &[&str]| folded.split('\n').any(|line| words.contains(&line));
    match () {
        () if text == "~" || any(&["null"]) => Resolved::Null,
        () if any(&["yes", "true", "on"]) => Resolved::Bool(true),
        () if any(&["no", "false", "off"]) => Resolved::Bool(false),
        () => Resolved::String,
    }
}

/// Returns a symbol's name: the text in quotes if it begins with a quote that is closed, without a
/// further colon.
fn symbol_name(name: &str) -> &str {
    let Some(quote @ ('"' | '\'')) = name.chars().next() else { return name };
    match name.rfind(quote) {
        Some(end) if end > 0 => {
            let inner = &name[1..end];
            inner.strip_prefix(':').unwrap_or(inner)
        }
        _ => name,
    }
}

/// Returns the bytes of `text` behind a beginning of `min` to `max` digits, as many as possible.
fn split_digits(text: &[u8], min: usize, max: usize) -> Option<&[u8]> {
    let count = text.iter().take(max).take_while(|byte| byte.is_ascii_digit()).count();
    (count >= min).then(|| &text[count..])
}

fn is_time(text: &[u8]) -> bool {
    time_rest(text).is_some()
}

/// `-?dddd-d{1,2}-d{1,2}`, `T` or white space, `d{1,2}:dd:dd`, a fraction, a zone.
fn time_rest(text: &[u8]) -> Option<()> {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let text = split_digits(text, 4, 4)?.strip_prefix(b"-")?;
    let text = split_digits(text, 1, 2)?.strip_prefix(b"-")?;
    let text = split_digits(text, 1, 2)?;
    let text = match text.first()? {
        b'T' | b't' => &text[1..],
        byte if is_space(*byte) => trim_space(text),
        _ => return None,
    };
    let text = split_digits(text, 1, 2)?.strip_prefix(b":")?;
    let text = split_digits(text, 2, 2)?.strip_prefix(b":")?;
    let mut text = split_digits(text, 2, 2)?;
    if let Some(fraction) = text.strip_prefix(b".") {
        text = split_digits(fraction, 0, usize::MAX)?;
    }
    if text.is_empty() {
        return Some(());
    }
    let zone = trim_space(text);
    match zone.first()? {
        b'Z' => (zone.len() == 1).then_some(()),
        b'+' | b'-' => is_zone(&zone[1..]).then_some(()),
        _ => None,
    }
}

/// One or two digits, a colon or not, two digits or none.
fn is_zone(text: &[u8]) -> bool {
    (1..=2).any(|hours| {
        let Some((hours, rest)) = text.split_at_checked(hours) else { return false };
        let rest = rest.strip_prefix(b":").unwrap_or(rest);
        hours.iter().all(u8::is_ascii_digit)
            && matches!(rest.len(), 0 | 2)
            && rest.iter().all(u8::is_ascii_digit)
    })
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Returns the text without the white space at its start, vertical tabs included.
fn trim_space(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|byte| is_space(**byte)).count();
    &text[count..]
}

/// `dddd-mm-dd` with a month up to 12 and a day up to 31, each of one or two digits.
fn is_date(text: &[u8]) -> bool {
    let Some(rest) = split_digits(text, 4, 4).and_then(|rest| rest.strip_prefix(b"-")) else {
        return false;
    };
    let Some(dash) = rest.iter().position(|byte| *byte == b'-') else { return false };
    is_in_range(&rest[..dash], 12) && is_in_range(&rest[dash + 1..], 31)
}

fn is_in_range(text: &[u8], greatest: u8) -> bool {
    match text {
        [digit] => digit.is_ascii_digit(),
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => (tens - b'0') * 10 + (ones - b'0') <= greatest,
        _ => false,
    }
}

fn resolve_number(text: &str) -> Resolved {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let negative = text.starts_with('-');
    if unsigned.eq_ignore_ascii_case(".inf") {
        return Resolved::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    if text.eq_ignore_ascii_case(".nan") {
        return Resolved::Float(f64::NAN);
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Resolved::String;
    }
    if let Some(sexagesimal) = resolve_sexagesimal(text, unsigned, negative) {
        return sexagesimal;
    }
    if is_float(unsigned) {
        return resolve_float(text, unsigned);
    }
    if is_integer(unsigned) { resolve_integer(text, unsigned, negative) } else { Resolved::String }
}

/// Reads `1:30`, `1:30:15` and `1:30.5`: hours, minutes and seconds, as seconds.
fn resolve_sexagesimal(text: &str, unsigned: &str, negative: bool) -> Option<Resolved> {
    let parts: Vec<&str> = unsigned.split(':').take(4).collect();
    let (first, rest) = parts.split_first()?;
    if !matches!(rest.len(), 1 | 2)
        || !first.starts_with(|c: char| c.is_ascii_digit())
        || !first.bytes().all(is_digit_or_underscore)
    {
        return None;
    }
    let (last, middle) = rest.split_last()?;
    let (last_whole, fraction) = match last.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (*last, None),
    };
    if !middle.iter().all(|part| is_below_sixty(part)) || !is_below_sixty(last_whole) {
        return None;
    }
    let weights = [3600.0, 60.0, 1.0];
    if let Some(fraction) = fraction {
        if !fraction.bytes().all(is_digit_or_underscore) {
            return None;
        }
        let sum =
            text.split(':').zip(weights).fold(0.0, |sum, (part, weight)| sum + to_f(part) * weight);
        return Some(Resolved::Float(sum));
    }
    let minutes: i64 = rest
        .iter()
        .zip([60, 1])
        .map(|(part, weight)| part.parse::<i64>().unwrap_or(0) * weight)
        .sum();
    let mut hours = Big::from_digits(leading_digits(first).bytes(), 10);
    hours.multiply_add(3600, 0);
    Some(hours.signed_plus(negative, minutes))
}

fn is_below_sixty(part: &str) -> bool {
    matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9'])
}

fn is_digit_or_underscore(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'_'
}

/// Returns the digits that Ruby's `to_i` and `to_f` read: with single underscores between them, and
/// nothing behind a double one.
fn leading_digits(text: &str) -> String {
    let mut found = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '0'..='9' => found.push(c),
            '_' if !found.is_empty() && chars.peek().is_some_and(char::is_ascii_digit) => {}
            _ => break,
        }
    }
    found
}

/// Ruby's `String#to_f` of digits, underscores, a sign and a point.
fn to_f(text: &str) -> f64 {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let whole = leading_digits(unsigned);
    let clean = whole.len()
        == unsigned
            .find('.')
            .map_or(unsigned, |dot| &unsigned[..dot])
            .bytes()
            .filter(|byte| *byte != b'_')
            .count();
    let fraction = match unsigned.split_once('.') {
        Some((before, fraction)) if clean && !before.ends_with('_') => leading_digits(fraction),
        _ => String::new(),
    };
    let value: f64 = format!("{whole}.{fraction}0").parse().unwrap_or(0.0);
    if text.starts_with('-') { -value } else { value }
}

/// Digits with `_` and `,`, a point, digits, and an exponent that must have a sign.
fn is_float(unsigned: &str) -> bool {
    let Some((whole, fraction)) = unsigned.split_once('.') else { return false };
    let whole = whole.as_bytes();
    let whole_ok = whole.is_empty()
        || whole[0].is_ascii_digit()
            && whole.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'_' | b','));
    let (digits, exponent) = match fraction.find(['e', 'E']) {
        Some(at) => (&fraction[..at], Some(&fraction[at + 1..])),
        None => (fraction, None),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        exponent
            .strip_prefix(['+', '-'])
            .is_some_and(|digits| !digits.is_empty() && all_digits(digits))
    });
    whole_ok && all_digits(digits) && exponent_ok
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn resolve_float(text: &str, unsigned: &str) -> Resolved {
    if unsigned == "." {
        return Resolved::String;
    }
    let mut clean: String = text.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    let point = clean.find('.').expect("a float has a point");
    if clean[point + 1..].is_empty() || clean[point + 1..].starts_with(['e', 'E']) {
        clean.remove(point);
    }
    let digits = clean.trim_start_matches(['+', '-']);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Resolved::BadNumber(format!("invalid value for Float(): {clean:?}"));
    }
    clean.parse().map_or(Resolved::String, Resolved::Float)
}

fn is_integer(unsigned: &str) -> bool {
    if let Some(digits) = unsigned.strip_prefix("0b") {
        return has_base(digits, |byte| matches!(byte, b'0' | b'1'));
    }
    if let Some(digits) = unsigned.strip_prefix("0x") {
        return has_base(digits, |byte| byte.is_ascii_hexdigit());
    }
    if let Some(digits) = unsigned.strip_prefix('0') {
        return digits.is_empty() || has_base(digits, |byte| matches!(byte, b'0'..=b'7'));
    }
    // Each digit behind the first may have one separator before it.
    let bytes = unsigned.as_bytes();
    bytes[0].is_ascii_digit()
        && bytes[bytes.len() - 1].is_ascii_digit()
        && bytes.windows(2).all(|pair| pair.iter().any(u8::is_ascii_digit))
        && bytes.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'_' | b','))
}

fn has_base(digits: &str, ok: fn(u8) -> bool) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| ok(byte) || matches!(byte, b'_' | b','))
}

fn resolve_integer(text: &str, unsigned: &str, negative: bool) -> Resolved {
    let (base, digits) = match unsigned.as_bytes() {
        [b'0', b'b', ..] => (2, &unsigned[2..]),
        [b'0', b'x', ..] => (16, &unsigned[2..]),
        [b'0', _, ..] => (8, &unsigned[1..]),
        _ => (10, unsigned),
    };
    let digits = || digits.bytes().filter(|byte| !matches!(byte, b'_' | b','));
    if digits().next().is_none() && base != 8 {
        let clean: String = text.chars().filter(|c| !matches!(c, '_' | ',')).collect();
        return Resolved::BadNumber(format!("invalid value for Integer(): {clean:?}"));
    }
    if base == 10 {
        let clean: String = digits().map(char::from).collect();
        return parse_decimal(&if negative { format!("-{clean}") } else { clean });
    }
    Big::from_digits(digits(), base).signed_plus(negative, 0)
}

/// Returns an integer of decimal digits, with a `-` or without, of any length.
pub(super) fn parse_decimal(text: &str) -> Resolved {
    if let Ok(value) = text.parse() {
        return Resolved::Integer(value);
    }
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    match digits.trim_start_matches('0') {
        "" => Resolved::Integer(0),
        digits => (sign.to_owned() + digits)
            .parse()
            .map_or_else(|_| Resolved::BigInteger(sign.to_owned() + digits), Resolved::Integer),
    }
}

/// A natural number of any size, in groups of nine decimal digits, the lowest first.
struct Big(Vec<u32>);

const GROUP: u64 = 1_000_000_000;

impl Big {
    fn from_digits(digits: impl Iterator<Item = u8>, base: u32) -> Big {
        let mut value = Big(vec![0]);
        for digit in digits {
            value.multiply_add(base, (digit as char).to_digit(base).unwrap_or(0));
        }
        value
    }

    fn multiply_add(&mut self, factor: u32, add: u32) {
        let mut carry = u64::from(add);
        for group in &mut self.0 {
            let value = u64::from(*group) * u64::from(factor) + carry;
            *group = (value % GROUP) as u32;
            carry = value / GROUP;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Returns the number, negated if `negative`, plus `add`.
    fn signed_plus(&self, negative: bool, add: i64) -> Resolved {
        if self.0.len() <= 3 {
            let value = self
                .0
                .iter()
                .rev()
                .fold(0i128, |value, group| value * i128::from(GROUP) + i128::from(*group));
            let value = if negative { -value } else { value } + i128::from(add);
            return i64::try_from(value)
                .map_or_else(|_| Resolved::BigInteger(value.to_string()), Resolved::Integer);
        }
        // Here the number is far greater than `add`, which is at most a few thousand and not
        // negative.
        let mut groups: Vec<i64> = self.0.iter().map(|group| i64::from(*group)).collect();
        groups[0] += if negative { -add } else { add };
        for at in 0..groups.len() - 1 {
            groups[at + 1] += groups[at].div_euclid(GROUP as i64);
            groups[at] = groups[at].rem_euclid(GROUP as i64);
        }
        let mut text = String::from(if negative { "-" } else { "" });
        for (at, group) in groups.iter().rev().enumerate() {
            text.push_str(&if at == 0 { group.to_string() } else { format!("{group:09}") });
        }
        Resolved::BigInteger(text)
    }
}

/// The meaning of a tag for its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagMeaning {
    /// The tag has no meaning: [`resolve_plain`] resolves a scalar, **quoted or not**; a collection
    /// keeps its type.
    NormalRules,
    /// A scalar is its text. A mapping, which is unusual here, is the value of its key `str`.
    Text,
    /// The text is base64; the value is the decoded bytes.
    Binary,
    /// `Float()` of the result of [`resolve_plain`]; a file that has anything else is refused.
    Float,
    /// A symbol with this text.
    Symbol,
    /// A list of one-entry hashes that becomes one hash.
    OrderedHash,
    /// Puppet refuses the file: `Tried to load unspecified class: …`.
    Refused {
        /// The class that the message names.
        class: String,
    },
    /// Puppet refuses the file, and its message names the class in the scalar's text.
    RefusedByText,
}

/// Returns the meaning of the full tag (as in [`Property::name`](super::tree::Property::name)) on a
/// node of this kind.
///
/// Source: Psych 4.0.3, `Visitors::ToRuby`, with the class loader of Puppet, which permits `Symbol`
/// only.
pub fn tag_meaning(tag: &str, kind: &NodeKind) -> TagMeaning {
    match kind {
        NodeKind::Scalar { .. } => scalar_tag(tag),
        NodeKind::Sequence { .. } => sequence_tag(tag),
        NodeKind::Mapping { .. } => mapping_tag(tag),
        NodeKind::Alias { .. } => TagMeaning::NormalRules,
    }
}

fn refused_class(class: &str) -> TagMeaning {
    TagMeaning::Refused { class: class.to_owned() }
}

/// Returns the class behind `prefix` and an optional colon, or `default` where the tag names none.
fn class_of(tag: &str, prefix: &str, default: &str) -> Option<TagMeaning> {
    let name = tag.strip_prefix(prefix)?;
    let name = name.strip_prefix(':').unwrap_or(name);
    Some(refused_class(if name.is_empty() { default } else { name }))
}

/// Reads `!str`, `!ruby/string` and their forms with a class.
fn text_tag(tag: &str) -> Option<TagMeaning> {
    if tag == "tag:yaml.org,2002:str" {
        return Some(TagMeaning::Text);
    }
    let rest = tag.strip_prefix("!str").or_else(|| tag.strip_prefix("!ruby/string"))?;
    match rest.strip_prefix(':') {
        Some(class) if !class.is_empty() => Some(refused_class(class)),
        Some(_) => Some(TagMeaning::Text),
        None => rest.is_empty().then_some(TagMeaning::Text),
    }
}

fn scalar_tag(tag: &str) -> TagMeaning {
    match tag {
        "!binary" | "tag:yaml.org,2002:binary" => TagMeaning::Binary,
        "!float" | "tag:yaml.org,2002:float" => TagMeaning::Float,
        "!ruby/object:BigDecimal" => refused_class("BigDecimal"),
        "!ruby/object:DateTime" => refused_class("DateTime"),
        "!ruby/object:Complex" => refused_class("Complex"),
        "!ruby/object:Rational" => refused_class("Rational"),
        "!ruby/class" | "!ruby/module" => TagMeaning::RefusedByText,
        "!ruby/regexp" => refused_class("Regexp"),
        "!ruby/range" => refused_class("Range"),
        "!ruby/encoding" => refused_class("Encoding"),
        _ if tag.starts_with("!ruby/sym") => TagMeaning::Symbol,
        _ => text_tag(tag).unwrap_or(TagMeaning::NormalRules),
    }
}

fn sequence_tag(tag: &str) -> TagMeaning {
    match tag {
        "!omap" | "tag:yaml.org,2002:omap" => TagMeaning::OrderedHash,
        _ => match tag.strip_prefix("!seq:").or_else(|| tag.strip_prefix("!ruby/array:")) {
            Some(class) => refused_class(class),
            None => TagMeaning::NormalRules,
        },
    }
}

fn mapping_tag(tag: &str) -> TagMeaning {
    match tag {
        "!ruby/object:Hash" | "!ruby/objectHash" => return TagMeaning::NormalRules,
        "!ruby/range" => return refused_class("Range"),
        "!set" | "tag:yaml.org,2002:set" => return refused_class("Psych::Set"),
        "!omap" | "tag:yaml.org,2002:omap" => return refused_class("Psych::Omap"),
        _ => {}
    }
    let named = ["!ruby/array:", "!map:", "!ruby/hash:", "!ruby/marshalable:"];
    if let Some(class) = named.iter().find_map(|prefix| tag.strip_prefix(prefix)) {
        return refused_class(class);
    }
    class_of(tag, "!ruby/struct", "Struct")
        .or_else(|| class_of(tag, "!ruby/object", "Object"))
        .or_else(|| class_of(tag, "!ruby/exception", "Exception"))
        .or_else(|| text_tag(tag))
        .unwrap_or(TagMeaning::NormalRules)
}

#[cfg(test)]
mod tests;
