//! Numbers that look random and are the same for the same seed (splitmix64).

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// True once in `limit` times.
    pub fn one_in(&mut self, limit: usize) -> bool {
        self.below(limit) == 0
    }

    /// One of these; there must be one.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

/// The seed of `HIERA_LS_SEED`, or one from the clock. Whoever uses it prints it.
pub fn seed() -> u64 {
    let given = std::env::var("HIERA_LS_SEED").ok().and_then(|seed| seed.parse().ok());
    given.unwrap_or_else(|| {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |time| u64::from(time.subsec_nanos()))
    })
}
