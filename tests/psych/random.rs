//! Random numbers from a printed seed (xorshift), and how many are wanted.

/// A generator of random numbers.
pub struct Random(u64);

impl Random {
    /// The generator with the seed of `HIERA_LS_SEED`, or one from the clock; the seed is printed.
    pub fn new(test: &str) -> Random {
        let seed = std::env::var("HIERA_LS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64)
        });
        eprintln!("{test}: HIERA_LS_SEED={seed}");
        Random(seed | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    /// One of these.
    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// How many random texts to compare.
pub fn count(default: usize) -> usize {
    std::env::var("HIERA_LS_RANDOM").ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}
