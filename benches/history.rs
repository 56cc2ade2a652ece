//! The history at sizes from a long session to far beyond one: a unit of 200 bytes, every twentieth begins a turn.

use std::sync::LazyLock;

use divan::{Bencher, black_box};
use muntin_core::boundary;
use muntin_core::history::{Call, Group, History, Unit, kind};

const SIZES: [usize; 2] = [10_000, 1_000_000];
const WIRE: [u8; 200] = [b'x'; 200];

static SMALL: LazyLock<History> = LazyLock::new(|| filled(SIZES[0], false));
static LARGE: LazyLock<History> = LazyLock::new(|| filled(SIZES[1], false));
/// A call that nobody answers, at the start: no cut is legal, and every search and fork looks at all of it.
static BLOCKED: LazyLock<History> = LazyLock::new(|| filled(SIZES[1], true));

/// Every second unit is a call, and the next its long answer.
static ANSWERED: LazyLock<History> = LazyLock::new(|| {
    let mut history = empty();
    for index in 0..SIZES[1] {
        let calls: &[Call<'_>] = &[if index % 2 == 0 {
            Call::Made("c")
        } else {
            Call::Answered("c")
        }];
        let tokens = 150;
        history
            .append(&Unit {
                calls,
                tokens,
                ..unit(index)
            })
            .expect("calls in pairs");
    }
    history
});

fn main() {
    divan::main();
}

fn history(size: usize) -> &'static History {
    if size == SIZES[0] { &SMALL } else { &LARGE }
}

fn empty() -> History {
    let user = Group::new(br#"{"role":"user","content":["#, b"]}", 4).expect("short brackets");
    let assistant = Group::new(br#"{"role":"assistant","content":["#, b"]}", 4).expect("short brackets");
    History::new(vec![user, assistant]).expect("two groups")
}

fn unit(index: usize) -> Unit<'static> {
    let kind = if index.is_multiple_of(20) {
        kind::TURN
    } else {
        kind::RESPONSE
    };
    Unit {
        group: index % 2,
        wire: &WIRE,
        tokens: 50,
        entry: index as u32,
        kind,
        calls: &[],
    }
}

fn filled(size: usize, blocked: bool) -> History {
    let mut history = empty();
    let calls: &[Call<'_>] = if blocked { &[Call::Made("dead")] } else { &[] };
    for index in 0..size {
        let calls = if index == 0 { calls } else { &[] };
        history
            .append(&Unit { calls, ..unit(index) })
            .expect("a group that exists");
    }
    history
}

/// 10,000 units: divide by them for the time of one.
#[divan::bench]
fn append_10k() -> History {
    filled(black_box(SIZES[0]), false)
}

/// As `append_10k`, every unit with a call that the next one answers.
#[divan::bench]
fn append_10k_with_calls() -> History {
    let mut history = empty();
    for index in 0..black_box(SIZES[0]) {
        let id = format!("toolu_{:024}", index / 2);
        let call = if index % 2 == 0 {
            Call::Made(&id)
        } else {
            Call::Answered(&id)
        };
        history
            .append(&Unit {
                calls: &[call],
                ..unit(index)
            })
            .expect("calls in pairs");
    }
    history
}

#[divan::bench(args = SIZES)]
fn total(bencher: Bencher<'_, '_>, size: usize) {
    let history = history(size);
    bencher.bench(|| history.total(black_box(size / 3)..black_box(size / 2)));
}

/// Two histories of the same units that share no chunk.
#[divan::bench(args = SIZES)]
fn common_prefix(bencher: Bencher<'_, '_>, size: usize) {
    let history = history(size);
    let other = filled(size - size / 7, false);
    bencher.bench(|| black_box(history).common_prefix(&other));
}

#[divan::bench(args = SIZES)]
fn search(bencher: Bencher<'_, '_>, size: usize) {
    let history = history(size);
    bencher.bench(|| boundary::search(history, 0, size, black_box(20_000), black_box(5_000)));
}

/// A tolerance as large as the history, where no run ends: all chunks are looked at.
#[divan::bench(args = SIZES)]
fn search_everywhere(bencher: Bencher<'_, '_>, size: usize) {
    let history = history(size);
    bencher.bench(|| boundary::search(history, 0, size, black_box(u64::MAX / 2), u64::MAX));
}

#[divan::bench]
fn search_without_a_legal_cut_1m(bencher: Bencher<'_, '_>) {
    let history = &*BLOCKED;
    bencher.bench(|| boundary::search(history, 0, SIZES[1], black_box(20_000), black_box(5_000)));
}

/// Of which no unit is: as many chunks are passed by.
#[divan::bench(args = SIZES)]
fn of_kind(bencher: Bencher<'_, '_>, size: usize) {
    let history = history(size);
    bencher.bench(|| history.of_kind(0..black_box(size), 64));
}

#[divan::bench(args = SIZES)]
fn clearable(bencher: Bencher<'_, '_>, size: usize) {
    let history = &*ANSWERED;
    bencher.bench(|| boundary::clearable(history, 0, black_box(size), black_box(20_000)));
}

#[divan::bench(args = SIZES)]
fn fork(bencher: Bencher<'_, '_>, size: usize) {
    let history = history(size);
    bencher.bench(|| history.fork(black_box(size / 2 + 7)));
}

#[divan::bench]
fn fork_behind_a_dead_call_1m(bencher: Bencher<'_, '_>) {
    let history = &*BLOCKED;
    bencher.bench(|| history.fork(black_box(SIZES[1] - 7)));
}

#[divan::bench(args = SIZES)]
fn pieces(bencher: Bencher<'_, '_>, size: usize) {
    let history = history(size);
    bencher.bench(|| history.pieces(0..black_box(size)));
}
