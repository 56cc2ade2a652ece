//! Any bytes: counting, encoding, streaming and measuring agree, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muntin_core::tokens::{Measured, Stream, Tokenizer};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for name in Tokenizer::BUILTIN {
        let tokenizer = Tokenizer::builtin(name).expect("it is built in");
        let ids = tokenizer.encode(&text, false);
        let count = tokenizer.count(&text, false);
        assert_eq!(count, ids.len());
        assert_eq!(tokenizer.decode(&ids).expect("they are its own ids"), text.as_bytes());

        let half = text.floor_char_boundary(text.len() / 2);
        let mut stream = Stream::new(tokenizer);
        stream.append(&text[..half]).expect("it is text");
        assert_eq!(stream.append(&text[half..]).expect("it is text"), count);
        // Bytes that are no text are refused, and change nothing.
        let before = stream.tokens();
        if stream.append_bytes(data).is_err() {
            assert_eq!(stream.tokens(), before);
        }

        let measured = Measured::new(tokenizer, &*text).expect("it takes any text");
        assert_eq!(measured.tokens(), count);
        let inside = measured.count(half, text.len()).expect("it lies inside");
        assert_eq!(inside, tokenizer.count(&text[half..], false));
    }
});
