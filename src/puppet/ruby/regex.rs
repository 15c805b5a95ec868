//! Ruby's regular expressions, which `lookup_options` patterns are written in.
//!
//! The engine is Oniguruma in its Ruby syntax, the ancestor of Ruby's own. It follows Ruby for
//! syntax that Rust's `regex` refuses (look-around, possessive quantifiers, `\h`) or reads
//! otherwise (`^`, `$`, `(?m)`).
//!
//! Chosen on evidence: of the first 254 patterns of `tests/puppet/regexes`, each tried on seven texts
//! (1,778 answers of Ruby 3.1), `fancy-regex` 0.20 in its Oniguruma mode with `^` and `$` at lines
//! answers 45 otherwise than Ruby, this engine 26, and with `rewrite` 13. All patterns that are known
//! to differ are listed in `tests/puppet/regexes/known.txt`: the options `(?a)`, `(?d)` and `(?u)`, a
//! few escapes that are not whole, `\u{…}` with several letters, the case of letters beyond ASCII in
//! classes, groups within look-behinds. Of 800,000 random patterns without these none differs.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use onig::{MatchParam, RegexOptions, Region, SearchOptions, Syntax};

use crate::text::work::{Work, count_work};

mod pieces;
mod rewrite;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct RubyRegex(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    regex: onig::Regex,
    pattern: Box<str>,
}

/// Whether a pattern matches a text, and the steps back that this took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// `None` when the engine gave up.
    pub is_match: Option<bool>,
    /// The steps, rounded up to the next limit with which the engine was started; 1 for those that
    /// the first one allows. The same whether the verdict was remembered or not.
    pub steps: u32,
}

/// Why a pattern is no regular expression, in Ruby's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexError {
    /// The message with the pattern, such as `end pattern with unmatched parenthesis: /^(/`.
    pub message: String,
}

impl RegexError {
    fn new(description: &str, pattern: &str) -> RegexError {
        RegexError { message: format!("{description}: /{pattern}/") }
    }
}

/// How many times a match may step back before it is given up: far more than any sane pattern
/// needs, a fraction of a second.
const RETRY_LIMIT: u32 = 1_000_000;
/// The limits with which [`RubyRegex::verdict`] tries one match after the other, as the engine does
/// not tell how many steps it took. Sane patterns stay below the first.
const RETRY_LIMITS: [u32; 4] = [1_000, 10_000, 100_000, RETRY_LIMIT];
/// How many verdicts a pattern remembers.
const MAX_VERDICTS: usize = 1024;
/// Verdicts by the text that they are about.
type VerdictsByText = HashMap<Box<str>, Verdict>;
/// The verdicts that took many steps, by pattern.
static VERDICTS: LazyLock<RwLock<HashMap<Box<str>, VerdictsByText>>> =
    LazyLock::new(RwLock::default);

/// Patterns that were compiled in this process.
static COMPILED: LazyLock<RwLock<HashMap<Box<str>, RubyRegex>>> = LazyLock::new(RwLock::default);
/// How many compiled patterns are kept.
const MAX_COMPILED: usize = 1024;

impl RubyRegex {
    /// Compiles a pattern, or returns the compiled one from a cache: every lookup assembles its
    /// options again, with the same patterns.
    pub fn new(pattern: &str) -> Result<RubyRegex, RegexError> {
        if let Some(known) = COMPILED.read().unwrap_or_else(PoisonError::into_inner).get(pattern) {
            return Ok(known.clone());
        }
        let regex =
            compile_onig(pattern).map_err(|error| RegexError::new(error.description(), pattern))?;
        if let Some(refusal) = rewrite::refusal_of_ruby(pattern) {
            return Err(RegexError::new(refusal, pattern));
        }
        // The written pattern decides whether Ruby refuses the pattern: a bracket expression may stand
        // where an escape may not. If Oniguruma refuses the rewritten pattern alone, the written one is
        // used, which matches more than Ruby: a false error would be worse.
        let regex = match rewrite::rewrite_classes(pattern) {
            Some(again) => compile_onig(&again).unwrap_or(regex),
            None => regex,
        };
        let compiled = RubyRegex(Arc::new(Compiled { regex, pattern: pattern.into() }));
        let mut known = COMPILED.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_COMPILED {
            known.clear(); // A pattern is typed letter by letter.
        }
        known.insert(pattern.into(), compiled.clone());
        Ok(compiled)
    }

    /// Whether the pattern matches anywhere in `text`; `None` when the engine gave up on a pattern
    /// that explodes. For types it then does not match.
    pub fn is_match(&self, text: &str) -> Option<bool> {
        self.verdict(text).is_match
    }

    /// Returns whether the pattern matches anywhere in `text`, with the cost. Verdicts that took
    /// the engine long are remembered in the process, so that no request waits for them again.
    pub fn verdict(&self, text: &str) -> Verdict {
        if let Some(is_match) = self.is_match_within(RETRY_LIMITS[0], text) {
            return Verdict { is_match: Some(is_match), steps: 1 };
        }
        let pattern = &*self.0.pattern;
        let known = VERDICTS.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = known.get(pattern).and_then(|known| known.get(text)) {
            return *verdict;
        }
        drop(known);
        let mut limits = RETRY_LIMITS[1..].iter();
        let verdict = limits
            .find_map(|limit| {
                let is_match = Some(self.is_match_within(*limit, text)?);
                Some(Verdict { is_match, steps: *limit })
            })
            .unwrap_or(Verdict { is_match: None, steps: RETRY_LIMIT });
        let mut known = VERDICTS.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_COMPILED {
            known.clear();
        }
        let of_pattern = known.entry(pattern.into()).or_default();
        if of_pattern.len() >= MAX_VERDICTS {
            of_pattern.clear();
        }
        of_pattern.insert(text.into(), verdict);
        verdict
    }

    /// Returns the part of `text` that the pattern matches first; the outer `None` when the engine
    /// gave up.
    pub fn first_match<'t>(&self, text: &'t str) -> Option<Option<&'t str>> {
        self.find(text, 0).map(|found| found.and_then(|(start, end)| text.get(start..end)))
    }

    /// Returns the text without all that the pattern matches, as Ruby's `gsub` leaves it; `None`
    /// when the engine gave up.
    pub fn without_matches(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let (mut kept, mut from) = (0, 0);
        while from <= text.len() {
            let Some((start, end)) = self.find(text, from)? else { break };
            out.push_str(text.get(kept..start).unwrap_or_default());
            kept = end;
            // The search goes on one character behind an empty match.
            from = if end > start {
                end
            } else {
                end + text[end..].chars().next().map_or(1, char::len_utf8)
            };
        }
        out.push_str(&text[kept..]);
        Some(out)
    }

    /// Returns the first match from a place on; the outer `None` when the engine gave up.
    fn find(&self, text: &str, from: usize) -> Option<Option<(usize, usize)>> {
        self.find_within(RETRY_LIMIT, text, from)
    }

    /// Returns the first match from a place on; the outer `None` when a match at some place needs
    /// more steps back than `limit`.
    fn find_within(&self, limit: u32, text: &str, from: usize) -> Option<Option<(usize, usize)>> {
        let mut region = Region::new();
        let found = self.search(limit, text, from, Some(&mut region))?;
        Some(found.and_then(|_| region.pos(0)))
    }

    /// Returns whether the pattern matches anywhere; `None` as for [`find_within`](Self::find_within).
    fn is_match_within(&self, limit: u32, text: &str) -> Option<bool> {
        Some(self.search(limit, text, 0, None)?.is_some())
    }

    /// Returns the byte at which the first match begins, and puts the places of its groups into the
    /// region; the outer `None` as for [`find_within`](Self::find_within).
    fn search(
        &self,
        limit: u32,
        text: &str,
        from: usize,
        region: Option<&mut Region>,
    ) -> Option<Option<usize>> {
        count_work(Work::Match);
        let mut param = MatchParam::default();
        param.set_retry_limit_in_match(limit);
        let options = SearchOptions::SEARCH_OPTION_NONE;
        self.0.regex.search_with_param(text, from, text.len(), options, region, param).ok()
    }
}

/// Compiles a pattern. Ruby takes a quantifier behind an anchor, Oniguruma only behind some groups.
fn compile_onig(pattern: &str) -> Result<onig::Regex, onig::Error> {
    compile_as_written(pattern).or_else(|error| {
        let again = rewrite::group_targets(pattern);
        again.and_then(|again| compile_as_written(&again).ok()).ok_or(error)
    })
}

fn compile_as_written(pattern: &str) -> Result<onig::Regex, onig::Error> {
    onig::Regex::with_options(pattern, RegexOptions::REGEX_OPTION_NONE, Syntax::ruby())
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::work;

    #[test]
    fn what_only_ruby_reads() {
        for (pattern, text, matches) in [
            ("^a::(?!b)", "a::c", true),
            ("^a::(?!b)", "a::b", false),
            ("^k", "k2", true),
            ("^foo|zz", "kzz", true),
            ("^\\h+$", "beef", true),
            ("^(?<name>a)\\k<name>", "aa", true),
            ("^a++b", "aab", true),
            ("^(?i)ABC", "abc", true),
            ("^[[:alpha:]]+\\z", "abc", true),
        ] {
            assert_eq!(
                RubyRegex::new(pattern).unwrap().is_match(text),
                Some(matches),
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn what_ruby_refuses_in_its_words() {
        assert_eq!(
            RubyRegex::new("^(").unwrap_err().message,
            "end pattern with unmatched parenthesis: /^(/"
        );
        for pattern in ["^[a", "^(?<a", "^\\", "*"] {
            assert!(RubyRegex::new(pattern).is_err(), "{pattern}");
        }
        for pattern in ["^a{2", "^a**", "^a{,3}"] {
            assert!(RubyRegex::new(pattern).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_explodes_is_given_up() {
        let text = "a".repeat(40) + "!";
        let verdict = Verdict { is_match: None, steps: RETRY_LIMIT };
        assert_eq!(RubyRegex::new("^(a|a)*$").unwrap().verdict(&text), verdict);
        assert_eq!(RubyRegex::new("^(a|a)*$").unwrap().without_matches(&text), None);
        assert_eq!(
            RubyRegex::new("^-*|b").unwrap().without_matches("--a\n-ab"),
            Some("a\na".into())
        );
    }

    #[test]
    fn a_costly_verdict_is_remembered_with_its_cost() {
        let pattern = RubyRegex::new("^(?:b|b)*$").unwrap();
        let text = "b".repeat(11) + "!";
        work::take();
        let verdict = pattern.verdict(&text);
        assert_eq!(verdict, Verdict { is_match: Some(false), steps: 10_000 });
        assert_eq!(work::take().matches, 2);
        assert_eq!(pattern.verdict(&text), verdict);
        assert_eq!(work::take().matches, 1);
        assert_eq!(pattern.verdict("b"), Verdict { is_match: Some(true), steps: 1 });
    }

    #[test]
    fn verdicts_stay_the_same_when_too_many_are_forgotten() {
        let pattern = RubyRegex::new("^(?:c|c)*$").unwrap();
        let verdict = Verdict { is_match: Some(false), steps: 10_000 };
        for n in 0..=MAX_VERDICTS {
            assert_eq!(pattern.verdict(&format!("{}!{n}", "c".repeat(11))), verdict);
        }
        work::take();
        assert_eq!(pattern.verdict("ccccccccccc!0"), verdict);
        assert_eq!(work::take().matches, 2, "the first verdict was forgotten");
    }
}
