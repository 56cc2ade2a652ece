//! The kernel for every machine.

use super::{Kernel, Signs, WIDTH};

#[derive(Clone, Copy)]
pub(in crate::tokens) struct Portable;

/// For each byte a bit for each class: upper, lower, number, space, newline, quote, slash, wide.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'A'..=b'Z' => 1,
            b'a'..=b'z' => 1 << 1,
            b'0'..=b'9' => 1 << 2,
            b' ' | b'\t' | 0x0b | 0x0c => 1 << 3,
            b'\n' | b'\r' => 1 << 4,
            b'\'' => 1 << 5,
            b'/' => 1 << 6,
            0x80.. => 1 << 7,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

impl Kernel for Portable {
    #[inline]
    fn signs(self, bytes: &[u8; WIDTH]) -> Signs {
        let mut masks = [0u64; 8];
        let (mut blank, mut inner) = (0, 0);
        for (group, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let classes = u64::from_le_bytes(eight.map(|byte| CLASSES[usize::from(byte)]));
            let blanks = u64::from_le_bytes(eight.map(|byte| u8::from(byte == b' ')));
            for (class, mask) in masks.iter_mut().enumerate() {
                *mask |= gather(classes >> class) << (8 * group);
            }
            blank |= gather(blanks) << (8 * group);
            let inners = u64::from_le_bytes(eight.map(|byte| u8::from(byte & 0xc0 == 0x80)));
            inner |= gather(inners) << (8 * group);
        }
        let [upper, lower, number, space, newline, quote, slash, wide] = masks;
        Signs {
            upper,
            lower,
            caseless: 0,
            number,
            space,
            newline,
            blank,
            quote,
            slash,
            wide,
            inner,
        }
    }

    #[inline]
    fn places(self, mask: u64, base: u32, places: &mut [u32; WIDTH]) {
        let mut rest = mask;
        for eight in places.as_chunks_mut::<8>().0 {
            for place in eight {
                *place = base + rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
            }
            if rest == 0 {
                break;
            }
        }
    }

    #[inline(always)]
    fn prefetch<T>(self, _: &T) {}
}

/// The lowest bit of each of eight bytes.
#[inline]
fn gather(bytes: u64) -> u64 {
    (bytes & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
