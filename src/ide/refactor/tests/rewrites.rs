use super::*;

fn check_rewrites(text: &str, expected: Expect) {
    check(RefactoringKind::Rewrite, text, expected);
}

#[test]
fn a_strategy_is_written_beside_other_options_and_tells_its_effect() {
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
