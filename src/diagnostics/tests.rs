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

use crate::fixture::Fixture;

/// All findings of a workspace in the fixture language, as `hiera-ls check` shows them.
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&Fixture::new(text).rendered_findings());
}
