//! Hashes that stay the same, and their digits.

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
