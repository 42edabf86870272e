//! Random numbers for what property tests draw.

/// Numbers that look random, the same ones for the same seed (xorshift).
pub fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}
