//! Tokens of the pieces of a growing text, without merging a long one again for each word that is added to it.

use std::ops::Range;

use super::prefixes::Prefixes;
use super::vocab::Vocab;
use super::{Tokenizer, bpe};

/// Pieces of up to this many bytes are merged anew: that is faster than what would have to be kept.
const SHORT: usize = 24;

/// What is known of the two pieces that the open end of a text can have.
#[derive(Debug, Clone, Default)]
pub(super) struct Growing {
    whole: Known,
    rest: Known,
    /// The last piece that was counted, and its tokens: most pieces end where a delta did.
    last: (Range<usize>, usize),
}

#[derive(Debug, Clone, Default)]
struct Known {
    start: usize,
    prefixes: Prefixes,
}

impl Growing {
    /// Tokens of the piece that begins where the open end does.
    #[inline]
    pub(super) fn first(&mut self, tokenizer: &Tokenizer, text: &[u8], piece: Range<usize>) -> usize {
        let vocab = &tokenizer.vocab;
        if piece.len() > SHORT && tokenizer.tells_pieces() {
            return self.whole.count(vocab, text, piece);
        }
        if self.last.0 != piece {
            let bytes = &text[piece.clone()];
            let tokens = if tokenizer.tells_pieces() {
                bpe::tokens(vocab, bytes)
            } else {
                // A stretch of pieces, between two characters of the text.
                str::from_utf8(bytes).map_or(0, |text| tokenizer.count(text, false))
            };
            self.last = (piece, tokens);
        }
        self.last.1
    }

    /// Tokens of the piece behind the first one.
    pub(super) fn second(&mut self, vocab: &Vocab, text: &[u8], piece: Range<usize>) -> usize {
        if piece.len() > SHORT {
            return self.rest.count(vocab, text, piece);
        }
        bpe::tokens(vocab, &text[piece])
    }

    /// The first piece ended; what was known of the second one is now of the first.
    #[inline]
    pub(super) fn shift(&mut self, start: usize) {
        if self.rest.start == start && !self.rest.prefixes.is_empty() {
            std::mem::swap(&mut self.whole, &mut self.rest);
            self.rest.prefixes.clear();
        }
    }

    /// The text before a place is gone.
    pub(super) fn drop_before(&mut self, start: usize) {
        for known in [&mut self.whole, &mut self.rest] {
            if known.start < start {
                known.prefixes.clear();
            }
            known.start = known.start.saturating_sub(start);
        }
        self.last = (0..0, 0);
    }
}

impl Known {
    fn count(&mut self, vocab: &Vocab, text: &[u8], piece: Range<usize>) -> usize {
        if self.start != piece.start {
            self.start = piece.start;
            self.prefixes.clear();
        }
        let piece = &text[piece];
        match vocab.rank(piece) {
            Some(_) => 1,
            None => self.prefixes.count(vocab, piece),
        }
    }
}
