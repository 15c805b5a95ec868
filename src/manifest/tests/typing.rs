//! Half-typed and broken text.

use super::*;

const CLASS: &str = "class m::c (\n  Integer $a,\n  Hash[String, Array[Integer]] $b = {'x' => [1]},\n@  $z = lookup('z'),\n) inherits m::p {\n  include other\n}\n";

/// The names of the parameters when `line` is typed among them.
fn typed(line: &str) -> Vec<String> {
    let manifest = parse(&CLASS.replace('@', line), None);
    let class = &manifest.definitions[0];
    assert_eq!(class.name, "m::c", "{line}");
    class.parameters.iter().map(|one| one.name.clone()).collect()
}

#[test]
fn the_other_parameters_stay_known_while_one_is_typed() {
    for line in [
        "  $\n",
        "  $,\n",
        "  Optional[String] $\n",
        "  Optional[String\n",
        "  Optional[String] $x = 'abc\n",
        "  Optional[String] $x = 'abc,\n",
        "  String $x = \"abc ${,\n",
        "  Array[String $x,\n",
        "  $x = [1, {2,\n",
        "  $x =\n",
        "  $x = ,\n",
        "  String $x\n",
        "  $x = 1\n",
        "  /* $x,\n",
        "  $x = @(END),\n",
        "  garbage %% $x\n",
    ] {
        let names = typed(line);
        for name in ["a", "b", "z"] {
            assert!(names.iter().any(|one| one == name), "{line:?} leaves {names:?}");
        }
    }
}

#[test]
fn a_recovered_header_keeps_parent_body_and_calls() {
    let manifest = parse(&CLASS.replace('@', "  $x = 'abc\n"), None);
    let class = &manifest.definitions[0];
    assert!(class.recovered && !manifest.complete);
    assert_eq!(class.inherits.as_ref().map(|parent| parent.text.as_str()), Some("m::p"));
    assert_eq!(manifest.uses.len(), 2);
    assert_eq!(manifest.readers.len(), 1);
    assert_eq!(manifest.uses.iter().map(|one| one.definition).collect::<Vec<_>>(), [Some(0); 2]);
}

#[test]
fn a_broken_header_on_one_line_keeps_its_parameters() {
    let class =
        &parse("class m(String $a, $b = , Hash[String, Any] $c = {}) { }", None).definitions[0];
    let names: Vec<_> = class.parameters.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let types: Vec<_> = class
        .parameters
        .iter()
        .map(|one| one.data_type.as_ref().map(|t| t.text.as_str()))
        .collect();
    assert_eq!(types, [Some("String"), None, Some("Hash[String, Any]")]);
}

#[test]
fn a_class_without_body_hides_no_later_one() {
    let manifest = parse("class a\nclass b($x) { }\nclass c(\nclass d { }\n", None);
    let names: Vec<_> = manifest.definitions.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
}

#[test]
fn every_prefix_of_a_text_is_read() {
    let text = include_str!("sample.pp");
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        let (manifest, template) = (parse(&text[..end], None), parse_epp(&text[..end], None));
        let ranges = manifest.definitions.iter().chain(&template.definitions).map(|one| one.range);
        for range in ranges {
            assert!(range.end as usize <= end);
        }
        parse_ruby_calls(&text[..end]);
    }
    assert!(parse(text, None).complete);
}

#[test]
fn nesting_and_brackets_have_no_end() {
    for text in [
        "\"${".repeat(1_500),
        "[".repeat(9_000),
        "{".repeat(9_000),
        "}".repeat(9_000),
        "class a(".repeat(900),
        "class a(\n".repeat(900),
        "a.".repeat(5_000) + "lookup",
        "@(X)".repeat(900),
        "lookup(".repeat(900),
        "$x = (".repeat(900),
        "'".repeat(9_999),
        "node ".repeat(1_500),
    ] {
        parse(&text, None);
        parse_epp(&format!("<%{text}"), None);
        parse_ruby_calls(&text.replace("lookup(", "call_function('lookup', ["));
    }
}
