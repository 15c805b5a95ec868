//! How long values of groups of nodes differ from the one that is shown in full.

use expect_test::expect;

use super::{check, check_markdown};

const USERS: &str = "
#- levels Node Role Common
#- node web01 trusted.certname=web01 role=web
#- node web02 trusted.certname=web02 role=web
#- node db01 trusted.certname=db01 role=db
#- node db02 trusted.certname=db02 role=db
#- node mx01 trusted.certname=mx01 role=mx
";

const COMMON: &str = "
us$0ers:
  ada: {uid: 1, shell: zsh, groups: [wheel, staff]}
  grace: {uid: 2, shell: bash, home: /home/grace}
  linus: {uid: 3, shell: fish, home: /home/linus}
";

fn merged(nodes: &str) -> String {
    format!(
        "{USERS}{nodes}#- /data/common.yaml\nlookup_options: {{users: {{merge: {{strategy: deep, knockout_prefix: '--'}}}}}}{COMMON}"
    )
}

#[test]
fn a_hash_differs_in_leaves_and_adds_and_lacks_keys() {
    let nodes = "#- /data/nodes/db01.yaml
users:
  linus: --
  ada:
    uid: 9
    a.b: x
#- /data/roles/mx.yaml
users:
  ada:
    groups: [mail]
";
    check(
        &merged(nodes),
        expect![[r#"
            <users>
            users
            in all 5 known nodes:

            3 nodes: web01, web02, db02
            from Common data/common.yaml:2 · merge deep (knockout_prefix '--') · set in data/common.yaml:1

              ada:
                uid: 1
                shell: zsh
                groups: [wheel, staff]
              grace: {uid: 2, shell: bash, home: /home/grace}
              linus: {uid: 3, shell: fish, home: /home/linus}

            - in db01 · differs in ada.uid, linus; adds ada.'a.b' ← Node data/nodes/db01.yaml:4
            - in mx01 · differs in ada.groups ← Role data/roles/mx.yaml:3
        "#]],
    );
    check_markdown(
        &merged(nodes),
        expect![[r#"
            <users>
            **users**  
            in all 5 known nodes:

            3 nodes: `web01`, `web02`, `db02`  
            from **Common** [data/common.yaml:2](file:///data/common.yaml#L2) · merge deep (knockout_prefix '--') · set in [data/common.yaml:1](file:///data/common.yaml#L1)

            ```yaml
            ada:
              uid: 1
              shell: zsh
              groups: [wheel, staff]
            grace: {uid: 2, shell: bash, home: /home/grace}
            linus: {uid: 3, shell: fish, home: /home/linus}
            ```

            - in `db01` · differs in `ada.uid`, `linus`; adds `ada.'a.b'` ← **Node** [data/nodes/db01.yaml:4](file:///data/nodes/db01.yaml#L4)
            - in `mx01` · differs in `ada.groups` ← **Role** [data/roles/mx.yaml:3](file:///data/roles/mx.yaml#L3)
        "#]],
    );
}

#[test]
fn more_than_three_differences_are_counted() {
    let own = "#- /data/nodes/db01.yaml
users:
  ada: {uid: 9, shell: ksh, groups: []}
  grace: {uid: 8, shell: ksh}
  ken: {}
";
    check(
        &format!("{USERS}{own}#- /data/common.yaml{COMMON}"),
        expect![[r#"
            <users>
            users
            in all 5 known nodes:

            4 nodes: web01, web02, db02, …
            from Common data/common.yaml:1

              ada:
                uid: 1
                shell: zsh
                groups: [wheel, staff]
              grace: {uid: 2, shell: bash, home: /home/grace}
              linus: {uid: 3, shell: fish, home: /home/linus}

            - in db01 · differs in ada.uid, ada.shell, ada.groups and 2 more; adds ken; lacks grace.home, linus ← Node data/nodes/db01.yaml:2
        "#]],
    );
}

#[test]
fn lists_of_scalars_add_and_lack_elements() {
    let list = "[ntp1.example.net, ntp2.example.net, ntp3.example.net, ntp4.example.net]";
    check(
        &format!(
            "{USERS}#- /data/roles/web.yaml
ntp: [ntp1.example.net, ntp5.example.net, ntp3.example.net, ntp4.example.net]
#- /data/nodes/db01.yaml
ntp: [ntp4.example.net, ntp3.example.net, ntp2.example.net, ntp1.example.net]
#- /data/nodes/mx01.yaml
ntp:
  - ntp1.example.net
  - ntp1.example.net
  - ntp2.example.net
  - ntp3.example.net
  - ntp4.example.net
#- /data/common.yaml
nt$0p: {list}
"
        ),
        expect![[r#"
            <ntp>
            ntp
            in all 5 known nodes:

            2 nodes: web01, web02
            from Role data/roles/web.yaml:1

              [ntp1.example.net, ntp5.example.net, ntp3.example.net, ntp4.example.net]

            - in db01 · adds ntp2.example.net; lacks ntp5.example.net; the others in another order ← Node data/nodes/db01.yaml:1
            - in db02 · adds ntp2.example.net; lacks ntp5.example.net
            - in mx01 · adds ntp1.example.net, ntp2.example.net; lacks ntp5.example.net ← Node data/nodes/mx01.yaml:3
        "#]],
    );
}

#[test]
fn lists_of_hashes_count_elements() {
    check(
        &format!(
            "{USERS}#- /data/roles/web.yaml
rules:
  - {{port: 80, source: 192.0.2.0/24, action: accept}}
  - {{port: 443, source: 192.0.2.0/24, action: accept}}
#- /data/common.yaml
ru$0les:
  - {{port: 80, source: 192.0.2.0/24, action: accept}}
  - {{port: 22, source: 192.0.2.0/24, action: accept}}
  - {{port: 25, source: 192.0.2.0/24, action: accept}}
"
        ),
        expect![[r#"
            <rules>
            rules
            in all 5 known nodes:

            3 nodes: db01, db02, mx01
            from Common data/common.yaml:1

              - {port: 80, source: 192.0.2.0/24, action: accept}
              - {port: 22, source: 192.0.2.0/24, action: accept}
              - {port: 25, source: 192.0.2.0/24, action: accept}

            - in 2 nodes: web01, web02 · adds 1 element; lacks 2 elements ← Role data/roles/web.yaml:3
        "#]],
    );
}

/// A value of another kind has no parts to compare.
#[test]
fn a_long_value_of_another_kind_stays_as_it_is() {
    check(
        &format!(
            "{USERS}#- /data/roles/web.yaml
users: [ada-lovelace, grace-hopper, linus-torvalds, ken-thompson, dennis-ritchie]
#- /data/common.yaml{COMMON}"
        ),
        expect![[r#"
            <users>
            users
            in all 5 known nodes:

            3 nodes: db01, db02, mx01
            from Common data/common.yaml:1

              ada:
                uid: 1
                shell: zsh
                groups: [wheel, staff]
              grace: {uid: 2, shell: bash, home: /home/grace}
              linus: {uid: 3, shell: fish, home: /home/linus}

            - [ada-lovelace, grace-hopper, linus-torvalds, ken-thompson, d… in 2 nodes: web01, web02 ← Role data/roles/web.yaml:1
        "#]],
    );
}

/// Nodes that are not known get the value of the common level.
#[test]
fn the_value_of_other_nodes_differs() {
    check(
        "
#- levels Node Role Common
#- /data/nodes/web01.yaml
users:
  ada: {uid: 9}
#- /data/common.yaml
lookup_options: {users: {merge: deep}}
us$0ers:
  ada: {uid: 1, shell: zsh, groups: [wheel, staff]}
  grace: {uid: 2, shell: bash, home: /home/grace}
",
        expect![[r#"
            <users>
            users
            in the only known node web01, and in others:

            web01
            merged deep from 2 files: Node data/nodes/web01.yaml:1, Common data/common.yaml:2 · set in data/common.yaml:1

              ada:
                uid: 9                                         # Node
                shell: zsh                                     # Common
                groups: [wheel, staff]                         # Common
              grace: {uid: 2, shell: bash, home: /home/grace}  # Common

            - in other nodes · differs in ada.uid
        "#]],
    );
}

/// For a secret, the note names the path alone; for one in a list, its mark.
#[test]
fn secrets_are_named_by_their_paths() {
    check(
        &format!(
            "{USERS}#- /data/roles/web.yaml
db: {{host: db.example.net, port: 5432, user: shop, name: shop, password: 'ENC[PKCS7,MIIBeQYJKoZI]'}}
#- /data/common.yaml
d$0b: {{host: db.example.net, port: 5432, user: shop, name: shop, password: 'ENC[PKCS7,AAABeQYJKoZI]'}}
"
        ),
        expect![[r#"
            <db>
            db
            in all 5 known nodes:

            3 nodes: db01, db02, mx01
            from Common data/common.yaml:1

              host: db.example.net
              port: 5432
              user: shop
              name: shop
              password: ENC[encrypted]

            - in 2 nodes: web01, web02 · differs in password ← Role data/roles/web.yaml:1
        "#]],
    );
    check(
        &format!(
            "{USERS}#- /data/roles/web.yaml
tokens: ['ENC[PKCS7,MIIBeQYJKoZI]', first.example.net, second.example.net, third.example.net]
#- /data/common.yaml
tok$0ens: ['ENC[PKCS7,AAABeQYJKoZI]', first.example.net, second.example.net, third.example.net]
"
        ),
        expect![[r#"
            <tokens>
            tokens
            in all 5 known nodes:

            3 nodes: db01, db02, mx01
            from Common data/common.yaml:1

              - ENC[encrypted]
              - first.example.net
              - second.example.net
              - third.example.net

            - in 2 nodes: web01, web02 · adds ENC[encrypted]; lacks ENC[encrypted] ← Role data/roles/web.yaml:1
        "#]],
    );
}

const OPTIONS: &str = "
#- levels Node Role Common
#- node web01 trusted.certname=web01 role=web
#- node web02 trusted.certname=web02 role=web
#- node db01 trusted.certname=db01 role=db
#- node mx01 trusted.certname=mx01 role=mx
";

#[test]
fn long_texts_that_begin_alike_show_where_they_differ() {
    let common = "base_host=10.0.0.1;recovery=1;fc_factor=0.8;fc_limit=64;segment=0";
    check(
        &format!(
            "{OPTIONS}#- /data/roles/db.yaml\nopts: {common};key=/etc/ssl/db.pem;weight=1\n\
             #- /data/roles/mx.yaml\nopts: {common};key=/etc/ssl/mx.pem;weight=1\n\
             #- /data/common.yaml\nopt$0s: {common};key=/etc/ssl/common.pem;weight=1;more=of everything\n"
        ),
        expect![[r#"
            <opts>
            opts
            in all 4 known nodes:

            - base_host=10.0.0.1;recovery=1;…=/etc/ssl/common.pem;weight=1;… in 2 nodes: web01, web02
            - base_host=10.0.0.1;recovery=1;…=/etc/ssl/db.pem;weight=1 in db01 ← Role data/roles/db.yaml:1
            - base_host=10.0.0.1;recovery=1;…=/etc/ssl/mx.pem;weight=1 in mx01 ← Role data/roles/mx.yaml:1

            first value found
        "#]],
    );
}

#[test]
fn a_long_text_that_other_nodes_get_as_well_is_not_repeated() {
    let long = "word ".repeat(20);
    check(
        &format!(
            "#- levels Node Role Common\n#- /data/nodes/web01.yaml\nopts: short\n\
             #- /data/nodes/web02.yaml\nx: 1\n#- /data/nodes/web03.yaml\nx: 1\n\
             #- /data/common.yaml\nopt$0s: '{long}'\n"
        ),
        expect![[r#"
            <opts>
            opts
            in all 3 known nodes, and in others:

            - 'word word word word word word word word word word word word… in 2 nodes: web02, web03
            - short in web01 ← Node data/nodes/web01.yaml:1
            - in other nodes · the same value

            first value found
        "#]],
    );
}
