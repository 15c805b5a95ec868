//! The actions of a hover, in the form that the client announced.

use expect_test::{Expect, expect};

use crate::fixture::Fixture;
use crate::hiera::key::LookupKey;
use crate::ide::evaluation::Evaluations;
use crate::ide::hover::{Action, ActionCall, HoverConfig, hover};
use crate::text::FilePath;

fn check(data: &str, markdown: bool, expected: Expect) {
    let action = |action: Action, path: &FilePath, key: &LookupKey| match action {
        Action::Explain if markdown => {
            Some(ActionCall::Link(format!("command:x?{path}#{}", key.text)))
        }
        Action::Explain => Some(ActionCall::Command(":HieraExplain".to_owned())),
        Action::SelectNode => (!markdown).then(|| ActionCall::Command(":HieraNode".to_owned())),
        Action::Evaluate => Some(ActionCall::Command(":HieraEvaluate".to_owned())),
    };
    let fixture = Fixture::new(data);
    let config = HoverConfig {
        markdown,
        max_value_lines: 3,
        max_locations: 5,
        action: Some(&action),
        ..HoverConfig::default()
    };
    let found = hover(&fixture.snapshot, fixture.position(), &config);
    expected.assert_eq(&found.map_or_else(String::new, |hover| hover.text));
}

#[test]
fn a_value_that_is_cut_has_a_way_to_all_of_it() {
    check(
        "li$0st: [[1], [2], [3], [4], [5]]\n",
        true,
        expect![[r#"
            **list**  
            for any node, as none is known  
            from **Common** data/common.yaml:1

            ```yaml
            - - 1
            - - 2
            - - 3
            # … 2 more lines
            ```

            [all of it](command:x?/data/common.yaml#list)

            [explain](command:x?/data/common.yaml#list)
        "#]],
    );
    check(
        "li$0st: [[1], [2], [3], [4], [5]]\n",
        false,
        expect![[r#"
            list
            for any node, as none is known
            from Common data/common.yaml:1

              - - 1
              - - 2
              - - 3
              # … 2 more lines

            all of it: :HieraExplain

            explain: :HieraExplain · choose a node: :HieraNode
        "#]],
    );
}

/// An element is explained with its list; a value of one line more than fit is whole.
#[test]
fn the_key_is_the_one_that_a_lookup_can_be_asked_for() {
    check(
        "a: {b: [1, $02]}\n",
        true,
        expect![[r#"
            **a.b.1**  
            for any node, as none is known  
            from **Common** data/common.yaml:1

            ```yaml
            2
            ```

            [explain](command:x?/data/common.yaml#a.b)
        "#]],
    );
    check(
        "li$0st: [[1], [2], [3], [4]]\n",
        false,
        expect![[r#"
            list
            for any node, as none is known
            from Common data/common.yaml:1

              - - 1
              - - 2
              - - 3
              - - 4

            explain: :HieraExplain · choose a node: :HieraNode
        "#]],
    );
}

#[test]
fn a_variable_has_no_actions() {
    check(
        "a: '%{ro$0le}'\n",
        true,
        expect![[r#"
            **%{role}**  
            for any node, as none is known

            unknown here: this file's path does not tell it
        "#]],
    );
    check(
        "lookup_options: {$0a: {merge: deep}}\n",
        true,
        expect![[r#"
        **lookup_options**

        `a` serves 0 known keys
    "#]],
    );
}

const STORE: &str = "#- /hiera.yaml
version: 5
hierarchy:
- {name: Node, path: 'nodes/%{trusted.certname}.yaml'}
- {name: Store, lookup_key: t::store}
- {name: Common, path: common.yaml}
#- /data/common.yaml
a$0: 1
b: 2
";

/// The last line of the hover over a key, with evaluations switched on or off.
fn last_line(data: &str, evaluations: Option<&Evaluations>) -> String {
    let fixture = Fixture::new(data);
    let command = |action: Action, _: &FilePath, _: &LookupKey| match action {
        Action::Evaluate => Some(ActionCall::Command(":HieraEvaluate".to_owned())),
        Action::Explain | Action::SelectNode => None,
    };
    let config = HoverConfig {
        max_value_lines: 3,
        max_locations: 5,
        action: Some(&command),
        evaluations,
        ..HoverConfig::default()
    };
    let found = hover(&fixture.snapshot, fixture.position(), &config).expect("a hover");
    found.text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn a_key_that_functions_decide_about_can_be_evaluated_where_that_is_switched_on() {
    let on = Evaluations::default();
    let offered = "evaluate with the custom backends: :HieraEvaluate";
    assert_eq!(last_line(STORE, Some(&on)), offered);
    assert_ne!(last_line(STORE, None), offered);
    let plain = STORE.replace("lookup_key: t::store", "path: store.yaml");
    assert_ne!(last_line(&plain, Some(&on)), offered);
    // A published function is not asked for a key that the function's options exclude.
    let confined = STORE.replace(
        "lookup_key: t::store",
        "lookup_key: hiera_vault, options: {confine_to_keys: ['^b$']}",
    );
    assert_ne!(last_line(&confined, Some(&on)), offered);
}
