//! Where the pieces of a text begin and how many tokens stand before any place, at two bits for each byte.

/// All that is asked of one place lies in one line of memory, since the lines of a long text are seldom in the cache.
pub(super) struct Index {
    lines: Vec<Line>,
}

/// 224 bytes of text: two bits for each, and a number of eight bytes, are a line of 64 bytes.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Line {
    /// Tokens of all pieces that begin before the line, as far as their bits stand there.
    before: u64,
    /// A bit where a piece begins, and one at the text's end.
    starts: [u32; WORDS],
    /// Of the bits of each piece the first ones, as many as it has tokens.
    tokens: [u32; WORDS],
}

const WORDS: usize = 7;
/// Bytes of text for each line.
const BYTES: usize = 32 * WORDS;

impl Index {
    /// For a text of so many bytes.
    pub(super) fn new(len: usize) -> Self {
        Self {
            lines: vec![Line::default(); len / BYTES + 1],
        }
    }

    /// A piece with its tokens, or the text's end with none. Pieces are given in order.
    #[inline]
    pub(super) fn add(&mut self, start: usize, tokens: usize) {
        let (line, word, bit) = split(start);
        self.lines[line].starts[word] |= bit;
        for at in start..start + tokens {
            let (line, word, bit) = split(at);
            self.lines[line].tokens[word] |= bit;
        }
    }

    /// Adds the tokens up when all pieces are there.
    pub(super) fn finish(&mut self) {
        let mut sum = 0;
        for line in &mut self.lines {
            line.before = sum;
            sum += ones(&line.tokens);
        }
    }

    /// Whether a piece begins at a place.
    #[inline]
    pub(super) fn is_start(&self, at: usize) -> bool {
        let (line, word, bit) = split(at);
        self.lines[line].starts[word] & bit != 0
    }

    /// Tokens of all pieces before the one that begins at a place. O(1).
    #[inline]
    pub(super) fn tokens_before(&self, start: usize) -> usize {
        let (line, word, bit) = split(start);
        let line = &self.lines[line];
        let last = line.tokens[word] & (bit - 1);
        (line.before + ones(&line.tokens[..word]) + u64::from(last.count_ones())) as usize
    }

    /// Where the last piece begins that begins before a place.
    #[inline]
    pub(super) fn last_start_before(&self, at: usize) -> Option<usize> {
        let (mut line, mut word, bit) = split(at);
        let mut bits = self.lines[line].starts[word] & (bit - 1);
        while bits == 0 {
            if word == 0 {
                line = line.checked_sub(1)?;
                word = WORDS;
            }
            word -= 1;
            bits = self.lines[line].starts[word];
        }
        Some(line * BYTES + word * 32 + bits.ilog2() as usize)
    }

    /// Where the first piece begins that begins behind a place, or the text ends.
    pub(super) fn first_start_behind(&self, at: usize) -> Option<usize> {
        let (mut line, mut word, bit) = split(at + 1);
        let mut bits = self.lines.get(line)?.starts[word] & !(bit - 1);
        while bits == 0 {
            word += 1;
            if word == WORDS {
                line += 1;
                word = 0;
            }
            bits = self.lines.get(line)?.starts[word];
        }
        Some(line * BYTES + word * 32 + bits.trailing_zeros() as usize)
    }

    /// Where the first piece begins before which there are so many tokens; there must be one. O(log n).
    pub(super) fn first_start_after(&self, tokens: usize) -> Option<usize> {
        let Some(rank) = tokens.checked_sub(1) else {
            return Some(0);
        };
        let rank = rank as u64;
        let line = self.lines.partition_point(|line| line.before <= rank).saturating_sub(1);
        let mut left = rank - self.lines[line].before;
        for (word, &bits) in self.lines[line].tokens.iter().enumerate() {
            let ones = u64::from(bits.count_ones());
            if left < ones {
                let bits = (0..left).fold(bits, |bits, _| bits & (bits - 1));
                return self.first_start_behind(line * BYTES + word * 32 + bits.trailing_zeros() as usize);
            }
            left -= ones;
        }
        None
    }

    /// Bytes of memory.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.lines)
    }
}

/// The line of a place, the word in it, and the bit in that.
#[inline]
fn split(at: usize) -> (usize, usize, u32) {
    (at / BYTES, at % BYTES / 32, 1 << (at % 32))
}

#[inline]
fn ones(words: &[u32]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_a_line_of_memory() {
        assert_eq!(size_of::<Line>(), 64);
    }

    proptest! {
        #[test]
        fn answers_equal_those_of_a_list(pieces in proptest::collection::vec((1usize..300, 1usize..300), 0..40)) {
            let mut starts = vec![0];
            let mut sums = vec![0];
            for &(bytes, tokens) in &pieces {
                starts.push(starts[starts.len() - 1] + bytes);
                sums.push(sums[sums.len() - 1] + tokens.min(bytes));
            }
            let len = starts[pieces.len()];
            let mut index = Index::new(len);
            for (at, &start) in starts.iter().enumerate() {
                index.add(start, sums.get(at + 1).map_or(0, |sum| sum - sums[at]));
            }
            index.finish();
            for (&start, &sum) in starts.iter().zip(&sums) {
                prop_assert_eq!(index.tokens_before(start), sum);
            }
            for at in (0..=len).step_by(3) {
                let rank = starts.partition_point(|&start| start < at);
                prop_assert_eq!(index.is_start(at), starts.get(rank) == Some(&at));
                prop_assert_eq!(index.last_start_before(at), rank.checked_sub(1).map(|rank| starts[rank]));
                prop_assert_eq!(index.first_start_behind(at), starts.iter().copied().find(|&start| start > at));
            }
            for tokens in 0..=sums[pieces.len()] {
                let first = sums.partition_point(|&sum| sum < tokens);
                prop_assert_eq!(index.first_start_after(tokens), Some(starts[first]));
            }
        }
    }
}
