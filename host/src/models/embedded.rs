//! The components that this program was built with. `components/build.sh` makes them and the build
//! script of this crate finds them.

/// `risk.wasm`.
pub(super) const RISK: &[u8] = include_bytes!(concat!(env!("CAUDAL_COMPONENTS"), "/risk.wasm"));

/// `nudge.wasm`.
pub(super) const NUDGE: &[u8] = include_bytes!(concat!(env!("CAUDAL_COMPONENTS"), "/nudge.wasm"));

/// `accessibility.wasm`.
pub(super) const ACCESSIBILITY: &[u8] = include_bytes!(concat!(env!("CAUDAL_COMPONENTS"), "/accessibility.wasm"));

/// `transfer-rules.wasm`.
pub(super) const TRANSFER_RULES: &[u8] = include_bytes!(concat!(env!("CAUDAL_COMPONENTS"), "/transfer-rules.wasm"));
