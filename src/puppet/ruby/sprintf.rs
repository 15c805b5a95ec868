//! One directive of Ruby's `Kernel.format`.

use std::fmt::Write as _;

use super::strings::is_space;

/// A directive as written: flags, width, precision and the letter.
#[derive(Clone, Debug)]
pub(crate) struct Directive {
    pub flags: String,
    pub width: Option<usize>,
    pub precision: Option<usize>,
    pub letter: char,
}

/// The widest text that is made.
const MAX_WIDTH: usize = 100_000;

impl Directive {
    /// Whether a flag is given.
    pub(crate) fn has_flag(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    /// Returns Ruby's error for flags that are none of its own.
    pub(crate) fn flag_error(&self) -> Option<String> {
        let stray = self.flags.chars().find(|c| !" #+-0".contains(*c))?;
        Some(match stray {
            '<' | '{' => "malformed name - unmatched parenthesis".into(),
            '\n' => "invalid format character - %".into(),
            c if is_space(c) => "malformed format string".into(),
            c => format!("malformed format string - %{c}"),
        })
    }

    /// Whether the directive asks for more letters than a message needs.
    pub(crate) fn is_huge(&self) -> bool {
        self.width.unwrap_or(0).max(self.precision.unwrap_or(0)) > MAX_WIDTH
    }

    /// Formats a text with `%s`.
    pub(crate) fn format_text(&self, text: &str) -> String {
        let cut: String = match self.precision {
            Some(precision) => text.chars().take(precision).collect(),
            None => text.to_owned(),
        };
        self.pad_text(&cut)
    }

    fn pad_text(&self, text: &str) -> String {
        let fill = " ".repeat(self.width.unwrap_or(0).saturating_sub(text.chars().count()));
        if self.has_flag('-') { format!("{text}{fill}") } else { format!("{fill}{text}") }
    }

    /// Formats an integer with `%d`, `%x`, `%X`, `%o`, `%b` or `%B`.
    pub(crate) fn format_integer(&self, number: i128) -> String {
        let (radix, prefix) = match self.letter {
            'x' => (16, "0x"),
            'X' => (16, "0X"),
            'o' => (8, "0"),
            'b' => (2, "0b"),
            'B' => (2, "0B"),
            _ => (10, ""),
        };
        let signed = radix == 10 || self.has_flag('+') || self.has_flag(' ');
        let dots = number < 0 && !signed;
        let mut digits = if dots {
            complement_digits(number, radix)
        } else {
            in_radix(number.unsigned_abs(), radix)
        };
        if self.letter == 'X' {
            digits.make_ascii_uppercase();
        }
        let mut prefix = if self.has_flag('#') { prefix } else { "" };
        let mut width = signed_len(self.width.unwrap_or(0));
        let mut precision = self.precision.map_or(-1, signed_len);
        let sign = match (signed, number < 0) {
            (true, true) => "-",
            (true, false) if self.has_flag('+') => "+",
            (true, false) if self.has_flag(' ') => " ",
            _ => "",
        };
        width -= signed_len(sign.len());
        if dots {
            precision -= 2;
            width -= 2;
        }
        let is_zero = digits == "0";
        if prefix == "0" {
            if dots || self.precision.is_some() && precision > signed_len(digits.len()) && !is_zero
            {
                prefix = "";
            } else if is_zero {
                digits.clear();
                precision -= i64::from(self.precision.is_some());
            }
        } else if is_zero {
            prefix = "";
        }
        width -= signed_len(prefix.len());
        if self.has_flag('0') && !self.has_flag('-') && self.precision.is_none() {
            precision = width;
            width = 0;
        } else {
            let len = signed_len(digits.len());
            if precision < len {
                if prefix.is_empty() && precision == 0 && digits == "0" {
                    digits.clear();
                }
                precision = signed_len(digits.len()).max(if digits.is_empty() { 0 } else { len });
            }
            width -= precision;
        }
        let blanks = " ".repeat(usize::try_from(width).unwrap_or(0));
        let fill = if dots { digits.chars().next().unwrap_or('f') } else { '0' };
        let zeros = usize::try_from(precision - signed_len(digits.len())).unwrap_or(0);
        let body = format!(
            "{sign}{prefix}{}{}{digits}",
            if dots { ".." } else { "" },
            fill.to_string().repeat(zeros)
        );
        if self.has_flag('-') { format!("{body}{blanks}") } else { format!("{blanks}{body}") }
    }

    /// Formats a float with `%f`, `%e`, `%g`, `%a` or their upper cases.
    pub(crate) fn format_float(&self, number: f64) -> String {
        let sign = match (
            number.is_sign_negative() && !number.is_nan(),
            self.has_flag('+'),
            self.has_flag(' '),
        ) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        if !number.is_finite() {
            return self
                .pad_text(&format!("{sign}{}", if number.is_nan() { "NaN" } else { "Inf" }));
        }
        let magnitude = number.abs();
        let mut digits = match self.letter.to_ascii_lowercase() {
            'e' => exponential_text(magnitude, self.precision.unwrap_or(6), self.has_flag('#')),
            'g' => general_text(magnitude, self.precision.unwrap_or(6), self.has_flag('#')),
            'a' => hexadecimal_text(magnitude, self.precision, self.has_flag('#')),
            _ => {
                let precision = self.precision.unwrap_or(6);
                let point = if precision == 0 && self.has_flag('#') { "." } else { "" };
                format!("{magnitude:.precision$}{point}")
            }
        };
        if self.letter.is_ascii_uppercase() {
            digits.make_ascii_uppercase();
        }
        if self.has_flag('0') && !self.has_flag('-') {
            let (prefix, digits) = match self.letter {
                'a' | 'A' => digits.split_at(2),
                _ => ("", digits.as_str()),
            };
            let used = sign.len() + prefix.len() + digits.len();
            let zeros = "0".repeat(self.width.unwrap_or(0).saturating_sub(used));
            return format!("{sign}{prefix}{zeros}{digits}");
        }
        self.pad_text(&format!("{sign}{digits}"))
    }
}

fn signed_len(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

fn in_radix(mut number: u128, radix: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % u128::from(radix)) as u32, radix).unwrap_or('0'));
        number /= u128::from(radix);
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// Returns the digits of a negative number in two's complement, beginning with one digit of the
/// sign.
fn complement_digits(number: i128, radix: u32) -> String {
    let top = char::from_digit(radix - 1, radix).unwrap_or('f');
    let bits = radix.trailing_zeros();
    // The mask has as many of the 128 bits as whole digits have room for.
    let digits = 128 / bits;
    let mask = if digits * bits == 128 { u128::MAX } else { (1 << (digits * bits)) - 1 };
    let all = in_radix(number as u128 & mask, radix);
    format!("{top}{}", all.trim_start_matches(top))
}

fn exponential_text(number: f64, precision: usize, point: bool) -> String {
    let text = format!("{number:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = if precision == 0 && point { "." } else { "" };
    format!("{digits}{point}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn general_text(number: f64, precision: usize, keep_zeros: bool) -> String {
    let precision = precision.max(1);
    let rounded = format!("{number:.*e}", precision - 1);
    let exponent: i64 =
        rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if exponent < -4 || exponent >= signed_len(precision) {
        let text = exponential_text(number, precision - 1, keep_zeros);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{exponent}", trim_zeros(digits, keep_zeros));
    }
    let decimals = usize::try_from(signed_len(precision) - 1 - exponent).unwrap_or(0);
    let text = format!("{number:.decimals$}");
    let point = if keep_zeros && decimals == 0 { "." } else { "" };
    format!("{}{point}", trim_zeros(&text, keep_zeros))
}

fn trim_zeros(text: &str, keep_zeros: bool) -> String {
    if text.contains('.') && !keep_zeros {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

fn hexadecimal_text(number: f64, precision: Option<usize>, point: bool) -> String {
    let bits = number.to_bits();
    let mut fraction = bits & ((1 << 52) - 1);
    let biased = (bits >> 52) & 0x7ff;
    let (mut lead, mut exponent) = match (biased, fraction) {
        (0, 0) => (0, 0),
        (0, _) => {
            let shift = fraction.leading_zeros() - 11;
            fraction = (fraction << shift) & ((1 << 52) - 1);
            (1, -1022 - i64::from(shift))
        }
        (biased, _) => (1, i64::try_from(biased).unwrap_or(0) - 1023),
    };
    let mut digits = format!("{fraction:013x}");
    match precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(places) if places < 13 => {
            let shift = (13 - places) * 4;
            let (kept, rest, half) =
                (fraction >> shift, fraction & ((1 << shift) - 1), 1u64 << (shift - 1));
            let odd = if places == 0 { lead == 1 } else { kept & 1 == 1 };
            let kept = kept + u64::from(rest > half || rest == half && odd);
            lead += kept >> (places * 4);
            digits = if places == 0 {
                String::new()
            } else {
                format!("{:0places$x}", kept & ((1 << (places * 4)) - 1))
            };
        }
        Some(places) => digits.push_str(&"0".repeat(places - 13)),
    }
    // Ruby prints 1 before the point also where the rounded fraction carries into that digit.
    if lead == 2 {
        (lead, exponent) = (1, exponent + 1);
    }
    let mut out = format!("0x{lead}");
    if !digits.is_empty() || point {
        write!(out, ".{digits}").expect("writing to a string");
    }
    write!(out, "p{}{}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
        .expect("writing to a string");
    out
}
