//! What plans read, as bits: there are thousands of plans to compare with each other.

/// For each of some plans the picks that it reads, of those that any of them reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reads {
    /// Who has which bit.
    picks: Vec<usize>,
    /// One row after the other.
    bits: Vec<u64>,
}

impl Reads {
    /// No plan yet, of those that read these.
    pub(super) fn of(picks: impl Iterator<Item = usize>) -> Self {
        let mut picks: Vec<usize> = picks.collect();
        picks.sort_unstable();
        picks.dedup();
        Self { picks, bits: Vec::new() }
    }

    /// One at least, so that no row is empty.
    fn words(&self) -> usize {
        self.picks.len().div_ceil(64).max(1)
    }

    pub(super) fn picks(&self) -> &[usize] {
        &self.picks
    }

    /// One more plan.
    pub(super) fn push<'r>(&mut self, reads: impl Iterator<Item = &'r usize>) -> &[u64] {
        let at = self.bits.len();
        self.bits.resize(at + self.words(), 0);
        let row = self.bits.get_mut(at..).unwrap_or_default();
        for pick in reads {
            if let Ok(bit) = self.picks.binary_search(pick) {
                row.get_mut(bit / 64).into_iter().for_each(|word| *word |= 1 << (bit % 64));
            }
        }
        row
    }

    /// What a plan reads.
    pub(super) fn row(&self, plan: usize) -> &[u64] {
        let words = self.words();
        self.bits.get(plan * words..(plan + 1) * words).unwrap_or_default()
    }

    /// These alone.
    pub(super) fn mask(&self, is: impl Fn(usize) -> bool) -> Vec<u64> {
        let mut mask = vec![0; self.words()];
        for (bit, _) in self.picks.iter().enumerate().filter(|(_, pick)| is(**pick)) {
            mask.get_mut(bit / 64).into_iter().for_each(|word| *word |= 1 << (bit % 64));
        }
        mask
    }

    /// One pick alone; nothing if no plan reads it.
    pub(super) fn bit(&self, pick: usize) -> Option<Bit> {
        let bit = self.picks.binary_search(&pick).ok()?;
        Some(Bit { word: bit / 64, mask: 1 << (bit % 64) })
    }
}

/// Where a pick is in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bit {
    word: usize,
    mask: u64,
}

impl Bit {
    pub(super) fn is_in(self, row: &[u64]) -> bool {
        row.get(self.word).is_some_and(|word| word & self.mask != 0)
    }

    pub(super) fn add_to(self, row: &mut [u64]) {
        row.get_mut(self.word).into_iter().for_each(|word| *word |= self.mask);
    }

    pub(super) fn take_from(self, row: &mut [u64]) {
        row.get_mut(self.word).into_iter().for_each(|word| *word &= !self.mask);
    }
}

pub(super) fn is_within(less: &[u64], more: &[u64]) -> bool {
    less.iter().zip(more).all(|(less, more)| less & !more == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_what_was_put_in_and_nothing_else() {
        let mut reads = Reads::of([900, 3, 70, 3, 5].into_iter().chain(1_000..1_100));
        assert_eq!(reads.picks().len(), 104);
        for row in [[3, 900].as_slice(), &[], &[5, 1_099, 4]] {
            reads.push(row.iter());
        }
        let has = |row: usize, pick: usize| reads.bit(pick).is_some_and(|bit| bit.is_in(reads.row(row)));
        assert!(has(0, 3) && has(0, 900) && !has(0, 5) && !has(1, 3) && has(2, 1_099) && !has(2, 4));
        assert!(is_within(reads.row(1), reads.row(0)) && !is_within(reads.row(0), reads.row(2)));
        let mut mask = reads.mask(|pick| pick == 3 || pick == 900);
        assert_eq!(mask, reads.row(0));
        reads.bit(900).into_iter().for_each(|bit| bit.take_from(&mut mask));
        assert!(is_within(&mask, reads.row(0)) && !is_within(reads.row(0), &mask));
        reads.bit(900).into_iter().for_each(|bit| bit.add_to(&mut mask));
        assert_eq!(mask, reads.row(0));
    }
}
