//! A history against a plain list of units: after any appends, forks and extensions both say the same.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::ops::Range;

use muntin_core::boundary;
use muntin_core::history::{Call, Group, History, LONG_ANSWER, Unit, kind};
use muntin_core::{Error, prefix};
use proptest::collection::vec;
use proptest::prelude::*;

const GROUPS: [(&str, &str, u32); 3] = [
    (r#"{"role":"user","content":["#, "]}", 4),
    (r#"{"role":"assistant","content":["#, "]}", 3),
    ("", "", 0),
];

/// A unit as the model keeps it: everything owned, nothing derived.
#[derive(Debug, Clone, PartialEq)]
struct Plain {
    group: usize,
    wire: Vec<u8>,
    tokens: u32,
    entry: u32,
    kind: u8,
    calls: Vec<(bool, String)>,
}

type Model = Vec<Plain>;

#[derive(Debug, Clone)]
enum Step {
    /// Append so many units like this one, on the history of this number.
    Append(usize, usize, Plain),
    /// Fork the history of this number at a fraction of its length.
    Fork(usize, f64),
    /// Extend one history by a range of another, given as fractions.
    Extend(usize, usize, f64, f64),
}

fn empty() -> History {
    let groups = GROUPS
        .iter()
        .map(|(open, close, tokens)| Group::new(open.as_bytes(), close.as_bytes(), *tokens));
    History::new(groups.collect::<Result<_, _>>().unwrap()).unwrap()
}

fn append(history: &mut History, plain: &Plain) -> Result<usize, Error> {
    let calls: Vec<Call<'_>> = plain
        .calls
        .iter()
        .map(|(answered, id)| if *answered { Call::Answered(id) } else { Call::Made(id) })
        .collect();
    let Plain {
        group,
        wire,
        tokens,
        entry,
        kind,
        ..
    } = plain;
    history.append(&Unit {
        group: *group,
        wire,
        tokens: *tokens,
        entry: *entry,
        kind: *kind,
        calls: &calls,
    })
}

fn open_calls<'a>(units: impl IntoIterator<Item = &'a Plain>) -> Result<Vec<String>, Error> {
    let mut open: Vec<String> = Vec::new();
    for (answered, id) in units.into_iter().flat_map(|unit| &unit.calls) {
        match (answered, open.iter().position(|other| other == id)) {
            (true, Some(index)) => drop(open.remove(index)),
            (true, None) => return Err(Error::UnknownCall { id: id.clone() }),
            (false, None) => open.push(id.clone()),
            (false, Some(_)) => return Err(Error::DuplicateCall { id: id.clone() }),
        }
    }
    Ok(open)
}

fn opens_group(model: &[Plain], unit: usize) -> bool {
    unit == 0 || model[unit - 1].group != model[unit].group
}

fn stored(model: &[Plain], unit: usize) -> Vec<u8> {
    let Plain { group, wire, .. } = &model[unit];
    let open = GROUPS[*group].0;
    let lead = match unit.checked_sub(1).map(|last| model[last].group) {
        None => open.to_owned(),
        Some(before) if before == *group => ",".to_owned(),
        Some(before) => format!("{},{open}", GROUPS[before].1),
    };
    [lead.as_bytes(), wire].concat()
}

fn tokens(model: &[Plain], unit: usize) -> u64 {
    let opening = if opens_group(model, unit) {
        GROUPS[model[unit].group].2
    } else {
        0
    };
    u64::from(model[unit].tokens) + u64::from(opening)
}

fn grades(model: &[Plain]) -> Vec<Option<u8>> {
    let worth = |cut: usize| match model.get(cut).map_or(0, |unit| unit.kind) {
        bits if bits & kind::RUN != 0 => 3,
        bits if bits & kind::TURN != 0 => 2,
        bits if bits & kind::RESPONSE != 0 => 1,
        _ => 0,
    };
    let legal = |cut: usize| open_calls(&model[..cut]).unwrap().is_empty();
    (0..=model.len()).map(|cut| legal(cut).then(|| worth(cut))).collect()
}

/// The documented rule, read aloud: every cut is looked at.
fn searched(left: &[u64], grades: &[Option<u8>], cuts: Range<usize>, keep: u64, tolerance: u64) -> Option<(usize, u8)> {
    let legal: Vec<(usize, u8)> = cuts
        .filter_map(|cut| grades[cut].map(|grade| (cut, grade)))
        .filter(|(_, grade)| *grade > 0)
        .collect();
    let fits = |cut: usize| left[cut] <= keep;
    let near = |cut: usize| fits(cut) && left[cut] >= keep.saturating_sub(tolerance);
    let top = legal
        .iter()
        .filter(|(cut, _)| near(*cut))
        .map(|(_, grade)| *grade)
        .max();
    let best = legal.iter().find(|(cut, grade)| near(*cut) && Some(*grade) == top);
    best.or_else(|| legal.iter().find(|(cut, _)| fits(*cut)))
        .or_else(|| legal.last())
        .copied()
}

/// Where the units end that leave so much behind them, and the long answers among them: every unit is looked at.
fn cleared(model: &[Plain], left: &[u64], units: Range<usize>, keep: u64) -> Option<(usize, usize, usize, u64)> {
    let start = units.start;
    let end = start + units.filter(|unit| left[unit + 1] >= keep).count();
    let answers: Vec<usize> = long_answers(model, start..end);
    let all = answers.iter().map(|unit| tokens(model, *unit)).sum();
    answers.first().map(|first| (end, *first, answers.len(), all))
}

fn long_answers(model: &[Plain], units: Range<usize>) -> Vec<usize> {
    let answers = |unit: &usize| model[*unit].calls.iter().any(|(answered, _)| *answered);
    units
        .filter(|unit| answers(unit) && tokens(model, *unit) >= LONG_ANSWER)
        .collect()
}

fn check(history: &History, model: &Model) {
    let len = model.len();
    assert_eq!(history.len(), len);
    let stored: Vec<Vec<u8>> = (0..len).map(|unit| stored(model, unit)).collect();
    let (mut bytes, mut total, mut chain) = (0, 0, prefix::EMPTY_CHAIN);
    let mut left = vec![0];
    for (unit, plain) in model.iter().enumerate() {
        let position = history.position(unit).unwrap();
        assert_eq!(
            (position.units, position.bytes, position.tokens, position.chain),
            (unit, bytes, total, chain)
        );
        bytes += stored[unit].len() as u64;
        total += tokens(model, unit);
        let digest = prefix::digest(&stored[unit]);
        chain = prefix::link(chain, digest);
        left.push(total);
        assert_eq!(history.digest(unit).unwrap(), digest);
        assert_eq!(history.wire(unit).unwrap().as_ref(), plain.wire);
        assert_eq!(history.entry(unit).unwrap(), plain.entry);
        assert_eq!(history.kind(unit).unwrap(), plain.kind);
        assert_eq!(history.group(unit).unwrap(), plain.group);
    }
    for tokens in [0, 1, total / 3, total, total + 1] {
        assert_eq!(
            history.place_of(tokens),
            left.iter().position(|before| *before >= tokens)
        );
    }
    for before in &mut left {
        *before = total - *before;
    }
    assert_eq!(history.chain(len).unwrap(), chain);
    assert_eq!(history.total(0..len).unwrap(), total);
    assert_eq!(history.byte_len(0..len).unwrap(), bytes);
    assert_eq!(history.open_calls(), open_calls(model).unwrap());
    assert_eq!(
        history.close(len).unwrap(),
        model.last().map_or("", |unit| GROUPS[unit.group].1).as_bytes()
    );

    let grades = grades(model);
    for (cut, grade) in grades.iter().enumerate() {
        assert_eq!(
            history.cut(cut).unwrap().map(|grade| grade as u8),
            *grade,
            "cut {cut} of {len}"
        );
    }
    for (start, stop) in [(0, len), (len / 3, len), (0, len / 2), (len / 3, len / 2), (len, len)] {
        let pieces = history.pieces(start..stop).unwrap();
        let joined: Vec<u8> = pieces.iter().flat_map(AsRef::as_ref).copied().collect();
        assert!(joined == stored[start..stop].concat());
        let kinds: Vec<u8> = model[start..stop].iter().map(|unit| unit.kind).collect();
        assert_eq!(history.kinds(start..stop).unwrap(), kinds);
        assert_eq!(
            history.answer_units(start..stop).unwrap(),
            long_answers(model, start..stop)
        );
        for bits in [1, 8, 48] {
            let of_kind = (start..stop).filter(|unit| model[*unit].kind & bits == bits);
            assert_eq!(history.of_kind(start..stop, bits).unwrap(), of_kind.collect::<Vec<_>>());
        }
        for keep in [0, 1, total / 3, total + 9] {
            let found = boundary::clearable(history, start, stop, keep).unwrap();
            assert_eq!(
                found.map(|(end, first, answers)| (end, first, answers.units, answers.tokens)),
                cleared(model, &left, start..stop, keep)
            );
        }
        for keep in [0, 1, total / 4, total / 2, total, total + 9] {
            for tolerance in [0, total / 8, total] {
                let found = boundary::search(history, start, stop, keep, tolerance).unwrap();
                let expected = searched(&left, &grades, start + 1..stop + 1, keep, tolerance);
                let found = found.map(|(cut, grade)| (cut, grade as u8));
                assert_eq!(
                    found, expected,
                    "search({start}, {stop}, {keep}, {tolerance}) of {left:?}"
                );
            }
        }
    }
}

fn common(left: &Model, right: &Model) -> usize {
    let same = |unit: usize| stored(left, unit) == stored(right, unit);
    (0..left.len().min(right.len())).take_while(|unit| same(*unit)).count()
}

fn plain() -> impl Strategy<Value = Plain> {
    let size = prop_oneof![9 => 0..40_usize, 1 => 15_000..80_000_usize];
    let wire = (size, any::<u8>()).prop_map(|(size, byte)| vec![byte; size]);
    let tokens = prop_oneof![Just(0), 1..50_u32, 95..120_u32];
    // Mostly none, so that a unit may be repeated; otherwise so few ids that they meet.
    let calls = prop_oneof![3 => Just(vec![]), 2 => vec((any::<bool>(), "[a-c]"), 1..3)];
    (0..GROUPS.len(), wire, tokens, any::<u32>(), 0..64_u8, calls).prop_map(
        |(group, wire, tokens, entry, kind, calls)| Plain {
            group,
            wire,
            tokens,
            entry,
            kind,
            calls,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let which = || 0..8_usize;
    let times = prop_oneof![8 => Just(1), 1 => 100..300_usize];
    prop_oneof![
        6 => (which(), times, plain()).prop_map(|(which, times, unit)| Step::Append(which, times, unit)),
        1 => (which(), 0.0..=1.0).prop_map(|(which, at)| Step::Fork(which, at)),
        1 => (which(), which(), 0.0..=1.0, 0.0..=1.0).prop_map(|(to, from, a, b)| Step::Extend(to, from, a, b)),
    ]
}

fn at(len: usize, fraction: f64) -> usize {
    #[allow(
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a fraction of a small length"
    )]
    let at = (len as f64 * fraction) as usize;
    at.min(len)
}

fn take(pool: &mut Vec<(History, Model)>, step: &Step) {
    let size = pool.len();
    match step {
        Step::Append(which, times, plain) => {
            let (history, model) = &mut pool[which % size];
            // Large units are not repeated: the model would only grow slow.
            for _ in 0..if plain.wire.len() > 40 { 1 } else { *times } {
                let expected = open_calls(model.iter().chain([plain]));
                assert_eq!(append(history, plain).map(|_| ()), expected.map(|_| ()));
                if history.len() > model.len() {
                    model.push(plain.clone());
                } else {
                    break;
                }
            }
        }
        Step::Fork(which, fraction) => {
            let (history, model) = &pool[which % size];
            let at = at(model.len(), *fraction);
            let fork = (history.fork(at).unwrap(), model[..at].to_vec());
            pool.push(fork);
        }
        Step::Extend(to, from, a, b) => {
            let (other, units) = pool[from % size].clone();
            let (a, b) = (at(units.len(), *a), at(units.len(), *b));
            let range = a.min(b)..a.max(b);
            let (history, model) = &mut pool[to % size];
            let expected = open_calls(model.iter().chain(&units[range.clone()]));
            let result = history.extend(&other, range.clone());
            assert_eq!(result.is_ok(), expected.is_ok(), "{result:?} {expected:?}");
            if result.is_ok() {
                model.extend_from_slice(&units[range]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_history_says_what_a_list_of_units_says(steps in vec(step(), 1..40)) {
        let mut pool = vec![(empty(), Model::new())];
        for step in &steps {
            take(&mut pool, step);
        }
        for (history, model) in &pool {
            check(history, model);
        }
        for (left, right) in pool.iter().zip(pool.iter().skip(1)) {
            prop_assert_eq!(left.0.common_prefix(&right.0), common(&left.1, &right.1));
        }
    }

    #[test]
    fn units_taken_over_unchanged_are_the_same_prefix(units in vec(plain(), 0..60), cut in 0.0..=1.0) {
        let mut whole = empty();
        for unit in &units {
            drop(append(&mut whole, unit));
        }
        let mut copy = empty();
        copy.extend(&whole, 0..whole.len()).unwrap();
        prop_assert_eq!(copy.common_prefix(&whole), whole.len());
        let fork = whole.fork(at(whole.len(), cut)).unwrap();
        prop_assert_eq!(fork.common_prefix(&copy), fork.len());
    }
}

#[test]
fn a_fork_and_its_origin_grow_apart() {
    let unit = |wire: &str| Plain {
        group: 0,
        wire: wire.into(),
        tokens: 1,
        entry: 0,
        kind: 0,
        calls: vec![],
    };
    let mut origin = empty();
    for index in 0..1000 {
        append(&mut origin, &unit(&index.to_string())).unwrap();
    }
    let mut fork = origin.fork(700).unwrap();
    append(&mut fork, &unit("fork")).unwrap();
    append(&mut origin, &unit("origin")).unwrap();
    assert_eq!(fork.common_prefix(&origin), 700);
    assert_eq!(fork.wire(700).unwrap().as_ref(), b"fork");
    assert_eq!(origin.wire(700).unwrap().as_ref(), b"700");
}

#[test]
fn what_lies_outside_is_refused() {
    let mut history = empty();
    let beyond = Error::UnitOutOfRange { unit: 1, len: 0 };
    assert_eq!(history.position(1), Err(beyond.clone()));
    assert_eq!(history.fork(1).err(), Some(beyond.clone()));
    assert_eq!(history.total(0..1), Err(beyond.clone()));
    assert_eq!(history.cut(1), Err(beyond.clone()));
    assert_eq!(boundary::search(&history, 0, 1, 0, 0), Err(beyond));
    assert_eq!(history.wire(0).err(), Some(Error::UnitOutOfRange { unit: 0, len: 0 }));
    let unknown = Error::UnknownGroup { group: 3, groups: 3 };
    assert_eq!(
        history.append(&Unit {
            group: 3,
            ..Unit::default()
        }),
        Err(unknown.clone())
    );
    assert_eq!(history.lead(3, 0), Err(unknown));
    assert_eq!(
        history.extend(&History::new(vec![]).unwrap(), 0..0),
        Err(Error::DifferentGroups)
    );
    let group = Group::new(b"", b"", 0).unwrap();
    assert_eq!(
        History::new(vec![group; 17]).err(),
        Some(Error::TooManyGroups { groups: 17, limit: 16 })
    );
}

#[test]
#[allow(clippy::reversed_empty_ranges, reason = "the subject of the test")]
fn a_range_that_ends_before_it_begins_is_refused() {
    let mut history = empty();
    history.append(&Unit::default()).unwrap();
    let reversed = Error::ReversedRange { start: 1, stop: 0 };
    assert_eq!(history.byte_len(1..0), Err(reversed.clone()));
    assert_eq!(boundary::search(&history, 1, 0, 0, 0), Err(reversed));
    // A place that does not exist is the graver fault, on either side.
    assert_eq!(history.byte_len(2..0), Err(Error::UnitOutOfRange { unit: 2, len: 1 }));
}
