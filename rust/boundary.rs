//! Where old history may be cut, and which cut is best.
//!
//! Tokens say where a cut is wanted, prefix sums find that place, and the best grade of every chunk lets the scan
//! around it pass by the chunks that have nothing better to offer.

use std::ops::Range;

use crate::Result;
use crate::history::{Grade, History};

/// The best legal cut `c` in `start < c <= stop` with its grade, `None` where no cut in the range is legal.
///
/// Wanted is the cut that leaves at most `keep` raw tokens between it and the end of the history, and as many as
/// possible. Among the legal cuts that leave between `keep - tolerance` and `keep` the highest grade wins, and of those
/// the one that leaves most. Where there is none, the legal cut that leaves most but at most `keep`; where there is
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
        .or_else(|| earliest(history, near..end, Grade::Plain))
        .or_else(|| latest(history, first..wanted));
    Ok(best)
}

/// The earliest of the best legal cuts, or the first that is good enough.
fn earliest(history: &History, cuts: Range<usize>, enough: Grade) -> Option<(usize, Grade)> {
    let mut best: Option<(usize, Grade)> = None;
    for chunk in history.cuts(cuts.clone()) {
        if chunk.best <= best.map(|(_, grade)| grade) {
            continue;
        }
        for (cut, &grade) in (chunk.first..).zip(chunk.grades) {
            if let Some(grade) = grade
                && best.is_none_or(|(_, found)| grade > found)
            {
                best = Some((cut, grade));
                if grade >= enough {
                    return best;
                }
            }
        }
    }
    best.or_else(|| at_end(history, &cuts))
}

/// The last legal cut.
fn latest(history: &History, cuts: Range<usize>) -> Option<(usize, Grade)> {
    at_end(history, &cuts).or_else(|| {
        history.cuts(cuts).rev().find_map(|chunk| {
            chunk.best?;
            let local = chunk.grades.iter().rposition(Option::is_some)?;
            chunk.grades[local].map(|grade| (chunk.first + local, grade))
        })
    })
}

/// The cut behind the last unit, which belongs to no chunk, where it is legal and in the range.
fn at_end(history: &History, cuts: &Range<usize>) -> Option<(usize, Grade)> {
    let end = history.len();
    let grade = cuts.contains(&end).then(|| history.cut(end).ok()).flatten().flatten()?;
    Some((end, grade))
}
