//! Where old history may be cut, which cut is best, and what of it could be shown in a line.
//!
//! Tokens say where a cut is wanted, prefix sums find that place, and the best grade of every chunk lets the scan
//! around it pass by the chunks that have nothing better to offer.

use std::ops::Range;

use crate::Result;
use crate::history::{Answers, Grade, History};

/// The best cut `c` in `start < c <= stop` with its grade, `None` where the range has none.
///
/// A cut is one that is legal and where something ends: cuts where nothing does are never better than one nearby.
///
/// Wanted is the cut that leaves at most `keep` raw tokens between it and the end of the history, and as many as
/// possible. Among the cuts that leave between `keep - tolerance` and `keep` the highest grade wins, and of those
/// the one that leaves most. Where there is none, the cut that leaves most but at most `keep`; where there is
/// none either, the one that leaves least. Of cuts that leave the same, as units without tokens make them, the one
/// nearest to the wanted place wins.
///
/// O(log n) plus O(1) a chunk of the range and the units of at most six chunks.
///
/// # Errors
///
/// [`UnitOutOfRange`](crate::Error::UnitOutOfRange), [`ReversedRange`](crate::Error::ReversedRange).
pub fn search(
    history: &History,
    start: usize,
    stop: usize,
    keep: u64,
    tolerance: u64,
) -> Result<Option<(usize, Grade)>> {
    history.check_range(&(start..stop))?;
    let total = history.position(history.len())?.tokens;
    let (first, end) = (start + 1, stop + 1);
    let place_of = |tokens| history.place_of(tokens).unwrap_or(end);

    let wanted = place_of(total.saturating_sub(keep)).clamp(first, end);
    // A cut leaves at least the floor where it has at most `total - floor` tokens before it.
    let near = total
        .checked_sub(keep.saturating_sub(tolerance))
        .map_or(wanted, |most| place_of(most + 1));
    let near = near.clamp(wanted, end);

    let best = earliest(history, wanted..near, Grade::Run)
        .or_else(|| earliest(history, near..end, Grade::Exchange))
        .or_else(|| latest(history, first..wanted));
    Ok(best)
}

/// The units of `start..stop` that leave at least `keep` raw tokens behind them: where they end, the first among them that
/// answers a call at length, and what all such answers come to. `None` where there is none.
///
/// O(log² n).
///
/// # Errors
///
/// [`UnitOutOfRange`](crate::Error::UnitOutOfRange), [`ReversedRange`](crate::Error::ReversedRange).
pub fn clearable(history: &History, start: usize, stop: usize, keep: u64) -> Result<Option<(usize, usize, Answers)>> {
    history.check_range(&(start..stop))?;
    let total = history.position(history.len())?.tokens;
    // The first place with more than `total - keep` tokens before it lies behind a unit that leaves too little.
    let end = match total.checked_sub(keep) {
        Some(most) => history
            .place_of(most + 1)
            .map_or(stop, |place| place - 1)
            .clamp(start, stop),
        None => start,
    };
    let answers = history.answers(start..end)?;
    Ok(history.first_answer(start..end)?.map(|first| (end, first, answers)))
}

/// The earliest of the best cuts, or the first that is good enough.
fn earliest(history: &History, cuts: Range<usize>, enough: Grade) -> Option<(usize, Grade)> {
    let mut best: Option<(usize, Grade)> = None;
    for chunk in history.cuts(cuts) {
        let mut least = best.map_or(Grade::Plain, |(_, grade)| grade);
        if chunk.best <= Some(least) {
            continue;
        }
        for (cut, &grade) in (chunk.first..).zip(chunk.grades) {
            if let Some(grade) = grade
                && grade > least
            {
                best = Some((cut, grade));
                least = grade;
                if grade >= enough {
                    return best;
                }
            }
        }
    }
    best
}

/// The last cut.
fn latest(history: &History, cuts: Range<usize>) -> Option<(usize, Grade)> {
    history.cuts(cuts).rev().find_map(|chunk| {
        if chunk.best <= Some(Grade::Plain) {
            return None;
        }
        let ends = |grade: &Option<Grade>| *grade > Some(Grade::Plain);
        let local = chunk.grades.iter().rposition(ends)?;
        chunk.grades[local].map(|grade| (chunk.first + local, grade))
    })
}
