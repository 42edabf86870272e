//! Random numbers that are functions of their arguments, so that any value can be made again.

/// 64 random bits of a seed and two numbers (the finalizer of `SplitMix64`).
pub(crate) fn hash(seed: u64, a: u64, b: u64) -> u64 {
    let mut bits = seed
        .wrapping_add(a.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_add(b.wrapping_mul(0xd1b5_4a32_d192_ed03));
    for _ in 0..2 {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
    }
    bits
}

/// A number of 0 to 1 from random bits.
pub(crate) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number of `0..len` from random bits.
pub(crate) fn below(bits: u64, len: usize) -> usize {
    ((u128::from(bits) * len as u128) >> 64) as usize
}

/// A sequence of random numbers.
pub(crate) struct Sequence {
    seed: u64,
    count: u64,
}

impl Sequence {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, count: 0 }
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.count += 1;
        hash(self.seed, self.count, 0)
    }

    pub(crate) fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    pub(crate) fn below(&mut self, len: usize) -> usize {
        below(self.bits(), len)
    }
}

/// A shuffling of `0..len` that needs no table: `i` goes to `(factor * i + shift) mod len`.
pub(crate) struct Permutation {
    len: u64,
    factor: u64,
    shift: u64,
}

impl Permutation {
    pub(crate) fn new(seed: u64, len: u64) -> Self {
        let gcd = |mut a: u64, mut b: u64| {
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        // A factor near the golden section spreads neighbours far apart.
        let mut factor = (len as f64 * 0.618_033_988_75) as u64 + 1;
        while gcd(factor, len) != 1 {
            factor += 1;
        }
        Self { len, factor: factor % len.max(1), shift: hash(seed, 0x5348_4946, len) % len }
    }

    pub(crate) fn apply(&self, number: u64) -> u64 {
        let image = u128::from(self.factor) * u128::from(number) + u128::from(self.shift);
        (image % u128::from(self.len)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_reaches_every_number_once() {
        for len in [1, 2, 3, 8, 10, 97, 1000] {
            let permutation = Permutation::new(7, len);
            let mut images: Vec<u64> = (0..len).map(|i| permutation.apply(i)).collect();
            images.sort_unstable();
            assert_eq!(images, (0..len).collect::<Vec<u64>>());
        }
    }
}
