//! A stretch of units as columns: filled while it is the last one of its history, never changed after that.

use std::ops::Range;

use super::unit::{Call, Grade, Unit};
use crate::prefix;

/// A chunk is full at this many units …
pub(super) const MAX_UNITS: usize = 256;

/// … or at this many bytes. It bounds what a fork copies; only a single larger unit exceeds it, alone in its chunk.
pub(super) const MAX_BYTES: usize = 64 * 1024;

/// Raw tokens from which an answer to a call is a long one: a line in place of a shorter one frees nothing to speak of.
pub const LONG_ANSWER: u64 = 100;

/// A place between two units, and what all units before it come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// Units before the place.
    pub units: usize,
    /// Their stored bytes.
    pub bytes: u64,
    /// Their raw tokens, openings of groups included.
    pub tokens: u64,
    /// Their chain of digests.
    pub chain: u128,
}

/// Units that answer a call at some length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answers {
    /// How many.
    pub units: usize,
    /// Their raw tokens.
    pub tokens: u64,
}

/// One step of a call in a chunk.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// Where the call's id ends in `ids`; it begins where that of the mark before ends.
    end: u32,
    /// The unit, counted from the chunk's first.
    unit: u16,
    answered: bool,
}

/// Columns of up to 256 units. Units are numbered from the chunk's first one here.
// To lay the fields that a scan over chunks reads into one cache line was tried, and made no difference at 4,000
// chunks.
#[derive(Debug, Clone, Default)]
pub struct Chunk {
    start: Position,
    /// Stored bytes, each unit's lead before its wire.
    bytes: Vec<u8>,
    /// Where the stored bytes of a unit end in `bytes`.
    ends: Vec<u32>,
    leads: Vec<u32>,
    /// Tokens up to and with the unit, counted from the history's first.
    tokens: Vec<u64>,
    digests: Vec<u128>,
    /// Chain after the unit.
    chains: Vec<u128>,
    entries: Vec<u32>,
    kinds: Vec<u8>,
    /// The bits that any of `kinds` has, so that a scan for one can pass the chunk by.
    any_kind: u8,
    groups: Vec<u8>,
    /// The cut before the unit: its grade, or `None` where a call is open there.
    cuts: Vec<Option<Grade>>,
    /// The best of `cuts`, so that a search can pass the chunk by.
    best_cut: Option<Grade>,
    /// Most units have no call and the others few: a short list, sorted by unit, is the smallest form.
    marks: Vec<Mark>,
    ids: String,
    /// What lies before the chunk of long answers.
    answered: Answers,
    /// The long answers, each with the tokens of all until here, counted from the history's first.
    answers: Vec<(u16, u64)>,
}

impl Chunk {
    /// An empty chunk behind another one.
    pub(super) fn behind(last: &Self) -> Self {
        Self {
            start: last.end(),
            answered: last.answers_before(last.len()),
            ..Self::default()
        }
    }

    pub(super) fn end(&self) -> Position {
        self.position(self.len())
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The chunk's units by their numbers in the history. Unlike `end` it reads no column: scans over chunks live on
    /// it.
    pub(super) fn units(&self) -> Range<usize> {
        self.start.units..self.start.units + self.len()
    }

    /// Whether a unit of so many bytes would make the chunk larger than it may be. An empty chunk takes any unit.
    pub(super) fn overflows(&self, bytes: usize) -> bool {
        self.len() > 0 && self.size() + bytes > MAX_BYTES
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= MAX_UNITS || self.size() >= MAX_BYTES
    }

    fn size(&self) -> usize {
        self.bytes.len() + self.ids.len()
    }

    /// Add a unit behind its lead. O(bytes) amortised.
    pub(super) fn push(&mut self, unit: &Unit<'_>, lead: &[&[u8]], tokens: u64, cut: Option<Grade>) {
        let before = self.end();
        let begin = self.bytes.len();
        for part in lead {
            self.bytes.extend_from_slice(part);
        }
        self.leads.push((self.bytes.len() - begin) as u32);
        self.bytes.extend_from_slice(unit.wire);
        let digest = prefix::digest(&self.bytes[begin..]);
        if tokens >= LONG_ANSWER && unit.calls.iter().any(|call| matches!(call, Call::Answered(_))) {
            let answered = self.answers_before(self.len()).tokens + tokens;
            self.answers.push((self.len() as u16, answered));
        }
        for &call in unit.calls {
            self.ids.push_str(call.id());
            let answered = matches!(call, Call::Answered(_));
            self.marks.push(Mark {
                end: self.ids.len() as u32,
                unit: self.len() as u16,
                answered,
            });
        }
        self.ends.push(self.bytes.len() as u32);
        self.tokens.push(before.tokens + tokens);
        self.digests.push(digest);
        self.chains.push(prefix::link(before.chain, digest));
        self.entries.push(unit.entry);
        self.kinds.push(unit.kind);
        self.any_kind |= unit.kind;
        self.groups.push(unit.group as u8);
        self.cuts.push(cut);
        self.best_cut = self.best_cut.max(cut);
    }

    /// Give back the room that growing left over.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.leads.shrink_to_fit();
        self.tokens.shrink_to_fit();
        self.digests.shrink_to_fit();
        self.chains.shrink_to_fit();
        self.entries.shrink_to_fit();
        self.kinds.shrink_to_fit();
        self.groups.shrink_to_fit();
        self.cuts.shrink_to_fit();
        self.marks.shrink_to_fit();
        self.ids.shrink_to_fit();
        self.answers.shrink_to_fit();
    }

    /// A copy of the first `n` units. O(bytes).
    pub(super) fn head(&self, n: usize) -> Self {
        let marks = self.marks[self.marks_of(0..n)].to_vec();
        Self {
            start: self.start,
            bytes: self.bytes[self.range(0..n)].to_vec(),
            ends: self.ends[..n].to_vec(),
            leads: self.leads[..n].to_vec(),
            tokens: self.tokens[..n].to_vec(),
            digests: self.digests[..n].to_vec(),
            chains: self.chains[..n].to_vec(),
            entries: self.entries[..n].to_vec(),
            kinds: self.kinds[..n].to_vec(),
            any_kind: self.kinds[..n].iter().fold(0, |any, kind| any | kind),
            groups: self.groups[..n].to_vec(),
            cuts: self.cuts[..n].to_vec(),
            best_cut: self.cuts[..n].iter().copied().max().flatten(),
            ids: self.ids[..marks.last().map_or(0, |mark| mark.end as usize)].to_owned(),
            marks,
            answered: self.answered,
            answers: self.answers[..self.answers_below(n)].to_vec(),
        }
    }

    /// The place before the unit. O(1).
    pub(super) fn position(&self, unit: usize) -> Position {
        let Some(last) = unit.checked_sub(1) else {
            return self.start;
        };
        Position {
            units: self.start.units + unit,
            bytes: self.start.bytes + u64::from(self.ends[last]),
            tokens: self.tokens[last],
            chain: self.chains[last],
        }
    }

    /// How many units end with fewer than so many tokens, counted from the history's first. O(log n).
    pub(super) fn units_below(&self, tokens: u64) -> usize {
        self.tokens.partition_point(|&total| total < tokens)
    }

    /// The stored bytes of units.
    pub(super) fn stored(&self, units: Range<usize>) -> &[u8] {
        &self.bytes[self.range(units)]
    }

    /// Where the stored bytes of units lie in the chunk's.
    pub(super) fn range(&self, units: Range<usize>) -> Range<usize> {
        let end = |unit: usize| unit.checked_sub(1).map_or(0, |last| self.ends[last] as usize);
        end(units.start)..end(units.end)
    }

    /// Where the wire bytes of a unit lie in the chunk's.
    pub(super) fn wire_range(&self, unit: usize) -> Range<usize> {
        let stored = self.range(unit..unit + 1);
        stored.start + self.leads[unit] as usize..stored.end
    }

    /// All stored bytes of the chunk.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn digest(&self, unit: usize) -> u128 {
        self.digests[unit]
    }

    pub(super) fn entry(&self, unit: usize) -> u32 {
        self.entries[unit]
    }

    pub(super) fn kinds(&self) -> &[u8] {
        &self.kinds
    }

    pub(super) fn any_kind(&self) -> u8 {
        self.any_kind
    }

    /// The long answers before the unit, counted from the history's first. O(log n).
    pub(super) fn answers_before(&self, unit: usize) -> Answers {
        let here = self.answers_below(unit);
        Answers {
            units: self.answered.units + here,
            tokens: here
                .checked_sub(1)
                .map_or(self.answered.tokens, |last| self.answers[last].1),
        }
    }

    /// The long answers among units.
    pub(super) fn answers(&self, units: Range<usize>) -> impl Iterator<Item = usize> {
        let range = self.answers_below(units.start)..self.answers_below(units.end);
        self.answers[range].iter().map(|&(unit, _)| usize::from(unit))
    }

    fn answers_below(&self, unit: usize) -> usize {
        self.answers.partition_point(|&(answer, _)| usize::from(answer) < unit)
    }

    pub(super) fn group(&self, unit: usize) -> u8 {
        self.groups[unit]
    }

    pub(super) fn cuts(&self) -> &[Option<Grade>] {
        &self.cuts
    }

    pub(super) fn best_cut(&self) -> Option<Grade> {
        self.best_cut
    }

    /// The steps of calls in units, in order. O(log n) and O(1) a step.
    pub(super) fn calls(&self, units: Range<usize>) -> impl Iterator<Item = Call<'_>> {
        let marks = self.marks_of(units);
        let mut begin = marks
            .start
            .checked_sub(1)
            .map_or(0, |last| self.marks[last].end as usize);
        self.marks[marks].iter().map(move |mark| {
            let id = &self.ids[begin..mark.end as usize];
            begin = mark.end as usize;
            if mark.answered {
                Call::Answered(id)
            } else {
                Call::Made(id)
            }
        })
    }

    fn marks_of(&self, units: Range<usize>) -> Range<usize> {
        let first = |unit: usize| self.marks.partition_point(|mark| usize::from(mark.unit) < unit);
        first(units.start)..first(units.end)
    }
}
