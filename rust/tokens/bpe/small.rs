//! Pieces of up to sixteen bytes, which fit the processor's registers.
//!
//! Merging asks the vocabulary again and again for what lies far from the processor, and cannot go on before it is there. So
//! several pieces are merged at a time: each asks, and while its answers are on their way the others go on.

use super::super::key::{Key, LONGEST};
use super::super::layout::{Fragment, NONE};
use super::super::vocab::Vocab;
use super::super::window::{Kernel, Portable};

/// The most bytes of a piece.
pub(super) const MOST: usize = 16;

/// Pieces that are merged at a time.
const GROUP: usize = 12;

/// Merges a piece by the definition: how many tokens it has, and where they end.
#[inline]
pub(super) fn merge(vocab: &Vocab, piece: &[u8]) -> (usize, impl Iterator<Item = usize> + use<>) {
    let mut padded = [0; MOST];
    let len = piece.len().min(MOST);
    padded[..len].copy_from_slice(&piece[..len]);
    let mut merging = Merging::new(vocab, u128::from_le_bytes(padded), len, 0);
    while merging.go_on(Portable, vocab) {}
    (merging.tokens(), merging.ends())
}

/// Merges pieces of up to fifteen bytes, by their keys; gives the place of each among them and how many tokens it has, in any
/// order.
#[inline(always)]
pub(super) fn count_many<K: Kernel>(
    kernel: K,
    vocab: &Vocab,
    pieces: usize,
    key: impl Fn(usize) -> Key,
    mut done: impl FnMut(usize, usize),
) {
    let begin = |index: usize| {
        let (bytes, len) = key(index).text();
        Merging::new(vocab, bytes, len, index)
    };
    let mut group = [const { Merging::NOTHING }; GROUP];
    let mut next = pieces.min(GROUP);
    let mut active = next;
    for (index, merging) in group[..next].iter_mut().enumerate() {
        *merging = begin(index);
    }
    while active > 0 {
        let mut at = 0;
        while at < active {
            let merging = &mut group[at];
            if merging.go_on(kernel, vocab) {
                at += 1;
                continue;
            }
            done(merging.index, merging.tokens());
            if next < pieces {
                *merging = begin(next);
                next += 1;
                at += 1;
            } else {
                active -= 1;
                group.swap(at, active);
            }
        }
    }
}

/// A piece that is being merged.
struct Merging {
    bytes: u128,
    len: usize,
    /// The places at which parts begin, a bit each.
    starts: u32,
    /// By the place at which a part begins: the rank of its pair with the next part, with the place below it so that the first
    /// of equals is the lowest.
    pairs: [u32; MOST],
    /// The pairs that the last merge has made.
    asked: [Asked; 2],
    index: usize,
}

/// A pair whose rank is on its way.
#[derive(Clone, Copy)]
enum Asked {
    Nothing,
    /// It has up to five bytes, and stands in this cell if it is a token.
    Fragment {
        start: u32,
        text: Fragment,
        cell: u32,
    },
    /// It is longer, and seldom a token.
    Word {
        start: u32,
        end: u32,
        key: Key,
        hash: u64,
    },
}

impl Merging {
    const NOTHING: Self = Self {
        bytes: 0,
        len: 0,
        starts: 0,
        pairs: [NONE; MOST],
        asked: [Asked::Nothing; 2],
        index: 0,
    };

    #[inline(always)]
    fn new(vocab: &Vocab, bytes: u128, len: usize, index: usize) -> Self {
        let twos = vocab.twos();
        let mut pairs = [NONE; MOST];
        for (at, pair) in (0..).zip(pairs.iter_mut().take(len.saturating_sub(1))) {
            *pair = entry(twos.rank((bytes >> (8 * at)) as u16), at);
        }
        Self {
            bytes,
            len,
            starts: (1 << len) - 1,
            pairs,
            asked: [Asked::Nothing; 2],
            index,
        }
    }

    /// Merges the lowest pair and asks for those that come of it; `false` where there is none.
    #[inline(always)]
    fn go_on<K: Kernel>(&mut self, kernel: K, vocab: &Vocab) -> bool {
        for asked in self.asked {
            self.answer(vocab, asked);
        }
        let lowest = self.pairs.iter().fold(NONE, |lowest, &pair| lowest.min(pair));
        if lowest == NONE {
            return false;
        }
        let start = lowest & 0xf;
        let behind = self.starts & !((2u32 << start) - 1);
        let middle = behind.trailing_zeros();
        self.starts &= !(1 << middle);
        let end = (behind & (behind - 1)).trailing_zeros().min(self.len as u32);
        self.pairs[middle as usize % MOST] = NONE;
        self.pairs[start as usize] = NONE;
        self.asked = [Asked::Nothing; 2];
        if end < self.len as u32 {
            let next = self.starts & !((2u32 << end) - 1);
            self.asked[0] = self.ask(kernel, vocab, start, next.trailing_zeros().min(self.len as u32));
        }
        let before = self.starts & ((1 << start) - 1);
        if before != 0 {
            let before = before.ilog2();
            self.pairs[before as usize % MOST] = NONE;
            self.asked[1] = self.ask(kernel, vocab, before, end);
        }
        true
    }

    /// Asks for the rank of the bytes between two places.
    #[inline(always)]
    fn ask<K: Kernel>(&self, kernel: K, vocab: &Vocab, start: u32, end: u32) -> Asked {
        let bytes = self.bytes >> (8 * start);
        let len = (end - start) as usize;
        if len <= Fragment::LONGEST {
            let fragments = vocab.fragments();
            let text = Fragment::text(bytes as u64, len);
            let cell = fragments.cell(text);
            kernel.prefetch(fragments.at(cell));
            return Asked::Fragment {
                start,
                text,
                cell: cell as u32,
            };
        }
        let key = Key::of(&bytes.to_le_bytes(), len);
        let hash = key.hash();
        kernel.prefetch(vocab.filter_at(hash));
        Asked::Word { start, end, key, hash }
    }

    #[inline(always)]
    fn answer(&mut self, vocab: &Vocab, asked: Asked) {
        let (start, rank) = match asked {
            Asked::Nothing => return,
            Asked::Fragment { start, text, cell } => (start, vocab.fragments().rank(cell as usize, text)),
            Asked::Word { start, end, key, hash } => {
                let rank = if (end - start) as usize <= LONGEST {
                    vocab.merged_rank(key, hash)
                } else {
                    vocab.long_rank(&self.bytes.to_le_bytes())
                };
                (start, rank)
            }
        };
        self.pairs[start as usize % MOST] = rank.map_or(NONE, |rank| entry(rank, start));
    }

    fn tokens(&self) -> usize {
        self.starts.count_ones() as usize
    }

    /// A part ends where another begins, the last at the end.
    fn ends(&self) -> impl Iterator<Item = usize> + use<> {
        let mut ends = (self.starts | (1 << self.len)) & !1;
        std::iter::from_fn(move || {
            let end = ends.trailing_zeros() as usize;
            (ends != 0).then(|| {
                ends &= ends - 1;
                end
            })
        })
    }
}

/// A pair as it is compared; [`NONE`] of none.
#[inline(always)]
fn entry(rank: u32, start: u32) -> u32 {
    if rank == NONE { NONE } else { (rank << 4) | start }
}
