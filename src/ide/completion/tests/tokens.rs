use expect_test::expect;

use super::{accepted, labels, words};

const REPO: &str = "
#- scope web01 role=web facts.os.family=Debian facts.os.name=Debian facts.kernel=Linux osfamily=Debian kernel=Linux
#- node web02 role=web facts.os.family=Debian facts.os.name=Ubuntu facts.kernel=Linux kernel=Linux
#- node db01 role=db facts.os.family=RedHat facts.os.name=Rocky facts.kernel=Linux kernel=Linux
#- levels Role Common
#- /data/roles/web.yaml
profile::web::port: 443
ports: {http: 80, 'a.b': 1}
list: [a, b]
motd: hello
";

fn in_common(text: &str) -> String {
    format!("{REPO}#- /data/common.yaml\n{text}")
}

#[test]
fn functions_and_variables() {
    expect![[r#"
        lookup: the value of another key, as text
        alias: the value of another key with its type; the token must be the whole string
        literal: the text itself: `%{literal('%')}{x}` is the text `%{x}`
        scope: the value of a variable, as without a function
        hiera: the older name of `lookup`
        facts
        trusted
        environment
        server_facts
        role
        osfamily
        module_name
        kernel
    "#]]
    .assert_eq(&words(&in_common("a: \"%{$0}\"")));
    let labels = labels(&in_common("a: \"x %{$0}\""));
    assert!(!labels.contains(&"alias".to_owned()), "alias must be the whole string");
}

#[test]
fn parts_of_variables_with_their_values() {
    expect![[r#"
        family
        name
        release
        architecture
    "#]]
    .assert_eq(&words(&in_common("a: \"%{facts.os.$0}\"")));
    expect![[r#"
        certname
        hostname
        domain
        extensions
        authenticated
    "#]]
    .assert_eq(&words(&in_common("a: \"%{trusted.$0}\"")));
    expect![[r#"
        family
    "#]]
    .assert_eq(&words(&in_common("a: \"%{scope('facts.os.f$0')}\"")));
}

#[test]
fn keys_as_arguments() {
    for text in [
        "\"%{lookup('p$0",
        "\"%{alias('p$0')}\"",
        "'%{hiera(\"p$0",
        "\"%{lookup(\\\"p$0\\\")}\"",
        "'%{lookup(''p$0'')}'",
    ] {
        assert_eq!(
            labels(&in_common(&format!("a: {text}"))),
            ["ports", "profile::web::port"],
            "{text}"
        );
    }
    expect![[r#"
        http: data/roles/web.yaml
    "#]]
    .assert_eq(&words(&in_common("a: \"%{lookup('ports.$0')}\"")));
    assert_eq!(labels(&in_common("a: \"%{lookup('list.$0')}\"")), ["0", "1"]);
    assert_eq!(labels(&in_common("a: \"%{literal('$0')}\"")), ["%"]);
}

#[test]
fn tokens_are_closed_and_need_quotes() {
    let all = [
        ("a: \"%{$0", "lookup"),
        ("a: \"%{$0}\"", "lookup"),
        ("a: '%{$0}'", "lookup"),
        ("a: %{$0", "lookup"),
        ("a: %{$0}", "environment"),
        ("a: x %{$0", "environment"),
        ("a: \"%{lookup('p$0\"", "ports"),
        ("a: \"%{lookup('p$0')}\"", "ports"),
        ("a: \"%{lookup('p$0orts')} x\"", "profile::web::port"),
        ("a: '%{lookup(''p$0'", "ports"),
        ("a: %{lookup('p$0", "ports"),
        ("a: |\n  %{facts.os.$0\n", "family"),
        ("a: [\"%{facts.os.f$0\"]", "family"),
        ("a: \"ä %{facts.os.f$0}\"", "family"),
    ];
    let lines: String = all.iter().map(|(text, label)| accepted(&in_common(text), label)).collect();
    expect![[r#"
        a: "%{lookup('')}
        snippet a: "%{lookup('${1:key}')\}
        a: "%{lookup('')}"
        snippet a: "%{lookup('${1:key}')\}"
        a: '%{lookup("")}'
        snippet a: '%{lookup("${1:key}")\}'
        a: "%{lookup('')}"
        snippet a: "%{lookup('${1:key}')\}"
        a: "%{environment}"
        a: x %{environment}
        a: "%{lookup('ports')}"
        a: "%{lookup('ports')}"
        a: "%{lookup('profile::web::port')} x"
        a: '%{lookup(''ports'')}'
        a: "%{lookup('ports')}"
          %{facts.os.family}
        a: ["%{facts.os.family}"]
        a: "ä %{facts.os.family}"
    "#]]
    .assert_eq(&lines);
}

#[test]
fn nothing_where_no_word_fits() {
    for text in ["# %{$0", "a: 1 # %{lookup('$0", "a: \"%{x}$0\"", "a: \"%{foo('$0\"", "%{$0: 1"] {
        let labels = labels(&in_common(text));
        assert!(
            !labels.iter().any(|label| label == "lookup" || label == "motd"),
            "{text}: {labels:?}"
        );
    }
}
