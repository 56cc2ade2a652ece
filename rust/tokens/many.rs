//! Counting many texts on several threads.
//!
//! The threads live as long as one call: a pool would not survive `fork()`, and servers of agents fork.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

use super::Tokenizer;

/// Bytes that are worth a thread of their own: starting one takes about as long as counting these.
const SHARE: usize = 16 * 1024;
/// Texts that a thread takes at once.
const BATCH: usize = 8;

/// How many tokens each text has, on up to `threads` threads, the caller's included. O(all text).
///
/// One text is never divided. A thread takes the next texts when it has done with its last, so a few long ones hold nobody up.
/// Fewer threads run where there is little text, and where the system refuses to start more.
#[must_use]
pub fn count_many(tokenizer: &Tokenizer, texts: &[&str], threads: usize) -> Vec<u32> {
    let count = |text: &str| tokenizer.count(text, false) as u32;
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let threads = threads.min(bytes / SHARE).min(texts.len().div_ceil(BATCH));
    if threads < 2 {
        return texts.iter().map(|text| count(text)).collect();
    }

    let counts: Vec<AtomicU32> = texts.iter().map(|_| AtomicU32::new(0)).collect();
    let taken = AtomicUsize::new(0);
    let work = || {
        loop {
            let start = taken.fetch_add(BATCH, Ordering::Relaxed);
            if start >= texts.len() {
                return;
            }
            for (text, place) in texts[start..].iter().zip(&counts[start..]).take(BATCH) {
                place.store(count(text), Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    counts.into_iter().map(AtomicU32::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_give_what_one_gives() {
        let tokenizer = Tokenizer::builtin("o200k_base").unwrap();
        let texts: Vec<String> = (0..101).map(|i| "word ".repeat(i * 20)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let alone: Vec<u32> = texts.iter().map(|text| tokenizer.count(text, false) as u32).collect();
        for threads in [1, 2, 7, usize::MAX] {
            assert_eq!(count_many(tokenizer, &texts, threads), alone);
        }
        assert!(count_many(tokenizer, &[], 7).is_empty());
    }
}
