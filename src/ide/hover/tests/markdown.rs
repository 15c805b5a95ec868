//! The same text as Markdown.

use expect_test::expect;

use super::{check_markdown, hovered};

#[test]
fn markdown_of_a_merge() {
    check_markdown(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- levels Node Role Common
#- /data/nodes/web01.yaml
users: {ada: {uid: 1}}
#- /data/roles/web.yaml
users: {grace: {uid: 2, shell: zsh}, ada: {uid: 9}}
#- /data/common.yaml
lookup_options: {users: {merge: deep}}
us$0ers: {grace: {shell: bash}}
"#,
        expect![[r#"
            <users>
            **users**  
            node `web01`  
            merged deep from 3 files: [Node](file:///data/nodes/web01.yaml#L1), [Role](file:///data/roles/web.yaml#L1), [Common](file:///data/common.yaml#L2) · set in [data/common.yaml:1](file:///data/common.yaml#L1)

            ```yaml
            grace: {shell: zsh, uid: 2}  # Role
            ada: {uid: 1}                # Node
            ```
        "#]],
    );
}

/// Some clients hide addresses and wrap lines as if they did not, and show each backslash.
#[test]
fn markdown_without_links() {
    let text = r#"
#- scope web01 role=web facts.os.family=Debian
#- /data/common.yaml
lookup_options: {my_users: {merge: {strategy: deep, knockout_prefix: "--"}}}
my_us$0ers: {"*ada_l*": 1}
"#;
    let expected = expect![[r#"
        <my_users>
        **my_users**  
        node `web01`  
        from **Common** data/common.yaml:2 · merge deep (knockout_prefix '--') · set in data/common.yaml:1

        ```yaml
        '*ada_l*': 1
        ```
    "#]];
    expected.assert_eq(&hovered(text, true, None));
}

#[test]
fn markdown_escapes_hostile_names() {
    check_markdown(
        r#"
#- scope web01 role=web facts.os.family=Debian
"[x](http://evil) <b>*$0": "```"
"#,
        expect![[r#"
            <"[x](http://evil) <b>*">
            **\[x\](http\://evil) \<b\>\***  
            node `web01`  
            from **Common** [data/common.yaml:1](file:///data/common.yaml#L1)

            ````yaml
            '```'
            ````
        "#]],
    );
}

/// VS Code's renderer removes backslashes before the brackets of a label.
#[test]
fn names_of_files_and_levels_are_no_images() {
    check_markdown(
        r#"
#- scope web01 role=web facts.os.family=Debian
#- /hiera.yaml
version: 5
hierarchy:
  - {name: "![l](https:evil.example)", path: "![n](https:evil.example).yaml"}
  - {name: Common, path: common.yaml}
#- /data/![n](https:evil.example).yaml
lookup_options: {"![k](https:evil.example)": {merge: deep}}
"![k](https:evil.example)": {"![a](https:evil.example)": 1}
#- /data/common.yaml
"![k](https:evil.example)$0": {"![b](https:evil.example)": 2}
"#,
        expect![[r#"
            <"![k](https:evil.example)">
            **"!\[k\](https:evil.example)"**  
            node `web01`  
            merged deep from 2 files: [&#33;&#91;l&#93;(https:evil.example)](file:///data/![n](https:evil.example).yaml#L2), [Common](file:///data/common.yaml#L1) · set in [data/&#33;&#91;n&#93;(https:evil.example).yaml:1](file:///data/![n](https:evil.example).yaml#L1)

            ```yaml
            '![b](https:evil.example)': 2  # Common
            '![a](https:evil.example)': 1  # ![l](https:evil.example)
            ```
        "#]],
    );
}
