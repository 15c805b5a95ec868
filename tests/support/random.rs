//! Numbers that look random and are the same for the same seed.
//!
//! `HIERA_LS_SEED` repeats a run, `HIERA_LS_RANDOM` sets how much of it there is. A suite with a
//! new seed in each run prints the seed.

use std::time::{SystemTime, UNIX_EPOCH};

/// A generator of numbers (splitmix64): neighbouring seeds have nothing in common.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// True once in `limit` times.
    pub fn one_in(&mut self, limit: usize) -> bool {
        self.below(limit) == 0
    }

    /// One of `choices`.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// Returns a text or a path of a random repository with letters of two and of four bytes in some of
/// its keys, values and names of roles: `k2` becomes `ké2`.
pub fn widen_letters(text: &str) -> String {
    let pairs = [
        ("k2", "ké2"),
        ("k4", "k😀4"),
        ("one", "öne😀"),
        ("shared", "shäred"),
        ("web", "wéb"),
        ("gold", "gö😀ld"),
        ("# about", "# 日 about"),
    ];
    pairs.iter().fold(text.to_owned(), |text, (plain, wide)| text.replace(plain, wide))
}

/// A value in YAML that plain words and small numbers do not stand for: letters beyond ASCII, control
/// characters, empty collections, numbers at a limit.
pub fn odd_value(random: &mut Random) -> &'static str {
    random.pick(&[
        "\"é😀\"",
        "\"a\\u0001\\e\"",
        "\"\\u0378\\uFEFF\"",
        "\"\\u007f\\u0085\"",
        "\"a\\u2028b\"",
        "~",
        "''",
        "{}",
        "[]",
        "1.50",
        "'1.5'",
        "yes",
        "1e3",
        "9007199254740993",
        "-0.0",
        "{é: {ü: [1]}}",
        "[~, 1.0, '1', {}]",
        "\" a \"",
        "\"50 %\"",
    ])
}

/// The seed of a run, from `HIERA_LS_SEED` or from the clock; printed with the name of the test.
pub fn seed(test: &str) -> u64 {
    let clock = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(1, |since| since.as_nanos() as u64 >> 10)
    };
    let seed = number("HIERA_LS_SEED").unwrap_or_else(clock);
    println!("{test}: HIERA_LS_SEED={seed}");
    seed
}

/// How many random cases to try: `HIERA_LS_RANDOM`, else `default`.
pub fn count(default: usize) -> usize {
    number("HIERA_LS_RANDOM").map_or(default, |count| count as usize)
}

/// The number that a variable of the environment has; `None` where it is not set.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .filter(|text| !text.is_empty())
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}
