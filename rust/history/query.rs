//! What can be asked of a history. A unit is found by binary search over the chunks.

use std::iter;
use std::ops::Range;
use std::sync::Arc;

use super::chunk::{Chunk, Position};
use super::piece::Piece;
use super::unit::Grade;
use super::{History, lead};
use crate::{Error, Result};

/// The cuts before neighbouring units of one chunk.
#[derive(Debug, Clone, Copy)]
pub struct Cuts<'a> {
    /// The first of the units.
    pub first: usize,
    /// The grade of the cut before each of them, `None` where it is not legal.
    pub grades: &'a [Option<Grade>],
    /// A bound: none of the grades is better than this one.
    pub best: Option<Grade>,
}

impl History {
    /// How many units there are. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.units().end
    }

    /// Whether there are no units. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the first `n` units come to. O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`] beyond the end.
    pub fn position(&self, n: usize) -> Result<Position> {
        self.check_place(n)?;
        let (chunk, local) = self.locate(n);
        Ok(chunk.position(local))
    }

    /// Raw tokens of units, openings of groups included. O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`], [`Error::ReversedRange`].
    pub fn total(&self, range: Range<usize>) -> Result<u64> {
        self.check_range(&range)?;
        Ok(self.position(range.end)?.tokens - self.position(range.start)?.tokens)
    }

    /// Stored bytes of units, leads included. O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`], [`Error::ReversedRange`].
    pub fn byte_len(&self, range: Range<usize>) -> Result<u64> {
        self.check_range(&range)?;
        Ok(self.position(range.end)?.bytes - self.position(range.start)?.bytes)
    }

    /// XXH3-128 of a unit's stored bytes. O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`].
    pub fn digest(&self, unit: usize) -> Result<u128> {
        self.unit(unit).map(|(chunk, local)| chunk.digest(local))
    }

    /// The chain of digests of the first `n` units. O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`] beyond the end.
    pub fn chain(&self, n: usize) -> Result<u128> {
        self.position(n).map(|position| position.chain)
    }

    /// How many leading units of both histories have the same stored bytes. O(log² n): a binary search over chains,
    /// each of which is found by one over chunks.
    #[must_use]
    pub fn common_prefix(&self, other: &History) -> usize {
        let (mut same, mut unsure) = (0, self.len().min(other.len()));
        while same < unsure {
            let middle = unsure - (unsure - same) / 2;
            let (ours, theirs) = (self.locate(middle), other.locate(middle));
            if ours.0.position(ours.1).chain == theirs.0.position(theirs.1).chain {
                same = middle;
            } else {
                unsure = middle - 1;
            }
        }
        same
    }

    /// The id of the entry that a unit renders. O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`].
    pub fn entry(&self, unit: usize) -> Result<u32> {
        self.unit(unit).map(|(chunk, local)| chunk.entry(local))
    }

    /// The bits of [`kind`](super::kind) of a unit. O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`].
    pub fn kind(&self, unit: usize) -> Result<u8> {
        self.unit(unit).map(|(chunk, local)| chunk.kinds()[local])
    }

    /// The bits of [`kind`](super::kind) of units, a byte each. O(units).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`], [`Error::ReversedRange`].
    pub fn kinds(&self, range: Range<usize>) -> Result<Vec<u8>> {
        self.check_range(&range)?;
        let mut kinds = Vec::with_capacity(range.len());
        for (chunk, units) in self.chunks(range) {
            kinds.extend_from_slice(&chunk.kinds()[units]);
        }
        Ok(kinds)
    }

    /// The entries that units render. O(units).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`], [`Error::ReversedRange`].
    pub fn entries(&self, range: Range<usize>) -> Result<Vec<u32>> {
        self.check_range(&range)?;
        let mut entries = Vec::with_capacity(range.len());
        for (chunk, units) in self.chunks(range) {
            entries.extend(units.map(|local| chunk.entry(local)));
        }
        Ok(entries)
    }

    /// The number of a unit's group. O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`].
    pub fn group(&self, unit: usize) -> Result<usize> {
        self.unit(unit).map(|(chunk, local)| usize::from(chunk.group(local)))
    }

    /// A unit's JSON without its lead. O(log n); O(bytes) where the unit's chunk still grows.
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`].
    pub fn wire(&self, unit: usize) -> Result<Piece> {
        let (chunk, local) = self.unit(unit)?;
        let range = chunk.wire_range(local);
        Ok(match self.sealed.get(self.chunk_of(unit)) {
            Some(sealed) => Piece::Shared {
                chunk: Arc::clone(sealed),
                range,
            },
            None => Piece::Copied(chunk.bytes()[range].to_vec()),
        })
    }

    /// The stored bytes of units, in order, no piece empty. O(chunks), and at most 64 KiB copied.
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`], [`Error::ReversedRange`].
    pub fn pieces(&self, range: Range<usize>) -> Result<Vec<Piece>> {
        self.check_range(&range)?;
        let mut pieces = Vec::new();
        for sealed in self.sealed_in(&range) {
            let range = sealed.range(local(sealed, &range));
            pieces.push(Piece::Shared {
                chunk: Arc::clone(sealed),
                range,
            });
        }
        pieces.push(Piece::Copied(self.open.stored(local(&self.open, &range)).to_vec()));
        pieces.retain(|piece| !piece.as_ref().is_empty());
        Ok(pieces)
    }

    /// What must stand between the first `at` units and a further one of this group. O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnknownGroup`], [`Error::UnitOutOfRange`] beyond the end.
    pub fn lead(&self, group: usize, at: usize) -> Result<Vec<u8>> {
        let group = self.group_named(group)?;
        Ok(lead(&self.groups, self.group_before(at)?, group).concat())
    }

    /// What closes the group of the last of the first `at` units; empty where there is none. O(log n).
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`] beyond the end.
    pub fn close(&self, at: usize) -> Result<&[u8]> {
        Ok(self.group_before(at)?.map_or(&[], |group| &self.groups[group].close))
    }

    /// Ids of the calls that are not answered yet, in the order in which they were made. O(n log n) for n of them.
    #[must_use]
    pub fn open_calls(&self) -> Vec<&str> {
        self.calls.ids()
    }

    /// The grade of a cut, `None` where it is not legal: where a call before it is answered, or still open, at or after
    /// it. O(log n). What begins at the end of the history is not known, so that a legal cut there is plain.
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`] beyond the end.
    pub fn cut(&self, cut: usize) -> Result<Option<Grade>> {
        self.check_place(cut)?;
        let (chunk, local) = self.locate(cut);
        let at_end = self.calls.is_empty().then_some(Grade::Plain);
        Ok(chunk.cuts().get(local).copied().unwrap_or(at_end))
    }

    /// The cuts before units, chunk by chunk; what lies beyond the end is left out. O(log n), and O(1) a chunk.
    #[must_use]
    pub fn cuts(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = Cuts<'_>> {
        self.chunks(range).map(|(chunk, units)| Cuts {
            first: chunk.units().start + units.start,
            grades: &chunk.cuts()[units],
            best: chunk.best_cut(),
        })
    }

    /// The first place with at least so many raw tokens before it, `None` where all units have fewer. O(log n).
    #[must_use]
    pub fn place_of(&self, tokens: u64) -> Option<usize> {
        if tokens == 0 {
            return Some(0);
        }
        let index = self.sealed.partition_point(|chunk| chunk.end().tokens < tokens);
        let chunk = self.sealed.get(index).map_or(&self.open, |sealed| sealed);
        let below = chunk.units_below(tokens);
        (below < chunk.len()).then(|| chunk.units().start + below + 1)
    }

    /// The chunks that hold units of a range, each with the numbers that the units have in it.
    pub(super) fn chunks(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = (&Chunk, Range<usize>)> {
        let sealed = self.sealed_in(&range).iter().map(|chunk| &**chunk);
        sealed
            .chain(iter::once(&self.open))
            .map(move |chunk| (chunk, local(chunk, &range)))
    }

    fn sealed_in(&self, range: &Range<usize>) -> &[Arc<Chunk>] {
        let first = self.sealed.partition_point(|chunk| chunk.units().end <= range.start);
        let rest = &self.sealed[first..];
        &rest[..rest.partition_point(|chunk| chunk.units().start < range.end)]
    }

    /// The chunk that holds a unit, and the unit's number in it. The place behind the last unit is in the open chunk.
    pub(super) fn locate(&self, unit: usize) -> (&Chunk, usize) {
        let chunk = self.sealed.get(self.chunk_of(unit)).map_or(&self.open, |sealed| sealed);
        (chunk, unit - chunk.units().start)
    }

    fn chunk_of(&self, unit: usize) -> usize {
        self.sealed.partition_point(|chunk| chunk.units().end <= unit)
    }

    fn unit(&self, unit: usize) -> Result<(&Chunk, usize)> {
        if unit < self.len() {
            Ok(self.locate(unit))
        } else {
            Err(self.out_of_range(unit))
        }
    }

    fn group_before(&self, at: usize) -> Result<Option<usize>> {
        self.check_place(at)?;
        at.checked_sub(1).map(|last| self.group(last)).transpose()
    }

    pub(super) fn check_place(&self, at: usize) -> Result<()> {
        if at <= self.len() {
            Ok(())
        } else {
            Err(self.out_of_range(at))
        }
    }

    /// Whether a range of units exists.
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`], [`Error::ReversedRange`].
    pub fn check_range(&self, range: &Range<usize>) -> Result<()> {
        self.check_place(range.start)?;
        self.check_place(range.end)?;
        if range.start <= range.end {
            Ok(())
        } else {
            Err(Error::ReversedRange {
                start: range.start,
                stop: range.end,
            })
        }
    }

    fn out_of_range(&self, unit: usize) -> Error {
        Error::UnitOutOfRange { unit, len: self.len() }
    }
}

/// The part of a range that lies in a chunk, in the chunk's own numbers.
fn local(chunk: &Chunk, range: &Range<usize>) -> Range<usize> {
    let units = chunk.units();
    let within = |unit: usize| unit.clamp(units.start, units.end) - units.start;
    let start = within(range.start);
    start..within(range.end).max(start)
}
