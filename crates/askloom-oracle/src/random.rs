//! A random generator of our own. Data that was generated once has to come out the same bytes with every later
//! version, on every machine; crates reserve the right to change their streams. SplitMix64 (Steele, Lea and
//! Flood, 2014) is a dozen lines, passes the usual batteries, and its state can be derived from what is to be
//! made, so that the ten-millionth instance is made without the ones before it.

/// A stream of random numbers that its seed alone decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A stream for one thing among many: the same parts give the same stream.
    #[must_use]
    pub fn of(seed: u64, parts: &[u64]) -> Self {
        let mut state = mix(seed);
        for &part in parts {
            state = mix(state ^ mix(part.wrapping_add(GOLDEN)));
        }
        Self { state }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// Evenly from `0..n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        // What is left over at the top would make the first values more frequent.
        let whole = u64::MAX - (u64::MAX % n + 1) % n;
        loop {
            let number = self.next_u64();
            if number <= whole {
                return number % n;
            }
        }
    }

    /// Evenly from `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.wrapping_sub(low).cast_unsigned();
        let offset = if span == u64::MAX { self.next_u64() } else { self.below(span + 1) };
        low.wrapping_add(offset.cast_signed())
    }

    /// Evenly from 0 up to, but not including, 1.
    pub fn unit(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
        let bits = (self.next_u64() >> 11) as f64;
        bits / 9_007_199_254_740_992.0
    }

    /// True with that probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of them; nothing if there is none.
    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        let index = self.below(from.len() as u64);
        from.get(usize::try_from(index).ok()?)
    }
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The published first numbers for seed 1234567: the stream can never change unnoticed.
    #[test]
    fn the_stream_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..5).map(|_| random.next_u64()).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn bounds_hold() {
        let mut random = Random::new(7);
        assert!((0..1000).all(|_| random.below(7) < 7));
        assert!((0..1000).all(|_| (-3..=3).contains(&random.between(-3, 3))));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
        random.between(i64::MIN, i64::MAX);
        assert_eq!(random.between(5, 5), 5);
        assert_eq!(random.below(0), 0);
    }
}
