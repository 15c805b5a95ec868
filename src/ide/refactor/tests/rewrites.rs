use super::*;

fn check_rewrites(text: &str, expected: Expect) {
    check(RefactoringKind::Rewrite, text, expected);
}

#[test]
fn a_strategy_is_written_beside_other_options_with_its_effect_in_the_title() {
    check_rewrites(
        "#- levels Role Common\n#- node a role=web\n#- node b role=db\n#- /data/roles/web.yaml\n$0k: [1]\n#- /data/common.yaml\nlookup_options:\n  x::y:\n    merge: first\nk: [2]\n",
        expect![[r#"
            Merge `k` by `unique` in lookup_options of data/common.yaml (changes 1 of 2 nodes)
              /data/common.yaml
                lookup_options:
                  x::y:
                    merge: first
                  k:
                    merge: unique
                k: [2]
        "#]],
    );
    check_rewrites(
        "$0k: {a: 1}\n",
        expect![[r#"
            Merge `k` by `hash` in lookup_options of data/common.yaml
              /data/common.yaml
                lookup_options:
                  k:
                    merge: hash

                k: {a: 1}
            Merge `k` by `deep` in lookup_options of data/common.yaml
              /data/common.yaml
                lookup_options:
                  k:
                    merge: deep

                k: {a: 1}
        "#]],
    );
    check_rewrites(
        "lookup_options: {x: {merge: hash}}\n$0k: {a: 1}\n",
        expect![[r#"
        Merge `k` by `hash` in lookup_options of data/common.yaml
          /data/common.yaml
            lookup_options: {x: {merge: hash}, 'k': {merge: hash}}
            k: {a: 1}
        Merge `k` by `deep` in lookup_options of data/common.yaml
          /data/common.yaml
            lookup_options: {x: {merge: hash}, 'k': {merge: deep}}
            k: {a: 1}
    "#]],
    );
    check_rewrites("lookup_options: {k: {merge: hash}}\n$0k: {a: 1}\n", expect![[r#""#]]);
}

#[test]
fn options_of_a_key_are_written_where_at_most_a_pattern_has_some() {
    for (name, count) in [("k", 0), ("^k", 1)] {
        let text = format!("lookup_options:\n  {name}: {{convert_to: Array}}\n$0k: [1]\n");
        let all = found(&Fixture::new(&text), &[RefactoringKind::Rewrite]);
        assert_eq!(all.len(), count, "{name}: {all:?}");
    }
}

#[test]
fn text_that_puppet_reads_as_another_type_is_quoted() {
    check_rewrites(
        "k:\n  mode: 07$050\n",
        expect![[r#"
        Quote the value, which Puppet reads as an Integer (may change values: no node is known)
          /data/common.yaml
            k:
              mode: '0750'
    "#]],
    );
    check_rewrites(
        "k: {o$0n: x, n: 1}\n",
        expect![[r#"
        Quote the key, which Puppet reads as a Boolean (may change values: no node is known)
          /data/common.yaml
            k: {'on': x, n: 1}
    "#]],
    );
    check_rewrites(
        "k: 2020-$001-01\n",
        expect![[r#"
            Quote the value, which Puppet reads as a date (Puppet refuses the file as it is)
              /data/common.yaml
                k: '2020-01-01'
        "#]],
    );
    check_rewrites("k: $012\nl: 'x'\n", expect![[r#""#]]);
}

#[test]
fn legacy_facts_give_way_to_structured_ones() {
    check_rewrites(
        "#- node a osfamily=Debian facts.os.family=Debian hostname=a facts.networking.hostname=b\nk: \"%{::osf$0amily} %{hostname}\"\nl: \"%{facts.os.family} %{other}\"\n",
        expect![[r#"
            Use `facts.os.family` for the legacy fact `osfamily` (changes none of 1 node; others may change)
              /data/common.yaml
                k: "%{facts.os.family} %{hostname}"
                l: "%{facts.os.family} %{other}"
            Use structured facts for all 2 legacy ones of this file (changes 1 of 1 node)
              /data/common.yaml
                k: "%{facts.os.family} %{facts.networking.hostname}"
                l: "%{facts.os.family} %{other}"
        "#]],
    );
}

#[test]
fn a_file_is_sorted_with_its_comments_and_anchors_above_aliases() {
    let sort = |text: &str, expected: Expect| check(RefactoringKind::Sort, text, expected);
    sort(
        "# vim: ft=yaml\n---\n# of d\n$0d: 1\n\n# a section\n\n# of c\nc: &x\n  - 1\n  # inside\na: *x\nb: 1\n# at the end",
        expect![[r#"
            Sort the 4 keys of this file
              /data/common.yaml
                # vim: ft=yaml
                ---
                b: 1

                # a section

                # of c
                c: &x
                  - 1
                  # inside
                a: *x

                # of d
                d: 1
                # at the end
        "#]],
    );
    sort("$0a: 1\nb: 1\n", expect![[r#""#]]);
    sort(
        "d: 1\n\n$0c: 1\nb: 1\n\na: 1\nz: 1\n",
        expect![[r#"
        Sort the 5 keys of this file
          /data/common.yaml
            a: 1

            b: 1

            c: 1

            d: 1
            z: 1
    "#]],
    );
    sort(
        "lookup_options: {s: {convert_to: Sensitive}}\n$0z: 1\ns: 4711\na: 1\n",
        expect![[r#"
        Sort the 4 keys of this file
          /data/common.yaml
            lookup_options: {s: {convert_to: Sensitive}}
            a: 1
            s: 4711
            z: 1
    "#]],
    );
    sort(
        "lookup_options: {'^s': {convert_to: Sensitive}}\n$0s2: 1\ns1: 4711\n",
        expect![[r#"
        Sort the 3 keys of this file
          refused: the value is Sensitive, and the change would repeat it
    "#]],
    );
}

const EYAML: &str = "#- /hiera.yaml\nversion: 5\nhierarchy:\n  - name: Secrets\n    lookup_key: eyaml_lookup_key\n    path: secrets.eyaml\n    options:\n      pkcs7_public_key: ";

#[test]
fn text_that_cannot_be_encrypted_is_reported_without_the_text() {
    let title = |options: &str, data: &str| {
        let fixture = Fixture::new(&format!("{EYAML}{options}#- /data/secrets.eyaml\n{data}"));
        let all = found(&fixture, &[RefactoringKind::Rewrite]);
        let one = all.into_iter().find(|one| one.title.starts_with("Encrypt"))?;
        Some((one.title, one.change.err().unwrap_or_default()))
    };
    let (title_of, reason) = title("/etc/passwd\n", "k: hun$0ter2\n").expect("it is refused");
    assert_eq!(title_of, "Encrypt the value in `k`");
    assert!(!reason.contains("hunter2"), "{reason}");
    assert!(reason.contains("PEM"), "{reason}");
    let other = "/etc/passwd\n  - name: Other\n    path: secrets.eyaml\n";
    let (_, reason) = title(other, "k: hun$0ter2\n").expect("it is refused");
    assert!(reason.contains("the level `Other` reads the file, too"), "{reason}");
    for data in ["k: ENC[PKCS7,a$0a]\n", "k: ''$0\n", "lookup_options:\n  k:\n    merge: fir$0st\n"]
    {
        assert_eq!(title("/etc/passwd\n", data), None, "{data}");
    }
    assert_eq!(title("~\n", "k: hun$0ter2\n"), None, "no key is named");
}
