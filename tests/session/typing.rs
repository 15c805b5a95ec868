//! A session at the keyboard with the real server: no answer is stale, the last one is right, a
//! hover is not held back by a burst of edits. `HIERA_LS_EDITS` sets the number of edits (400),
//! `HIERA_LS_SEED` repeats a session. Memory is measured by the bench `session`, over a session
//! long enough for that.

use std::time::Duration;

use crate::generate::Shape;
use crate::keyboard;
use crate::support;
use crate::support::random::{self, Random};

#[test]
fn no_answer_is_stale_and_the_last_is_right() {
    let seed = random::seed("typing");
    let edits = support::variable("HIERA_LS_EDITS")
        .map_or(400, |edits| edits.parse().expect("HIERA_LS_EDITS is a number"));
    let mut repo = Shape { seed, files: 80, lines: 30 }.write(&support::scratch("typing"));
    let file = repo.add_large(200);
    let outcome = keyboard::session(
        &mut support::hiera_ls(["server"]),
        &repo,
        &file,
        edits,
        &mut Random::new(seed),
    );
    assert_eq!(outcome.stale, 0, "answers for a version that another answer had gone beyond");
    assert!(outcome.wrong.is_empty(), "{}", outcome.wrong.join("\n"));
    let slowest = outcome.hovers.iter().max().expect("some hovers were asked for");
    // A server that answers only after the burst's findings, or never, takes longer than any
    // machine does for a hover.
    assert!(*slowest < Duration::from_secs(10), "a hover took {slowest:?}");
}
