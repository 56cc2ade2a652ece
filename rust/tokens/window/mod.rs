//! Pre-tokenising sixty-four bytes at a time.
//!
//! A window begins where a piece begins. For each class of character it has a mask of the bytes that belong to it
//! ([`signs`]), and the patterns' rules become arithmetic on these masks: nothing depends on a branch that text could make
//! hard to foresee. A window says where pieces begin as far as it can be sure of it; the next window begins with the last
//! piece that this one did not see the end of. So no state is carried from one to the next, and where a window knows nothing
//! (long pieces, rare scripts) the scan of [`super::pretokenize`] takes one piece and hands back.

mod portable;
mod signs;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

pub(super) use portable::Portable;
pub(super) use signs::Signs;

use super::family::Family;
use super::pretokenize::Pattern;

/// Bytes of a window.
pub(super) const WIDTH: usize = 64;

/// What a machine can do with sixty-four bytes at once.
pub(super) trait Kernel: Copy {
    /// The classes of bytes, as far as they can be told without looking at characters of several bytes.
    fn signs(self, bytes: &[u8; WIDTH]) -> Signs;

    /// The places of a mask's bits, each increased by `base`, written to the beginning of `places`; what follows them there is
    /// undefined.
    fn places(self, mask: u64, base: u32, places: &mut [u32; WIDTH]);

    /// Asks for the memory of a value ahead of its use.
    fn prefetch<T>(self, value: &T);
}

/// Something to be done with whichever kernel.
pub(super) trait Work {
    type Output;

    /// To be inlined always: what is not is compiled without the kernel's instructions.
    fn with<K: Kernel>(self, kernel: K) -> Self::Output;
}

/// Works with the best kernel that this machine has.
#[inline]
pub(super) fn with_best<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(kernel) = x86::Avx512::detect() {
            return kernel.run(work);
        }
        if let Some(kernel) = x86::Avx2::detect() {
            return kernel.run(work);
        }
    }
    work.with(Portable)
}

/// Where pieces begin in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// The beginnings of the pieces that the window holds wholly.
    pub(super) starts: u64,
    /// Where the last of them ends: 0 where the window holds none.
    pub(super) end: usize,
}

/// The pieces of a window. `text` begins with a piece; `len` bytes of it are in the window, which are all that is left of the
/// text where `last`.
#[inline(always)]
pub(super) fn cut<K: Kernel>(kernel: K, pattern: Pattern, bytes: &[u8; WIDTH], len: usize, last: bool) -> Cut {
    // The rules are those of three patterns; the others are scanned.
    if let Pattern::Family(family) = pattern
        && family != Family::Llama3
    {
        return Cut { starts: 0, end: 0 };
    }
    let mut signs = kernel.signs(bytes);
    let mut valid = u64::MAX >> (WIDTH - len.max(1));
    let mut unsure = 0;
    if signs.wide & valid != 0 {
        let (rare, len) = signs.widen(bytes, len);
        unsure = rare;
        valid &= u64::MAX >> (WIDTH - len.max(1));
    }
    let found = match pattern {
        Pattern::O200k => starts::<true>(&signs, bytes, valid, last, false),
        Pattern::Cl100k => starts::<false>(&signs, bytes, valid, last, true),
        Pattern::Family(_) => starts::<false>(&signs, bytes, valid, last, false),
    };
    let unsure = unsure | found.unsure;
    if unsure == 0 && last {
        return Cut {
            starts: found.starts,
            end: len,
        };
    }
    // Certain are the starts before the first place that is not; the last of them begins a piece whose end is not known.
    let sure = found.starts & (unsure & unsure.wrapping_neg()).wrapping_sub(1);
    let end = (sure | 1).ilog2();
    Cut {
        starts: sure & !(1 << end),
        end: end as usize,
    }
}

struct Found {
    starts: u64,
    /// Places from the first of which on the starts are not certain.
    unsure: u64,
}

/// The rules, for the pattern of `o200k_base` where `CASED` and for that of `cl100k_base` and its kin otherwise. With
/// `whole_end` whitespace at the text's end is one piece whatever newlines it has.
#[inline(always)]
fn starts<const CASED: bool>(signs: &Signs, bytes: &[u8; WIDTH], valid: u64, last: bool, whole_end: bool) -> Found {
    let (upper, lower, caseless) = (signs.upper & valid, signs.lower & valid, signs.caseless & valid);
    let (number, space, newline) = (signs.number & valid, signs.space & valid, signs.newline & valid);
    let white = space | newline;
    let letter = upper | lower | caseless;
    let other = valid & !(letter | number | white);
    let mut unsure = 0;

    // Symbols: a run begins a piece but where a blank before it does. The newlines behind it are its own.
    let blank_before = signs.blank << 1;
    let symbols = other & !(other << 1);
    let own_newlines = newline & (other << 1);
    let behind = newline.wrapping_add(own_newlines);
    let own_newlines = if own_newlines == 0 { 0 } else { newline & !behind };
    if CASED {
        // Slashes behind those newlines are its own as well, which is rare.
        unsure |= signs.slash & (own_newlines << 1) & valid;
    }

    // Words take one character before them, if it is a piece otherwise: any space, a symbol that stands alone.
    let words = letter & !(letter << 1);
    let taken_symbol = if signs.wide & valid == 0 {
        (other & !(other << 1) & !blank_before) << 1
    } else {
        // The symbol may be of several bytes.
        let mut first = other & !(other << 1) & !blank_before;
        first |= (first << 1) & signs.inner;
        first |= (first << 1) & signs.inner;
        first |= (first << 1) & signs.inner;
        (first << 1) & !signs.inner
    };
    let mut starts = (words & !(space << 1) & !taken_symbol) | (symbols & !blank_before);
    if CASED {
        starts |= upper & (lower << 1);
        // Whether capitals go on with a word without case depends on what comes after them.
        unsure |= upper & (caseless << 1);
    }

    // Numbers in threes.
    let digits = number & !(number << 1);
    starts |= digits;
    let fourth = number & (number << 1) & (number << 2) & (number << 3);
    let mut more = (digits << 3) & fourth;
    while more != 0 {
        starts |= more;
        more = (more << 3) & fourth;
    }

    // Whitespace: all up to its last newline, then all but its last character, which goes with what follows.
    let white = white & !own_newlines;
    let runs = white & !(white << 1);
    let apart = valid & !signs.white() & !signs.inner;
    starts |= runs | (space & (apart >> 1));
    let indents = space & ((newline & white) << 1);
    if indents != 0 {
        let ends = space.wrapping_add(space & !(space << 1)) & newline;
        starts |= indents;
        if ends != 0 {
            starts &= !followed_by_newline(space, indents, ends);
        }
        if whole_end && last {
            // One piece to the end, whatever newlines there are in it.
            let tail = ending_run(white, valid);
            starts &= !tail | runs;
        }
    }

    // Contractions.
    let quotes = signs.quote & valid & if CASED { letter << 1 } else { starts };
    if quotes != 0 {
        let mut rest = quotes;
        let mut end = 0;
        while rest != 0 {
            let at = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            if CASED && at == end {
                // Behind another contraction it is a symbol like any other.
                continue;
            }
            let len = contraction(bytes, at);
            if len > 0 {
                end = at + len;
                let inside = ((1u64 << len) - 1) << at;
                starts &= if CASED { !inside } else { !inside | (1 << at) };
                starts |= 1u64.checked_shl(end as u32).unwrap_or(0) & valid;
            }
        }
        if !last {
            unsure |= quotes & !(valid >> 3);
        }
    }

    if !last {
        // What whitespace comes to depends on what stands behind it.
        let tail = ending_run(signs.white() & valid, valid);
        unsure |= tail & (tail << 1);
    }
    Found {
        starts: starts | 1,
        unsure,
    }
}

/// The starts in `indents` of runs of spaces that end in a newline.
#[cold]
fn followed_by_newline(space: u64, indents: u64, mut ends: u64) -> u64 {
    let mut found = 0;
    while ends != 0 {
        let below = (ends & ends.wrapping_neg()) - 1;
        ends &= ends - 1;
        // The run before this end begins behind the last byte before it that is no space.
        let gap = below & !space;
        let start = 64 - gap.leading_zeros();
        found |= indents & 1u64.checked_shl(start).unwrap_or(0);
    }
    found
}

/// The run of ones at the upper end of a mask of valid bytes.
#[inline(always)]
fn ending_run(mask: u64, valid: u64) -> u64 {
    let gap = valid & !mask;
    let len = 64 - gap.leading_zeros();
    valid & u64::MAX.checked_shl(len).unwrap_or(0)
}

/// How many bytes the contraction at an apostrophe has: `(?i:'s|'t|'re|'ve|'m|'ll|'d)`; the long s is an s too.
#[inline]
fn contraction(bytes: &[u8; WIDTH], at: usize) -> usize {
    let byte = |i: usize| bytes.get(at + i).map_or(0, u8::to_ascii_lowercase);
    match (byte(1), byte(2)) {
        (b's' | b't' | b'm' | b'd', _) => 2,
        (b'r' | b'v', b'e') | (b'l', b'l') | (0xc5, 0xbf) => 3,
        _ => 0,
    }
}
