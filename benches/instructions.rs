//! Work for `scripts/check_instructions.py`, which counts its instructions: `instructions CASE ROUNDS`.

use std::hint::black_box;

use muntin_core::tokens::{Measured, Stream, Tokenizer};

const WORDS: [&str; 24] = [
    "The",
    " harbour",
    " master",
    " has",
    " closed",
    " the",
    " northern",
    " quay",
    ".",
    "\n\n",
    " It's",
    " 1,204",
    " m",
    ",",
    " unladen",
    " freighters",
    " dselect",
    "::",
    " {\n    \"tide\": 3.9",
    " }",
    " and",
    " was",
    " of",
    " reopening",
];
const WIDE: [&str; 12] = [
    "港務局長",
    "は",
    "北の岸壁を",
    "閉鎖した",
    "。",
    " Причал",
    " закрыт",
    " до",
    " утра",
    "，",
    "因为",
    "潮水太高",
];

fn text(words: &[&str], len: usize) -> String {
    // A linear congruence, so that the text is the same everywhere.
    let mut state = 7_usize;
    let mut text = String::new();
    while text.len() < len {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        text.push_str(words[(state >> 8) % words.len()]);
    }
    text
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().unwrap_or_default();
    let rounds: usize = arguments.next().and_then(|rounds| rounds.parse().ok()).unwrap_or(0);
    let Ok(tokenizer) = Tokenizer::builtin("o200k_base") else {
        return;
    };
    let (plain, wide) = (text(&WORDS, 100_000), text(&WIDE, 100_000));
    let letters = "abcdefghijklmnopqrstuvwxyz".repeat(4_000);
    for _ in 0..rounds {
        match case.as_str() {
            "plain" => black_box(tokenizer.count(black_box(&plain), false)),
            "wide" => black_box(tokenizer.count(black_box(&wide), false)),
            "endless" => black_box(tokenizer.count(black_box(&letters), false)),
            "encode" => black_box(tokenizer.encode(black_box(&plain), false).len()),
            "stream" | "endless stream" => {
                let text = if case == "stream" { &plain } else { &letters };
                let mut stream = Stream::new(tokenizer);
                let chunks = text
                    .as_bytes()
                    .chunks(5)
                    .filter_map(|chunk| std::str::from_utf8(chunk).ok());
                chunks.filter_map(|delta| stream.append(delta).ok()).last().unwrap_or(0)
            }
            "measure" => Measured::new(tokenizer, plain.as_str()).map_or(0, |measured| measured.tokens()),
            // What is not known is no work, which the caller notices.
            _ => 0,
        };
    }
}
