//! Counting without ids: a text's pieces, and then only those that are no token themselves.
//!
//! A batch of pieces goes through steps, each a loop of its own over what the one before has left, so that in the first ones
//! nothing waits for whether a piece is known, and memory is asked for before it is needed: where pieces begin; which of them
//! were seen lately; which are tokens; what this thread has learned of the others. What is left then is merged.

use std::cell::RefCell;

use super::divide::{MANY, ROOM, divide};
use super::key::{Key, LONGEST};
use super::learned::{Learned, LongKey};
use super::pretokenize::Pattern;
use super::vocab::Vocab;
use super::window::Kernel;
use super::{bpe, chunks};

/// Where the pieces of a batch end, and the pieces themselves on their way through the steps. Kept, since it would take a
/// twentieth of the time of a short text to clear it.
pub(super) struct Batch {
    ends: Box<[u32]>,
    pieces: Box<[Piece]>,
    /// Of each piece where it begins, whether it is the first part of one, and its tokens, for who asks.
    starts: Box<[(u32, bool)]>,
    counts: Box<[u32]>,
}

thread_local! {
    static BATCH: RefCell<Batch> = RefCell::new(Batch {
        ends: vec![0; ROOM].into(),
        pieces: vec![Piece::default(); ROOM].into(),
        starts: vec![(0, false); ROOM].into(),
        counts: vec![0; ROOM].into(),
    });
}

impl Batch {
    /// Calls with the batch of this thread.
    #[inline]
    pub(super) fn with<R>(call: impl FnOnce(&mut Self) -> R) -> R {
        BATCH.with_borrow_mut(call)
    }
}

/// The most bytes of a text, since places have four bytes.
pub(super) const MOST: usize = u32::MAX as usize;

/// A text of up to [`MOST`] bytes that is to be counted.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    pub(super) vocab: &'a Vocab,
    pub(super) pattern: Pattern,
    pub(super) text: &'a [u8],
}

/// Who is told of each piece where it begins and how many tokens it has. A long one may come in several parts, of which the
/// first one only is said to be the beginning.
pub(super) trait Each {
    /// Whether anybody wants to know.
    const ASKED: bool = true;

    fn each(&mut self, start: usize, begins: bool, tokens: usize);
}

/// Nobody asks.
pub(super) struct Nobody;

impl Each for Nobody {
    const ASKED: bool = false;

    fn each(&mut self, _: usize, _: bool, _: usize) {}
}

impl<F: FnMut(usize, bool, usize)> Each for F {
    #[inline(always)]
    fn each(&mut self, start: usize, begins: bool, tokens: usize) {
        self(start, begins, tokens);
    }
}

/// How many tokens a text has. To be inlined into what runs with the kernel.
#[inline(always)]
pub(super) fn count<K: Kernel, E: Each>(
    kernel: K,
    counted: Counted<'_>,
    mut learned: Learned<'_>,
    batch: &mut Batch,
    mut each: E,
) -> usize {
    let Counted { vocab, pattern, text } = counted;
    let Batch {
        ends,
        pieces,
        starts,
        counts,
    } = batch;
    let words = vocab.words();
    let mut total = 0;
    // Where the batch's pieces have been divided up to, and of those which is the next, and where it begins.
    let (mut at, mut many, mut next, mut start) = (0, 0, 0, 0);
    let mut begins = true;
    while start < text.len() {
        let mut filled = 0;
        while filled < ROOM {
            if next == many {
                if filled >= MANY || at == text.len() {
                    break;
                }
                many = divide(kernel, pattern, text, &mut at, ends, MANY - filled);
                next = 0;
            }
            let mut end = ends[next] as usize;
            if end - start > LONGEST {
                end = start + chunks::end(vocab, &text[start..end]);
            }
            let piece = Piece::new(text, start, end, filled);
            if E::ASKED {
                starts[filled] = (start as u32, begins);
            }
            begins = end == ends[next] as usize;
            next += usize::from(begins);
            kernel.prefetch(learned.seen_at(piece.hash));
            pieces[filled] = piece;
            filled += 1;
            start = end;
        }
        let mut known = |piece: &Piece, count: usize| {
            total += count;
            if E::ASKED {
                counts[piece.index as usize] = count as u32;
            }
            count
        };
        let rest = sift(&mut pieces[..filled], |piece| {
            known(piece, learned.seen(piece.key, piece.hash))
        });
        for piece in &mut *rest {
            if let Some(key) = piece.long(text) {
                // The hash of the short key is that of none.
                piece.hash = key.hash();
                kernel.prefetch(learned.long_at(piece.hash));
                continue;
            }
            piece.slot = words.slot_at(piece.hash) as u32;
            kernel.prefetch(words.key_at(piece.slot as usize));
            kernel.prefetch(learned.merged_at(piece.hash));
        }
        let rest = sift(rest, |piece| {
            let count = usize::from(words.holds(piece.slot as usize, piece.key));
            learned.see(piece.key, piece.hash, count);
            known(piece, count)
        });
        let rest = sift(rest, |piece| {
            let count = learned.merged(piece.key, piece.hash);
            learned.see(piece.key, piece.hash, count);
            known(piece, count)
        });
        let mut short = 0;
        for at in 0..rest.len() {
            let piece = rest[at];
            if piece.is_short() {
                rest[short] = piece;
                short += 1;
                continue;
            }
            known(&piece, count_long(vocab, &mut learned, piece, text));
        }
        let rest = &rest[..short];
        bpe::count_many(
            kernel,
            vocab,
            short,
            |at| rest[at].key,
            |at, count| {
                learned.merge(rest[at].key, rest[at].hash, count);
                learned.see(rest[at].key, rest[at].hash, count);
                known(&rest[at], count);
            },
        );
        if E::ASKED {
            for (&(start, begins), &count) in starts[..filled].iter().zip(&*counts) {
                each.each(start as usize, begins, count as usize);
            }
        }
    }
    total
}

/// A piece on its way through the steps.
#[derive(Clone, Copy, Default)]
struct Piece {
    key: Key,
    hash: u64,
    start: u32,
    end: u32,
    slot: u32,
    /// Which of the batch it is.
    index: u32,
}

impl Piece {
    #[inline(always)]
    fn new(text: &[u8], start: usize, end: usize, index: usize) -> Self {
        let key = Key::of(&sixteen(text, start), end - start);
        Self {
            key,
            hash: key.hash(),
            start: start as u32,
            end: end as u32,
            slot: 0,
            index: index as u32,
        }
    }

    /// Its bytes.
    #[inline]
    fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize]
    }

    /// Whether its key is of all its bytes.
    #[inline]
    fn is_short(self) -> bool {
        (self.end - self.start) as usize <= LONGEST
    }

    /// The key of one that has more than fifteen bytes, and not many more.
    #[inline]
    fn long(self, text: &[u8]) -> Option<LongKey> {
        if self.is_short() {
            return None;
        }
        LongKey::of(self.of(text))
    }
}

/// The pieces of which `count` gives 0, moved to the front.
#[inline(always)]
fn sift(pieces: &mut [Piece], mut count: impl FnMut(&Piece) -> usize) -> &mut [Piece] {
    let mut rest = 0;
    for at in 0..pieces.len() {
        let piece = pieces[at];
        let count = count(&piece);
        // Moved whether it is one of the others or not, so that there is no branch.
        pieces[rest] = piece;
        rest += usize::from(count == 0);
    }
    &mut pieces[..rest]
}

/// How many tokens a piece of more than fifteen bytes has; remembers those that are not much longer.
fn count_long(vocab: &Vocab, learned: &mut Learned<'_>, piece: Piece, text: &[u8]) -> usize {
    let key = piece.long(text);
    let known = key.map_or(0, |key| learned.long(key, piece.hash));
    if known > 0 {
        return known;
    }
    let count = bpe::tokens(vocab, piece.of(text));
    if let Some(key) = key {
        learned.keep(key, piece.hash, count);
    }
    count
}

/// The bytes of a text from a place on, filled up with zeros.
#[inline(always)]
fn sixteen(text: &[u8], at: usize) -> [u8; 16] {
    text[at..].first_chunk().copied().unwrap_or_else(|| few(&text[at..]))
}

#[cold]
fn few(rest: &[u8]) -> [u8; 16] {
    let mut padded = [0; 16];
    padded[..rest.len()].copy_from_slice(rest);
    padded
}
