//! Data that a builder adds to a finished component.

use core::hint::black_box;
use core::sync::atomic::AtomicUsize;

use crate::bump::{HEAP, heap_base};

/// What the builder looks for. It writes the data at `heap`, their length to `length`, and the address after them to
/// `next`, which is then the start of the heap.
#[repr(C)]
struct Appended {
    marker: [u8; 16],
    length: usize,
    heap: *const u8,
    next: *const AtomicUsize,
}

// SAFETY: guests have one thread.
unsafe impl Sync for Appended {}

static APPENDED: Appended =
    Appended { marker: *b"caudal:appended\0", length: 0, heap: heap_base(), next: &raw const HEAP.next };

/// The data; empty if there are none.
#[must_use]
pub fn appended() -> &'static [u8] {
    // The compiler must not know the address, because it would know the length.
    let data = black_box(&APPENDED);
    // SAFETY: the builder has written `length` bytes at `heap`, and nothing else is there, because the heap starts after
    // them.
    unsafe { core::slice::from_raw_parts(data.heap, data.length) }
}
