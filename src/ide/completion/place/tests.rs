use expect_test::{Expect, expect};

use super::*;

/// Describes the place at `$0`.
fn at(text: &str, is_json: bool) -> String {
    let offset = text.find("$0").expect("a cursor");
    let text = Text::new(&text.replacen("$0", "", 1));
    let Some(place) = CursorContext::find_place(&text, offset as u32, is_json) else {
        return "nothing".into();
    };
    let steps = place.path.iter().map(|step| match step {
        CursorStep::Key(key) => key.clone(),
        CursorStep::Item(number) => number.to_string(),
    });
    let path: Vec<String> = steps.collect();
    let flow = if place.in_flow { " flow" } else { "" };
    let others = if place.others.is_empty() {
        String::new()
    } else {
        format!(" beside {}", place.others.join(","))
    };
    format!(
        "{:?} at [{}] {:?}{flow} {:?}+{:?}{others}",
        place.spot,
        path.join("/"),
        place.style,
        place.typed,
        place.behind
    )
}

fn check(cases: &[&str], expected: Expect) {
    let lines: Vec<String> = cases.iter().map(|case| format!("{}\n", at(case, false))).collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn keys() {
    check(
        &[
            "$0",
            "a: 1\n$0",
            "a: 1\nprofile::we$0",
            "a: 1\nprofile:$0",
            "prof$0ile::web: 3\n",
            "\"prof$0\"",
            "a:\n  $0",
            "a:\n  b: 1\n  c$0\n  d: 1\ne: 1\n",
            "a:\n  b:\n    c: 1\n  d$0",
            "a:\n  - b: 1\n    c$0\n",
            "a:\n- b: 1\n  c: 2\n- d$0\n",
            "a:\n- x\n$0",
            "a:\n  - - b: 1\n      c$0",
            "a: &x\n  <<: *y\n  b$0",
            "ä: 1\nöl$0",
            "a: 1\r\nb:\r\n  c: 1\r\n  d$0\r\n",
        ],
        expect![[r#"
            Key at [] Plain ""+""
            Key at [] Plain ""+"" beside a
            Key at [] Plain "profile::we"+"" beside a
            Key at [] Plain "profile:"+"" beside a
            Key at [] Plain "prof"+"ile::web: 3"
            Key at [] Double "\"prof"+"\""
            Key at [a] Plain ""+""
            Key at [a] Plain "c"+"" beside b,d
            Key at [a] Plain "d"+"" beside b
            Key at [a/0] Plain "c"+"" beside b
            Key at [a/1] Plain "d"+""
            Key at [] Plain ""+"" beside a
            Key at [a/0/0] Plain "c"+"" beside b
            Key at [a] Plain "b"+"" beside <<
            Key at [] Plain "öl"+"" beside ä
            Key at [b] Plain "d"+"" beside c
        "#]],
    );
}

#[test]
fn values() {
    check(
        &[
            "a: $0",
            "a: on$0",
            "a: \"x y$0\"",
            "a: 'x$0",
            "a: # note\n  - $0",
            "a:\n  - x\n  - y$0\n",
            "a: &x y$0",
            "a: {b: $0}",
            "a: {b: 1, c$0}",
            "a: {b: 1,\n  c: [x, y$0]}",
            "a: [{b: 'x$0",
            "a: {\n  b: 1,\n  c$0\n}\n",
        ],
        expect![[r#"
            Value at [a] Plain ""+""
            Value at [a] Plain "on"+""
            Value at [a] Double "\"x y"+"\""
            Value at [a] Single "'x"+""
            Key at [a/0] Plain ""+""
            Key at [a/1] Plain "y"+""
            Value at [a] Plain "y"+""
            Value at [a/b] Plain flow ""+"}" beside b
            Key at [a] Plain flow "c"+"}" beside b
            Value at [a/c/1] Plain flow "y"+"]}"
            Value at [a/0/b] Single flow "'x"+"" beside b
            Key at [a] Plain flow "c"+"" beside b
        "#]],
    );
}

#[test]
fn text_in_which_only_tokens_can_stand() {
    check(
        &[
            "a: |\n  b: $0",
            "a: |\n  b: 1\n$0",
            "a: |\n  b: 1\nc$0",
            "a: \"x\n  y$0",
            "a: x\n  y$0",
            "a: \"x\" $0",
            "a: [1] $0",
            "a:\n    b: 1\n  $0",
            "a:\n  $0\n    b: 1\n",
            "a: # b$0",
            "# b$0",
            "a: 1 # b$0",
            "a: {b: 1} # c$0",
            "---$0",
        ],
        expect![[r#"
            Text at [a] Block "b: "+""
            Key at [] Plain ""+"" beside a
            Key at [] Plain "c"+"" beside a
            Text at [a] Double "y"+""
            Text at [a] Plain "y"+""
            Text at [] Plain ""+""
            Text at [] Plain ""+""
            Text at [a] Plain ""+""
            Text at [a] Plain ""+""
            nothing
            nothing
            nothing
            nothing
            nothing
        "#]],
    );
}

#[test]
fn an_open_quote_or_bracket_above_spoils_its_own_entry_only() {
    check(
        &["a: \"x\nb$0", "a:\n  b: [1,\n  c$0", "a:\n  b: {\nc: 1\nd$0", "a:\n  b: \"%{x\n  c: $0"],
        expect![[r#"
            Key at [] Plain "b"+"" beside a
            Key at [a] Plain "c"+"" beside b
            Key at [] Plain "d"+"" beside c
            Value at [a/c] Plain ""+""
        "#]],
    );
}

#[test]
fn json() {
    let cases = [
        "{$0}",
        "{\"a\": 1, \"b$0\"}",
        "{\n  \"a\": {\n    \"b\": [1, \"x$0\"]\n  }\n}\n",
        "{\"a\": \"%{lookup('x$0",
        "{\"a\": 1, \"b\"$0",
        "{\"a\": 1, \"b\":$0",
    ];
    let lines: Vec<String> = cases.iter().map(|case| format!("{}\n", at(case, true))).collect();
    expect![[r#"
        Key at [] Plain flow ""+"}"
        Key at [] Double flow "\"b"+"\"}" beside a
        Value at [a/b/1] Double flow "\"x"+"\"]"
        Value at [a] Double flow "\"%{lookup('x"+"" beside a
        Text at [] Double flow "\"b\""+"" beside a
        Value at [b] Plain flow ""+"" beside a,b
    "#]]
    .assert_eq(&lines.concat());
}

#[test]
fn a_long_entry_is_read_from_its_beginning() {
    let lines = "  x: 1\n".repeat(5_000);
    assert_eq!(at(&format!("z: 1\na:\n{lines}  b:\n    $0"), false), at("a:\n  b:\n    $0", false));
}
