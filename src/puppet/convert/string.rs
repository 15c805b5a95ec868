//! `String.new`: values as text, with formats. Source: `StringConverter`, followed case by case.

use super::quote::{double_quote, puppet_quote};
use super::{
    ConversionResult, Failure, Parameters, call_function, local_type, made_of, pattern_type,
    string_from, struct_member,
};
use crate::puppet::rich::{RegexPattern, Rich};
use crate::puppet::ruby::inspect::float_text;
use crate::puppet::ruby::sprintf::Directive;
use crate::puppet::ruby::strings::{capitalize, downcase, is_space, rstrip, strip, upcase};
use crate::puppet::types::DataType;
use crate::puppet::value::{Data, Hash, Value};

use DataType as T;

const FORMAT: &str = "^%([\\s\\[+#0{<(|-]*)([1-9][0-9]*)?(?:\\.([0-9]+))?([a-zA-Z])$";

type TextResult = Result<String, Failure>;

fn text_error(message: impl Into<String>) -> TextResult {
    Err(Failure::Error(message.into()))
}

pub(super) fn convert_string(arguments: &[Value]) -> ConversionResult {
    let format = local_type("Format", pattern_type(FORMAT));
    let container = T::Struct(vec![
        struct_member("format", true, format.clone()),
        struct_member("separator", true, T::STRING),
        struct_member("separator2", true, T::STRING),
        struct_member("string_formats", true, T::hash(T::Type(None), format.clone(), None)),
    ]);
    let map = T::hash(
        T::Type(None),
        T::Variant(vec![format, local_type("ContainerFormat", container)]),
        None,
    );
    let formats = T::Variant(vec![T::Default, string_from(1), local_type("TypeMap", map)]);
    let convertible = local_type("Convertible", T::Any);
    let signature: Parameters<'_> =
        (&[("from", convertible), ("string_formats", local_type("Formats", formats))], 1);
    call_function("new_string", &[signature], &[], arguments, |_, arguments| {
        let formats = match arguments.get(1).map(|format| format.data()) {
            None => Formats::default(),
            Some(Data::String(text)) => Formats::parse_formats(text, &arguments[0])?,
            Some(Data::Symbol(_)) => Formats::default(),
            Some(Data::Hash(hash)) if hash.is_empty() => Formats::default(),
            Some(_) => return Err(Failure::Unknown), // keys that are types cannot come from data
        };
        Ok(Value::new_string(
            &formats.convert(&arguments[0], Indentation { level: 0, first: true, on: false })?,
            made_of(arguments),
        ))
    })
}

/// A format as written.
#[derive(Clone, Debug)]
struct StringFormat {
    directive: Directive,
    delimiters: Option<char>,
    space: bool,
}

impl StringFormat {
    fn new_plain(letter: char) -> StringFormat {
        let directive = Directive { flags: String::new(), width: None, precision: None, letter };
        StringFormat { directive, delimiters: None, space: false }
    }

    fn read(text: &str) -> Result<StringFormat, Failure> {
        let rest = text.strip_prefix('%').ok_or_else(|| invalid_format(text))?;
        let flags_end =
            rest.find(|c: char| !(is_space(c) || "[+#0{<(|-".contains(c))).unwrap_or(rest.len());
        let (flags, rest) = rest.split_at(flags_end);
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (width, rest) = rest.split_at(digits(rest));
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(rest) if digits(rest) > 0 => {
                let (precision, rest) = rest.split_at(digits(rest));
                (Some(precision), rest)
            }
            Some(_) => return Err(invalid_format(text)),
            None => (None, rest),
        };
        let mut letters = rest.chars();
        let letter =
            letters.next().filter(char::is_ascii_alphabetic).ok_or_else(|| invalid_format(text))?;
        if letters.next().is_some() {
            return Err(invalid_format(text));
        }
        let repeated =
            flags.char_indices().any(|(at, flag)| flags[at + flag.len_utf8()..].contains(flag));
        if repeated {
            return Err(Failure::Error(format!(
                "The same flag can only be used once, got '{text}'"
            )));
        }
        let mut delimiters = "[{(<|".chars().filter(|delimiter| flags.contains(*delimiter));
        let delimiter = delimiters.next();
        if delimiters.next().is_some() {
            return Err(Failure::Error(format!(
                "Only one of the delimiters [ {{ ( < | can be given in the format flags, got '{text}'"
            )));
        }
        let directive = Directive {
            flags: flags.to_owned(),
            width: Some(width).filter(|width| !width.is_empty()).map(parse_width),
            precision: precision.map(parse_width),
            letter,
        };
        if directive.is_huge() {
            return Err(Failure::Unknown);
        }
        Ok(StringFormat { directive, delimiters: delimiter, space: flags.contains(' ') })
    }

    fn is_alternative(&self) -> bool {
        self.directive.has_flag('#')
    }

    /// Returns the text with width, precision and side, and no other flag.
    fn align(&self, text: &str) -> String {
        let flags = if self.directive.has_flag('-') { "-".to_owned() } else { String::new() };
        Directive { flags, letter: 's', ..self.directive.clone() }.format_text(text)
    }

    /// Returns the text with all flags, as Ruby's `format` takes them with `%s`.
    fn format_text(&self, text: &str) -> TextResult {
        self.checked_directive().map(|directive| directive.format_text(text))
    }

    fn checked_directive(&self) -> Result<&Directive, Failure> {
        if self.directive.flags.starts_with('\n') {
            return Err(Failure::Unknown); // Ruby prints the percent sign and what follows it.
        }
        self.directive
            .flag_error()
            .map_or(Ok(&self.directive), |message| Err(Failure::Error(message)))
    }

    fn delimiter_pair(
        &self,
        default: (&'static str, &'static str),
    ) -> (&'static str, &'static str) {
        match (self.delimiters, self.space) {
            (Some('['), _) => ("[", "]"),
            (Some('{'), _) => ("{", "}"),
            (Some('('), _) => ("(", ")"),
            (Some('<'), _) => ("<", ">"),
            (Some('|'), _) => ("|", "|"),
            (_, true) => ("", ""),
            _ => default,
        }
    }

    fn refuse_letter(&self, kind: &str, known: &str) -> TextResult {
        text_error(format!(
            "Illegal format '{}' specified for value of {kind} type - expected one of the characters '{known}'",
            self.directive.letter
        ))
    }
}

fn parse_width(text: &str) -> usize {
    text.parse().unwrap_or(usize::MAX)
}

fn invalid_format(text: &str) -> Failure {
    Failure::Error(format!(
        "The format '{text}' is not a valid format on the form '%<flags><width>.<prec><format>'"
    ))
}

/// Where a text within collections stands.
#[derive(Clone, Copy)]
struct Indentation {
    level: usize,
    first: bool,
    on: bool,
}

impl Indentation {
    fn indent_more(self, on: bool) -> Indentation {
        Indentation { level: self.level + 1, first: true, on }
    }

    fn breaks_line(self) -> bool {
        self.on && self.level > 0 && !self.first
    }

    fn padding_text(self) -> String {
        "  ".repeat(self.level)
    }
}

/// The format of the value itself, and those of collections within it.
struct Formats {
    scalar: Option<StringFormat>,
    array: StringFormat,
    hash: StringFormat,
}

impl Default for Formats {
    fn default() -> Formats {
        Formats {
            scalar: None,
            array: StringFormat::new_plain('a'),
            hash: StringFormat::new_plain('h'),
        }
    }
}

impl Formats {
    /// A format for a value: it holds for collections of the same kind within it, too.
    fn parse_formats(text: &str, value: &Value) -> Result<Formats, Failure> {
        let format = StringFormat::read(text)?;
        let mut formats = Formats::default();
        match *value.data() {
            Data::Array(_) => formats.array = format,
            Data::Hash(_) => formats.hash = format,
            // Puppet finds the format by the value's type, and NaN is of no type of numbers.
            Data::Float(number) if number.is_nan() => {}
            _ => formats.scalar = Some(format),
        }
        Ok(formats)
    }

    fn convert(&self, value: &Value, indentation: Indentation) -> TextResult {
        match value.data() {
            Data::Array(items) => self.format_array(items, indentation),
            Data::Hash(hash) => self.hash(hash, indentation),
            data => {
                let default = match data {
                    Data::Float(_) => StringFormat::new_plain('f'),
                    Data::Integer(_) | Data::BigInteger(_) => StringFormat::new_plain('d'),
                    Data::Rich(rich) if matches!(**rich, Rich::Binary(_)) => {
                        StringFormat::new_plain('B')
                    }
                    _ => StringFormat::new_plain('s'),
                };
                format_scalar(data, self.scalar.as_ref().unwrap_or(&default))
            }
        }
    }

    /// Formats a part of a collection: a part that is no collection is written as in Puppet's
    /// language.
    fn format_part(&self, value: &Value, indentation: Indentation) -> TextResult {
        match value.data() {
            Data::Array(_) | Data::Hash(_) => self.convert(value, indentation),
            data => format_scalar(data, &StringFormat::new_plain('p')),
        }
    }

    fn format_array(&self, items: &[Value], indentation: Indentation) -> TextResult {
        let format = &self.array;
        if !matches!(format.directive.letter, 'a' | 's' | 'p') {
            return format.refuse_letter("Array", "asp");
        }
        let (open, close) = format.delimiter_pair(("[", "]"));
        let indentation =
            Indentation { on: format.is_alternative() || indentation.on, ..indentation };
        let mut out = String::new();
        if indentation.breaks_line() {
            out.push('\n');
            out.push_str(&indentation.padding_text());
        }
        out.push_str(open);
        let children = indentation.indent_more(format.is_alternative());
        let is_collection = |value: &Value| matches!(value.data(), Data::Array(_) | Data::Hash(_));
        let mapped: Vec<String> = items
            .iter()
            // `first` is `false` for the first child, too: Puppet advances the indentation before
            // it formats the children.
            .map(|item| self.format_part(item, Indentation { first: false, ..children }))
            .collect::<Result<_, _>>()?;
        let too_wide = match format.directive.width.filter(|_| format.is_alternative()) {
            Some(width) => {
                let mut widest = vec![0];
                for (item, text) in items.iter().zip(&mapped) {
                    match widest.last_mut() {
                        Some(last) if !is_collection(item) => *last += text.chars().count(),
                        _ => widest.push(0),
                    }
                }
                widest.into_iter().max().unwrap_or(0) > width
            }
            None => false,
        };
        for (n, (item, text)) in items.iter().zip(&mapped).enumerate() {
            if n == 0 {
                if too_wide && !is_collection(item) {
                    out.push(' ');
                }
            } else {
                out.push_str(", ");
                let behind_collection =
                    format.is_alternative() && is_collection(&items[n - 1]) && !is_collection(item);
                if too_wide && !is_collection(item) || behind_collection {
                    if !out.ends_with('\n') {
                        out.truncate(rstrip(&out).len());
                    }
                    out.push('\n');
                    out.push_str(&children.padding_text());
                }
            }
            if out.ends_with(' ') && text.starts_with('\n') {
                out.truncate(rstrip(&out).len());
            }
            out.push_str(text);
        }
        out.push_str(close);
        Ok(out)
    }

    fn hash(&self, hash: &Hash, indentation: Indentation) -> TextResult {
        let format = &self.hash;
        match format.directive.letter {
            'a' => {
                return self.format_array(
                    &hash
                        .iter()
                        .map(|(key, member)| {
                            Value::array_of(vec![key.to_value(None), member.value.clone()], None)
                        })
                        .collect::<Vec<_>>(),
                    indentation,
                );
            }
            'h' | 's' | 'p' => {}
            _ => return format.refuse_letter("Hash", "hasp"),
        }
        let (open, close) = format.delimiter_pair(("{", "}"));
        let indentation =
            Indentation { on: format.is_alternative() || indentation.on, ..indentation };
        let mut out = String::new();
        if indentation.breaks_line() {
            out.push('\n');
            out.push_str(&indentation.padding_text());
        }
        let children = indentation.indent_more(false);
        let (separator, line_end, padding) = if format.is_alternative() {
            (",\n", "\n", children.padding_text())
        } else {
            (", ", "", String::new())
        };
        out.push_str(open);
        out.push_str(line_end);
        for (n, (key, member)) in hash.iter().enumerate() {
            out.push_str(if n > 0 { separator } else { "" });
            out.push_str(&padding);
            out.push_str(&self.format_part(&key.to_value(None), children)?);
            out.push_str(" => ");
            out.push_str(&self.format_part(&member.value, children)?);
        }
        if format.is_alternative() {
            out.push_str(line_end);
            out.push_str(&indentation.padding_text());
        }
        out.push_str(close);
        Ok(out)
    }
}

fn format_scalar(data: &Data, format: &StringFormat) -> TextResult {
    match data {
        Data::Null => format_undef(format),
        Data::Bool(truth) => format_boolean(*truth, format),
        Data::Integer(number) => format_integer(i128::from(*number), format),
        Data::BigInteger(digits) => match digits.parse() {
            Ok(number) => format_integer(number, format),
            Err(_) => Err(Failure::Unknown),
        },
        Data::Float(number) => format_float(*number, format),
        Data::String(text) => string_text(text, format),
        Data::Symbol(name) if &**name == "undef" => format_undef(format),
        Data::Symbol(name) if &**name == "default" => {
            match (format.directive.letter, format.is_alternative()) {
                ('d' | 's' | 'p', alt) => {
                    Ok(format.align(if alt { "\"default\"" } else { "default" }))
                }
                ('D', alt) => Ok(format.align(if alt { "\"Default\"" } else { "Default" })),
                _ => format.refuse_letter("Default", "dDsp"),
            }
        }
        Data::Sensitive(_) => match format.directive.letter {
            's' => format.format_text("Sensitive [value redacted]"),
            'p' => format.format_text("#<Sensitive [value redacted]>"),
            _ => Err(Failure::Unknown),
        },
        Data::Rich(rich) => rich_text(rich, format),
        Data::Symbol(_) | Data::Binary(_) | Data::Array(_) | Data::Hash(_) => Err(Failure::Unknown),
    }
}

fn format_undef(format: &StringFormat) -> TextResult {
    let text = match (format.directive.letter, format.is_alternative()) {
        ('n', false) => "nil",
        ('n', true) => "null",
        ('u', false) | ('p', false) => "undef",
        ('u', true) => "undefined",
        ('d' | 'x' | 'X' | 'o' | 'b' | 'B' | 'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A', _) => "NaN",
        ('v', _) => "n/a",
        ('V', _) => "N/A",
        ('s', false) => "",
        ('s', true) => "\"\"",
        ('p', true) => "\"undef\"",
        _ => return format.refuse_letter("Undef", "nudxXobBeEfgGaAvVsp"),
    };
    Ok(format.align(text))
}

fn format_boolean(truth: bool, format: &StringFormat) -> TextResult {
    let words = |yes: &str, no: &str| {
        let word = if truth { yes } else { no };
        Ok(format.align(if format.is_alternative() { &word[..1] } else { word }))
    };
    match format.directive.letter {
        't' => words("true", "false"),
        'T' => words("True", "False"),
        'y' => words("yes", "no"),
        'Y' => words("Yes", "No"),
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => format_integer(i128::from(truth), format),
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => format_float(f64::from(u8::from(truth)), format),
        's' | 'p' => Ok(format.align(if truth { "true" } else { "false" })),
        _ => format.refuse_letter("Boolean", "tTyYdxXobBeEfgGaAsp"),
    }
}

fn format_integer(number: i128, format: &StringFormat) -> TextResult {
    match format.directive.letter {
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => Ok(format.checked_directive()?.format_integer(number)),
        'p' => format.format_text(&number.to_string()),
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => {
            Ok(format.checked_directive()?.format_float(number as f64))
        }
        'c' => match u32::try_from(number).ok().and_then(char::from_u32) {
            Some(c) if format.is_alternative() => format.format_text(&format!("\"{c}\"")),
            Some(c) => format.format_text(&c.to_string()),
            None if number < 0 => text_error("pack(U): value out of range"),
            None => Err(Failure::Unknown),
        },
        's' if format.is_alternative() => format.format_text(&format!("\"{number}\"")),
        's' => format.format_text(&number.to_string()),
        _ => format.refuse_letter("Integer", "dxXobBeEfgGaAspc"),
    }
}

fn format_float(number: f64, format: &StringFormat) -> TextResult {
    match format.directive.letter {
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' if !number.is_finite() => text_error(float_text(number)),
        'd' | 'x' | 'X' | 'o' | 'b' | 'B' => match format!("{:.0}", number.trunc()).parse() {
            Ok(number) => Ok(format.checked_directive()?.format_integer(number)),
            Err(_) => Err(Failure::Unknown),
        },
        'e' | 'E' | 'f' | 'g' | 'G' | 'a' | 'A' => {
            Ok(format.checked_directive()?.format_float(number))
        }
        'p' => format.format_text(&float_text(number)),
        's' if format.is_alternative() => {
            format.format_text(&format!("\"{}\"", float_text(number)))
        }
        's' => format.format_text(&float_text(number)),
        _ => format.refuse_letter("Float", "dxXobBeEfgGaAsp"),
    }
}

fn string_text(text: &str, format: &StringFormat) -> TextResult {
    let changed = match format.directive.letter {
        's' => return format.format_text(text),
        'p' => {
            let quoted =
                if format.is_alternative() { double_quote(text) } else { puppet_quote(text) };
            return Ok(format.align(&quoted));
        }
        'c' => capitalize(text),
        'C' => {
            let mut parts: Vec<&str> = text.split("::").collect();
            while parts.last().is_some_and(|part| part.is_empty()) {
                parts.pop();
            }
            parts.into_iter().map(capitalize).collect::<Vec<_>>().join("::")
        }
        'u' => upcase(text),
        'd' => downcase(text),
        't' => strip(text).to_owned(),
        _ => return format.refuse_letter("String", "cCudspt"),
    };
    if format.is_alternative() {
        Ok(format.align(&puppet_quote(&changed)))
    } else {
        format.format_text(&changed)
    }
}

fn rich_text(rich: &Rich, format: &StringFormat) -> TextResult {
    let plain = format.directive.flags.is_empty()
        && format.directive.width.is_none()
        && format.directive.precision.is_none();
    match (rich, format.directive.letter) {
        (Rich::Regexp(pattern), letter) => format_regexp(pattern, letter, plain, format),
        (Rich::Type(found), 's') => format.format_text(&if format.is_alternative() {
            format!("\"{found}\"")
        } else {
            found.to_string()
        }),
        (Rich::Type(found), 'p') => format.format_text(&found.to_string()),
        (Rich::Type(_), _) => format.refuse_letter("Type", "sp"),
        (Rich::Uri(text), 's') => format.format_text(&if format.is_alternative() {
            puppet_quote(text)
        } else {
            text.clone()
        }),
        (Rich::Uri(text), 'p') => Ok(format!("URI({})", puppet_quote(text))),
        (Rich::Uri(_), _) => format.refuse_letter("URI", "sp"),
        (Rich::Binary(_), 'B') if plain => Ok(rich.to_string()),
        (Rich::Binary(_), 'p') if plain => Ok(format!("Binary(\"{rich}\")")),
        (_, 's') if !matches!(rich, Rich::Binary(_)) => format.format_text(&rich.to_string()),
        (Rich::SemVer(_), 'p') => format.format_text(&rich.to_string()),
        _ => Err(Failure::Unknown),
    }
}

fn format_regexp(
    pattern: &RegexPattern,
    letter: char,
    plain: bool,
    format: &StringFormat,
) -> TextResult {
    let text = match letter {
        'p' => pattern.with_delimiters(),
        's' if format.is_alternative() => puppet_quote(pattern.source()),
        's' => pattern.source().to_owned(),
        _ => return format.refuse_letter("Regexp", "sp"),
    };
    if plain { Ok(text) } else { format.format_text(&text) }
}
