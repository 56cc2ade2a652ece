//! From left to right, a step a token.
//!
//! A row of tokens is the encoding of a piece exactly where each two neighbours are the encoding of their own bytes: what
//! merging does in a stretch does not depend on what stands beside it, as long as no merge lies across its edge. So the walk
//! takes the longest token that may stand behind the one before. Where none may, it goes back and takes a shorter one there;
//! since no prefix has two encodings, a place that was a dead end once is one for good, and the walk stays linear. Walking
//! and going back, and telling by the tokens' parts who may be neighbours, are ideas of the `bpe` crate
//! (<https://github.com/github/rust-gems/tree/main/crates/bpe>).

use super::super::key::{Key, LONGEST};
use super::super::layout::Fragment;
use super::super::vocab::Vocab;

/// Pieces of up to so many bytes need no memory of their own.
const SHORT: usize = 64;

/// The ranks of the tokens of a piece, in order; for proper vocabularies only.
#[inline]
pub(super) fn encode(vocab: &Vocab, piece: &[u8], mut emit: impl FnMut(u32)) {
    if piece.len() <= SHORT {
        let mut row = Row {
            tokens: [(0, 0); SHORT],
            len: 0,
        };
        let mut dead = 0u64;
        walk(vocab, piece, &mut row, &mut dead);
        for &(rank, _) in &row.tokens[..row.len] {
            emit(rank);
        }
    } else {
        let mut row = Vec::new();
        let mut dead = vec![0u64; piece.len() / 64 + 1];
        walk(vocab, piece, &mut row, &mut dead[..]);
        for (rank, _) in row {
            emit(rank);
        }
    }
}

fn walk(vocab: &Vocab, piece: &[u8], row: &mut impl Tokens, dead: &mut (impl Places + ?Sized)) {
    let mut at = 0;
    let mut longest = usize::MAX;
    let mut straight = true;
    while at < piece.len() {
        let before = row.last();
        if straight
            && let Some(token) = row.twice()
            && repeats(piece, at, token.1 as usize, vocab.longest())
        {
            row.push(token);
            at += token.1 as usize;
            continue;
        }
        let next = Candidates::new(vocab, piece, at, longest).find(|&(rank, len)| {
            !dead.has(at + len)
                && before.is_none_or(|(before, before_len)| {
                    may_be_neighbours(vocab, piece, at, (before, before_len), (rank, len))
                })
        });
        if let Some((rank, len)) = next {
            row.push((rank, len as u32));
            at += len;
            longest = usize::MAX;
        } else {
            let Some((_, len)) = row.pop() else { return };
            straight = false;
            dead.add(at);
            at -= len as usize;
            longest = len as usize - 1;
        }
    }
}

/// Whether what stands at a place is what stood a token before it, as far as any token could reach. A walk that has taken the
/// same token twice takes it again then.
#[inline]
fn repeats(piece: &[u8], at: usize, len: usize, longest: usize) -> bool {
    at + longest <= piece.len() && piece[at..at + longest] == piece[at - len..at - len + longest]
}

/// The tokens that begin at a place, from the longest of a length on to the single byte.
struct Candidates<'a> {
    vocab: &'a Vocab,
    rest: &'a [u8],
    head: [u8; 16],
    long: u128,
    short: u32,
}

impl<'a> Candidates<'a> {
    #[inline]
    fn new(vocab: &'a Vocab, piece: &'a [u8], at: usize, longest: usize) -> Self {
        let rest = &piece[at..];
        let longest = longest.min(rest.len());
        let head = sixteen(piece, at);
        // Of one byte and of two there may always be one.
        let mut short = 0b110;
        let mut long = 0;
        if let Some(&three) = rest.first_chunk::<3>() {
            let lengths = vocab.lengths(three);
            short |= u32::from(lengths & !1);
            if lengths & 1 == 1 && longest > LONGEST {
                long = vocab.long_lengths(&head);
                let most = longest - LONGEST - 1;
                if most < 127 {
                    long &= (1 << (most + 1)) - 1;
                }
            }
        }
        if longest < LONGEST {
            short &= (1 << (longest + 1)) - 1;
        }
        Self {
            vocab,
            rest,
            head,
            long,
            short,
        }
    }
}

impl Iterator for Candidates<'_> {
    type Item = (u32, usize);

    #[inline]
    fn next(&mut self) -> Option<(u32, usize)> {
        while self.long != 0 {
            let bit = self.long.ilog2();
            self.long ^= 1 << bit;
            let shortest = bit as usize + 16;
            let longest = if bit == 127 {
                self.rest.len().min(self.vocab.longest())
            } else {
                shortest
            };
            if let Some(found) = (shortest..=longest)
                .rev()
                .find_map(|len| Some((self.vocab.long_rank(&self.rest[..len])?, len)))
            {
                return Some(found);
            }
        }
        while self.short != 0 {
            let len = self.short.ilog2();
            self.short ^= 1 << len;
            let len = len as usize;
            let rank = if len <= Fragment::LONGEST {
                self.vocab.fragment_rank(u128::from_le_bytes(self.head) as u64, len)
            } else {
                self.vocab.short_rank(Key::of(&self.head, len))
            };
            if let Some(rank) = rank {
                return Some((rank, len));
            }
        }
        None
    }
}

/// Whether merging the bytes of two tokens that meet at a place gives those two.
///
/// It does not if at some time a merge across the place is next. The vocabulary is proper: merges of rising rank make a token,
/// so a part exists from its own rank on until that of the token which it is merged into. From the two whole tokens backwards
/// this looks at all pairs of parts that meet at the place at one time; theirs would be the next merge if it came before both
/// parts' own. Where two merges have the same rank the left one comes first.
fn may_be_neighbours(vocab: &Vocab, piece: &[u8], place: usize, left: (u32, usize), right: (u32, usize)) -> bool {
    let ((mut left, mut left_len), (mut right, mut right_len)) = (left, right);
    // Merges of this rank and above come too late.
    let mut limit = u32::MAX;
    loop {
        let (start, len) = (place - left_len, left_len + right_len);
        let across = if len <= Fragment::LONGEST {
            let word = u128::from_le_bytes(sixteen(piece, start)) as u64;
            vocab.fragment_rank(word, len)
        } else if len <= LONGEST {
            vocab.short_rank(Key::of(&sixteen(piece, start), len))
        } else {
            vocab.long_rank(&piece[start..start + len])
        };
        if across.is_some_and(|rank| rank < limit) {
            return false;
        }
        // What was merged last is taken apart; single bytes never were.
        if right_len == 1 && left_len == 1 {
            return true;
        }
        if right_len == 1 || (left_len > 1 && left > right) {
            limit = left;
            (left, left_len) = vocab.parts(left).right();
        } else {
            limit = right + 1;
            (right, right_len) = vocab.parts(right).left();
        }
    }
}

/// The bytes of a piece from a place on, filled up with zeros.
#[inline]
fn sixteen(piece: &[u8], at: usize) -> [u8; 16] {
    if let Some(&bytes) = piece[at..].first_chunk() {
        return bytes;
    }
    let mut padded = [0; 16];
    let rest = &piece[at..];
    padded[..rest.len()].copy_from_slice(rest);
    padded
}

/// Tokens with their lengths, as far as the walk has come.
trait Tokens {
    fn push(&mut self, token: (u32, u32));
    fn pop(&mut self) -> Option<(u32, u32)>;
    fn last(&self) -> Option<(u32, usize)>;
    /// The last one, where it is the one before too.
    fn twice(&self) -> Option<(u32, u32)>;
}

struct Row {
    tokens: [(u32, u32); SHORT],
    len: usize,
}

impl Tokens for Row {
    #[inline]
    fn push(&mut self, token: (u32, u32)) {
        self.tokens[self.len] = token;
        self.len += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<(u32, u32)> {
        self.len = self.len.checked_sub(1)?;
        Some(self.tokens[self.len])
    }

    #[inline]
    fn last(&self) -> Option<(u32, usize)> {
        let (rank, len) = *self.tokens.get(self.len.checked_sub(1)?)?;
        Some((rank, len as usize))
    }

    /// No piece that is so short repeats as far as tokens reach.
    #[inline]
    fn twice(&self) -> Option<(u32, u32)> {
        None
    }
}

impl Tokens for Vec<(u32, u32)> {
    fn push(&mut self, token: (u32, u32)) {
        Vec::push(self, token);
    }

    fn pop(&mut self) -> Option<(u32, u32)> {
        Vec::pop(self)
    }

    fn last(&self) -> Option<(u32, usize)> {
        <[_]>::last(self).map(|&(rank, len)| (rank, len as usize))
    }

    #[inline]
    fn twice(&self) -> Option<(u32, u32)> {
        let [.., before, last] = self[..] else { return None };
        (before == last).then_some(last)
    }
}

/// Places of a piece, as bits.
trait Places {
    fn has(&self, place: usize) -> bool;
    fn add(&mut self, place: usize);
}

impl Places for u64 {
    #[inline]
    fn has(&self, place: usize) -> bool {
        // The end of a piece is never dead, and may be at 64.
        (*self).checked_shr(place as u32).unwrap_or(0) & 1 == 1
    }

    #[inline]
    fn add(&mut self, place: usize) {
        *self |= 1 << place;
    }
}

impl Places for [u64] {
    fn has(&self, place: usize) -> bool {
        self[place / 64] >> (place % 64) & 1 == 1
    }

    fn add(&mut self, place: usize) {
        self[place / 64] |= 1 << (place % 64);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::bpe::merge;

    fn tokens(run: impl FnOnce(&mut dyn FnMut(u32))) -> Vec<u32> {
        let mut out = Vec::new();
        run(&mut |rank| out.push(rank));
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn walking_comes_to_what_merging_makes(piece in prop_oneof![
            proptest::collection::vec(any::<u8>(), 1..200),
            "[a-c]{1,200}".prop_map(String::into_bytes),
            "[a-z]{1,200}".prop_map(String::into_bytes),
            " {0,3}[a-z]{1,6}([A-Z]{0,3}[a-z]{0,3}){0,9}".prop_map(String::into_bytes),
            "[ -~]{1,90}".prop_map(String::into_bytes),
            "[一-龥ぁ-ん가-힣а-я]{1,40}".prop_map(String::into_bytes),
            "(a|\n|=|-){1,200}".prop_map(String::into_bytes),
        ]) {
            for vocab in [Vocab::o200k(), Vocab::cl100k()] {
                let expected = tokens(|emit| merge::encode(vocab, &piece, emit));
                prop_assert_eq!(tokens(|emit| encode(vocab, &piece, emit)), expected);
            }
        }
    }

    #[test]
    fn runs_of_one_byte() {
        for vocab in [Vocab::o200k(), Vocab::cl100k()] {
            for byte in [b'a', b' ', b'\n', b'=', 0] {
                for len in [1, 15, 16, 63, 64, 65, 127, 128, 129, 300, 1000] {
                    let piece = vec![byte; len];
                    let expected = tokens(|emit| merge::encode(vocab, &piece, emit));
                    assert_eq!(tokens(|emit| encode(vocab, &piece, emit)), expected, "{byte} {len}");
                }
            }
        }
    }
}
