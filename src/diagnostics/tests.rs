//! The findings of the rules in small workspaces. `catalogue` checks the examples of the pages; the
//! others go by subject.

mod adopted;
mod catalogue;
mod config;
mod declarations;
mod ignores;
mod loops;
mod manifests;
mod options;
mod parameters;
mod session;
mod tokens;
mod values;
mod workspaces;

use expect_test::Expect;

use super::{Needs, RulesConfig, check_file, check_file_early};
use crate::fixture::Fixture;
use crate::text::work;

/// All findings of a workspace in the fixture language, as `hiera-ls check` shows them.
fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    expected.assert_eq(&fixture.rendered_findings());
    early_findings_are_final(text, &fixture.settings.rules);
}

/// Checks that rules ask for no index unless they state so, and that a file has all findings of the
/// others before there is one.
fn early_findings_are_final(text: &str, config: &RulesConfig) {
    let snapshot = Fixture::new(text).snapshot;
    let known = Needs::known_at_once(&snapshot);
    let paths = || snapshot.files().map(|file| &file.path);
    work::take();
    let early: Vec<_> = paths().map(|path| check_file_early(&snapshot, path, config)).collect();
    assert_eq!(work::take().indexed, 0, "the data are indexed\n{text}");
    for environment in &snapshot.environments().all {
        assert!(snapshot.known_manifests(environment).is_none(), "the code is indexed\n{text}");
    }
    for (path, early) in paths().zip(early) {
        let environment = snapshot.environments().environment_of(path);
        if environment.is_some_and(|it| snapshot.may_be_third_party(it, path)) {
            assert!(early.is_empty(), "an index tells whether the module is checked\n{text}");
            continue;
        }
        let early: Vec<String> = early.iter().map(|it| format!("{it:?}")).collect();
        let all = check_file(&snapshot, path, config).into_iter();
        let final_ones = all.filter(|finding| finding.rule.needs <= known);
        let final_ones: Vec<String> = final_ones.map(|it| format!("{it:?}")).collect();
        assert_eq!(early, final_ones, "{path}\n{text}");
    }
}
