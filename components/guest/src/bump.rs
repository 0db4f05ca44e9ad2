//! A bump allocator over the memory after the linker's data. It never frees.
//!
//! Stack, data and the allocations of one decision fit in the first 64 KiB page, so only a batch grows
//! memory. Not thread-safe: wasm guests have one thread.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const PAGE_BYTES: usize = 64 * 1024;
/// Index of the only linear memory.
const MEMORY: u32 = 0;
/// Result of a failed `memory.grow`.
const REFUSED: usize = usize::MAX;

unsafe extern "C" {
    /// The end of the linker's data. Only the address of this symbol has a meaning.
    static __heap_base: u8;
}

#[global_allocator]
pub(crate) static HEAP: Bump = Bump { next: AtomicUsize::new(0) };

/// Addresses from `next` up are free; 0 before the first allocation.
pub(crate) struct Bump {
    pub(crate) next: AtomicUsize,
}

/// Where the heap starts.
pub(crate) const fn heap_base() -> *const u8 {
    &raw const __heap_base
}

impl Bump {
    fn next(&self) -> usize {
        match self.next.load(Relaxed) {
            0 => heap_base().addr(),
            next => next,
        }
    }

    /// Allocates everything below `end`, growing memory if necessary. False if memory cannot grow.
    fn extend_to(&self, end: usize) -> bool {
        let pages = memory_size::<MEMORY>();
        let needed = end.div_ceil(PAGE_BYTES);
        if needed > pages && memory_grow::<MEMORY>(needed - pages) == REFUSED {
            return false;
        }
        self.next.store(end, Relaxed);
        true
    }
}

// SAFETY: blocks never overlap, because `next` never decreases and a block starts at or above it; a
// block has the requested alignment and lies inside the memory that `extend_to` ensured.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = self.next().checked_next_multiple_of(layout.align());
        let end = start.and_then(|start| start.checked_add(layout.size()));
        match (start, end) {
            (Some(start), Some(end)) if self.extend_to(end) => core::ptr::with_exposed_provenance_mut(start),
            _ => null_mut(),
        }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}

    /// The last block is resized in place, so that a growing vector leaves no copies behind; any other
    /// block moves.
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let start = block.addr();
        if start + layout.size() == self.next() {
            return match start.checked_add(size) {
                Some(end) if self.extend_to(end) => block,
                _ => null_mut(),
            };
        }
        if size <= layout.size() {
            return block;
        }
        // SAFETY: the caller guarantees that `size`, rounded up to the alignment, does not overflow
        // isize, as a layout requires.
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !moved.is_null() {
            // SAFETY: `block` holds `layout.size()` bytes and the new block holds more; they are
            // distinct because `alloc` never returns the same address twice.
            unsafe { core::ptr::copy_nonoverlapping(block, moved, layout.size()) };
        }
        moved
    }
}
