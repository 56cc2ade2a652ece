//! How many tokens a text has, by the way that is the shortest for its length.

use super::batch::{self, Batch, Counted, Each, Nobody};
use super::bpe;
use super::key::{Key, LONGEST};
use super::learned::{self, Learned};
use super::pretokenize::{Pattern, Pieces};
use super::vocab::Vocab;
use super::window::{self, Kernel, WIDTH, Work};

/// How many tokens a text has. O(n).
#[inline]
pub(super) fn count(vocab: &Vocab, pattern: Pattern, text: &str) -> usize {
    if text.len() > batch::MOST {
        return Pieces::new(pattern, text).map(|piece| bpe::tokens(vocab, piece)).sum();
    }
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
    in_batches(text, Nobody)
}

fn in_batches(text: Counted<'_>, each: impl Each) -> usize {
    learned::with(text.vocab, |learned| {
        Batch::with(|batch| {
            window::with_best(Long {
                text,
                learned,
                batch,
                each,
            })
        })
    })
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

/// One of any length, and who wants to know what each piece has.
struct Long<'a, E> {
    text: Counted<'a>,
    learned: Learned<'a>,
    batch: &'a mut Batch,
    each: E,
}

impl<E: Each> Work for Long<'_, E> {
    type Output = usize;

    #[inline(always)]
    fn with<K: Kernel>(self, kernel: K) -> usize {
        batch::count(kernel, self.text, self.learned, self.batch, self.each)
    }
}

/// How many tokens a text has, and each of its pieces: where it begins and its tokens. O(n).
pub(super) fn count_each(vocab: &Vocab, pattern: Pattern, text: &str, mut each: impl FnMut(usize, usize)) -> usize {
    if text.len() > batch::MOST {
        let mut at = 0;
        let counted = Pieces::new(pattern, text).map(|piece| {
            let tokens = bpe::tokens(vocab, piece);
            each(at, tokens);
            at += piece.len();
            tokens
        });
        return counted.sum();
    }
    let text = Counted {
        vocab,
        pattern,
        text: text.as_bytes(),
    };
    let mut last = None;
    let parts = |start: usize, begins: bool, tokens: usize| {
        last = match last {
            Some((start, before)) if !begins => Some((start, before + tokens)),
            whole => {
                if let Some((start, tokens)) = whole {
                    each(start, tokens);
                }
                Some((start, tokens))
            }
        };
    };
    let total = in_batches(text, parts);
    if let Some((start, tokens)) = last {
        each(start, tokens);
    }
    total
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
            learned::with(vocab, |mut learned| {
                remembered(vocab, &mut learned, key, &text[start..end])
            })
        };
    }
    Some(total)
}

/// How many tokens a piece has that is no token of up to fifteen bytes.
fn remembered(vocab: &Vocab, learned: &mut Learned<'_>, key: Key, piece: &[u8]) -> usize {
    if piece.len() > LONGEST {
        return bpe::tokens(vocab, piece);
    }
    let hash = key.hash();
    let mut count = learned.merged(key, hash);
    if count == 0 {
        count = bpe::count(vocab, piece);
        learned.merge(key, hash, count);
    }
    learned.see(key, hash, count);
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::divide::{MANY, ROOM, divide};
    use crate::tokens::family::Family;
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
            Batch::with(|batch| batch::count(kernel, text, learned, batch, Nobody))
        })
    }

    fn check(text: &str) {
        for (vocab, pattern) in patterns() {
            let pieces: Vec<&[u8]> = Pieces::new(pattern, text).collect();
            let expected: usize = pieces.iter().map(|piece| bpe::tokens(vocab, piece)).sum();
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
