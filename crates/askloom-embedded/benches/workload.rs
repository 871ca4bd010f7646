//! The keys and values of the benchmarks: what a design makes of aggregates. Blocks with random ids, each
//! with a system entry and a dozen parts; keys of 20 to 60 bytes; values of 50 B to 8 KB, 0.7 KB on average.
//! Everything follows from a number, so that no list of keys has to be kept in memory.

pub(crate) const ENTRIES_PER_BLOCK: u64 = 13;

/// A small generator of random numbers (splitmix64): the same run everywhere, and no dependency.
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}

fn mix(number: u64) -> u64 {
    let mut mixed = number;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The prefix of a block: the collection and a random-looking id.
pub(crate) fn block(number: u64) -> Vec<u8> {
    let mut key = b"games\0".to_vec();
    key.extend(mix(number).to_be_bytes());
    key.extend(mix(number ^ 0xffff_0000).to_be_bytes());
    key
}

/// The key of entry `number`: the first of a block is its system entry, the others its parts.
pub(crate) fn key(number: u64) -> Vec<u8> {
    let mut key = block(number / ENTRIES_PER_BLOCK);
    match number % ENTRIES_PER_BLOCK {
        0 => key.push(b'#'),
        part => {
            let pad = usize::try_from(part * 2).unwrap_or(0);
            key.extend(format!("rounds/{part:05}{:.<pad$}", "").bytes());
        }
    }
    key
}

/// Text that compresses about as well as real records do.
#[derive(Debug)]
pub(crate) struct Values {
    pool: Vec<u8>,
}

impl Values {
    pub(crate) fn new() -> Self {
        let mut random = Random(7);
        let words: Vec<String> = (0..4096).map(|_| format!("{:x}", random.next() >> 36)).collect();
        let mut pool = Vec::new();
        while pool.len() < 1 << 20 {
            let word = usize::try_from(random.below(4096)).ok().and_then(|at| words.get(at));
            pool.extend(
                word.map(|word| format!("\"{word}\": {}, ", random.below(1000))).unwrap_or_default().bytes(),
            );
        }
        Self { pool }
    }

    /// 70 % small fields, 25 % parts of about half a KB, 5 % whole aggregates of 8 KB; system entries have 64 B.
    pub(crate) fn value(&self, random: &mut Random, number: u64) -> &[u8] {
        let length = match (number % ENTRIES_PER_BLOCK, random.below(100)) {
            (0, _) => 64,
            (_, 0..70) => 50 + random.below(250),
            (_, 70..95) => 300 + random.below(700),
            (_, _) => 8000,
        };
        let length = usize::try_from(length).unwrap_or(0);
        let start = usize::try_from(random.below((self.pool.len() - length) as u64)).unwrap_or(0);
        self.pool.get(start..start + length).unwrap_or_default()
    }
}
