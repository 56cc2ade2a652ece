//! A measured text cut to a budget of tokens.

use super::measure::Measured;
use super::pretokenize::Pieces;
use super::{Tokenizer, bpe};
use crate::{Error, Result};

/// Bytes from a cut in which every place is tried; further away it is approached by halves.
const NEAR: usize = 256;

/// In a marker: how many tokens were left out.
const OMITTED: &str = "{omitted}";

/// Tokens are not monotone: a word may have fewer than its beginning. So the longest text that fits is not the one before the
/// first that does not, and it is searched for among all places near the budget's end.
///
/// No cut divides a character, or a newline of two.
impl Measured {
    /// The longest beginning of the text that has at most so many tokens.
    ///
    /// Where the pieces around the cut have more than 256 bytes, as in a text without spaces: one that fits, and that would not
    /// with one character more. O(log n), and O(pieces · log pieces) in those around the cut.
    #[must_use]
    pub fn head(&self, budget: usize) -> &str {
        &self.text[..self.head_end(budget)]
    }

    /// The longest end of the text that has at most so many tokens; otherwise as [`Measured::head`].
    #[must_use]
    pub fn tail(&self, budget: usize) -> &str {
        &self.text[self.tail_start(budget)..]
    }

    /// Both ends of the text with a marker between them, in all at most so many tokens; the whole text where it fits.
    ///
    /// In the marker `{omitted}` stands for the tokens of what is left out, counted as a text of its own. The ends are the
    /// [`Measured::head`] of n/2 tokens, rounded up, and the [`Measured::tail`] of the others, for the largest n for which the
    /// whole fits. O(log n) for each token of the marker.
    ///
    /// # Errors
    ///
    /// [`Error::MarkerTooLong`] where not even the marker alone fits.
    pub fn middle(&self, budget: usize, marker: &str) -> Result<String> {
        if self.tokens() <= budget {
            return Ok(self.text.to_string());
        }
        let mut tokens = 0;
        for share in (0..=budget).rev() {
            let (head, tail) = (self.head_end(share.div_ceil(2)), self.tail_start(share / 2));
            if head > tail {
                continue;
            }
            let omitted = self.between(head..tail);
            let marker = marker.replace(OMITTED, &omitted.to_string());
            tokens = self.joined(head, &marker, tail);
            if tokens <= budget {
                return Ok([&self.text[..head], &marker, &self.text[tail..]].concat());
            }
        }
        Err(Error::MarkerTooLong { tokens, budget })
    }

    fn head_end(&self, budget: usize) -> usize {
        let len = self.text.len();
        if self.tokens() <= budget {
            return len;
        }
        // Of a longer beginning the budget is spent on pieces that are as they are whatever follows.
        let spent = self.spent(budget);
        let far = (0..3).fold(spent, |at, _| self.index.first_start_behind(at).unwrap_or(len));
        let fits = |end| self.between(0..end) <= budget;
        let mut near = spent;
        while !self.may_cut(near) || !fits(near) {
            near = self.index.last_start_before(near).unwrap_or(0);
        }
        let found = furthest(far - near, |distance| {
            let end = near + distance;
            self.may_cut(end).then(|| fits(end))
        });
        near + found
    }

    fn tail_start(&self, budget: usize) -> usize {
        let len = self.text.len();
        let Some(rest) = self.tokens().checked_sub(budget) else {
            return 0;
        };
        let fits = |start| self.between(start..len) <= budget;
        let mut near = self.spent(rest);
        while !self.may_cut(near) || !fits(near) {
            near = self.index.first_start_behind(near).unwrap_or(len);
        }
        // A longer end has all the pieces behind a firm place, and more.
        let mut far = near;
        while far > 0 && near - far <= NEAR {
            far = self.index.last_start_before(far).unwrap_or(0);
            if self.is_firm(far) && self.tokens() - self.index.tokens_before(far) > budget {
                break;
            }
        }
        let found = furthest(near - far, |distance| {
            let start = near - distance;
            self.may_cut(start).then(|| fits(start))
        });
        near - found
    }

    /// Where the first piece begins before which there are so many tokens.
    fn spent(&self, tokens: usize) -> usize {
        self.index.first_start_after(tokens).unwrap_or(self.text.len())
    }

    /// Whether a place is between two characters, and not inside a newline of two.
    fn may_cut(&self, at: usize) -> bool {
        let text = self.text.as_bytes();
        self.text.is_char_boundary(at) && !(0 < at && at < text.len() && text[at - 1] == b'\r' && text[at] == b'\n')
    }

    /// Tokens of a beginning, a marker and an end.
    fn joined(&self, head: usize, marker: &str, tail: usize) -> usize {
        let Tokenizer { pattern, vocab, .. } = &*self.tokenizer;
        let left = self.sure_before(head).min(head);
        let mut right = tail;
        while right < self.text.len() && (right == tail || !self.is_firm(right)) {
            right = self.index.first_start_behind(right).unwrap_or(self.text.len());
        }
        let seam = [&self.text[left..head], marker, &self.text[tail..right]].concat();
        let inside: usize = Pieces::new(*pattern, &seam)
            .map(|piece| bpe::tokens(vocab, piece))
            .sum();
        self.index.tokens_before(left) + inside + self.tokens() - self.index.tokens_before(right)
    }
}

/// The largest distance that fits, where 0 does and nothing beyond the limit; `None` is a place where no cut may stand.
///
/// Above [`NEAR`] one that fits while the next does not.
fn furthest(limit: usize, fits: impl Fn(usize) -> Option<bool>) -> usize {
    let (mut near, mut far) = (0, limit);
    let mut step = NEAR;
    while far - near > NEAR {
        let mut next = (near + step).min(near.midpoint(far));
        let found = loop {
            match fits(next) {
                Some(found) => break found,
                None => next -= 1,
            }
        };
        if found {
            (near, step) = (next, step * 2);
        } else {
            far = next;
        }
    }
    let found = (near + 1..=far).rev().find(|&distance| fits(distance) == Some(true));
    found.unwrap_or(near)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::family;

    fn built_in(text: &str) -> impl Iterator<Item = Measured> {
        let measure = move |name| Measured::new(Tokenizer::builtin(name).unwrap(), text).unwrap();
        ["o200k_base", "cl100k_base"].into_iter().map(measure)
    }

    /// By what is built in and by one of the others.
    fn measured(text: &str, other: prop::sample::Index) -> impl Iterator<Item = Measured> {
        let others = family::tokenizers();
        let others = others
            .into_iter()
            .filter_map(|tokenizer| Measured::new(tokenizer, text).ok());
        let mut others: Vec<Measured> = others.collect();
        let others = std::iter::once(others.swap_remove(other.index(others.len())));
        built_in(text).chain(others)
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "([aAérvlsd'’ \t\u{a0}\n\r/!_1語\u{301}🎉]|'re|  |\r\n| the|tion){0,40}",
            "[aA語']{0,40}",
            "[ \n\r\tx]{0,40}",
            "[ 0-9]{0,40}",
            "[0-9]{150,220}",
            "[!'.a]{150,220}",
            any::<String>(),
        ]
    }

    /// The places where a text may be cut.
    fn places(text: &str) -> Vec<usize> {
        let inside = |at: usize| text[..at].ends_with('\r') && text[at..].starts_with('\n');
        (0..=text.len())
            .filter(|&at| text.is_char_boundary(at) && !inside(at))
            .collect()
    }

    proptest! {
        #[test]
        fn every_slice_counts_as_by_itself(
            text in text(), start: prop::sample::Index, stop: prop::sample::Index, other: prop::sample::Index,
        ) {
            for measured in measured(&text, other) {
                let count = |text: &str| measured.tokenizer.count(text, false);
                prop_assert_eq!(measured.tokens(), count(&text));
                for start in [start.index(text.len() + 1), 0, text.len() / 2] {
                    let start = text.floor_char_boundary(start);
                    for stop in (start..=text.len()).filter(|&at| text.is_char_boundary(at)) {
                        prop_assert_eq!(measured.count(start, stop).unwrap(), count(&text[start..stop]));
                    }
                }
                let (start, stop) = (start.index(90), stop.index(90));
                let slice: String = text.chars().take(stop).skip(start).collect();
                prop_assert_eq!(measured.count_chars(start, stop), count(&slice));
            }
        }

        #[test]
        fn ends_are_the_longest_that_fit(text in text(), budget in 0usize..40, other: prop::sample::Index) {
            for measured in measured(&text, other) {
                let fits = |text: &str| measured.tokenizer.count(text, false) <= budget;
                let places = places(&text);
                let head = places.iter().rev().find(|&&at| fits(&text[..at])).unwrap();
                prop_assert_eq!(measured.head(budget), &text[..*head]);
                let tail = places.iter().find(|&&at| fits(&text[at..])).unwrap();
                prop_assert_eq!(measured.tail(budget), &text[*tail..]);
            }
        }

        #[test]
        fn both_ends_and_the_marker_fit_and_more_would_not(text in text(), budget in 0usize..40, other: prop::sample::Index, marker in prop_oneof![
            Just("…{omitted} left out…".to_owned()), "[a' \n1]{0,3}",
        ]) {
            for measured in measured(&text, other) {
                let count = |text: &str| measured.tokenizer.count(text, false);
                let fitting = |share: usize| {
                    let (head, tail) = (measured.head(share.div_ceil(2)), measured.tail(share / 2));
                    let inside = text.get(head.len()..text.len() - tail.len())?;
                    let marker = marker.replace("{omitted}", &count(inside).to_string());
                    let whole = format!("{head}{marker}{tail}");
                    (count(&whole) <= budget).then_some(whole)
                };
                let expected = if count(&text) <= budget { Some(text.clone()) } else { (0..=budget).rev().find_map(fitting) };
                let middle = measured.middle(budget, &marker);
                prop_assert_eq!(middle.clone().ok(), expected, "{:?}", middle);
            }
        }

    }

    proptest! {
        // Each case merges kilobytes a dozen times.
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn where_no_place_is_near_the_ends_fit_and_one_character_more_would_not(
            run in prop_oneof!["[a-z]{2,9}", "[語A]{3,5}", "[/!\n]{2,5}"], budget in 1usize..300, other: prop::sample::Index,
        ) {
            let text = run.repeat(400);
            for measured in measured(&text, other) {
                let fits = |text: &str| measured.tokenizer.count(text, false) <= budget;
                let places = places(&text);
                let head = places.binary_search(&measured.head(budget).len()).unwrap();
                prop_assert!(fits(&text[..places[head]]));
                prop_assert!(places.get(head + 1).is_none_or(|&at| !fits(&text[..at])));
                let tail = places.binary_search(&(text.len() - measured.tail(budget).len())).unwrap();
                prop_assert!(fits(&text[places[tail]..]));
                prop_assert!(tail == 0 || !fits(&text[places[tail - 1]..]));
            }
        }
    }

    #[test]
    fn a_marker_that_leaves_no_room_is_refused() {
        let text = "word ".repeat(100);
        for measured in built_in(&text) {
            let refused = measured.middle(3, "some words too many");
            assert_eq!(refused, Err(Error::MarkerTooLong { tokens: 4, budget: 3 }));
        }
    }

    #[test]
    fn the_index_takes_less_than_half_a_byte_for_each() {
        for text in [
            "hello world ".repeat(1000),
            "é".repeat(5000),
            format!("é{}", "a".repeat(9000)),
        ] {
            for measured in built_in(&text) {
                assert!(measured.index_size() * 2 < text.len());
            }
        }
    }
}
