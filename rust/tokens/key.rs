//! Keys: up to fifteen bytes of text as two numbers, which compare and hash in a few instructions.
//!
//! Also compiled into the build script, which lays the vocabularies' tables out with the very same keys.

/// The most bytes that a key holds.
pub const LONGEST: usize = 15;

/// Up to fifteen bytes of text; the uppermost byte of `high` is their number. No two texts have the same key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Key {
    pub low: u64,
    pub high: u64,
}

/// By the number of bytes: which bits of sixteen bytes are theirs. More than fifteen have none.
static MASKS: [Key; LONGEST + 2] = {
    let mut masks = [Key { low: 0, high: 0 }; LONGEST + 2];
    let mut len = 0;
    while len <= LONGEST {
        let bits = (1u128 << (8 * len)) - 1;
        masks[len] = Key {
            low: bits as u64,
            high: (bits >> 64) as u64,
        };
        len += 1;
    }
    masks
};

impl Key {
    /// Of the first `len` of sixteen bytes. Where `len` is above fifteen it is zero, the key of no text.
    #[inline(always)]
    pub fn of(bytes: &[u8; 16], len: usize) -> Self {
        let bytes = u128::from_le_bytes(*bytes);
        let len = len.min(LONGEST + 1);
        let mask = MASKS[len];
        Self {
            low: bytes as u64 & mask.low,
            high: ((bytes >> 64) as u64 & mask.high) | ((len as u64 & 0xf) << 56),
        }
    }

    /// Of a text of at most fifteen bytes.
    #[inline]
    pub fn short(bytes: &[u8]) -> Self {
        let mut padded = [0; 16];
        let len = bytes.len().min(16);
        padded[..len].copy_from_slice(&bytes[..len]);
        Self::of(&padded, len)
    }

    /// The bytes as a number, and how many.
    #[inline(always)]
    pub fn text(self) -> (u128, usize) {
        let bytes = u128::from(self.low) | u128::from(self.high & (u64::MAX >> 8)) << 64;
        (bytes, (self.high >> 56) as usize)
    }

    /// Every bit of the key moves every bit of the hash.
    #[inline(always)]
    pub fn hash(self) -> u64 {
        fold(self.low ^ 0x243f_6a88_85a3_08d3, self.high ^ 0x1319_8a2e_0370_7344)
    }
}

/// Both halves of a product.
#[inline(always)]
pub fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// A hash of any number of bytes.
pub fn hash_long(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    let last = bytes.last_chunk::<8>();
    let words = words.iter().chain(last).map(|&word| u64::from_le_bytes(word));
    words.fold(bytes.len() as u64, |hash, word| {
        fold(hash ^ word, 0x9e37_79b9_7f4a_7c15)
    })
}
