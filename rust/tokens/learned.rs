//! What each thread remembers of the pieces that it has seen: how many tokens they have.
//!
//! Three tables. The one for all pieces is small enough to stay near the processor, which the vocabulary's tables are not. The
//! others are for those that are no token, short and long, which it takes a while to count. All are bounded: six megabytes a
//! thread and vocabulary, taken page by page as they are needed, for the last four vocabularies that the thread has used.

use std::cell::RefCell;
use std::hint::select_unpredictable;

use super::key::{Key, fold};
use super::vocab::Vocab;
use super::zeroed::Zeroed;

/// Pieces that are remembered whatever they are.
const SEEN: usize = 1 << 16;
/// Sets of four pieces that are no token: a line of memory each.
const MERGED: usize = 1 << 16;
/// Pairs of longer pieces: a line of memory each.
const LONG: usize = 1 << 14;
/// Vocabularies that a thread remembers.
const VOCABULARIES: usize = 4;
/// The highest count that is remembered: it has four bits.
const MOST: usize = 15;

/// A key, which leaves the four uppermost bits free for the count. Nothing has the empty one, since no piece is empty.
type Entry = u128;

#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
struct Set([Entry; 4]);

/// The bytes of a piece of up to thirty, their number and the count.
type LongEntry = [u64; 4];

#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
struct LongPair([LongEntry; 2]);

/// A piece of sixteen to thirty bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct LongKey(LongEntry);

impl LongKey {
    /// The most bytes of one: two are left for their number and the count.
    pub(super) const LONGEST: usize = 30;

    /// `None` where it has more than so many bytes.
    #[inline]
    pub(super) fn of(piece: &[u8]) -> Option<Self> {
        if piece.len() > Self::LONGEST {
            return None;
        }
        let mut bytes = [0; 32];
        bytes[..piece.len()].copy_from_slice(piece);
        bytes[30] = piece.len() as u8;
        Some(Self(bytemuck::cast(bytes)))
    }

    /// Every bit of the key moves every bit of the hash.
    #[inline]
    pub(super) fn hash(self) -> u64 {
        let Self([a, b, c, d]) = self;
        fold(
            fold(a ^ 0x243f_6a88_85a3_08d3, b ^ 0x1319_8a2e_0370_7344) ^ c,
            d ^ 0xa409_3822_299f_31d0,
        )
    }
}

/// The counts of pieces of up to thirty bytes.
pub(super) struct Learned<'a> {
    seen: &'a mut [Entry; SEEN],
    merged: &'a mut [Set; MERGED],
    long: &'a mut [LongPair; LONG],
}

thread_local! {
    static LEARNED: RefCell<Vec<(u64, Zeroed)>> = const { RefCell::new(Vec::new()) };
}

/// Calls with what this thread has learned of a vocabulary.
#[inline]
pub(super) fn with<R>(vocab: &Vocab, call: impl FnOnce(Learned<'_>) -> R) -> R {
    LEARNED.with_borrow_mut(|all| {
        let number = vocab.number();
        let at = all.iter().position(|&(vocab, _)| vocab == number);
        let at = at.unwrap_or_else(|| begin(all, number));
        call(Learned::of(all[at].1.bytes()))
    })
}

/// Room for one more vocabulary, at the cost of the one that came first.
#[cold]
fn begin(all: &mut Vec<(u64, Zeroed)>, vocab: u64) -> usize {
    if all.len() == VOCABULARIES {
        all.remove(0);
    }
    all.push((vocab, Zeroed::new(Learned::BYTES)));
    all.len() - 1
}

impl<'a> Learned<'a> {
    const SEEN: usize = size_of::<[Entry; SEEN]>();
    const MERGED: usize = size_of::<[Set; MERGED]>();
    const BYTES: usize = Self::SEEN + Self::MERGED + size_of::<[LongPair; LONG]>();

    /// The tables in so many bytes, the smallest last so that each is where its elements may be.
    #[inline]
    fn of(bytes: &'a mut [u8]) -> Self {
        let (merged, rest) = bytes.split_at_mut(Self::MERGED);
        let (seen, long) = rest.split_at_mut(Self::SEEN);
        Self {
            seen: bytemuck::from_bytes_mut(seen),
            merged: bytemuck::from_bytes_mut(merged),
            long: bytemuck::from_bytes_mut(long),
        }
    }

    /// Where [`Self::seen`] will look.
    #[inline(always)]
    pub(super) fn seen_at(&self, hash: u64) -> &impl Sized {
        &self.seen[hash as usize % SEEN]
    }

    /// Where [`Self::merged`] will look.
    #[inline(always)]
    pub(super) fn merged_at(&self, hash: u64) -> &impl Sized {
        &self.merged[(hash >> 16) as usize % MERGED]
    }

    /// How many tokens a piece has; 0 where it was not seen lately.
    #[inline(always)]
    pub(super) fn seen(&self, key: Key, hash: u64) -> usize {
        count(self.seen[hash as usize % SEEN], key)
    }

    /// How many tokens a piece has that is none itself; 0 where it is not known.
    #[inline(always)]
    pub(super) fn merged(&self, key: Key, hash: u64) -> usize {
        let Set(entries) = &self.merged[(hash >> 16) as usize % MERGED];
        entries.iter().fold(0, |found, &entry| found | count(entry, key))
    }

    /// Where [`Self::long`] will look.
    #[inline(always)]
    pub(super) fn long_at(&self, hash: u64) -> &impl Sized {
        &self.long[hash as usize % LONG]
    }

    /// How many tokens a long piece has; 0 where it is not known.
    #[inline]
    pub(super) fn long(&self, key: LongKey, hash: u64) -> usize {
        let (LongKey(key), LongPair(entries)) = (key, &self.long[hash as usize % LONG]);
        let own = entries
            .iter()
            .find(|entry| entry[..3] == key[..3] && entry[3] << 8 == key[3] << 8);
        own.map_or(0, |entry| (entry[3] >> 56) as usize)
    }

    /// Remembers a long piece, in place of the older of two others.
    pub(super) fn keep(&mut self, key: LongKey, hash: u64, count: usize) {
        let LongPair(entries) = &mut self.long[hash as usize % LONG];
        let LongKey([a, b, c, d]) = key;
        // As many tokens as bytes at most.
        *entries = [[a, b, c, d | (count as u64) << 56], entries[0]];
    }

    /// Remembers a piece.
    #[inline(always)]
    pub(super) fn see(&mut self, key: Key, hash: u64, count: usize) {
        if count <= MOST {
            self.seen[hash as usize % SEEN] = entry(key, count);
        }
    }

    /// Remembers a piece that is no token, in place of the oldest of four others.
    pub(super) fn merge(&mut self, key: Key, hash: u64, count: usize) {
        if count <= MOST {
            let Set(entries) = &mut self.merged[(hash >> 16) as usize % MERGED];
            entries.copy_within(..3, 1);
            entries[0] = entry(key, count);
        }
    }
}

/// The count of an entry, or 0 where it is another key's.
#[inline(always)]
fn count(found: Entry, key: Key) -> usize {
    let (low, high) = (found as u64, (found >> 64) as u64);
    let other = (low ^ key.low) | ((high ^ key.high) << 4);
    // A branch here would be foreseen wrongly for each piece that was not seen, and wait for memory before that is noticed.
    select_unpredictable(other == 0, (high >> 60) as usize, 0)
}

#[inline(always)]
fn entry(key: Key, count: usize) -> Entry {
    Entry::from(key.low) | Entry::from(key.high | (count as u64) << 60) << 64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_found_under_its_own_key_only() {
        with(Vocab::cl100k(), |mut learned| {
            let key = |text: &[u8]| (Key::short(text), Key::short(text).hash());
            let (own, hash) = key(b"dselect");
            learned.see(own, hash, 2);
            learned.merge(own, hash, 2);
            assert_eq!((learned.seen(own, hash), learned.merged(own, hash)), (2, 2));
            for other in [&b"dselect\0"[..], b"dselec", b"Dselect"] {
                assert_eq!(learned.seen(Key::short(other), hash), 0);
                assert_eq!(learned.merged(Key::short(other), hash), 0);
            }
            learned.see(own, hash, 16);
            assert_eq!(learned.seen(own, hash), 2);

            let own = LongKey::of(b"a text of twenty one.").unwrap();
            learned.keep(own, own.hash(), 7);
            assert_eq!(learned.long(own, own.hash()), 7);
            for other in [
                &b"a text of twenty one"[..],
                b"a text of twenty one.\0",
                b"A text of twenty one.",
            ] {
                assert_eq!(learned.long(LongKey::of(other).unwrap(), own.hash()), 0);
            }
            assert!(LongKey::of(&[b'a'; 31]).is_none());
        });
    }

    #[test]
    fn a_thread_remembers_few_vocabularies() {
        let many: Vec<Vocab> = (0..6).map(|_| Vocab::new(&[b"a", b"b"]).unwrap()).collect();
        for vocab in &many {
            with(vocab, |_| ());
        }
        LEARNED.with_borrow(|all| assert_eq!(all.len(), VOCABULARIES));
    }
}
