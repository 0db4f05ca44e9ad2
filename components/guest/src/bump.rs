//! A bump allocator: it hands out what follows the linker's data and never takes anything back.
//!
//! Everything fits behind the stack in the first 64 KiB page, so a single decision does not grow
//! memory; a batch does. Not for threads: wasm guests have one.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::{memory_grow, memory_size};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes of a wasm page.
const PAGE_BYTES: usize = 64 * 1024;
/// The only linear memory.
const MEMORY: u32 = 0;
/// What `memory.grow` answers when the host refuses.
const REFUSED: usize = usize::MAX;

unsafe extern "C" {
    /// Where the linker's data ends. A symbol whose address is meant, not its value.
    static __heap_base: u8;
}

#[global_allocator]
static HEAP: Bump = Bump { next: AtomicUsize::new(0) };

/// Addresses from `next` on are free; 0 means that nothing was handed out yet.
struct Bump {
    next: AtomicUsize,
}

impl Bump {
    fn next(&self) -> usize {
        match self.next.load(Relaxed) {
            0 => (&raw const __heap_base).addr(),
            next => next,
        }
    }

    /// Hands out everything below `end`, growing memory when needed. False when it cannot grow.
    fn extend_to(&self, end: usize) -> bool {
        let pages = memory_size::<MEMORY>();
        let wanted = end.div_ceil(PAGE_BYTES);
        if wanted > pages && memory_grow::<MEMORY>(wanted - pages) == REFUSED {
            return false;
        }
        self.next.store(end, Relaxed);
        true
    }
}

// SAFETY: blocks never overlap, because `next` only rises and a block starts at or above the `next`
// that it found; a block is aligned as asked and lies inside the memory that `extend_to` secured.
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

    /// The last block grows or shrinks in place, so that a growing vector does not leave its
    /// former selves behind; any other moves.
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
        // SAFETY: the caller promises that `size` rounded up to the alignment does not overflow
        // isize, which is what a layout asks.
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !moved.is_null() {
            // SAFETY: `block` holds `layout.size()` bytes, the new block more, and they are
            // distinct because `alloc` never hands out the same address twice.
            unsafe { core::ptr::copy_nonoverlapping(block, moved, layout.size()) };
        }
        moved
    }
}
