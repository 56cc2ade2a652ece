//! The units of a conversation, with their wire bytes, tokens and pairing, in shared chunks.
//!
//! A history grows at its end only. Its units lie in chunks of columns; all but the last chunk are sealed, never change
//! again, and are shared by the forks of a history. What stands before a unit on the wire, its *lead*, is stored with
//! it, so that the stored bytes of neighbouring units are the bytes of the request.

mod calls;
mod chunk;
mod marked;
mod piece;
mod query;
mod unit;

use std::mem;
use std::ops::Range;
use std::sync::Arc;

use calls::OpenCalls;
pub use chunk::{Answers, Chunk, LONG_ANSWER, Position};
pub use piece::Piece;
pub use query::Cuts;
pub use unit::{Call, Grade, Group, MAX_BRACKET, MAX_GROUPS, MAX_UNIT, Unit, kind};

use crate::{Error, Result};

/// Units in append-only shared chunks. A clone is a fork of everything: O(chunks), at most 64 KiB copied.
#[derive(Debug, Clone)]
pub struct History {
    groups: Arc<[Group]>,
    sealed: Vec<Arc<Chunk>>,
    /// The chunk that grows. Forks copy it: sealing it early instead would leave a crumb of a chunk at every fork.
    open: Chunk,
    calls: OpenCalls,
}

impl History {
    /// An empty history whose units belong to these groups.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyGroups`] beyond [`MAX_GROUPS`].
    pub fn new(groups: Vec<Group>) -> Result<Self> {
        if groups.len() > MAX_GROUPS {
            return Err(Error::TooManyGroups {
                groups: groups.len(),
                limit: MAX_GROUPS,
            });
        }
        let (sealed, open, calls) = (Vec::new(), Chunk::default(), OpenCalls::default());
        Ok(Self {
            groups: groups.into(),
            sealed,
            open,
            calls,
        })
    }

    /// Add a unit and give its index. O(bytes) amortised; nothing changes where the unit is refused.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownGroup`], [`Error::UnitTooLarge`], and for its calls, taken in order: [`Error::DuplicateCall`]
    /// where one that is made is open already, [`Error::UnknownCall`] where one that is answered is not open.
    pub fn append(&mut self, unit: &Unit<'_>) -> Result<usize> {
        let group = self.group_named(unit.group)?;
        let size = unit.size()?;
        let before = self.last_group();
        let Self {
            groups,
            sealed,
            open,
            calls,
        } = self;
        let cut = calls.is_empty().then(|| Grade::before(unit.kind));
        calls.apply(unit.calls.iter().copied())?;

        let lead = lead(groups, before, group);
        let opening = if before == Some(group) { 0 } else { groups[group].tokens };
        if open.overflows(size + lead.iter().map(|part| part.len()).sum::<usize>()) {
            seal(open, sealed);
        }
        open.push(unit, &lead, u64::from(unit.tokens) + u64::from(opening), cut);
        if open.is_full() {
            seal(open, sealed);
        }
        Ok(self.len() - 1)
    }

    /// Append units of another history of the same groups, their leads made anew. O(bytes); all of them or none.
    ///
    /// # Errors
    ///
    /// [`Error::DifferentGroups`], [`Error::UnitOutOfRange`], [`Error::ReversedRange`]; [`Error::UnknownCall`] where a
    /// call that was made before the range is answered in it, so that a range should begin at a legal cut;
    /// [`Error::DuplicateCall`] where a call of the range is open in this history.
    pub fn extend(&mut self, other: &History, range: Range<usize>) -> Result<()> {
        if self.groups != other.groups {
            return Err(Error::DifferentGroups);
        }
        other.check_range(&range)?;
        self.check_calls(other, range.clone())?;

        let mut before = range.start.checked_sub(1).map(|last| other.group(last)).transpose()?;
        for (chunk, units) in other.chunks(range) {
            for local in units {
                let group = usize::from(chunk.group(local));
                let opening = if before == Some(group) {
                    0
                } else {
                    u64::from(self.groups[group].tokens)
                };
                let tokens = chunk.position(local + 1).tokens - chunk.position(local).tokens - opening;
                let calls: Vec<Call<'_>> = chunk.calls(local..local + 1).collect();
                self.append(&Unit {
                    group,
                    wire: &chunk.bytes()[chunk.wire_range(local)],
                    tokens: tokens as u32,
                    entry: chunk.entry(local),
                    kind: chunk.kinds()[local],
                    calls: &calls,
                })?;
                before = Some(group);
            }
        }
        Ok(())
    }

    /// A history that shares the first `at` units. O(chunks), and O(units) from the last legal cut up to `at`.
    ///
    /// # Errors
    ///
    /// [`Error::UnitOutOfRange`] beyond the end.
    pub fn fork(&self, at: usize) -> Result<History> {
        self.check_place(at)?;
        if at == self.len() {
            return Ok(self.clone());
        }
        let whole = self.sealed.partition_point(|chunk| chunk.units().end <= at);
        let (chunk, local) = self.locate(at);
        Ok(Self {
            groups: Arc::clone(&self.groups),
            sealed: self.sealed[..whole].to_vec(),
            open: chunk.head(local),
            calls: self.calls_at(at)?,
        })
    }

    /// Whether the calls of a range go on from those that are open here.
    fn check_calls(&self, other: &History, range: Range<usize>) -> Result<()> {
        let mut calls = self.calls.clone();
        for (chunk, units) in other.chunks(range) {
            calls.apply(chunk.calls(units))?;
        }
        Ok(())
    }

    /// The calls that are open at a place: those since the last place where none was, replayed.
    fn calls_at(&self, at: usize) -> Result<OpenCalls> {
        let quiet = self.cuts(0..at + 1).rev().find_map(|cuts| {
            cuts.best?;
            cuts.grades
                .iter()
                .rposition(Option::is_some)
                .map(|local| cuts.first + local)
        });
        let mut calls = OpenCalls::default();
        for (chunk, units) in self.chunks(quiet.unwrap_or(0)..at) {
            calls.apply(chunk.calls(units))?;
        }
        Ok(calls)
    }

    /// The number of a group that exists.
    fn group_named(&self, group: usize) -> Result<usize> {
        let groups = self.groups.len();
        if group < groups {
            Ok(group)
        } else {
            Err(Error::UnknownGroup { group, groups })
        }
    }

    fn last_group(&self) -> Option<usize> {
        let last = self.open.len().checked_sub(1).map(|last| self.open.group(last));
        let group = last.or_else(|| self.sealed.last().map(|chunk| chunk.group(chunk.len() - 1)));
        group.map(usize::from)
    }
}

/// Close the chunk that grows and begin the next one behind it.
fn seal(open: &mut Chunk, sealed: &mut Vec<Arc<Chunk>>) {
    let next = Chunk::behind(open);
    let mut full = mem::replace(open, next);
    full.shrink();
    sealed.push(Arc::new(full));
}

/// What stands before a unit of one group, behind a unit of another: parts to be written one after another.
fn lead(groups: &[Group], before: Option<usize>, group: usize) -> [&[u8]; 3] {
    match before {
        None => [b"", b"", &groups[group].open],
        Some(before) if before == group => [b"", b",", b""],
        Some(before) => [&groups[before].close, b",", &groups[group].open],
    }
}
