//! Counting without ids: a text's pieces, and then only those that are no token themselves.
//!
//! A batch of pieces goes through three steps, each a loop of its own over what the one before has left, so that in the
//! first ones nothing waits for whether a piece is known: where pieces begin; which of them are tokens; what this thread has
//! learned of the others. What is left then is merged.

use std::cell::RefCell;

use super::key::{Key, LONGEST};
use super::learned::{self, Learned, LongKey};
use super::pretokenize::{Pattern, Scan};
use super::vocab::Vocab;
use super::window::{self, Kernel, WIDTH, Work};
use super::{bpe, chunks};

/// Pieces of a batch, and room for those of one window more.
const MANY: usize = 448;
const ROOM: usize = MANY + WIDTH;

/// How many tokens a text has. O(n).
#[inline]
pub(super) fn count(vocab: &Vocab, pattern: Pattern, text: &str) -> usize {
    let text = Counted {
        vocab,
        pattern,
        text: text.as_bytes(),
    };
    if text.text.len() < WIDTH
        && let Some(tokens) = window::with_best(Short(text))
    {
        return tokens;
    }
    learned::with(vocab, |learned| {
        BATCH.with_borrow_mut(|batch| window::with_best(Long { text, learned, batch }))
    })
}

/// A text that is to be counted.
#[derive(Clone, Copy)]
struct Counted<'a> {
    vocab: &'a Vocab,
    pattern: Pattern,
    text: &'a [u8],
}

/// One of less than a window.
struct Short<'a>(Counted<'a>);

impl Work for Short<'_> {
    type Output = Option<usize>;

    #[inline(always)]
    fn with<K: Kernel>(self, kernel: K) -> Option<usize> {
        count_short(kernel, self.0)
    }
}

/// One of any length.
struct Long<'a> {
    text: Counted<'a>,
    learned: Learned<'a>,
    batch: &'a mut Batch,
}

impl Work for Long<'_> {
    type Output = usize;

    #[inline(always)]
    fn with<K: Kernel>(self, kernel: K) -> usize {
        count_batches(kernel, self.text, self.learned, self.batch)
    }
}

/// Where the pieces of a batch end, and the pieces themselves on their way through the steps. Kept, since it would take a
/// twentieth of the time of a short text to clear it.
struct Batch {
    ends: Box<[u32]>,
    pieces: Box<[Piece]>,
}

thread_local! {
    static BATCH: RefCell<Batch> = RefCell::new(Batch {
        ends: vec![0; ROOM].into(),
        pieces: vec![Piece::default(); ROOM].into(),
    });
}

#[inline(always)]
fn count_batches<K: Kernel>(kernel: K, counted: Counted<'_>, mut learned: Learned<'_>, batch: &mut Batch) -> usize {
    let Counted { vocab, pattern, text } = counted;
    let Batch { ends, pieces } = batch;
    let words = vocab.words();
    let mut total = 0;
    // Where the batch's pieces have been divided up to, and of those which is the next, and where it begins.
    let (mut at, mut many, mut next, mut start) = (0, 0, 0, 0);
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
                end = start + chunks::end(vocab, &text[start..end], 0);
            }
            next += usize::from(end == ends[next] as usize);
            let piece = Piece::new(text, start, end);
            kernel.prefetch(learned.seen_at(piece.hash));
            pieces[filled] = piece;
            filled += 1;
            start = end;
        }
        let (seen, rest) = sift(&mut pieces[..filled], |piece| learned.seen(piece.key, piece.hash));
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
        let (whole, rest) = sift(rest, |piece| {
            let count = usize::from(words.holds(piece.slot as usize, piece.key));
            learned.see(piece.key, piece.hash, count);
            count
        });
        let (merged, rest) = sift(rest, |piece| {
            let count = learned.merged(piece.key, piece.hash);
            learned.see(piece.key, piece.hash, count);
            count
        });
        total += seen + whole + merged;
        let mut short = 0;
        for at in 0..rest.len() {
            let piece = rest[at];
            if piece.is_short() {
                rest[short] = piece;
                short += 1;
                continue;
            }
            let key = piece.long(text);
            let known = key.map_or(0, |key| learned.long(key, piece.hash));
            total += if known > 0 {
                known
            } else {
                let count = long(vocab, piece.of(text));
                if let Some(key) = key {
                    learned.keep(key, piece.hash, count);
                }
                count
            };
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
                total += count;
            },
        );
    }
    total
}

/// How many tokens a piece has.
#[inline]
pub(super) fn piece(vocab: &Vocab, piece: &[u8]) -> usize {
    if vocab.rank(piece).is_some() {
        1
    } else {
        bpe::count(vocab, piece)
    }
}

/// A text of less than a window, without the memory that a batch takes; `None` where the window does not hold its pieces.
#[inline(always)]
fn count_short<K: Kernel>(kernel: K, counted: Counted<'_>) -> Option<usize> {
    let Counted { vocab, pattern, text } = counted;
    if text.is_empty() {
        return Some(0);
    }
    // Sixteen bytes more, so that a key can be read at any place.
    let mut padded = [0; WIDTH + 16];
    padded[..text.len()].copy_from_slice(text);
    let window = padded.first_chunk()?;
    let cut = window::cut(kernel, pattern, window, text.len(), true);
    if cut.end < text.len() {
        return None;
    }
    let words = vocab.words();
    let mut total = 0;
    let mut rest = cut.starts;
    while rest != 0 {
        let start = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let end = if rest == 0 {
            text.len()
        } else {
            rest.trailing_zeros() as usize
        };
        let key = Key::of(padded[start..].first_chunk()?, end - start);
        total += if words.slot(key, key.hash()).is_some() {
            1
        } else {
            learned::with(vocab, |mut learned| recall(vocab, &mut learned, text, start, end))
        };
    }
    Some(total)
}

/// Where the next pieces end: `most` and up to a window's more, or all that are left. Moves `at` to the end of the last.
#[inline(always)]
fn divide<K: Kernel>(kernel: K, pattern: Pattern, text: &[u8], at: &mut usize, ends: &mut [u32], most: usize) -> usize {
    let mut pieces = 0;
    while pieces < most && *at < text.len() {
        let rest = &text[*at..];
        let cut = if let Some(window) = rest.first_chunk() {
            window::cut(kernel, pattern, window, WIDTH, rest.len() == WIDTH)
        } else {
            let mut window = [0; WIDTH];
            window[..rest.len()].copy_from_slice(rest);
            window::cut(kernel, pattern, &window, rest.len(), true)
        };
        if cut.end == 0 {
            *at = Scan::new(text).next(pattern, *at);
            ends[pieces] = *at as u32;
            pieces += 1;
        } else if let Some(places) = ends[pieces..].first_chunk_mut() {
            // Each piece ends where the next one begins, and the last one where the cut does.
            kernel.places(cut.starts & (cut.starts - 1), *at as u32, places);
            pieces += cut.starts.count_ones() as usize;
            *at += cut.end;
            ends[pieces - 1] = *at as u32;
        }
    }
    pieces
}

/// A piece on its way through the steps.
#[derive(Clone, Copy, Default)]
struct Piece {
    key: Key,
    hash: u64,
    start: u32,
    end: u32,
    slot: u32,
}

impl Piece {
    #[inline(always)]
    fn new(text: &[u8], start: usize, end: usize) -> Self {
        let key = Key::of(&sixteen(text, start), end - start);
        Self {
            key,
            hash: key.hash(),
            start: start as u32,
            end: end as u32,
            slot: 0,
        }
    }
}

impl Piece {
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

/// How many tokens those pieces have of which `count` knows it, and the others, of which it gives 0, moved to the front.
#[inline(always)]
fn sift(pieces: &mut [Piece], mut count: impl FnMut(&Piece) -> usize) -> (usize, &mut [Piece]) {
    let (mut total, mut rest) = (0, 0);
    for at in 0..pieces.len() {
        let piece = pieces[at];
        let count = count(&piece);
        total += count;
        // Moved whether it is one of the others or not, so that there is no branch.
        pieces[rest] = piece;
        rest += usize::from(count == 0);
    }
    (total, &mut pieces[..rest])
}

/// How many tokens a piece has that is neither a token of up to fifteen bytes nor remembered.
fn merge(vocab: &Vocab, learned: &mut Learned<'_>, text: &[u8], start: usize, end: usize) -> usize {
    if end - start > LONGEST {
        return long(vocab, &text[start..end]);
    }
    let key = Key::of(&sixteen(text, start), end - start);
    let hash = key.hash();
    let count = bpe::count(vocab, &text[start..end]);
    learned.merge(key, hash, count);
    learned.see(key, hash, count);
    count
}

/// How many tokens a piece has, by the shortest way.
#[inline]
fn recall(vocab: &Vocab, learned: &mut Learned<'_>, text: &[u8], start: usize, end: usize) -> usize {
    if end - start <= LONGEST {
        let key = Key::of(&sixteen(text, start), end - start);
        let hash = key.hash();
        if vocab.words().slot(key, hash).is_some() {
            learned.see(key, hash, 1);
            return 1;
        }
        let count = learned.merged(key, hash);
        if count != 0 {
            learned.see(key, hash, count);
            return count;
        }
    }
    merge(vocab, learned, text, start, end)
}

/// How many tokens a chunk of more than fifteen bytes has.
fn long(vocab: &Vocab, chunk: &[u8]) -> usize {
    if vocab.long_rank(chunk).is_some() {
        1
    } else {
        bpe::count(vocab, chunk)
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::family::Family;
    use crate::tokens::pretokenize::Pieces;
    use crate::tokens::window::Portable;

    fn patterns() -> [(&'static Vocab, Pattern); 3] {
        [
            (Vocab::o200k(), Pattern::O200k),
            (Vocab::cl100k(), Pattern::Cl100k),
            (Vocab::cl100k(), Pattern::Family(Family::Llama3)),
        ]
    }

    /// Calls with every kernel that this machine has.
    macro_rules! each_kernel {
        ($kernel:ident => $call:expr) => {{
            let $kernel = Portable;
            $call;
            #[cfg(target_arch = "x86_64")]
            {
                use crate::tokens::window::x86::{Avx2, Avx512};
                if let Some($kernel) = Avx2::detect() {
                    $call;
                }
                if let Some($kernel) = Avx512::detect() {
                    $call;
                }
            }
        }};
    }

    fn count_with<K: Kernel>(kernel: K, text: Counted<'_>) -> usize {
        if text.text.len() < WIDTH
            && let Some(tokens) = count_short(kernel, text)
        {
            return tokens;
        }
        learned::with(text.vocab, |learned| {
            BATCH.with_borrow_mut(|batch| count_batches(kernel, text, learned, batch))
        })
    }

    fn check(text: &str) {
        for (vocab, pattern) in patterns() {
            let pieces: Vec<&[u8]> = Pieces::new(pattern, text).collect();
            let expected: usize = pieces.iter().map(|&bytes| piece(vocab, bytes)).sum();
            let ends: Vec<u32> = pieces
                .iter()
                .scan(0, |end, piece| {
                    *end += piece.len() as u32;
                    Some(*end)
                })
                .collect();
            let counted = Counted {
                vocab,
                pattern,
                text: text.as_bytes(),
            };
            each_kernel!(kernel => {
                let (mut at, mut found) = (0, Vec::new());
                while at < text.len() {
                    let mut batch = [0; ROOM];
                    let many = divide(kernel, pattern, text.as_bytes(), &mut at, &mut batch, MANY);
                    found.extend_from_slice(&batch[..many]);
                }
                assert_eq!(found, ends, "{pattern:?} {text:?}");
                // Twice: by merging, and by what was learned.
                assert_eq!(count_with(kernel, counted), expected, "{pattern:?} {text:?}");
                assert_eq!(count_with(kernel, counted), expected, "{pattern:?} {text:?}");
            });
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn every_kernel_divides_and_counts_as_the_scan_does(
            text in "([aAérvlsdſ'’ \t\u{a0}\u{3000}\n\r/!_.1٣語ǅʰ\u{301}🎉]|'s|'re|'LL|  |\r\n| the|tion|ſ's){0,90}",
        ) {
            check(&text);
        }

        #[test]
        fn every_kernel_divides_and_counts_any_text(text in "(.|\n|[ -~]{5}|[\\p{Han}\\p{Thai}\\p{Arabic}]{4}){0,60}") {
            check(&text);
        }
    }

    #[test]
    fn classes_at_every_place_of_a_window() {
        for end in [
            "'s", "é", "語", "🎉", "\u{301}", "\u{3000}", "\n", "  x", "1", "'", "/", "A",
        ] {
            for before in 0..=70 {
                for filling in ["a", " ", "!", "1", "\n"] {
                    check(&format!("{}{end}b", filling.repeat(before)));
                    check(&format!("{}{end}", filling.repeat(before)));
                }
            }
        }
    }
}
