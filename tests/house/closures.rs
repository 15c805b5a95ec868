//! Few local closures have a name: one that is used once is an expression, and one that is used more
//! often is a function.

use regex::Regex;

use crate::architecture::sources;

/// The most named closures per 10,000 lines of code without comments and blanks: a bound that may
/// only shrink.
const MOST: usize = 30;

#[test]
fn few_closures_have_names() {
    let named = Regex::new(r"\blet (?:mut )?\w+ =\s+&?(?:move )?\|").expect("a regular expression");
    let (mut closures, mut lines) = (0, 0);
    for source in sources() {
        closures += named.find_iter(&source.code).count();
        lines += source.code.lines().filter(|line| !line.trim().is_empty()).count();
    }
    assert!(closures > 50, "the closures are where this test looks for them");
    let share = closures * 10_000 / lines;
    assert!(
        share <= MOST,
        "{closures} closures have names, {share} per 10,000 lines; at most {MOST} may: \
         inline one that is used once, make a function of one that is used more often"
    );
}
