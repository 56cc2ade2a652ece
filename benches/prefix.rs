//! Digests of unit bytes and the chain over them: how fast a history says what two requests share.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use muntin_core::prefix::{EMPTY_CHAIN, digest, link};

/// A short message, one of ordinary length, and a large result.
const SIZES: [usize; 3] = [400, 4_000, 64_000];

/// As many bytes in all, whatever the size of a unit.
const TOTAL: usize = 4 << 20;

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES)]
fn digest_and_chain(bencher: Bencher<'_, '_>, size: usize) {
    let bytes: Vec<u8> = (0..TOTAL).map(|at| (at * 31 % 251) as u8).collect();
    bencher.counter(BytesCount::new(TOTAL)).bench(|| {
        black_box(&bytes)
            .chunks(size)
            .fold(EMPTY_CHAIN, |chain, unit| link(chain, digest(unit)))
    });
}
