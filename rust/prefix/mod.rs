//! Digests that say how much of two requests is the same.
//!
//! A unit's digest is XXH3-128 of its stored bytes. A chain is the digest of all units up to a place: it starts at
//! zero, and each link hashes the chain before it together with the unit's digest. Equal chains therefore mean equal
//! prefixes, unit by unit, and the length of a common prefix is found by binary search.
//!
//! XXH3 has one output on every platform and in every version, so digests may be stored. It is no defence against
//! somebody who makes two texts collide on purpose.

use xxhash_rust::xxh3::xxh3_128;

/// The chain of no units.
pub const EMPTY_CHAIN: u128 = 0;

/// The digest of a unit's stored bytes. O(bytes).
#[must_use]
pub fn digest(bytes: &[u8]) -> u128 {
    xxh3_128(bytes)
}

/// The chain after a unit of this digest, where `chain` stood before it. O(1).
#[must_use]
pub fn link(chain: u128, digest: u128) -> u128 {
    let mut both = [0; 32];
    both[..16].copy_from_slice(&chain.to_le_bytes());
    both[16..].copy_from_slice(&digest.to_le_bytes());
    xxh3_128(&both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_published_one() {
        assert_eq!(digest(b""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
    }

    #[test]
    fn a_link_hashes_both_sides_as_little_endian_bytes() {
        let mut bytes = [0; 32];
        bytes[0] = 1;
        bytes[16] = 2;
        assert_eq!(link(1, 2), xxh3_128(&bytes));
    }

    #[test]
    fn chains_tell_order_and_division() {
        let chain = |units: &[&[u8]]| units.iter().fold(EMPTY_CHAIN, |chain, unit| link(chain, digest(unit)));
        assert_ne!(chain(&[b"a", b"b"]), chain(&[b"b", b"a"]));
        assert_ne!(chain(&[b"ab"]), chain(&[b"a", b"b"]));
        assert_ne!(chain(&[b""]), EMPTY_CHAIN);
    }
}
