//! Large tables of zeros, in pages as large as the system has them where it can.
//!
//! A table of megabytes that is looked up anywhere in it costs a fault for each small page that it touches first, which for a
//! thread's first text is more than all its counting, and a walk through the page tables for every other lookup.

#[cfg(target_os = "linux")]
use memmap2::{Advice, MmapMut};

/// Bytes of a large page.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// So many bytes, which begin with a line of memory.
pub(super) enum Zeroed {
    /// In large pages, from a place of the map on.
    #[cfg(target_os = "linux")]
    Mapped { map: MmapMut, start: usize, len: usize },
    /// On the heap.
    Heap(Box<[Line]>),
}

#[derive(Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
pub(super) struct Line([u8; 64]);

impl Zeroed {
    /// As many bytes, and up to a line more.
    pub(super) fn new(len: usize) -> Self {
        Self::mapped(len).unwrap_or_else(|| Self::Heap(bytemuck::zeroed_slice_box(len.div_ceil(64))))
    }

    #[cfg(target_os = "linux")]
    fn mapped(len: usize) -> Option<Self> {
        let map = MmapMut::map_anon(len + LARGE).ok()?;
        let start = map.as_ptr().align_offset(LARGE);
        // Where the system has no large pages these are small ones, which serve as well.
        let _ = map.advise_range(Advice::HugePage, start, len);
        (start <= LARGE).then_some(Self::Mapped { map, start, len })
    }

    #[cfg(not(target_os = "linux"))]
    fn mapped(_: usize) -> Option<Self> {
        None
    }

    /// The bytes.
    #[inline]
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        match self {
            #[cfg(target_os = "linux")]
            Self::Mapped { map, start, len } => &mut map[*start..*start + *len],
            Self::Heap(lines) => bytemuck::cast_slice_mut(lines),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_zeros_that_keep_what_is_written() {
        let heap = Zeroed::Heap(bytemuck::zeroed_slice_box(1 << 14));
        for mut zeroed in [Zeroed::new(1 << 20), heap] {
            assert_eq!(zeroed.bytes().len(), 1 << 20);
            assert!(zeroed.bytes().iter().all(|&byte| byte == 0));
            assert_eq!(zeroed.bytes().as_ptr().align_offset(64), 0);
            zeroed.bytes()[5000] = 7;
            assert_eq!(zeroed.bytes()[5000], 7);
        }
    }
}
