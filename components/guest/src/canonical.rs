//! `cabi_realloc`, through which the canonical ABI requests memory from a guest. On this target the C
//! library usually provides it; these guests have none.

use alloc::alloc::{Layout, alloc, realloc};
use core::arch::wasm32::unreachable;
use core::ptr::without_provenance_mut;

extern crate alloc;

/// Resizes a block of `old_size` bytes at `old` (none if `old_size` is 0) to `new_size` bytes. Traps if
/// memory is exhausted or the sizes and alignment are not a valid layout.
///
/// # Safety
/// As the canonical ABI specifies: `old` came from this function with the same `align` and `old_size`.
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(old: *mut u8, old_size: usize, align: usize, new_size: usize) -> *mut u8 {
    let (Ok(old_layout), Ok(new_layout)) =
        (Layout::from_size_align(old_size, align), Layout::from_size_align(new_size, align))
    else {
        unreachable()
    };
    let block = if new_size == 0 {
        // Never dereferenced; must only be aligned and not null.
        without_provenance_mut(align)
    } else if old_size == 0 {
        // SAFETY: the size is not zero.
        unsafe { alloc(new_layout) }
    } else {
        // SAFETY: `old` was allocated here with `old_layout`, and `new_layout` is a valid layout
        // whose size is not zero.
        unsafe { realloc(old, old_layout, new_size) }
    };
    if block.is_null() {
        unreachable()
    }
    block
}
