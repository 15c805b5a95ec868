use super::*;

#[test]
fn a_class_has_its_parameters_with_types_defaults_and_places() {
    let text = "# A class.\nclass m::c (\n  Integer[1, 10] $a,\n  $b = ['x', 'y'], # two\n  Optional[Hash[String, Array[Integer]]] $c = undef,\n) inherits ::m::base {\n  notice($a)\n}\n";
    assert_eq!(
        parameters(text),
        [
            "Integer[1, 10] $a",
            "$b = ['x', 'y']",
            "Optional[Hash[String, Array[Integer]]] $c = undef"
        ]
    );
    let manifest = parse(text, None);
    let class = &manifest.definitions[0];
    assert_eq!((class.kind, class.name.as_str()), (DefinitionKind::Class, "m::c"));
    assert!(!class.recovered);
    assert_eq!(class.inherits.as_ref().map(|parent| parent.text.as_str()), Some("m::base"));
    assert_eq!(&text[class.range.as_usize()], text["# A class.\n".len()..].trim_end());
    assert_eq!(class.documentation.text, "A class.");
    assert_eq!(class.find_parameter("b").unwrap().documentation.as_deref(), Some("two"));
    assert_eq!(
        class.find_parameter("b").unwrap().value,
        Some(Literal::List(vec![string("x"), string("y")]))
    );
    assert!(manifest.complete);
}

#[test]
fn nested_classes_carry_the_outer_name() {
    let manifest = parse(
        "class m { class n::o($x = {'a' => 1}) { } define d { } }\nclass after { }\nfunction m::f(String *$rest) >> Hash[String, Integer] { $rest }\ndefine ::top() {}",
        None,
    );
    let names: Vec<&str> = manifest.definitions.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["m", "m::n::o", "m::d", "after", "m::f", "top"]);
    assert!(manifest.definitions[4].parameters[0].captures_rest);
    assert!(manifest.complete);
}

/// M30
#[test]
fn a_slash_divides_after_operands_and_begins_a_regex_elsewhere() {
    assert_eq!(
        parameters("class m($a = $b / 2, $c = 4 / 2 / 1, Pattern[/a\\/,b/] $d, $e = 3) { }"),
        ["$a = $b / 2", "$c = 4 / 2 / 1", "Pattern[/a\\/,b/] $d", "$e = 3"]
    );
    let manifest =
        parse("class m { if $x =~ /'/ { include a } case $y { /\"}/: { include b } } }", None);
    assert_eq!(uses(&manifest).len(), 2);
    assert!(manifest.complete);
}

/// M31
#[test]
fn strings_hold_code_and_code_holds_strings() {
    let text =
        r#"$x = "a ${lookup("k.${y}") + "}"} b $a::b:: ${'q'.lookup} \${lookup('no')} \u{41}""#;
    let manifest = parse(text, None);
    let found: Vec<_> = manifest.readers.iter().map(|one| keys(one).unwrap()[0].clone()).collect();
    assert_eq!(found, ["k.*", "q"]);
    assert!(manifest.complete);
    let text = "lookup('it\\'s \\n')";
    assert_eq!(keys(&reader(text)).unwrap(), ["it's \\n"]);
    assert_eq!(keys(&reader("lookup(\"a\\tb\\u0041$\")")).unwrap(), ["a\tbA$"]);
}

/// M32
#[test]
fn what_follows_a_heredoc_on_its_line_comes_before_its_text() {
    let text = "class m($a = @(\"X\"/L), $b = @(Y:json), $c = 3) { # '\n  ${lookup('in')} '\n  | X\n  lookup('no')\n  - Y\n  include z\n}\n";
    let text = text.replace("  | X\n", "  |- X\n");
    assert_eq!(parameters(&text), ["$a = @(\"X\"/L)", "$b = @(Y:json)", "$c = 3"]);
    let manifest = parse(&text, None);
    assert_eq!(manifest.readers.len(), 1);
    assert_eq!(uses(&manifest), [(UseKind::Include, "z".to_owned())]);
    assert!(manifest.complete);
}

/// M33
#[test]
fn commas_within_lambdas_end_no_parameter() {
    assert_eq!(
        parameters(
            "class m($a = ['x'].map |$k, $v| { $k }, $b = $c ? { 'x' => 1, default => 2 }) { }"
        ),
        ["$a = ['x'].map |$k, $v| { $k }", "$b = $c ? { 'x' => 1, default => 2 }"]
    );
}

/// M34
#[test]
fn the_word_class_declares_only_before_a_name() {
    let manifest = parse(
        "class { 'a': x => 1, * => $more; ['b', \"c\"]: ; default: y => 2 }\n$class = Class['D', e]\n$x = {class => 'f', 'include' => 1}\nclass g inherits default { }",
        None,
    );
    assert_eq!(manifest.definitions.len(), 1);
    let expected = [
        (UseKind::Resource, "a"),
        (UseKind::Resource, "b"),
        (UseKind::Resource, "c"),
        (UseKind::Reference, "d"),
        (UseKind::Reference, "e"),
        (UseKind::Inherits, "default"),
    ];
    assert_eq!(uses(&manifest), expected.map(|(kind, name)| (kind, name.to_owned())));
    let first = &manifest.uses[0];
    assert_eq!((first.gives[0].name.as_str(), first.gives_more), ("x", true));
    assert_eq!(first.gives[0].literal, Some(Literal::Integer(1)));
    assert!(!manifest.uses[1].gives_more);
}

/// M35 and M36
#[test]
fn comments_line_ends_marks_and_wide_blanks_are_passed_over() {
    let text = "\u{feff}/* class no { */ class m(Enum['a']$a, $b = 7d) { # class no {\r\n  class {\u{a0}'x': }\r\n}\r\n";
    assert_eq!(parameters(text), ["Enum['a'] $a", "$b = 7d"]);
    assert_eq!(uses(&parse(text, None)), [(UseKind::Resource, "x".to_owned())]);
}

#[test]
fn documentation_is_read_in_its_three_forms() {
    let text = "# Text\n# of it.\n#\n# lint:ignore:140chars\n# @summary Short\n#   and long\n# @param a [String] The a,\n#   on two lines\n# @param [Hash[String, Array]] b\n#   The b\n# @api private\nclass m (\n  $a,\n  $b,\n  # above c\n  $c,\n  $gone,\n) { }\n";
    let class = &parse(text, None).definitions[0];
    assert_eq!(class.documentation.text, "Text\nof it.");
    assert_eq!(class.documentation.summary.as_deref(), Some("Short\nand long"));
    let said: Vec<_> =
        class.parameters.iter().map(|one| one.documentation.as_deref().unwrap_or("-")).collect();
    assert_eq!(said, ["The a,\non two lines", "The b", "above c", "-"]);
    let named = &class.documentation.parameters[1];
    assert_eq!(&text[named.range.as_usize()], "b");

    let text = "# == Class m\n#\n# [*a*]\n#   (optional) The a\n#   Defaults to 1\n#\n# $b::  The b\n#       goes on\n#\n# === Authors\nclass m($a, $b) { }\n";
    let class = &parse(text, None).definitions[0];
    let said: Vec<_> = class.parameters.iter().map(|one| one.documentation.as_deref()).collect();
    assert_eq!(said, [Some("(optional) The a\nDefaults to 1"), Some("The b\ngoes on")]);
    assert_eq!(class.documentation.text, "== Class m\n\n=== Authors");
}

#[test]
fn a_comment_with_an_empty_line_below_is_no_documentation() {
    let class = &parse("# License\n\nclass m { }", None).definitions[0];
    assert_eq!(class.documentation.text, "");
}

#[test]
fn aliases_have_their_types() {
    let text = "# The port.\ntype M::Port = Variant[Integer[0, 65535], # a comment\n  Pattern[/\\A]/]]\ntype M::S = Struct[{a => 1}]\ntype M::H = { a => 1 }\n";
    let manifest = parse(text, None);
    let found: Vec<_> = manifest
        .aliases
        .iter()
        .map(|one| (one.name.as_str(), one.data_type.text.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("M::Port", "Variant[Integer[0, 65535], # a comment\n  Pattern[/\\A]/]]"),
            ("M::S", "Struct[{a => 1}]"),
            ("M::H", "{ a => 1 }")
        ]
    );
    assert_eq!(manifest.aliases[0].documentation.text, "The port.");
}

#[test]
fn calls_are_read_in_all_their_forms() {
    for (text, form, expected) in [
        ("lookup('k')", CallForm::Direct, Some(vec!["k"])),
        ("lookup(m::b)", CallForm::Direct, Some(vec!["m::b"])),
        ("::lookup('k')", CallForm::Direct, Some(vec!["k"])),
        // M23: the colons belong to the key.
        ("lookup('::m::b')", CallForm::Direct, Some(vec!["::m::b"])),
        ("lookup(['zz', \"a\"])", CallForm::Direct, Some(vec!["zz", "a"])),
        ("lookup({'name' => 'k', 'merge' => 'deep'})", CallForm::Direct, Some(vec!["k"])),
        ("lookup(name => 'k')", CallForm::Direct, Some(vec!["k"])),
        ("$x = 'k'.lookup", CallForm::Method, Some(vec!["k"])),
        ("['a', 'b'].lookup(Hash)", CallForm::Method, Some(vec!["a", "b"])),
        ("call('lookup', 'k')", CallForm::Indirect, Some(vec!["k"])),
        ("Deferred('lookup', ['k', Hash, 'deep'])", CallForm::Deferred, Some(vec!["k"])),
        ("Deferred.new('hiera', ['k'])", CallForm::Deferred, Some(vec!["k"])),
        ("hiera('k', 1)", CallForm::Direct, Some(vec!["k"])),
        ("lookup(\"m::${k}::$x\")", CallForm::Direct, Some(vec!["m::*::*"])),
        ("lookup(\"${module_name}::q\")", CallForm::Direct, Some(vec!["m::q"])),
        ("lookup($k)", CallForm::Direct, None),
        ("lookup(join([a, b], '::'))", CallForm::Direct, None),
        ("$x['a'].lookup", CallForm::Method, None),
    ] {
        let reader = reader(text);
        let expected = expected.map(|keys| keys.into_iter().map(str::to_owned).collect());
        assert_eq!((reader.form, keys(&reader)), (form, expected), "{text}");
    }
    assert!(
        parse("lookup \"k\"\n$x = {lookup => 1}\n$lookup = 2\nlookup::f('k')", None)
            .readers
            .is_empty()
    );
}

#[test]
fn a_title_is_known_in_a_class_only() {
    let manifest = parse("class a::b { lookup(\"${title}::q\") lookup(\"$name\") }", None);
    let found: Vec<_> = manifest.readers.iter().map(|one| keys(one).unwrap()[0].clone()).collect();
    assert_eq!(found, ["a::b::q", "a::b"]);
    assert!(manifest.readers[0].keys.as_ref().unwrap()[0].resolved);
    let manifest = parse("define a::b { lookup(\"${title}::q\") }", None);
    assert_eq!(keys(&manifest.readers[0]).unwrap(), ["*::q"]);
}

#[test]
fn types_strategies_and_defaults_stand_at_their_places() {
    let full = reader("lookup('k', Hash[String, Integer], 'deep', {'a' => 1})");
    assert_eq!(full.value_type.unwrap().text, "Hash[String, Integer]");
    assert_eq!(full.merge.unwrap().strategy, AskedStrategy::Literal(string("deep")));
    assert_eq!(full.default_value, Some(Literal::Hash(vec![(string("a"), Literal::Integer(1))])));

    let options = reader(
        "lookup('k', {value_type => Hash, 'merge' => {'strategy' => 'deep', 'knockout_prefix' => '--'}, default_values_hash => $h})",
    );
    assert_eq!(options.value_type.unwrap().text, "Hash");
    let strategy = options.merge.unwrap().strategy;
    assert_eq!(
        strategy.literal_value(),
        Some(&Literal::Hash(vec![
            (string("strategy"), string("deep")),
            (string("knockout_prefix"), string("--"))
        ]))
    );
    assert!(options.other_default && options.default.is_none());

    let none = reader("lookup('k', undef, undef, 3)");
    assert_eq!((none.value_type, none.merge), (None, None));
    assert_eq!(none.default_value, Some(Literal::Integer(3)));

    assert_eq!(reader("lookup('k', $options)").merge.unwrap().strategy, AskedStrategy::Unknown);
    assert!(reader("lookup('k') |$k| { 1 }").other_default);
    for (function, strategy) in [("hiera_array", "unique"), ("hiera_hash", "hash")] {
        let reader = reader(&format!("{function}('k')"));
        assert_eq!(reader.merge.unwrap().strategy, AskedStrategy::Literal(string(strategy)));
    }
}

#[test]
fn a_strategy_in_a_variable_is_followed_to_its_only_value() {
    let strategy = |text: &str| parse(text, None).readers[0].merge.clone().unwrap().strategy;
    let variable = |value: Option<&str>, parameter| AskedStrategy::Variable {
        name: "m".to_owned(),
        value: value.map(string),
        parameter,
    };
    let call = "lookup('k', Hash, $m)";
    assert_eq!(
        strategy(&format!("class a($m = 'deep') {{ {call} }}")),
        variable(Some("deep"), true)
    );
    assert_eq!(
        strategy(&format!("class a {{ $m = 'hash' {call} }}")),
        variable(Some("hash"), false)
    );
    assert_eq!(
        strategy(&format!("class a {{ if $x {{ $m = 'hash' }} else {{ $m = 'deep' }} {call} }}")),
        variable(None, false)
    );
    assert_eq!(
        strategy(&format!("class a {{ $m = $x ? {{ 1 => 'hash' }} {call} }}")),
        variable(None, false)
    );
    assert_eq!(strategy(call), variable(None, false));
}

#[test]
fn a_call_in_a_default_knows_its_parameter() {
    let text =
        "class m($a, $b = [lookup('k')], $c = lookup('m::c', Array, 'unique')) { lookup('z') }";
    let manifest = parse(text, None);
    let names: Vec<_> = manifest
        .readers
        .iter()
        .map(|reader| manifest.parameter_of(reader).map(|(_, parameter)| parameter.name.as_str()))
        .collect();
    assert_eq!(names, [Some("b"), Some("c"), None]);
}

#[test]
fn classes_are_used_in_many_ways() {
    let text = "class p { include a, '::B::C', d\n contain(['e', \"f::${x}\"]) require Class['g'] ['h'].include\n include $i\n File { require => Class['j'] }\n create_resources('class', {'k' => {'x' => 1}}) ensure_resource('class', 'l', {y => 2})\n create_resources('Class', $all)\n create_resources('file', {'no' => {}}) }";
    let manifest = parse(text, None);
    let expected = [
        (UseKind::Include, "a"),
        (UseKind::Include, "b::c"),
        (UseKind::Include, "d"),
        (UseKind::Contain, "e"),
        (UseKind::Contain, "f::*"),
        (UseKind::Require, "g"),
        (UseKind::Reference, "g"),
        (UseKind::Include, "h"),
        (UseKind::Include, "?"),
        (UseKind::Reference, "j"),
        (UseKind::Function, "k"),
        (UseKind::Function, "l"),
        (UseKind::Function, "?"),
    ];
    assert_eq!(uses(&manifest), expected.map(|(kind, name)| (kind, name.to_owned())));
    let function = &manifest.uses[10];
    assert_eq!((function.gives[0].name.as_str(), function.gives_more), ("x", false));
    assert!(manifest.uses[12].gives_more);
}

#[test]
fn values_that_name_classes_are_known() {
    for (text, expected) in [
        ("include lookup('classes', Array, 'unique')", true),
        ("include(lookup('classes'))", true),
        ("lookup('classes').contain", true),
        ("lookup('classes') |$k| { [] }.include", true),
        ("hiera_include('classes')", true),
        ("lookup('classes').each |$c| { include $c }", false),
        ("notice(lookup('classes'))", false),
    ] {
        assert_eq!(reader(text).includes, expected, "{text}");
    }
}

#[test]
fn values_that_are_wrapped_are_known() {
    for (text, expected) in [
        ("$x = Sensitive(lookup('k'))", true),
        ("$x = Sensitive.new(lookup('k', String))", true),
        ("$x = lookup('k')", false),
        ("lookup('k')", false),
        ("new(lookup('k'))", false),
        ("Secret.new(lookup('k'))", false),
    ] {
        assert_eq!(reader(text).is_wrapped, expected, "{text}");
    }
}

#[test]
fn node_blocks_yield_names_and_includes() {
    let text = "node 'a.example.net', web01.example.net, /^db\\d+\\/x$/ inherits base {\n  $role = 'web'\n  include role::web\n  role('db', 3)\n  lookup('k')\n}\nnode default { }\nnode \"b\" { class { 'x': } }\n";
    let manifest = parse(text, None);
    let names: Vec<_> = manifest.nodes[0].names.iter().map(|(name, _)| name.clone()).collect();
    let literal = |name: &str| NodeName::Literal(name.to_owned());
    assert_eq!(
        names,
        [
            literal("a.example.net"),
            literal("web01.example.net"),
            NodeName::Regex("^db\\d+/x$".into())
        ]
    );
    let first = &manifest.nodes[0];
    assert_eq!(first.variables, [("role".to_owned(), string("web"))]);
    assert_eq!((first.calls.len(), first.calls[0].function.as_str()), (1, "role"));
    assert_eq!(first.calls[0].arguments, [Some(string("db")), Some(Literal::Integer(3))]);
    assert_eq!(manifest.nodes[1].names[0].0, NodeName::Default);
    let of: Vec<_> = manifest.uses.iter().map(|one| one.node).collect();
    assert_eq!(of, [Some(0), Some(2)]);
    assert!(text[first.range.as_usize()].ends_with("lookup('k')\n}"));
}

#[test]
fn templates_hold_code_between_their_tags() {
    let text = "<%- | String $p | -%>\nlookup('no') <%# lookup('no') %> <%% lookup('no') %>\n<%= lookup('a') %><% if $x { -%>\n 'unbalanced\n<%= \"%>\" + $y.lookup %>\n<% } -%> lookup('no')\n";
    let manifest = parse_epp(text, None);
    let found: Vec<_> = manifest.readers.iter().map(keys).collect();
    assert_eq!(found, [Some(vec!["a".to_owned()]), None]);
    assert!(manifest.complete);
}

#[test]
fn ruby_calls_functions_of_puppet() {
    let text = "<%= scope.call_function('lookup', ['a', nil, 'deep', {}]) %>\nx = call_function(:lookup, \"b::#{name}\", Hash)\nscope.function_hiera_array(['c', []])\ncall_function 'hiera_include', key\ncall_function('notice', 'no')\ncall_function('lookup', 'd' + x)\nmy_call_functions('lookup', 'no')\n";
    let readers = parse_ruby_calls(text);
    let found: Vec<_> = readers.iter().map(|one| keys(one).map(|keys| keys[0].clone())).collect();
    let some = |key: &str| Some(key.to_owned());
    assert_eq!(found, [some("a"), some("b::*"), some("c"), None, some("d*")]);
    assert_eq!(readers[0].merge.as_ref().unwrap().strategy, AskedStrategy::Literal(string("deep")));
    assert_eq!(readers[0].default.as_ref().unwrap().text, "{}");
    assert_eq!(readers[1].value_type.as_ref().unwrap().text, "Hash");
    assert_eq!(
        readers[2].merge.as_ref().unwrap().strategy.literal_value(),
        Some(&string("unique"))
    );
    assert!(readers.iter().all(|one| one.form == CallForm::Ruby));
}

/// Returns the steps that find the ends of so many heredocs, each with a tag of its own.
fn heredoc_steps(count: usize, is_closed: bool) -> usize {
    let mut text = String::new();
    for number in 0..count {
        text.push_str(&format!("$x{number} = @(EN{number:05})\n"));
        if is_closed {
            text.push_str(&format!("  text\n  | EN{number:05}\n"));
        }
    }
    crate::text::work::take();
    assert_eq!(parse(&text, None).complete, is_closed);
    crate::text::work::take().steps
}

#[test]
fn steps_that_seek_the_ends_of_heredocs_grow_as_the_text_does() {
    for is_closed in [true, false] {
        let (few, many) = (heredoc_steps(50, is_closed), heredoc_steps(200, is_closed));
        assert!(few > 0 && many <= 4 * few, "{few} steps for 50 heredocs, {many} for 200");
    }
}

#[test]
fn a_heredoc_ends_at_the_first_line_with_its_tag() {
    let text = "$a = @(A)\n  one\n  | A\n$b = @(A)\n  two\n  | A\nclass m($c = 1) {}\n";
    let manifest = parse(text, None);
    assert!(manifest.complete);
    assert_eq!(manifest.definitions[0].name, "m");
}
