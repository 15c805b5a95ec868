//! Hashes that stay the same, quick ones, and digits.

use std::hash::{BuildHasher, Hash};

use foldhash::SharedSeed;
use foldhash::fast::SeedableRandomState;

/// Returns a quick hash. Another process has other hashes, so that no file can be made of names with
/// equal ones.
pub fn quick_hash<T: ?Sized + Hash>(value: &T) -> u64 {
    SeedableRandomState::with_seed(0, SharedSeed::global_random()).hash_one(value)
}

/// Returns a quick hash of 32 bits, for lists that are sorted by it.
pub fn short_hash<T: ?Sized + Hash>(value: &T) -> u32 {
    quick_hash(value) as u32
}

/// Fowler, Noll and Vo's hash 1a of 64 bits: the same in all versions, which the standard library's
/// is not.
pub fn fnv_hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns bytes as hexadecimal digits, two a byte, in lower case.
pub fn hex_digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
