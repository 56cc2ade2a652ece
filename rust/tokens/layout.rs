//! The tables of a vocabulary, laid out once: for the built-in ones by the build script, so that a process maps and never
//! parses them, for others when they are read.
//!
//! All numbers are little-endian bytes, so that a table can be a part of the program's file wherever it is mapped.

use super::key::{Key, LONGEST, fold, hash_long};

/// Where in a table of so many slots a hash leads, given the pilot of its bucket.
#[inline(always)]
pub fn place(hash: u64, pilot: u8, slots: usize) -> usize {
    let mixed = (hash ^ u64::from(pilot).wrapping_mul(0xc2b2_ae3d_27d4_eb4f)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((u128::from(mixed) * slots as u128) >> 64) as usize
}

/// The bucket of a hash.
#[inline(always)]
pub fn bucket(hash: u64, pilots_log2: u32) -> usize {
    (hash >> (64 - pilots_log2)) as usize
}

/// Bits of the filter: a quarter of a megabyte.
pub const FILTER_LOG2: u32 = 21;

/// The cell of 64 bits and the bit in it that tell of a hash.
#[inline(always)]
pub fn filtered(hash: u64) -> (usize, u32) {
    let at = hash as usize & ((1 << FILTER_LOG2) - 1);
    (at >> 6, (at & 63) as u32)
}

/// Bits of the table of junctions.
pub const JUNCTIONS_LOG2: u32 = 21;

/// Cells of the table of lengths.
pub const LENGTHS_LOG2: u32 = 15;

/// The cell of lengths of all tokens that begin with three bytes.
#[inline(always)]
pub fn lengths_cell(three: [u8; 3]) -> usize {
    let word = u32::from_le_bytes([three[0], three[1], three[2], 0]);
    (word.wrapping_mul(0x9e37_79b1) >> (32 - LENGTHS_LOG2)) as usize
}

/// Cells of the table of long lengths.
pub const LONG_LENGTHS_LOG2: u32 = 14;

/// The cell of lengths of all tokens that begin with sixteen bytes.
#[inline]
pub fn long_lengths_cell(head: &[u8; 16]) -> usize {
    (hash_long(head) >> (64 - LONG_LENGTHS_LOG2)) as usize
}

/// The bit that tells of two characters of three bytes each that stand side by side in a token.
#[inline(always)]
pub fn junction(before: [u8; 3], after: [u8; 3]) -> (usize, u32) {
    let mut both = [0; 8];
    both[..3].copy_from_slice(&before);
    both[3..6].copy_from_slice(&after);
    let hash = fold(u64::from_le_bytes(both) ^ 0x243f_6a88_85a3_08d3, 0x9e37_79b9_7f4a_7c15);
    let at = (hash >> (64 - JUNCTIONS_LOG2)) as usize;
    (at >> 6, (at & 63) as u32)
}

/// A token of up to five bytes and its rank. Merging asks for little else, so that they have a table of their own: an eighth
/// of the others' size, which stays near the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment(pub u64);

impl Fragment {
    /// The most bytes of one.
    pub const LONGEST: usize = 5;
    const RANK: u32 = 43;

    /// Of the lowest `len` bytes of a number, without a rank.
    #[inline(always)]
    pub fn text(bytes: u64, len: usize) -> Self {
        Self(bytes & ((1 << (8 * len)) - 1) | (len as u64) << 40)
    }

    #[inline(always)]
    pub fn hash(self) -> u64 {
        fold(self.0 ^ 0x243f_6a88_85a3_08d3, 0x9e37_79b9_7f4a_7c15)
    }

    /// The rank of this in a table, where it has this text.
    #[inline(always)]
    pub fn rank_of(self, text: Self) -> Option<u32> {
        let rank = (self.0 ^ text.0) >> Self::RANK;
        ((self.0 ^ text.0) << (64 - Self::RANK) == 0).then_some(rank as u32)
    }
}

/// In place of a rank.
pub const NONE: u32 = u32::MAX;

/// The two parts of which a token is merged last: their ranks and how many bytes they have.
///
/// Side by side in eight bytes, since telling which tokens may be neighbours does little else than look them up. Ranks have at
/// most 24 bits, and parts at most 255 bytes; a token that is not made so has parts of no bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts(u64);

impl Parts {
    pub const NONE: Self = Self(0);

    pub fn new(left: (u32, usize), right: (u32, usize)) -> Self {
        let part = |(rank, len): (u32, usize)| u64::from(rank) | (len as u64) << 24;
        Self(part(left) | part(right) << 32)
    }

    #[inline(always)]
    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }

    #[inline(always)]
    pub fn left(self) -> (u32, usize) {
        let part = self.0 as u32;
        (part & 0x00ff_ffff, (part >> 24) as usize)
    }

    #[inline(always)]
    pub fn right(self) -> (u32, usize) {
        let part = (self.0 >> 32) as u32;
        (part & 0x00ff_ffff, (part >> 24) as usize)
    }
}

/// The tables of a vocabulary whose tokens are numbered by rank.
pub struct Layout {
    /// The tokens' bytes, one after the other.
    pub bytes: Vec<u8>,
    /// Where each begins in them, and where the last ends; 4 bytes each.
    pub starts: Vec<u8>,
    /// The tokens of up to five bytes, each with its rank in one number ([`Fragment`]), by perfect hashing; 8 bytes each.
    pub fragments: Vec<u8>,
    /// The pilots of their buckets.
    pub fragment_pilots: Vec<u8>,
    /// The ranks of the tokens of two bytes, by the number that their bytes are; 4 bytes each.
    pub twos: Vec<u8>,
    /// Perfect hashing by pilots: a byte for each bucket of about three keys, chosen so that every key has a slot of its own.
    pub pilots: Vec<u8>,
    /// The keys of the tokens of up to fifteen bytes; 16 bytes each, low half first.
    pub keys: Vec<u8>,
    /// Their ranks; 4 bytes each.
    pub ranks: Vec<u8>,
    /// The ranks of the longer tokens by hash, in an open table at most half full; 4 bytes each.
    pub long: Vec<u8>,
    /// A bit for the hash of each token: most of what merging asks for is no token, and is told so by this.
    pub filter: Vec<u8>,
    /// For the first three bytes (hashed) the lengths of all tokens that begin with them: bit `n` for `n` bytes of up to
    /// fifteen, bit 0 for more; 2 bytes each.
    pub lengths: Vec<u8>,
    /// The same for the first sixteen bytes of longer tokens: bit `n` for `16 + n` bytes, the uppermost for as many or more;
    /// 16 bytes each.
    pub long_lengths: Vec<u8>,
    /// The two parts of which a token is merged last, packed as [`Parts`]; 8 bytes each.
    pub parts: Vec<u8>,
    /// A bit for each two neighbouring three-byte characters inside a token, and then, from the byte before a token's
    /// character that begins it incompletely, 65,536 bits for the two bytes at the place.
    pub junctions: Vec<u8>,
    /// Whether every token is what merging makes of its bytes, by merges of rising rank.
    pub proper: bool,
}

impl Layout {
    /// `None` where two tokens are the same.
    pub fn of(tokens: &[&[u8]]) -> Option<Self> {
        let mut starts = Vec::with_capacity(tokens.len() * 4 + 4);
        let mut bytes = Vec::new();
        for token in tokens {
            starts.extend((bytes.len() as u32).to_le_bytes());
            bytes.extend_from_slice(token);
        }
        starts.extend((bytes.len() as u32).to_le_bytes());

        let short: Vec<(u32, &[u8])> = (0..).zip(tokens.iter().copied()).collect();
        let words: Vec<_> = short.iter().filter(|(_, token)| token.len() <= LONGEST).collect();
        let hashes: Vec<u64> = words.iter().map(|(_, token)| Key::short(token).hash()).collect();
        let (pilots, placed) = placed(&hashes)?;
        // Nothing has this key, not even what has none.
        let mut keys = vec![0xff; placed.len() * 16];
        let mut ranks = vec![0xff; placed.len() * 4];
        for (slot, index) in placed.iter().enumerate() {
            if let Some((rank, token)) = words.get(*index as usize) {
                let key = Key::short(token);
                keys[slot * 16..slot * 16 + 8].copy_from_slice(&key.low.to_le_bytes());
                keys[slot * 16 + 8..slot * 16 + 16].copy_from_slice(&key.high.to_le_bytes());
                ranks[slot * 4..slot * 4 + 4].copy_from_slice(&rank.to_le_bytes());
            }
        }
        let (fragments, fragment_pilots) = fragments(&words)?;

        let mut layout = Self {
            bytes,
            starts,
            fragments,
            fragment_pilots,
            twos: twos(&words),
            pilots,
            keys,
            ranks,
            long: long(tokens),
            filter: filter(tokens),
            lengths: lengths(tokens),
            long_lengths: long_lengths(tokens),
            parts: Vec::new(),
            junctions: junctions(tokens),
            proper: false,
        };
        (layout.parts, layout.proper) = parts(tokens);
        Some(layout)
    }
}

/// The table of fragments and its pilots.
fn fragments(words: &[&(u32, &[u8])]) -> Option<(Vec<u8>, Vec<u8>)> {
    let few: Vec<_> = words
        .iter()
        .filter(|(_, token)| token.len() <= Fragment::LONGEST)
        .collect();
    let texts: Vec<Fragment> = few
        .iter()
        .map(|(_, token)| Fragment::text(Key::short(token).low, token.len()))
        .collect();
    let hashes: Vec<u64> = texts.iter().map(|text| text.hash()).collect();
    let (pilots, placed) = placed(&hashes)?;
    let cells = placed.iter().flat_map(|&index| {
        let index = index as usize;
        let cell = texts
            .get(index)
            .map_or(0, |text| text.0 | u64::from(few[index].0) << Fragment::RANK);
        cell.to_le_bytes()
    });
    Some((cells.collect(), pilots))
}

fn twos(words: &[&(u32, &[u8])]) -> Vec<u8> {
    let mut ranks = vec![NONE; 1 << 16];
    for (rank, token) in words {
        if let [first, second] = token {
            ranks[usize::from(u16::from_le_bytes([*first, *second]))] = *rank;
        }
    }
    ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect()
}

/// A pilot for each bucket, and for each slot the index of its hash; `None` where two hashes are the same.
fn placed(hashes: &[u64]) -> Option<(Vec<u8>, Vec<u32>)> {
    // The less room, the longer the search for pilots; with too little there are none.
    [125, 150, 200, 300]
        .into_iter()
        .find_map(|percent| placed_in(hashes, hashes.len() * percent / 100 + 8))
}

fn placed_in(hashes: &[u64], slots: usize) -> Option<(Vec<u8>, Vec<u32>)> {
    let pilots_log2 = (hashes.len() / 3 + 2).next_power_of_two().trailing_zeros();
    let mut buckets = vec![Vec::new(); 1 << pilots_log2];
    for (index, &hash) in hashes.iter().enumerate() {
        buckets[bucket(hash, pilots_log2)].push(index as u32);
    }
    let mut order: Vec<usize> = (0..buckets.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(buckets[at].len()));
    let mut pilots = vec![0; buckets.len()];
    let mut placed = vec![NONE; slots];
    let mut taken = Vec::new();
    for at in order {
        let pilot = (0..=u8::MAX).find(|&pilot| {
            taken.clear();
            buckets[at].iter().all(|&index| {
                let slot = place(hashes[index as usize], pilot, slots);
                let free = placed[slot] == NONE && !taken.contains(&slot);
                taken.push(slot);
                free
            })
        })?;
        pilots[at] = pilot;
        for (&slot, &index) in taken.iter().zip(&buckets[at]) {
            placed[slot] = index;
        }
    }
    Some((pilots, placed))
}

fn long(tokens: &[&[u8]]) -> Vec<u8> {
    let many = tokens.iter().filter(|token| token.len() > LONGEST).count();
    let mut slots = vec![NONE; (many * 2 + 1).next_power_of_two()];
    let mask = slots.len() - 1;
    for (rank, token) in (0u32..).zip(tokens) {
        if token.len() > LONGEST {
            let mut at = hash_long(token) as usize & mask;
            while slots[at] != NONE {
                at = (at + 1) & mask;
            }
            slots[at] = rank;
        }
    }
    slots.iter().flat_map(|rank| rank.to_le_bytes()).collect()
}

/// The hash of a token of any length.
pub fn hash(token: &[u8]) -> u64 {
    if token.len() <= LONGEST {
        Key::short(token).hash()
    } else {
        hash_long(token)
    }
}

fn filter(tokens: &[&[u8]]) -> Vec<u8> {
    let mut cells = vec![0u64; 1 << (FILTER_LOG2 - 6)];
    for token in tokens {
        let (cell, bit) = filtered(hash(token));
        cells[cell] |= 1 << bit;
    }
    cells.iter().flat_map(|cell| cell.to_le_bytes()).collect()
}

fn lengths(tokens: &[&[u8]]) -> Vec<u8> {
    let mut cells = vec![0u16; 1 << LENGTHS_LOG2];
    for token in tokens {
        if let Some(&three) = token.first_chunk::<3>() {
            let bit = if token.len() <= LONGEST { token.len() } else { 0 };
            cells[lengths_cell(three)] |= 1 << bit;
        }
    }
    cells.iter().flat_map(|cell| cell.to_le_bytes()).collect()
}

fn long_lengths(tokens: &[&[u8]]) -> Vec<u8> {
    let mut cells = vec![0u128; 1 << LONG_LENGTHS_LOG2];
    for token in tokens {
        if let Some(head) = token.first_chunk::<16>() {
            cells[long_lengths_cell(head)] |= 1 << (token.len() - 16).min(127);
        }
    }
    cells.iter().flat_map(|cell| cell.to_le_bytes()).collect()
}

/// Every merge that makes the tokens, by the definition: the adjacent pair of lowest rank, the first of equals.
fn parts(tokens: &[&[u8]]) -> (Vec<u8>, bool) {
    let rank_of: std::collections::HashMap<&[u8], u32> = tokens.iter().copied().zip(0..).collect();
    let mut proper = true;
    let mut all = Vec::with_capacity(tokens.len() * 8);
    let mut ends = Vec::new();
    for (own, token) in (0u32..).zip(tokens) {
        let mut last = Parts::NONE;
        // The ends of the parts.
        ends.clear();
        ends.extend(1..=token.len());
        let mut highest = 0;
        loop {
            let start = |at: usize| if at == 0 { 0 } else { ends[at - 1] };
            let lowest = (0..ends.len().saturating_sub(1))
                .filter_map(|at| Some((*rank_of.get(&token[start(at)..ends[at + 1]])?, at)))
                .min();
            let Some((rank, at)) = lowest else { break };
            proper &= rank >= highest;
            highest = rank;
            let part = |from: usize, to: usize| (rank_of.get(&token[from..to]).copied().unwrap_or(NONE), to - from);
            last = Parts::new(part(start(at), ends[at]), part(ends[at], ends[at + 1]));
            ends.remove(at);
        }
        let whole = ends.len() <= 1;
        proper &= whole && token.len() < 256 && (token.len() == 1 || highest == own);
        all.extend((if whole { last } else { Parts::NONE }).0.to_le_bytes());
    }
    (all, proper)
}

fn junctions(tokens: &[&[u8]]) -> Vec<u8> {
    let mut cells = vec![0u64; (1 << (JUNCTIONS_LOG2 - 6)) + (1 << 10)];
    let is_lead = |byte: u8| byte & 0xc0 != 0x80;
    for token in tokens {
        for at in 1..token.len() {
            if !is_lead(token[at]) {
                continue;
            }
            let before = token[..at].last_chunk::<3>();
            match (before, token[at..].first_chunk::<3>()) {
                // Both characters are whole.
                (Some(&before), Some(&after)) if before[0] >= 0xe0 && after[0] >= 0xe0 && before[0] < 0xf0 => {
                    let (cell, bit) = junction(before, after);
                    cells[cell] |= 1 << bit;
                }
                // The token ends in the character behind the place: all that it may be.
                (Some(&before), None) if before[0] >= 0xe0 && token[at] >= 0xe0 => {
                    let second = token.get(at + 1).copied();
                    for e in second.map_or(0x80..=0xbf, |byte| byte..=byte) {
                        for f in 0x80..=0xbf {
                            let (cell, bit) = junction(before, [token[at], e, f]);
                            cells[cell] |= 1 << bit;
                        }
                    }
                }
                // It begins in the character before the place.
                _ if at < 3 && !is_lead(token[0]) => {
                    let pair = usize::from(token[at - 1]) << 8 | usize::from(token[at]);
                    cells[(1 << (JUNCTIONS_LOG2 - 6)) + (pair >> 6)] |= 1 << (pair & 63);
                }
                _ => {}
            }
        }
    }
    cells.iter().flat_map(|cell| cell.to_le_bytes()).collect()
}
