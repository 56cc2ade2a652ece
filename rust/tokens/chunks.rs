//! Pieces divided further, where no token may lie across a place whatever stands around it.
//!
//! Scripts without spaces have long pieces, no two of which are the same. The tokens that join two given characters are few,
//! though: between characters of three bytes, which most of such scripts' are, a table knows whether there is any.

use super::vocab::Vocab;

/// Where the first chunk of a piece ends; merging each chunk gives what merging the piece does.
#[inline]
pub(super) fn end(vocab: &Vocab, piece: &[u8]) -> usize {
    if !vocab.is_proper() {
        return piece.len();
    }
    let mut at = 0;
    while let Some(&[a, b, c, d, e, f]) = piece[at..].first_chunk() {
        if is_three(a) {
            at += 3;
            if is_three(d) && !vocab.may_join([a, b, c], [d, e, f]) {
                return at;
            }
        } else {
            at += 1;
        }
    }
    piece.len()
}

/// Whether a byte begins a character of three.
#[inline]
fn is_three(byte: u8) -> bool {
    byte & 0xf0 == 0xe0
}
