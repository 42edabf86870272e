//! A hash that is the same everywhere, for names that outlive the program.

/// FNV-1a with 64 bits: the same for the same bytes on every machine, with every compiler and in
/// every release. It spreads well and keeps no secret.
///
/// Source: <http://www.isthe.com/chongo/tech/comp/fnv/>.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StableHash(u64);

impl Default for StableHash {
    /// The hash of nothing.
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl StableHash {
    /// The hash of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self::default().with(bytes)
    }

    /// The hash of what was hashed so far and `bytes` after it.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        Self(
            bytes.iter().fold(self.0, |state, &byte| {
                (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            }),
        )
    }

    /// The 64 bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_reference() {
        // The test vectors of the authors.
        assert_eq!(StableHash::of(b"").bits(), 0xcbf2_9ce4_8422_2325);
        assert_eq!(StableHash::of(b"a").bits(), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(StableHash::of(b"foobar").bits(), 0x8594_4171_f739_67e8);
        assert_eq!(StableHash::of(b"foo").with(b"bar"), StableHash::of(b"foobar"));
    }
}
