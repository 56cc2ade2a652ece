//! A bit for each byte of a text, and how many are set before any place.

/// Bits that are counted, at an eighth of a byte and an eightieth more for each.
pub(super) struct Bits {
    words: Box<[u64]>,
    /// How many are set before every eighth word.
    before: Box<[u64]>,
}

const WORDS: usize = 8;

impl Bits {
    pub(super) fn new(words: Vec<u64>) -> Self {
        let mut sum = 0;
        let before = words.chunks(WORDS).map(|words| {
            let before = sum;
            sum += ones(words);
            before
        });
        Self {
            before: before.collect(),
            words: words.into(),
        }
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    /// How many bits are set before a place. O(1).
    #[inline]
    pub(super) fn rank(&self, at: usize) -> usize {
        let word = at / 64;
        let first = word / WORDS * WORDS;
        let last = self.words[word] & ((1 << (at % 64)) - 1);
        (self.before[word / WORDS] + ones(&self.words[first..word]) + u64::from(last.count_ones())) as usize
    }

    /// Where the bit is before which so many are set; there must be one. O(log n).
    pub(super) fn select(&self, rank: usize) -> usize {
        let rank = rank as u64;
        let block = self.before.partition_point(|&before| before <= rank).saturating_sub(1);
        let mut left = rank - self.before[block];
        let mut word = block * WORDS;
        while left >= u64::from(self.words[word].count_ones()) {
            left -= u64::from(self.words[word].count_ones());
            word += 1;
        }
        let mut bits = self.words[word];
        for _ in 0..left {
            bits &= bits - 1;
        }
        word * 64 + bits.trailing_zeros() as usize
    }

    /// The last bit before a place, where there is one.
    #[inline]
    pub(super) fn last_before(&self, at: usize) -> Option<usize> {
        let mut word = at / 64;
        let mut bits = self.words[word] & ((1 << (at % 64)) - 1);
        while bits == 0 {
            word = word.checked_sub(1)?;
            bits = self.words[word];
        }
        Some(word * 64 + bits.ilog2() as usize)
    }

    /// The first bit behind a place, where there is one.
    pub(super) fn first_behind(&self, at: usize) -> Option<usize> {
        let at = at + 1;
        let mut word = at / 64;
        let mut bits = self.words.get(word)? & (u64::MAX << (at % 64));
        while bits == 0 {
            word += 1;
            bits = *self.words.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// Bytes of memory.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.words) + size_of_val(&*self.before)
    }
}

fn ones(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn answers_equal_those_of_a_list(words in proptest::collection::vec(
            prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 1..40,
        )) {
            let bits = Bits::new(words.clone());
            let set: Vec<usize> = (0..words.len() * 64).filter(|at| words[at / 64] >> (at % 64) & 1 == 1).collect();
            for at in (0..words.len() * 64).step_by(7) {
                let rank = set.partition_point(|&bit| bit < at);
                prop_assert_eq!(bits.get(at), set.get(rank) == Some(&at));
                prop_assert_eq!(bits.rank(at), rank);
                prop_assert_eq!(bits.last_before(at), rank.checked_sub(1).map(|rank| set[rank]));
                prop_assert_eq!(bits.first_behind(at), set.iter().copied().find(|&bit| bit > at));
            }
            for (rank, &bit) in set.iter().enumerate() {
                prop_assert_eq!(bits.select(rank), bit);
            }
        }
    }
}
