use super::*;

fn check_extract(text: &str, expected: Expect) {
    check(RefactoringKind::Extract, text, expected);
}

fn check_inline(text: &str, expected: Expect) {
    check(RefactoringKind::Inline, text, expected);
}

#[test]
fn a_repeated_value_becomes_a_key() {
    check_extract(
        "a:\n  $0x:\n    - one # first\n    - two\nb: [one, two]\nc:\n  - [one, two]\n",
        expect![[r#"
            Extract the value, 3 times in this file, into `shared_x`
              /data/common.yaml
                a:
                  x: "%{alias('shared_x')}"
                b: "%{alias('shared_x')}"
                c:
                  - "%{alias('shared_x')}"
                shared_x:
                  - one # first
                  - two
        "#]],
    );
    check_extract(
        "a:\n  $0x:\n    - one # first\n    - two\nb: {y: [one, two]}\n",
        expect![[r#"
            Extract the value, 2 times in this file, into `shared_x`
              /data/common.yaml
                a:
                  x: "%{alias('shared_x')}"
                b: {y: "%{alias('shared_x')}"}
                shared_x:
                  - one # first
                  - two
        "#]],
    );
    check_extract(
        "a: long text$0\nb: {c: long text}\nshared_a: 1\n",
        expect![[r#"
        Extract the value, 2 times in this file, into `shared_a_2`
          /data/common.yaml
            a: "%{alias('shared_a_2')}"
            b: {c: "%{alias('shared_a_2')}"}
            shared_a: 1
            shared_a_2: long text
    "#]],
    );
    check_extract("a: lo$0ng text\nb: other\n", expect![[r#""#]]);
    // Tags and anchors between the key and the value would be lost.
    check_extract(
        "a: long text$0\nb: !!str long text\nc: long text\nd: &d long text\n",
        expect![[""]],
    );
    check_extract(
        "a_b-c.d: long text$0\nb: {c: long text}\n",
        expect![[r#"
            Extract the value, 2 times in this file, into `shared_a_b_c_d`
              /data/common.yaml
                a_b-c.d: "%{alias('shared_a_b_c_d')}"
                b: {c: "%{alias('shared_a_b_c_d')}"}
                shared_a_b_c_d: long text
        "#]],
    );
}

#[test]
fn booleans_numbers_and_single_words_are_not_extracted() {
    for value in ["true", "12345", "1.25", "'8080'", "present", "\"a-long_word\"", "~", "0644"] {
        check_extract(&format!("$0a: {value}\nb: {value}\nc: [{value}]\n"), expect![[r#""#]]);
    }
}

#[test]
fn selected_text_of_strings_becomes_a_key() {
    check_extract(
        "a: http://$0db.example.org$0/x\nb: 'db.example.org: 1'\nc: \"%{lookup('db.example.org')} db.example.org\"\n",
        expect![[r#"
            Extract the text, 3 times in this file, into `shared_text`
              /data/common.yaml
                a: "http://%{lookup('shared_text')}/x"
                b: "%{lookup('shared_text')}: 1"
                c: "%{lookup('db.example.org')} %{lookup('shared_text')}"
                shared_text: db.example.org
        "#]],
    );
}

#[test]
fn an_alias_gives_way_to_the_value_of_its_key() {
    check_inline(
        "a: \"%{ali$0as('b')}\"\nb:\n  - {x: 1, y: 'it''s'}\n  - [yes, 'no']\n",
        expect![[r#"
            Inline the value of `b`
              /data/common.yaml
                a:
                  - x: 1
                    y: it's
                  - - true
                    - 'no'
                b:
                  - {x: 1, y: 'it''s'}
                  - [yes, 'no']
        "#]],
    );
    check_inline(
        "a: [\"%{ali$0as('b.x')}\", 2]\nb: {x: {y: 1}}\n",
        expect![[r#"
        Inline the value of `b.x`
          /data/common.yaml
            a: [{'y': 1}, 2]
            b: {x: {y: 1}}
    "#]],
    );
    check_inline(
        "lookup_options: {b: {convert_to: Sensitive}}\na: \"%{ali$0as('b')}\"\nb: 4711\n",
        expect![[r#"
            Inline the value of `b`
              refused: the value is Sensitive, and the change would repeat it
        "#]],
    );
    check_inline(
        "#- levels Role Common\n#- node a role=web\n#- node b role=db\n#- /data/roles/web.yaml\nb: 2\n#- /data/common.yaml\na: \"%{ali$0as('b')}\"\nb: 1\n",
        expect![[r#"
            Inline the value of `b` (changes 1 of 2 nodes)
              /data/common.yaml
                a: 1
                b: 1
        "#]],
    );
}

#[test]
fn a_value_is_not_extracted_where_twenty_names_are_taken() {
    let taken: Vec<String> = (2..=20).map(|n| format!("shared_a_{n}: 1\n")).collect();
    let text = format!("a: long text$0\nb: long text\nshared_a: 1\n{}", taken.concat());
    check_extract(&text, expect![[r#""#]]);
}

#[test]
fn an_alias_of_yaml_gives_way_to_the_text_of_its_anchor() {
    let inline = |text: &str, expected| check(RefactoringKind::Inline, text, expected);
    inline(
        "a: &x [one, 'two'] # list\nb:\n  c: *$0x # kept\n",
        expect![[r#"
        Inline the value of `*x`
          /data/common.yaml
            a: &x [one, 'two'] # list
            b:
              c: [one, 'two'] # kept
    "#]],
    );
    inline(
        "a: &x\n  # inside\n  k: 1\n  l:\n  - y\nb:\n  - *$0x\n  - 2\n",
        expect![[r#"
            Inline the value of `*x`
              /data/common.yaml
                a: &x
                  # inside
                  k: 1
                  l:
                  - y
                b:
                  - k: 1
                    l:
                    - y
                  - 2
        "#]],
    );
    inline(
        "a: &x |\n  one\n    two\nb:\n    c: {d: 1}\n    e: *x$0\n",
        expect![[r#"
        Inline the value of `*x`
          /data/common.yaml
            a: &x |
              one
                two
            b:
                c: {d: 1}
                e: |
                    one
                      two
    "#]],
    );
    inline(
        "a: &x one, two\nb: [*x$0, z]\n",
        expect![[r#"
        Inline the value of `*x`
          /data/common.yaml
            a: &x one, two
            b: ['one, two', z]
    "#]],
    );
    inline(
        "a: &x {k: &y 1}\nb: *x$0\n",
        expect![[r#"
        Inline the value of `*x`
          refused: the anchored value has anchors, aliases or tags of its own
    "#]],
    );
    inline("a: &x {k: 1}\nb:\n  <<: *x$0\n", expect![[""]]);
    inline("a: &x\n  k: 1\nb: [*x$0]\n", expect![[""]]);
}
