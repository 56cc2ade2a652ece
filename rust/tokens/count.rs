//! Counting without ids: a text's pieces, and then only those that are no token themselves.
//!
//! A batch of pieces goes through three steps, each a loop of its own over what the one before has left, so that in the
//! first ones nothing waits for whether a piece is known: where pieces begin; which of them are tokens; what this thread has
//! learned of the others. What is left then is merged.

use super::key::{Key, LONGEST};
use super::learned::{self, Learned};
use super::pretokenize::{Pattern, Scan};
use super::vocab::Vocab;
use super::window::{self, Kernel, Portable, WIDTH};
use super::{bpe, chunks};

/// Pieces of a batch, and room for those of one window more.
const BATCH: usize = 448;
const ROOM: usize = BATCH + WIDTH;

/// How many tokens a text has. O(n).
#[inline]
pub(super) fn count(vocab: &Vocab, pattern: Pattern, text: &str) -> usize {
    let text = text.as_bytes();
    #[cfg(target_arch = "x86_64")]
    {
        use super::window::x86::{Avx2, Avx512};
        if let Some(kernel) = Avx512::detect() {
            return kernel.run(|| count_with(kernel, vocab, pattern, text));
        }
        if let Some(kernel) = Avx2::detect() {
            return kernel.run(|| count_with(kernel, vocab, pattern, text));
        }
    }
    count_with(Portable, vocab, pattern, text)
}

#[inline(always)]
fn count_with<K: Kernel>(kernel: K, vocab: &Vocab, pattern: Pattern, text: &[u8]) -> usize {
    if text.len() < WIDTH
        && let Some(tokens) = count_short(kernel, vocab, pattern, text)
    {
        return tokens;
    }
    learned::with(vocab, |learned| {
        let mut total = 0;
        let mut at = 0;
        while at < text.len() {
            let mut ends = [0; ROOM];
            let mut missed = [(0, 0); ROOM];
            let start = at;
            let pieces = divide(kernel, pattern, text, &mut at, &mut ends);
            let (seen, missed) = look(learned, text, start, &ends[..pieces], &mut missed);
            let (whole, missed) = find(vocab, learned, text, missed);
            let (merged, missed) = remember(learned, text, missed);
            total += seen + whole + merged;
            for &mut (start, end) in missed {
                total += merge(vocab, learned, text, start as usize, end as usize);
            }
        }
        total
    })
}

/// A text of less than a window, without the memory that a batch takes; `None` where the window does not hold its pieces.
#[inline(always)]
fn count_short<K: Kernel>(kernel: K, vocab: &Vocab, pattern: Pattern, text: &[u8]) -> Option<usize> {
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
        let end = if rest == 0 { text.len() } else { rest.trailing_zeros() as usize };
        let key = Key::of(padded[start..].first_chunk()?, end - start);
        total += if words.slot(key, key.hash()).is_some() {
            1
        } else {
            learned::with(vocab, |learned| recall(vocab, learned, text, start, end))
        };
    }
    Some(total)
}

/// Where the next pieces end; as many as make a batch, or all that are left. Moves `at` to the end of the last.
#[inline(always)]
fn divide<K: Kernel>(kernel: K, pattern: Pattern, text: &[u8], at: &mut usize, ends: &mut [u32; ROOM]) -> usize {
    let mut pieces = 0;
    while pieces < BATCH && *at < text.len() {
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

/// How many tokens those pieces have that were seen lately, and the others: where they begin and end.
#[inline(always)]
fn look<'a>(
    learned: &Learned,
    text: &[u8],
    mut start: usize,
    ends: &[u32],
    missed: &'a mut [(u32, u32); ROOM],
) -> (usize, &'a mut [(u32, u32)]) {
    let (mut total, mut misses) = (0, 0);
    for (&end, _) in ends.iter().zip(0..ROOM) {
        let key = Key::of(&sixteen(text, start), end as usize - start);
        let count = learned.seen(key, key.hash());
        total += count;
        // Written whether it is missed or not, so that there is no branch.
        missed[misses % ROOM] = (start as u32, end);
        misses += usize::from(count == 0);
        start = end as usize;
    }
    (total, &mut missed[..misses])
}

/// How many of the pieces are tokens, and the others, moved to the front.
#[inline(always)]
fn find<'a>(
    vocab: &Vocab,
    learned: &mut Learned,
    text: &[u8],
    pieces: &'a mut [(u32, u32)],
) -> (usize, &'a mut [(u32, u32)]) {
    let words = vocab.words();
    let mut misses = 0;
    for at in 0..pieces.len() {
        let (start, end) = pieces[at];
        let key = Key::of(&sixteen(text, start as usize), (end - start) as usize);
        let hash = key.hash();
        let (_, found) = words.find(key, hash);
        pieces[misses] = (start, end);
        misses += usize::from(!found);
        learned.see(key, hash, usize::from(found));
    }
    (pieces.len() - misses, &mut pieces[..misses])
}

/// How many tokens those pieces have that this thread has merged before, and the others, moved to the front.
#[inline(always)]
fn remember<'a>(
    learned: &mut Learned,
    text: &[u8],
    pieces: &'a mut [(u32, u32)],
) -> (usize, &'a mut [(u32, u32)]) {
    let (mut total, mut misses) = (0, 0);
    for at in 0..pieces.len() {
        let (start, end) = pieces[at];
        let key = Key::of(&sixteen(text, start as usize), (end - start) as usize);
        let hash = key.hash();
        let count = learned.merged(key, hash);
        total += count;
        pieces[misses] = (start, end);
        misses += usize::from(count == 0);
        learned.see(key, hash, count);
    }
    (total, &mut pieces[..misses])
}

/// How many tokens a piece has that is neither a token of up to fifteen bytes nor remembered.
fn merge(vocab: &Vocab, learned: &mut Learned, text: &[u8], start: usize, end: usize) -> usize {
    if end - start > LONGEST {
        return long(vocab, learned, &text[start..end]);
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
fn recall(vocab: &Vocab, learned: &mut Learned, text: &[u8], start: usize, end: usize) -> usize {
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

/// How many tokens a piece of more than fifteen bytes has.
fn long(vocab: &Vocab, learned: &mut Learned, piece: &[u8]) -> usize {
    if vocab.long_rank(piece).is_some() {
        return 1;
    }
    if piece.is_ascii() || !vocab.is_proper() {
        return bpe::count(vocab, piece);
    }
    let mut total = 0;
    let mut start = 0;
    while start < piece.len() {
        let end = chunks::end(vocab, piece, start);
        total += if end - start > LONGEST {
            bpe::count(vocab, &piece[start..end])
        } else {
            let key = Key::of(&sixteen(piece, start), end - start);
            match learned.seen(key, key.hash()) {
                0 => recall(vocab, learned, piece, start, end),
                count => count,
            }
        };
        start = end;
    }
    total
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
