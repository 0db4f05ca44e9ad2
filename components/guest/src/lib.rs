//! What a guest without the standard library needs: an allocator, a panic handler, `cabi_realloc`
//! (through which the host places arguments in the guest's memory), and [`bindings!`].
//!
//! The only hand-written unsafe code of the components. Memory is never freed, because an instance lives
//! for one decision or one batch; do not use this in a long-lived program. Off wasm only the macro
//! remains, so that the workspace still compiles natively.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![cfg_attr(
    target_arch = "wasm32",
    expect(unsafe_code, reason = "an allocator and the canonical ABI hand out raw memory")
)]

extern crate alloc;

use alloc::string::String;

#[cfg(target_arch = "wasm32")]
mod appended;
#[cfg(target_arch = "wasm32")]
mod bump;
#[cfg(target_arch = "wasm32")]
mod canonical;

#[cfg(target_arch = "wasm32")]
pub use appended::appended;

/// The data that a builder has added to the component; empty if there are none.
#[cfg(not(target_arch = "wasm32"))]
#[must_use]
pub const fn appended() -> &'static [u8] {
    &[]
}

/// Ends the call: the host discards the instance.
pub fn trap() -> ! {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    std::process::abort()
}

/// A guest's panic is a trap: the host discards the instance and the call fails.
#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// A constant that answers name, as the `String` that the bindings expect.
///
/// In a guest it is not copied: an answer about risk has twenty names, and copying them takes longer than scoring. It
/// is for answers only, which are read and never written.
#[must_use]
pub fn text(constant: &'static str) -> String {
    #[cfg(target_arch = "wasm32")]
    // SAFETY: `bump` frees nothing and moves any block that grows, so the constant is only read. Its length is its
    // capacity.
    unsafe {
        String::from_raw_parts(constant.as_ptr().cast_mut(), constant.len(), constant.len())
    }
    #[cfg(not(target_arch = "wasm32"))]
    String::from(constant)
}

/// Declares a module `bindings` for a world of the WIT package in a folder, and exports the type
/// `Component`, which implements the world.
///
/// ```ignore
/// caudal_guest::bindings!("../../wit", "risk-scorer");
/// ```
#[macro_export]
macro_rules! bindings {
    ($wit:literal, $world:literal) => {
        mod bindings {
            #![cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "generated from the WIT package"))]
            wit_bindgen::generate!({
                path: $wit,
                world: $world,
                disable_run_ctors_once_workaround: true,
            });
            // Natively, linkers take the `@` in the exported names for a symbol version.
            #[cfg(target_arch = "wasm32")]
            use super::Component;
            #[cfg(target_arch = "wasm32")]
            export!(Component with_types_in self);
        }
    };
}
