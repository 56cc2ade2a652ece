//! Kernels for x86-64.
//!
//! A kernel is a proof that this machine has its instructions: it can be had from `detect` only, which asks the machine.

#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    clippy::unused_self,
    reason = "the instructions take signed bytes and eight words; that there is a kernel is what calling it needs"
)]

use std::arch::x86_64::{
    __m256i, __m512i, _MM_HINT_T0, _mm_prefetch, _mm256_add_epi8, _mm256_cmpeq_epi8, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi8, _mm512_add_epi32,
    _mm512_castsi512_si128, _mm512_cmpeq_epu8_mask, _mm512_cmple_epu8_mask, _mm512_cvtepu8_epi32,
    _mm512_extracti32x4_epi32, _mm512_maskz_compress_epi8, _mm512_movepi8_mask, _mm512_set_epi8, _mm512_set_epi64,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_sub_epi8,
};

use super::{Kernel, Portable, Signs, WIDTH, Work};

/// With AVX-512 (BW, VBMI2).
#[derive(Clone, Copy)]
pub(in crate::tokens) struct Avx512(());

impl Avx512 {
    pub(in crate::tokens) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Self(()))
    }

    /// Works with this kernel, and its instructions at the compiler's hand.
    #[allow(unsafe_code, reason = "instructions beyond the base set can be called only so")]
    #[inline]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
        fn run<W: Work>(kernel: impl Kernel, work: W) -> W::Output {
            work.with(kernel)
        }
        // SAFETY: there is no `Avx512` but from `detect`, which found these features.
        unsafe { run(self, work) }
    }
}

/// With AVX2.
#[derive(Clone, Copy)]
pub(in crate::tokens) struct Avx2(());

impl Avx2 {
    pub(in crate::tokens) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Self(()))
    }

    /// Works with this kernel, and its instructions at the compiler's hand.
    #[allow(unsafe_code, reason = "instructions beyond the base set can be called only so")]
    #[inline]
    pub(super) fn run<W: Work>(self, work: W) -> W::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn run<W: Work>(kernel: impl Kernel, work: W) -> W::Output {
            work.with(kernel)
        }
        // SAFETY: there is no `Avx2` but from `detect`, which found these features.
        unsafe { run(self, work) }
    }
}

#[allow(unsafe_code, reason = "instructions beyond the base set can be called only so")]
impl Kernel for Avx512 {
    #[inline(always)]
    fn signs(self, bytes: &[u8; WIDTH]) -> Signs {
        // SAFETY: there is no `Avx512` but from `detect`, which found these features.
        unsafe { signs_avx512(bytes) }
    }

    #[inline(always)]
    fn places(self, mask: u64, base: u32, places: &mut [u32; WIDTH]) {
        // SAFETY: there is no `Avx512` but from `detect`, which found these features.
        unsafe { places_avx512(mask, base, places) }
    }

    #[inline(always)]
    fn prefetch<T>(self, value: &T) {
        // SAFETY: this reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) }
    }
}

#[allow(unsafe_code, reason = "instructions beyond the base set can be called only so")]
impl Kernel for Avx2 {
    #[inline(always)]
    fn signs(self, bytes: &[u8; WIDTH]) -> Signs {
        // SAFETY: there is no `Avx2` but from `detect`, which found these features.
        unsafe { signs_avx2(bytes) }
    }

    #[inline(always)]
    fn places(self, mask: u64, base: u32, places: &mut [u32; WIDTH]) {
        Portable.places(mask, base, places);
    }

    #[inline(always)]
    fn prefetch<T>(self, value: &T) {
        // SAFETY: this reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) }
    }
}

fn words(bytes: &[u8; WIDTH]) -> [i64; 8] {
    let mut words = [0; 8];
    for (word, eight) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = i64::from_le_bytes(*eight);
    }
    words
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn signs_avx512(bytes: &[u8; WIDTH]) -> Signs {
    let [a, b, c, d, e, f, g, h] = words(bytes);
    let text = _mm512_set_epi64(h, g, f, e, d, c, b, a);
    let is = |byte: u8| _mm512_cmpeq_epu8_mask(text, _mm512_set1_epi8(byte as i8));
    let between = |first: u8, last: u8| {
        let above: __m512i = _mm512_sub_epi8(text, _mm512_set1_epi8(first as i8));
        _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((last - first) as i8))
    };
    let (blank, newline) = (is(b' '), is(b'\n') | is(b'\r'));
    Signs {
        upper: between(b'A', b'Z'),
        lower: between(b'a', b'z'),
        caseless: 0,
        number: between(b'0', b'9'),
        space: (between(b'\t', b'\r') & !newline) | blank,
        newline,
        blank,
        quote: is(b'\''),
        slash: is(b'/'),
        wide: _mm512_movepi8_mask(text),
        inner: between(0x80, 0xbf),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn places_avx512(mask: u64, base: u32, places: &mut [u32; WIDTH]) {
    #[rustfmt::skip]
    let all = _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32,
        31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
    );
    let found = _mm512_maskz_compress_epi8(mask, all);
    let base = _mm512_set1_epi32(base as i32);
    let (sixteens, _) = places.as_chunks_mut::<16>();
    let [first, second, third, fourth] = sixteens else {
        return;
    };
    let put = |target: &mut [u32; 16], places: __m512i| *target = bytemuck::cast(_mm512_add_epi32(places, base));
    put(first, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found)));
    put(second, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(found)));
    if mask.count_ones() > 32 {
        put(third, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<2>(found)));
        put(fourth, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<3>(found)));
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn signs_avx2(bytes: &[u8; WIDTH]) -> Signs {
    let [a, b, c, d, e, f, g, h] = words(bytes);
    let halves = [_mm256_set_epi64x(d, c, b, a), _mm256_set_epi64x(h, g, f, e)];
    let mask = |of: &dyn Fn(__m256i) -> __m256i| {
        let [low, high] = halves.map(|half| _mm256_movemask_epi8(of(half)) as u32);
        u64::from(low) | (u64::from(high) << 32)
    };
    let is = |byte: u8| mask(&|half| _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8)));
    let between = |first: u8, last: u8| {
        mask(&|half| {
            let above = _mm256_add_epi8(half, _mm256_set1_epi8(first.wrapping_neg() as i8));
            let most = _mm256_set1_epi8((last - first) as i8);
            _mm256_cmpeq_epi8(_mm256_min_epu8(above, most), above)
        })
    };
    let newline = mask(&|half| {
        let feed = _mm256_cmpeq_epi8(half, _mm256_set1_epi8(b'\n' as i8));
        _mm256_or_si256(feed, _mm256_cmpeq_epi8(half, _mm256_set1_epi8(b'\r' as i8)))
    });
    let blank = is(b' ');
    Signs {
        upper: between(b'A', b'Z'),
        lower: between(b'a', b'z'),
        caseless: 0,
        number: between(b'0', b'9'),
        space: (between(b'\t', b'\r') & !newline) | blank,
        newline,
        blank,
        quote: is(b'\''),
        slash: is(b'/'),
        wide: mask(&|half| half),
        inner: between(0x80, 0xbf),
    }
}
