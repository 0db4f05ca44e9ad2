//! The components that this program was built with. `components/build.sh` makes them and the build
//! script of this crate finds them.

use super::Components;

pub(super) const COMPONENTS: Components<'static> = Components {
    risk: include_bytes!(concat!(env!("CAUDAL_COMPONENTS"), "/risk.wasm")),
    nudge: include_bytes!(concat!(env!("CAUDAL_COMPONENTS"), "/nudge.wasm")),
    accessibility: include_bytes!(concat!(env!("CAUDAL_COMPONENTS"), "/accessibility.wasm")),
    rules: include_bytes!(concat!(env!("CAUDAL_COMPONENTS"), "/transfer-rules.wasm")),
};
