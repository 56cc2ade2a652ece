//! Which units are of a kind, and which answer a call at length: what a scan would find, without one.

use std::ops::Range;

use super::History;
use super::chunk::Answers;
use crate::Result;

impl History {
    /// The units of a range that have all of these bits of [`kind`](super::kind). O(1) a chunk of the range, and O(units) of
    /// those chunks that hold any.
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`](crate::Error::UnitOutOfRange), [`Error::ReversedRange`](crate::Error::ReversedRange).
    pub fn of_kind(&self, range: Range<usize>, bits: u8) -> Result<Vec<usize>> {
        self.check_range(&range)?;
        let mut found = Vec::new();
        for (chunk, units) in self.chunks(range) {
            if chunk.any_kind() & bits == bits {
                let first = chunk.units().start;
                let kinds = (first + units.start..).zip(&chunk.kinds()[units]);
                found.extend(kinds.filter(|(_, kind)| **kind & bits == bits).map(|(unit, _)| unit));
            }
        }
        Ok(found)
    }

    /// How many units of a range answer a call with [`LONG_ANSWER`](super::LONG_ANSWER) tokens or more, and their tokens.
    /// O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`](crate::Error::UnitOutOfRange), [`Error::ReversedRange`](crate::Error::ReversedRange).
    pub fn answers(&self, range: Range<usize>) -> Result<Answers> {
        self.check_range(&range)?;
        let (before, until) = (self.answers_before(range.start), self.answers_before(range.end));
        Ok(Answers {
            units: until.units - before.units,
            tokens: until.tokens - before.tokens,
        })
    }

    /// Those units, in order. O(1) a chunk of the range, and O(1) each.
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`](crate::Error::UnitOutOfRange), [`Error::ReversedRange`](crate::Error::ReversedRange).
    pub fn answer_units(&self, range: Range<usize>) -> Result<Vec<usize>> {
        self.check_range(&range)?;
        let mut found = Vec::new();
        for (chunk, units) in self.chunks(range) {
            let first = chunk.units().start;
            found.extend(chunk.answers(units).map(|unit| first + unit));
        }
        Ok(found)
    }

    /// The first of those units. O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`](crate::Error::UnitOutOfRange), [`Error::ReversedRange`](crate::Error::ReversedRange).
    pub fn first_answer(&self, range: Range<usize>) -> Result<Option<usize>> {
        if self.answers(range.clone())?.units == 0 {
            return Ok(None);
        }
        let before = self.answers_before(range.start).units;
        let (mut low, mut high) = (range.start, range.end);
        while low + 1 < high {
            let middle = low.midpoint(high);
            if self.answers_before(middle).units > before {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(Some(low))
    }

    fn answers_before(&self, unit: usize) -> Answers {
        let (chunk, local) = self.locate(unit);
        chunk.answers_before(local)
    }
}
