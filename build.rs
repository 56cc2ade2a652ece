//! Lays out the tables of the built-in vocabularies, so that a process maps them with the program and never parses them.

use std::path::Path;
use std::{env, fs, io};

#[path = "rust/tokens/key.rs"]
#[allow(dead_code, unreachable_pub)]
mod key;
#[path = "rust/tokens/layout.rs"]
#[allow(dead_code, unreachable_pub)]
mod layout;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=rust/tokens/key.rs");
    println!("cargo:rerun-if-changed=rust/tokens/layout.rs");
    let target = env::var("OUT_DIR").map_err(io::Error::other)?;
    for encoding in ["o200k_base", "cl100k_base"] {
        let source = format!("rust/tokens/data/{encoding}.bin");
        println!("cargo:rerun-if-changed={source}");
        let packed = fs::read(&source)?;
        let tokens = unpacked(&packed);
        let layout = layout::Layout::of(&tokens).ok_or_else(|| io::Error::other("two tokens are the same"))?;
        if !layout.proper {
            return Err(io::Error::other(format!(
                "{encoding} has tokens that merging does not make"
            )));
        }
        let tables = [
            ("bytes", layout.bytes),
            ("starts", layout.starts),
            ("fragments", layout.fragments),
            ("fragment_pilots", layout.fragment_pilots),
            ("twos", layout.twos),
            ("pilots", layout.pilots),
            ("keys", layout.keys),
            ("ranks", layout.ranks),
            ("long", layout.long),
            ("filter", layout.filter),
            ("lengths", layout.lengths),
            ("long_lengths", layout.long_lengths),
            ("parts", layout.parts),
            ("junctions", layout.junctions),
        ];
        for (name, table) in tables {
            fs::write(Path::new(&target).join(format!("{encoding}.{name}")), table)?;
        }
    }
    Ok(())
}

/// The tokens in the order of their ranks: each as one byte of length and its bytes.
fn unpacked(mut packed: &[u8]) -> Vec<&[u8]> {
    let mut tokens = Vec::new();
    while let Some((&length, rest)) = packed.split_first() {
        let (token, rest) = rest.split_at(usize::from(length));
        tokens.push(token);
        packed = rest;
    }
    tokens
}
