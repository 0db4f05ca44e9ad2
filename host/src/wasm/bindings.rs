//! What wasmtime generates from `wit/`, one module per world, and nothing else.

pub(super) mod risk {
    wasmtime::component::bindgen!({ path: "../wit", world: "risk-scorer" });
}

pub(super) mod nudge {
    wasmtime::component::bindgen!({ path: "../wit", world: "nudge-scorer" });
}

pub(super) mod accessibility {
    wasmtime::component::bindgen!({ path: "../wit", world: "accessibility-scorer" });
}

pub(super) mod rules {
    wasmtime::component::bindgen!({ path: "../wit", world: "transfer-policy" });
}
