//! Random manifests.

use crate::support::random::Random;

/// Texts of types.
const TYPES: [&str; 16] = [
    "String",
    "Integer[1, 10]",
    "Optional[String[1]]",
    "Enum['a', \"b\", c]",
    "Pattern[/\\A[a-z\\/]+\\z/, /,\\)/]",
    "Hash[String, Array[Integer, 1]]",
    "Struct[{a => Integer, Optional[b] => String}]",
    "Struct[{\n    'a' => Variant[Integer, M::T], # ] a comment\n    b   => Any,\n  }]",
    "M::Some::Type",
    "Variant[\n    Boolean,\n    Enum['x']\n  ]",
    "Tuple[String, Integer, 1, default]",
    "Sensitive[String]",
    "Array[Optional[Stdlib::Host]]",
    "Enum['absent']",
    "Enum['é', \"日\u{85}\"]",
    "Pattern[/\\Aé\\w+/]",
];

/// Texts of defaults.
const DEFAULTS: [&str; 29] = [
    "undef",
    "'x'",
    "'it\\'s, ($no) = {'",
    "\"a ${b} $c-d \\\" \\${e\"",
    "\"${facts['os']['family']} ${lookup(\"k::${x}\")}\"",
    "[]",
    "{}",
    "['a', $b, 3]",
    "{ 'a' => [1, 2], b => { c => undef }, }",
    "$a ? { /x,y/ => 1, default => $b / 2, }",
    "lookup('m::k', Hash, 'deep', {})",
    "lookup({ 'name' => 'k', 'merge' => { 'strategy' => 'unique' } })",
    "hiera_array('k', [])",
    "'k'.lookup(String)",
    "['a', 'b'].map |$k, $v| { \"${k}, ${v}\" }",
    "$x.filter |Integer $i, $j = 3| { $i > $j }.map |$z| { $z * 2 }",
    "-1",
    "0x1F",
    "1.5e-3",
    "($a + 1) * 2",
    "!$b",
    "$facts['x'] =~ /[,)]/ and $y in ['a', 'b']",
    "foo-bar",
    "m::f('a', *$rest)",
    "Integer[1]",
    "@(\"END\"/L)",
    "'é\u{a0}日'",
    "\"\\u{1F600} é ${x}é $b日 ${lookup('k::é')}\"",
    "$x ? { /é/ => 'ß', default => \"😀\" }",
];

const COMMENTS: [&str; 6] =
    ["", "", "  # é 日 ' (\n", "  # a comment, with $dollar = '\n", "  /* more ) { ' */\n", "\n"];

const BODIES: [&str; 12] = [
    "include a, '::b::C'",
    "contain([\"x::${y}\", d])",
    "class { 'e': x => lookup('k'), * => $h }",
    "file { '/x': content => \"${lookup('z')}'\", require => Class['f'], }",
    "if $x =~ /'}/ { $y = lookup($k) } else { require g }",
    "$z = $x / 2 - $y / 3",
    "lookup('classes', Array[String], 'unique').include",
    "case $x { /\"/, 'y': { hiera_include('h') } default: { } }",
    "$t = @(X)\n    ' ${lookup('no')} {\n    | X\n  include i",
    "Class['j'] -> File <| title == 'k' |>",
    "notify { \"é ${x} 日\": message => lookup('é::k') }",
    "$t = @(É)\n    é ${lookup('no')}\n    | É\n  include l",
];

fn parameter(random: &mut Random, number: usize) -> String {
    let data_type = if random.one_in(3) { "" } else { random.pick(&TYPES) };
    let blank =
        if data_type.is_empty() || data_type.ends_with("]") && random.one_in(8) { "" } else { " " };
    let name = random.pick(&["x", "a_b", "_p", "class", "type"]);
    let default = match random.below(3) {
        0 => String::new(),
        _ => format!(" = {}", random.pick(&DEFAULTS)),
    };
    format!("{data_type}{blank}${name}{number}{default}")
}

/// The heredocs' texts that a header's line asks for.
fn heredocs(line: &str) -> String {
    "\n    It's ${lookup('in::heredoc')}\n    | END".repeat(line.matches("@(").count())
}

fn header(random: &mut Random, keyword: &str) -> String {
    let mut text = format!("{keyword} m::n{}", random.below(9));
    if random.one_in(8) {
        return text;
    }
    text.push_str(random.pick(&["(", " (", " (\n"]));
    let count = random.below(6);
    for number in 0..count {
        text.push_str(random.pick(&COMMENTS));
        let parameter = parameter(random, number);
        let comma = if number + 1 < count || random.one_in(2) { "," } else { "" };
        // Behind a heredoc's tag a new line must begin.
        let end = match heredocs(&parameter) {
            heredocs if heredocs.is_empty() => random.pick(&[" ", "\n", "\n\n", " # $c,\n"]).into(),
            heredocs => format!("{heredocs}\n"),
        };
        text.push_str(&format!("  {parameter}{comma}{end}"));
    }
    text.push(')');
    text
}

/// A manifest that Puppet accepts, with few exceptions.
pub fn manifest(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..1 + random.below(3) {
        let keyword = random.pick(&["class", "class", "define", "function"]);
        text.push_str(&header(random, keyword));
        text.push_str(match keyword {
            "class" => random.pick(&["", " inherits ::m::p", " inherits default"]),
            "function" => random.pick(&["", " >> String", " >> Hash[String, Integer]"]),
            _ => "",
        });
        text.push_str(" {\n");
        for _ in 0..random.below(4) {
            text.push_str(&format!("  {}\n", random.pick(&BODIES)));
        }
        text.push_str("}\n");
    }
    text
}

/// A class with at least two parameters, one on each line.
pub fn lines(random: &mut Random) -> String {
    let mut text = String::from("class m::n (\n");
    for number in 0..2 + random.below(8) {
        let mut written = parameter(random, number);
        while written.contains(['\n', '@']) {
            written = parameter(random, number);
        }
        text.push_str(&format!("  {written},\n"));
    }
    text.push_str(") {\n  include a\n  $x = { 'b' => ['c'] }\n}\n");
    text
}

/// A text from [`lines`], cut into its lines.
pub struct Header<'t> {
    lines: Vec<&'t str>,
    /// The parameters' names.
    pub parameters: Vec<String>,
}

/// A change of the line of a parameter.
pub type Damage = fn(&str) -> String;

/// Ways in which a parameter is half-typed.
pub const DAMAGES: [(&str, Damage); 6] = [
    ("a parameter ends at $", |_| "  $".to_owned()),
    ("a new parameter is begun", |line| format!("  Optional[String] $\n{line}")),
    ("a quote is not closed", |line| format!("{} = 'abc", until_name(line))),
    ("a bracket is not closed", |line| format!("  Array[String {}", until_name(line).trim_start())),
    ("no value behind =", |line| format!("{} =", until_name(line))),
    ("a comma is missing", |line| line.trim_end_matches(',').to_owned()),
];

/// The line up to the name of its parameter.
fn until_name(line: &str) -> String {
    let start = line.find('$').expect("a parameter has a name");
    let length = line[start + 1..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    line[..length.map_or(line.len(), |length| start + 1 + length)].to_owned()
}

impl<'t> Header<'t> {
    pub fn of(text: &'t str) -> Header<'t> {
        let lines: Vec<&str> = text.lines().collect();
        let end = lines.iter().position(|line| line.starts_with(')')).expect("the list ends");
        let parameters = hiera_ls::manifest::parse(text, None).definitions[0]
            .parameters
            .iter()
            .map(|one| one.name.clone())
            .collect::<Vec<_>>();
        assert_eq!(parameters.len(), end - 1, "{text}");
        Header { lines, parameters }
    }

    /// The text with the line of a parameter damaged.
    pub fn damaged(&self, at: usize, damage: Damage) -> String {
        let line = |(number, line): (usize, &&str)| {
            if number == at + 1 { damage(line) } else { (*line).to_owned() }
        };
        self.lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// A manifest with something taken out, doubled or put in, or cut.
pub fn broken(random: &mut Random) -> String {
    let mut text: Vec<char> = manifest(random).chars().collect();
    for _ in 0..1 + random.below(3) {
        let (from, to) = (random.below(text.len()), random.below(text.len()));
        match random.below(4) {
            0 => drop(text.drain(from.min(to)..from.max(to).min(from.min(to) + 9))),
            1 => text.truncate(from.max(1)),
            2 => {
                let piece =
                    random.pick(&["'", "\"", "${", "{", "(", "|", "@(X)", "/*", "$", "ä", "<%"]);
                text.splice(from..from, piece.chars());
            }
            _ => {
                let piece = text[from.min(to)..from.max(to)].to_vec();
                text.splice(from..from, piece);
            }
        }
        if text.is_empty() {
            text.push('x');
        }
    }
    text.into_iter().collect()
}
