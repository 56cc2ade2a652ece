//! Where pieces end: by windows, and where a window knows nothing by the scan.

use super::pretokenize::{Pattern, Pieces, Scan};
use super::window::{self, Kernel, WIDTH, Work};

/// Pieces that are found at a time, and room for those of one window more.
pub(super) const MANY: usize = 448;
pub(super) const ROOM: usize = MANY + WIDTH;

/// Where the next pieces end: `most` and up to a window's more, or all that are left. Moves `at` to the end of the last.
#[inline(always)]
pub(super) fn divide<K: Kernel>(
    kernel: K,
    pattern: Pattern,
    text: &[u8],
    at: &mut usize,
    ends: &mut [u32],
    most: usize,
) -> usize {
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

/// Calls with each piece of a text, one after the other.
pub(super) fn each_piece<'a>(pattern: Pattern, text: &'a str, emit: impl FnMut(&'a [u8])) {
    if text.len() > u32::MAX as usize {
        return Pieces::new(pattern, text).for_each(emit);
    }
    let text = text.as_bytes();
    window::with_best(EachPiece { pattern, text, emit });
}

struct EachPiece<'a, F> {
    pattern: Pattern,
    text: &'a [u8],
    emit: F,
}

impl<'a, F: FnMut(&'a [u8])> Work for EachPiece<'a, F> {
    type Output = ();

    #[inline(always)]
    fn with<K: Kernel>(self, kernel: K) {
        let Self {
            pattern,
            text,
            mut emit,
        } = self;
        let mut ends = [0; ROOM];
        let (mut at, mut start) = (0, 0);
        while at < text.len() {
            let many = divide(kernel, pattern, text, &mut at, &mut ends, MANY);
            for &end in &ends[..many] {
                emit(&text[start..end as usize]);
                start = end as usize;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_those_of_the_scan(text in "([a-cA-C'’ \\n/!1語\u{301}]|  |'s){0,700}") {
            for pattern in [Pattern::O200k, Pattern::Cl100k] {
                let mut found = Vec::new();
                each_piece(pattern, &text, |piece| found.push(piece));
                prop_assert_eq!(found, Pieces::new(pattern, &text).collect::<Vec<_>>());
            }
        }
    }
}
