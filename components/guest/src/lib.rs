//! What a guest without a standard library has to bring along: an allocator, a panic handler and
//! `cabi_realloc`, through which a host places arguments in a guest's memory.
//!
//! The only unsafe code of the components. A guest links it with `use caudal_guest as _;`. Off wasm
//! the crate is empty, so that the workspace still checks natively. Not for long-lived programs:
//! memory is never given back, because an instance lives for one decision or one batch.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![cfg_attr(
    target_arch = "wasm32",
    expect(unsafe_code, reason = "an allocator and the canonical ABI hand out raw memory")
)]

#[cfg(target_arch = "wasm32")]
mod bump;
#[cfg(target_arch = "wasm32")]
mod canonical;

/// A guest's panic is a trap: the host sees it, drops the instance and answers without it.
#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
